"""Large structures: evaluation, cost of a path point against one factorisation, growth with size, a cable net.

Run: python benchmarks/large.py [--quick]
"""

import argparse
import itertools
import math
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import onesided
from onesided.elements import Bar, Cable, Element, Force, Node


@dataclass(frozen=True)
class Ceiling(Element):
    """A node stays below a height: a one-sided constraint of our own."""

    at: str = ""
    height: float = 0.0

    kind: ClassVar[str] = ""

    @property
    def places(self) -> tuple[str, ...]:
        """The node."""
        return (self.at,)

    def numbers(self, start: Any) -> dict[str, Any]:
        """The height."""
        return {"height": self.height}

    @property
    def gap_names(self) -> tuple[str, ...]:
        """One gap."""
        return ("",)

    def gaps(self, at: Any) -> tuple[Any, ...]:
        """Distance to the ceiling."""
        return (at.n.height - at.frames[0].position[1],)


def lattice(side: int) -> onesided.System:
    """A braced square lattice, 2·side² unknowns, held below, sheared and lifted above, with a ceiling over it."""
    name = "n{}_{}".format
    parts: list[Any] = [
        Node(name(i, j), (float(i), float(j)), fixed=j == 0) for i, j in itertools.product(range(side), repeat=2)
    ]
    for i, j in itertools.product(range(side), repeat=2):
        ends = {"h": (i + 1, j), "v": (i, j + 1), "d": (i + 1, j + 1)}
        for kind, (a, b) in ends.items():
            if a < side and b < side and not (kind == "h" and j == 0):
                parts.append(Bar(f"{kind}{i}_{j}", (name(i, j), name(a, b)), stiffness=1.0))
    for i in range(side):
        parts.append(Force(f"f{i}", name(i, side - 1), (0.02 / side, 0.01 / side)))
        parts.append(Ceiling(f"ceiling{i}", name(i, side - 1), side + 1.0))
    return onesided.compose(parts)


def net(side: int) -> onesided.System:
    """A prestressed net of 2·side·(side − 1) cables in a frame, pulled down unevenly in its plane."""
    rng, name = np.random.default_rng(1), "n{}_{}".format
    edge = (0, side)
    corners = set(itertools.product(edge, edge))
    parts: list[Any] = [
        Node(name(i, j), (float(i), float(j)), fixed=i in edge or j in edge)
        for i, j in itertools.product(range(side + 1), repeat=2)
        if (i, j) not in corners
    ]
    for i, j in itertools.product(range(side), range(1, side)):
        parts.append(Cable(f"h{i}_{j}", (name(i, j), name(i + 1, j)), stiffness=20.0, pretension=1.0))
        parts.append(Cable(f"v{j}_{i}", (name(j, i), name(j, i + 1)), stiffness=20.0, pretension=1.0))
    for i, j in itertools.product(range(1, side), repeat=2):
        weight = 1.0 + 0.3 * rng.normal()
        parts.append(Force(f"f{i}_{j}", name(i, j), (0.1 * weight / side, -weight / side)))
    return onesided.compose(parts)


def seconds(work: Callable[[], Any], times: int = 5) -> float:
    """Best of several runs."""
    best = math.inf
    for _ in range(times):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def measure(side: int, points: int) -> tuple[int, float, float, float]:
    """Unknowns, seconds of an evaluation, of a factorisation, of a path point."""
    system = lattice(side)
    rng, start = np.random.default_rng(0), system.start
    zero = np.zeros(len(system.constraint_names))
    shifts = iter(range(10**6))
    evaluation = seconds(lambda: system.evaluate(start + 1e-6 * next(shifts), 0.0, zero))
    e = system.evaluate(start + 0.01 * rng.normal(size=system.n), 0.0, zero)
    kkt = system.derivatives.kkt
    kkt.factor(e.hessian, e.gradients, zero > 0)
    factorisation = seconds(lambda: kkt.factor(e.hessian, e.gradients, zero > 0))
    items = onesided.iter_trace(system, start, 0.0)
    for _ in range(4):  # the first steps are short
        next(items)
    begin = time.perf_counter()
    for _ in range(points):
        next(items)
    return system.n, evaluation, factorisation, (time.perf_counter() - begin) / points


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="up to 10,000 unknowns only")
    quick = parser.parse_args().quick
    print("lattice with a ceiling\n  unknowns   evaluation   factorisation   path point   point/factorisation")
    rows = [measure(side, 5) for side in ((22, 71) if quick else (22, 71, 224))]
    for n, evaluation, factorisation, point in rows:
        print(f"  {n:8d} {evaluation:10.4f} s {factorisation:13.4f} s {point:10.4f} s {point / factorisation:12.2f}")
    growth = math.log(rows[-1][3] / rows[0][3]) / math.log(rows[-1][0] / rows[0][0])
    print(f"  cost of a point grows with n to the power {growth:.2f}")
    print(f"  memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")
    system = net(20 if quick else 71)
    begin = time.perf_counter()
    path = onesided.trace(system, system.start, 0.0, max_events=20 if quick else 120, throw=False)
    wall = time.perf_counter() - begin
    changes = sum(len(event.constraints) for event in path.events)
    print(
        f"cable net: {len(system.unilateral)} cables, {changes} slack/taut changes in {len(path.p)} points, "
        f"{wall:.1f} s, {path.status.name}, residual {path.residual:.1e}"
    )


if __name__ == "__main__":
    main()
