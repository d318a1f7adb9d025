"""Small vibrations about an equilibrium."""

from dataclasses import dataclass

import numpy as np

from onesided._types import Array


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

    def __len__(self) -> int:
        return len(self.frequencies)

    def __repr__(self) -> str:
        shown = ", ".join(f"{w:.6g}" for w in self.frequencies[:4]) + (", …" if len(self) > 4 else "")
        return f"<Modes: {len(self)} frequencies: {shown}>"

    @property
    def stable(self) -> bool:
        """Whether no small disturbance grows: all frequencies real."""
        return bool(np.all(self.frequencies > 0))
