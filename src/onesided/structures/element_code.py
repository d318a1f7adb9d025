"""Elements evaluated by machine code of their own: a function per form of element, a loop over all elements and points.

The operations of one element, with all derivatives, are a straight line of some hundred operations on single numbers.
LLVM makes machine code of them in milliseconds, once in a process for every form, whatever the structure. Forms with
loops or operations that are not known there are left to JAX's compiler, with the whole structure.
"""

import ctypes
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from llvmlite import ir

from onesided.base.collecting import collection_held_back
from onesided.base.types import Array, Indices
from onesided.evaluation.kept_lines import kept_line
from onesided.evaluation.machine_code import LONG, MachineCode, NativeFunction, counted_loop, made_once, source
from onesided.evaluation.native_newton import BLOCKS, NativeBlocks
from onesided.evaluation.straight import NotStraightError, StraightLine, straight
from onesided.evaluation.taylor_lines import AlongLines, of_outputs
from onesided.structures.kernels import KEPT, Data, Form

DOUBLE = ir.DoubleType()
LONGS, DOUBLES = LONG.as_pointer(), DOUBLE.as_pointer()
FUNCTION = ir.FunctionType(ir.VoidType(), [*[DOUBLES] * 4, LONG])
FIELDS = ("function", "count", "k", "r", "d", "width", "index", "base", "rate", "rows", "data", "targets", "mirrored")
NUMBERS = ("numbers", "places", "rate")  # of one element, in this order


class FormCode:
    """Machine code of the elements of one form: (slots and p, numbers, multipliers) → entries of second order."""

    def __init__(self, line: StraightLine, sizes: tuple[int, int, int]) -> None:
        self.width, (slots, _, r) = len(line.outputs), sizes
        moving = *range(slots), *range(sum(sizes) - r, sum(sizes))
        self._line, self._sizes, self._c = line, sizes, slice(slots + 1, slots + 1 + r)
        self.along = AlongLines(lambda: of_outputs(line, slice(slots + 1 + r)), sizes, moving)
        text, declared = source("element", line, sizes, [False] * 3)
        self._code = MachineCode("\n".join([*declared, text]))
        self.address = self._code.address("element")

    @cached_property
    def gaps(self) -> NativeFunction:
        """The constraint values of the elements alone."""
        return NativeFunction(of_outputs(self._line, self._c), self._sizes, [False] * 3)


@lru_cache(maxsize=KEPT)
def form_code(form: Form, tree: Any, shapes: tuple[tuple[int, ...], ...]) -> FormCode:
    """Machine code for a form whose numbers are a tree with leaves of these shapes.

    Raises
    ------
    NotStraightError : for what cannot be written as a straight line.
    """
    sizes = [int(np.prod(shape)) for shape in shapes]
    ends = np.cumsum(sizes)[:-1]

    def entries(slots: Any, numbers: Any, nu: Any) -> Any:
        parts = jnp.split(numbers, ends) if sizes else []
        leaves = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
        made = form.second_order(tuple(jnp.unstack(slots)), jax.tree.unflatten(tree, leaves), tuple(jnp.unstack(nu)))
        return jnp.stack([jnp.asarray(one, dtype=float) for one in made])

    given = form.k + 1, sum(sizes), form.r
    told = form.key, form.k, form.r, form.pairs, str(tree), shapes
    line = kept_line(told, (sum(given), entries_of(form)), lambda: straight(entries, *given))
    return FormCode(line, given)


def entries_of(form: Any) -> int:
    """The number of entries of second order of one element of a form or batch."""
    k, r = int(form.k), int(form.r)
    return 2 + 2 * k + r + len(form.pairs) + r * (k + 1)


class ElementTable:
    """All batches of a structure, as the loop wants them; entries go where `targets` says, and to a second place."""

    def __init__(self, batches: Sequence[Any], targets: Indices, mirrored: Indices) -> None:
        self._batches = batches
        self._where, begin = list[tuple[Indices, Indices]](), 0
        for batch in batches:
            ne = len(batch.index)
            width = entries_of(batch)
            own = slice(begin, begin + ne * width)
            self._where.append((_by_element(targets[own], ne), _by_element(mirrored[own], ne)))
            begin += ne * width

    def filled(self, data: Sequence[Data]) -> "FilledTable":
        """The table with the numbers of all elements."""
        rows = []
        for batch, one, (targets, mirrored) in zip(self._batches, data, self._where, strict=True):
            chosen = {name: one[name] for name in NUMBERS}
            leaves, tree = jax.tree.flatten(chosen)
            code = form_code(batch.form, tree, tuple(leaf.shape[1:] for leaf in leaves))
            ne = len(batch.index)
            numbers = np.hstack([np.zeros((ne, 0)), *(np.reshape(leaf, (ne, -1)) for leaf in leaves)])
            held = [np.stack(one[name], axis=1) if one[name] else np.zeros((ne, 0)) for name in ("base", "rate")]
            arrays = batch.index, *held, batch.rows, numbers, targets, mirrored
            rows.append(((code, ne, batch.k, batch.r, numbers.shape[1], code.width), arrays))
        return FilledTable(rows)


