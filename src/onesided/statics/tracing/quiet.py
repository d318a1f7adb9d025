"""Changes without a change of sign: gaps and reactions that touch zero, arrive there to stay, or leave it.

Every unilateral constraint has a margin, its gap where it is open and its reaction where it is closed. A margin that
is zero on a whole stretch belongs to an idle constraint. Where a margin has its lowest value inside a step, that point
is solved for: g = ġ = 0 is a touch, anything lower a closing and an opening.

What counts as zero must not depend on how a gap is stated: g and a monotone function f(g) of it close together, though
f may be far steeper, or flatter, where a leg starts. Gaps are measured anew (`outdated`) where their size has changed.
"""

import math
from collections import deque
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from onesided.base.tolerances import EPS, HALF_DIGITS, QUARTER_DIGITS, SOME_DIGITS, Tolerances
from onesided.base.types import Array, Mask
from onesided.evaluation.resolution import lowest
from onesided.statics.curves.corrections import Plane, make_point, newton
from onesided.statics.curves.curve import Curve, CurvePoint
from onesided.statics.tracing.hits import FLAT, Hit, Trigger
from onesided.statics.tracing.inside import between, root_between

LOW = 0.05  # of the larger margin at the ends of a step: lower minima are solved for

CLEAR = 64 * FLAT  # a scaled margin of which round-off is a small part
WELL_CLEAR = 64 * CLEAR
JUST = 0.01  # of the way from a clear point to where a margin vanishes
TRAIL = 512  # so many points back are kept
TOGETHER = SOME_DIGITS  # arc length, in scaled units, within which changes are one
OUTDATED = 4.0  # ratio of the size of a gap to that by which it is measured
NEAR_ZERO = EPS**0.1875  # share of its size below which a gap keeps its measure: its slope may vanish with it
STRAIGHT = 0.1  # of the angle by which a path bends: so little it turns before and beyond


class Change(Enum):
    """How a margin changes within a step."""

    dips = "falls below zero and rises again"
    touches = "touches zero"
    arrives = "becomes zero to stay"
    leaves = "ceases to be zero"
    bends = "stays as it is, where stiffness jumps"


@dataclass(frozen=True)
class Quiet:
    """A change of the margins of some constraints, with the point at which it happens and one beyond."""

    change: Change
    rows: tuple[int, ...]
    point: CurvePoint
    beyond: CurvePoint

    def crosses(self, curve: Curve) -> bool:
        """Whether a margin that ceases to be zero becomes negative."""
        return self.change is Change.leaves and any(self.beyond.margins[row - curve.k] < 0 for row in self.rows)

    def hit(self, curve: Curve) -> Hit:
        """The same as something that a step ran into."""
        row = self.rows[0]
        return Hit(Trigger.opening if row in curve.rows else Trigger.closing, 0.0, row)


