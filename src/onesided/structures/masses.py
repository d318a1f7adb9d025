"""Masses of places and forces without a potential, as a structure gives them to motion.

Velocities v belong to the coordinates q: rates of them, but for the rotation vector r of a body in space: its velocity
Ω obeys d exp(r)/dt = exp(r) S(Ω) (the angular velocity in axes that turn with the body). Forces are conjugate to v.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from onesided.base.errors import ModelError
from onesided.base.types import Indices
from onesided.elements.contract import Element, Frame, Quantity, Rate, Wrench
from onesided.elements.places import Body, Marker, Place
from onesided.formulas.formula import parse
from onesided.formulas.functions import jax_functions
from onesided.groups.rotations import rotation_matrix
from onesided.structures.assembly import Assembly
from onesided.structures.element_batch import Batch
from onesided.structures.kernels import Data, Form


class Moving:
    """Mass matrix and forces without a potential of a structure.

    Attributes
    ----------
    rotations : coordinates (three each) that are rotation vectors of bodies in space, all three free.
    carried : whether p moves a place on which forces without a potential act.
    """

    def __init__(
        self,
        places: Mapping[str, Place],
        slots: Mapping[str, Indices],
        index: Mapping[int, int],
        batches: Sequence[Batch],
        n: int,
    ) -> None:
        self.n = n
        self.places = [place for place in places.values() if not isinstance(place, Marker)]
        self.columns = {place.name: [index.get(int(slot), -1) for slot in slots[place.name]] for place in self.places}
        self.loading = [
            i for i, batch in enumerate(batches) if type(batch.elements[0]).wrenches is not Element.wrenches
        ]
        self.batches = tuple(batches)
        loaded = {name for i in self.loading for e in batches[i].elements for name in e.places}
        self.carried = any(not slot.free and slot.rate != 0.0 for name in loaded for slot in places[name].slots)
        space = [place for place in self.places if isinstance(place, Body) and place.dimension == 3]
        turns = {place.name: tuple(self.columns[place.name][3:]) for place in space}
        self.rotations = tuple(columns for columns in turns.values() if min(columns) >= 0)
        self.half_held = [name for name, columns in turns.items() if min(columns) < 0 <= max(columns)]

    @property
    def has_mass(self) -> bool:
        """Whether a place has a mass or inertia."""
        return any(_given(getattr(place, name, 0.0)) for place in self.places for name in ("mass", "inertia"))

    @property
    def has_force(self) -> bool:
        """Whether an element has forces without a potential."""
        return bool(self.loading)

    def mass(self, q: Any, th: Mapping[str, Any]) -> Any:
        """Mass matrix (n, n): constant, diagonal but for the inertia of bodies in space that start turned."""
        if self.half_held:
            raise ModelError(
                f"rotations of {', '.join(self.half_held)} are held in part: that has no meaning in motion",
                advice="hold the body by a joint instead",
            )
        total = jnp.zeros((self.n, self.n))
        for place in self.places:
            columns = self.columns[place.name]
            block = _inertia(place, th)
            free = [i for i, column in enumerate(columns) if column >= 0]
            rows = np.array([columns[i] for i in free], dtype=int)
            total = total.at[rows[:, None], rows[None, :]].add(block[np.ix_(free, free)])
        return total

    def force(self, assembly: Assembly, t: Any, q: Any, v: Any, p: Any, th: Any, *, p_dot: Any = None) -> Any:
        """Generalised forces (n,), conjugate to v; with the rate of p, that of places which p moves counts.

        `th` are the parameters as numbers, or what `System.derivatives.constants` makes of them: the second compiles.
        """
        data = assembly.data_of(assembly.constants(th) if isinstance(th, Mapping) else th)
        q, v, total = jnp.asarray(q), jnp.asarray(v), jnp.zeros(self.n + 1)
        for i in self.loading:
            batch, one = self.batches[i], data[i]
            z = (*(q[index] for index in one["index"]), jnp.full(len(batch.index), p, dtype=float))
            speeds = tuple(jnp.where(f, v[i], 0.0) for f, i in zip(one["free"], one["index"], strict=True))
            own = jax.vmap(generalised(batch.form), (0, 0, 0, None))(z, speeds, one, p_dot)
            for column, force in zip(batch.index.T, own, strict=True):
                total = total.at[np.where(column < 0, self.n, column)].add(force)
        return total[: self.n]


def place_rates(form: Form, values: Any, data: Data, speeds: Any) -> tuple[Rate, ...]:
    """How the places of one element move, for values and speeds of its slots."""
    found, first = [], 0
    for place, numbers in zip(form.places, data["places"], strict=True):
        last = first + len(place.slots)
        found.append(place.rate(values[first:last], speeds[first:last], numbers, jnp))
        first = last
    return tuple(found)


def carried_rates(form: Form, z: tuple[Any, ...], data: Data, p_dot: Any) -> tuple[Rate, ...]:
    """How p moves the places of one element while its free slots rest: ∂(position, turn)/∂p ṗ.

    Places that p does not move rest also where ṗ is not known (NaN).
    """

    def frames(p: Any) -> Any:
        return form.local((*z[:-1], p), data).frames

    now, slopes = jax.jvp(frames, (z[-1],), (jnp.ones_like(z[-1]),))
    each = (Rate(slope.position, _spin(frame, slope)) for frame, slope in zip(now, slopes, strict=True))
    return tuple(Rate(*(jnp.where(part == 0.0, 0.0, part * p_dot) for part in rate)) for rate in each)


def _spin(frame: Frame, slope: Frame) -> Any:
    """The spin of a frame from its derivative: that of the angle, or S(ω) = R' Rᵀ."""
    if len(frame.position) == 2:
        return jnp.asarray(slope.angle, dtype=float)
    S = slope.rotation @ frame.rotation.T
    return jnp.stack([S[2, 1], S[0, 2], S[1, 0]])


