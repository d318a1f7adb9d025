"""A lattice of ten thousand unknowns with bistable units on it, driven through a hundred snaps.

Run: python benchmarks/snaps.py [--units 100] [--depth 48] [--jumps 20]
"""

import argparse
import itertools
import time

import numpy as np

import onesided
from onesided.elements import Bar, Force, Node


def lattice(units: int, depth: int) -> onesided.System:
    """A braced lattice, held below, with a row of shallow two-bar trusses of different stiffness on top."""
    name, wide = "n{}_{}".format, units + 1
    parts = [
        Node(name(i, j), (float(i), float(j)), fixed=j == 0) for i, j in itertools.product(range(wide), range(depth))
    ]
    for i, j in itertools.product(range(wide), range(depth)):
        for kind, (a, b) in {"h": (i + 1, j), "v": (i, j + 1), "d": (i + 1, j + 1), "e": (i - 1, j + 1)}.items():
            if 0 <= a < wide and b < depth and not (kind == "h" and j == 0):
                parts.append(Bar(f"{kind}{i}_{j}", (name(i, j), name(a, b)), stiffness=1.0))
    for i in range(units):
        apex, stiffness = f"apex{i}", 0.1 * (1.0 + 0.5 * ((37 * i) % units) / units)
        parts.append(Node(apex, (i + 0.5, depth - 0.75)))
        feet = (name(i, depth - 1), name(i + 1, depth - 1))
        parts += [Bar(f"b{i}_{side}", (foot, apex), stiffness=stiffness) for side, foot in enumerate(feet)]
        parts.append(Force(f"f{i}", apex, (0.0, -1.0)))
    return onesided.compose(parts, sparse=True)


def main() -> None:
    """Drive the lattice and print what its jumps cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, default=100)
    parser.add_argument("--depth", type=int, default=48)
    parser.add_argument("--jumps", type=int, default=1000, help="stop after so many")
    chosen = parser.parse_args()
    begin = time.perf_counter()
    system = lattice(chosen.units, chosen.depth)
    print(f"{system.n} unknowns, composed in {time.perf_counter() - begin:.1f} s", flush=True)
    begin = time.perf_counter()
    history = onesided.drive(system, system.start, [0.0, 0.02], max_jumps=chosen.jumps, throw=False)
    wall = time.perf_counter() - begin
    change = history.energy[-1] - history.energy[0]
    costs = np.array(history.provenance["factorisations"])
    print(f"{history} {history.note}")
    print(
        f"{len(history.jumps)} jumps in {wall:.1f} s; factorisations per jump: mean {costs.mean():.1f}, "
        f"most {costs.max()}; released {history.dissipated:.6g}, "
        f"work − change of energy − released = {history.work - change - history.dissipated:.1e}"
    )


if __name__ == "__main__":
    main()
