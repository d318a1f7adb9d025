"""Changes without a change of sign: gaps and reactions that touch zero, arrive there to stay, or leave it after a while.

Every unilateral constraint has a margin, its gap where it is open and its reaction where it is closed. A margin that
is zero on a whole stretch belongs to an idle constraint. Where a margin has its lowest value inside a step, that point
is solved for: g = ġ = 0 is a touch, anything lower a closing and an opening.
"""

from dataclasses import dataclass
from enum import Enum

import numpy as np

from onesided.statics.curve import Curve, Point
from onesided.statics.hits import Hit, Trigger, between, lowest_value, root_between
from onesided.tolerances import EPS, Tolerances

LOW = 0.05  # of the larger margin at the ends of a step: lower minima are solved for
NOISE = 16 * EPS  # of a scaled margin


class Change(Enum):
    """What a margin does."""

    dips = "falls below zero and rises again"
    touches = "touches zero"
    arrives = "becomes zero to stay"
    leaves = "ceases to be zero"


@dataclass(frozen=True)
class Quiet:
    """A change of the margin of one constraint, with the point at which it happens and one just beyond."""

    change: Change
    row: int
    point: Point
    beyond: Point


class Margins:
    """What is known of the margins along a leg: which have been away from zero, which belong to idle constraints."""

    def __init__(self, idle: set[int]) -> None:
        self.idle, self.away = idle, set[int]()

    def pass_by(self, curve: Curve, point: Point, tolerances: Tolerances) -> None:
        """Take note of a point of the path."""
        self.away.update((curve.k + np.flatnonzero(point.margins > tolerances.gap)).tolist())

    def find(self, curve: Curve, a: Point, b: Point, tolerances: Tolerances) -> Quiet | None:
        """The first quiet change between a and b."""
        if not len(b.margins):
            return None
        found = [
            *self._leaving(curve, a, b, tolerances),
            *self._arriving(curve, a, b, tolerances),
            *_lowest_points(curve, a, b, tolerances),
        ]
        return min(found, key=lambda quiet: quiet.point.s, default=None)

    def _leaving(self, curve: Curve, a: Point, b: Point, tolerances: Tolerances) -> list[Quiet]:
        rows = [row for row in sorted(self.idle) if abs(b.margins[row - curve.k]) > tolerances.gap]
        edges = [(row, _edge(curve, a, b, row - curve.k, zero_first=True)) for row in rows]
        return [Quiet(Change.leaves, row, *edge) for row, edge in edges if edge is not None]

    def _arriving(self, curve: Curve, a: Point, b: Point, tolerances: Tolerances) -> list[Quiet]:
        small, h = tolerances.gap, b.s - a.s
        flat = (np.abs(b.margins) <= small) & (np.abs(b.rates) * h <= small)
        rows = [row for row in (curve.k + np.flatnonzero(flat)).tolist() if row in self.away and row not in self.idle]
        edges = [(row, _edge(curve, a, b, row - curve.k, zero_first=False)) for row in rows]
        return [Quiet(Change.arrives, row, edge[0], b) for row, edge in edges if edge is not None]


def _edge(curve: Curve, a: Point, b: Point, i: int, *, zero_first: bool) -> tuple[Point, Point] | None:
    """Where margin i begins or ceases to be zero, by bisection: the point on the side of zero, and on the other."""
    noise = max(NOISE, 4.0 * abs(float((a if zero_first else b).margins[i])))
    left, right = (0.0, a), (1.0, b)
    while right[0] - left[0] > EPS**0.5:
        f = 0.5 * (left[0] + right[0])
        middle = between(curve, a, b, f)
        if middle is None:
            return None
        if (abs(float(middle.margins[i])) <= noise) == zero_first:
            left = f, middle
        else:
            right = f, middle
    return (left[1], right[1]) if zero_first else (right[1], left[1])


def _lowest_points(curve: Curve, a: Point, b: Point, tolerances: Tolerances) -> list[Quiet]:
    """Margins that fall, come close to zero or below, and rise again inside the step, each at its lowest point."""
    h, found = b.s - a.s, []
    falls = (a.rates < 0) & (b.rates > 0) & (a.margins > tolerances.gap) & (b.margins > -tolerances.residual)
    for i in np.flatnonzero(falls).tolist():
        ends = float(a.margins[i]), h * float(a.rates[i]), float(b.margins[i]), h * float(b.rates[i])
        if lowest_value(*ends) > LOW * max(ends[0], ends[2]):
            continue
        point = _lowest_point(curve, a, b, i, tolerances)
        if point is not None and point.margins[i] <= tolerances.residual:
            change = Change.dips if point.margins[i] < -tolerances.residual else Change.touches
            found.append(Quiet(change, curve.k + i, point, b))
    return found


def _lowest_point(curve: Curve, a: Point, b: Point, i: int, tolerances: Tolerances) -> Point | None:
    """The point at which the rate of margin i vanishes."""
    near = root_between(curve, a, b, lambda point: float(point.rates[i]), tolerances)
    return None if near is None else between(curve, a, b, (near.s - a.s) / (b.s - a.s))


def quiet_hit(curve: Curve, quiet: Quiet) -> Hit:
    """A quiet change as something that a step ran into."""
    return Hit(Trigger.opening if quiet.row in curve.rows else Trigger.closing, 0.0, quiet.row)
