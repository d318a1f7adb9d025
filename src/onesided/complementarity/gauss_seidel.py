"""Projected Gauss–Seidel."""

from dataclasses import dataclass

import numpy as np

from onesided.base.tolerances import Tolerances
from onesided.base.types import Array, Status
from onesided.complementarity.method import Attempt, Method, check_range
from onesided.complementarity.problems import LCP


@dataclass(frozen=True)
class GaussSeidel(Method):
    """Sweep z_i ← max(0, z_i − ω w_i / M_ii) over the rows until nothing moves.

    Converges for symmetric positive definite M, and for diagonally dominant M; slowly when M is
    ill-conditioned.

    Attributes
    ----------
    relaxation : float
        ω, between 0 and 2.
    max_iterations : int
        Largest number of sweeps.
    """

    relaxation: float = 1.0
    max_iterations: int = 10_000

    def __post_init__(self) -> None:
        check_range("relaxation", self.relaxation, 0.01, 1.99, "a value near 1")
        check_range("max_iterations", self.max_iterations, 1, 100_000_000)

    def attempt(self, problem: LCP, start: Array | None, tolerances: Tolerances) -> Attempt:
        """Sweep from `start`, or from zero."""
        from onesided.complementarity import _kernels

        z = np.zeros(problem.n) if start is None else np.maximum(start, 0.0)
        if not (problem.M.diagonal() > 0).all():
            return Attempt(z, Status.not_applicable, 0, "Gauss–Seidel needs a positive diagonal of M")
        code, sweeps = _kernels.gauss_seidel(problem.M, problem.q, z, self.relaxation, self.max_iterations)
        if code == _kernels.SINGULAR:
            note = "the sweeps diverged: M is not positive definite"
            return Attempt(np.zeros(problem.n), Status.not_applicable, sweeps, note)
        return Attempt(z, Status.solved if code == _kernels.SOLVED else Status.max_iterations, sweeps)
