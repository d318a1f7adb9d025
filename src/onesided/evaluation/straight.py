"""Traced functions as straight lines of operations on single numbers, to be printed for machines that run many at once.

The operations of `flat` on arrays are carried out once with numbered unknowns for entries: shapes, indices and sums are
gone then, what is known beforehand is computed, what occurs twice is kept once. Products with a constant zero are taken
for zero.
"""

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import jax
import numpy as np

from onesided.evaluation.flat import equations, flattened
from onesided.evaluation.plain import ENTRY_BY_ENTRY, INLINED, SHAPED, SHAPED_BY_INPUT, operation_of

TRUTHS = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor", "not", "is_finite"})  # what yields one
NAMES = {"add_any": "add", "square": "integer_pow"}
REDUCED = {"reduce_sum": "add", "reduce_prod": "mul", "reduce_max": "max", "reduce_min": "min"}
REDUCED |= {"reduce_and": "and", "reduce_or": "or"}
NEUTRAL = {"add": 0.0, "mul": 1.0, "and": True, "or": False}
RULED = {"custom_jvp_call", "custom_vjp_call"}
BY_SHAPE = SHAPED.keys() | SHAPED_BY_INPUT.keys()
BROAD = 8  # numbers that operations on arrays make for every operation that may be left
MOST = 200_000  # operations beyond which one straight line is no longer worth it


class Scalar:
    """A number, or a truth, that is not known yet."""

    __slots__ = ("index", "line", "truth")

    def __init__(self, line: Any, index: int, truth: bool) -> None:
        self.line, self.index, self.truth = line, index, truth

    def __add__(self, other: Any) -> Any:
        return self.line.do("add", self, other)

    def __mul__(self, other: Any) -> Any:
        return self.line.do("mul", self, other)

    __radd__, __rmul__ = __add__, __mul__


class Input(Scalar):
    """A number that is given."""


class ScalarOperation(NamedTuple):
    """One operation: its name and what it takes, numbers of earlier ones or values that are known."""

    name: str
    inputs: tuple[Scalar | float | bool, ...]
    truth: bool


class StraightLine(NamedTuple):
    """Operations in order; the first `inputs` numbers are given. `outputs` may be known values.

    Functions in it may have rules of their own for their derivatives (`ruled`), which are not those of its operations.
    """

    inputs: int
    operations: tuple[tuple[int, ScalarOperation], ...]
    outputs: tuple[Scalar | float | bool, ...]
    ruled: bool = False


class LineMaker:
    """Operations as they are found, each once."""

    def __init__(self, most: int) -> None:
        self.most, self.full = most, False
        self.known: dict[Any, Scalar] = {}
        self.operations: list[ScalarOperation | None] = []

    def given(self, count: int) -> Any:
        """So many more numbers that are given."""
        made = np.empty(count, dtype=object)
        for i in range(count):
            made[i] = Input(self, len(self.operations), truth=False)
            self.operations.append(None)
        return made

    def do(self, name: str, *inputs: Any) -> Any:
        """What an operation makes of numbers."""
        simple = _simplified(name, inputs)
        if simple is None and name == "mul":
            simple = self._masked(inputs)
        return self._new(name, inputs) if simple is None else simple

    def ended(self, inputs: int, outputs: Sequence[Any]) -> StraightLine:
        """What these results need, in order."""
        needed = {one.index for one in outputs if isinstance(one, Scalar)}
        kept = []
        for index in range(len(self.operations) - 1, inputs - 1, -1):
            operation = self.operations[index]
            if operation is not None and index in needed:
                kept.append((index, operation))
                needed.update(one.index for one in operation.inputs if isinstance(one, Scalar))
        return StraightLine(inputs, tuple(reversed(kept)), tuple(outputs))

    def _masked(self, inputs: tuple[Any, ...]) -> Any:
        """A product with a truth as a choice: nothing where it is false, whatever stands there; None for others."""
        for one, other in (inputs, inputs[::-1]):
            made = self.operations[one.index] if isinstance(one, Scalar) else None
            if made is not None and made.name == "select" and _is(made.inputs[1], 0.0) and _is(made.inputs[2], 1.0):
                return self.do("select", made.inputs[0], 0.0, other)
        return None

    def _new(self, name: str, inputs: tuple[Any, ...]) -> Scalar:
        key = name, *((one.index, None) if isinstance(one, Scalar) else (type(one).__name__, one) for one in inputs)
        if key not in self.known:
            if len(self.operations) > self.most:  # NumPy's products of objects go on after an exception
                self.full = True
                return Scalar(self, 0, truth=False)
            truth = name in TRUTHS or (name == "select" and _is_truth(inputs[1]) and _is_truth(inputs[2]))
            self.known[key] = Scalar(self, len(self.operations), truth)
            self.operations.append(ScalarOperation(name, inputs, truth))
        return self.known[key]


