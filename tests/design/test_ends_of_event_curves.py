"""Curves of events that come back to where they began, or end with their model; events at which nothing is singular."""

import numpy as np
import pytest

import onesided
from onesided import Kind, Status
from onesided.elements import Bar, Force, Node
from onesided.results import Encounter


def _one(energy, w=0.2, **more):
    return onesided.System(coordinates=("x",), energy=energy, parameters={"w": w}, **more)


def _closed(event, kinds):
    """The curve of an event within wide bounds: it must be closed, each point of it passed once."""
    found = onesided.follow(event, "w", (-2.0, 2.0))
    assert found.status is Status.closed
    assert np.array_equal(found.q[0], found.q[-1])
    assert found.theta[0] == found.theta[-1] == found.theta[found.start]
    assert [one.kind for one in found.meetings] == kinds
    inside = np.diff(np.unwrap(np.arctan2(found.q[:, 0], found.theta)))
    assert np.all(inside > 0.0) or np.all(inside < 0.0)
    assert abs(np.sum(inside)) == pytest.approx(2 * np.pi)
    assert np.hypot(found.q[:, 0], found.theta) == pytest.approx(1.0, abs=1e-10)
    return found


@pytest.mark.parametrize("w", [0.2, -0.7, 0.0, 0.98])
@pytest.mark.parametrize("number", [0, 1])
def test_limit_points_on_a_circle(w, number):
    """p = x³/3 + (w² − 1) x turns where x² + w² = 1; both limit points meet at w = ±1."""
    system = _one(lambda q, p, th: q[0] ** 4 / 12 + (th.w**2 - 1) * q[0] ** 2 / 2 - p * q[0], w)
    path = onesided.trace(system, [-2.0], -8 / 3 - 2 * (w * w - 1), p_bounds=(-3.0, 3.0))
    found = _closed(path.events[number], [Encounter.cusp] * 2)
    assert sorted(one.theta for one in found.meetings) == pytest.approx([-1.0, 1.0], abs=1e-10)


@pytest.mark.parametrize("samples", [7, 8])
def test_regions_end_at_cusps_that_a_sample_lies_on(samples):
    """With seven samples two of them are at w = ±1, where both limit points meet; with eight none."""
    system = _one(lambda q, p, th: q[0] ** 4 / 12 + (th.w**2 - 1) * q[0] ** 2 / 2 - p * q[0])
    found = onesided.stability_map(
        system, "w", (-1.5, 1.5), q0=[-2.0], p0=-8 / 3, p_bounds=(-3.0, 3.0), samples=samples
    )
    assert found.complete
    assert [len(region.events) for region in found.regions] == [0, 2, 0]
    assert [region.high for region in found.regions] == pytest.approx([-1.0, 1.0, 1.5], abs=1e-9)
    assert {region.why for region in found.regions[:2]} == {Encounter.cusp.value}
    assert len(found.curves) == 1


@pytest.mark.parametrize("w", [0.2, -0.7, 0.98])
def test_a_bound_on_a_circle(w):
    """p = x² + w² meets the bound p = 1 on a circle; to its two sides one mode less and more is negative."""
    system = _one(lambda q, p, th: q[0] ** 3 / 3 + th.w**2 * q[0] - p * q[0], w)
    path = onesided.trace(system, [0.1], 0.01 + w * w, direction=1, p_bounds=(-1.0, 1.0))
    (event,) = path.events
    assert event.kind is Kind.bound
    found = _closed(event, [Encounter.turns] * 2)
    assert sorted(one.theta for one in found.meetings) == pytest.approx([-1.0, 1.0], abs=1e-10)
    beside = np.abs(found.q[:, 0]) > 1e-6
    assert np.array_equal(found.degrees[beside], np.repeat(found.q[beside] < 0, 2, axis=1))


