"""What a design is asked for, as text: quantities of events and jumps, and what they shall be.

p at limit = 0.05                      load at the first limit point
y at limit 2 - y at limit = 0.3        distance between the first two
p at closes floor >= p at limit        no contact before the snap
p at loss of stability >= 3            stable up to p = 3
p at return of stability >= 0          snaps back before the load is gone
p where y is 0.3 = 0.04                a point of a load–displacement curve
dissipated = 0.1                       energy lost in all jumps of the programme
maximise energy of jump 1
"""

import math
import re
from dataclasses import dataclass

from onesided.base.errors import UsageError
from onesided.results.explain import slugs

LOSS, RETURN = "loss of stability", "return of stability"
_KINDS = sorted((*(name for name in slugs() if not name.startswith("motion-")), LOSS, RETURN), key=len, reverse=True)
_EVENT = re.compile(
    rf"(?P<what>.+?) at (?P<kind>{'|'.join(_KINDS)})(?: point)?(?: (?P<name>\D.*?))?(?: (?P<number>\d+))?"
)
_WHERE = re.compile(r"(?P<what>.+?) where (?P<name>.+) is (?P<value>\S+)")
_JUMP = re.compile(r"(?P<what>.+?) of jump (?P<number>\d+)")
_AIM = re.compile(
    r"(?:(?P<best>minimi[sz]e|maximi[sz]e) (?P<alone>.+))|(?:(?P<left>.+?) (?P<sense>=|>=|<=) (?P<right>.+))"
)


@dataclass(frozen=True)
class AtEvent:
    """A quantity at an event of the path: `what` at the `number`-th of a kind, of a constraint where one is named."""

    what: str
    kind: str
    name: str = ""
    number: int = 1


@dataclass(frozen=True)
class WhereValue:
    """A quantity where a coordinate first takes a value."""

    what: str
    name: str
    value: float


@dataclass(frozen=True)
class OfJump:
    """A quantity of a jump of the programme, or of all of them (number 0)."""

    what: str
    number: int


Term = AtEvent | WhereValue | OfJump


@dataclass(frozen=True)
class DesignAim:
    """Σ sign · term, and what it shall be: =, >= or <= the target, or as small (min) or large (max) as can be."""

    text: str
    terms: tuple[tuple[float, Term], ...]
    sense: str
    target: float = 0.0


def read_aim(text: str) -> DesignAim:
    """Parse the text of one aim into quantities, comparison and wanted value."""
    found = _AIM.fullmatch(" ".join(text.split()))
    if found is None:
        raise _unreadable(text)
    left, a = _terms(found["alone"] or found["left"], text)
    right, b = _terms(found["right"], text) if found["right"] else ((), 0.0)
    sense = found["best"][:3] if found["best"] else found["sense"]
    if not (left or right) or not math.isfinite(b - a):
        raise _unreadable(text)
    return DesignAim(text, (*left, *((-sign, term) for sign, term in right)), sense, b - a)


def _terms(text: str, whole: str) -> tuple[tuple[tuple[float, Term], ...], float]:
    """Terms with their signs, and the sum of plain numbers."""
    terms: list[tuple[float, Term]] = []
    constant, sign = 0.0, 1.0
    for piece in re.split(r" ([+-]) ", text):
        if piece in {"+", "-"}:
            sign = 1.0 if piece == "+" else -1.0
            continue
        try:
            constant += sign * float(piece)
        except ValueError:
            terms.append((sign, _term(piece, whole)))
    return tuple(terms), constant


def _term(text: str, whole: str) -> Term:
    if text == "dissipated":
        return OfJump("energy", 0)
    if found := _JUMP.fullmatch(text):
        return OfJump(found["what"], int(found["number"]))
    if found := _WHERE.fullmatch(text):
        try:
            return WhereValue(found["what"], found["name"], float(found["value"]))
        except ValueError:
            raise _unreadable(whole) from None
    if found := _EVENT.fullmatch(text):
        return AtEvent(found["what"], found["kind"], found["name"] or "", int(found["number"] or 1))
    raise _unreadable(whole)


def _unreadable(text: str) -> UsageError:
    return UsageError(
        "this aim cannot be read",
        got=repr(text),
        expected='"p at limit = 0.05", "p at closes NAME >= p at limit", "dissipated = 0.1", '
        '"maximise energy of jump 1", "p where NAME is 0.3 = 0.04"',
        advice=f"kinds of events: {', '.join(sorted(_KINDS))}",
    )
