"""Where places of a structure are along a result, in plain numbers: what drawings are made of."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from onesided.base.types import Array
from onesided.elements.contract import Frame, Quantity, plain_quantity
from onesided.elements.places import Place
from onesided.system.measures import Elementwise

if TYPE_CHECKING:
    from onesided.structures.structure import Structure

Measures = dict[str, Elementwise]
Course = Callable[[Any, Any, Any], Array]  # coordinates (n, N), p (N,), parameters → (N, d)


def number_of(quantity: Quantity, th: Mapping[str, float]) -> float:
    """A quantity for values of the parameters."""
    return plain_quantity(quantity, th)


def frames_of(structure: "Structure", place: Place) -> Callable[[Any, Any, Any], list[Frame]]:
    """Frames of a place, one for each point of a result, from coordinates (n, N)."""
    columns = [structure.index.get(int(slot), -1) for slot in structure.slots[place.name]]

    def frames(q: Any, p: Any, th: Any) -> list[Frame]:
        numbers = {key: np.array([number_of(x, th) for x in values]) for key, values in place.numbers.items()}
        held = [number_of(slot.start, th) + number_of(slot.rate, th) * p for slot in place.slots]
        values = [q[c] if c >= 0 else h + 0.0 * p for c, h in zip(columns, held, strict=True)]
        return [place.frame(row, numbers, np) for row in np.atleast_2d(np.array(values).T)]

    return frames


def positions_of(structure: "Structure", place: Place) -> Course:
    """Positions (N, d) of a place, from coordinates (n, N)."""
    frames = frames_of(structure, place)
    return lambda q, p, th: np.array([frame.position for frame in frames(q, p, th)])


def put(measures: Measures, name: str, course: Course, dimension: int) -> tuple[str, ...]:
    """Add the components of a vector to the measures, as `name.x` and so on; returns their names."""
    names = tuple(f"{name}.{axis}" for axis in "xyz"[:dimension])
    measures.update({one: Elementwise(course, column=i) for i, one in enumerate(names)})
    return names
