"""Contacts: points, circles and spheres against planes, lines and each other. Gaps are distances, reactions forces."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

from onesided.base.types import Array
from onesided.elements.contact_keys import Rub, Rubbing, carried, rub, turning, velocity_at
from onesided.elements.contract import Local, Quantity, Rate, Start
from onesided.elements.relative import anchor, check_pair, direction, triad
from onesided.elements.shapes import distance, distance_squared


@dataclass(frozen=True)
class PlaneContact(Rubbing):
    """A point, circle or sphere on one side of a plane (in the plane: of a line).

    Parameters
    ----------
    point : the place that must stay outside.
    normal : direction from the wall to the free side.
    through : a point of the wall, by default the origin.
    on : the body that carries the wall; `normal` and `through` are then in its axes. Without it the wall stands still.
    radius : of the circle or sphere around the point.
    moves : displacement of the wall along its normal per unit of p.
    """

    point: str = ""
    normal: Sequence[Quantity] = ()
    through: Sequence[Quantity] | None = None
    on: str = ""
    radius: Quantity = 0.0
    moves: Quantity = 0.0

    kind: ClassVar[str] = "plane_contact"

    @property
    def places(self) -> tuple[str, ...]:
        """The point, and the body that carries the wall."""
        return (self.point, self.on) if self.on else (self.point,)

    @property
    def gap_names(self) -> tuple[str, ...]:
        """One gap, named like the element."""
        return ("",)

    def check(self, start: Start) -> None:
        """A wall with a direction, a radius ≥ 0."""
        size = len(start.position(self.point))
        direction(self, start, self.normal, size, "normal")
        if self.through is not None and len(self.through) != size:
            raise self.error("the point of its wall is not usable", got=str(tuple(self.through)))
        if start.value(self.radius) < 0:
            raise self.error("its radius is negative", got=str(self.radius))
        if self.on:
            check_pair(self, start, self.places, turning=False)

    def numbers(self, start: Start) -> dict[str, Any]:
        """The wall and the radius."""
        size = len(start.position(self.point))
        normal = direction(self, start, self.normal, size, "normal")
        return {
            "normal": normal,
            "tangents": tangents(normal),
            "through": np.zeros(size) if self.through is None else start.vector(self.through),
            "radius": start.value(self.radius),
            "moves": start.value(self.moves),
        }

    def gaps(self, at: Local) -> tuple[Any, ...]:
        """Signed distance of the surface from the wall."""
        normal, through = at.n.normal, at.n.through
        if self.on:
            normal, through = at.frames[1].rotation @ normal, anchor(at.frames[1], through)
        return (normal @ (at.frames[0].position - through) - at.n.radius - at.n.moves * at.p,)

    @property
    def driven(self) -> bool:
        """Whether the wall moves with the control parameter."""
        return self.moves != 0.0

    def touching(self, at: Local) -> tuple[tuple[Any, Any], ...]:
        """Where the circle or sphere is nearest to the wall; the wall pushes it."""
        normal = at.frames[1].rotation @ at.n.normal if self.on else at.n.normal
        return ((at.frames[0].position - at.n.radius * normal, normal),)

    def rubbing(self, at: Local, rates: tuple[Rate, ...]) -> tuple[Rub, ...]:
        """Velocities where the circle or sphere is nearest to the wall."""
        turned = at.frames[1].rotation if self.on else jnp.eye(len(at.n.normal))
        normal, spin = turned @ at.n.normal, rates[0].spin
        point = at.frames[0].position - at.n.radius * normal
        slide = velocity_at(at.frames[0], rates[0], point)
        if self.on:
            slide, spin = slide - velocity_at(at.frames[1], rates[1], point), spin - rates[1].spin
        return (rub(slide, spin, normal, at.n.tangents @ turned.T),)


@dataclass(frozen=True)
class RoundContact(Rubbing):
    """Two circles or spheres (or a point and one of them) that stay outside of each other.

    Parameters
    ----------
    pair : names of the two places at the centres.
    radii : of the two; one of them may be 0.
    """

    pair: tuple[str, str] = ("", "")
    radii: tuple[Quantity, Quantity] = (0.0, 0.0)

    kind: ClassVar[str] = "round_contact"

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the two centres."""
        return tuple(self.pair)

    @property
    def gap_names(self) -> tuple[str, ...]:
        """One gap, named like the element."""
        return ("",)

    def reach(self, start: Start) -> float:
        """Distance of the centres at contact."""
        return float(np.sum(start.vector(self.radii)))

    def check(self, start: Start) -> None:
        """Radii that leave something to touch."""
        check_pair(self, start, self.pair, turning=False)
        if len(self.radii) != 2 or np.any(start.vector(self.radii) < 0) or not self.reach(start) > 0:
            raise self.error("its radii are not usable", got=str(self.radii), expected=self._expected)
        if start.distance(*self.pair) == 0.0 and type(self) is RoundContact:
            raise self.error("its centres coincide", expected="two different points")

    @property
    def _expected(self) -> str:
        return "two numbers ≥ 0, not both 0"

    def numbers(self, start: Start) -> dict[str, Any]:
        """Distance of the centres at contact, radius of the first, and the line of centres with its tangents."""
        apart = start.position(self.pair[1]) - start.position(self.pair[0])
        length = float(np.linalg.norm(apart))
        normal = apart / length if length > 0.0 else np.eye(len(apart))[-1]
        return {
            "reach": self.reach(start),
            "first": start.value(self.radii[0]),
            "normal": normal,
            "tangents": tangents(normal),
        }

    def gaps(self, at: Local) -> tuple[Any, ...]:
        """Distance between the two outlines."""
        return (distance(*at.frames) - at.n.reach,)

    def touching(self, at: Local) -> tuple[tuple[Any, Any], ...]:
        """On the line of centres, on the first outline; the second is pushed."""
        step, length = at.frames[1].position - at.frames[0].position, distance(*at.frames)
        return ((at.frames[0].position + at.n.first * step / length, step / length),)

    def rubbing(self, at: Local, rates: tuple[Rate, ...]) -> tuple[Rub, ...]:
        """Velocities of the second against the first on the line of centres, whose length is that at contact."""
        a, b = at.frames
        normal = (b.position - a.position) / at.n.reach
        point = a.position + at.n.first * normal
        slide = velocity_at(b, rates[1], point) - velocity_at(a, rates[0], point)
        return (rub(slide, rates[1].spin - rates[0].spin, normal, carried(at.n.normal, at.n.tangents, normal)),)


