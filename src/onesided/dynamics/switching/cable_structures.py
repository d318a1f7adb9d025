"""Linear structures with cables that go slack, yield and harden, with memory [QT Fig. 1]."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from onesided.base.errors import ModelError, UsageError
from onesided.base.tolerances import DEFAULT
from onesided.base.types import Array
from onesided.complementarity.problems import as_array
from onesided.dynamics.switching.exact_run import Automaton, LinearMode
from onesided.dynamics.switching.linear import LinearComplementaritySystem, augment
from onesided.dynamics.switching.looked_at import LookedAt
from onesided.dynamics.switching.signals import Signal, as_signal, generator


class CableLaw(ABC):
    """Tension of a cable: zero while slack, k × (elongation − plastic elongation) while elastic, limited by yielding.

    `stiffness` is k; `limit` the tension at which a new cable yields; `hardening` its growth per plastic elongation.
    """

    stiffness: float

    @property
    @abstractmethod
    def limit(self) -> float:
        """Tension at which a new cable yields; infinite for one that does not."""

    @property
    @abstractmethod
    def hardening(self) -> float:
        """Slope d(yield tension)/d(plastic elongation) ≥ 0."""


@dataclass(frozen=True)
class Elastic(CableLaw):
    """S = max(0, k Δ) [QT Fig. 1a]."""

    stiffness: float
    limit: float = field(default=math.inf, init=False)
    hardening: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        _positive("stiffness", self.stiffness)


@dataclass(frozen=True)
class PerfectlyPlastic(CableLaw):
    """Elastic up to `yield_tension`, then constant; slack below the plastic elongation [QT Fig. 1b]."""

    stiffness: float
    yield_tension: float
    hardening: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        _positive("stiffness", self.stiffness)
        _positive("yield_tension", self.yield_tension)

    @property
    def limit(self) -> float:
        """The yield tension, which stays the same."""
        return self.yield_tension


@dataclass(frozen=True)
class WorkHardening(CableLaw):
    """Elastic up to `yield_tension`, then with the slope `tangent` < k, which raises the limit [QT Fig. 1c]."""

    stiffness: float
    yield_tension: float
    tangent: float

    def __post_init__(self) -> None:
        for name in ("stiffness", "yield_tension", "tangent"):
            _positive(name, getattr(self, name))
        if self.tangent >= self.stiffness:
            raise ModelError(
                "the slope of a hardening cable is not below its stiffness",
                got=f"tangent {self.tangent:g}, stiffness {self.stiffness:g}",
                expected="0 < tangent < stiffness",
            )

    @property
    def limit(self) -> float:
        """The yield tension of a new cable."""
        return self.yield_tension

    @property
    def hardening(self) -> float:
        """Slope of the yield tension over the plastic elongation, k kₜ/(k − kₜ) for the tangent kₜ."""
        return self.stiffness * self.tangent / (self.stiffness - self.tangent)


def _positive(name: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        raise ModelError(f"`{name}` of a cable is out of range", got=repr(value), expected="a positive number")


@dataclass(frozen=True, eq=False)
class CableStructure(LookedAt):
    """ẋ = A x + B s + input(t), elongations Δ = C x + offset(t), tensions s by the laws of the cables.

    The state that is simulated is (x, plastic elongations).

    Attributes
    ----------
    A, B, C : arrays (n, n), (n, m), (m, n); C B = 0: elongations are functions of positions.
    laws : one per cable: `Elastic`, `PerfectlyPlastic`, `WorkHardening`.
    input, offset, measures, sketch, labels : as of a `LinearComplementaritySystem`.
    """

    A: ArrayLike
    B: ArrayLike
    C: ArrayLike
    laws: Sequence[CableLaw]
    input: Signal | ArrayLike | None = None
    offset: Signal | ArrayLike | None = None
    names: Sequence[str] = ()
    states: tuple[str, ...] = field(init=False)
    frequencies: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        A = as_array(self.A, "A", (None, None))
        n, m = len(A), len(self.laws)
        A, B, C = as_array(A, "A", (n, n)), as_array(self.B, "B", (n, m)), as_array(self.C, "C", (m, n))
        if np.abs(C @ B).max(initial=0.0) > DEFAULT.rank * np.abs(C).max(initial=0.0) * np.abs(B).max(initial=0.0):
            raise UsageError(
                "a tension changes an elongation at once",
                got="C B ≠ 0",
                expected="elongations that depend on positions",
            )
        f, e = as_signal(self.input, "input", n), as_signal(self.offset, "offset", m)
        names = tuple(self.names) or tuple(f"cable {i + 1}" for i in range(m))
        if len(names) != m or len(set(names)) != m:
            raise UsageError("`names` do not fit", got=", ".join(names), expected=f"{m} different names")
        values = {
            "A": A, "B": B, "C": C, "laws": tuple(self.laws), "input": f, "offset": e, "names": names,
            "states": (*(f"x{i + 1}" for i in range(n)), *(f"plastic elongation {name}" for name in names)),
            "frequencies": tuple(sorted({*f.frequencies, *e.frequencies})),
        }  # fmt: skip
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Number of states, plastic elongations included."""
        return len(self.states)

    @property
    def m(self) -> int:
        """Number of cables, each with one pair (tension, slack)."""
        return len(self.names)

    def augmented(self, t: float, x: Array) -> Array:
        """The state with the generator of the inputs."""
        return np.concatenate([x, generator(t, self.frequencies)])

    def elongations(self, t: float, x: Array) -> Array:
        """Elongations Δ = C x + offset(t), (m,), plastic ones included."""
        f = as_signal(self.offset, "offset", self.m).matrix(self.frequencies) @ generator(t, self.frequencies)
        return np.asarray(self.C) @ x[: self.n - self.m] + f

    def slack(self, t: float, x: Array, s: Array) -> Array:
        """Return w = s/k + plastic elongation − Δ ≥ 0, complementary to s."""
        k = np.array([law.stiffness for law in self.laws])
        return np.asarray(s / k + x[self.n - self.m :] - self.elongations(t, x))

    def rate(self, t: float, x: Array, s: Array) -> Array:
        """ẋ of the structure; the plastic elongations are left out."""
        f = as_signal(self.input, "input", self.n - self.m).matrix(self.frequencies) @ generator(t, self.frequencies)
        return np.asarray(self.A) @ x[: self.n - self.m] + np.asarray(self.B) @ s + f

    def overstress(self, x: Array, s: Array) -> Array:
        """(…, m): tension above the yield tension, relative to it; never positive."""
        limit = np.array([law.limit for law in self.laws])
        grown = limit + np.array([law.hardening for law in self.laws]) * x[..., self.n - self.m :]
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(limit), -1.0, s / grown - 1.0)

    def check_state(self, x0: ArrayLike) -> Array:
        """A start: (x, plastic elongations), or x alone for cables that are new."""
        start = np.array(x0, dtype=float)
        if start.shape == (self.n - self.m,):
            start = np.concatenate([start, np.zeros(self.m)])
        return as_array(start, "start", (self.n,))

    def complementarity_system(self) -> LinearComplementaritySystem:
        """The same as a linear complementarity system with the pairs (s, w) and (ṗ, yield tension − s).

        Its D is singular: for `TimeStepping(step, theta=1.0)`. Only for cables that can yield.
        """
        k = np.array([law.stiffness for law in self.laws])
        limit, H = np.array([law.limit for law in self.laws]), np.array([law.hardening for law in self.laws])
        n, m, one, zero = self.n - self.m, self.m, np.eye(self.m), np.zeros((self.m, self.m))
        f, e = as_signal(self.input, "input", n), as_signal(self.offset, "offset", m)
        if f.harmonics or e.harmonics or not np.isfinite(limit).all():
            raise UsageError("this form is for constant input and cables that can yield", got=repr(self.laws))
        return LinearComplementaritySystem(
            np.block([[np.asarray(self.A), np.zeros((n, m))], [np.zeros((m, n)), zero]]),
            np.block([[np.asarray(self.B), np.zeros((n, m))], [zero, one]]),
            np.block([[-np.asarray(self.C), one], [np.zeros((m, n)), np.diag(H)]]),
            np.block([[np.diag(1 / k), zero], [-one, zero]]),
            np.concatenate([np.asarray(f.constant), np.zeros(m)]),
            np.concatenate([-np.asarray(e.constant), limit]),
        )


