"""Loads and stiffnesses that are formulas of the control parameter, against closed forms and against plain numbers."""

import numpy as np
import pytest

import onesided
from onesided.base.errors import ModelError
from onesided.elements import (
    Bar,
    Beam,
    Body,
    Cable,
    FollowerForce,
    FollowerMoment,
    Force,
    Gravity,
    LineLoad,
    Node,
    SpatialBeam,
    Spring,
    TorsionSpring,
    divided,
)


def at(system, p):
    return onesided.solve(system, start=system.start, p=p).value


@pytest.mark.parametrize(
    ("kind", "given"),
    [(Bar, {"stiffness": "k*(1 + T)**2"}), (Spring, {"modulus_area": "2*k*(1 + T)**2"}),
     (Cable, {"modulus_area": "2*k*(1 + T)**2"})],
)  # fmt: skip
def test_a_member_that_stiffens_under_a_dead_load(kind, given):
    """e = F/k(T), machine force ∂U/∂T = k'(T) e²/2 at fixed places; the energy −F²/(2k) falls by its integral."""
    system = onesided.compose(
        Node("a", (0.0, 0.0), fixed=True), Node("b", (2.0, 0.0), fixed="y"), kind("m", ("a", "b"), **given),
        Force("F", "b", ("F", 0.0), constant=True), parameters={"k": 3.0, "F": 0.6}, control="T",
    )  # fmt: skip
    path = onesided.trace(system, p0=0.0, p_bounds=(0.0, 2.0))
    k = 3.0 * (1.0 + path.p) ** 2
    np.testing.assert_allclose(path["b_x"] - 2.0, 0.6 / k, rtol=1e-10)
    np.testing.assert_allclose(path["m.tension" if kind is Cable else "m.force"], 0.6, rtol=1e-10)
    np.testing.assert_allclose(path.members["a.reaction_x"], -0.6, rtol=1e-10)
    np.testing.assert_allclose(path.members["machine_force"], 6.0 * (1.0 + path.p) * (0.6 / k) ** 2 / 2.0, rtol=1e-10)
    np.testing.assert_allclose(path.energy - path.energy[0], 0.18 / 3.0 - 0.18 / k, rtol=1e-9, atol=1e-12)


def test_a_hinge_that_softens():
    """c(p) a = M, and the moment is read off."""
    system = onesided.compose(
        Body("arm", (0.0, 0.0), fixed="xy"), TorsionSpring("hinge", ("arm",), stiffness="c/(1 + p)"),
        onesided.elements.Moment("M", "arm", 0.3, constant=True),
        parameters={"c": 2.0},
    )  # fmt: skip
    for p in (0.0, 0.7, 3.0):
        state = at(system, p)
        assert state["arm_angle"] == pytest.approx(0.3 * (1.0 + p) / 2.0, rel=1e-12)
        assert state.members["hinge.moment"][0] == pytest.approx(0.3, rel=1e-12)


def cantilever(beam, dimension, *more):
    ends = np.linspace(np.zeros(dimension), np.eye(dimension)[0], 4)
    return onesided.compose(*divided(beam, ends, fixed={0: True}), *more)


PLANE = {"EA": ("1e3*(1 + p)", 1700.0), "EI": ("2 - p", 1.3), "GA": ("500/(1 + p**2)", 500.0 / 1.49)}
SPACE = {"EA": ("1e3*(1 + p)", 1700.0), "GJ": ("1 + p", 1.7), "EI": (("2 - p", "1 + p"), (1.3, 1.7)),
         "GA": (("500 - 100*p", 400), (430.0, 400.0))}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "given", "dimension"), [(Beam, PLANE, 2), pytest.param(SpatialBeam, SPACE, 3, marks=pytest.mark.slow)]
)
def test_beams_with_formulas_are_those_with_numbers(kind, given, dimension):
    """At p = 0.7: places, section forces and reactions, with a line load that is a formula on it."""
    force = (0.1, 0.4, 0.2)[:dimension]
    loads = [("-0.3*p**2", "p - 1", 0.05)[:dimension], (-0.3 * 0.49, -0.3, 0.05)[:dimension]]
    found = []
    for i in (0, 1):
        along = tuple(f"b_{k}" for k in range(4))
        more = Force("F", "b_3", force, constant=True), LineLoad("w", load=loads[i], along=along, constant=True)
        found.append(at(cantilever(kind("b", **{key: pair[i] for key, pair in given.items()}), dimension, *more), 0.7))
    np.testing.assert_allclose(found[0].q, found[1].q, rtol=1e-11, atol=1e-12)
    for name in found[1].members:
        if name != "machine_force":
            a, b = (state.members[name] for state in found)
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10, err_msg=name)
    inside = [state.members.section("b_2_beam", 0.3) for state in found]
    for name in kind.section_names:
        np.testing.assert_allclose(inside[0][name], inside[1][name], rtol=1e-9, atol=1e-10, err_msg=name)


