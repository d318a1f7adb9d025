"""Where sparse matrices have entries, and which of their columns can be differentiated together."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from onesided.base.types import Array, Indices
from onesided.linalg.lu import FixedPattern
from onesided.linalg.saddle import KKT


@dataclass(frozen=True, eq=False)
class Pattern:
    """Entries of a matrix of `shape`. Values are held compressed, (rows, number of colours).

    Columns of one colour share no row: one directional derivative finds them all.
    """

    rows: Indices
    columns: Indices
    shape: tuple[int, int]

    @cached_property
    def colours(self) -> Indices:
        """A colour per column: columns of one colour share no row, so that they are differentiated together."""
        ones = np.ones(len(self.rows), dtype=np.int64)
        entries = sparse.csc_array((ones, (self.rows, self.columns)), shape=self.shape)
        neighbours = (entries.T @ entries).tocsr()
        colours = np.full(self.shape[1], -1, dtype=np.intp)
        for j in range(self.shape[1]):
            near = neighbours.indices[neighbours.indptr[j] : neighbours.indptr[j + 1]]
            taken = set(colours[near].tolist())
            colours[j] = next(c for c in range(len(near) + 1) if c not in taken)
        return colours

    @property
    def count(self) -> int:
        """Number of colours: of directions that give the whole matrix."""
        return int(self.colours.max(initial=0)) + 1

    @cached_property
    def seeds(self) -> Array:
        """Directions to differentiate along, (columns, number of colours)."""
        return np.asarray(np.eye(self.count)[self.colours])

    @cached_property
    def source(self) -> Indices:
        """Where each entry stands in the compressed values, flattened."""
        return np.asarray(self.rows * self.count + self.colours[self.columns], dtype=np.intp)

    def entries(self, compressed: Array) -> Array:
        """Values in the order of `rows` and `columns`, from (rows, colours) compressed ones."""
        return np.asarray(compressed.ravel()[self.source])

    def sparse(self, compressed: Array) -> Any:
        """The matrix in compressed rows, from (rows, colours) compressed values."""
        return sparse.csr_array((self.entries(compressed), (self.rows, self.columns)), shape=self.shape)

    def dense(self, compressed: Array) -> Array:
        """The matrix with its zeros, from (rows, colours) compressed values."""
        full = np.zeros(self.shape)
        full[self.rows, self.columns] = self.entries(compressed)
        return full


@dataclass(frozen=True, eq=False)
class KKTPattern:
    """Where M (n, n) and G (m, n) have entries."""

    M: Pattern
    G: Pattern

    @property
    def seeds(self) -> tuple[Array, Array]:
        """Directions to differentiate along, for M and G."""
        return self.M.seeds, self.G.seeds

    def factoriser(self, rows: Indices, weights: Array) -> "Factoriser":
        """Factorises the KKT matrix of these rows of G, multiplied by weights."""
        return Factoriser(self, rows, weights)


class Factoriser:
    """From compressed values to a factor of [[M, Gᵀ], [G, 0]] with some rows of G, weighted."""

    def __init__(self, pattern: KKTPattern, rows: Indices, weights: Array) -> None:
        M, G = pattern.M, pattern.G
        self.n = M.shape[0]
        number = np.full(G.shape[0], -1)
        number[rows] = self.n + np.arange(len(rows))
        kept = np.flatnonzero(number[G.rows] >= 0)
        i, j, source = number[G.rows[kept]], G.columns[kept], G.source[kept] + self.n * M.count
        self._source = np.concatenate([M.source, source, source])
        weight = weights[G.rows[kept]]
        self._weight = np.concatenate([np.ones(len(M.rows)), weight, weight])
        places = (np.concatenate([M.rows, i, j]), np.concatenate([M.columns, j, i]))
        self._pattern = FixedPattern(*places, self.n + len(rows))

    def __call__(self, M: Array, G: Array) -> KKT:
        """Factorise, from the compressed values of M (n, colours) and G (m, colours)."""
        values = np.concatenate([M.ravel(), G.ravel()])[self._source] * self._weight
        return KKT(self._pattern.factor(values), self.n)
