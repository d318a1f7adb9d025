"""Many steps in one compiled call are the steps taken one by one; flights and impacts against closed forms."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from contact_models import ball, zeno_time

from onesided import Contact, EventDriven, Projected, System, rows, simulate
from onesided.complementarity.friction import FrictionProblem
from onesided.dynamics.contacts import flights
from onesided.dynamics.smooth import strides
from onesided.evaluation.single_impact import struck
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


def _rolling_ball(size, e, mu):
    """A disc (size 1) or a sphere (2) on a floor; its spin counts so that slip is v + R ω."""
    R = 0.1

    def slip(q, v, th):
        return v[1 : 1 + size] + R * v[1 + size :]

    inertia = [0.005, 0.004][size - 1]
    return R, inertia, System(
        coordinates=("z", *"xy"[:size], *"ab"[:size]), energy=lambda q, p, th: G * q[0],
        unilateral={"floor": lambda q, p, th: q[0]},
        mass=lambda q, th: jnp.diag(jnp.array([1.0] * (1 + size) + [inertia] * size)),
        contacts={"floor": Contact(restitution=e, friction=mu, slip=slip)},
    )  # fmt: skip


@pytest.mark.parametrize("size", [1, 2], ids=["disc", "sphere"])
def test_a_ball_with_spin_bounces_on_a_rough_floor(monkeypatch, size):
    """It slides in the first impacts and grips in later ones, by the law of impact written out for a ball."""
    monkeypatch.setattr(flights, "FIRST", 2)
    e, mu = 0.95, 0.03
    R, inertia, system = _rolling_ball(size, e, mu)
    v = np.array([0.0, 1.5, -0.4][: 1 + size] + [9.0, -3.0][:size])
    motion = simulate(system, np.r_[1.0, np.zeros(2 * size)], v, (0.0, 12.0), method=EventDriven())
    impacts = [event for event in motion.events if event.kind.name == "impact"]
    assert motion.provenance["phases"] < 10 < len(impacts)
    down, slip, kinds = np.sqrt(2.0 * G), v[1 : 1 + size] + R * v[1 + size :], set()
    for event in impacts:
        np.testing.assert_allclose(event.v, np.r_[-down, v[1:]], rtol=0.0, atol=1e-10)
        free = np.linalg.norm(slip) / (1.0 + R * R / inertia)
        push = min(free, mu * (1.0 + e) * down)
        kinds.add(bool(push < free))
        step = -push * slip / np.linalg.norm(slip) if free > 0.0 else 0.0 * slip
        v[1 : 1 + size] += step
        v[1 + size :] += R / inertia * step
        slip, down = v[1 : 1 + size] + R * v[1 + size :], e * down
        slip = slip if push < free else 0.0 * slip
    assert kinds == {True, False}


def test_a_rough_rod_tumbles_as_step_by_step(monkeypatch):
    """Impacts of ends one by one, in many steps of one call and in steps of their own."""
    length = 0.5
    ends = {"a": 1.0, "b": -1.0}

    def rod():
        return System(
            coordinates=("x", "y", "angle"), energy=lambda q, p, th: G * q[1],
            unilateral={k: lambda q, p, th, s=s: q[1] + s * length * jnp.sin(q[2]) for k, s in ends.items()},
            mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, length**2 / 3.0])),
            contacts={k: Contact(restitution=0.9, friction=0.3,
                                 slip=lambda q, v, th, s=s: v[0] - s * length * jnp.sin(q[2]) * v[2])
                      for k, s in ends.items()},
        )  # fmt: skip

    runs = []
    for first in (10**6, 2):
        monkeypatch.setattr(flights, "FIRST", first)
        runs.append(simulate(rod(), [0.0, 1.5, 0.3], [0.2, 0.0, 3.0], (0.0, 4.0), method=EventDriven()))
    one, many = runs
    assert many.provenance["phases"] < one.provenance["phases"]
    assert [(event.kind, event.name) for event in many.events] == [(event.kind, event.name) for event in one.events]
    np.testing.assert_allclose([event.t for event in many.events], [event.t for event in one.events], atol=1e-9)
    np.testing.assert_allclose(many.v[-1], one.v[-1], atol=1e-8)
    assert many.work[-1] == pytest.approx(one.work[-1], abs=1e-9)


@pytest.mark.parametrize("size", [2, 3], ids=["plane", "space"])
def test_the_impulse_of_one_contact_is_that_of_the_friction_solver(size):
    rng = np.random.default_rng(size)
    law = jax.jit(struck)
    found = 0
    for _ in range(60):
        B, u = rng.normal(size=(size, size + 1)), rng.normal(size=size)
        u[0], e, mu = -abs(u[0]), rng.uniform(), rng.uniform(0.0, 1.5)
        D = B @ B.T
        P = np.asarray(law(D, jnp.asarray(u), e, mu))
        if np.any(np.isnan(P)):
            continue
        found += 1
        problem = FrictionProblem(D, u + e * u[0] * np.eye(size)[0], np.array([mu]), np.array([size - 1]))
        assert problem.residual(P) < 1e-11
        assert np.linalg.norm(P[1:]) <= mu * P[0] * (1.0 + 1e-12)
    assert found > 50
