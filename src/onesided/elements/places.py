"""Places: nodes, rigid bodies, markers on bodies. A place turns the values of its slots into a frame."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from onesided.base.errors import ModelError
from onesided.elements.contract import Frame, Quantity, Rate, Slot
from onesided.groups.rotations import plane_matrix, rotation_matrix

AXES = "xyz"
TURNS = ("rx", "ry", "rz")
ANGLE = "angle"


@dataclass(frozen=True)
class Place(ABC):
    """Base of nodes, bodies and markers.

    `slots` are its components, `frame(values, numbers, xp)` turns their values into a frame for NumPy or JAX;
    `moves_rigidly` says whether they change when the structure moves as a whole.
    """

    name: str
    kind: ClassVar[str] = ""
    oriented: ClassVar[bool] = False
    moves_rigidly: ClassVar[bool] = True

    @property
    @abstractmethod
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""

    @cached_property
    @abstractmethod
    def slots(self) -> tuple[Slot, ...]:
        """Its coordinates: each a free unknown, or a value that is held."""

    @property
    def numbers(self) -> dict[str, Sequence[Quantity]]:
        """Constant vectors that the frame needs."""
        return {}

    @abstractmethod
    def frame(self, values: Any, numbers: Any, xp: Any) -> Frame:
        """Position and orientation for the values of the slots."""

    @abstractmethod
    def rate(self, values: Any, speeds: Any, numbers: Any, xp: Any) -> Rate:
        """Velocity and spin for the speeds of the slots, linear in them.

        Speeds are rates of the slots; for the rotation vector r of a body in space they are Ω with d exp(r)/dt =
        exp(r) S(Ω): the angular velocity in axes that turn with the body and lay along the fixed ones at r = 0.
        """


def _held(name: str, components: Sequence[str], fixed: bool | str | Sequence[str]) -> frozenset[str]:
    """The components that are held: all, none, or those listed ("xy", or ["x", "rz"])."""
    if isinstance(fixed, bool):
        return frozenset(components if fixed else ())
    chosen: tuple[str, ...] = (fixed,) if isinstance(fixed, str) and fixed in tuple(components) else tuple(fixed)
    for one in chosen:
        if one not in components:
            raise ModelError(
                f"'{name}' cannot be fixed in '{one}'",
                about=name,
                expected=f"true, false or some of {', '.join(components)}",
            )
    return frozenset(chosen)


def _components(
    name: str, names: Sequence[str], starts: Sequence[Quantity], fixed: Any, moves: Mapping[str, Quantity]
) -> tuple[Slot, ...]:
    held = _held(name, names, fixed)
    for one in moves:
        if one not in names:
            raise ModelError(f"'{name}' cannot be moved in '{one}'", about=name, expected=f"some of {', '.join(names)}")
    return tuple(
        Slot(f"{name}_{c}", start, c not in held and c not in moves, moves.get(c, 0.0), c not in (ANGLE, *TURNS))
        for c, start in zip(names, starts, strict=True)
    )


@dataclass(frozen=True)
class Node(Place):
    """A point that can be held, guided, or moved by the control parameter.

    Parameters
    ----------
    at : position at the start, two or three quantities.
    fixed : true, or the components that are held, like "x" or "xy".
    moves : component → rate: held at start + rate·p (a prescribed displacement).
    mass : for motion.
    """

    at: Sequence[Quantity] = ()
    fixed: bool | str | Sequence[str] = False
    moves: Mapping[str, Quantity] = field(default_factory=dict)
    mass: Quantity = 0.0

    kind: ClassVar[str] = "node"

    def __post_init__(self) -> None:
        _check_position(self.name, self.at)

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return len(self.at)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """Coordinates x, y (and z)."""
        return _components(self.name, AXES[: len(self.at)], self.at, self.fixed, self.moves)

    def frame(self, values: Any, numbers: Any, xp: Any) -> Frame:
        """The slots are the position; a node has no orientation."""
        return Frame(values, xp.eye(len(self.at)), 0.0)

    def rate(self, values: Any, speeds: Any, numbers: Any, xp: Any) -> Rate:
        """The speeds are the velocity."""
        return Rate(speeds, _no_spin(self.dimension, xp))


@dataclass(frozen=True)
class Guided(Place):
    """A point that slides along a straight line: one coordinate `<name>_s`, the distance from its start.

    Parameters
    ----------
    at : position at the start.
    along : direction of the guide.
    """

    at: Sequence[Quantity] = ()
    along: Sequence[Quantity] = ()
    fixed: bool = False
    moves: Mapping[str, Quantity] = field(default_factory=dict)
    mass: Quantity = 0.0

    kind: ClassVar[str] = "guided"

    def __post_init__(self) -> None:
        _check_position(self.name, self.at)
        if len(self.along) != len(self.at) or all(a == 0.0 for a in self.along):
            raise ModelError(f"the guide of '{self.name}' has no direction", about=self.name, got=str(self.along))

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return len(self.at)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The distance along the guide."""
        return _components(self.name, ("s",), (0.0,), self.fixed, self.moves)

    @property
    def numbers(self) -> dict[str, Sequence[Quantity]]:
        """Origin and direction of the line it moves along."""
        return {"at": self.at, "along": self.along}

    def frame(self, values: Any, numbers: Any, xp: Any) -> Frame:
        """A point of the line."""
        along = numbers["along"]
        return Frame(numbers["at"] + values[0] * along / xp.sqrt(along @ along), xp.eye(len(self.at)), 0.0)

    def rate(self, values: Any, speeds: Any, numbers: Any, xp: Any) -> Rate:
        """A velocity along the line."""
        along = numbers["along"]
        return Rate(speeds[0] * along / xp.sqrt(along @ along), _no_spin(self.dimension, xp))


