"""Derivatives of functions that are only known by their values: differences, extrapolated until they settle."""

from collections.abc import Callable

import numpy as np

from onesided.base.errors import OnesidedError
from onesided.base.tolerances import EPS
from onesided.base.types import Array

FIRST = 0.2  # largest difference, relative to the size of the argument
LEVELS = 7  # differences of one table, each half as long as the one before
COARSER = 16.0  # where the table does not settle, that many times the difference is tried, and one over it
TRIES = 9
SETTLED = EPS**0.75  # relative difference of two extrapolations that agree


def derivative(function: Callable[[float], Array], size: float) -> tuple[Array, Array]:
    """Derivative of an array at zero, each entry from the table in which it settles best, and its relative errors.

    Parameters
    ----------
    size : a change of the argument over which the function changes about as much as it is large; need not be near.
    """
    here = function(0.0)
    found, error = np.zeros_like(here), np.full(here.shape, np.inf)
    for step in _steps(size):
        value, wrong = _table(function, FIRST * step, here)
        better = wrong < error
        found[better], error[better] = value[better], wrong[better]
        if np.all(error <= SETTLED):
            break
    return found, error


def _steps(first: float) -> list[float]:
    """Sizes of the argument that are tried in turn: the first, then around it."""
    return [first * COARSER ** ((k + 1) // 2 * (1 if k % 2 else -1)) for k in range(TRIES)]


def _table(function: Callable[[float], Array], step: float, here: Array) -> tuple[Array, Array]:
    """Extrapolated central difference of every entry, and its estimated relative error; infinite where there is none.

    Columns remove the powers h², h⁴, …; the entry of the table that differs least from its neighbours is taken.
    """
    coarser: list[Array] = []
    best, wrong = np.zeros_like(here), np.full(here.shape, np.inf)
    for level in range(LEVELS):
        h = step * 0.5**level
        try:
            row = [(function(h) - function(-h)) / (2.0 * h)]
        except (OnesidedError, ArithmeticError, ValueError):
            coarser = []
            continue
        for power, coarse in enumerate(coarser, start=1):
            row.append(row[-1] + (row[-1] - coarse) / (4.0**power - 1.0))
        for better, coarse in zip(row[1:], coarser, strict=True):
            error = _apart(better, coarse)
            taken = error < wrong
            best, wrong = np.where(taken, better, best), np.where(taken, error, wrong)
        coarser = row
        if np.all(wrong <= SETTLED):
            break
    return best, wrong


def _apart(a: Array, b: Array) -> Array:
    """Relative difference of entries; none where both vanish."""
    size = np.maximum(np.abs(a), np.abs(b))
    with np.errstate(invalid="ignore"):
        relative = np.abs(a - b) / np.where(size == 0.0, 1.0, size)
    return np.where(np.isnan(relative), np.inf, relative)
