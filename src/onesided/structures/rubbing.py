"""Slip, rolling and spinning of composed contacts: velocities of the bodies at the point where they touch."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from onesided.structures.kernels import Data, Form

if TYPE_CHECKING:
    from onesided.structures.assembly import Assembly
    from onesided.structures.compose import Structure

Key = tuple[str, str]  # name of a gap; slip, rolling or spinning


@dataclass(frozen=True)
class StructureRate:
    """Velocities of a contact that an element of a structure states: evaluated with those of all its kind."""

    key: Key
    size: int

    def __call__(self, q: Any, v: Any, th: Any) -> Any:
        """Not alone: `rates_of` gives all of them."""
        raise NotImplementedError(f"the {self.key[1]} of composed contact '{self.key[0]}' belongs to its structure")


def rates_of(structure: "Structure", assembly: "Assembly", q: Any, v: Any, vector: Any) -> dict[Key, Any]:
    """All slips, rollings and spinnings of the contacts of a structure at rest of its held places."""
    data, found = assembly.data_of(vector), {}
    for batch, one in zip(assembly.batches, data, strict=True):
        if not any(element.rubs for element in batch.elements):
            continue
        zero = jnp.zeros(len(batch.index))
        z = (*(q[index] for index in one["index"]), zero)
        speeds = tuple(jnp.where(free, v[i], 0.0) for free, i in zip(one["free"], one["index"], strict=True))
        own = jax.vmap(_rubbed(batch.form))(z, speeds, one)
        for e, element in enumerate(batch.elements):
            for ending, rub in zip(element.gap_names, own, strict=True):
                for kind, values in zip(("slip", "rolling", "spinning"), rub, strict=True):
                    found[element.called(ending), kind] = values[e]
    return found


def _rubbed(form: Form) -> Callable[[tuple[Any, ...], tuple[Any, ...], Data], Any]:
    """The velocities of one element, gap by gap."""

    def function(z: tuple[Any, ...], speeds: tuple[Any, ...], data: Data) -> Any:
        at, values = form.local(z, data), form.slot_values(z, data)
        w, rates, first = jnp.stack(speeds), [], 0
        for place, numbers in zip(form.places, data["places"], strict=True):
            last = first + len(place.slots)
            rates.append(place.rate(values[first:last], w[first:last], numbers, jnp))
            first = last
        element: Any = form.element
        return tuple(tuple(rub) for rub in element.rubbing(at, tuple(rates)))

    return function
