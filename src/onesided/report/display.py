"""Paths, histories and diagrams in notebooks: a picture, the events in words, and the interactive page."""

import io
from dataclasses import dataclass
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from onesided.plots import cable_plots as cables
from onesided.plots.branches import diagram
from onesided.plots.influence_bars import MOST_BARS
from onesided.plots.motion_plots import history
from onesided.plots.side_by_side import mode_shapes, shapes
from onesided.plots.style import settings
from onesided.report.page import html
from onesided.report.stories import MOST_DRAWN, story
from onesided.results import (
    ComplementarityMotion,
    Drive,
    Followed,
    Modes,
    Motion,
    Sensitivity,
    Shape,
    StabilityMap,
)

MOST_EVENTS = 30


def result_html(result: Any) -> str:
    """One line, a picture and the events of a result; one line only where there is no path."""
    if isinstance(result, Drive) and not result.paths:
        return f"<p>{escape(repr(result))}</p>"
    return _listed(result, [one.words() for one in result.numbered])


def _listed(result: Any, words: list[str]) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in words[:MOST_EVENTS])
    more = f"<p>… and {len(words) - MOST_EVENTS} more events</p>" if len(words) > MOST_EVENTS else ""
    told = story(result)
    pictures = svg(result) + (element(shapes(result), tight=True) if told.sketch is not None else "")
    return f"<p><b>{escape(told.summary)}</b></p>{pictures}<ol>{items}</ol>{more}"


def svg(result: Any) -> str:
    """The path diagram, or the history of a motion, as an SVG element."""
    with settings():
        figure = Figure(figsize=(7.6, 4.2), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        if isinstance(result, Motion):
            history(result, ax=axes)
        elif isinstance(result, ComplementarityMotion):
            cables.cable_history(result, ax=axes)
        else:
            diagram(result, ax=axes)
    return element(figure)


def shape_svg(shape: Shape) -> str:
    """The system at one point; nothing where that would be too large."""
    return element(shapes(shape, 0), tight=True) if len(shape.sketch.names()) <= MOST_DRAWN else ""


def modes_svg(modes: Modes) -> str:
    """The slowest modes, exaggerated, over the configuration at rest; nothing where that would be too large."""
    small = modes.sketch is not None and len(modes.sketch.names()) <= MOST_DRAWN
    return element(mode_shapes(modes), tight=True) if small else ""


def design_svg(found: Sensitivity | Followed | StabilityMap) -> str:
    """Bars of what moves an event, or curves of events."""
    height = 1.2 + 0.28 * min(len(found.parameters), MOST_BARS) if isinstance(found, Sensitivity) else 4.0
    with settings():
        figure = Figure(figsize=(5.6, height), layout="constrained")
        FigureCanvasAgg(figure)
        found.plot(ax=figure.add_subplot())
    return element(figure)


def element(figure: Figure, *, tight: bool = False) -> str:
    """A figure as an SVG element that fits narrow pages, its margins cut off where asked."""
    stream = io.StringIO()
    with settings(), mpl.rc_context({"svg.fonttype": "none"}):
        figure.savefig(stream, format="svg", metadata={"Date": None}, bbox_inches="tight" if tight else None)
    text = stream.getvalue()
    return text[text.index("<svg") :].replace("<svg", '<svg style="max-width:100%;height:auto"', 1)


@dataclass(frozen=True, eq=False)
class Viewer:
    """The interactive page of a result, shown inside a notebook.

    Attributes
    ----------
    result : of any kind;  model : text of its model file, if there is one;  height : in pixels.
    """

    result: Any
    model: str = ""
    height: int = 900

    def _repr_html_(self) -> str:
        page = escape(html(self.result, model=self.model), quote=True)
        look = f"width:100%;height:{int(self.height)}px;border:0"
        return f'<iframe sandbox="allow-scripts" style="{look}" srcdoc="{page}"></iframe>'
