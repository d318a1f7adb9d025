"""The functions that formulas may call, in NumPy and in `jax.numpy`."""

from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from onesided.formulas.rotating import turned

Table = Mapping[str, Callable[..., Any]]
_RENAMED = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "max": "maximum",
    "min": "minimum",
}
_SAME = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "exp", "log", "abs")
NUMPY: Table = {
    **{name: getattr(np, name) for name in (*_SAME, "hypot")},
    **{name: getattr(np, theirs) for name, theirs in _RENAMED.items()},
    **turned(np),
}


def jax_functions() -> Table:
    """Return the functions of formulas in `jax.numpy`.

    Notes
    -----
    `hypot` is the plain root: `jnp.hypot` goes through max and min, and its second derivatives are wrong on
    the diagonals |x| = |y|.
    """
    return {
        **{name: getattr(jnp, name) for name in _SAME},
        **{name: getattr(jnp, theirs) for name, theirs in _RENAMED.items()},
        "hypot": lambda x, y: jnp.sqrt(x * x + y * y),
        **turned(jnp),
    }