def test_a_line_load_that_is_a_formula_is_carried():
    """Simply supported, stiff: reactions w L/2 and the moment w L²/8 in the middle; w = 0.2 sin p."""
    parts = divided(Beam("b", EA=1e9, EI=1e6), np.linspace((0, 0), (2, 0), 3), fixed={0: "xy", -1: "y"})
    load = LineLoad("w", load=(0.0, "-w*sin(p)"), along=("b_0", "b_1", "b_2"), constant=True)
    system = onesided.compose(*parts, load, parameters={"w": 0.2})
    for p in (0.4, 1.1):
        state = at(system, p)
        w = 0.2 * np.sin(p)
        assert state.members["b_1_beam.M_2"][0] == pytest.approx(w * 4.0 / 8.0, rel=1e-9)
        assert state.members["w 1.force_y"][0] + state.members["w 2.force_y"][0] == pytest.approx(-2.0 * w, rel=1e-12)


TILTED = """
[control]
range = [0.0, 1.0]
[parameters]
g = 9.81
[node]
a = {at = [0, 0], fixed = true}
b = {at = [0.1, -1.0], mass = 2.0}
[bar.rod]
ends = ["a", "b"]
modulus_area = "300*(1 + p)"
length = 1.0
[gravity.field]
acceleration = ["g*sin(p)", "-g*cos(p)"]
"""


def test_a_pendulum_on_a_table_that_is_tilted():
    """It hangs along the field: b = (1 + m g/EA) (sin p, −cos p), in a file."""
    system = onesided.loads(TILTED).system
    for p in (0.3, 1.0):
        state = at(system, p)
        length = 1.0 + 2.0 * 9.81 / (300.0 * (1.0 + p))
        np.testing.assert_allclose(state.q, [length * np.sin(p), -length * np.cos(p)], rtol=1e-10)
        assert state.members["rod.force"][0] == pytest.approx(2.0 * 9.81, rel=1e-10)


@pytest.mark.slow
def test_followers_that_are_formulas_move_bodies():
    """x = F(p) t²/(2 m) along the body, angle = M(p) t²/(2 I) about it."""
    system = onesided.compose(
        Body("b", (0.0, 0.0, 0.0), mass=2.0, inertia=(1.0, 1.0, 4.0)),
        FollowerForce("F", "b", ("f*p**2", 0.0, 0.0), constant=True), parameters={"f": 0.5},
    )  # fmt: skip
    motion = onesided.simulate(system, t_span=(0.0, 1.0), control=3.0)
    assert motion["b_x"][-1] == pytest.approx(0.5 * 9.0 / 4.0, rel=1e-6)
    system = onesided.compose(
        Body("b", (0.0, 0.0, 0.0), mass=2.0, inertia=(1.0, 1.0, 4.0)),
        FollowerMoment("M", "b", (0.0, 0.0, "0.1*p"), constant=True),
    )
    motion = onesided.simulate(system, t_span=(0.0, 1.0), control=3.0)
    assert motion["b_rz"][-1] == pytest.approx(0.3 / 8.0, rel=1e-6)


A, B = Node("a", (0.0, 0.0), fixed=True), Node("b", (1.0, 0.0), mass=1.0)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([LineLoad("x", ("a", "b"), ("p", 0.0))], "would grow with it as well"),
        ([Gravity("x", ("p", 0.0), constant=False)], "would grow with it as well"),
        ([Bar("x", ("a", "b"), stiffness="1 + p", pretension=0.1)], "no meaning where `stiffness` changes"),
        ([Cable("x", ("a", "b"), modulus_area="1 + p", pretension=0.1)], "no meaning where `modulus_area` changes"),
        ([Bar("x", ("a", "b"), polynomial=(1.0, "p"))], "cannot follow the control parameter"),
        ([onesided.elements.SaggingCable("x", ("a", "b"), 1.0, "p", 1.0)], "cannot follow the control parameter"),
        ([onesided.elements.Damper("x", ("a", "b"), "p")], "cannot follow the control parameter"),
        ([onesided.elements.PlaneContact("x", "b", normal=(0.0, "p"))], "cannot follow the control parameter"),
    ],
)
def test_what_cannot_follow_p_says_so_by_name(parts, words):
    with pytest.raises(ModelError, match=rf"'x.*'.*{words}"):
        onesided.compose(A, B, *parts)
