"""The impulses of one time step: who is in reach, what they must do, and the forces that do it.

A (v⁺ − v) = f + Gᵀ P over the rows that always hold and the contacts in reach, with A the mass matrix (or that of an
implicit step). Contacts in reach may just close within the step, or move along the surface at its end:

    u⁺ + b ≥ 0 ⊥ P_N ≥ 0,   b = τ + max(g/(θ h) − τ, 0),

with g the gap at the end without the contact's own velocity and τ the change of that velocity by curvature; P_T is in
the cone of friction. Contacts with restitution that hit do so in the middle of the step, after half of the other
forces, u₂ + e u₁ ≥ 0 ⊥ P_N ≥ 0, with all that touch; those that they set in motion follow until none hits: elastic
impacts keep the energy. So do contacts with friction and no restitution: friction of a blow in two parts, one that
closes the gap and one that stops, is another than that of the whole.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from onesided.base.tolerances import EPS, HALF_DIGITS
from onesided.base.types import Array, Indices, Mask
from onesided.complementarity import LCP, kernels, solve
from onesided.complementarity.compliant import as_compliant
from onesided.complementarity.friction import FrictionProblem, solve_friction
from onesided.dynamics.contacts.cones import arrange
from onesided.dynamics.contacts.contact_run import World
from onesided.dynamics.contacts.sliding import ContactMode
from onesided.dynamics.multipliers import share
from onesided.evaluation.motion_terms import Terms
from onesided.linalg import independent_rows, kkt_matrix

REACH = 2.0  # contacts within so many times the way of the fastest one in a step are looked at
REST = 2.0  # approach below so many times the change of velocity in a step is rest
MOST_SHARED = 240  # rows of contacts of bodies that touch each other, up to which they share their forces by the rule
SEARCH = (100, 10, 0, True, True)  # for the contacts that press: as `ActiveSet` of its own accord, without relaxation
SHARED = 30.0  # times the accuracy: residual of shared forces, which asks all contacts to close gaps that are round-off
ROUNDS = 100  # of impacts in a step, for each contact in reach


class Impulse(NamedTuple):
    """Velocity at the end of a step; impulses of all rows of G; (rounds, contacts) which contacts were hit in turn."""

    v: Array
    rows: Array
    hits: Mask


class Aim(NamedTuple):
    """What the rows must do.

    Attributes
    ----------
    u : velocities of all rows at the start;  gaps : at the end of the step, without velocities of their own.
    tangent : change of these velocities by curvature, to the end of the step.
    push : what the rows that always hold must take up: G (v⁺ − v) = −push.
    """

    u: Array
    gaps: Array
    tangent: Array
    push: Array


class Pushed(NamedTuple):
    """A step's linear equations: A (v⁺ − v) = f + Gᵀ P; impulses of the step before; who was hit in turn so far.

    Forces are found in rounds: what was hit in one is hit in the next, others may come after them. `soft` are the
    normal impulses of compliant contacts, zero for the others.
    """

    v: Array
    terms: Terms
    A: Array
    f: Array
    last: Array
    aim: Aim
    hits: Mask | None = None
    soft: Array | None = None


class Reach(NamedTuple):
    """Contacts in reach: velocities of their rows at the start, change by other forces, gaps, b, place of normals."""

    near: Indices
    u: Array
    change: Array
    gaps: Array
    b: Array
    normal: Indices


class Impulses:
    """Impulses of the steps of one motion, with dense matrices.

    Attributes
    ----------
    worst : largest residual of the complementarity conditions so far, relative to the impulses.
    most : largest number of contacts that pressed at a time.
    unfinished : largest speed at which contacts still hit after all rounds of a step, relative to those before.
    unshared : how often contacts that depend on each other did not share what they do by the rule.
    crowded : whether there were too many contacts at a time to share by it.
    plain : whether there are contacts, and neither joints nor friction.
    """

    def __init__(self, world: World, h: float, end: float, accuracy: float) -> None:
        self.world, self.rows, self.h, self.end, self.accuracy = world, world.rows, h, end, accuracy
        self.worst, self.most, self.unfinished, self.unshared = 0.0, 0, 0.0, 0
        self.crowded = False
        self._always = self.rows.always
        self._kept: Indices | None = None
        slips = [[r for b in self.rows.of([i]) for r in self.rows.slips[b]] for i in range(len(self.rows.gaps))]
        self._own = [(int(gap), *some) for gap, some in zip(self.rows.gaps, slips, strict=True)]
        self._directions = np.array([len(some) for some in slips], dtype=np.intp)
        self._firm = bool(np.any(self.rows.static > self.rows.friction))
        self._at_once = (self.rows.restitution > 0.0) | (self._directions > 0)
        self.plain = not np.any(self._directions) and not len(self._always) and len(self.rows.gaps) > 0
        self.plain = self.plain and not len(self.rows.soft)

    def of(self, step: Pushed, *, symmetric: bool = True) -> Impulse:
        """The velocity at the end of the step and the impulses that lead there."""
        if self.plain and symmetric and step.hits is None:
            aim = step.aim
            knobs = (self.end, REACH * self.h, REST, self.world.closed_below)
            A, f, G = (np.array(one) for one in (step.A, step.f, step.terms.G))  # arrays of one kind: compiled once
            contacts: Any = tuple(map(np.array, (aim.gaps, aim.u, aim.tangent, self.rows.restitution, step.last)))
            dv, P, off, count = kernels.measure_steps.frictionless(A, f, G, contacts, knobs, SEARCH)
            if off <= self.accuracy:
                self.note(off, count)
                return Impulse(step.v + dv, P, self._none_hit())
        return self._general(step)

    def note(self, off: float, count: int) -> None:
        """Take the residual of a step and its number of pressing contacts into account."""
        self.worst, self.most = max(self.worst, off), max(self.most, count)

    def held(self, G: Array) -> Indices:
        """Rows that always hold and do not depend on each other."""
        if self._kept is None:
            self._kept = self._always[
                independent_rows(
                    G[self._always] * self.world.request.system.units, rank=np.sqrt(self.world.tolerances.rank)
                )
            ]
        return self._kept

    def forget(self) -> None:
        """Choose the rows that hold anew in the next step."""
        self._kept = None

    def _general(self, step: Pushed) -> Impulse:
        terms, kept = step.terms, self.held(step.terms.G)
        held, soft = terms.G[kept], np.zeros(len(self.rows.gaps)) if step.soft is None else step.soft
        taken = np.zeros(len(terms.G))
        taken[self._always] = step.aim.push
        total = step.f + soft @ terms.G[self.rows.gaps]
        change = answer(step.A, held, total[:, None], taken[kept])[:, 0]
        impulses, hits = np.zeros(len(terms.G)), self._none_hit()
        impulses[self.rows.gaps] = soft
        reach = self.reach(step.aim, terms.G[self.rows.gaps] @ change, soft)
        if reach is not None:
            chosen = self._chosen(reach)
            W = terms.G[chosen]
            reach = reach._replace(u=step.aim.u[chosen], change=W @ change)
            known = reach.normal[soft[reach.near] > 0.0]
            W[known] = 0.0
            X = answer(step.A, held, W.T.copy(), None)
            D, reach = self._given(W @ X, reach, soft)
            P, hits = self.resolve(D, reach, step.last[chosen], step.hits)
            impulses[chosen] = P
            change, total = change + X @ P, total + W.T @ P
        if len(held):
            impulses[self._always] = self._shared(terms.G[self._always], step.A @ change - total)
        return Impulse(step.v + change, impulses, hits)

    def _none_hit(self) -> Mask:
        return np.zeros((0, len(self.rows.gaps)), dtype=bool)

    def _given(self, D: Array, reach: Reach, soft: Array) -> tuple[Array, Reach]:
        """D and velocities with equations d (P − P_known) = 0 for the normal impulses of compliant contacts."""
        ends = np.append(reach.normal, len(D))
        for k in np.flatnonzero(soft[reach.near] > 0.0):
            n = ends[k]
            D[n, n] = np.max(np.diagonal(D)[n : ends[k + 1]]) or 1.0
            reach.u[n], reach.change[n] = -D[n, n] * soft[reach.near[k]], 0.0
        return D, reach

    def _shared(self, G: Array, force: Array) -> Array:
        """Impulses of the rows that always hold, by the rule where they are a choice."""
        names = tuple(self.world.equations.names[i] for i in self._always)
        return share(self.world.mechanics(ContactMode()).rule, names, G, force)

    def _chosen(self, reach: Reach) -> Indices:
        """Rows of the contacts in reach, normal and tangential."""
        return np.array([r for i in reach.near for r in self._own[i]], dtype=np.intp)

    def reach(self, aim: Aim, change: Array, soft: Array | None = None) -> Reach | None:
        """What contacts in reach must do; None where none of them needs a force. Velocities of normal rows only.

        Compliant contacts that press and rub are among them: their normal impulses are known, friction is not.
        """
        u = aim.u[self.rows.gaps]
        free = u + change
        far = REACH * self.h * np.max(np.abs(free), initial=0.0) + self.world.closed_below
        known = np.zeros(len(u), dtype=bool) if soft is None else (soft > 0.0) & (self._directions > 0)
        near = np.flatnonzero((aim.gaps <= far) | known)
        gaps, free, tangent, known = aim.gaps[near], free[near], aim.tangent[near], known[near]
        b = np.where(known, 0.0, tangent + np.maximum(gaps / self.end - tangent, 0.0))
        idle = ~known & (free + b >= -EPS * max(np.max(np.abs(free), initial=0.0), np.max(np.abs(b), initial=0.0)))
        if np.all(idle):
            return None
        normal = np.concatenate([[0], np.cumsum(1 + self._directions[near])[:-1]]).astype(np.intp)
        return Reach(near, u[near], change[near], gaps, b, normal)

    def resolve(self, D: Any, reach: Reach, last: Array, known: Mask | None) -> tuple[Array, Mask]:
        """Impulses of the rows in reach, by D = W A⁻¹ Wᵀ; and which contacts were hit in turn."""
        known = self._none_hit() if known is None else known
        struck: Array = np.zeros(len(reach.u))
        hits = known
        if np.any(known) or self._hits(reach, reach.u[reach.normal]).any():
            struck, hits = self._strike(D, reach, last, known)
        u = reach.u + reach.change + D @ struck
        u[reach.normal] += reach.b
        scale = max(float(np.max(np.abs(u))), float(np.max(np.abs(reach.b))))
        if np.min(u[reach.normal]) >= -EPS * scale:
            return struck, hits
        start = 0.0 * last if len(hits) else last
        if self._firm and not len(hits):
            return self._with_static(D, u, reach, start, scale), hits
        return struck + self.cone(D, u, reach.near, start, scale), hits

    def _hits(self, reach: Reach, u: Array) -> Mask:
        """Contacts with restitution, or friction, that approach with velocities u and would pass within the step."""
        change, e = reach.change[reach.normal], self.rows.restitution[reach.near]
        passes = reach.gaps + self.end * (u + change) < 0.0
        slow = np.where(e < 1.0, REST, HALF_DIGITS) * np.abs(change)  # what loses nothing never comes to rest
        fast = np.where(e > 0.0, slow, REST * np.max(np.abs(change)))  # what lies on what falls as well is at rest
        return np.asarray(passes & (u < -fast) & self._at_once[reach.near])

    def _strike(self, D: Any, reach: Reach, last: Array, known: Mask) -> tuple[Array, Mask]:
        """Impulses of impacts, one set of contacts after the other until none hits: those that are known first."""
        normal, total, sets = reach.normal, np.zeros(len(reach.u)), [some[reach.near] for some in known]
        touching = (reach.gaps <= self.world.closed_below) | ((last[normal] > 0.0) & np.isfinite(reach.gaps))
        for turn in range(len(sets) + ROUNDS * (1 + len(normal))):
            if turn == len(sets):
                hits = self._hits(reach, (reach.u + D @ total)[normal])
                if not hits.any():
                    break
                w = reach.u + 0.5 * reach.change + D @ total
                sets.append(hits | (touching & (w[normal] <= 0.0)))  # those that separate would gain energy
            total += self._struck(D, reach, total, sets[turn])
        hits = self._hits(reach, (reach.u + D @ total)[normal])
        left = np.max(np.abs((reach.u + D @ total)[normal][hits]), initial=0.0)
        self.unfinished = max(self.unfinished, float(left) / float(np.max(np.abs(reach.u[normal]))))
        found = np.zeros((len(sets), len(self.rows.gaps)), dtype=bool)
        found[:, reach.near] = sets
        return total, found

    def _struck(self, D: Any, reach: Reach, total: Array, struck: Mask) -> Array:
        """Impulses of contacts that are hit together, after the impulses so far."""
        found, some = np.zeros(len(total)), np.flatnonzero(struck)
        if not len(some):
            return found
        rows = np.flatnonzero(np.repeat(struck, 1 + self._directions[reach.near]))
        u = (reach.u + 0.5 * reach.change + D @ total)[rows]
        e, places = self.rows.restitution[reach.near[some]], np.searchsorted(rows, reach.normal[some])
        scale = float(np.max(np.abs(u)))
        u[places] += e * np.minimum(u[places], 0.0)
        found[rows] = self.cone(D[rows][:, rows], u, reach.near[some], np.zeros(len(rows)), scale)
        return found

    def _with_static(self, D: Any, u: Array, reach: Reach, last: Array, scale: float) -> Array:
        """Impulses of contacts, of which those that stuck in the step before slide beyond static friction only."""
        rows, limits = self.rows, self.rows.friction.copy()
        blocks = [(b, places) for b, places in self._places(reach.near) if rows.static[b] > rows.friction[b]]
        for b, places in blocks:
            force, most = float(np.linalg.norm(last[places[1:]])), rows.friction[b] * last[places[0]]
            moves = np.linalg.norm(reach.u[places[1:]]) > self.accuracy * scale
            slid = not most > 0.0 or abs(force - most) <= np.sqrt(self.accuracy) * most
            limits[b] = rows.friction[b] if moves and slid else rows.static[b]
        while True:
            P = self.cone(D, u, reach.near, last, scale, limits)
            w = D @ P + u
            gone = [
                b for b, places in blocks
                if limits[b] > rows.friction[b] and np.linalg.norm(w[places[1:]]) > np.sqrt(self.accuracy) * scale
            ]  # fmt: skip
            if not gone:
                return P
            limits[gone] = rows.friction[gone]

    def _places(self, near: Indices) -> Iterator[tuple[int, list[int]]]:
        """Blocks of contacts in reach, with the places of their normal and their own rows."""
        place = 0
        for i in near:
            normal, place = place, place + 1
            for b in self.rows.of([i]):
                yield b, [normal, *range(place, place + len(self.rows.slips[b]))]
                place += len(self.rows.slips[b])

    def cone(self, D: Any, u: Array, near: Indices, start: Array, scale: float, limits: Array | None = None) -> Array:
        """Impulses of contacts whose velocities are u without them."""
        cones = arrange(self.rows, near, None, self.rows.friction if limits is None else limits)
        problem = cones.problem(D, u, scale)
        P, off = self._solve(problem, cones.spread(start))
        P, off = self._by_rule(problem, P, off)
        P = self._without_traces(problem, P)
        normal = problem.normal[: len(near)]
        weakest = self.world.tolerances.force * float(np.max(P[normal]))
        self.note(off, int(np.sum(P[normal] > weakest)))
        return cones.gathered(P)

    def _by_rule(self, problem: FrictionProblem, P: Array, off: float) -> tuple[Array, float]:
        """The impulses of contacts that depend on each other as of equally compliant ones, and their residual."""
        if len(problem.mu) < 2:
            return P, off
        most, good = MOST_SHARED, max(off, SHARED * self.accuracy)
        apart = [np.arange(len(P))] if len(P) <= most else _coupled(problem)
        found = P.copy()
        for rows in apart:
            if len(rows) > most:
                self.crowded = True
                continue
            some = problem if len(rows) == len(P) and isinstance(problem.D, np.ndarray) else _part(problem, rows)
            shared, after = as_compliant(some, P[rows], resting=self.accuracy * problem.scale, tol=good)
            if np.isfinite(after):
                found[rows] = shared
            else:
                self.unshared += 1
        after = off if np.array_equal(found, P) else problem.residual(found)
        return (found, after) if after <= good else (P, off)

    def _without_traces(self, problem: FrictionProblem, P: Array) -> Array:
        """The impulses, with exact zeros for contacts that do not press: iterations leave traces there."""
        normal = P[problem.normal]
        idle = normal <= self.accuracy * np.max(normal, initial=0.0)
        return np.where(np.repeat(idle, 1 + problem.directions), 0.0, P)

    def _solve(self, problem: FrictionProblem, start: Array) -> tuple[Array, float]:
        """Impulses and their residual; without friction as a linear complementarity problem."""
        if not np.any(problem.directions):
            D = problem.D if isinstance(problem.D, np.ndarray) else problem.D.toarray()
            found = solve(LCP(D, problem.u / problem.scale), throw=False).value * problem.scale
            off = problem.residual(found)
            if off <= self.accuracy:
                return found, off
            start = found if np.all(np.isfinite(found)) else start
        return solve_friction(problem, start, tol=0.01 * self.accuracy)


def answer(A: Array, held: Array, forces: Array, push: Array | None) -> Array:
    """Changes of velocity by impulses, with the rows that always hold; `push` is what these must take up."""
    n, m = len(A), len(held)
    if not m:
        *_, x, info = lapack.dgesv(A, forces)
        return np.asarray(x if info == 0 else np.linalg.lstsq(A, forces, rcond=EPS)[0])
    K = kkt_matrix(A, held)
    right = np.zeros((n + m, forces.shape[1]))
    right[:n] = forces
    if push is not None:
        right[n:] = -push[:, None]
    *_, x, info = lapack.dgesv(K, right)
    if info != 0 or not np.all(np.isfinite(x)):
        x = np.linalg.lstsq(K, right, rcond=EPS * (n + m))[0]
    return np.asarray(x[:n])


def _coupled(problem: FrictionProblem) -> list[Indices]:
    """Rows of the contacts of bodies that touch each other, apart from all others."""
    starts, columns, values = problem.rows
    sizes = np.sqrt(problem.D.diagonal())
    rows = np.repeat(np.arange(len(sizes)), np.diff(starts))
    real = np.abs(values) > EPS * sizes[rows] * sizes[columns]
    contact = np.repeat(np.arange(len(problem.mu)), 1 + problem.directions)
    links = sparse.coo_array((np.ones(np.count_nonzero(real)), (contact[rows[real]], contact[columns[real]])))
    group = sparse.csgraph.connected_components(links, directed=False)[1][contact]
    return [np.flatnonzero(group == one) for one in range(int(np.max(group)) + 1)]


def _part(problem: FrictionProblem, rows: Indices) -> FrictionProblem:
    """The problem of some contacts alone."""
    mine = np.flatnonzero(np.isin(problem.normal, rows))
    D = problem.D[rows][:, rows]
    dense = D if isinstance(D, np.ndarray) else D.toarray()
    return FrictionProblem(dense, problem.u[rows], problem.mu[mine], problem.directions[mine], problem.scale)
