"""Motion: arrays along time, events, what was rechecked, and a dense output in between."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from onesided._types import Array, Status
from onesided.errors import UsageError
from onesided.groups import Group, Vector
from onesided.results.path import format_number
from onesided.tolerances import EPS


class Occurrence(Enum):
    """What happens at a special moment of a motion."""

    user = "user event"
    singular = "nearly singular configuration"
    contact = "gap closes"


@dataclass(frozen=True, eq=False)
class MotionEvent:
    """A special moment: what, when, where, and what it rests on in words."""

    kind: Occurrence
    t: float
    q: Array
    v: Array
    name: str = ""
    detail: str = ""

    def words(self) -> str:
        """One sentence."""
        name = f" '{self.name}'" if self.name else ""
        return f"{self.kind.value}{name} at t = {format_number(self.t)}" + (f": {self.detail}" if self.detail else "")

    def __str__(self) -> str:
        return self.words()


class Drift(NamedTuple):
    """Largest violations at every point, relative to the size of coordinates, velocities and forces: (N,) each.

    `position`, `velocity` and `acceleration` are the constraints and the hidden ones [AR (2b), (3a), (3b)]; `balance` is the
    force balance; `energy` the change of energy that no work explains.
    """

    position: Array
    velocity: Array
    acceleration: Array
    balance: Array
    energy: Array

    @property
    def worst(self) -> float:
        """Largest of all but the energy."""
        return float(max(np.max(values, initial=0.0) for values in self[:4]))


@dataclass(frozen=True)
class Correction:
    """What was changed to make the start consistent."""

    position: float
    velocity: float
    redundant: tuple[str, ...]

    def words(self) -> str:
        """In words; empty when nothing was changed."""
        parts = []
        if self.position > 0:
            parts.append(f"coordinates were moved by up to {self.position:.3g} to meet the constraints")
        if self.velocity > 0:
            parts.append(f"velocities were changed by up to {self.velocity:.3g} to meet the hidden constraints")
        if self.redundant:
            parts.append(f"constraints depend on each other: the multipliers of {', '.join(self.redundant)} are not unique")
        return "; ".join(parts)


@dataclass(frozen=True, eq=False, repr=False)
class Motion:
    """A motion: arrays over time, with the force of a constraint being (gradient)ᵀ × multiplier.

    Attributes
    ----------
    t : (N,), q, v, a : (N, n).
    mu : (N, k) multipliers of the bilateral constraints, then of the non-holonomic ones;  lam : (N, m) of the gaps.
    u : (N, inputs) of servo conditions;  p : (N,) control.
    energy : (N,) kinetic and potential;  work : (N,) done by forces without potential and by moving constraints.
    drift : rechecked violations.
    not_unique : names of constraints whose multipliers are a choice;  start : what the start needed.
    events, status, note, provenance : as of a `Path`.
    """

    coordinates: tuple[str, ...]
    bilateral: tuple[str, ...]
    nonholonomic: tuple[str, ...]
    unilateral: tuple[str, ...]
    servo: tuple[str, ...]
    control: str
    t: Array
    q: Array
    v: Array
    a: Array
    mu: Array
    lam: Array
    u: Array
    p: Array
    energy: Array
    work: Array
    drift: Drift
    events: tuple[MotionEvent, ...]
    status: Status
    note: str
    start: Correction
    not_unique: tuple[str, ...] = ()
    space: Group | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f"t from {format_number(self.t[0])} to {format_number(self.t[-1])}"
        return f"<Motion: {len(self)} points, {span}, {len(self.events)} events, {self.status.name}>"

    @property
    def ok(self) -> bool:
        """Whether the motion ended for a good reason and was rechecked."""
        return self.status.ok

    def at(self, t: Any) -> tuple[Array, Array]:
        """Configurations and velocities at times t within the motion (dense output): (…, n) each.

        Interpolation of order six in the local coordinates of each step, from positions, velocities and accelerations at
        its ends.
        """
        times = np.asarray(t, dtype=float)
        low, high = sorted((self.t[0], self.t[-1]))
        if np.any(times < low) or np.any(times > high) or not np.all(np.isfinite(times)):
            raise UsageError("a time lies outside the motion", got=str(t), expected=f"{low:g} to {high:g}")
        i = np.clip(np.searchsorted(self.t, times, side="right") - 1, 0, max(len(self.t) - 2, 0))
        if len(self.t) < 2:
            return self.q[i], self.v[i]
        return interpolate(self.space or Vector(self.q.shape[1]), self, i, times)


def interpolate(space: Group, points: Any, i: Any, times: Array) -> tuple[Array, Array]:
    """Quintic Hermite interpolation between points i and i + 1 of (t, q, v, a)."""
    h = (points.t[i + 1] - points.t[i])[..., None]
    s = (times - points.t[i])[..., None] / h
    q0, v0, a0 = points.q[i], points.v[i], points.a[i]
    end = space.local(q0, points.q[i + 1])
    end_rate, end_curve = _end(space, end, points.v[i + 1], points.a[i + 1])
    d, r, c = end, h * end_rate, h * h * end_curve
    first, second = h * v0, h * h * a0 / 2.0
    # δ(s) = first s + second s² + s³ (A + B s + C s²), matched to d, r, c at s = 1
    x, y, z = d - first - second, r - first - 2.0 * second, c - 2.0 * second
    A, B, C = 10.0 * x - 4.0 * y + z / 2.0, -15.0 * x + 7.0 * y - z, 6.0 * x - 3.0 * y + z / 2.0
    delta = s * (first + s * (second + s * (A + s * (B + s * C))))
    slope = (first + s * (2.0 * second + s * (3.0 * A + s * (4.0 * B + 5.0 * s * C)))) / h
    return space.wrap(space.retract(q0, delta)), _velocity(space, delta, slope)


def _end(space: Group, delta: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """δ̇ and δ̈ at the end of a step."""
    rate = space.rate(delta, v)
    if space.flat:
        return rate, a
    size = EPS ** (1 / 3) / np.maximum(np.max(np.abs(rate), axis=-1, keepdims=True), 1.0)
    change = (space.rate(delta + size * rate, v) - space.rate(delta - size * rate, v)) / (2.0 * size)
    return rate, space.rate(delta, a) + change


def _velocity(space: Group, delta: Array, slope: Array) -> Array:
    """v of δ̇: the inverse of `rate`, which is linear in v."""
    if space.flat:
        return slope
    identity = np.eye(space.size)
    columns = [space.rate(delta, np.broadcast_to(identity[j], delta.shape)) for j in range(space.size)]
    return np.asarray(np.linalg.solve(np.stack(columns, axis=-1), slope[..., None])[..., 0])
