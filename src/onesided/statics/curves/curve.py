"""Equilibria with a fixed working set: a smooth curve R(x) = 0 in x = (q, p, ν), linearised in scaled variables.

The working set holds the bilateral and the closed unilateral constraints as equations; all other multipliers are zero.
Unknowns are the columns (q, p, ν_W), equations the rows (L_q, c_W): one more unknown than equations.
"""

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from onesided import linalg
from onesided.base.tolerances import DEFAULT, EPS
from onesided.base.types import Array, Indices
from onesided.evaluation.equilibrium_blocks import Evaluation
from onesided.evaluation.native_newton import NativeNewton
from onesided.evaluation.step_data import CurveFrame
from onesided.statics.curves.activity import ConstraintScales
from onesided.statics.curves.factors import Factors, inertia, inertia_of_many, least_squares, solve, symmetric_factors
from onesided.statics.curves.spectrum import spectrum_at, undecided
from onesided.system.sizes import Sizes
from onesided.system.system import System

if TYPE_CHECKING:  # made from curves
    from onesided.statics.curves.corrections import Correction

TOGETHER = 30  # unknowns up to which matrices of many points are made by one operation
NO_CHANGE = EPS**0.8  # of the scaled p along a unit tangent


@dataclass(slots=True)
class CurvePoint:
    """A point of a curve with what event detection needs; `y` and `t` are scaled.

    `negative` counts negative modes (−1: unknown), `neutral` tells of a zero one; `orientation` is the sign
    of the bordered determinant (0: unknown), `volume` the logarithm of its size across the tangent, `sense` the sign
    of the change of p just after the point. `margins` are the quantities that must stay ≥ 0: scaled gaps of open and
    multipliers of closed unilateral constraints; `rates` are their derivatives. `c`, `energy` and the scaled residual
    `error` are those of the model at this very point, and so is `load`, the rate L_p of the energy with p. Where the
    step that led here was looked at in its middle, `s_middle` and `middle_slope` are the arc length and dU/ds there.
    """

    x: Array
    y: Array
    t: Array
    s: float
    negative: int
    orientation: float
    sense: float
    margins: Array
    rates: Array
    c: Array
    energy: float
    error: float
    volume: float = math.nan
    neutral: bool = False
    load: float = math.nan
    s_middle: float = math.nan
    middle_slope: float = math.nan


class CurvePoints(NamedTuple):
    """Many points in a row: the fields of `CurvePoint`, each an array along a first axis."""

    x: Array
    y: Array
    t: Array
    s: Array
    negative: Array
    orientation: Array
    sense: Array
    margins: Array
    rates: Array
    c: Array
    energy: Array
    error: Array
    volume: Array
    neutral: Array
    load: Array
    s_middle: Array
    middle_slope: Array

    def point(self, i: int) -> CurvePoint:
        """The point with number i."""
        point = CurvePoint(*[column[i] for column in self])
        point.negative, point.neutral, point.s = int(point.negative), bool(point.neutral), float(point.s)
        return point

    def pick(self, chosen: Any) -> "CurvePoints":
        """Some of them: a slice, or a mask."""
        return CurvePoints(*(column[chosen] for column in self))


def sense_of(p_dot: float) -> float:
    """Sign of the change of p, zero where round-off decides."""
    return 0.0 if abs(p_dot) <= NO_CHANGE else math.copysign(1.0, p_dot)


