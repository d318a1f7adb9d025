"""A gap that is the smallest of several distances: split exactly into smooth pieces, or smoothed on request [AR]."""

from typing import Any

import jax.numpy as jnp
from jax.scipy.special import logsumexp

from onesided.base.errors import ModelError
from onesided.evaluation.user_functions import Scalar


def smallest(name: str, *distances: Scalar) -> dict[str, Scalar]:
    """One unilateral constraint per piece: min dⱼ ≥ 0 is the same as every dⱼ ≥ 0, and every piece is smooth.

    Parameters
    ----------
    name : of the gap; the pieces are called "name 1", "name 2", …
    distances : functions d(q, p, th).

    Examples
    --------
    >>> sorted(smallest("corner", lambda q, p, th: q[0], lambda q, p, th: q[1]))
    ['corner 1', 'corner 2']
    """
    _check(distances)
    return {f"{name} {i + 1}": distance for i, distance in enumerate(distances)}


def smallest_smoothed(*distances: Scalar, sharpness: float) -> Scalar:
    """−log Σ exp(−β dⱼ)/β: one smooth gap, below the smallest distance by at most log(number)/β.

    Parameters
    ----------
    distances : functions d(q, p, th).
    sharpness : β > 0, in units of 1/distance.
    """
    _check(distances)
    if not sharpness > 0:
        raise ModelError("`sharpness` is out of range", got=repr(sharpness), expected="a positive number")

    def gap(q: Any, p: Any, th: Any) -> Any:
        values = jnp.stack([jnp.asarray(distance(q, p, th)) for distance in distances])
        return -logsumexp(-sharpness * values) / sharpness

    return gap


def _check(distances: tuple[Scalar, ...]) -> None:
    if len(distances) < 2 or not all(callable(distance) for distance in distances):
        raise ModelError(
            "the smallest of several distances needs two or more functions",
            got=str(len(distances)),
            expected="functions d(q, p, th)",
        )
