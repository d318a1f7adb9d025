"""Forks that a symmetry keeps: parameters that leave it move them, whichever way the structure is turned."""

import numpy as np
import pytest

import onesided
from onesided.elements import Bar, Force, Node


def pyramid(bars, turn):
    """Equal bars to one top, loaded aslant in the plane through the first bar and the axis."""
    x, y = (f"tilt*({float(one)!r})" for one in (np.cos(turn), np.sin(turn)))
    feet = 2.0 * np.pi * np.arange(bars) / bars + turn
    places = [(f"a*({float(np.cos(one))!r})", f"a*({float(np.sin(one))!r})", 0) for one in feet]
    return onesided.compose(
        Node("top", (0, 0, "h")),
        *(Node(f"foot{i}", place, fixed=True) for i, place in enumerate(places)),
        *(Bar(f"bar{i}", (f"foot{i}", "top"), stiffness="k") for i in range(bars)),
        Force("load", "top", (x, y, -1)),
        parameters={"k": 1.0, "a": 1.0, "h": 1.8, "tilt": 0.01, "none": 1.0},
    )


def fork_of(system):
    """The fork of its path out of the plane of the load."""
    events = onesided.trace(system, p_bounds=(-0.2, 1.2), throw=False, max_events=1).events
    return next(event for event in events if event.kind is onesided.Kind.smooth_bifurcation)


@pytest.mark.parametrize("turn", [0.0, 0.4, np.pi / 2])
def test_parameters_that_keep_a_symmetry_move_its_fork(turn):
    """In its plane of symmetry p = k a f(h/a, tilt): k p_k = p, a p_a + h p_h = p; tilt as traced again."""
    system = pyramid(4, turn)
    event = fork_of(system)
    found = onesided.sensitivity(event)
    assert np.all(found.exponent == 1.0)
    assert found["k"] == pytest.approx(event.p, rel=1e-8)
    assert found["a"] + 1.8 * found["h"] == pytest.approx(event.p, rel=1e-8)
    assert found["none"] == 0.0
    loads = [fork_of(system.replace(parameters={"tilt": 0.01 + by})).p for by in (4e-4, -4e-4, 2e-4, -2e-4)]
    coarse, fine = (loads[0] - loads[1]) / 8e-4, (loads[2] - loads[3]) / 4e-4
    assert found["tilt"] == pytest.approx((4.0 * fine - coarse) / 3.0, rel=1e-5)
    curve = onesided.follow(event, "tilt", (0.005, 0.02))
    for i in (0, -1):
        again = fork_of(system.replace(parameters={"tilt": float(curve.theta[i])}))
        assert curve.p[i] == pytest.approx(again.p, rel=1e-9)
