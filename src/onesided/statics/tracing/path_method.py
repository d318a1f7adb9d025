"""What a path method is: where a trace starts, what it gives piece by piece, and what moves it on.

A method begins a run along a ray, a run goes on piece by piece. Methods that go step by step write a `PathStepper`
only: `trace.Tracer` looks for events on the way from point to point, names and leaves them (`docs/extend/path.md`).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from onesided.base.errors import UsageError
from onesided.base.progress import SILENT, Progress
from onesided.base.tolerances import Tolerances
from onesided.base.types import Array, Status
from onesided.results import Event, Ray
from onesided.statics.curves.corrections import Plane, make_point, newton
from onesided.statics.curves.curve import Curve, CurvePoint, CurvePoints
from onesided.statics.curves.large import DENSE_ADVICE
from onesided.statics.equilibria.place import Standpoint
from onesided.statics.tracing.cells import ControlCell
from onesided.statics.tracing.hits import Located, PathWatch
from onesided.system.system import System

POINT_LIMIT = 20_000  # points of a path that nothing else ends
NEWTON = 8  # corrections of a predicted point
FIRST_STEP = 0.01  # arc length in scaled units
COMPILE_AFTER = 4000  # points from which on many are made by one compiled call: single ones take 0.1 to 0.3 ms


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
        """Coordinates of the point, (n,), without multipliers and p."""
        return self.point.x[: self.curve.n]

    @property
    def p(self) -> float:
        """Value of the control parameter."""
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


class PathRun(Protocol):
    """A trace in progress: its start, and what follows until something ends the path; the last item has the status.

    It raises nothing for numerical reasons. Points need not be right: all of them are rechecked from the model.
    """

    @property
    def first(self) -> PathItem:
        """The start, on the leg along which it is left."""

    def pieces(self) -> Iterable[PathItem | Passage]:
        """Points and events in order; the start is not among them."""


def items_of(run: PathRun) -> Iterator[PathItem]:
    """The pieces of a run one by one."""
    return (item for piece in run.pieces() for item in piece.items())


class PathMethod(ABC):
    """A way to trace a path: a frozen dataclass with its knobs, which begins a run."""

    @abstractmethod
    def begin(self, origin: "Origin", ray: Ray) -> PathRun:
        """A run from an origin along one of its rays."""

    def refuse(self, system: System) -> None:
        """Raise a `UsageError` for systems that the method is not for: by default large ones and kinks of p."""
        name = type(self).__name__
        if system.derivatives.large:
            raise UsageError(f"`{name}` is for small systems", got=f"{system.n} coordinates", advice=DENSE_ADVICE)
        if system.control_kinks:
            raise UsageError(f"`{name}` is for smooth loadings", got=f"kinks of {system.control}", advice="the default")

    def accuracy(self, asked: Tolerances) -> Tolerances:
        """What the recheck asks of the points."""
        return asked

    def shortened(self, share: float) -> "PathMethod | None":
        """The same with steps this share as long, for paths that contradict theory; None: they are not traced again."""
        return None

    def compiles(self, points: int) -> bool:
        """Whether a path of so many points is long enough to pay for compiled functions of many points."""
        return points >= COMPILE_AFTER


@dataclass(frozen=True)
class Origin:
    """What it takes to go on from a point along one of its rays."""

    where: Standpoint
    watch: PathWatch
    method: PathMethod
    max_points: int | None = None
    max_events: int | None = None
    progress: Progress = SILENT

    @property
    def most(self) -> int:
        """Number of points after which the path ends."""
        return self.max_points or POINT_LIMIT

    def begin(self, ray: Ray) -> PathRun:
        """A run along a ray by the method."""
        return self.method.begin(self, ray)


class LegPosition:
    """Where a path is: the point reached on its present leg.

    `points` counts those of the path so far, `step` is the length of the step to be tried next: an event may ask for
    another one. `cell` holds the kinks of p around it, where there are any. `located` is what is known to happen on the
    way to the next point, `gap_sizes` are the sizes of gaps there, where they are known.
    """

    curve: Curve
    point: CurvePoint
    cell: ControlCell | None = None
    located: Located | None = None
    gap_sizes: Array | None = None

    def __init__(self, first_step: float = FIRST_STEP) -> None:
        self.first_step = self.step = first_step
        self.points = 0

    def leave(self, curve: Curve, point: CurvePoint, landing: Array | None) -> None:
        """Begin a leg; `landing`, where it is known, is a scaled point of it close to its start."""
        self.curve, self.point = curve, point

    def move(self, b: CurvePoint) -> None:
        """Go on from b, the end of a step that was accepted."""
        self.point = b

    def measure(self, curve: Curve, point: CurvePoint) -> None:
        """Stay where it is with other measures of gaps."""
        self.curve, self.point = curve, point

    def forget(self) -> None:
        """Drop points ahead that are not taken yet."""

    def calm(self, until: Callable[[CurvePoints, int, int], int]) -> tuple[CurvePoints, Array] | None:
        """Points ahead on the way to which nothing happens, taken at once, with the sizes of gaps at the last.

        `until` gives, of points from one number to another, the first that is to be looked at; None: there are none.
        """
        return None


class PathStepper(LegPosition, ABC):
    """A position that makes its own next point; `blind` says that the model had no finite values ahead of it."""

    blind: bool = False

    @abstractmethod
    def advance(self) -> CurvePoint | None:
        """The next point of the leg, corrected, with its tangent oriented along the path; None where no step succeeds.

        The position stays where it is: events on the way to the new point come first. It is not beyond a kink of p.
        """

    def corrected(self, y: Array, *, target: float, reach: float = math.inf) -> CurvePoint | None:
        """The point of the curve in the plane through y across the last tangent, by Newton's method from y.

        `target` is the scaled residual that is asked for, `reach` the longest correction. None where it fails.
        """
        a = self.point
        found = newton(self.curve, y, Plane(a.t, float(a.t @ y)), target=target, limit=NEWTON, reach=reach)
        if not found.converged:
            return None
        move = found.y - a.y
        b = make_point(self.curve, found, a.t, a.s + math.sqrt(move @ move))
        b.sense = b.sense or a.sense
        return b
