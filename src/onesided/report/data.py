"""What the page shows of a result, as plain data of bounded size."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from onesided._types import Array, Indices
from onesided.plots.branches import Result, default_coordinate, paths_of
from onesided.results import Diagram, Drive, Kind, Path, dense
from onesided.results.between import Dense
from onesided.results.explain import slug, text
from onesided.results.sketch import sketch_record

BYTES = 3_900_000  # of numbers, before base64 makes them a third longer
WANTED = 600  # positions for a smooth slider
MOST_SHOWN = 60  # coordinates, constraints, measures in lists
MOST_SERIES = 8


@dataclass(frozen=True, eq=False)
class Frames:
    """All positions of the slider: the paths of a result, one after the other.

    Attributes
    ----------
    curves : the paths with points in between;  begins : position of the first point of each.
    kept : (K,) positions that go into the page, of all there are.
    """

    curves: tuple[Dense, ...]
    begins: tuple[int, ...]
    kept: Indices

    def position(self, path: int, index: int) -> int:
        """Where point `index` of a path stands on the page; −1 is the last."""
        if index < 0:
            index += int(self.curves[path].source[-1]) + 1
        return int(np.searchsorted(self.kept, self.begins[path] + self.curves[path].place(index)))

    def column(self, name: str) -> Array:
        """One column over all positions on the page."""
        return np.concatenate([curve.columns[name] for curve in self.curves])[self.kept]


def payload(result: Result) -> dict[str, Any]:
    """Everything the page needs to know of a result."""
    paths = paths_of(result)
    names = _names(paths)
    single = _cells(paths) * len(names) * 8 > BYTES
    frames = _frames(paths, names, BYTES // ((4 if single else 8) * len(names)))
    first = paths[0]
    table = np.array([frames.column(name) for name in names], dtype="<f4" if single else "<f8")
    codes = np.concatenate([curve.codes for curve in frames.curves])[frames.kept]
    degree = np.concatenate([curve.instability for curve in frames.curves])[frames.kept]
    exact = np.concatenate([curve.exact for curve in frames.curves])[frames.kept]
    listed = _ranked([path.lam for path in paths], [path.gaps for path in paths])
    hidden = {name for name in names if "." in name}
    return {
        "control": first.control,
        "unilateral": list(first.unilateral),
        "names": names,
        "count": len(frames.kept),
        "points": sum(len(path) for path in paths),
        "single": single,
        "columns": _base64(table),
        "degree": _base64(degree.astype("<i2")),
        "codes": _base64(codes.astype("u1")),
        "exact": _base64(exact.astype("u1")),
        "branches": _branches(result, paths, frames),
        "events": _events(result, paths, frames),
        "jumps": _jumps(result, frames),
        "sketch": None if first.sketch is None else sketch_record(first.sketch),
        "choices": [name for name in names if name not in hidden],
        "x": default_coordinate(paths),
        "y": first.control,
        "shown": _shown(first, names),
        "listed": listed[:MOST_SHOWN],
        "series": [first.unilateral[i] for i in sorted(listed[:MOST_SERIES])],
    }


def _cells(paths: tuple[Path, ...]) -> int:
    return sum(max(len(path), _wanted(paths)) for path in paths)


def _wanted(paths: tuple[Path, ...]) -> int:
    return max(WANTED // len(paths), 60)


def _frames(paths: tuple[Path, ...], names: list[str], most: int) -> Frames:
    """Dense curves; where they are too long, points are left out, never events or ends."""
    curves = tuple(dense(path, _wanted(paths), names) for path in paths)
    sizes = [len(curve.source) for curve in curves]
    begins = tuple(int(b) for b in np.concatenate([[0], np.cumsum(sizes)[:-1]]))
    total = sum(sizes)
    kept = np.arange(total)
    if total > most:
        special = [begin + curve.place(e.index) for path, curve, begin in zip(paths, curves, begins, strict=True)
                   for e in path.events]  # fmt: skip
        ends = [*begins, *(begin + size - 1 for begin, size in zip(begins, sizes, strict=True))]
        even = np.linspace(0, total - 1, max(most - len(special) - len(ends), 2)).round().astype(int)
        kept = np.unique(np.concatenate([even, special, ends]).astype(int))
    return Frames(curves, begins, kept)


def _names(paths: tuple[Path, ...]) -> list[str]:
    """Columns on the page: all of a small model; of a large one those that change most, and what the sketch needs."""
    first = paths[0]
    q = _ranked([path.q for path in paths])[:MOST_SHOWN]
    sides = _ranked([path.lam for path in paths], [path.gaps for path in paths])[:MOST_SHOWN]
    names = ["arc length", first.control, *(first.coordinates[i] for i in sorted(q))]
    names += [f"multiplier {name}" for name in first.bilateral[:MOST_SHOWN]]
    names += [f"{what} {first.unilateral[i]}" for what in ("reaction", "gap") for i in sorted(sides)]
    names += ["energy", *list(first.measures)[:MOST_SHOWN]]
    names += [] if first.sketch is None else first.sketch.names()
    return list(dict.fromkeys(names))


def _shown(path: Path, names: list[str]) -> list[str]:
    order = [path.control, *path.coordinates, "energy", *(f"multiplier {name}" for name in path.bilateral)]
    order += [name for name in path.measures if "." not in name]
    return [name for name in dict.fromkeys(order) if name in set(names)][: 2 * MOST_SHOWN]


def _ranked(*groups: list[Array]) -> list[int]:
    """Indices of columns, those that change most first; each group relative to its own largest change."""
    score = np.zeros(groups[0][0].shape[1])
    for group in groups:
        spread = np.max([array.max(axis=0) for array in group], axis=0) - np.min(
            [array.min(axis=0) for array in group], axis=0
        ) if len(score) else score  # fmt: skip
        largest = float(spread.max()) if len(score) else 0.0
        score = score + (spread / largest if largest > 0 else 0.0)
    return [int(i) for i in np.argsort(-score, kind="stable")]


def _branches(result: Result, paths: tuple[Path, ...], frames: Frames) -> list[dict[str, Any]]:
    found = []
    total = sum(len(curve.source) for curve in frames.curves)
    for i, begin in enumerate(frames.begins):
        end = frames.begins[i + 1] if i + 1 < len(frames.begins) else total
        label, colour = "path", 0
        if isinstance(result, Diagram):
            label, colour = f"branch {i}", 0 if result.parents[i] < 0 else i
        if isinstance(result, Drive):
            p = paths[i].p
            label = f"path {i + 1} of {len(paths)}, {result.control} from {p[0]:.4g} to {p[-1]:.4g}"
        low, high = np.searchsorted(frames.kept, [begin, end])
        found.append({"begin": int(low), "end": int(high), "label": label, "colour": colour})
    return found


def _events(result: Result, paths: tuple[Path, ...], frames: Frames) -> list[dict[str, Any]]:
    """Events and jumps in order; bounds only where a single path ends."""
    found = [
        {
            "frame": frames.position(i, event.index),
            "kind": event.kind.name,
            "words": event.words(),
            "explanation": text(event.kind),
            "slug": slug(event.kind),
            "before": event.instability_before,
            "after": event.instability_after,
        }
        for i, path in enumerate(paths)
        for event in path.events
        if event.kind is not Kind.bound or isinstance(result, Path)
    ]
    for jump in _jumps(result, frames):
        reason = {"slug": "limit", "explanation": "Stability was lost: the system moved to the next stable state."}
        found.append({"frame": jump["to"], "kind": "jump", "words": jump["words"], **reason})
    return sorted(found, key=lambda event: event["frame"])


def _jumps(result: Result, frames: Frames) -> list[dict[str, Any]]:
    if not isinstance(result, Drive):
        return []
    return [
        {"from": frames.position(i, -1), "to": frames.position(i + 1, 0), "words": jump.words()}
        for i, jump in result.jump_places()
    ]


def provenance_rows(paths: tuple[Path, ...], extra: Mapping[str, str]) -> list[tuple[str, str]]:
    """How a result was computed, as pairs of words."""
    first = paths[0].provenance
    rows = [(str(key), value) for key, value in extra.items()]
    for key, value in first.items():
        if isinstance(value, Mapping):
            rows += [(f"{key}: {name}", _short(item)) for name, item in value.items()]
        else:
            rows.append((str(key), _short(value)))
    return rows


def _short(value: Any) -> str:
    shown = str(value)
    return shown if len(shown) <= 300 else shown[:300] + " …"


def _base64(array: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
