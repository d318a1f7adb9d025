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
from typing import Any, NamedTuple, cast

import numpy as np

from onesided.base.tolerances import EPS
from onesided.base.types import Array, Indices, Mask
from onesided.evaluation.equilibrium_blocks import Evaluation
from onesided.statics.curves.curve import TOGETHER, Curve, CurvePoint
from onesided.statics.curves.factors import Factors, inertia, solve, solve_symmetric, symmetric_factors
from onesided.statics.tracing.inside import halfway

CLOSE = 1.0  # |A⁻¹D z| of the two ends of a stretch, up to which A does not become singular half-way to the other end
TESTS = 8  # vectors z for that
SAME = 0.05  # |A⁻¹D z| of a place, up to which it lies on the line or the parabola
USUAL = 10.0  # unknowns; many that all change a little make longer vectors, by the root of their number
PROBES = 8  # directions in which |A⁻¹D z| is measured, of many unknowns
MATRICES = 48  # divided by the number of unknowns: those that are made on a bent step besides its middle; of stiff
# parts that turn, the matrices are not smooth on the scale of soft modes, and more and more would be made
SEED = 0  # of the vectors z
ADDED = EPS**0.25  # of the usual stiffness: what is added where there is none all along
ROW = 16  # places of half a step that are looked at by one operation
QUARTERS = 0.25, 0.75  # where the parabola is looked at besides the middle


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
        """Both triangles."""
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
    """A step to look at: both ends, with their matrices; places on a `bent` one lie beside the path."""

    a: CurvePoint
    A: Matrix
    b: CurvePoint
    B: Matrix
    bent: bool


