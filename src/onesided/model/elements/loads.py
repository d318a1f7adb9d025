"""Loads: dead forces, moments, gravity, pressure; each grows with p unless it is constant."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from onesided.model.elements.contract import Element, Local, Quantity, Start


@dataclass(frozen=True)
class Force(Element):
    """A dead force on a place: its direction does not change.

    Parameters
    ----------
    at : the place.
    force : components, per unit of p, or the force itself when `constant`.
    """

    at: str = ""
    force: Sequence[Quantity] = ()
    constant: bool = False

    kind: ClassVar[str] = "force"

    @property
    def places(self) -> tuple[str, ...]:
        """Where it acts."""
        return (self.at,)

    @property
    def variant(self) -> Hashable:
        """Constant or growing with p."""
        return self.constant

    def check(self, start: Start) -> None:
        """As many components as dimensions."""
        if len(self.force) != len(start.position(self.at)):
            raise self.error("has the wrong number of components", got=str(tuple(self.force)))

    def numbers(self, start: Start) -> dict[str, Any]:
        """Components."""
        return {"force": start.vector(self.force)}

    def energy(self, at: Local) -> Any:
        """Potential −F·x."""
        work = at.n.force @ at.frames[0].position
        return -work if self.constant else -at.p * work
