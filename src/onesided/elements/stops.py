"""Stops: limits of an angle, a travel, a distance or a coordinate, at one end or both."""

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

from onesided.elements.contact_keys import Bouncing
from onesided.elements.contract import Acting, Local, Quantity, Start, Words
from onesided.elements.drives import Axial, travel
from onesided.elements.relative import carried_over, check_pair, direction, triad, turn_from
from onesided.elements.shapes import distance

STOP = Words("stop", "is reached", "is left")


@dataclass(frozen=True)
class Stop(Bouncing):
    """Base of stops.

    Parameters
    ----------
    lower, upper : the limits; one may be left out. With both, the gaps end on `_lower` and `_upper`.
    """

    lower: Quantity | None = field(default=None, kw_only=True)
    upper: Quantity | None = field(default=None, kw_only=True)

    words: ClassVar[Words] = STOP
    effort: ClassVar[str] = ".force"

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """Force (moment) and gap of every limit."""
        return tuple(ending + what for ending in self.gap_names for what in (self.effort, ".gap"))

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """Reaction and gap of each limit, in turn."""
        pairs = zip(acting.multipliers, self.gaps(at), strict=True)
        return tuple(value for pair in pairs for value in pair)

    @property
    def gap_names(self) -> tuple[str, ...]:
        """Endings "_lower" and "_upper", or one gap named like the element."""
        if self.lower is not None and self.upper is not None:
            return ("_lower", "_upper")
        return ("",)

    @property
    def variant(self) -> Hashable:
        """Whether there is a lower limit, and an upper one."""
        return self.lower is not None, self.upper is not None

    def check(self, start: Start) -> None:
        """At least one limit, the lower below the upper one."""
        if self.lower is None and self.upper is None:
            raise self.error("has no limit", expected="`lower`, `upper` or both")
        if self.lower is not None and self.upper is not None:
            low, high = start.value(self.lower), start.value(self.upper)
            if not low < high:
                raise self.error("its limits are not in order", got=f"{low:g} and {high:g}", expected="lower < upper")

    def numbers(self, start: Start) -> dict[str, Any]:
        """Values of the limits, by "lower" and "upper"."""
        given = (("lower", self.lower), ("upper", self.upper))
        return {name: start.value(value) for name, value in given if value is not None}

    @abstractmethod
    def measure(self, at: Local) -> Any:
        """The quantity between the limits, a scalar."""

    def gaps(self, at: Local) -> tuple[Any, ...]:
        """Measure − lower, upper − measure."""
        value = self.measure(at)
        low = (value - at.n.lower,) if self.lower is not None else ()
        return (*low, at.n.upper - value) if self.upper is not None else low


@dataclass(frozen=True)
class CoordinateStop(Stop):
    """Limits of a coordinate; the reaction is the force (or moment) on it."""

    coordinate: str = ""

    kind: ClassVar[str] = "coordinate_stop"

    @property
    def places(self) -> tuple[str, ...]:
        """None: it reads a coordinate."""
        return ()

    @property
    def reads(self) -> tuple[str, ...]:
        """Name of the coordinate that is limited."""
        return (self.coordinate,)

    def measure(self, at: Local) -> Any:
        """Value of the coordinate between the limits."""
        return at.reads[0]


