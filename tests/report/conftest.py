"""A real browser for the tests of pages."""

import shutil
from pathlib import Path

import pytest
from get_browser import NAMES

OPTIONS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
]  # fmt: skip


@pytest.fixture(scope="session")
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
        """Go to a frame by the address, as a link does."""
        self.page.evaluate(
            "f => new Promise((done) => { history.replaceState(null, '', location.pathname);"
            "window.addEventListener('hashchange', () => done(), { once: true }); location.hash = '#' + f; })",
            frame,
        )

    def position(self):
        return int(self.page.locator("#slider").get_attribute("data-frame"))

    def value(self, name):
        cell = self.page.locator("#values tr", has=self.page.get_by_role("rowheader", name=name, exact=True))
        return number(cell.locator("td").inner_text())

    def values(self):
        """All numbers of the table, by their names: one question to the browser."""
        rows = self.page.evaluate(
            "() => [...document.querySelectorAll('#values tr')].map(r => [...r.cells].map(c => c.innerText.trim()))"
        )
        return {name: number(text) for name, text, *_ in rows}

    def constraint(self, name):
        row = self.page.locator("#constraints tbody tr", has=self.page.get_by_role("rowheader", name=name, exact=True))
        state, gap, reaction = row.locator("td").all_inner_texts()
        return state, number(gap), number(reaction)

    def painted(self, canvas):
        """How many pixels of a canvas are not empty."""
        return self.page.evaluate(
            "id => { const k = document.getElementById(id), o = document.createElement('canvas');"
            "o.width = k.width; o.height = k.height; const c = o.getContext('2d', { willReadFrequently: true });"
            "c.drawImage(k, 0, 0); const d = c.getImageData(0, 0, k.width, k.height).data;"
            "let n = 0; for (let i = 3; i < d.length; i += 4) if (d[i]) n++; return n; }",
            canvas,
        )

    def frames(self):
        """Slider positions of the computed points."""
        return self.page.evaluate(
            "() => { const d = JSON.parse(document.getElementById('data').textContent), e = atob(d.exact);"
            "return [...e].map((c, i) => [c.charCodeAt(0), i]).filter(([k]) => k).map(([, i]) => i); }"
        )

    def picture(self, canvas="sketch"):
        return self.page.evaluate("id => document.getElementById(id).toDataURL()", canvas)

    def quiet(self):
        assert self.said == []
        assert len(self.asked) == 1, self.asked
        assert self.asked[0].startswith("file://")
        self.context.close()


def number(text):
    return float(text.replace("−", "-").removeprefix("≈ "))


@pytest.fixture
def open_page(browser):
    """Open a file in a tab; closed at the end in any case."""
    tabs = []

    def opened(file, **options):
        tabs.append(Tab(browser, file, **options))
        return tabs[-1]

    yield opened
    for tab in tabs:
        tab.context.close()
