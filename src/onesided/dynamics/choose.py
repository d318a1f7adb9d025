"""Methods by name, for model files and the command line."""

import math
from dataclasses import replace
from typing import Any

from onesided.base.errors import UsageError
from onesided.dynamics.contacts.contact_run import ContactMethod
from onesided.dynamics.contacts.event_driven import EventDriven
from onesided.dynamics.contacts.moreau import Moreau
from onesided.dynamics.smooth.explicit import Baumgarte, Projected
from onesided.dynamics.smooth.generalized_alpha import GeneralizedAlpha
from onesided.dynamics.smooth.radau import Radau
from onesided.dynamics.smooth.stepper import SmoothMethod

METHODS: dict[str, Any] = {
    "projected": Projected(),
    "radau": Radau(),
    "generalized-alpha": GeneralizedAlpha(),
    "baumgarte": Baumgarte(),
    "event-driven": EventDriven(),
    "moreau": Moreau(),
}


def method_named(
    name: str, rtol: float | None = None, step: float | None = None, theta: float | None = None
) -> SmoothMethod | ContactMethod:
    """The method of this name with its default knobs, or those given."""
    if name not in METHODS:
        raise UsageError("there is no such method", got=repr(name), expected="one of " + ", ".join(METHODS))
    method = METHODS[name]
    if isinstance(method, EventDriven):
        return replace(method, rtol=method.rtol if rtol is None else rtol, max_step=math.inf if step is None else step)
    if isinstance(method, Moreau):
        return replace(method, step=method.step if step is None else step, theta=theta)
    chosen: SmoothMethod = replace(method, rtol=method.rtol if rtol is None else rtol, step=step)
    return chosen
