"""Copies of parts: lattices, mirror images and rings share the nodes on which they meet."""

import numpy as np
import pytest

import onesided
from onesided.base.errors import ModelError, UsageError
from onesided.elements import (
    Bar,
    Body,
    CoordinateStop,
    FollowerForce,
    Force,
    Gap,
    Node,
    OnLine,
    PlaneContact,
    Prescribed,
    Prismatic,
    TorsionSpring,
    mirror,
    repeat,
    rotate,
)


def test_bays_share_their_nodes():
    bay = [
        Node("a", (0.0, 0.0)), Node("b", (1.0, 0.0)), Node("c", (0.0, 1.0)), Node("d", (1.0, 1.0)),
        Bar("low", ("a", "b"), stiffness=1.0), Bar("post", ("a", "c"), stiffness=1.0),
        Bar("last", ("b", "d"), stiffness=1.0), Bar("tie", ("a", "d"), stiffness=1.0),
    ]  # fmt: skip
    parts = repeat(bay, 4, (1.0, 0.0))
    nodes = [part for part in parts if isinstance(part, Node)]
    bars = [part for part in parts if isinstance(part, Bar)]
    assert sorted(tuple(node.at) for node in nodes) == sorted((float(x), float(y)) for x in range(5) for y in range(2))
    assert len(bars) == 4 * 2 + 5  # low and tie in every bay, five posts
    assert len({part.name for part in parts}) == len(parts)


def test_half_a_truss_and_its_image_are_the_truss():
    """Von Mises: force 2 k (L/ℓ − 1) y of both bars at the apex."""
    half = [Node("a", ("-b", 0.0), fixed=True), Node("top", (0.0, "h"), fixed="x"),
            Bar("bar", ("a", "top"), stiffness=1.0), Force("load", "top", (0.0, -1.0))]  # fmt: skip
    truss = onesided.compose(mirror(half, (1.0, 0.0)), parameters={"b": 1.0, "h": 0.5})
    assert truss.coordinates == ("top_y",)
    assert len(truss.structure.elements) == 3
    y, rest = 0.3, np.hypot(1.0, 0.5)
    exact = 2.0 * (np.hypot(1.0, y) - rest) * y / np.hypot(1.0, y)
    assert truss.residual([y], 0.0, [])[1] == pytest.approx([exact], rel=1e-13)


def test_walls_on_both_sides_of_the_mirror_are_two():
    post = [Node("m", (0.0, 0.0)), PlaneContact("wall", "m", normal=(1.0, 0.0), through=(-1.0, 0.0))]
    walls = [part for part in mirror(post, (1.0, 0.0)) if isinstance(part, PlaneContact)]
    assert [wall.normal for wall in walls] == [(1.0, 0.0), (-1.0, 0.0)]
    assert [wall.point for wall in walls] == ["m", "m"]


def test_a_ring_closes():
    side = [Node("a", (1.0, 0.0)), Node("b", (0.5, np.sqrt(0.75))), Bar("ab", ("a", "b"), stiffness=1.0)]
    ring = rotate(side, 6)
    assert sum(isinstance(part, Node) for part in ring) == 6
    bars = [part for part in ring if isinstance(part, Bar)]
    assert len(bars) == 6
    ends = [name for bar in bars for name in bar.ends]
    assert all(ends.count(name) == 2 for name in ends)


def test_loads_supports_and_walls_turn_with_the_parts():
    arm = [Node("o", (0.0, 0.0), fixed=True), Node("t", (2.0, 0.0), fixed="y"), Bar("r", ("o", "t"), stiffness=1.0),
           Force("f", "t", (1.0, 0.0)), PlaneContact("wall", "t", normal=(-1.0, 0.0), through=(3.0, 0.0))]  # fmt: skip
    quarter = {part.name: part for part in rotate(arm, 4)}
    assert quarter["t_1"].at == (0.0, 2.0)
    assert tuple(quarter["t_1"].fixed) == ("x",)
    assert quarter["f_1"].force == (0.0, 1.0)
    assert (quarter["wall_1"].normal, quarter["wall_1"].through) == ((0.0, -1.0), (0.0, 3.0))
    with pytest.raises(ModelError, match="between the axes"):
        rotate(arm, 3)


def test_a_turn_in_space():
    leg = [Node("top", (0.0, 0.0, 1.0)), Node("foot", (1.0, 0.0, 0.0), fixed=True),
           Bar("leg", ("top", "foot"), stiffness=1.0)]  # fmt: skip
    tripod = rotate(leg, 3)
    feet = np.array([part.at for part in tripod if isinstance(part, Node) and part.name != "top"])
    np.testing.assert_allclose(feet.sum(axis=0), 0.0, atol=1e-15)
    assert len(tripod) == 7


def test_what_cannot_be_copied_is_refused():
    with pytest.raises(ModelError, match="cannot be mirrored"):
        mirror([Body("b", (0.0, 0.0), mass=1.0)], (1.0, 0.0))
    with pytest.raises(UsageError, match="2 numbers"):
        repeat([Node("a", (0.0, 0.0))], 2, (1.0, 0.0, 0.0))
    with pytest.raises(UsageError, match="at least 1"):
        repeat([Node("a", (0.0, 0.0))], 0, (1.0, 0.0))


def test_what_is_given_in_the_axes_of_a_body_turns_with_it():
    arm = [Body("o", (0.0, 0.0), fixed=True), Body("b", (2.0, 0.0)), Prismatic("slide", ("o", "b"), axis=(1.0, 0.0)),
           TorsionSpring("coil", ("b",), stiffness=1.0, angle=0.3), FollowerForce("jet", "b", (1.0, 0.0))]  # fmt: skip
    turned = {part.name: part for part in rotate(arm, 4)}
    assert tuple(turned["slide_1"].axis) == (1.0, 0.0)
    assert turned["coil_1"].angle == pytest.approx(0.3 + np.pi / 2)
    assert tuple(turned["jet_1"].force) == (1.0, 0.0)
    nodes = [Node("o", (1.0, 0.0), fixed=True), Node("t", (1.0, 2.0)), OnLine("rail", ("o", "t"), through=(0.0, 2.0))]
    turned = {part.name: part for part in rotate(nodes, 4)}
    assert (tuple(turned["rail_1"].axis), tuple(turned["rail_1"].through)) == ((0.0, 1.0), (-2.0, 0.0))


def test_stops_and_drives_of_coordinates_are_copied():
    post = [Node("o", (0.0, 0.0), fixed=True), Node("t", (0.0, 2.0), fixed="x"), Bar("r", ("o", "t"), stiffness=1.0),
            CoordinateStop("s", coordinate="t_y", lower=1.5),
            Prescribed("d", coordinate="t_y", value="2+p")]  # fmt: skip
    up = {part.name: part for part in repeat(post, 2, (1.0, 10.0))}
    assert (up["s_1"].coordinate, up["s_1"].lower, up["d_1"].value) == ("t_1_y", 11.5, "(2+p)+10.0")
    aside = {part.name: part for part in repeat(post, 2, (1.0, 0.0))}
    assert (aside["s_1"].coordinate, aside["s_1"].lower) == ("t_1_y", 1.5)
    with pytest.raises(ModelError, match="cannot be turned or mirrored"):
        rotate(post, 4)
    with pytest.raises(ModelError, match="formula of coordinates"):
        repeat([*post, Gap("g", "t_y - 1")], 2, (1.0, 0.0))
