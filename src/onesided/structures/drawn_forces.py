"""Loads, supports and places of contacts of a structure, for its drawing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from onesided.base.types import Array
from onesided.elements.contract import Element, Quantity
from onesided.elements.line_loads import LineLoad
from onesided.elements.loads import Force, Moment, PressureShare, Weight
from onesided.elements.nonconservative import FollowerForce
from onesided.elements.places import Body, Node, Place
from onesided.elements.schedules import Scheduled
from onesided.results.sketch import Component
from onesided.results.sketch_forces import ActingForces, LoadArrow, LoadTurn, Support
from onesided.structures.drawn_contacts import touch_points
from onesided.structures.drawn_frames import Course, Measures, frames_of, number_of, positions_of, put

if TYPE_CHECKING:
    from onesided.structures.structure import Structure


@dataclass(frozen=True, eq=False)
class ForceArtist:
    """Draws what acts on a structure: adds the points and measures that this needs to those of the drawing."""

    structure: "Structure"
    places: Mapping[str, Place]
    measures: Measures
    points: dict[str, tuple[Component, ...]] = field(default_factory=dict)

    def acting(self) -> ActingForces:
        """All loads, what is held, and where contacts touch."""
        touches = touch_points(self.structure, self.places, self.measures, self.points)
        return ActingForces(tuple(self._loads()), tuple(self._supports()), dict(touches), tuple(self._turns()))

    def _loads(self) -> Iterator[LoadArrow]:
        for element in self.structure.elements:
            if not set(element.places) <= set(self.places):
                continue
            if isinstance(element, Force):
                yield LoadArrow(element.at, self._force(element), grows=not element.constant)
            elif isinstance(element, FollowerForce):
                yield LoadArrow(element.at, self._follower(element), grows=not element.constant)
            elif isinstance(element, LineLoad):
                span = self.structure.start_of(self.structure.parameters).distance(*element.ends)
                force = self._components(element.name, element, element.load, span)
                yield LoadArrow(self._middle(element), force, grows=not element.constant)
            elif isinstance(element, PressureShare):
                yield LoadArrow(self._middle(element), self._pressed(element), grows=not element.constant)

    def _turns(self) -> Iterator[LoadTurn]:
        """A moment on the last of its bodies, and the reverse on the first of two."""
        for element in self.structure.elements:
            if isinstance(element, Moment) and set(element.places) <= set(self.places):
                for at, sense in zip(reversed(element.places), (1.0, -1.0), strict=False):
                    (moment,) = self._components(f"{element.name} on {at}", element, (element.moment,), sense)
                    yield LoadTurn(at, moment, grows=not element.constant)

    def _force(self, element: Force) -> tuple[Component, ...]:
        mass: Any = self.structure.places[element.at]
        times = number_of(mass.mass, self.structure.parameters) if isinstance(element, Weight) else 1.0
        return self._components(element.name, element, element.force, times)

    def _components(
        self, name: str, element: Element, given: Sequence[Quantity], times: float
    ) -> tuple[Component, ...]:
        """Numbers, or measures where they are formulas of the control parameter."""
        parts = [Scheduled(f"part{i}", value, element.control) for i, value in enumerate(given)]
        if not any(part.moves for part in parts):
            return tuple(times * number_of(value, self.structure.parameters) for value in given)

        def course(q: Any, p: Any, th: Any) -> Array:
            start = self.structure.start_of(th)
            return times * np.stack([np.broadcast_to(part.along(start, p), np.shape(p)) for part in parts], axis=-1)

        return put(self.measures, f"arrow of {name}", course, len(given))

    def _follower(self, element: FollowerForce) -> tuple[Component, ...]:
        """In fixed axes, R F."""
        frames = frames_of(self.structure, self.places[element.at])
        parts = [Scheduled(f"part{i}", value, element.control) for i, value in enumerate(element.force)]

        def course(q: Any, p: Any, th: Any) -> Array:
            start = self.structure.start_of(th)
            own = np.stack([np.broadcast_to(part.along(start, p), np.shape(p)) for part in parts], axis=-1)
            return np.array([frame.rotation @ force for frame, force in zip(frames(q, p, th), own, strict=True)])

        return put(self.measures, f"arrow of {element.name}", course, len(parts))

    def _pressed(self, element: PressureShare) -> tuple[Component, ...]:
        """Pressure × length or area, outwards."""
        corners = self._corners(element)
        pressure = Scheduled("pressure", element.pressure, element.control)

        def course(q: Any, p: Any, th: Any) -> Array:
            a, b, *c = (corner(q, p, th) for corner in corners)
            normal = np.cross(b - a, c[0] - a) / 2.0 if c else np.stack([b[:, 1] - a[:, 1], a[:, 0] - b[:, 0]], axis=-1)
            size = np.broadcast_to(pressure.along(self.structure.start_of(th), p), np.shape(p))
            return np.asarray(size[:, None] * normal)

        return put(self.measures, f"arrow of {element.name}", course, self.places[element.places[0]].dimension)

    def _corners(self, element: Element) -> list[Course]:
        return [positions_of(self.structure, self.places[name]) for name in element.places]

    def _middle(self, element: Element) -> str:
        """A point between the places of an element."""
        corners, name = self._corners(element), f"middle of {element.name}"

        def course(q: Any, p: Any, th: Any) -> Array:
            return np.asarray(np.mean([corner(q, p, th) for corner in corners], axis=0))

        self.points[name] = put(self.measures, name, course, self.places[element.places[0]].dimension)
        return name

    def _supports(self) -> Iterator[Support]:
        """What is held; nodes at which there is nothing, as corners of a grid, are left out."""
        used = {name for element in self.structure.elements for name in element.places}
        for name, place in self.places.items():
            if isinstance(place, Body) or (isinstance(place, Node) and name in used):
                held = [not slot.free and slot.rate == 0.0 for slot in place.slots]
                axes = "".join(axis for axis, fixed in zip("xyz"[: place.dimension], held, strict=False) if fixed)
                if axes:
                    yield Support(name, axes, clamped=len(held) > place.dimension and all(held))
