"""Forks ahead of a path that is lost in rounding: the equations of a fork keep the digits that its branch loses.

On a branch that meets another one at the distance ξ, with a mode of stiffness ξ², residuals of size ε leave p unknown
by ε/ξ: of slender structures no step is short enough for that. Where J loses rank is a regular problem all the same.
"""

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from onesided.base.tolerances import QUARTER_DIGITS, Tolerances
from onesided.base.types import Array
from onesided.statics.curves.curve import Curve, CurvePoint
from onesided.statics.curves.spectrum import InseparableError, split
from onesided.statics.rays.reduced import Reduced
from onesided.statics.tracing.singular import is_singular_equilibrium
from onesided.statics.tracing.singular_place import reduced_at, singular_place

SHARES = (0.75, 0.5, 0.25)  # of the way back from the fork at which its branch is looked for


def fork_ahead(
    curve: Curve, a: CurvePoint, tolerances: Tolerances, others: Iterable[CurvePoint] = ()
) -> CurvePoint | None:
    """The fork that a branch leads to beyond its last point a, as the end of a step; None where there is none.

    The path comes nearer to it in the amplitude of the mode that vanishes there; the branch is found again on the way
    back from the fork to a, and no other mode changes its sign between them. It is looked for from a, then from others:
    rounding may hide at a what it does not hide further away.
    """
    places = (_from_start(curve, a, start.y, tolerances) for start in (a, *others))
    return next((found for found in places if found is not None), None)


def _from_start(curve: Curve, a: CurvePoint, start: Array, tolerances: Tolerances) -> CurvePoint | None:
    """The same from one place."""
    measured = curve.measured_at(a.x)
    try:
        y = singular_place(measured, start, 1, a.s, tolerances)
        if y is None or not _is_fork(measured, replace(a, x=curve.packed(y), y=y), tolerances):
            return None
        here, there = (split(measured, curve.packed(place), tolerances, keep=1) for place in (a.y, y))
    except InseparableError:
        return None
    reduced = reduced_at(measured, y, there)
    amplitude, rate = float(reduced.coordinates(a.y)[0]), float(reduced.G[0] @ a.t)
    if not amplitude * rate < 0.0 or here.outside != there.outside or not _leads_back(reduced, a):
        return None
    return _end_of_step(curve, a, y, math.copysign(1.0, rate) * there.span[:, 0])


def _is_fork(curve: Curve, point: CurvePoint, tolerances: Tolerances) -> bool:
    """Whether the point is an equilibrium at which one mode vanishes; of several the softest alone says nothing."""
    alone = split(curve, point.x, tolerances).N.shape[1] == 2
    return alone and is_singular_equilibrium(curve, point, tolerances)


def _end_of_step(curve: Curve, a: CurvePoint, y: Array, direction: Array) -> CurvePoint:
    """The fork as a point of the path, with the inertia and the sense of p on the way to it."""
    way, x, t = y - a.y, curve.packed(y), direction / np.linalg.norm(direction)
    h, e = math.sqrt(way @ way), curve.evaluate(x)
    margins, rates = curve.margins(e, y, t)
    known = replace(a, x=x, y=y, t=t, s=a.s + h, margins=margins, rates=rates, c=e.c.copy(), energy=e.energy)
    error = float(np.max(np.abs(curve.residual(e)), initial=0.0))
    return replace(known, error=error, volume=math.nan, load=e.L_p, s_middle=math.nan, middle_slope=math.nan)


def _leads_back(reduced: Reduced, a: CurvePoint) -> bool:
    """Whether a branch of equilibria leaves a fork towards a: p changes with the square of the amplitude."""
    ends = reduced.coordinates(a.y)
    rest = a.y - reduced.y - reduced.N @ ends
    if not np.all(np.abs(ends) > 0):
        return False
    room = QUARTER_DIGITS * abs(float(reduced.y[reduced.piece.n]))  # rounding moves p by less
    on = reduced.resized(np.maximum(np.abs(ends), [0.0, room]))
    for share in SHARES:
        way = np.array([share, share**2]) * ends
        level = float(np.linalg.norm(way / on.radii))
        found = on.on_branch(on.y + on.N @ way + share**2 * rest, level)
        if found is None or not 0.5 * share <= level * found.b[0] * np.sign(ends[0]) <= 1.0:
            return False
    return True
