"""Mixed and nonlinear problems, validation, the printed network, and late imports."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided import Status
from onesided.base.errors import SolveError, UsageError
from onesided.base.tolerances import DEFAULT
from onesided.complementarity import (
    LCP,
    MLCP,
    NCP,
    Lemke,
    PrintedHopfield,
    SemismoothNewton,
    eliminate,
    solve,
    split,
)


def mixed(seed, k=3, m=4):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((k + m, k + m))
    S, q = B @ B.T + 0.1 * np.eye(k + m), rng.standard_normal(k + m)
    return MLCP(A=S[:k, :k], C=S[:k, k:], D=S[k:, :k], B=S[k:, k:], a=q[:k], b=q[k:])


@given(st.integers(0, 10**6), st.integers(0, 4), st.integers(0, 5))
def test_newton_elimination_and_splitting_agree(seed, k, m):
    problem = mixed(seed, k, m)
    x = solve(problem).value
    u, z = problem.split(x)
    np.testing.assert_allclose(problem.A @ u + problem.C @ z + problem.a, 0, atol=1e-8)
    w = problem.D @ u + problem.B @ z + problem.b
    np.testing.assert_allclose(np.minimum(z, w), 0, atol=1e-8)
    np.testing.assert_allclose(solve(problem, SemismoothNewton()).value, x, atol=1e-6)
    by_split = split(problem)
    np.testing.assert_allclose(by_split.recover(solve(by_split.problem).value), x, atol=1e-6)


def test_elimination_is_the_schur_complement():
    problem = mixed(1)
    reduction = eliminate(problem, DEFAULT)
    full = np.block([[problem.A, problem.C], [problem.D, problem.B]])
    np.testing.assert_allclose(np.linalg.inv(reduction.problem.M), np.linalg.inv(full)[3:, 3:], rtol=1e-9)


def test_redundant_equations_give_the_shortest_multipliers():
    # The equation u1 + u2 = 1 stated twice, and one unilateral unknown that does not touch it.
    problem = MLCP(A=np.ones((2, 2)), C=np.zeros((2, 1)), D=np.zeros((1, 2)), B=[[1]], a=[-1, -1], b=[-2])
    np.testing.assert_allclose(solve(problem).value, [0.5, 0.5, 2], rtol=1e-12)


def test_singular_block_that_touches_z_is_solved_by_splitting():
    # u is a multiplier that enforces z1 + z2 = 1 in the projection of (2, 0): a saddle with A = 0.
    problem = MLCP(A=[[0]], C=[[1, 1]], D=[[-1], [-1]], B=np.eye(2), a=[-1], b=[-2, 0])
    assert eliminate(problem, DEFAULT) is None
    solution = solve(problem)
    np.testing.assert_allclose(solution.value, [-1, 1, 0], atol=1e-9)


def test_contradicting_equations_are_not_solved():
    problem = MLCP(A=np.ones((2, 2)), C=np.zeros((2, 1)), D=np.zeros((1, 2)), B=[[1]], a=[-1, -2], b=[-2])
    assert solve(problem, throw=False).status is Status.no_solution


def kojima_shindo(z):
    a, b, c, d = z
    return np.array(
        [
            3 * a**2 + 2 * a * b + 2 * b**2 + c + 3 * d - 6,
            2 * a**2 + a + b**2 + 10 * c + 2 * d - 2,
            3 * a**2 + a * b + 2 * b**2 + 2 * c + 9 * d - 9,
            a**2 + 3 * b**2 + 2 * c + 3 * d - 3,
        ]
    )


def kojima_shindo_jacobian(z):
    a, b, _, _ = z
    return np.array(
        [
            [6 * a + 2 * b, 2 * a + 4 * b, 1, 3],
            [4 * a + 1, 2 * b, 10, 2],
            [6 * a + b, a + 4 * b, 2, 9],
            [2 * a, 6 * b, 2, 3],
        ]
    )


@pytest.mark.parametrize("start", [None, [1, 1, 1, 1], [1, 0, 1, 0], [2, 0, 0, 1]])
def test_kojima_shindo_reaches_one_of_its_two_solutions(start):
    solution = solve(NCP(kojima_shindo, kojima_shindo_jacobian, 4), start=start)
    known = np.array([[np.sqrt(6) / 2, 0, 0, 0.5], [1, 0, 3, 0]])
    assert np.abs(known - solution.value).max(axis=1).min() <= 1e-8


def test_linear_ncp_is_the_lcp():
    M, q = np.array([[2.0, 1], [1, 2]]), np.array([-5.0, -6])
    ncp = NCP(lambda z: M @ z + q, lambda z: M, 2)
    np.testing.assert_allclose(solve(ncp).value, solve(LCP(M, q)).value, atol=1e-10)
    np.testing.assert_allclose(ncp.merit([0.3, 0.1]), LCP(M, q).merit([0.3, 0.1]), rtol=1e-12)


def test_line_search_turns_back_where_the_function_is_not_defined():
    # F(z) = log z + 3 ⟂ z ≥ 0 from z = 1: the full Newton step leads to z < 0, where log is not defined.
    ncp = NCP(lambda z: np.log(z) + 3, lambda z: np.diag(1 / z), 1)
    np.testing.assert_allclose(solve(ncp, start=[1]).value, [np.exp(-3)], rtol=1e-9)
    assert solve(NCP(lambda z: np.log(-z - 1), lambda z: 1 / z[:, None], 1), start=[1], throw=False).status is (
        Status.not_finite
    )


def test_an_ncp_without_solution_says_so_without_an_answer():
    with pytest.raises(SolveError) as caught:
        solve(NCP(lambda z: -1 - z, lambda z: -np.eye(1), 1))
    assert not caught.value.partial.ok and caught.value.partial.residual > DEFAULT.complementarity


WRONG = [
    (lambda: LCP(np.ones((2, 3)), [1, 2]), r"`M` has the wrong shape; got shape \(2, 3\); expected \(2, 2\)"),
    (lambda: LCP(np.eye(2), [1, np.nan]), "`q` holds values that are not finite; got 1 of 2"),
    (lambda: LCP([["a"]], [1]), "`M` is not an array of numbers"),
    (lambda: NCP(None, None, 2), "`function` is not callable"),
    (lambda: NCP(abs, abs, 0), "`size` is out of range"),
    (lambda: mixed(0).residual([1.0]), r"expected \(7,\)"),
    (lambda: solve(LCP([[1]], [1]), start=[1, 2]), "`start` does not fit"),
    (lambda: solve(NCP(lambda z: z, lambda z: np.eye(1), 1), Lemke()), "Lemke for an NCP"),
    (lambda: NCP(lambda z: z[:1], lambda z: np.eye(2), 2).residual([1, 1]), r"`function\(z\)` has the wrong shape"),
]


@pytest.mark.parametrize(("misuse", "message"), WRONG)
def test_misuse_is_told_at_once(misuse, message):
    with pytest.raises(UsageError, match=message):
        misuse()


def test_data_are_copied_and_locked():
    M = np.eye(2)
    problem = LCP(M, [1, 1])
    M[0, 0] = 5
    assert problem.M[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        problem.M[0, 0] = 2


MASS, GRAVITY, STIFFNESS = 2.0, 9.81, 50.0


def test_printed_network_alternates_on_a_loaded_sling_at_rest():
    """REFERENCE C5, literal sign: V = 1, 0, 1, … although z = m g solves the problem."""
    sling = LCP([[STIFFNESS / MASS]], [-STIFFNESS * GRAVITY])
    network = PrintedHopfield(forces=MASS * GRAVITY)
    for start in ([1.0], [0.0]):
        assert solve(sling, network, start, throw=False).status is Status.cycling
    np.testing.assert_allclose(solve(sling).value, [MASS * GRAVITY])


def test_printed_network_with_consistent_sign_declares_the_loaded_sling_slack():
    """REFERENCE C5: V = 1 → X = 0 → V = 0 → X = −k g → V = 0, while the sling carries m g."""
    sling = LCP([[-STIFFNESS / MASS]], [STIFFNESS * GRAVITY])
    solution = solve(sling, PrintedHopfield(forces=MASS * GRAVITY), [1.0], throw=False)
    assert solution.value[0] == 0 and "printed" in solution.note


def test_importing_the_package_loads_no_heavy_modules():
    code = "import sys, onesided.complementarity; print([m for m in ('numba', 'scipy', 'jax') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
