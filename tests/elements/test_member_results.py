"""Member results against hand calculation: forces, moments, reactions, machine forces, along paths and in motion."""

import math
import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import onesided
from onesided.base.errors import UsageError
from onesided.elements import (
    Bar,
    Beam,
    Body,
    Cable,
    Distance,
    Fixed,
    Force,
    Guided,
    Marker,
    Moment,
    Node,
    PlaneContact,
    Prescribed,
    Revolute,
    SpatialBeam,
    TorsionSpring,
    divided,
)


@pytest.fixture(scope="module")
def frame():
    """A bar and a cable hold a node against a force; a third bar is pushed aside by a support that p moves."""
    return onesided.compose(
        Node("a", (0.0, 0.0), fixed=True),
        Node("b", (2.0, 0.0), fixed=True),
        Node("top", (1.0, 1.0)),
        Bar("left", ("a", "top"), modulus_area=1e6),
        Cable("right", ("b", "top"), stiffness=1e6),
        Force("load", "top", (1.0, 0.0)),
    )


@pytest.fixture(scope="module")
def loaded(frame):
    """The frame under a force of 10 to the left: right cable taut, left bar pushed."""
    return onesided.solve(frame, start=frame.start, p=-10.0).value


def test_bar_and_cable_in_a_triangle(loaded):
    """At the top: F = −10 = −√½ (left) + √½ (right) with left = −right: forces ∓10/√2, up to strains of 1e-5."""
    found = loaded.members
    assert found["left.force"][0] == pytest.approx(-10.0 / math.sqrt(2.0), rel=1e-4)
    assert found["right.tension"][0] == pytest.approx(10.0 / math.sqrt(2.0), rel=1e-4)
    assert found["right.slack"][0] == pytest.approx(0.0, abs=1e-14)
    assert found["left.strain"][0] == pytest.approx(found["left.force"][0] / 1e6, rel=1e-9)


def test_reactions_balance_the_load_and_its_moment(loaded):
    found, q = loaded.members, dict(zip(loaded.coordinates, loaded.q, strict=True))
    assert found["a.reaction_x"][0] + found["b.reaction_x"][0] == pytest.approx(10.0, rel=1e-10)
    assert found["a.reaction_y"][0] + found["b.reaction_y"][0] == pytest.approx(0.0, abs=1e-9)
    assert 2.0 * found["b.reaction_y"][0] == pytest.approx(-10.0 * q["top_y"], rel=1e-10)


def test_names_are_told_and_nothing_is_computed_before_it_is_read(frame):
    found = onesided.solve(frame, start=frame.start, p=-5.0).value.members
    assert not found.computed
    assert "left.force" in found
    assert "left.force" in found._ipython_key_completions_()
    assert "right.tension" in repr(found) or "left.force" in repr(found)
    assert not found.computed
    with pytest.raises(UsageError, match=r"left\.force"):
        found["left.forces"]
    assert set(found.matching("*.force")) == {"left.force"}
    assert found.computed


def test_members_travel_when_they_were_computed(frame, loaded, tmp_path):
    path = onesided.trace(frame, loaded.q, -10.0, p_bounds=(-10.0, -5.0))
    assert pickle.loads(pickle.dumps(path.members)).names == ()
    onesided.save(path, tmp_path / "empty")
    with pytest.raises(UsageError, match="not computed"):
        onesided.load_result(tmp_path / "empty").members["left.force"]
    again = onesided.members(frame, onesided.load_result(tmp_path / "empty"))
    np.testing.assert_array_equal(again["left.force"], path.members["left.force"])
    onesided.save(path, tmp_path / "full")
    kept = onesided.load_result(tmp_path / "full").members
    np.testing.assert_array_equal(kept["right.tension"], path.members["right.tension"])
    assert pickle.loads(pickle.dumps(path.members))["left.force"].shape == path.p.shape


def test_members_of_another_system_are_refused(frame, loaded):
    other = onesided.compose(
        Node("a", (0.0, 0.0), fixed=True), Node("b", (1.0, 0.0)), Bar("only", ("a", "b"), stiffness=1.0)
    )
    with pytest.raises(UsageError, match="another system"):
        onesided.members(other, loaded)


