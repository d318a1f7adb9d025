"""Explicit Runge–Kutta steps of order 8 (Dormand and Prince) for the accelerations of the index-1 form.

On a group the step is taken in the local coordinates δ of q∘exp(δ) (Munthe-Kaas); in a vector space these are plain
sums. `Projected` returns to the constraints after every step, `Baumgarte` damps the deviation instead.
"""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.integrate import DOP853

from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.tolerances import EPS, SMALL
from onesided.base.types import Array, Status
from onesided.dynamics.crawl import MANY, PATIENCE, Crawl
from onesided.dynamics.mechanics import Accelerated, Mechanics, MotionState
from onesided.dynamics.smooth.smooth_motion import SmoothMethod
from onesided.dynamics.smooth.stepper import (
    DEPENDENT,
    NEAR,
    SAFETY,
    SHRINK,
    Accuracy,
    Stepper,
    check_knobs,
    first_step,
    jumps,
    limited,
    longest_turn,
    next_step,
    where,
)
from onesided.dynamics.smooth.strides import StrideLimits, strides
from onesided.evaluation.smooth_steps import STAGE_TIMES

ORDER = 8
STAGES = 12
A, B, C = DOP853.A[:STAGES, :STAGES], DOP853.B, DOP853.C[:STAGES]
E3, E5 = DOP853.E3[:STAGES], DOP853.E5[:STAGES]
REST = 0.001  # steps should end where pivots are above this share of the start's
LEAPS = 0.85 ** np.arange(24)
SHORTEST = 0.1  # of the stride, for steps across singular configurations
ACROSS = 0.5  # a step on which pivots fall below this share of the last has passed the singular configuration
COARSE = EPS**0.4375  # errors of steps across singular configurations are not asked to be smaller: round-off
LEAPT = SMALL  # accuracy of steps that still lead across: finer ones are too short to pass where round-off counts
BRANCH = 100.0  # a projection longer than so many tolerances has left the branch


@checked
@dataclass(frozen=True)
class Projected(SmoothMethod):
    """Index-1 form with projection: after every step positions and velocities return to the constraints.

    The fastest method for motions that are not stiff, and of high order.

    Attributes
    ----------
    rtol : accuracy of a step, relative to the way gone so far and to the velocities.
    step : a fixed step instead.
    max_step : the largest step.
    """

    rtol: float = 1e-8
    step: float | None = None
    max_step: float = math.inf
    servo: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_knobs(self.rtol, self.step, self.max_step)

    def start(self, mechanics: Mechanics, state: MotionState, t_end: float) -> Stepper:
        """Begin at a consistent state."""
        return ExplicitStepper(mechanics, state, t_end, self)


