"""All branches that leave a singular point of one smooth piece: zeros of the reduced equations on a small ellipsoid.

Around the point every half-branch crosses the ellipsoid once. All zeros there are found, corrected on the equations
themselves and followed inwards; what they tend to are the tangents. Nothing depends on the order at which a power
series would decide. The signs of the crossings add up to nothing, which is the check that none is missing.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, combinations_with_replacement

import numpy as np

from onesided.base.tolerances import EPS, HALF_DIGITS
from onesided.base.types import Array
from onesided.linalg.sphere_zeros import UNDECIDED, Zeros, some_zeros, zeros_on_sphere
from onesided.results import Ray
from onesided.statics.curves.curve import Curve
from onesided.statics.curves.spectrum import Borders, Split
from onesided.statics.rays.reduced import Crossing, Reduced, reduce_at
from onesided.statics.rays.trail import Trail, follow_inwards, sign_of_p_along

RADIUS = 0.25  # first ellipsoid, in units of N
WIDE = 1.0  # the same where several modes meet: the terms that tell branches apart may be of high order
SHRINK = 4.0
LEVELS = 8
ATTEMPTS = 3  # ellipsoids on which all zeros were sought in vain
SAFETY = 4.0  # on the round-off seen in the residuals
SEEN = 1000.0  # times round-off: what is clearly an effect of p
PROBES = 6
NEARER = 8  # halvings of the range of p on which several modes meet once
CLUSTER = 4.0  # how far outside a cluster of singular points its branches are looked at
# (where p changes with the square of the distance, branches change places at the root of what sets the loads apart)
RATIOS = (0.25, 0.5, 0.8)  # of successive levels on the way inwards; finer ones where branches change places
APART = "branches that cannot be distinguished"
INSIDE = 1.0 / 64.0  # level of the smaller ellipsoid on which the number of branches is looked at again
DEEPER = (1.0, 1.5, 2.0, 2.5)  # powers of it for ellipsoids further in
SIMILAR = 0.2  # largest distance of a crossing there from one that a branch was seen at
POLISHED = 0.01  # change of a tangent by its exact second-order equation that is always allowed
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
    blur : change of p that rounding of the stiffness may stand for.
    """

    branches: tuple[Branch, ...] = ()
    family: int = 0
    free: bool = False
    reason: str = ""
    blur: float = 0.0


def branches_at(piece: Curve, x: Array, parts: Split) -> Branches:
    """All branches of one piece at the packed point x.

    N (size, d + 1) and Z (size − 1, d) of `parts` span the null spaces of J, or those of a cluster of singular points;
    a column of N is as long as a displacement along it that counts as large.
    """
    best = Branches(reason="the equations cannot be followed around the point")
    attempts, seen = 0, False
    radius = RADIUS if parts.N.shape[1] == 2 else WIDE
    start = reduce_at(piece, x, parts.N, parts.Z, borders=parts.borders, radius=radius)
    for reduced, size, floor in _ellipsoids(start):
        if size <= SAFETY * floor:
            return best if seen else Branches(free=True)
        seen = True
        zeros = zeros_on_sphere(partial(_values, reduced), reduced.d, noise=SAFETY * floor)
        if zeros is None:
            continue
        if best.branches and zeros.family:  # on a wider ellipsoid it was none: only round-off makes it look like one
            return best
        found = _branches(reduced, zeros, size)
        if found.family and reduced.radii[0] < start.radii[0]:  # so close to the point rounding may hide what they are
            found = replace(found, reason=found.reason or UNDECIDED)
        best = max(found, best, key=lambda one: (not one.reason, len(one.branches)))
        attempts += bool(zeros.reason)
        if not found.reason or len(zeros.members) or attempts == ATTEMPTS:
            return best
    return best


def unexplained(listed: tuple[Ray, ...]) -> str:
    """Why branches must be missing: equilibria of an energy fork where the number of negative modes changes with p."""
    alone = len(listed) == 2 and listed[0].p_sign * listed[1].p_sign < 0
    degrees = {ray.beyond for ray in listed} if alone else set()
    return "branches that change the number of negative modes" if len(degrees - {None}) == 2 else ""


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
    """G at probes of these shares along p and all directions across it, and its round-off; None where there is none."""
    across = np.random.default_rng(0).normal(size=(PROBES, reduced.d)) if reduced.d > 1 else np.array([[1.0], [-1.0]])
    across = across / np.linalg.norm(across, axis=1)[:, None]
    g, floor = np.zeros((len(shares), len(across), reduced.d)), 0.0
    for i, j in np.ndindex(len(shares), len(across)):
        reached = reduced.at(np.append(shares[i], across[j]))
        if reached is None:
            return None
        g[i, j], floor = reached.g, max(floor, reached.floor)
    return g, floor


