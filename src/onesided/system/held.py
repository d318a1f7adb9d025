"""Feedback: functions in ordinary Python that are called at a given rate; their values are held in between."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.types import Array


@checked
@dataclass(frozen=True)
class Sampled:
    """A function of the state that is called at a given rate; its value is held until the next sample.

    Attributes
    ----------
    function : (t, q, v) → value, in ordinary Python and NumPy. As `force=` it returns a force for every coordinate, a
        sequence or name → value (those left out are zero); as `control=` the value of the control parameter.
    rate : samples per time: at the start, then every 1/rate.

    Examples
    --------
    >>> import onesided
    >>> brake = onesided.Sampled(lambda t, q, v: -2.0 * v, rate=100.0)
    """

    function: Callable[[float, Array, Array], Any]
    rate: float

    def __post_init__(self) -> None:
        if not 0.0 < self.rate < math.inf:
            raise UsageError("a sampling rate is out of range", got=repr(self.rate), expected="a positive number")


class Held:
    """Values held between samples: of the control parameter, and forces beside those of the model."""

    def __init__(self, n: int) -> None:
        self._zero = np.zeros(n)
        self._times: list[float] = []
        self._values: list[tuple[float, Array]] = []

    @property
    def p(self) -> float:
        """The control parameter since the last sample; 0 before the first."""
        return self._values[-1][0] if self._values else 0.0

    @property
    def force(self) -> Array:
        """The forces (n,) since the last sample; zero before the first."""
        return self._values[-1][1] if self._values else self._zero

    def put(self, t: float, p: float, force: Array) -> None:
        """Hold these values from a time on."""
        self._times.append(t)
        self._values.append((p, force))

    def at(self, t: Array) -> tuple[Array, Array]:
        """Control parameter (N,) and forces (N, n) at times, from each sample on."""
        if not self._values:
            return np.zeros(len(t)), np.zeros((len(t), len(self._zero)))
        places = np.maximum(np.searchsorted(self._times, t, side="right") - 1, 0)
        return np.array([p for p, _ in self._values])[places], np.array([f for _, f in self._values])[places]


def force_from(value: Any, names: tuple[str, ...]) -> Array:
    """A force for every coordinate, from what a function returned.

    Raises
    ------
    ValueError, TypeError
        What does not fit, in words.
    """
    if isinstance(value, Mapping):
        unknown = [name for name in value if name not in names]
        if unknown:
            raise ValueError(f"returned a force on '{unknown[0]}', expected some of {', '.join(names)}")
        value = [value.get(name, 0.0) for name in names]
    found = np.array(value, dtype=float)
    if found.shape != (len(names),):
        raise ValueError(f"returned shape {found.shape}, expected ({len(names)},): one force for every coordinate")
    return _finite(found)


def number_from(value: Any) -> float:
    """One number, from what a function returned."""
    found = np.array(value, dtype=float)
    if found.shape != ():
        raise ValueError(f"returned shape {found.shape}, expected one number")
    return float(_finite(found))


def _finite(found: Array) -> Array:
    if not np.all(np.isfinite(found)):
        raise ValueError(f"returned {found}, expected finite numbers")
    return found
