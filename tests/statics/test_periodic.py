"""Stiffness that is periodic in a coordinate: sizes above the period say nothing, and walls must hold."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onesided
from onesided.system.crossing import first_crossing

NAMES = ("k", "a", "b", "c", "e", "f", "w")


def _energy(q, p, of):
    """A washboard pulled along x by a spring, beside it a coordinate y that buckles at p = c/(e f²)."""
    board = 0.5 * of["k"] * (q[0] - p) ** 2 - of["a"] * jnp.cos(of["b"] * q[0])
    return board + 0.5 * of["c"] * q[1] ** 2 - p * of["e"] * (1.0 - jnp.cos(of["f"] * q[1]))


@pytest.fixture(scope="module")
def washboard():
    return onesided.System(
        ("x", "y"),
        energy=_energy,
        parameters=dict(zip(NAMES, (1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.5), strict=True)),
        unilateral={"wall": lambda q, p, of: of["w"] - q[0]},
    )


def _case(random):
    """Numbers of a system in units of any size, with the loads at which it touches the wall and buckles."""
    unit, k = 10.0 ** random.uniform(-3, 3), 10.0 ** random.uniform(-2, 2)
    b, f = 10.0 ** random.uniform(-1, 2, size=2) / unit
    a, c, w = k / b**2 * random.uniform(0.0, 0.9), k * 10.0 ** random.uniform(-1, 1), unit * random.uniform(0.1, 2.0)
    touch = w + a * b * np.sin(b * w) / k
    buckle = touch * random.choice([0.5, 0.9, 1.1, 2.0, 5.0])
    return dict(zip(NAMES, (k, a, b, c, c / (f**2 * buckle), f, w), strict=True)), touch, buckle


def test_walls_beside_a_periodic_stiffness(washboard):
    random = np.random.default_rng(5)
    for _ in range(12):
        numbers, touch, buckle = _case(random)
        system = washboard.replace(parameters=numbers)
        path = onesided.trace(system, [0, 0], 0.0, p_bounds=(0.0, 1.3 * max(touch, buckle)))
        expected = sorted([(touch, "contact closes"), (buckle, "smooth bifurcation")])
        found = [(event.p, event.kind.value) for event in path.events[:-1]]
        assert [kind for _, kind in found] == [kind for _, kind in expected]
        np.testing.assert_allclose([p for p, _ in found], [p for p, _ in expected], rtol=1e-10)
        assert np.min(path.gaps) >= -1e-12 * numbers["w"]


@pytest.mark.parametrize("w", [0.5, 0.6, 3.0, 40.0])
def test_lengths_are_those_of_the_period(washboard, w):
    system = washboard.replace(parameters={**washboard.parameters, "w": w})
    length = system.sizes([0.0, 0.0], 0.0).length
    assert 0.1 < length[1] < 2.0 * np.pi


@given(st.floats(-6.0, 1.0), st.floats(-9.0, 9.0), st.floats(0.3, 100.0))
def test_crossings_of_what_is_periodic(below, unit, amplitude):
    """A change A (1 − cos t/L) is one half at t = L arccos(1 − 1/(2A)), from guesses far below to above a period."""
    period = 10.0**unit
    found = first_crossing(lambda t: amplitude * (1.0 - math.cos(t / period)), period * 10.0**below)
    exact = period * math.acos(1.0 - 0.5 / amplitude)
    assert found is not None and 0.99 * exact < found < 10.0 * exact


@pytest.mark.parametrize("seed", range(10))
def test_a_small_motion_to_and_fro_is_followed(seed):
    """x follows a (sin(ωp + φ) − sin φ), too little to change a structure that stiffens elsewhere: p has its own size.

    Any rotated coordinates tell the same.
    """
    rng = np.random.default_rng(seed)
    k, a, w, phase, turn = 10 ** rng.uniform(0, 3), 10 ** rng.uniform(-5, -1), 10 ** rng.uniform(-1, 1), 0.7, 1.1
    A = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])

    def energy(q, p, th):
        x = jnp.asarray(A) @ q
        return k * (x[0] - a * (jnp.sin(w * p + phase) - np.sin(phase))) ** 2 / 2 + x[1] ** 2 / 2 + x[1] ** 4 / 4

    path = onesided.trace(onesided.System(("u", "v"), energy), np.zeros(2), 0.0, p_bounds=(0.0, 20.0 / w))
    assert [event.kind for event in path.events] == [onesided.Kind.bound]
    expected = a * (np.sin(w * path.p + phase) - np.sin(phase))
    np.testing.assert_allclose(path.q @ A.T, np.column_stack([expected, 0 * expected]), atol=1e-7 * a)
