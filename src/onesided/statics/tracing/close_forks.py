"""Singular points closer to each other than steps can tell apart: found by their modes, reported as one."""

from onesided.base.tolerances import Tolerances
from onesided.statics.curves.curve import CurvePoint
from onesided.statics.tracing.event_log import EventLog
from onesided.statics.tracing.path_method import LegPosition
from onesided.statics.tracing.singular import modes_beyond


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
