"""Results for ParaView: the structure as drawn by its sketch, one file of unstructured cells (`.vtu`) per point.

Every file has the same cells; positions and fields change. A collection (`.pvd`) names the files with their times: the
time of a motion, the arc length of a path.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path as FilePath
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from onesided.base.atomic import whole_file, whole_folder
from onesided.base.errors import UsageError
from onesided.base.types import Array, Indices
from onesided.results.diagram import Diagram
from onesided.results.flat_tables import numbers
from onesided.results.history import Drive
from onesided.results.motion import Motion
from onesided.results.named_series import members_of
from onesided.results.path import Path
from onesided.results.sketch import STYLES, Sketch, value
from onesided.results.solids import SIDES

_CELLS = {2: "line", 3: "triangle", 4: "quad"}  # others are polygons
OTHER = len(STYLES)  # what is no line of the sketch


class Cell(NamedTuple):
    """Corners by number, what it is (`STYLES`, or `OTHER`), and the names it goes by in marks and members."""

    corners: tuple[int, ...]
    style: int
    points: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True, eq=False)
class Scene:
    """A structure along a result.

    Attributes
    ----------
    positions : (N, K, 3);  cells : as numbers of points;  names : of the first points, those of the sketch.
    """

    positions: Array
    cells: tuple[Cell, ...]
    names: tuple[str, ...]


def write_vtk(result: Any, file: str | PathLike[str], *, frames: int | None = None) -> FilePath:
    """Write the collection and its folder of files; each is replaced as a whole."""
    target = FilePath(file)
    if target.suffix.lower() != ".pvd":
        raise UsageError("this kind of file is not known", got=repr(target.suffix), expected="a name that ends in .pvd")
    if isinstance(result, Diagram):
        raise UsageError("a diagram has no order in time", expected="one of its paths: diagram.paths[0].to_vtk(…)")
    write = _meshio()
    pieces = [(path, _scene(path)) for path in (result.paths if isinstance(result, Drive) else (result,))]
    times = _times([path for path, _ in pieces])
    kept = _kept(times, frames)
    where = _places([len(path) for path, _ in pieces])
    lines = []
    with whole_folder(target.with_suffix(""), _ours) as folder:
        first = pieces[0][1].positions[0]
        for number, i in enumerate(kept):
            piece, j = where[i]
            path, scene = pieces[piece]
            name = f"{target.stem}-{number:05d}.vtu"
            write(folder / name, scene, first, _fields(path, scene, j), j)
            lines.append(_line(times[i], f"{target.stem}/{name}"))
    with whole_file(target) as draft:
        draft.write_text(_collection(lines), encoding="utf-8")
    return target


def _ours(folder: FilePath) -> list[str]:
    """Files of an earlier series; anything else in the folder stays."""
    return [entry.name for entry in folder.iterdir() if entry.match(f"{folder.name}-[0-9]*.vtu")]


def _places(lengths: Sequence[int]) -> list[tuple[int, int]]:
    return [(piece, j) for piece, length in enumerate(lengths) for j in range(length)]


def _times(paths: Sequence[Path | Motion]) -> Array:
    """Time, or arc length from the start of the first path."""
    found: list[Array] = []
    for path in paths:
        own = path.t if isinstance(path, Motion) else path.s - path.s[0]
        found.append(own + (found[-1][-1] if found else 0.0))
    return np.concatenate(found) if found else np.zeros(0)


def _kept(times: Array, frames: int | None) -> Indices:
    """Which points are written: the last of those at one time, evenly thinned out."""
    if not len(times):
        raise UsageError("there is nothing to write", got="a result without points")
    last = np.append(np.diff(times) > 0.0, True)
    kept = np.flatnonzero(last)
    if frames is None or len(kept) <= frames:
        return kept
    if frames < 2:
        raise UsageError("`frames` is too small", got=repr(frames), expected="at least 2")
    thinned: Indices = kept[np.unique(np.linspace(0, len(kept) - 1, frames).round().astype(int))]
    return thinned


def _line(time: float, name: str) -> str:
    return f'    <DataSet timestep="{float(time)!r}" group="" part="0" file={quoteattr(name)}/>'


def _collection(lines: Sequence[str]) -> str:
    head = '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1">\n  <Collection>\n'
    return head + "\n".join(lines) + "\n  </Collection>\n</VTKFile>\n"


def _scene(result: Path | Motion) -> Scene:
    if result.sketch is None:
        raise UsageError(
            "the result has no sketch: nothing is known of its shape", advice="System(…, sketch=Sketch(…))"
        )
    sketch, columns = result.sketch, numbers(result)
    points = {name: _in_space(at) for name, at in sketch.positions(columns).items()}
    names = tuple(points)
    number = {name: i for i, name in enumerate(names)}
    positions = list(points.values())
    cells: list[Cell] = []
    for line in sketch.lines:
        corners = tuple(number[name] for name in line.points)
        parts = [corners] if line.style == "body" else pairwise(corners)
        cells += [Cell(part, STYLES.index(line.style), line.points, line.name) for part in parts]
    for corners_of, faces in _shapes(sketch, points, columns):
        base = len(positions)
        positions += corners_of
        cells += [Cell(tuple(base + i for i in face), OTHER) for face in faces]
    return Scene(np.stack(positions, axis=1), tuple(cells), names)


def _in_space(at: Array) -> Array:
    return at if at.shape[1] == 3 else np.column_stack([at, np.zeros(len(at))])


Faces = Sequence[Sequence[int]]


def _shapes(
    sketch: Sketch, points: Mapping[str, Array], columns: Mapping[str, Array]
) -> Iterator[tuple[list[Array], Faces]]:
    """Corners, each (N, 3), and faces of what is not a line: bodies, circles, solids."""
    for body in sketch.bodies:
        angle = value(body.angle, columns)
        corners = [_turned(points[body.at], angle, x, y) for x, y in body.outline]
        yield corners, [range(len(corners))]
    for circle in sketch.circles if sketch.dimension == 2 else ():
        radius = value(circle.radius, columns)
        turns = 2 * np.pi * np.arange(SIDES) / SIDES
        rim = [_turned(points[circle.centre], np.full(len(radius), turn), radius, 0.0) for turn in turns]
        yield rim, [(i, (i + 1) % SIDES) for i in range(SIDES)]
    for solid in sketch.solids:
        turn = np.stack([value(c, columns) for c in solid.turn], axis=-1)
        placed = np.array([solid.placed(at, v) for at, v in zip(points[solid.at], turn, strict=True)])
        yield list(placed.transpose(1, 0, 2)), solid.faces


def _turned(at: Array, angle: Array, x: Any, y: Any) -> Array:
    cos, sin = np.cos(angle), np.sin(angle)
    moved: Array = at + np.stack([cos * x - sin * y, sin * x + cos * y, 0.0 * angle], axis=-1)
    return moved


class Fields(NamedTuple):
    """Values at points (K,) and of cells (C,) by name."""

    points: dict[str, Array]
    cells: dict[str, Array]


def _fields(result: Path | Motion, scene: Scene, j: int) -> Fields:
    """Reactions where they act, results of members, the control; NaN where there is none."""
    at, on = np.zeros(scene.positions.shape[1]), np.zeros(len(scene.cells))
    number = {name: i for i, name in enumerate(scene.names)}
    for i, name in enumerate(result.unilateral):
        for mark in result.sketch.marks.get(name, ()) if result.sketch else ():
            if len(mark) == 1:
                at[number[mark[0]]] += result.lam[j, i]
            else:
                on[[k for k, cell in enumerate(scene.cells) if cell.points == mark]] += result.lam[j, i]
    styles = np.array([cell.style for cell in scene.cells], dtype=float)
    everywhere = np.full(len(at), float(result.p[j]))
    return Fields(
        {"reaction": at, result.control: everywhere},
        {"reaction": on, "style": styles, **_member_fields(result, scene, j)},
    )


def _member_fields(result: Path | Motion, scene: Scene, j: int) -> dict[str, Array]:
    """Series called "MEMBER.QUANTITY" of the lines drawn: quantity → (C,)."""
    members = members_of(result)
    lines: dict[str, list[int]] = {}
    for k, cell in enumerate(scene.cells):
        lines.setdefault(cell.name, []).append(k)
    found: dict[str, Array] = {}
    for key in members:
        name, _, quantity = key.rpartition(".")
        if name in lines:
            found.setdefault(quantity, np.full(len(scene.cells), np.nan))[lines[name]] = members[key][j]
    return found


def _meshio() -> Any:
    try:
        import meshio
    except ImportError:
        raise UsageError("meshio is not installed", advice="pip install 'onesided[mesh]'") from None

    def write(file: FilePath, scene: Scene, first: Array, fields: Fields, j: int) -> None:
        blocks = _blocks(scene.cells)
        points = {"displacement": scene.positions[j] - first, **fields.points}
        cells = {name: [values[kept] for _, _, kept in blocks] for name, values in fields.cells.items()}
        mesh = meshio.Mesh(
            scene.positions[j], [(kind, corners) for kind, corners, _ in blocks], point_data=points, cell_data=cells
        )
        meshio.write(file, mesh, file_format="vtu", binary=True)

    return write


def _blocks(cells: Sequence[Cell]) -> list[tuple[str, Indices, Indices]]:
    """Cells of one kind together: kind, corners, and which cells they are."""
    sizes = np.array([len(cell.corners) for cell in cells])
    found = []
    for size in np.unique(sizes):
        kept = np.flatnonzero(sizes == size)
        corners = np.array([cells[int(k)].corners for k in kept], dtype=np.intp)
        found.append((_CELLS.get(int(size), "polygon"), corners, kept))
    return found
