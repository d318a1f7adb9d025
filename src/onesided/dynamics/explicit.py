"""Explicit Runge–Kutta steps of order 8 (Dormand and Prince) for the accelerations of the index-1 form.

On a group the step is taken in the local coordinates δ of q∘exp(δ) (Munthe-Kaas); in a vector space these are plain sums.
`Projected` returns to the constraints after every step, `Baumgarte` damps the deviation instead.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.integrate import DOP853

from onesided._types import Array, Status
from onesided.dynamics.mechanics import Accelerated, Mechanics, Settled, State
from onesided.dynamics.stepper import SHRINK, Accuracy, Stepper, check_knobs, first_step, limited, next_step
from onesided.errors import UsageError

ORDER = 8
STAGES = 12
A, B, C = DOP853.A[:STAGES, :STAGES], DOP853.B, DOP853.C[:STAGES]
E3, E5 = DOP853.E3[:STAGES], DOP853.E5[:STAGES]
BRANCH = 100.0  # a projection longer than so many tolerances has left the branch


@dataclass(frozen=True)
class Projected:
    """Index-1 form with projection: after every step positions and velocities return to the constraints.

    The fastest method for motions that are not stiff, and of high order.

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

    def start(self, mechanics: Mechanics, state: State, t_end: float) -> Stepper:
        """Begin at a consistent state."""
        return ExplicitStepper(mechanics, state, t_end, self)


@dataclass(frozen=True)
class Baumgarte:
    """Index-1 form with Baumgarte's stabilisation c̈ + 2α ċ + β² c = 0: for comparison, not for accuracy.

    Attributes
    ----------
    alpha, beta : rates [1/time]; critically damped where equal.
    rtol, step, max_step : as for `Projected`.
    """

    alpha: float = 5.0
    beta: float = 5.0
    rtol: float = 1e-8
    step: float | None = None
    max_step: float = math.inf

    def __post_init__(self) -> None:
        check_knobs(self.rtol, self.step, self.max_step)
        if not (self.alpha >= 0 and self.beta >= 0):
            raise UsageError("`Baumgarte` has a negative rate", got=f"{self.alpha}, {self.beta}", expected="0 or more")

    def start(self, mechanics: Mechanics, state: State, t_end: float) -> Stepper:
        """Begin at a consistent state."""
        return ExplicitStepper(mechanics, state, t_end, self)


class ExplicitStepper(Stepper):
    """Steps of Dormand and Prince's method."""

    def __init__(self, mechanics: Mechanics, state: State, t_end: float, method: Projected | Baumgarte) -> None:
        span = abs(t_end - state.t)
        h = method.step or min(first_step(mechanics, state, method.rtol, ORDER, span), method.max_step)
        super().__init__(mechanics, state, h, t_end)
        self.method, self.accuracy = method, Accuracy(method.rtol)
        self._rates = (method.alpha, method.beta) if isinstance(method, Baumgarte) else None
        self._guess = state.mu

    def step(self, t_end: float) -> Status | None:
        """Advance by one step."""
        rejected = False
        while True:
            if self.too_small(self.h):
                return self._stuck()
            h = limited(self.h, t_end - self.state.t)
            dq, v, work, error = self._try(h)
            if self.method.step is None and not error <= 1.0:
                self.h = next_step(h, error, ORDER, rejected=True) if math.isfinite(error) else SHRINK * h
                rejected = True
                self.rejected += 1
                continue
            found = self._arrive(self.state.t + h, dq, v, work)
            if found is None:
                if self.method.step is not None:
                    return self._stuck()
                self.h, rejected = 0.5 * h, True
                self.rejected += 1
                continue
            self.state = found
            if self.method.step is None:
                grown = next_step(h, error, ORDER, rejected=rejected)
                self.h = min(max(grown, self.h) if h < self.h else grown, self.method.max_step)
            return None

    def _try(self, h: float) -> tuple[Array, Array, float, float]:
        """One trial step: change of configuration, velocity, work, and error in units of the tolerance."""
        s, n = self.state, len(self.state.q)
        K = np.empty((STAGES, 2 * n + 1))
        K[0, :n], K[0, n : 2 * n], K[0, 2 * n] = s.v, s.a, s.power
        mu = self._guess
        for i in range(1, STAGES):
            y = h * (A[i, :i] @ K[:i])
            now = self._evaluate(s.t + C[i] * h, s.q, y[:n], s.v + y[n : 2 * n], mu)
            mu = now.mu
            K[i, :n], K[i, n : 2 * n], K[i, 2 * n] = now.terms.rate, now.a, now.power
        self._guess = mu
        y = h * (B @ K)
        e5, e3 = h * (E5 @ K), h * (E3 @ K)
        five, three = (self.accuracy.norm(self.mechanics, e[:n], e[n : 2 * n]) for e in (e5, e3))
        error = five**2 / math.sqrt(five**2 + 0.01 * three**2) if five > 0 else 0.0 * five
        return y[:n], s.v + y[n : 2 * n], float(y[2 * n]), error

    def _evaluate(self, t: float, q: Array, delta: Array, v: Array, mu: Array) -> Accelerated:
        self.evaluations += 1
        return self.mechanics.accelerate(t, q, delta, v, mu, self._rates)

    def _arrive(self, t: float, dq: Array, v: Array, work: float) -> State | None:
        """The state after a step, or None where the way back to the constraints is too long to be on the same branch."""
        mechanics, work = self.mechanics, self.state.work + work
        q = mechanics.equations.space.retract(self.state.q, dq)
        if self._rates is not None:
            now = self._evaluate(t, q, np.zeros_like(q), v, self._guess)
            mu = mechanics.multipliers(now.terms, now.a, now.mu)
            return State(t, mechanics.equations.space.wrap(q), v, now.a, mu, work, now.power)
        settled = mechanics.settle(t, q, v, self._guess)
        if not self._stays(settled):
            return None
        found = settled.state
        return State(t, found.q, found.v, found.a, found.mu, work, found.power)

    def _stays(self, settled: Settled) -> bool:
        if not settled.status.ok:
            return False
        limit = BRANCH if self.method.step is None else math.inf
        return self.accuracy.norm(self.mechanics, settled.dq, settled.dv) <= limit

    def _stuck(self) -> Status:
        self.note = f"at t = {self.state.t:.9g}"
        return Status.step_too_small
