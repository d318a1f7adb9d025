"""Functions in one piece or as usual: the same numbers, nothing on the error stream, from any thread."""

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from onesided import PredictorCorrector, System, trace
from onesided.evaluation import compiling
from onesided.evaluation.compiling import compiled, prepare_jax
from onesided.evaluation.looping import looped

prepare_jax()

MATRIX = np.eye(9) + 0.1 * np.arange(81).reshape(9, 9) / 81

FUNCTIONS = {  # name → (function, whether it can be one piece)
    "sum": (lambda x, y: x + y[:3], True),
    "product of matrices": (lambda x, y: jnp.asarray(MATRIX) @ jnp.asarray(MATRIX) @ jnp.tile(x, 3), True),
    "constant": (lambda x, y: jnp.ones(4) + 0.0 * y[:4], True),
    "uses nothing": (lambda x, y: jnp.arange(5.0), True),
    "its argument": (lambda x, y: x, True),
    "a number": (lambda x, y: x @ x, True),
    "loop": (lambda x, y: jax.lax.fori_loop(0, 50, lambda i, z: jnp.sin(z) + y[i % 5], x), True),
    "linear equations": (lambda x, y: jnp.linalg.solve(jnp.outer(x, x) + jnp.eye(3), x), False),
    "eigenvalues": (lambda x, y: jnp.linalg.eigvalsh(jnp.outer(x, x)), False),
    "sorted": (lambda x, y: jnp.sort(y), False),
    "large": (lambda x, y: jnp.sum(jnp.sin(jnp.linspace(0, 1, 5000) * x[0])), False),
    "empty": (lambda x, y: x[:0], True),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_ways_give_the_same(name, capfd):
    function, one_piece = FUNCTIONS[name]
    x, y = np.array([0.3, -1.2, 2.0]), np.array([1.0, 2.0, -3.0, 0.5, 0.1])
    made = compiled(function)
    for _ in range(2):
        np.testing.assert_allclose(made(x, y), function(jnp.asarray(x), jnp.asarray(y)), rtol=1e-13, atol=1e-13)
    assert made._way.one_piece == one_piece
    assert capfd.readouterr().err == ""


def test_trees_of_arrays_and_static_arguments():
    made = compiled(lambda tree, how, x: how(tree["a"] @ x + tree["b"][0]), static_argnums=1)
    tree = {"a": np.arange(6.0).reshape(2, 3), "b": (np.array([1.0, -1.0]),)}
    for how in (jnp.sin, jnp.cos):
        found = made(tree, how, np.ones(3))
        np.testing.assert_allclose(found, how(tree["a"].sum(axis=1) + tree["b"][0]), rtol=1e-14)
    assert made._way.one_piece


def test_what_is_called_often_is_compiled_with_care(monkeypatch):
    monkeypatch.setattr(compiling, "OFTEN", 3)
    made, x = compiled(lambda x: jnp.sin(x) @ x, rare=True), np.array([0.3, -1.2, 2.0])
    first = [made(x) for _ in range(3)]
    hasty = made._way
    np.testing.assert_allclose([*first, made(x), made(x)], np.sin(x) @ x, rtol=1e-14)
    assert made._way is not hasty
    assert not made._rare


def test_several_points_one_after_the_other():
    made = compiled(looped(lambda x, k: jnp.stack([jnp.sum(x) * k, x[0]]), lambda: 2))
    points = np.arange(12.0).reshape(4, 3)
    found = np.asarray(made(points, 3.0, 2.0))
    np.testing.assert_array_equal(found, [[6.0, 0.0], [24.0, 3.0], [42.0, 6.0], [0.0, 0.0]])
    assert made._way.one_piece


def test_whole_numbers_are_compiled_as_usual():
    made = compiled(lambda n, x: x * n)
    np.testing.assert_array_equal(made(np.array(3), np.ones(2)), [3.0, 3.0])
    assert not made._way.one_piece


def test_threads_may_share_a_model_whose_functions_need_a_library():
    system = System(
        ("x", "y"),
        lambda q, p, th: (
            q @ q / 2 + 0.1 * jnp.sum(jnp.linalg.solve(3 * jnp.eye(2) + jnp.outer(q, q), q) ** 2) - p * q[0]
        ),
    )
    found, method = [], PredictorCorrector(compile_after=0)

    def work():
        found.append(trace(system, [0.0, 0.0], 0.0, p_bounds=(-1, 1), method=method).q[-1])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(np.array_equal(one, found[0]) for one in found)
