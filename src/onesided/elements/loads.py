"""Loads: dead forces, moments, gravity, pressure; each grows with p unless it is constant."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import jax.numpy as jnp

from onesided.base.errors import ModelError
from onesided.elements.contract import Acting, Element, Local, Start
from onesided.elements.schedules import Schedule, Scheduled, ScheduledVector


def component_names(dimension: int) -> tuple[str, ...]:
    """Names of the components of a force."""
    return tuple(f".force_{axis}" for axis in "xyz"[:dimension])


def whole_force(acting: Acting) -> tuple[Any, ...]:
    """Sum of the forces of an element on its places."""
    return tuple(sum(wrench.force for wrench in acting.wrenches()))


def follows_twice(element: Element, got: str) -> ModelError:
    """A load that is a formula of p and would be multiplied by p as well."""
    return element.error(
        "is a formula of the control parameter, and would grow with it as well",
        got=got,
        expected="constant = true: the formula is then the load itself",
    )


class VectorLoad(Element):
    """Base of loads that are one vector at one place: per unit of p, or the load itself when `constant`."""

    vector: ClassVar[str] = "force"  # the field that holds the components
    at: str
    constant: bool

    @property
    def places(self) -> tuple[str, ...]:
        """The place it acts on."""
        return (self.at,)

    @property
    def _given(self) -> ScheduledVector:
        return ScheduledVector(self.vector, getattr(self, self.vector), self.control)

    @property
    def variant(self) -> Hashable:
        """Whether it is constant, and which components are formulas of p."""
        return self.constant, self._given.shape

    def check(self, start: Start) -> None:
        """Refuse a wrong number of components, and formulas of p that would be multiplied by p as well."""
        got = str(tuple(self._given.given))
        if len(self._given.given) != len(start.position(self.at)):
            raise self.error("has the wrong number of components", got=got)
        if not self.constant and self._given.moves:
            raise follows_twice(self, got)

    def numbers(self, start: Start) -> dict[str, Any]:
        """Components, or the parameters of their formulas."""
        return self._given.numbers(start)


@dataclass(frozen=True)
class Force(VectorLoad):
    """A dead force on a place: its direction does not change.

    Parameters
    ----------
    at : the place.
    force : components, per unit of p, or the force itself when `constant`; it may then be a formula of p, as a load
        case of its own beside others.
    """

    at: str = ""
    force: Sequence[Schedule] = ()
    constant: bool = False

    kind: ClassVar[str] = "force"
    is_load: ClassVar[bool] = True

    def acts(self, at: Local) -> Any:
        """The force, or that per unit of p."""
        return self._given.value(at)

    def energy(self, at: Local) -> Any:
        """Potential −F·x, with x the position of the place."""
        work = self.acts(at) @ at.frames[0].position
        return -work if self.constant else -at.p * work

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """Components of the whole force."""
        return component_names(dimension)

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """The force on all places."""
        return whole_force(acting)


@dataclass(frozen=True)
class Moment(Element):
    """A moment on a planar body, or between two (on the second, and the reverse on the first).

    In space a moment about a fixed axis has no potential for finite rotations: it is refused there.

    Parameters
    ----------
    bodies : one body or two.
    moment : counter-clockwise, per unit of p, or the moment itself when `constant`; it may then be a formula of p.
    """

    bodies: str | tuple[str, ...] = ()
    moment: Schedule = 0.0
    constant: bool = False

    kind: ClassVar[str] = "moment"
    is_load: ClassVar[bool] = True
    turns: ClassVar[bool] = True

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the one or two bodies it acts on."""
        return (self.bodies,) if isinstance(self.bodies, str) else tuple(self.bodies)

    @property
    def variant(self) -> Hashable:
        """Constant or growing with p, and the formula of p."""
        return self.constant, self._moment.shape

    @property
    def _moment(self) -> Scheduled:
        return Scheduled("moment", self.moment, self.control)

    def check(self, start: Start) -> None:
        """One or two bodies of the plane."""
        if len(self.places) not in {1, 2}:
            raise self.error("needs one or two bodies", got=str(self.bodies))
        if not self.constant and self._moment.moves:
            raise follows_twice(self, str(self.moment))
        if len(start.position(self.places[0])) == 3:
            raise self.error(
                "a moment about a fixed axis has no potential in space",
                advice="use two forces on markers, an energy formula, or follower_moment for motion",
            )

    def numbers(self, start: Start) -> dict[str, Any]:
        """Size of the moment, or the parameters in its formula."""
        return self._moment.numbers(start)

    def energy(self, at: Local) -> Any:
        """Potential −M φ, with φ the angle, or the difference of two."""
        turned = at.frames[-1].angle - (at.frames[0].angle if len(at.frames) == 2 else 0.0)
        work = self._moment.value(at) * turned
        return -work if self.constant else -at.p * work

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """The moment on the last body."""
        return (".moment",)

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """The moment on the last body."""
        return (acting.wrenches()[-1].moment,)


