"""One equilibrium: configuration, reactions, active set, stability."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.types import Array, Indices
from onesided.base.views import views
from onesided.results.member_series import Members
from onesided.results.shape import Shape
from onesided.results.wording import shortened, sides, values


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
        """Numbers of the constraints that are closed with a positive reaction."""
        return self._where(State.strong)

    @cached_property
    def weak(self) -> Indices:
        """Numbers of the constraints that are closed with zero reaction."""
        return self._where(State.weak)

    @cached_property
    def inactive(self) -> Indices:
        """Numbers of the constraints that are open."""
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
        """The largest of all violations, relative: what is held against the tolerance."""
        return max(self.force, self.bilateral, self.penetration, self.pulling, self.complementarity)


@dataclass(frozen=True, eq=False, repr=False)
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
    closings : what closing is called, of the unilateral constraints that are no contacts: "becomes taut".
    free : the motion that nothing resists, where the equilibrium is one of a mechanism.
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
    closings: Mapping[str, str] = field(default_factory=dict)
    free: str = ""

    @property
    def nu(self) -> Array:
        """All multipliers ν = (μ, λ)."""
        return np.concatenate([self.mu, self.lam])

    def states(self) -> dict[str, str]:
        """Name of each unilateral constraint → "strong", "weak" or "inactive"."""
        return {name: State(code).name for name, code in zip(self.unilateral, self.active.codes, strict=True)}

    def told(self, name: str) -> str:
        """A unilateral constraint in words: "closed, force 3.2", "slack, by 0.1", "taut without tension"."""
        i, named = self.unilateral.index(name), sides(self.closings.get(name, ""))
        state = State(self.active.codes[i])
        if state is State.inactive:
            return f"{named.open}, {named.gap} {self.gaps[i]:.6g}"
        return f"{named.closed}, {named.force} {self.lam[i]:.12g}" if state is State.strong else named.touching

    def keys(self) -> tuple[str, ...]:
        """Names of all that `state[name]` knows."""
        return tuple(self._numbers())

    def __getitem__(self, name: str) -> float:
        """A coordinate, "p" or the control, "energy", "reaction NAME", "gap NAME", "multiplier NAME"."""
        known, members = self._numbers(), getattr(self, "members", {})
        key = self.control if name == "p" and name not in known else name
        if key not in known and key not in members:
            raise UsageError(f"the equilibrium holds no '{name}'", expected="one of " + ", ".join(list(known)[:30]))
        return float(known[key] if key in known else np.ravel(members[key])[0])

    def _ipython_key_completions_(self) -> list[str]:
        return [*self.keys(), *getattr(self, "members", {})]

    def _numbers(self) -> dict[str, float]:
        groups = (
            ("", self.coordinates, self.q),
            ("multiplier ", self.bilateral, self.mu),
            ("reaction ", self.unilateral, self.lam),
            ("gap ", self.unilateral, self.gaps),
        )
        found = {prefix + name: float(x) for prefix, names, xs in groups for name, x in zip(names, xs, strict=True)}
        return {self.control: self.p, "energy": self.energy} | found

    def __repr__(self) -> str:
        head = f"<Equilibrium at {self.control} = {self.p:.10g}: {self.words()}>"
        held = [f"{name} {self.told(name)}" for name in self.unilateral]
        lines = [head, f"  {values(self.coordinates, self.q)}", *(f"  {text}" for text in held)]
        return "\n".join(shortened(lines))

    def words(self) -> str:
        """One sentence on the stability of this equilibrium."""
        if self.instability:
            modes = "mode" if self.instability == 1 else "modes"
            beside = "; yet a strict minimum on the admissible side" if self.minimum else ""
            return f"unstable: {self.instability} negative {modes}{beside}"
        if self.free:
            return f"mechanism: nothing resists {self.free}"
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
