"""Derivatives of straight lines along a direction against nested derivatives by JAX, and what is left to JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from onesided import System
from onesided.evaluation.jax_process import prepare_jax
from onesided.evaluation.machine_code import NativeFunction
from onesided.evaluation.straight import NotStraightError, straight
from onesided.evaluation.taylor_lines import along_line, of_outputs
from onesided.zoo import load, names

prepare_jax()
X, D = np.array([0.7, 1.3]), np.array([0.4, -0.6])
FUNCTIONS = {
    "sin": jnp.sin, "cos": jnp.cos, "tan": jnp.tan, "sinh": jnp.sinh, "cosh": jnp.cosh, "tanh": jnp.tanh,
    "exp": jnp.exp, "exp2": jnp.exp2, "expm1": jnp.expm1, "log": jnp.log, "log1p": jnp.log1p, "sqrt": jnp.sqrt,
    "cbrt": jnp.cbrt, "rsqrt": jax.lax.rsqrt, "atan": jnp.arctan, "asinh": jnp.arcsinh,
    "atanh": lambda x: jnp.arctanh(x / 9), "asin": lambda x: jnp.arcsin(x / 9), "acos": lambda x: jnp.arccos(x / 9),
    "acosh": lambda x: jnp.arccosh(1 + x), "atan2": lambda x: jnp.arctan2(x * x, 1 - x), "abs": lambda x: abs(x - 1),
    "quotient": lambda x: x**3 / (1 + x**2), "power": lambda x: x**2.5, "whole power": lambda x: x**3.0,
    "max": lambda x: jnp.maximum(x, x**2), "min": lambda x: jnp.minimum(x, x**2 - 0.3),
    "choice": lambda x: jnp.where(x > 1, x**2, jnp.sin(x)), "remainder": lambda x: jnp.fmod(x, 0.3) * x,
    "steps": lambda x: jnp.floor(3 * x) * jnp.sign(x - 1) * x,
}  # fmt: skip


def _nested(function, orders):
    """The derivatives along the line by JAX, in one compiled call."""

    def of(s):
        return function(X + s * D)

    found = []
    for _ in range(orders):
        found.append(of)
        of = (lambda inner: lambda s: jax.jvp(inner, (s,), (jnp.ones(()),))[1])(of)
    return np.asarray(jax.jit(lambda s: jnp.stack([one(s) for one in found]))(0.0))


def _made(function, order, x=X):
    line = along_line(straight(function, 2), (0, 1), order)
    return NativeFunction(line, [4], [False])([np.concatenate([x, D])])[0]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_operation_has_the_derivatives_of_jax(name):
    def both(x):
        f = FUNCTIONS[name]
        return jnp.stack([f(x[0] + 0.3 * x[1]), f(x[0]) * f(x[1])])

    for order, want in enumerate(_nested(both, 5)):
        assert _made(both, order) == pytest.approx(want, rel=1e-12, abs=1e-12)


def test_kinks_have_half_of_both_slopes_and_powers_are_smooth_at_zero():
    at = np.array([0.0, 0.0])

    def made(function):
        return float(_made(lambda x: function(x)[None], 1, at)[0])

    assert made(lambda x: jnp.maximum(x[0], x[1])) == pytest.approx((0.4 - 0.6) / 2)
    assert made(lambda x: jnp.abs(x[0])) == 0.0
    assert made(lambda x: x[0] ** 3.0) == 0.0
    assert made(lambda x: x[0] ** 1.0) == 0.4


def test_polynomials_end_and_outputs_can_be_chosen():
    line = straight(lambda x: jnp.stack([x[0] ** 3, jnp.sin(x[1])]), 2)
    assert along_line(of_outputs(line, slice(1)), (0, 1), 4).outputs == (0.0,)
    assert not along_line(of_outputs(line, slice(1)), (0, 1), 4).operations
    assert len(of_outputs(line, slice(1, 2)).operations) == 1


def test_rules_of_their_own_are_left_to_jax():
    @jax.custom_jvp
    def square(x):
        return x * x

    square.defjvp(lambda given, rates: (square(*given), 3.0 * given[0] * rates[0]))
    line = straight(lambda x: square(x[:1]), 2)
    assert line.ruled
    with pytest.raises(NotStraightError):
        along_line(line, (0, 1), 1)
    system = System(("x",), lambda q, p, th: square(q[0]) * q[0] - p * q[0])
    x = np.array([2.0, 0.0])
    second = system.along(x, np.array([1.0, 0.0]), 2)[0]
    assert second == pytest.approx(_third_by_rule(square))  # d²/ds² of the gradient of x² x with its own rule


def _third_by_rule(square):
    f = jax.grad(jax.grad(jax.grad(lambda x: square(x) * x)))
    return float(f(2.0))


def test_exponents_that_move_are_left_to_jax():
    with pytest.raises(NotStraightError):
        along_line(straight(lambda x: (x[0] ** x[1])[None], 2), (0, 1), 2)


@pytest.mark.parametrize("name", names())
def test_bundled_models_along_a_line(name):
    """Against JAX's derivatives of the energy, whatever way the model is evaluated."""
    system = load(name)[0]
    if system.derivatives.large or not system.has_start:
        return
    rng = np.random.default_rng(3)
    q, n, m = system.start, system.n, len(system.constraint_names)
    x = np.concatenate([q + 0.01 * rng.normal(size=n), rng.normal(size=1 + m)])
    d = rng.normal(size=len(x))
    one, two, three = (system.along(x, d, order) for order in (1, 2, 3))
    h = 1e-4
    for exact, order in ((two, 1), (three, 2)):
        change = (system.along(x + h * d, d, order) - system.along(x - h * d, d, order)) / (2 * h)
        size = np.max(np.abs(exact)) + np.max(np.abs(one))
        assert change == pytest.approx(exact, abs=2e-5 * size)
    e = system.evaluate_packed(x)
    first = e.L_qx @ d[: n + 1] - e.c_q.T @ d[n + 1 :]
    size = np.max(np.abs(first), initial=1.0)
    assert one == pytest.approx(np.concatenate([first, e.c_x @ d[: n + 1]]), abs=1e-12 * size, rel=1e-9)
