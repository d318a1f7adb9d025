"""REFERENCE B5: singular H₊ with one weakly active constraint, SP1 section 7 and figure 7."""

import math

import numpy as np
import pytest
from sp1_tools import degrees, kinds, model

import onesided
from onesided import Kind

CASES = {"a": (1.0, 0.0, 1.0, 1.0), "b": (1.0, 2.0, -1.0, -1.0), "c": (0.0, 1.0, -1.0, 0.0), "d": (1.0, 1.0, 0.0, 0.0)}
EVERY = [(case, sigma) for case in CASES for sigma in (-1.0, 1.0)]


def system_of(case, sigma):
    e2, b2, _, _ = CASES[case]
    return model("singular-corner", sigma=sigma, e2=e2, b2=b2)


def contact(case, sigma, p):
    """(φ₁, φ₂, λ) on the contact branch, closed forms of the table."""
    if case == "c":
        return 0.0, -p, p
    if case == "d":
        return 0.0, 0.0, p
    rising, falling = (-1 + math.sqrt(1 + 4 * p)) / 2, (1 - math.sqrt(1 - 4 * p)) / 2
    t = rising if (case == "a") == (sigma < 0) else falling
    if case == "a":
        return -t, t, t
    return t, -t, p + sigma * t**2


def free(case, sigma, p):
    phi1 = math.sqrt(-p / sigma)
    return phi1, -CASES[case][1] * p, 0.0


@pytest.mark.parametrize(("case", "sigma"), EVERY)
def test_classification_constants(case, sigma):
    _, _, c3, c4 = CASES[case]
    rates = onesided.rates(system_of(case, sigma), [0.0, 0.0], 0.0)
    assert rates.G is None and rates.weak == ("contact",)
    np.testing.assert_allclose(rates.H_strong, np.diag([0, 1]), atol=1e-14)
    assert abs(rates.c1) == pytest.approx(1) and rates.c2[0] / rates.c1 == pytest.approx(1)
    np.testing.assert_allclose(np.abs(rates.c3).ravel(), [abs(c3)], atol=1e-12)
    np.testing.assert_allclose(rates.c4, [c4], atol=1e-12)


@pytest.mark.parametrize(("case", "sigma"), EVERY)
def test_rays(case, sigma):
    """Free: ṗ = 0, φ̇ ∝ (1, 0), bent to −σ. Contact per λ̇ = 1: ṗ = 1, y₁ = −c₄."""
    _, _, c3, c4 = CASES[case]
    rays = onesided.rays(system_of(case, sigma), [0.0, 0.0], 0.0)
    by = {ray.closed: ray for ray in rays.rays}
    assert set(by) == {(), ("contact",)} and len(rays) == 2
    flat, steep = by[()], by[("contact",)]
    assert flat.p_dot == pytest.approx(0, abs=1e-12) and flat.order == 2 and flat.p_sign == -sigma
    np.testing.assert_allclose(flat.q_dot / flat.q_dot[0], [1, 0], atol=1e-12)
    assert flat.q_dot[0] > 0 and steep.order == 1 and steep.p_sign == 1
    np.testing.assert_allclose(steep.lam_dot / steep.p_dot, [1], atol=1e-12)
    np.testing.assert_allclose(steep.q_dot / steep.p_dot, [-c4, c3], atol=1e-12)


@pytest.mark.parametrize(("case", "sigma"), EVERY)
def test_from_contact_to_free(case, sigma):
    q0 = contact(case, sigma, 0.15)[:2]
    path = onesided.trace(system_of(case, sigma), q0, 0.15, direction=-1, p_bounds=(-0.2, 0.2))
    assert kinds(path) == [Kind.corner_limit if sigma < 0 else Kind.opens]
    corner = path.events[0]
    assert abs(corner.p) < 1e-10 and np.max(np.abs(corner.q)) < 1e-10
    assert degrees(corner) == ((0, 1) if sigma < 0 else (0, 0))
    i = corner.index
    found = np.column_stack([path.q, path.lam])
    exact = [contact(case, sigma, p) for p in path.p[:i]] + [free(case, sigma, p) for p in path.p[i + 1 :]]
    np.testing.assert_allclose(np.delete(found, i, axis=0), exact, atol=1e-9)
    assert path.p[-1] == pytest.approx(0.2 if sigma < 0 else -0.2)


