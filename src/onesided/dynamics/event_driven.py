"""Event-driven motion with contacts: smooth phases with closed contacts as joints, impacts and openings between them.

In a phase the closed contacts are bilateral constraints with multipliers λ ≥ 0. It ends where a gap closes (an impact
by Newton's law over all touching contacts, then the question which of them stay closed), where a multiplier falls to
zero (the contact opens), or at a user's event. Impacts that accumulate (a ball coming to rest) are recognised by their
decaying speed; the time at which they end is the limit of a geometric series; the contact is closed from there on.
"""

import copy
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onesided._types import Array, Indices, Status
from onesided.dynamics.contact_run import Outcome, Request, World, check_events, collect
from onesided.dynamics.explicit import Projected
from onesided.dynamics.impact import collide, support
from onesided.dynamics.mechanics import State
from onesided.dynamics.moments import Moment, MomentFinder
from onesided.dynamics.stepper import Stepper, check_knobs
from onesided.errors import ModelError, UsageError
from onesided.linalg import one_thread
from onesided.results import Motion, MotionEvent, Occurrence
from onesided.results.path import format_number

PATIENCE = 50  # events without time passing


@dataclass(frozen=True)
class EventDriven:
    """Event-driven integration: exact times of impacts and openings; for few contacts, without friction or rough ones.

    Attributes
    ----------
    rtol : accuracy of a step of the smooth phases.
    max_step : the largest step.
    rest : decaying impacts slower than `rest` × the largest speed count as accumulated.
    max_events : give up after so many.
    """

    rtol: float = 1e-10
    max_step: float = math.inf
    rest: float = 1e-7
    max_events: int = 100_000

    def __post_init__(self) -> None:
        check_knobs(self.rtol, None, self.max_step)
        if not 0.0 < self.rest < 1.0:
            raise UsageError("`rest` is out of range", got=repr(self.rest), expected="between 0 and 1")

    def follow(self, request: Request) -> Motion:
        """The motion asked for."""
        world = World(request)
        sliding = world.rows.friction[(world.rows.friction > 0) & np.isfinite(world.rows.friction)]
        if len(sliding):
            raise ModelError(
                "EventDriven has no Coulomb friction",
                got=f"friction = {sliding[0]:g}",
                expected="contacts without friction, or rough ones (friction = inf)",
                advice="method=Moreau(step=…)",
            )
        check_events(request.events, request.stop, world.start)
        flight = Flight(world, self)
        with one_thread(world.equations.n):
            flight.run()
        outcome = Outcome(
            flight.states, tuple(flight.events), flight.status, flight.note, self, True, tuple(flight.wrong),
            {"evaluations": flight.evaluations, "phases": flight.phases, "accumulations": flight.accumulated},
        )  # fmt: skip
        return collect(world, outcome)


