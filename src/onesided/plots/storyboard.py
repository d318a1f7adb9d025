"""The story of a result in one figure: its diagram, and the system at the start, around each jump and at the end."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import ConnectionPatch

from onesided.base.errors import UsageError
from onesided.plots import badges
from onesided.plots.branches import default_axes, diagram, paths_of
from onesided.plots.configuration import Film, draw, enlarged, film_of, ghost, prepared
from onesided.plots.motion_plots import history
from onesided.plots.palette import ACCENT, GREY, INK, PALE
from onesided.plots.style import settings
from onesided.results import Diagram, Drive, Event, Motion, Path, column
from onesided.results.numbering import Numbered

MOST_THUMBNAILS = 6
MOST_ON_A_CARD = 4
CLOSE = 0.06  # of the width and height of the diagram: words would stand on each other
WHOLE, CARD = (9.2, 6.8), (5.0, 4.0)  # inches
SHORT_WORDS = 26  # characters above a thumbnail
Told = Path | Drive | Diagram | Motion


class Thumbnail(NamedTuple):
    """A picture of the film: its number there, words above it, the point of the diagram it belongs to."""

    picture: int
    words: str
    spot: tuple[float, float] | None
    shade: int | None = None
    colour: str = INK


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
    with settings():
        figure = Figure(figsize=CARD if card else WHOLE, layout="constrained")
        FigureCanvasAgg(figure)
        upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=(1.0, 2.1)).flat
        look: Any = {"projection": "3d"} if film.sketch.dimension == 3 else {}
        cells = list(upper.subplots(1, len(shown), squeeze=False, subplot_kw=look).flat)
        main = lower.subplots()
        main.set_facecolor("none")
        if isinstance(result, Motion):
            history(result, *([] if y is None else [y]), x=x or "t", ax=main)
        else:
            diagram(result, x=names[0], y=names[1], ax=main, legend=not card)
        for axes, one in zip(cells, shown, strict=True):
            _thumbnail(axes, film, _brief(one) if card else one)
        _connected(figure, cells, main, shown)
        if title:
            figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    return figure


def _axes_of(result: Told, x: str | None, y: str | None) -> tuple[str, str]:
    return (x or "t", y or "") if isinstance(result, Motion) else default_axes(paths_of(result), x, y)


def thumbnails(result: Told, names: tuple[str, str]) -> Iterator[Thumbnail]:
    """Start, before and after each jump (or each event where there are none), end, in order."""
    sizes = [len(result)] if isinstance(result, Path | Motion) else [len(path) for path in result.paths]
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    yield Thumbnail(0, "start", _spot(result, 0, 0, names))
    jumps = [one for one in result.numbered if not hasattr(one.what, "kind")]
    for one in jumps or result.numbered:
        here = int(begins[one.part]) + one.index
        if one in jumps and here + 1 < begins[-1]:
            yield Thumbnail(here, f"before {one.number}", _spot(result, one.part, one.index, names), None, ACCENT)
            yield Thumbnail(here + 1, f"after {one.number}", _spot(result, one.part + 1, 0, names), here, ACCENT)
        elif one not in jumps:
            yield Thumbnail(here, _short(one), _spot(result, one.part, one.index, names), 0)
    last = len(sizes) - 1
    yield Thumbnail(int(begins[-1]) - 1, "end", _spot(result, last, sizes[last] - 1, names), 0)


def _short(one: Numbered) -> str:
    """Number and kind; of contacts and cables what the key says, where that is short."""
    words = str(one.what.kind.value)
    if not isinstance(one.what, Event):
        return f"{one.number}  {words}, t = {one.what.t:.3g}"
    told = badges.few_words(one.what).partition(",")[0]
    return f"{one.number}  {told if len(told) <= SHORT_WORDS else words}"


def _spot(result: Told, part: int, index: int, names: tuple[str, str]) -> tuple[float, float] | None:
    """Where a point stands on the diagram; of a motion nowhere."""
    if isinstance(result, Motion):
        return None
    path = paths_of(result)[part]
    return float(column(path, names[0])[index]), float(column(path, names[1])[index])


def _chosen(found: list[Thumbnail], most: int) -> list[Thumbnail]:
    """As many as fit: the first, the last and those after the start."""
    return found if len(found) <= most else [*found[: most - 1], found[-1]]


def _brief(one: Thumbnail) -> Thumbnail:
    """With the number alone where a name follows it: on a card names would run into each other."""
    number, _, name = one.words.partition("  ")
    return one._replace(words=number) if name else one


def _thumbnail(axes: Axes, film: Film, one: Thumbnail) -> None:
    prepared(film, axes)
    if one.shade is not None:
        ghost(axes, film, one.shade)
    draw(axes, film, one.picture)
    axes.set_title(one.words, fontsize=8.5, fontweight="normal", color=one.colour, loc="center")


def _connected(figure: Figure, cells: list[Axes], main: Axes, shown: list[Thumbnail]) -> None:
    """Thin lines from the feet of thumbnails to their points; words at the points where lines would cross."""
    pairs = [(axes, one, one.spot) for axes, one in zip(cells, shown, strict=True) if one.spot is not None]
    crossing = any(later[0] < former[0] for (*_, former), (*_, later) in pairwise(pairs))
    for axes, _, spot in pairs:
        main.plot(*spot, ".", color=GREY, ms=4, zorder=3)
        if not crossing:
            look: dict[str, Any] = {"color": PALE, "lw": 0.9, "zorder": 0}
            figure.add_artist(ConnectionPatch((0.5, 0.0), spot, axes.transAxes, main.transData, **look))
    if crossing:  # the others have their number on the diagram
        _ends(main, [(one.words, spot) for _, one, spot in pairs if one.colour == INK and not one.words[0].isdigit()])


def _ends(main: Axes, told: list[tuple[str, tuple[float, float]]]) -> None:
    """Words at the start and the end; once where they would stand on each other, as at a closed loop."""
    places = main.transLimits.transform([spot for _, spot in told])
    if len(told) > 1 and np.all(np.abs(places[-1] - places[0]) < CLOSE):
        told = [(f"{told[0][0]}, {told[-1][0]}", told[0][1])]
    for words, spot in told:
        look: dict[str, Any] = {"xytext": (7, 0), "textcoords": "offset points", "ha": "left", "va": "center"}
        main.annotate(words, spot, color=GREY, fontsize=8.5, annotation_clip=False, **look)
