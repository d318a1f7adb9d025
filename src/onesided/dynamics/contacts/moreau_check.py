"""Time stepping rechecked from the model: the momentum balance of every step, the work in it, that of projections."""

from typing import NamedTuple

import numpy as np

from onesided.base.tolerances import EPS, HALF_DIGITS
from onesided.base.types import Array
from onesided.dynamics.contacts.contact_run import World
from onesided.dynamics.contacts.rule_matters import SMALL_ENOUGH, WORK, SharesMatter, together
from onesided.dynamics.monitors import Arrays, force_size, steepness
from onesided.dynamics.multipliers import not_unique as loose_rows
from onesided.evaluation.motion_terms import Check
from onesided.system.contact_equations import ContactEquations

STOPS = 2  # steps that an impact without restitution takes: it closes the gap, then it stops
MOST_SETS = 32  # sets of pressing contacts that are looked at


class Scheme(NamedTuple):
    """The step h, where in it the new velocity takes over (θ), whether forces are implicit, and whether joints hold."""

    h: float
    theta: float
    implicit: bool
    joined: bool = False

    @property
    def late(self) -> float:
        """Time into a step at which its matrices are evaluated."""
        return (1.0 - self.theta) * self.h


class Shift(NamedTuple):
    """A point that was put back onto the allowed side, as it was before; or given the new velocity of a drive."""

    point: int
    q: Array
    v: Array
    driven: bool = False


class Audit(NamedTuple):
    """Points with the work up to each; residual of the momentum balance of the step to each.

    Then, up to each point, work of projections, and energy that the contacts lost which these moved.
    """

    points: Arrays
    balance: Array
    projection: Array
    lost: Array


def audit(world: World, points: Arrays, scheme: Scheme, shifts: list[Shift]) -> Audit:
    """Evaluate the model afresh in every step: M (v⁺ − v)/h − f − Gᵀμ, and the power of f and μ.

    Nothing is taken from the solver but positions, velocities and multipliers.
    """
    equations, h, theta = world.equations, scheme.h, scheme.theta
    balance, work = (np.zeros(len(points.t)) for _ in range(2))
    lost: Array = np.zeros(len(points.t))
    if len(points.t) > 1:
        t, q, v, after = points.t[:-1], points.q[:-1], points.v[:-1], _arrived(points, shifts)
        a, mu = (after - v) / h, points.mu[1:]
        mean, inner = 0.5 * (v + after), v + theta * (after - v)
        base_t, base = t + scheme.late, equations.space.retract(q, scheme.late * (inner if scheme.joined else v))
        middle = equations.check(base_t, base, mean, a, mu)
        off, power = middle.balance, middle.power
        if scheme.implicit:
            rest, none = 0.0 * a, 0.0 * mu
            place = (t + theta * h, equations.space.retract(q, theta * h * inner))
            still = equations.check(base_t, base, mean, rest, none)
            off = off - still.balance + equations.check(*place, inner, rest, none).balance
            power = power - still.power + equations.check(*place, mean, rest, none).power
        size = (
            force_size(middle, mu, steepness(equations, points)) + _noise(middle, mean, h) / world.tolerances.residual
        )
        balance[1:] = np.max(np.abs(off), axis=1) / size
        work[1:], normal = np.cumsum(h * power), world.rows.gaps
        lost = _lost(world, points, shifts, -h * mu[:, normal] * middle.c_dot[:, normal])
    work = work + _projection(world, points, [shift for shift in shifts if shift.driven])
    projection = _projection(world, points, [shift for shift in shifts if not shift.driven])
    return Audit(points._replace(work=work), balance, projection, lost)


def _lost(world: World, points: Arrays, shifts: list[Shift], each: Array) -> Array:
    """What contacts lost up to each point, in the steps whose ends were put back and where that moved their gaps.

    A body that stops at a wall has gone too far within the step: what gravity did on that way was lost in the impact,
    and putting it back returns it. What other bodies lose in the same step has nothing to do with it; nor has what a
    contact loses that pressed before: it slides along a curve, and loses what it should not.
    """
    total, gaps = np.zeros(len(points.t)), world.rows.gaps
    for shift in shifts:
        k = shift.point
        way = np.abs(world.equations.space.local(shift.q, points.q[k])) + np.abs(points.v[k] - shift.v)
        presses = np.all(points.mu[max(k - STOPS, 0) : k, gaps] > 0.0, axis=0)
        hits = np.where(presses, 0.0, each[k - 1])
        if shift.driven or not np.any(hits > 0.0) or not np.any(way):
            continue
        moved = np.abs(world.sparse_terms(float(points.t[k]), points.q[k], points.v[k]).G[gaps]) @ way
        total[k] = np.sum(hits[moved > HALF_DIGITS * np.max(moved)])
    return np.cumsum(total)


