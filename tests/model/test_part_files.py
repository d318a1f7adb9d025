"""Parts in model files: the same system as `compose` makes, repetition, formulas beside parts, mistakes with places."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import onesided
from onesided import elements, zoo
from onesided.base.errors import ModelError, ModelFileError
from onesided.cli.app import app
from onesided.files import part_tables
from onesided.files.part_kinds import part_kinds
from onesided.files.reading import loads
from onesided.files.schema import json_schema

CONTROL = "[control]\nrange = [-1.0, 1.0]\nstart = 0.0\n"
TRUSS = """\
title = "Two bars"
[parameters]
k = 1.0
b = 1.0
h = 0.5
[define]
span = "2*b"
l0 = "hypot(span/2, h)"
[node.a]
at = [0, 0]
fixed = true
[node.c]
at = ["span", 0]
fixed = true
[node.top]
at = ["b", "h"]
[bar]
stiffness = "k"
left = {ends = ["a", "top"], length = "l0"}
right = {ends = ["c", "top"]}
[force.load]
at = "top"
force = [0, -1]
[control]
range = [-0.1, 0.1]
start = 0.0
"""


def blocks(system, q, p=0.3):
    e = system.evaluate(np.asarray(q, dtype=float), p, np.full(len(system.constraint_names), 0.7))
    return e.energy, e.L_x, e.c, e.L_qx, e.c_x


def assert_same(one, other, q):
    for a, b in zip(blocks(one, q), blocks(other, q), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_a_file_makes_what_compose_makes():
    system, task = loads(TRUSS)
    parts = [
        elements.Node("a", (0, 0), fixed=True),
        elements.Node("c", ("2*b", 0), fixed=True),
        elements.Node("top", ("b", "h")),
        elements.Bar("left", ("a", "top"), stiffness="k"),
        elements.Bar("right", ("c", "top"), stiffness="k"),
        elements.Force("load", "top", (0, -1)),
    ]
    other = onesided.compose(parts, parameters={"k": 1.0, "b": 1.0, "h": 0.5})
    assert system.coordinates == other.coordinates == ("top_x", "top_y")
    np.testing.assert_array_equal(task.start, [1.0, 0.5])
    assert_same(system, other, [0.8, 0.2])


@settings(max_examples=20, deadline=None)
@given(st.floats(0.5, 3), st.floats(0.5, 3), st.floats(-1, 1), st.floats(-1, 1))
def test_parameters_reach_places_definitions_and_start(b, h, x, y):
    model = _TWO.with_parameters({"b": b, "h": h})
    np.testing.assert_allclose(model.task.start, [b, h])
    l0 = np.sqrt(b**2 + h**2)
    left, right = np.sqrt((b + x) ** 2 + (h + y) ** 2), np.sqrt((b - x) ** 2 + (h + y) ** 2)
    expected = ((left - l0) ** 2 + (right - l0) ** 2) / 2 + 0.3 * (h + y)
    found = model.system.evaluate(np.array([b + x, h + y]), 0.3, np.zeros(0)).energy
    assert found == pytest.approx(expected, abs=1e-12)


_TWO = loads(TRUSS)

CHAIN = """\
[parameters]
a = 1.0
h = 0.5
[node."n{i}"]
repeat = {i = [0, 3]}
at = ["a*{i%2}", "h*i"]
fixed = "x"
[node.n0]
fixed = true
[bar."b{i}"]
repeat = {i = [1, 3]}
ends = ["n{i-1}", "n{i}"]
stiffness = "1 + 0.02*(i - 1)"
[force.load]
at = "n3"
force = [0, -1]
"""


def test_repetition_equals_the_bundled_chain():
    """The chain of the zoo is written as formulas."""
    chain, task = loads(CHAIN + CONTROL)
    formulas, other = zoo.load("bistable-chain")
    assert chain.coordinates == ("n1_y", "n2_y", "n3_y")
    np.testing.assert_allclose(task.start, other.start)
    for q in ([0.5, 1.0, 1.5], [0.1, -0.3, 0.4], [0.3, 0.9, 0.2]):
        e, f = blocks(chain, q), blocks(formulas, q)
        for one, two in zip(e, f, strict=True):
            np.testing.assert_allclose(one, two, atol=1e-14)


def test_two_indices_rings_and_overrides():
    net = loads(
        """
        [node."n{i}_{j}"]
        repeat = {i = [0, 2], j = [0, 3]}
        at = ["i", "j"]
        [node."n{i}_0"]
        repeat = {i = [0, 2]}
        fixed = true
        [bar."x{i}_{j}"]
        repeat = {i = [0, 2], j = [0, 3]}
        ends = ["n{i}_{j}", "n{(i+1)%3}_{j}"]
        stiffness = "k*(i + 10*j + 1)"
        [bar."y{i}_{j}"]
        repeat = {i = [0, 2], j = [1, 3]}
        ends = ["n{i}_{j-1}", "n{i}_{j}"]
        stiffness = 2.0
        [parameters]
        k = 3.0
        """ + CONTROL
    ).system.structure  # fmt: skip
    assert len(net.coordinates) == 2 * 3 * 3
    assert net.places["n2_0"].at == (2.0, 0.0)
    assert net.places["n2_0"].fixed is True
    bars = {e.name: e for e in net.elements}
    assert bars["x2_3"].ends == ("n2_3", "n0_3")
    assert bars["y1_1"].ends == ("n1_0", "n1_1")
    start = net.start_of({"k": 3.0})
    assert start.value(bars["x2_3"].stiffness) == 3.0 * 33


def test_formulas_beside_parts():
    """Energy, equations, gaps and coordinates of the file's own are added to the parts."""
    text = """
        energy = "c*(u - top_y)**2/2 + p*u"
        [coordinates]
        u = 0.25
        [start]
        top_x = 1.1
        [define]
        height = "top_y + s"
        [unilateral]
        floor = "height"
        [bilateral]
        guide = "top_x - 1 - u"
    """
    system, task = loads(text + TRUSS.replace("[parameters]", "[parameters]\nc = 4.0\ns = 0.2")
                         .replace("[define]\n", "").replace('title = "Two bars"', "")
                         .replace('span = "2*b"\nl0 = "hypot(span/2, h)"\n', "")
                         .replace('"span"', '"2*b"').replace(', length = "l0"', ""))  # fmt: skip
    assert system.coordinates == ("top_x", "top_y", "u")
    np.testing.assert_allclose(task.start, [1.1, 0.5, 0.25])
    assert tuple(system.unilateral) == ("floor",)
    assert tuple(system.bilateral) == ("guide",)
    assert system.structure.start_of(system.parameters).size == 2.0, "the coordinate u is nowhere"
    plain = _TWO.system
    q = np.array([0.9, 0.3, 0.1])
    e = system.evaluate(q, 0.5, np.array([2.0, 3.0]))
    inner = plain.evaluate(q[:2], 0.5, np.zeros(0))
    assert e.energy == pytest.approx(inner.energy + 4 * (0.1 - 0.3) ** 2 / 2 + 0.5 * 0.1)
    np.testing.assert_allclose(e.c, [0.9 - 1 - 0.1, 0.3 + 0.2])
    forces = np.array([inner.L_q[0] - 2.0, inner.L_q[1] - 4 * (0.1 - 0.3) - 3.0, 4 * (0.1 - 0.3) + 0.5 + 2.0])
    np.testing.assert_allclose(e.L_q, forces, atol=1e-14)


