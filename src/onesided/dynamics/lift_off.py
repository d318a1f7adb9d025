"""Contacts stated as bilateral constraints: where they would have to pull, lift-off is to be expected."""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq

from onesided._types import Array
from onesided.dynamics.mechanics import Mechanics, State
from onesided.results import MotionEvent, Occurrence
from onesided.results.motion import Points, interpolate


def lift_offs(mechanics: Mechanics, states: Sequence[State]) -> list[MotionEvent]:
    """An event wherever the multiplier of a contact held together turns negative, the start included."""
    equations = mechanics.equations
    held = [name for name in equations.system.contacts if name in equations.system.bilateral]
    found = []
    for name in held:
        row = equations.names.index(name)
        forces = np.array([state.mu[row] for state in states])
        if forces[0] < -mechanics.tolerances.force * np.max(np.abs(forces)):
            found.append(_event(states[0], name))
        turns = [int(i) for i in np.flatnonzero((forces[:-1] >= 0.0) & (forces[1:] < 0.0))]
        found += [_event(_where(mechanics, states[i], states[i + 1], row), name) for i in turns]
    return found


def _event(state: State, name: str) -> MotionEvent:
    detail = "the contact is held together from here on, its force pulls; state it as one-sided to let it open"
    return MotionEvent(Occurrence.lift_off, state.t, state.q, state.v, name, detail)


def _where(mechanics: Mechanics, before: State, after: State, row: int) -> State:
    """The state between two others at which the force vanishes."""
    points = Points(*(np.array([getattr(before, k), getattr(after, k)]) for k in Points._fields))
    space, zero = mechanics.equations.space, np.zeros_like(before.q)

    def at(t: float) -> tuple[Array, Array]:
        q, v = interpolate(space, points, 0, np.array([t]))
        return q[0], v[0]

    def force(t: float) -> float:
        q, v = at(t)
        now = mechanics.accelerate(t, q, zero, v, before.mu)
        return float(mechanics.multipliers(now.terms, now.a, now.mu)[row])

    low, high = force(before.t), force(after.t)
    t = float(brentq(force, before.t, after.t, xtol=4.0 * np.spacing(abs(after.t)))) if low > 0.0 > high else after.t
    return State(t, *at(t), before.a, before.mu)
