"""What a method of motion is: it begins a run, a run advances step by step and says at any time what it achieved."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.tolerances import Tolerances
from onesided.base.types import Array, Status
from onesided.results.complementarity_motion import Switch


class RunPoint(NamedTuple):
    """One state of a motion as it is found: forces s, which pairs are taut from here on, switches so far."""

    t: float
    x: Array
    s: Array
    taut: tuple[bool, ...]
    switches: int


class RunTrail(NamedTuple):
    """The steps of a method between the points asked for: (K,) times and (K, n) states; switches among them."""

    t: Array
    x: Array


@dataclass(frozen=True, eq=False)
class Claim:
    """What a method returns before anybody has checked it; without a trail its points are its steps."""

    t: Array
    x: Array
    s: Array
    first_taut: Array
    peak_s: Array
    peak_w: Array
    switches: tuple[Switch, ...]
    status: Status
    note: str
    stats: dict[str, float]
    trail: RunTrail | None = field(default=None, repr=False)


class LinearRun(ABC):
    """One motion in progress.

    The contract: 1. `advance` makes one step and returns False when the run has ended, for whatever reason; it raises
    nothing for numerical reasons. 2. `here` is the state reached. 3. `claim` says what was achieved so far, at any
    time, also after an interruption, and how the run ended.
    """

    @abstractmethod
    def advance(self) -> bool:
        """One step; False when there is none left."""

    @abstractmethod
    def here(self) -> RunPoint:
        """The state reached."""

    @abstractmethod
    def claim(self) -> Claim:
        """What was achieved so far."""


class MotionMethod(ABC):
    """A frozen dataclass with the knobs of one method.

    `fixed_step` says whether its points are its steps; otherwise it gives a trail of steps that are short enough to
    be integrated anew by a method of high order.
    """

    fixed_step: ClassVar[bool] = True

    def largest_defect(self, tolerances: Tolerances) -> float:
        """Share of ẋ that the recheck may find unexplained."""
        return tolerances.defect

    @abstractmethod
    def begin(self, system: Any, x: Array, times: Array, tolerances: Tolerances) -> LinearRun:
        """A run from x at times[0] to times[-1], through the times in between or in steps of its own."""


@dataclass(frozen=True)
class Positive:
    """A number that must be positive."""

    name: str
    value: float

    def check(self) -> None:
        """Raise unless it is."""
        if not (np.isfinite(self.value) and self.value > 0):
            raise UsageError(f"`{self.name}` is out of range", got=repr(self.value), expected="a positive number")
