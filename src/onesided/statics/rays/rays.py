"""All directions in which equilibria leave a point: the first-order problem [SP1 (3.7)–(3.18)] solved piece by piece.

For every subset A of the weakly active constraints the piece with A closed and the rest open is a smooth curve problem.
Its null vectors are rays where they keep λ̇ ≥ 0 on A and ġ ≥ 0 on the rest; second and third derivatives decide where
first ones do not. Both signs of ṗ, ṗ = 0, singular H₊, corner and end points come out without special cases.

Where active constraints depend on each other their reactions are not unique (`reactions`): every choice of independent
constraints that can carry is a piece, and pieces that move (q, p) alike are one ray.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigvals

from onesided import linalg
from onesided.base.arguments import checked
from onesided.base.tolerances import DEFAULT, EPS, Tolerances
from onesided.base.types import Array, Indices
from onesided.linalg.polyhedra import cone_generators
from onesided.results import Ray, Rays
from onesided.statics.curves.curve import Curve
from onesided.statics.curves.spectrum import InseparableError, Split, decided_modes, negative_modes, split
from onesided.statics.equilibria.place import Standpoint, place_near
from onesided.statics.rays.branching import branches_at, sign_of_p, unexplained
from onesided.statics.rays.directions import Direction, direction_of, keeps_signs, rate_of, vanishes
from onesided.statics.rays.large_rays import large_rays
from onesided.statics.rays.pieces import WEAK_LIMIT, all_pieces
from onesided.statics.rays.reactions import Reactions, held_fast, loose_along, reactions_at
from onesided.statics.rays.taylor import Taylor
from onesided.statics.rays.trail import START
from onesided.system.system import System

ALIKE = 0.5  # cosine between motions on the two sides of a kink
FAR = EPS**-0.4  # scaled reactions beyond which nothing is looked for
CLUSTER = START  # modes whose stiffness, relative to the reference, is below this at a singular point belong to it


@dataclass(frozen=True)
class Fan:
    """What leaves along one piece: directions, dimension of the null space, and of continua of branches inside it.

    `reason` says why branches may be missing; it is empty where none is. A `cluster` is of several singular points that
    are too close to be distinguished. The place is known in p but for a `blur` by rounding.
    """

    directions: list[Direction]
    dimension: int
    family: int = 0
    reason: str = ""
    cluster: bool = False
    blur: float = 0.0


@dataclass(frozen=True)
class FoundRay:
    """A direction with the choice of reactions from which it starts."""

    where: Standpoint
    direction: Direction

    @cached_property
    def taylor(self) -> Taylor:
        """Higher derivatives of the branch."""
        where, d = self.where, self.direction
        return Taylor(where.system, where.x, d.piece, d.t, where.tolerances)


@checked
def rays(system: System, q: Any, p: float, *, tolerances: Tolerances = DEFAULT) -> Rays:
    """All directions at an equilibrium; the point is corrected first."""
    return rays_at(place_near(system, q, p, tolerances))


def rays_at(where: Standpoint) -> Rays:
    """All rays at a place, each once."""
    plain = large_rays(where) if where.system.derivatives.large else None
    if plain is not None:
        return plain
    reactions = reactions_at(where)
    found: list[FoundRay] = []
    cluster, blur = False, 0.0
    multiplicity, family, reason = 1, 0, "" if len(where.weak) <= WEAK_LIMIT else "too many weakly active constraints"
    if reactions is not None and not reactions.complete:
        reason = reason or "too many choices of reactions"
    for here, piece in all_pieces(where, reactions):
        fan = _directions(here, piece)
        cluster, blur = cluster or fan.cluster, max(blur, fan.blur)
        multiplicity, family = max(multiplicity, fan.dimension), max(family, fan.family)
        reason = reason or fan.reason
        for direction in fan.directions:
            _add(FoundRay(here, direction), found, unique=reactions is None)
    for direction in _growing_reactions(where, reactions):
        _add(FoundRay(where, direction), found, unique=False)
    degrees = {one.direction.piece: _instability(one.where, one.direction.piece) for one in found}
    listed = tuple(_ray(one.where, one.direction, one.taylor, degrees[one.direction.piece]) for one in found)
    if reactions is not None:
        listed = tuple(_with_reactions(where, one, ray) for one, ray in zip(found, listed, strict=True))
    reason = reason or ("" if len(where.weak) or family else unexplained(listed))
    return Rays(listed, not reason, multiplicity, family, reason, cluster, blur)


def _with_reactions(where: Standpoint, one: "FoundRay", ray: Ray) -> Ray:
    """The ray with the reactions it starts from and what is not unique about them beyond."""
    names, n = where.system.constraint_names, where.system.n
    closed = {*ray.rows, *(names.index(name) for name in ray.idle)}
    loose = loose_along(one.where, one.direction.x_dot[n + 1 :], closed)
    nu = None if one.where is where else one.where.x[n + 1 :]
    told = replace(ray, nu=nu, loose=tuple(names[j] for j in loose))
    rows = held_fast(one.where, one.direction.piece.rows, ray.idle)
    if ray.continuum or len(rows) == len(ray.rows):
        return told
    piece, k = where.curve(rows), len(where.system.bilateral)
    degree, (beyond, reach) = _instability(one.where, piece), _beyond(one.where, replace(one.direction, piece=piece))
    closed_on = tuple(names[j] for j in rows[rows >= k])
    return replace(told, rows=tuple(rows.tolist()), closed=closed_on, instability=degree, beyond=beyond, reach=reach)


def _add(one: "FoundRay", found: list["FoundRay"], *, unique: bool) -> None:
    """Take up a direction that is admissible, only ever more reactions excepted, unless it is known already.

    Branches of one piece are distinct, though tangents may agree.
    """
    here, d = one.where, one.direction
    if _admissible(here, d, one.taylor) and not _endless(here, d):
        others = [other for other in found if other.direction.piece is not d.piece]
        same, rivals = (_same, _as_fast(one, others)) if unique else (_same_motion, others)
        if not any(same(one, other) for other in rivals):
            found.append(one)


def _as_fast(one: "FoundRay", others: list["FoundRay"]) -> list["FoundRay"]:
    """Those of other rays that may be the same: their directions agree."""
    if not others:
        return others
    near, rates = np.sqrt(one.where.tolerances.singularity), np.array([other.direction.x_dot for other in others])
    apart = np.max(np.abs(rates - one.direction.x_dot) / np.abs(one.where.unit), axis=1)
    return [other for other, far in zip(others, apart > near, strict=True) if not far]


def _growing_reactions(where: Standpoint, reactions: Reactions | None) -> Iterator[Direction]:
    """Directions in which (q, p) stand still and reactions grow against each other."""
    if reactions is None or reactions.held:
        return
    n = where.system.n
    for z in reactions.blocking():
        rows = np.union1d(where.strong, np.flatnonzero(z)).astype(np.intp)
        piece = where.curve(rows)
        t = piece.scaled(np.concatenate([np.zeros(n + 1), z]))
        yield direction_of(where, piece, t / np.sqrt(t @ t), continuum=False)


def _endless(where: Standpoint, d: Direction) -> bool:
    """Whether nothing but reactions moves, and their growth never makes the stiffness singular [SP1 (2.13)]."""
    n, k = where.system.n, len(where.system.bilateral)
    small = where.tolerances.singularity
    if (
        d.piece.large
        or np.max(np.abs(d.t[: n + 1])) > small
        or np.min(d.x_dot[n + 1 + k :] / where.scales.multiplier[k:], initial=0.0) < -small
    ):
        return False
    T = linalg.null_space(_scaled_gradients(where, d.piece.rows), rank=where.tolerances.rank)
    size = np.outer(where.sizes.length, where.sizes.length) / where.sizes.energy
    now, later = (where.system.evaluate_packed(x).L_qq * size for x in (where.x, where.x + d.x_dot))
    H, change = T.T @ now @ T, T.T @ (later - now) @ T
    growth = eigvals(H, -change) if len(H) else np.zeros(0)
    real = growth[np.isfinite(growth)]
    real = real.real[np.abs(real.imag) <= np.sqrt(small) * np.abs(real)]
    return not bool(np.any((real > np.sqrt(small)) & (real < FAR)))


def _scaled_gradients(where: Standpoint, rows: Indices) -> Array:
    e = where.system.evaluate_packed(where.x)
    return np.asarray(e.c_q[rows] * where.sizes.length / where.scales.gap[rows][:, None])


def ways_to_carry(where: Standpoint, curve: Curve, t: Array, *, alike: float = ALIKE) -> Iterator[Ray]:
    """The direction t of a curve on every piece that moves (q, p) much alike, the most similar first.

    Idle or redundant constraints change sides between them. Which of them leads on is not asked: derivatives at the
    point do not tell where a stretch of idleness ends, and tangents may jump there.
    """
    reactions, seen = reactions_at(where), where.system.n + 1
    motion = curve.packed(t)[:seen] / where.unit[:seen]
    found = []
    for here, piece in all_pieces(where, reactions):
        for d in _directions(here, piece).directions:
            own = (d.x_dot / where.unit)[:seen]
            size = float(np.sqrt((own @ own) * (motion @ motion)))
            cosine = float(own @ motion) / size if size > 0 else 0.0
            if cosine > alike:
                found.append((round(cosine, 4), FoundRay(here, d)))
    for _, one in sorted(found, key=lambda pair: -pair[0]):
        ray = _ray(one.where, one.direction, one.taylor, _instability(one.where, one.direction.piece))
        yield ray if reactions is None else _with_reactions(where, one, ray)


def _directions(where: Standpoint, piece: Curve) -> Fan:
    """Candidate directions of one piece that keep the signs to first order, and the dimension of its null space."""
    try:
        parts = split(piece, where.x, where.tolerances)
    except InseparableError as error:
        return Fan([], 1, reason=str(error))
    if parts.N.shape[1] > 1:
        cluster = split(piece, where.x, replace(where.tolerances, singularity=CLUSTER))
        return replace(_inside(where, piece, cluster), cluster=cluster.N.shape[1] > parts.N.shape[1])
    t = parts.N[:, 0] / np.linalg.norm(parts.N)
    directions = [direction_of(where, piece, sign * t, continuum=False) for sign in (1.0, -1.0)]
    return Fan([d for d in directions if keeps_signs(where, d)], 1)


def _inside(where: Standpoint, piece: Curve, parts: Split) -> Fan:
    """Directions in a null space of dimension two or more: branches, or the extreme rays of a continuum."""
    found = branches_at(piece, where.x, parts)
    if found.free:
        return Fan(_extreme(where, piece, parts.N / np.linalg.norm(parts.N, axis=0)), parts.N.shape[1])
    directions = [replace(direction_of(where, piece, b.t, continuum=False), branch=b) for b in found.branches]
    kept = [d for d in directions if keeps_signs(where, d)]
    return Fan(kept, parts.N.shape[1], found.family, found.reason, blur=found.blur)


def _extreme(where: Standpoint, piece: Curve, N: Array) -> list[Direction]:
    """The extreme rays of all directions of a null space that keep the signs."""
    cone = cone_generators(np.zeros((0, N.shape[1])), _sign_rows(where, piece, N), where.tolerances.singularity)
    extreme = [*cone.lines, *(-cone.lines), *cone.rays]
    directions = [direction_of(where, piece, N @ y, len(extreme) > 1) for y in extreme]
    return [d for d in directions if keeps_signs(where, d)]


def _sign_rows(where: Standpoint, piece: Curve, N: Array) -> Array:
    """Rows of the conditions λ̇ ≥ 0 (closed) and ġ ≥ 0 (open) on the null space."""
    columns = [direction_of(where, piece, t, continuum=False) for t in N.T]
    rows = [[rate_of(where, column, int(j)) for column in columns] for j in where.weak]
    return np.array(rows).reshape(len(where.weak), N.shape[1])


def _admissible(where: Standpoint, d: Direction, taylor: Taylor) -> bool:
    """Where a first derivative vanishes, the first one that does not must be positive."""
    if d.continuum:
        return True
    for j in where.weak:
        if not vanishes(where, d, int(j)):
            continue
        if d.branch is not None:
            if _margin_ahead(where, d.branch.ahead, d.piece, int(j)) < -where.tolerances.singularity:
                return False
            continue
        closed = int(j) in d.piece.rows
        scale = where.scales.multiplier[j] if closed else where.scales.gap[j]
        value = taylor.leading_multiplier(int(j)) if closed else taylor.leading_gap(int(j))
        if value / scale < -np.sqrt(where.tolerances.singularity):
            return False
    return True


def _margin_ahead(where: Standpoint, ahead: Array, piece: Curve, j: int) -> float:
    """Scaled λ_j (closed) or g_j (open) at a point a little further on."""
    if j in piece.rows:
        return float(ahead[piece.n + 1 + j] / where.scales.multiplier[j])
    return float(piece.evaluate(ahead).c[j] / where.scales.gap[j])


def _same(one: FoundRay, other: FoundRay) -> bool:
    """Same bend where signs are undecided, for equal directions; opening a gap is never the same as closing it."""
    where, d = one.where, one.direction
    near = np.sqrt(where.tolerances.singularity)
    for j in {*d.piece.rows.tolist()} ^ {*other.direction.piece.rows.tolist()}:
        if not (vanishes(where, d, j) and vanishes(other.where, other.direction, j)):
            return False
    if d.continuum or other.direction.continuum or not _undecided(where, d):
        return True
    bends = [a.direction.piece.packed(a.taylor.second) / where.unit for a in (one, other)]
    return bool(np.max(np.abs(bends[0] - bends[1])) <= near)


def _same_motion(one: FoundRay, other: FoundRay) -> bool:
    """Same path of (q, p), as far as its third derivatives: which reactions hold it makes no other branch of it."""
    near, still = (one.where.tolerances.singularity**power for power in (0.5, 1.0))
    n = one.where.system.n
    motions = [a.direction.t[: n + 1] for a in (one, other)]
    speeds = [float(np.sqrt(v @ v)) for v in motions]
    if min(speeds) <= still:
        return max(speeds) <= still and bool(np.max(np.abs(one.direction.x_dot - other.direction.x_dot)) <= near)
    if np.max(np.abs(motions[0] / speeds[0] - motions[1] / speeds[1])) > near:
        return False
    if one.direction.continuum or other.direction.continuum:
        return True
    shapes = [_shape(a.taylor, n) for a in (one, other)]
    orders = 2 if all(a.taylor.regular for a in (one, other)) else 1
    return all(
        np.max(np.abs(shapes[0][i] - shapes[1][i])) <= near * (1.0 + np.max(np.abs(shapes[0][i])))
        for i in range(orders)
    )


def _shape(taylor: Taylor, n: int) -> tuple[Array, Array]:
    """Second and third derivative of the path of (q, p) across its direction, over the length along it."""
    v, a, b = taylor.t[: n + 1], taylor.second[: n + 1], taylor.third[: n + 1]
    speed = float(np.sqrt(v @ v))
    u = v / speed
    across, along = a - u * (u @ a), float(u @ a)
    third = b - u * (u @ b) - 3.0 * across * along / speed
    return across / speed**2, third / speed**3


def _undecided(where: Standpoint, d: Direction) -> bool:
    return any(vanishes(where, d, int(j)) for j in where.weak)


def _ray(where: Standpoint, d: Direction, taylor: Taylor, instability: int) -> Ray:
    system, n, k = where.system, where.system.n, len(where.system.bilateral)
    if d.branch is not None:
        sign, order = d.branch.p_sign, d.branch.order
    else:
        clear = abs(d.t[n]) > where.tolerances.singularity  # along a continuum p may stand still
        sign, order = (int(clear * np.sign(d.t[n])), 1) if d.continuum else taylor.sign_of_p()
        if not order:
            sign, order = sign_of_p(d.piece, where.x, d.t, taylor.parts.borders)
    names = system.constraint_names
    beyond, reach = _beyond(where, d)
    return Ray(
        q_dot=d.x_dot[:n],
        p_dot=float(d.x_dot[n]),
        mu_dot=d.x_dot[n + 1 : n + 1 + k],
        lam_dot=d.x_dot[n + 1 + k :],
        gap_dot=d.c_dot[k:],
        p_sign=sign,
        order=order,
        instability=instability,
        closed=tuple(names[j] for j in d.piece.rows if j >= k),
        rows=tuple(int(j) for j in d.piece.rows),
        continuum=d.continuum,
        ahead=None if d.branch is None else d.branch.entry,
        idle=tuple(names[j] for j in where.weak if not d.continuum and _stays_idle(where, d, taylor, int(j))),
        beyond=beyond,
        reach=reach,
    )


def _beyond(where: Standpoint, d: Direction) -> tuple[int | None, float]:
    """Degree of instability on a branch, as close to the point as it can be decided, and how far along that is."""
    places = (where.x,) if d.branch is None else (d.branch.entry, d.branch.ahead)
    for x in places:
        degree = decided_modes(d.piece, x, where.tolerances)
        if degree is not None:
            return degree, float(np.linalg.norm((x - where.x) / where.unit))
    return None, 0.0


def _stays_idle(where: Standpoint, d: Direction, taylor: Taylor, j: int) -> bool:
    """Whether constraint j keeps neither gap nor force along a branch, as far as third derivatives show."""
    if not vanishes(where, d, j):
        return False
    return (taylor.leading_multiplier(j) if j in d.piece.rows else taylor.leading_gap(j)) == 0.0


def _instability(where: Standpoint, piece: Curve) -> int:
    """Degree of instability on one piece."""
    return negative_modes(piece, where.x, where.tolerances)
