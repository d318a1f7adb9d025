"""Progress: lines for machines as they come, a bar on a terminal, nothing elsewhere."""

import itertools
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import onesided
from onesided.cli.app import app

COMMAND = [sys.executable, "-c", "from onesided.cli.app import main; main()"]
RUNS = [
    ("trace", "von-mises-floor"),
    ("trace", "bistable-chain"),
    ("diagram", "column-stop"),
    ("drive", "corner-limit"),
    ("simulate", "pendulum"),
    ("simulate", "bouncing-ball"),
]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*arguments):
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 0, done.output
    return done


def long_chain():
    """A chain of nine units that snap: 19,682 limit points."""
    units = range(1, 10)
    bars = [f"{1 + 0.02 * i}/2*(sqrt(1 + (y{i} - {f'y{i - 1}' if i > 1 else '0'})**2) - l)**2" for i in units]
    Path("long.toml").write_text(
        f'energy = "{" + ".join(bars)} + p*y9"\n[coordinates]\n'
        + "".join(f"y{i} = {0.5 * i}\n" for i in units)
        + "[parameters]\nl = 1.118033988749895\n[control]\nstart = 0\nrange = [-1, 1]\n"
    )
    return "long.toml"


@pytest.mark.parametrize("arguments", RUNS, ids=" ".join)
def test_every_line_is_an_object_with_its_kind(arguments):
    done = run(*arguments, "--json", "-o", "out")
    assert done.stderr == ""
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [line["kind"] for line in lines]
    assert kinds == sorted(kinds, key=["progress", "event", "result"].index), "in this order"
    assert kinds.count("result") == 1
    progress = [line for line in lines if line["kind"] == "progress"]
    assert all(a["points"] <= b["points"] for a, b in itertools.pairwise(progress))
    assert {"command", "name", "value", "points", "events", "step", "rate", "seconds"} <= progress[0].keys()
    last, result = progress[-1], onesided.load_result("out")
    points = sum(len(path) for path in result.paths) if hasattr(result, "paths") else len(result)
    assert (last["command"], last["points"], lines[-1]["points"]) == (arguments[0], points, points)
    told = sum("event" in line for line in lines)
    assert last["events"] == told
    end = result.t[-1] if arguments[0] == "simulate" else (getattr(result, "paths", None) or [result])[-1].p[-1]
    assert last["value"] == pytest.approx(end, rel=1e-12)


def test_jumps_and_branches_are_told():
    lines = [json.loads(line) for line in run("drive", "corner-limit", "--json").stdout.splitlines()]
    (jump,) = [line for line in lines if "jump" in line]
    assert (jump["kind"], jump["jump"]["energy"]) == ("event", pytest.approx(2.0))
    lines = [json.loads(line) for line in run("diagram", "column-stop", "--json", "-q").stdout.splitlines()]
    assert {line["kind"] for line in lines} == {"event", "result"}
    assert {line["branch"] for line in lines[:-1]} == {0, 1, 2}
    assert [branch["parent"] for branch in lines[-1]["tree"]] == [-1, 0, 0]


def test_motions_of_cables_are_told_alike():
    lines = [json.loads(line) for line in run("cables", "suspension", "--until", "1", "--json").stdout.splitlines()]
    kinds = [line["kind"] for line in lines]
    assert kinds == sorted(kinds, key=["progress", "cable", "event", "result"].index)
    assert set(kinds) == {"progress", "cable", "event", "result"}


def test_errors_are_lines_too():
    done = CliRunner().invoke(app, ["trace", "nowhere", "--json"])
    assert done.exit_code == 2
    assert json.loads(done.stdout)["kind"] == "error"


def test_lines_come_while_the_work_goes_on():
    process = subprocess.Popen([*COMMAND, "trace", long_chain(), "--json"], stdout=subprocess.PIPE, text=True)
    try:
        lines = [json.loads(process.stdout.readline()) for _ in range(4)]
        assert process.poll() is None, "still at work"
    finally:
        process.terminate()
        process.communicate()
    assert {line["kind"] for line in lines} == {"progress"}
    assert lines[-1]["points"] > lines[0]["points"]
    assert lines[-1]["seconds"] - lines[1]["seconds"] > 0.3, "a few lines a second, not one for each point"


@pytest.mark.parametrize("arguments", [("trace", "long"), ("simulate", "pendulum")])
def test_a_terminal_gets_a_bar_with_everything_on_it(arguments):
    name = long_chain() if arguments[1] == "long" else arguments[1]
    more = ["--max-points", "4000"] if name == "long.toml" else []
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "160", "LINES": "40"}
    process = subprocess.Popen(
        [*COMMAND, arguments[0], name, *more], stderr=theirs, stdout=subprocess.PIPE, env=environment
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # the other side is closed
        pass
    process.communicate()
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    driver = "t" if arguments[0] == "simulate" else "p"
    assert text.startswith("compiling …")
    assert re.search(rf"{driver} = \S+ +\d+ points +\d+ events +step \S+ +\d+/s", text), text[-500:]


def test_nothing_is_shown_where_there_is_no_terminal():
    assert run("trace", "von-mises-floor").stderr == ""