def generalised(form: Form) -> Callable[[tuple[Any, ...], tuple[Any, ...], Data, Any], tuple[Any, ...]]:
    """The generalised force of one element: wrenches against the rates of its places, which are linear in speeds."""

    def function(z: tuple[Any, ...], speeds: tuple[Any, ...], data: Data, p_dot: Any) -> tuple[Any, ...]:
        at, values = form.local(z, data), form.slot_values(z, data)

        def rates(*speeds: Any) -> Any:
            return place_rates(form, values, data, jnp.stack(speeds))

        now, pull = jax.vjp(rates, *speeds)
        whole = now if p_dot is None else together(now, carried_rates(form, z, data, p_dot))
        wrenches: tuple[Wrench, ...] = form.element.wrenches(at, whole)
        back = tuple(type(rate)(w.force, w.moment) for rate, w in zip(now, wrenches, strict=True))
        return tuple(pull(back))

    return function


def together(some: tuple[Rate, ...], others: tuple[Rate, ...]) -> tuple[Rate, ...]:
    """Sums of velocities and spins, place by place."""
    pairs = zip(some, others, strict=True)
    return tuple(Rate(a.velocity + b.velocity, a.spin + b.spin) for a, b in pairs)


def _inertia(place: Place, th: Mapping[str, Any]) -> Any:
    """Mass matrix of one place, by its slots."""
    mass = _number(getattr(place, "mass", 0.0), th)
    if not isinstance(place, Body):
        return mass * jnp.eye(len(place.slots))
    size = place.dimension
    if size == 2:
        return jnp.diag(jnp.stack([mass, mass, _number(place.inertia, th)]))
    given = [place.inertia] * 3 if isinstance(place.inertia, (int, float, str)) else place.inertia
    principal = jnp.diag(jnp.stack([_number(one, th) for one in given]))
    R = rotation_matrix(jnp.stack([_number(one, th) for one in place.turned]))
    zero = jnp.zeros((3, 3))
    return jnp.block([[mass * jnp.eye(3), zero], [zero, R @ principal @ R.T]])


def _number(quantity: Any, th: Mapping[str, Any]) -> Any:
    value = parse(quantity).evaluate(th, jax_functions()) if isinstance(quantity, str) else quantity
    return jnp.asarray(value, dtype=float)


def _given(quantity: Quantity | Sequence[Quantity]) -> bool:
    several = quantity if not isinstance(quantity, (int, float, str)) else (quantity,)
    return any(isinstance(one, str) or one != 0.0 for one in several)
