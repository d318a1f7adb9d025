"""What contacts of structures do in motion: restitution, friction, and the velocities that friction resists."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NewType

import jax.numpy as jnp

from onesided.elements.contract import Acting, Element, Frame, Local, Rate

Coefficient = NewType("Coefficient", float)  # a number ≥ 0, infinity included; no formula
NONE = Coefficient(0.0)


class Rub(NamedTuple):
    """Velocities of one gap: slip, rolling (1,) in the plane, (2,) in space; spinning (1,), in the plane (0,)."""

    slip: Any
    rolling: Any
    spinning: Any


@dataclass(frozen=True)
class Bouncing(Element):
    """Base of elements with gaps that may close with a blow.

    Parameters
    ----------
    restitution : Newton's coefficient in motion, 0 to 1.
    """

    restitution: Coefficient = field(default=NONE, kw_only=True)


@dataclass(frozen=True)
class Rubbing(Bouncing):
    """Base of contacts with friction in motion; statics knows none.

    Parameters
    ----------
    friction : Coulomb's coefficient; infinity for a contact that never slides.
    static_friction : that of a contact that sticks, by default the same.
    rolling_friction, spinning_friction : lengths: the moment against rolling (against spinning about the normal) is at
        most this times the normal force.
    kelvin_voigt : {stiffness, damping}: compliant in motion instead of hard, as `onesided.KelvinVoigt`.
    hunt_crossley : {stiffness, dissipation, exponent}: the same, as `onesided.HuntCrossley`.
    """

    friction: Coefficient = field(default=NONE, kw_only=True)
    static_friction: Coefficient | None = field(default=None, kw_only=True)
    rolling_friction: Coefficient = field(default=NONE, kw_only=True)
    spinning_friction: Coefficient = field(default=NONE, kw_only=True)
    kelvin_voigt: Mapping[str, Coefficient] = field(default_factory=dict, kw_only=True)
    hunt_crossley: Mapping[str, Coefficient] = field(default_factory=dict, kw_only=True)

    @property
    def rubs(self) -> bool:
        """Whether it has friction of some kind."""
        return any((self.friction, self.static_friction, self.rolling_friction, self.spinning_friction))

    @abstractmethod
    def touching(self, at: Local) -> tuple[tuple[Any, Any], ...]:
        """For every gap the point of contact and the direction in which its reaction pushes, in fixed axes."""

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """For every gap force and distance, place and normal."""
        axes = "xyz"[:dimension]
        kinds = (".force", ".gap", *(f".{axis}" for axis in axes), *(f".normal_{axis}" for axis in axes))
        return tuple(ending + what for ending in self.gap_names for what in kinds)

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """Multipliers, gaps, points and normals."""
        found = zip(acting.multipliers, self.gaps(at), self.touching(at), strict=True)
        return tuple(value for force, gap, (point, normal) in found for value in (force, gap, *point, *normal))

    @abstractmethod
    def rubbing(self, at: Local, rates: tuple[Rate, ...]) -> tuple[Rub, ...]:
        """Velocities at the points of contact, one `Rub` per gap."""


def velocity_at(frame: Frame, rate: Rate, point: Any) -> Any:
    """Velocity of a body where a point is."""
    arm = point - frame.position
    return rate.velocity + turning(rate.spin, arm)


def turning(spin: Any, arm: Any) -> Any:
    """What a spin adds to the velocity at an arm."""
    return spin * jnp.stack([-arm[1], arm[0]]) if len(arm) == 2 else jnp.cross(spin, arm)


def rub(slide: Any, spin: Any, normal: Any, tangents: Any) -> Rub:
    """Velocity and spin of one body against the other, split by the normal and rows of tangents."""
    if len(normal) == 2:
        return Rub(tangents @ slide, jnp.atleast_1d(spin), jnp.zeros(0))
    return Rub(tangents @ slide, tangents @ spin, (normal @ spin)[None])


def carried(first: Any, others: Any, normal: Any) -> Any:
    """Tangents (rows) of a normal at the start, taken along by the shortest turn to another normal; not opposite."""
    if len(normal) == 2:
        return jnp.stack([-normal[1], normal[0]])[None]
    return others - jnp.outer(others @ normal / (1.0 + first @ normal), first + normal)
