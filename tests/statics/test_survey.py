"""Looks at straight stretches: random vectors find what eigenvalues of every single matrix find."""

from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onesided
from onesided import Kind, PredictorCorrector, System
from onesided.statics.curves.activity import ConstraintScales
from onesided.statics.curves.curve import Curve
from onesided.statics.tracing.stiffness_looks import (
    CloserLooks,
    KnownPlace,
    Looks,
    Matrix,
    StiffnessLooks,
    length_of_same,
)
from onesided.statics.tracing.survey import _look, _look_closely

COMPILED, SINGLE = PredictorCorrector(compile_after=0), PredictorCorrector(compile_after=10**9)


def window(x, th):
    """A smooth dip around th.at, as wide as th.width: 1 in its middle."""
    return jnp.exp(-(((x - th.at) / th.width) ** 2))


def energy(q, p, th):
    x, *across = q
    soft = 1.0 - th.deep * window(x, th)
    stiffness = [soft, 2.0, 3.0]
    return x**2 / 2 - p * x + sum(k * (y**2 / 2 + y**4) for k, y in zip(stiffness, across, strict=True))


TRACK = System(("x", "y", "z", "u"), energy, parameters={"at": 5.0, "width": 0.1, "deep": 1.5})


@pytest.mark.parametrize("method", [COMPILED, SINGLE], ids=["compiled", "single"])
@pytest.mark.parametrize(("at", "width"), [(4.2371, 0.03), (7.7123, 0.012), (1.0031, 0.3)])
def test_a_window_of_instability_on_a_straight_path_is_found(method, at, width):
    system = TRACK.replace(parameters={"at": at, "width": width})
    path = onesided.trace(system, np.zeros(4), 0.0, p_bounds=(0.0, 10.0), method=method)
    half = width * np.sqrt(np.log(1.5))  # where 1 − 1.5 exp(−((x − at)/width)²) vanishes, and x = p
    found = [event.p for event in path.events if event.kind is not Kind.bound]
    np.testing.assert_allclose(found, [at - half, at + half], atol=1e-8)


@pytest.mark.parametrize("method", [COMPILED, SINGLE], ids=["compiled", "single"])
def test_a_dip_that_stays_stable_costs_no_points(method):
    options = {"p_bounds": (0.0, 10.0), "method": method}
    dip = onesided.trace(TRACK.replace(parameters={"deep": 0.5}), np.zeros(4), 0.0, **options)
    none = onesided.trace(TRACK.replace(parameters={"deep": 0.0}), np.zeros(4), 0.0, **options)
    assert [event.kind for event in dip.events] == [Kind.bound]
    assert len(dip) == len(none)


BUMPY = System(
    ("x", "y"),
    lambda q, p, th: (q[0] - p) ** 2 / 2 + q[1] ** 2 / 2,
    unilateral={"bump": lambda q, p, th: q[1] + 0.004 - 0.02 * window(q[0], th)},
    parameters={"at": 5.0, "width": 0.1},
)


@pytest.mark.parametrize(("at", "width"), [(26.1505, 0.003), (11.3077, 0.003), (17.0123, 0.002)])
def test_a_bump_narrower_than_the_distance_of_looks_is_found(at, width):
    """It reaches into the path over 2.5 widths, half of the distance of looks or less, and bends the gap beside."""
    system = BUMPY.replace(parameters={"at": at, "width": width})
    path = onesided.trace(system, np.zeros(2), 0.0, p_bounds=(0.0, 30.0), max_events=1, throw=False)
    assert path.events[0].kind is Kind.closes
    assert path.events[0].p == pytest.approx(at - width * np.sqrt(np.log(5.0)), abs=1e-9)


def linked(q, p, th):
    return q[0] ** 4 / 4 + q[0] * q[1] ** 2 + jnp.cos(q[2]) * q[1] + p * q[2]


LINKED = System(
    ("x", "y", "z"),
    linked,
    bilateral={"rod": lambda q, p, th: q[0] ** 2 + q[1] * q[2] - 1.0 - p},
    unilateral={"stop": lambda q, p, th: 2.0 - q[2] * q[0], "wall": lambda q, p, th: 3.0 + q[1] - p * q[0]},
)


def test_compiled_looks_are_the_matrices_times_the_vectors():
    rng = np.random.default_rng(3)
    sizes = LINKED.sizes(np.array([1.0, 0.1, 0.3]), 0.0)
    curve = Curve(
        LINKED, np.array([0, 2]), sizes, ConstraintScales(gap=np.array([1.0, 2.0, 3.0]), multiplier=np.ones(3))
    )
    Y, Z = rng.normal(size=(70, curve.size)), rng.normal(size=(70, curve.n + curve.w))
    (c, AZ), (c_closely, AZ_closely) = _look(curve, Y, Z), _look_closely(curve, Y, Z)
    np.testing.assert_allclose(c, c_closely, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(AZ, AZ_closely, rtol=1e-10, atol=1e-10)
    for i in (0, 33, 69):
        A = Matrix(curve, lambda i=i: curve.evaluate(curve.packed(Y[i]))).A
        np.testing.assert_allclose(AZ[i], A @ Z[i], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(A, A.T)


def fixed(A):
    made = Matrix.__new__(Matrix)
    made.__dict__["A"] = np.asfortranarray(A)
    return made


@given(seed=st.integers(0, 10**6), n=st.integers(1, 12), size=st.floats(1.2, 20.0), scale=st.sampled_from([1.0, 1e4]))
@settings(max_examples=200, deadline=None)
def test_matrices_of_another_inertia_are_not_plain(seed, n, size, scale):
    """One place of 30 has a mode turned over, in coordinates of any condition; the rest is constant."""
    rng = np.random.default_rng(seed)
    S = rng.normal(size=(n, n)) * np.geomspace(1.0, scale, n)
    A = S.T @ np.diag(rng.choice([1.0, 1.0, -1.0], n)) @ S + 1e-9 * np.eye(n)
    v = rng.normal(size=n)
    turned = A - size * np.outer(A @ v, A @ v) / (v @ A @ v)  # v is a mode with the factor 1 − size
    Z = rng.uniform(-1.0, 1.0, (30, n))
    Z += np.copysign(0.5, Z)
    AZ = Z @ A
    AZ[16:18] = Z[16:18] @ turned
    assert np.sum(np.linalg.eigvalsh(A) < 0) != np.sum(np.linalg.eigvalsh(turned) < 0)
    curve, end = SimpleNamespace(n=n, w=0), fixed(A)
    looks = Looks(np.zeros(30, dtype=int), np.arange(1, 31) / 31, Z, Z, AZ, Z[:8])
    on_line = StiffnessLooks.__new__(StiffnessLooks)
    on_line.curve, on_line.looks, on_line.small = curve, looks, length_of_same(n)
    on_line.steps = SimpleNamespace(together=(A[None], end.probes[None], np.zeros((1, 2), dtype=int)))
    assert on_line.long(on_line.in_rows(on_line.ends())).any()
    nodes = tuple(KnownPlace(f, end) for f in (0.0, 0.5, 1.0))
    on_parabola = CloserLooks(curve, looks, {-1}, length_of_same(n))
    assert on_parabola.lengths(nodes, nodes, np.arange(30)).max() > length_of_same(n) ** 2
