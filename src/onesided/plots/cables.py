"""Pictures of complementarity motions: forces, slacks, and when cables are slack."""

from matplotlib.axes import Axes

from onesided._types import Array
from onesided.errors import UsageError
from onesided.plots.style import COLOURS, new_axes, settings
from onesided.results import ComplementarityMotion


def forces(motion: ComplementarityMotion, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Forces s against time: the tensions of cables."""
    return _curves(motion, motion.s, "force", ax, title)


def slacks(motion: ComplementarityMotion, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Slacks w against time."""
    return _curves(motion, motion.w, "slack", ax, title)


def episodes(motion: ComplementarityMotion, *, ax: Axes | None = None, title: str = "") -> Axes:
    """A bar for every time in which a cable is slack, one row per cable."""
    axes = new_axes() if ax is None else ax
    with settings():
        for i, name in enumerate(motion.names):
            bars = [(e.begin, e.end - e.begin) for e in motion.episodes(name)]
            axes.broken_barh(bars, (i - 0.35, 0.7), color=COLOURS[i % len(COLOURS)])
        axes.set_yticks(range(len(motion.names)), motion.names)
        axes.set_xlim(motion.t[0], motion.t[-1])
        axes.set_xlabel("t")
        axes.set_title(title or "slack")
    return axes


def _curves(motion: ComplementarityMotion, values: Array, label: str, ax: Axes | None, title: str) -> Axes:
    if not motion.names:
        raise UsageError("this motion has no one-sided pairs", advice="draw its states from the arrays t and x")
    axes = new_axes() if ax is None else ax
    with settings():
        for i, name in enumerate(motion.names):
            axes.plot(motion.t, values[:, i], label=name, lw=1.0, color=COLOURS[i % len(COLOURS)])
        axes.set_xlabel("t")
        axes.set_ylabel(label)
        axes.set_title(title)
        axes.legend()
    return axes
