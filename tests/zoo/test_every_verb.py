"""Every bundled model in every verb: exit code 0, or its file says what to run; what files say ends with exit 0."""

import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from onesided import zoo
from onesided.cli.app import app

QUICK = ("corner-limit", "knife-edge")
VERBS = ("check", "solve", "trace", "drive", "diagram", "simulate", "steer")
FOLDERS = ("trace", "drive", "diagram", "simulate", "steer")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*arguments):
    done = CliRunner().invoke(app, list(arguments))
    assert isinstance(done.exception, SystemExit | None), (arguments, done.exception)
    return done


def advised(name):
    """Commands that the description of a model names, as lists of words."""
    text = tomllib.loads(zoo.text(name)).get("description", "")
    return [found.split()[1:] for found in re.findall(rf"`(onesided \w+ {name}(?: [^`]*)?)`", text)]


def sensible(name):
    """Verbs for which the file holds what they need."""
    text = zoo.text(name)
    return [verb for verb in VERBS if {"simulate": "[motion]", "steer": "[steer]"}.get(verb, "") in text]


def look_at(folder):
    for command in ("plot", "report"):
        done = run(command, str(folder))
        assert done.exit_code == 0, (command, folder, done.output)


def runs_or_says_what_to_run(name):
    for words in advised(name):
        done = run(*words, "-o", f"advised-{words[0]}")
        assert done.exit_code == 0, (words, done.output)
        look_at(f"advised-{words[0]}")
    for verb in sensible(name):
        if any(words[0] == verb for words in advised(name)):
            continue
        folder = Path(f"{name}-{verb}")
        done = run(verb, name, *(["-o", str(folder)] if verb in FOLDERS else []))
        assert done.exit_code == 0 or (done.exit_code == 1 and advised(name)), (verb, name, done.output)
        if done.exit_code == 0 and verb in FOLDERS:
            look_at(folder)


@pytest.mark.parametrize("name", QUICK)
def test_sample(name):
    runs_or_says_what_to_run(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in zoo.names() if name not in QUICK])
def test_every_model_runs_every_verb_or_says_what_to_run(name):
    runs_or_says_what_to_run(name)
