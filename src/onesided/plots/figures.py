"""Figures as files: one call from a result to SVG, PDF or PNG, without a window system."""

from enum import Enum
from pathlib import Path as FilePath
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from onesided.base.atomic import whole_file
from onesided.base.errors import UsageError
from onesided.plots import along as series
from onesided.plots import cable_plots as cables
from onesided.plots import control
from onesided.plots import motion_plots as motion
from onesided.plots.before_after import before_after
from onesided.plots.branches import diagram
from onesided.plots.configuration import film_of
from onesided.plots.event_curves_plot import event_curve
from onesided.plots.family_sheet import family_sheet
from onesided.plots.influence_bars import influence
from onesided.plots.state_graph_plot import transitions
from onesided.plots.still import sketch
from onesided.plots.storyboard import story
from onesided.plots.study_plots import many_loci, study_figure
from onesided.plots.style import COLUMN, paper, settings
from onesided.results import (
    ComplementarityMotion,
    Coupled,
    Designed,
    Followed,
    ManyPaths,
    Motion,
    Sensitivity,
    StabilityMap,
    Steering,
    Transitions,
)
from onesided.results.studied import Study

FORMATS = (".svg", ".pdf", ".png")


class View(Enum):
    """Kinds of pictures that `write` draws."""

    path = "path"
    reactions = "reactions"
    gaps = "gaps"
    energy = "energy"
    sketch = "sketch"
    drift = "drift"
    raster = "raster"
    story = "story"
    families = "families"


def write(  # noqa: PLR0913 - one call, all by keyword
    result: Any,
    file: str | FilePath,
    *,
    view: View = View.path,
    x: str | None = None,
    y: str | None = None,
    index: int = -1,
    title: str = "",
    members: str = "",
    for_paper: bool = False,
) -> FilePath:
    """Draw a result and write the figure, whole or not at all; the ending of `file` says the format.

    Parameters
    ----------
    view : what to show;  x, y : what to draw along the axes (y for `View.path` only).
    index : the point to draw, for `View.sketch`;  members : what colours its members: "force" …
    for_paper : as wide as a column of a paper, without a title, as .pdf or .svg.
    """
    target = FilePath(file)
    known = FORMATS[:2] if for_paper else FORMATS
    if target.suffix.lower() not in known:
        raise UsageError("this kind of file is not known", got=repr(target.suffix), expected=" or ".join(known))
    title = "" if for_paper else title
    if view in {View.story, View.families}:
        whole = story if view is View.story else family_sheet
        return _saved(whole(result, x=x, y=y, title=title), target)
    with paper() if for_paper else settings():
        size = (COLUMN, 0.9 * COLUMN) if for_paper else (8.2, 4.8)
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        solid = (
            view is View.sketch
            and not isinstance(result, Transitions | Designed | ManyPaths | Study)
            and film_of(result).sketch.dimension == 3
        )
        axes = figure.add_subplot(projection="3d" if solid else None)
        if view is View.sketch and members:
            sketch(result, index, ax=axes, title=title or None, members=members)
        else:
            _draw(result, view, axes, (x, y), index, title)
        return _saved(figure, target)


def _saved(figure: Figure, target: FilePath) -> FilePath:
    with settings(), whole_file(target) as draft:
        figure.savefig(draft, metadata=_undated(target.suffix.lower()))
    return target


def _draw(result: Any, view: View, axes: Axes, names: tuple[str | None, str | None], index: int, title: str) -> None:
    x, y = names
    if isinstance(result, Sensitivity):
        influence(result, ax=axes, title=title)
    elif isinstance(result, Followed | StabilityMap):
        event_curve(result, ax=axes, title=title)
    elif isinstance(result, ComplementarityMotion) and view is not View.sketch:
        _draw_cables(result, view, axes, names, title)
    elif isinstance(result, Motion) and view is not View.sketch:
        _draw_motion(result, view, axes, names, title)
    elif isinstance(result, Steering | Coupled):
        _draw_control(result, view, axes, names, title)
    elif isinstance(result, Designed):
        before_after(result, x=x, y=y, ax=axes, title=title)
    elif isinstance(result, Transitions):
        transitions(result, ax=axes, title=title)
    elif isinstance(result, ManyPaths):
        many_loci(result, x, ax=axes, title=title)
    elif isinstance(result, Study):
        study_figure(result, x, y, ax=axes, title=title)
    elif view in {View.drift, View.raster}:
        raise UsageError(f"only a motion has a {view.value}", got=type(result).__name__)
    elif view is View.path:
        diagram(result, x=x, y=y, ax=axes, title=title)
    elif view is View.sketch:
        sketch(result, index, ax=axes, title=title or None)
    else:
        curve = {View.reactions: series.reactions, View.gaps: series.gaps, View.energy: series.energy}[view]
        curve(result, x=x, ax=axes, title=title)


def _draw_cables(
    result: ComplementarityMotion, view: View, axes: Axes, names: tuple[str | None, str | None], title: str
) -> None:
    x, y = names
    pictures = {
        View.reactions: cables.forces,
        View.gaps: cables.slacks,
        View.energy: cables.energy,
        View.raster: cables.raster,
    }
    if view is View.path:
        cables.cable_history(result, *([] if y is None else [y]), x=x or "t", ax=axes, title=title)
    elif view in pictures:
        pictures[view](result, ax=axes, title=title)
    else:
        expected = "path, reactions, gaps, energy, raster or sketch"
        raise UsageError("a complementarity motion has no such picture", got=view.value, expected=expected)


def _draw_motion(result: Motion, view: View, axes: Axes, names: tuple[str | None, str | None], title: str) -> None:
    x, y = names
    pictures = {
        View.reactions: motion.forces,
        View.energy: motion.energy,
        View.drift: motion.drift,
        View.raster: motion.raster,
    }
    if view is View.gaps:
        raise UsageError("a motion holds no gaps", advice="reactions, drift or raster")
    if view is View.path:
        motion.history(result, *([] if y is None else [y]), x=x or "t", ax=axes, title=title)
    else:
        pictures[view](result, ax=axes, title=title)


def _draw_control(
    result: Steering | Coupled, view: View, axes: Axes, names: tuple[str | None, str | None], title: str
) -> None:
    x, y = names
    chosen = [] if y is None else [y]
    if view is View.path and isinstance(result, Steering):
        control.inputs(result, *chosen, x=x or "t", ax=axes, title=title)
    elif view is View.path and isinstance(result, Coupled):
        control.coupled(result, *chosen, x=x or "t", ax=axes, title=title)
    elif view is View.reactions and isinstance(result, Coupled):
        control.joint_forces(result, ax=axes, title=title)
    elif view in {View.energy, View.drift} and isinstance(result, Coupled):
        control.coupled(result, view.value, ax=axes, title=title)
    else:
        expected = "path" if isinstance(result, Steering) else "path, reactions, energy or drift"
        advice = "a motion of `Steering.motions`" if isinstance(result, Steering) else ""
        raise UsageError("there is no such picture of this result", got=view.value, expected=expected, advice=advice)


def _undated(kind: str) -> dict[str, None] | None:
    """The same result gives the same file: no date inside."""
    return {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": None}[kind]
