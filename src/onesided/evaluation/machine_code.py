"""Straight lines of operations as machine code, made in milliseconds by LLVM without JAX's compiler.

One function takes some vectors of doubles, every one by a pointer, and writes one; it does so for any number of rows of
them. Vectors that are the same for all rows have stride zero.
"""

import ctypes
import math
import struct
import threading
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any, TypeVar

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from scipy.linalg import cython_lapack

from onesided.base.types import Array
from onesided.evaluation.straight import Scalar, ScalarOperation, StraightLine

LONG = ir.IntType(64)
Made = TypeVar("Made")
HOT_ROWS = 300_000  # rows after which what optimised code saves is what it takes to make it
POINTER, PLACE = str(ir.DoubleType().as_pointer()), str(ir.DoubleType().as_pointer().as_pointer())
ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
OBJECT_WORDS = 8  # of an array object, among which the address of its data is
ORDERED = {"eq": "oeq", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "ne": "une"}
OF_TRUTHS = {"and": "and", "or": "or", "xor": "xor", "ne": "xor"}
BY_LLVM = {"sqrt": "sqrt", "abs": "fabs", "sin": "sin", "cos": "cos", "exp": "exp", "exp2": "exp2", "log": "log"}
BY_LLVM |= {"floor": "floor", "ceil": "ceil", "pow": "pow"}
EXTREMES = {"max": "ogt", "min": "olt"}  # LLVM knows one instruction for each, which LLVM 15 has not for all processors
BY_LIBRARY = {name: name for name in ("tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh")}
BY_LIBRARY |= {"acosh": "acosh", "atanh": "atanh", "expm1": "expm1", "log1p": "log1p", "cbrt": "cbrt", "rem": "fmod"}


