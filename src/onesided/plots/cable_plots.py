"""Pictures of complementarity motions: states, forces, slacks, energy, when cables are taut, and the structure."""

import numpy as np
from matplotlib.axes import Axes

from onesided.base.errors import UsageError
from onesided.plots.configuration import Film, film_of
from onesided.plots.palette import GREY, PALE
from onesided.plots.style import COLOURS, named_axes, new_axes, settings
from onesided.results import ComplementarityMotion
from onesided.results.named import label_of

MOST_CURVES = 8


def cable_history(
    motion: ComplementarityMotion, *names: str, x: str = "t", ax: Axes | None = None, title: str = ""
) -> Axes:
    """Columns of a motion against time, or against another column; default: the forces, or the states without any."""
    columns = motion.columns()
    chosen = list(names) or [f"reaction {name}" for name in motion.names] or list(motion.states)
    for name in (x, *chosen):
        if name not in columns:
            expected = "one of " + ", ".join([key for key in columns if "." not in key][:30])
            raise UsageError(f"the motion holds no '{name}'", expected=expected)
    axes = new_axes() if ax is None else ax
    with settings():
        for i, name in enumerate(chosen[:MOST_CURVES]):
            axes.plot(columns[x], columns[name], label=label_of(motion, name), lw=1.0, color=COLOURS[i % len(COLOURS)])
        named_axes(axes, motion, x, chosen, title)
    return axes


def forces(motion: ComplementarityMotion, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Forces s against time: the tensions of cables."""
    return _curves(motion, "reaction", "force", ax, title)


def slacks(motion: ComplementarityMotion, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Slacks w ≥ 0 of the cables against time."""
    return _curves(motion, "gap", "slack", ax, title)


def energy(motion: ComplementarityMotion, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Energy against time, of a system that measures it."""
    if "energy" not in motion.measures:
        raise UsageError(
            "the system does not measure its energy",
            expected="measures={'energy': function of (t, x, s)}",
            advice="state it and simulate again",
        )
    return cable_history(motion, "energy", ax=ax, title=title)


def episodes(motion: ComplementarityMotion, *, ax: Axes | None = None, title: str = "") -> Axes:
    """A bar for every time in which a cable is slack, one row per cable."""
    axes = new_axes() if ax is None else ax
    with settings():
        for i, name in enumerate(motion.names):
            bars = [(e.begin, e.end - e.begin) for e in motion.episodes(name)]
            axes.broken_barh(bars, (i - 0.35, 0.7), color=COLOURS[i % len(COLOURS)])
        axes.set_yticks(range(len(motion.names)), motion.names)
        axes.set_xlim(motion.t[0], motion.t[-1])
        axes.set_xlabel(label_of(motion, "t"))
        axes.set_title(title or "slack")
    return axes


def raster(motion: ComplementarityMotion, *, ax: Axes | None = None, title: str = "") -> Axes:
    """When each cable is taut: filled while it carries force, pale while it is slack."""
    if not motion.names:
        raise UsageError("this motion has no one-sided pairs", advice="draw its states")
    axes = new_axes() if ax is None else ax
    first, last = float(motion.t[0]), float(motion.t[-1])
    with settings():
        for i, name in enumerate(motion.names):
            slack = motion.episodes(name)
            edges = np.array([first, *(edge for e in slack for edge in (e.begin, e.end)), last]).reshape(-1, 2)
            axes.broken_barh([(e.begin, e.end - e.begin) for e in slack], (i - 0.35, 0.7), facecolor=PALE)
            taut = [(a, b - a) for a, b in edges if b > a]
            axes.broken_barh(taut, (i - 0.35, 0.7), facecolor=COLOURS[0])
        axes.set_yticks(range(len(motion.names)), motion.names)
        axes.set_xlim(first, last)
        axes.set_xlabel(label_of(motion, "t"))
        axes.set_title(title)
    return axes


def _curves(motion: ComplementarityMotion, prefix: str, label: str, ax: Axes | None, title: str) -> Axes:
    if not motion.names:
        raise UsageError("this motion has no one-sided pairs", advice="draw its states, by names")
    axes = cable_history(motion, *(f"{prefix} {name}" for name in motion.names), ax=ax, title=title)
    with settings():
        axes.axhline(0.0, color=GREY, lw=0.6, zorder=0)
        axes.set_ylabel(label)
        for line, name in zip(axes.lines, motion.names, strict=False):
            line.set_label(name)
        axes.legend()
    return axes


@film_of.register
def _(result: ComplementarityMotion, wanted: int = 0) -> Film:
    if result.sketch is None:
        raise UsageError(
            "the result does not say how to draw the system",
            expected="a system with sketch=Sketch(…)",
            advice="add one and simulate again",
        )
    step = max(1, len(result) // wanted) if wanted else 1
    columns = {name: values[::step] for name, values in result.columns().items()}
    captions = tuple(f"t = {t:.3f}" for t in columns["t"])
    return Film(result.sketch, columns, result.names, result.taut()[::step], captions)
