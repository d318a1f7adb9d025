"""Where a path starts and where its legs do: along a ray, or where idle or redundant constraints take over.

The start of the whole path is its home: it ends where it comes back to it, and where it has gone too far away.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from onesided.base.tolerances import EPS, QUARTER_DIGITS, SOME_DIGITS, Tolerances
from onesided.base.types import Array
from onesided.results import ConstraintStates, Ray, State
from onesided.statics.curves.activity import roundings
from onesided.statics.curves.corrections import Plane, newton
from onesided.statics.curves.curve import Curve, CurvePoint, CurvePoints
from onesided.statics.curves.spectrum import decided_modes
from onesided.statics.equilibria.place import Standpoint, place
from onesided.statics.rays.rays import ways_to_carry
from onesided.statics.rays.reactions import independent
from onesided.statics.tracing.hits import FLAT
from onesided.statics.tracing.inside import between, interpolate
from onesided.statics.tracing.quiet import TOGETHER, Change, Quiet, ahead_of, directions_beyond

LATER = SOME_DIGITS  # arc length within which contact changes are one event
SAMPLES, SAFETY = 4, 4.0  # combinations of signs that are tried for residuals; errors may be so much larger
FAR = EPS**-0.75  # scaled distance from its start beyond which a path is no longer followed
JUST_BEYOND = 0.01  # of the step in which something changes: near enough for a tangent, too far for round-off


def held(where: Standpoint, curve: Curve, c: CurvePoint) -> Standpoint:
    """The place of a point of a leg: what the leg holds is closed, whatever rounding of a nearly tangent gap says."""
    codes = list(where.active.codes)
    for i in curve.rows[curve.k :] - curve.k:
        if codes[i] == State.inactive:
            codes[i] = State.strong if c.margins[i] > where.tolerances.force else State.weak
    return replace(where, active=ConstraintStates(tuple(int(code) for code in codes)))


def told_apart(where: Standpoint, curve: Curve, c: CurvePoint, row: int) -> Standpoint:
    """The place of a contact change without those that are about to change a little later on.

    Tolerances are shares of sizes that may be far larger than forces and gaps of a fine mesh: by its rate a margin
    says how far away its own event is. That of `row` is here, even if rounding of its gap, which may be nearly tangent,
    says otherwise.
    """
    later = c.margins > np.maximum(LATER * np.abs(c.rates), _margin_errors(where, curve, c))
    codes = list(where.active.codes)
    for i in np.flatnonzero(later):
        if codes[i] == State.weak and curve.k + i != row:
            codes[i] = State.strong if curve.k + i in curve.rows else State.inactive
    if codes[row - curve.k] == State.inactive:
        codes[row - curve.k] = State.weak
    return replace(where, active=ConstraintStates(tuple(int(code) for code in codes)))


def _margin_errors(where: Standpoint, curve: Curve, c: CurvePoint) -> Array:
    """What the residual left at c, and rounding, make of the margins there: soft motions take it up."""
    e = curve.evaluate(where.x)
    known = roundings(e, where.x, where.sizes, where.scales)
    parts = np.concatenate([known[: curve.n], known[curve.n + curve.rows]])
    signs = [np.sign(np.cos(k * np.arange(1.0, curve.size))) for k in range(SAMPLES)]
    moves = [curve.across(e, c.t, R) for R in (curve.residual(e), *(parts * sign for sign in signs))]
    shifts = [np.abs(curve.margin_rates(e, move)) for move in moves]
    return np.asarray(known[curve.n + curve.k :] + SAFETY * np.max(shifts, axis=0))


def start_leg(where: Standpoint, ray: Ray, s: float) -> tuple[Curve, CurvePoint]:
    """The curve of a ray and the point from which it starts, with the tangent that leads on."""
    system = where.system
    curve = where.curve(np.array(ray.rows, dtype=np.intp))
    if ray.continuum:
        curve = curve.along_continuum()
    x = where.x if ray.nu is None else np.concatenate([where.x[: system.n + 1], ray.nu])
    e = system.evaluate_packed(x)
    t = curve.scaled(ray.x_dot)
    t = t / np.sqrt(t @ t)
    y = curve.scaled(x)
    margins = curve.margins(e, y, t)
    negative, orientation, volume = curve.start(x, t)
    error = float(np.max(np.abs(curve.residual(e)), initial=0.0))
    sense = float(ray.p_sign)
    known = (negative, orientation, sense, *margins, e.c, e.energy, error, volume)
    return curve, CurvePoint(curve.packed(y), y, t, s, *known, load=e.L_p)


def two_rays(where: Standpoint, curve: Curve, c: CurvePoint, beyond: tuple[float, float, int]) -> tuple[Ray, Ray]:
    """Back and straight on, with the senses of p before and beyond and the degree of instability.

    At a simple limit point ṗ changed its sign along the path: p̈ decides both alike.
    """
    k, n, (before, sense, degree) = curve.k, curve.n, beyond
    turned, gap_rates = before * sense < 0, curve.gap_rates(curve.evaluate(c.x), c.t)

    def one(sign: float) -> Ray:
        x_dot = curve.packed(sign * c.t)
        return Ray(
            q_dot=x_dot[:n],
            p_dot=float(x_dot[n]),
            mu_dot=x_dot[n + 1 : n + 1 + k],
            lam_dot=x_dot[n + 1 + k :],
            gap_dot=sign * gap_rates,
            p_sign=int(sense if turned else sign * sense),
            order=2 if turned else 1,
            instability=degree,
            closed=tuple(where.system.constraint_names[j] for j in curve.rows[k:]),
            rows=tuple(int(j) for j in curve.rows),
        )

    return one(-1.0), one(1.0)


def goes_on(curve: Curve, ray: Ray, quiet: Quiet) -> Ray:
    """A ray of the same curve with the tangent just beyond a quiet change: stiffness and tangent may jump there.

    So may the sense of p: such a point is a corner.
    """
    h = quiet.beyond.s - quiet.point.s
    beyond = ahead_of(curve, quiet.point, JUST_BEYOND * h) if h > 0 else None
    if beyond is None:
        return ray
    return replace(_with_tangent(curve, ray, beyond), p_sign=int(beyond.sense) or ray.p_sign)


def arriving(curve: Curve, a: CurvePoint, c: CurvePoint) -> CurvePoint:
    """The end c of a step from a, where stiffness may jump, with the tangent just before it.

    Nothing has happened before c: p has kept its sense, unless c is located a little too far on. The slope of the
    energy at c is that of neither side.
    """
    c = replace(c, load=math.nan)
    for fraction in (1.0 - JUST_BEYOND, 0.5) if c.s > a.s else ():
        before = between(curve, a, c, fraction, inertia=False)
        if before is not None and before.sense == a.sense:
            return replace(c, t=before.t, sense=a.sense)
    return replace(c, t=a.t, sense=a.sense)


def taken_over(where: Standpoint, curve: Curve, quiet: Quiet, p_sign: int, *, located: float = TOGETHER) -> Ray | None:
    """The motion along a curve with other constraints to carry it, such that it leads on; None where there are none.

    A step decides, not derivatives: where a stretch of idleness ends, those on its two sides differ. Gradients are
    known as well as the point is `located`.
    """
    if curve.large:
        return None
    roughly = replace(where, tolerances=replace(where.tolerances, rank=located))
    for ray in ways_to_carry(roughly, curve, quiet.point.t):
        ahead = _carried(where, quiet, ray, *start_leg(where, ray, 0.0))
        if ahead is not None:
            return replace(ahead, p_sign=ahead.p_sign or p_sign)
    for ray in ways_to_carry(roughly, curve, quiet.point.t, alike=-1.0):  # stiffness may jump: the path has a corner
        ahead = _round_the_corner(where, curve, quiet, ray)
        if ahead is not None:
            return replace(ahead, p_sign=ahead.p_sign or p_sign)
    return None


def relieves(where: Standpoint, curve: Curve, row: int, c: CurvePoint, b: CurvePoint) -> Quiet | None:
    """A constraint that closes at c, on the way to b, tangentially to those that carry: it takes over from them there.

    Such a place is known to a share of all digits only; gradients that are one in it are taken for two beside it.
    """
    if curve.large or curve.w == curve.k or abs(c.rates[row - curve.k]) > QUARTER_DIGITS or not b.s > c.s:
        return None
    here, rows = place(where.system, c.x, curve.sizes, where.tolerances), np.append(curve.rows, row)
    roughly = replace(here, tolerances=replace(here.tolerances, rank=QUARTER_DIGITS))
    if independent(roughly, rows) or not independent(here, rows) or not b.margins[row - curve.k] < 0.0:
        return None
    return Quiet(Change.leaves, (row,), c, b)


def _round_the_corner(where: Standpoint, curve: Curve, quiet: Quiet, ray: Ray) -> Ray | None:
    """The same by the linearised equations beyond the point, in the sense that lets go of what carried before."""
    other, start = start_leg(where, ray, 0.0)
    t = other.scaled(curve.packed(quiet.point.t))
    freed = [int(row) - curve.k for row in curve.rows if row not in other.rows]
    for direction in directions_beyond(other, replace(start, t=t / np.sqrt(t @ t)), quiet.beyond.s - quiet.point.s):
        start = replace(start, t=direction)
        ahead, end = _carried(where, quiet, ray, other, start), ahead_of(other, start, quiet.beyond.s - quiet.point.s)
        if ahead is not None and end is not None and freed and np.all(end.margins[freed] > FLAT):
            return replace(ahead, beyond=None)
    return None


def _carried(where: Standpoint, quiet: Quiet, ray: Ray, other: Curve, start: CurvePoint) -> Ray | None:
    """A ray with the tangent just beyond its start, p_sign 0 where p hardly changes; None if it does not lead on."""
    names, k, h = where.system.constraint_names, other.k, quiet.beyond.s - quiet.point.s
    end = ahead_of(other, start, h)
    if end is None or not np.all(end.margins >= -where.tolerances.residual):
        return None
    idle = tuple(name for name in ray.idle if end.margins[names.index(name) - k] <= where.tolerances.gap)
    kept = {*idle, *ray.closed} if set(idle) & set(ray.loose) else set()
    near = ahead_of(other, start, JUST_BEYOND * h) or end
    loose = tuple(name for name in ray.loose if name in kept)
    entry = near.x if start.error > where.tolerances.residual else ray.ahead  # its start is known roughly only
    degree = decided_modes(other, near.x, where.tolerances)  # at its start that of the other side may be found
    told = replace(_with_tangent(other, ray, near), p_sign=int(near.sense), idle=idle, loose=loose, ahead=entry)
    return replace(told, beyond=degree, instability=ray.instability if degree is None else degree)


def _with_tangent(curve: Curve, ray: Ray, point: CurvePoint) -> Ray:
    """A ray with the derivatives of a point on its curve."""
    n, k = curve.n, curve.k
    x_dot = curve.packed(point.t)
    return replace(
        ray,
        q_dot=x_dot[:n],
        p_dot=float(x_dot[n]),
        mu_dot=x_dot[n + 1 : n + 1 + k],
        lam_dot=x_dot[n + 1 + k :],
        gap_dot=curve.gap_rates(curve.evaluate(point.x), point.t),
    )


@dataclass(frozen=True)
class Home:
    """The start of a path, which may be met again on a leg with other scales."""

    curve: Curve
    point: CurvePoint
    tolerances: Tolerances
    _known: list[Any] = field(default_factory=lambda: [None, None], init=False, repr=False)  # of the last leg asked for

    def on(self, curve: Curve) -> tuple[Array, Array] | None:
        """Start and direction in the scaled variables of a leg; None where that is on another piece."""
        if self._known[0] is not curve:
            self._known[:] = curve, self._seen_from(curve)
        return cast("tuple[Array, Array] | None", self._known[1])

    def _seen_from(self, curve: Curve) -> tuple[Array, Array] | None:
        if tuple(curve.rows) != tuple(self.curve.rows):
            return None
        t = curve.scaled(self.curve.packed(self.point.t))
        return curve.scaled(self.point.x), t / np.sqrt(t @ t)

    def between(self, curve: Curve, a: CurvePoint, b: CurvePoint) -> CurvePoint | None:
        """The start, if the way from a to b leads through it in the direction in which it was left."""
        here, h = self.on(curve), b.s - a.s
        if here is None or h <= 0.0:
            return None
        home, along = here
        ahead = float(a.t @ (home - a.y))
        if not 0.0 <= ahead <= h or float(b.t @ along) < 0.5:
            return None
        if float(abs(interpolate(a, b, ahead / h) - home).max()) > h:  # it passes by
            return None
        near = between(curve, a, b, ahead / h)
        found = near and newton(curve, near.y, Plane(along, float(along @ home)), target=EPS, limit=8, reach=h)
        if not found or not found.converged or not self.same(found.y, home):
            return None
        return replace(self.point, y=home, t=along, s=a.s + ahead, negative=b.negative)

    def is_at(self, curve: Curve, point: CurvePoint) -> bool:
        """Whether a path goes on from an event as it did from its start."""
        here = self.on(curve)
        return here is not None and self.same(point.y, here[0]) and float(point.t @ here[1]) > 0.9

    def same(self, y: Array, home: Array) -> bool:
        """Whether two scaled points are one."""
        return bool(np.max(np.abs(y - home)) <= np.sqrt(self.tolerances.singularity))

    def is_far(self, y: Array) -> bool:
        """Whether a scaled point has left the reach of numbers, in its place or in its reactions."""
        start = self.point.y[: self.curve.n + 1]
        moved, reactions = abs(y[: len(start)] - start), abs(y[len(start) :])
        return bool(max(moved.max(), reactions.max(initial=0.0)) > FAR)

    def until(self, curve: Curve, points: CurvePoints, first: int, last: int) -> int:
        """Number of the first of these points that is far away or on a step past the start of the path, or `last`."""
        start, before = self.point.y[: self.curve.n + 1], slice(first - 1, last - 1)
        special = abs(points.y[first:last, : len(start)] - start).max(axis=1) > FAR
        home = self.on(curve)
        if home is not None:
            to_home = ((home[0] - points.y[before]) * points.t[before]).sum(axis=1)
            special |= (to_home >= 0) & (to_home <= points.s[first:last] - points.s[before])
        return first + int(special.argmax()) if special.any() else last
