"""Slip that begins in space under a force that turns: its direction is stiff without bound, the motion is smooth."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from onesided import Contact, EventDriven, Moreau, System, simulate

G = 9.81
AFTER = 1e-5  # after slip has begun, the reference starts: from there on it is told by its leading terms


@cache
def pushed(spring=0.0, length=1.0, time=1.0, static=None):
    """A particle on a floor in space, its units of length and time scaled; p is time, th tells the force."""

    def force(p, th):
        t = p / time
        return (th.f0 + th.f1 * t) * jnp.array([jnp.cos(th.w * t), jnp.sin(th.w * t)])

    def energy(q, p, th):
        x = q / length
        return (length / time) ** 2 * (G * x[2] - force(p, th) @ x[:2] + 0.5 * spring * x[:2] @ x[:2])

    extra = {} if static is None else {"static_friction": static}
    return System(
        coordinates=("x", "y", "z"), energy=energy, unilateral={"floor": lambda q, p, th: q[2]},
        mass=lambda q, th: jnp.eye(3), parameters={"f0": 2.0, "f1": 1.0, "w": 1.0},
        contacts={"floor": Contact(friction=0.3, slip=lambda q, v, th: v[:2], **extra)},
    )  # fmt: skip


def reference(f0, f1, w, end, spring=0.0, mu=0.3):
    """When slip begins, and place and velocity at the end, by another code's stiff method."""
    begin = (mu * G - f0) / f1

    def force(t):
        return (f0 + f1 * t) * np.array([np.cos(w * t), np.sin(w * t)])

    def rates(t, y):
        return np.concatenate([y[2:], force(t) - spring * y[:2] - mu * G * y[2:] / np.linalg.norm(y[2:])])

    first = begin + AFTER
    way = force(first) / np.linalg.norm(force(first))
    start = np.concatenate([f1 * AFTER**3 / 6 * way, f1 * AFTER**2 / 2 * way])
    found = solve_ivp(rates, (first, end), start, method="Radau", rtol=1e-11, atol=1e-15)
    return begin, found.y[:, -1]


CASES = [(2.0, 1.0, 1.0, 2.0, 0.0), (2.0, 1.0, 5.0, 2.0, 0.0), (1.0, 3.0, -2.0, 1.2, 3.0), (2.0, 0.05, 3.0, 22.0, 0.0)]


@pytest.mark.parametrize(("f0", "f1", "w", "end", "spring"), CASES)
def test_slip_under_a_turning_force_begins_once_and_goes_where_it_should(f0, f1, w, end, spring):
    begin, truth = reference(f0, f1, w, end, spring)
    system = pushed(spring).replace(parameters={"f0": f0, "f1": f1, "w": w})
    motion = simulate(system, np.zeros(3), np.zeros(3), (0.0, end), method=EventDriven(), control=lambda t: t)
    assert [event.kind.name for event in motion.events] == ["slips"]  # a slip that turns by more than 90° goes on
    assert motion.events[0].t == pytest.approx(begin, abs=1e-9)
    assert np.hstack([motion.q[-1, :2], motion.v[-1, :2]]) == pytest.approx(
        truth, abs=1e-9 * np.max(np.abs(truth)) + 2e-10
    )
    assert motion.energy[-1] - motion.energy[0] == pytest.approx(motion.work[-1], abs=1e-8)


@pytest.mark.parametrize(("length", "time"), [(1e6, 1.0), (1e-6, 1e3), (1.0, 1e-3)])
def test_units_do_not_matter(length, time):
    _, truth = reference(2.0, 1.0, 2.0, 1.5)
    system = pushed(0.0, length, time).replace(parameters={"f0": 2.0, "f1": 1.0, "w": 2.0})
    motion = simulate(system, np.zeros(3), np.zeros(3), (0.0, 1.5 * time), method=EventDriven(), control=lambda t: t)
    assert motion.q[-1, :2] / length == pytest.approx(truth[:2], abs=1e-9)
    assert motion.v[-1, :2] * time / length == pytest.approx(truth[2:], abs=1e-9)


def test_a_plate_on_many_feet_goes_as_a_particle():
    """All feet have the same slip while it does not turn, however they share its weight."""
    f0, f1, w, end = 2.0, 1.0, 2.0, 1.6
    feet = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    names = [f"foot{i}" for i in range(4)]

    def height(foot):
        return lambda q, p, th: q[2] + foot[1] * q[3] - foot[0] * q[4]  # small angles about x and y: exact at rest

    def slip(foot):
        return lambda q, v, th: jnp.array([v[0] - foot[1] * v[5], v[1] + foot[0] * v[5]])

    system = System(
        coordinates=("x", "y", "z", "a", "b", "c"),
        energy=lambda q, p, th: G * q[2] - (f0 + f1 * p) * (jnp.cos(w * p) * q[0] + jnp.sin(w * p) * q[1]),
        unilateral={name: height(foot) for name, foot in zip(names, feet, strict=True)},
        mass=lambda q, th: jnp.eye(6),
        contacts={name: Contact(friction=0.3, slip=slip(foot)) for name, foot in zip(names, feet, strict=True)},
    )
    begin, truth = reference(f0, f1, w, end)
    motion = simulate(system, np.zeros(6), np.zeros(6), (0.0, end), method=EventDriven(), control=lambda t: t)
    assert all(event.t == pytest.approx(begin, abs=1e-8) for event in motion.events)
    assert motion.q[-1, :2] == pytest.approx(truth[:2], abs=1e-8)
    assert motion.q[-1, 2:] == pytest.approx(np.zeros(4), abs=1e-9)


