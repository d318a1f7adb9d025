"""Stress-free states that follow the control parameter, the control's own name, and measures of composed structures."""

import math

import numpy as np
import pytest

import onesided
from onesided.base.errors import ModelError
from onesided.elements import (
    Bar,
    Beam,
    Body,
    Cable,
    Energy,
    Force,
    Node,
    PlaneContact,
    Prescribed,
    Spring,
    TorsionSpring,
    divided,
)

TENT = """
[control]
name = "t"               # temperature
range = [0.0, 1.0]
[parameters]
k = 2.0
L = 1.0
[define]
grown = "L*(1 + t)"
pull = "left.force + right.force"
[measures]
both = "pull"
height = "top_y - a_y"
[node]
a = {at = [-0.6, 0], fixed = true}
b = {at = [0.6, 0], fixed = true}
top = {at = [0, 0.8]}
[bar]
stiffness = "k"
left = {ends = ["a", "top"], length = "grown"}
right = {ends = ["b", "top"], length = "L + L*t"}
"""


@pytest.fixture(scope="module")
def tent():
    """Two bars that grow with the control parameter: the tent rises without force."""
    system, task = onesided.loads(TENT)
    return onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)


def test_growing_bars_lift_the_top_without_force(tent):
    """(1 + t)² = 0.36 + y²."""
    y = tent.q[:, tent.coordinates.index("top_y")]
    np.testing.assert_allclose(y, np.sqrt((1.0 + tent.p) ** 2 - 0.36), rtol=1e-9)
    np.testing.assert_allclose(tent.members["left.natural_length"], 1.0 + tent.p, rtol=1e-12)
    np.testing.assert_allclose(tent.members["left.force"], 0.0, atol=1e-9)


def test_measures_of_a_file_see_members_and_definitions(tent):
    np.testing.assert_allclose(tent.measures["height"], tent.q[:, tent.coordinates.index("top_y")])
    np.testing.assert_allclose(tent.measures["both"], tent.members["left.force"] + tent.members["right.force"])


def test_names_that_measures_cannot_use_are_refused():
    for wrong in ("left.forces", "height2", "p"):
        with pytest.raises(ModelError, match=r"line 13|unknown name|no member result") as told:
            onesided.loads(TENT.replace('"pull"\n', f'"{wrong}"\n', 1))
        assert "both" in str(told.value) or "measures" in str(told.value)


def test_formula_of_the_control_needs_its_own_name():
    with pytest.raises(ModelError, match="`p`"):
        onesided.loads(TENT.replace('"L + L*t"', '"L + L*p"'))


def test_where_the_control_has_no_place_it_is_refused():
    for place in ('[0, "0.8 + 0*t"]', '[0, "grown"]'):
        with pytest.raises(ModelError, match=r"line 17.*cannot follow the control parameter"):
            onesided.loads(TENT.replace("[0, 0.8]", place))


@pytest.fixture(scope="module")
def row():
    """One node between parts whose stress-free state follows u."""
    return onesided.compose(
        Node("a", (0.0, 0.0), fixed=True),
        Node("b", (1.0, 0.0), fixed="y"),
        Node("c", (3.0, 0.0), fixed=True),
        Bar("bar", ("a", "b"), stiffness="k", strain="alpha*u"),
        Cable("cable", ("b", "c"), stiffness=4.0, length="2 - u**2"),
        parameters={"k": 3.0, "alpha": 0.25},
        control="u",
        measures={"half": "cable.tension/2 + 0*alpha", "square": lambda q, p, th: q[0] ** 2, "end": "c_x - b_x"},
    )


def test_a_bar_that_swells_and_a_cable_that_is_wound_up(row):
    """3 (x − 1 − u/4) = 4 (3 − x − 2 + u²): x = (7 + 3u/4 + 4u²)/7."""
    for u in (0.5, 1.2):
        state = onesided.solve(row, start=row.start, p=u).value
        x = (7.0 + 0.75 * u + 4.0 * u**2) / 7.0
        assert state.q[0] == pytest.approx(x, rel=1e-12)
        assert state.members["cable.tension"][0] == pytest.approx(4.0 * (1.0 - x + u**2), rel=1e-12)
        assert state.members["bar.natural_length"][0] == pytest.approx(1.0 + 0.25 * u, rel=1e-12)


def test_measures_in_python_and_their_work(row):
    path = onesided.trace(row, row.start, 0.1, p_bounds=(0.1, 1.0))
    np.testing.assert_allclose(path.measures["half"], path.members["cable.tension"] / 2)
    np.testing.assert_allclose(path.measures["square"], path.q[:, 0] ** 2)
    np.testing.assert_allclose(path.measures["end"], 3.0 - path.q[:, 0])
    tension, force = path.members["cable.tension"], path.members["bar.force"]
    np.testing.assert_allclose(path.members["machine_force"], tension * 2.0 * path.p - 0.25 * force, rtol=1e-10)