class NotStraightError(Exception):
    """A function with loops, branches or operations that are not known here."""


def _is_truth(value: Any) -> bool:
    return value.truth if isinstance(value, Scalar) else isinstance(value, bool | np.bool_)


def _is(value: Any, number: float) -> bool:
    return not isinstance(value, Scalar) and not isinstance(value, bool) and bool(value == number)


def _same(a: Any, b: Any) -> bool:
    return a is b or (not (isinstance(a, Scalar) or isinstance(b, Scalar)) and type(a) is type(b) and a == b)


def _simplified(name: str, inputs: tuple[Any, ...]) -> Any:
    """What is known without computing; None where it has to be computed."""
    if not any(isinstance(one, Scalar) for one in inputs):
        return _folded(name, inputs)
    a, b = inputs[0], inputs[1] if len(inputs) > 1 else None
    if name == "add" and (_is(a, 0.0) or _is(b, 0.0)):
        return b if _is(a, 0.0) else a
    if name == "sub" and _is(b, 0.0):
        return a
    if name == "mul" and (_is(a, 0.0) or _is(b, 0.0)):
        return 0.0
    if name == "mul" and (_is(a, 1.0) or _is(b, 1.0)):
        return b if _is(a, 1.0) else a
    if name == "div" and (_is(a, 0.0) or _is(b, 1.0)):
        return a
    if name in {"and", "or"} and not (isinstance(a, Scalar) and isinstance(b, Scalar)):
        known, other = (b, a) if isinstance(a, Scalar) else (a, b)
        return other if bool(known) == (name == "and") else known
    if name == "select" and (not isinstance(a, Scalar) or _same(inputs[1], inputs[2])):
        return inputs[2] if a else inputs[1]
    return None


def _folded(name: str, inputs: tuple[Any, ...]) -> Any:
    if name == "select":
        return inputs[2] if inputs[0] else inputs[1]
    with np.errstate(all="ignore"):
        value = ENTRY_BY_ENTRY[name](*inputs)
    return bool(value) if np.asarray(value).dtype == bool else float(value)


def straight(function: Callable[..., Any], *shapes: int, most: int = MOST) -> StraightLine:
    """The operations, at most so many, of a function of vectors, of these lengths, that returns one vector.

    Raises
    ------
    NotStraightError : for what cannot be written as one.
    """
    shape_of: Any = jax.ShapeDtypeStruct
    return straightened(jax.make_jaxpr(function)(*[shape_of((size,), np.float64) for size in shapes]), most)


def straightened(traced: Any, most: int = MOST) -> StraightLine:
    """The same of a function of arrays that has been traced, in at most so many operations."""
    flat, line = flattened(traced, INLINED), LineMaker(most)
    if sum(math.prod(made.aval.shape) for one in flat.lines for made in one.equation.outvars) > BROAD * most:
        raise NotStraightError("too many numbers")
    values = flat.start()
    for number, value in flat.constants:
        values[number] = _constant(value)
    shapes = [variable.aval.shape for variable in traced.jaxpr.invars]
    for number, shape in zip(flat.inputs, shapes, strict=True):
        values[number] = line.given(math.prod(shape)).reshape(shape)
    for equation, inputs, outputs in flat.lines:
        made = _done(line, equation, [values[i] for i in inputs])
        if line.full:
            raise NotStraightError("too many operations")
        for number, value in zip(outputs, made, strict=True):
            values[number] = np.asarray(value, dtype=object) if isinstance(value, Scalar) else value
    results = [_plain(value) for value in np.ravel(values[flat.outputs[0]])]
    ruled = any(equation.primitive.name in RULED for equation in equations(traced.jaxpr))
    return line.ended(sum(map(math.prod, shapes)), results)._replace(ruled=ruled)


