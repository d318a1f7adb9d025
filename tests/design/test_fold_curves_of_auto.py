"""Curves of limit points against those that AUTO-07p computes (kept in `auto/`, with how they were made)."""

from pathlib import Path

import numpy as np
import pytest

import onesided
from onesided import zoo

DIGITS = 2e-10  # AUTO converges to 1e-10 and prints eleven digits
SPREAD = 3e-6  # of q at p as good as 1e-11: to first order p does not change along the path there


@pytest.fixture(scope="module")
def limit():
    return onesided.trace(zoo.load("two-bar-roller").system, max_events=1).events[0]


@pytest.mark.parametrize(("parameter", "end"), [("ks", 0), ("h", -1)])
def test_fold_curves_are_those_of_auto(limit, parameter, end):
    theirs = np.loadtxt(Path(__file__).parent / "auto" / f"roller_{parameter}.txt")
    curve = onesided.follow(limit, parameter, (theirs[:, 0].min(), theirs[:, 0].max()))
    assert curve.theta[end] == pytest.approx(theirs[-1, 0], rel=1e-14) and not curve.meetings
    assert curve.p[end] == pytest.approx(theirs[-1, 1], rel=DIGITS)
    assert curve.q[end] == pytest.approx(theirs[-1, 2:], rel=SPREAD)
    system = zoo.load("two-bar-roller").system
    for theta, p in theirs[::6, :2]:
        assert float(onesided.event_value(system, limit, {parameter: theta})) == pytest.approx(p, rel=DIGITS)
