"""Bodies in space: boxes, discs and hulls stand and turn as the model says."""

import copy
import itertools
import json
import pickle

import numpy as np
import pytest
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from scipy.spatial.transform import Rotation

import onesided
from onesided import plots
from onesided.base.errors import ModelError
from onesided.elements import Body, Marker, Node, Spring
from onesided.results import Line, Sketch, Solid
from onesided.results.sketch import read_sketch, sketch_record
from onesided.structures.hull import hull

TURN = (0.3, -0.7, 1.1)


def normals(solid):
    """Outward or not: the volume by the divergence theorem, and the edges of all faces."""
    corners = np.array(solid.corners)
    volume, edges = 0.0, []
    for face in solid.faces:
        a = corners[face[0]]
        for i, j in itertools.pairwise(face[1:]):
            volume += np.linalg.det([a, corners[i], corners[j]]) / 6
        edges += [frozenset(pair) for pair in itertools.pairwise((*face, face[0]))]
    return abs(volume), edges


@pytest.mark.parametrize(
    ("solid", "volume"),
    [
        (Solid.box("o", TURN, (1.0, 2.0, 3.0)), 6.0),
        (Solid.disc("o", TURN, 2.0, 0.5), 12 * 4 * np.sin(2 * np.pi / 24) * 0.5),
        (hull("o", TURN, np.array(list(itertools.product((0, 1), (0, 2), (0, 4))), dtype=float)), 8.0),
        (hull("o", TURN, np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])), 1 / 6),
    ],
    ids=["box", "disc", "hull of a box", "hull of four points"],
)
def test_faces_close_the_body(solid, volume):
    found, edges = normals(solid)
    assert found == pytest.approx(volume)
    assert all(edges.count(edge) == 2 for edge in edges), "every edge belongs to two faces"


def test_hulls_have_flat_faces():
    box = hull("o", TURN, np.array(list(itertools.product((0, 1), (0, 2), (0, 4))), dtype=float))
    assert sorted(len(face) for face in box.faces) == [4] * 6
    plate = hull("o", TURN, np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]]))
    assert plate.faces == ((0, 1, 2, 3),)


def test_corners_turn_by_the_rotation_vector():
    box = Solid.box("o", TURN, (1.0, 2.0, 3.0))
    truth = np.array([1.0, 2.0, 3.0]) + Rotation.from_rotvec(TURN).apply(np.array(box.corners))
    np.testing.assert_allclose(box.placed(np.array([1.0, 2.0, 3.0]), np.array(TURN)), truth, atol=1e-14)
    np.testing.assert_array_equal(box.placed(np.zeros(3), np.zeros(3)), np.array(box.corners))


def body(**shape):
    return onesided.compose(
        Body("b", (0.5, 0.0, 1.0), turned=(0.0, 0.4, 0.0), **shape),
        Marker("m", "b", (0.5, 1.0, 0.05)),
        Node("f", (5.0, 0.0, 0.0), fixed=True),
        Spring("s", ("m", "f"), stiffness=1.0),
    )


@pytest.mark.parametrize(
    "shape",
    [
        {"box": (1.0, 2.0, 0.1)},
        {"outline": [(x, y, z) for x in (-0.5, 0.5) for y in (-1, 1) for z in (-0.05, 0.05)]},
        {"disc": (1.0, 0.1)},
    ],
    ids=["box", "outline", "disc"],
)
def test_composed_bodies_carry_their_markers(shape):
    """A marker at a corner of the body, or on the rim, is drawn there, however the body moves."""
    system = body(**shape)
    (solid,) = system.sketch.solids
    assert [line.style for line in system.sketch.lines] == ["spring"], "no lines in place of the body"
    q = np.array([0.1, 0.2, 0.3, *TURN])
    columns = dict(zip(system.coordinates, q[:, None], strict=True))
    places = system.sketch.positions({**columns, **system.measured(q[None], np.zeros(1))})
    corners = solid.placed(places["b"][0], np.array([columns[name][0] for name in solid.turn]))
    distance = np.linalg.norm(corners - places["m"][0], axis=1).min()
    if "disc" in shape:
        mark = Rotation.from_rotvec(TURN) * Rotation.from_rotvec([0.0, 0.4, 0.0])
        np.testing.assert_allclose(corners, places["b"] + mark.apply(np.array(Solid.disc("b", TURN, 1.0, 0.1).corners)))
    else:
        assert distance < 1e-12


