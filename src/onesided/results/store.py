"""Results on disk: one folder with arrays (npz), words (json) and a table (csv), written whole or not at all."""

import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, replace
from pathlib import Path as FilePath
from typing import Any, cast

import numpy as np

from onesided.base.arguments import checked
from onesided.base.atomic import try_to_write, whole_folder
from onesided.base.errors import UsageError
from onesided.base.types import Status
from onesided.results.complementarity_motion import (
    ComplementarityMotion,
    read_complementarity_motion,
    write_complementarity_motion,
)
from onesided.results.control_store import read_coupled, read_steering, write_coupled, write_steering
from onesided.results.coupled import Coupled
from onesided.results.design_store import (
    read_designed,
    read_drive_sensitivity,
    read_followed,
    read_map,
    read_sensitivity,
    write_designed,
    write_drive_sensitivity,
    write_followed,
    write_map,
    write_sensitivity,
)
from onesided.results.designed import Designed
from onesided.results.diagram import Diagram
from onesided.results.event_rates import DriveSensitivity, Sensitivity
from onesided.results.fall_states import fall_arrays, fall_record, read_fall
from onesided.results.flat_tables import listed, numbers, put_csv, table
from onesided.results.folder import (
    ARRAYS,
    RECORD,
    belongs,
    check_files,
    damage,
    read_arrays,
    read_npz,
    read_record,
    same_length,
    seal,
)
from onesided.results.followed import Followed
from onesided.results.history import Drive, Jump
from onesided.results.many_paths import ManyPaths
from onesided.results.many_store import read_many, write_many
from onesided.results.member_series import read_members, stored_members
from onesided.results.motion import Motion
from onesided.results.motion_store import read_motion, write_motion
from onesided.results.path import Event, Kind, Path, Ray, Rays
from onesided.results.sketch import read_sketch, sketch_record
from onesided.results.stability_map import StabilityMap
from onesided.results.state_graph import Transitions, read_graph, stored_graph
from onesided.results.steering import Steering

_PATH_ARRAYS = ("q", "p", "mu", "lam", "gaps", "energy", "s", "tangents", "instability", "codes")
Statics = Path | Drive | Diagram | Sensitivity | DriveSensitivity | Followed | StabilityMap | Transitions | Designed
Result = Statics | ManyPaths | Motion | ComplementarityMotion | Steering | Coupled


@checked
def save(result: Result, folder: str | FilePath, *, extra: Mapping[str, str] | None = None) -> FilePath:
    """Write a result as one folder, replacing an earlier one at once; `extra` holds further text files by name.

    Only what an earlier result consists of is replaced: other files in the folder stay.

    Raises
    ------
    UsageError
        Where the folder cannot be used. If that shows only when the result is written, the error names the place where
        it was written instead.
    """
    target = check_folder(folder)
    try:
        write_result(result, target.resolve(), extra or {})
    except OSError as e:
        place = _rescued(result, target.resolve(), extra or {})
        advice = f"the result is in '{place}'" if place else "another folder: nor is there room for temporary files"
        raise UsageError(
            f"'{target}' could not be written",
            got=f"{e.strerror or e}{f': {e.filename}' if e.filename else ''}",
            advice=advice,
        ) from e
    return target


