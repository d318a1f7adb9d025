"""Several configurations side by side: a result in a few pictures, modes of vibration."""

from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from onesided.base.errors import UsageError
from onesided.plots.configuration import Film, draw, film_of, no_sketch, prepared
from onesided.plots.style import settings
from onesided.results import Kind, Modes, Motion

FAINT = 0.22


def shapes(result: Any, *indices: int) -> Figure:
    """A figure of the configuration at some points of a result; default: start, first event, end."""
    found = film_of(result)
    chosen = indices or _telling(result, len(found))
    cells = row_of_axes(len(chosen), solid=found.sketch.dimension == 3)
    for axes, index in zip(cells, chosen, strict=True):
        if not -len(found) <= index < len(found):
            raise UsageError("there is no such point", got=str(index), expected=f"0 to {len(found) - 1}")
        picture(axes, found, index % len(found))
    return figure_of(cells)


def picture(axes: Axes, found: Film, index: int) -> None:
    """One picture of a film, with its caption."""
    prepared(found, axes)
    draw(axes, found, index)
    with settings():
        axes.set_title(found.captions[index], fontsize=9, fontweight="normal")


def _telling(result: Any, count: int) -> tuple[int, ...]:
    """Start, first event (or half-way), end; each once."""
    if isinstance(result, Motion):
        places = [int(np.argmin(np.abs(result.t - event.t))) for event in result.events]
    else:
        first = result.paths[0] if hasattr(result, "paths") else result
        places = [event.index for event in getattr(first, "events", ()) if event.kind is not Kind.bound]
    inner = [place for place in places if 0 < place < count - 1] or [count // 2]
    return tuple(dict.fromkeys([0, inner[0], count - 1]))


def mode_shapes(modes: Modes) -> Figure:
    """The slowest modes of vibration, exaggerated, over the configuration at rest."""
    if modes.sketch is None:
        raise no_sketch()
    count = len(next(iter(modes.swings.values()), np.zeros(1))) - 1
    names = [f"{w:.4g} rad/time" if w > 0 else f"grows, {-w:.4g}/time" for w in modes.frequencies[:count]]
    still = np.zeros((count + 1, 0), dtype=bool)
    found = Film(replace(modes.sketch, marks={}), modes.swings, (), still, ("at rest", *names))
    cells = row_of_axes(max(count, 1), solid=found.sketch.dimension == 3)
    for i, axes in enumerate(cells[:count], 1):
        prepared(found, axes)
        draw(axes, found, 0)
        for artist in [*axes.lines, *axes.patches, *axes.collections]:
            artist.set_alpha(FAINT)
        picture(axes, found, i)
    return figure_of(cells)


def row_of_axes(count: int, *, solid: bool = False) -> list[Axes]:
    """Axes in a row, on a figure without a window."""
    with settings():
        figure = Figure(figsize=(3.0 * count, 2.8), layout="constrained")
        FigureCanvasAgg(figure)
        look: Any = {"projection": "3d"} if solid else {}
        return list(figure.subplots(1, count, squeeze=False, subplot_kw=look).flat)


def figure_of(cells: list[Axes]) -> Figure:
    """The figure that axes stand on."""
    figure = cells[0].get_figure(root=True)
    if figure is None:
        raise UsageError("the axes stand on no figure")
    return figure
