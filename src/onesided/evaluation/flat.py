"""Traced functions as flat lists of operations: without the calls between them, and without what no result needs.

Differentiating a function by JAX takes time for every operation, for every call of a function in it, and for what is
thrown away later. `retraced` finds the operations of a function once and hands only these to all its derivatives.
"""

from collections.abc import Callable, Hashable, Iterator, Set
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

CALLS = frozenset({"jit", "pjit"})  # operations that are nothing but calls
# fmt: off
LIBRARY = {  # what the compiler leaves to a library
    "cholesky", "conv_general_dilated", "custom_call", "eig", "eigh", "ffi_call", "fft", "geqp3", "geqrf", "hessenberg",
    "householder_product", "io_callback", "lu", "lu_pivots_to_permutation", "ormqr", "pure_callback", "qr",
    "rng_bit_generator", "schur", "sort", "svd", "top_k", "triangular_solve", "tridiagonal", "tridiagonal_solve",
}
# fmt: on
SMALL = 1_000  # numbers of a constant that are compared with those of others


class FlatOperation(NamedTuple):
    """One operation: which values it takes, and the numbers of those that it makes."""

    equation: Any
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class Flat(NamedTuple):
    """Operations on `size` numbered values; `constants` are pairs of a number and a value."""

    size: int
    inputs: tuple[int, ...]
    constants: tuple[tuple[int, Any], ...]
    lines: tuple[FlatOperation, ...]
    outputs: tuple[int, ...]

    def start(self) -> list[Any]:
        """All values, of which the constants are known."""
        values: list[Any] = [None] * self.size
        for number, value in self.constants:
            values[number] = value
        return values


class _Flattening:
    """Numbers for the values of a traced function; with `once` what is computed twice has the same number."""

    def __init__(self, calls: Set[str], whole: Set[str], *, once: bool) -> None:
        self.calls, self.whole, self.once, self.count = calls, whole, once, 0
        self.constants: list[tuple[int, Any]] = []
        self.lines: list[FlatOperation] = []
        self._made: dict[Hashable, tuple[int, ...]] = {}
        self._known_constants: dict[Hashable, int] = {}

    def new(self, known: dict[Any, int], variable: Any) -> int:
        known[variable] = self.count
        self.count += 1
        return known[variable]

    def constant(self, value: Any) -> int:
        key = _same_constant(value)
        if key not in self._known_constants:
            self._known_constants[key] = self.count
            self.constants.append((self.count, value))
            self.count += 1
        return self._known_constants[key]

    def operation(self, equation: Any, inputs: tuple[int, ...], known: dict[Any, int]) -> None:
        """An operation, unless the same one of the same values is there already."""
        key = _same_operation(equation, inputs) if self.once else None
        made = None if key is None else self._made.get(key)
        if made is not None:
            known.update(zip(equation.outvars, made, strict=True))
            return
        outputs = tuple(self.new(known, variable) for variable in equation.outvars)
        self.lines.append(FlatOperation(equation, inputs, outputs))
        if key is not None:
            self._made[key] = outputs

    def number(self, known: dict[Any, int], variable: Any) -> int:
        return self.constant(variable.val) if hasattr(variable, "val") else known[variable]

    def add(self, jaxpr: Any, known: dict[Any, int]) -> None:
        """All operations, those of functions that are called included."""
        for equation in jaxpr.eqns:
            inputs = tuple(self.number(known, variable) for variable in equation.invars)
            inner = called(equation, self.calls)
            if inner is None or (self.whole and self._holds(getattr(inner, "jaxpr", inner))):
                self.operation(equation, inputs, known)
                continue
            body, constants = getattr(inner, "jaxpr", inner), getattr(inner, "consts", ())
            own = dict(zip(body.invars, inputs, strict=True))
            own |= {v: self.constant(value) for v, value in zip(body.constvars, constants, strict=True)}
            self.add(body, own)
            for outside, inside in zip(equation.outvars, body.outvars, strict=True):
                known[outside] = self.number(own, inside)

    def _holds(self, jaxpr: Any) -> bool:
        """Whether one of the operations that keep a function whole is in it."""
        return any(one.primitive.name in self.whole for one in equations(jaxpr))


def _same_operation(equation: Any, inputs: tuple[int, ...]) -> Hashable:
    """What is equal for operations that make the same values; None for those that do more than that."""
    if equation.effects:
        return None
    key = equation.primitive, inputs, tuple(equation.params.items())
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _same_constant(value: Any) -> Hashable:
    """What is equal for equal numbers and small arrays of one type; others are equal to themselves alone."""
    known = isinstance(value, bool | int | float | np.generic | np.ndarray | jax.Array)
    if not known or isinstance(value, jax.core.Tracer) or np.size(value) > SMALL:
        return id(value)  # it is kept, with the constants
    return type(value), jax.typeof(value), np.asarray(value).tobytes()


