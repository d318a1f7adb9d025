"""Events of a motion: zeros of user functions, gaps that close, and nearly singular configurations."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.optimize import brentq

from onesided._types import Array, Status
from onesided.dynamics.mechanics import State
from onesided.dynamics.stepper import NEAR, Stepper
from onesided.errors import UsageError
from onesided.model.names import unknown_name
from onesided.results import MotionEvent, Occurrence
from onesided.results.motion import interpolate

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

    def look(self, before: State, after: State) -> tuple[State, Status, str] | None:
        """Record what happened in a step; a state with a status where the motion must end there."""
        self._singular(after)
        moments = self._moments(before, after)
        for event in sorted(moments, key=lambda event: event.t):
            self.found.append(event)
            if event.kind is Occurrence.contact or event.name in self.stop:
                status = Status.contact if event.kind is Occurrence.contact else Status.stopped
                settled = self.stepper.mechanics.settle(event.t, event.q, event.v, after.mu).state
                share = (event.t - before.t) / (after.t - before.t)
                work = before.work + share * (after.work - before.work)
                state = State(event.t, settled.q, settled.v, settled.a, settled.mu, work, settled.power)
                return state, status, event.words()
        return None

    def _singular(self, after: State) -> None:
        """A dip of the smallest pivot, told once, when it is over."""
        mechanics = self.stepper.mechanics
        now, mechanics.closest = mechanics.closest, 1.0
        if now < NEAR and now < self._lowest:
            self._lowest, self._where = now, after
        elif self._lowest < 1.0 and now > NEAR:
            where = self._where
            detail = f"the constraints were nearly dependent (smallest pivot {self._lowest:.1g} of the start's)"
            self.found.append(MotionEvent(Occurrence.singular, where.t, where.q, where.v, "", detail))
            self._lowest = 1.0

    def _moments(self, before: State, after: State) -> list[MotionEvent]:
        system = self.stepper.mechanics.equations.system
        functions: list[tuple[str, Occurrence, Any]] = [(n, Occurrence.user, f) for n, f in self.events.items()]
        functions += [
            (name, Occurrence.contact, lambda t, q, v, i=i: float(self._gaps(t, q)[i]))
            for i, name in enumerate(system.unilateral)
        ]
        if not functions:
            return []
        points = SimpleNamespace(
            t=np.array([before.t, after.t]), **{k: np.array([getattr(before, k), getattr(after, k)]) for k in "qva"}
        )
        space = self.stepper.mechanics.equations.space

        def at(t: float) -> tuple[Array, Array]:
            return interpolate(space, points, 0, np.asarray(t))

        times = np.linspace(before.t, after.t, SAMPLES + 1)
        states = [at(t) for t in times]
        found = []
        for name, kind, function in functions:
            values = [float(function(t, *state)) for t, state in zip(times, states, strict=True)]
            for i in range(SAMPLES):
                if _crosses(values[i], values[i + 1], falling=kind is Occurrence.contact):
                    t = brentq(lambda t, f=function: f(t, *at(t)), times[i], times[i + 1], xtol=np.spacing(after.t))
                    found.append(MotionEvent(kind, float(t), *at(float(t)), name))
        return found


def _crosses(a: float, b: float, *, falling: bool) -> bool:
    return (a > 0.0 >= b) or (not falling and a < 0.0 <= b)
