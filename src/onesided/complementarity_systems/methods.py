"""What a method of motion is, and the verb `simulate`."""

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from onesided._types import Array, Status
from onesided._version import __version__
from onesided.complementarity_systems.cables import CableStructure
from onesided.complementarity_systems.linear import LinearComplementaritySystem
from onesided.complementarity_systems.slackness import SlacknessSystem
from onesided.errors import SolveError, UsageError
from onesided.results.complementarity_motion import ComplementarityMotion, Switch
from onesided.tolerances import DEFAULT, Tolerances

POINTS = 2001  # output times where none are asked for

System = LinearComplementaritySystem | SlacknessSystem | CableStructure


class Claim(NamedTuple):
    """What a method returns before anybody has checked it."""

    t: Array
    x: Array
    s: Array
    first_taut: Array
    peak_s: Array
    peak_w: Array
    switches: tuple[Switch, ...]
    status: Status
    note: str
    stats: dict[str, float]


class MotionMethod(ABC):
    """A frozen dataclass with the knobs of one method.

    The contract of `run`: it begins at x at times[0], returns points at the times it reached (a fixed-step method at
    its own steps), raises nothing for numerical reasons, and says how it ended.
    """

    @abstractmethod
    def run(self, system: Any, x: Array, times: Array, tolerances: Tolerances) -> Claim:
        """Run from x at times[0] to times[-1]."""


@dataclass(frozen=True)
class Positive:
    """A number that must be positive."""

    name: str
    value: float

    def check(self) -> None:
        """Raise unless it is."""
        if not (np.isfinite(self.value) and self.value > 0):
            raise UsageError(f"`{self.name}` is out of range", got=repr(self.value), expected="a positive number")


def simulate(
    system: System,
    method: MotionMethod | None = None,
    start: ArrayLike | None = None,
    *,
    times: ArrayLike,
    tolerances: Tolerances = DEFAULT,
    throw: bool = True,
) -> ComplementarityMotion:
    """Follow the motion of a complementarity system.

    Parameters
    ----------
    system : `LinearComplementaritySystem`, `SlacknessSystem`, or a structure of cables.
    method : `EventDriven()` (default), `TimeStepping(step)`, `FrozenModes(step)`.
    start : state at the first time; default zero.
    times : (first, last), or all times at which the motion is wanted, rising.
    throw : raise a `SolveError` that holds the motion so far, or return it with its status.

    Notes
    -----
    At every point w is recomputed from the system and 0 ≤ s ⊥ w ≥ 0 is checked; a motion that fails is `inaccurate`.
    """
    from onesided.complementarity_systems.event_driven import EventDriven

    chosen = EventDriven() if method is None else method
    if not isinstance(chosen, MotionMethod):
        raise UsageError("this is not a method of motion", got=repr(method), expected="an object such as EventDriven()")
    grid = _times(times)
    x = system.check_state(np.zeros(system.n) if start is None else start)
    claim = chosen.run(system, x, grid, tolerances)
    motion = _collect(system, chosen, claim, tolerances)
    if throw and not motion.ok:
        raise SolveError(motion.status.value, motion, got=motion.note)
    return motion


def _times(times: ArrayLike) -> Array:
    grid = np.array(times, dtype=float)
    if grid.ndim != 1 or len(grid) < 2 or not np.isfinite(grid).all() or not (np.diff(grid) > 0).all():
        raise UsageError("`times` do not rise", got=str(times)[:80], expected="(first, last), or rising finite times")
    return grid if len(grid) > 2 else np.linspace(grid[0], grid[1], POINTS)


def _collect(system: System, method: MotionMethod, claim: Claim, tolerances: Tolerances) -> ComplementarityMotion:
    """Recheck a claim and make a result of it."""
    w = np.array([system.slack(t, x, s) for t, x, s in zip(claim.t, claim.x, claim.s, strict=True)])
    w = w.reshape(claim.s.shape)
    free = [np.abs(system.slack(t, x, np.zeros(system.m))) for t, x in zip(claim.t, claim.x, strict=True)]
    size_s, size_w = np.abs(claim.s).max(initial=0.0), max(np.max(free, initial=0.0), np.abs(w).max(initial=0.0))
    scaled = np.minimum(claim.s / (size_s or 1.0), w / (size_w or 1.0))
    residual = float(np.abs(scaled).max(initial=0.0))
    if isinstance(system, CableStructure):
        residual = max(residual, float(system.overstress(claim.x, claim.s).max(initial=0.0)))
    status, note = claim.status, claim.note
    if not (np.isfinite(claim.x).all() and np.isfinite(w).all()):
        status, note = Status.not_finite, "the motion holds values that are not finite"
    elif status is Status.solved and residual > tolerances.complementarity:
        status, note = Status.inaccurate, f"0 ≤ s ⊥ w ≥ 0 is violated by {residual:.3g}, relative. {note}".strip()
    knobs = {key: str(value) for key, value in asdict(method).items()}  # type: ignore[call-overload]
    return ComplementarityMotion(
        states=tuple(system.states),
        names=tuple(system.names),
        t=claim.t,
        x=claim.x,
        s=claim.s,
        w=w,
        first_taut=claim.first_taut,
        peak_s=claim.peak_s,
        peak_w=claim.peak_w,
        switches=claim.switches,
        residual=residual,
        status=status,
        note=note,
        stats=claim.stats,
        provenance={"method": type(method).__name__, "knobs": knobs, "version": __version__},
    )
