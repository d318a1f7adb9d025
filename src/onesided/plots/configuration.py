"""The system itself at one point of a result, drawn from its sketch in two or three dimensions."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from onesided.base.errors import UsageError
from onesided.base.types import Array, Mask
from onesided.plots.style import ALERT, COLOURS, GREY, INK, PALE, new_axes, settings
from onesided.results import Diagram, Drive, Equilibrium, Event, Path, Shape, State, dense
from onesided.results.sketch import Ground, Sketch, value

_WIDTHS = {"bar": 3.6, "spring": 1.3, "cable": 1.4, "beam": 4.2, "strut": 3.0, "body": 1.6}
COILS = 8
SAMPLES = 40  # pictures of which the size of turning bodies is taken
MATPLOTLIBS_VIEW, VIEW = (30, -60), (24, -35)  # elevation and azimuth


@dataclass(frozen=True, eq=False)
class Film:
    """Pictures of one result in a row: what any result must give to be drawn and animated.

    Attributes
    ----------
    sketch : how to draw;  columns : name → (M,) values of what the sketch needs.
    closed : (M, m) whether each unilateral constraint is closed;  names : of these constraints.
    captions : M short texts.
    """

    sketch: Sketch
    columns: Mapping[str, Array]
    names: tuple[str, ...]
    closed: Mask
    captions: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.captions)


def film(path: Path, wanted: int) -> Film:
    """Pictures along a path; `wanted` 0 takes the computed points only."""
    if path.sketch is None:
        raise no_sketch()
    fine = dense(path, wanted)
    p = fine.columns[path.control]
    captions = tuple(f"{path.control} = {a:.4g}   {_degree(d)}" for a, d in zip(p, fine.instability, strict=True))
    return Film(path.sketch, fine.columns, path.unilateral, fine.codes != State.inactive, captions)


def no_sketch() -> UsageError:
    """What to say where a system cannot be drawn."""
    return UsageError(
        "the result does not say how to draw the system",
        expected="a model with a [sketch] table, or System(sketch=…)",
        advice="add one and compute it again",
    )


def joined(films: list[Film]) -> Film:
    """Several films one after the other."""
    first = films[0]
    needed = first.sketch.names() or tuple(first.columns)[:1]
    return Film(
        first.sketch,
        {name: np.concatenate([part.columns[name] for part in films]) for name in needed},
        first.names,
        np.concatenate([part.closed for part in films]),
        tuple(caption for part in films for caption in part.captions),
    )


@singledispatch
def film_of(result: Any, wanted: int = 0) -> Film:
    """Pictures of any result, about `wanted` of them, or one for each computed point; other kinds register here."""
    raise UsageError("this cannot be drawn", got=type(result).__name__, expected="a Path, Drive or Diagram")


@film_of.register
def _(result: Path, wanted: int = 0) -> Film:
    return film(result, wanted)


@film_of.register(Drive)
@film_of.register(Diagram)
def _(result: Drive | Diagram, wanted: int = 0) -> Film:
    """All paths, one after the other."""
    if not result.paths:
        raise UsageError("the result holds no path", advice="look at its status and note")
    return joined([film(path, wanted) for path in result.paths])


@film_of.register
def _(result: Shape, wanted: int = 0) -> Film:
    """One picture."""
    caption = f"{result.control} = {result.p:.4g}"
    return Film(result.sketch, result.columns(), result.unilateral, np.array([result.closed], dtype=bool), (caption,))


@film_of.register(Equilibrium)
@film_of.register(Event)
def _(result: Equilibrium | Event, wanted: int = 0) -> Film:
    if result.shape is None:
        raise no_sketch()
    return film_of(result.shape)


def _degree(instability: int) -> str:
    return "" if instability == 0 else f"unstable ({instability})"


def sketch(result: Any, index: int = -1, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw the configuration at point `index` of a result, closed contacts highlighted; returns the axes."""
    found = film_of(result)
    if not -len(found) <= index < len(found):
        raise UsageError("there is no such point", got=str(index), expected=f"0 to {len(found) - 1}")
    axes = prepared(found, ax)
    draw(axes, found, index % len(found))
    axes.set_title(found.captions[index] if title is None else title)
    return axes