class Looks(NamedTuple):
    """Places in order: number of the step, fraction of it, scaled point, random vector z, and A z; further vectors."""

    owner: Indices
    share: Array
    Y: Array
    Z: Array
    AZ: Array
    tests: Array

    def of(self, i: int) -> "Looks":
        """Those on step number i."""
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
    rough : steps that no parabola describes: `closer` tells.
    """

    def __init__(self, curve: Curve, steps: Sequence[SurveyedStep], looks: Looks) -> None:
        self.curve, self.steps, self.looks = curve, steps, looks
        self.small = length_of_same(curve.n + curve.w)
        self.odd: dict[int, float] = {}
        self.rough: set[int] = set()
        self._middles: dict[int, Matrix] = {}
        ends = self.ends()
        rows = self.in_rows(ends)
        bent = np.isin(np.arange(len(steps)), self.looks.owner[self.long(rows)])
        stable = np.array([step.a.negative == step.b.negative == 0 and not curve.w for step in steps])
        far = np.any(_squares((SAME / CLOSE) * (looks.tests @ ends.turned)) > self.small**2, axis=1)
        doubtful = bent | ends.singular | (~stable & far.reshape(-1, 2).any(axis=1))
        doubtful &= np.array([step.a.negative >= 0 for step in steps])
        if doubtful.any():
            self._with_middles(np.flatnonzero(doubtful), ends, rows)

    def ends(self) -> _Ends:
        """Matrices at both ends of all steps, and what follows from them."""
        made = {id(end): end for step in self.steps for end in (step.A, step.B)}
        order = {key: number for number, key in enumerate(made)}
        A, probes = _made(self.curve, list(made.values()))
        pairs = np.array([(order[id(step.A)], order[id(step.B)]) for step in self.steps])
        usable = np.asarray(np.isfinite(probes).all(axis=(1, 2)))[pairs]
        late = np.tile([0, 1], (len(pairs), 1))  # each half is measured at its own end, if that is regular
        late = np.where(usable, late, 1 - late).ravel()
        change = A[pairs[:, 1]] - A[pairs[:, 0]]
        chosen = probes[np.repeat(pairs, 2, axis=0)[np.arange(len(late)), late]]
        start = np.repeat(A[pairs[:, 0]], 2, axis=0) @ chosen
        return _Ends(A[pairs], change, chosen, start, np.repeat(change, 2, axis=0) @ chosen, ~usable.any(axis=1))

    def in_rows(self, ends: _Ends) -> _Rows:
        """D on the line between both ends, by rows of places that are looked at together."""
        owner, f, _, Z, AZ, _ = self.looks
        half = 2 * owner + (f > 0.5)
        counts = np.bincount(half, minlength=len(ends.probes))
        rows, number = -(-counts // ROW), np.arange(len(half)) - np.searchsorted(half, half)
        at = (np.cumsum(rows) - rows)[half] + number // ROW, number % ROW
        size, total = Z.shape[1], int(rows.sum())
        here = np.zeros((total, ROW, 3 * size + 1))
        here[at] = np.hstack([Z, AZ, f[:, None] * Z, f[:, None]])
        halves = np.repeat(np.arange(len(counts)), rows)
        off = np.concatenate([-ends.start, ends.probes, -ends.turned], axis=1)[halves]
        return _Rows(halves, at, here[:, :, -1:], here[:, :, :size], here[:, :, :-1] @ off)

    def long(self, rows: _Rows) -> Mask:
        """In which places D is not small, or no number."""
        return np.asarray(~(_squares(rows.seen)[rows.at] <= self.small**2))

    def _with_middles(self, doubtful: Indices, ends: _Ends, rows: _Rows) -> None:
        """The same with parabolas through the middles of some steps, whose inertia is looked at."""
        curve, steps = self.curve, [self.steps[i] for i in doubtful]
        e = curve.system.evaluate_many(packed(curve, np.array([halfway(step.a, step.b) for step in steps])))
        C = curve.kkt_along(e.L_qx, e.c_x)
        bend = C - ends.A[doubtful].mean(axis=1)
        curved = np.zeros_like(ends.turned)
        halves = (2 * doubtful[:, None] + [0, 1]).ravel()
        curved[halves] = np.repeat(bend, 2, axis=0) @ ends.probes[halves]
        some = np.flatnonzero(np.isin(rows.halves, halves))
        rows.seen[some] -= 4.0 * rows.f[some] * (1.0 - rows.f[some]) * (rows.Z[some] @ curved[rows.halves[some]])
        rough = np.isin(doubtful, self.looks.owner[self.long(rows)]) | ends.singular[doubtful]
        for number, (i, step) in enumerate(zip(doubtful.tolist(), steps, strict=True)):
            blocks, factors = e.at(number), symmetric_factors(C[number].copy(order="F"))
            negative, neutral = curve.modes_by(factors, blocks)
            if negative not in {step.a.negative, step.b.negative}:
                self.odd[i] = 0.5
            elif rough[number]:
                self.rough.add(i)
                both = step.A.neutral and step.B.neutral
                self._middles[i] = Matrix(curve, partial(_given, blocks), both, None if neutral else factors)
            else:
                self._sample(i, ends, bend[number])

    def _sample(self, i: int, ends: _Ends, bend: Array) -> None:
        """The inertia of the parabola in a few places."""
        step, w = self.steps[i], self.curve.w
        for f in () if self.curve.loose or step.A.neutral or step.B.neutral else QUARTERS:
            A = ends.A[i, 0] + f * ends.change[i] + 4.0 * f * (1.0 - f) * bend
            ldu, pivots = symmetric_factors(np.asfortranarray(A))
            negative, neutral = inertia(ldu.diagonal(), pivots)
            if not neutral and negative - w not in {step.a.negative, step.b.negative}:
                self.odd.setdefault(i, f)

    def closer(self, i: int) -> float | None:
        """Fraction of step number i, which is rough, at which the inertia is not as at one of its ends."""
        step = self.steps[i]
        most = MATRICES / self.curve.size if step.bent else math.inf
        expected = {step.a.negative, step.b.negative}
        nodes = KnownPlace(0.0, step.A), KnownPlace(0.5, self._middles[i]), KnownPlace(1.0, step.B)
        return CloserLooks(self.curve, self.looks.of(i), expected, self.small).odd(nodes, most)


class KnownPlace(NamedTuple):
    """A place whose matrix is known."""

    f: float
    M: Matrix


KnownPlaces = tuple[KnownPlace, KnownPlace, KnownPlace]


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


def _made(curve: Curve, matrices: Sequence[Matrix]) -> tuple[Array, Array]:
    """A and A⁻¹U of many places, small ones by one operation each; NaN where A is singular."""
    size = curve.n + curve.w
    signs = _signs(size)
    if size <= TOGETHER and len(matrices) > 1:
        blocks = [matrix.blocks() for matrix in matrices]
        A = curve.kkt_along(np.array([e.L_qx for e in blocks]), np.array([e.c_x for e in blocks]))
        neutral = np.array([matrix.neutral for matrix in matrices])
        added = ADDED * np.diag(np.arange(size) < curve.n)
        try:
            probes = np.linalg.solve(A + neutral[:, None, None] * added if neutral.any() else A, signs)
        except np.linalg.LinAlgError:
            pass
        else:
            for matrix, *parts in zip(matrices, A, probes, strict=True):
                matrix.__dict__.update(zip(("A", "probes"), parts, strict=True))
            return A, probes
    nothing = np.full(signs.shape, math.nan)
    found = [cast(Array, nothing if matrix.probes is None else matrix.probes) for matrix in matrices]
    return np.array([matrix.A for matrix in matrices]), np.array(found)
