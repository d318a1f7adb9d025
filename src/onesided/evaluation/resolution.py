"""Whether a step along a curve is resolved: what its middle says about everything in between.

A function of the step is known at both ends and in the middle, with slopes. Cubics on the two halves bound it; how far
the middle lies off the cubic over the whole step bounds their error. One code for NumPy and for compiled steps: `xp` is
the array namespace.
"""

import math
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from onesided.base.tolerances import EPS, HALF_DIGITS

FEW = 4  # functions up to which numbers one by one take less time than arrays
NOISE = 64.0  # roundings in the difference of two values
STEEP = 1.0  # error of a slope, per step, for an error of one in the middle; smooth functions have less than half of it
SHARP = 6.0  # error of a cubic on half a step, per misfit; |x|, turning a quarter of the step from one end, has 4
RISES, SLOPES = 1.0 + 0.75 * SHARP, 0.125 + 0.15625 * SHARP  # a rough bound on cubics and their errors [`stays_above`]
LARGE = 700.0  # its exponential is nearly too large for a number
DIP = 0.5  # the root of a determinant below this share of the mean of its values at both ends may have vanished


def _exp(x: float) -> float:
    return math.inf if x > LARGE else math.exp(x)


SCALARS = SimpleNamespace(  # the functions used here for single numbers: arrays of one take ten times as long
    exp=_exp,
    sqrt=math.sqrt,
    maximum=max,
    minimum=min,
    where=lambda condition, yes, no: yes if condition else no,
    clip=lambda x, low, high: min(max(x, low), high),
)


class Triple(NamedTuple):
    """Values at the start, in the middle and at the end of a step, and slopes there times the step."""

    a: Any
    slope_a: Any
    m: Any
    slope_m: Any
    b: Any
    slope_b: Any


def misfit(f: Triple) -> Any:
    """Distance of the middle from the cubic through both ends, in value and slope."""
    value = abs(f.m - (f.a + f.b) / 2 - (f.slope_a - f.slope_b) / 8)
    return value + abs(f.slope_m - 1.5 * (f.b - f.a) + (f.slope_a + f.slope_b) / 4) / 8


def _halves(f: Triple) -> tuple[tuple[Any, Any, Any, Any], tuple[Any, Any, Any, Any]]:
    return (f.a, f.slope_a / 2, f.m, f.slope_m / 2), (f.m, f.slope_m / 2, f.b, f.slope_b / 2)


def lowest(xp: Any, va: Any, ra: Any, vb: Any, rb: Any) -> Any:
    """Lowest value on [0, 1] of the cubic with values va, vb and slopes ra, rb at its ends."""
    lead, linear = 6 * (va - vb) + 3 * (ra + rb), 6 * (vb - va) - 4 * ra - 2 * rb  # slope: lead f² + linear f + ra
    root = xp.sqrt(xp.maximum(linear * linear - 4 * lead * ra, 0.0))
    under = linear + root  # where the slope rises through zero: f = −2 ra / (linear + root)
    f = xp.where(under > 0, -2 * ra / xp.where(under > 0, under, 1.0), 1.0)
    f = xp.clip(f, 0.0, 1.0)
    inside = ((lead / 3 * f + linear / 2) * f + ra) * f + va
    return xp.minimum(xp.minimum(va, vb), inside)


def _least_slope(xp: Any, va: Any, ra: Any, vb: Any, rb: Any) -> Any:
    """Least slope on [0, 1] of the same cubic."""
    lead, linear = 6 * (va - vb) + 3 * (ra + rb), 6 * (vb - va) - 4 * ra - 2 * rb
    f = xp.clip(xp.where(lead > 0, -linear / xp.where(lead > 0, 2 * lead, 1.0), 0.0), 0.0, 1.0)
    return xp.minimum(xp.minimum(ra, rb), (lead * f + linear) * f + ra)


def may_fall_below(xp: Any, f: Triple, floor: float) -> Any:
    """Whether a function that is above a floor at both ends may be below it in between.

    The error of the cubics on the halves of the step is 1/16 of the misfit where the function is smooth on the scale of
    the step: all of it is allowed for. Of one that turns sharply, as the distance from a thin obstacle does, it is four
    times the misfit.
    """
    first, second = _halves(f)
    turns = (xp.minimum(f.slope_a, f.slope_m) < 0) & (xp.maximum(f.slope_m, f.slope_b) > 0)
    error = xp.where(turns, SHARP, 1.0) * misfit(f)
    low = xp.minimum(lowest(xp, *first), lowest(xp, *second)) - error
    above = (f.a >= floor) & (f.b >= floor)
    return above & (low < floor) & (low < xp.minimum(f.a, f.b))


def stays_above(f: Triple, floor: float) -> bool:
    """Whether many functions are so far above a floor that `may_fall_below` is true of none, by a rough bound.

    With v = |m − a| + |b − m| and s = |slope_a| + 2 |slope_m| + |slope_b|: a cubic on [0, 1] is at most 4/27 of each
    slope at its ends below both its values there, so those on the halves are above m − v − 2/27 s; the misfit is no
    more than 11/16 v + 5/32 s.
    """
    slopes = abs(f.slope_a) + 2.0 * abs(f.slope_m) + abs(f.slope_b)
    values = abs(f.m - f.a) + abs(f.b - f.m)
    return bool((f.m - RISES * values - SLOPES * slopes >= floor).all())


