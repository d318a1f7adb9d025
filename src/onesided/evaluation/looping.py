"""One function at several points in one compiled call: one after the other for tiny functions, else all at once.

Tiny functions take less time than handing them over, so that a loop is faster than operations on all points at once; it
is compiled as fast as for one point, and serves any number of points up to the most.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


def looped(function: Callable[..., Any], size: Callable[[], int]) -> Callable[..., Any]:
    """The function of (points (N, …), how many of them, …) for one of (point, …) that returns so many numbers."""

    def many(points: Any, count: Any, *rest: Any) -> Any:
        def step(state: tuple[Any, Any]) -> tuple[Any, Any]:
            i, rows = state
            k = i.astype(int)
            x = lax.dynamic_slice(points, (k, 0), (1, points.shape[1]))[0]
            return i + 1.0, lax.dynamic_update_slice(rows, function(x, *rest)[None], (k, 0))

        start = (jnp.zeros(()), jnp.zeros((len(points), size())))
        end: tuple[Any, Any] = lax.while_loop(lambda state: state[0] < count, step, start)
        return end[1]

    return many


def at_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same with operations on all points, however many of them count."""

    def many(points: Any, count: Any, *rest: Any) -> Any:
        del count
        return jax.vmap(lambda x: function(x, *rest))(points)

    return many
