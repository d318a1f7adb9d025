"""The page in a real browser, opened from disk."""

import re
from dataclasses import replace

import numpy as np
import pytest
from synthetic import path

import onesided
from onesided import report, zoo
from onesided.report import Viewer
from onesided.results.sketch import Sketch


@pytest.fixture(scope="module")
def truss(tmp_path_factory):
    system, task = zoo.load("von-mises-floor")
    found = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)
    file = tmp_path_factory.mktemp("page") / "report.html"
    return found, report.write(found, file, model=zoo.text("von-mises-floor"))


def test_the_slider_shows_the_numbers_of_every_point(open_page, truss):
    found, file = truss
    tab = open_page(file)
    frames = tab.frames()
    assert len(frames) == len(found)
    for i in range(0, len(found), 3):
        tab.slide(frames[i])
        assert tab.value("p") == pytest.approx(found.p[i], rel=1e-9, abs=1e-14)
        assert tab.value("y") == pytest.approx(found.q[i, 0], rel=1e-9)
        assert tab.value("energy") == pytest.approx(found.energy[i], rel=1e-9, abs=1e-14)
        state, gap, reaction = tab.constraint("floor")
        assert state == ["open", "closed, no force", "closed"][found.codes[i, 0]]
        assert gap == pytest.approx(found.gaps[i, 0], rel=1e-9, abs=1e-14)
        assert reaction == pytest.approx(found.lam[i, 0], rel=1e-9, abs=1e-14)
    tab.quiet()


def test_an_event_in_the_list_moves_everything(open_page, truss):
    found, file = truss
    tab = open_page(file)
    for i, event in enumerate(found.events):
        tab.page.locator("#events button").nth(i).click()
        assert tab.value("p") == pytest.approx(event.p, rel=1e-9)
        assert tab.page.locator("#here").inner_text() == event.words()
        assert tab.page.locator("#events button").nth(i).get_attribute("aria-current") == "true"
    tab.page.locator("#events button").nth(0).click()
    assert tab.page.locator("#stability").inner_text() == "stable → unstable: 1 negative mode"
    tab.quiet()


def test_a_click_on_the_curve_picks_the_nearest_point(open_page, truss):
    found, file = truss
    tab = open_page(file)
    limit = found.events[0]
    box = tab.page.locator("#diagram-top").bounding_box()
    low, high = np.array([found.q[:, 0].min(), found.p.min()]), np.array([found.q[:, 0].max(), found.p.max()])
    margin = np.array([0.06, 0.09]) * (high - low)
    share = (np.array([limit.q[0], limit.p]) - low + margin) / (high - low + 2 * margin)
    x = 64 + share[0] * (box["width"] - 64 - 14)
    y = box["height"] - 40 - share[1] * (box["height"] - 12 - 40)
    tab.page.mouse.click(box["x"] + x + 3, box["y"] + y + 2)
    assert tab.value("p") == pytest.approx(limit.p, rel=1e-9)
    assert tab.page.locator("#here").inner_text() == limit.words()
    tab.quiet()


def test_keys_move_along_the_path(open_page, truss):
    found, file = truss
    tab = open_page(file)
    position = tab.position
    tab.page.keyboard.press("n")
    assert tab.value("p") == pytest.approx(found.events[0].p, rel=1e-9)
    before = position()
    tab.page.keyboard.press("ArrowRight")
    assert position() == before + 1
    tab.page.keyboard.press("p")
    assert position() == before
    tab.page.keyboard.press("End")
    assert tab.value("p") == pytest.approx(found.p[-1], rel=1e-9)
    tab.page.keyboard.press("Home")
    assert tab.value("p") == 0.0
    tab.page.locator("#slider").focus()
    tab.page.keyboard.press("ArrowRight")
    assert position() == 1
    tab.quiet()


