"""Symmetric indefinite factorisation with inertia: dense by LAPACK, sparse by the engine of `engine.py`.

The inertia is read off the block-diagonal factor (Sylvester): no eigenvalues are computed.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.linalg import lapack

from onesided.base.tolerances import EPS
from onesided.base.types import Array
from onesided.linalg.engine import engine


class Inertia(NamedTuple):
    """Numbers of positive, negative and zero eigenvalues of a symmetric matrix."""

    positive: int
    negative: int
    zero: int

    def __add__(self, other: tuple[int, ...]) -> "Inertia":  # type: ignore[override]
        return Inertia(*(a + b for a, b in zip(self, other, strict=True)))


class SymmetricFactor(Protocol):
    """What a factorisation can do; dense and sparse behave alike."""

    @property
    def inertia(self) -> Inertia:
        """Inertia of the factorised matrix."""

    def solve(self, b: Array) -> Array:
        """Solve A x = b for one (n,) or several (n, k) right-hand sides."""


class DenseFactor:
    """Bunch–Kaufman LDLᵀ of a dense symmetric matrix (its lower triangle is read)."""

    def __init__(self, A: Array) -> None:
        n = len(A)
        # 16 columns per block: less work space than LAPACK's own choice and as fast for n up to a few hundred
        self._ldu, self._pivots, _ = lapack.dsytrf(A, lower=1, lwork=max(1, 16 * n))
        diagonal = self._ldu.diagonal()
        single = self._pivots > 0
        pairs = (n - int(np.count_nonzero(single))) // 2  # a 2×2 pivot has one eigenvalue of each sign
        pivots = diagonal[single]
        threshold = n * EPS * float(np.max(np.abs(A), initial=0.0))
        negative = int(np.count_nonzero(pivots < -threshold))
        positive = int(np.count_nonzero(pivots > threshold))
        self.inertia = Inertia(positive + pairs, negative + pairs, n - positive - negative - 2 * pairs)

    def solve(self, b: Array) -> Array:
        """Solve A x = b."""
        if not len(self._ldu):
            return np.zeros_like(b)
        x, _ = lapack.dsytrs(self._ldu, self._pivots, b, lower=1)
        return np.asarray(x.reshape(b.shape))


def best_ordered(matrix: Any) -> Any:
    """The solver with less fill of two orderings, factorised: its own choice can be five times slower."""
    solvers = [engine().Solver(ordering=name) for name in ("amf", "scotch")]
    for solver in solvers:
        solver.factor(matrix)
    return min(solvers, key=lambda solver: solver.factor_nnz)


class SparseFactor:
    """LDLᵀ of a sparse symmetric matrix; the analysis is reused while the pattern stays.

    Parameters
    ----------
    A : scipy sparse matrix, symmetric.
    previous : a factor of a matrix with the same pattern, whose analysis is taken over.
    """

    def __init__(self, A: Any, previous: "SparseFactor | None" = None) -> None:
        self._matrix = engine().from_scipy(A.tocsc())
        if previous is None:
            self._solver = best_ordered(self._matrix)
        else:
            self._solver = previous._solver
            self._solver.factor(self._matrix)
        counted = self._solver.inertia
        self.inertia = Inertia(counted.n_pos, counted.n_neg, counted.n_zero)

    def solve(self, b: Array) -> Array:
        """Solve A x = b with iterative refinement."""
        return np.asarray(self._solver.solve_refined(self._matrix, np.ascontiguousarray(b)))


def factorise(A: Any, previous: SymmetricFactor | None = None) -> SymmetricFactor:
    """Factorise a symmetric matrix, dense (ndarray) or sparse (scipy); `previous` shares its analysis when sparse."""
    if isinstance(A, np.ndarray):
        return DenseFactor(A)
    return SparseFactor(A, previous if isinstance(previous, SparseFactor) else None)


def inertia(A: Any) -> Inertia:
    """Inertia of a symmetric matrix, dense or sparse."""
    return factorise(A).inertia
