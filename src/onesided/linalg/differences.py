"""Derivatives of functions that are only known by their values: differences, extrapolated until they settle [RI]."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from onesided.base.errors import OnesidedError
from onesided.base.tolerances import EPS, MOST_DIGITS
from onesided.base.types import Array, Mask

FIRST = 0.2  # largest difference, relative to the size of the argument
LEVELS = 7  # differences of one table, each half as long as the one before
COARSER = 16.0  # where the table does not settle, that many times the difference is tried, and one over it
TRIES = 9
ROUNDINGS = 8.0  # by which estimates that have settled may differ
SETTLED = MOST_DIGITS  # relative difference of two extrapolations that agree


def derivative(function: Callable[[float], Array], size: float) -> tuple[Array, Mask]:
    """Derivative of an array at zero, each entry from the table in which it settles best, and which have settled.

    Parameters
    ----------
    size : a change of the argument over which the function changes about as much as it is large; need not be near.
    """
    here = function(0.0)
    best = _none(here)
    for step in _steps(size):
        best = best.or_better(_table(function, FIRST * step, here))
        if np.all(best.settled):
            break
    return best.value, best.settled


class _Estimate(NamedTuple):
    """Derivatives with their relative errors, of which rounding is a part, and whether they agree with others."""

    value: Array
    error: Array
    settled: Mask

    def or_better(self, other: "_Estimate") -> "_Estimate":
        """Of every entry the one with the smaller error, those that have settled first."""
        taken = (other.settled & ~self.settled) | ((other.error < self.error) & (other.settled | ~self.settled))
        return _Estimate(*(np.where(taken, new, old) for new, old in zip(other, self, strict=True)))


def _none(here: Array) -> _Estimate:
    return _Estimate(np.zeros_like(here), np.full(here.shape, np.inf), np.zeros(here.shape, dtype=bool))


def _steps(first: float) -> list[float]:
    """Sizes of the argument that are tried in turn: the first, then around it."""
    return [first * COARSER ** ((k + 1) // 2 * (1 if k % 2 else -1)) for k in range(TRIES)]


def _table(function: Callable[[float], Array], step: float, here: Array) -> _Estimate:
    """Extrapolated central difference of every entry.

    Columns remove the powers h², h⁴, …; the entry of the table that differs least from its neighbours is taken. What
    rounding of the function makes of a difference counts as well: entries that hardly change agree by chance.
    """
    coarser: list[Array] = []
    best = _none(here)
    for level in range(LEVELS):
        h = step * 0.5**level
        try:
            row: list[Array] = [(function(h) - function(-h)) / (2.0 * h)]
        except (OnesidedError, ArithmeticError, ValueError):
            coarser = []
            continue
        for power, coarse in enumerate(coarser, start=1):
            row.append(row[-1] + (row[-1] - coarse) / (4.0**power - 1.0))
        for better, coarse in zip(row[1:], coarser, strict=True):
            best = best.or_better(_judged(better, coarse, EPS * np.abs(here) / h))
        coarser = row
        if np.all(best.settled):
            break
    return best


def _judged(a: Array, b: Array, rounding: Array) -> _Estimate:
    """The first of two estimates, by their difference and the rounding of both."""
    size = np.maximum(np.abs(a), np.abs(b))
    usual = np.where(size == 0.0, 1.0, size)
    with np.errstate(invalid="ignore"):
        apart, floor = np.abs(a - b) / usual, np.where(size == 0.0, 0.0, rounding / usual)
    apart = np.where(np.isnan(apart), np.inf, apart)
    return _Estimate(a, np.maximum(apart, floor), apart <= np.maximum(SETTLED, ROUNDINGS * floor))
