"""Functions of a rotation angle θ that are analytic in x = θ²: series near zero, closed forms elsewhere.

All derivatives are right everywhere, at θ = 0 too: the closed form is never evaluated where it is singular, not even in
the branch of a `where` that is thrown away. Functions that are needed together come in pairs, side by side on the
last axis (where x has length one): half the work for the compiler.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import comb, factorial
from typing import Any

import numpy as np

LIMIT = 0.5  # below this x the series is used; its error is that of round-off
TERMS = 8
LOG_LIMIT = 0.01

Closed = Callable[[Any, Any], Sequence[Any]]


def namespace(x: Any) -> Any:
    """The module (numpy or jax.numpy) an array belongs to."""
    return x.__array_namespace__()


def _analytic(x: Any, coefficients: Any, closed: Closed, limit: float = LIMIT) -> Any:
    """Values side by side; `coefficients` (terms, functions)."""
    xp = namespace(x)
    small = x < limit
    near, far = xp.where(small, x, 0.0), xp.where(small, limit, x)
    total = coefficients[-1] + xp.zeros_like(near)
    for coefficient in coefficients[-2::-1]:
        total = coefficient + near * total
    return xp.where(small, total, xp.concatenate(closed(xp, far), axis=-1))


def _alternating(first: int, scale: float = 1.0) -> list[float]:
    return [(-scale) ** k / factorial(2 * k + first) for k in range(TERMS)]


def _bernoulli(last: int) -> list[float]:
    """Bernoulli numbers B₀ … with B₁ = −1/2, from Σ C(m+1, k) B_k = 0."""
    exact = [Fraction(1)]
    for m in range(1, last + 1):
        exact.append(-sum((comb(m + 1, k) * b for k, b in enumerate(exact)), Fraction(0)) / (m + 1))
    return [float(b) for b in exact]


_B = _bernoulli(2 * TERMS + 8)
_G = [(-1.0) ** k * _B[2 * k] / factorial(2 * k) for k in range(TERMS + 4)]  # (θ/2) cot(θ/2) = Σ G_k x^k
_TURN = np.column_stack([_alternating(1), _alternating(2)])
_SCREW = np.column_stack([_alternating(2), _alternating(3)])
_HALF = np.column_stack([_alternating(0, 0.25), [c / 2.0 for c in _alternating(1, 0.25)]])
_TANGENT = np.column_stack([[-_G[k] for k in range(1, TERMS + 1)], [-k * _G[k + 1] for k in range(1, TERMS + 1)]])
_INVERSE = np.column_stack([
    [-_G[1]] + [(k - 2) * _G[k] for k in range(2, TERMS + 1)], [(k - 1) * _G[k] for k in range(2, TERMS + 2)]
])  # fmt: skip
_ARCSIN = np.array([[2.0 * factorial(2 * k) / (4.0**k * factorial(k) ** 2 * (2 * k + 1))] for k in range(TERMS)])


def _split(values: Any) -> tuple[Any, Any]:
    return values[..., 0:1], values[..., 1:2]


def turn(x: Any) -> tuple[Any, Any]:
    """Sin θ / θ and (1 − cos θ) / θ²."""

    def closed(xp: Any, y: Any) -> list[Any]:
        root = xp.sqrt(y)
        return [xp.sin(root) / root, (1.0 - xp.cos(root)) / y]

    return _split(_analytic(x, _TURN, closed))


def screw(x: Any) -> tuple[Any, Any]:
    """(1 − cos θ) / θ² and (θ − sin θ) / θ³."""

    def closed(xp: Any, y: Any) -> list[Any]:
        root = xp.sqrt(y)
        return [(1.0 - xp.cos(root)) / y, (root - xp.sin(root)) / (y * root)]

    return _split(_analytic(x, _SCREW, closed))


def half(x: Any) -> tuple[Any, Any]:
    """cos(θ/2) and sin(θ/2) / θ."""

    def closed(xp: Any, y: Any) -> list[Any]:
        root = xp.sqrt(y)
        return [xp.cos(root / 2.0), xp.sin(root / 2.0) / root]

    return _split(_analytic(x, _HALF, closed))


def tangent(x: Any) -> tuple[Any, Any]:
    """(1 − (θ/2) cot(θ/2)) / θ² and its derivative by x."""

    def closed(xp: Any, y: Any) -> list[Any]:
        angle = xp.sqrt(y) / 2.0
        G, sine = angle / xp.tan(angle), angle / xp.sin(angle)
        return [(1.0 - G) / y, ((sine**2 - G) / 2.0 - (1.0 - G)) / (y * y)]

    return _split(_analytic(x, _TANGENT, closed))


def inverse(x: Any) -> tuple[Any, Any]:
    """Factors c₂, c₄ of y/(1 − e^−y) = 1 + y/2 + c₂y² + c₄y⁴ on the eigenvalues 0, ±iθ (double) of ad."""

    def closed(xp: Any, y: Any) -> list[Any]:
        angle = xp.sqrt(y) / 2.0
        G, sine = angle / xp.tan(angle), angle / xp.sin(angle)
        fourth = (2.0 - G - sine**2) / (2.0 * y * y)
        return [(1.0 - G) / y + fourth * y, fourth]

    return _split(_analytic(x, _INVERSE, closed))


def arc(s: Any, w: Any) -> Any:
    """θ / sin(θ/2) from s = sin²(θ/2) and w = cos(θ/2), for θ below 2π."""
    xp = namespace(s)
    small = (s < LOG_LIMIT) & (w > 0.0)
    root = xp.sqrt(xp.where(small, LOG_LIMIT, s))
    far = 2.0 * xp.atan2(root, xp.where(small, 1.0, w)) / root
    near = _analytic(xp.where(small, s, 0.0), _ARCSIN, lambda xp, y: [xp.ones_like(y)])
    return xp.where(small, near, far)
