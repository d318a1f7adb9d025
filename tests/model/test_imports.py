"""Trusses from CSV and meshes: equal to the same truss composed by hand; mistakes with file and line."""

import builtins
import math
import re
from functools import cache

import numpy as np
import pytest

import onesided
from onesided import elements
from onesided.base.errors import ModelError, ModelFileError, UsageError
from onesided.files import imports
from onesided.files.reading import load, loads

NODES = "name,x,y,fix,fy\na,0,0,all,\nb,2.0,0,xy,\ntop,1,0.5,,-1\n"
MEMBERS = "a,b,EA,kind\na,top,10,bar\nb,top,10,bar\na,b,EA,cable\n"
MODEL = '[control]\nrange = [0, 1]\n[parameters]\nEA = 7.0\n[import]\nnodes = "nodes.csv"\nmembers = "members.csv"\n'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "nodes.csv").write_text(NODES)
    (tmp_path / "members.csv").write_text(MEMBERS)
    (tmp_path / "model.toml").write_text(MODEL)
    return tmp_path


@cache
def by_hand():
    return onesided.compose(
        elements.Node("a", (0, 0), fixed=True),
        elements.Node("b", (2, 0), fixed=True),
        elements.Node("top", (1, 0.5)),
        elements.Force("load_top", "top", (0, -1)),
        elements.Bar("left", ("a", "top"), modulus_area=10),
        elements.Bar("right", ("b", "top"), modulus_area=10),
        elements.Cable("tie", ("a", "b"), modulus_area=7.0),
    )


def assert_same(one, other):
    q, nu = np.array([1.1, 0.3, 0.2]), np.array([0.5])
    for a, b in zip(one.evaluate(q, 0.3, nu), other.evaluate(q, 0.3, nu), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-14)


def test_two_files(folder):
    parts = onesided.read_truss(folder / "nodes.csv", folder / "members.csv")
    assert [part.name for part in parts[-3:]] == ["bar1", "bar2", "cable3"]
    assert_same(onesided.compose(parts, parameters={"EA": 7.0}), by_hand())


def test_one_file_with_sections_semicolons_commas_and_numbers(tmp_path):
    file = tmp_path / "truss.csv"
    file.write_text(
        "# a comment\n[Nodes]\nID;X;Y;fix_x;fix_y;Fy\n1;0;0;1;1;\n2;2,0;0;1;1;0\n3;1;0,5;0;0;-1\n\n"
        "[Members]\nfrom;to;ea;type\n1;3;10;bar\n2;3;10;\n1;2;7;cable\n"
    )
    parts = onesided.read_truss(file)
    assert [part.name for part in parts if isinstance(part, elements.Node)] == ["n1", "n2", "n3"]
    assert_same(onesided.compose(parts), by_hand())


def test_space_and_natural_length(tmp_path):
    (tmp_path / "n.csv").write_text("node\tx\ty\tz\tfixed\n1\t0\t0\t0\t1\n2\t0\t0\t1\txy\n")
    (tmp_path / "m.csv").write_text("i\tj\tk\tl0\n1\t2\t3.0\t0.5\n")
    system = onesided.compose(onesided.read_truss(tmp_path / "n.csv", tmp_path / "m.csv", kind="spring"))
    assert system.coordinates == ("n2_z",)
    assert system.evaluate(np.array([2.0]), 0.0, np.zeros(0)).energy == pytest.approx(3 / 2 * 1.5**2)


def test_model_file_imports_and_overrides(folder):
    assert_same(load(folder / "model.toml").system, by_hand())
    text = MODEL + '[node.top]\nfixed = "x"\n[bar]\npretension = 0.1\n'
    (folder / "model.toml").write_text(text)
    system, _ = load(folder / "model.toml")
    assert system.coordinates == ("top_y", "cable3_slack")
    force = 2 * 0.1 * 0.5 / math.hypot(1, 0.5)
    assert system.evaluate(np.array([0.5, 0.0]), 0.0, np.zeros(1)).L_q[0] == pytest.approx(force)


