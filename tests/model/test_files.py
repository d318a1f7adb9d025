"""Model files: what loads, what it becomes, and what every mistake is told."""

import math
import os
import tomllib
from itertools import pairwise

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onesided
from onesided.base.errors import ModelFileError
from onesided.files import toml_places
from onesided.files.reading import Model, load, loads
from onesided.files.schema import json_schema
from onesided.formulas.formula import FormulaError

BAR = """\
title = "Bar on a stop"
energy = "k/2*((d - x)**2 + (p - y)**2)"

[coordinates]
phi = 0.25
[parameters]
k = 2
L = 1.0
d = -1.0
unused = 7.0
[control]
range = [-2.0, 2]
[define]
y = "r*sin(phi)"      # uses what comes later
x = "r*cos(phi)"
r = "L"
idle = "x*y"
[unilateral]
stop = "sin(phi)"
"""


def test_load_gives_system_and_task(tmp_path):
    path = tmp_path / "bar.toml"
    path.write_text(BAR, encoding="utf-8")
    model = load(path)
    system, task = model
    assert isinstance(model, Model)
    assert system.coordinates == ("phi",)
    assert dict(system.parameters) == {"k": 2.0, "L": 1.0, "d": -1.0, "unused": 7.0}
    assert tuple(system.unilateral) == ("stop",)
    assert system.control == "p"
    assert task.start.tolist() == [0.25]
    assert task.start.dtype == np.float64
    assert (task.p, task.p_bounds, task.direction) == (-2.0, (-2.0, 2.0), 1)
    assert (task.title, task.description, task.source) == ("Bar on a stop", "", BAR)


def test_functions_equal_hand_written_ones():
    system, _ = loads(BAR)
    phi, p, lam = 0.7, -0.3, 0.0
    e = system.evaluate(np.array([phi]), p, np.array([lam]))
    k, L, d = 2.0, 1.0, -1.0
    assert e.energy == pytest.approx(k / 2 * ((d - L * math.cos(phi)) ** 2 + (p - L * math.sin(phi)) ** 2), rel=1e-14)
    assert e.L_q[0] == pytest.approx(k * L * (d * math.sin(phi) - p * math.cos(phi)), rel=1e-13)
    assert e.L_qq[0, 0] == pytest.approx(k * L * (d * math.cos(phi) + p * math.sin(phi)), rel=1e-13)
    assert e.c[0] == pytest.approx(math.sin(phi), rel=1e-15)


def test_parameters_stay_parameters():
    system, _ = loads(BAR)
    e = system.replace(parameters={"k": 4.0}).evaluate(np.array([0.0]), 0.0, np.zeros(1))
    assert e.energy == pytest.approx(8.0)


MOTION = """\
energy = "m*9.81*y + 0*load"
kinetic = "m/2*(x_dot**2 + y_dot**2) + speed*b"
[coordinates]
x = 0
y = 1
[parameters]
m = 3.0
b = 0.5
[control]
name = "load"
range = [0, 1]
direction = "down"
[define]
speed = "x_dot*y"
[forces]
y = "load*sin(t) - b*y_dot + x"
[scales]
length = 2
"""


def test_kinetic_and_forces():
    system, task = loads(MOTION)
    th = dict(system.parameters)
    q, v = np.array([0.5, 2.0]), np.array([3.0, -1.0])
    assert float(system.kinetic(q, v, th)) == pytest.approx(1.5 * 10 + 3.0 * 2.0 * 0.5)
    np.testing.assert_allclose(system.force(0.3, q, v, 0.8, th), [0.0, 0.8 * math.sin(0.3) + 0.5 + 0.5], rtol=1e-14)
    assert (task.p, task.direction) == (1.0, -1)
    assert (system.scales.length, system.scales.force) == (2.0, None)
    momentum = jax.grad(system.kinetic, argnums=1)(q, v, th)
    np.testing.assert_allclose(momentum, [3.0 * 3.0 + 2.0 * 0.5, -3.0])


def test_masses_are_a_diagonal_matrix():
    text = MOTION.replace('kinetic = "m/2*(x_dot**2 + y_dot**2) + speed*b"\n', "") + '[mass]\ny = "m"\nx = "m*y"\n'
    system, _ = loads(text)
    mass = system.mass(np.array([0.5, 2.0]), dict(system.parameters))
    np.testing.assert_allclose(mass, [[6.0, 0.0], [0.0, 3.0]])


