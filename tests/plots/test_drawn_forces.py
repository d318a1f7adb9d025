"""Arrows of loads and reactions against the forces that members report, which come from gradients of energies."""

import numpy as np
import pytest

import onesided
from onesided import zoo
from onesided.elements import (
    Bar,
    Beam,
    Body,
    Force,
    Gravity,
    LineLoad,
    Marker,
    Moment,
    Node,
    PlaneContact,
    PolygonContact,
    Pressure,
    SegmentContact,
    Spring,
)
from onesided.plots import overlays
from onesided.plots.configuration import columns_at, draw, film_of, places_at, prepared
from onesided.results.sketch import read_sketch, sketch_record

PINNED = {"fixed": True}


def cantilever():
    return onesided.compose(
        Body("a", (0, 0), fixed=True),
        Body("b", (1, 0)),
        Body("c", (2, 0)),
        Beam("u", ("a", "b"), EA=1e3, EI=1.0),
        Beam("w", ("b", "c"), EA=1e3, EI=1.0),
        LineLoad("snow", along=("a", "b", "c"), load=(0, -0.3)),
        Moment("turn", "c", 0.4),
        Force("lift", "b", (0, "0.5*p**2"), constant=True),
    )


def blown():
    corners = [(np.cos(angle), np.sin(angle)) for angle in np.pi / 3 * np.arange(6)]
    ring = [(f"n{i}", f"n{(i + 1) % 6}") for i in range(6)] + [(f"n{i}", f"n{(i + 2) % 6}") for i in range(6)]
    return onesided.compose(
        *[Node(f"n{i}", at, fixed={0: True, 3: "y"}.get(i, False)) for i, at in enumerate(corners)],
        *[Bar(f"bar{i}", ends, stiffness=20.0) for i, ends in enumerate(ring)],
        Pressure("air", [f"n{i}" for i in range(6)], pressure=1.0),
    )


def pressed_segment():
    return onesided.compose(
        Node("a", (0, 0), **PINNED), Node("b", (2, 0), fixed="x"), Node("tip", (1.2, 0.5), fixed="x"),
        Node("foot", (2, -1), **PINNED), Node("top", (1.2, 1.5), **PINNED),
        Bar("rod", ("a", "b"), stiffness=100.0), Spring("below", ("b", "foot"), stiffness=2.0),
        Spring("above", ("tip", "top"), stiffness=1.0), Force("push", "tip", (0, -1)),
        SegmentContact("hit", ("a", "b"), ("tip",), thickness=0.1),
    )  # fmt: skip


def boxes():
    low, high = ([(-w, -0.5), (w, -0.5), (w, 0.5), (-w, 0.5)] for w in (1.0, 0.5))
    return onesided.compose(
        Body("low", (0, 0), fixed=True, outline=low), Body("up", (0.2, 1.3), angle=0.2, outline=high),
        Node("g1", (-0.6, 3), **PINNED), Node("g2", (1, 3), **PINNED), Node("g3", (-2, 1.3), **PINNED),
        Marker("m1", "up", (-0.5, 0.5)), Marker("m2", "up", (0.5, 0.5)),
        Spring("k1", ("g1", "m1"), stiffness=1.0), Spring("k2", ("g2", "m2"), stiffness=1.0),
        Spring("k3", ("g3", "up"), stiffness=1.0),
        PolygonContact("touch", ("up", "low")), Force("push", "up", (0, -1)),
    )  # fmt: skip


def tilting_table():
    return onesided.compose(
        Body("table", (0, 0), outline=[(-1, 0), (1, 0), (0, -1)]), Node("ball", (0.3, 0.5), fixed="x"),
        Marker("e1", "table", (1, 0)), Marker("e2", "table", (-1, 0)), Marker("e3", "table", (0, -1)),
        Node("g1", (1, -1.5), **PINNED), Node("g2", (-1, -1.5), **PINNED), Node("g3", (1, -1), **PINNED),
        Node("top", (0.3, 2), **PINNED), Spring("k1", ("e1", "g1"), stiffness=3.0),
        Spring("k2", ("e2", "g2"), stiffness=5.0), Spring("k3", ("e3", "g3"), stiffness=5.0),
        Spring("k4", ("e3", "g2"), stiffness=2.0), Spring("k5", ("ball", "top"), stiffness=1.0),
        PlaneContact("rest", "ball", (0, 1), on="table", radius=0.1), Force("push", "ball", (0, -1)),
    )  # fmt: skip


def traced(system, reach=3.0):
    path = onesided.trace(system, system.start, 0.0, p_bounds=(0, reach))
    assert path.ok
    return path


