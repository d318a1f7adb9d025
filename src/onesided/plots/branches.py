"""The path diagram: p against a coordinate, stable and unstable parts, events, branches and jumps."""

import itertools
from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.plots import labels
from onesided.plots.style import ALERT, COLOURS, GREY, INK, MARKERS, dashes, degree_words, new_axes, settings
from onesided.results import Diagram, Drive, Event, Kind, Path, column, dense
from onesided.results.interpolated import DensePath
from onesided.results.named_series import members_of
from onesided.results.wording import sides

MOST_PIECES = 200  # of a path; where there are more, those of one degree of instability are drawn together
MOST_WORDS = 8  # with more events than this, labels are numbers only
MOST_NUMBERS = 60
LONG_WORDS = 34
MACHINE = "machine_force"  # member result: what the machine that moves p needs
WIDE_WORDS = 25  # three columns of longer words do not fit below a figure

Result = Path | Drive | Diagram


def diagram(
    result: Result,
    *,
    x: str | None = None,
    y: str | None = None,
    ax: Axes | None = None,
    title: str = "",
    legend: bool = True,
    words: bool = True,
) -> Axes:
    """Draw a path, a loading history or all branches; returns the axes.

    Parameters
    ----------
    x, y : names of what to draw: coordinates, measures, "energy", "arc length", "reaction NAME", "gap NAME", results of
        members; default: the coordinate that changes most, or the first measure of a structure, and the control
        parameter. Where p is a displacement: the force of the machine that moves p over p.
    ax : axes to draw on; default: a new figure.
    legend, words : whether to write a legend, and labels beside events and jumps.
    """
    paths = paths_of(result)
    x, y = default_axes(paths, x, y)
    axes = new_axes() if ax is None else ax
    with settings():
        curves = [_branch(axes, path, x, y, _colour(result, i)) for i, path in enumerate(paths)]
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.margins(0.1, 0.15)
        if title:
            axes.set_title(title)
        notes = _events(axes, paths, x, y)
        if isinstance(result, Drive):
            jumps, arrows = _history(axes, result, x, y)
            notes, curves = notes + jumps, curves + arrows
        if legend:
            _legend(axes, _handles(result, paths))
        if words:
            labels.place(axes, notes, curves)
    return axes


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
    return x or _default_measure(paths[0]) or default_coordinate(paths), y or paths[0].control


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


def _colour(result: Result, i: int) -> str:
    """One colour for each branch; those that leave the start in two directions are one branch."""
    if not isinstance(result, Diagram) or result.parents[i] < 0:
        return COLOURS[0]
    first = sum(parent < 0 for parent in result.parents)
    return COLOURS[1 + (i - first) % (len(COLOURS) - 1)]


