"""Contacts and joints that depend on each other: the motion is unique, forces are shared, and that is told."""

from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest
from contact_models import G

from onesided import Contact, EventDriven, Moreau, Status, System, simulate

B, H, MU = 0.2, 0.1, 0.4
INERTIA = (B**2 + H**2) / 3
CORNERS = {f"c{x}{y}": (x, y) for x in (-1, 1) for y in (-1, 1)}


def box():
    """A box of half width B and half height H over a rough floor, which may be tilted by the angle p."""

    def turned(corner, a):
        return corner[0] * B * jnp.cos(a) - corner[1] * H * jnp.sin(a), corner[0] * B * jnp.sin(a) + corner[
            1
        ] * H * jnp.cos(a)

    def gap(corner):
        return lambda q, p, th: q[1] + turned(corner, q[2])[1]

    def slip(corner):
        return lambda q, v, th: v[0] - v[2] * turned(corner, q[2])[1]

    return System(
        ("x", "y", "a"), lambda q, p, th: G * (q[1] * jnp.cos(p) - q[0] * jnp.sin(p)),
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, INERTIA])),
        unilateral={name: gap(c) for name, c in CORNERS.items()},
        contacts={name: Contact(restitution=0.3, friction=MU, slip=slip(c)) for name, c in CORNERS.items()},
    )  # fmt: skip


BOX = box()


def _height(x, q, p, th):
    return q[0] + x * jnp.sin(q[1])


def _throw(seed):
    rng = np.random.default_rng(seed)
    return [0.0, 0.5, rng.uniform(-3, 3)], [rng.uniform(-2, 2), 0.0, rng.uniform(-10, 10)]


def _lies(motion):
    """Whether the box rests on one of its sides: height, force, and friction within the cone."""
    y, N, T = motion.q[-1, 1], motion.lam[-1], motion.tangential[-1]
    flat = min(abs(y - H), abs(y - B))
    return flat < 1e-6 and abs(N.sum() - G) < 1e-5 * G and np.all(np.abs(T) <= MU * N + 1e-6)


@pytest.mark.parametrize("seed", [0, 3, 6])
@pytest.mark.parametrize("method", [EventDriven(), Moreau(step=2e-3)], ids=["events", "steps"])
def test_box_thrown_on_a_rough_floor_comes_to_rest(method, seed):
    motion = simulate(BOX, *_throw(seed), (0.0, 2.0), method=method)
    assert motion.status is Status.finished
    assert _lies(motion)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 40))
@pytest.mark.parametrize("method", [EventDriven(), Moreau(step=1e-3)], ids=["events", "steps"])
def test_many_boxes(method, seed):
    motion = simulate(BOX, *_throw(seed), (0.0, 3.0), method=method)
    assert motion.status is Status.finished
    assert _lies(motion)


@pytest.mark.parametrize("method", [EventDriven(), Moreau(step=1e-3)], ids=["events", "steps"])
def test_box_that_sticks_and_slides_with_two_corners(method):
    """Tilted below the angle of friction it stays, above it slides with g (sin p − μ cos p)."""
    for p in (0.3, 0.5):
        motion = simulate(BOX, [0.0, H, 0.0], np.zeros(3), (0.0, 0.5), method=method, control=p)
        pull = max(0.0, G * (np.sin(p) - MU * np.cos(p)))
        assert motion.v[-1, 0] == pytest.approx(0.5 * pull, abs=1e-8)
        assert motion.lam[-1].sum() == pytest.approx(G * np.cos(p), rel=1e-8)
        assert motion.tangential[-1].sum() == pytest.approx(
            -G * np.sin(p) if pull == 0.0 else -MU * G * np.cos(p), rel=1e-7
        )
        if pull == 0.0:
            assert set(motion.not_unique) == {"c-1-1", "c1-1"}


def test_box_begins_to_slide_at_the_angle_of_friction():
    """The floor tilts slowly: two corners that share their friction slip together where tan p = μ."""
    motion = simulate(BOX, [0.0, H, 0.0], np.zeros(3), (0.0, 1.0), method=EventDriven(), control=lambda t: 0.5 * t)
    slips = [event for event in motion.events if event.kind.name == "slips"]
    assert {event.name for event in slips} == {"c-1-1", "c1-1"}
    assert [event.t for event in slips] == pytest.approx(np.full(len(slips), 2.0 * np.arctan(MU)), abs=1e-9)


def test_impacts_of_boxes_never_gain_energy():
    motion = simulate(BOX, *_throw(5), (0.0, 1.5), method=Moreau(step=2e-3))
    assert np.max(np.diff(motion.energy - motion.projection)) < 1e-3 * motion.energy[0]


@pytest.mark.parametrize("method", [EventDriven(), Moreau(step=1e-3)], ids=["events", "steps"])
def test_bar_on_three_supports_tells_that_forces_are_a_choice(method):
    bar = System(
        ("y", "a"), lambda q, p, th: G * q[0], mass=lambda q, th: jnp.diag(jnp.array([1.0, 1 / 12])),
        unilateral={f"s{i}": partial(_height, x) for i, x in enumerate((-0.5, 0.0, 0.5))},
    )  # fmt: skip
    motion = simulate(bar, [0.01, 0.0], [0.0, 0.0], (0.0, 0.1), method=method)
    assert motion.lam[-1] == pytest.approx(np.full(3, G / 3))
    assert set(motion.not_unique) == {"s0", "s1", "s2"}
    assert "not unique" in motion.note


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_joint_stated_twice_changes_nothing(scale):
    once = {"rod": lambda q, p, th: (q @ q - 1.0) / 2.0}
    twice = {**once, "copy": lambda q, p, th: scale * (q @ q - 1.0) / 2.0}
    q = [0.9, -np.sqrt(0.19)]
    found = []
    for joints in (once, twice):
        system = System(
            ("x", "y"), lambda q, p, th: G * q[1], mass=lambda q, th: jnp.eye(2), bilateral=joints,
            unilateral={"wall": lambda q, p, th: q[0] + 0.3}, contacts={"wall": Contact(restitution=0.5)},
        )  # fmt: skip
        found.append(simulate(system, q, [0.0, 0.0], (0.0, 1.0), method=Moreau(step=2e-3)))
    assert found[1].q == pytest.approx(found[0].q, abs=1e-9)
    assert set(found[1].not_unique) >= {"rod", "copy"}
    assert found[1].mu[1:, 0] * scale == pytest.approx(found[1].mu[1:, 1], rel=1e-6)
