"""What implicit steppers share: the stabilised equations on the kept constraint rows, packed and linearised."""

from typing import Any, NamedTuple

import numpy as np

from onesided.base.types import Array, Indices
from onesided.dynamics.mechanics import Mechanics, MotionState
from onesided.linalg import BlockPlace, DenseBlocks, SparseBlocks

K, C, M, R, G, D, A, DR, AR = range(9)
STABILISED = (  # rows (kinematic, balance, position, velocity), columns (δ, v, μ, η)
    BlockPlace(0, 0, M), BlockPlace(0, 1, M), BlockPlace(0, 3, G, transposed=True),
    BlockPlace(1, 0, K), BlockPlace(1, 1, C), BlockPlace(1, 1, M), BlockPlace(1, 2, R),
    BlockPlace(2, 0, G), BlockPlace(3, 0, D), BlockPlace(3, 1, A),
)  # fmt: skip
INDEX3 = (  # rows (balance, position, rolling), columns (v̇, μ)
    BlockPlace(0, 0, M), BlockPlace(0, 0, K), BlockPlace(0, 0, C), BlockPlace(0, 1, R),
    BlockPlace(1, 0, G), BlockPlace(2, 0, DR), BlockPlace(2, 0, AR),
)  # fmt: skip


class Linearised(NamedTuple):
    """Blocks of the derivatives of the stabilised form on the kept rows: matrices, or the values of their entries.

    K, C, M : force balance by (δ, v, v̇);  R : by the multipliers;  G : gradients of the holonomic rows;
    D, A : velocity level by δ and v;  DR, AR : their non-holonomic rows.
    """

    K: Array
    C: Array
    M: Array
    R: Array
    G: Array
    D: Array
    A: Array
    DR: Array
    AR: Array

    @property
    def finite(self) -> bool:
        """Whether every entry of every block is finite."""
        return all(bool(np.all(np.isfinite(block))) for block in self)


class Stabilised:
    """Residuals and derivatives at (t, q∘exp δ, δ̇, v, v̇, μ, η), with μ and η on the independent rows only."""

    def __init__(self, mechanics: Mechanics, state: MotionState) -> None:
        equations = mechanics.equations
        equations.find_jacobian(state.t, state.q, state.v)
        self.mechanics, self.equations = mechanics, equations
        self.n = equations.n
        self.rows: Indices = mechanics.rows
        self.holonomic: Indices = self.rows[self.rows < equations.m]
        self.rolling: Indices = np.flatnonzero(self.rows >= equations.m)
        n, m = self.n, equations.m
        self._kept = np.concatenate([np.arange(2 * n), 2 * n + self.holonomic, 2 * n + m + self.rows])
        self._blocks = self._ranges()
        if equations.jacobian_pattern is not None:
            self._entries = [_entries(equations.jacobian_pattern, *block) for block in self._blocks]

    @property
    def size(self) -> int:
        """Number of unknowns and equations."""
        return len(self._kept)

    def _ranges(self) -> list[tuple[Indices, Indices]]:
        """Rows and columns of every block in the derivatives of (balance, position, velocity) by (δ, v, v̇, μ)."""
        n, m = self.n, self.equations.m
        balance, position, velocity = np.arange(n), n + self.holonomic, n + m + self.rows
        delta, v, w, mu = np.arange(n), n + np.arange(n), 2 * n + np.arange(n), 3 * n + self.rows
        rolling = velocity[self.rolling]
        rows = (balance, balance, balance, balance, position, velocity, velocity, rolling, rolling)
        return list(zip(rows, (delta, v, w, mu, delta, delta, v, delta, v), strict=True))

    def newton(self, places: tuple[BlockPlace, ...]) -> DenseBlocks | SparseBlocks:
        """What puts Newton matrices together and factorises them: `STABILISED` or `INDEX3`."""
        n, m, r = self.n, len(self.holonomic), len(self.rows)
        heights, widths = ((n, n, m, r), (n, n, r, m)) if places is STABILISED else ((n, m, r - m), (n, r))
        if self.equations.jacobian_pattern is None:
            return DenseBlocks(heights, widths, places)
        return SparseBlocks(heights, widths, places, [(i, j) for _, i, j in self._entries])

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

    def linearise(self, state: MotionState) -> Linearised:
        """Blocks of the Jacobian at a state."""
        zero = np.zeros(self.n)
        x = self.pack(
            state.t, state.q, (zero, state.v, state.v, state.a), state.mu[self.rows], np.zeros(len(self.holonomic))
        )
        J = self.equations.jacobian(x)
        if self.equations.jacobian_pattern is None:
            return Linearised(*(J[np.ix_(rows, columns)] for rows, columns in self._blocks))
        values = J.ravel()
        return Linearised(*(values[source] for source, _, _ in self._entries))

    def mass_times(self, blocks: Linearised, x: Array) -> Array:
        """The product M x with the mass matrix."""
        if self.equations.jacobian_pattern is None:
            return np.asarray(blocks.M @ x)
        _, i, j = self._entries[M]
        return np.asarray(np.bincount(i, blocks.M * x[j], self.n), dtype=float)


def _entries(pattern: Any, rows: Indices, columns: Indices) -> tuple[Indices, Indices, Indices]:
    """Entries of a block of a pattern: where they stand in the compressed values, their rows and columns within it."""
    i, j = (np.full(size, -1) for size in pattern.shape)
    i[rows], j[columns] = np.arange(len(rows)), np.arange(len(columns))
    inside = np.flatnonzero((i[pattern.rows] >= 0) & (j[pattern.columns] >= 0))
    return pattern.source[inside], i[pattern.rows[inside]], j[pattern.columns[inside]]
