"""Joints: equations between two places. The multipliers are the forces and moments on the second place.

A joint holds the state of the start: axes are those of the first place at the start, and the second place is taken as
it stands. Ground is a fixed body, or a fixed node where no orientation is needed. Where an orientation is held in
space, the equations are sines of small turns, of full rank at the assembled state; a relative turn of 180° about a held
direction solves them as well, but no path leads there: on the way the sine would have to pass 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

from onesided.base.tolerances import DEFAULT
from onesided.base.types import Array
from onesided.elements.contract import Acting, Element, Local, Quantity, Start
from onesided.elements.relative import (
    anchor,
    carried_over,
    check_pair,
    coincide,
    direction,
    seen_from,
    triad,
    turn_from,
    vee,
)

FORCES = ("_x", "_y", "_z")
MOMENTS = ("_mx", "_my", "_mz")


@dataclass(frozen=True)
class Joint(Element):
    """Base of joints.

    Parameters
    ----------
    between : names of two places.
    at : the joint's point at the start, in fixed axes. Without it, the point of the places themselves.
    axis : direction in the axes of the first place; in space its z axis, in the plane its x axis.
    assemble : accept places that are apart at the start; the equations bring them together.
    """

    between: tuple[str, str] = ("", "")
    at: Sequence[Quantity] | None = None
    axis: Sequence[Quantity] | None = None
    assemble: bool = False
    dimension: int = field(default=0, repr=False)  # filled in when the structure is composed

    meets: ClassVar[bool] = True  # both places must be at the joint's point; otherwise the second one gives it
    orients: ClassVar[tuple[int, ...]] = (2, 3)  # dimensions in which it needs orientations

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the two places it joins."""
        return tuple(self.between)

    def expand(self, places: Mapping[str, Any], parameters: Mapping[str, float]) -> Sequence[Element]:
        """The joint itself, with the dimension of its places filled in."""
        known = [places[name].dimension for name in self.between if name in places]
        return (replace(self, dimension=known[0] if known else 2),)

    def check(self, start: Start) -> None:
        """Two bodies, a usable axis, a point that belongs to both."""
        check_pair(self, start, self.between, turning=self.dimension in self.orients)
        if self.at is not None and len(self.at) != self.dimension:
            raise self.error("its point is not usable", got=str(tuple(self.at)), expected=f"{self.dimension} numbers")
        self.axes(start)
        a, b = (start.position(place) for place in self.between)
        if self.at is None and self.meets and not self.assemble and not coincide(start, a, b):
            raise self.error(
                "its places are apart at the start",
                got=f"a distance of {start.distance(*self.between):.6g}",
                advice="give the joint's point `at`, put markers there, or assemble=True to let the solver join them",
            )
        for place in self.between:
            point = self._point(start, place)
            if not start.oriented(place) and not coincide(start, point, start.position(place)):
                raise self.error(f"node '{place}' is not at its point", got=str(start.position(place)))

    def _point(self, start: Start, place: str) -> Array:
        """The joint's point at the start, as far as a place is concerned."""
        if self.at is not None:
            return start.vector(self.at)
        return start.position(place if self.meets else self.between[1])

    def axes(self, start: Start) -> Array:
        """Triad of its axis, in the axes of the first place."""
        default = (1.0, 0.0) if self.dimension == 2 else (0.0, 0.0, 1.0)
        return triad(direction(self, start, default if self.axis is None else self.axis, self.dimension))

    def numbers(self, start: Start) -> dict[str, Any]:
        """Anchors on both places, the triad seen from both, the relative rotation at the start."""
        first, second = self.between
        axes = self.axes(start)
        return {
            "first": seen_from(start, first, self._point(start, first)),
            "second": seen_from(start, second, self._point(start, second)),
            "axes": axes,
            "others": carried_over(start, axes, self.between),
            "relative": start.rotation(first).T @ start.rotation(second),
            "turn": float(start.frames[second].angle) - float(start.frames[first].angle),
        }

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """Force and moment on the second place at the joint's point, in fixed axes."""
        turning = (".moment",) if dimension == 2 else tuple(f".moment_{axis}" for axis in "xyz")
        return (*(f".force_{axis}" for axis in "xyz"[:dimension]), *turning)

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """The wrench on the second place, moved to the joint's point."""
        force, moment = acting.wrenches()[1]
        arm = anchor(at.frames[1], at.n.second) - at.frames[1].position
        if len(arm) == 2:
            return (*force, moment - arm[0] * force[1] + arm[1] * force[0])
        return (*force, *(moment - jnp.cross(arm, force)))

    # pieces of joints ------------------------------------------------------------------------------------------------

    def step(self, at: Local) -> Any:
        """From the first anchor to the second, in fixed axes."""
        a, b = at.frames
        return anchor(b, at.n.second) - anchor(a, at.n.first)

    def slides(self, at: Local) -> tuple[Any, ...]:
        """Offsets across the axis, in the first place's axes: one in the plane, two in space."""
        local = at.n.axes @ (at.frames[0].rotation.T @ self.step(at))
        return (local[1],) if self.dimension == 2 else (local[0], local[1])

    def tilts(self, at: Local) -> tuple[Any, ...]:
        """Tilts of the axis about u and v of the triad, in space."""
        a, b = at.frames
        axis = a.rotation @ at.n.axes[2]
        return axis @ (b.rotation @ at.n.others[1]), -(axis @ (b.rotation @ at.n.others[0]))

    def turns_of(self, at: Local) -> tuple[Any, ...]:
        """The whole relative turn: an angle in the plane; in space the vector sin(angle)·axis, in the first's axes."""
        a, b = at.frames
        if self.dimension == 2:
            return (b.angle - a.angle - at.n.turn,)
        return tuple(vee(a.rotation.T @ b.rotation @ at.n.relative.T))


