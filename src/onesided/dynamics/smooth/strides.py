"""Stretches of smooth motion by compiled calls of many steps each, where nothing is watched."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from onesided.dynamics.mechanics import Mechanics, MotionState
from onesided.evaluation.smooth_steps import LONGEST, SeenSizes, StrideRules

AGAIN = 2  # steps one by one before
WORTH = 400  # steps, of all motions of a system so far and to come in this one, that pay for the compilation
SHORT = 4  # steps of one call that do not pay for it


class StrideLimits(NamedTuple):
    """Last time, accuracy, longest and smallest step; share of the time left that a step should have; most points."""

    end: float
    rtol: float
    longest: float
    smallest: float
    tiny: float
    wanted: int = LONGEST


class MotionStretch(NamedTuple):
    """States one after the other, the step to try next, evaluations and refused steps."""

    states: list[MotionState]
    h: float
    evaluations: int
    refused: int


def rules(mechanics: Mechanics, limits: StrideLimits) -> StrideRules:
    """What a call of many steps is given."""
    return StrideRules(
        limits.end, mechanics.equations.p, limits.rtol, limits.longest, limits.smallest, mechanics.tolerances.residual,
        mechanics.weights, mechanics.reference, mechanics.sizes.home, mechanics.sizes.close, mechanics.sizes.share,
        limits.tiny, float(limits.wanted), mechanics.units,
    )  # fmt: skip


def sizes(mechanics: Mechanics) -> SeenSizes:
    """Sizes as a call of many steps takes them."""
    return SeenSizes(mechanics.sizes.q, mechanics.sizes.v, np.array(mechanics.sizes.seen))


def packed(state: MotionState) -> Any:
    """A state as one row of numbers."""
    return np.concatenate([(state.t, state.power, state.work), state.q, state.v, state.a, state.mu])


def unpacked(row: Any, n: int) -> MotionState:
    """A state from its row."""
    q, v, a = row[3 : 3 + n], row[3 + n : 3 + 2 * n], row[3 + 2 * n : 3 + 3 * n]
    return MotionState(float(row[0]), q, v, a, row[3 + 3 * n :], float(row[2]), float(row[1]))


def strides(mechanics: Mechanics, state: MotionState, h: float, limits: StrideLimits) -> MotionStretch:
    """As many steps as go well, in one call; sizes are brought up to date."""
    equations, n, start = mechanics.equations, len(state.q), packed(state)
    steps = equations.functions.strides.steps
    out = np.asarray(steps((start, h), sizes(mechanics), rules(mechanics, limits), equations.parameters))
    count, evaluations, refused = (int(x) for x in out[:3])
    mechanics.sizes.q[:], mechanics.sizes.v[:] = out[4 : 4 + n], out[4 + n : 4 + 2 * n]
    mechanics.sizes.seen = (float(out[4 + 2 * n]), float(out[5 + 2 * n]))
    rows = out[6 + 2 * n :].reshape(LONGEST, -1)[:count]
    return MotionStretch([unpacked(row, n) for row in rows], float(out[3]), evaluations, refused)


class Strides:
    """When to take many steps at once: after some, where many more are to come and nothing needs to be looked at."""

    def __init__(self, stepper: Any, end: float, *, quiet: bool) -> None:
        self._stepper, self._end = stepper, end
        self._able, self._pause = quiet and hasattr(stepper, "stretch"), AGAIN

    def may_stride(self, number: int) -> bool:
        """Whether to try now, after a number of steps."""
        if not self._able or number < self._pause or not self._stepper.can_stride:
            return False
        of = self._stepper.mechanics.equations.functions.strides
        of.asked += 1
        return of.steps.ready or bool(self._end - self._stepper.state.t > (WORTH - of.asked) * self._stepper.h)

    def stride(self, number: int, most: int) -> Iterator[MotionState]:
        """States of many steps, call after call."""
        last = LONGEST
        while number < most and last >= SHORT and self._stepper.state.t < self._end:
            found = self._stepper.stretch(self._end, min(most - number, LONGEST))
            last, number = len(found), number + len(found)
            yield from found
        self._pause = number + AGAIN
