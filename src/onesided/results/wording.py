"""Short words for results: what Python prints, a line to five; states of contacts, cables and stops."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from onesided.base.tolerances import EPS
from onesided.base.views import views

LINES = 5  # of what is printed
NAMES = 6  # values in a line
Item = TypeVar("Item")


class Sides(NamedTuple):
    """What the two states of a one-sided constraint are called, and the number that goes with each."""

    closed: str = "closed"
    force: str = "force"
    open: str = "open"
    gap: str = "gap"
    closes: str = "contact closes"
    opens: str = "contact opens"

    @property
    def touching(self) -> str:
        """Closed, and the number is zero."""
        return f"{self.closed} without {self.force}"


CONTACT = Sides()
_SIDES = {
    "becomes taut": Sides("taut", "tension", "slack", "by", "cable becomes taut", "cable goes slack"),
    "is reached": Sides("reached", "force", "free", "distance", "stop is reached", "stop is left"),
    "stops yielding": Sides(
        "does not yield", "distance to yield", "yields", "growth", "cable stops yielding", "cable yields"
    ),
}


def sides(closes: str) -> Sides:
    """Words for a constraint whose closing is called so."""
    return _SIDES.get(closes, CONTACT)


def closings(words: Mapping[str, tuple[str, str, str]]) -> dict[str, str]:
    """Of name → (noun, closing, opening) those closings that have words of their own."""
    return {name: closes for name, (_, closes, _) in words.items() if closes in _SIDES}


class Listed(tuple[Item, ...]):
    """A tuple that is printed one item per line, and not more than a few."""

    __slots__ = ()

    def lines(self) -> list[str]:
        """One line for each item, after its index as in Python."""
        return [f"[{i}] {item}" for i, item in enumerate(self)]

    def __repr__(self) -> str:
        return "\n".join(shortened(self.lines())) if self else "()"

    def _repr_html_(self) -> str:
        return str(views("report").listed_html(self))


def shortened(lines: Sequence[str], most: int = LINES) -> list[str]:
    """The lines, or the first of them and how many more there are."""
    if len(lines) <= most:
        return list(lines)
    return [*lines[: most - 1], f"… and {len(lines) - most + 1} more"]


def values(names: Iterable[str], numbers: Iterable[float], most: int = NAMES) -> str:
    """Names with their values: "x = 1, y = 2, … (12)"; what is rounding beside the largest is 0."""
    given = list(numbers)
    noise = EPS * max(map(abs, given), default=0.0)
    plain = [0.0 if abs(number) < noise else number + 0.0 for number in given]
    pairs = [f"{name} = {number:.6g}" for name, number in zip(names, plain, strict=True)]
    return ", ".join(pairs) if len(pairs) <= most else f"{', '.join(pairs[: most - 1])}, … ({len(pairs)})"


def degree(number: int) -> str:
    """A degree of instability in words."""
    return "stable" if number == 0 else f"{number} negative mode{'s' if number > 1 else ''}"


def short(value: Any) -> str:
    """A value in a line or five: arrays in few digits, other things as they print themselves."""
    if isinstance(value, np.ndarray):
        shape = "" if value.ndim == 1 else f" of shape {value.shape}"
        return np.array2string(value, precision=6, threshold=NAMES, edgeitems=2).replace("\n", "") + shape
    return "\n".join(shortened(repr(value).splitlines()))


def line_by_line(result: Any, *names: str) -> None:
    """Let tuples among the fields of a frozen result print themselves line by line."""
    for name in names:
        object.__setattr__(result, name, Listed(getattr(result, name)))
