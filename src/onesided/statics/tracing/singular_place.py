"""Where J loses rank, by moves that climb no walls: amplitudes of soft modes and of the response to p are the unknowns.

A straight move along a mode stretches what is stiff, and J there says nothing of the path: after each move the other
equations are solved with all amplitudes held [`Reduced`].
"""

import math

import numpy as np

from onesided.base.tolerances import EPS, HALF_DIGITS, Tolerances
from onesided.base.types import Array
from onesided.statics.curves.curve import Curve
from onesided.statics.curves.spectrum import Split, second, split
from onesided.statics.rays.reduced import Reduced

ROUNDS = 12  # of Newton's method
SETTLED = EPS**0.1875  # moves below this share of the way that no longer fall are those of rounding
HALVES = 4  # how often a move that cannot be relaxed is halved


def singular_place(curve: Curve, start: Array, keep: int, far: float, tolerances: Tolerances) -> Array | None:
    """Newton's method on zᵀJ v = 0 for the `keep` softest modes z and for v of these modes and the response to p.

    It ends where moves are those of round-off; None where it leads further than `far`, or nowhere.
    """
    y, previous, parts = start, math.inf, None
    for _ in range(ROUNDS):
        parts = split(curve, curve.packed(y), tolerances, keep=keep, like=parts)
        move = _amplitudes(curve, y, parts)
        length, distance = float(np.linalg.norm(parts.span @ move)), float(np.linalg.norm(y - start))
        small = length <= SETTLED * max(distance, HALF_DIGITS)
        if length <= EPS or (small and length >= 0.5 * previous):
            return y
        if not distance <= far:
            return None
        moved = _relaxed(reduced_at(curve, y, parts), move)
        if moved is None:
            return y if small else None
        y, previous = moved, length
    return None


def _amplitudes(curve: Curve, y: Array, parts: Split) -> Array:
    """Amplitudes of the modes and of p at which J loses rank, by its derivatives; columns may differ much in size."""
    x = curve.packed(y)
    back = -parts.regular(curve.residual(curve.evaluate(x)))
    bends = [(second(curve, x, v, parts.span).T @ parts.tests).ravel() for v in (back, *parts.span.T)]
    matrix, right = np.stack(bends[1:], axis=1), parts.linear.T.ravel() + bends[0]
    sizes = np.linalg.norm(matrix, axis=0)
    if not np.all(np.isfinite(sizes)) or not np.all(sizes > 0):
        return np.full(len(sizes), np.nan)
    return np.asarray(-np.linalg.lstsq(matrix / sizes, right, rcond=HALF_DIGITS)[0] / sizes)


def reduced_at(curve: Curve, y: Array, parts: Split) -> Reduced:
    """The reduced problem in the amplitudes of the modes and of p."""
    N, Z = parts.span, np.linalg.qr(parts.tests)[0]
    return Reduced(curve, curve.packed(y), N, np.linalg.pinv(N), Z, parts.borders, np.ones(N.shape[1]))


def _relaxed(reduced: Reduced, move: Array) -> Array | None:
    """The point with amplitudes that differ by a move, or by a part of it."""
    for share in 0.5 ** np.arange(HALVES):
        reached = reduced.at(share * move)
        if reached is not None:
            return reached.y
    return None
