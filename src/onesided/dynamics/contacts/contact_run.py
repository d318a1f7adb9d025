"""What methods that follow contacts share: the request, a start without penetration, the rechecked result."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onesided.base.errors import ModelError, SolveError, UsageError
from onesided.base.tolerances import EPS, HALF_DIGITS
from onesided.base.types import Array, Status
from onesided.dynamics.between import dips, words
from onesided.dynamics.consistent import consistent
from onesided.dynamics.contacts.impact import lcp, respond
from onesided.dynamics.contacts.sliding import ContactMode, SlidingMechanics, StickingMechanics
from onesided.dynamics.contacts.soft import off_law
from onesided.dynamics.contacts.surface_events import check_outlines_at, check_surfaces_at, surface_events
from onesided.dynamics.contacts.touching import ROUNDED, SLOW, Touch
from onesided.dynamics.contracts import check_contracts, check_distances
from onesided.dynamics.feedback import Pace
from onesided.dynamics.ledger import Books, Ledger, ledger
from onesided.dynamics.mechanics import Mechanics, MotionSizes, MotionState
from onesided.dynamics.monitors import Arrays, recheck, status_after
from onesided.dynamics.motion_run import Request, UserEvents, made_by
from onesided.dynamics.watching.gap_noise import find_gap_terms
from onesided.evaluation.motion_terms import Check, Terms
from onesided.linalg import kkt_matrix
from onesided.results import Drift, Motion, MotionEvent, StartCorrection
from onesided.system.contact_equations import ContactEquations, ContactRows, PhaseEquations

PROJECTIONS = 20
LATE = 4.0  # spacings of time within which events are located
SHOWN = 8  # names in a note
NOISE = 8.0  # rounding errors of the numbers in a gap that its residual may be made of
TURNS = 4  # directions in which places are rounded, to see what becomes of speeds
PROBE = 0.01  # how far from the start contacts are distinguished, relative to the size of the coordinates


class World:
    """A system with contacts at its start: equations, sizes, and the state without penetration."""

    def __init__(self, request: Request) -> None:
        self.request, self.tolerances = request, request.tolerances
        self.equations = ContactEquations(request.system, request.control, held=request.force is not None)
        self.pace = Pace(self.equations, request.control, request.force, request.first, request.last)
        self.rows: ContactRows = self.equations.contact_rows
        self.names = tuple(request.system.unilateral)
        self._phases: dict[ContactMode, Mechanics] = {}
        self.patterned: ContactEquations | None = None
        free = self.mechanics(ContactMode())
        check_outlines_at(request.system, request.q0)
        state, correction = consistent(free, request.first, request.q0, request.v0, request.last - request.first)
        self.sizes: MotionSizes = free.sizes
        find_gap_terms(self.equations, state.t, state.q, self.sizes.q)
        start = self.terms(state.t, state.q, state.v)
        self.sizes.lever = self._lever(start)
        self.touch = Touch(self.rows, self.tolerances, start, self.equations.gap_terms)
        check_contracts(self.equations, state.t, state.q, state.v, self.sizes.q)
        check_distances(self.equations, state.t, state.q, state.v, self.sizes.q)
        self._tell_apart(state)
        state, moved = self._without_penetration(state)
        check_surfaces_at(request.system, state.q)
        self.start = self.pace.begin(state)
        self.correction = StartCorrection(max(correction.position, moved), correction.velocity, correction.redundant)
        self.projected = f"the start penetrated: moved by {moved:.3g} to close the gaps" if moved else ""

    def _lever(self, terms: Terms) -> float:
        """The largest speed of a contact that coordinates make which move as fast as their units."""
        units, rows = self.request.system.units, [*self.rows.gaps, *(row for each in self.rows.slips for row in each)]
        if np.all(units == 1.0):
            return 1.0
        return float(np.max(np.abs(terms.G[rows]) * units, initial=0.0)) or 1.0

    @property
    def closed_below(self) -> float:
        """A gap below this is closed [length]."""
        return self.tolerances.gap * self.sizes.of_gaps

    @property
    def round_off(self) -> float:
        """That of coordinates and of the numbers in gaps [length]."""
        return EPS * max(float(self.sizes.q.max()), float(np.max(self.equations.gap_terms, initial=0.0)))

    @property
    def at_rest_below(self) -> float:
        """A velocity of a gap below this is zero."""
        return SLOW * self.tolerances.residual * self.sizes.of_contacts

    def mechanics(self, mode: ContactMode) -> Mechanics:
        """The smooth system in which contacts that press are joints, stick or slide."""
        if mode not in self._phases:
            equations = PhaseEquations(
                self.equations, self.rows.held(np.array(mode.closed, dtype=np.intp), mode.sticking), mode.pressed
            )
            rule = self.request.multipliers if mode == ContactMode() else None
            if mode.sliding or mode.sticking:
                kind = SlidingMechanics if mode.sliding else StickingMechanics
                self._phases[mode] = kind(equations, mode, self.rows, self.tolerances)
            else:
                self._phases[mode] = Mechanics(equations, rule, self.tolerances)
        found = self._phases[mode]
        if hasattr(self, "sizes"):
            found.sizes = self.sizes
            found.rounded = self._rounded(found)
        return found

    def _rounded(self, mechanics: Mechanics) -> Array:
        """Round-off of gaps that are joints of a phase."""
        equations: Any = mechanics.equations
        noise = np.zeros(self.equations.m)
        noise[self.rows.gaps] = NOISE * EPS * self.equations.gap_terms
        return np.asarray(noise[equations.positions])

    def terms(self, t: float, q: Array, v: Array) -> Terms:
        """All rows at a state."""
        return self.equations.terms(t, q, np.zeros(self.equations.n), v, np.zeros(self.equations.m))

    def at_rest(self, state: MotionState, terms: Terms) -> Array:
        """Speeds of gaps that count as none, also because round-off of the place turns the normal of a curved contact.

        The latter is looked at where a contact may be closed and a speed is in doubt.
        """
        slow, rows = self.touch.at_rest_below(terms), self.rows.gaps
        speeds, most = np.abs(terms.c_dot[rows]), np.abs(terms.G[rows]) @ np.abs(terms.rate)
        if not np.any(self.touch.closed(terms)[(speeds > slow) & (speeds <= HALF_DIGITS * most)]):
            return slow
        rng, off = np.random.default_rng(0), 0.0 * slow
        for _ in range(TURNS):
            shift = ROUNDED * np.abs(state.q) * rng.choice([-1.0, 1.0], self.equations.n)
            turned = self.terms(state.t, self.equations.space.retract(state.q, shift), state.v)
            off = np.maximum(off, np.abs(turned.c_dot - terms.c_dot)[rows])
        return np.asarray(slow + off)

    def sparse_terms(self, t: float, q: Array, v: Array) -> Terms:
        """The same, by derivatives along few directions where a pattern of the matrices is known."""
        few = self.patterned
        if few is None:
            return self.terms(t, q, v)
        terms = few.terms(t, q, np.zeros(few.n), v, np.zeros(few.m))
        M, G = few.matrices(terms)
        return terms._replace(M=M, G=G)

    def gaps(self, terms: Terms) -> Array:
        """Gaps among the residuals; those of compliant contacts may be anything."""
        found = terms.c[self.rows.gaps]
        found[self.rows.soft] = np.inf
        return found

    def _tell_apart(self, state: MotionState) -> None:
        """Refuse a contact that is stated twice: its force could not be distinguished from the other's."""
        rng = np.random.default_rng(0)
        pictures = []
        for shift in (PROBE, 2.0 * PROBE):
            q = self.equations.space.retract(state.q, shift * self.sizes.q * rng.uniform(-1.0, 1.0, self.equations.n))
            terms = self.terms(state.t, q, state.v)
            W = np.column_stack([terms.G[self.rows.gaps], terms.c[self.rows.gaps]])
            steep = np.linalg.norm(W[:, :-1], axis=1, keepdims=True)
            flat = steep <= HALF_DIGITS * np.max(steep, initial=0.0)
            pictures.append(W / np.where(flat, 1.0, steep))
        marks = np.round(np.hstack(pictures) / HALF_DIGITS).astype(np.int64)
        seen: dict[bytes, str] = {}
        for name, mark in zip(self.names, marks, strict=True):
            twin = seen.setdefault((mark + 0).tobytes(), name)
            if twin != name:
                raise ModelError(
                    f"contacts '{twin}' and '{name}' are the same",
                    expected="contacts that can be distinguished",
                    advice="leave one of them out: their forces would not be unique",
                )

    def _without_penetration(self, state: MotionState) -> tuple[MotionState, float]:
        terms = self.terms(state.t, state.q, state.v)
        if not len(self.names) or self.gaps(terms).min() >= -self.closed_below:
            return state, 0.0
        try:
            q, off = self.project(state.t, state.q, state.v)
        except SolveError:  # no step leads out of all gaps at once
            q, off = state.q, np.inf
        if off > self.closed_below:
            worst = self.names[int(np.argmin(self.gaps(terms)))]
            raise SolveError(
                Status.infeasible.value, state, got=f"gap '{worst}' is {self.gaps(terms).min():.3g} at the start"
            )
        moved = float(np.max(np.abs(self.equations.space.local(state.q, q))))
        return MotionState(state.t, q, state.v, state.a, state.mu), moved

    def project(self, t: float, q: Array, v: Array) -> tuple[Array, float]:
        """The nearest configuration, in the metric of the mass, without penetration and on the joints; what is left."""
        rows, joints = self.rows, self.rows.joints
        off = np.inf
        for _ in range(PROJECTIONS):
            terms = self.sparse_terms(t, q, v)
            gaps = self.gaps(terms)
            before, off = off, max(-gaps.min(initial=0.0), float(np.max(np.abs(terms.c[joints]), initial=0.0)))
            if off <= EPS * self.sizes.of_gaps or off >= 0.5 * before:
                break
            near = np.flatnonzero(gaps <= 10.0 * off)
            W, G = terms.G[rows.gaps[near]], terms.G[joints]
            base = _shift(terms.M, G, terms.c[joints])
            answer = respond(terms.M, G, W.T).x
            step = base + answer @ lcp(W @ answer, gaps[near] + W @ base, self.tolerances)
            q = self.equations.space.retract(q, step)
        return self.equations.space.wrap(q), off


