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
