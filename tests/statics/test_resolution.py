"""Bounds of functions over a step: the rough one never promises what the fine one does not hold."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial import Polynomial

from onesided.evaluation.resolution import Triple, may_fall_below, may_turn, stays_above

NUMBERS = st.floats(-3, 3)


@given(st.tuples(*[NUMBERS] * 6), st.floats(0, 4))
def test_what_stays_above_does_not_fall_below(values, lift):
    f = Triple(*(np.array([value]) for value in values))
    f = f._replace(a=f.a + lift, m=f.m + lift, b=f.b + lift)
    if stays_above(f, 0.0):
        assert not may_fall_below(np, f, 0.0).any()


def test_clear_gaps_stay_above():
    s = np.linspace(0, 1, 5)
    f = Triple(1 + s, 0.1 * s, 1.02 + s, 0.1 * s, 1.1 + s, 0.1 * s)
    assert stays_above(f, 0.0)


def test_a_slope_of_rounding_has_no_sense():
    """p is constant but for rounding of the tangent: it does not turn, however small p is."""
    tiny = 1e-17
    f = Triple(0.0, tiny, 3 * tiny, -tiny, tiny, 2 * tiny)
    assert not may_turn(np, f, 1.0, 1.0)
    g = Triple(0.0, 1.0, 3.0, -1.0, 1.0, 2.0)
    assert may_turn(np, g, 1.0, 1.0)


@given(st.lists(st.floats(0.01, 0.99), min_size=3, max_size=3), st.sampled_from([-1.0, 1.0]))
def test_three_turns_are_not_taken_for_one(turns, sign):
    """Of a polynomial of degree four, whose slopes at both ends tell of one."""
    f = sign * Polynomial.fromroots(turns).integ()
    values = Triple(*(g(at) for at in (0.0, 0.5, 1.0) for g in (f, f.deriv())))
    assert may_turn(np, values, np.sign(values.slope_a), 1.0)


def test_one_turn_is_one():
    f = Polynomial([0.0, 1.0, -1.2])
    values = Triple(*(g(at) for at in (0.0, 0.5, 1.0) for g in (f, f.deriv())))
    assert not may_turn(np, values, 1.0, 1.0)
