"""What the first call costs: CPU seconds of a fresh process, from an empty cache and from a warm one.

Run: python benchmarks/first_call.py [--before FOLDER] [--repeat 3] [MODEL …]

Every bundled model with a path is traced in a process of its own, as its file says: once with an empty cache of
compiled code, then again with what that left. `import` is the time to import what a trace needs; `cold` and `warm` are
the times to read the file and to trace. Given are the least times of some repetitions. `--before` names the folder
`src` of an older version, which is measured in the same way: `git worktree add older f4a607c`, then `older/src`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from onesided import zoo

HERE = Path(__file__).parents[1] / "src"
GOAL = {"formulas": 0.4, "parts": 1.5}  # CPU seconds, cold
CHILD = """
import json, sys, time
begin = time.process_time()
import onesided
from onesided import loads, trace, zoo
ready = time.process_time()
system, task = zoo.load(sys.argv[1])
path = trace(system, task.start, task.p, direction=task.direction, p_bounds=task.p_bounds, throw=False)
print(json.dumps([ready - begin, time.process_time() - ready, len(path.p)]))
"""


class Times(NamedTuple):
    """CPU seconds of one process, and the number of points that it found."""

    imports: float
    first: float
    points: float


def run(model: str, source: Path, cache: str) -> Times:
    """One process that traces a model, with the sources and the cache of compiled code in these folders."""
    environment = os.environ | {"PYTHONPATH": str(source), "XDG_CACHE_HOME": cache}
    command = [sys.executable, "-c", CHILD, model]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return Times(*json.loads(done.stdout))


def measured(model: str, source: Path, repeat: int) -> tuple[Times, Times]:
    """Least times with an empty cache, and with the one that is left."""
    cold, warm = [], []
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(run(model, source, cache))
            warm.append(run(model, source, cache))
    return Times(*map(min, zip(*cold, strict=True))), Times(*map(min, zip(*warm, strict=True)))


def kind(model: str) -> str:
    """How a model is stated."""
    return "formulas" if "[coordinates]" in zoo.text(model) else "parts"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="bundled models; all that have a path where none is given")
    parser.add_argument("--before", type=Path, help="the folder src of an older version")
    parser.add_argument("--repeat", type=int, default=3)
    chosen = parser.parse_args()
    models = chosen.models or [name for name in zoo.names() if "[motion]" not in zoo.text(name)]
    sources = {"now": HERE} | ({"before": chosen.before} if chosen.before else {})
    columns = "".join(f"{f'cold {name}':>14}{f'warm {name}':>14}" for name in sources)
    print(f"{'model':24}{'stated by':>10}{'goal':>6}{columns}{'import':>8}{'points':>8}")
    for model in models:
        times = [measured(model, source, chosen.repeat) for source in sources.values()]
        numbers = "".join(f"{cold.first:14.2f}{warm.first:14.2f}" for cold, warm in times)
        now = times[0][0]
        print(
            f"{model:24}{kind(model):>10}{GOAL[kind(model)]:6.1f}{numbers}{now.imports:8.2f}{now.points:8.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
