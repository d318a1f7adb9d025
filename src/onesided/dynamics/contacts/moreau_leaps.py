"""Stretches of time steps by compiled calls of many steps each: when they are tried, and what they give."""

from typing import NamedTuple

import numpy as np

from onesided.base.tolerances import EPS
from onesided.base.types import Array
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

    `off` is the residual of the impulses, `unsettled` how far forces and velocities were from settling.
    """

    q: Array
    v: Array
    impulses: Array
    u: Array
    off: float
    unsettled: float

    def __len__(self) -> int:
        return len(self.q)


class Leaps:
    """When to take many steps at once: where they have paid for the compilation; rarely tried where that fails."""

    def __init__(self, world: World, steps: MoreauSteps, impulses: Impulses, h: float) -> None:
        self._world, self._steps, self._impulses, self._h = world, steps, impulses, h
        scheme, equations = steps.scheme, world.equations
        able = not (scheme.implicit or scheme.joined) and steps.equations is equations
        self.able = bool(able and len(world.names) and equations.n <= MOST and self._leaping.places <= MOST_PLACES)
        self._pause = self._waited = 0

    @property
    def _leaping(self) -> Leap:
        return self._world.equations.leaping

    def due(self, left: int) -> bool:
        """Whether to try now, with so many steps to come."""
        if not self.able:
            return False
        self._waited += 1
        if self._waited <= self._pause:
            return False
        self._leaping.asked += 1
        return self._leaping.steps.ready or self._leaping.asked + left > WORTH

    def go(self, t: float, q: Array, v: Array, impulses: Array, most: int) -> Leapt | None:
        """As many steps as go well; None where none does."""
        world, n = self._world, len(q)
        rows = world.equations.leap(t, q, v, impulses, self._rules(), min(most, LONGEST))
        self._waited, self._pause = 0, 0 if len(rows) > 1 else min(2 * self._pause + 1, PAUSE)
        if not len(rows):
            return None
        m = len(world.names)
        q, v, P, u, off = np.split(rows, [n, 2 * n, rows.shape[1] - m - 2, rows.shape[1] - 2], axis=1)
        return Leapt(q, v, P, u, *np.max(off, axis=0).tolist())

    def _rules(self) -> LeapRules:
        world, steps = self._world, self._steps
        slack = SLACK * EPS * float(world.sizes.q.max())
        return LeapRules(
            self._h, REACH, REST, world.closed_below, slack, self._impulses.accuracy, steps.fine,
            float(world.sizes.v.max()), float(steps.restless),
        )  # fmt: skip
