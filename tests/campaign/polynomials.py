"""Real roots of polynomials in one variable, polished, and refused where they cannot be told apart."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

UNCLEAR = 1e-9  # imaginary part, relative to the interval, below which a double root is not decided


class UndecidedError(ValueError):
    """The truth itself hangs on round-off."""


def real_roots(f: Any, size: float) -> list[float]:
    """Simple real roots of f within a few `size` of zero, in order; what is no polynomial finds its own."""
    if not isinstance(f, Polynomial):
        return list(f.real_roots(size))
    f = trimmed(f, size)
    if f.degree() == 0:
        return []
    roots = np.asarray(f.roots(), dtype=complex)
    near = roots[np.abs(roots) < 50 * size]
    doubtful = np.abs(near.imag) <= np.sqrt(UNCLEAR) * size
    slope = f.deriv()
    found = []
    for root in near[doubtful].real:
        x = float(root)
        for _ in range(4):
            x -= float(f(x) / slope(x)) if slope(x) else 0.0
        if abs(x - root) > UNCLEAR * size:
            raise UndecidedError("a double root")
        found.append(x)
    found.sort()
    if any(b - a < UNCLEAR * size for a, b in pairwise(found)):
        raise UndecidedError("two roots in one place")
    return found


def trimmed(f: Polynomial, size: float) -> Polynomial:
    """Without leading coefficients that do not count within 50 sizes."""
    weights = np.abs(f.coef) * (50 * size) ** np.arange(len(f.coef))
    keep = np.flatnonzero(weights > 1e-14 * max(weights.max(), 1e-300))
    return Polynomial(f.coef[: keep[-1] + 1]) if len(keep) else Polynomial([0.0])
