"""Lie-group generalized-α, second order, on the stabilised index-2 form or the index-3 form.

With local coordinates δ of q₁ = q₀∘exp(δ) and algorithmic accelerations a ≈ v̇(t + Δh), Δ = α_m − α_f (Brüls,
Cardona and Arnold 2012, reference 4 of [AR, time integration]):

    δ/h = v₀ + h (½ − β) a₀ + h β a₁ + M⁻¹Gᵀη,   v₁ = v₀ + h (1 − γ) a₀ + h γ a₁,
    (1 − α_m) a₁ + α_m a₀ = (1 − α_f) v̇₁ + α_f v̇₀,   balance, constraints (and hidden ones, with η) at t₁.

When the step changes, a₀ is moved to its new time; without that the order would fall to one.
"""

import math
from dataclasses import dataclass

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.tolerances import EPS
from onesided.base.types import Array, Status
from onesided.dynamics.mechanics import Mechanics, MotionState
from onesided.dynamics.smooth.implicit import INDEX3, STABILISED, Linearised, Stabilised
from onesided.dynamics.smooth.smooth_motion import SmoothMethod
from onesided.dynamics.smooth.stepper import (
    SAFETY,
    Accuracy,
    Stepper,
    check_knobs,
    first_step,
    jumps,
    limited,
    longest_turn,
    next_step,
)

ORDER, ITERATIONS = 2, 25  # of the error per time; of Newton's method


@dataclass(frozen=True)
class StabilisedIndex2:
    """Positions and velocities both on their constraints (Gear, Gupta and Leimkuhler)."""


@dataclass(frozen=True)
class Index3:
    """Positions on their constraints only; the hidden ones are met to the accuracy of the step."""


@checked
@dataclass(frozen=True)
class GeneralizedAlpha(SmoothMethod):
    """Generalized-α of Chung and Hulbert on Lie groups: second order, with numerical damping of high frequencies.

    Attributes
    ----------
    rho : spectral radius at infinite frequency: 1 damps nothing, 0 removes high frequencies in one step.
    form : `StabilisedIndex2()` or `Index3()`.
    rtol : accuracy of the whole motion, relative to the size of coordinates and velocities: the errors of the steps
        may add up to so much over the time span. Where errors grow on the way, so does what is left at the end.
    step : a fixed step instead.
    max_step : the largest step.

    Notes
    -----
    The errors of many small steps of a method of second order add up; that is why `rtol` is that of the whole motion
    here, and of one step for methods of higher order. A hundredth of the tolerance takes ten times as many steps.
    """

    rho: float = 0.9
    form: StabilisedIndex2 | Index3 = StabilisedIndex2()
    rtol: float = 1e-4
    step: float | None = None
    max_step: float = math.inf

    def __post_init__(self) -> None:
        check_knobs(self.rtol, self.step, self.max_step)
        if not 0 <= self.rho <= 1:
            raise UsageError("`rho` is out of range", got=repr(self.rho), expected="0 to 1")
        if not isinstance(self.form, StabilisedIndex2 | Index3):
            raise UsageError("`form` is not known", got=repr(self.form), expected="StabilisedIndex2() or Index3()")

    @property
    def drifts(self) -> tuple[str, ...]:
        """Levels at which constraints are met to the accuracy of the steps only."""
        return ("velocity", "acceleration") if isinstance(self.form, Index3) else ()

    def start(self, mechanics: Mechanics, state: MotionState, t_end: float) -> Stepper:
        """Begin at a consistent state."""
        return AlphaStepper(mechanics, state, t_end, self)


class Coefficients:
    """α_m, α_f, β, γ of a spectral radius, and the constants of the local error."""

    def __init__(self, rho: float) -> None:
        self.am, self.af = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
        self.shift = self.am - self.af
        self.gamma = 0.5 - self.shift
        self.beta = 0.25 * (self.gamma + 0.5) ** 2
        self.ratio = (1.0 - self.af) / (1.0 - self.am)  # ∂a₁/∂v̇₁
        # δ and v of a step against the exact ones, in h³ times the third derivatives of q and of v
        memory = (1.0 - self.af) / 2.0 - (1.0 - self.am) * (0.5 + self.shift)
        self.error_q = 1.0 / 6.0 - self.shift / 2.0 - self.beta
        self.error_v = 1.0 / 6.0 - memory - self.gamma * (0.5 + self.shift)


