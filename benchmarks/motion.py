"""Motion with joints against the peers: error and time on systems with published end positions.

Run as `python benchmarks/motion.py [--plot FILE]`. It prints, for every system and tool, the settings, the error of the
end position, wall time and processor time of the run; then how the cost grows with the length of a chain; then the
ratios that were aimed at. Peers (exudyn, scipy_dae) are called where they are installed, through their public
interfaces. onesided and the functions that scipy_dae is given are compiled in a first run, whose time is listed apart
(`first`).

* four-bars N: hanging N-four-bar of uniform rods, 10 s; error of the point B0.
* Andrews' squeezer: all seven angles after 0.03 s;  heavy top: its centre after 1 s;  pendulum: after 10 s.
"""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # for all alike: threads that wait for each other measure nothing

import motion_peers as peers
import numpy as np

import onesided
from onesided import GeneralizedAlpha, Projected, Radau, System, zoo

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "dynamics"))

from ex10_four_bars import four_bars, four_bars_start
from ex11_heavy_top import SPEED, SPIN, START, heavy_top
from motion_models import quaternion_position, quaternion_top

BARS = {1: (0.7357004566, -0.6773070487), 10: (0.1257369566, -0.9920636158), 40: (0.0251236035, -0.9996843525)}
ANDREWS = (15.81077119, -15.75637106, 0.04082224012, -0.53473011634, 0.52440996588, 0.53473011634, 1.04808074104)
TOP = (0.173343964, 0.640088592, -0.748490791)
PENDULUM = (-0.275087462576, -0.961419205099)
STEP, STEPS, CHAINS = 0.002, 40, (40, 160, 640)
WARM = 6  # more runs before the one that counts: many steps in one call are compiled when they have paid for it


@dataclass(frozen=True)
class Problem:
    """A system with its start, its exact end, and how the end is read off the coordinates."""

    name: str
    system: System
    q0: Any
    v0: Any
    end: float
    exact: tuple[float, ...]
    control: float = 0.0
    read: Callable[[Any], Any] = field(default=lambda q: q)

    def error(self, q: Any) -> float:
        """Largest error of the end position."""
        return float(np.max(np.abs(np.asarray(self.read(q))[: len(self.exact)] - self.exact)))


@dataclass(frozen=True)
class Row:
    """One measurement: wall time and processor time in seconds; `first` is the time of the run that compiles."""

    system: str
    tool: str
    setting: str
    error: float
    wall: float
    cpu: float
    first: float = float("nan")


def timed(call: Callable[[], Any]) -> tuple[Any, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    found = call()
    return found, time.perf_counter() - wall, time.process_time() - cpu


def problems() -> list[Problem]:
    """All systems; the top in the space ℝ³ × SO(3)."""
    found = [
        Problem(f"four-bars {N}", four_bars(N), *four_bars_start(N, -1.0, 3.0), 10.0, exact)
        for N, exact in BARS.items()
    ]
    system, task = zoo.load("andrews-squeezer")
    found.append(Problem("Andrews", system, task.start, np.zeros(7), 0.03, ANDREWS, task.p))
    found.append(Problem("heavy top", heavy_top(), START, SPEED, 1.0, TOP))
    system, task = zoo.load("pendulum")
    return [*found, Problem("pendulum", system, task.start, np.zeros(2), 10.0, PENDULUM, task.p)]


def own(problem: Problem) -> list[Row]:
    """Our own runs at several accuracies."""
    rows = []
    for rtol in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10):

        def run(method: Any = Projected(rtol=rtol)) -> Any:  # noqa: B008 - the accuracy of this turn
            return onesided.simulate(
                problem.system, problem.q0, problem.v0, (0.0, problem.end), control=problem.control, method=method,
                throw=False,
            )  # fmt: skip

        _, first, _ = timed(run)
        for _ in range(WARM):
            run()
        motion, wall, cpu = timed(run)
        rows.append(Row(problem.name, "onesided", f"rtol {rtol:g}", problem.error(motion.q[-1]), wall, cpu, first))
    return rows


def by_scipy_dae(problem: Problem) -> list[Row]:
    """Radau on the stabilised index-2 form, with our compiled residuals; the top by a unit quaternion."""
    if problem.name == "heavy top":
        start = (np.array([1.0, 0.0, 0.0, 0.0]), np.r_[0.0, SPIN / 2])
        problem = Problem("heavy top", quaternion_top(), *start, 1.0, TOP, read=quaternion_position)
    rows = []
    for rtol in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8):
        run = peers.scipy_dae_run(problem.system, problem.control, (problem.q0, problem.v0, problem.end), rtol)
        if run is None:
            return []
        try:
            q, wall, cpu = timed(run)
        except (RuntimeError, ValueError, np.linalg.LinAlgError):
            continue
        rows.append(Row(problem.name, "scipy_dae", f"rtol {rtol:g}", problem.error(q), wall, cpu))
    return rows


