"""Nodes and members of trusses as CSV.

`read_truss("nodes.csv", "members.csv")` returns parts for `compose`. The first line names the columns, in any order and
with small or capital letters:

* nodes: `name` (or `node`, `id`), `x`, `y`, `z` (in space); `fix` with "xy", "x", "all", 1 or nothing, or `fix_x`,
  `fix_y`, `fix_z` with 1 or 0; `mass`; a load that grows with p as `fx`, `fy`, `fz`;
* members: `a`, `b` (or `from`, `to`; `node1`, `node2`; `i`, `j`); `stiffness` (`k`) or `EA`; `length` (`l0`: natural
  length), `pretension`; `kind` (bar, spring, cable); `name`.

* supports: `node` (or `name`), `fix` or `fix_x` …, and loads: `node`, `fx`, `fy`, `fz`, where the nodes do not say it.

Cells are numbers or formulas of parameters. Columns are parted by comma, semicolon or tab; lines that begin with `#`
are passed over. One file may hold all, below lines `[nodes]`, `[members]`, `[supports]`, `[loads]`.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from typing import Any

from onesided.base.errors import ModelFileError
from onesided.files.import_groups import both_held, with_tables
from onesided.files.part_tables import MAX_PARTS, PART_NAME, PART_NAME_LENGTH, ImportedPart
from onesided.files.schema import shown
from onesided.formulas.formula import FormulaError, parse
from onesided.formulas.gate import suggestion

AXES = ("x", "y", "z")
_SYNONYMS = {
    **dict.fromkeys(("node", "id", "nr", "number", "label"), "name"),
    **dict.fromkeys(("fixed", "support", "supports"), "fix"),
    **{f"{word}{axis}": f"fix_{axis}" for axis in AXES for word in ("fix", "fixed_", "support_")},
    **{f"f_{axis}": f"f{axis}" for axis in AXES},
    **dict.fromkeys(("from", "start", "node1", "node_1", "i", "end1"), "a"),
    **dict.fromkeys(("to", "end", "node2", "node_2", "j", "end2"), "b"),
    "k": "stiffness",
    "ea": "modulus_area",
    "modulus_area": "modulus_area",
    **dict.fromkeys(("l0", "natural_length", "natural length", "rest_length"), "length"),
    **dict.fromkeys(("prestress", "tension"), "pretension"),
    "type": "kind",
}
_COLUMNS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # those that are needed, and all
    "nodes": (
        ("name", "x", "y"),
        ("name", *AXES, "fix", *(f"fix_{a}" for a in AXES), "mass", *(f"f{a}" for a in AXES)),
    ),
    "members": (
        ("a", "b"),
        ("name", "a", "b", "stiffness", "modulus_area", "length", "pretension", "law", "kind"),
    ),
    "supports": (("name",), ("name", "fix", *(f"fix_{a}" for a in AXES))),
    "loads": (("name",), ("name", *(f"f{a}" for a in AXES))),
}
_YES = {"1", "true", "yes", "all", "fixed", "pinned", "pin"}
_NO = {"", "0", "false", "no", "free", "none"}
_SECTION = re.compile(r"\[?\s*+(nodes|members|elements|bars|supports|loads|forces)\s*+\]?", re.IGNORECASE)
_HEADING = re.compile(r"\[[^\[\],;]*+\]")
_SECTIONS = {"elements": "members", "bars": "members", "forces": "loads"}

Line = tuple[str, dict[str, str]]  # place, cells by column


def truss_rows(texts: Mapping[str, tuple[str, str]], kind: str) -> list[ImportedPart]:
    """Parts of the tables, section → (text, name of its file); members are of `kind` where they do not say it."""
    sections = {} if "members" in texts else _sections(*texts["nodes"])
    sections |= {name: _lines(*one, 1, name) for name, one in texts.items() if name not in sections}
    nodes = [row for line in sections["nodes"] for row in _node(*line)]
    members = [_member(number, kind, *line) for number, line in enumerate(sections["members"], 1)]
    if not nodes or not members:
        raise ModelFileError("there are no nodes or no members", place=texts["nodes"][1])
    axes = AXES[: len(nodes[0].values["at"])]
    supports, loads = sections.get("supports", []), sections.get("loads", [])
    held = dict[str, bool | tuple[str, ...]]()
    for place, cells in supports:
        name = _named(place, cells)
        if not any(column.startswith("fix") for column in cells):
            raise ModelFileError("the line does not say what is held", place=place, expected="`fix`: x, xy, all, 0, …")
        held[name] = both_held(held.get(name, ()), _held(cells, axes, place))
    forces = [
        row for n, (place, cells) in enumerate(loads, 1) for row in _load(_named(place, cells), cells, axes, place, n)
    ]
    places = {_named(place, cells): place for place, cells in (*supports, *loads)}
    return with_tables([*nodes, *members], held, forces, places)


def _named(place: str, cells: Mapping[str, str]) -> str:
    return _name(_required(cells, "name", place), "n", place)


def _load(
    name: str, cells: Mapping[str, str], axes: Sequence[str], place: str, number: int | None = None
) -> list[ImportedPart]:
    """A force at a node, where there is one."""
    force = tuple(_quantity(cells.get(f"f{axis}", "0"), place) for axis in axes)
    for axis in AXES[len(axes) :]:
        if _quantity(cells.get(f"f{axis}", "0"), place):
            got, advice = f"f{axis} = {shown(cells[f'f{axis}'])}", f"give the nodes a column `{axis}`"
            raise ModelFileError("a load leaves the plane of the truss", place=place, got=got, advice=advice)
    label = f"load_{name}" if number is None else f"load{number}_{name}"
    return [ImportedPart("force", label, {"at": name, "force": force}, place)] if any(force) else []


def _sections(text: str, file: str) -> dict[str, list[Line]]:
    """The two tables of one file, each below its heading."""
    lines = text.splitlines()
    for n, line in enumerate(lines):
        title = line.strip(" \t,;")
        if _HEADING.fullmatch(title) and not _SECTION.fullmatch(title):
            advice = suggestion(title.strip("[] \t").lower(), [*_COLUMNS])
            expected = ", ".join(f"[{name}]" for name in _COLUMNS)
            place = f"{file}, line {n + 1}"
            raise ModelFileError(f"unknown section {shown(title)}", place=place, expected=expected, advice=advice)
    titles = [
        (n, match[1].lower()) for n, line in enumerate(lines) if (match := _SECTION.fullmatch(line.strip(" \t,;")))
    ]
    names = [_SECTIONS.get(name, name) for _, name in titles]
    if not {"members", "nodes"} <= set(names) or len(set(names)) < len(names):
        got, expected = ", ".join(names) or "none", "[nodes] and [members], each in a line of its own"
        raise ModelFileError("the sections are not clear", place=file, got=got, expected=expected)
    ends = [n for n, _ in titles[1:]] + [len(lines)]
    blocks = zip(names, titles, ends, strict=True)
    return {name: _lines("\n".join(lines[n + 1 : end]), file, n + 2, name) for name, (n, _), end in blocks}


def _lines(text: str, file: str, first: int, section: str) -> list[Line]:
    """Cells of every line by column; places carry line numbers."""
    lines = [(first + n, line) for n, line in enumerate(text.splitlines()) if line.strip(" \t,;") and line[:1] != "#"]
    if len(lines) > MAX_PARTS + 1:
        raise ModelFileError("there are too many lines", place=file, expected=f"{MAX_PARTS} at most")
    if not lines:
        return []
    mark = max(",;\t", key=lines[0][1].count)
    try:
        cells = [[cell.strip() for cell in row] for row in csv.reader((line for _, line in lines), delimiter=mark)]
    except csv.Error as error:
        raise ModelFileError("this is not CSV", place=file, got=str(error)) from None
    if len(cells) != len(lines):
        raise ModelFileError("a quotation mark is not closed", place=file)
    heads = [_column(cell) for cell in cells[0]]
    _check_heads(heads, f"{file}, line {lines[0][0]}", section)
    found: list[Line] = []
    for (number, _), row in zip(lines[1:], cells[1:], strict=True):
        place = f"{file}, line {number}"
        if len(row) > len(heads) and any(row[len(heads) :]):
            got, expected = f"{len(row)} cells", f"{len(heads)}: one per column"
            raise ModelFileError("the line is longer than the first", place=place, got=got, expected=expected)
        values = {head: _decimal(cell, mark) for head, cell in zip(heads, row, strict=False) if cell}
        found.append((place, values))
    return found


def _column(cell: str) -> str:
    name = cell.lower().strip()
    return _SYNONYMS.get(name, name)


def _check_heads(heads: Sequence[str], place: str, section: str) -> None:
    need, wanted = _COLUMNS[section]
    for head in heads:
        if head and head not in wanted:
            advice = suggestion(head, [*wanted, *_SYNONYMS])
            expected = ", ".join(wanted)
            raise ModelFileError(f"unknown column {shown(head)}", place=place, expected=expected, advice=advice)
        if heads.count(head) > 1:
            raise ModelFileError(f"two columns mean `{head}`", place=place)
    for name in need:
        if name not in heads:
            got = ", ".join(heads)
            raise ModelFileError(f"the column `{name}` is missing", place=place, got=got, expected=", ".join(wanted))


def _decimal(cell: str, mark: str) -> str:
    """A decimal comma, where the comma does not part columns."""
    return cell.replace(",", ".") if mark != "," and re.fullmatch(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?", cell) else cell


def _quantity(cell: str, place: str) -> float | str:
    try:
        formula = parse(cell)
    except FormulaError as error:
        raise error.at(place) from None
    return cell if formula.names else float(formula.evaluate({}))


def _name(cell: str, letter: str, place: str) -> str:
    """A name as in the file; numbers get a letter in front."""
    name = f"{letter}{cell}" if cell[:1].isdigit() else re.sub(r"[ .\-]", "_", cell)
    if not PART_NAME.fullmatch(name) or len(name) > PART_NAME_LENGTH:
        rule = f"letters, digits and `_`, {PART_NAME_LENGTH} characters at most"
        raise ModelFileError(f"the name {shown(cell)} cannot be used", place=place, expected=rule)
    return name


def _required(cells: Mapping[str, str], column: str, place: str) -> str:
    if column not in cells:
        raise ModelFileError(f"`{column}` is empty", place=place)
    return cells[column]


def _node(place: str, cells: Mapping[str, str]) -> list[ImportedPart]:
    name = _named(place, cells)
    axes = AXES if "z" in cells else AXES[:2]
    values: dict[str, Any] = {"at": tuple(_quantity(_required(cells, axis, place), place) for axis in axes)}
    if held := _held(cells, axes, place):
        values["fixed"] = held
    if "mass" in cells:
        values["mass"] = _quantity(cells["mass"], place)
    return [ImportedPart("node", name, values, place), *_load(name, cells, axes, place)]


def _held(cells: Mapping[str, str], axes: Sequence[str], place: str) -> bool | tuple[str, ...]:
    word = cells.get("fix", "").lower()
    if word in _YES:
        return True
    chosen = set() if word in _NO else set(re.sub(r"[ ,;+]", "", word))
    for axis in axes:
        mark = cells.get(f"fix_{axis}", "").lower()
        if mark not in _YES | _NO:
            raise ModelFileError(f"`fix_{axis}` is neither 1 nor 0", place=place, got=shown(mark))
        chosen |= {axis} if mark in _YES else set()
    if not chosen <= set(axes):
        expected = f"letters of {''.join(axes)}, all, 1, 0 or nothing"
        raise ModelFileError("`fix` is not clear", place=place, got=shown(word), expected=expected)
    return tuple(axis for axis in axes if axis in chosen)


def _member(number: int, kind: str, place: str, cells: Mapping[str, str]) -> ImportedPart:
    kind = cells.get("kind", kind).lower()
    name = _name(cells.get("name", str(number)), kind, place)
    values: dict[str, Any] = {"ends": tuple(_name(_required(cells, end, place), "n", place) for end in ("a", "b"))}
    for key in ("stiffness", "modulus_area", "length", "pretension"):
        if key in cells:
            values[key] = _quantity(cells[key], place)
    if "law" in cells:
        values["law"] = cells["law"]
    return ImportedPart(kind, name, values, place)
