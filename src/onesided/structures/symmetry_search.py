"""Symmetries of composed structures, found from their geometry: isometries that map the structure onto itself."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, permutations, product
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from onesided.base.arguments import checked
from onesided.base.errors import ModelError
from onesided.base.tolerances import HALF_DIGITS
from onesided.base.types import Array, Indices, Mask
from onesided.elements.contract import Start
from onesided.elements.places import Body, Guided, Marker, Node, Place
from onesided.system.symmetry import Symmetry, generate
from onesided.system.symmetry_check import Checker
from onesided.system.system import System

NEAR = HALF_DIGITS  # of the extent: places this close are at one point
MOST_PAIRINGS = 64  # ways to pair places that lie at one point


@checked
def symmetry_of(system: System, *, p: float = 0.0) -> Symmetry:
    """All rotations and reflections about its centroid that map a composed structure onto itself.

    Candidates come from the positions of nodes and bodies; whether supports, members, loads and contacts agree is
    decided by comparing the system with its image, about the start and the given p. Without any the group is trivial.

    Examples
    --------
    >>> import onesided
    >>> from onesided.elements import Bar, Force, Node
    >>> truss = onesided.compose(
    ...     Node("a", (-1, 0), fixed=True), Node("b", (1, 0), fixed=True), Node("top", (0, 1)),
    ...     Bar("left", ("a", "top"), stiffness=1), Bar("right", ("b", "top"), stiffness=1),
    ...     Force("load", "top", (0, -1)))
    >>> onesided.symmetry_of(truss)
    <Symmetry mirror: 2 elements on 2 coordinates>
    """
    if system.structure is None:
        raise ModelError(
            "only structures made of parts have a geometry",
            got="a system of functions or formulas",
            advice="Symmetry.of(system, {name: …}) with the generators",
        )
    checker, geometry = Checker.at(system, system.start, p), StructureGeometry(system)
    found = []
    for R in geometry.isometries():
        for M in geometry.actions(R):
            C = checker.examine(M)
            if isinstance(C, np.ndarray):
                found.append((M, C, R))
                break
    return generate(checker, found)


@dataclass(frozen=True, eq=False)
class StructureGeometry:
    """Places of a structure about their centroid, and how isometries of space act on its coordinates."""

    system: System

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Nodes and bodies; markers go with their bodies."""
        chosen = [place for place in self.system.structure.places.values() if not isinstance(place, Marker)]
        for place in chosen:
            if type(place) not in {Node, Body, Guided}:
                raise ModelError(
                    f"the coordinates of '{place.name}' are not known to the search for symmetries",
                    about=place.name,
                    got=type(place).__name__,
                    expected="Node, Body or Guided",
                    advice="Symmetry.of(system, {name: matrix})",
                )
        return tuple(chosen)

    @cached_property
    def points(self) -> Array:
        """(k, d) positions about their centroid."""
        start = self.system.structure.start_of(self.system.parameters)
        x = np.array([start.position(place.name) for place in self.places])
        return np.asarray(x - np.mean(x, axis=0))

    @cached_property
    def near(self) -> float:
        """Distance below which points are the same."""
        return float(NEAR * np.max(np.linalg.norm(self.points, axis=1)))

    @cached_property
    def labels(self) -> Indices:
        """Places that may be images of each other have the same number: same kind, distance and number of freedoms."""
        radii = np.linalg.norm(self.points, axis=1)
        order = np.sort(radii)
        shells = np.searchsorted(order[:-1][np.diff(order) > self.near] + 0.5 * self.near, radii)
        keys = [
            (type(place).__name__, int(shell), sum(slot.free for slot in place.slots))
            for place, shell in zip(self.places, shells, strict=True)
        ]
        return np.array([keys.index(key) for key in keys], dtype=np.intp)

    def isometries(self) -> Iterator[Array]:
        """Candidates: those that take some points that span the structure to points of the same kind."""
        frame = self._frame()
        if len(frame) < self.points.shape[1] - 1:
            yield from _along_axes(self.points.shape[1])
            return
        axes = _orthonormal(self.points[frame])
        choices = [np.flatnonzero(self.labels == self.labels[i]) for i in frame]
        gram = self.points[frame] @ self.points[frame].T
        for images in product(*choices):
            Y = self.points[list(images)]
            if np.max(np.abs(Y @ Y.T - gram)) <= self.near * np.sqrt(np.max(gram)):
                other = _orthonormal(Y)
                for sign in (1.0, -1.0):
                    flip = np.diag([*np.ones(len(axes) - 1), sign])
                    yield other.T @ flip @ axes

    def _frame(self) -> list[int]:
        """Independent points, one less than dimensions, of kinds as rare as possible; fewer where there are none."""
        rare = np.argsort([np.count_nonzero(self.labels == label) for label in self.labels], kind="stable")
        chosen: list[int] = []
        for i in rare:
            Y = self.points[[*chosen, int(i)]]
            sizes = np.linalg.norm(Y, axis=1)
            if np.min(sizes) > self.near and np.min(np.linalg.svd(Y / sizes[:, None])[1]) > NEAR**0.5:
                chosen.append(int(i))
            if len(chosen) == self.points.shape[1] - 1:
                break
        return chosen

    def actions(self, R: Array) -> Iterator[Array]:
        """Matrices on the coordinates that belong to an isometry; several where places lie at one point."""
        choices = self._choices(R)
        for images in islice(product(*choices), MOST_PAIRINGS):
            if len(set(images)) == len(images):
                M = self._matrix(R, images)
                if M is not None:
                    yield M

    def _choices(self, R: Array) -> list[Indices]:
        """For each place those at its image that are of its kind and attached alike."""
        found = []
        for i, (x, label) in enumerate(zip(self.points @ R.T, self.labels, strict=True)):
            there = (np.max(np.abs(self.points - x), axis=1) <= self.near) & (self.labels == label)
            if np.count_nonzero(there) > 1:
                there &= self._attached_alike(R, i)
            found.append(np.flatnonzero(there))
        return found

    def _attached_alike(self, R: Array, i: int) -> Mask:
        """Which places have neighbours where R puts those of place i."""
        sums = {kind: R @ total for kind, total in self._neighbours[i].items()}
        return np.array([_alike(sums, other, self.near) for other in self._neighbours])

    @cached_property
    def _neighbours(self) -> list[Mapping[tuple[str, int], Array]]:
        """For every place, by kind of element and its own end: the sum of the positions of what it is joined to."""
        structure = self.system.structure
        number = {place.name: i for i, place in enumerate(self.places)}
        owner = {name: number[getattr(place, "on", name)] for name, place in structure.places.items()}
        found: list[dict[tuple[str, int], Array]] = [
            defaultdict(lambda: np.zeros(self.points.shape[1])) for _ in number
        ]
        for element in structure.elements:
            ends = [owner[name] for name in element.places]
            for one in ends:
                found[one][type(element).__name__, len(ends)] += np.sum(self.points[ends], axis=0)
        return list(found)

    def _matrix(self, R: Array, images: tuple[int, ...]) -> Array | None:
        """The action on all coordinates, or None where supports do not agree."""
        structure = self.system.structure
        M = np.zeros((self.system.n, self.system.n))
        for i, j in enumerate(images):
            T = self._action(self.places[i], self.places[j], R)
            if T is None:
                return None
            source, target = (_coordinates(structure, self.places[k]) for k in (i, j))
            if np.any(np.abs(T[np.ix_(target < 0, source >= 0)]) > NEAR):
                return None
            M[np.ix_(target[target >= 0], source[source >= 0])] = T[np.ix_(target >= 0, source >= 0)]
        return M if self._carry_inner(M, images) else None

    def _action(self, place: Place, image: Place, R: Array) -> Array | None:
        """How displacements of a place become those of its image: vectors turn, angles and rotations as axial ones."""
        if isinstance(place, Guided) and isinstance(image, Guided):
            plain = Start({}, self.system.parameters)
            along = float(_unit(plain.vector(image.along)) @ R @ _unit(plain.vector(place.along)))
            return np.array([[np.sign(along)]]) if abs(abs(along) - 1.0) <= NEAR else None
        if isinstance(place, Body):
            sense = np.linalg.det(R)
            return np.asarray(block_diag(R, sense if len(R) == 2 else sense * R))
        return R

    def _carry_inner(self, M: Array, images: tuple[int, ...]) -> bool:
        """Fill in the internal coordinates: those of an element go to the element at the image of its places."""
        structure = self.system.structure
        number = {place.name: i for i, place in enumerate(self.places)}
        holders = [element for element in structure.elements if structure.inner[element.name]]
        left = list(holders)
        for element in holders:
            ends = sorted(images[number[getattr(structure.places[a], "on", a)]] for a in element.places)
            match = next((other for other in left if self._joins(other, type(element), ends, number)), None)
            if match is None:
                return False
            left.remove(match)
            M[structure.inner[match.name], structure.inner[element.name]] = 1.0
        return True

    def _joins(self, element: Any, kind: type, ends: list[int], number: Mapping[str, int]) -> bool:
        places = self.system.structure.places
        own = sorted(number[getattr(places[a], "on", a)] for a in element.places)
        return type(element) is kind and own == ends


