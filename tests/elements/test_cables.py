"""Elastic cables, strings and pulleys against hand-written models and closed forms."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest
from agreement import agree
from hypothesis import given, settings
from hypothesis import strategies as st

import onesided
from onesided import System
from onesided.base.errors import ModelError
from onesided.elements import Bar, Cable, Force, Node, Spring, String

coordinates = st.floats(-2.0, 2.0)
positive = st.floats(0.2, 5.0)

MIXED = onesided.compose(
    Node("a", (-3.0, 0.0), fixed=True),
    Node("b", (3.0, 1.0), fixed=True),
    Node("m", (0.0, -1.0)),
    Node("n", (0.5, 2.5)),
    Cable("c", ("a", "b"), via=("m", "n"), modulus_area="EA", pretension="T"),
    Cable("d", ("m", "n"), stiffness="k", length="L"),
    String("s", ("a", "n"), via=("m",), length="2*L"),
    Force("w", "m", (0.0, -1.0)),
    parameters={"EA": 10.0, "T": 0.5, "k": 3.0, "L": 4.0},
)


def _length(*points):
    return sum(jnp.sqrt((x[0] - y[0]) ** 2 + (x[1] - y[1]) ** 2) for x, y in itertools.pairwise(points))


A, B = (-3.0, 0.0), (3.0, 1.0)


def _energy(q, p, th):
    now = _length(A, (0.0, -1.0), (0.5, 2.5), B)
    natural = now / (1.0 + th["T"] / th["EA"])
    m, n = q[0:2], q[2:4]
    c = th["EA"] / natural / 2 * (_length(A, m, n, B) - natural + q[4]) ** 2
    return c + th["k"] / 2 * (_length(m, n) - th["L"] + q[5]) ** 2 + p * q[1]


WRITTEN = System(
    MIXED.coordinates,
    _energy,
    unilateral={
        "c": lambda q, p, th: q[4],
        "d": lambda q, p, th: q[5],
        "s": lambda q, p, th: 2 * th["L"] - _length(A, q[0:2], q[2:4]),
    },
    parameters=dict(MIXED.parameters),
)


@given(st.tuples(*6 * [coordinates]), st.tuples(*4 * [positive]), st.tuples(*3 * [st.floats(0.0, 3.0)]), coordinates)
@settings(max_examples=40)
def test_cables_and_strings_equal_their_hand_written_energies_taut_and_slack(q, values, nu, p):
    if np.hypot(q[0] - q[2], q[1] - q[3]) < 0.1:
        return
    parameters = dict(zip(("EA", "T", "k", "L"), values, strict=True))
    agree(MIXED.replace(parameters=parameters), WRITTEN.replace(parameters=parameters), q, p, nu)


def test_the_start_has_the_pretension_and_the_slack():
    start = dict(zip(MIXED.coordinates, MIXED.start, strict=True))
    assert start["c_slack"] == 0.0
    assert start["d_slack"] == pytest.approx(4.0 - np.hypot(0.5, 3.5))
    e = MIXED.evaluate(MIXED.start, 0.0, np.zeros(3))
    assert e.L_q[MIXED.coordinates.index("c_slack")] == pytest.approx(0.5, rel=1e-12)


@given(st.floats(0.3, 2.5), st.floats(-0.9, 0.9), st.floats(0.05, 3.0))
@settings(max_examples=15)
def test_a_ring_on_a_string_hangs_at_equal_angles(span, drop, extra):
    length = np.hypot(span, drop) + extra
    system = RING.replace(parameters={"d": span, "h": drop, "L": length})
    cosine = np.sqrt(1.0 - (span / length) ** 2)  # the two parts of the string slope alike: sin = span/length
    below = -(length * cosine - drop) / 2
    left = -below * span / length / cosine
    state = onesided.solve(system, start=[left + 0.1, below + 0.05], p=2.0).value
    assert state.q == pytest.approx([left, below], abs=1e-8)
    assert state.lam == pytest.approx([1.0 / cosine], rel=1e-8)  # two parts carry the load 2


RING = onesided.compose(
    Node("a", (0.0, 0.0), fixed=True),
    Node("b", ("d", "h"), fixed=True),
    Node("ring", (0.5, -1.0)),
    String("rope", ("a", "b"), via=("ring",), length="L"),
    Force("weight", "ring", (0.0, -1.0)),
    parameters={"d": 1.0, "h": 0.0, "L": 3.0},
)


@pytest.mark.parametrize("turns", [1, 3])
def test_a_tackle_divides_the_load_by_its_parts(turns):
    via = ["block", *(name for _ in range(turns - 1) for name in ("top", "block"))]
    system = onesided.compose(
        Node("hook", (0.0, 5.0), fixed=True),
        Node("top", (0.0, 4.0), fixed=True),
        Node("block", (0.0, 0.0), fixed="x"),
        Cable("rope", ("hook", "top"), via=via, stiffness=50.0),
        Force("weight", "block", (0.0, -1.0)),
    )
    state = onesided.solve(system, start=system.start, p=12.0).value
    assert state.lam == pytest.approx([12.0 / (2 * turns)], rel=1e-9)
    assert state.q[0] == pytest.approx(-12.0 / 50.0 / (2 * turns) ** 2, rel=1e-9)


def test_a_rope_takes_over_when_it_becomes_taut_and_the_event_is_found():
    system = onesided.compose(
        Node("a", (0.0, 0.0), fixed=True),
        Node("m", (1.0, 0.0), fixed="y"),
        Spring("k", ("a", "m"), stiffness=2.0),
        String("rope", ("a", "m"), length=1.5),
        Force("P", "m", (1.0, 0.0)),
    )
    path = onesided.trace(system, system.start, 0.0, p_bounds=(0.0, 3.0))
    assert path.events[0].p == pytest.approx(1.0, rel=1e-9)  # 2 · 0.5
    assert path.lam[-1] == pytest.approx([2.0], rel=1e-9)
    assert path.q[-1] == pytest.approx([1.5], rel=1e-9)


def test_what_cannot_work_is_refused():
    a, b = Node("a", (0.0, 0.0), fixed=True), Node("b", (1.0, 0.0))
    same = Node("same", (0.0, 0.0), fixed=True)

    def refused(match, element):
        with pytest.raises(ModelError, match=match):
            onesided.compose(a, b, same, element)

    refused("cable 'c': has no `law`", Cable("c", ("a", "b"), law="e**2"))
    refused("not a list of places", Cable("c", ("a", "b"), stiffness=1.0, via="same"))
    refused("'a' and 'same' coincide", Cable("c", ("a", "b"), stiffness=1.0, via=("same",)))
    refused("natural length is not positive", Cable("c", ("a", "b"), stiffness=1.0, length=0))
    refused("pretension", Cable("c", ("a", "b"), stiffness=1.0, length=0.5, pretension=1.0))
    refused("pretension", Bar("c", ("a", "b"), law="e**2", pretension=1.0))
    refused("cannot push", Cable("c", ("a", "b"), stiffness=1.0, pretension=-1.0))
    refused("not positive", Bar("c", ("a", "b"), stiffness=0.0))
    refused("not positive", Bar("c", ("a", "b"), modulus_area=0.0))
    refused("negative length", Bar("c", ("a", "b"), modulus_area=1.0, pretension=-1.0))
    refused("natural length", Bar("c", ("a", "b"), stiffness=1.0, pretension=2.0))
    refused("two ends", String("s", ("a",)))
    refused("not a list", String("s", ("a", "b"), via="same"))
    refused("too short", String("s", ("a", "b"), length=0.5))
    refused("not positive", String("s", ("a", "b"), length=-0.5))
    refused("unknown place", String("s", ("a", "nowhere")))
