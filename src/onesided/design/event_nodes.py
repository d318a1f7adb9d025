"""Points of a curve of events with what was seen there, special ones among them, and points in between."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import BarycentricInterpolator

from onesided.base.tolerances import SOME_DIGITS
from onesided.base.types import Array
from onesided.design.sightings import Label, Sighting
from onesided.design.spots import Spot
from onesided.results import Encounter

SHARES = tuple(0.5 - 0.5 * np.cos(np.pi * k / 9.0) for k in range(10))  # of a step with a singular point inside
LITTLE_LESS = 0.9  # share of a stretch that the next one around a singular point must be shorter than
FEWEST = 4  # points through which a zero is interpolated
FIRST_STEP = 0.02  # in scaled units of (y, τ)
STRAIGHT = 0.998  # cosine between tangents from which on steps grow
TURNED = 0.7  # cosine between tangents of the equilibria: across an old one a later one may seem singular
JUMP = 0.5  # share of a number's change that no continuous one makes at once


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


def turned(here: EventNode, found: EventNode, step: float) -> bool:
    """Whether the equilibria of the event turn too far in a step for det M to tell forks of them.

    A tangent that turns by more than a right angle looks like one that changes its sign at a fork.
    """
    along = float(here.border @ found.border)
    if here.seen.spot.orientation == found.seen.spot.orientation:
        return along < TURNED
    return along < STRAIGHT or step > FIRST_STEP


def goes_with_another(label: Label, changed: list[Label]) -> bool:
    """Whether a branch's volume changes its sign with the rate of p alone: at a limit point it does not vanish."""
    turns, grazes = (label._replace(kind=kind) in changed for kind in (Encounter.corner_limit, Encounter.grazes))
    return label.kind is Encounter.degree and turns and not grazes


def guessed(at: Callable[[float], EventNode | None], label: Label, spot: Callable[[Array], Spot]) -> Met | None:
    """Where a number vanishes at a point at which the equations are singular: from points around it, ever closer ones.

    None where the number jumps from one sign to the other however close they are.
    """
    low, high, best = 0.0, 1.0, None
    while high - low > SOME_DIGITS:
        shares = [low + (high - low) * one for one in SHARES]
        known = [(share, node) for share in shares if (node := at(share)) and not np.isnan(node.seen.numbers[label])]
        values = np.array([node.seen.numbers[label] for _, node in known])
        change = np.flatnonzero(values[:-1] * values[1:] < 0.0)
        if not len(change):
            break
        i, steps = int(change[0]), np.abs(np.diff(values))
        jumps = bool(np.any(steps[change] > JUMP * np.sum(steps)))
        found = None if jumps else _interpolated([node for _, node in known], values, i, label, spot)
        if found is not None and (best is None or found.left < best.left):
            best = found
        elif best is not None:
            break
        low, high = known[max(i - 1, 0)][0], known[min(i + 2, len(known) - 1)][0]
        if len(known) < len(SHARES) and high - low > LITTLE_LESS * (shares[-1] - shares[0]):
            break
    return best


def _interpolated(known: list[EventNode], values: Array, i: int, label: Label, spot: Callable[[Array], Spot]) -> Met:
    """The zero of a number between points i and i + 1 by polynomials of two degrees through points around it."""
    a, b = known[i], known[i + 1]
    points, apart = np.array([node.w for node in known]), float(np.max(np.abs(b.w - a.w)))
    w, rough = (interpolated_zero(values[own], points[own]) for own in (slice(None), slice(1, None)))
    if len(known) < FEWEST or np.count_nonzero(values[:-1] * values[1:] < 0.0) > 1 or np.max(np.abs(w - a.w)) > apart:
        return Met(label, a, a.seen, b.seen, apart)  # no smooth zero: all that is known is between which points
    node = EventNode(w, a.t, a.border, replace(a.seen, spot=spot(w)))
    return Met(label, node, a.seen, b.seen, float(np.max(np.abs(w - rough))))


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
