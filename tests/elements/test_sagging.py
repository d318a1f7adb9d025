"""The sagging cable: table of the guyed mast, its static equilibria, and the catenary it approximates."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agreement import agree
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

import onesided
from onesided import System
from onesided.base.errors import ModelError
from onesided.elements import Cable, Force, Node, SaggingCable
from onesided.elements.sagging import tension_ratio

# [QT section 4.2]: chord s, plan radius r, weight g, EA, pretension S0; a with the power of S0 and EA corrected
CHORD, RADIUS, WEIGHT, AREA, TENSION = 240.0, 145.0, 85.0, 1.6e11 * 1.005e-3, 50249.0
COSINE = RADIUS / CHORD
SAG = WEIGHT**2 * CHORD**2 * COSINE**2 * AREA / (24 * TENSION**3)
PRINTED = WEIGHT**2 * CHORD**2 * COSINE**2 / (24 * TENSION * AREA)
RATE = AREA * COSINE * RADIUS / (TENSION * CHORD)
RISE = np.sqrt(CHORD**2 - RADIUS**2)
TABLE = [  # elongation, corrected a (K), printed a (P): roots of the cubic to twelve digits
    (-0.02, 0.509570449436, 0.000187163666),
    (-0.01, 0.643921625057, 0.000270811688),
    (-0.002, 0.884959695928, 0.000765457775),
    (-1 / RATE, 0.945796285018, 0.009218015075),
    (0.0, 1.0, 1.0),
    (0.001, 1.075922273572, 2.168078184215),
    (0.005, 1.675644469505, 6.840393237927),
    (0.01, 4.982247207845, 12.680787230582),
    (0.02, 16.369811507404, 24.361575236079),
]


@pytest.mark.parametrize("row", TABLE)
def test_the_tension_is_the_positive_root_of_the_cubic(row):
    elongation, corrected, printed = row
    assert tension_ratio(RATE * elongation, SAG) == pytest.approx(corrected, abs=1e-10, rel=1e-12)
    assert tension_ratio(RATE * elongation, PRINTED) == pytest.approx(printed, abs=1e-12)


@given(st.floats(-1e4, 1e4), st.floats(-9.0, 4.0))
@settings(max_examples=200)
def test_the_root_solves_its_equation_for_any_sag_and_stretch(stretch, power):
    sag = 10.0**power
    root = float(tension_ratio(stretch, sag))
    terms = [root, -1.0, sag, -sag / root**2, -stretch]
    assert root > 0
    assert abs(sum(terms)) <= 1e-13 * max(abs(t) for t in terms)


def test_derivatives_of_the_root_are_exact_to_third_order():
    cubic = [float(tension_ratio(0.3 + h, 2.0)) for h in np.linspace(-0.02, 0.02, 9)]
    fit = np.polynomial.Polynomial.fit(np.linspace(-0.02, 0.02, 9), cubic, 8)
    f, exact = tension_ratio, []
    for _ in range(3):
        f = jax.grad(f)
        exact.append(float(f(0.3, 2.0)))
    assert exact == pytest.approx([float(fit.deriv(k)(0.0)) for k in (1, 2, 3)], rel=1e-5)


ANCHORS = RADIUS * np.array([[-0.5, np.sqrt(3) / 2], [1.0, 0.0], [-0.5, -np.sqrt(3) / 2]])
PLACES = [Node("top", (0.0, 0.0)), *(Node(f"a{i}", tuple(x), fixed=True) for i, x in enumerate(ANCHORS, 1))]
WIND = Force("wind", "top", (33541.0 * 0.5, 33541.0 * np.sqrt(3) / 2))


def _mast(weight):
    guys = [
        SaggingCable(f"g{i}", ("top", f"a{i}"), AREA, weight, TENSION, rise=RISE)  # law K
        for i in (1, 2, 3)
    ]
    return onesided.compose(PLACES, guys, WIND)


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        (WEIGHT, (0.002925306210, 0.005066778983)),  # K
        (WEIGHT * TENSION / AREA, (0.000315161006, 0.000545874875)),  # P: the printed a is this weight's
    ],
)
def test_the_guyed_mast_stands_where_the_reference_says(weight, expected):
    state = onesided.solve(_mast(weight), start=[0.0, 0.0], p=1.0).value
    assert state.q / RADIUS == pytest.approx(expected, abs=2e-12)


def test_the_guyed_mast_on_taut_one_sided_cables():
    pull, k = TENSION * COSINE, AREA / CHORD * COSINE**2
    guys = [Cable(f"g{i}", ("top", f"a{i}"), stiffness=k, pretension=pull) for i in (1, 2, 3)]
    system = onesided.compose(PLACES, guys, WIND)
    state = onesided.solve(system, start=system.start, p=1.0).value
    assert state.q[:2] / RADIUS == pytest.approx((0.000315160521, 0.000545874035), abs=2e-12)
    assert state.lam / pull == pytest.approx((0.63204176, 0.63204176, 1.73626465), abs=1e-8)


def _root(stretch, sag):
    """The positive root by companion matrix, for hand-written energies in NumPy."""
    roots = np.roots([1.0, sag - 1.0 - stretch, 0.0, -sag])
    return max(float(r.real) for r in roots if abs(r.imag) < 1e-9)


def test_the_energy_is_the_integral_of_the_tension():
    system = onesided.compose(
        Node("a", (0.0, 0.0), fixed=True), Node("b", (30.0, 40.0)), SaggingCable("s", ("a", "b"), 2e5, 4.0, 900.0)
    )
    across = 4.0 * 30.0 / 50.0  # gravity along −y: the part normal to the chord
    sag = 2e5 * (across * 50.0) ** 2 / 24 / 900.0**3
    for stretch in (-3.0, 0.2, 1.5):
        q = np.array([30.0, 40.0]) * (1.0 + stretch / 50.0)
        energy, force, _ = system.residual(q, 0.0, np.zeros(0))
        expected = quad(lambda u: 900.0 * _root(2e5 * u / 50.0 / 900.0, sag), 0.0, stretch, epsabs=1e-10)[0]
        assert energy == pytest.approx(expected, rel=1e-9)
        assert force == pytest.approx(900.0 * _root(2e5 * stretch / 50.0 / 900.0, sag) * np.array([0.6, 0.8]), rel=1e-9)


def test_the_hessian_is_that_of_a_hand_written_energy_through_an_inner_unknown():
    """The tension as an extra coordinate at which U is stationary: eliminating it gives the same stiffness."""
    system = onesided.compose(
        Node("a", (0.0, 0.0), fixed=True), Node("b", (50.0, 0.0)), SaggingCable("s", ("a", "b"), 2e5, 4.0, 900.0)
    )
    sag = 2e5 * (4.0 * 50.0) ** 2 / 24 / 900.0**3

    def mixed(z):
        u = jnp.sqrt(z[0] ** 2 + z[1] ** 2) - 50.0
        s = z[2]
        return 900.0 * (s * u - 50.0 * 900.0 / 2e5 * ((s - 1) ** 2 / 2 + sag * (s + 1 / s - 2)))

    q = np.array([49.9, 1.3])
    s = _root(2e5 * (np.hypot(*q) - 50.0) / 50.0 / 900.0, sag)
    H = np.asarray(jax.jit(jax.hessian(mixed))(jnp.array([*q, s])))
    condensed = H[:2, :2] - np.outer(H[:2, 2], H[2, :2]) / H[2, 2]
    assert system.evaluate(q, 0.0, np.zeros(0)).L_qq == pytest.approx(condensed, rel=1e-9)


def test_small_sag_agrees_with_the_elastic_catenary():
    """Parabola law against the exact catenary of the same unstretched length: they differ by the order (sag/span)²."""
    span, weight, area, h0 = 100.0, 1.0, 1e5, 400.0  # sag number 0.065, sag/span = 1/32

    def unstretched(h, x):
        return 2 * h / weight * np.sinh(weight * x / 2 / h) - _elastic(h, x)

    def _elastic(h, x):
        return h / (2 * area) * (x + h / weight * np.sinh(weight * x / h))

    length = unstretched(h0, span)
    sag = area * (weight * span) ** 2 / 24 / h0**3
    for h in (300.0, 500.0):
        x = _solve(lambda x, h=h: unstretched(h, x) - length, span - 5, span + 5)
        ratio = float(tension_ratio(area * (x - span) / span / h0, sag))
        assert ratio == pytest.approx(h / h0, rel=5e-3)


def _solve(f, low, high):
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if f(low) * f(middle) > 0 else (low, middle)
    return low


def test_composed_equals_written_in_space():
    system = onesided.compose(
        Node("a", (0.0, 0.0, 0.0), fixed=True),
        Node("b", (3.0, 0.0, 4.0)),
        SaggingCable("s", ("a", "b"), 2e3, 4.0, 9.0, down=(0.0, 0.0, -1.0)),
    )
    sag = 2e3 * (4.0 * 3.0) ** 2 / 24 / 9.0**3

    def energy(q, p, th):
        z = 2e3 / 9.0 / 5.0 * (jnp.sqrt(q @ q) - 5.0)
        s = tension_ratio(z, sag)
        return 9.0 / (2e3 / 9.0 / 5.0) * (s * z - (s - 1) ** 2 / 2 - sag * (s + 1 / s - 2))

    written = System(system.coordinates, energy)
    for shift in np.random.default_rng(3).normal(size=(5, 3)):
        agree(system, written, np.array([3.0, 0.0, 4.0]) + 0.3 * shift, 0.0, tolerance=1e-10)


def test_what_cannot_work_is_refused():
    a, b, above = Node("a", (0.0, 0.0), fixed=True), Node("b", (1.0, 0.0)), Node("up", (0.0, 3.0), fixed=True)
    solid = [Node("a", (0.0, 0.0, 0.0), fixed=True), Node("b", (1.0, 0.0, 0.0))]

    def refused(match, *parts):
        with pytest.raises(ModelError, match=match):
            onesided.compose(*parts)

    refused("two ends", a, b, SaggingCable("s", ("a",), 1.0, 1.0, 1.0))
    refused("coincide", a, Node("b", (0.0, 0.0)), SaggingCable("s", ("a", "b"), 1.0, 1.0, 1.0))
    refused("`weight` is not positive", a, b, SaggingCable("s", ("a", "b"), 1.0, 0.0, 1.0))
    refused("`modulus_area` is not positive", a, b, SaggingCable("s", ("a", "b"), 0.0, 1.0, 1.0))
    refused("`pretension` is not positive", a, b, SaggingCable("s", ("a", "b"), 1.0, 1.0))
    refused("vertical", a, above, SaggingCable("s", ("a", "up"), 1.0, 1.0, 1.0))
    refused("no direction", a, b, SaggingCable("s", ("a", "b"), 1.0, 1.0, 1.0, down=(0.0, 0.0)))
    refused("exclude", a, b, SaggingCable("s", ("a", "b"), 1.0, 1.0, 1.0, down=(0.0, 1.0), rise=1.0))
    refused("in the plane", solid, SaggingCable("s", ("a", "b"), 1.0, 1.0, 1.0, rise=1.0))
