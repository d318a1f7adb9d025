"""Forces without a potential, for motion: follower forces and moments, dampers. Statics refuses followers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp

from onesided.elements.contract import Acting, Element, Local, Quantity, Rate, Start, Wrench
from onesided.elements.loads import VectorLoad
from onesided.elements.relative import check_pair
from onesided.elements.schedules import Schedule


def _no_moment(velocity: Any) -> Any:
    return jnp.zeros(()) if len(velocity) == 2 else jnp.zeros(3)


@dataclass(frozen=True)
class FollowerForce(VectorLoad):
    """A force that turns with the body it acts on: it has no potential, so statics refuses it.

    Parameters
    ----------
    at : a body or a marker on one.
    force : components in its axes, per unit of p, or the force itself when `constant`; then formulas of p as well.
    """

    at: str = ""
    force: Sequence[Schedule] = ()
    constant: bool = False

    kind: ClassVar[str] = "follower_force"
    turns: ClassVar[bool] = True
    conservative: ClassVar[bool] = False

    def wrenches(self, at: Local, rates: tuple[Rate, ...]) -> tuple[Wrench, ...]:
        """The force in fixed axes, R F."""
        force = at.frames[0].rotation @ self._given.value(at) * (1.0 if self.constant else at.p)
        return (Wrench(force, _no_moment(force)),)


@dataclass(frozen=True)
class FollowerMoment(VectorLoad):
    """A moment in space whose axis turns with the body (in the plane a `moment` does the same, with a potential).

    Parameters
    ----------
    at : a body or a marker on one.
    moment : three components in its axes, per unit of p, or the moment itself when `constant`; then formulas of p, too.
    """

    at: str = ""
    moment: Sequence[Schedule] = ()
    constant: bool = False

    kind: ClassVar[str] = "follower_moment"
    turns: ClassVar[bool] = True
    conservative: ClassVar[bool] = False
    vector: ClassVar[str] = "moment"

    def check(self, start: Start) -> None:
        """Refuse it in the plane, where `moment` has a potential; three components."""
        if len(start.position(self.at)) == 2:
            raise self.error("is for space", advice="in the plane use `moment`: it has a potential")
        super().check(start)

    def wrenches(self, at: Local, rates: tuple[Rate, ...]) -> tuple[Wrench, ...]:
        """The moment in fixed axes, R M."""
        moment = at.frames[0].rotation @ self._given.value(at) * (1.0 if self.constant else at.p)
        return (Wrench(jnp.zeros(3), moment),)


@dataclass(frozen=True)
class Damper(Element):
    """A dashpot between two places: a tension of damping × rate of their distance. Without effect in statics.

    Parameters
    ----------
    ends : names of two places.
    damping : force per speed.
    """

    ends: tuple[str, str] = ("", "")
    damping: Quantity = 0.0

    kind: ClassVar[str] = "damper"
    drawn_as: ClassVar[str] = "spring"

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the places at its two ends."""
        return tuple(self.ends)

    def check(self, start: Start) -> None:
        """Two ends that are apart, damping ≥ 0."""
        if len(self.ends) != 2 or start.distance(*self.ends) == 0.0:
            raise self.error("needs two ends that are apart", got=", ".join(self.ends))
        if start.value(self.damping) < 0:
            raise self.error("its damping is negative", got=str(self.damping))

    def numbers(self, start: Start) -> dict[str, Any]:
        """Damping constant [force per speed]."""
        return {"damping": start.value(self.damping)}

    def wrenches(self, at: Local, rates: tuple[Rate, ...]) -> tuple[Wrench, ...]:
        """Along the line of the ends, against their approach or retreat."""
        step = at.frames[1].position - at.frames[0].position
        speed = rates[1].velocity - rates[0].velocity
        pull = at.n.damping * (speed @ step) / (step @ step) * step
        return Wrench(pull, _no_moment(pull)), Wrench(-pull, _no_moment(pull))

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """One result: the tension in the dashpot."""
        return (".force",)

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """The pull on the first end."""
        step = at.frames[1].position - at.frames[0].position
        return (acting.loose()[0].force @ step / jnp.sqrt(step @ step),)


@dataclass(frozen=True)
class TurnDamper(Element):
    """A rotary dashpot between two bodies, or on one: a moment of damping × relative spin, against it.

    Parameters
    ----------
    bodies : one body or two.
    damping : moment per spin.
    """

    bodies: str | tuple[str, ...] = ()
    damping: Quantity = 0.0

    kind: ClassVar[str] = "turn_damper"
    turns: ClassVar[bool] = True

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the one or two bodies it acts on."""
        return (self.bodies,) if isinstance(self.bodies, str) else tuple(self.bodies)

    def check(self, start: Start) -> None:
        """One or two bodies, damping ≥ 0."""
        if len(self.places) not in {1, 2}:
            raise self.error("needs one or two bodies", got=str(self.bodies))
        if len(self.places) == 2:
            check_pair(self, start, self.places, turning=True)
        if start.value(self.damping) < 0:
            raise self.error("its damping is negative", got=str(self.damping))

    def numbers(self, start: Start) -> dict[str, Any]:
        """Damping constant [moment per angular velocity]."""
        return {"damping": start.value(self.damping)}

    def wrenches(self, at: Local, rates: tuple[Rate, ...]) -> tuple[Wrench, ...]:
        """Moments against the relative angular velocity."""
        spin = rates[-1].spin - (rates[0].spin if len(rates) == 2 else 0.0)
        nothing, moment = jnp.zeros(len(at.frames[0].position)), at.n.damping * spin
        last = Wrench(nothing, -moment)
        return (Wrench(nothing, moment), last) if len(rates) == 2 else (last,)

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """Its moment on the last body."""
        return (".moment",) if dimension == 2 else (".moment_x", ".moment_y", ".moment_z")

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """The moment on the last body."""
        return tuple(jnp.atleast_1d(acting.loose()[-1].moment))


@dataclass(frozen=True)
class PlaceDamper(Element):
    """Resistance of the surroundings: a force −damping × velocity on a place.

    Parameters
    ----------
    at : the place.
    damping : force per speed.
    """

    at: str = ""
    damping: Quantity = 0.0

    kind: ClassVar[str] = "place_damper"

    @property
    def places(self) -> tuple[str, ...]:
        """Name of the place it acts on."""
        return (self.at,)

    def check(self, start: Start) -> None:
        """Refuse a negative damping constant."""
        if start.value(self.damping) < 0:
            raise self.error("its damping is negative", got=str(self.damping))

    def numbers(self, start: Start) -> dict[str, Any]:
        """Damping constant [force per speed]."""
        return {"damping": start.value(self.damping)}

    def wrenches(self, at: Local, rates: tuple[Rate, ...]) -> tuple[Wrench, ...]:
        """The force −c v against the velocity of the place."""
        force = -at.n.damping * rates[0].velocity
        return (Wrench(force, _no_moment(force)),)
