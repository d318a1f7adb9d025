"""Traced functions evaluated by NumPy, operation by operation: for those that are called too rarely to be compiled.

Compiling a function of a few hundred operations takes as long as some fifty evaluations by NumPy. Functions with loops,
branches or operations that are not listed here are not evaluated that way.
"""

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from math import prod
from typing import Any, NamedTuple

import jax
import numpy as np

from onesided.evaluation.flat import CALLS, Flat, FlatOperation, called, flattened
from onesided.evaluation.plain_indexing import added, placed, taken

MOVED_ONLY = {"broadcast_in_dim", "reshape", "squeeze", "transpose"}  # entries stay what they are
FOR_DOUBLES = {"div", "integer_pow", "rem"}  # for integers other rules, where a divisor is zero or a number too large
FOR_TRUTHS = {"reduce_and", "reduce_or"}  # of integers bit by bit
LEAST = {"reduce_max", "reduce_min", "argmax", "argmin"}  # of no numbers unknown to NumPy
INLINED = CALLS | {"closed_call", "core_call", "custom_jvp_call"}  # calls whose derivatives are not asked for
Operation = Callable[..., Any]


class PlainStep(NamedTuple):
    """One operation: which values it takes, and the numbers of those that it makes."""

    operation: Operation
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    many: bool


class Plain:
    """A traced function as a list of NumPy operations on numbered values; those of constants alone are done once."""

    def __init__(self, traced: Any) -> None:
        flat = flattened(traced.jaxpr, INLINED)
        self._inputs, self._results, self._values = flat.inputs, flat.outputs, flat.start()
        self._tree = jax.tree.structure(traced.out_info)
        for number, value in flat.constants:
            self._values[number] = _constant(value)
        self._steps: list[PlainStep] = []
        truths = _truths(flat)
        for line in flat.lines:
            operation = _masked(line, truths) or operation_of(line.equation)
            step = PlainStep(operation, line.inputs, line.outputs, line.equation.primitive.multiple_results)
            if any(self._values[i] is None for i in step.inputs):
                self._steps.append(step)
                continue
            _run([step], self._values)
            for number in step.outputs:
                self._values[number] = _constant(self._values[number])

    def __call__(self, *leaves: Any) -> Any:
        """The array or the tree of arrays that the function returns."""
        values = self._values.copy()
        for number, leaf in zip(self._inputs, leaves, strict=True):
            values[number] = leaf
        _run(self._steps, values)
        own = [np.array(values[number]) for number in self._results]  # neither arguments nor constants
        return jax.tree.unflatten(self._tree, own)


def _run(steps: Sequence[PlainStep], values: list[Any]) -> None:
    """Do operations one after the other, on values that are numbered."""
    with np.errstate(all="ignore"):
        for operation, inputs, outputs, many in steps:
            made = operation(*[values[i] for i in inputs])
            if many:
                for number, value in zip(outputs, made, strict=True):
                    values[number] = value
            else:
                values[outputs[0]] = made


def _constant(value: Any) -> Any:
    """An array that cannot be written to."""
    fixed = np.array(value)
    fixed.setflags(write=False)
    return fixed


def plain_length(traced: Any) -> float:
    """The number of operations of a traced function; infinite where NumPy cannot do one of them."""
    return _length(traced.jaxpr.jaxpr)


def _length(jaxpr: Any) -> float:
    total = 0.0
    for equation in jaxpr.eqns:
        inner = called(equation, INLINED)
        if inner is not None:
            total += _length(getattr(inner, "jaxpr", inner))
        elif equation.outvars or equation.effects:  # an empty array taken apart is nothing at all
            total += 1 if equation.outvars and _is_known(equation) else math.inf
    return total


def _is_known(equation: Any) -> bool:
    """Whether NumPy does it with the same result: truths, integers and doubles, without what differs for integers."""
    name, out = equation.primitive.name, equation.outvars[0].aval
    dtypes = [getattr(variable.aval, "dtype", None) for variable in (*equation.invars, *equation.outvars)]
    if not all(dtype == np.float64 or getattr(dtype, "kind", "") in "biu" for dtype in dtypes):
        return False
    if name in FOR_DOUBLES and out.dtype != np.float64:
        return False
    if name in FOR_TRUTHS and out.dtype != bool:
        return False
    if name in LEAST and 0 in equation.invars[0].aval.shape:
        return False
    if name == "scatter" and equation.params["update_jaxpr"] is not None:  # entries changed by a function
        return False
    return name in ENTRY_BY_ENTRY or name in SHAPED or name in SHAPED_BY_INPUT


