"""Many branches on one sheet: a small diagram for each family that looks alike, and the system half-way along it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure, SubFigure

from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.plots.branches import default_axes
from onesided.plots.configuration import columns_at, film_of, ghost, places_at, prepared
from onesided.plots.overlays import touch_of, touching
from onesided.plots.palette import ACCENT, GREY, HUES, PALE
from onesided.plots.primitives import plot_points
from onesided.plots.still import enlarged
from onesided.plots.strokes import MACHINE, draw_path, write_modes
from onesided.plots.style import settings
from onesided.results import Diagram, Path, column, dense
from onesided.results.named import label_of
from onesided.results.named_series import members_of

ACROSS = 6  # families in a row
MOST_FAMILIES = 60
CELL = (2.5, 3.1)  # inches
TOP = 0.8  # inches for the title


def family_sheet(result: Diagram, *, x: str | None = None, y: str | None = None, title: str = "") -> Figure:
    """Draw one branch of each family on all others, pale; above it the system half-way along, over the first point.

    Parameters
    ----------
    x, y : what the small diagrams show, as of `diagram`.
    """
    if not isinstance(result, Diagram):
        raise UsageError("only a diagram has families of branches", got=type(result).__name__)
    families = result.families[:MOST_FAMILIES]
    names = default_axes(result.paths, x, y)
    rows = -(-len(families) // ACROSS)
    height = TOP + CELL[1] * rows
    with settings():
        figure = Figure(figsize=(CELL[0] * ACROSS, height), layout="constrained")
        FigureCanvasAgg(figure)
        head, sheet = figure.subfigures(2, 1, squeeze=False, height_ratios=(TOP, height - TOP)).flat
        head.suptitle(_heading(result, title), x=0.01, ha="left", fontsize=15, fontweight="bold")
        cells = sheet.subfigures(rows, min(ACROSS, len(families)), squeeze=False).flat
        backdrop = list(_backdrop(result, names))
        for cell, family in zip(cells, families, strict=False):
            _cell(cell, result, family, names, backdrop)
        figure.supxlabel(label_of(result.paths[0], names[0]), fontsize=13)
        figure.supylabel(label_of(result.paths[0], names[1]), fontsize=13)
    return figure


def _heading(result: Diagram, title: str) -> str:
    """How many there are, and what is missing."""
    told = f"{len(result.paths)} branches in {len(result.families)} families; n × m: branch n, and m in all like it"
    left = len(result.families) - MOST_FAMILIES
    more = [f"the first {MOST_FAMILIES} are drawn"] if left > 0 else []
    more += [] if result.complete else ["not complete"]
    return "\n".join(line for line in (title, "; ".join([told, *more])) if line)


def _backdrop(result: Diagram, names: tuple[str, str]) -> Iterator[Array]:
    for family in result.families:
        curve = dense(result.paths[family[0]], names=names)
        yield np.column_stack([curve.columns[name] for name in names])


def _cell(
    cell: SubFigure, result: Diagram, family: tuple[int, ...], names: tuple[str, str], backdrop: list[Array]
) -> None:
    path = result.paths[family[0]]
    drawn = path.sketch is not None
    solid: Any = {"projection": "3d"} if path.sketch is not None and path.sketch.dimension == 3 else {}
    grid = cell.add_gridspec(2 if drawn else 1, 1, height_ratios=(1.25, 1.0) if drawn else None)
    if drawn:
        _system(cell.add_subplot(grid[0], **solid), path)
    axes = cell.add_subplot(grid[1 if drawn else 0])
    axes.add_collection(LineCollection(backdrop, colors=PALE, linewidths=0.6, zorder=0))
    held = MACHINE in members_of(path)
    draw_path(axes, path, names, HUES[0], held=held)
    branches = [points for points, own in zip(backdrop, result.families, strict=True) if result.parents[own[0]] >= 0]
    every = np.concatenate(branches if branches and result.parents[family[0]] >= 0 else backdrop)
    axes.set(xlim=_wide(every[:, 0]), ylim=_wide(every[:, 1]))
    write_modes(axes, path, names, HUES[0], held=held)
    axes.plot(*(column(path, name)[_half(path)] for name in names), "o", color=ACCENT, ms=5, zorder=6)
    axes.tick_params(labelsize=9, length=2)
    axes.locator_params(nbins=3)
    times = f" × {len(family)}" if len(family) > 1 else ""
    cell.suptitle(f"{family[0]}{times}", fontsize=12, color=GREY)


def _wide(values: Array) -> tuple[float, float]:
    low, high = float(np.min(values)), float(np.max(values))
    room = 0.08 * (high - low) or 0.5
    return low - room, high + room


def _system(axes: Axes, path: Path) -> None:
    """Thin outlines half-way and at the start; contacts that have changed in between as dots, rings where open."""
    film = enlarged(film_of(path), None)
    prepared(film, axes)
    half = _half(path)
    ghost(axes, film)
    ghost(axes, film, half, HUES[0], 2)
    places, now = places_at(film, half), columns_at(film, half)
    for name, closed, first in zip(film.names, film.closed[half], film.closed[0], strict=True):
        touch = touch_of(film.sketch, name, places, now, 1.0) if closed != first else None
        if touch is not None:
            at = touching(touch, places)
            plot_points(
                axes, at[None], color=ACCENT, marker="o", ms=3.5, ls="", mfc=ACCENT if closed else "none", zorder=4
            )


def _half(path: Path) -> int:
    """Number of the first point beyond half the arc length."""
    return int(np.searchsorted(path.s, path.s[-1] / 2))
