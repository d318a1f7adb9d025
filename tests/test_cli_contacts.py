"""Contacts in motion from the command line: the same file traced, driven and simulated; files that are refused."""

from pathlib import Path

import numpy as np
import pytest

from commands import run
from onesided import load_result, zoo

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.mark.parametrize("method", ["event-driven", "moreau"])
def test_the_same_file_is_driven_and_simulated_and_both_land_at_the_same_place(method):
    """Let go just past its corner limit point, the bar swings to where `drive` says: φ = π − arctan p."""
    p = 0.05
    Path("bar.toml").write_text(zoo.text("corner-limit"))
    assert run("trace", "bar.toml", "-o", "traced", "--quiet").exit_code == 0
    assert run("drive", "bar.toml", "--programme", f"-0.5, {p}", "-o", "driven", "--quiet").exit_code == 0
    options = ["--step", "0.01"] if method == "moreau" else []
    found = run("simulate", "bar.toml", "--method", method, *options, "-o", "moved", "--quiet")
    assert found.exit_code == 0, found.output
    traced, driven, moved = (load_result(name) for name in ("traced", "driven", "moved"))
    (corner,) = [event for event in traced.events if event.kind.name == "corner_limit"]
    assert corner.p == pytest.approx(0.0, abs=1e-9)
    assert len(driven.jumps) == 1
    assert moved.q[-1, 0] == pytest.approx(np.pi - np.arctan(p), abs=1e-5)
    assert moved.q[-1] == pytest.approx(driven.q[-1], abs=1e-5)


BLOCK = """
energy = "9.81*z"
[coordinates]
x = 0.0
z = 0.0
[control]
range = [0, 1]
[unilateral]
floor = "z"
[mass]
x = "1"
z = "1"
[motion]
time = [0, 1]
velocities = { x = 2.0 }
method = "event-driven"
[contacts]
floor = { restitution = 0.0, friction = 0.5, slip = "x_dot" }
"""


def test_friction_from_a_file():
    Path("block.toml").write_text(BLOCK)
    found = run("simulate", "block.toml", "-o", "slid")
    assert found.exit_code == 0, found.output
    assert "1  contact sticks  0.4077471967  floor" in found.output
    assert load_result("slid").q[-1, 0] == pytest.approx(2.0**2 / (2 * 0.5 * 9.81), abs=1e-10)


def test_implicit_forces_from_a_file():
    """A stiff spring that steps do not resolve keeps its energy with theta = 0.5; without theta it is called wrong."""
    changes = {
        '"9.81*z"': '"9.81*z + 5e5*x**2"',
        "x = 0.0": "x = 0.1",
        'friction = 0.5, slip = "x_dot"': "friction = 0.0",
        '"event-driven"': '"moreau"\nstep = 0.01\ntheta = 0.5',
    }
    stiff = BLOCK
    for old, new in changes.items():
        assert old in stiff
        stiff = stiff.replace(old, new)
    Path("stiff.toml").write_text(stiff)
    found = run("simulate", "stiff.toml", "-o", "stiff")
    assert found.exit_code == 0, found.output
    energy = load_result("stiff").energy
    assert energy == pytest.approx(np.full(len(energy), 5e5 * 0.1**2 + 2.0), rel=1e-9)
    Path("wrong.toml").write_text(stiff.replace("theta = 0.5", ""))
    assert run("simulate", "wrong.toml").exit_code == 1
    Path("bad.toml").write_text(stiff.replace("theta = 0.5", "theta = 0.2"))
    assert run("simulate", "bad.toml").exit_code == 2


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (("restitution = 0.0", "restitution = 1.5"), 2, "restitution"),
        (("restitution = 0.0", "restitution = -0.1"), 2, "restitution"),
        (("friction = 0.5", "friction = -0.5"), 2, "friction"),
        ((', slip = "x_dot"', ""), 2, "slip"),
        (('floor = "z"', 'floor = "z"\nground = "2*z"'), 2, "'floor' and 'ground' are the same"),
        (('floor = "z"', 'floor = "z"\nlid = "-1 - z"'), 1, "constraints cannot be met"),
        (("floor = {", "flor = {"), 2, "flor"),
    ],
    ids=["bouncy", "negative restitution", "negative friction", "no slip", "twice", "no room", "misspelt"],
)
@pytest.mark.parametrize("method", ["event-driven", "moreau"])
def test_bad_files(change, code, message, method):
    assert change[0] in BLOCK
    Path("bad.toml").write_text(BLOCK.replace(*change).replace("event-driven", method))
    found = run("simulate", "bad.toml")
    assert found.exit_code == code, found.output
    assert message in found.output
    assert "Traceback" not in found.output


@pytest.mark.parametrize("method", ["event-driven", "moreau"])
def test_a_start_below_the_floor_is_lifted_and_said(method):
    Path("low.toml").write_text(BLOCK.replace("z = 0.0", "z = -0.1").replace("event-driven", method))
    found = run("simulate", "low.toml", "--json")
    assert found.exit_code == 0, found.output
    assert "the start penetrated: moved by 0.1" in found.output


def test_a_cable_with_negative_stiffness_is_refused():
    Path("bad.toml").write_text(
        "[node.a]\nat = [0, 0]\nfixed = true\n[node.b]\nat = [1, 0]\nmass = 1.0\n"
        "[cable.c]\nends = ['a', 'b']\nstiffness = -1.0\n[control]\nrange = [0, 1]\n"
    )
    found = run("check", "bad.toml")
    assert found.exit_code == 2
    assert "stiffness" in found.output


def test_ctrl_c_keeps_what_was_found(monkeypatch):
    from onesided.cli.live_progress import LiveProgress

    calls = []

    def pressed_the_third_time(self, **news):
        calls.append(news)
        if len(calls) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(LiveProgress, "update", pressed_the_third_time)
    found = run("simulate", "bouncing-ball", "--method", "moreau", "-o", "kept")
    assert found.exit_code == 130, found.output
    assert "interrupted" in found.output
    kept = load_result("kept")
    assert kept.status.name == "interrupted"
    assert 0.0 < kept.t[-1] < 5.0


def test_cables_of_parts_move_from_a_file():
    Path("bungee.toml").write_text(
        """
        node.top = { at = [0, 0], fixed = true }
        node.m = { at = [0, -1], mass = 1.0 }
        cable.c = { ends = ["top", "m"], stiffness = 100 }
        gravity.g = { acceleration = [0, -9.81] }
        control = { range = [0, 1] }
        motion = { time = [0, 0.6], velocities = { m_y = 3.0 } }
        """
    )
    assert run("simulate", "bungee.toml", "-o", "out").exit_code == 0
    motion = load_result("out")
    assert motion.q[-1, 1] == pytest.approx(-1.0 + 3.0 * 0.6 - 9.81 * 0.6**2 / 2, abs=1e-7)  # it still flies
    assert np.all(motion.measures["c_tension"] == 0.0)
