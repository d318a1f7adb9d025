"""The verb `sensitivity`: derivatives of events and jumps with respect to all parameters at once."""

from typing import overload

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import SolveError
from onesided.base.tolerances import DEFAULT, HALF_DIGITS, Tolerances
from onesided.base.types import Array
from onesided.design.event_equations import EventEquations, crossing, degenerate, equations_of
from onesided.design.forks import Unfolding, fork_of, fork_slopes
from onesided.design.landings import drive_sensitivity
from onesided.design.rough_places import stiffness_jumps_at
from onesided.design.spots import Spot
from onesided.results import Drive, DriveSensitivity, Event, Kind, Sensitivity
from onesided.system.system import System


@overload
def sensitivity(event: Event, *, system: System | None = None, tolerances: Tolerances = DEFAULT) -> Sensitivity: ...
@overload
def sensitivity(
    event: Drive, *, system: System | None = None, tolerances: Tolerances = DEFAULT
) -> DriveSensitivity: ...
@checked
def sensitivity(
    event: Event | Drive, *, system: System | None = None, tolerances: Tolerances = DEFAULT
) -> Sensitivity | DriveSensitivity:
    """Derivatives of an event, or of all jumps of a loading history, with respect to every parameter of the system.

    The event's own equations F(y, θ) = 0 are differentiated: F_y y_θ = −F_θ. One factorisation serves all parameters.

    Parameters
    ----------
    event : an event of a path or diagram, or what `drive` returned.
    system : the system it belongs to; needed where the event was loaded from a file.

    Raises
    ------
    UsageError
        Where the event is degenerate, with the reason.
    SolveError
        After Ctrl-C within a history, with the jumps until then. Those of one event are found at once, or not.
    """
    if isinstance(event, Drive):
        found = drive_sensitivity(event, system, lambda one: event_sensitivity(one, system, tolerances))
        if not found.status.ok:
            raise SolveError(found.status.value, found, got=found.notes[-1])
        return found
    return event_sensitivity(event, system, tolerances)


def event_sensitivity(event: Event, system: System | None, tolerances: Tolerances) -> Sensitivity:
    """Derivatives of the place of one event with respect to all parameters."""
    if event.kind is Kind.smooth_bifurcation:
        where, fork = fork_of(event, system, tolerances)
        spot = Spot(fork.curve, where.x, fork.t)
        rates, laws = fork_slopes(fork, spot)
        return _result(event, spot, rates, rates, laws, 2)
    equations = equations_of(event, system)
    first = equations.spot()
    spot = equations.sharpened(first)
    after, before = contact_slopes(event, equations, spot, tolerances)
    factorised = sum(one.factorisations for one in {first, spot})
    return _result(event, spot, after, before, [None] * len(spot.R_theta), factorised)


def contact_slopes(event: Event, equations: EventEquations, spot: Spot, tolerances: Tolerances) -> tuple[Array, Array]:
    """(size, P) rates of an event with growing and with falling parameters.

    y_θ = shift + α t with φ_y y_θ + φ_θ = 0. Of several conditions the one counts that is met first. Those that are met
    all along (constraints that are closed without force) must stay so: where a parameter changes that, rates are NaN.
    """
    if not spot.regular:
        raise degenerate(event, "the equilibria on the way to it are singular there")
    if stiffness_jumps_at(spot):
        raise degenerate(event, "the stiffness jumps there, and derivatives to both sides differ")
    along, lost = [], np.zeros(len(spot.R_theta))
    doubt = spot.doubt if len(equations.conditions) > 1 else np.zeros(len(lost))
    shift = np.where(np.abs(spot.shift) > doubt, spot.shift, 0.0)
    for condition in equations.conditions:
        rate, change = crossing(spot, condition, tolerances), condition.rates(spot, shift) + condition.slopes(spot)
        change = np.where(np.abs(change) > doubt, change, 0.0)
        if np.isfinite(rate):
            along.append(-change / rate)
        else:
            usual = np.max(np.abs(shift), axis=0, initial=0.0) + np.abs(condition.slopes(spot))
            lost = np.where(np.abs(change) > HALF_DIGITS * usual, np.nan, lost)
    if not along:
        raise degenerate(event, "its condition is met without being crossed")
    sense = 1.0 if event.incoming is not None else -1.0  # t goes on in the direction of travel
    first, last = (sense * pick(sense * np.array(along), axis=0) for pick in (np.min, np.max))
    return shift + np.outer(spot.t, first) + lost, shift + np.outer(spot.t, last) + lost


def _result(
    event: Event, spot: Spot, rates: Array, below: Array, laws: list[Unfolding | None], factorisations: int
) -> Sensitivity:
    """Rates of scaled unknowns as those of the quantities."""
    curve, system = spot.curve, spot.curve.system
    n, k = curve.n, len(system.bilateral)
    x = np.array([curve.packed(column) for column in rates.T]).reshape(-1, len(spot.x))
    p_below = below[n] * curve.unit[n]
    p_rate = x[:, n]
    names = list(system.parameters)
    return Sensitivity(
        about=_called(event),
        control=event.control,
        p=event.p,
        energy=float(spot.e.energy),
        parameters=dict(system.parameters),
        p_rate=p_rate,
        q_rate=x[:, :n],
        mu_rate=x[:, n + 1 : n + 1 + k],
        lam_rate=x[:, n + 1 + k :],
        energy_rate=spot.L_theta + spot.e.L_p * p_rate,
        p_rate_below=p_below,
        exponent=np.array([1.0 if law is None else law.exponent for law in laws]),
        coefficient=np.array([p if law is None else law.coefficient for p, law in zip(p_rate, laws, strict=True)]),
        side=np.array([0.0 if law is None else law.side for law in laws]),
        notes={name: text for name, text in zip(names, _notes(x, p_rate, p_below, laws), strict=True) if text},
        factorisations=factorisations,
    )


def _called(event: Event) -> str:
    """What an event is, as a noun with its place."""
    at = f"at {event.control} = {event.p:.10g}"
    if event.kind in {Kind.closes, Kind.opens}:
        return f"the change of {', '.join(map(repr, event.constraints))} {at}"
    return f"the {event.kind.value} {at}"


def _notes(rates: Array, above: Array, below: Array, laws: list[Unfolding | None]) -> list[str]:
    """What is to be said of the parameters, in words."""
    found = []
    for i, law in enumerate(laws):
        if law is not None:
            sides = {1.0: " where it grows", -1.0: " where it falls", 0.0: ""}[law.side]
            both = "two limit points take its place" if law.side else "a limit point takes its place"
            found.append(f"there is no derivative: {both}{sides}")
        elif np.isnan(above[i]):
            found.append(
                "a contact that is closed without force begins to matter, or ceases to: there is no derivative"
            )
        elif abs(above[i] - below[i]) > HALF_DIGITS * max(abs(above[i]), abs(below[i])):
            found.append(f"several constraints change at once: {below[i]:.10g} where it falls")
        else:
            found.append("" if np.any(rates[i]) else "no influence")
    return found
