"""Large structures: the same blocks as dense ones, in fixed sparse patterns.

The Hessian is kept as its lower triangle by columns, the constraint gradients by rows. Both patterns follow from which
element touches which coordinates, so they are found once; an evaluation only fills in values.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from scipy import sparse

from onesided.base.tolerances import HALF_DIGITS, ROUNDING
from onesided.base.types import Array, Indices
from onesided.evaluation.compiling import compiled
from onesided.linalg import SparseKkt
from onesided.structures.assembly import Assembly, flat_targets
from onesided.structures.element_batch import Batch
from onesided.structures.kernels import Data

# shares of the diagonal that are added until a stiffness is positive definite
FIRST_SHARE, SHARE_GROWTH, LAST_SHARE = HALF_DIGITS, 4.0, 16.0
POWER = 12  # iterations that tell a largest eigenvalue well enough for a size


@dataclass(frozen=True, eq=False)
class AssemblyPattern:
    """Where the entries of Hessian (lower triangle, by columns) and constraint gradients (by rows) stand."""

    n: int
    m: int
    column_starts: Indices
    rows: Indices
    row_starts: Indices
    columns: Indices

    @cached_property
    def entry_columns(self) -> Indices:
        """Column of every entry of the Hessian."""
        return np.repeat(np.arange(self.n), np.diff(self.column_starts))

    @cached_property
    def entry_constraints(self) -> Indices:
        """Constraint of every entry of the gradients."""
        return np.repeat(np.arange(self.m), np.diff(self.row_starts))


@dataclass(frozen=True, eq=False, slots=True)
class SparseEvaluation:
    """The blocks of the equilibrium equations at one point; names as in `Evaluation`.

    `hessian` and `gradients` are the values in the order of the pattern; `L_qq` and `c_q` make scipy matrices of them.
    """

    energy: float
    L_x: Array
    c: Array
    hessian: Array
    L_qp: Array
    gradients: Array
    c_p: Array
    pattern: AssemblyPattern

    @property
    def L_q(self) -> Array:
        """Force balance L_q, (n,): zero at an equilibrium."""
        return self.L_x[:-1]

    @property
    def L_p(self) -> float:
        """Rate of the energy with p along a path."""
        return float(self.L_x[-1])

    @property
    def lower(self) -> Any:
        """Lower triangle of the Hessian."""
        at = self.pattern
        return sparse.csc_array((self.hessian, at.rows, at.column_starts), shape=(at.n, at.n))

    @property
    def L_qq(self) -> Any:
        """Hessian of the Lagrangian, (n, n)."""
        lower = self.lower
        return lower + sparse.tril(lower, -1).T

    @property
    def c_q(self) -> Any:
        """Gradients of the constraints, (m, n)."""
        at = self.pattern
        return sparse.csr_array((self.gradients, at.columns, at.row_starts), shape=(at.m, at.n))

    def finite(self) -> bool:
        """Whether every entry of every block is finite."""
        blocks = (self.L_x, self.c, self.hessian, self.L_qp, self.gradients, self.c_p)
        return all(bool(np.all(np.isfinite(block))) for block in blocks)

    def gap_sizes(self, length: Array) -> Array:
        """Norms of the scaled constraint gradients, (m,)."""
        at = self.pattern
        squares = (self.gradients * length[at.columns]) ** 2
        return np.asarray(np.sqrt(np.bincount(at.entry_constraints, squares, at.m)))

    def constraint_rates(self, q_dot: Array, p_dot: Any) -> Array:
        """ċ = c_q q̇ + c_p ṗ, (m,)."""
        return np.asarray(self.c_q @ q_dot + self.c_p * p_dot)

    def constraint_row(self, j: int) -> Array:
        """Gradient of constraint j in (q, p), (n + 1,)."""
        at = self.pattern
        row = np.zeros(at.n + 1)
        inside = slice(at.row_starts[j], at.row_starts[j + 1])
        row[at.columns[inside]], row[-1] = self.gradients[inside], self.c_p[j]
        return row

    def pull(self, nu: Array) -> Array:
        """Forces c_qᵀν of the constraints, (n,)."""
        return np.asarray(nu @ self.c_q)

    def stiffest(self, units: Array) -> Array:
        """Largest entry of every row of the Hessian, (n,), for coordinates in these units."""
        largest, sizes = np.zeros(self.pattern.n), np.abs(self.scaled_hessian(units))
        for ends in (self.pattern.rows, self.pattern.entry_columns):
            np.maximum.at(largest, ends, sizes)
        return largest

    def scaled_hessian(self, length: Array) -> Array:
        """Entries of the Hessian times the lengths of their coordinates."""
        return np.asarray(self.hessian * length[self.pattern.rows] * length[self.pattern.entry_columns])

    def stiffness_change(self, length: Array, since: "SparseEvaluation") -> Callable[["SparseEvaluation"], float]:
        """How to measure the change ΔK of a Hessian since one, relative to this one: the largest |κ| of ΔK φ = κ K φ.

        By power iteration with K factorised, all constraints open.
        """
        at = self.pattern
        kkt = SparseKkt(at.n, at.m, (at.rows, at.entry_columns), (at.entry_constraints, at.columns))
        kkt.factor(self.scaled_hessian(length), self.gradients, np.zeros(at.m, dtype=bool))
        start = np.concatenate([np.cos(1.0 + np.arange(at.n)), np.zeros(at.m)])

        def change(other: "SparseEvaluation") -> float:
            entries = other.scaled_hessian(length) - since.scaled_hessian(length)
            if not np.any(entries):
                return 0.0
            lower = sparse.csc_array((entries, at.rows, at.column_starts), shape=(at.n, at.n))
            difference, v, value = lower + sparse.tril(lower, -1).T, start, 0.0
            for _ in range(POWER):
                v = v / np.sqrt(v @ v)
                v = kkt.solve(np.concatenate([difference @ v[: at.n], np.zeros(at.m)]), refine=False)
                value = float(np.sqrt(v @ v))
                if not 0.0 < value < math.inf:
                    return value
            return value

        return change

    def turning(self, other: "SparseEvaluation", length: Array) -> Array:
        """Norms of the scaled differences of the constraint gradients, (m,)."""
        at = self.pattern
        squares = ((other.gradients - self.gradients) * length[at.columns]) ** 2
        return np.asarray(np.sqrt(np.bincount(at.entry_constraints, squares, at.m)))

    def reference(self, stiffnesses: Sequence[Array]) -> Array:
        """Entries of the reference stiffness, positive definite: the mean of those Hessians that are.

        Where none is, the first one with a multiple of the stiffest entries of its rows on its diagonal, hardly more
        than it takes: directions without any stiffness are measured by what is left of it.
        """
        at = self.pattern
        none = (np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp))
        kkt = SparseKkt(at.n, 0, (at.rows, at.entry_columns), none)

        def definite(entries: Array) -> bool:
            kkt.factor(entries, np.zeros(0), np.zeros(0, dtype=bool))
            return kkt.inertia.positive == at.n

        good = [entries for entries in stiffnesses if definite(entries)]
        if good:
            return np.asarray(sum(good) / len(good))
        first = stiffnesses[0] if len(stiffnesses) else np.zeros(len(at.rows))
        diagonal, share = self._row_sizes(first), FIRST_SHARE
        while not definite(first + share * diagonal) and share < LAST_SHARE:
            share *= SHARE_GROWTH
        return np.asarray(first + share * diagonal)

    def _row_sizes(self, entries: Array) -> Array:
        """Entries of the diagonal matrix of the largest entries per row; where a row is empty, of all rows."""
        at, largest = self.pattern, np.zeros(self.pattern.n)
        for ends in (at.rows, at.entry_columns):
            np.maximum.at(largest, ends, np.abs(entries))
        usual = float(np.max(largest, initial=0.0)) or 1.0
        largest = np.where(largest > ROUNDING * usual, largest, usual)
        return np.where(at.rows == at.entry_columns, largest[at.rows], 0.0)

    def response(self, length: Array, energy: float) -> Array:
        """Displacement that a unit of p causes with all constraints closed, (n,)."""
        at = self.pattern
        kkt = SparseKkt(at.n, at.m, (at.rows, at.entry_columns), (at.entry_constraints, at.columns))
        kkt.factor(self.hessian, self.gradients, np.ones(at.m, dtype=bool))
        moved = -kkt.solve(np.concatenate([self.L_qp, self.c_p]))[: at.n]
        return moved if np.all(np.isfinite(moved)) else np.zeros(at.n)


class SparseAssembly(Assembly):
    """The sum over elements in fixed sparse patterns: for thousands of coordinates."""

    large = True

    def __init__(self, n: int, m: int, batches: Sequence[Batch], make_data: Any, names: tuple[str, ...]) -> None:
        super().__init__(n, m, batches, make_data, names)
        self._along_jit = compiled(self._along_entries, static_argnums=3)

    def _evaluate(self, x: Array, vector: Any) -> SparseEvaluation:  # type: ignore[override]
        table = self._table(vector)
        if table is None:
            return self._assembled(np.asarray(self._second(x, vector)))
        return self._split_up(table(x[None], self.n, int(self._targets[1][1][-1]))[0])

    def _assembled(self, entries: Array) -> SparseEvaluation:
        targets, ends = self._targets[1]
        return self._split_up(_sums(targets, entries, int(ends[-1])))

    def _places(self) -> tuple[Indices, Indices]:
        """Where every entry goes among the sums; there is a triangle of the Hessian only."""
        targets, ends = self._targets[1]
        return np.where(targets < ends[-1], targets, -1), np.full(len(targets), -1)

    def _numbers_of(self, vector: Any) -> list[Data]:
        """Data of the batches as arrays of NumPy."""
        return cast("list[Data]", jax.tree.map(np.asarray, vector))

    def _split_up(self, total: Array) -> SparseEvaluation:
        ends = self._targets[1][1]
        energy, L_x, c, hessian, L_qp, gradients, c_p = np.split(total, ends[:-1])
        return SparseEvaluation(float(energy[0]), L_x, c, hessian, L_qp, gradients, c_p, self.pattern)

    def residuals(self, X: Array, vector: Any) -> tuple[Array, Array, Array]:
        """The same at many points, one after the other: each is large enough for a call of its own."""
        energy, L_q, c = zip(*(self.residual(x, vector) for x in X), strict=True)
        return np.array(energy), np.array(L_q), np.array(c)

    def _energy_along(self, x: Array, direction: Array, vector: Any, order: int) -> Array:
        table = self._table(vector)
        entries = None if table is None else table.along(x, direction, self.n, order)
        total = self._add(np.asarray(self._along_jit(x, direction, vector, order)) if entries is None else entries)
        return np.delete(total, self.n + 1)  # L_p

    def constants(self, parameters: Mapping[str, float]) -> Any:
        """Data and structure of the batches as arrays of their own: they are too large to be compiled in."""
        data = self._make_data(parameters)
        pairs = zip(self.batches, data, strict=True)
        return jax.tree.map(jnp.asarray, [{**one, **batch.structure} for batch, one in pairs])

    def data_of(self, vector: Any) -> list[Data]:
        """Data and structure of the batches."""
        return cast("list[Data]", vector)

    @property
    def kkt(self) -> SparseKkt:
        """The one KKT matrix that a thread has of this structure, to be factorised with ever new values."""
        at, known = self.pattern, self.kept.factors
        if known is None:
            known = SparseKkt(at.n, at.m, (at.rows, at.entry_columns), (at.entry_constraints, at.columns))
            self.kept.factors = known
        return cast(SparseKkt, known)

    def _add(self, entries: Array) -> Array:
        targets, size = self._targets[0]
        return _sums(targets, entries, size)

    def _along_entries(self, x: Any, direction: Any, vector: Any, order: int) -> Any:
        def line(s: Any) -> Any:
            return self._entries(x + s * direction, vector, second=False)

        derivative = line
        for _ in range(order):
            derivative = _slope_of(derivative)
        return derivative(jnp.zeros(()))

    def _make_targets(self, n: int, m: int) -> Any:
        places = [place for batch in self.batches for place in batch.hessian_places()]
        entries = [(row, column) for batch in self.batches for row in batch.rows.T for column in batch.index.T]
        keys, hessian_at = _number([np.where(i < 0, -1, j * n + i) for i, j in places])
        rows, gradients_at = _number([np.where(j < 0, -1, i * n + j) for i, j in entries])
        self.pattern = AssemblyPattern(
            n,
            m,
            np.searchsorted(keys, n * np.arange(n + 1)),
            keys % n,
            np.searchsorted(rows, n * np.arange(m + 1)),
            rows % n,
        )
        ends = np.cumsum([1, n + 1, m, len(keys), n, len(rows), m])
        second: list[Indices] = []
        for batch in self.batches:
            second += batch.first_targets(n)
            second += [_shifted(next(hessian_at), ends[2]) for _ in batch.pairs]
            second += [_shifted(column, ends[3]) for column in batch.index.T]
            for row in batch.rows.T:
                second += [*(_shifted(next(gradients_at), ends[4]) for _ in range(batch.k)), ends[5] + row]
        first = [target for batch in self.batches for target in batch.first_targets(n)]
        return flat_targets(first, n + 2 + m), (flat_targets(second, int(ends[-1]))[0], ends)


def _number(keys: list[Indices]) -> tuple[Indices, Iterator[Indices]]:
    """The distinct keys ≥ 0 in order, and for every array of keys the numbers of its keys (−1 stays −1)."""
    flat = np.concatenate([np.full(1, -1), *keys])
    distinct, numbers = np.unique(flat, return_inverse=True)
    ends = np.cumsum([len(key) for key in keys])
    return distinct[1:], iter(np.split(numbers[1:] - 1, ends[:-1]))


def _shifted(numbers: Indices, by: int) -> Indices:
    return np.where(numbers < 0, -1, by + numbers)


def _sums(targets: Indices, entries: Array, size: int) -> Array:
    """Entries added up at their targets; those past the end are dropped."""
    return np.asarray(np.bincount(targets, entries, size + 1)[:size], dtype=np.float64)


def _slope_of(function: Any) -> Any:
    return lambda s: jax.jvp(function, (s,), (jnp.ones_like(s),))[1]
