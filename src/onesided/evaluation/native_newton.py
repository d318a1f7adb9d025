"""Newton's method on a curve, with one further linear equation, as one call of machine code for small systems.

Evaluation, solution by LAPACK and correction are those of `statics.curves.corrections.newton`. What takes
a closer look (a singular matrix, numbers that are none, a residual that stops falling) is left to it.
"""

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from onesided.base.tolerances import EPS, QUARTER_DIGITS, ROUND_OFF, SMALL
from onesided.base.types import Array, Indices
from onesided.evaluation.machine_code import LONG, MachineCode, array_address, counted_loop, lapack_address, made_once

CONVERGED, FAILED, ASK, STRAYED = 1, 0, 2, 3  # how it ended: 2 by closer looks, 3 converged after a step too long
FALLS = 0.2  # share of a residual below which the next one falls; at a double zero each is a quarter of the last
SHRINKS = 0.4  # share of a step below which the next one falls; at a double zero they are halved
HOPELESS = 1e3  # growth of the residual in one step after which no other helps
ROUGH = QUARTER_DIGITS  # residuals above are more than rounding
WIDE = 30.0  # how many times as far as a solution may be a single step may lead, if the next one leads back
DOUBLE = ir.DoubleType()
INT = ir.IntType(32)  # of LAPACK
DOUBLES, LONGS, INTS = DOUBLE.as_pointer(), LONG.as_pointer(), INT.as_pointer()
BLOCKS = ir.FunctionType(ir.VoidType(), [LONGS, *[DOUBLES] * 3])  # (context, x, blocks, room)
SOLVER = ir.FunctionType(ir.VoidType(), [INTS, INTS, DOUBLES, INTS, INTS, DOUBLES, INTS, INTS])
NUMBERS = ("blocks", "n", "w", "m")
POINTERS = ("context", "columns", "rows", "unit", "factor", "weight")
VARIABLES = "error", "previous", "before", "short", "first", "size", "sign", "volume", "total", "longest"
TOLD = ("orientation", "volume", "first", "error", "iterations")


class NativeBlocks(NamedTuple):
    """The packed blocks of a model by machine code: void function(context, x, blocks, room).

    `context` holds the addresses and sizes that the function reads, `kept` what they point to, `room` is the number of
    doubles that it needs to work with.
    """

    function: int
    context: Indices
    room: int
    kept: Any


class NativeEnd(NamedTuple):
    """Where Newton's method ended: scaled unknowns, tangent, packed blocks, and the numbers that are `TOLD`."""

    converged: bool
    strayed: bool
    y: Array
    tangent: Array
    blocks: Array
    told: list[float]


class NativeNewton:
    """Newton's method for one set of closed constraints and one vector of parameters.

    Parameters
    ----------
    blocks : the model;  sizes : numbers of coordinates, closed and all constraints.
    columns, rows : places of the unknowns among the packed ones, and of the closed constraints.
    unit, weight : sizes of unknowns and equations.
    """

    def __init__(
        self,
        blocks: NativeBlocks,
        sizes: tuple[int, int, int],
        places: tuple[Indices, Indices],
        unit: Array,
        weight: Array,
    ) -> None:
        n, w, m = sizes
        factor = unit / weight[:, None]
        arrays = [np.ascontiguousarray(one, dtype=np.int64) for one in (blocks.context, *places)]
        arrays += [np.ascontiguousarray(one, dtype=np.float64) for one in (unit, factor, weight)]
        self._kept = blocks, arrays
        self._plan = np.array([blocks.function, n, w, m, *(one.ctypes.data for one in arrays)], dtype=np.int64)
        self._run = _compiled()[1]
        self._ends = np.cumsum([n + 1 + w, n + 1 + w, len(TOLD)]).tolist()
        self._size = self._ends[-1] + n + 2 + m + (n + m) * (n + 1)
        self._room = (n + 1 + w) * (n + 4 + w) + n + 1 + m + blocks.room  # matrix, two right-hand sides, pivots; x

    def __call__(self, y: Array, row: Array, level: float, knobs: tuple[float, float, int]) -> NativeEnd | None:
        """From y, with row·y = level, to a residual below a target within a distance and a number of steps.

        None where it has to be looked at more closely.
        """
        target, reach, limit = knobs
        made, room = np.empty(self._size), np.empty(self._room)
        y, row = np.ascontiguousarray(y, dtype=np.float64), np.ascontiguousarray(row, dtype=np.float64)
        how = self._run(id(self._plan), id(y), id(row), id(made), id(room), level, target, reach, limit)
        if how == ASK:
            return None
        first, second, third = self._ends
        return NativeEnd(
            how in {CONVERGED, STRAYED},
            how == STRAYED,
            made[:first].copy(),
            made[first:second].copy(),
            made[third:],
            made[second:third].tolist(),
        )


