"""What a reader does with a page: point, zoom, filter, play, print, take along; by mouse, keys and fingers."""

import csv
import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path as FilePath

import numpy as np
import pytest
from synthetic import path

import onesided
from onesided import report, zoo
from onesided.report.stories import Strand, _held
from onesided.results import Diagram, dense
from onesided.results.sketch_forces import ActingForces, LoadArrow, Support

LEFT, RIGHT, TOP, BOTTOM = 64, 14, 12, 40  # of the diagram, in pixels
PHONES = [(390, 844), (360, 640), (740, 360)]


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """A bar that jumps from φ = 0 to π at p = 0, and its page."""
    system, task = zoo.load("corner-limit")
    found = onesided.drive(system, task.start, task.programme)
    file = tmp_path_factory.mktemp("page") / "history.html"
    return system, found, report.write(found, file, model=zoo.text("corner-limit"))


@pytest.fixture(scope="module")
def spiral(tmp_path_factory):
    """A path by hand whose points crowd at its beginning, and its page."""
    found = path(800, events=12)
    found = replace(found, s=(found.s / found.s[-1]) ** 2)
    return found, report.write(found, tmp_path_factory.mktemp("page") / "spiral.html")


def canvas_place(tab, x, y, at):
    """Where (x, y) of all these values is on the diagram."""
    box = tab.page.locator("#diagram-top").bounding_box()
    low, high = np.array([x.min(), y.min()]), np.array([x.max(), y.max()])
    margin = np.array([0.06, 0.09]) * (high - low)
    share = (np.array(at) - low + margin) / (high - low + 2 * margin)
    across = LEFT + share[0] * (box["width"] - LEFT - RIGHT)
    return box["x"] + across, box["y"] + box["height"] - BOTTOM - share[1] * (box["height"] - TOP - BOTTOM)


def downloaded(tab, button):
    with tab.page.expect_download() as caught:
        tab.page.locator(button).click()
    return FilePath(caught.value.path()).read_bytes()


def stopped(tab):
    """From here on the time of the page goes by only when it is told to."""
    tab.page.clock.install(time=0)
    tab.page.reload()
    tab.page.clock.pause_at(60)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_rule_of_accessibility_is_broken(open_page, history, spiral, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    for file in (history[2], spiral[1]):
        tab = open_page(file, color_scheme=scheme)
        found = axe.Axe().run(tab.page).response
        assert len(found["passes"]) > 15
        assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found["violations"]] == []


def test_events_and_jumps_have_the_numbers_of_the_result(open_page, history):
    _, found, file = history
    tab = open_page(file)
    listed = tab.page.locator("#events li").all_inner_texts()
    assert [text.split("\n", 1)[0] for text in listed] == [str(item.number) for item in found.numbered]
    for text, item in zip(listed, found.numbered, strict=True):
        assert item.words() in text
    assert "jump" in tab.page.locator("#diagram-legend").inner_text()
    tab.quiet()


def test_a_click_on_the_arrow_of_a_jump_goes_to_where_it_lands(open_page, history):
    _, found, file = history
    tab = open_page(file)
    for share in (0.3, 0.5, 0.8):
        tab.page.keyboard.press("Home")
        tab.page.mouse.click(*canvas_place(tab, found["phi"], found.p, (share * np.pi, 0.0)))
        assert tab.value("phi") == pytest.approx(np.pi, rel=1e-9)
        assert tab.value("p") == pytest.approx(found.jumps[0].p, abs=1e-12)
        assert tab.page.locator("#here").inner_text() == found.jumps[0].words()
    tab.quiet()


def test_the_pointer_reads_numbers_and_stability(open_page, history):
    _, found, file = history
    tab = open_page(file)
    last = found.paths[-1]
    tab.page.mouse.move(*canvas_place(tab, found["phi"], found.p, (last.q[-1, 0], last.p[-1])))
    told = tab.page.locator(".tip").first.inner_text()
    for words in ("p = −1", "phi = 3.14159", "reaction stop = 1", "stable"):
        assert words in told
    assert tab.position() == 0, "nothing moves"
    tab.page.mouse.move(5, 5)
    assert not tab.page.locator(".tip").first.is_visible()
    tab.quiet()


