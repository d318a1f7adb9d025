"""Curves along a result: reactions, gaps, energy."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.plots.branches import Result, paths_of
from onesided.plots.style import COLOURS, MARKS, event_lines, new_axes, settings
from onesided.results import Drive, Kind, Path, column, dense
from onesided.results.named import label_of
from onesided.results.wording import CONTACT, sides

MOST_CURVES = 8
_DASHES = ("solid", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)))


def reactions(result: Result, *, x: str | None = None, ax: Axes | None = None, title: str = "") -> Axes:
    """Reactions of the unilateral constraints along the path; `x` as in `diagram`, default the control parameter."""
    return _curves(result, "reaction", x, ax, title)


def gaps(result: Result, *, x: str | None = None, ax: Axes | None = None, title: str = "") -> Axes:
    """Gaps of the unilateral constraints along the path."""
    return _curves(result, "gap", x, ax, title)


def energy(result: Result, *, x: str | None = None, ax: Axes | None = None, title: str = "") -> Axes:
    """Energy of paths against p, or against another column."""
    paths = paths_of(result)
    axes = new_axes() if ax is None else ax
    with settings():
        shift = _shifts(result, paths, x)
        for i, path in enumerate(paths):
            curve = dense(path).columns
            colour = COLOURS[0] if isinstance(result, Drive) else COLOURS[i % len(COLOURS)]
            axes.plot(curve[x or path.control] + shift[i], curve["energy"], color=colour, lw=1.8)
            _event_lines(axes, path, x, shift[i])
        _finish(axes, label_of(paths[0], x or paths[0].control), label_of(paths[0], "energy"), title)
    return axes


def _curves(result: Result, quantity: str, x: str | None, ax: Axes | None, title: str) -> Axes:
    paths = paths_of(result)
    names = paths[0].unilateral
    if not names:
        raise UsageError("the system has no one-sided constraint", advice="plot the path or the energy")
    axes = new_axes() if ax is None else ax
    shown = _most_moving(paths, quantity)
    with settings():
        shift = _shifts(result, paths, x)
        for i, path in enumerate(paths):
            curve = dense(path).columns
            for k, name in enumerate(shown):
                axes.plot(
                    curve[x or path.control] + shift[i],
                    curve[f"{quantity} {name}"],
                    color=COLOURS[k % len(COLOURS)],
                    ls=_DASHES[k % len(_DASHES)],
                    marker=MARKS[k % len(MARKS)],
                    markevery=0.17,
                    ms=4,
                    lw=1.6,
                    label=name if i == 0 else None,
                )
            _event_lines(axes, path, x, shift[i])
        _finish(axes, label_of(paths[0], x or paths[0].control), _called(paths[0], quantity, shown), title)
        left_out = f"the {len(shown)} of {len(names)} that change most" if len(shown) < len(names) else None
        axes.legend(title=left_out, fontsize=8.5)
    return axes


def _called(path: Path, quantity: str, shown: list[str]) -> str:
    """What the quantity is called of these constraints: tension and slack where all are cables."""
    closings: Mapping[str, str] = path.provenance.get("closings", {})
    named = {sides(closings.get(name, "")) for name in shown}
    if len(named) > 1 or named == {CONTACT}:
        return quantity
    words = named.pop()
    return words.force if quantity == "reaction" else words.open


def _shifts(result: Result, paths: tuple[Path, ...], x: str | None) -> Array:
    """Arc length goes on from path to path of a loading history; nothing else is shifted."""
    if x != "arc length" or not isinstance(result, Drive):
        return np.zeros(len(paths))
    return np.concatenate([[0.0], np.cumsum([path.s[-1] for path in paths])[:-1]])


def _most_moving(paths: tuple[Path, ...], quantity: str) -> list[str]:
    arrays = [path.lam if quantity == "reaction" else path.gaps for path in paths]
    spread = np.max([np.ptp(array, axis=0) for array in arrays], axis=0)
    chosen = sorted(np.argsort(-spread, kind="stable")[:MOST_CURVES].tolist())
    return [paths[0].unilateral[i] for i in chosen]


def _event_lines(axes: Axes, path: Path, x: str | None, shift: float) -> None:
    places = [event.index for event in path.events if event.kind is not Kind.bound]
    event_lines(axes, column(path, x or path.control)[places] + shift)


def _finish(axes: Axes, x: str, y: str, title: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(title)
