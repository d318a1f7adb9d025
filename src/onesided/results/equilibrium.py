"""One equilibrium: configuration, reactions, active set, stability."""

from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import numpy as np

from onesided.base.types import Array, Indices
from onesided.base.views import views
from onesided.results.member_series import Members
from onesided.results.shape import Shape


class State(IntEnum):
    """State of a unilateral constraint [SP1 (3.5), (3.6)]."""

    inactive = 0
    weak = 1
    strong = 2


@dataclass(frozen=True)
class ConstraintStates:
    """One state per unilateral constraint, in a fixed order; hashable."""

    codes: tuple[int, ...]

    @cached_property
    def strong(self) -> Indices:
        """Closed with a positive reaction."""
        return self._where(State.strong)

    @cached_property
    def weak(self) -> Indices:
        """Closed with zero reaction."""
        return self._where(State.weak)

    @cached_property
    def inactive(self) -> Indices:
        """Open."""
        return self._where(State.inactive)

    def _where(self, state: State) -> Indices:
        return np.flatnonzero(np.array(self.codes, dtype=int) == state)


@dataclass(frozen=True)
class Recheck:
    """The equilibrium conditions evaluated from the model alone, each relative to its scale (0 is perfect)."""

    force: float
    bilateral: float
    penetration: float
    pulling: float
    complementarity: float

    @property
    def worst(self) -> float:
        """The largest of all."""
        return max(self.force, self.bilateral, self.penetration, self.pulling, self.complementarity)


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A point that satisfies the Kuhn–Tucker conditions [SP1 (3.3), (3.4)] as well as `recheck` says.

    Attributes
    ----------
    q : (n,) configuration;  p : control parameter;  energy : U(q, p).
    mu : (k,) bilateral multipliers;  lam : (m,) reactions ≥ 0 of the unilateral constraints.
    gaps : (m,) values of the unilateral constraints.
    active : states of the unilateral constraints.
    instability : number of negative eigenvalues of the Hessian reduced on the strongly active set [SP1 section 5].
    minimum : whether the point is a strict minimum on the cone of admissible directions [SP1 (3.19), (3.20)];
        None where that was not decided (too many weakly active constraints).
    shape : what it takes to draw the system, where it has a sketch.
    members : name → (1,) forces, lengths and reactions of the parts of a structure, computed when read.
    """

    coordinates: tuple[str, ...]
    bilateral: tuple[str, ...]
    unilateral: tuple[str, ...]
    control: str
    q: Array
    p: float
    mu: Array
    lam: Array
    gaps: Array
    energy: float
    active: ConstraintStates
    instability: int
    minimum: bool | None
    recheck: Recheck
    shape: Shape | None = field(default=None, repr=False)
    members: Members = field(default_factory=Members, repr=False)

    @property
    def nu(self) -> Array:
        """All multipliers ν = (μ, λ)."""
        return np.concatenate([self.mu, self.lam])

    def states(self) -> dict[str, str]:
        """Name of each unilateral constraint → "strong", "weak" or "inactive"."""
        return {name: State(code).name for name, code in zip(self.unilateral, self.active.codes, strict=True)}

    def words(self) -> str:
        """One sentence on the stability of this equilibrium."""
        if self.instability:
            modes = "mode" if self.instability == 1 else "modes"
            beside = "; yet a strict minimum on the admissible side" if self.minimum else ""
            return f"unstable: {self.instability} negative {modes}{beside}"
        return "stable" if self.minimum else "not decided by second derivatives: the reduced Hessian is singular"

    def _repr_html_(self) -> str:
        return str(views("report").equilibrium_html(self))

    def as_dict(self) -> dict[str, object]:
        """Plain numbers and strings, ready for JSON."""
        return {
            "control": {self.control: self.p},
            "coordinates": dict(zip(self.coordinates, self.q.tolist(), strict=True)),
            "bilateral": dict(zip(self.bilateral, self.mu.tolist(), strict=True)),
            "unilateral": {
                name: {"gap": float(self.gaps[i]), "reaction": float(self.lam[i]), "state": self.states()[name]}
                for i, name in enumerate(self.unilateral)
            },
            "energy": self.energy,
            "instability": self.instability,
            "strict_minimum": self.minimum,
            "stability": self.words(),
            "recheck": {name: getattr(self.recheck, name) for name in self.recheck.__dataclass_fields__},
        }
