"""REFERENCE A: the bar on a stop, SP1 section 6."""

import math

import numpy as np
import pytest
from sp1_tools import assert_lcp_equals_rays, assert_same_rows, degrees, kinds, mask, model, per_unit_p

import onesided
from onesided import Kind, Status

PI = math.pi
CONTACT_OR_FREE = [  # p, branch 1 (λ, U), branch 2 (φ, H), branch 3 (λ, U)
    (-2.0, 2.0, 4.0, 1.1071487178, -2.2360679775, 2.0, 2.0),
    (-1.0, 1.0, 2.5, 0.7853981634, -1.4142135624, 1.0, 0.5),
    (-0.5, 0.5, 2.125, 0.4636476090, -1.1180339887, 0.5, 0.125),
    (-0.25, 0.25, 2.03125, 0.2449786631, -1.0307764064, 0.25, 0.03125),
]
BRANCH_4 = [
    (0.25, 2.8966139905, 1.0307764064, 0.00047359360),
    (1.0, 2.3561944902, 1.4142135624, 0.08578643763),
    (2.0, 2.0344439358, 2.2360679775, 0.76393202250),
]


def up(system, p0=-2.0, **options):
    return onesided.trace(system, [0.0], p0, p_bounds=(-2.0, 2.0), **options)


def test_corner_limit_point():
    path = up(model("corner-limit"))
    assert kinds(path) == [Kind.corner_limit]
    corner = path.events[0]
    assert abs(corner.p) < 1e-12 and abs(corner.q[0]) < 1e-12 and abs(corner.lam[0]) < 1e-12
    assert corner.constraints == ("stop",)
    assert degrees(corner) == (0, 1)
    assert path.status is Status.bound_reached and path.events[-1].p == -2.0
    assert path.residual < 1e-10


def test_every_point_lies_on_branch_1_then_2():
    path = up(model("corner-limit"))
    corner = path.events[0].index
    np.testing.assert_allclose(path.q[: corner + 1, 0], 0, atol=1e-12)
    np.testing.assert_allclose(path.lam[: corner + 1, 0], -path.p[: corner + 1], atol=1e-12)
    np.testing.assert_allclose(path.energy[: corner + 1], 2 + path.p[: corner + 1] ** 2 / 2, rtol=1e-12)
    np.testing.assert_allclose(path.p[corner:], -np.tan(path.q[corner:, 0]), atol=1e-9)
    assert np.all(path.lam[corner + 1 :] == 0)
    assert np.all(np.diff(path.p[: corner + 1]) > 0) and np.all(np.diff(path.p[corner:]) < 0)
    free = mask(path)
    assert np.all(path.instability[:corner] == 0) and np.all(path.instability[corner + 1 :][free[corner + 1 :]] == 1)


@pytest.mark.parametrize(("p", "lam1", "U1", "phi2", "H2", "lam3", "U3"), CONTACT_OR_FREE)
def test_table_negative_p(p, lam1, U1, phi2, H2, lam3, U3):
    system = model("corner-limit")
    down = onesided.trace(system, [0.0], -0.1, direction=-1, p_bounds=(p, 0.0))
    assert down.p[-1] == p and down.q[-1, 0] == pytest.approx(0.0, abs=1e-14)
    assert down.lam[-1, 0] == pytest.approx(lam1, abs=1e-12) and down.energy[-1] == pytest.approx(U1, abs=1e-12)
    free = up(system, p0=-1e-3 if p > -1e-3 else p, max_points=None)
    end = onesided.branch(free.events[0], free.events[0].forward[0])
    assert end.p[-1] == -2.0
    point = onesided.solve(system, [phi2], p=p, method=onesided.Newton()).value
    assert point.q[0] == pytest.approx(phi2, abs=1e-10) and point.instability == 1
    assert system.evaluate(point.q, p, point.nu).L_qq[0, 0] == pytest.approx(H2, abs=1e-9)
    other = onesided.solve(system, start=[PI - 0.01], p=p).value
    assert other.q[0] == pytest.approx(PI, abs=1e-12)
    assert other.lam[0] == pytest.approx(lam3, abs=1e-12) and other.energy == pytest.approx(U3, abs=1e-12)
    assert other.instability == 0 and other.minimum


@pytest.mark.parametrize(("p", "phi", "H", "U"), BRANCH_4)
def test_table_positive_p(p, phi, H, U):
    system = model("corner-limit")
    path = onesided.trace(system, [PI], -1.0, p_bounds=(-2.0, p))
    assert path.p[-1] == p
    assert path.q[-1, 0] == pytest.approx(phi, abs=1e-10) and path.energy[-1] == pytest.approx(U, abs=1e-10)
    assert system.evaluate(path.q[-1], p, np.zeros(1)).L_qq[0, 0] == pytest.approx(H, abs=1e-9)
    for start in (0.0, 0.5, 1.5, 2.5, PI):  # branch 4 is the only equilibrium for p > 0
        found = onesided.solve(system, [start], p=p, method=onesided.Relaxation()).value
        assert found.q[0] == pytest.approx(phi, abs=1e-9) and found.instability == 0 and found.lam[0] == 0


