"""Many points of a curve from one compiled call, as the points that single steps would make."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from onesided.base.types import Array, Indices
from onesided.evaluation.equilibrium_blocks import Evaluation
from onesided.evaluation.path_steps import BOUND, TURN
from onesided.evaluation.step_data import Here, PathStretch, StepKnobs
from onesided.statics.curves.curve import NO_CHANGE, Curve, CurvePoint, CurvePoints
from onesided.statics.curves.factors import Factors
from onesided.statics.tracing.hits import Located, PathWatch, Trigger, uneventful
from onesided.statics.tracing.inside import Middle

_columns = attrgetter(*CurvePoints._fields)
TRIGGERS = {TURN: Trigger.limit, BOUND: Trigger.bound}


class Track(NamedTuple):
    """The last point of a leg and the two before it, as far as there are any."""

    point: CurvePoint
    previous: CurvePoint | None
    earlier: CurvePoint | None
    middle: Middle | None  # of the last step


@dataclass(frozen=True)
class Ahead:
    """Points that were reached but not yet examined, the steps that led to them, and the steps to go on with.

    `located` are the limit points, or the bound, on the way to some of them, by number. `calm`: it is known that
    nothing happens on the way to the point. `blocks` tells those of the model at a point, `hessians` L_qx and c_x at
    many, `middles` are those of the steps and `factors` those of K at the points, where they are known. `gap_sizes` are
    those of all constraints.
    """

    points: CurvePoints
    blocks: Callable[[int], Evaluation]
    hessians: Callable[[Indices], tuple[Array, Array]]
    steps: Array
    following: Array
    located: dict[int, Located]
    calm: Array
    gap_sizes: Array
    middles: Sequence[Middle | None] = ()
    factors: Sequence[Factors] = ()

    def middle(self, i: int) -> Middle | None:
        """The middle of the step to point number i, if it is known."""
        return self.middles[i] if self.middles else None

    def until(self, i: int) -> "Ahead":
        """The same with the first i points only."""
        located = {number: one for number, one in self.located.items() if number < i}
        return replace(
            self,
            points=self.points.pick(slice(0, i)),
            steps=self.steps[:i],
            following=self.following[:i],
            located=located,
            calm=self.calm[:i],
        )

    def calm_until(self, i: int) -> int:
        """Number of the first point from i on that is not calm."""
        rest = self.calm[i:]
        return i + (len(rest) if rest.all() else int(rest.argmin()))


def stretch(curve: Curve, track: Track, knobs: StepKnobs, watch: PathWatch) -> Ahead | None:
    """Points that follow on a curve, up to the first at which something seems to happen; None where no step succeeds.

    Residual, tangent and inertia are those of the model at the very points; unless a point is calm, nothing has been
    checked on the way to it.
    """
    made = curve.system.march(_here(curve, track), knobs, curve.frame)
    if not len(made.numbers):
        return None
    e = curve.system.derivatives.unpack_stretch(made.blocks)
    steps, following, kind = made.numbers[:, 1], made.numbers[:, 2], made.numbers[:, 6]
    all_points, factors = _points(curve, made, e)
    special = np.flatnonzero(kind).tolist()
    located = {
        i - 1 - number: Located(TRIGGERS[kind[i]], all_points.point(i), e.at(i))
        for number, i in enumerate(special)  # each comes after the point that was reached across it
    }
    points, rest = all_points, np.flatnonzero(kind == 0)
    if special:
        points, steps, following = all_points.pick(rest), steps[rest], following[rest]
    calm, known = uneventful(curve, points, watch), [factors[i] for i in rest]
    gap_sizes = e.gap_sizes(curve.sizes.length)[rest]
    return Ahead(
        points,
        lambda i: e.at(rest[i]),
        lambda some: (e.L_qx[rest[some]], e.c_x[rest[some]]),
        steps,
        following,
        located,
        calm,
        gap_sizes,
        factors=known,
    )


def _points(curve: Curve, made: PathStretch, e: Evaluation) -> tuple[CurvePoints, list[Factors]]:
    """All points that were reached, those of events among them, and factors of K there."""
    s, _, _, orientation, volume, error, _, s_middle, middle_slope = made.numbers.T
    x, y, t = made.y * curve.frame.unit, made.y, made.t
    if curve.w < len(curve.scales.gap):
        y, t = y[:, curve.columns], t[:, curve.columns]
    p_dot = t[:, curve.n]
    sense = np.sign(p_dot) * (abs(p_dot) > NO_CHANGE)
    negative, neutral, factors = curve.modes_along(e)
    directions = negative, orientation, sense
    known = e.c.copy(), np.array(e.energy), error, volume, neutral, e.L_x[:, -1].copy(), s_middle, middle_slope
    return CurvePoints(x, y, t, s, *directions, *curve.margins(e, y, t), *known), factors


class ReachedEnd(NamedTuple):
    """A point made by a single step, the step, the blocks there, the step to go on with, and what is known of it."""

    point: CurvePoint
    step: float
    blocks: Evaluation
    following: float
    middle: Middle | None
    located: Located | None
    calm: bool


def in_a_row(curve: Curve, made: Sequence[ReachedEnd]) -> Ahead:
    """Points of single steps as those of a stretch; nothing is said about the way to the first."""
    points = (_columns(one.point) for one in made)
    calm = np.array([one.calm for one in made])
    calm[0] = False
    return Ahead(
        CurvePoints(*(np.array(column) for column in zip(*points, strict=True))),
        lambda i: made[i].blocks,
        lambda some: (np.array([made[i].blocks.L_qx for i in some]), np.array([made[i].blocks.c_x for i in some])),
        np.array([one.step for one in made]),
        np.array([one.following for one in made]),
        {i: one.located for i, one in enumerate(made) if one.located is not None},
        calm,
        np.array([one.blocks.gap_sizes(curve.sizes.length) for one in made]),
        [one.middle for one in made],
    )


def _here(curve: Curve, track: Track) -> Here:
    a, p, pp, m = track
    known = 0 if p is None else 1 if pp is None else 2
    p, pp = p or a, pp or p or a
    s_1 = p.s if known > 0 else a.s - 1.0  # any other number: it is not used
    s_2 = pp.s if known > 1 else s_1 - 1.0
    t_m, s_m, volume = (a.t, a.s, math.nan) if m is None else (m.t, m.s, m.volume)
    y, t, t_1, t_2, t_m = (curve.spread(vector) for vector in (a.y, a.t, p.t, pp.t, t_m))
    margins, rates = np.zeros((2, len(y)))
    ahead = len(y) - len(a.margins)
    margins[ahead:], rates[ahead:] = a.margins, a.rates
    lengths = (a.s, s_1, s_2, s_m)
    return Here(y, t, t_1, t_2, t_m, margins, rates, *lengths, a.orientation, known, a.volume, volume, p.volume)
