"""What acts on a drawn system: load arrows scaled with p, support symbols, reactions where contacts touch."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from onesided.base.types import Array
from onesided.plots.palette import ACCENT, GREY, INK, PAPER
from onesided.results.sketch import Sketch, value
from onesided.results.sketch_forces import Support, TouchPoint

LONGEST = 0.2  # of the largest arrow, as a share of the picture
SYMBOL = 0.035  # height of a support
AT_WALL = 0.03  # distance from a wall within which a point is at it
SHORTEST = 0.04  # share of the longest arrow below which nothing is drawn
TURN_RADIUS, WHOLE_TURN = 0.07, 1.5 * np.pi  # of the arc of a moment, and the angle of the largest

Places = Mapping[str, Array]


def draw_loads(axes: Axes, sketch: Sketch, places: Places, strengths: "Strengths", i: int, size: float) -> None:
    """Arrows that end at the points loads act on; the longest of the whole film is a fifth of the picture."""
    for load, force in zip(sketch.acting.loads, strengths.forces, strict=True):
        _arrow(axes, places[load.at], force[i] / strengths.largest * LONGEST * size, size, INK)
    for turn, moment in zip(sketch.acting.turns, strengths.moments, strict=True):
        _turn(axes, places[turn.at], float(moment[i]) / strengths.hardest, size)


@dataclass(frozen=True, eq=False)
class Strengths:
    """Loads in all pictures of a film: forces (M, d) and moments (M,), and the largest of either."""

    forces: tuple[Array, ...]
    moments: tuple[Array, ...]
    largest: float
    hardest: float


def strengths(sketch: Sketch, columns: Mapping[str, Array], p: Array) -> Strengths:
    """What loads are in all pictures; nothing where the control parameter is not known."""
    if not len(p):
        return Strengths((), (), 1.0, 1.0)
    grown = {True: p, False: np.ones(len(p))}
    forces = tuple(
        np.stack([value(part, columns) * grown[load.grows] for part in load.force], axis=-1)
        for load in sketch.acting.loads
    )
    moments = tuple(value(turn.moment, columns) * grown[turn.grows] for turn in sketch.acting.turns)
    sizes = [float(np.nanmax(np.linalg.norm(force, axis=1), initial=0.0)) for force in forces]
    hard = [float(np.nanmax(np.abs(moment), initial=0.0)) for moment in moments]
    return Strengths(forces, moments, max(sizes, default=0.0) or 1.0, max(hard, default=0.0) or 1.0)


def room(sketch: Sketch, places: Places, loads: Strengths) -> Iterator[Array]:
    """Where the tails of all arrows may be: a picture must make room for them."""
    size = float(np.max(np.ptp(np.concatenate([*places.values()]), axis=0)))
    for load, force in zip(sketch.acting.loads, loads.forces, strict=True):
        yield places[load.at] - force / loads.largest * LONGEST * 1.3 * size


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
    if known is not None:
        return replace(known, normal=tuple(float(value(part, now)[0]) for part in known.normal))
    if not marked:
        return None
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
    if not length >= SHORTEST * LONGEST * size:
        return
    if len(at) == 3:
        solid: Any = axes
        solid.quiver(*(at - along), *along, color=colour, lw=1.6, arrow_length_ratio=0.25)
        return
    style = {"arrowstyle": "-|>", "color": colour, "lw": 1.8, "mutation_scale": 13, "shrinkA": 0, "shrinkB": 3}
    axes.annotate("", tuple(at), xytext=tuple(at - along), arrowprops=style, zorder=7, annotation_clip=False)


def _turn(axes: Axes, at: Array, share: float, size: float) -> None:
    """A moment: an arc around a point with a head at its end, the longer the larger it is; counter-clockwise if > 0."""
    if not abs(share) >= SHORTEST:
        return
    angles = np.linspace(0.0, share * WHOLE_TURN, 60) + np.pi / 2 - share * WHOLE_TURN / 2
    radius = TURN_RADIUS * size
    axes.plot(at[0] + radius * np.cos(angles), at[1] + radius * np.sin(angles), color=INK, lw=1.8, zorder=7)
    ends = [at + radius * np.array([np.cos(a), np.sin(a)]) for a in (angles[-1] - 0.1 * np.sign(share), angles[-1])]
    style = {"arrowstyle": "-|>", "color": INK, "lw": 0, "mutation_scale": 13, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", tuple(ends[1]), xytext=tuple(ends[0]), arrowprops=style, zorder=7, annotation_clip=False)


def draw_supports(axes: Axes, sketch: Sketch, places: Places, size: float) -> None:
    """A triangle below a pin, with wheels where one axis is free; a wall across a clamped end; in space a square."""
    for support in sketch.acting.supports:
        at = places[support.at]
        if len(at) == 3:
            axes.plot(*at[:, None], marker="s", ms=5.5, color=GREY, ls="", zorder=4)
        elif support.clamped:
            _clamp(axes, at, SYMBOL * size, _outward(sketch, support.at, places))
        else:
            _support(axes, support, at, SYMBOL * size, _inward(sketch, support.at, places))


def _inward(sketch: Sketch, name: str, places: Places) -> float:
    """1 where the structure lies to the right of a support, −1 to its left."""
    others = np.mean([place[0] for place in places.values()])
    return 1.0 if others >= places[name][0] else -1.0


def _outward(sketch: Sketch, name: str, places: Places) -> Array:
    """Unit vector from a clamped end away from the members that leave it; down where there are none."""
    lines = [line.points for line in sketch.lines if name in line.points]
    away = sum((places[name] - places[other] for points in lines for other in points), np.zeros(2))
    size = float(np.linalg.norm(away))
    return np.asarray(away / size) if size > 0.0 else np.array([0.0, -1.0])


def _clamp(axes: Axes, at: Array, height: float, outward: Array) -> None:
    """A hatched wall across the end of a member."""
    across = np.array([-outward[1], outward[0]])
    _hatched(axes, np.array([at - across * height * 1.4, at + across * height * 1.4]), outward, height)


def _hatched(axes: Axes, line: Array, beyond: Array, height: float) -> None:
    """A line with short strokes on the side of what holds."""
    look: dict[str, Any] = {"color": GREY, "lw": 1.0, "zorder": 2}
    along = (line[1] - line[0]) / (np.linalg.norm(line[1] - line[0]) or 1.0)
    axes.plot(*line.T, **look)
    for share in np.linspace(0.1, 1.0, 5):
        start = line[0] + share * (line[1] - line[0])
        axes.plot(*np.array([start, start + (beyond - along) * height * 0.35]).T, **{**look, "lw": 0.7})


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
    _hatched(axes, np.array([base - across * height, base + across * height]), down, height)