def _truths(flat: Flat) -> set[int]:
    """Numbers of the values that are truths turned into numbers: zeros and ones."""
    found: set[int] = set()
    for line in flat.lines:
        name = line.equation.primitive.name
        turned = name == "convert_element_type" and line.equation.invars[0].aval.dtype == bool
        if turned or (name in MOVED_ONLY and line.inputs[0] in found):
            found.update(line.outputs)
    return found


def _masked(line: FlatOperation, truths: set[int]) -> Operation | None:
    """A product with a truth, which the compiler makes a choice: nothing where it is false, whatever stands there."""
    if line.equation.primitive.name != "mul" or truths.isdisjoint(line.inputs):
        return None
    if line.inputs[0] in truths:
        return lambda a, b: np.where(a, b, np.zeros_like(b))
    return lambda a, b: np.where(b, a, np.zeros_like(a))


def operation_of(equation: Any) -> Operation:
    """What NumPy does for an operation."""
    name = equation.primitive.name
    if name in ENTRY_BY_ENTRY:
        return ENTRY_BY_ENTRY[name]
    given, out = ([variable.aval for variable in some] for some in (equation.invars, equation.outvars))
    if name in SHAPED_BY_INPUT:
        return SHAPED_BY_INPUT[name](equation.params, given, out)
    return SHAPED[name](equation.params, out)


def _select(which: Any, *cases: Any) -> Any:
    if len(cases) == 2:
        return np.where(which, cases[1], cases[0])
    return np.choose(which, cases, mode="clip")


def _clamp(low: Any, x: Any, high: Any) -> Any:
    return np.minimum(np.maximum(x, low), high)


# fmt: off
ENTRY_BY_ENTRY: dict[str, Operation] = {
    "abs": np.abs, "acos": np.arccos, "acosh": np.arccosh, "add": np.add, "add_any": np.add, "and": np.bitwise_and,
    "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan, "atan2": np.arctan2, "atanh": np.arctanh,
    "cbrt": np.cbrt, "ceil": np.ceil, "clamp": _clamp, "copy": np.asarray, "cos": np.cos, "cosh": np.cosh,
    "div": np.true_divide, "eq": np.equal, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "floor": np.floor,
    "ge": np.greater_equal, "gt": np.greater, "is_finite": np.isfinite, "le": np.less_equal, "log": np.log,
    "log1p": np.log1p, "lt": np.less, "max": np.maximum, "min": np.minimum, "mul": np.multiply, "ne": np.not_equal,
    "neg": np.negative, "not": np.invert, "or": np.bitwise_or, "pow": np.power, "rem": np.fmod, "select_n": _select,
    "sign": np.sign, "sin": np.sin, "sinh": np.sinh, "sqrt": np.sqrt, "square": np.square, "sub": np.subtract,
    "tan": np.tan, "tanh": np.tanh, "xor": np.bitwise_xor,
    "rsqrt": lambda x: 1.0 / np.sqrt(x), "logistic": lambda x: 1.0 / (1.0 + np.exp(-x)),
}
# fmt: on


def _broadcast(params: Any, given: Sequence[Any], out: Sequence[Any]) -> Operation:
    shape, wide = params["shape"], [1] * len(params["shape"])
    for place, size in zip(params["broadcast_dimensions"], given[0].shape, strict=True):
        wide[place] = size
    if tuple(wide) == shape:
        return lambda x, *_: np.reshape(x, shape)
    return lambda x, *_: np.broadcast_to(np.reshape(x, wide), shape)


def _reshape(params: Any, out: Sequence[Any]) -> Operation:
    shape, order = out[0].shape, params.get("dimensions")
    return lambda x, *_: np.reshape(x if order is None else np.transpose(x, order), shape)


def _slice(params: Any, out: Sequence[Any]) -> Operation:
    steps = params["strides"] or (None,) * len(params["start_indices"])
    places = tuple(map(slice, params["start_indices"], params["limit_indices"], steps))
    return lambda x: x[places]


