"""Pictures of steerings and coupled motions: columns against time."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.plots.palette import GREY
from onesided.plots.style import COLOURS, named_axes, new_axes, settings
from onesided.results import Coupled, Steering
from onesided.results.named import label_of

MOST_CURVES = 8
SMOOTH = 600


def inputs(steering: Steering, *names: str, x: str = "t", ax: Axes | None = None, title: str = "") -> Axes:
    """Inputs (default), coordinates or velocities against time, or against another column; nodes as dots.

    Inputs are parabolas on the intervals, and may jump where a mode ends.
    """
    chosen, known = list(names) or list(steering.inputs), steering.columns()
    _check(known, (x, *chosen))
    axes = new_axes() if ax is None else ax
    with settings():
        for i, name in enumerate(chosen[:MOST_CURVES]):
            look: dict[str, Any] = {"color": COLOURS[i % len(COLOURS)], "lw": 1.2, "label": label_of(steering, name)}
            if x == "t" and name in steering.inputs:
                t = _fine(steering)
                axes.plot(t, steering.at(t)[:, steering.inputs.index(name)], **look)
            else:
                axes.plot(known[x], known[name], marker=".", ms=4, **look)
        for motion in steering.motions[1:] if x == "t" else ():
            axes.axvline(motion.t[0], color=GREY, lw=0.7, ls=(0, (1, 2)), zorder=0)
        named_axes(axes, steering, x, chosen, title)
    return axes


def coupled(result: Coupled, *names: str, x: str = "t", ax: Axes | None = None, title: str = "") -> Axes:
    """Columns of two motions integrated apart against time, or against another; default: all coordinates."""
    known = result.columns()
    chosen = list(names) or [f"{part} {name}" for part, own in zip(("first", "second"), result.coordinates, strict=True)
                             for name in own]  # fmt: skip
    _check(known, (x, *chosen))
    axes = new_axes() if ax is None else ax
    with settings():
        for i, name in enumerate(chosen[:MOST_CURVES]):
            axes.plot(known[x], known[name], color=COLOURS[i % len(COLOURS)], lw=1.2, label=label_of(result, name))
        named_axes(axes, result, x, chosen, title)
    return axes


def joint_forces(result: Coupled, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Multipliers of the joint against time."""
    return coupled(result, *(f"force {i}" for i in range(result.force.shape[1])), ax=ax, title=title)


def _fine(steering: Steering) -> Array:
    """Times of smooth curves, those of the nodes included."""
    return np.unique(np.concatenate([steering.t, np.linspace(steering.t[0], steering.t[-1], SMOOTH)]))


def _check(known: dict[str, Array], names: tuple[str, ...]) -> None:
    for name in names:
        if name not in known:
            raise UsageError(f"the result holds no '{name}'", expected="one of " + ", ".join(known))
