"""KKT and bordered matrices."""

from typing import Any

import numpy as np

from onesided.base.types import Array


def kkt_matrix(L_qq: Any, E: Any) -> Any:
    """K = [[L_qq, Eᵀ], [E, 0]]; inertia(K) = inertia(H on the null space of E) + (m, m, 0) for E of full rank.

    Dense arrays give a dense matrix, scipy sparse matrices a sparse one.
    """
    if not isinstance(L_qq, np.ndarray):
        from scipy import sparse

        return sparse.block_array([[L_qq, E.T], [E, None]], format="csc")
    n, m = len(L_qq), len(E)
    K = np.zeros((n + m, n + m))
    K[:n, :n], K[:n, n:], K[n:, :n] = L_qq, E.T, E
    return K


def bordered_solve(A: Array, border: Array, row: Array, corner: float, right: Array) -> Array:
    """Solve [[A, border], [rowᵀ, corner]] x = right as a whole: A itself may be singular (limit points)."""
    n = len(A)
    M = np.empty((n + 1, n + 1))
    M[:n, :n], M[:n, n], M[n, :n], M[n, n] = A, border, row, corner
    return np.asarray(np.linalg.solve(M, right))
