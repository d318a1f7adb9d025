"""What is watched along a curve of events: numbers whose zeros are its own special points."""

from dataclasses import dataclass, field

import numpy as np

from onesided.base.types import Array
from onesided.design.conditions import Condition, Meets, Release, Turn
from onesided.design.event_curves import CurveOfEvents
from onesided.design.spots import Spot
from onesided.results import Encounter, Kind

Label = tuple[Encounter, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Sighting:
    """A point of a curve of events, looked at.

    Attributes
    ----------
    numbers : kind of meeting and constraints → a number that changes its sign there.
    degrees : negative modes on both sides of the event;  words : what the event is.
    """

    spot: Spot
    degrees: tuple[int, int]
    words: str
    numbers: dict[Label, float] = field(default_factory=dict)


def look(events: CurveOfEvents, w: Array, border: Array) -> Sighting | None:
    """The numbers to be watched at a point; None where the equations are singular."""
    spot = events.spot(w, border)
    loose = events.loose(spot)
    if loose is None:
        return None
    numbers = _margins(events, spot)
    if events.condition is None:
        numbers[Encounter.turns, ()] = float(np.linalg.det(loose.rates[:, :2]))
        return Sighting(spot, _around(spot), f"{events.event.kind.value}, {_told(_around(spot))}", numbers)
    crossing = float(loose.rates[0, 0] / (spot.t @ spot.t))
    if isinstance(events.condition, Turn):
        numbers[Encounter.cusp, ()] = crossing
        numbers[Encounter.hilltop, ()] = spot.orientation * spot.volume
        return Sighting(spot, _around(spot), f"{Kind.limit.value}, {_told(_around(spot))}", numbers)
    if not isinstance(events.condition, Meets | Release):
        numbers[Encounter.turns, ()] = crossing
        return Sighting(spot, _around(spot), f"{events.event.kind.value}, {_told(_around(spot))}", numbers)
    return _contact(events, spot, numbers)


def _margins(events: CurveOfEvents, spot: Spot) -> dict[Label, float]:
    """Gaps and reactions of all constraints but those of the event."""
    k, names = len(spot.curve.system.bilateral), spot.curve.system.constraint_names
    margins, _ = spot.curve.margins(spot.e, spot.y, np.zeros(spot.curve.size))
    own = getattr(events.condition, "j", -1)
    corner = own >= 0
    kind = Encounter.corners if corner else Encounter.corner_limit
    first = (names[own],) if corner else ()
    return {(kind, (*first, names[k + j])): float(value) for j, value in enumerate(margins) if k + j != own}


def _around(spot: Spot) -> tuple[int, int]:
    """Negative modes on both sides of a singular point: with and without the mode that vanishes there."""
    curve = spot.curve
    if curve.large:
        found = curve.modes(spot.e)[0]
        return found, found
    values = np.sort(np.linalg.eigvalsh(_reduced(spot)))
    if not len(values):
        return 0, 0
    clear = np.delete(values, np.argmin(np.abs(values)))
    outside = int(np.count_nonzero(clear < 0.0))
    return outside, outside + 1


def _reduced(spot: Spot) -> Array:
    """The scaled Hessian on the null space of the closed constraints."""
    curve = spot.curve
    E = spot.e.c_q[curve.rows] * curve.sizes.length
    T = np.linalg.svd(E)[2][len(E) :].T if len(E) else np.eye(curve.n)
    return np.asarray(T.T @ curve.sizes.hessian(spot.e.L_qq) @ T)


def _contact(events: CurveOfEvents, spot: Spot, numbers: dict[Label, float]) -> Sighting:
    """A contact changes: both pieces that meet there are looked at, with the contact open and closed."""
    j = int(getattr(events.condition, "j", -1))
    name = spot.curve.system.constraint_names[j]
    rows = set(spot.curve.rows.tolist())
    pieces = [_piece(events, spot, sorted(rows - {j}), Meets(j)), _piece(events, spot, sorted(rows | {j}), Release(j))]
    p_rates, leaving, degrees = zip(*pieces, strict=True)
    for p_rate in p_rates:
        numbers[Encounter.corner_limit, (name, "closed" if p_rate is p_rates[1] else "open")] = p_rate
    turned = p_rates[0] * leaving[0] * p_rates[1] * leaving[1] > 0.0  # both lead to the same side of p
    numbers[Encounter.grazes, (name, "open")], numbers[Encounter.grazes, (name, "closed")] = leaving
    kind = Kind.corner_limit if turned else events.event.kind
    kind = Kind.closes if kind is Kind.corner_limit and not turned else kind
    return Sighting(spot, (degrees[0], degrees[1]), f"{kind.value}, {_told((degrees[0], degrees[1]))}", numbers)


def _piece(events: CurveOfEvents, spot: Spot, rows: list[int], condition: Condition) -> tuple[float, float, int]:
    """Of a piece with p as the border: part of the unit tangent along p, rate of the gap or reaction, negative modes."""
    curve = events.curve_on(spot.curve.system, np.array(rows, dtype=np.intp))
    piece = Spot(curve, spot.x, np.eye(1, curve.size, curve.n)[0])
    size, sign = float(np.linalg.norm(piece.t)), piece.orientation
    rate = float(condition.rates(piece, piece.t[:, None])[0])
    return sign / size, sign * rate / size, int(curve.modes(piece.e)[0])


def _told(degrees: tuple[int, int]) -> str:
    return f"negative modes {degrees[0]} | {degrees[1]}"
