"""Nonlinear programs with sparse first and second derivatives, handed to a maintained solver.

    minimise f(y),   lower ≤ y ≤ upper,   row_lower ≤ c(y) ≤ row_upper.

`TrustRegion` is SciPy's interior-point method with trust regions; `Uno` (MIT licence, the extra `onesided[steer]`)
is an interior-point method with a filter. Answers are rechecked here, whatever a solver says.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, NonlinearConstraint, minimize

from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.tolerances import HALF_DIGITS, MOST_DIGITS, SOME_DIGITS
from onesided.base.types import Array, Indices, Status

FEASIBLE = SOME_DIGITS  # rows that are met, relative to their sizes: what solvers with a goal of HALF_DIGITS reach
TIGHT = HALF_DIGITS  # what solvers are asked for
FIRST_BARRIER, LOWER = 0.1, 0.01  # of interior points: to begin with, and for another search


class Slopes(NamedTuple):
    """f, its gradient, c, and the entries of the Jacobian of c at the places of the program."""

    cost: float
    gradient: Array
    rows: Array
    jacobian: Array


class Program(Protocol):
    """A program: its bounds, the places of the entries of its matrices, and two functions."""

    lower: Any
    upper: Any
    row_lower: Any
    row_upper: Any
    jacobian_places: tuple[Indices, Indices]
    hessian_places: tuple[Indices, Indices]  # of the lower triangle, each once

    def slopes(self, y: Array) -> Slopes:
        """Cost, rows, their gradient and Jacobian at y."""

    def curvature(self, y: Array, share: float, weights: Array) -> Array:
        """Entries of the Hessian of share·f + weightsᵀc."""


class Answer(NamedTuple):
    """The last point of a solver, how it ended, and its iterations."""

    y: Array
    status: Status
    iterations: int
    note: str = ""


class Solver(Protocol):
    """A solver is its knobs and one function."""

    def solve(self, program: Program, y: Array) -> Answer:
        """Minimise the cost from the start y, subject to the rows and bounds of the program."""


class WatchedProgram:
    """A program that reports its cost at every evaluation, and there lets Ctrl-C interrupt the solver."""

    def __init__(self, program: Program, tell: Callable[[float], None]) -> None:
        self._program, self._tell = program, tell
        self.lower, self.upper = program.lower, program.upper
        self.row_lower, self.row_upper = program.row_lower, program.row_upper
        self.jacobian_places, self.hessian_places = program.jacobian_places, program.hessian_places
        self.curvature = program.curvature

    def slopes(self, y: Array) -> Slopes:
        """Values and first derivatives of cost and rows; progress is reported."""
        found = self._program.slopes(y)
        self._tell(found.cost)
        return found


def violation(program: Program, y: Array) -> float:
    """Largest violation of rows and bounds."""
    rows = program.slopes(y).rows
    parts = (program.row_lower - rows, rows - program.row_upper, program.lower - y, y - program.upper)
    return float(max(np.max(part, initial=0.0) for part in parts))


def _judged(program: Program, y: Array, good: bool, iterations: int, note: str) -> Answer:
    """The answer with the status that its recheck allows."""
    off = violation(program, y)
    if not np.isfinite(off):
        return Answer(y, Status.not_finite, iterations, note)
    if off > FEASIBLE:
        return Answer(y, Status.infeasible, iterations, f"{note}; rows are violated by {off:.2g} of their size")
    return Answer(y, Status.solved if good else Status.max_iterations, iterations, "" if good else note)


def _interrupted(y: Array) -> Answer:
    return Answer(y, Status.interrupted, 0, "the inputs are those of the last iteration, not an optimum")


@checked
@dataclass(frozen=True)
class TrustRegion:
    """SciPy's `trust-constr`.

    Attributes
    ----------
    iterations : the most.
    """

    iterations: int = 400

    def solve(self, program: Program, y: Array) -> Answer:
        """Minimise the cost from the start y, with SciPy's trust-region method."""
        (rows, columns), shape = program.jacobian_places, (len(program.row_lower), len(y))
        low_row, low_column = program.hessian_places
        own = low_row == low_column

        def jacobian(x: Array) -> Any:
            return sparse.csr_array((program.slopes(x).jacobian, (rows, columns)), shape=shape)

        def hessian(x: Array, weights: Array) -> Any:
            """That of the cost too, once: the two are added by the solver."""
            entries = program.curvature(x, 1.0, weights)
            low = sparse.csr_array((entries, (low_row, low_column)), shape=(len(x), len(x)))
            diagonal = sparse.csr_array((entries[own], (low_row[own], low_column[own])), shape=low.shape)
            return low + low.T - diagonal

        latest = [y]
        none, by_rows = sparse.csr_array((len(y), len(y))), cast(Any, NonlinearConstraint)
        limits = by_rows(lambda x: program.slopes(x).rows, program.row_lower, program.row_upper, jacobian, hessian)

        def minimised(x: Array, barrier: float, left: int) -> Any:
            return cast(Any, minimize)(
                lambda z: program.slopes(z).cost, x, method="trust-constr", jac=lambda z: program.slopes(z).gradient,
                hess=lambda z: none, bounds=_bounds(program), constraints=limits, options=_options(barrier, left),
                callback=lambda z, _: latest.__setitem__(0, z.copy()),
            )  # fmt: skip

        try:
            return self._closer(program, y, minimised)
        except KeyboardInterrupt:
            return _interrupted(latest[0])

    def _closer(self, program: Program, y: Array, minimised: Callable[[Array, float, int], Any]) -> Answer:
        """Minimise with a barrier that becomes small: SciPy's gradients may vanish while it is still large."""
        used, barrier = 0, FIRST_BARRIER
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # dependent rows on the way: it goes on by singular values
            while True:
                found = minimised(y, barrier, self.iterations - used)
                y, used = found.x, used + int(found.nit)
                good = found.status == 1 or (found.status == 2 and found.optimality <= FEASIBLE)
                reached = float(found.get("barrier_parameter", 0.0))
                if not good or reached <= TIGHT or used >= self.iterations:
                    return _judged(program, y, good and reached <= TIGHT, used, str(found.message))
                barrier = LOWER * reached


