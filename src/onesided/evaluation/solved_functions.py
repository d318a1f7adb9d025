"""Functions of parameters that are solved for: values and slopes from outside, differentiable by JAX once."""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.evaluation.jax_process import prepare_jax

Solved = Callable[[Array], tuple[float, Array]]


def differentiable_once(solved: Solved, name: str) -> Callable[[Any], Any]:
    """A scalar function of a vector with the slopes that `solved` returns beside its value.

    Parameters
    ----------
    solved : (P,) → value and (P,) slopes.
    name : what a second derivative is refused for.
    """
    prepare_jax()
    known: dict[bytes, tuple[float, Array]] = {}

    def at(vector: Any) -> tuple[float, Array]:
        key = np.asarray(vector, dtype=np.float64)
        if key.tobytes() not in known:
            known.clear()
            known[key.tobytes()] = solved(key)
        return known[key.tobytes()]

    @jax.custom_jvp
    def value(vector: Any) -> Any:
        return _outside(lambda v: np.float64(at(v)[0]), (), vector)

    @jax.custom_jvp
    def slopes(vector: Any) -> Any:
        return _outside(lambda v: np.asarray(at(v)[1], dtype=np.float64), vector.shape, vector)

    @value.defjvp
    def _value_rule(primals: Any, tangents: Any) -> Any:
        return value(*primals), slopes(*primals) @ tangents[0]

    @slopes.defjvp
    def _slopes_rule(primals: Any, tangents: Any) -> Any:
        raise UsageError(f"`{name}` has no second derivatives", advice="differences of first ones")

    return value


def _outside(function: Callable[[Any], Any], shape: tuple[int, ...], vector: Any) -> Any:
    """Call plain Python from within JAX; directly where values are known, so that errors stay what they are."""
    if not isinstance(vector, jax.core.Tracer):
        return jnp.asarray(function(vector))
    shape_of: Any = jax.ShapeDtypeStruct
    return jax.pure_callback(function, shape_of(shape, jnp.float64), vector, vmap_method="sequential")


def stacked(values: Mapping[str, Any]) -> Any:
    """Named numbers, or what JAX has in their place, as one vector."""
    prepare_jax()
    return jnp.stack([_number(name, value) for name, value in values.items()]) if values else jnp.zeros(0)


def _number(name: str, value: Any) -> Any:
    try:
        found = jnp.asarray(value, dtype=jnp.float64)
    except (TypeError, ValueError, OverflowError):
        found = None
    if found is None or found.shape or (not isinstance(found, jax.core.Tracer) and not np.isfinite(found)):
        raise UsageError(f"parameter '{name}' is not a number", got=repr(value)[:80], expected="a finite number")
    return found
