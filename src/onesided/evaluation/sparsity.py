"""Which second derivatives of a function can differ from zero, read off its operations, and columns made together.

A coordinate that enters an entry of the gradient by no operation has no second derivative with it, at any point. Where
operations are not known, everything depends on everything that they were given: the pattern may be too full, never too
empty. Columns of the Hessian without a common row come out of one directional derivative.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from onesided.base.types import Array, Indices, Mask

WORTH = 0.5  # share of the directions that is left at most, if others are to be used than one per coordinate
LARGEST = 4_000_000  # entries of a variable times coordinates that are followed
# fmt: off
ENTRY_BY_ENTRY = {
    "abs", "acos", "acosh", "add", "add_any", "and", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "clamp",
    "convert_element_type", "copy", "cos", "cosh", "div", "eq", "erf", "exp", "exp2", "expm1", "floor", "ge", "gt",
    "integer_pow", "is_finite", "le", "log", "log1p", "logistic", "lt", "max", "min", "mul", "ne", "neg", "not", "or",
    "pow", "rem", "round", "rsqrt", "select_n", "sign", "sin", "sinh", "sqrt", "square", "sub", "tan", "tanh", "xor",
}
# fmt: on


class Directions(NamedTuple):
    """Directions that make up a Hessian: (k, n), each the sum of some coordinates; (n, n) entries that can be there."""

    seeds: Array
    mask: Mask


def directions(gradient: Callable[..., Any], n: int, always: int, given: tuple[Any, ...]) -> Directions | None:
    """Few directions for the Jacobian of a gradient of n unknowns, those from number `always` on one by one.

    None where they would not be few. `given` are further arguments of the gradient.
    """
    mask = _jacobian(gradient, n, given)
    if mask is None:
        return None
    mask = mask | mask.T
    mask[:, always:] = mask[always:] = True
    of_row, count = _colours(mask[:always, :always])
    of_row = np.concatenate([of_row, count + np.arange(n - always)])
    seeds = (of_row == np.arange(count + n - always)[:, None]).astype(float)
    return Directions(seeds, mask) if len(seeds) <= WORTH * n else None


def _colours(mask: Mask) -> tuple[Indices, int]:
    """Numbers of groups of rows that have no column in common, as they come, and how many there are."""
    of_row, taken = np.zeros(len(mask), dtype=np.intp), np.zeros((0, mask.shape[1]), dtype=bool)
    for i, row in enumerate(mask):
        free = np.flatnonzero(~(taken & row).any(axis=1))
        if not len(free):
            taken, free = np.vstack([taken, np.zeros_like(row)]), np.array([len(taken)])
        of_row[i] = free[0]
        taken[free[0]] |= row
    return of_row, len(taken)


def _jacobian(function: Callable[..., Any], n: int, given: tuple[Any, ...]) -> Mask | None:
    """Which unknowns enter which entries, (n, n); None where that takes too long to find out."""
    shape_of: Any = jax.ShapeDtypeStruct
    traced = jax.make_jaxpr(function)(shape_of((n,), float), *given)
    others = [np.zeros((*variable.aval.shape, n), dtype=bool) for variable in traced.jaxpr.invars[1:]]
    try:
        (found,) = _outputs(traced.jaxpr, [np.eye(n, dtype=bool), *others], n)
    except _TooLargeError:
        return None
    return found


class _TooLargeError(Exception):
    """There are too many entries to follow."""


def _outputs(jaxpr: Any, inputs: list[Mask], n: int) -> list[Mask]:
    """What the results of some operations depend on: for each (…, n), for what goes in the same."""
    known: dict[Any, Mask] = dict(zip(jaxpr.invars, inputs, strict=True))

    def of(variable: Any) -> Mask:
        shape = variable.aval.shape
        if math.prod(shape) * n > LARGEST:
            raise _TooLargeError
        constant = hasattr(variable, "val") or variable not in known
        return np.zeros((*shape, n), dtype=bool) if constant else known[variable]

    for equation in jaxpr.eqns:
        made = _made(equation, [of(variable) for variable in equation.invars], n)
        known.update(zip(equation.outvars, made, strict=True))
    return [of(variable) for variable in jaxpr.outvars]


def _made(equation: Any, given: list[Mask], n: int) -> list[Mask]:
    """What the results of one operation depend on."""
    name, params = equation.primitive.name, equation.params
    inner = params.get("jaxpr", params.get("call_jaxpr"))
    if name in {"jit", "pjit", "closed_call", "custom_jvp_call"} and inner is not None:
        return _outputs(getattr(inner, "jaxpr", inner), given, n)
    shapes = [variable.aval.shape for variable in equation.outvars]
    if name in ENTRY_BY_ENTRY:
        union = given[0]
        for other in given[1:]:
            union = union | other
        return [np.broadcast_to(union, (*shapes[0], n))]
    rule = _RULES.get(name)
    if rule is not None:
        return rule(given, params, shapes)
    everything = np.zeros(n, dtype=bool)
    for one in given:
        everything |= one.reshape(-1, n).any(axis=0)
    return [np.broadcast_to(everything, (*shape, n)) for shape in shapes]


def _slice(given: list[Mask], params: Any, _: Any) -> list[Mask]:
    steps = params["strides"] or (1,) * len(params["start_indices"])
    places = zip(params["start_indices"], params["limit_indices"], steps, strict=True)
    return [given[0][tuple(slice(*place) for place in places)]]


def _pad(given: list[Mask], params: Any, shapes: Any) -> list[Mask]:
    """Room around and between entries, and entries that are cut off."""
    made = np.broadcast_to(given[1], (*shapes[0], given[1].shape[-1])).copy()
    source, target = [], []
    for (low, _, between), size, room in zip(params["padding_config"], given[0].shape, shapes[0], strict=False):
        places = int(low) + np.arange(size) * (int(between) + 1)
        inside = np.flatnonzero((places >= 0) & (places < room))
        source.append(inside)
        target.append(places[inside])
    made[np.ix_(*target)] = given[0][np.ix_(*source)]
    return [made]


def _broadcast(given: list[Mask], params: Any, shapes: Any) -> list[Mask]:
    n, shape = given[0].shape[-1], [1] * len(shapes[0])
    for place, size in zip(params["broadcast_dimensions"], given[0].shape, strict=False):
        shape[place] = size
    return [np.broadcast_to(given[0].reshape(*shape, n), (*shapes[0], n))]


def _reshape(given: list[Mask], params: Any, shapes: Any) -> list[Mask]:
    """Another shape, of axes in another order where `dimensions` says so."""
    order, made = params.get("dimensions"), given[0]
    if order is not None:
        made = made.transpose(*order, made.ndim - 1)
    return [made.reshape(*shapes[0], made.shape[-1])]


def _split(given: list[Mask], params: Any, _: Any) -> list[Mask]:
    return list(np.split(given[0], np.cumsum(params["sizes"])[:-1], axis=params["axis"]))


_RULES: dict[str, Callable[[list[Mask], Any, Any], list[Mask]]] = {
    "slice": _slice,
    "pad": _pad,
    "broadcast_in_dim": _broadcast,
    "reshape": _reshape,
    "squeeze": lambda given, _, shapes: [given[0].reshape(*shapes[0], given[0].shape[-1])],
    "split": _split,
    "transpose": lambda given, params, _: [given[0].transpose(*params["permutation"], given[0].ndim - 1)],
    "rev": lambda given, params, _: [np.flip(given[0], params["dimensions"])],
    "concatenate": lambda given, params, _: [np.concatenate(given, axis=params["dimension"])],
    "reduce_sum": lambda given, params, _: [given[0].any(axis=params["axes"])],
}
