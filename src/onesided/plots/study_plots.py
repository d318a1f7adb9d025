"""Pictures of studies: curves over one parameter, maps over two, bands of random cases, where events lie."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch
from numpy.typing import NDArray

from onesided.base.errors import UsageError
from onesided.plots.palette import ACCENT, GREY, PALE
from onesided.plots.style import COLOURS, MARKS, new_axes, settings
from onesided.results.many_paths import ManyPaths
from onesided.results.named import label_of
from onesided.results.path import Kind
from onesided.results.studied import Study
from onesided.results.study_cases import SAMPLE

MOST_CURVES = 12
MOST_MARKS = 5_000  # that a picture of lines can hold
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


def response(
    study: Study, y: str = "limit_load", x: str | None = None, *, ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw a number over one parameter: a curve for every value of the others, points for a sample without a grid.

    Parameters
    ----------
    y : a column of the study;  x : an axis of the grid, or a parameter of the sample; by default the first.
    """
    axes = new_axes() if ax is None else ax
    name = _known(study, x or study.cases.names[0])
    with settings():
        if name in study.cases.sample:
            axes.plot(*study.together(name, y), ".", color=COLOURS[0], markersize=3.0)
        else:
            _curves(study, y, name, axes)
        _failures(study, name, axes)
        axes.set(xlabel=label_of(study, name), ylabel=label_of(study, y), title=title)
    return axes


