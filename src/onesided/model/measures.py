"""Measures: quantities of a system that are looked at but not solved for, evaluated along a result."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from onesided._types import Array
from onesided.errors import ModelError
from onesided.model.derivatives import Parameters

Measure = Callable[[Any, Any, Any], Any]


def evaluate_measures(
    measures: Mapping[str, Measure], q: Array, p: Array, parameters: Mapping[str, float]
) -> dict[str, Array]:
    """Values of every measure at the points q (N, n), p (N,): name → (N,).

    A function is first called once with whole columns, q[i] being (N,). Where that does not give N values, or not
    those of the function at the last point, it is called point by point.
    """
    th = Parameters(parameters)
    with np.errstate(all="ignore"):  # a measure may be undefined somewhere: it is then not a number
        return {name: _along(name, measure, q, p, th) for name, measure in measures.items()}


def _along(name: str, measure: Measure, q: Array, p: Array, th: Parameters) -> Array:
    last = _scalar(name, measure(q[-1], p[-1], th))
    try:
        values = np.asarray(measure(q.T, p, th), dtype=float)
    except (TypeError, ValueError, IndexError):
        values = np.empty(0)
    if values.shape == p.shape and np.isclose(values[-1], last, equal_nan=True):
        return values
    return np.array([_scalar(name, measure(row, value, th)) for row, value in zip(q, p, strict=True)])


def _scalar(name: str, found: Any) -> float:
    array = np.asarray(found)
    if array.shape != () or array.dtype.kind not in "fiu":
        raise ModelError(
            f"measure '{name}' gives no number", got=f"shape {array.shape}, {array.dtype}", expected="one number"
        )
    return float(array)
