"""Functions of one element and their derivatives, shared by all structures of a process.

For one element, z = (values of its slots, p) and ℓ(z) = energy − νᵀc; wanted are ℓ_z, ℓ_zz, c and c_z (the chain rule
of shape and law is automatic differentiation of this one function). Elements of one form have the same functions and
other numbers: they are traced once, however many elements and structures there are. The z are differentiated as
separate scalars: one vector over the elements each, three times as fast as small matrices.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from onesided.elements.contract import Element, Frame, Local
from onesided.elements.places import Place
from onesided.evaluation.derivatives import Parameters

Data = dict[str, Any]
UNROLLED = 8  # slots up to which the columns of a Hessian are computed one after the other
KEPT = 512  # forms whose traced functions are kept


@dataclass(frozen=True)
class Form:
    """What elements that are evaluated together share.

    Attributes
    ----------
    key : kind and variant of the element, and kinds of its places: equal keys have the same functions.
    k, r : slots and constraints of one element.
    pairs : local entries (i, j) of ℓ_zz that are wanted.
    element, places : one of them, which gives the functions.
    """

    key: Hashable
    k: int
    r: int
    pairs: tuple[tuple[int, int], ...]
    element: Element = field(compare=False)
    places: tuple[Place, ...] = field(compare=False)

    def slot_values(self, z: tuple[Any, ...], data: Data) -> Any:
        """Values of the slots of one element: free ones from z, held ones as p says."""
        held = zip(z[:-1], data["free"], data["base"], data["rate"], strict=True)
        return jnp.stack([jnp.where(free, y, base + rate * z[-1]) for y, free, base, rate in held])

    def local(self, z: tuple[Any, ...], data: Data) -> Local:
        """What one element sees at z = (slots, p)."""
        return self.seen(self.slot_values(z, data), z[-1], data)

    def seen(self, values: Any, p: Any, data: Data) -> Local:
        """The same for given values of all slots, held ones included."""
        frames: list[Frame] = []
        first = 0
        for place, numbers in zip(self.places, data["places"], strict=True):
            last = first + len(place.slots)
            frames.append(place.frame(values[first:last], numbers, jnp))
            first = last
        last = self.k - len(self.element.reads)
        return Local(tuple(frames), values[first:last], values[last:], p, Parameters(data["numbers"]))

    def values(self, z: tuple[Any, ...], data: Data) -> tuple[Any, tuple[Any, ...]]:
        """Energy and constraint values (closures, then gaps) of one element."""
        at, sample = self.local(z, data), self.element
        return sample.energy(at), (*sample.closures(at), *sample.gaps(at))

    def lagrangian(self, z: tuple[Any, ...], data: Data, nu: tuple[Any, ...]) -> tuple[Any, tuple[Any, Any]]:
        """ℓ = energy − νᵀc of one element [SP1 (2.2)], with energy and c."""
        energy, c = self.values(z, data)
        return energy - sum(a * b for a, b in zip(c, nu, strict=True)), (energy, c)

    def first_order(self, z: tuple[Any, ...], data: Data, nu: tuple[Any, ...]) -> list[Any]:
        """Energy, ℓ_z and c of one element."""
        gradient, (energy, c) = jax.grad(self.lagrangian, has_aux=True)(z, data, nu)
        return [energy, *gradient, *c]

    def second_order(self, z: tuple[Any, ...], data: Data, nu: tuple[Any, ...]) -> list[Any]:
        """Energy, ℓ_z, c, the wanted entries of ℓ_zz, ℓ_zp, and c_z of one element."""

        def first(*y: Any) -> tuple[tuple[tuple[Any, ...], tuple[Any, ...]], Any]:
            gradient, (energy, c) = jax.grad(self.lagrangian, has_aux=True)(y, data, nu)
            return (gradient, c), energy

        (gradient, c), along, energy = jax.linearize(first, *z, has_aux=True)
        columns = self._columns(along)
        hessian = [columns[j][0][i] for i, j in self.pairs]
        with_p = list(columns[-1][0][: self.k])
        jacobian = [columns[j][1][i] for i in range(self.r) for j in range(self.k + 1)]
        return [energy, *gradient, *c, *hessian, *with_p, *jacobian]

    def _columns(self, along: Callable[..., Any]) -> list[Any]:
        """Derivatives of (ℓ_z, c) with respect to every z; one after the other where they are few."""
        eye = np.eye(self.k + 1)
        if self.k <= UNROLLED:
            return [along(*row) for row in eye]
        columns = jax.vmap(along)(*eye)
        return [jax.tree.map(lambda block, j=j: block[j], columns) for j in range(self.k + 1)]


@lru_cache(maxsize=KEPT)
def kernel(form: Form, *, second: bool) -> Callable[..., list[Any]]:
    """Values and derivatives of all elements of a form, to first or second order."""
    function: Callable[..., list[Any]] = jax.jit(jax.vmap(form.second_order if second else form.first_order))
    return function
