"""REFERENCE B6 (G = 0) and B7 (naive active sets fail)."""

import numpy as np
import pytest
from sp1_tools import assert_lcp_equals_rays, assert_same_rows, degrees, kinds, model, per_unit_p

import onesided
from onesided import Kind


class TestFlatContact:
    """B6."""

    @pytest.mark.parametrize("beta", [1.0, -1.0])
    def test_first_order_cannot_tell(self, beta):
        system = model("flat-contact", beta=beta)
        rates, rays = onesided.rates(system, [0.0, 0.0], 0.0), onesided.rays(system, [0.0, 0.0], 0.0)
        np.testing.assert_allclose(rates.G, [[0]], atol=1e-14)
        np.testing.assert_allclose(rates.g_hat, [1], atol=1e-14)
        assert_same_rows(per_unit_p(rays), [(1, 1, 0, 0)])
        (flat,) = [ray for ray in rays.rays if ray.order != 1]
        assert flat.order == 2 and flat.p_sign == beta and flat.closed == ("contact",)
        np.testing.assert_allclose([*(flat.q_dot / flat.lam_dot[0]), flat.p_dot], [0, 1, 0], atol=1e-12)

    def test_lcp_equals_rays(self):
        rates, _ = assert_lcp_equals_rays(model("flat-contact"), [0.0, 0.0], 0.0)
        assert onesided.all_solutions(rates.lcp(-1.0)).empty

    @pytest.mark.parametrize("beta", [1.0, -1.0])
    def test_from_free_to_contact(self, beta):
        path = onesided.trace(model("flat-contact", beta=beta), [1.0, 0.0], 1.0, direction=-1, p_bounds=(-1.0, 2.0))
        assert kinds(path) == [Kind.corner_limit if beta > 0 else Kind.closes]
        corner = path.events[0]
        assert abs(corner.p) < 1e-12 and degrees(corner) == ((1, 0) if beta > 0 else (1, 1))
        i = corner.index
        np.testing.assert_allclose(path.q[: i + 1], path.p[: i + 1, None] * [1, 0], atol=1e-12)
        t = path.q[i:, 1]
        np.testing.assert_allclose(path.p[i:], beta * t**2, atol=1e-11)
        np.testing.assert_allclose(path.lam[i:, 0], t, atol=1e-11)
        assert path.p[-1] == pytest.approx(2.0 if beta > 0 else -1.0)

    @pytest.mark.parametrize("beta", [1.0, -1.0])
    def test_from_contact_to_free(self, beta):
        system, p0 = model("flat-contact", beta=beta), beta * 0.25
        path = onesided.trace(system, [0.0, 0.5], p0, direction=-int(beta), p_bounds=(-1.0, 1.0))
        assert kinds(path) == [Kind.corner_limit if beta > 0 else Kind.opens]
        corner = path.events[0]
        assert abs(corner.p) < 1e-12 and degrees(corner) == ((0, 1) if beta > 0 else (1, 1))
        np.testing.assert_allclose(path.q[-1], [1, 0], atol=1e-10)


class TestTwoSupports:
    """B7."""

    def test_rates(self):
        rates, rays = assert_lcp_equals_rays(model("two-supports"), [0.0, 0.0], 0.0)
        np.testing.assert_allclose(rates.G, [[1, -0.9], [-0.9, 1]], rtol=1e-12)
        np.testing.assert_allclose(rates.g_hat, [-0.4, 0.55], rtol=1e-12)
        assert_same_rows(per_unit_p(rays), [(1, 0, 0.19, 0.4, 0), (-1, 0, 0, 0.5, 1)])

    def test_path(self):
        path = onesided.trace(model("two-supports"), [0.0, 0.0], -1.0, p_bounds=(-1.0, 1.0))
        assert kinds(path) == [Kind.opens] and path.events[0].constraints == ("support2",)
        assert abs(path.events[0].p) < 1e-12 and degrees(path.events[0]) == (0, 0)
        down, up = np.maximum(-path.p, 0), np.maximum(path.p, 0)
        np.testing.assert_allclose(path.q, np.column_stack([0 * up, 0.19 * up]), atol=1e-12)
        np.testing.assert_allclose(path.lam, np.column_stack([0.5 * down + 0.4 * up, down]), atol=1e-12)
        assert np.all(path.gaps >= -1e-12)

    def test_back(self):
        path = onesided.trace(model("two-supports"), [0.0, 0.19], 1.0, direction=-1, p_bounds=(-1.0, 1.0))
        assert kinds(path) == [Kind.closes] and abs(path.events[0].p) < 1e-12
        np.testing.assert_allclose(path.lam[-1], [0.5, 1.0], atol=1e-12)


def test_three_contacts_where_flipping_cycles():
    G = np.array([[4, 5, -5], [5, 9, -5], [-5, -5, 7]], dtype=float)
    problem = onesided.LCP(G, np.array([2.0, 1.0, -3.0]))
    assert_same_rows(onesided.all_solutions(problem).points, [(0, 4 / 19, 11 / 19)])
    np.testing.assert_allclose(onesided.solve(problem).value, [0, 4 / 19, 11 / 19], atol=1e-10)
    # The same as a mechanical system: H = G⁻¹, ĝ = q at ṗ = 1.
    H = np.linalg.inv(G)
    b = H @ [2.0, 1.0, -3.0]
    system = onesided.System(
        ("x", "y", "z"),
        lambda q, p, th: q @ H @ q / 2 - p * (b @ q),
        unilateral={name: (lambda q, p, th, i=i: q[i]) for i, name in enumerate("abc")},
    )
    rates, rays = assert_lcp_equals_rays(system, [0.0, 0.0, 0.0], 0.0)
    np.testing.assert_allclose(rates.G, G, rtol=1e-9)
    (up,) = [ray for ray in rays.rays if ray.p_sign > 0]
    np.testing.assert_allclose(up.lam_dot / up.p_dot, [0, 4 / 19, 11 / 19], atol=1e-9)
    np.testing.assert_allclose(up.gap_dot / up.p_dot, [3 / 19, 0, 0], atol=1e-9)
