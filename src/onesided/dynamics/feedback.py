"""Sampling of feedback: when functions are called, what they returned, and what that does to a state."""

from dataclasses import replace
from typing import Any

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.tolerances import HALF_DIGITS
from onesided.base.types import Array
from onesided.dynamics.mechanics import MotionState
from onesided.system.equations import Equations
from onesided.system.held import Sampled, force_from, number_from

LAST = HALF_DIGITS  # of a sampling interval: a sample this close to the end is none


class FeedbackError(Exception):
    """A function failed: when, and how, in words."""


class Pace:
    """When the next sample is due; without feedback, never.

    Parameters
    ----------
    equations : of the motion, which hold the values.
    control, force : what was given to `simulate`.
    first, last : the time span.
    """

    def __init__(self, equations: Equations, control: Any, force: Sampled | None, first: float, last: float) -> None:
        self.equations, self.first, self.last = equations, first, last
        given = {"control": control, "force": force}
        self._given = {name: one for name, one in given.items() if isinstance(one, Sampled)}
        self._next = dict.fromkeys(self._given, 0)

    @property
    def sampled(self) -> bool:
        """Whether a control or a force is sampled: steps then end at the samples."""
        return bool(self._given)

    def _due(self, name: str) -> float:
        rate = self._given[name].rate
        t = self.first + self._next[name] / rate
        return t if t < self.last - LAST / rate else self.last

    def until(self) -> float:
        """The time of the next sample, or the end."""
        return min((self._due(name) for name in self._given), default=self.last)

    def begin(self, state: MotionState) -> MotionState:
        """The first sample; a function that fails there is refused."""
        if "control" in self._given:
            self._check_fixed(state)
        try:
            return replace(self.sample(state), work=state.work)
        except FeedbackError as error:
            raise UsageError(str(error)) from error

    def sample(self, state: MotionState) -> MotionState:
        """Call what is due at a state and hold the values; work is done where they change the energy.

        Raises
        ------
        FeedbackError
            Where a function fails.
        """
        if not self.sampled:
            return state
        held = self.equations.held
        assert held is not None  # noqa: S101 - there is feedback
        values: dict[str, Any] = {"control": held.p, "force": held.force}
        for name in self._given:
            if self._due(name) <= state.t < self.last:
                values[name] = self._called(name, state)
                self._next[name] += 1
        before = self._energy(state)
        held.put(state.t, values["control"], values["force"])
        return replace(state, work=state.work + self._energy(state) - before)

    def _called(self, name: str, state: MotionState) -> Any:
        names = self.equations.system.coordinates
        try:
            value = self._given[name].function(state.t, state.q.copy(), state.v.copy())
        except Exception as error:
            what = f"raised {type(error).__name__}: {error}"
            raise FeedbackError(f"`{name}` at t = {state.t:.9g} {what}") from error
        try:
            return number_from(value) if name == "control" else force_from(value, names)
        except (TypeError, ValueError) as error:
            what = str(error) if str(error).startswith("returned") else f"returned {value!r}, expected numbers"
            raise FeedbackError(f"`{name}` at t = {state.t:.9g} {what}") from error

    def _energy(self, state: MotionState) -> float:
        """The energy, which a sampled control may change at once."""
        return self.equations.energy(state.t, state.q, state.v) if "control" in self._given else 0.0

    def _check_fixed(self, state: MotionState) -> None:
        """Refuse a sampled control that moves constraints: they would jump."""
        equations = self.equations
        held = equations.held
        assert held is not None  # noqa: S101 - there is feedback
        found = []
        for p in (0.0, 1.0):
            held.put(self.first, p, held.force)
            found.append(self._residuals(state))
        names = (*equations.system.bilateral, *equations.system.unilateral)
        moved = [name for name, a, b in zip(names, *found, strict=True) if a != b]
        if moved:
            raise UsageError(
                "a sampled control moves constraints, which would jump",
                got=", ".join(moved),
                expected="a control that energy or forces depend on",
                advice="a function of time, or a sampled force",
            )

    def _residuals(self, state: MotionState) -> Array:
        system, zero = self.equations.system, np.zeros(self.equations.n)
        terms = self.equations.terms(state.t, state.q, zero, state.v, np.zeros(self.equations.m))
        return np.concatenate([terms.c[: len(system.bilateral)], self.equations.gaps(state.t, state.q)])

    def steps(self, length: float) -> int:
        """How many equal steps of at most this length a time-stepping method takes so that samples fall between steps.

        Raises
        ------
        UsageError
            Where the time span is not a whole number of sampling intervals.
        """
        span, count = self.last - self.first, 1
        for one in self._given.values():
            whole = round(span * one.rate)
            if whole < 1 or abs(span * one.rate - whole) > LAST * whole:
                raise UsageError(
                    "the time span is not a whole number of sampling intervals",
                    got=f"{span:g} at a rate of {one.rate:g}",
                    expected="span × rate = 1, 2, …",
                    advice="another span or rate, or EventDriven()",
                )
            count = int(np.lcm(count, whole))
        return count * max(1, int(np.ceil(span / count / length * (1.0 - HALF_DIGITS))))