def _constant(value: Any) -> Any:
    array = np.asarray(value)
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _done(line: LineMaker, equation: Any, given: list[Any]) -> Sequence[Any]:
    """One operation on arrays, entry by entry."""
    name, params = equation.primitive.name, equation.params
    if not any(_unknown(array) for array in given):
        if name not in ENTRY_BY_ENTRY and name not in BY_SHAPE:
            raise NotStraightError(name)
        with np.errstate(all="ignore"):
            made = operation_of(equation)(*given)
        return made if equation.primitive.multiple_results else [made]
    if name == "integer_pow" or name == "square":
        return [_each(lambda x: _power(line, x, params.get("y", 2)), 1)(given[0])]
    if name == "convert_element_type":
        return [_each(lambda x: _converted(line, x, np.dtype(params["new_dtype"])), 1)(given[0])]
    if name == "select_n":
        return [_selected(line, *given)]
    if name in REDUCED:
        return [_reduced(line, REDUCED[name], given[0], tuple(params["axes"]))]
    if name in ENTRY_BY_ENTRY:
        return [_entry(line, NAMES.get(name, name), given)]
    if name not in BY_SHAPE or name in {"argmax", "argmin"}:
        raise NotStraightError(name)
    mixed = [np.asarray(array).astype(object) if np.asarray(array).dtype.kind in "fb" else array for array in given]
    try:
        made = operation_of(equation)(*mixed)
    except (TypeError, IndexError, ValueError) as e:
        raise NotStraightError(f"{name}: {e}") from e
    return made if equation.primitive.multiple_results else [made]


def _selected(line: LineMaker, which: Any, *cases: Any) -> Any:
    """One of several cases, entry by entry; of more than two only where it is known which."""
    if len(cases) == 2:
        return _each(lambda which, *two: line.do("select", which, *two), 3)(which, *cases)
    if _unknown(which):
        raise NotStraightError("a choice of many")
    return np.choose(which, [np.asarray(case, dtype=object) for case in cases], mode="clip")


def _unknown(array: Any) -> bool:
    return getattr(array, "dtype", None) == np.dtype(object)


def _entry(line: LineMaker, name: str, given: list[Any]) -> Any:
    if name == "rsqrt":
        return _each(lambda x: line.do("div", 1.0, line.do("sqrt", x)), 1)(*given)
    if name == "clamp":
        return _each(lambda low, x, high: line.do("min", line.do("max", x, low), high), 3)(*given)
    if name == "logistic":
        return _each(lambda x: line.do("div", 1.0, line.do("add", 1.0, line.do("exp", line.do("neg", x)))), 1)(*given)
    if name == "copy":
        return given[0]
    return _each(lambda *inputs: line.do(name, *map(_plain, inputs)), len(given))(*given)


def _plain(value: Any) -> Any:
    """A number that is known as one of Python's: integers are compared, added and multiplied like doubles."""
    if isinstance(value, Scalar):
        return value
    return bool(value) if isinstance(value, bool | np.bool_) else float(value)


def _each(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A function of numbers for all entries of arrays: an array, even of none."""
    every = np.frompyfunc(lambda *inputs: function(*map(_plain, inputs)), count, 1)

    def made(*arrays: Any) -> Any:
        with np.errstate(all="ignore"):  # numbers that are not finite are none of NumPy's business here
            return np.asarray(every(*arrays), dtype=object)

    return made


def _power(line: LineMaker, x: Any, exponent: int) -> Any:
    if exponent < 0:
        return line.do("div", 1.0, _power(line, x, -exponent))
    if exponent == 0:
        return 1.0
    half = _power(line, x, exponent // 2)
    square = line.do("mul", half, half) if exponent > 1 else 1.0
    return line.do("mul", square, x) if exponent % 2 else square


def _converted(line: LineMaker, x: Any, dtype: Any) -> Any:
    if dtype.kind == "b":
        return x if _is_truth(x) else line.do("ne", x, 0.0)
    if dtype.kind != "f":
        raise NotStraightError(f"conversion to {dtype}")
    return line.do("select", x, 0.0, 1.0) if _is_truth(x) else x


def _reduced(line: LineMaker, name: str, x: Any, axes: tuple[int, ...]) -> Any:
    rest = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
    rows = np.moveaxis(x, axes, range(len(axes))).reshape(-1, math.prod(rest))
    made = np.empty(math.prod(rest), dtype=object)
    for i in range(len(made)):
        column = [_plain(value) for value in rows[:, i]]
        made[i] = reduce(lambda a, b: line.do(name, a, b), column) if column else NEUTRAL[name]
    return made.reshape(rest)