def test_a_gap_by_formula_is_met_on_the_path():
    text = TRUSS.replace('at = ["b", "h"]', 'at = ["b", "h"]\nfixed = "x"') + '[unilateral]\nfloor = "top_y + 0.4"\n'
    system, task = loads(text)
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)
    words = [event.words() for event in path.events]
    assert any("contact 'floor' closes" in text for text in words)
    c = np.hypot(1, 0.5) ** (2 / 3)
    assert abs(path.events[0].p) == pytest.approx(2 * (c - 1) ** 1.5, abs=1e-10)


def test_every_kind_has_a_schema_and_its_keys():
    schema = json_schema()
    for name, kind in part_kinds().items():
        shape = schema["properties"][name]
        shape = shape["anyOf"][-1] if "anyOf" in shape else shape
        assert set(kind.fields) | {"repeat"} == set(shape["additionalProperties"]["properties"])
        assert "name" not in kind.fields
    assert set(part_kinds()["bar"].fields) >= {"ends", "stiffness", "length", "law"}


def test_check_describes_parts(tmp_path):
    file = tmp_path / "chain.toml"
    file.write_text(CHAIN.replace("3]", "40]").replace('"n3"', '"n40"') + CONTROL)
    printed = " ".join(CliRunner().invoke(app, ["check", str(file)]).output.split())
    assert "41 node, 40 bar, 1 force" in printed
    assert "n1_y, n2_y" in printed
    assert "…, n40_y (40)" in printed


