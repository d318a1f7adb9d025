"""The verbs of motion: simulate and iter_simulate."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, overload

from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.progress import SILENT, Progress
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.dynamics.asked import Asked, completed
from onesided.dynamics.mechanics import MotionState
from onesided.dynamics.motion_run import (
    MAX_STEPS,
    Begun,
    MotionMethod,
    Request,
    StateSystem,
    UserEvents,
    Wanted,
    begun,
    each,
    followed,
)
from onesided.dynamics.multipliers import Rule
from onesided.evaluation.motion_terms import Control
from onesided.linalg import one_thread
from onesided.results import ComplementarityMotion, Motion, MotionEvent, Occurrence
from onesided.results.wording import closings, sides
from onesided.system.held import Sampled
from onesided.system.system import System


@overload
def simulate(
    system: System,
    q0: Any = None,
    v0: Any = None,
    t_span: tuple[float, float] | None = None,
    *,
    method: MotionMethod[Request, Motion] | None = None,
    control: float | Control | Sampled | None = None,
    force: Sampled | None = None,
    multipliers: Rule | None = None,
    events: UserEvents | None = None,
    stop: tuple[str, ...] = (),
    max_steps: int = MAX_STEPS,
    tolerances: Tolerances = DEFAULT,
    progress: Progress = SILENT,
    throw: bool = True,
) -> Motion: ...
@overload
def simulate(
    system: StateSystem,
    q0: Any = None,
    *,
    t_span: tuple[float, float],
    method: MotionMethod[Any, ComplementarityMotion] | None = None,
    tolerances: Tolerances = DEFAULT,
    progress: Progress = SILENT,
    throw: bool = True,
) -> ComplementarityMotion: ...
@checked
def simulate(  # noqa: PLR0913 - one verb, all its ends by keyword
    system: System | StateSystem,
    q0: Any = None,
    v0: Any = None,
    t_span: tuple[float, float] | None = None,
    *,
    method: MotionMethod[Any, Any] | None = None,
    control: float | Control | Sampled | None = None,
    force: Sampled | None = None,
    multipliers: Rule | None = None,
    events: UserEvents | None = None,
    stop: tuple[str, ...] = (),
    max_steps: int = MAX_STEPS,
    tolerances: Tolerances = DEFAULT,
    progress: Progress = SILENT,
    throw: bool = True,
) -> Motion | ComplementarityMotion:
    """Follow the motion of a system with joints from (q0, v0); the start is made consistent first.

    Parameters
    ----------
    system : `System`, or a complementarity system (`onesided.complementarity_systems`), of which only q0 (its state),
        t_span and method are asked; its result is a `ComplementarityMotion`.
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
    wanted = Wanted(
        q0, v0, t_span, method, control, force=force, multipliers=multipliers, events=events, stop=stop,
        max_steps=max_steps, tolerances=tolerances,
    )  # fmt: skip
    with one_thread():
        ready = begun(system, wanted)
    found: Motion | ComplementarityMotion = followed(ready, progress, throw=throw)
    return found


@checked
def iter_simulate(  # noqa: PLR0913 - as `simulate`
    system: System | StateSystem,
    q0: Any = None,
    v0: Any = None,
    t_span: tuple[float, float] | None = None,
    *,
    method: MotionMethod[Any, Any] | None = None,
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
    wanted = Wanted(q0, v0, t_span, method, control, force=force, multipliers=multipliers, tolerances=tolerances)
    yield from each(begun(system, wanted).run)


@begun.register
def _(system: System, wanted: Wanted) -> Begun[Motion]:
    asked = completed(system, wanted.q0, wanted.v0, wanted.t_span, wanted.method, wanted.control)
    if not hasattr(asked.method, "begin"):
        expected = "Projected(), Radau(), GeneralizedAlpha(), EventDriven(), Moreau() …"
        raise UsageError("this is not a method", got=repr(asked.method), expected=expected)
    request = Request(
        asked.system, asked.q0, asked.v0, *asked.span, control=asked.control, force=wanted.force,
        multipliers=wanted.multipliers, events=wanted.events or {}, stop=wanted.stop, max_steps=wanted.max_steps,
        tolerances=wanted.tolerances,
    )  # fmt: skip
    return Begun(asked.method.begin(request), lambda motion: _noted(motion, asked))


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
