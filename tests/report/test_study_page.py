"""The page of a study: a click on a case shows what the table holds, and its path where it was kept."""

import json
import re

import pytest

import onesided

EVIL = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    truss, folder = onesided.loads(onesided.zoo.text("von-mises")).system, tmp_path_factory.mktemp("studies") / "s"
    task = onesided.StudyTask(truss, "trace", {"max_events": 1}, results=True)
    return onesided.study(task, over={"h": [0.4, 0.45, 0.5], "k": [0.5, 1.0]}, folder=folder, workers=0)


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_the_page_holds_the_table_and_the_paths(study):
    page = onesided.report.html(study, model=onesided.zoo.text("von-mises") + f"# {EVIL}")
    data = data_of(page)
    assert data["columns"]["limit_load"] == pytest.approx(study["limit_load"], rel=1e-7)
    assert data["numbers"] == data["places"] == list(range(6)) and data["shape"] == [3, 2]
    assert data["curves"]["5"]["xs"][-1] == pytest.approx(study.result(5)["y"][-1], rel=1e-7)
    assert EVIL not in page and "6 of 6 cases, 0 failed" in page


def test_large_studies_are_thinned_evenly(study, monkeypatch):
    monkeypatch.setattr(onesided.report.study_page, "MOST_CASES", 4)
    data = data_of(onesided.report.html(study))
    assert data["shape"] == [2, 1] and data["axes"] == {"h": [0.4, 0.5], "k": [0.5]}
    assert data["numbers"] == [0, 4] and data["places"] == [0, 1]


def test_a_click_on_a_cell_opens_its_case(open_page, study, tmp_path):
    tab = open_page(onesided.report.write(study, tmp_path / "study.html"))
    box = tab.page.locator("#map").bounding_box()
    empty = tab.painted("curve")
    tab.page.mouse.click(box["x"] + box["width"] - 20, box["y"] + 20)  # the last value of both axes
    assert tab.page.locator("#case").inner_text() == "Case 5"
    assert tab.value("limit_load") == pytest.approx(study["limit_load"][5], rel=1e-7)
    assert tab.value("h") == 0.5 and tab.value("k") == 1.0 and tab.painted("curve") > empty
    assert "limit point at" in tab.page.locator("#happens").inner_text()
    tab.page.keyboard.press("Tab")
    tab.page.locator("#map").press("ArrowLeft")
    assert tab.page.locator("#case").inner_text() == "Case 3"
    tab.page.select_option("#value", "first_event")
    assert "limit point" in tab.page.locator("#legend").inner_text()
    tab.quiet()
