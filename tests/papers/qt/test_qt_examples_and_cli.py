"""The examples and the command line, with a number of each held against what is known."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from commands import run
from onesided.plots import cable_plots as cables
from onesided.results import load_result
from onesided.zoo.suspension import Suspension

EXAMPLES = Path(__file__).parents[3] / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_study_of_methods():
    study = example("ex61_which_slings_are_taut")
    table = study.study((3, 8))
    for m, row in table.items():
        assert 1 <= row["active set"][0] <= row["Lemke"][0] < row["exhaustive"][0] <= 2**m
    assert table[8]["exhaustive"][0] > 10 * table[3]["exhaustive"][0]
    fraction, error = study.printed_network(Suspension(stiffness=2e5, stretch=0.001), until=4.0, step=0.002)
    assert fraction > 0.3
    assert error > 1e-3


def test_figures(tmp_path):
    pytest.importorskip("matplotlib")
    series = example("ex62_cable_figures").figures(tmp_path, until=5.0)
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"figure{i}.png" for i in (5, 6, 7, 8)]
    for name in ("figure5", "figure8"):
        assert min(values.min() for _, values in series[name].values()) == 0.0
    assert min(values.min() for _, values in series["figure6"].values()) < -3.0
    assert min(values.min() for _, values in series["figure7"].values()) < -600.0
    together = np.array([values for _, values in series["figure8"].values()])
    assert not (together == 0.0).all(axis=0).any()


def test_suspension_on_the_command_line(tmp_path):
    folder = tmp_path / "run"
    done = run("cables", "suspension", "--until", "2", "-o", str(folder))
    assert done.exit_code == 0, done.output
    assert "'sling 2' goes slack at t = 0.1299669949" in done.output
    assert load_result(folder).switches[0].t == pytest.approx(0.129966995, abs=1e-9)


def test_pictures_of_cables(tmp_path):
    folder = tmp_path / "run"
    run("cables", "suspension", "--until", "2", "-o", str(folder))
    motion = load_result(folder)
    for kind in ("path", "reactions", "gaps", "energy", "raster", "sketch"):
        done = run("plot", str(folder), "--kind", kind)
        assert done.exit_code == 0, done.output
        assert (folder / f"{kind}.svg").stat().st_size > 1000
    axes = cables.episodes(motion)
    bars = axes.collections[1].get_paths()
    assert len(bars) == len(motion.episodes("sling 2"))
    assert bars[0].vertices[:, 0].min() == pytest.approx(0.129966995, abs=1e-9)
    assert cables.forces(motion).lines[1].get_ydata() == pytest.approx(motion.s[:, 1])
    refused = run("plot", str(folder), "--kind", "drift")
    assert refused.exit_code == 2
    assert "reactions, gaps, energy, raster" in refused.output


def test_mast_on_the_command_line(tmp_path):
    done = run("cables", "mast", "--law", "bilateral", "--json", "--until", "20", "-o", str(tmp_path / "run"))
    rows = [json.loads(line) for line in done.output.splitlines()]
    assert [row["smallest_tension"] for row in rows if row["kind"] == "cable"] == pytest.approx(
        [-45008, -828497, -679884], rel=2e-4
    )
    assert rows[-1]["status"] == "solved"
    taut = run("cables", "mast", "--until", "2", "-o", str(tmp_path / "run"), "--method", "explicit")
    assert taut.exit_code == 0
    assert "goes slack" in taut.output


def test_printed_network_fails_loudly(tmp_path):
    done = run("cables", "suspension", "--method", "printed-network", "--until", "1", "-o", str(tmp_path / "run"))
    assert done.exit_code == 1
    assert "violated" in done.output


@pytest.mark.parametrize("arguments", [
    ("suspension", "--stiffness", "-1"), ("suspension", "--slings", "0"), ("mast", "--frequency", "-2"),
    ("suspension", "--until", "-1"), ("suspension", "--method", "stepping", "--step", "0"),
    ("mast", "--method", "stepping"),
])  # fmt: skip
def test_bad_input_is_one_clear_line(arguments, tmp_path):
    done = run("cables", *arguments, "-o", str(tmp_path / "run"))
    assert done.exit_code == 2
    assert "got" in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_help_is_light():
    code = """
import sys
from typer.testing import CliRunner
from onesided.cli.app import app
CliRunner().invoke(app, ["cables", "--help"])
print([m for m in ("jax", "scipy", "matplotlib") if m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_progress_line_where_there_is_no_terminal(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "onesided", "cables", "suspension", "--until", "1", "-o", str(tmp_path / "run")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    assert "of ẋ unexplained" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_progress_line_and_ctrl_c_on_a_terminal(tmp_path):
    import os
    import pty
    import signal

    out, end = pty.openpty()
    folder = tmp_path / "run"
    process = subprocess.Popen(
        [sys.executable, "-m", "onesided", "cables", "suspension", "--until", "10000", "-o", str(folder)],
        stdout=subprocess.PIPE, stderr=end, env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    )  # fmt: skip
    os.close(end)
    seen = b""
    while b"events" not in seen:
        seen += os.read(out, 4096)
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"points" in seen
    assert b"/s" in seen
    assert "Ctrl-C at t = " in text.decode()
    motion = load_result(folder)
    assert motion.status.name == "interrupted"
    assert 0 < motion.t[-1] < 10000
    os.close(out)
