"""Torsion springs against hand-written energies, and the buckling of a rigid column on one."""

import numpy as np
import pytest
from agreement import agree
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import onesided
from onesided import System
from onesided.base.errors import ModelError
from onesided.elements import Body, Force, Marker, Node, TorsionSpring

angles = st.floats(-20.0, 20.0)
numbers = st.floats(0.1, 10.0)


def _planar():
    parts = [
        Body("a", (0.0, 0.0), angle=0.3, fixed="xy"),
        Body("b", (1.0, 0.0), angle=-0.2, fixed="xy"),
        Marker("m", "b", (0.1, 0.2), angle=0.5),
        TorsionSpring("s", ("a", "m"), stiffness="k", pretension="t"),
        TorsionSpring("g", ("a",), stiffness="2*k", angle="natural"),
        TorsionSpring("l", ("b",), law="c*a**4 + k*a**2"),
    ]
    return onesided.compose(parts, parameters={"k": 1.0, "t": 0.0, "natural": 0.0, "c": 1.0})


def _planar_energy(q, p, th):
    natural = (-0.2 + 0.5 - 0.3) - th["t"] / th["k"]
    bent = (q[1] + 0.5) - q[0] - natural
    free = q[1] + 0.2
    return th["k"] * (bent**2 / 2 + (q[0] - th["natural"]) ** 2) + th["c"] * free**4 + th["k"] * free**2


PLANAR = _planar()
WRITTEN = System(("a", "b"), _planar_energy, parameters=dict(PLANAR.parameters))


@given(angles, angles, numbers, st.floats(-3, 3), st.floats(-9, 9), numbers)
@settings(max_examples=30)
def test_in_the_plane_the_energy_is_that_of_the_unwrapped_angle(a, b, k, t, natural, c):
    values = {"k": k, "t": t, "natural": natural, "c": c}
    agree(PLANAR.replace(parameters=values), WRITTEN.replace(parameters=values), [a, b], 0.0)


def test_the_pretension_is_the_moment_at_the_start():
    system = PLANAR.replace(parameters={"t": 0.7, "c": 0.0, "natural": 0.3})
    e = system.evaluate(system.start, 0.0, np.zeros(0))
    assert e.L_q == pytest.approx([-0.7, 0.7], abs=1e-14)


AXIS = np.array([0.3, -0.5, 0.8])
UNIT = AXIS / np.linalg.norm(AXIS)
START = np.array([0.4, 0.2, -0.6])


def _spatial(ends):
    return onesided.compose(
        Body("a", (0.0, 0.0, 0.0), fixed="xyz"),
        Body("b", (0.0, 0.0, 0.0), turned=tuple(START), fixed="xyz"),
        TorsionSpring("s", ends, stiffness=2.5, axis=tuple(AXIS)),
        TorsionSpring("hold_a", ("a",), stiffness=1.0),
        TorsionSpring("hold_b", ("b",), stiffness=1.0),
    )


BETWEEN = _spatial(("a", "b"))


@given(st.floats(-3.1, 3.1), st.tuples(*3 * [st.floats(-1.5, 1.5)]))
@settings(max_examples=30)
def test_in_space_a_turn_about_the_axis_costs_its_energy_in_any_attitude(angle, tilt):
    first = Rotation.from_rotvec(tilt)
    second = first * Rotation.from_rotvec(angle * UNIT)  # R₁ᵀR₂R_startᵀ is the turn about the axis
    q = np.concatenate([first.as_rotvec(), second.as_rotvec()])
    hold = [_twist(first, np.array([0.0, 0.0, 1.0])), _twist(second, np.array([0.0, 0.0, 1.0]))]
    energy = BETWEEN.residual(q, 0.0, np.zeros(0))[0] - 0.5 * sum(h**2 for h in hold)
    assert energy == pytest.approx(2.5 / 2 * angle**2, abs=1e-9)


def _twist(rotation, axis):
    x, y, z, w = rotation.as_quat()
    half = np.arctan2(np.array([x, y, z]) @ axis, w)
    return 2 * (half - np.pi * round(half / np.pi))


@given(st.tuples(*3 * [st.floats(-1.2, 1.2)]), st.tuples(*3 * [st.floats(-1.2, 1.2)]))
@settings(max_examples=30)
def test_where_the_bodies_tilt_the_angle_is_the_twist_part(a, b):
    relative = Rotation.from_rotvec(a).inv() * Rotation.from_rotvec(b)
    turns = [_twist(relative, UNIT), *(_twist(Rotation.from_rotvec(r), np.array([0, 0, 1.0])) for r in (a, b))]
    expected = 0.5 * (2.5 * turns[0] ** 2 + turns[1] ** 2 + turns[2] ** 2)
    assert BETWEEN.residual(np.array([*a, *b]), 0.0, np.zeros(0))[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_a_rigid_column_on_a_torsion_spring_buckles_at_k_over_l_and_goes_on_along_the_secant():
    k, length = 3.0, 2.0
    system = onesided.compose(
        Body("rod", (0.0, 0.0), fixed="xy"),
        Marker("top", "rod", (0.0, length)),
        TorsionSpring("foot", ("rod",), stiffness=k),
        Force("load", "top", (0.0, -1.0)),
    )
    diagram = onesided.diagram(system, system.start, 0.0, p_bounds=(0.0, 2.5))
    assert diagram.events[0].p == pytest.approx(k / length, rel=1e-9)
    bent = max(diagram.paths, key=lambda path: np.max(path.q[:, 0]))
    a = bent.q[np.abs(bent.q[:, 0]) > 0.1, 0]
    assert bent.p[np.abs(bent.q[:, 0]) > 0.1] == pytest.approx(k / length * a / np.sin(a), rel=1e-8)


def test_what_cannot_work_is_refused():
    rod = Body("rod", (0.0, 0.0), fixed="xy")
    solid = Body("solid", (0.0, 0.0, 0.0), fixed="xyz")

    def refused(match, *parts):
        with pytest.raises(ModelError, match=match):
            onesided.compose(*parts)

    refused("one end or two", rod, TorsionSpring("s", (), stiffness=1.0))
    refused("torsion_spring 's': its stiffness is not clear", rod, TorsionSpring("s", ("rod",)))
    refused("not clear", rod, TorsionSpring("s", ("rod",), stiffness=1.0, law="a**2"))
    refused("not positive", rod, TorsionSpring("s", ("rod",), stiffness=-1.0))
    refused("pretension", rod, TorsionSpring("s", ("rod",), law="a**2", pretension=1.0))
    refused("no direction", solid, TorsionSpring("s", ("solid",), stiffness=1.0, axis=(0.0, 0.0, 0.0)))
    refused("no orientation", Node("n", (0.0, 0.0)), TorsionSpring("s", ("n",), stiffness=1.0))
    refused("unknown parameter|unknown", rod, TorsionSpring("s", ("rod",), law="kk*a**2"))
