"""Composed structures as they move: the slack of an elastic cable has no inertia and follows from its length."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from onesided.base.names import joined
from onesided.base.types import Array
from onesided.elements.cables import Cable
from onesided.elements.contract import Element
from onesided.structures.drawn_frames import positions_of
from onesided.structures.structure import Structure
from onesided.system.measures import Elementwise
from onesided.system.system import System


def in_motion(system: System) -> System:
    """The system with elements that motion can follow; itself where it has no others.

    Coordinates without inertia (the slack of cables) and their constraints are gone; the tension of such a cable is the
    measure `<cable>_tension`.
    """
    structure = system.structure
    if structure is None or all(element.in_motion() is element for element in structure.elements):
        return system
    found: System = system.derived("in motion", _twin)
    return found


def _twin(system: System) -> System:
    structure = system.structure
    parts = [part.in_motion() if isinstance(part, Element) else part for part in structure.parts]
    twin = Structure(parts, dict(system.parameters), system.control)
    twin.stated = structure.stated
    scales = system.scales.on(_kept(system.coordinates, twin.coordinates), system.n)
    moving = twin.system(system.control, scales, sparse=system.derivatives.large)
    tensions = {
        f"{old.name}_tension": Elementwise(_tension(twin, old))
        for old in structure.elements
        if isinstance(old, Cable) and old.in_motion() is not old
    }
    stated = {name: contact for name, contact in system.contacts.items() if name in moving.unilateral}
    contacts = {**moving.contacts, **stated}
    return replace(moving, measures=joined("measure", moving.measures, tensions), contacts=contacts)


def moved(values: Any, system: System, twin: System) -> Any:
    """Coordinates or velocities of the system as those of its twin in motion."""
    gone = set(system.coordinates) - set(twin.coordinates)
    if isinstance(values, Mapping):
        return {name: value for name, value in values.items() if name not in gone}
    array = np.asarray(values)
    if array.shape != (system.n,):
        return values
    return array[_kept(system.coordinates, twin.coordinates)]


def _kept(coordinates: Sequence[str], others: Sequence[str]) -> list[int]:
    """Numbers of the coordinates that are among others too."""
    return [i for i, name in enumerate(coordinates) if name in set(others)]


def _tension(structure: Structure, cable: Any) -> Any:
    positions = [positions_of(structure, structure.places[name]) for name in cable.places]

    def tension(q: Any, p: Any, th: Any) -> Array:
        natural, stiffness = cable.along(structure.start_of(dict(th)), p)
        points = [position(q, p, th) for position in positions]
        length = sum(np.linalg.norm(b - a, axis=1) for a, b in pairwise(points))
        return np.asarray(stiffness * np.maximum(length - natural, 0.0))

    return tension
