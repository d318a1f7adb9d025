"""Verbs that take more than one kind of problem."""

from dataclasses import is_dataclass
from typing import Any

from onesided import complementarity
from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.files.reading import Model
from onesided.results import Solution
from onesided.statics.equilibria.find_equilibrium import equilibrium
from onesided.system.defaults import where
from onesided.system.system import System


@checked
def solve(
    problem: Any,
    start: Any = None,
    p: float | None = None,
    *,
    method: Any = None,
    tolerances: Tolerances = DEFAULT,
    throw: bool = True,
) -> Solution[Any]:
    """Solve one problem: a complementarity problem, or an equilibrium of a `System` at fixed p.

    Parameters
    ----------
    problem : `LCP`, `MLCP`, `NCP`, `System`, or a loaded file.
    start : where to start. For a `System` the configuration; by default that of the file or of the composed structure.
    p : value of the control parameter, for a `System` only; by default the file's.
    method : how; None picks a sensible method.
    throw : raise a `SolveError` that holds the partial result, or return it.
    """
    if isinstance(problem, Model):
        problem = problem.system
    if method is None and isinstance(start, complementarity.Method):
        start, method = None, start
    if is_dataclass(start) or isinstance(start, str):
        raise UsageError("this is no start", got=repr(start), expected="numbers", advice="solve(problem, method=…)")
    if not isinstance(problem, System):
        if not isinstance(problem, complementarity.Problem) or p is not None:
            raise UsageError(
                "this cannot be solved",
                got=f"{type(problem).__name__}, p={p!r}",
                expected="LCP, MLCP, NCP, or a System with p",
            )
        if method is not None and not isinstance(method, complementarity.Method):
            raise UsageError("this is not a method", got=repr(method), expected="an object such as Lemke()")
        return complementarity.solve(problem, method, start, tolerances=tolerances, throw=throw)
    missing = [] if start is not None or problem.has_start else ["a start"]
    missing += [] if p is not None or problem.task is not None else [f"a value of {problem.control}"]
    if missing:
        raise UsageError(
            f"an equilibrium needs {' and '.join(missing)}",
            got=f"start={start!r}, p={p!r}",
            expected="solve(system, start=[…], p=…)",
        )
    at = where(problem, start, p)
    return equilibrium(problem, at.q, at.p, method=method, tolerances=tolerances, throw=throw)