def test_a_particle_on_a_table_that_begins_to_circle():
    """In the frame of the table this is a force that turns; the table moves it in the fixed one."""
    w, rate, mu = 6.0, 0.02, 0.3

    def table(t):
        return rate * t * np.array([np.cos(w * t), np.sin(w * t)])

    def drive(p):
        return rate * p * jnp.array([jnp.cos(w * p), jnp.sin(w * p)])

    system = System(
        coordinates=("x", "y", "z", "tx", "ty"),
        energy=lambda q, p, th: G * q[2],
        bilateral={"tx": lambda q, p, th: q[3] - drive(p)[0], "ty": lambda q, p, th: q[4] - drive(p)[1]},
        unilateral={"table": lambda q, p, th: q[2]},
        mass=lambda q, th: jnp.eye(5),
        contacts={"table": Contact(friction=mu, slip=lambda q, v, th: v[:2] - v[3:])},
    )
    end, start = 5.5, (np.zeros(5), [rate, 0.0, 0.0, rate, 0.0])
    motion = simulate(system, *start, (0.0, end), method=EventDriven(), control=lambda t: t)
    fine = simulate(system, *start, (0.0, end), method=Moreau(step=2.5e-3), control=lambda t: t)
    (event,) = [event for event in motion.events if event.kind.name == "slips"]
    begin = np.sqrt((mu * G) ** 2 - (2 * rate * w) ** 2) / (rate * w**2)  # |d²/dt² of the table's place| is μ g
    assert event.t == pytest.approx(begin, rel=1e-8)
    assert motion.q[-1, 3:] == pytest.approx(table(end), abs=1e-9)
    truth = table(end) + dragged(lambda t: -turned(t, rate, w), begin, end, mu)
    assert motion.q[-1, :2] == pytest.approx(truth, abs=1e-9)
    assert fine.q[-1, :2] == pytest.approx(truth, abs=1e-3)


def turned(t, rate, w):
    """Second derivative of rate · t · (cos w t, sin w t)."""
    along, across = np.array([np.cos(w * t), np.sin(w * t)]), np.array([-np.sin(w * t), np.cos(w * t)])
    return 2 * rate * w * across - rate * t * w**2 * along


def dragged(force, begin, end, mu):
    """Where a particle of unit mass is that a force moves from `begin` on, by another code's stiff method."""

    def rates(t, y):
        return np.concatenate([y[2:], force(t) - mu * G * y[2:] / np.linalg.norm(y[2:])])

    first = begin + AFTER
    way = force(first) / np.linalg.norm(force(first))
    growth = (np.linalg.norm(force(first)) - mu * G) / AFTER
    start = np.concatenate([growth * AFTER**3 / 6 * way, growth * AFTER**2 / 2 * way])
    return solve_ivp(rates, (first, end), start, method="Radau", rtol=1e-11, atol=1e-15).y[:2, -1]


def test_less_friction_once_it_slides():
    """Static friction above the kinetic one: slip begins with an acceleration of its own."""
    f0, f1, w, end, static = 2.0, 1.0, 2.0, 2.4, 0.35
    system = pushed(static=static).replace(parameters={"f0": f0, "f1": f1, "w": w})
    motion = simulate(system, np.zeros(3), np.zeros(3), (0.0, end), method=EventDriven(), control=lambda t: t)
    begin = (static * G - f0) / f1

    def rates(t, y):
        force = (f0 + f1 * t) * np.array([np.cos(w * t), np.sin(w * t)])
        return np.concatenate([y[2:], force - 0.3 * G * y[2:] / np.linalg.norm(y[2:])])

    way, a = np.array([np.cos(w * begin), np.sin(w * begin)]), (static - 0.3) * G
    tau = 1e-8
    start = np.concatenate([a * tau**2 / 2 * way, a * tau * way])
    truth = solve_ivp(rates, (begin + tau, end), start, method="Radau", rtol=1e-11, atol=1e-15).y[:, -1]
    assert motion.events[0].t == pytest.approx(begin, abs=1e-9)
    assert np.hstack([motion.q[-1, :2], motion.v[-1, :2]]) == pytest.approx(truth, abs=1e-7)
