"""Trusses from other programs: nodes and members as CSV, and meshes of line elements."""

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from onesided.base.arguments import checked
from onesided.base.errors import ModelError, ModelFileError, UsageError
from onesided.elements.contract import Element
from onesided.elements.members import Bar
from onesided.files.import_groups import mesh_rows
from onesided.files.part_kinds import part_kinds
from onesided.files.part_tables import ImportedPart
from onesided.files.schema import shown
from onesided.files.schema_tables import ImportTable
from onesided.files.toml_places import Source
from onesided.files.truss_tables import truss_rows
from onesided.formulas.gate import suggestion
from onesided.structures.structure import Part

MAX_BYTES = 32 * 1024 * 1024
MEMBERS = "an element with two ends: bar, spring, cable, …"
SAFE_MESHES = (".msh", ".vtk", ".obj")  # formats that do not refer to other files


@checked
def read_truss(
    nodes: str | os.PathLike[str],
    members: str | os.PathLike[str] | None = None,
    *,
    supports: str | os.PathLike[str] | None = None,
    loads: str | os.PathLike[str] | None = None,
    kind: str = "bar",
) -> list[Part]:
    """Read a truss from CSV files, for `compose`.

    Parameters
    ----------
    nodes : file of the nodes, or one file with sections `[nodes]`, `[members]`, and `[supports]`, `[loads]` if wanted.
    members : file of the members;  supports, loads : files of those, where the nodes do not say it all.
    kind : kind of the members for which the file gives none.

    Raises
    ------
    ModelFileError
        With file and line.
    """
    paths = {"nodes": nodes, "members": members, "supports": supports, "loads": loads}
    texts = {key: (_read_text(Path(path)), os.fspath(path)) for key, path in paths.items() if path is not None}
    return parts_of(truss_rows(texts, kind))


@checked
def read_mesh(
    path: str | os.PathLike[str],
    member: Element | None = None,
    *,
    supports: Mapping[str, Any] | None = None,
    loads: Mapping[str, Any] | None = None,
) -> list[Part]:
    """Read the line elements of a mesh with meshio (`pip install meshio`), for `compose`.

    Parameters
    ----------
    path : any format that meshio reads, and OBJ (lines `l`, groups `g`). Of surfaces (OBJ, PLY, STL, OFF) without lines
        the edges of the faces are taken.
    member : what every line becomes: an element whose name and ends are filled in; default `Bar("", stiffness=1.0)`.
    supports : name of a group of the mesh (physical groups of gmsh, sets of other formats) → what is fixed at its
        nodes: True, "x", "xy" …
    loads : name of a group → force at each of its nodes; it grows with p.

    Returns
    -------
    list
        Nodes `n0`, `n1`, … in the numbering of the mesh, those that no line touches left out; members `bar0`, ….
        The mesh is planar when all z are 0.
    """
    template = Bar("", stiffness=1.0) if member is None else member
    place = Path(path)
    rows = mesh_rows(place, read_bytes(place), os.fspath(path), template.kind, (supports or {}, loads or {}))
    changes = [{"name": row.name, **row.values} for row in rows if "ends" in row.values]
    others = parts_of(row for row in rows if "ends" not in row.values)
    return [*others, *copies_of(template, changes)]


def copies_of(template: Element, changes: Iterable[Mapping[str, Any]]) -> list[Element]:
    """Members like the template, with names and ends of their own."""
    if not hasattr(template, "ends"):
        got = type(template).__name__
        raise UsageError("`member` is no member between two nodes", got=got, expected=MEMBERS)
    return [replace(template, **change) for change in changes]


def import_rows(table: ImportTable, source: Source, folder: Path | None) -> list[ImportedPart]:
    """What `[import]` of a model file asks for; only files inside the folder of the model file are read."""
    every = ("truss", "nodes", "members", "mesh", "supports", "loads")
    given = {key: name for key in every if isinstance(name := getattr(table, key), str)}
    groups = _groups(table)
    if set(given) - {"supports", "loads"} not in ({"truss"}, {"nodes", "members"}, {"mesh"}) or (
        "mesh" in given and len(given) > 1
    ):
        expected = "`nodes` and `members`, or `truss`, or `mesh`"
        raise source.error(
            ("import",), "this import is not clear", got=", ".join(given) or "nothing", expected=expected
        )
    paths = {key: _inside(name, ("import", key), source, folder) for key, name in given.items()}
    if "mesh" in paths:
        if paths["mesh"].suffix.lower() not in SAFE_MESHES:
            raise source.error(("import", "mesh"), "this format is not read", expected=" or ".join(SAFE_MESHES))
        return mesh_rows(paths["mesh"], read_bytes(paths["mesh"]), given["mesh"], table.kind, groups)
    if any(groups):
        raise source.error(
            ("import",), "groups are those of a mesh", expected="`supports` and `loads` as names of files"
        )
    texts = {"nodes" if key == "truss" else key: (_read_text(path), given[key]) for key, path in paths.items()}
    return truss_rows(texts, table.kind)


def _groups(table: ImportTable) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Supports and loads of groups of a mesh."""
    supports, loads = (value if isinstance(value, Mapping) else {} for value in (table.supports, table.loads))
    return supports, loads


def _inside(name: str, key: tuple[str, ...], source: Source, folder: Path | None) -> Path:
    """The path of an imported file: relative, and inside the folder, also when links are followed."""
    if folder is None:
        raise source.error(key, "a model given as text cannot import files", advice="load it from a file")
    plain = name.replace("\\", "/")
    if not name or plain.startswith("/") or ":" in plain or ".." in plain.split("/") or not name.isprintable():
        raise source.error(key, "this path is refused", got=shown(name), expected="a file in the model file's folder")
    root = folder.resolve()
    path = (root / plain).resolve()
    if not path.is_relative_to(root):
        raise source.error(key, "this path leaves the model file's folder", got=shown(name))
    return path


def read_bytes(path: Path) -> bytes:
    """The content of a regular file that is not too large."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ModelFileError("this is not a regular file", place=path.name)
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelFileError("the file cannot be read", place=path.name, got=reason, advice="check the path") from None
    if len(data) > MAX_BYTES:
        raise ModelFileError("the file is too large", place=path.name, expected=f"{MAX_BYTES} bytes at most")
    return data


def _read_text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ModelFileError("the file is not text in UTF-8", place=path.name, advice="export it again") from None


def parts_of(rows: Iterable[ImportedPart]) -> list[Part]:
    """The parts that rows state."""
    kinds, parts = part_kinds(), list[Part]()
    for row in rows:
        if row.kind not in kinds:
            raise ModelFileError(f"unknown kind {shown(row.kind)}", place=row.place, advice=suggestion(row.kind, kinds))
        cls = kinds[row.kind].cls
        if "ends" in row.values and not hasattr(cls, "ends"):
            what = f"a {row.kind} is no member between two nodes"
            raise ModelFileError(what, place=row.place, expected=MEMBERS)
        try:
            parts.append(cls(name=row.name, **row.values))
        except ModelError as error:
            raise ModelFileError(error.what, place=row.place, got=error.got, expected=error.expected) from None
    return parts
