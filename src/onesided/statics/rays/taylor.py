"""Taylor coefficients of an equilibrium branch at a point: what decides when first derivatives vanish.

With x(s) on R(x) = 0 and J = R_x:   J ẍ = −R''(ẋ,ẋ),   J x⃛ = −R'''(ẋ,ẋ,ẋ) − 3R''(ẋ,ẍ).
Where J has a null space of dimension d > 1, the part of ẍ inside it follows from the solvability of the third equation.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np

from onesided.base.tolerances import EPS, SMALL, Tolerances
from onesided.base.types import Array
from onesided.statics.curves.curve import Curve
from onesided.statics.curves.spectrum import Split, split
from onesided.system.system import System

CLEAR = SMALL  # share of the terms that make up a derivative of p below which it is their rounding


class Taylor:
    """Derivatives with respect to arc length of the branch through x with scaled unit tangent t on one piece."""

    def __init__(self, system: System, x: Array, piece: Curve, t: Array, tolerances: Tolerances) -> None:
        self.system, self.x, self.piece, self.t, self.tolerances = system, x, piece, t, tolerances

    def form(self, v: Array, order: int) -> Array:
        """Scaled R⁽ᵏ⁾(v, …, v) on the rows of the piece, and the same of every constraint, stacked."""
        raw = self.system.along(self.x, self.piece.packed(v), order)
        n = self.piece.n
        return np.asarray(np.concatenate([raw[:n], raw[n + self.piece.rows]]) / self.piece.weight)

    def mixed(self, u: Array, v: Array) -> Array:
        """Scaled R''(u, v) by polarisation."""
        return (self.form(u + v, 2) - self.form(u - v, 2)) / 4.0

    @cached_property
    def parts(self) -> Split:
        """The linearised equations taken apart."""
        return split(self.piece, self.x, self.tolerances)

    @cached_property
    def _split(self) -> tuple[Array, Array]:
        """Null space N orthogonal to t, left null space Z."""
        N = self.parts.N / np.linalg.norm(self.parts.N, axis=0)
        N = N - np.outer(self.t, self.t @ N)
        basis = np.linalg.svd(N, full_matrices=False)[0][:, : max(0, N.shape[1] - 1)]
        return basis, self.parts.Z

    @property
    def regular(self) -> bool:
        """Whether J has one null vector only."""
        return bool(self._split[0].shape[1] == 0)

    @cached_property
    def second(self) -> Array:
        """Scaled ẍ, orthogonal to the tangent."""
        N, Z = self._split
        a = -self.parts.inverse(self.form(self.t, 2))
        a = a - self.t * (self.t @ a)
        if not N.shape[1]:
            return a
        right = Z.T @ (self.form(self.t, 3) + 3.0 * self.mixed(self.t, a))
        matrix = 3.0 * Z.T @ np.column_stack([self.mixed(self.t, v) for v in N.T])
        return np.asarray(a - N @ np.linalg.lstsq(matrix, right, rcond=None)[0])

    @cached_property
    def third(self) -> Array:
        """Scaled x⃛, up to a multiple of the tangent (and of the null space where J is singular)."""
        return -self.parts.inverse(self.form(self.t, 3) + 3.0 * self.mixed(self.t, self.second))

    def sign_of_p(self) -> tuple[int, int]:
        """Sign of the change of p along the branch and the order of the derivative that decided it; (0, 0) if none.

        Scaled derivatives that are as small as rounding decide nothing, however small the others are.
        """
        n = self.piece.n
        if abs(self.t[n]) > self.tolerances.singularity:
            return int(np.sign(self.t[n])), 1
        row = np.abs(self.parts.inverse_row(n))
        two, three = self.form(self.t, 2), self.form(self.t, 3)
        sizes = (row @ np.abs(two), row @ (np.abs(three) + 3.0 * np.abs(self.mixed(self.t, self.second))))
        for order, vector, size in ((2, self.second, sizes[0]), (3, self.third, sizes[1])):
            if abs(float(vector[n])) > max(CLEAR * max(float(size), float(np.max(np.abs(vector)))), EPS):
                return int(np.sign(vector[n])), order
        return 0, 0

    def leading_multiplier(self, j: int) -> float:
        """First derivative of ν_j that does not vanish, of order two or three, for a closed constraint j."""
        column = self.piece.n + 1 + int(np.flatnonzero(self.piece.rows == j)[0])
        unit = self.piece.unit[column]
        values = (float(self.second[column]), float(self.third[column]))
        return self._first(values) * float(unit)

    def leading_gap(self, j: int) -> float:
        """First derivative of the gap c_j that does not vanish, of order two or three, for an open constraint j."""
        n, row = self.piece.n, self.piece.n + j
        row_j, scale = self.piece.evaluate(self.x).constraint_row(j), float(self.piece.scales.gap[j])

        def values() -> Iterator[float]:  # derivatives of order three take long, and are not always needed
            yield float(self._bent[row] + row_j @ self.piece.packed(self.second)[: n + 1]) / scale
            yield float(self._turned[row] + row_j @ self.piece.packed(self.third)[: n + 1]) / scale

        return self._first(values()) * scale

    @cached_property
    def _bent(self) -> Array:
        """Second derivatives of all rows along ẋ."""
        return np.asarray(self.system.along(self.x, self.piece.packed(self.t), 2))

    @cached_property
    def _turned(self) -> Array:
        """Third derivatives of all rows along ẋ, and three times the second ones along ẋ and ẍ."""
        x, x_dot, x_two = self.x, self.piece.packed(self.t), self.piece.packed(self.second)
        cross = (self.system.along(x, x_dot + x_two, 2) - self.system.along(x, x_dot - x_two, 2)) / 4.0
        return np.asarray(self.system.along(x, x_dot, 3) + 3.0 * cross)

    def _first(self, values: Iterable[float]) -> float:
        small = np.sqrt(self.tolerances.singularity)
        return next((value for value in values if abs(value) > small), 0.0)