def write_result(result: Result, target: FilePath, extra: Mapping[str, str]) -> None:
    """The same where nothing is to be written elsewhere: an `OSError` says that there is no room."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_folder(target, _replaced) as draft:
        record = _writer(result)(result, draft)
        for name, text in extra.items():
            (draft / name).write_text(text, encoding="utf-8")
        seal(draft, record)


def _writer(result: Result) -> Callable[[Any, FilePath], dict[str, Any]]:
    writers: dict[type, Callable[[Any, FilePath], dict[str, Any]]] = {
        Path: _write_path,
        Drive: _write_drive,
        Diagram: _write_diagram,
        Motion: write_motion,
        ComplementarityMotion: write_complementarity_motion,
        Steering: write_steering,
        Coupled: write_coupled,
        Transitions: _write_transitions,
        Designed: lambda found, folder: write_designed(found, folder, _writer),
        Sensitivity: write_sensitivity,
        DriveSensitivity: write_drive_sensitivity,
        Followed: write_followed,
        StabilityMap: write_map,
        ManyPaths: write_many,
    }
    if type(result) not in writers:
        raise UsageError("this cannot be saved", got=type(result).__name__, expected="a Path, Motion or other result")
    return writers[type(result)]


def _rescued(result: Result, target: FilePath, extra: Mapping[str, str]) -> FilePath | None:
    """Where a result is that could not be written to its place."""
    try:
        place = FilePath(tempfile.mkdtemp(prefix="onesided-")) / target.name
        write_result(result, place, extra)
    except OSError:
        return None
    return place


def _replaced(folder: FilePath) -> Collection[str]:
    return belongs(folder) if (folder / RECORD).exists() else ()


def check_folder(folder: str | FilePath) -> FilePath:
    """Refuse a folder that holds something else than a result, or cannot be written; a new or empty one is fine."""
    target = FilePath(folder)
    if target.is_symlink() and not target.exists():
        raise UsageError(f"'{target}' is a link to nothing", got=str(target.readlink()), expected="a folder")
    real = target.resolve()
    if FilePath.cwd().is_relative_to(real):
        raise UsageError(f"'{target}' is the folder you are in", expected="a folder of its own", advice="-o results")
    if real.exists():
        _check_replaceable(target, real)
    try:
        try_to_write(real)
    except OSError as e:
        raise UsageError(
            f"'{target}' cannot be written", got=str(e.strerror or e), expected="a folder that can be written"
        ) from e
    return target


def _check_replaceable(target: FilePath, real: FilePath) -> None:
    """Refuse what exists and holds no result."""
    try:
        if not real.is_dir() or any(real.iterdir()):
            belongs(real)
    except (UsageError, OSError) as e:
        raise UsageError(
            f"'{target}' exists and holds no result",
            got=str(e).splitlines()[0],
            expected="a new folder or one written by onesided",
            advice="another name",
        ) from e


@checked
def load_result(folder: str | FilePath) -> Result:
    """Read back what `save` wrote, this version or an earlier one. Events of a loaded path cannot be branched from.

    Raises
    ------
    UsageError
        Where the folder holds no result, one of a newer version, or a damaged one: with the file and the reason.
    """
    place = FilePath(folder)
    record = read_record(place)
    check_files(place, record)
    readers: dict[str, Callable[[Mapping[str, Any], FilePath], Result]] = {
        "path": _read_path,
        "drive": _read_drive,
        "diagram": _read_diagram,
        "motion": read_motion,
        "complementarity motion": read_complementarity_motion,
        "steering": lambda record, place: read_steering(record, place, load_result),
        "coupled": read_coupled,
        "transitions": _read_transitions,
        "design": lambda record, place: read_designed(record, place, load_result),
        "sensitivity": read_sensitivity,
        "drive sensitivity": lambda record, place: read_drive_sensitivity(record, place, load_result),
        "followed": read_followed,
        "stability map": lambda record, place: read_map(record, place, load_result),
        "many paths": read_many,
    }
    with damage(place / RECORD):
        return readers[record["type"]](record, place)


def _write_path(path: Path, folder: FilePath) -> dict[str, Any]:
    arrays = {name: getattr(path, name) for name in _PATH_ARRAYS}
    measures = np.array([*path.measures.values()], dtype=float).reshape(len(path.measures), len(path))
    members, of_members = stored_members(path.members)
    np.savez_compressed(folder / ARRAYS, measures=measures, members=of_members, **arrays)
    put_csv(numbers(path), folder / "path.csv")
    put_csv(listed(path), folder / "events.csv")
    return {
        "type": "path",
        "names": {name: getattr(path, name) for name in ("coordinates", "bilateral", "unilateral", "control")},
        "status": path.status.name,
        "note": path.note,
        "residual": path.residual,
        "provenance": dict(path.provenance),
        "measures": list(path.measures),
        "members": members,
        "sketch": None if path.sketch is None else sketch_record(path.sketch),
        "isotropy": path.isotropy,
        "events": [event_record(event) for event in path.events],
    }


def event_record(event: Event) -> dict[str, Any]:
    """An event as plain data, with its sentence."""
    plain = {f.name: _plain(getattr(event, f.name)) for f in fields(Event) if f.name not in {"rays", "origin", "shape"}}
    rays = [{f.name: _plain(getattr(ray, f.name)) for f in fields(Ray)} for ray in event.rays.rays]
    return {
        **plain,
        "rays": rays,
        "complete": event.rays.complete,
        "multiplicity": event.rays.multiplicity,
        "family": event.rays.family,
        "reason": event.rays.reason,
        "cluster": event.rays.cluster,
        "blur": event.rays.blur,
        "words": event.words(),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.name if isinstance(value, Kind) else value


def _read_path(record: Mapping[str, Any], folder: FilePath) -> Path:
    arrays = read_arrays(folder, (*_PATH_ARRAYS, "measures", "members"), optional=("measures", "members"))
    members = read_members(record.get("members", ()), arrays.pop("members", ()))
    measures = dict(zip(record.get("measures", ()), arrays.pop("measures", ()), strict=True))
    same_length(arrays, _PATH_ARRAYS)
    sketch = record.get("sketch")
    names: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in record["names"].items()
    }
    path = Path(
        **names,
        **arrays,
        events=tuple(_read_event(event) for event in record["events"]),
        status=Status[record["status"]],
        note=record["note"],
        residual=record["residual"],
        provenance=record["provenance"],
        measures=measures,
        members=members,
        sketch=None if sketch is None else read_sketch(sketch),
        isotropy=record.get("isotropy", ""),
    )
    return replace(path, events=tuple(replace(event, shape=path.shape(event.index)) for event in path.events))


def _read_event(record: Mapping[str, Any]) -> Event:
    listed = tuple(_read_ray(ray) for ray in record["rays"])
    further = (record.get("family", 0), record.get("reason", ""), record.get("cluster", False), record.get("blur", 0.0))
    rays = Rays(listed, record["complete"], record["multiplicity"], *further)
    values = {f.name: record[f.name] for f in fields(Event) if f.name not in {"rays", "origin", "shape", "kind"}}
    for name in ("q", "mu", "lam"):
        values[name] = np.array(values[name], dtype=float)
    values["constraints"], values["bracket"] = tuple(values["constraints"]), tuple(values["bracket"])
    return Event(kind=Kind[record["kind"]], rays=rays, **values)


def _read_ray(record: Mapping[str, Any]) -> Ray:
    values = dict(record)
    for name in ("q_dot", "mu_dot", "lam_dot", "gap_dot"):
        values[name] = np.array(values[name], dtype=float)
    for name in ("ahead", "nu"):
        values[name] = None if values.get(name) is None else np.array(values[name], dtype=float)
    values |= {name: tuple(values.get(name, ())) for name in ("closed", "rows", "idle", "loose")}
    return Ray(**values)


def _write_drive(drive: Drive, folder: FilePath) -> dict[str, Any]:
    jumps = [
        {**{f.name: _plain(getattr(jump, f.name)) for f in fields(Jump) if f.name != "fall"}, "words": jump.words(),
         "fall": fall_record(jump.fall)}
        for jump in drive.jumps
    ]  # fmt: skip
    falls = [fall_arrays(jump.fall, i) for i, jump in enumerate(drive.jumps) if jump.fall is not None]
    if falls:
        np.savez_compressed(folder / ARRAYS, **cast(Any, {name: a for arrays in falls for name, a in arrays.items()}))
    put_csv(table(drive), folder / "drive.csv")
    return {
        "type": "drive",
        "control": drive.control,
        "programme": drive.programme,
        "status": drive.status.name,
        "note": drive.note,
        "work": drive.work,
        "dissipated": drive.dissipated,
        "provenance": dict(drive.provenance),
        "jumps": jumps,
        "paths": _write_many(drive.paths, folder),
    }


def _write_many(paths: tuple[Path, ...], folder: FilePath) -> list[str]:
    names = [f"path-{i:03d}" for i in range(len(paths))]
    for name, path in zip(names, paths, strict=True):
        (folder / name).mkdir()
        seal(folder / name, _write_path(path, folder / name))
    return names


def _read_many(names: list[str], folder: FilePath) -> tuple[Path, ...]:
    paths: list[Path] = []
    broken: list[UsageError] = []
    for name in names:
        place = folder / FilePath(str(name)).name
        try:
            found = load_result(place)
            if not isinstance(found, Path):
                raise UsageError(f"'{place}' holds no path", got=type(found).__name__)
            paths.append(found)
        except UsageError as e:
            broken.append(e)
    if broken:
        first, rest = broken[0], f"{len(paths)} of {len(names)} paths in '{folder}' can be loaded by themselves"
        raise UsageError(first.what, got=first.got, expected=first.expected, advice=rest)
    return tuple(paths)


def _read_drive(record: Mapping[str, Any], folder: FilePath) -> Drive:
    jumps = []
    falls = read_npz(folder / ARRAYS) if any(jump.get("fall") for jump in record["jumps"]) else {}
    for i, jump in enumerate(record["jumps"]):
        values = {f.name: jump[f.name] for f in fields(Jump) if f.name in jump}
        values["reason"] = Kind[values["reason"]]
        values["q_from"], values["q_to"] = np.array(values["q_from"]), np.array(values["q_to"])
        values["fall"] = read_fall(jump.get("fall"), falls, i)
        jumps.append(Jump(**values))
    return Drive(
        record["control"],
        tuple(record["programme"]),
        _read_many(record["paths"], folder),
        tuple(jumps),
        Status[record["status"]],
        record["note"],
        record["provenance"],
    )


def _write_diagram(diagram: Diagram, folder: FilePath) -> dict[str, Any]:
    put_csv(table(diagram), folder / "diagram.csv")
    return {
        "type": "diagram",
        "parents": diagram.parents,
        "complete": diagram.complete,
        "note": diagram.note,
        "multiplicity": diagram.multiplicity,
        "paths": _write_many(diagram.paths, folder),
    }


def _read_diagram(record: Mapping[str, Any], folder: FilePath) -> Diagram:
    paths = _read_many(record["paths"], folder)
    times = tuple(record.get("multiplicity", ()))
    return Diagram(paths, tuple(record["parents"]), record["complete"], record["note"], times)


def _write_transitions(found: Transitions, folder: FilePath) -> dict[str, Any]:
    record, arrays = stored_graph(found)
    np.savez_compressed(folder / ARRAYS, **cast(Any, arrays))
    rows = found.table()
    put_csv({name: np.array([str(row[name]) for row in rows]) for name in (rows[0] if rows else ())},
            folder / "transitions.csv")  # fmt: skip
    return record


def _read_transitions(record: Mapping[str, Any], folder: FilePath) -> Transitions:
    return read_graph(record, read_arrays(folder, ("p", "q", "energy", "lengths")))
