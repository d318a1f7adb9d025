"""The problem as a quadratic program."""

from dataclasses import dataclass

import numpy as np

from onesided.base.tolerances import EPS, Tolerances
from onesided.base.types import Array, Status
from onesided.complementarity.active_set import ActiveSet
from onesided.complementarity.method import Attempt, Method, check_range
from onesided.complementarity.problems import LCP


@dataclass(frozen=True)
class QuadraticProgram(Method):
    """Minimise ½ zᵀM z + qᵀz over z ≥ 0, for symmetric positive semidefinite M of any rank.

    Proximal point method: every pass solves the strictly convex problem with M + ρ1 and q − ρ z_k by the
    active set method, started from the last set. The passes end after finitely many, or run away along a
    direction d ≥ 0 with M d = 0 and qᵀd < 0, which proves that no solution exists.

    Attributes
    ----------
    ridge : float
        ρ relative to the largest diagonal entry of M.
    max_iterations : int
        Largest number of passes.
    """

    ridge: float = EPS**0.4
    max_iterations: int = 200

    def __post_init__(self) -> None:
        check_range("ridge", self.ridge, EPS, 1.0)
        check_range("max_iterations", self.max_iterations, 1, 1_000_000)

    def attempt(self, problem: LCP, start: Array | None, tolerances: Tolerances) -> Attempt:
        """Run the passes from `start`, or from zero."""
        z = np.zeros(problem.n) if start is None else np.maximum(start, 0.0)
        rho = self.ridge * float(problem.M.diagonal().max(initial=0.0))
        regular = problem.M + rho * np.eye(problem.n)
        if not (problem.symmetric and _positive_definite(regular)):
            return Attempt(z, Status.not_applicable, 0, "the QP route needs a symmetric positive semidefinite M")
        best, value, warm = z, problem.relative_residual(z), start
        for k in range(self.max_iterations):
            step = ActiveSet().attempt(LCP(regular, problem.q - rho * z), warm, tolerances)
            if step.status is not Status.solved:
                return Attempt(best, step.status, k)
            if _proves_emptiness(problem, step.x - z, tolerances):
                note = "a direction d ≥ 0 with M d ≤ 0 and q·d < 0 was found"
                return Attempt(best, Status.no_solution, k + 1, note)
            stalled = bool(np.abs(step.x - z).max(initial=0.0) <= EPS * np.abs(step.x).max(initial=0.0))
            z = warm = step.x
            now = problem.relative_residual(z)
            if now < value:
                best, value = z, now
            if value <= tolerances.complementarity / 100 or stalled:
                return Attempt(best, Status.solved, k + 1)
        return Attempt(best, Status.max_iterations, self.max_iterations)


def _positive_definite(M: Array) -> bool:
    try:
        np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return False
    return True


def _proves_emptiness(problem: LCP, direction: Array, tolerances: Tolerances) -> bool:
    """Farkas: with d ≥ 0 and Mᵀd ≤ 0, every z ≥ 0 has d·(M z + q) ≤ q·d, which is negative here."""
    d = np.maximum(direction, 0.0)
    if not d.any() or not problem.q.any():
        return False
    d = d / d.max()
    tol = tolerances.complementarity
    small = bool((problem.M.T @ d <= tol * np.abs(problem.M).max()).all())
    return small and float(problem.q @ d) < -np.sqrt(tol) * float(np.abs(problem.q).max())
