"""Commands that look at saved results."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import onesided
from commands import run
from onesided.base.errors import UsageError
from onesided.cli import listing
from onesided.cli.result_members import with_members
from onesided.results import Kind, Occurrence
from onesided.results.explain import slug, slugs, theory


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results") / "truss"
    assert run("trace", "von-mises-floor", "-o", str(folder), "--report").exit_code == 0
    return folder


@pytest.mark.parametrize("kind", ["path", "reactions", "gaps", "energy", "sketch"])
def test_plot_writes_what_it_says(results, kind):
    done = run("plot", str(results), "--kind", kind)
    assert done.exit_code == 0, done.output
    assert Path(done.output.strip()).read_text().startswith("<?xml")


def test_plot_takes_axes_and_a_file(results, tmp_path):
    done = run("plot", str(results), "--x", "energy", "--y", "reaction floor", "-o", str(tmp_path / "a.pdf"))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--x", "fi"], "the path holds no 'fi'"),
        (["-o", "a.bmp"], "expected .svg or .pdf or .png"),
        (["-o", "nowhere/a.svg"], "could not be written"),
    ],
)
def test_plot_refuses_in_words(results, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("plot", str(results), *arguments)
    assert (done.exit_code, message in done.output) == (2, True), done.output
    assert "Traceback" not in done.output


def test_long_lists_are_cut_and_say_where_the_rest_is(results, capsys):
    path = onesided.load_result(results)
    many = replace(path, events=tuple(path.events[i % len(path.events)] for i in range(6138)))
    listing.path(many, as_json=False, folder="here")
    told = capsys.readouterr().out.splitlines()
    assert len(told) < 50, "thirty events, some with a line below"
    numbers = [int(line.split()[0]) for line in told[1:] if line.split()[0].isdigit() and "residual" not in line]
    assert numbers == list(range(1, 21)), "bounds have no number"
    assert "  … 6,108 more events, in events.csv" in told
    rows = (results / "events.csv").read_text().splitlines()
    assert rows[0] == "point,kind,control,constraints,words"
    assert len(rows) == 1 + len(path.events)
    assert [float(row.split(",")[2]) for row in rows[1:]] == [event.p for event in path.events]


def test_a_folder_without_results_is_refused(tmp_path):
    for command in ("plot", "report", "animate"):
        done = run(command, str(tmp_path))
        assert (done.exit_code, "holds no result" in done.output) == (2, True)


def test_report_option_and_command_write_the_same(results, tmp_path):
    inside = (results / "report.html").read_text()
    assert run("report", str(results), "-o", str(tmp_path / "r.html")).exit_code == 0
    assert (tmp_path / "r.html").read_text() == inside
    assert "Von Mises truss above a floor" in inside


def test_drive_and_diagram_write_reports(tmp_path):
    assert run("drive", "corner-limit", "-o", str(tmp_path / "d"), "--report").exit_code == 0
    assert "Loading history" in (tmp_path / "d" / "report.html").read_text()
    assert run("diagram", "column-stop", "-o", str(tmp_path / "g"), "--report").exit_code == 0
    assert "3 branches" in (tmp_path / "g" / "report.html").read_text()
    assert run("plot", str(tmp_path / "g"), "-o", str(tmp_path / "g.png")).exit_code == 0


def test_animate_writes_a_gif(results, tmp_path):
    done = run("animate", str(results), "--frames", "5", "-o", str(tmp_path / "a.gif"))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "a.gif").read_bytes().startswith(b"GIF8")
    assert run("animate", str(results), "--frames", "1").exit_code == 2


@pytest.mark.parametrize("kind", [*Kind, *Occurrence], ids=str)
def test_every_kind_of_event_is_explained(kind):
    done = run("explain", slug(kind))
    assert done.exit_code == 0
    assert done.output.startswith(kind.value)
    assert theory(kind) in done.output
    assert run("explain", slug(kind).replace("-", "_")).output == done.output
    page, _, anchor = theory(kind).partition("#")
    assert f"{{#{anchor}}}" in (Path(__file__).parents[1] / "docs" / page).read_text(encoding="utf-8")


def test_names_of_motion_events_may_be_short():
    assert run("explain", "impact").output == run("explain", "motion-impact").output
    assert run("explain", "opens").output != run("explain", "motion-opens").output


def test_explain_lists_and_suggests():
    listed = run("explain")
    assert all(name in listed.output for name in slugs())
    wrong = run("explain", "corner-limt")
    assert (wrong.exit_code, "did you mean 'corner-limit'" in wrong.output) == (2, True)


def test_events_point_to_the_theory(tmp_path):
    printed = run("trace", "von-mises-floor", "-o", str(tmp_path / "t")).output
    assert "onesided explain limit | corner-limit" in printed
    lines = run("trace", "von-mises-floor", "-o", str(tmp_path / "t"), "--json", "--quiet").output.splitlines()
    assert json.loads(lines[1])["event"]["theory"] == "theory/events.md#corner-limit"


def test_looking_at_results_needs_no_jax(results):
    code = (
        "import sys; from typer.testing import CliRunner; from onesided.cli.app import app;"
        f"r = CliRunner().invoke(app, ['report', {str(results)!r}]); assert r.exit_code == 0, r.output;"
        "sys.exit('jax' if 'jax' in sys.modules else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_saved_results_know_their_members(tmp_path):
    """Balance at the apex of the truss, 2 N y/L = −p, in a result that was computed with other numbers and saved."""
    folder = tmp_path / "truss"
    assert run("trace", "von-mises-truss", "--set", "k=2", "-o", str(folder)).exit_code == 0
    path = with_members(onesided.load_result(folder), (folder / "model.toml").read_text())
    np.testing.assert_allclose(2 * path["west.force"] * path["apex_y"] / path["west.length"], -path.p, atol=1e-9)
    done = run("plot", str(folder), "--kind", "sketch", "--members", "force", "-o", str(tmp_path / "a.svg"))
    assert done.exit_code == 0, done.output


def test_a_page_written_anew_does_not_damage_its_result(tmp_path):
    """Another version writes another page, and a reader may delete it: the numbers are those that were written."""
    folder = tmp_path / "bar"
    assert run("trace", "corner-limit", "-o", str(folder), "--report").exit_code == 0
    (folder / "report.html").write_text("<!doctype html>another version's")
    points = len(onesided.load_result(folder))
    (folder / "report.html").unlink()
    assert len(onesided.load_result(folder)) == points
    (folder / "path.csv").write_text("p\n0\n")
    with pytest.raises(UsageError, match="damaged"):
        onesided.load_result(folder)


def test_a_result_without_its_file_stays_as_it_is(results):
    path = onesided.load_result(results)
    assert with_members(path, "") is path
    assert with_members(path, "energy = 'no model'") is path


@pytest.mark.parametrize("verb", ["follow", "stability-map"])
def test_pages_of_followed_events(tmp_path, verb):
    folder = tmp_path / verb
    done = run(verb, "corner-limit", "--parameter", "k", "-o", str(folder))
    assert done.exit_code == 0, done.output
    done = run("report", str(folder))
    assert done.exit_code == 0, done.output
    assert "corner limit point" in (folder / "report.html").read_text()