class LegMargins:
    """What is known of the margins along a leg: which have been away from zero, which belong to idle constraints."""

    def __init__(self, idle: set[int]) -> None:
        self.idle, self.away = idle, set[int]()
        self.trail: deque[CurvePoint] = deque(maxlen=TRAIL)

    def pass_by(self, curve: Curve, point: CurvePoint, tolerances: Tolerances) -> None:
        """Take note of a point of the path."""
        self.away.update((curve.k + np.flatnonzero(point.margins > tolerances.gap)).tolist())
        self.trail.append(point)

    def find(self, curve: Curve, a: CurvePoint, b: CurvePoint, tolerances: Tolerances) -> Quiet | None:
        """The first quiet change between a and b; what happens at one place is reported together."""
        if not len(b.margins):
            return None
        found = [
            *self._leaving(curve, a, b, tolerances),
            *self._arriving(curve, a, b, tolerances),
            *_lowest_points(curve, a, b, tolerances),
        ]
        first = min(found, key=lambda quiet: quiet.point.s, default=None)
        if first is None or first.change in {Change.dips, Change.touches}:
            return first
        together = [q for q in found if q.change is first.change and q.point.s - first.point.s <= TOGETHER]
        return replace(first, rows=tuple(sorted(row for quiet in together for row in quiet.rows)))

    def at_corner(self, curve: Curve, a: CurvePoint, h: float) -> Quiet | None:
        """A margin that vanishes to stay at a, where steps have become too short: stiffness jumps at a corner.

        Beyond it the path leaves in the direction of its own linearised equations in which the margin stays zero.
        """
        low = (np.abs(a.margins) <= FLAT) & (np.abs(a.rates) <= np.sqrt(FLAT))
        for row in (curve.k + np.flatnonzero(low)).tolist():
            if row in self.away and row not in self.idle:
                for t in directions_beyond(curve, a, h):
                    corner = replace(a, t=t)
                    beyond = ahead_of(curve, corner, h)
                    if beyond is not None and abs(beyond.margins[row - curve.k]) <= FLAT:
                        return Quiet(Change.arrives, (row,), corner, beyond)
        return None

    def not_carried_on(self, curve: Curve, a: CurvePoint, h: float) -> Quiet | None:
        """Idle constraints that may have to carry beyond a, where the path cannot go on with those that do.

        What carries may curve away there, whatever its margin: those at rest beside it would be passed.
        """
        rows = tuple(sorted(row for row in self.idle if row not in curve.rows))
        if not rows:
            return None
        passed = a.margins.copy()
        passed[np.array(rows) - curve.k] = -h
        return Quiet(Change.leaves, rows, a, replace(a, s=a.s + h, margins=passed))

    def _leaving(self, curve: Curve, a: CurvePoint, b: CurvePoint, tolerances: Tolerances) -> list[Quiet]:
        rows = [row for row in sorted(self.idle) if abs(b.margins[row - curve.k]) > FLAT]
        sharp = between(curve, a, b, 1.0) if rows else None
        found = []
        for row in rows if sharp is not None else ():
            i = row - curve.k
            far = _well_clear(curve, a, b, i, tolerances) if sharp and abs(sharp.margins[i]) > FLAT else None
            edge = None if far is None else _edge(curve, a, far, i, zero_first=True)
            if far is not None and edge is not None and edge.s <= b.s:
                found.append(Quiet(Change.leaves, (row,), edge, far))
        return found

    def _arriving(self, curve: Curve, a: CurvePoint, b: CurvePoint, tolerances: Tolerances) -> list[Quiet]:
        small, h = tolerances.gap, b.s - a.s
        flat = (np.abs(b.margins) <= small) & (np.abs(b.rates) * h <= small)
        rows = [row for row in (curve.k + np.flatnonzero(flat)).tolist() if row in self.away and row not in self.idle]
        sharp = between(curve, a, b, 1.0) if rows else None
        if sharp is None:
            return []
        rest = (np.abs(sharp.margins) <= FLAT) & (np.abs(sharp.rates) <= np.sqrt(FLAT))
        rows = [row for row in rows if rest[row - curve.k]]
        return [quiet for row in rows if (quiet := self._arrival(curve, a, sharp, row)) is not None]

    def _arrival(self, curve: Curve, a: CurvePoint, b: CurvePoint, row: int) -> Quiet | None:
        """Where a margin becomes zero to stay: inside the step, or just ahead where steps have become short."""
        i = row - curve.k
        clear = [point for point in (*self.trail, a) if point.margins[i] > WELL_CLEAR]
        start = clear[-1] if clear else a
        edge = _edge(curve, start, b, i, zero_first=False)
        if edge is None:
            return None
        edge = edge if edge.s >= a.s else replace(a)
        beyond = b if b.s - edge.s > JUST * (b.s - start.s) else ahead_of(curve, edge, edge.s - start.s)
        return None if beyond is None else Quiet(Change.arrives, (row,), edge, beyond)


def bend(curve: Curve, a: CurvePoint, h: float, tolerances: Tolerances) -> Quiet | None:
    """A corner of the path at a, where steps have become too short and no constraint changes: stiffness jumps there.

    A contact passes the end of a segment, a law has a kink. Beyond it, or beyond a itself where that was just passed
    and only extrapolation fails, the path leads straight on along its own linearised equations.
    """
    for t in directions_beyond(curve, a, h):
        corner, turned = replace(a, t=t), float(np.linalg.norm(t - a.t))
        beyond = ahead_of(curve, corner, h)
        if beyond is None or turned > 2.0 - QUARTER_DIGITS:
            continue
        way = beyond.y - a.y
        off = max(float(np.linalg.norm(way / np.linalg.norm(way) - t)), float(np.linalg.norm(beyond.t - t)))
        if off <= STRAIGHT * max(turned, math.sqrt(h)) and np.all(beyond.margins >= -tolerances.residual):
            return Quiet(Change.bends, (), corner, beyond)
    return None


def directions_beyond(curve: Curve, a: CurvePoint, h: float) -> list[Array]:
    """Both tangents by the linearised equations a little ahead of a, that closer to the one at a first."""
    y = a.y + h * a.t
    t = newton(curve, y, Plane(a.t, float(a.t @ y)), target=EPS, limit=0).tangent
    size = float(np.sqrt(t @ t))
    return [t / size, -t / size] if 0.0 < size < np.inf else []


def _well_clear(curve: Curve, a: CurvePoint, b: CurvePoint, i: int, tolerances: Tolerances) -> CurvePoint | None:
    """A point from b on along the curve, admissible or not, at which margin i is well away from zero."""
    far: CurvePoint | None = b
    distance = b.s - a.s
    while far is not None and abs(far.margins[i]) <= max(WELL_CLEAR, 4.0 * tolerances.gap):
        far, distance = ahead_of(curve, b, distance), 2.0 * distance
    return far


