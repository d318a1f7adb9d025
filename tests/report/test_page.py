"""The page as text: it holds the numbers of the result, nothing of it can run, it stays small, it is written whole."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from synthetic import path

import onesided
from onesided import report, zoo
from onesided.base.errors import ModelError
from onesided.plots.palette import HUES, night
from onesided.report import Viewer, html
from onesided.results import Diagram, Kind, columns

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\u2028\"'`${x}"


class Elements(HTMLParser):
    """Tags, attributes and the text of scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self._script = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._script = tag == "script"
        if self._script:
            self.scripts.append("")

    def handle_data(self, data):
        if self._script:
            self.scripts[-1] += data

    def handle_endtag(self, tag):
        self._script = False


def data_of(text):
    data, _ = Elements(text).scripts
    return json.loads(data)


def numbers(data):
    kind = "<f4" if data["single"] else "<f8"
    table = np.frombuffer(base64.b64decode(data["columns"]), kind).reshape(len(data["names"]), -1)
    return dict(zip(data["names"], table[:, : data["count"]], strict=True))


def traced(name):
    system, task = zoo.load(name)
    return onesided.trace(system, task.start, task.p, direction=task.direction, p_bounds=task.p_bounds)


def test_the_numbers_are_those_of_the_result():
    found = traced("von-mises-floor")
    data = data_of(html(found, model=zoo.text("von-mises-floor")))
    exact = np.frombuffer(base64.b64decode(data["exact"]), "u1").astype(bool)
    table = numbers(data)
    for name, values in columns(found).items():
        assert np.array_equal(table[name][exact], values), name
    for shown, event in zip(data["events"], found.events, strict=True):
        assert table["p"][shown["frame"]] == event.p
        assert shown["words"] == event.words()


def test_branches_and_jumps_keep_their_places():
    system, task = zoo.load("corner-limit")
    history = onesided.drive(system, task.start, task.programme)
    data = data_of(html(history))
    table = numbers(data)
    (jump,) = data["jumps"]
    assert abs(table["phi"][jump["from"]]) < 1e-12
    assert abs(table["phi"][jump["to"]] - np.pi) < 1e-9
    for branch, leg in zip(data["branches"], history.paths, strict=True):
        assert table["p"][branch["begin"]] == leg.p[0]
        assert table["p"][branch["end"] - 1] == leg.p[-1]


def test_every_kind_of_event_has_a_shape_of_its_own():
    drawn = html(path()).split("const HOLLOW", 1)[1].split("c.closePath();", 1)[0]
    kinds = {kind.name for kind in Kind} - {Kind.limit.name}  # a limit point is the disk that is left
    assert {name for name in kinds if not re.search(rf"\b{name}\b", drawn)} == set()


def test_nothing_of_a_strangers_model_can_run():
    model = f"title = {json.dumps(EVIL)}\ndescription = {json.dumps(EVIL)}\n"
    found = path(50, n=2, m=1, names=(EVIL + "{}", EVIL + "c{}"), control=EVIL, note=EVIL)
    found = replace(found, provenance={EVIL: EVIL, "method": {EVIL: EVIL}})
    text = html(found, model=model)
    page = Elements(text)
    plain = Elements(html(path(50, n=2, m=1, note="n"), model="title = 't'\ndescription = 'd'"))
    assert [tag for tag, _ in page.tags if tag in {"script", "img", "iframe"}] == ["script", "script"]
    assert {tag for tag, _ in page.tags} == {tag for tag, _ in plain.tags}
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert data_of(text)["control"] == EVIL
    assert page.scripts[1] == plain.scripts[1], "the script does not depend on the data"


def test_control_characters_of_a_model_are_shown_and_not_obeyed():
    title = "\x1b]0;owned\x07 \u202eevil\u200b"
    text = html(path(), model=f"title = {json.dumps(title)}\ndescription = {json.dumps(title)}\n")
    assert all(c.isprintable() or c in "\n\t" for c in text)
    assert r"\x1b]0;owned\x07" in text
    model = onesided.loads(f"title = {json.dumps(title)}\nenergy='x*x'\ncoordinates={{x=0}}\ncontrol={{range=[0,1]}}")
    assert model.task.title.isprintable()
    with pytest.raises(ModelError, match="can be printed"):
        onesided.System(coordinates=("a\x1b",), energy=lambda q, p, th: q[0] ** 2)


