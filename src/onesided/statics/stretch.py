"""Many points of a curve from one compiled call, as the points that single steps would make."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from onesided._types import Array
from onesided.model.stepping import Here, Knobs
from onesided.statics.curve import NO_CHANGE, Curve, Point, Points
from onesided.statics.hits import Watch, uneventful


class Track(NamedTuple):
    """The last point of a leg and the two before it, as far as there are any."""

    point: Point
    previous: Point | None
    earlier: Point | None


@dataclass(frozen=True)
class Ahead:
    """Points that were reached but not yet examined, the steps that led to them, and the steps to go on with.

    `turns` are the limit points on the way to some of them, by number. `calm`: it is known that nothing happens on the
    way to the point.
    """

    points: Points
    steps: Array
    following: Array
    turns: dict[int, Point]
    calm: Array

    def calm_until(self, i: int) -> int:
        """Number of the first point from i on that is not calm."""
        rest = self.calm[i:]
        return i + (len(rest) if rest.all() else int(rest.argmin()))


def stretch(curve: Curve, track: Track, knobs: Knobs, watch: Watch) -> Ahead | None:
    """Points that follow on a curve, up to the first at which something seems to happen; None where no step succeeds.

    Residual, tangent and inertia are those of the model at the very points; unless a point is calm, nothing has been
    checked on the way to it.
    """
    made = curve.system.march(_here(curve, track), knobs, curve.frame)
    s, steps, following, orientation, pivot, error, turned = made.numbers.T
    if not len(s):
        return None
    e = curve.system.derivatives.unpack(made.blocks)
    x, y, t = made.y * curve.frame.unit, made.y, made.t
    if curve.w < len(curve.scales.gap):
        y, t = y[:, curve.columns], t[:, curve.columns]
    p_dot = t[:, curve.n]
    sense = np.sign(p_dot) * (abs(p_dot) > NO_CHANGE)
    negative, neutral = curve.modes_along(e)
    margins = curve.margins(e, y, t)
    all_points = Points(
        x, y, t, s, negative, orientation, sense, *margins, e.c.copy(), np.array(e.energy), error, pivot, neutral
    )
    return _sorted(curve, all_points, (steps, following), turned > 0, watch)


def _sorted(curve: Curve, points: Points, steps: tuple[Array, Array], turned: Any, watch: Watch) -> Ahead:
    """Limit points apart from the others: each comes after the point that was reached across it."""
    turns = {}
    if turned.any():
        for number, i in enumerate(np.flatnonzero(turned).tolist()):
            turns[i - 1 - number] = points.point(i)
            turns[i - 1 - number].negative, turns[i - 1 - number].neutral = -1, False
        points, steps = points.pick(~turned), (steps[0][~turned], steps[1][~turned])
    return Ahead(points, *steps, turns, uneventful(curve, points, watch))


def _here(curve: Curve, track: Track) -> Here:
    a, p, pp = track
    known = 0 if p is None else 1 if pp is None else 2
    p, pp = p or a, pp or p or a
    s_1 = p.s if known > 0 else a.s - 1.0  # any other number: it is not used
    s_2 = pp.s if known > 1 else s_1 - 1.0
    y, t, t_1, t_2 = (curve.spread(vector) for vector in (a.y, a.t, p.t, pp.t))
    return Here(y, t, t_1, t_2, a.s, s_1, s_2, a.orientation, known)
