"""Events of a running trace: made where they are met, given out once the degree of instability beyond is known.

Singular points closer to each other than steps can tell apart are found by their modes and reported as one.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from onesided.base.tolerances import Tolerances
from onesided.base.types import Array
from onesided.results import Event, Kind, Rays
from onesided.statics.curves.curve import Curve, CurvePoint
from onesided.statics.equilibria.place import Standpoint
from onesided.statics.rays.naming import Named, with_another
from onesided.statics.tracing.inside import between
from onesided.statics.tracing.path_method import LegPosition, Origin, PathItem
from onesided.statics.tracing.singular import modes_beyond


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


class CloseForks:
    """Watches for a second singular point beside the one at which a leg starts or ends.

    `_expected` is the degree of instability just beyond the start of the leg, by its rate; `_refused` is the end of a
    first step to where it is another one.
    """

    def __init__(self, position: LegPosition, log: EventLog, tolerances: Tolerances) -> None:
        self._position, self._log, self._tolerances = position, log, tolerances
        self._expected: int | None = None
        self._refused: CurvePoint | None = None

    def leave(self) -> None:
        """Begin a leg of which nothing is known."""
        self._expected = self._refused = None

    def expect(self) -> None:
        """Begin a leg at a singular point, with what its modes should be just beyond."""
        position = self._position
        self._expected = modes_beyond(position.curve, position.point.x, position.point.t, self._tolerances)

    def passed(self, b: CurvePoint) -> bool:
        """Whether the first step from a singular point leads past another one; one that is too close belongs to it."""
        if self._expected in {None, b.negative} or b.negative < 0 or self._log.degree is not None:
            return False
        self._refused = self._refused or b
        if b.s - self._position.point.s > self._position.first_step**4:
            return True
        self.join()
        return False

    def arrive(self, c: CurvePoint, b: CurvePoint) -> None:
        """Report a singular point c as one with another just before it, where there is another degree."""
        curve, point = self._position.curve, self._position.point
        if curve.large or point.negative < 0:
            return
        if modes_beyond(curve, c.x, -c.t, self._tolerances) not in {None, self._log.degree}:
            self._refused = b
            self.join()

    def join(self) -> CurvePoint | None:
        """Report the last singular point and the next as one; the first step past both of them."""
        b, self._refused, self._expected = self._refused, None, None
        if b is not None:
            self._log.join_another()
        return b
