"""Pressure inside a closed surface in space: potential −pressure × enclosed volume."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp

from onesided.elements.contract import Acting, Element, Local, Quantity, Start
from onesided.elements.loads import component_names


@dataclass(frozen=True)
class SurfacePressure(Element):
    """Pressure inside a closed surface of triangles between places in space: potential −pressure × enclosed volume.

    It stays normal to the surface as that moves and has a potential all the same. With corners that turn
    counter-clockwise as seen from outside, a positive pressure pushes outwards.

    Parameters
    ----------
    faces : lists of the names of three places (or more: cut into triangles from the first), all turning alike; every
        edge belongs to two faces.
    pressure : force per area, per unit of p, or itself when `constant`.
    """

    faces: Sequence[Sequence[str]] = ()
    pressure: Quantity = 0.0
    constant: bool = False

    kind: ClassVar[str] = "surface_pressure"
    is_load: ClassVar[bool] = True
    dimensions: ClassVar[tuple[int, ...]] = (3,)

    @property
    def places(self) -> tuple[str, ...]:
        """The corners."""
        return tuple(dict.fromkeys(name for face in self.faces for name in face))

    def expand(self, places: Mapping[str, Any], parameters: Mapping[str, float]) -> Sequence[Element]:
        """One triangle after the other: the volume is a sum over them."""
        faces = [tuple(face) for face in self.faces]
        if not faces or any(len(face) < 3 or len(set(face)) < len(face) for face in faces):
            expected = "lists of three different places or more"
            raise self.error("its faces are not usable", got=str(self.faces), expected=expected)
        self._check_closed(faces)
        triangles = [(face[0], *face[i : i + 2]) for face in faces for i in range(1, len(face) - 1)]
        return [
            PressureTriangle(f"{self.name} on {'-'.join(corners)}", corners, self.pressure, self.constant)
            for corners in triangles
        ]

    def _check_closed(self, faces: Sequence[tuple[str, ...]]) -> None:
        """Every edge is passed once in either sense: otherwise there is no volume, and no potential."""
        edges = Counter(edge for face in faces for edge in zip(face, (*face[1:], face[0]), strict=True))
        for a, b in edges:
            if edges[a, b] > 1 or edges[b, a] != 1:
                why = "its faces do not turn alike" if edges[a, b] > 1 else "its surface is not closed"
                advice = "the pressure on an open surface has no potential: close it with faces between fixed places"
                raise self.error(f"{why} at the edge from '{a}' to '{b}'", advice=advice)


@dataclass(frozen=True)
class PressureTriangle(Element):
    """The share of one triangle in the potential of a pressure: of a closed surface alone, so no kind of its own."""

    corners: Sequence[str] = ()
    pressure: Quantity = 0.0
    constant: bool = False

    kind: ClassVar[str] = ""
    is_load: ClassVar[bool] = True
    dimensions: ClassVar[tuple[int, ...]] = (3,)

    @property
    def places(self) -> tuple[str, ...]:
        """The corners."""
        return tuple(self.corners)

    @property
    def variant(self) -> Hashable:
        """Constant or growing with p."""
        return self.constant

    def numbers(self, start: Start) -> dict[str, Any]:
        """The pressure."""
        return {"pressure": start.value(self.pressure)}

    def energy(self, at: Local) -> Any:
        """−pressure × a·(b × c)/6."""
        a, b, c = (frame.position for frame in at.frames)
        work = at.n.pressure * (a @ jnp.cross(b, c)) / 6.0
        return -work if self.constant else -at.p * work

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """Components of the whole force."""
        return component_names(dimension)

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """The force on this triangle, normal to it: pressure × area."""
        a, b, c = (frame.position for frame in at.frames)
        return tuple(at.n.pressure * (1.0 if self.constant else at.p) / 2.0 * jnp.cross(b - a, c - a))
