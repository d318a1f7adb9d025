"""Where the contacts of a structure touch, and in which direction their reactions push, for its drawing."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from onesided.base.types import Array
from onesided.elements.contacts import InsideContact, PlaneContact, RoundContact, SegmentContact
from onesided.elements.places import Place
from onesided.elements.polygons import PolygonContact, nearest_edge
from onesided.results.sketch import Component
from onesided.results.sketch_forces import TouchPoint
from onesided.structures.drawn_frames import Course, Measures, frames_of, number_of, put

if TYPE_CHECKING:
    from onesided.structures.structure import Structure

Points = dict[str, tuple[Component, ...]]
Named = Iterator[tuple[str, TouchPoint]]


def touch_points(structure: "Structure", places: Mapping[str, Place], measures: Measures, points: Points) -> Named:
    """Contacts of planes, circles, segments and polygons, by the names of their constraints."""
    for element in structure.elements:
        if not element.gap_names or not set(element.places) <= set(places):
            continue
        if isinstance(element, RoundContact):
            first, second = element.pair
            radius = number_of(element.radii[1], structure.parameters)
            yield element.name, TouchPoint(second, (), radius, (first,), isinstance(element, InsideContact))
        elif isinstance(element, PlaneContact):
            radius = number_of(element.radius, structure.parameters)
            yield element.name, TouchPoint(element.point, _normal(structure, element, places, measures), radius)
        elif isinstance(element, SegmentContact):
            yield from _segments(structure, element)
        elif isinstance(element, PolygonContact):
            yield from _polygons(structure, element, measures, points)


def _normal(
    structure: "Structure", element: PlaneContact, places: Mapping[str, Place], measures: Measures
) -> tuple[Component, ...]:
    """That of the wall: numbers, or measures where a body carries it."""
    normal = np.array([number_of(part, structure.parameters) for part in element.normal])
    unit = normal / np.linalg.norm(normal)
    if not element.on:
        return tuple(map(float, unit))
    frames = frames_of(structure, places[element.on])

    def course(q: Any, p: Any, th: Any) -> Array:
        return np.array([frame.rotation @ unit for frame in frames(q, p, th)])

    return put(measures, f"push of {element.name}", course, len(unit))


def _segments(structure: "Structure", element: SegmentContact) -> Named:
    """Each end against the other segment, half the thickness off it."""
    reach, ends = number_of(element.thickness, structure.parameters) / 2.0, element.places
    endings = element.gap_names
    for ending, (_, i, (j, k)) in zip(endings, element.pairs, strict=True):
        yield element.called(ending), TouchPoint(ends[i], (), reach, (ends[j], ends[k]))


def _polygons(structure: "Structure", element: PolygonContact, measures: Measures, points: Points) -> Named:
    """Each corner against the nearest edge of the other polygon."""
    numbers = element.numbers(structure.start_of(structure.parameters))
    frames = [frames_of(structure, structure.places[name]) for name in element.bodies]
    own = [(0, corner) for corner in numbers["first_given"]] + [(1, corner) for corner in numbers["second_given"]]
    for ending, (k, corner) in zip(element.gap_names, own, strict=True):
        name, outline = element.called(ending), numbers[("second", "first")[k]]
        spot = _spot(frames[k], corner)
        points[f"touch of {name}"] = put(measures, f"touch of {name}", spot, 2)
        push = put(measures, f"push of {name}", _push(spot, frames[1 - k], outline), 2)
        yield name, TouchPoint(f"touch of {name}", push)


def _spot(frames: Callable[..., Any], corner: Array) -> Course:
    return lambda q, p, th: np.array([frame.position + frame.rotation @ corner for frame in frames(q, p, th)])


def _push(spot: Course, frames: Callable[..., Any], outline: Array) -> Course:
    """Normals of the edges that are nearest, in fixed axes."""

    def course(q: Any, p: Any, th: Any) -> Array:
        pairs = zip(spot(q, p, th), frames(q, p, th), strict=True)
        return np.array([
            frame.rotation @ nearest_edge(frame.rotation.T @ (point - frame.position), outline, np)[1]
            for point, frame in pairs
        ])  # fmt: skip

    return course
