"""The README's Python and model file, executed as written."""

import re
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import onesided
from onesided import zoo
from onesided.cli.app import app

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def with_word(word):
    return next(block for block in blocks("sh") if word in block)


def test_what_to_change_is_told_as_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for line in with_word("onesided sensitivity").splitlines()[:2]:  # the others are tested where they are made
        done = CliRunner().invoke(app, line.split("#")[0].split()[1:])
        assert done.exit_code == 0, done.output


def test_python_screen_runs_as_written(capsys):
    names = {}
    exec(compile(blocks("python")[0], "README.md", "exec"), names)  # noqa: S102 - our own README
    printed = capsys.readouterr().out
    assert "corner limit point at p = 0: contact 'stop' opens; the path turns back" in printed
    assert "2 rays leave it" in printed
    assert abs(names["history"].jumps[0].q_to[0] - np.pi) < 1e-12
    assert abs(names["free"].q[0] - (np.pi - np.arctan(0.3))) < 1e-12


def test_model_file_screen_runs_as_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my.toml").write_text(blocks("toml")[0], encoding="utf-8")
    system, task = onesided.load("my.toml")
    assert (system.coordinates, task.programme) == (("phi",), (-1.0, 1.0, -1.0))
    lines = [line.split("#")[0].split() for line in blocks("sh")[1].splitlines()]
    commands = [words[1:] for words in lines if words[0] == "onesided"]
    assert len(commands) == 6
    for command in commands:
        assert CliRunner().invoke(app, command).exit_code == 0, command


def test_the_structure_and_the_list_of_models_are_right():
    system, _ = onesided.loads(blocks("toml")[1])
    assert system.n == 100
    listed = set(re.findall(r"`([a-z-]+)`", README.partition("Bundled structures")[2].partition("##")[0]))
    assert listed == {name for name in zoo.names() if "[coordinates]" not in zoo.text(name)}


def test_pictures_are_made_as_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my.toml").write_text(blocks("toml")[0], encoding="utf-8")
    for line in with_word("--report").splitlines():
        done = CliRunner().invoke(app, line.split("#")[0].split()[1:])
        assert done.exit_code == 0, done.output
    assert Path("onesided-results/my-drive/report.html").stat().st_size > 50_000
    assert Path("loop.svg").exists()


def test_motions_run_as_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for line in blocks("sh")[2].splitlines():
        done = CliRunner().invoke(app, line.split("#")[0].split()[1:])
        assert done.exit_code == 0, done.output


def test_the_demo_prints_what_the_readme_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = CliRunner().invoke(app, ["demo"]).output
    for line in blocks("text")[0].splitlines():
        assert line in printed
