"""Robots from URDF and MJCF files, as parts for `compose`: bodies, joints, limits, contacts with planes and of spheres.

MuJoCo (Apache-2.0, the extra `onesided[robots]`) reads the file; what it compiles is put onto our nouns. Files are
data: plugins are refused, and so are files outside the folder of the model.
"""

import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import scipy

from onesided.base.arguments import checked
from onesided.base.errors import ModelFileError, UsageError
from onesided.base.names import unknown_name
from onesided.base.types import Array
from onesided.elements.contacts import PlaneContact, RoundContact
from onesided.elements.joints import Fixed, Prismatic, Revolute, Spherical
from onesided.elements.loads import Gravity
from onesided.elements.places import Body, Marker
from onesided.elements.stops import AngleStop, TravelStop
from onesided.files.imports import read_bytes
from onesided.groups.rotations import matrix_quaternion, rotation_vector
from onesided.structures.structure import Part

WORLD = "world"
FOLDERS = ("meshdir", "texturedir", "assetdir", "dir")
MOST_CORNERS = 64  # of a convex hull that touches a plane
FEATURES = {
    "damping": "damping of joints",
    "armature": "inertia of motors",
    "frictionloss": "dry friction of joints",
    "stiffness": "springs of joints",
    "actuators": "motors",
    "equality": "equality constraints",
    "tendons": "tendons",
    "fluid": "a surrounding fluid",
    "contacts": "contacts other than of spheres, and of spheres, capsules, boxes and small meshes with planes",
}


@checked
def read_robot(
    path: str | os.PathLike[str], *, positions: Mapping[str, float] | None = None, leave_out: Collection[str] = ()
) -> list[Part]:
    """Read a robot from a URDF or MJCF file with MuJoCo (`pip install 'onesided[robots]'`), for `compose`.

    Parameters
    ----------
    positions : joint → its angle or travel at the start; zero (the reference of the file) for those left out.
    leave_out : features of the file that may be left out: damping, armature, frictionloss, stiffness, actuators,
        equality, tendons, fluid, contacts. A file that has one which is not listed here is refused.

    Returns
    -------
    list
        A fixed body `world`; a body per link with its centre of mass as origin and principal axes of inertia; joints
        and limits called like those of the file (`<joint>_limit`); markers and contacts of its geometry; gravity.
        Contacts have neither restitution nor friction until `with_contacts` says so. A body on several joints has
        bodies without mass between them.

    Raises
    ------
    ModelFileError
        Where the file cannot be read, asks for files outside its folder, or has features that are not offered.
    """
    file = Path(path)
    _check_files(file, file.resolve().parent, set())
    for name in leave_out:
        if name not in FEATURES:
            raise unknown_name("feature", name, FEATURES)
    robot = _Robot(file.name, *_compiled(file), dict(positions or {}))
    parts = list(robot.parts())
    wrong = [FEATURES[name] for name in robot.features() if name not in leave_out]
    if wrong:
        raise ModelFileError(
            "the file has what is not offered",
            place=file.name,
            got="; ".join(wrong),
            advice=f"leave_out={tuple(name for name in robot.features())!r}, if the model may do without",
        )
    return parts


def _check_files(file: Path, root: Path, seen: set[Path]) -> None:
    """Refuse document types, plugins, and references that leave the folder; included files are looked at too."""
    data = read_bytes(file)
    seen.add(file.resolve())
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise ModelFileError("document types are refused", place=file.name, expected="plain URDF or MJCF")
    try:
        tree = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError) as e:
        raise ModelFileError("this is not XML", place=file.name, got=str(e)) from None
    if next(tree.iter("plugin"), None) is not None:
        raise ModelFileError("plugins are refused", place=file.name, expected="a file that is data alone")
    folders = ["", *(one.get(key, "") for one in tree.iter("compiler") for key in FOLDERS)]
    names = [one.get(key, "") for one in tree.iter() for key in ("file", "filename") if one.get(key)]
    for name in (*folders, *names):
        for folder in folders if name in names else [""]:
            inner = _inside(name, folder, root, file)
            if inner.suffix == ".xml" and inner.is_file() and inner not in seen:
                _check_files(inner, root, seen)


def _inside(name: str, folder: str, root: Path, file: Path) -> Path:
    plain = name.replace("\\", "/")
    if plain.startswith("/") or ":" in plain or ".." in plain.split("/") or not plain.isprintable():
        raise ModelFileError(
            "this path is refused", place=file.name, got=repr(name), expected="a file in the folder of the model"
        )
    path = (root / folder / plain).resolve()
    if not path.is_relative_to(root):
        raise ModelFileError("this path leaves the folder of the model", place=file.name, got=repr(name))
    return path


def _compiled(file: Path) -> tuple[Any, Any]:
    """MuJoCo, and the model it makes of the file."""
    try:
        import mujoco
    except ImportError as e:
        raise UsageError("MuJoCo is not installed", got=str(e), advice="pip install 'onesided[robots]'") from e
    try:
        return mujoco, mujoco.MjModel.from_xml_path(os.fspath(file.resolve()))
    except (ValueError, mujoco.FatalError) as e:
        raise ModelFileError("MuJoCo cannot read the file", place=file.name, got=str(e)) from None


