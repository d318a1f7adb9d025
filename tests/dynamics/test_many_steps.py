"""Many steps in one compiled call are the steps taken one by one; flights and impacts against closed forms."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from contact_models import ball, zeno_time

from onesided import Contact, EventDriven, Projected, System, rows, simulate
from onesided.dynamics.contacts import flights
from onesided.dynamics.smooth import strides
from onesided.groups import SO3, Product, Vector, rotate

G = 9.81


@cache
def pendulum():
    """Cartesian, so that a joint is kept; two of them on one another."""

    def lengths(q, p, th):
        return jnp.array([q[0] ** 2 + q[1] ** 2 - 1.0, (q[2] - q[0]) ** 2 + (q[3] - q[1]) ** 2 - 1.0])

    return System(
        coordinates=("x", "y", "u", "w"),
        energy=lambda q, p, th: G * (q[1] + q[3]),
        bilateral=rows("rod", 2, lengths),
        mass=lambda q, th: jnp.eye(4),
    )


@cache
def top():
    """A body on SO(3) with its tip held."""
    return System(
        coordinates=("x", "y", "z", "a", "b", "c"),
        energy=lambda q, p, th: G * q[2],
        bilateral=rows("tip", 3, lambda q, p, th: q[:3] - rotate(q[3:], jnp.array([0.0, 1.0, 0.0]))),
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, 1.0, 0.1, 0.2, 0.1])),
        space=Product(Vector(3), SO3()),
    )


STARTS = {
    "pendulum": (pendulum, [1.0, 0.0, 2.0, 0.0], np.zeros(4), 1.0),
    "top": (top, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 20.0, -1.0], 0.5),
}


@pytest.mark.parametrize("name", STARTS)
def test_many_steps_at_once_are_the_steps_one_by_one(name, monkeypatch):
    made, q0, v0, end = STARTS[name]
    monkeypatch.setattr(strides, "WORTH", 10**9)
    one = simulate(made(), q0, v0, (0.0, end), method=Projected(rtol=1e-9))
    monkeypatch.setattr(strides, "WORTH", 0)
    many = simulate(made(), q0, v0, (0.0, end), method=Projected(rtol=1e-9))
    assert made().motion.strides.steps.ready
    assert len(one) == len(many)
    np.testing.assert_allclose(
        one.t, many.t, rtol=0.0, atol=1e-8
    )  # steps follow errors, which are known to some digits
    for field in ("q", "v", "a", "mu", "energy", "work"):
        a, b = getattr(one, field)[-1], getattr(many, field)[-1]
        np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-10 * max(1.0, np.max(np.abs(a))))


def test_a_ball_bounces_hundreds_of_times_and_comes_to_rest_in_time(monkeypatch, e=0.98):
    monkeypatch.setattr(flights, "FIRST", 2)
    end = zeno_time(e, 0.01)
    motion = simulate(ball(e), [0.01], [0.0], (0.0, 1.1 * end), method=EventDriven())
    *impacts, last = motion.events
    t = np.sqrt(2 * 0.01 / G) * (2.0 * np.cumsum(e ** np.arange(len(impacts))) - 1.0)
    np.testing.assert_allclose([event.t for event in impacts], t, rtol=0.0, atol=1e-11)
    assert len(impacts) > np.log(1e-7) / np.log(e)
    assert last.kind.name == "accumulation"
    assert last.t == pytest.approx(end, rel=1e-10)
    assert motion.q[-1, 0] == pytest.approx(0.0, abs=1e-15)
    assert np.all(np.diff(motion.t) >= 0.0)


def test_a_billiard_ball_between_walls_keeps_its_energy_and_order(monkeypatch):
    monkeypatch.setattr(flights, "FIRST", 2)
    gaps = {"left": lambda q, p, th: q[0], "right": lambda q, p, th: 1.0 - q[0], "floor": lambda q, p, th: q[1]}
    system = System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: 2.0 * G * q[1],
        unilateral=gaps,
        mass=lambda q, th: jnp.diag(jnp.array([2.0, 2.0])),
        contacts={name: Contact(restitution=1.0) for name in gaps},
    )
    motion = simulate(system, [0.3, 0.5], [0.71, 0.0], (0.0, 20.0), method=EventDriven())
    sides = [event.t for event in motion.events if event.name != "floor"]
    floor = [event.t for event in motion.events if event.name == "floor"]
    fall = np.sqrt(2 * 0.5 / G)
    np.testing.assert_allclose(sides, (0.7 + np.arange(len(sides))) / 0.71, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(floor, fall * (1.0 + 2.0 * np.arange(len(floor))), rtol=0.0, atol=1e-10)
    assert len(floor) == 1 + int((20.0 / fall - 1.0) / 2.0)
    assert np.ptp(motion.energy) <= 1e-11 * motion.energy[0]


def test_impacts_through_a_joint_keep_energy(monkeypatch):
    """A Cartesian pendulum against a wall: e = 1 at the angle where it hangs."""
    monkeypatch.setattr(flights, "FIRST", 2)
    system = System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: G * q[1],
        bilateral={"rod": lambda q, p, th: q[0] ** 2 + q[1] ** 2 - 1.0},
        unilateral={"wall": lambda q, p, th: q[0]},
        mass=lambda q, th: jnp.eye(2),
        contacts={"wall": Contact(restitution=1.0)},
    )
    motion = simulate(system, [1.0, 0.0], [0.0, 0.0], (0.0, 20.0), method=EventDriven())
    times = np.array([event.t for event in motion.events])
    quarter = 1.8540746773013719 / np.sqrt(G)  # K(1/√2) √(L/g)
    np.testing.assert_allclose(times, quarter * (1.0 + 2.0 * np.arange(len(times))), rtol=0.0, atol=1e-7)
    assert np.ptp(motion.energy) <= 1e-7 * G
