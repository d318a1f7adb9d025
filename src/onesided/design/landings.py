"""Jumps and parameters: energy released, where the system lands, and what a history dissipates."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.types import Array, Indices, Status
from onesided.complementarity import LCP, solve
from onesided.design.conditions import Meets
from onesided.design.spots import Spot
from onesided.results import Drive, DriveSensitivity, Event, Jump, Sensitivity
from onesided.statics.equilibria.place import Standpoint, place_near
from onesided.system.system import System

Differentiate = Callable[[Event], Sensitivity]
_JumpRates = tuple[Sensitivity, Array, Array, str]


def drive_sensitivity(drive: Drive, system: System | None, differentiate: Differentiate) -> DriveSensitivity:
    """Derivatives of all jumps; energies by the theorem of the envelope, dU = L_θ dθ + L_p dp on both sides."""
    known, lost = system or _system_of(drive), _lost(drive)
    if known.history:
        raise UsageError("models that remember have no derivatives of histories", got=", ".join(known.history))
    found: list[_JumpRates] = []
    status = Status.solved
    try:
        for number, (jump, event) in enumerate(lost):
            found.append(_jump_rates(known, number, jump, differentiate(event)))
    except KeyboardInterrupt:
        status = Status.interrupted
    jumps, above, below, notes = zip(*found, strict=True) if found else ((),) * 4
    total = np.sum([jump.energy_rate for jump in jumps], axis=0) if jumps else np.zeros(len(known.parameters))
    said = (*filter(None, notes), *([f"Ctrl-C after {len(jumps)} of {len(lost)} jumps"] if not status.ok else []))
    dissipated = float(sum(jump.energy for jump in jumps))
    return DriveSensitivity(dict(known.parameters), jumps, above, dissipated, total, said, below, status)


def _jump_rates(system: System, number: int, jump: Jump, lost: Sensitivity) -> _JumpRates:
    """The jump, its landing with growing and with falling parameters, and a remark."""
    landed = place_near(system, jump.q_to, jump.p)
    spot = _landing(landed)
    released = lost.energy_rate - (spot.L_theta + spot.e.L_p * lost.p_rate)
    about = f"the jump at {jump.control} = {jump.p:.10g}"
    own = replace(lost, about=about, energy=jump.energy, energy_rate=released)
    sides = _moves(spot, landed.weak, 1, lost.p_rate), _moves(spot, landed.weak, -1, lost.p_rate_below)
    names = ", ".join(f"'{system.constraint_names[j]}'" for j in landed.weak)
    text = "derivatives of the landing differ where parameters grow and where they fall (`landings_below`)"
    return own, *sides, f"jump {number}: it lands without force on {names}: {text}" if names else ""


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


def _moves(spot: Spot, weak: Indices, sign: int, p_rate: Array) -> Array:
    """(P, n) rates of the configuration for growing (+) or falling (−) parameters, where p follows the event.

    Contacts j that are closed without force open or begin to push: ġ = G λ̇ + ĝ, ġ ≥ 0, λ̇ ≥ 0, ġᵀλ̇ = 0 [SP1 (4.3)].
    """
    curve, n, unit = spot.curve, spot.curve.n, spot.curve.unit
    moved = sign * (spot.shift + np.outer(spot.t, p_rate / unit[n]))
    if len(weak):
        pushed = np.array([_pushed(spot, int(j)) for j in weak]).T
        G = np.array([Meets(int(j)).rates(spot, pushed) for j in weak])
        opening = np.array([Meets(int(j)).rates(spot, moved) + sign * Meets(int(j)).slopes(spot) for j in weak])
        forces = [_forces(G, column) for column in opening.T]
        moved = moved + pushed @ np.array(forces).reshape(-1, len(weak)).T
    return np.asarray(sign * (moved[:n] * curve.unit[:n, None]).T)


def _pushed(spot: Spot, j: int) -> Array:
    """How the state answers to a unit force of an open contact, at constant p: J y = c_q."""
    n, curve = spot.curve.n, spot.curve
    row = spot.e.constraint_row(j)[:n] / curve.weight[:n]
    return spot.solve(np.append(row, np.zeros(curve.size - 1 - n)))


def _forces(G: Array, opening: Array) -> Array:
    """λ̇ of the contacts; NaN where no answer, or more than one, is found: the state is not stable there."""
    found = solve(LCP(G, opening), throw=False)
    return np.asarray(found.value if found.status.ok else np.full(len(opening), np.nan))
