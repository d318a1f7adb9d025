"""The contract of steppers, and what they share: step-size control by the error of a step."""

import copy
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.tolerances import HALF_DIGITS
from onesided.base.types import Array, Status
from onesided.dynamics.mechanics import Mechanics, MotionState
from onesided.groups.group import MOST_TURN, Group
from onesided.linalg import dependent_rows

SAFETY, SHRINK, GROW = 0.9, 0.2, 6.0
NEAR = 0.01  # pivots below this share of the start's count as nearly singular
DEPENDENT = 0.1  # the same for singular values: the configuration is called nearly singular
MAX_SHOWN = 8
JUMPS = 0.001  # of the smallest step: forces that know the time may jump, which steps pass by being short


def where(mechanics: Mechanics, state: MotionState) -> str:
    """An instant and its configuration in words."""
    names = mechanics.equations.system.coordinates[:MAX_SHOWN]
    values = ", ".join(f"{name} = {value:.6g}" for name, value in zip(names, state.q, strict=False))
    more = ", …" if len(state.q) > MAX_SHOWN else ""
    return f"t = {state.t:.9g}, {values}{more}"


def jumps(mechanics: Mechanics, before: MotionState, after: MotionState, off: Array) -> bool:
    """Whether a step moved by more than velocities and accelerations at its ends explain: a constraint that jumps.

    `off` is the part of the step that its formula does not account for.
    """
    h = after.t - before.t
    speed = float(np.max(np.abs(before.v), initial=0.0) + np.max(np.abs(after.v), initial=0.0))
    bend = float(np.max(np.abs(before.a), initial=0.0) + np.max(np.abs(after.a), initial=0.0))
    noise = HALF_DIGITS * float(mechanics.sizes.q.max())
    return bool(np.max(np.abs(off), initial=0.0) > h * speed + h * h * bend + noise)


def longest_turn(space: Group, delta: Array, h: float) -> float:
    """The longest step with the speeds of one of size h, which moved by δ, that turns no body too far."""
    turn = 0.0 if space.flat else float(space.turn(delta))
    return h * MOST_TURN / turn if turn > 0.0 else math.inf


class Stepper(ABC):
    """One integration in progress.

    1. `state` is always consistent: on the constraints, with accelerations and multipliers that belong to it.
    2. `step(t_end)` moves `state` by one accepted step that does not pass `t_end`, and returns None; or it leaves
       `state` as it is and returns why it cannot, with `note` in words.
    3. `h` is the size of the step to be tried next; `evaluations` and `rejected` count work.
    """

    def __init__(self, mechanics: Mechanics, state: MotionState, h: float, t_end: float) -> None:
        self.mechanics, self.state, self.h = mechanics, state, h
        self.note = ""
        self.evaluations = self.rejected = 0
        self.independence = mechanics.independence(state.t, state.q, state.v)
        shorter = JUMPS if mechanics.equations.forced else 1.0
        self.smallest = shorter * mechanics.tolerances.minimum_step * abs(t_end - state.t)

    @abstractmethod
    def step(self, t_end: float) -> Status | None:
        """Advance by one step that does not pass `t_end`: None, or why it cannot (see above)."""

    def snapshot(self) -> "Stepper":
        """The stepper as it is now, to look back at or to return to; both have the same mechanics."""
        return copy.copy(self)

    def restore(self, before: "Stepper") -> None:
        """Return to the state that `before`, a snapshot, holds."""
        self.__dict__.update(before.__dict__)

    def trial(self) -> "Stepper":
        """A stepper that goes its own way from here: rows chosen and pivots met on it are not those of this one."""
        new = copy.copy(self)
        new.mechanics = copy.copy(self.mechanics)
        return new

    def stuck(self, *, finite: bool = True) -> Status:
        """Why no step can be taken: the model is not finite there, constraints become dependent, or unknown."""
        mechanics, state = self.mechanics, self.state
        at = where(mechanics, state)
        if not finite:
            self.note = f"the model is not finite just after {at}"
            return Status.not_finite
        if mechanics.independence(state.t, state.q, state.v) > DEPENDENT * self.independence:
            self.note = f"at {at}"
            return Status.step_too_small
        _, G = mechanics.equations.matrices(
            mechanics.equations.terms(state.t, state.q, np.zeros_like(state.q), state.v, state.mu)
        )
        rows = {i for group in dependent_rows(G, rank=DEPENDENT) for i in group}
        names = ", ".join(mechanics.equations.names[i] for i in sorted(rows)[:MAX_SHOWN])
        self.note = f"nearly dependent constraints ({names or 'all'}) at {at}"
        return Status.singular_configuration

    def too_small(self, h: float) -> bool:
        """Whether a step is below what makes sense."""
        return h < max(self.smallest, 4.0 * math.ulp(abs(self.state.t)))


@dataclass(frozen=True)
class Accuracy:
    """Error control: each step is accurate to `rtol` of the way gone so far and of the velocities.

    Sizes are those of `MotionSizes.of_errors`, component by component, but at least `floor` of the largest, in the
    units of coordinates.
    """

    rtol: float
    closely: bool = False
    floor: float = 0.01

    def norm(self, mechanics: Mechanics, dq: Array, dv: Array) -> float:
        """Root mean square of an error in units of the tolerance: 1 is as good as asked."""
        lengths, speeds = mechanics.sizes.of_errors(closely=self.closely)
        units = mechanics.units
        q, v = (
            x / np.maximum(sizes, self.floor * float(np.max(sizes / units)) * units)
            for x, sizes in ((dq, lengths), (dv, speeds))
        )
        return math.sqrt((q @ q + v @ v) / (2 * len(q))) / self.rtol


def check_knobs(rtol: float, step: float | None, max_step: float) -> None:
    """Refuse tolerances and steps that make no sense."""
    if not 0 < rtol < 1:
        raise UsageError("`rtol` is out of range", got=repr(rtol), expected="between 0 and 1")
    if step is not None and not 0 < step < math.inf:
        raise UsageError("`step` is out of range", got=repr(step), expected="a positive number, or None")
    if not max_step > 0:
        raise UsageError("`max_step` is out of range", got=repr(max_step), expected="a positive number")


def next_step(h: float, error: float, order: int, *, rejected: bool) -> float:
    """The step that makes the error of the next step a little smaller than 1."""
    factor = SAFETY * error ** (-1.0 / order) if error > 0 else GROW
    return float(h * min(1.0 if rejected else GROW, max(SHRINK, factor)))


def first_step(mechanics: Mechanics, state: MotionState, rtol: float, order: int, span: float) -> float:
    """A careful first step: small against the time in which velocities or positions change."""
    sizes = mechanics.sizes
    speed = float(np.max(np.abs(state.v) / sizes.q.max(), initial=0.0))
    change = float(np.max(np.abs(state.a) / sizes.v.max(), initial=0.0))
    fastest = max(speed, change, 1.0 / span)
    return float(min(span, rtol ** (1.0 / order) / fastest))


def limited(h: float, left: float) -> float:
    """The step, stretched or halved so that no tiny one is left over."""
    if h >= left * 0.999:
        return left
    return h if h < 0.5 * left else 0.5 * left