class AlphaStepper(Stepper):
    """Steps of generalized-α; unknown are δ, v̇, μ (and η)."""

    def __init__(self, mechanics: Mechanics, state: MotionState, t_end: float, method: GeneralizedAlpha) -> None:
        span = abs(t_end - state.t)
        h = method.step or min(first_step(mechanics, state, method.rtol, ORDER, span), method.max_step)
        super().__init__(mechanics, state, h, t_end)
        self.method, self.accuracy, self.c = method, Accuracy(method.rtol), Coefficients(method.rho)
        self._span = span
        self.index3 = isinstance(method.form, Index3)
        self._jerk = self._first_jerk(h)
        self._w = state.a  # v̇ of the method itself, which balances forces at the last state
        self._a, self._h = state.a + self.c.shift * h * self._jerk, h
        self._before: tuple[Array, float] | None = None
        self._finite = True
        self._form: _Newton | None = None

    def _first_jerk(self, h: float) -> Array:
        """Derivative of the acceleration at the start, by a small step."""
        s, tiny = self.state, 0.01 * h
        delta = tiny * s.v + 0.5 * tiny**2 * s.a
        later = self.mechanics.accelerate(s.t + tiny, s.q, delta, s.v + tiny * s.a, s.mu)
        return (later.a - s.a) / tiny

    def step(self, t_end: float) -> Status | None:
        """Advance by one step that does not pass `t_end`: None, or why it cannot."""
        if self._form is None or self._form.form.rows is not self.mechanics.rows:
            self._form = _Newton(self.mechanics, self.state, index3=self.index3)
        blocks = self._form.form.linearise(self.state)
        rejected, finite, fixed = False, True, self.method.step is not None
        if not blocks.finite:
            return self.stuck(finite=False)
        while not self.too_small(self.h):
            h = limited(self.h, t_end - self.state.t)
            start = self._prepare(h)
            found = self._newton(self._form, blocks, start, h)
            state = self._arrive(found, start, h) if found is not None else None
            error = self._error(state.a, h) if state is not None else math.inf
            longest = longest_turn(self.mechanics.equations.space, found[0], h) if found is not None else h
            if state is not None and found is not None and (fixed or (error <= 1.0 and h <= longest)):
                self._advance(state, found[1], start, h)
                if not fixed:
                    self.h = min(self._next(h, error, rejected=rejected), SAFETY * longest)
                return None
            if fixed:
                break
            rejected, finite = True, self._finite
            self.rejected += 1
            self.h = min(next_step(h, error, ORDER, rejected=True) if math.isfinite(error) else h, 0.5 * h)
        return self.stuck(finite=finite)

    def _next(self, h: float, error: float, *, rejected: bool) -> float:
        """The next step; in the index-3 form it changes seldom, because every change excites its multipliers."""
        grown = min(next_step(h, error, ORDER, rejected=rejected), 2.0 * h)
        if h < self.h and not rejected:
            grown = max(grown, self.h)  # the step was cut for another reason than its error
        elif self.index3 and h <= grown < 1.5 * h:
            grown = h
        return min(grown, self.method.max_step)

    def _prepare(self, h: float) -> Array:
        """The algorithmic acceleration at the beginning of a step of size h."""
        if self.index3 and h != self._h:
            self._w, self._h = self.state.a, h
            self._a = self.state.a + self.c.shift * h * self._jerk
        return self._w + (h / self._h) * (self._a - self._w)

    def _kinematics(self, w: Array, start: Array, h: float) -> tuple[Array, Array, Array]:
        """a₁, mean velocity and v₁ for an acceleration v̇₁ = w."""
        c, s = self.c, self.state
        a = ((1.0 - c.af) * w + c.af * self._w - c.am * start) / (1.0 - c.am)
        mean = s.v + h * ((0.5 - c.beta) * start + c.beta * a)
        return a, mean, s.v + h * ((1.0 - c.gamma) * start + c.gamma * a)

    def _newton(
        self, newton: "_Newton", blocks: Linearised, start: Array, h: float
    ) -> tuple[Array, Array, Array] | None:
        """(δ, v̇, multipliers) at the end of the step; None where the iteration fails."""
        form, s = newton.form, self.state
        n, r, solver = form.n, len(form.rows), _AlphaSolver(newton, blocks, self.c, h)
        w, z = self._w + h * self._jerk, np.zeros(form.size - 2 * n)
        delta, z[:r] = h * self._kinematics(w, start, h)[1], s.mu[form.rows]
        space, before, target = self.mechanics.equations.space, math.inf, self._target(h)
        for _ in range(ITERATIONS):
            _, mean, v = self._kinematics(w, start, h)
            if self.index3:
                delta = h * mean
            d = delta / h - mean + space.rate(delta, v)
            residual = form.residual(form.pack(s.t + h, s.q, (delta, d, v, w), z[:r], z[r:]))
            self.evaluations += 1
            self._finite = bool(np.all(np.isfinite(residual)))
            if not self._finite:
                return None
            step = solver.solve(residual)
            delta, w, z = delta + step[0], w + step[1], z + step[2]
            size = self.accuracy.norm(self.mechanics, h * h * step[1] + step[0], h * step[1]) * self.method.rtol
            if size <= target or (size >= 0.5 * before and size <= self._close):
                return delta, w, z
            before = size
        return None

    def _target(self, h: float) -> float:
        """A size of corrections that does not matter: to the constraints, or to the error of the step."""
        if self.index3 or self.method.step is not None:
            return 0.01 * self.mechanics.tolerances.residual
        return max(10.0 * EPS, 0.01 * self.method.rtol * h / self._span)

    @property
    def _close(self) -> float:
        """A size of corrections that is good enough where round-off stops the iteration."""
        return math.sqrt(self.mechanics.tolerances.residual) * 0.01

    def _error(self, a: Array, h: float) -> float:
        """Local error from differences of accelerations, in units of the step's share of the tolerance."""
        jerk = (a - self.state.a) / h
        e_q = self.c.error_q * h**3 * jerk
        e_v = np.zeros_like(e_q)
        if self._before is not None:
            older, length = self._before
            e_v = self.c.error_v * h**3 * (jerk - (self.state.a - older) / length) / (0.5 * (h + length))
        return self.accuracy.norm(self.mechanics, e_q, e_v) * self._span / h

    def _arrive(self, found: tuple[Array, Array, Array], start: Array, h: float) -> MotionState | None:
        """The new state; accelerations and multipliers are those that belong to its positions and velocities."""
        s, mechanics = self.state, self.mechanics
        delta, w, _ = found
        v = self._kinematics(w, start, h)[2]
        q = mechanics.equations.space.retract(s.q, delta)
        if self.index3:
            now = mechanics.accelerate(s.t + h, q, np.zeros_like(q), v, s.mu)
            mu, power = mechanics.multipliers(now.terms, now.a, now.mu), now.power
            return MotionState(
                s.t + h, mechanics.equations.space.wrap(q), v, now.a, mu, s.work + h * (s.power + power) / 2, power
            )
        settled = mechanics.settle(s.t + h, q, v, s.mu)
        if not settled.status.ok:
            return None
        e = settled.state
        if jumps(mechanics, s, e, delta + settled.dq - 0.5 * h * (s.v + e.v)):
            return None
        return MotionState(e.t, e.q, e.v, e.a, e.mu, s.work + 0.5 * h * (s.power + e.power), e.power)

    def _advance(self, state: MotionState, w: Array, start: Array, h: float) -> None:
        self._before = (self.state.a, h)
        a, _, _ = self._kinematics(w, start, h)
        self._jerk = (state.a - self.state.a) / h
        self._a, self._w, self._h, self.state = a, w, h, state


