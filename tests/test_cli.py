"""The command line from outside: exit codes, messages, files, start-up."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm

import onesided
from commands import run
from onesided import zoo

pytestmark = pytest.mark.usefixtures("own_folder")


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from typer.testing import CliRunner; from onesided.cli.app import app;"
        "r = CliRunner().invoke(app, ['--help']); assert r.exit_code == 0;"
        "heavy = [m for m in ('jax', 'scipy', 'matplotlib', 'numba', 'pydantic') if m in sys.modules];"
        "sys.exit(','.join(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_examples_are_listed_and_copied_out():
    listed = run("examples")
    assert all(name in listed.output for name in zoo.names())
    assert run("examples", "corner-limit").output == zoo.text("corner-limit")
    wrong = run("examples", "corner-limt")
    assert wrong.exit_code == 2
    assert "corner-limit" in wrong.output


def test_schema_is_json_and_describes_the_tables():
    schema = json.loads(run("schema").output)
    assert {"energy", "coordinates", "control", "unilateral"} <= set(schema["properties"])


@pytest.mark.parametrize("name", zoo.names())
def test_every_bundled_model_passes_check(name):
    result = run("check", name)
    assert result.exit_code == 0, result.output


def test_solve_finds_the_far_equilibrium():
    result = run("solve", "corner-limit", "--p", "0.25", "--json")
    found = json.loads(result.output)
    assert result.exit_code == 0
    assert found["coordinates"]["phi"] == pytest.approx(2.8966139905, abs=1e-9)
    assert found["energy"] == pytest.approx(0.00047359360, abs=1e-10)
    assert found["unilateral"]["stop"]["state"] == "inactive"
    assert (found["instability"], found["stability"]) == (0, "stable")


def test_solve_where_nothing_balances_says_how_close_it_came():
    result = run("solve", "end-point", "--p", "-0.5")
    assert result.exit_code == 1
    assert "best relative residual" in result.output


def test_p_outside_the_range_is_refused():
    result = run("solve", "corner-limit", "--p", "7")
    assert result.exit_code == 2
    assert "expected -2 to 2" in result.output


def test_trace_writes_one_folder_that_loads_back():
    result = run("trace", "von-mises-floor")
    assert result.exit_code == 0
    folder = Path("onesided-results/von-mises-floor-trace")
    files = ["arrays.npz", "events.csv", "model.toml", "path.csv", "result.json"]
    assert sorted(p.name for p in folder.iterdir()) == files
    path = onesided.load_result(folder)
    assert [e.kind.name for e in path.events] == ["limit", "corner_limit", "bound"]
    assert path.events[1].p == pytest.approx(0.038529009653515, abs=1e-13)
    table = np.loadtxt(folder / "path.csv", delimiter=",", skiprows=1)
    assert np.array_equal(table[:, 1], path.p)
    assert (folder / "model.toml").read_text() == zoo.text("von-mises-floor")


def test_parameters_can_be_changed_and_mistakes_are_named():
    result = run("trace", "von-mises-floor", "--set", "ys=-0.45", "--json")
    lines = [json.loads(line) for line in result.output.splitlines()]
    kinds = [line["event"]["kind"] for line in lines if line["kind"] == "event"]
    assert kinds == ["limit", "limit", "closes", "bound"]
    wrong = run("trace", "von-mises-floor", "--set", "y_s=1")
    assert wrong.exit_code == 2
    assert "unknown parameter 'y_s'" in wrong.output


def test_drive_tells_the_story_of_the_corner():
    result = run("drive", "corner-limit", "--programme", "-1, 1, -1")
    assert result.exit_code == 0
    assert "after a corner limit point: energy 2 released" in result.output
    assert "energy 2 released" in run("drive", "corner-limit", "--programme", "-1, 1", "--fall", "damped").output
    wrong = run("drive", "corner-limit", "--programme", "-1, 1", "--fall", "free")
    assert wrong.exit_code == 2
    assert "'descent' or 'damped' or 'both'" in wrong.output


def test_diagram_lists_branches():
    result = run("diagram", "column-stop", "--json")
    lines = [json.loads(line) for line in result.output.splitlines()]
    assert lines[-1]["branches"] == 3
    assert lines[-1]["complete"] is True


def test_diagram_folds_images():
    result = run("diagram", "tripod-truss", "--symmetry")
    assert result.exit_code == 0
    assert "branch 0 × 1, symmetry C3v (from the start)" in result.output
    refused = run("diagram", "column-stop", "--symmetry")
    assert refused.exit_code != 0 and "only structures made of parts" in refused.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no such file"),
        ("energy = ", "TOML"),
        ("energy = 'x'\n[coordinates]\nx = 0.0\n[control]\nrange = [0, 1]\n[unilaterl]\na = 'x'", "unilaterl"),
        ("energy = 'a'\n[coordinates]\nx = 0.0\n[control]\nrange=[0,1]\n[define]\na = 'b'\nb = 'a'", "a"),
        ("energy = 'x**2'\n[coordinates]\nx = 0.0\n[control]\nrange=[0,1]\n[unilateral]\nwall = 'p + 1'", "wall"),
        ("energy = 'sqrt(x)'\n[coordinates]\nx = -1.0\n[control]\nrange=[0,1]", "not finite"),
    ],
)
@pytest.mark.parametrize("command", ["check", "solve", "trace"])
def test_bad_files_give_one_clear_message_and_write_nothing(text, message, command):
    if text is not None:
        Path("bad.toml").write_text(text)
    result = run(command, "bad.toml")
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
    assert not Path("onesided-results").exists()


def test_dependent_constraints_are_named():
    Path("twice.toml").write_text(
        "energy = 'y + x**2'\n[coordinates]\nx = 0.0\ny = 0.0\n[control]\nrange=[0,1]\n"
        "[unilateral]\nfloor = 'y'\nsame = '2*y'\nwall = 'x + 1'"
    )
    result = run("solve", "twice.toml")
    assert result.exit_code == 1
    assert "floor, same" in result.output
    assert "wall" not in result.output.split("dependent constraints")[1].splitlines()[0]


def test_results_that_cannot_be_written_give_a_message_before_or_after_the_work():
    Path("mine").mkdir()
    Path("mine/thesis.tex").write_text("x")
    taken = run("trace", "corner-limit", "-o", "mine")
    assert (taken.exit_code, "holds no result" in taken.output) == (2, True)
    Path("afile").write_text("x")
    blocked = run("trace", "corner-limit", "-o", "afile/sub")
    assert blocked.exit_code == 2
    assert "cannot be written" in blocked.output
    assert "Traceback" not in blocked.output
    Path("empty").mkdir()
    assert run("trace", "corner-limit", "-o", "empty").exit_code == 0


def test_terminals_without_arrows_get_a_question_mark():
    code = "from onesided.cli.app import main; main()"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-c", code, "trace", "corner-limit"],
        capture_output=True,
        env=environment,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "1  corner limit point  0" in done.stdout


def test_a_misspelt_bundled_model_is_suggested():
    result = run("trace", "corner-limt")
    assert result.exit_code == 2
    assert "did you mean corner-limit" in result.output


def test_programmes_stay_within_the_range():
    result = run("drive", "corner-limit", "--programme", "-1, 5")
    assert (result.exit_code, "outside its range" in result.output) == (2, True)


def test_a_failed_solve_claims_no_stability():
    failed = json.loads(run("solve", "end-point", "--p", "-0.5", "--json").output)
    assert failed["status"] != "solved"
    assert "stability" not in failed
    assert "stability" not in run("solve", "end-point", "--p", "-0.5").output


def test_simulate_shows_the_end_and_writes_a_folder_that_loads_back():
    result = run("simulate", "knife-edge", "--rtol", "1e-10", "-o", "out")
    assert result.exit_code == 0, result.output
    assert "energy error" in result.output
    motion = onesided.load_result("out")
    assert motion.q[-1, :2] == pytest.approx([0.181459842925, 5.851375221574], abs=1e-6)
    assert Path("out/model.toml").exists()
    assert Path("out/motion.csv").exists()


def test_steer_brings_the_load_to_rest_at_the_least_cost():
    """For a short way the swing is small, and the least cost that of the controllability Gramian, dᵀ W⁻¹ d."""
    Path("crane.toml").write_text(
        zoo.text("gantry-crane").replace("trolley = 2.0,", "trolley = 0.02,").replace("[0, 3]", "[0, 2]"),
        encoding="utf-8",
    )
    result = run("steer", "crane.toml", "--json", "-o", "out")
    assert result.exit_code == 0, result.output
    M, m, L, g = 20.0, 5.0, 1.0, 9.81
    A = np.zeros((4, 4))
    A[0, 2] = A[1, 3] = 1.0
    A[2, 1], A[3, 1] = m * g / M, -(M + m) * g / (M * L)
    b = np.array([0.0, 0.0, 1.0 / M, -1.0 / (M * L)])
    times, weights = np.polynomial.legendre.leggauss(40)
    pushes = np.array([expm(A * (2.0 - (1.0 + s))) @ b for s in times])
    W = np.einsum("k,ki,kj->ij", weights, pushes, pushes)
    d = np.array([0.02, 0.0, 0.0, 0.0])
    assert json.loads(result.output.splitlines()[-1])["cost"] == pytest.approx(d @ np.linalg.solve(W, d), rel=1e-3)
    found = onesided.load_result("out")
    assert found.motions[0].q[-1] == pytest.approx([0.02, 0.0], abs=1e-5)
    assert "states no goal" in run("steer", "pendulum").output


def test_simulate_in_json_and_with_other_parameters():
    result = run("simulate", "pendulum", "--json", "--time", "1", "--set", "m=3", "-o", "out")
    record = json.loads(result.output.splitlines()[-1])
    assert record["status"] == "finished"
    assert record["end"]["x"] == pytest.approx(0.986291751132, abs=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("simulate", "von-mises"), "states no motion"),
        (("simulate", "pendulum", "--method", "euler"), "no such method"),
        (("simulate", "pendulum", "--time", "-1"), "time span"),
    ],
)
def test_simulate_refuses_what_makes_no_sense(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
