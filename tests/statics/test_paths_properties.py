"""Paths of random smooth systems with random gaps: laws that hold whatever the numbers are.

One system with parameters for all: U = e·u(m q/ℓ, p/c) with u = ½xᵀAx + cubic + quartic − p bᵀx, and two gaps,
one linear, one quadratic. Units (e, ℓ, c, s) and mirrors m are parameters too, so nothing is compiled twice.
"""

import jax
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import onesided
from onesided import Kind, PredictorCorrector, zoo

NAMES = ("a11", "a12", "a22", "c1", "c2", "c3", "c4", "b1", "b2", "n1", "n2", "d1", "r1", "r2", "d2", "round")
UNITS = {"e": 1.0, "l": 1.0, "c": 1.0, "s": 1.0, "m1": 1.0, "m2": 1.0}
SMOOTH = {Kind.limit, Kind.corner_limit, Kind.closes, Kind.opens}
BACKWARDS = {Kind.closes: Kind.opens, Kind.opens: Kind.closes}


def energy(q, p, th):
    x, y, load = th.m1 * q[0] / th.l, th.m2 * q[1] / th.l, p / th.c
    quadratic = (th.a11 * x**2 + th.a22 * y**2) / 2 + th.a12 * x * y
    cubic = th.c1 * x**3 + th.c2 * x**2 * y + th.c3 * x * y**2 + th.c4 * y**3
    return th.e * (quadratic + cubic + (x**4 + y**4) / 2 - load * (th.b1 * x + th.b2 * y))


def flat(q, p, th):
    return th.s * (th.d1 + th.n1 * th.m1 * q[0] / th.l + th.n2 * th.m2 * q[1] / th.l)


def curved(q, p, th):
    x, y = th.m1 * q[0] / th.l, th.m2 * q[1] / th.l
    return th.s * (th.d2 + th.r1 * x + th.r2 * y - th.round * (x**2 + y**2))


def swapped(function):
    return lambda q, p, th: function(q[::-1], p, th)


DEFAULTS = {**dict.fromkeys(NAMES, 1.0), **UNITS}
SYSTEM = onesided.System(("x", "y"), energy, unilateral={"flat": flat, "curved": curved}, parameters=DEFAULTS)
SWAPPED = onesided.System(
    ("y", "x"),
    swapped(energy),
    unilateral={"flat": swapped(flat), "curved": swapped(curved)},
    parameters=DEFAULTS,
)


class Th:
    def __init__(self, values):
        self.__dict__.update(values)


_U_Q = jax.jit(lambda q, p, v: jax.grad(lambda q: energy(q, p, Th(v)))(q))
_U_QQ = jax.jit(lambda q, p, v: jax.hessian(lambda q: energy(q, p, Th(v)))(q))
_G = jax.jit(lambda q, v: jax.numpy.stack([flat(q, 0.0, Th(v)), curved(q, 0.0, Th(v))]))
_G_Q = jax.jit(lambda q, v: jax.jacobian(lambda q: jax.numpy.stack([flat(q, 0.0, Th(v)), curved(q, 0.0, Th(v))]))(q))


def lagrangian(q, p, lam, th):
    return energy(q, p, th) - lam[0] * flat(q, p, th) - lam[1] * curved(q, p, th)


_L_QQ = jax.jit(lambda q, p, lam, v: jax.hessian(lambda q: lagrangian(q, p, lam, Th(v)))(q))


def numbers(low, high):
    return st.floats(low, high, allow_nan=False).map(lambda value: round(value, 3))


@st.composite
def problems(draw):
    names = dict(zip(NAMES, [draw(numbers(-2, 2)) for _ in NAMES], strict=True))
    names.update(d1=draw(numbers(0.1, 0.8)), d2=draw(numbers(0.1, 0.8)), round=draw(numbers(0.0, 0.5)))
    A = np.array([[names["a11"], names["a12"]], [names["a12"], names["a22"]]])
    assume(np.min(np.abs(np.linalg.eigvalsh(A))) > 0.2)
    assume(np.hypot(names["b1"], names["b2"]) > 0.3)
    assume(np.hypot(names["n1"], names["n2"]) > 0.3 and np.hypot(names["r1"], names["r2"]) > 0.3)
    return {name: float(value) for name, value in names.items()}


def follow(system, **options):
    c = system.parameters["c"]
    return onesided.trace(
        system, [0.0, 0.0], 0.0, p_bounds=(-1.5 * c, 1.5 * c), max_events=5, max_points=300, throw=False, **options
    )


def summary(path):
    return [(event.kind, event.constraints) for event in path.events]


@given(problems())
@settings(max_examples=25)
def test_every_point_is_an_equilibrium_of_the_right_degree(parameters):
    system = SYSTEM.replace(parameters=parameters)
    path, values = follow(system), dict(system.parameters)
    assert path.ok, path.note
    events = {event.index for event in path.events}
    for i in range(len(path)):
        q, p, lam = path.q[i], path.p[i], path.lam[i]
        g, E = np.asarray(_G(q, values)), np.asarray(_G_Q(q, values))
        U_q = np.asarray(_U_Q(q, p, values))
        size = 1.0 + np.max(np.abs(_U_QQ(q, p, values))) + np.max(np.abs(E)) * np.max(lam)
        assert np.max(np.abs(U_q - E.T @ lam)) <= 1e-9 * size
        assert np.min(g) >= -1e-9 and np.min(lam) >= -1e-9 and np.max(np.minimum(g, lam)) <= 1e-9
        np.testing.assert_allclose(path.gaps[i], g, atol=1e-12)
        if i in events or i == 0:
            continue
        closed = E[lam > 1e-9]
        T = np.linalg.svd(closed, full_matrices=True)[2][len(closed) :].T if len(closed) else np.eye(2)
        eigenvalues = np.linalg.eigvalsh(T.T @ np.asarray(_L_QQ(q, p, lam, values)) @ T) if T.shape[1] else np.zeros(0)
        if np.min(np.abs(eigenvalues), initial=1.0) > 1e-6:
            assert path.instability[i] == np.sum(eigenvalues < 0)


