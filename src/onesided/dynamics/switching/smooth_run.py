"""Event-driven integration of nonlinear complementarity-slackness systems: a high-order method and located switches."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import DOP853
from scipy.optimize import brentq, minimize_scalar

from onesided.base.tolerances import EPS, HALF_DIGITS, QUARTER_DIGITS, SMALL
from onesided.base.types import Array, Mask, Status
from onesided.dynamics.switching.runs import Claim, LinearRun, RunPoint, RunTrail
from onesided.dynamics.switching.slackness import SlacknessSystem
from onesided.results.complementarity_motion import Switch

PARTS = 8  # places looked at within a step
STUCK = 50
POLISH = 3
NEARLY = 0.95  # of the largest value so far

Dense = Callable[[float], Array]


@dataclass(eq=False)
class SmoothRun(LinearRun):
    """One run from x; `rtol` and `atol` are those of DOP853."""

    system: SlacknessSystem
    times: Array
    rtol: float
    atol: float
    max_switches: int
    x: Array

    def __post_init__(self) -> None:
        self.t, self.status, self.note = float(self.times[0]), Status.solved, ""
        self.taut = self._first(self.x)
        self.first, self.switches, self.steps, self.stuck = self.taut.copy(), list[Switch](), 0, 0
        self.out = [(self.x, self.system.forces(self.t, self.x, self.taut))]
        self.trail = [(self.t, self.x)]
        self.peak_s, self.peak_w = np.zeros(self.system.m), np.zeros(self.system.m)
        self.solver: DOP853 | None = None

    def advance(self) -> bool:
        """One step, or up to a switch; after a switch the solver begins anew."""
        if self.status is not Status.solved or self.t >= self.times[-1]:
            return False
        fresh = self.solver is None
        if self.solver is None:
            self.solver, self.began = self._solver(self.t, self.x, float(self.times[-1])), self.t
        switched = self._step(self.solver, fresh)
        self.trail.append((self.t, self.x))
        if switched:
            self.solver = None
            self.stuck = self.stuck + 1 if self.t - self.began <= SMALL * abs(self.t) else 0
        if self.stuck > STUCK or len(self.switches) >= self.max_switches:
            self.note = f"stopped at t = {self.t:.10g} after {len(self.switches)} switches"
            self.status = Status.stalled if self.stuck > STUCK else Status.enough
        return True

    def here(self) -> RunPoint:
        """The state reached."""
        s = self.system.forces(self.t, self.x, self.taut)
        return RunPoint(self.t, self.x, s, tuple(bool(value) for value in self.taut), len(self.switches))

    def claim(self) -> Claim:
        """States and forces at the times reached."""
        x, s = (np.array(part) for part in zip(*self.out, strict=True))
        trail = RunTrail(*(np.array(part) for part in zip(*self.trail, strict=True)))
        return Claim(
            self.times[: len(x)], x, s, self.first.astype(float), self.peak_s, self.peak_w, tuple(self.switches),
            self.status, self.note, {"steps": self.steps}, trail,
        )  # fmt: skip

    def _first(self, x: Array) -> Mask:
        """Pairs that are taut right after the start; one at zero is judged a moment later."""
        system, t = self.system, float(self.times[0])
        taut = system.taut_at(t, x, np.zeros(system.m, dtype=bool))
        rate = np.asarray(system.rate(t, x, system.forces(t, x, taut)))
        guards = self._guards(t, x, taut)
        size = np.abs(np.asarray(system.slack(t, x, np.zeros(system.m)))).max(initial=0.0)
        ahead = (self.times[-1] - t) * HALF_DIGITS
        later = system.taut_at(t + ahead, x + ahead * rate, taut)
        return np.where(np.abs(guards) <= SMALL * size, later, taut)

    def _guards(self, t: float, x: Array, taut: Mask) -> Array:
        """Return s where taut, y where slack: both must stay positive."""
        s = self.system.forces(t, x, taut)
        return np.where(taut, s, np.asarray(self.system.slack(t, x, s)))

    def _solver(self, t: float, x: Array, end: float) -> DOP853:
        taut, system = self.taut.copy(), self.system

        def rate(tau: float, y: Any) -> Any:
            return system.rate(tau, y, system.forces(tau, y, taut))

        return DOP853(
            rate,
            t,
            np.asarray(x, dtype=np.float64),
            end,
            rtol=self.rtol,
            atol=self.atol,
        )

    def _step(self, solver: DOP853, fresh: bool) -> bool:
        """One step of the solver; whether it ended early, at a switch or a kink."""
        t0, x0 = solver.t, solver.y
        failed = solver.step()
        self.steps += 1
        if failed:
            self.status, self.note = Status.step_too_small, f"the steps became too small at t = {solver.t:.10g}"
            return False
        dense = solver.dense_output()
        found = self._first_zero(dense, t0, solver.t, fresh)
        self._sample(dense, t0, solver.t if found is None else found[0])
        if found is None:
            self.t, self.x = solver.t, solver.y
            return False
        end, hit = found
        self.t, self.x = self._polish(t0, x0, end, hit)
        if hit < self.system.m:
            self.taut[hit] ^= True
            self.switches.append(Switch(self.t, self.system.names[hit], bool(self.taut[hit])))
        return True

    def _first_zero(self, at: Dense, t0: float, t1: float, fresh: bool) -> tuple[float, int] | None:
        """First guard that falls below zero within a step, or kink that is passed; peaks are noted on the way."""
        places = np.linspace(t0, t1, PARTS + 1)
        values = np.array([self._watched(t, at(t)) for t in places])
        dips = self._dips(at, places, values, fresh)
        if dips:
            places = np.unique(np.concatenate([places, dips]))
            values = np.array([self._watched(t, at(t)) for t in places])
        hits = []
        for i in range(values.shape[1]):
            k = self._passed(values[:, i], i, fresh)
            if k is None:
                continue
            if values[k, i] * values[k + 1, i] < 0 and not (fresh and k == 0 and self._just_switched(i)):
                hits.append((self._zero(at, i, places[k], places[k + 1]), i))
            else:
                hits.append((float(places[k]), i))
        found = min(hits) if hits else None
        if found is not None:
            places = np.linspace(t0, found[0], PARTS + 1)
            values = np.array([self._watched(t, at(t)) for t in places])
        self._note_peaks(at, places, values[:, : self.system.m])
        return found

    def _dips(self, at: Dense, places: Array, values: Array, fresh: bool) -> list[float]:
        """Where guards dip below zero between places at which they are positive."""
        dips = []
        for i in range(self.system.m):
            k = int(np.argmin(values[:, i]))
            near = values[max(k - 1, 0) : k + 2, i]
            if (fresh and k == 0) or not 0 < values[k, i] < near.max() - values[k, i]:
                continue
            low, value = self._extreme(at, i, 1.0, (places[max(k - 1, 0)], places[min(k + 1, PARTS)]))
            if value < 0:
                dips.append(low)
        return dips

    def _extreme(self, at: Dense, i: int, sign: float, bounds: tuple[float, float]) -> tuple[float, float]:
        """Place and value of the smallest sign × guard between two times."""

        def guard(t: float) -> float:
            return sign * float(self._guards(t, at(t), self.taut)[i])

        found: Any = minimize_scalar(guard, bounds=bounds, method="bounded", options={"xatol": SMALL})
        return float(found.x), float(found.fun)

    def _zero(self, at: Dense, i: int, low: float, high: float) -> float:
        def watched(t: float) -> float:
            return float(self._watched(t, at(t))[i])

        return float(brentq(watched, low, high, xtol=EPS, rtol=4 * EPS))

    def _watched(self, t: float, x: Array) -> Array:
        """The guards, then the kinks."""
        guards = self._guards(t, x, self.taut)
        if self.system.kinks is None:
            return guards
        kinks = self.system.kinks(t, x, self.system.forces(t, x, self.taut))
        return np.concatenate([guards, np.asarray(kinks, dtype=float)])

    def _passed(self, values: Array, i: int, fresh: bool) -> int | None:
        """Part of the step in which a guard falls below zero, or a kink changes its sign."""
        if i < self.system.m:
            below = np.flatnonzero(values[1:] < 0)
            return int(below[0]) if below.size else None
        changed = np.flatnonzero(values[1:] * values[:-1] < 0)
        changed = changed[changed > 0] if fresh else changed
        return int(changed[0]) if changed.size else None

    def _just_switched(self, i: int) -> bool:
        if not self.switches or i >= self.system.m:
            return False
        return self.switches[-1].t == self.t and self.switches[-1].name == self.system.names[i]

    def _polish(self, t0: float, x0: Array, t: float, hit: int) -> tuple[float, Array]:
        """Integrate to the switch itself and correct its time by the slope of the guard."""
        x = self._to(t0, x0, t)
        for _ in range(POLISH):
            s = self.system.forces(t, x, self.taut)
            rate = np.asarray(self.system.rate(t, x, s))
            ahead = HALF_DIGITS * max(abs(t - t0), abs(t) * QUARTER_DIGITS)
            if ahead == 0:
                break
            here = self._watched(t, x)[hit]
            slope = (self._watched(t + ahead, x + ahead * rate)[hit] - here) / ahead
            change = -here / slope if slope != 0 else 0.0
            if not abs(change) <= (t - t0) * QUARTER_DIGITS or t + change <= t0:
                break
            t, x = t + change, self._to(t0, x0, t + change)
        return t, x

    def _to(self, t0: float, x0: Array, t: float) -> Array:
        if t <= t0:
            return x0
        solver = self._solver(t0, x0, t)
        while solver.status == "running":
            solver.step()
        return np.asarray(solver.y)

    def _sample(self, at: Dense, t0: float, t1: float) -> None:
        while (done := len(self.out)) < len(self.times) and self.times[done] <= t1:
            x = at(self.times[done])
            self.out.append((x, self.system.forces(self.times[done], x, self.taut)))

    def _note_peaks(self, at: Dense, places: Array, values: Array) -> None:
        """Largest guards; one that may be the largest so far is looked for between the places."""
        top = values.max(axis=0)
        for i in map(int, np.flatnonzero(top > NEARLY * np.where(self.taut, self.peak_s, self.peak_w))):
            k = int(np.argmax(values[:, i]))
            bounds = (places[max(k - 1, 0)], places[min(k + 1, len(places) - 1)])
            top[i] = max(top[i], -self._extreme(at, i, -1.0, bounds)[1])
        self.peak_s = np.maximum(self.peak_s, np.where(self.taut, top, 0.0))
        self.peak_w = np.maximum(self.peak_w, np.where(self.taut, 0.0, top))
