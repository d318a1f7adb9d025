"""By what a gap is measured along a leg: what counts as zero of it must not depend on how it is stated.

A gap g and a monotone function f(g) of it close together, though f may be far steeper, or flatter, where a leg starts.
"""

from dataclasses import replace

import numpy as np

from onesided.base.tolerances import EPS
from onesided.base.types import Array, Mask
from onesided.statics.curves.curve import Curve, CurvePoint

OUTDATED = 4.0  # ratio of the size of a gap to that by which it is measured
NEAR_ZERO = EPS**0.1875  # share of its size below which a gap keeps its measure: its slope may vanish with it


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
