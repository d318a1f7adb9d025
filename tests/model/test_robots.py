"""Robots from URDF and MJCF: what is read, what is refused, and a motion against MuJoCo's own."""

from pathlib import Path

import numpy as np
import pytest

import onesided
from onesided.elements import AngleStop, Body, Gravity, Marker, PlaneContact, Revolute, RoundContact
from onesided.groups import rotation_matrix

mujoco = pytest.importorskip("mujoco")
ROBOTS = Path(__file__).parents[2] / "examples" / "robots"
HANGING = """<mujoco><worldbody>{}</worldbody></mujoco>"""


def parts_of(tmp_path, inside, **asked):
    file = tmp_path / "robot.xml"
    file.write_text(HANGING.format(inside), encoding="utf-8")
    return {part.name: part for part in onesided.read_robot(file, **asked)}


def test_an_arm_has_its_bodies_joints_limits_and_inertias():
    parts = {part.name: part for part in onesided.read_robot(ROBOTS / "arm.urdf", positions={"elbow": 0.5})}
    assert [type(part) for part in parts.values()].count(Body) == 3
    upper, elbow, limit = parts["upper"], parts["elbow"], parts["elbow_limit"]
    assert upper.mass == 2.0
    R = np.asarray(rotation_matrix(np.array(upper.turned)))
    tilt, pitch = (np.asarray(rotation_matrix(np.array(r))) for r in ([0.4, 0, 0], [0, 0.2, 0]))
    own = np.array([[0.045, 0.001, 0], [0.001, 0.05, 0.002], [0, 0.002, 0.008]])
    turned = tilt @ pitch @ own @ pitch.T @ tilt.T
    assert pytest.approx(turned, abs=1e-9) == R @ np.diag(upper.inertia) @ R.T
    assert np.array(upper.at) == pytest.approx([0, 0, 0.3] + tilt @ [0.05, 0, 0.25])
    assert elbow.between == ("upper", "fore")
    assert pytest.approx(np.cos(0.3) * np.eye(3)[0] + np.sin(0.3) * tilt[:, 1]) == R @ np.array(elbow.axis)
    assert (limit.lower, limit.upper) == pytest.approx((-3.3, 2.3))
    assert parts["gravity"].acceleration == pytest.approx((0.0, 0.0, -9.81))
    assert isinstance(elbow, Revolute) and isinstance(limit, AngleStop) and isinstance(parts["gravity"], Gravity)


def test_a_walker_has_contacts_of_its_feet():
    parts = {part.name: part for part in onesided.read_robot(ROBOTS / "walker.xml", leave_out=("contacts",))}
    assert [name for name, part in parts.items() if isinstance(part, PlaneContact)] == [
        "floor_left_leg_0", "floor_left_leg_1", "floor_right_foot",
    ]  # fmt: skip
    assert [part.name for part in parts.values() if isinstance(part, Revolute)] == ["left_hip", "right_hip"]
    foot = parts["floor_right_foot_point"]
    assert isinstance(foot, Marker) and foot.on == "right"
    assert parts["floor_right_foot"].radius == 0.06
    with pytest.raises(onesided.ModelError, match="contacts"):
        onesided.read_robot(ROBOTS / "walker.xml")  # legs may touch each other


def test_several_joints_of_a_body_have_bodies_without_mass_between(tmp_path):
    parts = parts_of(
        tmp_path,
        """<body name="hip"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
        <joint name="turn" type="hinge" axis="0 1 0"/><geom type="sphere" size="0.1"/></body>""",
    )
    assert [parts[name].between for name in ("x", "z", "turn")] == [
        ("world", "hip_x"), ("hip_x", "hip_z"), ("hip_z", "hip"),
    ]  # fmt: skip
    assert parts["hip_x"].mass == 0.0


def test_shapes_become_the_points_whose_hull_they_are(tmp_path):
    parts = parts_of(
        tmp_path,
        """<geom name="floor" type="plane" size="1 1 1"/>
        <body name="a" pos="0 0 2"><freejoint/><geom name="box" type="box" size="0.1 0.2 0.3" mass="1"/></body>
        <body name="b" pos="1 0 2"><freejoint/><geom name="ball" type="sphere" size="0.2" mass="1" contype="2"
        conaffinity="2"/></body>
        <body name="c" pos="2 0 2"><freejoint/><geom name="bead" type="sphere" size="0.1" mass="1" contype="2"
        conaffinity="2"/></body>""",
    )
    corners = np.array([part.at for name, part in parts.items() if name.startswith("floor_box") and "point" in name])
    R = np.asarray(rotation_matrix(np.array(parts["a"].turned)))
    assert sorted(map(tuple, np.round(np.abs(corners @ R.T), 12))) == [(0.1, 0.2, 0.3)] * 8
    assert isinstance(parts["ball_bead"], RoundContact)
    assert parts["ball_bead"].radii == (0.2, 0.1)


