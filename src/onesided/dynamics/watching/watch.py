"""Events of a motion: zeros of user functions, gaps that close, and nearly singular configurations."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.names import unknown_name
from onesided.base.types import Array, Status
from onesided.dynamics.contacts.touching import ROUNDED
from onesided.dynamics.mechanics import MotionState
from onesided.dynamics.smooth.stepper import DEPENDENT, NEAR, Stepper
from onesided.dynamics.watching.gap_noise import find_gap_terms
from onesided.dynamics.watching.scan import Scanner, vague_words
from onesided.dynamics.watching.watched import Gaps, UserFunction, Users, crosses
from onesided.results import MotionEvent, Occurrence
from onesided.results.motion import NeighbourPoints, interpolate

PLACES = 17  # within a step, where singular values are looked at
LOOK = NEAR**0.5  # pivots below this may have come close to zero between two evaluations
CLOSER = 3  # so often they are set closer around the lowest value


class MotionWatch:
    """Looks at every step of a motion."""

    def __init__(
        self, stepper: Stepper, events: Mapping[str, UserFunction], stop: tuple[str, ...], length: float
    ) -> None:
        self.stepper, self.events, self.stop = stepper, dict(events), stop
        for name in stop:
            if name not in self.events:
                raise unknown_name("event", name, self.events)
        if self.events and getattr(stepper, "coarse", False):
            raise UsageError("events need a point at every step", got=", ".join(self.events), expected="every = 1")
        self.found: list[MotionEvent] = []
        self._lowest, self._looked = 1.0, math.inf
        self._check(stepper.state)
        equations = stepper.mechanics.equations
        gaps = tuple(equations.system.unilateral)
        self._kinds = [[(Occurrence.user, n) for n in self.events], [(Occurrence.contact, n) for n in gaps]]
        find_gap_terms(equations, stepper.state.t, stepper.state.q, stepper.mechanics.sizes.q)
        self._users = Users(self.events)
        groups = (self._users, Gaps(equations, np.arange(len(gaps)), _none))
        self._scanner = Scanner(groups, stepper.state, length)

    def _check(self, state: MotionState) -> None:
        for name, function in self.events.items():
            value = np.asarray(function(state.t, state.q, state.v))
            if value.shape != () or not np.isfinite(value):
                raise UsageError(f"event '{name}' is not a number at the start", got=str(value), expected="one number")
        gaps = self._gaps(state.t, state.q)
        for name, gap in zip(self.stepper.mechanics.equations.system.unilateral, gaps, strict=True):
            if gap < 0:
                raise UsageError(f"gap '{name}' is violated at the start", got=f"{gap:.6g}", expected="0 or more")

    def _gaps(self, t: float, q: Array) -> Array:
        equations = self.stepper.mechanics.equations
        return equations.gaps(t, q)

    def look(self, before: Stepper, after: MotionState) -> tuple[MotionState, Status, str] | None:
        """Record what happened in a step; a state with a status where the motion must end there.

        `before` is the stepper as it was: events are found in an interpolation of the step and then by steps of their
        own.
        """
        self._singular(before.state, after)
        for found in self._scanner.events(before, after):
            kind, name = self._kinds[found.group][found.which]
            if kind is Occurrence.contact and not found.falling:
                continue
            if kind is Occurrence.user and not crosses(self._users.senses[found.which], falling=found.falling):
                continue
            event = MotionEvent(kind, found.state.t, found.state.q, found.state.v, name)
            self.found.append(event)
            if kind is Occurrence.contact:
                return found.state, Status.contact, event.words()
            if name in self.stop:
                return found.state, Status.stopped, event.words()
        return None

    @property
    def quiet(self) -> bool:
        """Whether there is nothing to look at but singular configurations."""
        return not self._scanner.groups

    @property
    def words(self) -> str:
        """Functions that could not be resolved, in words."""
        return vague_words(self._scanner, lambda n, f: "{.value} '{}'".format(*self._kinds[n][f]))

    def _singular(self, before: MotionState, after: MotionState) -> None:
        """A dip of the smallest pivot, confirmed by singular values along the step, reported once, when it is over."""
        mechanics = self.stepper.mechanics
        now, mechanics.closest = mechanics.closest, 1.0
        if before.t > self._looked:  # steps in between were taken without a look: nothing was near there
            self.tell_dip()
        self._looked = after.t
        if now < LOOK:
            space, points = mechanics.equations.space, _points(before, after)
            first, last = before.t, after.t
            for _ in range(CLOSER):  # a dip may be narrower than a step
                times = np.linspace(first, last, PLACES)
                q, v = interpolate(space, points, 0, times)
                values = [mechanics.independence(*state) for state in zip(times, q, v, strict=True)]
                i = int(np.argmin(values))
                first, last = times[max(i - 1, 0)], times[min(i + 1, PLACES - 1)]
            share = values[i] / self.stepper.independence
            if share < self._lowest and share < DEPENDENT:
                self._lowest, self._where = share, MotionEvent(Occurrence.singular, times[i], q[i], v[i])
            if share < DEPENDENT:  # it is not over
                return
        self.tell_dip()

    def tell_dip(self) -> None:
        """Report the lowest place of a dip that is over, or that lasts to the end of the motion."""
        if self._lowest < 1.0:
            share = f"smallest singular value {self._lowest:.1g} of the start's"
            self.found.append(replace(self._where, detail=f"the constraints were nearly dependent ({share})"))
            self._lowest = 1.0


def _points(before: MotionState, after: MotionState) -> NeighbourPoints:
    return NeighbourPoints(*(np.array([getattr(before, k), getattr(after, k)]) for k in NeighbourPoints._fields))


def _none(sums: Array) -> Array:
    """Gaps that count as closed: those that round-off leaves of none."""
    return ROUNDED * sums