@checked
@dataclass(frozen=True)
class Baumgarte(SmoothMethod):
    """Index-1 form with Baumgarte's stabilisation c̈ + 2α ċ + β² c = 0: for comparison, not for accuracy.

    It ends at configurations that are nearly singular, where it could not tell one branch from another.

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

    @property
    def drifts(self) -> tuple[str, ...]:
        """Levels at which constraints are met to the accuracy of the steps only: all."""
        return ("position", "velocity", "acceleration")

    def start(self, mechanics: Mechanics, state: MotionState, t_end: float) -> Stepper:
        """Begin at a consistent state."""
        return ExplicitStepper(mechanics, state, t_end, self)


class ExplicitStepper(Stepper):
    """Steps of Dormand and Prince's method; `order` is that of the error by which steps are chosen."""

    order: int = ORDER

    def __init__(self, mechanics: Mechanics, state: MotionState, t_end: float, method: Projected | Baumgarte) -> None:
        span = abs(t_end - state.t)
        h = method.step or min(first_step(mechanics, state, method.rtol, ORDER, span), method.max_step)
        super().__init__(mechanics, state, h, t_end)
        self.method, self.accuracy = method, Accuracy(method.rtol, closely=True)
        self._rates = (method.alpha, method.beta) if isinstance(method, Baumgarte) else None
        self._crawl = Crawl(since=state.t)
        self._coarse = max(COARSE / method.rtol, 1.0)
        self._rest = REST * self._coarse**0.25  # the finer, the farther from where round-off counts
        self._forced = mechanics.equations.forced
        self._guess, self._last_pivot, self._stride, self._nearest = state.mu, 1.0, 0.0, 1.0

    def step(self, t_end: float) -> Status | None:
        """Advance by one step that does not pass `t_end`: None, or why it cannot."""
        if self.method.step is not None:
            return self._fixed(limited(self.method.step, t_end - self.state.t))
        if self._crawl.stalls:
            at = where(self.mechanics, self.state)
            self.note = (
                f"{PATIENCE} steps in a row of less than 1/{MANY} of the time left, at {at}: does a force jump there, "
                "as by a sign? Give it a narrow, smooth passage, or use contacts with friction"
            )
            return Status.step_too_small
        tries, leapt, finite = 0, False, True
        while not self.too_small(self.h):
            h = limited(self.h, t_end - self.state.t)
            dq, v, work, error = self._try(h)
            longest = longest_turn(self.mechanics.equations.space, dq, h)
            found = self._arrive(self.state.t + h, dq, v, work, BRANCH) if error <= 1.0 and h <= longest else None
            good = found is not None and (self._last_pivot >= self._rest or found.t >= t_end)
            if not good and not leapt and self._rates is None and self.mechanics.closest < max(NEAR, self._rest):
                leapt = True  # once for each step: from here across, rather than ever closer
                if self._leap(max(self._stride, h), t_end):
                    return None
            if found is not None:
                self.state = found
                self._crawl = self._crawl.after(found.t, h, t_end)
                grown = next_step(h, error, self.order, rejected=tries > 0)
                grown = max(grown, self.h) if h < self.h and not tries else grown
                self.h = min(grown, self.method.max_step, SAFETY * longest)
                self._stride = h if good else self._stride
                return None
            tries += 1
            self.rejected += 1
            finite = math.isfinite(error)
            self.h = min(next_step(h, error, self.order, rejected=True), 0.5 * h) if finite else SHRINK * h
        status = self.stuck(finite=finite)
        if finite and self._last_pivot < DEPENDENT and self._rates is None and self.method.rtol < LEAPT:
            self.note += f"; a singular configuration is close: steps across it are found with rtol={LEAPT:.0e} or more"
        return status

    @property
    def can_stride(self) -> bool:
        """Whether many steps can be taken in one call: nothing is iterated on and no constraint depends on others."""
        equations, mechanics = self.mechanics.equations, self.mechanics
        plain = type(mechanics) is Mechanics and equations.pattern is None and equations.system.friction is None
        return (
            plain
            and self.method == Projected(self.method.rtol, None, self.method.max_step)
            and (len(mechanics.rows) == equations.rows and self._crawl.count == 0)
        )

    def stretch(self, t_end: float, most: int) -> list[MotionState]:
        """Advance by many steps, as far as none of them is special: the states after each."""
        states, self.h, evaluations, refused = strides(self.mechanics, self.state, self.h, self._limits(t_end, most))
        self.evaluations, self.rejected = self.evaluations + evaluations, self.rejected + refused
        if states:
            last = states[-2] if len(states) > 1 else self.state
            self.state, self._guess, self._stride = states[-1], states[-1].mu, states[-1].t - last.t
        return states

    def _limits(self, t_end: float, most: int) -> StrideLimits:
        return StrideLimits(t_end, self.method.rtol, self.method.max_step, self.smallest, 1.0 / MANY, most)

    def _fixed(self, h: float) -> Status | None:
        dq, v, work, error = self._try(h)
        found = self._arrive(self.state.t + h, dq, v, work, math.inf)
        if found is None:
            return self.stuck(finite=math.isfinite(error))
        self.state = found
        return None

    def _leap(self, stride: float, t_end: float) -> bool:
        """Step across a nearly singular configuration, where accelerations are lost in round-off, from well before it.

        Of several steps the one with the smallest error is taken, if that is small, one that gets across if there is
        one without harm: the motion is smooth on either side.
        """
        coarse = self._coarse
        longest = min(stride * coarse ** (1.0 / ORDER), t_end - self.state.t)
        limit, branch = max(self.method.rtol**-0.3, coarse), max(BRANCH, coarse)
        trials = sorted(
            ((*self._try(h), h, self._nearest) for h in longest * LEAPS if h > SHORTEST * stride),
            key=lambda x: _size(x[3]),
        )
        best: MotionState | None = None
        for dq, v, work, error, h, nearest in trials:
            found = self._arrive(self.state.t + h, dq, v, work, branch) if error <= limit else None
            if found is None or not (self._last_pivot >= self._rest or found.t >= t_end):
                continue
            across = nearest < ACROSS * self._last_pivot and error <= coarse
            best = found if best is None or across else best
            if across:
                break
        if best is None:
            return False
        self.state, self.h = best, stride
        return True

    def _try(self, h: float) -> tuple[Array, Array, float, float]:
        """One trial step: change of configuration, velocity, work, and error in units of the tolerance."""
        s, n = self.state, len(self.state.q)
        K = np.empty((STAGES, 2 * n + 1))
        K[0, :n], K[0, n : 2 * n], K[0, 2 * n] = s.v, s.a, s.power
        mu, self._nearest = self._guess, 1.0
        for i in range(1, STAGES):
            y = h * (A[i, :i] @ K[:i])
            now = self._evaluate(s.t + C[i] * h, s.q, y[:n], s.v + y[n : 2 * n], mu)
            mu, self._nearest = now.mu, min(self._nearest, self.mechanics.closeness(now.factor))
            K[i, :n], K[i, n : 2 * n], K[i, 2 * n] = now.terms.rate, now.a, now.power
        self._guess = mu
        y = h * (B @ K)
        late = STAGE_TIMES * EPS * abs(s.t) * np.ptp(K, axis=0) if self._forced else 0.0 * K[0]
        e5, e3 = (beyond(h * (E @ K), late) for E in (E5, E3))
        five, three = (self.accuracy.norm(self.mechanics, e[:n], e[n : 2 * n]) for e in (e5, e3))
        error = five * five / math.sqrt(five * five + 0.01 * three * three) if five > 0 else 0.0 * five
        return y[:n], s.v + y[n : 2 * n], float(y[2 * n]), error

    def _evaluate(self, t: float, q: Array, delta: Array, v: Array, mu: Array) -> Accelerated:
        self.evaluations += 1
        return self.mechanics.accelerate(t, q, delta, v, mu, self._rates)

    def _arrive(self, t: float, dq: Array, v: Array, work: float, branch: float) -> MotionState | None:
        """The state after a step; None where the way back to the constraints is longer than `branch` tolerances."""
        mechanics, work = self.mechanics, self.state.work + work
        q = mechanics.equations.space.retract(self.state.q, dq)
        if self._rates is not None:
            if self._nearest < NEAR:
                return None  # what is damped here may be another branch
            now = self._evaluate(t, q, np.zeros_like(q), v, self._guess)
            mu = mechanics.multipliers(now.terms, now.a, now.mu)
            return MotionState(t, mechanics.equations.space.wrap(q), v, now.a, mu, work, now.power)
        settled = mechanics.settle(t, q, v, self._guess)
        off = self.accuracy.norm(mechanics, settled.dq, settled.dv)
        if not settled.status.ok or not off <= branch or jumps(mechanics, self.state, settled.state, settled.dq):
            return None
        found, self._last_pivot = settled.state, mechanics.closeness(settled.accelerated.factor)
        return replace(found, work=work)


def beyond(errors: Array, rounding: Array) -> Array:
    """Errors without what rounding explains."""
    return np.asarray(np.sign(errors) * np.maximum(np.abs(errors) - rounding, 0.0))


def _size(error: float) -> float:
    return error if error >= 0.0 else math.inf
