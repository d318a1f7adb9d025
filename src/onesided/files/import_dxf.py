"""Line drawings (DXF): every line a member, layers as groups for supports and loads."""

import os
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import ModelFileError
from onesided.base.tolerances import HALF_DIGITS
from onesided.elements.contract import Element
from onesided.elements.members import Bar
from onesided.files.import_groups import with_groups
from onesided.files.imports import copies_of, parts_of, read_bytes
from onesided.files.part_tables import MAX_PARTS, ImportedPart
from onesided.structures.structure import Part

TOUCHING = HALF_DIGITS  # distance of ends that are one node, relative to the size of the drawing
Point = tuple[float, float, float]


@checked
def read_dxf(
    path: str | os.PathLike[str],
    member: Element | None = None,
    *,
    supports: Mapping[str, Any] | None = None,
    loads: Mapping[str, Any] | None = None,
) -> list[Part]:
    """Read the lines and polylines of a DXF drawing with ezdxf (`pip install 'onesided[dxf]'`), for `compose`.

    Parameters
    ----------
    member : what every line becomes: an element whose name and ends are filled in; default `Bar("", stiffness=1.0)`.
    supports, loads : layer → what is fixed, or the force, at the ends and points drawn on it. A layer that has one of
        these gives no members.

    Returns
    -------
    list
        Nodes `n0`, `n1`, …, one for all ends that meet; members `bar0`, …. Planar when all z are equal.
    """
    template = Bar("", stiffness=1.0) if member is None else member
    place, name = Path(path), os.fspath(path)
    read_bytes(place)  # its size and kind
    marked = {**(supports or {}), **(loads or {})}
    lines = list(_segments(_modelspace(place, name)))
    number = _Numbering([end for _, ends in lines for end in ends])
    ends_of = [(layer, [number(end) for end in ends]) for layer, ends in lines]
    pairs = [(min(ends), max(ends)) for layer, ends in ends_of if layer not in marked and len(set(ends)) == 2]
    joined = list(dict.fromkeys(pairs))
    if not joined or len(joined) > MAX_PARTS:
        raise ModelFileError("the drawing has no lines, or too many", place=name, got=str(len(joined)))
    used = {i for pair in joined for i in pair}
    nodes = [ImportedPart("node", f"n{i}", {"at": number.at(i)}, name) for i in sorted(used)]
    layers = {layer for layer, _ in ends_of}
    groups = {layer: sorted({i for one, ends in ends_of if one == layer for i in ends} & used) for layer in layers}
    stray = next((ends[0] for layer, ends in ends_of if layer in marked and len(ends) == 1 and ends[0] not in used), -1)
    if stray >= 0:
        at = ", ".join(f"{x:g}" for x in number.at(stray))
        raise ModelFileError("a point for a support or load is at no end of a line", place=name, got=f"({at})")
    others = parts_of(with_groups(nodes, groups, supports or {}, loads or {}, name))
    changes: list[dict[str, Any]] = [
        {"name": f"{template.kind}{j}", "ends": (f"n{a}", f"n{b}")} for j, (a, b) in enumerate(joined)
    ]
    return [*others, *copies_of(template, changes)]


class _Numbering:
    """Numbers of places, the same for ends that meet."""

    def __init__(self, points: list[Point]) -> None:
        array = np.array(points, dtype=float).reshape(-1, 3)
        self._size = float(np.max(np.ptp(array, axis=0)) if len(array) else 0.0) or 1.0
        self._planar = len(array) == 0 or bool(np.ptp(array[:, 2]) <= TOUCHING * self._size)
        self._cells: dict[tuple[int, ...], int] = {}
        self._points: list[Point] = []

    def __call__(self, point: Point) -> int:
        cell = tuple(round(x / (TOUCHING * self._size)) for x in point)
        near = [(cell[0] + i, cell[1] + j, cell[2] + k) for i in (0, -1, 1) for j in (0, -1, 1) for k in (0, -1, 1)]
        known = next((self._cells[one] for one in near if one in self._cells), None)
        if known is None:
            known = self._cells[cell] = len(self._points)
            self._points.append(point)
        return known

    def at(self, number: int) -> tuple[float, ...]:
        """Coordinates of node number `number`, as drawn."""
        return self._points[number][: 2 if self._planar else 3]


def _modelspace(path: Path, name: str) -> Any:
    try:
        from ezdxf.filemanagement import readfile
        from ezdxf.lldxf.const import DXFError
    except ImportError:
        raise ModelFileError(
            "drawings are read by ezdxf, which is not installed", place=name, advice="pip install 'onesided[dxf]'"
        ) from None
    try:
        return readfile(path).modelspace()
    except (OSError, DXFError, ValueError, KeyError, UnicodeError) as error:
        got = f"{type(error).__name__}: {error}"
        raise ModelFileError("the drawing cannot be read", place=name, got=got) from None


def _segments(drawing: Any) -> Iterator[tuple[str, tuple[Point, ...]]]:
    """Layer with one point, or with the two ends of a line."""
    for entity in drawing:
        layer, kind = str(entity.dxf.layer), entity.dxftype()
        if kind == "POINT":
            yield layer, (_point(entity.dxf.location),)
        elif kind == "LINE":
            yield layer, (_point(entity.dxf.start), _point(entity.dxf.end))
        elif kind in {"LWPOLYLINE", "POLYLINE"}:
            flat = kind == "LWPOLYLINE"
            corners = entity.vertices_in_wcs() if flat else entity.points_in_wcs()
            points = [_point(corner) for corner in corners]
            closed = bool(entity.closed if flat else entity.is_closed)
            for pair in pairwise([*points, *points[:1]] if closed else points):
                yield layer, pair


def _point(vector: Any) -> Point:
    return float(vector[0]), float(vector[1]), float(vector[2])
