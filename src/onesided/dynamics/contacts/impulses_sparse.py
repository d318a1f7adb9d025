"""Impulses of a time step with many contacts: sparse matrices throughout, for systems without joints."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from onesided.base.types import Array
from onesided.complementarity.friction import block_pattern
from onesided.dynamics.contacts.contact_run import World
from onesided.dynamics.contacts.impulses import Impulse, Impulses, Pushed
from onesided.linalg import KKTPattern


class SparseImpulses(Impulses):
    """Impulses of the steps of one motion, from compressed values of M and G.

    W M⁻¹ Wᵀ couples contacts of one body only: it is stored, and its systems are solved, by rows with few entries.
    """

    def __init__(self, world: World, pattern: KKTPattern, h: float, accuracy: float) -> None:
        super().__init__(world, h, 0.5 * h, accuracy)
        self.plain = False
        M, G = pattern.M, pattern.G
        order = np.lexsort((G.columns, G.rows))
        self._shape, self._columns, self._source = G.shape, G.columns[order], G.source[order]
        self._starts = np.searchsorted(G.rows[order], np.arange(G.shape[0] + 1))
        order = np.lexsort((M.columns, M.rows))
        self._mass, self._mass_source = (M.rows[order], M.columns[order]), M.source[order]
        self._diagonal = bool(np.all(M.rows == M.columns))

    def of(self, step: Pushed, *, symmetric: bool = True) -> Impulse:
        """The velocity at the end of the step and the impulses that lead there."""
        rows, terms = self.rows, step.terms
        G = sparse.csr_array((terms.G.ravel()[self._source], self._columns, self._starts), shape=self._shape)
        values = terms.M.ravel()[self._mass_source]
        solve = self._solver(values)
        change = solve(step.f)
        impulses, hits = np.zeros(len(terms.c_dot)), self._none_hit()
        reach = self.reach(step.aim, (G @ change)[rows.gaps])
        if reach is not None:
            chosen = self._chosen(reach)
            W = G[chosen]
            X = sparse.csr_array(W.T.multiply(1.0 / values[:, None])) if self._diagonal else solve(W.T.toarray())
            D = block_pattern(sparse.csr_array(W @ X), abs(G[rows.gaps[reach.near]]), self._directions[reach.near])
            reach = reach._replace(u=step.aim.u[chosen], change=W @ change)
            impulses[chosen], hits = self.resolve(D, reach, step.last[chosen], step.hits)
            change = change + X @ impulses[chosen]
        return Impulse(step.v + change, impulses, hits)

    def _solver(self, values: Array) -> Any:
        if self._diagonal:
            return lambda right: right / (values if right.ndim == 1 else values[:, None])
        n = self._shape[1]
        return splu(sparse.csc_array((values, self._mass), shape=(n, n))).solve
