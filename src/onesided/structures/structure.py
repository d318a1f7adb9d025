"""Parts with their numbering: coordinates and constraints counted, attachments checked, elements put into batches."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np

from onesided.base.errors import ModelError
from onesided.base.names import check_names, unknown_name
from onesided.base.types import Array, Indices
from onesided.elements.contract import Element, Frame, Start, Words, plain_quantity
from onesided.elements.line_loads import on_beams
from onesided.elements.members import Bar
from onesided.elements.places import Body, Marker, Place
from onesided.elements.schedules import OTHERWISE, UNSCHEDULED
from onesided.formulas.formula import FormulaError
from onesided.results.member_series import Members
from onesided.structures.assembly import Assembly
from onesided.structures.contact_laws import contacts_of_parts
from onesided.structures.drawing import structure_sketch
from onesided.structures.element_batch import Batch
from onesided.structures.kernels import Data
from onesided.structures.likely import check_masses, check_numbers, check_places, warn_of_mixed_units
from onesided.structures.masses import Moving
from onesided.structures.member_results import Course, member_results
from onesided.structures.motion_of_parts import ContactsOfStructure, StructureMotion
from onesided.structures.part_measures import Statement, with_measures
from onesided.structures.sparse import SparseAssembly
from onesided.structures.supports import check_supported
from onesided.system.sizes import Scales
from onesided.system.system import System

DENSE_LIMIT = 300  # coordinates and constraints up to which matrices are dense
Part = Place | Element


class Structure:
    """Parts with their numbering: slots of places, coordinates, constraint rows, batches of elements."""

    def __init__(self, parts: Sequence[Part], parameters: Mapping[str, float], control: str = "p") -> None:
        self.stated = Statement({}, {})
        self.parts = tuple(parts) if control == "p" else tuple(_under(part, control) for part in parts)
        self.places = self._places()
        self._check_names()
        self.slots, self.coordinates, self.index = self._number_slots()
        self._check_parameters(parameters)
        given = [part for part in self.parts if isinstance(part, Element)]
        self.elements = on_beams([one for element in given for one in element.expand(self.places, parameters)])
        remembered = {f"{e.name}_{ending}": 0.0 for e in self.elements for ending in e.history}
        self.parameters = parameters = {**remembered, **parameters}
        start = self.start_of(parameters)
        check_places(self.places, start)
        self._check_elements(start)
        self.inner = self._number_inner(start)
        self._check_parameters(parameters)
        self.bilateral, self.unilateral, self.rows = self._number_constraints()
        self.batches, self.batch_slots = self._make_batches()
        self.moving = Moving(self.places, self.slots, self.index, self.batches, len(self.coordinates))
        check_masses(self.places, start)
        warn_of_mixed_units(self.elements, start)

    # what a system asks of its parts -------------------------------------------------------------------------------

    def motion_functions(self, system: System) -> StructureMotion:
        """Compiled equations of motion of `system`, summed element by element."""
        return StructureMotion(system)

    def contact_functions(self, system: System) -> ContactsOfStructure:
        """The same with rows for all gaps and slips."""
        return ContactsOfStructure(system)

    def members(self, system: System, q: Array, p: Array, nu: Array, rates: tuple[Array, ...] | None) -> Members:
        """Member results along q (N, n), p (N,), ν (N, m), to be computed when one is asked for."""
        return member_results(system, Course(q, p, nu, *(rates or ())))

    def check_supported(self, system: System, q: Array, p: float) -> None:
        """Refuse a structure that can move as a whole, or in parts, without resistance."""
        check_supported(system, q, p)

    # places ----------------------------------------------------------------------------------------------------------

    def _places(self) -> dict[str, Place]:
        places = {part.name: part for part in self.parts if isinstance(part, Place)}
        for name, place in places.items():
            if isinstance(place, Marker):
                body = places.get(place.on)
                if not isinstance(body, Body):
                    bodies = [other for other, found in places.items() if isinstance(found, Body)]
                    raise unknown_name(f"body (of marker '{name}')", place.on, bodies, about=name)
                if body.dimension != place.dimension:
                    raise ModelError(f"marker '{name}' and its body '{place.on}' differ in dimension", about=name)
                places[name] = replace(place, body=body)
        return places

    def _check_names(self) -> None:
        seen: set[str] = set()
        for part in self.parts:
            if not isinstance(part.name, str) or not part.name.strip():
                raise ModelError("a part has no usable name", got=repr(part.name), expected="a non-empty string")
            if part.name in seen:
                raise ModelError(
                    f"the name '{part.name}' is used twice", about=part.name, expected="every part its own name"
                )
            seen.add(part.name)
        if len({place.dimension for place in self.places.values()}) > 1:
            raise ModelError("places of the plane and of space are mixed", expected="two or three numbers everywhere")

    def _check_parameters(self, parameters: Mapping[str, float]) -> None:
        """Formulas of parts take the name of a parameter for the parameter: no coordinate may have it."""
        for name in sorted(parameters.keys() & set(self.coordinates)):
            raise ModelError(f"`{name}` names two things: a coordinate and a parameter", advice="rename the parameter")

    def _number_slots(self) -> tuple[dict[str, Indices], list[str], dict[int, int]]:
        """Slot numbers of every place; names of the free ones; slot → coordinate."""
        slots: dict[str, Indices] = {}
        names: list[str] = []
        index: dict[int, int] = {}
        count = 0
        for place in self.places.values():
            if isinstance(place, Marker):
                continue
            slots[place.name] = np.arange(count, count + len(place.slots))
            for slot in place.slots:
                if slot.free:
                    index[count] = len(names)
                    names.append(slot.name)
                count += 1
        for place in self.places.values():
            if isinstance(place, Marker):
                slots[place.name] = slots[place.on]
        return slots, names, index

    def start_of(self, parameters: Mapping[str, float]) -> Start:
        """Frames of all places as given, for these parameters."""
        plain = Start({}, parameters)
        frames: dict[str, Frame] = {}
        for name, place in self.places.items():
            try:
                values = plain.vector([slot.start for slot in place.slots])
                numbers = {key: plain.vector(value) for key, value in place.numbers.items()}
            except FormulaError as error:
                what = f"{place.kind} '{name}': {error.what}"
                raise ModelError(what, about=name, got=error.formula, advice=error.advice) from None
            except ModelError as error:
                what = f"{place.kind} '{name}': {error.what}"
                raise ModelError(what, about=name, got=error.got, expected=error.expected) from None
            frames[name] = place.frame(values, numbers, np)
        return Start(frames, parameters, self.places)

    def start_values(self, parameters: Mapping[str, float]) -> Array:
        """Start values of all coordinates."""
        free = [
            plain_quantity(slot.start, parameters)
            for place in self.places.values()
            if not isinstance(place, Marker)
            for slot in place.slots
            if slot.free
        ]
        start = self.start_of(parameters)
        inner = [value for element in self.elements for value in element.inner(start).values()]
        return np.array([*free, *inner], dtype=np.float64)

    def units(self, parameters: Mapping[str, float]) -> Array:
        """Units in which coordinates are comparable: the extent of the structure for lengths, their own for others."""
        free = [slot for place in self.free_standing for slot in place.slots if slot.free]
        inner = [element.inner_is_length for element in self.elements for _ in self.inner[element.name]]
        lengths = [*(slot.is_length for slot in free), *inner]
        own = [*(slot.unit for slot in free), *(1.0 for _ in inner)]
        return np.where(lengths, self.start_of(parameters).size or 1.0, own)

    @property
    def free_standing(self) -> list[Place]:
        """Places with components of their own: all but markers."""
        return [place for place in self.places.values() if not isinstance(place, Marker)]

    def held(self, parameters: Mapping[str, float]) -> dict[int, tuple[float, float]]:
        """Value and rate with p of every held slot."""
        found: dict[int, tuple[float, float]] = {}
        for place in self.places.values():
            if not isinstance(place, Marker):
                for number, slot in zip(self.slots[place.name], place.slots, strict=True):
                    if not slot.free:
                        start, rate = (plain_quantity(one, parameters) for one in (slot.start, slot.rate))
                        found[int(number)] = (start, rate)
        return found

    # elements --------------------------------------------------------------------------------------------------------

    def _check_elements(self, start: Start) -> None:
        for element in self.elements:
            for name in element.places:
                if name not in self.places:
                    raise unknown_name(
                        f"place (of {element.kind} '{element.name}')", name, self.places, about=element.name
                    )
                place = self.places[name]
                if element.turns and not place.oriented:
                    raise element.error(f"'{name}' has no orientation", expected="a body or a marker on one")
                if place.dimension not in element.dimensions:
                    raise element.error(f"does not work in {place.dimension} dimensions")
            if len(set(element.places)) < len(element.places) and not element.repeats:
                raise element.error("is attached to the same place twice", got=", ".join(element.places))
            for name in element.reads:
                if name not in self.coordinates:
                    raise unknown_name(
                        f"coordinate (of {element.kind} '{element.name}')", name, self.coordinates, about=element.name
                    )
            _check(element, start)

    def _number_inner(self, start: Start) -> dict[str, list[int]]:
        """Numbers of the internal coordinates of elements."""
        inner: dict[str, list[int]] = {}
        for element in self.elements:
            own = element.inner(start)
            inner[element.name] = [len(self.coordinates) + i for i in range(len(own))]
            self.coordinates.extend(f"{element.name}_{name}" for name in own)
        return inner

    def _number_constraints(self) -> tuple[dict[str, Element], dict[str, Element], dict[str, list[int]]]:
        """Constraint names → elements, bilateral and unilateral, and the rows of each element (closures, gaps)."""
        names = [e.called(ending) for e in self.elements for ending in (*e.closure_names, *e.gap_names)]
        check_names("constraint", names)
        bilateral = {e.called(ending): e for e in self.elements for ending in e.closure_names}
        unilateral = {e.called(ending): e for e in self.elements for ending in e.gap_names}
        number = {name: i for i, name in enumerate((*bilateral, *unilateral))}
        rows = {
            e.name: [number[e.called(ending)] for ending in (*e.closure_names, *e.gap_names)] for e in self.elements
        }
        return bilateral, unilateral, rows

    def _key(self, element: Element) -> Hashable:
        kinds = tuple(self._place_keys[name] for name in element.places)
        sizes = len(self.inner[element.name]), len(self.rows[element.name]), len(element.reads)
        return type(element), element.variant, kinds, sizes

    @cached_property
    def _place_keys(self) -> dict[str, Hashable]:
        """What distinguishes places for batches: a marker's body counts through its slots."""
        return {name: (type(place), place.dimension, len(place.slots)) for name, place in self.places.items()}

    def _make_batches(self) -> tuple[list[Batch], list[list[Indices]]]:
        groups: dict[Hashable, list[Element]] = defaultdict(list)
        for element in self.elements:
            groups[self._key(element)].append(element)
        number = {name: i for i, name in enumerate(self.coordinates)}
        batches, all_slots = [], []
        for key, group in groups.items():
            slots = [np.concatenate([np.zeros(0, int), *(self.slots[name] for name in e.places)]) for e in group]
            index = [
                [
                    *(self.index.get(int(slot), -1) for slot in row),
                    *self.inner[e.name],
                    *(number[name] for name in e.reads),
                ]
                for row, e in zip(slots, group, strict=True)
            ]
            places = tuple(tuple(self.places[name] for name in e.places) for e in group)
            rows = np.array([self.rows[e.name] for e in group], dtype=np.intp).reshape(len(group), -1)
            numbers = np.array(index, dtype=np.intp).reshape(len(group), -1)
            batches.append(Batch(tuple(group), places, numbers, rows, key))
            all_slots.append(slots)
        return batches, all_slots

    def _check_connected(self) -> None:
        """Every coordinate must be touched by an element: a loose node has no equilibrium of its own."""
        touched = np.zeros(len(self.coordinates), dtype=bool)
        for batch in self.batches:
            touched[batch.index[batch.index >= 0]] = True
        if not len(touched):
            raise ModelError("nothing can move", got="no free coordinate", advice="free a component of a node or body")
        if not np.all(touched):
            loose = [self.coordinates[i] for i in np.flatnonzero(~touched)]
            raise ModelError(
                f"no element is attached to {', '.join(loose[:8])}{', …' if len(loose) > 8 else ''}",
                advice="attach an element, fix the component, or remove the node",
            )

    # system ----------------------------------------------------------------------------------------------------------

    def data(self, parameters: Mapping[str, float]) -> list[Data]:
        """Data of all batches for these parameters."""
        start, held = self.start_of(parameters), self.held(parameters)
        if dict(parameters) != self.parameters:
            for element in self.elements:
                element.check(start)
        return [batch.data(start, held, slots) for batch, slots in zip(self.batches, self.batch_slots, strict=True)]

    def shrunk(self, parameters: Mapping[str, float], p: Array) -> list[str]:
        """Bars and cables whose natural length follows the control parameter and is negative somewhere along p."""
        if not self._following:
            return []
        start = self.start_of(parameters)
        with np.errstate(all="ignore"):
            return [bar.name for bar in self._following if np.any(bar.along(start, p).natural < 0.0)]

    @cached_property
    def _following(self) -> list[Bar]:
        """Bars and cables whose natural length follows the control parameter."""
        return [element for element in self.elements if isinstance(element, Bar) and element.moves]

    @cached_property
    def _kinked(self) -> list[Element]:
        """Elements in whose formulas functions with kinks are called."""
        return [element for element in self.elements if element.kinked]

    @property
    def kinked(self) -> bool:
        """Whether formulas of parts call functions with kinks."""
        return bool(self._kinked)

    def control_kinks(self, parameters: Mapping[str, float]) -> set[float]:
        """Values of the control parameter at which formulas of parts have kinks."""
        return {p for element in self._kinked for p in element.control_kinks(parameters)}

    @cached_property
    def driven(self) -> bool:
        """Whether some element follows the control parameter."""
        return any(element.driven for element in self.elements)

    def system(self, control: str, scales: Scales, *, sparse: bool | None = None) -> System:
        """The system these parts make."""
        self._check_connected()
        n, m = len(self.coordinates), len(self.bilateral) + len(self.unilateral)
        kind = SparseAssembly if (n + m > DENSE_LIMIT if sparse is None else sparse) else Assembly
        assembly = kind(n, m, self.batches, self.data, tuple(self.parameters))
        moving = self.moving
        sketch, measures = structure_sketch(self)
        made = System(
            coordinates=tuple(self.coordinates),
            energy=assembly.potential,
            unilateral=cast("Mapping[str, Any]", self.unilateral),
            bilateral=cast("Mapping[str, Any]", self.bilateral),
            parameters=self.parameters,
            control=control,
            scales=scales,
            mass=moving.mass if moving.has_mass else None,
            force=partial(moving.force, assembly) if moving.has_force else None,
            contacts=contacts_of_parts(self),
            measures=measures,
            sketch=sketch,
            structure=self,
            derivatives=assembly,
        )
        return with_measures(made, self.stated)

    def words(self, name: str) -> Words:
        """How events of a one-sided constraint are reported."""
        element = self.unilateral[name]
        return element.gap_words(name.removeprefix(element.name))

    @property
    def history(self) -> dict[str, int]:
        """Parameters that remember, with the number of the coordinate whose value each takes over."""
        number = {name: i for i, name in enumerate(self.coordinates)}
        return {f"{e.name}_{a}": number[f"{e.name}_{b}"] for e in self.elements for a, b in e.history.items()}


def _under(part: Part, control: str) -> Part:
    """A part whose formulas call the control parameter by its name."""
    return replace(part, control=control) if isinstance(part, Element) else part


def _check(element: Element, start: Start) -> None:
    """The element's own check; what it refuses carries the element's name."""
    try:
        element.check(start)
        check_numbers(element, start)
    except FormulaError as error:
        if error.what == f"unknown name `{element.control}`":
            raise element.error(UNSCHEDULED, got=error.formula, advice=OTHERWISE) from None
        raise element.error(error.what, got=error.formula, advice=error.advice) from None
    except ModelError as error:
        if error.about:
            raise
        raise element.error(error.what, got=error.got, expected=error.expected, advice=error.advice) from None
