"""Ways from a mixed problem to a linear complementarity problem, and back."""

from dataclasses import dataclass

import numpy as np

from onesided.base.tolerances import Tolerances
from onesided.base.types import Array
from onesided.complementarity.problems import LCP, MLCP


@dataclass(frozen=True, eq=False)
class Reduction:
    """A linear complementarity problem in y ≥ 0, and the way back to the stacked unknowns: x = x₀ + R y."""

    problem: LCP
    offset: Array
    response: Array

    def recover(self, y: Array) -> Array:
        """Return the stacked unknowns (u, z)."""
        return self.offset + self.response @ y


def eliminate(problem: MLCP, tolerances: Tolerances) -> Reduction | None:
    """Eliminate u by the Schur complement B − D A⁻¹ C; y is z.

    This is how G and ĝ of the rate problem arise from the bordered equations [SP1 (4.3), (4.4)]. Where A is
    singular but the equations are redundant (its null vectors touch neither C and a nor D), the shortest u is
    taken. None where that is not so.
    """
    k, m = problem.a.size, problem.b.size
    right = np.column_stack([problem.C, problem.a])
    U, s, V = np.linalg.svd(problem.A)
    rank = int(np.count_nonzero(s > tolerances.rank * s.max(initial=0.0)))
    if rank == k:
        inside = -np.linalg.solve(problem.A, right)
    else:
        loose = np.abs(U[:, rank:].T @ right).max(axis=0) > tolerances.rank * np.abs(right).max(axis=0)
        felt = np.abs(problem.D @ V[rank:].T) > tolerances.rank * np.abs(problem.D).max(initial=0.0)
        if loose.any() or felt.any():
            return None
        inside = -(V[:rank].T / s[:rank]) @ (U[:, :rank].T @ right)
    reduced = LCP(problem.B + problem.D @ inside[:, :-1], problem.b + problem.D @ inside[:, -1])
    offset = np.concatenate([inside[:, -1], np.zeros(m)])
    return Reduction(reduced, offset, np.vstack([inside[:, :-1], np.eye(m)]))


def split(problem: MLCP) -> Reduction:
    """Write u = u⁺ − u⁻ with both parts ≥ 0, y = (u⁺, u⁻, z); works for every A, and keeps M semidefinite."""
    k, m = problem.a.size, problem.b.size
    A, B, C, D = problem.A, problem.B, problem.C, problem.D
    M = np.block([[A, -A, C], [-A, A, -C], [D, -D, B]])
    eye = np.eye(k)
    response = np.block([[eye, -eye, np.zeros((k, m))], [np.zeros((m, 2 * k)), np.eye(m)]])
    return Reduction(LCP(M, np.concatenate([problem.a, -problem.a, problem.b])), np.zeros(k + m), response)
