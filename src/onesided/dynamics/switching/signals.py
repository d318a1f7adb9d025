"""Inputs that are constant plus harmonic, and the linear system that generates them."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.complementarity.problems import as_array


@dataclass(frozen=True, eq=False)
class Harmonic:
    """cosine · cos(Ω t) + sine · sin(Ω t).

    Attributes
    ----------
    frequency : float
        Ω > 0 [rad per unit of time].
    cosine, sine : (n,) arrays; None for zero.
    """

    frequency: float
    cosine: ArrayLike | None = None
    sine: ArrayLike | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.frequency) and self.frequency > 0):
            raise UsageError("the frequency of an input is out of range", got=repr(self.frequency), expected="Ω > 0")


@dataclass(frozen=True, eq=False)
class Signal:
    """f(t) = constant + Σ harmonics, (n,).

    Attributes
    ----------
    constant : (n,) array
    harmonics : tuple of Harmonic
    """

    constant: ArrayLike
    harmonics: tuple[Harmonic, ...] = ()
    size: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "constant", as_array(self.constant, "constant", (None,)))
        object.__setattr__(self, "size", np.size(self.constant))

    @property
    def frequencies(self) -> tuple[float, ...]:
        """Frequencies, each once, in rising order."""
        return tuple(sorted({h.frequency for h in self.harmonics}))

    def matrix(self, frequencies: tuple[float, ...]) -> Array:
        """(n, 1 + 2k): f(t) = matrix @ generator(t, frequencies)."""
        F = np.zeros((self.size, 1 + 2 * len(frequencies)))
        F[:, 0] = self.constant
        for h in self.harmonics:
            column = 1 + 2 * frequencies.index(h.frequency)
            for shift, part, name in ((0, h.cosine, "cosine"), (1, h.sine, "sine")):
                if part is not None:
                    F[:, column + shift] += as_array(part, name, (self.size,))
        return F


def generator(t: float, frequencies: tuple[float, ...]) -> Array:
    """(1, cos Ω₁t, sin Ω₁t, …)."""
    pairs = [value for om in frequencies for value in (math.cos(om * t), math.sin(om * t))]
    return np.array([1.0, *pairs])


def generator_matrix(frequencies: tuple[float, ...]) -> Array:
    """R with ġ = R g for g = generator(t)."""
    k = 1 + 2 * len(frequencies)
    R = np.zeros((k, k))
    for i, om in enumerate(frequencies):
        c = 1 + 2 * i
        R[c, c + 1], R[c + 1, c] = -om, om
    return R


def as_signal(values: "Signal | ArrayLike | None", name: str, size: int) -> Signal:
    """Return a signal of the right size; None is zero."""
    if values is None:
        return Signal(np.zeros(size))
    if isinstance(values, Signal):
        if values.size != size:
            raise UsageError(f"`{name}` has the wrong length", got=str(values.size), expected=str(size))
        return values
    return Signal(as_array(values, name, (size,)))
