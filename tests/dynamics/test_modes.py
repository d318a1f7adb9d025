"""Small vibrations: frequencies in closed form, contacts as constraints, a second route through the motion itself."""

import jax.numpy as jnp
import numpy as np
import pytest
from motion_models import G, pendulum

from onesided import System, modes, simulate
from onesided.base.errors import UsageError
from onesided.groups import SO3, rotate


def test_hanging_and_standing_pendulum():
    down = modes(pendulum(), [0.0, -1.0], 0.0)
    assert down.frequencies == pytest.approx([np.sqrt(G)], rel=1e-12)
    assert np.abs(down.shapes[:, 0]) == pytest.approx([1.0, 0.0], abs=1e-12)
    assert down.mu == pytest.approx([-G])  # the rod pulls with m g
    assert down.stable
    up = modes(pendulum(), [0.0, 1.0], 0.0)
    assert up.frequencies == pytest.approx([-np.sqrt(G)], rel=1e-12)
    assert sorted(up.eigenvalues.real) == pytest.approx([-np.sqrt(G), np.sqrt(G)])
    assert not up.stable


def chain(k=3.0, m=2.0, damping=0.0, **more):
    n = 4
    return System(
        coordinates=tuple(f"x{i}" for i in range(n)),
        energy=lambda q, p, th: k / 2 * (q[0] ** 2 + jnp.sum(jnp.diff(q) ** 2) + q[-1] ** 2) - p * jnp.sum(q),
        force=None if not damping else lambda t, q, v, p, th: -damping * v,
        mass=lambda q, th: m * jnp.eye(n),
        **more,
    )


def test_chain_of_masses():
    found = modes(chain(), np.zeros(4), 0.0)
    exact = 2 * np.sqrt(3.0 / 2.0) * np.sin(np.arange(1, 5) * np.pi / 10)
    assert found.frequencies == pytest.approx(exact, rel=1e-12)
    M = 2.0 * np.eye(4)
    assert found.shapes.T @ M @ found.shapes == pytest.approx(np.eye(4), abs=1e-12)


def test_damped_eigenvalues():
    """Damping proportional to the mass: s = −c/2m ± i √(ω² − (c/2m)²)."""
    found = modes(chain(damping=0.4), np.zeros(4), 0.0)
    w = modes(chain(), np.zeros(4), 0.0).frequencies
    exact = -0.1 + 1j * np.sqrt(w**2 - 0.01)
    upper = found.eigenvalues[found.eigenvalues.imag > 0]
    assert upper[np.argsort(upper.imag)] == pytest.approx(exact, abs=1e-12)


def test_closed_contacts_hold():
    """A stop under the middle of a loaded chain takes its coordinate out of the vibration."""
    stop = {"stop": lambda q, p, th: 0.1 - q[1]}
    system = chain(unilateral=stop)
    from onesided import solve

    state = solve(system, start=np.zeros(4), p=1.0).value
    found = modes(system, state.q, 1.0)
    assert found.closed == ("stop",)
    assert found.lam == pytest.approx(state.lam)
    assert len(found) == 3
    assert found.shapes[1] == pytest.approx(0.0, abs=1e-12)
    # left of the stop one mass between two walls, right of it two
    assert found.frequencies == pytest.approx(sorted(np.sqrt(1.5 * np.array([2.0, 1.0, 3.0]))), rel=1e-10)


def test_grazing_contacts_are_told_and_pulling_ones_refused():
    grazing = modes(chain(unilateral={"stop": lambda q, p, th: -q[1]}), np.zeros(4), 0.0)
    assert "stop touch without force" in grazing.note
    with pytest.raises(UsageError, match="would pull"):
        modes(chain(unilateral={"stop": lambda q, p, th: 0.1 - q[1]}), [0.05, 0.1, 0.2 / 3, 0.1 / 3], 0.0)


def test_what_is_no_equilibrium():
    with pytest.raises(UsageError, match="not an equilibrium"):
        modes(pendulum(), [1.0, 0.0], 0.0)


def test_frequencies_of_a_hanging_body_on_rotations():
    """A rigid body hanging from a point: ω² = m g l / J about either axis; about the vertical it turns freely."""
    J, ml = np.diag([2.0, 3.0, 0.5]), 4.0
    body = System(
        coordinates=("a", "b", "c"),
        energy=lambda q, p, th: ml * G * rotate(q, jnp.array([0.0, 0.0, -1.0]))[2],
        mass=lambda q, th: jnp.asarray(J),
        space=SO3(),
    )
    for start in ([0.0, 0.0, 0.0], [0.0, 0.0, 2.0]):  # the same about any turn around the vertical
        found = modes(body, start, 0.0)
        assert found.frequencies**2 == pytest.approx([0.0, ml * G / 3.0, ml * G / 2.0], abs=1e-9)


def test_small_motions_have_the_frequency_of_the_mode():
    found = modes(pendulum(), [0.0, -1.0], 0.0)
    small = 1e-3
    motion = simulate(
        pendulum(), [np.sin(small), -np.cos(small)], [0.0, 0.0], (0.0, 2.0), events={"x": lambda t, q, v: q[0]}
    )
    times = [event.t for event in motion.events]
    assert np.pi / np.diff(times) == pytest.approx(found.frequencies[0], rel=1e-6)
