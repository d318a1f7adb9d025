"""Loads, supports and places of contacts of a structure, for its drawing."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from onesided.elements.contacts import InsideContact, PlaneContact, RoundContact
from onesided.elements.contract import Quantity, evaluate_quantity
from onesided.elements.loads import Force
from onesided.elements.places import Body, Node, Place
from onesided.results.sketch_forces import ActingForces, LoadArrow, Support, TouchPoint

if TYPE_CHECKING:
    from onesided.structures.structure import Structure


def acting_forces(structure: "Structure", places: Mapping[str, Place]) -> ActingForces:
    """Dead forces whose components are known numbers, what is held, contacts of planes at rest and of circles."""
    return ActingForces(tuple(_loads(structure, places)), tuple(_supports(places)), dict(_touches(structure, places)))


def _number(structure: "Structure", quantity: Quantity) -> float:
    return evaluate_quantity(quantity, structure.parameters) if isinstance(quantity, str) else float(quantity)


def _loads(structure: "Structure", places: Mapping[str, Place]) -> Iterator[LoadArrow]:
    for element in structure.elements:
        if isinstance(element, Force) and element.at in places and not element.moves_with_p:
            parts = tuple(_number(structure, part) for part in element.force)
            yield LoadArrow(element.at, parts, grows=not element.constant)


def _supports(places: Mapping[str, Place]) -> Iterator[Support]:
    for name, place in places.items():
        if isinstance(place, Node | Body):
            held = [not slot.free and slot.rate == 0.0 for slot in place.slots]
            axes = "".join(axis for axis, fixed in zip("xyz"[: place.dimension], held, strict=False) if fixed)
            if axes:
                yield Support(name, axes, clamped=len(held) > place.dimension and all(held))


def _touches(structure: "Structure", places: Mapping[str, Place]) -> Iterator[tuple[str, TouchPoint]]:
    for name, element in structure.unilateral.items():
        if isinstance(element, RoundContact) and set(element.pair) <= set(places):
            first, second = element.pair
            inside = isinstance(element, InsideContact)
            yield name, TouchPoint(second, (), _number(structure, element.radii[1]), (first,), inside)
        if isinstance(element, PlaneContact) and not element.on and element.point in places:
            normal = np.array([_number(structure, part) for part in element.normal])
            unit = normal / np.linalg.norm(normal)
            yield name, TouchPoint(element.point, tuple(map(float, unit)), _number(structure, element.radius))
