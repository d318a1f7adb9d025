"""What a running trace tells, piece by piece, and what it takes to start one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from onesided.base.progress import SILENT, Progress
from onesided.base.types import Array, Status
from onesided.results import Event
from onesided.statics.curves.curve import Curve, CurvePoint, CurvePoints
from onesided.statics.equilibria.place import Standpoint
from onesided.statics.tracing.hits import PathWatch
from onesided.statics.tracing.steps import PredictorCorrector


@dataclass(frozen=True)
class Origin:
    """What it takes to go on from a point along one of its rays."""

    where: Standpoint
    watch: PathWatch
    method: PredictorCorrector
    max_points: int | None = None
    max_events: int | None = None
    first_order: Any = None
    progress: Progress = SILENT


@dataclass(slots=True)
class PathItem:
    """One piece of news from a running trace: a point, with the event at it, or the end of the path."""

    curve: Curve
    point: CurvePoint
    degree: int
    event: Event | None = None
    status: Status | None = None
    note: str = ""

    def items(self) -> "tuple[PathItem]":
        """One by one, as of a `Passage`."""
        return (self,)

    @property
    def q(self) -> Array:
        """Configuration."""
        return self.point.x[: self.curve.n]

    @property
    def p(self) -> float:
        """Control parameter."""
        return float(self.point.x[self.curve.n])

    @property
    def lam(self) -> Array:
        """Reactions of the unilateral constraints."""
        return self.point.x[self.curve.n + 1 + self.curve.k :]


class Passage(NamedTuple):
    """Points in a row of a running trace at which there is no event."""

    curve: Curve
    points: CurvePoints
    degree: int

    def items(self) -> Iterator[PathItem]:
        """The points one by one."""
        return (PathItem(self.curve, self.points.point(i), self.degree) for i in range(len(self.points.s)))
