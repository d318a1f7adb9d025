"""What acts on a drawn system: load arrows scaled with p, support symbols, reactions where contacts touch."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from onesided.base.types import Array
from onesided.plots.palette import ACCENT, GREY, INK, PAPER
from onesided.results.sketch import Sketch, value
from onesided.results.sketch_forces import LoadArrow, Support, TouchPoint

LONGEST = 0.2  # of the largest arrow, as a share of the picture
SYMBOL = 0.035  # height of a support
AT_WALL = 0.03  # distance from a wall within which a point is at it
SHORTEST = 0.04  # share of the longest arrow below which nothing is drawn

Places = Mapping[str, Array]


def draw_loads(axes: Axes, sketch: Sketch, places: Places, p: Array, i: int, size: float) -> None:
    """Arrows that end at the points loads act on; the longest of the whole film is a fifth of the picture."""
    if not len(p) or not sketch.acting.loads:
        return
    reach = float(np.max(np.abs(p)))
    most = max(float(np.linalg.norm(load.now(reach))) for load in sketch.acting.loads)
    for load in sketch.acting.loads:
        force = np.array(load.now(float(p[i])))
        _arrow(axes, places[load.at], force / (most or 1.0) * LONGEST * size, size, INK)


def longest(load: LoadArrow, p: Array, points: Sequence[Array]) -> Array:
    """The longest arrow of a load in a film of these points, as a picture must make room for it."""
    size = float(np.max(np.ptp(np.concatenate(points), axis=0)))
    force = np.array(load.now(float(p[np.argmax(np.abs(p))])))
    return np.asarray(force / (np.linalg.norm(force) or 1.0) * LONGEST * 1.3 * size)


def draw_reactions(
    axes: Axes,
    touches: Mapping[str, TouchPoint],
    places: Places,
    forces: Mapping[str, float],
    size: tuple[float, float],
) -> None:
    """Arrows in the direction in which closed contacts push, that end where they touch; `size` of picture and force."""
    whole, largest = size
    for name, touch in touches.items():
        if forces[name] > 0.0:
            push = touch.direction(places) * forces[name] / (largest or 1.0) * LONGEST * whole
            _arrow(axes, touching(touch, places), push, whole, ACCENT)


def touching(touch: TouchPoint, places: Places) -> Array:
    """The point at which a contact touches."""
    return np.asarray(places[touch.at] - touch.reach * touch.direction(places))


def touch_of(sketch: Sketch, name: str, places: Places, now: Mapping[str, Array], size: float) -> TouchPoint | None:
    """Where a constraint touches: as stated, or at the wall that its point, or the circle around it, is at."""
    known = sketch.acting.touch(name)
    marked = [part[0] for part in sketch.marks.get(name, ()) if len(part) == 1]
    if known is not None or not marked:
        return known
    radius = next((abs(float(value(one.radius, now)[0])) for one in sketch.circles if one.centre == marked[0]), 0.0)
    best, least = None, AT_WALL * size
    for ground in sketch.grounds:
        normal = np.array([value(component, now)[0] for component in ground.normal])
        normal = normal / (np.linalg.norm(normal) or 1.0)
        far = abs(float(normal @ (places[marked[0]] - places[ground.at])) - radius)
        if far < least:
            best, least = TouchPoint(marked[0], tuple(normal.tolist()), radius), far
    return best


def _arrow(axes: Axes, at: Array, along: Array, size: float, colour: str) -> None:
    length = float(np.linalg.norm(along))
    if length < SHORTEST * LONGEST * size:
        return
    if len(at) == 3:
        solid: Any = axes
        solid.quiver(*(at - along), *along, color=colour, lw=1.6, arrow_length_ratio=0.25)
        return
    style = {"arrowstyle": "-|>", "color": colour, "lw": 1.8, "mutation_scale": 13, "shrinkA": 0, "shrinkB": 3}
    axes.annotate("", tuple(at), xytext=tuple(at - along), arrowprops=style, zorder=7, annotation_clip=False)


def draw_supports(axes: Axes, sketch: Sketch, places: Places, size: float) -> None:
    """A triangle below a pin, with wheels where one axis is free; in space a filled square."""
    for support in sketch.acting.supports:
        at = places[support.at]
        if len(at) == 3:
            axes.plot(*at[:, None], marker="s", ms=5.5, color=GREY, ls="", zorder=4)
        else:
            _support(axes, support, at, SYMBOL * size, _inward(sketch, support.at, places))


def _inward(sketch: Sketch, name: str, places: Places) -> float:
    """1 where the structure lies to the right of a support, −1 to its left."""
    others = np.mean([place[0] for place in places.values()])
    return 1.0 if others >= places[name][0] else -1.0


def _support(axes: Axes, support: Support, at: Array, height: float, inward: float) -> None:
    """The base lies below, or beside where only the horizontal axis is held."""
    down = np.array([0.0, -1.0]) if "y" in support.axes else np.array([-inward, 0.0])
    across = np.array([-down[1], down[0]])
    foot = at + down * height
    corners = np.array([at, foot - across * height * 0.7, foot + across * height * 0.7])
    look: dict[str, Any] = {"color": GREY, "lw": 1.0, "zorder": 2}
    axes.fill(*corners.T, facecolor=PAPER, edgecolor=GREY, lw=1.1, zorder=3)
    base = foot + (down * height * 0.5 if len(support.axes) == 1 else 0.0)
    if len(support.axes) == 1:
        for side in (-0.4, 0.4):
            wheel = foot + across * height * side + down * height * 0.25
            turn = np.linspace(0.0, 2 * np.pi, 25)
            axes.plot(wheel[0] + height * 0.25 * np.cos(turn), wheel[1] + height * 0.25 * np.sin(turn), **look)
    line = np.array([base - across * height, base + across * height])
    axes.plot(*line.T, **look)
    for share in np.linspace(0.1, 1.0, 5):
        start = line[0] + share * (line[1] - line[0])
        axes.plot(*np.array([start, start + (down - across) * height * 0.35]).T, **{**look, "lw": 0.7})
