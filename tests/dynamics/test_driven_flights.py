"""Compiled flights with what moves and with bodies that turn: each flight against its own independent solution.

Bounces on a moving table diverge from each other for the least difference. Every flight is therefore solved anew from
where the result says that it begins, and every impact by its law.
"""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from onesided import Contact, EventDriven, System, simulate
from onesided.dynamics.contacts import flights
from onesided.groups import SO3, Product, Vector, rotate, rotation_matrix

G = 9.81
ACCURACY = EventDriven().rtol  # of one step, by default


def impacts_of(motion):
    return [event for event in motion.events if event.kind.name == "impact"]


def first_zero(gap, start, end, pieces=4000):
    """The first fall through zero after a start on the surface, by samples and bisection."""
    t = np.linspace(start, end, pieces + 1)[1:]
    values = np.array([gap(x) for x in t])
    k = int(np.flatnonzero((values[1:] < 0.0) & (values[:-1] >= 0.0))[0])
    return brentq(gap, t[k], t[k + 1], xtol=1e-15, rtol=1e-15)


def once_compiled(monkeypatch, impacts=2):
    monkeypatch.setattr(flights, "FIRST", impacts)
    monkeypatch.setattr(flights, "LONGER", 1)


def table(e):
    return System(
        coordinates=("z",),
        energy=lambda q, p, th: G * q[0],
        mass=lambda q, th: jnp.eye(1),
        unilateral={"table": lambda q, p, th: q[0] - p},
        contacts={"table": Contact(restitution=e)},
    )


def test_a_ball_on_a_moving_table_and_the_work_of_the_table(monkeypatch, A=0.02, w=30.0, e=0.9):
    once_compiled(monkeypatch)
    motion = simulate(table(e), [0.1], [0.0], (0.0, 20.0), method=EventDriven(), control=lambda t: A * jnp.sin(w * t))
    assert motion.status.name == "finished"
    assert motion.provenance["phases"] < 6
    found, work = impacts_of(motion), 0.0
    assert len(found) > 30
    for now, after in itertools.pairwise(found):
        t, v = now.t, now.v[0]
        rises = A * w * np.cos(w * t)
        z, leaves = A * np.sin(w * t), rises - e * (v - rises)
        work += 0.5 * (leaves**2 - v**2)

        def gap(s, t=t, z=z, leaves=leaves):
            return z + leaves * (s - t) - 0.5 * G * (s - t) ** 2 - A * np.sin(w * s)

        expected = first_zero(gap, t, after.t + 0.02)
        assert after.t == pytest.approx(expected, abs=2e-12)
        assert after.v[0] == pytest.approx(leaves - G * (after.t - t), abs=1e-11)
    last = int(np.searchsorted(motion.t, found[-1].t)) - 1
    assert motion.work[last] == pytest.approx(work, abs=1e-10)
    np.testing.assert_allclose(motion.energy - motion.work, motion.energy[0], atol=1e-9)


def test_a_force_that_changes_with_time_acts_on_flights(monkeypatch, F=3.0, w=7.0, e=0.95):
    """A mass between two walls: x(t) in closed form between impacts."""
    once_compiled(monkeypatch)
    system = System(
        coordinates=("x",),
        energy=lambda q, p, th: 0.0 * q[0],
        force=lambda t, q, v, p, th: jnp.array([F * jnp.cos(w * t)]),
        mass=lambda q, th: jnp.eye(1),
        unilateral={"left": lambda q, p, th: q[0], "right": lambda q, p, th: 1.0 - q[0]},
        contacts={name: Contact(restitution=e) for name in ("left", "right")},
    )
    motion = simulate(system, [0.4], [1.3], (0.0, 40.0), method=EventDriven())
    found = impacts_of(motion)
    assert motion.provenance["phases"] < 6 < 25 < len(found)
    for now, after in itertools.pairwise(found):
        t, x, v = now.t, float(now.name == "right"), -e * now.v[0]

        def place(s, t=t, x=x, v=v):
            return x + (v - F / w * np.sin(w * t)) * (s - t) + F / w**2 * (np.cos(w * t) - np.cos(w * s))

        gaps = {"left": place, "right": lambda s: 1.0 - place(s)}
        assert abs(gaps[after.name](after.t)) < ACCURACY
        between = np.linspace(t, after.t, 400)[1:-1]
        assert min(np.min(gap(between)) for gap in gaps.values()) > -1e-12
        assert after.v[0] == pytest.approx(v + F / w * (np.sin(w * after.t) - np.sin(w * t)), abs=10.0 * ACCURACY)


def test_a_short_blow_within_a_flight_is_felt(monkeypatch, T=4.0):
    """A pulse of 2 ms lifts a ball that bounces elastically: its energy grows by what closed form says."""
    once_compiled(monkeypatch)
    system = System(
        coordinates=("z",),
        energy=lambda q, p, th: G * q[0],
        force=lambda t, q, v, p, th: jnp.array([400.0 * jnp.exp(-(((t - T) / 0.001) ** 2))]),
        mass=lambda q, th: jnp.eye(1),
        unilateral={"floor": lambda q, p, th: q[0]},
        contacts={"floor": Contact(restitution=1.0)},
    )
    motion = simulate(system, [0.05], [0.0], (0.0, 6.0), method=EventDriven())
    found = impacts_of(motion)
    before = [event for event in found if event.t < T - 0.01]
    assert motion.provenance["phases"] < 6 < len(before)
    free = solve_ivp(
        lambda t, y: [y[1], -G + 400.0 * np.exp(-(((t - T) / 0.001) ** 2))], (before[-1].t, found[len(before)].t),
        [0.0, -before[-1].v[0]], method="DOP853", rtol=1e-12, atol=1e-13, max_step=2e-4,
    )  # fmt: skip
    after = found[len(before)]
    assert after.t > T + 0.01
    np.testing.assert_allclose(free.y[:, -1], [0.0, after.v[0]], atol=1e-9)