def test_a_box_zooms_and_all_comes_back(open_page, history):
    _, _, file = history
    tab = open_page(file)
    home = tab.picture("diagram")
    box = tab.page.locator("#diagram-top").bounding_box()

    def dragged():
        tab.page.mouse.move(box["x"] + 150, box["y"] + 60)
        tab.page.mouse.down()
        tab.page.mouse.move(box["x"] + 400, box["y"] + 200, steps=3)
        tab.page.mouse.up()
        return tab.picture("diagram")

    tab.page.keyboard.down("Shift")
    near = dragged()
    tab.page.keyboard.up("Shift")
    assert near != home
    tab.page.locator("#diagram-all").click()
    assert tab.picture("diagram") == home
    tab.page.locator("#box-zoom").click()
    assert dragged() == near, "the button does what Shift does"
    tab.page.keyboard.press("0")
    assert tab.picture("diagram") == home
    tab.page.keyboard.press("+")
    tab.page.locator("#diagram-wider").click()
    assert tab.position() == 0
    tab.quiet()


def test_keys_work_whatever_has_the_focus(open_page, spiral):
    _, file = spiral
    tab = open_page(file)
    for place in (
        "#x",
        "#quantity",
        "#speed",
        "#play",
        "#slider",
        "#loop",
        "#events button",
        "#diagram-top",
        "#sketch",
    ):
        tab.page.locator(place).first.focus()
        tab.page.keyboard.press("Home")
        tab.page.keyboard.press("ArrowRight")
        assert tab.position() == 1, place
        tab.page.keyboard.press("n")
        first = tab.position()
        assert first > 1, place
        tab.page.keyboard.press("PageDown")
        assert tab.position() == first + 20
    before = tab.position()
    tab.page.locator("#event-filter").press("p")
    assert tab.position() == before, "words are typed where words are asked for"
    tab.quiet()


def test_filters_thin_the_list_and_what_keys_hop_to(open_page, spiral):
    found, file = spiral
    tab = open_page(file)
    wanted = found.numbered[7]
    tab.page.locator("#event-filter").fill(f"{wanted.what.p:.10g}")
    assert tab.page.locator("#events li:visible").count() == 1
    tab.page.locator("h1").click()
    tab.page.keyboard.press("n")
    assert tab.page.locator("#here").inner_text() == wanted.words()
    tab.page.locator("#event-filter").fill("")
    tab.page.locator("#event-kind").select_option("limit")
    assert tab.page.locator("#events li:visible").count() == len(found.events)
    tab.quiet()


def test_branches_are_listed_and_filtered(open_page, tmp_path):
    parts = tuple(replace(path(60, events=0), instability=np.full(60, i % 2, dtype=np.intp)) for i in range(9))
    tab = open_page(report.write(Diagram(parts, (-1,) * 9, complete=True, note=""), tmp_path / "page.html"))
    assert tab.page.locator("#branches li").count() == 9
    whole = tab.painted("diagram")
    tab.page.locator("#branch-filter").fill("branch 4")
    assert tab.page.locator("#branches li:visible").count() == 1
    assert tab.painted("diagram") > 0 and whole > 0
    tab.page.locator("#branches li:visible button").click()
    assert tab.page.locator("#position").inner_text().endswith("branch 4")
    tab.page.locator("#branch-filter").fill("unstable")
    assert tab.page.locator("#branches li:visible").count() == 4
    tab.quiet()


