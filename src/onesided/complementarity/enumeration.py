"""Enumeration of the complementary pieces until one holds a solution."""

from dataclasses import dataclass

import numpy as np

from onesided.base.tolerances import Tolerances
from onesided.base.types import Array, Status
from onesided.complementarity.method import Attempt, Method, check_range
from onesided.complementarity.problems import LCP
from onesided.complementarity.solution_pieces import piece_polyhedron, regular_point


@dataclass(frozen=True)
class Enumeration(Method):
    """Look at all 2ⁿ index sets A until one has a solution with w_A = 0; finding none proves that there is none.

    Index sets with singular M_AA are looked at too, through the generators of their polyhedra. The start is
    not used.

    Attributes
    ----------
    limit : int
        Largest n; a larger problem ends as `Status.not_applicable`.
    """

    limit: int = 14

    def __post_init__(self) -> None:
        check_range("limit", self.limit, 0, 24, "another method for larger problems")

    def attempt(self, problem: LCP, start: Array | None, tolerances: Tolerances) -> Attempt:
        """Return the first solution in binary order, regular pieces first."""
        from onesided.complementarity import _kernels, _pivoting

        n = problem.n
        if n > self.limit:
            note = f"enumeration is limited to n = {self.limit}, the problem has n = {n}"
            return Attempt(np.zeros(n), Status.not_applicable, 0, note)
        unit, factor = problem.scaled()
        flags = _pivoting.scan(unit.M, unit.q, (tolerances.complementarity, tolerances.rank), True)
        found = np.flatnonzero(flags == _kernels.ACCEPTED)
        if found.size:
            z = regular_point(unit, _pivoting.indices(int(found[0]), n), tolerances)
            return Attempt(z * factor, Status.solved, int(found[0]) + 1)
        for mask in np.flatnonzero(flags == _kernels.FAMILY):
            body = piece_polyhedron(unit, _pivoting.indices(int(mask), n), tolerances)
            if len(body.vertices):
                return Attempt(body.vertices[0] * factor, Status.solved, 1 << n)
        return Attempt(np.zeros(n), Status.no_solution, 1 << n, f"all {1 << n} complementary pieces are empty")