class _Text:
    """The instructions of one function, and what it calls."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.declared: set[str] = set()

    def add(self, operation: ScalarOperation, made: str, index: int) -> None:
        """Append the instructions for one operation."""
        name, given = operation.name, [_value(one) for one in operation.inputs]
        truths = [_is_truth(one) for one in operation.inputs]
        if name in ARITHMETIC:
            line = f"{ARITHMETIC[name]} double {given[0]}, {given[1]}"
        elif name in ORDERED and not truths[0]:
            line = f"fcmp {ORDERED[name]} double {given[0]}, {given[1]}"
        elif name in OF_TRUTHS:
            line = f"{OF_TRUTHS[name]} i1 {given[0]}, {given[1]}"
        elif name == "neg":
            line = f"fneg double {given[0]}"
        elif name == "select":
            kind = "i1" if operation.truth else "double"
            line = f"select i1 {given[0]}, {kind} {given[2]}, {kind} {given[1]}"
        else:
            line = self._several(name, given, f"%t{index}")
        self.lines.append(f"{made} = {line}")

    def _several(self, name: str, given: list[str], helper: str) -> str:
        """What takes more than one instruction, or a call; the last one is returned."""
        if name == "not":
            return f"xor i1 {given[0]}, true"
        if name == "eq":
            self.lines.append(f"{helper} = xor i1 {given[0]}, {given[1]}")
            return f"xor i1 {helper}, true"
        if name == "is_finite":
            self.lines.append(f"{helper} = {self._call('llvm.fabs.f64', given)}")
            return f"fcmp olt double {helper}, {_value(float('inf'))}"
        if name == "sign":
            up, down, low = f"{helper}u", f"{helper}d", f"{helper}l"
            self.lines.append(f"{up} = fcmp ogt double {given[0]}, {_value(0.0)}")
            self.lines.append(f"{down} = fcmp olt double {given[0]}, {_value(0.0)}")
            self.lines.append(f"{low} = select i1 {down}, double {_value(-1.0)}, double {given[0]}")
            return f"select i1 {up}, double {_value(1.0)}, double {low}"
        if name in EXTREMES:  # what is no number stays
            before, wrong, first = f"{helper}b", f"{helper}w", f"{helper}f"
            self.lines.append(f"{before} = fcmp {EXTREMES[name]} double {given[0]}, {given[1]}")
            self.lines.append(f"{wrong} = fcmp uno double {given[0]}, {given[0]}")
            self.lines.append(f"{first} = or i1 {before}, {wrong}")
            return f"select i1 {first}, double {given[0]}, double {given[1]}"
        return self._call(f"llvm.{BY_LLVM[name]}.f64" if name in BY_LLVM else BY_LIBRARY[name], given)

    def _call(self, name: str, given: list[str]) -> str:
        self.declared.add(f"declare double @{name}({', '.join(['double'] * len(given))})")
        return f"call double @{name}({', '.join(f'double {one}' for one in given)})"


def _is_truth(one: Any) -> bool:
    return one.truth if isinstance(one, Scalar) else isinstance(one, bool)


def _value(one: Any) -> str:
    """How a number is written: doubles by their bits."""
    if isinstance(one, Scalar):
        return f"%v{one.index}"
    if isinstance(one, bool):
        return "true" if one else "false"
    return f"0x{struct.unpack('<Q', struct.pack('<d', one))[0]:016X}"


def source(name: str, line: StraightLine, sizes: Sequence[int], shared: Sequence[bool]) -> tuple[str, set[str]]:
    """Text of the function void name(double* a0, …, double* made, i64 rows), and what it declares.

    `sizes` are the lengths of the vectors; those that are `shared` are the same for all rows.
    """
    text = _Text()
    count = 0
    for i, (size, fixed) in enumerate(zip(sizes, shared, strict=True)):
        text.lines.append(f"%r{i} = mul i64 %i, {0 if fixed else size}")
        text.lines.append(f"%b{i} = getelementptr double, {POINTER} %a{i}, i64 %r{i}")
        for j in range(size):
            text.lines.append(f"%p{count} = getelementptr double, {POINTER} %b{i}, i64 {j}")
            text.lines.append(f"%v{count} = load double, {POINTER} %p{count}")
            count += 1
    for index, operation in line.operations:
        text.add(operation, f"%v{index}", index)
    text.lines.append(f"%rm = mul i64 %i, {len(line.outputs)}")
    text.lines.append(f"%bm = getelementptr double, {POINTER} %made, i64 %rm")
    for j, output in enumerate(line.outputs):
        text.lines.append(f"%o{j} = getelementptr double, {POINTER} %bm, i64 {j}")
        text.lines.append(f"store double {_value(output)}, {POINTER} %o{j}")
    arguments = ", ".join([*(f"{POINTER} noalias %a{i}" for i in range(len(sizes))), f"{POINTER} noalias %made"])
    body = "\n".join(text.lines)
    return LOOP.format(name=name, arguments=arguments, body=body), text.declared


LOOP = """define void @{name}({arguments}, i64 %rows) {{
entry:
br label %head
head:
%i = phi i64 [0, %entry], [%next, %body]
%more = icmp slt i64 %i, %rows
br i1 %more, label %body, label %done
body:
{body}
%next = add i64 %i, 1
br label %head
done:
ret void
}}
"""


# the same for arrays of NumPy: their addresses are read where they are used, which takes a tenth of asking for them
OF_ARRAYS = """define void @{name}_of_arrays({objects}, i64 %rows) {{
{loads}
call void @{name}({pointers}, i64 %rows)
ret void
}}
"""


# the same at one point, for other machine code: vectors that are the same for all rows stand in a context
AT_POINT = """define void @{name}_at(i64* %context, double* %x, double* %made, double* %room) {{
{loads}
call void @{name}({pointers}, i64 1)
ret void
}}
"""


def source_at_point(name: str, count: int) -> str:
    """Text of the function void name_at(context, x, made, room): all arguments but the first stand in the context."""
    double, long = POINTER, str(LONG.as_pointer())
    loads = [
        f"%p{i} = getelementptr i64, {long} %context, i64 {i}\n"
        f"%n{i} = load i64, {long} %p{i}\n"
        f"%a{i} = inttoptr i64 %n{i} to {double}"
        for i in range(count - 2)
    ]
    given = ["%x", *(f"%a{i}" for i in range(count - 2)), "%made"]
    pointers = ", ".join(f"{double} {one}" for one in given)
    return AT_POINT.format(name=name, pointers=pointers, loads="\n".join(loads))


def source_of_arrays(name: str, count: int) -> str:
    """Text of the function void name_of_arrays(i64 x0, …, i64 rows): its arguments are array objects."""
    loads = [
        f"%q{i} = add i64 %x{i}, {_data_offset()}\n"
        f"%d{i} = inttoptr i64 %q{i} to {PLACE}\n"
        f"%a{i} = load {POINTER}, {PLACE} %d{i}"
        for i in range(count)
    ]
    objects, pointers = (", ".join(f"{kind}{i}" for i in range(count)) for kind in ("i64 %x", f"{POINTER} %a"))
    return OF_ARRAYS.format(name=name, objects=objects, pointers=pointers, loads="\n".join(loads))


@cache
def _data_offset() -> int:
    """How many bytes behind the start of an array object NumPy keeps the address of its data."""
    probe = np.empty(1)
    words = (ctypes.c_void_p * OBJECT_WORDS).from_address(id(probe))
    return ctypes.sizeof(ctypes.c_void_p) * list(words).index(probe.ctypes.data)


def array_address(builder: Any, array: Any, kind: Any) -> Any:
    """Address of the data of an array object, read where it is used."""
    place = builder.inttoptr(builder.add(array, LONG(_data_offset())), kind.as_pointer())
    return builder.load(place)


def counted_loop(builder: Any, count: Any, body: Callable[[Any], Any]) -> None:
    """What the body does for every number below `count`, written where the builder stands."""
    before, head, inside, after = builder.block, *(builder.function.append_basic_block() for _ in range(3))
    builder.branch(head)
    builder.position_at_end(head)
    i = builder.phi(LONG)
    i.add_incoming(LONG(0), before)
    builder.cbranch(builder.icmp_signed("<", i, count), inside, after)
    builder.position_at_end(inside)
    body(i)
    i.add_incoming(builder.add(i, LONG(1)), builder.block)
    builder.branch(head)
    builder.position_at_end(after)


@cache
def lapack_address(name: str) -> int:
    """Address of a function of LAPACK, as SciPy hands it to compiled code."""
    capsule, api = vars(cython_lapack)["__pyx_capi__"][name], ctypes.pythonapi
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", api))
    return int(pointer_of(capsule, name_of(capsule)))


@cache
def _target() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple()


def made_once(make: Callable[[], Made]) -> Callable[[], Made]:
    """A value that is made when first asked for, by one thread, and kept as long as the process lives.

    Machine code that two threads made at once would be removed for one of them while its functions are called.
    """
    known, lock = list[Made](), threading.Lock()

    def value() -> Made:
        if not known:
            with lock:
                if not known:
                    known.append(make())
        return known[0]

    return value


class MachineCode:
    """Functions of one text, compiled for the processor at hand; owns the code.

    Parameters
    ----------
    effort : 0 is compiled seven times as quickly as 2; what mostly calls other functions is as fast.
    """

    def __init__(self, text: str, *, effort: int = 2) -> None:
        machine = _target().create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=effort, jit=True
        )
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Address of the compiled function in memory."""
        return int(self._engine.get_function_address(name))


