"""What a verb uses where nothing is said: the start, p, range and motion that a file or a structure has of its own."""

import math
from typing import Any, NamedTuple

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.system.system import System

EVERYWHERE = (-math.inf, math.inf)


class Where(NamedTuple):
    """Where a path starts and how far it may go."""

    q: Any
    p: float
    bounds: tuple[float, float]
    direction: int


def where(
    system: System, q0: Any, p0: float | None, bounds: tuple[float, float] | None = None, direction: int | None = None
) -> Where:
    """What was asked, completed: a loaded file has start, p, range and direction; a composed structure its start.

    Range and direction are those of the file only where p is.
    """
    task = system.task if p0 is None else None
    return Where(
        start_of(system, q0),
        p_of(system, p0),
        bounds if bounds is not None else EVERYWHERE if task is None else task.p_bounds,
        direction if direction is not None else 1 if task is None else task.direction,
    )


def start_of(system: System, q0: Any) -> Any:
    """The start given, or the system's own."""
    if q0 is not None:
        return q0
    if not system.has_start:
        raise UsageError(
            "this system has no start of its own",
            expected=f"q0: a value for each of {', '.join(system.coordinates[:8])}",
            advice="systems from `compose` and from files have one",
        )
    return system.start


def p_of(system: System, p0: float | None) -> float:
    """The p given, the file's, or 0 for a structure, which was composed there."""
    if p0 is not None:
        return p0
    if system.task is not None:
        return float(system.task.p)
    if system.structure is not None:
        return 0.0
    raise UsageError(f"nothing is said of {system.control}", expected=f"p0: the value of {system.control} to start at")


def bounds_of(system: System, bounds: tuple[float, float] | None) -> tuple[float, float]:
    """The bounds given, or the file's."""
    if bounds is not None:
        return bounds
    if system.task is None:
        raise UsageError("a diagram needs bounds", expected=f"p_bounds=(low, high) of {system.control}")
    found: tuple[float, float] = system.task.p_bounds
    return found


def programme_of(system: System, q0: Any, programme: Any) -> tuple[Any, Any]:
    """Start and programme: of two the start comes first; one alone is the programme, where it cannot be a start."""
    own = None if system.task is None else system.task.programme
    if programme is not None:
        return start_of(system, q0), programme
    alone = q0 is not None and not hasattr(q0, "keys")
    if alone and own and np.shape(q0) == (system.n,):
        raise UsageError(
            "this may be a start or a programme", got=repr(q0), expected="drive(system, programme=…) or q0=…"
        )
    if alone:
        return start_of(system, None), q0
    if not own:
        raise UsageError("there is no programme", expected=f"programme: values of {system.control} in turn")
    return start_of(system, q0), own


def silent_p(system: System, q: Array) -> str:
    """A remark where p was taken as 0 and matters; empty where the system does not depend on it."""
    if not system.depends_on_p:
        return ""
    here = system.derivatives.pack(q, 0.0, np.zeros(len(system.constraint_names)))
    direction = np.zeros(len(here))
    direction[system.n] = 1.0
    if not np.any(system.along(here, direction, 1)):  # (L_qp, c_p), without a compilation
        return ""
    return f"{system.control} = 0 throughout, since nothing was said of it: control=…"
