"""Bodies that stick in corners because contacts press each other, and what they do when that ends."""

from functools import cache, partial

import jax.numpy as jnp
import numpy as np
import pytest
from contact_models import G
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, linprog
from scipy.spatial.transform import Rotation

from onesided import Contact, EventDriven, Moreau, Status, System, simulate

B, H = 0.2, 0.1
INERTIA = (B * B + H * H) / 3.0
TOUCHES = {
    "floor l": (-1, -1, "floor"),
    "floor r": (1, -1, "floor"),
    "wall l": (-1, -1, "wall"),
    "wall u": (-1, 1, "wall"),
}


def _corner(sx, sy, turn, q, v):
    """Place and velocity of a corner of the box, in the frame of floor and wall, which is turned."""
    c, s = jnp.cos(q[2]), jnp.sin(q[2])
    arm = jnp.array([c * sx * B - s * sy * H, s * sx * B + c * sy * H])
    frame = jnp.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    return frame @ (q[:2] + arm), frame @ (v[:2] + v[2] * jnp.array([-arm[1], arm[0]]))


def _gap(sx, sy, side, turn, q, p, th):
    return _corner(sx, sy, turn, q, 0.0 * q)[0][1 if side == "floor" else 0]


def _slip(sx, sy, side, turn, q, v, th):
    return _corner(sx, sy, turn, q, v)[1][0 if side == "floor" else 1]


def _push(turn, t, q, v, p, th):
    x, y = th.fx + t * th.gx, th.fy - G + t * th.gy
    c, s = np.cos(turn), np.sin(turn)
    return jnp.array([c * x - s * y, s * x + c * y, th.torque + t * th.gt])


@cache
def box(mu, turn=0.0, touches=tuple(TOUCHES)):
    """A box of unit mass in the corner of floor and wall; forces are given in their frame."""
    places = {name: TOUCHES[name] for name in touches}
    return System(
        ("x", "y", "a"), lambda q, p, th: 0.0 * q[0], mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, INERTIA])),
        unilateral={name: partial(_gap, *place, turn) for name, place in places.items()},
        contacts={name: Contact(friction=mu, slip=partial(_slip, *place, turn)) for name, place in places.items()},
        force=partial(_push, turn), parameters=dict.fromkeys(("fx", "fy", "torque", "gx", "gy", "gt"), 0.0),
    )  # fmt: skip


def run(system, load, end, method=EventDriven(), turn=0.0, grows=(0.0, 0.0, 0.0)):  # noqa: B008 - frozen
    c, s = np.cos(turn), np.sin(turn)
    names = ("fx", "fy", "torque", "gx", "gy", "gt")
    pushed = system.replace(parameters=dict(zip(names, map(float, (*load, *grows)), strict=True)))
    return simulate(pushed, [c * B - s * H, s * B + c * H, turn], np.zeros(3), (0.0, end), method=method)


def wrenches():
    """Normal and tangential unit forces of the four contacts on the centre of the box, (8, 3)."""
    rows = []
    for sx, sy, side in TOUCHES.values():
        x, y = sx * B, sy * H
        each = [[1.0, 0.0, -y], [0.0, 1.0, x]]
        rows += each if side == "wall" else each[::-1]
    return np.array(rows)


def room(load, mu):
    """The largest t with |T| ≤ μ N − t that holds the load, by a linear programme; below zero nothing does."""
    cones = np.zeros((8, 9))
    for i in range(4):
        for k, sign in enumerate((1.0, -1.0)):
            cones[2 * i + k, [2 * i, 2 * i + 1, 8]] = -mu, sign, 1.0
    weight = np.array([load[0], load[1] - G, load[2]])
    found = linprog(
        -np.eye(9)[8], cones, np.zeros(8), np.hstack([wrenches().T, np.zeros((3, 1))]), -weight,
        bounds=[(0.0, 1e3) if k % 2 == 0 and k < 8 else (None, None) for k in range(8)] + [(None, 1e3)],
    )  # fmt: skip
    return -found.fun if found.status == 0 else -np.inf


