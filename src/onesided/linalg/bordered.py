"""KKT matrices."""

from typing import Any

import numpy as np
from scipy import sparse


def kkt_matrix(L_qq: Any, E: Any, forces: Any = None) -> Any:
    """K = [[L_qq, Eᵀ], [E, 0]]; inertia(K) = inertia(H on the null space of E) + (m, m, 0) for E of full rank.

    Dense arrays give a dense matrix (by columns, as LAPACK wants it), scipy sparse matrices a sparse one. `forces`
    (m, n) stands in place of E above where constraints push in other directions than their gradients (friction).
    """
    F = E if forces is None else forces
    if not isinstance(L_qq, np.ndarray):
        return sparse.block_array([[L_qq, F.T], [E, None]], format="csc")
    n, m = len(L_qq), len(E)
    K = np.zeros((n + m, n + m), order="F")
    K[:n, :n], K[:n, n:], K[n:, :n] = L_qq, F.T, E
    return K
