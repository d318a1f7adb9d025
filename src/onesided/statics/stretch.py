"""Many points of a curve from one compiled call, as the points that single steps would make."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from onesided.model.stepping import Here, Knobs
from onesided.statics.curve import Curve, Point, sense_of
from onesided.statics.hits import Watch, uneventful


class Track(NamedTuple):
    """The last point of a leg and the two before it, as far as there are any."""

    point: Point
    previous: Point | None
    earlier: Point | None


class Ahead(NamedTuple):
    """A point that was reached but not yet examined, the step that led to it, and the step to go on with.

    `turn` is the limit point on the way to it, if there is one. `calm`: it is known that nothing happens on the way.
    """

    point: Point
    step: float
    following: float
    turn: Point | None = None
    calm: bool = False


def stretch(curve: Curve, track: Track, knobs: Knobs, watch: Watch) -> list[Ahead]:
    """Points that follow on a curve, up to the first at which something seems to happen.

    Residual, tangent and inertia are those of the model at the very points; unless a point is calm, nothing has been
    checked on the way to it.
    """
    made = curve.system.march(_here(curve, track), knobs, curve.frame)
    if not len(made.y):
        return []
    e = curve.system.derivatives.unpack(made.blocks)
    X, Y, T = made.y * curve.frame.unit, made.y[:, curve.columns], made.t[:, curve.columns]
    modes = curve.modes_along(e)
    margins, rates = curve.margins(e, Y, T)
    ahead = []
    rows = zip(
        X, Y, T, modes, margins, rates, e.c.copy(), np.asarray(e.energy).tolist(), made.numbers.tolist(), strict=True
    )
    for x, y, t, (negative, neutral), margin, rate, c, energy, (s, h, following, orientation, pivot, error) in rows:
        sense = sense_of(t[curve.n])
        point = Point(x, y, t, s, negative, orientation, sense, margin, rate, c, energy, error, pivot, neutral)
        ahead.append(Ahead(point, h, following))
    if made.turned:
        turn = replace(ahead.pop().point, negative=-1, neutral=False)
        ahead[-1] = ahead[-1]._replace(turn=turn)
    calm = uneventful(curve, [one.point for one in ahead], watch)
    return [one._replace(calm=True) if quiet else one for one, quiet in zip(ahead, calm, strict=True)]


def _here(curve: Curve, track: Track) -> Here:
    a, p, pp = track
    known = 0 if p is None else 1 if pp is None else 2
    p, pp = p or a, pp or p or a
    s_1 = p.s if known > 0 else a.s - 1.0  # any other number: it is not used
    s_2 = pp.s if known > 1 else s_1 - 1.0
    y, t, t_1, t_2 = (curve.spread(vector) for vector in (a.y, a.t, p.t, pp.t))
    return Here(y, t, a.s, a.orientation, t_1, s_1, t_2, s_2, known)