CSV = {
    "column": (NODES.replace("fix", "fixes"), MEMBERS, "nodes.csv, line 1", "did you mean `fix"),
    "missing column": (NODES.replace(",y,", ",z,"), MEMBERS, "nodes.csv, line 1", "`y` is missing"),
    "column twice": (NODES.replace("fy", "fix"), MEMBERS, "nodes.csv, line 1", "two columns"),
    "number": (NODES.replace("2.0", "2.0.0"), MEMBERS, "nodes.csv, line 3", ""),
    "code": (NODES.replace("2.0", "__import__('os')"), MEMBERS, "nodes.csv, line 3", ""),
    "fix": (NODES.replace("xy", "roller"), MEMBERS, "nodes.csv, line 3", "`fix` is not clear"),
    "empty": (NODES.replace("2.0", ""), MEMBERS, "nodes.csv, line 3", "`x` is empty"),
    "long line": (NODES.replace("-1", "-1,5"), MEMBERS, "nodes.csv, line 4", "longer"),
    "kind": (NODES, MEMBERS.replace("cable", "cabel"), "members.csv, line 4", "did you mean `cable`"),
    "name": (NODES.replace("top,", "t{o}p,"), MEMBERS, "nodes.csv, line 4", "cannot be used"),
    "quote": (NODES.replace("b,2.0", '"b,2.0'), MEMBERS, "nodes.csv", "quotation mark"),
    "nothing": (NODES, "a,b,EA\n", "nodes.csv", "no members"),
}


@pytest.mark.parametrize("case", CSV)
def test_mistakes_in_csv_have_file_and_line(folder, case):
    nodes, members, place, what = CSV[case]
    (folder / "nodes.csv").write_text(nodes)
    (folder / "members.csv").write_text(members)
    for action in (
        lambda: onesided.read_truss(folder / "nodes.csv", folder / "members.csv"),
        lambda: load(folder / "model.toml"),
    ):
        with pytest.raises(ModelFileError) as caught:
            action()
        assert caught.value.place.endswith(place)
        assert what in str(caught.value)


def test_mistakes_found_when_composing_have_file_and_line(folder):
    (folder / "members.csv").write_text(MEMBERS.replace("b,top", "b,tip"))
    with pytest.raises(ModelFileError, match=r"members.csv, line 3: unknown place .*did you mean 'top'"):
        load(folder / "model.toml")
    (folder / "members.csv").write_text(MEMBERS.replace("b,top,10", "b,top,EB"))
    with pytest.raises(ModelFileError, match=r"members.csv, line 3: .*unknown name `EB`"):
        load(folder / "model.toml")


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../nodes.csv", "a/../../nodes.csv", "C:/x.csv", "..\\nodes.csv", "", "link.csv", "a\u0000b"],
)
def test_imports_stay_in_the_folder(folder, path):
    inner = folder / "inner"
    inner.mkdir()
    (inner / "link.csv").symlink_to(folder / "nodes.csv")
    text = MODEL.replace('"nodes.csv"', f'"{path}"'.replace("\\", "\\\\").replace("\0", "\\u0000"))
    (inner / "model.toml").write_text(text)
    with pytest.raises(ModelFileError, match=r"import\.nodes"):
        load(inner / "model.toml")


def test_other_refusals(folder, monkeypatch):
    with pytest.raises(ModelFileError, match="given as text cannot import"):
        loads(MODEL)
    with pytest.raises(ModelFileError, match="not clear"):
        loads(MODEL.replace('members = "members.csv"\n', ""), folder=folder)
    with pytest.raises(ModelFileError, match="cannot be read"):
        loads(MODEL.replace('"nodes.csv"', '"none.csv"'), folder=folder)
    with pytest.raises(ModelFileError, match="not a regular file"):
        onesided.read_truss(folder)
    (folder / "nodes.csv").write_bytes(b"\xff\xfe")
    with pytest.raises(ModelFileError, match="UTF-8"):
        load(folder / "model.toml")
    monkeypatch.setattr(imports, "MAX_BYTES", 1)
    with pytest.raises(ModelFileError, match="too large"):
        load(folder / "model.toml")


def test_mesh(tmp_path):
    meshio = pytest.importorskip("meshio")
    points = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [9.0, 9.0, 0.0], [1.0, 0.5, 0.0]]
    meshio.write(tmp_path / "net.vtk", meshio.Mesh(points, [("line", [[0, 3], [1, 3]])]))
    parts = onesided.read_mesh(tmp_path / "net.vtk", elements.Bar("", modulus_area=10))
    assert [part.name for part in parts] == ["n0", "n1", "n3", "bar0", "bar1"]
    text = '[control]\nrange=[0, 1]\n[import]\nmesh = "net.vtk"\nkind = "spring"\n[spring]\nmodulus_area = 10\n'
    text += "[node.n0]\nfixed = true\n[node.n1]\nfixed = true\n[force.load]\nat = 'n3'\nforce = [0, -1]\n"
    system, task = loads(text, folder=tmp_path)
    np.testing.assert_allclose(task.start, [1.0, 0.5])
    l0 = math.hypot(1, 0.5)
    expected = 10 / l0 * (math.hypot(1, 0.3) - l0) ** 2 + 0.2 * 0.3
    assert system.evaluate(np.array([1.0, 0.3]), 0.2, np.zeros(0)).energy == pytest.approx(expected)
    meshio.write(tmp_path / "flat.vtk", meshio.Mesh(points, [("triangle", [[0, 1, 3]])]))
    with pytest.raises(ModelFileError, match="no line elements; got triangle"):
        onesided.read_mesh(tmp_path / "flat.vtk")
    (tmp_path / "broken.vtk").write_text("nonsense")
    with pytest.raises(ModelFileError, match="cannot be read"):
        onesided.read_mesh(tmp_path / "broken.vtk")
    with pytest.raises(ModelFileError, match="this format is not read"):
        loads(text.replace("net.vtk", "net.xdmf"), folder=tmp_path)