@made_once
def _compiled() -> tuple[MachineCode, Callable[..., int]]:
    """The function for all models, compiled once in a process."""
    code = MachineCode(str(_NewtonText().module), effort=0)
    doubles, objects = [ctypes.c_double] * 3, [ctypes.c_size_t] * 5
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, *objects, *doubles, ctypes.c_int64)
    return code, kind(code.address("newton"))


class _NewtonText:
    """The instructions: i64 newton(plan, y, row, made, room, level, target, reach, limit), arrays as objects."""

    def __init__(self) -> None:
        self.module = ir.Module("newton")
        kinds = [*[LONG] * 5, *[DOUBLE] * 3, LONG]
        self.run = ir.Function(self.module, ir.FunctionType(LONG, kinds), "newton")
        self.b = ir.IRBuilder(self.run.append_basic_block())
        plan, start, self.row, made, room = (array_address(self.b, one, kind) for one, kind in self._objects())
        self.level, self.target, self.reach, self.limit = self.run.args[5:]
        self.field = {name: self.b.load(self._at(plan, i)) for i, name in enumerate([*NUMBERS, *POINTERS])}
        self._divide(made, room)
        self.variables = {name: self.b.alloca(DOUBLE) for name in VARIABLES}
        self.numbers = {name: self.b.alloca(INT) for name in ("rows", "sides", "info")}
        for name in ("previous", "before"):
            self._set(name, DOUBLE(float("inf")))
        self._set("short", self._short())
        for name in ("first", "longest"):
            self._set(name, DOUBLE(0.0))
        self._each(self.N, lambda i: self._copy(start, self.y, i))
        counted_loop(self.b, self.b.add(self.limit, LONG(1)), self._step)
        self._finish(FAILED, self.limit)

    def _short(self) -> Any:
        """Length of a step that leads nowhere [`corrections.Convergence.short`]."""
        b, own = self.b, self.b.fmul(DOUBLE(WIDE), self.reach)
        least = b.fmul(DOUBLE(SMALL), b.select(b.fcmp_ordered("<", own, DOUBLE(1.0)), own, DOUBLE(1.0)))
        return b.select(b.fcmp_ordered(">", least, DOUBLE(10 * EPS)), least, DOUBLE(10 * EPS))

    def _objects(self) -> list[tuple[Any, Any]]:
        return list(zip(self.run.args[:5], (LONGS, *[DOUBLES] * 4), strict=True))

    def _divide(self, made: Any, room: Any) -> None:
        """Where everything stands in what is returned, and in the room to work in."""
        b, (n, w, m) = self.b, (self.field[name] for name in ("n", "w", "m"))
        self.n, self.w, self.n1, self.N = n, w, b.add(n, LONG(1)), b.add(b.add(n, LONG(1)), w)
        self.y, self.tangent = made, self._at(made, self.N)
        self.told = self._at(self.tangent, self.N)
        self.blocks = self._at(self.told, LONG(len(TOLD)))
        self.L_x = self._at(self.blocks, LONG(1))
        self.c = self._at(self.L_x, self.n1)
        self.L_qx = self._at(self.c, m)
        self.c_x = self._at(self.L_qx, b.mul(n, self.n1))
        self.M, self.right = room, self._at(room, b.mul(self.N, self.N))
        self.x, self.packed = self._at(self.right, self.N, self.N), b.add(self.n1, m)
        pivots = self._at(self.x, self.packed)
        self.pivots, self.room = b.bitcast(pivots, INTS), self._at(pivots, self.N)
        names = zip(POINTERS, (*[LONGS] * 3, *[DOUBLES] * 3), strict=True)
        self.own = {name: b.inttoptr(self.field[name], kind) for name, kind in names}

    def _at(self, pointer: Any, *parts: Any) -> Any:
        index = parts[0] if len(parts) == 1 else self.b.add(*parts)
        return self.b.gep(pointer, [index if isinstance(index, ir.Value) else LONG(index)])

    def _get(self, name: str) -> Any:
        return self.b.load(self.variables[name])

    def _set(self, name: str, value: Any) -> None:
        self.b.store(value, self.variables[name])

    def _each(self, count: Any, body: Callable[[Any], Any]) -> None:
        counted_loop(self.b, count, body)

    def _copy(self, source: Any, target: Any, i: Any) -> None:
        self.b.store(self.b.load(self._at(source, i)), self._at(target, i))

    def _call(self, name: str, value: Any) -> Any:
        return self.b.call(self.module.declare_intrinsic(name, [DOUBLE]), [value])

    def _entry(self, i: Any, j: Any) -> Any:
        return self._at(self.M, i, self.b.mul(j, self.N))

    def _step(self, iteration: Any) -> None:
        """One step of the method."""
        b = self.b
        self._evaluate()
        self._matrix()
        self._residual()
        error, previous = self._get("error"), self._get("previous")
        with b.if_then(b.not_(b.fcmp_ordered("<", error, DOUBLE(float("inf")))), likely=False):
            b.ret(LONG(ASK))
        self._solve()
        size = self._get("size")
        stands = b.fcmp_ordered(">=", error, b.fmul(DOUBLE(FALLS), previous))
        short = b.fcmp_ordered("<=", size, self._get("short"))
        rests = b.or_(short, b.fcmp_ordered(">=", size, b.fmul(DOUBLE(SHRINKS), self._get("before"))))
        good = b.and_(b.fcmp_ordered("<=", error, self.target), short)
        stalls = b.and_(stands, rests)
        with b.if_then(b.or_(good, b.and_(b.fcmp_ordered("<=", error, DOUBLE(ROUND_OFF)), stalls))):
            longest = self._get("longest")
            kept = b.or_(b.fcmp_ordered("<", longest, self.reach), b.fcmp_ordered("<", longest, DOUBLE(SMALL)))
            with b.if_else(kept) as (near, strayed):
                with near:
                    self._finish(CONVERGED, iteration)
                with strayed:
                    self._finish(STRAYED, iteration)
            b.unreachable()
        with b.if_then(b.not_(b.fcmp_ordered("<", size, b.fmul(DOUBLE(WIDE), self.reach))), likely=False):
            self._finish(FAILED, iteration)
        grows = b.not_(b.fcmp_ordered("<", error, b.fmul(DOUBLE(HOPELESS), previous)))
        unsure = b.and_(stalls, b.fcmp_ordered("<=", error, DOUBLE(ROUGH)))
        with b.if_then(b.or_(unsure, grows), likely=False):
            b.ret(LONG(ASK))
        longest = self._get("longest")
        self._set("longest", b.select(b.fcmp_ordered(">", size, longest), size, longest))
        first = self._get("first")
        self._set("first", b.select(b.fcmp_ordered("==", first, DOUBLE(0.0)), size, first))
        self._set("previous", error)
        self._set("before", size)
        self._each(self.N, self._move)

    def _move(self, i: Any) -> None:
        place = self._at(self.y, i)
        self.b.store(self.b.fadd(self.b.load(place), self.b.load(self._at(self.right, i))), place)

    def _evaluate(self) -> None:
        """The blocks at the packed point of y."""
        b = self.b
        self._each(self.packed, lambda i: b.store(DOUBLE(0.0), self._at(self.x, i)))

        def unpack(i: Any) -> None:
            value = b.fmul(b.load(self._at(self.y, i)), b.load(self._at(self.own["unit"], i)))
            b.store(value, self._at(self.x, b.load(self._at(self.own["columns"], i))))

        self._each(self.N, unpack)
        function = b.inttoptr(self.field["blocks"], BLOCKS.as_pointer())
        b.call(function, [self.own["context"], self.x, self.blocks, self.room])

    def _matrix(self) -> None:
        """The scaled Jacobian with the further row, and beside it the unit vector of that row."""
        b, n, N = self.b, self.n, self.N
        last = b.sub(N, LONG(1))
        self._each(b.mul(N, N), lambda i: b.store(DOUBLE(0.0), self._at(self.M, i)))

        def scaled(block: Any, i: Any, row: Any, j: Any) -> None:
            """Entry (i, j) from a row of a block."""
            value = b.load(self._at(block, b.mul(row, self.n1), j))
            b.store(b.fmul(value, b.load(self._at(self.own["factor"], b.mul(i, N), j))), self._entry(i, j))

        self._each(n, lambda i: self._each(self.n1, lambda j: scaled(self.L_qx, i, i, j)))

        def closed(k: Any) -> None:
            row, i, column = b.load(self._at(self.own["rows"], k)), b.add(n, k), b.add(self.n1, k)
            self._each(self.n1, lambda j: scaled(self.c_x, i, row, j))

            def mirrored(j: Any) -> None:
                value = b.load(self._at(self.c_x, b.mul(row, self.n1), j))
                factor = b.load(self._at(self.own["factor"], b.mul(j, N), column))
                b.store(b.fneg(b.fmul(value, factor)), self._entry(j, column))

            self._each(n, mirrored)

        self._each(self.w, closed)
        self._each(N, lambda j: b.store(b.load(self._at(self.row, j)), self._entry(last, j)))
        self._each(N, lambda j: b.store(DOUBLE(0.0), self._at(self.right, N, j)))
        b.store(DOUBLE(1.0), self._at(self.right, N, last))

    def _residual(self) -> None:
        """−R beside the matrix, and the largest entry; infinite where one is no number."""
        b, n, N = self.b, self.n, self.N
        self._set("error", DOUBLE(0.0))
        last = b.sub(N, LONG(1))

        def put(i: Any, value: Any) -> None:
            size, worst = self._call("llvm.fabs", value), self._get("error")
            larger = b.fcmp_unordered(">", size, worst)
            known = b.fcmp_ordered("ord", size, size)
            self._set("error", b.select(larger, b.select(known, size, DOUBLE(float("inf"))), worst))
            b.store(b.fneg(value), self._at(self.right, i))

        def weighed(block: Any, i: Any, row: Any) -> None:
            put(i, b.fdiv(b.load(self._at(block, row)), b.load(self._at(self.own["weight"], i))))

        self._each(n, lambda i: weighed(self.L_x, i, i))
        self._each(self.w, lambda k: weighed(self.c, b.add(n, k), b.load(self._at(self.own["rows"], k))))
        self._set("size", b.fneg(self.level))

        def add(j: Any) -> None:
            product = b.fmul(b.load(self._at(self.row, j)), b.load(self._at(self.y, j)))
            self._set("size", b.fadd(self._get("size"), product))

        self._each(N, add)
        put(last, self._get("size"))

    def _solve(self) -> None:
        """The correction and the tangent in place of the right-hand sides; the determinant from the factors."""
        b, N = self.b, self.N
        for name, value in (("rows", N), ("sides", LONG(2)), ("info", LONG(0))):
            b.store(b.trunc(value, INT), self.numbers[name])
        rows, sides, info = (self.numbers[name] for name in ("rows", "sides", "info"))
        function = b.inttoptr(LONG(lapack_address("dgesv")), SOLVER.as_pointer())
        b.call(function, [rows, sides, self.M, rows, self.pivots, self.right, rows, info])
        with b.if_then(b.icmp_signed("!=", b.load(info), INT(0)), likely=False):
            b.ret(LONG(ASK))
        self._set("sign", DOUBLE(1.0))
        self._set("volume", DOUBLE(0.0))

        def pivot(i: Any) -> None:
            value, sign = b.load(self._entry(i, i)), self._get("sign")
            swapped = b.icmp_signed("!=", b.sext(b.load(self._at(self.pivots, i)), LONG), b.add(i, LONG(1)))
            odd = b.xor(swapped, b.fcmp_ordered("<", value, DOUBLE(0.0)))
            self._set("sign", b.select(odd, b.fneg(sign), sign))
            size = self._call("llvm.log", self._call("llvm.fabs", value))
            self._set("volume", b.fadd(self._get("volume"), size))

        self._each(N, pivot)
        self._set("size", self._length(self.right))

    def _length(self, vector: Any) -> Any:
        total = self.variables["total"]
        self.b.store(DOUBLE(0.0), total)

        def add(i: Any) -> None:
            value = self.b.load(self._at(vector, i))
            self.b.store(self.b.fadd(self.b.load(total), self.b.fmul(value, value)), total)

        self._each(self.N, add)
        return self._call("llvm.sqrt", self.b.load(total))

    def _finish(self, how: int, iteration: Any) -> None:
        """Return what was found; a tangent or an energy that is no number is looked at elsewhere."""
        b, beside = self.b, self._at(self.right, self.N)
        self._each(self.N, lambda i: self._copy(beside, self.tangent, i))
        size, energy = self._length(beside), self._call("llvm.fabs", b.load(self.blocks))
        known = b.and_(
            b.fcmp_ordered("<", b.fmul(size, size), DOUBLE(float("inf"))), b.fcmp_ordered(">", size, DOUBLE(0.0))
        )
        known = b.and_(known, b.fcmp_ordered("<", energy, DOUBLE(float("inf"))))
        with b.if_then(b.not_(known), likely=False):
            b.ret(LONG(ASK))
        told = (
            self._get("sign"),
            self._get("volume"),
            self._get("first"),
            self._get("error"),
            b.sitofp(iteration, DOUBLE),
        )
        for i, value in enumerate(told):
            b.store(value, self._at(self.told, i))
        b.ret(LONG(how))
