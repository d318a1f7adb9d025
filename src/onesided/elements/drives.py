"""Equations of one measure: distances, gears, racks, points on lines and curves."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from onesided.elements.contract import Acting, Element, Local, Quantity, Start
from onesided.elements.expressions import Expression
from onesided.elements.relative import check_pair, coincide, direction, triad
from onesided.elements.schedules import Schedule, ScheduledLength
from onesided.elements.shapes import distance


@dataclass(frozen=True)
class PairEquation(Element):
    """Base of elements with equations between two places."""

    between: tuple[str, str] = ("", "")

    turning: ClassVar[bool] = False
    effort: ClassVar[str] = ".force"  # what its multiplier is

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """One result: the force, or for turning drives the moment."""
        return (self.effort,)

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """The multiplier of its equation."""
        return (acting.multipliers[0],)

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the two places it couples."""
        return tuple(self.between)

    @property
    def closure_names(self) -> tuple[str, ...]:
        """One equation, called like the element."""
        return ("",)

    def check(self, start: Start) -> None:
        """Two places of different bodies."""
        check_pair(self, start, self.between, turning=self.turning)

    def starting_turn(self, start: Start) -> float:
        """Angle of the second place less that of the first, in the plane."""
        first, second = (float(start.frames[place].angle) for place in self.between)
        return second - first


@dataclass(frozen=True)
class Distance(ScheduledLength, PairEquation):
    """A rigid bar: the distance of two places stays; the multiplier is its tension (thrust is negative).

    Parameters
    ----------
    length : by default the distance at the start; a formula with the control parameter makes it an actuator. 0 is for
        a revolute or spherical joint.
    """

    length: Schedule | None = None

    kind: ClassVar[str] = "distance"
    drawn_as: ClassVar[str] = "strut"

    def check(self, start: Start) -> None:
        """A positive length between two different points."""
        super().check(start)
        if start.distance(*self.between) == 0.0:
            raise self.error("its places coincide", advice="use a revolute or spherical joint")
        if not self.driven and not self.numbers(start)["length"] > 0:
            raise self.error("its length is not positive", got=str(self.length))

    def numbers(self, start: Start) -> dict[str, Any]:
        """Length of the bar, or the parameters in its formula."""
        return {"length": start.distance(*self.between)} if self.length is None else self._length.numbers(start)

    def closures(self, at: Local) -> tuple[Any, ...]:
        """The equation length − distance = 0."""
        return (self._length.value(at) - distance(*at.frames),)


@dataclass(frozen=True)
class Gear(PairEquation):
    """Two gears in the plane: turn of the first + ratio × turn of the second = 0, from the start.

    The multiplier is the moment on the first gear.

    Parameters
    ----------
    ratio : radius of the second over radius of the first; negative for a belt or an inner gear.
    """

    ratio: Quantity = 1.0

    kind: ClassVar[str] = "gear"
    effort: ClassVar[str] = ".moment"
    turns: ClassVar[bool] = True
    dimensions: ClassVar[tuple[int, ...]] = (2,)

    def check(self, start: Start) -> None:
        """A ratio that is not zero."""
        super().check(start)
        if start.value(self.ratio) == 0.0:
            raise self.error("its ratio is zero", expected="a number that is not zero")

    def numbers(self, start: Start) -> dict[str, Any]:
        """Ratio and the angles at the start."""
        first, second = (float(start.frames[place].angle) for place in self.between)
        ratio = start.value(self.ratio)
        return {"ratio": ratio, "constant": first + ratio * second}

    def closures(self, at: Local) -> tuple[Any, ...]:
        """θ₁ + r θ₂ = const."""
        first, second = at.frames
        return (first.angle + at.n.ratio * second.angle - at.n.constant,)


@dataclass(frozen=True)
class Axial(PairEquation):
    """Base of couplings with an axis fixed in the first place.

    Parameters
    ----------
    axis : in the axes of the first place; x in the plane, z in space by default.
    """

    axis: Sequence[Quantity] | None = None

    def check(self, start: Start) -> None:
        """An axis that is one."""
        super().check(start)
        self.axes(start)

    def axes(self, start: Start) -> Any:
        """Triad of the axis (rows a, n in the plane; u, v, a in space)."""
        size = len(start.position(self.between[0]))
        default = (1.0, 0.0) if size == 2 else (0.0, 0.0, 1.0)
        return triad(direction(self, start, default if self.axis is None else self.axis, size))

    def along(self, start: Start) -> Any:
        """Unit vector of the axis, in the axes of the first place."""
        axes = self.axes(start)
        return axes[0] if len(axes) == 2 else axes[2]

    def travel_at_start(self, start: Start) -> float:
        """Where the second place is along the axis at the start."""
        first, second = self.between
        step = start.position(second) - start.position(first)
        return float(self.along(start) @ (start.rotation(first).T @ step))


def travel(at: Local) -> Any:
    """How far the second place is along the axis of the first."""
    a, b = at.frames
    return at.n.along @ (a.rotation.T @ (b.position - a.position))