class Phase(Enum):
    """What a cable does: it is slack, stretches elastically, or yields."""

    slack = "goes slack"
    elastic = "unloads"
    yielding = "yields"


class CableModes(Automaton):
    """Modes of a structure with cables: every cable slack, elastic or yielding."""

    def __init__(self, structure: CableStructure) -> None:
        self.names, self.frequencies = tuple(structure.names), structure.frequencies
        self._structure = structure
        n, m = structure.n - structure.m, structure.m
        F = as_signal(structure.input, "input", n).matrix(self.frequencies)
        E = as_signal(structure.offset, "offset", m).matrix(self.frequencies)
        A, B, C = (np.asarray(a) for a in (structure.A, structure.B, structure.C))
        grown = np.block([[A, np.zeros((n, m))], [np.zeros((m, n + m))]])
        full = augment(grown, np.vstack([B, np.zeros((m, m))]), np.hstack([C, np.zeros((m, m))]),
                       np.vstack([F, np.zeros((m, F.shape[1]))]), E, self.frequencies)  # fmt: skip
        self._A, self._B, self._elongation = full.A, full.B, full.C
        self._speed = full.C @ full.A
        self._plastic = np.eye(len(full.A))[n : n + m]
        self._one = np.eye(len(full.A))[n + m]
        self._modes: dict[tuple[Phase, ...], LinearMode] = {}

    def begin(self, z: Array, sizes: Array) -> LinearMode:
        """Slack or elastic, by the elongations; what is on the border switches at once."""
        structure, n = self._structure, self._structure.n
        k = np.array([law.stiffness for law in structure.laws])
        over = structure.overstress(z[:n], k * ((self._elongation - self._plastic) @ z))
        if over.max(initial=-1.0) > DEFAULT.force:
            worst = int(np.argmax(over))
            raise ModelError(
                f"at the start the tension of '{self.names[worst]}' lies above what the cable has ever carried",
                got=f"{over[worst] + 1:.6g} times its yield tension",
                expected="at most 1",
                advice="start with the plastic elongation it has, or with less elongation",
            )
        loose = self._elongation @ z <= self._plastic @ z
        return self._mode(tuple(Phase.slack if value else Phase.elastic for value in loose))

    def after(self, z: Array, mode: LinearMode, hit: int, sizes: Array) -> LinearMode:
        """The cable of the guard changes its phase."""
        i, second = divmod(hit, 2)
        phases: list[Phase] = list(mode.key)  # type: ignore[call-overload]
        old = phases[i]
        phases[i] = Phase.yielding if old is Phase.elastic and second else Phase.elastic
        if old is Phase.elastic and not second:
            phases[i] = Phase.slack
        words = [""] * len(phases)
        words[i] = "becomes taut" if old is Phase.slack else phases[i].value
        return replace(self._mode(tuple(phases)), words=tuple(words))

    def _mode(self, phases: tuple[Phase, ...]) -> LinearMode:
        if phases not in self._modes:
            rows = [self._rows(i, phase) for i, phase in enumerate(phases)]
            S = np.array([row[0] for row in rows])
            guards = np.array([guard for row in rows for guard in row[1]])
            A = self._A + self._B @ S
            first = self._structure.n - self._structure.m
            for i, phase in enumerate(phases):
                if phase is Phase.yielding:
                    law = self._structure.laws[i]
                    A[first + i] = law.stiffness / (law.stiffness + law.hardening) * self._speed[i]
            k = np.array([law.stiffness for law in self._structure.laws])
            W = S / k[:, None] + self._plastic - self._elongation
            W[[phase is not Phase.slack for phase in phases]] = 0.0
            taut = tuple(phase is not Phase.slack for phase in phases)
            self._modes[phases] = LinearMode(phases, A, guards, S, W, taut)
        return self._modes[phases]

    def _rows(self, i: int, phase: Phase) -> tuple[Array, tuple[Array, Array]]:
        """Tension and the two guards of a cable in its phase."""
        law, never = self._structure.laws[i], self._one
        stretch = self._elongation[i] - self._plastic[i]
        if phase is Phase.slack:
            return np.zeros_like(never), (-stretch, never)
        limit = law.limit * never + law.hardening * self._plastic[i] if math.isfinite(law.limit) else None
        if phase is Phase.yielding and limit is not None:
            return limit, (self._speed[i], never)
        tension = law.stiffness * stretch
        return tension, (tension, never if limit is None else limit - tension)
