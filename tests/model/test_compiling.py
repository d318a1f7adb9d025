"""Functions in one piece or as usual: the same numbers, nothing on the error stream, from any thread."""

import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from onesided import PredictorCorrector, System, solve, trace
from onesided.evaluation.compiling import OPTIONS, PLAIN_BLOCKS, QUICK, compiled, compiler_options
from onesided.evaluation.derivatives import Derivatives
from onesided.evaluation.flat import flattened, retraced
from onesided.evaluation.jax_process import prepare_jax
from onesided.evaluation.looping import at_once, looped
from onesided.evaluation.machine_code import made_once
from onesided.evaluation.native_lanes import NativeLanes
from onesided.evaluation.native_tier import NativeTier
from onesided.evaluation.straight import straight

prepare_jax()

MATRIX = np.eye(9) + 0.1 * np.arange(81).reshape(9, 9) / 81


def _waves(x, y, k):
    """300 numbers of 20 terms: so much that the compiler would share them between threads."""
    t = jnp.linspace(0.0, 1.0, 300)
    return sum((x[i % 3] * y[i % 5]) * t**i * jnp.cos(k * t + i) for i in range(20))


@pytest.fixture
def by_jax(monkeypatch):
    """Without the machine code that is made of straight lines of operations."""
    monkeypatch.setattr(NativeTier, "__call__", lambda *arguments, **options: None)


