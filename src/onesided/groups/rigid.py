"""SE(2) and SE(3): positions with rotations, velocities in the axes of the body."""

from dataclasses import dataclass
from typing import Any

from onesided.groups import series
from onesided.groups.group import Group
from onesided.groups.rotations import SO3, cross, dot, rotate, wrap_angle
from onesided.groups.series import namespace

_SO3 = SO3()


def _quarter(a: Any) -> Any:
    """A plane vector turned by a right angle."""
    return namespace(a).stack([-a[..., 1], a[..., 0]], axis=-1)


def _join(xp: Any, *parts: Any) -> Any:
    return xp.concatenate(parts, axis=-1)


def _turn(angle: Any, a: Any) -> Any:
    xp = namespace(a)
    return xp.cos(angle) * a + xp.sin(angle) * _quarter(a)


@dataclass(frozen=True)
class SE2(Group):
    """Plane rigid motions (x, y, φ); v is (velocity of the reference point in body axes, φ̇)."""

    size = 3

    def retract(self, q: Any, delta: Any) -> Any:
        """(x + R(φ) V(δ_φ) δ_x, φ + δ_φ)."""
        turn, move = delta[..., 2:], delta[..., :2]
        sinc, versine = series.turn(turn * turn)
        moved = sinc * move + turn * versine * _quarter(move)
        return _join(namespace(q), q[..., :2] + _turn(q[..., 2:], moved), q[..., 2:] + turn)

    def nudge(self, q: Any, delta: Any) -> Any:
        """The same to second order."""
        turn, move = delta[..., 2:], delta[..., :2]
        moved = move + 0.5 * turn * _quarter(move)
        return _join(namespace(q), q[..., :2] + _turn(q[..., 2:], moved), q[..., 2:] + turn)

    def local(self, q: Any, other: Any) -> Any:
        """The twist from q to other."""
        turn = wrap_angle(other[..., 2:] - q[..., 2:])
        moved = _turn(-q[..., 2:], other[..., :2] - q[..., :2])
        a, versine = series.turn(turn * turn)
        b = turn * versine
        move = (a * moved - b * _quarter(moved)) / (a * a + b * b)
        return _join(namespace(q), move, turn)

    def bracket(self, v: Any, w: Any) -> Any:
        """The bracket [v, w] = ad_v w of two twists, (…, 3)."""
        moved = v[..., 2:] * _quarter(w[..., :2]) - w[..., 2:] * _quarter(v[..., :2])
        return _join(namespace(v), moved, 0.0 * v[..., 2:])

    def coadjoint(self, v: Any, momentum: Any) -> Any:
        """The coadjoint ad_vᵀ π of a momentum, (…, 3)."""
        p = momentum[..., :2]
        return _join(namespace(v), -v[..., 2:] * _quarter(p), -dot(_quarter(v[..., :2]), p))

    def angle_squared(self, delta: Any) -> Any:
        """Squared angle δ_φ² of an increment, (…,)."""
        return delta[..., 2] ** 2

    def wrap(self, q: Any) -> Any:
        """Coordinates with the angle within ±π."""
        return _join(namespace(q), q[..., :2], wrap_angle(q[..., 2:]))


@dataclass(frozen=True)
class SE3(Group):
    """Rigid motions of space (x, θ); v is (velocity of the reference point, angular velocity), both in body axes."""

    size = 6

    def retract(self, q: Any, delta: Any) -> Any:
        """(x + R(θ) V(δ_θ) δ_x, R(θ) R(δ_θ))."""
        move, turn = delta[..., :3], delta[..., 3:]
        versine, slip = series.screw(dot(turn, turn))
        once = cross(turn, move)
        moved = move + versine * once + slip * cross(turn, once)
        return _join(namespace(q), q[..., :3] + rotate(q[..., 3:], moved), _SO3.retract(q[..., 3:], turn))

    def nudge(self, q: Any, delta: Any) -> Any:
        """The same to second order."""
        move, turn = delta[..., :3], delta[..., 3:]
        moved = move + 0.5 * cross(turn, move)
        return _join(namespace(q), q[..., :3] + rotate(q[..., 3:], moved), _SO3.nudge(q[..., 3:], turn))

    def local(self, q: Any, other: Any) -> Any:
        """The twist from q to other."""
        turn = _SO3.local(q[..., 3:], other[..., 3:])
        moved = rotate(-q[..., 3:], other[..., :3] - q[..., :3])
        factor, _ = series.tangent(dot(turn, turn))
        once = cross(turn, moved)
        return _join(namespace(q), moved - 0.5 * once + factor * cross(turn, once), turn)

    def bracket(self, v: Any, w: Any) -> Any:
        """The bracket [v, w] = ad_v w of two twists, (…, 6)."""
        V, W, U, X = v[..., :3], v[..., 3:], w[..., :3], w[..., 3:]
        return _join(namespace(v), cross(W, U) + cross(V, X), cross(W, X))

    def coadjoint(self, v: Any, momentum: Any) -> Any:
        """The coadjoint ad_vᵀ π of a momentum, (…, 6)."""
        V, W, f, m = v[..., :3], v[..., 3:], momentum[..., :3], momentum[..., 3:]
        return _join(namespace(v), cross(f, W), cross(f, V) + cross(m, W))

    def angle_squared(self, delta: Any) -> Any:
        """Squared angle δ_θᵀδ_θ of an increment, (…,)."""
        return _SO3.angle_squared(delta[..., 3:])

    def wrap(self, q: Any) -> Any:
        """The rotation vector within ±π."""
        return _join(namespace(q), q[..., :3], _SO3.wrap(q[..., 3:]))
