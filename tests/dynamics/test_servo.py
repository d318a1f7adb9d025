"""Servo constraints: two masses on a spring, driven so that the far one follows a path (index 5)."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest

from onesided import ModelError, Projected, Radau, System, simulate
from onesided.base.errors import UsageError

M1, M2, K, T = 1.0, 2.0, 50.0, 2.0
POWERS, FACTORS = np.arange(5, 10), np.array([126.0, -420.0, 540.0, -315.0, 70.0])
TABLE = {
    0.25: (0.002482280135, 0.027211818099, 2.581460952759),
    0.5: (0.048927307129, 0.131983947754, 5.121826171875),
    0.75: (0.216618016362, 0.297728016973, 4.664365768433),
    1.0: (0.5, 0.5, 0.0),
    1.5: (0.951072692871, 0.868016052246, -5.121826171875),
}


def path(t):
    s = t / T
    return s**5 * (126.0 + s * (-420.0 + s * (540.0 + s * (-315.0 + s * 70.0))))


def path_derivative(t, order):
    factors = FACTORS.copy()
    for k in range(order):
        factors = factors * (POWERS - k)
    return np.sum(factors * (t / T) ** (POWERS - order)) / T**order


@cache
def masses(actuation=((1.0,), (0.0,))):
    return System(
        coordinates=("x1", "x2"),
        energy=lambda q, p, th: K / 2 * (q[1] - q[0]) ** 2,
        servo={"follow": lambda q, p, th: q[1] - p},
        actuation=lambda q, th: jnp.array(actuation),
        mass=lambda q, th: jnp.diag(jnp.array([M1, M2])),
    )


def test_two_masses_follow_a_path():
    motion = simulate(masses(), [0.0, 0.0], [0.0, 0.0], (0.0, T), control=path, method=Projected(rtol=1e-10))
    gamma, second, fourth = (np.array([path_derivative(t, k) for t in motion.t]) for k in (0, 2, 4))
    assert motion.q[:, 1] == pytest.approx(gamma, abs=1e-11)
    assert motion.q[:, 0] == pytest.approx(gamma + M2 / K * second, abs=1e-11)
    assert motion.u[:, 0] == pytest.approx((M1 + M2) * second + M1 * M2 / K * fourth, abs=1e-9)
    assert "index 5" in motion.note
    assert motion.servo == ("follow",)
    for t, (x2, x1, _) in TABLE.items():
        assert motion.at(t)[0] == pytest.approx([x1, x2], abs=1e-9)


@pytest.mark.parametrize("t", [0.5, 0.75])
def test_inputs_at_the_listed_times(t):
    motion = simulate(masses(), [0.0, 0.0], [0.0, 0.0], (0.0, t), control=path, method=Projected(rtol=1e-10))
    assert (motion.q[-1, 1], motion.q[-1, 0], motion.u[-1, 0]) == pytest.approx(TABLE[t], abs=1e-9)


def test_forward_simulation_with_the_input_found_reproduces_the_path():
    def u(t):
        s = t / T
        f = [
            sum(c * np.prod(n - np.arange(k)) * s ** (n - k) for n, c in zip(POWERS, FACTORS, strict=True))
            for k in (2, 4)
        ]
        return (M1 + M2) * f[0] / T**2 + M1 * M2 / K * f[1] / T**4

    free = System(
        coordinates=("x1", "x2"),
        energy=lambda q, p, th: K / 2 * (q[1] - q[0]) ** 2,
        force=lambda t, q, v, p, th: jnp.array([1.0, 0.0]) * u(t),
        mass=lambda q, th: jnp.diag(jnp.array([M1, M2])),
    )
    motion = simulate(free, [0.0, 0.0], [0.0, 0.0], (0.0, T), method=Projected(rtol=1e-12))
    assert motion.q[:, 1] == pytest.approx([path(t) for t in motion.t], abs=1e-11)
    assert motion.work[-1] == pytest.approx(motion.energy[-1] - motion.energy[0], abs=1e-9)


def test_collocated_input_has_index_three_and_inconsistent_starts_are_corrected():
    motion = simulate(masses(((0.0,), (1.0,))), [0.0, 0.1], [0.0, 0.0], (0.0, 0.5), control=path)
    assert "index 3" in motion.note
    assert motion.start.position == pytest.approx(0.1)
    assert motion.q[:, 1] == pytest.approx([path(t) for t in motion.t], abs=1e-10)


def test_what_cannot_be_done_is_said():
    with pytest.raises(UsageError, match="another method"):
        simulate(masses(), [0.0, 0.0], [0.0, 0.0], (0.0, T), control=path, method=Radau())
    with pytest.raises(ModelError, match="not moved by any input"):
        simulate(masses(((0.0,), (0.0,))), [0.0, 0.0], [0.0, 0.0], (0.0, T), control=path)