@dataclass(frozen=True)
class InsideContact(RoundContact):
    """A point, circle or sphere (the second place) that stays inside a circle or sphere around the first.

    The gap is (ρ² − d²)/(2ρ) with d the distance of the centres and ρ the difference of the radii: smooth at the
    centre, equal to the distance of the outlines near contact, so that the multiplier is the contact force.
    """

    kind: ClassVar[str] = "inside_contact"

    def reach(self, start: Start) -> float:
        """Distance of the centres at contact."""
        outer, inner = start.vector(self.radii)
        return float(outer - inner)

    @property
    def _expected(self) -> str:
        return "the outer radius, then a smaller one ≥ 0"

    def gaps(self, at: Local) -> tuple[Any, ...]:
        """The gap (ρ² − d²)/(2ρ), with d the distance of the centres and ρ the difference of the radii."""
        return ((at.n.reach**2 - distance_squared(*at.frames)) / (2.0 * at.n.reach),)

    def touching(self, at: Local) -> tuple[tuple[Any, Any], ...]:
        """On the outer outline; the inner one is pushed back to the centre."""
        ((point, normal),) = super().touching(at)
        return ((point, -normal),)


@dataclass(frozen=True)
class SegmentContact(Rubbing):
    """Two straight segments of some thickness in the plane, or a point and a segment: they stay apart on either side.

    Segments that do not cross are nearest at an end of one of them: the gaps are the distances of each end from the
    other segment, less the thickness. A thickness is needed because a segment without one has no outside: a point on it
    could leave to either side. The gradient is continuous; the curvature jumps where the nearest point becomes an end.
    Segments that cross, which no continuous motion reaches, are not recognised.

    Parameters
    ----------
    first, second : names of two places each, the ends; one of them may be a single place, a point.
    thickness : distance of the centre lines at contact (half of one thickness plus half of the other).
    """

    first: Sequence[str] = ()
    second: Sequence[str] = ()
    thickness: Quantity = 0.0

    kind: ClassVar[str] = "segment_contact"
    dimensions: ClassVar[tuple[int, ...]] = (2,)

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the ends of both segments."""
        return (*self.first, *self.second)

    @property
    def variant(self) -> Hashable:
        """Numbers of ends of the two sides: 1 for a point, 2 for a segment."""
        return len(self.first), len(self.second)

    @property
    def pairs(self) -> list[tuple[str, int, tuple[int, int]]]:
        """Ending of the name, end, and ends of the other segment."""
        a, b = len(self.first), len(self.second)
        pairs = [(f"_first{i + 1}", i, (a, a + 1)) for i in range(a) if b == 2]
        return pairs + [(f"_second{j + 1}", a + j, (0, 1)) for j in range(b) if a == 2]

    @property
    def gap_names(self) -> tuple[str, ...]:
        """One per end: `_first1`, …, `_second2`; a point against a segment is called like the element."""
        return tuple(name for name, _, _ in self.pairs) if len(self.places) == 4 else ("",)

    def check(self, start: Start) -> None:
        """Segments of some length, a positive thickness."""
        if sorted((len(self.first), len(self.second))) not in ([1, 2], [2, 2]):
            raise self.error("needs two segments, or a segment and a point", got=f"{self.first}, {self.second}")
        if not start.value(self.thickness) > 0:
            raise self.error(
                "its thickness is not positive", got=str(self.thickness), advice="a thin segment needs a small one"
            )
        for ends in (self.first, self.second):
            if len(ends) == 2 and start.distance(*ends) == 0.0:
                raise self.error("a segment has no length", got=", ".join(ends))

    def numbers(self, start: Start) -> dict[str, Any]:
        """Thickness kept between the two sides."""
        return {"thickness": start.value(self.thickness)}

    def gaps(self, at: Local) -> tuple[Any, ...]:
        """Distance of each end from the other segment, less the thickness."""
        x = [frame.position for frame in at.frames]
        return tuple(segment_distance(x[i], x[j], x[k]) - at.n.thickness for _, i, (j, k) in self.pairs)

    def touching(self, at: Local) -> tuple[tuple[Any, Any], ...]:
        """Half the thickness off the other segment; the end is pushed."""
        x, found = [frame.position for frame in at.frames], []
        for _, i, (j, k) in self.pairs:
            foot = x[j] + segment_share(x[i], x[j], x[k]) * (x[k] - x[j])
            normal = (x[i] - foot) / segment_distance(x[i], x[j], x[k])
            found.append((foot + 0.5 * at.n.thickness * normal, normal))
        return tuple(found)

    def rubbing(self, at: Local, rates: tuple[Rate, ...]) -> tuple[Rub, ...]:
        """Velocities of each end against the other segment, half the thickness off its centre line."""
        x, v = [frame.position for frame in at.frames], [rate.velocity for rate in rates]
        spins = [*self._spins(at, rates, range(len(self.first)))]
        spins += self._spins(at, rates, range(len(self.first), len(x)))
        found = []
        for _, i, (j, k) in self.pairs:
            share = segment_share(x[i], x[j], x[k])
            foot = x[j] + share * (x[k] - x[j])
            normal = (x[i] - foot) / at.n.thickness
            arm = 0.5 * at.n.thickness * normal
            other = v[j] + share * (v[k] - v[j]) + turning(spins[j], arm)
            slide = v[i] + turning(spins[i], foot + arm - x[i]) - other
            found.append(rub(slide, spins[i] - spins[j], normal, carried(normal, normal, normal)))
        return tuple(found)

    def _spins(self, at: Local, rates: tuple[Rate, ...], ends: Sequence[int]) -> list[Any]:
        """Spin of a segment, from its ends; that of its place for a point."""
        if len(ends) == 1:
            return [rates[ends[0]].spin]
        j, k = ends
        along, rate = at.frames[k].position - at.frames[j].position, rates[k].velocity - rates[j].velocity
        return [(along[0] * rate[1] - along[1] * rate[0]) / (along @ along)] * 2


def tangents(normal: Array) -> Array:
    """Directions (rows) across a normal."""
    return triad(normal)[1:] if len(normal) == 2 else triad(normal)[:2]


def segment_share(point: Any, a: Any, b: Any) -> Any:
    """How far along the segment a, b its nearest place to a point is, 0 to 1."""
    along = b - a
    return jnp.clip(((point - a) @ along) / (along @ along), 0.0, 1.0)


def segment_distance(point: Any, a: Any, b: Any) -> Any:
    """Distance of a point from the segment a, b."""
    off = point - a - segment_share(point, a, b) * (b - a)
    return jnp.sqrt(off @ off)
