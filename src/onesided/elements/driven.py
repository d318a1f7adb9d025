"""Prescribed motions: coordinates, travels and angles that follow a formula of the control parameter."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

from onesided.elements.contract import Acting, Element, Local, Start
from onesided.elements.drives import Axial, travel
from onesided.elements.expressions import Expression
from onesided.elements.relative import carried_over, turn_from
from onesided.elements.schedules import Schedule


class FollowsFormula(Element):
    """Base of elements with an equation measure − formula = 0; the formula is one of the control parameter."""

    value: Schedule

    @property
    def driven(self) -> bool:
        """True: the equation changes with the control parameter."""
        return True

    @property
    def variant(self) -> Hashable:
        """Text of the formula, and the name of the control parameter in it."""
        return str(self.value), self.control

    @property
    def _formula(self) -> Expression:
        return Expression(str(self.value), (self.control,))

    def asked(self, at: Local) -> Any:
        """Value of the formula: what the measure is held at."""
        return self._formula.value([at.p], at.n)


@dataclass(frozen=True)
class Prescribed(FollowsFormula):
    """A coordinate that follows a formula of `p` and parameters; the multiplier is the force that this takes.

    Parameters
    ----------
    coordinate : its name, like "top_x" or "crank_angle".
    value : formula, like "0.5*p".
    """

    coordinate: str = ""
    value: Schedule = 0.0

    kind: ClassVar[str] = "prescribed"

    @property
    def places(self) -> tuple[str, ...]:
        """None: it reads a coordinate."""
        return ()

    @property
    def reads(self) -> tuple[str, ...]:
        """Name of the coordinate that is prescribed."""
        return (self.coordinate,)

    @property
    def closure_names(self) -> tuple[str, ...]:
        """One equation, called like the element."""
        return ("",)

    def numbers(self, start: Start) -> dict[str, Any]:
        """Values of the parameters in the formula."""
        return self._formula.numbers(start)

    def closures(self, at: Local) -> tuple[Any, ...]:
        """The equation coordinate − formula = 0."""
        return (at.reads[0] - self.asked(at),)

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """The force (moment) on the coordinate."""
        return (".force",)

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """Its multiplier: the force on the coordinate."""
        return (acting.multipliers[0],)


@dataclass(frozen=True)
class DrivenTravel(FollowsFormula, Axial):
    """Travel of the second place along an axis of the first, from the start, follows a formula of `p` and parameters.

    The multiplier is the force of the drive on the second place, along the axis.
    """

    value: Schedule = "p"

    kind: ClassVar[str] = "driven_travel"

    def numbers(self, start: Start) -> dict[str, Any]:
        """Axis, travel at the start, parameters of the formula."""
        own = {"along": self.along(start), "constant": self.travel_at_start(start)}
        return {**own, **self._formula.numbers(start)}

    def closures(self, at: Local) -> tuple[Any, ...]:
        """The equation travel − formula = 0."""
        return (travel(at) - at.n.constant - self.asked(at),)


@dataclass(frozen=True)
class DrivenAngle(FollowsFormula, Axial):
    """Turn of the second place against the first, from the start, follows a formula of `p` and parameters.

    In space the turn is about the axis, known up to full turns: turn − formula, taken between −180° and 180°, is kept
    zero; the joint itself must hold the axes together. The multiplier is the moment of the drive on the second place.
    """

    value: Schedule = "p"

    kind: ClassVar[str] = "driven_angle"
    effort: ClassVar[str] = ".moment"
    turns: ClassVar[bool] = True
    turning: ClassVar[bool] = True

    def numbers(self, start: Start) -> dict[str, Any]:
        """Axes, turn at the start, parameters of the formula."""
        axes = self.axes(start)
        own = {"axes": axes, "others": carried_over(start, axes, self.between), "constant": self.starting_turn(start)}
        return {**own, **self._formula.numbers(start)}

    def closures(self, at: Local) -> tuple[Any, ...]:
        """The equation turn − formula = 0."""
        value = self.asked(at)
        a, b = at.frames
        if len(a.position) == 2:
            return (b.angle - a.angle - at.n.constant - value,)
        return (turn_from(at.frames, at.n, value),)
