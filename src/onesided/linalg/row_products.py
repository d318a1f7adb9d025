"""Which rows of a sparse matrix depend on each other, by Cholesky's factorisation of their scalar products.

With rows of length one the square of a pivot is the distance of a row from the span of those before it. For chains the
products form a narrow band, and the cost is linear in the number of rows. Distances below √ε cannot be seen.
"""

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_solve_banded, cholesky_banded, solve_triangular
from scipy.sparse.csgraph import reverse_cuthill_mckee

from onesided.base.tolerances import EPS, HALF_DIGITS
from onesided.base.types import Array, Indices

ROUNDS = 12  # of inverse iteration: the smallest singular value is right to a few per cent


class RowProducts:
    """The rows of G (m, n), sparse, and the largest set of independent ones found, in order.

    Parameters
    ----------
    distance : a row of length one closer than this to the span of others depends on them.
    kept : independent rows that are known already.
    """

    def __init__(self, G: Any, distance: float, kept: Indices | None = None) -> None:
        lengths = np.sqrt(np.asarray(G.multiply(G).sum(axis=1)).ravel())
        zero = lengths <= EPS * lengths.max(initial=0.0)
        self.lengths = np.where(zero, 1.0, lengths)
        unit = sparse.diags_array(np.where(zero, 0.0, 1.0 / self.lengths)) @ G
        self._products = (unit @ unit.T).tocsr()
        order = reverse_cuthill_mckee(sparse.csr_matrix(self._products), symmetric_mode=True).astype(np.intp)
        self.kept = np.sort(self._choose(order, distance)) if kept is None else kept
        place = np.empty(G.shape[0], dtype=np.intp)
        place[order] = np.arange(len(order))
        self._order = self.kept[np.argsort(place[self.kept])]

    def _choose(self, order: Indices, distance: float) -> Indices:
        band = _lower_band(self._products[order][:, order])
        try:
            if np.min(cholesky_banded(band, lower=True)[0], initial=1.0) > distance:
                return order
        except LinAlgError:
            pass
        return order[_independent(band, distance)]

    @property
    def dependent(self) -> Indices:
        """Rows that depend on those kept."""
        return np.setdiff1d(np.arange(len(self.lengths)), self.kept)

    @cached_property
    def _factor(self) -> Array | None:
        if not len(self.kept):
            return None
        try:
            return np.asarray(cholesky_banded(_lower_band(self._products[self._order][:, self._order]), lower=True))
        except LinAlgError:
            return None

    @cached_property
    def combinations(self) -> Any:
        """Sparse (m, dependent rows): each column y has Gᵀ y = 0, with y = 1 at its dependent row."""
        others = self.dependent
        right = self._products[self._order][:, others].toarray()
        found = np.zeros_like(right) if self._factor is None else cho_solve_banded((self._factor, True), right)
        weights = found * (self.lengths[others] / self.lengths[self._order][:, None])
        weights[np.abs(found) <= HALF_DIGITS] = 0.0
        m, count = len(self.lengths), len(others)
        i, j = np.nonzero(weights)
        rows, columns = np.r_[self._order[i], others], np.r_[j, np.arange(count)]
        return sparse.csc_array((np.r_[-weights[i, j], np.ones(count)], (rows, columns)), shape=(m, count))

    @property
    def loose(self) -> tuple[int, ...]:
        """Rows that take part in a dependence: Gᵀμ does not determine their multipliers."""
        return tuple(int(i) for i in np.unique(self.combinations.indices))

    @property
    def smallest(self) -> float:
        """Smallest singular value of the kept rows, each of length one, by inverse iteration."""
        if self._factor is None:
            return 0.0 if len(self.kept) else 1.0
        x = np.random.default_rng(0).normal(size=len(self.kept))
        for _ in range(ROUNDS):
            x = x / np.linalg.norm(x)
            x = cho_solve_banded((self._factor, True), x)
        return float(1.0 / np.sqrt(np.linalg.norm(x)))


def _lower_band(S: Any) -> Array:
    """The lower half of a symmetric matrix in LAPACK's band storage."""
    entries = sparse.coo_array(S)
    i, j = entries.coords
    low = i >= j
    band = np.zeros((int(np.max(i - j, initial=0)) + 1, S.shape[0]))
    band[(i - j)[low], j[low]] = entries.data[low]
    return band


def _independent(band: Array, distance: float) -> Indices:
    """Places whose pivots are not small, in a Cholesky factorisation that leaves out those that are."""
    width, size = band.shape[0] - 1, band.shape[1]
    kept: list[int] = []
    rows = np.zeros((size, width + 1))  # rows[k, width - d] is L[k, k - d]
    for k in range(size):
        near = [i for i in kept[-width:] if i >= k - width] if width else []
        L = np.array([[rows[a, width - (a - b)] if 0 <= a - b <= width else 0.0 for b in near] for a in near])
        right = np.array([band[k - b, b] for b in near])
        y = solve_triangular(L, right, lower=True) if near else right
        left = band[0, k] - float(y @ y)
        if left > distance**2:
            kept.append(k)
            rows[k, width] = np.sqrt(left)
            for b, value in zip(near, y, strict=True):
                rows[k, width - (k - b)] = value
    return np.array(kept, dtype=np.intp)
