"""Equilibria with a fixed working set for thousands of coordinates: sparse, one factorisation per point.

The KKT matrix K of the working set is factorised at every point that is returned, which gives inertia and tangent; on
the way there Newton's method keeps the last factorisation and evaluates residuals only. The bordered system is solved
by block elimination in the mixed form that stays accurate where K itself is singular (limit points) [GP].
"""

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse

from onesided.base.tolerances import DEFAULT, EPS, SMALL, Tolerances
from onesided.base.types import Array, Indices
from onesided.evaluation.equilibrium_blocks import Evaluation
from onesided.linalg import SparseKkt
from onesided.statics.curves.activity import ConstraintScales
from onesided.statics.curves.corrections import Closed, Correction, Plane, settled
from onesided.statics.curves.curve import Curve, CurvePoint
from onesided.statics.curves.large_spectrum import DENSE_ADVICE as DENSE_ADVICE
from onesided.statics.curves.large_spectrum import large_split, nearly_singular, soft_modes
from onesided.statics.curves.spectrum import Split, undecided
from onesided.system.sizes import Sizes
from onesided.system.system import System

if TYPE_CHECKING:  # elements are loaded by those who compose
    from onesided.structures.sparse import SparseAssembly, SparseEvaluation

SLOW = 0.3  # a step of the kept factorisation that shrinks the error less than this asks for a new one
CHORDS = 8  # most steps with one factorisation
FAR = EPS**-0.25  # a response to p larger than this: K is nearly singular


