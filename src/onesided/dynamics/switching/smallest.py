"""The smallest of several distances: as smooth pieces with located changes, or smoothed on request [AR]."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.types import Array

Piece = Callable[[float, Array, Array], float]


@dataclass(frozen=True, eq=False)
class Smallest:
    """The smallest of smooth functions of (t, x, s): use `value` in `slack`, `kinks` as `kinks` of a `SlacknessSystem`.

    Attributes
    ----------
    pieces : two or more functions.
    """

    pieces: tuple[Piece, ...]

    def __post_init__(self) -> None:
        _check(self.pieces)

    def value(self, t: float, x: Array, s: Array) -> float:
        """Value of the smallest piece, a scalar."""
        return min(float(piece(t, x, s)) for piece in self.pieces)

    def which(self, t: float, x: Array, s: Array) -> int:
        """Index of the smallest piece."""
        return int(np.argmin([piece(t, x, s) for piece in self.pieces]))

    def kinks(self, t: float, x: Array, s: Array) -> Array:
        """Differences of all pairs of pieces: the smallest changes only where one of them is zero."""
        values = [float(piece(t, x, s)) for piece in self.pieces]
        return np.array([a - b for a, b in combinations(values, 2)])


@dataclass(frozen=True, eq=False)
class Smoothed:
    """−log Σ exp(−β dⱼ)/β: a smooth function below the smallest dⱼ by at most log(number)/β.

    Attributes
    ----------
    pieces : two or more functions.
    sharpness : β, in units of 1/distance.
    """

    pieces: tuple[Piece, ...]
    sharpness: float

    def __post_init__(self) -> None:
        _check(self.pieces)
        if not (np.isfinite(self.sharpness) and self.sharpness > 0):
            raise UsageError("`sharpness` is out of range", got=repr(self.sharpness), expected="a positive number")

    def value(self, t: float, x: Array, s: Array) -> float:
        """The smoothed minimum −log(Σ exp(−β f_i))/β of the pieces f_i."""
        values = np.array([piece(t, x, s) for piece in self.pieces], dtype=float)
        low = values.min()
        return float(low - np.log(np.exp(-self.sharpness * (values - low)).sum()) / self.sharpness)


def _check(pieces: tuple[Piece, ...]) -> None:
    if len(pieces) < 2 or not all(callable(piece) for piece in pieces):
        raise UsageError("pieces are two or more functions", got=repr(pieces), expected="functions of (t, x, s)")
