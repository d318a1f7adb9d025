"""The functions that formulas may call, in `jax.numpy`."""

from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp

from onesided.formulas.rotating import turned

Table = Mapping[str, Callable[..., Any]]


def jax_functions() -> Table:
    """Return the functions of formulas in `jax.numpy`.

    Notes
    -----
    `hypot` is the plain root: `jnp.hypot` goes through max and min, and its second derivatives are wrong on
    the diagonals |x| = |y|.
    """
    inverse = {"asin": jnp.arcsin, "acos": jnp.arccos, "atan": jnp.arctan, "atan2": jnp.arctan2}
    same = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "exp", "log", "abs")
    return {
        **{name: getattr(jnp, name) for name in same},
        **inverse,
        "hypot": lambda x, y: jnp.sqrt(x * x + y * y),
        **turned(jnp),
    }