@dataclass(frozen=True)
class DistanceStop(Stop):
    """Limits of the distance of two places, both positive: a strut that cannot be shorter, a strap not longer."""

    between: tuple[str, str] = ("", "")

    kind: ClassVar[str] = "distance_stop"

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the two places whose distance is limited."""
        return tuple(self.between)

    def check(self, start: Start) -> None:
        """Refuse limits that are not positive, and places that coincide."""
        super().check(start)
        check_pair(self, start, self.between, turning=False)
        for name, value in self.numbers(start).items():
            if not value > 0:
                raise self.error(f"its {name} limit is not positive", got=f"{value:g}")
        if start.distance(*self.between) == 0.0:
            raise self.error("its places coincide", expected="two different points")

    def measure(self, at: Local) -> Any:
        """Distance of the two places."""
        return distance(*at.frames)


@dataclass(frozen=True)
class TravelStop(Stop, Axial):
    """Limits of the travel of the second place along an axis of the first, from the start; reactions are forces."""

    kind: ClassVar[str] = "travel_stop"

    @property
    def closure_names(self) -> tuple[str, ...]:
        """No equation: only the gaps at the limits."""
        return ()

    def check(self, start: Start) -> None:
        """Limits, two places, an axis."""
        Stop.check(self, start)
        Axial.check(self, start)

    def numbers(self, start: Start) -> dict[str, Any]:
        """Limits, axis, travel at the start."""
        return {**super().numbers(start), "along": self.along(start), "constant": self.travel_at_start(start)}

    def measure(self, at: Local) -> Any:
        """Travel along the axis from the start."""
        return travel(at) - at.n.constant


@dataclass(frozen=True)
class AngleStop(Stop):
    """Limits of the turn of a body: against another one, or against ground; reactions are moments.

    The turn counts from the start (`absolute`: the difference of the angles themselves, in the plane). In the plane it
    counts on beyond full turns. In space it is the turn about `axis` (of the first body), known only up to full turns:
    limits must be less than 360° apart, and the turn is taken within 180° of their middle (90° from a single limit).

    Parameters
    ----------
    bodies : one body or two; the turn is that of the last against the first.
    axis : in space, in the axes of the first body, z by default; one body alone turns about a fixed axis.
    """

    bodies: str | tuple[str, ...] = ()
    axis: tuple[Quantity, ...] = (0.0, 0.0, 1.0)
    absolute: bool = False

    kind: ClassVar[str] = "angle_stop"
    effort: ClassVar[str] = ".moment"
    turns: ClassVar[bool] = True

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the one or two bodies whose angle is limited."""
        return (self.bodies,) if isinstance(self.bodies, str) else tuple(self.bodies)

    def check(self, start: Start) -> None:
        """Limits, one or two bodies, in space a range below a full turn."""
        super().check(start)
        if len(self.places) not in {1, 2}:
            raise self.error("needs one or two bodies", got=str(self.bodies))
        if len(self.places) == 2:
            check_pair(self, start, self.places, turning=True)
        if len(start.position(self.places[0])) == 3:
            if self.absolute:
                raise self.error("has no absolute angle in space", expected="limits that count from the start")
            limits = start.vector([limit for limit in (self.lower, self.upper) if limit is not None])
            if len(limits) == 2 and not limits[1] - limits[0] < 2.0 * np.pi:
                raise self.error("its range is a full turn or more", got=f"{limits[1] - limits[0]:g} rad")
            self._axes(start)

    def _axes(self, start: Start) -> Any:
        return triad(direction(self, start, self.axis, 3))

    def _middle(self, start: Start) -> float:
        limits = super().numbers(start)
        low = limits["lower"] if "lower" in limits else limits["upper"] - np.pi
        return float(low + limits.get("upper", low + np.pi)) / 2

    def numbers(self, start: Start) -> dict[str, Any]:
        """Limits and the state at the start."""
        first, last = self.places[0], self.places[-1]
        limits = super().numbers(start)
        if len(start.position(first)) == 2:
            angle = float(start.frames[last].angle) - (float(start.frames[first].angle) if first != last else 0.0)
            return {**limits, "constant": 0.0 if self.absolute else angle}
        axes = self._axes(start)
        ground = axes if first != last else axes @ start.rotation(first).T
        return {
            **limits,
            "axes": ground,
            "others": carried_over(start, axes, (first, last)),
            "middle": self._middle(start),
        }

    def measure(self, at: Local) -> Any:
        """Turn of the last body from the start, against the first where there are two."""
        last = at.frames[-1]
        if len(last.position) == 2:
            return last.angle - (at.frames[0].angle if len(at.frames) == 2 else 0.0) - at.n.constant
        first = at.frames[0] if len(at.frames) == 2 else last._replace(rotation=jnp.eye(3))
        return at.n.middle + turn_from((first, last), at.n, at.n.middle)
