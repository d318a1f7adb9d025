"""Symmetric factors of many matrices at once: products and inertia of each, by other routes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.evaluation.native_factors import factors_of_many
from onesided.statics.curves.factors import inertia_of_many, solve_symmetric


def matrices(seed, rows, size):
    A = np.random.default_rng(seed).normal(size=(rows, size, size))
    return A + A.transpose(0, 2, 1)


@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 34))
def test_inertia_and_solutions(seed, rows, size):
    K = matrices(seed, rows, size)
    negative, neutral, factors = inertia_of_many(K.copy())
    values = np.linalg.eigvalsh(K)
    clear = abs(values).min(axis=1) > 1e-8
    np.testing.assert_array_equal(negative[clear], (values < 0).sum(axis=1)[clear])
    assert not neutral[clear].any()
    right = np.ones(size)
    for matrix, known in zip(K[clear], (factors[i] for i in np.flatnonzero(clear)), strict=True):
        found = solve_symmetric(known, right)
        assert abs(matrix @ found - right).max() <= 1e-9 * max(1.0, abs(found).max())


def test_singular_ones_are_told_from_the_others():
    K = np.array([np.diag([1.0, -1.0]), np.zeros((2, 2)), np.diag([1.0, 0.0])])
    negative, neutral, _ = inertia_of_many(K)
    assert negative.tolist() == [1, 0, 0]
    assert neutral.tolist() == [False, True, True]


@pytest.mark.parametrize("shape", [(0, 3, 3), (2, 0, 0)])
def test_nothing_to_factorise(shape):
    ldu, pivots = factors_of_many(np.zeros(shape))
    assert ldu.shape == shape
    assert pivots.shape == shape[:2]
