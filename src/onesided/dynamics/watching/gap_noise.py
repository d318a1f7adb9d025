"""How large the numbers are that gaps are computed from, constants in them too: from the noise of their values.

A gap √((x − x₀)² + (y − y₀)²) − r is rounded like its largest number, which may be r or x₀ and not a coordinate. Along
a line, high differences of a smooth function vanish, and those of its round-off are left; round-off is what does not
shrink when the places are set closer (the smooth part does, and so does a kink).
"""

import math

import numpy as np

from onesided.base.tolerances import EPS
from onesided.base.types import Array, Mask
from onesided.dynamics.watching.watched import FEW, sums
from onesided.system.equations import Equations

ORDER, LINE = 6, 9  # of the differences; places on the line
SPACINGS = np.array([2.0**-k for k in range(20, 41, 3)])  # of the places, relative to lengths of the coordinates
SAME = 4.0  # times smaller at most: noise of two spacings that is the same
WEIGHTS = np.array([(-1.0) ** k * math.comb(ORDER, k) for k in range(ORDER + 1)])
SPREAD = math.sqrt(math.comb(2 * ORDER, ORDER))  # of a difference, for noise of one


def find_gap_terms(equations: Equations, t: float, q: Array, sizes: Array) -> None:
    """Keep in the equations how large the numbers are that each gap is made of, where they exceed the coordinates."""
    if not len(equations.gap_terms):
        return
    lengths = _lengths(equations, t, q, sizes)
    found, still = _gap_terms(equations, t, q, lengths)
    if still.any():  # places so close that rounded gaps are the same
        found = np.where(still, _gap_terms(equations, t, q, lengths / SPACINGS[0])[0], found)
    equations.gap_terms[:] = found


def _gap_terms(equations: Equations, t: float, q: Array, lengths: Array) -> tuple[Array, Mask]:
    """Sizes of the numbers in each gap, zero where they are the coordinates'; and where the gap did not change.

    From places on a line, whose distances are `SPACINGS` of the lengths.
    """
    rng = np.random.default_rng(1)
    way = lengths * rng.uniform(0.5, 1.0, len(q))  # not a round number in any sense
    places = np.outer(SPACINGS, np.arange(LINE) - LINE // 2).reshape(-1, 1)
    signs = rng.choice([-1.0, 1.0], len(q))
    line = equations.space.retract(np.broadcast_to(q, (len(places), len(q))), places * way * signs)
    values = equations.gaps_along(np.full(len(line), t), line).reshape(len(SPACINGS), LINE, -1)
    differences = np.array([WEIGHTS @ values[:, k : k + ORDER + 1] for k in range(LINE - ORDER)]) / SPREAD
    with np.errstate(invalid="ignore"):
        noise = np.sqrt(np.mean(differences**2, axis=0))
        stays = (noise[:-1] <= SAME * noise[1:]) & (noise[1:] > 0.0)
    found = np.min(np.where(stays, noise[1:], np.inf), axis=0) / EPS
    equations.gap_terms[:] = 0.0
    at, along = sums(equations, t, q, way)
    large = np.isfinite(found) & (found > at + LINE * SPACINGS[0] * along)  # not of the coordinates
    return np.where(large, SAME * found, 0.0), np.all(np.ptp(values[len(SPACINGS) // 2 :], axis=1) == 0.0, axis=0)


def _lengths(equations: Equations, t: float, q: Array, sizes: Array) -> Array:
    """Changes of each coordinate that change no gap by more than the size of its terms."""
    if equations.n > FEW:
        return sizes
    slopes = np.abs(equations.gap_slopes(t, q, np.eye(equations.n)))
    terms = slopes @ np.abs(q) + np.abs(equations.gaps(t, q))
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where((slopes > 0.0) & (terms > 0.0)[:, None], terms[:, None] / slopes, np.inf)
    return np.asarray(np.minimum(sizes, np.min(own, axis=0)))