@pytest.mark.parametrize(("mu", "turn"), [(0.3, 0.0), (0.6, 0.7), (1.2, -2.0)])
def test_a_box_in_a_rough_corner_rests_only_where_forces_within_the_limits_hold_it(mu, turn):
    rng, rests = np.random.default_rng(1), 0
    for _ in range(8):
        load = rng.normal(size=3) * [15.0, 10.0, 1.5]
        motion = run(box(mu, turn), load, 0.02, turn=turn)
        assert motion.status is Status.finished
        if np.max(np.abs(motion.v[-1])) > 1e-9:
            continue
        rests += 1
        assert room(load, mu) > 0.0
        forces = np.stack([motion.lam[-1], motion.tangential[-1]], axis=1)
        assert np.all(np.abs(forces[:, 1]) <= mu * forces[:, 0] + 1e-9)
        weight = np.array([load[0], load[1] - G, load[2]])
        assert forces.ravel() @ wrenches() == pytest.approx(-weight, abs=1e-8)
    assert rests > 0


def _last(load, grows, mu, end):
    return brentq(lambda t: room(np.array(load) + t * np.array(grows), mu), 0.0, end, xtol=1e-12)


@pytest.mark.parametrize(
    ("load", "grows", "mu", "end"),
    [((-19.0, 2.0, -0.5), (5.0, 24.0, -0.6), 0.3, 2.0), ((-20.0, 0.0, 0.0), (0.0, 12.0, 0.0), 0.3, 2.0),
     ((-20.0, 0.0, 0.0), (30.0, 10.0, 0.0), 0.6, 2.0)],
)  # fmt: skip
def test_it_stops_sticking_when_the_last_forces_that_hold_it_are_gone(load, grows, mu, end):
    last = _last(load, grows, mu, end)
    motion = run(box(mu), load, last + 0.1, grows=grows)
    assert motion.status is Status.finished
    assert motion.events[0].t == pytest.approx(last, abs=1e-7)
    steps = run(box(mu), load, last + 0.1, Moreau(step=1e-3), grows=grows)
    assert steps.v[-1] == pytest.approx(motion.v[-1], abs=2e-3 * np.max(np.abs(motion.v[-1])))


HELD = [
    ((-18.06014235, -13.02269006, -0.93402805), (21.70920173, -16.01313892, 1.4159542), -2.0),
    ((-7.16087968, 6.6933962, -2.08094182), (49.97665289, -3.81863034, 1.60304658), -2.0),
    ((-20.0, 1.5, -0.4), (-15.0, 8.0, 1.0), 0.0),
]


@pytest.mark.parametrize(("load", "grows", "turn"), HELD)
def test_it_sticks_on_as_long_as_forces_hold_it(load, grows, turn):
    """Between faces that are rougher than 45° more and more forces do, whatever limits the shares of contacts reach."""
    assert min(room(np.array(load) + t * np.array(grows), 1.2) for t in np.linspace(0.0, 0.3, 50)) > 1.0
    motion = run(box(1.2, turn), load, 0.3, turn=turn, grows=grows)
    assert motion.status is Status.finished
    assert np.max(np.abs(motion.v)) < 1e-9


@pytest.mark.parametrize(
    ("load", "left"), [((0.5, 0.44, -3.0), "floor r"), ((12.0, 3.0, -4.0), "floor r"), ((-14.6, 9.0, 2.0), "wall u")]
)
def test_a_box_that_turns_about_one_corner_leaves_the_wall_by_the_square_of_its_angle(load, left):
    """At first the gap does not accelerate: the wall might press. Without the wall it goes the same way."""
    motion, alone = run(box(0.3), load, 0.05), run(box(0.3, 0.0, (left,)), load, 0.05)
    assert motion.status is Status.finished
    assert motion.v[-1] == pytest.approx(alone.v[-1], abs=1e-8)


def ladder(load, mu, end):
    """Velocity of a box whose lower corner slides along the floor and whose upper one slides down the wall."""

    def rates(t, state):
        c, s, w = np.cos(state[0]), np.sin(state[0]), state[1]
        x, y = B * c + H * s, B * s + H * c  # of the centre
        x_a, y_a = -B * s + H * c, B * c - H * s
        lower, upper = (2 * H * s - x, -y), (-x, 2 * H * c - y)
        floor, wall = (-mu, 1.0), (1.0, mu)
        arms = [r[0] * f[1] - r[1] * f[0] for r, f in ((lower, floor), (upper, wall))]
        A = np.array([[x_a, -floor[0], -wall[0]], [y_a, -floor[1], -wall[1]], [INERTIA, -arms[0], -arms[1]]])
        found = np.linalg.solve(A, [load[0] + x * w * w, load[1] - G + y * w * w, load[2]])
        assert np.all(found[1:] > 0.0)
        return [w, found[0]]

    angle, w = solve_ivp(rates, (0.0, end), [0.0, 0.0], rtol=1e-11, atol=1e-13).y[:, -1]
    return np.array([-B * np.sin(angle) + H * np.cos(angle), B * np.cos(angle) - H * np.sin(angle), 1.0]) * w