def _pad(params: Any, given: Sequence[Any], out: Sequence[Any]) -> Operation:
    """Room around and between entries; less than none cuts entries off."""
    shape, config = out[0].shape, params["padding_config"]
    source, target = [], []
    for (low, _, between), size, room in zip(config, given[0].shape, shape, strict=True):
        step = between + 1
        first = max(0, -(low // step))  # of the entries that stay
        last = min(size, -((low - room) // step))
        source.append(slice(first, max(first, last)))
        target.append(slice(low + first * step, low + max(first, last) * step, step))
    kept, places = tuple(source), tuple(target)

    def made(x: Any, value: Any) -> Any:
        wide = np.empty(shape, dtype=np.asarray(x).dtype)
        wide[...] = value
        wide[places] = np.asarray(x)[kept]
        return wide

    return made


def _dot(params: Any, given: Sequence[Any], out: Sequence[Any]) -> Operation:
    """Sums of products over some axes, of pairs along others: product of two (stacks of) matrices."""
    (left, right), (batch_left, batch_right) = params["dimension_numbers"]
    a, b, shape = given[0].shape, given[1].shape, out[0].shape
    free_a = [i for i in range(len(a)) if i not in (*left, *batch_left)]
    free_b = [i for i in range(len(b)) if i not in (*right, *batch_right)]
    pairs, inner = [a[i] for i in batch_left], prod(a[i] for i in left)
    turn_a, turn_b = (*batch_left, *free_a, *left), (*batch_right, *right, *free_b)
    first = *([prod(pairs)] if pairs else []), prod(a[i] for i in free_a), inner
    second = *([prod(pairs)] if pairs else []), inner, prod(b[i] for i in free_b)

    def made(x: Any, y: Any) -> Any:
        return (np.transpose(x, turn_a).reshape(first) @ np.transpose(y, turn_b).reshape(second)).reshape(shape)

    return made


def _iota(params: Any, out: Sequence[Any]) -> Operation:
    wide = [1] * len(params["shape"])
    wide[params["dimension"]] = -1
    made = np.broadcast_to(
        np.arange(params["shape"][params["dimension"]], dtype=params["dtype"]).reshape(wide), params["shape"]
    )
    return lambda *_: made


def _split(params: Any, out: Sequence[Any]) -> Operation:
    ends = list(accumulate(params["sizes"]))[:-1]
    return lambda x: np.split(x, ends, axis=params["axis"])


def _reduced(function: np.ufunc) -> Callable[[Any, Sequence[Any]], Operation]:
    """Sums, products or largest entries along some axes."""

    def of(params: Any, out: Sequence[Any]) -> Operation:
        axes, dtype = tuple(params["axes"]), out[0].dtype
        return lambda x: np.asarray(function.reduce(x, axis=axes)).astype(dtype, copy=False)

    return of


def _converted(params: Any, out: Sequence[Any]) -> Operation:
    """Numbers of another kind; of those too large for integers the largest, zero for none."""
    dtype = np.dtype(params["new_dtype"])
    if dtype.kind not in "iu":
        return lambda x: np.asarray(x).astype(dtype, copy=False)
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max

    def made(x: Any) -> Any:
        x = np.asarray(x)
        if x.dtype.kind != "f":
            return x.astype(dtype, copy=False)
        low, high = x <= float(least), x >= float(most)
        whole = np.where(low | high | np.isnan(x), 0.0, x).astype(dtype)
        return np.where(low, dtype.type(least), np.where(high, dtype.type(most), whole))

    return made


def _permuted(params: Any, out: Sequence[Any]) -> Operation:
    return lambda x: np.transpose(x, params["permutation"])


SHAPED: dict[str, Callable[[Any, Sequence[Any]], Operation]] = {
    "argmax": lambda params, out: lambda x: np.argmax(x, axis=params["axes"][0]).astype(params["index_dtype"]),
    "argmin": lambda params, out: lambda x: np.argmin(x, axis=params["axes"][0]).astype(params["index_dtype"]),
    "concatenate": lambda params, out: lambda *x: np.concatenate(x, axis=params["dimension"]),
    "convert_element_type": _converted,
    "integer_pow": lambda params, out: lambda x: np.power(x, float(params["y"])) if params["y"] != 2 else x * x,
    "iota": _iota,
    "reduce_and": _reduced(np.logical_and),
    "reduce_max": _reduced(np.maximum),
    "reduce_min": _reduced(np.minimum),
    "reduce_or": _reduced(np.logical_or),
    "reduce_prod": _reduced(np.multiply),
    "reduce_sum": _reduced(np.add),
    "reshape": _reshape,
    "rev": lambda params, out: lambda x: np.flip(x, params["dimensions"]),
    "slice": _slice,
    "split": _split,
    "squeeze": lambda params, out: lambda x: np.reshape(x, out[0].shape),
    "stack": lambda params, out: lambda *x: np.stack(x, axis=params["axis"]),
    "tile": lambda params, out: lambda x: np.tile(x, params["reps"]),
    "transpose": _permuted,
    "unstack": lambda params, out: lambda x: np.moveaxis(x, params["axis"], 0),
}
SHAPED_BY_INPUT: dict[str, Callable[[Any, Sequence[Any], Sequence[Any]], Operation]] = {
    "broadcast_in_dim": _broadcast,
    "dot_general": _dot,
    "gather": taken,
    "pad": _pad,
    "scatter": placed,
    "scatter-add": added,
}
