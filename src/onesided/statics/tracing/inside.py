"""Points inside a step of a curve: interpolated, corrected, where a function of them vanishes.

The middle of a step, evaluated on its own, says whether the step can be trusted (`resolved`).
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np

from onesided.base.tolerances import EPS, HALF_DIGITS, Tolerances
from onesided.base.types import Array, Indices
from onesided.evaluation.path_steps import MIDDLE
from onesided.evaluation.resolution import (
    SCALARS,
    Triple,
    falls_below,
    heads_for_zero,
    may_fall_below,
    may_turn,
    may_vanish,
    turns_back,
)
from onesided.statics.curves.corrections import Correction, Plane, make_point, newton, newton_step
from onesided.statics.curves.curve import Curve, CurvePoint

if TYPE_CHECKING:  # curves of large systems are made elsewhere
    from onesided.statics.curves.large import LargeCurve

BESIDE = 0.25  # square of the share of its turn by which the middle of a step may head elsewhere than its ends
FALLS = 0.9  # share of a value below which the next one has fallen


class Middle(NamedTuple):
    """The middle of a step: arc length (NaN where it is not known), volume, unit tangent, slope of the energy."""

    s: float
    volume: float
    t: Array
    slope: float = math.nan


class StepEnds(Protocol):
    """A step, whatever else is known of it."""

    @property
    def a(self) -> CurvePoint:
        """Point at which the step begins."""

    @property
    def b(self) -> CurvePoint:
        """Point at which the step ends."""


def between(curve: Curve, a: CurvePoint, b: CurvePoint, fraction: float, *, inertia: bool = True) -> CurvePoint | None:
    """The point of the curve at a fraction of the step, corrected; None where Newton fails."""
    h = b.s - a.s
    guess = interpolate(a, b, fraction)
    along = a.t + b.t
    along = along / np.sqrt(along @ along)
    found = newton(curve, guess, Plane(along, float(along @ guess)), target=EPS, limit=12, reach=h)
    return make_point(curve, found, along, a.s + fraction * h, inertia=inertia) if found.converged else None


def interpolate(a: CurvePoint, b: CurvePoint, fraction: Any) -> Array:
    """Cubic Hermite interpolation of the scaled unknowns; for many fractions, a column, a row each."""
    f, h = fraction, b.s - a.s
    square = f * f
    late, left, right = square * (3.0 - 2.0 * f), h * f * (1.0 - f) ** 2, h * square * (f - 1.0)
    return np.asarray(a.y + late * (b.y - a.y) + left * a.t + right * b.t)


def spread(counts: Indices) -> tuple[Indices, Array]:
    """Numbers of the steps of all places, and the fractions of these at which they are."""
    owner = np.repeat(np.arange(len(counts)), counts)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    return owner, np.asarray((np.arange(len(owner)) - first + 1.0) / (counts[owner] + 1.0))


def halfway(a: CurvePoint, b: CurvePoint) -> Array:
    """Scaled unknowns in the middle of the cubic through both ends with their tangents."""
    return np.asarray(0.5 * (a.y + b.y) + (0.125 * (b.s - a.s)) * (a.t - b.t))


def mean_tangent(a: CurvePoint, b: CurvePoint) -> Array:
    """Unit vector half-way between the tangents of two points."""
    along = a.t + b.t
    return np.asarray(along / np.sqrt(along @ along))


def is_inside(a: CurvePoint, b: CurvePoint, c: CurvePoint) -> bool:
    """Whether a point lies between two others, along the mean of their tangents."""
    along = mean_tangent(a, b)
    return float(along @ (a.y - c.y)) <= 0.0 <= float(along @ (b.y - c.y))


def root_between(
    curve: Curve, a: CurvePoint, b: CurvePoint, function: Callable[[CurvePoint], float], width: float
) -> CurvePoint | None:
    """Regula falsi on corrected points, to round-off, with the modification of Anderson and Björck.

    The end that is kept counts for less, by how much the function fell at the other: of order 1.7. Values that have
    become small and no longer fall are noise. One that jumps through zero is small nowhere: the last place tells.
    """
    (x, fx), (y, fy) = (0.0, function(a)), (1.0, function(b))
    best = middle = None
    if abs(fx) <= 4 * EPS and fy:
        return replace(a)
    if not fx * fy < 0:
        return None
    noise, smallest, worse = HALF_DIGITS * max(abs(fx), abs(fy)), np.inf, 0
    for _ in range(80):
        z = (x * fy - y * fx) / (fy - fx)
        middle = between(curve, a, b, z, inertia=False)
        if middle is None:
            return best
        fz = function(middle)
        worse = 0 if abs(fz) < FALLS * smallest else worse + 1
        best, smallest = (middle, abs(fz)) if abs(fz) < smallest else (best, smallest)
        less = 1.0 - fz / fy
        (x, fx) = (y, fy) if fz * fy < 0 else (x, fx * (less if less > 0 else 0.5))
        done = abs(z - y) <= width or abs(fz) <= 4 * EPS or (worse > 1 and smallest <= noise)
        y, fy = z, fz
        if done:
            break
    return best if smallest <= noise else middle


def resolved(
    curve: Curve,
    a: CurvePoint,
    b: CurvePoint,
    before: tuple[float, float, float] | None,
    miss: float,
    tolerances: Tolerances,
) -> Middle | None:
    """The middle of a step, evaluated on its own, if that agrees with what its ends say; None if not.

    The path lies on the cubic through both ends, the determinant keeps away from zero, no gap or reaction dips below
    zero, p does not turn twice [the same as compiled: `path_steps`]. `before` are the volumes at the start and in the
    middle of the last step, and its length.
    """
    if curve.large:
        fine = _resolved_by_end(cast("LargeCurve", curve), a, b, miss, tolerances)
        return Middle(math.nan, math.nan, b.t) if fine else None
    move, along = b.y - a.y, a.t + b.t
    h, along = math.sqrt(move @ move), along / math.sqrt(along @ along)
    start = y = halfway(a, b)
    turn = b.t - a.t
    for last in (False, True):
        found = newton_step(curve, y, along)
        delta = found.y - start
        if math.sqrt(delta @ delta) <= MIDDLE * miss * h and (last or _heads(found.tangent, along, turn)):
            middle = _agrees(curve, (a, b, h), before, (y, found), tolerances)
            if middle is not None:
                return middle
        y = found.y
    return None


def _heads(tangent: Array, along: Array, turn: Array) -> bool:
    """Whether a tangent in the middle of a step is about the mean of those at its ends, which differ by a turn.

    One that is not may be that of a place up the walls of a curved valley, not of the path.
    """
    aside = tangent / math.sqrt(tangent @ tangent)
    aside = aside - math.copysign(1.0, float(aside @ along)) * along
    return bool(aside @ aside <= BESIDE * (turn @ turn) + HALF_DIGITS)


def _agrees(
    curve: Curve,
    step: tuple[CurvePoint, CurvePoint, float],
    before: tuple[float, float, float] | None,
    inside: tuple[Array, Correction],
    tolerances: Tolerances,
) -> Middle | None:
    """The middle of a step of length h as one correction of a place there tells it, if that agrees with its ends."""
    (a, b, h), (y, found), n = step, inside, curve.n
    e, t, orientation, volume = found.e, found.tangent, found.orientation, found.volume
    delta, length = found.y - y, math.sqrt(t @ t)
    regular = math.isfinite(a.volume) or math.isfinite(b.volume)  # it may be singular all along
    if regular and not math.isfinite(volume):
        return None
    t, volume = t / length, volume + math.log(length)
    if a.orientation * b.orientation > 0:
        start, middle, ratio = (a.volume, math.nan, 1.0) if before is None else (*before[:2], h / before[2])
        if a.orientation != orientation or heads_for_zero(SCALARS, (start, middle, a.volume), ratio):
            return None
        if may_vanish(SCALARS, a.volume, volume, b.volume, ratio * (a.volume - start)):
            return None
    margins, rates = curve.margins(e, y, t)
    if len(margins):
        inside_margins = margins + curve.margin_rates(e, delta)
        gaps = Triple(a.margins, h * a.rates, inside_margins, h * rates, b.margins, h * b.rates)
        if falls_below(gaps, -tolerances.residual):
            return None
    at_a, at_b = float(a.t[n]), float(b.t[n])
    p = Triple(float(a.y[n]), h * at_a, float(found.y[n]), h * float(t[n]), float(b.y[n]), h * at_b)
    if turns_back(p, math.copysign(1.0, at_a), h):
        return None
    return Middle((a.s + b.s) / 2, volume, t, e.L_p * float(curve.unit[n] * t[n]))


def _resolved_by_end(curve: "LargeCurve", a: CurvePoint, b: CurvePoint, miss: float, tolerances: Tolerances) -> bool:
    """The same for large systems with the factorisation at b: the middle costs a residual and one solve.

    Slopes in the middle are not known; they are taken from the cubics through both ends.
    """
    n, k, move, along = curve.n, curve.k, b.y - a.y, a.t + b.t
    h, e = math.sqrt(move @ move), curve.kkt_matrix.held(curve.rows)
    if e is None:
        return True
    y = halfway(a, b)
    _, L_q, c = curve.system.residual_packed(curve.packed(y))
    R = np.concatenate([L_q, c[curve.rows]]) / curve.weight
    delta = curve.border(along / math.sqrt(along @ along)).solve(-R, 0.0, refine=False)
    if not math.sqrt(delta @ delta) <= MIDDLE * miss * h:
        return False
    gap, closed = curve.scales.gap[k:], curve.rows[k:] - k
    margins = c[k:] / gap + curve.gap_rates(e, delta) / gap if len(gap) else c[k:]
    margins[closed] = (y + delta)[n + 1 + k :]
    gaps = _by_cubic(a.margins, h * a.rates, margins, b.margins, h * b.rates)
    if len(margins) and may_fall_below(np, gaps, -tolerances.residual).any():
        return False
    p = _by_cubic(a.y[n], h * a.t[n], y[n] + delta[n], b.y[n], h * b.t[n])
    return not may_turn(np, p, np.sign(a.t[n]), h)


def _by_cubic(a: Any, slope_a: Any, m: Any, b: Any, slope_b: Any) -> Triple:
    """Values at three places with the slope in the middle from the cubic through both ends."""
    return Triple(a, slope_a, m, 1.5 * (b - a) - (slope_a + slope_b) / 4, b, slope_b)
