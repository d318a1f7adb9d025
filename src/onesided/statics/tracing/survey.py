"""Steps of a path looked into: gaps and stiffness in many places, the more so where no bend limits the steps.

A look costs a fraction of a microsecond: the gaps, and the matrix A = [[K, Eᵀ], [E, 0]] times one random vector, drawn
anew in every place. What that tells of the inertia is found in `stiffness_looks`.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Protocol

import numpy as np

from onesided.base.tolerances import EPS, Tolerances
from onesided.base.types import Array, Indices, Mask
from onesided.evaluation.equilibrium_blocks import Evaluation
from onesided.evaluation.path_steps import LONG
from onesided.statics.curves.curve import Curve, CurvePoint
from onesided.statics.tracing.hits import PathWatch, Trigger
from onesided.statics.tracing.inside import StepEnds, between, spread
from onesided.statics.tracing.stiffness_looks import (
    SEED,
    TESTS,
    Looks,
    StiffnessLooks,
    SurveyedStep,
    SurveyedSteps,
    packed,
)
from onesided.statics.tracing.stretch import Ahead, ReachedEnd, in_a_row

BENT = 0.25  # share of the angle aimed at by which the path turns on the largest step, if it is not straight
LOOKS = 16.0  # places per point that are looked at, besides those of a whole straight path
WHOLE = 2.0  # how often the places of a whole straight path are looked at before it counts as endless
PATH = 10.0  # length of a path, in scaled units, of which nothing is known
DENSE = 40  # unknowns beyond which straight stretches are looked at in fewer places, on bent paths in still fewer
MOST = 1000  # places on one step
COARSER = 2.0  # distance of places on bent steps, by that on straight ones
PAST = 1.25  # of the way to a bound of p on a straight step: what lies further is no part of the path
MIDDLES = 4.0  # such distances: shorter bent steps were looked at in their middle
MANY = 2_000_000  # entries of matrices at a time
DRAWN = 1009  # random vectors that are used again and again
BENDS = EPS**0.1875  # share of a gap by which a place may lie off the line between its neighbours
FINER = 8  # places between two
ODD = 32  # places of one call beside which more are looked at


class StraightSteps(Protocol):
    """What a method says about straight stretches."""

    @property
    def max_step(self) -> float:
        """Length of path no step exceeds, in scaled unknowns."""

    @property
    def turn(self) -> float:
        """Angle between successive tangents, in radians, that a step is made for."""

    @property
    def resolution(self) -> float:
        """Distance of places, as a share of the path."""


class Survey:
    """Looks at the steps of one path.

    Parameters
    ----------
    method, watch : step control; bounds of p and tolerances.
    """

    def __init__(self, method: StraightSteps, watch: PathWatch) -> None:
        self.method, self.watch = method, watch
        self.looks, self.straight = 0, True

    def ahead(
        self, curve: Curve, here: CurvePoint, made: Ahead, points: int, *, compiled: bool
    ) -> tuple[int, float] | None:
        """The first step of some in a row on which something is seen, by number, and the fraction of it up to there."""
        s = np.append(here.s, made.points.s)
        bent = self._bent(np.concatenate([here.t[None], made.points.t]), s)
        events = [i for i, one in made.located.items() if one.trigger is not Trigger.bound]
        parts = np.where(bent, 1.0, self._parts(curve, np.append(here.y[curve.n], made.points.y[:, curve.n])))
        counts = self._places(curve, (s, parts), bent, points, events)
        chosen, most = np.flatnonzero(counts), max(1, MANY // (curve.n + curve.w) ** 2)
        for some in (chosen[first : first + most] for first in range(0, len(chosen), most)):
            steps = SurveyedSteps(curve, here, made, some, bent)
            found = self._first(curve, steps, (counts[some], parts[some]), compiled=compiled)
            if found is not None:
                return int(some[found[0]]), found[1]
        return None

    def until(self, curve: Curve, a: CurvePoint, b: CurvePoint, e: Evaluation, points: int, *, compiled: bool) -> float:
        """Fraction of a step up to which nothing is seen: 1, unless something is; e are the blocks at b."""
        made = in_a_row(curve, [ReachedEnd(b, b.s - a.s, e, b.s - a.s, None, None, calm=False)])
        found = self.ahead(curve, a, made, points, compiled=compiled)
        return 1.0 if found is None else found[1]

    def _bent(self, t: Array, s: Array) -> Mask:
        """Which of many steps in a row, given tangents and arc lengths of all their ends, are limited by bends."""
        move = t[1:] - t[:-1]
        angle = 2.0 * np.arcsin(np.minimum(1.0, 0.5 * np.sqrt((move * move).sum(axis=1))))
        most = self.method.max_step * np.maximum(1.0, LONG * s[1:])
        bent = np.asarray(angle * most > BENT * self.method.turn * (s[1:] - s[:-1]))
        self.straight &= not bent.any()
        return bent

    def _parts(self, curve: Curve, p: Array) -> Array:
        """Shares of straight steps in a row that lie on the path, given scaled p at all their ends."""
        low, high = (bound / curve.unit[curve.n] for bound in self.watch.p_bounds)
        before, after = p[:-1], p[1:]
        bound = np.where(after > before, high, low)
        with np.errstate(divide="ignore", invalid="ignore"):
            way = PAST * (bound - before) / (after - before)
        return np.asarray(np.where((way > 0.0) & (way < 1.0), way, 1.0))

    def _places(
        self, curve: Curve, steps: tuple[Array, Array], bent: Mask, points: int, skipped: Sequence[int]
    ) -> Indices:
        """Numbers of places to look at on steps in a row, given the arc lengths of all their ends, and their parts."""
        (low, high), (s, parts) = self.watch.p_bounds, steps
        h = parts * (s[1:] - s[:-1])
        size = np.maximum(s[:-1] + h, (high - low) / curve.unit[curve.n] if high - low < math.inf else PATH)
        fewer = max(1.0, curve.size / DENSE)
        apart = self.method.resolution * (fewer if self.straight else fewer**2) * size
        apart[bent] *= COARSER
        places = np.minimum(h / apart, MOST).astype(int)
        places[bent & (h < MIDDLES * apart)] = 0
        places[skipped] = 0
        left = int(WHOLE / self.method.resolution + LOOKS * points) - self.looks
        places = np.asarray(np.maximum(0, np.minimum(places, left - (np.cumsum(places) - places))))
        self.looks += int(places.sum())
        return places

    def _first(
        self, curve: Curve, steps: SurveyedSteps, looked: tuple[Indices, Array], *, compiled: bool
    ) -> tuple[int, float] | None:
        """The first of some steps on which something is seen, and the fraction of it up to there.

        `looked` are the numbers of places on every step, and the part of it on which they lie.
        """
        counts, parts = looked
        owner, share = spread(counts)
        share = share * parts[owner]
        compiled |= curve.system.derivatives.looks_pay(len(owner))
        Y = steps.interpolated(owner, share)
        drawn = _vectors(curve.n + curve.w)
        Z = drawn[np.arange(self.looks, self.looks + len(Y)) % len(drawn)]
        c, AZ = (_look if compiled else _look_closely)(curve, Y, Z)
        low = self._low_gaps(curve, steps, (owner, share), _margins(curve, Y, c))
        looks = StiffnessLooks(curve, steps, Looks(owner, share, Y, Z, AZ, drawn[:TESTS]))
        for i in sorted({*low, *looks.odd, *looks.rough}):
            for tell in (low.get, looks.odd_at):
                fraction = tell(i)
                if fraction is not None and (not steps.bent[i] or _is_odd(curve, steps.step(i), fraction, self.watch)):
                    return i, fraction
        return None

    def _low_gaps(
        self, curve: Curve, steps: SurveyedSteps, places: tuple[Indices, Array], margins: Array
    ) -> dict[int, float]:
        """Steps on which a gap or reaction is below zero, and below both ends, and the first fraction where it is."""
        if not margins.shape[1]:
            return {}
        (owner, share), tolerances = places, self.watch.tolerances
        found = dict(dips(curve, steps, places, margins, tolerances))
        floors = np.minimum(steps.margins.min(axis=1), 0.0) - tolerances.residual
        for j in np.flatnonzero((margins < floors[owner]).any(axis=1))[::-1].tolist():
            found[int(owner[j])] = float(share[j])
        return found


@cache
def _vectors(size: int) -> Array:
    """Random vectors; no entry is close to zero: of few unknowns every one is felt."""
    Z = np.random.default_rng(SEED).uniform(-1.0, 1.0, (DRAWN, size))
    return np.asarray(Z + np.copysign(0.5, Z))


def _margins(curve: Curve, Y: Array, c: Array) -> Array:
    """Scaled gaps of open and reactions of closed unilateral constraints in many places."""
    k = curve.k
    values = c[:, k:] / curve.scales.gap[k:]
    values[:, curve.rows[k:] - k] = Y[:, curve.n + 1 + k :]
    return np.asarray(values)


def _is_odd(curve: Curve, step: SurveyedStep, fraction: float, watch: PathWatch) -> bool:
    """Whether the path itself has a gap below zero, or another inertia than both ends, at a fraction of a bent step."""
    point = between(curve, step.a, step.b, fraction)
    if point is None:
        return True
    below = (point.margins < floor_of(step, watch.tolerances)).any()
    known = step.a.negative >= 0 and not point.neutral  # but for rounding
    return bool(below or (known and point.negative not in {step.a.negative, step.b.negative}))


def _look(curve: Curve, Y: Array, Z: Array) -> tuple[Array, Array]:
    """Values of all constraints in many places, and the matrix A of each times its row of Z, by compiled looks."""
    n, rows, sizes, gap = curve.n, curve.rows, curve.sizes, curve.scales.gap[curve.rows]
    directions = np.zeros((len(Y), n + 1 + len(curve.scales.gap)))
    directions[:, :n] = Z[:, :n] * sizes.length
    directions[:, n + 1 + rows] = -Z[:, n:] * (sizes.energy / gap)  # L_q falls with multipliers by the gradients
    c, slopes = curve.system.look(packed(curve, Y), directions)
    return c, np.hstack([slopes[:, :n] * (sizes.length / sizes.energy), slopes[:, n + rows] / gap])


def _look_closely(curve: Curve, Y: Array, Z: Array) -> tuple[Array, Array]:
    """The same from the blocks."""
    n, z, sizes, gap = curve.n, Z[:, :, None], curve.sizes, curve.scales.gap[curve.rows]
    e = curve.system.evaluate_many(packed(curve, Y))
    K = e.L_qx[:, :, :n] * (np.outer(sizes.length, sizes.length) / sizes.energy)
    E = e.c_x[:, curve.rows, :n] * (sizes.length / gap[:, None])
    return e.c, np.concatenate([K @ z[:, :n] + E.transpose(0, 2, 1) @ z[:, n:], E @ z[:, :n]], axis=1)[:, :, 0]


class GapSteps(Protocol):
    """Many steps: margins at both ends, along a second axis, and points in between."""

    @property
    def margins(self) -> Array:
        """Gaps and reactions, without units."""

    def interpolated(self, owner: Indices, f: Array) -> Array:
        """Scaled points at fractions of steps whose numbers are the owners."""


def dips(
    curve: Curve, steps: GapSteps, places: tuple[Indices, Array], values: Array, tolerances: Tolerances
) -> Mapping[int, float]:
    """Numbers of the steps on which an open gap dips below zero between places, and the first fraction where it does.

    A dip that is narrower than the distance of two places still bends the gap beside it: where a place lies off the
    line between its neighbours, by a share of the gap that no wide feature has, places in between are looked at too.

    Parameters
    ----------
    places : of all places, the number of the step and the fraction of it.
    values : scaled gaps in these places, a column per unilateral constraint.
    """
    still_open = np.setdiff1d(np.arange(values.shape[1]), curve.rows[curve.k :] - curve.k)
    found: dict[int, float] = {}
    if not len(still_open):
        return found
    owner, f, G = _with_ends(steps, places, values[:, still_open], still_open)
    bend, low = abs(G[:-2] - 2.0 * G[1:-1] + G[2:]), np.minimum(np.minimum(G[:-2], G[2:]), G[1:-1])
    odd = (bend > BENDS * abs(low)).any(axis=1) & (owner[:-2] == owner[2:])
    for j in np.flatnonzero(odd)[:ODD].tolist():
        fine = np.linspace(f[j], f[j + 2], 2 * FINER + 1)[1:-1]
        inside = steps.interpolated(np.full(len(fine), owner[j]), fine)
        below = scaled_gaps(curve, inside, still_open) < -tolerances.residual
        if below.any():
            found.setdefault(int(owner[j]), float(fine[below.any(axis=1).argmax()]))
    return found


def floor_of(step: StepEnds, tolerances: Tolerances) -> Array:
    """Scaled gaps below which they are below zero, and below both ends of a step."""
    return np.asarray(np.minimum(np.minimum(step.a.margins, step.b.margins), 0.0) - tolerances.residual)


def _with_ends(
    steps: GapSteps, places: tuple[Indices, Array], values: Array, rows: Indices
) -> tuple[Indices, Array, Array]:
    """Steps, fractions and gaps of the places and of both ends of every step, in order along the path."""
    (owner, share), ends = places, steps.margins[:, :, rows]
    numbers = np.arange(len(ends))
    counts = np.bincount(owner, minlength=len(ends)) + 2
    last = np.cumsum(counts) - 1
    inside = np.arange(len(owner)) + 2 * owner + 1
    f, G = np.zeros(int(counts.sum())), np.empty((int(counts.sum()), len(rows)))
    f[inside], f[last] = share, 1.0
    G[inside], G[last - counts + 1], G[last] = values, ends[:, 0], ends[:, 1]
    return np.repeat(numbers, counts), f, G


def scaled_gaps(curve: Curve, Y: Array, rows: Indices) -> Array:
    """Scaled gaps at some scaled points."""
    X = Y[:, : curve.n + 1] * curve.unit[: curve.n + 1]
    return np.asarray(curve.system.constraint_values(X)[:, curve.k + rows] / curve.scales.gap[curve.k + rows])
