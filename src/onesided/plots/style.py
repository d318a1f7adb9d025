"""Colours, dashes and markers: safe for the colour-blind, and distinct in black and white."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from onesided.results import Kind

# Okabe and Ito's palette, the dark ones first
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
INK, GREY, PALE, ALERT = "#1a1a1a", "#6b6b6b", "#d9d9d9", "#D55E00"
MARKS = ("o", "s", "^", "D", "v", "P", "X")

_DASHES: dict[int, Any] = {0: "solid", 1: (0, (5, 2)), 2: (0, (6, 2, 1.2, 2))}
_MORE: Any = (0, (1.2, 1.6))

SETTINGS: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#ececec",
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


def dashes(instability: int) -> Any:
    """Solid where stable, dashed with one negative mode, dash-dotted with two, dotted with more."""
    return _DASHES.get(instability, _MORE)


def degree_words(instability: int) -> str:
    """What a legend says of a degree of instability."""
    if instability == 0:
        return "stable"
    return f"unstable, {instability} negative mode{'s' if instability > 1 else ''}"


@contextmanager
def settings() -> Iterator[None]:
    """Our look, for the figures made inside; the user's settings stay as they are."""
    with mpl.rc_context(SETTINGS):
        yield


def new_axes(width: float = 6.4, height: float = 4.6) -> Axes:
    """Axes in a figure of their own, shown by notebooks and by `matplotlib.pyplot.show`."""
    with settings():
        figure, axes = plt.subplots(figsize=(width, height), layout="constrained")
    del figure
    return axes
