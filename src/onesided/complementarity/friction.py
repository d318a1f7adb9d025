"""Contacts with Coulomb friction: the exact cone, in the plane and in space.

With impulses P and velocities w = D P + u of all contacts (normal, then tangential, for each), Coulomb's law is

    |P_T| ≤ μ P_N,   w_N ≥ 0 ⊥ P_N ≥ 0,   w_T opposite to P_T where |P_T| = μ P_N, zero where it is less,

that is K ∋ P ⊥ w + (μ|w_T|, 0) ∈ K* for the cone K of friction (De Saxcé). Its natural map is the measure of a
solution; it is found by a semismooth Newton method (Alart and Curnier). Where Newton does not settle it starts again:
few contacts from cones with edges (`polyhedral`), many from interior point iterations in the plane, from block
Gauss–Seidel sweeps in space.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from onesided.base.errors import UsageError
from onesided.base.tolerances import EPS, HALF_DIGITS, MOST_DIGITS, QUARTER_DIGITS, SOME_DIGITS
from onesided.base.types import Array, Indices
from onesided.complementarity import kernels
from onesided.complementarity.cone_interior import interior
from onesided.complementarity.polyhedral import polyhedral

ROUNDS = 8
SWEEPS = 150
SHIFTS = ((MOST_DIGITS, 20), (QUARTER_DIGITS, 20))  # of the diagonal, for forces that are not unique, and Newton steps
FIRST, QUICK = ((MOST_DIGITS, 20),), ((HALF_DIGITS, 3),)
ROUNDINGS = (0.7, 0.9, 0.5)  # exponents tried by the interior point method
COMPLIANCE, PROXIMAL = SOME_DIGITS, 6  # of the contacts, relative, and how often it is taken back
SOFT, SOFTENED = 2.0**-13, 40  # compliance to begin with, relative to that of the contacts; how often it is changed
TURNS = 4  # of the edges of cones in space
LARGE = 40  # rows from which sweeps take longer than interior point iterations


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

    def shifted(self, give: float) -> "FrictionProblem":
        """The same problem with a compliance of all contacts."""
        if isinstance(self.D, np.ndarray):
            return replace(self, D=self.D + give * np.eye(len(self.u)))
        return replace(self, D=scipy.sparse.csr_array(self.D + give * scipy.sparse.eye_array(len(self.u))))

    def residual(self, P: Array) -> float:
        """Natural map P − proj_K(P − ρ (w + (μ|w_T|, 0))), relative to the size of the impulses that u calls for."""
        if not len(self.mu):
            return 0.0
        pushed = max(float(np.max(np.abs(self.u))), self.scale) / self._stiff()
        size = max(pushed, float(np.max(np.abs(P)))) or 1.0
        return (
            float(kernels.friction_cones.natural_map(self.rows, self.u, P, self.mu, self.normal, self.directions))
            / size
        )

    def _stiff(self) -> float:
        return float(np.max(self.D.diagonal())) or 1.0

    @property
    def planar(self) -> bool:
        """Whether every contact slides in one direction, with friction that is finite."""
        return bool(np.all(self.directions == 1) and np.all(np.isfinite(self.mu)) and np.all(self.mu > 0.0))

    def solve_with_pattern(self, values: Array, right: Array, shift: float) -> Array:
        """Solve J x = right for a matrix J of the pattern of D, with a shift that makes it regular."""
        starts, columns, _ = self.rows
        size = len(right)
        if len(values) == size * size:
            J = values.reshape(size, size).copy()
            J.ravel()[:: size + 1] += shift
            try:
                return np.asarray(np.linalg.solve(J, right))
            except np.linalg.LinAlgError:
                return np.asarray(np.linalg.lstsq(J, right, rcond=EPS * size)[0])
        lines = scipy.sparse.csr_array((values, columns, starts), shape=(size, size))
        shifted = scipy.sparse.csc_array(lines + shift * scipy.sparse.eye_array(size))
        try:
            return np.asarray(scipy.sparse.linalg.splu(shifted).solve(right))
        except RuntimeError:  # exactly singular
            return np.full(size, np.nan)


def block_pattern(D: Any, touched: Any, directions: Indices) -> Any:
    """D (CSR) with explicit zeros, so that all rows of a contact have the same columns.

    `touched` (contacts, n) says which coordinates a contact moves.
    """
    contact = np.repeat(np.arange(len(directions)), 1 + directions)
    belongs = scipy.sparse.csr_array((np.ones(len(contact)), (np.arange(len(contact)), contact)))
    together = belongs @ (touched @ touched.T) @ belongs.T
    pattern = scipy.sparse.coo_array(together)
    entries = scipy.sparse.coo_array(D)
    i, j = (np.concatenate([a, b]) for a, b in zip(pattern.coords, entries.coords, strict=True))
    values = np.concatenate([np.zeros(pattern.nnz), entries.data])
    found = scipy.sparse.csr_array(scipy.sparse.coo_array((values, (i, j)), shape=D.shape))
    found.sum_duplicates()
    return found


class _Search:
    """The best impulses so far, and how good they are."""

    def __init__(self, problem: FrictionProblem, start: Array, tol: float) -> None:
        self.problem, self.tol = problem, tol
        self.best, self.least = start, problem.residual(start)

    @property
    def done(self) -> bool:
        return self.least <= self.tol

    def take(self, P: Array) -> float:
        """Keep P if it is better than the best; its residual."""
        off = self.problem.residual(P)
        if off < self.least:
            self.best, self.least = P.copy(), off
        return off

    def newton(self, P: Array, schedule: tuple[tuple[float, int], ...]) -> None:
        """Newton's method with shifts of the diagonal, each for so many steps, from P and then from the best."""
        problem = self.problem
        for shift, steps in schedule:
            before = np.inf
            for _ in range(steps):
                F, J = kernels.friction_cones.newton_system(
                    problem.rows, problem.u, P, problem.mu, problem.normal, problem.directions
                )
                P = P + problem.solve_with_pattern(J, -F, shift)
                if not np.all(np.isfinite(P)):
                    break
                off = self.take(P)
                if self.done or off >= 1000.0 * before:
                    break
                before = off
            if self.done:
                return
            P = self.best.copy()

    def pivoted(self, good: float) -> None:
        """Newton's method from cones with edges, which turn to the friction found; in the plane they are exact."""
        problem = self.problem
        turned: Array = np.zeros(len(problem.mu))
        for _ in range(1 if np.all(problem.directions < 2) else TURNS):
            P = polyhedral(problem, turned)
            if P is None:
                return
            self.take(P)
            if self.least > good:
                self.newton(P, SHIFTS)
            if self.least <= good:
                return
            turned = _angles(problem, P)

    def inside(self, good: float) -> None:
        """Newton's method from interior points; in the plane."""
        for rounding in ROUNDINGS:
            if self.least <= good:
                return
            for P in interior(self.problem, rounding):
                self.take(P)
                self.newton(P, QUICK)
                if self.least <= good:
                    return
            self.newton(P, SHIFTS)

    def softened(self, good: float) -> None:
        """Newton's method for contacts with a compliance that is taken back again and becomes smaller, as `proximal`.

        Bodies that touch in more places than they need and cannot stick in all of them, as a box that is almost flat on
        its corners, slip so little that friction hardly depends on it: Newton's method alone finds no way there.
        """
        problem, P, give = self.problem, self.best, SOFT
        stiff = float(np.max(problem.D.diagonal()))
        for _ in range(SOFTENED):
            if self.least <= good:
                return
            inner = _Search(replace(problem.shifted(give * stiff), u=problem.u - give * stiff * P), P, self.tol)
            inner.newton(P, FIRST)
            if inner.done:
                P, give = inner.best, give / 4.0
                self.take(P)
            else:
                give *= 8.0

    def proximal(self, good: float) -> None:
        """Solve for contacts with a little compliance, which is taken back again: (D + εI) P = … + ε P_before."""
        problem, P = self.problem, self.best
        give = COMPLIANCE * float(np.max(problem.D.diagonal()))
        soft = problem.shifted(give)
        for _ in range(PROXIMAL):
            if self.least <= good:
                return
            inner = _Search(replace(soft, u=problem.u - give * P), P, self.tol)
            inner.newton(P, FIRST)
            inner.inside(10.0 * self.tol)
            P = inner.best
            self.take(P)


