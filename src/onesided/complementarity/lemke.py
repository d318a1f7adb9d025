"""Lemke's complementary pivoting."""

from dataclasses import dataclass

from onesided.base.tolerances import Tolerances
from onesided.base.types import Array, Status
from onesided.complementarity import kernels
from onesided.complementarity.method import Attempt, Method, check_range
from onesided.complementarity.problems import LCP


@dataclass(frozen=True)
class Lemke(Method):
    """Follow w = M z + q + e z₀ from large z₀ to z₀ = 0, with the lexicographic rule against cycling.

    Solves every problem whose M is copositive-plus and whose constraints can be met, and those with
    P-matrices. For other M it may end on a secondary ray although solutions exist: `Status.ray_termination`
    proves nothing. The start is not used.

    Attributes
    ----------
    pivots_per_unknown : int
        Largest number of pivots, per unknown.
    """

    pivots_per_unknown: int = 50

    def __post_init__(self) -> None:
        check_range("pivots_per_unknown", self.pivots_per_unknown, 2, 1_000_000)

    def attempt(self, problem: LCP, start: Array | None, tolerances: Tolerances) -> Attempt:
        """Pivot until z₀ leaves the basis or nothing can leave."""
        limit = self.pivots_per_unknown * (problem.n + 1)
        z, code, pivots = kernels.pivots.lemke(*problem.writable(), limit, tolerances.rank)
        outcomes = {kernels.lcp.SOLVED: Status.solved, kernels.lcp.RAY: Status.ray_termination}
        return Attempt(z, outcomes.get(code, Status.max_iterations), pivots)