@given(problems())
@settings(max_examples=20)
def test_tracing_back_meets_the_same_events_in_reverse(parameters):
    system = SYSTEM.replace(parameters=parameters)
    path = follow(system)
    met = [event for event in path.events if event.kind is not Kind.bound]
    assume(met and all(event.kind in SMOOTH for event in met))
    regular = [i for i in range(met[-1].index + 1, len(path)) if i not in {e.index for e in path.events}]
    if regular:
        start, expected = regular[-1], met
    else:  # ended at its last event: start just before it
        between = range(met[-2].index + 1, met[-1].index) if len(met) > 1 else []
        assume(len(between))
        start, expected = between[-1], met[:-1]
    direction = -int(np.sign(path.tangents[start, 2]))
    assume(direction)
    back = onesided.trace(system, path.q[start], path.p[start], direction=direction, max_events=len(expected))
    assert [e.kind for e in back.events] == [BACKWARDS.get(e.kind, e.kind) for e in expected[::-1]]
    for a, b in zip(back.events, expected[::-1], strict=True):
        assert a.p == pytest.approx(b.p, abs=1e-8)
        np.testing.assert_allclose(a.q, b.q, atol=1e-6)
        assert a.instability_before == b.instability_after
        assert a.instability_after in {b.instability_before, None}  # None: ended at its last event


@given(problems())
@settings(max_examples=15)
def test_order_of_coordinates_does_not_matter(parameters):
    one, two = follow(SYSTEM.replace(parameters=parameters)), follow(SWAPPED.replace(parameters=parameters))
    assert summary(one) == summary(two)
    for a, b in zip(one.events, two.events, strict=True):
        np.testing.assert_allclose([a.p, *a.q, *a.lam], [b.p, *b.q[::-1], *b.lam], atol=1e-8)
        assert (a.instability_before, a.instability_after) == (b.instability_before, b.instability_after)


@given(
    problems(), st.sampled_from([1e-6, 1e-3, 1.0, 1e5]), st.sampled_from([1e-4, 1.0, 1e7]), st.sampled_from([1e-3, 1e4])
)
@settings(max_examples=20)
def test_units_do_not_matter(parameters, length, work, control):
    one = follow(SYSTEM.replace(parameters=parameters))
    other = follow(SYSTEM.replace(parameters={**parameters, "l": length, "e": work, "c": control, "s": length}))
    assert summary(one) == summary(other)
    for a, b in zip(one.events, other.events, strict=True):
        found = [b.p / control, *(b.q / length), *(b.lam * length / work)]
        np.testing.assert_allclose([a.p, *a.q, *a.lam], found, atol=1e-6)
        assert (a.instability_before, a.instability_after) == (b.instability_before, b.instability_after)


@given(problems(), st.sampled_from([(-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)]))
@settings(max_examples=15)
def test_mirrored_system_has_the_mirrored_path(parameters, mirror):
    one = follow(SYSTEM.replace(parameters=parameters))
    other = follow(SYSTEM.replace(parameters={**parameters, "m1": mirror[0], "m2": mirror[1]}))
    assert summary(one) == summary(other)
    for a, b in zip(one.events, other.events, strict=True):
        np.testing.assert_allclose([a.p, *a.q, *a.lam], [b.p, *(b.q * mirror), *b.lam], atol=1e-8)


@given(problems())
@settings(max_examples=10)
def test_both_methods_meet_the_same_events(parameters):
    system = SYSTEM.replace(parameters=parameters)
    options = {"p_bounds": (-1.0, 1.0), "max_events": 2}
    one = onesided.trace(system, [0.0, 0.0], 0.0, **options)
    other = onesided.trace(system, [0.0, 0.0], 0.0, method=onesided.FirstOrder(), **options)
    assert summary(one) == summary(other)
    for a, b in zip(one.events, other.events, strict=True):
        np.testing.assert_allclose([a.p, *a.q], [b.p, *b.q], atol=1e-6)


@pytest.mark.parametrize("name", ["von-mises-floor", "corner-limit", "two-supports", "wedge", "singular-corner"])
def test_energy_is_the_integral_of_its_derivative_by_p(name):
    """On a path dU = U_p dp where constraints do not move: reactions do no work."""
    system, task = zoo.load(name)
    fine = PredictorCorrector(max_step=0.005, first_step=0.005)
    path = onesided.trace(system, task.start, task.p, direction=task.direction, p_bounds=task.p_bounds, method=fine)
    U_p = np.array(
        [system.evaluate(q, p, np.zeros(path.lam.shape[1])).L_x[-1] for q, p in zip(path.q, path.p, strict=True)]
    )
    work = np.sum((U_p[1:] + U_p[:-1]) / 2 * np.diff(path.p))
    assert path.energy[-1] - path.energy[0] == pytest.approx(work, abs=1e-4)
