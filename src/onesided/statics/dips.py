"""Dips of gaps between the places that are looked at on a straight stretch.

A dip that is narrower than the distance of two places still bends the gap beside it: where a place lies off the line
between its neighbours, by a share of the gap that no wide feature has, places in between are looked at as well.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from onesided.base.tolerances import EPS, Tolerances
from onesided.base.types import Array, Indices
from onesided.statics.curves.curve import TOGETHER, Curve, CurvePoint
from onesided.statics.tracing.inside import interpolate

BENDS = EPS**0.1875  # share of a gap by which a place may lie off the line between its neighbours
FINER = 8  # places between two
MOST = 32  # places of one call beside which more are looked at


class DippedStep(Protocol):
    """A step: both ends."""

    @property
    def a(self) -> CurvePoint:
        """The start."""

    @property
    def b(self) -> CurvePoint:
        """The end."""


def dips(
    curve: Curve, steps: Sequence[DippedStep], places: tuple[Indices, Array], values: Array, tolerances: Tolerances
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
        step = steps[owner[j]]
        below = _gaps(curve, interpolate(step.a, step.b, fine[:, None]), still_open) < -tolerances.residual
        if below.any():
            found.setdefault(int(owner[j]), float(fine[below.any(axis=1).argmax()]))
    return found


def _with_ends(
    steps: Sequence[DippedStep], places: tuple[Indices, Array], values: Array, rows: Indices
) -> tuple[Indices, Array, Array]:
    """Steps, fractions and gaps of the places and of both ends of every step, in order along the path."""
    (owner, share), numbers = places, np.arange(len(steps))
    everyone = np.concatenate([owner, numbers, numbers])
    f = np.concatenate([share, np.zeros(len(steps)), np.ones(len(steps))])
    ends = [
        np.array([point.margins[rows] for point in side]) for side in zip(*((s.a, s.b) for s in steps), strict=True)
    ]
    order = np.lexsort((f, everyone))
    return everyone[order], f[order], np.concatenate([values, *ends])[order]


def _gaps(curve: Curve, Y: Array, rows: Indices) -> Array:
    """Scaled gaps at some scaled points."""
    X = np.array([curve.packed(y) for y in Y])
    few = curve.size <= TOGETHER
    c = curve.system.evaluate_many(X).c if few else np.array([curve.system.residual_packed(x)[2] for x in X])
    return np.asarray(c[:, curve.k + rows] / curve.scales.gap[curve.k + rows])
