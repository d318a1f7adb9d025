"""Times and success of the complementarity solvers, peers alongside where they are installed.

Run as `python benchmarks/complementarity.py`; prints one table. Every answer, of peers too, is judged by the
same relative residual. A time is the median over problems of the fastest of several runs; the recheck inside
`solve` is included. daqp runs with its default tolerances, and for semidefinite M with an `eps_prox` not tuned:
its residuals there, not its success by its own measure, explain the count in the column `solved`.
"""

import importlib
import importlib.util
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from onesided.base.tolerances import DEFAULT
from onesided.complementarity import LCP, Lemke, all_solutions, solve

Solver = Callable[[LCP], Callable[[], Any]]


def from_solution(M: np.ndarray, rng: np.random.Generator) -> LCP:
    """Make a problem that has a strictly complementary solution with half of the constraints active."""
    n = len(M)
    half = rng.permutation(n)[: n // 2]
    z, w = np.zeros(n), rng.random(n)
    z[half], w[half] = rng.random(half.size), 0.0
    return LCP(M, w - M @ z)


def positive_definite(n: int, rng: np.random.Generator) -> LCP:
    B = rng.standard_normal((n, n))
    M = B @ B.T / n + 0.1 * np.eye(n)
    return from_solution((M + M.T) / 2, rng)


def ill_conditioned(n: int, rng: np.random.Generator) -> LCP:
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    M = (Q * np.logspace(0, -6, n)) @ Q.T
    return from_solution((M + M.T) / 2, rng)


def semidefinite(n: int, rng: np.random.Generator) -> LCP:
    B = rng.standard_normal((n, n // 2))
    M = B @ B.T / n
    return from_solution((M + M.T) / 2, rng)


def indefinite(n: int, rng: np.random.Generator) -> LCP:
    B = rng.standard_normal((n, n))
    return from_solution((B + B.T) / 2, rng)


def peers() -> Iterator[tuple[str, Solver]]:
    """Yield names with what prepares a problem (not timed) and returns the call that solves it (timed)."""
    yield "onesided solve", lambda problem: lambda: solve(problem, throw=False).value
    yield "onesided Lemke", lambda problem: lambda: solve(problem, Lemke(), throw=False).value
    if importlib.util.find_spec("quantecon"):
        lemke = importlib.import_module("quantecon.optimize").lcp_lemke
        yield "quantecon lcp_lemke", lambda problem: lambda: lemke(problem.M, problem.q).z
    if importlib.util.find_spec("daqp"):
        yield "daqp", prepare_daqp


def prepare_daqp(problem: LCP) -> Callable[[], Any]:
    daqp, n = importlib.import_module("daqp"), problem.n
    data = (problem.M.copy(), problem.q.copy(), np.zeros((0, n)), np.full(n, 1e30), np.zeros(n))
    settings = {} if np.linalg.eigvalsh(problem.M)[0] > 1e-9 else {"eps_prox": 1e-6}
    return lambda: daqp.solve(*data, np.zeros(n, dtype=np.int32), **settings)[0]


def measure(solver: Solver, problems: list[LCP], repeats: int) -> tuple[float, int, float]:
    """Return the median over problems of the least seconds, the number solved, and the worst residual."""
    seconds, solved, worst = [], 0, 0.0
    solver(problems[0])()
    for problem in problems:
        call, least, z = solver(problem), np.inf, None
        for _ in range(repeats):
            begin = time.perf_counter()
            z = call()
            least = min(least, time.perf_counter() - begin)
        seconds.append(least)
        solved += problem.relative_residual(np.asarray(z)) <= DEFAULT.complementarity
        worst = max(worst, problem.relative_residual(np.asarray(z)))
    return statistics.median(seconds), solved, worst


def one_each() -> None:
    cases = [
        ("PD n=50", positive_definite, 50, 20, 20),
        ("PD n=200", positive_definite, 200, 10, 10),
        ("cond 1e6 n=50", ill_conditioned, 50, 10, 10),
        ("cond 1e6 n=200", ill_conditioned, 200, 5, 5),
        ("PSD rank n/2 n=50", semidefinite, 50, 10, 10),
        ("PSD rank n/2 n=200", semidefinite, 200, 10, 5),
    ]
    print(f"{'problem':20} {'solver':20} {'median µs':>10} {'/ ours':>8} {'solved':>8} {'worst residual':>15}")
    for label, make, n, count, repeats in cases:
        rng = np.random.default_rng(20240229)
        problems = [make(n, rng) for _ in range(count)]
        ours = None
        for name, solver in peers():
            seconds, solved, worst = measure(solver, problems, repeats)
            ours = ours or seconds
            numbers = f"{seconds * 1e6:10.1f} {seconds / ours:8.2f} {solved:5d}/{count:<2d} {worst:15.1e}"
            print(f"{label:20} {name:20} {numbers}")


def all_of_them() -> None:
    rng = np.random.default_rng(7)
    decided, total, families, solvable = 0, 0, 0, 0
    seconds: dict[int, list[float]] = {}
    problems = [indefinite(3 + k % 8, rng) for k in range(80)]
    for problem in problems:
        all_solutions(problem)
    for problem in problems:
        begin = time.perf_counter()
        found = all_solutions(problem)
        seconds.setdefault(problem.n, []).append(time.perf_counter() - begin)
        decided += all(problem.relative_residual(z) <= DEFAULT.complementarity for z in found.points)
        total, families = total + len(found.points), families + len(found.families)
        solvable += not found.empty
    print(f"\nindefinite n = 3 … 10: {solvable} of 80 solvable, all points rechecked in {decided}")
    print(f"  all_solutions        {total} solutions, {families} families")
    for name, solver in peers():
        solved = measure(solver, problems, 1)[1]
        print(f"  {name:20} solves {solved} of {solvable}")
    for n, times in seconds.items():
        median, worst = statistics.median(times) * 1e6, max(times) * 1e6
        print(f"  all_solutions n={n:2d}: median {median:8.0f} µs, worst {worst:8.0f} µs")


if __name__ == "__main__":
    one_each()
    all_of_them()