@pytest.mark.parametrize(("load", "mu"), [((-0.8756, 18.5333, 3.24), 0.3), ((-4.6544, 5.4944, 1.7304), 0.6)])
def test_a_box_that_slides_up_like_a_ladder_slips_along_the_wall_at_once(load, mu):
    """Slip along the wall grows like the square of the angle; its direction, not its size, decides on friction."""
    motion = run(box(mu), load, 0.05)
    assert motion.v[-1] == pytest.approx(ladder(load, mu, 0.05), rel=1e-7)


# in space, by small motions: places, normals and tangents of contacts do not turn


def _row(normal, place):
    return np.concatenate([normal, np.cross(place, normal)])


def contacts_in_space(walls, turned):
    """Rows (normal, two tangents) of the corners of a box that touch floor and walls, in a turned frame."""
    sizes, found = np.array([0.2, 0.15, 0.1]), []
    for axis in (2, *range(walls)):
        for i in (-1.0, 1.0):
            for j in (-1.0, 1.0):
                place = np.insert([i, j], axis, -1.0) * sizes
                basis = [np.eye(3)[(axis + k) % 3] for k in range(3)]
                found.append([_row(turned @ n, turned @ place) for n in basis])
    return np.array(found)


def _along(rows, q, p, th):
    return jnp.asarray(rows) @ q


def in_space(walls, mu, turned, load):
    rows = contacts_in_space(walls, turned)
    wrench = np.concatenate([turned @ load[:3], turned @ load[3:]])
    names = [f"c{k}" for k in range(len(rows))]
    return rows, wrench, System(
        ("x", "y", "z", "a", "b", "c"), lambda q, p, th: -jnp.asarray(wrench) @ q,
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, 1.0, 0.02, 0.02, 0.02])),
        unilateral={name: partial(_along, each[0]) for name, each in zip(names, rows, strict=True)},
        contacts={
            name: Contact(friction=mu, slip=lambda q, v, th, own=each[1:]: _along(own, v, 0.0, th))
            for name, each in zip(names, rows, strict=True)
        },
    )  # fmt: skip


def holds(rows, wrench, mu, edges):
    """Whether forces in cones with so many edges, inside the round ones, hold a load."""
    angles = 2.0 * np.pi / edges * np.arange(edges)
    rays = np.concatenate([
        each[0] + mu * (np.cos(angles)[:, None] * each[1] + np.sin(angles)[:, None] * each[2]) for each in rows
    ])  # fmt: skip
    return linprog(np.ones(len(rays)), A_eq=rays.T, b_eq=-wrench).status == 0


@pytest.mark.parametrize(("walls", "seed"), [(1, 0), (2, 1), (1, 2)])
def test_a_box_in_a_rough_corner_in_space(walls, seed):
    """Held where a cone with 32 edges is enough, in any frame."""
    rng = np.random.default_rng(seed)
    turned, mu = Rotation.random(random_state=seed).as_matrix(), 0.4
    load = np.array([-12.0, -8.0 * (walls - 1), -9.0, *rng.normal(size=3) * 0.5])
    rows, wrench, system = in_space(walls, mu, turned, load)
    held = holds(rows, wrench, mu, 32)
    motion = simulate(system, np.zeros(6), np.zeros(6), (0.0, 0.05), method=EventDriven())
    assert motion.status is Status.finished
    assert (np.max(np.abs(motion.v[-1])) < 1e-9) == held
    forces = np.concatenate([motion.lam[-1][:, None], motion.tangential[-1].reshape(-1, 2)], axis=1)
    assert np.all(np.linalg.norm(forces[:, 1:], axis=1) <= mu * forces[:, 0] + 1e-9)