def test_names_of_motion_are_free_where_nothing_moves():
    system, _ = loads(
        'energy = "t*x_dot - p*x"\n[coordinates]\nx = 0\n[parameters]\nt = 1\nx_dot = 2\n[control]\nrange=[0,1]'
    )
    assert set(system.parameters) == {"t", "x_dot"}


def test_constant_formulas_load():
    system, _ = loads('energy = "0"\n[coordinates]\nx = 0\n[control]\nrange=[0,1]\n[unilateral]\na = "1"')
    e = system.evaluate(np.zeros(1), 0.0, np.zeros(1))
    assert (e.energy, e.c[0], e.L_q[0]) == (0.0, 1.0, 0.0)


def test_other_ways_to_write_the_same(tmp_path):
    """Byte-order mark, Windows line ends, inline tables and dotted keys."""
    path = tmp_path / "w.toml"
    text = "energy = '''\r\nx**2\r\n + p'''\r\ncoordinates.x = 1\r\ncontrol = {range = [0, 1], start = 0.5}\r\n"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    system, task = load(str(path))
    assert task.p == 0.5
    assert system.evaluate(np.array([3.0]), 0.5, np.zeros(0)).energy == pytest.approx(9.5)


def changed(old, new):
    assert BAR.count(old) == 1, old
    return BAR.replace(old, new)


