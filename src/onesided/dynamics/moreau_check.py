"""Time stepping rechecked from the model: the momentum balance of every step, the work in it, that of projections."""

from typing import NamedTuple

import numpy as np

from onesided._types import Array
from onesided.dynamics.contact_run import World
from onesided.dynamics.monitors import Arrays, force_size, steepness


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
    """A point that was put back onto the allowed side, as it was before."""

    point: int
    q: Array
    v: Array


class Audit(NamedTuple):
    """Points with the work up to each; residual of the momentum balance of the step to each.

    Then, up to each point, work of projections, and energy that contacts lost.
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
    balance, work, lost = (np.zeros(len(points.t)) for _ in range(3))
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
        balance[1:] = np.max(np.abs(off), axis=1) / force_size(middle, mu, steepness(equations, points))
        work[1:], normal = np.cumsum(h * power), world.rows.gaps
        lost[1:] = np.cumsum(-h * np.sum(mu[:, normal] * middle.c_dot[:, normal], axis=1))
    return Audit(points._replace(work=work), balance, _projection(world, points, shifts), lost)


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
