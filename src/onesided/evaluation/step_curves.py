"""The motion within a step, for compiled calls: the formulas of `dynamics.watching.dense`.

In local coordinates δ of the beginning, with x from 0 to 1 over the step,

    δ(x) = (quintic Hermite interpolant of both ends) + κ (x (1 − x))³,

κ such that the acceleration in the middle is the one of the model.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from onesided.evaluation.smooth_steps import MotionPoint, solved
from onesided.groups.group import Group
from onesided.linalg.interpolants import BEND, BUMP, HERMITE, TOP


def step_powers(space: Group, at: MotionPoint, end: MotionPoint, h: Any) -> Any:
    """Coefficients of the powers of x of the quintic interpolant between two points."""
    delta = space.local(at.q, end.q)
    rate, curve = _rates(space, delta, end.v, end.a)
    data = jnp.stack([0.0 * at.q, h * at.v, h * h * at.a, delta, h * rate, h * h * curve])
    return jnp.concatenate([jnp.asarray(HERMITE.T) @ data, jnp.zeros((1, len(at.q)))])


def middle_of_step(space: Group, powers: Any, at: MotionPoint, h: Any) -> tuple[Any, Any]:
    """Configuration and velocity in the middle of a step."""
    delta, slope = _middle(powers, h)
    return space.retract(at.q, delta), _velocity(space, delta, slope)


def bumped(space: Group, powers: Any, h: Any, a: Any) -> tuple[Any, Any]:
    """The powers with the acceleration `a` in the middle, and the error (n,) of those without."""
    delta, slope = _middle(powers, h)
    _, curve = _rates(space, delta, _velocity(space, delta, slope), a)
    k = np.arange(2, len(BUMP))
    kappa = (h * h * curve - (k * (k - 1) * 0.5 ** (k - 2.0)) @ powers[2:]) / BEND
    kappa = jnp.where(jnp.isfinite(kappa), kappa, 0.0)
    return powers + jnp.outer(jnp.asarray(BUMP), kappa), jnp.abs(kappa) * TOP


def along_step(space: Group, powers: Any, at: MotionPoint, places: Any) -> Any:
    """Configurations at places x of the step: (N, n)."""
    delta = jnp.vander(places, len(BUMP), increasing=True) @ powers
    return space.retract(jnp.broadcast_to(at.q, delta.shape), delta)


def _middle(powers: Any, h: Any) -> tuple[Any, Any]:
    """The local coordinates δ in the middle, and their rate."""
    k = np.arange(len(BUMP))
    slope = (k[1:] * 0.5 ** (k[1:] - 1.0)) @ powers[1:]
    return 0.5**k @ powers, slope / jnp.where(h == 0.0, 1.0, h)


def _rates(space: Group, delta: Any, v: Any, a: Any) -> tuple[Any, Any]:
    """The rates δ̇ and δ̈ of the local coordinates of a motion with velocity v and acceleration a."""
    if space.flat:
        return v, a
    rate = space.rate(delta, v)
    return rate, jax.jvp(space.rate, (delta, v), (rate, a))[1]


def _velocity(space: Group, delta: Any, slope: Any) -> Any:
    """The velocity v of δ̇: the inverse of `rate`, which is linear in v."""
    if space.flat:
        return slope
    columns = jax.vmap(lambda e: space.rate(delta, e), out_axes=1)(jnp.eye(len(slope)))
    return solved(columns, slope[:, None])[0][:, 0]
