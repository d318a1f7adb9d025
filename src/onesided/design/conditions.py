"""What makes a point of a curve an event: one further equation φ = 0, with its derivatives."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from onesided.base.tolerances import HALF_DIGITS
from onesided.base.types import Array
from onesided.design.spots import Spot
from onesided.linalg.differences import derivative


class Condition(Protocol):
    """φ(y, θ) = 0 in scaled unknowns of a curve."""

    def value(self, spot: Spot) -> float:
        """Value φ of the condition, scaled; zero at the event."""

    def rates(self, spot: Spot, columns: Array) -> Array:
        """φ_y d for the columns d."""

    def slopes(self, spot: Spot) -> Array:
        """Derivatives φ_θ with respect to the parameters, (P,), at fixed unknowns."""


@dataclass(frozen=True)
class Meets:
    """An open constraint closes: c_j = 0."""

    j: int

    def value(self, spot: Spot) -> float:
        """Gap of the constraint, scaled."""
        return float(spot.e.c[self.j] / spot.curve.scales.gap[self.j])

    def rates(self, spot: Spot, columns: Array) -> Array:
        """Changes c_x d of the gap along the columns d, scaled."""
        n, curve = spot.curve.n, spot.curve
        row = spot.e.constraint_row(self.j) * curve.unit[: n + 1] / curve.scales.gap[self.j]
        return np.asarray(row @ columns[: n + 1])

    def slopes(self, spot: Spot) -> Array:
        """Derivatives c_θ of the gap, (P,), scaled."""
        return np.asarray(spot.c_theta[:, self.j] / spot.curve.scales.gap[self.j])


@dataclass(frozen=True)
class Release:
    """A closed constraint opens: ν_j = 0."""

    j: int

    def _column(self, spot: Spot) -> int:
        return spot.curve.n + 1 + int(np.flatnonzero(spot.curve.rows == self.j)[0])

    def value(self, spot: Spot) -> float:
        """Multiplier of the constraint, scaled."""
        return float(spot.y[self._column(spot)])

    def rates(self, spot: Spot, columns: Array) -> Array:
        """Changes of the multiplier along the columns: it is one of the unknowns."""
        return np.asarray(columns[self._column(spot)])

    def slopes(self, spot: Spot) -> Array:
        """Zeros, (P,): the multiplier is an unknown, so parameters do not enter directly."""
        return np.zeros(len(spot.R_theta))


@dataclass(frozen=True)
class Turn:
    """The curve turns back: the tangent t, J t = 0, bᵀt = 1, has no part along p.

    J t' = −R''(d, t) gives its change, so that φ_y d = −(M⁻¹R''(d, t))_p.
    """

    def value(self, spot: Spot) -> float:
        """Part of the tangent along p: near zero by energy, as t_p (t_q L_qp + c_p t_ν) = −t_q L_qq t_q.

        Stiff members beside soft ones leave rounding in t_q L_qq t_q, but none in the second derivative of the energy.
        """
        curve, t_p = spot.curve, float(spot.t[spot.curve.n])
        if abs(t_p) > HALF_DIGITS * np.linalg.norm(spot.t):
            return t_p
        n, t = curve.n, curve.packed(spot.t)
        t[n] = 0.0
        with_p = float(t[:n] @ spot.e.L_qp + spot.e.c_p @ t[n + 1 :])
        if with_p == 0.0:
            return t_p
        only_q = np.concatenate([t[:n], np.zeros(len(t) - n)])
        return -curve.system.curvature(spot.x, only_q) / with_p / float(curve.unit[n])

    def rates(self, spot: Spot, columns: Array) -> Array:
        """Changes −(M⁻¹R''(d, t))_p along the columns d."""
        bends = spot.R_yy(spot.t, columns)
        return np.array([-spot.solve(bend)[spot.curve.n] for bend in bends.T])

    def slopes(self, spot: Spot) -> Array:
        """Derivatives −(M⁻¹J_θ t)_p, (P,)."""
        return np.array([-spot.solve(row)[spot.curve.n] for row in spot.R_y_theta(spot.t)])


@dataclass(frozen=True)
class Level:
    """The control parameter p has a given value."""

    p: float

    def value(self, spot: Spot) -> float:
        """Difference of p from the level, scaled."""
        return float(spot.x[spot.curve.n] - self.p) / float(spot.curve.unit[spot.curve.n])

    def rates(self, spot: Spot, columns: Array) -> Array:
        """Changes of the scaled p along the columns."""
        return np.asarray(columns[spot.curve.n])

    def slopes(self, spot: Spot) -> Array:
        """The bound is what it is."""
        return np.zeros(len(spot.R_theta))


@dataclass(frozen=True)
class UserZero:
    """A user's function of (q, p) vanishes; it is only known by its values."""

    function: Callable[[Array, float], float]

    def _at(self, spot: Spot, y: Array) -> Array:
        x, n = y[: spot.curve.n + 1] * spot.curve.unit[: spot.curve.n + 1], spot.curve.n
        return np.array([float(self.function(x[:n], float(x[n])))])

    def value(self, spot: Spot) -> float:
        """Value of the user's function."""
        return float(self._at(spot, spot.y)[0])

    def rates(self, spot: Spot, columns: Array) -> Array:
        """Differences along the columns, extrapolated."""
        return np.array([self._rate(spot, d) for d in columns.T])

    def _rate(self, spot: Spot, d: Array) -> float:
        size = float(np.max(np.abs(d[: spot.curve.n + 1]), initial=0.0))
        if size == 0.0:
            return 0.0
        found, _ = derivative(lambda s: self._at(spot, spot.y + s * d), 1.0 / size)
        return float(found[0])

    def slopes(self, spot: Spot) -> Array:
        """Zeros, (P,): the user's function takes no parameters."""
        return np.zeros(len(spot.R_theta))
