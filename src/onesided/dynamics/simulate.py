"""The verbs of motion: simulate and iter_simulate."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from onesided._version import __version__
from onesided.base.arguments import checked
from onesided.base.errors import SolveError, UsageError
from onesided.base.progress import SILENT, Progress
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array, Status
from onesided.dynamics.asked import Asked, completed, span_of
from onesided.dynamics.between import dips, words
from onesided.dynamics.consistent import consistent
from onesided.dynamics.contacts.contact_run import ContactMethod, ContactRun, Request
from onesided.dynamics.contacts.lift_off import lift_offs
from onesided.dynamics.contacts.surface_events import check_outlines_at, check_surfaces_at, surface_events
from onesided.dynamics.contracts import check_contracts
from onesided.dynamics.feedback import FeedbackError, Pace
from onesided.dynamics.mechanics import Mechanics, MotionState
from onesided.dynamics.monitors import recheck, stack, status_after, verdict
from onesided.dynamics.multipliers import Rule
from onesided.dynamics.smooth.explicit import Projected
from onesided.dynamics.smooth.servo import ServoMechanics
from onesided.dynamics.smooth.stepper import SmoothMethod, Stepper
from onesided.dynamics.smooth.strides import Strides
from onesided.dynamics.watching.forcing import Forcing
from onesided.dynamics.watching.watch import MotionWatch
from onesided.evaluation.motion_functions import Control
from onesided.linalg import one_thread
from onesided.results import Motion, MotionEvent, Occurrence, StartCorrection
from onesided.results.wording import closings, sides
from onesided.system.equations import Equations
from onesided.system.held import Sampled
from onesided.system.system import System

MAX_STEPS = 1_000_000
TELL = 16  # points of a motion with contacts between two reports of progress
ENERGY_FACTOR = 1e4  # energy may be off by so many times the tolerance of one step
UserEvents = Mapping[str, Callable[[float, Array, Array], float]]


@checked
def simulate(  # noqa: PLR0913 - one verb, all its ends by keyword
    system: System,
    q0: Any = None,
    v0: Any = None,
    t_span: tuple[float, float] | None = None,
    *,
    method: SmoothMethod | ContactMethod | None = None,
    control: float | Control | Sampled | None = None,
    force: Sampled | None = None,
    multipliers: Rule | None = None,
    events: UserEvents | None = None,
    stop: tuple[str, ...] = (),
    max_steps: int = MAX_STEPS,
    tolerances: Tolerances = DEFAULT,
    progress: Progress = SILENT,
    throw: bool = True,
) -> Motion:
    """Follow the motion of a system with joints from (q0, v0); the start is made consistent first.

    Parameters
    ----------
    q0, v0 : start, as sequences or name → value (velocities left out are zero); by default those of the file, or the
        composed structure at rest.
    t_span : first and last time; by default the file's.
    method : `Projected()`, `Radau()` for stiff systems, `GeneralizedAlpha()`, `Baumgarte()`. With contacts that open
        and close: `EventDriven()`, `Moreau()`. By default the file's; otherwise `EventDriven()` for a few gaps,
        `Moreau` for many, `Projected()` without. What was chosen is in `provenance`.
    control : the control parameter p during motion: a number, a function of time in `jax.numpy` (moving
        constraints), or `Sampled`: feedback in ordinary Python, held between samples. By default the file's; 0 for a
        system that has none, which the note says where p matters.
    force : `Sampled`: forces of a controller in ordinary Python, beside those of the system, held between samples.
    multipliers : how redundant constraints share their force: `MinimalNorm()` (default), `Compliances`, `ReducedSet`.
    events : name → function (t, q, v) whose zeros are located; those named in `stop` end the motion. An attribute
        `direction` of a function says which zeros count: positive for rising, negative for falling, 0 for either.
    throw : raise a `SolveError` holding the motion so far, or return it with its status.

    Notes
    -----
    The force of a constraint on the system is (gradient)ᵀ × multiplier: M a = Q − U_q + c_qᵀ μ.

    Every point is rechecked from the model: constraints, hidden constraints, force balance, energy. A motion that
    reached the end but fails this has the status `inaccurate`.
    """
    asked = completed(system, q0, v0, t_span, method, control)
    system, q0, v0, method, control = asked.system, asked.q0, asked.v0, asked.method, asked.control
    if isinstance(method, ContactMethod):
        request = Request(
            system, q0, v0, *asked.span, control=control, force=force, multipliers=multipliers,
            events=events or {}, stop=stop, max_steps=max_steps, tolerances=tolerances,
        )  # fmt: skip
        with one_thread():
            run = method.begin(request)
        return _judged(_noted(_followed(run, progress), asked), throw=throw)
    smooth = begin(
        system, (q0, v0), asked.span, method=method, control=control, force=force, multipliers=multipliers,
        tolerances=tolerances,
    )  # fmt: skip
    watch = MotionWatch(smooth.stepper, events or {}, stop, smooth.t_end - smooth.stepper.state.t)
    progress.begin("simulate")
    states, status, note = [smooth.stepper.state], Status.finished, ""
    try:
        with one_thread():
            for item in smooth.items(watch, max_steps):
                states.append(item.state)
                status, note = item.status or status, item.note
                progress.update(
                    control=item.state.t, points=len(states), events=len(watch.found), step=states[-1].t - states[-2].t
                )
    except KeyboardInterrupt:
        status, note = Status.interrupted, f"at t = {states[-1].t:.6g}"
    finally:
        progress.end()
    note = "; ".join(text for text in (note, watch.words) if text)
    return _judged(_noted(collect(smooth, states, status, note, tuple(watch.found)), asked), throw=throw)


def _noted(motion: Motion, asked: Asked) -> Motion:
    """The motion with remarks on what was chosen for it, its events in words that fit the thing."""
    called = closings({name: asked.system.words_for(name) for name in motion.unilateral})
    events = tuple(_called(event, called[event.name]) if event.name in called else event for event in motion.events)
    labels = {name: list(pair) for name, pair in asked.system.labels.items()}
    provenance = {**motion.provenance, **({"labels": labels} if labels else {})}
    note = "; ".join(text for text in (motion.note, *asked.notes) if text)
    return replace(motion, note=note, events=events, provenance=provenance)


def _called(event: MotionEvent, closes: str) -> MotionEvent:
    """An event of a cable or a stop by its own name: "cable goes slack"."""
    words = sides(closes)
    names = {Occurrence.opens: words.opens, Occurrence.contact: words.closes, Occurrence.impact: words.closes}
    return replace(event, called=names.get(event.kind, ""))


def _judged(motion: Motion, *, throw: bool) -> Motion:
    if throw and not motion.ok:
        raise SolveError(motion.status.value, motion, got=motion.note)
    return motion


def _followed(run: ContactRun, progress: Progress) -> Motion:
    progress.begin("simulate")
    told, points, step = run.world.request.first, 0, 0.0
    try:
        with one_thread():
            for points in run.items():
                if points % TELL == 0:
                    step, told = (run.state.t - told) / TELL, run.state.t
                    progress.update(control=told, points=points, events=len(run.events), step=step)
        progress.update(control=run.state.t, points=points, events=len(run.events), step=step)
    except KeyboardInterrupt:
        if points == 0:  # there is nothing yet
            raise
        run.status, run.note = Status.interrupted, f"at t = {run.state.t:.6g}"
    finally:
        progress.end()
    return run.motion()


@checked
def iter_simulate(  # noqa: PLR0913 - as `simulate`
    system: System,
    q0: Any = None,
    v0: Any = None,
    t_span: tuple[float, float] | None = None,
    *,
    method: SmoothMethod | ContactMethod | None = None,
    control: float | Control | Sampled | None = None,
    force: Sampled | None = None,
    multipliers: Rule | None = None,
    tolerances: Tolerances = DEFAULT,
) -> Iterator[MotionState]:
    """The iterator twin of `simulate`: states as they are found, the start first.

    With contacts, two states at one time are those before and after an event.

    Raises
    ------
    SolveError
        Where the motion cannot go on.
    """
    asked = completed(system, q0, v0, t_span, method, control)
    system, q0, v0, method, control = asked.system, asked.q0, asked.v0, asked.method, asked.control
    if isinstance(method, ContactMethod):
        yield from _each(
            method.begin(
                Request(
                    system, q0, v0, *asked.span, control=control, force=force,
                    multipliers=multipliers, tolerances=tolerances,
                )
            )
        )  # fmt: skip
        return
    run = begin(
        system, (q0, v0), asked.span, method=method, control=control, force=force, multipliers=multipliers,
        tolerances=tolerances,
    )  # fmt: skip
    yield run.stepper.state
    for item in run.items(MotionWatch(run.stepper, {}, (), run.t_end - run.stepper.state.t), MAX_STEPS):
        yield item.state
        if item.status is not None and not item.status.ok:
            raise SolveError(item.status.value, item.state, got=item.note)


def _each(run: ContactRun) -> Iterator[MotionState]:
    for _ in run.items():
        yield run.state
    if not run.status.ok:
        raise SolveError(run.status.value, run.state, got=run.note)


@dataclass(frozen=True, eq=False)
class MotionItem:
    """One piece of news: a state; the last one carries the status."""

    state: MotionState
    status: Status | None = None
    note: str = ""


@dataclass(eq=False)
class PreparedMotion:
    """A motion that can begin: what it needs and what its start needed."""

    mechanics: Mechanics
    stepper: Stepper
    method: SmoothMethod
    start: StartCorrection
    t_end: float
    pace: Pace
    provenance: dict[str, Any] = field(default_factory=dict)

    def items(self, watch: MotionWatch, max_steps: int) -> Iterator[MotionItem]:
        """Steps until the end, an event that stops, or a failure."""
        stepper = self.stepper
        forcing = Forcing(self.mechanics.equations, self.t_end - stepper.state.t)
        quiet = watch.quiet and not forcing.changes and not self.pace.sampled
        strides = Strides(stepper, self.t_end, quiet=quiet)
        number = 0
        while number < max_steps:
            if strides.may_stride(number):
                for state in strides.stride(number, max_steps):
                    number += 1
                    yield MotionItem(state, Status.finished if state.t >= self.t_end else None)
                if stepper.state.t >= self.t_end or number >= max_steps:
                    break
            number += 1
            with np.errstate(over="ignore", invalid="ignore"):  # steps that are too long are tried and given up
                before, failed = forcing.step(stepper, self.pace.until())
            if failed is not None:
                yield MotionItem(stepper.state, failed, stepper.note)
                return
            self.mechanics.sizes.grow(stepper.state.q, stepper.state.v)
            halt = watch.look(before, stepper.state)
            if halt is not None:
                yield MotionItem(*halt)
                return
            if stepper.state.t >= self.t_end:
                yield MotionItem(stepper.state, Status.finished, forcing.words)
                return
            yield MotionItem(stepper.state)
            if self.pace.sampled and stepper.state.t >= self.pace.until():
                try:
                    stepper = self._fed_back(stepper)
                except FeedbackError as error:
                    yield MotionItem(stepper.state, Status.feedback_failed, str(error))
                    return
                yield MotionItem(stepper.state)
        if stepper.state.t < self.t_end:
            yield MotionItem(stepper.state, Status.max_iterations, f"{max_steps} steps were not enough")

    def _fed_back(self, stepper: Stepper) -> Stepper:
        """The next sample: a stepper that starts with what it gave."""
        state = self.pace.sample(stepper.state)
        now = _settled(self.mechanics, state)
        after = self.method.start(self.mechanics, now, self.t_end)
        after.evaluations, after.rejected = stepper.evaluations, stepper.rejected
        self.stepper = after
        return after


def _settled(mechanics: Mechanics, state: MotionState) -> MotionState:
    """The state with the accelerations and multipliers of the values that are held now."""
    return replace(mechanics.settle(state.t, state.q, state.v, state.mu).state, work=state.work)


def begin(
    system: System,
    start: tuple[Any, Any],
    t_span: tuple[float, float],
    *,
    method: SmoothMethod | None,
    control: float | Control | Sampled,
    multipliers: Rule | None,
    tolerances: Tolerances,
    force: Sampled | None = None,
) -> PreparedMotion:
    """Check the request and make the start consistent."""
    first, last = span_of(t_span)
    chosen = Projected() if method is None else method
    if not hasattr(chosen, "start"):
        raise UsageError(
            "this is not a method", got=repr(method), expected="Projected(), Radau(), GeneralizedAlpha() …"
        )
    if system.servo and not isinstance(chosen, Projected):
        raise UsageError("servo conditions need another method", got=repr(chosen), expected="Projected()")
    if system.servo and (force is not None or isinstance(control, Sampled)):
        raise UsageError("servo conditions and feedback do not go together", advice="a controller that meets them")
    kind = ServoMechanics if system.servo else Mechanics
    mechanics = kind(Equations(system, control, held=force is not None), multipliers, tolerances)
    pace = Pace(mechanics.equations, control, force, first, last)
    check_outlines_at(system, start[0])
    state, correction = consistent(mechanics, first, *start, last - first)
    check_contracts(mechanics.equations, state.t, state.q, state.v, mechanics.sizes.q)
    check_surfaces_at(system, state.q)
    if pace.sampled:
        state = _settled(mechanics, pace.begin(state))
    stepper = chosen.start(mechanics, state, last)
    return PreparedMotion(mechanics, stepper, chosen, correction, last, pace)


def collect(
    run: PreparedMotion, states: list[MotionState], status: Status, note: str, events: tuple[MotionEvent, ...]
) -> Motion:
    """States to a rechecked `Motion`."""
    mechanics, points = run.mechanics, stack(states)
    keep = np.append(np.diff(points.t) > 0, True)
    points = type(points)(*(values[keep] for values in points))
    drift, found = recheck(mechanics, points)
    limit = _energy_limit(mechanics.tolerances, run.method)
    wrong = verdict(mechanics, drift, limit, run.method.drifts)
    none = np.zeros((len(points.t) - 1, len(mechanics.equations.system.unilateral)), dtype=bool)
    passed = words(mechanics.equations, dips(mechanics.equations, points, none, smooth=True))
    wrong = "; ".join(text for text in (wrong, *passed) if text)
    system = mechanics.equations.system
    loose = tuple(mechanics.equations.names[i] for i in mechanics.loose)
    notes = [text for text in (run.start.words(), mechanics.words, note, wrong) if text]
    p = np.array([mechanics.equations.control_at(t) for t in points.t])
    members = system.members(points.q, p, _multipliers(system, points.mu), (points.v, points.a))
    told = (*events, *lift_offs(mechanics, states), *surface_events(system, mechanics.equations.space, points))
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
        status=status_after(status, wrong),
        note="; ".join(notes),
        start=run.start,
        not_unique=tuple(dict.fromkeys((*run.start.redundant, *loose))),
        space=mechanics.equations.space,
        provenance=_provenance(run),
        measures=system.measured(points.q, p, members),
        members=members,
        sketch=system.sketch,
    )


def _multipliers(system: System, mu: Array) -> Array:
    """Those of bilateral constraints, and zeros for gaps: none of them presses."""
    return np.hstack([mu[:, : len(system.bilateral)], np.zeros((len(mu), len(system.unilateral)))])


def _energy_limit(tolerances: Tolerances, method: Any) -> float:
    if getattr(method, "step", None) is not None:
        return tolerances.energy
    return min(tolerances.energy, ENERGY_FACTOR * float(getattr(method, "rtol", tolerances.energy)))


def _provenance(run: PreparedMotion) -> dict[str, Any]:
    method, stepper = run.method, run.stepper
    knobs: dict[str, Any] = dict(vars(method))
    return {
        "verb": "simulate",
        "method": type(method).__name__,
        "knobs": {
            name: value if isinstance(value, float | int | type(None)) else str(value) for name, value in knobs.items()
        },
        "tolerances": asdict(run.mechanics.tolerances),
        "version": __version__,
        "parameters": dict(run.mechanics.equations.system.parameters),
        "space": run.mechanics.equations.space.words,
        "evaluations": stepper.evaluations,
        "rejected": stepper.rejected,
    }
