"""Motion without contacts that open and close: steps of a stepper, watched for events, rechecked."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.tolerances import Tolerances
from onesided.base.types import Array, Status
from onesided.dynamics.between import dips, words
from onesided.dynamics.consistent import consistent
from onesided.dynamics.contacts.lift_off import lift_offs
from onesided.dynamics.contacts.surface_events import check_outlines_at, check_surfaces_at, surface_events
from onesided.dynamics.contracts import check_contracts
from onesided.dynamics.feedback import FeedbackError, Pace
from onesided.dynamics.mechanics import Mechanics, MotionState
from onesided.dynamics.monitors import Arrays, recheck, stack, status_after, verdict
from onesided.dynamics.motion_run import Request, made_by
from onesided.dynamics.smooth.servo import ServoMechanics
from onesided.dynamics.smooth.stepper import Stepper
from onesided.dynamics.smooth.strides import Strides
from onesided.dynamics.watching.forcing import Forcing
from onesided.dynamics.watching.watch import MotionWatch
from onesided.results import Drift, Motion, MotionEvent
from onesided.system.equations import Equations
from onesided.system.held import Sampled
from onesided.system.system import System

ENERGY_FACTOR = 1e4  # energy may be off by so many times the tolerance of one step


class SmoothMethod(ABC):
    """A method is its knobs; `start` makes a stepper of it.

    `servo` says whether its steppers follow servo conditions; `drifts` are the levels (fields of `Drift`) at which
    constraints are met to the accuracy of the steps only.
    """

    servo: ClassVar[bool] = False

    @property
    def drifts(self) -> tuple[str, ...]:
        """None of them, unless a method says so."""
        return ()

    @abstractmethod
    def start(self, mechanics: Mechanics, state: MotionState, t_end: float) -> Stepper:
        """Begin at a consistent state."""

    def begin(self, request: Request) -> "SmoothMotion":
        """Make a motion that can begin."""
        return SmoothMotion(request, self)


class SmoothMotion:
    """One motion in progress: a consistent start, a stepper, and a watch for events."""

    def __init__(self, request: Request, method: SmoothMethod) -> None:
        system, first = request.system, request.first
        _check_servo(request, method)
        self.request, self.method, self.t_end = request, method, request.last
        kind = ServoMechanics if system.servo else Mechanics
        equations = Equations(system, request.control, held=request.force is not None)
        self.mechanics = kind(equations, request.multipliers, request.tolerances)
        self.pace = Pace(equations, request.control, request.force, first, self.t_end)
        check_outlines_at(system, request.q0)
        state, self.start = consistent(self.mechanics, first, request.q0, request.v0, self.t_end - first)
        check_contracts(equations, state.t, state.q, state.v, self.mechanics.sizes.q)
        check_surfaces_at(system, state.q)
        if self.pace.sampled:
            state = _settled(self.mechanics, self.pace.begin(state))
        self.stepper = method.start(self.mechanics, state, self.t_end)
        self.watch = MotionWatch(self.stepper, request.events, request.stop, self.t_end - first)
        self.states, self.status, self.note = [self.stepper.state], Status.finished, ""

    @property
    def state(self) -> MotionState:
        """The last point that was reached."""
        return self.states[-1]

    @property
    def events(self) -> list[MotionEvent]:
        """What the watch found so far."""
        return self.watch.found

    def items(self) -> Iterator[int]:
        """Steps until the end, an event that stops, or a failure: the number of points so far."""
        yield len(self.states)
        forcing = Forcing(self.mechanics.equations, self.t_end - self.state.t)
        quiet = self.watch.quiet and not forcing.changes and not self.pace.sampled
        strides = Strides(self.stepper, self.t_end, quiet=quiet)
        number, most = 0, self.request.max_steps
        while number < most:
            if strides.may_stride(number):
                for state in strides.stride(number, most):
                    number += 1
                    yield self._keep(state)
                if self.stepper.state.t >= self.t_end or number >= most:
                    break
            number += 1
            yield self._step(forcing)
            if self.status is not Status.finished or self.state.t >= self.t_end:
                return
            if self.pace.sampled and self.state.t >= self.pace.until():
                try:
                    self._feed_back()
                except FeedbackError as error:
                    yield self._keep(self.state, Status.feedback_failed, str(error))
                    return
                yield self._keep(self.stepper.state)
        if self.state.t < self.t_end:
            yield self._keep(self.state, Status.max_iterations, f"{most} steps were not enough")

    def _step(self, forcing: Forcing) -> int:
        """One step, looked at: the number of points so far."""
        stepper = self.stepper
        with np.errstate(over="ignore", invalid="ignore"):  # steps that are too long are tried and given up
            before, failed = forcing.step(stepper, self.pace.until())
        if failed is not None:
            return self._keep(stepper.state, failed, stepper.note)
        self.mechanics.sizes.grow(stepper.state.q, stepper.state.v)
        halt = self.watch.look(before, stepper.state)
        if halt is not None:
            return self._keep(*halt)
        return self._keep(stepper.state, note=forcing.words if stepper.state.t >= self.t_end else "")

    def _keep(self, state: MotionState, status: Status = Status.finished, note: str = "") -> int:
        self.states.append(state)
        self.status, self.note = status, note
        return len(self.states)

    def _feed_back(self) -> None:
        """The next sample: a stepper that starts with what it gave."""
        last = self.stepper
        now = _settled(self.mechanics, self.pace.sample(last.state))
        self.stepper = self.method.start(self.mechanics, now, self.t_end)
        self.stepper.evaluations, self.stepper.rejected = last.evaluations, last.rejected

    def motion(self) -> Motion:
        """What was found so far, rechecked."""
        self.watch.tell_dip()
        return _collected(self)


def _check_servo(request: Request, method: SmoothMethod) -> None:
    if not request.system.servo:
        return
    if not method.servo:
        raise UsageError("servo conditions need another method", got=repr(method), expected="Projected()")
    if request.force is not None or isinstance(request.control, Sampled):
        raise UsageError("servo conditions and feedback do not go together", advice="a controller that meets them")


def _settled(mechanics: Mechanics, state: MotionState) -> MotionState:
    """The state with the accelerations and multipliers of the values that are held now."""
    return replace(mechanics.settle(state.t, state.q, state.v, state.mu).state, work=state.work)


def _collected(run: SmoothMotion) -> Motion:
    """States to a rechecked `Motion`."""
    mechanics, points = run.mechanics, stack(run.states)
    keep = np.append(np.diff(points.t) > 0, True)
    points = type(points)(*(values[keep] for values in points))
    drift, found = recheck(mechanics, points)
    wrong = _wrong(run, points, drift)
    system = mechanics.equations.system
    loose = tuple(mechanics.equations.names[i] for i in mechanics.loose)
    notes = [text for text in (run.start.words(), mechanics.words, run.note, run.watch.words, wrong) if text]
    p, p_dot = mechanics.equations.control_along(points.t)
    members = system.members(points.q, p, _multipliers(system, points.mu), (points.v, points.a, p_dot))
    told = (*run.events, *lift_offs(mechanics, run.states), *surface_events(system, mechanics.equations.space, points))
    return Motion(
        coordinates=system.coordinates,
        bilateral=tuple(system.bilateral),
        nonholonomic=tuple(system.nonholonomic),
        unilateral=tuple(system.unilateral),
        servo=tuple(system.servo),
        control=system.control,
        t=points.t,
        q=points.q,
        v=points.v,
        a=points.a,
        mu=points.mu,
        lam=np.zeros((len(points.t), len(system.unilateral))),
        u=points.u,
        p=p,
        energy=found.energy,
        work=points.work,
        drift=drift,
        events=tuple(sorted(told, key=lambda event: event.t)),
        status=status_after(run.status, wrong),
        note="; ".join(notes),
        start=run.start,
        not_unique=tuple(dict.fromkeys((*run.start.redundant, *loose))),
        space=mechanics.equations.space,
        provenance=_provenance(run),
        measures=system.measured(points.q, p, members),
        members=members,
        sketch=system.sketch,
    )


def _wrong(run: SmoothMotion, points: Arrays, drift: Drift) -> str:
    """What speaks against the motion: constraints or energy that drift, gaps that were passed."""
    mechanics = run.mechanics
    drifted = verdict(mechanics, drift, _energy_limit(mechanics.tolerances, run.method), run.method.drifts)
    none = np.zeros((len(points.t) - 1, len(mechanics.equations.system.unilateral)), dtype=bool)
    passed = words(mechanics.equations, dips(mechanics.equations, points, none, smooth=True))
    return "; ".join(text for text in (drifted, *passed) if text)


def _multipliers(system: System, mu: Array) -> Array:
    """Those of bilateral constraints, and zeros for gaps: none of them presses."""
    return np.hstack([mu[:, : len(system.bilateral)], np.zeros((len(mu), len(system.unilateral)))])


def _energy_limit(tolerances: Tolerances, method: Any) -> float:
    if getattr(method, "step", None) is not None:
        return tolerances.energy
    return min(tolerances.energy, ENERGY_FACTOR * float(getattr(method, "rtol", tolerances.energy)))


def _provenance(run: SmoothMotion) -> dict[str, Any]:
    work = {"evaluations": run.stepper.evaluations, "rejected": run.stepper.rejected}
    return made_by(run.request, run.method, run.mechanics.equations.space.words) | work
