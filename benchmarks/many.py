"""Many paths of one model: `trace_many` against a loop over `trace`, on every device that is here, in one run.

Run as `python benchmarks/many.py [paths [devices]]`; on a graphics processor (extra `gpu`) a million are worth while.
Printed are the time of compilation, what compiled paths alone reach, the whole call and where its time goes (seconds of
all threads together, which work at the same time), and how far loads differ from those of `trace`. The model is a chain
of four bistable units of unequal height with a stop at its end: four coordinates, one contact, limit points and a
corner limit point or a contact at the end. The loop runs on one core; its events are compared with theirs.
"""

import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax.numpy as jnp
import numpy as np

import onesided
from onesided.evaluation.cuda_lanes import OPTIONS, CudaLanes, has_gpu
from onesided.evaluation.lane_checks import LaneStarts, RowCheck
from onesided.evaluation.lane_runs import HostLanes, LaneEngine
from onesided.statics import many
from onesided.statics.many_runs import TICKS, ManyRun
from onesided.statics.many_starts import starts_of_many

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


PARTS = {
    "what was asked (wall)": (many, "starts_of_many"),
    "starts of chunks": (ManyRun, "_given"),
    "paths here": (HostLanes, "_to_the_end"),
    "recheck here": (RowCheck, "points"),
    "paths on the device": (CudaLanes, "_rows"),
    "recheck and copies of the device": (CudaLanes, "_finds"),
    "one in a hundred here again": (LaneEngine, "_confirmed"),
    "order and copies of rows": (ManyRun, "_rechecked"),
    "everything up to there (wall)": (ManyRun, "rows"),
    "joining (wall)": (many, "_in_order"),
}


@contextmanager
def measured() -> Iterator[Counter[str]]:
    """Seconds spent in the parts of a call, by all threads together."""
    seconds, lock, kept = Counter[str](), threading.Lock(), {}

    def timed(part: str, function: Any) -> Any:
        def call(*arguments: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*arguments)
            finally:
                with lock:
                    seconds[part] += time.perf_counter() - start

        return call

    for part, (owner, name) in PARTS.items():
        kept[part] = getattr(owner, name)
        setattr(owner, name, timed(part, kept[part]))
    try:
        yield seconds
    finally:
        for part, (owner, name) in PARTS.items():
            setattr(owner, name, kept[part])


def alone(system: onesided.System, given: dict[str, Any], engine: LaneEngine) -> None:
    """Print what compiled paths reach without tables, on a graphics processor also kernel by kernel."""
    batch = starts_of_many(system, given, START, 0.0, (BOUNDS, None))
    paths = ManyRun(system, batch, engine, onesided.Tolerances())
    paths.rows(lambda done, events: None)
    count = min(len(batch.p), 1 << 18)
    starts = paths._given(np.arange(count))
    start = time.perf_counter()
    with engine.runner.follow(starts, TICKS):
        seconds = time.perf_counter() - start
    print(f"  paths rechecked, {count} at once: {count / seconds:,.0f} paths/s")
    if isinstance(engine.runner, CudaLanes):
        for name, seconds in kernels(engine.runner, starts).items():
            print(f"  kernel `{name}` alone: {1e3 * seconds:.1f} ms, {count / seconds:,.0f} paths/s")


def kernels(lanes: CudaLanes, starts: LaneStarts) -> dict[str, float]:
    """Seconds of the kernels, by events of the device; of the second of two runs."""
    cupy, real, seconds = lanes.cupy, lanes._launch, dict[str, float]()
    names = {id(kernel): name for name, kernel in vars(lanes.kernels).items()}

    def timed(kernel: Any, *arguments: Any) -> None:
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        real(kernel, *arguments)
        end.record()
        end.synchronize()
        seconds[names[id(kernel)]] = cupy.cuda.get_elapsed_time(start, end) / 1e3

    lanes._launch = timed
    try:
        for _ in range(2):
            with lanes.follow(starts, TICKS):
                pass
    finally:
        del lanes._launch
    return seconds


def compilation(system: onesided.System) -> None:
    """Print how long the device's compiler takes for the program."""
    runner = next(iter(system.derivatives.engines.values())).runner
    if isinstance(runner, CudaLanes):
        start = time.perf_counter()
        fresh = f"// at {start}\n{runner.text}"  # none that was kept
        runner.cupy.RawModule(code=fresh, options=OPTIONS).compile()
        print(f"  NVRTC: {time.perf_counter() - start:.2f} s")


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
    """Print everything for each device."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    given = parameters(count)
    for device in sys.argv[2:] or ["cpu", *(["gpu"] if has_gpu() else [])]:
        system = chain()
        found, first, _ = run(system, given, device)
        with measured() as seconds:
            start = time.perf_counter()
            onesided.trace_many(system, given, START, 0.0, p_bounds=BOUNDS, device=device)
            time_of_all = time.perf_counter() - start
        per_path, points, worst = loop(system, given, found)
        print(
            f"{device}: first call {first:.2f} s; {count / time_of_all:,.0f} paths/s, "
            f"{len(found.p) / count:.1f} events each; trace {1e3 * per_path:.1f} ms for {points:.0f} points: "
            f"{per_path * count / time_of_all:.0f} times faster; loads differ by {worst:.1e}"
        )
        print(f"  whole call {time_of_all:.2f} s; " + "; ".join(f"{part} {s:.2f} s" for part, s in seconds.items()))
        compilation(system)
        alone(system, given, next(iter(system.derivatives.engines.values())))
        print(f"  {found.words()}")


if __name__ == "__main__":
    main()
