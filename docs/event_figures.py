"""A small picture for each kind of event that no bundled model is about: the smallest model that has it, run."""

from pathlib import Path
from typing import Any

import onesided
from onesided import plots, zoo

JAMMED = """
energy = "x**2/2"
[coordinates]
x = 0.5
[control]
name = "p"
range = [-0.5, 2.0]
[unilateral]
pusher = "x - p"
wall = "1 - x"
"""
KINK = """
energy = "x**2/2 + x**4/4 - x*abs(p - 0.5)"
[coordinates]
x = 0.4
[control]
name = "p"
range = [0.0, 1.0]
"""


def events(folder: Path) -> None:
    """Jammed, a cone of directions, a kink of the loading, an event of the user."""
    pushed = onesided.loads(JAMMED).system
    _written(onesided.trace(pushed, [0.0], -0.5, p_bounds=(-0.5, 2.0), throw=False), folder / "event-jammed.svg")
    bent = onesided.loads(KINK).system
    _written(onesided.trace(bent, [0.4], 0.0, p_bounds=(0.0, 1.0)), folder / "event-kink.svg")
    truss, task = zoo.load("von-mises")
    own = {"half-way": lambda q, p: q[0]}
    path = onesided.trace(truss, task.start, task.p, p_bounds=task.p_bounds, events=own)
    _written(path, folder / "event-user.svg")
    wedge, task = zoo.load("wedge")
    found = onesided.diagram(
        wedge.replace(parameters={"epsilon": 0.0}), task.start, task.p, p_bounds=task.p_bounds, max_branches=12
    )
    _written(found, folder / "event-continuum.svg")


def _written(found: Any, file: Path) -> None:
    plots.write(found, file)
