"""Events of a running trace: made where they are met, given out once the degree of instability beyond is known."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from onesided.base.types import Array
from onesided.results import Event, Kind, Rays
from onesided.statics.curves.curve import Curve, CurvePoint
from onesided.statics.equilibria.place import Standpoint
from onesided.statics.rays.naming import Named, with_another
from onesided.statics.tracing.inside import between
from onesided.statics.tracing.path_method import LegPosition, Origin, PathItem


class EventLog:
    """The last event, held back, and the degree of instability on the leg behind it.

    `degree` is None on a leg that starts at a singular point until its first regular one; `neutral` tells of a mode
    that is zero there. `events` counts those met so far.
    """

    def __init__(self, origin: Origin, position: LegPosition) -> None:
        self._origin, self._position = origin, position
        self._pending: PathItem | None = None
        self.degree: int | None = None
        self.neutral = False
        self.events = 0

    def release(self, after: int | None) -> Iterator[PathItem]:
        """Give out the last event with the degree of instability beyond it."""
        if self._pending is not None and self._pending.event is not None:
            self._pending.event = replace(self._pending.event, instability_after=after, neutral=self.neutral)
            yield self._pending
        self._pending = None

    def settle(self, c: CurvePoint, b: CurvePoint) -> Iterator[PathItem]:
        """Find the degree of instability on the way to c, where it is not known yet."""
        if self.degree is None:
            curve, a = self._position.curve, self._position.point
            middle = between(curve, a, c, 0.5) if c.s > a.s else b
            self.degree = middle.negative if middle is not None else c.negative
        yield from self.release(self.degree)

    def remember(self, named: Named, rays: Rays, where: Standpoint, c: CurvePoint, end: float) -> None:
        """Hold an event at c, met on a step that ends at arc length `end`."""
        curve, n, k = self._position.curve, where.system.n, len(where.system.bilateral)
        event = Event(
            kind=named.kind or Kind.idle,
            control=where.system.control,
            p=float(c.x[n]),
            q=c.x[:n],
            mu=c.x[n + 1 : n + 1 + k],
            lam=c.x[n + 1 + k :],
            constraints=named.constraints,
            instability_before=self.degree or 0,
            instability_after=None,
            rays=rays,
            incoming=named.incoming,
            followed=named.followed,
            bracket=(self._position.point.s, end),
            precision=_precision(curve, c),
            index=self._position.points,
            detail=named.detail,
            origin=replace(self._origin, where=replace(where)),  # without the curves that it knows
        )
        self._pending = PathItem(curve, c, self.degree or 0, event)

    def join_another(self) -> None:
        """Report the event that is held as one with another too close to it."""
        if self._pending is not None and self._pending.event is not None:
            self._pending.event = with_another(self._pending.event)


def _precision(curve: Curve, c: CurvePoint) -> float:
    """Relative residual of the equilibrium equations at a located point."""
    residual: Array = curve.residual(curve.evaluate(c.x))
    return float(np.max(np.abs(residual), initial=0.0))
