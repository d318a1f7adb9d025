"""Events inside one step: which conditions changed between two points of a curve, and where exactly.

A step from a to b is examined for gaps that closed, reactions that vanished, bounds of p, a change of the sign of ṗ,
and a change of inertia that ṗ does not explain. Cubic interpolation orders what happened; the steps see to it that
nothing happened twice.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from onesided._types import Array
from onesided.statics.active_set import rounding
from onesided.statics.curve import Closed, Correction, Curve, Plane, Point, Points, make_point, newton
from onesided.statics.spectrum import NEAR, InseparableError, Split, soft_modes, split, stiffness_on
from onesided.tolerances import EPS, Tolerances

UserEvents = Mapping[str, Callable[[Array, float], float]]
NONE: Mapping[str, float] = {}
FLAT = EPS**0.7  # a scaled margin at a sharp point that is zero but for round-off
COARSE = EPS**0.2  # share of the step to which a singular point is bracketed before its own equations are solved
SOFT = 6  # soft modes at either end of a step that are looked at
CLOSE = EPS**0.3  # modes this soft, relative to the reference, are taken to vanish together


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


def uneventful(curve: Curve, points: Points, watch: Watch) -> Array:
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
    calm &= (signs[0] >= 0) & (signs[1] != 0) & (signs[2] != 0) & (low <= p) & (p <= high)
    if points.margins.shape[1]:
        away = abs(points.margins) > watch.tolerances.gap
        calm[1:] &= (away[1:] == away[:-1]).all(axis=1)
        between_both = (~away & (abs(points.margins) > FLAT)).any(axis=1)
        calm[1:] &= ~(between_both[1:] | between_both[:-1])
        calm &= (points.margins >= -watch.tolerances.residual).all(axis=1)
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
                found.t = _between_tangents(a, b)  # its own is that of a singular matrix
                found = refine_singular(curve, found, b.s - a.s, watch.tolerances)
            if found is not None and _inside(a, b, found):
                return found
        return None
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
            point.t = point.t if _regular(found, a, b) else _between_tangents(a, b)
            return point
    middle = between(curve, a, b, 0.5)
    if middle is None or depth == 0:
        return None
    left, right = (a, middle) if _value(curve, middle, hit) < 0 else (middle, b)
    va, vb = abs(_value(curve, left, hit)), abs(_value(curve, right, hit))
    return _solve_border(curve, left, right, replace(hit, fraction=va / (va + vb) if va + vb > 0 else 0.5), depth - 1)


def _regular(found: Correction, a: Point, b: Point) -> bool:
    """Whether the bordered matrix at a point is about as regular as at the ends of its step."""
    usual = max((v for v in (a.volume, b.volume) if math.isfinite(v)), default=found.volume)
    return bool(found.volume > usual + 0.5 * math.log(EPS))


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


def first_singular(curve: Curve, a: Point, b: Point, tolerances: Tolerances) -> Point | None:
    """The first singular point of a step, of all modes that cross zero in it, in either sense; None if there is none.

    On the soft modes of both ends the stiffness is taken to change linearly: (1 − θ)K_a + θK_b is singular for the
    eigenvalues θ of (K_a − K_b)⁻¹K_a. From there the equations of the singular point are solved.
    """
    try:
        fractions = _crossings(curve, a, b, tolerances)
    except InseparableError:
        return None
    for fraction in fractions or [0.5]:  # a mode may touch zero: a fork seen from its branch
        guess = replace(a, y=interpolate(a, b, fraction), s=a.s + fraction * (b.s - a.s), t=_between_tangents(a, b))
        found = refine_singular(curve, replace(guess, x=curve.packed(guess.y)), b.s - a.s, tolerances)
        if found is not None and _inside(a, b, found):
            along = _between_tangents(a, b)
            return replace(found, s=a.s + float(along @ (found.y - a.y)))
    return None


def next_singular(curve: Curve, point: Point, tolerances: Tolerances) -> float:
    """Distance along the tangent at which the next soft mode should vanish, from the rates of all of them."""
    try:
        parts = split(curve, point.x, tolerances)
    except InseparableError:
        return math.inf
    count = len(parts.linear)
    if not count:
        return math.inf
    rates = np.diagonal(parts.tests.T @ _second(curve, point.x, point.t, parts.span[:, :count]))
    kappa = np.diagonal(parts.linear)
    ahead = (np.abs(kappa) > parts.floor) & (kappa * rates < 0)
    return float(np.min(np.abs(kappa[ahead] / rates[ahead]), initial=math.inf))


def _crossings(curve: Curve, a: Point, b: Point, tolerances: Tolerances) -> list[float]:
    """Fractions of a step at which soft modes cross zero, in order, if stiffness changes linearly on them."""
    ends = [curve.evaluate(point.x) for point in (a, b)]
    chosen = [soft_modes(curve, e, SOFT, tolerances) for e in ends]
    basis, sigma, _ = np.linalg.svd(np.hstack(chosen) / np.linalg.norm(np.hstack(chosen), axis=0), full_matrices=False)
    basis = basis[:, sigma > NEAR * sigma[0]] if len(sigma) else basis
    A, B = (stiffness_on(curve, e, basis) for e in ends)
    roots = np.linalg.eigvals(np.linalg.lstsq(A - B, A, rcond=None)[0]) if len(A) else np.zeros(0)
    real = np.abs(roots.imag) <= EPS**0.5
    return sorted(float(r.real) for r in roots[real] if 0.0 < r.real < 1.0)


def _inside(a: Point, b: Point, c: Point) -> bool:
    """Whether a point lies between two others, along the mean of their tangents."""
    along = _between_tangents(a, b)
    return float(along @ (a.y - c.y)) <= 0.0 <= float(along @ (b.y - c.y))


def root_between(curve: Curve, a: Point, b: Point, function: Callable[[Point], float], width: float) -> Point | None:
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
        done = abs(z - y) <= width or abs(fz) <= 4 * EPS
        y, fy = z, fz
        if done:
            break
    return best


def refine_singular(curve: Curve, point: Point, step: float, tolerances: Tolerances) -> Point | None:
    """Move a nearly singular point to where J loses rank exactly; None where there is no such point near."""
    try:
        close = int(np.count_nonzero(np.abs(split(curve, point.x, tolerances).kappa) <= CLOSE))
        for keep in dict.fromkeys((max(close, 1), 1)):
            refined = _refine(curve, point, step, tolerances, keep)
            if refined is not None and _singular_equilibrium(curve, refined, tolerances):
                return refined
    except InseparableError:
        return None
    return None


def _singular_equilibrium(curve: Curve, point: Point, tolerances: Tolerances) -> bool:
    """Whether the point is an equilibrium at which J loses rank."""
    e = curve.evaluate(point.x)
    error = float(np.max(np.abs(curve.residual(e)), initial=0.0))
    allowed = max(tolerances.residual, rounding(e, point.x, curve.sizes, curve.scales))
    return error <= allowed and split(curve, point.x, tolerances).N.shape[1] > 1


def _refine(curve: Curve, point: Point, step: float, tolerances: Tolerances, keep: int) -> Point | None:
    """Gauss–Newton on zᵀJ v = 0 for all v and z of the singular space of `keep` modes and the response to p.

    These are more equations than unknowns unless `keep` is one; symmetry makes them consistent. The rest of the
    residual is removed outside that space, so that rounding does not lead away from a symmetric path.
    """
    y = point.y
    parts: Split | None = None
    for _ in range(12):
        x = curve.packed(y)
        e = curve.evaluate(x)
        if not e.finite():
            return None
        parts = split(curve, x, tolerances, keep=keep, like=parts)
        back = -parts.regular(curve.residual(e))
        second = [_second(curve, x, v, parts.span).T @ parts.tests for v in (back, *parts.span.T)]
        matrix = np.stack([block.ravel() for block in second[1:]], axis=1)
        right = (parts.linear.T + second[0]).ravel()
        move = back - parts.span @ np.linalg.lstsq(matrix, right, rcond=EPS**0.5)[0]
        y = y + move
        far = y - point.y
        if not float(np.sqrt(far @ far)) <= 3.0 * step:
            return None  # there is no singular point here
        if float(np.max(np.abs(move) / (1.0 + np.abs(y)))) <= 10 * EPS:
            break
    return replace(point, x=curve.packed(y), y=y)


def _second(curve: Curve, x: Array, u: Array, columns: Array) -> Array:
    """Scaled R''(u, v) for the columns v, by polarisation of unit vectors."""
    size = math.sqrt(u @ u)
    if size == 0.0:
        return np.zeros((curve.size - 1, columns.shape[1]))
    lengths = np.linalg.norm(columns, axis=0)
    unit, n = u / size, curve.n

    def form(v: Array) -> Array:
        raw = curve.system.along(x, curve.packed(v), 2)
        return np.asarray(np.concatenate([raw[:n], raw[n + curve.rows]]) / curve.weight)

    values = [form(unit + v) - form(unit - v) for v in (columns / lengths).T]
    return np.asarray(np.stack(values, axis=1) * (size * lengths / 4.0))