@pytest.fixture(scope="module")
def cantilever():
    """A cantilever of two elements with a small transverse force at its tip."""
    beam = divided(Beam("b", EA=1e4, EI=1.0), np.linspace((0, 0), (1, 0), 3), fixed={0: True})
    return onesided.compose(*beam, Force("tip", "b_2", (0.0, 1.0)), Moment("twist", "b_2", 0.5))


def test_cantilever_of_linear_theory(cantilever):
    """M = F (L − x) + M₀, Q = F, exactly so for small loads; at the clamp −F and −(F L + M₀)."""
    load = 1e-6
    found = onesided.solve(cantilever, start=cantilever.start, p=load).value.members
    for share in (0.0, 0.25, 0.7, 1.0):
        for i, name in enumerate(("b_1_beam", "b_2_beam")):
            x = 0.5 * (i + share)
            section = found.section(name, share)
            assert section["M"][0] == pytest.approx(load * (1.0 - x + 0.5), rel=1e-10)
            assert section["Q"][0] == pytest.approx(load, rel=1e-10)
            assert abs(section["N"][0]) < 1e-5 * load
    assert found["b_0.reaction_y"][0] == pytest.approx(-load, rel=1e-10)
    assert found["b_0.reaction_angle"][0] == pytest.approx(-1.5 * load, rel=1e-10)
    assert found["b_1_beam.M_2"][0] == pytest.approx(found["b_2_beam.M_1"][0], rel=1e-10)


def test_sections_of_a_strongly_bent_cantilever_are_continuous_and_balance(cantilever):
    """Large deflection: force and moment of every section balance the load on the part beyond it."""
    state = onesided.solve(cantilever, start=cantilever.start, p=1.0).value
    found, q = state.members, dict(zip(state.coordinates, state.q, strict=True))
    end, begin = (found.section(name, share) for name, share in (("b_1_beam", 1.0), ("b_2_beam", 0.0)))
    for name in ("N", "Q", "M"):
        assert end[name][0] == pytest.approx(begin[name][0], rel=1e-9)
    assert end["M"][0] == pytest.approx(q["b_2_x"] - q["b_1_x"] + 0.5, rel=1e-9)
    angle = q["b_1_angle"]
    assert end["N"][0] == pytest.approx(math.sin(angle), rel=1e-9)
    assert end["Q"][0] == pytest.approx(math.cos(angle), rel=1e-9)
    many = found.section("b_2_beam", np.linspace(0.0, 1.0, 5))["M"]
    np.testing.assert_allclose(np.diff(many[0], 2), 0.0, atol=1e-9)
    with pytest.raises(UsageError, match="b_1_beam"):
        found.section("b_3_beam", 0.5)


def test_beam_in_space_agrees_with_linear_theory():
    """Tip forces Fy, Fz on one element, bent as linear theory says: Q, M = F (L − x) and the reactions of the clamp."""
    Fy, Fz, EI2, EI3 = 1e-6, 2e-6, 2.0, 3.0  # axis 2 is z, so that EI2 bends it in the plane of y
    clamped = Body("s_0", (0.0, 0.0, 0.0), fixed=True)
    beam = SpatialBeam("s", ("s_0", "s_1"), EA=1e4, GJ=1.0, EI=(EI2, EI3))
    system = onesided.compose(clamped, Body("s_1", (1.0, 0.0, 0.0)), beam, Force("tip", "s_1", (0.0, Fy, Fz)))
    q = np.array([1.0, Fy / (3 * EI2), Fz / (3 * EI3), 0.0, -Fz / (2 * EI3), Fy / (2 * EI2)])
    found = system.members(q[None], np.ones(1), np.zeros((1, 0)))
    section = {name: values[0] for name, values in found.section("s", 0.25).items()}
    assert (section["Q2"], section["Q3"]) == pytest.approx((Fz, -Fy), rel=1e-5)
    assert (section["M2"], section["M3"]) == pytest.approx((0.75 * Fy, 0.75 * Fz), rel=1e-5)
    assert abs(section["T"]) < 1e-5 * Fy
    assert (found["s_0.reaction_y"][0], found["s_0.reaction_z"][0]) == pytest.approx((-Fy, -Fz), rel=1e-5)
    assert (found["s_0.reaction_ry"][0], found["s_0.reaction_rz"][0]) == pytest.approx((Fz, -Fy), rel=1e-5)


