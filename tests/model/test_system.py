"""`System` from functions: values against closed forms, clear errors, parameters as arguments."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onesided
from onesided import Function, ModelError, Scales, System


def corner(**parameters):
    """The bar on a stop of Schulz & Pellegrino, section 6."""

    def U(q, p, th):
        return th.k / 2 * ((th.d - th.L * jnp.cos(q[0])) ** 2 + (p - th["L"] * jnp.sin(q[0])) ** 2)

    return System(
        coordinates=("phi",),
        energy=U,
        unilateral={"stop": lambda q, p, th: jnp.sin(q[0])},
        parameters={"k": 1.0, "L": 1.0, "d": -1.0, **parameters},
    )


angles = st.floats(-3, 3)


@given(angles, angles, st.floats(0.1, 5), st.floats(-2, 2))
def test_blocks_equal_the_closed_form(phi, p, k, lam):
    e = SYSTEM.replace(parameters={"k": k}).evaluate(np.array([phi]), p, np.array([lam]))
    assert e.energy == pytest.approx(k / 2 * ((-1 - np.cos(phi)) ** 2 + (p - np.sin(phi)) ** 2), abs=1e-12)
    U_q = -k * (np.sin(phi) + p * np.cos(phi))
    assert e.L_q[0] == pytest.approx(U_q - lam * np.cos(phi), abs=1e-12)
    assert e.L_qq[0, 0] == pytest.approx(k * (-np.cos(phi) + p * np.sin(phi)) + lam * np.sin(phi), abs=1e-12)
    assert e.L_qp[0] == pytest.approx(-k * np.cos(phi), abs=1e-12)
    assert (e.c[0], e.c_q[0, 0], e.c_p[0]) == pytest.approx((np.sin(phi), np.cos(phi), 0), abs=1e-12)


SYSTEM = corner()


def moving():
    """Two coordinates, a joint and a gap that both move with p."""
    return System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: jnp.exp(q[0]) * q[1] ** 3 + p * q[0],
        unilateral={"floor": lambda q, p, th: q[1] - p**2 * q[0]},
        bilateral={"rod": lambda q, p, th: q[0] ** 2 + q[1] ** 2 - p},
    )


@given(st.lists(st.floats(-1.5, 1.5), min_size=5, max_size=5))
def test_blocks_of_moving_constraints_agree_with_differences(values):
    system, h = MOVING, 1e-5
    q, p, nu = np.array(values[:2]), values[2], np.array(values[3:])
    e = system.evaluate(q, p, nu)
    _, L_q, c = system.residual(q, p, nu)
    assert np.allclose(e.L_q, L_q, atol=1e-13)
    assert np.allclose(e.c, c, atol=1e-13)
    for i in range(2):
        d = h * np.eye(2)[i]
        plus, minus = system.residual(q + d, p, nu), system.residual(q - d, p, nu)
        assert np.allclose((plus[1] - minus[1]) / (2 * h), e.L_qq[:, i], atol=1e-6)
        assert np.allclose((plus[2] - minus[2]) / (2 * h), e.c_q[:, i], atol=1e-6)
    plus, minus = system.residual(q, p + h, nu), system.residual(q, p - h, nu)
    assert np.allclose((plus[1] - minus[1]) / (2 * h), e.L_qp, atol=1e-6)
    assert np.allclose((plus[2] - minus[2]) / (2 * h), e.c_p, atol=1e-6)
    assert system.constraint_names == ("rod", "floor")


MOVING = moving()


def test_replace_gives_a_new_system_and_compiles_nothing():
    other = SYSTEM.replace(parameters={"k": 7.0})
    assert (SYSTEM.parameters["k"], other.parameters["k"]) == (1.0, 7.0)
    assert other.derivatives is SYSTEM.derivatives
    with pytest.raises(ModelError, match=r"unknown parameter 'kk'.*did you mean 'k'"):
        SYSTEM.replace(parameters={"kk": 1.0})


def test_exact_derivatives_are_used_and_checked_on_demand():
    calls = []

    def gradient(q, p, th):
        calls.append("gradient")
        return jnp.stack([q[0] ** 3 - p])

    right = Function(lambda q, p, th: q[0] ** 4 / 4 - p * q[0], gradient, lambda q, p, th: 3 * q**2 * jnp.eye(1))
    system = System(coordinates=("x",), energy=right)
    e = system.evaluate(np.array([2.0]), 1.0, np.zeros(0))
    assert calls
    assert (e.L_q[0], e.L_qq[0, 0], e.L_qp[0]) == (7.0, 12.0, -1.0)
    assert max(system.check_derivatives([2.0], 1.0).values()) < 1e-14
    wrong = System(coordinates=("x",), energy=Function(lambda q, p, th: q[0] ** 4, lambda q, p, th: 4 * q**2))
    with pytest.raises(ModelError, match="energy: gradient"):
        wrong.check_derivatives([2.0], 0.0)
    with pytest.raises(ModelError, match="no gradient"):
        Function(lambda q, p, th: q[0], hessian=lambda q, p, th: q)


def test_derivatives_along_a_line_to_third_order():
    system = System(coordinates=("x", "y"), energy=lambda q, p, th: q[0] ** 4 + p * q[0] * q[1] ** 2)
    x, v = np.array([2.0, 3.0, 0.5]), np.array([1.0, -1.0, 2.0])
    L_q = jax.grad(lambda q, p: q[0] ** 4 + p * q[0] * q[1] ** 2)

    def line(s):
        z = x + s * v
        return L_q(z[:2], z[2])

    second = jax.jacfwd(jax.jacfwd(line))
    assert np.allclose(system.along(x, v, 2), second(0.0), rtol=1e-12)
    assert np.allclose(system.along(x, v, 3), jax.jacfwd(second)(0.0), rtol=1e-12)


@pytest.mark.parametrize(
    ("energy", "message"),
    [
        (lambda q, p, th: q, r"returned shape \(2,\).*one number"),
        (lambda q, p, th: q[2], "coordinate that does not exist.*indices 0 to 1"),
        (lambda q, p, th: th.kk * q[0], "unknown parameter 'kk'.*did you mean 'k'"),
        (lambda q, p, th: th["kk"] * q[0], "unknown parameter 'kk'"),
        (lambda q, p, th: jnp.float32(1.1) * q[0], "single precision"),
        (lambda q, p, th: (q[0] * 2).astype("float32"), "float32"),
        (lambda q, p, th: undefined * q[0], "NameError"),  # noqa: F821
        (lambda q, p: q[0], "TypeError"),
        ("k*x", "not a function"),
    ],
)
def test_wrong_functions_are_refused_with_a_reason(energy, message):
    with pytest.raises(ModelError, match=message):
        System(coordinates=("x", "y"), energy=energy, parameters={"k": 1.0})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"coordinates": "x"}, "a tuple"),
        ({"coordinates": ()}, "no coordinate"),
        ({"coordinates": ("x", "x")}, "used twice"),
        ({"parameters": {"k": float("nan")}}, "'k' is not finite"),
        ({"parameters": {"k": "1"}}, "'k' is not a number"),
        ({"parameters": {"k": np.float32(1)}}, "single precision"),
        ({"scales": "x"}, None),
        ({"unilateral": {"a": lambda q, p, th: q[0]}, "bilateral": {"a": lambda q, p, th: q[0]}}, "used twice"),
    ],
)
def test_wrong_statements_are_refused_with_a_reason(arguments, message):
    base = {"coordinates": ("x",), "energy": lambda q, p, th: q[0] ** 2}
    if message is None:
        with pytest.raises(ModelError):
            Scales(length=-1.0)
        return
    with pytest.raises(ModelError, match=message):
        System(**{**base, **arguments})


def test_points_are_checked():
    assert np.array_equal(MOVING.point({"y": 2, "x": 1}), [1.0, 2.0])
    with pytest.raises(ModelError, match="unknown coordinate 'z'"):
        MOVING.point({"x": 1, "y": 2, "z": 3})
    with pytest.raises(ModelError, match="missing"):
        MOVING.point({"x": 1})
    with pytest.raises(ModelError, match="single precision"):
        MOVING.point(np.zeros(2, dtype=np.float32))
    with pytest.raises(ModelError, match=r"expected \(2,\)"):
        MOVING.point([1.0])


def test_what_is_not_finite_at_the_start_is_named():
    system = System(
        coordinates=("x",),
        energy=lambda q, p, th: q[0] ** 2,
        unilateral={"root": lambda q, p, th: jnp.sqrt(q[0])},
    )
    with pytest.raises(ModelError, match="constraint 'root' is not finite at x = -1"):
        system.check_start(np.array([-1.0]), 0.0)
    with pytest.raises(ModelError, match="gradient of 'root'"):
        system.check_start(np.array([0.0]), 0.0)


def test_constant_gap_is_refused():
    system = System(
        coordinates=("x",), energy=lambda q, p, th: q[0] ** 2, unilateral={"wall": lambda q, p, th: p + 0 * q[0]}
    )
    with pytest.raises(ModelError, match="'wall' does not depend on the coordinates"):
        system.check_start(np.array([0.3]), 0.0)


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_estimated_scales_follow_a_change_of_units(length, energy, control):
    def spring(a, b, c):
        return SPRING.replace(parameters={"a": a, "b": b, "c": c})

    q, p = np.array([0.3, 0.1]), 0.7
    one = spring(1.0, 1.0, 1.0).sizes(q, p)
    other = spring(length, energy, control).sizes(q * length, p * control)
    near = 0.1  # the estimate searches sizes on a logarithmic scale
    assert other.length == pytest.approx(one.length * length, rel=near)
    assert other.energy == pytest.approx(one.energy * energy, rel=near)
    assert other.control == pytest.approx(one.control * control, rel=near)
    assert other.stiffness == pytest.approx(one.stiffness * energy / length**2, rel=near)


SPRING = System(
    coordinates=("x", "y"),
    energy=lambda q, p, th: th.b * jnp.sum((q / th.a) ** 4 + (q / th.a) ** 2 * 3) - th.b * p / th.c * q[0] / th.a,
    unilateral={"wall": lambda q, p, th: q[0] / th.a + p / th.c},
    parameters={"a": 1.0, "b": 1.0, "c": 1.0},
)


def test_the_package_offers_its_names_lazily():
    assert set(onesided.__all__) <= set(dir(onesided))
    with pytest.raises(AttributeError, match="no attribute 'sovle'"):
        _ = onesided.sovle
