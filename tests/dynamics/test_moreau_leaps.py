"""Time steps in one compiled call are the steps taken one by one: friction of all kinds, drag, samples, impacts."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onesided import Contact, HuntCrossley, Moreau, Sampled, System, simulate, with_contacts
from onesided.dynamics.contacts import moreau_leaps
from onesided.groups import SO3, Product, Vector, rotate

G, R = 9.81, 0.1
INERTIA = 0.4 * R**2


@cache
def sphere(turning=False, **more):
    """A sphere on a floor, dragged by air; its angular velocity in space, or turning by rotation vectors."""

    def spin(q, v):
        return rotate(q[3:], v[3:]) if turning else v[3:]

    def slip(q, v, th):
        w = spin(q, v)
        return v[:2] + R * jnp.array([-w[1], w[0]])

    return System(
        coordinates=("x", "y", "z", "a", "b", "c"),
        energy=lambda q, p, th: G * q[2],
        unilateral={"floor": lambda q, p, th: q[2] - R},
        mass=lambda q, th: jnp.diag(jnp.array([1.0] * 3 + [INERTIA] * 3)),
        force=lambda t, q, v, p, th: -th.drag * jnp.append(v[:3] * jnp.sqrt(v[:3] @ v[:3] + 1.0), 0.0 * v[3:]),
        contacts={"floor": Contact(slip=slip, rolling=lambda q, v, th: spin(q, v)[:2],
                                   spinning=lambda q, v, th: spin(q, v)[2], **more)},
        space=Product(Vector(3), SO3()) if turning else None, parameters={"drag": 0.1},
    )  # fmt: skip


@cache
def block(friction=0.4, static=None, e=0.0):
    """A block in the plane with two corners that slide on a floor, pushed from aside."""

    def gap(side):
        return lambda q, p, th: q[1] + side * 0.5 * jnp.sin(q[2]) - 0.2 * jnp.cos(q[2])

    def slip(side):
        return lambda q, v, th: v[0] - v[2] * (side * 0.5 * jnp.sin(q[2]) - 0.2 * jnp.cos(q[2]))

    return System(
        coordinates=("x", "y", "angle"),
        energy=lambda q, p, th: G * q[1] - p * q[0],
        unilateral={name: gap(s) for name, s in (("left", -1.0), ("right", 1.0))},
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, 0.1])),
        contacts={name: Contact(friction=friction, static_friction=static, slip=slip(s), restitution=e)
                  for name, s in (("left", -1.0), ("right", 1.0))},
    )  # fmt: skip


def push(t):
    return 8.0 * jnp.sin(6.0 * t)


def both(monkeypatch, *arguments, **options):
    """The motion by steps one by one, and by many at once; the share of steps that were taken at once."""
    taken = []
    with monkeypatch.context() as patch:
        patch.setattr(moreau_leaps.Leaps, "due", lambda self, left: False)
        one = simulate(*arguments, **options)
    with monkeypatch.context() as patch:
        go = moreau_leaps.Leaps.go
        patch.setattr(moreau_leaps, "WORTH", 0)
        patch.setattr(
            moreau_leaps.Leaps,
            "go",
            lambda self, *a, **k: taken.append(0 if (x := go(self, *a, **k)) is None else len(x)) or x,
        )
        many = simulate(*arguments, **options)
    return one, many, sum(taken) / (len(one) - 1)


def agree(one, many, digits=1e-9):
    assert one.status == many.status
    for field in ("t", "q", "v", "lam", "tangential", "energy", "work"):
        a, b = getattr(one, field), getattr(many, field)
        loose = 10.0 if field in {"lam", "tangential"} else 1.0  # impulses are solved to the accuracy of the method
        size = max(1.0, np.max(np.abs(a), initial=0.0))
        np.testing.assert_allclose(a, b, rtol=0.0, atol=loose * digits * size, err_msg=field)
    assert [(e.kind, e.name) for e in one.events] == [(e.kind, e.name) for e in many.events]
    np.testing.assert_allclose([e.t for e in one.events], [e.t for e in many.events], rtol=1e-12)


ALL = {"friction": 0.3, "rolling_friction": 0.002, "spinning_friction": 0.003, "restitution": 0.5}
SPHERES = {
    "all": ALL,
    "turning": {"friction": 0.3, "turning": True},
    "rough": {"friction": np.inf},
    "smooth": {"friction": 0.0},
}


@pytest.mark.parametrize("name", ["all", *(pytest.param(n, marks=pytest.mark.slow) for n in list(SPHERES)[1:])])
def test_a_sphere_moves_the_same(name, monkeypatch):
    start = ([0.0, 0.0, R + 0.003, 0.1, 0.2, 0.3], [1.0, 0.3, 0.0, 0.5, 5.0, 1.0])
    one, many, share = both(monkeypatch, sphere(**SPHERES[name]), *start, (0.0, 0.2), method=Moreau(step=2e-3))
    assert one.ok
    assert share > 0.8
    agree(one, many)


@settings(max_examples=8, deadline=None)
@given(
    speed=st.lists(st.floats(-2.0, 2.0), min_size=6, max_size=6), height=st.floats(0.0, 0.02),
    turn=st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3), drag=st.floats(0.0, 3.0),
)  # fmt: skip
def test_any_throw_moves_the_same(speed, height, turn, drag):
    system = sphere(**ALL).replace(parameters={"drag": drag})
    start = ([0.0, 0.0, R + height, *turn], [*speed[:3], *(5.0 * np.array(speed[3:]))])
    with pytest.MonkeyPatch.context() as patch:
        one, many, _ = both(patch, system, *start, (0.0, 0.1), method=Moreau(step=2e-3), throw=False)
    agree(one, many)


@pytest.mark.parametrize("static", [None, 0.6])
@pytest.mark.parametrize("tilt", [0.0, 0.3])
def test_a_pushed_block_sticks_slides_and_falls_the_same(static, tilt, monkeypatch):
    start = ([0.0, 0.2 * np.cos(tilt) + 0.5 * np.sin(tilt), tilt], [0.5, 0.0, 0.0])
    one, many, _ = both(
        monkeypatch, block(static=static), *start, (0.0, 1.0), method=Moreau(step=2e-3),
        control=push,
    )  # fmt: skip
    agree(one, many, 1e-8)


def test_a_block_with_a_soft_and_a_bouncing_corner_moves_the_same(monkeypatch):
    hard = block()
    slips = {name: contact.slip for name, contact in hard.contacts.items()}
    system = with_contacts(hard, {
        "left": Contact(friction=0.4, slip=slips["left"], compliance=HuntCrossley(1e4, 0.3)),
        "right": Contact(friction=0.4, slip=slips["right"], restitution=0.3),
    })  # fmt: skip
    one, many, share = both(
        monkeypatch, system, [0.0, 0.35, 0.2], [1.0, 0.0, 0.0], (0.0, 0.4), method=Moreau(step=1e-3)
    )
    assert one.ok
    assert share > 0.8
    agree(one, many, 1e-8)


def test_samples_are_held_between_steps_at_once(monkeypatch):
    given = {"force": Sampled(lambda t, q, v: [-3.0 * v[0], 0.0, 0.0], rate=20.0),
             "control": Sampled(lambda t, q, v: 6.0 * np.cos(8.0 * t), rate=10.0)}  # fmt: skip
    one, many, share = both(
        monkeypatch, block(), [0.0, 0.2, 0.0], [1.0, 0.0, 0.0], (0.0, 1.0), method=Moreau(step=2e-3), **given
    )
    assert share > 0.5
    agree(one, many)


def test_a_sliding_sphere_begins_to_roll_when_the_closed_form_does(monkeypatch):
    """Against rolling resistance c: it rolls from v₀/(g (μ + 5/2 (μ − c/R))) on, then slows down by 5/7 g c/R."""
    monkeypatch.setattr(moreau_leaps, "WORTH", 0)
    mu, c, end = ALL["friction"], ALL["rolling_friction"] / R, 0.2
    motion = simulate(sphere(**ALL).replace(parameters={"drag": 0.0}), [0.0, 0.0, R, 0, 0, 0], [1.0, 0, 0, 0, 0, 0],
                      (0.0, end), method=Moreau(step=1e-3))  # fmt: skip
    rolls = 1.0 / (G * (mu + 2.5 * (mu - c)))
    assert motion.v[-1, 0] == pytest.approx(1.0 - mu * G * rolls - 5.0 / 7.0 * G * c * (end - rolls), abs=1e-4)
    assert motion.v[-1, 4] * R == pytest.approx(motion.v[-1, 0], abs=1e-10)
    assert next(event.t for event in motion.events if event.name == "floor") == pytest.approx(rolls, abs=2e-3)


def chain(**contact):
    """Two rods with masses at their ends, as joints; the second mass over a floor where a contact is stated."""
    return System(
        coordinates=("x", "y", "u", "w"),
        energy=lambda q, p, th: G * (q[1] + q[3]),
        mass=lambda q, th: jnp.eye(4),
        bilateral={
            "a": lambda q, p, th: (q[:2] @ q[:2] - 1.0) / 2.0,
            "b": lambda q, p, th: ((q[2] - q[0]) ** 2 + (q[3] - q[1]) ** 2 - 1.0) / 2.0,
        },
        unilateral={"floor": lambda q, p, th: q[3] + 1.6} if contact else {},
        contacts={"floor": Contact(slip=lambda q, v, th: v[2], **contact)} if contact else {},
    )


@pytest.mark.parametrize(
    "contact",
    [{}, {"friction": 0.3, "restitution": 0.5}, pytest.param({"friction": 0.3}, marks=pytest.mark.slow)],
    ids=["free", "bounces", "rubs"],
)
def test_a_chain_with_joints_moves_the_same(contact, monkeypatch):
    options = {"method": Moreau(step=4e-3)}
    one, many, share = both(monkeypatch, chain(**contact), [1.0, 0.0, 1.0, -1.0], np.zeros(4), (0.0, 1.2), **options)
    assert one.ok
    assert share > 0.9
    agree(one, many, 1e-8)
    assert one.mu == pytest.approx(many.mu, abs=1e-7)
    assert one.projection == pytest.approx(many.projection, abs=1e-9)


def test_joints_that_depend_on_each_other_are_stepped_one_by_one(monkeypatch):
    """Their forces are a choice, which the compiled steps do not make."""
    rod = {name: lambda q, p, th: (q @ q - 1.0) / 2.0 for name in ("rod", "copy")}
    twice = System(
        ("x", "y"), lambda q, p, th: G * q[1], mass=lambda q, th: jnp.eye(2), bilateral=rod,
    )  # fmt: skip
    _, many, share = both(monkeypatch, twice, [1.0, 0.0], [0.0, 0.0], (0.0, 0.05), method=Moreau(step=5e-3))
    assert share == 0.0
    assert set(many.not_unique) == {"rod", "copy"}