def by_exudyn(problem: Problem) -> list[Row]:
    """Rigid bodies and revolute joints, index-3 generalized-α."""
    if problem.name == "Andrews":
        tries = [(peers.exudyn_andrews(h, problem.system.parameters, problem.q0, problem.control), h) for h in
                 (1e-5, 2.5e-6, 9e-7)]  # fmt: skip
    elif problem.name.startswith("four-bars"):
        steps = (2e-3, 1e-3, 5e-4) if problem.name == "four-bars 1" else (1e-3, 3.5e-4)
        tries = [(peers.exudyn_four_bars(int(problem.name.split()[1]), h), h) for h in steps]
    elif problem.name == "heavy top":
        tries = [(peers.exudyn_top(h, SPIN, START[:3]), h) for h in (5e-4, 2e-4, 1e-4)]
    else:
        tries = [(peers.exudyn_pendulum(h, problem.q0, problem.end), h) for h in (1e-2, 2e-3, 5e-4)]
    rows = []
    for run, h in tries:
        if run is not None:
            q, wall, cpu = timed(run)
            rows.append(Row(problem.name, "exudyn", f"h {h:g}", problem.error(q), wall, cpu))
    return rows


def growth() -> list[str]:
    """Time of a step over the length of a chain, for every method, with the power of N."""
    lines = []
    for method in (Projected(step=STEP), Radau(step=STEP), GeneralizedAlpha(step=STEP)):
        times = []
        for N in CHAINS:
            system, start = four_bars(N), four_bars_start(N, -1.0, 3.0)

            def run(count: int, system: Any = system, start: Any = start, method: Any = method) -> float:
                span = (0.0, count * STEP)
                return min(timed(lambda: onesided.simulate(system, *start, span, method=method))[2] for _ in range(3))

            times.append((run(1), run(STEPS + 1)))
        first, longer = np.array(times).T
        each = (longer - first) / STEPS
        powers = [np.polyfit(np.log(CHAINS), np.log(t), 1)[0] for t in (first, each)]
        steps = ", ".join(f"{1e3 * t:.2f}" for t in each)
        lines.append(
            f"{type(method).__name__:18} ms of a step at N = {', '.join(map(str, CHAINS))}: {steps}   power of N "
            f"{powers[1]:.2f}; start-up and recheck {', '.join(f'{t:.2f}' for t in first)} s, power {powers[0]:.2f}"
        )
    return lines


def fastest(rows: list[Row], system: str, tool: str, error: float) -> Row | None:
    """The fastest run that is accurate enough, by processor time: the machine may be shared."""
    good = [row for row in rows if (row.system, row.tool) == (system, tool) and row.error <= error]
    return min(good, key=lambda row: row.cpu, default=None)


def targets(rows: list[Row]) -> list[str]:
    """Time of each peer over ours, at errors that were aimed at."""
    lines = []
    for system in dict.fromkeys(row.system for row in rows):
        error = 1e-6 if system == "Andrews" else 1e-5
        ours = fastest(rows, system, "onesided", error)
        for tool in ("scipy_dae", "exudyn"):
            theirs = fastest(rows, system, tool, error)
            if ours is None or theirs is None:
                reason = (
                    "no run that accurate" if any(r.tool == tool and r.system == system for r in rows) else "not run"
                )
                lines.append(f"{system:14}{error:8.0e}  {tool:10} {reason}")
                continue
            ratios = theirs.cpu / ours.cpu, theirs.wall / ours.wall
            lines.append(
                f"{system:14}{error:8.0e}  {tool:10} {ratios[0]:6.1f} by processor, {ratios[1]:.1f} by wall time"
            )
    return lines


def plot(rows: list[Row], file: str) -> None:
    """Work–precision: time over error, one panel per system."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    systems = list(dict.fromkeys(row.system for row in rows))
    figure, axes = plt.subplots(2, 3, figsize=(10.0, 6.5), layout="constrained")
    for axis, system in zip(axes.flat, systems, strict=False):
        for tool in dict.fromkeys(row.tool for row in rows if row.system == system):
            points = sorted((row.error, row.cpu) for row in rows if (row.system, row.tool) == (system, tool))
            axis.loglog(*zip(*points, strict=True), "o-", label=tool)
        axis.set(title=system, xlabel="error", ylabel="processor time [s]")
        axis.invert_xaxis()
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    figure.savefig(file)


def main() -> None:
    rows: list[Row] = []
    print(f"{'system':14}{'tool':12}{'setting':12}{'error':>9}{'wall [s]':>10}{'CPU [s]':>10}{'first':>8}")
    for problem in problems():
        for tool in (own, by_scipy_dae, by_exudyn):
            for r in tool(problem):
                rows.append(r)
                first = "" if np.isnan(r.first) else f"{r.first:8.2f}"
                print(
                    f"{r.system:14}{r.tool:12}{r.setting:12}{r.error:9.1e}{r.wall:10.3f}{r.cpu:10.3f}{first}",
                    flush=True,
                )
    print("\nGrowth with the length of a chain", *growth(), sep="\n")
    print("\ncardillo, which the project also compares with, is not on the package index and was not run.")
    print("\nTimes of peers over ours, fastest runs with the error or less", *targets(rows), sep="\n")
    if "--plot" in sys.argv[1:-1]:
        plot(rows, sys.argv[sys.argv.index("--plot") + 1])


if __name__ == "__main__":
    main()
