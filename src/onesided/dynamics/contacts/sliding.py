"""Phases in which contacts stick or slide: Coulomb friction between events.

While contact i slides, its friction is −μ λ d with d = v_T/|v_T|, so that forces and accelerations obey

    M a = h + Fᵀ λ,   G a + γ = 0,   F_i = W_N − μ dᵀ W_T (sliding),  F_i = G_i (all other rows).

That is no longer symmetric; where det(G M⁻¹ Fᵀ) vanishes, no force, or more than one, fits (Painlevé).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from onesided.base.errors import ModelError
from onesided.base.tolerances import Tolerances
from onesided.base.types import Array, Indices
from onesided.dynamics.contacts.sharing import Stuck, accelerated, balanced, with_least_share
from onesided.dynamics.contacts.touching import SLOW
from onesided.dynamics.contacts.wedging import Limit, beyond, clear, clear_of_limits
from onesided.dynamics.mechanics import Accelerated, Mechanics, MotionState
from onesided.evaluation.motion_terms import Terms
from onesided.linalg import kkt_matrix
from onesided.system.contact_equations import ContactRows, PhaseEquations

Direction = tuple[float, ...]
Ways = list[Array]  # unit vectors of the slips
CLEAR = 100.0  # times a slip that is none: its direction is known


@dataclass(frozen=True)
class ContactMode:
    """What contacts do in a phase.

    Attributes
    ----------
    closed : contacts that press;  sticking : blocks of them (`ContactRows.slips`) that do not slide but may;
    sliding : those that do, with the direction of their slip at the beginning.
    margins : signs of the margins of compliant contacts (`soft`);  pressed : those of them that press.
    idle : contacts that touch without force while those that press keep their gaps as they are, as a fourth foot.
    wedged : whether those that stick do so only because they press each other (`wedging`).
    """

    closed: tuple[int, ...] = ()
    sticking: tuple[int, ...] = ()
    sliding: tuple[tuple[int, Direction], ...] = ()
    margins: tuple[tuple[bool, ...], ...] = ()
    pressed: tuple[int, ...] = ()
    idle: tuple[int, ...] = ()
    wedged: bool = False

    def of(self, block: int) -> str:
        """What a block does, in one word."""
        if block in self.sticking:
            return "sticks"
        return "slides" if block in dict(self.sliding) else "neither"


class PhaseStart(NamedTuple):
    """Accelerations where a phase begins, rows of contacts whose forces are a choice, what is beyond Coulomb's limits.

    `pulls` is the row of the normal force that is farthest below zero, −1 if none is; `ways` are, by row of the normal
    force, the slips that friction beyond its limits resists. `clear` says that all forces are clearly within them.
    """

    a: Array
    loose: Indices
    pulls: int = -1
    ways: Mapping[int, Array] = MappingProxyType({})
    clear: bool = False

    @property
    def beyond(self) -> bool:
        """Whether a contact would pull, or friction be beyond its limits."""
        return self.pulls >= 0 or bool(self.ways)


class SlidingMechanics(Mechanics):
    """The equations of a phase in which contacts slide."""

    def __init__(self, equations: PhaseEquations, mode: ContactMode, rows: ContactRows, tolerances: Tolerances) -> None:
        super().__init__(equations, None, tolerances)
        if equations.system.friction is not None:
            raise ModelError(
                "EventDriven knows friction of contacts or of joints, not both",
                got="`friction=` and contacts with friction",
                advice="method=Moreau(step=…)",
            )
        self._whole, self._phase = equations.whole, equations
        places = {int(row): place for place, row in enumerate(equations.chosen)}
        self._friction = StuckFriction(equations, mode, rows)
        self._contact = self._friction.contact
        self._sliders = [
            (places[int(rows.gaps[rows.owner[b]])], rows.friction[b], list(rows.slips[b]), np.array(d))
            for b, d in mode.sliding
        ]
        self.references: Ways = []
        self.refer()

    @property
    def none(self) -> float:
        """A slip that cannot be distinguished from none."""
        return SLOW * self.tolerances.residual * self.sizes.of_contacts

    def accelerate(
        self, t: float, q: Array, delta: Array, v: Array, mu: Array, baumgarte: tuple[float, float] | None = None
    ) -> Accelerated:
        """Accelerations and multipliers with friction of the sliding contacts."""
        whole = self._whole.terms(t, q, delta, v, self._phase.spread(mu))
        return self._accelerated(whole, self._ways(whole), v)

    def _accelerated(self, whole: Terms, ways: Ways, v: Array) -> Accelerated:
        """The same with given directions of slip."""
        terms = self._phase.part(whole)
        F, n, rows = self._pushes(whole, terms, ways), len(v), self.rows
        if len(rows) < self.equations.rows:
            return self._shared(terms, F, v)
        K = kkt_matrix(terms.M, terms.G[rows], -F[rows])
        found = np.full(self.equations.rows, 0.0)
        try:
            x = np.linalg.solve(K, np.concatenate([terms.h, -terms.gamma[rows]]))
        except np.linalg.LinAlgError:
            x = np.full(n + len(rows), np.nan)
        found[rows] = x[n:]
        power = terms.power + float(found @ (F @ v))
        return Accelerated(x[:n], found, power, terms, self.factor(terms))

    def _shared(self, terms: Terms, F: Array, v: Array) -> Accelerated:
        """The same for contacts that depend on each other: they share their forces as equally compliant ones."""
        units = self.units
        alike = terms._replace(M=terms.M * units * units[:, None], h=terms.h * units, G=terms.G * units)
        a, found = accelerated(alike, F * units, self._contact)
        a = units * a
        power = terms.power + float(found @ (F @ v))
        return Accelerated(a, found, power, terms, self.factor(terms))

    def multipliers(self, terms: Terms, a: Array, mu: Array, inputs: Array | float = 0.0) -> Array:
        """As solved; friction of those that stick takes the smallest share of its limits."""
        return mu if len(self.rows) == self.equations.rows else self._friction.shared(mu, terms.G * self.units)

    def begun(self, state: MotionState) -> PhaseStart:
        """The beginning of the phase, as far as contacts depend on each other."""
        return _begun(self, self._friction, state)

    def spread(self, t: float, q: Array, v: Array, mu: Array) -> Array:
        """Multipliers of all rows, friction of sliding contacts included."""
        full = self._phase.spread(mu)
        whole = self._whole.terms(t, q, np.zeros_like(q), v, full)
        for (place, friction, slips, _), way in zip(self._sliders, self._ways(whole), strict=True):
            full[slips] = -friction * mu[place] * way
        return full

    def refer(self, state: MotionState | None = None) -> None:
        """Measure from here on how far slips turn by their directions at a state, or at the beginning of the phase.

        A slip that comes to rest turns back at once; one that does not may turn as far as it likes in many steps.
        """
        begin = [way for _, _, _, way in self._sliders]
        if state is None:
            self.references = begin
            return
        whole = self._whole.terms(state.t, state.q, np.zeros_like(state.q), state.v, np.zeros(self._whole.m))
        slips = [whole.c_dot[slips] for _, _, slips, _ in self._sliders]
        self.references = [
            slip / np.linalg.norm(slip) if len(slip) > 1 and np.linalg.norm(slip) > CLEAR * self.none else way
            for slip, way in zip(slips, self.references, strict=True)
        ]

    @property
    def in_space(self) -> bool:
        """Whether the direction of a slip can turn."""
        return any(len(slips) > 1 for _, _, slips, _ in self._sliders)

    def ways(self, t: float, q: Array, delta: Array, v: Array) -> Ways:
        """Unit directions of the slip of all sliding contacts."""
        return self._ways(self._whole.terms(t, q, delta, v, np.zeros(self._whole.m)))

    def slowest(self, t: float, q: Array, delta: Array, v: Array) -> float:
        """The smallest slip in space, as a speed of coordinates in their units."""
        whole = self._whole.terms(t, q, delta, v, np.zeros(self._whole.m))
        each = [
            float(np.linalg.norm(whole.c_dot[slips])) / (float(np.linalg.norm(whole.G[slips] * self.units, 2)) or 1.0)
            for _, _, slips, _ in self._sliders
            if len(slips) > 1
        ]
        return max(min(each), self.none / self.sizes.lever)

    def turning(self, state: MotionState) -> float:
        """ρ: the rate at which friction turns a slip in space; zero where there is none."""
        whole = self._whole.terms(state.t, state.q, np.zeros_like(state.q), state.v, np.zeros(self._whole.m))
        each = [0.0]
        for place, friction, slips, _ in self._sliders:
            speed = float(np.linalg.norm(whole.c_dot[slips]))
            if len(slips) > 1:
                each.append(friction * state.mu[place] * self._yield(whole, slips) / max(speed, self.none))
        return max(each)

    def steered(
        self, t: float, q: Array, delta: Array, v: Array, given: tuple[Array, Ways]
    ) -> tuple[Accelerated, Ways]:
        """Accelerations with given (multipliers, directions), and the directions in which slips then accelerate."""
        mu, ways = given
        whole = self._whole.terms(t, q, delta, v, self._phase.spread(mu))
        now, turned = self._accelerated(whole, ways, v), []
        for (place, friction, slips, _), way in zip(self._sliders, ways, strict=True):
            push = (
                whole.G[slips] @ now.a + whole.gamma[slips] + friction * now.mu[place] * self._yield(whole, slips) * way
            )
            size = float(np.linalg.norm(push))
            turned.append(push / size if len(slips) > 1 and size > 0.0 else way)
        return now, turned

    def _yield(self, whole: Terms, slips: list[int]) -> float:
        """|W_T M⁻¹ W_Tᵀ|: the acceleration of a slip by a unit force along it."""
        W = whole.G[slips]
        X = np.linalg.solve(whole.M, W.T) if self._regular(whole.M) else np.linalg.pinv(whole.M) @ W.T
        return float(np.linalg.norm(W @ X, 2))

    def _ways(self, whole: Terms) -> Ways:
        each = zip(self._sliders, self.references, strict=True)
        return [direction(whole.c_dot[slips], reference, self.none) for (_, _, slips, _), reference in each]

    def determinacy(self, t: float, q: Array, v: Array) -> float:
        """det(G M⁻¹ Fᵀ)/det(G M⁻¹ Gᵀ): 1 without friction, zero where forces are no longer determined."""
        whole = self._whole.terms(t, q, np.zeros_like(q), v, np.zeros(self._whole.rows))
        terms = self._phase.part(whole)
        G = terms.G[self.rows]
        X = np.linalg.solve(terms.M, G.T) if self._regular(terms.M) else np.linalg.pinv(terms.M) @ G.T
        pushes = X.T @ self._pushes(whole, terms, self._ways(whole))[self.rows].T
        try:
            return float(np.linalg.det(np.linalg.solve(X.T @ G.T, pushes)))
        except np.linalg.LinAlgError:  # constraints that have become dependent: nothing is known of their forces
            return 0.0

    def _regular(self, M: Array) -> bool:
        return bool(np.linalg.cond(M * self.units * self.units[:, None]) * self.tolerances.rank < 1.0)

    def _pushes(self, whole: Terms, terms: Terms, ways: Ways) -> Array:
        """F: directions in which multipliers push."""
        F = terms.G.copy()
        for (place, friction, slips, _), way in zip(self._sliders, ways, strict=True):
            F[place] -= friction * way @ whole.G[slips]
        return F


class StickingMechanics(Mechanics):
    """The equations of a phase in which contacts stick and none slides; `sharing` says how they share their forces."""

    def __init__(self, equations: PhaseEquations, mode: ContactMode, rows: ContactRows, tolerances: Tolerances) -> None:
        super().__init__(equations, None, tolerances)
        self._friction = StuckFriction(equations, mode, rows)

    def multipliers(self, terms: Terms, a: Array, mu: Array, inputs: Array | float = 0.0) -> Array:
        """Multipliers of all rows, as results report them."""
        if len(self.rows) == self.equations.rows:
            return super().multipliers(terms, a, mu, inputs)
        G, force = terms.G * self.units, (terms.M @ a - terms.h - inputs) * self.units
        return self._friction.shared(balanced(G, force, self._friction.contact), G)

    def begun(self, state: MotionState) -> PhaseStart:
        """The beginning of the phase, as far as contacts depend on each other."""
        return _begun(self, self._friction, state)


class StuckFriction:
    """Contacts that stick in a phase; `contact` are places of the rows of all its contacts."""

    def __init__(self, equations: PhaseEquations, mode: ContactMode, rows: ContactRows) -> None:
        places = {int(row): place for place, row in enumerate(equations.chosen)}
        self.contact = contact_places(equations, rows)
        self._wedged = mode.wedged
        self._joints = np.setdiff1d(np.arange(len(equations.chosen)), self.contact)
        self._stuck = [
            Limit(places[int(rows.gaps[rows.owner[b]])], float(rows.static[b]), [places[row] for row in rows.slips[b]])
            for b in mode.sticking
        ]
        slide = {int(rows.owner[b]) for b, _ in mode.sliding}
        still = [i for i in mode.closed if i not in slide]
        own = [[rows.gaps[i], *(row for b in rows.of([i]) for row in rows.slips[b])] for i in still]
        self._free = np.array(sorted(places[int(r)] for some in own for r in some if int(r) in places), dtype=np.intp)
        bearing = {limit.normal for limit in self._stuck}
        normals = (places[int(rows.gaps[i])] for i in still)
        free = set(self._free.tolist())
        self.limits = [limit for limit in self._stuck if limit.normal in free]
        self.limits += [Limit(place, 0.0, []) for place in normals if place not in bearing]

    def shared(self, mu: Array, G: Array) -> Array:
        """Multipliers in balance with those given: friction takes the smallest share of its limits."""
        if not self._stuck:
            return mu
        if self._wedged:
            return clear_of_limits(mu, G, self._free, self._joints, self.limits)
        bears = [Stuck(limit.slips, limit.friction * float(mu[limit.normal])) for limit in self._stuck]
        return with_least_share(mu, G, self.contact, bears)


def _begun(mechanics: SlidingMechanics | StickingMechanics, friction: StuckFriction, state: MotionState) -> PhaseStart:
    """Accelerations and forces of contacts at the beginning of a phase, where they depend on each other."""
    equations, zero = mechanics.equations, np.zeros_like(state.q)
    mechanics.choose_rows(equations.terms(state.t, state.q, zero, state.v, np.zeros(equations.m)))
    now = mechanics.accelerate(state.t, state.q, zero, state.v, np.zeros(equations.rows))
    loose = np.intersect1d(np.array(mechanics.loose, dtype=np.intp), friction.contact)
    if not len(loose):
        return PhaseStart(now.a, loose)
    mu = mechanics.multipliers(now.terms, now.a, now.mu)
    phase: Any = equations
    rows, over = phase.chosen, beyond(mu, friction.limits)
    pull = min(
        (one for one in over if not one.slips or mu[one.normal] <= 0.0), key=lambda x: x.margin(mu), default=None
    )
    if pull is not None:
        return PhaseStart(now.a, rows[loose], int(rows[pull.normal]))
    ways = {int(rows[one.normal]): -mu[one.slips] / np.linalg.norm(mu[one.slips]) for one in over}
    return PhaseStart(now.a, rows[loose], ways=ways, clear=clear(mu, friction.limits))


def contact_places(equations: PhaseEquations, rows: ContactRows) -> Indices:
    """Places of the rows of a phase that are of contacts."""
    return np.flatnonzero(~np.isin(equations.chosen, rows.always))


def direction(slip: Array, reference: Array, none: float) -> Array:
    """Unit vector of the slip; in the plane, where it would turn back or is `none`, the one it is compared with."""
    if len(slip) == 1 or float(slip @ reference) < -none:
        return reference
    share = float(slip @ slip) / none**2 if none > 0.0 else math.inf
    found = slip + none / (1.0 + share * share) * reference  # without a trace where there is slip
    return np.asarray(found / np.linalg.norm(found))
