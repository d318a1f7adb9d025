"""Properties that hold for every problem of a kind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.complementarity import (
    LCP,
    ActiveSet,
    Enumeration,
    GaussSeidel,
    HopfieldNetwork,
    Lemke,
    QuadraticProgram,
    SemismoothNewton,
    all_solutions,
    solve,
)

seeds = st.integers(0, 10**6)
sizes = st.integers(1, 6)


def p_matrix(n, seed, symmetric):
    rng = np.random.default_rng(seed)
    B, K = rng.standard_normal((2, n, n))
    M = B @ B.T + 0.1 * np.eye(n)
    return (M if symmetric else M + (K - K.T)), rng.standard_normal(n)


@given(seeds, sizes)
def test_all_methods_agree_with_enumeration_on_positive_definite_problems(seed, n):
    problem = LCP(*p_matrix(n, seed, symmetric=True))
    (expected,) = all_solutions(problem).points
    methods = [ActiveSet(), Lemke(), SemismoothNewton(), QuadraticProgram(), Enumeration(), GaussSeidel(), None]
    for method in methods:
        z = solve(problem, method).value
        np.testing.assert_allclose(z, expected, atol=1e-7 * (1 + np.abs(expected).max()))


@given(seeds, sizes)
def test_p_matrices_without_symmetry_have_one_solution_found_by_pivoting(seed, n):
    problem = LCP(*p_matrix(n, seed, symmetric=False))
    (expected,) = all_solutions(problem).points
    for method in (ActiveSet(), Lemke(), Enumeration(), None):
        np.testing.assert_allclose(solve(problem, method).value, expected, atol=1e-8 * (1 + np.abs(expected).max()))


@given(seeds, sizes)
def test_indefinite_problems_are_always_decided(seed, n):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((n, n))
    problem = LCP(M + M.T, rng.standard_normal(n))
    assert solve(problem, throw=False).ok is not all_solutions(problem).empty


@given(seeds, sizes)
def test_permuting_the_unknowns_permutes_all_solutions(seed, n):
    rng = np.random.default_rng(seed)
    M, q, order = rng.standard_normal((n, n)), rng.standard_normal(n), rng.permutation(n)
    plain, permuted = all_solutions(LCP(M, q)), all_solutions(LCP(M[np.ix_(order, order)], q[order]))
    again = sorted(map(tuple, plain.points[:, order]))
    np.testing.assert_allclose(permuted.points, np.reshape(again, (-1, n)), atol=1e-8)


@given(seeds, sizes)
def test_positive_scaling_of_rows_and_columns_scales_all_solutions(seed, n):
    rng = np.random.default_rng(seed)
    M, q = rng.standard_normal((n, n)), rng.standard_normal(n)
    rows, columns = rng.uniform(0.5, 2, n), rng.uniform(0.5, 2, n)
    plain = all_solutions(LCP(M, q)).points
    scaled = all_solutions(LCP(rows[:, None] * M * columns, rows * q)).points
    np.testing.assert_allclose(scaled * columns, plain, atol=1e-8 * (1 + np.abs(plain).max(initial=0)))


@given(seeds, sizes, st.sampled_from([1e-9, 1e-3, 1e6]), st.sampled_from([1e-9, 1e-3, 1e6]))
def test_the_relative_residual_has_no_unit(seed, n, stretch, stiffen):
    rng = np.random.default_rng(seed)
    M, q, z = rng.standard_normal((n, n)), rng.standard_normal(n), rng.random(n)
    plain = LCP(M, q).relative_residual(z)
    other = LCP(stiffen * M, stretch * q).relative_residual(stretch / stiffen * z)
    np.testing.assert_allclose(other, plain, rtol=1e-10)


@given(seeds, sizes)
def test_the_residual_is_the_natural_map(seed, n):
    rng = np.random.default_rng(seed)
    M, q, z = rng.standard_normal((n, n)), rng.standard_normal(n), rng.standard_normal(n)
    np.testing.assert_allclose(LCP(M, q).residual(z), np.abs(np.minimum(z, M @ z + q)).max(), rtol=1e-12)


@given(seeds, st.integers(1, 4), st.booleans())
def test_small_integer_problems_are_always_decided(seed, n, symmetric):
    """Integers make singular minors, degenerate solutions and directions to infinity frequent."""
    rng = np.random.default_rng(seed)
    M, q = rng.integers(-2, 3, (n, n)).astype(float), rng.integers(-2, 3, n).astype(float)
    problem = LCP(M + M.T if symmetric else M, q)
    assert solve(problem, throw=False).ok is not all_solutions(problem).empty


def test_a_point_whose_round_off_hides_the_data_is_no_solution():
    M = [[1, -2, -1, -2], [-1, 1, 2, 0], [1, 2, -1, 1], [-2, -2, 2, 0]]
    problem = LCP(M, [-2, 2, 1, -1])
    assert all_solutions(problem).empty
    for far in 10.0 ** np.arange(6, 25):
        assert problem.relative_residual([far, 0, far, 0]) > 1e-9


@pytest.mark.parametrize("far", [1e6, 1e9, 1e12, 1e15])
def test_a_point_that_runs_away_is_no_solution(far):
    # w = (0.5, far − 1): the first row stays wrong, however large the data's products become.
    problem = LCP([[0, 1], [1, -1]], [0.5, -1])
    assert problem.relative_residual([far, 0]) >= 0.5 * problem.residual([far, 0])


@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("kind", ["definite", "cond 1e6", "rank n/2"])
def test_larger_symmetric_problems(n, kind):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
        spectrum = {
            "definite": np.linspace(0.1, 4, n),
            "cond 1e6": np.logspace(0, -6, n),
            "rank n/2": np.concatenate([np.linspace(0.5, 2, n // 2), np.zeros(n - n // 2)]),
        }[kind]
        M = (Q * spectrum) @ Q.T
        half = rng.permutation(n)[: n // 2]
        z, w = np.zeros(n), rng.random(n)
        z[half], w[half] = rng.random(n // 2), 0
        problem = LCP((M + M.T) / 2, w - M @ z)
        for method in (None, QuadraticProgram()):
            found = solve(problem, method).value
            slack = problem.M @ found + problem.q
            assert np.abs(np.minimum(found, slack)).max() <= 1e-9 * np.abs(problem.q).max()


def test_corrected_network_needs_sweeps_as_its_contraction_says():
    M, q = np.diag([1.0, 0.5]), np.array([-1.0, -1.0])
    solution = solve(LCP(M, q), HopfieldNetwork())
    np.testing.assert_allclose(solution.value, [1, 2], rtol=1e-14)
    # 1 − λ_min/λ_max = 1/2 per sweep, from 1 to round-off: 52 halvings, and a sweep to see it
    assert 45 <= solution.stats["iterations"] <= 56
