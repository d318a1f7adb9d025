"""Zeros of user functions by direction; contacts that stick and slip in time stepping."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest

from onesided import Contact, EventDriven, Moreau, Occurrence, System, simulate
from onesided.base.errors import UsageError

G = 9.81
METHODS = {"default": None, "events": EventDriven(), "steps": Moreau(step=2e-3)}


@cache
def oscillator():
    return System(
        coordinates=("z",),
        energy=lambda q, p, th: 0.5 * q[0] ** 2,
        mass=lambda q, th: jnp.eye(1),
        unilateral={"far": lambda q, p, th: q[0] + 10.0},
    )


def crossing(direction):
    def event(t, q, v):
        return q[0]

    event.direction = direction
    return event


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("direction", "first", "every"), [(1, 1.5, 2.0), (-1.0, 0.5, 2.0), (0, 0.5, 1.0)])
def test_only_zeros_in_the_direction_count(name, direction, first, every):
    motion = simulate(
        oscillator(), [1.0], [0.0], (0.0, 12.0), method=METHODS[name], events={"zero": crossing(direction)}
    )
    exact = np.pi * np.arange(first, 12.0 / np.pi, every)
    assert [event.t for event in motion.events] == pytest.approx(exact, abs=1e-5 if name == "steps" else 1e-7)


def test_a_direction_that_is_no_number_is_refused():
    with pytest.raises(UsageError, match="direction"):
        simulate(oscillator(), [1.0], [0.0], (0.0, 1.0), events={"zero": crossing("up")})


def test_zeros_within_a_step_of_time_stepping_are_seen():
    """Two zeros in one step: signs at its ends are equal."""
    motion = simulate(
        oscillator(), [1.0], [0.0], (0.0, 2.0), method=Moreau(step=0.05),
        events={"pulse": lambda t, q, v: abs(t - 0.525) - 0.01},
    )  # fmt: skip
    assert [event.t for event in motion.events] == pytest.approx([0.515, 0.535], abs=1e-12)


def test_time_stepping_tells_when_contacts_stick_and_slip():
    """A block on a rough floor pushed to and fro, against the events of the event-driven method."""
    system = System(
        coordinates=("x", "z"),
        energy=lambda q, p, th: 10.0 * q[1],
        mass=lambda q, th: jnp.eye(2),
        force=lambda t, q, v, p, th: jnp.array([8.0 * jnp.sin(3.0 * t), 0.0]),
        unilateral={"floor": lambda q, p, th: q[1]},
        contacts={"floor": Contact(friction=0.5, slip=lambda q, v, th: v[0])},
    )
    told = []
    for method in (EventDriven(), Moreau(step=2e-3)):
        motion = simulate(system, [0.0, 0.0], [0.0, 0.0], (0.0, 3.0), method=method)
        told.append([(event.kind, event.t) for event in motion.events])
    kinds = [[kind for kind, _ in some] for some in told]
    assert kinds[0] == kinds[1]
    assert kinds[0][:2] == [Occurrence.slips, Occurrence.sticks]
    np.testing.assert_allclose(*([t for _, t in some] for some in told), rtol=0.0, atol=4e-3)
    assert told[0][0][1] == pytest.approx(np.arcsin(5.0 / 8.0) / 3.0, abs=1e-8)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_functions_that_vanish_just_at_an_impact_are_told(restitution):
    """A height that comes to zero there, a velocity that jumps through zero or to it: each impact, up and down."""
    ball = System(
        coordinates=("z",), energy=lambda q, p, th: G * q[0], mass=lambda q, th: jnp.eye(1),
        unilateral={"floor": lambda q, p, th: q[0]}, contacts={"floor": Contact(restitution=restitution)},
    )  # fmt: skip
    first = np.sqrt(2.0 / G)
    hits = first * (np.array([1.0]) if restitution == 0.0 else np.array([1.0, 2.0, 2.5]))
    events = {"height": lambda t, q, v: q[0], "turn": lambda t, q, v: v[0], "above": lambda t, q, v: q[0] + 1.0}
    motion = simulate(ball, [1.0], [0.0], (0.0, 2.6 * first), method=EventDriven(), events=events)
    told = {name: [e.t for e in motion.events if e.name == name] for name in events}
    assert told["height"] == pytest.approx(hits, abs=1e-9)
    tops = 0.5 * (hits[1:] + hits[:-1])
    assert told["turn"] == pytest.approx(np.sort(np.concatenate([hits, tops])), abs=1e-9)
    assert told["above"] == []
    ended = simulate(ball, [1.0], [0.0], (0.0, 2.0), method=EventDriven(), events=events, stop=("height",))
    assert ended.t[-1] == pytest.approx(first, abs=1e-12)
