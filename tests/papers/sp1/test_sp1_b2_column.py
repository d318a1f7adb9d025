"""REFERENCE B2: the pitchfork of the rigid column, with and without a stop."""

import math

import numpy as np
import pytest
from sp1_tools import assert_lcp_equals_rays, degrees, kinds, mask, model

import onesided
from onesided import Kind

BRANCH = [
    (0.1, 1.001668613163478, 0.003335557674076),
    (0.25, 1.010493125305268, 0.020920658838515),
    (0.5, 1.042914821466744, 0.084756139143774),
    (1.0, 1.188395105778121, 0.357907384065669),
    (1.5, 1.503766956370087, 0.893627733546021),
]
P_S = 1.042914821466744


def trivial(name, **options):
    return onesided.trace(model(name), [0.0], 0.0, p_bounds=(0.0, 2.0), **options)


def leaning(event, sign):
    """Index of the ray onto the branch with θ of that sign."""
    (k,) = [i for i, ray in enumerate(event.rays.rays) if ray.order == 2 and ray.q_dot[0] * sign > 0]
    return k


def assert_four_rays(event):
    """Both directions of the trivial path, and two branches with ṗ = 0 and rising p."""
    assert len(event.rays) == 4 and event.rays.multiplicity == 2 and event.rays.complete
    signs = sorted((ray.order, ray.p_sign, int(np.sign(np.round(ray.q_dot[0], 9)))) for ray in event.rays.rays)
    assert signs == [(1, -1, 0), (1, 1, 0), (2, 1, -1), (2, 1, 1)]


@pytest.mark.parametrize("name", ["column", "column-stop"])
def test_trivial_path(name):
    path = trivial(name)
    assert kinds(path) == [Kind.smooth_bifurcation]
    event = path.events[0]
    assert event.p == pytest.approx(1, abs=1e-12) and event.q[0] == pytest.approx(0, abs=1e-12)
    assert degrees(event) == (0, 1) and len(event.forward) == 3
    assert_four_rays(event)
    np.testing.assert_allclose(path.q, 0, atol=1e-12)
    keep = mask(path)
    np.testing.assert_array_equal(path.instability[keep], (path.p > 1).astype(int)[keep])


@pytest.mark.parametrize("sign", [1, -1])
def test_branch_switching(sign):
    event = trivial("column").events[0]
    path = onesided.branch(event, leaning(event, sign))
    theta = path.q[1:, 0]
    assert np.all(theta * sign > 0) and kinds(path) == []
    np.testing.assert_allclose(path.p[1:], theta / np.sin(theta), atol=1e-11)
    assert np.all(path.instability == 0) and path.p[-1] == 2.0


@pytest.mark.parametrize(("theta", "p", "H"), BRANCH)
@pytest.mark.parametrize("sign", [1, -1])
def test_branch_values(theta, p, H, sign):
    system = model("column")
    path = onesided.trace(system, [sign * 1.8], 1.8 / math.sin(1.8), direction=-1, p_bounds=(p, 2.0))
    assert path.q[-1, 0] == pytest.approx(sign * theta, abs=1e-9)
    assert system.evaluate(path.q[-1], p, np.zeros(0)).L_qq[0, 0] == pytest.approx(H, abs=1e-9)


@pytest.mark.parametrize("start", [0.3, 1.0, -1.0, 1.7])
def test_the_same_bifurcation_from_the_branch(start):
    system = model("column")
    path = onesided.trace(system, [start], start / math.sin(start), direction=-1, p_bounds=(0.0, 2.0))
    event = path.events[0]
    assert event.kind is Kind.smooth_bifurcation
    assert event.p == pytest.approx(1, abs=1e-12) and abs(event.q[0]) < 1e-8
    assert event.instability_before == 0
    assert_four_rays(event)
    (down,) = [i for i, ray in enumerate(event.rays.rays) if ray.p_sign < 0]
    back = onesided.branch(event, down)
    np.testing.assert_allclose(back.q, 0, atol=1e-8)
    assert back.p[-1] == pytest.approx(0.0, abs=1e-14) and np.all(back.instability == 0)
    (up,) = [i for i, ray in enumerate(event.rays.rays) if ray.order == 1 and ray.p_sign > 0]
    unstable = onesided.branch(event, up)
    np.testing.assert_allclose(unstable.q, 0, atol=1e-8)
    assert unstable.p[-1] == pytest.approx(2.0) and np.all(unstable.instability[1:] == 1)


def test_stop_on_the_leaning_branch():
    event = trivial("column-stop").events[0]
    path = onesided.branch(event, leaning(event, +1))
    assert kinds(path) == [Kind.closes]
    contact = path.events[0]
    assert contact.p == pytest.approx(P_S, abs=1e-12) and contact.q[0] == pytest.approx(0.5, abs=1e-12)
    assert degrees(contact) == (0, 0) and contact.constraints == ("stop",)
    after = slice(contact.index, None)
    np.testing.assert_allclose(path.q[after, 0], 0.5, atol=1e-12)
    np.testing.assert_allclose(path.lam[after, 0], path.p[after] * math.sin(0.5) - 0.5, atol=1e-12)
    before = slice(1, contact.index)
    np.testing.assert_allclose(path.p[before], path.q[before, 0] / np.sin(path.q[before, 0]), atol=1e-11)


@pytest.mark.parametrize(("p", "lam"), [(1.1, 0.027368092465), (1.5, 0.219138307906), (2.0, 0.458851077208)])
def test_reaction_of_the_stop(p, lam):
    path = onesided.trace(model("column-stop"), [0.5], 1.05, p_bounds=(0.0, p))
    assert path.p[-1] == p and path.lam[-1, 0] == pytest.approx(lam, abs=1e-11)
    np.testing.assert_allclose(np.diff(path.lam[:, 0]) / np.diff(path.p), 0.479425538604203, rtol=1e-9)


def test_mirror_branch_does_not_know_the_stop():
    event = trivial("column-stop").events[0]
    path = onesided.branch(event, leaning(event, -1))
    assert kinds(path) == [] and path.p[-1] == 2.0
    np.testing.assert_allclose(path.p[1:], path.q[1:, 0] / np.sin(path.q[1:, 0]), atol=1e-11)


def test_rates_at_the_stop():
    rates, rays = assert_lcp_equals_rays(model("column-stop"), [0.5], P_S)
    assert rates.G[0, 0] == pytest.approx(11.798555362505, rel=1e-11)
    assert rates.g_hat[0] == pytest.approx(-5.656528759420, rel=1e-11)
    assert sorted(ray.p_sign for ray in rays.rays) == [-1, 1]


def test_from_the_stop_back_to_the_bifurcation():
    path = onesided.trace(model("column-stop"), [0.5], 1.9, direction=-1, p_bounds=(0.0, 2.0))
    assert kinds(path)[:2] == [Kind.opens, Kind.smooth_bifurcation]
    assert path.events[0].p == pytest.approx(P_S, abs=1e-12) and path.events[1].p == pytest.approx(1, abs=1e-12)
    assert_four_rays(path.events[1])


@pytest.mark.parametrize(("c", "length"), [(2.0, 0.5), (1e4, 3.0), (1e-3, 0.1)])
def test_critical_load(c, length):
    load = c / length
    path = onesided.trace(model("column", c=c, l=length), [0.0], 0.0, p_bounds=(0.0, 2 * load))
    assert kinds(path) == [Kind.smooth_bifurcation]
    assert path.events[0].p == pytest.approx(load, rel=1e-12)
