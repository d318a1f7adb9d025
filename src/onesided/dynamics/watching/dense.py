"""The motion within a step: positions, velocities and accelerations at both ends, and the acceleration in the middle.

In local coordinates δ of the beginning, with x from 0 to 1 over the step,

    δ(x) = (quintic Hermite interpolant of both ends) + κ (x (1 − x))³,

κ such that the acceleration in the middle is the one that the model gives there. The quintic alone is off by
κ (x (1 − x))³ to leading order: that is the estimate of the error, and its slope that of the velocities.
"""

import numpy as np

from onesided.base.tolerances import EPS
from onesided.base.types import Array
from onesided.dynamics.mechanics import Mechanics, MotionState
from onesided.linalg.interpolants import BEND, BUMP, HERMITE, STEEPEST, TOP
from onesided.results.motion import local_ends, local_velocity

ROUNDED = 8.0  # spacings of coordinates within which two of them are one
NEAR = 2.0**-10  # of a step: over which the change of the velocity is taken, on a group


def hermite(x: Array) -> Array:
    """Weights of δ, h δ̇, h² δ̈ at the beginning and at the end of a step, at places x: (N, 6)."""
    powers = np.ones((len(x), 6))
    for k in range(1, 6):
        powers[:, k] = powers[:, k - 1] * x
    return np.asarray(powers @ HERMITE.T)


def _told_by_rates(q: Array, delta: Array, rate: Array, curve: Array) -> Array:
    """δ at the end of a step; as h δ̇ and h² δ̈ at both ends say where it differs from that by round-off of q only.

    That of a short step, far from the origin, would be a large velocity.
    """
    told = 0.5 * (rate[0] + rate[1]) + (curve[0] - curve[1]) / 12.0
    noise = ROUNDED * EPS * np.max(np.abs(q), axis=0)
    return np.where(np.abs(delta - told) <= noise, told, delta)


class DenseOutput:
    """Configurations and velocities between two states."""

    def __init__(self, mechanics: Mechanics, before: MotionState, after: MotionState) -> None:
        self.space, self.before, self.h = mechanics.equations.space, before, after.t - before.t
        self._origin = before.q
        q, v, a = (np.array([getattr(before, k), getattr(after, k)]) for k in ("q", "v", "a"))
        delta = self.space.local(np.broadcast_to(q[0], q.shape), q)
        rate, curve = local_ends(self.space, delta, v, a)
        delta[1] = _told_by_rates(q, delta[1], self.h * rate, self.h**2 * curve)
        data = np.stack([delta, self.h * rate, self.h**2 * curve], axis=1).reshape(6, -1)
        self._powers = np.vstack([HERMITE.T @ data, np.zeros((1, len(before.q)))])
        self._correct(mechanics)

    def _correct(self, mechanics: Mechanics) -> None:
        t = self.before.t + 0.5 * self.h
        delta, slope = self._local(np.array([0.5]))
        q, v = self._motion(delta, slope)
        with np.errstate(over="ignore", invalid="ignore"):
            a = mechanics.accelerate(t, q[0], np.zeros_like(q[0]), v[0], self.before.mu).a
        defect = self.space.rate(delta[0], a - self._acceleration())
        kappa = self.h**2 * np.where(np.isfinite(defect), defect, 0.0) / BEND
        self._powers = self._powers + np.outer(BUMP, kappa)
        self.error = np.abs(kappa) * TOP
        self.error_of_rate = np.abs(kappa) * STEEPEST / self.h

    def _acceleration(self) -> Array:
        """Of the interpolant, in the middle."""
        if self.space.flat:
            k = np.arange(2, len(self._powers))
            return np.asarray((k * (k - 1) * 0.5 ** (k - 2)) @ self._powers[2:] / self.h**2)
        _, v = self._motion(*self._local(np.array([0.5 - NEAR, 0.5 + NEAR])))
        return np.asarray((v[1] - v[0]) / (2.0 * NEAR * self.h))

    def _local(self, x: Array) -> tuple[Array, Array]:
        k = np.arange(len(self._powers))
        slopes = k[1:, None] * self._powers[1:]
        return np.vander(x, len(k), increasing=True) @ self._powers, np.vander(x, len(k) - 1, increasing=True) @ slopes

    def _motion(self, delta: Array, slope: Array) -> tuple[Array, Array]:
        q = self.space.retract(np.broadcast_to(self._origin, delta.shape), delta)
        return self.space.wrap(q), local_velocity(self.space, delta, slope / self.h)

    def at(self, times: Array) -> tuple[Array, Array]:
        """Configurations and velocities at times within the step: (N, n) each."""
        return self._motion(*self._local((times - self.before.t) / self.h))
