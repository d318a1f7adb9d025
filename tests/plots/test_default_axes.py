"""What a plot shows where nothing was said: machine force over displacement, a stated measure, tensions of cables."""

import dataclasses

import pytest

import onesided
from onesided import elements
from onesided.plots import diagram, reactions


@pytest.fixture(scope="module")
def hung():
    rope = onesided.compose(
        elements.Node("top", (0.0, 1.0), fixed=True),
        elements.Node("m", (0.0, 0.0), fixed="x"),
        elements.Node("base", (0.0, -1.0), fixed=True),
        elements.Bar("spring", ("base", "m"), stiffness=1.0),
        elements.Cable("rope", ("top", "m"), stiffness=10.0, length=0.9),
        elements.Force("weight", "m", (0.0, -3.2)),
    )
    return onesided.trace(rope, direction=-1, p_bounds=(-0.2, 0.1))


def with_members(path, members, **measures):
    found = dataclasses.replace(path, measures={**path.measures, **measures})
    object.__setattr__(found, "members", members)
    return found


def test_the_machine_force_stands_over_the_displacement(hung):
    axes = diagram(with_members(hung, {"machine_force": 2.0 * hung.p}))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("p", "machine_force")
    line = axes.lines[0].get_xydata()
    assert line[:, 1] == pytest.approx(2.0 * line[:, 0])


def test_a_stated_measure_comes_first(hung):
    axes = diagram(with_members(hung, {"rope.force": hung.p}, sag=-hung.q[:, 0]))
    assert axes.get_xlabel() == "sag"


def test_otherwise_a_coordinate_over_p(hung):
    axes = diagram(with_members(hung, {}))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("m_y", "p")


def test_cables_have_tensions(hung):
    assert reactions(hung).get_ylabel() == "tension"
    axes = diagram(hung)
    told = [*axes.get_figure().legends, axes.get_legend()]
    texts = [text.get_text() for legend in told if legend for text in legend.get_texts()]
    assert any(text.startswith("cable rope goes slack") for text in texts)
    assert any(event.constraints == ("rope",) for event in hung.events)


def test_a_measure_is_not_drawn_over_itself(hung):
    axes = diagram(with_members(hung, {"rope.force": hung.p}, sag=-hung.q[:, 0]), y="sag")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("p", "sag")
