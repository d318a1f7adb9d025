"""The loop of event-driven exact integration: flow, first zero of a guard, next mode."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from onesided.base.types import Array, Status
from onesided.dynamics.switching.exact import Flow, first_zero, peaks
from onesided.dynamics.switching.runs import Claim, LinearRun, RunPoint, RunTrail
from onesided.dynamics.switching.signals import generator
from onesided.results.complementarity_motion import Switch

STUCK = 50  # switches at one moment


@dataclass(frozen=True, eq=False)
class LinearMode:
    """What holds between two switches: ż = A z while guards @ z ≥ 0; s = S z, w = W z.

    `key` tells modes apart; `taut` (m,) says which pairs carry a force; `words` say why it began, one per pair.
    """

    key: object
    A: Array
    guards: Array
    S: Array
    W: Array
    taut: tuple[bool, ...]
    words: tuple[str, ...] = ()


class Automaton(ABC):
    """What decides the modes.

    1. `begin` returns the mode right after the start;
    2. `after` returns the mode right after guard `hit` fell to zero at z; it may equal the one before (a graze).
    """

    names: tuple[str, ...]
    frequencies: tuple[float, ...]

    @abstractmethod
    def begin(self, z: Array, sizes: Array) -> LinearMode:
        """The mode right after the start z; `sizes` (N,) are the largest entries of z so far."""

    @abstractmethod
    def after(self, z: Array, mode: LinearMode, hit: int, sizes: Array) -> LinearMode:
        """The mode right after guard number `hit` of `mode` fell to zero at z."""


@dataclass(eq=False)
class ExactRun(LinearRun):
    """One event-driven run from z, the state (n) with the generator of the inputs appended."""

    automaton: Automaton
    times: Array
    max_switches: int
    z: Array
    n: int
    flows: dict[object, Flow] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.t, self.sizes = float(self.times[0]), np.maximum(np.abs(self.z), self._unit(len(self.z)))
        self.mode = self.automaton.begin(self.z, self.sizes)
        self.first = np.array(self.mode.taut, dtype=float)
        self.out = [(self.z, self.mode.S @ self.z)]
        self.trail = [(self.t, self.z)]
        self.switches: list[Switch] = []
        self.top, self.steps, self.stuck = np.zeros(2 * len(self.automaton.names)), 0, 0
        self.status, self.note = Status.solved, ""

    def advance(self) -> bool:
        """One step of the flow, or up to a switch."""
        if self.status is not Status.solved or self.t >= self.times[-1]:
            return False
        before = self.t
        self._step()
        self.trail.append((self.t, self.z))
        self.stuck = self.stuck + 1 if self.t == before else 0
        if self.stuck > STUCK:
            self.status, self.note = Status.stalled, f"the modes do not settle at t = {self.t:.10g}"
        elif len(self.switches) >= self.max_switches:
            self.status = Status.enough
            self.note = f"stopped after {len(self.switches)} switches at t = {self.t:.10g}"
        return True

    def here(self) -> RunPoint:
        """The last point that was reached."""
        return RunPoint(self.t, self.z[: self.n], self.mode.S @ self.z, self.mode.taut, len(self.switches))

    def claim(self) -> Claim:
        """States and forces at the times reached."""
        z, s = (np.array(part) for part in zip(*self.out, strict=True))
        t, path = (np.array(part) for part in zip(*self.trail, strict=True))
        m = len(self.automaton.names)
        return Claim(
            self.times[: len(z)], z[:, : self.n], s, self.first, self.top[:m], self.top[m:], tuple(self.switches),
            self.status, self.note, {"steps": self.steps}, RunTrail(t, path[:, : self.n]),
        )  # fmt: skip

    def _unit(self, count: int) -> Array:
        unit = np.zeros(count)
        unit[count - 1 - 2 * len(self.automaton.frequencies) :] = 1.0
        return unit

    def _flow(self) -> Flow:
        if self.mode.key not in self.flows:
            rows = np.vstack([self.mode.guards, self.mode.S, self.mode.W])
            self.flows[self.mode.key] = Flow.of(self.mode.A, rows, float(self.times[-1] - self.times[0]))
        return self.flows[self.mode.key]

    def _step(self) -> None:
        """One step: to its end, to the last time, or to the first zero of a guard."""
        flow, count = self._flow(), len(self.mode.guards)
        end = min(1.0, (self.times[-1] - self.t) / flow.h)
        series = flow.series(self.z, self.sizes, count)
        found = first_zero(series[:count], end)
        part = end if found is None else found[0]
        if part > 0:
            self.top = np.maximum(self.top, peaks(series[count:], part))
            self._sample(flow.h, part)
            self.t = float(self.times[-1]) if found is None and end < 1 else self.t + part * flow.h
            self.z = flow.advance(self.z, part)
            known = generator(self.t, self.automaton.frequencies)
            self.z[len(self.z) - len(known) :] = known
            self.sizes = np.maximum(self.sizes, np.abs(self.z))
        self.steps += 1
        if found is not None:
            self._switch(found[1])

    def _sample(self, h: float, part: float) -> None:
        """Record the times asked for that lie in this part of the step."""
        done = len(self.out)
        while done < len(self.times) and self.times[done] <= self.t + part * h:
            z = self._flow().advance(self.z, (self.times[done] - self.t) / h)
            self.out.append((z, self.mode.S @ z))
            done += 1

    def _switch(self, hit: int) -> None:
        new = self.automaton.after(self.z, self.mode, hit, self.sizes)
        words = new.words or ("",) * len(new.taut)
        for i, name in enumerate(self.automaton.names):
            if new.taut[i] != self.mode.taut[i] or words[i]:
                self.switches.append(Switch(self.t, name, new.taut[i], words[i]))
        self.mode = new