@dataclass(frozen=True)
class Body(Place):
    """A rigid body: in the plane x, y, angle; in space x, y, z and a rotation vector rx, ry, rz from its start.

    Parameters
    ----------
    at : position of its origin (its centre of mass, for motion) at the start.
    angle : orientation at the start, in the plane.
    turned : rotation vector of the orientation at the start, in space.
    fixed, moves : as for nodes; components x, y, angle or x, y, z, rx, ry, rz.
    mass, inertia : for motion; in space the three principal moments about the body's axes.
    outline : local corner points, for pictures and polygon contacts; in space pictures show their convex hull.
    box : lengths of its edges along its axes, for pictures.
    disc : radius, and in space thickness, about its z axis, for pictures.
    """

    at: Sequence[Quantity] = ()
    angle: Quantity = 0.0
    turned: Sequence[Quantity] = (0.0, 0.0, 0.0)
    fixed: bool | str | Sequence[str] = False
    moves: Mapping[str, Quantity] = field(default_factory=dict)
    mass: Quantity = 0.0
    inertia: Quantity | Sequence[Quantity] = 0.0
    outline: Sequence[Sequence[Quantity]] = ()
    box: Sequence[Quantity] = ()
    disc: Sequence[Quantity] = ()

    kind: ClassVar[str] = "body"
    oriented: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_position(self.name, self.at)
        for key in ("outline", "box", "disc"):  # arrays as well
            object.__setattr__(self, key, tuple(getattr(self, key)))
        if len(self.box) not in {0, self.dimension}:
            raise ModelError(
                f"the box of '{self.name}' does not fit",
                about=self.name,
                got=str(self.box),
                expected=f"{self.dimension} lengths",
            )
        if len(self.disc) not in {0, 1, self.dimension - 1}:
            raise ModelError(
                f"the disc of '{self.name}' does not fit",
                about=self.name,
                got=str(self.disc),
                expected="a radius, and in space a thickness",
            )

    @property
    def drawn(self) -> bool:
        """Whether its shape is known."""
        return bool(self.outline or self.box or self.disc)

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return len(self.at)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """Coordinates of its position and of its orientation."""
        if self.dimension == 2:
            return _components(self.name, ("x", "y", ANGLE), (*self.at, self.angle), self.fixed, self.moves)
        names, starts = (*AXES, *TURNS), (*self.at, 0.0, 0.0, 0.0)
        return _components(self.name, names, starts, self.fixed, self.moves)

    @property
    def numbers(self) -> dict[str, Sequence[Quantity]]:
        """The orientation at the start, in space."""
        return {"turned": self.turned} if self.dimension == 3 else {}

    def frame(self, values: Any, numbers: Any, xp: Any) -> Frame:
        """Position and rotation R = exp(r)·R_start."""
        if self.dimension == 2:
            return Frame(values[:2], plane_matrix(values[2]), values[2])
        R = rotation_matrix(values[3:]) @ rotation_matrix(numbers["turned"])
        return Frame(values[:3], R, 0.0)

    def rate(self, values: Any, speeds: Any, numbers: Any, xp: Any) -> Rate:
        """Velocity of the origin, and spin."""
        if self.dimension == 2:
            return Rate(speeds[:2], speeds[2])
        return Rate(speeds[:3], rotation_matrix(values[3:]) @ speeds[3:])