class _AlphaSolver:
    """Newton's corrections (δ, v̇, multipliers), scaled so that small steps do no harm.

    Unknown are (δ, h² v̇, h² μ, h η) in rows (h kinematic, h² balance, position, h velocity): matrices that tend to
    constants for h → 0. In the index-3 form (h² v̇, h² μ) in rows (h² balance, position, h rolling).
    """

    def __init__(self, newton: "_Newton", blocks: Linearised, c: Coefficients, h: float) -> None:
        v_w, d_w = c.gamma * c.ratio / h, c.beta * c.ratio  # ∂v/∂(h² v̇), ∂δ/∂(h² v̇)
        self.form, self.h, self.index3 = newton.form, h, newton.index3
        factors: tuple[float, ...]
        if self.index3:
            factors = (1.0, h * h * d_w, h * h * v_w, 1.0, d_w, h * d_w, h * v_w)
        else:
            factors = (1.0, -d_w, -1.0, h * h, h * h * v_w, 1.0, 1.0, 1.0, h, h * v_w)
        self._lu = newton.matrix.factor(factors, blocks)

    def solve(self, residual: Array) -> tuple[Array, Array, Array]:
        """The corrections of δ (n,), v̇ (n,) and the multipliers that cancel a residual."""
        h, n, m, r = self.h, self.form.n, len(self.form.holonomic), len(self.form.rows)
        kinematic, balance, position, velocity = np.split(residual, [n, 2 * n, 2 * n + m])
        if self.index3:
            rolling = velocity[self.form.rolling]
            x = self._lu.solve(-np.concatenate([h * h * balance, position, h * rolling]))
            return np.zeros(n), x[:n] / h**2, np.concatenate([x[n:] / h**2, np.zeros(m)])
        x = self._lu.solve(-np.concatenate([h * kinematic, h * h * balance, position, h * velocity]))
        return x[:n], x[n : 2 * n] / h**2, np.concatenate([x[2 * n : 2 * n + r] / h**2, x[2 * n + r :] / h])


class _Newton:
    """The form on the kept rows and its Newton matrix."""

    def __init__(self, mechanics: Mechanics, state: MotionState, *, index3: bool) -> None:
        self.form, self.index3 = Stabilised(mechanics, state), index3
        self.matrix = self.form.newton(INDEX3 if index3 else STABILISED)