class NativeFunction:
    """A straight line as a function of vectors, for one or many rows of them.

    Code is made without optimisation first, in a quarter of the time, which makes it half as slow again; what is
    computed is the same.
    """

    def __init__(self, line: StraightLine, sizes: Sequence[int], shared: Sequence[bool]) -> None:
        text, declared = source("run", line, sizes, shared)
        count, self._width = len(sizes) + 1, len(line.outputs)
        own = [source_of_arrays("run", count), *([source_at_point("run", count)] if count > 1 else [])]
        self._text, self._rows = "\n".join([*declared, text, *own]), 0.0
        self._kind = ctypes.CFUNCTYPE(None, *[ctypes.c_size_t] * count, ctypes.c_int64)
        self._codes = [MachineCode(self._text, effort=0)]  # all are kept: another thread may be inside
        self._run = self._kind(self._codes[0].address("run_of_arrays"))

    @cached_property
    def _optimised(self) -> MachineCode:
        code = MachineCode(self._text)
        self._codes.append(code)
        self._run, self._rows = self._kind(code.address("run_of_arrays")), -math.inf
        return code

    @property
    def at_point(self) -> int:
        """Address of void function(context, x, made, room), with the other arguments' addresses in the context."""
        return self._optimised.address("run_at")

    def __call__(self, arguments: Sequence[Array], rows: int = 1, shape: tuple[int, ...] | None = None) -> Array:
        """Results, (rows, width) or in another shape; arguments are contiguous arrays of doubles."""
        self._rows += rows
        if self._rows > HOT_ROWS:
            self._optimised  # noqa: B018 - from now on
        made = np.empty((rows, self._width) if shape is None else shape)
        self._run(*map(id, arguments), id(made), rows)
        return made
