"""Piecewise linear laws: a force over a measure (elongation, angle) by points, with exact kinks or rounded ones.

With slopes k₀, k₁, … between the points and changes Δ = k_i − k_{i−1} at the inner points e_i, the force is that of the
first line plus Σ Δ max(e − e_i, 0). Every kink has an internal coordinate s ≥ 0, over which the energy is convex, and
its gap is the event: for Δ > 0 the energy is Δ/2 (e − e_i + s)², s the slack; for Δ < 0 it is |Δ| (s²/2 − (e − e_i) s),
s the way beyond the kink. The minimum over s ≥ 0 is Δ/2 max(e − e_i, 0)² in both cases.

A rounded kink is the mean of the force over a bell curve of deviation σ, a quarter of the width: smooth to all orders,
and the table itself where kinks are far. For x = (e − e_i)/σ its energy is Δ σ²/2 ((x² + 1) Φ(x) + x φ(x)).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import erf

from onesided.base.types import Array
from onesided.elements.contract import Element, Local, Quantity, Start, Words

Table = Sequence[Sequence[Quantity]]
NARROW = 0.25  # deviation of the bell curve, relative to the width over which a kink is rounded
NEITHER = Words("kink", "is passed", "is passed")
STIFFER = Words("kink", "is passed upwards", "is passed downwards")
SOFTER = Words("kink", "is passed downwards", "is passed upwards")


@dataclass(frozen=True)
class TableLaw:
    """A law by points (measure, force).

    Attributes
    ----------
    table : the points, the measure growing; beyond the ends the last lines go on.
    rounded : whether kinks are rounded, so that there are no events.
    moving : whether kinks have no coordinates, in motion.
    """

    table: Table
    rounded: bool = False
    moving: bool = False

    @property
    def shape(self) -> Hashable:
        """What distinguishes elements that cannot be evaluated together."""
        return len(self.table), self.rounded, self.moving

    @property
    def kinks(self) -> int:
        """How many kinks have a coordinate."""
        return 0 if self.rounded or self.moving else max(len(self.table) - 2, 0)

    def check(self, element: Element, start: Start, rounding: Quantity) -> None:
        """Points that make a function, with a kink at each inner one."""
        expected = "two points or more [[measure, force], …], the measure growing"
        pairs = np.iterable(self.table) and not isinstance(self.table, str)
        pairs = pairs and all(np.iterable(row) and not isinstance(row, str) for row in self.table)
        if not pairs or len(self.table) < 2 or any(len(row) != 2 for row in self.table):
            raise element.error("its `table` is not usable", got=str(self.table), expected=expected)
        points = self._points(start)
        if not np.all(np.isfinite(points)) or not np.all(np.diff(points[:, 0]) > 0):
            advice = "a vertical step is a stop: use coordinate_stop, distance_stop or angle_stop"
            raise element.error("its `table` is no function", got=str(self.table), expected=expected, advice=advice)
        if np.any(np.diff(self._slopes(points)) == 0.0):
            raise element.error("three points of its `table` are on one line", advice="leave the middle one out")
        if start.value(rounding) < 0.0:
            raise element.error("its `rounding` is negative", got=str(rounding), expected="a width in the measure")

    def _points(self, start: Start) -> Array:
        return np.array([start.vector(row) for row in self.table])

    @staticmethod
    def _slopes(points: Array) -> Array:
        return np.asarray(np.diff(points[:, 1]) / np.diff(points[:, 0]))

    def numbers(self, start: Start, rounding: Quantity) -> dict[str, Any]:
        """First point and slope, kinks, changes of the slope, width of the rounding."""
        points = self._points(start)
        slopes = self._slopes(points)
        first = np.array([*points[0], slopes[0]])
        own = {"first": first, "kinks": points[1:-1, 0], "changes": np.diff(slopes)}
        return own | {"rounding": start.value(rounding)}

    def inner(self, start: Start, value: float) -> dict[str, float]:
        """Coordinates of the kinks at a value of the measure."""
        numbers = self.numbers(start, 0.0)
        beyond = value - numbers["kinks"]
        values = np.maximum(np.where(numbers["changes"] > 0.0, -beyond, beyond), 0.0)
        return {f"kink{i + 1}": float(values[i]) for i in range(self.kinks)}

    @property
    def gap_names(self) -> tuple[str, ...]:
        """Endings of the names of the kinks."""
        return tuple(f"_kink{i + 1}" for i in range(self.kinks))

    def words(self, ending: str) -> Words:
        """How the event of a kink is reported."""
        if any(isinstance(x, str) for row in self.table for x in row):
            return NEITHER
        points = np.array(self.table, dtype=np.float64)
        change = np.diff(self._slopes(points))[int(ending.removeprefix("_kink")) - 1]
        return STIFFER if change > 0.0 else SOFTER

    def energy(self, value: Any, at: Local) -> Any:
        """The energy at a value of the measure."""
        n = at.n
        step = value - n.first[0]
        total = n.first[1] * step + n.first[2] / 2 * step**2
        for i in range(len(self.table) - 2):
            total = total + self._kink(value - n.kinks[i], n.changes[i], at, i)
        return total

    def _kink(self, beyond: Any, change: Any, at: Local, i: int) -> Any:
        if self.rounded:
            x = beyond / (NARROW * at.n.rounding)
            bell, share = jnp.exp(-(x**2) / 2) / jnp.sqrt(2 * jnp.pi), (1 + erf(x / jnp.sqrt(2.0))) / 2
            return change / 2 * (NARROW * at.n.rounding) ** 2 * ((x**2 + 1) * share + x * bell)
        if self.moving:
            return change / 2 * jnp.maximum(beyond, 0.0) ** 2
        s = at.inner[i]
        return jnp.where(change > 0.0, change / 2 * (beyond + s) ** 2, -change * (s**2 / 2 - beyond * s))
