"""One numbering of everything that happens along a result, the same in figures, lists, notebooks and terminals."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from onesided.results.wording import Listed


class Told(Protocol):
    """What can be numbered: an event of a path or of a motion, a jump, a switch of a cable."""

    def words(self) -> str:
        """What happened, as a sentence."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Numbered:
    """An event or a jump with its number, counted from 1 in the order in which things happen.

    Attributes
    ----------
    number : the one that every view shows.
    part : index of the path it belongs to; of a jump, of the path that it ends. 0 where there is one path only.
    index : the point of that path; of a motion, the last point at or before the moment.
    what : the `Event`, `Jump`, `MotionEvent` or `Switch`.
    """

    number: int
    part: int
    index: int
    what: Any

    def words(self) -> str:
        """The sentence of the event, without its number."""
        return str(self.what.words())

    def __str__(self) -> str:
        return f"{self.number}: {self.words()}"

    def __repr__(self) -> str:
        return f"<Numbered {self}>"


class Happenings(Listed[Numbered]):
    """Numbered events, printed one per line with the numbers that figures show."""

    __slots__ = ()

    def lines(self) -> list[str]:
        """One line of text for each event."""
        return [str(item) for item in self]


def numbered(happenings: Iterable[tuple[int, int, Told]]) -> Happenings:
    """Number (part, index, what), given in the order in which things happen."""
    return Happenings(Numbered(i, *one) for i, one in enumerate(happenings, 1))
