"""Functions of one variable that are no polynomials: values with derivatives, and all roots of an interval."""

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from .polynomials import UndecidedError

ORDER = 4  # derivatives that are known, the function itself among them
WIDEST = 7.0  # of the interval that is searched, in sizes
UNCLEAR = 1e-10  # an extremum this close to zero, relative to the usual value, is no decision
HALVINGS = 50
Jet = np.ndarray  # a row per derivative


@dataclass(frozen=True, eq=False)
class Smooth:
    """A function by its derivatives at given places, on the interval on which it is regular.

    Attributes
    ----------
    jet : places → derivatives of order 0, 1, …, a row each.
    finest : distance over which the function changes; the search for roots is eight times finer.
    """

    jet: Callable[[Any], Jet]
    finest: float = 1.0
    ends: tuple[float, float] = (-np.inf, np.inf)

    __array_ufunc__ = None  # NumPy leaves arithmetic to this class

    def __call__(self, x: Any) -> Any:
        return self.jet(np.asarray(x, dtype=float))[0]

    def deriv(self, order: int = 1) -> "Smooth":
        return Smooth(lambda x: self.jet(x)[order:], self.finest, self.ends)

    def __add__(self, other: Any) -> "Smooth":
        return self._with(other, lambda a, b: a[: len(b)] + b[: len(a)])

    def __mul__(self, other: Any) -> "Smooth":
        return self._with(other, leibniz)

    def __neg__(self) -> "Smooth":
        return self * -1.0

    def __sub__(self, other: Any) -> "Smooth":
        return self + -1.0 * as_smooth(other)

    def __rsub__(self, other: Any) -> "Smooth":
        return -self + other

    __radd__, __rmul__ = __add__, __mul__

    def _with(self, other: Any, rule: Callable[[Jet, Jet], Jet]) -> "Smooth":
        o = as_smooth(other)
        ends = max(self.ends[0], o.ends[0]), min(self.ends[1], o.ends[1])
        return Smooth(lambda x: rule(self.jet(x), o.jet(x)), min(self.finest, o.finest), ends)

    def real_roots(self, size: float) -> list[float]:
        """All roots: between the zeros of the first derivative there is one at most."""
        low, high = max(self.ends[0], -WIDEST * size), min(self.ends[1], WIDEST * size)
        margin = 1e-6 * (high - low)
        x = np.linspace(low + margin, high - margin, int(8 * (high - low) / self.finest) + 100)
        turns = zeros_between(self.deriv(), x)
        x = np.sort(np.concatenate([x, turns]))
        values = self(x)
        at = np.searchsorted(x, turns)
        at = at[(at > 0) & (at < len(x) - 1)]
        if np.any(np.abs(values[at]) <= UNCLEAR * np.median(np.abs(values))):
            raise UndecidedError("a double root")
        return [float(root) for root in zeros_between(self, x)]


def zeros_between(f: Smooth, x: np.ndarray) -> np.ndarray:
    """One zero between any two neighbouring places at which the signs differ, all by bisection at once."""
    values = f(x)
    k = np.flatnonzero(values[:-1] * values[1:] < 0)
    low, high, sign = x[k], x[k + 1], np.sign(values[k])
    for _ in range(HALVINGS if len(k) else 0):
        middle = (low + high) / 2
        same = f(middle) * sign > 0
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return (low + high) / 2


def as_smooth(f: Any) -> Smooth:
    """A polynomial, a number or a smooth function as smooth function."""
    if isinstance(f, Smooth):
        return f
    f = f if isinstance(f, Polynomial) else Polynomial([float(f)])
    return Smooth(lambda x: np.array([f.deriv(k)(x) if k else f(x) for k in range(ORDER)]))


def leibniz(a: Jet, b: Jet) -> Jet:
    """Derivatives of a product."""
    n = min(len(a), len(b))
    return np.array([sum(comb(k, i) * a[i] * b[k - i] for i in range(k + 1)) for k in range(n)])


def wave(height: float, rate: float, phase: float) -> Smooth:
    """height · cos(rate x + phase)."""
    return Smooth(
        lambda x: np.array([height * rate**k * np.cos(rate * x + phase + k * np.pi / 2) for k in range(ORDER)]),
        1 / abs(rate),
    )


def growth(height: float, rate: float) -> Smooth:
    """height · exp(rate x)."""
    return Smooth(lambda x: np.array([height * rate**k * np.exp(rate * x) for k in range(ORDER)]), 1 / abs(rate))


def pole(height: float, at: float) -> Smooth:
    """height / |x − at|, on the side of zero."""
    sign = -np.sign(at)
    ends = (at, np.inf) if at < 0 else (-np.inf, at)
    return Smooth(
        lambda x: np.array([sign * height * (-1) ** k * factorial(k) / (x - at) ** (k + 1) for k in range(ORDER)]),
        0.1,
        ends,
    )


def hill(height: float, at: float, width: float) -> Smooth:
    """height / (1 + ((x − at)/width)²), the imaginary part of a pole beside the real axis."""

    def jet(x: Any) -> Jet:
        z = (x - at) / width - 1j
        return np.array([height * np.imag((-1) ** k * factorial(k) / z ** (k + 1)) / width**k for k in range(ORDER)])

    return Smooth(jet, width)