@dataclass(frozen=True)
class Marker(Place):
    """A point with an orientation on a body.

    Parameters
    ----------
    on : the body.
    at : position in the body's own axes.
    angle : turned against the body, in the plane; `turned`: rotation vector, in space.
    """

    on: str = ""
    at: Sequence[Quantity] = ()
    angle: Quantity = 0.0
    turned: Sequence[Quantity] = (0.0, 0.0, 0.0)
    body: Body | None = field(default=None, repr=False)  # filled in when the structure is composed

    kind: ClassVar[str] = "marker"
    oriented: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_position(self.name, self.at)

    @property
    def carrier(self) -> Body:
        """The body it sits on."""
        if self.body is None:
            raise ModelError(f"marker '{self.name}' is on no body", expected="compose a structure first")
        return self.body

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return len(self.at)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """Coordinates of the body that carries it: it has none of its own."""
        return self.carrier.slots

    @property
    def numbers(self) -> dict[str, Sequence[Quantity]]:
        """Those of the body, and the place on it."""
        turned = {"marker_turned": self.turned} if self.dimension == 3 else {"marker_angle": (self.angle,)}
        return {**self.carrier.numbers, "marker_at": self.at, **turned}

    def frame(self, values: Any, numbers: Any, xp: Any) -> Frame:
        """The body's frame, moved and turned."""
        body = self.carrier.frame(values, numbers, xp)
        position = body.position + body.rotation @ numbers["marker_at"]
        if self.dimension == 2:
            angle = numbers["marker_angle"][0]
            return Frame(position, body.rotation @ plane_matrix(angle), body.angle + angle)
        return Frame(position, body.rotation @ rotation_matrix(numbers["marker_turned"]), 0.0)

    def rate(self, values: Any, speeds: Any, numbers: Any, xp: Any) -> Rate:
        """The body's velocity, with what its spin adds at the marker."""
        body = self.carrier.rate(values, speeds, numbers, xp)
        arm = self.carrier.frame(values, numbers, xp).rotation @ numbers["marker_at"]
        if self.dimension == 2:
            return Rate(body.velocity + body.spin * xp.stack([-arm[1], arm[0]]), body.spin)
        return Rate(body.velocity + xp.cross(body.spin, arm), body.spin)


def _no_spin(dimension: int, xp: Any) -> Any:
    return xp.zeros(()) if dimension == 2 else xp.zeros(3)


def _check_position(name: str, at: Sequence[Quantity]) -> None:
    if isinstance(at, str) or len(at) not in {2, 3}:
        raise ModelError(
            f"the position of '{name}' is not usable", about=name, got=str(at), expected="two or three numbers"
        )
    for value in at:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, str, np.floating, np.integer)):
            raise ModelError(
                f"the position of '{name}' is not usable", about=name, got=repr(value), expected="a number or formula"
            )