def test_without_meshio_the_error_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "net.vtk").write_text("x")
    original = builtins.__import__

    def refuse(name, *rest):
        if name == "meshio":
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ModelFileError, match="pip install"):
        onesided.read_mesh(tmp_path / "net.vtk")


MSH = (
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{count}\n1 0 0 0\n2 1 0 0\n7 1 1 0\n$EndNodes\n"
    "$Elements\n1\n1 1 2 1 1 {ends}\n$EndElements\n"
)
MSH4 = (
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
    "$Nodes\n1 {count} 1 7\n1 1 0 {count}\n1\n2\n7\n0 0 0\n1 0 0\n1 1 0\n$EndNodes\n"
    "$Elements\n1 1 1 1\n1 1 1 1\n1 {ends}\n$EndElements\n"
)
VTK = (
    "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {count} double\n0 0 0\n1 0 0\n1 1 0\n"
    "CELLS 1 3\n2 {ends}\nCELL_TYPES 1\n3\n"
)
MESHES = {"msh": (MSH, "1 2", "1 7"), "msh4": (MSH4, "1 2", "1 7"), "vtk": (VTK, "0 1", "0 2")}


@pytest.mark.parametrize("kind", MESHES)
def test_meshes_join_the_nodes_they_name_or_are_refused(kind, tmp_path):
    text, *good = MESHES[kind]
    file = tmp_path / f"m.{kind[:3]}"
    for ends, length in zip(good, (1.0, 2**0.5), strict=True):
        file.write_text(text.format(count=3, ends=ends))
        first, second = (np.array(part.at) for part in onesided.read_mesh(file)[:2])
        assert np.linalg.norm(first - second) == pytest.approx(length)
    for ends in ("1 9", "1 -1", "-1 -2", "1 77777777", *(["1 0", "1 3"] if kind != "vtk" else [])):
        file.write_text(text.format(count=3, ends=ends))
        with pytest.raises(ModelFileError, match=r"not there|does not have|more than the file can"):
            onesided.read_mesh(file)
    for count in (10**9, 10**40):
        file.write_text(text.format(count=count, ends=good[0]))
        with pytest.raises(ModelFileError, match=r"more than the file can.*"):
            onesided.read_mesh(file)


def test_what_is_no_member_is_refused_by_name(folder):
    (folder / "members.csv").write_text(MEMBERS.replace("cable", "force"))
    with pytest.raises(ModelFileError, match="force is no member"):
        onesided.read_truss(folder / "nodes.csv", folder / "members.csv")
    file = folder / "m.vtk"
    file.write_text(VTK.format(count=3, ends="0 1"))
    with pytest.raises(UsageError, match="no member between two nodes"):
        onesided.read_mesh(file, elements.Force("", at="n0", force=(1.0, 0.0)))


def test_long_blank_lines_cost_nothing(tmp_path):
    file = tmp_path / "truss.csv"
    blank = " " * 200_000
    file.write_text(f"[nodes]\n{blank}\nname,x,y\na,0,0\nb,1,0\n{blank}x\n[members]\na,b,EA\na,b,1\n")
    with pytest.raises(ModelFileError):
        onesided.read_truss(file)


def test_control_characters_of_a_file_are_shown_and_not_obeyed(tmp_path):
    file = tmp_path / "m.msh"
    file.write_text("$MeshFormat\n\x1b[31mRED\u202e\u200b 0 8\n$EndMeshFormat\n")
    with pytest.raises(ModelFileError) as caught:
        onesided.read_mesh(file)
    assert str(caught.value).isprintable()
    assert r"\x1b" in str(caught.value)


TABLES = """[nodes]
name,x,y
a,-1,0
b,1,0
top,0,0.5
[members]
a,b,stiffness
a,top,1
b,top,1
[supports]
node,fix
a,xy
b,all
top,x
[loads]
node,fx,fy
top,0,-2
"""


