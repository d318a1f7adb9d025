"""Jumps and parameters: energy released, where the system lands, and what a history dissipates."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.design.spots import Spot
from onesided.results import Drive, DriveSensitivity, Event, Jump, Sensitivity
from onesided.statics.equilibria.place import Standpoint, place_near
from onesided.system.system import System

Differentiate = Callable[[Event], Sensitivity]


def drive_sensitivity(drive: Drive, system: System | None, differentiate: Differentiate) -> DriveSensitivity:
    """Derivatives of all jumps; energies by the theorem of the envelope, dU = L_θ dθ + L_p dp on both sides."""
    jumps: list[Sensitivity] = []
    landings: list[Array] = []
    notes: list[str] = []
    known = system or _system_of(drive)
    if known.history:
        raise UsageError("models that remember have no derivatives of histories", got=", ".join(known.history))
    for number, (jump, event) in enumerate(_lost(drive)):
        lost = differentiate(event)
        landed = place_near(known, jump.q_to, jump.p)
        spot = _landing(landed)
        released = lost.energy_rate - (spot.L_theta + spot.e.L_p * lost.p_rate)
        about = f"the energy of the jump at {jump.control} = {jump.p:.10g}"
        jumps.append(replace(lost, about=about, energy=jump.energy, energy_rate=released))
        landings.append(_moves(spot, lost.p_rate))
        if len(landed.weak):
            names = ", ".join(f"'{known.constraint_names[j]}'" for j in landed.weak)
            notes.append(f"jump {number}: it lands without force on {names}: derivatives of the landing are one-sided")
    rates = [jump.energy_rate for jump in jumps]
    total = np.sum(rates, axis=0) if rates else np.zeros(len(known.parameters))
    return DriveSensitivity(
        dict(known.parameters), tuple(jumps), tuple(landings), drive.dissipated, total, tuple(notes)
    )


def _system_of(drive: Drive) -> System:
    for path in drive.paths:
        for event in path.events:
            if event.origin is not None:
                found: System = event.origin.where.system
                return found
    raise UsageError("this history does not know its system", got="one loaded from a file", advice="system=…")


def _lost(drive: Drive) -> list[tuple[Jump, Event]]:
    """Each jump with the event that set it off."""
    events = [event for path in drive.paths for event in path.events]
    found = []
    for jump in drive.jumps:
        fitting = [event for event in events if event.p == jump.p and np.array_equal(event.q, jump.q_from)]
        if not fitting:
            raise UsageError("a jump has no event that set it off", got=jump.words())
        found.append((jump, fitting[0]))
    return found


def _landing(where: Standpoint) -> Spot:
    """The state that was reached, with p as the border."""
    curve = where.curve(where.strong)
    return Spot(curve, where.x, np.eye(1, curve.size, curve.n)[0])


def _moves(spot: Spot, p_rate: Array) -> Array:
    """(P, n) rates of the configuration where p follows the event."""
    n, unit = spot.curve.n, spot.curve.unit
    moved = spot.shift + np.outer(spot.t, p_rate / unit[n])
    return np.asarray((moved[:n] * unit[:n, None]).T)
