"""Line loads: dead loads spread evenly between two places, which bend the beam that lies there.

With w the load per length and L the length of the start, the axis x(s) of a beam between sections with the tangents t₁,
t₂ is Hermite's cubic: ∫ x ds = L (x₁ + x₂)/2 + L²/12 (t₁ − t₂). The potential −w·∫ x ds has half of the load at either
end, and the end moments ± w L²/12 with which the linear theory of a divided beam is exact, shear flexible or not.
"""

import itertools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np

from onesided.base.types import Array
from onesided.elements.contract import Acting, Element, Local, Start, Wrench
from onesided.elements.loads import component_names, follows_twice, whole_force
from onesided.elements.schedules import Schedule, ScheduledVector


@dataclass(frozen=True)
class LineLoad(Element):
    """A dead load spread evenly over the line between two places: self-weight, snow, wind.

    It bends the beam between the two places, if there is one: its N, Q, M are those of the spread load. Otherwise half
    of it acts at either end.

    Parameters
    ----------
    ends : names of two places; or
    along : names of places in turn, the sections of a divided beam or cable: the load is on all the lines between them.
    load : components per length (that of the start), per unit of p, or itself when `constant`; it may then be a formula
        of p.
    """

    ends: tuple[str, str] = ("", "")
    load: Sequence[Schedule] = ()
    constant: bool = False
    along: Sequence[str] = ()
    bends: bool = field(default=False, repr=False, kw_only=True)  # whether a beam lies there; set by `compose`

    kind: ClassVar[str] = "line_load"
    is_load: ClassVar[bool] = True

    def expand(self, places: Mapping[str, Any], parameters: Mapping[str, float]) -> Sequence[Element]:
        """Itself, or one for every line between neighbours."""
        if not self.along:
            return (self,)
        if isinstance(self.along, str) or len(self.along) < 2 or any(self.ends):
            raise self.error("`along` needs two places or more, and no `ends`", got=str(self.along))
        pairs = enumerate(itertools.pairwise(self.along), 1)
        return [replace(self, name=f"{self.name} {i}", ends=pair, along=()) for i, pair in pairs]

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the places at its two ends."""
        return tuple(self.ends)

    @property
    def variant(self) -> Hashable:
        """Constant or growing with p, or formulas of p; on a beam or not."""
        return self.constant, self.bends, self.given("load").shape

    def given(self, key: str) -> ScheduledVector:
        """Its components, under a name among the numbers of an element."""
        return ScheduledVector(key, self.load, self.control)

    def check(self, start: Start) -> None:
        """Two ends that are apart, as many components as dimensions."""
        if len(self.ends) != 2 or start.distance(*self.ends) == 0.0:
            raise self.error("needs two ends that are apart", got=", ".join(self.ends))
        if len(self.load) != len(start.position(self.ends[0])):
            raise self.error("has the wrong number of components", got=str(tuple(self.load)))
        if not self.constant and self.given("load").moves:
            raise follows_twice(self, str(tuple(self.load)))

    def numbers(self, start: Start) -> dict[str, Any]:
        """Load and length; on a beam also the tangents."""
        shape = {"axes": _axes(start, self.ends)} if self.bends else {}
        return {"span": start.distance(*self.ends), **self.given("load").numbers(start), **shape}

    def energy(self, at: Local) -> Any:
        """Potential of the load: of its two halves, and on a beam of its end moments."""
        a, b = at.frames
        middle = a.position + b.position
        if self.bends:
            first, last = _tangents(at)
            middle = middle + at.n.span / 6.0 * (first - last)
        work = at.n.span / 2.0 * (self.given("load").value(at) @ middle)
        return -work if self.constant else -at.p * work

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """Components of the whole force."""
        return component_names(dimension)

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """The force on all places."""
        return whole_force(acting)


class Borne(NamedTuple):
    """What line loads add to a section of a beam: force and moment on it, and the moment L²κ' by which it turns on."""

    force: Any
    moment: Any
    turn: Any


def on_beams(elements: Sequence[Element]) -> list[Element]:
    """The elements, in which beams know the line loads between their sections, and these loads know their beam."""
    beams = {frozenset(e.places): e.name for e in reversed(elements) if e.section_names}
    loads = [e for e in elements if isinstance(e, LineLoad)]
    borne = {beam: tuple(one for one in loads if beams.get(frozenset(one.ends)) == beam) for beam in beams.values()}
    told = {one.name for found in borne.values() for one in found}
    return [
        replace(e, bends=True)
        if isinstance(e, LineLoad) and e.name in told
        else replace(e, bears=borne[e.name])  # type: ignore[call-arg]
        if borne.get(e.name)
        else e
        for e in elements
    ]


def borne_shape(loads: Sequence[LineLoad]) -> Hashable:
    """What distinguishes beams whose loads cannot be evaluated together."""
    return tuple((one.constant, one.given("").shape) for one in loads)


def borne_numbers(start: Start, ends: tuple[str, str], loads: Sequence[LineLoad]) -> dict[str, Any]:
    """Numbers of a beam that bears line loads: theirs per length, tangents and length of the start."""
    if not loads:
        return {}
    own = {key: value for i, one in enumerate(loads) for key, value in one.given(f"load{i}_").numbers(start).items()}
    return {**own, "span": start.distance(*ends), "axes": _axes(start, ends)}


def borne_at(at: Local, share: Any, loads: Sequence[LineLoad]) -> Borne | None:
    """What the loads on a beam add to the section at a share of its length.

    At the ends they add their own end forces; inside, n' = −w and M'' = (x₂ − x₁) × w L: a parabola over the chord.
    """
    if not loads:
        return None
    n, (a, b) = at.n, at.frames
    w = sum(one.given(f"load{i}_").value(at) * (1.0 if one.constant else at.p) for i, one in enumerate(loads))
    first, last = (n.span**2 / 12.0 * cross(axis, w) for axis in _tangents(at))
    arched = n.span * cross(b.position - a.position, w)
    bubble = 0.5 * share * (1.0 - share) * arched
    turn = share * (1.0 - share) * (1.0 - 2.0 * share) / 12.0 * arched
    return Borne((0.5 - share) * n.span * w, (1.0 - share) * first + share * last - bubble, turn)


def cross(a: Any, b: Any) -> Any:
    """Vector product, a number in the plane."""
    return a[0] * b[1] - a[1] * b[0] if len(a) == 2 else jnp.cross(a, b)


def with_loads(wrenches: tuple[Wrench, ...], share: Any, borne: Borne | None) -> tuple[Any, Any]:
    """Force and moment of the section of a beam between two places on which it exerts these wrenches."""
    first, last = wrenches
    M = (1.0 - share) * first.moment - share * last.moment
    return (first.force, M) if borne is None else (first.force + borne.force, M + borne.moment)


def _axes(start: Start, ends: tuple[str, str]) -> Array:
    """The direction of the chord at the start in the axes of both ends: they carry it along."""
    step = start.position(ends[1]) - start.position(ends[0])
    return np.stack([start.rotation(name).T @ step / np.sqrt(step @ step) for name in ends])


def _tangents(at: Local) -> tuple[Any, Any]:
    a, b = at.frames
    return a.rotation @ at.n.axes[0], b.rotation @ at.n.axes[1]
