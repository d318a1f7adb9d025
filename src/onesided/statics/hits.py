"""Events inside one step: which conditions changed between two points of a curve, and where exactly.

A step from a to b is examined for gaps that closed, reactions that vanished, bounds of p, a change of the sign of ṗ,
and a change of inertia that ṗ does not explain. Cubic interpolation orders what happened and shows what happened twice.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from onesided._types import Array
from onesided.statics.curve import Closed, Curve, Plane, Point, Points, make_point, newton
from onesided.statics.taylor import Taylor
from onesided.tolerances import EPS, Tolerances

UserEvents = Mapping[str, Callable[[Array, float], float]]
NONE: Mapping[str, float] = {}


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


@dataclass(frozen=True)
class Watch:
    """What a tracer looks out for besides contacts: bounds of p and user events."""

    p_bounds: tuple[float, float]
    user: UserEvents
    tolerances: Tolerances


def hidden(curve: Curve, a: Point, b: Point, tolerances: Tolerances) -> bool:
    """Whether something changed and changed back inside the step, as far as a cubic through its ends can tell."""
    h, n = b.s - a.s, curve.n
    for i in np.flatnonzero((a.rates < 0) & (b.rates > 0)) if len(a.rates) else ():
        values = float(a.margins[i]), h * float(a.rates[i]), float(b.margins[i]), h * float(b.rates[i])
        if min(values[0], values[2]) >= -tolerances.gap > lowest_value(*values):
            return True
    return bool(a.sense * b.sense > 0 and _turns_twice(a.y[n], h * a.t[n], b.y[n], h * b.t[n]))


def lowest_value(va: float, ra: float, vb: float, rb: float) -> float:
    """Lowest value of the cubic through (va, ra) and (vb, rb) that falls at its start and rises at its end."""
    lead, linear = 6 * (va - vb) + 3 * (ra + rb), 6 * (vb - va) - 4 * ra - 2 * rb
    root = math.sqrt(max(linear * linear - 4 * lead * ra, 0.0))
    f = -2 * ra / (linear + root) if linear + root > 0 else 1.0
    return ((lead / 3 * f + linear / 2) * f + ra) * f + va


def _turns_twice(va: Any, ra: Any, vb: Any, rb: Any) -> Any:
    """Whether the cubic through (va, ra) and (vb, rb), slopes of one sign at its ends, turns back in between."""
    lead, linear = 6 * (va - vb) + 3 * (ra + rb), 6 * (vb - va) - 4 * ra - 2 * rb  # slope: lead f² + linear f + ra
    lowest = -linear * lead  # at the fraction lowest / (2 lead²)
    return (lead * ra > 0) & (linear * linear > 4 * lead * ra) & (lowest > 0) & (lowest < 2 * lead * lead)


def uneventful(curve: Curve, points: Points, watch: Watch) -> Array:
    """Which points of a stretch are reached from the one before, after two others, without anything in between.

    For many steps at once what `hidden`, `dips`, `explained` and `find_hits` say of one; where in doubt, False.
    """
    n, pivot, signs = curve.n, points.pivot, (points.negative, points.orientation, points.sense)
    calm = np.zeros(len(pivot), dtype=bool)
    if len(calm) < 3 or watch.user:
        return calm
    p, p_dot, h = points.y[:, n], points.t[:, n], points.s[1:] - points.s[:-1]
    calm[2:] = (pivot[:-2] - pivot[1:-1]) * h[1:] <= pivot[1:-1] * h[:-1]
    for sign in signs:
        calm[1:] &= sign[1:] == sign[:-1]
    low, high = (bound / curve.unit[n] for bound in watch.p_bounds)
    calm &= (signs[0] >= 0) & (signs[1] != 0) & (signs[2] != 0) & (low <= p) & (p <= high)
    calm[1:] &= ~_turns_twice(p[:-1], h * p_dot[:-1], p[1:], h * p_dot[1:])
    if points.margins.shape[1]:
        away = abs(points.margins) > watch.tolerances.gap
        calm[1:] &= (away[1:] == away[:-1]).all(axis=1)
        calm &= (points.margins >= -watch.tolerances.residual).all(axis=1)
        calm[1:] &= ~((points.rates[:-1] < 0) & (points.rates[1:] > 0)).any(axis=1)
    return calm


def find_hits(curve: Curve, a: Point, b: Point, watch: Watch, sides: Mapping[str, float] = NONE) -> list[Hit]:
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


def _bound_hits(curve: Curve, a: Point, b: Point, watch: Watch) -> list[Hit]:
    n, h = curve.n, b.s - a.s
    unit = curve.unit[n]
    low, high = watch.p_bounds
    p = b.x[n]
    if low <= p <= high:
        return []
    side, level = (1.0, high / unit) if p > high else (-1.0, low / unit)
    fraction = _root(side * (level - a.y[n]), -side * h * a.t[n], side * (level - b.y[n]), -side * h * b.t[n])
    return [Hit(Trigger.bound, fraction, level=level, side=side)]


def dips(p: Point | None, a: Point, b: Point) -> bool:
    """Whether the smallest pivot, falling from p to a, should have reached zero before b, but no sign has changed.

    Then two eigenvalues, or one twice, may have crossed zero: neither inertia nor determinant would show it.
    """
    if p is None or not p.orientation * a.orientation > 0 or a.orientation != b.orientation:
        return False
    return (p.pivot - a.pivot) * (b.s - a.s) > a.pivot * (a.s - p.s)


def explained(a: Point, b: Point) -> bool:
    """Whether the change of inertia is that of nothing, one limit point or one simple bifurcation."""
    if a.negative < 0:
        return True
    change, turned, crossed = abs(b.negative - a.negative), a.sense * b.sense < 0, a.orientation * b.orientation < 0
    return change == int(turned != crossed) and not (turned and crossed)


def _smooth_hits(curve: Curve, a: Point, b: Point) -> list[Hit]:
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


def _user_hits(curve: Curve, a: Point, b: Point, watch: Watch, sides: Mapping[str, float]) -> list[Hit]:
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


def between(curve: Curve, a: Point, b: Point, fraction: float, *, inertia: bool = True) -> Point | None:
    """The point of the curve at a fraction of the step, corrected; None where Newton fails."""
    h = b.s - a.s
    guess = interpolate(a, b, fraction)
    along = a.t + b.t
    along = along / np.sqrt(along @ along)
    found = newton(curve, guess, Plane(along, float(along @ guess)), target=EPS, limit=12, reach=h)
    return make_point(curve, found, along, a.s + fraction * h, inertia=inertia) if found.converged else None


def interpolate(a: Point, b: Point, fraction: float) -> Array:
    """Cubic Hermite interpolation of the scaled unknowns."""
    f, h = fraction, b.s - a.s
    return np.asarray(
        (2 * f**3 - 3 * f**2 + 1) * a.y
        + (f**3 - 2 * f**2 + f) * h * a.t
        + (3 * f**2 - 2 * f**3) * b.y
        + (f**3 - f**2) * h * b.t
    )


def locate(curve: Curve, a: Point, b: Point, hit: Hit, watch: Watch) -> Point | None:
    """The exact point of a hit inside the step; None where it cannot be found."""
    n = curve.n
    if hit.trigger is Trigger.limit:
        return root_between(curve, a, b, lambda point: float(point.t[n]), watch.tolerances)
    if hit.trigger is Trigger.user:
        user = watch.user[hit.name]
        return root_between(curve, a, b, lambda point: user(point.x[:n], float(point.x[n])), watch.tolerances)
    if hit.trigger is Trigger.singular:
        index = min(a.negative, b.negative) + curve.w
        crosses = a.orientation * b.orientation < 0
        measure = curve.distance_to_singular if crosses else lambda point: curve.eigenvalue(point.x, index)
        found = root_between(curve, a, b, measure, watch.tolerances)
        if found is not None:
            found.t = _between_tangents(a, b)  # its own is that of a singular matrix
        return found and refine_singular(curve, found, b.s - a.s, watch.tolerances)
    return _solve_border(curve, a, b, hit, depth=30)


def _border(curve: Curve, hit: Hit) -> Plane | Closed:
    if hit.trigger is Trigger.closing:
        return Closed(curve, hit.row)
    row = np.zeros(curve.size)
    if hit.trigger is Trigger.bound:
        row[curve.n] = 1.0
        return Plane(row, hit.level)
    row[curve.n + 1 + int(np.flatnonzero(curve.rows == hit.row)[0])] = 1.0
    return Plane(row, 0.0)


def _solve_border(curve: Curve, a: Point, b: Point, hit: Hit, depth: int) -> Point | None:
    """Newton with the event condition as last equation, from the interpolated guess; halve the step where it fails."""
    h = b.s - a.s
    guess = interpolate(a, b, min(max(hit.fraction, 0.0), 1.0))
    found = newton(curve, guess, _border(curve, hit), target=EPS, limit=12, reach=2 * h)
    along = a.t + b.t
    if found.converged:
        s = float(along @ (found.y - a.y)) / float(np.sqrt(along @ along))
        if (0.05 * hit.fraction if _leaves_zero(curve, a, hit) else -0.05) * h <= s <= 1.05 * h:
            point = make_point(curve, found, along, a.s + min(max(s, 0.0), h))
            point.t = point.t if found.pivot > EPS**0.5 else _between_tangents(a, b)
            return point
    middle = between(curve, a, b, 0.5)
    if middle is None or depth == 0:
        return None
    left, right = (a, middle) if _value(curve, middle, hit) < 0 else (middle, b)
    va, vb = abs(_value(curve, left, hit)), abs(_value(curve, right, hit))
    return _solve_border(curve, left, right, replace(hit, fraction=va / (va + vb) if va + vb > 0 else 0.5), depth - 1)


def _leaves_zero(curve: Curve, a: Point, hit: Hit) -> bool:
    """Whether the event function is zero at a and rises: the zero at a itself is not the one that is meant."""
    if hit.trigger is Trigger.bound:
        return False
    i = hit.row - curve.k
    return bool(a.rates[i] > 0 and a.margins[i] <= EPS**0.5 * a.rates[i])


def _between_tangents(a: Point, b: Point) -> Array:
    along = a.t + b.t
    return np.asarray(along / np.sqrt(along @ along))


def _value(curve: Curve, point: Point, hit: Hit) -> float:
    """The event function, positive before the event."""
    if hit.trigger is Trigger.bound:
        return hit.side * float(hit.level - point.y[curve.n])
    return float(point.margins[hit.row - curve.k])


def root_between(
    curve: Curve, a: Point, b: Point, function: Callable[[Point], float], tolerances: Tolerances
) -> Point | None:
    """Regula falsi with the Illinois modification on corrected points, to round-off."""
    (x, fx), (y, fy) = (0.0, function(a)), (1.0, function(b))
    best: Point | None = None
    if abs(fx) <= 4 * EPS and fy:
        return replace(a)
    if not fx * fy < 0:
        return None
    for _ in range(80):
        z = (x * fy - y * fx) / (fy - fx)
        middle = between(curve, a, b, z, inertia=False)
        if middle is None:
            return best
        best, fz = middle, function(middle)
        (x, fx) = (y, fy) if fz * fy < 0 else (x, fx / 2)
        done = abs(z - y) <= tolerances.event or abs(fz) <= 4 * EPS
        y, fy = z, fz
        if done:
            break
    return best


def refine_singular(curve: Curve, point: Point, step: float, tolerances: Tolerances) -> Point | None:
    """Move a nearly singular point to where J loses rank exactly: Newton on zᵀJN = 0 along the null space N.

    Quadratic for a simple bifurcation; where it does not apply (several eigenvalues at once) the point stays as it was.
    None where the Jacobian is not singular after all: the step had left its branch.
    """
    if curve.large:
        return point
    refined = _refine(curve, point, step, tolerances)
    e = curve.evaluate(refined.x)
    sigma = np.linalg.svd(curve.jacobian(e), compute_uv=False)
    singular = sigma[-1] <= np.sqrt(tolerances.singularity) * max(1.0, float(sigma[0]))
    balanced = float(np.max(np.abs(curve.residual(e)), initial=0.0)) <= tolerances.residual
    return refined if singular and balanced else None


def _refine(curve: Curve, point: Point, step: float, tolerances: Tolerances) -> Point:
    y = point.y
    for _ in range(10):
        x = curve.packed(y)
        e = curve.evaluate(x)
        J = curve.jacobian(e)
        if not np.all(np.isfinite(J)):
            return point
        U, sigma, Vt = np.linalg.svd(J, full_matrices=True)
        N, z = Vt[-2:].T, U[:, -1]
        if len(sigma) > 1 and sigma[-2] <= np.sqrt(tolerances.singularity):
            return point  # several eigenvalues vanish at once
        back = -Vt[:-2].T @ ((U[:, :-1].T @ curve.residual(e)) / sigma[:-1])
        taylor = Taylor(curve.system, x, curve, N[:, 0], tolerances)
        Q = np.array([[z @ taylor.mixed(N[:, i], N[:, j]) for j in range(2)] for i in range(2)])
        if not abs(np.linalg.det(Q)) > tolerances.singularity * np.max(np.abs(Q)) ** 2:
            return point
        move = back - N @ np.linalg.solve(Q, np.array([sigma[-1], 0.0]))
        y = y + move
        far = y - point.y
        if not float(np.sqrt(far @ far)) <= 3.0 * step:
            return point  # there is no singular point here
        if float(np.sqrt(move @ move)) <= 10 * EPS * (1.0 + float(np.max(np.abs(y)))):
            break
    return replace(point, x=curve.packed(y), y=y)