class _Geom(NamedTuple):
    """A shape: its number, the place that carries it, centre and axes in space."""

    number: int
    place: str
    centre: Array
    axes: Array


class _Robot:
    """A compiled model at a start, as parts."""

    def __init__(self, file: str, mujoco: Any, model: Any, positions: dict[str, float]) -> None:
        self.file, self.mujoco, self.m = file, mujoco, model
        self.d = mujoco.MjData(model)
        self._set(positions)
        mujoco.mj_kinematics(model, self.d)
        mujoco.mj_comPos(model, self.d)
        self.place = [WORLD] * model.nbody
        self.frames: dict[str, tuple[Array, Array]] = {WORLD: (np.zeros(3), np.eye(3))}
        self._missed: set[str] = set()

    def _set(self, positions: dict[str, float]) -> None:
        numbers = {self.m.joint(j).name: j for j in range(self.m.njnt) if self._joint_kind(j) in ("hinge", "slide")}
        for name, value in positions.items():
            if name not in numbers:
                raise unknown_name("joint", name, numbers)
            self.d.qpos[self.m.jnt_qposadr[numbers[name]]] = value

    def features(self) -> tuple[str, ...]:
        """What the file has beside bodies, joints and contacts."""
        m = self.m
        found = {
            "damping": np.any(m.dof_damping), "armature": np.any(m.dof_armature),
            "frictionloss": np.any(m.dof_frictionloss), "stiffness": np.any(m.jnt_stiffness), "actuators": m.nu,
            "equality": m.neq, "tendons": m.ntendon, "fluid": m.opt.density or m.opt.viscosity,
            "contacts": "contacts" in self._missed,
        }  # fmt: skip
        return tuple(name for name, there in found.items() if there)

    def parts(self) -> Iterator[Part]:
        """All parts, bodies before what is on them."""
        yield Body(WORLD, (0.0, 0.0, 0.0), fixed=True)
        for i in range(1, self.m.nbody):
            yield from self._body(i)
        yield from self._contacts()
        yield Gravity("gravity", tuple(map(float, self.m.opt.gravity)))

    # bodies and joints

    def _body(self, i: int) -> Iterator[Part]:
        m, d = self.m, self.d
        parent, joints = self.place[m.body_parentid[i]], range(m.body_jntadr[i], m.body_jntadr[i] + m.body_jntnum[i])
        if not len(joints) and (parent == WORLD or m.body_mass[i] == 0.0):
            self.place[i] = parent
            return
        name, centre, axes = m.body(i).name or f"body{i}", np.array(d.xipos[i]), np.array(d.ximat[i]).reshape(3, 3)
        between = [*(f"{name}_{self._joint_name(j)}" for j in list(joints)[:-1]), name]
        for one in between:
            massive = one == name
            inertia = tuple(map(float, m.body_inertia[i])) if massive else (0.0, 0.0, 0.0)
            self.frames[one] = centre, axes
            yield Body(
                one, tuple(map(float, centre)), turned=_turned(axes), inertia=inertia,
                mass=float(m.body_mass[i]) if massive else 0.0,
            )  # fmt: skip
        self.place[i] = name
        if not len(joints):
            yield Fixed(f"{name}_weld", (parent, name))
        for j, pair in zip(joints, zip([parent, *between], between, strict=False), strict=False):
            yield from self._joint(j, pair)

    def _joint_kind(self, j: int) -> str:
        return str(self.mujoco.mjtJoint(int(self.m.jnt_type[j])).name).removeprefix("mjJNT_").lower()

    def _joint_name(self, j: int) -> str:
        return str(self.m.joint(j).name or f"joint{j}")

    def _joint(self, j: int, between: tuple[str, str]) -> Iterator[Part]:
        kind, name = self._joint_kind(j), self._joint_name(j)
        at = tuple(map(float, self.d.xanchor[j]))
        axis = tuple(map(float, self.frames[between[0]][1].T @ self.d.xaxis[j]))
        if kind == "ball":
            yield Spherical(name, between, at)
            if self.m.jnt_limited[j]:
                raise ModelFileError(f"the limit of ball joint '{name}' is not offered", place=self.file)
        elif kind == "hinge":
            yield Revolute(name, between, at, axis)
        elif kind == "slide":
            yield Prismatic(name, between, at, axis)
        if self.m.jnt_limited[j] and kind in ("hinge", "slide"):
            now = self.d.qpos[self.m.jnt_qposadr[j]]
            low, high = (float(limit - now) for limit in self.m.jnt_range[j])
            if kind == "hinge":
                yield AngleStop(f"{name}_limit", between, axis, lower=low, upper=high)
            else:
                yield TravelStop(f"{name}_limit", between=between, axis=axis, lower=low, upper=high)

    # contacts

    def _contacts(self) -> Iterator[Part]:
        m, d = self.m, self.d
        geoms = [
            _Geom(g, self.place[m.geom_bodyid[g]], np.array(d.geom_xpos[g]), np.array(d.geom_xmat[g]).reshape(3, 3))
            for g in range(m.ngeom)
        ]
        spheres: dict[int, str] = {}
        for first, second in self._pairs(geoms):
            types = self._geom_kind(first), self._geom_kind(second)
            if types == ("sphere", "sphere"):
                names = []
                for one in (first, second):
                    if one.number not in spheres:
                        spheres[one.number] = f"{self._geom_name(one)}_centre"
                        yield self._marker(spheres[one.number], one.place, one.centre)
                    names.append(spheres[one.number])
                radii = float(m.geom_size[first.number, 0]), float(m.geom_size[second.number, 0])
                pair = f"{self._geom_name(first)}_{self._geom_name(second)}"
                yield RoundContact(pair, (names[0], names[1]), radii)
            elif "plane" in types:
                plane, other = (first, second) if types[0] == "plane" else (second, first)
                yield from self._on_plane(plane, other)
            else:
                self._missed.add("contacts")

    def _pairs(self, geoms: list[_Geom]) -> Iterator[tuple[_Geom, _Geom]]:
        """Shapes that may touch: on different bodies that are not neighbours, and not kept apart by the file."""
        m = self.m
        apart = {tuple(sorted((int(s) >> 16, int(s) & 0xFFFF))) for s in m.exclude_signature}
        for k, first in enumerate(geoms):
            for second in geoms[k + 1 :]:
                a, b, bodies = first.number, second.number, [int(m.geom_bodyid[g.number]) for g in (first, second)]
                meets = (m.geom_contype[a] & m.geom_conaffinity[b]) | (m.geom_contype[b] & m.geom_conaffinity[a])
                welds = [int(m.body_weldid[i]) for i in bodies]
                roots = [int(m.body_weldid[m.body_parentid[w]]) for w in welds]
                near = 0 not in welds and (roots[0] == welds[1] or roots[1] == welds[0])
                if meets and first.place != second.place and not near and tuple(sorted(bodies)) not in apart:
                    yield first, second

    def _geom_kind(self, geom: _Geom) -> str:
        return str(self.mujoco.mjtGeom(int(self.m.geom_type[geom.number])).name).removeprefix("mjGEOM_").lower()

    def _geom_name(self, geom: _Geom) -> str:
        return str(self.m.geom(geom.number).name or f"geom{geom.number}")

    def _marker(self, name: str, place: str, point: Array) -> Marker:
        centre, axes = self.frames[place]
        return Marker(name, place, tuple(map(float, axes.T @ (point - centre))))

    def _on_plane(self, plane: _Geom, other: _Geom) -> Iterator[Part]:
        points = self._corners(other)
        if points is None or plane.place != WORLD:
            self._missed.add("contacts")
            return
        corners, radius = points
        normal, through = tuple(map(float, plane.axes[:, 2])), tuple(map(float, plane.centre))
        base = f"{self._geom_name(plane)}_{self._geom_name(other)}"
        for k, corner in enumerate(corners):
            name = base if len(corners) == 1 else f"{base}_{k}"
            yield self._marker(f"{name}_point", other.place, corner)
            yield PlaneContact(name, f"{name}_point", normal, through, radius=radius)

    def _corners(self, geom: _Geom) -> tuple[Array, float] | None:
        """Points and a radius around them whose hull the shape is; None where it is no such hull."""
        kind, size = self._geom_kind(geom), self.m.geom_size[geom.number]
        if kind == "sphere":
            return geom.centre[None], float(size[0])
        if kind == "capsule":
            reach = geom.axes[:, 2] * size[1]
            return np.array([geom.centre - reach, geom.centre + reach]), float(size[0])
        if kind == "box":
            signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1], indexing="ij")).reshape(3, -1).T
            return geom.centre + (signs * size) @ geom.axes.T, 0.0
        if kind == "mesh":
            return self._hull(geom)
        return None

    def _hull(self, geom: _Geom) -> tuple[Array, float] | None:
        mesh = int(self.m.geom_dataid[geom.number])
        first = int(self.m.mesh_vertadr[mesh])
        points = np.array(self.m.mesh_vert[first : first + int(self.m.mesh_vertnum[mesh])], dtype=float)
        corners = points[scipy.spatial.ConvexHull(points).vertices]
        return (geom.centre + corners @ geom.axes.T, 0.0) if len(corners) <= MOST_CORNERS else None


def _turned(axes: Array) -> tuple[float, ...]:
    """The rotation vector of a rotation matrix; half turns are given by their axis."""
    if float(np.trace(axes)) > -0.9:
        return tuple(map(float, rotation_vector(*matrix_quaternion(axes))))
    values, vectors = np.linalg.eig(axes)
    axis = np.real(vectors[:, int(np.argmin(np.abs(values - 1.0)))])
    turn = np.array([axes[2, 1] - axes[1, 2], axes[0, 2] - axes[2, 0], axes[1, 0] - axes[0, 1]])
    angle = np.arctan2(float(axis @ turn) / 2.0, (float(np.trace(axes)) - 1.0) / 2.0)
    return tuple(map(float, angle * axis))