@pytest.mark.parametrize(("k", "L"), [(1.0, 1.0), (3.0, 2.0), (1e3, 0.01)])
def test_rates_and_rays_at_the_corner(k, L):
    """Equation (6.1): ġ = −λ̇/(kL²) − ṗ/L."""
    system = model("corner-limit", k=k, L=L, d=-L)
    rates, rays = assert_lcp_equals_rays(system, [0.0], 0.0)
    np.testing.assert_allclose(rates.G, [[-1 / (k * L**2)]], rtol=1e-12)
    np.testing.assert_allclose(rates.g_hat, [-1 / L], rtol=1e-12)
    np.testing.assert_allclose(rates.H_strong, [[-k * L**2]], rtol=1e-12)
    expected = [[-1, 0.0, k * L], [-1, 1 / L, 0.0]]
    found = per_unit_p(rays)
    assert_same_rows(found / [1, 1 / L, k * L], np.array(expected) / [1, 1 / L, k * L])
    closed = {ray.closed: ray.instability for ray in rays.rays}
    assert closed == {(): 1, ("stop",): 0}


def test_other_side_of_the_hinge_is_an_ordinary_lift_off():
    """With d = +L the vertex is a regular, stable lift-off."""
    system = model("corner-limit", d=1.0)
    path = onesided.trace(system, [0.0], -1.0, p_bounds=(-2.0, 1.0))
    assert kinds(path) == [Kind.opens]
    assert degrees(path.events[0]) == (0, 0) and path.events[0].p == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(np.tan(path.q[path.p >= 0, 0]), path.p[path.p >= 0], atol=1e-9)


def test_kink_at_180_degrees():
    system = model("corner-limit")
    rates, rays = assert_lcp_equals_rays(system, [PI], 0.0)
    np.testing.assert_allclose(rates.G, [[1.0]], rtol=1e-12)
    np.testing.assert_allclose(rates.g_hat, [1.0], rtol=1e-12)
    np.testing.assert_allclose(rates.E_weak, [[-1.0]], rtol=1e-12)
    assert_same_rows(per_unit_p(rays), [[1, -1.0, 0.0], [-1, 0.0, 1.0]])
    path = onesided.trace(system, [PI], -2.0, p_bounds=(-2.0, 2.0))
    assert kinds(path) == [Kind.opens] and abs(path.events[0].p) < 1e-12
    assert degrees(path.events[0]) == (0, 0)
    i = path.events[0].index
    np.testing.assert_allclose(path.q[: i + 1, 0], PI, atol=1e-12)
    np.testing.assert_allclose(path.lam[: i + 1, 0], -path.p[: i + 1], atol=1e-12)
    np.testing.assert_allclose(path.q[i:, 0], PI - np.arctan(path.p[i:]), atol=1e-9)
    np.testing.assert_allclose(path.energy[i:], (np.sqrt(1 + path.p[i:] ** 2) - 1) ** 2 / 2, atol=1e-9)


def test_jump_is_irreversible():
    """The jump lands on branch 4 and releases 2kL²; going back follows branch 4, then branch 3, never φ = 0."""
    system = model("corner-limit")
    landed = onesided.solve(system, [0.1], p=1e-4, method=onesided.Relaxation()).value
    assert landed.q[0] == pytest.approx(PI - math.atan(1e-4), abs=1e-10)
    assert 2.0 - landed.energy == pytest.approx(2.0, abs=1e-8)
    back = onesided.trace(system, landed.q, 1e-4, direction=-1, p_bounds=(-2.0, 2.0))
    assert kinds(back) == [Kind.closes] and degrees(back.events[0]) == (0, 0)
    np.testing.assert_allclose(back.q[-1], PI, atol=1e-12)
    assert back.p[-1] == -2.0 and back.lam[-1, 0] == pytest.approx(2.0, abs=1e-12)


def test_the_corner_itself_is_not_stable():
    point = onesided.solve(model("corner-limit"), [0.0], p=0.0, method=onesided.Newton()).value
    assert point.states() == {"stop": "weak"}
    assert point.instability == 1 and point.minimum is False


def test_jump_from_a_slight_push():
    landed = onesided.solve(model("corner-limit"), [1e-3], p=1e-9, method=onesided.Relaxation()).value
    assert landed.q[0] == pytest.approx(PI, abs=1e-8)
