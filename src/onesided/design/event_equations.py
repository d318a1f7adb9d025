"""Events as equations: which constraints are closed on the way in, and which condition makes the point special."""

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.tolerances import EPS, HALF_DIGITS, Tolerances
from onesided.base.types import Array
from onesided.design.conditions import Condition, Level, Meets, Release, Turn, UserZero
from onesided.design.spots import Spot
from onesided.results import Event, Kind, Ray
from onesided.statics.curves.curve import Curve
from onesided.statics.equilibria.place import Standpoint, place
from onesided.system.system import System

SHARP = 16.0 * EPS  # corrections that are but rounding of the coordinates, scaled
CONTACTS = {Kind.closes, Kind.opens, Kind.corner_limit, Kind.nonsmooth_bifurcation, Kind.end, Kind.jammed, Kind.idle}


@dataclass(frozen=True, eq=False)
class EventEquations:
    """R = 0 on a curve with one of some conditions: one, unless several constraints change at once.

    Attributes
    ----------
    where : the event with its scales;  curve : the equilibria on the way in.
    border : (size,) scaled direction of travel.
    """

    where: Standpoint
    curve: Curve
    border: Array
    conditions: tuple[Condition, ...]

    def spot(self) -> Spot:
        """Factorised equations at the event."""
        return Spot(self.curve, self.where.x, self.border)

    def sharpened(self, spot: Spot) -> Spot:
        """A limit point once more corrected, where that moves it by more than rounding of its coordinates.

        Rates that are small differences of large changes ask for its place to all digits.
        """
        if not (self.conditions == (Turn(),) and spot.regular):
            return spot
        back = -spot.solve(spot.residual)
        rate, off = self.conditions[0].rates(spot, np.stack([spot.t, back], axis=1))
        move = back - spot.t * ((self.conditions[0].value(spot) + off) / rate) if rate else back
        size = np.max(np.abs(move) / (1.0 + np.abs(spot.y)))
        if not SHARP < size < HALF_DIGITS:
            return spot
        return Spot(self.curve, self.curve.packed(spot.y + move), self.border)


def standpoint(event: Event, system: System | None) -> Standpoint:
    """Where an event is; one that was loaded needs its system."""
    x = np.concatenate([event.q, [event.p], event.mu, event.lam])
    known: Standpoint | None = None if event.origin is None else event.origin.where
    if system is None and known is None:
        raise UsageError("this event does not know its system", got="an event loaded from a file", advice="system=…")
    if system is None or (known is not None and known.system is system):
        return replace(cast(Standpoint, known))
    if (system.n, len(system.constraint_names)) != (len(event.q), len(event.mu) + len(event.lam)):
        raise UsageError(
            "the event belongs to another system", got=f"{len(event.q)} coordinates", expected=repr(system)
        )
    return place(system, x, system.sizes(event.q, event.p))


def equations_of(event: Event, system: System | None = None) -> EventEquations:
    """The equations of an event that is not a smooth bifurcation."""
    where = standpoint(event, system)
    ray = came_along(event)
    rows = where.strong if ray is None else np.array(ray.rows, dtype=np.intp)
    curve = where.curve(rows)
    border = np.eye(1, curve.size, curve.n)[0] if ray is None else -curve.scaled(ray.x_dot)
    return EventEquations(where, curve, border, _conditions(event, where, curve, ray))


def came_along(event: Event) -> Ray | None:
    """The ray along which the path came, reversed; one of them where that is not known."""
    number = event.incoming if event.incoming is not None else event.followed
    if number is not None:
        return event.rays[number]
    return event.rays[0] if len(event.rays) else None


def _conditions(event: Event, where: Standpoint, curve: Curve, ray: Ray | None) -> tuple[Condition, ...]:
    if event.kind is Kind.bound:
        return (Level(event.p),)
    if event.kind is Kind.user:
        return (_watched(event),)
    if event.kind is Kind.limit:
        return (Turn(),)
    if event.kind is Kind.kink:
        raise UsageError("a kink of the loading is where the model says, and has no derivative of its own")
    if event.kind not in CONTACTS:
        raise degenerate(event, f"it is a {event.kind.value}")
    names, rows = where.system.constraint_names, set(curve.rows.tolist())
    idle = set() if ray is None else {names.index(name) for name in ray.idle}
    changing = [int(j) for j in where.weak if j not in idle] or [names.index(name) for name in event.constraints]
    if not changing:
        raise degenerate(event, "no constraint changes there")
    return tuple(Release(j) if j in rows else Meets(j) for j in changing)


def _watched(event: Event) -> Condition:
    if event.origin is None or event.detail not in event.origin.watch.user:
        raise UsageError("the function of this user event is not known", got="a loaded event", advice="trace again")
    return UserZero(event.origin.watch.user[event.detail])


BREAKS_UP = "change a parameter a little: the event breaks up into ordinary ones"
REDUNDANT = "leave out one of the contacts that do the same"


def degenerate(event: Event, why: str) -> UsageError:
    """The error for an event whose equations are singular."""
    return UsageError(
        "the event is degenerate: it has no derivative",
        got=f"{event.kind.value} at {event.control} = {event.p:.10g}: {why}",
        advice=REDUNDANT if event.kind is Kind.idle else BREAKS_UP,
    )


def crossing(spot: Spot, condition: Condition, tolerances: Tolerances) -> float:
    """φ_y t, the rate of a condition along the curve; NaN where it does not cross zero but for rounding."""
    rate = float(condition.rates(spot, spot.t[:, None])[0])
    usual = np.linalg.norm(spot.t)
    return rate if abs(rate) > max(tolerances.singularity, HALF_DIGITS * HALF_DIGITS) * usual else np.nan
