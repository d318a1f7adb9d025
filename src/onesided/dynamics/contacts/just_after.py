"""What contacts do just after an instant at which bodies at rest begin to move and contacts depend on each other.

Forces of such contacts are a choice at that instant, but soon after they need not be: a box that turns about one corner
in a corner of two walls leaves the other wall by 1 − cos θ, a ladder slips along a wall by as little. Accelerations do
not show it. So the contacts are looked at a small turn later, by a time step τ from rest there:

    q₁ = q + a τ²/2,   v₁ = a τ,   v₂ − v₁ = τ M⁻¹ f + M⁻¹ Gᵀ P,   c/τ + G v₂ ≥ 0 ⊥ P_N ≥ 0,   P_T in the cone;

τ is such that the gradients of the gaps turn by a given small angle.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from onesided.base.tolerances import EPS, HALF_DIGITS, QUARTER_DIGITS
from onesided.base.types import Array, Indices, Mask
from onesided.dynamics.contacts.contact_run import World
from onesided.dynamics.contacts.friction_modes import collide_with_friction, kept_rows
from onesided.dynamics.contacts.impulses import answer
from onesided.dynamics.contacts.rule_matters import together
from onesided.dynamics.contacts.sliding import ContactMode
from onesided.dynamics.mechanics import MotionState
from onesided.evaluation.motion_terms import Terms
from onesided.system.contact_equations import ContactRows

TURN = QUARTER_DIGITS  # of the gradients: what follows from it is half of the digits above round-off
CLEAR = 0.01  # part of the speeds that such a turn makes which is not none
STRAIGHT = 1024.0 * EPS  # turns of gradients that are none


class Later(NamedTuple):
    """Contacts that open, and blocks that begin to slip, with directions."""

    opens: frozenset[int] = frozenset()
    slips: Mapping[int, Array] = MappingProxyType({})


def just_after(world: World, state: MotionState, mode: ContactMode, a: Array, loose: Indices) -> Later:
    """What contacts with one of the `loose` rows do a small turn later, other than in the mode.

    `a` are accelerations in the mode; there is nothing where bodies do not begin to move, or gradients do not turn.
    """
    rows, terms = world.rows, world.terms(state.t, state.q, state.v)
    moves = _moved(rows, terms, mode, loose)
    begins = np.where(moves, a, 0.0)
    units = world.request.system.units
    fast = float(np.max(np.abs(state.v[moves]) / units[moves], initial=0.0))
    push, heavy = np.abs(terms.h) * units, np.diagonal(terms.M) * units**2
    fastest = float(np.max(push, initial=0.0)) / float(np.min(heavy))
    if fast * world.sizes.lever > world.at_rest_below or float(np.max(np.abs(begins) / units)) <= HALF_DIGITS * fastest:
        return Later()
    share = _share(world, state, terms, (begins, loose))
    if share == 0.0:
        return Later()
    tau, later = np.sqrt(2.0 * share), world.equations.space.retract(state.q, share * begins)
    after = world.terms(state.t, later, tau * begins)
    kept = kept_rows(world, after)
    free = answer(after.M, after.G[kept], after.h[:, None].copy(), after.gamma[kept])[:, 0]
    rates = after.c_dot + tau * (after.G @ free)
    rates[rows.gaps] += after.c[rows.gaps] / tau
    closed = np.array(mode.closed, dtype=np.intp)
    found = collide_with_friction(world, after._replace(c_dot=rates), closed, np.zeros(len(rows.gaps)))
    if found is None:
        return Later()
    speeds = rates + after.G @ found.change
    none = CLEAR * TURN * tau * float(np.max(np.abs(terms.G[loose] @ np.abs(begins)) + np.abs(after.G @ free)[loose]))
    return _seen(rows, mode, loose, (found.rows, speeds, none))


def _moved(rows: ContactRows, terms: Terms, mode: ContactMode, loose: Indices) -> Mask:
    """Coordinates of the bodies that the rows move, and of all that are connected with these."""
    group = together(terms.M, terms.G[rows.held(np.array(mode.closed, dtype=np.intp), mode.sticking)])
    return np.isin(group, group[np.any(terms.G[loose] != 0.0, axis=0)])


def _share(world: World, state: MotionState, terms: Terms, going: tuple[Array, Indices]) -> float:
    """The part of the accelerations by which coordinates move until the gradients have turned; 0 where they do not."""
    begins, loose = going
    units = world.request.system.units
    sizes = np.linalg.norm(terms.G[loose] * units, axis=1)
    share = HALF_DIGITS * float(np.max(world.sizes.q)) / float(np.max(np.abs(begins)))
    for goal in (TURN * TURN, TURN):  # the first for a share to begin with, which the sizes only guess
        later = world.equations.space.retract(state.q, share * begins)
        change = (world.terms(state.t, later, state.v).G[loose] - terms.G[loose]) * units
        turned = np.linalg.norm(change, axis=1) / sizes
        if not np.max(turned) > STRAIGHT:
            return 0.0
        share *= goal / float(np.max(turned))
    return float(share)


def _seen(rows: ContactRows, mode: ContactMode, loose: Indices, step: tuple[Array, Array, float]) -> Later:
    """Contacts that open, and slip that begins, by impulses and speeds after a step."""
    impulses, speeds, none = step
    chosen, most = set(loose.tolist()), float(np.max(np.abs(impulses)))
    opens, slips = set(), {}
    for i in mode.closed:
        own = rows.of([i])
        if not chosen & {int(rows.gaps[i]), *(row for b in own for row in rows.slips[b])}:
            continue
        if impulses[rows.gaps[i]] <= HALF_DIGITS * most and speeds[rows.gaps[i]] > none:
            opens.add(i)
            continue
        for b in set(own) & set(mode.sticking):
            slip = speeds[list(rows.slips[b])]
            if np.linalg.norm(slip) > none:
                slips[b] = np.asarray(slip / np.linalg.norm(slip))
    return Later(frozenset(opens), slips)
