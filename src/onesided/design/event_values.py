"""The verb `event_value`: what an event is at other parameters, differentiable by JAX."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import SolveError, UsageError
from onesided.base.names import unknown_name
from onesided.base.tolerances import DEFAULT, HALF_DIGITS, Tolerances
from onesided.base.types import Array
from onesided.design.event_curves import CurveOfEvents, curve_of_events, refuse_broken
from onesided.design.event_equations import standpoint
from onesided.design.spots import Spot
from onesided.evaluation.solved_functions import differentiable_once, stacked
from onesided.results import Event
from onesided.system.system import System


@checked
def event_value(
    system: System,
    event: Event,
    parameters: Mapping[str, Any] | None = None,
    *,
    what: str = "",
    tolerances: Tolerances = DEFAULT,
) -> Any:
    """Value of p, or of something else, at an event of a system whose parameters have changed.

    The event is followed to the new parameters by its own equations. The result may be differentiated once by
    `jax.grad` or `jax.jacobian`, with the derivatives of `sensitivity`; a second derivative is refused.

    Parameters
    ----------
    system : the system that the event was found in.
    parameters : name → value, those that differ; numbers or what JAX has in their place.
    what : the control parameter (default), "energy", or the name of a coordinate or constraint (its multiplier).
    """
    given = dict(parameters or {})
    for name in given:
        if name not in system.parameters:
            raise unknown_name("parameter", name, system.parameters)
    read = _reader(system, what or system.control)
    standpoint(event, system)

    def solved(values: Array) -> tuple[float, Array]:
        return _solved(event, system, dict(zip(given, map(float, values), strict=True)), read, tolerances)

    return differentiable_once(solved, "event_value")(stacked(given))


Reader = Callable[[Spot, Array, Array], tuple[float, Array]]


def _reader(system: System, what: str) -> Reader:
    """How to read a quantity and its rates off a point: from rates of x = (q, p, ν), (len(x), P)."""
    if what == "energy":
        return lambda spot, rates, L_theta: (float(spot.e.energy), L_theta + spot.e.L_p * rates[spot.curve.n])
    names = (*system.coordinates, system.control, *system.constraint_names)
    if what not in names:
        raise unknown_name("quantity", what, [*names, "energy"])
    number = names.index(what)
    return lambda spot, rates, _: (float(spot.x[number]), rates[number])


def _solved(
    event: Event, system: System, changed: Mapping[str, float], read: Reader, tolerances: Tolerances
) -> tuple[float, Array]:
    """Value and slopes with the parameters that were given."""
    names = list(system.parameters)
    direction = np.array([changed.get(name, value) - value for name, value in system.parameters.items()])
    events = curve_of_events(event, system, direction, tolerances)
    w = events.start
    if np.any(direction):
        refuse_broken(events)
        w = events.moved_to(1.0)
    at, rates, L_theta = event_rates(events, w, [names.index(name) for name in changed])
    violated = events.violated(at)
    if violated:
        raise SolveError(
            "at these parameters the event is none of the system", None, got=violated, advice="trace again"
        )
    return read(at, rates, L_theta)


def event_rates(events: CurveOfEvents, w: Array, chosen: list[int]) -> tuple[Spot, Array, Array]:
    """The event at w, (len(x), P') rates of its packed point and (P',) L_θ for the parameters that are chosen."""
    lines = np.eye(len(events.line.direction))[chosen]
    columns: list[Array] = []
    at, floor = events.spot(w), max(events.tolerances.singularity, HALF_DIGITS * HALF_DIGITS)
    for line in lines:
        single = Spot(at.curve, at.x, at.border, line[None, :])
        loose = events.loose(single)
        if loose is None or not abs(loose.crossing) > floor ** len(loose.rates):
            raise UsageError("the event is degenerate at these parameters", got=events.event.words())
        tau = np.eye(1, len(w), len(w) - 1)[0]
        moved = np.linalg.solve(
            np.vstack([loose.rates, tau @ loose.free]), np.eye(1, len(loose.rates) + 1, len(loose.rates))[0]
        )
        columns.append(at.curve.packed((loose.free @ moved)[:-1]))
    full = Spot(at.curve, at.x, at.border, lines)
    return at, np.array(columns).reshape(len(lines), len(at.x)).T, full.L_theta
