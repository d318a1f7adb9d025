"""Machine code of elements against automatic differentiation of the whole energy, and elements that have none."""

import threading
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import onesided
from onesided import zoo
from onesided.elements import Beam, Body, Element, Force, Node, PlaneContact, Spring
from onesided.evaluation.compiling import compiler_options

called_a_few_times = partial(jax.jit, compiler_options=compiler_options(quick=True))
MODELS = "guyed-mast", "tripod-truss", "ball-in-groove"


def points_near(system, count=3):
    """Points near the start of a structure, with multipliers of all constraints."""
    D, rng = system.derivatives, np.random.default_rng(7)
    x = D.pack(np.asarray(system.start), 0.1, np.ones(D.m))
    return x + 1e-3 * rng.normal(size=(count, len(x))) * (1.0 + np.abs(x))


def exact_blocks(D, vector):
    """Energy, L_x, c, L_qx and c_x at a point by differentiating energy and constraints of the whole structure."""

    def parts(z):
        return D.values(z[: D.n], z[D.n], jnp.asarray(vector))

    def lagrangian(z, nu):
        energy, c = parts(z)
        return energy - c @ nu

    @called_a_few_times
    def blocks(x):
        z, nu = x[: D.n + 1], x[D.n + 1 :]
        energy, c = parts(z)
        hessian = jax.hessian(lagrangian)(z, nu)
        return energy, jax.grad(lagrangian)(z, nu), c, hessian[: D.n], jax.jacfwd(lambda z: parts(z)[1])(z)

    return blocks


def assert_close(found, exact):
    for one, other in zip(found, exact, strict=True):
        size = float(np.max(np.abs(other), initial=0.0))
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * (1.0 + size))


@pytest.mark.parametrize("name", MODELS)
def test_blocks_are_derivatives_of_the_energy(name):
    system, _ = zoo.load(name)
    D, vector = system.derivatives, system._vector
    assert D._table(vector) is not None
    X = points_near(system)
    many, exact = D.evaluate_many(X, vector), exact_blocks(D, vector)
    for i, x in enumerate(X):
        assert_close(many.at(i), exact(x))
        assert_close(D._evaluate(x, vector), many.at(i))


@pytest.mark.parametrize("name", MODELS)
def test_looks_are_directional_derivatives_of_the_residual(name):
    system, _ = zoo.load(name)
    D, vector = system.derivatives, system._vector
    X, ways = points_near(system), np.random.default_rng(3).normal(size=(3, D.n + 1 + D.m))
    values, slopes = D.look(X, ways, vector)

    @called_a_few_times
    def exact(x, way):
        return jax.jvp(lambda x: D._packed_residual(x, jnp.asarray(vector))[1:], (x,), (way,))

    for x, way, c, slope in zip(X, ways, values, slopes, strict=True):
        residual, moved = exact(x, way)
        assert_close((c, slope), (residual[D.n :], moved))


def test_sparse_and_dense_blocks_are_the_same():
    parts = [Body(f"b{i}", (float(i), 0.1 * i**2), fixed=i == 0) for i in range(6)]
    parts += [Beam(f"m{i}", (f"b{i}", f"b{i + 1}"), EA=1e3, EI=2.0) for i in range(5)]
    parts += [PlaneContact("floor", "b3", normal=(0.0, 1.0)), Force("P", "b5", (0.0, 1.0))]
    dense, sparse = (onesided.compose(*parts, sparse=choice) for choice in (False, True))
    assert sparse.derivatives.large and sparse.derivatives._table(sparse._vector) is not None
    for x in points_near(dense):
        one, other = dense.derivatives._evaluate(x, dense._vector), sparse.derivatives._evaluate(x, sparse._vector)
        assert_close((other.L_x, other.c, other.L_qq.toarray(), other.L_qp), (one.L_x, one.c, one.L_qq, one.L_qp))
        assert_close((other.c_q.toarray(), other.c_p), (one.c_q, one.c_p))


def test_other_parameters_are_other_numbers_in_the_same_code():
    def stretched(k):
        parts = Node("a", (0.0, 0.0), fixed=True), Node("b", (3.0, 4.0))
        return onesided.compose(*parts, Spring("s", ("a", "b"), stiffness="k", length=4.0), parameters={"k": k})

    for k in (2.0, 7.0):
        system = stretched(1.0).replace(parameters={"k": k})
        e = system.evaluate(np.array([3.0, 4.0]), 0.0, np.zeros(0))
        assert e.energy == pytest.approx(k / 2, rel=1e-15)
        np.testing.assert_allclose(e.L_q, k * np.array([0.6, 0.8]), rtol=1e-15)
        along = np.outer([0.6, 0.8], [0.6, 0.8])
        np.testing.assert_allclose(e.L_qq, k * along + (k / 5.0) * (np.eye(2) - along), rtol=1e-14)


@dataclass(frozen=True)
class Settled(Element):
    """An energy x²/2 that is found by iterating y ← (y + x)/2 until it rests."""

    at: str = ""
    kind = "settled"

    @property
    def places(self):
        return (self.at,)

    def energy(self, at):
        x = at.frames[0].position[0]
        y = jax.lax.fori_loop(0, 200, lambda i, y: (y + x) / 2, 0.0 * x)
        return y * x / 2


def test_elements_with_loops_are_left_to_the_compiler_of_jax():
    parts = Node("a", (2.0, 0.0), fixed="y"), Settled("s", at="a"), Force("P", "a", (1.0, 0.0))
    system = onesided.compose(*parts)
    assert system.derivatives._table(system._vector) is None
    e = system.evaluate(np.array([2.0]), 0.5, np.zeros(0))
    np.testing.assert_allclose([e.L_q[0], e.L_qq[0, 0]], [1.5, 1.0], rtol=1e-12)


def test_threads_share_the_code_of_a_structure():
    system, _ = zoo.load("panel-ring")
    D, X, found = system.derivatives, points_near(system, 50), {}
    exact = D.evaluate_many(X, system._vector)

    def work(number):
        own = system.replace(parameters=dict(system.parameters))
        found[number] = own.derivatives.evaluate_many(X, own._vector)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(one.L_qx, exact.L_qx) for one in found.values()) and len(found) == 4
