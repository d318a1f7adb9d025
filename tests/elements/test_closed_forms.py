"""Joints, contacts, stops and loads against statics on paper: reactions, moments, and where events happen."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import onesided
import onesided.elements as parts
from onesided.elements import Body, Marker, Node
from onesided.results import Kind


def at_rest(*structure, p=0.0, **more):
    """The equilibrium, with multipliers by name."""
    system = onesided.compose(*structure, **more)
    found = onesided.solve(system, start=system.start, p=p).value
    return found, dict(zip(system.constraint_names, (*found.mu, *found.lam), strict=True))


@pytest.mark.slow
def test_a_weld_carries_the_force_and_its_moment_in_the_first_place_axes():
    turned = np.array([0.4, -0.3, 0.9])
    force, arm = np.array([1.0, -2.0, 3.0]), np.array([0.5, 0.2, -0.1])
    axes = Rotation.from_rotvec(turned).as_matrix()
    _, held = at_rest(
        Body("g", (0, 0, 0), turned=turned, fixed=True),
        Body("b", (1.0, 0, 0)),
        Marker("tip", "b", arm),
        parts.Fixed("weld", ("g", "b")),
        parts.Force("load", "tip", force, constant=True),
    )
    assert [held[f"weld_{c}"] for c in "xyz"] == pytest.approx(-force)
    assert [held[f"weld_m{c}"] for c in "xyz"] == pytest.approx(axes.T @ -np.cross(arm, force))


@pytest.mark.slow
def test_a_screw_turns_thrust_into_moment():
    """Work of the drive over one turn is thrust × pitch."""
    _, held = at_rest(
        Body("g", (0, 0, 0), fixed=True),
        Body("b", (0, 0, 1.0)),
        parts.Screw("thread", ("g", "b"), pitch=0.05),
        parts.DrivenAngle("motor", ("g", "b"), value="p"),
        parts.Force("load", "b", (0, 0, -100.0), constant=True),
        p=2.0,
    )
    assert held["motor"] == pytest.approx(100.0 * 0.05 / (2 * np.pi))
    assert held["thread_turn"] == pytest.approx(-held["motor"])


@pytest.mark.slow
def test_a_driven_screw_travels_pitch_times_turns():
    system = onesided.compose(
        Body("g", (0, 0, 0), fixed=True),
        Body("b", (0, 0, 1.0)),
        parts.Screw("thread", ("g", "b"), pitch=0.05),
        parts.DrivenAngle("motor", ("g", "b"), value="p"),
    )
    path = onesided.trace(system, system.start, 0.0, p_bounds=(0.0, 2.5))
    travel = path.q[:, system.coordinates.index("b_z")] - 1.0
    assert path.ok
    assert np.allclose(travel, 0.05 * path.p / (2 * np.pi), atol=1e-9)


def test_gears_and_rack_transmit_moments_by_their_radii():
    _, held = at_rest(
        Body("g", (0, 0), fixed=True),
        Body("small", (1, 0)),
        Body("large", (4, 0)),
        Body("rod", (4, 2)),
        parts.Revolute("pin1", ("g", "small"), at=(1, 0)),
        parts.Revolute("pin2", ("g", "large"), at=(4, 0)),
        parts.Gear("mesh", ("small", "large"), ratio=2.0),
        parts.Prismatic("guide", ("g", "rod")),
        parts.DrivenTravel("hold", ("g", "rod"), value="0*p"),
        parts.Rack("teeth", ("rod", "large"), radius=2.0),
        parts.Moment("input", "small", 3.0, constant=True),
    )
    assert held["mesh"] == pytest.approx(-3.0)  # on the small gear
    assert held["teeth"] == pytest.approx(3.0)  # 2·3 on the large one, over a radius of 2
    assert held["hold"] == pytest.approx(3.0)


def test_a_slider_crank_balances_force_and_moment():
    """Virtual work: M dθ = F dx with x = r cos θ + √(l² − r² sin² θ)."""
    r, length, angle, force = 0.5, 1.3, 0.7, 4.0
    y, x = r * np.sin(angle), r * np.cos(angle)
    slide = x + np.sqrt(length**2 - y**2)
    _, held = at_rest(
        Body("g", (0, 0), fixed=True),
        Body("crank", (0, 0), angle=angle),
        Marker("pin", "crank", (r, 0)),
        Node("piston", (slide, 0)),
        parts.Revolute("bearing", ("g", "crank")),
        parts.Distance("rod", ("pin", "piston")),
        parts.OnLine("bore", ("g", "piston")),
        parts.DrivenAngle("motor", ("g", "crank"), value="0*p"),
        parts.Force("gas", "piston", (-force, 0), constant=True),
    )
    slope = -r * np.sin(angle) - r * r * np.sin(angle) * np.cos(angle) / np.sqrt(length**2 - y**2)
    assert held["motor"] == pytest.approx(force * slope)
    assert held["rod"] == pytest.approx(-force * length / (slide - x))  # thrust


def test_a_ball_in_a_groove_presses_on_both_walls():
    """Weight W between walls at 30° and 60° to the horizontal: W cos… by Lami's rule, W sin 60° and W sin 30°."""
    a, b = np.radians(30.0), np.radians(60.0)
    found, held = at_rest(
        Node("ball", (0.1, 1.0), mass=2.0),
        parts.Gravity("gravity", (0, -10.0)),
        parts.PlaneContact("left", "ball", (np.sin(b), np.cos(b)), radius=0.3),
        parts.PlaneContact("right", "ball", (-np.sin(a), np.cos(a)), radius=0.3),
    )
    assert held["left"] == pytest.approx(20.0 * np.sin(a))
    assert held["right"] == pytest.approx(20.0 * np.sin(b))
    assert np.hypot(*found.q) == pytest.approx(0.3 * np.sqrt(2.0))  # the walls meet at a right angle


