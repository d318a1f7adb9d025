"""`members`: member results of a composed system along any result that belongs to it, also one that was loaded."""

from typing import Any

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.results import Diagram, Drive, Equilibrium, Members, Motion, Path, Solution
from onesided.results.member_series import joined_members
from onesided.structures.without_slack import in_motion
from onesided.system.system import System


@checked
def members(system: System, result: Any) -> Members:
    """Forces, lengths, moments and reactions of the parts of a structure along a result.

    Parameters
    ----------
    system : the composed system the result belongs to.
    result : a `Path`, `Drive`, `Diagram`, `Motion`, `Equilibrium`, or the `Solution` that holds one. Paths of a drive
        or diagram follow one another.

    Returns
    -------
    Members
        Name → (N,) values: `rafter.force`, `a.reaction_x`; computed when the first is read.

    Examples
    --------
    >>> import onesided
    >>> from onesided.elements import Bar, Force, Node
    >>> hanger = onesided.compose(
    ...     Node("a", (0.0, 1.0), fixed=True), Node("b", (0.0, 0.0), fixed="x"),
    ...     Bar("rod", ("a", "b"), stiffness=100.0), Force("load", "b", (0.0, -1.0)))
    >>> found = onesided.members(hanger, onesided.solve(hanger, start=hanger.start, p=2.0))
    >>> [round(float(found[name][0]), 9) for name in ("rod.force", "a.reaction_y")]
    [2.0, 2.0]
    """
    if system.structure is None:
        raise UsageError("this system has no members", got="a system of functions", expected="one made by `compose`")
    if isinstance(result, Solution):
        result = result.value
    if isinstance(result, Drive | Diagram):
        return joined_members([members(system, path) for path in result.paths])
    if isinstance(result, Motion):
        return _in_motion(in_motion(system), result)
    if not isinstance(result, Path | Equilibrium):
        raise UsageError("this result has no members", got=type(result).__name__, expected="a Path, Drive, Motion, …")
    _check(system, result)
    nu = np.hstack([result.mu, result.lam])
    return system.members(np.atleast_2d(result.q), np.atleast_1d(result.p), np.atleast_2d(nu))


def _in_motion(system: System, motion: Motion) -> Members:
    _check(system, motion)
    nu: Array = np.hstack([motion.mu[:, : len(system.bilateral)], motion.lam])
    return system.members(motion.q, motion.p, nu, (motion.v, motion.a))


def _check(system: System, result: Path | Equilibrium | Motion) -> None:
    """Refuse a result of another system."""
    for kind in ("coordinates", "bilateral", "unilateral"):
        own, others = tuple(getattr(system, kind)), tuple(getattr(result, kind))
        if own != others:
            got, expected = ", ".join(others[:8]), ", ".join(own[:8])
            raise UsageError("the result belongs to another system", got=got, expected=expected)
