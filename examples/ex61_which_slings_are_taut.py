"""Which method decides which slings are taut? A study of the suspension structure of Qi and Tu.

    main cable   ~~~~~~~~~~~~~~~~~~~
                   |   |   |   |        slings: pull, never push
    beam         ===================
                     ^ P sin(theta t)

You will see:
1. that an implicit step is a linear complementarity problem with 2^m candidates for m slings;
2. what the exhaustive search, Lemke's method, the corrected network and the active set method pay for it;
3. that the network as printed is wrong: it asks how the tension curve bends, not whether the sling is stretched.

Run as `python examples/ex61_which_slings_are_taut.py`; about half a minute.
"""

import time
from typing import Any

import numpy as np

from onesided.complementarity import LCP, ActiveSet, Enumeration, HopfieldNetwork, Lemke, Method, solve
from onesided.complementarity_systems import FrozenModes, LocatedSwitches, PrintedNetwork, TimeStepping, simulate
from onesided.zoo.suspension import Suspension

TOTAL_STIFFNESS = 6e5  # N/m, shared by the slings
METHODS: dict[str, Method] = {
    "exhaustive": Enumeration(limit=16),
    "Lemke": Lemke(),
    "network": HopfieldNetwork(),
    "active set": ActiveSet(),
}


def structure(m: int) -> Suspension:
    return Suspension(slings=m, stiffness=TOTAL_STIFFNESS / m, stretch=0.001)


def harvest(m: int, most: int = 12, until: float = 2.0) -> list[tuple[LCP, np.ndarray]]:
    """Problems of steps in which some slings are taut and some are slack, with the forces of the step before."""
    system, method = structure(m).system(), TimeStepping(0.002)
    motion = simulate(system, method, times=(0.0, until))
    count = (motion.s > 0).sum(axis=1)
    mixed = np.flatnonzero((count[1:] > 0) & (count[1:] < m))
    chosen = mixed[np.linspace(0, len(mixed) - 1, min(most, len(mixed))).astype(int)]
    return [(method.problem(system, motion.t[k], motion.x[k], motion.s[k]), motion.s[k]) for k in chosen]


def cost(problems: list[tuple[LCP, np.ndarray]], method: Method) -> tuple[float, float]:
    """Mean number of candidates, pivots or sweeps, and mean time [s]; answers are rechecked by `solve`."""
    solve(*problems[0][:1], method)  # compiled once
    begin = time.perf_counter()
    found = [solve(problem, method, start) for problem, start in problems]
    seconds = (time.perf_counter() - begin) / len(problems)
    return float(np.mean([f.stats["iterations"] for f in found])), seconds


def study(sizes: tuple[int, ...] = (3, 10, 16)) -> dict[int, dict[str, tuple[float, float]]]:
    """Candidates or sweeps, and time, of every method for every number of slings."""
    return {m: {name: cost(problems, method) for name, method in METHODS.items()} for m, problems in
            ((m, harvest(m)) for m in sizes)}  # fmt: skip


def printed_network(model: Suspension, until: float = 20.0, step: float = 0.001) -> tuple[float, float]:
    """Fraction of steps in which the printed network is wrong, and what that does to the elongations [m]."""
    system, grid = model.system(), np.linspace(0.0, until, 41)
    wrong: Any = simulate(system, FrozenModes(step, PrintedNetwork()), times=(0.0, until), throw=False)
    right = simulate(system, LocatedSwitches(), times=grid)
    stride = (len(wrong.t) - 1) // 40
    error = np.abs(model.elongations(wrong.x[::stride]) - model.elongations(right.x)).max()
    return wrong.stats["mismatches"] / wrong.stats["steps"], float(error)


if __name__ == "__main__":
    table = study()
    print("per step, mean:", *(f"{name:>24}" for name in METHODS))
    for m, row in table.items():
        print(f"m = {m:<11}", *(f"{counts:11.1f} {1e6 * seconds:9.0f} µs" for counts, seconds in row.values()))
        print(f"{'':15}exhaustive / active set: {row['exhaustive'][1] / row['active set'][1]:.0f} in time")
    for label, model in {
        "stretch 0": Suspension(stretch=0.0),
        "stretch 4 mm": Suspension(),
        "stiff slings": Suspension(stiffness=2e5, stretch=0.001),
    }.items():
        fraction, error = printed_network(model)
        share = f"{100 * fraction:4.1f} % of the steps"
        print(f"printed network, {label:13} wrong in {share}, elongations off by {error:.1e} m")
