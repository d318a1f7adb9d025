"""Pictures of the tutorial, from the model file that its page states."""

import re
from pathlib import Path
from typing import Any

import numpy as np
from paper_figures import panels, save

import onesided
from onesided import plots

STATED = re.compile(r'^```toml title="\+?switch.toml"\n(.*?)^```', re.DOTALL | re.MULTILINE)


def switch(page: Path, folder: Path) -> None:
    """The lever, its path, its shapes, its loop, another lever, and how the flip depends on the stops."""
    system, task = onesided.loads("".join(STATED.findall(page.read_text(encoding="utf-8"))))
    path = _traced(system, task)
    plots.write(path, folder / "switch-path.svg")
    save(plots.sketch(path, index=0), folder / "switch-start.svg")
    plots.shapes(path).savefig(folder / "switch-shapes.svg", metadata={"Date": None})
    plots.write(onesided.drive(system, task.start, task.programme), folder / "switch-loop.svg")
    plots.write(_traced(system.replace(parameters={"a": 0.8, "k": 2.0}), task, bound=2.0), folder / "switch-wide.svg")
    _stops(system, folder / "switch-stops.svg")


def _traced(system: onesided.System, task: Any, bound: float = 1.0) -> onesided.Path:
    return onesided.trace(system, task.start, task.p, p_bounds=(-bound, bound))


def _stops(system: onesided.System, file: Path) -> None:
    """The torque at the first event over the angle of the stops, and what a calculation by hand says."""
    angles = np.linspace(0.1, 1.4, 14)
    flips = [
        onesided.trace(system.replace(parameters={"a": a}), [-a], 0.0, p_bounds=(-1.5, 1.5)).events[0].p for a in angles
    ]
    axes = panels(1, size=(6.4, 3.2))[0]
    axes.plot(angles, np.sin(angles), label="k L d sin a")
    axes.plot(angles, flips, "o", label="first event")
    axes.set_xlabel("a")
    axes.set_ylabel("p")
    axes.legend()
    save(axes, file)
