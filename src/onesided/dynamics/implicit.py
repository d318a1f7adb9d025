"""What implicit steppers share: the stabilised equations on the kept constraint rows, packed and linearised."""

from typing import NamedTuple

import numpy as np

from onesided._types import Array, Indices
from onesided.dynamics.mechanics import Mechanics, State


class Linearised(NamedTuple):
    """Blocks of the derivatives of the stabilised form on the kept rows; see `MotionFunctions`.

    K, C, M : force balance by (δ, v, v̇);  R : by the multipliers;  G : gradients of the holonomic rows;
    D, A : velocity level by δ and v.
    """

    K: Array
    C: Array
    M: Array
    R: Array
    G: Array
    D: Array
    A: Array


class Stabilised:
    """Residuals and derivatives at (t, q∘exp δ, δ̇, v, v̇, μ, η), with μ and η on the independent rows only."""

    def __init__(self, mechanics: Mechanics) -> None:
        equations = mechanics.equations
        self.mechanics, self.equations = mechanics, equations
        self.n = equations.n
        self.rows: Indices = mechanics.rows
        self.holonomic: Indices = self.rows[self.rows < equations.m]
        self.rolling: Indices = np.flatnonzero(self.rows >= equations.m)
        n, m = self.n, equations.m
        self._kept = np.concatenate([np.arange(2 * n), 2 * n + self.holonomic, 2 * n + m + self.rows])

    @property
    def size(self) -> int:
        """Number of unknowns and equations."""
        return len(self._kept)

    def pack(self, t: float, q: Array, parts: tuple[Array, ...], mu: Array, eta: Array) -> Array:
        """One vector for the compiled functions; parts are (δ, δ̇, v, v̇)."""
        equations = self.equations
        full, stabilising = np.zeros(equations.rows), np.zeros(equations.m)
        full[self.rows], stabilising[self.holonomic] = mu, eta
        return np.concatenate([(t, equations.p), q, *parts, full, stabilising])

    def residual(self, x: Array) -> Array:
        """(2n + kept rows,) at a packed point, or one row for each of several points."""
        if x.ndim == 1:
            return np.asarray(self.equations.balance(x)[self._kept])
        return np.asarray(self.equations.stages(x)[:, self._kept])

    def linearise(self, state: State) -> Linearised:
        """Blocks of the Jacobian at a state."""
        n, equations = self.n, self.equations
        zero = np.zeros(n)
        x = self.pack(
            state.t, state.q, (zero, state.v, state.v, state.a), state.mu[self.rows], np.zeros(len(self.holonomic))
        )
        J = equations.jacobian(x)[self._kept]
        delta, v, w = slice(0, n), slice(2 * n, 3 * n), slice(3 * n, 4 * n)
        balance, position, velocity = slice(n, 2 * n), slice(2 * n, 2 * n + len(self.holonomic)), len(self.holonomic)
        last = slice(2 * n + velocity, None)
        return Linearised(
            J[balance, delta],
            J[balance, v],
            J[balance, w],
            J[balance, 4 * n + self.rows],
            J[position, delta],
            J[last, delta],
            J[last, v],
        )
