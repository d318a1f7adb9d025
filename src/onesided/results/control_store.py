"""Steerings and coupled motions on disk."""

import csv
from collections.abc import Callable, Mapping
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from onesided.base.types import Array, Status
from onesided.results.coupled import Coupled
from onesided.results.folder import ARRAYS, read_arrays, same_length, seal
from onesided.results.motion import Motion
from onesided.results.motion_store import write_motion
from onesided.results.steering import Steering

_STEERING = ("t", "q", "v", "u")
_PAIRS = ("q_first", "q_second", "v_first", "v_second")
_COUPLED = ("t", "force", "drift", "energy", "contraction", "sweeps")


def write_steering(steering: Steering, folder: FilePath) -> dict[str, Any]:
    """Write arrays (npz), a table (csv) and the motions of the recheck; returns the record."""
    np.savez_compressed(folder / ARRAYS, **{name: getattr(steering, name) for name in _STEERING})
    _write_table(steering.columns(), folder / "steering.csv")
    names = [f"motion-{i:03d}" for i in range(len(steering.motions))]
    for name, motion in zip(names, steering.motions, strict=True):
        (folder / name).mkdir()
        seal(folder / name, write_motion(motion, folder / name))
    plain = ("coordinates", "inputs", "cost", "error", "note", "iterations")
    return {
        "type": "steering",
        **{name: getattr(steering, name) for name in plain},
        "status": steering.status.name,
        "provenance": dict(steering.provenance),
        "motions": names,
    }


def read_steering(record: Mapping[str, Any], folder: FilePath, load: Callable[[FilePath], Any]) -> Steering:
    """Read back what `write_steering` wrote; `load` reads the folder of a motion."""
    arrays = read_arrays(folder, _STEERING)
    same_length(arrays, ("t", "q", "v"))
    motions = [load(folder / FilePath(str(name)).name) for name in record["motions"]]
    if not all(isinstance(motion, Motion) for motion in motions):
        raise ValueError("a part of it is no motion")
    return Steering(
        coordinates=tuple(record["coordinates"]), inputs=tuple(record["inputs"]), **arrays, cost=record["cost"],
        error=record["error"], motions=tuple(motions), status=Status[record["status"]], note=record["note"],
        iterations=record["iterations"], provenance=record["provenance"],
    )  # fmt: skip


def write_coupled(coupled: Coupled, folder: FilePath) -> dict[str, Any]:
    """Write arrays (npz) and a table (csv); returns the record."""
    pairs = dict(zip(_PAIRS, (*coupled.q, *coupled.v), strict=True))
    arrays: dict[str, Any] = {**pairs, **{name: getattr(coupled, name) for name in _COUPLED}}
    np.savez_compressed(folder / ARRAYS, **arrays)
    _write_table(coupled.columns(), folder / "coupled.csv")
    return {
        "type": "coupled",
        "coordinates": coupled.coordinates,
        "status": coupled.status.name,
        "note": coupled.note,
        "provenance": dict(coupled.provenance),
    }


def read_coupled(record: Mapping[str, Any], folder: FilePath) -> Coupled:
    """Read back what `write_coupled` wrote."""
    arrays = read_arrays(folder, (*_PAIRS, *_COUPLED))
    same_length(arrays, (*_PAIRS, *_COUPLED))
    a, b, va, vb = (arrays.pop(name) for name in _PAIRS)
    first, second = (tuple(names) for names in record["coordinates"])
    return Coupled((first, second), q=(a, b), v=(va, vb), **arrays, status=Status[record["status"]],
                   note=record["note"], provenance=record.get("provenance", {}))  # fmt: skip


def _write_table(columns: Mapping[str, Array], file: FilePath) -> None:
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows([f"{value:.17g}" for value in row] for row in np.column_stack([*columns.values()]))