@pytest.mark.parametrize(
    ("make", "names"),
    [(cantilever, ["lift", "snow 1", "snow 2"]), (blown, [f"air between n{i} and n{(i + 1) % 6}" for i in range(6)])],
)
def test_arrows_are_the_forces_of_loads(make, names):
    path = traced(make(), 1.0)
    loads = film_of(path).loads
    found = sorted(np.round(force, 9).tolist() for force in loads.forces)
    pairs = [np.stack([path[f"{name}.force_x"], path[f"{name}.force_y"]], axis=-1) for name in names]
    assert found == sorted(np.round(pair, 9).tolist() for pair in pairs)
    assert loads.largest == pytest.approx(max(np.linalg.norm(pair, axis=1).max() for pair in pairs))


def test_a_moment_is_an_arc():
    path = traced(cantilever(), 1.0)
    (moment,) = film_of(path).loads.moments
    np.testing.assert_allclose(moment, path["turn.moment"], atol=1e-12)


def test_line_loads_act_half_way():
    system = cantilever()
    film = film_of(traced(system, 1.0))
    places = places_at(film, -1 % len(film))
    for name, ends in (("snow 1", "ab"), ("snow 2", "bc")):
        middle = np.mean([places[end] for end in ends], axis=0)
        np.testing.assert_allclose(places[f"middle of {name}"], middle, atol=1e-12)


def test_weights_are_mass_times_acceleration():
    """A heavy and a light node: arrows in the ratio of their masses, not equal."""
    system = onesided.compose(
        Node("a", (0, 0), fixed=True), Node("b", (0, -1), fixed="x", mass=3.0), Node("c", (0, -2), fixed="x", mass=0.5),
        Bar("r", ("a", "b"), stiffness=1e3), Bar("s", ("b", "c"), stiffness=1e3),
        Gravity("g", (0, -9.81)), Force("pull", "c", (0, -1)),
    )  # fmt: skip
    arrows = {load.at: load.force for load in system.sketch.acting.loads if not load.grows}
    assert arrows["b"] == pytest.approx((0.0, -3.0 * 9.81))
    assert arrows["c"] == pytest.approx((0.0, -0.5 * 9.81))


@pytest.mark.parametrize("make", [pressed_segment, boxes, tilting_table])
def test_reactions_act_where_and_as_members_say(make):
    path = traced(make())
    film = film_of(path)
    closed = {name for name, now in zip(film.names, film.closed[-1], strict=True) if now}
    assert closed
    last = len(film) - 1
    places, now = places_at(film, last), columns_at(film, last)
    for name in closed:
        touch = overlays.touch_of(film.sketch, name, places, now, 1.0)
        at, push = overlays.touching(touch, places), touch.direction(places)
        np.testing.assert_allclose(at, [path[f"{name}.x"][-1], path[f"{name}.y"][-1]], atol=1e-9)
        np.testing.assert_allclose(push, [path[f"{name}.normal_x"][-1], path[f"{name}.normal_y"][-1]], atol=1e-9)


@pytest.mark.parametrize("make", [cantilever, blown, boxes, tilting_table])
def test_saved_drawings_are_the_same(make):
    """Old readers of the data find what they knew; what is new is read back as it was."""
    sketch = make().sketch
    again = read_sketch(sketch_record(sketch))
    assert sketch_record(again) == sketch_record(sketch)
    assert again.names() == sketch.names()


def hinged():
    return onesided.compose(
        Node("a", (0, 0), **PINNED), Node("b", (0, 1), fixed="x"), Bar("r", ("a", "b"), stiffness=10.0),
        Force("push", "b", (0, -1)),
    )  # fmt: skip


def test_a_support_at_which_there_is_nothing_is_not_drawn():
    net = zoo.load("cable-net")
    ends = {point for line in net.system.sketch.lines for point in line.points}
    assert {support.at for support in net.system.sketch.acting.supports} <= ends, "corners of the grid have no cable"
    assert {support.at for support in hinged().sketch.acting.supports} == {"a", "b"}


@pytest.mark.parametrize(("make", "triangles"), [(cantilever, 0), (hinged, 2)])
def test_a_clamped_end_is_no_hinge(make, triangles):
    """The wall lies across the beam, on the side away from it; hinges and rollers are triangles."""
    film = film_of(traced(make(), 1.0))
    axes = prepared(film, None)
    draw(axes, film, 0)
    assert len(axes.patches) == triangles
    if not triangles:
        np.testing.assert_allclose(overlays._outward(film.sketch, "a", places_at(film, 0)), [-1.0, 0.0])
