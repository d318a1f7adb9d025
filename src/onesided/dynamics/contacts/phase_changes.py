"""Between two phases: contacts that approach collide, those at rest then press or open, stick or slide."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from onesided.base.errors import SolveError
from onesided.base.tolerances import SOME_DIGITS
from onesided.base.types import Array, Indices, Mask, Status
from onesided.dynamics.contacts.accumulation import FAINT, Accumulations, unseen_hops
from onesided.dynamics.contacts.contact_run import World
from onesided.dynamics.contacts.friction_modes import ContactDecision, at_limit, collide_with_friction, decide
from onesided.dynamics.contacts.impact import ImpactImpulses, collide, support, taken_up
from onesided.dynamics.contacts.just_after import Later, just_after
from onesided.dynamics.contacts.moments import PhaseEnd
from onesided.dynamics.contacts.sharing import combined
from onesided.dynamics.contacts.sliding import CLEAR, ContactMode, PhaseStart, SlidingMechanics, StickingMechanics
from onesided.dynamics.contacts.soft import with_soft
from onesided.dynamics.mechanics import MotionState
from onesided.evaluation.motion_terms import Terms
from onesided.linalg import independent_rows
from onesided.results import Occurrence
from onesided.results.path import format_number
from onesided.system.contact_equations import ContactRows, PhaseEquations

AT_ONCE = 2.0**-6  # of the time since a contact was closed: what it is hit within happens now
HOP = SOME_DIGITS  # of the largest speed of a contact: hops whose time is round-off are no faster
LOOPS = "what touching contacts do next leads back to itself; try Moreau(step=…)"
Tell = Callable[[Occurrence, MotionState, str, str], None]


@dataclass(frozen=True)
class PhaseBefore:
    """What is known of the phase that has ended.

    Attributes
    ----------
    mode : what contacts did in it.
    moment : what ended it; None at the start, or where nothing but a sample was due.
    mu : multipliers of all rows where it ended.
    began : when contacts began to slide.
    repeated : number of events since time last passed.
    """

    mode: ContactMode
    moment: PhaseEnd | None
    mu: Array
    began: Mapping[int, float]
    repeated: int

    def is_at(self, kind: Occurrence) -> bool:
        """Whether it ended with an event of this kind."""
        return self.moment is not None and self.moment.kind is kind

    @property
    def name(self) -> str:
        """The contact that ended it; empty where none did."""
        return "" if self.moment is None else self.moment.name


@dataclass(frozen=True)
class PhaseAfter:
    """State and mode after contacts have met; the status says where that could not be decided."""

    state: MotionState
    mode: ContactMode
    status: Status = Status.finished
    note: str = ""


class PhaseChanges:
    """The contacts of one motion; impacts are reported, and those that gain energy kept in `wrong`."""

    def __init__(self, world: World, rest: float, tell: Tell) -> None:
        self.world, self.series, self._tell = world, Accumulations(world, rest), tell
        self.wrong: list[str] = []

    def meet(self, state: MotionState, before: PhaseBefore) -> PhaseAfter:
        """State and mode of the next phase.

        A contact that has just lost its force counts as open however little is left of it; one whose friction has
        reached its limit begins to slide.
        """
        found = self._met(state, before)
        return replace(found, mode=with_soft(self.world.rows, found.mode, before.mode.margins))

    def _met(self, state: MotionState, before: PhaseBefore) -> PhaseAfter:
        world, mode = self.world, before.mode
        phase = PhaseEquations(world.equations, world.rows.always, mode.pressed)
        terms = phase.pushed(world.terms(state.t, state.q, state.v))
        touching = self._touching(terms, before)
        speeds = terms.c_dot[world.rows.gaps]
        slow = self._slow(state, terms, mode)
        touching = self._at_once(state.t, terms, touching, slow, before)
        hit = [int(i) for i in touching if speeds[i] < -slow[i]]
        if hit:
            world.touch.hit(speeds, touching)
            state = self._collide(state, touching, hit, speeds)
            terms = phase.pushed(world.terms(state.t, state.q, state.v))
            speeds, slow = terms.c_dot[world.rows.gaps], self._slow(state, terms, mode)
        if before.is_at(Occurrence.contact) and before.repeated:
            i = world.names.index(before.name)  # its hop takes less than the smallest part of time
            below = before.repeated > 1 and terms.c[world.rows.gaps[i]] < 0.0  # too low to get above zero
            W = np.abs(terms.G[world.rows.gaps])
            beside = W @ W[i] > 0.0  # contacts of the same bodies, which come to rest with it
            most = np.where(np.arange(len(W)) == i, FAINT if below else HOP, HOP) * world.touch.speed
            slow = np.where(beside, np.maximum(slow, np.minimum(np.abs(speeds), most)), slow)
        resting = self._all_at_rest(terms, touching, np.abs(speeds) <= slow)
        self.series.closed_at[[*mode.closed, *mode.idle, *touching]] = state.t
        opening = before.name if before.is_at(Occurrence.opens) else ""
        if world.rows.finite(resting):
            held = self._held(state, terms, mode) if before.is_at(Occurrence.slips) and not hit else None
            if held is not None:
                return PhaseAfter(state, held)
            forced = self._forced(state, before) if not hit else {}
            idle = [world.names[i] for i in mode.idle]
            again = before.repeated > 1 or before.name in idle  # neither force nor way: held rather than hit for ever
            begins = before.name if before.is_at(Occurrence.contact) and again else ""
            if before.is_at(Occurrence.sticks):
                together = self._at_rest_together(state, terms, resting, mode)
                if together is not None:
                    return together
            found = self._decided(state, terms, resting, forced, (opening, begins))
            if found.status.ok:
                return PhaseAfter(self._without_slip(state, terms, found.mode), found.mode)
            return PhaseAfter(state, found.mode, found.status, f"at t = {state.t:.9g}, {found.note}")
        forces = support(terms, world.rows, resting, world.tolerances).rows[world.rows.gaps]
        least = world.tolerances.force * float(np.max(forces, initial=0.0))
        pressing = (int(i) for i in resting if forces[i] > least and world.names[i] != opening)
        return PhaseAfter(state, ContactMode(tuple(pressing)))

    def _at_rest_together(
        self, state: MotionState, terms: Terms, resting: Indices, before: ContactMode
    ) -> PhaseAfter | None:
        """State and mode where contacts with slips too small to have directions stick, too; None if they do not.

        Feet of one body come to rest together, but for round-off.
        """
        rows, least = self.world.rows, self.world.at_rest_below
        slip = {b: float(np.linalg.norm(terms.c_dot[list(rows.slips[b])])) for b in rows.finite(resting)}
        some = tuple(sorted(b for b in slip if slip[b] <= CLEAR * least))
        if all(slip[b] <= least for b in some):
            return None
        closed = tuple(int(i) for i in resting)
        still = self._without_slip(state, terms, replace(before, closed=closed, sticking=some))
        after = terms._replace(c_dot=terms.c_dot + terms.G @ (still.v - state.v))
        found = self._decided(still, after, resting, {}, ("", ""))
        return PhaseAfter(still, found.mode) if found.status.ok and set(some) <= {*found.mode.sticking} else None

    def _without_slip(self, state: MotionState, terms: Terms, mode: ContactMode) -> MotionState:
        """The state with slip that counts as none taken from contacts that stick: it would be theirs for ever."""
        rows = self.world.rows
        slips = [row for b in mode.sticking for row in rows.slips[b]]
        if np.max(np.abs(terms.c_dot[slips]), initial=0.0) == 0.0:
            return state
        held = rows.held(np.array(mode.closed, dtype=np.intp), mode.sticking)
        return replace(state, v=state.v + taken_up(terms.M, terms.G[held], terms.c_dot[held])[0])

    def _decided(
        self, state: MotionState, terms: Terms, resting: Indices, forced: dict[int, Array], names: tuple[str, str]
    ) -> ContactDecision:
        """What touching contacts do next, and just after; `names` of a contact that opens and of one that presses."""
        tried: set[ContactMode] = set()
        while True:
            found = decide(self.world, terms, resting, forced, *names)
            mode, later = self._begun(state, found.mode)
            if not later.opens and not later.slips:
                return found._replace(mode=mode)
            if mode in tried:
                return ContactDecision(mode, Status.jammed, LOOPS)
            tried.add(mode)
            resting = np.array([i for i in resting if i not in later.opens], dtype=np.intp)
            forced = {**forced, **later.slips}

    def _begun(self, state: MotionState, mode: ContactMode) -> tuple[ContactMode, Later]:
        """The mode, wedged or not, with what its contacts do otherwise just after, where they depend on each other."""
        world = self.world
        while len(mode.closed) > 1:
            mechanics = world.mechanics(mode)
            if not isinstance(mechanics, SlidingMechanics | StickingMechanics):
                break
            begun = mechanics.begun(state)
            if not len(begun.loose):
                break
            later = just_after(world, state, mode, begun.a, begun.loose)
            if later.opens or later.slips or not begun.beyond:
                return mode, later
            if mode.wedged:  # no forces within the limits hold it
                return mode, self._given_way(begun)
            mode = replace(mode, wedged=True)
        return mode, Later()

    def _held(self, state: MotionState, terms: Terms, before: ContactMode) -> ContactMode | None:
        """The mode in which contacts that have reached their limits stick on because they press each other, or None.

        Those that touch at rest without force may take part.
        """
        rows = self.world.rows
        own = {i: rows.of([i]) for i in before.idle}
        slip = {i: [row for b in blocks for row in rows.slips[b]] for i, blocks in own.items()}
        idle = [i for i in before.idle if np.max(np.abs(terms.c_dot[slip[i]]), initial=0.0) <= self.world.at_rest_below]
        more = [b for i in idle for b in own[i]]
        mode = replace(
            before, closed=tuple(sorted((*before.closed, *idle))), sticking=tuple(sorted((*before.sticking, *more))),
            idle=tuple(i for i in before.idle if i not in idle), wedged=True,
        )  # fmt: skip
        mechanics = self.world.mechanics(mode)
        if before.wedged or not isinstance(mechanics, SlidingMechanics | StickingMechanics):
            return None
        if not self._press_each_other(terms, mode):
            return None
        begun = mechanics.begun(state)
        return mode if len(begun.loose) and begun.clear else None

    def _press_each_other(self, terms: Terms, mode: ContactMode) -> bool:
        """Whether friction can take part in normal forces, as in a corner but not under a plate on a plane.

        What normal rows and those of slips span then has a part in common.
        """
        rows, units, rank = self.world.rows, self.world.request.system.units, np.sqrt(self.world.tolerances.rank)
        normal = terms.G[rows.gaps[list(mode.closed)]] * units
        slip = terms.G[[row for b in mode.sticking for row in rows.slips[b]]] * units
        apart, both = (len(independent_rows(G, rank=rank)) for G in (normal, slip)), np.concatenate([normal, slip])
        return sum(apart) > len(independent_rows(both, rank=rank))

    def _given_way(self, begun: PhaseStart) -> Later:
        """The contact that would pull opens; or all slip that are beyond their limits, as feet of one body do."""
        rows = self.world.rows
        if begun.pulls >= 0:
            return Later(frozenset(np.flatnonzero(rows.gaps == begun.pulls).tolist()))
        slips = {}
        for row, way in begun.ways.items():
            i = int(np.flatnonzero(rows.gaps == row)[0])
            slips[next(b for b in rows.of([i]) if len(rows.slips[b]) == len(way))] = way
        return Later(slips=slips)

    def _touching(self, terms: Terms, before: PhaseBefore) -> Indices:
        """Contacts that are closed: by their gaps, those that were joints until now, and the one that just hit."""
        closed = self.world.touch.closed(terms)
        closed[self.world.rows.soft] = False
        closed[[*before.mode.closed, *before.mode.idle]] = True
        if before.is_at(Occurrence.contact):
            closed[self.world.names.index(before.name)] = True
        return np.flatnonzero(closed)

    def _at_once(self, t: float, terms: Terms, touching: Indices, slow: Array, before: PhaseBefore) -> Indices:
        """Those that touch now: not contacts that will be hit later, however low they hop.

        Their gap is more than round-off, and takes time to close, compared with that since they were closed.
        """
        rows, touch = self.world.rows.gaps[touching], self.world.touch
        joined = np.isin(touching, [*before.mode.closed, *before.mode.idle])
        if before.is_at(Occurrence.contact):
            joined |= touching == self.world.names.index(before.name)
        gaps, speeds = terms.c[rows], terms.c_dot[rows]
        way = np.abs(speeds) * (t - self.series.closed_at[touching])
        later = (speeds < -slow[touching]) & (gaps > touch.unseen(terms)[touching]) & (gaps > AT_ONCE * way)
        return touching[joined | ~later]

    def _all_at_rest(self, terms: Terms, touching: Indices, still: Mask) -> Indices:
        """Touching contacts at rest, with those whose gaps follow theirs and are closed as far as theirs are.

        A fourth foot is as far from the floor as three others, which count as closed, say together.
        """
        world, rows = self.world, self.world.rows
        resting = touching[still[touching]]
        gaps, below = terms.c[rows.gaps], world.touch.closed_below(world.touch.sums(terms))
        near = np.setdiff1d(np.flatnonzero(still & (gaps <= np.sum(below[resting]))), [*touching, *rows.soft])
        G = terms.G * world.request.system.units
        held = G[np.concatenate([rows.always, rows.gaps[resting]])]
        more = []
        for i in near:
            shares = combined(held, G[rows.gaps[i]])
            if shares is not None and gaps[i] <= below[i] + np.abs(shares[len(rows.always) :]) @ below[resting]:
                more.append(int(i))
        return np.sort(np.concatenate([resting, np.array(more, dtype=np.intp)]))

    def _slow(self, state: MotionState, terms: Terms, before: ContactMode) -> Array:
        """Speeds that are none; of joints until now, to the accuracy to which joints are met."""
        slow = self.world.at_rest(state, terms)
        held = [*before.closed, *before.idle]
        slow[held] = np.maximum(slow[held], self.world.at_rest_below)
        return slow

    def _forced(self, state: MotionState, before: PhaseBefore) -> dict[int, Array]:
        """Contacts that begin to slide, against friction that has reached its limit, with those that just did.

        Those that have slid for a while are known by their slip: where that has ended, they may stick.
        """
        rows = self.world.rows
        fresh = {b: np.array(d) for b, d in before.mode.sliding if before.began.get(b) == state.t}
        found = {b: d for b, d in fresh.items() if before.moment is None or rows.labels[b] != before.name}
        if before.is_at(Occurrence.slips):
            found |= at_limit(rows, before.mu, before.mode.sticking, before.name)
        return found

    def _collide(self, state: MotionState, touching: Indices, hit: list[int], speeds: Array) -> MotionState:
        world, rows = self.world, self.world.rows
        terms = world.terms(state.t, state.q, state.v)
        unseen, faint = unseen_hops(world, state, terms, hit)
        ended = [i for i in hit if self.series.ends(i, state.t, -float(speeds[i]), unseen)]
        if ended or unseen:
            restitution = rows.restitution.copy()
            restitution[[*ended, *unseen]] = 0.0
            rows = replace(rows, restitution=restitution)
        approaching = speeds[touching] <= world.at_rest(state, terms)[touching]
        found = self._impulses(terms, rows, touching[approaching])  # those that separate would gain energy
        if found is None:
            raise SolveError("the impulses of an impact with friction could not be found", state)
        v = state.v + found.change
        left = terms.c_dot[rows.gaps] + terms.G[rows.gaps] @ found.change
        leaves = (left > world.at_rest(state, terms)) & (left <= faint)
        if ended or leaves[touching].any():
            slow, held = self._brought_to_rest(replace(state, v=v), touching, faint)
            v += slow
            ended = [i for i in hit if i in ended or self.series.decays(i)]
            ended = [i for i in ended if held or self.world.rows.restitution[i] > 0.0]
        after = world.terms(state.t, state.q, v)
        lost = float(0.5 * found.rows @ (terms.c_dot + after.c_dot))
        work = float(0.5 * found.rows @ (terms.Gv + after.Gv))  # with that of constraints that are driven
        play = float(0.5 * np.abs(found.rows) @ (np.abs(terms.c_dot) + np.abs(after.c_dot)))
        if lost > math.sqrt(world.tolerances.residual) * play:
            self.wrong.append(f"an impact at t = {state.t:.6g} gains energy: {lost:.3g}")
        for i in hit:
            if i in ended:
                end, detail = self.series.limit(i)
                self._tell(Occurrence.accumulation, replace(state, t=end), world.names[i], detail)
            else:
                self.impact(state, world.names[i], -float(speeds[i]), lost)
        world.sizes.grow(state.q, v)
        return replace(state, v=v, work=state.work + work)

    def _brought_to_rest(self, state: MotionState, touching: Indices, faint: Array) -> tuple[Array, bool]:
        """Change of velocities with which touching contacts do not leave or slip as slowly as where impacts end.

        And whether one left.
        """
        rows, terms = self.world.rows, self.world.terms(state.t, state.q, state.v)
        slow = np.maximum(self.series.rest_below, faint)
        still = [int(i) for i in touching if abs(terms.c_dot[rows.gaps[i]]) <= slow[i]]
        slips = [row for i in still for b in rows.of([i]) for row in rows.slips[b] if abs(terms.c_dot[row]) <= slow[i]]
        held = np.concatenate([rows.always, rows.gaps[still], np.array(slips, dtype=np.intp)]).astype(np.intp)
        leaves = bool(np.any(terms.c_dot[rows.gaps[still]] > self.world.at_rest(state, terms)[still]))
        return taken_up(terms.M, terms.G[held], terms.c_dot[held])[0], leaves

    def _impulses(self, terms: Terms, rows: ContactRows, touching: Indices) -> ImpactImpulses | None:
        """Impulses of an impact over all touching contacts; None where those of friction are not found."""
        if not self.world.rows.finite(touching):
            return collide(terms, rows, touching, self.world.tolerances)
        return collide_with_friction(self.world, terms, touching, rows.restitution)

    def impact(self, state: MotionState, name: str, speed: float, work: float) -> None:
        """Report an impact at a state, with its speed and the work of its impulses."""
        detail = f"speed {format_number(speed)}, energy lost {format_number(-work)}"
        self._tell(Occurrence.impact, state, name, detail)
