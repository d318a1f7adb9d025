"""Pictures: what is drawn is what was computed, told apart without colour, and labels keep clear of each other."""

import functools
import itertools

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from PIL import Image

import onesided
from onesided import plots, zoo
from onesided.base.errors import UsageError
from onesided.plots import View
from onesided.plots.configuration import draw, film_of, highlights, prepared
from onesided.plots.strokes import Firmness, pieces, stroke_look
from onesided.plots.style import COLOURS, MARKERS
from onesided.results import Kind, Line, Sketch, columns, dense

mpl.use("Agg")
STATIC = [name for name in zoo.names() if "[motion]" not in zoo.text(name)]
FORMULAS = {name for name in STATIC if "[coordinates]" in zoo.text(name)}  # the others take long


def axes():
    figure = Figure(figsize=(6.4, 4.8), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot()


@functools.cache
def model(name):
    return zoo.load(name)


@functools.cache
def traced(name):
    system, task = model(name)
    bounds = {"p_bounds": task.p_bounds, "max_points": 400}
    return onesided.trace(system, task.start, task.p, direction=task.direction, throw=False, **bounds)


@functools.cache
def driven(name):
    system, task = model(name)
    return onesided.drive(system, task.start, task.programme)


@functools.cache
def explored(name):
    system, task = model(name)
    return onesided.diagram(system, task.start, task.p, p_bounds=task.p_bounds)


def curves(ax):
    return [line for line in ax.lines if len(line.get_xdata()) > 1]


def test_every_computed_point_is_on_a_line_of_its_stability():
    path = traced("von-mises-floor")
    ax = plots.diagram(path, ax=axes())
    lines = curves(ax)
    assert [line.get_linestyle() for line in lines] == ["-", "--", "-"]
    for i in range(1, len(path)):
        on = [line for line in lines
              if np.any((line.get_xdata() == path.q[i, 0]) & (line.get_ydata() == path.p[i]))]  # fmt: skip
        wanted = "-" if path.instability[i] == 0 else "--"
        assert wanted in {line.get_linestyle() for line in on}, i


def test_pieces_meet_at_the_events():
    path = traced("von-mises-floor")
    fine = dense(path)
    cuts = [fine.place(e.index) for e in path.events]
    assert [end for _, end, _ in pieces(fine)] == cuts
    assert [degree for *_, degree in pieces(fine)] == [0, 1, 0]


def test_stability_and_kinds_are_told_apart_without_colour():
    looks = [stroke_look(firmness, COLOURS[0]) for firmness in Firmness]
    assert len({str(look["ls"]) for look in looks}) == len({look["lw"] for look in looks}) == 3
    marks = [(m.shape, m.filled) for m in MARKERS.values()]
    assert len(set(marks)) == len(marks) == len(Kind)
    assert len(set(COLOURS)) == len(COLOURS)


@pytest.mark.parametrize(
    "name",
    [name if name in {*FORMULAS, "guyed-mast"} else pytest.param(name, marks=pytest.mark.slow) for name in STATIC],
)
@pytest.mark.parametrize("make", [traced, explored, driven])
def test_labels_do_not_overlap(name, make):
    if name not in FORMULAS and make is not traced:
        pytest.skip("too long for a test of pictures")
    try:
        result = make(name)
        ax = plots.diagram(result, ax=axes(), title="A title of usual length")
    except (UsageError, onesided.SolveError):
        pytest.skip("no path to be drawn")
    figure = ax.figure
    figure.draw_without_rendering()
    notes = [t for t in ax.texts if isinstance(t, Annotation) and t.get_text()]
    boxes = [Text.get_window_extent(note) for note in notes]  # without the leader
    for (a, first), (b, second) in itertools.combinations(zip(notes, boxes, strict=True), 2):
        assert not first.overlaps(second), (a.get_text(), b.get_text())
    whole = figure.bbox
    assert all(box.x0 >= 0 and box.x1 <= whole.x1 and box.y0 >= 0 and box.y1 <= whole.y1 for box in boxes)


def test_each_event_of_a_diagram_is_marked_once():
    result = explored("column-stop")
    ax = plots.diagram(result, ax=axes())
    marks = [line for line in ax.lines if len(line.get_xdata()) == 1 and line.get_marker() != "|"]
    assert sorted(line.get_marker() for line in marks) == ["s", "v"]


def test_jumps_are_arrows_from_state_to_state():
    result = driven("corner-limit")
    ax = plots.diagram(result, ax=axes())
    jumps = [t for t in ax.texts if isinstance(t, Annotation) and t.arrowprops and t.arrowprops.get("ls")]
    assert len(jumps) == len(result.jumps) == 1
    np.testing.assert_allclose(jumps[0].xyann, [0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(jumps[0].xy, [np.pi, 0.0], atol=1e-9)


def test_methods_of_results_draw_too():
    path = traced("corner-limit")
    ax = path.plot("y", "reaction stop", ax=axes())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("y", "reaction stop")
    assert driven("corner-limit").plot(ax=axes()).get_xlabel() == "phi"
    assert explored("column").plot(ax=axes()).get_ylabel() == "p"
    with pytest.raises(UsageError, match="one of arc length, p, phi"):
        path.plot("fi", ax=axes())


def test_reactions_gaps_and_energy_are_the_paths():
    path = traced("von-mises-floor")
    for draw_it, label in ((plots.reactions, "reaction floor"), (plots.gaps, "gap floor"), (plots.energy, "energy")):
        line = curves(draw_it(path, ax=axes(), x="arc length"))[0]
        values = np.interp(path.s, line.get_xdata(), line.get_ydata())
        np.testing.assert_allclose(values, columns(path)[label], atol=1e-9)
    with pytest.raises(UsageError, match="no one-sided constraint"):
        plots.reactions(traced("von-mises"), ax=axes())


@pytest.mark.parametrize("ending", [".svg", ".pdf", ".png"])
def test_files_are_the_same_each_time(tmp_path, ending):
    path = traced("corner-limit")
    first = plots.write(path, tmp_path / f"a{ending}").read_bytes()
    assert first == plots.write(path, tmp_path / f"b{ending}").read_bytes()
    assert first[:5] in {b"<?xml", b"%PDF-", b"\x89PNG\r"}
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"a{ending}", f"b{ending}"]


def test_unknown_endings_are_refused(tmp_path):
    with pytest.raises(UsageError, match=r"\.svg or \.pdf or \.png"):
        plots.write(traced("corner-limit"), tmp_path / "a.bmp")


@pytest.mark.parametrize("name", [n for n in STATIC if "[sketch]" in zoo.text(n)])
def test_every_sketch_is_drawn_and_highlights_what_is_closed(name, tmp_path):
    path = traced(name)
    film = film_of(path)
    for i in (0, len(path) // 2, -1):
        closed = {part for k, parts in enumerate(path.unilateral) if path.codes[i, k]
                  for part in film.sketch.marks.get(parts, ())}  # fmt: skip
        assert set(highlights(film, i)) == closed
    plots.write(path, tmp_path / "s.png", view=View.sketch)
    assert np.asarray(Image.open(tmp_path / "s.png").convert("L")).min() < 100, "something dark is drawn"


def test_a_system_in_space_is_drawn():
    sketch = Sketch(
        points={"a": (0.0, 0.0, 0.0), "b": ("x", 0.0, 1.0)},
        lines=(Line(("a", "b"), "cable"),),
        marks={"stop": (("a", "b"),)},
    )
    system = onesided.System(
        coordinates=("x",), energy=lambda q, p, th: (q[0] - p) ** 2 / 2, unilateral={"stop": lambda q, p, th: 1 - q[0]},
        sketch=sketch,
    )  # fmt: skip
    path = onesided.trace(system, [0.0], 0.0, p_bounds=(0, 2))
    film = film_of(path)
    ax = Figure().add_subplot(projection="3d")
    prepared(film, ax)
    draw(ax, film, len(path) - 1)
    taut = ax.lines[0].get_linestyle()
    ax = Figure().add_subplot(projection="3d")
    prepared(film, ax)
    draw(ax, film, 0)
    assert (taut, ax.lines[0].get_linestyle()) == ("-", "--"), "the open stop is highlighted: what changes"
    with pytest.raises(UsageError, match="projection"):
        plots.sketch(path, ax=axes())


def test_a_result_without_a_sketch_says_what_is_missing():
    with pytest.raises(UsageError, match=r"\[sketch\]"):
        plots.sketch(traced("singular-corner"), ax=axes())
    with pytest.raises(UsageError, match="no such point"):
        plots.sketch(traced("column"), 10_000, ax=axes())


def test_animations_have_the_frames_asked_for(tmp_path):
    file = plots.animate(traced("corner-limit"), tmp_path / "a.gif", frames=12)
    with Image.open(file) as film:
        assert film.n_frames == 12
    assert [p.name for p in tmp_path.iterdir()] == ["a.gif"]


def test_other_kinds_of_films_are_refused(tmp_path):
    with pytest.raises(UsageError, match=r"\.gif or \.mp4"):
        plots.animate(traced("corner-limit"), tmp_path / "a.avi", frames=3)
    assert list(tmp_path.iterdir()) == []