def _angles(problem: FrictionProblem, P: Array) -> Array:
    """Directions of slip in space, opposite to which friction acts."""
    w, found = problem.D @ P + problem.u, np.zeros(len(problem.mu))
    for i in np.flatnonzero(problem.directions == 2):
        x, y = w[problem.normal[i] + 1 : problem.normal[i] + 3]
        found[i] = np.arctan2(-y, -x)
    return found


def solve_friction(problem: FrictionProblem, start: Array | None = None, *, tol: float) -> tuple[Array, float]:
    """Impulses and their residual, the best found; more is tried until it is below 100 × `tol`."""
    P = np.zeros(len(problem.u)) if start is None else np.array(start, dtype=float)
    search, large = _Search(problem, P, tol), len(problem.u) >= LARGE
    search.newton(P, QUICK if problem.planar and large else FIRST)
    if problem.planar and large:
        search.inside(100.0 * tol)
        search.proximal(100.0 * tol)
        return search.best, search.least
    if not large and not search.done:
        search.pivoted(tol)
        search.softened(tol)
    places = (problem.normal, problem.directions)
    for _ in range(ROUNDS):
        if search.least <= (100.0 * tol if large else tol):
            break
        P = search.best.copy()
        kernels.friction_cones.sweep(problem.rows, problem.u, P, problem.mu, places, SWEEPS)
        search.take(P)
        search.newton(P, FIRST)
    return search.best, search.least


def newton_from(
    problem: FrictionProblem, P: Array, schedule: tuple[tuple[float, int], ...], tol: float
) -> tuple[Array, float]:
    """The best impulses of Newton's method from P on, with shifts of the diagonal, and their residual."""
    search = _Search(problem, P, tol)
    search.newton(P, schedule)
    return search.best, search.least
