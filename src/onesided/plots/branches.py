"""The path diagram: p against a coordinate, stable and unstable parts, events, branches and jumps."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.plots import badges, labels
from onesided.plots.palette import ACCENT, HUES, INK, hue
from onesided.plots.strokes import MACHINE, Firmness, draw_path, stroke_handle, write_modes
from onesided.plots.style import new_axes, settings
from onesided.results import Diagram, Drive, Event, Kind, Path, column, dense
from onesided.results.named import label_of, shown_range, size_of
from onesided.results.named_series import members_of
from onesided.results.numbering import Numbered

MOST_BRANCHES = 9  # of more, one of each family is drawn
MOST_LISTED = 14  # families in the key
MOST_ROOTS = 2  # branches from the start, which have one colour
SMALL_MARKS = 0.55  # of markers where there are very many
WIDE = 56  # characters of a title that stands clear of the key beside it

Result = Path | Drive | Diagram


@dataclass(frozen=True, eq=False)
class Drawn:
    """A path on a diagram: its index in the result, the path, its colour, its name where it has one."""

    index: int
    path: Path
    colour: str
    name: str = ""


def diagram(
    result: Result,
    *,
    x: str | None = None,
    y: str | None = None,
    ax: Axes | None = None,
    title: str = "",
    legend: bool = True,
    words: bool = True,
    held: bool | None = None,
) -> Axes:
    """Draw a path, a loading history or all branches; returns the axes.

    Parameters
    ----------
    x, y : names of what to draw: coordinates, measures, "energy", "arc length", "reaction NAME", "gap NAME", results of
        members; default: the coordinate that changes most, or the first measure of a structure, and the control
        parameter. Where p is a displacement: the force of the machine that moves p over p.
    ax : axes to draw on; default: a new figure.
    legend, words : whether to write a key, and the numbers of events, as `result.numbered` has them.
    held : whether to tell what is stable only while the displacement is held; by default where p is one. Where p is a
        load of energy −p u, u is the displacement.
    """
    paths = paths_of(result)
    x, y = default_axes(paths, x, y)
    three = all(MACHINE in members_of(path) for path in paths) if held is None else held
    axes = new_axes(8.2, 4.8) if ax is None else ax
    shown = _shown(result, paths)
    with settings():
        strokes = [draw_path(axes, one.path, (x, y), one.colour, held=three) for one in shown]
        curves, looks = [points for points, _ in strokes], set().union(*(found for _, found in strokes))
        axes.set(xlabel=label_of(paths[0], x), ylabel=label_of(paths[0], y))
        axes.margins(0.1, 0.13)
        axes.autoscale_view()
        _without_round_off(axes, paths, (x, y))
        if title:
            axes.set_title(textwrap.fill(title, WIDE) if legend and badges.alone(axes) else title)
        events = [one for one in result.numbered if any(one.part == drawn.index for drawn in shown)]
        if legend:
            badges.draw_key(axes, _handles(result, shown, looks), events)
        spots = _mark_events(axes, paths, events, (x, y))
        if isinstance(result, Drive):
            arrows = _history(axes, result, (x, y))
            spots, curves = [*spots, *_jumps(axes, result, events, (x, y))], curves + arrows
        for one in shown if len(shown) <= MOST_LISTED else ():
            write_modes(axes, one.path, (x, y), one.colour, held=three)
        if words:
            named = list(_branch_names(axes, shown, curves)) if len(paths) <= MOST_BRANCHES else []
            labels.place(axes, [*badges.notes(spots), *named], curves)
    return axes


def _without_round_off(axes: Axes, paths: tuple[Path, ...], names: tuple[str, str]) -> None:
    """Limits as wide as a quantity is large where it does not change but for round-off."""
    limits: tuple[Any, Any] = (axes.set_xlim, axes.set_ylim)
    for name, limit in zip(names, limits, strict=True):
        values = np.concatenate([column(path, name) for path in paths])
        low, high = float(np.min(values)), float(np.max(values))
        shown = shown_range(low, high, size_of(paths[0], name))
        if shown != (low, high):
            limit(*shown)


def paths_of(result: Result) -> tuple[Path, ...]:
    """The paths of a result, at least one."""
    if not isinstance(result, Path | Drive | Diagram):
        raise UsageError("this cannot be drawn", got=type(result).__name__, expected="a Path, Drive or Diagram")
    paths = (result,) if isinstance(result, Path) else result.paths
    if not paths:
        raise UsageError("the result holds no path", advice="look at its status and note")
    return paths


def default_axes(paths: tuple[Path, ...], x: str | None, y: str | None) -> tuple[str, str]:
    """What to draw where nothing was said."""
    if x is None and y is None and all(MACHINE in members_of(path) for path in paths):
        return paths[0].control, MACHINE
    across = x or _default_measure(paths[0]) or default_coordinate(paths)
    return paths[0].control if x is None and across == y else across, y or paths[0].control


def _default_measure(path: Path) -> str:
    """The first measure that was stated for a structure; the others are there to draw it."""
    drawn = set() if path.sketch is None else set(path.sketch.names())
    stated = [name for name in path.measures if "." not in name and name not in drawn]
    return stated[0] if stated and len(members_of(path)) else ""


def default_coordinate(paths: tuple[Path, ...]) -> str:
    """The coordinate that changes most, over all paths."""
    low = np.min([path.q.min(axis=0) for path in paths], axis=0)
    high = np.max([path.q.max(axis=0) for path in paths], axis=0)
    return paths[0].coordinates[int(np.argmax(high - low))]


def _shown(result: Result, paths: tuple[Path, ...]) -> list[Drawn]:
    """What is drawn: every path, or one of each family of branches where there are many; each family has a colour."""
    if not isinstance(result, Diagram):
        return [Drawn(i, path, HUES[0]) for i, path in enumerate(paths)]
    roots = [i for i, parent in enumerate(result.parents) if parent < 0]
    groups = [family for family in result.families if family[0] not in roots]
    found = [Drawn(i, paths[i], HUES[0], str(i)) for i in roots]
    for number, family in enumerate(groups, 1):
        folded = len(paths) > MOST_BRANCHES
        for i in family[:1] if folded else family:
            images = f" × {len(family)}" if folded and len(family) > 1 else ""
            times = f" {result.times(i)}" if result.multiplicity else images
            own = HUES[1] if len(groups) >= len(HUES) else hue(number)  # colours that come again would tell nothing
            found.append(Drawn(i, paths[i], own, f"{i}{times}"))
    return found


def _handles(result: Result, shown: list[Drawn], looks: set[Firmness]) -> list[Line2D]:
    """Entries of the legend for the styles of lines that occur."""
    colour = INK if len({one.colour for one in shown}) > 1 else HUES[0]
    handles = [stroke_handle(look, colour) for look in Firmness if look in looks]
    if isinstance(result, Diagram) and len(result.paths) > MOST_BRANCHES:
        text = f"{len(result.paths)} branches in {len(result.families)} families,\none of each is drawn"
        handles.append(Line2D([], [], ls="", label=text))
        named = [one for one in shown if one.name]
        if len({one.colour for one in named}) < len(named) - MOST_ROOTS:
            return [*handles, Line2D([], [], ls="", label="each family: --kind families")]
        handles += [Line2D([], [], color=one.colour, lw=2.4, label=f"branch {one.name}") for one in named[:MOST_LISTED]]
        if len(named) > MOST_LISTED:
            handles.append(Line2D([], [], ls="", label=f"… {len(named) - MOST_LISTED} more families"))
    return handles


def _branch_names(axes: Axes, shown: list[Drawn], curves: list[Array]) -> Iterator[labels.Note]:
    """The number of each branch, near its middle, in its colour; nothing where there is one."""
    if sum(bool(one.name) for one in shown) < 2:
        return
    for one, points in zip(shown, curves, strict=False):
        if one.name:
            place = axes.transData.transform(points)
            along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(place, axis=0).T))])
            middle = points[int(np.searchsorted(along, 0.62 * along[-1]))]
            yield labels.Note(float(middle[0]), float(middle[1]), f"branch {one.name}", one.colour)


def _mark_events(
    axes: Axes, paths: tuple[Path, ...], events: Sequence[Numbered], names: tuple[str, str]
) -> list[badges.EventSpot]:
    """Markers of all events, each place once; returns where numbers go."""
    values = [(column(path, names[0]), column(path, names[1])) for path in paths]
    for (a, b), path in zip(values, paths, strict=True):
        ends = [event.index for event in path.events if event.kind is Kind.bound]
        if ends:
            badges.mark(axes, a[ends], b[ends], Kind.bound)
    special = [one for one in events if isinstance(one.what, Event)]
    places = [(float(values[one.part][0][one.index]), float(values[one.part][1][one.index]), one) for one in special]
    if len(special) > badges.most_badges():
        for kind in {one.what.kind for one in special}:
            here = np.array([place[:2] for place in places if place[2].what.kind is kind])
            badges.mark(axes, here[:, 0], here[:, 1], kind, SMALL_MARKS)
        return []
    spots = badges.merged(axes, places)
    for spot in spots:
        badges.mark(axes, np.array([spot.x]), np.array([spot.y]), spot.events[0].what.kind)
    return spots


def _history(axes: Axes, drive: Drive, names: tuple[str, str]) -> list[Array]:
    """Arrows along the paths, and dashed ones for the jumps between them, which are returned as lines to avoid."""
    for path in drive.paths:
        fine = dense(path, names=names)
        a, b = (fine.columns[name] for name in names)
        middle = len(a) // 2
        if middle > 0 and (np.ptp(a) > 0 or np.ptp(b) > 0):
            style: dict[str, Any] = {"arrowstyle": "-|>", "color": HUES[0], "lw": 0, "mutation_scale": 18}
            axes.annotate("", (a[middle], b[middle]), xytext=(a[middle - 1], b[middle - 1]), arrowprops=style, zorder=4)
    lines = []
    for i, _ in drive.jump_places():
        ends = _jump_ends(drive, i, names)
        style = {"arrowstyle": "-|>", **badges.JUMP, "mutation_scale": 14, "shrinkA": 4, "shrinkB": 2}
        axes.annotate("", ends[1], xytext=ends[0], arrowprops=style, zorder=4)
        lines.append(ends)
    return lines


def _jump_ends(drive: Drive, i: int, names: tuple[str, str]) -> Array:
    """Where a jump begins and lands: (2, 2)."""
    sides = ((drive.paths[i], -1), (drive.paths[i + 1], 0))
    return np.array([[column(path, name)[k] for name in names] for path, k in sides])


def jump_lines(result: Result, names: tuple[str, str]) -> list[Array]:
    """Where the arrows of jumps stand: (2, 2) each."""
    return [_jump_ends(result, i, names) for i, _ in result.jump_places()] if isinstance(result, Drive) else []


def _jumps(axes: Axes, drive: Drive, events: Sequence[Numbered], names: tuple[str, str]) -> list[badges.EventSpot]:
    """Where the numbers of jumps go: half-way; those of equal jumps are one."""
    followed = {i for i, _ in drive.jump_places()}
    jumps = [one for one in events if not isinstance(one.what, Event) and one.part in followed]
    if len(jumps) > badges.most_badges():
        return []
    middles = [_jump_ends(drive, one.part, names).mean(axis=0) for one in jumps]
    places = [(float(at[0]), float(at[1]), one) for at, one in zip(middles, jumps, strict=True)]
    return badges.merged(axes, places, ACCENT)
