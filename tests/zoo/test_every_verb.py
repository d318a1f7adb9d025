"""Every bundled model in every verb: exit code 0, or its file says what to run; what files say ends with exit 0."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from onesided import zoo
from onesided.base.errors import SolveError
from onesided.cli.app import app
from onesided.live import scenes
from onesided.live.live_model import of_model
from onesided.live.live_session import LiveSession

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


def designed(name):
    """Commands that vary the first parameter of a model by a percent or so; none where it has none that can be."""
    numbers = tomllib.loads(zoo.text(name)).get("parameters", {})
    varied = next(((key, value) for key, value in numbers.items() if isinstance(value, int | float) and value), None)
    yield ["sensitivity", name]
    if varied:
        key, value = varied
        near = ["--from", str(min(0.99 * value, 1.01 * value)), "--to", str(max(0.99 * value, 1.01 * value))]
        yield ["follow", name, "--parameter", key, *near, "-o", f"{name}-follow", "--plot", f"{name}-follow.svg"]
        yield ["stability-map", name, "--parameter", key, *near, "--samples", "3", "-o", f"{name}-map"]
        yield ["study", name, "--over", f"{key}={0.99 * value},{value}", "--workers", "0", "-o", f"{name}-study"]


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


def can_be_designed(name):
    """Exit code 0; a path without events says that there is nothing to follow; else the file says what to run."""
    for words in designed(name):
        done = run(*words)
        nothing = done.exit_code == 2 and "meets no event" in " ".join(done.output.split())
        assert done.exit_code == 0 or nothing or (done.exit_code == 1 and advised(name)), (words, done.output)


def can_be_moved(name):
    """A live session stands where the file starts, moves a little to either side, and tells where it is.

    A model that has no stable equilibrium says that it is about motion, or what else to run.
    """
    try:
        session = LiveSession(of_model(zoo.load(name)))
    except SolveError as error:
        assert advised(name) or ("[motion]" in zoo.text(name) and "onesided simulate" in str(error)), name
        return
    begin, (low, high) = session.p, session.model.bounds
    for target in (begin + min(0.01 * (high - begin), 1.0), begin, begin - min(0.01 * (begin - low), 1.0)):
        json.dumps(scenes.state(session, session.move([target])), allow_nan=False)
        assert session.p == target or session.note or session.log, (name, target)


@pytest.mark.parametrize("name", QUICK)
def test_sample(name):
    runs_or_says_what_to_run(name)
    can_be_designed(name)
    can_be_moved(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in zoo.names() if name not in QUICK])
def test_every_model_runs_every_verb_or_says_what_to_run(name):
    runs_or_says_what_to_run(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in zoo.names() if name not in QUICK])
def test_every_model_can_be_designed(name):
    can_be_designed(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in zoo.names() if name not in QUICK])
def test_every_model_can_be_moved_by_hand(name):
    can_be_moved(name)
