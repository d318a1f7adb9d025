"""Series by name, tables, CSV, pandas, VTK and pickle: what goes out comes back equal."""

import csv
import dataclasses
import inspect
import pickle
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import onesided
from onesided import elements
from onesided.base.errors import ModelError, UsageError


def energy(q, p, th):
    return th.k * (q[0] - p) ** 2 / 2


def wall(q, p, th):
    return q[0]


@pytest.fixture(scope="module")
def block():
    return onesided.System(("x",), energy, unilateral={"wall": wall}, parameters={"k": 2.0}, control="u")


@pytest.fixture(scope="module")
def path(block):
    return onesided.trace(block, [1.0], 1.0, direction=-1, p_bounds=(-1.0, 1.0))


@pytest.fixture(scope="module")
def truss():
    model = onesided.zoo.load("von-mises-floor")
    return model.system, model.task


@pytest.fixture(scope="module")
def history(truss):
    return onesided.drive(truss[0], truss[1].start, truss[1].programme)


@pytest.fixture(scope="module")
def motion():
    fall = onesided.System(("x",), lambda q, p, th: 10.0 * q[0], mass=lambda q, th: np.eye(1))
    return onesided.simulate(fall, [5.0], [0.0], (0.0, 1.0), control=0.0)


def test_series_by_name(path):
    np.testing.assert_array_equal(path["x"], path.q[:, 0])
    np.testing.assert_array_equal(path[["p", "x"]], np.column_stack([path.p, path.q[:, 0]]))
    for name, values in {"u": path.p, "p": path.p, "s": path.s, "reaction wall": path.lam[:, 0]}.items():
        np.testing.assert_array_equal(path[name], values)
    assert set(path._ipython_key_completions_()) == set(path.keys()) == set(path)
    assert "gap wall" in path
    assert all(path[name].shape == (len(path),) for name in path)


def test_a_wrong_name_gets_the_right_one(path):
    with pytest.raises(UsageError, match=r"did you mean 'reaction wall' or 'gap wall'\?"):
        path["wall"]
    with pytest.raises(UsageError, match="did you mean 'energy'"):
        path["enrgy"]
    with pytest.raises(UsageError, match=r"result\.q\[i\]"):
        path[0]


def test_members_are_found_after_the_rest(path):
    held = dataclasses.replace(path)
    object.__setattr__(held, "members", {"bar.force": 2.0 * path.p, "x": path.p})
    np.testing.assert_array_equal(held["bar.force"], 2.0 * path.p)
    np.testing.assert_array_equal(held["x"], path.q[:, 0])
    assert "bar.force" in held.to_dict()


def read_csv(file):
    with file.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_csv_comes_back_equal(path, motion, history, tmp_path):
    for i, result in enumerate((path, motion, history)):
        wanted, found = result.to_dict(), read_csv(result.to_csv(tmp_path / f"{i}.csv"))
        assert list(found) == list(wanted)
        for name, values in wanted.items():
            if name == "event":
                assert found[name] == list(values)
            else:
                np.testing.assert_array_equal(np.array(found[name], dtype=float), values)


def test_events_stand_beside_their_points(path, history):
    told = path.to_dict()["event"]
    assert [(i, text) for i, text in enumerate(told) if text] == [
        (event.index, event.words()) for event in path.events if event.kind is not onesided.Kind.bound
    ]
    flat = history.to_dict()
    assert len(flat["p"]) == sum(len(leg) for leg in history.paths)
    assert set(flat["segment"]) == set(range(len(history.paths)))
    jumps = [i for i, text in enumerate(flat["event"]) if "jump at" in text]
    assert [flat["p"][i] for i in jumps] == [jump.p for jump in history.jumps]
    assert len(jumps) == 2


def test_a_diagram_is_one_table(truss):
    system, task = truss
    found = onesided.diagram(system, task.start, task.p, p_bounds=task.p_bounds)
    flat = found.to_dict()
    for i, branch in enumerate(found.paths):
        rows = flat["branch"] == i
        np.testing.assert_array_equal(flat["arc length"][rows], branch.s)
        assert set(flat["parent"][rows]) == {found.parents[i]}
    assert found["energy"].shape == flat["energy"].shape


