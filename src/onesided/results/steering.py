"""Inputs that bring a system from one state to another, with the motion they make."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.types import Array, Status
from onesided.results.motion import Motion
from onesided.results.path import format_number


@dataclass(frozen=True, eq=False, repr=False)
class Steering:
    """An optimal control found by collocation, and its recheck by `simulate`.

    Attributes
    ----------
    inputs : names;  t : (N + 1,) nodes;  q, v : (N + 1, n) states there.
    u : (N, 3, inputs) at the beginning, in the middle and at the end of every interval.
    cost : the objective.
    motions : what `simulate` makes of the inputs from the start, one motion per mode of the contacts.
    error : largest difference between these motions and the nodes, relative to the sizes of coordinates and velocities.
    iterations : of the solver, on all grids.
    """

    coordinates: tuple[str, ...]
    inputs: tuple[str, ...]
    t: Array
    q: Array
    v: Array
    u: Array
    cost: float
    error: float
    motions: tuple[Motion, ...]
    status: Status
    note: str = ""
    iterations: int = 0
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        cost = format_number(self.cost)
        return f"<Steering: {len(self.t) - 1} intervals, cost {cost}, error {self.error:.1g}, {self.status.name}>"

    def columns(self) -> dict[str, Array]:
        """Name → (N + 1,) values at the nodes: t, coordinates, velocities, inputs (at a jump, those after it)."""
        found = {"t": self.t} | dict(zip(self.coordinates, self.q.T, strict=True))
        found |= {f"velocity {name}": values for name, values in zip(self.coordinates, self.v.T, strict=True)}
        return found | dict(zip(self.inputs, self.at(self.t).T, strict=True))

    @property
    def ok(self) -> bool:
        """Whether an optimum was found and its motion rechecked."""
        return self.status.ok

    def at(self, t: Any) -> Array:
        """Inputs at times t: (…, inputs); a parabola on every interval, the later value at a jump."""
        times = np.asarray(t, dtype=float)
        if np.any(times < self.t[0]) or np.any(times > self.t[-1]) or not np.all(np.isfinite(times)):
            raise UsageError(
                "a time lies outside the steering", got=str(t), expected=f"{self.t[0]:g} to {self.t[-1]:g}"
            )
        k = np.clip(np.searchsorted(self.t, times, side="right") - 1, 0, len(self.t) - 2)
        s = ((times - self.t[k]) / (self.t[k + 1] - self.t[k]))[..., None]
        begin, middle, end = (self.u[k, i] for i in range(3))
        return np.asarray(begin * (1 - s) * (1 - 2 * s) + middle * 4 * s * (1 - s) + end * s * (2 * s - 1))
