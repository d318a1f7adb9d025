"""Time stepping rechecked from the model: the momentum balance of every step, the work in it, that of projections."""

from typing import NamedTuple

import numpy as np

from onesided._types import Array
from onesided.dynamics.contact_run import World
from onesided.dynamics.monitors import Arrays, force_size, steepness


class Scheme(NamedTuple):
    """The step h, where in it the new velocity takes over (θ), and whether forces are implicit."""

    h: float
    theta: float
    implicit: bool

    @property
    def late(self) -> float:
        """Time into a step at which its matrices are evaluated."""
        return (1.0 - self.theta) * self.h


class Audit(NamedTuple):
    """Points with the work up to each; residual of the momentum balance of the step to each; work of projections."""

    points: Arrays
    balance: Array
    projection: Array


def audit(world: World, points: Arrays, scheme: Scheme, shifts: list[tuple[int, Array]]) -> Audit:
    """Evaluate the model afresh in every step: M (v⁺ − v)/h − f − Gᵀμ, and the power of f and μ.

    Nothing is taken from the solver but positions, velocities and multipliers. `shifts` are the points that were
    projected, with their configuration before.
    """
    equations, h, theta = world.equations, scheme.h, scheme.theta
    balance, work = np.zeros(len(points.t)), np.zeros(len(points.t))
    if len(points.t) > 1:
        t, q, v, after = points.t[:-1], points.q[:-1], points.v[:-1], points.v[1:]
        a, mu = (after - v) / h, points.mu[1:]
        base_t, base = t + scheme.late, equations.space.retract(q, scheme.late * v)
        mean = 0.5 * (v + after)
        found = equations.check(base_t, base, v, a, mu)
        off, power = found.balance, equations.check(base_t, base, mean, a, mu).power
        if scheme.implicit:
            rest, none, inner = 0.0 * a, 0.0 * mu, v + theta * (after - v)
            place = (t + theta * h, equations.space.retract(q, theta * h * inner))
            off = off - equations.check(base_t, base, v, rest, none).balance
            off = off + equations.check(*place, inner, rest, none).balance
            power = power - equations.check(base_t, base, mean, rest, none).power
            power = power + equations.check(*place, mean, rest, none).power
        balance[1:] = np.max(np.abs(off), axis=1) / force_size(found, mu, steepness(equations, points))
        work[1:] = np.cumsum(h * power)
    return Audit(points._replace(work=work), balance, _projection(world, points, shifts))


def _projection(world: World, points: Arrays, shifts: list[tuple[int, Array]]) -> Array:
    """Change of energy by projections, up to each point."""
    total = np.zeros(len(points.t))
    if shifts:
        places = np.array([i for i, _ in shifts], dtype=np.intp)
        t, v, rest, none = points.t[places], points.v[places], 0.0 * points.a[places], 0.0 * points.mu[places]
        before = np.array([q for _, q in shifts])
        energies = [world.equations.check(t, q, v, rest, none).energy for q in (before, points.q[places])]
        np.add.at(total, places, energies[1] - energies[0])
    return np.cumsum(total)
