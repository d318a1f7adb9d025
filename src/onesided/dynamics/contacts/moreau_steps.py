"""One time step of Moreau's method: explicit, with implicit forces, or with joints in the middle of the step."""

from typing import NamedTuple

import numpy as np

from onesided.base.tolerances import EPS, MOST_DIGITS, QUARTER_DIGITS
from onesided.base.types import Array, Indices
from onesided.dynamics.contacts.contact_run import World
from onesided.dynamics.contacts.impact import taken_up
from onesided.dynamics.contacts.impulses import Aim, Impulse, Impulses, Pushed
from onesided.dynamics.contacts.moreau_check import Scheme
from onesided.dynamics.contacts.rule_matters import together
from onesided.evaluation.motion_terms import Terms
from onesided.system.contact_equations import ContactEquations

NEWTON = 20
CLOSINGS = 8  # rounds for gaps that are to be closed at the end of a step
PROBES, SPREAD = 3, 0.1  # configurations at which the mass is compared, and their distance, relative to the sizes


class Begin(NamedTuple):
    """A step's beginning: time, configuration, velocity, multipliers of the step before, and a guess of the end."""

    t: float
    q: Array
    v: Array
    mu: Array
    guess: Array


class Stepped(NamedTuple):
    """A step's end: configuration, velocity, impulses; approach of the gaps before; how far it was from settling.

    `stopped` is the configuration with contacts closed that were hit and stay, where others than `q`.
    """

    q: Array
    v: Array
    rows: Array
    u: Array
    off: float
    stopped: Array | None = None


