"""Kinks of p alone: between two of them the equilibrium equations are smooth, and no step may cross one.

A path is traced within such a cell up to its edge, a few roundings inside the kink, where derivatives are those of the
cell. It goes on from the edge of the next cell, along the ray that keeps the sense of p there.
"""

import math
from bisect import bisect
from dataclasses import dataclass, replace

import numpy as np

from onesided.base.tolerances import EPS
from onesided.base.types import Array
from onesided.results import Ray, Rays
from onesided.statics.curves.corrections import Plane
from onesided.statics.curves.curve import Curve, CurvePoint
from onesided.statics.equilibria.place import Standpoint, place
from onesided.statics.rays.rays import rays_at
from onesided.system.system import System

ROOM = 64 * EPS  # distance of an edge from its kink, relative to p and to its size: more than the rounding of a formula


@dataclass(frozen=True)
class ControlCell:
    """An interval of p without kinks inside.

    Attributes
    ----------
    low, high : its edges, just inside of the kinks.
    kinks : the kinks that bound it, ±∞ where none does.
    """

    low: float
    high: float
    kinks: tuple[float, float]

    def kink_at(self, p: float, sense: float) -> float | None:
        """The kink that p has come to, moving in a sense."""
        a, b = self.kinks  # nothing is at an edge that is infinitely far away
        if sense > 0 and p >= self.high - 0.5 * (b - self.high):
            return b
        return a if sense < 0 and p <= self.low + 0.5 * (self.low - a) else None

    def holds(self, scaled: float, unit: float) -> bool:
        """Whether a scaled p is inside or at an edge."""
        return self.low / unit <= scaled <= self.high / unit


class ControlCells:
    """The line of p, cut at the kinks of a system.

    Parameters
    ----------
    size : of p.
    """

    def __init__(self, system: System, size: float) -> None:
        self._kinks: list[tuple[float, float]] = []  # with the distance of the edges; those closer than that are one
        for kink in system.control_kinks:
            room = ROOM * max(abs(kink), size)
            apart = kink - self._kinks[-1][0] if self._kinks else math.inf
            if apart > 8.0 * room:
                self._kinks.append((kink, room))
            else:
                self._kinks[-1] = self._kinks[-1][0], apart + room

    def __bool__(self) -> bool:
        return bool(self._kinks)

    def near(self, p: float) -> bool:
        """Whether p is at a kink or at the edge of a cell."""
        return any(abs(p - kink) <= 2.0 * room for kink, room in self._kinks)

    def around(self, p: float, sense: float) -> ControlCell:
        """The cell that p is in; of those on both sides of a kink the one that lies ahead."""
        i = bisect([kink + math.copysign(2.0 * room, -sense) for kink, room in self._kinks], p)
        (a, left), (b, right) = ((-math.inf, 0.0), *self._kinks, (math.inf, 0.0))[i : i + 2]
        return ControlCell(a + left, b - right, (a, b))


def to_the_edge(curve: Curve, a: CurvePoint, y: Array, cell: ControlCell) -> tuple[Array, Plane] | None:
    """Where the way from a to a predicted point beyond the cell leaves it, and the edge as an equation."""
    n, unit = curve.n, curve.unit[curve.n]
    level = (cell.high if y[n] > a.y[n] else cell.low) / unit
    if not (y[n] - level) * (y[n] - a.y[n]) > 0.0:
        return None
    guess = a.y + (level - a.y[n]) / (y[n] - a.y[n]) * (y - a.y)
    guess[n] = level
    return guess, Plane(np.eye(1, curve.size, n)[0], level)


def turns_inside(curve: Curve, a: CurvePoint, b: CurvePoint, cell: ControlCell) -> bool:
    """Whether p, where it turns on the way from a to b, clearly turns before it would leave the cell.

    By the cubic through both ends, whose rise counts twice: a kink just before a fold is not to be stepped over.
    """
    n, unit, h = curve.n, curve.unit[curve.n], b.s - a.s
    pa, pb, ra, rb = float(a.y[n]), float(b.y[n]), h * float(a.t[n]), h * float(b.t[n])
    if not ra * rb < 0.0:
        return True
    f = ra / (ra - rb)  # about where the slope vanishes
    top = (1 - f) ** 2 * ((1 + 2 * f) * pa + f * ra) + f * f * ((3 - 2 * f) * pb - (1 - f) * rb)
    if ra > 0:
        return bool(top + (top - max(pa, pb)) < cell.high / unit)
    return bool(top + (top - min(pa, pb)) > cell.low / unit)


@dataclass(frozen=True)
class KinkRays:
    """The rays that leave a kink of p: into the next cell from its edge `beyond`, and back into the last one.

    `leading` begins with the one that has the same closed constraints as before.
    """

    beyond: Standpoint
    leading: tuple[Ray, ...]
    returning: tuple[Ray, ...]


def rays_from(where: Standpoint) -> Rays:
    """All rays at a point; at a kink of p those that lead into the cells on its two sides, each with its own slopes."""
    system, p = where.system, float(where.x[where.system.n])
    cells = ControlCells(system, where.sizes.control) if system.kinked else None
    if not cells or not cells.near(p):
        return rays_at(where)
    sides = [(sense, _edge(where, cells.around(p, sense), sense)) for sense in (1.0, -1.0)]
    found = [(sense, rays_at(edge)) for sense, edge in sides]
    leaving = tuple(ray for sense, rays in found for ray in rays.rays if ray.p_sign == sense)
    return replace(found[0][1], rays=leaving, complete=all(rays.complete for _, rays in found))


def across(where: Standpoint, cell: ControlCell, sense: float, rows: tuple[int, ...]) -> tuple[Standpoint, Ray | None]:
    """The same point at the edge of the next cell, and the ray that leads on; None where none does."""
    beyond, leading = _into(where, cell, sense, rows)
    return beyond, next(iter(leading), None)


def crossing(where: Standpoint, cell: ControlCell, sense: float, rows: tuple[int, ...]) -> KinkRays:
    """All rays at a kink, but for the one along which a path with these closed constraints came to it."""
    back = [ray for ray in rays_at(where).rays if ray.p_sign == -sense]
    same = [ray for ray in back if ray.rows == rows] or back
    return KinkRays(*_into(where, cell, sense, rows), tuple(ray for ray in back if ray is not next(iter(same), None)))


def _into(
    where: Standpoint, cell: ControlCell, sense: float, rows: tuple[int, ...]
) -> tuple[Standpoint, tuple[Ray, ...]]:
    beyond = _edge(where, cell, sense)
    leading = [ray for ray in rays_at(beyond).rays if ray.p_sign == sense]
    return beyond, tuple(sorted(leading, key=lambda ray: ray.rows != rows))


def _edge(where: Standpoint, cell: ControlCell, sense: float) -> Standpoint:
    """The same point at the edge of a cell at which p enters it."""
    x = where.x.copy()
    x[where.system.n] = cell.low if sense > 0 else cell.high
    return place(where.system, x, where.sizes, where.tolerances)