@dataclass(frozen=True)
class Revolute(Joint):
    """A hinge. Plane: two equations, forces along the fixed axes. Space: three forces and two moments across the axis.

    The moments `_mu`, `_mv` are about the first place's directions u, v that make a right-handed triad with the axis
    (its x and y for the default z axis).
    """

    kind: ClassVar[str] = "revolute"
    orients: ClassVar[tuple[int, ...]] = (3,)

    @property
    def closure_names(self) -> tuple[str, ...]:
        """Endings of its multipliers: forces, and in space two moments across the axis."""
        return FORCES[:2] if self.dimension == 2 else (*FORCES, "_mu", "_mv")

    def closures(self, at: Local) -> tuple[Any, ...]:
        """Points together; in space axes parallel."""
        return (*self.step(at),) if self.dimension == 2 else (*self.step(at), *self.tilts(at))


@dataclass(frozen=True)
class Spherical(Joint):
    """A ball joint (in the plane the same as a hinge): the points are together; forces along the fixed axes."""

    kind: ClassVar[str] = "spherical"
    orients: ClassVar[tuple[int, ...]] = ()

    @property
    def closure_names(self) -> tuple[str, ...]:
        """Endings of its multipliers: one force per axis."""
        return FORCES[: self.dimension]

    def closures(self, at: Local) -> tuple[Any, ...]:
        """Offset of the second point from the first, held at 0."""
        return (*self.step(at),)


@dataclass(frozen=True)
class Fixed(Joint):
    """A weld: no relative motion; forces along the fixed axes, moments about the first place's axes."""

    kind: ClassVar[str] = "fixed"
    meets: ClassVar[bool] = False

    @property
    def closure_names(self) -> tuple[str, ...]:
        """Endings of its multipliers: all forces, then all moments."""
        return (*FORCES[:2], "_m") if self.dimension == 2 else (*FORCES, *MOMENTS)

    def closures(self, at: Local) -> tuple[Any, ...]:
        """Offset of the points and relative turn, held at 0."""
        return (*self.step(at), *self.turns_of(at))


@dataclass(frozen=True)
class Prismatic(Joint):
    """A slide along an axis fixed in the first place: forces across it, and the moments that prevent any turn.

    Forces `_u`, `_v` are along the first place's triad (in the plane one, `_n`, along the axis turned by 90°).
    """

    kind: ClassVar[str] = "prismatic"
    meets: ClassVar[bool] = False

    @property
    def closure_names(self) -> tuple[str, ...]:
        """Endings of its multipliers: forces across the axis, then all moments."""
        return ("_n", "_m") if self.dimension == 2 else ("_u", "_v", *MOMENTS)

    def closures(self, at: Local) -> tuple[Any, ...]:
        """No offset across the axis, no turn."""
        return (*self.slides(at), *self.turns_of(at))