@dataclass(frozen=True)
class Gravity(Element):
    """A uniform field: a force mass × acceleration on every place that has a mass, or on those listed.

    Parameters
    ----------
    acceleration : components, like (0, -9.81), or formulas of p, like "-9.81*cos(p)": a table that is tilted.
    on : names of places; by default all nodes and bodies with a mass.
    constant : true by default; otherwise the field grows with p.
    """

    acceleration: Sequence[Schedule] = ()
    on: Sequence[str] = ()
    constant: bool = True

    kind: ClassVar[str] = "gravity"
    is_load: ClassVar[bool] = True

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the places listed in `on`; none where it acts on all."""
        return tuple(self.on)

    def expand(self, places: Mapping[str, Any], parameters: Mapping[str, float]) -> Sequence[Element]:
        """A weight on every place."""
        plain = Start({}, parameters)
        masses = {name: plain.value(getattr(place, "mass", 0.0)) for name, place in places.items()}
        for name in self.on:
            if masses.get(name) == 0.0:  # an unknown name is reported with the weight
                raise self.error(f"'{name}' has no mass", advice="give it a mass, or leave it out")
        chosen = list(self.on) or [name for name, mass in masses.items() if mass != 0.0]
        if not chosen:
            raise self.error("nothing has a mass", advice="Node(…, mass=…) or Body(…, mass=…)")
        field = partial(Weight, force=tuple(self.acceleration), constant=self.constant, control=self.control)
        return [field(f"{self.name} on {name}", name) for name in chosen]


@dataclass(frozen=True)
class Weight(Force):
    """Gravity on one place: its mass times the acceleration."""

    kind: ClassVar[str] = "weight"
    is_load: ClassVar[bool] = True

    def acts(self, at: Local) -> Any:
        """Mass × acceleration: the force, or that per unit of p."""
        return at.n.mass * super().acts(at)

    def numbers(self, start: Start) -> dict[str, Any]:
        """Mass of the place, and the components of the acceleration."""
        return {"mass": start.value(start.places[self.at].mass), **super().numbers(start)}


@dataclass(frozen=True)
class Pressure(Element):
    """Pressure inside a closed polygon of places in the plane: potential −pressure × enclosed area.

    It stays normal to the sides as they move and has a potential all the same. Listed counter-clockwise, a positive
    pressure pushes the sides outwards; clockwise, inwards.

    Parameters
    ----------
    polygon : names of the places, in order; the last is joined to the first.
    pressure : force per length (of thickness one), per unit of p, or itself when `constant`; then it may be a formula
        of the control parameter.
    """

    polygon: Sequence[str] = ()
    pressure: Schedule = 0.0
    constant: bool = False

    kind: ClassVar[str] = "pressure"
    is_load: ClassVar[bool] = True
    dimensions: ClassVar[tuple[int, ...]] = (2,)

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the corners of the polygon, in order."""
        return tuple(self.polygon)

    def expand(self, places: Mapping[str, Any], parameters: Mapping[str, float]) -> Sequence[Element]:
        """One side after the other: the area is a sum over them."""
        corners = list(self.polygon)
        if len(corners) < 3 or len(set(corners)) < len(corners):
            raise self.error("needs three different places or more", got=", ".join(corners))
        share = partial(PressureShare, pressure=self.pressure, constant=self.constant, control=self.control)
        sides = zip(corners, [*corners[1:], corners[0]], strict=True)
        return [share(f"{self.name} between {a} and {b}", (a, b)) for a, b in sides]


@dataclass(frozen=True)
class PressureShare(Element):
    """The share of one side or triangle in the potential of a pressure: of a closed outline, so no kind of its own.

    A side from a to b encloses (a × b)/2 with the origin, a triangle a·(b × c)/6.
    """

    corners: Sequence[str] = ()
    pressure: Schedule = 0.0
    constant: bool = False

    kind: ClassVar[str] = ""
    is_load: ClassVar[bool] = True

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the two corners of a side, or three of a triangle."""
        return tuple(self.corners)

    @property
    def _pressure(self) -> Scheduled:
        return Scheduled("pressure", self.pressure, self.control)

    @property
    def variant(self) -> Hashable:
        """Constant or growing with p, or the formula of p."""
        return self.constant, self._pressure.shape

    def check(self, start: Start) -> None:
        """A formula of the control parameter is the pressure itself."""
        if not self.constant and self._pressure.moves:
            raise follows_twice(self, str(self.pressure))

    def numbers(self, start: Start) -> dict[str, Any]:
        """The pressure, or parameters of its formula."""
        return self._pressure.numbers(start)

    def _acting(self, at: Local) -> Any:
        pressure = self._pressure.value(at)
        return pressure if self.constant else at.p * pressure

    def energy(self, at: Local) -> Any:
        """−pressure × what it encloses."""
        a, b, *c = (frame.position for frame in at.frames)
        enclosed = a @ jnp.cross(b, c[0]) / 6.0 if c else (a[0] * b[1] - a[1] * b[0]) / 2.0
        return -self._acting(at) * enclosed

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """Components of the whole force."""
        return component_names(dimension)

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """The force on it, normal to it: pressure × length or area."""
        a, b, *c = (frame.position for frame in at.frames)
        normal = jnp.cross(b - a, c[0] - a) / 2.0 if c else jnp.stack([b[1] - a[1], a[0] - b[0]])
        return tuple(self._acting(at) * normal)
