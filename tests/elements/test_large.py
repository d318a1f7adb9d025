"""Sparse systems against dense ones, and against closed forms: same numbers, same events."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import onesided
from onesided.elements import Bar, Cable, Force, Node
from onesided.linalg import SparseKkt, inertia
from onesided.statics.curves.activity import constraint_scales
from onesided.statics.curves.curve import Curve
from onesided.statics.curves.factors import determinant
from onesided.statics.curves.large import LargeCurve


def net(side: int) -> list:
    """A prestressed net in a frame, pulled down unevenly in its plane."""
    rng, name, edge = np.random.default_rng(0), "n{}_{}".format, (0, side)
    parts: list = [
        Node(name(i, j), (float(i), float(j)), fixed=i in edge or j in edge)
        for i, j in itertools.product(range(side + 1), repeat=2)
        if not (i in edge and j in edge)
    ]
    for i, j in itertools.product(range(side), range(1, side)):
        parts.append(Cable(f"h{i}_{j}", (name(i, j), name(i + 1, j)), stiffness=20.0, pretension=1.0))
        parts.append(Cable(f"v{j}_{i}", (name(j, i), name(j, i + 1)), stiffness=20.0, pretension=1.0))
    for i, j in itertools.product(range(1, side), repeat=2):
        weight = 1.0 + 0.3 * rng.normal()
        parts.append(Force(f"f{i}_{j}", name(i, j), (0.1 * weight, -weight)))
    return parts


def chain(count: int) -> list:
    """The bistable chain: bars between guided nodes, stiffness 1 + 0.02 (i − 1), load on the last."""
    parts: list = [Node("y0", (0.0, 0.0), fixed=True)]
    for i in range(1, count + 1):
        parts.append(Node(f"y{i}", (float(i % 2), 0.5 * i), fixed="x"))
        parts.append(Bar(f"b{i}", (f"y{i - 1}", f"y{i}"), stiffness=1.0 + 0.02 * (i - 1)))
    return [*parts, Force("load", f"y{count}", (0.0, -1.0))]


def both(parts: list) -> tuple[onesided.System, onesided.System]:
    """The dense and the sparse system of the same parts."""
    return onesided.compose(parts, sparse=False), onesided.compose(parts, sparse=True)


def test_sparse_blocks_equal_dense_ones():
    dense, sparse = both(net(4))
    rng = np.random.default_rng(1)
    q, nu = dense.start + 0.1 * rng.normal(size=dense.n), rng.normal(size=len(dense.constraint_names))
    a, b = (system.evaluate(q, 0.3, nu) for system in (dense, sparse))
    np.testing.assert_allclose(b.L_qq.toarray(), a.L_qq, atol=1e-13)
    np.testing.assert_allclose(b.c_q.toarray(), a.c_q, atol=1e-13)
    for name in ("energy", "L_x", "c", "L_qp", "c_p"):
        np.testing.assert_allclose(getattr(b, name), getattr(a, name), atol=1e-13)
    length, v = rng.uniform(0.5, 2.0, size=dense.n), rng.normal(size=dense.n)
    np.testing.assert_allclose(b.gap_sizes(length), a.gap_sizes(length))
    np.testing.assert_allclose(b.constraint_rates(v, 0.7), a.constraint_rates(v, 0.7), atol=1e-13)
    np.testing.assert_allclose(b.constraint_row(3), a.constraint_row(3))
    np.testing.assert_allclose(b.pull(nu), a.pull(nu), atol=1e-13)
    np.testing.assert_allclose(b.stiffest(length), a.stiffest(length), atol=1e-13)
    x, direction = rng.normal(size=(2, dense.n + 1 + len(nu)))
    for order in (2, 3):
        np.testing.assert_allclose(sparse.along(x, direction, order), dense.along(x, direction, order), atol=1e-9)
    assert sparse.residual(q, 0.3, nu)[0] == pytest.approx(a.energy, rel=1e-13)


def test_traced_net_has_the_same_events_sparse_and_dense():
    dense, sparse = both(net(4))
    paths = [onesided.trace(system, system.start, 0.0, p_bounds=(0.0, 8.0)) for system in (dense, sparse)]
    a, b = ([(event.kind, event.constraints, event.instability_after) for event in path.events] for path in paths)
    assert a == b
    assert len(a) >= 4
    np.testing.assert_allclose([e.p for e in paths[1].events], [e.p for e in paths[0].events], rtol=1e-9)
    assert paths[1].residual < 1e-10


def test_turns_of_the_chain_are_exact_and_in_order_when_sparse():
    """K is singular at every turn: block elimination must stay accurate there."""
    _, sparse = both(chain(4))
    path = onesided.trace(sparse, sparse.start, 0.0, max_events=30)
    turns = [(1.0 + 0.02 * i) * (np.hypot(1.0, 0.5) ** (2 / 3) - 1.0) ** 1.5 for i in range(4)]
    order: list[float] = []
    for turn in turns:
        order = [*order, turn, *order[::-1], -turn, *order]
    np.testing.assert_allclose([event.p for event in path.events], order[:30], rtol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_bordered_solve_and_inertia_equal_dense_ones(seed):
    dense, sparse = both(net(3))
    rng = np.random.default_rng(seed)
    q = dense.start + 0.2 * rng.normal(size=dense.n)
    m = len(dense.constraint_names)
    rows = np.sort(rng.choice(m, size=m // 2, replace=False))
    sizes = dense.sizes(dense.start, 0.0)
    blocks = [system.evaluate(q, 0.4, rng.normal(size=m) * 0) for system in (dense, sparse)]
    curves = [
        kind(system, rows, sizes, constraint_scales(e, sizes))
        for kind, system, e in zip((Curve, LargeCurve), (dense, sparse), blocks, strict=True)
    ]
    border, right = rng.normal(size=curves[0].size), rng.normal(size=(curves[0].size, 2))
    x = np.linalg.solve(curves[0].matrix(blocks[0], border), right)
    np.testing.assert_allclose(curves[0].solve_bordered(blocks[0], border, np.asfortranarray(right))[0], x, rtol=1e-7)
    curves[1].factor(blocks[1])
    bordered = curves[1].border(border)
    y = np.stack([bordered.solve(column[:-1], float(column[-1])) for column in right.T], axis=1)
    np.testing.assert_allclose(y, x, rtol=1e-7, atol=1e-9 * np.max(np.abs(x)))
    assert curves[1].modes(blocks[1])[0] == curves[0].modes(blocks[0])[0]


def test_orientation_changes_with_the_sign_of_the_determinant():
    dense, sparse = both(chain(3))
    sizes = dense.sizes(dense.start, 0.0)
    products = []
    rng = np.random.default_rng(3)
    for _ in range(12):
        q, border = dense.start + 0.4 * rng.normal(size=dense.n), rng.normal(size=dense.n + 1)
        blocks = [system.evaluate(q, 0.01, np.zeros(0)) for system in (dense, sparse)]
        small, large = (
            kind(system, np.zeros(0, dtype=int), sizes, constraint_scales(e, sizes))
            for kind, system, e in zip((Curve, LargeCurve), (dense, sparse), blocks, strict=True)
        )
        exact = np.linalg.slogdet(small.matrix(blocks[0], border))
        _, factors = small.solve_bordered(blocks[0], border, np.ones((small.size, 1), order="F"))
        assert determinant(factors) == pytest.approx(tuple(exact))
        large.factor(blocks[1])
        products.append(exact[0] * large.border(border).orientation)
    assert len(set(products)) == 1  # equal up to a sign that is fixed
    assert products[0] != 0


def test_open_constraints_are_switched_off_without_a_new_pattern():
    rng = np.random.default_rng(0)
    n, m = 7, 4
    A, E = rng.normal(size=(n, n)), rng.normal(size=(m, n))
    H = A + A.T
    rows, columns = np.tril_indices(n)
    kkt = SparseKkt(n, m, (rows, columns), tuple(np.indices((m, n)).reshape(2, -1)))
    for code in range(2**m):
        closed = np.array([bool(code >> i & 1) for i in range(m)])
        kkt.factor(H[rows, columns], E.ravel(), closed)
        w = int(closed.sum())
        K = np.block([[H, E[closed].T], [E[closed], np.zeros((w, w))]])
        assert kkt.inertia.negative - m == inertia(K).negative - w
        b = rng.normal(size=n + w)
        full = np.concatenate([b[:n], np.zeros(m)])
        full[n:][closed] = b[n:]
        x = kkt.solve(full)
        np.testing.assert_allclose(np.concatenate([x[:n], x[n:][closed]]), np.linalg.solve(K, b), atol=1e-8)


def test_a_large_system_says_what_it_cannot_do():
    _, sparse = both(net(3))
    with pytest.raises(onesided.OnesidedError, match="sparse=False"):
        onesided.trace(sparse, sparse.start, 0.0, method=onesided.FirstOrder())
    state = onesided.solve(sparse, start=sparse.start, p=0.1).value
    assert state.instability == 0
    assert state.minimum is True


def test_a_large_system_relaxes_and_jumps():
    dense, sparse = both(chain(2))
    limit = (np.hypot(1.0, 0.5) ** (2 / 3) - 1.0) ** 1.5
    a, b = (onesided.drive(system, system.start, [0.0, 0.05]) for system in (dense, sparse))
    assert [jump.p for jump in b.jumps] == pytest.approx([limit, 1.02 * limit], rel=1e-10)
    np.testing.assert_allclose([jump.q_to for jump in b.jumps], [jump.q_to for jump in a.jumps], atol=1e-10)
    way = onesided.Relaxation()
    relaxed = [onesided.solve(s, s.start + 0.1, 0.01, method=way).value.q for s in (dense, sparse)]
    np.testing.assert_allclose(*relaxed, atol=1e-10)
    _, net_system = both(net(3))
    there_and_back = onesided.drive(net_system, net_system.start, [0.0, 2.0, 0.0])
    np.testing.assert_allclose(there_and_back.paths[-1].q[-1], there_and_back.paths[0].q[0], atol=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
def test_threads_share_a_system(sparse):
    """Factors and blocks kept for one run are not those of another one that goes on at the same time."""
    system = onesided.compose(net(4), sparse=sparse)
    alone = onesided.trace(system, system.start, 0.0, p_bounds=(0.0, 8.0))
    ends = [8.0, 3.0, 8.0, 5.0]
    with ThreadPoolExecutor(len(ends)) as pool:
        paths = list(pool.map(lambda end: onesided.trace(system, system.start, 0.0, p_bounds=(0.0, end)), ends))
    for path, end in zip(paths, ends, strict=True):
        expected = [event.p for event in alone.events if event.p < end]
        assert [event.p for event in path.events][: len(expected)] == pytest.approx(expected, rel=1e-9)
        assert path.ok and path.residual < 1e-9
