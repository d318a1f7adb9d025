"""Results as flat tables: columns by name for Python, pandas and spreadsheets."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.base.atomic import whole_file
from onesided.base.errors import UsageError
from onesided.base.names import unknown_name
from onesided.base.types import Array
from onesided.results.complementarity_motion import ComplementarityMotion
from onesided.results.diagram import Diagram
from onesided.results.history import Drive
from onesided.results.motion import Motion
from onesided.results.motion_columns import motion_columns
from onesided.results.named import columns, other_name, picked
from onesided.results.named_series import members_of
from onesided.results.path import Kind, Path

Column = NDArray[Any]
Single = Path | Motion | ComplementarityMotion  # results of one row per point
EVENT = "event"


def names(result: Any) -> tuple[str, ...]:
    """Names of the series of a result, each once."""
    if isinstance(result, Single):
        return tuple(dict.fromkeys((*numbers(result), *members_of(result))))
    own = ("segment",) if isinstance(result, Drive) else ("branch", "parent")
    return tuple(dict.fromkeys((*own, *(name for path in result.paths for name in names(path)))))


def chosen(result: Any, name: str | Sequence[str]) -> Array:
    """One series, (N,), or several side by side, (N, names)."""
    if isinstance(name, str):
        return _series(result, [name])[0]
    if not isinstance(name, list | tuple) or not all(isinstance(one, str) for one in name):
        raise UsageError(
            "a result is asked for series by name",
            got=repr(name),
            expected='result["x"] or result[["p", "x"]]',
            advice="result.q[i] for the point number i",
        )
    return np.stack(_series(result, name), axis=-1) if name else np.zeros((len(result["p"]), 0))


def numbers(result: Single) -> dict[str, Column]:
    """What a path or a motion holds by name, members left out."""
    if isinstance(result, Path):
        return {**columns(result), "instability": np.asarray(result.instability)}
    if isinstance(result, ComplementarityMotion):
        return result.columns()
    rates = {f"acceleration {name}": result.a[:, i] for i, name in enumerate(result.coordinates)}
    return {**motion_columns(result), **rates}


def _series(result: Any, wanted: Sequence[str]) -> list[Array]:
    """Series by name; the columns of a result are put together once for all of them."""
    if isinstance(result, Single):
        found = numbers(result)
        return [found[name] if name in found else _lookup(result, name, found) for name in wanted]
    marks = _marks(result)
    own = [name for name in wanted if name not in marks]
    parts = [_series(path, own) for path in result.paths]
    joined = [np.concatenate(each) for each in zip(*parts, strict=True)] if parts else [np.zeros(0)] * len(own)
    known = marks | dict(zip(own, joined, strict=True))
    return [known[name] for name in wanted]


def _lookup(result: Single, name: str, own: Mapping[str, Column]) -> Array:
    """A series by another of its names, or of a member."""
    if isinstance(result, ComplementarityMotion):
        raise unknown_name("series", name, names(result))
    if isinstance(result, Path):
        return picked("path", name, own, members_of(result), other_name(result, name))
    return picked("motion", name, own, members_of(result), result.control if name == "p" else name)


def _marks(result: Drive | Diagram) -> dict[str, Column]:
    """Which path a row belongs to."""
    lengths = [len(path) for path in result.paths]
    number = np.repeat(np.arange(len(lengths)), lengths)
    if isinstance(result, Drive):
        return {"segment": number}
    return {"branch": number, "parent": np.asarray(result.parents, dtype=np.intp)[number]}


def table(result: Any) -> dict[str, Column]:
    """All series and the events in words, name → (N,)."""
    if isinstance(result, Single):
        told = _events(result) if isinstance(result, Path) else _moments(result)
        return numbers(result) | _members(result) | {EVENT: told}
    if not isinstance(result, Drive | Diagram):
        raise UsageError("this is no table", got=type(result).__name__, expected="a Path, Drive, Diagram or Motion")
    joined = _marks(result) | _joined([table(path) for path in result.paths])
    if isinstance(result, Drive) and result.paths:
        joined[EVENT] = _with_jumps(result, joined[EVENT])
    return joined


def _members(result: Single) -> dict[str, Column]:
    members, own = members_of(result), numbers(result)
    return {name: np.asarray(members[name]) for name in members if name not in own}


def _joined(tables: Sequence[Mapping[str, Column]]) -> dict[str, Column]:
    """Tables one below the other; what one of them lacks is NaN there."""
    every = dict.fromkeys(name for one in tables for name in one if name != EVENT)
    found = {name: np.concatenate([_or_nothing(one, name) for one in tables]) for name in every}
    return found | ({EVENT: np.concatenate([one[EVENT] for one in tables])} if tables else {})


def _or_nothing(one: Mapping[str, Column], name: str) -> Column:
    return one[name] if name in one else np.full(len(one[EVENT]), np.nan)


def _events(path: Path) -> Column:
    told = [(event.index, event.words()) for event in path.events if event.kind is not Kind.bound]
    return _told(len(path), told)


def listed(path: Path) -> dict[str, Column]:
    """The events of a path, a row each."""
    events = path.events
    return {
        "point": np.array([event.index for event in events], dtype=np.intp),
        "kind": np.array([event.kind.name for event in events], dtype=object),
        "control": np.array([event.p for event in events]),
        "constraints": np.array([" ".join(event.constraints) for event in events], dtype=object),
        "words": np.array([event.words() for event in events], dtype=object),
    }


def _moments(motion: Motion | ComplementarityMotion) -> Column:
    """Each event beside the last point at its time, or the next one after it."""
    last = len(motion) - 1
    told = []
    for event in motion.happenings:
        after = int(np.searchsorted(motion.t, event.t, side="right"))
        exact = after > 0 and motion.t[after - 1] == event.t
        told.append((min(after - exact, last), event.words()))
    return _told(len(motion), told)


def _told(size: int, events: Iterable[tuple[int, str]]) -> Column:
    words: list[str] = [""] * size
    for index, text in events:
        words[index] = f"{words[index]}; {text}" if words[index] else text
    return np.array(words, dtype=object)


def _with_jumps(drive: Drive, words: Column) -> Column:
    """The events, with each jump at the last point of the path it ends."""
    ends = np.cumsum([len(path) for path in drive.paths]) - 1
    told = words.copy()
    for i, jump in drive.jump_places():
        told[ends[i]] = f"{told[ends[i]]}; {jump.words()}" if told[ends[i]] else jump.words()
    return told


def data_frame(result: Any) -> Any:
    """The table as a DataFrame of pandas."""
    try:
        import pandas as pd
    except ImportError:
        raise UsageError(
            "pandas is not installed", advice="pip install 'onesided[pandas]', or to_dict() and to_csv()"
        ) from None
    return pd.DataFrame(table(result))


def write_csv(result: Any, file: str | PathLike[str]) -> FilePath:
    """Write the table, whole or not at all."""
    target = FilePath(file)
    columns = table(result)
    try:
        with whole_file(target) as draft:
            put_csv(columns, draft)
    except OSError as error:
        raise UsageError("the table cannot be written", got=f"{target}: {error.strerror or error}") from error
    return target


def put_csv(columns: Mapping[str, Column], file: FilePath) -> None:
    """Write columns with their names in the first line; numbers are read back equal."""
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*(_texts(values) for values in columns.values()), strict=True))


def _texts(values: Column) -> list[str]:
    return [repr(value) if isinstance(value, float) else str(value) for value in values.tolist()]
