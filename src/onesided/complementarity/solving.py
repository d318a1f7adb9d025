"""The verb `solve`: choose methods, recheck what they claim, say how it ended."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from onesided.base.errors import SolveError, UsageError
from onesided.base.log import LOG
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array, Status
from onesided.complementarity.active_set import ActiveSet
from onesided.complementarity.enumeration import Enumeration
from onesided.complementarity.lemke import Lemke
from onesided.complementarity.method import Attempt, Method
from onesided.complementarity.mixed import eliminate, split
from onesided.complementarity.newton import SemismoothNewton
from onesided.complementarity.problems import LCP, MLCP, NCP, Problem
from onesided.complementarity.quadratic import QuadraticProgram
from onesided.results.solution import Solution


def solve(
    problem: Problem,
    method: Method | None = None,
    start: ArrayLike | None = None,
    tolerances: Tolerances = DEFAULT,
    *,
    throw: bool = True,
) -> Solution[Array]:
    """Return one solution, rechecked, or say how the search for it ended.

    Parameters
    ----------
    problem : LCP, MLCP or NCP
    method : Method, optional
        Without one, methods are tried from cheap to certain until the recheck passes: active set, quadratic
        program (symmetric M), Lemke, semismooth Newton, enumeration (n ≤ 14, which always decides).
    start : array of shape (n,), optional
        Point to begin from; a neighbouring problem's solution makes the active set method cheap.
    tolerances : Tolerances
        `complementarity` is the largest relative residual of a solution.
    throw : bool
        Raise when there is no answer, instead of returning a `Solution` whose status says so.

    Returns
    -------
    Solution
        `value` is z, for a mixed problem (u, z); `residual` is `problem.relative_residual(value)`.

    Raises
    ------
    SolveError
        With `throw`, holding that `Solution` as `partial`.
    UsageError
        Where the method is not for this kind of problem, or `start` does not fit.
    """
    begin = None if start is None else _checked_start(problem, start)
    best: Solution[Array] | None = None
    tried: list[str] = []
    for name, attempt in _attempts(problem, method, begin, tolerances):
        solution = _rechecked(problem, name, attempt, tolerances)
        if solution.status is Status.solved:
            return solution
        tried.append(f"{solution.method}: {solution.status.name}")
        LOG.debug("a complementarity problem of %d unknowns was not solved by %s", problem.n, tried[-1])
        if best is None or solution.status is Status.no_solution or not best.residual <= solution.residual:
            best = solution
        if solution.status is Status.no_solution:
            break
    if best is None:
        raise UsageError("no method applies to this problem", got=type(problem).__name__, expected="LCP, MLCP or NCP")
    if method is None:
        note = "; ".join(part for part in (best.note, "tried " + ", ".join(tried)) if part)
        best = Solution(best.value, best.status, best.residual, best.method, best.stats, note)
    if throw:
        raise SolveError(f"{best.method}: {best.status.value}", best, got=f"relative residual {best.residual:.3g}")
    return best


def _attempts(
    problem: Problem, method: Method | None, start: Array | None, tolerances: Tolerances
) -> Iterator[tuple[str, Attempt]]:
    """Yield the names of methods and what they claim, each run when it is asked for."""
    if isinstance(problem, LCP):
        for solver in _plan(problem) if method is None else (method,):
            yield type(solver).__name__, solver.attempt(problem, start, tolerances)
        return
    if isinstance(problem, MLCP) and not isinstance(method, SemismoothNewton):
        reduction = eliminate(problem, tolerances)
        y = problem.split(start)[1] if start is not None and reduction is not None else None
        reduction = reduction or split(problem)
        for name, attempt in _attempts(reduction.problem, method, y, tolerances):
            yield name, attempt._replace(x=reduction.recover(attempt.x))
    if isinstance(method, SemismoothNewton) or method is None:
        yield "SemismoothNewton", (method or SemismoothNewton()).attempt(problem, start, tolerances)
    elif isinstance(problem, NCP):
        raise UsageError(
            "the method is for linear problems only",
            got=f"{type(method).__name__} for an NCP",
            expected="SemismoothNewton",
            advice="method=None, or SemismoothNewton()",
        )


def _plan(problem: LCP) -> Iterator[Method]:
    yield ActiveSet()
    if problem.symmetric:
        yield QuadraticProgram()
    yield Lemke()
    yield SemismoothNewton()
    if problem.n <= Enumeration().limit:
        yield Enumeration()


def _checked_start(problem: Problem, start: ArrayLike) -> Array:
    point = np.ascontiguousarray(start, dtype=np.float64)
    if point.shape != (problem.n,) or not np.isfinite(point).all():
        raise UsageError(
            "`start` does not fit the problem",
            got=f"shape {point.shape}",
            expected=f"({problem.n},) finite numbers",
            advice="start=None",
        )
    return point


def _rechecked(problem: Problem, name: str, attempt: Attempt, tolerances: Tolerances) -> Solution[Array]:
    """Judge the claim of a method by the residual of the problem itself."""
    residual = problem.merit(attempt.x)[1]
    status = attempt.status
    # A cycle that passes through a solution is reported as a cycle: the method did not stop there.
    if status not in (Status.no_solution, Status.cycling) and residual <= tolerances.complementarity:
        status = Status.solved
    elif status is Status.solved:
        status = Status.inaccurate
    return Solution(attempt.x, status, residual, name, {"iterations": attempt.iterations}, attempt.note)
