"""All branches that leave a singular point of one smooth piece: zeros of the reduced equations on a small ellipsoid.

Around the point every half-branch crosses the ellipsoid once. All zeros there are found, corrected on the equations
themselves and followed inwards; what they tend to are the tangents. Nothing depends on the order at which a power series
would decide. The signs of the crossings add up to nothing, which is the check that none is missing.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from onesided._types import Array
from onesided.linalg.sphere_zeros import Zeros, zeros_on_sphere
from onesided.statics.curve import Curve
from onesided.statics.reduced import Reduced, reduce_at
from onesided.statics.spectrum import Split
from onesided.statics.trail import Trail, follow_inwards
from onesided.tolerances import EPS

RADIUS = 0.25  # first ellipsoid, in units of N
WIDE = 1.0  # the same where several modes meet: the terms that tell branches apart may be of high order
SHRINK = 3.0
LEVELS = 8
ATTEMPTS = 3  # ellipsoids on which all zeros were sought in vain
SAFETY = 4.0  # on the round-off seen in the residuals
PROBES = 6
CLUSTER = 4.0  # how far outside a cluster of singular points its branches are looked at
# (where p changes with the square of the distance, branches change places at the root of what sets the loads apart)
POLISHED = 0.01  # largest change of a tangent by its exact second-order equation
WELL_POSED = EPS**0.125  # share of the largest singular value below which that equation leaves a direction free


@dataclass(frozen=True)
class Branch:
    """A half-branch: its scaled unit tangent at the point, packed points on it, and p along it.

    `entry` is as close to the point as round-off allows, `ahead` further on, where what grows with the square of the
    distance is clear of round-off. `order` is the power of the distance with which p changes, `p_sign` the sign of the
    change; both 0 where it does not.
    """

    t: Array
    entry: Array
    ahead: Array
    p_sign: int
    order: int


@dataclass(frozen=True)
class Branches:
    """What leaves a singular point.

    Attributes
    ----------
    branches : the isolated half-branches.
    family : dimension of the continua of half-branches beside them (0: none).
    free : whether every direction of the null space is one of equilibria.
    reason : why branches may be missing; empty where none is.
    """

    branches: tuple[Branch, ...] = ()
    family: int = 0
    free: bool = False
    reason: str = ""


def branches_at(piece: Curve, x: Array, parts: Split) -> Branches:
    """All branches of one piece at the packed point x.

    N (size, d + 1) and Z (size − 1, d) of `parts` span the null spaces of J, or those of a cluster of singular points;
    columns of N are of length one where displacements along them are large.
    """
    best = Branches(reason="the equations cannot be followed around the point")
    attempts = 0
    for reduced, size, floor in _ellipsoids(reduce_at(piece, x, parts, RADIUS if parts.N.shape[1] == 2 else WIDE)):
        if size <= SAFETY * floor:
            return Branches(free=True)
        zeros = zeros_on_sphere(partial(_values, reduced), reduced.d, noise=SAFETY * floor)
        if zeros is None:
            continue
        if attempts and zeros.family:  # on a wider ellipsoid it was none: only round-off makes it look like one
            return best
        found = _branches(reduced, zeros, size)
        best = found if len(found.branches) >= len(best.branches) else replace(best, reason=found.reason)
        attempts += 1
        if not found.reason or len(zeros.members) or attempts == ATTEMPTS:
            return best
    return best


def _ellipsoids(reduced: Reduced) -> Iterator[tuple[Reduced, float, float]]:
    """Smaller and smaller ellipsoids on which g is defined, with the size of g on them and its round-off.

    Soft modes of stiff structures move far for their energy: the more so, the more levels there are.
    """
    far = float(np.max(np.abs(reduced.N[:, 1:] * reduced.radii[1:]), initial=1.0))
    for _ in range(LEVELS + math.ceil(math.log(max(1.0, far), SHRINK))):
        across = _sides(reduced, (0.0,))
        balanced = None if across is None else _balanced(reduced)
        if balanced is not None:
            yield balanced
            reduced = reduced.resized(balanced[0].radii / SHRINK)
        else:
            along = 1.0 if across is None and reduced.N[reduced.piece.n, 0] else SHRINK
            reduced = reduced.resized(reduced.radii / np.append(along, np.full(reduced.d, SHRINK)))


def _sides(reduced: Reduced, shares: tuple[float, ...]) -> tuple[Array, float] | None:
    """g at probes of these shares along p and all directions across it, and its round-off; None where it is not defined."""
    across = np.random.default_rng(0).normal(size=(PROBES, reduced.d)) if reduced.d > 1 else np.array([[1.0], [-1.0]])
    across = across / np.linalg.norm(across, axis=1)[:, None]
    g, floor = np.zeros((len(shares), len(across), reduced.d)), 0.0
    for i, j in np.ndindex(*g.shape[:2]):
        reached = reduced.at(np.append(shares[i], across[j]))
        if reached is None:
            return None
        g[i, j], floor = reached.g, max(floor, reached.floor)
    return g, floor


def _balanced(reduced: Reduced) -> tuple[Reduced, float, float] | None:
    """Shorten the axes across p until g changes as much with p as across it: curves then cross the ellipsoid steeply."""
    for _ in range(PROBES * PROBES):
        found = _sides(reduced, (0.0, 1.0, -1.0))
        if found is None:
            return None
        g, floor = found
        alone, coupled = float(np.max(np.abs(g[0]))), float(np.max(np.abs(g[1] - g[2]))) / 2.0
        if alone <= coupled or not reduced.N[reduced.piece.n, 0] or coupled <= SAFETY * floor:
            return reduced, float(np.max(np.abs(g))), floor
        reduced = reduced.resized(reduced.radii * np.append(1.0, np.full(reduced.d, 0.5)))
    return None


def _values(reduced: Reduced, points: Array) -> Array:
    """g at many points of the ellipsoid; NaN where it is not defined."""
    out = np.full((len(points), reduced.d), np.nan)
    for row, b in zip(out, points, strict=True):
        reached = reduced.at(b)
        if reached is None:
            break
        row[:] = reached.g
    return out


def _branches(reduced: Reduced, zeros: Zeros, size: float) -> Branches:
    """Half-branches through the zeros, confirmed and followed inwards as far as the point looks like one."""
    inner = CLUSTER * (reduced.linear / size) ** 0.5
    trails = [follow_inwards(reduced, b, s, inner) for b, s in zip(zeros.points, zeros.separation, strict=True)]
    kept = [trail for trail in trails if trail is not None]
    reason = zeros.reason
    if not reason and len(kept) < len(trails):
        reason = "branches nearby that do not lead to the point"
    if not reason and _met(kept):
        reason = "branches that cannot be told apart"
    return Branches(tuple(_branch(reduced, trail) for trail in kept), zeros.family, reason=reason)


def _met(trails: list[Trail]) -> bool:
    """Whether two of them arrive at the same point."""
    ends = np.array([trail.crossings[-1].b for trail in trails])
    gaps = [np.linalg.norm(a - b) for i, a in enumerate(ends) for b in ends[:i]]
    return bool(min(gaps, default=1.0) <= EPS**0.5)


def _branch(reduced: Reduced, trail: Trail) -> Branch:
    sizes = np.linalg.norm(reduced.N, axis=0)
    a = reduced.radii * sizes * trail.limit()
    a = _polished(a / np.linalg.norm(a), reduced.forms) if trail.to_the_point else a / np.linalg.norm(a)
    t = reduced.N @ (a / sizes)
    t = t / np.linalg.norm(t)
    share = float(t[reduced.piece.n])
    trail = trail.until_sign(share)
    sign, order = trail.change_of_p(share)
    entry, ahead = (one.crossings[-1].y for one in (trail.to_the_start(), trail))
    return Branch(t, reduced.piece.packed(entry), reduced.piece.packed(ahead), sign, order)


def _polished(a: Array, Q: Array) -> Array:
    """The nearest direction with aᵀQa = 0, in as far as that equation fixes it; a itself where it is not near."""
    start, size = a, float(np.max(np.abs(Q)))
    if not size:
        return a
    for _ in range(6):
        residual = np.append(np.einsum("kij,i,j->k", Q, a, a) / size, (a @ a - 1.0) / 2.0)
        step = np.linalg.lstsq(np.vstack([2.0 * Q @ a / size, a]), -residual, rcond=WELL_POSED)[0]
        a = a + step
    return np.asarray(a / np.linalg.norm(a)) if np.linalg.norm(a - start) <= POLISHED else start
