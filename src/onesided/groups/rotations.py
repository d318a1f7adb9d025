"""SO(2) as an angle, SO(3) as a rotation vector; rotation helpers for models."""

from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np

from onesided.groups import series
from onesided.groups.group import Group
from onesided.groups.series import namespace

ALTERNATING = np.array([  # a @ this is S(a), row after row, with S(a) x = a × x
    [0, 0, 0, 0, 0, -1, 0, 1, 0], [0, 0, 1, 0, 0, 0, -1, 0, 0], [0, -1, 0, 1, 0, 0, 0, 0, 0],
], dtype=float)  # fmt: skip
BEYOND = -0.5  # cosine of half the largest turn that is kept as it is


def cross(a: Any, b: Any) -> Any:
    """A × b along the last axis: products of small matrices take half as long to compile as those of single numbers."""
    xp = namespace(a)
    turned = (a @ xp.asarray(ALTERNATING)).reshape(*a.shape[:-1], 3, 3)
    return (turned @ b[..., None])[..., 0]


def dot(a: Any, b: Any) -> Any:
    """Scalar product along the last axis, which stays with length one."""
    return namespace(a).sum(a * b, axis=-1)[..., None]


def rotate(theta: Any, vector: Any) -> Any:
    """R(θ) x: the vector x of a body turned by the rotation vector θ, seen from outside; both (…, 3)."""
    sinc, versine = series.turn(dot(theta, theta))
    once = cross(theta, vector)
    return vector + sinc * once + versine * cross(theta, once)


def skew(a: Any) -> Any:
    """The matrix S, (3, 3), with S x = a × x."""
    xp = namespace(a)
    zero = 0.0 * a[0]
    return xp.stack([xp.stack([zero, -a[2], a[1]]), xp.stack([a[2], zero, -a[0]]), xp.stack([-a[1], a[0], zero])])


def rotation_matrix(theta: Any) -> Any:
    """R(θ) = exp S(θ), (3, 3), of one rotation vector."""
    sinc, versine = series.turn(dot(theta, theta))
    S = skew(theta)
    return namespace(theta).eye(3) + sinc * S + versine * (S @ S)


def plane_matrix(angle: Any) -> Any:
    """The rotation of the plane, (2, 2)."""
    xp = namespace(angle)
    c, s = xp.cos(angle), xp.sin(angle)
    return xp.array([[c, -s], [s, c]])


def quaternion(theta: Any) -> tuple[Any, Any]:
    """(w, u) of a rotation vector: cos(θ/2) and the axis times sin(θ/2)."""
    w, factor = series.half(dot(theta, theta))
    return w, factor * theta


def rotation_vector(w: Any, u: Any) -> Any:
    """The rotation vector of a unit quaternion (w, u): smooth for turns up to 240°, the opposite turn beyond."""
    sign = namespace(w).where(w < BEYOND, -1.0, 1.0)
    return series.arc(dot(u, u), sign * w) * (sign * u)


def matrix_quaternion(R: Any) -> tuple[Any, Any]:
    """(w, u) of a rotation matrix, for angles below π."""
    xp = namespace(R)
    w = 0.5 * xp.sqrt(1.0 + R[0, 0] + R[1, 1] + R[2, 2])
    return w[None], xp.stack([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4.0 * w)


def half_matrix(w: Any, u: Any) -> Any:
    """Rotation matrix of half the turn of a unit quaternion: I + S(u) + S(u)²/(1 + w)."""
    S = skew(u)
    return namespace(u).eye(3) + S + S @ S / (1.0 + w)


def multiply(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    """Product of quaternions: first b, then a, as rotations."""
    (aw, au), (bw, bu) = a, b
    return aw * bw - dot(au, bu), aw * bu + bw * au + cross(au, bu)


def wrap_angle(angle: Any) -> Any:
    """The same angle within [−π, π]; angles inside are returned unchanged."""
    xp = namespace(angle)
    return angle - 2.0 * pi * xp.round(angle / (2.0 * pi))


@dataclass(frozen=True)
class SO2(Group):
    """Rotations of the plane: one angle."""

    size = 1

    def retract(self, q: Any, delta: Any) -> Any:
        """φ + δ, which may go beyond ±π; see `wrap`."""
        return q + delta

    def local(self, q: Any, other: Any) -> Any:
        """The turn from q to other, within ±π."""
        return wrap_angle(other - q)

    def bracket(self, v: Any, w: Any) -> Any:
        """Zero: turns about one axis commute."""
        return namespace(v).zeros_like(v)

    def coadjoint(self, v: Any, momentum: Any) -> Any:
        """Zero: rotations in the plane commute."""
        return namespace(v).zeros_like(v)

    def angle_squared(self, delta: Any) -> Any:
        """Squared angle δ² of an increment, (…,)."""
        return delta[..., 0] ** 2

    def rate(self, delta: Any, v: Any) -> Any:
        """The velocity v itself: coordinates are flat."""
        return v

    def wrap(self, q: Any) -> Any:
        """Coordinates with the angle within ±π."""
        return wrap_angle(q)


@dataclass(frozen=True)
class SO3(Group):
    """Rotations of space: a rotation vector θ; v is the angular velocity in the axes of the body."""

    size = 3

    def retract(self, q: Any, delta: Any) -> Any:
        """Rotation vector of R(q) R(δ)."""
        return rotation_vector(*multiply(quaternion(q), quaternion(delta)))

    def nudge(self, q: Any, delta: Any) -> Any:
        """θ + θ̇ + θ̈/2 of θ̇ = T⁻¹(θ) δ."""
        c, slope = series.tangent(dot(q, q))
        once = cross(q, delta)
        twice = cross(q, once)
        first = delta + 0.5 * once + c * twice
        once_of_first = cross(first, delta)
        second = 0.5 * once_of_first + c * (cross(first, once) + cross(q, once_of_first))
        second = second + 2.0 * slope * dot(q, first) * twice
        return q + first + 0.5 * second

    def local(self, q: Any, other: Any) -> Any:
        """Rotation vector of R(q)ᵀ R(other), within ±π."""
        return self.wrap(rotation_vector(*multiply(quaternion(-q), quaternion(other))))

    def bracket(self, v: Any, w: Any) -> Any:
        """The cross product v × w."""
        return cross(v, w)

    def coadjoint(self, v: Any, momentum: Any) -> Any:
        """π × v: with π = Jω the gyroscopic moment −ω × Jω."""
        return cross(momentum, v)

    def angle_squared(self, delta: Any) -> Any:
        """Squared angle δᵀδ of an increment, (…,)."""
        return dot(delta, delta)[..., 0]

    def wrap(self, q: Any) -> Any:
        """The same rotation with |θ| ≤ π."""
        xp = namespace(q)
        angle = xp.sqrt(dot(q, q))
        turns = xp.round(angle / (2.0 * pi))
        return xp.where(turns > 0, q * (1.0 - 2.0 * pi * turns / xp.where(turns > 0, angle, 1.0)), q)
