"""Sparse factorisation without feral: SuperLU gives the same inertia and the same solutions."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import onesided
from onesided.base.errors import UsageError
from onesided.elements import Bar, Force, Node
from onesided.linalg import engine as engines
from onesided.linalg import kkt
from onesided.linalg import ldl as symmetric
from onesided.linalg.engine import SuperLU
from onesided.linalg.ldl import DenseFactor, SparseFactor


@pytest.fixture
def without_feral(monkeypatch):
    for module in (kkt, symmetric):
        monkeypatch.setattr(module, "engine", lambda: SuperLU)


def saddle(seed, n, m, negative):
    """[[H, Eᵀ], [E, 0]] of full rank with known numbers of signs on the null space of E."""
    rng = np.random.default_rng(seed)
    E = np.hstack([np.diag(rng.uniform(1.0, 2.0, m)), rng.normal(size=(m, n - m)) * (rng.random((m, n - m)) < 0.4)])
    H = np.diag(rng.uniform(1.0, 3.0, n) * np.where(np.arange(n) < negative, -1.0, 1.0))
    H += np.diag(rng.normal(size=n - 1) * 0.3, -1)
    H = np.tril(H) + np.tril(H, -1).T
    return np.block([[H, E.T], [E, np.zeros((m, m))]])


@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(0, 4), st.integers(0, 4))
def test_inertia_and_solutions_are_those_of_dense_factors(seed, n, m, negative):
    A = saddle(seed, n, min(m, n - 1), min(negative, n))
    if np.linalg.cond(A) > 1e6:
        return
    factors = SuperLU.Solver()
    factors.factor(SuperLU.from_scipy(sp.csc_array(A)))
    values = np.linalg.eigvalsh(A)
    assert tuple(factors.inertia) == (np.sum(values > 0), np.sum(values < 0), 0)
    b = np.random.default_rng(seed).normal(size=len(A))
    x = factors.solve_refined(None, b)
    assert np.allclose(A @ x, b, atol=1e-9 * np.abs(A).max() * max(1.0, np.abs(x).max()))


def test_an_inertia_that_rounding_could_change_is_not_told():
    """Constraints first make pivots grow: of 400 matrices of condition up to 1e10 none is counted wrongly."""
    told = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(5, 14)), int(rng.integers(0, 5))
        turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
        H = turn * (rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-rng.choice([0, 3, 9]), 0, n)) @ turn.T
        E = rng.normal(size=(m, n)) + np.eye(m, n)
        A = np.block([[np.zeros((m, m)), E], [E.T, (H + H.T) / 2]])
        values = np.linalg.eigvalsh(A)
        factors = SuperLU.Solver()
        try:
            factors.factor(SuperLU.from_scipy(sp.csc_array(A)))
        except UsageError:
            continue
        if factors.inertia.n_zero == 0 and np.min(np.abs(values)) > 1e-13:
            assert (factors.inertia.n_pos, factors.inertia.n_neg) == (np.sum(values > 0), np.sum(values < 0))
            told += 1
    assert told > 300


@pytest.mark.parametrize("A", [np.ones((2, 2)), np.array([[2.0, -2.0, 0.0], [-2.0, 3.0, -1.0], [0.0, -1.0, 1.0]])])
def test_a_matrix_without_a_pivot_is_refused_rather_than_counted_wrongly(A):
    with pytest.raises(UsageError, match="feral-solver"):
        SuperLU.Solver().factor(SuperLU.from_scipy(sp.csc_array(A)))


def test_the_factors_of_the_library_run_on_it(without_feral):
    A = saddle(3, 8, 2, 3)
    sparse, dense = SparseFactor(sp.csc_array(A)), DenseFactor(A)
    b = np.arange(len(A), dtype=float)
    assert sparse.inertia == dense.inertia
    assert np.allclose(sparse.solve(b), dense.solve(b))


def test_a_sparse_structure_has_the_same_path(without_feral):
    """A flat truss of two bars snaps; the dense path is the reference."""
    parts = [Node("top", (0.0, 0.3)), Force("load", "top", (0.0, -1.0))]
    for i, x in enumerate((-1.0, 1.0)):
        parts += [Node(f"f{i}", (x, 0.0), fixed=True), Bar(f"b{i}", (f"f{i}", "top"), stiffness=1.0)]
    sparse, dense = (
        onesided.trace(system, system.start, 0.0, p_bounds=(-1.0, 1.0), throw=False, max_events=3)
        for system in (onesided.compose(parts, sparse=flag) for flag in (True, False))
    )
    assert [event.kind for event in sparse.events] == [event.kind for event in dense.events]
    assert np.allclose([event.p for event in sparse.events], [event.p for event in dense.events], rtol=1e-9)


def test_where_feral_is_missing_or_has_other_names_the_other_is_taken(monkeypatch):
    class Foreign:
        CscMatrix = None

    engines.engine.cache_clear()
    monkeypatch.setattr(engines, "import_module", lambda name: Foreign)
    assert engines.engine() is SuperLU
    engines.engine.cache_clear()
    monkeypatch.undo()
    assert engines.engine() is not SuperLU
