"""Meshes as text, looked through before a library reads them: false counts, lines to nodes that are not there."""

from collections.abc import Iterator
from itertools import islice

from onesided.base.errors import ModelFileError
from onesided.files.schema import shown

_COUNTED = {"points", "cells", "cell_types", "lines", "polygons", "vertices", "cell_data", "point_data", "connectivity"}


def check_mesh_text(data: bytes, suffix: str, name: str) -> None:
    """Refuse a mesh whose counts exceed its size, and a Gmsh file whose elements use nodes that it does not have.

    Raises
    ------
    ModelFileError
        With the line.
    """
    lines = _Lines(data.decode("utf-8", "replace").splitlines(), name, len(data))
    if suffix == ".vtk":
        for line in lines:
            words = line.split()
            if words and words[0].lower() in _COUNTED:
                lines.counts(words[1:])
    elif suffix == ".msh" and not any(b in data[:200] for b in (b"\x00", b" 1 8\n")):
        _check_gmsh(lines)


class _Lines:
    """The lines of a file, one after the other, with their numbers."""

    def __init__(self, lines: list[str], name: str, size: int) -> None:
        self.lines, self.name, self.size, self.number = lines, name, size, 0

    def __iter__(self) -> Iterator[str]:
        while self.number < len(self.lines):
            self.number += 1
            yield self.lines[self.number - 1]

    def error(self, what: str, got: str, expected: str = "") -> ModelFileError:
        return ModelFileError(what, place=f"{self.name}, line {self.number}", got=shown(got), expected=expected)

    def counts(self, words: list[str]) -> list[int]:
        """Whole numbers in words; none can be larger than the file."""
        found = [int(word) for word in words if word.lstrip("-").isdigit() and word.isascii() and len(word) < 30]
        if any(abs(count) > self.size for count in found) or any(len(word) >= 30 and word.isdigit() for word in words):
            raise self.error("the mesh says that it holds more than the file can", " ".join(words)[:60])
        return found

    def integers(self, least: int) -> list[int]:
        """The whole numbers of the next line."""
        words = next(iter(self), "").split()
        found = self.counts(words[:least]) if least else []
        if len(found) < least:
            raise self.error("the mesh cannot be read here", " ".join(words)[:60], f"{least} whole numbers")
        return found


def _check_gmsh(lines: _Lines) -> None:
    """Every element uses nodes that are there: the library would take others for them."""
    version, nodes = "", set[int]()
    for line in lines:
        section = line.strip()
        if section == "$MeshFormat":
            version = next(iter(lines), "").split(" ")[0]
        elif section == "$Nodes":
            nodes = _nodes_of_blocks(lines) if version.startswith("4.1") else _plain_nodes(lines)
        elif section == "$Elements" and not version.startswith("4.0"):
            for used in _uses_of_blocks(lines) if version.startswith("4.1") else _plain_uses(lines):
                strange = [node for node in used if node not in nodes]
                if strange:
                    raise lines.error("an element uses a node that the mesh does not have", str(strange[0]))


def _plain_nodes(lines: _Lines) -> set[int]:
    count = lines.integers(1)[0]
    return {lines.integers(1)[0] for _ in range(count)}


def _plain_uses(lines: _Lines) -> Iterator[list[int]]:
    """Nodes of the elements of format 2: number, type, how many tags, tags, nodes."""
    for _ in range(lines.integers(1)[0]):
        words = next(iter(lines), "").split()
        numbers = [int(word) if word.lstrip("-").isdigit() and len(word) < 30 else None for word in words]
        if len(numbers) < 3 or None in numbers:
            raise lines.error("the mesh cannot be read here", " ".join(words)[:60], "whole numbers")
        yield [number for number in numbers[3 + (numbers[2] or 0) :] if number is not None]


def _nodes_of_blocks(lines: _Lines) -> set[int]:
    """Nodes of format 4.1: blocks with their numbers, then their positions."""
    found: set[int] = set()
    for _ in range(lines.integers(4)[0]):
        count = lines.integers(4)[3]
        found |= {lines.integers(1)[0] for _ in range(count)}
        for _ in islice(iter(lines), count):
            pass
    return found


def _uses_of_blocks(lines: _Lines) -> Iterator[list[int]]:
    for _ in range(lines.integers(4)[0]):
        for _ in range(lines.integers(4)[3]):
            words = next(iter(lines), "").split()
            yield [int(word) for word in words[1:] if word.lstrip("-").isdigit() and len(word) < 30]