def _balanced(reduced: Reduced) -> tuple[Reduced, float, float] | None:
    """Shorten the axes across p until g changes as much with p as across it: curves then cross steeply.

    Where nothing is seen of p it is given more room first, up to p itself: its unit may be that of another state. Of
    several modes the stiffness is to change with p in one sense: otherwise there is another singular point inside,
    to which branches may lead without a crossing.
    """
    n, longest = reduced.piece.n, max(reduced.radii[0], RADIUS * abs(float(reduced.y[reduced.piece.n])))
    shorter = NEARER if reduced.d > 1 else 0
    for _ in range(PROBES * PROBES):
        found = _sides(reduced, (0.0, 1.0, -1.0))
        if found is None:
            return None
        g, floor = found
        alone, coupled = float(np.max(np.abs(g[0]))), float(np.max(np.abs(g[1] - g[2]))) / 2.0
        unseen, room = coupled <= SEEN * floor, reduced.radii[0] < longest
        if shorter and not unseen and float(np.max(np.abs(g[1] + g[2] - 2.0 * g[0]))) > coupled:
            reduced, shorter = reduced.resized(reduced.radii * np.append(0.5, np.ones(reduced.d))), shorter - 1
            continue
        if alone <= coupled or not reduced.N[n, 0] or (coupled <= SAFETY * floor and not room):
            return reduced, float(np.max(np.abs(g))), floor
        along, across = (SHRINK, 1.0) if unseen and room else (1.0, 0.5)
        reduced = reduced.resized(reduced.radii * np.append(along, np.full(reduced.d, across)))
    return None


def _values(reduced: Reduced, points: Array) -> Array:
    """Values of g at many points of the ellipsoid; NaN where it is not defined."""
    out = np.full((len(points), reduced.d), np.nan)
    for row, b in zip(out, points, strict=True):
        reached = reduced.at(b)
        if reached is None:
            break
        row[:] = reached.g
    return out


def _branches(reduced: Reduced, zeros: Zeros, size: float) -> Branches:
    """Half-branches through the zeros, confirmed and followed inwards as far as the point looks like one."""
    forms = _quadratic_forms(reduced)
    inner = CLUSTER * (reduced.linear / size) ** 0.5
    found: list[tuple[Trail, Crossing]] = []
    reason = APART
    for ratio in RATIOS[reduced.d > 1 :]:
        pairs = zip(zeros.points, zeros.separation, strict=True)
        trails = [follow_inwards(reduced, b, s, inner, ratio=ratio) for b, s in pairs]
        entries = [None if trail is None else trail.entry() for trail in trails]
        found = [(t, e) for t, e in zip(trails, entries, strict=True) if t is not None and e is not None]
        if not _met([trail.crossings[-1] for trail, _ in found]):
            reason = "branches nearby that do not lead to the point" if len(found) < len(trails) else ""
            break
    if not reason and _met([entry for _, entry in found]):
        reason = APART
    if not (zeros.reason or reason) and _more_inside(reduced, [trail for trail, _ in found], inner):
        reason = "branches that turn back close to the point"
    branches = tuple(_branch(reduced, trail, entry, forms) for trail, entry in found)
    blur = reduced.blurred * float(reduced.piece.unit[reduced.piece.n])
    return Branches(branches, zeros.family, reason=zeros.reason or reason, blur=blur)


def _more_inside(reduced: Reduced, trails: list[Trail], inner: float) -> bool:
    """Whether smaller ellipsoids are crossed where none of the trails does, or not where one of them should.

    That is quickly looked at for one mode; for several, once, where all trails have been.
    """
    reach = max([INSIDE, inner, *(trail.levels[-1] for trail in trails)])
    if reduced.d > 1:
        return not _all_known(trails, _crossings(reduced, reach), reach)
    levels = [level for level in (reach, *(INSIDE**power for power in DEEPER)) if level >= inner]
    found = {level: _crossings(reduced, level) for level in levels}
    fewer = INSIDE in found and 0 < len(found[INSIDE]) < len(trails)
    return fewer or not all(_all_known(trails, crossings, level) for level, crossings in found.items())


