"""Bodies in space as pictures show them: corners and faces that move and turn with a body."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onesided.base.errors import ModelError
from onesided.base.types import Array

Component = float | str
SIDES = 24  # of a disc
_BOX_FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


@dataclass(frozen=True)
class Solid:
    """A body in space: corners in axes that sit at a point and are turned by a rotation vector; faces join corners.

    Attributes
    ----------
    at : the point;  turn : three components of the rotation vector, each a number or a name.
    corners : in the body's own axes;  faces : numbers of corners, each in the order of going round.
    """

    at: str
    turn: tuple[Component, ...]
    corners: tuple[tuple[float, ...], ...]
    faces: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        known = range(len(self.corners))
        fits = len(self.turn) == 3 and all(len(corner) == 3 for corner in self.corners)
        if not fits or any(len(face) < 3 or any(i not in known for i in face) for face in self.faces):
            raise ModelError(
                f"the solid at '{self.at}' cannot be drawn",
                expected="a rotation vector and corners of three components, faces that name three corners or more",
            )

    @classmethod
    def box(cls, at: str, turn: Sequence[Component], size: Sequence[float]) -> "Solid":
        """A box about a point: lengths of its edges along the body's axes."""
        half = np.asarray(size, dtype=float) / 2
        signs = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
        corners = tuple(tuple(float(v) for v in half * sign) for sign in signs)
        return cls(at, tuple(turn), corners, _BOX_FACES)

    @classmethod
    def disc(cls, at: str, turn: Sequence[Component], radius: float, thickness: float = 0.0) -> "Solid":
        """A disc about the body's z axis."""
        angles = 2 * np.pi * np.arange(SIDES) / SIDES
        rim = [(float(radius * np.cos(a)), float(radius * np.sin(a))) for a in angles]
        low, high = ([(x, y, side * thickness / 2) for x, y in rim] for side in (-1, 1))
        if thickness == 0.0:
            return cls(at, tuple(turn), tuple(low), (tuple(range(SIDES)),))
        after = [*range(1, SIDES), 0]
        sides = tuple((i, after[i], SIDES + after[i], SIDES + i) for i in range(SIDES))
        ends = tuple(reversed(range(SIDES))), tuple(range(SIDES, 2 * SIDES))
        return cls(at, tuple(turn), (*low, *high), (*ends, *sides))

    def placed(self, where: Array, turn: Array) -> Array:
        """Corners in space: (K, 3), for one position and one rotation vector."""
        return where + np.array(self.corners) @ _rotation(turn).T


def _rotation(v: Array) -> Array:
    """Rotation matrix exp(v×), by Rodrigues' formula."""
    angle = float(np.linalg.norm(v))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = v / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turned: Array = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    return turned
