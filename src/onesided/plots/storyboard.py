"""The story of a result in one figure: its diagram, and the system at the start, around each jump and at the end."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure

from onesided.base.errors import UsageError
from onesided.plots import badges, labels
from onesided.plots.branches import Result, default_axes, diagram, jump_lines, paths_of
from onesided.plots.configuration import Film, draw, extent, film_of, ghost, prepared
from onesided.plots.motion_plots import history, most_moving
from onesided.plots.palette import ACCENT, GREY, INK
from onesided.plots.still import enlarged
from onesided.plots.style import settings
from onesided.results import Diagram, Drive, Event, Motion, Path, column
from onesided.results.numbering import Numbered

MOST_THUMBNAILS = 6
MOST_ON_A_CARD = 4
MOST_CURVES_ON_A_CARD = 3
CLOSE = 0.06  # of the width and height of the diagram: words would stand on each other
WHOLE, CARD = (9.2, 6.8), (5.0, 4.0)  # inches
SHARES = 1.0, 2.1  # of the height: thumbnails, diagram
HEADING = 0.25  # inches above a thumbnail
LETTERS = 14.0  # per inch of these words
THIN = 0.08  # least height of a thumbnail, as half a share of its width, so that flat systems are drawn large
FEW_JOINTS, FINEST = 12, 0.45  # up to which marks have their usual size, and the smallest share of it
Told = Path | Drive | Diagram | Motion


class Thumbnail(NamedTuple):
    """A picture of the film: its number there, words above it, the point of the diagram it belongs to."""

    picture: int
    words: str
    spot: tuple[float, float] | None
    shade: int | None = None
    colour: str = INK
    event: Numbered | None = None

    def heading(self, most: int) -> str:
        """What stands above it, in so many characters: of an event its number and what happens, or the number."""
        if self.event is None:
            return self.words
        number, what = str(self.event.number), self.event.what
        room = most - len(number) - 2
        told = badges.brief(what, room) if isinstance(what, Event) else f"{what.kind.value}, t = {what.t:.3g}"
        return f"{number}: {told}" if 0 < len(told) <= room else number


def story(result: Told, *, x: str | None = None, y: str | None = None, title: str = "", card: bool = False) -> Figure:
    """Draw the diagram of a path, history or motion with thumbnails of the system: start, jumps or events, end.

    Parameters
    ----------
    x, y : what the diagram shows, as of `diagram`; of a motion `y` over `x`, by default over time.
    card : a small one without a key that can be read at the size of a card: start, the first jump or events, end.
    """
    if not isinstance(result, Told):
        raise UsageError("there is no story of this result", expected="a Path, Drive, Diagram or Motion")
    film = enlarged(film_of(result), None)
    names = _axes_of(result, x, y)
    shown = _chosen(list(thumbnails(result, names)), MOST_ON_A_CARD if card else MOST_THUMBNAILS)
    size = CARD if card else WHOLE
    with settings():
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=SHARES).flat
        cells = _cells(upper, film, len(shown), size)
        main = lower.subplots()
        main.set_facecolor("none")
        if isinstance(result, Motion):
            curves = most_moving(result, MOST_CURVES_ON_A_CARD) if card and y is None else [] if y is None else [y]
            history(result, *curves, x=x or "t", ax=main)
        else:
            diagram(result, x=names[0], y=names[1], ax=main, legend=not card)
            _ends(main, result, names, shown)
        for axes, one in zip(cells, shown, strict=True):
            _thumbnail(axes, film, one, 0 if card else int(LETTERS * size[0] / _columns(cells)))
        if title:
            figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    return figure


def _cells(part: SubFigure, film: Film, count: int, size: tuple[float, float]) -> list[Axes]:
    """Axes for thumbnails, in one row or two, whichever shows the system larger."""
    look: dict[str, Any] = {"projection": "3d"} if film.sketch.dimension == 3 else {}
    low, high = extent(film, THIN)
    width, height = (high - low)[:2]
    room = size[1] * SHARES[0] / sum(SHARES)

    def shown_as(rows: int) -> float:
        return float(min(size[0] / math.ceil(count / rows) / width, (room / rows - HEADING) / height))

    rows = 1 if look else max((1, 2), key=shown_as)
    cells = list(part.subplots(rows, math.ceil(count / rows), squeeze=False, subplot_kw=look).flat)
    for spare in cells[count:]:
        spare.remove()
    return cells[:count]


def _columns(cells: list[Axes]) -> int:
    """Of the grid that they stand in."""
    place = cells[0].get_subplotspec()
    return len(cells) if place is None else int(place.get_gridspec().ncols)


def _axes_of(result: Told, x: str | None, y: str | None) -> tuple[str, str]:
    return (x or "t", y or "") if isinstance(result, Motion) else default_axes(paths_of(result), x, y)


def thumbnails(result: Told, names: tuple[str, str]) -> Iterator[Thumbnail]:
    """Start, before and after each jump (or each event where there are none), end, in order.

    Of a motion to which nothing happens, moments at equal distances.
    """
    if isinstance(result, Motion) and not result.numbered:
        times = np.linspace(result.t[0], result.t[-1], MOST_ON_A_CARD)
        for i in np.searchsorted(result.t, times).clip(0, len(result) - 1):
            yield Thumbnail(int(i), f"t = {result.t[i]:.3g}", None, 0 if i else None)
        return
    sizes = [len(result)] if isinstance(result, Path | Motion) else [len(path) for path in result.paths]
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    yield Thumbnail(0, "start", _spot(result, 0, 0, names))
    jumps = [one for one in result.numbered if not hasattr(one.what, "kind")]
    for one in list(jumps or result.numbered)[:MOST_THUMBNAILS]:  # the others are never shown
        here = int(begins[one.part]) + one.index
        if one in jumps and here + 1 < begins[-1]:
            yield Thumbnail(here, f"before {one.number}", _spot(result, one.part, one.index, names), None, ACCENT)
            yield Thumbnail(here + 1, f"after {one.number}", _spot(result, one.part + 1, 0, names), here, ACCENT)
        elif one not in jumps:
            yield Thumbnail(here, "", _spot(result, one.part, one.index, names), 0, INK, one)
    last = len(sizes) - 1
    yield Thumbnail(int(begins[-1]) - 1, "end", _spot(result, last, sizes[last] - 1, names), 0)


def _spot(result: Told, part: int, index: int, names: tuple[str, str]) -> tuple[float, float] | None:
    """Where a point stands on the diagram; of a motion nowhere."""
    if isinstance(result, Motion):
        return None
    path = paths_of(result)[part]
    return float(column(path, names[0])[index]), float(column(path, names[1])[index])


def _chosen(found: list[Thumbnail], most: int) -> list[Thumbnail]:
    """As many as fit: the first, the last and those after the start."""
    return found if len(found) <= most else [*found[: most - 1], found[-1]]


def _thumbnail(axes: Axes, film: Film, one: Thumbnail, letters: int) -> None:
    prepared(film, axes)
    if film.sketch.dimension == 2:
        low, high = extent(film, THIN)
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    if one.shade is not None:
        ghost(axes, film, one.shade)
    draw(axes, film, one.picture)
    _finer(axes, film)
    axes.set_title(one.heading(letters), fontsize=8.5, fontweight="normal", color=one.colour, loc="center")


def _finer(axes: Axes, film: Film) -> None:
    """Marks, lines and arrows that suit a small picture of many joints, which would hide each other."""
    joints = len({name for line in film.sketch.lines for name in line.points})
    share = max(FINEST, min(1.0, math.sqrt(FEW_JOINTS / max(joints, 1))))
    for line in axes.lines:
        line.set(markersize=share * line.get_markersize(), linewidth=share * line.get_linewidth())
    for text in axes.texts:
        arrow = getattr(text, "arrow_patch", None)
        if arrow is not None:
            arrow.set(mutation_scale=share * arrow.get_mutation_scale(), linewidth=share * arrow.get_linewidth())


def _ends(main: Axes, result: Result, names: tuple[str, str], shown: Sequence[Thumbnail]) -> None:
    """Words at the start and the end, clear of all else; once where they would stand on each other, as at a loop."""
    told = [(one.words, one.spot) for one in shown if one.spot is not None]
    for _, spot in told:
        main.plot(*spot, ".", color=GREY, ms=4, zorder=3)
    (begin, start), *_, (last, end) = told
    places = main.transLimits.transform([start, end])
    once = bool(np.all(np.abs(places[1] - places[0]) < CLOSE))
    written = [(f"{begin}, {last}", start)] if once else [(begin, start), (last, end)]
    curves = [np.asarray(line.get_xydata()) for line in main.lines] + jump_lines(result, names)
    labels.place(main, [labels.Note(*spot, words, GREY) for words, spot in written], curves)
