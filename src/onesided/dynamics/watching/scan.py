"""All events of a step in order of time: found on the motion within the step, then located by steps of their own."""

import math
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush, merge
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from onesided.base.types import Array
from onesided.dynamics.mechanics import MotionState
from onesided.dynamics.smooth.stepper import Stepper
from onesided.dynamics.watching.dense import DenseOutput
from onesided.dynamics.watching.resolve import ROUNDS, SHORTEST, Search, SignChange, Signs
from onesided.dynamics.watching.watched import Watched
from onesided.linalg.interpolants import ROUNDING

NEWTON = 8
JUMP = 16.0  # shortest pieces that a jump is located within
FEWER = 32  # pieces that are cut before a search is given up, once one was
LONG = 16.0  # a motion is looked at in at least so many times the pieces of one step
LOOSE = 0.001  # relative error of the motion within a step beyond which the step is looked at in halves
HALVES = 4  # times that a step is halved
FARTHER = 4.0  # times as far from its beginning a zero in doubt is looked for next
GUESSED = 2.0**-16  # of a span: how far a zero may be from where it was guessed, with nothing between
DOUBTFUL = 10.0  # a crossing no deeper than so many errors of the motion within the step is made sure of


class FoundZero(NamedTuple):
    """A function of a group that crosses zero, and the state there; that just before where the function jumps."""

    group: int
    which: int
    falling: bool
    state: MotionState
    before: MotionState | None = None


class Span(NamedTuple):
    """A step, or a part of it: a stepper at its beginning, the state at its end, the motion between."""

    start: Stepper
    end: MotionState
    dense: DenseOutput


class Scanner:
    """Watches groups of functions step after step.

    `length` is the duration of the whole motion; `vague` tells functions (group, index) that could not be resolved,
    with the time.
    """

    def __init__(self, groups: Sequence[Watched], start: MotionState, length: float) -> None:
        self._length = length
        self.groups = [(n, group) for n, group in enumerate(groups) if len(group.real(start))]
        self._signs: dict[int, Signs] = {}
        self.largest: dict[int, Array] = {}
        self.vague: dict[tuple[int, int], float] = {}

    def events(self, before: Stepper, after: MotionState) -> Iterator[FoundZero]:
        """What happens in a step."""
        if not self.groups:
            return
        for span in spans(before, after):
            found = merge(*(self._crossings(n, group, span) for n, group in self.groups), key=lambda c: c[0].guess)
            denied: dict[tuple[int, int], Watched] = {}
            late: list[tuple[float, int, FoundZero]] = []  # farther on than was guessed: others may come before
            at_once = GUESSED * (span.end.t - span.start.state.t)
            for k, (crossing, n, group, size) in enumerate(found):
                while late and late[0][0] <= crossing.guess:
                    yield heappop(late)[-1]
                place = _Located(span, group, crossing, ROUNDING * size)
                state = place.state()
                if state is None:
                    if not crossing.touch:
                        denied[n, crossing.which] = group
                    continue
                zero = FoundZero(n, crossing.which, crossing.falling, state, place.before)
                if not late and state.t - crossing.guess <= at_once:
                    yield zero
                else:
                    heappush(late, (state.t, k, zero))
            yield from (zero for *_, zero in sorted(late))
            for (n, f), group in denied.items():
                self._look_again(n, f, group, span)

    def _look_again(self, n: int, f: int, group: Watched, span: Span) -> None:
        """The sign at the end of a span of a function that did not cross zero there after all."""
        value, band = group.real(span.end)[f], group.doubt(span.dense, span.start.state)[0][f]
        self._signs[n].sign[f], self._signs[n].since[f] = np.sign(value) if abs(value) > band else 0.0, span.end.t

    def _crossings(self, n: int, group: Watched, span: Span) -> Iterator[tuple[SignChange, int, Watched, float]]:
        dense, state = span.dense, span.start.state
        bands, errors = group.doubt(dense, state)
        first = group.real(state)
        signs = self._signs.get(n)
        if signs is None:
            signs = self._signs[n] = Signs.of(first, np.maximum(bands, ROUNDING * np.abs(first)), state.t)
        rounds = FEWER if any(key[0] == n for key in self.vague) else ROUNDS
        search = Search(lambda times: group.along(dense, times), signs, bands, errors, group.eager, rounds)
        for crossing in search.crossings(state.t, span.end.t, group.parts * self._times(span)):
            yield crossing, n, group, float(search.size[crossing.which])
        self.largest[n] = np.maximum(self.largest.get(n, 0.0), search.size)
        for f, t in search.vague.items():
            self.vague.setdefault((n, f), t)

    def _times(self, span: Span) -> int:
        """How many times as many pieces a step is cut into at first that is a large part of the whole motion."""
        return max(1, math.ceil(LONG * (span.end.t - span.start.state.t) / self._length))


