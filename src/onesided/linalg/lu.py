"""LU factors, real or complex: dense, banded, sparse; and matrices of a fixed pattern, factorised again and again."""

from typing import Any, Protocol

import numpy as np
import scipy
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse.csgraph import reverse_cuthill_mckee

from onesided.base.types import Indices

_REAL_DENSE, _COMPLEX_DENSE = (lapack.dgetrf, lapack.dgetrs), (lapack.zgetrf, lapack.zgetrs)
_REAL_BAND, _COMPLEX_BAND = (lapack.dgbtrf, lapack.dgbtrs), (lapack.zgbtrf, lapack.zgbtrs)


class LU(Protocol):
    """A factorised square matrix, dense or banded, real or complex."""

    @property
    def pivot(self) -> float:
        """Smallest pivot relative to the largest: zero means singular."""

    def solve(self, b: Any) -> Any:
        """The solution x of A x = b."""


def pivot_ratio(diagonal: Any) -> float:
    """Smallest over largest pivot; not a number where the matrix was not finite."""
    largest = float(diagonal.max(initial=0.0))
    return float(diagonal.min(initial=np.inf) / largest) if largest != 0.0 else 0.0


class DenseLU:
    """LU of a dense matrix, which is overwritten where it is stored by columns."""

    def __init__(self, A: Any) -> None:
        factor, self._solve = _COMPLEX_DENSE if np.iscomplexobj(A) else _REAL_DENSE
        self._lu, self._pivots, _ = factor(A, overwrite_a=1)
        self.pivot = pivot_ratio(np.abs(self._lu.diagonal()))

    @property
    def factors(self) -> tuple[Any, Any]:
        """L and U in one matrix, and the pivots."""
        return self._lu, self._pivots

    def solve(self, b: Any) -> Any:
        """The solution x of A x = b."""
        return self._solve(self._lu, self._pivots, b)[0]


class BandLU:
    """LU of a matrix in band storage.

    Parameters
    ----------
    band : (3 width + 1, size), LAPACK's storage of the permuted matrix, overwritten.
    width : diagonals on either side.
    order : row of the permuted matrix for every unknown.
    """

    def __init__(self, band: Any, width: int, order: Indices) -> None:
        factor, self._solve = _COMPLEX_BAND if np.iscomplexobj(band) else _REAL_BAND
        self._order, self._width = order, width
        self._lu, self._pivots, _ = factor(band, width, width, overwrite_ab=1)
        self.pivot = pivot_ratio(np.abs(self._lu[2 * width]))

    def solve(self, b: Any) -> Any:
        """The solution x of A x = b."""
        permuted = np.empty(len(self._order), dtype=self._lu.dtype)
        permuted[self._order] = b
        x, _ = self._solve(self._lu, self._width, self._width, permuted, self._pivots, overwrite_b=1)
        return x[self._order]


class SparseLU:
    """LU of a sparse matrix by SuperLU."""

    def __init__(self, A: Any) -> None:
        self._lu: Any = None
        self.pivot, self._size = 0.0, A.shape[0]
        try:
            self._lu = scipy.sparse.linalg.splu(A)
            self.pivot = pivot_ratio(np.abs(self._lu.U.diagonal()))
        except RuntimeError:  # exactly singular
            pass

    def solve(self, b: Any) -> Any:
        """The solution x of A x = b; not a number where A is singular."""
        return np.full(self._size, np.nan) if self._lu is None else self._lu.solve(b)


class FixedPattern:
    """A square matrix whose entries stay where they are: band storage where the band is narrow, SuperLU otherwise.

    Parameters
    ----------
    i, j : row and column of every entry, each place once.
    """

    def __init__(self, i: Indices, j: Indices, size: int) -> None:
        self._i, self._j, self._size = i, j, size
        shape = sparse.csr_matrix((np.ones(2 * len(i)), (np.r_[i, j], np.r_[j, i])), shape=(size, size))
        order = np.argsort(reverse_cuthill_mckee(shape, symmetric_mode=True))
        width = int(np.max(np.abs(order[i] - order[j]), initial=0))
        self._order, self._width = order, width
        self.banded = 9 * width < size
        self._place = (order[j], 2 * width + order[i] - order[j])

    def factor(self, values: Any) -> LU:
        """Factorise with these values of the entries."""
        if not self.banded:
            return SparseLU(sparse.csc_array((values, (self._i, self._j)), shape=(self._size, self._size)))
        band = np.zeros((self._size, 3 * self._width + 1), dtype=values.dtype)
        band[self._place] = values
        return BandLU(band.T, self._width, self._order)
