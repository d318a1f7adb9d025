"""Compiled kernels that go from basis to basis: Lemke's method and the scan of all complementary pieces."""

import numpy as np
from numpy.typing import NDArray

from onesided.base.tolerances import EPS
from onesided.base.types import Array, Indices
from onesided.complementarity.kernels.lcp import (
    ACCEPTED,
    FAMILY,
    LIMIT,
    RAY,
    SOLVED,
    evaluate,
    jitted,
    largest,
    solve_piece,
)


@jitted
def pivot(T: Array, row: int, column: int) -> None:
    """Make column `column` of the tableau the unit vector of `row`."""
    line = T[row]
    line /= line[column]
    line[column] = 1.0
    for i in range(T.shape[0]):
        factor = T[i, column]
        if i != row and factor != 0.0:
            other = T[i]
            for j in range(T.shape[1]):
                other[j] -= factor * line[j]
            other[column] = 0.0


@jitted
def precedes(T: Array, i: int, k: int, column: int) -> int:
    """Compare rows (right side, B⁻¹) / T[·, column] lexicographically: 1 when i is first, 0 when ratios tie, −1."""
    a, b = T[i, column], T[k, column]
    last = T.shape[1] - 1
    for step in range(-1, T.shape[0]):
        j = last if step < 0 else step
        left, right = T[i, j] * b, T[k, j] * a
        if abs(left - right) > 64.0 * EPS * max(abs(left), abs(right), max(a, b) if step < 0 else 0.0):
            return 1 if left < right else -1
    return 0


@jitted
def leaving_row(T: Array, basis: Indices, column: int, tol: float) -> int:
    """Lexicographic ratio test, which excludes cycling; the artificial variable leaves first where it can."""
    n, best, last = T.shape[0], -1, T.shape[1] - 1
    least = tol * largest(T[:, column])
    for i in range(n):
        if T[i, column] > least and (best < 0 or precedes(T, i, best, column) > 0):
            best = i
    for i in range(n):
        if best >= 0 and basis[i] == 2 * n and T[i, column] > least:
            gap = T[i, last] * T[best, column] - T[best, last] * T[i, column]
            if gap <= 64.0 * EPS * max(T[i, column], T[best, column]):
                return i
    return best


@jitted
def tableau(M: Array, q: Array) -> tuple[Array, Indices, float]:
    """Return (1, −M, −e, q), its data scaled to size one, the basis w, and the factor from its z to that of M, q."""
    n, size, stiffness = q.size, largest(q), 0.0
    for i in range(n):
        stiffness = max(stiffness, largest(M[i]))
    stiffness = stiffness if stiffness > 0.0 else 1.0
    T = np.zeros((n, 2 * n + 2))
    for i in range(n):
        T[i, i], T[i, 2 * n], T[i, 2 * n + 1] = 1.0, -1.0, q[i] / size
        for j in range(n):
            T[i, n + j] = -M[i, j] / stiffness
    return T, np.arange(n), size / stiffness


@jitted
def lemke(M: Array, q: Array, limit: int, tol: float) -> tuple[Array, int, int]:
    """Lemke's method with covering vector e; returns z, a code, the pivots."""
    n = q.size
    z = np.zeros(n)
    if n == 0 or np.min(q) >= 0.0:
        return z, SOLVED, 0
    row = n - 1 - int(np.argmin(q[::-1]))
    T, basis, factor = tableau(M, q)
    code, entering, pivots = LIMIT, 2 * n, 0
    while pivots < limit:
        pivot(T, row, entering)
        pivots += 1
        leaving, basis[row] = basis[row], entering
        if leaving == 2 * n:
            code = SOLVED
            break
        entering = leaving + n if leaving < n else leaving - n
        row = leaving_row(T, basis, entering, tol)
        if row < 0:
            code = RAY
            break
    for i in range(n):
        if n <= basis[i] < 2 * n:
            z[basis[i] - n] = max(factor * T[i, 2 * n + 1], 0.0)
    order = basis[(basis >= n) & (basis < 2 * n)] - n
    if code == SOLVED:
        y, rank = solve_piece(M, q, order, 4.0 * EPS * n)
        if rank == order.size:
            for k in range(order.size):
                z[order[k]] = max(y[k], 0.0)
    return z, code, pivots


@jitted
def indices(mask: int, n: int) -> Indices:
    """Return the indices of the bits set in `mask`."""
    chosen, count = np.empty(n, dtype=np.intp), 0
    for i in range(n):
        if (mask >> i) & 1:
            chosen[count] = i
            count += 1
    return chosen[:count]


@jitted
def scan(M: Array, q: Array, tolerances: tuple[float, float], first: bool) -> NDArray[np.uint8]:
    """Flag, for every index set A, whether its piece {z_A ≥ 0, w_A = 0, w ≥ 0} holds one point, or perhaps more.

    For data scaled to size one. `tolerances` bound the negative part of z and w, and the pivots of a regular
    M_AA. Bit i of the place in the result says whether i is in A; with `first` the scan ends at the first
    point.
    """
    n = q.size
    flags = np.zeros(1 << n, dtype=np.uint8)
    z, w = np.zeros(n), np.empty(n)
    for mask in range(1 << n):
        chosen = indices(mask, n)
        y, rank = solve_piece(M, q, chosen, tolerances[1])
        if 0 <= rank < chosen.size:
            flags[mask] = FAMILY
        if rank != chosen.size:
            continue
        bound = -tolerances[0] - 64.0 * EPS * largest(y)
        if chosen.size > 0 and np.min(y) < bound:
            continue
        z[:] = 0.0
        z[chosen] = y
        evaluate(M, q, z, w)
        w[chosen] = 0.0
        if n == 0 or np.min(w) >= bound:
            flags[mask] = ACCEPTED
            if first:
                break
    return flags
