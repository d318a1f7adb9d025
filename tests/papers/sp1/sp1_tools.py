"""Shared by the tests of SP1: models of the zoo, and rays as sets that can be compared with tables."""

import numpy as np

import onesided
from onesided import Kind, zoo

_MODELS = {}


def model(name, **parameters):
    """A model of the zoo, compiled once, with changed parameters."""
    if name not in _MODELS:
        _MODELS[name] = zoo.load(name)[0]
    return _MODELS[name].replace(parameters=parameters)


def kinds(path):
    """Kinds of events without the bounds."""
    return [event.kind for event in path.events if event.kind is not Kind.bound]


def mask(path):
    """Points that are not events."""
    keep = np.ones(len(path), dtype=bool)
    keep[[event.index for event in path.events]] = False
    return keep


def degrees(event):
    return event.instability_before, event.instability_after


def per_unit_p(rays, weak=None):
    """Rays with ṗ ≠ 0 as rows (sign, q̇…, λ̇…) for |ṗ| = 1, sorted."""
    rows = [
        np.concatenate([[r.p_sign], r.q_dot / abs(r.p_dot), r.lam_dot / abs(r.p_dot)])
        for r in rays.rays
        if r.order == 1
    ]
    return sorted_rows(rows)


def sorted_rows(rows):
    rows = np.array(rows, dtype=float)
    if not len(rows):
        return rows
    return rows[np.lexsort(np.round(rows, 6).T[::-1])]


def assert_same_rows(found, expected, atol=1e-10):
    """The same rows, as sets."""
    assert len(found) == len(expected)
    if len(expected):
        np.testing.assert_allclose(sorted_rows(found), sorted_rows(expected), atol=atol)


def lcp_rows(rates):
    """Solutions (sign, λ̇, ġ) of the paper's LCP for ṗ = ±1."""
    rows = []
    for sign in (+1, -1):
        found = onesided.all_solutions(rates.lcp(sign))
        assert not found.families
        rows += [np.concatenate([[sign], lam, rates.G @ lam + sign * rates.g_hat]) for lam in found.points]
    return rows


def ray_rows(system, rates, rays):
    """The same of the rays with ṗ ≠ 0."""
    weak = [list(system.unilateral).index(name) for name in rates.weak]
    return [
        np.concatenate([[r.p_sign], r.lam_dot[weak] / abs(r.p_dot), r.gap_dot[weak] / abs(r.p_dot)])
        for r in rays.rays
        if r.order == 1
    ]


def assert_lcp_equals_rays(system, q, p):
    """The two routes to the first-order problem agree, also about rays of constant p."""
    rates, rays = onesided.rates(system, q, p), onesided.rays(system, q, p)
    assert_same_rows(ray_rows(system, rates, rays), lcp_rows(rates), atol=1e-9)
    horizontal = [ray for ray in rays.rays if ray.order != 1]
    constant = onesided.all_solutions(rates.lcp(0.0))
    assert bool(horizontal) == bool(constant.families)
    return rates, rays
