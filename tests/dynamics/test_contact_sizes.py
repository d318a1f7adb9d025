"""Contacts are decided by their own lengths and speeds: not by the origin, units, or what else moves."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest

from onesided import Contact, EventDriven, System, simulate

G, SLOPE = 9.81, 0.4
NORMAL, ALONG = np.array([-np.sin(SLOPE), np.cos(SLOPE)]), np.array([np.cos(SLOPE), np.sin(SLOPE)])
EVENTS = EventDriven()


@cache
def ball():
    return System(
        coordinates=("x", "z"), energy=lambda q, p, th: G * q[1], mass=lambda q, th: jnp.eye(2),
        unilateral={"floor": lambda q, p, th: q[1]}, contacts={"floor": Contact(restitution=0.8)},
    )  # fmt: skip


def told(motion):
    return [(event.kind.name, event.name) for event in motion.events]


def times(motion):
    return np.array([event.t for event in motion.events])


@pytest.mark.parametrize("x", [1e3, -1e6, 1e9])
@pytest.mark.parametrize("height", [1e-3, 0.1])
def test_a_ball_far_from_the_origin_bounces_as_at_the_origin(x, height):
    span = (0.0, 200.0 * np.sqrt(2.0 * height / G) / 10.0)
    near, far = (simulate(ball(), [a, height], [0.0, 0.0], span, method=EVENTS) for a in (0.0, x))
    assert told(far) == told(near)
    assert times(far) == pytest.approx(times(near), rel=1e-9)
    zeno = np.sqrt(2.0 * height / G) * 1.8 / 0.2
    assert times(far)[-1] == pytest.approx(zeno, rel=1e-9)  # the limit itself
    assert far.at(np.linspace(*span, 50))[0][:, 1].min() > -1e-12


@pytest.mark.parametrize("speed", [1e2, 1e5])
def test_a_bounce_beside_something_fast(speed):
    alone, beside = (simulate(ball(), [0.0, 1e-4], [v, 0.0], (0.0, 0.05), method=EVENTS) for v in (0.0, speed))
    assert told(beside) == told(alone)
    assert times(beside) == pytest.approx(times(alone), rel=1e-9)


@cache
def chute():
    """A mass that bounces on an incline, comes to rest on it, slides down to a stop; a bystander w."""

    def place(q, th):
        return q[:2] / th["L"] - jnp.stack([th["X"], th["Y"]])

    return System(
        coordinates=("x", "y", "w"),
        energy=lambda q, p, th: G * th["L"] * q[1],
        mass=lambda q, th: jnp.eye(3),
        unilateral={
            "floor": lambda q, p, th: th["L"] * (place(q, th) @ NORMAL),
            "stop": lambda q, p, th: th["L"] * (place(q, th) @ ALONG + 1.0),
        },
        contacts={"floor": Contact(restitution=0.4), "stop": Contact(restitution=0.3)},
        parameters={"X": 0.0, "Y": 0.0, "L": 1.0},
    )


def slide(w=0.0, **numbers):
    th = {"X": 0.0, "Y": 0.0, "L": 1.0, **numbers}
    start = th["L"] * (np.array([th["X"], th["Y"]]) + 0.3 * NORMAL)
    return simulate(chute().replace(parameters=th), [*start, 0.0], [0.0, 0.0, w], (0.0, 1.8), method=EVENTS)


@pytest.mark.parametrize("other", [{"L": 1e6}, {"L": 1e-6}, {"w": 1e5}])
def test_units_and_bystanders_change_no_event(other):
    usual, changed = slide(), slide(**other)
    assert told(changed) == told(usual)
    assert times(changed) == pytest.approx(times(usual), abs=1e-8)


def test_a_shift_of_the_origin_costs_no_more_than_its_round_off():
    """Hops below the round-off of the coordinates are not followed; all others are the same."""
    usual, far = slide(), slide(X=1e3, Y=-1e3)
    stops = [(event.t, event.name) for event in usual.events if event.kind.name == "accumulation"]
    also = [(event.t, event.name) for event in far.events if event.kind.name == "accumulation"]
    assert [name for _, name in also] == [name for _, name in stops] == ["floor", "stop"]
    assert [t for t, _ in also] == pytest.approx([t for t, _ in stops], abs=1e-8)
    assert times(far)[:6] == pytest.approx(times(usual)[:6], abs=1e-8)