@pytest.mark.parametrize(("case", "sigma"), EVERY)
def test_from_free_to_contact(case, sigma):
    p0 = -sigma * 0.15
    q0 = free(case, sigma, p0)[:2]
    path = onesided.trace(system_of(case, sigma), q0, p0, direction=int(sigma), p_bounds=(-0.2, 0.2))
    assert kinds(path) == [Kind.corner_limit if sigma < 0 else Kind.closes]
    corner = path.events[0]
    assert abs(corner.p) < 1e-10 and np.max(np.abs(corner.q)) < 1e-6
    assert degrees(corner) == ((1, 0) if sigma < 0 else (0, 0))
    after = slice(corner.index + 1, None)
    exact = [contact(case, sigma, p) for p in path.p[after]]
    np.testing.assert_allclose(np.column_stack([path.q, path.lam])[after], exact, atol=1e-9)
    assert path.p[-1] == pytest.approx(0.2)


CHECK_VALUES = [  # case, σ, p, free, contact, λ
    ("a", -1.0, (0.2, 0.0), (-0.0385164807, 0.0385164807), 0.0385164807),
    ("b", -1.0, (0.2, -0.08), (0.0417424305, -0.0417424305), 0.0382575695),
    ("c", -1.0, (0.2, -0.04), (0.0, -0.04), 0.04),
    ("d", -1.0, (0.2, -0.04), (0.0, 0.0), 0.04),
    ("a", 1.0, None, (-0.0417424305, 0.0417424305), 0.0417424305),
    ("b", 1.0, None, (0.0385164807, -0.0385164807), 0.0414835193),
]


@pytest.mark.parametrize(("case", "sigma", "free_q", "contact_q", "lam"), CHECK_VALUES)
def test_check_values(case, sigma, free_q, contact_q, lam):
    system = system_of(case, sigma)
    start = contact(case, sigma, 0.01)[:2]
    path = onesided.trace(system, start, 0.01, p_bounds=(-1.0, 0.04))
    np.testing.assert_allclose(path.q[-1], contact_q, atol=2e-10)
    assert path.lam[-1, 0] == pytest.approx(lam, abs=2e-10)
    if case == "a" and sigma < 0:
        t = np.array([-1.0, 1.0])
        H = system.evaluate(path.q[-1], 0.04, path.lam[-1]).L_qq
        assert t @ H @ t == pytest.approx(1.077033, abs=1e-6)
    if free_q is not None:
        path = onesided.trace(system, free(case, sigma, 0.01)[:2], 0.01, p_bounds=(-1.0, 0.04))
        np.testing.assert_allclose(path.q[-1], free_q, atol=1e-10)
        if case == "b":
            assert path.gaps[-1, 0] == pytest.approx(0.12, abs=1e-10)
    else:
        down = onesided.trace(system, free(case, sigma, -0.01)[:2], -0.01, direction=-1, p_bounds=(-0.04, 1.0))
        np.testing.assert_allclose(down.q[-1], [0.2, 0.04 * CASES[case][1]], atol=1e-10)


def test_common_limit_point_with_an_idle_constraint():
    """c₁ ≠ 0, c₂ = 0: φ = (±√p, 0), the constraint weakly active on both sides."""
    system = onesided.System(
        ("x", "y"),
        lambda q, p, th: q[1] ** 2 / 2 - q[0] ** 3 / 3 + p * q[0],
        unilateral={"idle": lambda q, p, th: q[1]},
    )
    path = onesided.trace(system, [0.8, 0.0], 0.64, direction=-1, p_bounds=(-1.0, 1.0))
    assert kinds(path) == [Kind.limit]
    limit = path.events[0]
    assert abs(limit.p) < 1e-12 and abs(limit.q[0]) < 1e-6 and degrees(limit) == (1, 0)
    np.testing.assert_allclose(path.q[:, 0] ** 2, path.p, atol=1e-12)
    np.testing.assert_allclose(path.q[:, 1], 0, atol=1e-12)
    assert path.q[-1, 0] == pytest.approx(-1.0)
