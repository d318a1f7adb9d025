"""Pictures of motions: coordinates, forces, energy, drift, and when constraints act."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.groups import SE3, SO3, Group, Product
from onesided.plots.configuration import Film, film_of, no_sketch
from onesided.plots.palette import PALE
from onesided.plots.style import COLOURS, MARKS, event_lines, named_axes, new_axes, powers_of_ten, settings
from onesided.results import Motion
from onesided.results.motion_columns import motion_at, motion_column, motion_columns, motion_dense
from onesided.results.named import label_of

MOST_CURVES = 6
SMOOTH = 600
_DASHES = ("solid", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)))


def history(
    motion: Motion, *names: str, x: str = "t", ax: Axes | None = None, title: str = "", logarithmic: bool = False
) -> Axes:
    """Columns of a motion against time, or against another column; default: the coordinates that change most."""
    chosen = list(names) or most_moving(motion)
    for name in (x, *chosen):
        motion_column(motion, name)
    axes = new_axes() if ax is None else ax
    with settings():
        fine = motion_dense(motion, 0 if logarithmic else SMOOTH, dict.fromkeys((x, *chosen))).columns
        for k, name in enumerate(chosen):
            look: dict[str, Any] = {"color": COLOURS[k % len(COLOURS)], "ls": _DASHES[k % len(_DASHES)], "lw": 1.6}
            if len(chosen) > 1:
                look |= {"marker": MARKS[k % len(MARKS)], "markevery": 0.19, "ms": 4}
            axes.plot(*_unjoined(motion, name, fine[x], fine[name]), label=label_of(motion, name), **look)
        if x == "t":
            told = motion.numbered
            event_lines(axes, [one.what.t for one in told], [one.number for one in told])
        if logarithmic:
            powers_of_ten(axes)
        named_axes(axes, motion, x, chosen, title)
    return axes


def forces(motion: Motion, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Multipliers, reactions and inputs against time, those that change most."""
    known = motion_columns(motion)
    names = [name for name in known if name.startswith(("multiplier ", "reaction ", "input "))]
    if not names:
        raise UsageError("the system has no constraint", advice="plot coordinates or the energy")
    return history(motion, *_largest(motion, names, MOST_CURVES), ax=ax, title=title)


def energy(motion: Motion, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Energy, and the work that explains its change."""
    return history(motion, "energy", "work", ax=ax, title=title)


def drift(motion: Motion, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Violations of the constraints, of the balance and of the energy, relative, on a logarithmic scale."""
    names = [f"drift {name}" for name in motion.drift._fields]
    shown = [name for name in names if np.any(motion_column(motion, name) > 0)]
    if not shown:
        raise UsageError("nothing drifts: all violations are exactly zero")
    return history(motion, *shown, ax=ax, title=title, logarithmic=True)


def raster(motion: Motion, *, ax: Axes | None = None, title: str = "") -> Axes:
    """When each one-sided constraint acts: filled while it carries force."""
    if not motion.unilateral:
        raise UsageError("the system has no one-sided constraint")
    axes = new_axes() if ax is None else ax
    acting = motion.lam > 0.0
    with settings():
        for k, name in enumerate(motion.unilateral):
            edges = np.flatnonzero(np.diff(np.concatenate([[False], acting[:, k], [False]]).astype(int)))
            spans = [(motion.t[a], motion.t[b - 1] - motion.t[a]) for a, b in edges.reshape(-1, 2)]
            axes.broken_barh([(motion.t[0], motion.t[-1] - motion.t[0])], (k - 0.35, 0.7), facecolor=PALE)
            axes.broken_barh(spans, (k - 0.35, 0.7), facecolor=COLOURS[0])
            del name
        axes.set_yticks(range(len(motion.unilateral)), motion.unilateral)
        axes.set_xlabel("t")
        axes.set_title(title)
    return axes


def most_moving(motion: Motion, most: int = MOST_CURVES) -> list[str]:
    """The coordinates that change most; components of rotation vectors, which jump, only where there are no others."""
    vectors = _rotation_vectors(motion.space)
    plain = [name for i, name in enumerate(motion.coordinates) if i not in vectors]
    return _largest(motion, plain or motion.coordinates, most)


def _rotation_vectors(space: Group | None) -> set[int]:
    """Indices of the components of rotation vectors among the coordinates."""
    parts = space.parts if isinstance(space, Product) else () if space is None else (space,)
    ends = np.cumsum([part.size for part in parts]).astype(int).tolist()
    solid = [end for part, end in zip(parts, ends, strict=True) if isinstance(part, SO3 | SE3)]
    return {end - k for end in solid for k in (1, 2, 3)}


def _unjoined(motion: Motion, name: str, x: Array, y: Array) -> tuple[Array, Array]:
    """A curve that is broken where an angle comes back from the other end of its range."""
    if motion.space is None or motion.space.flat or name not in motion.coordinates:
        return x, y
    places = np.flatnonzero(np.abs(np.diff(y)) > np.pi) + 1
    return np.insert(x, places, np.nan), np.insert(y, places, np.nan)


def _largest(motion: Motion, names: Sequence[str], most: int) -> list[str]:
    columns = motion_columns(motion)
    order = sorted(names, key=lambda name: -float(np.ptp(columns[name])))[:most]
    return [name for name in names if name in set(order)]


@film_of.register
def _(result: Motion, wanted: int = 0) -> Film:
    if result.sketch is None:
        raise no_sketch()
    fine = motion_at(result, np.linspace(result.t[0], result.t[-1], wanted)) if wanted else motion_dense(result, 0)
    t = fine.columns["t"]
    captions = tuple(f"t = {now:.4g}" for now in t)
    forces = np.array([fine.columns[f"reaction {name}"] for name in result.unilateral]).T
    p = fine.columns[result.control] if result.control in fine.columns else np.zeros(0)
    return Film(result.sketch, fine.columns, result.unilateral, fine.codes != 0, captions, t, p, forces)
