"""No result prints a wall of arrays: one to five lines that a person reads, and HTML in notebooks."""

import numpy as np
import pytest

import onesided
from onesided import elements
from onesided.results.wording import LINES, Listed


@pytest.fixture(scope="module")
def hung():
    """A weight of 3.2 on a cable, above a floor; p lifts it."""
    return onesided.compose(
        elements.Node("top", (0.0, 1.0), fixed=True),
        elements.Node("m", (0.0, 0.0), fixed="x"),
        elements.Cable("rope", ("top", "m"), stiffness=100.0, length=1.0),
        elements.Force("weight", "m", (0.0, -3.2)),
    )


@pytest.fixture(scope="module")
def model():
    return onesided.zoo.load("von-mises-floor")


def examples(model):
    history = onesided.drive(model)
    path = history.paths[0]
    solution = onesided.solve(model)
    yield from (model, model.task, path, path.events, path.events[0], path.events[0].rays, path.events[0].rays[0])
    yield from (history, history.paths, history.jumps, history.jumps[0], solution, solution.value)
    yield from (onesided.diagram(model), onesided.diagram(model).events)
    yield onesided.solve(onesided.LCP(np.eye(30), -np.ones(30)))


def test_a_person_reads_it(model):
    for one in examples(model):
        text = repr(one)
        lines = text.splitlines()
        assert 1 <= len(lines) <= LINES, text
        assert all(len(line) < 300 for line in lines), text
        assert "array(" not in text
        assert "<" in one._repr_html_()


def test_tuples_of_events_are_lists_for_people(model):
    path = onesided.trace(model)
    lines = repr(path.events).splitlines()
    assert lines[0] == f"[0] {path.events[0].words()}"
    assert isinstance(path.events, tuple)
    assert path.events == tuple(path.events)
    assert repr(Listed(range(9))).splitlines()[-1] == "… and 5 more"


def test_words_fit_the_thing(hung):
    taut = onesided.solve(hung, p=1.0).value
    assert taut.told("rope") == "taut, tension 3.2"
    assert taut["m_y"] == pytest.approx(-0.032, rel=1e-12)
    assert taut["p"] == 1.0
    path = onesided.trace(hung, taut.q, 1.0, direction=-1, p_bounds=(-1.0, 1.0), throw=False)
    assert any("goes slack" in event.words() for event in path.events)
    assert "rope taut, tension 3.2" in repr(taut)


def test_cables_go_slack_in_motion_as_well():
    zero = np.zeros(1)
    kind = onesided.Occurrence.opens
    event = onesided.MotionEvent(kind, 0.5, zero, zero, "rope", called="cable goes slack")
    assert event.words() == "cable 'rope' goes slack at t = 0.5"
    assert onesided.MotionEvent(kind, 0.5, zero, zero, "floor").words() == "contact opens 'floor' at t = 0.5"


def test_drift_says_how_much():
    drift = onesided.results.Drift(*(np.array([0.0, 1e-12]) for _ in range(5)))
    assert repr(drift).startswith("<Drift: largest position 1.0e-12, velocity")