def prepared(found: Film, ax: Axes | None) -> Axes:
    """Axes with limits that hold every picture of the film."""
    solid = found.sketch.dimension == 3
    if ax is not None and solid != hasattr(ax, "set_zlim"):
        advice = 'figure.add_subplot(projection="3d")' if solid else "axes of the plane"
        raise UsageError(f"these axes cannot show a system in {found.sketch.dimension} dimensions", advice=advice)
    with settings():
        axes = ax if ax is not None else _solid_axes() if solid else new_axes(4.6, 4.2)
    low, high = extent(found)
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    if solid:
        flat: Any = axes
        flat.set_zlim(low[2], high[2])
        flat.set_box_aspect(high - low, zoom=1.35)
        if (flat.elev, flat.azim) == MATPLOTLIBS_VIEW:  # in which regular figures hide behind themselves
            flat.view_init(*VIEW)
    else:
        axes.set_aspect("equal")
    axes.set_axis_off()
    return axes


def _solid_axes() -> Axes:
    from matplotlib import pyplot as plt

    axes: Axes = plt.figure(figsize=(5.2, 4.6), layout="constrained").add_subplot(projection="3d")
    return axes


def extent(found: Film) -> tuple[Array, Array]:
    """Corners of a box around all pictures, with a margin."""
    places = found.sketch.positions(found.columns)
    parts = [*places.values()]
    for circle in found.sketch.circles:
        radius = np.abs(value(circle.radius, found.columns))[:, None]
        parts += [places[circle.centre] - radius, places[circle.centre] + radius]
    for body in found.sketch.bodies:
        reach = max(float(np.hypot(x, y)) for x, y in body.outline)
        parts += [places[body.at] - reach, places[body.at] + reach]
    for i in np.unique(np.linspace(0, len(found) - 1, SAMPLES).round().astype(int)) if found.sketch.solids else ():
        parts += corners_of(found.sketch, places, found.columns, int(i))
    points = np.concatenate(parts)
    points = points[np.all(np.isfinite(points), axis=1)]
    low, high = points.min(axis=0), points.max(axis=0)
    size = float(np.max(high - low)) or 1.0
    centre, half = (low + high) / 2, np.maximum((high - low) / 2, 0.25 * size) + 0.12 * size
    return centre - half, centre + half


def draw(axes: Axes, found: Film, i: int) -> None:
    """Draw picture i on prepared axes."""
    sketch = found.sketch
    now = {name: np.asarray(column)[i : i + 1] for name, column in found.columns.items()}
    places = {name: where[0] for name, where in sketch.positions(now).items()}
    low, high = extent(found)
    for ground in sketch.grounds:
        _ground(axes, ground, places[ground.at], now, float(np.max(high - low)))
    for circle in sketch.circles:
        ring, *others = _rings(places[circle.centre], float(value(circle.radius, now)[0]))
        _plot(axes, ring, color=INK, lw=1.6)
        for other in others:
            _plot(axes, other, color=INK, lw=0.8)
        if circle.angle is not None:
            turn = float(value(circle.angle, now)[0])
            rim = ring[0] - places[circle.centre]
            spoke = places[circle.centre] + np.linalg.norm(rim) * _direction(turn, len(rim))
            _plot(axes, np.array([places[circle.centre], spoke]), color=GREY, lw=1.0)
    for body in sketch.bodies:
        turn = float(value(body.angle, now)[0])
        turned = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        outline = places[body.at][:2] + np.array(body.outline) @ turned
        _polygon(axes, outline)
    _solids(axes, sketch, now)
    loose = slack(found, i)
    for line in sketch.lines:
        points = np.array([places[name] for name in line.points])
        if line.points in loose:
            _plot(axes, points, color=GREY, lw=1.2, ls=(0, (4, 2.5)))
        else:
            _line(axes, points, line.style, float(np.max(high - low)))
    _joints(axes, sketch, places)
    for names in highlights(found, i):
        where = np.array([places[name] for name in names])
        if len(names) == 1:
            _plot(axes, where, color=ALERT, marker="o", ms=11, mfc="none", mew=2.2, ls="", zorder=6)
        else:
            _plot(axes, where, color=ALERT, lw=4.5, alpha=0.55, zorder=1)


def highlights(found: Film, i: int) -> Iterator[tuple[str, ...]]:
    """Points and lines to be highlighted in picture i."""
    for name, closed in zip(found.names, found.closed[i], strict=True):
        if closed:
            yield from found.sketch.marks.get(name, ())


