"""What a live session works on: a system with its start and range of p, and the values of its parameters."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.files.reading import Model, loads
from onesided.system.defaults import bounds_of, p_of, start_of
from onesided.system.system import System

SPAN = (0.2, 2.0)  # of a slider, as shares of the first value of its parameter
LONGEST_NAME = 200


@dataclass(frozen=True, eq=False)
class LiveModel:
    """A system, where it starts, and how far p may go.

    Attributes
    ----------
    q, p, bounds : start and range of p, finite.
    direction : the sense of p in which the path is traced.
    title : may be empty;  source : the text of the model file, empty for a system stated in Python.
    """

    system: System
    q: Array
    p: float
    bounds: tuple[float, float]
    direction: int = 1
    title: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        low, high = self.bounds
        if not (math.isfinite(low) and math.isfinite(high) and low < high and low <= self.p <= high):
            raise UsageError(
                f"the handle needs a finite range of {self.system.control} that holds the start",
                got=f"{self.p:g} in [{low:g}, {high:g}]",
                expected="low ≤ start ≤ high, low < high",
            )

    def changed(self, parameters: Mapping[str, float]) -> "LiveModel":
        """The same with other values of parameters; parts whose places depend on them start elsewhere."""
        if self.system.task is None:
            return replace(self, system=self.system.replace(parameters=parameters))
        system, task = Model(self.system, self.system.task).with_parameters(parameters)
        return replace(self, system=system, q=np.asarray(task.start))

    def sliders(self) -> list[dict[str, Any]]:
        """Name, value and range of each parameter; what a table [design] states is the range, where there is one."""
        table = None if self.system.task is None else self.system.task.design
        stated = {} if table is None else dict(table.variables)
        shown = [name for name in self.system.parameters if name not in self.system.history]
        return [
            {"name": name, "value": self.system.parameters[name], "range": list(stated.get(name) or _span(value))}
            for name, value in ((name, self.system.parameters[name]) for name in shown)
        ]


def _span(value: float) -> tuple[float, float]:
    """A range around a value that does not change its sign."""
    if value == 0.0:
        return -1.0, 1.0
    low, high = sorted((SPAN[0] * value, SPAN[1] * value))
    return low, high


def of_file(text: str, name: str, folder: Path | None) -> LiveModel:
    """The model that a text states; files that it imports are looked for in the folder."""
    return of_model(loads(text, name[:LONGEST_NAME], folder=folder))


def of_model(model: Model) -> LiveModel:
    """The live page's view of a model file that was loaded."""
    system, task = model
    return LiveModel(
        system, np.asarray(task.start), task.p, task.p_bounds, task.direction, task.title, task.source
    )  # fmt: skip


def of_system(system: System, q0: Any, p0: float | None, bounds: tuple[float, float] | None) -> LiveModel:
    """A system stated in Python; what is not given is as its file or structure says."""
    if system.task is not None and q0 is None and p0 is None and bounds is None:
        return of_model(Model(system, system.task))
    title = "" if system.task is None else system.task.title
    start = system.point(start_of(system, q0))
    return LiveModel(system, start, p_of(system, p0), bounds_of(system, bounds), title=title)
