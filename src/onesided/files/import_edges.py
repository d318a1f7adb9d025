"""Edge meshes: OBJ as text, without a library, and the edges of faces.

OBJ: points `v x y z`, lines `l i j …`, faces `f i/… j/… k/…`, groups `g name …` of the points in the lines and faces
that follow. Where there are no lines the edges of the faces are taken, each once.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from onesided.base.errors import ModelFileError
from onesided.files.schema import shown

MOST_GROUPS = 8  # at one time
SURFACES = (".obj", ".ply", ".stl", ".off")  # formats of faces: where they hold no lines their edges are meant


class EdgeMesh(NamedTuple):
    """Points, lines between them by number, and the points of named groups."""

    points: list[list[float]]
    lines: list[list[int]]
    groups: dict[str, list[int]]


class _Reading:
    """A text line by line, with errors that name the line."""

    def __init__(self, content: bytes, name: str) -> None:
        self.lines, self.name, self.number = content.decode("utf-8", "replace").splitlines(), name, 0

    def words(self) -> Iterator[list[str]]:
        """Words of the lines that hold some, comments left out."""
        while self.number < len(self.lines):
            self.number += 1
            words = self.lines[self.number - 1].split("#")[0].split()
            if words:
                yield words

    def error(self, what: str, expected: str = "") -> ModelFileError:
        got = shown(self.lines[self.number - 1][:60]) if self.number else "nothing"
        return ModelFileError(what, place=f"{self.name}, line {self.number}", got=got, expected=expected)

    def numbers(self, words: Sequence[str], kind: Callable[[str], float] = float) -> list[float]:
        try:
            found = [kind(word) for word in words]
        except ValueError:
            found = [math.nan]
        if not all(math.isfinite(value) for value in found):
            raise self.error("the mesh cannot be read here", "finite numbers")
        return found


def edges(faces: Iterable[Sequence[int]]) -> list[list[int]]:
    """Edges of faces, each once, in the order in which they come."""
    pairs = ((a, b) for face in faces for a, b in zip(face, (*face[1:], face[0]), strict=True) if a != b)
    return [list(edge) for edge in {frozenset(pair): pair for pair in pairs}.values()]


def read_obj(content: bytes, name: str) -> EdgeMesh:
    """The edge mesh in an OBJ file.

    Raises
    ------
    ModelFileError
        With the line.
    """
    reading = _Reading(content, name)
    points: list[list[float]] = []
    lines: list[list[int]] = []
    faces: list[list[int]] = []
    groups: dict[str, set[int]] = defaultdict(set)
    current: list[str] = []
    for word, *rest in reading.words():
        if word == "v":
            points.append(reading.numbers(rest[:3]))
            if len(points[-1]) < 3:
                raise reading.error("a point needs three numbers")
        elif word == "g":
            current = rest[:MOST_GROUPS]
        elif word in {"l", "f"}:
            given = reading.numbers([corner.split("/")[0] for corner in rest], int)
            ends = [_counted(int(number), len(points), reading) for number in given]
            if len(ends) < 2:
                raise reading.error("a line or face needs two points or more")
            faces += [ends] if word == "f" else []
            lines += [list(pair) for pair in pairwise(ends)] if word == "l" else []
            for name in current:
                groups[name].update(ends)
    if not lines and not faces:
        raise ModelFileError("the mesh has no line elements", place=name, expected="lines `l`, or faces `f`")
    return EdgeMesh(points, lines or edges(faces), {name: sorted(found) for name, found in groups.items()})


def _counted(number: int, count: int, reading: _Reading) -> int:
    """The number of a point from 0: OBJ counts from 1, negative ones from the last."""
    found = number - 1 if number > 0 else count + number
    if number == 0 or not 0 <= found < count:
        raise reading.error("there is no such point", f"1 to {count} at this line")
    return found
