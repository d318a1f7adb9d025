"""One structure in other frames, units and orders of its parts, and with sparse matrices: the same events."""

import numpy as np
import pytest
from random_structures import FAMILIES, View, structure

import onesided

USUAL = View()
VIEWS = {
    "turned": View(angle=0.7),
    "mirrored": View(mirrored=True),
    "far away": View(origin=(1e3, -2e3)),
    "in micrometres": View(m=1e6, N=1e3),
    "in megametres": View(m=1e-6, N=1e-3),
    "backwards": View(angle=-2.0, reversed=True),
}
RANGE = (-0.5, 4.0)


def traced(family, seed, view, **options):
    system = structure(family, seed, view, **options)
    return onesided.trace(system, direction=1, p_bounds=RANGE, max_points=1500, max_events=40, throw=False)


def agree(path, other):
    assert other.status is path.status, other.note
    assert other.kinds() == path.kinds()
    for one, two in zip(path.events, other.events, strict=True):
        assert two.p == pytest.approx(one.p, rel=1e-6, abs=1e-7)
        assert sorted(two.constraints) == sorted(one.constraints)
        assert (two.instability_before, two.instability_after) == (one.instability_before, one.instability_after)


def check(family, seed):
    path = traced(family, seed, USUAL)
    assert path.ok or "come together" in path.note, path.note  # a bar without length ends it
    for view in VIEWS.values():
        agree(path, traced(family, seed, view))
    agree(path, traced(family, seed, View(m=1e3), sparse=True))


@pytest.mark.parametrize("family", FAMILIES)
def test_events_are_those_of_any_view(family):
    check(family, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 27))
@pytest.mark.parametrize("family", FAMILIES)
def test_events_are_those_of_any_view_of_many(family, seed):
    check(family, seed)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", [3, 4])
def test_jumps_are_those_of_any_view(family, seed):
    """Driven up and down again; the energies released are in units of force × length."""
    jumps = []
    for view in (USUAL, VIEWS["in micrometres"], VIEWS["backwards"]):
        system = structure(family, seed, view)
        history = onesided.drive(system, system.start, [0.0, RANGE[1], 0.0])
        jumps.append([(jump.p, jump.energy / (view.m * view.N)) for jump in history.jumps])
    for other in jumps[1:]:
        np.testing.assert_allclose(np.array(other), np.array(jumps[0]), rtol=1e-6)
