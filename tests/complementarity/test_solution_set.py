"""All solutions: families, degenerate points, singular pieces, against an independent enumeration."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from onesided.base.errors import UsageError
from onesided.complementarity import LCP, all_solutions


def brute_force(M, q):
    """Isolated solutions by all subsets, for matrices whose principal minors are regular."""
    n, found = len(q), []
    for size in range(n + 1):
        for chosen in itertools.combinations(range(n), size):
            A, z = list(chosen), np.zeros(n)
            z[A] = np.linalg.solve(M[np.ix_(A, A)], -q[A])
            if (z >= -1e-9).all() and (M @ z + q >= -1e-9).all():
                found.append(z)
    return sorted(map(tuple, found))


def smallest_minor(M):
    n = len(M)
    minors = (
        np.linalg.svd(M[np.ix_(A, A)], compute_uv=False)[-1]
        for k in range(1, n + 1)
        for A in map(list, itertools.combinations(range(n), k))
    )
    return min(minors)


@st.composite
def generic(draw, most=5, symmetric=True):
    n, seed = draw(st.integers(1, most)), draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((n, n))
    M = (M + M.T) / 2 if symmetric else M
    assume(smallest_minor(M) > 1e-3)
    return M, rng.standard_normal(n)


@given(generic())
def test_points_are_those_of_brute_force(data):
    M, q = data
    found = all_solutions(LCP(M, q))
    expected = brute_force(M, q)
    assert not found.families and len(found.points) == len(expected)
    np.testing.assert_allclose(found.points, np.reshape(expected, (-1, len(q))), atol=1e-9)


@given(generic(symmetric=False))
def test_numbers_of_solutions_for_both_signs_have_equal_parity(data):
    """Isolated strictly complementary rays come in even numbers, p' = +1 and −1 together (REFERENCE B4)."""
    M, q = data
    both = [all_solutions(LCP(M, sign * q)) for sign in (1, -1)]
    rest = all_solutions(LCP(M, 0 * q))
    assert rest.families == () and len(rest.points) == 1  # no ray with p' = 0: all principal minors are regular
    for sign, found in zip((1, -1), both, strict=True):
        for z in found.points:
            assume(np.maximum(z, M @ z + sign * q).min() > 1e-6)
    assert (len(both[0].points) + len(both[1].points)) % 2 == 0


@pytest.mark.parametrize("n", [1, 2, 5])
def test_zero_matrix_and_vector_leave_the_whole_orthant(n):
    found = all_solutions(LCP(np.zeros((n, n)), np.zeros(n)))
    (orthant,) = found.families
    assert found.isolated == () and orthant.dimension == n
    np.testing.assert_array_equal(orthant.vertices, np.zeros((1, n)))
    np.testing.assert_allclose(np.sort(orthant.rays, axis=0), np.sort(np.eye(n), axis=0))
    assert orthant.pieces == (tuple(range(n)),)


def test_a_segment_of_reactions_is_one_family_with_two_ends():
    # Two supports under one point carry any shares of the load: z1 + z2 = 1.
    found = all_solutions(LCP(np.ones((2, 2)), [-1, -1]))
    (segment,) = found.families
    assert found.isolated == () and segment.dimension == 1 and segment.rays.shape == (0, 2)
    np.testing.assert_allclose(segment.vertices, [[0, 1], [1, 0]], atol=1e-12)
    assert segment.pieces == ((0, 1),)


def test_three_supports_under_one_point_make_a_triangle():
    (triangle,) = all_solutions(LCP(np.ones((3, 3)), -np.ones(3))).families
    assert triangle.dimension == 2
    np.testing.assert_allclose(triangle.vertices, np.eye(3)[::-1], atol=1e-12)


def test_family_and_isolated_point_side_by_side():
    # First unknown as in REFERENCE B3 with eps = −3 (three solutions), the others share a load.
    M = np.zeros((4, 4))
    M[:2, :2] = [[1 / 6, 5 / 6], [5 / 6, 1 / 6]]
    M[2:, 2:] = 1
    found = all_solutions(LCP(M, -np.ones(4)))
    assert found.isolated == () and len(found.families) == 3
    ends = sorted(tuple(np.round(face.vertices[0][:2], 9)) for face in found.families)
    assert ends == [(0, 6), (1, 1), (6, 0)]


def test_families_in_different_pieces_are_both_listed():
    # w = (z2, z1) with q = 0: both axes solve, nothing between them does.
    found = all_solutions(LCP([[0, 1], [1, 0]], [0, 0]))
    assert [face.pieces for face in found.families] == [((1,),), ((0,),)]
    assert found.isolated == ()


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1e9])
def test_scales_do_not_matter(scale):
    M, q = np.array([[-1.5, 2.5], [2.5, -1.5]]), np.ones(2)
    expected = np.array([(0, 0), (0, 2 / 3), (2 / 3, 0)])
    np.testing.assert_allclose(all_solutions(LCP(M, scale * q)).points, scale * expected, rtol=1e-12)
    np.testing.assert_allclose(all_solutions(LCP(scale * M, q)).points, expected / scale, rtol=1e-12)


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_every_generator_of_a_random_singular_problem_solves_it(seed, n):
    rng = np.random.default_rng(seed)
    B = rng.integers(-2, 3, (n, max(1, n - 2))).astype(float)
    z0, support = rng.integers(0, 3, n).astype(float), rng.random(n) < 0.5
    M = B @ B.T
    q = np.where(support, 0.0, rng.integers(0, 2, n)) - M @ np.where(support, z0, 0.0)
    problem = LCP(M, q)
    found = all_solutions(problem)
    assert not found.empty  # one solution was built in
    for face in (*found.isolated, *found.families):
        weights = rng.random(len(face.vertices))
        inner = weights @ face.vertices / weights.sum() + rng.random(len(face.rays)) @ face.rays
        w = M @ inner + q
        assert np.abs(np.minimum(inner, w)).max() <= 1e-8 * (1 + np.abs(inner).max())
    z = np.where(support, z0, 0.0)  # M is semidefinite: its solutions are one convex set
    assert len(found.isolated) + len(found.families) == 1
    (face,) = (*found.isolated, *found.families)
    assert distance(z, face) <= 1e-8 * (1 + np.abs(z).max())


def distance(z, face):
    """Distance in the largest entry from z to a polyhedron, by a linear program."""
    from scipy.optimize import linprog

    v, r, n = len(face.vertices), len(face.rays), len(z)
    G = np.vstack([face.vertices, face.rays]).T
    bound = -np.ones((n, 1))
    A = np.block([[G, bound], [-G, bound]])
    rows = np.concatenate([np.ones(v), np.zeros(r + 1)])[None]
    cost = np.concatenate([np.zeros(v + r), [1]])
    return linprog(cost, A_ub=A, b_ub=np.concatenate([z, -z]), A_eq=rows, b_eq=[1]).fun


def test_large_problems_are_refused_with_advice():
    with pytest.raises(UsageError, match=r"too large to enumerate.*n = 30.*solve"):
        all_solutions(LCP(np.eye(30), np.ones(30)))