def test_supports_and_loads_are_tables_of_their_own(tmp_path):
    """The same as columns of the nodes: U_y = 2 (ℓ − L) y/ℓ + 2 p."""
    (tmp_path / "truss.csv").write_text(TABLES)
    system = onesided.compose(onesided.read_truss(tmp_path / "truss.csv"))
    assert system.coordinates == ("top_y",)
    y, rest = 0.3, np.hypot(1.0, 0.5)
    exact = 2.0 * (np.hypot(1.0, y) - rest) * y / np.hypot(1.0, y) + 2.0 * 0.7
    assert system.residual([y], 0.7, [])[1] == pytest.approx([exact], rel=1e-13)
    parts = dict(zip(("nodes", "members", "supports", "loads"), re.split(r"\[\w+\]\n", TABLES)[1:], strict=True))
    files = {}
    for name, text in parts.items():
        files[name] = tmp_path / f"{name}.csv"
        files[name].write_text(text)
    apart = onesided.compose(onesided.read_truss(**files))
    assert apart.residual([y], 0.7, [])[1] == system.residual([y], 0.7, [])[1]
    (tmp_path / "truss.csv").write_text(TABLES.replace("top,x", "topp,x"))
    with pytest.raises(onesided.OnesidedError, match=r"no node 'topp'.*did you mean 'top'"):
        onesided.read_truss(tmp_path / "truss.csv")


