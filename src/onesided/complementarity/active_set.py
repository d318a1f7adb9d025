"""Primal–dual active set method."""

from dataclasses import dataclass

from onesided.base.tolerances import Tolerances
from onesided.base.types import Array, Status
from onesided.complementarity import kernels
from onesided.complementarity.method import Attempt, Method, check_range
from onesided.complementarity.problems import LCP

_OUTCOMES = (Status.solved, Status.max_iterations, Status.cycling, Status.singular)


@dataclass(frozen=True)
class ActiveSet(Method):
    """Guess the set A of positive z, solve M_AA z_A = −q_A, exchange what is wrong, repeat.

    All wrong indices change sides at once, which settles in a few sweeps but may cycle, even for positive
    definite M (the binary network of Qi and Tu is the same iteration [QT (23)]). Where a set returns, or
    `patience` sweeps bring no fewer wrong indices, only the first wrong index changes sides (Murty's rule)
    until there is progress: that ends for every P-matrix. A start gives A = {z > 0}; without one, A comes
    from a few projected Gauss–Seidel sweeps.

    Attributes
    ----------
    max_iterations : int
        Largest number of sweeps, each with one linear system.
    patience : int
        Sweeps without progress before single exchanges.
    safeguard : bool
        False leaves the plain iteration, which ends as `Status.cycling` where a set returns.
    relaxations : int
        Gauss–Seidel sweeps for the first guess.
    """

    max_iterations: int = 1000
    patience: int = 10
    safeguard: bool = True
    relaxations: int = 3

    def __post_init__(self) -> None:
        check_range("max_iterations", self.max_iterations, 1, 1_000_000)
        check_range("patience", self.patience, 0, 1_000_000)
        check_range("relaxations", self.relaxations, 0, 1000)

    def attempt(self, problem: LCP, start: Array | None, tolerances: Tolerances) -> Attempt:
        """Iterate on the set from the support of `start`."""
        active = problem.q < 0 if start is None else start > 0
        relaxations = self.relaxations if start is None else 0
        knobs = (self.max_iterations, self.patience, relaxations, problem.symmetric, self.safeguard)
        tol = tolerances.complementarity / 10
        z, code, sweeps = kernels.lcp.active_set(*problem.writable(), active, knobs, tol)
        return Attempt(z, _OUTCOMES[code], sweeps)