def slack(found: Film, i: int) -> set[tuple[str, ...]]:
    """Lines that belong to open constraints in picture i: cables without tension."""
    taut = set(highlights(found, i))
    return {part for parts in found.sketch.marks.values() for part in parts if len(part) > 1} - taut


def _plot(axes: Axes, points: Array, **look: Any) -> None:
    axes.plot(*points.T, **look)


def _line(axes: Axes, points: Array, style: str, size: float) -> None:
    width = _WIDTHS[style]
    if style == "body":
        _polygon(axes, points)
    elif style == "spring" and points.shape[1] == 2:
        for a, b in itertools.pairwise(points):
            _plot(axes, spring(a, b, 0.02 * size), color=INK, lw=width)
    else:
        colour = COLOURS[0] if style in {"bar", "beam", "strut"} else INK
        _plot(axes, points, color=colour, lw=width, solid_capstyle="round")


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


def _polygon(axes: Axes, outline: Array) -> None:
    if outline.shape[1] == 3:
        _faces(axes, [outline])
    else:
        axes.fill(outline[:, 0], outline[:, 1], facecolor=PALE, edgecolor=INK, lw=1.6)


def corners_of(sketch: Sketch, places: Mapping[str, Array], columns: Mapping[str, Array], i: int) -> list[Array]:
    """Corners of all solids in picture i: (K, 3) each."""
    return [
        solid.placed(places[solid.at][i], np.array([value(component, columns)[i] for component in solid.turn]))
        for solid in sketch.solids
    ]


def _solids(axes: Axes, sketch: Sketch, now: Mapping[str, Array]) -> None:
    """All solids as one collection, so that what is in front hides what is behind."""
    found = corners_of(sketch, sketch.positions(now), now, 0)
    pairs = zip(found, sketch.solids, strict=True)
    faces = [corners[list(face)] for corners, solid in pairs for face in solid.faces]
    if faces:
        _faces(axes, faces)


def _faces(axes: Axes, faces: list[Array]) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    axes.add_collection(Poly3DCollection(faces, facecolor=PALE, edgecolor=INK, lw=0.7, alpha=0.92))


def _joints(axes: Axes, sketch: Sketch, places: Mapping[str, Array]) -> None:
    names = {name for line in sketch.lines if line.style != "body" for name in line.points}
    for name in names:
        _plot(axes, places[name][None, :], color=INK, marker="o", ms=4.5, mfc="white", ls="", zorder=5)


def _ground(axes: Axes, ground: Ground, at: Array, now: Mapping[str, Array], size: float) -> None:
    normal = np.array([value(component, now)[0] for component in ground.normal])
    normal = normal / (np.linalg.norm(normal) or 1.0)
    length = 2 * size if ground.length is None else float(value(ground.length, now)[0])
    if len(normal) == 3:
        _plane(axes, at, normal, min(length, size))
        return
    along = np.array([normal[1], -normal[0]])
    line = np.array([at - along * length / 2, at + along * length / 2])
    _plot(axes, line, color=GREY, lw=1.6, zorder=0)
    depth = 0.03 * size
    for u in np.arange(0.0, length, 1.2 * depth):
        foot = line[0] + along * u
        if u >= depth:
            _plot(axes, np.array([foot, foot - (along + normal) * depth]), color=GREY, lw=0.8, zorder=0)


def _plane(axes: Axes, at: Array, normal: Array, length: float) -> None:
    first = np.cross(normal, [1.0, 0.0, 0.0] if abs(normal[0]) < 0.9 else [0.0, 1.0, 0.0])
    first = first / np.linalg.norm(first) * length / 2
    second = np.cross(normal, first)
    corners = np.array([at + first, at + second, at - first, at - second, at + first])
    _plot(axes, corners, color=GREY, lw=1.0)


def _rings(centre: Array, radius: float) -> list[Array]:
    """A circle in the plane; in space a sphere by three of them."""
    turn = np.linspace(0.0, 2 * np.pi, 61)
    circle = radius * np.column_stack([np.cos(turn), np.sin(turn)])
    if len(centre) == 2:
        return [centre + circle]
    flat = np.column_stack([circle, np.zeros(len(turn))])
    return [centre + np.roll(flat, k, axis=1) for k in range(3)]


def _direction(turn: float, dimension: int) -> Array:
    return np.array([np.cos(turn), np.sin(turn), 0.0])[:dimension]
