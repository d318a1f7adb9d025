"""PEERS section 1: chains of bistable bars, two-bar trusses, the force-driven bar."""

import math
from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest

import onesided
from onesided import Kind, Status, zoo

C = 1.25 ** (1 / 3)


@cache
def chain(N):
    k, l0 = 1 + 0.02 * np.arange(N), math.sqrt(1.25)

    def energy(q, p, th):
        rise = q - jnp.concatenate([0 * q[:1], q[:-1]])
        return jnp.sum(k * (jnp.sqrt(1 + rise**2) - l0) ** 2) / 2 + p * q[-1]

    return onesided.System(tuple(f"y{i}" for i in range(1, N + 1)), energy)


def turns(N, count):
    """Units in the order in which they turn, signed: S_n = S_(n−1), +n, reverse(S_(n−1)), −n, S_(n−1)."""
    sequence = []
    for n in range(1, N + 1):
        sequence = [*sequence, n, *sequence[::-1], -n, *sequence]
        if len(sequence) >= count:
            break
    return np.array(sequence[:count])


def loads(units):
    return np.sign(units) * (1 + 0.02 * (np.abs(units) - 1)) * (C - 1) ** 1.5


def test_the_whole_path_of_three_units():
    path = onesided.trace(chain(3), [0.5, 1.0, 1.5], 0.0, p_bounds=(-0.05, 0.05))
    limits = [event for event in path.events if event.kind is Kind.limit]
    assert len(limits) == 26 == len(path.events) - 1 and path.status is Status.bound_reached
    np.testing.assert_allclose([event.p for event in limits], loads(turns(3, 26)), atol=1e-12)
    degree = 0
    for event in limits:
        assert event.instability_before == degree
        assert abs(event.instability_after - degree) == 1
        degree = event.instability_after
    assert degree == 0


@pytest.mark.parametrize("N", [10, pytest.param(30, marks=pytest.mark.slow)])
def test_longer_chains(N):
    path = onesided.trace(chain(N), 0.5 * np.arange(1, N + 1), 0.0, max_events=300)
    assert {event.kind for event in path.events} == {Kind.limit} and len(path.events) == 300
    np.testing.assert_allclose([event.p for event in path.events], loads(turns(N, 300)), atol=1e-12)


def test_two_bar_truss():
    """A1: P* = 2ka(c − 1)^1.5."""
    system, _ = zoo.load("von-mises")
    path = onesided.trace(system, [0.5], 0.0, max_events=2)
    np.testing.assert_allclose([e.p for e in path.events], [2 * (C - 1) ** 1.5, -2 * (C - 1) ** 1.5], atol=1e-13)
    assert path.events[0].p == pytest.approx(0.0429143257312, abs=1e-12)


def test_two_bar_truss_on_a_roller():
    """A2: three coordinates, P* = ±0.0343314605850; symmetric about the apex all along."""
    system, task = zoo.load("two-bar-roller")
    path = onesided.trace(system, task.start, 0.0, p_bounds=(-0.1, 0.1))
    assert path.kinds() == (Kind.limit, Kind.limit, Kind.bound)
    np.testing.assert_allclose([e.p for e in path.events[:2]], [0.0343314605850, -0.0343314605850], atol=1e-12)
    np.testing.assert_allclose(2 * (path.q[:, 0] - 1), path.q[:, 2], atol=1e-9)


def test_force_driven_bar():
    """D1F: slider height d is a coordinate, driven by a force F against a ground spring.

    The bar leaves the stop when the slider passes the hinge (d = 0), whatever drives it. There the spring BD pulls
    horizontally, so F = k_g (0 − d₀): with a ground spring as stiff as the other (k_g = k = 1), F = 2 means that the
    ground spring is relaxed at d₀ = −2L. Contact: d = (F − 2)/2, λ = −d. Free: d = −tan φ, F = 2 − 2 tan φ − sin φ.
    """
    system = onesided.System(
        ("phi", "d"),
        lambda q, p, th: ((-1 - jnp.cos(q[0])) ** 2 + (q[1] - jnp.sin(q[0])) ** 2) / 2 + (q[1] + 2) ** 2 / 2 - p * q[1],
        unilateral={"stop": lambda q, p, th: jnp.sin(q[0])},
        control="F",
    )
    path = onesided.trace(system, [0.0, -1.0], 0.0, p_bounds=(-3.0, 4.0))
    assert path.kinds() == (Kind.corner_limit, Kind.bound)
    corner = path.events[0]
    assert corner.p == pytest.approx(2.0, abs=1e-12) and np.max(np.abs(corner.q)) < 1e-12
    assert (corner.instability_before, corner.instability_after) == (0, 1)
    i = corner.index
    np.testing.assert_allclose(path.q[: i + 1, 1], (path.p[: i + 1] - 2) / 2, atol=1e-12)
    np.testing.assert_allclose(path.lam[: i + 1, 0], (2 - path.p[: i + 1]) / 2, atol=1e-12)
    phi = path.q[i:, 0]
    np.testing.assert_allclose(path.q[i:, 1], -np.tan(phi), atol=1e-9)
    np.testing.assert_allclose(path.p[i:], 2 - 2 * np.tan(phi) - np.sin(phi), atol=1e-9)
