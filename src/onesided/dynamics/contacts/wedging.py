"""Forces of contacts that stick only because they press each other: bodies wedged between surfaces, as in a corner.

How such contacts share their forces is a choice. Where the share of equally compliant ones (`sharing`) is beyond
Coulomb's limits, but other forces within them hold the bodies, they stick; the forces given are the least that stay
clear of all limits: with the margins m = μ N − |T|, N for contacts without friction, the minimum of

    ½ |P|²/f² − Σ log(m/f)/16,   Aᵀ P = Aᵀ P₀,

whose logarithms go on as parabolas below m = δ f, δ → 0. Where nothing fits, a margin is negative: it passes zero when
the last forces that fit are gone.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from onesided.base.tolerances import DEFAULT, HALF_DIGITS
from onesided.base.types import Array, Indices
from onesided.complementarity import kernels
from onesided.linalg import null_space

EDGES = 0.1 ** np.arange(9.0)  # δ, relative to the largest force; |T| is rounded by it
DIRECTIONS = 2  # of slip, at most


class Limit(NamedTuple):
    """Coulomb's limit of one contact: place of its normal force, coefficient, places of friction; none without it."""

    normal: int
    friction: float
    slips: list[int]

    def margin(self, mu: Array) -> float:
        """μ N − |T|, or N."""
        if not self.slips:
            return float(mu[self.normal])
        return self.friction * float(mu[self.normal]) - float(np.linalg.norm(mu[self.slips]))


def beyond(mu: Array, limits: Sequence[Limit]) -> list[Limit]:
    """The limits that forces exceed, where one is exceeded by more than round-off."""
    margins = [limit.margin(mu) for limit in limits]
    none = HALF_DIGITS * float(np.max(np.abs(mu), initial=0.0))
    if not min(margins, default=0.0) < -none:
        return []
    return [limit for limit, margin in zip(limits, margins, strict=True) if margin < 0.0]


def clear(mu: Array, limits: Sequence[Limit]) -> bool:
    """Whether forces are within all limits by more than round-off."""
    none = HALF_DIGITS * float(np.max(np.abs(mu), initial=0.0))
    return bool(min((limit.margin(mu) for limit in limits), default=0.0) > none)


def clear_of_limits(found: Array, G: Array, free: Indices, joints: Indices, limits: Sequence[Limit]) -> Array:
    """Forces in balance with those found, changed in the rows `free`, as clear of all limits as they can be."""
    A = G[free] @ null_space(G[joints])
    size = float(np.max(np.abs(found[free]), initial=0.0))
    _, sigma, Vt = np.linalg.svd(A.T)
    ways = Vt[int(np.count_nonzero(sigma > np.sqrt(DEFAULT.rank) * np.max(sigma, initial=0.0))) :].T
    if size == 0.0 or not ways.shape[1]:
        return found
    cones = _cones(limits, {int(row): k for k, row in enumerate(free)})
    P = kernels.stuck_forces.clear_of_all(cones, found[free] / size, np.ascontiguousarray(ways), EDGES)
    shared = found.copy()
    shared[free] = size * P
    if len(joints):
        left = G.T @ found - G[free].T @ shared[free]
        others = np.setdiff1d(np.arange(len(G)), np.concatenate([free, joints]))
        left = left - G[others].T @ shared[others]
        shared[joints] = np.linalg.lstsq(G[joints].T, left, rcond=DEFAULT.rank)[0]
    return shared


def _cones(limits: Sequence[Limit], places: Mapping[int, int]) -> tuple[Indices, Array, Indices]:
    """Places of normal forces, coefficients (margins of contacts without friction are N) and places of friction."""
    slips = np.full((len(limits), DIRECTIONS), -1, dtype=np.intp)
    for row, limit in zip(slips, limits, strict=True):
        row[: len(limit.slips)] = [places[r] for r in limit.slips]
    normal = np.array([places[limit.normal] for limit in limits], dtype=np.intp)
    return normal, np.array([limit.friction if limit.slips else 1.0 for limit in limits]), slips
