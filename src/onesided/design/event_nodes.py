"""Points of a curve of events with what was seen there, special ones among them, and points in between."""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BarycentricInterpolator

from onesided.base.types import Array
from onesided.design.sightings import Label, Sighting
from onesided.results import Encounter


@dataclass(frozen=True, eq=False)
class EventNode:
    """A point of the curve of events with its tangent, and what was seen there."""

    w: Array
    t: Array
    border: Array
    seen: Sighting


@dataclass(frozen=True, eq=False)
class Met:
    """A meeting at a node; `after` is the next one, None where the curve ends."""

    label: Label
    node: EventNode
    before: Sighting
    after: Sighting | None
    left: float


def goes_with_another(label: Label, changed: list[Label]) -> bool:
    """Whether a branch's volume changes its sign with the rate of p alone: at a limit point it does not vanish."""
    turns, grazes = (label._replace(kind=kind) in changed for kind in (Encounter.corner_limit, Encounter.grazes))
    return label.kind is Encounter.degree and turns and not grazes


def interpolated_zero(values: Array, points: Array) -> Array:
    """Points as polynomials of a number that changes monotonously, where it is zero."""
    size = float(np.max(np.abs(values)))
    return np.asarray(BarycentricInterpolator(values / size, points)(0.0))


def between(a: EventNode, b: EventNode, share: float) -> Array:
    """A point of the cubic through two nodes with their tangents."""
    length = float(np.linalg.norm(b.w - a.w))
    s, r = share, 1.0 - share
    ends = (1.0 + 2.0 * s) * r * r * a.w + (1.0 + 2.0 * r) * s * s * b.w
    return np.asarray(ends + length * s * r * (r * a.t - s * b.t))