@dataclass(frozen=True)
class Rack(Axial):
    """A pinion on a rack, in the plane: travel of the second place along the axis + radius × its turn = 0.

    A wheel that rolls on the upper side of the rack's axis has a positive radius. The multiplier is the force of the
    teeth on the pinion, along the axis.
    """

    radius: Quantity = 0.0

    kind: ClassVar[str] = "rack"
    turns: ClassVar[bool] = True
    dimensions: ClassVar[tuple[int, ...]] = (2,)

    def check(self, start: Start) -> None:
        """A radius that is not zero."""
        super().check(start)
        if start.value(self.radius) == 0.0:
            raise self.error("its radius is zero", expected="a number that is not zero")

    def numbers(self, start: Start) -> dict[str, Any]:
        """Axis, radius, the sum at the start."""
        radius = start.value(self.radius)
        constant = self.travel_at_start(start) + radius * self.starting_turn(start)
        return {"along": self.along(start), "radius": radius, "constant": constant}

    def closures(self, at: Local) -> tuple[Any, ...]:
        """Travel + radius × turn."""
        a, b = at.frames
        return (travel(at) + at.n.radius * (b.angle - a.angle) - at.n.constant,)


@dataclass(frozen=True)
class OnLine(Axial):
    """A point (the second place) on a straight line of the first: one force across it in the plane, two in space.

    Parameters
    ----------
    through : a point of the line in the axes of the first place, by default its origin.
    assemble : accept a point that is off the line at the start.
    """

    through: Sequence[Quantity] | None = None
    assemble: bool = False
    dimension: int = field(default=0, repr=False)  # filled in when the structure is composed

    kind: ClassVar[str] = "on_line"

    def expand(self, places: Mapping[str, Any], parameters: Mapping[str, float]) -> Sequence[Element]:
        """The element itself, with the dimension of its places filled in."""
        known = [places[name].dimension for name in self.between if name in places]
        return (replace(self, dimension=known[0] if known else 2),)

    @property
    def closure_names(self) -> tuple[str, ...]:
        """Forces across the line, in the axes of the first place."""
        return ("",) if self.dimension == 2 else ("_u", "_v")

    def check(self, start: Start) -> None:
        """The point is on the line."""
        super().check(start)
        if self.through is not None and len(self.through) != self.dimension:
            raise self.error("its point is not usable", got=str(tuple(self.through)))
        numbers, (first, second) = self.numbers(start), self.between
        local = start.rotation(first).T @ (start.position(second) - start.position(first))
        off = numbers["across"] @ (local - numbers["through"])
        if not self.assemble and not coincide(start, numbers["across"].T @ off + local, local):
            raise self.error(
                "the point is off the line at the start",
                got=f"by {float(np.max(np.abs(off))):.6g}",
                advice="give `through`, or assemble=True to let the solver bring it there",
            )

    def numbers(self, start: Start) -> dict[str, Any]:
        """Directions across the line, a point on it."""
        axes = self.axes(start)
        through = np.zeros(self.dimension) if self.through is None else start.vector(self.through)
        return {"across": axes[1:] if self.dimension == 2 else axes[:2], "through": through}

    def closures(self, at: Local) -> tuple[Any, ...]:
        """Offsets of the point from the line, one in the plane, two in space."""
        a, b = at.frames
        return tuple(at.n.across @ (a.rotation.T @ (b.position - a.position) - at.n.through))

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """Force on the point, in fixed axes."""
        return tuple(f".force_{axis}" for axis in "xyz"[:dimension])

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """The force on the second place."""
        return tuple(acting.wrenches()[1].force)


@dataclass(frozen=True)
class OnCurve(PairEquation):
    """A point (the second place) where a formula of its coordinates x, y (z) in the axes of the first vanishes.

    A curve in the plane, a surface in space. The multiplier times the formula's gradient is the force on the point.

    Parameters
    ----------
    formula : of x, y, z, the control parameter `p` and parameters: "y - a*x**2".
    """

    formula: str = ""

    kind: ClassVar[str] = "on_curve"

    @property
    def variant(self) -> Hashable:
        """Text of the formula, and the name of the control parameter in it."""
        return self.formula, self.control

    def _expression(self, size: int) -> Expression:
        return Expression(self.formula, (*"xyz"[:size], self.control))

    def check(self, start: Start) -> None:
        """A formula of known names that uses the point."""
        super().check(start)
        size = len(start.position(self.between[0]))
        if not self._expression(size).formula.names & set("xyz"[:size]):
            raise self.error("its formula has no coordinate of the point", got=self.formula, expected="x, y, z")

    def numbers(self, start: Start) -> dict[str, Any]:
        """Values of the parameters in the formula."""
        return self._expression(len(start.position(self.between[0]))).numbers(start)

    def closures(self, at: Local) -> tuple[Any, ...]:
        """The formula at the point."""
        a, b = at.frames
        local = a.rotation.T @ (b.position - a.position)
        expression = self._expression(len(local))
        return (expression.value([*local, at.p], at.n),)

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """Force on the point, in fixed axes."""
        return tuple(f".force_{axis}" for axis in "xyz"[:dimension])

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """The force on the second place."""
        return tuple(acting.wrenches()[1].force)
