"""Null spaces, inertia and Schur complements against eigenvalues and against each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from onesided import linalg


@st.composite
def kkt_blocks(draw):
    """A random Hessian and constraint rows of full rank, from integers so that ranks are clear."""
    n = draw(st.integers(1, 7))
    m = draw(st.integers(0, n))
    A = draw(arrays(np.int64, (n, n), elements=st.integers(-5, 5))).astype(float)
    E = draw(arrays(np.int64, (m, n), elements=st.integers(-5, 5))).astype(float)
    return A + A.T, E


def by_eigenvalues(A):
    values = np.linalg.eigvalsh(A) if len(A) else np.zeros(0)
    small = 1e-9 * max(1.0, np.max(np.abs(A), initial=0.0))
    return (
        int(np.sum(values > small)),
        int(np.sum(values < -small)),
        int(np.sum(np.abs(values) <= small)),
    )


@given(kkt_blocks())
def test_null_space_is_orthonormal_and_complete(blocks):
    _, E = blocks
    T = linalg.null_space(E)
    assert np.allclose(E @ T, 0, atol=1e-12 * (1 + np.max(np.abs(E), initial=0)))
    assert np.allclose(T.T @ T, np.eye(T.shape[1]), atol=1e-12)
    assert T.shape[1] == E.shape[1] - (np.linalg.matrix_rank(E) if len(E) else 0)


@given(kkt_blocks())
def test_inertia_equals_signs_of_eigenvalues(blocks):
    A, _ = blocks
    values = np.linalg.eigvalsh(A)
    if np.min(np.abs(values)) < 1e-6:
        A = A + 0.37 * np.eye(len(A))
    if np.min(np.abs(np.linalg.eigvalsh(A))) > 1e-6:
        assert linalg.inertia(A) == by_eigenvalues(A)


@given(kkt_blocks())
def test_kkt_inertia_is_reduced_inertia_plus_constraints(blocks):
    A, E = blocks
    A = A + 0.37 * np.eye(len(A))
    m = len(E)
    if m and np.linalg.matrix_rank(E) < m:
        return
    H = linalg.reduced_hessian(A, E)
    if len(H) and np.min(np.abs(np.linalg.eigvalsh(H))) < 1e-6:
        return
    assert linalg.inertia(linalg.kkt_matrix(A, E)) == linalg.Inertia(*by_eigenvalues(H)) + linalg.Inertia(m, m, 0)


@settings(max_examples=40)
@given(kkt_blocks())
def test_sparse_and_dense_factors_agree(blocks):
    A, E = blocks
    A = A + 0.37 * np.eye(len(A))
    K = linalg.kkt_matrix(A, E)
    if np.linalg.cond(K) > 1e8:
        return
    S = linalg.kkt_matrix(sparse.csc_array(A), sparse.csc_array(E))
    dense, thin = linalg.factorise(K), linalg.factorise(S)
    assert np.array_equal(S.toarray(), K)
    assert dense.inertia == thin.inertia == by_eigenvalues(K)
    b = np.arange(1.0, len(K) + 1)
    assert np.allclose(K @ thin.solve(b), b, atol=1e-8)
    assert np.allclose(K @ dense.solve(b), b, atol=1e-8)


def test_sparse_analysis_is_reused():
    rng = np.random.default_rng(1)
    A = sparse.random_array((200, 200), density=0.02, rng=rng)
    A = (A + A.T + sparse.eye_array(200)).tocsc()
    first = linalg.factorise(A)
    second = linalg.factorise((A * 2.0).tocsc(), first)
    assert second._solver is first._solver
    assert second._solver.symbolic_call_count == 1
    b = rng.normal(size=200)
    assert np.allclose(2 * A @ second.solve(b), b, atol=1e-9)


def test_singular_matrix_has_a_zero_in_its_inertia():
    A = np.array([[1.0, 2.0], [2.0, 4.0]])
    assert linalg.inertia(A) == (1, 0, 1)
    assert linalg.inertia(sparse.csc_array(A)) == (1, 0, 1)
    assert linalg.inertia(np.zeros((3, 3))) == (0, 0, 3)
    assert linalg.inertia(np.zeros((0, 0))) == (0, 0, 0)


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
def test_dependent_rows_are_named_whatever_their_units(unit):
    E = np.array([[1.0, 0, 0], [0, 1.0, 0], [unit, unit, 0], [0, 0, 1.0]])
    assert linalg.dependent_rows(E) == [(0, 1, 2)]
    assert linalg.dependent_rows(E[[0, 1, 3]]) == []


def test_zero_gradient_is_a_group_of_its_own():
    assert linalg.dependent_rows(np.array([[0.0, 0.0], [1.0, 0.0]])) == [(0,)]


def test_motion_without_mass_is_not_a_number():
    M, G = np.diag([1.0, 2.0, 0.0]), np.array([[1.0, 1.0, 0.0]])
    x, nu = linalg.RankKKT(M, G).solve(np.ones(3), np.ones(1))
    assert np.all(np.isnan(x)) and np.all(np.isnan(nu))
    held = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])  # the massless coordinate is held: as the KKT matrix says
    x, nu = linalg.RankKKT(M, held).solve(np.ones(3), np.ones(2))
    K = np.block([[M, held.T], [held, np.zeros((2, 2))]])
    np.testing.assert_allclose(np.concatenate([x, nu]), np.linalg.solve(K, np.ones(5)), atol=1e-14)