class Flight:
    """One motion in progress."""

    def __init__(self, world: World, method: EventDriven) -> None:
        self.world, self.method = world, method
        self.states: list[State] = []
        self.events: list[MotionEvent] = []
        self.wrong: list[str] = []
        self.status, self.note = Status.finished, ""
        self.evaluations = self.phases = self.accumulated = 0
        self._impacts: dict[int, list[float]] = {}
        self._same, self._when = 0, -math.inf

    def run(self) -> None:
        """Phase after phase."""
        world, end = self.world, self.world.request.last
        state, closed = self._meet(world.start)
        self._opened_at_once(state, closed)
        while state.t < end:
            state, moment = self._phase(state, closed)
            if moment is None:
                return
            self.world.request.progress.update(
                control=state.t, points=len(self.states), events=len(self.events), step=0.0
            )
            if len(self.events) >= self.method.max_events:
                self.status, self.note = Status.max_iterations, f"{len(self.events)} events were not enough"
                return
            if moment.kind is Occurrence.user:
                self._tell(Occurrence.user, state, moment.name)
                if moment.name in world.request.stop:
                    self.status, self.note = Status.stopped, self.events[-1].words()
                    return
                continue
            if moment.kind is Occurrence.opens:
                self._tell(Occurrence.opens, state, moment.name)
            if self._stuck(state.t):
                return
            state, closed = self._meet(state, moment.name if moment.kind is Occurrence.opens else "")

    def _opened_at_once(self, state: State, closed: Indices) -> None:
        """Tell of contacts that touch at the start but do not press."""
        gaps = self.world.equations.gaps(state.t, state.q)
        for i in np.flatnonzero(gaps <= self.world.closed_below):
            if i not in closed:
                self._tell(Occurrence.opens, state, self.world.names[i], "touches at the start, without force")

    def _stuck(self, t: float) -> bool:
        """Whether events follow each other without time passing."""
        self._same = self._same + 1 if t <= self._when else 0
        self._when = t
        if self._same < PATIENCE:
            return False
        self.status = Status.step_too_small
        self.note = f"contacts open and close without end at t = {t:.9g}: try Moreau(step=…)"
        return True

    def _phase(self, state: State, closed: Indices) -> tuple[State, Moment | None]:
        """Smooth motion until something happens, or the end (then no moment)."""
        world, end = self.world, self.world.request.last
        mechanics = world.mechanics(closed)
        equations: Any = mechanics.equations
        self.phases += 1
        mechanics.choose_rows(equations.terms(state.t, state.q, np.zeros_like(state.q), state.v, np.zeros(equations.m)))
        settled = mechanics.settle(state.t, state.q, state.v, np.zeros(equations.rows)).state
        settled = replace(settled, work=state.work)
        stepper = Projected(rtol=self.method.rtol, max_step=self.method.max_step).start(mechanics, settled, end)
        finder = MomentFinder(world, closed, settled)
        self._record(stepper, settled)
        for _ in range(world.request.max_steps):
            before = copy.copy(stepper)
            with np.errstate(over="ignore", invalid="ignore"):  # steps that are too long are tried and given up
                failed = stepper.step(end)
            self.evaluations += 12
            if failed is not None:
                self.status, self.note = failed, stepper.note
                return stepper.state, None
            world.sizes.grow(stepper.state.q, stepper.state.v)
            found = finder.first(before, stepper.state)
            if found is not None:
                moment, state = found
                self._record(stepper, state)
                return state, moment
            self._record(stepper, stepper.state)
            if stepper.state.t >= end:
                return stepper.state, None
        self.status, self.note = Status.max_iterations, f"{world.request.max_steps} steps were not enough"
        return stepper.state, None

    def _record(self, stepper: Stepper, state: State) -> None:
        equations: Any = stepper.mechanics.equations
        self.states.append(replace(state, mu=equations.spread(state.mu)))

    def _meet(self, state: State, opening: str = "") -> tuple[State, Indices]:
        """What touching contacts do: collide where they approach; then those at rest press or open.

        The contact `opening` has just lost its force: it counts as open however little is left of it.
        """
        world = self.world
        terms = world.terms(state.t, state.q, state.v)
        touching = np.flatnonzero(world.gaps(terms) <= world.closed_below)
        speeds = terms.c_dot[world.rows.gaps]
        hit = [int(i) for i in touching if speeds[i] < -world.at_rest_below]
        if hit:
            state = self._collide(state, touching, hit, speeds)
            terms = world.terms(state.t, state.q, state.v)
            speeds = terms.c_dot[world.rows.gaps]
        resting = touching[np.abs(speeds[touching]) <= world.at_rest_below]
        forces = support(terms, world.rows, resting, world.tolerances).rows[world.rows.gaps]
        size = float(np.max(forces, initial=0.0))
        least = world.tolerances.force * size
        closed = np.array([i for i in resting if forces[i] > least and world.names[i] != opening], dtype=np.intp)
        return state, closed

    def _collide(self, state: State, touching: Indices, hit: list[int], speeds: Array) -> State:
        world, rows = self.world, self.world.rows
        ended = [i for i in hit if self._accumulates(i, state.t, -float(speeds[i]))]
        if ended:
            restitution = rows.restitution.copy()
            restitution[ended] = 0.0
            rows = replace(rows, restitution=restitution)
        terms = world.terms(state.t, state.q, state.v)
        found = collide(terms, rows, touching, world.tolerances)
        v = state.v + found.change
        after = world.terms(state.t, state.q, v)
        lost = float(0.5 * found.rows @ (terms.c_dot + after.c_dot))
        play = float(0.5 * state.v @ terms.M @ state.v)
        if lost > math.sqrt(world.tolerances.residual) * play:
            self.wrong.append(f"an impact at t = {state.t:.6g} gains energy: {lost:.3g}")
        for i in hit:
            if i in ended:
                self._tell(Occurrence.accumulation, state, world.names[i], self._limit(i))
            else:
                speed = format_number(-float(speeds[i]))
                self._tell(
                    Occurrence.impact, state, world.names[i], f"speed {speed}, energy lost {format_number(-lost)}"
                )
        world.sizes.grow(state.q, v)
        return replace(state, v=v, work=state.work + lost)

    def _accumulates(self, i: int, t: float, speed: float) -> bool:
        """Whether impacts of this contact decay so that they end within a time that does not matter."""
        times = self._impacts.setdefault(i, [])
        times.append(t)
        slow = speed <= self.method.rest * float(self.world.sizes.v.max())
        if not slow or self.world.rows.restitution[i] in (0.0, 1.0) or len(times) < 3:
            return False
        early, late = times[-2] - times[-3], times[-1] - times[-2]
        return late < early

    def _limit(self, i: int) -> str:
        """The end of the accumulation: a geometric series of intervals."""
        times = self._impacts.pop(i)
        self.accumulated += 1
        early, late = times[-2] - times[-3], times[-1] - times[-2]
        ratio = late / early
        end = times[-1] + late * ratio / (1.0 - ratio)
        return f"infinitely many end at t = {end:.12g}, {len(times)} of them were followed; closed from here on"

    def _tell(self, kind: Occurrence, state: State, name: str, detail: str = "") -> None:
        self.events.append(MotionEvent(kind, state.t, state.q, state.v, name, detail))
