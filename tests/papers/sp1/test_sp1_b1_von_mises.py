"""REFERENCE B1: the common limit point, and the floor that turns it into a corner."""

import math

import numpy as np
import pytest
from sp1_tools import assert_lcp_equals_rays, degrees, kinds, mask, model

import onesided
from onesided import Kind

L0 = math.sqrt(1.25)
Y_L, P_L = 0.277880091075165, 0.0429143257312247
TABLE = [
    (0.4, 0.030454798537400, 0.210226727290),
    (0.3, 0.042529405317179, 0.035078271201),
    (0.2, 0.038529009653515, -0.108312546411),
    (0.1, 0.022497079744992, -0.202941383614),
    (0.0, 0.0, -0.236067977500),
    (-0.6, 0.049552516728944, 0.590137888148),
]


def load(y):
    return 2 * y * (L0 / np.sqrt(1 + y**2) - 1)


def full(**options):
    return onesided.trace(model("von-mises"), [0.5], 0.0, p_bounds=(-0.1, 0.1), **options)


def test_limit_points():
    path = full()
    assert kinds(path) == [Kind.limit, Kind.limit]
    first, second = path.events[:2]
    assert first.p == pytest.approx(P_L, abs=1e-14) and second.p == pytest.approx(-P_L, abs=1e-14)
    assert first.q[0] == pytest.approx(Y_L, abs=1e-9) and second.q[0] == pytest.approx(-Y_L, abs=1e-9)
    assert degrees(first) == (0, 1) and degrees(second) == (1, 0)
    assert {ray.p_sign for ray in first.rays.rays} == {-1} and {ray.order for ray in first.rays.rays} == {2}


def test_every_point_lies_on_the_curve_with_the_right_degree():
    path = full()
    np.testing.assert_allclose(path.p, load(path.q[:, 0]), atol=1e-12)
    H = 2 * (1 - L0 / (1 + path.q[:, 0] ** 2) ** 1.5)
    keep = mask(path)
    keep[0] = True
    np.testing.assert_array_equal(path.instability[keep], (H < 0)[keep].astype(int))
    assert np.all(np.diff(path.q[:, 0]) < 0)


def test_table_values_by_user_events():
    events = {f"y = {y}": (lambda q, p, y=y: q[0] - y) for y, _, _ in TABLE}
    path = full(events=events)
    found = {event.detail: event for event in path.events if event.kind is Kind.user}
    system = model("von-mises")
    for y, p, H in TABLE:
        event = found[f"y = {y}"]
        assert event.q[0] == pytest.approx(y, abs=1e-12) and event.p == pytest.approx(p, abs=1e-12)
        assert system.evaluate(event.q, event.p, np.zeros(0)).L_qq[0, 0] == pytest.approx(H, abs=1e-10)


def test_user_events_are_reported_once():
    path = full(events={"half": lambda q, p: q[0] - 0.4})
    assert [event.kind for event in path.events if event.kind is Kind.user] == [Kind.user]


def test_curvature_at_the_limit_point():
    """U_yyy = 1.54776615338 there, and c₁ = 1: d²p/dy² = −U_yyy/U_y'."""
    system = model("von-mises")
    x, along = np.array([Y_L, P_L]), np.array([1.0, 0.0])
    assert system.along(x, along, 2)[0] == pytest.approx(1.54776615338, abs=1e-10)


def test_rates_at_the_limit_point():
    system = model("von-mises")
    rates = onesided.rates(system, [Y_L], P_L)
    assert rates.G is None and abs(rates.c1) == pytest.approx(1.0)


def test_dead_load_snap():
    system = model("von-mises")
    landed = onesided.solve(system, [Y_L - 1e-3], p=P_L, method=onesided.Relaxation()).value
    assert landed.q[0] == pytest.approx(-0.588543535382751, abs=1e-10)
    assert system.evaluate(landed.q, P_L, np.zeros(0)).L_qq[0, 0] == pytest.approx(0.568696166421, abs=1e-10)


def test_floor_on_the_unstable_part():
    path = onesided.trace(model("von-mises-floor"), [0.5], 0.0, p_bounds=(-0.1, 0.1))
    assert kinds(path) == [Kind.limit, Kind.corner_limit]
    limit, corner = path.events[:2]
    assert limit.p == pytest.approx(P_L, abs=1e-14) and degrees(limit) == (0, 1)
    assert corner.p == pytest.approx(0.038529009653515, abs=1e-12) and corner.q[0] == pytest.approx(0.2, abs=1e-12)
    assert degrees(corner) == (1, 0) and corner.constraints == ("floor",)
    contact = slice(corner.index, None)
    np.testing.assert_allclose(path.q[contact, 0], 0.2, atol=1e-12)
    np.testing.assert_allclose(path.lam[contact, 0], path.p[contact] - load(0.2), atol=1e-12)
    assert np.all(np.diff(path.p[contact]) > 0)


def test_floor_on_the_far_stable_part():
    path = onesided.trace(model("von-mises-floor", ys=-0.45), [0.5], 0.0, p_bounds=(-0.1, 0.1))
    assert kinds(path) == [Kind.limit, Kind.limit, Kind.closes]
    kink = path.events[2]
    assert kink.p == pytest.approx(-0.017603314071959, abs=1e-12) and degrees(kink) == (0, 0)
    np.testing.assert_allclose(path.lam[kink.index :, 0], path.p[kink.index :] - load(-0.45), atol=1e-12)


@pytest.mark.parametrize(("ys", "p", "G"), [(0.2, 0.038529009653515, -9.232540764061),
                                            (-0.45, -0.017603314071959, 3.286583006211)])  # fmt: skip
def test_rates_at_the_floor(ys, p, G):
    rates, rays = assert_lcp_equals_rays(model("von-mises-floor", ys=ys), [ys], p)
    assert rates.G[0, 0] == pytest.approx(G, rel=1e-11) and rates.g_hat[0] == pytest.approx(-G, rel=1e-11)
    signs = sorted(ray.p_sign for ray in rays.rays)
    assert signs == ([1, 1] if G < 0 else [-1, 1])


@pytest.mark.parametrize(("k", "b", "h"), [(1.0, 1.0, 0.5), (2e5, 3.0, 0.4), (1e-3, 0.02, 0.01)])
def test_limit_load_formula(k, b, h):
    l0 = math.hypot(b, h)
    exact = 2 * k * b * ((l0 / b) ** (2 / 3) - 1) ** 1.5
    path = onesided.trace(model("von-mises", k=k, b=b, h=h), [h], 0.0, p_bounds=(-2 * exact, 2 * exact))
    assert kinds(path) == [Kind.limit, Kind.limit]
    np.testing.assert_allclose([event.p for event in path.events[:2]], [exact, -exact], rtol=1e-12)
    y = math.sqrt((l0 * b**2) ** (2 / 3) - b**2)
    np.testing.assert_allclose([event.q[0] for event in path.events[:2]], [y, -y], rtol=1e-8)