def _options(barrier: float, iterations: int) -> dict[str, Any]:
    start = {"initial_barrier_parameter": barrier, "initial_barrier_tolerance": barrier}
    return {"maxiter": iterations, "gtol": TIGHT, "xtol": MOST_DIGITS, "sparse_jacobian": True, **start}


def _bounds(program: Program) -> Bounds | None:
    finite = np.isfinite(program.lower) | np.isfinite(program.upper)
    return Bounds(program.lower, program.upper) if np.any(finite) else None


@checked
@dataclass(frozen=True)
class Uno:
    """Uno's interior-point preset (with MUMPS): the extra `onesided[steer]`.

    Attributes
    ----------
    iterations : the most.
    """

    iterations: int = 1000

    def solve(self, program: Program, y: Array) -> Answer:
        """Minimise the cost from the start y, with the solver Uno."""
        unopy = _unopy()
        solver = unopy.UnoSolver()
        solver.set_preset("ipopt")
        solver.set_option("logger", "SILENT")
        solver.set_option("max_iterations", self.iterations)
        solver.set_option("primal_tolerance", TIGHT)
        solver.set_option("dual_tolerance", TIGHT)
        latest = [y]
        try:
            found = solver.optimize(_uno_model(unopy, program, latest))
        except KeyboardInterrupt:
            return _interrupted(latest[0])
        good = found.solution_status.name == "FEASIBLE_KKT_POINT"
        words = f"{found.optimization_status.name}, {found.solution_status.name}".lower().replace("_", " ")
        return _judged(program, np.array(found.primal_solution, dtype=float), good, found.number_iterations, words)


def _unopy() -> Any:
    try:
        import unopy
    except ImportError as e:
        raise UsageError("Uno is not installed", got=str(e), advice="pip install 'onesided[steer]'") from e
    return unopy


def _uno_model(unopy: Any, program: Program, latest: list[Array]) -> Any:
    """The program by callbacks that write into the solver's own arrays; the latest point is kept."""
    y = latest[0]

    def gradient(x: Array, values: Array) -> None:
        latest[0] = np.array(x, dtype=float)
        values[:] = program.slopes(x).gradient

    def rows(x: Array, values: Array) -> None:
        values[:] = program.slopes(x).rows

    def jacobian(x: Array, values: Array) -> None:
        values[:] = program.slopes(x).jacobian

    def hessian(x: Array, share: float, weights: Array, values: Array) -> None:
        values[:] = program.curvature(x, share, weights)

    places, low = program.jacobian_places, program.hessian_places
    model = unopy.Model(unopy.PROBLEM_NONLINEAR, len(y), program.lower, program.upper, unopy.ZERO_BASED_INDEXING)
    model.set_objective(unopy.MINIMIZE, lambda x: program.slopes(x).cost, gradient)
    model.set_constraints(
        len(program.row_lower), rows, program.row_lower, program.row_upper, len(places[0]), *places, jacobian
    )
    model.set_lagrangian_hessian(len(low[0]), unopy.LOWER_TRIANGLE, *low, hessian)
    model.set_lagrangian_sign_convention(unopy.MULTIPLIER_POSITIVE)
    model.set_initial_primal_iterate(y)
    return model
