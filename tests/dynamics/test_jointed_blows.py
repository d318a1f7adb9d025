"""Bodies on joints that fall on a rough floor: a blow is one impulse in both methods, however small the steps."""

from functools import cache, partial

import jax.numpy as jnp
import numpy as np
import pytest
from contact_models import G
from scipy.spatial.transform import Rotation

from onesided import Contact, EventDriven, Moreau, Status, System, simulate
from onesided.groups import SO3, Product, Vector, rotate

LONG, MU = 0.5, 0.3
ARM, INERTIA = np.array([0.25, 0.0, 0.0]), np.array([0.01, 0.03, 0.035])
TIPS = {
    "a0": (0, np.array([-0.25, 0.08, 0.0])), "a1": (0, np.array([-0.25, -0.08, -0.03])),
    "b0": (1, np.array([0.25, 0.05, 0.05])), "b1": (1, np.array([0.25, -0.08, 0.0])),
}  # fmt: skip


def _tip(rod, side, q):
    x, y, a = q[3 * rod : 3 * rod + 3]
    return jnp.stack([x + side * LONG / 2 * jnp.cos(a), y + side * LONG / 2 * jnp.sin(a)])


def _along_floor(rod, side, q, v, th):
    return jnp.stack([v[3 * rod] - side * LONG / 2 * jnp.sin(q[3 * rod + 2]) * v[3 * rod + 2]])


@cache
def rods():
    """Two rods with a hinge in the plane, of three coordinates each."""
    ends = {"left": (0, -1), "hinge": (0, 1), "right": (1, 1)}
    return System(
        ("x0", "y0", "a0", "x1", "y1", "a1"), lambda q, p, th: G * (q[1] + q[4]),
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, LONG**2 / 12] * 2)),
        bilateral={f"joint {i}": lambda q, p, th, i=i: (_tip(0, 1, q) - _tip(1, -1, q))[i] for i in (0, 1)},
        unilateral={name: lambda q, p, th, end=end: _tip(*end, q)[1] for name, end in ends.items()},
        contacts={name: Contact(friction=MU, slip=partial(_along_floor, *end)) for name, end in ends.items()},
    )  # fmt: skip


def thrown_rods(seed):
    """Place and velocity of the rods, their lowest end 0.2 above the floor."""
    rng = np.random.default_rng(seed)
    angle, spin = rng.uniform(-1.2, 1.2, 2), 2.0 * rng.normal(size=2)
    arm = LONG / 2 * np.array([np.cos(angle), np.sin(angle)]).T
    turn = spin[:, None] * np.array([-arm[:, 1], arm[:, 0]]).T
    place, v = _one_behind_the_other(arm, turn, 0.5 * rng.normal(size=2))
    place[:, 1] += 0.2 - np.min([place - arm, place + arm], axis=(0, 1))[1]
    return np.column_stack([place, angle]).ravel(), np.column_stack([v, spin]).ravel()


def _one_behind_the_other(arm, turn, first):
    """Places and velocities of two bodies whose arms meet in a joint, the first at the origin."""
    return np.array([0.0 * arm[0], arm[0] + arm[1]]), first + np.array([0.0 * turn[0], turn[0] + turn[1]])


def _at(body, r, q):
    return q[6 * body : 6 * body + 3] + rotate(q[6 * body + 3 : 6 * body + 6], jnp.asarray(r))


def _slip(body, r, q, v, th):
    turn = rotate(q[6 * body + 3 : 6 * body + 6], jnp.cross(v[6 * body + 3 : 6 * body + 6], jnp.asarray(r)))
    return (v[6 * body : 6 * body + 3] + turn)[:2]


@cache
def bodies():
    """Two bodies with a ball joint in space, with two feet each."""
    return System(
        tuple(f"{c}{k}" for k in (0, 1) for c in "xyzabc"), lambda q, p, th: G * (q[2] + q[8]),
        space=Product(Vector(3), SO3(), Vector(3), SO3()),
        mass=lambda q, th: jnp.diag(jnp.concatenate([jnp.ones(3), jnp.asarray(INERTIA)] * 2)),
        bilateral={f"joint {i}": lambda q, p, th, i=i: (_at(0, ARM, q) - _at(1, -ARM, q))[i] for i in (0, 1, 2)},
        unilateral={name: lambda q, p, th, tip=tip: _at(*tip, q)[2] for name, tip in TIPS.items()},
        contacts={name: Contact(friction=MU, slip=partial(_slip, *tip)) for name, tip in TIPS.items()},
    )  # fmt: skip


def thrown_bodies(seed):
    """Place and velocity of the bodies, their lowest foot 0.15 above the floor."""
    rng, turned = np.random.default_rng(seed), Rotation.random(2, random_state=seed)
    spin, first = 3.0 * rng.normal(size=(2, 3)), 0.5 * rng.normal(size=3)
    place, v = _one_behind_the_other(turned.apply(ARM), turned.apply(np.cross(spin, ARM)), first)
    place[:, 2] += 0.15 - min((place[body] + turned[body].apply(r))[2] for body, r in TIPS.values())
    return np.hstack([place, turned.as_rotvec()]).ravel(), np.hstack([v, spin]).ravel()


@pytest.mark.parametrize(
    ("system", "start", "end", "rate"),
    [
        (rods, thrown_rods(2), 0.12, 100.0),
        (rods, thrown_rods(17), 0.4, 20.0),
        (rods, thrown_rods(14), 0.4, 20.0),
        (bodies, thrown_bodies(2), 0.3, 30.0),
    ],
    ids=["one blow", "five blows", "to rest", "space"],
)
def test_blows_by_steps_are_those_by_events(system, start, end, rate):
    """The error falls with the step; of blows in two parts it stays, with any step."""
    exact = simulate(system(), *start, (0.0, end), method=EventDriven())
    assert exact.events[0].kind.name == "impact"
    for step in (7e-4, 3.1e-4, 1.25e-4):
        motion = simulate(system(), *start, (0.0, end), method=Moreau(step=step))
        assert motion.status is Status.finished
        assert motion.v[-1] == pytest.approx(exact.v[-1], abs=rate * step)
        assert motion.q[-1] == pytest.approx(exact.q[-1], abs=rate * step)
        joints = np.array([system().bilateral[name](jnp.asarray(motion.q[-1]), 0.0, None) for name in motion.bilateral])
        assert np.max(np.abs(joints)) < 1e-10
