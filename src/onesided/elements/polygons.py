"""Convex polygons in the plane that stay apart."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

from onesided.base.types import Array
from onesided.elements.contact_keys import Rub, Rubbing, rub, velocity_at
from onesided.elements.contract import Element, Local, Rate, Start
from onesided.elements.relative import check_pair


@dataclass(frozen=True)
class PolygonContact(Rubbing):
    """Two bodies whose outlines, convex polygons, do not overlap.

    One gap per corner of either outline: its largest signed distance from the edge lines of the other polygon, zero
    exactly on that polygon's outline, and the distance from it near an edge. The reaction is the contact force, normal
    to the edge. Reactions of an edge that rests on an edge are those of its two ends.

    Corner to corner the gap has a kink: two edge lines are equally far, and one of them, the first, gives the normal.
    A corner that slides beyond the end of an edge is such a point: there the other body's corner takes over, and a path
    that stops there must be started again on the other side. Outside, off the corners, the gap is less than the true
    distance; its sign is right everywhere. Outlines that cross without a corner inside the other, which no continuous
    motion reaches, are not recognised.

    Parameters
    ----------
    bodies : names of two bodies with an `outline` of at least three corners; their sense of going round is free.
    """

    bodies: tuple[str, str] = ("", "")
    corners: tuple[int, ...] = field(default=(0, 0), repr=False)  # filled in when the structure is composed

    kind: ClassVar[str] = "polygon_contact"
    turns: ClassVar[bool] = True
    dimensions: ClassVar[tuple[int, ...]] = (2,)

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the two bodies that carry the polygons."""
        return tuple(self.bodies)

    @property
    def variant(self) -> Hashable:
        """Numbers of corners of the two polygons."""
        return self.corners

    def expand(self, places: Mapping[str, Any], parameters: Mapping[str, float]) -> Sequence[Element]:
        """Itself, knowing how many corners there are."""
        counts = [len(getattr(places.get(name), "outline", ())) for name in self.bodies]
        return (replace(self, corners=tuple(counts)),)

    @property
    def gap_names(self) -> tuple[str, ...]:
        """One per corner: `_<body>_corner1`, … of the first body, then of the second."""
        return tuple(
            f"_{body}_corner{i + 1}" for body, n in zip(self.bodies, self.corners, strict=True) for i in range(n)
        )

    def check(self, start: Start) -> None:
        """Two bodies with convex outlines."""
        check_pair(self, start, self.bodies, turning=True)
        for body in self.bodies:
            self._outline(start, body)

    def _outline(self, start: Start, body: str) -> Array:
        """Corners in the body's axes, counter-clockwise."""
        given = getattr(start.places[body], "outline", ())
        if len(given) < 3:
            raise self.error(
                f"'{body}' has no outline with three corners or more",
                got=f"{len(given)} corners",
                advice="Body(…, outline=[…]); for thin segments use segment_contact, which has a thickness",
            )
        points = np.array([start.vector(corner) for corner in given])
        edges = np.roll(points, -1, axis=0) - points
        following = np.roll(edges, -1, axis=0)
        turns = edges[:, 0] * following[:, 1] - edges[:, 1] * following[:, 0]
        angles = np.arctan2(turns, np.sum(edges * following, axis=1))
        if not (np.all(turns > 0) or np.all(turns < 0)) or round(abs(float(np.sum(angles))) / (2 * np.pi)) != 1:
            raise self.error(
                f"the outline of '{body}' is not convex",
                got=str(points.tolist()),
                expected="corners in order, no three in line",
            )
        return points if turns[0] > 0 else points[::-1]

    def numbers(self, start: Start) -> dict[str, Any]:
        """Corners of both, and how the second's come in the order of the names."""
        numbers: dict[str, Any] = {}
        for key, body in zip(("first", "second"), self.bodies, strict=True):
            numbers[key] = self._outline(start, body)
            numbers[f"{key}_given"] = np.array([start.vector(c) for c in start.places[body].outline])
        return numbers

    def gaps(self, at: Local) -> tuple[Any, ...]:
        """Corners of the first against the second, then the other way round."""
        return tuple(
            polygon_distance(at.frames[k].rotation.T @ (point - at.frames[k].position), outline)
            for k, outline, point in self._corners(at)
        )

    def _corners(self, at: Local) -> list[tuple[int, Any, Any]]:
        """For each gap the other body, its outline, and where the corner is."""
        a, b = at.frames
        here = [(1, at.n.second, a.position + a.rotation @ corner) for corner in at.n.first_given]
        return here + [(0, at.n.first, b.position + b.rotation @ corner) for corner in at.n.second_given]

    def touching(self, at: Local) -> tuple[tuple[Any, Any], ...]:
        """The corner; its body is pushed off the other's edge."""
        found = []
        for k, outline, point in self._corners(at):
            frame = at.frames[k]
            normal = nearest_edge(frame.rotation.T @ (point - frame.position), outline)[1]
            found.append((point, frame.rotation @ normal))
        return tuple(found)

    def rubbing(self, at: Local, rates: tuple[Rate, ...]) -> tuple[Rub, ...]:
        """Velocities of each corner against the other body, along its edge."""
        found = []
        for k, outline, point in self._corners(at):
            frame, own = at.frames[k], at.frames[1 - k]
            normal = frame.rotation @ nearest_edge(frame.rotation.T @ (point - frame.position), outline)[1]
            slide = velocity_at(own, rates[1 - k], point) - velocity_at(frame, rates[k], point)
            along = jnp.stack([-normal[1], normal[0]])[None]
            found.append(rub(slide, rates[1 - k].spin - rates[k].spin, normal, along))
        return tuple(found)


def polygon_distance(point: Any, corners: Any) -> Any:
    """Largest signed distance of a point from the edge lines of a convex polygon, corners counter-clockwise."""
    return nearest_edge(point, corners)[0]


def nearest_edge(point: Any, corners: Any, xp: Any = jnp) -> tuple[Any, Any]:
    """Largest signed distance of a point from the edge lines of a convex polygon, and the normal of that edge."""
    edges = xp.roll(corners, -1, axis=0) - corners
    normals = xp.stack([edges[:, 1], -edges[:, 0]], axis=1) / xp.sqrt(xp.sum(edges**2, axis=1))[:, None]
    distances = xp.sum(normals * (point - corners), axis=1)
    largest = xp.argmax(distances)  # one edge gives the normal, also where two are equally far
    return distances[largest], normals[largest]
