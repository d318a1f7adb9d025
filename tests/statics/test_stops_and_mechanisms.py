"""A drive against a rigid stop is blocked, which is no error; mechanisms are called so and show their free motion."""

import numpy as np
import pytest
from typer.testing import CliRunner

import onesided
from onesided import Status, elements
from onesided.base.errors import ModelError
from onesided.cli.app import app

LINKAGE = """
[control]
range = [0, 1]
[node]
a = {at = [0, 0], fixed = true}
b = {at = [0, 1]}
c = {at = [1, 1]}
d = {at = [1, 0], fixed = true}
[bar]
stiffness = 1
left = {ends = ["a", "b"]}
coupler = {ends = ["b", "c"]}
right = {ends = ["c", "d"]}
"""


def test_a_machine_that_meets_a_wall_is_blocked():
    ram = onesided.System(
        ("x",),
        lambda q, p, th: q[0] ** 2,
        bilateral={"ram": lambda q, p, th: q[0] - p},
        unilateral={"wall": lambda q, p, th: 1 - q[0]},
    )
    history = onesided.drive(ram, [0.0], [0.0, 2.0, 0.0])
    assert history.status is Status.blocked
    assert history.ok
    assert history.p[-1] == pytest.approx(1.0, rel=1e-12)
    assert "joint 'ram' and contact 'wall' hold the system" in history.note


def test_a_linkage_is_a_mechanism_and_moves_sideways():
    state = onesided.solve(onesided.loads(LINKAGE)).value
    assert state.words() == "mechanism: nothing resists b_x (+1), c_x (+1)"
    braced = onesided.loads(LINKAGE + 'brace = {ends = ["a", "c"]}\n')
    assert onesided.solve(braced).value.free == ""


def test_a_part_that_turns_freely_is_refused_as_a_mechanism():
    rod = onesided.compose(
        elements.Node("a", (0.0, 0.0), fixed=True),
        elements.Node("b", (0.0, 1.0)),
        elements.Bar("rod", ("a", "b"), stiffness=1.0),
    )
    with pytest.raises(ModelError, match=r"a mechanism: nothing resists turning about \(0, 0\)"):
        onesided.solve(rod, p=0.0)


def test_a_flat_energy_is_no_mechanism():
    flat = onesided.System(("x", "y"), lambda q, p, th: q[0] ** 4 + q[1] ** 2)
    assert onesided.solve(flat, [0.0, 0.0], p=0.0).value.free == ""
    np.testing.assert_equal(onesided.solve(flat, [0.0, 0.0], p=0.0).value.instability, 0)


def test_the_command_line_says_mechanism(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "linkage.toml").write_text(LINKAGE)
    shown = CliRunner().invoke(app, ["check", "linkage.toml"])
    assert "mechanism" in shown.output
    assert "b_x (+1), c_x (+1)" in " ".join(shown.output.split())


def test_a_programme_may_leave_the_range_of_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.toml").write_text("energy='x**2-p*x'\ncoordinates={x=0.0}\ncontrol={range=[0,1]}\n")
    beyond = ["drive", "m.toml", "--programme", "0, 2", "-q"]
    refused = CliRunner().invoke(app, beyond)
    assert refused.exit_code == 2
    assert "--p-max" in refused.output
    assert CliRunner().invoke(app, [*beyond, "--p-max", "2"]).exit_code == 0