def falls_below(f: Triple, floor: float) -> bool:
    """Whether one of many functions may fall below a floor; of few they are looked at one by one, which is faster."""
    if len(f.a) > FEW:
        return not stays_above(f, 0.0) and bool(may_fall_below(np, f, floor).any())
    for a, slope_a, m, slope_m, b, slope_b in zip(*(values.tolist() for values in f), strict=True):
        rough = RISES * (abs(m - a) + abs(b - m)) + SLOPES * (abs(slope_a) + 2.0 * abs(slope_m) + abs(slope_b))
        far = m - rough >= 0.0  # as `stays_above`
        if not far and may_fall_below(SCALARS, Triple(a, slope_a, m, slope_m, b, slope_b), floor):
            return True
    return False


def turns_back(f: Triple, sense: float, h: float) -> bool:
    """What `may_turn` says of one function; where slopes are far from zero a rough bound tells.

    The slope of a cubic on [0, 1] with slopes ra, rb at its ends, va and vb there, is ra (1 − x) + rb x + c x (1 − x)
    with c = 6 (vb − va) − 3 (ra + rb): nowhere below the lower of ra and rb by more than −c/4.
    """
    a, slope_a, m, slope_m, b, slope_b = f
    ra, rm, rb = 0.5 * sense * slope_a, 0.5 * sense * slope_m, 0.5 * sense * slope_b
    first, second = 1.5 * sense * (m - a) - 0.75 * (ra + rm), 1.5 * sense * (b - m) - 0.75 * (rm + rb)
    least = 2.0 * (min(ra, rm, rb) + min(first, second, 0.0))
    error = STEEP * misfit(f) + NOISE * EPS * (abs(a) + abs(b) + h)
    return not least > 2.0 * error and bool(may_turn(SCALARS, f, sense, h))


def may_turn(xp: Any, f: Triple, sense: Any, h: Any) -> Any:
    """Whether a function may turn back in between more often than slopes at both ends say, on a step of length h.

    Slopes are entries of unit tangents, times the step: below rounding of these they have no sense.
    """
    up = Triple(*(sense * value for value in f))
    first, second = _halves(up)
    least = 2 * xp.minimum(_least_slope(xp, *first), _least_slope(xp, *second))
    lower, noise = xp.minimum(up.slope_a, up.slope_b), NOISE * EPS * (abs(f.a) + abs(f.b) + h)
    error = STEEP * misfit(f) + noise
    twice = (lower > noise) & (least <= error) & (least < lower)
    thrice = (abs(up.slope_m) <= error) | _touches_zero(xp, *first, error / 2) | _touches_zero(xp, *second, error / 2)
    thrice |= (up.slope_b >= -error) | (up.slope_a <= error)
    return twice | ((up.slope_a > HALF_DIGITS * h) & (up.slope_b < -noise) & thrice)  # it may have turned at a


def _touches_zero(xp: Any, va: Any, ra: Any, vb: Any, rb: Any, error: Any) -> Any:
    """Whether the slope of a cubic on [0, 1] may have two zeros more there than its signs at both ends say."""
    lead, linear = 6 * (va - vb) + 3 * (ra + rb), 6 * (vb - va) - 4 * ra - 2 * rb
    turns = linear * (2 * lead + linear) < 0  # the slope has an extremum inside
    f = xp.where(turns, -linear / xp.where(turns, 2 * lead, 1.0), 0.0)
    extremum = (lead * f + linear) * f + ra
    beyond = xp.where(ra > 0, extremum, -extremum) <= error
    return turns & xp.where(ra * rb > 0, beyond, abs(extremum) <= error)


def may_vanish(xp: Any, a: Any, m: Any, b: Any, trend: Any) -> Any:
    """Whether a determinant of one sign at three places may vanish twice between them, close to the middle.

    Given are the logarithms of its sizes, and by how much they would change if they went on changing as on the step
    before: where many modes soften together, that is much, and as far as it goes on it is no sign of a zero. Near a
    double zero the root of a determinant is a straight line to either side: in the middle it is far below the mean of
    both ends. Growth or decay by any factor over the whole step that is not extreme is not.
    """
    known = xp.where(abs(trend) < math.inf, trend, 0.0)
    along = xp.clip(b - a, xp.minimum(known, 0.0), xp.maximum(known, 0.0))
    m, b = m - along / 2, b - along
    top = xp.maximum(a, b)
    return 2 * xp.exp((m - top) / 2) < DIP * (xp.exp((a - top) / 2) + xp.exp((b - top) / 2))


def heads_for_zero(xp: Any, before: tuple[Any, Any, Any], ratio: Any) -> Any:
    """Whether a determinant should vanish on the next step, longer by `ratio`, going by its sizes on the last one.

    The root of it, straight near a double zero, is extrapolated by a parabola; by a line where its value in the
    middle is not known.
    """
    a, m, b = (xp.exp((value - before[0]) / 2) for value in before)
    m = xp.where(abs(m) < math.inf, m, (a + b) / 2)
    bend, slope = 2 * (a + b - 2 * m), 4 * m - 3 * a - b
    end = 1.0 + ratio
    lowest = xp.clip(xp.where(bend > 0, -slope / xp.where(bend > 0, 2 * bend, 1.0), end), 1.0, end)
    return xp.minimum((bend * end + slope) * end + a, (bend * lowest + slope) * lowest + a) <= 0.0


def integrals(h: Any, d1: Any, d2: Any) -> tuple[Any, Any, Any, Any]:
    """Integrals over a step of 1, τ, τ (τ + d₁), τ (τ + d₁)(τ + d₂): Newton's polynomials of the tangents."""
    return h, h**2 / 2, h**3 / 3 + d1 * h**2 / 2, h**4 / 4 + (d1 + d2) * h**3 / 3 + d1 * d2 * h**2 / 2