def test_other_parameters_change_the_schedule(row):
    other = row.replace(parameters={"alpha": 0.0})
    assert onesided.solve(other, start=other.start, p=0.5).value.q[0] == pytest.approx(8.0 / 7.0, rel=1e-12)


def test_measures_that_are_nothing_are_refused():
    parts = [Node("a", (0.0, 0.0), fixed=True), Node("b", (1.0, 0.0)), Bar("r", ("a", "b"), stiffness=1.0)]
    with pytest.raises(ModelError, match="neither a formula nor a function"):
        onesided.compose(*parts, measures={"m": 3.0})
    with pytest.raises(ModelError, match="unknown name"):
        onesided.compose(*parts, measures={"m": "b_z"})


def test_rest_angle_and_drive_under_a_control_with_a_name():
    """A lever on a torsion spring whose rest angle is w/2, its tip height prescribed in w as well."""
    system = onesided.compose(
        Body("lever", (0.0, 0.0), fixed="xy"),
        TorsionSpring("coil", ("lever",), stiffness=5.0, angle="w/2"),
        Node("m", (0.0, 0.0), fixed="y"),
        Spring("s", ("m", "wall"), stiffness=1.0),
        Node("wall", (2.0, 0.0), fixed=True),
        Prescribed("push", "m_x", "0.5*w"),
        Energy("gravity", "g*w*m_x"),
        parameters={"g": 2.0},
        control="w",
    )
    state = onesided.solve(system, start=system.start, p=0.8).value
    assert dict(zip(state.coordinates, state.q, strict=True)) == pytest.approx({"lever_angle": 0.4, "m_x": 0.4})
    assert state.members["push.force"][0] == pytest.approx(0.4 + 1.6, rel=1e-12)  # spring stretched back, and gravity
    assert state.members["coil.natural_angle"][0] == pytest.approx(0.4)


def test_bimetal_cantilever_bends_into_an_arc():
    """A strip with natural curvature κ = p, free at its end, is a circle without stress; strain makes it longer."""
    strip = divided(
        Beam("b", EA=1e3, EI=1.0, curvature="p", strain="0.1*p"), np.linspace((0, 0), (1, 0), 5), fixed={0: True}
    )
    system = onesided.compose(*strip)
    path = onesided.trace(system, system.start, 0.0, p_bounds=(0.0, 1.0))
    end = dict(zip(path.coordinates, path.q[-1], strict=True))
    assert end["b_4_angle"] == pytest.approx(1.0, rel=1e-9)
    assert math.hypot(end["b_4_x"], end["b_4_y"]) == pytest.approx(1.1 * 2.0 * math.sin(0.5), rel=2e-3)
    assert abs(path.members["b_2_beam.M_1"][-1]) < 1e-9


def test_laws_that_are_none_say_what_is_expected():
    ends = [Node("a", (0.0, 0.0), fixed=True), Node("b", (1.0, 0.0)), Force("f", "b", (1.0, 0.0))]
    with pytest.raises(ModelError, match=r"formula of `e`"):
        onesided.compose(*ends, Bar("r", ("a", "b"), law=lambda e: e))
    with pytest.raises(ModelError, match=r"has no `e`"):
        onesided.compose(*ends, Bar("r", ("a", "b"), law="x**2"))


def test_statics_says_that_it_leaves_friction_out():
    parts = [Node("a", (0.0, 1.0), fixed="x"), Force("f", "a", (0.0, -1.0))]
    spring = [Node("b", (0.0, 3.0), fixed=True), Spring("s", ("a", "b"), stiffness=1.0)]
    rough = onesided.compose(*parts, *spring, PlaneContact("floor", "a", normal=(0.0, 1.0), friction=0.3))
    told = "statics has no friction: that of contact 'floor' is left out"
    assert told in onesided.solve(rough, start=rough.start, p=0.0).note
    assert told in onesided.trace(rough, rough.start, 0.0, p_bounds=(0.0, 3.0)).note
    assert told in onesided.drive(rough, rough.start, [0.0, 3.0]).note
    found = onesided.diagram(rough, rough.start, 0.0, p_bounds=(0.0, 3.0))
    assert told in found.note
    assert found.complete


@pytest.mark.parametrize("kind", [Bar, Cable])
def test_a_natural_length_may_vanish_as_p_grows(kind):
    """EA with length 1 − p is held at p = 0; a stiffness goes on beyond p = 1, and the note says what that means."""
    for stiff, last in (({"modulus_area": 4.0}, 0.5), ({"stiffness": 4.0}, 1.5)):
        system = onesided.compose(
            Node("a", (0.0, 0.0), fixed=True),
            Node("b", (1.0, 0.0), fixed="y"),
            Node("c", (2.0, 0.0), fixed=True),
            kind("u", ("a", "b"), length="1-p", **stiff),
            Bar("k", ("b", "c"), stiffness=5.0),
        )
        path = onesided.trace(system, p_bounds=(0.0, last))
        assert ("negative" in path.note) == (last > 1.0)