def test_play_goes_by_arc_length_and_loops(open_page, spiral):
    """Points crowd at the beginning; half of the time is half of the way all the same."""
    found, file = spiral
    tab = open_page(file)
    stopped(tab)
    tab.page.locator("#speed").select_option("4")
    tab.page.locator("#play").click()
    tab.page.clock.run_for(1500)
    assert found.s[tab.position()] == pytest.approx(0.5, abs=0.03)
    tab.page.locator("#speed").select_option("2")
    tab.page.clock.run_for(1500)
    assert found.s[tab.position()] == pytest.approx(0.75, abs=0.03)
    tab.page.locator("#loop").check()
    tab.page.clock.run_for(3000)
    assert found.s[tab.position()] == pytest.approx(0.25, abs=0.05)
    tab.page.keyboard.press("k")
    at = tab.position()
    tab.page.clock.run_for(500)
    assert tab.position() == at
    assert tab.said == []


def test_a_jump_is_played_as_a_flash_on_the_way_to_where_it_lands(open_page, history):
    _, _, file = history
    tab = open_page(file)
    stopped(tab)
    tab.page.locator("#play").click()
    shots, flashes = set(), 0
    for _ in range(140):
        tab.page.clock.run_for(50)
        if tab.page.evaluate("() => document.getElementById('stage').classList.contains('jumping')"):
            flashes += 1
            shots.add(tab.picture())
    assert flashes > 3 and len(shots) > 3, "the mechanism is seen on its way"
    assert flashes < 40, "it is quick"
    assert tab.said == []


def test_the_axis_along_the_result_is_arc_length_or_p(open_page, spiral):
    """The energy over p is a parabola, whatever the points: seen by what the axes offer."""
    _, file = spiral
    tab = open_page(file)
    assert tab.page.locator("#against option").all_inner_texts() == ["arc length", "p"]
    before = tab.picture("curves")
    tab.page.locator("#against").select_option("p")
    assert tab.picture("curves") != before
    tab.quiet()


