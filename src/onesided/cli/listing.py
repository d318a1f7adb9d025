"""What the command line prints: equilibria, events in words, progress; no numerics."""

import json
import math
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table

from onesided.base.progress import Progress
from onesided.base.types import Status
from onesided.results import (
    Diagram,
    Drive,
    Equilibrium,
    Event,
    Followed,
    Kind,
    Motion,
    MotionEvent,
    Occurrence,
    Path,
    Sensitivity,
    Solution,
    Steering,
    event_record,
    motion_event_record,
)
from onesided.results.explain import slug, theory
from onesided.results.path import format_number

SHOWN = 12  # coordinates in a table
LISTED = 30  # events of a path, branches of a diagram, pieces of a drive
SECONDS_BETWEEN = 0.2  # lines of progress for machines

out = Console()
err = Console(stderr=True)


class LiveProgress(Progress):
    """A line on the terminal with p, points, events, step and rate; silent where there is no terminal.

    Parameters
    ----------
    name : what is being driven: the control parameter, or time.
    span : its range; the bar shows where in it the computation is, and goes back where the path turns back.
    """

    def __init__(
        self,
        *,
        quiet: bool,
        stopped: Callable[[], bool],
        name: str = "p",
        span: tuple[float, float] = (-math.inf, math.inf),
    ) -> None:
        self._name, self._span = name, span
        self._bar: Bar | None = None
        self._stopped = stopped
        self._quiet = quiet or not err.is_terminal

    def begin(self, what: str) -> None:
        """Show the line."""
        if not self._quiet:
            text = TextColumn("{task.description}")
            finite = all(math.isfinite(end) for end in self._span)
            bar = [BarColumn(bar_width=24)] if finite else []
            self._bar = Bar(SpinnerColumn(), *bar, text, TimeElapsedColumn(), console=err, transient=True)
            self._bar.start()
            self._task = self._bar.add_task(what, total=1.0)

    def update(self, *, control: float, points: int, events: int, step: float) -> None:
        """Refresh the line; stop where Ctrl-C was pressed and nobody heard it."""
        if self._stopped():
            raise KeyboardInterrupt
        if self._bar is not None:
            seconds = max(self._bar.tasks[0].elapsed or 0.0, 0.001)
            counts = f"{points} points   {events} events   step {step:.2g}   {points / seconds:.0f}/s"
            low, high = self._span
            done = (control - low) / (high - low) if math.isfinite(high - low) and high > low else 0.0
            text = f"{escape(self._name)} = {control:.6g}   {counts}"
            self._bar.update(self._task, description=text, completed=min(max(done, 0.0), 1.0))

    def end(self) -> None:
        """Take the line away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


class JsonProgress(Progress):
    """Progress as JSON lines: the first point, then a few lines a second, and the last point."""

    def __init__(self, *, stopped: Callable[[], bool], name: str) -> None:
        self._stopped, self._name = stopped, name
        self._begun, self._told, self._waiting = 0.0, -math.inf, False
        self._record: dict[str, Any] = {}

    def begin(self, what: str) -> None:
        """Remember when."""
        self._begun = time.monotonic()
        self._record = {"kind": "progress", "command": what, "name": self._name}

    def update(self, *, control: float, points: int, events: int, step: float) -> None:
        """Tell now, or remember it for the end; stop where Ctrl-C was pressed and nobody heard it."""
        if self._stopped():
            raise KeyboardInterrupt
        now = time.monotonic()
        seconds = now - self._begun
        self._record |= {"value": control, "points": points, "events": events, "step": step, "seconds": seconds}
        self._record["rate"] = points / max(seconds, 0.001)
        self._waiting = now - self._told < SECONDS_BETWEEN
        if not self._waiting:
            self._told = now
            json_line(self._record)

    def end(self) -> None:
        """Tell the last point, where it was not."""
        if self._waiting:
            json_line(self._record)
            self._waiting = False


def progress(
    stopped: Callable[[], bool], name: str, span: tuple[float, float], *, quiet: bool, as_json: bool
) -> Progress:
    """A bar on the terminal, or lines for machines, or nothing."""
    if as_json and not quiet:
        return JsonProgress(stopped=stopped, name=name)
    return LiveProgress(quiet=quiet or as_json, stopped=stopped, name=name, span=span)


def say(text: str) -> None:
    """One line to the terminal, wrapped softly, without guessing at colours."""
    out.print(text, highlight=False, soft_wrap=True)


def json_line(record: dict[str, Any]) -> None:
    """One record for machines, at once; numbers that are not finite become null."""
    sys.stdout.write(json.dumps(_finite(record), default=str, allow_nan=False) + "\n")
    sys.stdout.flush()


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _verdict(ok: bool, text: str) -> str:
    return f"[{'green' if ok else 'bold red'}]{escape(text)}[/]"


def solution(found: Solution[Equilibrium], *, as_json: bool) -> None:
    """An equilibrium, or how close the search came."""
    if as_json:
        record = found.value.as_dict()
        kept = record if found.ok else {key: record[key] for key in ("control", "coordinates", "recheck")}
        head = {"kind": "result", "status": found.status.name, "advice": found.status.value, "note": found.note}
        json_line({**head, **kept})
        return
    state = found.value
    say(_verdict(found.ok, "equilibrium" if found.ok else found.status.value))
    if found.note:
        say(f"  {escape(found.note)}")
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
    table.add_row(state.control, f"{state.p:.12g}")
    for name, value in zip(state.coordinates, state.q, strict=True):
        table.add_row(name, f"{value:.12g}")
    if not found.ok and found.status is not Status.dependent:
        for name, gap in zip(state.unilateral, state.gaps, strict=True):
            table.add_row(name, f"gap {gap:.6g}")
        out.print(table, highlight=False)
        return
    for name, value in zip(state.bilateral, state.mu, strict=True):
        table.add_row(name, f"multiplier {value:.12g}")
    for name in state.unilateral:
        table.add_row(name, state.told(name))
    table.add_row("energy", f"{state.energy:.12g}")
    table.add_row("stability", state.words())
    table.add_row("recheck", f"largest relative residual {state.recheck.worst:.1e}")
    out.print(table, highlight=False)


def path(found: Path, *, as_json: bool, folder: str) -> None:
    """The events of a path in words, how it ended and where it lies."""
    if as_json:
        _event_lines(found)
        _result_line(found, folder, points=len(found))
        return
    _events(found)
    if not found.ok or found.status is not Status.bound_reached:
        say(_verdict(found.ok, found.status.value))
    if found.note:
        say(f"note: {escape(found.note)}")
    _meaning(found.events)
    say(f"{len(found)} points, {found.control} from {found.p[0]:.6g} to {found.p[-1]:.6g}; {_trust(found.residual)}")
    _where(folder)


def _event_lines(found: Path, **where: int) -> None:
    for event in found.events:
        json_line({"kind": "event", **where, "event": {**event_record(event), "theory": theory(event.kind)}})


def _result_line(found: Path | Drive | Motion | Steering, folder: str, **more: Any) -> None:
    json_line({"kind": "result", "status": found.status.name, "note": found.note, **more, "folder": folder})


def _events(found: Path, *, part: int | None = None) -> None:
    """Events in words; of a part of a drive or diagram those that are not its end."""
    bounds, folder = part is None, "" if part is None else f"path-{part:03d}/"
    told = [event for event in found.events if bounds or event.kind is not Kind.bound]
    for number, event in enumerate(told[:LISTED], 1):
        say(f"{number:3d}  {escape(event.words())}")
    _more(len(told), "events", f"{folder}events.csv")


def _more(count: int, what: str, file: str) -> None:
    """What a listing leaves out, and where it is."""
    if count > LISTED:
        say(f"  … {count - LISTED:,} more {what}, in {file}")


def _meaning(events: Iterable[Event | MotionEvent]) -> None:
    """Where to read on about the kinds of events that were met."""
    plain = {Kind.bound, Kind.user, Occurrence.user}
    kinds = dict.fromkeys(slug(event.kind) for event in events if event.kind not in plain)
    if kinds:
        say(f"[dim]meaning and theory: onesided explain {' | '.join(kinds)}[/]")


def _trust(residual: float) -> str:
    return f"rechecked, largest relative residual {residual:.1e}"


def _where(folder: str) -> None:
    say(f"results in [bold]{escape(folder)}[/]")


def drive(found: Drive, *, as_json: bool, folder: str) -> None:
    """A loading history: what happened on the way, jumps, energies."""
    if as_json:
        for i, leg in enumerate(found.paths):
            _event_lines(leg, leg=i)
        for jump in found.jumps:
            json_line({"kind": "event", "jump": {"p": jump.p, "energy": jump.energy, "words": jump.words()}})
        points = sum(len(leg) for leg in found.paths)
        _result_line(found, folder, dissipated=found.dissipated, jumps=len(found.jumps), points=points)
        return
    jumps = list(found.jumps)
    for i, leg in enumerate(found.paths[:LISTED]):
        say(f"{found.control} from {leg.p[0]:.6g} to {leg.p[-1]:.6g}: {len(leg)} points")
        _events(leg, part=i)
        if jumps and jumps[0].p == leg.p[-1]:
            say(f"  [bold]{escape(jumps.pop(0).words())}[/]")
    _more(len(found.paths), "pieces", "drive.csv")
    if not found.ok or found.status is Status.blocked:
        say(_verdict(found.ok, text=f"{found.status.value} ({found.note})"))
    elif found.note:
        say(f"note: {escape(found.note)}")
    _meaning(event for leg in found.paths for event in leg.events)
    worst = max((leg.residual for leg in found.paths), default=0.0)
    say(f"energy lost in jumps {found.dissipated:.10g}, work of the control {found.work:.10g}; {_trust(worst)}")
    _where(folder)


def _end_table(found: Motion | Steering) -> None:
    """Positions and velocities at the last time."""
    table = Table(box=None, padding=(0, 2, 0, 2))
    for title in (f"at t = {found.t[-1]:.6g}", "position", "velocity"):
        table.add_column(title)
    for name, q, v in list(zip(found.coordinates, found.q[-1], found.v[-1], strict=True))[:SHOWN]:
        table.add_row(name, f"{q:.10g}", f"{v:.10g}")
    out.print(table, highlight=False)


def motion(found: Motion, *, as_json: bool, folder: str) -> None:
    """Events of a motion in words, how it ended, what was rechecked, and where it lies."""
    drift = {name: float(max(values, default=0.0)) for name, values in found.drift._asdict().items()}
    if as_json:
        for event in found.events:
            json_line({"kind": "event", "event": {**motion_event_record(event), "theory": theory(event.kind)}})
        end = dict(zip(found.coordinates, (float(value) for value in found.q[-1]), strict=True))
        _result_line(found, folder, t=float(found.t[-1]), end=end, drift=drift, points=len(found))
        return
    for number, event in enumerate(found.events[:LISTED], 1):
        say(f"{number:3d}  {escape(event.words())}")
    _more(len(found.events), "events", "result.json")
    if not found.ok or found.status is not Status.finished:
        say(_verdict(found.ok, found.status.value))
    if found.note:
        say(f"note: {escape(found.note)}")
    _meaning(found.events)
    _end_table(found)
    worst = max(value for name, value in drift.items() if name != "energy")
    say(f"{len(found)} points; {_trust(worst)}, energy error {drift['energy']:.1e}")
    _where(folder)


def steering(found: Steering, *, as_json: bool, folder: str) -> None:
    """Cost and range of the inputs, the state at the end, how it went, and where it lies."""
    if as_json:
        end = dict(zip(found.coordinates, (float(value) for value in found.q[-1]), strict=True))
        _result_line(found, folder, cost=found.cost, error=found.error, end=end, intervals=len(found.t) - 1)
        return
    say(_verdict(found.ok, found.status.value))
    if found.note:
        say(f"note: {escape(found.note)}")
    for i, name in enumerate(found.inputs):
        values = found.u[:, :, i]
        say(f"{name}: from {format_number(float(values.min()))} to {format_number(float(values.max()))}")
    _end_table(found)
    say(f"cost {format_number(found.cost)}; {len(found.t) - 1} intervals, the motion under the inputs is "
        f"{found.error:.1e} from the nodes")  # fmt: skip
    _where(folder)


def diagram(found: Diagram, *, as_json: bool, folder: str) -> None:
    """All branches, each with its events."""
    if as_json:
        for i, branch in enumerate(found.paths):
            _event_lines(branch, branch=i)
        times = found.multiplicity or (1,) * len(found.paths)
        tree = [
            {"parent": parent, "points": len(branch), "status": branch.status.name, "multiplicity": count}
            for branch, parent, count in zip(found.paths, found.parents, times, strict=True)
        ]
        state = {"complete": found.complete, "note": found.note, "branches": len(tree), "tree": tree}
        json_line({"kind": "result", **state, "points": sum(len(branch) for branch in found.paths), "folder": folder})
        return
    for i, branch in enumerate(found.paths[:LISTED]):
        origin = f"leaves branch {found.parents[i]}" if found.parents[i] >= 0 else "from the start"
        span = f"{branch.control} from {branch.p[0]:.6g} to {branch.p[-1]:.6g}"
        folded = f" {found.times(i)}, symmetry {branch.isotropy}" if found.multiplicity else ""
        say(f"[bold]branch {i}[/]{folded} ({origin}): {span}, {len(branch)} points, {escape(branch.status.value)}")
        _events(branch, part=i)
    _more(len(found.paths), "branches", "diagram.csv")
    if not found.complete:
        say(f"[yellow]not complete[/]: {escape(found.note)}")
    elif found.note:
        say(f"note: {escape(found.note)}")
    _meaning(found.events)
    worst = max((branch.residual for branch in found.paths), default=0.0)
    images = f" ({sum(found.multiplicity)} with their images)" if found.multiplicity else ""
    say(f"{len(found.paths)} branches{images}, {len(found.events)} special points; {_trust(worst)}")
    _where(folder)


def sensitivity(found: Sensitivity, *, as_json: bool) -> None:
    """What moves an event, by influence."""
    if as_json:
        for name in found.order:
            json_line({"kind": "sensitivity", **found.record(name)})
        return
    say(f"what moves {escape(found.about)}")
    table = Table(box=None, padding=(0, 2, 0, 2))
    for head in ("parameter", f"d{found.control}/dparameter", "% per %", ""):
        table.add_column(head, justify="left" if head in {"parameter", ""} else "right")
    for name in found.order:
        record = found.record(name)
        law = f"{record['coefficient']:.6g} |Δ|^{record['exponent']:.3g}" if record["exponent"] != 1.0 else ""
        rate = law or f"{record['p_rate']:.10g}"
        percent = "" if not math.isfinite(record["relative"]) else f"{record['relative']:+.4g}"
        table.add_row(escape(name), rate, percent, escape(record["note"]))
    out.print(table, highlight=False)


def followed(found: Followed, *, as_json: bool, folder: str) -> None:
    """A curve of events: its ends and special points."""
    if as_json:
        for one in found.meetings:
            place = {"theta": one.theta, "p": one.p}
            json_line({"kind": "meeting", "meeting": one.kind.name, **place, "words": one.words()})
        json_line({"kind": "result", "status": found.status.name, "points": len(found), "folder": folder})
        return
    say(escape(repr(found).strip("<>")))
    for number, one in enumerate(found.meetings, 1):
        say(f"{number:3d}  {escape(one.words())}")
    for i in (0, -1):
        say(f"{escape(found.parameter)} = {found.theta[i]:.10g}: {escape(found.control)} = {found.p[i]:.10g}")
    say(f"[dim]{escape(found.note)}[/]")
    _where(folder)