def _branch(axes: Axes, path: Path, x: str, y: str, colour: str) -> Array:
    """One path in pieces of equal stability; returns its points for the labels to avoid."""
    column(path, x), column(path, y)
    curve = dense(path, names=(x, y))
    points = np.column_stack([curve.columns[x], curve.columns[y]])
    for line, degree in _lines(points, list(pieces(curve))):
        width = 2.0 if degree == 0 else 1.6
        axes.plot(line[:, 0], line[:, 1], color=colour, lw=width, ls=dashes(degree), solid_capstyle="round")
        if degree > 2:
            middle = line[len(line) // 2]
            axes.annotate(
                str(degree), tuple(middle), fontsize=7.5, color=colour, textcoords="offset points", xytext=(4, 4)
            )
    return points


def _lines(points: Array, found: list[tuple[int, int, int]]) -> Iterator[tuple[Array, int]]:
    """Polylines with their degrees of instability: one for each piece, or of very many one for each degree."""
    if len(found) <= MOST_PIECES:
        yield from ((points[begin : end + 1], degree) for begin, end, degree in found)
        return
    gap = np.full((1, 2), np.nan)
    for one in sorted({degree for _, _, degree in found}):
        parts = [np.vstack([points[begin : end + 1], gap]) for begin, end, degree in found if degree == one]
        yield np.vstack(parts), one


def pieces(curve: DensePath) -> Iterator[tuple[int, int, int]]:
    """Stretches of one degree of instability: first and last index, degree. A point belongs to the step it ends."""
    degree = curve.instability
    cuts = [0, *(np.flatnonzero(np.diff(degree[1:])) + 1).tolist(), len(degree) - 1]
    for begin, end in itertools.pairwise(cuts):
        if end > begin:
            yield begin, end, int(degree[end])


def _events(axes: Axes, paths: tuple[Path, ...], x: str, y: str) -> list[labels.Note]:
    """Markers of all events, each place once, and what to write beside them."""
    seen: dict[tuple[Kind, str, str], tuple[float, float, Event]] = {}
    for path in paths:
        values = column(path, x), column(path, y)
        for event in path.events:
            a, b = float(values[0][event.index]), float(values[1][event.index])
            seen.setdefault((event.kind, f"{a + 0.0:.4e}", f"{b + 0.0:.4e}"), (a, b, event))
    found = list(seen.values())
    special = [item for item in found if item[2].kind is not Kind.bound]
    if len(special) > MOST_NUMBERS:
        for kind in {event.kind for _, _, event in found}:
            places = np.array([item[:2] for item in found if item[2].kind is kind])
            _mark(axes, places[:, 0], places[:, 1], kind)
        return []
    for a, b, event in found:
        _mark(axes, np.array([a]), np.array([b]), event.kind)
    wordy = len(special) <= MOST_WORDS
    return [
        labels.Note(a, b, label(event, number) if wordy else str(number))
        for number, (a, b, event) in enumerate(special, 1)
    ]


def label(event: Event, number: int) -> str:
    """A few words on an event."""
    words = event.kind.value
    if event.kind in {Kind.closes, Kind.opens} and event.constraints:
        words = event.detail.split(";")[0].replace("'", "").removeprefix("contact ").removeprefix("contacts ")
        if len(words) > LONG_WORDS or not words:
            words = f"{len(event.constraints)} constraints {event.kind.name.removesuffix('s')}"
    return f"{number} {words}\n{event.control} = {event.p + 0.0:.5g}"


def _mark(axes: Axes, x: Array, y: Array, kind: Kind) -> None:
    marker = MARKERS[kind]
    colour = GREY if kind is Kind.bound else INK
    face = colour if marker.filled else "white"
    axes.plot(x, y, marker.shape, ms=marker.size, mfc=face, mec=colour, mew=1.2, zorder=5, clip_on=False)


def _history(axes: Axes, drive: Drive, x: str, y: str) -> tuple[list[labels.Note], list[Array]]:
    """Arrows along the paths, and dashed arrows for the jumps between them: notes, and lines for labels to avoid."""
    for path in drive.paths:
        curve = dense(path, names=(x, y))
        a, b = curve.columns[x], curve.columns[y]
        middle = len(a) // 2
        if middle > 0 and (np.ptp(a) > 0 or np.ptp(b) > 0):
            style = {"arrowstyle": "-|>", "color": COLOURS[0], "lw": 0, "mutation_scale": 18}
            axes.annotate("", (a[middle], b[middle]), xytext=(a[middle - 1], b[middle - 1]), arrowprops=style, zorder=4)
    notes, lines = [], []
    for i, jump in drive.jump_places():
        sides = ((drive.paths[i], -1), (drive.paths[i + 1], 0))
        ends = np.array([[column(path, name)[k] for name in (x, y)] for path, k in sides])
        style = {"arrowstyle": "-|>", "color": ALERT, "lw": 1.4, "ls": (0, (2, 1.5)), "mutation_scale": 14}
        axes.annotate("", ends[1], xytext=ends[0], arrowprops={**style, "shrinkA": 4, "shrinkB": 2}, zorder=4)
        notes.append(
            labels.Note(float(ends[:, 0].mean()), float(ends[:, 1].mean()), f"jump, {jump.energy:.4g} released", ALERT)
        )
        lines.append(ends)
    return notes, lines


def _handles(result: Result, paths: tuple[Path, ...]) -> list[Line2D]:
    degrees = sorted({int(d) for path in paths for d in path.instability[1:]})
    colour = INK if isinstance(result, Diagram) else COLOURS[0]
    handles = [Line2D([], [], color=colour, lw=1.8, ls=dashes(d), label=degree_words(d)) for d in degrees[:5]]
    kinds = sorted({event.kind for path in paths for event in path.events} - {Kind.bound}, key=lambda kind: kind.value)
    for kind in kinds:
        m = MARKERS[kind]
        face = INK if m.filled else "white"
        handles.append(
            Line2D([], [], ls="", marker=m.shape, ms=m.size - 1, mfc=face, mec=INK, label=_kind_words(kind, paths))
        )
    if isinstance(result, Diagram):
        groups: dict[str, list[str]] = {}
        for i in range(len(paths)):
            groups.setdefault(_colour(result, i), []).append(str(i))
        if len(groups) > 1 and len(paths) <= len(COLOURS) + 1:
            handles += [Line2D([], [], color=c, lw=2, label=f"branch {', '.join(n)}") for c, n in groups.items()]
    if isinstance(result, Drive) and result.jumps:
        handles.append(
            Line2D([], [], color=ALERT, lw=1.4, ls=(0, (2, 1.5)), label="jump at constant " + result.control)
        )
    return handles


def _kind_words(kind: Kind, paths: tuple[Path, ...]) -> str:
    """The name of a kind of event; where only cables close and open, that of what cables do."""
    plain = str(kind.value)
    if kind not in {Kind.closes, Kind.opens}:
        return plain
    named = {
        sides(path.provenance.get("closings", {}).get(name, ""))
        for path in paths
        for event in path.events
        if event.kind is kind
        for name in event.constraints
    }
    if len(named) != 1:
        return plain
    words = named.pop()
    return words.closes if kind is Kind.closes else words.opens


def _legend(axes: Axes, handles: list[Line2D]) -> None:
    """Below the axes where they have the figure for themselves, inside them elsewhere."""
    if len(handles) < 2:
        return
    figure = axes.figure
    if isinstance(figure, Figure) and len(figure.axes) == 1 and figure.get_layout_engine() is not None:
        wide = max(len(str(handle.get_label())) for handle in handles) > WIDE_WORDS
        ncols = 2 if wide else 3
        figure.legend(handles=handles, loc="outside lower center", ncols=ncols, handlelength=2.6, columnspacing=1.6)
    else:
        axes.legend(handles=handles, fontsize=7.5, handlelength=2.6)