def test_pictures_are_painted_and_change_with_the_position(open_page, truss):
    _, file = truss
    tab = open_page(file)
    shot = lambda: tab.page.evaluate("() => document.getElementById('sketch').toDataURL()")  # noqa: E731
    assert min(tab.painted(name) for name in ("diagram", "diagram-top", "sketch", "raster", "curves")) > 50
    first = shot()
    tab.page.keyboard.press("End")
    assert shot() != first
    tab.page.locator("#x").select_option("gap floor")
    tab.page.locator("#quantity").select_option("energy")
    assert tab.painted("diagram") > 50
    tab.quiet()


def test_dark_and_light(open_page, truss):
    _, file = truss
    ground = "() => getComputedStyle(document.body).backgroundColor"
    light, dark = open_page(file, color_scheme="light"), open_page(file, color_scheme="dark")
    shades = [sum(map(int, re.findall(r"\d+", tab.page.evaluate(ground)))) for tab in (light, dark)]
    assert shades[0] > 600 > 150 > shades[1]
    dark.page.locator("#theme").click()
    assert sum(map(int, re.findall(r"\d+", dark.page.evaluate(ground)))) == shades[0]
    light.quiet()
    dark.quiet()


def test_a_phone_shows_everything_without_sideways_scrolling(open_page, truss):
    _, file = truss
    tab = open_page(file, viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
    assert tab.page.evaluate("() => document.documentElement.scrollWidth") <= 360
    tab.page.locator("#events button").nth(1).tap()
    assert "corner limit point" in tab.page.locator("#here").inner_text()
    assert tab.painted("diagram") > 50
    tab.quiet()


def milliseconds(tab, count):
    """Of one move of the slider and what it draws, the median of many, up to the next frame of the screen."""
    return tab.page.evaluate(
        "async n => { const s = document.getElementById('slider'), times = [];"
        "for (let i = 0; i < 60; i++) { await new Promise(requestAnimationFrame); const t = performance.now();"
        "s.value = ((i * 7919) % n) / n; s.dispatchEvent(new Event('input'));"
        "document.body.getBoundingClientRect(); times.push(performance.now() - t); }"
        "return times.sort((a, b) => a - b)[30]; }",
        count,
    )


def test_twenty_thousand_points_stay_fluid(open_page, tmp_path):
    """A move of the slider costs about the same on a long path as on a short one, and so does a long list of events."""
    short = open_page(report.write(path(700), tmp_path / "short.html"))
    found = path(20_000, events=900)
    tab = open_page(report.write(found, tmp_path / "long.html"))
    assert (tmp_path / "long.html").stat().st_size <= 6_000_000
    assert milliseconds(tab, 20_000) < 4 * milliseconds(short, 700) + 1
    tab.slide(12_345)
    assert tab.value("p") == pytest.approx(found.p[12_345], rel=1e-9)
    assert tab.value("q3") == pytest.approx(found.q[12_345, 3], rel=1e-9)
    short.quiet()
    tab.quiet()


def test_a_strangers_words_do_not_run(open_page, tmp_path):
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    found = path(80, n=2, m=1, names=(evil + "{}", evil + "c{}"), control=evil, note=evil)
    tab = open_page(report.write(found, tmp_path / "evil.html", model=f"title = '{evil}'"))
    tab.slide(40)
    tab.page.locator("#events button").first.click()
    assert tab.page.locator("h1").inner_text() == evil
    assert tab.page.locator("img").count() == 0
    tab.quiet()


WORDS = ("constructor", "__proto__", "toString", "hasOwnProperty", "valueOf")


def test_names_that_every_object_of_the_script_knows(open_page, tmp_path):
    found = onesided.load_result(onesided.save(path(80, n=2, m=len(WORDS)), tmp_path / "r"))
    points = {word: (float(i), "x") for i, word in enumerate(WORDS)}
    marks = {WORDS[0]: ((WORDS[1],),)}
    found = replace(found, unilateral=WORDS, coordinates=("x", "y"), sketch=Sketch(points=points, marks=marks))
    tab = open_page(report.write(found, tmp_path / "words.html"))
    tab.slide(40)
    tab.page.locator("#events button").first.click()
    tab.quiet()


def test_the_viewer_works_inside_a_notebook_page(open_page, truss, tmp_path):
    found, _ = truss
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><body>{Viewer(found)._repr_html_()}</body>", encoding="utf-8")
    tab = open_page(file)
    inner = tab.page.frame_locator("iframe")
    inner.locator("#events button").nth(1).click()
    assert "corner limit point" in inner.locator("#here").inner_text()
    assert tab.said == []
    tab.context.close()


def bundled():
    """Models without motion; of those made of parts two, the others in the slow tests."""
    for name in zoo.names():
        if "[motion]" not in zoo.text(name):
            quick = "energy =" in zoo.text(name) or name == "guyed-mast"
            yield name if quick else pytest.param(name, marks=pytest.mark.slow)


@pytest.mark.parametrize("name", [*bundled()])
def test_every_bundled_model_has_a_page_that_works(open_page, tmp_path, name):
    system, task = zoo.load(name)
    bounds = {"p_bounds": task.p_bounds, "max_points": 300}
    found = onesided.trace(system, task.start, task.p, direction=task.direction, throw=False, **bounds)
    tab = open_page(report.write(found, tmp_path / "page.html", model=zoo.text(name)))
    for i in range(min(tab.page.locator("#events button").count(), 12)):
        tab.page.locator("#events button").nth(i).click()
    tab.page.keyboard.press("End")
    assert tab.value(system.control) == pytest.approx(found.p[-1], rel=1e-9, abs=1e-12)
    tab.quiet()


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in zoo.names() if "[motion]" in zoo.text(name)])
def test_every_bundled_motion_has_a_page_that_works(open_page, tmp_path, name):
    found = onesided.simulate(zoo.load(name))
    tab = open_page(report.write(found, tmp_path / "page.html", model=zoo.text(name)))
    tab.page.keyboard.press("End")
    assert tab.value("t") == pytest.approx(found.t[-1], rel=1e-9)
    assert tab.painted("sketch") > 50
    tab.quiet()


