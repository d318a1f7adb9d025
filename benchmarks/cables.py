"""What it costs to decide which of 16 slings are taut, and what whole motions cost; one table.

Run as `python benchmarks/cables.py`. Problems are those of implicit steps of the suspension structure with
m = 16 slings in which some slings are taut and some slack. Times include the recheck inside `solve`.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from onesided.complementarity import LCP, ActiveSet, Enumeration, HopfieldNetwork, Lemke, Method, solve
from onesided.complementarity_systems import LocatedSwitches, RungeKutta, SwitchingMethod, TimeStepping, simulate
from onesided.zoo.mast import Catenary, Mast, Taut
from onesided.zoo.suspension import Suspension

TARGET = 1000.0
SLINGS = 16


def mixed_problems(model: Suspension, most: int) -> list[tuple[LCP, np.ndarray]]:
    system, method = model.system(), TimeStepping(0.002)
    motion = simulate(system, method, times=(0.0, 2.0))
    count = (motion.s > 0).sum(axis=1)
    mixed = np.flatnonzero((count[1:] > 0) & (count[1:] < model.slings))
    chosen = mixed[np.linspace(0, len(mixed) - 1, min(most, len(mixed))).astype(int)]
    return [(method.problem(system, motion.t[k], motion.x[k], motion.s[k]), motion.s[k]) for k in chosen]


def fastest(call: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def deciding(label: str, model: Suspension) -> float:
    problems = mixed_problems(model, 20)
    methods: dict[str, tuple[Method, int]] = {
        "exhaustive": (Enumeration(limit=SLINGS), 1),
        "Lemke": (Lemke(), 20),
        "network": (HopfieldNetwork(), 20),
        "active set": (ActiveSet(), 20),
    }
    means = {}
    for name, (method, repeats) in methods.items():
        found = [solve(problem, method, start) for problem, start in problems]
        seconds = [fastest(lambda p=p, m=method: solve(p[0], m, p[1]), repeats) for p in problems]
        means[name] = statistics.fmean(seconds)
        counts = statistics.fmean(float(f.stats["iterations"]) for f in found)
        print(f"{label:12} {name:12} {counts:10.1f} candidates or sweeps {1e6 * means[name]:12.1f} µs per step")
    return means["exhaustive"] / means["active set"]


def motions() -> None:
    runs: dict[str, tuple[Any, SwitchingMethod, Any]] = {
        "suspension, exact events": (Suspension().system(), LocatedSwitches(), None),
        "suspension, stepping 1 ms": (Suspension().system(), TimeStepping(0.001), None),
        "mast, taut guys, events": (Mast(Taut()).system(), LocatedSwitches(), (0.015, 0.0075, 0.0, 0.0)),
        "mast, sagging guys": (Mast(Catenary()).system(), LocatedSwitches(), (0.015, 0.0075, 0.0, 0.0)),
        "mast, Runge-Kutta 0.1 s": (Mast(Taut()).system(), RungeKutta(0.1), (0.015, 0.0075, 0.0, 0.0)),
    }
    for label, (system, method, start) in runs.items():
        begin = time.perf_counter()
        motion = simulate(system, method, start, times=(0.0, 20.0))
        print(f"{label:28} 20 s in {time.perf_counter() - begin:6.2f} s, {len(motion.switches)} switches")


def main() -> None:
    even = deciding("even", Suspension(SLINGS, stiffness=6e5 / SLINGS, stretch=0.001))
    stiff = deciding("stiff", Suspension(SLINGS, stiffness=3.75e7, stretch=0.0))
    for label, ratio in (("even", even), ("stiff", stiff)):
        verdict = "met" if ratio >= TARGET else "MISSED"
        print(f"{label:12} exhaustive / active set = {ratio:.0f} (target {TARGET:.0f}: {verdict})")
    motions()


if __name__ == "__main__":
    main()
