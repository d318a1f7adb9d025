"""Sparse routes of linear algebra against NumPy's dense ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from onesided.linalg import BlockPlace, DenseBlocks, Pattern, RowProducts, SparseBlocks


def chain(rng, m, copies):
    """Rows with a few neighbouring entries, some rows repeated as sums of two others."""
    G = np.zeros((m, m + 2))
    for i in range(m):
        G[i, i : i + 3] = rng.normal(size=3) + np.array([2.0, 0.0, 0.0])
    pairs = [rng.choice(m, size=2, replace=False) for _ in range(copies)]
    extra = [3.0 * G[a] - 0.5 * G[b] for a, b in pairs]
    return np.vstack([G, *extra]) if extra else G, {int(i) for pair in pairs for i in pair}


@given(seed=st.integers(0, 10**6), m=st.integers(1, 25), copies=st.integers(0, 4))
def test_dependent_rows_are_found(seed, m, copies):
    copies = copies if m > 1 else 0
    G, _ = chain(np.random.default_rng(seed), m, copies)
    found = RowProducts(sparse.csr_array(G), distance=1e-5)
    assert len(found.kept) == m
    assert np.linalg.matrix_rank(G[found.kept], tol=1e-6) == m
    assert found.combinations.shape == (m + copies, copies)
    assert G.T @ found.combinations.toarray() == pytest.approx(np.zeros((m + 2, copies)), abs=1e-7)
    unit = G[found.kept] / np.linalg.norm(G[found.kept], axis=1)[:, None]
    exact = np.linalg.svd(unit, compute_uv=False)[-1]
    assert exact * (1 - 1e-9) <= found.smallest <= 1.3 * exact


def test_loose_rows_are_those_of_the_dependence():
    G, _ = chain(np.random.default_rng(3), 12, 0)
    G = np.vstack([G, 7.0 * G[4], np.zeros(G.shape[1])])
    found = RowProducts(sparse.csr_array(G), distance=1e-5)
    assert found.loose == (4, 12, 13)  # a row of zeros has a multiplier that does nothing
    assert set(found.dependent) in ({4, 13}, {12, 13})


@given(seed=st.integers(0, 10**6), n=st.integers(2, 40), turned=st.booleans())
def test_blocks_dense_and_sparse_solve_the_same_system(seed, n, turned):
    rng = np.random.default_rng(seed)
    first = np.diag(rng.uniform(2.0, 3.0, n)) + np.diag(rng.normal(size=n - 1), 1)
    second = rng.normal(size=(2, n)) * (rng.random((2, n)) < 0.3)
    factors = (1.5 + 1.0j if turned else 1.5, 0.5, 1.0, -1.0, 2.0)
    places = (
        BlockPlace(0, 0, 0),
        BlockPlace(0, 0, 0, transposed=True),
        BlockPlace(0, 1, 1, transposed=True),
        BlockPlace(1, 0, 1),
        BlockPlace(1, 1, 2),
    )
    blocks = (first, second, np.eye(2))
    whole = np.block([[factors[0] * first + 0.5 * first.T, second.T], [-second, 2.0 * np.eye(2)]])
    b = rng.normal(size=n + 2)
    entries = [np.nonzero(block) for block in blocks]
    values = [block[e] for block, e in zip(blocks, entries, strict=True)]
    dense = DenseBlocks((n, 2), (n, 2), places).factor(factors, blocks)
    thin = SparseBlocks((n, 2), (n, 2), places, entries).factor(factors, values)
    for found in (dense, thin):
        assert found.solve(b) == pytest.approx(np.linalg.solve(whole, b), rel=1e-9, abs=1e-9)
        assert found.pivot > 0


@given(seed=st.integers(0, 10**6), n=st.integers(1, 15), m=st.integers(1, 15))
def test_compressed_columns_hold_all_entries(seed, n, m):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.3)
    pattern = Pattern(*np.nonzero(A), A.shape)
    compressed = A @ pattern.seeds
    assert pattern.dense(compressed) == pytest.approx(A)
    assert pattern.sparse(compressed).toarray() == pytest.approx(A)
