"""Quantities of a motion that are looked at but not solved for: elongations, energy, places to draw."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from onesided.base.errors import ModelError
from onesided.base.types import Array

Measure = Callable[[Array, Array, Array], ArrayLike]  # t (N,), x (N, n), s (N, m) → (N,)


def evaluated(measures: Mapping[str, Measure], t: Array, x: Array, s: Array) -> dict[str, Array]:
    """Values of every measure along a motion, (N,) each."""
    found = {}
    for name, measure in measures.items():
        values = np.asarray(measure(t, x, s), dtype=float)
        if values.shape not in {(), t.shape}:
            raise ModelError(
                f"measure '{name}' gives no number for each point", got=f"shape {values.shape}", expected=str(t.shape)
            )
        found[name] = np.broadcast_to(values, t.shape)
    return found
