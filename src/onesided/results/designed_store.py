"""Designs on disk: the numbers as a record, the results before and after in folders of their own."""

from collections.abc import Callable, Mapping
from pathlib import Path as FilePath
from typing import Any

from onesided.base.types import Status
from onesided.results.designed import AimReached, Designed
from onesided.results.folder import seal

_PLAIN = ("initial", "parameters", "bounds", "gradients", "evaluations", "note")
Writer = Callable[[Any, FilePath], dict[str, Any]]


def write_designed(found: Designed, folder: FilePath, writer: Callable[[Any], Writer]) -> dict[str, Any]:
    """Write the results before and after; returns the record. `writer` says how a result is written."""
    names: dict[str, list[str]] = {}
    for when in ("before", "after"):
        names[when] = [f"{when}-{i}" for i in range(len(getattr(found, when)))]
        for name, result in zip(names[when], getattr(found, when), strict=True):
            (folder / name).mkdir()
            seal(folder / name, writer(result)(result, folder / name))
    aims = [{**vars(aim), "words": aim.words()} for aim in found.aims]
    plain = {name: getattr(found, name) for name in _PLAIN}
    return {"type": "design", **plain, "aims": aims, **names, "status": found.status.name,
            "provenance": dict(found.provenance)}  # fmt: skip


def read_designed(record: Mapping[str, Any], folder: FilePath, load: Callable[[FilePath], Any]) -> Designed:
    """Read back what `write_designed` wrote; `load` reads the folder of a result."""
    aims = tuple(AimReached(aim["text"], aim["before"], aim["after"], aim["met"]) for aim in record["aims"])
    before, after = (
        tuple(load(folder / FilePath(str(name)).name) for name in record[when]) for when in ("before", "after")
    )
    plain = {name: record[name] for name in _PLAIN}
    plain["bounds"] = {name: (low, high) for name, (low, high) in record["bounds"].items()}
    return Designed(**plain, aims=aims, before=before, after=after, status=Status[record["status"]],
                    provenance=record["provenance"])  # fmt: skip
