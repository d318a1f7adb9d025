"""Exact flow of ż = A z with the first zero of linear guards, to round-off.

Over a step h = 1/‖A‖ the Taylor series of degree 18 is exact in double precision. Zeros of the guards on the step are
those of polynomials; Bernstein coefficients prove where there are none, subdivision isolates the first one.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.polynomial.polynomial import polyval as value
from scipy.linalg import matrix_balance
from scipy.optimize import brentq

from onesided.base.tolerances import EPS
from onesided.base.types import Array

DEGREE = 18  # 1/19! is below round-off
MAX_DEPTH = 48  # halvings of a step
NOISE = 256 * EPS  # of a guard, relative to the sizes of its terms


@cache
def _to_bernstein(degree: int) -> Array:
    """T with b = c @ T: Bernstein coefficients on [0, 1] from powers."""
    T = np.zeros((degree + 1, degree + 1))
    for k in range(degree + 1):
        for j in range(k, degree + 1):
            T[k, j] = math.comb(j, k) / math.comb(degree, k)
    return T


@dataclass(frozen=True, eq=False)
class Flow:
    """Taylor matrices of one mode.

    Attributes
    ----------
    h : length of a step.
    powers : (degree + 1, N, N), Aᵏhᵏ/k!.
    guards : (degree + 1, g, N), the same times the rows of the guards.
    whole : (N, N), e^{Ah}.
    """

    h: float
    powers: Array
    guards: Array
    whole: Array

    @staticmethod
    def of(A: Array, guards: Array, longest: float) -> "Flow":
        """Prepare a mode; no step is longer than `longest`."""
        balanced, _ = matrix_balance(A)
        rate = float(np.abs(balanced).sum(axis=0).max(initial=0.0))
        h = min(longest, 1.0 / rate) if rate > 0 else longest
        powers = np.empty((DEGREE + 1, *A.shape))
        powers[0] = np.eye(len(A))
        for k in range(1, DEGREE + 1):
            powers[k] = powers[k - 1] @ A * (h / k)
        return Flow(h, powers, guards @ powers, powers[::-1].sum(axis=0))

    def advance(self, z: Array, part: float) -> Array:
        """State after the part (0 to 1) of a step."""
        if part == 1.0:
            return self.whole @ z
        return np.asarray(
            np.tensordot(
                part ** np.arange(DEGREE + 1), (self.powers.reshape(-1, len(z)) @ z).reshape(DEGREE + 1, -1), axes=1
            )
        )

    def series(self, z: Array, sizes: Array, count: int) -> Array:
        """(g, degree + 1): rows as polynomials of the part of the step, the first `count` without leading round-off."""
        c = (self.guards.reshape(-1, len(z)) @ z).reshape(DEGREE + 1, -1).T
        for i in np.flatnonzero(np.abs(c[:count, 0]) <= NOISE * (np.abs(self.guards[0, :count]) @ sizes)):
            noise = NOISE * (np.abs(self.guards[:, i]) @ sizes)
            count = int(np.argmax(np.append(np.abs(c[i]) > noise, True)))
            c[i, :count] = 0.0
        return np.asarray(c)


def first_zero(c: Array, end: float = 1.0) -> tuple[float, int] | None:
    """First place in [0, end] where one of the polynomials c (g, degree + 1) falls to zero, and which; or None.

    A polynomial that begins with zeros is judged by its first other coefficient: negative means zero at once.
    """
    if (c[:, 0] > 0).all() and ((c * end ** np.arange(c.shape[1])) @ _to_bernstein(c.shape[1] - 1)).min() > 0:
        return None
    best: tuple[float, int] | None = None
    for i, row in enumerate(c):
        order = int(np.argmax(row != 0.0))
        if row[order] == 0.0:
            continue
        if row[order] < 0:
            return 0.0, i
        shifted = np.concatenate([row[order:], np.zeros(order)])
        zero = _first_zero(shifted, end if best is None else best[0])
        if zero is not None and (best is None or zero < best[0]):
            best = (zero, i)
    return best


def _first_zero(c: Array, end: float) -> float | None:
    """First zero in (0, end] of a polynomial that is positive at 0."""
    b = (c * end ** np.arange(len(c))) @ _to_bernstein(len(c) - 1)
    stack = [(0.0, end, b, 0)]
    while stack:
        low, high, b, depth = stack.pop()
        if b.min() > 0:
            continue
        if b[-1] < 0 < b[0] and np.count_nonzero(np.diff(np.sign(b[b != 0]))) == 1:
            if value(low, c) <= 0 or value(high, c) >= 0:  # round-off at an end
                return low if value(low, c) <= 0 else high
            return float(brentq(lambda tau: value(tau, c), low, high, xtol=EPS, rtol=4 * EPS))
        if depth == MAX_DEPTH:
            return low
        left, right = _halve(b)
        middle = (low + high) / 2
        stack += [(middle, high, right, depth + 1), (low, middle, left, depth + 1)]
    return None


def _halve(b: Array) -> tuple[Array, Array]:
    """Subdivide at the middle, after de Casteljau."""
    left, right = np.empty_like(b), np.empty_like(b)
    for k in range(len(b)):
        left[k], right[-1 - k] = b[0], b[-1]
        b = (b[1:] + b[:-1]) / 2
    return left, right


def peaks(c: Array, end: float) -> Array:
    """Largest value of each polynomial on [0, end] (g,)."""
    powers = end ** np.arange(c.shape[1])
    top = np.maximum(c[:, 0], c @ powers)
    slopes = c[:, 1:] * np.arange(1, c.shape[1])
    for i in np.flatnonzero(slopes[:, 0] > 0):
        if value(end, slopes[i]) < 0:
            place = brentq(lambda tau, i=i: value(tau, slopes[i]), 0.0, end)
            top[i] = max(top[i], value(place, c[i]))
    return np.asarray(top)