def _shift(M: Array, G: Array, c: Array) -> Array:
    n, m = len(M), len(G)
    if m == 0 or not np.any(c):
        return np.zeros(n)
    return np.asarray(np.linalg.lstsq(kkt_matrix(M, G), np.concatenate([np.zeros(n), -c]), rcond=EPS * (n + m))[0][:n])


def check_events(events: UserEvents, stop: tuple[str, ...], state: MotionState) -> None:
    """Refuse event functions that give no number, and names of none."""
    for name in stop:
        if name not in events:
            raise UsageError(f"there is no event '{name}' to stop at", expected=", ".join(events) or "an event")
    for name, function in events.items():
        value = np.asarray(function(state.t, state.q, state.v))
        if value.shape != () or not np.isfinite(value):
            raise UsageError(f"event '{name}' is not a number at the start", got=str(value), expected="one number")


@dataclass(frozen=True, eq=False)
class Outcome:
    """Points with multipliers of all rows, how it ended, and what a method says about its own accuracy.

    `balance`, `projection` and `lost` are those of time stepping: residual of the momentum balance of the step to each
    point; work of projections, and loss in contacts, up to it. `lossy` methods damp motions that their steps do not
    resolve. `not_unique` names contacts whose forces were a choice at some time, `decided` those whose shares changed
    the motion.
    """

    points: Arrays
    events: tuple[MotionEvent, ...]
    status: Status
    note: str
    method: Any
    smooth: bool
    wrong: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    balance: Array | None = None
    projection: Array = field(default_factory=lambda: np.zeros(0))
    lossy: bool = False
    lost: Array = field(default_factory=lambda: np.zeros(0))
    not_unique: tuple[str, ...] = ()
    decided: tuple[str, ...] = ()


