"""Films of results: the system in each picture, drawn from its sketch in two or three dimensions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, singledispatch
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from onesided.base.errors import UsageError
from onesided.base.types import Array, Mask
from onesided.plots import overlays
from onesided.plots.palette import ACCENT, GREY, INK, PALE
from onesided.plots.primitives import (
    direction,
    draw_faces,
    draw_ground,
    draw_line,
    placed_outline,
    plot_points,
    polygon,
    rings,
)
from onesided.plots.style import new_axes, settings
from onesided.results import Diagram, Drive, Equilibrium, Event, FallStates, Path, Shape, State, dense
from onesided.results.sketch import Sketch, value
from onesided.results.sketch_forces import TouchPoint

THINNEST, MARGIN = 0.25, 0.12  # of the size of a picture
SAMPLES = 40  # pictures of which the size of turning bodies is taken
MATPLOTLIBS_VIEW, VIEW = (30, -60), (24, -35)  # elevation and azimuth


@dataclass(frozen=True, eq=False)
class Film:
    """Pictures of one result in a row: what any result must give to be drawn and animated.

    Pictures of falls stand behind all others, and are not counted among them.

    Attributes
    ----------
    sketch : how to draw;  columns : name → (M,) values of what the sketch needs.
    closed : (M, m) whether each unilateral constraint is closed;  names : of these constraints.
    captions : M short texts.
    clock : (M,) when each picture is played: time of a motion, arc length of a path; one after the other without it.
    p : (M,) control parameter;  reactions : (M, m) of the constraints; empty where they are not known.
    scale : by how much displacements from the first picture are enlarged.
    jumps : (number of the first picture after it, words) of each jump;  begins : numbers at which parts begin.
    falls : numbers of the pictures on the way of a jump, by the number of the first picture after it.
    """

    sketch: Sketch
    columns: Mapping[str, Array]
    names: tuple[str, ...]
    closed: Mask
    captions: tuple[str, ...]
    clock: Array | None = None
    p: Array = field(default_factory=lambda: np.zeros(0))
    reactions: Array = field(default_factory=lambda: np.zeros((0, 0)))
    jumps: tuple[tuple[int, str], ...] = ()
    scale: float = 1.0
    begins: tuple[int, ...] = (0,)
    falls: Mapping[int, range] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.captions) - sum(len(numbers) for numbers in self.falls.values())

    @cached_property
    def loads(self) -> overlays.Strengths:
        """Strengths of the loads in all pictures."""
        return overlays.strengths(self.sketch, self.columns, self.p)

    @cached_property
    def reach(self) -> tuple[Array, Array]:
        """Corners of the box that holds all pictures."""
        return _reach(self)


def film(path: Path, wanted: int) -> Film:
    """Pictures along a path; `wanted` 0 takes the computed points only."""
    if path.sketch is None:
        raise no_sketch()
    fine = dense(path, wanted)
    p = fine.columns[path.control]
    captions = tuple(f"{path.control} = {a:.4g}   {_degree(d)}" for a, d in zip(p, fine.instability, strict=True))
    forces = np.array([fine.columns[f"reaction {name}"] for name in path.unilateral]).reshape(-1, len(p)).T
    closed, clock = fine.codes != State.inactive, fine.columns["arc length"]
    return Film(path.sketch, fine.columns, path.unilateral, closed, captions, clock, p, forces)


def no_sketch() -> UsageError:
    """What to say where a system cannot be drawn."""
    return UsageError(
        "the result does not say how to draw the system",
        expected="a model with a [sketch] table, or System(sketch=…)",
        advice="add one and compute it again",
    )


def joined(films: list[Film], jumps: Mapping[int, str] | None = None) -> Film:
    """Several films one after the other; `jumps` has words for those that lead from a part to the next."""
    first = films[0]
    needed = first.sketch.names() or tuple(first.columns)[:1]
    begins = np.concatenate([[0], np.cumsum([len(part) for part in films])]).astype(int)
    clocks = [np.zeros(len(part)) if part.clock is None else part.clock for part in films]
    shifts = np.concatenate([[0.0], np.cumsum([clock[-1] - clock[0] for clock in clocks])])
    return Film(
        first.sketch,
        {name: np.concatenate([part.columns[name] for part in films]) for name in needed},
        first.names,
        np.concatenate([part.closed for part in films]),
        tuple(caption for part in films for caption in part.captions),
        np.concatenate([clock - clock[0] + shift for clock, shift in zip(clocks, shifts, strict=False)]),
        np.concatenate([part.p for part in films]),
        np.concatenate([part.reactions for part in films]),
        jumps=tuple((int(begins[i + 1]), words) for i, words in (jumps or {}).items()),
        begins=tuple(begins[:-1].tolist()),
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
    jumps = dict(result.jump_places()) if isinstance(result, Drive) else {}
    told = {i: f"jump at {jump.control} = {jump.p:.4g}, {jump.energy:.4g} released" for i, jump in jumps.items()}
    whole = joined([film(path, wanted) for path in result.paths], told)
    ways = {i: jump.fall for i, jump in jumps.items() if jump.fall is not None}
    return _with_falls(whole, {i: (result.paths[i], fall) for i, fall in ways.items()})


def _with_falls(whole: Film, ways: Mapping[int, tuple[Path, FallStates]]) -> Film:
    """The film with pictures of the falls that end paths, by the number of the path."""
    falls, parts, last = dict[int, range](), list[Film](), len(whole)
    for i, (path, fall) in ways.items():
        caption = f"fall at {path.control} = {path.p[-1]:.4g}, not in real time"
        p, forces = np.full(len(fall), path.p[-1]), np.zeros(fall.gaps.shape)
        parts.append(
            Film(whole.sketch, fall.columns(path), whole.names, fall.closed, (caption,) * len(fall), None, p, forces)
        )
        falls[whole.begins[i + 1]] = range(last, last := last + len(fall))
    if not parts:
        return whole
    every = joined([whole, *parts])
    return replace(every, clock=whole.clock, jumps=whole.jumps, begins=whole.begins, falls=falls)


@film_of.register
def _(result: Shape, wanted: int = 0) -> Film:
    caption = f"{result.control} = {result.p:.4g}"
    closed = np.array([result.closed], dtype=bool)
    return Film(result.sketch, result.columns(), result.unilateral, closed, (caption,), p=np.array([result.p]))


@film_of.register(Equilibrium)
@film_of.register(Event)
def _(result: Equilibrium | Event, wanted: int = 0) -> Film:
    if result.shape is None:
        raise no_sketch()
    return film_of(result.shape)


def _degree(instability: int) -> str:
    return "" if instability == 0 else f"unstable ({instability})"


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
    axes: Axes = plt.figure(figsize=(5.2, 4.6), layout="constrained").add_subplot(projection="3d")
    return axes


def extent(found: Film, thin: float = THINNEST) -> tuple[Array, Array]:
    """Corners of a box around all pictures, with a margin; half its sides are at least that share of the longest."""
    low, high = found.reach
    size = float(np.max(high - low)) or 1.0
    centre, half = (low + high) / 2, np.maximum((high - low) / 2, thin * size) + MARGIN * size
    return centre - half, centre + half


def _reach(found: Film) -> tuple[Array, Array]:
    """Corners of the box that holds all pictures."""
    places = found.sketch.positions(found.columns)
    places = {name: where[0] + found.scale * (where - where[0]) for name, where in places.items()}
    parts = [*places.values()]
    for circle in found.sketch.circles:
        radius = np.abs(value(circle.radius, found.columns))[:, None]
        parts += [places[circle.centre] - radius, places[circle.centre] + radius]
    for body in found.sketch.bodies:
        reach = max(float(np.hypot(x, y)) for x, y in body.outline)
        parts += [places[body.at] - reach, places[body.at] + reach]
    if len(found.p):
        parts += overlays.room(found.sketch, places, found.loads)
    for i in np.unique(np.linspace(0, len(found) - 1, SAMPLES).round().astype(int)) if found.sketch.solids else ():
        parts += corners_of(found.sketch, places, found.columns, int(i))
    points = np.concatenate(parts)
    points = points[np.all(np.isfinite(points), axis=1)]
    return points.min(axis=0), points.max(axis=0)


def draw(axes: Axes, found: Film, i: int, colours: Mapping[str, Any] | None = None) -> None:
    """Draw picture i on prepared axes; `colours` has those of members that do not get the usual one."""
    sketch = found.sketch
    now = columns_at(found, i)
    places = places_at(found, i)
    low, high = extent(found)
    size = float(np.max(high - low))
    for ground in sketch.grounds:
        draw_ground(axes, ground, places[ground.at], now, size)
    overlays.draw_supports(axes, sketch, places, size)
    _rounds_and_bodies(axes, sketch, places, now)
    _solids(axes, sketch, now)
    loose, before = slack(found, i), slack(found, 0)
    for line in sketch.lines:
        points = np.array([places[name] for name in line.points])
        if line.points in loose and line.style == "cable":
            colour = GREY if line.points in before else ACCENT  # what changes is highlighted
            plot_points(axes, points, color=colour, lw=1.3, ls=(0, (4, 2.5)))
        else:
            if line.points in before - loose and line.style != "cable":
                plot_points(axes, points, color=ACCENT, lw=7.0, alpha=0.45, zorder=1)
            draw_line(axes, points, line.style, size, (colours or {}).get(line.name))
    _joints(axes, sketch, places)
    _contacts(axes, found, i, places, size)
    if len(found.p):
        overlays.draw_loads(axes, sketch, places, found.loads, i, size)


def columns_at(found: Film, i: int) -> dict[str, Array]:
    """What the sketch needs in picture i: name → (1,)."""
    return {name: np.asarray(column)[i : i + 1] for name, column in found.columns.items()}


def places_at(found: Film, i: int) -> dict[str, Array]:
    """Where all points are in picture i, deformations enlarged as the film says."""
    now = {name: where[0] for name, where in found.sketch.positions(columns_at(found, i)).items()}
    if found.scale == 1.0:
        return now
    rest = {name: where[0] for name, where in found.sketch.positions(columns_at(found, 0)).items()}
    return {name: rest[name] + found.scale * (where - rest[name]) for name, where in now.items()}


def _rounds_and_bodies(axes: Axes, sketch: Sketch, places: Mapping[str, Array], now: Mapping[str, Array]) -> None:
    for circle in sketch.circles:
        ring, *others = rings(places[circle.centre], float(value(circle.radius, now)[0]))
        plot_points(axes, ring, color=INK, lw=1.6)
        for other in others:
            plot_points(axes, other, color=INK, lw=0.8)
        if circle.angle is not None:
            turn = float(value(circle.angle, now)[0])
            rim = ring[0] - places[circle.centre]
            spoke = places[circle.centre] + np.linalg.norm(rim) * direction(turn, len(rim))
            plot_points(axes, np.array([places[circle.centre], spoke]), color=GREY, lw=1.0)
    for body in sketch.bodies:
        polygon(axes, placed_outline(body, places, now))


def _contacts(axes: Axes, found: Film, i: int, places: Mapping[str, Array], size: float) -> None:
    """Closed contacts as dots where they touch, with their reactions; those closed at first, now open, as rings."""
    now, touches = columns_at(found, i), dict[str, TouchPoint]()
    for name, closed, first in zip(found.names, found.closed[i], found.closed[0], strict=True):
        touch = overlays.touch_of(found.sketch, name, places, now, size) if closed or first else None
        if touch is not None:
            touches[name] = touch
        for names in found.sketch.marks.get(name, ()):
            if len(names) > 1 or not (closed or first):
                continue
            at = places[names[0]] if touch is None else overlays.touching(touch, places)
            look = {"mfc": ACCENT, "ms": 7.0, "mew": 0.0} if closed else {"mfc": "none", "ms": 8.0, "mew": 1.4}
            plot_points(axes, at[None, :], color=ACCENT, marker="o", ls="", zorder=6, **look)
    if len(found.reactions):
        forces = {name: float(force) for name, force in zip(found.names, found.reactions[i], strict=True)}
        overlays.draw_reactions(axes, touches, places, forces, (size, float(np.max(found.reactions, initial=0.0))))


def ghost(axes: Axes, found: Film, i: int = 0, colour: str = PALE, zorder: int = 0) -> None:
    """The outlines of picture i in thin lines, by default pale and below what is drawn later."""
    places, now = places_at(found, i), columns_at(found, i)
    outlines = [rings(places[one.centre], float(value(one.radius, now)[0]))[0] for one in found.sketch.circles]
    outlines += [placed_outline(body, places, now) for body in found.sketch.bodies]
    for line in found.sketch.lines:
        points = np.array([places[name] for name in line.points])
        outlines.append(np.vstack([points, points[:1]]) if line.style == "body" else points)
    for points in outlines:
        plot_points(axes, points, color=colour, lw=1.3, zorder=zorder)


def highlights(found: Film, i: int) -> Iterator[tuple[str, ...]]:
    """Points and lines to be highlighted in picture i."""
    for name, closed in zip(found.names, found.closed[i], strict=True):
        if closed:
            yield from found.sketch.marks.get(name, ())


def slack(found: Film, i: int) -> set[tuple[str, ...]]:
    """Lines that belong to open constraints in picture i: cables without tension."""
    taut = set(highlights(found, i))
    return {part for parts in found.sketch.marks.values() for part in parts if len(part) > 1} - taut


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
        draw_faces(axes, faces)


def _joints(axes: Axes, sketch: Sketch, places: Mapping[str, Array]) -> None:
    names = {name for line in sketch.lines if line.style != "body" for name in line.points}
    for name in names:
        plot_points(axes, places[name][None, :], color=INK, marker="o", ms=4.5, mfc="white", ls="", zorder=5)
