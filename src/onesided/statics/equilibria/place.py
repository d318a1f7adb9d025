"""A point with the states of its constraints and the scales that decide them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from onesided.base.errors import SolveError, UsageError
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array, Indices
from onesided.results import ConstraintStates
from onesided.statics.curves.activity import ConstraintScales, classify, constraint_scales, working_rows
from onesided.statics.curves.curve import Curve
from onesided.statics.curves.large import make_curve
from onesided.statics.equilibria.find_equilibrium import correct
from onesided.system.sizes import Sizes
from onesided.system.system import System


@dataclass(frozen=True)
class Standpoint:
    """A point with its active set and scales: where rays are asked for."""

    system: System
    x: Array
    active: ConstraintStates
    sizes: Sizes
    scales: ConstraintScales
    tolerances: Tolerances = DEFAULT

    @cached_property
    def strong(self) -> Indices:
        """Rows that are equations in every piece."""
        return working_rows(self.system, self.active)

    @cached_property
    def unit(self) -> Array:
        """Sizes of the packed unknowns (q, p, ν)."""
        return np.concatenate([self.sizes.length, [self.sizes.control], self.scales.multiplier])

    @cached_property
    def _curves(self) -> dict[tuple[int, ...], Curve]:
        return {}

    def curve(self, rows: Indices) -> Curve:
        """The curve with some constraints as equations; asked for once more it is the same, with what it knows."""
        key = tuple(rows.tolist())
        if key not in self._curves:
            self._curves[key] = make_curve(self.system, rows, self.sizes, self.scales)
        return self._curves[key]

    @cached_property
    def weak(self) -> Indices:
        """Rows of the weakly active constraints."""
        return len(self.system.bilateral) + self.active.weak


def place(system: System, x: Array, sizes: Sizes, tolerances: Tolerances = DEFAULT) -> Standpoint:
    """The point x with the states of its constraints."""
    e = system.evaluate_packed(x)
    scales = constraint_scales(e, sizes)
    return Standpoint(system, x, classify(system, e, x, scales, tolerances), sizes.at(x), scales, tolerances)


def place_near(system: System, q: Any, p: float, tolerances: Tolerances = DEFAULT) -> Standpoint:
    """The equilibrium near (q, p): checked and corrected first."""
    point = system.point(q)
    system.check_start(point, p)
    if p in system.control_kinks:
        raise UsageError(
            f"at {system.control} = {p:g} the model has a kink: derivatives differ on its two sides",
            advice=f"a value of {system.control} a little to one side",
        )
    sizes = system.sizes(point, p)
    found = correct(system, point, p, sizes=sizes, tolerances=tolerances)
    if not found.status.ok:
        raise SolveError("there is no equilibrium near this point", found, got=f"residual {found.residual:.3g}")
    return place(system, np.concatenate([found.q, [p], found.nu]), sizes, tolerances)