def changed(old, new, text=TRUSS):
    assert text.count(old) == 1
    return text.replace(old, new)


MISTAKES = {
    "kind": (changed("[force.load]", "[forse.load]"), "forse, line 21", ["unknown key", "did you mean `force`"]),
    "kind as value": ("bar = 3\n" + CONTROL, "bar, line 1", ["not a table of parts"]),
    "key": (changed("force = [0, -1]", "farce = [0, -1]"), "force.load.farce, line 23", ["did you mean `force`"]),
    "default": (changed('stiffness = "k"', 'stifness = "k"'), "bar.stifness, line 18", ["did you mean `stiffness`"]),
    "type": (changed("force = [0, -1]", "force = 3"), "force.load.force, line 23", ["not an array", "got 3"]),
    "number": (changed("force = [0, -1]", "force = [0, nan]"), "force.load.force, line 23", ["not a finite number"]),
    "flag": (changed("force = [0, -1]", "force = [0, true]"), "force.load.force", ["not a quantity"]),
    "pair": (changed('{ends = ["c", "top"]}', '{ends = ["c"]}'), "bar.right.ends, line 20", ["an array of 2"]),
    "place": (changed('{ends = ["c", "top"]}', '{ends = ["c", "tip"]}'), "bar.right, line 20", ["did you mean 'top'"]),
    "parameter": (changed('stiffness = "k"', 'stiffness = "kk"'), "bar.stiffness, line 18, column 14", ["`kk`", "`k`"]),
    "formula": (changed('stiffness = "k"', 'stiffness = "k^2"'), "bar.stiffness, line 18, column 15", ["x**2"]),
    "position": (changed('at = ["span", 0]', 'at = ["span"]'), "node.c, line 12", ["two or three numbers"]),
    "element": (changed('length = "l0"', "length = -1"), "bar.left, line 19", ["natural length is not positive"]),
    "fixed": (changed("[node.c]", '[node.d]\nat=[0, 1]\nfixed="q"\n[node.c]'), "node.d", ["cannot be fixed in 'q'"]),
    "name": (changed("[node.c]", '[node."d-1"]\nat = [0, 1]\n[node.c]'), "node.d-1, line 12", ["cannot be used"]),
    "name twice": (changed("[force.load]", "[force.top]"), "force.top, line 21", ["used twice"]),
    "index": (changed("[node.c]", '[node."d{i}"]\nat = [0, 1]\n[node.c]'), "node.d{i}", ["cannot be filled"]),
    "start": (TRUSS + "[start]\ntop_z = 1.0\n", "start.top_z, line 28", ["not a coordinate", "top_"]),
    "gap": (TRUSS + '[unilateral]\nfloor = "tip_y"\n', "unilateral.floor, line 28, column 10", ["top_y"]),
    "motion": (TRUSS + '[mass]\ntop_x = "1"\n', "mass, line 27", ["no place beside parts"]),
    "law": (changed('stiffness = "k"', 'law = "q*e"'), "bar.", ["unknown name `q`"]),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_mistake_is_named_with_its_place(case):
    text, place, parts = MISTAKES[case]
    with pytest.raises(ModelFileError) as caught:
        loads(text, "truss.toml")
    assert caught.value.place.startswith(f"truss.toml, {place}"), caught.value.place
    for part in parts:
        assert part in str(caught.value)


REPEATS = {
    "no table": ("3", "not a repetition"),
    "too many indices": ("{i = [0, 1], j = [0, 1], k = [0, 1], l = [0, 1]}", "not a repetition"),
    "one number": ("{i = [3]}", "not a range"),
    "reversed": ("{i = [3, 1]}", "not a range"),
    "float": ("{i = [0.0, 1.0]}", "not a range"),
    "flag": ("{i = [false, true]}", "not a range"),
    "name of a function": ("{sin = [0, 1]}", "needs another name"),
    "parameter": ("{a = [0, 1]}", "is a parameter already"),
    "control": ("{p = [0, 1]}", "is a control parameter already"),
    "too many": ("{i = [0, 200000]}", "too many parts"),
    "astronomic": ("{i = [0, 9999999], j = [0, 9999999], k = [0, 9999999]}", "too many parts"),
}


@pytest.mark.parametrize("case", REPEATS)
def test_a_bad_repetition_is_refused_at_once(case):
    repeat, what = REPEATS[case]
    begin = time.process_time()
    with pytest.raises(ModelFileError, match=what) as caught:
        loads(CHAIN.replace("{i = [0, 3]}", repeat) + CONTROL, "chain.toml")
    assert "line 5" in str(caught.value) or "line 4" in str(caught.value)
    assert time.process_time() - begin < 2


@pytest.mark.parametrize(
    "hole", ["i.real", "i()", "i**9", "i/2", "j", "__import__", "[i]", "i if i else i", "9" * 30, "", "i%0",
             "lambda: 3", "i" + "+i" * 100, "'i'", "0x3", "True", "1_0.5", "{i}"]
)  # fmt: skip
def test_only_integer_arithmetic_of_indices_is_filled_in(hole):
    with pytest.raises(ModelFileError):
        loads(CHAIN.replace('"n{i-1}"', "'n{" + hole + "}'") + CONTROL)


def test_index_arithmetic():
    text = CHAIN.replace('"n{i-1}"', '"n{ (2*i - 2)//2 % 7 }"')
    assert [e.ends[0] for e in loads(text + CONTROL).system.structure.elements[:3]] == ["n0", "n1", "n2"]


def test_a_repeated_name_without_index_is_refused():
    with pytest.raises(ModelFileError, match="made twice"):
        loads(CHAIN.replace('[node."n{i}"]', "[node.n]") + CONTROL)


def test_a_formula_without_value_names_the_index():
    with pytest.raises(ModelFileError, match="no finite value at i = 0"):
        loads(CHAIN.replace('"h*i"', '"1/i"') + CONTROL)


def test_expansion_is_bounded(monkeypatch):
    monkeypatch.setattr(part_tables, "MAX_WORK", 1000)
    with pytest.raises(ModelFileError, match="too many parts"):
        loads(CHAIN.replace("3]", "30]") + CONTROL)


def test_different_laws_are_bounded():
    text = CHAIN.replace("3]", "300]").replace('"n3"', '"n300"').replace(
        'stiffness = "1 + 0.02*(i - 1)"', 'law = "{i}*e**2"'
    )  # fmt: skip
    with pytest.raises(ModelFileError, match="differ in too many ways"):
        loads(text + CONTROL)


def test_unknown_kinds_of_a_program_are_found():
    """An element that a program defines is a table of model files at once."""
    from dataclasses import dataclass
    from typing import ClassVar

    @dataclass(frozen=True)
    class Test(elements.Bar):
        kind: ClassVar[str] = "my_bar"

    system, _ = loads(TRUSS.replace("[bar]", "[my_bar]"))
    assert sum(isinstance(e, Test) for e in system.structure.elements) == 2


def test_large_repetition_is_quick():
    text = CHAIN.replace("3]", "20000]").replace('"n3"', '"n20000"')
    begin = time.process_time()
    with pytest.raises(ModelError):  # an unknown place in the last entry: read, not composed
        loads(text.replace('at = "n20000"', 'at = "none"') + CONTROL)
    assert time.process_time() - begin < 20