def middles(equations: ContactEquations, points: Arrays, scheme: Scheme, shifts: list[Shift]) -> Arrays:
    """States in the middle of the steps, with the multipliers of these."""
    t, q, v, after = points.t[:-1], points.q[:-1], points.v[:-1], _arrived(points, shifts)
    inner = v + scheme.theta * (after - v)
    base = equations.space.retract(q, scheme.late * (inner if scheme.joined else v))
    return points._replace(
        t=t + scheme.late, q=base, v=0.5 * (v + after), a=0.0 * v, mu=points.mu[1:], work=points.work[1:],
        u=points.u[1:],
    )  # fmt: skip


def _noise(found: Check, v: Array, h: float) -> float:
    """Round-off of the rate of momentum, which is a difference over a step."""
    speed = float(np.max(np.abs(v), initial=0.0))
    return EPS * 2.0 * float(np.max(found.kinetic, initial=0.0)) / (speed * h) if speed > 0.0 else 0.0


def not_unique(world: World, points: Arrays) -> SharesMatter:
    """Names whose forces were a choice at some time, from the gradients where a set of contacts presses first and last.

    Contacts that press push by their gap and, where they stick, by their slips; where they slide, by both together.
    """
    rows, mu, unknown = world.rows, points.mu, False
    if not np.any(mu[:, rows.gaps]):
        return SharesMatter()
    _, first = np.unique(mu[:, rows.gaps] > 0.0, axis=0, return_index=True)
    _, last = np.unique(mu[::-1, rows.gaps] > 0.0, axis=0, return_index=True)
    most = int(np.clip(WORK / min(world.equations.n, SMALL_ENOUGH) ** 3, 1, MOST_SETS))
    names: dict[str, None] = {}
    for i in sorted({*first[:most], *(len(mu) - 1 - last[:most])}):
        terms = world.sparse_terms(float(points.t[i]), points.q[i], points.v[i])
        owners, pushes = _pushes(world, terms.G, mu[i])
        group = together(terms.M, pushes)
        of_push = group[np.argmax(pushes != 0.0, axis=1)]
        for one in np.unique(of_push):
            some, columns = np.flatnonzero(of_push == one), np.flatnonzero(group == one)
            if len(columns) > SMALL_ENOUGH:
                unknown = unknown or len(some) > 1
                continue
            names |= dict.fromkeys(owners[some[k]] for k in loose_rows(pushes[np.ix_(some, columns)]))
    return SharesMatter(tuple(names), unknown)


def _pushes(world: World, G: Array, mu: Array) -> tuple[list[str], Array]:
    """Directions in which joints and pressing contacts push, and whose they are."""
    rows, owners, pushes = world.rows, [], [*G[world.rows.always]]
    owners += [world.equations.names[i] for i in rows.always]
    for i, (name, n) in enumerate(zip(world.names, rows.gaps, strict=True)):
        if not mu[n] > 0.0:
            continue
        normal, found, law = G[n], [], i in rows.soft
        for b in rows.of([i]):
            rub, slips = mu[list(rows.slips[b])], list(rows.slips[b])
            if np.linalg.norm(rub) >= (1.0 - HALF_DIGITS) * rows.friction[b] * mu[n]:
                normal = normal + rub @ G[slips] / mu[n]
            else:
                found += [*G[slips]]
        found = found if law else [normal, *found]
        pushes += found
        owners += [name] * len(found)
    return owners, np.array(pushes).reshape(-1, G.shape[1])


def _arrived(points: Arrays, shifts: list[Shift]) -> Array:
    """Velocities at the ends of the steps, before they were put back."""
    found = points.v.copy()
    for shift in shifts:
        found[shift.point] = shift.v
    return found[1:]


def _projection(world: World, points: Arrays, shifts: list[Shift]) -> Array:
    """Change of energy by projections, up to each point."""
    total = np.zeros(len(points.t))
    if shifts:
        places = np.array([shift.point for shift in shifts], dtype=np.intp)
        t, rest, none = points.t[places], 0.0 * points.a[places], 0.0 * points.mu[places]
        before = np.array([shift.q for shift in shifts]), np.array([shift.v for shift in shifts])
        after = points.q[places], points.v[places]
        energies = [world.equations.check(t, q, v, rest, none).energy for q, v in (before, after)]
        np.add.at(total, places, energies[1] - energies[0])
    return np.cumsum(total)
