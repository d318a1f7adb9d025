"""REFERENCE G and the end of B7: formulas of sections 4, 5 and 7 on random systems."""

import numpy as np
from sp1_quadratic import quadratic3
from sp1_tools import assert_lcp_equals_rays

import onesided


def random_problem(rng):
    A = rng.normal(size=(3, 3))
    return A + A.T, rng.normal(size=3), rng.normal(size=3)


def test_one_weakly_active_constraint():
    """G<0: two solutions or none; G>0: one and one. The degree rises by one exactly when G<0 [SP1 section 5]."""
    rng = np.random.default_rng(11)
    seen = set()
    for _ in range(40):
        H, b, E = random_problem(rng)
        rates, rays = assert_lcp_equals_rays(quadratic3(H, b, E), np.zeros(3), 0.0)
        G, g_hat = E @ np.linalg.solve(H, E), E @ np.linalg.solve(H, b)
        np.testing.assert_allclose([rates.G[0, 0], rates.g_hat[0]], [G, g_hat], rtol=1e-8)
        T = np.linalg.svd(E[None])[2][1:].T  # null space of E
        closed, opened = np.linalg.eigvalsh(T.T @ H @ T), np.linalg.eigvalsh(H)
        t0 = E / np.linalg.norm(E)
        schur = t0 @ H @ t0 - t0 @ H @ T @ np.linalg.solve(T.T @ H @ T, T.T @ H @ t0)
        np.testing.assert_allclose(G, (t0 @ E) ** 2 / schur, rtol=1e-8)
        rise = np.sum(opened < 0) - np.sum(closed < 0)
        assert rise == (1 if G < 0 else 0)
        by = {ray.closed: ray for ray in rays.rays}
        assert by[()].instability == np.sum(opened < 0) and by[("gap",)].instability == np.sum(closed < 0)
        turns = by[()].p_sign * by[("gap",)].p_sign > 0
        assert turns == (G < 0) and len(rays) == 2
        seen.add(bool(turns))
    assert seen == {True, False}


def test_zero_g_hat_gives_trivial_rates_for_each_sign():
    """Errata 6: ĝ = 0 gives one solution (trivial in ġ, λ̇) for each sign, whatever the sign of G."""
    H = np.diag([1.0, -2.0, 3.0])
    for E in ([0.0, 0.0, 1.0], [0.0, 1.0, 0.0]):
        b = np.array([1.0, 0.0, 0.0])
        rates, rays = onesided.rates(quadratic3(H, b, E), np.zeros(3), 0.0), None
        assert rates.g_hat[0] == 0.0
        rays = onesided.rays(quadratic3(H, b, E), np.zeros(3), 0.0)
        along = sorted(tuple(np.round([r.p_sign, *(r.q_dot / abs(r.p_dot)), *r.lam_dot], 9)) for r in rays.rays)
        assert along == [(-1, -1, 0, 0, 0), (1, 1, 0, 0, 0)]


def test_constants_are_invariant_up_to_the_sign_of_the_eigenvector():
    """Errata 2 and 9: c₂/c₁ and c₄ in the corrected form, for a random singular H₊."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        d = np.array([0.0, 1.5, -0.7])
        H, b, E = Q @ np.diag(d) @ Q.T, rng.normal(size=3), rng.normal(size=3)
        rates = onesided.rates(quadratic3((H + H.T) / 2, b, E), np.zeros(3), 0.0)
        load = -b
        c1, c2 = Q[:, 0] @ load, E @ Q[:, 0]
        inner = np.array([Q[:, i] @ (E - c2 / c1 * load) for i in (1, 2)])
        c4 = sum((E @ Q[:, i]) * inner[i - 1] / d[i] for i in (1, 2))
        assert rates.G is None
        np.testing.assert_allclose(rates.c2 / rates.c1, [c2 / c1], rtol=1e-8)
        np.testing.assert_allclose(rates.c4, [c4], rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(np.sort(np.abs(rates.c3.ravel())), np.sort(np.abs(inner)), rtol=1e-8)
