"""Smooth bifurcations and parameters: how a fork moves, and the power law where a parameter breaks it.

With v the mode without p, t the null vector with ṗ = 1 and z the left null vector, the branches near a simple fork are
½B_vv a² + B_vt aδ + ½B_tt δ² + C a³/6 + h Δθ = 0, B = zᵀR'', h = zᵀR_θ, δ the change of p [KO].
"""

from dataclasses import dataclass

import numpy as np

from onesided.base.tolerances import HALF_DIGITS, SMALL, Tolerances
from onesided.base.types import Array, Mask
from onesided.design.event_equations import came_along, degenerate, standpoint
from onesided.design.spots import Spot
from onesided.results import Event
from onesided.statics.curves.curve import Curve
from onesided.statics.curves.spectrum import Split, second, split
from onesided.statics.equilibria.place import Standpoint
from onesided.system.system import System

HALF, TWO_THIRDS = 0.5, 2.0 / 3.0


@dataclass(frozen=True, eq=False)
class Unfolding:
    """What a parameter that breaks a fork does to p: coefficient · |Δθ|^exponent, for Δθ of the sign `side`."""

    exponent: float
    coefficient: float
    side: float


class Fork:
    """A simple smooth bifurcation, taken apart.

    Parameters
    ----------
    curve : the equilibria on the way in, with stiffness measured at the point x.
    symmetric : whether a branch leaves with ṗ = 0, as those of a pitchfork do.
    """

    def __init__(self, curve: Curve, x: Array, parts: Split, *, symmetric: bool) -> None:
        self.curve, self.x, self.parts, self.symmetric = curve, x, parts, symmetric
        p_parts = parts.N[curve.n]
        size = float(p_parts @ p_parts)
        self.regular = parts.N.shape[1] == 2 and size > 0.0
        if self.regular:
            turned = np.array([-p_parts[1], p_parts[0]])
            self.v, self.t = parts.N @ turned / np.sqrt(size), parts.N @ p_parts / size
            self.z = parts.Z[:, 0]

    @property
    def null(self) -> Array:
        """Columns v and t, (size, 2)."""
        return np.stack([self.v, self.t], axis=1)

    def bends(self) -> Array:
        """B = zᵀR''(·, ·) on (v, t), (2, 2)."""
        rows = [self.z @ second(self.curve, self.x, one, self.null) for one in self.null.T]
        return np.array(rows)

    def cubic(self) -> float:
        """Coefficient c = zᵀ(R'''(v, v, v) + 3R''(v, w)) with J w = −R''(v, v)."""
        curve, v = self.curve, self.v
        raw = curve.system.along(self.x, curve.packed(v), 3)
        third = np.concatenate([raw[: curve.n], raw[curve.n + curve.rows]]) / curve.weight
        w = -self.parts.inverse(second(curve, self.x, v, v[:, None])[:, 0])
        further = second(curve, self.x, v, w[:, None])[:, 0] if np.any(w) else 0.0 * third
        return float(self.z @ (third + 3.0 * further))

    def breaking(self, spot: Spot, change: Array) -> tuple[Array, Mask]:
        """(P,) h = zᵀR_θ, and where it is more than what the place of the fork, known to half its digits, makes of it.

        `change` is zᵀJ_θ on (v, t), (P, 2). By symmetry all of these may vanish: h is then rounding of R_θ.
        """
        h = spot.R_theta @ self.z
        usual = np.abs(spot.R_theta) @ np.abs(self.z) + np.max(
            np.abs(change) / np.linalg.norm(self.null, axis=0), axis=1
        )
        rounded = SMALL * np.max(np.abs(spot.R_theta), axis=1, initial=0.0)
        return h, np.abs(h) > np.maximum(HALF_DIGITS * usual, rounded)

    def unfold(self, h: float) -> Unfolding:
        """The limit point that the fork becomes where a parameter breaks it by h = zᵀR_θ."""
        B, unit = self.bends(), float(self.curve.unit[self.curve.n])
        if self.symmetric:
            size = float(np.cbrt(-9.0 / 8.0 * self.cubic() * h * h) / B[0, 1])
            return Unfolding(TWO_THIRDS, unit * size, 0.0)
        spread = float(B[0, 1] ** 2 / B[0, 0] - B[1, 1])
        return Unfolding(HALF, unit * float(np.sqrt(2.0 * abs(h / spread))), float(np.sign(h / spread)))


def fork_of(event: Event, system: System | None, tolerances: Tolerances) -> tuple[Standpoint, Fork]:
    """The fork at an event."""
    where, ray = standpoint(event, system), came_along(event)
    rows = where.strong if ray is None else np.array(ray.rows, dtype=np.intp)
    curve = where.curve(rows).measured_at(where.x)
    parts = split(curve, where.x, tolerances)
    fork = Fork(curve, where.x, parts, symmetric=any(one.order != 1 for one in event.rays.rays))
    if not fork.regular:
        raise degenerate(event, f"{parts.N.shape[1] - 1} modes are without stiffness at once, or none changes with p")
    return where, fork


def fork_slopes(fork: Fork, spot: Spot) -> tuple[Array, list[Unfolding | None]]:
    """(size, P) rates of the fork with the parameters, NaN where one breaks it, and the power laws of those."""
    rates = np.full((fork.curve.size, len(spot.R_theta)), np.nan)
    B, change = fork.bends(), np.stack([spot.R_y_theta(one) @ fork.z for one in fork.null.T], axis=1)
    h, broken = fork.breaking(spot, change)
    for i in np.flatnonzero(~broken):
        moved = -fork.parts.inverse(spot.R_theta[i])
        bent = fork.z @ spot.R_yy(moved, fork.null) if np.any(moved) else np.zeros(2)
        along = np.linalg.solve(B, -(bent + change[i]))
        rates[:, i] = moved + fork.null @ along
    return rates, [fork.unfold(float(h[i])) if broken[i] else None for i in range(len(h))]
