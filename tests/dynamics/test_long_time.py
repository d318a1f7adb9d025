"""Variational steps: second order, joints exact, momenta kept, energy without drift over many steps."""

import jax.numpy as jnp
import numpy as np
import pytest

import onesided
from onesided import Projected, System, Variational, simulate
from onesided.groups import SO3, rotation_matrix

G = 9.81


@pytest.fixture(scope="module")
def pendulum():
    return System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: G * q[1],
        bilateral={"rod": lambda q, p, th: (q @ q - 1.0) / 2},
        mass=lambda q, th: jnp.eye(2),
    )


@pytest.fixture(scope="module")
def knife():
    """A knife edge on a slope: no slip sideways; x = g sin²(wt)/(2 w²) from rest with spin w [slope g/2 here]."""
    return System(
        coordinates=("x", "y", "phi"),
        energy=lambda q, p, th: -0.5 * G * q[0],
        mass=lambda q, th: jnp.eye(3),
        nonholonomic={"edge": lambda q, v, th: jnp.sin(q[2]) * v[0] - jnp.cos(q[2]) * v[1]},
    )


def test_second_order_with_exact_joints(pendulum):
    exact = simulate(pendulum, [1.0, 0.0], [0.0, 0.0], (0.0, 1.0), method=Projected(rtol=1e-11)).q[-1]
    found = [
        simulate(pendulum, [1.0, 0.0], [0.0, 0.0], (0.0, 1.0), method=Variational(step=h)) for h in (0.02, 0.01, 0.005)
    ]
    off = [np.max(np.abs(motion.q[-1] - exact)) for motion in found]
    assert np.log2(np.divide(off[:-1], off[1:])) == pytest.approx([2.0, 2.0], abs=0.05)
    assert max(motion.drift.worst for motion in found) < 1e-14
    assert found[0].t[-1] == 1.0


