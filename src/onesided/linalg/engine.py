"""The sparse symmetric factorisation that is used: that of feral, or SciPy's where feral cannot be had.

feral is young. Where it cannot be imported, or lacks a name that is used here, SuperLU takes its place: with diagonal
pivots L D Lᵀ = A + E up to the order of rows, so that the signs of the pivots are the inertia of A + E (Sylvester). It
is several times slower, and pivots that are zero (constraints before the coordinates they hold) are moved by a little,
which refinement takes back. As long as ‖E‖ ‖(A + E)⁻¹‖ < 1 no eigenvalue changes its sign between A + E and A; where
that is not so the smallest pivot counts as zero: the inertia cannot be told. What is exactly singular is refused.
"""

from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, onenormest, splu

from onesided.base.errors import UsageError
from onesided.base.tolerances import HALF_DIGITS, MOST_DIGITS
from onesided.base.types import Array, Indices

NAMES = "CscMatrix", "Solver", "from_scipy"
# shares of the largest entry by which zeros of the diagonal are moved: little first, then for less growth
MOVED = MOST_DIGITS, HALF_DIGITS
PROBES = 4  # random vectors that measure E
SAFETY = 10.0  # of both norms, which are estimated
REFINEMENTS = 5


@cache
def engine() -> Any:
    """The module feral, or what stands in for it."""
    try:
        found = import_module("feral")
    except ImportError:
        return SuperLU
    return found if all(hasattr(found, name) for name in NAMES) else SuperLU


class Counts(NamedTuple):
    """Numbers of positive, negative and zero pivots."""

    n_pos: int
    n_neg: int
    n_zero: int


class Lower:
    """The lower triangle of a symmetric matrix, in compressed columns, whose values can be changed."""

    def __init__(self, matrix: Any) -> None:
        self._lower = sp.csc_array(matrix)

    @classmethod
    def from_triplet(cls, n: int, rows: Indices, columns: Indices, values: Array) -> "Lower":
        """From entries, each given once."""
        lower = sp.csc_array((values + 1.0, (rows, columns)), shape=(n, n))  # an entry of zero would be dropped
        lower.data -= 1.0
        return cls(lower)

    def values(self) -> Array:
        """The entries, column by column."""
        return np.asarray(self._lower.data)

    def set_values(self, values: Array) -> None:
        """Change the entries, in the order of `values`; the pattern stays."""
        self._lower.data = np.array(values)

    def whole(self) -> Any:
        """The symmetric matrix with both triangles, in compressed columns."""
        strict = sp.tril(self._lower, -1)
        return sp.csc_array(self._lower + strict.T)


class Factors:
    """SuperLU with diagonal pivots: inertia where feral cannot be imported; one that is not certain counts a zero."""

    def __init__(self, ordering: str = "") -> None:
        self.ordering = ordering

    def factor(self, lower: Lower) -> None:
        """Factorise, and count the signs of the pivots."""
        A = lower.whole()
        for share in MOVED:
            self._factor(A, share * float(np.max(np.abs(A.data), initial=0.0)))
            certain = self._is_certain(A)
            if certain:
                break
        self._count(self._lu.U.diagonal(), certain=certain)
        self._A, self.factor_nnz = A, self._lu.nnz

    def _factor(self, A: Any, little: float) -> None:
        moved = np.where(np.abs(A.diagonal()) <= little, -little, 0.0)
        try:
            self._lu: Any = splu(
                sp.csc_array(A + sp.diags_array(moved)), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )  # fmt: skip
        except RuntimeError:  # exactly singular: without a pivot the inertia is not known
            self._lu = None
        if self._lu is None or not np.array_equal(self._lu.perm_r, self._lu.perm_c):
            raise UsageError(
                "this sparse matrix cannot be factorised by SuperLU", advice="install the package feral-solver"
            )

    def _is_certain(self, A: Any) -> bool:
        """Whether A has the inertia of its factors: what they miss is less than their smallest eigenvalue."""
        n, order = A.shape[0], self._lu.perm_r
        x = np.random.default_rng(0).normal(size=(n, PROBES))
        missed = A @ x - (self._lu.L @ (self._lu.U @ x[np.argsort(order)]))[order]
        error = np.sqrt(np.sum(missed**2) / PROBES)  # of Frobenius's norm
        inverse = LinearOperator((n, n), matvec=self._lu.solve, rmatvec=self._lu.solve, dtype=np.float64)
        with np.errstate(all="ignore"):
            return bool(SAFETY * error * onenormest(inverse) < 1.0)

    refactor = factor

    def _count(self, pivots: Array, *, certain: bool) -> None:
        signs = np.sign(pivots)
        if not certain:
            signs[np.argmin(np.abs(pivots))] = 0.0
        positive, negative = int(np.sum(signs > 0)), int(np.sum(signs < 0))
        self.inertia = Counts(positive, negative, len(pivots) - positive - negative)

    def solve(self, b: Array) -> Array:
        """Solve A x = b by the factors."""
        x = self._lu.solve(b)
        return np.asarray(x + self._lu.solve(b - self._A @ x))

    def solve_refined(self, matrix: Lower, b: Array) -> Array:
        """Solve A x = b with iterative refinement."""
        x = self.solve(b)
        for _ in range(REFINEMENTS):
            x = x + self._lu.solve(b - self._A @ x)
        return x


class SuperLU:
    """The names of feral that are used, made of SciPy."""

    CscMatrix = Lower
    Solver = Factors

    @staticmethod
    def from_scipy(A: Any) -> Lower:
        """From a symmetric matrix of SciPy."""
        return Lower(sp.tril(A))
