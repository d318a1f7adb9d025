"""Sketches and measures: data that survives saving, refuses nonsense, and agrees with the model."""

import json

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onesided
from onesided import zoo
from onesided.base.errors import ModelError, ModelFileError
from onesided.results import Circle, Ground, Line, Silhouette, Sketch, columns
from onesided.results.sketch import read_sketch, sketch_record
from onesided.system.measures import Elementwise, evaluate_measures

SKETCH = Sketch(
    points={"a": (0.0, "x"), "b": (1.0, 2.0)},
    lines=(Line(("a", "b"), "cable"),),
    circles=(Circle("a", 0.5, "x"),),
    grounds=(Ground("b", (0.0, 1.0)), Ground("b", (1.0, "x"), 2.0)),
    bodies=(Silhouette("a", "x", ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))),),
    marks={"stop": (("a",), ("a", "b"))},
)


def traced(name, **options):
    system, task = zoo.load(name)
    options = {"direction": task.direction, "p_bounds": task.p_bounds, **options}
    return system, onesided.trace(system, task.start, task.p, **options)


def test_a_sketch_survives_json():
    text = json.dumps(sketch_record(SKETCH), allow_nan=False)
    again = read_sketch(json.loads(text))
    assert sketch_record(again) == sketch_record(SKETCH)
    assert again.names() == ("x",)


@pytest.mark.parametrize(
    "wrong",
    [
        {"points": {}},
        {"points": {"a": (0.0,)}},
        {"points": {"a": (0.0, 1.0), "b": (0.0, 1.0, 2.0)}},
        {"points": {"a": (0.0, float("nan"))}},
        {"points": {"a": (0.0, 1.0)}, "lines": (Line(("a", "c")),)},
        {"points": {"a": (0.0, 1.0)}, "lines": (Line(("a",)),)},
        {"points": {"a": (0.0, 1.0)}, "lines": (Line(("a", "a"), "rope"),)},
        {"points": {"a": (0.0, 1.0)}, "grounds": (Ground("a", (0.0, 1.0, 0.0)),)},
        {"points": {"a": (0.0, 1.0)}, "marks": {"stop": (("c",),)}},
    ],
)
def test_nonsense_is_refused(wrong):
    with pytest.raises(ModelError):
        Sketch(**wrong)


def test_the_bar_keeps_its_length_and_the_tip_follows_its_angle():
    _, path = traced("corner-limit")
    tip = path.sketch.positions(columns(path))["tip"]
    np.testing.assert_allclose(tip, np.column_stack([np.cos(path.q[:, 0]), np.sin(path.q[:, 0])]), atol=1e-15)
    np.testing.assert_allclose(path.sketch.positions(columns(path))["slider"][:, 1], path.p, atol=0)


def test_sketch_and_measures_are_saved_with_a_path(tmp_path):
    _, path = traced("two-bar-roller")
    onesided.save(path, tmp_path / "r")
    again = onesided.load_result(tmp_path / "r")
    assert list(again.measures) == list(path.measures)
    for name, values in path.measures.items():
        assert np.array_equal(again.measures[name], values)
    assert sketch_record(again.sketch) == sketch_record(path.sketch)


def test_results_of_the_first_release_still_load(tmp_path):
    _, path = traced("wedge")
    folder = onesided.save(path, tmp_path / "r")
    record = json.loads((folder / "result.json").read_text())
    for key in ("measures", "sketch", "files", "digest"):
        del record[key]
    record["format"] = 1
    (folder / "result.json").write_text(json.dumps(record))
    arrays = dict(np.load(folder / "arrays.npz"))
    del arrays["measures"]
    np.savez(folder / "arrays.npz", **arrays)
    again = onesided.load_result(folder)
    assert (again.sketch, dict(again.measures)) == (None, {})


def test_definitions_are_measures_and_equal_their_formula():
    _, path = traced("two-bar-roller")
    x, y, u = path.q.T
    np.testing.assert_allclose(path.measures["left"], np.hypot(x, y), rtol=1e-14)
    np.testing.assert_allclose(path.measures["right"], np.hypot(2 + u - x, y), rtol=1e-14)


@given(
    q=st.lists(st.lists(st.floats(-3, 3), min_size=3, max_size=3), min_size=1, max_size=6),
)
def test_measures_of_any_kind_are_those_of_each_point(q):
    array = np.array(q)
    p = np.arange(len(array), dtype=float)
    measures = {
        "component": lambda q, p, th: q[1] * p,
        "constant": lambda q, p, th: th.k,
        "whole": lambda q, p, th: jnp.sum(q**2) + p,
        "norm": lambda q, p, th: np.linalg.norm(q),
        "columns": Elementwise(lambda q, p, th: q[0] + p * th.k),
        "branch": lambda q, p, th: q[0] if q[0] > 0 else 0.0,
    }
    found = evaluate_measures(measures, array, p, {"k": 7.0})
    for name, measure in measures.items():
        function = measure.function if isinstance(measure, Elementwise) else measure
        one_by_one = [float(function(row, value, onesided.evaluation.user_functions.Parameters(k=7.0)))
                      for row, value in zip(array, p, strict=True)]  # fmt: skip
        np.testing.assert_allclose(found[name], one_by_one, rtol=1e-6, atol=1e-12, err_msg=name)


def test_a_measure_that_is_no_number_is_refused():
    with pytest.raises(ModelError, match="measure 'm' gives no number"):
        evaluate_measures({"m": lambda q, p, th: q}, np.zeros((2, 3)), np.zeros(2), {})


BASE = (
    "energy = 'x**2 - p*x'\n[coordinates]\nx = 0.0\n[control]\nrange = [0, 1]\n[unilateral]\nwall = '1 - x'\n[sketch]\n"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("points = {a = [0, 'y']}", "y"),
        ("points = {a = [0, 'x.real']}", "sketch.points.a"),
        ("points = {a = [0]}", "wrong number of entries"),
        ("points = {a = [0, 'x']}\nlines.rope = ['a a']", "rope"),
        ("points = {a = [0, 'x']}\nlines.bar = ['a b']", "uses the point 'b'"),
        ("points = {a = [0, 'x']}\nmarks.floor = ['a']", "`floor` is not a constraint"),
        ("points = {a = [0, 'x']}\nline.bar = ['a a']", "unknown key 'line'"),
    ],
)
def test_mistakes_in_a_files_sketch_are_named(text, message):
    with pytest.raises(ModelFileError) as caught:
        onesided.loads(BASE + text)
    assert message in str(caught.value)


def test_parameters_changed_later_move_the_sketch():
    system, task = zoo.load("von-mises-floor")
    path = onesided.trace(system.replace(parameters={"ys": -0.45}), task.start, task.p, p_bounds=task.p_bounds)
    assert np.all(path.measures["foot.y"] == -0.45)