def test_a_ball_in_a_shell_rests_below_its_centre():
    found, held = at_rest(
        Node("shell", (0, 0, 0), fixed=True),
        Node("ball", (0.0, 0.2, 0.1), mass=1.0),
        parts.Gravity("gravity", (0, 0, -9.0)),
        parts.InsideContact("bowl", ("shell", "ball"), (2.0, 0.5)),
    )
    assert np.allclose(found.q, [0, 0, -1.5], atol=1e-6)
    assert held["bowl"] == pytest.approx(9.0)


def box_on_table():
    width, height, weight = 0.6, 1.0, 12.0
    outline = [[-width / 2, -height / 2], [width / 2, -height / 2], [width / 2, height / 2], [-width / 2, height / 2]]
    return onesided.compose(
        Body("table", (0, -1.0), fixed=True, outline=[[-3, -1], [3, -1], [3, 1], [-3, 1]]),
        Body("box", (0, height / 2), mass=weight, outline=outline),
        Marker("toe", "box", (width / 2, -height / 2)),
        Marker("hand", "box", (0, height / 4)),
        parts.PolygonContact("stand", ("box", "table")),
        parts.PlaneContact("kerb", "toe", (-1.0, 0.0), through=(width / 2, 0)),
        parts.Gravity("gravity", (0, -1.0)),
        parts.Force("push", "hand", (1.0, 0.0)),
    )


def test_a_pushed_box_tips_when_the_push_moment_reaches_that_of_the_weight():
    """Tips about the toe at P · 0.75 = W · 0.3; before that the corners share the weight by the lever rule."""
    system = box_on_table()
    path = onesided.trace(system, system.start, 1.0, p_bounds=(1.0, 6.0))
    names = list(system.unilateral)
    left, right, kerb = (names.index(n) for n in ("stand_box_corner1", "stand_box_corner2", "kerb"))
    start = path.lam[0]
    assert start[left] + start[right] == pytest.approx(12.0)
    assert start[left] == pytest.approx((12.0 * 0.3 - 1.0 * 0.75) / 0.6)
    assert start[kerb] == pytest.approx(1.0)
    event = path.events[0]
    assert event.p == pytest.approx(12.0 * 0.3 / 0.75)
    assert "stand_box_corner1" in event.constraints
    assert event.kind in {Kind.corner_limit, Kind.end, Kind.opens}


def test_a_knee_stop_is_reached_and_left_in_words():
    """A hinged bar with a torsion spring under a dead force: stop at angle a when P cos a = k a."""
    system = onesided.compose(
        Node("o", (0, 0), fixed=True),
        Body("bar", (1, 0)),
        parts.Revolute("hinge", ("o", "bar"), at=(0, 0)),
        parts.Energy("torsion", "k/2*bar_angle**2"),
        parts.Force("lift", "bar", (0.0, 1.0)),
        parts.AngleStop("knee", "bar", upper=0.5),
        parameters={"k": 1.0},
    )
    path = onesided.trace(system, system.start, 0.0, p_bounds=(0.0, 2.0))
    reached = path.events[0]
    assert reached.p == pytest.approx(0.5 / np.cos(0.5))
    assert "stop 'knee' is reached" in reached.words()
    assert path.lam[-1] == pytest.approx([2.0 * np.cos(0.5) - 0.5])  # moment of the stop
    back = onesided.trace(system, path.q[-1], 2.0, p_bounds=(0.0, 2.0), direction=-1)
    assert "stop 'knee' is left" in back.events[0].words()
    assert back.events[0].p == pytest.approx(reached.p)


def test_a_floor_closes_in_words_and_carries_the_rest():
    system = onesided.compose(
        Node("m", (0, 2.0), fixed="x"),
        Node("top", (0, 3.0), fixed=True),
        parts.Spring("spring", ("m", "top"), stiffness=1.0),
        parts.Force("load", "m", (0, -1.0)),
        parts.PlaneContact("floor", "m", (0, 1.0)),
    )
    path = onesided.trace(system, system.start, 0.0, p_bounds=(0.0, 3.0))
    assert path.events[0].p == pytest.approx(2.0)
    assert "contact 'floor' closes" in path.events[0].words()
    assert path.lam[-1] == pytest.approx([1.0])