def called(equation: Any, calls: Set[str]) -> Any:
    """The function that an operation merely calls; None for others."""
    if equation.primitive.name not in calls:
        return None
    return equation.params.get("jaxpr", equation.params.get("call_jaxpr"))


def equations(jaxpr: Any) -> Iterator[Any]:
    """The operations of a traced function, those of functions in it included."""
    for equation in jaxpr.eqns:
        yield equation
        for value in equation.params.values():
            for part in value if type(value) is tuple else (value,):
                inner = getattr(part, "jaxpr", part)
                if hasattr(inner, "eqns"):
                    yield from equations(inner)


def flattened(closed: Any, calls: Set[str] = CALLS, whole: Set[str] = frozenset(), *, once: bool = True) -> Flat:
    """The operations of a traced function that its results need; functions with an operation of `whole` stay calls.

    With `once` equal operations of the same values are done once.
    """
    made, known = _Flattening(calls, whole, once=once), dict[Any, int]()
    inputs = tuple(made.new(known, variable) for variable in closed.jaxpr.invars)
    for variable, value in zip(closed.jaxpr.constvars, closed.consts, strict=True):
        known[variable] = made.constant(value)
    made.add(closed.jaxpr, known)
    outputs = tuple(made.number(known, variable) for variable in closed.jaxpr.outvars)
    needed, lines = set(outputs), list[FlatOperation]()
    for line in reversed(made.lines):
        if line.equation.effects or not needed.isdisjoint(line.outputs):
            needed.update(line.inputs)
            lines.append(line)
    constants = tuple((number, value) for number, value in made.constants if number in needed)
    return Flat(made.count, inputs, constants, tuple(reversed(lines)), outputs)


def depends(function: Callable[..., Any], arguments: tuple[Any, ...], which: int) -> bool:
    """Whether a result of a function may depend on one of these arrays: operations lead from it to there."""
    flat = flattened(jax.make_jaxpr(function)(*arguments))
    reached = {flat.inputs[which]}
    for line in flat.lines:
        if not reached.isdisjoint(line.inputs):
            reached.update(line.outputs)
    return not reached.isdisjoint(flat.outputs)


def retraced(function: Callable[..., Any], *, once: bool = False) -> Callable[..., Any]:
    """The same function of arrays, traced once for arguments of the same shapes: later calls repeat its operations.

    With `once` equal operations are done once. Slopes of what they lead to are then added up before they are handed
    on, which rounds in another way: functions of statics are left as they are written.

    Where it uses values of another trace that are none of its arguments, it is called as it is. Calls of a library stay
    in functions of their own: JAX's compiler takes small loops around them for free of such calls otherwise.
    """
    known: dict[Any, tuple[Flat, Any] | None] = {}

    def repeat(*arguments: Any, **named: Any) -> Any:
        leaves, tree = jax.tree.flatten((arguments, named))
        key = tree, tuple(jax.typeof(leaf) for leaf in leaves)
        if key not in known:
            traced, shape = jax.make_jaxpr(function, return_shape=True)(*arguments, **named)
            borrowed = any(isinstance(one, jax.core.Tracer) for one in traced.consts)
            flat = None if borrowed else flattened(traced, whole=LIBRARY, once=once)
            known[key] = None if flat is None else (flat, jax.tree.structure(shape))
        found = known[key]
        if found is None:
            return function(*arguments, **named)
        flat, result = found
        return jax.tree.unflatten(result, _repeated(flat, leaves))

    return repeat


class Retraced:
    """A method of arrays that is traced once for every object, as `retraced`, with equal operations done once."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method, self.__doc__ = method, method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._key = f"_{owner.__name__}_{name}_retraced"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        own = vars(instance)
        if self._key not in own:
            own[self._key] = retraced(partial(self._method, instance), once=True)
        return own[self._key]


def _repeated(flat: Flat, leaves: list[Any]) -> list[Any]:
    """Every operation once more, for other arrays."""
    values = flat.start()
    for number, leaf in zip(flat.inputs, leaves, strict=True):
        values[number] = leaf
    for equation, inputs, outputs in flat.lines:
        bound = equation.primitive.get_bind_params(equation.params)
        functions, params = bound if isinstance(bound, tuple) else ((), bound)  # as in JAX before 0.10.2, and since
        made = equation.primitive.bind(*functions, *[values[i] for i in inputs], **params)
        if not equation.primitive.multiple_results:
            made = [made]
        for number, value in zip(outputs, made, strict=True):
            values[number] = value
    return [values[number] for number in flat.outputs]
