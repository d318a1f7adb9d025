"""Generators of cones against a brute-force oracle."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.base.errors import UsageError
from onesided.linalg.polyhedra import cone_generators


def null(matrix, n):
    matrix = np.reshape(matrix, (-1, n))
    if not len(matrix):
        return np.eye(n)
    _, s, V = np.linalg.svd(matrix)
    return V[int((s > 1e-9).sum()) :]


def oracle(A, B, n):
    """Extreme rays orthogonal to the lineality space: null vectors of all subsets of inequalities."""
    lines = null(np.vstack([A, B]), n)
    fixed = np.vstack([A, lines])
    rays = []
    for size in range(min(len(B), n) + 1):
        for chosen in itertools.combinations(range(len(B)), size):
            basis = null(np.vstack([fixed, B[list(chosen)]]), n)
            if len(basis) == 1:
                for ray in (basis[0], -basis[0]):
                    if (B @ ray >= -1e-9).all() and not any(np.abs(ray - other).max() < 1e-7 for other in rays):
                        rays.append(ray)
    return lines, np.reshape(rays, (-1, n))


def same_rows(one, two):
    return len(one) == len(two) and all(min(np.abs(two - row).max(axis=1)) < 1e-7 for row in one)


def check(A, B, n):
    found = cone_generators(A, B)
    lines, rays = oracle(A, B, n)
    assert found.lines.shape == lines.shape
    np.testing.assert_allclose(found.lines @ found.lines.T, np.eye(len(lines)), atol=1e-12)
    np.testing.assert_allclose(found.lines.T @ found.lines, lines.T @ lines, atol=1e-9)
    assert same_rows(found.rays, rays)
    np.testing.assert_allclose(A @ found.rays.T, 0, atol=1e-9)
    assert (B @ found.rays.T >= -1e-9).all()


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(0, 2), st.integers(0, 7))
def test_random_integer_cones(seed, n, a, b):
    """Small integers make parallel, redundant, opposite and zero rows frequent."""
    rng = np.random.default_rng(seed)
    check(rng.integers(-2, 3, (a, n)).astype(float), rng.integers(-2, 3, (b, n)).astype(float), n)


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 8))
def test_random_cones_in_general_position(seed, n, b):
    rng = np.random.default_rng(seed)
    check(np.zeros((0, n)), rng.standard_normal((b, n)), n)


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 7))
def test_row_lengths_and_order_do_not_matter(seed, n, b):
    rng = np.random.default_rng(seed)
    B = rng.integers(-2, 3, (b, n)).astype(float)
    lengths, order = 10.0 ** rng.integers(-12, 12, b), rng.permutation(b)
    plain, other = cone_generators(B[:0], B), cone_generators(B[:0], (lengths[:, None] * B)[order])
    assert same_rows(plain.rays, other.rays) and plain.lines.shape == other.lines.shape


def test_orthant_half_space_and_whole_space():
    for n in (1, 3, 12):
        orthant = cone_generators(np.zeros((0, n)), np.eye(n))
        assert same_rows(orthant.rays, np.eye(n)) and orthant.lines.shape == (0, n)
        whole = cone_generators(np.zeros((0, n)), np.zeros((0, n)))
        assert whole.rays.shape == (0, n) and whole.lines.shape == (n, n)
        half = cone_generators(np.zeros((0, n)), np.eye(n)[:1])
        np.testing.assert_allclose(half.rays, np.eye(n)[:1], atol=1e-12)
        assert half.lines.shape == (n - 1, n)


def test_opposite_inequalities_are_an_equality():
    found = cone_generators(np.zeros((0, 2)), [[1, 1], [-1, -1], [1, 0]])
    np.testing.assert_allclose(found.rays, [[np.sqrt(0.5), -np.sqrt(0.5)]], atol=1e-12)


def test_only_the_origin():
    found = cone_generators(np.zeros((0, 2)), [[1, 0], [-1, 0], [0, 1], [0, -1]])
    assert found.rays.shape == (0, 2) and found.lines.shape == (0, 2)


@pytest.mark.parametrize("d", [3, 4, 5])
def test_cone_over_a_cube_and_over_a_cross_polytope(d):
    """±x_i ≤ t has 2^d rays; Σ ±x_i ≤ t (2^d rows, degenerate) has 2d."""
    cube = np.vstack([np.hstack([s * np.eye(d), np.ones((d, 1))]) for s in (1, -1)])
    assert len(cone_generators(np.zeros((0, d + 1)), cube).rays) == 2**d
    signs = np.array(list(itertools.product([1, -1], repeat=d)))
    cross = np.hstack([signs, np.ones((2**d, 1))])
    assert len(cone_generators(np.zeros((0, d + 1)), cross).rays) == 2 * d


def test_thirty_inequalities_in_a_cone_with_known_rays():
    """A cone over a regular 30-gon: every ray is the meet of two neighbouring sides."""
    angles = 2 * np.pi * np.arange(30) / 30
    found = cone_generators(np.zeros((0, 3)), np.column_stack([np.cos(angles), np.sin(angles), np.ones(30)]))
    tips = np.column_stack([np.cos(angles + np.pi / 30), np.sin(angles + np.pi / 30), -np.full(30, np.cos(np.pi / 30))])
    expected = -tips / np.linalg.norm(tips, axis=1, keepdims=True)
    assert same_rows(found.rays, expected)


@pytest.mark.parametrize(
    ("A", "B"), [(np.zeros(3), np.eye(3)), (np.zeros((0, 2)), np.eye(3)), (np.zeros((0, 1)), [[np.nan]])]
)
def test_misuse(A, B):
    with pytest.raises(UsageError):
        cone_generators(A, B)
