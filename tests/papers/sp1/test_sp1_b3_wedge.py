"""REFERENCE B3: the wedge of SP1 figure 1."""

import numpy as np
import pytest
from sp1_tools import assert_lcp_equals_rays, assert_same_rows, degrees, kinds, model, per_unit_p

import onesided
from onesided import Kind, Status

K = 2.0
VARIANTS = {  # ε: G, rays (sign, φ̇₁, φ̇₂, λ̇₁, λ̇₂)
    0.5: ([[2.5, -1.5], [-1.5, 2.5]], [(1, 0, 1, 0, 0), (-1, 0, 0, 1, 1)]),
    -0.5: (
        [[-1.5, 2.5], [2.5, -1.5]],
        [(1, 0, 1, 0, 0), (1, 4 / 3, 4 / 3, 2 / 3, 0), (1, -4 / 3, 4 / 3, 0, 2 / 3), (-1, 0, 0, 1, 1)],
    ),
    -3.0: (
        [[1 / 6, 5 / 6], [5 / 6, 1 / 6]],
        [(1, 0, 1, 0, 0), (-1, 0, 0, 1, 1), (-1, 2, 2, 6, 0), (-1, -2, 2, 0, 6)],
    ),
}


@pytest.mark.parametrize("epsilon", VARIANTS)
def test_rates_and_rays(epsilon):
    G, expected = VARIANTS[epsilon]
    system = model("wedge", epsilon=epsilon)
    rates, rays = assert_lcp_equals_rays(system, [0.0, 0.0], 0.0)
    np.testing.assert_allclose(rates.G, G, rtol=1e-12)
    np.testing.assert_allclose(rates.g_hat, [1, 1], rtol=1e-12)
    np.testing.assert_allclose(rates.E_weak, [[-1, 1], [1, 1]], rtol=1e-12)
    assert_same_rows(per_unit_p(rays), expected)
    assert all(ray.order == 1 for ray in rays.rays)


def test_positive_stiffness_one_branch_on():
    path = onesided.trace(model("wedge"), [0.0, 0.0], -1.0, p_bounds=(-1.0, 1.0))
    assert kinds(path) == [Kind.opens] and degrees(path.events[0]) == (0, 0)
    assert set(path.events[0].constraints) == {"right", "left"}
    np.testing.assert_allclose(path.q, np.column_stack([0 * path.p, np.maximum(path.p, 0)]), atol=1e-12)
    np.testing.assert_allclose(path.lam, np.maximum(-path.p, 0)[:, None] * [1, 1], atol=1e-12)


def test_bifurcation_one_to_three():
    """ε = −0.5: a strict constrained minimum with indefinite H₊, from which three branches lead on."""
    system = model("wedge", epsilon=-0.5)
    point = onesided.solve(system, [0.0, 0.0], p=0.0, method=onesided.Newton()).value
    assert point.minimum and point.instability == 1
    path = onesided.trace(system, [0.0, 0.0], -1.0, p_bounds=(-1.0, 1.0))
    assert kinds(path) == [Kind.nonsmooth_bifurcation]
    event = path.events[0]
    assert abs(event.p) < 1e-12 and len(event.forward) == 3 and set(event.constraints) == {"right", "left"}
    degree = {(): 1, ("right",): 0, ("left",): 0}
    exact = {(): (0, 1, 0, 0), ("right",): (4 / 3, 4 / 3, 2 / 3, 0), ("left",): (-4 / 3, 4 / 3, 0, 2 / 3)}
    for k in event.forward:
        closed = event.rays[k].closed
        branch = onesided.branch(event, k)
        assert branch.p[-1] == pytest.approx(1.0) and np.all(branch.instability == degree[closed])
        found = np.column_stack([branch.q, branch.lam])
        np.testing.assert_allclose(found, branch.p[:, None] * exact[closed], atol=1e-12)


def test_bifurcation_backwards():
    """ε = −3: from the free side one branch arrives, three lead on to p < 0."""
    path = onesided.trace(model("wedge", epsilon=-3.0), [0.0, 1.0], 1.0, direction=-1, p_bounds=(-1.0, 1.0))
    assert kinds(path) == [Kind.nonsmooth_bifurcation] and path.events[0].instability_before == 1
    event = path.events[0]
    exact = {("right", "left"): (0, 0, 1, 1), ("right",): (2, 2, 6, 0), ("left",): (-2, 2, 0, 6)}
    assert {event.rays[k].closed for k in event.forward} == set(exact)
    for k in event.forward:
        branch = onesided.branch(event, k)
        found = np.column_stack([branch.q, branch.lam])
        np.testing.assert_allclose(found, -branch.p[:, None] * exact[event.rays[k].closed], atol=1e-11)
        if len(event.rays[k].closed) == 1:  # general contact branch: λ = −εkp/(k + ε), reduced stiffness k + ε < 0
            assert np.all(branch.instability == 1)


def test_singular_case_is_a_continuum():
    """ε = 0: for ṗ > 0 every φ̇ = (x, 1) with |x| ≤ 1; for ṗ < 0 a unique one."""
    system = model("wedge", epsilon=0.0)
    rates = onesided.rates(system, [0.0, 0.0], 0.0)
    assert rates.G is None and rates.c1 == 0.0
    np.testing.assert_allclose(np.abs(rates.c2), [1, 1], rtol=1e-12)
    assert rates.c2[0] * rates.c2[1] < 0
    with pytest.raises(onesided.OnesidedError, match="singular"):
        rates.lcp(1.0)
    rays = onesided.rays(system, [0.0, 0.0], 0.0)
    up = [ray for ray in rays.rays if ray.p_sign > 0]
    (down,) = [ray for ray in rays.rays if ray.p_sign < 0]
    assert all(ray.continuum for ray in up) and not down.continuum
    assert_same_rows([ray.q_dot / ray.p_dot for ray in up], [(1, 1), (-1, 1)])
    np.testing.assert_allclose([*down.q_dot, *(-down.lam_dot / down.p_dot)], [0, 0, 1, 1], atol=1e-12)


def test_singular_case_traced():
    path = onesided.trace(model("wedge", epsilon=0.0), [0.0, 0.0], -1.0, p_bounds=(-1.0, 1.0))
    assert path.status is Status.not_unique and kinds(path) == [Kind.continuum]
    assert path.events[0].instability_after is None
    np.testing.assert_allclose(path.lam, -path.p[:, None] * [1, 1], atol=1e-12)


def test_extreme_rays_of_the_continuum_stay_on_the_segment():
    """Exact for finite p > 0: φ₂ = p, |φ₁| ≤ p."""
    event = onesided.trace(model("wedge", epsilon=0.0), [0.0, 0.0], -1.0, p_bounds=(-1.0, 1.0)).events[0]
    for k in event.forward:
        branch = onesided.branch(event, k)
        np.testing.assert_allclose(branch.q[:, 1], branch.p, atol=1e-10)
        np.testing.assert_allclose(np.abs(branch.q[:, 0]), branch.p, atol=1e-10)
        np.testing.assert_allclose(branch.lam, 0, atol=1e-10)


def test_extreme_rays_of_the_continuum_reach_the_bound():
    event = onesided.trace(model("wedge", epsilon=0.0), [0.0, 0.0], -1.0, p_bounds=(-1.0, 1.0)).events[0]
    for k in event.forward:
        assert onesided.branch(event, k).p[-1] == pytest.approx(1.0)