def test_a_sphere_that_turns_bounces_on_a_rough_floor(monkeypatch, R=0.1, inertia=0.004, e=0.95, mu=0.03):
    """It slides in the first impacts and grips in later ones, whatever its orientation: the law for a ball."""
    once_compiled(monkeypatch)

    def slip(q, v, th):
        return (v[:3] + jnp.cross(rotate(q[3:], v[3:]), jnp.array([0.0, 0.0, -R])))[:2]

    system = System(
        coordinates=("x", "y", "z", "a", "b", "c"), energy=lambda q, p, th: G * q[2],
        mass=lambda q, th: jnp.diag(jnp.array([1.0] * 3 + [inertia] * 3)),
        unilateral={"floor": lambda q, p, th: q[2] - R}, space=Product(Vector(3), SO3()),
        contacts={"floor": Contact(restitution=e, friction=mu, slip=slip)},
    )  # fmt: skip
    start, spin = np.array([0.0, 0.0, 1.0 + R, 0.3, -0.5, 0.8]), np.array([9.0, -3.0, 4.0])
    v = np.array([1.5, -0.4, 0.0])
    body = np.asarray(rotation_matrix(start[3:])).T @ spin
    motion = simulate(system, start, np.r_[v, body], (0.0, 12.0), method=EventDriven())
    found, kinds = impacts_of(motion), set()
    assert motion.provenance["phases"] < 10 < len(found)
    arm, down = np.array([0.0, 0.0, -R]), np.sqrt(2.0 * G)
    for event in found:
        outside = np.asarray(rotate(event.q[3:], event.v[3:]))
        np.testing.assert_allclose(np.r_[event.v[:3], outside], np.r_[v[:2], -down, spin], rtol=0.0, atol=1e-9)
        slipping = (v + np.cross(spin, arm))[:2]
        free = np.linalg.norm(slipping) / (1.0 + R * R / inertia)
        push = min(free, mu * (1.0 + e) * down)
        kinds.add(bool(push < free))
        if free > 1e-12:
            P = np.r_[-push * slipping / np.linalg.norm(slipping), 0.0]
            v, spin = v + P, spin + np.cross(arm, P) / inertia
        down *= e
    assert kinds == {True, False}


CORNERS = np.array([[0.3, 0.2, -0.1], [-0.3, 0.1, -0.1], [0.0, -0.4, -0.1], [0.05, 0.0, 0.35]])
INERTIA = np.array([0.05, 0.10, 0.13]) / 3.0


def tumbling_tetrahedron():
    def corners(q):
        return q[2] + rotate(jnp.broadcast_to(q[3:], (4, 3)), jnp.asarray(CORNERS))[:, 2]

    names = [f"corner {k}" for k in range(4)]
    return System(
        coordinates=("x", "y", "z", "a", "b", "c"), energy=lambda q, p, th: G * q[2],
        mass=lambda q, th: jnp.diag(jnp.concatenate([jnp.ones(3), jnp.asarray(INERTIA)])),
        unilateral={name: lambda q, p, th, k=k: corners(q)[k] for k, name in enumerate(names)},
        contacts={name: Contact(restitution=1.0) for name in names}, space=Product(Vector(3), SO3()),
    )  # fmt: skip


def test_a_tumbling_body_against_rotation_matrices_by_scipy(monkeypatch):
    """Every flight between impacts: matrix Ṙ = R S(ω), Euler's equations; the first corner to fall on the floor."""
    once_compiled(monkeypatch)
    motion = simulate(
        tumbling_tetrahedron(), [0.0, 0.0, 1.0, 0.1, 0.2, 0.3], [0.1, 0.2, 0.0, 1.0, 2.0, 3.0], (0.0, 6.0),
        method=EventDriven(),
    )  # fmt: skip
    assert motion.status.name == "finished"
    found = impacts_of(motion)
    assert motion.provenance["phases"] < 6 < 12 < len(found)
    assert np.ptp(motion.energy) < 1e-8 * motion.energy[0]

    def rate(t, y):
        R, w = y[6:15].reshape(3, 3), y[15:]
        turn = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
        return np.r_[y[3:6], 0.0, 0.0, -G, (R @ turn).ravel(), np.cross(INERTIA * w, w) / INERTIA]

    for now, after in itertools.pairwise(found):
        k = int(np.flatnonzero(motion.t == now.t)[-1])
        q, v = motion.q[k], motion.v[k]
        start = np.r_[q[:3], v[:3], np.asarray(rotation_matrix(q[3:])).ravel(), v[3:]]
        free = solve_ivp(rate, (now.t, after.t), start, method="DOP853", rtol=1e-11, atol=1e-12, dense_output=True)
        heights = np.array([y[2] + (y[6:15].reshape(3, 3) @ CORNERS.T)[2] for y in free.sol(
            np.linspace(now.t, after.t, 200)).T])  # fmt: skip
        assert np.min(heights) > -1e-8
        assert int(np.argmin(heights[-1])) == int(after.name.split()[1])
        assert abs(np.min(heights[-1])) < 1e-8
        np.testing.assert_allclose(after.v, np.r_[free.y[3:6, -1], free.y[15:, -1]], atol=1e-8)
