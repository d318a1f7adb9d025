"""A point of a curve of equilibria, factorised once: how it moves with the parameters, and along the curve."""

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from onesided.base.tolerances import EPS, ROUNDING
from onesided.base.types import Array
from onesided.linalg.lu import DenseLU
from onesided.statics.curves.curve import Curve
from onesided.statics.curves.spectrum import second

if TYPE_CHECKING:  # elements are loaded by those who compose
    from onesided.statics.curves.large import Border, LargeCurve

NOISE = 64.0  # roundings by which numbers that are zero but for rounding may differ from it


class Spot:
    """The linearised equations J of a curve at a packed point x, with a border b: M = [J; bᵀ], factorised once.

    All vectors are scaled as the unknowns y = (q, p, ν) and equations (L_q, c) of the curve are.

    Parameters
    ----------
    border : (size,) a row that is not across the curve: an earlier tangent.
    lines : (P', P) combinations of parameters that are looked at; by default every parameter.
    about : slopes with the parameters need only be good enough for a correction.
    """

    def __init__(
        self, curve: Curve, x: Array, border: Array, lines: Array | None = None, *, about: bool = False
    ) -> None:
        self.curve, self.x, self.border, self.lines, self.about = curve, x, border, lines, about
        self.y, self.e = curve.scaled(x), curve.evaluate(x)
        self.factorisations = 0

    @cached_property
    def _lu(self) -> DenseLU:
        self.factorisations += 1
        return DenseLU(self.curve.matrix(self.e, self.border))

    @cached_property
    def _sparse(self) -> "Border":
        self.factorisations += 1
        large = cast("LargeCurve", self.curve)
        large.factor(cast(Any, self.e))
        return large.border(self.border)

    @property
    def regular(self) -> bool:
        """Whether M is regular; of a sparse one no pivot of K may vanish to the last bit, as it is factorised alone."""
        if self.curve.large:
            return not self._sparse.kkt.inertia.zero
        return self._lu.pivot > ROUNDING

    @property
    def orientation(self) -> float:
        """Sign of the determinant of M."""
        if self.curve.large:
            return self._sparse.orientation
        lu, pivots = self._lu.factors
        swaps = np.count_nonzero(pivots != np.arange(len(pivots)))
        return float(np.prod(np.sign(lu.diagonal())) * (-1.0) ** swaps)

    @property
    def volume(self) -> float:
        """About how far M is from singular: how much a fixed vector grows by its inverse."""
        fixed = np.cos(1.0 + np.arange(self.curve.size, dtype=np.float64))
        x = self.solve(fixed[:-1], float(fixed[-1]))
        return float(np.linalg.norm(fixed) / np.linalg.norm(x))

    @cached_property
    def t(self) -> Array:
        """Tangent of the curve: J t = 0, bᵀt = 1."""
        return self.solve(np.zeros(self.curve.size - 1), 1.0)

    def solve(self, R: Array, along: float = 0.0) -> Array:
        """Unknowns y of J y = R, bᵀy = `along`, (size,)."""
        if self.curve.large:
            border = self._sparse
            cast("LargeCurve", self.curve).factor(cast(Any, self.e))  # others may have factorised in between
            return border.solve(R, along)
        return np.asarray(self._lu.solve(np.append(R, along)))

    @property
    def residual(self) -> Array:
        """Residual R of the equilibrium equations, scaled."""
        return self.curve.residual(self.e)

    @cached_property
    def _slopes(self) -> Array:
        return self.curve.system.parameter_slopes(self.x, self.lines, about=self.about)

    @cached_property
    def R_theta(self) -> Array:
        """Scaled change of the equations with the parameters, (P, size − 1)."""
        n, rows = self.curve.n, self.curve.rows
        found = np.hstack([self._slopes[:, 1 : 1 + n], self._slopes[:, 1 + n + rows]])
        return np.asarray(found / self.curve.weight)

    @cached_property
    def c_theta(self) -> Array:
        """Change of all constraints with the parameters, (P, m)."""
        return self._slopes[:, 1 + self.curve.n :]

    @cached_property
    def L_theta(self) -> Array:
        """Change of the energy with the parameters at fixed configuration, with the work of moved constraints, (P,)."""
        return np.asarray(self._slopes[:, 0] - self.c_theta @ self.x[self.curve.n + 1 :])

    def R_y_theta(self, v: Array) -> Array:
        """Scaled change of J v with the parameters, (P, size − 1)."""
        curve = self.curve
        raw = curve.system.parameter_slopes_along(self.x, curve.packed(v), self.lines, about=self.about)
        return np.asarray(np.hstack([raw[:, : curve.n], raw[:, curve.n + curve.rows]]) / curve.weight)

    def R_yy(self, u: Array, columns: Array) -> Array:
        """Scaled second derivative R''(u, v) for the columns v."""
        return _second(self.curve, self.x, u, columns)

    @property
    def noise(self) -> Array:
        """What rounding makes of the residual, of its terms and within them, (size − 1, 3).

        The former are known to EPS; of the latter the residual is a sample at unknowns that differ by some EPS.
        """
        curve, number, found = self.curve, np.arange(self.curve.size), []
        terms = curve.times(self.e, 1.0 + np.abs(self.y)[:, None], sizes=True)[:, 0]
        for k in (1.0, 2.0, 3.0):
            signs = np.cos(k * (1.0 + number))
            change = 4.0 * EPS * np.abs(self.y) * signs
            new = curve.residual(curve.evaluate(curve.packed(self.y + change)))
            within = new - self.residual - curve.times(self.e, change[:, None])[:, 0]
            found.append(EPS * terms * signs[:-1] + within)
        return np.stack(found, axis=1)

    @property
    def rounded(self) -> Array:
        """Changes of the unknowns that this makes, (size, 3)."""
        return np.stack([self.solve(one) for one in self.noise.T], axis=1)

    @cached_property
    def shift(self) -> Array:
        """How the curve moves with the parameters across its border: J y = −R_θ, bᵀy = 0, (size, P)."""
        columns = [self.solve(-one) for one in self.R_theta]
        return np.array(columns).reshape(len(columns), self.curve.size).T

    @cached_property
    def doubt(self) -> Array:
        """What rounding of the unknowns makes of `shift`, (P,): smaller rates are none."""
        rounded = EPS * (1.0 + np.abs(self.y)) * np.cos(1.0 + np.arange(len(self.y)))
        moved = [np.max(np.abs(self.solve(row)), initial=0.0) for row in self.R_y_theta(rounded)]
        return NOISE * np.array(moved, dtype=np.float64)


def _second(curve: Curve, x: Array, u: Array, columns: Array) -> Array:
    """R''(u, v), with zeros where v vanishes."""
    found = np.zeros((curve.size - 1, columns.shape[1]))
    moving = np.linalg.norm(columns, axis=0) > 0.0
    if np.any(moving):
        found[:, moving] = second(curve, x, u, columns[:, moving])
    return found
