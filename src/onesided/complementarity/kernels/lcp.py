"""Compiled kernels. Imported at the first solve that needs one, never at the import of the package."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from onesided.base.tolerances import CUBE_ROOT, EPS
from onesided.base.types import Array, Indices, Mask

Keys = NDArray[np.uint64]
Function = TypeVar("Function", bound=Callable[..., Any])

TINY = float(np.finfo(np.float64).tiny)
SOLVED, LIMIT, CYCLE, SINGULAR, RAY, ACCEPTED, FAMILY = range(7)


def jitted(function: Function) -> Function:
    """Compile a function when it is first called, and keep the code where it can be kept."""
    # Sums may be reordered so that they vectorise; NaN and infinity keep their meaning.
    knobs: dict[str, Any] = {"fastmath": {"reassoc", "contract"}, "error_model": "numpy"}
    try:
        return cast(Function, njit(cache=True, **knobs)(function))
    except RuntimeError:  # nowhere to keep compiled code
        return cast(Function, njit(**knobs)(function))


@jitted
def largest(values: Array) -> float:
    """Return max |values|, over an array of one dimension; zero when it is empty."""
    top = 0.0
    for value in values:
        top = max(top, abs(value))
    return top


@jitted
def merit(M: Array, q: Array, x: Array, free: int) -> tuple[float, float]:
    """Natural-map residual of w = M x + q, absolute and relative to the size of the data.

    The first `free` rows are equations w = 0; the others are w ⟂ x ≥ 0. Row i has the size
    ω_i = |q| + min(κ (|M||x|)_i, |q| / κ), and x the size ζ = |q| / |M| + κ |x|, so that min(x_i / ζ, w_i / ω_i)
    has no unit. κ is so small that the terms with it forgive round-off only, and not where x is so large that
    round-off hides q: points that run away to infinity must not count as solutions. Hence, too, w_i counts as no
    better than the error of its evaluation.
    """
    n, kappa = x.size, CUBE_ROOT
    sizes, stiffness = (largest(q[:free]), largest(q[free:])), 0.0
    zeta = kappa * largest(x[free:])
    for i in range(n):
        stiffness = max(stiffness, largest(M[i, free:]))
    if stiffness > 0.0:
        zeta += max(sizes[0], sizes[1]) / stiffness
    absolute, relative = 0.0, 0.0
    for i in range(n):
        row, w, terms = M[i], q[i], 0.0
        for j in range(n):
            term = row[j] * x[j]
            w += term
            terms += abs(term)
        size = sizes[0 if i < free else 1]
        omega = size + (min(kappa * terms, size / kappa) if size > 0.0 else kappa * terms)
        plain, share = w, w / omega if omega > 0.0 else w
        place = x[i] / zeta if zeta > 0.0 else x[i]
        if i >= free:
            plain = min(x[i], w)
        if i >= free and place < share:
            share = place
        elif omega > 0.0:
            share = max(abs(share), EPS * terms / omega)
        if not np.isfinite(w + x[i]):
            return np.inf, np.inf
        absolute, relative = max(absolute, abs(plain)), max(relative, abs(share))
    return absolute, relative


@jitted
def evaluate(M: Array, q: Array, z: Array, w: Array) -> None:
    """Write w = M z + q."""
    for i in range(q.size):
        row, total = M[i], 0.0
        for j in range(q.size):
            total += row[j] * z[j]
        w[i] = q[i] + total


@jitted
def factor(U: Array, M: Array, chosen: Indices, keep: int) -> bool:
    """Cholesky factor UᵀU of M over the rows and columns `chosen`; the leading `keep` rows of U stand already.

    Returns False where a pivot is not positive relative to its diagonal entry.
    """
    count = chosen.size
    for k in range(count):
        first, row, line = max(k, keep), U[k], M[chosen[k]]
        for j in range(first, count):
            row[j] = line[chosen[j]]
        for level in range(0, k - 3, 4):
            a, b, c, d = U[level, k], U[level + 1, k], U[level + 2, k], U[level + 3, k]
            A, B, C, D = U[level], U[level + 1], U[level + 2], U[level + 3]
            for j in range(first, count):
                row[j] -= a * A[j] + b * B[j] + c * C[j] + d * D[j]
        for level in range(k - k % 4, k):
            a, A = U[level, k], U[level]
            for j in range(first, count):
                row[j] -= a * A[j]
        if k >= keep:
            if not row[k] > 4.0 * EPS * count * line[chosen[k]]:
                return False
            row[k] = np.sqrt(row[k])
            first += 1
        scale = 1.0 / row[k]
        for j in range(first, count):
            row[j] *= scale
    return True


@jitted
def back_substitute(U: Array, y: Array) -> None:
    """Solve UᵀU x = y in place."""
    count = y.size
    for k in range(count):
        row = U[k]
        y[k] /= row[k]
        top = y[k]
        for j in range(k + 1, count):
            y[j] -= top * row[j]
    for k in range(count - 1, -1, -1):
        row, total = U[k], 0.0
        for j in range(k + 1, count):
            total += row[j] * y[j]
        y[k] = (y[k] - total) / row[k]


@jitted
def eliminate(S: Array, y: Array, tol: float) -> int:
    """Solve S x = y in place by elimination with complete pivoting; S is destroyed.

    Returns the rank. Where it is below the size, y holds no solution: −rank − 1 is returned when the rows
    left over contradict each other, the rank when they do not. `tol` is relative to max |S|, and to 1 on the
    right.
    """
    count, size = y.size, 0.0
    places = np.empty(count, dtype=np.intp)
    for i in range(count):
        places[i] = i
        size = max(size, largest(S[i]))
    for k in range(count):
        p, r, top = k, k, 0.0
        for i in range(k, count):
            for j in range(k, count):
                if abs(S[i, j]) > top:
                    p, r, top = i, j, abs(S[i, j])
        if not top > tol * size:
            return -k - 1 if largest(y[k:]) > tol * max(1.0, largest(y[:k])) else k
        if p != k:
            for j in range(count):
                S[k, j], S[p, j] = S[p, j], S[k, j]
            y[k], y[p] = y[p], y[k]
        if r != k:
            for i in range(count):
                S[i, k], S[i, r] = S[i, r], S[i, k]
            places[k], places[r] = places[r], places[k]
        for i in range(k + 1, count):
            ratio = S[i, k] / S[k, k]
            if ratio != 0.0:
                for j in range(k + 1, count):
                    S[i, j] -= ratio * S[k, j]
                y[i] -= ratio * y[k]
    for k in range(count - 1, -1, -1):
        for j in range(k + 1, count):
            y[k] -= S[k, j] * y[j]
        y[k] /= S[k, k]
    x = y.copy()
    for k in range(count):
        y[places[k]] = x[k]
    return count


@jitted
def relax(M: Array, q: Array, z: Array, omega: float) -> float:
    """One projected Gauss–Seidel sweep in place; returns the largest change of a row, |M_ii Δz_i|."""
    change = 0.0
    for i in range(q.size):
        row, total = M[i], q[i]
        for j in range(q.size):
            total += row[j] * z[j]
        new = max(0.0, z[i] - omega * total / row[i])
        change = max(change, abs(row[i] * (new - z[i])))
        z[i] = new
    return change


@jitted
def gauss_seidel(M: Array, q: Array, z: Array, omega: float, limit: int) -> tuple[int, int]:
    """Relax z in place until a sweep changes it by round-off only; returns a code and the number of sweeps."""
    size = largest(q)
    for sweep in range(limit):
        change = relax(M, q, z, omega)
        if not np.isfinite(change):
            return SINGULAR, sweep + 1
        if change <= 4.0 * EPS * size:
            return SOLVED, sweep + 1
    return LIMIT, limit


@jitted
def solve_piece(M: Array, q: Array, chosen: Indices, tol: float) -> tuple[Array, int]:
    """Solve M_AA z_A = −q_A for A = `chosen` by elimination; returns z_A and the answer of `eliminate`."""
    count = chosen.size
    S, y = np.empty((count, count)), np.empty(count)
    for k in range(count):
        y[k] = -q[chosen[k]]
        for j in range(count):
            S[k, j] = M[chosen[k], chosen[j]]
    rank = eliminate(S, y, tol)
    return y, rank


@jitted
def seen_before(active: Mask, seen: Keys, visits: int) -> bool:
    """Write a key of the set at `seen[visits]`; returns whether it stands at an earlier place."""
    key = np.uint64(1469598103934665603)
    for flag in active:
        key = (key ^ np.uint64(2 if flag else 1)) * np.uint64(1099511628211)
    again = False
    for k in range(visits):
        again |= seen[k] == key
    seen[visits] = key
    return again


@jitted
def reorder(order: Indices, active: Mask, count: int) -> tuple[int, int]:
    """Let `order` list the active set, its standing prefix kept; returns the length of that prefix and of all."""
    listed = np.zeros(active.size, dtype=np.bool_)
    keep, total = -1, 0
    for k in range(count):
        i = order[k]
        if active[i]:
            order[total] = i
            listed[i] = True
            total += 1
        elif keep < 0:
            keep = k
    keep = total if keep < 0 else keep
    for i in range(active.size):
        if active[i] and not listed[i]:
            order[total] = i
            total += 1
    return keep, total


@jitted
def flip(active: Mask, z: Array, w: Array, bounds: tuple[float, float], moves: int) -> int:
    """Count the wrong indices, z < −bounds[0] or w < −bounds[1]; let the first `moves` of them change sides."""
    count = 0
    for i in range(active.size):
        if (z[i] < -bounds[0]) if active[i] else (w[i] < -bounds[1]):
            if count < moves:
                active[i] = not active[i]
            count += 1
    return count


@jitted
def guess(M: Array, q: Array, active: Mask, sweeps: int) -> float:
    """Write the support of z after some relaxation, where the diagonal allows it; returns max |M_ii|."""
    top, z = 0.0, np.zeros(q.size)
    for i in range(q.size):
        top = max(top, abs(M[i, i]))
        sweeps = sweeps if M[i, i] > 0.0 else 0
    for _ in range(sweeps):
        relax(M, q, z, 1.0)
    for i in range(q.size if sweeps > 0 else 0):
        active[i] = z[i] > 0.0
    return top


@jitted
def solve_active(M: Array, q: Array, U: Array, chosen: Indices, keep: int) -> tuple[Array, int]:
    """Solve M_AA z_A = −q_A by Cholesky where U has room and M_AA allows it, else by elimination.

    Returns z_A and the number of rows of U that stand, or −1 where M_AA is singular.
    """
    if U.size > 0 and factor(U, M, chosen, keep):
        x: Array = np.empty(chosen.size)
        for k in range(chosen.size):
            x[k] = -q[chosen[k]]
        back_substitute(U, x)
        return x, chosen.size
    y, rank = solve_piece(M, q, chosen, 4.0 * EPS * q.size)
    return y, 0 if rank == chosen.size else -1


@jitted
def active_set(
    M: Array, q: Array, active: Mask, knobs: tuple[int, int, int, bool, bool], tol: float
) -> tuple[Array, int, int]:
    """Primal–dual active set; returns z, a code, the number of sweeps. `active` is overwritten.

    `knobs` are the limit of sweeps, the sweeps allowed without progress, the relaxation sweeps at the start,
    and whether to try Cholesky, and to use single exchanges where the plain iteration does not progress.
    """
    limit, patience, relaxations, symmetric, safeguard = knobs
    n, size, stiffness = q.size, largest(q), guess(M, q, active, relaxations)
    z, w, order = np.zeros(n), np.empty(n), np.empty(n, dtype=np.intp)
    U, standing = np.empty((n, n) if symmetric else (0, 0)), 0
    seen, visits, count, best, trust, single = np.empty(limit, dtype=np.uint64), 0, 0, n + 1, patience, False
    for sweep in range(limit):
        keep, count = reorder(order, active, count)
        y, standing = solve_active(M, q, U, order[:count], min(keep, standing))
        if standing < 0:
            return np.maximum(z, 0.0), SINGULAR, sweep
        z[:] = 0.0
        for k in range(count):
            z[order[k]] = y[k]
        evaluate(M, q, z, w)
        top = largest(z)
        noise = 64.0 * EPS * top
        bounds = (tol * size / max(stiffness, TINY) + noise, tol * size + stiffness * noise)
        wrong = flip(active, z, w, bounds, 0)
        if wrong == 0:
            return np.maximum(z, 0.0), SOLVED, sweep + 1
        if wrong < best:
            best, trust, single, visits = wrong, patience, False, 0
        again = seen_before(active, seen, visits)
        visits += 1
        trust -= 1
        if again and (single or not safeguard):
            return np.maximum(z, 0.0), CYCLE, sweep + 1
        if safeguard and not single and (again or trust < 0):
            single, visits = True, 0
        flip(active, z, w, bounds, 1 if single else n)
    return np.maximum(z, 0.0), LIMIT, limit
