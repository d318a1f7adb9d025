"""Events inside one step: which conditions changed between two points of a curve, and where exactly.

Which of them comes first is decided by locating them in turn, until nothing else is sooner.

A step from a to b is examined for gaps that closed, reactions that vanished, bounds of p, a change of the sign of ṗ,
and a change of inertia that ṗ does not explain. Cubic interpolation orders what happened; the steps see to it that
nothing happened twice.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

import numpy as np

from onesided.base.tolerances import EPS, HALF_DIGITS, ROUNDING, Tolerances
from onesided.base.types import Array
from onesided.evaluation.equilibrium_blocks import Evaluation
from onesided.statics.curves.corrections import Closed, Correction, Plane, make_point, newton
from onesided.statics.curves.curve import Curve, CurvePoint, CurvePoints
from onesided.statics.curves.spectrum import negative_modes
from onesided.statics.tracing.inside import between, interpolate, mean_tangent, root_between
from onesided.statics.tracing.singular import first_singular, heading, modes_lost, refine_singular

UserEvents = Mapping[str, Callable[[Array, float], float]]
NONE: Mapping[str, float] = {}
FLAT = EPS**0.7  # a scaled margin at a sharp point that is zero but for round-off
P_NOISE = ROUNDING  # change of the scaled p, relative to it, that is none
SOONER = 20  # events before the one that was found, one after the other
COARSE = EPS**0.2  # share of the step to which a singular point is bracketed before its own equations are solved


class Trigger(Enum):
    """What a step ran into."""

    closing = "closing"
    opening = "opening"
    bound = "bound"
    limit = "limit"
    singular = "singular"
    user = "user"


@dataclass(frozen=True)
class Hit:
    """One condition that changed inside a step; `fraction` estimates where, between 0 and 1."""

    trigger: Trigger
    fraction: float
    row: int = -1
    level: float = 0.0
    side: float = 1.0
    name: str = ""


class Located(NamedTuple):
    """A point at which something happens, and the blocks of the model there."""

    trigger: Trigger
    point: CurvePoint
    e: Evaluation


@dataclass(frozen=True)
class PathWatch:
    """What a tracer looks out for besides contacts: bounds of p and user events."""

    p_bounds: tuple[float, float]
    user: UserEvents
    tolerances: Tolerances

    def value(self, name: str, x: Array, n: int) -> float:
        """Value of a user function at a packed point of a system with n coordinates."""
        return self.user[name](x[:n], float(x[n]))


def uneventful(curve: Curve, points: CurvePoints, watch: PathWatch) -> Array:
    """Which points of a stretch are reached from the one before without anything in between.

    The steps were found to be resolved; for many of them at once what `explained` and `find_hits` say of one.
    """
    n, signs = curve.n, (points.negative, points.orientation, points.sense)
    calm = np.zeros(len(points.s), dtype=bool)
    if watch.user:
        return calm
    calm[1:] = True
    for sign in signs:
        calm[1:] &= sign[1:] == sign[:-1]
    low, high = (bound / curve.unit[n] for bound in watch.p_bounds)
    p = points.y[:, n]
    calm[1:] &= points.sense[1:] * np.diff(p) >= -P_NOISE * (1.0 + abs(p[1:]))
    calm &= (signs[0] >= 0) & (signs[1] != 0) & (signs[2] != 0) & (low <= p) & (p <= high)
    if points.margins.shape[1]:
        away = abs(points.margins) > watch.tolerances.gap
        calm[1:] &= (away[1:] == away[:-1]).all(axis=1)
        between_both = (~away & (abs(points.margins) > FLAT)).any(axis=1)
        calm[1:] &= ~(between_both[1:] | between_both[:-1])
        calm &= (points.margins >= -watch.tolerances.residual).all(axis=1)
        calm[1:] &= ~((points.rates[:-1] < 0) & (points.rates[1:] > 0)).any(axis=1)  # it may touch in between
    return calm


def is_calm(curve: Curve, a: CurvePoint, b: CurvePoint, watch: PathWatch) -> bool:
    """The same for one step."""
    signs = a.negative == b.negative >= 0 and a.orientation == b.orientation != 0 and a.sense == b.sense != 0
    low, high = watch.p_bounds
    if not signs or not low <= b.x[curve.n] <= high or watch.user or against_its_sense(curve, a, b):
        return False
    gap, floor = watch.tolerances.gap, -watch.tolerances.residual
    each = zip(*(values.tolist() for values in (a.margins, b.margins, a.rates, b.rates)), strict=True)
    return not any(
        (abs(left) > gap) != (abs(right) > gap)  # it leaves zero, or comes to it
        or FLAT < abs(left) <= gap
        or FLAT < abs(right) <= gap
        or right < floor
        or falls < 0 < rises
        for left, right, falls, rises in each
    )


def against_its_sense(curve: Curve, a: CurvePoint, b: CurvePoint) -> bool:
    """Whether p falls on a step at whose ends it is said to grow, or the other way round: rounding decides."""
    before, after = float(a.y[curve.n]), float(b.y[curve.n])
    return a.sense == b.sense and b.sense * (after - before) < -P_NOISE * (1.0 + abs(after))


def find_hits(
    curve: Curve, a: CurvePoint, b: CurvePoint, watch: PathWatch, sides: Mapping[str, float] = NONE
) -> list[Hit]:
    """All conditions that changed between a and b, ordered by the estimate of where.

    `sides` tells the sign just beyond a of user functions that are zero there.
    """
    h, k = b.s - a.s, curve.k
    hits: list[Hit] = []
    for i in np.flatnonzero(b.margins < -watch.tolerances.residual) if len(b.margins) else ():
        row = k + int(i)
        trigger = Trigger.opening if row in curve.rows else Trigger.closing
        hits.append(Hit(trigger, _root(a.margins[i], h * a.rates[i], b.margins[i], h * b.rates[i]), row))
    hits += _bound_hits(curve, a, b, watch)
    hits += _smooth_hits(curve, a, b)
    hits += _user_hits(curve, a, b, watch, sides)
    if len(hits) < 2:
        return hits
    both = {hit.trigger for hit in hits} >= {Trigger.limit, Trigger.singular}
    return sorted(hits, key=lambda hit: 0.0 if both and hit.trigger is Trigger.singular else hit.fraction)


def _bound_hits(curve: Curve, a: CurvePoint, b: CurvePoint, watch: PathWatch) -> list[Hit]:
    n, h = curve.n, b.s - a.s
    unit = curve.unit[n]
    low, high = watch.p_bounds
    p = b.x[n]
    if low <= p <= high:
        return []
    side, level = (1.0, high / unit) if p > high else (-1.0, low / unit)
    fraction = _root(side * (level - a.y[n]), -side * h * a.t[n], side * (level - b.y[n]), -side * h * b.t[n])
    return [Hit(Trigger.bound, fraction, level=level, side=side)]


def explained(a: CurvePoint, b: CurvePoint) -> bool:
    """Whether the change of inertia is that of nothing, one limit point or one simple bifurcation."""
    if a.negative < 0:
        return True
    change, turned, crossed = abs(b.negative - a.negative), a.sense * b.sense < 0, a.orientation * b.orientation < 0
    return change == int(turned != crossed) and not (turned and crossed)


def _smooth_hits(curve: Curve, a: CurvePoint, b: CurvePoint) -> list[Hit]:
    """Limit points (ṗ changes sign) and bifurcations (the bordered determinant does, or the inertia jumps)."""
    n = curve.n
    hits: list[Hit] = []
    turned = a.sense * b.sense < 0
    if turned:
        hits.append(Hit(Trigger.limit, abs(a.t[n]) / (abs(a.t[n]) + abs(b.t[n]))))
    if a.negative < 0:  # the start of a leg: nothing to compare with
        return hits
    change = abs(b.negative - a.negative)
    if a.orientation * b.orientation < 0 or change != int(turned):
        hits.append(Hit(Trigger.singular, 0.5))
    return hits


def _user_hits(curve: Curve, a: CurvePoint, b: CurvePoint, watch: PathWatch, sides: Mapping[str, float]) -> list[Hit]:
    hits = []
    for name, function in watch.user.items():
        left, right = function(a.x[: curve.n], float(a.x[curve.n])), function(b.x[: curve.n], float(b.x[curve.n]))
        if sides.get(name, left) * right < 0:
            fraction = abs(left) / max(abs(left) + abs(right), EPS)
            hits.append(Hit(Trigger.user, fraction, side=math.copysign(1.0, right), name=name))
    return hits


def _root(va: float, ra: float, vb: float, rb: float) -> float:
    """First fraction at which the cubic through (va, ra) and (vb, rb) falls through zero."""
    if va <= 0 and ra <= 0:
        return 0.0
    a, b = 2 * va - 2 * vb + ra + rb, 3 * vb - 3 * va - 2 * ra - rb
    turns = _turning_points(3 * a, 2 * b, ra)
    left = turns.pop(0) if va <= 0 and turns else 0.0  # it leaves zero upwards: the next zero is meant
    for right in (*turns, 1.0):
        if ((a * right + b) * right + ra) * right + va <= 0:
            return _bisect(lambda f: ((a * f + b) * f + ra) * f + va, left, right)
        left = right
    return va / (va - vb) if vb < 0 else 1.0


def _turning_points(a: float, b: float, c: float) -> list[float]:
    """Zeros of a f² + b f + c between 0 and 1, in order."""
    inside = b * b - 4 * a * c
    if inside <= 0:
        return []
    half = -0.5 * (b + math.copysign(math.sqrt(inside), b))
    roots = [half / a if a else math.inf, c / half if half else math.inf]
    return sorted(root for root in roots if 0 < root < 1)


def _bisect(function: Callable[[float], float], left: float, right: float) -> float:
    """Where a function falls from positive to zero or below."""
    while right - left > EPS * max(right, EPS):
        middle = 0.5 * (left + right)
        left, right = (middle, right) if function(middle) > 0 else (left, middle)
    return right


def locate(curve: Curve, a: CurvePoint, b: CurvePoint, hit: Hit, watch: PathWatch) -> CurvePoint | None:
    """The exact point of a hit inside the step; None where it cannot be found."""
    n = curve.n
    if hit.trigger is Trigger.limit:
        return root_between(curve, a, b, lambda point: float(point.t[n]), watch.tolerances.event)
    if hit.trigger is Trigger.user:
        user = watch.user[hit.name]
        return root_between(curve, a, b, lambda point: user(point.x[:n], float(point.x[n])), watch.tolerances.event)
    if hit.trigger is Trigger.singular:
        found = first_singular(curve, a, b, watch.tolerances)
        if found is not None:
            return found
        index = min(a.negative, b.negative) + curve.w
        crosses = a.orientation * b.orientation < 0
        measure = curve.distance_to_singular if crosses else lambda point: curve.eigenvalue(point.x, index)
        for width in (COARSE, watch.tolerances.event):
            found = root_between(curve, a, b, measure, width)
            if found is not None:
                found.t = mean_tangent(a, b)  # its own is that of a singular matrix
                found = refine_singular(curve, found, b.s - a.s, watch.tolerances, modes_lost(a, b))
            t = None if found is None else heading(curve, a, b, found)
            if found is not None and t is not None:
                return replace(found, t=t)
        return None
    return _solve_border(curve, a, b, hit, depth=30)


def with_located(hits: list[Hit], a: CurvePoint, b: CurvePoint, known: Located | None) -> list[Hit]:
    """The hits of a step with a singular point that has been located on it, whatever the signs say."""
    if known is None or known.trigger is not Trigger.singular:
        return hits
    others = [hit for hit in hits if hit.trigger not in {Trigger.singular, Trigger.limit}]
    fraction = (known.point.s - a.s) / (b.s - a.s)
    return sorted([*others, Hit(Trigger.singular, fraction)], key=lambda hit: hit.fraction)


@dataclass(frozen=True)
class EventFinder:
    """Locates the first event on a step from a.

    Attributes
    ----------
    sides : the signs just beyond a of user functions that are zero there.
    known : what has been located on the step already.
    """

    curve: Curve
    a: CurvePoint
    watch: PathWatch
    sides: Mapping[str, float] = field(default_factory=dict)
    known: Located | None = None

    def earliest(self, b: CurvePoint, hits: list[Hit]) -> tuple[Hit, CurvePoint | None]:
        """Of what happens on the way to b the first: nothing else may happen before it."""
        found: tuple[Hit, CurvePoint | None] = hits[0], None
        for hit in hits:
            c = self._located(b, hit)
            if c is not None:
                found = hit, c
                break
        for _ in range(SOONER):
            sooner = None if found[1] is None else self._sooner(found[0], found[1])
            if sooner is None:
                break
            found = sooner
        return found

    def _located(self, b: CurvePoint, hit: Hit) -> CurvePoint | None:
        """Where a hit is; None where it is not found."""
        curve, a, known = self.curve, self.a, self.known
        if known is not None and hit.trigger is known.trigger:
            curve.system.keep(known.point.x, known.e)
            return known.point
        if hit.name in self.sides:  # it changes its sign at a, or once more close to it, which a short step tells
            return replace(a) if self.watch.value(hit.name, a.x, curve.n) == 0.0 else None
        return locate(curve, a, b, hit, self.watch)

    def _sooner(self, hit: Hit, c: CurvePoint) -> tuple[Hit, CurvePoint | None] | None:
        """An event before the one at c. Smooth events count only where c is none itself: they are close as it is.

        A singular point that was clearly passed but not located comes without a point: it asks for shorter steps.
        """
        curve, a, smooth = self.curve, self.a, {Trigger.limit, Trigger.singular}
        if c.s - a.s <= self.watch.tolerances.minimum_step:
            return None
        for other in find_hits(curve, a, c, self.watch, self.sides):
            same = (other.trigger, other.row, other.name) == (hit.trigger, hit.row, hit.name)
            if not same and not smooth >= {other.trigger, hit.trigger}:
                found = locate(curve, a, c, other, self.watch)
                if found is not None and float((found.y - c.y) @ c.t) < 0:
                    return other, found
                if found is None and other.trigger is Trigger.singular and self._clearly_passed(c):
                    return other, None
        return None

    def _clearly_passed(self, c: CurvePoint) -> bool:
        """Whether the number of negative modes at c differs from that before by more than rounding can do."""
        here = self.curve.measured_at(c.x)
        return 0 <= self.a.negative != negative_modes(here, c.x, self.watch.tolerances)


def _border(curve: Curve, hit: Hit) -> Plane | Closed:
    if hit.trigger is Trigger.closing:
        return Closed(curve, hit.row)
    row = np.zeros(curve.size)
    if hit.trigger is Trigger.bound:
        row[curve.n] = 1.0
        return Plane(row, hit.level)
    row[curve.n + 1 + int(np.flatnonzero(curve.rows == hit.row)[0])] = 1.0
    return Plane(row, 0.0)


def _solve_border(curve: Curve, a: CurvePoint, b: CurvePoint, hit: Hit, depth: int) -> CurvePoint | None:
    """Newton with the event condition as last equation, from the interpolated guess; halve the step where it fails."""
    h = b.s - a.s
    guess = interpolate(a, b, min(max(hit.fraction, 0.0), 1.0))
    found = newton(curve, guess, _border(curve, hit), target=EPS, limit=12, reach=2 * h)
    along = a.t + b.t
    if found.converged:
        s = float(along @ (found.y - a.y)) / float(np.sqrt(along @ along))
        if (0.05 * hit.fraction if _leaves_zero(curve, a, hit) else -0.05) * h <= s <= 1.05 * h:
            point = make_point(curve, found, along, a.s + min(max(s, 0.0), h))
            point.t = point.t if _regular(found, a, b) else mean_tangent(a, b)
            return point
    middle = between(curve, a, b, 0.5)
    if middle is None or depth == 0:
        return None
    left, right = (a, middle) if _value(curve, middle, hit) < 0 else (middle, b)
    va, vb = abs(_value(curve, left, hit)), abs(_value(curve, right, hit))
    return _solve_border(curve, left, right, replace(hit, fraction=va / (va + vb) if va + vb > 0 else 0.5), depth - 1)


def _regular(found: Correction, a: CurvePoint, b: CurvePoint) -> bool:
    """Whether the bordered matrix at a point is about as regular as at the ends of its step."""
    usual = max((v for v in (a.volume, b.volume) if math.isfinite(v)), default=found.volume)
    return bool(found.volume > usual + 0.5 * math.log(EPS))


def _leaves_zero(curve: Curve, a: CurvePoint, hit: Hit) -> bool:
    """Whether the event function is zero at a and rises: the zero at a itself is not the one that is meant."""
    if hit.trigger is Trigger.bound:
        return False
    i = hit.row - curve.k
    return bool(a.rates[i] > 0 and a.margins[i] <= HALF_DIGITS * a.rates[i])


def _value(curve: Curve, point: CurvePoint, hit: Hit) -> float:
    """The event function, positive before the event."""
    if hit.trigger is Trigger.bound:
        return hit.side * float(hit.level - point.y[curve.n])
    return float(point.margins[hit.row - curve.k])
