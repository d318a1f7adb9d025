"""Events of many paths on disk: numbers as arrays, words as numbers of a list."""

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.base.types import Status
from onesided.results.folder import ARRAYS, read_arrays, same_length
from onesided.results.many_paths import EventWords, ManyPaths, PathSamples

_OF_EVENTS = ("path", "p", "q", "nu", "before", "after")
_OF_SAMPLES = ("path", "p", "q", "nu", "instability")
_PER_PATH = ("status", "note")
_PER_EVENT = {"kind": "kinds", "constraint": "changing"}
_NAMES = ("coordinates", "constraints", "control", "engine")


def write_many(found: ManyPaths, folder: FilePath) -> dict[str, Any]:
    """Arrays of many paths into a folder; returns their record."""
    arrays = {name: getattr(found, name) for name in (*_OF_EVENTS, "handed")}
    lists = {}
    for name in _PER_PATH:
        lists[name], arrays[name] = _coded([str(getattr(one, "name", one)) for one in getattr(found, name)])
    for name, field in _PER_EVENT.items():
        words: EventWords = getattr(found, field)
        lists[name], arrays[name] = list(words.listed), words.places.astype(np.int32)
    arrays |= {f"parameter {i}": np.ascontiguousarray(values) for i, values in enumerate(found.parameters.values())}
    if found.samples is not None:
        arrays |= {f"sample {name}": getattr(found.samples, name) for name in _OF_SAMPLES}
    np.savez_compressed(folder / ARRAYS, **arrays)
    return {
        "type": "many paths",
        **{name: getattr(found, name) for name in _NAMES},
        "parameters": list(found.parameters),
        "sampled": found.samples is not None,
        "lists": lists,
        "words": found.words(),
    }


def _coded(words: list[str]) -> tuple[list[str], NDArray[Any]]:
    """Each different word once, and its number in the place of every word."""
    numbers: dict[str, int] = {}
    codes = [numbers.setdefault(word, len(numbers)) for word in words]
    return list(numbers), np.array(codes, dtype=np.int32)


def read_many(record: Mapping[str, Any], folder: FilePath) -> ManyPaths:
    """Many paths from their folder."""
    names, per_path = list(record["parameters"]), ("handed", "status", "note")
    parameters = [f"parameter {i}" for i in range(len(names))]
    sampled = [f"sample {name}" for name in _OF_SAMPLES] if record["sampled"] else []
    arrays = read_arrays(folder, (*_OF_EVENTS, "handed", *_PER_PATH, *_PER_EVENT, *parameters, *sampled))
    for columns in ((*per_path, *parameters), (*_OF_EVENTS, "kind", "constraint"), sampled):
        same_length(arrays, columns)
    words = {name: EventWords(arrays[name], tuple(record["lists"][name])) for name in (*_PER_PATH, *_PER_EVENT)}
    status = [Status[name] for name in words["status"].written()]
    return ManyPaths(
        parameters={name: arrays[column] for name, column in zip(names, parameters, strict=True)},
        handed=arrays["handed"],
        **{name: arrays[name] for name in _OF_EVENTS},
        kinds=words["kind"],
        changing=words["constraint"],
        status=np.array(status, dtype=object),
        note=words["note"].written(),
        coordinates=tuple(record["coordinates"]),
        constraints=tuple(record["constraints"]),
        control=record["control"],
        engine=record["engine"],
        samples=PathSamples(*(arrays[column] for column in sampled)) if sampled else None,
    )
