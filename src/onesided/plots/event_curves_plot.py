"""Curves of events in the plane of a parameter and p, with their special points and the regions between them."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from onesided.plots.palette import GREY, INK, PALE
from onesided.plots.style import COLOURS, MARKS, new_axes, settings
from onesided.results import Encounter, Followed, StabilityMap
from onesided.results.named import label_of

NEARLY = 0.8  # of the way to the end of a curve: whether it rises or falls there


def event_curve(result: Followed | StabilityMap, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw p of an event, or of all events of a map, over the parameter; markers are special points."""
    axes = new_axes() if ax is None else ax
    curves = result.curves if isinstance(result, StabilityMap) else (result,)
    shapes = dict(zip(Encounter, MARKS, strict=True))
    with settings():
        for i, curve in enumerate(curves):
            colour = COLOURS[i % (len(COLOURS) - 1)]
            axes.plot(curve.theta, curve.p, color=colour, lw=1.8)
            axes.plot(curve.theta[curve.start], curve.p[curve.start], ".", color=colour, ms=8)
            _named(axes, curve, colour)
        for kind in Encounter:
            met = [one for curve in curves for one in curve.meetings if one.kind is kind]
            if met:
                places = [one.theta for one in met], [one.p for one in met]
                axes.plot(*places, shapes[kind], color=INK, ms=7, mfc="white", label=kind.value, ls="none")
        if isinstance(result, StabilityMap):
            _regions(axes, result)
        axes.set_xlabel(label_of(curves[0] if curves else result, result.parameter))
        axes.set_ylabel(label_of(curves[0] if curves else result, result.control))
        if any(curve.meetings for curve in curves):
            axes.legend()
        axes.set_title(title or _title(result))
    return axes


def _title(result: Followed | StabilityMap) -> str:
    if isinstance(result, StabilityMap):
        return f"Events of the path for values of {result.parameter}"
    return f"The {result.kind.value} as {result.parameter} changes"


def _named(axes: Axes, curve: Followed, colour: str) -> None:
    """What a curve is, beside its end at the right, inside the picture."""
    end = int(np.argmax(curve.theta))
    before = curve.p[np.argmin(np.abs(curve.theta - NEARLY * curve.theta[end] - (1 - NEARLY) * curve.theta.min()))]
    rises = curve.p[end] >= before
    side: dict[str, Any] = {"xytext": (-4, 5), "va": "bottom"} if rises else {"xytext": (-4, -5), "va": "top"}
    look = {"textcoords": "offset points", "ha": "right", "fontsize": 9, "zorder": 6, "color": colour, **side}
    axes.annotate(curve.kind.value, (curve.theta[end], curve.p[end]), **look)


def _regions(axes: Axes, found: StabilityMap) -> None:
    """Shaded by turns, each with the number of its events, over the whole range of the parameter."""
    if found.regions:
        axes.set_xlim(found.regions[0].low, found.regions[-1].high)
    for number, region in enumerate(found.regions):
        if number % 2:
            axes.axvspan(region.low, region.high, color=PALE, alpha=0.4, lw=0)
        middle = 0.5 * (region.low + region.high)
        text = f"{len(region.events)} event{'s' if len(region.events) != 1 else ''}"
        axes.text(
            middle, 0.985, text, transform=axes.get_xaxis_transform(), ha="center", va="top", color=GREY, fontsize=8
        )
