"""Small vibrations about an equilibrium."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from onesided.base.types import Array
from onesided.results.sketch import Sketch


@dataclass(frozen=True, eq=False, repr=False)
class Modes:
    """Modes of a constrained system linearised about an equilibrium, slowest first.

    Attributes
    ----------
    frequencies : (k,) angular frequencies [rad/time] without damping; those of unstable modes are imaginary, given as
        negative growth rates √(−ω²).
    shapes : (n, k) columns, admissible and of unit modal mass: shapeᵀ M shape = 1.
    eigenvalues : (2k,) complex, with damping and gyroscopic forces, e^{st}.
    closed : names of the contacts held closed;  mu, lam : multipliers at the equilibrium.
    note : remarks, such as contacts that touch without force.
    sketch : how to draw the system, or None;  swings : what the sketch needs, at rest and displaced in each of the
        slowest modes, by name.
    """

    coordinates: tuple[str, ...]
    q: Array
    p: float
    frequencies: Array
    shapes: Array
    eigenvalues: Array
    closed: tuple[str, ...]
    mu: Array
    lam: Array
    note: str = ""
    sketch: Sketch | None = None
    swings: Mapping[str, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frequencies)

    def __repr__(self) -> str:
        shown = ", ".join(f"{w:.6g}" for w in self.frequencies[:4]) + (", …" if len(self) > 4 else "")
        return f"<Modes: {len(self)} frequencies: {shown}>"

    def _repr_html_(self) -> str:
        from onesided.report.tables import modes_html

        return modes_html(self)

    @property
    def stable(self) -> bool:
        """Whether no small disturbance grows: all frequencies real."""
        return bool(np.all(self.frequencies > 0))
