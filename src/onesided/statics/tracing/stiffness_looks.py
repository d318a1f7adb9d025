"""Inertia in many places of steps, told from a matrix times one random vector in each.

With A = [[K, Eᵀ], [E, 0]] known at both ends of a step, and where that is not enough in its middle, let D be how far A
is off the line, or the parabola, through these. The inertia is the same unless A⁻¹D has an eigenvalue of size one; then
|A⁻¹D z| ≥ |l·z| for its left unit vector l, whatever the coordinates. Where that is not small the matrix itself is
made, first where it is largest. What a parabola does on its own is smooth on the scale of the step: it is looked at
in a few places.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from onesided.base.tolerances import QUARTER_DIGITS
from onesided.base.types import Array, Indices, Mask
from onesided.evaluation.equilibrium_blocks import Evaluation
from onesided.statics.curves.curve import TOGETHER, Curve, CurvePoint
from onesided.statics.curves.factors import Factors, inertia_of_many, solve, solve_symmetric, symmetric_factors
from onesided.statics.tracing.stretch import Ahead

CLOSE = 1.0  # |A⁻¹D z| of the two ends of a stretch, up to which A does not become singular half-way to the other end
TESTS = 8  # vectors z for that
SAME = 0.05  # |A⁻¹D z| of a place, up to which it lies on the line or the parabola
USUAL = 10.0  # unknowns; many that all change a little make longer vectors, by the root of their number
PROBES = 8  # directions in which |A⁻¹D z| is measured, of many unknowns
MATRICES = 48  # divided by the number of unknowns: those that are made on a bent step besides its middle; of stiff
# parts that turn, the matrices are not smooth on the scale of soft modes, and more and more would be made
SEED = 0  # of the vectors z
ADDED = QUARTER_DIGITS  # of the usual stiffness: what is added where there is none all along
ROW = 16  # places of half a step that are looked at by one operation
SAMPLES = np.array([0.25, 0.75, 0.125, 0.875, 0.375, 0.625])  # where the parabola is looked at besides the middle


@dataclass(eq=False)
class Matrix:
    """A = [[K, Eᵀ], [E, 0]] without units at one place, made from blocks of the model when it is needed.

    Where a path is `neutral`, A is singular all along: K with a little stiffness added tells of the other modes.
    """

    curve: Curve
    blocks: Callable[[], Evaluation]
    neutral: bool = False
    factors: Factors | None = None

    @cached_property
    def A(self) -> Array:
        """K of the curve, symmetric: both triangles are filled."""
        A, n = self.curve.kkt(self.blocks()), self.curve.n
        A[:n, n:] = A[n:, :n].T
        return A

    @cached_property
    def probes(self) -> Array | None:
        """A⁻¹U with columns U of random signs: rows r have |rᵀA⁻¹U| = |A⁻¹r| on average; None where A is singular.

        That they are all small by chance, where |A⁻¹r| is not, is as likely as the length of |A⁻¹r|⁻⁸.
        """
        A = self.A
        if self.factors is not None and not self.neutral:
            found = solve_symmetric(self.factors, _signs(len(A)))
            if np.isfinite(found).all():
                return found
        if self.neutral:
            A = A + ADDED * np.diag(np.arange(len(A)) < self.curve.n)
        found, factors = solve(A.copy(order="F"), _signs(len(A)))
        return None if factors is None else found


@cache
def _signs(size: int) -> Array:
    """Orthogonal directions of few unknowns, random ones of many."""
    if size <= PROBES:
        return np.eye(size)
    signs = np.random.default_rng(SEED).choice([-1.0, 1.0], (size, PROBES))
    return np.asarray(signs / math.sqrt(PROBES))


class SurveyedStep(NamedTuple):
    """A step to look at: both ends; places on a `bent` one lie beside the path."""

    a: CurvePoint
    b: CurvePoint
    bent: bool


class SurveyedSteps:
    """Some of the steps from `here` on along a curve, by their `numbers` among those that were made.

    Attributes
    ----------
    y, t, margins, negative, neutral : those of both ends, along a second axis.
    """

    def __init__(self, curve: Curve, here: CurvePoint, made: Ahead, numbers: Indices, bent: Mask) -> None:
        self.curve, self.here, self.made, self.numbers, self.bent = curve, here, made, numbers, bent[numbers]
        points, ends = made.points, numbers[:, None] + [0, 1]
        self.h = points.s[numbers] - np.append(here.s, points.s)[numbers]
        self.y, self.t, self.margins = (
            np.concatenate([first[None], rest])[ends]
            for first, rest in ((here.y, points.y), (here.t, points.t), (here.margins, points.margins))
        )
        self.negative = np.append(here.negative, points.negative)[ends]
        self.neutral = np.append(here.neutral, points.neutral)[ends]

    def step(self, i: int) -> SurveyedStep:
        """Both ends of the i-th of these steps, and whether it is bent."""
        number, points = int(self.numbers[i]), self.made.points
        a = self.here if number == 0 else points.point(number - 1)
        return SurveyedStep(a, points.point(number), bool(self.bent[i]))

    def matrix(self, end: int) -> Matrix:
        """A at an end, counted from `here`, with its factors where these are known."""
        if end == 0:
            return Matrix(self.curve, partial(self.curve.evaluate, self.here.x), self.here.neutral)
        factors = self.made.factors[end - 1] if self.made.factors else None
        neutral = bool(self.made.points.neutral[end - 1])
        return Matrix(self.curve, partial(self.made.blocks, end - 1), neutral, factors)

    def interpolated(self, owner: Indices, f: Array) -> Array:
        """Scaled points in many places: cubics through both ends of their steps, whose numbers, in order, own them."""
        f, h, move = f[:, None], self.h[:, None], self.y[:, 1] - self.y[:, 0]
        first, last = h * self.t[:, 0], h * self.t[:, 1]
        cubics = np.stack([self.y[:, 0], first, 3.0 * move - 2.0 * first - last, first + last - 2.0 * move], axis=1)
        begin, slope, bend, twist = np.repeat(cubics, np.bincount(owner, minlength=len(h)), axis=0).swapaxes(0, 1)
        return np.asarray(begin + f * (slope + f * (bend + f * twist)))

    def middles(self, some: Indices) -> Array:
        """The same half-way on some of them."""
        turns = self.t[some, 0] - self.t[some, 1]
        return np.asarray(0.5 * self.y[some].sum(axis=1) + 0.125 * self.h[some, None] * turns)

    @cached_property
    def together(self) -> tuple[Array, Array, Indices]:
        """A and A⁻¹U (NaN where A is singular) at the ends of all steps, and which of these belong to each step."""
        curve, both = self.curve, self.numbers[:, None] + [0, 1]
        ends = np.unique(both)
        pairs, size = np.searchsorted(ends, both), curve.n + curve.w
        if size > TOGETHER:
            return *_one_by_one([self.matrix(end) for end in ends.tolist()]), pairs
        L_qx, c_x = self.made.hessians((ends[ends > 0] - 1).astype(int))
        if ends[0] == 0:
            e = curve.evaluate(self.here.x)
            L_qx, c_x = np.concatenate([e.L_qx[None], L_qx]), np.concatenate([e.c_x[None], c_x])
        A = curve.kkt_along(L_qx, c_x)
        singular = np.zeros(len(ends), dtype=bool)
        singular[pairs] = self.neutral
        added = ADDED * np.diag(np.arange(size) < curve.n)
        try:
            probes = np.linalg.solve(A + singular[:, None, None] * added if singular.any() else A, _signs(size))
        except np.linalg.LinAlgError:
            return *_one_by_one([self.matrix(end) for end in ends.tolist()]), pairs
        return A, probes, pairs


class Looks(NamedTuple):
    """Places in order: number of the step, fraction of it, scaled point, random vector z, and A z; further vectors."""

    owner: Indices
    share: Array
    Y: Array
    Z: Array
    AZ: Array
    tests: Array

    def of(self, i: int) -> "Looks":
        """The looks whose owner is step number i."""
        part = slice(*np.searchsorted(self.owner, [i, i + 1]).tolist())
        owner, share, Y, Z, AZ, tests = self
        return Looks(owner[part], share[part], Y[part], Z[part], AZ[part], tests)


class _Rows(NamedTuple):
    """Places in rows, each of one half of a step: these halves, row and column of every place, z, and D in probes."""

    halves: Indices
    at: tuple[Indices, Indices]
    f: Array
    Z: Array
    seen: Array


class _Ends(NamedTuple):
    """Of both halves of every step: the probes by which D is measured, how these see A at the start and its change."""

    A: Array
    change: Array
    probes: Array
    start: Array
    turned: Array
    singular: Mask


class StiffnessLooks:
    """What looks say about the inertia on steps.

    Attributes
    ----------
    odd : steps on which the inertia is not as at one of both ends, and at which fraction.
    rough : steps that no parabola describes, with the matrices in their middles.
    """

    def __init__(self, curve: Curve, steps: SurveyedSteps, looks: Looks) -> None:
        self.curve, self.steps, self.looks = curve, steps, looks
        self.small = length_of_same(curve.n + curve.w)
        self.odd: dict[int, float] = {}
        self.rough: dict[int, Matrix] = {}
        ends = self.ends()
        rows = self.in_rows(ends)
        doubtful = ends.singular.copy()
        doubtful[looks.owner[self.long(rows)]] = True
        far = np.any(_squares((SAME / CLOSE) * (looks.tests @ ends.turned)) > self.small**2, axis=1)
        doubtful |= far.reshape(-1, 2).any(axis=1) & (steps.negative.any(axis=1) | (curve.w > 0))
        doubtful &= steps.negative[:, 0] >= 0
        if doubtful.any():
            self._with_middles(np.flatnonzero(doubtful), ends, rows)

    def ends(self) -> _Ends:
        """Matrices at both ends of all steps, and what follows from them."""
        A, probes, pairs = self.steps.together
        usable = np.asarray(np.isfinite(probes).all(axis=(1, 2)))[pairs]
        chosen = np.where(
            usable, pairs, pairs[:, ::-1]
        ).ravel()  # a half is measured at its own end, if that is regular
        both, measured = A[pairs], probes[chosen]
        change = both[:, 1] - both[:, 0]
        start, turned = (_of_halves(one, measured) for one in (both[:, 0], change))
        return _Ends(both, change, measured, start, turned, np.asarray(~usable.any(axis=1)))

    def in_rows(self, ends: _Ends) -> _Rows:
        """D on the line between both ends, by rows of places that are looked at together."""
        owner, f, _, Z, AZ, _ = self.looks
        half = 2 * owner + (f > 0.5)
        counts = np.bincount(half, minlength=len(ends.probes))
        rows, number = -(-counts // ROW), np.arange(len(half)) - (np.cumsum(counts) - counts)[half]
        at = (np.cumsum(rows) - rows)[half] + number // ROW, number % ROW
        size, total = Z.shape[1], int(rows.sum())
        here = np.zeros((total, ROW, 3 * size + 1))
        here[at] = np.concatenate([Z, AZ, f[:, None] * Z, f[:, None]], axis=1)
        halves = np.repeat(np.arange(len(counts)), rows)
        off = np.concatenate([-ends.start, ends.probes, -ends.turned], axis=1)[halves]
        return _Rows(halves, at, here[:, :, -1:], here[:, :, :size], here[:, :, :-1] @ off)

    def long(self, rows: _Rows) -> Mask:
        """In which places D is not small, or no number."""
        return np.asarray(~(_squares(rows.seen)[rows.at] <= self.small**2))

    def _with_middles(self, doubtful: Indices, ends: _Ends, rows: _Rows) -> None:
        """The same with parabolas through the middles of some steps, whose inertia is looked at."""
        curve = self.curve
        e = curve.system.evaluate_many(packed(curve, self.steps.middles(doubtful)))
        bend = curve.kkt_along(e.L_qx, e.c_x) - ends.A[doubtful].mean(axis=1)
        curved = np.zeros_like(ends.turned)
        halves = (2 * doubtful[:, None] + [0, 1]).ravel()
        curved[halves] = _of_halves(bend, ends.probes[halves])
        some = np.isin(rows.halves, halves)
        rows.seen[some] -= 4.0 * rows.f[some] * (1.0 - rows.f[some]) * (rows.Z[some] @ curved[rows.halves[some]])
        rough = ends.singular.copy()
        rough[self.looks.owner[self.long(rows)]] = True
        negative, neutral, factors = curve.modes_along(e)
        odd = self._unexpected(negative, doubtful)
        self.odd.update(dict.fromkeys(doubtful[odd].tolist(), 0.5))
        for i in np.flatnonzero(rough[doubtful] & ~odd).tolist():
            both, known = bool(self.steps.neutral[doubtful[i]].all()), None if neutral[i] else factors[i]
            self.rough[int(doubtful[i])] = Matrix(curve, partial(e.at, i), both, known)
        smooth = ~rough[doubtful] & ~odd & ~self.steps.neutral[doubtful].any(axis=1)
        if smooth.any() and not curve.loose:
            self._sample(doubtful[smooth], ends, bend[smooth])

    def _sample(self, some: Indices, ends: _Ends, bend: Array) -> None:
        """The inertia of parabolas in a few places, on bent steps of many unknowns in fewer."""
        allowed = np.where(self.steps.bent[some], MATRICES // self.curve.size, len(SAMPLES))
        chosen, which = np.nonzero(np.arange(len(SAMPLES)) < allowed[:, None])
        if not len(chosen):
            return
        owner, f = some[chosen], SAMPLES[which, None, None]
        A = ends.A[owner, 0] + f * ends.change[owner] + (4.0 * f * (1.0 - f)) * bend[chosen]
        negative, neutral, _ = inertia_of_many(A)
        odd = self._unexpected(negative - self.curve.w, owner) & ~neutral
        for i, number in zip(owner[odd].tolist(), which[odd].tolist(), strict=True):
            self.odd[i] = min(self.odd.get(i, 1.0), float(SAMPLES[number]))

    def _unexpected(self, negative: Any, some: Indices) -> Mask:
        """Which numbers of negative modes on some steps are not those of one of their ends."""
        return np.asarray((negative[:, None] != self.steps.negative[some]).all(axis=1))

    def odd_at(self, i: int) -> float | None:
        """Fraction of step number i at which the inertia is not as at one of its ends; closer looks if it is rough."""
        return self._closer(i) if i in self.rough else self.odd.get(i)

    def _closer(self, i: int) -> float | None:
        most = MATRICES / self.curve.size if self.steps.bent[i] else math.inf
        first = int(self.steps.numbers[i])
        matrices = self.steps.matrix(first), self.rough[i], self.steps.matrix(first + 1)
        nodes = [KnownPlace(f, matrix) for f, matrix in zip((0.0, 0.5, 1.0), matrices, strict=True)]
        expected = set(self.steps.negative[i].tolist())
        return CloserLooks(self.curve, self.looks.of(i), expected, self.small).odd(nodes, most)


class KnownPlace(NamedTuple):
    """A place whose matrix is known."""

    f: float
    M: Matrix


KnownPlaces = Sequence[KnownPlace]  # three in order


class CloserLooks(NamedTuple):
    """Places on one step, the inertias that are expected, and |A⁻¹D z| up to which a place lies on a parabola."""

    curve: Curve
    looks: Looks
    expected: set[int]
    small: float

    def odd(self, nodes: KnownPlaces, most: float) -> float | None:
        """Fraction at which the inertia is not as expected: matrices, no more than `most`, are made where D is largest.

        A new one divides the stretch between its neighbours, which have a parabola of their own then.
        """
        waiting, made = list[tuple[float, int, KnownPlace, KnownPlace]](), 0
        self._divide(nodes, waiting)
        while waiting and made < most:
            _, j, first, last = heappop(waiting)
            made += 1
            e = self.curve.evaluate(self.curve.packed(self.looks.Y[j]))
            factors = symmetric_factors(self.curve.kkt(e))
            negative, neutral = self.curve.modes_by(factors, e)
            if negative not in self.expected:
                return float(self.looks.share[j])
            both = first.M.neutral and last.M.neutral
            M = Matrix(self.curve, partial(_given, e), both, None if neutral else factors)
            self._divide((first, KnownPlace(float(self.looks.share[j]), M), last), waiting)
        return None

    def _divide(self, nodes: KnownPlaces, waiting: list[Any]) -> None:
        """Put the places where D is largest, before and behind the second of three nodes, among those that wait."""
        for first, last in pairwise(nodes):
            inside = np.flatnonzero((self.looks.share > first.f) & (self.looks.share < last.f))
            if len(inside):
                lengths = self.lengths(nodes, (first, last), inside)
                worst = int(np.argmax(lengths))
                if not lengths[worst] <= self.small**2:
                    heappush(waiting, (-float(lengths[worst]), int(inside[worst]), first, last))

    def lengths(self, nodes: KnownPlaces, measured: Iterable[KnownPlace], inside: Indices) -> Array:
        """|A⁻¹D z|² with D from the parabola through three nodes, the larger of those by the matrices of others."""
        f, Z = self.looks.share[inside, None], self.looks.Z[inside]
        D = self.looks.AZ[inside]
        for node in nodes:
            x, y = (other.f for other in nodes if other is not node)
            D = D - ((f - x) * (f - y) / ((node.f - x) * (node.f - y))) * (Z @ node.M.A)
        probes = [node.M.probes for node in measured if node.M.probes is not None]
        if not probes:  # the middle one is as good as any
            return np.where(np.arange(len(f)) == len(f) // 2, math.inf, 0.0)
        return np.asarray(np.max([_squares(D @ one) for one in probes], axis=0))


def _of_halves(matrices: Array, probes: Array) -> Array:
    """The matrix of each step times the probes of both its halves."""
    found = matrices[:, None] @ probes.reshape(len(matrices), 2, *probes.shape[1:])
    return np.asarray(found.reshape(probes.shape))


def _given(e: Evaluation) -> Evaluation:
    return e


def length_of_same(size: int) -> float:
    """|A⁻¹D z| up to which D is small, of so many unknowns."""
    return SAME * max(1.0, math.sqrt(size / USUAL))


def _squares(rows: Array) -> Array:
    return np.asarray(np.einsum("...i,...i->...", rows, rows))


def packed(curve: Curve, Y: Array) -> Array:
    """Packed points of many scaled ones."""
    X = np.zeros((len(Y), curve.n + 1 + len(curve.scales.gap)))
    X[:, curve.columns] = Y * curve.unit
    return X


def _one_by_one(matrices: Sequence[Matrix]) -> tuple[Array, Array]:
    """A and A⁻¹U of many places; NaN where A is singular."""
    nothing = np.full(_signs(len(matrices[0].A)).shape, math.nan)
    found = [nothing if matrix.probes is None else matrix.probes for matrix in matrices]
    return np.array([matrix.A for matrix in matrices]), np.array(found)