FUNCTIONS = {  # name → (function, whether it can be one piece)
    "sum": (lambda x, y: x + y[:3], True),
    "product of matrices": (lambda x, y: jnp.asarray(MATRIX) @ jnp.asarray(MATRIX) @ jnp.tile(x, 3), True),
    "constant": (lambda x, y: jnp.ones(4) + 0.0 * y[:4], True),
    "uses nothing": (lambda x, y: jnp.arange(5.0), True),
    "its argument": (lambda x, y: x, True),
    "a number": (lambda x, y: x @ x, True),
    "products with truths": (lambda x, y: (x > 0) * jnp.log(x) + jnp.sqrt(-x) * (x < 0), True),
    "loop": (lambda x, y: jax.lax.fori_loop(0, 50, lambda i, z: jnp.sin(z) + y[i % 5], x), True),
    "linear equations": (lambda x, y: jnp.linalg.solve(jnp.outer(x, x) + jnp.eye(3), x), False),
    "eigenvalues": (lambda x, y: jnp.linalg.eigvalsh(jnp.outer(x, x)), False),
    "sorted": (lambda x, y: jnp.sort(y), False),
    "large": (lambda x, y: jnp.sum(jnp.sin(jnp.linspace(0, 1, 5000) * x[0])), False),
    "empty": (lambda x, y: x[:0], True),
    "long, put together": (lambda x, y: jnp.concatenate([_waves(x, y, k) for k in range(4)]), True),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_ways_give_the_same(name, capfd, by_jax):
    function, one_piece = FUNCTIONS[name]
    x, y = np.array([0.3, -1.2, 2.0]), np.array([1.0, 2.0, -3.0, 0.5, 0.1])
    made = compiled(function)
    for _ in range(2):
        np.testing.assert_allclose(made(x, y), function(jnp.asarray(x), jnp.asarray(y)), rtol=1e-13, atol=1e-13)
    assert made._way.one_piece == one_piece
    assert capfd.readouterr().err == ""


NOT_STRAIGHT = {"loop", "linear equations", "eigenvalues", "sorted", "large", "long, put together"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_machine_code_gives_the_same(name):
    """For one point and for all rows of the first argument, which need not be as many every time."""
    function, _ = FUNCTIONS[name]
    X, y = np.array([[0.3, -1.2, 2.0], [1.0, 2.0, 3.0], [-0.1, 0.0, 7.0]]), np.array([1.0, 2.0, -3.0, 0.5, 0.1])
    made = compiled(function)
    exact = [np.asarray(function(jnp.asarray(x), jnp.asarray(y))) for x in X]
    for x, result in zip(X, exact, strict=True):
        np.testing.assert_allclose(made(x, y), result, rtol=1e-13, atol=1e-13)
    assert made.on_device == (name in NOT_STRAIGHT)
    rows = made.for_rows()
    for count in (3, 1, 2):
        np.testing.assert_allclose(rows(X[:count], y), exact[:count], rtol=1e-13, atol=1e-13)


PLAIN = {  # name → (function, whether NumPy evaluates it)
    "taken": (lambda x, y: x[np.array([2, 0, 2])] + y[1::2].sum(), True),
    "taken outside": (lambda x, y: jnp.take(y, np.array([1, 9]), mode="fill") + jnp.take(y, 7, mode="clip"), True),
    "taken from rows": (
        lambda x, y: jnp.outer(x, y)[:, np.array([4, 1])][1] + jnp.outer(x, y)[1, np.array([0, 3])],
        True,
    ),
    "taken in pairs": (
        lambda x, y: jnp.take_along_axis(jnp.outer(x, y), np.array([[1], [0], [4]]), axis=1).ravel(),
        True,
    ),
    "diagonal": (lambda x, y: jnp.diagonal(jnp.outer(x, y)) * jnp.trace(jnp.outer(y, y)), True),
    "added": (lambda x, y: y.at[np.array([0, 0, 3])].add(x).at[-1].add(2.0).at[99].add(1.0), True),
    "placed": (lambda x, y: y.at[np.array([1, 3, 44])].set(x).at[9].set(1.0, mode="clip") * jnp.argmax(y), True),
    "largest": (
        jax.vmap(jax.grad(lambda a: jnp.max(jnp.stack([a, 1 - a, a**2])[jnp.argmin(jnp.stack([a, -a]))]))),
        True,
    ),
    "added rows": (lambda x, y: jnp.outer(x, y).at[np.array([2, 0])].add(jnp.ones((2, 5))).ravel(), True),
    "gradient": (jax.grad(lambda x, y: jnp.prod(jnp.sin(x)) + jnp.max(x * y[:3]) ** 3 + (x[::-1] @ y[2:]) ** -2), True),
    "Hessian": (jax.hessian(lambda x, y: jnp.linalg.norm(jnp.outer(x, y) @ y + x) + jnp.exp(x[1]) * x[0] ** 2.5), True),
    "rows": (jax.vmap(lambda a: jnp.where(a > 0, jnp.stack([a, -a]), jnp.arctan2(a, 2.0)), in_axes=0), True),
    "many at once": (lambda x, y: jnp.einsum("ij,jk,k->i", jnp.outer(x, y), jnp.outer(y, x), x), True),
    "tensors": (lambda x, y: jnp.tensordot(jnp.einsum("i,j,k->ijk", x, y, x), jnp.outer(x, y), ((2, 1), (0, 1))), True),
    "stacks": (lambda x, y: jnp.einsum("bij,bj->bi", jnp.einsum("b,i,j->bij", y, x, x), jnp.outer(y, x)), True),
    "pads": (lambda x, y: jax.lax.pad(jnp.outer(x, y), 0.5, ((1, -1, 2), (-1, 2, 0))), True),
    "turned": (lambda x, y: jnp.flip(jnp.outer(x, y), 1).T.reshape(3, 5).cumsum(1)[0] + jnp.sign(y).clip(-0.5), False),
    "choice of three": (lambda x, y: jax.lax.select_n(np.array([2, 0, 1]), x, 2 * x, 3 * x), True),
    "whole numbers": (lambda x, y: x * (jnp.arange(3) % 2) + jnp.arange(3) ** 2, False),
    "changed by a function": (lambda x, y: y.at[jnp.array([1, 3])].apply(jnp.sin), False),
    "too large for integers": (lambda x, y: x + (jnp.sqrt(x) * 1e30).astype(jnp.int32), True),
    "a place from a number": (lambda x, y: y[jnp.sqrt(x * 1e30).astype(int)], True),
    "no such choice": (lambda x, y: jax.lax.select_n((3 * y[2:]).astype(jnp.int32), x, 2 * x, 3 * x), True),
    "bits of all": (lambda x, y: x * jax.lax.reduce_or((10 * x).astype(int), (0,)), False),
    "rest by zero": (lambda x, y: x * jax.lax.rem((10 * x).astype(int), 0), False),
    "single precision": (lambda x, y: (x.astype(jnp.float32) * 1e30 * 1e30).astype(float), False),
    "largest of none": (lambda x, y: jnp.max(x[:0], initial=2.0) * x, False),
    "sum that is too large": (lambda x, y: x * jax.lax.reduce_sum((y * 2e9).astype(jnp.int32), (0,)), True),
    "loop": (lambda x, y: jax.lax.fori_loop(0, 5, lambda i, z: jnp.sin(z), x), False),
}


def test_machine_code_takes_arrays_as_they_lie_in_memory():
    """Its arguments are read where NumPy keeps them: with steps, from the end, of other types, as numbers."""
    made = compiled(lambda x, y, k: jnp.stack([x[0] * y[1] + k, x[2] / k, jnp.sin(y[0]) - x[1]]))
    x, y, k = np.array([1.5, -2.0, 0.75]), np.array([0.3, 4.0]), np.float64(2.5)
    wanted = [1.5 * 4.0 + 2.5, 0.75 / 2.5, np.sin(0.3) + 2.0]
    wide = np.full((3, 2), np.nan)
    wide[:, 1] = x
    for given in (x, wide[:, 1], x[::-1].copy()[::-1], np.asfortranarray(x), x.astype(np.float32), jnp.asarray(x)):
        for other in (y, y[::-1].copy()[::-1], y.reshape(1, 2)[0]):
            for number in (k, 2.5, np.array(2.5)):
                assert np.allclose(made(given, other, number), wanted, rtol=1e-15, atol=0)
    assert made.native


@pytest.mark.parametrize("name", PLAIN)
def test_numpy_gives_the_same_until_it_is_worth_compiling(name, monkeypatch, by_jax):
    function, plain = PLAIN[name]
    x, y = np.array([0.3, -1.2, 2.0]), np.array([1.0, 2.0, -3.0, 0.5, 0.1])
    arguments = (x,) if name in {"rows", "largest"} else (x, y)
    monkeypatch.setattr("onesided.evaluation.compiling.PLAIN_CALLS", 2)
    made, exact = compiled(function, rare=True), function(*map(jnp.asarray, arguments))
    for call in range(4):
        found = made(*arguments)
        np.testing.assert_allclose(found, exact, rtol=1e-13, atol=1e-13)
        assert isinstance(found, np.ndarray) == (plain and call < 2)


@pytest.mark.parametrize("name", PLAIN)
def test_machine_code_does_what_numpy_does(name):
    function, _ = PLAIN[name]
    x, y = np.array([0.3, -1.2, 2.0]), np.array([1.0, 2.0, -3.0, 0.5, 0.1])
    arguments = (x,) if name in {"rows", "largest"} else (x, y)
    found, exact = compiled(function)(*arguments), function(*map(jnp.asarray, arguments))
    np.testing.assert_allclose(found, exact, rtol=1e-13, atol=1e-13)


def test_what_numpy_cannot_do_for_later_arguments_is_compiled():
    made = compiled(lambda x, order: x if order == 0 else jnp.cumsum(x), static_argnums=1, rare=True)
    x = np.array([1.0, 2.0])
    first = made(x, 0)
    x[0] = 5.0  # what has been returned is not changed with the argument
    assert first.tolist() == [1.0, 2.0]
    assert made(x, 1).tolist() == [5.0, 7.0]
    assert made(x, 0).tolist() == [5.0, 2.0]


def test_what_is_called_often_is_compiled_again_with_the_same_numbers(monkeypatch, by_jax):
    monkeypatch.setattr("onesided.evaluation.compiling.HOT_PIECE", 3)
    made = compiled(lambda x: jnp.sin(x) * jnp.exp(x @ x))
    found = [np.asarray(made(np.array([0.3, -0.2]))) for _ in range(6)]
    np.testing.assert_allclose(found, np.sin([[0.3, -0.2]] * 6) * np.exp(0.13), rtol=1e-15)
    assert made._way.calls == np.inf


def test_options_that_the_compiler_does_not_know_are_left_out(monkeypatch):
    monkeypatch.setattr("onesided.evaluation.compiling.KNOWN", ((0, 0), (0, 0)))
    monkeypatch.setattr("onesided.evaluation.compiling.OPTIONS", {**OPTIONS, "xla_no_such_option": True})
    found, known = compiler_options.__wrapped__(quick=True), {**OPTIONS, QUICK: 0}
    assert QUICK in found and "xla_no_such_option" not in found
    assert found.items() <= known.items()  # later versions of JAX know fewer of them


def test_a_function_that_is_traced_once_has_all_derivatives():
    """Calls inside are inlined, what nothing needs is gone, rules of users' derivatives stay."""

    @jax.custom_jvp
    def cube(x):
        return x**3

    cube.defjvps(lambda t, _, x: 3 * x**2 * t)
    traced = []

    def function(tree, y):
        traced.append(None)
        unused = jnp.linalg.inv(jnp.outer(y, y))
        return {"sum": cube(tree["x"]) @ jax.jit(jnp.sin)(y), "rest": (jnp.where(y > 0, y, 0.0), unused[:0])}

    again, x, y = retraced(function), jnp.array([0.3, -1.2]), jnp.array([1.0, 2.0])
    for derive in (lambda f: f, jax.grad, jax.hessian, lambda f: jax.jacrev(jax.grad(f))):
        found, exact = (derive(lambda x, f=f: f({"x": x}, y)["sum"])(x) for f in (again, function))
        np.testing.assert_allclose(found, exact, rtol=1e-14)
    assert again({"x": x}, y)["rest"][0].tolist() == [1.0, 2.0]
    before = len(traced)
    again({"x": x + 1.0}, 2.0 * y)
    assert len(traced) == before
    assert len(flattened(jax.make_jaxpr(lambda x: (x + 1.0, jnp.sin(x))[0])(1.0)).lines) == 1


def test_what_is_computed_twice_is_one_operation():
    """Equal constants that are made anew are one; numbers of another type or sign are not."""

    def turned(x, scale):
        return jnp.sin(jnp.asarray(np.array([1.0, 2.0])) * x) * scale

    def twice(x):
        return turned(x, 3.0) - turned(x, 3.0) ** 2 + turned(x, 4.0)

    names = [line.equation.primitive.name for line in flattened(jax.make_jaxpr(twice)(np.ones(2))).lines]
    assert names.count("sin") == 1
    assert names.count("mul") == 3  # by the constants, by 3 and by 4
    x = np.array([0.3, -1.2])
    assert retraced(twice, once=True)(x) == pytest.approx(np.asarray(twice(x)), rel=1e-15)
    zeros = lambda x: jnp.stack([x * 0.0, x * -0.0, 1.0 / (x * 0.0), 1.0 / (x * -0.0)])  # noqa: E731
    signs = retraced(zeros, once=True)
    assert np.array_equal(np.asarray(signs(1.0)), [0.0, -0.0, np.inf, -np.inf])
    assert np.signbit(np.asarray(signs(1.0))[1])
    kinds = retraced(lambda x: (x * 2, x * np.float32(2.0), x * np.float64(2.0)), once=True)(np.float32(1.5))
    assert [one.dtype.name for one in kinds] == ["float32", "float32", "float64"]


def test_operations_with_an_effect_are_done_as_often_as_they_are_written():
    seen = []

    def loud(x):
        for _ in range(2):
            jax.debug.callback(lambda y: seen.append(float(y)), x, ordered=True)
        return x

    jax.block_until_ready(retraced(loud, once=True)(jnp.asarray(2.0)))
    jax.effects_barrier()
    assert seen == [2.0, 2.0]


def test_trees_of_arrays_and_static_arguments():
    made = compiled(lambda tree, how, x: how(tree["a"] @ x + tree["b"][0]), static_argnums=1)
    tree = {"a": np.arange(6.0).reshape(2, 3), "b": (np.array([1.0, -1.0]),)}
    for how in (jnp.sin, jnp.cos):
        found = made(tree, how, np.ones(3))
        np.testing.assert_allclose(found, how(tree["a"].sum(axis=1) + tree["b"][0]), rtol=1e-14)
    assert made._way.one_piece


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


def test_code_of_a_process_is_made_once_by_threads_that_ask_at_the_same_time():
    """Code that is made twice is removed for one of them while it runs."""
    made, got, start = [], [], threading.Barrier(8)

    @made_once
    def value():
        made.append(object())
        time.sleep(0.05)  # the others come meanwhile
        return made[-1]

    def work():
        start.wait()
        got.append(value())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and got == made * 8


def test_systems_with_other_parameters_keep_them_in_threads(monkeypatch):
    """What they share is read once: another thread may put its own there at any time, here after every reading."""
    one = System(("x",), lambda q, p, th: th.k * q[0] ** 2 / 2, parameters={"k": 1.0})
    two, shared = one.replace(parameters={"k": 2.0}), []

    def read(derivatives):
        found, shared[:] = shared[0], [(two._vector, jnp.asarray(two._vector))]
        return found

    def write(derivatives, value):
        shared[:] = [value]

    monkeypatch.setattr(Derivatives, "_constants", property(read, write), raising=False)
    for x in (1.0, 3.0):
        shared[:] = [(one._vector, jnp.asarray(one._vector))]
        assert one.evaluate(np.array([x]), 0.0, np.zeros(0)).L_q[0] == x


def test_a_function_of_a_plain_number_is_traced_once():
    traced = []

    def function(x, k):
        traced.append(k)
        return k * jnp.sin(x)

    made = compiled(function)
    for k in (2.0, 3.0):
        np.testing.assert_allclose(made(np.arange(3.0), k), k * np.sin(np.arange(3.0)), rtol=1e-15)
    assert len(traced) == 1


def test_blocks_of_points_by_numpy_first_are_those_of_the_loop_afterwards():
    def function(x, k):
        return jnp.stack([jnp.sum(x) * k, jnp.cos(x[0])])

    made = compiled(looped(function, lambda: 2), rare=True, plain=at_once(function))
    points = np.random.default_rng(0).normal(size=(8, 3))
    exact = np.column_stack([2.0 * points.sum(axis=1), np.cos(points[:, 0])])
    for _ in range(PLAIN_BLOCKS + 2):
        np.testing.assert_allclose(made(points, 8.0, 2.0), exact, rtol=1e-14)


def test_functions_may_print_and_take_nothing_apart(capfd):
    """Operations without results: what prints is left to the compiler, an empty array taken apart is nothing."""

    def energy(q, p, th):
        jax.debug.print("seen {x}", x=q[0])
        return (q[0] - 2.0 * p) ** 2 + sum(jnp.unstack(q[1:]), 0.0)

    system = System(coordinates=("x",), energy=energy)
    found = solve(system, start=[0.0], p=1.5).value
    jax.effects_barrier()
    assert found.q == pytest.approx([3.0])
    assert "seen 3" in capfd.readouterr().out


@pytest.mark.parametrize("a", [1.0, -2.0, np.nan, np.inf])
@pytest.mark.parametrize("b", [3.0, 1.0, np.nan, -np.inf])
def test_the_larger_and_the_smaller_of_two_are_those_of_numpy(a, b):
    """In machine code of our own, one by one and eight side by side: what is no number stays."""
    made = compiled(lambda x: jnp.stack([jnp.maximum(x[0], x[1]), jnp.minimum(x[0], x[1])]))(np.array([a, b]))
    np.testing.assert_array_equal(made, [np.maximum(a, b), np.minimum(a, b)])

    def tick(s, d):
        """State (the larger, b, rows), row (the smaller), told."""
        return jnp.stack([jnp.maximum(s[0], s[1]), s[1], s[2] + 1.0, jnp.minimum(s[0], s[1]) + d[0], 1.0])

    lanes = NativeLanes(straight(tick, 3, 1), (3, 1, 1), (1, 2, -7.0))
    found = lanes(np.array([[a, b, 0.0]] * 3), np.zeros((3, 1)), 1, 1)
    np.testing.assert_array_equal(found.states[:, 0], [np.maximum(a, b)] * 3)
    np.testing.assert_array_equal(found.rows[:, 0], [np.minimum(a, b)] * 3)
