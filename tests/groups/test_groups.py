"""Axioms of the configuration spaces, near the identity, near π and in between; derivatives everywhere."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from onesided.base.errors import ModelError
from onesided.evaluation.compiling import compiled
from onesided.evaluation.jax_process import prepare_jax
from onesided.groups import SE2, SE3, SO2, SO3, Product, Vector, rotate, rotation_matrix

prepare_jax()
GROUPS = [Vector(2), SO2(), SO3(), SE2(), SE3(), Product(Vector(1), SO3(), SE2())]
ANGLES = (0.0, 1e-12, 1e-6, 0.01, 0.4, 0.70, 0.72, 2.0, np.pi - 1e-9, np.pi, 4.0)
number = st.floats(-3.0, 3.0)


def vector(size):
    return st.lists(number, min_size=size, max_size=size).map(np.array)


def same(group, a, b):
    return np.max(np.abs(group.local(a, b)), initial=0.0)


@pytest.mark.parametrize("group", GROUPS, ids=lambda g: g.words)
@given(data=st.data(), scale=st.sampled_from([1e-9, 1e-3, 1.0]))
def test_axioms(group, data, scale):
    q, v, w, momentum = (data.draw(vector(group.size)) for _ in range(4))
    q, delta = group.wrap(q), scale * 0.5 * v
    moved = group.retract(q, delta)
    assert group.local(q, moved) == pytest.approx(delta, abs=1e-14 + 1e-12 * scale)
    assert group.retract(q, 0 * q) == pytest.approx(q, abs=1e-14)
    # one-parameter subgroups: half a step twice, and back
    half = group.retract(group.retract(q, delta / 2), delta / 2)
    assert same(group, half, moved) < 1e-13
    assert same(group, group.retract(moved, -delta), q) < 1e-13
    assert same(group, group.wrap(moved), moved) < 1e-12
    # bracket and its transpose
    assert group.bracket(v, w) == pytest.approx(-group.bracket(w, v), abs=1e-12)
    assert group.bracket(v, w) @ momentum == pytest.approx(w @ group.coadjoint(v, momentum), abs=1e-11)


@cache
def speed_of_local_coordinates(group):
    """(q, δ, v) → derivative of local(q, (q∘exp δ)∘exp(s v)) by s at s = 0; traced once."""

    def speed(q, delta, v):
        moved = group.retract(q, delta)
        return jax.jvp(lambda s: group.local(q, group.retract(moved, s * v)), (0.0,), (1.0,))[1]

    return compiled(speed, rare=True)


@pytest.mark.parametrize("group", GROUPS, ids=lambda g: g.words)
@settings(max_examples=20)
@given(data=st.data(), scale=st.sampled_from([1e-9, 1e-2, 1.0]))
def test_rate_is_the_derivative_of_local_coordinates(group, data, scale):
    q, v, delta = (data.draw(vector(group.size)) for _ in range(3))
    q, delta = group.wrap(q), scale * 0.5 * delta
    found = speed_of_local_coordinates(group)(q, delta, v)
    assert group.rate(delta, v) == pytest.approx(np.asarray(found), abs=1e-11)


def generator(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


@cache
def derivatives(group, name, read=lambda q: q):
    """q → derivatives of read(move(q, δ)) by δ at δ = 0: forward, forward twice, backward; traced once."""

    def at(q):
        def moved(delta):
            return read(getattr(group, name)(q, delta))

        made = [derive(moved)(jnp.zeros(group.size)) for derive in (jax.jacfwd, jax.hessian, jax.jacrev)]
        return jnp.concatenate([one.ravel() for one in made])

    return compiled(at, rare=True)


@pytest.mark.parametrize("angle", ANGLES)
def test_derivatives_of_functions_on_rotations_are_exact(angle):
    """R(q∘exp δ) = R(q) exp(δ̂): first and second derivatives at δ = 0 are R(q) ê and R(q) (ê f̂ + f̂ ê)/2."""
    q = angle * np.array([0.6, -0.64, 0.48])
    R = Rotation.from_rotvec(q).as_matrix()
    assert np.asarray(rotation_matrix(q)) == pytest.approx(R, abs=1e-14)
    basis = [generator(np.eye(3)[i]) for i in range(3)]
    first = np.stack([R @ E for E in basis], axis=-1)
    second = np.stack([np.stack([R @ (E @ F + F @ E) / 2 for F in basis], axis=-1) for E in basis], axis=-1)
    for name in ("retract", "nudge"):
        forward, twice, backward = np.split(derivatives(SO3(), name, rotation_matrix)(q), (27, 108))
        assert forward == pytest.approx(first.ravel(), abs=1e-13)
        assert twice == pytest.approx(second.ravel(), abs=1e-12)
        assert backward == pytest.approx(first.ravel(), abs=1e-13)


@pytest.mark.parametrize("group", [SE2(), SE3()], ids=lambda g: g.words)
@pytest.mark.parametrize("angle", ANGLES)
def test_nudge_has_the_derivatives_of_retract(group, angle):
    rng = np.random.default_rng(3)
    q = rng.normal(size=group.size)
    turn = q[2:] if group.size == 3 else q[3:]
    turn *= angle / np.linalg.norm(turn)
    cheap, full = (derivatives(group, name)(q) for name in ("nudge", "retract"))
    assert cheap == pytest.approx(full, abs=1e-12)


def test_rotations_compose_and_keep_lengths():
    rng = np.random.default_rng(0)
    a, b, x = rng.normal(size=(3, 3))
    assert rotate(SO3().retract(a, b), x) == pytest.approx(rotate(a, rotate(b, x)), abs=1e-14)
    assert np.linalg.norm(rotate(a, x)) == pytest.approx(np.linalg.norm(x), rel=1e-14)


def test_wrap_keeps_the_rotation_and_shortens_the_vector():
    for angle in (3.2, 6.0, 6.5, 12.0):
        theta = angle * np.array([0.6, 0.0, 0.8])
        short = SO3().wrap(theta)
        assert np.linalg.norm(short) <= np.pi + 1e-12
        assert rotation_matrix(short) == pytest.approx(rotation_matrix(theta), abs=1e-12)


def test_turns_that_meet_at_a_full_turn():
    """Half a turn twice about one axis, and the way from there to where it began: never a division by zero."""
    half = np.array([0.0, np.pi, 0.0])
    assert rotation_matrix(SO3().retract(half, half)) == pytest.approx(np.eye(3), abs=1e-14)
    far = np.array([0.0, 4.0, 0.0])
    assert SO3().local(far - [0.0, 2 * np.pi, 0.0], far) == pytest.approx(np.zeros(3), abs=1e-14)
    assert SO3().local(np.zeros(3), far) == pytest.approx(far - [0.0, 2 * np.pi, 0.0], abs=1e-14)


def test_products_and_sizes_are_checked():
    assert Product(Vector(3), SO3()).words == "Vector(3) × SO3"
    with pytest.raises(ModelError, match="part of a product"):
        Product(Vector(1), "SO3")
    with pytest.raises(ModelError, match="size"):
        Vector(0)
