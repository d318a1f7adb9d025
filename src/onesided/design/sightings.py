"""What is watched along a curve of events: numbers whose zeros are its own special points."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from onesided.base.tolerances import QUARTER_DIGITS, Tolerances
from onesided.base.types import Array
from onesided.design.conditions import Condition, Level, Meets, Release, Turn
from onesided.design.event_curves import CurveOfEvents, Loose
from onesided.design.spots import NOISE, Spot
from onesided.results import Encounter, Kind
from onesided.statics.curves.spectrum import split

SIDES = ("open", "closed")
FATAL = {Encounter.corner_limit, Encounter.corners, Encounter.contact}  # where margins vanish the event ends


class Label(NamedTuple):
    """What a watched number stands for: kind of meeting, constraints, and of which piece at a contact it is."""

    kind: Encounter
    names: tuple[str, ...] = ()
    piece: str = ""


@dataclass(frozen=True, eq=False)
class Sighting:
    """A point of a curve of events, looked at.

    Attributes
    ----------
    loose : what the equations leave free there.
    numbers : kind of meeting and constraints → a number that changes its sign there.
    degrees : negative modes on both sides of the event;  words : what the event is.
    """

    spot: Spot
    loose: Loose
    degrees: tuple[int, int]
    words: str
    numbers: dict[Label, float] = field(default_factory=dict)


def look(events: CurveOfEvents, w: Array, border: Array) -> Sighting | None:
    """The numbers to be watched at a point; None where the equations are singular."""
    spot = events.spot(w, border, about=True)
    loose = events.loose(spot)
    if loose is None:
        return None
    numbers = _margins(events, spot)
    if events.condition is None:
        numbers[Label(Encounter.hilltop)] = _next_mode(spot)
        return Sighting(spot, loose, _around(spot), f"{events.event.kind.value}, {_told(_around(spot))}", numbers)
    crossing = float(loose.rates[0, 0] / (spot.t @ spot.t))
    if isinstance(events.condition, Turn):
        numbers[Label(Encounter.cusp)] = crossing
        numbers[Label(Encounter.hilltop)] = spot.orientation * spot.volume
        return Sighting(spot, loose, _around(spot), f"{Kind.limit.value}, {_told(_around(spot))}", numbers)
    if isinstance(events.condition, Meets | Release):
        return _contact(events, spot, loose, numbers)
    numbers[Label(Encounter.degree)] = _across(events.condition, spot)
    degree = int(spot.curve.modes(spot.e)[0])
    return Sighting(spot, loose, (degree, degree), f"{events.event.kind.value}, {_told((degree, degree))}", numbers)


def _across(condition: Condition, spot: Spot) -> float:
    """What changes its sign where the degree does, at a point that may be regular: det M at forks, t_p at limit points.

    At a bound t_p vanishes where its own curve turns back, which is told by that.
    """
    size = spot.orientation * spot.volume
    return size if isinstance(condition, Level) else size * float(spot.t[spot.curve.n] / np.linalg.norm(spot.t))


def _margins(events: CurveOfEvents, spot: Spot) -> dict[Label, float]:
    """Gaps and reactions of all constraints but those of the event."""
    k, names = len(spot.curve.system.bilateral), spot.curve.system.constraint_names
    margins, _ = spot.curve.margins(spot.e, spot.y, np.zeros(spot.curve.size))
    own = getattr(events.condition, "j", -1)
    other = Encounter.corner_limit if isinstance(events.condition, Turn) else Encounter.contact
    kind, first = (Encounter.corners, (names[own],)) if own >= 0 else (other, ())
    return {Label(kind, (*first, names[k + j])): float(value) for j, value in enumerate(margins) if k + j != own}


def is_margin(label: Label) -> bool:
    """Whether a number is a gap or a reaction: where it falls below zero the event ends."""
    return label.kind in FATAL and not label.piece


def unsure(events: CurveOfEvents, seen: Sighting, label: Label) -> float:
    """What rounding, and what is left of the equations at a point, make of a gap there, or of all reactions."""
    curve = seen.spot.curve
    j = curve.system.constraint_names.index(label.names[-1])
    rounded = np.zeros((curve.size, 0)) if events.condition is None else seen.spot.rounded  # M is singular at forks
    changes = np.column_stack([rounded, seen.loose.back[:-1]])
    moved = changes[curve.n + 1 :] if j in curve.rows else Meets(j).rates(seen.spot, changes)
    return NOISE * float(np.max(np.abs(moved)))


def own_turns(condition: Condition | None) -> bool:
    """Whether turns of the curve of events are a number of their own: of others cusps and grazes tell them."""
    return not isinstance(condition, Turn | Meets | Release)


def _around(spot: Spot) -> tuple[int, int]:
    """Negative modes on both sides of a singular point: with and without the mode that vanishes there."""
    curve = spot.curve
    if curve.large:
        along = QUARTER_DIGITS * spot.border / np.linalg.norm(spot.border)
        beside = [curve.modes(curve.evaluate(curve.packed(spot.y + way)))[0] for way in (-along, along)]
        return min(beside), max(beside)
    others = _others(spot)
    outside = int(np.count_nonzero(others < 0.0))
    return outside, outside + 1


def _others(spot: Spot) -> Array:
    """Eigenvalues of the reduced Hessian but the one that vanishes at the event."""
    values = np.linalg.eigvalsh(_reduced(spot))
    return np.delete(values, np.argmin(np.abs(values))) if len(values) else values


def _next_mode(spot: Spot) -> float:
    """Size of the softest other mode, with a sign that changes where it vanishes; not watched in large systems."""
    others = np.zeros(0) if spot.curve.large else _others(spot)
    return float(np.prod(np.sign(others)) * np.min(np.abs(others), initial=np.inf)) if len(others) else 1.0


def loads_soft_modes(spot: Spot, tolerances: Tolerances) -> bool:
    """Whether p loads one of the two softest modes: that vanishes at a limit point, others at bifurcations."""
    curve = spot.curve.measured_at(spot.x)
    column = curve.times(spot.e, np.eye(curve.size)[:, curve.n : curve.n + 1])
    loads = split(curve, spot.x, tolerances, keep=2).linear[:2, -1]
    return bool(np.linalg.norm(loads) > QUARTER_DIGITS * np.linalg.norm(column))


def _reduced(spot: Spot) -> Array:
    """The scaled Hessian on the null space of the closed constraints."""
    curve = spot.curve
    E = spot.e.c_q[curve.rows] * curve.sizes.length
    T = np.linalg.svd(E)[2][len(E) :].T if len(E) else np.eye(curve.n)
    return np.asarray(T.T @ curve.sizes.hessian(spot.e.L_qq) @ T)


def _contact(events: CurveOfEvents, spot: Spot, loose: Loose, numbers: dict[Label, float]) -> Sighting:
    """A contact changes: both pieces that meet there are looked at, with the contact open and closed."""
    j = int(getattr(events.condition, "j", -1))
    name = spot.curve.system.constraint_names[j]
    rows = set(spot.curve.rows.tolist())
    pieces = [_piece(events, spot, sorted(rows - {j}), Meets(j)), _piece(events, spot, sorted(rows | {j}), Release(j))]
    p_rates, leaving, forks, degrees = zip(*pieces, strict=True)
    for side, p_rate, rate, fork in zip(SIDES, p_rates, leaving, forks, strict=True):
        numbers[Label(Encounter.corner_limit, (name,), side)] = p_rate
        numbers[Label(Encounter.grazes, (name,), side)] = rate
        numbers[Label(Encounter.degree, (name,), side)] = fork
    turned = p_rates[0] * leaving[0] * p_rates[1] * leaving[1] > 0.0  # both lead to the same side of p
    kind = Kind.corner_limit if turned else events.event.kind
    kind = Kind.closes if kind is Kind.corner_limit and not turned else kind
    return Sighting(spot, loose, (degrees[0], degrees[1]), f"{kind.value}, {_told((degrees[0], degrees[1]))}", numbers)


def _piece(events: CurveOfEvents, spot: Spot, rows: list[int], condition: Condition) -> tuple[float, float, float, int]:
    """Of a piece: part of the unit tangent along p, rate of the gap or reaction, stiffness across, negative modes.

    The tangent has no sense of its own: the sign of det [J; e_p] gives it one that goes on through limit points, where
    the first number vanishes. It changes at forks, where the third vanishes; all three change their sign at both.
    """
    curve = events.curve_on(spot.curve.system, np.array(rows, dtype=np.intp))
    piece = Spot(curve, spot.x, np.eye(1, curve.size, curve.n)[0])
    degree = int(curve.modes(piece.e)[0])
    if not piece.regular:
        across = Spot(curve, spot.x, np.cos(1.0 + np.arange(curve.size, dtype=np.float64)))
        return (0.0, np.nan, np.nan, degree) if across.regular else (np.nan, np.nan, 0.0, degree)
    size, sign = float(np.linalg.norm(piece.t)), piece.orientation
    rate = float(condition.rates(piece, piece.t[:, None])[0])
    return sign / size, sign * rate / size, sign * Spot(curve, spot.x, piece.t / size).volume, degree


def _told(degrees: tuple[int, int]) -> str:
    return f"negative modes {degrees[0]} | {degrees[1]}"