def test_branches_of_a_diagram_follow_each_other(open_page, tmp_path):
    system, task = zoo.load("column-stop")
    found = onesided.diagram(system, task.start, task.p, p_bounds=task.p_bounds)
    tab = open_page(report.write(found, tmp_path / "page.html"))
    frames, values = tab.frames(), np.concatenate([path.q[:, 0] for path in found.paths])
    assert len(frames) == len(values)
    for i in range(0, len(values), 7):
        tab.slide(frames[i])
        assert tab.value("theta") == pytest.approx(values[i], rel=1e-9, abs=1e-12)
    tab.quiet()


def test_jumps_of_a_history_are_told(open_page, tmp_path):
    system, task = zoo.load("corner-limit")
    found = onesided.drive(system, task.start, task.programme)
    tab = open_page(report.write(found, tmp_path / "page.html"))
    words = found.jumps[0].words()
    tab.page.locator("#events button", has_text=words).click()
    assert tab.value("phi") == pytest.approx(np.pi, rel=1e-9)
    assert tab.page.locator("#here").inner_text() == words
    tab.quiet()


def test_a_motion_is_told_against_time(open_page, tmp_path):
    system, task = zoo.load("pendulum")
    found = onesided.simulate(system, task.start, {}, task.motion.time, control=task.p)
    tab = open_page(report.write(found, tmp_path / "page.html", model=zoo.text("pendulum")))
    frames = tab.frames()
    assert len(frames) == len(found)
    for i in range(0, len(found), 17):
        tab.slide(frames[i])
        assert tab.value("t") == pytest.approx(found.t[i], rel=1e-9, abs=1e-12)
        assert tab.value("x") == pytest.approx(found.q[i, 0], rel=1e-9, abs=1e-9)
        assert tab.value("multiplier rod") == pytest.approx(found.mu[i, 0], rel=1e-9, abs=1e-9)
    assert not tab.page.locator("#stability").is_visible()
    assert tab.painted("sketch") > 50
    tab.quiet()
