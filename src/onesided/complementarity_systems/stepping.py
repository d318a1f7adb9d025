"""Implicit time stepping: every step is one linear complementarity problem."""

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from onesided._types import Array, Mask, Status
from onesided.complementarity import LCP, Method, solve
from onesided.complementarity_systems.linear import LinearComplementaritySystem
from onesided.complementarity_systems.methods import Claim, MotionMethod, Positive, System
from onesided.complementarity_systems.signals import generator
from onesided.errors import UsageError
from onesided.results.complementarity_motion import Switch
from onesided.tolerances import DEFAULT, Tolerances


@dataclass(frozen=True)
class TimeStepping(MotionMethod):
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
        steps = _Steps(self, system, DEFAULT)
        _, M, CR = steps.prepare(self.step)
        rhs, bias = steps.load(t, t + self.step, x, s)
        return LCP(M, CR @ rhs + bias)

    def run(self, system: System, x: Array, times: Array, tolerances: Tolerances) -> Claim:
        """Steps from times[0] to times[-1]."""
        if not isinstance(system, LinearComplementaritySystem):
            raise UsageError(
                "time stepping is for linear complementarity systems",
                got=type(system).__name__,
                expected="LinearComplementaritySystem",
                advice="EventDriven() or FrozenModes(step)",
            )
        return _Steps(self, system, tolerances).run(x, float(times[0]), float(times[-1]))


@dataclass(eq=False)
class _Steps:
    method: TimeStepping
    system: LinearComplementaritySystem
    tolerances: Tolerances
    stats: dict[str, float] = field(default_factory=lambda: {"steps": 0, "iterations": 0, "seconds": 0.0})

    def load(self, t: float, t_new: float, x: Array, s: Array) -> tuple[Array, Array]:
        """What a step knows before its problem is solved: x₁ without the new forces (before R), and offset(t₁)."""
        system, th, h = self.system, self.method.theta, t_new - t
        n, full = system.n, system.full
        g, g_new = generator(t, system.frequencies), generator(t_new, system.frequencies)
        F, E = full.A[:n, n:], full.C[:, n:]
        old = full.A[:n, :n] @ x + np.asarray(system.B) @ s + F @ g
        return x + h * (1 - th) * old + h * th * (F @ g_new), E @ g_new

    def prepare(self, h: float) -> tuple[Array, Array, Array]:
        """R = (1 − θhA)⁻¹, the matrix M of the problem, and C R."""
        A, B, C, D = (np.asarray(a) for a in (self.system.A, self.system.B, self.system.C, self.system.D))
        R = np.linalg.inv(np.eye(len(A)) - self.method.theta * h * A)
        M = D + self.method.theta * h * C @ R @ B
        if np.allclose(M, M.T, rtol=self.tolerances.rank, atol=0.0):
            M = (M + M.T) / 2
        return R, M, C @ R

    def _solve(self, M: Array, q: Array, start: Array | None) -> tuple[Array, Status, str]:
        begin = perf_counter()
        start = start if self.method.warm else None
        found = solve(LCP(M, q), self.method.solver, start, self.tolerances, throw=False)
        self.stats["seconds"] += perf_counter() - begin
        self.stats["iterations"] += float(found.stats["iterations"])
        return found.value, found.status, f"{found.method}: {found.note}"

    def run(self, x: Array, t: float, t_end: float) -> Claim:
        """All steps; stops where a problem cannot be solved."""
        h, th, B = self.method.step, self.method.theta, np.asarray(self.system.B)
        count = max(1, int(np.ceil((t_end - t) / h - self.tolerances.event)))
        t_begin = t
        s, status, note = self._start(x, t)
        R, M, CR = self.prepare(h)
        rows = [(t, x, s)]
        while status is Status.solved and self.stats["steps"] < count:
            k = int(self.stats["steps"]) + 1
            t_new = t_begin + k * h if k < count else t_end
            if k == count and abs(t_new - t - h) > self.tolerances.event * h:
                h = t_new - t
                R, M, CR = self.prepare(h)
            rhs, bias = self.load(t, t_new, x, s)
            s, status, note = self._solve(M, CR @ rhs + bias, s)
            x, t = R @ (rhs + h * th * (B @ s)), t_new
            self.stats["steps"] += 1
            rows.append((t, x, s))
        return self._claim(rows, status, note if status is not Status.solved else "")

    def _start(self, x: Array, t: float) -> tuple[Array, Status, str]:
        """Return s at the start; not needed by the backward Euler method."""
        if self.method.theta == 1.0:
            return np.zeros(self.system.m), Status.solved, ""
        return self._solve(np.asarray(self.system.D), self.system.problem(t, x).q, None)

    def _claim(self, rows: list[tuple[float, Array, Array]], status: Status, note: str) -> Claim:
        t, x, s = (np.array(part) for part in zip(*rows, strict=True))
        if self.method.theta == 1.0 and len(t) > 1:
            t, x, s = t[1:], x[1:], s[1:]  # the start has no force of its own
        w = np.array([self.system.slack(*row) for row in zip(t, x, s, strict=True)])
        taut = s > 0
        return Claim(
            t, x, s, taut[0].astype(float), s.max(axis=0), w.max(axis=0),
            switches_of(t, taut, tuple(self.system.names)), status, note, self.stats,
        )  # fmt: skip


def switches_of(t: Array, taut: Mask, names: tuple[str, ...]) -> tuple[Switch, ...]:
    """Changes between steps, at the end of the step in which they happened."""
    steps, pairs = np.nonzero(taut[1:] != taut[:-1])
    return tuple(Switch(float(t[k + 1]), names[i], bool(taut[k + 1, i])) for k, i in zip(steps, pairs, strict=True))
