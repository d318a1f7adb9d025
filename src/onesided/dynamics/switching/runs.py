"""A motion of a complementarity system in progress: it advances step by step and says what it achieved."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from onesided.base.errors import UsageError
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
        """The state reached, with its forces and modes."""

    @abstractmethod
    def claim(self) -> Claim:
        """What was achieved so far."""


@dataclass(frozen=True)
class Positive:
    """A number that must be positive."""

    name: str
    value: float

    def check(self) -> None:
        """Raise a `UsageError` that names the knob, unless the number is finite and positive."""
        if not (np.isfinite(self.value) and self.value > 0):
            raise UsageError(f"`{self.name}` is out of range", got=repr(self.value), expected="a positive number")