class MoreauSteps:
    """Steps of one motion, all alike.

    Attributes
    ----------
    joined : whether constraints always hold: they do at the end of every step, by forces in its middle.
    restless : whether forces may depend on velocities: then they are those of the mean velocity of the step.
    """

    def __init__(self, world: World, scheme: Scheme, impulses: Impulses, equations: ContactEquations) -> None:
        self.world, self.scheme, self.impulses, self.equations = world, scheme, impulses, equations
        self.joined = scheme.joined
        self.restless = self._restless()

    def _restless(self) -> bool:
        system, start = self.world.request.system, self.world.start
        outside = system.force is not None or system.friction is not None or self.equations.held is not None
        if outside or not self.equations.space.flat or len(self.world.rows.soft):
            return True
        rng, masses = np.random.default_rng(0), []
        for _ in range(PROBES):
            shift = SPREAD * self.world.sizes.q * rng.uniform(-1.0, 1.0, self.equations.n)
            v = self.world.sizes.v * rng.uniform(-1.0, 1.0, self.equations.n)
            masses.append(self.equations.terms(start.t, start.q, shift, v, np.zeros(self.equations.m)).M)
        return not all(np.array_equal(M, masses[0]) for M in masses[1:])

    def advance(self, begin: Begin, terms: Terms) -> Stepped:
        """From the beginning to the end; `terms` are those at q∘exp((1 − θ) h v)."""
        if self.joined:
            return self._with_joints(begin)
        found, off = self._implicit(begin, terms) if self.scheme.implicit else self._explicit(begin, terms)
        u, end = terms.c_dot[self.world.rows.gaps], self.impulses.end
        place = _Place(begin.t + self.scheme.h, terms.q, 0.0 * begin.v, end)
        q = place.at(self.equations, found.v)
        return Stepped(q, found.v, found.rows, u, off, self._stopped(place, begin, terms, u, found))

    def _stopped(self, place: "_Place", begin: Begin, terms: Terms, u: Array, found: Impulse) -> Array | None:
        """The end with gaps closed of contacts without restitution that were hit: they stop there, not before.

        All others that press keep their gaps; joints hold. `u` are the rates of the gaps before.
        """
        rows, v = self.world.rows, found.v
        if not np.any(found.hits):
            return None
        M, G = self.equations.matrices(terms)
        W, presses = G[rows.gaps], found.rows[rows.gaps] > 0.0
        stay = presses & (rows.restitution == 0.0) & (u + W @ (v - begin.v) <= self.world.at_rest_below)
        first = self._residuals(place, begin, v)
        fresh = np.any(found.hits, axis=0) & stay & (first[rows.gaps] > self.world.closed_below)
        if not np.any(fresh):
            return None
        kept = np.concatenate([self.impulses.held(G), rows.gaps[presses]])
        move, left = _Closing(M, G, kept, rows.gaps[fresh]), first
        aim = np.zeros(len(G))
        aim[rows.gaps] = np.where(stay, 0.0, first[rows.gaps])
        for _ in range(CLOSINGS):
            off = (left - aim)[move.rows]
            if np.max(np.abs(off)) <= self.world.round_off:
                break
            v = v + move.by(off / place.late)
            left = self._residuals(place, begin, v)
        return place.at(self.equations, v)

    def _residuals(self, place: "_Place", begin: Begin, v: Array) -> Array:
        """Residuals of joints and gaps at the end of a step with velocity v; none of rows at velocity level."""
        q, found = place.at(self.equations, v), np.zeros(self.equations.rows)
        if len(self.world.rows.joints):
            found[: self.equations.m], _ = self.equations.stepped(0.0, place.t, q, 0.0 * v, v, begin.mu)
        else:
            found[: self.equations.m] = self.world.equations.gaps(place.t, q)
        return found

    @property
    def fine(self) -> float:
        """A change of velocities that does not matter."""
        return float(self.world.tolerances.residual * QUARTER_DIGITS * self.world.sizes.v.max())

    def _off(self, change: float) -> float:
        return change / float(self.world.sizes.v.max())

    def _aim(self, terms: Terms) -> Aim:
        rows, end = self.world.rows.gaps, self.impulses.end
        tangent = end * terms.gamma[rows]
        return Aim(terms.c_dot, self._hard(terms.c[rows] + 0.5 * end * tangent), tangent, np.zeros(0))

    def _hard(self, gaps: Array) -> Array:
        """The gaps, out of reach where contacts are compliant."""
        gaps[self.world.rows.soft] = np.inf
        return gaps

    def _soft(self, terms: Terms) -> Array:
        """Normal impulses of compliant contacts by their laws, zero for the others."""
        rows, found = self.world.rows, np.zeros(len(self.world.rows.gaps))
        for i in rows.soft:
            depth, rate = -terms.c[rows.gaps[i]], -terms.c_dot[rows.gaps[i]]
            found[i] = self.scheme.h * max(0.0, float(rows.laws[i].force(depth, rate))) if depth > 0.0 else 0.0
        return found

    def _explicit(self, begin: Begin, terms: Terms) -> tuple[Impulse, float]:
        """Forces in the middle of the step; those that depend on velocities are iterated on."""
        h, v, last = self.scheme.h, begin.v, self.scheme.h * begin.mu
        step = Pushed(v, terms, terms.M, h * terms.h, last, self._aim(terms), soft=self._soft(terms))
        found = self.impulses.of(step)
        if not self.restless:
            return found, 0.0
        change = np.inf
        for _ in range(NEWTON):
            now = self.equations.terms(begin.t + self.scheme.late, terms.q, 0.0 * v, 0.5 * (v + found.v), begin.mu)
            before, found = found, self.impulses.of(step._replace(f=h * now.h, hits=found.hits, soft=self._soft(now)))
            last_change, change = change, float(np.max(np.abs(found.v - before.v)))
            if not change > self.fine or (change >= 0.5 * last_change and self._off(change) <= MOST_DIGITS):
                break
        return found, self._off(change)

    def _implicit(self, begin: Begin, terms: Terms) -> tuple[Impulse, float]:
        """Newton's method for the velocity at the end, which the forces depend on."""
        v, guess, last, aim, hits = begin.v, begin.v, self.scheme.h * begin.mu, self._aim(terms), None
        for _ in range(NEWTON):
            A, f = self._pushes(begin, terms, guess, last)
            found = self.impulses.of(Pushed(v, terms, A, f, last, aim, hits), symmetric=_symmetric(A))
            change = float(np.max(np.abs(found.v - guess)))
            if not change > self.fine:
                break
            guess, last, hits = found.v, found.rows, found.hits if len(found.hits) else None
        return found, self._off(change)

    def _pushes(self, begin: Begin, terms: Terms, guess: Array, last: Array) -> tuple[Array, Array]:
        """A and f of an implicit step, linearised at the guess."""
        h, theta = self.scheme.h, self.scheme.theta
        mean = begin.v + theta * (guess - begin.v)
        push, by_q, by_v = self.world.equations.pushes(begin.t + theta * h, begin.q, theta * h * mean, mean, last / h)
        J = theta * (theta * h * by_q + by_v)
        return terms.M - h * J, h * (push - J @ (guess - begin.v))

    def _with_joints(self, begin: Begin) -> Stepped:
        """Forces in the middle q∘exp((1 − θ) h v_θ) of the step so that constraints hold at its end q∘exp(h v_θ)."""
        scheme, v, guess = self.scheme, begin.v, begin.guess
        h, theta, late, last, hits, change = scheme.h, scheme.theta, scheme.late, scheme.h * begin.mu, None, np.inf
        for _ in range(NEWTON):
            mean = v + theta * (guess - v)
            end, terms = self.equations.spanned(
                (begin.t + h, h * mean), begin.t + late, begin.q, late * mean, mean, last / h
            )
            aim = self._middle(end, terms, (v, mean, guess))
            A, f = self._pushes(begin, terms, guess, last) if scheme.implicit else (terms.M, h * terms.h)
            found = self.impulses.of(Pushed(v, terms, A, f, last, aim, hits, self._soft(terms)))
            before, change = change, float(np.max(np.abs(found.v - guess)))
            guess, last, hits = found.v, found.rows, found.hits
            if not change > self.fine or (change >= 0.5 * before and self._off(change) <= MOST_DIGITS):
                break
        u, place = aim.u[self.world.rows.gaps], _Place(begin.t + h, begin.q, (1.0 - theta) * h * v, theta * h)
        stopped = self._stopped(place, begin, terms, u, found)
        return Stepped(place.at(self.equations, found.v), found.v, found.rows, u, self._off(change), stopped)

    def _middle(self, end: Array, terms: Terms, velocities: tuple[Array, Array, Array]) -> Aim:
        """What rows must do so that residuals, `end` for the guess, vanish at the end; rolling holds in the middle."""
        rows, over, (v, mean, guess) = self.world.rows, self.impulses.end, velocities
        last = terms.c_dot + terms.G @ (guess - mean)
        tangent = over * terms.gamma[rows.gaps]
        ahead = terms.G @ (guess - v)
        joints = end[rows.joints] / over - ahead[rows.joints]
        rolling = terms.c_dot[rows.rolling] / self.scheme.theta - ahead[rows.rolling]
        return Aim(
            terms.c_dot - terms.G @ (mean - v),
            self._hard(end[rows.gaps] - over * last[rows.gaps]),
            tangent,
            np.concatenate([joints, rolling]),
        )


