"""The page in a real browser, opened from disk."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from synthetic import path

import onesided
from onesided import report, zoo
from onesided.report import Viewer

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OPTIONS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
]  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    with api.sync_playwright() as play:
        found = next((place for name in NAMES if (place := shutil.which(name))), None)
        if found is None and not Path(play.chromium.executable_path).exists():
            pytest.skip("no Chromium: neither installed on this machine nor fetched by `playwright install chromium`")
        engine = play.chromium.launch(executable_path=found, args=OPTIONS)
        yield engine
        engine.close()


class Tab:
    """A page with what it said and asked for."""

    def __init__(self, browser, file, **options):
        self.context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append("dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(Path(file).as_uri())

    def slide(self, frame):
        self.page.evaluate(
            "f => { const s = document.getElementById('slider'); s.value = f; s.dispatchEvent(new Event('input')); }",
            frame,
        )

    def value(self, name):
        cell = self.page.locator("#values tr", has=self.page.get_by_role("rowheader", name=name, exact=True))
        return number(cell.locator("td").inner_text())

    def constraint(self, name):
        row = self.page.locator("#constraints tbody tr", has=self.page.get_by_role("rowheader", name=name, exact=True))
        state, gap, reaction = row.locator("td").all_inner_texts()
        return state, number(gap), number(reaction)

    def quiet(self):
        assert self.said == []
        assert len(self.asked) == 1, self.asked
        assert self.asked[0].startswith("file://")
        self.context.close()


def number(text):
    return float(text.replace("−", "-").removeprefix("≈ "))


@pytest.fixture(scope="module")
def truss(tmp_path_factory):
    system, task = zoo.load("von-mises-floor")
    found = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)
    file = tmp_path_factory.mktemp("page") / "report.html"
    return found, report.write(found, file, model=zoo.text("von-mises-floor"))


def frames_of(tab):
    """Slider positions of the computed points."""
    return tab.page.evaluate(
        "() => { const d = JSON.parse(document.getElementById('data').textContent), e = atob(d.exact);"
        "return [...e].map((c, i) => [c.charCodeAt(0), i]).filter(([k]) => k).map(([, i]) => i); }"
    )


def test_the_slider_shows_the_numbers_of_every_point(browser, truss):
    found, file = truss
    tab = Tab(browser, file)
    frames = frames_of(tab)
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


def test_an_event_in_the_list_moves_everything(browser, truss):
    found, file = truss
    tab = Tab(browser, file)
    for i, event in enumerate(found.events):
        tab.page.locator("#events button").nth(i).click()
        assert tab.value("p") == pytest.approx(event.p, rel=1e-9)
        assert tab.page.locator("#here").inner_text() == event.words()
        assert tab.page.locator("#events button").nth(i).get_attribute("aria-current") == "true"
    tab.page.locator("#events button").nth(0).click()
    assert tab.page.locator("#stability").inner_text() == "stable → unstable: 1 negative mode"
    tab.quiet()


def test_a_click_on_the_curve_picks_the_nearest_point(browser, truss):
    found, file = truss
    tab = Tab(browser, file)
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


def test_keys_move_along_the_path(browser, truss):
    found, file = truss
    tab = Tab(browser, file)
    position = lambda: int(tab.page.locator("#slider").input_value())  # noqa: E731
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


def painted(tab, canvas):
    """How many pixels of a canvas are not empty."""
    return tab.page.evaluate(
        "id => { const k = document.getElementById(id), o = document.createElement('canvas');"
        "o.width = k.width; o.height = k.height; const c = o.getContext('2d', { willReadFrequently: true });"
        "c.drawImage(k, 0, 0); const d = c.getImageData(0, 0, k.width, k.height).data;"
        "let n = 0; for (let i = 3; i < d.length; i += 4) if (d[i]) n++; return n; }",
        canvas,
    )


def test_pictures_are_painted_and_change_with_the_position(browser, truss):
    _, file = truss
    tab = Tab(browser, file)
    shot = lambda: tab.page.evaluate("() => document.getElementById('sketch').toDataURL()")  # noqa: E731
    assert min(painted(tab, name) for name in ("diagram", "diagram-top", "sketch", "raster", "curves")) > 50
    first = shot()
    tab.page.keyboard.press("End")
    assert shot() != first
    tab.page.locator("#x").select_option("gap floor")
    tab.page.locator("#quantity").select_option("energy")
    assert painted(tab, "diagram") > 50
    tab.quiet()


def test_dark_and_light(browser, truss):
    _, file = truss
    ground = "() => getComputedStyle(document.body).backgroundColor"
    light, dark = Tab(browser, file, color_scheme="light"), Tab(browser, file, color_scheme="dark")
    shades = [sum(map(int, re.findall(r"\d+", tab.page.evaluate(ground)))) for tab in (light, dark)]
    assert shades[0] > 600 > 150 > shades[1]
    dark.page.locator("#theme").click()
    assert sum(map(int, re.findall(r"\d+", dark.page.evaluate(ground)))) == shades[0]
    light.quiet()
    dark.quiet()


def test_a_phone_shows_everything_without_sideways_scrolling(browser, truss):
    _, file = truss
    tab = Tab(browser, file, viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
    assert tab.page.evaluate("() => document.documentElement.scrollWidth") <= 360
    tab.page.locator("#events button").nth(1).tap()
    assert "corner limit point" in tab.page.locator("#here").inner_text()
    assert painted(tab, "diagram") > 50
    tab.quiet()


def test_twenty_thousand_points_stay_fluid(browser, tmp_path):
    found = path(20_000)
    tab = Tab(browser, report.write(found, tmp_path / "long.html"))
    per_move = tab.page.evaluate(
        "() => { const s = document.getElementById('slider'), t = performance.now();"
        "for (let i = 0; i < 100; i++) { s.value = i * 199; s.dispatchEvent(new Event('input')); }"
        "return (performance.now() - t) / 100; }"
    )
    assert per_move < 16, "milliseconds for one move of the slider"
    tab.slide(12_345)
    assert tab.value("p") == pytest.approx(found.p[12_345], rel=1e-9)
    assert tab.value("q3") == pytest.approx(found.q[12_345, 3], rel=1e-9)
    tab.quiet()


def test_a_strangers_words_do_not_run(browser, tmp_path):
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    found = path(80, n=2, m=1, names=(evil + "{}", evil + "c{}"), control=evil, note=evil)
    tab = Tab(browser, report.write(found, tmp_path / "evil.html", model=f"title = '{evil}'"))
    tab.slide(40)
    tab.page.locator("#events button").first.click()
    assert tab.page.locator("h1").inner_text() == evil
    assert tab.page.locator("img").count() == 0
    tab.quiet()


def test_the_viewer_works_inside_a_notebook_page(browser, truss, tmp_path):
    found, _ = truss
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><body>{Viewer(found)._repr_html_()}</body>", encoding="utf-8")
    tab = Tab(browser, file)
    inner = tab.page.frame_locator("iframe")
    inner.locator("#events button").nth(1).click()
    assert "corner limit point" in inner.locator("#here").inner_text()
    assert tab.said == []
    tab.context.close()


@pytest.mark.parametrize("name", [name for name in zoo.names() if "[motion]" not in zoo.text(name)])
def test_every_bundled_model_has_a_page_that_works(browser, tmp_path, name):
    system, task = zoo.load(name)
    bounds = {"p_bounds": task.p_bounds, "max_points": 300}
    found = onesided.trace(system, task.start, task.p, direction=task.direction, throw=False, **bounds)
    tab = Tab(browser, report.write(found, tmp_path / "page.html", model=zoo.text(name)))
    for i in range(min(tab.page.locator("#events button").count(), 12)):
        tab.page.locator("#events button").nth(i).click()
    tab.page.keyboard.press("End")
    assert tab.value(system.control) == pytest.approx(found.p[-1], rel=1e-9, abs=1e-12)
    tab.quiet()


def test_branches_of_a_diagram_follow_each_other(browser, tmp_path):
    system, task = zoo.load("column-stop")
    found = onesided.diagram(system, task.start, task.p, p_bounds=task.p_bounds)
    tab = Tab(browser, report.write(found, tmp_path / "page.html"))
    frames, values = frames_of(tab), np.concatenate([path.q[:, 0] for path in found.paths])
    assert len(frames) == len(values)
    for i in range(0, len(values), 7):
        tab.slide(frames[i])
        assert tab.value("theta") == pytest.approx(values[i], rel=1e-9, abs=1e-12)
    tab.quiet()


def test_jumps_of_a_history_are_told(browser, tmp_path):
    system, task = zoo.load("corner-limit")
    found = onesided.drive(system, task.start, task.programme)
    tab = Tab(browser, report.write(found, tmp_path / "page.html"))
    words = found.jumps[0].words()
    tab.page.locator("#events button", has_text=words).click()
    assert tab.value("phi") == pytest.approx(np.pi, rel=1e-9)
    assert tab.page.locator("#here").inner_text() == words
    tab.quiet()


def test_a_motion_is_told_against_time(browser, tmp_path):
    system, task = zoo.load("pendulum")
    found = onesided.simulate(system, task.start, {}, task.motion.time, control=task.p)
    tab = Tab(browser, report.write(found, tmp_path / "page.html", model=zoo.text("pendulum")))
    frames = frames_of(tab)
    assert len(frames) == len(found)
    for i in range(0, len(found), 17):
        tab.slide(frames[i])
        assert tab.value("t") == pytest.approx(found.t[i], rel=1e-9, abs=1e-12)
        assert tab.value("x") == pytest.approx(found.q[i, 0], rel=1e-9, abs=1e-9)
        assert tab.value("multiplier rod") == pytest.approx(found.mu[i, 0], rel=1e-9, abs=1e-9)
    assert not tab.page.locator("#stability").is_visible()
    assert painted(tab, "sketch") > 50
    tab.quiet()
