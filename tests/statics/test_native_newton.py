"""Newton's method by machine code: checked against the model, and against the same steps by NumPy."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onesided
from onesided import System, zoo
from onesided.statics.curves import corrections
from onesided.statics.curves.activity import constraint_scales
from onesided.statics.curves.corrections import Plane, newton
from onesided.statics.curves.curve import Curve

TARGET = 1e-12


def energy(q, p, th):
    return th.k * (q[0] ** 4 / 4 - q[0] ** 2 / 2) + jnp.cosh(q[1]) + q[0] * q[1] - p * (q[0] + 0.3 * q[1]) + q[2] ** 2


SMALL = System(
    coordinates=("a", "b", "c"),
    energy=energy,
    bilateral={"tie": lambda q, p, th: q[0] ** 2 + q[2] - 1.0 + 0.1 * p},
    unilateral={"wall": lambda q, p, th: 2.0 - q[0] * q[1], "floor": lambda q, p, th: q[1] + 3.0 + p},
    parameters={"k": 2.0},
)
ROWS = [[0], [0, 1], [0, 2], [0, 1, 2]]


def curve_of(system, x, rows):
    n = system.n
    sizes = system.sizes(x[:n], float(x[n]))
    e = system.evaluate_packed(x)
    return Curve(system, np.array(rows, dtype=np.intp), sizes, constraint_scales(e, sizes))


def both(curve, y, row, monkeypatch):
    """The outcome by NumPy and by machine code; the second is None where that leaves it to the first."""
    knobs = TARGET, math.inf, 12
    plane = Plane(row, float(row @ y))
    with monkeypatch.context() as patch, np.errstate(all="ignore"):  # as on paths: points may lie far away
        patch.setattr(corrections, "_newton_natively", lambda *_: None)
        slow = newton(curve, y, plane, target=knobs[0], limit=knobs[2], reach=knobs[1])
    assert curve.native_newton is not None
    return slow, corrections._newton_natively(curve, y, plane, knobs)


@pytest.fixture
def patched():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@settings(max_examples=60)
@given(
    st.lists(st.floats(-2.0, 2.0), min_size=7, max_size=7),
    st.lists(st.floats(-1.0, 1.0), min_size=7, max_size=7),
    st.sampled_from(ROWS),
)
def test_ends_are_those_of_numpy_and_solve_the_equations(numbers, direction, rows):
    x = np.array(numbers)
    curve = curve_of(SMALL, x, rows)
    row = np.array(direction)[: curve.size] + np.eye(curve.size)[curve.n] * 1.5
    with pytest.MonkeyPatch.context() as patch:
        slow, quick = both(curve, curve.scaled(x), row, patch)
    if quick is None or not (quick.converged and slow.converged):
        assert quick is None or quick.converged == slow.converged or max(slow.error, quick.error) > TARGET
        return
    e = SMALL.evaluate_packed(curve.packed(quick.y))
    assert abs(curve.residual(e)).max() <= 10 * TARGET * max(1.0, abs(quick.y).max())
    assert abs(row @ (quick.y - curve.scaled(x))) <= 1e-10 * max(1.0, abs(quick.y).max())
    J = np.vstack([curve.jacobian(e), row])
    sign, volume = np.linalg.slogdet(J)
    condition = np.linalg.cond(J)
    if condition < 1e10:
        np.testing.assert_allclose(J @ quick.tangent, np.eye(len(J))[-1], atol=1e-12 * condition)
        assert quick.orientation == sign
        assert quick.volume == pytest.approx(volume, abs=1e-12 * condition)
        np.testing.assert_allclose(quick.y, slow.y, atol=1e-11 * condition)


@pytest.mark.parametrize("name", ["tripod-truss", "lee-frame", "column-between-walls"])
def test_structures(name, patched):
    system, task = zoo.load(name)
    q = system.point(task.start)
    x = np.concatenate([q, [task.p + 1e-3], np.zeros(len(system.constraint_names))])
    curve = curve_of(system, x, range(len(system.bilateral)))
    slow, quick = both(curve, curve.scaled(x), np.eye(curve.size)[curve.n], patched)
    assert quick.converged
    assert quick.iterations == slow.iterations
    e = system.evaluate_packed(curve.packed(quick.y))
    np.testing.assert_allclose(quick.e.L_qx, e.L_qx, rtol=1e-13, atol=1e-13 * abs(e.L_qx).max())
    assert abs(curve.residual(e)).max() <= 1e-10
    np.testing.assert_allclose(quick.y, slow.y, atol=1e-9)
    np.testing.assert_allclose(quick.tangent, slow.tangent, atol=1e-8 * abs(slow.tangent).max())


def test_singular_and_infinite_matrices_are_left_to_numpy(patched):
    system = System(coordinates=("x", "y"), energy=lambda q, p, th: q[0] ** 2 / 2 - p * q[0] + jnp.exp(400.0 * q[1]))
    x = np.array([0.0, 0.0, 0.1])
    curve = curve_of(system, x, [])
    y = curve.scaled(x)
    assert both(curve, y, np.zeros(3), patched)[1] is None  # a row of zeros
    y[1] = 1e3 / curve.unit[1]
    assert both(curve, y, np.eye(3)[2], patched)[1] is None  # exp(400000)


def test_paths_are_the_same(monkeypatch):
    """Paths of the same steps to rounding; the counts of their events are equal."""
    for name in ("von-mises-floor", "tripod-truss", "keyboard-dome"):
        system, task = zoo.load(name)

        def traced(system=system, task=task):
            return onesided.trace(system, system.point(task.start), task.p, p_bounds=task.p_bounds, max_points=200)

        with monkeypatch.context() as patch:
            patch.setattr(corrections, "_newton_natively", lambda *_: None)
            slow = traced()
        for _ in range(3):
            quick = traced()
        assert [event.kind for event in quick.events] == [event.kind for event in slow.events]
        np.testing.assert_allclose([e.p for e in quick.events], [e.p for e in slow.events], rtol=1e-9, atol=1e-12)
