"""Lines, springs, circles, walls and faces of which drawings of systems are made."""

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from onesided.base.types import Array
from onesided.plots.palette import GREY, HUES, INK, PALE
from onesided.results.sketch import Ground, Silhouette, value

_WIDTHS = {"bar": 3.6, "spring": 1.3, "cable": 1.4, "beam": 4.2, "strut": 3.0, "body": 1.6}
COILS = 8


def plot_points(axes: Axes, points: Array, **look: Any) -> None:
    """A polyline, or markers, in two or three dimensions."""
    axes.plot(*points.T, **look)


def draw_line(axes: Axes, points: Array, style: str, size: float, chosen: Any = None) -> None:
    """A member in its style."""
    width = _WIDTHS[style]
    if style == "body":
        polygon(axes, points)
    elif style == "spring" and points.shape[1] == 2:
        for a, b in itertools.pairwise(points):
            plot_points(axes, spring(a, b, 0.02 * size), color=INK if chosen is None else chosen, lw=width)
    else:
        usual = HUES[0] if style in {"bar", "beam", "strut"} else INK
        colour = usual if chosen is None else chosen
        plot_points(axes, points, color=colour, lw=width, solid_capstyle="round")


def spring(a: Array, b: Array, amplitude: float) -> Array:
    """A zigzag from a to b with straight ends: (N, 2)."""
    along = b - a
    length = float(np.hypot(*along))
    if length == 0.0:
        return np.array([a, b])
    across = np.array([-along[1], along[0]]) / length * min(amplitude, length / 4)
    u = np.concatenate([[0.0], np.linspace(0.14, 0.86, 2 * COILS + 1), [1.0]])
    swing = np.concatenate([[0.0, 0.0], np.resize([1.0, -1.0], 2 * COILS - 1), [0.0, 0.0]])
    return a + u[:, None] * along + swing[:, None] * across


def polygon(axes: Axes, outline: Array) -> None:
    """Draw an outline, (points, 2 or 3), filled."""
    if outline.shape[1] == 3:
        draw_faces(axes, [outline])
    else:
        axes.fill(outline[:, 0], outline[:, 1], facecolor=PALE, edgecolor=INK, lw=1.6)


def draw_faces(axes: Axes, faces: list[Array]) -> None:
    """Draw faces in space, each an array (points, 3)."""
    axes.add_collection(Poly3DCollection(faces, facecolor=PALE, edgecolor=INK, lw=0.7, alpha=0.92))


def draw_ground(axes: Axes, ground: Ground, at: Array, now: Mapping[str, Array], size: float) -> None:
    """A wall with hatching, or a plane in space."""
    normal = np.array([value(component, now)[0] for component in ground.normal])
    normal = normal / (np.linalg.norm(normal) or 1.0)
    length = 2 * size if ground.length is None else float(value(ground.length, now)[0])
    if len(normal) == 3:
        _plane(axes, at, normal, min(length, size))
        return
    along = np.array([normal[1], -normal[0]])
    line = np.array([at - along * length / 2, at + along * length / 2])
    plot_points(axes, line, color=GREY, lw=1.6, zorder=0)
    depth = 0.03 * size
    for u in np.arange(0.0, length, 1.2 * depth):
        foot = line[0] + along * u
        if u >= depth:
            plot_points(axes, np.array([foot, foot - (along + normal) * depth]), color=GREY, lw=0.8, zorder=0)


def _plane(axes: Axes, at: Array, normal: Array, length: float) -> None:
    first = np.cross(normal, [1.0, 0.0, 0.0] if abs(normal[0]) < 0.9 else [0.0, 1.0, 0.0])
    first = first / np.linalg.norm(first) * length / 2
    second = np.cross(normal, first)
    corners = np.array([at + first, at + second, at - first, at - second, at + first])
    plot_points(axes, corners, color=GREY, lw=1.0)


def rings(centre: Array, radius: float) -> list[Array]:
    """A circle in the plane; in space a sphere by three of them."""
    turn = np.linspace(0.0, 2 * np.pi, 61)
    circle = radius * np.column_stack([np.cos(turn), np.sin(turn)])
    if len(centre) == 2:
        return [centre + circle]
    flat = np.column_stack([circle, np.zeros(len(turn))])
    return [centre + np.roll(flat, k, axis=1) for k in range(3)]


def direction(turn: float, dimension: int) -> Array:
    """The unit vector at an angle."""
    return np.array([np.cos(turn), np.sin(turn), 0.0])[:dimension]


def placed_outline(body: Silhouette, places: Mapping[str, Array], now: Mapping[str, Array]) -> Array:
    """The closed outline of a plane body where it is, in the plane."""
    turn = float(value(body.angle, now)[0])
    turned = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    return np.asarray(places[body.at][:2] + np.array([*body.outline, body.outline[0]]) @ turned)
