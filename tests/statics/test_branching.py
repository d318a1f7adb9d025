"""All branches at singular points: normal forms and structures whose rays are known in closed form."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from onesided import System, diagram, trace
from onesided.results import Kind
from onesided.statics.rays.rays import rays

ORDERS = range(3, 13)


def slow(n):
    return pytest.param(n, marks=pytest.mark.slow)


def _symmetric(q, p, th):
    """−p|z|²/2 + b|z|⁴/4 − Σ c_n Re zⁿ/n in coordinates that may be sheared and stretched."""
    x, y = th.stretch * (q[0] + th.shear * q[1]), q[1]
    square, re, im = x**2 + y**2, 1.0, 0.0
    total = -p / th.unit * square / 2 + th.b * square**2 / 4
    for n in range(1, 13):
        re, im = re * x - im * y, re * y + im * x
        total = total - (getattr(th, f"c{n}") * re / n if n >= 3 else 0.0)
    return total


NO_TERMS = {f"c{n}": 0.0 for n in ORDERS}
SYMMETRIC = System(("x", "y"), _symmetric, parameters={**NO_TERMS, "b": 1.0, "shear": 0.0, "stretch": 1.0, "unit": 1.0})
FORM = System(
    ("x",),
    lambda q, p, th: sum(
        getattr(th, f"c{i}{j}") * p**i * q[0] ** (j + 1) / (j + 1) for i in range(4) for j in range(7)
    ),
    parameters={f"c{i}{j}": 0.0 for i in range(4) for j in range(7)},
)


def sides(found):
    return sorted((ray.p_sign, ray.order) for ray in found.rays)


@pytest.mark.parametrize("n", [3, 4, 5, 6, slow(8), slow(10)])
def test_dihedral_symmetry(n):
    found = rays(SYMMETRIC.replace(parameters={f"c{n}": 0.3}), [0.0, 0.0], 0.0)
    assert found.complete and found.family == 0 and found.multiplicity == 3 and len(found) == 2 + 2 * n
    moving = [ray for ray in found.rays if np.linalg.norm(ray.q_dot) > 0.1 * abs(ray.p_dot)]
    angles = np.array([np.arctan2(ray.q_dot[1], ray.q_dot[0]) for ray in moving]) * n / np.pi
    assert sorted(np.round(angles).astype(int) % (2 * n)) == list(range(2 * n))
    assert np.max(np.abs(angles - np.round(angles))) < 1e-6
    assert {ray.order for ray in moving} == ({1} if n == 3 else {2})


@settings(max_examples=8, deadline=None)
@given(
    st.sampled_from([3, 4, 5]),
    st.floats(-1.0, 1.0),
    st.floats(0.5, 2.0),
    st.sampled_from([0.01, 1.0, 100.0]),
    st.sampled_from([-0.5, 0.4]),
)
def test_symmetry_in_other_coordinates_and_units(n, shear, stretch, unit, strength):
    parameters = {f"c{n}": strength, "shear": shear, "stretch": stretch, "unit": unit}
    found = rays(SYMMETRIC.replace(parameters=parameters), [0.0, 0.0], 0.0)
    assert found.complete and len(found) == 2 + 2 * n


def test_a_circle_of_branches():
    found = rays(SYMMETRIC, [0.0, 0.0], 0.0)
    assert found.complete and found.family == 1 and sides(found) == [(-1, 1), (1, 1)]
    strut = System(("x", "y"), lambda q, p, th: q @ q / 2 - p * (1 - jnp.sqrt(1 - q @ q)))
    event = trace(strut, [0.0, 0.0], 0.0, p_bounds=(-1, 3)).events[0]
    assert event.kind is Kind.smooth_bifurcation and event.rays.family == 1
    assert "continuum of dimension 1" in event.detail
    assert not diagram(strut, [0.0, 0.0], 0.0, p_bounds=(-1, 3)).complete  # a circle is not followed, and that is told


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ({"c11": -1, "c03": 1}, [(-1, 1), (1, 1), (1, 2), (1, 2)]),  # pitchfork
        ({"c11": -1, "c03": -1e-8}, [(-1, 1), (-1, 2), (-1, 2), (1, 1)]),
        ({"c11": -1, "c03": 1e8}, [(-1, 1), (1, 1), (1, 2), (1, 2)]),
        ({"c11": -1e-8, "c03": 1}, [(-1, 1), (1, 1), (1, 2), (1, 2)]),
        ({"c11": -1, "c02": 1}, [(-1, 1), (-1, 1), (1, 1), (1, 1)]),  # transcritical
        ({"c11": -1, "c02": 1e-6, "c03": 1}, [(-1, 1), (-1, 1), (1, 1), (1, 1)]),
        ({"c11": -1, "c05": 1}, [(-1, 1), (1, 1), (1, 4), (1, 4)]),
        ({"c11": -1, "c06": 1}, [(-1, 1), (-1, 5), (1, 1), (1, 5)]),
        ({"c20": -1, "c04": 1}, [(-1, 2), (-1, 2), (1, 2), (1, 2)]),  # two parabolas that touch
        ({"c20": 1, "c12": -3, "c04": 2}, [(1, 2)] * 4),  # (p − x²)(p − 2x²)
        ({"c30": 1, "c14": -1}, [(-1, 2), (-1, 2), (0, 0), (0, 0), (1, 2), (1, 2)]),
        ({"c20": -1, "c03": 1}, [(-1, 1), (1, 1)]),  # cusp
        ({"c30": -1, "c02": 1}, [(1, 1), (1, 1)]),
        ({"c20": 1, "c02": 1}, []),  # an isolated equilibrium
        ({"c20": 1, "c04": 1}, []),
        ({"c10": 1, "c03": -1}, [(-1, 3), (1, 3)]),  # regular, p = x³
        ({"c10": 1, "c04": -1}, [(1, 4), (1, 4)]),  # regular, p = x⁴
    ],
)
def test_one_mode(terms, expected):
    found = rays(FORM.replace(parameters={k: float(v) for k, v in terms.items()}), [0.0], 0.0)
    assert found.complete and sides(found) == expected


def test_a_double_line_is_not_claimed_to_be_decided():
    found = rays(FORM.replace(parameters={"c20": 1.0}), [0.0], 0.0)
    assert not found.complete and found.reason


def test_weak_terms_of_lower_order_decide_close_to_the_point():
    found = rays(SYMMETRIC.replace(parameters={"c4": 0.3, "c3": 1e-3}), [0.0, 0.0], 0.0)
    assert found.complete and len(found) == 8


def test_more_modes():
    cubes = System(
        ("x", "y", "z"),
        lambda q, p, th: (
            -p * q @ q / 2 + th.b * jnp.sum(q**4) / 4 - th.t * q[0] * q[1] * q[2] + th.r * (q @ q) ** 2 / 4
        ),
        parameters={"b": 1.0, "t": 0.0, "r": 0.0},
    )
    for parameters, count, family in (({}, 28, 0), ({"t": 1.0}, 16, 0), ({"b": 0.0, "r": 1.0}, 2, 2)):
        found = rays(cubes.replace(parameters=parameters), [0.0] * 3, 0.0)
        assert found.complete and (len(found), found.family) == (count, family)


@pytest.mark.parametrize(("b", "expected"), [(1.0, [(-1, 2)] * 4), (-1.0, [(-1, 2), (-1, 2), (1, 2), (1, 2)])])
def test_hilltop(b, expected):
    """A limit point and a bifurcation at one place: x² + b y²/2 = 1 − p with x y = 0."""
    system = System(
        ("x", "y"),
        lambda q, p, th: (1 - p) * q[0] - q[0] ** 3 / 3 - th.b * q[0] * q[1] ** 2 / 2,
        parameters={"b": 1.0},
    )
    found = rays(system.replace(parameters={"b": b}), [0.0, 0.0], 1.0)
    assert found.complete and sides(found) == expected


def _pyramid(q, p, th):
    number = jnp.arange(8)
    angle = 2 * jnp.pi * number / th.n
    feet = jnp.stack([jnp.cos(angle), jnp.sin(angle), 0.0 * angle], axis=1)
    stretch = jnp.sqrt(jnp.sum((q - feet) ** 2, axis=1)) - jnp.sqrt(1 + th.h**2)
    return jnp.sum(jnp.where(number < th.n, stretch**2, 0.0)) * 3.0 / th.n + p * q[2]


PYRAMID = System(("x", "y", "z"), _pyramid, parameters={"n": 3.0, "h": 2.0})


@pytest.mark.parametrize("n", [3, 4, 5, 6, slow(7), slow(8)])
def test_pyramid(n):
    """Sway is neutral where 1 − L₀/L + L₀/(2L³) = 0: 2 + 2n branches, along the bars and between them."""
    h = 2.0
    rest = np.sqrt(1 + h * h)
    z = brentq(lambda z: 1 - rest / np.hypot(1, z) + rest / np.hypot(1, z) ** 3 / 2, 0.3 * h, h, xtol=1e-15)
    p = 6.0 * (rest / np.hypot(1, z) - 1) * z
    found = rays(PYRAMID.replace(parameters={"n": float(n), "h": h}), [0.0, 0.0, z], p)
    assert found.complete and found.multiplicity == 3 and len(found) == 2 + 2 * n
    for ray in found.rays:  # every branch is confirmed by an equilibrium on it
        e = PYRAMID.replace(parameters={"n": float(n), "h": h}).evaluate(ray.ahead[:3], ray.ahead[3], np.zeros(0))
        assert np.max(np.abs(e.L_q)) < 1e-12 * 6.0


@pytest.mark.parametrize("apart", [1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 0.0])
def test_modes_that_vanish_close_together(apart):
    """Two events of four rays, or one cluster of ten: the diagram has ten branches either way."""
    system = System(
        ("x", "y"),
        lambda q, p, th: (5 - p) * q[0] ** 2 / 2 + (5 + th.e - p) * q[1] ** 2 / 2 + jnp.sum(q**4) / 4,
        parameters={"e": 0.0},
    ).replace(parameters={"e": apart})
    path = trace(system, [0.0, 0.0], 0.0, p_bounds=(-1, 15))
    counts = [len(event.rays) for event in path.events if event.kind is Kind.smooth_bifurcation]
    assert counts in ([4, 4], [10])
    assert [event.rays.cluster for event in path.events if event.rays.multiplicity == 3] in ([], [apart > 0])
    assert path.instability[-1] == 2
    found = diagram(system, [0.0, 0.0], 0.0, p_bounds=(-1, 15), max_branches=40)
    assert found.complete and len(found.paths) == 10


@pytest.mark.parametrize("n", [4, 5])
def test_all_branches_are_followed(n):
    found = diagram(SYMMETRIC.replace(parameters={f"c{n}": 0.3}), [0.0, 0.0], -1.0, p_bounds=(-1, 0.5), max_branches=40)
    assert found.complete and len(found.paths) == 1 + 2 * n
    on_axis = [path for path in found.paths if path.q[-1, 0] > 0.1 and abs(path.q[-1, 1]) < 1e-9]
    assert len(on_axis) == 1
    x = on_axis[0].q[:, 0]
    assert on_axis[0].p == pytest.approx(x**2 - 0.3 * x ** (n - 2), abs=1e-9)  # the closed form for y = 0


def test_branches_that_turn_back_close_to_their_start():
    """p = 5 + x² and p = 5.001 − y²: four arcs x² + y² = 0.001 join the two, far smaller than the rest."""
    system = System(
        ("x", "y"),
        lambda q, p, th: (5 - p) * q[0] ** 2 / 2 - (5.001 - p) * q[1] ** 2 / 2 + jnp.sum(q**4) / 4,
    )
    found = diagram(system, [0.0, 0.0], 0.0, p_bounds=(-1, 15), max_branches=40)
    assert found.complete and len(found.paths) == 10


@pytest.mark.slow
def test_a_pyramid_goes_straight_through_both_double_points():
    path = trace(PYRAMID.replace(parameters={"n": 5.0, "h": 1.7}), [0.0, 0.0, 1.7], 0.0, p_bounds=(-0.1, 20.0))
    assert [len(event.rays) for event in path.events[:-1]] == [12, 2, 12]
    assert np.max(np.abs(path.q[:, :2])) < 1e-9  # branches that sway are off by 0.1
