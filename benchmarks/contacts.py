"""Motion with contacts: a bouncing ball, a column of balls, a pile of discs; peers where they are installed.

Figures of other codes, measured elsewhere per simulated second: ball, Siconos event-driven 1.4e-14 error; column of 10,
Siconos Moreau–Jean with projection 0.060 s, penetration 6e-17; MuJoCo 0.010 s, penetration 8e-5.
"""

import importlib.util
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "dynamics"))
from contact_models import ball, bouncing, column, column_start, hopper, zeno_time

from onesided import EventDriven, Moreau, simulate


def timed(*arguments, **options):
    """A second run, so that compilation is not counted."""
    simulate(*arguments, **options)
    begin = time.perf_counter()
    motion = simulate(*arguments, **options)
    return motion, time.perf_counter() - begin


def show_ball():
    sample = np.linspace(0.0, 2.0, 401)
    for method in (EventDriven(), Moreau(step=1e-3)):
        motion, wall = timed(ball(), [1.0], [0.0], (0.0, 5.0), method=method)
        error = np.max(np.abs(motion.at(sample)[0][:, 0] - bouncing(sample)))
        rest = np.max(np.abs(motion.q[motion.t > zeno_time() + 0.1]))
        print(
            f"ball, {type(method).__name__}: error to t = 2 {error:.1e}, after the Zeno time |z| {rest:.1e}, "
            f"penetration {max(0.0, -motion.q.min()):.1e}, {wall / 5:.4f} s per simulated second"
        )


def show_column():
    for method in (EventDriven(), Moreau(step=1e-3)):
        motion, wall = timed(column(), column_start(), np.zeros(10), (0.0, 1.0), method=method)
        gaps = np.diff(np.column_stack([np.full(len(motion.t), -0.1), motion.q]), axis=1) - 0.2
        print(
            f"column of 10, {type(method).__name__}: rest energy {motion.energy[-1]:.9f} J, floor force "
            f"{motion.lam[-1, 0]:.9f} N, penetration {max(0.0, -gaps.min()):.1e}, {wall:.4f} s per simulated second"
        )


def show_pile():
    system, start, _ = hopper()
    motion, wall = timed(system, start, np.zeros(len(start)), (0.0, 0.1), method=Moreau(step=2e-3))
    facts = motion.provenance
    print(
        f"{len(start) // 2} discs in a hopper: {facts['contacts']} contacts of {len(system.unilateral)} candidates, "
        f"complementarity residual {facts['complementarity']:.1e}, {wall / (len(motion) - 1) * 1e3:.1f} ms per step"
    )


if __name__ == "__main__":
    show_ball()
    show_column()
    show_pile()
    for peer in ("siconos", "mujoco"):
        if importlib.util.find_spec(peer) is None:
            print(f"{peer} is not installed: not compared")
