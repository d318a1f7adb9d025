"""Curves of paths in the look of their stability: saturated and solid, held, or pale and dashed with a number."""

import itertools
import textwrap
from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from onesided.base.tolerances import EPS
from onesided.base.types import Array, Indices
from onesided.plots.palette import HELD, PAPER, mixed, pale
from onesided.plots.style import DASHED, FINE, LONG_DASHED, WIDE_IN_PAPER, in_paper
from onesided.results import Path, column, dense
from onesided.results.interpolated import DensePath
from onesided.results.named_series import members_of

MACHINE = "machine_force"  # member result: what the machine that moves p needs
MOST_PIECES = 200  # of a path; where there are more, those of one look are drawn together
MOST_NUMBERS = 14  # of negative modes along one path
SHORTEST = 0.06  # share of the picture that a piece must span to get its number


class Firmness(Enum):
    """How a stretch of a path holds; the value is what a legend says."""

    stable = "stable"
    held = "stable only while held"
    unstable = "unstable; number: negative modes"


class Stroke(NamedTuple):
    """A stretch of one look: first and last index, negative modes, how it holds."""

    begin: int
    end: int
    degree: int
    firmness: Firmness


def stroke_look(firmness: Firmness, colour: str) -> dict[str, Any]:
    """Colour, width and dashes of a line, by the stability of what it shows."""
    looks: dict[Firmness, tuple[str, float, Any]] = {
        Firmness.stable: (colour, 2.4, "solid"),
        Firmness.held: (mixed(colour, HELD), 2.0, LONG_DASHED),
        Firmness.unstable: (pale(colour), 1.5, DASHED),
    }
    found, width, dashes = looks[firmness]
    return {"color": found, "lw": in_paper(FINE, 1.0) * width, "ls": dashes, "solid_capstyle": "round"}


def stroke_handle(firmness: Firmness, colour: str) -> Line2D:
    """An entry of a legend."""
    words = textwrap.fill(firmness.value, int(in_paper(WIDE_IN_PAPER, 2 * WIDE_IN_PAPER)))
    return Line2D([], [], label=words, **stroke_look(firmness, colour))


def pieces(curve: DensePath) -> Iterator[tuple[int, int, int]]:
    """Stretches of one degree of instability: first and last index, degree. A point belongs to the step it ends."""
    for begin, end in _runs(curve.instability):
        yield begin, end, int(curve.instability[end])


def _runs(values: Indices) -> Iterator[tuple[int, int]]:
    cuts = [0, *(np.flatnonzero(np.diff(values[1:])) + 1).tolist(), len(values) - 1]
    yield from ((begin, end) for begin, end in itertools.pairwise(cuts) if end > begin)


def strokes(path: Path, curve: DensePath, *, held: bool) -> list[Stroke]:
    """The stretches of a path by degree of instability and, where asked for, by what holds them."""
    if not held:
        return [Stroke(a, b, n, Firmness.unstable if n else Firmness.stable) for a, b, n in pieces(curve)]
    firm = firmness_of(path)[np.where(curve.exact, curve.source, np.minimum(curve.source + 1, len(path) - 1))]
    codes = curve.instability * len(Firmness) + firm
    kinds = list(Firmness)
    return [Stroke(a, b, int(curve.instability[b]), kinds[int(firm[b])]) for a, b in _runs(codes)]


def firmness_of(path: Path) -> Indices:
    """At each point, of the step that ends there: 0 stable, 1 stable only while the displacement is held, 2 unstable.

    With U_p = F the force of the machine that moves p, the Hessian in (q, p) has one negative eigenvalue more than that
    in q where dF/dp = d²U/dp² < 0 along the path. Where p is a dead load of energy −p u, holding u takes one negative
    mode away where du/dp = −d²U/dp² < 0. The sign of a second divided difference is that of d²U/dp² in between.
    """
    rising = _bending(path) > 0
    if MACHINE in members_of(path):
        return np.where(path.instability > 0, 2, np.where(rising, 0, 1))
    return np.where(path.instability == 0, 0, np.where((path.instability == 1) & rising, 1, 2))


def _bending(path: Path) -> Array:
    """Sign of d²U/dp² on the step that ends at each point; that of the nearest step where round-off hides it."""
    p, energy = path.p, path.energy
    if len(p) < 3:
        return np.zeros(len(p))
    slope = np.diff(energy) / np.where(np.diff(p) == 0.0, np.nan, np.diff(p))
    span = p[2:] - p[:-2]
    bend = np.diff(slope) / np.where(span == 0.0, np.nan, span)
    noise = EPS * np.ptp(energy) / np.maximum(np.abs(np.diff(p)), np.finfo(float).tiny)
    sure = np.abs(np.diff(slope)) > 8.0 * (noise[1:] + noise[:-1])
    same = np.sign(np.diff(p)[1:]) == np.sign(np.diff(p)[:-1])
    smooth = path.instability[2:] == path.instability[1:-1]
    known = np.flatnonzero(sure & same & smooth & np.isfinite(bend))
    if not len(known):
        return np.zeros(len(p))
    place = np.arange(len(p)) - 1.5  # of a step among the second differences
    after = np.clip(np.searchsorted(known, place), 0, len(known) - 1)
    before = np.maximum(after - 1, 0)
    nearer = np.where(np.abs(known[before] - place) <= np.abs(known[after] - place), before, after)
    return np.asarray(np.sign(bend[known[nearer]]))


def draw_path(
    axes: Axes, path: Path, names: tuple[str, str], colour: str, *, held: bool
) -> tuple[Array, set[Firmness]]:
    """One path in pieces of equal look; returns its points for labels to avoid, and the looks that were used."""
    column(path, names[0]), column(path, names[1])
    curve = dense(path, names=names)
    points = np.column_stack([curve.columns[name] for name in names])
    found = strokes(path, curve, held=held)
    for line, firmness in _lines(points, found):
        axes.plot(line[:, 0], line[:, 1], **stroke_look(firmness, colour))
    return points, {stroke.firmness for stroke in found}


def write_modes(axes: Axes, path: Path, names: tuple[str, str], colour: str, *, held: bool) -> None:
    """The number of negative modes on the curve, in the middle of unstable stretches, the longest ones."""
    curve = dense(path, names=names)
    points = np.column_stack([curve.columns[name] for name in names])
    shown = axes.transAxes.inverted().transform(axes.transData.transform(points))
    way = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(shown, axis=0).T))])
    unstable = [one for one in strokes(path, curve, held=held) if one.firmness is Firmness.unstable]
    long = [one for one in unstable if way[one.end] - way[one.begin] > SHORTEST]
    for one in sorted(long, key=lambda one: way[one.begin] - way[one.end])[:MOST_NUMBERS]:
        half = (way[one.begin] + way[one.end]) / 2
        x, y = (float(np.interp(half, way, points[:, k])) for k in (0, 1))
        text = axes.text(x, y, str(one.degree), ha="center", va="center", fontsize=7.5, color=colour, zorder=4)
        text.set_path_effects([patheffects.withStroke(linewidth=3.5, foreground=PAPER)])


def _lines(points: Array, found: list[Stroke]) -> Iterator[tuple[Array, Firmness]]:
    """Polylines with their looks: one for each piece, or of very many one for each look."""
    if len(found) <= MOST_PIECES:
        yield from ((points[one.begin : one.end + 1], one.firmness) for one in found)
        return
    gap = np.full((1, 2), np.nan)
    for look in Firmness:
        parts = [np.vstack([points[one.begin : one.end + 1], gap]) for one in found if one.firmness is look]
        if parts:
            yield np.vstack(parts), look