@dataclass(frozen=True)
class Cylindrical(Joint):
    """Slides along and turns about an axis fixed in the first place: two forces, two moments across it."""

    kind: ClassVar[str] = "cylindrical"
    dimensions: ClassVar[tuple[int, ...]] = (3,)
    meets: ClassVar[bool] = False

    @property
    def closure_names(self) -> tuple[str, ...]:
        """Endings of its multipliers: two forces and two moments across the axis."""
        return ("_u", "_v", "_mu", "_mv")

    def closures(self, at: Local) -> tuple[Any, ...]:
        """No offset across the axis, axes parallel."""
        return (*self.slides(at), *self.tilts(at))


@dataclass(frozen=True)
class Screw(Cylindrical):
    """A cylindrical joint whose travel is pitch × turns: a fifth multiplier `_turn`, the moment about the axis.

    The turn is known up to full turns: turn − 2π travel/pitch, taken between −180° and 180°, is kept zero, through any
    number of turns; a start off by more than half a turn is assembled one thread further.

    Parameters
    ----------
    pitch : travel per full turn, positive for a right-handed thread.
    """

    pitch: Quantity = 0.0

    kind: ClassVar[str] = "screw"

    @property
    def closure_names(self) -> tuple[str, ...]:
        """Those of the cylindrical joint, and the moment about the axis."""
        return ("_u", "_v", "_mu", "_mv", "_turn")

    def check(self, start: Start) -> None:
        """A pitch that is not zero."""
        super().check(start)
        if start.value(self.pitch) == 0.0:
            raise self.error("its pitch is zero", expected="travel per turn", advice="a revolute joint has no travel")

    def numbers(self, start: Start) -> dict[str, Any]:
        """Numbers of a cylindrical joint, and the turn per travel [rad/length]."""
        return {**super().numbers(start), "winding": 2.0 * np.pi / start.value(self.pitch)}

    def closures(self, at: Local) -> tuple[Any, ...]:
        """Equations of a cylindrical joint, and turn = winding × travel."""
        wound = at.n.winding * (at.n.axes[2] @ (at.frames[0].rotation.T @ self.step(at)))
        return (*super().closures(at), turn_from(at.frames, at.n, wound))


@dataclass(frozen=True)
class Universal(Joint):
    """A universal joint: the points are together, and an axis of the first stays normal to one of the second.

    Parameters
    ----------
    axis : in the axes of the first place.
    cross_axis : in the axes of the second place, normal to the first at the start.

    The multiplier `_m` is the moment about axis × cross axis.
    """

    cross_axis: Sequence[Quantity] = (1.0, 0.0, 0.0)

    kind: ClassVar[str] = "universal"
    dimensions: ClassVar[tuple[int, ...]] = (3,)

    @property
    def closure_names(self) -> tuple[str, ...]:
        """Endings of its multipliers: three forces and one moment."""
        return (*FORCES, "_m")

    def check(self, start: Start) -> None:
        """Axes normal to each other."""
        super().check(start)
        first, second = self.between
        cosine = (start.rotation(first) @ self.axes(start)[2]) @ (start.rotation(second) @ self._cross(start))
        if not self.assemble and abs(float(cosine)) > DEFAULT.gap:
            raise self.error("its two axes are not normal to each other at the start", got=f"cosine {cosine:.6g}")

    def _cross(self, start: Start) -> Array:
        return direction(self, start, self.cross_axis, 3, "cross axis")

    def numbers(self, start: Start) -> dict[str, Any]:
        """Numbers of a joint, and the second axis of the cross."""
        return {**super().numbers(start), "cross": self._cross(start)}

    def closures(self, at: Local) -> tuple[Any, ...]:
        """Offset of the points, and the cosine between the two axes, held at 0."""
        a, b = at.frames
        return (*self.step(at), -((a.rotation @ at.n.axes[2]) @ (b.rotation @ at.n.cross)))