@pytest.mark.parametrize("w", [0.2, -0.7])
def test_a_contact_on_a_circle(w):
    """x = p closes the gap 1 − x² − w²."""
    system = _one(lambda q, p, th: (q[0] - p) ** 2, w, unilateral={"rim": lambda q, p, th: 1 - q[0] ** 2 - th.w**2})
    event = onesided.trace(system, [0.1], 0.1, direction=1, p_bounds=(-3.0, 3.0)).events[0]
    _closed(event, [Encounter.grazes] * 2)


def test_a_user_event_is_not_singular():
    """x = 0.3 is passed with x² + w² − 1 < 0 as the only mode."""
    system = _one(lambda q, p, th: q[0] ** 4 / 12 + (th.w**2 - 1) * q[0] ** 2 / 2 - p * q[0])
    path = onesided.trace(
        system, [-2.0], -8 / 3 + 2 * 0.96, p_bounds=(-3.0, 3.0), events={"there": lambda q, p: q[0] - 0.3}
    )
    event = next(one for one in path.events if one.kind is Kind.user)
    found = onesided.follow(event, "w", (-2.0, 2.0))
    assert [one.kind for one in found.meetings] == [Encounter.degree] * 2
    assert [one.theta for one in found.meetings] == pytest.approx([-np.sqrt(0.91), np.sqrt(0.91)], abs=1e-10)
    negative = 0.09 + found.theta**2 < 1.0
    beside = np.abs(0.09 + found.theta**2 - 1.0) > 1e-6
    assert np.array_equal(found.degrees[beside], np.repeat(negative[beside, None], 2, axis=1))


def test_a_bound_on_a_path_that_forks():
    """x = 0 at p = 1 loses its stability where w = 1: at the bound the degree changes, and p goes on."""
    system = onesided.System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: (th.w - p) * q[0] ** 2 + q[0] ** 4 + (q[1] - p) ** 2,
        parameters={"w": 1.5},
    )
    (event,) = onesided.trace(system, [0.0, 0.0], 0.0, p_bounds=(-1.0, 1.0)).events
    found = onesided.follow(event, "w", (0.5, 2.0))
    (met,) = found.meetings
    assert met.kind is Encounter.degree
    assert met.theta == pytest.approx(1.0, abs=1e-10)
    assert np.array_equal(found.degrees[[0, -1]], [[1, 1], [0, 0]])


@pytest.mark.parametrize(
    ("stiffness", "factor", "end", "why"),
    [
        ("k*sqrt(1 - w)", lambda w: np.sqrt(1 - w), 1.0, "sqrt"),
        ("k*acos(w)", np.arccos, 1.0, "acos"),
        ("k*(1 + asin(w))", lambda w: 1 + np.arcsin(w), 1.0, "asin"),
        ("k*log(2 - w)", lambda w: np.log(2 - w), 1.0, "stiffness is not positive"),
        ("k*(1.5 - w)", lambda w: 1.5 - w, 1.5, "stiffness is not positive"),
    ],
)
def test_a_model_that_ends(stiffness, factor, end, why):
    """Two bars turn at p = 2 s ((1 + h²)^(1/3) − 1)^(3/2), as long as their stiffness s has a value."""
    system = onesided.compose(
        Node("a", (0, 0), fixed=True),
        Node("b", (2, 0), fixed=True),
        Node("top", (1, 0.5)),
        Bar("left", ("a", "top"), stiffness=stiffness),
        Bar("right", ("b", "top"), stiffness=stiffness),
        Force("load", "top", (0, -1)),
        parameters={"k": 1.0, "w": 0.2},
    )
    event = onesided.trace(system, p_bounds=(-1.0, 1.0)).events[0]
    found = onesided.follow(event, "w", (0.0, 2.0))
    limit = 2 * (np.cbrt(1.25) - 1) ** 1.5
    clear = found.theta < end - 1e-4
    assert found.p[clear] == pytest.approx(limit * factor(found.theta[clear]), rel=1e-10)
    assert found.p == pytest.approx(limit * factor(found.theta), rel=1e-8, abs=1e-12)
    assert found.theta[-1] == pytest.approx(end, abs=1e-4)
    assert "growing: the path ends" in found.note
    assert why in found.note
