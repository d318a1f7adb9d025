"""Forces and controls that change with time limit the steps, also while nothing moves."""

import math

import numpy as np

from onesided.base.types import Status
from onesided.dynamics.mechanics import MotionState
from onesided.dynamics.smooth.stepper import Stepper
from onesided.dynamics.watching.resolve import PARTS, node_times, tails
from onesided.evaluation.outside import FELT, SEEN
from onesided.linalg.interpolants import DEGREE
from onesided.system.equations import Equations

LONGEST = 0.0625  # of the time span: the longest step, so that pulses are not stepped over at rest
HALVED = 2.0**-12  # of the time span: steps that are not cut, because forces may jump


class Forcing:
    """Looks at what acts from outside along each step, the state held as it is at its beginning."""

    def __init__(self, equations: Equations, span: float) -> None:
        self._equations, self._least, self._most = equations, HALVED * span, LONGEST * span
        self.changes, self.words = equations.forced, ""

    def step(self, stepper: Stepper, end: float) -> tuple[Stepper, Status | None]:
        """One step that resolves what acts from outside: the stepper as it was before, and how the step went."""
        if self.changes:
            stepper.h = min(stepper.h, self._most)
        tried = math.inf
        while True:
            before = stepper.snapshot()
            failed = stepper.step(end)
            if failed is not None or not self._missed(before.state, stepper.state):
                return before, failed
            length = stepper.state.t - before.state.t
            if not length < tried:  # a step of fixed size
                self.words = "what acts from outside changes faster than the fixed steps resolve"
                return before, failed
            tried = length
            stepper.restore(before)
            stepper.h = 0.5 * length
            stepper.rejected += 1

    def _missed(self, before: MotionState, after: MotionState) -> bool:
        """Whether forces or controls change within a step in a way that its samples do not resolve."""
        if not self.changes or after.t - before.t <= self._least:
            return False
        ends = np.linspace(before.t, after.t, PARTS + 1)
        values = self._equations.forcing_along(node_times(ends), before.q, before.v)
        pieces = values.reshape(PARTS, DEGREE + 1, -1)
        change = np.ptp(values, axis=0)
        forces, size = len(before.q), np.max(np.abs(values), axis=0)
        size[:forces] = np.max(size[:forces], initial=0.0)
        felt = change > FELT * size
        return bool(np.any(np.max(tails(pieces), axis=0)[felt] > SEEN * change[felt]))