def test_joint_torsion_spring_wall_and_guide():
    """A lever on a hinge with a torsion spring, its tip pushed down on a wall; a slider on a slope."""
    slope = math.radians(30.0)
    system = onesided.compose(
        Body("ground", (0.0, 0.0), fixed=True),
        Body("lever", (1.0, 0.0)),
        Marker("tip", "lever", (1.0, 0.0)),
        Revolute("hinge", ("ground", "lever"), at=(0.0, 0.0)),
        TorsionSpring("coil", ("ground", "lever"), stiffness=3.0, angle=0.2),
        PlaneContact("wall", "tip", normal=(0.0, 1.0)),
        Force("load", "lever", (0.0, -1.0)),
        Guided("slider", (5.0, 0.0), (math.cos(slope), math.sin(slope))),
        Node("stay", (6.0, 0.0), fixed=True),
        Bar("rope", ("stay", "slider"), stiffness=1e5),
        Force("weight", "slider", (0.0, -1.0)),
    )
    found = {k: v[0] for k, v in onesided.solve(system, start=system.start, p=4.0).value.members.items()}
    assert found["coil.moment"] == pytest.approx(-0.6, rel=1e-10)
    assert found["wall.force"] == pytest.approx((4.0 - 0.6) / 2.0, rel=1e-10)
    assert (found["wall.x"], found["wall.y"], found["wall.normal_y"]) == pytest.approx((2.0, 0.0, 1.0), abs=1e-12)
    assert found["hinge.force_y"] == pytest.approx(4.0 - 1.7, rel=1e-10)
    assert found["hinge.moment"] == pytest.approx(0.0, abs=1e-12)
    assert found["ground.reaction_y"] == pytest.approx(2.3, rel=1e-10)
    assert found["ground.reaction_angle"] == pytest.approx(0.6, rel=1e-10)
    total = np.array(
        [found["slider.guide_x"] + found["stay.reaction_x"], found["slider.guide_y"] + found["stay.reaction_y"]]
    )
    np.testing.assert_allclose(total, (0.0, 4.0), atol=1e-9)
    assert found["slider.guide_x"] * math.cos(slope) + found["slider.guide_y"] * math.sin(slope) == pytest.approx(
        0.0, abs=1e-9
    )