def test_a_pressed_square_has_equal_tension_in_its_sides():
    """Pressure p on a square of side L: every side pulls with p L / 2."""
    side, pressure = 2.0, 3.0
    nodes = [
        Node("a", (0, 0), fixed=True),
        Node("b", (side, 0), fixed="y"),
        Node("c", (side, side)),
        Node("d", (0, side)),
    ]
    sides = [parts.Distance(x + y, (x, y)) for x, y in ("ab", "bc", "cd", "da")]
    found, held = at_rest(nodes, sides, parts.Pressure("gas", ("a", "b", "c", "d"), pressure, constant=True))
    assert [held[name] for name in ("ab", "bc", "cd", "da")] == pytest.approx([pressure * side / 2] * 4)
    forces = [found.members[f"gas between b and c.force_{axis}"][0] for axis in "xy"]
    assert forces == pytest.approx([pressure * side, 0.0])


def test_a_pressed_box_pulls_at_its_bars():
    """Pressure inside a tetrahedron: the force on its free corner is a third of that on the three faces there."""
    x = {"o": (1.0, 2.0, 3.0), "a": (3.0, 2.0, 3.0), "b": (1.0, 5.0, 3.0), "t": (1.5, 2.5, 4.5)}
    nodes = [Node(name, at, fixed=name != "t") for name, at in x.items()]
    legs = [parts.Bar(f"leg_{name}", (name, "t"), stiffness=1e4) for name in "oab"]
    faces = [("o", "b", "a"), ("o", "a", "t"), ("a", "b", "t"), ("b", "o", "t")]
    found, _ = at_rest(nodes, legs, parts.SurfacePressure("gas", faces, 2.0), p=0.5)
    o, a, b = (np.array(x[name]) for name in "oab")
    t = found.q
    legs = [(found.members[f"leg_{name}.force"][0], t - np.array(x[name])) for name in "oab"]
    total = sum(force * leg / np.linalg.norm(leg) for force, leg in legs)
    np.testing.assert_allclose(total, -np.cross(b - o, a - o) / 6.0, atol=1e-9)
    on_face = [found.members[f"gas on a-b-t.force_{axis}"][0] for axis in "xyz"]
    np.testing.assert_allclose(on_face, np.cross(b - a, t - a) / 2.0, atol=1e-12)
    held = sum(found.members[f"{name}.reaction_{axis}"][0] for name in "oab" for axis in "xyz")
    assert held == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("faces", "why"),
    [
        ([("o", "b", "a"), ("o", "a", "t")], "not closed"),
        ([("o", "b", "a"), ("o", "a", "t"), ("b", "a", "t"), ("b", "o", "t")], "turn alike"),
        ([("o", "b")], "not usable"),
    ],
)
def test_an_open_surface_has_no_potential(faces, why):
    nodes = [Node(n, (float(i), i**2, i**3), fixed=n != "t") for i, n in enumerate("oabt")]
    with pytest.raises(onesided.ModelError, match=why):
        onesided.compose(*nodes, parts.SurfacePressure("gas", faces, 2.0))


def test_crossing_rods_stay_a_thickness_apart():
    """A movable rod above a fixed one, loaded at its middle: the two of its ends that touch share the load."""
    system = onesided.compose(
        Node("a", (-2, 0), fixed=True),
        Node("b", (2, 0), fixed=True),
        Body("rod", (0, 0.5), fixed="x"),
        Marker("left", "rod", (-1.0, 0)),
        Marker("right", "rod", (1.0, 0)),
        Marker("load", "rod", (0.5, 0)),
        parts.SegmentContact("touch", ("left", "right"), ("a", "b"), 0.1),
        parts.Force("weight", "load", (0, -4.0), constant=True),
    )
    found = onesided.solve(system, start=system.start, p=0.0).value
    assert found.q == pytest.approx([0.1, 0.0], abs=1e-8)
    assert found.lam[:2] == pytest.approx([1.0, 3.0])


def test_formulas_that_differ_in_names_only_are_evaluated_together():
    count = 30
    nodes = [Node(f"n{i}", (float(i), 0.0), fixed="x") for i in range(count)]
    gaps = [parts.Gap(f"g{i}", f"n{i}_y + c*p") for i in range(count)]
    springs = [parts.Energy(f"e{i}", f"c*n{i}_y**2/2") for i in range(count)]
    system = onesided.compose(nodes, gaps, springs, parameters={"c": 2.0})
    assert len(system.structure.batches) == 2
    e = system.evaluate(np.arange(count) * 1.0, 0.5, np.zeros(count))
    assert np.allclose(e.c, np.arange(count) + 1.0)
    assert np.allclose(e.L_q, 2.0 * np.arange(count))
