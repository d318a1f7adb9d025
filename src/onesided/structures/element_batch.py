"""Elements of a structure that share their functions, and where the entries of their derivatives belong."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from onesided.base.types import Indices
from onesided.elements.contract import Element, Start
from onesided.elements.places import Place
from onesided.structures.kernels import Data, Form

MANY = 16  # elements from which on short functions matter more than few operations


@dataclass(frozen=True, eq=False)
class Batch:
    """Elements that are evaluated together.

    Attributes
    ----------
    elements, places : all elements of the batch, with the places each is attached to; the first gives the functions.
    index : (ne, k) coordinate of every slot, −1 where it is held.
    rows : (ne, r) constraint row of every closure and gap.
    key : what elements with the same functions have in common, in this structure and in others.
    """

    elements: tuple[Element, ...]
    places: tuple[tuple[Place, ...], ...]
    index: Indices
    rows: Indices
    key: Hashable

    @property
    def k(self) -> int:
        """Number of slots (local coordinates) of one element."""
        return int(self.index.shape[1])

    @property
    def r(self) -> int:
        """Number of constraints of one element, closures before gaps."""
        return int(self.rows.shape[1])

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Local entries (i, j) of the Hessian that are wanted: a triangle, or all where slots share a coordinate."""
        k, index = self.k, self.index
        shared = any(np.any((index[:, i] == index[:, j]) & (index[:, i] >= 0)) for i in range(k) for j in range(i))
        return tuple((i, j) for j in range(k) for i in range(0 if shared else j, k))

    @cached_property
    def structure(self) -> Data:
        """What does not change with the parameters: which slots are free, their coordinates, the constraint rows."""
        return {
            "free": tuple(self.index.T >= 0),
            "index": tuple(np.maximum(self.index.T, 0).astype(np.int32)),
            "rows": tuple(self.rows.T.astype(np.int32)),
        }

    @cached_property
    def form(self) -> Form:
        """What decides the functions of its elements: groups of one form share compiled kernels."""
        return Form(self.key, self.k, self.r, self.pairs, len(self.index) >= MANY, self.elements[0], self.places[0])

    def hessian_places(self) -> list[tuple[Indices, Indices]]:
        """Row and column, in the lower triangle, of every wanted entry of ℓ_zz for every element; −1: dropped."""
        places, full = [], len(self.pairs) == self.k**2 > 1
        for i, j in self.pairs:
            row, column = self.index[:, i], self.index[:, j]
            dropped = (row < 0) | (column < 0) | (full & (row < column))
            low, high = np.minimum(row, column), np.maximum(row, column)
            places.append((np.where(dropped, -1, high), np.where(dropped, -1, low)))
        return places

    def first_targets(self, n: int) -> list[Indices]:
        """Places of the entries of `first_order` in (energy, L_x, c, …); −1: dropped."""
        ne = len(self.index)
        slots = [np.where(column < 0, -1, 1 + column) for column in self.index.T]
        return [np.zeros(ne, int), *slots, np.full(ne, 1 + n), *(n + 2 + row for row in self.rows.T)]

    def data(self, start: Start, held: Mapping[int, tuple[float, float]], slots: Sequence[Indices]) -> Data:
        """Arrays that the functions need: values of held slots, numbers of elements and places."""
        base, rate = np.zeros(self.index.shape), np.zeros(self.index.shape)
        for e, row in enumerate(slots):
            for j, slot in enumerate(row):
                if self.index[e, j] < 0:
                    base[e, j], rate[e, j] = held[int(slot)]
        numbers = [element.numbers(start) for element in self.elements]
        columns = range(len(self.places[0]))
        return {
            "base": tuple(base.T),
            "rate": tuple(rate.T),
            "numbers": {name: np.array([one[name] for one in numbers], dtype=np.float64) for name in numbers[0]},
            "places": tuple(
                {
                    name: np.array([start.vector(all_places[i].numbers[name]) for all_places in self.places])
                    for name in self.places[0][i].numbers
                }
                for i in columns
            ),
        }
