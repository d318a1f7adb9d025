"""Complementarity systems as a kind of system that `simulate` knows, and the same verbs with output times of choice."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from onesided.base.errors import UsageError
from onesided.base.progress import SILENT, Progress
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array
from onesided.dynamics.motion_run import Begun, Wanted, begun, each, followed
from onesided.dynamics.switching.cable_structures import CableStructure
from onesided.dynamics.switching.linear import LinearComplementaritySystem
from onesided.dynamics.switching.located_switches import LocatedSwitches
from onesided.dynamics.switching.recheck import System
from onesided.dynamics.switching.runs import RunPoint
from onesided.dynamics.switching.slackness import SlacknessSystem
from onesided.dynamics.switching.switching_motion import SwitchingMethod, SwitchingRequest
from onesided.results.complementarity_motion import ComplementarityMotion

POINTS = 2001  # output times where none are asked for


def simulate(
    system: System,
    method: SwitchingMethod | None = None,
    start: ArrayLike | None = None,
    *,
    times: ArrayLike,
    tolerances: Tolerances = DEFAULT,
    progress: Progress = SILENT,
    throw: bool = True,
) -> ComplementarityMotion:
    """Follow the motion of a complementarity system: `onesided.simulate` with output at times of choice.

    Parameters
    ----------
    system : `LinearComplementaritySystem`, `SlacknessSystem`, or a structure of cables.
    method : `LocatedSwitches()` (default), `TimeStepping(step)`, `FrozenModes(step)`.
    start : state at the first time; default zero.
    times : (first, last), or all times at which the motion is wanted, rising.
    progress : notified of every step.
    throw : raise a `SolveError` that holds the motion so far, or return it with its status. Ctrl-C ends the motion with
        `Status.interrupted`, what was found until then is kept.

    Notes
    -----
    The answer is rechecked from the problem alone: at every point w is computed anew, 0 ≤ s ⊥ w ≥ 0 and the switches
    are held against it (`residual`); ẋ is held against the equations over every step (`defect`, see
    `onesided.dynamics.switching.recheck`). A motion that fails is `inaccurate`.
    """
    return followed(_begin(system, method, start, times, tolerances), progress, throw=throw)


def iter_simulate(
    system: System,
    method: SwitchingMethod | None = None,
    start: ArrayLike | None = None,
    *,
    times: ArrayLike,
    tolerances: Tolerances = DEFAULT,
) -> Iterator[RunPoint]:
    """The iterator twin of `simulate`: states as they are found, the start first, at the steps of the method.

    Raises
    ------
    SolveError
        Where the motion cannot go on; `partial` is the last point.
    """
    yield from each(_begin(system, method, start, times, tolerances).run)


def _times(times: ArrayLike) -> Array:
    grid = np.array(times, dtype=float)
    if grid.ndim != 1 or len(grid) < 2 or not np.isfinite(grid).all() or not (np.diff(grid) > 0).all():
        raise UsageError("`times` do not rise", got=str(times)[:80], expected="(first, last), or rising finite times")
    return grid if len(grid) > 2 else np.linspace(grid[0], grid[1], POINTS)


def _begin(
    system: System, method: Any, start: ArrayLike | None, times: ArrayLike, tolerances: Tolerances
) -> Begun[ComplementarityMotion]:
    chosen = LocatedSwitches() if method is None else method
    if not isinstance(chosen, SwitchingMethod):
        raise UsageError(
            "this is not a method of motion", got=repr(method), expected="an object such as LocatedSwitches()"
        )
    x = system.check_state(np.zeros(system.n) if start is None else start)
    return Begun(chosen.begin(SwitchingRequest(system, x, _times(times), tolerances)))


@begun.register(LinearComplementaritySystem)
@begun.register(SlacknessSystem)
@begun.register(CableStructure)
def _(system: System, wanted: Wanted) -> Begun[ComplementarityMotion]:
    known = {"q0", "t_span", "method", "tolerances"}
    nothing = Wanted()
    for name in Wanted.__dataclass_fields__.keys() - known:
        if getattr(wanted, name) != getattr(nothing, name):
            raise UsageError(f"`{name}` has no meaning for a complementarity system", expected=", ".join(sorted(known)))
    if wanted.t_span is None:
        raise UsageError("the time span is missing", expected="t_span=(first, last)")
    return _begin(system, wanted.method, wanted.q0, wanted.t_span, wanted.tolerances)
