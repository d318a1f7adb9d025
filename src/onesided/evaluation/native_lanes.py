"""Straight lines of operations compiled for the vector units of this machine's processors, and run on all of them.

Eight paths share every instruction. A path that is done makes room for the next at once: none waits for the longest.
"""

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from onesided.base.processors import processors
from onesided.base.types import Array, Indices
from onesided.evaluation.machine_code import BY_LIBRARY, BY_LLVM, EXTREMES, LONG, counted_loop
from onesided.evaluation.straight import Scalar, ScalarOperation, StraightLine

WIDTH = 8  # paths side by side
SHARE, MOST = 64, 4096  # paths that one thread takes at a time, at least and at most
DOUBLE, TRUTH = ir.DoubleType(), ir.IntType(1)
WIDE, TRUTHS = ir.VectorType(DOUBLE, WIDTH), ir.VectorType(TRUTH, WIDTH)
ORDERED = {"eq": "==", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
FLAGS = ("contract",)  # a product and a sum may be rounded once


class LaneTable(NamedTuple):
    """What comes back: the last state of every path; rows of events, and to which paths they belong, in order."""

    states: Array
    rows: Array
    path: Indices


class NativeLanes:
    """A compiled `tick`: (state, data) → (state, event row, whether it is one).

    Parameters
    ----------
    line : the operations;  sizes : numbers of a state, of the data, and of a row.
    places : where the phase and the number of events stand in a state, and the phase of paths that are done.
    """

    def __init__(self, line: StraightLine, sizes: tuple[int, int, int], places: tuple[int, int, float]) -> None:
        self.width, self._places = sizes[2], places
        self._engine, self._run = _compiled(_module(line, sizes, places))

    def __call__(self, states: Array, data: Array, most: int, ticks: int) -> LaneTable:
        """Run paths until they are done, have `most` rows, or were evaluated `ticks` times."""
        workers = processors()
        share = min(max(SHARE, -(-len(states) // (8 * workers))), MOST)
        starts = range(0, len(states), share)
        with ThreadPoolExecutor(workers) as pool:
            parts = list(
                pool.map(lambda i: self._some(states[i : i + share], data[i : i + share], most, ticks), starts)
            )
        path = [part.path + start for part, start in zip(parts, starts, strict=True)]
        ends, rows = np.concatenate([part.states for part in parts]), np.concatenate([part.rows for part in parts])
        return LaneTable(ends, rows, np.concatenate(path))

    def _some(self, states: Array, data: Array, most: int, ticks: int) -> LaneTable:
        count, width, at = len(states), self.width, self._places[1]
        ends, given, table = np.array(states, order="C"), np.ascontiguousarray(data), np.empty((count, most, width))
        before = states[:, at].astype(np.intp)
        ends[:, at] = 0.0
        self._run(*(array.ctypes.data for array in (ends, given, table)), 0, count, most, ticks)
        made = ends[:, at].astype(np.intp)
        ends[:, at] += before
        kept = np.arange(most) < made[:, None]
        return LaneTable(ends, table[kept], np.repeat(np.arange(count), made))


def _module(line: StraightLine, sizes: tuple[int, int, int], places: tuple[int, int, float]) -> ir.Module:
    module = ir.Module("lanes")
    _Driver(module, _tick(module, line), sizes, places)
    return module


def _tick(module: ir.Module, line: StraightLine) -> ir.Function:
    """Void tick(wide* given, wide* made): one straight line."""
    pointer = WIDE.as_pointer()
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [pointer, pointer]), "tick")
    for argument in function.args:
        argument.add_attribute("noalias")
    builder = ir.IRBuilder(function.append_basic_block())
    values: dict[int, Any] = {i: builder.load(builder.gep(function.args[0], [LONG(i)])) for i in range(line.inputs)}
    for index, operation in line.operations:
        values[index] = _emitted(module, builder, operation, [_value(one, values) for one in operation.inputs])
    for i, output in enumerate(line.outputs):
        builder.store(_value(output, values), builder.gep(function.args[1], [LONG(i)]))
    builder.ret_void()
    return function


def _value(one: Any, values: dict[int, Any]) -> Any:
    if isinstance(one, Scalar):
        return values[one.index]
    kind, constant = (TRUTHS, TRUTH(int(one))) if isinstance(one, bool) else (WIDE, DOUBLE(float(one)))
    return ir.Constant(kind, [constant] * WIDTH)


def _emitted(module: ir.Module, b: ir.IRBuilder, operation: ScalarOperation, given: list[Any]) -> Any:
    """The instructions of one operation."""
    name = operation.name
    arithmetic = {"add": b.fadd, "sub": b.fsub, "mul": b.fmul, "div": b.fdiv}
    if name in arithmetic:
        return arithmetic[name](*given, flags=FLAGS)
    if name in ORDERED and given[0].type == WIDE:
        return b.fcmp_ordered(ORDERED[name], *given)
    if name == "ne" and given[0].type == WIDE:
        return b.fcmp_unordered("!=", *given)
    logic = {"and": b.and_, "or": b.or_, "xor": b.xor, "ne": b.xor}
    if name in logic:
        return logic[name](*given)
    if name == "not" or name == "eq":
        return b.not_(given[0] if name == "not" else b.xor(*given))
    if name == "neg":
        return b.fneg(given[0])
    if name == "select":
        return b.select(given[0], given[2], given[1])
    if name == "is_finite":
        return b.fcmp_ordered("<", _call(module, b, "llvm.fabs.v8f64", given), _value(float("inf"), {}))
    if name == "sign":
        up, down = (b.fcmp_ordered(way, given[0], _value(0.0, {})) for way in (">", "<"))
        return b.select(up, _value(1.0, {}), b.select(down, _value(-1.0, {}), given[0]))
    if name in EXTREMES:
        before = b.fcmp_ordered(">" if name == "max" else "<", *given)
        return b.select(b.or_(before, b.fcmp_unordered("uno", given[0], given[0])), *given)
    if name in BY_LLVM:
        return _call(module, b, f"llvm.{BY_LLVM[name]}.v8f64", given)
    return _one_by_one(module, b, BY_LIBRARY[name], given)


def _call(module: ir.Module, b: ir.IRBuilder, name: str, given: list[Any]) -> Any:
    kind = ir.FunctionType(given[0].type, [one.type for one in given])
    known = module.globals.get(name)
    return b.call(known if known is not None else ir.Function(module, kind, name), given)


def _one_by_one(module: ir.Module, b: ir.IRBuilder, name: str, given: list[Any]) -> Any:
    made = ir.Constant(WIDE, ir.Undefined)
    for i in range(WIDTH):
        at = ir.IntType(32)(i)
        made = b.insert_element(made, _call(module, b, name, [b.extract_element(one, at) for one in given]), at)
    return made


class _Driver:
    """void run(double* states, double* data, double* rows, long first, long last, long most, long ticks).

    Slots that are free take the next path; after every tick each slot keeps its row, if there is one.
    """

    def __init__(
        self, module: ir.Module, tick: ir.Function, sizes: tuple[int, int, int], places: tuple[int, int, float]
    ) -> None:
        (self.length, self.given, self.width), (self.phase, self.count_at, self.done) = sizes, places
        pointer = DOUBLE.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, pointer, pointer, LONG, LONG, LONG, LONG])
        self.run = ir.Function(module, kind, "run")
        self.states, self.data, self.rows, first, self.last, self.most, self.ticks = self.run.args
        self.b = b = ir.IRBuilder(self.run.append_basic_block())
        into = b.alloca(ir.ArrayType(WIDE, self.length + self.given))
        made = b.alloca(ir.ArrayType(WIDE, self.length + self.width + 1))
        self.path, self.spent = (b.alloca(ir.ArrayType(LONG, WIDTH)) for _ in range(2))
        self.following, self.busy = b.alloca(LONG), b.alloca(LONG)
        self.into, self.made = b.bitcast(into, pointer), b.bitcast(made, pointer)
        b.store(first, self.following)
        b.store(LONG(0), self.busy)
        count = LONG((self.length + self.given) * WIDTH)
        counted_loop(self.b, count, lambda i: b.store(DOUBLE(0.0), b.gep(self.into, [i])))
        counted_loop(self.b, LONG(WIDTH), self._fill)
        self._until_done(tick, [b.gep(one, [LONG(0), LONG(0)]) for one in (into, made)])

    def _until_done(self, tick: ir.Function, arguments: list[Any]) -> None:
        b = self.b
        head, inside, after = (self.run.append_basic_block() for _ in range(3))
        b.branch(head)
        b.position_at_end(head)
        b.cbranch(b.icmp_signed(">", b.load(self.busy), LONG(0)), inside, after)
        b.position_at_end(inside)
        b.call(tick, arguments)
        counted_loop(self.b, LONG(WIDTH), self._keep)
        b.branch(head)
        b.position_at_end(after)
        b.ret_void()

    def _slot(self, flat: Any, place: Any, lane: Any) -> Any:
        """Where number `place` of a slot is."""
        return self.b.gep(flat, [self.b.add(self.b.mul(place, LONG(WIDTH)), lane)])

    def _copy(self, source: Callable[[Any], Any], target: Callable[[Any], Any], count: int) -> None:
        counted_loop(self.b, LONG(count), lambda i: self.b.store(self.b.load(source(i)), target(i)))

    def _row(self, base: Any, number: Any, size: int) -> Callable[[Any], Any]:
        """The entries of a row of a table."""
        start = self.b.gep(base, [self.b.mul(number, LONG(size))])
        return lambda i: self.b.gep(start, [i])

    def _fill(self, lane: Any) -> None:
        """The next path into a slot that is free, or none."""
        b, number = self.b, self.b.load(self.following)
        more = b.icmp_signed("<", number, self.last)
        b.store(b.select(more, number, LONG(-1)), b.gep(self.path, [LONG(0), lane]))
        b.store(LONG(0), b.gep(self.spent, [LONG(0), lane]))
        with b.if_then(more):
            b.store(b.add(number, LONG(1)), self.following)
            b.store(b.add(b.load(self.busy), LONG(1)), self.busy)
            states, data = self._row(self.states, number, self.length), self._row(self.data, number, self.given)
            self._copy(states, lambda i: self._slot(self.into, i, lane), self.length)
            self._copy(data, lambda i: self._slot(self.into, b.add(i, LONG(self.length)), lane), self.given)

    def _keep(self, lane: Any) -> None:
        """The new state; the row, if there is one; the next path where this one is done."""
        b, number = self.b, self.b.load(self.b.gep(self.path, [LONG(0), lane]))
        with b.if_then(b.icmp_signed(">=", number, LONG(0))):
            new = partial(self._slot, self.made)
            self._copy(lambda i: new(i, lane), lambda i: self._slot(self.into, i, lane), self.length)
            told = b.fcmp_ordered(">", b.load(new(LONG(self.length + self.width), lane)), DOUBLE(0.0))
            made = b.fptosi(b.load(new(LONG(self.count_at), lane)), LONG)
            with b.if_then(told):
                row = self._row(self.rows, b.add(b.mul(number, self.most), b.sub(made, LONG(1))), self.width)
                self._copy(lambda i: new(b.add(i, LONG(self.length)), lane), row, self.width)
            used = b.gep(self.spent, [LONG(0), lane])
            b.store(b.add(b.load(used), LONG(1)), used)
            over = b.fcmp_ordered("==", b.load(new(LONG(self.phase), lane)), DOUBLE(self.done))
            over = b.or_(over, b.icmp_signed(">=", made, self.most))
            over = b.or_(over, b.icmp_signed(">=", b.load(used), self.ticks))
            with b.if_then(over):
                self._copy(lambda i: new(i, lane), self._row(self.states, number, self.length), self.length)
                b.store(b.sub(b.load(self.busy), LONG(1)), self.busy)
                self._fill(lane)


def _machine() -> Any:
    """The processor at hand; the engine that gets it owns it."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2, jit=True
    )


def _compiled(module: ir.Module) -> tuple[Any, Any]:
    """The engine that owns the machine code, and the function."""
    machine = _machine()
    parsed = llvm.parse_assembly(str(module))
    parsed.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=2)
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(parsed, builder)
    engine = llvm.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 4)
    return engine, kind(engine.get_function_address("run"))
