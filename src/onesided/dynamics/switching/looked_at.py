"""Quantities of a motion that are looked at but not solved for: elongations, energy, places to draw."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from onesided.base.errors import ModelError
from onesided.base.types import Array
from onesided.results.sketch import Sketch

Measure = Callable[[Array, Array, Array], ArrayLike]  # t (N,), x (N, n), s (N, m) → (N,)


@dataclass(frozen=True, eq=False, kw_only=True)
class LookedAt:
    """Base of complementarity systems: what results hold beside states and forces, and how they are drawn.

    Attributes
    ----------
    measures : name → function of (t, x, s), such as an elongation or the energy.
    sketch : how to draw the system.
    labels : what pictures call quantities, with units: {"reaction guy": ("tension of the guy", "N")}.
    """

    measures: Mapping[str, Measure] = field(default_factory=dict, repr=False)
    sketch: Sketch | None = field(default=None, repr=False)
    labels: Mapping[str, tuple[str, str]] = field(default_factory=dict, repr=False)


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
