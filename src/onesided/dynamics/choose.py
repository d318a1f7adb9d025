"""Methods by name, for model files and the command line."""

from dataclasses import replace
from typing import Any

from onesided.dynamics.explicit import Baumgarte, Projected
from onesided.dynamics.generalized_alpha import GeneralizedAlpha
from onesided.dynamics.radau import Radau
from onesided.dynamics.stepper import Method
from onesided.errors import UsageError

METHODS: dict[str, Any] = {
    "projected": Projected(),
    "radau": Radau(),
    "generalized-alpha": GeneralizedAlpha(),
    "baumgarte": Baumgarte(),
}


def method_named(name: str, rtol: float | None = None, step: float | None = None) -> Method:
    """The method of this name with its default knobs, or those given."""
    if name not in METHODS:
        raise UsageError("there is no such method", got=repr(name), expected="one of " + ", ".join(METHODS))
    method = METHODS[name]
    chosen: Method = replace(method, rtol=method.rtol if rtol is None else rtol, step=step)
    return chosen
