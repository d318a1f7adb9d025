"""What every method of motion is, and the loop that follows any of them.

A method begins a run, a run goes on point by point and says at any time what it achieved. Two families have a contract
of their own below this one: smooth methods give a stepper (`smooth/smooth_motion.py`), those of complementarity systems
a run from switch to switch (`switching/switching_motion.py`); `begin` is written once for each family.
"""

from collections.abc import Callable, Iterator, Mapping, Sized
from dataclasses import asdict, dataclass, field
from functools import singledispatch
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

from onesided._version import __version__
from onesided.base.errors import SolveError, UsageError
from onesided.base.progress import Progress
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array, Status
from onesided.dynamics.multipliers import Rule
from onesided.evaluation.motion_terms import Control
from onesided.linalg import one_thread
from onesided.system.held import Sampled
from onesided.system.system import System

MAX_STEPS = 1_000_000
TELL = 16  # points between two reports of progress, after as many that are reported one by one
UserEvents = Mapping[str, Callable[[float, Array, Array], float]]


class AnyMotion(Protocol):
    """Result of a motion: points over time, with a status."""

    @property
    def status(self) -> Status:
        """Whether the end was reached, or why not."""

    @property
    def note(self) -> str:
        """What else is to be said."""

    @property
    def ok(self) -> bool:
        """Whether the end was reached and the recheck passed."""


Asks = TypeVar("Asks", contravariant=True)
Gives = TypeVar("Gives", bound=AnyMotion, covariant=True)
Found = TypeVar("Found", bound=AnyMotion)


class MotionRun(Protocol[Gives]):
    """A motion in progress.

    1. `items` goes on point by point, the start first, and yields the number of points so far; it ends when the motion
       has ended, for whatever reason, and raises nothing for numerical reasons.
    2. `state` is the point reached, with its time `t`; `events` is what happened so far (its number is reported).
    3. `status` and `note` say how the run ended; an interruption is written there from outside.
    4. `motion` gives what was found so far, rechecked, at any time.
    """

    status: Status
    note: str

    @property
    def state(self) -> Any:
        """The last point that was reached."""

    @property
    def events(self) -> Sized:
        """Events located so far, in the order of time."""

    def items(self) -> Iterator[int]:
        """Go on, point by point."""

    def motion(self) -> Gives:
        """What was found so far, rechecked."""


class MotionMethod(Protocol[Asks, Gives]):
    """A frozen dataclass with the knobs of one method."""

    def begin(self, request: Asks) -> MotionRun[Gives]:
        """Make a motion that can begin."""


@dataclass(frozen=True, eq=False)
class Request:
    """What a method is asked of a `System`: everything `simulate` was asked, completed and checked."""

    system: System
    q0: Any
    v0: Any
    first: float
    last: float
    control: float | Control | Sampled = 0.0
    force: Sampled | None = None
    multipliers: Rule | None = None
    events: UserEvents = field(default_factory=dict)
    stop: tuple[str, ...] = ()
    max_steps: int = MAX_STEPS
    tolerances: Tolerances = DEFAULT


@dataclass(frozen=True, eq=False)
class Wanted:
    """The arguments of `simulate` as they were given; None where nothing was said."""

    q0: Any = None
    v0: Any = None
    t_span: tuple[float, float] | None = None
    method: Any = None
    control: Any = None
    force: Sampled | None = None
    multipliers: Rule | None = None
    events: UserEvents | None = None
    stop: tuple[str, ...] = ()
    max_steps: int = MAX_STEPS
    tolerances: Tolerances = DEFAULT


def made_by(request: Request, method: Any, space: str) -> dict[str, Any]:
    """What a motion says of its making: method with its knobs, tolerances, version, parameters, space in words."""
    knobs = {name: getattr(method, name) for name in getattr(method, "__dataclass_fields__", {})}
    return {
        "verb": "simulate",
        "method": type(method).__name__,
        "knobs": {
            name: value if isinstance(value, float | int | type(None)) else str(value) for name, value in knobs.items()
        },
        "tolerances": asdict(request.tolerances),
        "version": __version__,
        "parameters": dict(request.system.parameters),
        "space": space,
    }


@runtime_checkable
class StateSystem(Protocol):
    """A complementarity system (`onesided.complementarity_systems`): a state x with its rate ẋ, pairs 0 ≤ s ⊥ w ≥ 0."""

    @property
    def n(self) -> int:
        """Number of states x."""

    @property
    def m(self) -> int:
        """Number of complementary pairs (s, w)."""

    def check_state(self, x0: Any) -> Array:
        """A start as an array (n,)."""

    def rate(self, t: float, x: Array, s: Array) -> Array:
        """The rate ẋ (n,) with the forces s (m,)."""

    def slack(self, t: float, x: Array, s: Array) -> Array:
        """Slacks w (m,) with the forces s (m,)."""


class Begun(NamedTuple, Generic[Found]):
    """A run, and what is said of its motion in the words of the system."""

    run: MotionRun[Found]
    worded: Callable[[Found], Found] = lambda motion: motion


@singledispatch
def begun(system: Any, wanted: Wanted) -> Begun[Any]:
    """Begin the motion of a system; every kind of system registers here."""
    raise UsageError(
        "this cannot be simulated", got=type(system).__name__, expected="a System or a complementarity system"
    )


def followed(begun: Begun[Found], progress: Progress, *, throw: bool) -> Found:
    """Follow a run to its end or to Ctrl-C: its motion, rechecked; a `SolveError` holding it where it failed."""
    run, points, told = begun.run, 0, (0, 0.0)
    progress.begin("simulate")
    try:
        with one_thread():
            for points in run.items():
                if points <= TELL or points % TELL == 0:
                    told = _told(run, points, told, progress)
        _told(run, points, told, progress)
    except KeyboardInterrupt:
        if points == 0:  # there is nothing yet
            raise
        run.status, run.note = Status.interrupted, f"Ctrl-C at t = {run.state.t:.10g}"
    finally:
        progress.end()
    motion = begun.worded(run.motion())
    if throw and not motion.ok:
        raise SolveError(motion.status.value, motion, got=motion.note)
    return motion


def _told(run: MotionRun[Any], points: int, last: tuple[int, float], progress: Progress) -> tuple[int, float]:
    """Report the point reached, with the mean step since the last report; the start is not reported."""
    count, t = points - last[0], run.state.t
    if points > 1 and count:
        progress.update(control=t, points=points, events=len(run.events), step=(t - last[1]) / count)
    return points, t


def each(run: MotionRun[Any]) -> Iterator[Any]:
    """The points of a run as they are found; a `SolveError` holding the last one where it failed."""
    for _ in run.items():
        yield run.state
    if not run.status.ok:
        raise SolveError(run.status.value, run.state, got=run.note)
