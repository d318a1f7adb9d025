"""Radau IIA collocation with three stages (order 5) on the stabilised index-2 form, on groups in local coordinates."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from onesided.base.arguments import checked
from onesided.base.tolerances import EPS
from onesided.base.types import Array, Status
from onesided.dynamics.mechanics import Mechanics, MotionState
from onesided.dynamics.smooth.implicit import STABILISED, Linearised, Stabilised
from onesided.dynamics.smooth.smooth_motion import SmoothMethod
from onesided.dynamics.smooth.stepper import (
    SAFETY,
    Accuracy,
    Stepper,
    check_knobs,
    first_step,
    limited,
    longest_turn,
    next_step,
)

ROOT = math.sqrt(6.0)
C = np.array([(4 - ROOT) / 10, (4 + ROOT) / 10, 1.0])
# a_ij = ∫₀^c_i of the Lagrange polynomial of node j: collocation
A = (C[:, None] ** np.arange(1, 4) / np.arange(1, 4)) @ np.linalg.inv(C[:, None] ** np.arange(3))
INVERSE = np.linalg.inv(A)
_values, _vectors = np.linalg.eig(INVERSE)
_order = np.argsort(np.abs(_values.imag) - _values.imag / 4.0)  # the real one, then the pair
LAMBDA, V = _values[_order], _vectors[:, _order]
V_INVERSE = np.linalg.inv(V)
GAMMA = float(LAMBDA[0].real)
E = np.array([-13 - 7 * ROOT, -13 + 7 * ROOT, -1.0]) / 3  # embedded formula of order 3
ERROR_ORDER = 4
STALLED = 0.03  # part of the accuracy: Newton steps that are smaller and no longer fall come from round-off
ITERATIONS, FIXED_ITERATIONS = 10, 40  # a fixed step has no other way than to go on


@checked
@dataclass(frozen=True)
class Radau(SmoothMethod):
    """Radau IIA with three stages: order 5, stiffly accurate, for stiff systems and reference solutions.

    Attributes
    ----------
    rtol : accuracy of a step, relative to the size of coordinates and velocities.
    step : a fixed step instead.
    max_step : the largest step.
    """

    rtol: float = 1e-8
    step: float | None = None
    max_step: float = math.inf

    def __post_init__(self) -> None:
        check_knobs(self.rtol, self.step, self.max_step)

    def start(self, mechanics: Mechanics, state: MotionState, t_end: float) -> Stepper:
        """Begin at a consistent state."""
        return RadauStepper(mechanics, state, t_end, self)


class RadauStepper(Stepper):
    """Steps of Radau IIA; unknown are the stage values of (δ, v) and the multipliers (μ, η)."""

    def __init__(self, mechanics: Mechanics, state: MotionState, t_end: float, method: Radau) -> None:
        span = abs(t_end - state.t)
        h = method.step or min(first_step(mechanics, state, method.rtol, ERROR_ORDER, span), method.max_step)
        super().__init__(mechanics, state, h, t_end)
        self.method, self.accuracy = method, Accuracy(method.rtol)
        fine = method.rtol if method.step is None else mechanics.tolerances.residual
        self._target = max(10.0 * EPS / fine, min(STALLED, math.sqrt(fine)))
        self._fine = Accuracy(fine)
        self._form: Stabilised | None = None
        self._matrix: Any = None

    def step(self, t_end: float) -> Status | None:
        """Advance by one step that does not pass `t_end`: None, or why it cannot."""
        rejected, finite = False, True
        if self._form is None or self._form.rows is not self.mechanics.rows:
            self._form = Stabilised(self.mechanics, self.state)
            self._matrix = self._form.newton(STABILISED)
        form = self._form
        blocks = form.linearise(self.state)
        if not blocks.finite:
            return self.stuck(finite=False)
        while not self.too_small(self.h):
            h = limited(self.h, t_end - self.state.t)
            solver = _RadauSolver(form, self._matrix, blocks, h)
            W, Z, converged = self._newton(form, solver, h)
            error = self._error(form, solver, W, h) if converged else math.inf
            longest = longest_turn(self.mechanics.equations.space, W[2, : form.n], h) if converged else h
            fixed = self.method.step is not None
            found = self._arrive(form, W, Z, h) if converged and (fixed or (error <= 1.0 and h <= longest)) else None
            if found is not None:
                self.state = found
                if not fixed:
                    grown = next_step(h, error, ERROR_ORDER, rejected=rejected)
                    grown = max(grown, self.h) if h < self.h and not rejected else grown
                    self.h = min(grown, self.method.max_step, SAFETY * longest)
                return None
            if fixed:
                break
            rejected, finite = True, bool(np.all(np.isfinite(W)))
            self.rejected += 1
            self.h = next_step(h, error, ERROR_ORDER, rejected=True) if math.isfinite(error) else 0.25 * h
            self.h = min(self.h, 0.7 * h)
        return self.stuck(finite=finite)

    def _newton(self, form: Stabilised, solver: "_RadauSolver", h: float) -> tuple[Array, Array, bool]:
        """Stage values W = (δ, v − v₀) (3, 2n) and multipliers (3, rows), by simplified Newton iteration."""
        s, n = self.state, form.n
        times = h * C[:, None]
        W = np.hstack([times * s.v + 0.5 * times**2 * s.a, times * s.a])
        Z = np.zeros((3, form.size - 2 * n))
        Z[:, : len(form.rows)] = s.mu[form.rows]
        before, rate = math.inf, 0.5
        for i in range(ITERATIONS if self.method.step is None else FIXED_ITERATIONS):
            residual = self._residual(form, W, Z, h)
            self.evaluations += 3
            if not np.all(np.isfinite(residual)):
                return residual, Z, False
            dW, dZ = solver.solve(residual)
            W, Z = W + dW, Z + dZ
            size = max(self._fine.norm(self.mechanics, w[:n], w[n:]) for w in dW)
            rate = size / before if i else rate
            if size == 0.0 or (rate < 1.0 and size * rate / (1.0 - rate) < self._target):
                return W, Z, True
            if i and rate >= 1.0 and size > self._target:
                return W, Z, size <= STALLED
            before = size
        return W, Z, False

    def _residual(self, form: Stabilised, W: Array, Z: Array, h: float) -> Array:
        s, n = self.state, form.n
        rates = INVERSE @ W / h
        count = len(form.rows)
        parts = [(W[i, :n], rates[i, :n], s.v + W[i, n:], rates[i, n:]) for i in range(3)]
        x = [form.pack(s.t + C[i] * h, s.q, parts[i], Z[i, :count], Z[i, count:]) for i in range(3)]
        return form.residual(np.stack(x))

    def _error(self, form: Stabilised, solver: "_RadauSolver", W: Array, h: float) -> float:
        """The embedded error, filtered for stiff components and kept tangential to the constraints."""
        n = form.n
        raw = (h * np.concatenate([self.state.v, self.state.a]) + E @ W) / GAMMA
        filtered = solver.filter(raw)
        return self.accuracy.norm(self.mechanics, filtered[:n], filtered[n:])

    def _arrive(self, form: Stabilised, W: Array, Z: Array, h: float) -> MotionState | None:
        """The last stage is the new state; the little that is left of residuals is projected away."""
        s, n, equations = self.state, form.n, self.mechanics.equations
        settled = self.mechanics.settle(s.t + h, equations.space.retract(s.q, W[2, :n]), s.v + W[2, n:], s.mu)
        limit = 100.0 if self.method.step is None else math.inf
        if not settled.status.ok or self.accuracy.norm(self.mechanics, settled.dq, settled.dv) > limit:
            return None
        work = s.work
        if not equations.conservative:
            power = [self._power(form, s.t + C[i] * h, W[i], Z[i]) for i in range(3)]
            work += h * float(A[2] @ power)
        found = settled.state
        return MotionState(found.t, found.q, found.v, found.a, found.mu, work, found.power)

    def _power(self, form: Stabilised, t: float, w: Array, z: Array) -> float:
        mu = np.zeros(self.mechanics.equations.rows)
        mu[form.rows] = z[: len(form.rows)]
        terms = self.mechanics.equations.terms(t, self.state.q, w[: form.n], self.state.v + w[form.n :], mu)
        return terms.power + float(mu @ terms.Gv)


class _RadauSolver:
    """The linear systems of one step: one real, one complex, scaled so that h → 0 does no harm.

    Rows are (h × kinematic, h × balance, position, velocity), columns (δ, v, h μ, h η).
    """

    def __init__(self, form: Stabilised, newton: Any, blocks: Linearised, h: float) -> None:
        self.n, self.h, self.form, self.blocks = form.n, h, form, blocks
        self._factors = [
            newton.factor((value, -h, -1.0, h, h, value, 1.0, 1.0, 1.0, 1.0), blocks)
            for value in (float(LAMBDA[0].real), complex(LAMBDA[1]))
        ]

    def solve(self, residual: Array) -> tuple[Array, Array]:
        """Newton's correction of the stages, (3, 2n) and (3, rows)."""
        n = self.n
        scaled = -residual
        scaled[:, : 2 * n] *= self.h
        mixed = V_INVERSE @ scaled
        x = np.empty_like(mixed)
        x[0] = self._factors[0].solve(mixed[0].real)
        x[1] = self._factors[1].solve(mixed[1])
        x[2] = x[1].conj()
        step = (V @ x).real
        return step[:, : 2 * n], step[:, 2 * n :] / self.h

    def filter(self, raw: Array) -> Array:
        """(γ/h − J)⁻¹ (γ/h) raw."""
        n = self.n
        right = np.zeros(self.form.size)
        right[:n] = GAMMA * self.form.mass_times(self.blocks, raw[:n])
        right[n : 2 * n] = GAMMA * self.form.mass_times(self.blocks, raw[n:])
        return np.asarray(self._factors[0].solve(right)[: 2 * n])
