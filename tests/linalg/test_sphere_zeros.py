"""Zeros on spheres: counts known from normal forms, complex zeros against Bézout's number."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onesided.base.tolerances import EPS
from onesided.linalg.polynomials import fit_on_sphere, terms_on_sphere
from onesided.linalg.sphere_zeros import zeros_on_sphere

RADIUS = 0.3


def on_sphere(functions):
    """Functions of p and modes as functions on the sphere."""
    return lambda b: np.column_stack(functions(*(RADIUS * b).T))


def dihedral(n):
    """Reduced equations of D_n symmetry: p z − |z|² z + 0.3 z̄ⁿ⁻¹."""

    def functions(p, x, y):
        z = x + 1j * y
        g = p * z - abs(z) ** 2 * z + 0.3 * np.conj(z) ** (n - 1)
        return g.real, g.imag

    return functions


def random_points(count, variables):
    points = np.random.default_rng(3).normal(size=(count, variables))
    return points / np.linalg.norm(points, axis=1)[:, None]


class TestPolynomials:
    @pytest.mark.parametrize("degree", [2, 3, 5])
    def test_as_many_zeros_as_bezout_counts(self, degree):
        points = random_points(3 * terms_on_sphere(3, degree), 3)
        values = np.random.default_rng(4).normal(size=(2, terms_on_sphere(3, degree)))
        generic = fit_on_sphere(points, points[:, :2], degree)
        generic = type(generic)(3, degree, values)
        ends = generic.zeros()
        assert ends.lost == 0 and len(ends.points) == 2 * degree**2
        assert np.max(np.abs(np.sum(ends.points**2, axis=1) - 1.0)) < 1e-6
        gaps = np.linalg.norm(ends.points[:, None] - ends.points[None], axis=-1) + 9.0 * np.eye(len(ends.points))
        assert np.min(gaps) > 1e-3

    def test_a_fit_is_exact_for_polynomials(self):
        points = random_points(60, 3)
        values = np.column_stack([points[:, 0] ** 3 - points[:, 1], points[:, 2] ** 2 + 0.5])
        fit = fit_on_sphere(points, values, 3)
        fresh = random_points(200, 3)[100:]
        expected = np.column_stack([fresh[:, 0] ** 3 - fresh[:, 1], fresh[:, 2] ** 2 + 0.5])
        assert np.max(np.abs(fit(fresh) - expected)) < 1e-12
        h = 1e-6 * np.array([0.0, 1.0, 0.0])
        assert np.max(np.abs((fit(fresh + h) - fit(fresh - h)) / 2e-6 - fit.jacobian(fresh)[:, :, 1])) < 1e-7


@pytest.mark.parametrize("n", [3, 4, 5, 6, 8])
def test_dihedral_symmetry(n):
    found = zeros_on_sphere(on_sphere(dihedral(n)), 2, noise=EPS)
    assert found.reason == "" and found.family == 0
    assert len(found.points) == 2 + 2 * n and np.sum(found.signs) == 0
    branches = found.points[np.hypot(found.points[:, 1], found.points[:, 2]) > 0.1]
    angles = np.arctan2(branches[:, 2], branches[:, 1]) * n / np.pi
    assert np.max(np.abs(angles - np.round(angles))) < 1e-6
    assert len(set(np.round(angles).astype(int) % (2 * n))) == 2 * n


def test_a_circle_of_zeros():
    circle = on_sphere(lambda p, x, y: (x * (p - x * x - y * y), y * (p - x * x - y * y)))
    found = zeros_on_sphere(circle, 2, noise=EPS)
    assert found.family == 1 and found.reason == "" and len(found.points) == 2


def test_three_modes():
    cubes = on_sphere(lambda p, x, y, z: (p * x - x**3, p * y - y**3, p * z - z**3))
    assert len(zeros_on_sphere(cubes, 3, noise=EPS).points) == 28
    tetrahedral = on_sphere(lambda p, x, y, z: (p * x - x**3 - y * z, p * y - y**3 - z * x, p * z - z**3 - x * y))
    assert len(zeros_on_sphere(tetrahedral, 3, noise=EPS).points) == 16


def test_what_cannot_be_decided_is_not_claimed():
    double = zeros_on_sphere(on_sphere(lambda p, u: (p * p,)), 1, noise=EPS)
    assert double.reason
    high = zeros_on_sphere(on_sphere(dihedral(24)), 2, noise=EPS)
    assert high.reason or high.family == 1
    assert zeros_on_sphere(lambda b: np.full((len(b), 1), np.nan), 1, noise=EPS) is None


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-40, 40), min_size=1, max_size=4, unique=True))
def test_lines_through_a_point(angles):
    """A product of linear forms vanishes on twice as many half-lines."""
    directions = np.array([np.pi * k / 81 for k in angles])

    def product(b):
        return np.prod([np.cos(a) * b[:, 0] + np.sin(a) * b[:, 1] for a in directions], axis=0)[:, None]

    found = zeros_on_sphere(product, 1, noise=EPS)
    assert found.reason == "" and len(found.points) == 2 * len(angles) and np.sum(found.signs) == 0
    assert np.max(np.abs(product(found.points))) < 1e-12
