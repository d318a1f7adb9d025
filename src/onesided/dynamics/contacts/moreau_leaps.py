"""Stretches of time steps by compiled calls of many steps each: when they are tried, and what they give."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from onesided.base.types import Array, Mask
from onesided.dynamics.contacts.contact_run import World
from onesided.dynamics.contacts.impulses import REACH, REST, Impulses
from onesided.dynamics.contacts.moreau_steps import MoreauSteps
from onesided.evaluation.contact_steps import LONGEST, Leap, LeapRules

SLACK = 4.0  # round-off units of the coordinates that a gap may be violated by
WORTH = 2500  # steps, of all motions of a system so far and to come in this one, that pay for the compilation
MOST, MOST_PLACES = 40, 48  # coordinates, and unknown forces, up to which many steps in one call are faster
PAUSE = 200  # steps one by one at most before it is tried again


class Leapt(NamedTuple):
    """Points after a number of steps: q, v, impulses, velocities of the gaps before; then the worst of all steps.

    `begin` are the velocities that steps began with, `jolted` (steps + 1,) says where they were put back onto joints;
    `off` is the residual of the impulses, `unsettled` how far forces and velocities were from settling.
    """

    q: Array
    v: Array
    begin: Array
    impulses: Array
    u: Array
    jolted: Mask
    off: float
    unsettled: float

    def __len__(self) -> int:
        return len(self.q)


class Leaps:
    """When to take many steps at once: where they have paid for the compilation; rarely tried where that fails."""

    def __init__(self, world: World, steps: MoreauSteps, impulses: Impulses, h: float) -> None:
        self._world, self._steps, self._impulses, self._h = world, steps, impulses, h
        equations, able = world.equations, not steps.scheme.implicit and steps.equations is world.equations
        able = able and self._joints_rest() if steps.scheme.joined else able and len(world.names) > 0
        self.able = bool(able and equations.n <= MOST and self._leaping.places <= MOST_PLACES)
        self._pause = self._waited = 0

    @property
    def _leaping(self) -> Leap:
        return self._world.equations.leaping

    def _joints_rest(self) -> bool:
        """Whether joints are not moved, rub nothing, and do not depend on each other at the start."""
        world, start = self._world, self._world.start
        still = world.equations.control is None and world.request.system.friction is None
        kept = self._impulses.held(world.terms(start.t, start.q, start.v).G) if still else ()
        return still and len(kept) == len(world.rows.always)

    def due(self, left: int) -> bool:
        """Whether to try now, with so many steps to come."""
        if not self.able:
            return False
        self._waited += 1
        if self._waited <= self._pause:
            return False
        self._leaping.asked += 1
        return self._leaping.steps.ready or self._leaping.asked + left > WORTH

    def go(self, begin: Sequence[Any], lead: Array, most: int, *, jolted: bool) -> Leapt | None:
        """As many steps as go well from t, q, v and the impulses before; None where none does."""
        world, n = self._world, len(lead)
        rows = world.equations.leap(begin, lead, self._rules(), min(most, LONGEST), jolted=jolted)
        self._waited, self._pause = 0, 0 if len(rows) > 1 else min(2 * self._pause + 1, PAUSE)
        if not len(rows):
            return None
        m = len(world.names)
        cuts = np.cumsum([n, n, n, rows.shape[1] - 3 * n - m - 4, m, 2])
        q, v, first, P, u, off, put_back = np.split(rows, cuts, axis=1)
        return Leapt(q, v, first, P, u, np.append(put_back[:, 0], put_back[-1, 1]) > 0.0, *np.max(off, axis=0).tolist())

    def _rules(self) -> LeapRules:
        world, steps = self._world, self._steps
        slack = SLACK * world.round_off
        return LeapRules(
            self._h, REACH, REST, world.closed_below, slack, self._impulses.accuracy, steps.fine,
            float(world.sizes.v.max()), float(steps.restless or steps.joined),
            world.tolerances.residual * float(world.sizes.q.max()),
        )  # fmt: skip
