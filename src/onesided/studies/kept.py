"""What a study keeps of a result: named numbers and events."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from onesided.base.errors import UsageError
from onesided.results import (
    Designed,
    Diagram,
    Drive,
    Equilibrium,
    Event,
    Kind,
    Modes,
    Motion,
    Occurrence,
    Path,
    Solution,
)
from onesided.results.study_rows import OWN

ENDS: dict[str, Callable[[Any], Any]] = {
    "max": np.max, "min": np.min, "first": lambda values: values[0], "last": lambda values: values[-1],
}  # fmt: skip
LIMITS = frozenset({Kind.limit, Kind.corner_limit})
FORKS = frozenset({Kind.smooth_bifurcation, Kind.nonsmooth_bifurcation})
MOST_FREQUENCIES = 10
Row = dict[str, Any]


def check_keep(keep: Iterable[str]) -> None:
    """Refuse what cannot be asked of a result."""
    for name in keep:
        way, _, what = name.partition(" ")
        if way not in ENDS or not what:
            raise UsageError(
                "this cannot be kept", got=repr(name), expected=f"{' or '.join(ENDS)}, and a name: 'max x'",
            )  # fmt: skip


def kept(result: Any, keep: Sequence[str]) -> Row:
    """The row of a result: how it ended, what happened, numbers by name; extremes are those of the computed points."""
    row = _ending(result)
    for kind, told in _KINDS.items():
        if isinstance(result, kind):
            row |= told(result)
    for name in keep:
        way, _, what = name.partition(" ")
        series = result.value if isinstance(result, Solution) else result
        row[name] = float(ENDS[way](np.atleast_1d(series[what])))
    return row


def _ending(result: Any) -> Row:
    if isinstance(result, Diagram):
        interrupted = "interrupted" if result.interrupted else "complete" if result.complete else "not complete"
        return {"ok": result.complete, "status": interrupted, "note": result.note, "complete": result.complete}
    if isinstance(result, Modes):
        return {"ok": True, "status": "solved", "note": result.note}
    return {"ok": result.ok, "status": result.status.name, "note": result.note}


def _of_path(path: Path) -> Row:
    return _of_paths((path,), path.events) | _extremes((path,))


def _of_drive(drive: Drive) -> Row:
    events = [event for path in drive.paths for event in path.events]
    jumps = {
        "jumps": float(len(drive.jumps)),
        "first_jump": drive.jumps[0].p if drive.jumps else np.nan,
        "dissipated": drive.dissipated,
        "work": drive.work,
    }
    return _of_paths(drive.paths, events) | jumps | _extremes(drive.paths)


def _of_diagram(diagram: Diagram) -> Row:
    events = [event for path in diagram.paths for event in path.events]
    return _of_paths(diagram.paths, events) | {"branches": float(len(diagram.paths))} | _extremes(diagram.paths)


def _of_paths(paths: Sequence[Path], events: Sequence[Event]) -> Row:
    return {"points": float(sum(len(path) for path in paths)), **of_events(events)}


def of_events(events: Sequence[Any]) -> Row:
    """Loads of the first limit point, corner, bifurcation and loss of stability, and all events."""
    told = [event for event in events if event.kind is not Kind.bound]
    lost = next((e for e in told if e.instability_before == 0 and e.instability_after != 0), None)
    return {
        "limit_load": _first(told, LIMITS),
        "corner_load": _first(told, {Kind.corner_limit}),
        "bifurcation_load": _first(told, FORKS),
        "instability_load": lost.p if lost is not None else np.nan,
        "instability_kind": lost.kind.value if lost is not None else "",
        "first_event": told[0].kind.value if told else "",
        "first_event_load": told[0].p if told else np.nan,
        "event_kinds": [event.kind.value for event in told],
        "event_at": [event.p for event in told],
        "event_names": [", ".join(event.constraints) for event in told],
        "event_before": [event.instability_before for event in told],
        "event_after": [event.instability_after for event in told],
    }


def _first(events: Iterable[Event], kinds: Iterable[Kind]) -> float:
    return next((event.p for event in events if event.kind in kinds), np.nan)


def _extremes(parts: Sequence[Path | Motion]) -> Row:
    """Largest and smallest values of the control and of the measures; those that serve drawings alone are left out."""
    parts = [part for part in parts if len(part)]
    if not parts:
        return {}
    control, sketch = parts[0].control, parts[0].sketch
    drawn = set() if sketch is None else set(sketch.names())
    columns = {control: [part.p for part in parts]} | {
        name: [part.measures[name] for part in parts] for name in parts[0].measures if name not in drawn
    }
    return {
        f"{way} {name}": float(ENDS[way]([ENDS[way](one) for one in values]))
        for name, values in columns.items()
        for way in ("max", "min")
    }


def _of_motion(motion: Motion) -> Row:
    return {
        "points": float(len(motion)),
        "t_end": float(motion.t[-1]),
        "impacts": float(sum(event.kind is Occurrence.impact for event in motion.events)),
        "energy_end": float(motion.energy[-1]),
        "drift": motion.drift.worst,
        "first_event": motion.events[0].kind.value if motion.events else "",
        "first_event_time": motion.events[0].t if motion.events else np.nan,
        "event_kinds": [event.kind.value for event in motion.events],
        "event_at": [event.t for event in motion.events],
        "event_names": [event.name for event in motion.events],
    } | _extremes((motion,))


def _of_solution(solution: Solution[Any]) -> Row:
    """Of an equilibrium: coordinates, reactions, energy, stability."""
    value = solution.value
    if not isinstance(value, Equilibrium):
        return {"residual": solution.residual}
    states = {"residual": solution.residual, "instability": float(value.instability)}
    taken = OWN | states.keys()
    numbers = {f"value {name}" if name in taken else name: value[name] for name in value.keys()}  # noqa: SIM118
    return {**states, "stable": value.words() == "stable", **numbers}


def _of_modes(modes: Modes) -> Row:
    rates = {f"frequency {i}": float(w) for i, w in enumerate(modes.frequencies[:MOST_FREQUENCIES], 1)}
    return {"stable": modes.stable, **rates}


def _of_designed(found: Designed) -> Row:
    """Parameters that were found, and what the aims came to."""
    values = {f"designed {name}": value for name, value in found.parameters.items()}
    aims = {f"aim {i}": one.after for i, one in enumerate(found.aims, start=1)}
    return {**values, **aims, "gradients": float(found.gradients)}


_KINDS: dict[type, Callable[[Any], Row]] = {
    Path: _of_path, Drive: _of_drive, Diagram: _of_diagram, Motion: _of_motion, Solution: _of_solution,
    Modes: _of_modes, Designed: _of_designed,
}  # fmt: skip