def work(system, low: float, high: float) -> tuple[float, float]:
    """∫ machine force dp by Gauss's rule, with an equilibrium at every node, and the change of energy."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    p = 0.5 * (high - low) * (nodes + 1.0) + low
    start, found = system.start, []
    for value in (low, *p, high):
        found.append(onesided.solve(system, start=start, p=float(value)).value)
        start = found[-1].q
    force = [state.members["machine_force"][0] for state in found[1:-1]]
    return 0.5 * (high - low) * float(weights @ force), found[-1].energy - found[0].energy


@pytest.mark.parametrize("how", ["moves", "prescribed", "distance"])
def test_work_of_the_machine_is_the_energy(how):
    """A von Mises truss pushed through by a support, by a prescribed coordinate, by an actuator: W = ΔU, F = dU/dp."""
    top = {
        "moves": [Node("top", (1.0, 0.5), fixed="x", moves={"y": -1.0})],
        "prescribed": [Node("top", (1.0, 0.5), fixed="x"), Prescribed("push", "top_y", "0.5 - p")],
        "distance": [
            Node("top", (1.0, 0.5), fixed="x"), Node("below", (1.0, -2.0), fixed=True),
            Distance("jack", ("below", "top"), length="2.5 - p"),
        ],
    }[how]  # fmt: skip
    system = onesided.compose(
        Node("a", (0.0, 0.0), fixed=True), Node("b", (2.0, 0.1), fixed=True), *top,
        Bar("left", ("a", "top"), stiffness=1.0), Bar("right", ("b", "top"), stiffness=2.0),
        *([Node("c", (0.5, 1.0)), Bar("loose", ("c", "top"), stiffness=1.0), Bar("tied", ("c", "a"), stiffness=1.0),
           Bar("third", ("c", "b"), stiffness=1.0)] if how == "moves" else []),
    )  # fmt: skip
    put_in, stored = work(system, 0.0, 0.4)
    assert put_in == pytest.approx(stored, rel=1e-10)
    state = onesided.solve(system, start=system.start, p=0.2).value
    found = {name: values[0] for name, values in state.members.items()}
    if how == "prescribed":
        assert found["machine_force"] == pytest.approx(-found["push.force"], rel=1e-12)
    if how == "distance":
        assert found["machine_force"] == pytest.approx(found["jack.force"], rel=1e-12)
    third = {"moves": "top.reaction_y", "prescribed": "push.force", "distance": "below.reaction_y"}[how]
    assert found["a.reaction_y"] + found["b.reaction_y"] + found[third] == pytest.approx(0.0, abs=1e-12)


def test_reactions_in_motion_hold_inertia():
    """A mass on a rod swings: tension m (g cos θ + l θ̇²), and the support carries it."""
    system = onesided.compose(
        Node("pin", (0.0, 0.0), fixed=True),
        Node("bob", (1.0, 0.0), mass=2.0),
        Distance("rod", ("pin", "bob")),
        Force("weight", "bob", (0.0, -19.62), constant=True),
    )
    motion = onesided.simulate(system, q0=[1.0, 0.0], v0=[0.0, 0.0], t_span=(0.0, 0.6))
    found = motion.members
    x, y = motion.q.T
    speed2 = 2.0 * 9.81 * (-y)
    np.testing.assert_allclose(found["rod.force"], 2.0 * (9.81 * -y + speed2), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found["pin.reaction_x"], -found["rod.force"] * x, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found["pin.reaction_y"], -found["rod.force"] * y, rtol=1e-9, atol=1e-9)


def test_a_body_that_p_turns_in_space_is_held_by_moments_about_fixed_axes():
    system = onesided.compose(
        Body("g", (0.0, 0.0, 0.0), moves={"rz": 1.0}, fixed=("x", "y", "z", "rx", "ry")),
        Body("b", (2.0, 1.0, 0.5)),
        Fixed("weld", ("g", "b")),
        Force("f", "b", (0.5, -4.0, 1.0), constant=True),
    )
    found = onesided.solve(system, start=system.start, p=1.2).value
    moment = -np.cross(found.q[:3], (0.5, -4.0, 1.0))
    read = [found.members[f"g.reaction_r{axis}"][0] for axis in "xyz"]
    np.testing.assert_allclose(read, moment, atol=1e-10)
    np.testing.assert_allclose(found.members["machine_force"], moment[2], atol=1e-10)


def test_a_body_in_space_held_against_some_turns_is_held_by_moments_about_fixed_axes():
    """The held turn has no power M + r × F, free ones none of M alone: the power of a moment is M·ω."""
    arm, force, turn = np.array([1.0, 0.5, -0.3]), np.array([0.5, -4.0, 1.0]), np.array([0.0, 0.4, 0.7])
    system = onesided.compose(
        Body("b", (0.0, 0.0, 0.0), fixed=("x", "y", "z", "rx")),
        Marker("tip", "b", arm),
        Force("f", "tip", force),
    )
    found = system.members(turn[None, 1:], np.ones(1), np.zeros((1, 0)))
    moment = np.array([found[f"b.reaction_r{axis}"][0] for axis in "xyz"])
    load = np.cross(Rotation.from_rotvec(turn).apply(arm), force)
    for i, step in enumerate(1e-6 * np.eye(3)):
        spin = (Rotation.from_rotvec(turn + step) * Rotation.from_rotvec(turn - step).inv()).as_rotvec() / 2e-6
        assert (moment + (load if i == 0 else 0.0)) @ spin == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize(
    ("formula", "told"),
    [
        ("rod.forc", "no member result is called `rod.forc`.*`rod.force`"),
        ("rod.force + zz", r"a\.reaction_x.*\n.*rod\.force"),
    ],
)
def test_measures_are_refused_in_the_words_of_the_user(formula, told):
    parts = [Node("a", (0.0, 0.0), fixed=True), Node("b", (1.0, 0.0), fixed="y"), Bar("rod", ("a", "b"), stiffness=1.0)]
    with pytest.raises(onesided.ModelError, match=told):
        onesided.compose(*parts, measures={"x": formula})
