"""What `simulate` was asked, completed by what the file or the structure says."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from onesided import structures
from onesided.base.errors import UsageError
from onesided.dynamics.choose import method_for, method_named, name_for
from onesided.system.defaults import silent_p, start_of
from onesided.system.held import Sampled
from onesided.system.system import System


@dataclass(frozen=True, eq=False)
class Asked:
    """A motion that can begin: the system as it moves, start, span, method, control; remarks on what was chosen."""

    system: System
    q0: Any
    v0: Any
    span: tuple[float, float]
    method: Any
    control: Any
    notes: tuple[str, ...]


def completed(system: System, q0: Any, v0: Any, t_span: Any, method: Any, control: Any) -> Asked:
    """Start, velocities, span, method and p where they are not given."""
    task = None if system.task is None else system.task.motion
    if t_span is None and task is not None:
        t_span = task.time
    if t_span is None:
        raise UsageError("the time span is missing", expected="t_span=(first, last), or [motion] in the model file")
    span = span_of(t_span)
    if v0 is None:
        v0 = {} if task is None else dict(task.velocities)
    moving, q, v = as_it_moves(system, start_of(system, q0), v0)
    notes = []
    if control is None:
        control, remark = _control(system, q0)
        notes.append(remark)
    if isinstance(control, Sampled) and moving.structure is not None:
        structures.contact_laws.check_dampers(moving.structure)
    if method is None:
        method, remark = method_of(system, span)
        notes.append(remark)
    return Asked(moving, q, v, span, method, control, tuple(note for note in notes if note))


def _control(system: System, q0: Any) -> tuple[Any, str]:
    """The file's p, as a function of time where it says so; otherwise 0, and a remark where that matters."""
    if system.task is not None:
        task = system.task.motion
        return (system.task.p if task is None or task.control is None else task.control), ""
    values = start_of(system, q0)
    q = values if not isinstance(values, Mapping) else [values.get(name, 0.0) for name in system.coordinates]
    array = np.asarray(q, dtype=float)
    return 0.0, silent_p(system, array) if array.shape == (system.n,) and np.all(np.isfinite(array)) else ""


def method_of(
    system: System,
    span: tuple[float, float],
    name: str | None = None,
    rtol: float | None = None,
    step: float | None = None,
) -> tuple[Any, str]:
    """The method named, the file's, or one that suits the system; and a remark where its accuracy is a guess."""
    task = None if system.task is None else system.task.motion
    theta = None
    if task is not None:
        name = task.method if name is None else name
        rtol, step, theta = (task.rtol if rtol is None else rtol), (task.step if step is None else step), task.theta
    if name is None and step is None:
        return method_for(as_it_moves(system, None, None)[0], span, rtol)
    return method_named(name or name_for(as_it_moves(system, None, None)[0]), rtol, step, theta), ""


def as_it_moves(system: System, q0: Any, v0: Any) -> tuple[System, Any, Any]:
    """The system that moves, and its start: a composed structure without the coordinates that have no inertia."""
    if system.structure is None:
        return system, q0, v0
    slack = structures.without_slack
    twin = slack.in_motion(system)
    return (system, q0, v0) if twin is system else (twin, slack.moved(q0, system, twin), slack.moved(v0, system, twin))


def span_of(t_span: Any) -> tuple[float, float]:
    """First and last time, checked."""
    try:
        first, last = (float(t) for t in t_span)
    except (TypeError, ValueError):
        raise UsageError("the time span is not a pair of numbers", got=repr(t_span), expected="(first, last)") from None
    if not (math.isfinite(first) and math.isfinite(last) and first < last):
        raise UsageError(
            "the time span is empty, reversed or not finite",
            got=f"{first:g} to {last:g}",
            expected="first < last",
            advice="to go back in time, reverse the velocities",
        )
    return first, last
