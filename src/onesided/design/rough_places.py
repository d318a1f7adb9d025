"""Where the equations of an event are not smooth: laws with kinks, contacts at ends of segments, bars without length.

The linearised equations are compared at both sides of a point of a curve of events, at two distances: a smooth change
becomes less with the distance, a jump does not.
"""

import numpy as np

from onesided.base.errors import ModelError
from onesided.base.tolerances import QUARTER_DIGITS, SMALL, SOME_DIGITS
from onesided.base.types import Array
from onesided.design.event_curves import CurveOfEvents
from onesided.design.spots import Spot

NEAR, WIDE = SOME_DIGITS, 16.0 * SOME_DIGITS  # distances to both sides of a place that is known to half the digits
LASTING = 0.5  # share of a change at the wide distance that is left at the near one where it is a jump
ANY = QUARTER_DIGITS  # a jump is more than this share of the numbers that jump


def jumps_at(events: CurveOfEvents, w: Array, along: Array) -> tuple[str, ...] | None:
    """The closed constraints whose equations jump at w, perhaps none but energy does; None where all are smooth."""
    try:
        near, wide = ([events.spot(w + way * h * along) for way in (-1.0, 1.0)] for h in (NEAR, WIDE))
        if not _jumps(*(_equations(spot) for spot in (*near, *wide))):
            return None
        own = getattr(events.condition, "j", None)
        rows = sorted({*events.curve.rows.tolist(), *([] if own is None else [own])})
        names = events.where.system.constraint_names
        return tuple(names[j] for j in rows if _jumps(*(_gap(spot, j) for spot in (*near, *wide))))
    except (ModelError, ArithmeticError):
        return None


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
