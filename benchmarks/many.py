"""Many paths of one model: `trace_many` against a loop over `trace`, on every device that is here, in one run.

Run as `python benchmarks/many.py [paths]`. The model is a chain of four bistable units of unequal height with a stop at
its end: four coordinates, one contact, limit points and a corner limit point or a contact at the end. The loop runs on
one core; its events are compared with those of the same paths.
"""

import sys
import time
from typing import Any

import jax.numpy as jnp
import numpy as np

import onesided
from onesided.evaluation.cuda_lanes import has_gpu

HEIGHTS = np.array([1.0, 0.85, 1.15, 0.7])
START, BOUNDS = [0.0] * 4, (-0.5, 0.5)
COMPARED = 40  # paths that are traced one by one


def energy(q: Any, p: Any, th: Any) -> Any:
    """Energy of inclined bars whose feet are guided, under a load at the end."""
    moves = jnp.diff(jnp.concatenate([jnp.zeros(1), q]))
    now, before = (jnp.sqrt(th.a**2 + rise**2) for rise in (th.h * HEIGHTS - moves, th.h * HEIGHTS))
    return th.k / 2 * jnp.sum((now - before) ** 2) - p * q[-1]


def chain() -> onesided.System:
    """The model."""
    return onesided.System(
        coordinates=("a", "b", "c", "d"),
        energy=energy,
        unilateral={"stop": lambda q, p, th: th.w - q[-1]},
        parameters={"k": 1.0, "a": 1.0, "h": 0.5, "w": 1.0},
    )


def parameters(count: int) -> dict[str, Any]:
    """Random stiffness, width, height, and place of the stop."""
    rng = np.random.default_rng(0)
    ranges = {"k": (0.5, 2.0), "a": (0.8, 1.2), "h": (0.3, 0.7), "w": (0.4, 2.4)}
    return {name: rng.uniform(low, high, count) for name, (low, high) in ranges.items()}


def run(system: onesided.System, given: dict[str, Any], device: str) -> tuple[onesided.ManyPaths, float, float]:
    """The paths, the time of the first call of a few, and that of all, called for the second time."""
    few = {name: values[:8] for name, values in given.items()}
    times = []
    for some in (few, given, given):
        start = time.perf_counter()
        found = onesided.trace_many(system, some, START, 0.0, p_bounds=BOUNDS, device=device)
        times.append(time.perf_counter() - start)
    return found, times[0], times[2]


def loop(system: onesided.System, given: dict[str, Any], found: onesided.ManyPaths) -> tuple[float, float, float]:
    """Time per path of `trace`, points per path, and the largest difference of the load at an event."""
    method, worst, points = onesided.PredictorCorrector.fast(), 0.0, 0
    method = onesided.PredictorCorrector(compile_after=0, resolution=method.resolution)
    onesided.trace(system, START, 0.0, p_bounds=BOUNDS, method=method)
    start = time.perf_counter()
    for i in range(COMPARED):
        own = system.replace(parameters={name: float(values[i]) for name, values in given.items()})
        path = onesided.trace(own, START, 0.0, p_bounds=BOUNDS, method=method)
        rows = found.of(i)
        same = [found.kind[j] for j in rows] == [event.kind.name for event in path.events]
        loads = [event.p for event in path.events]
        worst = max(worst, float(np.max(np.abs(found.p[rows] - loads)))) if same else np.inf
        points += len(path)
    return (time.perf_counter() - start) / COMPARED, points / COMPARED, worst


def main() -> None:
    """Print a table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    system, given = chain(), parameters(count)
    devices = ["cpu", *(["gpu"] if has_gpu() else [])]
    for device in devices:
        found, first, time_of_all = run(system, given, device)
        seconds, points, worst = loop(system, given, found)
        print(found.words())
        print(
            f"{device}: first call {first:.2f} s; {count / time_of_all:,.0f} paths/s, "
            f"{len(found.p) / count:.1f} events each; trace {1e3 * seconds:.1f} ms for {points:.0f} points: "
            f"{seconds * count / time_of_all:.0f} times faster; loads differ by {worst:.1e}"
        )


if __name__ == "__main__":
    main()
