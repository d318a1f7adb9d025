"""One visual language: colours that colour-blind eyes tell apart, three states, numbers, films in time, stories."""

import dataclasses
import functools
import itertools
import re
from pathlib import Path as FilePath

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Annotation

import onesided
from onesided import elements, plots, zoo
from onesided.base.errors import ModelError, UsageError
from onesided.plots import View, palette
from onesided.plots.badges import merged
from onesided.plots.configuration import Film, film_of, places_at
from onesided.plots.dark_figures import for_dark_pages
from onesided.plots.films import FLASH, scenes
from onesided.plots.still import enlarged
from onesided.plots.strokes import firmness_of
from onesided.plots.style import COLUMN, paper
from onesided.results import Line, Sketch
from onesided.results.named import shown_range
from onesided.results.numbering import numbered
from onesided.results.sketch import ActingForces, read_sketch, sketch_record
from onesided.results.sketch_forces import LoadArrow, Support, TouchPoint

mpl.use("Agg")

# Machado, Oliveira and Fernandes (2009): what eyes without one kind of cone see, in linear RGB
EYES = {
    "all": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]


def seen(colour, eye):
    """CIELAB of a colour as an eye sees it."""
    coded = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(EYES[eye] @ linear, 0.0, 1.0) / [0.95047, 1.0, 1.08883]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("eye", EYES)
def test_colours_are_told_apart_by_every_eye(eye):
    for a, b in itertools.combinations((*palette.HUES, palette.ACCENT), 2):
        assert np.linalg.norm(seen(a, eye) - seen(b, eye)) > 14, (a, b)
    for hue in palette.HUES:  # unstable is lighter, for every eye and in print
        assert seen(palette.pale(hue), eye)[0] > seen(hue, eye)[0] + 10
        assert seen(palette.pale(hue), eye)[0] < 90, "and still seen on white"


@pytest.mark.parametrize("eye", EYES)
def test_colours_for_dark_pages_are_told_apart_too(eye):
    dark = [palette.night(colour) for colour in (*palette.HUES, palette.ACCENT)]
    paper = seen(palette.night(palette.PAPER), eye)[0]
    for a, b in itertools.combinations(dark, 2):
        assert np.linalg.norm(seen(a, eye) - seen(b, eye)) > 14, (a, b)
    for hue in palette.HUES:  # unstable is nearer to the paper, and still seen
        pale, firm = (seen(palette.night(colour), eye)[0] for colour in (palette.pale(hue), hue))
        assert paper + 10 < pale < firm - 10


def test_figures_hold_both_sets_of_colours(tmp_path):
    file = plots.write(driven(), tmp_path / "loop.svg")
    text = file.read_text(encoding="utf-8")
    both = for_dark_pages(text)
    assert for_dark_pages(both) == both
    head = both[: both.index("</style>")]
    used = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", text))
    for colour in used:
        assert palette.night(colour) != colour, "every colour of a figure has its other one"
        assert f"{palette.night(colour)} !important" in head
    assert both.replace(both[both.index("\n <style") : both.index("</style>") + len("</style>")], "", 1) == text


