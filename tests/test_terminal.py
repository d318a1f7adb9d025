"""What a terminal shows: tables of events with one numbering, words wrapped at 80 columns, restrained colour."""

import re

import pytest
from typer.testing import CliRunner

import onesided
from onesided.cli.app import app

HEADS = ["№", "event", "p", "contacts", "stability"]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What commands print, each run once."""
    folder = tmp_path_factory.mktemp("told")

    def run(*words):
        done = CliRunner().invoke(app, [*words, "-o", str(folder / "-".join(words[:2]))])
        assert done.exit_code == 0, done.output
        return done.output, onesided.load_result(folder / "-".join(words[:2]))

    return {words: run(*words) for words in [("drive", "corner-limit"), ("diagram", "column-stop")]}


def numbers(text):
    return [int(found) for found in re.findall(r"^ *(\d+)  [a-z]", text, re.MULTILINE)]


def test_events_and_jumps_have_the_numbers_of_the_result(told):
    for text, found in told.values():
        assert numbers(text) == [one.number for one in found.numbered] == list(range(1, len(found.numbered) + 1))
        for one in found.numbered:
            assert re.search(rf"^ *{one.number}  .*{re.escape(f'{one.what.p + 0.0:.10g}')}", text, re.MULTILINE)
        assert text.splitlines()[0].split() == HEADS


def test_lines_fit_and_go_on_indented(told):
    for text, _ in told.values():
        assert all(len(line) <= 80 or line.startswith("results in ") for line in text.splitlines())
    text, _ = told["drive", "corner-limit"]
    assert "\n   released at constant p the system jumps\n" in text
    assert "\n   after a corner limit point: energy 2 released\n" in text


@pytest.mark.parametrize("columns", [40, 48, 60])
def test_a_narrow_terminal_wraps_and_loses_no_number(tmp_path, monkeypatch, columns):
    """Where columns do not fit, rows are sentences: every name and number is still there, and every line fits."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(columns))
    text = CliRunner().invoke(app, ["trace", "two-supports", "-o", "narrow"]).output
    monkeypatch.setenv("COLUMNS", "100")
    wide = CliRunner().invoke(app, ["trace", "two-supports", "-o", "narrow"]).output
    plain = {word.strip(",;") for word in text.split()}
    assert {word.strip(",;") for word in wide.split()} - set(HEADS) <= plain
    assert all(len(line) <= columns for line in text.splitlines())
    assert numbers(text) == numbers(wide)


@pytest.mark.parametrize("words", [["explain", "limit"], ["explain"], ["examples"]])
def test_explanations_and_lists_fit(monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "60")
    assert all(len(line) <= 60 for line in CliRunner().invoke(app, words).output.splitlines())


def test_pipes_get_no_colour(told):
    assert all("\x1b" not in text for text, _ in told.values())


def test_limits_are_no_failure_of_a_diagram_and_are_told(tmp_path):
    done = CliRunner().invoke(app, ["diagram", "column-stop", "--max-branches", "1", "-o", str(tmp_path / "one")])
    assert (done.exit_code, "not complete" in done.output) == (0, True)
