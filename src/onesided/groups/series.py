"""Functions of a rotation angle θ that are analytic in x = θ²: series near zero, closed forms elsewhere.

All derivatives are right everywhere, at θ = 0 too: the closed form is never evaluated where it is singular, not even in
the branch of a `where` that is thrown away.
"""

from collections.abc import Callable, Sequence
from math import factorial
from typing import Any

from scipy.special import bernoulli

LIMIT = 1.0  # below this x the series is used
TERMS = 14
LOG_LIMIT = 0.02


def namespace(x: Any) -> Any:
    """The module (numpy or jax.numpy) an array belongs to."""
    return x.__array_namespace__()


def _analytic(x: Any, coefficients: Sequence[float], closed: Callable[[Any, Any], Any], limit: float = LIMIT) -> Any:
    xp = namespace(x)
    small = x < limit
    near, far = xp.where(small, x, 0.0), xp.where(small, limit, x)
    total = xp.zeros_like(x)
    for coefficient in reversed(coefficients):
        total = coefficient + near * total
    return xp.where(small, total, closed(xp, far))


def _alternating(first: int, scale: float = 1.0) -> tuple[float, ...]:
    return tuple((-scale) ** k / factorial(2 * k + first) for k in range(TERMS))


_COS, _SIN, _VERS, _SLIP = (_alternating(first) for first in range(4))
_HALF_COS, _HALF_SIN = _alternating(0, 0.25), tuple(c / 2.0 for c in _alternating(1, 0.25))
_B = bernoulli(2 * TERMS + 8)
_G = [(-1.0) ** k * _B[2 * k] / factorial(2 * k) for k in range(TERMS + 4)]  # (θ/2) cot(θ/2) = Σ G_k x^k
_SECOND = tuple([-_G[1]] + [(k - 2) * _G[k] for k in range(2, TERMS + 2)])
_FOURTH = tuple((k - 1) * _G[k] for k in range(2, TERMS + 2))
_ARCSIN = tuple(2.0 * factorial(2 * k) / (4.0**k * factorial(k) ** 2 * (2 * k + 1)) for k in range(TERMS))


def cos(x: Any) -> Any:
    """Cos θ."""
    return _analytic(x, _COS, lambda xp, y: xp.cos(xp.sqrt(y)))


def sinc(x: Any) -> Any:
    """Sin θ / θ."""
    return _analytic(x, _SIN, lambda xp, y: xp.sin(xp.sqrt(y)) / xp.sqrt(y))


def versine(x: Any) -> Any:
    """(1 − cos θ) / θ²."""
    return _analytic(x, _VERS, lambda xp, y: (1.0 - xp.cos(xp.sqrt(y))) / y)


def slip(x: Any) -> Any:
    """(θ − sin θ) / θ³."""
    return _analytic(x, _SLIP, lambda xp, y: (xp.sqrt(y) - xp.sin(xp.sqrt(y))) / (y * xp.sqrt(y)))


def half_cos(x: Any) -> Any:
    """Cos(θ/2)."""
    return _analytic(x, _HALF_COS, lambda xp, y: xp.cos(xp.sqrt(y) / 2.0))


def half_sinc(x: Any) -> Any:
    """Sin(θ/2) / θ."""
    return _analytic(x, _HALF_SIN, lambda xp, y: xp.sin(xp.sqrt(y) / 2.0) / xp.sqrt(y))


def arc(s: Any, w: Any) -> Any:
    """θ / sin(θ/2) from s = sin²(θ/2) and w = cos(θ/2), for θ below 2π."""
    xp = namespace(s)
    small = (s < LOG_LIMIT) & (w > 0.0)
    root = xp.sqrt(xp.where(small, LOG_LIMIT, s))
    far = 2.0 * xp.atan2(root, xp.where(small, 1.0, w)) / root
    return xp.where(small, _analytic(xp.where(small, s, 0.0), _ARCSIN, lambda xp, y: xp.ones_like(y)), far)


def inverse_second(x: Any) -> Any:
    """Factor c₂ of x/(1 − e^−x) = 1 + x/2 + c₂x² + c₄x⁴ on the eigenvalues 0, ±iθ (double) of ad."""
    return _analytic(x, _SECOND, _second_closed)


def inverse_fourth(x: Any) -> Any:
    """Factor c₄ of the same."""
    return _analytic(x, _FOURTH, _fourth_closed)


def _fourth_closed(xp: Any, y: Any) -> Any:
    half = xp.sqrt(y) / 2.0
    G = half / xp.tan(half)
    return (G - (half / xp.sin(half)) ** 2 + 2.0 * (1.0 - G)) / (2.0 * y * y)


def _second_closed(xp: Any, y: Any) -> Any:
    half = xp.sqrt(y) / 2.0
    return (1.0 - half / xp.tan(half)) / y + _fourth_closed(xp, y) * y