def test_pictures_and_tables_are_taken_along(open_page, history):
    _, found, file = history
    tab = open_page(file)
    tab.page.keyboard.press("End")
    assert downloaded(tab, "#diagram-png").startswith(b"\x89PNG")
    assert downloaded(tab, "#sketch-png").startswith(b"\x89PNG")
    for button, words in (("#diagram-svg", {"phi", "p", "1", "2", "3"}), ("#sketch-svg", set())):
        drawn = ET.fromstring(downloaded(tab, button))
        texts = {element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")}
        assert words <= texts
        assert len(list(drawn.iter("{http://www.w3.org/2000/svg}path"))) > 3
    rows = list(csv.DictReader(io.StringIO(downloaded(tab, "#csv").decode())))
    for name in ("p", "phi", "energy", "reaction stop"):
        assert [float(row[name]) for row in rows] == pytest.approx(list(found[name]), rel=1e-15, abs=0)
    assert [row["state stop"] == "open" for row in rows] == [
        code == 0 for one in found.paths for code in one.codes[:, 0]
    ]
    tab.quiet()


def test_a_state_is_taken_along_as_python_and_as_toml(open_page, history):
    _, found, file = history
    tab = open_page(file)
    tab.page.keyboard.press("End")
    tab.page.locator("#as-python").click()
    text = tab.page.locator("#text-body").input_value()
    names = {}
    exec(re.sub(r'onesided.load\("model.toml"\)', 'onesided.zoo.load("corner-limit")', text), names)  # noqa: S102
    assert names["q"] == {"phi": found.q[-1, 0]}
    assert names["state"].q[0] == pytest.approx(found.q[-1, 0], rel=1e-9) and names["state"].p == found.p[-1]
    tab.page.keyboard.press("Escape")
    tab.page.locator("#as-toml").click()
    start, control = tab.page.locator("#text-body").input_value().split("\n[control]\n")
    model = zoo.text("corner-limit").replace("start = -1.0\n", control.strip() + "\n") + "\n" + start
    loaded = onesided.loads(model)
    assert loaded.task.start == pytest.approx(found.q[-1], abs=0) and loaded.task.p == found.p[-1]
    tab.quiet()


@pytest.mark.parametrize("size", PHONES)
def test_the_bar_that_stays_takes_less_than_a_fifth_of_a_phone(open_page, spiral, size):
    _, file = spiral
    tab = open_page(file, viewport={"width": size[0], "height": size[1]}, is_mobile=True, has_touch=True)
    bar = tab.page.locator(".controls").bounding_box()
    assert bar["height"] < size[1] / 5
    assert tab.page.evaluate("() => document.documentElement.scrollWidth") <= size[0]
    tab.page.evaluate("() => window.scrollTo(0, 1500)")
    assert tab.page.locator(".controls").bounding_box()["y"] == pytest.approx(0, abs=1)
    tab.quiet()


def test_rows_that_change_come_first_and_equal_ones_share_one(open_page, tmp_path):
    found = path(200, n=2, m=6)
    codes = found.codes.copy()
    codes[:, 0] = 0
    codes[:, 3] = codes[:, 1]
    tab = open_page(report.write(replace(found, codes=codes), tmp_path / "page.html"))
    rows = lambda: round(tab.page.locator("#raster").bounding_box()["height"] / 17)  # noqa: E731
    assert rows() == 1 + 4, "stability, and 1 with 3, 2, 4, 5"
    assert tab.page.locator("#all-rows").inner_text() == "show all 6 constraints"
    tab.page.locator("#all-rows").click()
    assert rows() == 1 + 5
    tab.quiet()


def test_paper_holds_everything_in_its_proportions(open_page, spiral):
    """On paper nothing scrolls, nothing is squashed, everything is light."""
    _, file = spiral
    tab = open_page(file, color_scheme="dark")
    tab.page.emulate_media(media="print", color_scheme="dark")
    tab.page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    for name in ("diagram", "sketch", "curves"):
        fit, wide, high, kept = tab.page.evaluate(
            "n => { const k = document.getElementById(n), b = k.getBoundingClientRect();"
            "return [getComputedStyle(k).objectFit, b.width, b.height, k.width / k.height]; }", name
        )  # fmt: skip
        assert fit == "contain" or wide / high == pytest.approx(kept, rel=0.02)
    hidden = tab.page.evaluate(
        "() => [...document.querySelectorAll('.scroll, pre')].filter(e => e.scrollHeight > e.clientHeight + 1"
        " || getComputedStyle(e).overflow !== 'visible').length"
    )
    assert hidden == 0
    assert tab.page.evaluate("() => getComputedStyle(document.documentElement).colorScheme") == "light"
    assert len(tab.page.pdf(format="A4")) > 5000
    tab.page.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    assert tab.page.evaluate("() => getComputedStyle(document.documentElement).colorScheme") == "dark"
    tab.quiet()


def zoom_time(tab):
    """Milliseconds of one turn of the wheel and what it draws, the median of many."""
    return tab.page.evaluate(
        "async () => { const top = document.getElementById('diagram-top'), base = document.getElementById('diagram');"
        "const box = top.getBoundingClientRect(), times = [];"
        "for (let i = 0; i < 31; i++) { await new Promise(requestAnimationFrame); const begin = performance.now();"
        "top.dispatchEvent(new WheelEvent('wheel', { deltaY: i % 20 < 10 ? -1 : 1, ctrlKey: true, bubbles: true,"
        "clientX: box.left + 300, clientY: box.top + 200, cancelable: true }));"
        "base.getContext('2d').getImageData(0, 0, 1, 1); times.push(performance.now() - begin); }"
        "return times.sort((a, b) => a - b)[15]; }"
    )


def test_forty_thousand_frames_zoom_like_a_few(open_page, tmp_path):
    few = open_page(report.write(path(700), tmp_path / "few.html"))
    many = open_page(report.write(path(40_000, events=900), tmp_path / "many.html"))
    assert zoom_time(many) < 20 * zoom_time(few) + 20
    assert many.page.locator("#events button").count() == 900


def test_fingers_zoom_and_turn(open_page, history):
    """Two fingers that part zoom the diagram and the drawing; what was zoomed is moved by one."""
    _, _, file = history
    tab = open_page(file, viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    for canvas, seen in (("diagram-top", "diagram"), ("sketch", "sketch")):
        before = tab.picture(seen)
        tab.page.evaluate(
            "n => { const k = document.getElementById(n), b = k.getBoundingClientRect();"
            "k.setPointerCapture = () => {};"
            "const at = (type, id, x) => k.dispatchEvent(new PointerEvent(type, { pointerId: id, pointerType: 'touch',"
            "clientX: b.left + x, clientY: b.top + 120, bubbles: true, button: 0 }));"
            "at('pointerdown', 1, 120); at('pointerdown', 2, 180); at('pointermove', 1, 60); at('pointermove', 2, 240);"
            "at('pointerup', 1, 60); at('pointerup', 2, 240); }",
            canvas,
        )
        assert tab.picture(seen) != before
        assert "zoomed" in tab.page.locator(f"#{canvas}").get_attribute("class")
    assert tab.position() == 0
    tab.quiet()


def test_small_displacements_are_drawn_larger_and_it_is_said(open_page, tmp_path):
    found = path(120, n=2, m=1)
    found = replace(found, q=1.0 + 1e-3 * found.q)
    tab = open_page(report.write(found, tmp_path / "page.html"))
    words = tab.page.locator("#sketch-scale").inner_text()
    times = float(re.search(r"× (\d+)", words)[1])
    moved = np.max(np.hypot(*(found.q - found.q[0]).T))
    assert 0.03 < times * moved / np.max(found.q[0]) <= 0.11, "a twentieth to a tenth of the size, rounded"
    tab.slide(90)
    larger = tab.picture()
    tab.page.locator("#sketch-scale").click()
    assert tab.picture() != larger and "as they are" in tab.page.locator("#sketch-scale").inner_text()
    tab.quiet()


def test_branches_that_look_alike_are_pale_until_asked_for(open_page, tmp_path):
    parts = (path(60, events=0),) * 14
    tab = open_page(report.write(Diagram(parts, (-1,) * 14, complete=True, note=""), tmp_path / "page.html"))
    assert tab.page.locator("#branches li:visible").all_inner_texts()[0].startswith("branch 0 and 13 alike")
    assert tab.page.locator("#branches li:visible").count() == 1
    tab.page.locator("#alike").check()
    assert tab.page.locator("#branches li:visible").count() == 14
    tab.quiet()


def test_loads_supports_and_labels_are_shown(open_page, tmp_path):
    plain = replace(path(60, n=2, m=1, events=0), provenance={"labels": {"q0": ("tip height", "mm")}})
    acting = ActingForces((LoadArrow("a", (0.0, -1.0)),), (Support("o", "xy"),))
    loaded = replace(plain, sketch=replace(plain.sketch, acting=acting))
    bare, full = (open_page(report.write(one, tmp_path / f"{i}.html")) for i, one in enumerate((plain, loaded)))
    for tab in (bare, full):
        tab.slide(tab.frames()[45])
        assert tab.value("tip height [mm]") == pytest.approx(plain.q[45, 0], rel=1e-9)
    assert full.painted("sketch") > bare.painted("sketch") + 100
    full.slide(0)
    unloaded = full.painted("sketch") - bare.painted("sketch")
    assert plain.p[0] == 0 and unloaded < 400, "at p = 0 only the support is left"
    bare.quiet()
    full.quiet()


def test_what_is_stable_only_while_held(monkeypatch):
    """U = p³ under a displacement p: the force 3 p² falls with p where p < 0, so that only a machine holds it there."""
    for module in ("onesided.report.stories", "onesided.plots.strokes"):
        monkeypatch.setattr(f"{module}.members_of", lambda found: {"machine_force": found.p})
    p = np.linspace(-1, 1, 201)
    found = replace(path(201, n=1, m=1, events=0), p=p, energy=p**3, instability=np.zeros(201, dtype=np.intp))
    (strand,) = _held((found,), (Strand(dense(found, 0), "path"),))
    assert np.all(strand.firmness[p < -0.02] == 1) and np.all(strand.firmness[p > 0.02] == 0)
