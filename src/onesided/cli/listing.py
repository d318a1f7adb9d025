"""What the command line prints: equilibria, tables of events, how it went, where results lie; no numerics."""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from onesided.base.tolerances import EPS
from onesided.base.types import Status
from onesided.cli.event_table import EventRow, event_row, jump_row, motion_row, out, place, say, show
from onesided.cli.live_progress import json_line
from onesided.results import (
    Diagram,
    Drive,
    Equilibrium,
    Event,
    Followed,
    Jump,
    Kind,
    Motion,
    MotionEvent,
    Occurrence,
    Path,
    Sensitivity,
    Solution,
    StabilityMap,
    Steering,
    event_record,
    motion_event_record,
)
from onesided.results.explain import slug, theory
from onesided.results.path import format_number

SHOWN = 12  # coordinates in a table
LISTED = 30  # events of a path, branches of a diagram, pieces of a drive


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
    rows = _rows(found, _numbers(found), bounds=True)
    show(_heads(found.control), rows[:LISTED])
    _more(len(rows), "events", "events.csv")
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


def _numbers(found: Path | Drive | Diagram, part: int = 0) -> Iterator[int]:
    """The numbers that every view gives to the events of a part, in order; jumps and bounds are not among them."""
    return (one.number for one in found.numbered if one.part == part and not isinstance(one.what, Jump))


def _rows(found: Path, numbers: Iterator[int], *, bounds: bool = False) -> list[EventRow]:
    """Rows of the events of a path; of a part of a drive or diagram those that are not its end."""
    rows = []
    for event in found.events:
        if event.kind is not Kind.bound:
            rows.append(event_row(event, next(numbers), found))
        elif bounds:
            rows.append(event_row(event, None, found))
    return rows


def _heads(control: str) -> tuple[str, ...]:
    return "№", "event", control, "contacts", "stability"


def _more(count: int, what: str, file: str) -> None:
    """What a listing leaves out, and where it is."""
    if count > LISTED:
        place(f"  … {count - LISTED:,} more {what}, in {file}")


def _meaning(events: Iterable[Event | MotionEvent]) -> None:
    """Where to read on about the kinds of events that were met."""
    plain = {Kind.bound, Kind.user, Occurrence.user}
    kinds = dict.fromkeys(slug(event.kind) for event in events if event.kind not in plain)
    if kinds:
        say(f"[dim]meaning and theory: onesided explain {' | '.join(kinds)}[/]")


def _trust(residual: float) -> str:
    return f"rechecked, largest relative residual {residual:.1e}"


def _where(folder: str) -> None:
    place(f"results in [bold]{escape(folder)}[/]")


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
    rows = list[EventRow]()
    jumps = {one.part: jump_row(one.what, one.number) for one in found.numbered if isinstance(one.what, Jump)}
    for i, leg in enumerate(found.paths):
        rows += [EventRow((), f"{leg.control} from {leg.p[0]:.6g} to {leg.p[-1]:.6g}, {len(leg)} points")]
        rows += [*_rows(leg, _numbers(found, i)), *([jumps[i]] if i in jumps else [])]
    show(_heads(found.control), rows[:LISTED])
    _more(len(rows), "lines", "path-*/events.csv")
    if not found.ok or found.status is Status.blocked:
        say(_verdict(found.ok, text=f"{found.status.value} ({found.note})"))
    elif found.note:
        say(f"note: {escape(found.note)}")
    _meaning(event for leg in found.paths for event in leg.events)
    worst = max((leg.residual for leg in found.paths), default=0.0)
    say(f"energy lost in jumps {found.dissipated:.10g}, work of the control {_worked(found):.10g}; {_trust(worst)}")
    _where(folder)


def _worked(found: Drive) -> float:
    """The work, 0 where it is the round-off of the energies that it is the sum of."""
    room = EPS * sum(float(np.max(np.abs(path.energy))) for path in found.paths)
    return found.work if abs(found.work) > room else 0.0


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
    rows = [motion_row(one.what, one.number) for one in found.numbered[:LISTED]]
    show(("№", "event", "t", "contact", "what"), rows)
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
    rows = list[EventRow]()
    for i, branch in enumerate(found.paths):
        rows += [EventRow((), _branch(found, i)), *_rows(branch, _numbers(found, i))]
    show(_heads(found.paths[0].control if found.paths else "p"), rows[:LISTED])
    _more(len(rows), "lines", "diagram.csv and path-*/events.csv")
    if not found.complete:
        say(f"[yellow]not complete[/]: {escape(found.note)}")
    elif found.note:
        say(f"note: {escape(found.note)}")
    _meaning(found.events)
    worst = max((branch.residual for branch in found.paths), default=0.0)
    images = f" ({sum(found.multiplicity)} with their images)" if found.multiplicity else ""
    say(f"{len(found.paths)} branches{images}, {len(found.events)} special points; {_trust(worst)}")
    _where(folder)


def _branch(found: Diagram, index: int) -> str:
    """One line on a branch: where it comes from, its range, how it ended."""
    branch, parent = found.paths[index], found.parents[index]
    origin = f"leaves branch {parent}" if parent >= 0 else "from the start"
    span = f"{branch.control} from {branch.p[0]:.6g} to {branch.p[-1]:.6g}"
    folded = f" {found.times(index)}, symmetry {branch.isotropy}" if found.multiplicity else ""
    how = branch.note if branch.status is Status.path_ended and branch.note else branch.status.value
    end = "" if branch.status is Status.bound_reached else f", {how}"
    return f"branch {index}{folded} ({origin}): {span}, {len(branch)} points{end}"


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


def regions(found: StabilityMap, *, as_json: bool, folder: str) -> None:
    """Where a path has which events."""
    for one in found.regions:
        if as_json:
            ends = {"low": one.low, "high": one.high, "sharp": one.sharp}
            json_line({"kind": "region", **ends, "events": list(one.events), "words": one.words()})
        else:
            say(escape(one.words()))
    if as_json:
        words = {"status": found.status.name, "complete": found.complete, "note": found.note}
        json_line({"kind": "result", **words, "folder": folder})
        return
    if found.note:
        say(f"[dim]{escape(found.note)}[/]")
    _where(folder)


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


def how_to_open(page: FilePath) -> None:
    """Where an interactive page lies, as an address that terminals and browsers open."""
    place(f"interactive page: [bold]{escape(page.resolve().as_uri())}[/]")
    say("[dim]open it in any browser: drag the slider, click events, press the space bar to play[/]")
