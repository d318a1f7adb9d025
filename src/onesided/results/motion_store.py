"""Motions on disk."""

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from onesided.base.types import Status
from onesided.groups import SE2, SE3, SO2, SO3, Group, Product, Vector
from onesided.results.flat_tables import numbers, put_csv
from onesided.results.folder import ARRAYS, read_arrays, same_length
from onesided.results.member_series import read_members, stored_members
from onesided.results.motion import Drift, Motion, MotionEvent, Occurrence, StartCorrection
from onesided.results.sketch import read_sketch, sketch_record

_ARRAYS = ("t", "q", "v", "a", "mu", "lam", "u", "p", "energy", "work", "tangential", "projection")
_NAMES = ("coordinates", "bilateral", "nonholonomic", "unilateral", "servo", "control", "not_unique")
_GROUPS: dict[str, type[Group]] = {"SO2": SO2, "SE2": SE2, "SO3": SO3, "SE3": SE3}


def write_motion(motion: Motion, folder: FilePath) -> dict[str, Any]:
    """Write arrays (npz) and a table (csv); returns the record."""
    arrays = {name: getattr(motion, name) for name in _ARRAYS}
    drift = {f"drift_{name}": getattr(motion.drift, name) for name in Drift._fields}
    measures = np.array([*motion.measures.values()], dtype=float).reshape(len(motion.measures), len(motion))
    members, of_members = stored_members(motion.members)
    np.savez_compressed(folder / ARRAYS, measures=measures, members=of_members, **arrays, **drift)
    put_csv(numbers(motion), folder / "motion.csv")
    return {
        "type": "motion",
        "names": {name: getattr(motion, name) for name in _NAMES},
        "space": _space_record(motion.space),
        "smooth": motion.smooth,
        "status": motion.status.name,
        "note": motion.note,
        "start": {
            "position": motion.start.position,
            "velocity": motion.start.velocity,
            "redundant": motion.start.redundant,
        },
        "provenance": dict(motion.provenance),
        "measures": list(motion.measures),
        "members": members,
        "sketch": None if motion.sketch is None else sketch_record(motion.sketch),
        "events": [motion_event_record(event) for event in motion.events],
    }


def motion_event_record(event: MotionEvent) -> dict[str, Any]:
    """An event as plain data, with its sentence."""
    return {
        "kind": event.kind.name,
        "t": event.t,
        "q": event.q.tolist(),
        "v": event.v.tolist(),
        "name": event.name,
        "detail": event.detail,
        "called": event.called,
        "words": event.words(),
    }


def _space_record(space: Group | None) -> Any:
    if space is None:
        return None
    if isinstance(space, Product):
        return [_space_record(part) for part in space.parts]
    return space.size if isinstance(space, Vector) else type(space).__name__


def _read_space(record: Any) -> Group | None:
    if record is None:
        return None
    if isinstance(record, list):
        return Product(*(part for item in record if (part := _read_space(item)) is not None))
    return Vector(record) if isinstance(record, int) else _GROUPS[record]()


def read_motion(record: Mapping[str, Any], folder: FilePath) -> Motion:
    """Read back what `write_motion` wrote."""
    drifts = [f"drift_{name}" for name in Drift._fields]
    arrays = read_arrays(folder, (*_ARRAYS, *drifts, "measures", "members"), optional=(*_ARRAYS, "measures", "members"))
    members = read_members(record.get("members", ()), arrays.pop("members", ()))
    same_length(arrays, ("t", "q", "v", "a", "p", "energy", "work", *drifts))
    drift = Drift(*(arrays.pop(name) for name in drifts))
    measures = dict(zip(record.get("measures", ()), arrays.pop("measures", ()), strict=True))
    sketch = record.get("sketch")
    names: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in record["names"].items()
    }
    start = record["start"]
    return Motion(
        **names,
        **arrays,
        drift=drift,
        events=tuple(_read_event(event) for event in record["events"]),
        status=Status[record["status"]],
        note=record["note"],
        start=StartCorrection(start["position"], start["velocity"], tuple(start["redundant"])),
        space=_read_space(record["space"]),
        provenance=record["provenance"],
        smooth=record.get("smooth", True),
        measures=measures,
        members=members,
        sketch=None if sketch is None else read_sketch(sketch),
    )


def _read_event(record: Mapping[str, Any]) -> MotionEvent:
    return MotionEvent(
        Occurrence[record["kind"]],
        record["t"],
        np.array(record["q"], dtype=float),
        np.array(record["v"], dtype=float),
        record["name"],
        record["detail"],
        record.get("called", ""),
    )
