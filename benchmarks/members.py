"""What member results cost beside the path they belong to: CPU time, in one run.

Run: python benchmarks/members.py [MODEL …]

Every bundled structure is traced, and all its member results are read, twice: the second time everything is compiled.
Goal: at most a tenth of the trace. What is not read is not computed.
"""

import sys
import time

import onesided
from onesided import zoo

GOAL = 0.1
MODELS = ("von-mises-truss", "tripod-truss", "williams-toggle", "lee-frame", "scissor-lift", "guyed-mast", "cable-net")


def spent(work):
    """CPU seconds of a call, and what it returns."""
    begin = time.process_time()
    found = work()
    return time.process_time() - begin, found


def measured(name):
    """CPU seconds of the trace and of all member results along it, the second time."""
    system, task = zoo.load(name)
    for _ in range(2):
        ends = {"direction": task.direction, "p_bounds": task.p_bounds, "throw": False}
        trace, path = spent(lambda ends=ends: onesided.trace(system, task.start, task.p, **ends))
        read, _ = spent(lambda path=path: [path.members[member] for member in path.members])
    return trace, read, len(path.p), len(path.members)


def main():
    print(f"{'structure':20} {'points':>7} {'members':>8} {'trace [ms]':>11} {'read [ms]':>10} {'share':>7}")
    for name in sys.argv[1:] or MODELS:
        trace, read, points, members = measured(name)
        verdict = "" if read <= GOAL * trace else "  above the goal"
        print(f"{name:20} {points:7} {members:8} {1e3 * trace:11.1f} {1e3 * read:10.1f} {read / trace:7.1%}{verdict}")


if __name__ == "__main__":
    main()
