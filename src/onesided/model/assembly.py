"""Elements to derivatives: elements of one variant are differentiated together, and their blocks are added up.

A batch holds all elements that share their functions. For one element, z = (values of its slots, p) and
ℓ(z) = energy − νᵀc; the batch computes ℓ_z, ℓ_zz, c and c_z for all its elements in one compiled call (the chain rule
of shape and law is automatic differentiation of this one function), and every entry has its place in the result.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from onesided._types import Array, Indices
from onesided.model.derivatives import Derivatives, Parameters
from onesided.model.elements.contract import Element, Frame, Local, Start
from onesided.model.elements.places import Place

Data = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Batch:
    """Elements that are evaluated together.

    Attributes
    ----------
    elements, places : all elements of the batch, with the places each is attached to; the first gives the functions.
    index : (ne, k) coordinate of every slot, −1 where it is held.
    rows : (ne, r) constraint row of every closure and gap.
    """

    elements: tuple[Element, ...]
    places: tuple[tuple[Place, ...], ...]
    index: Indices
    rows: Indices

    @property
    def k(self) -> int:
        """Slots of one element."""
        return int(self.index.shape[1])

    @property
    def r(self) -> int:
        """Constraints of one element."""
        return int(self.rows.shape[1])

    def local(self, z: Any, data: Data) -> Local:
        """What one element sees at z = (slots, p)."""
        p = z[-1]
        values = jnp.where(data["free"], z[:-1], data["base"] + data["rate"] * p)
        frames: list[Frame] = []
        first = 0
        for place, numbers in zip(self.places[0], data["places"], strict=True):
            last = first + len(place.slots)
            frames.append(place.frame(values[first:last], numbers, jnp))
            first = last
        last = self.k - len(self.elements[0].reads)
        return Local(tuple(frames), values[first:last], values[last:], p, Parameters(data["numbers"]))

    def values(self, z: Any, data: Data) -> tuple[Any, Any]:
        """Energy and constraint values (closures, then gaps) of one element."""
        at, sample = self.local(z, data), self.elements[0]
        constraints = [*sample.closures(at), *sample.gaps(at)]
        return sample.energy(at), jnp.stack([jnp.asarray(c) for c in constraints]) if constraints else jnp.zeros(0)

    def lagrangian(self, z: Any, data: Data, nu: Any) -> Any:
        """ℓ = energy − νᵀc of one element [SP1 (2.2)]."""
        energy, c = self.values(z, data)
        return energy - c @ nu

    def first_order(self, z: Any, data: Data, nu: Any) -> tuple[Any, Any, Any]:
        """Energy, ℓ_z and c of one element."""
        energy, c = self.values(z, data)
        return energy, jax.grad(self.lagrangian)(z, data, nu), c

    def second_order(self, z: Any, data: Data, nu: Any) -> tuple[Any, ...]:
        """Energy, ℓ_z, c, ℓ_zz (without the row of p) and c_z of one element."""
        gradient, push = jax.linearize(lambda y: jax.grad(self.lagrangian)(y, data, nu), z)
        hessian = jax.vmap(push, out_axes=1)(jnp.eye(self.k + 1))[: self.k]
        energy, c = self.values(z, data)
        return energy, gradient, c, hessian, jax.jacfwd(lambda y: self.values(y, data)[1])(z)

    def data(self, start: Start, held: Mapping[int, tuple[float, float]], slots: Sequence[Indices]) -> Data:
        """Arrays that the functions need: values of held slots, numbers of elements and places."""
        base, rate = np.zeros(self.index.shape), np.zeros(self.index.shape)
        for e, row in enumerate(slots):
            for j, slot in enumerate(row):
                if self.index[e, j] < 0:
                    base[e, j], rate[e, j] = held[int(slot)]
        numbers = [element.numbers(start) for element in self.elements]
        columns = range(len(self.places[0]))
        return {
            "free": self.index >= 0,
            "index": np.maximum(self.index, 0).astype(np.int32),
            "rows": self.rows.astype(np.int32),
            "base": base,
            "rate": rate,
            "numbers": {name: np.array([one[name] for one in numbers], dtype=np.float64) for name in numbers[0]},
            "places": tuple(
                {
                    name: np.array([start.vector(all_places[i].numbers[name]) for all_places in self.places])
                    for name in self.places[0][i].numbers
                }
                for i in columns
            ),
        }


class Assembly(Derivatives):
    """Derivatives of a structure: the sum over its elements, with the interface of `Derivatives`.

    Parameters
    ----------
    n, m : numbers of coordinates and constraints.
    batches : the elements.
    make_data : parameters → data of all batches.
    """

    def __init__(self, n: int, m: int, batches: Sequence[Batch], make_data: Any, names: tuple[str, ...]) -> None:
        self.batches, self._make_data = tuple(batches), make_data
        self._targets = self._second_targets(n, m)
        super().__init__(n, self.potential, [self.potential] * m, names)

    def constants(self, parameters: Mapping[str, float]) -> Any:
        """Data of the batches for these parameters."""
        return {"batches": self._make_data(parameters)}

    def potential(self, q: Any, p: Any, th: Mapping[str, float]) -> Any:
        """Energy of the structure as a function of its own."""
        x = jnp.concatenate([jnp.asarray(q), jnp.asarray(p, dtype=float)[None], jnp.zeros(self.m)])
        return self._packed_residual(x, self.constants(th))[0]

    def _local(self, batch: Batch, data: Data, x: Any) -> tuple[Any, Any]:
        q, p, nu = self._split(x)
        z = q[data["index"]]
        z = jnp.concatenate([z, jnp.broadcast_to(p, (len(z), 1))], axis=1)
        return z, nu[data["rows"]] if batch.r else jnp.zeros((len(z), 0))

    def _entries(self, x: Any, data: Any, *, second: bool) -> list[Any]:
        """All entries of all batches, flat, in the order of the targets."""
        parts: list[Any] = []
        for batch, one in zip(self.batches, data["batches"], strict=True):
            z, nu = self._local(batch, one, x)
            blocks = jax.vmap(batch.second_order if second else batch.first_order)(z, one, nu)
            parts.extend(block.ravel() for block in blocks)
        return parts

    def _columns(self, batch: Batch, n: int) -> Indices:
        """Column of every z: the coordinate, n for p, −1 for a held slot."""
        return np.concatenate([batch.index, np.full((len(batch.index), 1), n)], axis=1)

    def _first_targets(self, batch: Batch, n: int) -> list[Indices]:
        """Places of energy, ℓ_z and c in the packed result (energy, L_x, c, …); −1: dropped."""
        columns = self._columns(batch, n)
        return [np.zeros(len(columns), dtype=int), np.where(columns < 0, -1, 1 + columns), n + 2 + batch.rows]

    def _second_targets(self, n: int, m: int) -> Any:
        hessian, jacobian = n + 2 + m, n + 2 + m + n * (n + 1)
        first, second, size = [], [], jacobian + m * (n + 1)
        for batch in self.batches:
            columns = self._columns(batch, n)
            i, j = batch.index[:, :, None], columns[:, None, :]
            r = batch.rows[:, :, None]
            low = self._first_targets(batch, n)
            first += low
            second += [
                *low,
                np.where((i < 0) | (j < 0), -1, hessian + i * (n + 1) + j),
                np.where(j < 0, -1, jacobian + r * (n + 1) + j),
            ]
        return tuple(_flat(targets, end) for targets, end in ((first, n + 2 + m), (second, size)))

    def _packed_residual(self, x: Any, vector: Any) -> Any:
        total = _add_up(self._entries(x, vector, second=False), *self._targets[0])
        return jnp.concatenate([total[: self.n + 1], total[self.n + 2 :]])

    def _packed_kkt(self, x: Any, vector: Any) -> Any:
        return _add_up(self._entries(x, vector, second=True), *self._targets[1])


def _flat(targets: list[Indices], size: int) -> tuple[Indices, int]:
    flat = np.concatenate([target.ravel() for target in targets])
    return np.where(flat < 0, size, flat), size


def _add_up(entries: list[Any], targets: Array, size: int) -> Any:
    return jnp.zeros(size + 1).at[targets].add(jnp.concatenate(entries))[:size]
