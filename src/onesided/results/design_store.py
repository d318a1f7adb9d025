"""Derivatives and curves of events, their maps and designs on disk."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from onesided.base.types import Status
from onesided.results.designed import AimReached, Designed
from onesided.results.event_rates import DriveSensitivity, Sensitivity
from onesided.results.folder import ARRAYS, read_arrays, same_length, seal
from onesided.results.followed import Encounter, Followed, Meeting
from onesided.results.path import Kind
from onesided.results.stability_map import Region, StabilityMap

_CURVE = ("theta", "p", "q", "mu", "lam", "energy", "degrees")
_LANDINGS = ("landings", "landings_below")
_RATES = ("p_rate", "q_rate", "mu_rate", "lam_rate", "energy_rate", "p_rate_below", "exponent", "coefficient", "side")
_NUMBERS = ("initial", "parameters", "bounds", "gradients", "evaluations", "note")
Writer = Callable[[Any, FilePath], dict[str, Any]]


def write_followed(curve: Followed, folder: FilePath) -> dict[str, Any]:
    """Arrays of a curve of events into a folder; returns its record."""
    np.savez_compressed(folder / ARRAYS, **{name: getattr(curve, name) for name in _CURVE})
    plain = ("about", "parameter", "control", "coordinates", "start", "note")
    return {
        "type": "followed",
        **{name: getattr(curve, name) for name in plain},
        "kind": curve.kind.name,
        "status": curve.status.name,
        "provenance": dict(curve.provenance),
        "meetings": [_meeting_record(one) for one in curve.meetings],
    }


def _meeting_record(one: Meeting) -> dict[str, Any]:
    plain = {f.name: getattr(one, f.name) for f in fields(Meeting) if f.name not in {"kind", "q"}}
    return {**plain, "kind": one.kind.name, "q": one.q.tolist(), "words": one.words()}


def read_followed(record: Mapping[str, Any], folder: FilePath) -> Followed:
    """A curve of events from its folder."""
    arrays = read_arrays(folder, _CURVE)
    same_length(arrays, _CURVE)
    return Followed(
        **arrays,
        **{name: record[name] for name in ("about", "parameter", "control", "start", "note", "provenance")},
        coordinates=tuple(record["coordinates"]),
        kind=Kind[record["kind"]],
        status=Status[record["status"]],
        meetings=tuple(_read_meeting(one) for one in record["meetings"]),
    )


def _read_meeting(record: Mapping[str, Any]) -> Meeting:
    values = {f.name: record[f.name] for f in fields(Meeting)}
    values |= {"kind": Encounter[record["kind"]], "q": np.array(record["q"], dtype=float)}
    return Meeting(**{**values, "constraints": tuple(record["constraints"])})


def write_map(found: StabilityMap, folder: FilePath) -> dict[str, Any]:
    """Regions as words, curves as folders of their own."""
    names = [f"curve-{i:03d}" for i in range(len(found.curves))]
    for name, curve in zip(names, found.curves, strict=True):
        (folder / name).mkdir()
        seal(folder / name, write_followed(curve, folder / name))
    plain = ("parameter", "control", "complete", "note")
    regions = [{f.name: getattr(one, f.name) for f in fields(Region)} for one in found.regions]
    words = {"type": "stability map", "status": found.status.name, **{key: getattr(found, key) for key in plain}}
    return {**words, "regions": regions, "curves": names}


def read_map(record: Mapping[str, Any], folder: FilePath, load: Callable[[FilePath], Any]) -> StabilityMap:
    """A map from its folder."""
    regions = tuple(Region(**{**one, "events": tuple(one["events"])}) for one in record["regions"])
    curves = tuple(load(folder / FilePath(str(name)).name) for name in record["curves"])
    status = Status[record.get("status", "solved")]  # older ones have none
    words = (record["complete"], record["note"], status)
    return StabilityMap(record["parameter"], record["control"], regions, curves, *words)


def write_sensitivity(found: Sensitivity, folder: FilePath) -> dict[str, Any]:
    """Write derivatives of an event into a folder; returns the record."""
    np.savez_compressed(folder / ARRAYS, **{name: getattr(found, name) for name in _RATES})
    plain = ("about", "control", "p", "energy", "factorisations")
    words = {"parameters": dict(found.parameters), "notes": dict(found.notes)}
    return {"type": "sensitivity", **{key: getattr(found, key) for key in plain}, **words}


def read_sensitivity(record: Mapping[str, Any], folder: FilePath) -> Sensitivity:
    """Derivatives of an event from their folder."""
    arrays = read_arrays(folder, _RATES)
    same_length(arrays, _RATES)
    plain = ("about", "control", "p", "energy", "parameters", "notes", "factorisations")
    return Sensitivity(**arrays, **{name: record[name] for name in plain})


def write_drive_sensitivity(found: DriveSensitivity, folder: FilePath) -> dict[str, Any]:
    """Derivatives of a loading history: those of its jumps as folders of their own."""
    names = [f"jump-{i:03d}" for i in range(len(found.jumps))]
    for name, jump in zip(names, found.jumps, strict=True):
        (folder / name).mkdir()
        seal(folder / name, write_sensitivity(jump, folder / name))
    size = len(found.parameters)
    sides = {key: np.array(getattr(found, key)).reshape(len(names), size, -1) for key in _LANDINGS if names}
    arrays: dict[str, Any] = {key: sides.get(key, np.zeros((0, size, 0))) for key in _LANDINGS}
    np.savez_compressed(folder / ARRAYS, dissipated_rate=found.dissipated_rate, **arrays)
    words = {"parameters": dict(found.parameters), "dissipated": found.dissipated, "notes": list(found.notes)}
    return {"type": "drive sensitivity", **words, "jumps": names, "status": found.status.name}


def read_drive_sensitivity(
    record: Mapping[str, Any], folder: FilePath, load: Callable[[FilePath], Any]
) -> DriveSensitivity:
    """Derivatives of a loading history from their folder."""
    arrays = read_arrays(folder, (*_LANDINGS, "dissipated_rate"), optional=_LANDINGS[1:])
    above, below = tuple(arrays["landings"]), tuple(arrays.get("landings_below", arrays["landings"]))
    jumps = tuple(load(folder / FilePath(str(name)).name) for name in record["jumps"])
    words, status = tuple(record["notes"]), Status[record.get("status", "solved")]  # older ones have none
    return DriveSensitivity(
        record["parameters"], jumps, above, record["dissipated"], arrays["dissipated_rate"], words, below, status
    )


def write_designed(found: Designed, folder: FilePath, writer: Callable[[Any], Writer]) -> dict[str, Any]:
    """Write the results before and after; returns the record. `writer` says how a result is written."""
    names: dict[str, list[str]] = {}
    for when in ("before", "after"):
        names[when] = [f"{when}-{i}" for i in range(len(getattr(found, when)))]
        for name, result in zip(names[when], getattr(found, when), strict=True):
            (folder / name).mkdir()
            seal(folder / name, writer(result)(result, folder / name))
    aims = [{**vars(aim), "words": aim.words()} for aim in found.aims]
    plain = {name: getattr(found, name) for name in _NUMBERS}
    return {"type": "design", **plain, "aims": aims, **names, "status": found.status.name,
            "provenance": dict(found.provenance)}  # fmt: skip


def read_designed(record: Mapping[str, Any], folder: FilePath, load: Callable[[FilePath], Any]) -> Designed:
    """Read back what `write_designed` wrote; `load` reads the folder of a result."""
    aims = tuple(AimReached(aim["text"], aim["before"], aim["after"], aim["met"]) for aim in record["aims"])
    before, after = (
        tuple(load(folder / FilePath(str(name)).name) for name in record[when]) for when in ("before", "after")
    )
    plain = {name: record[name] for name in _NUMBERS}
    plain["bounds"] = {name: (low, high) for name, (low, high) in record["bounds"].items()}
    return Designed(**plain, aims=aims, before=before, after=after, status=Status[record["status"]],
                    provenance=record["provenance"])  # fmt: skip
