"""Meshes of line elements, and supports and loads by name: of nodes in tables, of groups in meshes."""

import io
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from onesided.base.errors import ModelFileError
from onesided.base.names import nearest
from onesided.elements.contract import Quantity
from onesided.files.import_edges import SURFACES, EdgeMesh, edges, read_obj
from onesided.files.mesh_text import check_mesh_text
from onesided.files.part_tables import MAX_PARTS, ImportedPart
from onesided.files.schema import shown

FLAT = ("triangle", "quad", "polygon")
Fixing = bool | str | Sequence[str]
Supports = Mapping[str, Fixing]
Loads = Mapping[str, Sequence[Quantity]]


def mesh_rows(
    path: Path, content: bytes, name: str, kind: str, groups: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {})
) -> list[ImportedPart]:
    """Nodes and members of a mesh that meshio reads, with supports and loads of its groups."""
    suffix = path.suffix.lower()
    points, lines, named = read_obj(content, name) if suffix == ".obj" else _by_meshio(path, content, name)
    strange = next((end for pair in lines for end in pair if not 0 <= end < len(points)), None)
    if strange is not None:
        what, expected = "a line of the mesh ends at a point that is not there", f"0 to {len(points) - 1}"
        raise ModelFileError(what, place=name, got=str(strange), expected=expected)
    planar = all(len(point) < 3 or point[2] == 0 for point in points)
    used = sorted({end for pair in lines for end in pair})
    if len(used) + len(lines) > MAX_PARTS:
        raise ModelFileError("the mesh is too large", place=name, expected=f"{MAX_PARTS} parts at most")
    if len({frozenset(pair) for pair in lines}) < len(lines):
        raise ModelFileError("two lines of the mesh join the same points", place=name, advice="merge them")
    nodes = [ImportedPart("node", f"n{i}", {"at": tuple(points[i][: 2 if planar else 3])}, name) for i in used]
    members = [ImportedPart(kind, f"{kind}{j}", {"ends": (f"n{a}", f"n{b}")}, name) for j, (a, b) in enumerate(lines)]
    return with_groups([*nodes, *members], named if any(groups) else {}, *groups, name)


def _by_meshio(path: Path, content: bytes, name: str) -> EdgeMesh:
    """Points, lines and groups of a mesh that meshio reads; of formats of surfaces the edges of faces."""
    check_mesh_text(content, path.suffix.lower(), name)
    try:
        import meshio
    except ImportError:
        what = "meshes are read by meshio, which is not installed"
        raise ModelFileError(what, place=name, advice="pip install 'onesided[mesh]', or pip install meshio") from None
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):  # it prints what it thinks of a file
            mesh = meshio.read(path)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a broken file does inside meshio
        raise ModelFileError("the mesh cannot be read", place=name, got=f"{type(error).__name__}: {error}") from None
    lines = [pair for block in mesh.cells if block.type == "line" for pair in block.data.tolist()]
    if not lines and path.suffix.lower() in SURFACES:
        lines = edges(face for block in mesh.cells if block.type in FLAT for face in block.data.tolist())
    if not lines:
        got = ", ".join(sorted({block.type for block in mesh.cells})) or "no elements"
        raise ModelFileError("the mesh has no line elements", place=name, got=got, expected="elements of type line")
    return EdgeMesh(mesh.points.tolist(), lines, mesh_groups(mesh))


def mesh_groups(mesh: Any) -> dict[str, list[int]]:
    """Points of every named group of a mesh as meshio gives it, however the group was stated."""
    found: dict[str, set[int]] = {name: set(map(int, points)) for name, points in mesh.point_sets.items()}
    tags = mesh.cell_data.get("gmsh:physical", [])
    for name, (tag, dimension) in mesh.field_data.items():
        for block, numbers in zip(mesh.cells, tags, strict=False):
            if block.dim == dimension:
                found.setdefault(name, set()).update(block.data[numbers == tag].ravel().tolist())
    for name, blocks in mesh.cell_sets.items():
        for block, chosen in zip(mesh.cells, blocks, strict=False):
            if chosen is not None and not name.startswith("gmsh:"):
                found.setdefault(name, set()).update(block.data[chosen].ravel().tolist())
    return {name: sorted(points) for name, points in found.items()}


def with_groups(
    rows: Sequence[ImportedPart], groups: Mapping[str, Sequence[int]], supports: Supports, loads: Loads, place: str
) -> list[ImportedPart]:
    """Rows of a mesh with the nodes of groups held, and a load at every node of a group."""
    for name in (*supports, *loads):
        if name not in groups:
            raise ModelFileError(
                f"the mesh has no group {shown(name)}",
                place=place,
                expected=", ".join(groups) or "named groups (physical groups in gmsh)",
                advice=f"did you mean '{nearest(name, groups)}'?" if nearest(name, groups) else "",
            )
    nodes = {row.name for row in rows if row.kind == "node"}
    for name in (*supports, *loads):
        if not any(f"n{i}" in nodes for i in groups[name]):
            what = f"the group {shown(name)} holds no end of a line"
            raise ModelFileError(what, place=place, expected="points where lines end")
    found = list(rows)
    for name, fixed in supports.items():
        of = {f"n{i}" for i in groups[name]}
        found = [_held(row, fixed) if row.kind == "node" and row.name in of else row for row in found]
    for name, force in loads.items():
        at = [f"n{i}" for i in groups[name] if f"n{i}" in nodes]
        found += [ImportedPart("force", f"{name}_{node}", {"at": node, "force": tuple(force)}, place) for node in at]
    return found


def with_tables(
    rows: Sequence[ImportedPart], supports: Mapping[str, Any], loads: Sequence[ImportedPart], places: Mapping[str, str]
) -> list[ImportedPart]:
    """Rows of a truss with what tables of supports and loads say of nodes by name."""
    nodes = {row.name for row in rows if row.kind == "node"}
    for name, place in places.items():
        if name not in nodes:
            guess = nearest(name, nodes)
            advice = f"did you mean {shown(guess)}?" if guess else ""
            raise ModelFileError(f"there is no node {shown(name)}", place=place, advice=advice)
    return [*(_held(row, supports[row.name]) if row.name in supports else row for row in rows), *loads]


def _held(row: ImportedPart, fixed: Fixing) -> ImportedPart:
    """A node with more held: what it, a group or a table says adds up."""
    both = both_held(row.values.get("fixed", ()), fixed)
    return row._replace(values={**row.values, "fixed": both})


def both_held(first: Fixing, second: Fixing) -> bool | tuple[str, ...]:
    """What two statements hold together: True for all components."""
    if any(one is True or one == "all" for one in (first, second)):
        return True
    return tuple(dict.fromkeys(axis for one in (first, second) if not isinstance(one, bool) for axis in one))
