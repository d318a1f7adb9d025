"""Forces of contacts that stick only because they press each other: bodies wedged between surfaces, as in a corner.

How such contacts share their forces is a choice. Where the share of equally compliant ones (`sharing`) is beyond
Coulomb's limits, but other forces within them hold the bodies, they stick; the forces given are the least that stay
clear of all limits: with the margins m = μ N − |T|, N for contacts without friction, the minimum of

    ½ |P|²/f² − Σ log(m/f)/16,   Aᵀ P = Aᵀ P₀,

whose logarithms go on as parabolas below m = δ f, δ → 0. Where nothing fits, a margin is negative: it passes zero when
the last forces that fit are gone.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from onesided.base.tolerances import DEFAULT, EPS, HALF_DIGITS
from onesided.base.types import Array, Indices
from onesided.linalg import null_space

CLEARLY = 1.0 / 16.0  # weight of the logarithms
EDGES = tuple(0.1**k for k in range(9))  # δ, relative to the largest force; |T| is rounded by it
NEWTON, FLAT, HALVINGS = 40, 64.0 * EPS, 40  # steps for each of them; gain of a step that is none


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


def clear_of_limits(found: Array, G: Array, free: Indices, joints: Indices, limits: Sequence[Limit]) -> Array:
    """Forces in balance with those found, changed in the rows `free`, as clear of all limits as they can be."""
    A = G[free] @ null_space(G[joints])
    size = float(np.max(np.abs(found[free]), initial=0.0))
    _, sigma, Vt = np.linalg.svd(A.T)
    ways = Vt[int(np.count_nonzero(sigma > np.sqrt(DEFAULT.rank) * np.max(sigma, initial=0.0))) :].T
    if size == 0.0 or not ways.shape[1]:
        return found
    places = {int(row): k for k, row in enumerate(free)}
    cones = _Cones([Limit(places[n], c, [places[r] for r in slips]) for n, c, slips in limits], len(free))
    P: Array = found[free] / size
    for edge in EDGES:
        P = _least(cones, P, ways, edge)
    shared = found.copy()
    shared[free] = size * P
    if len(joints):
        left = G.T @ found - G[free].T @ shared[free]
        others = np.setdiff1d(np.arange(len(G)), np.concatenate([free, joints]))
        left = left - G[others].T @ shared[others]
        shared[joints] = np.linalg.lstsq(G[joints].T, left, rcond=DEFAULT.rank)[0]
    return shared


class _Cones:
    """Margins of all limits with their derivatives."""

    def __init__(self, limits: Sequence[Limit], size: int) -> None:
        self.limits, self._unit = limits, np.eye(size)
        self._places = [np.array([limit.normal, *limit.slips]) for limit in limits]
        self._blocks = [np.ix_(places, places) for places in self._places]

    def value(self, P: Array, edge: float) -> float:
        """½ |P|² plus the extended logarithms."""
        total, p = 0.5 * float(P @ P), P.tolist()
        for normal, friction, slips in self.limits:
            margin = friction * p[normal] - math.hypot(edge, *(p[i] for i in slips)) if slips else p[normal]
            total += CLEARLY * _barrier(margin, edge)[0]
        return total

    def derivatives(self, P: Array, edge: float) -> tuple[Array, Array]:
        """First and second derivatives of the value."""
        slope, curve = P.copy(), self._unit.copy()
        for limit, places, block in zip(self.limits, self._places, self._blocks, strict=True):
            margin, along, bend = self._margin(limit, P, edge)
            _, first, second = _barrier(margin, edge)
            slope[places] += CLEARLY * first * along
            curve[block] += CLEARLY * (second * (along[:, None] * along) + first * bend)
        return slope, curve

    def _margin(self, limit: Limit, P: Array, edge: float) -> tuple[float, Array, Array]:
        """A margin with |T| rounded at zero, and its derivatives."""
        k = len(limit.slips)
        along, bend = np.zeros(1 + k), np.zeros((1 + k, 1 + k))
        if not k:
            along[0] = 1.0
            return float(P[limit.normal]), along, bend
        T = P[limit.slips]
        length = math.hypot(edge, *T)
        along[0], along[1:] = limit.friction, -T / length
        bend[1:, 1:] = (T[:, None] * T / length**2 - self._unit[:k, :k]) / length
        return limit.friction * float(P[limit.normal]) - length, along, bend


def _barrier(margin: float, edge: float) -> tuple[float, float, float]:
    """−log m, below m = δ the parabola that goes on from there; with its derivatives."""
    if margin > edge:
        return -math.log(margin), -1.0 / margin, 1.0 / margin**2
    x = (margin - edge) / edge
    return 0.5 * x * x - x - math.log(edge), (x - 1.0) / edge, 1.0 / edge**2


def _least(cones: _Cones, P: Array, ways: Array, edge: float) -> Array:
    """The P with the least value among those along `ways`."""
    for _ in range(NEWTON):
        value, (slope, curve) = cones.value(P, edge), cones.derivatives(P, edge)
        step = ways @ np.linalg.lstsq(ways.T @ curve @ ways, -ways.T @ slope, rcond=EPS)[0]
        gain, share = -float(slope @ step), 1.0
        for _ in range(HALVINGS):
            if cones.value(P + share * step, edge) <= value - 0.25 * share * gain:
                break
            share *= 0.5
        P = P + share * step
        if not gain > FLAT * (1.0 + abs(value)):
            break
    return P