class StructureCode:
    """Machine code for a structure, with the data that it was asked for last.

    Parameters
    ----------
    batches : the elements.
    targets, mirrored : where every entry is added to the result, and where once more; −1: nowhere.
    """

    def __init__(self, batches: Sequence[Any], targets: Indices, mirrored: Indices) -> None:
        self._batches, self._targets, self._mirrored = batches, targets, mirrored
        self._filled: dict[bool, tuple[Any, FilledTable | None]] = {}  # whether added up → for which data, the table

    def table(self, vector: Any, numbers: Callable[[Any], list[Data]], *, added: bool) -> "FilledTable | None":
        """The elements with the `numbers` of a vector of data, entries added up or each by itself.

        None where the elements have no machine code.
        """
        known, table = self._filled.get(added, (None, None))
        if known is not vector:
            table = None
            with collection_held_back(), suppress(NotStraightError):
                table = (self._sums if added else self._apart).filled(numbers(vector))
            self._filled[added] = vector, table
        return table

    @cached_property
    def _sums(self) -> ElementTable:
        return ElementTable(self._batches, self._targets, self._mirrored)

    @cached_property
    def _apart(self) -> ElementTable:
        """Every entry at a place of its own."""
        return ElementTable(self._batches, np.arange(len(self._targets)), np.full(len(self._targets), -1))


def _by_element(column_by_column: Indices, count: int) -> Indices:
    return np.ascontiguousarray(column_by_column.reshape(-1, count).T)


class FilledTable:
    """What the loop runs over; keeps what its pointers point to."""

    def __init__(self, rows: Sequence[tuple[tuple[Any, ...], tuple[Any, ...]]]) -> None:
        self._kept, table = list[tuple[FormCode, list[Any]]](), np.zeros((len(rows), len(FIELDS)), dtype=np.int64)
        for line, ((code, *sizes), arrays) in zip(table, rows, strict=True):
            kinds = (np.int64 if array.dtype.kind == "i" else np.float64 for array in arrays)
            own = [np.ascontiguousarray(array, dtype=kind) for array, kind in zip(arrays, kinds, strict=True)]
            line[:] = [code.address, *sizes, *(array.ctypes.data for array in own)]
            self._kept.append((code, own))
        self._table = table
        self._room = int(max((line[2:6].sum() + 1 for line in table), default=0))

    def __call__(self, X: Array, n: int, size: int) -> Array:
        """Sums of the entries at the packed points (q, p, ν), the rows of X: (points, size)."""
        X, made, room = np.ascontiguousarray(X), np.zeros((len(X), size)), np.empty(self._room)
        pointers = (array.ctypes.data for array in (self._table, X, made, room))
        table, points, sums, scratch = pointers
        _loop()[1](table, len(self._table), points, X.shape[1], n, sums, size, scratch, len(X))
        return made

    def along(self, x: Array, direction: Array, n: int, order: int) -> Array | None:
        """Entries of first order of all elements, differentiated along x + s·direction, column by column.

        None where an element has no straight line.
        """
        found: list[Array] = [np.zeros(0)]
        for code, own in self._kept:
            function = code.along.of(order)
            if function is None:
                return None
            (at, nu), (moved, pushed) = (
                self._given(own, one[None], n, held) for one, held in ((x, 1.0), (direction, 0.0))
            )
            made = function([at, own[4], nu, np.hstack([moved, pushed])], len(at))
            found.append(made.T.ravel())
        return np.concatenate(found)

    def gaps(self, X: Array, n: int, m: int) -> Array:
        """Values of all constraints at points, of which (q, p) is enough, the rows of X: (points, m)."""
        made = np.zeros((m, len(X)))
        points = np.hstack([X[:, : n + 1], np.zeros((len(X), m))])
        for code, own in self._kept:
            rows = own[3]
            if rows.size:
                at, nu = self._given(own, points, n, 1.0)
                values = code.gaps([at, np.tile(own[4], (len(X), 1)), nu], len(at)).reshape(len(X), *rows.shape)
                np.add.at(made, rows.T, values.transpose(2, 1, 0))
        return np.ascontiguousarray(made.T)

    @staticmethod
    def _given(own: Sequence[Array], X: Array, n: int, still: float) -> tuple[Array, Array]:
        """Slots and p, and multipliers, of all elements at all points: (points · elements, …).

        What is held stands where it is for p = 0 as many times as it stands `still`: not at all in a direction.
        """
        index, base, rate, rows = own[:4]
        p = np.broadcast_to(X[:, n, None, None], (len(X), len(index), 1))
        slots = np.where(index >= 0, X[:, np.maximum(index, 0)], still * base + rate * p)
        at = np.concatenate([slots, p], axis=2)
        nu = np.ascontiguousarray(X[:, n + 1 + rows]).reshape(at[..., 0].size, rows.shape[1])
        return at.reshape(len(nu), at.shape[2]), nu

    def native_blocks(self, n: int, width: int, size: int) -> NativeBlocks:
        """The sums at one point of so many numbers, for other machine code."""
        context = np.array([self._table.ctypes.data, len(self._table), width, n, size], dtype=np.int64)
        return NativeBlocks(_loop()[0].address("assemble_at"), context, self._room, self)


