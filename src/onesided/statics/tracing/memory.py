"""Models that remember: internal coordinates that may only grow (plastic elongations), and where they would fall."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy

from onesided.base.tolerances import Tolerances
from onesided.base.types import Array, Indices, Status
from onesided.results import Event
from onesided.statics.curves.curve import Curve, CurvePoint
from onesided.statics.tracing.inside import between, interpolate
from onesided.statics.tracing.path_method import PathItem, PathRun, items_of
from onesided.system.system import System

LOOKS = np.linspace(0.125, 1.0, 8)  # fractions of a step at which growth is looked at


def remember(system: System, q: Array) -> System:
    """The system with the values that its memory takes over from a configuration; they never fall."""
    if not system.history:
        return system
    values = {name: max(float(q[i]), system.parameters[name]) for name, i in system.history.items()}
    return system.replace(parameters=values)


@dataclass(frozen=True)
class Growth:
    """Watches a running trace: the leg ends where a coordinate of the memory would fall, for it cannot."""

    system: System
    tolerances: Tolerances

    def follow(self, run: PathRun) -> Iterator[PathItem]:
        """Items of a trace up to the point where growth stops; that point, and an item with the reason, come last."""
        rows = np.array(list(self.system.history.values()), dtype=np.intp)
        last, curve = run.first.point, run.first.curve
        ray = None
        for item in items_of(run):
            if not len(rows) or item.status is not None:
                yield item
                continue
            if item.curve is not curve and ray is not None:
                t = item.curve.scaled(ray.x_dot)
                last = replace(last, y=item.curve.scaled(last.x), t=t / np.sqrt(t @ t))
            curve = item.curve
            stop = self._stop(curve, last, item.point, rows)
            if stop is not None:
                yield PathItem(curve, stop, item.degree)
                yield self._end(curve, stop, item.degree)
                return
            yield item
            last, event = item.point, item.event
            if event is not None and event.followed is not None:
                ray = event.rays[event.followed]
                if self._falls(event, rows):
                    yield self._end(curve, last, item.degree)
                    return

    def _falls(self, event: Event, rows: Indices) -> bool:
        """Whether a coordinate falls along the ray on which the path leaves an event."""
        followed = event.followed
        if followed is None:
            return False
        rates = event.rays[followed].q_dot
        return bool(np.min(rates[rows]) < -self.tolerances.singularity * float(np.max(np.abs(rates))))

    def _end(self, curve: Curve, point: CurvePoint, degree: int) -> PathItem:
        return PathItem(curve, point, degree, status=Status.enough, note="plastic flow stops")

    def _stop(self, curve: Curve, a: CurvePoint, b: CurvePoint, rows: Indices) -> CurvePoint | None:
        """The first point of a step at which a coordinate stops growing; None where all grow or rest throughout."""
        if b.s <= a.s:
            return None
        low = -self.tolerances.singularity
        if np.min(b.t[rows]) >= low and np.all(self._slopes(a, b, rows) >= low):
            return None
        found: list[float] = []
        for row in rows:
            end = next((f for f in LOOKS if self._rate(curve, a, b, f, row) < low), None)
            if end is not None:
                rising = self._rate(curve, a, b, 0.0, row) > 0.0
                root = (
                    scipy.optimize.brentq(lambda f, i=row: self._rate(curve, a, b, f, i), 0.0, end) if rising else 0.0
                )
                found.append(float(root))
        if not found:
            return None
        return between(curve, a, b, min(found)) if min(found) > 0.0 else a

    def _rate(self, curve: Curve, a: CurvePoint, b: CurvePoint, fraction: float, row: int) -> float:
        if fraction in {0.0, 1.0}:
            return float((a if fraction == 0.0 else b).t[row])
        point = between(curve, a, b, fraction, inertia=False)
        return float(point.t[row]) if point is not None else 0.0

    def _slopes(self, a: CurvePoint, b: CurvePoint, rows: Indices) -> Array:
        """Growth between the points that interpolation puts into the step."""
        y = np.array([interpolate(a, b, f)[rows] for f in (0.0, *LOOKS)])
        return np.asarray(np.diff(y, axis=0) / (b.s - a.s))
