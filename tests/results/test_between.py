"""Interpolated paths: computed points stay, points in between lie near the true path."""

import numpy as np
import pytest

import onesided
from onesided import zoo
from onesided.results import columns, dense

STATIC = [n for n in zoo.names() if "[coordinates]" in zoo.text(n) and "[motion]" not in zoo.text(n)]


def traced(name, **parameters):
    system, task = zoo.load(name)
    return onesided.trace(
        system.replace(parameters=parameters), task.start, task.p, direction=task.direction, p_bounds=task.p_bounds,
        max_points=800, throw=False,
    )  # fmt: skip


@pytest.mark.parametrize("name", [*STATIC, "guyed-mast"])
def test_computed_points_are_untouched(name):
    path = traced(name)
    fine = dense(path)
    assert np.array_equal(fine.source[fine.exact], np.arange(len(path)))
    for label, values in columns(path).items():
        assert np.array_equal(fine.columns[label][fine.exact], values), label
    assert np.array_equal(fine.instability[fine.exact], path.instability)
    assert all(fine.place(i) == np.flatnonzero(fine.exact)[i] for i in range(len(path)))


def test_points_between_lie_on_the_closed_form():
    truss = dense(traced("von-mises")).columns
    y = truss["y"]
    exact = 2 * y * (np.sqrt(1.25) / np.sqrt(1 + y**2) - 1)
    assert np.max(np.abs(truss["p"] - exact)) < 2e-4 * np.ptp(exact)
    corner = dense(traced("corner-limit"))
    phi, p = corner.columns["phi"], corner.columns["p"]
    free = corner.instability == 1
    assert np.max(np.abs(p[free] + np.tan(phi[free]))) < 2e-3
    assert np.max(np.abs(phi[~free])) < 1e-12, "the corner stays sharp"


def test_states_between_are_those_of_the_stretch():
    path = traced("von-mises-floor")
    fine = dense(path)
    contact = path.events[1]
    before = fine.source < contact.index
    after = (fine.source >= contact.index) & ~(fine.exact & (fine.source == contact.index))
    assert np.all(fine.codes[before, 0] == 0)
    assert np.all(fine.codes[after, 0] == 2)
    assert np.all(fine.columns["gap floor"] >= -1e-12)
    assert np.all(fine.columns["reaction floor"] >= 0)


def test_long_paths_are_not_thickened():
    path = traced("bistable-chain")
    assert len(dense(path).source) == len(path)


def test_a_path_of_one_point_can_be_shown():
    system, task = zoo.load("wedge")
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds, max_points=1, throw=False)
    fine = dense(path)
    assert len(fine.source) >= 1
    assert fine.columns["p"][0] == path.p[0]