def _crossings(reduced: Reduced, level: float) -> Array:
    """Where the ellipsoid of a level is crossed: directions, one per row."""
    small = reduced.resized(level * reduced.radii)
    probes = [small.at(b) for b in np.vstack([np.eye(reduced.d + 1), -np.eye(reduced.d + 1)])]
    floor = max((one.floor for one in probes if one is not None), default=0.0)
    return some_zeros(partial(_values, small), reduced.d, noise=SAFETY * floor)


def _all_known(trails: list[Trail], crossings: Array, level: float) -> bool:
    """Whether every crossing of a level is close to that of a trail."""
    directions = np.array([trail.near(level).b for trail in trails]).reshape(-1, crossings.shape[1])
    return all(np.min(np.linalg.norm(directions - b, axis=1), initial=np.inf) <= SIMILAR for b in crossings)


def _met(crossings: list[Crossing]) -> bool:
    """Whether two of them are the same, to within round-off."""
    pairs = combinations(crossings, 2)
    return any(np.linalg.norm(a.b - b.b) <= SAFETY * (HALF_DIGITS + a.uncertainty + b.uncertainty) for a, b in pairs)


def _branch(reduced: Reduced, trail: Trail, entry: Crossing, forms: Array) -> Branch:
    b, error = trail.limit()
    lengths = np.linalg.norm(reduced.N * reduced.radii, axis=0)
    known = max(POLISHED, min(error, SIMILAR))
    b = _polished(b / np.linalg.norm(b), forms, lengths, known) if trail.to_the_point else b
    t = reduced.N @ (reduced.radii * b)
    t = t / np.linalg.norm(t)
    share = float(t[reduced.piece.n])
    trail = trail.until_sign(share)
    sign, order = trail.change_of_p(share)
    ahead = trail.visible()
    near = entry if ahead is not None else min(entry, trail.crossings[-1], key=lambda one: _distance(reduced, one))
    ahead = ahead or trail.crossings[-1]
    return Branch(t, reduced.piece.packed(near.y), reduced.piece.packed(ahead.y), sign, order)


def _distance(reduced: Reduced, crossing: Crossing) -> float:
    return float(np.linalg.norm(crossing.y - reduced.y))


def _quadratic_forms(reduced: Reduced) -> Array:
    """Symmetric matrices Q_k with (Zᵀ R''(N a, N a))_k = bᵀ Q_k b for a = radii · b, by polarisation."""
    N, count = reduced.N * reduced.radii, reduced.d + 1
    Q = np.zeros((reduced.d, count, count))
    for i, j in combinations_with_replacement(range(count), 2):
        plus, minus = reduced.second(N[:, i] + N[:, j]), reduced.second(N[:, i] - N[:, j])
        Q[:, i, j] = Q[:, j, i] = reduced.Z.T @ (plus - minus) / 4.0
    return Q


def _polished(b: Array, Q: Array, lengths: Array, known: float) -> Array:
    """The nearest direction with bᵀQb = 0, in as far as that equation fixes it; b itself where it is not near.

    Near is as close as b is `known`, on the ellipsoid or in scaled unknowns, in which its axes have these `lengths`.
    """
    start, size = b, float(np.max(np.abs(Q)))
    if not size:
        return b
    for _ in range(6):
        residual = np.append(np.einsum("kij,i,j->k", Q, b, b) / size, (b @ b - 1.0) / 2.0)
        step = np.linalg.lstsq(np.vstack([2.0 * Q @ b / size, b]), -residual, rcond=WELL_POSED)[0]
        b = b + step
    moved = min(_turn(start, b), _turn(lengths * start, lengths * b))
    return np.asarray(b / np.linalg.norm(b)) if moved <= known else start


def _turn(a: Array, b: Array) -> float:
    """Distance between the unit vectors of two directions."""
    return float(np.linalg.norm(a / np.linalg.norm(a) - b / np.linalg.norm(b)))


def sign_of_p(piece: Curve, x: Array, t: Array, borders: Borders) -> tuple[int, int]:
    """Sign of the change of p along a regular curve with scaled unit tangent t, and the order that decides it."""
    none = np.zeros((piece.size - 1, 0))
    return sign_of_p_along(reduce_at(piece, x, t[:, None], none, borders=borders, radius=RADIUS))
