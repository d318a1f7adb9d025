"""Contacts with Coulomb friction: the exact cone, in the plane and in space.

With impulses P and velocities w = D P + u of all contacts (normal, then tangential, for each), Coulomb's law is

    |P_T| ≤ μ P_N,   w_N ≥ 0 ⊥ P_N ≥ 0,   w_T opposite to P_T where |P_T| = μ P_N, zero where it is less,

that is K ∋ P ⊥ w + (μ|w_T|, 0) ∈ K* for the cone K of friction (De Saxcé). Its natural map is the measure of a
solution; it is found by a semismooth Newton method (Alart and Curnier) with block Gauss–Seidel sweeps where Newton does
not settle.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from onesided._types import Array, Indices
from onesided.errors import UsageError
from onesided.tolerances import EPS

NEWTON = 30
ROUNDS = 8
SWEEPS = 150
SPARSE_FROM = 120  # rows: below, dense factorisations are faster
SHIFT = EPS**0.75  # of the diagonal, so that forces which are not unique do no harm


@dataclass(frozen=True, eq=False)
class FrictionProblem:
    """Impulses of contacts: D, u, coefficients μ (c,), tangential directions (c,).

    D is a matrix, dense or sparse; sparse ones must have the same columns in all rows of a contact (`block_pattern`).
    `scale` is the size of the velocities that u is a difference of, where that is known: residuals are relative to it.
    """

    D: Any
    u: Array
    mu: Array
    directions: Indices
    scale: float = 0.0

    def __post_init__(self) -> None:
        size = len(self.mu) + int(np.sum(self.directions))
        if self.D.shape != (size, size) or self.u.shape != (size,) or len(self.directions) != len(self.mu):
            raise UsageError(
                "the parts of a friction problem do not fit",
                got=f"D {self.D.shape}, u {self.u.shape}, {len(self.mu)} contacts",
                expected=f"({size}, {size}) and ({size},)",
            )

    @cached_property
    def normal(self) -> Indices:
        """Rows of the normal directions."""
        return np.concatenate([[0], np.cumsum(1 + self.directions)[:-1]]).astype(np.intp)

    @cached_property
    def rows(self) -> tuple[Indices, Indices, Array]:
        """D by rows: starts, columns, values."""
        if isinstance(self.D, np.ndarray):
            size = len(self.u)
            starts = np.arange(0, size * size + 1, max(size, 1), dtype=np.intp)
            return starts, np.tile(np.arange(size, dtype=np.intp), size), np.ascontiguousarray(self.D).ravel()
        return self.D.indptr.astype(np.intp), self.D.indices.astype(np.intp), self.D.data

    def residual(self, P: Array) -> float:
        """Natural map P − proj_K(P − ρ (w + (μ|w_T|, 0))), relative to the size of the impulses that u calls for."""
        from onesided.complementarity._friction_kernels import natural_map

        if not len(self.mu):
            return 0.0
        pushed = max(float(np.max(np.abs(self.u))), self.scale) / self._stiff()
        size = max(pushed, float(np.max(np.abs(P)))) or 1.0
        return float(natural_map(self.rows, self.u, P, self.mu, self.normal, self.directions)) / size

    def _stiff(self) -> float:
        return float(np.max(self.D.diagonal())) or 1.0

    def solve_with_pattern(self, values: Array, right: Array) -> Array:
        """Solve J x = right for a matrix J of the pattern of D, with a shift that makes it regular."""
        starts, columns, _ = self.rows
        size = len(right)
        if len(values) == size * size:
            J = values.reshape(size, size).copy()
            J.ravel()[:: size + 1] += SHIFT * np.maximum(np.abs(J.diagonal()), 1.0)
            try:
                return np.asarray(np.linalg.solve(J, right))
            except np.linalg.LinAlgError:
                return np.asarray(np.linalg.lstsq(J, right, rcond=EPS * size)[0])
        from scipy import sparse
        from scipy.sparse.linalg import splu

        lines = sparse.csr_array((values, columns, starts), shape=(size, size))
        shifted = sparse.csc_array(lines + SHIFT * sparse.eye_array(size))
        return np.asarray(splu(shifted).solve(right))


def block_pattern(D: Any, touched: Any, directions: Indices) -> Any:
    """D (CSR) with explicit zeros, so that all rows of a contact have the same columns.

    `touched` (contacts, n) tells which coordinates a contact moves.
    """
    from scipy import sparse

    contact = np.repeat(np.arange(len(directions)), 1 + directions)
    belongs = sparse.csr_array((np.ones(len(contact)), (np.arange(len(contact)), contact)))
    together = belongs @ (touched @ touched.T) @ belongs.T
    pattern = sparse.coo_array(together)
    entries = sparse.coo_array(D)
    i, j = (np.concatenate([a, b]) for a, b in zip(pattern.coords, entries.coords, strict=True))
    values = np.concatenate([np.zeros(pattern.nnz), entries.data])
    found = sparse.csr_array(sparse.coo_array((values, (i, j)), shape=D.shape))
    found.sum_duplicates()
    return found


def solve_friction(problem: FrictionProblem, start: Array | None = None, *, tol: float) -> tuple[Array, float]:
    """Impulses and their residual, the best found: Newton from the start, sweeps where it does not settle."""
    from onesided.complementarity._friction_kernels import newton_system, sweep

    mu, normal, directions = problem.mu, problem.normal, problem.directions
    P = np.zeros(len(problem.u)) if start is None else np.array(start, dtype=float)
    best, least = P, problem.residual(P)
    for _ in range(ROUNDS):
        before = np.inf
        for _ in range(NEWTON):
            F, J = newton_system(problem.rows, problem.u, P, mu, normal, directions)
            step = problem.solve_with_pattern(J, -F)
            if not np.all(np.isfinite(step)):
                break
            P = P + step
            off = problem.residual(P)
            if off < least:
                best, least = P, off
            if off <= tol or off >= 10.0 * before:
                break
            before = off
        if least <= tol:
            break
        P = best.copy()
        sweep(problem.rows, problem.u, P, mu, (normal, directions), SWEEPS)
        off = problem.residual(P)
        if off < least:
            best, least = P.copy(), off
    return best, least
