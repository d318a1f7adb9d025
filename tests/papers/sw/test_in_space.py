"""Contact with surface parameters in space: a ball down a plane, an ellipsoid that rocks, against closed forms."""

import jax.numpy as jnp
import numpy as np
import pytest

from onesided import Projected, SurfacePair, System, simulate, surface_start, with_surfaces
from onesided.groups import SO3, Product, Vector, rotate

G = 9.81


def ellipsoid(axes, gravity, ground=lambda s: 0.0 * s[0]):
    """A homogeneous ellipsoid of unit mass that rolls on a surface z = ground(s)."""
    a, b, c = axes
    J = np.array([b**2 + c**2, a**2 + c**2, a**2 + b**2]) / 5
    base = System(
        coordinates=("x", "y", "z", "ra", "rb", "rc"),
        energy=lambda q, p, th: -jnp.asarray(gravity) @ q[:3],
        mass=lambda q, th: jnp.diag(jnp.concatenate([jnp.ones(3), jnp.asarray(J)])),
        space=Product(Vector(3), SO3()),
    )

    def surface(q, s, th):  # poles on the long axis, away from the contact; this order of parameters: normal inwards
        u, w = s[1], s[0]
        local = jnp.array([a * jnp.cos(u), b * jnp.sin(u) * jnp.cos(w), c * jnp.sin(u) * jnp.sin(w)])
        return q[:3] + rotate(q[3:], local)

    pair = SurfacePair(
        first=surface,
        second=lambda q, s, th: jnp.array([s[0], s[1], ground(s)]),
        start=(-np.pi / 2, np.pi / 2, 0.0, 0.0),
        rolls=True,
    )
    pairs = {"ground": pair}
    return with_surfaces(base, pairs), surface_start(
        base, pairs, [0.0, 0.0, c + float(ground(np.zeros(2))), 0.0, 0.0, 0.0]
    )


def test_ball_rolls_down_a_plane():
    slope = 0.2
    system, start = ellipsoid((0.5, 0.5, 0.5), [G * np.sin(slope), 0.0, -G * np.cos(slope)])
    motion = simulate(system, start, np.zeros(10), (0.0, 0.4), method=Projected(rtol=1e-11))
    assert motion.q[-1, 0] == pytest.approx(5 / 7 * G * np.sin(slope) * 0.4**2 / 2, abs=1e-9)
    names = (*motion.bilateral, *motion.nonholonomic)
    mu = dict(zip(names, motion.mu.T, strict=True))
    assert mu["ground"] == pytest.approx(G * np.cos(slope), abs=1e-8)
    friction = np.hypot(mu["ground.rolls1"], mu["ground.rolls2"])
    assert friction == pytest.approx(2 / 7 * G * np.sin(slope), abs=1e-8)
    for name in ("ground.t1", "ground.t2", "ground.p1", "ground.p2"):
        assert np.abs(mu[name]).max() < 1e-7
    assert motion.drift.energy.max() < 1e-9


def test_ellipsoid_rocks_with_the_frequency_of_its_curvature():
    a, b, c = 0.6, 0.4, 0.3
    system, start = ellipsoid((a, b, c), [0.0, 0.0, -G])
    push = 1e-2
    motion = simulate(system, start, [c * push, 0, 0, 0, push, 0, 0, 0, 0, 0], (0.0, 2.0), method=Projected(rtol=1e-11))
    w = np.sqrt(G * (a**2 / c - c) / ((a**2 + c**2) / 5 + c**2))
    assert motion.q[:, 4] == pytest.approx(push / w * np.sin(w * motion.t), abs=1e-4 * push / w)
    assert motion.drift.energy.max() < 1e-8


def test_ball_in_a_bowl_swings():
    """A ball rolling in the plane of symmetry of a bowl of radius of curvature ρ: ω² = 5 g / (7 (ρ − r))."""
    r, rho = 0.2, 1.0
    system, start = ellipsoid((r, r, r), [0.0, 0.0, -G], lambda s: (s[0] ** 2 + s[1] ** 2) / (2 * rho))
    push = 1e-2
    motion = simulate(system, start, [r * push, 0, 0, 0, push, 0, 0, 0, 0, 0], (0.0, 2.0), method=Projected(rtol=1e-11))
    w = np.sqrt(5 * G / (7 * (rho - r)))
    assert motion.q[:, 0] == pytest.approx(r * push / w * np.sin(w * motion.t), abs=1e-4 * push / w)