def collect(world: World, outcome: Outcome) -> Motion:
    """States to a `Motion`, rechecked from the model: gaps, signs, complementarity, balance, energy."""
    equations, rows, system = world.equations, world.rows, world.request.system
    points = outcome.points
    drift, found, balance = _rechecked(world, outcome)
    lam = points.mu[:, rows.gaps]
    wrong = [
        *outcome.wrong, *_verdict(world, outcome, drift, lam, found.gaps), *_cone(world, points.mu),
        *balance.faults(world.tolerances, smooth=outcome.smooth, lossy=outcome.lossy),
        *_between(world, outcome, lam), *(off_law(equations, points) if outcome.smooth else ()),
    ]  # fmt: skip
    p, p_dot = equations.control_along(points.t)
    touching = surface_events(system, equations.space, points)
    events = tuple(sorted((*outcome.events, *touching), key=lambda event: event.t))
    slips = [row for each in rows.slips for row in each]
    joints = points.mu[:, rows.always][:, : len(system.bilateral)]
    members = system.members(points.q, p, np.hstack([joints, lam]), (points.v, points.a, p_dot))
    loose = (*world.correction.redundant, *outcome.not_unique, *outcome.decided)
    notes = [
        text
        for text in (
            world.correction.words(),
            world.projected,
            outcome.note,
            *_choices(world, outcome),
            balance.words(world.tolerances),
            "; ".join(wrong),
        )
        if text
    ]
    return Motion(
        coordinates=system.coordinates, bilateral=tuple(system.bilateral), nonholonomic=tuple(system.nonholonomic),
        unilateral=world.names, servo=tuple(system.servo), control=system.control,
        t=points.t, q=points.q, v=points.v, a=points.a, mu=points.mu[:, rows.always], lam=lam,
        u=np.zeros((len(points.t), 0)), p=p, energy=found.energy,
        work=points.work, drift=drift, events=events, status=status_after(outcome.status, "; ".join(wrong)),
        note="; ".join(notes), start=world.correction, space=equations.space,
        provenance={**made_by(world.request, outcome.method, equations.space.words), **outcome.provenance},
        not_unique=tuple(dict.fromkeys(loose)),
        tangential=points.mu[:, slips], smooth=outcome.smooth, projection=outcome.projection,
        measures=system.measured(points.q, p, members), sketch=system.sketch, members=members,
    )  # fmt: skip


