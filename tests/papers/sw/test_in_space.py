"""Contact with surface parameters in space: a ball down a plane, an ellipsoid that rocks, against closed forms."""

import jax.numpy as jnp
import numpy as np
import pytest

from onesided import Projected, SurfacePair, System, simulate, surface_start, with_surfaces
from onesided.groups import SO3, Product, Vector, rotate

G = 9.81


def ellipsoid(axes, gravity, ground=lambda s: 0.0 * s[0], rolls=True):
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
        rolls=rolls,
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


@pytest.mark.slow  # compiles for long
def test_ellipsoid_rocks_with_the_frequency_of_its_curvature():
    a, b, c = 0.6, 0.4, 0.3
    system, start = ellipsoid((a, b, c), [0.0, 0.0, -G])
    push = 1e-2
    motion = simulate(system, start, [c * push, 0, 0, 0, push, 0, 0, 0, 0, 0], (0.0, 2.0), method=Projected(rtol=1e-11))
    w = np.sqrt(G * (a**2 / c - c) / ((a**2 + c**2) / 5 + c**2))
    assert motion.q[:, 4] == pytest.approx(push / w * np.sin(w * motion.t), abs=1e-4 * push / w)
    assert motion.drift.energy.max() < 1e-8


@pytest.mark.slow  # compiles for long
def test_ball_in_a_bowl_swings():
    """A ball rolling in the plane of symmetry of a bowl of radius of curvature ρ: ω² = 5 g / (7 (ρ − r))."""
    r, rho = 0.2, 1.0
    system, start = ellipsoid((r, r, r), [0.0, 0.0, -G], lambda s: (s[0] ** 2 + s[1] ** 2) / (2 * rho))
    push = 1e-2
    motion = simulate(system, start, [r * push, 0, 0, 0, push, 0, 0, 0, 0, 0], (0.0, 2.0), method=Projected(rtol=1e-11))
    w = np.sqrt(5 * G / (7 * (rho - r)))
    assert motion.q[:, 0] == pytest.approx(r * push / w * np.sin(w * motion.t), abs=1e-4 * push / w)


def thin_disk(ground, r=1.0, gravity=G):
    """A thin homogeneous disk of unit mass whose rim, a curve, rolls on a surface z = ground(s); upright, along x."""
    base = System(
        coordinates=("x", "y", "z", "ra", "rb", "rc"),
        energy=lambda q, p, th: gravity * q[2],
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, 1.0, r**2 / 4, r**2 / 2, r**2 / 4])),
        space=Product(Vector(3), SO3()),
    )

    def rim(q, s, th):
        return q[:3] + rotate(q[3:], r * jnp.array([jnp.cos(s), 0.0 * s, jnp.sin(s)]))

    pair = SurfacePair(rim, lambda q, s, th: jnp.array([s[0], s[1], ground(s)]), (-np.pi / 2, 0.0, 0.0), rolls=True)
    top = float(ground(np.zeros(2))) + r
    return with_surfaces(base, {"ground": pair}), surface_start(base, {"ground": pair}, [0.0, 0.0, top, 0.0, 0.0, 0.0])


def lean(motion):
    """Angle of the axis of the disk above the horizontal."""
    return np.array([np.arcsin(float(rotate(q[3:6], jnp.array([0.0, 1.0, 0.0]))[2])) for q in motion.q])


