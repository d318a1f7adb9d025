"""Null-space bases of constraint matrices and what is reduced with them."""

import numpy as np

from onesided.base.tolerances import DEFAULT
from onesided.base.types import Array


def null_space(E: Array, *, rank: float = DEFAULT.rank) -> Array:
    """Orthonormal basis T (n, n − r) of {x : E x = 0}, E (m, n) with a row per constraint [SP1 (2.11)].

    Rows are normalised first, so the rank does not depend on the units of the constraints.
    """
    rows = _normalised(E)
    n = E.shape[1]
    if not len(rows):
        return np.eye(n)
    _, sigma, Vt = np.linalg.svd(rows, full_matrices=True)
    r = int(np.count_nonzero(sigma > rank * sigma[0])) if sigma[0] > 0 else 0
    return np.ascontiguousarray(Vt[r:].T)


def reduced_hessian(L_qq: Array, E: Array, *, rank: float = DEFAULT.rank) -> Array:
    """H = Tᵀ L_qq T on the null space of E [SP1 (2.13)]."""
    T = null_space(E, rank=rank)
    return T.T @ L_qq @ T


def dependent_rows(E: Array, *, rank: float = DEFAULT.rank) -> list[tuple[int, ...]]:
    """Groups of rows whose gradients depend on each other; empty when E has full row rank.

    Each left null vector of E names one group: the rows with a share in it. A zero row is a group of its own.
    """
    norms = np.linalg.norm(E, axis=1)
    largest = float(np.max(norms, initial=0.0))
    zero = [i for i, norm in enumerate(norms) if norm <= rank * largest]
    kept = [i for i in range(len(E)) if i not in zero]
    groups: list[tuple[int, ...]] = [(i,) for i in zero]
    if not kept:
        return groups
    U, sigma, _ = np.linalg.svd(_normalised(E[kept]), full_matrices=True)
    r = int(np.count_nonzero(sigma > rank * sigma[0]))
    left = _row_echelon(U[:, r:].T)
    return groups + [tuple(kept[i] for i in np.flatnonzero(np.abs(v) > np.sqrt(rank))) for v in left]


def _normalised(E: Array) -> Array:
    norms = np.linalg.norm(E, axis=1)
    keep = norms > 0
    return np.asarray(E[keep] / norms[keep, None])


def _row_echelon(V: Array) -> Array:
    """Reduce the rows of V so that each left null vector involves few constraints."""
    V = V.copy()
    for i in range(len(V)):
        pivot = int(np.argmax(np.abs(V[i])))
        V[i] /= V[i, pivot]
        for j in range(len(V)):
            if j != i:
                V[j] -= V[j, pivot] * V[i]
    return V