def _edge(curve: Curve, a: CurvePoint, b: CurvePoint, i: int, *, zero_first: bool) -> CurvePoint | None:
    """Where margin i begins or ceases to be zero: bisection down to round-off, then extrapolation of its power law.

    The latter may lead a little beyond b.
    """
    left, right = 0.0, 1.0
    while right - left > HALF_DIGITS:
        middle = between(curve, a, b, 0.5 * (left + right))
        if middle is None:
            return None
        if (abs(float(middle.margins[i])) <= FLAT) == zero_first:
            left = 0.5 * (left + right)
        else:
            right = 0.5 * (left + right)
    zero, away = (left, right) if zero_first else (right, left)
    edge = _extrapolated(curve, a, b, i, (zero, away))
    return replace(a) if edge <= 0.0 else between(curve, a, b, edge)


def _extrapolated(curve: Curve, a: CurvePoint, b: CurvePoint, i: int, near: tuple[float, float]) -> float:
    """Fraction of the step at which g/ġ vanishes, of a margin g ~ (s − s₀)ᵐ, from points at which g is not 0."""
    zero, away = near
    side, room = (1.0, 1.0 - zero) if away > zero else (-1.0, zero)
    distance = HALF_DIGITS
    while distance < room and abs(_margin(curve, a, b, i, zero + side * distance)[0]) <= CLEAR:
        distance *= 2.0
    last = min(4.0 * distance, room)
    places = [zero + side * d for d in (distance, 0.5 * (distance + last), last)]
    values = [_margin(curve, a, b, i, place) for place in places]
    if distance >= last or not all(abs(g) > 0 and abs(rate) > 0 for g, rate in values):
        return zero
    ratios = [g / rate for g, rate in values]
    if len(set(ratios)) < len(ratios):  # no power law
        return zero
    found = _vanishing(ratios, places)
    return found if abs(found - zero) <= distance else zero


def _vanishing(values: list[float], places: list[float]) -> float:
    """Place at which three values, extrapolated by inverse quadratic interpolation, vanish."""
    (u, v, w), (x, y, z) = values, places
    return x * v * w / ((u - v) * (u - w)) + y * u * w / ((v - u) * (v - w)) + z * u * v / ((w - u) * (w - v))


def ahead_of(curve: Curve, a: CurvePoint, h: float) -> CurvePoint | None:
    """The point after a step of length h, or of a part of it, whatever the tangent does on the way."""
    for length in h * 0.25 ** np.arange(4):
        plane = Plane(a.t, float(a.t @ a.y) + length)
        found = newton(curve, a.y + length * a.t, plane, target=EPS, limit=12, reach=length)
        if found.converged:
            return make_point(curve, found, a.t, a.s + length, inertia=False)
    return None


def _margin(curve: Curve, a: CurvePoint, b: CurvePoint, i: int, fraction: float) -> tuple[float, float]:
    """Margin i and its rate at a fraction of a step; NaN where there is no such point."""
    point = between(curve, a, b, fraction, inertia=False)
    return (np.nan, np.nan) if point is None else (float(point.margins[i]), float(point.rates[i]))


def _lowest_points(curve: Curve, a: CurvePoint, b: CurvePoint, tolerances: Tolerances) -> list[Quiet]:
    """Margins that fall, come close to zero or below, and rise again inside the step, each at its lowest point."""
    h, found = b.s - a.s, []
    falls = (a.rates < 0) & (b.rates > 0) & (a.margins > tolerances.gap) & (b.margins > -tolerances.residual)
    for i in np.flatnonzero(falls).tolist():
        ends = float(a.margins[i]), h * float(a.rates[i]), float(b.margins[i]), h * float(b.rates[i])
        if lowest(np, *ends) > LOW * max(ends[0], ends[2]):
            continue
        point = _lowest_point(curve, a, b, i, tolerances)
        if point is not None and point.margins[i] <= tolerances.residual:
            change = Change.dips if point.margins[i] < -tolerances.residual else Change.touches
            found.append(Quiet(change, (curve.k + i,), point, b))
    return found


def _lowest_point(curve: Curve, a: CurvePoint, b: CurvePoint, i: int, tolerances: Tolerances) -> CurvePoint | None:
    """The point at which the rate of margin i vanishes."""
    near = root_between(curve, a, b, lambda point: float(point.rates[i]), tolerances.event)
    return None if near is None else between(curve, a, b, (near.s - a.s) / (b.s - a.s))


def outdated(curve: Curve, c: Array, sizes: Array) -> Mask:
    """Which gaps, of one point or of many, have another size than that by which the curve measures them."""
    measures = curve.scales.gap
    ratios = np.divide(sizes, measures, out=np.ones_like(sizes), where=np.isfinite(sizes) & (sizes > 0.0))
    other = ((ratios > OUTDATED) | (ratios * OUTDATED < 1.0)) & (c > NEAR_ZERO * ratios * measures)
    other[..., : curve.k] = False
    other[..., curve.rows] = False
    return np.asarray(other)


def remeasured(curve: Curve, anew: Curve, point: CurvePoint) -> CurvePoint:
    """A point with its margins as another measure of the gaps gives them."""
    share = curve.scales.gap[curve.k :] / anew.scales.gap[curve.k :]
    return replace(point, margins=point.margins * share, rates=point.rates * share)