class Curve:
    """The equilibria of a system with the constraints `rows` as equations, in scaled variables.

    Parameters
    ----------
    rows : constraint rows of the working set (bilateral first).
    sizes, scales : what counts as a large displacement, force, gap, multiplier.
    """

    newton: "Callable[..., Correction]"  # of large systems; small ones go through the function `newton`
    large = False
    loose = False  # some unknowns are free all along: of all changes the smallest is taken

    def __init__(self, system: System, rows: Indices, sizes: Sizes, scales: ConstraintScales) -> None:
        n, w = system.n, len(rows)
        self.system, self.rows, self.sizes, self.scales = system, rows, sizes, scales
        self.n, self.w, self.size, self.k = n, w, n + 1 + w, len(system.bilateral)
        self.columns = np.concatenate([np.arange(n + 1), n + 1 + rows]).astype(np.intp)
        self.unit = np.concatenate([sizes.length, [sizes.control], scales.multiplier[rows]])
        self.weight = np.concatenate([sizes.force, scales.gap[rows]])
        self._all = w == len(scales.gap)
        first = int(rows[0]) if w else 0
        in_a_row = w > 0 and bool((rows == np.arange(first, first + w)).all())
        self._taken: Any = slice(first, first + w) if in_a_row else rows  # views take less time than copies
        self._closed: Any = rows[self.k :] - self.k
        self._gap = scales.gap[self.k :]
        self.known_split: tuple[Any, Any] = (None, None)  # what was asked for last [`spectrum.split`], and the answer
        self._prepare()

    def _prepare(self) -> None:
        """What turns the blocks of an evaluation into scaled matrices."""
        n, rows, sizes, scales = self.n, self.rows, self.sizes, self.scales
        factor = self.unit[None, :] / self.weight[:, None]
        self._top, self._bottom, self._right = factor[:n, : n + 1], factor[n:, : n + 1], -factor[:n, n + 1 :]
        self._square = np.outer(sizes.length, sizes.length) / sizes.energy
        self._slope = sizes.length / scales.gap[rows][:, None]

    def measured_at(self, x: Array) -> "Curve":
        """The same curve with stiffness measured by what is usual around the packed point x."""
        other = copy(self)
        other.sizes = self.sizes.at(x)
        return other

    def along_continuum(self) -> "Curve":
        """The same curve as one of a continuum: nothing moves that need not."""
        other = copy(self)
        other.loose = not self.large
        return other

    def with_gaps(self, gap: Array) -> "Curve":
        """The same curve, unknowns and equations, with the gaps of open constraints measured by `gap`."""
        other, measured = copy(self), gap.copy()
        measured[self.rows] = self.scales.gap[self.rows]
        other.scales = ConstraintScales(measured, self.sizes.energy / measured)
        other._gap = measured[self.k :]
        other.__dict__.pop("frame", None)
        return other

    def scaled(self, x: Array) -> Array:
        """Scaled unknowns y of the packed point x."""
        return np.asarray(x[self.columns] / self.unit)

    def packed(self, y: Array) -> Array:
        """Packed point x = (q, p, ν) of scaled unknowns."""
        if self._all:
            return np.asarray(y * self.unit)
        x = np.zeros(self.n + 1 + len(self.scales.gap))
        if self.w:
            x[self.columns] = y * self.unit
        else:
            np.multiply(y, self.unit, out=x[: self.n + 1])
        return x

    @cached_property
    def frame(self) -> CurveFrame:
        """The scaled variables as compiled steps take them: of all constraints, open or closed."""
        closed = np.zeros(len(self.scales.gap), dtype=bool)
        closed[self.rows] = True
        unit = np.concatenate([self.unit[: self.n + 1], self.scales.multiplier])
        weight = np.concatenate([self.sizes.force, self.scales.gap])
        return CurveFrame(unit, weight, closed, onesided=np.arange(len(closed)) >= self.k)

    def spread(self, y: Array) -> Array:
        """Scaled unknowns (or their rates) with zeros for the multipliers of open constraints."""
        if self._all:
            return y
        full = np.zeros(self.n + 1 + len(self.scales.gap))
        full[self.columns] = y
        return full

    def evaluate(self, x: Array) -> Evaluation:
        """Blocks at the packed point."""
        return self.system.evaluate_packed(x)

    def matrix(self, e: Evaluation, border: Array) -> Array:
        """The scaled Jacobian J of R with `border` as last row, in Fortran order."""
        n, N = self.n, self.size
        M = np.zeros((N, N), order="F")
        np.multiply(e.L_qx, self._top, out=M[:n, : n + 1])
        if self.w:
            E = e.c_x[self._taken]
            np.multiply(E, self._bottom, out=M[n:-1, : n + 1])
            np.multiply(E[:, :n].T, self._right, out=M[:n, n + 1 :])
        M[-1] = border
        return M

    def solve_bordered(self, e: Evaluation, border: Array, right: Array) -> tuple[Array, Factors | None]:
        """Solve the bordered system; also its factors, if it is regular."""
        if self.loose:
            return least_squares(self.matrix(e, border), right), None
        solution, factors = solve(self.matrix(e, border), right)
        return (solution if factors else least_squares(self.matrix(e, border), right)), factors

    def across(self, e: Evaluation, t: Array, R: Array) -> Array:
        """Change of the unknowns, none along t, that makes residuals R."""
        return self.solve_bordered(e, t, np.append(R, 0.0).reshape(-1, 1))[0][:, 0]

    def residual(self, e: Evaluation) -> Array:
        """Scaled R = (L_q, c_W)."""
        if not self.w:
            return np.asarray(e.L_x[:-1] / self.weight)
        R: Array = np.concatenate([e.L_x[:-1], e.c[self._taken]])
        R /= self.weight
        return R

    def jacobian(self, e: Evaluation) -> Array:
        """Scaled J, (size − 1, size)."""
        return self.matrix(e, np.zeros(self.size))[:-1]

    def times(self, e: Evaluation, columns: Array, *, sizes: bool = False) -> Array:
        """J, or the absolute values of its entries, times some columns."""
        return (np.abs(self.jacobian(e)) if sizes else self.jacobian(e)) @ columns

    def margins(self, e: Evaluation, y: Array, t: Array) -> tuple[Array, Array]:
        """What must stay ≥ 0, with derivatives: scaled gaps of open, multipliers of closed unilateral constraints.

        For one point, or for many along a first axis.
        """
        k, n, gap = self.k, self.n, self._gap
        if not len(gap):
            return e.c[..., k:], e.c[..., k:]
        values, rates = e.c[..., k:] / gap, self.gap_rates(e, t) / gap
        if self.w > k:
            closed = self._closed
            values[..., closed], rates[..., closed] = y[..., n + 1 + k :], t[..., n + 1 + k :]
        return values, rates

    def margin_rates(self, e: Evaluation, t: Array) -> Array:
        """Derivatives of the margins along the unit tangent t, scaled."""
        k, gap = self.k, self._gap
        if not len(gap):
            return e.c[..., k:]
        rates: Array = self.gap_rates(e, t) / gap
        if self.w > k:
            rates[..., self._closed] = t[..., self.n + 1 + k :]
        return rates

    def gap_rates(self, e: Evaluation, t: Array) -> Array:
        """Rates of all gaps along the scaled tangent t."""
        velocity = t[..., : self.n + 1] * self.unit[: self.n + 1]
        if t.ndim == 1 and not self.large:
            return np.asarray((e.c_x @ velocity)[self.k :])
        return e.constraint_rates(velocity[..., :-1], velocity[..., -1:])[..., self.k :]

    def kkt(self, e: Evaluation) -> Array:
        """Lower triangle, in Fortran order, of K = [[L_qq, Eᵀ], [E, 0]] without units: rows are copied as columns."""
        n, w = self.n, self.w
        if not w:
            return np.asarray(e.L_qx[:, :n] * self._square).T
        K = np.zeros((n + w, n + w))
        np.multiply(e.L_qx[:, :n], self._square, out=K[:n, :n])
        K[:n, n:] = (e.c_x[self._taken, :n] * self._slope).T
        return K.T

    def modes(self, e: Evaluation) -> tuple[int, bool]:
        """Negative eigenvalues of the Hessian reduced on the working set, and whether it has a zero one.

        Both are read off the inertia of K, unless constraints depend on each other.
        """
        return self.modes_by(symmetric_factors(self.kkt(e)), e)

    def modes_by(self, factors: Factors, e: Evaluation) -> tuple[int, bool]:
        """The same with factors of K."""
        if self.loose:
            return spectrum_at(e, e.c_q[self.rows], self.sizes, DEFAULT).negative(DEFAULT), True
        negative, neutral = inertia(factors[0].diagonal(), factors[1])
        return self._modes_on_null_space(e) if neutral and self.w else (int(negative) - self.w, bool(neutral))

    def modes_of_sign(self, e: Evaluation, sign: float) -> tuple[int, bool]:
        """The same where the sign of ṗ times that of the bordered determinant is known: that of det K but for (−1)^w.

        The determinant is regular where K nearly is not. Where both disagree, rounding decides a mode, and it is
        counted as that sign says.
        """
        negative, neutral = self.modes(e)
        odd = sign * (-1.0) ** self.w < 0
        dependent = self.loose or (neutral and self.w > 0)
        if self.large or dependent or sign == 0.0 or odd == bool(negative % 2):
            return negative, neutral
        found = spectrum_at(e, e.c_q[self.rows], self.sizes, DEFAULT)
        certain, unsure = int((found.kappa < -found.noise).sum()), int((abs(found.kappa) <= found.noise).sum())
        own = unsure == 1 and odd != bool(certain % 2)
        return (certain + own if unsure < 2 else negative), unsure > 0

    def modes_along(self, e: Evaluation) -> tuple[Any, Any, list[Factors]]:
        """The same at many points, along the first axis of the blocks, and the factors.

        Small matrices are made and factorised together, large ones, which do not fit into the cache, one by one.
        """
        if self.n + self.w <= TOGETHER:
            negative, neutral, factors = inertia_of_many(self.kkt_along(e.L_qx, e.c_x))
        else:
            factors = [symmetric_factors(self.kkt(e.at(i))) for i in range(len(e.L_qx))]
            diagonals = np.array([ldu.diagonal() for ldu, _ in factors])
            negative, neutral = inertia(diagonals, np.array([one for _, one in factors]))
        negative -= self.w
        for i in np.flatnonzero(neutral) if self.w else ():
            negative[i], neutral[i] = self._modes_on_null_space(e.at(int(i)))
        return negative, neutral, factors

    def kkt_along(self, L_qx: Array, c_x: Array) -> Array:
        """K at many points, both triangles."""
        n, size = self.n, self.n + self.w
        K = np.zeros((len(L_qx), size, size))
        np.multiply(L_qx[:, :, :n], self._square, out=K[:, :n, :n])
        if self.w:
            K[:, n:, :n] = E = c_x[:, self.rows, :n] * self._slope
            K[:, :n, n:] = E.transpose(0, 2, 1)
        return K

    def _modes_on_null_space(self, e: Evaluation) -> tuple[int, bool]:
        H = linalg.reduced_hessian(e.L_qq * self._square, e.c_q[self.rows] * self._slope)
        values = np.linalg.eigvalsh(H) if len(H) else np.zeros(0)
        small = len(H) * EPS
        return int(np.count_nonzero(values < -small)), bool((abs(values) <= small).any())

    def eigenvalue(self, x: Array, index: int) -> float:
        """Eigenvalue of K number `index`, counted from the lowest."""
        return float(np.linalg.eigvalsh(self.kkt(self.evaluate(x)), UPLO="L")[index])

    @cached_property
    def native_newton(self) -> NativeNewton | None:
        """Newton's method with a plane by machine code, of systems that have some."""
        blocks = self.system.native_blocks()
        if blocks is None:
            return None
        sizes, places = (self.n, self.w, len(self.scales.gap)), (self.columns, self.rows)
        return NativeNewton(blocks, sizes, places, self.unit, self.weight)

    def start(self, x: Array, t: Array) -> tuple[int, float, float]:
        """Negative modes, orientation, volume at the start of a leg; (−1, 0, NaN) where it is nearly singular."""
        e = self.evaluate(x)
        M = self.matrix(e, t)
        if not np.all(np.isfinite(M)) or undecided(self, x, DEFAULT):
            return -1, 0.0, math.nan
        sign, volume = np.linalg.slogdet(M)
        return self.modes(e)[0], float(sign), float(volume)

    def distance_to_singular(self, point: "CurvePoint") -> float:
        """Smallest singular value of the bordered Jacobian, with the sign of its determinant."""
        M = self.matrix(self.evaluate(point.x), point.t)
        sign, _ = np.linalg.slogdet(M)
        return float(sign * np.linalg.svd(M, compute_uv=False)[-1])
