"""Parts that cannot be meant: negative masses, mixed units."""

import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from onesided.base.errors import ModelError
from onesided.base.tolerances import DEFAULT
from onesided.elements.contract import Element, Start
from onesided.elements.places import Place

MIXED = 1e12  # ratio of two stiffnesses or lengths that cannot be meant


def check_places(places: Mapping[str, Place], start: Start) -> None:
    """Refuse places that are nowhere: positions and angles are finite."""
    for place in places.values():
        frame = start.frames[place.name]
        if not all(np.all(np.isfinite(part)) for part in frame):
            got = f"position {np.array(frame.position)}, angle {float(frame.angle):g}"
            raise ModelError(
                f"{place.kind} '{place.name}' has no place", about=place.name, got=got, expected="finite numbers"
            )


def check_numbers(element: Element, start: Start) -> None:
    """Refuse an element with a quantity that is no number."""
    for name, value in element.numbers(start).items():
        if np.any(np.isnan(np.asarray(value, dtype=np.float64))):
            raise element.error("one of its quantities is no number", got=f"{name} = {value}")


def check_masses(places: Mapping[str, Place], start: Start) -> None:
    """Refuse negative masses and moments of inertia."""
    for place in places.values():
        inertia = getattr(place, "inertia", 0.0)
        several = (inertia,) if isinstance(inertia, (int, float, str)) else tuple(inertia)
        values = start.vector([getattr(place, "mass", 0.0), *several])
        if len(values) not in {2, 4} or not np.all(values >= 0):
            raise ModelError(
                f"mass or inertia of '{place.name}' is not usable",
                about=place.name,
                got=", ".join(f"{value:g}" for value in values),
                expected="numbers ≥ 0; in space three moments of inertia, or one for all axes",
            )


def warn_of_mixed_units(elements: Sequence[Element], start: Start) -> None:
    """Warn where stiffnesses or lengths of one kind of element differ by a factor that cannot be meant."""
    found: dict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
    for element in elements:
        sizes = {"stiffness": 0.0, **element.numbers(start)}
        if len(element.places) == 2:  # places of a joint are together, up to round-off
            reach = max(float(np.max(np.abs(start.position(place)))) for place in element.places)
            distance = start.distance(*element.places)
            sizes["distance"] = distance if distance > DEFAULT.gap * reach else 0.0
        for name in ("stiffness", "distance"):
            if np.ndim(sizes.get(name, 0.0)) == 0 and sizes.get(name, 0.0) > 0.0:
                group = element.kind if name == "stiffness" else "element"
                found[group, name].append((float(sizes[name]), element.name))
    for (group, name), values in found.items():
        (low, first), (high, last) = min(values), max(values)
        if high >= MIXED * low:
            warnings.warn(
                f"units may be mixed: the {name} of {group} '{first}' is {low:g}, that of '{last}' {high:g}",
                stacklevel=2,
            )
