"""Events of time stepping, known to a step: zeros of user functions, contacts that begin to stick or to slide."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq

from onesided.base.tolerances import HALF_DIGITS
from onesided.base.types import Array
from onesided.dynamics.contacts.contact_run import World
from onesided.dynamics.mechanics import MotionState
from onesided.dynamics.monitors import Arrays
from onesided.dynamics.watching.watched import UserFunction, crosses, sense
from onesided.results import MotionEvent, Occurrence

PLACES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of a step, where signs are looked at
OPEN, STICKS, SLIDES = 0, 1, 2


class UserZeros:
    """Zeros of user functions on the motion within a step: straight in time, configurations by the shortest way.

    Signs are looked at in five places: of two zeros between neighbouring ones nothing is seen.
    """

    def __init__(self, world: World) -> None:
        self._space = world.equations.space
        self._functions = {name: (f, sense(name, f)) for name, f in world.request.events.items()}

    def between(self, before: MotionState, after: MotionState) -> Iterator[tuple[str, float]]:
        """Names and times, in order of time."""
        delta = self._space.local(before.q, after.q)
        h, dv = after.t - before.t, after.v - before.v

        def value(x: float, function: UserFunction) -> float:
            q = self._space.wrap(self._space.retract(before.q, x * delta)) if x < 1.0 else after.q
            return float(function(before.t + x * h, q, before.v + x * dv))

        found = []
        for name, (function, wanted) in self._functions.items():
            values = [value(x, function) for x in PLACES]
            for (x, low), (y, high) in pairwise(zip(PLACES, values, strict=True)):
                passes = low * high < 0.0 or (high == 0.0 and low != 0.0)
                if passes and crosses(wanted, falling=low > high):
                    place = y if high == 0.0 else float(brentq(value, x, y, args=(function,)))
                    found.append((before.t + place * h, name))
        yield from ((name, t) for t, name in sorted(found))


def friction_events(world: World, points: Arrays) -> list[MotionEvent]:
    """Contacts that begin to stick or to slide, or slide the other way, at the beginning of the step where they do."""
    found = []
    rows = world.rows
    for b, name in enumerate(rows.labels):
        slips = list(rows.slips[b])
        if slips and np.isfinite(rows.friction[b]):
            rub = points.mu[1:, slips]
            state = _states(points.mu[1:, rows.gaps[rows.owner[b]]], rub, float(rows.friction[b]))
            _keep_sticking(world, points, slips, state)
            found += [_event(points, k, name, state[k], turned=turned) for k, turned in _changes(state, rub)]
    return found


def _states(force: Array, rub: Array, friction: float) -> Array:
    """What a contact does in every step; one that sticks may carry more than one that slides."""
    slides = np.abs(np.linalg.norm(rub, axis=1) - friction * force) <= HALF_DIGITS * friction * force
    return np.where(force > 0.0, np.where(slides, SLIDES, STICKS), OPEN)


def _keep_sticking(world: World, points: Arrays, slips: list[int], state: Array) -> None:
    """Let contacts stick that happen to carry the force of sliding but do not move."""
    for k in range(len(state)):
        if state[k] == SLIDES and (k == 0 or state[k - 1] != SLIDES):
            slip = world.terms(points.t[k + 1], points.q[k + 1], points.v[k + 1]).c_dot[slips]
            if np.linalg.norm(slip) <= world.at_rest_below:
                state[k] = STICKS


def _changes(state: Array, rub: Array) -> Iterator[tuple[int, bool]]:
    """Steps in which a contact begins to stick or to slide, and whether it slid the other way before."""
    was, now = state[:-1], state[1:]
    turned = (was == SLIDES) & (now == SLIDES) & (np.sum(rub[1:] * rub[:-1], axis=1) < 0.0)
    told = ((now == STICKS) & (was != STICKS)) | ((now == SLIDES) & (was == STICKS)) | turned
    for k in np.flatnonzero(told):
        yield int(k) + 1, bool(turned[k])


def _event(points: Arrays, step: int, name: str, state: int, *, turned: bool) -> MotionEvent:
    kind = Occurrence.sticks if state == STICKS else Occurrence.slips
    detail = "the other way" if turned else ""
    return MotionEvent(kind, float(points.t[step]), points.q[step], points.v[step], name, detail)
