"""Notebooks: every result shows itself, with a drawing where there is a sketch; the viewer works inside a cell."""

import functools
import re
from dataclasses import replace

import numpy as np
import pytest
from test_page import EVIL, Elements, traced

import onesided
from onesided import plots, zoo
from onesided.base.errors import UsageError
from onesided.plots.configuration import film_of
from onesided.results import Line, Sketch


def pictures(shown):
    return shown.count("<svg ")


@functools.cache
def truss():
    return traced("von-mises-floor")


def test_an_event_draws_the_system_where_it_happens(tmp_path):
    found = truss()
    event = found.events[1]
    assert pictures(event._repr_html_()) == 1
    film = film_of(event)
    whole = film_of(found)
    for name, place in film.sketch.positions(film.columns).items():
        np.testing.assert_array_equal(place[0], whole.sketch.positions(whole.columns)[name][event.index])
    assert np.array_equal(film.closed[0], whole.closed[event.index])
    again = onesided.load_result(onesided.save(found, tmp_path / "r")).events[1]
    assert np.array_equal(film_of(again).columns["y"], film.columns["y"])


def test_rays_of_a_limit_point_tell_the_modes_of_their_sides():
    """Stable on the way up, one negative mode beyond: the same as the sentence above the table says."""
    event = truss().events[0]
    assert (event.kind, event.instability_before, event.instability_after) == (onesided.Kind.limit, 0, 1)
    rows = re.findall(r"<tr>(.*?)</tr>", event._repr_html_(), re.DOTALL)
    modes = {"came" if "came" in row else "followed": re.findall(r"<td[^>]*>(\d+)</td>", row)[-1:] for row in rows[1:]}
    assert modes == {"came": ["0"], "followed": ["1"]}


def test_an_equilibrium_draws_itself(tmp_path):
    system, task = zoo.load("von-mises-floor")
    state = onesided.solve(system, start=task.start, p=task.p).value
    assert pictures(state._repr_html_()) == 1
    film = film_of(state)
    assert film.sketch.positions(film.columns)["apex"][0].tolist() == [0.0, state.q[0]]
    assert plots.write(state, tmp_path / "a.svg", view=plots.View.sketch).stat().st_size > 2000


def test_results_show_their_curve_and_three_shapes():
    assert pictures(truss()._repr_html_()) == 2
    system, task = zoo.load("corner-limit")
    assert pictures(onesided.drive(system, task.start, task.programme)._repr_html_()) == 2
    column, task = zoo.load("column-stop")
    assert pictures(onesided.diagram(column, task.start, task.p, p_bounds=task.p_bounds)._repr_html_()) == 2
    assert pictures(traced("singular-corner")._repr_html_()) == 1, "there is no sketch"
    assert len(plots.shapes(truss()).axes) == 3
    assert len(plots.shapes(truss(), 0, 5).axes) == 2
    with pytest.raises(UsageError, match="no such point"):
        plots.shapes(truss(), 10_000)


def test_systems_and_files_show_themselves():
    model = zoo.load("tripod-truss")
    assert pictures(model._repr_html_()) == 1
    assert pictures(model.system._repr_html_()) == 1, "it was composed: its start is known"
    assert "Three-bar space truss" in model._repr_html_()
    formulas = zoo.load("von-mises-floor")
    assert pictures(formulas._repr_html_()) == 1
    assert pictures(formulas.system._repr_html_()) == 0
    assert "floor" in formulas.system._repr_html_()


def masses(**more):
    return onesided.System(
        coordinates=("a", "b"),
        energy=lambda q, p, th: (q[0] ** 2 + (q[1] - q[0]) ** 2 + q[1] ** 2) / 2,
        mass=lambda q, th: np.eye(2),
        **more,
    )


def test_modes_show_frequencies_and_shapes():
    sketch = Sketch(points={"o": (0.0, 0.0), "a": (1.0, "a"), "b": (2.0, "b")}, lines=(Line(("o", "a", "b")),))
    found = onesided.modes(masses(sketch=sketch), [0.0, 0.0], 0.0)
    shown = found._repr_html_()
    assert pictures(shown) == 1
    assert f"{np.sqrt(3):.10g}" in shown
    assert f"{1 / (2 * np.pi):.6g}" in shown
    # in phase, then in opposite phase; the largest displacement is the same part of the picture in both
    swing = np.array([found.swings["a"], found.swings["b"]])
    assert np.allclose(swing[:, 0], 0.0)
    assert swing[0, 1] == pytest.approx(swing[1, 1])
    assert swing[0, 2] == pytest.approx(-swing[1, 2])
    assert np.abs(swing[:, 1:]).max(axis=0) == pytest.approx([0.24, 0.24])
    assert len(plots.mode_shapes(found).axes) == 2
    plain = onesided.modes(masses(), [0.0, 0.0], 0.0)
    assert pictures(plain._repr_html_()) == 0
    with pytest.raises(UsageError, match="how to draw"):
        plots.mode_shapes(plain)


def test_strangers_words_are_escaped_in_every_display():
    system = onesided.System(coordinates=("x",), energy=lambda q, p, th: q[0] ** 2, mass=lambda q, th: np.eye(1))
    state = onesided.solve(system, start=[0.1], p=0.0).value
    found = onesided.modes(system, [0.0], 0.0)
    model = zoo.load("column")
    for shown in (
        replace(state, coordinates=(EVIL,))._repr_html_(),
        replace(found, note=EVIL, closed=(EVIL,))._repr_html_(),
        model._replace(task=replace(model.task, title=EVIL, description=EVIL))._repr_html_(),
    ):
        assert EVIL[:8] not in shown
        assert {"script", "img"}.isdisjoint(tag for tag, _ in Elements(shown).tags)


@pytest.mark.slow
def test_a_notebook_runs_and_its_viewer_works(open_page, tmp_path):
    formats = pytest.importorskip("nbformat", reason="the package nbformat is not installed")
    client = pytest.importorskip("nbclient", reason="the package nbclient is not installed")
    export = pytest.importorskip("nbconvert", reason="the package nbconvert is not installed")
    pytest.importorskip("ipykernel", reason="the package ipykernel is not installed")
    cells = [
        "import onesided\nfrom onesided.report import Viewer\nmodel = onesided.zoo.load('von-mises-floor')\nmodel",
        "system, task = model\npath = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)\npath",
        "path.events[1]",
        "onesided.solve(system, start=task.start, p=task.p).value",
        "Viewer(path, model=task.source)",
    ]
    notebook = formats.v4.new_notebook(cells=[formats.v4.new_code_cell(cell) for cell in cells])
    client.NotebookClient(notebook, timeout=200, kernel_name="python3").execute()
    outputs = [cell.outputs[0].data["text/html"] for cell in notebook.cells]
    assert [pictures(shown) for shown in outputs[:4]] == [1, 2, 1, 1]
    body, _ = export.HTMLExporter(template_name="basic").from_notebook_node(notebook)
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><meta charset='utf-8'><body>{body}</body>", encoding="utf-8")
    tab = open_page(file)
    inner = tab.page.frame_locator("iframe")
    inner.locator("#events button").nth(1).click()
    assert inner.locator("#here").inner_text() == truss().events[1].words()
    inner.locator("#slider").press("End")
    cell = inner.locator("#values tr", has=inner.get_by_role("rowheader", name="p", exact=True)).locator("td")
    assert float(cell.inner_text()) == pytest.approx(truss().p[-1], rel=1e-9)
    assert tab.page.locator("svg").count() >= 5
    assert tab.said == []
    assert [address for address in tab.asked if address.startswith("http")] == []
