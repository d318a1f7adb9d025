"""Line loads on beams against linear theory: w L²/8, w L²/12, deflections and sections exact for any division."""

import math
from dataclasses import replace

import numpy as np
import pytest

import onesided
from onesided.elements import Beam, Body, LineLoad, Node, SpatialBeam, divided

SMALL = 1e-6  # of the load, so that what is beyond linear theory is below 1e-10
L, EI, W = 2.0, 3.0, 1.5
SUPPORTS = {"cantilever": {0: True}, "simple": {0: ("x", "y"), -1: ("x", "y")}, "clamped": {0: True, -1: True}}


def moment(kind: str, x: float) -> float:
    """M at x under a load W downwards, positive where the lower side is pulled."""
    at_end = {"cantilever": -(L**2) / 2, "simple": 0.0, "clamped": -(L**2) / 12}[kind]
    shear = {"cantilever": L, "simple": L / 2, "clamped": L / 2}[kind]
    return SMALL * W * (at_end + shear * x - x**2 / 2)


def beam(kind: str, GA: float | None, angle: float = 0.0):
    """A beam of two unequal elements under a load across it, `angle` to the horizontal."""
    along, across = np.array([math.cos(angle), math.sin(angle)]), np.array([-math.sin(angle), math.cos(angle)])
    parts = divided(Beam("b", EA=1e5, EI=EI, GA=GA), np.outer([0.0, 0.7, L], along), fixed=SUPPORTS[kind])
    load = LineLoad("snow", along=("b_0", "b_1", "b_2"), load=tuple(-W * across))
    return onesided.compose(*parts, load)


@pytest.fixture(scope="module", params=[("cantilever", None), ("simple", 40.0), ("clamped", 40.0)], ids=str)
def bent(request):
    kind, GA = request.param
    system = beam(kind, GA, angle=0.4)
    return kind, GA, onesided.solve(system, start=system.start, p=SMALL).value


def test_moments_and_shear_at_sections_are_those_of_linear_theory(bent):
    """Also between the nodes: a parabola, its slope the shear force; M' = −Q in the signs used here."""
    kind, _, state = bent
    for name, first, length in (("b_1_beam", 0.0, 0.7), ("b_2_beam", 0.7, L - 0.7)):
        shares = np.array([0.0, 0.3, 0.5, 1.0])
        found, x = state.members.section(name, shares), first + shares * length
        angles = 4 * np.spacing(0.4) * EI / length  # what rounding of the turned nodes makes of a moment
        scale = 1e-10 * SMALL * W * L**2 + angles
        np.testing.assert_allclose(found["M"][0], [moment(kind, one) for one in x], atol=scale)
        slope = [(moment(kind, one + 0.5) - moment(kind, one - 0.5)) for one in x]
        np.testing.assert_allclose(-found["Q"][0], slope, atol=1e-10 * SMALL * W * L)


def test_deflections_and_reactions(bent):
    kind, GA, state = bent
    q = dict(zip(state.coordinates, state.q, strict=True))
    down = np.array([math.sin(0.4), -math.cos(0.4)])
    if kind == "cantilever":
        moved = np.array([q["b_2_x"], q["b_2_y"]]) - L * np.array([math.cos(0.4), math.sin(0.4)])
        assert moved @ down == pytest.approx(SMALL * W * L**4 / (8 * EI), rel=1e-9)
        assert state.members["b_0.reaction_angle"][0] == pytest.approx(SMALL * W * L**2 / 2, rel=1e-10)
        return
    a, b = 0.7, L - 0.7
    bending = W * a * b * (L**2 + a * b) / (24 * EI) if kind == "simple" else W * (a * b) ** 2 / (24 * EI)
    moved = np.array([q["b_1_x"], q["b_1_y"]]) - a * np.array([math.cos(0.4), math.sin(0.4)])
    assert moved @ down == pytest.approx(SMALL * (bending + W * a * b / (2 * GA)), rel=1e-9)
    total = sum(state.members[f"{end}.reaction_{axis}"][0] * -down[i] for end in ("b_0", "b_2") for i, axis in
                enumerate("xy"))  # fmt: skip
    assert total == pytest.approx(SMALL * W * L, rel=1e-10)


@pytest.mark.slow
def test_large_deflections_converge_quickly_and_balance():
    """A cantilever under its own weight that hangs down: the error falls with the fourth power of the length."""
    tips = {}
    for count in (4, 8, 16):
        names = [f"b_{i}" for i in range(count + 1)]
        parts = divided(Beam("b", EA=1e6, EI=1.0), np.linspace((0, 0), (1, 0), count + 1), fixed={0: True})
        system = onesided.compose(*parts, LineLoad("own", along=names, load=(0.0, -1.0)))
        path = onesided.trace(system, p_bounds=(0.0, 8.0))
        tips[count] = path.q[-1][-3:-1]
        assert path.members["b_0.reaction_y"][-1] == pytest.approx(8.0, rel=1e-9)
    errors = [np.linalg.norm(tips[n] - tips[2 * n]) for n in (4, 8)]
    assert errors[1] < errors[0] / 8


@pytest.mark.slow
def test_beam_in_space_and_the_other_order_of_ends():
    """A clamped beam along y, bent as linear theory says by loads in x and z, one of them constant: M = w L²/24."""
    one = SpatialBeam("s", ("a", "b"), EA=1e5, GJ=1.0, EI=EI)
    system = onesided.compose(
        Body("a", (0.0, 0.0, 0.0), fixed=True), Body("b", (0.0, L / 2, 0.0)), Body("c", (0.0, L, 0.0), fixed=True),
        one, replace(one, name="t", ends=("b", "c")), LineLoad("wind", ("b", "a"), (1.0, 0.0, 0.0)),
        LineLoad("own", along=("a", "b", "c"), load=(0.0, 0.0, -W * SMALL), constant=True),
        LineLoad("more", ("c", "b"), (1.0, 0.0, 0.0)),
    )  # fmt: skip
    sag = SMALL * L**4 / (384 * EI)
    found = system.members(np.array([[sag, L / 2, -W * sag, 0.0, 0.0, 0.0]]), np.array([SMALL]), np.zeros((1, 0)))
    clamp, middle = np.moveaxis([found.section("s", np.array([0.0, 1.0]))[name][0] for name in ("M2", "M3")], 1, 0)
    assert sorted(np.abs(middle)) == pytest.approx(SMALL * L**2 / 24 * np.array([1.0, W]), rel=1e-9)
    assert sorted(np.abs(clamp)) == pytest.approx(SMALL * L**2 / 12 * np.array([1.0, W]), rel=1e-9)
    assert found["a.reaction_z"][0] == pytest.approx(SMALL * W * L / 2, rel=1e-9)


def test_where_no_beam_lies_half_of_the_load_is_at_either_end():
    system = onesided.compose(
        Node("a", (0.0, 0.0), fixed=True), Body("b", (1.0, 0.0)), Body("c", (1.0, 1.0), fixed=True),
        Beam("post", ("b", "c"), EA=1e4, EI=1.0), LineLoad("own", ("a", "b"), (0.0, -SMALL)),
    )  # fmt: skip
    found = onesided.solve(system, start=system.start, p=1.0).value.members
    assert found["c.reaction_y"][0] == pytest.approx(SMALL / 2, rel=1e-9)
    assert found["post.M_1"][0] == pytest.approx(0.0, abs=1e-9 * SMALL)