class LargeCurve(Curve):
    """The sparse twin of `Curve`: same unknowns, same scales, same interface."""

    large = True

    def _prepare(self) -> None:
        assembly = cast("SparseAssembly", self.system.derivatives)
        pattern, sizes, gap = assembly.pattern, self.sizes, self.scales.gap
        self.pattern = pattern
        self.kkt_matrix: SparseKkt = assembly.kkt
        self._hessian_scale = sizes.length[pattern.rows] * sizes.length[pattern.entry_columns] / sizes.energy
        self._gradient_scale = sizes.length[pattern.columns] / gap[pattern.entry_constraints]
        self.closed = np.zeros(len(gap), dtype=bool)
        self.closed[self.rows] = True
        self._responded: SparseEvaluation | None = None  # to which p: the response belongs to this evaluation
        self.column_p: Array = np.zeros(0)
        self.response: Array = np.zeros(0)

    def evaluate(self, x: Array) -> Any:
        """Blocks at the packed point: a `SparseEvaluation`."""
        return self.system.evaluate_packed(x)

    def factor(self, e: "SparseEvaluation") -> None:
        """Factorise K at e, unless that is what was factorised last; solve for the response to p."""
        factorised = self.kkt_matrix.held(self.rows) is e
        if factorised and self._responded is e:
            return
        if not factorised:
            values = self.stiffness_entries(e), self.gradient_entries(e)
            self.kkt_matrix.factor(*values, self.closed, of=(e, self.rows))
        self._responded, self.column_p = e, self.load(e)
        self.response = self.kkt_matrix.solve(self.column_p)

    def stiffness_entries(self, e: "SparseEvaluation") -> Array:
        """Entries of the scaled Hessian, in the order of the pattern."""
        return e.hessian * self._hessian_scale

    def gradient_entries(self, e: "SparseEvaluation") -> Array:
        """Entries of the scaled constraint gradients."""
        return e.gradients * self._gradient_scale

    def load(self, e: "SparseEvaluation") -> Array:
        """Column of p beside K."""
        moved = np.where(self.closed, e.c_p / self.scales.gap, 0.0)
        return np.asarray(self.sizes.control * np.concatenate([e.L_qp / self.sizes.force, moved]))

    def stiffness_times(self, e: "SparseEvaluation", columns: Array, *, sizes: bool = False) -> Array:
        """The scaled Hessian, or that of the absolute values of its entries, times some columns."""
        entries = self.stiffness_entries(e)
        return self._times(np.abs(entries) if sizes else entries, columns)

    def reference_times(self, columns: Array) -> Array:
        """The reference stiffness times some columns."""
        return self._times(self.sizes.reference, columns)

    def _times(self, entries: Array, columns: Array) -> Array:
        """A symmetric matrix, given by the entries of its lower triangle, times some columns."""
        at = self.pattern
        lower = sparse.csc_array((entries, at.rows, at.column_starts), shape=(at.n, at.n))
        diagonal = lower.diagonal()
        return np.asarray(lower @ columns + lower.T @ columns - (diagonal * columns.T).T)

    def times(self, e: Any, columns: Array, *, sizes: bool = False) -> Array:
        """J, or the absolute values of its entries, times some columns."""
        n, at, load = self.n, self.pattern, self.load(e)
        entries, sign = self.gradient_entries(e), -1.0
        if sizes:
            entries, load, sign = np.abs(entries), np.abs(load), 1.0
        E = sparse.csr_array((entries, at.columns, at.row_starts), shape=(at.m, at.n))[self.rows]
        u, p, nu = columns[:n], columns[n], columns[n + 1 :]
        top = self.stiffness_times(e, u, sizes=sizes) + np.outer(load[:n], p) + sign * (E.T @ nu)
        return np.vstack([top, E @ u + np.outer(load[n + self.rows], p)])

    def split(self, x: Array, tolerances: Tolerances, keep: int | None, like: Split | None) -> Split:
        """The linearised equations at a packed point taken apart [`spectrum.split`]."""
        return large_split(self, x, tolerances, keep, like)

    def soft_modes(self, e: Any, count: int) -> Array:
        """Some of the softest modes [`spectrum.soft_modes`]."""
        return soft_modes(self, e, count)

    def expand(self, y: Array) -> tuple[Array, float]:
        """Unknowns (q, p, ν_W) as unknowns of K, (q, −ν), and p."""
        x = np.zeros(self.n + len(self.closed))
        x[: self.n] = y[: self.n]
        x[self.n + self.rows] = -y[self.n + 1 :]
        return x, float(y[self.n])

    def contract(self, x: Array, p: float) -> Array:
        """Unknowns (q, p, ν_W) from those of K, (q, −ν), and p."""
        return np.concatenate([x[: self.n], [p], -x[self.n + self.rows]])

    def full(self, R: Array) -> Array:
        """Residuals of the working set as a right-hand side of K."""
        f = np.zeros(self.n + len(self.closed))
        f[: self.n], f[self.n + self.rows] = R[: self.n], R[self.n :]
        return f

    def border(self, row: Array) -> "Border":
        """Prepare the bordered system with this last row, with the factorisation at hand."""
        return Border(self, row)

    def across(self, e: Any, t: Array, R: Array) -> Array:
        """Change of the unknowns, none along t, that makes residuals R."""
        self.factor(e)
        return self.border(t).solve(R, 0.0)

    def modes(self, e: Any) -> tuple[int, bool]:
        """Negative modes on the working set and whether there is a neutral one, from the inertia of K."""
        self.factor(e)
        counted = self.kkt_matrix.inertia
        return counted.negative - len(self.closed), counted.zero > 0

    def start(self, x: Array, t: Array) -> tuple[int, float, float]:
        """Negative modes, orientation, volume at the start of a leg; (−1, 0, NaN) near a singular K."""
        e = self.evaluate(x)
        if nearly_singular(self, e, rounds=2) and undecided(self, x, DEFAULT):
            return -1, 0.0, math.nan
        self.factor(e)
        return self.modes(e)[0], self.border(t).orientation, 0.0

    def _shrinking(self, apply: "Border") -> float:
        """About the smallest singular value of the bordered matrix: how much a fixed vector grows by its inverse."""
        fixed = np.cos(1.0 + np.arange(self.size, dtype=np.float64))
        x = apply.solve(fixed[:-1], float(fixed[-1]))
        return math.sqrt(float(fixed @ fixed) / float(x @ x))

    def distance_to_singular(self, point: CurvePoint) -> float:
        """An estimate of the smallest singular value of the bordered matrix, with the sign of its determinant."""
        e = self.evaluate(point.x)
        self.factor(e)
        bordered = self.border(point.t)
        return bordered.orientation * self._shrinking(bordered)

    def eigenvalue(self, x: Array, index: int) -> float:
        """The eigenvalue of K nearest to zero, by inverse iteration."""
        self.factor(self.evaluate(x))
        v = np.cos(1.0 + np.arange(self.n + len(self.closed), dtype=np.float64))
        value = 0.0
        for _ in range(8):
            w = self.kkt_matrix.solve(v)
            value = float(v @ v) / float(v @ w)
            v = w / math.sqrt(float(w @ w))
        return value

    def newton(self, y: Array, border: Plane | Closed, *, target: float, limit: int, reach: float) -> Correction:
        """Solve R = 0 with one further equation: steps with the kept factorisation, then a full one where it ends."""
        first, previous = 0.0, np.inf
        for iteration in range(limit + 1):
            before = np.inf  # the error before the last of the cheap steps
            if isinstance(border, Plane) and self._is_at_hand():
                y, moved, before = self._approach(y, border, target, reach)
                first = first or moved
            e = self.evaluate(self.packed(y))
            row, value = border(e, y)
            R = self.residual(e)
            error = max(float(np.max(np.abs(R), initial=0.0)), abs(value))
            if not math.isfinite(error + e.energy):
                break
            self.factor(e)
            bordered = self.border(row)
            delta, tangent = bordered.solve(-R, -value, refine=False), bordered.tangent()
            size = math.sqrt(delta @ delta)
            if settled(error, previous, target, size) or (size <= SMALL and settled(error, before, target, size)):
                turn = bordered.orientation
                return Correction(y, e, tangent, turn, 0.0, first, error, iteration, converged=True)
            if not size < reach or not error < 1e3 * previous:
                break
            first, previous, y = first or size, error, y + delta
        else:
            return Correction(y, e, tangent, 0.0, math.nan, first, error, limit, converged=False)
        return Correction(
            y,
            e,
            np.full(self.size, np.nan),
            0.0,
            math.nan,
            first,
            error,
            iteration,
            converged=False,
        )

    def _is_at_hand(self) -> bool:
        """Whether what was factorised last is a stiffness of this curve, with its response to p."""
        return self._responded is not None and self.kkt_matrix.held(self.rows) is self._responded

    def _approach(self, y: Array, border: Plane, target: float, reach: float) -> tuple[Array, float, float]:
        """Newton steps with the factorisation at hand, as long as they converge quickly; residuals only.

        Also the length of the first step, and the error before the last one. A step into nowhere (the factorisation
        at hand may be that of a singular point) is taken back.
        """
        bordered = self.border(border.row)
        first, previous, last, back = 0.0, np.inf, reach / SLOW, y
        for _ in range(CHORDS):
            energy, L_q, c = self.system.residual_packed(self.packed(y))
            R = np.concatenate([L_q, c[self.rows]]) / self.weight
            value = float(border.row @ y) - border.level
            error = max(float(np.max(np.abs(R), initial=0.0)), abs(value))
            if not math.isfinite(error + energy) or error > 1e3 * previous:
                return back, 0.0, np.inf
            if error > SLOW * previous or (not first and error <= target):
                break
            delta = bordered.solve(-R, -value, refine=False)
            size = math.sqrt(delta @ delta)
            if not size < SLOW * last or settled(error, previous, target, size):
                break
            first, previous, last, back, y = first or size, error, size, y, y + delta
        return y, first, previous


