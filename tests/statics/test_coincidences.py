"""Events close together or at one place: none hides another, and the path goes straight on where it can."""

import math

import jax.numpy as jnp
import pytest

import onesided
from onesided import Kind, PredictorCorrector, Status, System

PITCHFORK = System(("x",), lambda q, p, th: q[0] ** 4 / 4 - p * q[0] ** 2 / 2)  # x = 0 is stable for p < 0
FOLD = System(("x",), lambda q, p, th: (1 - p) * q[0] - q[0] ** 3 / 3)  # p = 1 − x²
WAVES = System(("x",), lambda q, p, th: -jnp.cos(6 * q[0]) / 6 + 0.1 * q[0] ** 2 - p * q[0])
FORKED_FOLD = System(
    ("x", "y"),
    lambda q, p, th: (1 - p) * q[0] - q[0] ** 3 / 3 - (th.ahead + q[0]) * q[1] ** 2 / 2 + q[1] ** 4 / 4,
    parameters={"ahead": 0.0},
)
RING = System(
    ("x", "y"),
    lambda q, p, th: q[0] ** 3 / 3 + q[0] * (p**2 - 1) + 0.15 * q[1] ** 2 - 0.22 * q[0] * q[1] ** 2,
    unilateral={"s": lambda q, p, th: 1 - q[0] + 0.2 * p},
)

both_ways = pytest.mark.parametrize("method", [PredictorCorrector(compile_after=after) for after in (0, math.inf)])


def told(path):
    return [(event.kind, event.instability_before, event.instability_after) for event in path.events]


@both_ways
@pytest.mark.parametrize("before", [0.3, 0.05, 1e-3, 1e-9])
def test_a_user_event_does_not_hide_the_bifurcation_behind_it(method, before):
    path = onesided.trace(
        PITCHFORK, [0.0], -1.0, p_bounds=(-1, 1), events={"u": lambda q, p: p + before}, method=method
    )
    assert told(path) == [(Kind.user, 0, 0), (Kind.smooth_bifurcation, 0, 1), (Kind.bound, 1, 1)]
    assert [e.p for e in path.events] == pytest.approx([-before, 0, 1], abs=1e-12)


@both_ways
def test_a_user_event_on_a_bifurcation_is_told_with_it(method):
    path = onesided.trace(PITCHFORK, [0.0], -1.0, p_bounds=(-1, 1), events={"u": lambda q, p: p}, method=method)
    assert told(path) == [(Kind.smooth_bifurcation, 0, 1), (Kind.user, 1, 1), (Kind.bound, 1, 1)]


@both_ways
@pytest.mark.parametrize("place", [0.0, -0.01, -1e-6, -1e-8, 1e-6, 0.02])
def test_a_user_event_at_a_limit_point_is_told_once_and_so_is_the_limit(method, place):
    path = onesided.trace(FOLD, [-1.0], 0.0, p_bounds=(-2, 2), events={"u": lambda q, p: q[0] - place}, method=method)
    assert sorted(e.kind.name for e in path.events) == ["bound", "limit", "user"]
    assert {e.kind: e.p for e in path.events}[Kind.user] == pytest.approx(1 - place**2, abs=1e-12)
    assert path.events[-1].instability_before == 1 and path.q[-1, 0] == pytest.approx(math.sqrt(3))


@both_ways
@pytest.mark.parametrize("ahead", [1e-2, 1e-4, 1e-6, 1e-8])
def test_a_pitchfork_just_before_a_limit_point_is_passed_once(method, ahead):
    """y = 0 loses its stability at x = −ahead, the fold follows at x = 0."""
    path = onesided.trace(
        FORKED_FOLD.replace(parameters={"ahead": ahead}), [-1.0, 0.0], 0.0, p_bounds=(-2, 2), method=method
    )
    assert path.events[-1].p == pytest.approx(-2)
    if len(path.events) == 2 and ahead < 1e-7:  # as one point, with all four ways that leave it
        assert told(path) == [(Kind.smooth_bifurcation, 0, 2), (Kind.bound, 2, 2)] and len(path.events[0].rays) == 4
        assert path.events[0].p == pytest.approx(1, abs=1e-10)
        return
    assert told(path) == [(Kind.smooth_bifurcation, 0, 1), (Kind.limit, 1, 2), (Kind.bound, 2, 2)]
    assert [e.p for e in path.events] == pytest.approx([1 - ahead**2, 1, -2], abs=1e-10)


@both_ways
@pytest.mark.parametrize("first_step", [0.01, 0.009, 0.008, 0.007])
def test_straight_on_at_a_bifurcation_is_not_left_to_round_off(method, first_step):
    """A closed path on y = 0, with a bifurcation at which other branches leave it."""
    knobs = PredictorCorrector(first_step=first_step, compile_after=method.compile_after)
    path = onesided.trace(RING, [-math.sqrt(0.99), 0.0], 0.1, p_bounds=(-3, 3), max_points=600, method=knobs)
    assert path.status is Status.closed and abs(path.q[:, 1]).max() < 1e-12


@both_ways
@pytest.mark.parametrize("count", [1, 2, 11, 12, 13, 40, 63, 64, 65, 66, 128, 129, 130])
def test_the_number_of_points_is_kept_exactly(method, count):
    path = onesided.trace(WAVES, [0.0], 0.0, max_points=count, method=method)
    assert path.status is Status.enough and len(path) == count + 1


TWICE = System(
    ("x", "y"),
    lambda q, p, th: (q[0] - p) ** 2 / 2 + ((p - 3) ** 2 - th.w**2) / 4 * q[1] ** 2 / 2 + q[1] ** 4 / 4,
    parameters={"w": 1.0},
)


@pytest.mark.parametrize("after", [0, math.inf])
@pytest.mark.parametrize("w", [1e-2, 3e-4, 1e-4, 5e-5, 1e-5, 1e-6, 1e-7, 1e-8])
def test_a_mode_that_vanishes_twice_is_told_twice_or_as_one(w, after):
    """Stiffness is negative for |p − 3| < w alone, far narrower than any step; nothing is passed over in silence."""
    path = onesided.trace(
        TWICE.replace(parameters={"w": w}),
        [0.0, 0.0],
        0.0,
        p_bounds=(-1, 8),
        method=PredictorCorrector(compile_after=after),
    )
    forks = [event for event in path.events if event.kind is Kind.smooth_bifurcation]
    assert forks and all(min(abs(event.p - 3 + w), abs(event.p - 3 - w)) < 1e-9 for event in forks)
    changes = [(event.instability_before, event.instability_after) for event in forks]
    if w >= 5e-5 or changes == [(0, 1), (1, 0)]:
        assert changes == [(0, 1), (1, 0)]
        assert [event.p for event in forks] == pytest.approx([3 - w, 3 + w], abs=1e-10)
    else:
        assert all(event.rays.cluster or not event.rays.complete for event in forks)
