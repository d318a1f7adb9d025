"""Processor time of equilibrium paths against an earlier version, both in one run.

Run as `git worktree add /tmp/before f4a607c; python benchmarks/paths_before.py /tmp/before/src`. Each case runs with
either version in turn, in processes of its own, `ROUNDS` times; what is printed are medians of processor times, which a
busy machine disturbs less than wall times. Calls before `WARM` are not counted: functions are compiled, and once more
thoroughly after so many calls. Models are those of `paths.py`, `c` with compiled steps, `s` with single ones, and two
bundled ones with default settings.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

from paths import chain, roller

import onesided
from onesided import zoo

ROUNDS, WARM, CALLS, SECONDS = 3, 16, 5, 1.5
MODELS = {"A2": roller, "C10": lambda: chain(10, 35), "C30": lambda: chain(30, 10), "C100": lambda: chain(100, 10)}
CASES = ("A2 c", "A2 s", "C10 c", "C10 s", "C30 c", "C30 s", "C100 c", "corner-limit", "von-mises")


def call_of(case: str) -> Callable[[], Any]:
    """What traces a case once."""
    name, *tier = case.split()
    if not tier:
        system, task = zoo.load(name)
        return lambda: onesided.trace(system, system.point(task.start), task.p, p_bounds=task.p_bounds, throw=False)
    model, method = MODELS[name](), onesided.PredictorCorrector(compile_after=0 if tier == ["c"] else inf)
    return lambda: onesided.trace(model.system, model.start, 0.0, throw=False, method=method, **model.ends)


def measured(case: str) -> tuple[float, int]:
    """Median processor time of a trace in milliseconds, and its number of points."""
    call, spent = call_of(case), 0.0
    seconds: list[float] = []
    while len(seconds) < WARM + CALLS or spent < 2 * SECONDS:
        begin = time.process_time()
        path = call()
        seconds.append(time.process_time() - begin)
        spent += seconds[-1]
    late = seconds[max(WARM, len(seconds) // 2) :]
    return 1e3 * statistics.median(late), len(path)


def run(sources: str, case: str) -> tuple[float, int]:
    """One case with the package in a folder, in a process of its own."""
    given = {**os.environ, "PYTHONPATH": sources, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--case", case]
    done = subprocess.run(command, check=True, env=given, capture_output=True, text=True)
    milliseconds, points = json.loads(done.stdout.splitlines()[-1])
    return milliseconds, points


def compare(before: str, now: str) -> None:
    print(f"{'path':14} {'before ms':>10} {'points':>7} {'now ms':>10} {'points':>7} {'ms/point':>9} {'ratio':>6}")
    for case in CASES:
        rounds = [(run(before, case), run(now, case)) for _ in range(ROUNDS)]
        then, today = (statistics.median(pair[side][0] for pair in rounds) for side in (0, 1))
        counts = rounds[0][0][1], rounds[0][1][1]
        times = f"{then:10.2f} {counts[0]:7d} {today:10.2f} {counts[1]:7d} {today / counts[1]:9.3f}"
        print(f"{case:14} {times} {today / then:6.2f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--case"]:
        print(json.dumps(measured(sys.argv[2])))
    elif len(sys.argv) > 1:
        compare(sys.argv[1], str(Path(onesided.__file__).parents[1]))
    else:
        print("give the folder of the sources of an earlier version")