class Border:
    """The bordered matrix [[K, k], [rᵀ, r_p]] with K factorised: mixed block elimination [GP]."""

    def __init__(self, curve: LargeCurve, row: Array) -> None:
        self.curve, self.kkt = curve, curve.kkt_matrix
        self.row, self.corner = curve.expand(row)
        self.v, self.k = curve.response, curve.column_p
        self.delta = self.corner - float(self.row @ self.v)
        self._w: Array | None = None

    @property
    def orientation(self) -> float:
        """Sign of the determinant, up to a sign that the working set fixes."""
        return float(np.sign(self.delta)) * (-1.0 if self.kkt.inertia.negative % 2 else 1.0)

    @property
    def regular(self) -> bool:
        """Whether K is far enough from singular for plain block elimination."""
        return bool(np.max(np.abs(self.v), initial=0.0) < FAR)

    @property
    def w(self) -> Array:
        """Solution K⁻¹r for the row r, kept after the first use."""
        if self._w is None:
            self._w = self.kkt.solve(self.row)
        return self._w

    def solve(self, R: Array, g: float, *, refine: bool = True) -> Array:
        """Solve for the right-hand side (R, g)."""
        f = self.curve.full(R)
        if self.regular:
            x = self.kkt.solve(f, refine=refine)
            p = (g - float(self.row @ x)) / self.delta
            return self.curve.contract(x - self.v * p, p)
        first = (g - float(self.w @ f)) / (self.corner - float(self.w @ self.k))
        return self._complete(self.kkt.solve(f - self.k * first), first, g)

    def tangent(self) -> Array:
        """Solve for the right-hand side (0, 1)."""
        first = 1.0 / (self.delta if self.regular else self.corner - float(self.w @ self.k))
        return self._complete(-self.v * first, first, 1.0)

    def _complete(self, x: Array, first: float, g: float) -> Array:
        rest = (g - self.corner * first - float(self.row @ x)) / self.delta
        return self.curve.contract(x - self.v * rest, first + rest)


def make_curve(system: System, rows: Indices, sizes: Sizes, scales: ConstraintScales) -> Curve:
    """The curve of a working set, dense or sparse as the system is."""
    return (LargeCurve if system.derivatives.large else Curve)(system, rows, sizes, scales)


def large_newton_step(system: System, blocks: Evaluation, rows: Indices, U_q: Array) -> Array:
    """(Δq, new ν on `rows`) of Newton's method with `rows` as equations and all other multipliers zero."""
    e, kkt = cast("SparseEvaluation", blocks), cast("SparseAssembly", system.derivatives).kkt
    closed = np.zeros(len(e.c), dtype=bool)
    closed[rows] = True
    kkt.factor(e.hessian, e.gradients, closed)
    x = kkt.solve(np.concatenate([-U_q, np.where(closed, -e.c, 0.0)]))
    return np.concatenate([x[: system.n], -x[system.n + rows]])
