"""One function at several points: by machine code of its own, one after the other in a compiled loop, or all at once.

Tiny functions take less time than handing them over to JAX: where their operations are a straight line, machine code
takes a tenth of that, for any number of points. Others are compiled as a loop, which takes as long as for one point and
serves any number up to the most; large functions are evaluated at all points at once.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from onesided.base.types import Array
from onesided.evaluation.compiling import Compiled
from onesided.evaluation.jax_process import Process, refuse_fork
from onesided.evaluation.native_tier import NativeTier


class TinyFunction:
    """A function of (point, constants, control) that returns a vector, at any number of points.

    Parameters
    ----------
    function : the control is not traced.
    in_a_loop : the same for (points, how many of them, constants, control), where it has no machine code.
    most : points of one call of that.
    """

    def __init__(self, function: Callable[..., Any], in_a_loop: Compiled, most: int) -> None:
        self._native: NativeTier | None = NativeTier(lambda: jax.jit(function, static_argnums=2), (2,))
        self._in_a_loop, self._most = in_a_loop, most

    def __call__(self, points: Array, vector: Any, control: Any) -> Array:
        """Values at the rows of `points`."""
        if Process.forked:
            refuse_fork()
        if self._native is not None:
            found = self._native((points, vector, control), rows=True)
            if found is not None:
                return found
            self._native = None
        return in_turn(self._in_a_loop, self._most, points, vector, control)


class LargeFunction:
    """The same for a function that is evaluated at all points at once, so many in a call."""

    def __init__(self, all_at_once: Compiled, most: int) -> None:
        self._all_at_once, self._most = all_at_once, most

    def __call__(self, points: Array, vector: Any, control: Any) -> Array:
        """Values at the rows of `points`."""
        return in_turn(self._all_at_once, self._most, points, vector, control)


def in_turn(function: Callable[..., Any], most: int, points: Array, *rest: Any) -> Array:
    """Values at the rows of `points`, at most so many in a call; the number of those that count is given."""
    found = []
    for i in range(0, len(points), most):
        count = min(most, len(points) - i)
        some = np.vstack([points[i : i + count], np.repeat(points[-1:], most - count, axis=0)])
        found.append(np.asarray(function(some, float(count), *rest))[:count])
    return np.vstack(found)


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
