"""Commands about parameters."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import onesided
from onesided.cli.app import app


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def call(*words):
        found = CliRunner().invoke(app, list(words))
        return found.exit_code, found.output

    return call


def test_what_moves_the_limit_load_is_printed(run, tmp_path):
    code, text = run("sensitivity", "von-mises", "--plot", "bars.svg", "--report", "bars.html")
    assert code == 0
    names = [line.split()[0] for line in text.splitlines()[2:5]]
    assert names == ["h", "b", "k"]
    assert (tmp_path / "bars.svg").exists()
    assert "<svg" in (tmp_path / "bars.html").read_text(encoding="utf-8")
    code, text = run("sensitivity", "von-mises", "--json")
    assert json.loads(text.splitlines()[0])["p_rate"] == pytest.approx(0.2394698032)
    code, text = run("sensitivity", "von-mises", "--event", "9")
    assert code != 0
    assert "there is no such event" in text


def test_an_event_is_followed_and_kept(run, tmp_path):
    code, text = run("follow", "von-mises-floor", "--event", "2", "--parameter", "ys", "--from", "0.1", "-o", "kept")
    assert code == 0
    assert "corner meets limit point: 'floor'" in text
    assert (tmp_path / "kept" / "result.json").exists()
    code, text = run("follow", "von-mises-floor", "--parameter", "why")
    assert code != 0
    assert "did you mean" in text


def test_regions_of_a_parameter_are_listed(run, tmp_path):
    words = ("--parameter", "ys", "--from", "0.1", "--to", "0.4", "--samples", "2", "-o", "kept")
    code, text = run("stability-map", "von-mises-floor", *words)
    assert code == 0
    words = " ".join(text.split())
    assert words.startswith("0.1 to 0.2778800911: limit point, corner limit point 'floor'")
    assert " 0.2778800911 to 0.4: contact closes 'floor'" in words
    assert (tmp_path / "kept" / "result.json").exists()


@pytest.mark.parametrize(
    "stated", ["parameters = {h = 0.5}\n", "parameters.h = 0.5\n", "[parameters]\nh = 0.5  # the rise\n"]
)
def test_the_new_model_does_what_was_asked_for(run, tmp_path, stated):
    """Two bars turn at p = 2 ((1 + h²)^(1/3) − 1)^(3/2); however the file states its parameters, the new one does."""
    lines = 'energy = "(sqrt(1 + h**2) - hypot(1, y))**2 - p*(h - y)"\n', "coordinates = {y = 0.5}\n"
    control = '[control]\nrange = [-0.5, 0.5]\n[design]\ngoal = "p at limit = 0.06"\nvariables = {h = [0.2, 0.8]}\n'
    (tmp_path / "own.toml").write_text("".join([*lines, stated, control]), encoding="utf-8")
    code, text = run("design", "own.toml", "-o", "kept")
    assert code == 0, text
    system = onesided.load(tmp_path / "kept" / "model.toml").system
    assert 2 * (np.cbrt(1 + system.parameters["h"] ** 2) - 1) ** 1.5 == pytest.approx(0.06, rel=1e-8)
    limit = onesided.trace(system, [system.parameters["h"]], 0.0, p_bounds=(-0.5, 0.5)).events[0]
    assert limit.p == pytest.approx(0.06, rel=1e-8)