def test_a_mesh_is_its_convex_hull(tmp_path):
    """A tetrahedron with a point inside: four corners."""
    faces = "f 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\nf 1 2 5\n"
    (tmp_path / "stone.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0.1 0.1 0.1\n" + faces)
    (tmp_path / "robot.xml").write_text(
        """<mujoco><asset><mesh name="stone" file="stone.obj" inertia="convex"/></asset><worldbody>
        <geom name="floor" type="plane" size="1 1 1"/><body name="a" pos="0 0 2"><freejoint/>
        <geom name="stone" type="mesh" mesh="stone" mass="1"/></body></worldbody></mujoco>"""
    )
    parts = onesided.read_robot(tmp_path / "robot.xml")
    assert sum(isinstance(part, PlaneContact) for part in parts) == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<mujoco", "not XML"),
        ('<!DOCTYPE a [<!ENTITY x "y">]><mujoco/>', "document types"),
        ('<mujoco><asset><mesh file="../stone.obj"/></asset></mujoco>', "path is refused"),
        ('<mujoco><asset><mesh file="&#x2e;&#x2e;/stone.obj"/></asset></mujoco>', "path is refused"),
        ('<mujoco><compiler meshdir="/etc"/></mujoco>', "path is refused"),
        ('<mujoco><include file="/etc/passwd"/></mujoco>', "path is refused"),
        ('<robot name="r"><link name="a"><collision><geometry><mesh filename="package://x/y.stl"/></geometry>'
         "</collision></link></robot>", "path is refused"),
        ('<mujoco><extension><plugin plugin="mujoco.pid"/></extension></mujoco>', "plugins"),
        ("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", "MuJoCo cannot read"),
    ],
)  # fmt: skip
def test_hostile_files_are_refused(tmp_path, text, words):
    (tmp_path / "robot.xml").write_text(text, encoding="utf-8")
    with pytest.raises(onesided.ModelError, match=words):
        onesided.read_robot(tmp_path / "robot.xml")


def test_links_out_of_the_folder_are_refused(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret.obj").write_text("v 0 0 0\n")
    (inner / "stone.obj").symlink_to(tmp_path / "secret.obj")
    (inner / "robot.xml").write_text('<mujoco><asset><mesh file="stone.obj"/></asset></mujoco>')
    with pytest.raises(onesided.ModelError, match="leaves the folder"):
        onesided.read_robot(inner / "robot.xml")


def test_what_is_not_offered_is_said(tmp_path):
    hinge = '<body name="a"><joint name="j" damping="1"/><geom type="capsule" fromto="0 0 0 0 0 -1" size="0.1"/></body>'
    with pytest.raises(onesided.ModelError, match="damping of joints"):
        parts_of(tmp_path, hinge)
    assert "j" in parts_of(tmp_path, hinge, leave_out=("damping",))
    with pytest.raises(onesided.ModelError, match="unknown feature"):
        parts_of(tmp_path, hinge, leave_out=("damp",))
    with pytest.raises(onesided.ModelError, match="unknown joint"):
        parts_of(tmp_path, hinge, leave_out=("damping",), positions={"k": 1.0})


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_arm_moves_as_in_mujoco():
    """Half a second of free swing against MuJoCo's Runge–Kutta steps of 0.1 ms."""
    start = {"elbow": 0.5, "shoulder": 0.3}
    system = onesided.compose(onesided.read_robot(ROBOTS / "arm.urdf", positions=start))
    motion = onesided.simulate(system, system.start, np.zeros(system.n), (0.0, 0.5))
    model = mujoco.MjModel.from_xml_path(str(ROBOTS / "arm.urdf"))
    data = mujoco.MjData(model)
    model.opt.timestep, model.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    for name, value in start.items():
        data.qpos[model.joint(name).qposadr[0]] = value
    for _ in range(5000):
        mujoco.mj_step(model, data)
    mujoco.mj_kinematics(model, data)
    for name in ("upper", "fore"):
        i = system.coordinates.index(f"{name}_x")
        assert motion.q[-1, i : i + 3] == pytest.approx(np.array(data.xipos[model.body(name).id]), abs=1e-8)
