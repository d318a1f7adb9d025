"""The same motion begun later: the same events, as well as times so late are known.

Each case is a function of its phase: forces and controls begin with the motion. How much events move for a small change
of the phase is measured at t = 0; times at t₀ are rounded to the spacing of numbers there.
"""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest

from onesided import Contact, EventDriven, Moreau, System, simulate

G = 9.81
ACCURACY = EventDriven().rtol  # of one step, by default, which other roundings choose otherwise
ROUNDINGS = 8.0  # of time, each of which counts as a change of the phase
PULSE = 400.0


def mass(energy, force, gaps, contacts, n=1):
    return System(
        coordinates=("x", "z")[-n:], energy=energy, mass=lambda q, th: jnp.eye(n), unilateral=gaps,
        force=lambda t, q, v, p, th: force(t - th.start), contacts=contacts, parameters={"start": 0.0},
    )  # fmt: skip


@cache
def pushed_between_walls():
    system = mass(
        lambda q, p, th: 0.0 * q[0], lambda t: jnp.array([3.0 * jnp.cos(7.0 * t)]),
        {"left": lambda q, p, th: q[0], "right": lambda q, p, th: 1.0 - q[0]},
        {name: Contact(restitution=0.9) for name in ("left", "right")},
    )  # fmt: skip
    return system, [0.4], [1.3], 5.0, 0.0


@cache
def struck_at_rest():
    """A pulse of a millisecond lifts a ball off the floor."""
    system = mass(
        lambda q, p, th: G * q[0], lambda t: jnp.array([PULSE * jnp.exp(-(((t - 0.7) / 0.001) ** 2))]),
        {"floor": lambda q, p, th: q[0]}, {"floor": Contact(restitution=0.5)},
    )  # fmt: skip
    return system, [0.0], [0.0], 1.2, 2.0 * PULSE / G  # a flight is longer by 2 δv/g, δv = F δt


@cache
def sticking_and_slipping():
    system = mass(
        lambda q, p, th: G * q[1] + 10.0 * q[0] ** 2, lambda t: jnp.array([4.0 * jnp.sin(3.0 * t), 0.0]),
        {"floor": lambda q, p, th: q[1]}, {"floor": Contact(friction=0.3, slip=lambda q, v, th: v[:1])}, n=2,
    )  # fmt: skip
    return system, [0.0, 0.0], [0.0, 0.0], 6.0, 0.0


def begun(case, start, phase=0.0, method=EventDriven()):  # noqa: B008 - frozen
    system, q, v, last, _ = case()
    system = system.replace(parameters={"start": start + phase})
    return simulate(system, q, v, (start, start + last), method=method)


def told(motion):
    return [(event.kind, event.name) for event in motion.events]


def times(motion):
    return np.array([event.t for event in motion.events]) - motion.t[0]


CASES = pushed_between_walls, struck_at_rest, sticking_and_slipping


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_events_are_the_same_however_late_a_motion_begins(case, phase=1e-7):
    early = begun(case, 0.0)
    assert len(early.events) > 4
    moved = 1.0 + case()[-1] + np.abs(times(begun(case, 0.0, phase)) - times(early)) / phase
    for start in (1e3, 1e6):
        late = begun(case, start)
        assert late.status.name == "finished"
        assert told(late) == told(early)
        off = np.abs(times(late) - times(early))
        assert np.all(off <= np.maximum.accumulate(moved) * (ACCURACY + ROUNDINGS * np.spacing(start)))


@pytest.mark.parametrize("start", [1e3, 1e6])
def test_a_table_that_moves_is_met_at_the_same_times(start):
    system = System(
        coordinates=("z",), energy=lambda q, p, th: G * q[0], mass=lambda q, th: jnp.eye(1),
        unilateral={"table": lambda q, p, th: q[0] - p}, contacts={"table": Contact(restitution=0.8)},
    )  # fmt: skip

    def moved(start, phase=0.0):
        return simulate(system, [0.1], [0.0], (start, start + 2.0), method=EventDriven(),
                        control=lambda t: 0.02 * jnp.sin(30.0 * (t - start - phase)))  # fmt: skip

    early, late, phase = moved(0.0), moved(start), 1e-9
    assert told(late) == told(early)
    grows = np.maximum.accumulate(1.0 + np.abs(times(moved(0.0, phase)) - times(early)) / phase)
    assert np.all(np.abs(times(late) - times(early)) <= ROUNDINGS * grows * np.spacing(start))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_time_steps_are_the_same_however_late(case):
    early, late = (begun(case, start, method=Moreau(step=1e-3)) for start in (0.0, 1e6))
    assert told(late) == told(early)
    np.testing.assert_allclose(times(late), times(early), rtol=0.0, atol=np.spacing(1e6))
    np.testing.assert_allclose(late.q[-1], early.q[-1], rtol=0.0, atol=1e-8)
