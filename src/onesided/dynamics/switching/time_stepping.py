"""Implicit time stepping: every step is one linear complementarity problem."""

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array, Mask, Status
from onesided.complementarity import LCP, Method, solve
from onesided.dynamics.switching.linear import LinearComplementaritySystem
from onesided.dynamics.switching.recheck import System, slacks
from onesided.dynamics.switching.runs import Claim, LinearRun, Positive, RunPoint
from onesided.dynamics.switching.signals import generator
from onesided.dynamics.switching.switching_motion import SwitchingMethod
from onesided.results.complementarity_motion import Switch


@dataclass(frozen=True)
class TimeStepping(SwitchingMethod):
    """x₁ = x₀ + h (θ ẋ₁ + (1 − θ) ẋ₀) with 0 ≤ s₁ ⊥ w₁ ≥ 0: w₁ = M s₁ + q, M = D + θh C (1 − θhA)⁻¹ B.

    θ = ½ is the trapezoidal rule (Newmark's with β = ¼, γ = ½), of second order; θ = 1 is the backward Euler method,
    which also takes systems whose D is singular. Its motion is listed from the end of the first step on, because
    the start has no force of its own.

    Attributes
    ----------
    step : h; the last step ends at the last time, which need not be a multiple.
    theta : from ½ to 1.
    solver : method of `onesided.complementarity`; None picks one.
    warm : begin each problem from the last solution, where the solver can.
    """

    step: float
    theta: float = 0.5
    solver: Method | None = None
    warm: bool = True

    def __post_init__(self) -> None:
        Positive("step", self.step).check()
        if not 0.5 <= self.theta <= 1:
            raise UsageError("`theta` is out of range", got=repr(self.theta), expected="0.5 to 1")

    def problem(self, system: LinearComplementaritySystem, t: float, x: Array, s: Array) -> LCP:
        """The problem of the step that begins at t with the state x and the forces s."""
        steps = _Matrices(system, self.theta, DEFAULT)
        _, M, CR = steps.prepare(self.step)
        rhs, bias = steps.load(t, t + self.step, x, s)
        return LCP(M, CR @ rhs + bias)

    def start(self, system: System, x: Array, times: Array, tolerances: Tolerances) -> LinearRun:
        """Steps from times[0] to times[-1]."""
        if not isinstance(system, LinearComplementaritySystem):
            raise UsageError(
                "time stepping is for linear complementarity systems",
                got=type(system).__name__,
                expected="LinearComplementaritySystem",
                advice="LocatedSwitches() or FrozenModes(step)",
            )
        return _ImplicitSteps(self, system, tolerances, x, (float(times[0]), float(times[-1])))


@dataclass(eq=False)
class _Matrices:
    """What the steps of a system need."""

    system: LinearComplementaritySystem
    theta: float
    tolerances: Tolerances

    def load(self, t: float, t_new: float, x: Array, s: Array) -> tuple[Array, Array]:
        """What a step knows before its problem is solved: x₁ without the new forces (before R), and offset(t₁)."""
        system, th, h = self.system, self.theta, t_new - t
        n, full = system.n, system.full
        g, g_new = generator(t, system.frequencies), generator(t_new, system.frequencies)
        F, E = full.A[:n, n:], full.C[:, n:]
        old = full.A[:n, :n] @ x + np.asarray(system.B) @ s + F @ g
        return x + h * (1 - th) * old + h * th * (F @ g_new), E @ g_new

    def prepare(self, h: float) -> tuple[Array, Array, Array]:
        """R = (1 − θhA)⁻¹, the matrix M of the problem, and C R."""
        A, B, C, D = (np.asarray(a) for a in (self.system.A, self.system.B, self.system.C, self.system.D))
        R = np.linalg.inv(np.eye(len(A)) - self.theta * h * A)
        M = D + self.theta * h * C @ R @ B
        if np.allclose(M, M.T, rtol=self.tolerances.rank, atol=0.0):
            M = (M + M.T) / 2
        return R, M, C @ R


