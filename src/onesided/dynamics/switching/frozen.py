"""The scheme of Qi and Tu: explicit Runge–Kutta steps with the modes decided once per step [QT Fig. 4]."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.tolerances import Tolerances
from onesided.base.types import Array, Mask, Status
from onesided.complementarity import Method, QuadraticProgram, solve
from onesided.dynamics.switching.linear import LinearComplementaritySystem
from onesided.dynamics.switching.recheck import System, slacks
from onesided.dynamics.switching.runs import Claim, LinearRun, Positive, RunPoint
from onesided.dynamics.switching.slackness import SlacknessSystem
from onesided.dynamics.switching.switching_motion import SwitchingMethod
from onesided.dynamics.switching.time_stepping import switches_of


class ModeDecision(NamedTuple):
    """Which pairs are taut, after how many sweeps, and whether the sweeps went round in circles."""

    taut: Mask
    sweeps: int = 1
    cycled: bool = False


class Decider(ABC):
    """A rule that says at a state which pairs carry a force."""

    @abstractmethod
    def decide(self, system: Any, t: float, x: Array, last: Mask) -> ModeDecision:
        """Decide at a state; `last` is the decision of the step before."""


@dataclass(frozen=True)
class ByState(Decider):
    """Solve for s at the state, which is what the model says: the support of s is taut.

    Attributes
    ----------
    solver : method of `onesided.complementarity`, for linear systems with several coupled pairs; None picks one.
    """

    solver: Method | None = None

    def decide(self, system: System, t: float, x: Array, last: Mask) -> ModeDecision:
        """The support of s at the state, whatever the last decision was."""
        if not isinstance(system, LinearComplementaritySystem):
            return ModeDecision(_general(system).taut_at(t, x, last))
        if self.solver is None and system.uncoupled:
            return ModeDecision(system.full.C @ system.augmented(t, x) < 0)
        found = solve(system.problem(t, x), self.solver)
        return ModeDecision(found.value > 0, int(found.stats["iterations"]))


@dataclass(frozen=True)
class GaussPrinciple(Decider):
    """The tensions that minimise ½ sᵀD s + sᵀ(C x + offset) over s ≥ 0, for linear systems: [QT (20)] put right.

    As printed, (20) asks for the sign of the second time derivative of the tension law. That is Gauss' principle for
    inextensible cables; for elastic ones the quadratic program in the tensions themselves decides.
    """

    def decide(self, system: System, t: float, x: Array, last: Mask) -> ModeDecision:
        """The support of the minimising s."""
        return ByState(QuadraticProgram()).decide(_linear(system, self), t, x, last)


@dataclass(frozen=True)
class PrintedNetwork(Decider):
    """X = W V + I, V ← [X > 0], as printed [QT (23)]; kept for comparison, because it is wrong for elastic cables.

    X is minus the second time derivative of the tension law f with the force |f| V: a cable counts as taut when its
    tension curve bends down, not when it is stretched.

    Attributes
    ----------
    literal_sign : bool
        Also keep the sign of ∇f as printed in [QT (7)], which makes the slings negative springs.
    max_sweeps : int
        Largest number of sweeps.
    """

    literal_sign: bool = False
    max_sweeps: int = 50

    def decide(self, system: System, t: float, x: Array, last: Mask) -> ModeDecision:
        """Sweep from the last decision until V stands still or returns."""
        linear = _linear(system, self)
        z, full, (law, change) = linear.augmented(t, x), linear.full, _tension_law(linear)
        CA = -change if self.literal_sign else change
        bias, weights = CA @ (full.A @ z), CA @ full.B * np.abs(law @ z)
        V, seen = last.copy(), {last.tobytes()}
        for sweep in range(1, self.max_sweeps + 1):
            new = weights @ V + bias > 0
            if (new == V).all():
                return ModeDecision(new, sweep)
            V = new
            if V.tobytes() in seen:
                return ModeDecision(V, sweep, cycled=True)
            seen.add(V.tobytes())
        return ModeDecision(V, self.max_sweeps, cycled=True)


@lru_cache(maxsize=8)
def _tension_law(linear: LinearComplementaritySystem) -> tuple[Array, Array]:
    """D⁻¹ C and D⁻¹ C A of the system with its inputs: the tension law (but for its sign) and its change in time."""
    D, full = np.asarray(linear.D), linear.full
    return np.linalg.solve(D, full.C), np.linalg.solve(D, full.C @ full.A)


def _linear(system: System, rule: Decider) -> LinearComplementaritySystem:
    if isinstance(system, LinearComplementaritySystem):
        return system
    raise UsageError(
        f"{type(rule).__name__} is for linear complementarity systems",
        got=type(system).__name__,
        expected="LinearComplementaritySystem",
        advice="ByState()",
    )


@dataclass(frozen=True)
class FrozenModes(SwitchingMethod):
    """Classical Runge–Kutta steps of fourth order; which pairs are taut is decided at the start of each step and kept.

    Attributes
    ----------
    step : h; the last step is shortened to end at the last time.
    decider : `ByState()`, `GaussPrinciple()`, `PrintedNetwork()`.
    """

    step: float
    decider: Decider = ByState()
    _each_stage: ClassVar[bool] = False

    def __post_init__(self) -> None:
        Positive("step", self.step).check()

    def largest_defect(self, tolerances: Tolerances) -> float:
        """Explicit steps: quotients lie between the rates at the ends but for the curvature of ẋ."""
        return tolerances.quotient

    def start(self, system: System, x: Array, times: Array, tolerances: Tolerances) -> LinearRun:
        """All steps; the counts say how often the decider disagreed with the state."""
        decider = self.decider if self._each_stage else None
        span = (float(times[0]), float(times[-1]))
        count = max(1, int(np.ceil((span[1] - span[0]) / self.step - tolerances.event)))
        return _FrozenSteps(_Frozen(system, decider), self.decider, self.step, span, count, x)


@dataclass(frozen=True)
class RungeKutta(FrozenModes):
    """The same steps with the modes decided anew at each stage: plain Runge–Kutta on the kinked equations."""

    _each_stage: ClassVar[bool] = True


@dataclass(eq=False)
class _Frozen:
    """Forces and rates with the modes kept; those of a linear system are matrices, made once per mode."""

    system: System
    each_stage: Decider | None = None
    modes: dict[bytes, tuple[Array, Array]] = field(default_factory=dict)

    def _matrices(self, system: LinearComplementaritySystem, taut: Mask) -> tuple[Array, Array]:
        key = taut.tobytes()
        if key not in self.modes:
            S = np.zeros_like(system.full.C)
            S[taut] = -np.linalg.solve(np.asarray(system.D)[np.ix_(taut, taut)], system.full.C[taut])
            self.modes[key] = (S, (system.full.A + system.full.B @ S)[: system.n])
        return self.modes[key]

    def forces(self, t: float, x: Array, taut: Mask) -> Array:
        """Return s of a mode, whatever its sign."""
        if isinstance(self.system, LinearComplementaritySystem):
            return np.asarray(self._matrices(self.system, taut)[0] @ self.system.augmented(t, x))
        return _general(self.system).forces(t, x, taut)

    def rate(self, t: float, x: Array, taut: Mask) -> Array:
        """ẋ (n,) with the pairs in `taut` held at w = 0 and the others at s = 0."""
        if isinstance(self.system, LinearComplementaritySystem):
            return np.asarray(self._matrices(self.system, taut)[1] @ self.system.augmented(t, x))
        return np.asarray(self.system.rate(t, x, self.forces(t, x, taut)))

    def step(self, t: float, x: Array, h: float, taut: Mask) -> Array:
        """One classical Runge–Kutta step; `taut` holds throughout unless the modes are decided anew at each stage."""

        def rate(tau: float, y: Array) -> Array:
            return self.rate(
                tau, y, self.each_stage.decide(self.system, tau, y, taut).taut if self.each_stage else taut
            )

        k1 = self.rate(t, x, taut)
        k2 = rate(t + h / 2, x + h / 2 * k1)
        k3 = rate(t + h / 2, x + h / 2 * k2)
        k4 = rate(t + h, x + h * k3)
        return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@dataclass(eq=False)
class _FrozenSteps(LinearRun):
    """Explicit steps of one size."""

    frozen: _Frozen
    decider: Decider
    h: float
    span: tuple[float, float]
    count: int
    x: Array

    def __post_init__(self) -> None:
        self.t, self.status, self.note, self.switches = self.span[0], Status.solved, "", 0
        self.stats: dict[str, float] = {"steps": 0, "sweeps": 0.0, "mismatches": 0.0, "cycles": 0.0}
        self.rows: list[Any] = []
        system = self.frozen.system
        self._decide(ByState().decide(system, self.t, self.x, np.zeros(system.m, dtype=bool)).taut)

    def _decide(self, last: Mask) -> None:
        """Decide the modes at the state reached, and keep it."""
        system, right = self.frozen.system, ByState()
        found = self.decider.decide(system, self.t, self.x, last)
        true = found.taut if self.decider == right else right.decide(system, self.t, self.x, found.taut).taut
        self.stats["sweeps"] += found.sweeps
        self.stats["mismatches"] += float((found.taut != true).any())
        self.stats["cycles"] += float(found.cycled)
        self.switches += int((found.taut != last).sum()) if self.rows else 0
        self.taut, self.s = found.taut, self.frozen.forces(self.t, self.x, found.taut)
        self.rows.append((self.t, self.x, self.s, self.taut))

    def advance(self) -> bool:
        """One step; False at the end, or where the motion is not finite."""
        if self.status is not Status.solved or self.stats["steps"] >= self.count:
            return False
        k, (begin, end) = int(self.stats["steps"]) + 1, self.span
        x = self.frozen.step(self.t, self.x, min(self.h, end - self.t), self.taut)
        if not np.isfinite(x).all():
            self.status, self.note = Status.not_finite, f"the motion blew up after t = {self.t:.10g}"
            return False
        self.t, self.x = begin + k * self.h if k < self.count else end, x
        self.stats["steps"] = k
        self._decide(self.taut)
        return True

    def here(self) -> RunPoint:
        """The last point that was reached."""
        return RunPoint(self.t, self.x, self.s, tuple(bool(value) for value in self.taut), self.switches)

    def claim(self) -> Claim:
        """All steps so far; switches lie at the ends of steps."""
        system = self.frozen.system
        t, x, s, taut = (np.array(part) for part in zip(*self.rows, strict=True))
        w = slacks(system, t, x, s)
        switches = switches_of(t, taut, tuple(system.names))
        peaks = s.max(axis=0), w.max(axis=0)
        return Claim(t, x, s, taut[0].astype(float), *peaks, switches, self.status, self.note, self.stats)


def _general(system: System) -> SlacknessSystem:
    if isinstance(system, SlacknessSystem):
        return system
    raise UsageError(
        "explicit steps with kept modes are for systems without memory",
        got=type(system).__name__,
        expected="LinearComplementaritySystem or SlacknessSystem",
        advice="LocatedSwitches()",
    )
