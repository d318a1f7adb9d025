"""Stiff potentials: a fast oscillation whose frequency depends on a slow coordinate acts on it by its energy."""

import jax.numpy as jnp
import numpy as np
import pytest

from onesided import GeneralizedAlpha, Projected, System, simulate

EPS, START = 0.01, 0.6


@pytest.fixture(scope="module")
def two_scales():
    """U = (1 + x²/2)² y²/(2 ε²): y swings fast, energy by frequency is invariant, x moves in E₀ (1 + x²/2)/ω₀."""
    return System(
        ("x", "y"), energy=lambda q, p, th: ((1 + q[0] ** 2 / 2) * q[1] / EPS) ** 2 / 2, mass=lambda q, th: jnp.eye(2)
    )


@pytest.fixture(scope="module")
def slow():
    """x of the limit ε → 0 at t: x₀ cos Ωt, Ω² = E₀/ω₀."""
    omega = 1 + START**2 / 2
    return lambda t: START * np.cos(np.sqrt(omega / 2) * t)


def test_resolved_the_fast_energy_moves_the_slow_coordinate(two_scales, slow):
    motion = simulate(two_scales, [START, EPS], [0.0, 0.0], (0.0, 2.0), method=Projected(rtol=1e-6))
    assert motion.q[:, 0] == pytest.approx(slow(motion.t), abs=3 * EPS)


def test_numerical_dissipation_takes_the_fast_energy_and_with_it_the_slow_motion(two_scales, slow):
    """Steps far longer than the fast period: damped at once, and x stays about where it was."""
    motion = simulate(
        two_scales, [START, EPS], [0.0, 0.0], (0.0, 2.0), method=GeneralizedAlpha(rho=0.0, step=0.05), throw=False
    )
    assert not motion.ok
    assert "energy" in motion.note
    assert motion.energy[-1] < 0.05 * motion.energy[0]
    assert abs(motion.q[-1, 0] - slow(2.0)) > 0.5 * START
