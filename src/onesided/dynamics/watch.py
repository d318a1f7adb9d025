"""Events of a motion: zeros of user functions, gaps that close, and nearly singular configurations."""

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import brentq

from onesided._types import Array, Status
from onesided.dynamics.mechanics import State
from onesided.dynamics.stepper import DEPENDENT, NEAR, Stepper
from onesided.errors import UsageError
from onesided.model.names import unknown_name
from onesided.results import MotionEvent, Occurrence
from onesided.results.motion import Points, interpolate

ROUNDS = 8  # of the secant method
SMALL = 0.001  # part of a step over which slopes are taken
PLACES = 17  # within a step, where singular values are looked at
SAMPLES = 4  # places within a step at which functions are looked at

Function = Callable[[float, Array, Array], float]


class Watch:
    """Looks at every step of a motion."""

    def __init__(self, stepper: Stepper, events: Mapping[str, Function], stop: tuple[str, ...]) -> None:
        self.stepper, self.events, self.stop = stepper, dict(events), stop
        for name in stop:
            if name not in self.events:
                raise unknown_name("event", name, self.events)
        self.found: list[MotionEvent] = []
        self._lowest = 1.0
        self._check(stepper.state)

    def _check(self, state: State) -> None:
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

    def look(self, before: Stepper, after: State) -> tuple[State, Status, str] | None:
        """Record what happened in a step; a state with a status where the motion must end there.

        `before` is the stepper as it was: events are found in an interpolation of the step and then by steps of their
        own.
        """
        self._singular(before.state, after)
        for t, name, kind, function in sorted(self._moments(before.state, after), key=lambda moment: moment[0]):
            state = self._refine(before, after, t, function)
            event = MotionEvent(kind, state.t, state.q, state.v, name)
            self.found.append(event)
            if kind is Occurrence.contact:
                return state, Status.contact, event.words()
            if name in self.stop:
                return state, Status.stopped, event.words()
        return None

    def _refine(self, before: Stepper, after: State, t: float, function: Function) -> State:
        """The state at which the function vanishes: the secant method on steps from the beginning of the step."""
        best, slope, state = math.inf, 0.0, after
        last: tuple[float, float] | None = None
        for _ in range(ROUNDS):
            trial = copy.copy(before)
            if before.state.t < t < after.t and trial.step(t) is None and trial.state.t == t:
                value = float(function(t, trial.state.q, trial.state.v))
            else:
                return state
            if abs(value) < best:
                best, state = abs(value), trial.state
            slope = (value - last[1]) / (t - last[0]) if last and t != last[0] else self._slope(trial.state, function)
            last = (t, value)
            step = -value / slope if slope else 0.0
            if abs(step) <= 4.0 * np.spacing(abs(after.t)) or not np.isfinite(step):
                return state
            t = t + step
        return state

    def _slope(self, state: State, function: Function) -> float:
        """Change of the function along the motion, from a small step forward and back."""
        space, tiny = self.stepper.mechanics.equations.space, SMALL * abs(self.stepper.h)
        values = []
        for dt in (tiny, -tiny):
            q = space.retract(state.q, dt * state.v + 0.5 * dt**2 * state.a)
            values.append(float(function(state.t + dt, q, state.v + dt * state.a)))
        return (values[0] - values[1]) / (2.0 * tiny)

    def _singular(self, before: State, after: State) -> None:
        """A dip of the smallest pivot, confirmed by singular values along the step, told once, when it is over."""
        mechanics = self.stepper.mechanics
        now, mechanics.closest = mechanics.closest, 1.0
        if now < NEAR:
            space, points = mechanics.equations.space, _points(before, after)
            times = np.linspace(before.t, after.t, PLACES)
            q, v = interpolate(space, points, 0, times)
            values = [mechanics.independence(*state) for state in zip(times, q, v, strict=True)]
            i = int(np.argmin(values))
            share = values[i] / self.stepper.independence
            if share < min(DEPENDENT, self._lowest):
                self._lowest, self._where = share, MotionEvent(Occurrence.singular, times[i], q[i], v[i])
                return
        if self._lowest < 1.0:
            detail = (
                f"the constraints were nearly dependent (smallest singular value {self._lowest:.1g} of the start's)"
            )
            self.found.append(replace(self._where, detail=detail))
            self._lowest = 1.0

    def _moments(self, before: State, after: State) -> list[tuple[float, str, Occurrence, Function]]:
        """Where functions change sign within a step, by interpolation."""
        functions: list[tuple[str, Occurrence, Any]] = [(n, Occurrence.user, f) for n, f in self.events.items()]
        functions += [
            (name, Occurrence.contact, lambda t, q, v, i=i: float(self._gaps(t, q)[i]))
            for i, name in enumerate(self.stepper.mechanics.equations.system.unilateral)
        ]
        if not functions:
            return []
        points = _points(before, after)
        space = self.stepper.mechanics.equations.space

        def at(t: float) -> tuple[Array, Array]:
            q, v = interpolate(space, points, 0, np.array([t]))
            return q[0], v[0]

        times = np.linspace(before.t, after.t, SAMPLES + 1)
        states = [(before.q, before.v), *(at(t) for t in times[1:-1]), (after.q, after.v)]
        found = []
        for name, kind, function in functions:
            values = [float(function(t, *state)) for t, state in zip(times, states, strict=True)]
            crossed = [
                i for i in range(SAMPLES) if _crosses(values[i], values[i + 1], falling=kind is Occurrence.contact)
            ]
            along = partial(_along, function, at)
            found += [(_root(along, times[i], times[i + 1]), name, kind, function) for i in crossed]
        return found


def _points(before: State, after: State) -> Points:
    return Points(*(np.array([getattr(before, k), getattr(after, k)]) for k in Points._fields))


def _crosses(a: float, b: float, *, falling: bool) -> bool:
    return (a > 0.0 >= b) or (not falling and a < 0.0 <= b)


def _along(function: Function, at: Callable[[float], tuple[Array, Array]], t: float) -> float:
    return float(function(t, *at(t)))


def _root(function: Callable[[float], float], a: float, b: float) -> float:
    """A zero between a and b; an end where round-off hides the change of sign."""
    low, high = function(a), function(b)
    if low * high >= 0.0:
        return a if abs(low) < abs(high) else b
    return float(brentq(function, a, b, xtol=4.0 * np.spacing(abs(b))))