def study_figure(
    study: Study, x: str | None = None, y: str | None = None, *, ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw a study as what it varies suggests: a map of a grid of two, how a sample spreads, or curves over x.

    Parameters
    ----------
    x : a parameter, for curves over it;  y : a column, by default the load of the first instability, where it is kept.
    """
    first = [name for name in ("instability_load", *study.keys()) if name in study and name not in study.cases.names]
    value = y or next(name for name in first if name != "case")
    if x is None and study.cases.sample:
        return bands(study, value, ax=ax, title=title)
    if x is None and len(study.cases.axes) == 2:
        return study_map(study, value, ax=ax, title=title)
    return response(study, value, x, ax=ax, title=title)


def _known(study: Study, name: str) -> str:
    if name not in study.cases.names:
        raise UsageError(f"'{name}' is not varied", expected="one of " + ", ".join(study.cases.names))
    return name


def _curves(study: Study, y: str, x: str, axes: Axes) -> None:
    """One curve along x for every point of the other dimensions; the first of them where they are many."""
    along = study.cases.dimensions.index(x)
    values = np.moveaxis(study.grid(y).astype(float), along, -1)
    others = [name for name in study.cases.dimensions if name != x]
    for i, index in enumerate(list(np.ndindex(values.shape[:-1]))[:MOST_CURVES]):
        label = ", ".join(_labelled(study, name, k) for name, k in zip(others, index, strict=True))
        marker = MARKS[i // len(COLOURS) % len(MARKS)]
        axes.plot(study.cases.axes[x], values[index], color=COLOURS[i % len(COLOURS)], marker=marker, markersize=2.5,
                  linewidth=1.2, label=label)  # fmt: skip
    if others and axes.get_lines():
        axes.legend()


def _labelled(study: Study, name: str, index: int) -> str:
    return f"sample {index}" if name == SAMPLE else f"{name} = {study.cases.axes[name][index]:.4g}"


def _failures(study: Study, x: str, axes: Axes) -> None:
    """Marks at the foot of the picture where a case failed."""
    place, ok = study.together(x, "ok")
    failed = place[~ok.astype(bool)]
    if len(failed):
        axes.plot(failed, np.zeros(len(failed)), "x", color=ACCENT, transform=axes.get_xaxis_transform(), clip_on=False)


def study_map(
    study: Study,
    value: str = "instability_load",
    x: str | None = None,
    y: str | None = None,
    *,
    ax: Axes | None = None,
    title: str = "",
) -> Axes:
    """Draw a column over two axes of the grid: numbers as colours with a scale, texts (kinds of events) as areas.

    Parameters
    ----------
    value : "instability_load", "dissipated", "first_event", "instability_kind" …
    x, y : axes, by default the first two.
    """
    names = list(study.cases.axes)
    if len(names) < 2 or len({x or names[0], y or names[1]}) < 2:
        raise UsageError("a map needs two axes", got=", ".join(names) or "no grid", expected="over={name: …, name: …}")
    x, y = _axis(study, x or names[0]), _axis(study, y or names[1])
    cells = _plane(study, value, x, y)
    axes = new_axes() if ax is None else ax
    edges = study.cases.axes[x], study.cases.axes[y]
    with settings():
        if cells.dtype == object:
            _areas(cells, edges, axes)
        else:
            drawn = axes.pcolormesh(*edges, cells, shading="nearest", cmap="viridis", rasterized=cells.size > 10_000)
            axes.figure.colorbar(drawn, ax=axes, label=label_of(study, value))
        axes.grid(visible=False)
        axes.set_facecolor(PALE)  # what is not known
        axes.set(xlabel=label_of(study, x), ylabel=label_of(study, y), title=title)
    return axes


def _axis(study: Study, name: str) -> str:
    if name not in study.cases.axes:
        raise UsageError(f"'{name}' is no axis of the grid", expected="one of " + ", ".join(study.cases.axes))
    return name


def _plane(study: Study, value: str, x: str, y: str) -> NDArray[Any]:
    """The column as rows along y and columns along x; of further dimensions the first value."""
    whole, order = study.grid(value), list(study.cases.dimensions)
    moved = np.moveaxis(whole, (order.index(y), order.index(x)), (-2, -1))
    return np.asarray(moved[(0,) * (moved.ndim - 2)])


def _areas(cells: NDArray[Any], edges: Sequence[NDArray[Any]], axes: Axes) -> None:
    """A colour for every text; cells without one stay empty."""
    kinds = sorted({str(kind) for kind in cells.ravel() if kind})
    numbers = np.full(cells.shape, np.nan)
    for i, kind in enumerate(kinds):
        numbers[cells == kind] = i
    colours = [COLOURS[i % len(COLOURS)] for i in range(max(len(kinds), 1))]
    axes.pcolormesh(
        *edges, numbers, shading="nearest", cmap=ListedColormap(colours), vmin=-0.5, vmax=len(colours) - 0.5
    )
    known = [Patch(color=colour, label=kind) for colour, kind in zip(colours, kinds, strict=False)]
    axes.legend(handles=known, loc="upper left", bbox_to_anchor=(1.0, 1.0))  # beside the areas, as a scale stands


def bands(
    study: Study, y: str = "limit_load", x: str | None = None, *, ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw how a number spreads over the sample along one axis of the grid: median, 50 % and 90 % of the cases.

    Without a grid, the share of the cases that lie below each value.
    """
    if not study.cases.sample:
        raise UsageError("bands need a sample", got="a grid", expected="sample=…")
    axes = new_axes() if ax is None else ax
    with settings():
        if study.cases.axes:
            _spread_along(study, y, _axis(study, x or next(iter(study.cases.axes))), axes)
            axes.set(title=title)
        else:
            column = study[y].astype(float)
            values = np.sort(column[np.isfinite(column)])
            shares = np.arange(1, len(values) + 1) / max(len(column), 1)
            axes.step(values, shares, where="post", color=COLOURS[0])
            axes.set(xlabel=label_of(study, y), ylabel="share of the cases below", title=title)
    return axes


def _spread_along(study: Study, y: str, name: str, axes: Axes) -> None:
    along, place = study.cases.dimensions.index(name), study.cases.axes[name]
    spread = np.moveaxis(study.grid(y).astype(float), along, 0).reshape(len(place), -1)
    found = np.full((len(SHARES), len(spread)), np.nan)
    for i, row in enumerate(spread):
        if np.any(np.isfinite(row)):
            found[:, i] = np.nanquantile(row, SHARES)
    for low, high, alpha, label in ((0, -1, 0.2, "90 % of the cases"), (1, -2, 0.35, "50 %")):
        axes.fill_between(place, found[low], found[high], color=COLOURS[0], alpha=alpha, linewidth=0, label=label)
    axes.plot(place, found[2], color=COLOURS[0], label="median")
    axes.set(xlabel=label_of(study, name), ylabel=label_of(study, y))
    axes.legend()


def loci(study: Study, x: str | None = None, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw where every event of every case lies, over one parameter: a colour and a mark for each kind."""
    name, events = _known(study, x or study.cases.names[0]), study.events()
    place = study.cases.columns(events["case"])[name]
    return _marked((label_of(study, name), place), ("where events lie", events["at"]), events["kind"], ax, title)


def many_loci(found: ManyPaths, x: str | None = None, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw where the events of many paths lie, over one parameter (by default the first, or the number of the path)."""
    if x is not None and x not in found.parameters:
        raise UsageError(f"'{x}' is not varied", expected="one of " + ", ".join(found.parameters))
    name = x or next(iter(found.parameters), "")
    place = found.parameters[name][found.path] if name else found.path
    kinds = np.array([Kind[kind].value for kind in found.kind], dtype=object)
    return _marked((name or "path", place), (found.control, found.p), kinds, ax, title)


Labelled = tuple[str, NDArray[Any]]


def _marked(x: Labelled, y: Labelled, kinds: NDArray[Any], ax: Axes | None, title: str) -> Axes:
    """Points with a colour and a mark for each kind; as pixels where they are very many."""
    axes, many = new_axes() if ax is None else ax, len(kinds) > MOST_MARKS
    with settings():
        for i, kind in enumerate(sorted({str(kind) for kind in kinds})):
            here = kinds == kind
            axes.plot(x[1][here], y[1][here], MARKS[i % len(MARKS)], color=COLOURS[i % len(COLOURS)], markersize=3.0,
                      markeredgecolor=GREY, markeredgewidth=0.2, label=kind, rasterized=many)  # fmt: skip
        axes.set(xlabel=x[0], ylabel=y[0], title=title)
        if axes.get_lines():
            axes.legend()
    return axes