def spans(before: Stepper, after: MotionState, left: int = HALVES) -> Iterator[Span]:
    """The step, or parts of it on which the motion is known well enough."""
    dense = DenseOutput(before.mechanics, before.state, after)
    off = float(np.max(dense.error / before.mechanics.sizes.of_errors()[0]))
    middle = 0.5 * (before.state.t + after.t)
    if off <= LOOSE or not left or not before.state.t < middle < after.t:
        yield Span(before, after, dense)
        return
    half = advanced(before, middle)
    if half.state.t != middle:
        yield Span(before, after, dense)
        return
    yield from spans(before, half.state, left - 1)
    yield from spans(half, after, left - 1)


def advanced(before: Stepper, t: float) -> Stepper:
    """A stepper that has gone on to a time, as far as it can."""
    trial = before.trial()
    while trial.state.t < t:
        if trial.step(t) is not None:
            break
    return trial


class _Located:
    """The state at which a function vanishes, by steps from the beginning of the span."""

    def __init__(self, span: Span, group: Watched, crossing: SignChange, fine: float) -> None:
        self.span, self.group, self.crossing, self.fine = span, group, crossing, fine
        start, end = span.start.state, span.end
        self._states: dict[float, MotionState] = {start.t: start, end.t: end}
        self._values: dict[float, float] = {}
        self.low, self.high = max(crossing.low, start.t), min(crossing.high, end.t)
        self.before: MotionState | None = None

    def at(self, t: float) -> MotionState:
        """The state at a time within the span, by steps from its beginning."""
        if t not in self._states:
            self._states[t] = advanced(self.span.start, t).state
        return self._states[t]

    def value(self, t: float) -> float:
        """The function at the state integrated to a time."""
        if t not in self._values:
            self._values[t] = float(self.group.real(self.at(t))[self.crossing.which])
        return self._values[t]

    def state(self) -> MotionState | None:
        """The state at the zero; None where there is none after all."""
        crossing, sign = self.crossing, 1.0 if self.crossing.falling else -1.0
        bands, errors = self.group.doubt(self.span.dense, self.span.start.state)
        band, error = bands[crossing.which], errors[crossing.which]
        doubtful = crossing.touch or crossing.depth <= DOUBTFUL * error
        if doubtful and not self._crosses(sign, band):
            return None
        t = None if crossing.touch else self._newton()
        return self.at(self._bracketed() if t is None else t)

    def _crosses(self, sign: float, band: float) -> bool:
        """Whether a zero that is in doubt is one, there or, unless the function only touched it, later in the span."""
        begin, end = self.low, self.span.end.t
        while not sign * self.value(self.high) < -band:
            if self.crossing.touch or self.high >= end:
                return False
            self.high = min(begin + FARTHER * max(self.high - begin, float(np.spacing(abs(end)))), end)
        return True

    def _newton(self) -> float | None:
        """Newton's method with the slope of the interpolant, then the secant; None where it leaves the bracket."""
        t, slope, last = self.crossing.guess, self.crossing.slope, (math.nan, math.nan)
        for _ in range(NEWTON):
            value = self.value(t)
            if last[0] != t and math.isfinite(last[0]) and value != last[1]:
                slope = (value - last[1]) / (t - last[0])
            step = value / slope if slope else math.inf
            if abs(value) <= 0.25 * self.fine or abs(step) <= 2.0 * np.spacing(abs(self.high)):
                return t
            last, t = (t, value), t - step
            if not self.low <= t <= self.high or t in (last[0],):
                return None
        return None

    def _bracketed(self) -> float:
        low, high, guess = self.low, self.high, self.crossing.guess
        ends = abs(self.span.start.state.t), abs(self.span.end.t)
        if high - low <= JUMP * SHORTEST * np.spacing(max(ends)):
            self.before = self.at(low)
            return high
        first, last = self.value(low), self.value(high)
        if first * last > 0.0 or first == 0.0 or last == 0.0:
            return min((low, high, guess), key=lambda t: (abs(self.value(t)), t)) if last else high
        return float(brentq(self.value, low, high, xtol=2.0 * np.spacing(abs(high)), rtol=4.0 * np.spacing(1.0)))


Report = Callable[[int, int], str]


def vague_words(scanner: Scanner, name: Report) -> str:
    """Functions that could not be resolved, in words; empty where there are none."""
    each = [f"{name(*key)} near t = {t:.6g}" for key, t in scanner.vague.items()]
    return f"not resolved, zeros may have been missed: {', '.join(each)}" if each else ""