def test_only_our_script_and_style_are_allowed_and_no_network():
    text = html(path(50))
    policy = next(a["content"] for tag, a in Elements(text).tags if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    digest = base64.b64encode(hashlib.sha256(Elements(text).scripts[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert not re.search(r"(src|href)=", re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL))
    assert "http://" not in text
    assert "https://" not in text


@pytest.mark.parametrize(("points", "n", "m"), [(20_000, 6, 4), (20_000, 40, 30), (3_000, 2_000, 500), (200_000, 6, 4)])
def test_the_page_stays_small_and_keeps_events(points, n, m):
    found = path(points, n, m)
    text = html(found)
    assert len(text.encode()) <= 6_000_000
    data = data_of(text)
    table = numbers(data)
    close = 1e-6 if data["single"] else 0.0
    for shown, event in zip(data["events"], found.events, strict=True):
        assert table["p"][shown["frame"]] == pytest.approx(event.p, rel=close, abs=close)
    assert ("of 200000 points" in text) == (points == 200_000)
    if (points, n) == (20_000, 6):
        assert not data["single"]
        assert np.array_equal(table["p"], found.p)


def test_a_page_with_very_many_events_stays_small():
    found = path(100_000, events=30_000)
    text = html(found)
    assert len(text.encode()) <= 6_000_000
    assert "The page lists the first 1000 of 30000 events" in text
    assert [event["words"] for event in data_of(text)["events"]] == [event.words() for event in found.events[:1000]]


def test_warnings_come_first():
    failed = replace(path(50), status=onesided.Status.step_too_small, note="lost at p = 3")
    text = html(failed)
    assert text.index("did not reach its goal") < text.index("<figure>")
    assert "lost at p = 3" in text
    partial = Diagram((path(50),), (-1,), complete=False, note="limits reached")
    assert "not complete: limits reached" in html(partial)


def test_pages_are_written_whole_or_not_at_all(tmp_path):
    file = tmp_path / "report.html"
    report.write(path(50), file)
    before = file.read_text()
    with pytest.raises(Exception, match="cannot be drawn"):
        report.write("no result", file)
    assert file.read_text() == before
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    assert file.stat().st_mode & 0o777 == 0o644


def test_the_page_tells_model_method_tolerances_and_version():
    text = html(traced("corner-limit"), model=zoo.text("corner-limit"))
    for words in (
        "Bar on a stop",
        "PredictorCorrector",
        "tolerances: gap",
        onesided.__version__,
        "explain corner-limit",
    ):
        assert words in text


def test_notebooks_get_pictures_and_tables():
    system, task = zoo.load("corner-limit")
    found = traced("corner-limit")
    shown = found._repr_html_()
    assert "<svg" in shown
    assert "corner limit point at p = 0" in shown
    history = onesided.drive(system, task.start, task.programme)
    assert "jump at p = 0" in history._repr_html_()
    assert "<svg" in onesided.diagram(system, task.start, task.p, p_bounds=task.p_bounds)._repr_html_()
    assert "followed" in found.events[0]._repr_html_()
    assert "phi" in system._repr_html_()
    state = onesided.solve(system, start=[0.0], p=0.3).value
    assert "stable" in state._repr_html_()
    assert Viewer(found)._repr_html_().startswith('<iframe sandbox="allow-scripts allow-downloads"')


def test_notebook_displays_escape_names():
    found = path(30, n=1, m=1, names=(EVIL + "{}", EVIL + "c{}"), control=EVIL)
    for shown in (found._repr_html_(), found.events[0]._repr_html_()):
        assert {"script", "img"}.isdisjoint(tag for tag, _ in Elements(shown).tags)
    inside = dict(Elements(Viewer(found)._repr_html_()).tags)["iframe"]["srcdoc"]
    assert inside == html(found)


def test_pages_have_the_hues_of_all_pictures():
    style = html(path(50)).split("<style>", 1)[1].split("@media", 1)[0]
    assert re.findall(r"--c\d: (#[0-9a-f]{6})", style) == [hue.lower() for hue in HUES]


def test_pages_of_followed_events_count_from_one_and_have_figures_for_dark(tmp_path):
    """As the terminal and the figure count; every colour of the figure has its other one under both kinds of dark."""
    truss, _ = zoo.load("von-mises-floor")
    limit = onesided.trace(truss, throw=False).events[0]
    curve = onesided.follow(limit, "ys", (0.1, 0.4))
    assert "1 meeting>" in repr(curve)
    text = onesided.report.write(curve, tmp_path / "curve.html").read_text(encoding="utf-8")
    assert '<ol start="1">' in text
    svg = text[text.index("<svg") :]
    for colour in set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})[;\"]", svg)):
        assert text.count(f"--night-{colour[1:]}: {night(colour)};") == 2, "as chosen, and as the system has it"
        assert f'[style*="stroke: {colour}"] {{ stroke: var(--night-{colour[1:]}, {colour}) !important }}' in text
    assert "<th></th>" not in onesided.report.html(onesided.sensitivity(limit))
