"""Pressure inside a closed surface in space: potential −pressure × enclosed volume."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from onesided.elements.contract import Element
from onesided.elements.loads import PressureShare
from onesided.elements.schedules import Schedule


@dataclass(frozen=True)
class SurfacePressure(Element):
    """Pressure inside a closed surface of triangles between places in space: potential −pressure × enclosed volume.

    It stays normal to the surface as that moves and has a potential all the same. With corners that turn
    counter-clockwise as seen from outside, a positive pressure pushes outwards.

    Parameters
    ----------
    faces : lists of the names of three places (or more: cut into triangles from the first), all turning alike; every
        edge belongs to two faces.
    pressure : force per area, per unit of p, or itself when `constant`; then it may be a formula of the control
        parameter.
    """

    faces: Sequence[Sequence[str]] = ()
    pressure: Schedule = 0.0
    constant: bool = False

    kind: ClassVar[str] = "surface_pressure"
    is_load: ClassVar[bool] = True
    dimensions: ClassVar[tuple[int, ...]] = (3,)

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the corners of all faces, each once."""
        return tuple(dict.fromkeys(name for face in self.faces for name in face))

    def expand(self, places: Mapping[str, Any], parameters: Mapping[str, float]) -> Sequence[Element]:
        """One triangle after the other: the volume is a sum over them."""
        faces = [tuple(face) for face in self.faces]
        if not faces or any(len(face) < 3 or len(set(face)) < len(face) for face in faces):
            expected = "lists of three different places or more"
            raise self.error("its faces are not usable", got=str(self.faces), expected=expected)
        self._check_closed(faces)
        triangles = [(face[0], *face[i : i + 2]) for face in faces for i in range(1, len(face) - 1)]
        share = partial(PressureShare, pressure=self.pressure, constant=self.constant, control=self.control)
        return [share(f"{self.name} on {'-'.join(corners)}", corners) for corners in triangles]

    def _check_closed(self, faces: Sequence[tuple[str, ...]]) -> None:
        """Every edge is passed once in either sense: otherwise there is no volume, and no potential."""
        edges = Counter(edge for face in faces for edge in zip(face, (*face[1:], face[0]), strict=True))
        for a, b in edges:
            if edges[a, b] > 1 or edges[b, a] != 1:
                why = "its faces do not turn alike" if edges[a, b] > 1 else "its surface is not closed"
                advice = "the pressure on an open surface has no potential: close it with faces between fixed places"
                raise self.error(f"{why} at the edge from '{a}' to '{b}'", advice=advice)
