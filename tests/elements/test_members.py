"""Bars, springs, elastic cables and dead forces against energies written by hand."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onesided
from onesided.elements import Bar, Cable, Force, Guided, Node, Spring

STIFF, NATURAL = 3.0, 1.4
PARAMETERS = {"k": STIFF, "l": NATURAL, "c": 0.7, "F": 0.3}


def composed() -> onesided.System:
    """Two free nodes, one guide, every kind of member, a support that moves with p."""
    return onesided.compose(
        Node("a", (0.0, 0.0), fixed=True),
        Node("b", (2.0, 0.0), fixed="y", moves={"x": 0.5}),
        Node("u", (0.6, 1.1)),
        Guided("g", (1.5, 1.0), along=(3.0, 4.0)),
        Bar("bar", ("a", "u"), stiffness="k", length="l"),
        Bar("soft", ("b", "u"), law="k*e**2/2 + c*e**4", length=1.0),
        Spring("point", ("b", "g"), stiffness="2*k", length=0),
        Bar("area", ("a", "g"), modulus_area=5.0, length=1.2),
        Cable("rope", ("u", "g"), stiffness="k", length=0.8),
        Force("dead", "u", (0.2, "-F")),
        Force("steady", "g", (0.0, -0.1), constant=True),
        parameters=PARAMETERS,
    )


def energy(q, p, th):
    """The same by hand; q = (u_x, u_y, g_s, slack of the rope)."""
    a, b, u = jnp.zeros(2), jnp.array([2.0 + 0.5 * p, 0.0]), q[:2]
    g = jnp.array([1.5 + 0.6 * q[2], 1.0 + 0.8 * q[2]])

    def length(x, y):
        return jnp.sqrt(jnp.sum((x - y) ** 2))

    e = length(b, u) - 1.0
    total = th["k"] / 2 * (length(a, u) - th["l"]) ** 2 + th["k"] / 2 * e**2 + th["c"] * e**4
    total += th["k"] * jnp.sum((b - g) ** 2) + 5.0 / 1.2 / 2 * (length(a, g) - 1.2) ** 2
    total += th["k"] / 2 * (length(u, g) - 0.8 + q[3]) ** 2
    return total - p * (0.2 * u[0] - th["F"] * u[1]) + 0.1 * g[1]


@pytest.fixture(scope="module")
def pair() -> tuple[onesided.System, onesided.System]:
    """The composed system and the written one."""
    written = onesided.System(
        coordinates=("u_x", "u_y", "g_s", "rope_slack"),
        energy=energy,
        unilateral={"rope": lambda q, p, th: q[3]},
        parameters=PARAMETERS,
    )
    return composed(), written


@given(
    q=st.lists(st.floats(0.2, 1.5), min_size=4, max_size=4),
    p=st.floats(-2.0, 2.0),
    tension=st.floats(-3.0, 3.0),
    k=st.floats(0.1, 10.0),
)
def test_composed_system_equals_the_written_one(pair, q, p, tension, k):
    found, truth = (system.replace(parameters={"k": k}) for system in pair)
    a, b = (system.evaluate(np.array(q), p, np.array([tension])) for system in (found, truth))
    size = 1.0 + k + abs(p)
    for name in ("energy", "L_x", "c", "L_qx", "c_x"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=1e-11 * size**4, err_msg=name)


def test_coordinates_constraints_and_start_are_named_after_the_parts(pair):
    found, truth = pair
    assert found.coordinates == truth.coordinates
    assert found.constraint_names == truth.constraint_names
    rope = np.hypot(1.5 - 0.6, 1.0 - 1.1)
    np.testing.assert_allclose(found.start, [0.6, 1.1, 0.0, max(0.0, 0.8 - rope)])


def test_von_mises_truss_turns_at_the_closed_form_load():
    truss = onesided.compose(
        Node("a", (0.0, 0.0), fixed=True),
        Node("b", (2.0, 0.0), fixed=True),
        Node("top", (1.0, 0.5), fixed="x"),
        [Bar(name, (end, "top"), stiffness=1.0) for name, end in (("left", "a"), ("right", "b"))],
        Force("load", "top", (0.0, -1.0)),
    )
    path = onesided.trace(truss, truss.start, 0.0, p_bounds=(-0.1, 0.1))
    limit = 2.0 * (np.hypot(1.0, 0.5) ** (2 / 3) - 1.0) ** 1.5
    np.testing.assert_allclose([event.p for event in path.events[:2]], [limit, -limit], rtol=1e-12)


def test_a_cable_goes_slack_where_statics_says():
    """A weight on two cables, pushed sideways: the far cable is slack when the near one points along the force."""
    hang = onesided.compose(
        Node("a", (-1.0, 1.0), fixed=True),
        Node("b", (1.0, 1.0), fixed=True),
        Node("m", (0.0, 0.0)),
        Cable("near", ("a", "m"), stiffness=100.0, pretension=1.0),
        Cable("far", ("b", "m"), stiffness=100.0, pretension=1.0),
        Force("weight", "m", (0.0, -2.0), constant=True),
        Force("push", "m", (1.0, 0.0)),
    )
    path = onesided.trace(hang, hang.start, 0.0, p_bounds=(0.0, 5.0))
    slack = path.events[0]
    assert slack.words().startswith("cable 'far' goes slack at p =")
    m = slack.q[:2]
    natural = np.sqrt(2.0) - 0.01
    np.testing.assert_allclose(np.hypot(*(m - (1.0, 1.0))), natural, rtol=1e-12)  # just not stretched
    pull = np.array([slack.p, -2.0])
    away = m - (-1.0, 1.0)
    np.testing.assert_allclose(away[0] * pull[1] - away[1] * pull[0], 0.0, atol=1e-12)  # near cable along the force
    np.testing.assert_allclose(slack.lam, [np.hypot(*pull), 0.0], atol=1e-10)  # multipliers are tensions
    np.testing.assert_allclose(path.lam[-1], [np.hypot(5.0, 2.0), 0.0], atol=1e-10)


def test_pretension_is_the_tension_at_the_start():
    for member in (
        Bar("m", ("a", "b"), stiffness=7.0, pretension=0.3),
        Cable("m", ("a", "b"), 7.0, pretension=0.3),
        Bar("m", ("a", "b"), modulus_area=7.0, pretension=0.3),
    ):
        line = onesided.compose(
            Node("a", (0.0, 0.0), fixed=True), Node("b", (2.0, 0.0), fixed="y"), member, Force("f", "b", (1.0, 0.0))
        )
        e = line.evaluate(line.start, 0.0, np.zeros(len(line.constraint_names)))
        assert e.L_q[0] == pytest.approx(0.3, rel=1e-12)


BASE = (Node("a", (0.0, 0.0), fixed=True), Node("b", (1.0, 0.0)))
MISTAKES = [
    ([Bar("m", ("a", "b"))], "stiffness is not clear"),
    ([Bar("m", ("a", "b"), stiffness=1.0, law="e**2")], "stiffness is not clear"),
    ([Bar("m", ("a", "b"), stiffness=-1.0)], "stiffness is not positive"),
    ([Bar("m", ("a", "b"), stiffness=1.0, length=-1.0)], "natural length is not positive"),
    ([Bar("m", ("a", "a"), stiffness=1.0)], "the same place twice"),
    ([Bar("m", ("a", "c"), stiffness=1.0)], "unknown place"),
    ([Bar("m", ("a", "b"), stiffness="kk")], "unknown name `kk`"),
    ([Bar("m", ("a", "b"), stiffness=1.0), Bar("m", ("a", "b"), stiffness=1.0)], "used twice"),
    ([Bar("m", ("a", "b"), stiffness=1.0), Node("c", (2.0, 0.0))], "no element is attached to c_x, c_y"),
    ([Bar("m", ("a", "b"), stiffness=1.0), Node("c", (2.0, 0.0, 1.0), fixed=True)], "plane and of space"),
    ([Bar("m", ("a", "d"), stiffness=1.0), Node("d", (0.0, 0.0))], "ends coincide"),
    ([Force("f", "b", (1.0, 0.0, 0.0))], "wrong number of components"),
    ([3.0], "neither a place nor an element"),
]


@pytest.mark.parametrize(("parts", "words"), MISTAKES, ids=[words for _, words in MISTAKES])
def test_mistakes_are_named(parts, words):
    with pytest.raises(onesided.OnesidedError, match=words):
        onesided.compose(*BASE, *parts, parameters={"k": 1.0})


def test_fixing_what_does_not_exist_is_refused():
    with pytest.raises(onesided.ModelError, match="cannot be fixed in 'z'"):
        onesided.compose(Node("a", (0.0, 0.0), fixed="z"), Node("b", (1.0, 0.0)), Bar("m", ("a", "b"), stiffness=1.0))


def test_order_of_the_parts_does_not_matter():
    parts = [
        Node("a", (0.0, 0.0), fixed=True),
        Node("u", (0.6, 1.1), fixed="x"),
        Bar("bar", ("a", "u"), stiffness=1.0),
        Force("dead", "u", (0.2, -1.0)),
    ]
    values = [
        onesided.compose(*order).evaluate(np.array([0.9]), 0.3, np.zeros(0)).energy
        for order in (parts, parts[::-1], parts[2:] + parts[:2])
    ]
    np.testing.assert_allclose(values, values[0], rtol=1e-14)
