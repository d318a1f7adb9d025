"""Forces that jump while contacts press; a tumbling cube whose edges and faces come to rest together."""

import jax.numpy as jnp
import numpy as np
import pytest

from onesided import Contact, EventDriven, Occurrence, Status, System, simulate
from onesided.groups import SO3, Product, Vector, rotate

G = 9.81


@pytest.fixture(scope="module")
def block():
    """A mass on a rough floor; what pushes along it and up changes at once at t = ½."""

    def force(t, q, v, p, th):
        late = jnp.where(t < 0.5, 0.0, 1.0)
        return jnp.array([th.first + late * (th.push - th.first), late * th.lift - G])

    return System(
        coordinates=("x", "z"),
        energy=lambda q, p, th: 0.0 * q[0],
        mass=lambda q, th: jnp.eye(2),
        force=force,
        unilateral={"floor": lambda q, p, th: q[1]},
        contacts={"floor": Contact(friction=0.5, slip=lambda q, v, th: v[0])},
        parameters={"first": 1.0, "push": 8.0, "lift": 0.0},
    )


@pytest.mark.parametrize("push", [8.0, -8.0])
def test_a_push_that_comes_at_once_makes_a_contact_slip(block, push):
    motion = simulate(
        block.replace(parameters={"push": push}), [0.0, 0.0], [0.0, 0.0], (0.0, 1.0), method=EventDriven()
    )
    assert [(event.kind, pytest.approx(event.t)) for event in motion.events] == [(Occurrence.slips, 0.5)]
    assert motion.q[-1, 0] == pytest.approx(np.sign(push) * (8.0 - 0.5 * G) / 8.0, abs=1e-9)


def test_a_lift_that_comes_at_once_opens_a_contact(block):
    motion = simulate(
        block.replace(parameters={"push": 1.0, "lift": 2.0 * G}), [0.0, 0.0], [0.0, 0.0], (0.0, 1.0),
        method=EventDriven(),
    )  # fmt: skip
    assert [(event.kind, pytest.approx(event.t)) for event in motion.events] == [(Occurrence.opens, 0.5)]
    assert motion.q[-1] == pytest.approx([1.0 / 8.0, G / 8.0], abs=1e-9)
    assert motion.lam.min() >= 0.0


def test_a_load_that_jumps_on_a_mass_at_rest_is_no_event(block):
    motion = simulate(
        block.replace(parameters={"push": 1.0, "lift": -G}), [0.0, 0.0], [0.0, 0.0], (0.0, 1.0), method=EventDriven()
    )
    assert motion.events == ()
    assert motion.lam[[0, -1], 0] == pytest.approx([G, 2.0 * G])


@pytest.mark.slow
def test_a_tumbling_cube_comes_to_rest_on_a_face(half=0.1):
    corners = {f"{i}{j}{k}": half * np.array([i, j, k]) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)}

    def gap(r):
        return lambda q, p, th: q[2] + rotate(q[3:], jnp.asarray(r))[2]

    def slip(r):
        return lambda q, v, th: (v[:3] + rotate(q[3:], jnp.cross(v[3:], jnp.asarray(r))))[:2]

    turn = 2.0 / 3.0 * half**2
    system = System(
        coordinates=("x", "y", "z", "a", "b", "c"),
        energy=lambda q, p, th: G * q[2],
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, 1.0, turn, turn, turn])),
        unilateral={name: gap(r) for name, r in corners.items()},
        contacts={name: Contact(restitution=0.3, friction=0.4, slip=slip(r)) for name, r in corners.items()},
        space=Product(Vector(3), SO3()),
    )
    for seed in (3, 4, 6):
        rng = np.random.default_rng(seed)
        q0, v0 = np.r_[0.0, 0.0, 0.4, rng.uniform(-1, 1, 3)], np.r_[rng.uniform(-1, 1, 2), 0.0, rng.uniform(-5, 5, 3)]
        motion = simulate(system, q0, v0, (0.0, 1.5), method=EventDriven(), throw=False)
        assert motion.status is Status.finished, (seed, motion.note)
        assert motion.q[-1, 2] == pytest.approx(half, abs=1e-9)
        assert np.sum(motion.lam[-1]) == pytest.approx(G, rel=1e-6)
        assert np.all(np.diff([event.t for event in motion.events]) >= 0.0)
        assert np.max(np.diff(motion.energy)) <= 1e-8 * motion.energy[0]


def bang_bang(v, last, push, w, phase, e):
    """Times of impacts of a ball from rest at 0.3 whose weight is changed by ±push, w/π times a second."""
    t, z, found = 0.0, 0.3, []
    switches = [*((np.arange(1, 100) * np.pi - phase) / w), np.inf]
    while t < last:
        until = min(next(s for s in switches if s > t + 1e-13), last)
        a = push * np.sign(np.sin(w * 0.5 * (t + min(until, t + 1e-6)) + phase)) - G
        roots = np.roots([0.5 * a, v, z])
        hits = [x.real for x in roots if abs(x.imag) < 1e-14 and x.real > 1e-10 and v + a * x.real < 0.0]
        dt = min([*hits, until - t])
        z, v, t = z + v * dt + 0.5 * a * dt**2, v + a * dt, t + dt
        if hits and dt == min(hits):
            found.append(t)
            z, v = 0.0, -e * v
    return np.array(found)


@pytest.mark.parametrize("phase", [0.0, 0.3])
def test_a_force_that_switches_again_and_again_is_followed(phase, push=5.0, w=11.0, e=0.9):
    """Steps ended as too small where it jumps by more than the smallest of them resolves."""
    system = System(
        coordinates=("z",), energy=lambda q, p, th: G * q[0], mass=lambda q, th: jnp.eye(1),
        force=lambda t, q, v, p, th: jnp.array([push * jnp.sign(jnp.sin(w * t + phase))]),
        unilateral={"floor": lambda q, p, th: q[0]}, contacts={"floor": Contact(restitution=e)},
    )  # fmt: skip
    motion = simulate(system, [0.3], [0.0], (0.0, 2.0), method=EventDriven())
    found = [event.t for event in motion.events]
    assert motion.status is Status.finished
    assert len(found) > 4
    np.testing.assert_allclose(found, bang_bang(0.0, 2.0, push, w, phase, e), rtol=0.0, atol=1e-7)
