"""Event-driven integration of nonlinear complementarity-slackness systems: a high-order method and located switches."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import DOP853
from scipy.optimize import minimize_scalar

from onesided.base.tolerances import HALF_DIGITS, QUARTER_DIGITS, SMALL
from onesided.base.types import Array, Mask, Status
from onesided.dynamics.switching.runs import Claim, LinearRun, RunPoint, RunTrail
from onesided.dynamics.switching.slackness import SlacknessSystem
from onesided.dynamics.watching.resolve import Search, Signs
from onesided.results.complementarity_motion import Switch

STUCK = 50
POLISH = 3
NOISE = 4.0  # times what a guard is below zero where it should be zero
NEARLY = 0.95  # of the largest value so far

Dense = Callable[[Any], Array]  # (n,) at a time, (n, N) at N times


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
        self.hit: int | None = None  # the guard or kink at which the last step ended
        self.vague: dict[str, float] = {}  # what could not be resolved, and when

    def advance(self) -> bool:
        """One step, or up to a switch; after a switch the solver begins anew."""
        if self.status is not Status.solved or self.t >= self.times[-1]:
            return False
        if self.solver is None:
            self.solver, self.began = self._solver(self.t, self.x, float(self.times[-1])), self.t
        switched = self._step(self.solver)
        self.trail.append((self.t, self.x))
        if switched:
            self.solver = None
            self.stuck = self.stuck + 1 if self.t - self.began <= SMALL * abs(self.t) else 0
        if self.stuck > STUCK or len(self.switches) >= self.max_switches:
            self.note = f"stopped at t = {self.t:.10g} after {len(self.switches)} switches"
            self.status = Status.stalled if self.stuck > STUCK else Status.enough
        return True

    def here(self) -> RunPoint:
        """The last point that was reached."""
        s = self.system.forces(self.t, self.x, self.taut)
        return RunPoint(self.t, self.x, s, tuple(bool(value) for value in self.taut), len(self.switches))

    def claim(self) -> Claim:
        """States and forces at the times reached."""
        x, s = (np.array(part) for part in zip(*self.out, strict=True))
        trail = RunTrail(*(np.array(part) for part in zip(*self.trail, strict=True)))
        return Claim(
            self.times[: len(x)], x, s, self.first.astype(float), self.peak_s, self.peak_w, tuple(self.switches),
            self.status, "; ".join(text for text in (self.note, self._not_resolved()) if text), {"steps": self.steps},
            trail,
        )  # fmt: skip

    def _not_resolved(self) -> str:
        each = ", ".join(f"{name} near t = {t:.6g}" for name, t in self.vague.items())
        return f"not resolved, switches may have been missed: {each}" if each else ""

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
        if self.system.slack_s is None:  # y = s + y(0)
            free = np.asarray(self.system.slack(t, x, np.zeros(self.system.m)))
            return np.where(taut, -free, free)
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

    def _step(self, solver: DOP853) -> bool:
        """One step of the solver; whether it ended early, at a switch or a kink."""
        t0, x0 = solver.t, solver.y
        failed = solver.step()
        self.steps += 1
        if failed:
            self.status, self.note = Status.step_too_small, f"the steps became too small at t = {solver.t:.10g}"
            return False
        dense = solver.dense_output()
        found = self._first_zero(dense, t0, solver.t)
        self._sample(dense, t0, solver.t if found is None else found[0])
        self.hit = None
        if found is None:
            self.t, self.x = solver.t, solver.y
            return False
        end, hit = found
        self.hit = hit
        self.t, self.x = self._polish(t0, x0, end, hit)
        if hit < self.system.m:
            self.taut[hit] ^= True
            self.switches.append(Switch(self.t, self.system.names[hit], bool(self.taut[hit])))
        return True

    def _first_zero(self, at: Dense, t0: float, t1: float) -> tuple[float, int] | None:
        """First guard that falls below zero within a step, or kink that is passed; peaks are noted on the way."""
        seen: dict[float, Array] = {}

        def look(times: Array) -> Array:
            values = [self._watched(t, x) for t, x in zip(times.tolist(), at(times).T, strict=True)]
            seen.update(zip(times.tolist(), values, strict=True))
            return np.array(values)

        first = look(np.array([t0]))[0]
        sign, bands = np.sign(first), np.zeros(len(first))
        sign[: self.system.m] = 1.0  # guards are positive, or about to be: what they lack at the beginning is noise
        bands[: self.system.m] = NOISE * np.maximum(-first[: self.system.m], 0.0)
        if self.hit is not None and self.hit >= self.system.m:  # this kink was passed just now
            sign[self.hit], bands[self.hit] = 0.0, NOISE * abs(first[self.hit])
        search = Search(look, Signs(sign, np.full(len(sign), t0)), bands, np.zeros(len(sign)), eager=False)
        found = next(search.crossings(t0, t1, 1), None)
        self.vague |= {self._name(i): t for i, t in search.vague.items()}
        end = t1 if found is None else found.guess
        places = np.array(sorted(t for t in seen if t <= end))
        self._note_peaks(at, places, np.array([seen[float(t)][: self.system.m] for t in places]))
        return None if found is None else (end, found.which)

    def _name(self, i: int) -> str:
        return f"'{self.system.names[i]}'" if i < self.system.m else f"kink {i - self.system.m + 1}"

    def _extreme(self, at: Dense, i: int, sign: float, bounds: tuple[float, float]) -> tuple[float, float]:
        """Place and value of the smallest sign × guard between two times."""

        def guard(t: float) -> float:
            return sign * float(self._guards(t, at(t), self.taut)[i])

        found: Any = minimize_scalar(guard, bounds=bounds, method="bounded", options={"xatol": SMALL})
        return float(found.x), float(found.fun)

    def _watched(self, t: float, x: Array) -> Array:
        """The guards, then the kinks."""
        guards = self._guards(t, x, self.taut)
        if self.system.kinks is None:
            return guards
        kinks = self.system.kinks(t, x, self.system.forces(t, x, self.taut))
        return np.concatenate([guards, np.asarray(kinks, dtype=float)])

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
