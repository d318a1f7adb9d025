"""The motion of two systems that were integrated apart."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onesided.base.types import Array, Status


@dataclass(frozen=True, eq=False, repr=False)
class Coupled:
    """Two motions, the joint between them, and how the exchange of forces went.

    Attributes
    ----------
    t : (N,);  q, v : pairs of (N, n) of the first and the second system.
    force : (N, m) multipliers of the joint, means over the step that ends there.
    drift : (N,) largest violation of the joint;  energy : (N,) of both systems together.
    contraction : (N,) ratio by which one Gauss–Seidel sweep changes an error of the force: it diverges from 1 on.
    sweeps : (N,) exchanges of forces in the step that ends there.
    """

    coordinates: tuple[tuple[str, ...], tuple[str, ...]]
    t: Array
    q: tuple[Array, Array]
    v: tuple[Array, Array]
    force: Array
    drift: Array
    energy: Array
    contraction: Array
    sweeps: Array
    status: Status
    note: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Coupled: {len(self.t)} points, t from {self.t[0]:g} to {self.t[-1]:g}, {self.status.name}>"

    def columns(self) -> dict[str, Array]:
        """Name → (N,) values: t, coordinates ("first x") and velocities of both, forces of the joint, and the rest."""
        found = {"t": self.t}
        for part, names, q, v in zip(("first", "second"), self.coordinates, self.q, self.v, strict=True):
            found |= {f"{part} {name}": values for name, values in zip(names, q.T, strict=True)}
            found |= {f"velocity {part} {name}": values for name, values in zip(names, v.T, strict=True)}
        found |= {f"force {i}": values for i, values in enumerate(self.force.T)}
        return found | {name: getattr(self, name) for name in ("drift", "energy", "contraction", "sweeps")}

    @property
    def ok(self) -> bool:
        """Whether the end was reached with the joint closed."""
        return self.status.ok
