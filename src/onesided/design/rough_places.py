"""Where the equations of an event are not smooth: laws with kinks, contacts at ends of segments, bars without length.

The linearised equations are compared at both sides of a point of a curve of events, at two distances: a smooth change
becomes less with the distance, a jump does not.
"""

import numpy as np

from onesided.base.errors import ModelError
from onesided.base.tolerances import EPS, QUARTER_DIGITS, SMALL, SOME_DIGITS
from onesided.base.types import Array
from onesided.design.event_curves import CurveOfEvents
from onesided.design.spots import Spot
from onesided.results.member_series import without_length

NEAR, WIDE = SOME_DIGITS, 16.0 * SOME_DIGITS  # distances to both sides of a place that is known to half the digits
LASTING = 0.5  # share of a change at the wide distance that is left at the near one where it is a jump
CLOSE = NEAR / 64.0  # distance over which slopes of member results are taken, on one side of a place
NONE = 64.0 * NEAR  # share of the length of the longest member that is none
ROUNDED = 64.0 * EPS  # share of a result below which its change is rounding
ANY = QUARTER_DIGITS  # a jump is more than this share of the numbers that jump


def jumps_at(events: CurveOfEvents, w: Array, along: Array) -> tuple[str, ...] | None:
    """The closed constraints and members whose equations jump at w, so far as named; None if all are smooth."""
    try:
        near, wide = ([events.spot(w + way * h * along) for way in (-1.0, 1.0)] for h in (NEAR, WIDE))
        if not _jumps(*(_equations(spot) for spot in (*near, *wide))):
            return None
        own = getattr(events.condition, "j", None)
        rows = sorted({*events.curve.rows.tolist(), *([] if own is None else [own])})
        names = events.where.system.constraint_names
        closed = tuple(names[j] for j in rows if _jumps(*(_gap(spot, j) for spot in (*near, *wide))))
        return (*closed, *(name for name in _bent_members(events, w, along) if name not in closed))
    except (ModelError, ArithmeticError):
        return None


def bare_members(events: CurveOfEvents, w: Array) -> tuple[str, ...]:
    """Members of a composed structure whose length vanishes at w."""
    return tuple(without_length(_members(events, w), NONE))


def _bent_members(events: CurveOfEvents, w: Array, along: Array) -> tuple[str, ...]:
    """Members without length at w, or else those whose results depend on the state with a kink there."""
    bare = bare_members(events, w)
    if bare:
        return bare
    places = [w + way * h * along for h in (NEAR, WIDE) for way in (-1.0, 1.0)]
    slopes, sizes = [_member_slopes(events, place) for place in places], _members(events, w)
    noise = {name: ROUNDED * abs(value) / CLOSE for name, value in sizes.items()}
    bent = (
        name
        for name in sizes
        if _jumps(*(np.array([one[name]]) for one in slopes)) and abs(slopes[1][name] - slopes[0][name]) > noise[name]
    )
    return tuple(dict.fromkeys(name.partition(".")[0] for name in bent))


def _member_slopes(events: CurveOfEvents, w: Array) -> dict[str, float]:
    """How the results of all members change in a fixed direction of the coordinates."""
    way = np.zeros(len(w))
    way[: events.curve.n] = CLOSE * np.cos(1.0 + np.arange(events.curve.n))
    before, after = _members(events, w - way), _members(events, w + way)
    return {name: (after[name] - before[name]) / (2.0 * CLOSE) for name in before}


def _members(events: CurveOfEvents, w: Array) -> dict[str, float]:
    """Results of all members of a composed structure, without the sums of several that supports carry."""
    curve = events.curve_at(float(w[-1]))
    n, x = curve.n, curve.packed(w[:-1])
    with np.errstate(divide="ignore", invalid="ignore"):  # of members without length
        found = curve.system.members(x[None, :n], x[n : n + 1], x[None, n + 1 :])
        return {name: float(values[0]) for name, values in found.items() if _of_one(name)}


def _of_one(name: str) -> bool:
    return "." in name and ".reaction" not in name


def stiffness_jumps_at(spot: Spot) -> bool:
    """Whether the stiffness along the curve is another before a point than behind it, but for what is known of it."""
    t = spot.t / np.linalg.norm(spot.t)
    places = [spot.curve.packed(spot.y + h * t) for h in (-SMALL, SMALL, -16.0 * SMALL, 16.0 * SMALL)]
    return _jumps(*(_stiffness(Spot(spot.curve, x, spot.border)) for x in places))


def _jumps(a: Array, b: Array, far_a: Array, far_b: Array) -> bool:
    """Whether numbers differ between a and b that hardly differ more between two places further apart."""
    change, usual = np.abs(b - a), np.max(np.abs([far_a, far_b]), initial=0.0)
    last = (change > ANY * usual) & (change >= LASTING * np.abs(far_b - far_a))
    return bool(np.any(last)) or not np.all(np.isfinite(change))


def _equations(spot: Spot) -> Array:
    """Scaled stiffness in a fixed direction, and the slopes with the parameter."""
    return np.concatenate([_stiffness(spot), spot.R_theta[0]])


def _stiffness(spot: Spot) -> Array:
    """Scaled changes of the equations in a fixed direction."""
    fixed = np.cos(1.0 + np.arange(spot.curve.size))
    return np.asarray(spot.curve.times(spot.e, fixed[:, None])[:, 0])


def _gap(spot: Spot, j: int) -> Array:
    """Slope and bend of a gap in a fixed direction, by their sizes."""
    curve = spot.curve
    fixed = np.zeros(len(spot.x))
    fixed[: curve.n + 1] = np.cos(1.0 + np.arange(curve.n + 1)) * curve.unit[: curve.n + 1]
    slope = float(spot.e.constraint_row(j) @ fixed[: curve.n + 1])
    bend = float(curve.system.along(spot.x, fixed, 2)[curve.n + j])
    return np.asarray(np.array([slope, bend]) / curve.scales.gap[j])
