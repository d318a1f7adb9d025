"""A system at one point, with what it takes to draw it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from onesided.base.types import Array
from onesided.results.sketch import Sketch


@dataclass(frozen=True, eq=False, repr=False)
class Shape:
    """One configuration and its drawing.

    Attributes
    ----------
    sketch : how to draw;  q, p : the point, with the names of coordinates and control parameter.
    closed : (m,) whether each unilateral constraint is closed.
    measures : name → (N,) quantities along a result;  index : the point's place among them.
    """

    sketch: Sketch
    coordinates: tuple[str, ...]
    control: str
    unilateral: tuple[str, ...]
    q: Array
    p: float
    closed: Array
    measures: Mapping[str, Array]
    index: int = 0

    def columns(self) -> dict[str, Array]:
        """What the sketch needs, and the control parameter: name → (1,)."""
        number = {name: i for i, name in enumerate(self.coordinates)}
        found = {self.control: np.array([self.p])}
        for name in self.sketch.names():
            if name in number:
                found[name] = self.q[[number[name]]]
            elif name in self.measures:
                found[name] = np.asarray(self.measures[name])[[self.index]]
        return found
