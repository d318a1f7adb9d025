"""What acts from outside and changes with time, along a step of a compiled call: whether samples resolve it."""

from typing import Any, NamedTuple

import jax.numpy as jnp

from onesided.base.tolerances import SMALL
from onesided.linalg.interpolants import COEFFICIENTS, LAST

SEEN = 0.02  # last coefficients against the change on the step: what is not resolved
FELT = SMALL  # a change below this share of the largest does not matter


class Outside(NamedTuple):
    """What acts from outside along a step: least and largest values, last coefficients of their interpolants."""

    least: Any
    most: Any
    tail: Any


def nothing_yet(size: int) -> Outside:
    """So many numbers before the first sample."""
    far = jnp.full(size, jnp.inf)
    return Outside(far, -far, jnp.zeros(size))


def acted(seen: Outside, values: Any) -> Outside:
    """With values (17, size) at the nodes of one more piece."""
    tail = jnp.max(jnp.abs((jnp.asarray(COEFFICIENTS) @ values)[-LAST:]), axis=0)
    least, most = jnp.min(values, axis=0), jnp.max(values, axis=0)
    return Outside(jnp.minimum(seen.least, least), jnp.maximum(seen.most, most), jnp.maximum(seen.tail, tail))


def unresolved(seen: Outside, forces: int) -> Any:
    """Whether a number, forces first, changes in a way that its samples do not resolve."""
    change, size = seen.most - seen.least, jnp.maximum(jnp.abs(seen.most), jnp.abs(seen.least))
    size = size.at[:forces].set(jnp.max(size[:forces], initial=0.0))
    return jnp.any((change > FELT * size) & (seen.tail > SEEN * change))