def test_energy_swings_and_does_not_drift(pendulum):
    """The swing is as wide in the last tenth of 40 000 steps as in the first, and its mean is the same."""
    motion = simulate(pendulum, [1.0, 0.0], [0.0, 0.0], (0.0, 400.0), method=Variational(step=0.01, every=17))
    off = motion.energy - motion.energy[0]
    first, last = np.array_split(off, 10)[0], np.array_split(off, 10)[-1]
    swing = np.ptp(first)
    assert abs(np.mean(last) - np.mean(first)) < 0.05 * swing
    assert np.ptp(last) == pytest.approx(swing, rel=0.1)
    assert len(motion) == -(-40_000 // 17) + 1


def test_momenta_of_symmetries_are_kept():
    """A dumbbell with a spring, thrown: nothing acts from outside."""
    masses = np.array([1.0, 1.0, 3.0, 3.0])
    dumbbell = System(
        coordinates=("x", "y", "X", "Y"),
        energy=lambda q, p, th: 40.0 * (jnp.sqrt(jnp.sum((q[2:] - q[:2]) ** 2)) - 1.0) ** 2,
        mass=lambda q, th: jnp.diag(jnp.asarray(masses)),
    )
    motion = simulate(
        dumbbell, [0.0, 0.0, 1.2, 0.0], [0.1, -1.0, 0.3, 0.7], (0.0, 50.0), method=Variational(0.01, every=50)
    )
    impulse = motion.v * masses
    linear = impulse[:, :2] + impulse[:, 2:]
    turning = motion.q[:, 0] * impulse[:, 1] - motion.q[:, 1] * impulse[:, 0]
    turning += motion.q[:, 2] * impulse[:, 3] - motion.q[:, 3] * impulse[:, 2]
    assert np.ptp(linear, axis=0) == pytest.approx(0.0, abs=1e-11)
    assert np.ptp(turning) < 1e-10


def test_rolling_conserves_energy_and_follows_the_closed_form(knife):
    """x = g' sin²(wt)/(2 w²) with g' = g/2, y = g'/(2 w²) (wt − sin(2wt)/2); no drift over 20 000 steps."""
    w, g = 2.0, G / 2
    motion = simulate(knife, [0.0] * 3, [0.0, 0.0, w], (0.0, 2.0), method=Variational(step=0.005))
    assert motion.q[:, 0] == pytest.approx(g * np.sin(w * motion.t) ** 2 / (2 * w**2), abs=1e-4)
    assert motion.drift.velocity.max() < 1e-14
    long = simulate(knife, [0.0] * 3, [0.0, 0.0, w], (0.0, 400.0), method=Variational(step=0.02, every=100))
    assert long.drift.energy.max() < 1e-6
    assert np.max(np.abs(long.q[:, 0])) < 1.001 * g / (2 * w**2)


def test_work_of_forces_is_accounted_for():
    """A damped oscillator against its closed form; energy − work stays."""
    oscillator = System(
        ("x",), energy=lambda q, p, th: 2.0 * q[0] ** 2, mass=lambda q, th: jnp.eye(1),
        force=lambda t, q, v, p, th: -0.2 * v,
    )  # fmt: skip
    motion = simulate(oscillator, [1.0], [0.0], (0.0, 5.0), method=Variational(step=0.005))
    w = np.sqrt(4.0 - 0.01)
    exact = np.exp(-0.1 * motion.t) * (np.cos(w * motion.t) + 0.1 / w * np.sin(w * motion.t))
    assert motion.q[:, 0] == pytest.approx(exact, abs=5e-5)
    assert motion.drift.energy.max() < 1e-5


def test_what_it_does_not_know_is_refused(pendulum):
    start = (pendulum, [1.0, 0.0], [0.0, 0.0], (0.0, 1.0))
    with pytest.raises(onesided.OnesidedError, match="changes with time"):
        simulate(*start, method=Variational(0.1), control=lambda t: t)
    shaken = System(
        ("x",), energy=lambda q, p, th: q[0] ** 2, mass=lambda q, th: jnp.eye(1),
        force=lambda t, q, v, p, th: jnp.sin(40 * t)[None],
    )  # fmt: skip
    with pytest.raises(onesided.OnesidedError, match="changes with time"):
        simulate(shaken, [0.0], [0.0], (0.0, 1.0), method=Variational(0.1))
    with pytest.raises(onesided.OnesidedError, match="every step"):
        simulate(*start, method=Variational(0.1, every=2), events={"low": lambda t, q, v: q[0]})
    with pytest.raises(onesided.OnesidedError, match="every"):
        Variational(0.1, every=0)
    with pytest.raises(onesided.OnesidedError, match="step"):
        Variational(-0.1)


def test_fixed_steps_end_whatever_a_force_does():
    """Steps that cannot be cut for a force they do not resolve: they are taken, and that is said."""
    shaken = System(
        ("x",), energy=lambda q, p, th: q[0] ** 2, mass=lambda q, th: jnp.eye(1),
        force=lambda t, q, v, p, th: jnp.sin(4000 * t)[None],
    )  # fmt: skip
    motion = simulate(shaken, [0.0], [0.0], (0.0, 1.0), method=Projected(step=0.1), throw=False)
    assert motion.t[-1] == 1.0
    assert "faster than the fixed steps" in motion.note


def test_events_are_found_with_a_point_at_every_step(pendulum):
    motion = simulate(
        pendulum, [1.0, 0.0], [0.0, 0.0], (0.0, 1.0), method=Variational(0.005), events={"low": lambda t, q, v: q[0]}
    )
    exact = simulate(pendulum, [1.0, 0.0], [0.0, 0.0], (0.0, 1.0), events={"low": lambda t, q, v: q[0]})
    assert motion.events[0].t == pytest.approx(exact.events[0].t, abs=1e-4)


@pytest.mark.slow
def test_a_free_body_keeps_its_angular_momentum():
    J = np.diag([1.0, 2.0, 3.0])
    body = System(("a", "b", "c"), energy=lambda q, p, th: 0.0 * q[0], mass=lambda q, th: jnp.asarray(J), space=SO3())
    motion = simulate(body, [0.0] * 3, [0.3, 1.0, 0.2], (0.0, 40.0), method=Variational(0.02, every=50))
    turning = np.array([np.asarray(rotation_matrix(q)) @ J @ v for q, v in zip(motion.q, motion.v, strict=True)])
    assert np.ptp(turning, axis=0) == pytest.approx(0.0, abs=1e-12)
    assert motion.drift.energy.max() < 1e-4
