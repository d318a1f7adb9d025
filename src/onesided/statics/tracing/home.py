"""Closed paths: whether a path has come back to its start."""

from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from onesided.base.tolerances import EPS, Tolerances
from onesided.base.types import Array
from onesided.statics.curves.curve import Curve, CurvePoint, Plane, newton
from onesided.statics.tracing.inside import between, interpolate


@dataclass(frozen=True)
class Home:
    """The start of a path, which may be met again on a leg with other scales."""

    curve: Curve
    point: CurvePoint
    tolerances: Tolerances
    _known: list[Any] = field(default_factory=lambda: [None, None], init=False, repr=False)  # of the last leg asked for

    def on(self, curve: Curve) -> tuple[Array, Array] | None:
        """Start and direction in the scaled variables of a leg; None where that is on another piece."""
        if self._known[0] is not curve:
            self._known[:] = curve, self._seen_from(curve)
        return cast("tuple[Array, Array] | None", self._known[1])

    def _seen_from(self, curve: Curve) -> tuple[Array, Array] | None:
        if tuple(curve.rows) != tuple(self.curve.rows):
            return None
        t = curve.scaled(self.curve.packed(self.point.t))
        return curve.scaled(self.point.x), t / np.sqrt(t @ t)

    def between(self, curve: Curve, a: CurvePoint, b: CurvePoint) -> CurvePoint | None:
        """The start, if the way from a to b leads through it in the direction in which it was left."""
        here, h = self.on(curve), b.s - a.s
        if here is None or h <= 0.0:
            return None
        home, along = here
        ahead = float(a.t @ (home - a.y))
        if not 0.0 <= ahead <= h or float(b.t @ along) < 0.5:
            return None
        if float(abs(interpolate(a, b, ahead / h) - home).max()) > h:  # it passes by
            return None
        near = between(curve, a, b, ahead / h)
        found = near and newton(curve, near.y, Plane(along, float(along @ home)), target=EPS, limit=8, reach=h)
        if not found or not found.converged or not self.same(found.y, home):
            return None
        return replace(self.point, y=home, t=along, s=a.s + ahead, negative=b.negative)

    def is_at(self, curve: Curve, point: CurvePoint) -> bool:
        """Whether a path goes on from an event as it did from its start."""
        here = self.on(curve)
        return here is not None and self.same(point.y, here[0]) and float(point.t @ here[1]) > 0.9

    def same(self, y: Array, home: Array) -> bool:
        """Whether two scaled points are one."""
        return bool(np.max(np.abs(y - home)) <= np.sqrt(self.tolerances.singularity))
