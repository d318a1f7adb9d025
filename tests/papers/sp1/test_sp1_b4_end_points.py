"""REFERENCE B4: end points, true and apparent."""

import numpy as np
from sp1_quadratic import quadratic2
from sp1_tools import assert_lcp_equals_rays, assert_same_rows, degrees, kinds, model, per_unit_p

import onesided
from onesided import Kind, Status


def fragile(delta):
    """B4.1 with U' = (2, −(1 + δ))."""
    return quadratic2([[-2, 1], [1, -2]], (-2.0, 1.0 + delta))


def number_of_equilibria(system, p):
    """All solutions of Hφ − pb = λ, φ ≥ 0, λ ≥ 0: an LCP, exact for finite p."""
    th = system.parameters
    H = np.array([[th["h11"], th["h12"]], [th["h12"], th["h22"]]])
    return onesided.all_solutions(onesided.LCP(H, -p * np.array([th["b1"], th["b2"]]))).points


class TestTypeTwo:
    """B4.1: a degenerate unique solution, the only true end of a path."""

    def test_trace(self):
        path = onesided.trace(model("end-point"), [1.0, 0.0], 1.0, direction=-1, p_bounds=(-1.0, 2.0))
        assert kinds(path) == [Kind.end] and path.status is Status.path_ended
        event = path.events[0]
        assert abs(event.p) < 1e-12 and np.max(np.abs(event.q)) < 1e-12
        assert event.instability_before >= 1 and event.instability_after is None
        assert event.forward == () and len(event.rays) == 1
        np.testing.assert_allclose(path.q, path.p[:, None] * [1, 0], atol=1e-12)
        np.testing.assert_allclose(path.lam, 0, atol=1e-12)

    def test_rays(self):
        rates, rays = assert_lcp_equals_rays(model("end-point"), [0.0, 0.0], 0.0)
        np.testing.assert_allclose(rates.G, [[-2 / 3, -1 / 3], [-1 / 3, -2 / 3]], rtol=1e-12)
        np.testing.assert_allclose(rates.g_hat, [1, 0], atol=1e-14)
        assert_same_rows(per_unit_p(rays), [(1, 1, 0, 0, 0)])
        assert len(rays) == 1

    def test_no_equilibrium_beyond(self):
        for p in (-0.5, -1.0):
            assert len(number_of_equilibria(fragile(0.0), p)) == 0
            found = onesided.solve(model("end-point"), start=[0.2, 0.1], p=p, throw=False)
            assert not found.ok

    def test_slightly_larger_load_ratio_has_no_path_at_all(self):
        system = fragile(0.1)
        for p in (1.0, -1.0):
            assert len(number_of_equilibria(system, p)) == 0
        assert len(onesided.rays(system, [0.0, 0.0], 0.0)) == 0
        assert not onesided.solve(system, start=[1.0, 0.0], p=1.0, throw=False).ok

    def test_slightly_smaller_load_ratio_is_a_corner_limit_point(self):
        system = fragile(-0.1)
        assert_same_rows(number_of_equilibria(system, 1.0), [(1, 0), (31 / 30, 2 / 30)])
        assert len(number_of_equilibria(system, -1.0)) == 0
        assert_lcp_equals_rays(system, [0.0, 0.0], 0.0)
        path = onesided.trace(system, [1.0, 0.0], 1.0, direction=-1, p_bounds=(-1.0, 1.0))
        assert kinds(path) == [Kind.corner_limit] and abs(path.events[0].p) < 1e-12
        i = path.events[0].index
        np.testing.assert_allclose(path.q[: i + 1], path.p[: i + 1, None] * [1, 0], atol=1e-12)
        np.testing.assert_allclose(path.lam[: i + 1], path.p[: i + 1, None] * [0, 0.1], atol=1e-12)
        np.testing.assert_allclose(path.q[-1], [31 / 30, 2 / 30], atol=1e-12)
        assert degrees(path.events[0]) == (1, 2)


