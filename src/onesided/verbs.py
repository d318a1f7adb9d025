"""Verbs that take more than one kind of problem."""

from typing import Any

from onesided import complementarity
from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.results import Solution
from onesided.statics.equilibria.find_equilibrium import equilibrium
from onesided.system.system import System


@checked
def solve(
    problem: Any,
    method: Any = None,
    start: Any = None,
    *,
    p: float | None = None,
    tolerances: Tolerances = DEFAULT,
    throw: bool = True,
) -> Solution[Any]:
    """Solve one problem: a complementarity problem, or an equilibrium of a `System` at fixed p.

    Parameters
    ----------
    problem : `LCP`, `MLCP`, `NCP` or `System`.
    method : how; None picks a sensible method.
    start : where to start. For a `System` the configuration, which is needed.
    p : value of the control parameter, for a `System` only.
    throw : raise a `SolveError` that holds the partial result, or return it.
    """
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
    if start is None or p is None:
        raise UsageError(
            "an equilibrium needs a start and a value of the control parameter",
            got=f"start={start!r}, p={p!r}",
            expected="solve(system, start=[…], p=…)",
        )
    return equilibrium(problem, start, p, method=method, tolerances=tolerances, throw=throw)
