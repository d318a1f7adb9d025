"""Whether a step can be trusted: its middle, evaluated on its own, against what its ends say."""

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from onesided.base.tolerances import Tolerances
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
from onesided.statics.curves.curve import Curve, CurvePoint
from onesided.statics.curves.factors import determinant
from onesided.statics.tracing.hits import PathWatch
from onesided.statics.tracing.inside import halfway
from onesided.statics.tracing.stretch import Middle

if TYPE_CHECKING:  # curves of large systems are made elsewhere
    from onesided.statics.curves.large import LargeCurve


def resolved(
    curve: Curve,
    a: CurvePoint,
    b: CurvePoint,
    before: tuple[float, float, float] | None,
    miss: float,
    watch: PathWatch,
) -> Middle | None:
    """The middle of a step, evaluated on its own, if that agrees with what its ends say; None if not.

    The path lies on the cubic through both ends, the determinant keeps away from zero, no gap or reaction dips below
    zero, p does not turn twice [the same as compiled: `path_steps`]. `before` are the volumes at the start and in the
    middle of the last step, and its length.
    """
    if curve.large:
        fine = _resolved_by_end(cast("LargeCurve", curve), a, b, miss, watch.tolerances)
        return Middle(math.nan, math.nan, b.t) if fine else None
    n, move, along = curve.n, b.y - a.y, a.t + b.t
    h, along = math.sqrt(move @ move), along / math.sqrt(along @ along)
    y = halfway(a, b)
    e = curve.evaluate(curve.packed(y))
    right = np.zeros((curve.size, 2), order="F")
    right[:-1, 0], right[-1, 1] = -curve.residual(e), 1.0
    solution, factors = curve.solve_bordered(e, along, right)
    orientation, volume = determinant(factors)
    delta, t, length = solution[:, 0], solution[:, 1], math.sqrt(solution[:, 1] @ solution[:, 1])
    regular = math.isfinite(a.volume) or math.isfinite(b.volume)  # it may be singular all along
    if not math.sqrt(delta @ delta) <= MIDDLE * miss * h or (regular and not math.isfinite(volume)):
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
        inside = margins + curve.margin_rates(e, delta)
        gaps = Triple(a.margins, h * a.rates, inside, h * rates, b.margins, h * b.rates)
        if falls_below(gaps, -watch.tolerances.residual):
            return None
    at_a, at_b = float(a.t[n]), float(b.t[n])
    p = Triple(float(a.y[n]), h * at_a, float(y[n] + delta[n]), h * float(t[n]), float(b.y[n]), h * at_b)
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
