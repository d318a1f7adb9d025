"""Elements to derivatives: elements of one variant are differentiated together, and their blocks are added up.

A batch (`element_batch`) holds the elements that share their functions (`kernels`); every entry of
their blocks has its place in the result.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np

from onesided.base.types import Array, Indices
from onesided.evaluation.compiling import compiled
from onesided.evaluation.derivatives import MILLION, Derivatives
from onesided.evaluation.equilibrium_blocks import Evaluation
from onesided.evaluation.native_newton import NativeBlocks
from onesided.evaluation.step_data import Blocks
from onesided.structures.element_batch import Batch
from onesided.structures.element_code import FilledTable, StructureCode
from onesided.structures.kernels import Data, kernel


class Assembly(Derivatives):
    """Derivatives of a structure: the sum over its elements, with the interface of `Derivatives`.

    Parameters
    ----------
    n, m : numbers of coordinates and constraints.
    batches : the elements.
    make_data : parameters → data of all batches.
    """

    elementwise = True

    def __init__(self, n: int, m: int, batches: Sequence[Batch], make_data: Any, names: tuple[str, ...]) -> None:
        self.batches, self._make_data = tuple(batches), make_data
        self._targets = self._make_targets(n, m)
        super().__init__(n, self.potential, [self.potential] * m, names)
        self._first = compiled(partial(self._entries, second=False))
        self._second = compiled(partial(self._entries, second=True))

    def constants(self, parameters: Mapping[str, float]) -> Any:
        """Data of the batches for these parameters, in one vector: every argument of a compiled call costs time."""
        leaves, self._tree = jax.tree.flatten(self._make_data(parameters))
        self._shapes = [leaf.shape for leaf in leaves]
        return np.concatenate([np.zeros(0), *(leaf.ravel() for leaf in leaves)])

    def data_of(self, vector: Any) -> list[Data]:
        """Data and structure of the batches."""
        ends = np.cumsum([math.prod(shape) for shape in self._shapes])
        pieces = zip(jnp.split(jnp.asarray(vector), ends[:-1]) if len(ends) else [], self._shapes, strict=True)
        data = jax.tree.unflatten(self._tree, [piece.reshape(shape) for piece, shape in pieces])
        return [{**one, **batch.structure} for batch, one in zip(self.batches, data, strict=True)]

    def _table(self, vector: Any, *, added: bool = True) -> FilledTable | None:
        """The elements with these data for machine code, their entries added up or each by itself, if there is any."""
        return self._code.table(vector, self._numbers_of, added=added)

    @cached_property
    def _code(self) -> StructureCode:
        return StructureCode(self.batches, *self._places())

    def _places(self) -> tuple[Indices, Indices]:
        """Where every entry goes in the packed result, and those below the diagonal of the Hessian once more."""
        order, targets, _ = self._gather
        main, mirrored = (np.full(len(self._targets[1][0]), -1) for _ in range(2))
        once = len(np.unique(order))
        main[order[:once]], mirrored[order[once:]] = targets[:once], targets[once:]
        return main, mirrored

    def _numbers_of(self, vector: Any) -> list[Data]:
        """Data of the batches as arrays of NumPy."""
        ends = np.cumsum([math.prod(shape) for shape in self._shapes])[:-1]
        pieces = zip(np.split(np.asarray(vector), ends), self._shapes, strict=True) if self._shapes else ()
        data: list[Data] = jax.tree.unflatten(self._tree, [piece.reshape(shape) for piece, shape in pieces])
        return data

    def _packed(self, X: Array, table: FilledTable) -> Evaluation:
        """All blocks at many points, by machine code."""
        return self.unpack(table(X, self.n, self._gather[2]))

    def native_blocks(self, vector: Any) -> NativeBlocks | None:
        """The packed blocks as machine code for other machine code, if there is any."""
        table = self._table(vector)
        return None if table is None else table.native_blocks(self.n, self.n + 1 + self.m, self._gather[2])

    def evaluate_few(self, X: Array, vector: Any) -> Evaluation:
        """All blocks at any number of points, the rows of X."""
        table = self._table(vector)
        return super().evaluate_few(X, vector) if table is None else self._packed(X, table)

    def evaluate_many(self, X: Array, vector: Any) -> Evaluation:
        """Evaluations at many points X, packed from tables of the elements where there are some."""
        table = self._table(vector)
        return super().evaluate_many(X, vector) if table is None else self._packed(X, table)

    def residuals(self, X: Array, vector: Any) -> tuple[Array, Array, Array]:
        """Energy, L_q and c at many points (rows of X)."""
        table = self._table(vector)
        if table is None:
            return super().residuals(X, vector)
        found = [self._packed(rows, table) for rows in self._portions(X)]
        return (
            np.concatenate([np.asarray(one.energy) for one in found]),
            np.concatenate([one.L_q for one in found]),
            np.concatenate([one.c for one in found]),
        )

    def look(self, X: Array, directions: Array, vector: Any) -> tuple[Array, Array]:
        """Values c and the derivative of (L_q, c) in a direction of its own, (m,) and (n + m,), at many points."""
        table = self._table(vector)
        if table is None:
            return super().look(X, directions, vector)
        values, slopes = [], []
        for rows, ways in zip(self._portions(X), self._portions(directions), strict=True):
            e, moved, pushed = self._packed(rows, table), ways[:, : self.n + 1, None], ways[:, self.n + 1 :, None]
            balance = e.L_qx @ moved - e.c_q.transpose(0, 2, 1) @ pushed
            values.append(e.c)
            slopes.append(np.concatenate([balance, e.c_x @ moved], axis=1)[:, :, 0])
        return np.concatenate(values), np.concatenate(slopes)

    def constraint_values(self, X: Array, vector: Any) -> Array:
        """Values c alone at many points, of which (q, p) is enough: (N, m)."""
        table = self._table(vector)
        return super().constraint_values(X, vector) if table is None else table.gaps(X, self.n, self.m)

    def may_depend_on_p(self, vector: Any) -> bool:
        """Whether something held moves with p, or an element uses p."""
        for batch, one in zip(self.batches, self._numbers_of(vector), strict=True):
            if any(np.any(rate) for rate in one["rate"]) or batch.form.uses_p(jax.tree.map(lambda x: x[0], one)):
                return True
        return False

    def _portions(self, X: Array) -> list[Array]:
        """Points in groups whose blocks have no more than a million numbers."""
        size = max(MILLION // self._gather[2], 1)
        return [X[i : i + size] for i in range(0, max(len(X), 1), size)]

    def _evaluate(self, x: Array, vector: Any) -> Evaluation:
        """All blocks at the packed point: NumPy adds up a few hundred numbers faster than JAX's compiled loop."""
        table = self._table(vector)
        if table is not None:
            return self.unpack(table(x[None], self.n, self._gather[2])[0])
        return cast(Evaluation, self._assembled(np.asarray(self._second(x, self._handed(vector)))))

    def _assembled(self, entries: Array) -> Any:
        order, targets, size = self._gather
        packed = np.bincount(targets, entries[order], size)
        return self.unpack(np.asarray(packed, dtype=np.float64))

    def residual(self, x: Array, vector: Any) -> tuple[float, Array, Array]:
        """Energy, L_q and c at the packed point."""
        if self._table(vector) is not None or self._from_blocks():
            blocks = self._evaluate(x, vector)
            return float(blocks.energy), blocks.L_q, blocks.c
        targets, size = self._targets[0]
        total: Array = np.asarray(np.bincount(targets, np.asarray(self._first(x, vector)), size + 1), dtype=np.float64)
        return float(total[0]), total[1 : self.n + 1], total[self.n + 2 : size]

    def _energy_along(self, x: Array, direction: Array, vector: Any, order: int) -> Array:
        table, (targets, size) = self._table(vector), self._targets[0]
        entries = None if table is None else table.along(x, direction, self.n, order)
        if entries is None:
            return np.asarray(self._along(x, direction, vector, order))
        return np.delete(np.bincount(targets, entries, size + 1), [self.n + 1, size])  # L_p, and what is dropped

    def magnitude(self, x: Array, before: Array, vector: Any, length: Array) -> Any:
        """Blocks of which the Hessian is the sum of the |K| of all elements at x, the energies alone.

        An element that is softer as a whole than it was before is as stiff as then: it may just have none. Eigenvalues
        of one element, times lengths, are distinguished where those of the whole structure are not.
        """
        blocks = []
        for batch, now, then in zip(
            self.batches, *(self._element_hessians(at, vector) for at in (x, before)), strict=True
        ):
            units = np.where(batch.index < 0, 1.0, length[batch.index])
            sizes = np.linalg.norm(now, axis=(1, 2)), np.linalg.norm(then, axis=(1, 2))
            lift = np.divide(sizes[1], sizes[0], out=np.ones(len(now)), where=(sizes[0] > 0) & (sizes[1] > sizes[0]))
            values, modes = np.linalg.eigh(units[:, :, None] * now * units[:, None, :])
            modes = modes / units[:, :, None]
            blocks.append((modes * (lift[:, None] * np.abs(values))[:, None, :]) @ modes.transpose(0, 2, 1))
        return self._from_elements(blocks)

    def _element_hessians(self, x: Array, vector: Any) -> list[Array]:
        """Hessians of the energies of all elements at x, (ne, k, k) per batch; zero for what is held."""
        unloaded, table = np.append(x[: self.n + 1], np.zeros(self.m)), self._table(vector, added=False)
        if table is None:
            entries = np.asarray(self._second(unloaded, vector))
        else:
            entries = table(unloaded[None], self.n, len(self._targets[1][0]))[0]
        found: list[Array] = []
        for batch, at in zip(self.batches, self._hessians_begin, strict=True):
            ne, k = batch.index.shape
            K = np.zeros((ne, k, k))
            for column, (i, j) in enumerate(batch.pairs):
                K[:, i, j] = K[:, j, i] = entries[at + column * ne : at + (column + 1) * ne]
            held = batch.index < 0
            K[held[:, :, None] | held[:, None, :]] = 0.0
            found.append(K)
        return found

    def _from_elements(self, blocks: Sequence[Array]) -> Any:
        """Blocks of which the Hessian is the sum of those of the elements."""
        entries = np.zeros(len(self._targets[1][0]))
        for batch, at, block in zip(self.batches, self._hessians_begin, blocks, strict=True):
            ne = len(batch.index)
            for column, (i, j) in enumerate(batch.pairs):
                entries[at + column * ne : at + (column + 1) * ne] = block[:, i, j]
        return self._assembled(entries)

    @cached_property
    def _hessians_begin(self) -> list[int]:
        """Where the entries of the Hessians of the batches begin, each after those of first order."""
        first = [len(batch.index) * (2 + batch.k + batch.r) for batch in self.batches]
        rest = [len(batch.index) * (len(batch.pairs) + batch.k + batch.r * (batch.k + 1)) for batch in self.batches]
        ends = np.cumsum([0, *(a + b for a, b in zip(first, rest, strict=True))])
        return [int(end) + own for end, own in zip(ends[:-1], first, strict=True)]

    @cached_property
    def _gather(self) -> tuple[Indices, Indices, int]:
        """Which entries go where in the packed result, those below the diagonal of the Hessian twice."""
        targets, size = self._targets[1]
        n, begin = self.n, self.n + 2 + self.m
        order = np.flatnonzero(targets < size)
        wanted = targets[order]
        row, column = np.divmod(wanted - begin, n + 1)
        below = (wanted >= begin) & (row < n) & (column < row)
        mirrored = begin + column[below] * (n + 1) + row[below]
        return np.concatenate([order, order[below]]), np.concatenate([wanted, mirrored]), size

    def potential(self, q: Any, p: Any, th: Mapping[str, float]) -> Any:
        """Energy of the structure as a function of its own."""
        x = jnp.concatenate([jnp.asarray(q), jnp.asarray(p, dtype=float)[None], jnp.zeros(self.m)])
        return self._packed_residual(x, self.constants(th))[0]

    def values(self, q: Any, p: Any, vector: Any) -> tuple[Any, Any]:
        """Energy and constraint values (m,), bilateral first, to be differentiated further."""
        return self._values(q, p, vector, least=0)

    def _constraints(self, q: Any, p: Any, vector: Any) -> Any:
        return self._values(q, p, vector, least=1)[1]

    def _values(self, q: Any, p: Any, vector: Any, *, least: int) -> tuple[Any, Any]:
        """Energy and constraint values of the elements that have at least so many constraints."""
        energy, c = jnp.zeros(()), jnp.zeros(self.m)
        for batch, one in zip(self.batches, self.data_of(vector), strict=True):
            if batch.r < least:
                continue
            own, values = jax.vmap(batch.form.values)(*_given(q, p, one, len(batch.index)))
            energy = energy + jnp.sum(own)
            for rows, value in zip(batch.rows.T, values, strict=True):
                c = c.at[rows].add(value)
        return energy, c

    def _entries(self, x: Any, vector: Any, *, second: bool) -> Any:
        """All entries of all batches, flat, in the order of the targets."""
        q, p, nu = self._split(x)
        parts: list[Any] = []
        for batch, one in zip(self.batches, self.data_of(vector), strict=True):
            slots, data = _given(q, p, one, len(batch.index))
            multipliers = tuple(jnp.unstack(nu[_stacked(one["rows"])])) if one["rows"] else ()
            parts += kernel(batch.form, second=second)(slots, {**data, "rate": one["rate"]}, multipliers)
        return jnp.concatenate(parts)

    def _make_targets(self, n: int, m: int) -> Any:
        """Targets of the entries of first and second order in the packed result."""
        hessian, jacobian = n + 2 + m, n + 2 + m + n * (n + 1)
        first: list[Indices] = []
        second: list[Indices] = []
        for batch in self.batches:
            columns = [*batch.index.T, np.full(len(batch.index), n)]
            low = batch.first_targets(n)
            first += low
            second += low
            second += [np.where(i < 0, -1, hessian + i * (n + 1) + j) for i, j in batch.hessian_places()]
            second += [np.where(i < 0, -1, hessian + i * (n + 1) + n) for i in batch.index.T]
            for row in batch.rows.T:
                second += [np.where(column < 0, -1, jacobian + row * (n + 1) + column) for column in columns]
        return tuple(
            flat_targets(targets, end) for targets, end in ((first, hessian), (second, jacobian + m * (n + 1)))
        )

    def _packed_residual(self, x: Any, vector: Any) -> Any:
        total = _add_up(self._entries(x, vector, second=False), *self._targets[0])
        return jnp.concatenate([total[: self.n + 1], total[self.n + 2 :]])

    def _blocks(self, x: Any, vector: Any) -> Blocks:
        n, m = self.n, self.m
        packed = self._packed_kkt(x, vector)
        head, L_qx, c_x = jnp.split(packed, (n + 2 + m, n + 2 + m + n * (n + 1)))
        return Blocks(head, L_qx.reshape(n, n + 1).T, c_x.reshape(m, n + 1).T)

    def _packed_kkt(self, x: Any, vector: Any) -> Any:
        n, m = self.n, self.m
        packed = _add_up(self._entries(x, vector, second=True), *self._targets[1])
        block = packed[n + 2 + m : n + 2 + m + n * (n + 1)].reshape(n, n + 1)
        lower = block[:, :n]
        full = block.at[:, :n].set(lower + jnp.tril(lower, -1).T)
        return packed.at[n + 2 + m : n + 2 + m + n * (n + 1)].set(full.ravel())


def _given(q: Any, p: Any, one: Data, count: int) -> tuple[tuple[Any, ...], Data]:
    """Values of all slots and p for the `count` elements of a batch, and the numbers that their functions need."""
    data, shared = {name: one[name] for name in ("numbers", "places")}, jnp.broadcast_to(p, (count,))
    if not one["base"]:
        return (shared,), data
    held = _stacked(one["base"]) + _stacked(one["rate"]) * p
    values = jnp.where(_stacked(one["free"]), q[_stacked(one["index"])], held)
    return (*jnp.unstack(values), shared), data


def _stacked(columns: Sequence[Any]) -> Any:
    """Columns as one array: what is known stays known."""
    return (np if all(isinstance(column, np.ndarray) for column in columns) else jnp).stack(columns)


def flat_targets(targets: list[Indices], size: int) -> tuple[Indices, int]:
    """Targets of all entries in one array, dropped ones (−1) past the end, and that end."""
    flat = np.concatenate([target.ravel() for target in targets])
    return np.where(flat < 0, size, flat), size


def _add_up(entries: Any, targets: Indices, size: int) -> Any:
    return jnp.zeros(size + 1).at[targets].add(entries)[:size]
