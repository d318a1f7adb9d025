"""Colours, dashes and markers: safe for the colour-blind, and distinct in black and white."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter

from onesided.base.types import Array
from onesided.plots.palette import ACCENT, GREY, GRID, HUES, INK, PAPER
from onesided.results import Kind
from onesided.results.named import label_of

COLOURS = (*HUES, ACCENT)
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*", "p", "h")

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MOST_LINES, MOST_NUMBERED = 300, 12  # of events across axes, and with their numbers
DASHED: Any = (0, (4, 2))
LONG_DASHED: Any = (0, (8, 2))

SETTINGS: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "text.color": INK,
    "axes.prop_cycle": cycler(color=[*HUES, ACCENT]),
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "text.parse_math": False,  # names come from strangers and are shown as they are
    "svg.fonttype": "path",
    "svg.hashsalt": "onesided",
    "pdf.fonttype": 42,
    "savefig.dpi": 200,
}


COLUMN = 3.5  # width of a column of a paper, in inches
PAPER_SETTINGS: Any = {
    "font.size": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 6.5,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.0,
}
FINE, WIDE_IN_PAPER = 0.7, 22  # share of lines and marks there, and characters of a line of the key
_FOR_PAPER: ContextVar[bool] = ContextVar("for_paper", default=False)


class EventMarker(NamedTuple):
    """How a kind of event is drawn."""

    shape: str
    filled: bool
    size: float = 7.0


MARKERS = {
    Kind.closes: EventMarker("v", filled=True),
    Kind.opens: EventMarker("^", filled=False),
    Kind.limit: EventMarker("o", filled=True),
    Kind.corner_limit: EventMarker("D", filled=True, size=6.5),
    Kind.smooth_bifurcation: EventMarker("s", filled=False),
    Kind.nonsmooth_bifurcation: EventMarker("*", filled=True, size=10.5),
    Kind.idle: EventMarker("d", filled=False, size=6.5),
    Kind.end: EventMarker("X", filled=True, size=8.0),
    Kind.jammed: EventMarker("P", filled=True, size=8.0),
    Kind.continuum: EventMarker("h", filled=False, size=8.5),
    Kind.bound: EventMarker("|", filled=True, size=6.0),
    Kind.user: EventMarker("p", filled=False, size=8.0),
    Kind.kink: EventMarker("H", filled=False, size=8.0),
}


def event_lines(axes: Axes, places: Sequence[float] | Array, numbers: Sequence[int] = ()) -> None:
    """Thin lines across the axes at events; of very many as many as can be distinguished; few are numbered."""
    found = np.asarray(places, dtype=float)
    if len(found) > MOST_LINES:
        found = np.unique(np.round((found - found.min()) / (np.ptp(found) or 1.0) * MOST_LINES), return_index=True)[1]
        found = np.asarray(places, dtype=float)[found]
    up: Any = axes.get_xaxis_transform()
    axes.vlines(found, 0.0, 1.0, transform=up, color=GREY, lw=0.7, ls=(0, (1, 2)), zorder=0)
    ring = {"boxstyle": "circle,pad=0.22", "fc": PAPER, "ec": INK, "lw": 0.9}
    for place, number in zip(places, numbers, strict=False) if len(numbers) <= MOST_NUMBERED else ():
        axes.text(place, 1.02, str(number), transform=up, ha="center", fontsize=7.5, bbox=ring)


def named_axes(axes: Axes, result: Any, x: str, chosen: Sequence[str], title: str) -> None:
    """Names of columns over column x: on the axes where there is one, in a key where there are several."""
    axes.set_xlabel(label_of(result, x))
    axes.set_ylabel(label_of(result, chosen[0]) if len(chosen) == 1 else "")
    axes.set_title(title)
    if len(chosen) > 1:
        axes.legend()


def powers_of_ten(axes: Axes) -> None:
    """A logarithmic scale upwards with plain text at its ticks: our texts are never parsed as formulas."""
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _power(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _power(value: float) -> str:
    return "10" + str(round(math.log10(value))).translate(_RAISED) if value > 0.0 else ""


@contextmanager
def settings() -> Iterator[None]:
    """Our look, for the figures made inside; the user's settings stay as they are."""
    with mpl.rc_context({**SETTINGS, **(PAPER_SETTINGS if _FOR_PAPER.get() else {})}):
        yield


@contextmanager
def paper() -> Iterator[None]:
    """Figures made inside suit a column of a paper: small type, the key below, no title; fonts go into the file."""
    token = _FOR_PAPER.set(True)
    try:
        with settings():
            yield
    finally:
        _FOR_PAPER.reset(token)


def in_paper(there: float, elsewhere: float) -> float:
    """A number for figures of papers, and for others."""
    return there if _FOR_PAPER.get() else elsewhere


def key_place() -> dict[str, Any]:
    """Where the key stands: beside the axes, in a paper below them."""
    if _FOR_PAPER.get():
        return {"loc": "outside lower center", "ncols": 2, "columnspacing": 1.2}
    return {"loc": "outside right upper", "alignment": "left"}


def new_axes(width: float = 6.4, height: float = 4.6) -> Axes:
    """Axes in a figure of their own, shown by notebooks and by `matplotlib.pyplot.show`."""
    with settings():
        figure, axes = plt.subplots(figsize=(width, height), layout="constrained")
    del figure
    return axes
