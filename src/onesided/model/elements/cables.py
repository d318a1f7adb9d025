"""Cables: they pull and do not push."""

from dataclasses import dataclass
from typing import Any, ClassVar

from onesided.model.elements.contract import Local, Start, Words
from onesided.model.elements.members import Bar
from onesided.model.elements.shapes import distance

SLACK = Words("cable", "becomes taut", "goes slack")


@dataclass(frozen=True)
class Cable(Bar):
    """An elastic cable: tension only, exactly.

    Its slack s ≥ 0 is an internal coordinate: energy k/2 (distance − natural length + s)². While s = 0 the cable is
    taut and the multiplier of s ≥ 0 is its tension; a slack cable has tension 0 and s = natural length − distance
    [QT (7), corrected].
    """

    kind: ClassVar[str] = "cable"
    words: ClassVar[Words] = SLACK

    def inner(self, start: Start) -> dict[str, float]:
        """The slack at the start."""
        return {"slack": max(0.0, self.numbers(start)["length"] - start.distance(*self.ends))}

    @property
    def gap_names(self) -> tuple[str, ...]:
        """Its slack is called like the cable."""
        return ("",)

    def gaps(self, at: Local) -> tuple[Any, ...]:
        """Slack ≥ 0; the multiplier is the tension."""
        return (at.inner[0],)

    def energy(self, at: Local) -> Any:
        """Energy of the elongation beyond slack."""
        a, b = at.frames
        return at.n.stiffness / 2 * (distance(a, b) - at.n.length + at.inner[0]) ** 2