def _alike(sums: Mapping[tuple[str, int], Array], other: Mapping[tuple[str, int], Array], near: float) -> bool:
    if sums.keys() != other.keys():
        return False
    return all(float(np.max(np.abs(total - other[kind]))) <= near * len(sums) for kind, total in sums.items())


def _coordinates(structure: Any, place: Place) -> Indices:
    """Coordinate of every slot of a place, −1 where it is held."""
    return np.array([structure.index.get(int(slot), -1) for slot in structure.slots[place.name]], dtype=np.intp)


def _unit(v: Array) -> Array:
    return np.asarray(v / np.linalg.norm(v))


def _orthonormal(Y: Array) -> Array:
    """(d, d) rows: Gram–Schmidt of d − 1 points, then their normal, so that the determinant is 1."""
    rows: list[Array] = []
    for y in Y:
        rows.append(_unit(y - sum((row * (row @ y) for row in rows), np.zeros(len(y)))))
    last = np.array([-rows[0][1], rows[0][0]]) if len(rows[0]) == 2 else np.cross(rows[0], rows[1])
    return np.array([*rows, last])


def _along_axes(d: int) -> Iterator[Array]:
    """Turns and reflections that permute the axes: what is tried where points do not span the structure."""
    for order in permutations(range(d)):
        for signs in product((1.0, -1.0), repeat=d):
            yield np.diag(signs)[list(order)]
