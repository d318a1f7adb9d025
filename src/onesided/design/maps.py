"""The verb `stability_map`: for which values of a parameter a path has which events."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import BarycentricInterpolator

from onesided.base.arguments import checked
from onesided.base.errors import OnesidedError, SolveError, UsageError, passed_on
from onesided.base.names import unknown_name
from onesided.base.progress import SILENT, InnerProgress, Progress
from onesided.base.tolerances import HALF_DIGITS, QUARTER_DIGITS
from onesided.base.types import Array, Status
from onesided.design.event_equations import CONTACTS
from onesided.design.follow import follow
from onesided.results import Event, Followed, Kind, Meeting, Path, Region, StabilityMap
from onesided.statics.paths import trace
from onesided.system.system import System

SHARP = QUARTER_DIGITS  # share of the bounds to which a change without a meeting is bracketed
MOST_SAMPLES = 10_000  # paths that are traced first
CHANGES = 8  # between two samples; more of them are not looked for
ENTERS = "an event enters or leaves the path"
NOWHERE = "no path"  # the only "event" of values of the parameter for which none could be traced
Change = tuple[tuple[str, ...], float, str, float]
SAME = QUARTER_DIGITS  # share of the range of p within which an event lies on a curve that is known


@checked
def stability_map(  # noqa: PLR0913 - one verb, all its ends by keyword
    system: System,
    parameter: str,
    bounds: tuple[float, float],
    *,
    q0: Any = None,
    p0: float | None = None,
    direction: int | None = None,
    p_bounds: tuple[float, float] | None = None,
    samples: int = 9,
    progress: Progress = SILENT,
    throw: bool = True,
) -> StabilityMap:
    """Regions of a parameter in which the path from a start has the same events, and the curves of these events.

    Paths are traced at some values of the parameter; where their events differ, the change is located on the curves of
    the events, or bracketed by further paths where no curve has a special point there.

    Parameters
    ----------
    parameter, bounds : what changes, from where to where.
    q0, p0, direction, p_bounds : of the paths, as for `trace`.
    samples : paths that are traced first; a region that is narrower than their distance may be missed.
    progress : notified of points as they are found, with the value of the parameter.
    throw : after Ctrl-C raise a `SolveError` that holds the map so far, or return it. It ends at the last path traced;
        what could not be located any more is known as sharply as these paths tell.
    """
    if parameter not in system.parameters:
        raise unknown_name("parameter", parameter, system.parameters)
    if not bounds[0] < bounds[1] or not np.isfinite(bounds[1] - bounds[0]):
        raise UsageError(f"the bounds of {parameter} are not usable", got=repr(bounds), expected="low < high, finite")
    if not 2 <= samples <= MOST_SAMPLES:
        raise UsageError("`samples` is not usable", got=str(samples), expected=f"2 to {MOST_SAMPLES} paths")
    work = _Survey(system, parameter, bounds, (q0, p0, direction, p_bounds), progress)
    progress.begin("stability map")
    try:
        found = work.run(np.linspace(*bounds, samples))
    finally:
        progress.end()
    if throw and found.status is Status.interrupted:
        raise SolveError(found.status.value, found, got=found.note)
    return found


@dataclass(frozen=True, eq=False)
class _Sample:
    """A path at one value of the parameter, or that there is none."""

    value: float
    path: Path | None

    @property
    def events(self) -> tuple[Event, ...]:
        """Events of the sampled path, without those at the bounds of p."""
        return () if self.path is None else tuple(one for one in self.path.events if one.kind is not Kind.bound)

    @property
    def signature(self) -> tuple[str, ...]:
        """Kinds and constraints, in words."""
        if self.path is None:
            return (NOWHERE,)
        return tuple(" ".join([one.kind.value, *(f"'{name}'" for name in one.constraints)]) for one in self.events)


class _Survey:
    """Paths and curves of events over a parameter; `failed` lists what could not be computed.

    After Ctrl-C nothing more is computed, and what is there is put together.
    """

    def __init__(
        self,
        system: System,
        parameter: str,
        bounds: tuple[float, float],
        start: tuple[Any, Any, Any, Any],
        progress: Progress,
    ) -> None:
        self.system, self.parameter, self.bounds, self.start = system, parameter, bounds, start
        self.failed, self._missing = list[str](), dict[float, str]()
        self.status, self.total = Status.solved, InnerProgress(progress)

    def run(self, values: Array) -> StabilityMap:
        """Regions between the first values and the last that was reached."""
        found = [self.at(float(value)) for value in values]
        known = [one for one in found if one is not None]
        if not known and self.status is Status.interrupted:
            raise KeyboardInterrupt
        curves = self.curves(known)
        changes = [one for a, b in itertools.pairwise(known) for one in self.changes(a, b, curves)]
        end = known[-1].value if found[-1] is None and self.status is Status.interrupted else self.bounds[1]
        ends = [one[1:] for one in changes]
        lists = [*(one[0] for one in changes), known[-1].signature if known else ()]
        lows, highs = [self.bounds[0], *(one[0] for one in ends)], [*(one[0] for one in ends), end]
        further = [*ends, (end, "", 0.0)]
        regions = [Region(*one[:3], *one[3][1:]) for one in zip(lows, highs, lists, further, strict=True)]
        self.failed += [self._why_none(region) for region in regions if region.events == (NOWHERE,)]
        note = "; ".join(self.failed)
        return StabilityMap(
            self.parameter, self.system.control, tuple(regions), tuple(curves), not self.failed, note, self.status
        )

    def _why_none(self, region: Region) -> str:
        """Why a region has no path: the words of the first that was tried in it."""
        first = min((value for value in self._missing if region.low <= value <= region.high), default=region.low)
        return f"no path at {self.parameter} = {first:.6g}: {self._missing.get(first, 'not traced')}"

    def stop(self) -> None:
        """Set the status to interrupted, so that no further path is traced."""
        self.status = Status.interrupted
        self.failed.append(f"Ctrl-C at {self.parameter} = {self.total.value:.6g}")

    def at(self, value: float) -> _Sample | None:
        """The path at a value of the parameter; None after Ctrl-C."""
        if self.status is Status.interrupted:
            return None
        self.total.value = value
        try:
            return _Sample(value, self._path(value))
        except KeyboardInterrupt:
            self.stop()
        except OnesidedError as error:
            self._missing[value] = str(error)
            return _Sample(value, None)
        return None

    def _path(self, value: float) -> Path:
        q0, p0, direction, p_bounds = self.start
        changed = self.system.replace(parameters={self.parameter: value})
        with passed_on():
            found = trace(changed, q0, p0, direction=direction, p_bounds=p_bounds, progress=self.total)
        self.total.add(len(found), len(found.events))
        return found

    def curves(self, samples: list[_Sample]) -> list[Followed]:
        """The curves of all events, each once."""
        found: list[Followed] = []
        for sample in samples:
            for event in sample.events:
                if self.status is Status.interrupted:
                    return found
                if any(_on(curve, sample.value, event, self._reach(sample)) for curve in found):
                    continue
                self.total.value = sample.value
                try:
                    found.append(follow(event, self.parameter, self.bounds, progress=self.total, throw=False))
                    self.total.add(len(found[-1]), 0)
                except OnesidedError as error:
                    self.failed.append(f"{event.words()} cannot be followed: {error}")
                except KeyboardInterrupt:
                    self.stop()
                if found and found[-1].status is Status.interrupted:
                    self.stop()
        return found

    def _reach(self, sample: _Sample) -> float:
        return 0.0 if sample.path is None else float(SAME * np.ptp(sample.path.p))

    def changes(self, a: _Sample, b: _Sample, curves: list[Followed]) -> list[Change]:
        """Where the events change between two samples: what they were, where, why, and how sharply that is known."""
        found: list[Change] = []
        while a.signature != b.signature:
            if len(found) == CHANGES:
                self.failed.append(f"the events change more than {CHANGES} times before {b.value:.6g}")
                break
            low, high, why = self._first_change(a, b, curves)
            middle, sharp = 0.5 * (low.value + high.value), 0.5 * (high.value - low.value)
            located = (middle, _unlocated(low, high), sharp) if why is None else (why.theta, why.kind.value, 0.0)
            found.append((a.signature, *located))
            a = high
        return found

    def _first_change(self, a: _Sample, b: _Sample, curves: list[Followed]) -> tuple[_Sample, _Sample, Meeting | None]:
        """Two paths with other events between which is the first change, and the meeting of curves that is there.

        Meetings are tried first: one counts where the events differ on its two sides.
        """
        width, same = (share * (self.bounds[1] - self.bounds[0]) for share in (SHARP, HALF_DIGITS))
        met = [one for curve in curves for one in curve.meetings if a.value - same < one.theta < b.value + same]
        low, high = a, b
        while high.value - low.value > width:
            inside = [one.theta for one in met if low.value + width < one.theta < high.value - width]
            value = min(inside) - 0.4 * width if inside else 0.5 * (low.value + high.value)
            middle = self.at(value)
            if inside and middle is not None and middle.signature == a.signature:
                low, middle = middle, self.at(value + 0.8 * width)
            if middle is None:
                break
            low, high = (middle, high) if middle.signature == a.signature else (low, middle)
        there = [one for one in met if low.value - same <= one.theta <= high.value + same]
        return low, high, there[0] if there else None


def _unlocated(low: _Sample, high: _Sample) -> str:
    """What changes between two paths, where no curve of events has a special point."""
    if (low.path is None) == (high.path is None):
        return ENTERS
    return "paths begin" if low.path is None else "paths end"


def _on(curve: Followed, value: float, event: Event, reach: float) -> bool:
    """Whether an event lies on a curve of events of its kind."""
    if curve.kind is not event.kind and not {curve.kind, event.kind} <= CONTACTS:
        return False
    across = np.flatnonzero((curve.theta[:-1] - value) * (curve.theta[1:] - value) <= 0.0)
    return any(abs(_load_at(curve, int(i), value) - event.p) <= reach for i in across)


def _load_at(curve: Followed, i: int, value: float) -> float:
    """The load p of a curve at a value of the parameter between points i and i + 1, from the points around them."""
    first = min(max(i - 1, 0), max(len(curve) - 4, 0))
    theta, p = curve.theta[first : first + 4], curve.p[first : first + 4]
    if len(theta) < 4 or not (np.all(np.diff(theta) > 0.0) or np.all(np.diff(theta) < 0.0)):
        theta, p = curve.theta[i : i + 2], curve.p[i : i + 2]
        return float(np.interp(value, np.sort(theta), p[np.argsort(theta)]))
    return float(BarycentricInterpolator(theta - value, p)(0.0))
