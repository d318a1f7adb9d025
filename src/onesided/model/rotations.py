"""Rotations by rotation vectors: smooth at zero, for NumPy and JAX alike (`xp` is `numpy` or `jax.numpy`)."""

from typing import Any

import numpy as np

SMALL = 0.05  # angles² below this are summed as series


def _series(square: Any, coefficients: tuple[float, ...]) -> Any:
    total = 0.0 * square
    for coefficient in reversed(coefficients):
        total = total * square + coefficient
    return total


def sine_ratio(square: Any, xp: Any = np) -> Any:
    """sin(a)/a as a function of a²."""
    small = square < SMALL
    a = xp.sqrt(xp.where(small, 1.0, square))
    near = _series(square, (1.0, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800))
    return xp.where(small, near, xp.sin(a) / a)


def cosine_ratio(square: Any, xp: Any = np) -> Any:
    """(1 − cos a)/a² as a function of a²."""
    small = square < SMALL
    a = xp.sqrt(xp.where(small, 1.0, square))
    near = _series(square, (1 / 2, -1 / 24, 1 / 720, -1 / 40320, 1 / 3628800, -1 / 479001600))
    return xp.where(small, near, 2.0 * (xp.sin(0.5 * a) / a) ** 2)


def skew(v: Any, xp: Any = np) -> Any:
    """The matrix S with S w = v × w."""
    x, y, z = v[0], v[1], v[2]
    zero = 0.0 * x
    return xp.stack([xp.stack([zero, -z, y]), xp.stack([z, zero, -x]), xp.stack([-y, x, zero])])


def rotation_matrix(v: Any, xp: Any = np) -> Any:
    """R = exp(S(v)) by Rodrigues' formula; v is the rotation vector, |v| the angle."""
    square, S = v @ v, skew(v, xp)
    return xp.eye(3) + sine_ratio(square, xp) * S + cosine_ratio(square, xp) * (S @ S)


def quaternion(v: Any, xp: Any = np) -> Any:
    """Unit quaternion (w, x, y, z) of a rotation vector."""
    quarter = 0.25 * (v @ v)
    return xp.concatenate([_cosine(quarter, xp)[None], 0.5 * sine_ratio(quarter, xp) * v])


def _cosine(square: Any, xp: Any) -> Any:
    return 1.0 - square * cosine_ratio(square, xp)


def quaternion_product(a: Any, b: Any, xp: Any = np) -> Any:
    """The rotation b followed by a."""
    w = a[0] * b[0] - a[1:] @ b[1:]
    return xp.concatenate([w[None], a[0] * b[1:] + b[0] * a[1:] + xp.cross(a[1:], b[1:])])


def conjugate(a: Any, xp: Any = np) -> Any:
    """The inverse rotation."""
    return xp.concatenate([a[:1], -a[1:]])


def rotation_vector(a: Any, xp: Any = np) -> Any:
    """Rotation vector of a unit quaternion, angle between −π and π."""
    a = xp.where(a[0] < 0, -a, a)
    square = a[1:] @ a[1:]
    small = square < SMALL**2
    s = xp.sqrt(xp.where(small, 1.0, square))
    # 2 asin(s)/s for small s; the angle is below π there
    near = 2.0 * _series(square, (1.0, 1 / 6, 3 / 40, 5 / 112, 35 / 1152, 63 / 2816))
    return xp.where(small, near, 2.0 * xp.arctan2(s, a[0]) / s) * a[1:]


def plane_matrix(angle: Any, xp: Any = np) -> Any:
    """Rotation matrix in the plane."""
    c, s = xp.cos(angle), xp.sin(angle)
    return xp.stack([xp.stack([c, -s]), xp.stack([s, c])])


def matrix_quaternion(R: Any, xp: Any = np) -> Any:
    """Unit quaternion of a rotation matrix, for angles below π."""
    w = 0.5 * xp.sqrt(1.0 + R[0, 0] + R[1, 1] + R[2, 2])
    return xp.stack([w, *((R[i, j] - R[j, i]) / (4.0 * w) for i, j in ((2, 1), (0, 2), (1, 0)))])


def half_matrix(a: Any, xp: Any = np) -> Any:
    """Rotation matrix of half the turn of a unit quaternion: I + S(v) + S(v)²/(1 + w)."""
    S = skew(a[1:], xp)
    return xp.eye(3) + S + S @ S / (1.0 + a[0])
