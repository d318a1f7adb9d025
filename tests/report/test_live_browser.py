"""The live page in a real browser: drag, jump, change, error at its line, reload, two tabs, a server that goes away."""

import re
import time

import numpy as np
import pytest

from onesided import zoo
from onesided.live.chosen_folder import ChosenFolder
from onesided.live.live_model import of_model
from onesided.live.serve import serve

TOKEN = "t" * 24
LIMIT = 2 * (np.hypot(1, 0.5) ** (2 / 3) - 1) ** 1.5  # of the von Mises truss with k = b = 1, h = 1/2


@pytest.fixture(scope="module")
def model():
    return of_model(zoo.load("von-mises"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return ChosenFolder.at(tmp_path_factory.mktemp("live"))


@pytest.fixture(scope="module")
def address(model, folder):
    with serve(model, "von-mises.toml", folder, address=(0, TOKEN), browser=False) as server:
        yield server.url


class LiveTab:
    """A live page with what it said and asked for."""

    def __init__(self, browser, address, **options):
        self.context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("console", lambda message: self.said.append(message.text) if message.type == "error" else None)
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(address)
        self.ready()

    def ready(self):
        self.page.wait_for_selector("#x option", state="attached")
        self.page.wait_for_selector("#pulse[data-state=live]")

    def drag(self, p, steps=8):
        """Take the handle and bring it to p."""
        handle = self.page.locator("#handle")
        handle.scroll_into_view_if_needed()
        box = handle.bounding_box()
        low, high = (float(handle.get_attribute(end)) for end in ("min", "max"))
        at = [box["x"] + 15 + (v - low) / (high - low) * (box["width"] - 30) for v in (float(handle.input_value()), p)]
        middle = box["y"] + box["height"] / 2
        self.page.mouse.move(at[0], middle)
        self.page.mouse.down()
        self.page.mouse.move(at[1], middle, steps=steps)
        self.page.mouse.up()
        there = float(handle.input_value())
        for _ in range(250):  # until the system has followed
            if abs(self.value("p") - there) <= 1e-5 * (high - low):
                return
            time.sleep(0.02)
        raise AssertionError(there)

    def value(self, name):
        """A number of the table, once it is exact."""
        row = self.page.locator("#values tr", has=self.page.get_by_role("rowheader", name=name, exact=True))
        for _ in range(100):
            text = row.locator("td").inner_text()
            if not text.startswith("≈"):
                return float(text.replace("−", "-"))
            time.sleep(0.02)
        raise AssertionError(text)

    def jumps(self, count):
        """The values of p of the jumps in the list, the latest first, once there are so many."""
        self.page.locator("#events .jump").nth(count - 1).wait_for(state="attached")
        return [float(re.search(r"p = (-?[\d.]+)", t)[1]) for t in self.page.locator("#events .jump").all_inner_texts()]


def soon(holds):
    """Wait until something holds."""
    for _ in range(250):
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError


@pytest.fixture
def opened(browser):
    tabs = []

    def open_tab(address, **options):
        tabs.append(LiveTab(browser, address, **options))
        return tabs[-1]

    yield open_tab
    for tab in tabs:
        tab.context.close()


def test_the_handle_moves_the_truss_which_jumps_and_stays_down(opened, address):
    tab = opened(address)
    tab.drag(0.08)
    assert tab.jumps(1) == [pytest.approx(LIMIT, rel=1e-9)]
    tab.drag(0.0)
    p = tab.value("p")
    assert abs(p) < 0.001  # as well as a mouse can
    assert tab.value("y") < -0.49
    tab.drag(-0.08)
    assert tab.jumps(2)[0] == pytest.approx(-LIMIT, rel=1e-9)
    assert tab.value("y") > 0.5
    assert tab.said == []
    assert all(url.startswith(address) for url in tab.asked)


def test_parameters_move_the_system_and_trace_the_path_again(opened, address):
    tab = opened(address)
    columns = "JSON.parse(document.getElementById('data').textContent).columns"
    before = tab.page.evaluate(columns)
    tab.page.get_by_label("h, as a number").fill("0.6")
    tab.page.get_by_label("h, as a number").press("Enter")
    for _ in range(200):
        after = tab.page.evaluate(columns)
        if after != before:
            break
        time.sleep(0.02)
    assert after != before
    assert tab.value("y") == pytest.approx(0.6)
    tab.page.get_by_label("h", exact=True).focus()
    tab.page.keyboard.press("ArrowLeft")
    assert tab.said == []


def test_an_error_is_shown_at_its_line_and_what_is_saved_is_there(opened, address, model, folder):
    tab = opened(address)
    tab.page.locator("#model summary").click()
    text = model.source.replace("range = [-0.1, 0.1]", 'range = [-0.1, "x"]')
    line = text[: text.index("range =")].count("\n") + 1
    tab.page.locator("#text").fill(text)
    tab.page.locator("#wrong").wait_for(state="visible")
    assert tab.page.locator("#wrong-line").get_attribute("data-line") == str(line)
    assert f"line {line}" in tab.page.locator("#wrong").inner_text()
    tab.page.locator("#text").fill(model.source.replace("h = 0.5", "h = 0.7"))
    tab.page.locator("#wrong").wait_for(state="hidden")
    assert tab.page.get_by_label("h, as a number").input_value() == "0.7"
    tab.page.get_by_role("button", name="Save model").click()
    tab.page.locator("#asking-name").fill("kept.toml")
    tab.page.locator("#asking-yes").click()
    tab.page.locator("#told").wait_for(state="visible")
    assert "h = 0.7" in (folder.place / "kept.toml").read_text()
    assert tab.said == []


def test_reload_goes_on_and_a_second_tab_is_its_own(opened, address):
    tab = opened(address)
    tab.drag(0.08)
    tab.jumps(1)
    tab.drag(0.0)
    tab.value("p")
    other = opened(address)
    tab.page.reload()
    tab.ready()
    assert tab.value("y") < -0.49
    assert other.value("y") == pytest.approx(0.5)
    assert tab.said + other.said == []


def test_a_server_that_goes_away_is_told_and_found_again(opened, model, folder):
    first = serve(model, "von-mises.toml", folder, address=(0, TOKEN), browser=False)
    port = int(first.url.split(":")[2].split("/")[0])
    tab = opened(first.url)
    tab.drag(0.08)
    tab.jumps(1)
    first.close()
    tab.page.locator("#trouble[data-lost=true]").wait_for(state="visible")
    assert "does not answer" in tab.page.locator("#trouble").inner_text()
    with serve(model, "von-mises.toml", folder, address=(port, TOKEN), browser=False):
        tab.page.locator("#trouble").wait_for(state="hidden")
        tab.ready()
        assert tab.value("y") < -0.5  # it goes on where it was
        tab.drag(-0.08)
        assert tab.jumps(1)[0] == pytest.approx(-LIMIT, rel=1e-9)


def test_a_wrong_text_and_a_refused_value_outlive_neither_reload_nor_server(opened, model, folder):
    first = serve(model, "von-mises.toml", folder, address=(0, TOKEN), browser=False)
    port = int(first.url.split(":")[2].split("/")[0])
    tab = opened(first.url)
    number = tab.page.get_by_label("h, as a number")
    for h in ("0.55", "0.6"):
        number.fill(h)
        number.press("Enter")
        soon(lambda h=h: tab.value("y") == float(h))
    span = tab.page.get_by_label("b, as a number")
    span.fill("1e308")  # its square is not finite
    span.press("Enter")
    tab.page.locator("#trouble").wait_for(state="visible")
    assert span.input_value() == "1"
    tab.page.locator("#model summary").click()
    tab.page.locator("#text").fill(model.source.replace('p*y"', 'p*yy"'))
    tab.page.locator("#wrong").wait_for(state="visible")
    first.close()
    tab.page.locator("#trouble[data-lost=true]").wait_for(state="visible")
    with serve(model, "von-mises.toml", folder, address=(port, TOKEN), browser=False):
        tab.page.locator("#trouble").wait_for(state="hidden")
        tab.ready()
        assert tab.value("y") == pytest.approx(0.6)
        assert "p*yy" in tab.page.locator("#text").input_value()  # what is being written stays
        before = tab.page.locator("#data").text_content()
        number.fill("0.4")
        number.press("Enter")
        soon(lambda: tab.page.locator("#data").text_content() != before)
        tab.page.reload()
        tab.ready()
        assert tab.value("y") == pytest.approx(0.4)
        assert tab.page.locator("#text").input_value() == model.source


def test_it_is_accessible(opened, address):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    tab = opened(address, color_scheme="dark")
    tab.page.locator("#model summary").click()
    found = axe.Axe().run(tab.page).response
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found["violations"]] == []


def test_on_a_phone_the_handle_is_in_sight_and_nothing_is_cut_off(opened, address):
    tab = opened(address, viewport={"width": 390, "height": 780}, has_touch=True)
    box = tab.page.locator("#handle").bounding_box()
    assert 0 < box["y"] < 780 - box["height"]
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert tab.page.locator(".grip").bounding_box()["height"] < 780 / 5
