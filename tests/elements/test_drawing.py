"""Structures of parts draw themselves: points are where the parts are."""

import numpy as np
import pytest

import onesided
from onesided import zoo
from onesided.elements import Body, Cable, Force, Guided, Marker, Node, PlaneContact, Revolute, RoundContact, Spring
from onesided.plots.configuration import film_of, highlights, slack
from onesided.results import columns


def placed(system, q, p):
    """Positions of all points of the drawing at one configuration."""
    q, p = np.atleast_2d(np.asarray(q, dtype=float)), np.atleast_1d(np.asarray(p, dtype=float))
    values = {name: q[:, i] for i, name in enumerate(system.coordinates)}
    return system.sketch.positions({system.control: p, **values, **system.measured(q, p)})


def test_nodes_guides_and_moving_supports_are_where_they_should_be():
    system = onesided.compose(
        Node("a", ("r", 0.0), fixed=True),
        Node("b", (2.0, 0.0), fixed="y", moves={"x": 0.5}),
        Guided("g", (1.5, 1.0), along=(3.0, 4.0)),
        Node("u", (0.6, 1.1)),
        Spring("s", ("a", "u"), stiffness=1.0),
        Spring("t", ("b", "g"), stiffness=1.0),
        Spring("w", ("u", "g"), stiffness=1.0),
        parameters={"r": -1.0},
    )
    where = placed(system, [5.0, 0.1, 0.2], 3.0)
    assert system.coordinates == ("g_s", "u_x", "u_y")
    assert where["a"].tolist() == [[-1.0, 0.0]]
    assert where["b"].tolist() == [[3.5, 0.0]]
    np.testing.assert_allclose(where["g"], [[1.5 + 3.0, 1.0 + 4.0]])
    assert where["u"].tolist() == [[0.1, 0.2]]
    assert placed(system.replace(parameters={"r": 4.0}), [0, 0, 0], 0.0)["a"].tolist() == [[4.0, 0.0]]
    assert {line.points for line in system.sketch.lines} == {("a", "u"), ("b", "g"), ("u", "g")}


def test_markers_turn_with_their_body():
    system = onesided.compose(
        Node("pin", (0.0, 0.0), fixed=True),
        Body("link", (1.0, 0.0), outline=((-1.0, -0.1), (1.0, -0.1), (1.0, 0.1), (-1.0, 0.1))),
        Marker("tip", "link", (1.0, 0.0)),
        Marker("root", "link", (-1.0, 0.0)),
        Node("far", (2.0, 3.0), fixed=True),
        Revolute("joint", ("root", "pin")),
        Spring("s", ("tip", "far"), stiffness=1.0),
    )
    q = dict(zip(system.coordinates, [0.5, 0.25, 0.7], strict=True))
    where = placed(system, [q[name] for name in system.coordinates], 0.0)
    x, y, angle = q["link_x"], q["link_y"], q["link_angle"]
    np.testing.assert_allclose(where["tip"], [[x + np.cos(angle), y + np.sin(angle)]])
    np.testing.assert_allclose(where["root"], [[x - np.cos(angle), y - np.sin(angle)]])
    (body,) = system.sketch.bodies
    assert (body.at, body.angle, len(body.outline)) == ("link", "link_angle", 4)


def test_markers_in_space_keep_their_distance():
    system = onesided.compose(
        Body("b", (0.0, 0.0, 0.0)),
        Marker("m", "b", (1.0, 2.0, 2.0)),
        Node("f", (5.0, 0.0, 0.0), fixed=True),
        Spring("s", ("m", "f"), stiffness=1.0),
    )
    where = placed(system, [0.1, 0.2, 0.3, 0.4, -0.5, 0.6], 0.0)
    assert np.linalg.norm(where["m"] - where["b"]) == pytest.approx(3.0)
    assert system.sketch.dimension == 3


def test_walls_and_rounds_are_drawn_and_marked():
    system = onesided.compose(
        Node("ball", (0.0, 1.0)),
        Node("peg", (2.0, 1.0), fixed=True),
        PlaneContact("floor", "ball", normal=(0.0, 2.0), through=(7.0, -1.0), radius=0.5, moves=0.25),
        RoundContact("touch", ("ball", "peg"), (0.5, 0.75)),
        Spring("s", ("ball", "peg"), stiffness=1.0),
        Force("w", "ball", (0.0, -1.0)),
    )
    where = placed(system, [0.0, 1.0], 2.0)
    np.testing.assert_allclose(where["wall of floor"], [[0.0, -1.0 + 0.25 * 2.0]])
    (ground,) = system.sketch.grounds
    assert ground.normal == (0.0, 1.0)
    assert {(circle.centre, circle.radius) for circle in system.sketch.circles} == {("ball", 0.5), ("peg", 0.75)}
    assert dict(system.sketch.marks) == {"floor": (("ball",),), "touch": (("ball",),)}


def test_slack_cables_are_told_from_taut_ones():
    system, task = zoo.load("guyed-mast")
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)
    film = film_of(path)
    last = len(path) - 1
    loose = {name for name, code in zip(path.unilateral, path.codes[-1], strict=True) if code == 0}
    assert loose == {"low_guy0", "high_guy0"}
    assert slack(film, last) == {("anchor0", "middle"), ("anchor0", "top")}
    assert len(set(highlights(film, last))) == 4
    mast = path.sketch.positions(columns(path))
    assert np.all(np.linalg.norm(mast["middle"] - mast["foot"], axis=1) == pytest.approx(30.0, rel=1e-2))


def test_every_constraint_of_a_cable_net_is_a_line_of_the_drawing():
    net = onesided.compose(
        [Node(f"n{i}", (float(i), 0.0), fixed=i in {0, 3}) for i in range(4)],
        [Cable(f"c{i}", (f"n{i}", f"n{i + 1}"), stiffness=10.0, pretension=1.0) for i in range(3)],
        Force("load", "n1", (0.0, -1.0)),
    )
    lines = {line.points for line in net.sketch.lines}
    assert all(set(parts) <= lines for parts in net.sketch.marks.values())
    assert len(net.sketch.marks) == len(net.unilateral)


def test_a_sketch_beside_parts_is_refused():
    text = zoo.text("von-mises-truss") + "\n[sketch]\npoints = { a = [0, 0] }\n"
    with pytest.raises(onesided.ModelError, match="they draw themselves"):
        onesided.loads(text)
