"""Small linear systems, by loops or written out without loops and branches at run time, and cubics."""

from typing import Any

import jax.numpy as jnp
from jax import lax

from onesided.base.tolerances import HALF_DIGITS

NARROWED = 4  # Newton iterations for where something happens on a step


def first_root(va: Any, ra: Any, vb: Any, rb: Any) -> Any:
    """About where the cubic with these values, of opposite signs, and slopes vanishes: Newton's method in a bracket."""
    lead, linear = 2 * (va - vb) + ra + rb, 3 * (vb - va) - 2 * ra - rb
    low, high, f = 0.0 * va, 0.0 * va + 1.0, jnp.clip(va / (va - vb), 0.0, 1.0)
    for _ in range(NARROWED):
        value, slope = ((lead * f + linear) * f + ra) * f + va, (3 * lead * f + 2 * linear) * f + ra
        before = value * va > 0
        low, high = jnp.where(before, f, low), jnp.where(before, high, f)
        better = f - value / slope
        f = jnp.where((better > low) & (better < high), better, (low + high) / 2)
    return f


def eliminated_rows(A: Any) -> tuple[Any, Any, Any]:
    """Solution of [M, B] by elimination with partial pivoting, every row on its own; sign and log size of det M."""
    rows, sign, size = list(A), jnp.ones(()), len(A)
    volume, inverses = jnp.ones(()), list[Any]()  # a division takes as long as some ten products
    for k in range(size):
        for i in range(k + 1, size):
            swap = jnp.abs(rows[i][k]) > jnp.abs(rows[k][k])
            upper, lower = rows[k][k:], rows[i][k:]
            rows[k] = rows[k].at[k:].set(jnp.where(swap, lower, upper))
            rows[i] = rows[i].at[k:].set(jnp.where(swap, upper, lower))
            sign = jnp.where(swap, -sign, sign)
        volume *= rows[k][k]
        inverses.append(1.0 / rows[k][k])
        for i in range(k + 1, size):
            rows[i] = rows[i].at[k + 1 :].add(-rows[i][k] * inverses[k] * rows[k][k + 1 :])
    solution: list[Any] = [None] * size
    for k in reversed(range(size)):
        rest = rows[k][size:]
        for i in range(k + 1, size):
            rest = rest - rows[k][i] * solution[i]
        solution[k] = rest * inverses[k]
    return jnp.stack(solution), sign * jnp.sign(volume), jnp.log(jnp.abs(volume))


def negative_pivots(A: Any, n: int, m: int) -> tuple[Any, Any]:
    """Negative modes of the first n unknowns on the constraints, and whether no pivot is too small to count.

    Elimination without exchanges of [[K, −Cᵀ], [C, 0]], whose rows were scaled by positive numbers: the signs of its
    pivots are those of the symmetric matrix, but for the rows of constraints, where each has the opposite one. That
    matrix has a negative mode more for every constraint.
    """
    rows, negative, clear = list(A), jnp.zeros(()), jnp.asarray(True)
    for k in range(n + m):
        pivot, size = rows[k][k], jnp.max(jnp.abs(rows[k]))
        clear &= jnp.abs(pivot) > HALF_DIGITS * size
        negative += jnp.where(pivot < 0, 1.0 if k < n else -1.0, 0.0)
        inverse = 1.0 / pivot
        for i in range(k + 1, n + m):
            rows[i] = rows[i].at[k + 1 :].add(-rows[i][k] * inverse * rows[k][k + 1 :])
    return negative, clear


def eliminated(A: Any) -> tuple[Any, Any]:
    """Gaussian elimination with partial pivoting: what is left above the diagonal, and the number of swaps."""
    rows = jnp.arange(len(A))

    def step(k: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        A, swaps = state
        pivot = jnp.argmax(jnp.where(rows >= k, jnp.abs(A[:, k]), -1.0))
        above, chosen = A[k], A[pivot]
        A = A.at[pivot].set(above).at[k].set(chosen)
        share = jnp.where(rows > k, A[:, k] / chosen[k], 0.0)
        return A - share[:, None] * chosen, swaps + (pivot != k)

    made: tuple[Any, Any] = lax.fori_loop(0, len(A), step, (A, jnp.zeros((), dtype=int)))
    return made


def substituted(U: Any, B: Any) -> Any:
    """Solution of U X = B, from the last row up."""
    last = len(U) - 1

    def step(i: Any, X: Any) -> Any:
        k = last - i
        return X.at[k].set((B[k] - U[k] @ X) / U[k, k])

    return lax.fori_loop(0, last + 1, step, jnp.zeros_like(B))
