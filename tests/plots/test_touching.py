"""Reactions in sketches point where the contact pushes: at walls of formula models, between circles, inside of one."""

import numpy as np
import pytest

import onesided
from onesided import zoo
from onesided.plots import overlays
from onesided.plots.configuration import film_of, places_at
from onesided.results.sketch_forces import ActingForces, TouchPoint, forces_record, read_forces

PLACES = {"a": np.array([0.0, 0.0]), "b": np.array([3.0, 4.0]), "c": np.array([6.0, 0.0])}


@pytest.mark.parametrize(
    ("touch", "way"),
    [
        (TouchPoint("b", (), 1.0, ("a",)), [0.6, 0.8]),
        (TouchPoint("b", (), 1.0, ("a",), inside=True), [-0.6, -0.8]),
        (TouchPoint("b", (), 0.5, ("a", "c")), [0.0, 1.0]),
        (TouchPoint("b", (0.0, -1.0), 0.5), [0.0, -1.0]),
    ],
)
def test_directions(touch, way):
    assert touch.direction(PLACES) == pytest.approx(way)
    assert overlays.touching(touch, PLACES) == pytest.approx(PLACES["b"] - touch.reach * np.array(way))
    again = read_forces(forces_record(ActingForces(touches={"k": touch})))
    assert again.touch("k") == touch


def test_a_formula_contact_at_a_wall_is_pushed_off_it():
    """The stop of the bar lies below its tip: it pushes upwards."""
    system, task = zoo.load("corner-limit")
    film = film_of(onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds))
    now = {name: values[:1] for name, values in film.columns.items()}
    found = overlays.touch_of(film.sketch, "stop", places_at(film, 0), now, 2.0)
    assert found is not None and found.normal == pytest.approx((0.0, 1.0))


def test_spatial_directions():
    places = {"a": np.zeros(3), "b": np.array([0.0, 0.0, 2.0])}
    assert TouchPoint("b", (), 1.0, ("a",)).direction(places) == pytest.approx([0.0, 0.0, 1.0])
