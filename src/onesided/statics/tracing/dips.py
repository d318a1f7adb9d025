"""Dips of gaps inside steps: in places along the step, and between these.

A dip that is narrower than the distance of two places still bends the gap beside it: where a place lies off the line
between its neighbours, by a share of the gap that no wide feature has, places in between are looked at as well.
"""

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from onesided.base.tolerances import EPS, Tolerances
from onesided.base.types import Array, Indices
from onesided.statics.curves.curve import Curve
from onesided.statics.tracing.inside import StepEnds

BENDS = EPS**0.1875  # share of a gap by which a place may lie off the line between its neighbours
FINER = 8  # places between two
MOST = 32  # places of one call beside which more are looked at


class GapSteps(Protocol):
    """Many steps: margins at both ends, along a second axis, and points in between."""

    @property
    def margins(self) -> Array:
        """Gaps and reactions, without units."""

    def interpolated(self, owner: Indices, f: Array) -> Array:
        """Scaled points at fractions of steps whose numbers are the owners."""


def dips(
    curve: Curve, steps: GapSteps, places: tuple[Indices, Array], values: Array, tolerances: Tolerances
) -> Mapping[int, float]:
    """Numbers of the steps on which an open gap dips below zero between places, and the first fraction where it does.

    Parameters
    ----------
    places : of all places, the number of the step and the fraction of it.
    values : scaled gaps in these places, a column per unilateral constraint.
    """
    still_open = np.setdiff1d(np.arange(values.shape[1]), curve.rows[curve.k :] - curve.k)
    found: dict[int, float] = {}
    if not len(still_open):
        return found
    owner, f, G = _with_ends(steps, places, values[:, still_open], still_open)
    bend, low = abs(G[:-2] - 2.0 * G[1:-1] + G[2:]), np.minimum(np.minimum(G[:-2], G[2:]), G[1:-1])
    odd = (bend > BENDS * abs(low)).any(axis=1) & (owner[:-2] == owner[2:])
    for j in np.flatnonzero(odd)[:MOST].tolist():
        fine = np.linspace(f[j], f[j + 2], 2 * FINER + 1)[1:-1]
        inside = steps.interpolated(np.full(len(fine), owner[j]), fine)
        below = scaled_gaps(curve, inside, still_open) < -tolerances.residual
        if below.any():
            found.setdefault(int(owner[j]), float(fine[below.any(axis=1).argmax()]))
    return found


def floor_of(step: StepEnds, tolerances: Tolerances) -> Array:
    """Scaled gaps below which they are below zero, and below both ends of a step."""
    return np.asarray(np.minimum(np.minimum(step.a.margins, step.b.margins), 0.0) - tolerances.residual)


def _with_ends(
    steps: GapSteps, places: tuple[Indices, Array], values: Array, rows: Indices
) -> tuple[Indices, Array, Array]:
    """Steps, fractions and gaps of the places and of both ends of every step, in order along the path."""
    (owner, share), ends = places, steps.margins[:, :, rows]
    numbers = np.arange(len(ends))
    counts = np.bincount(owner, minlength=len(ends)) + 2
    last = np.cumsum(counts) - 1
    inside = np.arange(len(owner)) + 2 * owner + 1
    f, G = np.zeros(int(counts.sum())), np.empty((int(counts.sum()), len(rows)))
    f[inside], f[last] = share, 1.0
    G[inside], G[last - counts + 1], G[last] = values, ends[:, 0], ends[:, 1]
    return np.repeat(numbers, counts), f, G


def scaled_gaps(curve: Curve, Y: Array, rows: Indices) -> Array:
    """Scaled gaps at some scaled points."""
    X = Y[:, : curve.n + 1] * curve.unit[: curve.n + 1]
    return np.asarray(curve.system.constraint_values(X)[:, curve.k + rows] / curve.scales.gap[curve.k + rows])