def _choices(world: World, outcome: Outcome) -> list[str]:
    """Whose forces were a choice, and where that chose the motion, in words."""
    chosen = [name for name in outcome.not_unique if name not in (*world.correction.redundant, *outcome.decided)]
    words = []
    if chosen:
        words.append(f"the forces of {', '.join(chosen[:SHOWN])} are not unique: the smallest are given")
    if outcome.decided:
        words.append(
            f"the motion depends on how {', '.join(outcome.decided[:SHOWN])} share their normal forces, which the "
            "model leaves open: they share them as equally compliant contacts"
        )
    return words


def _between(world: World, outcome: Outcome, lam: Array) -> list[str]:
    """Penetration between points, of contacts that do not press in the step."""
    presses = lam[1:] > 0.0
    presses[:, world.rows.soft] = True
    if outcome.smooth:
        presses = presses | (lam[:-1] > 0.0)
    found = dips(world.equations, outcome.points, presses, smooth=outcome.smooth, none=world.round_off)
    return words(world.equations, found)


def _rechecked(world: World, outcome: Outcome) -> tuple[Drift, Check, Ledger]:
    """What the model says about the points."""
    equations, rows, points = world.equations, world.rows, outcome.points
    whole = Mechanics(equations, None, world.tolerances)
    whole.sizes = world.sizes
    drift, found = recheck(whole, points)
    joints = PhaseEquations(equations, rows.always)
    held = points._replace(mu=points.mu[:, joints.chosen])
    some, _ = recheck(Mechanics(joints, None, world.tolerances), held, joints.of(found))
    length = world.sizes.of_gaps
    hard = np.delete(found.gaps, rows.soft, axis=1)
    penetration = np.maximum(-hard.min(axis=1, initial=0.0), 0.0) / length
    smooth = float(outcome.smooth)  # in time stepping, velocities and forces belong to the middle of a step
    none = np.zeros(len(points.t))
    books = Books(points.work, *(x if len(x) else none for x in (outcome.projection, outcome.lost)))
    balance = ledger(found, books, world.sizes.q)
    drift = Drift(
        np.maximum(some.position, penetration),
        smooth * some.velocity,
        smooth * some.acceleration,
        drift.balance if outcome.balance is None else outcome.balance,
        np.abs(balance.gained),
    )
    return drift, found, balance


