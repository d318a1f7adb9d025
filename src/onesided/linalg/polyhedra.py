"""Generators of polyhedral cones by the double description method."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from onesided.base.errors import UsageError
from onesided.base.tolerances import DEFAULT
from onesided.base.types import Array, Indices, Mask


@dataclass(frozen=True, eq=False)
class ConeGenerators:
    """All x = lines combined freely + rays combined with coefficients ≥ 0; one generator per row.

    Attributes
    ----------
    lines : (k, n) array
        Orthonormal basis of the largest subspace in the cone.
    rays : (r, n) array
        Extreme rays of the part orthogonal to `lines`, of length one, none of them superfluous.
    """

    lines: Array
    rays: Array


def cone_generators(equalities: ArrayLike, inequalities: ArrayLike, tol: float = DEFAULT.rank) -> ConeGenerators:
    """Return the generators of {x : A x = 0, B x ≥ 0}.

    The equalities go by a null-space basis, the subspace inside the cone likewise; what is left is a pointed
    cone, whose rays are made inequality by inequality, new ones between adjacent old ones only.

    Parameters
    ----------
    equalities, inequalities : (a, n) and (b, n) arrays
        A and B; the lengths of their rows do not matter. Either may have no rows, with shape (0, n).
    tol : float
        A unit row times a unit vector below `tol` counts as zero, and so does a singular value of unit rows.

    Raises
    ------
    UsageError
        Where shapes do not fit or values are not finite.
    """
    A, B = _unit_rows(equalities, "equalities"), _unit_rows(inequalities, "inequalities")
    if A.shape[1] != B.shape[1]:
        raise UsageError(
            "equalities and inequalities have different numbers of columns",
            got=f"{A.shape[1]} and {B.shape[1]}",
            expected="equal numbers",
            advice="np.zeros((0, n)) for no rows",
        )
    inside = null_rows(A, tol)
    C = B @ inside.T
    C = C[np.linalg.norm(C, axis=1) > tol]
    C /= np.linalg.norm(C, axis=1, keepdims=True)
    lineality, across = _split_rows(C, tol)
    D = C @ across.T
    D /= np.linalg.norm(D, axis=1, keepdims=True)
    rays = _pointed_rays(D, tol) @ across @ inside
    return ConeGenerators(lines=lineality @ inside, rays=rays)


def null_rows(matrix: Array, tol: float) -> Array:
    """Return an orthonormal basis, as rows, of {x : matrix x = 0}; `matrix` has unit rows."""
    return _split_rows(matrix, tol)[0]


def _split_rows(matrix: Array, tol: float) -> tuple[Array, Array]:
    """Return orthonormal bases, as rows, of the null space and of the row space."""
    if not matrix.size:
        identity = np.eye(matrix.shape[1])
        return identity, identity[:0]
    _, s, V = np.linalg.svd(matrix)
    rank = int(np.count_nonzero(s > tol * max(1.0, s[0])))
    return V[rank:], V[:rank]


def _unit_rows(rows: ArrayLike, name: str) -> Array:
    matrix: Array = np.array(rows, dtype=np.float64)
    if matrix.ndim != 2 or not np.isfinite(matrix).all():
        raise UsageError(
            f"`{name}` is not a matrix of finite numbers",
            got=f"shape {matrix.shape}",
            expected="two dimensions, one row per condition",
            advice="np.zeros((0, n)) for no rows",
        )
    # Scaling by the largest entry first keeps the squares from overflow and underflow.
    matrix = matrix[np.abs(matrix).max(axis=1, initial=0.0) > 0]
    matrix /= np.abs(matrix).max(axis=1, keepdims=True, initial=0.0)
    return np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True), dtype=np.float64)


def _pointed_rays(C: Array, tol: float) -> Array:
    """Return the extreme rays, as unit rows, of {v : C v ≥ 0} where C has unit rows and full column rank."""
    rows, d = C.shape
    if d == 0:
        return np.zeros((0, 0))
    base = _independent_rows(C)
    rays: Array = np.asarray(np.linalg.inv(C[base]).T, dtype=np.float64)
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    zero = np.zeros((d, rows), dtype=np.bool_)
    zero[:, base] = ~np.eye(d, dtype=np.bool_)
    for row in [k for k in range(rows) if k not in set(base)]:
        rays, zero = _cut(rays, zero, C, row, tol)
    return np.array([_refine(ray, C[on]) for ray, on in zip(rays, zero, strict=True)]).reshape(-1, d)


def _independent_rows(C: Array) -> list[int]:
    """Return indices of d independent rows, each chosen to stand farthest off the span of those before."""
    left, chosen = C.copy(), []
    for _ in range(C.shape[1]):
        k = int(np.argmax((left**2).sum(axis=1)))
        chosen.append(k)
        direction = left[k] / np.linalg.norm(left[k])
        left -= np.outer(left @ direction, direction)
    return chosen


def _cut(rays: Array, zero: Mask, C: Array, row: int, tol: float) -> tuple[Array, Mask]:
    """Intersect the cone of `rays` with C[row]·v ≥ 0; `zero` says which earlier rows vanish on which ray."""
    s = rays @ C[row]
    plus, minus = s > tol, s < -tol
    zero = zero.copy()
    zero[:, row] = ~plus & ~minus
    pairs = _adjacent(zero, np.flatnonzero(plus), np.flatnonzero(minus), C.shape[1])
    p, m = pairs[:, 0], pairs[:, 1]
    new = s[p, None] * rays[m] - s[m, None] * rays[p]
    new /= np.linalg.norm(new, axis=1, keepdims=True)
    new_zero = zero[p] & zero[m]
    new_zero[:, row] = True
    return np.vstack([rays[~minus], new]), np.vstack([zero[~minus], new_zero])


def _adjacent(zero: Mask, plus: Indices, minus: Indices, d: int) -> Indices:
    """Return the pairs of rays that span a face: no third ray vanishes wherever both of them do."""
    pairs = [np.zeros((0, 2), dtype=np.intp)]
    others = zero.astype(np.float64)
    for p in plus:
        common = zero[p] & zero[minus]
        enough = common.sum(axis=1) >= d - 2
        common, partners = common[enough].astype(np.float64), minus[enough]
        sharing = (common @ others.T >= common.sum(axis=1, keepdims=True)).sum(axis=1)
        good = partners[sharing == 2]
        pairs.append(np.column_stack([np.full(good.size, p), good]))
    return np.vstack(pairs).astype(np.intp)


def _refine(ray: Array, active: Array) -> Array:
    """Return the unit vector next to `ray` on which the rows `active` vanish."""
    if not active.size:
        return ray
    direction: Array = np.linalg.svd(active)[2][-1]
    return direction if direction @ ray > 0 else -direction


def balanced_rows(gradients: Array, free: Mask, tol: float = DEFAULT.rank) -> Mask:
    """Which rows of E x ≥ 0 can only be met as equations, where those that are `free` are equations already.

    These are the rows that take part in some z with Eᵀz = 0 and z ≥ 0 on all rows but the free ones (Stiemke's lemma).
    """
    norms = np.linalg.norm(gradients, axis=1)
    E = gradients / np.where(norms > 0.0, norms, 1.0)[:, None]
    W = E @ null_rows(E[free], tol).T
    sizes = np.linalg.norm(W, axis=1)
    found: Mask = ~free & (sizes <= tol) & (norms > 0.0)
    rest = np.flatnonzero(~free & (sizes > tol))
    unit = W[rest] / sizes[rest, None]
    while not found[rest].all():
        wanted = ~found[rest]
        z, off = scipy.optimize.nnls(np.vstack([unit.T, wanted]), np.eye(1, W.shape[1] + 1, W.shape[1])[0])
        if off > tol:
            break
        found[rest[wanted & (z > tol)]] = True
    return found
