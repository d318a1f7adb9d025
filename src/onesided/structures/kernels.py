"""Functions of one element and their derivatives, shared by all structures of a process.

For one element, z = (values of its slots, p) and ℓ(z) = energy − νᵀc; wanted are ℓ_z, ℓ_zz, c and c_z (the chain rule
of shape and law is automatic differentiation of this one function; slots that are held move with p at known rates).
Elements of one form have the same functions and other numbers: they are traced once, however many elements and
structures there are. The z are differentiated as separate scalars: one vector over the elements each.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from onesided.elements.contract import Element, Frame, Local
from onesided.elements.places import Place
from onesided.evaluation.flat import depends, retraced
from onesided.evaluation.user_functions import Parameters

Data = dict[str, Any]
KEPT = 512  # forms whose traced functions are kept


@dataclass(frozen=True)
class Form:
    """What elements that are evaluated together share.

    Attributes
    ----------
    key : kind and variant of the element, and kinds of its places: equal keys have the same functions.
    k, r : slots and constraints of one element.
    pairs : local entries (i, j) of ℓ_zz that are wanted.
    unrolled : whether the columns of a Hessian are computed one after the other: faster where elements are many.
    element, places : one of them, which gives the functions.
    """

    key: Hashable
    k: int
    r: int
    pairs: tuple[tuple[int, int], ...]
    unrolled: bool
    element: Element = field(compare=False)
    places: tuple[Place, ...] = field(compare=False)

    def slot_values(self, z: tuple[Any, ...], data: Data) -> Any:
        """Values of the slots of one element: free ones from z, held ones as p says."""
        held = zip(z[:-1], data["free"], data["base"], data["rate"], strict=True)
        return jnp.stack([jnp.where(free, y, base + rate * z[-1]) for y, free, base, rate in held])

    def local(self, z: tuple[Any, ...], data: Data) -> Local:
        """What one element sees at z = (free slots, p)."""
        return self.seen(self.slot_values(z, data), z[-1], data)

    def seen(self, values: Any, p: Any, data: Data) -> Local:
        """What one element sees for values of all its slots, and p."""
        frames: list[Frame] = []
        first = 0
        for place, numbers in zip(self.places, data["places"], strict=True):
            last = first + len(place.slots)
            frames.append(place.frame(values[first:last], numbers, jnp))
            first = last
        last = self.k - len(self.element.reads)
        return Local(tuple(frames), values[first:last], values[last:], p, Parameters(data["numbers"]))

    @cached_property
    def values(self) -> Callable[[tuple[Any, ...], Data], tuple[Any, tuple[Any, ...]]]:
        """Energy and constraint values (closures, then gaps) of one element at s = (all slots, p); traced once."""
        return retraced(self._values)

    def _values(self, s: tuple[Any, ...], data: Data) -> tuple[Any, tuple[Any, ...]]:
        slots = jnp.stack(s[:-1]) if self.k else jnp.zeros(0)
        at, sample = self.seen(slots, s[-1], data), self.element
        return sample.energy(at), (*sample.closures(at), *sample.gaps(at))

    def uses_p(self, data: Data) -> bool:
        """Whether energy or constraints of an element with such data contain p."""
        own = {name: data[name] for name in ("numbers", "places")}
        return depends(lambda *s: self.values(s, own), (jnp.zeros(()),) * (self.k + 1), self.k)

    def lagrangian(self, s: tuple[Any, ...], data: Data, nu: tuple[Any, ...]) -> tuple[Any, tuple[Any, Any]]:
        """ℓ = energy − νᵀc of one element [SP1 (2.2)], with energy and c."""
        energy, c = self.values(s, {name: data[name] for name in ("numbers", "places")})
        return energy - sum(a * b for a, b in zip(c, nu, strict=True)), (energy, c)

    def first_order(self, s: tuple[Any, ...], data: Data, nu: tuple[Any, ...]) -> list[Any]:
        """Energy, ℓ_z and c of one element."""
        gradient, (energy, c) = jax.grad(self.lagrangian, has_aux=True)(s, data, nu)
        return [energy, *_with_rates(gradient, data), *c]

    def second_order(self, s: tuple[Any, ...], data: Data, nu: tuple[Any, ...]) -> list[Any]:
        """Energy, ℓ_z, c, the wanted entries of ℓ_zz, ℓ_zp, and c_z of one element; all slots count as free."""

        def first(*y: Any) -> tuple[tuple[tuple[Any, ...], tuple[Any, ...]], Any]:
            gradient, (energy, c) = jax.grad(self.lagrangian, has_aux=True)(y, data, nu)
            return (gradient, c), energy

        (gradient, c), energy, columns = (self._one_by_one if self.unrolled else self._together)(first, s, data)
        hessian = [columns[j][0][i] for i, j in self.pairs]
        with_p = list(columns[-1][0][: self.k])
        jacobian = [columns[j][1][i] for i in range(self.r) for j in range(self.k + 1)]
        return [energy, *_with_rates(gradient, data), *c, *hessian, *with_p, *jacobian]

    def _one_by_one(self, first: Callable[..., Any], s: tuple[Any, ...], data: Data) -> tuple[Any, Any, list[Any]]:
        """Values of (ℓ_s, c), energy, derivatives with respect to every slot, and to p, with which held slots move."""
        values, along, energy = jax.linearize(first, *s, has_aux=True)
        return values, energy, [*(along(*row, 0.0) for row in np.eye(self.k)), along(*data["rate"], 1.0)]

    def _together(self, first: Callable[..., Any], s: tuple[Any, ...], data: Data) -> tuple[Any, Any, list[Any]]:
        """The same, with all derivatives at once: fewer operations, each on more numbers."""
        rows = [jnp.append(row, rate) for row, rate in zip(np.eye(self.k), data["rate"], strict=True)]

        def along(*direction: Any) -> tuple[Any, Any, Any]:
            return jax.jvp(first, s, direction, has_aux=True)

        directions = (*rows, np.append(np.zeros(self.k), 1.0))
        values, columns, energy = jax.vmap(along, out_axes=(None, 0, None))(*directions)
        split = [jnp.unstack(block) for block in jax.tree.leaves(columns)]
        tree = jax.tree.structure(columns)
        return values, energy, [jax.tree.unflatten(tree, column) for column in zip(*split, strict=True)]


def _with_rates(gradient: tuple[Any, ...], data: Data) -> tuple[Any, ...]:
    """ℓ_s as a gradient with respect to (slots, p): held slots move with p."""
    *slots, by_p = gradient
    return (*slots, by_p + sum(rate * slope for rate, slope in zip(data["rate"], slots, strict=True)))


@lru_cache(maxsize=KEPT)
def kernel(form: Form, *, second: bool) -> Callable[..., list[Any]]:
    """Values and derivatives of all elements of a form, to first or second order."""
    function: Callable[..., list[Any]] = jax.jit(jax.vmap(form.second_order if second else form.first_order))
    return function
