"""Event-driven motion with contacts: smooth phases with closed contacts as joints, impacts and openings between them.

Contacts with friction stick (their slip is a constraint, its force within Coulomb's cone) or slide (`sliding`); a phase
ends, too, where the force reaches the cone or the slip comes to rest.

In a phase the closed contacts are bilateral constraints with multipliers λ ≥ 0. It ends where a gap closes (an impact
by Newton's law over all touching contacts, then the question which of them stay closed), where a multiplier falls to
zero (the contact opens), or at a user's event. Impacts that accumulate (a ball coming to rest) are recognised by their
decaying speed; the time at which they end is the limit of a geometric series; the contact is closed from there on.
"""

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.types import Array, Status
from onesided.dynamics.contacts.accumulation import FAINT
from onesided.dynamics.contacts.contact_run import Outcome, World, check_events, collect
from onesided.dynamics.contacts.flights import FlightKnobs, Flights
from onesided.dynamics.contacts.moments import MomentFinder, PhaseEnd
from onesided.dynamics.contacts.phase_changes import PhaseBefore, PhaseChanges
from onesided.dynamics.contacts.rule_matters import names_that_matter
from onesided.dynamics.contacts.sliding import ContactMode, SlidingMechanics
from onesided.dynamics.contacts.slip_steps import SlipStepper
from onesided.dynamics.contacts.soft import flipped, signs_at, with_soft
from onesided.dynamics.contacts.touching import UNSEEN
from onesided.dynamics.crawl import Crawl
from onesided.dynamics.feedback import FeedbackError
from onesided.dynamics.mechanics import Mechanics, MotionState
from onesided.dynamics.monitors import stack
from onesided.dynamics.motion_run import Request
from onesided.dynamics.smooth.explicit import Projected
from onesided.dynamics.smooth.stepper import Stepper, check_knobs
from onesided.dynamics.watching.forcing import Forcing
from onesided.dynamics.watching.watched import Users
from onesided.results import Motion, MotionEvent, Occurrence
from onesided.results.path import format_number

PATIENCE = 50  # events without time passing
OPEN = ContactMode()
NEAR_JAM = 0.01  # of the determinant without friction
WEDGED = "contacts stick because they press each other: taken to last as long as forces within the limits exist"
FEW = 8  # states of one call that do not pay for another


