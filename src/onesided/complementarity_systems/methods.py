"""The verbs `simulate` and `iter_simulate` for complementarity systems."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from onesided._version import __version__
from onesided.base.errors import SolveError, UsageError
from onesided.base.names import check_labels
from onesided.base.progress import SILENT, Progress
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array, Status
from onesided.complementarity_systems import recheck
from onesided.complementarity_systems.located_switches import LocatedSwitches
from onesided.complementarity_systems.looked_at import evaluated
from onesided.complementarity_systems.recheck import System
from onesided.complementarity_systems.runs import Claim, LinearRun, MotionMethod, RunPoint
from onesided.results.complementarity_motion import ComplementarityMotion

POINTS = 2001  # output times where none are asked for


def simulate(
    system: System,
    method: MotionMethod | None = None,
    start: ArrayLike | None = None,
    *,
    times: ArrayLike,
    tolerances: Tolerances = DEFAULT,
    progress: Progress = SILENT,
    throw: bool = True,
) -> ComplementarityMotion:
    """Follow the motion of a complementarity system.

    Parameters
    ----------
    system : `LinearComplementaritySystem`, `SlacknessSystem`, or a structure of cables.
    method : `LocatedSwitches()` (default), `TimeStepping(step)`, `FrozenModes(step)`.
    start : state at the first time; default zero.
    times : (first, last), or all times at which the motion is wanted, rising.
    progress : hears of every step.
    throw : raise a `SolveError` that holds the motion so far, or return it with its status. Ctrl-C ends the motion with
        `Status.interrupted`, what was found until then is kept.

    Notes
    -----
    The answer is rechecked from the problem alone: at every point w is computed anew, 0 ≤ s ⊥ w ≥ 0 and the switches
    are held against it (`residual`); ẋ is held against the equations over every step (`defect`, see
    `onesided.complementarity_systems.recheck`). A motion that fails is `inaccurate`.
    """
    chosen, run, first = _begin(system, method, start, times, tolerances)
    progress.begin("simulate")
    interrupted = False
    try:
        t, count = first, 1
        while run.advance():
            here, count = run.here(), count + 1
            progress.update(control=here.t, points=count, events=here.switches, step=here.t - t)
            t = here.t
    except KeyboardInterrupt:
        interrupted = True
    finally:
        progress.end()
    claim = _with_end(run.claim(), run.here())
    if interrupted:
        claim = replace(claim, status=Status.interrupted, note=f"Ctrl-C at t = {claim.t[-1]:.10g}")
    motion = _collect(system, chosen, claim, tolerances)
    if throw and not motion.ok:
        raise SolveError(motion.status.value, motion, got=motion.note)
    return motion


def iter_simulate(
    system: System,
    method: MotionMethod | None = None,
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
    _, run, _ = _begin(system, method, start, times, tolerances)
    yield run.here()
    while run.advance():
        yield run.here()
    claim = run.claim()
    if not claim.status.ok:
        raise SolveError(claim.status.value, run.here(), got=claim.note)


def _begin(
    system: System, method: MotionMethod | None, start: ArrayLike | None, times: ArrayLike, tolerances: Tolerances
) -> tuple[MotionMethod, LinearRun, float]:
    chosen = LocatedSwitches() if method is None else method
    if not isinstance(chosen, MotionMethod):
        raise UsageError(
            "this is not a method of motion", got=repr(method), expected="an object such as LocatedSwitches()"
        )
    grid = _times(times)
    x = system.check_state(np.zeros(system.n) if start is None else start)
    return chosen, chosen.begin(system, x, grid, tolerances), float(grid[0])


def _with_end(claim: Claim, here: RunPoint) -> Claim:
    """A claim whose last point is the state reached, also where the run ended before the next time asked for."""
    if not here.t > claim.t[-1]:
        return claim
    t, x, s = np.append(claim.t, here.t), np.vstack([claim.x, here.x]), np.vstack([claim.s, here.s])
    return replace(claim, t=t, x=x, s=s)


def _times(times: ArrayLike) -> Array:
    grid = np.array(times, dtype=float)
    if grid.ndim != 1 or len(grid) < 2 or not np.isfinite(grid).all() or not (np.diff(grid) > 0).all():
        raise UsageError("`times` do not rise", got=str(times)[:80], expected="(first, last), or rising finite times")
    return grid if len(grid) > 2 else np.linspace(grid[0], grid[1], POINTS)


def _collect(system: System, method: MotionMethod, claim: Claim, tolerances: Tolerances) -> ComplementarityMotion:
    """Recheck a claim and make a result of it."""
    w, off = recheck.complementarity(system, claim)
    finite = bool(np.isfinite(claim.x).all() and np.isfinite(w).all())
    defect = recheck.Worst(np.inf, float(claim.t[0]))
    if finite:
        check = recheck.between_rates if method.fixed_step else recheck.integrated_anew
        defect = check(system, claim)
    wrong = _wrong(off, defect, method, tolerances)
    status, note = claim.status, claim.note
    if not finite:
        status, note = Status.not_finite, "the motion holds values that are not finite"
    elif status is Status.solved and wrong:
        status, note = Status.inaccurate, f"{wrong}. {note}".strip()
    elif wrong:
        note = f"{note}; {wrong}" if note else wrong
    knobs: dict[str, Any] = {key: str(value) for key, value in asdict(method).items()}  # type: ignore[call-overload]
    return ComplementarityMotion(
        states=tuple(system.states), names=tuple(system.names), t=claim.t, x=claim.x, s=claim.s, w=w,
        first_taut=claim.first_taut, peak_s=claim.peak_s, peak_w=claim.peak_w, switches=claim.switches,
        measures=evaluated(system.measures, claim.t, claim.x, claim.s), sketch=system.sketch,
        residual=off.value, defect=defect.value, status=status, note=note, stats=claim.stats,
        provenance={"verb": "simulate", "method": type(method).__name__, "knobs": knobs, "version": __version__,
                    "labels": {name: list(pair) for name, pair in check_labels(system.labels).items()}},
    )  # fmt: skip


def _wrong(off: recheck.Worst, defect: recheck.Worst, method: MotionMethod, tolerances: Tolerances) -> str:
    """What the recheck found, in words."""
    words = []
    if not off.value <= tolerances.complementarity:
        words.append(f"0 ≤ s ⊥ w ≥ 0 is violated by {off.value:.3g}, relative, at t = {off.t:.6g}")
    if not defect.value <= method.largest_defect(tolerances):
        words.append(f"the equations leave {defect.value:.3g} of ẋ unexplained at t = {defect.t:.6g}")
    return "; ".join(words)
