"""Whether a straight way between two configurations keeps clear of what is open at both of them."""

import numpy as np

from onesided.base.tolerances import DEFAULT, HALF_DIGITS
from onesided.base.types import Mask
from onesided.evaluation.resolution import Triple, may_fall_below
from onesided.statics.equilibria.settling import LocalModel

GRAZED = HALF_DIGITS  # share of the way that a gap may be violated by: round-off where it has just opened


def keeps_clear(a: LocalModel, b: LocalModel, closed: Mask) -> bool:
    """Whether no gap closes and opens again on the way from a to b, those of closed constraints left out.

    Gaps are bounded by cubics on the two halves of the way, and by how far the middle lies off the whole one.
    """
    k, d = a.problem.k, b.z - a.z
    open_ = ~closed & (np.minimum(a.c, b.c) > DEFAULT.gap)
    open_[:k] = False
    if not open_.any():
        return True
    slope_a, slope_b = a.rates(d)[open_], b.rates(d)[open_]
    middle = a.problem.forces(a.z + 0.5 * d, a.problem.none)[1][open_]
    slope = 1.5 * (b.c - a.c)[open_] - (slope_a + slope_b) / 4
    gaps = Triple(a.c[open_], slope_a, middle, slope, b.c[open_], slope_b)
    floor = -GRAZED * float(np.max(np.abs(d), initial=0.0))
    return not bool(np.any(may_fall_below(np, gaps, floor) | ~np.isfinite(middle)))