class TestTypeOne:
    """B4.2: one solution for ṗ > 0, none for ṗ < 0, and a ray with ṗ = 0."""

    def test_rates(self):
        rates = onesided.rates(model("end-point-horizontal"), [0.0, 0.0], 0.0)
        rays = onesided.rays(model("end-point-horizontal"), [0.0, 0.0], 0.0)
        np.testing.assert_allclose(rates.G, [[0, 1], [1, -1]], atol=1e-14)
        np.testing.assert_allclose(rates.g_hat, [-0.5, 1], atol=1e-14)
        assert_same_rows(per_unit_p(rays), [(1, 0.5, 0, 0, 1)])
        (flat,) = [ray for ray in rays.rays if ray.order != 1]
        assert flat.p_sign == 0 and flat.order == 0 and flat.closed == ("first",)
        np.testing.assert_allclose(flat.q_dot / flat.q_dot[1], [0, 1], atol=1e-12)
        np.testing.assert_allclose(flat.lam_dot / flat.q_dot[1], [1, 0], atol=1e-12)

    def test_lcp_equals_rays(self):
        assert_lcp_equals_rays(model("end-point-horizontal"), [0.0, 0.0], 0.0)

    def test_path_goes_on_at_constant_load(self):
        path = onesided.trace(
            model("end-point-horizontal"), [0.5, 0.0], 1.0, direction=-1, p_bounds=(-1.0, 2.0), throw=False
        )
        assert kinds(path) == [Kind.closes]
        assert not path.ok and path.status is Status.far
        i = path.events[0].index
        np.testing.assert_allclose(path.q[: i + 1], path.p[: i + 1, None] * [0.5, 0], atol=1e-12)
        np.testing.assert_allclose(path.lam[: i + 1], path.p[: i + 1, None] * [0, 1], atol=1e-12)
        t = path.q[i:, 1]
        np.testing.assert_allclose(path.p[i:], 0, atol=1e-9 * max(1.0, t.max()))
        np.testing.assert_allclose(path.lam[i:, 0], t, rtol=1e-9, atol=1e-12)
        assert path.instability[1] == 0

    def test_cubic_term_leads_through(self):
        system = model("end-point-horizontal", beta=1.0)
        path = onesided.trace(system, [0.5, 0.0], 1.0, direction=-1, p_bounds=(-1.0, 2.0))
        assert len(path.events) == 2 and path.events[0].kind in {Kind.closes, Kind.opens}
        assert degrees(path.events[0]) == (0, 0)
        i = path.events[0].index
        t = path.q[i:, 1]
        np.testing.assert_allclose(path.p[i:], -2 * t**2, atol=1e-12)
        np.testing.assert_allclose(path.q[i:, 0], 0, atol=1e-12)
        np.testing.assert_allclose(path.lam[i:, 0], t - path.p[i:] / 2, atol=1e-12)
        assert path.p[-1] == -1.0

    def test_cubic_term_turns_back(self):
        system = model("end-point-horizontal", beta=-1.0)
        path = onesided.trace(system, [0.1, 0.0], 0.2, direction=-1, p_bounds=(-1.0, 0.25))
        assert kinds(path) == [Kind.corner_limit] and abs(path.events[0].p) < 1e-12
        assert degrees(path.events[0]) == (0, 1)
        i = path.events[0].index
        np.testing.assert_allclose(path.p[i:], 2 * path.q[i:, 1] ** 2, atol=1e-12)

    def test_perturbed(self):
        """G₁₁ = +0.05: two/none; −0.05: one/one with λ̇ = (10, 0), ġ = (0, 9) for ṗ = −1."""
        for g11, ups, downs in ((0.05, 2, 0), (-0.05, 1, 1)):
            H = np.linalg.inv([[g11, 1], [1, -1]])
            system = quadratic2(H, H @ [-0.5, 1])
            rates, rays = assert_lcp_equals_rays(system, [0.0, 0.0], 0.0)
            np.testing.assert_allclose(rates.G, [[g11, 1], [1, -1]], atol=1e-12)
            assert [sum(r.p_sign > 0 for r in rays.rays), sum(r.p_sign < 0 for r in rays.rays)] == [ups, downs]
        (down,) = [ray for ray in rays.rays if ray.p_sign < 0]
        np.testing.assert_allclose(down.lam_dot / -down.p_dot, [10, 0], atol=1e-9)
        np.testing.assert_allclose(down.gap_dot / -down.p_dot, [0, 9], atol=1e-9)


def test_lemke_misses_what_enumeration_finds():
    rates = onesided.rates(model("end-point-horizontal"), [0.0, 0.0], 0.0)
    assert_same_rows(onesided.all_solutions(rates.lcp(1.0)).points, [(0, 1)])
    assert onesided.all_solutions(rates.lcp(-1.0)).empty


def test_number_of_rays_is_even():
    """Strictly complementary rays come in even numbers; both routes agree on random indefinite problems."""
    rng = np.random.default_rng(5)
    counts = set()
    for _ in range(60):
        A = rng.normal(size=(2, 2))
        _, rays = assert_lcp_equals_rays(quadratic2(A + A.T, rng.normal(size=2)), [0.0, 0.0], 0.0)
        up = sum(ray.p_sign > 0 for ray in rays.rays)
        assert len(rays) % 2 == 0
        counts.add((up, len(rays) - up))
    assert (1, 1) in counts and not counts & {(0, 1), (1, 0)}