def axes(count=1):
    figure = Figure(figsize=(8.2, 4.8), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot()


@functools.cache
def truss():
    """Two shallow bars; p is the load on the apex: p(y) = 2 k y (l0/l − 1) with l² = 1 + y²."""
    return onesided.trace(zoo.load("von-mises"))


@functools.cache
def driven():
    return onesided.drive(zoo.load("von-mises-floor"))


def test_a_truss_is_stable_between_its_limit_points_only_while_held():
    """Under the load the middle is unstable; with the apex held nothing is, as it is the only coordinate."""
    path = truss()
    held = firmness_of(path)
    assert set(held[path.instability == 0]) == {0}
    assert set(held[path.instability == 1]) == {1}
    ax = plots.diagram(path, ax=axes(), held=True)
    words = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert "stable only while held" in words
    assert not any("unstable" in word for word in words)


def test_a_snap_back_is_not_stable_even_if_held():
    """U(p) on the way: u = −dU/dp, du/dp < 0 in the middle of a limit point's fall, > 0 beyond a snap-back."""
    s = np.linspace(0.0, 1.0, 41)
    p, u = np.sin(3 * np.pi * s), s - 0.35 * np.sin(4 * np.pi * s) / np.pi
    energy = -np.concatenate([[0.0], np.cumsum((u[1:] + u[:-1]) / 2 * np.diff(p))])
    degree = (np.cos(3 * np.pi * s) < 0).astype(int)
    path = dataclasses.replace(
        truss(), p=p, energy=energy, instability=degree, s=s, events=(), **{
            name: np.resize(getattr(truss(), name), (41, getattr(truss(), name).shape[1]))
            for name in ("q", "mu", "lam", "gaps", "tangents", "codes")
        })  # fmt: skip
    inside = (degree[1:] == 1) & (degree[:-1] == 1)
    falling = np.diff(u) * np.diff(p) < 0
    clear = inside & (np.abs(np.diff(u)) > 0.2 * np.max(np.abs(np.diff(u)))) & (np.abs(np.diff(p)) > 0.05)
    got = firmness_of(path)[1:]
    assert np.array_equal(got[clear] == 1, falling[clear])


def test_under_displacement_control_falling_force_is_held():
    path = truss()
    force = np.gradient(path.energy, path.p)
    moved = dataclasses.replace(path, instability=np.zeros(len(path), dtype=int))
    object.__setattr__(moved, "members", {"machine_force": force})
    assert set(firmness_of(moved)) <= {0, 1}
    ax = plots.diagram(moved, ax=axes())
    assert ax.get_ylabel() == "machine_force"
    assert "stable only while held" in [text.get_text() for text in ax.figure.legends[0].get_texts()]


def test_numbers_in_the_figure_are_those_of_the_result():
    found = driven()
    ax = plots.diagram(found, ax=axes())
    badges = sorted(t.get_text() for t in ax.texts if isinstance(t, Annotation) and t.get_bbox_patch() is not None)
    assert badges == [str(one.number) for one in found.numbered]
    key = ax.figure.legends[0]
    words = [text.get_text() for text in key.get_texts()]
    assert [word.split(" at ")[0] for word in words if word.startswith("jump")] == ["jump"] * len(found.jumps)


def test_markers_at_one_place_are_one():
    ax = axes()
    ax.set(xlim=(0, 1), ylim=(0, 1))
    one, two, three = numbered([(0, 0, truss().events[0])] * 3)
    spots = merged(ax, [(0.5, 0.5, one), (0.9, 0.5, two), (0.5001, 0.5, three)])
    assert [spot.text for spot in spots] == ["1,3", "2"]


def test_negative_modes_stand_on_the_curve():
    ax = plots.diagram(truss(), ax=axes())
    assert [t.get_text() for t in ax.texts if not isinstance(t, Annotation)] == ["1"]


def test_branches_alike_are_one_family():
    """A column buckles to either side: two images, one family; of many branches one of each is drawn."""
    found = onesided.diagram(zoo.load("column"))
    assert sorted(map(len, found.families)) == [1, 2]
    many = dataclasses.replace(found, paths=found.paths * 6, parents=(-1,) + (0,) * (6 * len(found.paths) - 1))
    ax = plots.diagram(many, ax=axes())
    assert len([line for line in ax.lines if len(line.get_xdata()) > 1]) <= 3 * 2
    words = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert any("18 branches in 2 families" in word for word in words)


def test_motions_are_played_in_time_and_paths_by_arc_length():
    ball = onesided.load_result(FilePath(__file__).parent.parent / "results" / "format-1" / "motion")
    film = film_of(ball, 40)
    np.testing.assert_allclose(film.columns["t"], np.linspace(ball.t[0], ball.t[-1], 40))
    assert [scene.picture for scene in scenes(film, 40)] == list(range(40))
    path = truss()
    fine = film_of(path, 300)
    played = fine.clock[[scene.picture for scene in scenes(fine, 20)]]
    steps = np.diff(played)
    assert np.ptp(steps) < 2.5 * np.max(np.diff(fine.clock))


def test_a_jump_flashes_before_and_after():
    found = driven()
    film = film_of(found, 60)
    shown = scenes(film, 80)
    falls = {picture for numbers in film.falls.values() for picture in numbers}
    flashes = [scene for scene in shown if scene.alert and scene.picture not in falls]
    assert len(flashes) == 2 * FLASH * len(found.jumps)
    for scene in flashes:
        assert {scene.picture, scene.shade} in [{begin - 1, begin} for begin, _ in film.jumps]


def test_small_displacements_are_enlarged_and_told():
    sketch = Sketch(points={"a": (0.0, 0.0), "b": ("x", 1.0)}, lines=(Line(("a", "b")),))
    film = Film(sketch, {"x": np.array([0.0, 1e-3])}, (), np.zeros((2, 0), dtype=bool), ("", ""))
    big = enlarged(film, None)
    assert big.scale == 100.0
    assert "× 100" in big.captions[1]
    assert places_at(big, 1)["b"] == pytest.approx([0.1, 1.0])
    assert enlarged(dataclasses.replace(film, columns={"x": np.array([0.0, 0.5])}), None).scale == 1.0


@functools.cache
def post():
    """A spring on a roller, pressed down by p onto a floor."""
    return onesided.compose(
        elements.Node("foot", (0.0, 0.0), fixed=True),
        elements.Node("top", (0.0, 1.0), fixed="x"),
        elements.Bar("post", ("foot", "top"), stiffness=1.0),
        elements.Force("load", "top", (0.0, -1.0)),
        elements.PlaneContact("floor", "top", (0.0, 1.0), through=(0.0, 0.6), radius=0.1),
    )


def test_a_structure_draws_its_loads_supports_and_contacts():
    acting = post().sketch.acting
    assert acting.loads == (LoadArrow("top", (0.0, -1.0)),)
    assert set(acting.supports) == {Support("foot", "xy"), Support("top", "x")}
    assert acting.touch("floor") == TouchPoint("top", (0.0, 1.0), 0.1)
    again = read_sketch(sketch_record(post().sketch))
    assert again.acting.loads == acting.loads
    assert again.acting.touches == acting.touches
    path = onesided.trace(post(), p_bounds=(0.0, 0.6))
    ax = plots.sketch(path, ax=axes())
    tips = sorted(tuple(np.round(t.xy, 6)) for t in ax.texts if isinstance(t, Annotation))
    assert tips == [(0.0, 0.6), (0.0, 0.7)], "the reaction acts where the contact touches, the load at its node"
    coloured = plots.sketch(path, members="force")
    assert len(coloured.figure.axes) == 2, "with a scale"
    with pytest.raises(UsageError, match="no member has a 'stress'"):
        plots.sketch(path, ax=axes(), members="stress")


def test_labels_and_units_are_stated_in_files_and_python():
    text = zoo.text("von-mises") + '\n[labels]\ny = {label = "height of the apex", unit = "mm"}\n'
    system, _ = onesided.loads(text)
    path = onesided.trace(system, max_points=5, throw=False)
    assert plots.diagram(path, ax=axes()).get_xlabel() == "height of the apex [mm]"
    named = dataclasses.replace(path, provenance={**path.provenance, "labels": {"p": ["load", "N"]}})
    assert plots.diagram(named, ax=axes()).get_ylabel() == "load [N]"
    other = system.labelled({"p": ("load", "N")})
    assert dict(other.labels) == {"y": ("height of the apex", "mm"), "p": ("load", "N")}
    with pytest.raises(ModelError, match="label of 'p'"):
        system.labelled({"p": "load"})
    with pytest.raises(onesided.ModelFileError, match="'z' to be labelled"):
        onesided.loads(zoo.text("von-mises") + '\n[labels]\nz = {label = "height"}\n')


def test_a_story_shows_start_jumps_and_end(tmp_path):
    found = driven()
    figure = plots.story(found)
    titles = [cell.get_title() for cell in figure.axes if cell.get_title()]
    jumps = [one.number for one in found.numbered if one.what in found.jumps]
    told = [f"{side} {number}" for number in jumps for side in ("before", "after")]
    assert titles == ["start", *told, "end"]
    assert plots.write(found, tmp_path / "story.png", view=View.story).stat().st_size > 10_000


def test_a_story_on_a_card_is_small_and_keeps_the_numbers():
    truss, task = zoo.load("von-mises")
    path = onesided.trace(truss, task.start, task.p, p_bounds=task.p_bounds)  # two limit points: closed form
    whole, card = plots.story(path), plots.story(path, card=True)
    assert [cell.get_title() for cell in whole.axes[:4]] == ["start", "1: limit point", "2: limit point", "end"]
    assert [cell.get_title() for cell in card.axes[:4]] == ["start", "1", "2", "end"]
    assert card.get_figwidth() < 0.6 * whole.get_figwidth()
    keys = [[box for part in one.findobj(Legend) for box in [part] if part.get_visible()] for one in (whole, card)]
    assert keys[0]
    assert not keys[1]
    many = plots.story(onesided.drive(truss, task.start, [0.0, 0.1, -0.1, 0.1, -0.1]), card=True)
    assert [cell.get_title() for cell in many.axes[:-1]] == ["start", "before 2", "after 2", "end"]


def test_start_and_end_of_a_closed_loop_are_told_once():
    truss, task = zoo.load("von-mises")
    ends = {"start", "end", "start, end"}
    for programme, expected in (([0.0, 0.1, -0.1, 0.0], ["start, end"]), ([0.0, 0.1], ["end", "start"])):
        figure = plots.story(onesided.drive(truss, task.start, programme))
        told = [one.get_text() for one in figure.axes[-1].texts]
        assert sorted(ends.intersection(told)) == expected, programme


def test_figures_for_papers_are_narrow_vectors_with_fonts(tmp_path):
    file = plots.write(driven(), tmp_path / "a.pdf", for_paper=True, title="not shown")
    data = file.read_bytes()
    box = [float(part) for part in data.split(b"/MediaBox [")[1].split(b"]")[0].split()]
    assert box[2] == pytest.approx(3.5 * 72)
    assert b"FontFile2" in data, "fonts are in the file"
    with pytest.raises(UsageError, match=r"\.svg or \.pdf"):
        plots.write(driven(), tmp_path / "a.png", for_paper=True)


@pytest.mark.parametrize("name", ["column-between-walls", "arch-on-floor", "cable-net", "bistable-chain"])
def test_the_key_of_a_figure_for_papers_fits_below_it(name):
    """Many events by their kinds, few with their numbers; a third of the height at least is the diagram."""
    path = onesided.trace(zoo.load(name), throw=False)
    with paper():
        figure = Figure(figsize=(COLUMN, 0.9 * COLUMN), layout="constrained")
        FigureCanvasAgg(figure)
        ax = plots.diagram(path, ax=figure.add_subplot())
        figure.canvas.draw()
    (key,) = figure.legends
    box, room = key.get_window_extent(), figure.bbox
    assert room.x0 <= box.x0
    assert box.x1 <= room.x1
    assert ax.get_window_extent().height > room.height / 3
    badges = [text for text in ax.texts if text.get_bbox_patch() is not None]
    assert len(badges) <= 9


def test_drift_has_plain_ticks(tmp_path):
    ball = onesided.load_result(FilePath(__file__).parent.parent / "results" / "format-1" / "motion")
    ax = plots.drift(ball, ax=axes())
    ax.figure.draw_without_rendering()
    ticks = [tick.get_text() for tick in ax.get_yticklabels()]
    assert any(tick.startswith("10⁻") for tick in ticks)
    assert not any("$" in tick or "\\" in tick for tick in ticks)


def test_very_long_paths_take_few_artists():
    """What takes minutes is one artist per event: 20,000 points with 1,250 events are some lines and markers."""
    path = truss()
    count = 20_000
    many = {name: np.resize(getattr(path, name), (count, *getattr(path, name).shape[1:]))
            for name in ("q", "p", "mu", "lam", "gaps", "energy", "tangents", "instability", "codes")}  # fmt: skip
    events = tuple(dataclasses.replace(path.events[0], index=i) for i in range(0, count, 16))
    long = dataclasses.replace(path, s=np.arange(float(count)), events=events, measures={}, **many)
    for ax in (plots.diagram(long, ax=axes()), plots.energy(long, ax=axes())):
        assert len(ax.get_children()) < 60
    words = [text.get_text() for text in plots.diagram(long, ax=axes()).figure.legends[0].get_texts()]
    assert "limit point × 1,250" in words


def test_forces_on_points_that_are_not_there_are_refused():
    with pytest.raises(ModelError, match="'tip'"):
        Sketch(points={"a": (0.0, 0.0)}, acting=ActingForces((LoadArrow("tip", (0.0, 1.0)),)))


def test_round_off_is_not_a_curve():
    """A column that stays straight: its angle is 0 but for round-off, and the picture must not blow that up."""
    path = onesided.trace(zoo.load("column").system)
    assert np.ptp(path["theta"]) < 1e-12
    axes = plots.diagram(path, x="theta")
    low, high = axes.get_xlim()
    assert high - low > 0.1
    assert axes.get_ylim()[0] <= path.p.min() < path.p.max() <= axes.get_ylim()[1]


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_ranges_are_shown_in_any_unit(unit):
    assert shown_range(unit * 2.0, unit * (2.0 + 1e-3), unit) == (unit * 2.0, unit * (2.0 + 1e-3))
    assert shown_range(-1e-73 * unit, 0.0, unit) == pytest.approx((-0.5 * unit, 0.5 * unit))
    assert shown_range(3.0 * unit, 3.0 * unit * (1 + 1e-15), 0.0) == pytest.approx((1.5 * unit, 4.5 * unit))
    assert shown_range(0.0, 0.0, 0.0) == (0.0, 0.0)


def test_a_map_without_events_is_a_picture(tmp_path, recwarn):
    """Nothing to draw but the regions: the picture spans them, and matplotlib has nothing to complain about."""
    region = onesided.results.Region(7.5, 30.0, ())
    found = onesided.results.StabilityMap("m", "p", (region,), ())
    axes = plots.event_curve(found)
    assert axes.get_xlim() == (7.5, 30.0)
    assert plots.write(found, tmp_path / "a.png").stat().st_size > 3_000
    assert not [one for one in recwarn if "constrained" in str(one.message)]
