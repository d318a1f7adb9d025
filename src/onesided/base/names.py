"""Names of coordinates, parameters and constraints: checks and suggestions."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sized
from difflib import get_close_matches
from itertools import islice
from typing import TypeVar

from onesided.base.errors import ModelError
from onesided.base.types import MOST

Value = TypeVar("Value")


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name most like `name`, or an empty string."""
    names = list(known)
    folded = {word.casefold(): word for word in reversed(names)}
    matches = get_close_matches(name, names, n=1, cutoff=0.5)
    if name.casefold() in folded or not matches:  # kD for kd
        matches = get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
        return folded[matches[0]] if matches else ""
    return matches[0]


def unknown_name(kind: str, name: str, known: Iterable[str], *, advice: str = "", about: str = "") -> ModelError:
    """The error for a name that is not defined, with the nearest known one."""
    names = list(known)
    guess = nearest(name, names)
    return ModelError(
        f"unknown {kind} '{name}'",
        about=about,
        expected="one of " + ", ".join(names) if names else f"no {kind} at all: none is defined",
        advice=f"did you mean '{guess}'?" if guess else advice,
    )


def some(names: Iterable[str], most: int = 8) -> str:
    """The first of some names, for a message."""
    found = list(names)
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")


def moving(names: Iterable[str], direction: Iterable[float], least: float) -> str:
    """The coordinates that move in a direction, with their rates relative to the largest, above a `least` one."""
    rates = [float(rate) for rate in direction]
    largest = max(rates, key=abs)
    shares = [(name, rate / largest) for name, rate in zip(names, rates, strict=True)]
    return some([f"{name} ({share:+.3g})" for name, share in shares if abs(share) > least])


def check_names(kind: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return names as a tuple; refuse anything but distinct non-empty strings."""
    if not isinstance(names, Iterable):
        raise ModelError(f"{kind} names are not a sequence", got=repr(names), expected="a tuple of names")
    names = tuple(names) if isinstance(names, Sized) else tuple(islice(names, MOST + 1))
    if len(names) > MOST:
        raise ModelError(f"more than {MOST} {kind} names", expected="an iterator that ends")
    for name in names:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            expected = "a non-empty string of characters that can be printed"
            raise ModelError(f"a {kind} name is not usable", got=repr(name), expected=expected)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ModelError(f"{kind} name used twice", got=", ".join(twice), expected="every name once")
    return names


def joined(kind: str, *tables: Mapping[str, Value]) -> dict[str, Value]:
    """All tables in one; a name that stands in two of them is refused: the second would replace the first."""
    check_names(kind, [name for table in tables for name in table])
    return {name: value for table in tables for name, value in table.items()}


def check_labels(labels: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Labels and units by name; what is no pair of texts is refused."""
    found = {}
    for name, pair in labels.items():
        if isinstance(pair, str) or len(pair) != 2 or not all(isinstance(part, str) for part in pair):
            raise ModelError(f"the label of '{name}' is not usable", got=repr(pair), expected='("tip height", "mm")')
        found[name] = (pair[0], pair[1])
    return found