@dataclass(eq=False)
class _ImplicitSteps(LinearRun):
    """All steps; stops where a problem cannot be solved."""

    method: TimeStepping
    system: LinearComplementaritySystem
    tolerances: Tolerances
    x: Array
    span: tuple[float, float]

    def __post_init__(self) -> None:
        begin, end = self.span
        self.stats: dict[str, float] = {"steps": 0, "iterations": 0, "seconds": 0.0}
        self.h, self.t, self.switches = self.method.step, begin, 0
        self.count = max(1, int(np.ceil((end - begin) / self.h - self.tolerances.event)))
        self.matrices = _Matrices(self.system, self.method.theta, self.tolerances)
        self.R, self.M, self.CR = self.matrices.prepare(self.h)
        self.s, self.status, self.note = self._start(self.x, begin)
        self.rows = [(begin, self.x, self.s)]

    def advance(self) -> bool:
        """Take one step, which solves one complementarity problem; False at the end."""
        if self.status is not Status.solved or self.stats["steps"] >= self.count:
            return False
        k, (begin, end) = int(self.stats["steps"]) + 1, self.span
        t = begin + k * self.h if k < self.count else end
        if k == self.count and abs(t - self.t - self.h) > self.tolerances.event * self.h:
            self.h = t - self.t
            self.R, self.M, self.CR = self.matrices.prepare(self.h)
        rhs, bias = self.matrices.load(self.t, t, self.x, self.s)
        s, self.status, self.note = self._solve(self.M, self.CR @ rhs + bias, self.s)
        x = self.R @ (rhs + self.h * self.method.theta * (np.asarray(self.system.B) @ s))
        self.switches += int(((s > 0) != (self.s > 0)).sum()) if len(self.rows) > 1 or self.method.theta < 1 else 0
        self.t, self.x, self.s = t, x, s
        self.stats["steps"] += 1
        self.rows.append((t, x, s))
        return True

    def here(self) -> RunPoint:
        """The last point that was reached."""
        taut = tuple(bool(value) for value in self.s > 0)
        return RunPoint(self.t, self.x, self.s, taut, self.switches)

    def _solve(self, M: Array, q: Array, start: Array | None) -> tuple[Array, Status, str]:
        begin = perf_counter()
        start = start if self.method.warm else None
        found = solve(LCP(M, q), self.method.solver, start, self.tolerances, throw=False)
        self.stats["seconds"] += perf_counter() - begin
        self.stats["iterations"] += float(found.stats["iterations"])
        return found.value, found.status, f"{found.method}: {found.note}"

    def _start(self, x: Array, t: float) -> tuple[Array, Status, str]:
        """Return s at the start; not needed by the backward Euler method."""
        if self.method.theta == 1.0:
            return np.zeros(self.system.m), Status.solved, ""
        return self._solve(np.asarray(self.system.D), self.system.problem(t, x).q, None)

    def claim(self) -> Claim:
        """All steps so far; without the start for θ = 1, which has no force of its own."""
        t, x, s = (np.array(part) for part in zip(*self.rows, strict=True))
        if self.method.theta == 1.0 and len(t) > 1:
            t, x, s = t[1:], x[1:], s[1:]  # the start has no force of its own
        w = slacks(self.system, t, x, s)
        taut, note = s > 0, self.note if self.status is not Status.solved else ""
        return Claim(
            t, x, s, taut[0].astype(float), s.max(axis=0), w.max(axis=0),
            switches_of(t, taut, tuple(self.system.names)), self.status, note, self.stats,
        )  # fmt: skip


def switches_of(t: Array, taut: Mask, names: tuple[str, ...]) -> tuple[Switch, ...]:
    """Changes between steps, at the end of the step in which they happened."""
    steps, pairs = np.nonzero(taut[1:] != taut[:-1])
    return tuple(Switch(float(t[k + 1]), names[i], bool(taut[k + 1, i])) for k, i in zip(steps, pairs, strict=True))
