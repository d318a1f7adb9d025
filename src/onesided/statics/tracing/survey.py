"""Steps of a path looked into: gaps and stiffness in many places, the more so where no bend limits the steps.

A look costs about a microsecond: the gaps, and the matrix A = [[K, Eᵀ], [E, 0]] times one random vector z, drawn anew
in every place. Let D be how far A is off the line between two places whose matrices are known and close to each other.
The inertia is the same unless A⁻¹D has an eigenvalue of size one; then |A⁻¹D z| ≥ |l·z| for its left unit vector l,
whatever the coordinates. Where that is not small the matrix itself is made, and both halves are looked at again.
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from onesided.base.tolerances import EPS
from onesided.base.types import Array, Indices, Mask
from onesided.evaluation.derivatives import Evaluation
from onesided.evaluation.path_steps import LONG
from onesided.statics.curves.curve import TOGETHER, Curve, CurvePoint
from onesided.statics.curves.factors import Factors, solve, solve_symmetric, symmetric_factors
from onesided.statics.dips import dips, floor_of
from onesided.statics.tracing.hits import PathWatch
from onesided.statics.tracing.inside import between, interpolate_many, spread

BENT = 0.25  # share of the angle aimed at by which the path turns on the largest step, if it is not straight
LOOKS = 16.0  # places per point that are looked at, besides those of a whole straight path
WHOLE = 2.0  # how often the places of a whole straight path are looked at before it counts as endless
PATH = 10.0  # length of a path, in scaled units, of which nothing is known
DENSE = 40  # unknowns beyond which straight stretches are looked at in fewer places, on bent paths in still fewer
MOST = 1000  # places on one step
COARSER = 2.0  # distance of places on bent steps, by that on straight ones
MIDDLES = 4.0  # such distances: shorter bent steps were looked at in their middle
CLOSE = 1.0  # |A⁻¹D z| of the two ends of a stretch, up to which A does not become singular half-way to the other end
TESTS = 8  # vectors z for that
SAME = 0.05  # |A⁻¹D z| of a place, up to which it lies on that line
USUAL = 10.0  # unknowns; many that all change a little make longer vectors, by the root of their number
PROBES = 8  # directions in which |A⁻¹D z| is measured, of many unknowns
MATRICES = 48  # divided by the number of unknowns: those that are made on a bent step; of stiff parts that turn, the
# matrices are not smooth on the scale of soft modes, and more and more would be made
SEED = 0  # of the vectors z
ADDED = EPS**0.25  # of the usual stiffness: what is added where there is none all along
Places = tuple[Indices, Array]  # of many places, the numbers of their steps, and at which fractions of these they are
MANY = 2_000_000  # entries of Hessians that are made for looks before these are compiled


class StraightSteps(Protocol):
    """What a method says about straight stretches."""

    @property
    def max_step(self) -> float:
        """Largest step."""

    @property
    def turn(self) -> float:
        """Angle between successive tangents."""

    @property
    def resolution(self) -> float:
        """Distance of places, as a share of the path."""


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

    @cached_property
    def seen(self) -> Array:
        """What A itself makes of the probes."""
        return np.asarray(self.A @ cast(Array, self.probes))


@cache
def _signs(size: int) -> Array:
    """Orthogonal directions of few unknowns, random ones of many."""
    if size <= PROBES:
        return np.eye(size)
    signs = np.random.default_rng(SEED).choice([-1.0, 1.0], (size, PROBES))
    return np.asarray(signs / math.sqrt(PROBES))


def _short(seen: Array, most: float) -> Any:
    """Whether all rows have no more than some length, of one matrix or of each of many; not if one is no number."""
    return np.einsum("...ij,...ij->...i", seen, seen).max(axis=-1) <= most**2


class SurveyedStep(NamedTuple):
    """A step to look at: both ends, with their matrices; places on a `bent` one lie beside the path."""

    a: CurvePoint
    A: Matrix
    b: CurvePoint
    B: Matrix
    bent: bool


class Survey:
    """Looks at the straight steps of one path.

    Parameters
    ----------
    method, watch : step control; bounds of p and tolerances.
    """

    def __init__(self, method: StraightSteps, watch: PathWatch) -> None:
        self.method, self.watch = method, watch
        self.looks, self.straight = 0, True
        self._random = np.random.default_rng(SEED)
        self._last: tuple[Array, Matrix] | None = None  # the end of the last step that was looked at

    def bent(self, t: Array, s: Array) -> Array:
        """Which of many steps in a row, given tangents and arc lengths of all their ends, are limited by bends."""
        move = t[1:] - t[:-1]
        angle = 2.0 * np.arcsin(np.minimum(1.0, 0.5 * np.sqrt((move * move).sum(axis=1))))
        most = self.method.max_step * np.maximum(1.0, LONG * s[1:])
        bent = np.asarray(angle * most > BENT * self.method.turn * (s[1:] - s[:-1]))
        self.straight &= not bent.any()
        return bent

    def is_bent(self, a: CurvePoint, b: CurvePoint) -> bool:
        """The same for one step."""
        move = b.t - a.t
        angle = 2.0 * math.asin(min(1.0, 0.5 * math.sqrt(move @ move)))
        bent = angle * self.method.max_step * max(1.0, LONG * b.s) > BENT * self.method.turn * (b.s - a.s)
        self.straight &= not bent
        return bent

    def until(self, curve: Curve, a: CurvePoint, b: CurvePoint, e: Evaluation, points: int, *, compiled: bool) -> float:
        """Fraction of a straight step up to which nothing is seen: 1, unless something is; e are the blocks at b."""
        A, B = Matrix(curve, partial(curve.evaluate, a.x), a.neutral), Matrix(curve, partial(_given, e), b.neutral)
        last = self._last
        if last is not None and last[0] is a.x and last[1].curve is curve:
            A = last[1]
        found = self.first(curve, [SurveyedStep(a, A, b, B, self.is_bent(a, b))], points, compiled=compiled)
        self._last = b.x, B
        return 1.0 if found is None else found[1]

    def first(
        self, curve: Curve, steps: Sequence[SurveyedStep], points: int, *, compiled: bool
    ) -> tuple[int, float] | None:
        """The first of some straight steps on which something is seen, and the fraction of it up to there."""
        counts = [self._places(curve, step, points) for step in steps]
        if not any(counts):
            return None
        compiled |= self.looks * curve.n**2 > MANY or curve.system.derivatives.looks_ready
        owner, share = spread(counts)
        Y = interpolate_many(steps, owner, share[:, None])
        Z = self._random.uniform(-1.0, 1.0, (len(Y) + TESTS, curve.n + curve.w))
        Z += np.copysign(0.5, Z)  # none is close to zero: of few unknowns every one is felt
        Z, tests = Z[:-TESTS], Z[-TESTS:]
        c, AZ = (_look if compiled else _look_closely)(curve, Y, Z)
        margins = _margins(curve, Y, c)
        violated = _violated(steps, owner, margins, self.watch)
        dipped = dips(curve, steps, (owner, share), margins, self.watch.tolerances)
        plain, known = _plain_steps(curve, steps, (owner, share), (Z, AZ, tests))
        ends = np.cumsum([0, *counts])
        for i in np.flatnonzero(~plain | np.isin(np.arange(len(steps)), [*owner[violated], *dipped])).tolist():
            part, step = slice(ends[i], ends[i + 1]), steps[i]
            seen: int | None = None
            if violated[part].any():
                seen = int(violated[part].argmax())
            elif step.a.negative >= 0 and counts[i]:
                most = MATRICES / curve.size if step.bent else math.inf
                looks = _Looks(curve, Y[part], Z[part], AZ[part], tests, {step.a.negative, step.b.negative}, most)
                seen = looks.odd(_SurveyPiece(-1, counts[i], step.A, step.B), known=known)
            if seen is not None or i in dipped:
                fraction = dipped[i] if seen is None else float(share[part][seen])
                if not step.bent or _is_odd(curve, step, fraction, self.watch):
                    return i, fraction
        return None

    def _apart(self, curve: Curve, s: float) -> float:
        """Distance of places on a path of so many unknowns that is s long so far."""
        low, high = self.watch.p_bounds
        size = max(s, (high - low) / curve.unit[curve.n] if high - low < math.inf else PATH)
        return self.method.resolution * size

    def _places(self, curve: Curve, step: SurveyedStep, points: int) -> int:
        """Number of places to look at on a step."""
        fewer = max(1.0, curve.size / DENSE)
        apart = self._apart(curve, step.b.s) * (fewer if self.straight else fewer**2)
        most = WHOLE / self.method.resolution + LOOKS * points
        apart = COARSER * apart if step.bent else apart
        if step.bent and step.b.s - step.a.s < MIDDLES * apart:
            return 0
        places = max(0, min(int(min((step.b.s - step.a.s) / apart, MOST)), int(most) - self.looks))
        self.looks += places
        return places


@dataclass(frozen=True, eq=False)
class _SurveyPiece:
    """A stretch between two places, by number, with their matrices."""

    first: int
    last: int
    A: Matrix
    B: Matrix


@dataclass(frozen=True, eq=False)
class _Looks:
    """Places on a step, random vectors, what the matrices there make of them, and the inertias that are expected.

    `tests` are further random vectors.
    """

    curve: Curve
    Y: Array
    Z: Array
    AZ: Array
    tests: Array
    expected: set[int]
    most: float = math.inf  # matrices that are made

    def odd(self, whole: _SurveyPiece, *, known: bool = False) -> int | None:
        """Number of a place whose inertia is not as expected; it may be `known` that the whole is not plain."""
        pieces, made = deque([whole]), 0
        while pieces and made < self.most:
            piece = pieces.popleft()
            if piece.last - piece.first < 2 or (not (known and piece is whole) and self._plain(piece)):
                continue
            middle = (piece.first + piece.last) // 2
            made += 1
            e = self.curve.evaluate(self.curve.packed(self.Y[middle]))
            factors = symmetric_factors(self.curve.kkt(e))
            negative, neutral = self.curve.modes_by(factors, e)
            if negative not in self.expected:
                return middle
            both = piece.A.neutral and piece.B.neutral
            C = Matrix(self.curve, partial(_given, e), both, None if neutral else factors)
            if not self._plain(piece, C):
                pieces += [_SurveyPiece(piece.first, middle, piece.A, C), _SurveyPiece(middle, piece.last, C, piece.B)]
        return None

    def _plain(self, piece: _SurveyPiece, C: Matrix | None = None) -> bool:
        """Whether the matrices between two places lie on the line between those at the ends, and none is singular.

        A matrix that becomes singular on this line does so in the half that is closer to A, or closer to B. With the
        matrix C in the middle as well, the same for the parabola A + f (B − A) + 4 f (1 − f) (C − (A + B)/2).
        """
        A, B, between = piece.A, piece.B, slice(piece.first + 1, piece.last)
        Z, AZ, change = self.Z[between], self.AZ[between], B.A - A.A
        bend = None if C is None else C.A - (A.A + B.A) / 2
        share, most = np.arange(1, len(Z) + 1)[:, None] / (len(Z) + 1), SAME * max(1.0, math.sqrt(len(change) / USUAL))
        bends = self.expected != {0} or self.curve.w > 0  # the line between positive definite matrices is
        for end, side in ((A, 0.0), (B, 1.0)):
            if end.probes is None:
                return False
            turned = change @ end.probes
            seen = AZ @ end.probes - Z @ end.seen - (share - side) * (Z @ turned)
            far = [turned] if bends else []
            if bend is not None:
                curved = bend @ end.probes
                seen -= (4.0 * share * (1.0 - share)) * (Z @ curved)
                far = [curved, *(2.0 * curved + (1.0 - 2.0 * side) * turned for turned in far)]
            if not _short(seen, most) or not all(_short((SAME / CLOSE) * (self.tests @ one), most) for one in far):
                return False
        return True


def _given(e: Evaluation) -> Evaluation:
    return e


def _plain_steps(
    curve: Curve, steps: Sequence[SurveyedStep], places: Places, looks: tuple[Array, Array, Array]
) -> tuple[Mask, bool]:
    """Which steps are plain as a whole [`_Looks._plain`], all by one operation, and whether that is known.

    Steps without a place are plain. Of larger systems, and where a matrix is singular, each is left to a closer look.
    """
    (owner, share), (Z, AZ, tests) = places, looks
    counts, size = np.bincount(owner, minlength=len(steps)), curve.n + curve.w
    shape = len(steps), int(counts.max()), size
    plain = np.asarray(counts == 0)
    if size > TOGETHER or len(steps) < 2 or math.prod(shape) > MANY:
        return plain, False
    ends = {id(end): end for step in steps for end in (step.A, step.B)}
    made = _made_together(curve, list(ends.values()))
    if made is None:
        return plain, False
    A, probes, seen = made
    order = {key: number for number, key in enumerate(ends)}
    first, second = (
        np.array([order[id(end)] for end in side]) for side in zip(*((step.A, step.B) for step in steps), strict=True)
    )
    number = np.arange(len(owner)) - np.searchsorted(owner, owner)  # within its step
    here = np.zeros((*shape[:2], 3 * size))
    here[owner, number] = np.hstack([Z, AZ, share[:, None] * Z])
    change = A[second] - A[first]
    stable = np.array([step.a.negative == step.b.negative == 0 and not curve.w for step in steps])
    most, turned = SAME * max(1.0, math.sqrt(size / USUAL)), [change @ probes[chosen] for chosen in (first, second)]
    off = [np.concatenate([-seen[first], probes[first], -turned[0]], axis=1)]
    off.append(np.concatenate([turned[1] - seen[second], probes[second], -turned[1]], axis=1))
    fine = np.ones(len(steps), dtype=bool)
    for side in (0, 1):
        fine &= _short(here @ off[side], most)
        fine &= stable | _short((SAME / CLOSE) * (tests @ turned[side]), most)
    return np.asarray(plain | fine | np.array([step.a.negative < 0 for step in steps])), True


def _made_together(curve: Curve, matrices: Sequence[Matrix]) -> tuple[Array, Array, Array] | None:
    """A, A⁻¹U and what A makes of that, of many places by one operation each; None where one A is singular."""
    blocks = [matrix.blocks() for matrix in matrices]
    A = curve.kkt_along(np.array([e.L_qx for e in blocks]), np.array([e.c_x for e in blocks]))
    added = ADDED * np.diag(np.arange(A.shape[1]) < curve.n)
    neutral = np.array([matrix.neutral for matrix in matrices])
    try:
        probes = np.linalg.solve(A + neutral[:, None, None] * added if neutral.any() else A, _signs(A.shape[1]))
    except np.linalg.LinAlgError:
        return None
    seen = A @ probes
    for matrix, *parts in zip(matrices, A, probes, seen, strict=True):
        matrix.__dict__.update(zip(("A", "probes", "seen"), parts, strict=True))
    return A, probes, seen


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


def _violated(steps: Sequence[SurveyedStep], owner: Indices, margins: Array, watch: PathWatch) -> Mask:
    """In which places a gap or reaction is below zero, and below both ends of its step."""
    if not margins.shape[1]:
        return np.zeros(len(margins), dtype=bool)
    floors = np.array([floor_of(step, watch.tolerances) for step in steps])
    return np.asarray((margins < floors[owner]).any(axis=1))


def _packed(curve: Curve, Y: Array) -> Array:
    """Packed points of many scaled ones."""
    X = np.zeros((len(Y), curve.n + 1 + len(curve.scales.gap)))
    X[:, curve.columns] = Y * curve.unit
    return X


def _look(curve: Curve, Y: Array, Z: Array) -> tuple[Array, Array]:
    """Values of all constraints in many places, and the matrix A of each times its row of Z, by compiled looks."""
    n, rows, sizes, gap = curve.n, curve.rows, curve.sizes, curve.scales.gap[curve.rows]
    directions = np.zeros((len(Y), n + 1 + len(curve.scales.gap)))
    directions[:, :n] = Z[:, :n] * sizes.length
    directions[:, n + 1 + rows] = -Z[:, n:] * (sizes.energy / gap)  # L_q falls with multipliers by the gradients
    c, slopes = curve.system.look(_packed(curve, Y), directions)
    return c, np.hstack([slopes[:, :n] * (sizes.length / sizes.energy), slopes[:, n + rows] / gap])


def _look_closely(curve: Curve, Y: Array, Z: Array) -> tuple[Array, Array]:
    """The same from the blocks."""
    n, z, sizes, gap = curve.n, Z[:, :, None], curve.sizes, curve.scales.gap[curve.rows]
    e = curve.system.evaluate_many(_packed(curve, Y))
    K = e.L_qx[:, :, :n] * (np.outer(sizes.length, sizes.length) / sizes.energy)
    E = e.c_x[:, curve.rows, :n] * (sizes.length / gap[:, None])
    return e.c, np.concatenate([K @ z[:, :n] + E.transpose(0, 2, 1) @ z[:, n:], E @ z[:, :n]], axis=1)[:, :, 0]