def test_pandas(path, history, tmp_path):
    pandas = pytest.importorskip("pandas")
    for result in (path, history):
        frame = result.to_pandas()
        assert list(frame.columns) == list(result.to_dict())
        again = pandas.read_csv(result.to_csv(tmp_path / "t.csv"), engine="python", keep_default_na=False)
        np.testing.assert_array_equal(again[list(result.keys())], frame[list(result.keys())])
        assert list(again["event"]) == list(frame["event"])


def test_vtk_comes_back_equal(history, tmp_path):
    meshio = pytest.importorskip("meshio")
    file = history.to_vtk(tmp_path / "truss.pvd", frames=7)
    sets = list(ET.parse(file).getroot().iter("DataSet"))
    times = [float(one.get("timestep")) for one in sets]
    assert len(sets) == 7
    assert times == sorted(times)
    first, last = (meshio.read(tmp_path / one.get("file")) for one in (sets[0], sets[-1]))
    leg = history.paths[-1]
    places = leg.sketch.positions(leg.to_dict())
    wanted = np.array([[*at[-1], 0.0] for at in places.values()])
    np.testing.assert_array_equal(last.points[: len(wanted)], wanted)
    np.testing.assert_array_equal(last.point_data["displacement"], last.points - first.points)
    np.testing.assert_array_equal(last.point_data["p"], leg.p[-1])
    assert last.point_data["reaction"].sum() == pytest.approx(leg.lam[-1].sum(), rel=1e-15)
    history.to_vtk(tmp_path / "truss.pvd", frames=3)
    assert len(list((tmp_path / "truss").iterdir())) == 3
    with pytest.raises(UsageError, match=r"ends in \.pvd"):
        history.to_vtk(tmp_path / "truss.vtu")


def test_what_has_no_shape_is_refused(path, tmp_path):
    pytest.importorskip("meshio")
    with pytest.raises(UsageError, match="no sketch"):
        path.to_vtk(tmp_path / "x.pvd")


def same(one, two, q, p):
    nu = np.ones(len(one.constraint_names))
    a, b = one.residual(q, p, nu), two.residual(q, p, nu)
    assert a[0] == b[0]
    np.testing.assert_array_equal(a[1], b[1])
    np.testing.assert_array_equal(a[2], b[2])


def test_systems_travel(block, truss):
    changed = block.replace(parameters={"k": 3.0})
    again = pickle.loads(pickle.dumps(changed))
    assert again.parameters["k"] == 3.0
    same(changed, again, [0.7], 0.2)
    system, task = truss
    same(system, pickle.loads(pickle.dumps(system)), task.start, 0.1)


def test_a_loaded_model_travels_with_its_task():
    model = onesided.zoo.load("corner-limit")
    again = pickle.loads(pickle.dumps(model))
    same(model.system, again.system, model.task.start, 0.1)
    assert again.task.given == model.task.given
    assert again.system.start.tolist() == model.task.start.tolist()
    assert again.task.motion.control(0.3) == model.task.motion.control(0.3)


def test_a_composed_system_travels_with_all_that_was_said():
    parts = (
        elements.Node("a", (0.0, 0.0), fixed=True),
        elements.Node("top", (1.0, "h"), fixed="x"),
        elements.Bar("rafter", ("a", "top"), stiffness=1.0),
        elements.Force("load", "top", (0.0, -1.0)),
    )
    system = onesided.compose((part for part in parts), parameters={"h": 0.5}, control="u")
    said = {*inspect.signature(onesided.compose).parameters} - {"parts"}
    assert said == set(system.made.kwargs)
    changed = system.replace(parameters={"h": 0.4})
    again = pickle.loads(pickle.dumps(changed))
    assert again.control == "u"
    np.testing.assert_array_equal(again.start, changed.start)
    same(changed, again, [0.3], 0.1)


def test_functions_without_a_name_need_cloudpickle(monkeypatch):
    system = onesided.System(("x",), lambda q, p, th: (q[0] - p) ** 2)
    monkeypatch.setitem(__import__("sys").modules, "cloudpickle", None)
    with pytest.raises(ModelError, match="cloudpickle"):
        pickle.dumps(system)
    monkeypatch.undo()
    pytest.importorskip("cloudpickle")
    same(system, pickle.loads(pickle.dumps(system)), [0.7], 0.2)


def test_results_travel(path, motion, history):
    for result in (path, motion, history, path.events[0]):
        again = pickle.loads(pickle.dumps(result))
        assert repr(again) == repr(result)
