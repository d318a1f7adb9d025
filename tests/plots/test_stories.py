"""Stories: words clear of each other and of curves, cables told as cables, flat systems large, quiet motions."""

import matplotlib as mpl
import numpy as np
import pytest

import onesided
from onesided import elements, plots, zoo
from onesided.plots.badges import brief
from onesided.plots.motion_plots import history, most_moving

mpl.use("Agg")


def hung(count):
    """A weight on equal ropes, which go slack together when a spring below has been pushed up far enough."""
    ropes = [elements.Cable(f"rope{i}", ("top", "m"), stiffness=10.0, length=0.9) for i in range(count)]
    rope = onesided.compose(
        elements.Node("top", (0.0, 1.0), fixed=True),
        elements.Node("m", (0.0, 0.0), fixed="x"),
        elements.Node("base", (0.0, -1.0), fixed=True),
        elements.Bar("spring", ("base", "m"), stiffness=1.0),
        *ropes,
        elements.Force("weight", "m", (0.0, -3.2)),
    )
    return onesided.trace(rope, direction=-1, p_bounds=(-0.3, 0.1))


def arch(rise):
    """Two bars of span 2, pushed down at their apex."""
    return onesided.compose(
        elements.Node("left", (-1.0, 0.0), fixed=True),
        elements.Node("right", (1.0, 0.0), fixed=True),
        elements.Node("apex", (0.0, rise), fixed="x"),
        elements.Bar("a", ("left", "apex"), stiffness=1.0),
        elements.Bar("b", ("apex", "right"), stiffness=1.0),
        elements.Force("load", "apex", (0.0, -1.0)),
    )


@pytest.mark.parametrize("name", ["guyed-mast", "suspended-deck", "tensegrity-deploy"])
def test_words_stand_clear_of_each_other_and_of_curves(name):
    model, task = zoo.load(name)
    figure = plots.story(onesided.drive(model, task.start, task.programme, throw=False))
    figure.canvas.draw()
    *cells, main = figure.axes
    titles = [cell.title.get_window_extent() for cell in cells if cell.get_title()]
    assert len(titles) > 3
    assert not any(a.overlaps(b) for i, a in enumerate(titles) for b in titles[:i])
    words = [text.get_window_extent() for text in main.texts if text.get_text() in {"start", "end", "start, end"}]
    assert words
    for line in main.lines:
        points = main.transData.transform(line.get_xydata())
        shares = np.linspace(0.0, len(points) - 1.0, 3000)
        fine = np.column_stack([np.interp(shares, np.arange(len(points)), points[:, k]) for k in (0, 1)])
        assert not any(box.contains(*place) for box in words for place in fine)


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (1, {40: "cable rope0 goes slack", 18: "cable goes slack"}),
        (2, {40: "cables rope0, rope1 go slack", 18: "2 cables go slack", 14: "cables go slack"}),
        (9, {40: "9 cables go slack", 16: "cables go slack"}),
    ],
)
def test_cables_are_told_as_cables_however_many_they_are(count, told):
    slack = next(event for event in hung(count).events if event.constraints)
    assert len(slack.constraints) == count
    for most, words in told.items():
        if len(words) <= most:
            assert brief(slack, most) == words


def test_flat_systems_are_drawn_in_two_rows():
    for rise, rows in ((0.05, 2), (1.5, 1)):
        system = arch(rise)
        top = 2.0 * rise**3  # beyond what the arch carries: it jumps, and back
        figure = plots.story(onesided.drive(system, None, [0.0, top, -top], throw=False))
        cells = figure.axes[:-1]
        assert [cell.get_title() for cell in cells] == ["start", "before 2", "after 2", "before 4", "after 4", "end"], (
            rise
        )
        assert {cell.get_subplotspec().get_gridspec().nrows for cell in cells} == {rows}, rise


def test_a_quiet_motion_is_told_by_moments_at_equal_distances():
    top = onesided.simulate(zoo.load("heavy-top"))
    assert not top.numbered
    titles = [cell.get_title() for cell in plots.story(top).axes[:-1]]
    times = [float(title.removeprefix("t = ")) for title in titles]
    assert times == pytest.approx(np.linspace(top.t[0], top.t[-1], len(times)), abs=0.02)


def test_components_of_a_rotation_vector_are_drawn_when_asked_for_and_do_not_jump_across():
    top = onesided.simulate(zoo.load("heavy-top"))
    assert most_moving(top) == ["x", "y", "z"], "what its points do, not the three numbers of how it is turned"
    axes = history(top, "a", "b", "c")
    for line in axes.lines[:3]:
        steps = np.abs(np.diff(np.asarray(line.get_ydata(), dtype=float)))
        assert np.nanmax(steps) < np.pi
    assert any(np.isnan(line.get_ydata()).any() for line in axes.lines[:3]), "it comes back from the other side"