@checked
@dataclass(frozen=True)
class EventDriven:
    """Event-driven integration: exact times of impacts, openings, sticking and slipping; for few contacts.

    Attributes
    ----------
    rtol : accuracy of a step of the smooth phases.
    max_step : the largest step.
    rest : decaying impacts slower than `rest` × the largest impact of the same contact count as accumulated.
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

    def begin(self, request: Request) -> "Flight":
        """Make a motion that can begin."""
        world = World(request)
        rubbing = [world.names[i] for i in world.rows.soft if world.rows.of([i])]
        if rubbing:
            raise UsageError(
                "compliant contacts with friction need another method",
                got=f"{', '.join(rubbing)} with EventDriven(…)",
                expected="Moreau(step=…)",
            )
        check_events(request.events, request.stop, world.start)
        return Flight(world, self)


class Flight:
    """A motion in progress, phase by phase."""

    def __init__(self, world: World, method: EventDriven) -> None:
        self.world, self.method = world, method
        self.states: list[MotionState] = []
        self.events: list[MotionEvent] = []
        self.loose: list[str] = []
        self.status, self.note = Status.finished, ""
        self.evaluations = self.phases = 0
        self._contacts = PhaseChanges(world, method.rest, self._tell)
        self._same, self._when, self._crawl = 0, -math.inf, Crawl(since=world.request.first)
        self._began: dict[int, float] = {}  # when contacts began to slide
        self._users = Users(world.request.events)
        self._forcing = Forcing(world.equations, world.request.last - world.request.first)
        self.vague: dict[str, None] = {}
        self._flights = Flights(world, FlightKnobs(method.rtol, method.max_step, method.rest, FAINT, UNSEEN))
        self._flown: MotionState | None = None
        self._mu: Array = np.zeros(world.equations.rows)  # where the last phase ended

    @property
    def state(self) -> MotionState:
        """The last point that was reached."""
        return self.states[-1]

    def motion(self) -> Motion:
        """What was found so far, rechecked."""
        points = stack(self.states)
        decided = names_that_matter(self.world, points)
        note = "; ".join(text for text in (self.note, *self.vague, decided.words) if text)
        outcome = Outcome(
            points, tuple(self.events), self.status, note, self.method, True, tuple(self._contacts.wrong),
            {"evaluations": self.evaluations, "phases": self.phases, "accumulations": self._contacts.series.ended},
            not_unique=tuple(dict.fromkeys(self.loose)), decided=decided.names,
        )  # fmt: skip
        return collect(self.world, outcome)

    def items(self) -> Iterator[int]:
        """Phase after phase: the number of points so far."""
        world, end = self.world, self.world.request.last
        start = world.terms(world.start.t, world.start.q, world.start.v)
        state, mode = self._meet(world.start, before=with_soft(world.rows, OPEN, signs_at(world.rows, start)))
        self._opened_at_once(state, mode)
        while state.t < end:
            if not self.status.ok:
                yield self._keep(state)
                return
            if mode == OPEN and self._flights.pays(len(self.events)):
                state = yield from self._fly(state)
                if state.t >= end or self._too_many():
                    return
            state, moment = yield from self._phase(state, mode)
            if moment is None and self.status.ok and self._sampled(state):
                state, mode = self._fed_back(state, mode)
                continue
            if moment is None:
                return
            if self._too_many():
                return
            if moment.kind is Occurrence.opens:
                self._tell(Occurrence.opens, state, moment.name)
            if self._stuck(state.t, moment) or self._jammed(state, moment):
                return
            if moment.margin is not None:
                mode, moment = self._squeezed(state, mode, moment.margin), None
            before, last = mode, state
            state, mode = self._meet(state, moment, before)
            if self._passed(last, state):
                yield self._keep(state)
                return
            slid = dict(before.sliding)
            self._began = {i: self._began.get(i, -math.inf) if i in slid else state.t for i, _ in mode.sliding}
            self._tell_friction(state, before, mode)

    def _passed(self, before: MotionState, after: MotionState) -> bool:
        """Report users' functions that vanish just where contacts change the motion; whether one ends it."""
        names, earlier = list(self.world.request.events), self.states[-2] if len(self.states) > 1 else before
        ends = [self._user(after, names[f]) for f in self._users.passed(earlier, before, after)]
        return any(ends)

    def _too_many(self) -> bool:
        if len(self.events) < self.method.max_events:
            return False
        self.status, self.note = Status.max_iterations, f"{len(self.events)} events were not enough"
        return True

    def _fly(self, state: MotionState) -> Generator[int, None, MotionState]:
        """Flights and single impacts, many in one call, as far as they are plain."""
        names = self.world.names
        while state.t < self.world.request.last and len(self.events) < self.method.max_events:
            flown, evaluations = self._flights.go(state)
            self.evaluations += evaluations
            if flown and state is not self._flown:
                yield self._keep(state)
            for now, contact, speed, work in flown:
                if contact >= 0:
                    self._contacts.series.hit(contact, now.t)
                    self._contacts.impact(state, names[contact], speed, work)
                state = self._flown = now
                self.states.append(state)
                yield len(self.states)
                if len(self.events) >= self.method.max_events:
                    return state
            if len(flown) < FEW:
                break
        return state

    def _opened_at_once(self, state: MotionState, mode: ContactMode) -> None:
        """Report contacts that touch at the start but do not press."""
        for i in np.flatnonzero(self.world.touch.closed(self.world.terms(state.t, state.q, state.v))):
            if i not in mode.closed and i not in self.world.rows.soft and self.status.ok:
                self._tell(Occurrence.opens, state, self.world.names[i], "touches at the start, without force")

    def _sampled(self, state: MotionState) -> bool:
        """Whether a phase ended because a sample is due."""
        return self.world.pace.sampled and self.status is not Status.stopped and state.t < self.world.request.last

    def _fed_back(self, state: MotionState, mode: ContactMode) -> tuple[MotionState, ContactMode]:
        """The next sample, and what contacts do with what it gave."""
        try:
            state = self.world.pace.sample(state)
        except FeedbackError as error:
            self.status, self.note = Status.feedback_failed, str(error)
            return state, mode
        self.states.pop()  # the same instant, with the values held before
        after, now = self._meet(state, None, mode)
        self._tell_friction(after, mode, now)
        for i in set(mode.closed) - set(now.closed):
            self._tell(Occurrence.opens, after, self.world.names[i])
        return after, now

    def _squeezed(self, state: MotionState, mode: ContactMode, margin: tuple[int, int]) -> ContactMode:
        """The mode after a margin of a compliant contact changed its sign; reports where pressing begins or ends."""
        rows, terms = self.world.rows, self.world.terms(state.t, state.q, state.v)
        after = with_soft(rows, mode, flipped(rows, mode.margins, margin, terms))
        i = int(rows.soft[margin[0]])
        if (i in after.pressed) != (i in mode.pressed):
            speed = abs(float(terms.c_dot[rows.gaps[i]]))
            kind = Occurrence.contact if i in after.pressed else Occurrence.opens
            self._tell(kind, state, self.world.names[i], f"compliant, speed {format_number(speed)}")
        return after

    def _stuck(self, t: float, moment: PhaseEnd) -> bool:
        """Whether events follow each other without time passing, or so fast that the end would never be reached."""
        self._same = self._same + 1 if t <= self._when else 0
        if not self._decays(moment):
            request, left = self.world.request, self.method.max_events - len(self.events)
            self._crawl = self._crawl.after(t, t - max(self._when, request.first), request.last, left)
        self._when = t
        if self._same < PATIENCE and not self._crawl.stalls:
            return False
        self.status = Status.step_too_small
        self.note = f"contacts open and close without end at t = {t:.9g}: try Moreau(step=…)"
        return True

    def _decays(self, moment: PhaseEnd) -> bool:
        """Whether it is an impact of a contact that loses speed by it: such impacts accumulate, and that ends."""
        i = self.world.names.index(moment.name) if moment.kind is Occurrence.contact else -1
        return i >= 0 and 0.0 < float(self.world.rows.restitution[i]) < 1.0

    def _phase(
        self, state: MotionState, mode: ContactMode
    ) -> Generator[int, None, tuple[MotionState, PhaseEnd | None]]:
        """Smooth motion until something happens, or the end or a sample (then no moment)."""
        world, end = self.world, self.world.pace.until()
        mechanics = world.mechanics(mode)
        equations: Any = mechanics.equations
        self.phases += 1
        mechanics.choose_rows(equations.terms(state.t, state.q, np.zeros_like(state.q), state.v, np.zeros(equations.m)))
        settled = mechanics.settle(state.t, state.q, state.v, np.zeros(equations.rows)).state
        settled = replace(settled, work=state.work)
        self._note_loose(mechanics, mode)
        stepper = self._stepper(mechanics, settled, end)
        finder = MomentFinder(world, mode, mechanics, settled, self._users)
        denied = None if self._same else finder.denied(settled)
        if denied is not None:
            self._mu = self._full(mechanics, settled)
            return settled, denied
        if state is not self._flown:
            yield self._record(stepper, settled)
        for _ in range(world.request.max_steps):
            with np.errstate(over="ignore", invalid="ignore"):  # steps that are too long are tried and given up
                before, failed = self._forcing.step(stepper, end)
            self.evaluations += 12
            if failed is not None:
                self.status, self.note = failed, stepper.note
                self._near_jam(mechanics, stepper.state)
                if isinstance(stepper, SlipStepper) and self.status is Status.step_too_small:
                    self.note += "; where slip in space comes to rest, its direction is stiff: try Moreau(step=…)"
                return stepper.state, None
            world.sizes.grow(stepper.state.q, stepper.state.v)
            for moment, state in finder.moments(before, stepper.state):
                if state.t > self.states[-1].t or moment.kind is not Occurrence.user:
                    self._mu = self._full(stepper.mechanics, state)
                    yield self._record(stepper, state if moment.before is None else moment.before)
                if moment.kind is not Occurrence.user:
                    return self._left(finder, state), moment
                if self._user(state, moment.name):
                    return state, None
            if stepper.state.t > self.states[-1].t:
                yield self._record(stepper, stepper.state)
            if stepper.state.t >= end:
                return self._left(finder, stepper.state), None
        self.status, self.note = Status.max_iterations, f"{world.request.max_steps} steps were not enough"
        return stepper.state, None

    def _stepper(self, mechanics: Mechanics, state: MotionState, end: float) -> Stepper:
        method = Projected(rtol=self.method.rtol, max_step=self.method.max_step)
        if isinstance(mechanics, SlidingMechanics) and mechanics.in_space:
            return SlipStepper(mechanics, state, end, method)
        return method.start(mechanics, state, end)

    def _left(self, finder: MomentFinder, state: MotionState) -> MotionState:
        """Keep what could not be resolved in the phase that is left at a state."""
        words = finder.words()
        if words:
            self.vague.setdefault(words, None)
        return state

    def _user(self, state: MotionState, name: str) -> bool:
        """Report a user's event; returns whether it ends the motion."""
        self._tell(Occurrence.user, state, name)
        if name not in self.world.request.stop:
            return False
        self.status, self.note = Status.stopped, self.events[-1].words()
        return True

    def _full(self, mechanics: Mechanics, state: MotionState) -> Array:
        """Multipliers of all rows, zero for those that are open."""
        if isinstance(mechanics, SlidingMechanics):
            return mechanics.spread(state.t, state.q, state.v, state.mu)
        equations: Any = mechanics.equations
        return np.asarray(equations.spread(state.mu))

    def _record(self, stepper: Stepper, state: MotionState) -> int:
        equations: Any = stepper.mechanics.equations
        mu = equations.filled(self._full(stepper.mechanics, state), state.t, state.q, state.v)
        self.states.append(replace(state, mu=mu))
        return len(self.states)

    def _keep(self, state: MotionState) -> int:
        """A point whose contact forces are unknown: as if there were none."""
        free = self.world.mechanics(OPEN)
        found = free.accelerate(state.t, state.q, np.zeros_like(state.q), state.v, np.zeros(free.equations.rows))
        equations: Any = free.equations
        self.states.append(replace(state, a=found.a, mu=equations.spread(found.mu)))
        return len(self.states)

    def _meet(
        self, state: MotionState, moment: PhaseEnd | None = None, before: ContactMode = OPEN
    ) -> tuple[MotionState, ContactMode]:
        """State and mode after what touching contacts do at an instant."""
        found = self._contacts.meet(state, PhaseBefore(before, moment, self._mu, self._began, self._same))
        if not found.status.ok:
            self.status, self.note = found.status, found.note
        return found.state, found.mode

    def _tell_friction(self, state: MotionState, before: ContactMode, mode: ContactMode) -> None:
        for b in self.world.rows.of(mode.closed):
            was, now, label = before.of(b), mode.of(b), self.world.rows.labels[b]
            if now == "sticks" and was != "sticks":
                self._tell(Occurrence.sticks, state, label)
            turned = now == was == "slides" and np.dot(dict(mode.sliding)[b], dict(before.sliding)[b]) < 0.0
            turned = turned and self._rests(state, b)
            if now == "slides" and (was == "sticks" or turned):
                self._tell(Occurrence.slips, state, label, "the other way" if turned else "")

    def _rests(self, state: MotionState, block: int) -> bool:
        """Whether there is no slip."""
        slip = self.world.terms(state.t, state.q, state.v).c_dot[list(self.world.rows.slips[block])]
        return float(np.linalg.norm(slip)) <= self.world.at_rest_below

    def _jammed(self, state: MotionState, moment: PhaseEnd) -> bool:
        """Whether forces are no longer determined."""
        if moment.kind is not Occurrence.jams:
            return False
        self._tell(Occurrence.jams, state, moment.name)
        self.status, self.note = Status.jammed, self.events[-1].words()
        return True

    def _near_jam(self, mechanics: Mechanics, state: MotionState) -> None:
        """Forces that grow beyond all bounds stop the integration just before they are undetermined."""
        if isinstance(mechanics, SlidingMechanics):
            left = mechanics.determinacy(state.t, state.q, state.v)
            if left < NEAR_JAM:
                self.status = Status.jammed
                self.note = f"forces of sliding contacts grow without bound at t = {state.t:.9g} ({left:.2g} of 1 left)"

    def _note_loose(self, mechanics: Mechanics, mode: ContactMode) -> None:
        """Remember whose forces are a choice in this phase, and whether they are wedged."""
        rows, names = self.world.rows, self.world.names
        owned = zip(rows.owner, rows.slips, strict=True)
        owners = {int(row): names[i] for i, own in owned for row in (rows.gaps[i], *own)}
        equations: Any = mechanics.equations
        if mode.wedged:
            self.vague.setdefault(WEDGED, None)
        self.loose += [owners.get(int(equations.chosen[i]), mechanics.equations.names[i]) for i in mechanics.loose]

    def _tell(self, kind: Occurrence, state: MotionState, name: str, detail: str = "") -> None:
        self.events.append(MotionEvent(kind, state.t, state.q, state.v, name, detail))
