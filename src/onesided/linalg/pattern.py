"""The pattern of a sparse KKT matrix: columns that can be differentiated together, and an order with a narrow band."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from onesided._types import Array, Indices, Mask
from onesided.linalg.saddle import BandKKT, KKTFactor, SparseKKT


def colour_columns(pattern: Mask) -> Indices:
    """A colour per column, so that columns of one colour share no row: one directional derivative finds them all."""
    sparse_pattern = sparse.csc_array(pattern)
    neighbours = (sparse_pattern.T.astype(np.int64) @ sparse_pattern.astype(np.int64)).tocsr()
    colours = np.full(pattern.shape[1], -1, dtype=np.intp)
    for j in range(pattern.shape[1]):
        near = neighbours.indices[neighbours.indptr[j] : neighbours.indptr[j + 1]]
        taken = set(colours[near].tolist())
        colours[j] = next(c for c in range(len(near) + 1) if c not in taken)
    return colours


@dataclass(frozen=True, eq=False)
class KKTPattern:
    """Where M (n, n) and G (m, n) have entries. Their values are stored compressed: one column per colour."""

    M: Mask
    G: Mask

    @cached_property
    def colours(self) -> tuple[Indices, Indices]:
        """Colours of the columns of M and of G."""
        return colour_columns(self.M), colour_columns(self.G)

    @cached_property
    def seeds(self) -> tuple[Array, Array]:
        """Directions to differentiate along, (n, number of colours) for M and G."""
        return tuple(np.eye(int(c.max(initial=0)) + 1)[c] for c in self.colours)  # type: ignore[return-value]

    def expand(self, M: Array, G: Array) -> tuple[Array, Array]:
        """Dense matrices from compressed ones."""
        a, b = self.colours
        return np.where(self.M, M[:, a], 0.0), np.where(self.G, G[:, b], 0.0)

    def factoriser(self, rows: Indices, weights: Array) -> "Factoriser":
        """Factorises the KKT matrix of these rows of G, multiplied by weights."""
        return Factoriser(self, rows, weights)


class Factoriser:
    """From compressed values to a factor: band storage where the band is narrow, SuperLU otherwise."""

    def __init__(self, pattern: KKTPattern, rows: Indices, weights: Array) -> None:
        n, m = pattern.M.shape[0], len(rows)
        self.n, size = n, n + m
        (Mi, Mj), (Gi, Gj) = np.nonzero(pattern.M), np.nonzero(pattern.G[rows])
        a, b = pattern.colours
        count_M, count_G = int(a.max(initial=0)) + 1, int(b.max(initial=0)) + 1
        source_M = Mi * count_M + a[Mj]
        source_G = n * count_M + rows[Gi] * count_G + b[Gj]
        i = np.concatenate([Mi, n + Gi, Gj])
        j = np.concatenate([Mj, Gj, n + Gi])
        self._source = np.concatenate([source_M, source_G, source_G])
        self._weight = np.concatenate([np.ones(len(Mi)), weights[rows[Gi]], weights[rows[Gi]]])
        shape = sparse.csr_array((np.ones(len(i)), (i, j)), shape=(size, size))
        order = np.argsort(reverse_cuthill_mckee(sparse.csr_matrix(shape), symmetric_mode=True))
        width = int(np.max(np.abs(order[i] - order[j]), initial=0))
        self._band: Any = None
        if 3 * width < size // 3:
            self._order, self._width = order, width
            self._place = (order[j], 2 * width + order[i] - order[j])
            self._band = np.zeros((size, 3 * width + 1))
        else:
            self._entries, self._shape = (i, j), (size, size)

    def __call__(self, M: Array, G: Array) -> KKTFactor:
        """Factorise compressed values."""
        values = np.concatenate([M.ravel(), G.ravel()])[self._source] * self._weight
        if self._band is None:
            return SparseKKT(sparse.csc_array((values, self._entries), shape=self._shape), self.n)
        band = self._band.copy()
        band[self._place] = values
        return BandKKT(band.T, self._width, self._width, self._order, self.n)
