"""Square matrices put together from blocks times factors: dense, or sparse with blocks of a fixed pattern.

What stays the same while factors and values change (a Newton matrix over many steps) is worked out once.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from onesided.base.types import Indices
from onesided.linalg.lu import LU, DenseLU, FixedPattern


class BlockPlace(NamedTuple):
    """A block's place: row and column of blocks, number of the block, and whether it is transposed."""

    row: int
    column: int
    block: int
    transposed: bool = False


class DenseBlocks:
    """Blocks that are matrices.

    Parameters
    ----------
    heights, widths : sizes of the rows and columns of blocks.
    places : where blocks stand; those at the same place are added.
    """

    def __init__(self, heights: Sequence[int], widths: Sequence[int], places: Sequence[BlockPlace]) -> None:
        rows, columns = _ends(heights), _ends(widths)
        self._size = int(rows[-1])
        self._places = [
            (
                slice(rows[p.row], rows[p.row + 1]),
                slice(columns[p.column], columns[p.column + 1]),
                p.block,
                p.transposed,
            )
            for p in places
        ]

    def factor(self, factors: Sequence[Any], blocks: Sequence[Any]) -> LU:
        """Factorise the sum of factors × blocks, a factor for each place."""
        kind = complex if any(isinstance(factor, complex) for factor in factors) else float
        A = np.zeros((self._size, self._size), dtype=kind, order="F")
        for (rows, columns, block, transposed), factor in zip(self._places, factors, strict=True):
            A[rows, columns] += factor * (blocks[block].T if transposed else blocks[block])
        return DenseLU(A)


class SparseBlocks:
    """Blocks given by the values of their entries.

    Parameters
    ----------
    heights, widths, places : as for `DenseBlocks`.
    entries : (rows, columns) of the entries of every block.
    """

    def __init__(
        self,
        heights: Sequence[int],
        widths: Sequence[int],
        places: Sequence[BlockPlace],
        entries: Sequence[tuple[Indices, Indices]],
    ) -> None:
        rows, columns = _ends(heights), _ends(widths)
        size, self._blocks, keys = int(rows[-1]), [p.block for p in places], []
        for p in places:
            i, j = entries[p.block][::-1] if p.transposed else entries[p.block]
            keys.append((rows[p.row] + i) * size + columns[p.column] + j)
        joined = np.concatenate(keys)
        self._order = np.argsort(joined, kind="stable")
        unique, self._starts = np.unique(joined[self._order], return_index=True)
        self._pattern = FixedPattern(unique // size, unique % size, size)

    def factor(self, factors: Sequence[Any], blocks: Sequence[Any]) -> LU:
        """Factorise the sum of factors × blocks, a factor for each place."""
        values = np.concatenate([factor * blocks[n] for factor, n in zip(factors, self._blocks, strict=True)])
        return self._pattern.factor(np.add.reduceat(values[self._order], self._starts))


def _ends(sizes: Sequence[int]) -> Indices:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
