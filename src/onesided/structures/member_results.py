"""Forces, lengths and moments of the parts of a structure along a result, and the reactions of its supports.

For one element, ℓ = energy − νᵀc as a function of the frames of its places: −∂ℓ/∂(position, turn) are its wrenches on
them, −∂ℓ/∂(slot) its generalised forces, on held slots as well. The reaction of a held slot is the force with which its
support acts on the structure: the sum of ∂ℓ/∂(slot) over all elements, less forces without a potential, plus inertia.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.elements.contract import Acting, Element, Frame, Local, Wrench
from onesided.elements.places import Guided
from onesided.evaluation.compiling import compiled
from onesided.groups.rotations import plane_matrix
from onesided.results.member_series import Members
from onesided.structures.kernels import KEPT, Data, Form
from onesided.structures.masses import carried_rates, generalised, place_rates, together
from onesided.structures.supports import vector_rates

if TYPE_CHECKING:
    from onesided.structures.element_batch import Batch
    from onesided.system.system import System

CHUNK = 64  # points per compiled call: one shape for results of any length
MACHINE = "machine_force"
TURNING = 6  # components of a body in space: a position, then a rotation vector


@dataclass(frozen=True, eq=False)
class Course:
    """Points of a result: q (N, n), p (N,), ν = (μ, λ) (N, m); in motion velocities and accelerations (N, n).

    `p_dot` (N,) is the rate of p in motion, None where it is not known.
    """

    q: Array
    p: Array
    nu: Array
    v: Array | None = None
    a: Array | None = None
    p_dot: Array | None = None

    @property
    def pace(self) -> Array | None:
        """Rates of p in motion where it changes, NaN where they are not known."""
        if self.v is None or not np.ptp(self.p):
            return None
        return np.full_like(self.p, np.nan) if self.p_dot is None else self.p_dot


def member_results(system: "System", course: Course) -> Members:
    """All member results of a composed system along a course, to be computed when one is asked for."""
    if system.structure is None:
        return Members()
    reader = Reader(system, course)
    return Members(reader.names, reader.values, reader.sections)


def member_names(system: "System") -> tuple[str, ...]:
    """Names of all member results of a composed system."""
    return Reader(system, Course(np.zeros((0, system.n)), np.zeros(0), np.zeros((0, 0)))).names


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads member results off the points of a result."""

    system: "System"
    course: Course

    @property
    def _dimension(self) -> int:
        return int(next(iter(self.system.structure.places.values())).dimension) if self.system.structure.places else 2

    @cached_property
    def held(self) -> dict[str, int]:
        """Names of reactions with the numbers of the slots that are held.

        Where a support holds some of the turns of a body in space, its moment may have components about all axes.
        """
        structure, found = self.system.structure, {}
        for place in structure.free_standing:
            turns = len(place.slots) == TURNING and any(not slot.free for slot in place.slots[3:])
            for i, (slot, number) in enumerate(zip(place.slots, structure.slots[place.name], strict=True)):
                if not slot.free or (turns and i >= 3):
                    found[f"{place.name}.reaction_{slot.name.removeprefix(place.name + '_')}"] = int(number)
        return found

    @cached_property
    def guided(self) -> dict[str, tuple[str, int]]:
        """Names of the forces of guides, with the guided places and the number of the component."""
        places = [place for place in self.system.structure.places.values() if isinstance(place, Guided)]
        return {f"{g.name}.guide_{axis}": (g.name, i) for g in places for i, axis in enumerate("xyz"[: g.dimension])}

    @cached_property
    def driven(self) -> bool:
        """Whether the control parameter moves a support, a drive, or a stress-free state."""
        structure = self.system.structure
        moved = any(rate != 0.0 for _, rate in structure.held(self.system.parameters).values())
        return moved or structure.driven

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in the order of the parts; reactions last."""
        own = [e.name + ending for e in self.system.structure.elements for ending in e.result_names(self._dimension)]
        return (*own, *self.held, *self.guided, *((MACHINE,) if self.driven else ()))

    def values(self) -> dict[str, Array]:
        """Name → (N,) of every member along the result."""
        found: dict[str, Array] = {}
        slots: dict[int, Array] = {number: np.zeros(len(self.course.p)) for number in self.held.values()}
        guides = {place: 0.0 for place, _ in self.guided.values()}
        machine = np.zeros(len(self.course.p))
        for number, (batch, data) in enumerate(self._batches()):
            if not self._needed(batch):
                continue
            whole = self.driven or bool(np.any(batch.index < 0))
            own, forces, by_p, pulls = self._evaluated(batch, data, _read if whole else _read_inside)
            endings = batch.elements[0].result_names(self._dimension)
            for e, element in enumerate(batch.elements):
                found |= {element.name + ending: own[i][:, e] for i, ending in enumerate(endings)}
            self._gather(number, batch, forces, slots)
            for e, element in enumerate(batch.elements):
                for column, pull in pulls.items():
                    guides[element.places[column]] += pull[:, e]
            if whole and not batch.elements[0].is_load:
                machine += np.sum(by_p, axis=1)
        self._add_inertia(slots)
        held = self.system.structure.held(self.system.parameters)
        machine += sum((held[n][1] * force for n, force in slots.items() if n in held), np.zeros(len(machine)))
        self._about_fixed_axes(slots)
        reactions = {name: slots[number] for name, number in self.held.items()}
        found |= {name: self._across(place, guides[place])[:, i] for name, (place, i) in self.guided.items()}
        found |= reactions | ({MACHINE: machine} if self.driven else {})
        return {name: found[name] for name in self.names}

    def sections(self, beam: str, shares: Array) -> dict[str, Array]:
        """N, Q, M of one beam at shares of its length: (N, k) each."""
        for batch, data in self._batches():
            names = [element.name for element in batch.elements]
            kind = batch.elements[0]
            if beam in names and kind.section_names:
                (own,) = self._evaluated(batch, data, _read_sections, shares)
                e = names.index(beam)
                return {name: own[i][:, e] for i, name in enumerate(kind.section_names)}
        beams = [e.name for e in self.system.structure.elements if e.section_names]
        raise UsageError(
            f"no beam is called '{beam}'",
            expected=f"one of {', '.join(beams[:8])}" if beams else "a structure with beams",
        )

    def _batches(self) -> Iterator[tuple["Batch", Data]]:
        structure = self.system.structure
        pairs = zip(structure.batches, structure.data(self.system.parameters), strict=True)
        return ((batch, {**data, **batch.structure}) for batch, data in pairs)

    def _needed(self, batch: "Batch") -> bool:
        sample = batch.elements[0]
        held = bool(np.any(batch.index < 0)) or any(isinstance(place, Guided) for place in batch.places[0])
        return bool(sample.result_names(self._dimension)) or held or self.driven

    def _evaluated(self, batch: "Batch", data: Data, kind: Any, *more: Any) -> tuple[Any, ...]:
        """What a kernel gives for all points, chunk by chunk, as arrays (N, ne)."""
        course, function = self.course, _kernel(batch.form, kind)
        free, index, count, pace = batch.index >= 0, np.maximum(batch.index, 0), len(course.p), course.pace
        pieces = []
        for first in range(0, count, CHUNK):
            rows = np.minimum(np.arange(first, first + CHUNK), count - 1)
            z = (*(course.q[rows][:, column] for column in index.T), course.p[rows])
            nu = tuple(course.nu[rows][:, row] for row in batch.rows.T)
            v = () if course.v is None else tuple((course.v[rows][:, index] * free).transpose(2, 0, 1))
            pieces.append(
                jax.tree.map(np.asarray, function(z, nu, (v, None if pace is None else pace[rows]), data, *more))
            )
        return tuple(jax.tree.map(lambda *blocks: np.concatenate(blocks)[:count], *pieces))

    def _gather(self, number: int, batch: "Batch", forces: Any, slots: dict[int, Array]) -> None:
        """Add the generalised forces of elements on held slots to their reactions."""
        all_slots = self.system.structure.batch_slots[number]
        for e, row in enumerate(all_slots):
            for j, slot in enumerate(row):
                if batch.index[e, j] < 0:
                    slots[int(slot)] += forces[j][:, e]

    def _across(self, place: str, pull: Any) -> Array:
        """The force of a guide: what keeps the forces across it in balance, (N, d)."""
        start = self.system.structure.start_of(self.system.parameters)
        along = start.vector(self.system.structure.places[place].along)
        along = along / np.linalg.norm(along)
        pull = np.broadcast_to(pull, (len(self.course.p), len(along)))
        return np.asarray(np.outer(pull @ along, along) - pull)

    def _about_fixed_axes(self, slots: dict[int, Array]) -> None:
        """Reactions to turns of a body in space: moments about the fixed axes, not forces on a rotation vector.

        With ω = T(r) ṙ the power of forces Q on r is Q·ṙ = M·ω: M = T⁻ᵀ Q.
        """
        structure = self.system.structure
        for place in structure.free_standing:
            numbers = [int(number) for number in structure.slots[place.name][3:]]
            if len(place.slots) != TURNING or any(n not in slots for n in numbers):
                continue
            turns = np.stack([self._slot(n) for n in numbers], axis=1)
            forces = np.stack([slots[n] for n in numbers], axis=1)
            if np.any(turns):
                forces = np.stack([vector_rates(turn).T @ Q for turn, Q in zip(turns, forces, strict=True)])
            slots |= dict(zip(numbers, forces.T, strict=True))

    def _slot(self, number: int) -> Array:
        """Values of a slot, free or held, along the result."""
        structure, p = self.system.structure, self.course.p
        if number in structure.index:
            return self.course.q[:, structure.index[number]]
        value, rate = structure.held(self.system.parameters)[number]
        return np.asarray(value + rate * p)

    def _add_inertia(self, slots: dict[int, Array]) -> None:
        """In motion a held slot that p moves has an acceleration that the result does not hold: its reaction is NaN.

        So it is where friction acts on a place that is held, whose share is not known here.
        """
        if self.course.v is None:
            return
        structure, p = self.system.structure, self.course.p
        held = structure.held(self.system.parameters)
        moved = {n for n in slots if n in held and held[n][1] != 0.0} if np.ptp(p) else set()
        heavy = {
            int(number)
            for place in structure.free_standing
            if any(getattr(place, key, 0.0) != 0.0 for key in ("mass", "inertia"))
            for number in structure.slots[place.name]
        }
        rubbed = {int(slot) for e in structure.elements if e.rubs for n in e.places for slot in structure.slots[n]}
        for number in slots:
            if number in (moved & heavy) | rubbed:
                slots[number] = np.full(len(p), np.nan)


@lru_cache(maxsize=KEPT)
def _kernel(form: Form, kind: Callable[..., Any]) -> Callable[..., Any]:
    """A reading of all elements of a form at many points."""

    def function(z: Any, nu: Any, v: Any, data: Data, *more: Any) -> Any:
        *slots, p = z

        def at_point(slots: Any, p: Any, nu: Any, v: Any) -> Any:
            def at_element(y: Any, own: Any, nu: Any, speeds: Any) -> Any:
                return kind(form, (*y, p), own, nu, (speeds, v[1]), *more)

            return jax.vmap(at_element)(slots, data, nu, v[0])

        return jax.vmap(at_point)(tuple(slots), p, nu, v)

    return compiled(function, rare=True)


def _read(form: Form, z: Any, data: Data, nu: Any, v: Any) -> tuple[Any, Any, Any, Any]:
    """Results of one element, ∂ℓ/∂(slot) less forces without a potential, ∂ℓ/∂p at rest, pulls on guided places."""
    values, element = form.slot_values(z, data), form.element
    results, _, _, pulls = _read_inside(form, z, data, nu, v)

    def lagrangian(values: Any, p: Any) -> Any:
        return _lagrangian(element, form.seen(values, p, data), nu)

    slots, by_p = jax.grad(lagrangian, (0, 1))(values, z[-1])
    if v[0] and type(element).wrenches is not Element.wrenches:
        slots = slots - jnp.stack(generalised(form)(z, v[0], data, v[1]))
    return results, tuple(slots), by_p, pulls


def _read_inside(form: Form, z: Any, data: Data, nu: Any, v: Any) -> tuple[Any, Any, Any, Any]:
    """The same of an element that no support holds and no machine moves: its results and pulls alone."""
    values = form.slot_values(z, data)
    at = form.seen(values, z[-1], data)
    acting = _acting(form, z, at, data, nu, v)
    results = tuple(jnp.asarray(x, float) for x in form.element.results(at, acting))
    return results, (), (), _pulls(form, acting)


def _pulls(form: Form, acting: Acting) -> dict[int, Any]:
    """Forces on guided places, by their number."""
    guided = [i for i, place in enumerate(form.places) if isinstance(place, Guided)]
    if not guided:
        return {}
    wrenches, loose = acting.wrenches(), acting.loose()
    return {i: wrenches[i].force + (loose[i].force if loose else 0.0) for i in guided}


def _read_sections(form: Form, z: Any, data: Data, nu: Any, v: Any, shares: Any) -> tuple[Any]:
    values = form.slot_values(z, data)
    at = form.seen(values, z[-1], data)
    acting = _acting(form, z, at, data, nu, v)
    return (jax.vmap(lambda share: form.element.sections(at, acting, share))(shares),)


def _lagrangian(element: Element, at: Local, nu: Any) -> Any:
    c = (*element.closures(at), *element.gaps(at))
    return element.energy(at) - sum(a * b for a, b in zip(c, nu, strict=True))


def _acting(form: Form, z: Any, at: Local, data: Data, nu: Any, v: Any) -> Acting:
    return Acting(nu, lambda: _wrenches(form.element, at, nu), lambda: _loose(form, z, at, data, v))


def _wrenches(element: Element, at: Local, nu: Any) -> tuple[Wrench, ...]:
    """−∂ℓ/∂(position, turn) of every place of one element, in fixed axes."""
    plane = len(at.frames[0].position) == 2 if at.frames else True
    none = [(jnp.zeros(2), jnp.zeros(())) if plane else (jnp.zeros(3), jnp.zeros(3)) for _ in at.frames]

    def moved(moves: Any) -> Any:
        frames = tuple(_displaced(frame, *move) for frame, move in zip(at.frames, moves, strict=True))
        return _lagrangian(element, at._replace(frames=frames), nu)

    return tuple(Wrench(-force, -moment) for force, moment in jax.grad(moved)(none))


def _displaced(frame: Frame, step: Any, turn: Any) -> Frame:
    """A frame after a small displacement: exact to first order."""
    if len(frame.position) == 2:
        return Frame(frame.position + step, plane_matrix(turn) @ frame.rotation, frame.angle + turn)
    zero = jnp.zeros(())
    S = jnp.stack([zero, -turn[2], turn[1], turn[2], zero, -turn[0], -turn[1], turn[0], zero]).reshape(3, 3)
    return Frame(frame.position + step, frame.rotation + S @ frame.rotation, frame.angle)


def _loose(form: Form, z: Any, at: Local, data: Data, v: Any) -> tuple[Wrench, ...]:
    """Wrenches without a potential; places are at rest where no velocities are known."""
    values, (speeds, p_dot) = form.slot_values(z, data), v
    free = place_rates(form, values, data, jnp.stack(speeds) if speeds else jnp.zeros(len(values)))
    rates = free if p_dot is None else together(free, carried_rates(form, z, data, p_dot))
    return form.element.wrenches(at, rates)
