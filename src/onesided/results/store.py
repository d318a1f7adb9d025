"""Results on disk: one folder with arrays (npz), words (json) and a table (csv), written whole or not at all."""

import csv
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from onesided._types import Status
from onesided.errors import UsageError
from onesided.results.complementarity_motion import (
    ComplementarityMotion,
    read_complementarity_motion,
    write_complementarity_motion,
)
from onesided.results.diagram import Diagram
from onesided.results.drive import Drive, Jump
from onesided.results.motion import Motion
from onesided.results.motion_store import read_motion, write_motion
from onesided.results.path import Event, Kind, Path, Ray, Rays
from onesided.results.sketch import read_sketch, sketch_record

FORMAT = 1
_PATH_ARRAYS = ("q", "p", "mu", "lam", "gaps", "energy", "s", "tangents", "instability", "codes")


def save(
    result: Path | Drive | Diagram | Motion | ComplementarityMotion,
    folder: str | FilePath,
    *,
    extra: Mapping[str, str] | None = None,
) -> FilePath:
    """Write a result as one folder, replacing an earlier one at once; `extra` holds further text files by name."""
    writers: dict[type, Callable[[Any, FilePath], None]] = {
        Path: _write_path,
        Drive: _write_drive,
        Diagram: _write_diagram,
        Motion: write_motion,
        ComplementarityMotion: write_complementarity_motion,
    }
    if type(result) not in writers:
        raise UsageError("this cannot be saved", got=type(result).__name__, expected="a Path, Drive, Diagram or Motion")
    target = check_folder(folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = FilePath(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        writers[type(result)](result, draft)
        for name, text in (extra or {}).items():
            (draft / name).write_text(text, encoding="utf-8")
        mask = os.umask(0)
        os.umask(mask)
        draft.chmod(0o777 & ~mask)  # a temporary folder is private; results are as public as other files
        _swap(draft, target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return target


def check_folder(folder: str | FilePath) -> FilePath:
    """Refuse a folder that holds something else than a result; a new, empty or earlier one is fine."""
    target = FilePath(folder)
    if target.exists() and not (target.is_dir() and ((target / "result.json").exists() or not any(target.iterdir()))):
        raise UsageError(
            f"'{target}' exists and holds no result",
            expected="a new folder or one written by onesided",
            advice="another name",
        )
    return target


def _swap(draft: FilePath, target: FilePath) -> None:
    """Put the finished draft in place of the target; the target is never half-written."""
    if not target.exists():
        os.rename(draft, target)
        return
    old = draft.with_name(draft.name + "-old")
    os.rename(target, old)
    os.rename(draft, target)
    shutil.rmtree(old, ignore_errors=True)


def load_result(folder: str | FilePath) -> Path | Drive | Diagram | Motion | ComplementarityMotion:
    """Read back what `save` wrote. Events of a loaded path cannot be branched from."""
    place = FilePath(folder)
    try:
        record = json.loads((place / "result.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise UsageError(
            f"'{place}' holds no result", got=type(e).__name__, expected="a folder written by onesided"
        ) from e
    if record["type"] == "complementarity motion":
        return read_complementarity_motion(record, place)
    if record["type"] == "motion":
        return read_motion(record, place)
    if record["type"] == "drive":
        return _read_drive(record, place)
    return _read_diagram(record, place) if record["type"] == "diagram" else _read_path(record, place)


def _write_path(path: Path, folder: FilePath) -> None:
    arrays = {name: getattr(path, name) for name in _PATH_ARRAYS}
    measures = np.array([*path.measures.values()], dtype=float).reshape(len(path.measures), len(path))
    np.savez_compressed(folder / "arrays.npz", measures=measures, **arrays)
    record = {
        "format": FORMAT,
        "type": "path",
        "names": {name: getattr(path, name) for name in ("coordinates", "bilateral", "unilateral", "control")},
        "status": path.status.name,
        "note": path.note,
        "residual": path.residual,
        "provenance": dict(path.provenance),
        "measures": list(path.measures),
        "sketch": None if path.sketch is None else sketch_record(path.sketch),
        "isotropy": path.isotropy,
        "events": [event_record(event) for event in path.events],
    }
    _write_json(folder / "result.json", record)
    _write_table(path, folder / "path.csv")


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
        "words": event.words(),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.name if isinstance(value, Kind) else value


def _write_json(file: FilePath, record: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(record, indent=1, default=str) + "\n", encoding="utf-8")


def _write_table(path: Path, file: FilePath) -> None:
    names = [
        "arc length",
        path.control,
        *path.coordinates,
        *(f"multiplier {name}" for name in path.bilateral),
        *(f"reaction {name}" for name in path.unilateral),
        *(f"gap {name}" for name in path.unilateral),
        "energy",
        "instability",
    ]
    columns = np.column_stack([path.s, path.p, path.q, path.mu, path.lam, path.gaps, path.energy, path.instability])
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        writer.writerows([f"{value:.17g}" for value in row] for row in columns)


def _read_path(record: Mapping[str, Any], folder: FilePath) -> Path:
    with np.load(folder / "arrays.npz", allow_pickle=False) as stored:
        arrays: dict[str, Any] = {name: stored[name] for name in _PATH_ARRAYS}
        measures = dict(zip(record.get("measures", ()), stored.get("measures", ()), strict=True))
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
        sketch=None if sketch is None else read_sketch(sketch),
        isotropy=record.get("isotropy", ""),
    )
    return replace(path, events=tuple(replace(event, shape=path.shape(event.index)) for event in path.events))


def _read_event(record: Mapping[str, Any]) -> Event:
    listed = tuple(_read_ray(ray) for ray in record["rays"])
    further = (record.get("family", 0), record.get("reason", ""), record.get("cluster", False))
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


def _write_drive(drive: Drive, folder: FilePath) -> None:
    jumps = [
        {**{f.name: _plain(getattr(jump, f.name)) for f in fields(Jump)}, "words": jump.words()} for jump in drive.jumps
    ]
    record = {
        "format": FORMAT,
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
    _write_json(folder / "result.json", record)


def _write_many(paths: tuple[Path, ...], folder: FilePath) -> list[str]:
    names = [f"path-{i:03d}" for i in range(len(paths))]
    for name, path in zip(names, paths, strict=True):
        (folder / name).mkdir()
        _write_path(path, folder / name)
    return names


def _read_many(names: list[str], folder: FilePath) -> tuple[Path, ...]:
    paths = [load_result(folder / FilePath(name).name) for name in names]
    return tuple(path for path in paths if isinstance(path, Path))


def _read_drive(record: Mapping[str, Any], folder: FilePath) -> Drive:
    jumps = []
    for jump in record["jumps"]:
        values = {f.name: jump[f.name] for f in fields(Jump) if f.name in jump}
        values["reason"] = Kind[values["reason"]]
        values["q_from"], values["q_to"] = np.array(values["q_from"]), np.array(values["q_to"])
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


def _write_diagram(diagram: Diagram, folder: FilePath) -> None:
    record = {
        "format": FORMAT,
        "type": "diagram",
        "parents": diagram.parents,
        "complete": diagram.complete,
        "note": diagram.note,
        "multiplicity": diagram.multiplicity,
        "paths": _write_many(diagram.paths, folder),
    }
    _write_json(folder / "result.json", record)


def _read_diagram(record: Mapping[str, Any], folder: FilePath) -> Diagram:
    paths = _read_many(record["paths"], folder)
    times = tuple(record.get("multiplicity", ()))
    return Diagram(paths, tuple(record["parents"]), record["complete"], record["note"], times)
