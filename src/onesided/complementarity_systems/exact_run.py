"""The loop of event-driven exact integration: flow, first zero of a guard, next mode."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from onesided._types import Array, Status
from onesided.complementarity_systems.exact import Flow, first_zero, peaks
from onesided.complementarity_systems.signals import generator
from onesided.results.complementarity_motion import Switch

STUCK = 50  # switches at one moment


@dataclass(frozen=True, eq=False)
class Mode:
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
    def begin(self, z: Array, sizes: Array) -> Mode:
        """Mode at the start."""

    @abstractmethod
    def after(self, z: Array, mode: Mode, hit: int, sizes: Array) -> Mode:
        """Mode after a switch."""


class Record(NamedTuple):
    """What a run returns: states with the generator appended, forces and slacks at the times asked for."""

    z: Array
    s: Array
    w: Array
    first_taut: Array
    peaks: Array
    switches: tuple[Switch, ...]
    status: Status
    note: str
    steps: int


@dataclass(eq=False)
class ExactRun:
    """One event-driven run."""

    automaton: Automaton
    times: Array
    max_switches: int
    flows: dict[object, Flow] = field(default_factory=dict)

    def __call__(self, z: Array) -> Record:
        """Run from z at times[0] to times[-1]."""
        self.t, self.z, self.sizes = float(self.times[0]), z, np.maximum(np.abs(z), self._unit(len(z)))
        self.mode = self.automaton.begin(z, self.sizes)
        m = len(self.automaton.names)
        self.first = np.array(self.mode.taut, dtype=float)
        self.out: list[tuple[Array, Array, Array]] = []
        self.switches: list[Switch] = []
        self.top, self.steps, stuck = np.zeros(2 * m), 0, 0
        self._sample(0.0, 0.0, include_start=True)
        status, note = Status.solved, ""
        while self.t < self.times[-1] and status is Status.solved:
            before = self.t
            status = self._step()
            stuck = stuck + 1 if self.t == before else 0
            if stuck > STUCK:
                status, note = Status.stalled, f"the modes do not settle at t = {self.t:.10g}"
        if status is Status.enough:
            note = f"stopped after {len(self.switches)} switches at t = {self.t:.10g}"
        zs, s, w = (np.array(part) for part in zip(*self.out, strict=True))
        return Record(zs, s, w, self.first, self.top, tuple(self.switches), status, note, self.steps)

    def _unit(self, count: int) -> Array:
        unit = np.zeros(count)
        unit[count - 1 - 2 * len(self.automaton.frequencies) :] = 1.0
        return unit

    def _flow(self) -> Flow:
        if self.mode.key not in self.flows:
            rows = np.vstack([self.mode.guards, self.mode.S, self.mode.W])
            self.flows[self.mode.key] = Flow.of(self.mode.A, rows, float(self.times[-1] - self.times[0]))
        return self.flows[self.mode.key]

    def _step(self) -> Status:
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
        return Status.solved if len(self.switches) < self.max_switches else Status.enough

    def _sample(self, h: float, part: float, include_start: bool = False) -> None:
        """Record the times asked for that lie in this part of the step."""
        done = len(self.out)
        if include_start:
            self.out.append((self.z, self.mode.S @ self.z, self.mode.W @ self.z))
            return
        while done < len(self.times) and self.times[done] <= self.t + part * h:
            z = self._flow().advance(self.z, (self.times[done] - self.t) / h)
            self.out.append((z, self.mode.S @ z, self.mode.W @ z))
            done += 1

    def _switch(self, hit: int) -> None:
        new = self.automaton.after(self.z, self.mode, hit, self.sizes)
        words = new.words or ("",) * len(new.taut)
        for i, name in enumerate(self.automaton.names):
            if new.taut[i] != self.mode.taut[i] or words[i]:
                self.switches.append(Switch(self.t, name, new.taut[i], words[i]))
        self.mode = new
