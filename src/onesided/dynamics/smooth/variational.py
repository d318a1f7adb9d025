"""Variational integration: for motions over very long times, where energy must not drift."""

from dataclasses import dataclass

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.types import Status
from onesided.dynamics.mechanics import Mechanics, MotionState
from onesided.dynamics.smooth.smooth_motion import SmoothMethod
from onesided.dynamics.smooth.stepper import Stepper, check_knobs
from onesided.evaluation.variational_steps import Instant, VariationalSteps

NEARLY = 0.001  # of a step: what is left to the end is not a step of its own


@checked
@dataclass(frozen=True)
class Variational(SmoothMethod):
    """Steps of a discrete action principle (midpoint rule, RATTLE for joints): second order, no drift of energy.

    Symplectic for conservative systems with joints: the energy swings about its value by an amount of order step², over
    any number of steps, and momenta that belong to symmetries are kept to round-off. Non-holonomic constraints do no
    work on a step.

    Attributes
    ----------
    step : the size of all steps; one that is not a whole part of the time ends with a shorter one.
    every : so many steps, in one compiled call, between two points of the result. Events and gaps need 1, and so does
        `Motion.at`: between points that are far apart nothing is known.
    """

    step: float
    every: int = 1

    def __post_init__(self) -> None:
        check_knobs(0.5, self.step, np.inf)
        if isinstance(self.every, bool) or not isinstance(self.every, int) or self.every < 1:
            raise UsageError("`every` is out of range", got=repr(self.every), expected="a whole number, 1 or more")

    def start(self, mechanics: Mechanics, state: MotionState, t_end: float) -> Stepper:
        """Begin at a consistent state."""
        system = mechanics.equations.system
        _refuse("a control or a force that changes with time", mechanics.equations.forced)
        _refuse("friction in joints", system.friction is not None)
        _refuse("gaps between points that are several steps apart", bool(system.unilateral) and self.every > 1)
        return VariationalStepper(mechanics, state, t_end, self)


def _refuse(what: str, there: bool) -> None:
    if there:
        raise UsageError(f"`Variational` does not know {what}", expected="another method, or a system without")


class VariationalStepper(Stepper):
    """Steps of `VariationalSteps`; momenta are carried on as they are, not recomputed from velocities."""

    def __init__(self, mechanics: Mechanics, state: MotionState, t_end: float, method: Variational) -> None:
        super().__init__(mechanics, state, method.step * method.every, t_end)
        self.method, self.coarse = method, method.every > 1
        self._steps = VariationalSteps(mechanics.equations, mechanics.rows)
        self._now = Instant(state.t, state.q, self._steps.momentum(state.q, state.v), state.v, state.work, good=True)

    def step(self, t_end: float) -> Status | None:
        """Advance by `every` steps, or to the end."""
        h, left = self.method.step, t_end - self._now.t
        count = max(1, min(self.method.every, int(left / h + NEARLY)))
        h = h if left > (1.0 - NEARLY) * h else left
        after = self._steps.march(self._now, h, count)
        self.evaluations += count
        if not after.good:
            self.note = f"Newton's method fails after t = {after.t:.9g}: a shorter `step`"
            return self.stuck(finite=bool(np.all(np.isfinite(after.q))))
        if t_end - after.t <= NEARLY * h:
            after = after._replace(t=t_end)
        mechanics, n = self.mechanics, len(after.q)
        found = mechanics.accelerate(after.t, after.q, np.zeros(n), after.v, self.state.mu)
        mu = mechanics.multipliers(found.terms, found.a, found.mu)
        self._now = after
        self.state = MotionState(after.t, after.q, after.v, found.a, mu, after.work, found.power)
        return None
