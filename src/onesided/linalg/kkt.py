"""The sparse KKT matrix with a fixed pattern: all constraints are in it, open ones switched off.

K = [[H, Eᵀ], [E, −D]] with the row of E zero and D = 1 for every open constraint: a contact change only changes
values and needs no new analysis. On the null space of the closed rows, H has negative(K) − m negative eigenvalues.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from onesided.base.tolerances import SMALL
from onesided.base.types import Array, Indices, Mask
from onesided.linalg.engine import engine
from onesided.linalg.ldl import Inertia, best_ordered

REFINEMENTS = 5


class SparseKkt:
    """Factorisations of K for one pattern.

    Parameters
    ----------
    n, m : coordinates and constraints.
    hessian : (rows, columns) of the entries of the lower triangle of H.
    gradients : (constraints, coordinates) of the entries of E.
    """

    def __init__(self, n: int, m: int, hessian: tuple[Indices, Indices], gradients: tuple[Indices, Indices]) -> None:
        self.n, self.m = n, m
        self._constraints = gradients[0]
        diagonal = n + np.arange(m)
        rows = np.concatenate([hessian[0], n + gradients[0], diagonal]).astype(np.int64)
        columns = np.concatenate([hessian[1], gradients[1], diagonal]).astype(np.int64)
        numbers = np.arange(len(rows), dtype=np.float64)
        self._matrix = engine().CscMatrix.from_triplet(n + m, rows, columns, numbers)
        self._order = np.asarray(self._matrix.values()).astype(np.intp)
        self._lower = sp.csc_array((numbers + 1.0, (rows, columns)), shape=(n + m, n + m))
        self._lower_order = self._lower.data.astype(np.intp) - 1
        self._upper = self._lower.T
        self._solver: Any = None
        self.count = 0  # factorisations so far
        self._of: tuple[Any, Any] = (None, None)

    def factor(
        self,
        hessian: Array,
        gradients: Array,
        closed: Array | Mask,
        *,
        soft: float = 0.0,
        of: tuple[Any, Any] = (None, None),
    ) -> None:
        """Factorise with these values; `closed` (m,) says which constraints are equations, of compliance `soft`.

        `of` is the evaluation, with the working set, whose factors these are, where they may be asked for again.
        """
        self.count += 1
        self._of = of
        gradients = np.where(closed[self._constraints], gradients, 0.0)
        values = np.concatenate([hessian, gradients, np.where(closed, -soft, -1.0)])
        self._matrix.set_values(values[self._order])
        self._lower.data = self._upper.data = values[self._lower_order]
        self._diagonal = self._lower.diagonal()
        if self._solver is None:
            self._solver = best_ordered(self._matrix)
        else:
            self._solver.refactor(self._matrix)

    def held(self, rows: Any) -> Any:
        """The evaluation whose factors with these rows are at hand; None if others are."""
        return self._of[0] if self._of[1] is rows else None

    @property
    def inertia(self) -> Inertia:
        """Inertia of K as factorised last."""
        counted = self._solver.inertia
        return Inertia(counted.n_pos, counted.n_neg, counted.n_zero)

    def solve(self, b: Array, *, refine: bool = True) -> Array:
        """Solve K x = b, with iterative refinement unless the caller corrects errors itself."""
        x = np.asarray(self._solver.solve(b))
        for _ in range(REFINEMENTS if refine else 0):
            correction = np.asarray(self._solver.solve(b - self._times(x)))
            size, moved = float(np.max(np.abs(x), initial=0.0)), float(np.max(np.abs(correction), initial=0.0))
            if not moved < size:  # nothing to gain: the factors say nothing about this direction
                break
            x = x + correction
            if moved <= SMALL * size:  # the next one would be below round-off
                break
        return x

    def _times(self, x: Array) -> Array:
        """K x from its lower triangle."""
        return np.asarray(self._lower @ x + self._upper @ x - self._diagonal * x)