GMSH = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
3
0 1 "feet"
0 2 "apex"
1 3 "bars"
$EndPhysicalNames
$Nodes
3
1 -1 0 0
2 1 0 0
3 0 0.5 0
$EndNodes
$Elements
5
1 15 2 1 1 1
2 15 2 1 2 2
3 15 2 2 3 3
4 1 2 3 1 1 3
5 1 2 3 2 2 3
$EndElements
"""


def test_physical_groups_are_supports_and_loads(tmp_path):
    pytest.importorskip("meshio")
    (tmp_path / "truss.msh").write_text(GMSH)
    supports, loads = {"feet": True, "apex": "x"}, {"apex": (0.0, -2.0)}
    system = onesided.compose(onesided.read_mesh(tmp_path / "truss.msh", supports=supports, loads=loads))
    assert system.coordinates == ("n2_y",)
    y, rest = 0.3, np.hypot(1.0, 0.5)
    exact = 2.0 * (np.hypot(1.0, y) - rest) * y / np.hypot(1.0, y) + 2.0 * 0.7
    assert system.residual([y], 0.7, [])[1] == pytest.approx([exact], rel=1e-13)
    text = "[control]\nrange=[0,1]\n[bar]\nstiffness = 1\n[import]\nmesh='truss.msh'\n"
    text += "supports={feet=true, apex='x'}\nloads={apex=[0,-2]}\n"
    (tmp_path / "truss.toml").write_text(text)
    assert onesided.load(tmp_path / "truss.toml").system.coordinates == ("n2_y",)
    with pytest.raises(onesided.OnesidedError, match="did you mean 'feet'"):
        onesided.read_mesh(tmp_path / "truss.msh", supports={"foot": True})


def test_a_drawing_is_a_truss(tmp_path):
    """Two lines and a polyline over the same place; layers hold supports and loads."""
    ezdxf = pytest.importorskip("ezdxf")
    drawing = ezdxf.new()
    space = drawing.modelspace()
    space.add_line((-1, 0), (0, 0.5), dxfattribs={"layer": "bars"})
    space.add_lwpolyline([(0, 0.5), (1, 0)], dxfattribs={"layer": "bars"})
    space.add_line((1, 0), (0, 0.5), dxfattribs={"layer": "bars"})  # drawn twice
    for x in (-1, 1):
        space.add_point((x, 0), dxfattribs={"layer": "feet"})
    space.add_point((0, 0.5), dxfattribs={"layer": "apex"})
    drawing.saveas(tmp_path / "truss.dxf")
    supports, loads = {"feet": True, "apex": "x"}, {"apex": (0.0, -2.0)}
    system = onesided.compose(onesided.read_dxf(tmp_path / "truss.dxf", supports=supports, loads=loads))
    y, rest = 0.3, np.hypot(1.0, 0.5)
    exact = 2.0 * (np.hypot(1.0, y) - rest) * y / np.hypot(1.0, y) + 2.0 * 0.7
    assert system.n == 1
    assert system.residual([y], 0.7, [])[1] == pytest.approx([exact], rel=1e-13)


TWO_BARS = "[nodes]\nname, x, y, fix\na, 0, 0, x\nb, 2, 0,\nc, 1, 1,\n[members]\na, b, EA\na, c, 9\nb, c, 9\n"


def test_supports_of_one_node_add_up(tmp_path):
    """A column, and two lines of a table: each holds what it says."""
    (tmp_path / "t.csv").write_text(TWO_BARS + "[supports]\nnode, fix\na, y\nb, x\nb, y\n[loads]\nnode, fx\nc, 1\n")
    assert onesided.compose(onesided.read_truss(tmp_path / "t.csv")).coordinates == ("c_x", "c_y")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("[loads]\nnode, fx, fz\nc, 1, 2\n", "leaves the plane"),
        ("[support]\nnode, fix\na, x\n", r"unknown section '\[support\]'.*supports"),
        ("[supports]\nnode, fix\na\n", "does not say what is held"),
    ],
)
def test_tables_that_would_lose_something(tmp_path, more, told):
    (tmp_path / "t.csv").write_text(TWO_BARS + more)
    with pytest.raises(onesided.ModelError, match=told):
        onesided.read_truss(tmp_path / "t.csv")


def test_a_support_drawn_off_the_lines_is_refused(tmp_path):
    ezdxf = pytest.importorskip("ezdxf")
    drawing = ezdxf.new()
    drawing.modelspace().add_line((0, 0), (1, 0))
    drawing.modelspace().add_point((0.5, 0), dxfattribs={"layer": "feet"})
    drawing.saveas(tmp_path / "bar.dxf")
    with pytest.raises(ModelFileError, match="at no end of a line"):
        onesided.read_dxf(tmp_path / "bar.dxf", supports={"feet": True})


OBJ = "# a pyramid\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0.5 0.5 1\ng feet\nl 1 2 3 4 1\ng\nl 1 5\nl -1 2\n"


def test_lines_of_an_obj_file_and_its_groups(tmp_path):
    (tmp_path / "p.obj").write_text(OBJ, encoding="utf-8")
    parts = onesided.read_mesh(tmp_path / "p.obj", supports={"feet": True})
    ends = [part.ends for part in parts if hasattr(part, "ends")]
    assert ends == [("n0", "n1"), ("n1", "n2"), ("n2", "n3"), ("n3", "n0"), ("n0", "n4"), ("n4", "n1")]
    assert [part.name for part in parts if getattr(part, "fixed", False) is True] == ["n0", "n1", "n2", "n3"]
    (tmp_path / "m.toml").write_text(
        '[import]\nmesh = "p.obj"\nsupports = {feet = true}\n[bar]\nstiffness = 1\n[control]\nrange = [0, 1]\n'
    )
    assert onesided.load(tmp_path / "m.toml").system.coordinates == ("n4_x", "n4_y", "n4_z")


@pytest.mark.parametrize("suffix", ["obj", "ply"])
def test_edges_of_faces_are_members_each_once(tmp_path, suffix):
    points, faces = ["0 0 0", "1 0 0", "1 1 0", "0 1 0"], [(0, 1, 2), (0, 2, 3)]
    if suffix == "obj":
        text = "\n".join([*(f"v {p}" for p in points), *(f"f {a + 1}/1/1 {b + 1} {c + 1}//2" for a, b, c in faces)])
    else:
        pytest.importorskip("meshio")
        head = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
        head += "element face 2\nproperty list uchar int vertex_indices\nend_header\n"
        text = head + "\n".join([*points, *(f"3 {a} {b} {c}" for a, b, c in faces)]) + "\n"
    (tmp_path / f"s.{suffix}").write_text(text, encoding="utf-8")
    ends = {frozenset(p.ends) for p in onesided.read_mesh(tmp_path / f"s.{suffix}") if hasattr(p, "ends")}
    assert ends == {frozenset((f"n{a}", f"n{b}")) for a, b in ((0, 1), (1, 2), (0, 2), (2, 3), (0, 3))}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("v 0 0 0\nl 1 2\n", "line 2: there is no such point"), ("v 0 0\n", "line 1: a point needs three"),
        ("v 0 0 x\n", "line 1: the mesh cannot be read"), ("v 0 0 0\nl 1\n", "needs two points"),
        ("v 0 0 0\nl 0 1\n", "line 2: there is no such point"), ("v 0 0 0\n", "no line elements"),
        ("", "no line elements"), ("v nan 0 0\nv 0 0 0\nl 1 2\n", "line 1: the mesh"),
    ],
)  # fmt: skip
def test_broken_obj_files_are_refused_with_the_line(tmp_path, text, why):
    (tmp_path / "b.obj").write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=why):
        onesided.compose(onesided.read_mesh(tmp_path / "b.obj"))