@pytest.mark.slow
def test_rim_on_a_wavy_surface_is_the_disk_of_the_plane():
    """The road of the paper, as wide as you like: the tables of the plane hold, its multipliers vanish."""
    system, start = thin_disk(lambda s: 0.5 * jnp.cos(0.4 * jnp.pi * s[0]), gravity=10.0)
    motion = simulate(system, start, [1.0, 0, 0, 0, 1.0, 0, 0, 0, 0], (0.0, 2.0), method=Projected(rtol=1e-11))
    rows = np.array([[1.4437862862, 1.0537189114, 0.9410592807], [4.0825528641, 1.3153089536, 4.4529222003]])
    assert motion.at([1.0, 2.0])[0][:, [0, 2, 7]] == pytest.approx(rows, abs=1e-8)
    names = (*motion.bilateral, *motion.nonholonomic)
    mu = dict(zip(names, motion.mu.T, strict=True))
    assert mu["ground"][0] == pytest.approx(9.558793967737, abs=1e-8)
    assert mu["ground"][-1] == pytest.approx(8.151609758, abs=1e-6)
    for name in ("ground.t1", "ground.t2", "ground.p"):
        assert np.abs(mu[name]).max() < 1e-6
    assert np.abs(motion.q[:, 1]).max() < 1e-9
    assert motion.events == ()


@pytest.mark.slow  # compiles for long
def test_rolling_coin_wobbles_as_it_should():
    """Upright rolling with the spin w: the lean swings with ω² = (12 w² − 4 g/r)/5; the coin turns by 2 w × lean."""
    r, w, push = 0.5, 6.0, 1e-4
    system, start = thin_disk(lambda s: 0.0 * s[0], r)
    speeds = [w * r, -push * r, 0, push, w, 0, 0, 0, 0]
    motion = simulate(system, start, speeds, (0.0, 1.5), method=Projected(rtol=1e-12))
    omega = np.sqrt((12 * w**2 - 4 * G / r) / 5)
    assert lean(motion) == pytest.approx(push / omega * np.sin(omega * motion.t), abs=2e-4 * push / omega)
    assert motion.drift.energy.max() < 1e-9


@pytest.mark.slow
def test_slow_coin_falls_over():
    """Below w² = g/(3 r) the lean grows with the rate ((4 g/r − 12 w²)/5)^½."""
    r, w, push = 0.5, 1.0, 1e-5
    system, start = thin_disk(lambda s: 0.0 * s[0], r)
    motion = simulate(
        system, start, [w * r, -push * r, 0, push, w, 0, 0, 0, 0], (0.0, 1.0), method=Projected(rtol=1e-12)
    )
    rate = np.sqrt((4 * G / r - 12 * w**2) / 5)
    assert lean(motion)[-1] == pytest.approx(push / rate * np.sinh(rate), rel=1e-3)


@pytest.mark.slow  # compiles for long
def test_ellipsoid_that_spins_and_rocks_keeps_its_invariants():
    """On a smooth plane: energy, the momentum along the plane and the vertical angular momentum."""
    a, b, c = 0.6, 0.4, 0.3
    J = np.array([b**2 + c**2, a**2 + c**2, a**2 + b**2]) / 5
    system, start = ellipsoid((a, b, c), [0.0, 0.0, -G], rolls=False)
    motion = simulate(
        system, start, [0.2, -0.1, 0, 0.8, 1.0, 1.2, 0, 0, 0, 0], (0.0, 1.0), method=Projected(rtol=1e-11)
    )
    vertical = [float(rotate(q[3:6], jnp.asarray(J * v[3:6]))[2]) for q, v in zip(motion.q, motion.v, strict=True)]
    assert np.ptp(vertical) < 1e-9
    assert motion.v[:, :2] == pytest.approx(np.tile([0.2, -0.1], (len(motion), 1)), abs=1e-9)
    assert motion.drift.energy.max() < 1e-9
    names = (*motion.bilateral, *motion.nonholonomic)
    N = motion.mu[:, names.index("ground")]
    assert pytest.approx(motion.a[:, 2] + G, abs=1e-7) == N
    heights = motion.q[:, 2]  # support function of the ellipsoid: the height of its centre
    axes = np.array([[float(x) for x in rotate(-q[3:6], jnp.array([0.0, 0.0, 1.0]))] for q in motion.q])
    assert heights == pytest.approx(np.sqrt(((axes * [a, b, c]) ** 2).sum(axis=1)), abs=1e-8)
