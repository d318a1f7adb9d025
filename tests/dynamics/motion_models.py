"""Small systems with known motions."""

import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from scipy.special import ellipj, ellipk

from onesided import System

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

G = 9.81
EXAMPLES = {"bars": "ex10_four_bars", "top": "ex11_heavy_top"}
TOP_END = np.array([0.173343964, 0.640088592, -0.748490791])


def example(name):
    """A module of the examples, which runs its motion when it is first needed."""
    return import_module(EXAMPLES[name])


@cache
def four_bars(N):
    return example("bars").four_bars(N)


def four_bars_start(N, side, speed):
    return example("bars").four_bars_start(N, side, speed)


@cache
def heavy_top(space=None):
    return example("top").heavy_top(space)


def pendulum(**changes):
    """A point mass on a rod of length l, in Cartesian coordinates."""
    return changed_pendulum(**changes) if changes else plain_pendulum()


@cache
def plain_pendulum():
    return changed_pendulum()


def changed_pendulum(**changes):
    parts = dict(  # noqa: C408
        coordinates=("x", "y"),
        energy=lambda q, p, th: th.m * th.g * q[1],
        bilateral={"rod": lambda q, p, th: 0.5 * (q @ q - th.l**2)},
        parameters={"m": 1.0, "g": G, "l": 1.0},
        mass=lambda q, th: th.m * jnp.eye(2),
    )
    return System(**{**parts, **changes})


def swing(t, angle, *, g=G, l=1.0):  # noqa: E741
    """Exact (θ, θ̇) of a pendulum released at rest at an angle from the downward vertical."""
    k, w = np.sin(angle / 2), np.sqrt(g / l)
    sn, cn, dn, _ = ellipj(ellipk(k**2) - w * np.asarray(t), k**2)
    return 2 * np.arcsin(k * sn), -2 * k * w * cn * dn / np.sqrt(1 - (k * sn) ** 2)


def on_circle(angle, rate, l=1.0):  # noqa: E741
    """Position and velocity of the bob."""
    q = l * np.array([np.sin(angle), -np.cos(angle)])
    return q, rate * l * np.array([np.cos(angle), np.sin(angle)])


@cache
def platform(s=(-1.0, 0.0, 2.0), scale=(1.0, 1.0, 1.0), cranks=(0, 1, 2)):
    """REFERENCE F.2: a platform on parallel cranks."""

    def crank(i):
        def c(q, p, th):
            r = jnp.array([q[0] + s[i] * jnp.cos(q[2]) - s[i], q[1] + s[i] * jnp.sin(q[2])])
            return scale[i] * 0.5 * (r @ r - th.l**2)

        return c

    return System(
        coordinates=("x", "y", "theta"),
        energy=lambda q, p, th: 2.0 * G * q[1],
        bilateral={f"crank {i + 1}": crank(i) for i in cranks},
        parameters={"l": 1.5},
        mass=lambda q, th: jnp.diag(jnp.array([2.0, 2.0, 0.5])),
    )


def platform_start(alpha=-np.pi / 3, rate=1.2, l=1.5):  # noqa: E741
    q = np.array([l * np.cos(alpha), l * np.sin(alpha), 0.0])
    return q, np.array([-l * np.sin(alpha) * rate, l * np.cos(alpha) * rate, 0.0])


def heavy_top_start(system):
    assert system.space is not None
    return example("top").START, example("top").SPEED  # the same in both axes: the top starts unrotated


@cache
def quaternion_top():
    """The same with a unit quaternion and its length as a constraint: an independent second route.

    Body angular velocity Ω = 2 E(e) ė with E (3, 4); only the tip-based inertia enters.
    """
    top = example("top")
    arm, mass = top.ARM, top.MASS
    J = top.INERTIA + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))

    def E(e):
        w, x, y, z = e
        return jnp.array([[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])

    def height(e):
        w, x, y, z = e
        # third row of the rotation matrix, times the body vector of the centre of mass
        return jnp.array([2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z]) @ arm

    def kinetic(e, v, th):
        omega = 2.0 * E(e) @ v
        # the length of e has inertia of its own, which the constraint makes idle
        return 0.5 * omega @ J @ omega + 0.5 * (e @ v) ** 2

    return System(
        coordinates=("e0", "e1", "e2", "e3"),
        energy=lambda e, p, th: mass * G * height(e) / (e @ e),
        bilateral={"unit": lambda e, p, th: e @ e - 1.0},
        kinetic=kinetic,
    )


def quaternion_position(e):
    w, x, y, z = e
    column = np.array([2 * (x * y - w * z), w * w - x * x + y * y - z * z, 2 * (y * z + w * x)])
    return column * example("top").ARM[1]