MISTAKES = {  # name: (text, place after the file's name, parts of the message)
    "unknown key": (changed("title =", "titel ="), "titel, line 1, column 1", ["unknown key", "`title`"]),
    "unknown table": (changed("[define]", "[defined]"), "defined, line 13, column 1", ["unknown key", "`define`"]),
    "unknown key in control": (changed("range =", "rnge ="), "control.rnge, line 12, column 1", ["`range`"]),
    "key under the wrong table": (
        changed("range = [-2.0, 2]", 'range = [-2.0, 2]\nkinetic = "0"'),
        "control.kinetic, line 13, column 1",
        ["move it to the top"],
    ),
    "energy missing": (changed('energy = "k/2*((d - x)**2 + (p - y)**2)"\n', ""), "", ["`energy` is missing"]),
    "energy in a table": (
        changed("[coordinates]", "").replace("energy =", "[coordinates]\nenergy ="),
        "",
        ["`energy` is missing", "above the first table"],
    ),
    "coordinates empty": (changed("phi = 0.25\n", ""), "coordinates, line 4, column 1", ["number of entries"]),
    "coordinates missing": (changed("[coordinates]\nphi = 0.25\n", ""), "", ["`coordinates` is missing"]),
    "control missing": (
        changed("[control]\nrange = [-2.0, 2]\n", ""),
        "",
        ["`control` is missing", "range = [0.0, 1.0]"],
    ),
    "range missing": (changed("range = [-2.0, 2]", ""), "control, line 11, column 1", ["`range` is missing"]),
    "range reversed": (
        changed("[-2.0, 2]", "[2, -2]"),
        "control.range, line 12, column 1",
        ["reversed", "got [2, -2]"],
    ),
    "range of one": (changed("[-2.0, 2]", "[2]"), "control.range, line 12, column 1", ["two numbers"]),
    "start outside": (
        changed("[-2.0, 2]", "[-2.0, 2]\nstart = 5"),
        "control.start, line 13, column 1",
        ["outside the range", "got 5"],
    ),
    "direction": (
        changed("[-2.0, 2]", '[-2.0, 2]\ndirection = "left"'),
        "control.direction, line 13, column 1",
        ["got 'left'", '"up" or "down"'],
    ),
    "text as number": (changed("k = 2", 'k = "2"'), "parameters.k, line 7, column 1", ["not a number", "got '2'"]),
    "bool as number": (changed("k = 2", "k = true"), "parameters.k, line 7, column 1", ["not a number", "got True"]),
    "date as number": (changed("k = 2", "k = 2020-01-01"), "parameters.k, line 7, column 1", ["not a number"]),
    "array as number": (changed("k = 2", "k = [2]"), "parameters.k, line 7, column 1", ["not a number", "got [2]"]),
    "nan": (changed("k = 2", "k = nan"), "parameters.k, line 7, column 1", ["not a finite", "got nan"]),
    "inf": (changed("0.25", "-inf"), "coordinates.phi, line 5, column 1", ["not a finite", "got -inf"]),
    "overflow": (changed("k = 2", "k = 1e999"), "parameters.k, line 7, column 1", ["not a finite"]),
    "huge integer": (changed("k = 2", f"k = 0x{'f' * 400}"), "parameters.k, line 7, column 1", ["too large"]),
    "truth as formula": (changed('"L"', "true"), "define.r, line 16, column 1", ["not a formula", "got True"]),
    "list as formula": (changed('"L"', "[1.0]"), "define.r, line 16, column 1", ["not a formula", "got [1.0]"]),
    "no number as formula": (changed('"L"', "nan"), "define.r, line 16, column 1", ["not a finite number"]),
    "scale zero": (BAR + "[scales]\nlength = 0\n", "scales.length, line 21, column 1", ["positive", "got 0"]),
    "unit zero": (BAR + "[scales]\nunit = {phi = 0}\n", "scales.unit.phi, line 21, column 9", ["positive", "got 0"]),
    "unit of nothing": (
        BAR + "[scales]\nunit = {phj = 2}\n",
        "scales.unit.phj, line 21, column 9",
        ["not a coordinate", "`phi`"],
    ),
    "unit as number": (BAR + "[scales]\nunit = 2\n", "scales.unit, line 21, column 1", ["not a table", "got 2"]),
    "scale unknown": (BAR + "[scales]\nlenght = 1\n", "scales.lenght, line 21, column 1", ["`length`"]),
    "bad name": (changed("k = 2", '"k 1" = 2'), "parameters.k 1, line 7, column 1", ["'k 1' cannot be used"]),
    "bad control name": (changed("[-2.0, 2]", '[-2.0, 2]\nname = "2p"'), "control.name, line 13, column 1", ["'2p'"]),
    "unicode name": (changed("k = 2", '"κ" = 2'), "parameters.κ, line 7, column 1", ["cannot be used"]),
    "name of a function": (
        changed("k = 2", "k = 2\nsin = 1"),
        "parameters.sin, line 8, column 1",
        ["name of a function"],
    ),
    "name of a constant": (changed("idle =", "pi ="), "define.pi, line 17, column 1", ["name of a constant"]),
    "name is a keyword": (
        changed("k = 2", "k = 2\nlambda = 1"),
        "parameters.lambda, line 8, column 1",
        ["word of Python"],
    ),
    "coordinate and parameter": (
        changed("k = 2", "k = 2\nphi = 1"),
        "parameters.phi, line 8, column 1",
        ["two things: coordinate and parameter"],
    ),
    "parameter and control": (
        changed("k = 2", "k = 2\np = 1"),
        "control.name, line 12, column 1",
        ["two things: parameter and control parameter"],
    ),
    "parameter and definition": (
        changed("idle =", "k ="),
        "define.k, line 17, column 1",
        ["two things: parameter and definition"],
    ),
    "two constraints": (
        BAR + '[bilateral]\nstop = "phi"\n',
        "bilateral.stop, line 21, column 1",
        ["two constraints"],
    ),
    "velocity as name": (
        MOTION.replace("b = 0.5", "b = 0.5\nx_dot = 1"),
        "parameters.x_dot, line 9, column 1",
        ["velocity and parameter"],
    ),
    "time as name": (
        MOTION.replace("b = 0.5", "b = 0.5\nt = 1"),
        "parameters.t, line 9, column 1",
        ["time and parameter"],
    ),
    "force on nothing": (MOTION.replace('y = "load', 'yy = "load'), "forces.yy, line 16, column 1", ["`y`"]),
    "kinetic and mass": (MOTION + '[mass]\nx = "m"\ny = "m"\n', "mass, line 19, column 1", ["both"]),
    "mass incomplete": (
        BAR.replace("phi = 0.25", "phi = 0.25\npsi = 0") + '[mass]\nphi = "k"\n',
        "mass, line 21, column 1",
        ["mass of `psi` is missing"],
    ),
    "nested tables": (BAR + "[control.a.b.c.d.e]\nf = 1\n", "control.a.b.c.d.e, line 20, column 1", ["nested"]),
    "not TOML": (changed("k = 2", "k : 2"), "line 7, column 3", ["not valid TOML", "got 'k : 2'"]),
    "key twice": (changed("k = 2", "k = 2\nk = 3"), "line 8, column 6", ["not valid TOML"]),
    "open string": (changed('"L"', '"L'), "line 16, column 7", ["not valid TOML"]),
    "dotted key": (changed("k = 2", "k.l = 2"), "parameters.k, line 6, column 1", ["not a number"]),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistake_is_named_with_its_place(case):
    text, place, parts = MISTAKES[case]
    with pytest.raises(ModelFileError) as caught:
        loads(text, "bar.toml")
    assert caught.value.place == (f"bar.toml, {place}" if place else "bar.toml")
    for part in parts:
        assert part in str(caught.value)


FORMULA_MISTAKES = {  # name: (text, place, the two last lines)
    "unknown name": (
        changed('"sin(phi)"', '"sin(phy)"'),
        "unilateral.stop, line 19, column 13",
        "    sin(phy)\n        ^",
        "`phi`",
    ),
    "unknown function": (
        changed('"r*sin(phi)"', '"r*sinus(phi)"'),
        "define.y, line 14, column 8",
        "    r*sinus(phi)\n      ^",
        "`sin`",
    ),
    "unknown in a formula nobody uses": (
        changed('"x*y"', '"x*yy"'),
        "define.idle, line 17, column 11",
        "    x*yy\n      ^",
        "`y`",
    ),
    "several lines": (
        changed('"sin(phi)"', '"""\n  sin(phi)\n  + kk"""'),
        "unilateral.stop, line 21, column 5",
        "      + kk\n        ^",
        "`k`",
    ),
    "literal string": (
        changed('"sin(phi)"', "'sin(phi'"),
        "unilateral.stop, line 19, column 12",
        "    sin(phi\n       ^",
        "never closed",
    ),
    "escapes blur the column": (
        changed('"sin(phi)"', '"sin\\u0028phy)"'),
        "unilateral.stop, line 19, column 1",
        "    sin(phy)\n        ^",
        "`phi`",
    ),
    "circle": (
        changed('r = "L"', 'r = "1 + idle"'),
        None,
        None,
        "circle",
    ),
    "velocity in the energy": (
        MOTION.replace("9.81*y", "9.81*y_dot"),
        "energy, line 1, column 18",
        "    m*9.81*y_dot + 0*load\n           ^",
        "`y_dot` has no place in energy",
    ),
    "hidden velocity in the energy": (
        MOTION.replace("9.81*y", "9.81*speed"),
        "energy, line 1, column 18",
        "    m*9.81*speed + 0*load\n           ^",
        "`speed` depends on `x_dot`",
    ),
    "control in the kinetic energy": (
        MOTION.replace("speed*b", "speed*load"),
        "kinetic, line 2, column 46",
        None,
        "`load` has no place in `kinetic`",
    ),
    "constraint as a name": (
        changed('"x*y"', '"stop"'),
        "define.idle, line 17, column 9",
        "    stop\n    ^",
        "unknown name `stop`",
    ),
}


@pytest.mark.parametrize("case", FORMULA_MISTAKES)
def test_formula_mistake_is_shown_with_a_caret(case):
    text, place, lines, part = FORMULA_MISTAKES[case]
    with pytest.raises(FormulaError) as caught:
        loads(text, "bar.toml")
    assert part in str(caught.value)
    if place:
        assert caught.value.place == f"bar.toml, {place}"
    if lines:
        assert str(caught.value).endswith("\n" + lines)


def test_the_circle_is_shown():
    with pytest.raises(FormulaError) as caught:
        loads(changed('r = "L"', 'r = "1 + a"\na = "2*b"\nb = "r/2"'))
    circle = caught.value.what.split(": ")[1].split(" → ")
    uses = {"r": "a", "a": "b", "b": "r"}
    assert len(circle) == 4
    assert all(uses[one] == other for one, other in pairwise(circle))


def test_a_definition_of_itself_is_a_circle():
    with pytest.raises(FormulaError, match="r → r") as caught:
        loads(changed('r = "L"', 'r = "L + r"'), "bar.toml")
    assert caught.value.place == "bar.toml, define.r, line 16, column 10"


class TestUnreadable:
    def test_missing(self, tmp_path):
        with pytest.raises(ModelFileError, match=r"no\.toml: there is no such file"):
            load(tmp_path / "no.toml")

    def test_folder(self, tmp_path):
        with pytest.raises(ModelFileError, match="folder"):
            load(tmp_path)

    def test_null_byte_in_the_path(self):
        with pytest.raises(ModelFileError, match="cannot be read"):
            load("a\x00b.toml")

    def test_path_that_is_too_long(self):
        with pytest.raises(ModelFileError, match="cannot be read"):
            load("a" * 10_000)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
    def test_pipe_does_not_hang(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ModelFileError, match="regular file"):
            load(tmp_path / "pipe")

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
    def test_no_permission(self, tmp_path):
        path = tmp_path / "secret.toml"
        path.write_text(BAR)
        path.chmod(0)
        with pytest.raises(ModelFileError, match="cannot be read"):
            load(path)

    def test_not_utf8(self, tmp_path):
        path = tmp_path / "latin.toml"
        path.write_bytes(b'title = "a"\n# caf\xe9\n')
        with pytest.raises(ModelFileError, match=r"latin\.toml, line 2: .*UTF-8; got byte 0xe9"):
            load(path)


def test_every_place_is_right_or_absent():
    """Each recorded value, read by itself, is the value tomllib has at that path."""
    text = MOTION + '["quoted key"]\n\'x.y\' . "z" = {a = [1, # ]\n 2], b.c = "}"}\n"\\u0041" = 1\n'
    assert not toml_places.find_places(text), "an escape in a key: nothing is recorded"
    check_places(text.replace('"\\u0041" = 1\n', ""))
    check_places('a = """x\n[b]\nc = 1"""\nd = \'\'\'"""\n[e]\'\'\'\nf = "\\""\n[[g]]\nh = 1\n[i]\nh = """""a"""""\n')


def check_places(text, complete=False):
    data, places = tomllib.loads(text), toml_places.find_places(text)
    assert places
    for path, place in places.items():
        value = data
        for part in path:
            value = value[part]
        if text[place.key] != "[":
            raw = text[place.value : place.end]
            assert tomllib.loads(f"v = {raw}")["v"] == value
            if isinstance(value, str) and value:
                for offset in (0, len(value) - 1):
                    found = toml_places.string_offset(text, place, offset)
                    assert found is None or text[found] == value[offset]
    if complete:
        assert {path for path in places if len(path) == 2} == {(t, k) for t in data for k in data[t]}


bare = st.text("ab-_1", min_size=1, max_size=3)
inner = st.text("ab\"'[]{}#=,.\\ \n", max_size=12)


def basic(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def long_basic(text):
    return '"""\n' + text.replace("\\", "\\\\").replace('"', '\\"') + '"""'


values = st.one_of(
    inner.map(basic),
    inner.map(long_basic),
    inner.filter(lambda t: "'" not in t and "\n" not in t).map(lambda t: f"'{t}'"),
    inner.filter(lambda t: "'" not in t).map(lambda t: f"'''{t}'''"),
    st.sampled_from(
        ["1", "-2.5e3", "true", "inf", "1979-05-27 07:32:00", "[1, 2]", "[ # ]\n 'a]', [2],]", "{}", "[{a = 1}]"]
    ),
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(bare, st.dictionaries(bare, values, min_size=1, max_size=3), min_size=1, max_size=3))
def test_places_of_random_files(tables):
    lines = []
    for table, entries in tables.items():
        lines += [f"  [ {table} ] # [no]", *(f"{key} = {value} # x = 1" for key, value in entries.items())]
    check_places("\n".join(lines), complete=True)


def test_json_schema_describes_the_format():
    schema = json_schema()
    assert schema["required"] == ["control"]
    assert {"required": ["energy", "coordinates"]} in schema["anyOf"]
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["ControlTable"]["properties"]["direction"]["enum"] == ["up", "down"]
    assert schema["$defs"]["ControlTable"]["additionalProperties"] is False
    assert set(schema["properties"]) >= {"define", "unilateral", "bilateral", "mass", "kinetic", "forces", "scales"}


def test_a_number_is_a_formula_of_itself():
    """Masses, definitions, forces, gaps: a mass of 2 under a force of 3 goes 3 in 2."""
    text = """
energy = 0
kinetic = {kinetic}
coordinates = {{x = 0.0}}
control = {{range = [0, 1]}}
[define]
away = -1.5e-3
[forces]
x = 3
[measures]
twice = "2*x + away"
{mass}
[motion]
time = [0, 2]
"""
    for key in (
        {"kinetic": '"x_dot**2"', "mass": ""},
        {"kinetic": '""', "mass": "[mass]\nx = 2"},
        {"kinetic": '""', "mass": '[mass]\nx = "2"'},
    ):
        stated = text.format(**key).replace('kinetic = ""\n', "")
        motion = onesided.simulate(onesided.loads(stated))
        assert motion["x"][-1] == pytest.approx(3.0, rel=1e-9)
        assert motion["twice"][-1] == pytest.approx(6.0 - 1.5e-3, rel=1e-9)
