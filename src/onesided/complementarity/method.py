"""What every method is: its knobs, and one attempt at a problem."""

from abc import ABC, abstractmethod
from typing import NamedTuple

from onesided.base.errors import UsageError
from onesided.base.tolerances import Tolerances
from onesided.base.types import Array, Status
from onesided.complementarity.problems import LCP


class Attempt(NamedTuple):
    """What a method claims, before anybody has checked it."""

    x: Array
    status: Status
    iterations: int
    note: str = ""


class Method(ABC):
    """A frozen dataclass that holds the knobs of one method and no state.

    The contract of `attempt`:

    1. it may be called any number of times, and gives equal answers to equal questions;
    2. `start`, where not None, is a point of shape (n,) to begin from; it is not changed;
    3. it raises nothing for numerical reasons: what went wrong is the status, and `x` the best point known;
    4. `Status.no_solution` is a proof; every other claim is rechecked by the caller.
    """

    @abstractmethod
    def attempt(self, problem: LCP, start: Array | None, tolerances: Tolerances) -> Attempt:
        """Try to solve the problem."""


def check_range(name: str, value: float, least: float, most: float, advice: str = "") -> None:
    """Raise unless least ≤ value ≤ most."""
    if not least <= value <= most:
        raise UsageError(
            f"`{name}` is out of range",
            got=repr(value),
            expected=f"a value from {least} to {most}",
            advice=advice,
        )