def test_plane_bodies_have_boxes_and_discs_too():
    system = onesided.compose(
        Body("plate", (0, 0), box=("a", 0.5)),
        Body("wheel", (2, 0), disc=(0.3,)),
        Spring("s", ("plate", "wheel"), stiffness=1.0),
        parameters={"a": 2.0},
    )
    (outline,), (circle,) = system.sketch.bodies, system.sketch.circles
    assert set(outline.outline) == {(-1.0, -0.25), (1.0, -0.25), (1.0, 0.25), (-1.0, 0.25)}
    assert (circle.centre, circle.radius, circle.angle) == ("wheel", 0.3, "wheel_angle")
    for wrong in ({"box": (1.0,)}, {"disc": (1.0, 2.0)}):
        with pytest.raises(ModelError, match="does not fit"):
            Body("b", (0, 0), **wrong)


DOOR = """
energy = "k/2*(phi - p)**2"
[coordinates]
phi = 0.0
[parameters]
k = 1.0
[control]
range = [0, 1]
[unilateral]
stop = "0.8 - phi"
[sketch]
points = { hinge = [0, 0, 0], middle = ["cos(phi)/2", "sin(phi)/2", 0] }
solids.leaf = { at = "middle", turn = [0, 0, "phi"], box = [1.0, 0.05, 2.0] }
solids.wheel = { at = "hinge", turn = ["phi/2", 0, 0], disc = [0.2, 0.1] }
marks.stop = ["middle"]
"""


def test_model_files_state_solids(tmp_path):
    system, task = onesided.loads(DOOR)
    leaf, wheel = system.sketch.solids
    assert leaf.turn == (0.0, 0.0, "phi")
    assert wheel.turn == ("wheel.turn.x", 0.0, 0.0)
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)
    assert path.measures["wheel.turn.x"] == pytest.approx(path.q[:, 0] / 2)
    again = onesided.load_result(onesided.save(path, tmp_path / "r")).sketch
    assert sketch_record(again) == sketch_record(system.sketch)
    assert again.solids == system.sketch.solids
    with pytest.raises(ModelError, match="either a box or a disc"):
        onesided.loads(DOOR.replace(", disc = [0.2, 0.1]", ""))
    with pytest.raises(ModelError, match="chi"):
        onesided.loads(DOOR.replace('"phi/2"', '"chi/2"'))


def test_pictures_show_the_faces_where_they_are():
    system, task = onesided.loads(DOOR)
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)
    axes = Figure().add_subplot(projection="3d")
    plots.sketch(path, -1, ax=axes)
    (drawn,) = [part for part in axes.collections if isinstance(part, Poly3DCollection)]
    axes.figure.draw_without_rendering()
    assert len(drawn.get_paths()) == 6 + 26, "faces of the box and of the disc"
    box = np.array([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()])
    assert np.all(box[:, 0] <= [-0.2, -0.2, -1.0])
    assert np.all(box[:, 1] >= [0.7, 0.7, 1.0])


def test_results_with_sketches_can_be_sent_to_other_processes():
    system, task = onesided.loads(DOOR)
    state = onesided.solve(system, start=task.start, p=0.5).value
    again = pickle.loads(pickle.dumps(state))
    assert sketch_record(again.shape.sketch) == sketch_record(system.sketch)
    assert np.array_equal(again.shape.columns()["phi"], state.q)
    assert sketch_record(copy.deepcopy(system.sketch)) == sketch_record(system.sketch)


def test_nonsense_is_refused():
    for wrong in (((0.0, 0.0), ((0, 0, 0),) * 3, ((0, 1, 2),)), (TURN, ((0, 0, 0),) * 3, ((0, 1, 3),))):
        with pytest.raises(ModelError, match="cannot be drawn"):
            Solid("o", *wrong)
    with pytest.raises(ModelError, match="plane sketch"):
        Sketch(points={"o": (0.0, 0.0)}, solids=(Solid.box("o", TURN, (1, 1, 1)),))
    old = sketch_record(Sketch(points={"o": (0.0, 0.0), "a": (1.0, 0.0)}, lines=(Line(("o", "a")),)))
    del old["solids"]
    assert read_sketch(json.loads(json.dumps(old))).solids == (), "results saved before there were solids"
