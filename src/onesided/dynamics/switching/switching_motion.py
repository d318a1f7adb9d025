"""Motion of complementarity systems: what a method is, the run made of it, and the second opinion on its claim."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from onesided._version import __version__
from onesided.base.errors import UsageError
from onesided.base.names import check_labels
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array, Status
from onesided.dynamics.switching import recheck
from onesided.dynamics.switching.looked_at import evaluated
from onesided.dynamics.switching.recheck import System
from onesided.dynamics.switching.runs import Claim, LinearRun, RunPoint
from onesided.results.complementarity_motion import ComplementarityMotion


@dataclass(frozen=True, eq=False)
class SwitchingRequest:
    """What a method is asked: from `start` (n,) at times[0] to times[-1], with output at the times in between."""

    system: System
    start: Array
    times: Array
    tolerances: Tolerances = DEFAULT


class SwitchingMethod(ABC):
    """A frozen dataclass with the knobs of one method; `start` makes a run of it.

    `fixed_step` says whether its points are its steps; otherwise it gives a trail of steps that are short enough to
    be integrated anew by a method of high order.
    """

    fixed_step: ClassVar[bool] = True

    def largest_defect(self, tolerances: Tolerances) -> float:
        """Share of ẋ that the recheck may find unexplained."""
        return tolerances.defect

    @abstractmethod
    def start(self, system: Any, x: Array, times: Array, tolerances: Tolerances) -> LinearRun:
        """A run from x at times[0] to times[-1], through the times in between or in steps of its own."""

    def begin(self, request: SwitchingRequest) -> "SwitchingMotion":
        """Make a motion that can begin."""
        if not isinstance(request, SwitchingRequest):
            raise UsageError(
                "this method is for complementarity systems", got=repr(self), expected="Projected(), EventDriven() …"
            )
        return SwitchingMotion(request, self)


class SwitchingMotion:
    """One motion in progress: a run, whose claim is rechecked from the problem alone."""

    def __init__(self, request: SwitchingRequest, method: SwitchingMethod) -> None:
        self.request, self.method = request, method
        self.run = method.start(request.system, request.start, request.times, request.tolerances)
        self.state, self.status, self.note = self.run.here(), Status.solved, ""

    @property
    def events(self) -> range:
        """As many as there were switches so far."""
        return range(self.state.switches)

    def items(self) -> Iterator[int]:
        """Steps to the end, or until none can be made: the number of points so far."""
        points = 1
        yield points
        while self.run.advance():
            self.state, points = self.run.here(), points + 1
            yield points
        claim = self.run.claim()
        self.status, self.note = claim.status, claim.note

    def motion(self) -> ComplementarityMotion:
        """What was found so far, rechecked."""
        claim = _with_end(self.run.claim(), self.run.here())
        if self.status is Status.interrupted:
            claim = replace(claim, status=self.status, note=self.note)
        return _collect(self.request.system, self.method, claim, self.request.tolerances)


def _with_end(claim: Claim, here: RunPoint) -> Claim:
    """A claim whose last point is the state reached, also where the run ended before the next time asked for."""
    if not here.t > claim.t[-1]:
        return claim
    t, x, s = np.append(claim.t, here.t), np.vstack([claim.x, here.x]), np.vstack([claim.s, here.s])
    return replace(claim, t=t, x=x, s=s)


def _collect(system: System, method: SwitchingMethod, claim: Claim, tolerances: Tolerances) -> ComplementarityMotion:
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


def _wrong(off: recheck.Worst, defect: recheck.Worst, method: SwitchingMethod, tolerances: Tolerances) -> str:
    """What the recheck found, in words."""
    words = []
    if not off.value <= tolerances.complementarity:
        words.append(f"0 ≤ s ⊥ w ≥ 0 is violated by {off.value:.3g}, relative, at t = {off.t:.6g}")
    if not defect.value <= method.largest_defect(tolerances):
        words.append(f"the equations leave {defect.value:.3g} of ẋ unexplained at t = {defect.t:.6g}")
    return "; ".join(words)
