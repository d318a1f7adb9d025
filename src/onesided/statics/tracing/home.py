"""The start of a path: whether it has come back to it, or is too far away."""

from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from onesided.base.tolerances import EPS, Tolerances
from onesided.base.types import Array
from onesided.statics.curves.curve import Curve, CurvePoint, CurvePoints, Plane, newton
from onesided.statics.tracing.inside import between, interpolate

FAR = EPS**-0.75  # scaled distance from its start beyond which a path is no longer followed


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

    def is_far(self, y: Array) -> bool:
        """Whether a scaled point has left the reach of numbers, in its place or in its reactions."""
        start = self.point.y[: self.curve.n + 1]
        moved, reactions = abs(y[: len(start)] - start), abs(y[len(start) :])
        return bool(max(moved.max(), reactions.max(initial=0.0)) > FAR)

    def until(self, curve: Curve, points: CurvePoints, first: int, last: int) -> int:
        """Number of the first of these points that is far away or on a step past the start of the path, or `last`."""
        start, before = self.point.y[: self.curve.n + 1], slice(first - 1, last - 1)
        special = abs(points.y[first:last, : len(start)] - start).max(axis=1) > FAR
        home = self.on(curve)
        if home is not None:
            to_home = ((home[0] - points.y[before]) * points.t[before]).sum(axis=1)
            special |= (to_home >= 0) & (to_home <= points.s[first:last] - points.s[before])
        return first + int(special.argmax()) if special.any() else last
