"""Closed forms and tables of constrained dynamics (Arnold's abstract): penalty limit, redundancy, knife edge."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from motion_models import G, on_circle, pendulum, platform, platform_start, swing

from onesided import (
    Compliances,
    GeneralizedAlpha,
    Index3,
    MinimalNorm,
    Projected,
    Radau,
    ReducedSet,
    System,
    prepared,
    simulate,
    with_penalty,
)

FINE = Projected(rtol=1e-11)
METHODS = [Projected(rtol=1e-13), Radau(rtol=1e-8), GeneralizedAlpha(step=0.002)]
EPSILONS = (0.02, 0.01, 0.005, 0.0025)


def test_pendulum_of_the_penalty_study():
    q0, v0 = on_circle(np.pi / 3, 0.0)
    motion = simulate(pendulum(), q0, v0, (0.0, 1.0), method=FINE)
    angle, rate = swing(1.0, np.pi / 3)
    assert (angle, rate) == pytest.approx((-1.022438477873728, -0.646252369858610), abs=1e-12)
    q, v = on_circle(angle, rate)
    assert motion.q[-1] == pytest.approx(q, abs=1e-10)
    assert motion.v[-1] == pytest.approx(v, abs=1e-10)
    # the published λ is that of M a = f − Gᵀλ, ours of M a = f + Gᵀμ
    assert -motion.mu[[0, -1], 0] == pytest.approx([4.905, 5.531463188322], abs=1e-9)


def penalty_errors(eps, *, ready):
    """Largest errors of q, q̇ and λ on [0, 1], and the error of the impulse."""
    rigid, (q0, v0) = pendulum(), on_circle(np.pi / 3, 0.0)
    soft = with_penalty(rigid, eps)
    if ready:
        q0, v0 = prepared(rigid, eps, q0, v0)
    motion = simulate(soft, q0, v0, (0.0, 1.0), method=Projected(rtol=1e-9))
    times = np.linspace(0.0, 1.0, 4001)
    q, v = motion.at(times)
    angle, rate = swing(times, np.pi / 3)
    exact_q, exact_v = (x.T for x in on_circle(angle, rate))
    exact_lam = rate**2 + G * np.cos(angle)
    lam = (np.sum(q**2, axis=1) - 1.0) / eps**2
    impulse = np.trapezoid(lam, times) - 12.524368742858
    size = np.linalg.norm
    return size(q - exact_q, axis=1).max(), size(v - exact_v, axis=1).max(), np.abs(lam - exact_lam).max(), impulse


TABLE = {
    False: [
        (6.661e-3, 8.126e-2, 4.93),
        (1.673e-3, 3.775e-2, 4.91),
        (4.187e-4, 1.812e-2, 4.91),
        (1.047e-4, 8.866e-3, 4.91),
    ],
    True: [
        (6.050e-3, 2.045e-2, 1.239e-1),
        (1.519e-3, 5.110e-3, 3.163e-2),
        (3.801e-4, 1.279e-3, 7.944e-3),
        (9.505e-5, 3.199e-4, 1.988e-3),
    ],
}


@pytest.mark.parametrize("ready", [False, True], ids=["on the manifold", "prepared"])
def test_penalty_limit(ready):
    found = [penalty_errors(eps, ready=ready) for eps in EPSILONS]
    for got, published in zip(found, TABLE[ready], strict=True):
        assert got[:3] == pytest.approx(published, rel=0.01)
    orders = np.polyfit(np.log(EPSILONS), np.log([f[:3] for f in found]), 1)[0]
    assert orders == pytest.approx([2, 2, 2] if ready else [2, 1, 0], abs=0.1)
    if ready:
        assert [abs(f[3]) for f in found[2:]] == pytest.approx([1.670e-3, 4.179e-4], rel=0.01)
    else:  # the joint force converges weakly only: its impulse does, its values do not
        assert abs(found[3][3]) < 0.0027 < abs(found[0][3]) < 0.093


LAMBDA = 14.207612281500
NORM = (6.08897669, 5.07414724, 3.04448835)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (MinimalNorm(), NORM),
        (Compliances({"crank 1": 1.0, "crank 2": 4.0, "crank 3": 1.0}), (8.31665109, 1.73263564, 4.15832555)),
        (Compliances({"crank 3": 100.0}), (0.75438649, 13.07603254, 0.37719325)),
        (ReducedSet(without=("crank 2",)), (9.47174152, 0.0, 4.73587076)),
    ],
    ids=repr,
)
def test_redundant_multipliers(rule, expected):
    q0, v0 = platform_start()
    motion = simulate(platform(), q0, v0, (0.0, 0.01), multipliers=rule)
    assert motion.a[0] == pytest.approx([-5.32785461, -0.58188513, 0.0], abs=1e-8)
    assert -motion.mu[0] == pytest.approx(expected, abs=1e-8)
    assert -motion.mu[0].sum() == pytest.approx(LAMBDA, abs=1e-10)
    assert motion.mu[0] @ [-1.0, 0.0, 2.0] == pytest.approx(0.0, abs=1e-9)
    assert motion.not_unique == ("crank 1", "crank 2", "crank 3")
    assert "not unique" in motion.note


def test_minimal_norm_depends_on_scaling_and_symmetry():
    q0, v0 = platform_start()
    scaled = simulate(platform(scale=(1.0, 10.0, 1.0)), q0, v0, (0.0, 0.01)).mu[0] * [1.0, 10.0, 1.0]
    assert -scaled == pytest.approx([0.16747677, 13.95639713, 0.08373838], abs=1e-8)
    even = simulate(platform(s=(-1.0, 0.0, 1.0)), q0, v0, (0.0, 0.01)).mu[0]
    assert -even == pytest.approx([4.73587076] * 3, abs=1e-8)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_redundant_platform_moves_like_a_pendulum(method):
    q0, v0 = platform_start()
    motion = simulate(platform(), q0, v0, (0.0, 2.0), method=method)
    tolerance = 5e-5 if isinstance(method, GeneralizedAlpha) else 1e-8  # second order: about h² = 4e-6 times ten
    assert motion.q[-1] == pytest.approx([-0.518633602, -1.407486834, 0.0], abs=tolerance)
    assert np.arctan2(motion.q[-1, 1], motion.q[-1, 0]) == pytest.approx(-1.923840400963, abs=tolerance)
    reduced = simulate(platform(cranks=(0, 2)), q0, v0, (0.0, 2.0), method=method)
    assert motion.q[-1] == pytest.approx(reduced.q[-1], abs=10 * tolerance)
    assert reduced.not_unique == ()


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_a_joint_stated_twice_changes_nothing(method):
    rod = lambda q, p, th: 0.5 * (q @ q - th.l**2)  # noqa: E731
    q0, v0 = on_circle(np.pi / 3, 0.0)
    once = simulate(pendulum(), q0, v0, (0.0, 0.5), method=method)
    twice = simulate(pendulum(bilateral={"rod": rod, "again": rod}), q0, v0, (0.0, 0.5), method=method)
    assert twice.q[-1] == pytest.approx(once.q[-1], abs=1e-9)
    assert twice.mu[-1] == pytest.approx([once.mu[-1, 0] / 2] * 2, abs=1e-8)
    assert twice.not_unique == ("rod", "again")


@cache
def knife_edge(m=1.0, J=0.7):
    return System(
        coordinates=("x", "y", "phi"),
        energy=lambda q, p, th: -m * th.gs * q[0],
        nonholonomic={"edge": lambda q, v, th: v[0] * jnp.sin(q[2]) - v[1] * jnp.cos(q[2])},
        parameters={"gs": 4.905},
        mass=lambda q, th: jnp.diag(jnp.array([m, m, J])),
    )


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_knife_edge_on_an_incline(method):
    motion = simulate(knife_edge(), [0.0, 0.0, 0.0], [0.0, 0.0, 2.0], (0.0, 5.0), method=method)
    tolerance = {Projected: 1e-10, Radau: 1e-6, GeneralizedAlpha: 1e-4}[type(method)]
    t, gs, w = motion.t, 4.905, 2.0
    exact = [gs / (2 * w**2) * np.sin(w * t) ** 2, gs / (2 * w**2) * (w * t - np.sin(2 * w * t) / 2), w * t]
    assert pytest.approx(np.array(exact), abs=tolerance) == motion.q.T
    assert -motion.mu[:, 0] == pytest.approx(2 * gs * np.sin(w * t), abs=10 * tolerance)
    assert motion.q[-1, :2] == pytest.approx([0.181459842925, 5.851375221574], abs=tolerance)
    assert -motion.mu[-1, 0] == pytest.approx(-5.3368470978, abs=10 * tolerance)
    q, _ = motion.at(1.0)
    assert q[:2] == pytest.approx([0.506945122521, 1.458257264968], abs=tolerance)
    assert np.max(motion.drift.velocity) < 1e-11


def test_knife_edge_in_the_index_3_form():
    """Conditions on velocities stand beside force balance there; second order in the step."""
    found = []
    for h in (0.01, 0.005):
        method = GeneralizedAlpha(step=h, form=Index3())
        motion = simulate(knife_edge(), [0.0, 0.0, 0.0], [0.0, 0.0, 2.0], (0.0, 1.0), method=method)
        found.append(np.max(np.abs(motion.q[-1, :2] - [0.506945122521, 1.458257264968])))
    assert found[1] < 1e-4
    assert found[0] / found[1] == pytest.approx(4.0, rel=0.1)
