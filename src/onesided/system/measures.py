"""Measures: quantities of a system that are looked at but not solved for, evaluated along a result."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from onesided.base.errors import ModelError
from onesided.base.types import Array
from onesided.evaluation.user_functions import Parameters

Scalar = Callable[[Any, Any, Any], Any]


@dataclass(frozen=True)
class Elementwise:
    """A measure that may be called once for a whole result: q[i] and p are then (N,), and so is its value.

    With a `column` the value is (N, d), and the measure that column of it: measures of one function share one call.
    """

    function: Scalar
    column: int | None = None


@dataclass(frozen=True)
class OfMembers:
    """A measure of a composed structure that uses its member results: function(q, p, th, members), elementwise."""

    function: Callable[[Any, Any, Any, Mapping[str, Array]], Any]


Measure = Scalar | Elementwise | OfMembers


def evaluate_measures(
    measures: Mapping[str, Measure],
    q: Array,
    p: Array,
    parameters: Mapping[str, float],
    members: Mapping[str, Array] | None = None,
) -> dict[str, Array]:
    """Values of every measure at the points q (N, n), p (N,): name → (N,); those of members where these are known."""
    th, found, shared = Parameters(parameters), dict[str, Array](), dict[Scalar, Array]()
    with np.errstate(all="ignore"):  # a measure may be undefined somewhere: it is then not a number
        for name, measure in measures.items():
            if not isinstance(measure, OfMembers):
                found[name] = _along(name, measure, (q, p, th), shared)
            elif members is not None:
                found[name] = np.asarray(measure.function(q.T, p, th, members), dtype=float)
    return found


def _along(
    name: str, measure: Scalar | Elementwise, course: tuple[Array, Array, Parameters], shared: dict[Scalar, Array]
) -> Array:
    q, p, th = course
    if isinstance(measure, Elementwise):
        whole = shared.get(measure.function)
        found = np.asarray(measure.function(q.T, p, th), dtype=float) if whole is None else whole
        if measure.column is not None:
            shared[measure.function] = found
            return np.asarray(found[:, measure.column])
        return found if found.shape == p.shape else np.broadcast_to(found, p.shape)
    return np.array([_scalar(name, measure(row, value, th)) for row, value in zip(q, p, strict=True)])


def _scalar(name: str, found: Any) -> float:
    array = np.asarray(found)
    if array.shape != () or array.dtype.kind not in "fiu":
        raise ModelError(
            f"measure '{name}' gives no number", got=f"shape {array.shape}, {array.dtype}", expected="one number"
        )
    return float(array)