@made_once
def _loop() -> tuple[MachineCode, Callable[..., None]]:
    """The loop over points, batches and elements, compiled once."""
    code = MachineCode(str(_Loop().module))
    kind = ctypes.CFUNCTYPE(None, *(ctypes.c_int64 if one == LONG else ctypes.c_void_p for one in _Loop.arguments))
    return code, kind(code.address("assemble"))


class _Loop:
    """void assemble(table, batches, X, width, n, made, size, room, points)."""

    arguments = (LONGS, LONG, DOUBLES, LONG, LONG, DOUBLES, LONG, DOUBLES, LONG)

    def __init__(self) -> None:
        self.module = ir.Module("elements")
        self.run = ir.Function(self.module, ir.FunctionType(ir.VoidType(), self.arguments), "assemble")
        self.b = ir.IRBuilder(self.run.append_basic_block())
        self.table, batches, self.X, self.width, self.n, self.made, self.size, self.room, points = self.run.args
        counted_loop(
            self.b, points, lambda point: counted_loop(self.b, batches, lambda batch: self._batch(point, batch))
        )
        self.b.ret_void()
        self._at_point()

    def _at_point(self) -> None:
        """The function `assemble_at` (context, x, made, room): one point, the sums begin at zero."""
        at_point = ir.Function(self.module, BLOCKS, "assemble_at")
        context, x, made, room = at_point.args
        b = ir.IRBuilder(at_point.append_basic_block())
        table, batches, width, n, size = (b.load(b.gep(context, [LONG(i)])) for i in range(5))
        counted_loop(b, size, lambda i: b.store(DOUBLE(0.0), b.gep(made, [i])))
        b.call(self.run, [b.inttoptr(table, LONGS), batches, x, width, n, made, size, room, LONG(1)])
        b.ret_void()

    def _batch(self, point: Any, batch: Any) -> None:
        b = self.b
        line = b.gep(self.table, [b.mul(batch, LONG(len(FIELDS)))])
        field = {name: b.load(b.gep(line, [LONG(i)])) for i, name in enumerate(FIELDS)}
        x, made = b.gep(self.X, [b.mul(point, self.width)]), b.gep(self.made, [b.mul(point, self.size)])
        counted_loop(self.b, field["count"], lambda element: self._element(field, element, x, made))

    def _element(self, field: dict[str, Any], element: Any, x: Any, made: Any) -> None:
        """One element: its slots and multipliers are gathered, its function is called, its entries are added."""
        b, k, r = self.b, field["k"], field["r"]

        def own(name: str, size: Any, kind: Any) -> Any:
            return b.gep(b.inttoptr(field[name], kind), [b.mul(element, size)])

        p = b.load(b.gep(x, [self.n]))
        slots, nu = self.room, b.gep(self.room, [b.add(k, LONG(1))])
        entries = b.gep(nu, [r])
        index, base, rate = own("index", k, LONGS), own("base", k, DOUBLES), own("rate", k, DOUBLES)
        rows, numbers = own("rows", r, LONGS), own("data", field["d"], DOUBLES)

        def gather(j: Any) -> None:
            at = b.load(b.gep(index, [j]))
            held = b.icmp_signed("<", at, LONG(0))
            moved = b.fadd(b.load(b.gep(base, [j])), b.fmul(b.load(b.gep(rate, [j])), p))
            free = b.load(b.gep(x, [b.select(held, LONG(0), at)]))
            b.store(b.select(held, moved, free), b.gep(slots, [j]))

        def multiplier(j: Any) -> None:
            at = b.add(b.add(self.n, LONG(1)), b.load(b.gep(rows, [j])))
            b.store(b.load(b.gep(x, [at])), b.gep(nu, [j]))

        counted_loop(self.b, k, gather)
        b.store(p, b.gep(slots, [k]))
        counted_loop(self.b, r, multiplier)
        b.call(b.inttoptr(field["function"], FUNCTION.as_pointer()), [slots, numbers, nu, entries, LONG(1)])
        for name in ("targets", "mirrored"):
            self._add(own(name, field["width"], LONGS), field["width"], entries, made)

    def _add(self, targets: Any, width: Any, entries: Any, made: Any) -> None:
        b = self.b

        def one(j: Any) -> None:
            target = b.load(b.gep(targets, [j]))
            with b.if_then(b.icmp_signed(">=", target, LONG(0))):
                place = b.gep(made, [target])
                b.store(b.fadd(b.load(place), b.load(b.gep(entries, [j]))), place)

        counted_loop(self.b, width, one)
