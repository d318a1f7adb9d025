"""Solving M x + Gᵀν = f, G x = g: dense, banded or sparse, and by rank where the constraints depend on each other."""

from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, qr

from onesided.base.tolerances import DEFAULT, EPS
from onesided.base.types import Array, Indices
from onesided.linalg.lu import LU, pivot_ratio


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


class KKTFactor(Protocol):
    """A factorised [[M, Gᵀ], [G, 0]], dense, sparse or by singular values."""

    @property
    def pivot(self) -> float:
        """Smallest pivot relative to the largest: zero means singular."""

    def solve(self, f: Array, g: Array) -> tuple[Array, Array]:
        """The solution x (n,) and the multipliers ν (m,)."""


class DenseKKT:
    """LU of the dense KKT matrix."""

    def __init__(self, M: Array, G: Array) -> None:
        self.n = len(M)
        self._lu, self._pivots, _ = lapack.dgetrf(kkt_matrix(M, G), overwrite_a=1)
        diagonal = np.abs(self._lu.diagonal())
        self.pivot = pivot_ratio(diagonal)

    def solve(self, f: Array, g: Array) -> tuple[Array, Array]:
        """The solution x and the multipliers ν."""
        x, _ = lapack.dgetrs(self._lu, self._pivots, np.concatenate([f, g]))
        return x[: self.n], x[self.n :]


class KKT:
    """Any factor of the KKT matrix, banded or sparse."""

    def __init__(self, lu: LU, n: int) -> None:
        self._lu, self.n, self.pivot = lu, n, lu.pivot

    def solve(self, f: Array, g: Array) -> tuple[Array, Array]:
        """The solution x and the multipliers ν."""
        x = self._lu.solve(np.concatenate([f, g]))
        return x[: self.n], x[self.n :]


class RankKKT:
    """The same by singular values of G: right for dependent constraints too, of which it takes what they agree on.

    x is unique if M is positive definite on the null space of G, not a number if M is singular there; ν is the one of
    minimal norm.
    """

    def __init__(self, M: Array, G: Array, *, rank: float = DEFAULT.rank) -> None:
        self._M, self._G = M, G
        self._weights = 1.0 / np.maximum(np.linalg.norm(G, axis=1), EPS)
        U, sigma, Vt = np.linalg.svd(G * self._weights[:, None], full_matrices=True)
        r = int(np.count_nonzero(sigma > rank * sigma[0])) if len(sigma) and sigma[0] > 0 else 0
        self.rank, self._U, self._sigma, self._V, self._Z = r, U[:, :r], sigma[:r], Vt[:r].T, Vt[r:].T
        reduced = self._Z.T @ M @ self._Z
        values, modes = np.linalg.eigh(reduced)
        self.weakest = self._Z @ modes[:, 0] if len(values) else np.zeros(len(M))
        self.pivot = float(values[0] / values[-1]) if len(values) and values[-1] > 0 else float(not len(values))
        self._reduced = reduced

    def solve(self, f: Array, g: Array) -> tuple[Array, Array]:
        """The solution x and the smallest multipliers ν."""
        x = self._V @ ((self._U.T @ (g * self._weights)) / self._sigma)
        if self._Z.shape[1]:
            _, _, free, singular = lapack.dgesv(self._reduced, self._Z.T @ (f - self._M @ x))
            if singular:
                return np.full(len(f), np.nan), np.full(len(g), np.nan)
            x = x + self._Z @ free
        nu = np.linalg.lstsq(self._G.T, f - self._M @ x, rcond=DEFAULT.rank)[0]
        return x, nu


def independent_rows(G: Array, *, rank: float = DEFAULT.rank) -> Indices:
    """Indices of as many rows as can be independent of each other, by pivoted QR of the normalised rows."""
    if not G.size:
        return np.arange(0)
    norms = np.linalg.norm(G, axis=1)
    weights = np.where(norms > rank * norms.max(initial=0.0), 1.0 / np.maximum(norms, EPS), 0.0)
    R, order = qr((G * weights[:, None]).T, mode="r", pivoting=True)
    diagonal = np.abs(np.diagonal(R))
    count = int(np.count_nonzero(diagonal > rank * diagonal[0])) if diagonal.size and diagonal[0] > 0 else 0
    return np.sort(np.asarray(order[:count], dtype=np.intp))
