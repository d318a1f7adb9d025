"""Where, within a step of a smooth phase, a gap closes, a multiplier falls to zero, or a user's function vanishes."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import brentq

from onesided._types import Array
from onesided.dynamics.contact_run import World
from onesided.dynamics.mechanics import Mechanics, State
from onesided.dynamics.sliding import Mode, SlidingMechanics
from onesided.dynamics.stepper import Stepper
from onesided.results import Occurrence
from onesided.results.motion import Points, interpolate
from onesided.tolerances import EPS

SAMPLES = 8  # places within a step at which functions are looked at
NEWTON = 6
Function = Callable[[State], float]


@dataclass(frozen=True)
class Moment:
    """What ends a phase."""

    kind: Occurrence
    name: str


@dataclass(frozen=True, eq=False)
class _Watched:
    """A function of the state, and what its falling below `-slack` means."""

    moment: Moment
    function: Function
    slack: float
    slope: Function | None = None
    rising: bool = False


class MomentFinder:
    """Looks at every step of one phase."""

    def __init__(self, world: World, mode: Mode, mechanics: Mechanics, start: State) -> None:
        self.world, self.mode, self.mechanics, self.start = world, mode, mechanics, start
        self.closed = mode.closed
        self._watched = [*self._gaps(), *self._forces(), *self._sticking(), *self._sliding(), *self._users()]

    def _gaps(self) -> list[_Watched]:
        world = self.world
        is_open = [i for i in range(len(world.names)) if i not in set(self.closed)]

        def gap(i: int) -> Function:
            return lambda s: float(world.equations.gaps(s.t, s.q)[i])

        def speed(i: int) -> Function:
            row = world.rows.gaps[i]
            return lambda s: float(world.terms(s.t, s.q, s.v).c_dot[row])

        return [
            _Watched(Moment(Occurrence.contact, world.names[i]), gap(i), world.closed_below, speed(i)) for i in is_open
        ]

    def _forces(self) -> list[_Watched]:
        world, rows = self.world, list(self.mechanics.equations.names)
        size = float(np.max(np.abs(self.start.mu), initial=0.0))

        def force(i: int) -> Function:
            place = rows.index(world.names[i])
            return lambda s: float(s.mu[place])

        slack = world.tolerances.force * size
        return [_Watched(Moment(Occurrence.opens, world.names[i]), force(i), slack) for i in self.closed]

    def _sticking(self) -> list[_Watched]:
        """Coulomb's limit of contacts that stick: μ λ_N − |λ_T|."""
        world, chosen = self.world, [int(row) for row in self.mechanics.equations.chosen]  # type: ignore[attr-defined]
        slack = world.tolerances.force * float(np.max(np.abs(self.start.mu), initial=0.0))

        def margin(i: int) -> Function:
            place = chosen.index(int(world.rows.gaps[i]))
            slips = [chosen.index(row) for row in world.rows.slips[i]]
            return lambda s: float(world.rows.friction[i] * s.mu[place] - np.linalg.norm(s.mu[slips]))

        return [_Watched(Moment(Occurrence.slips, world.names[i]), margin(i), slack) for i in self.mode.sticking]

    def _sliding(self) -> list[_Watched]:
        """Slip that comes to rest, and forces that are no longer determined."""
        world, mechanics = self.world, self.mechanics

        def slip(i: int, direction: tuple[float, ...]) -> Function:
            rows = list(world.rows.slips[i])
            return lambda s: float(world.terms(s.t, s.q, s.v).c_dot[rows] @ np.array(direction))

        found = [
            _Watched(Moment(Occurrence.sticks, world.names[i]), slip(i, d), world.at_rest_below)
            for i, d in self.mode.sliding
        ]
        if isinstance(mechanics, SlidingMechanics):
            moment = Moment(Occurrence.jams, world.names[self.mode.sliding[0][0]])
            found.append(_Watched(moment, lambda s: mechanics.determinacy(s.t, s.q, s.v), 0.0))
        return found

    def _users(self) -> list[_Watched]:
        def at(function: Callable[[float, Array, Array], float]) -> Function:
            return lambda s: float(function(s.t, s.q, s.v))

        events = self.world.request.events
        return [_Watched(Moment(Occurrence.user, name), at(f), 0.0, rising=True) for name, f in events.items()]

    def first(self, before: Stepper, after: State) -> tuple[Moment, State] | None:
        """The earliest of what happens in this step, with the state there."""
        samples = self._samples(before, after)
        found: list[tuple[int, _Watched, tuple[State, State]]] = []
        for n, watched in enumerate(self._watched):
            values = [watched.function(s) for s in samples]
            place = _crossing(values, watched.slack, rising=watched.rising)
            if place is not None:
                found.append((n, watched, (samples[place], samples[place + 1])))
        if not found:
            return None
        located = [(self._locate(before, after, watched, bracket), n, watched) for n, watched, bracket in found]
        state, _, watched = min(located, key=lambda item: (item[0].t, item[1]))
        return watched.moment, state

    def _samples(self, before: Stepper, after: State) -> list[State]:
        start, mechanics = before.state, before.mechanics
        points = Points(*(np.array([getattr(start, k), getattr(after, k)]) for k in Points._fields))
        times = np.linspace(start.t, after.t, SAMPLES + 1)[1:-1]
        q, v = interpolate(mechanics.equations.space, points, 0, times)
        between = []
        for t, a, b in zip(times, q, v, strict=True):
            mu = start.mu
            if len(self.closed):
                now = mechanics.accelerate(t, a, np.zeros_like(a), b, mu)
                mu = mechanics.multipliers(now.terms, now.a, now.mu)
            between.append(State(float(t), a, b, start.a, mu))
        return [start, *between, after]

    def _locate(self, before: Stepper, after: State, watched: _Watched, bracket: tuple[State, State]) -> State:
        """The state at which the function vanishes, by steps of their own from the beginning of the step."""
        start, low, high = before.state, bracket[0].t, bracket[1].t
        states: dict[float, State] = {start.t: start, after.t: after}

        def at(t: float) -> State:
            if t not in states:
                states[t] = _advance(before, t)
            return states[t]

        def value(t: float) -> float:
            return watched.function(at(t))

        if watched.slope is not None:
            guess = self._guess(before, after, watched, bracket)
            t = self._newton(watched, at, guess, bracket)
            if t is not None:
                return at(t)
        first = value(low)
        if watched.slope is not None and low == start.t and first <= watched.slack:
            return self._after_touching(watched, at, low, high)
        if first * value(high) > 0.0:
            return at(low if abs(first) < abs(value(high)) else high)
        return at(float(brentq(value, low, high, xtol=4.0 * np.spacing(abs(high)), rtol=4.0 * np.spacing(1.0))))

    def _guess(self, before: Stepper, after: State, watched: _Watched, bracket: tuple[State, State]) -> float:
        """Where the interpolated gap vanishes; for one that leaves zero in this step, where it returns."""
        start, (low, high) = before.state, bracket
        points = Points(*(np.array([getattr(start, k), getattr(after, k)]) for k in Points._fields))
        space, slope = before.mechanics.equations.space, watched.slope
        touching = low is start and watched.function(start) <= watched.slack and slope is not None

        def value(t: float) -> float:
            q, v = interpolate(space, points, 0, np.array([t]))
            found = watched.function(State(t, q[0], v[0], start.a, start.mu))
            return found / (t - start.t) if touching and t > start.t else found

        first = slope(start) if touching and slope is not None else value(low.t)
        if not first > 0.0 or not value(high.t) < 0.0:
            return high.t
        return float(
            brentq(lambda t: first if t == low.t else value(t), low.t, high.t, xtol=4.0 * np.spacing(abs(high.t)))
        )

    def _newton(
        self, watched: _Watched, at: Callable[[float], State], t: float, bracket: tuple[State, State]
    ) -> float | None:
        """Newton's method; None where it does not settle within the bracket."""
        slope, low, high = watched.slope, bracket[0].t, bracket[1].t
        assert slope is not None  # noqa: S101 - asked by the caller
        fine = EPS * float(self.world.sizes.q.max())
        for _ in range(NEWTON):
            state = at(t)
            rate, value = slope(state), watched.function(state)
            if rate >= 0.0:
                return None
            step = value / rate
            if abs(step) <= 8.0 * np.spacing(abs(high)) or abs(value) <= fine * min(1.0, abs(rate)):
                return t if low < t <= high else None
            t = t - step
            if not low < t <= high:
                return None
        return None

    def _after_touching(self, watched: _Watched, at: Callable[[float], State], low: float, high: float) -> State:
        """A gap that leaves zero and returns within a step: the root other than the start, of gap / (t − start)."""
        slope: Any = watched.slope
        if slope(at(low)) <= self.world.at_rest_below:
            return at(low)

        def deflated(t: float) -> float:
            return watched.function(at(t)) / (t - low) if t > low else float(slope(at(low)))

        if deflated(high) >= 0.0:
            return at(high)
        return at(float(brentq(deflated, low, high, xtol=4.0 * np.spacing(abs(high)), rtol=4.0 * np.spacing(1.0))))


def _crossing(values: list[float], slack: float, *, rising: bool) -> int | None:
    """Index of the first sample interval at whose end the function is below −slack (or changed its sign)."""
    for i, (a, b) in enumerate(pairwise(values)):
        if rising:
            if a * b < 0.0 or (b == 0.0 and a != 0.0):
                return i
        elif b < -slack:
            return i
    return None


def _advance(before: Stepper, t: float) -> State:
    trial = copy.copy(before)
    while trial.state.t < t:
        if trial.step(t) is not None:
            break
    return trial.state