def _cone(world: World, mu: Array) -> list[str]:
    """Note of the first contact whose friction exceeds Coulomb's limit; [] where none does."""
    rows = world.rows
    for b in rows.finite(range(len(rows.gaps))):
        normal = rows.static[b] * mu[:, rows.gaps[rows.owner[b]]]
        beyond = np.linalg.norm(mu[:, list(rows.slips[b])], axis=1) - normal
        if not np.max(beyond) <= 1000.0 * world.tolerances.residual * np.max(np.abs(mu)):
            return [f"friction of '{rows.labels[b]}' exceeds its limit by {np.max(beyond):.2g}"]
    return []


def _verdict(world: World, outcome: Outcome, drift: Drift, lam: Array, gaps: Array) -> list[str]:
    tolerance, words = world.tolerances, []
    for name in ("position", "velocity", "balance"):
        worst = float(np.max(getattr(drift, name), initial=0.0))
        if not worst <= 100.0 * tolerance.residual:
            words.append(f"{name} residual {worst:.2g} (relative)")
    size = float(np.max(np.abs(lam), initial=0.0))
    if size and not lam.min() >= -tolerance.residual * size - _by_late_times(world, outcome.points, lam):
        words.append(f"a contact pulls: λ = {lam.min():.2g}")
    off = np.max(np.minimum(np.abs(lam), size) * np.maximum(gaps, 0.0), initial=0.0)
    if outcome.smooth and size and not off <= 100.0 * tolerance.gap * size * world.sizes.of_gaps:
        words.append(f"a contact presses at a distance: λ·g = {off:.2g}")
    return words


def _by_late_times(world: World, points: Arrays, lam: Array) -> float:
    """What forces change by within the round-off of the times of events: between points, and where one pulls most."""
    t, steps = points.t, np.diff(points.t)
    presses = (lam[:-1] > 0.0) & (steps > 0.0)[:, None]  # also up to where it opens, and where it is round-off
    rates = np.where(presses, np.abs(np.diff(lam, axis=0)), 0.0) / np.where(steps > 0.0, steps, 1.0)[:, None]
    late = LATE * float(np.spacing(np.max(np.abs(t))))
    i, j = np.unravel_index(int(np.argmin(lam)), lam.shape)
    return max(late * float(np.max(rates, initial=0.0)), _by_outside(world, points, (int(i), int(j)), late))


def _by_outside(world: World, points: Arrays, at: tuple[int, int], late: float) -> float:
    """What forces that know the time change the reaction of a contact by, within so much time of a point."""
    (i, j), equations = at, world.equations
    if not equations.forced:
        return 0.0
    times = points.t[i] + late * np.array([-1.0, 1.0])
    before, after = equations.forcing_along(times, points.q[i], points.v[i])[:, : equations.n]
    W = np.abs(world.terms(points.t[i], points.q[i], points.v[i]).G[world.rows.gaps[j]])
    return float(np.max(np.abs(after - before)[W > 0.0] / W[W > 0.0], initial=0.0))
