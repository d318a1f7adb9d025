"""All directions in which equilibria leave a point: the first-order problem [SP1 (3.7)–(3.18)] solved piece by piece.

For every subset A of the weakly active constraints the piece with A closed and the rest open is a smooth curve problem.
Its null vectors are rays where they keep λ̇ ≥ 0 on A and ġ ≥ 0 on the rest; second and third derivatives decide where
first ones do not. Both signs of ṗ, ṗ = 0, singular H₊, corner and end points come out without special cases.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from onesided import linalg
from onesided._types import Array
from onesided.complementarity import solve
from onesided.linalg.polyhedra import cone_generators
from onesided.model.system import System
from onesided.results import Ray, Rays
from onesided.statics.branching import Branch, branches_at, sign_of_p
from onesided.statics.curve import Curve
from onesided.statics.large_rays import large_rays
from onesided.statics.place import Place, place_near
from onesided.statics.rates import rates_at
from onesided.statics.spectrum import Split, spectrum_at, split
from onesided.statics.taylor import Taylor
from onesided.statics.trail import START
from onesided.tolerances import DEFAULT, Tolerances

WEAK_LIMIT = 14
CLUSTER = START  # modes whose stiffness, relative to the reference, is below this at a singular point belong to it


@dataclass(frozen=True)
class Direction:
    """A candidate ray: packed derivative of (q, p, ν), rates of all constraints, and the piece it belongs to."""

    piece: Curve
    t: Array
    x_dot: Array
    c_dot: Array
    continuum: bool = False
    branch: Branch | None = None


@dataclass(frozen=True)
class Fan:
    """What leaves along one piece: directions, dimension of the null space, and of continua of branches inside it.

    `reason` says why branches may be missing; it is empty where none is.
    """

    directions: list[Direction]
    dimension: int
    family: int = 0
    reason: str = ""


def rays(system: System, q: Any, p: float, *, tolerances: Tolerances = DEFAULT) -> Rays:
    """All directions at an equilibrium; the point is corrected first."""
    return rays_at(place_near(system, q, p, tolerances))


def rays_at(where: Place) -> Rays:
    """All rays at a place, each once."""
    if where.system.derivatives.large:
        return large_rays(where)
    found: list[tuple[Direction, Taylor]] = []
    multiplicity, family, reason = 1, 0, "" if len(where.weak) <= WEAK_LIMIT else "too many weakly active constraints"
    for piece in _pieces(where):
        fan = _directions(where, piece)
        multiplicity, family = max(multiplicity, fan.dimension), max(family, fan.family)
        reason = reason or fan.reason
        for direction in fan.directions:
            taylor = Taylor(where.system, where.x, direction.piece, direction.t, where.tolerances)
            if _admissible(where, direction, taylor) and not _known(where, direction, taylor, found):
                found.append((direction, taylor))
    degrees = {piece: _instability(where, piece) for piece in {d.piece for d, _ in found}}
    listed = tuple(_ray(where, d, taylor, degrees[d.piece]) for d, taylor in found)
    return Rays(listed, not reason, multiplicity, family, reason)


def idle_twin(where: Place, curve: Curve, t: Array, row: int) -> Ray | None:
    """The direction t of a curve with constraint `row` on its other side, where gap and reaction stay zero alike.

    Along a stretch on which a constraint is weakly active, open and closed are the same path until one of them fails.
    """
    rows = np.array(sorted({*curve.rows.tolist()} ^ {row}), dtype=np.intp)
    x_dot = _scaled(where, curve.packed(t))
    for d in _directions(where, Curve(where.system, rows, where.sizes, where.scales)).directions:
        near = float(np.max(np.abs(_scaled(where, d.x_dot) - x_dot))) <= np.sqrt(where.tolerances.singularity)
        if near and abs(_rate(where, d, row)) <= where.tolerances.singularity:
            taylor = Taylor(where.system, where.x, d.piece, d.t, where.tolerances)
            return _ray(where, d, taylor, _instability(where, d.piece))
    return None


def _pieces(where: Place) -> Iterator[Curve]:
    """The smooth pieces, fewest closed constraints first; beyond the limit those that the rate LCP names."""
    weak = where.weak
    subsets: Iterator[tuple[int, ...]]
    if len(weak) <= WEAK_LIMIT:
        subsets = (chosen for count in range(len(weak) + 1) for chosen in combinations(weak, count))
    else:
        subsets = iter([(), *_from_rates(where), tuple(weak)])
    for chosen in subsets:
        rows = np.sort(np.concatenate([where.strong, np.array(chosen, dtype=np.intp)])).astype(np.intp)
        yield Curve(where.system, rows, where.sizes, where.scales)


def _from_rates(where: Place) -> Iterator[tuple[int, ...]]:
    """Weakly active constraints that the LCP of the rates holds closed, for growing and for falling p."""
    first_order = rates_at(where)
    for p_dot in (1.0, -1.0):
        found = None if first_order.G is None else solve(first_order.lcp(p_dot), throw=False)
        if found is not None and found.ok:
            yield tuple(int(j) for j, z in zip(where.weak, found.value, strict=True) if z > 0)


def _directions(where: Place, piece: Curve) -> Fan:
    """Candidate directions of one piece that keep the signs to first order, and the dimension of its null space."""
    parts = split(piece, where.x, where.tolerances)
    if parts.N.shape[1] > 1:
        cluster = split(piece, where.x, replace(where.tolerances, singularity=CLUSTER))
        return _inside(where, piece, cluster)
    t = parts.N[:, 0] / np.linalg.norm(parts.N)
    directions = [_direction(where, piece, sign * t, continuum=False) for sign in (1.0, -1.0)]
    return Fan([d for d in directions if _keeps_signs(where, d)], 1)


def _inside(where: Place, piece: Curve, parts: Split) -> Fan:
    """Directions in a null space of dimension two or more: branches, or the extreme rays of a continuum."""
    found = branches_at(piece, where.x, parts.N, parts.Z)
    if found.free:
        return Fan(_extreme(where, piece, parts.N / np.linalg.norm(parts.N, axis=0)), parts.N.shape[1])
    directions = [replace(_direction(where, piece, b.t, continuum=False), branch=b) for b in found.branches]
    kept = [d for d in directions if _keeps_signs(where, d)]
    return Fan(kept, parts.N.shape[1], found.family, found.reason)


def _extreme(where: Place, piece: Curve, N: Array) -> list[Direction]:
    """The extreme rays of all directions of a null space that keep the signs."""
    cone = cone_generators(np.zeros((0, N.shape[1])), _sign_rows(where, piece, N), where.tolerances.singularity)
    extreme = [*cone.lines, *(-cone.lines), *cone.rays]
    directions = [_direction(where, piece, N @ y, len(extreme) > 1) for y in extreme]
    return [d for d in directions if _keeps_signs(where, d)]


def _sign_rows(where: Place, piece: Curve, N: Array) -> Array:
    """Rows of the conditions λ̇ ≥ 0 (closed) and ġ ≥ 0 (open) on the null space."""
    columns = [_direction(where, piece, t, continuum=False) for t in N.T]
    rows = [[_rate(where, column, int(j)) for column in columns] for j in where.weak]
    return np.array(rows).reshape(len(where.weak), N.shape[1])


def _direction(where: Place, piece: Curve, t: Array, continuum: bool) -> Direction:
    e = piece.evaluate(where.x)
    x_dot = piece.packed(t)
    c_dot = e.c_q @ x_dot[: piece.n] + e.c_p * x_dot[piece.n]
    return Direction(piece, t, x_dot, c_dot, continuum)


def _rate(where: Place, d: Direction, j: int) -> float:
    """Scaled λ̇_j where j is closed in the piece, ġ_j where it is open."""
    if j in d.piece.rows:
        return float(d.x_dot[d.piece.n + 1 + j] / where.scales.multiplier[j])
    return float(d.c_dot[j] / where.scales.gap[j])


def _keeps_signs(where: Place, d: Direction) -> bool:
    return all(_rate(where, d, int(j)) >= -where.tolerances.singularity for j in where.weak)


def _admissible(where: Place, d: Direction, taylor: Taylor) -> bool:
    """Where a first derivative vanishes, the first one that does not must be positive."""
    if d.continuum:
        return True
    for j in where.weak:
        if abs(_rate(where, d, int(j))) > where.tolerances.singularity:
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


def _margin_ahead(where: Place, ahead: Array, piece: Curve, j: int) -> float:
    """Scaled λ_j (closed) or g_j (open) at a point a little further on."""
    if j in piece.rows:
        return float(ahead[piece.n + 1 + j] / where.scales.multiplier[j])
    return float(piece.evaluate(ahead).c[j] / where.scales.gap[j])


def _known(where: Place, d: Direction, taylor: Taylor, found: list[tuple[Direction, Taylor]]) -> bool:
    """Whether a ray found before is the same branch: same direction, and the same bend where signs are undecided."""
    near = np.sqrt(where.tolerances.singularity)
    seen = where.system.n + 1 if _dependent(where) else None  # then reactions are not unique, and tell nothing apart
    for other, other_taylor in found:
        if other.piece is d.piece:  # branches of one piece are distinct, though their tangents may agree
            continue
        if np.max(np.abs(_scaled(where, d.x_dot) - _scaled(where, other.x_dot))[:seen]) > near:
            continue
        if d.continuum or other.continuum or not _undecided(where, d):
            return True
        bends = [_scaled(where, a.piece.packed(b.second)) for a, b in ((d, taylor), (other, other_taylor))]
        if np.max(np.abs(bends[0] - bends[1])) <= near:
            return True
    return False


def _dependent(where: Place) -> bool:
    """Whether the gradients of the active constraints depend on each other."""
    rows = np.concatenate([where.strong, where.weak])
    return len(rows) > 0 and bool(
        linalg.dependent_rows(where.system.evaluate_packed(where.x).c_q[rows], rank=where.tolerances.rank)
    )


def _scaled(where: Place, x_dot: Array) -> Array:
    return np.asarray(x_dot / where.unit)


def _undecided(where: Place, d: Direction) -> bool:
    return any(abs(_rate(where, d, int(j))) <= where.tolerances.singularity for j in where.weak)


def _ray(where: Place, d: Direction, taylor: Taylor, instability: int) -> Ray:
    system, n, k = where.system, where.system.n, len(where.system.bilateral)
    if d.branch is not None:
        sign, order = d.branch.p_sign, d.branch.order
    else:
        sign, order = (int(np.sign(d.t[n])), 1) if d.continuum else taylor.sign_of_p()
        if not order:
            sign, order = sign_of_p(d.piece, where.x, d.t)
    names = system.constraint_names
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
    )


def _instability(where: Place, piece: Curve) -> int:
    """Degree of instability on one piece."""
    e = piece.evaluate(where.x)
    return spectrum_at(e, e.c_q[piece.rows], where.sizes, where.tolerances).negative(where.tolerances)
