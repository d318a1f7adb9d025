"""How much p must change to matter: it changes forces, gaps, or the stiffness as the system gives way.

A system may give way along a curved valley between stiff walls. A straight move climbs these, and their forces are a
stiffness of their own, which the system itself never has: what is stiff is let down into the valley first, and soft
modes are compared as they are with stiff ones free to follow.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from onesided.base.tolerances import EPS, ROUNDING
from onesided.base.types import Array
from onesided.evaluation.equilibrium_blocks import Evaluation
from onesided.system.crossing import CHANGE, FAR, first_crossing

if TYPE_CHECKING:  # sizes are made with that of p
    from onesided.system.sizes import Probe, Sizes

RESOLVED = EPS**0.4  # share of p: changes of p are not smaller where nothing else gives them a size
STIFF = 30.0  # times the softest mode: walls of a valley
CLOSE = 0.25  # scaled distance within which stiff modes are let down; further away the valley itself has turned
ROUNDS = 8  # of letting them down, with the stiffness of the usual state
LESS = 0.25  # share of the change on a straight move above which that is not due to walls


def size_of_control(way: "GivingWay") -> float:
    """The change of p that matters at a point, as the system gives way from there.

    Stiffness is measured by that of the usual state: at the point itself it may nearly vanish. Loads that do not grow
    for ever, sin(p), may never matter so much: then it is what they would take as they begin.
    """
    found = first_crossing(way.change, abs(way.p) or 1.0)
    walls = None if found is None else way.walls
    if found is not None and walls is not None and walls.change(found) < LESS * way.change(found):
        found = first_crossing(walls.change, found)
    found = found or abs(way.p) or 1.0
    rate = max(greatest(way.e.L_qp / way.sizes.force), greatest(ratios(way.e.c_p, way.gaps)))
    if CHANGE < rate * found / FAR < math.inf:
        found = CHANGE / rate
    return float(max(found, RESOLVED * abs(way.p)))


@dataclass(frozen=True, eq=False)
class GivingWay:
    """What p changes at (q, p), as the system stands still and as it moves as a usual state of it does.

    Attributes
    ----------
    e, usual : blocks at the point, and of a state of usual stiffness.
    """

    evaluate: "Probe"
    e: Evaluation
    usual: Evaluation
    q: Array
    p: float
    sizes: "Sizes"

    @cached_property
    def gaps(self) -> Array:
        """Sizes of gaps, (m,)."""
        return self.e.gap_sizes(self.sizes.length)

    @cached_property
    def response(self) -> Array:
        """Displacement per unit of p, (n,)."""
        return self.usual.response(self.sizes.length, self.sizes.energy)

    @cached_property
    def _stiffened(self) -> Callable[[Evaluation], float]:
        return self.usual.stiffness_change(self.sizes.length, self.e)

    def change(self, step: float) -> float:
        """The largest change where p has changed by a step, in either sense."""
        q, moved, loads = self.q, step * self.response, (self.p + step, self.p - step)
        still, moving = self.evaluate.in_pairs((q, q), (q + moved, q - moved), loads)
        found = max(max(self.pushed(other), self._stiffened(other)) for other in still)
        if found < FAR * CHANGE and moved.any():
            found = max(found, *(max(self._stiffened(other), self.turned(other)) for other in moving))
        return found

    def beside(self, step: float) -> list[Evaluation]:
        """Blocks for p as it is and changed by a step in either sense."""
        return [self.e, *(self.evaluate(self.q, load) for load in (self.p - step, self.p + step))]

    def pushed(self, other: Evaluation) -> float:
        """Change of forces and gaps."""
        return max(
            greatest((other.L_q - self.e.L_q) / self.sizes.force), greatest(ratios(other.c - self.e.c, self.gaps))
        )

    def turned(self, other: Evaluation) -> float:
        """Change of the directions of constraints."""
        return greatest(ratios(self.e.turning(other, self.sizes.length), self.gaps))

    @cached_property
    def walls(self) -> "Walls | None":
        """Modes of the usual state that are stiff beside others; None where there are none, or for large systems."""
        if self.evaluate.derivatives.large:
            return None
        values, modes = np.linalg.eigh(self.usual.scaled_hessian(self.sizes.length))
        size = np.abs(values)
        clear = size > ROUNDING * float(np.max(size, initial=0.0))
        stiff = size > STIFF * float(np.min(size[clear], initial=math.inf))
        unit = modes / np.sqrt(np.where(clear, size, 1.0))
        return Walls(self, unit[:, clear & ~stiff], unit[:, stiff]) if stiff.any() else None


@dataclass(frozen=True, eq=False)
class Walls:
    """Soft and stiff modes of the usual state, columns of scaled displacements of length one by its stiffness."""

    way: GivingWay
    soft: Array
    stiff: Array

    def change(self, step: float) -> float:
        """The largest change where p has changed by a step, in either sense, and stiff modes have followed."""
        way, moved = self.way, step * self.way.response
        found = 0.0
        for sense in (1.0, -1.0):
            load = way.p + sense * step
            found = max(found, way.pushed(way.evaluate(way.q, load)))
            for start in (way.q, way.q + sense * moved):
                other = self.let_down(start, load)
                found = math.inf if other is None else max(found, self._stiffened(other), way.turned(other))
            if not found < FAR * CHANGE:
                break
        return found

    def let_down(self, q: Array, p: float) -> Evaluation | None:
        """The blocks near q where stiff modes are in balance as they were; None where that is not close."""
        length, start = self.way.sizes.length, q
        for _ in range(ROUNDS):
            e = self.way.evaluate(q, p)
            back = -self.stiff @ (self.stiff.T @ ((e.L_q - self.way.e.L_q) * length))
            q = q + length * back
            away = (q - start) / length
            if not away @ away <= CLOSE**2:
                return None
            if back @ back <= EPS * EPS:
                break
        return e if e.finite() else None

    def _stiffened(self, other: Evaluation) -> float:
        """The largest change of a stiffness relative to the usual one."""
        with np.errstate(invalid="ignore", over="ignore"):
            changes = [there - here for there, here in zip(self._condensed(other), self._usual, strict=True)]
        if not all(np.isfinite(one).all() for one in changes):
            return math.inf
        return max(float(abs(np.linalg.eigvalsh(one)).max()) for one in changes if one.size)

    @cached_property
    def _usual(self) -> tuple[Array, Array]:
        return self._condensed(self.way.e)

    def _condensed(self, e: Evaluation) -> tuple[Array, Array]:
        """Stiffness of the soft modes with the stiff ones free to follow, and that of the stiff ones."""
        K = e.scaled_hessian(self.way.sizes.length)
        stiff, coupled = self.stiff.T @ K @ self.stiff, self.soft.T @ K @ self.stiff
        try:
            followed = coupled @ np.linalg.solve(stiff, coupled.T)
        except np.linalg.LinAlgError:
            followed = np.full((len(coupled), len(coupled)), math.inf)
        return self.soft.T @ K @ self.soft - followed, stiff


def ratios(values: Array, sizes: Array) -> Array:
    """Values relative to their sizes, zero where the size is."""
    return np.divide(values, sizes, out=np.zeros_like(values), where=sizes > 0)


def greatest(values: Array) -> float:
    """Largest absolute value; what is not finite counts as infinitely large."""
    size = float(abs(values).max()) if values.size else 0.0
    return size if math.isfinite(size) else math.inf
