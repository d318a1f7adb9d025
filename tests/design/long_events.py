"""Limit points and contact changes in extended precision: equations in long double by NumPy, corrections in double.

What is left of an event by rounding in double precision is too much for differences of its coordinates where stiff
members stand beside soft ones. The residuals alone decide where it is: of a limit point (R, J t) = 0, bᵀt = 1, t_p = 0;
of a contact change R = 0 with its gap or reaction.
"""

from functools import cached_property

import jax
import numpy as np

from onesided.design.conditions import Turn
from onesided.evaluation.plain import Plain

EXTENDED = np.finfo(np.longdouble).eps < np.finfo(np.float64).eps / 1000  # not on all machines
ROUNDS = 12  # corrections at most


class LongEvents:
    """Limit points or contact changes of a curve of events, sharper than doubles say."""

    def __init__(self, events) -> None:
        self.events = events

    def _both(self, x, direction, vector):
        """(L_q, c) and its change along a direction, from a packed point, the direction and the model's numbers."""
        residual = self.events.where.system.derivatives.packed_residual
        return jax.numpy.concatenate(jax.jvp(lambda z: residual(z, vector)[1:], (x,), (direction,)))

    @cached_property
    def _function(self):
        x = self.events.where.x
        return Plain(jax.jit(self._both).trace(x, x, self.events.where.system._vector))

    @cached_property
    def _jacobian(self):
        return jax.jit(jax.jacfwd(self._both))

    def bends(self, spot):
        """R''(t, ·), scaled, (size − 1, size)."""
        curve = spot.curve
        full = np.asarray(self._jacobian(spot.x, curve.packed(spot.t), curve.system._vector))
        full = full[len(full) // 2 :, curve.columns] * curve.unit
        return np.concatenate([full[: curve.n], full[curve.n + curve.rows]]) / curve.weight[:, None]

    def rows(self, curve, y, t):
        """(L_q, c) and their change along t in long double."""
        long = np.longdouble
        packed = [np.zeros(len(self.events.where.x), dtype=long) for _ in range(2)]
        for into, own in zip(packed, (y, t), strict=True):
            into[curve.columns] = own * curve.unit.astype(long)
        vector = np.asarray(curve.system._vector).astype(long)
        made = self._function(*packed, vector).reshape(2, -1)
        assert made.dtype == long
        return made

    def residuals(self, curve, y, t):
        """Scaled R and J t in long double."""
        return (self.scaled(curve, row) for row in self.rows(curve, y, t))

    def scaled(self, curve, row):
        """The equations of a curve among all."""
        return np.concatenate([row[: curve.n], row[curve.n + curve.rows]]) / curve.weight

    def refined(self, w):
        """The packed point x of the event near w, in long double."""
        spot = self.events.spot(w)
        y = self.limit(spot, w) if isinstance(self.events.condition, Turn) else self.change(spot, w)
        x = np.zeros(len(self.events.where.x), dtype=np.longdouble)
        x[spot.curve.columns] = y * spot.curve.unit
        return x

    def change(self, spot, w):
        """The unknowns y at which a contact changes."""
        curve, condition = spot.curve, self.events.condition
        J = np.asarray(curve.matrix(spot.e, spot.border))[:-1]
        matrix = np.vstack([J, condition.rates(spot, np.eye(curve.size))])
        y, before = w[:-1].astype(np.longdouble), np.inf
        for _ in range(ROUNDS):
            row = self.rows(curve, y, 0.0 * y)[0]
            at = np.flatnonzero(curve.rows == condition.j)
            own = y[curve.n + 1 + at[0]] if len(at) else row[curve.n + condition.j] / curve.scales.gap[condition.j]
            move = np.linalg.solve(matrix, -np.append(self.scaled(curve, row), own).astype(np.float64))
            step = float(np.max(np.abs(move)))
            if step >= before / 2:  # nothing but rounding is left
                break
            y, before = y + move, step
        return y

    def limit(self, spot, w):
        """The unknowns y of a limit point."""
        curve, border, size, p = spot.curve, spot.border, spot.curve.size, spot.curve.n
        M = np.asarray(curve.matrix(spot.e, border))
        matrix = np.zeros((2 * size, 2 * size))
        matrix[: size - 1, :size] = matrix[size : 2 * size - 1, size:] = M[:-1]
        matrix[size : 2 * size - 1, :size] = self.bends(spot)
        matrix[size - 1, size + p] = 1.0
        matrix[-1, size:] = border
        y, t, before = w[:-1].astype(np.longdouble), spot.t.astype(np.longdouble), np.inf
        for _ in range(ROUNDS):
            R, Jt = self.residuals(curve, y, t)
            right = -np.concatenate([R, [t[p]], Jt, [border @ t - 1.0]]).astype(np.float64)
            move = np.linalg.solve(matrix, right)
            step = float(np.max(np.abs(move)))
            if step >= before / 2:  # nothing but rounding is left
                break
            y, t, before = y + move[:size], t + move[size:], step
        return y
