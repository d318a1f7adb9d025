"""What `steer` was asked, completed by what the model file says."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.system.defaults import start_of
from onesided.system.inputs import Cost, squares
from onesided.system.system import System


@dataclass(frozen=True, eq=False)
class SteerAsked:
    """The arguments of `steer` that a file may give; None where it does not."""

    start: Any
    goal: Any
    inputs: Any
    objective: Any
    t_span: Any
    bounds: Any
    modes: Any
    control: Any


def completed_steering(system: System, given: SteerAsked) -> SteerAsked:
    """Each argument as given, as the file says, or as is usual; refused where a required one is missing."""
    task = None if system.task is None else system.task.steer
    if given.start is None:
        given = replace(given, start=(start_of(system, None), {} if task is None else dict(task.velocities)))
    found = {name: value for name, value in _usual(system).items() if getattr(given, name) is None}
    if task is not None:
        said = {"goal": task.goal, "inputs": task.inputs, "t_span": task.time, "bounds": task.bounds,
                "modes": task.modes, "objective": _weighted(np.array(task.weights))}  # fmt: skip
        own = {} if given.inputs is None else {"objective": None, "bounds": None}  # those of other inputs
        found |= {name: value for name, value in (said | own).items() if getattr(given, name) is None and value}
    asked = replace(given, **found)
    for name, example in (("goal", "(coordinates, velocities)"), ("inputs", "name → coordinate"),
                          ("t_span", "(first, last)")):  # fmt: skip
        if getattr(asked, name) is None:
            raise UsageError(f"`{name}` is missing", expected=f"{name}={example}, or [steer] in the model file")
    return asked


def _usual(system: System) -> dict[str, Any]:
    p = 0.0 if system.task is None else system.task.p
    return {"objective": squares, "bounds": {}, "modes": (), "control": p}


def _weighted(weights: Array) -> Cost:
    """The objective Σ wᵢ uᵢ²."""

    def cost(t: Any, q: Any, v: Any, u: Any, th: Any) -> Any:
        return u @ (weights * u)

    return cost
