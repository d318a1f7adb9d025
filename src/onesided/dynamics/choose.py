"""Methods by name, for model files and the command line."""

import math
from dataclasses import replace
from typing import Any

from onesided.base.errors import UsageError
from onesided.base.log import LOG
from onesided.dynamics.contacts.event_driven import EventDriven
from onesided.dynamics.contacts.moreau import Moreau
from onesided.dynamics.motion_run import MotionMethod, Request
from onesided.dynamics.smooth.explicit import Baumgarte, Projected
from onesided.dynamics.smooth.generalized_alpha import GeneralizedAlpha
from onesided.dynamics.smooth.radau import Radau
from onesided.dynamics.smooth.smooth_motion import SmoothMethod
from onesided.results import Motion
from onesided.system.system import System

METHODS: dict[str, Any] = {
    "projected": Projected(),
    "radau": Radau(),
    "generalized-alpha": GeneralizedAlpha(),
    "baumgarte": Baumgarte(),
    "event-driven": EventDriven(),
    "moreau": Moreau(),
}


FEW = 16  # gaps up to which the times of events are worth finding
STEPS = 2000  # of Moreau's method, where no step is given


def name_for(system: System) -> str:
    """The method for a system of which none was said: few gaps, and compliant contacts, are followed by events."""
    gaps = len(system.unilateral)
    if not gaps or system.servo:
        return "projected"
    compliant = any(contact.compliance is not None for contact in system.contacts.values())
    return "event-driven" if gaps <= FEW or compliant else "moreau"


def method_for(
    system: System, span: tuple[float, float], rtol: float | None = None
) -> tuple[MotionMethod[Request, Motion], str]:
    """The same with its knobs, and a remark where its accuracy is not controlled: steps of Moreau, implicit forces."""
    name = name_for(system)
    LOG.info("no method was given: %s is chosen for this system", name)
    if name != "moreau":
        return method_named(name, rtol), ""
    step = (span[1] - span[0]) / STEPS
    gaps = len(system.unilateral)
    remark = f"Moreau(step={step:.3g}, theta=0.5) was chosen for {gaps} gaps: compare with a smaller step"
    return Moreau(step=step, theta=0.5), remark


def method_named(
    name: str, rtol: float | None = None, step: float | None = None, theta: float | None = None
) -> MotionMethod[Request, Motion]:
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