class _Place(NamedTuple):
    """Where a step ends, at time t: q∘exp(δ + late v) for a velocity v at its end."""

    t: float
    q: Array
    delta: Array
    late: float

    def at(self, equations: ContactEquations, v: Array) -> Array:
        """The configuration."""
        return np.asarray(equations.space.retract(self.q, self.delta + self.late * v))


class _Closing:
    """The shortest moves, in the metric of the mass, that change residuals of rows that hold by given amounts.

    Of the bodies that are connected with the `fresh` rows only: `rows` are theirs, of those `kept`.
    """

    def __init__(self, M: Array, G: Array, kept: Indices, fresh: Indices) -> None:
        group = together(M, G[kept])
        self._moved = np.isin(group, group[np.any(G[fresh] != 0.0, axis=0)])
        self.rows = kept[np.any(G[kept][:, self._moved] != 0.0, axis=1)]
        self._M, self._G = M[np.ix_(self._moved, self._moved)], G[self.rows][:, self._moved]

    def by(self, amounts: Array) -> Array:
        """The move (n,) that lessens the residuals of its rows by so much."""
        found = np.zeros(len(self._moved))
        found[self._moved] = taken_up(self._M, self._G, amounts)[0]
        return found


def _symmetric(A: Array) -> bool:
    return bool(np.max(np.abs(A - A.T)) <= len(A) * EPS * np.max(np.abs(A)))
