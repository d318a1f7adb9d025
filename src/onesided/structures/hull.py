"""Faces of the convex hull of a few points in space."""

import numpy as np

from onesided.base.tolerances import DEFAULT
from onesided.base.types import Array
from onesided.results.sketch import Component
from onesided.results.solids import Solid


def hull(at: str, turn: tuple[Component, ...], points: Array) -> Solid:
    """A solid with these corners; points in one plane are a plate, joined in the order given."""
    corners = tuple(tuple(float(x) for x in point) for point in points)
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    if len(points) < 4 or spread[-1] <= DEFAULT.rank * spread[0]:
        return Solid(at, turn, corners, (tuple(range(len(points))),))
    from scipy.spatial import ConvexHull

    found = ConvexHull(points)
    sides: dict[tuple[float, ...], set[int]] = {}
    for plane, corner in zip(found.equations, found.simplices, strict=True):
        sides.setdefault(tuple(np.round(plane[:3], 9)), set()).update(int(i) for i in corner)
    return Solid(at, turn, corners, tuple(_round(points, np.array(n), sorted(side)) for n, side in sides.items()))


def _round(points: Array, normal: Array, side: list[int]) -> tuple[int, ...]:
    """Corners of a face in the order of going round it."""
    middle = points[side].mean(axis=0)
    first = points[side[0]] - middle
    second = np.cross(normal, first)
    angles = [np.arctan2((points[i] - middle) @ second, (points[i] - middle) @ first) for i in side]
    return tuple(side[k] for k in np.argsort(angles))
