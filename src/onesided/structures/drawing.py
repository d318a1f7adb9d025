"""How a structure made of parts is drawn: a `Sketch` of its places and elements, and the measures it needs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from onesided.base.types import Array
from onesided.elements.contacts import InsideContact, PlaneContact, RoundContact
from onesided.elements.contract import Quantity, Slot
from onesided.elements.places import Body, Guided, Marker, Node, Place
from onesided.groups.rotations import rotation_matrix
from onesided.results import sketch as drawing
from onesided.results.sketch import Component, Sketch
from onesided.structures.drawn_forces import ForceArtist
from onesided.structures.drawn_frames import Measures, number_of, positions_of, put
from onesided.structures.hull import hull
from onesided.system.measures import Elementwise

if TYPE_CHECKING:
    from onesided.structures.structure import Structure


def structure_sketch(structure: "Structure") -> tuple[Sketch | None, Measures]:
    """The drawing of a structure, and what must be evaluated along a result to draw it."""
    places = {
        name: place for name, place in structure.places.items() if isinstance(place, Node | Guided | Body | Marker)
    }
    if not places:
        return None, {}
    measures: Measures = {}
    points = {name: _point(structure, place, measures) for name, place in places.items()}
    artist = ForceArtist(structure, places, measures)
    acting = artist.acting()
    sketch = Sketch(
        points={**points, **_walls(structure, measures), **artist.points},
        lines=(*_members(structure, places), *_links(places)),
        circles=(*_rounds(structure), *_discs(structure, places, measures)),
        grounds=tuple(_grounds(structure)),
        bodies=tuple(_bodies(structure, places, measures)),
        solids=tuple(_solids(structure, places, measures)),
        marks=_marks(structure, places),
        acting=acting,
    )
    return sketch, measures


def _point(structure: "Structure", place: Place, measures: Measures) -> tuple[Component, ...]:
    """Components of a place: coordinates and numbers where they are that, measures elsewhere."""
    if isinstance(place, Guided | Marker):
        return put(measures, place.name, positions_of(structure, place), place.dimension)
    return tuple(_slot(slot, measures) for slot in place.slots[: place.dimension])


def _slot(slot: Slot, measures: Measures) -> Component:
    if slot.free:
        return slot.name
    if not isinstance(slot.start, str) and slot.rate == 0.0:
        return float(slot.start)
    measures[slot.name] = Elementwise(lambda q, p, th: number_of(slot.start, th) + number_of(slot.rate, th) * p)
    return slot.name


def _members(structure: "Structure", places: Mapping[str, Place]) -> Iterator[drawing.Line]:
    for element in structure.elements:
        style = element.drawn_as
        if style and len(element.places) > 1 and all(name in places for name in element.places):
            yield drawing.Line(tuple(element.places), style, element.name)


def _links(places: Mapping[str, Place]) -> Iterator[drawing.Line]:
    """Bodies of unknown shape: lines from their origin to their markers."""
    for name, place in places.items():
        if isinstance(place, Marker) and not place.carrier.drawn:
            yield drawing.Line((place.on, name), "beam")


def _bodies(structure: "Structure", places: Mapping[str, Place], measures: Measures) -> Iterator[drawing.Silhouette]:
    for name, place in places.items():
        if isinstance(place, Body) and place.dimension == 2 and (place.outline or place.box):
            outline = _numbers(structure, place.outline) or _rectangle(*_numbers(structure, [place.box])[0])
            corners = tuple((x, y) for x, y in outline)
            yield drawing.Silhouette(name, _slot(place.slots[2], measures), corners)


def _numbers(structure: "Structure", rows: Sequence[Sequence[Quantity]]) -> list[list[float]]:
    return [[float(number_of(x, structure.parameters)) for x in row] for row in rows]


def _rectangle(width: float, height: float) -> list[list[float]]:
    return [[s * width / 2, t * height / 2] for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1))]


def _discs(structure: "Structure", places: Mapping[str, Place], measures: Measures) -> Iterator[drawing.Circle]:
    """Circles for the planar bodies that have a disc."""
    for name, place in places.items():
        if isinstance(place, Body) and place.dimension == 2 and place.disc:
            yield drawing.Circle(name, _numbers(structure, [place.disc])[0][0], _slot(place.slots[2], measures))


def _solids(structure: "Structure", places: Mapping[str, Place], measures: Measures) -> Iterator[drawing.Solid]:
    """Bodies in space whose shape is known, turned as at the start."""
    for name, place in places.items():
        if not isinstance(place, Body) or place.dimension != 3 or not place.drawn:
            continue
        turn = tuple(_slot(slot, measures) for slot in place.slots[3:])
        R = rotation_matrix(np.array(_numbers(structure, [place.turned])[0]))
        if place.box:
            solid = drawing.Solid.box(name, turn, _numbers(structure, [place.box])[0])
        elif place.disc:
            solid = drawing.Solid.disc(name, turn, *_numbers(structure, [place.disc])[0])
        else:
            solid = hull(name, turn, np.array(_numbers(structure, place.outline)))
        corners = tuple(tuple(map(float, corner)) for corner in np.array(solid.corners) @ R.T)
        yield drawing.Solid(name, turn, corners, solid.faces)


def _rounds(structure: "Structure") -> Iterator[drawing.Circle]:
    for element in structure.elements:
        pairs: list[tuple[str, Quantity]] = []
        if isinstance(element, RoundContact | InsideContact):
            pairs = list(zip(element.pair, element.radii, strict=True))
        elif isinstance(element, PlaneContact):
            pairs = [(element.point, element.radius)]
        for name, radius in pairs:
            size = number_of(radius, structure.parameters)
            if size > 0:
                yield drawing.Circle(name, size)


class _Wall(NamedTuple):
    """A plane that no body carries: direction of the free side, displacement per p, points on it below contacts."""

    name: str
    normal: tuple[float, ...]
    rate: float
    feet: list[Array]


def _fixed_walls(structure: "Structure") -> list[_Wall]:
    """Every wall once, however many contacts there are with it."""
    found: dict[tuple[Any, ...], _Wall] = {}
    start, th = structure.start_of(structure.parameters), structure.parameters
    for element in structure.elements:
        if isinstance(element, PlaneContact) and not element.on:
            normal = np.array([number_of(x, th) for x in element.normal])
            unit = normal / np.linalg.norm(normal)
            through = np.array([number_of(x, th) for x in element.through or [0.0] * len(unit)])
            at, rate = start.position(element.point), number_of(element.moves, th)
            key = (*np.round(unit, 9), round(float(unit @ through), 9), rate)
            wall = found.setdefault(key, _Wall(f"wall of {element.name}", tuple(map(float, unit)), rate, []))
            wall.feet.append(at - unit * float(unit @ (at - through)))
    return list(found.values())


def _walls(structure: "Structure", measures: Measures) -> dict[str, tuple[Component, ...]]:
    """A point in the middle of each wall; it moves where the wall does."""
    found: dict[str, tuple[Component, ...]] = {}
    for wall in _fixed_walls(structure):
        middle = (np.min(wall.feet, axis=0) + np.max(wall.feet, axis=0)) / 2
        parts: list[Component] = [float(x) for x in middle]
        for i, axis in enumerate("xyz"[: len(parts)] if wall.rate != 0.0 else ""):
            measures[f"{wall.name}.{axis}"] = Elementwise(_along(float(middle[i]), wall.rate * wall.normal[i]))
            parts[i] = f"{wall.name}.{axis}"
        found[wall.name] = tuple(parts)
    return found


def _along(base: float, rate: float) -> Callable[[Any, Any, Any], Any]:
    return lambda q, p, th: base + rate * p


def _grounds(structure: "Structure") -> Iterator[drawing.Ground]:
    """Walls as long as the row of contacts on them, and a bit more."""
    frames = [frame for frame in structure.start_of(structure.parameters).frames.values() if frame is not None]
    size = float(np.max(np.ptp([np.asarray(frame.position) for frame in frames], axis=0)))
    for wall in _fixed_walls(structure):
        length = float(np.linalg.norm(np.ptp(wall.feet, axis=0))) + 0.4 * size
        yield drawing.Ground(wall.name, wall.normal, length or None)


def _marks(structure: "Structure", places: Mapping[str, Place]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """A cable is highlighted while taut, another one-sided element at the points it acts on while closed."""
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for name, element in structure.unilateral.items():
        at = tuple(place for place in element.places if place in places)
        if element.drawn_as == "cable" and len(at) > 1:
            found[name] = (at,)
        elif at:
            found[name] = ((at[0],),)
    return found
