"""Plates on many feet that slide in different directions: one rule shares the weight, and it is told."""

from functools import cache, partial

import jax.numpy as jnp
import numpy as np
import pytest
from contact_models import G
from scipy.integrate import solve_ivp
from scipy.optimize import linprog

from onesided import Contact, EventDriven, Moreau, Status, System, simulate
from onesided.dynamics.contacts import moreau_check, rule_matters
from onesided.dynamics.contacts.least_share import least_share
from onesided.dynamics.contacts.sharing import Stuck, with_least_share

MU, H = 0.4, 0.1
INERTIA = np.array([0.02, 0.03, 0.05])
RECTANGLE = ((0.3, 0.2), (-0.3, 0.2), (-0.3, -0.2), (0.3, -0.2))
STEPS = Moreau(step=5e-4)


def _turned(foot, angle):
    return foot[0] * jnp.cos(angle) - foot[1] * jnp.sin(angle), foot[0] * jnp.sin(angle) + foot[1] * jnp.cos(angle)


def _gap(foot, q, p, th):
    x, y = _turned(foot, q[5])
    return q[2] + y * q[3] - x * q[4]


def _slip(foot, height, q, v, th):
    x, y = _turned(foot, q[5])
    return jnp.array([v[0] - height * v[4] - v[5] * y, v[1] + height * v[3] + v[5] * x])


def _push(grows, t, q, v, p, th):
    x, y = _turned((th.px, th.py), q[5])
    share = t if grows else 1.0
    return share * jnp.array([th.fx, th.fy, 0.0, 0.0, 0.0, th.torque + x * th.fy - y * th.fx])


@cache
def plate(feet, height=H, mu=MU, *, grows=False):
    """A plate of unit mass that turns by any angle about the vertical, and little about other axes."""
    names = [f"f{i}" for i in range(len(feet))]
    coefficients = mu if isinstance(mu, tuple) else (mu,) * len(feet)
    return System(
        ("x", "y", "z", "a", "b", "c"), lambda q, p, th: G * q[2],
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, 1.0, *INERTIA])),
        unilateral={name: partial(_gap, foot) for name, foot in zip(names, feet, strict=True)},
        contacts={
            name: Contact(friction=c, slip=partial(_slip, foot, height))
            for name, foot, c in zip(names, feet, coefficients, strict=True)
        },
        force=partial(_push, grows), parameters={"fx": 0.0, "fy": 0.0, "px": 0.0, "py": 0.0, "torque": 0.0},
    )  # fmt: skip


def run(system, method, end, v=(0.0, 0.0, 0.0), **push):
    start = np.array([v[0], v[1], 0.0, 0.0, 0.0, v[2]])
    motion = simulate(system.replace(parameters=push), np.zeros(6), start, (0.0, end), method=method)
    assert motion.status is Status.finished
    return motion


def on_springs(feet, end, force, point, stiffness=1e7, rounded=1e-6):
    """The same plate on equal stiff springs with friction that is rounded at rest, by another code's stiff method."""
    feet, M = np.array(feet), np.array([1.0, 1.0, 1.0, *INERTIA])

    def rates(t, state):
        q, v = state[:6], state[6:]
        c, s = np.cos(q[5]), np.sin(q[5])
        x, y = feet[:, 0] * c - feet[:, 1] * s, feet[:, 0] * s + feet[:, 1] * c
        gap, rate = q[2] + y * q[3] - x * q[4], v[2] + y * v[3] - x * v[4]
        N = np.maximum(0.0, -stiffness * gap - 0.6 * np.sqrt(stiffness) * rate)
        slip = np.stack([v[0] - H * v[4] - v[5] * y, v[1] + H * v[3] + v[5] * x])
        T = -MU * N * slip / np.sqrt(np.sum(slip**2, axis=0) + rounded**2)
        px, py = point[0] * c - point[1] * s, point[0] * s + point[1] * c
        moment = px * force[1] - py * force[0] + np.sum(x * T[1] - y * T[0])
        pushes = [force[0] + T[0].sum(), force[1] + T[1].sum(), N.sum() - G]
        pushes += [y @ N + H * T[1].sum(), -x @ N - H * T[0].sum(), moment]
        return np.concatenate([v, np.array(pushes) / M])

    start = np.zeros(12)
    start[2] = -G / stiffness / len(feet)
    return solve_ivp(rates, (0.0, end), start, method="Radau", rtol=1e-7, atol=1e-10).y[6:, -1]


@pytest.mark.parametrize("force", [(6.0, 1.0), (5.0, 2.0)])
def test_a_plate_pushed_beside_its_centre_goes_as_on_equal_stiff_springs(force):
    truth, push = on_springs(RECTANGLE, 0.5, force, (0.0, 0.1)), {"fx": force[0], "fy": force[1], "py": 0.1}
    for method, close in ((EventDriven(), 3e-6), (STEPS, 3e-5)):
        motion = run(plate(RECTANGLE), method, 0.5, **push)
        assert motion.v[-1] == pytest.approx(truth, abs=close * np.max(np.abs(truth)))
        assert set(motion.not_unique) == {"f0", "f1", "f2", "f3"}
        assert "the motion depends on how f0, f1, f2, f3 share their normal forces" in motion.note


def thrown(seed):
    """A plate with its centre above its feet, pushed anywhere, from rest or thrown."""
    rng, n = np.random.default_rng(seed), [3, 4, 5, 6, 8][seed % 5]
    while True:
        feet = rng.uniform(-1.0, 1.0, (n, 2)) * [0.3, 0.2]
        angles = np.sort(np.arctan2(feet[:, 1], feet[:, 0]))
        if np.max(np.diff([*angles, angles[0] + 2.0 * np.pi])) < 0.9 * np.pi:
            break
    force, point = rng.normal(size=2) * 5.0, rng.uniform(-0.2, 0.2, 2)
    v = rng.normal(size=3) * [0.5, 0.5, 4.0] if rng.random() < 0.5 else np.zeros(3)
    push = {"fx": force[0], "fy": force[1], "px": point[0], "py": point[1]}
    return plate(tuple(map(tuple, feet.tolist())), 0.03), v, push


def _both_agree(seed):
    system, v, push = thrown(seed)
    exact, steps = (run(system, method, 0.4, v, **push) for method in (EventDriven(), STEPS))
    assert steps.v[-1] == pytest.approx(exact.v[-1], abs=4e-3 * max(1.0, np.max(np.abs(exact.v))))
    for motion in (exact, steps):
        assert np.sum(motion.lam[-1]) == pytest.approx(G, rel=1e-6)
        assert np.max(np.abs(motion.q[:, 2:5])) < 1e-9
        if seed % 5 == 0:  # three feet: friction that sticks is a choice, the motion never is
            rests = np.max(np.abs(motion.v[-1])) < 1e-9
            assert rests or motion.not_unique == ()
            assert "the motion depends" not in motion.note


@pytest.mark.parametrize("seed", [0, 14])  # three feet; three of eight almost in line
def test_both_methods_agree(seed):
    _both_agree(seed)


def test_a_plate_on_sixteen_feet():
    """So many that the equations of a step are sparse."""
    feet = np.random.default_rng(16).uniform(-1.0, 1.0, (16, 2)) * [0.3, 0.2]
    system, push = plate(tuple(map(tuple, feet.tolist())), 0.03), {"fx": 5.0, "fy": 2.0, "py": 0.1}
    exact, steps = (run(system, method, 0.02, **push) for method in (EventDriven(), Moreau(step=1e-3)))
    assert steps.v[-1] == pytest.approx(exact.v[-1], abs=2e-5)


def _gap_of(k, foot, q, p, th):
    return _gap(foot, q[6 * k : 6 * k + 6], p, th)


def _slip_of(k, foot, q, v, th):
    return _slip(foot, H, q[6 * k : 6 * k + 6], v[6 * k : 6 * k + 6], th)


def plates(number, force, point):
    """Plates that have nothing to do with each other, all pushed alike."""
    feet = {f"p{k} f{i}": (k, foot) for k in range(number) for i, foot in enumerate(RECTANGLE)}

    def push(t, q, v, p, th):
        each = []
        for k in range(number):
            x, y = _turned(point, q[6 * k + 5])
            each.append(jnp.array([*force, 0.0, 0.0, 0.0, x * force[1] - y * force[0]]))
        return jnp.concatenate(each)

    return System(
        tuple(f"{name}{k}" for k in range(number) for name in "xyzabc"),
        lambda q, p, th: G * jnp.sum(q[2::6]), force=push,
        mass=lambda q, th: jnp.diag(jnp.tile(jnp.array([1.0, 1.0, 1.0, *INERTIA]), number)),
        unilateral={name: partial(_gap_of, *own) for name, own in feet.items()},
        contacts={name: Contact(friction=MU, slip=partial(_slip_of, *own)) for name, own in feet.items()},
    )  # fmt: skip


def test_plates_beside_each_other_share_their_weights_each_by_itself():
    """More contacts at a time than are shared among bodies that touch each other."""
    number, method = 8, Moreau(step=4e-3)
    alone = run(plate(RECTANGLE), method, 0.06, fx=6.0, fy=1.0, py=0.1)
    motion = simulate(plates(number, (6.0, 1.0), (0.0, 0.1)), np.zeros(6 * number), np.zeros(6 * number), (0.0, 0.06),
                      method=method)  # fmt: skip
    assert motion.v[-1].reshape(number, 6) == pytest.approx(np.tile(alone.v[-1], (number, 1)), abs=1e-8)
    assert len(motion.not_unique) == 4 * number
    assert "the motion depends" in motion.note


def _step_between(x, y, side, i, q):
    """Height and velocities (q = v) of a point of plate i, at its top or bottom, by small turns; the floor is −1."""
    if i < 0:
        return jnp.zeros(3)
    w, h = q[6 * i : 6 * i + 6], 0.5 * H * side
    return jnp.array([w[2] + y * w[3] - x * w[4], w[0] + h * w[4] - w[5] * y, w[1] - h * w[3] + w[5] * x])


@cache
def stack(number):
    """Plates on each other, on equal feet; the uppermost is pushed and turned."""

    def between(j, foot, q):
        return _step_between(*foot, -1.0, j, q) - _step_between(*foot, 1.0, j - 1, q)

    own = {f"p{j} f{i}": (j, foot) for j in range(number) for i, foot in enumerate(RECTANGLE)}
    push = np.concatenate([np.zeros(6 * number - 6), [6.0, 1.0, 0.0, 0.0, 0.0, -0.6]])
    return System(
        tuple(f"{name}{k}" for k in range(number) for name in "xyzabc"), lambda q, p, th: G * jnp.sum(q[2::6]),
        mass=lambda q, th: jnp.diag(jnp.tile(jnp.array([1.0, 1.0, 1.0, *INERTIA]), number)),
        unilateral={name: lambda q, p, th, a=a: between(*a, q)[0] for name, a in own.items()},
        contacts={name: Contact(friction=MU, slip=lambda q, v, th, a=a: between(*a, v)[1:]) for name, a in own.items()},
        force=lambda t, q, v, p, th: jnp.asarray(push),
    )  # fmt: skip


@pytest.mark.parametrize("method", [EventDriven(), Moreau(step=1e-3)], ids=["events", "steps"])
def test_the_uppermost_of_a_stack_goes_as_on_the_floor(method):
    """48 rows of bodies that touch each other; what lies on what falls as well is not hit."""
    alone, high = (
        simulate(stack(number), np.zeros(6 * number), np.zeros(6 * number), (0.0, 0.01), method=method)
        for number in (1, 4)
    )
    assert alone.status is high.status is Status.finished
    assert high.v[-1, -6:] == pytest.approx(alone.v[-1], abs=1e-9)
    assert np.max(np.abs(high.v[-1, :-6])) < 1e-9
    assert [high.lam[-1][4 * k : 4 * k + 4].sum() for k in range(4)] == pytest.approx(G * np.arange(4, 0, -1), rel=1e-6)


@pytest.mark.parametrize("method", [EventDriven(), Moreau(step=2e-3)], ids=["events", "steps"])
def test_what_is_not_looked_for_is_told(method, monkeypatch):
    monkeypatch.setattr(rule_matters, "SMALL_ENOUGH", 5)
    monkeypatch.setattr(moreau_check, "SMALL_ENOUGH", 5)
    assert "not looked for" in run(plate(RECTANGLE), method, 0.01, fx=6.0, fy=1.0, py=0.1).note


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_both_methods_agree_on_many_plates(seed):
    _both_agree(seed)


@pytest.mark.parametrize("method", [EventDriven(), Moreau(step=2e-3)], ids=["events", "steps"])
def test_the_order_of_feet_the_directions_of_axes_and_mirrors_do_not_matter(method):
    push = {"fx": 5.0, "fy": 2.0, "py": 0.1}
    plain = run(plate(RECTANGLE), method, 0.1, **push).v[-1][[0, 1, 5]]
    others = run(plate(tuple(RECTANGLE[i] for i in (2, 0, 3, 1))), method, 0.1, **push).v[-1][[0, 1, 5]]
    mirrored = run(plate(tuple((x, -y) for x, y in RECTANGLE)), method, 0.1, fx=5.0, fy=-2.0, py=-0.1).v[-1][[0, 1, 5]]
    assert others == pytest.approx(plain, abs=1e-6)
    assert mirrored * [1.0, -1.0, -1.0] == pytest.approx(plain, abs=1e-6)


@pytest.mark.parametrize("method", [EventDriven(), STEPS], ids=["events", "steps"])
def test_a_plate_that_spins_about_its_centre(method):
    """All four feet carry the same and slow it down by μ g r."""
    motion = run(plate(RECTANGLE), method, 0.1, (0.0, 0.0, 5.0))
    assert motion.v[-1] == pytest.approx(
        [0, 0, 0, 0, 0, 5.0 - 0.1 * MU * G * np.hypot(0.3, 0.2) / INERTIA[2]], abs=1e-6
    )


CROSS = ((0.3, 0.0), (0.0, 0.1), (-0.3, 0.0), (0.0, -0.1))


def test_sticking_ends_when_all_feet_must_slip():
    """A torque about the centre of a cross: shared by distance, friction of the outer feet would be largest."""
    limit = MU * G / 4.0 * (0.3 + 0.1 + 0.3 + 0.1)
    exact, steps = (
        run(plate(CROSS, grows=True), method, 1.0, torque=1.25 * limit) for method in (EventDriven(), Moreau(step=2e-3))
    )
    assert [event.kind.name for event in exact.events] == ["slips"] * 4
    assert [event.t for event in exact.events] == pytest.approx(np.full(4, 0.8), abs=1e-7)
    for motion, close in ((exact, 1e-6), (steps, 1e-2)):
        spin = 1.25 * limit * 0.5 * 0.2**2 / INERTIA[2]
        assert motion.v[-1, 5] == pytest.approx(spin, rel=close)
        assert np.max(np.abs(motion.v[motion.t < 0.797])) < 1e-9


def test_the_smallest_share_of_limits_is_that_of_a_linear_programme():
    """Cones with 360 edges, whose radius is off by 4e-5."""
    angles = 2.0 * np.pi / 360 * np.arange(360)
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n = 3 + seed % 5
        feet, bears = rng.uniform(-1.0, 1.0, (n, 2)), rng.uniform(0.2, 1.0, n)
        A = np.vstack([[[1.0, 0.0, -y], [0.0, 1.0, x]] for x, y in feet])
        force = np.array([-0.01 * feet[0, 1], 0.01 * feet[0, 0], 1.0]) if seed % 2 else rng.normal(size=3)
        some = np.linalg.lstsq(A.T, force, rcond=None)[0]
        stuck = [Stuck([2 * i, 2 * i + 1], float(c)) for i, c in enumerate(bears)]
        found = with_least_share(some, A, np.arange(2 * n), stuck)
        assert A.T @ found == pytest.approx(force, abs=1e-12)
        share = np.max(np.linalg.norm(found.reshape(n, 2), axis=1) / bears)
        rows = [np.hstack([ways @ A[2 * i : 2 * i + 2], -np.ones((360, 1)) * np.eye(n)[i]]) for i in range(n)]
        rows += [np.concatenate([np.zeros(3), bears])[None]]
        least = -linprog(
            np.concatenate([-force, np.zeros(n)]), np.vstack(rows), [*np.zeros(360 * n), 1.0], bounds=(None, None)
        ).fun
        assert share == pytest.approx(least, rel=1e-4)


@pytest.mark.parametrize("seed", range(12))
def test_the_smallest_share_in_the_plane_is_exact_and_smooth(seed):
    """Limits over three powers of ten, by a linear programme; noise would look like ends of sticking."""
    rng = np.random.default_rng(seed)
    n, k = 4 + seed % 5, 2 + seed % 2
    A, bears, g = rng.normal(size=(n, k)), 10.0 ** rng.uniform(-2.0, 1.0, n), rng.normal(size=k)
    U = np.linalg.svd(A, full_matrices=False)[0]
    found, again = (least_share(U, g * c, np.ones(n, dtype=int), bears) for c in (1.0, 1.0 + 1e-13))
    cones = [np.column_stack([sign * np.eye(n), -bears]) for sign in (1.0, -1.0)]
    least = linprog(
        np.eye(n + 1)[n], np.vstack(cones), np.zeros(2 * n), np.column_stack([U.T, np.zeros(k)]), g, bounds=(None, None)
    ).fun
    assert U.T @ found == pytest.approx(g, abs=1e-13)
    assert np.max(np.abs(found) / bears) == pytest.approx(least, rel=1e-7)
    assert np.max(np.abs(again - found)) < 1e-11 * np.max(np.abs(found))


PLACES, ROUGH = np.array([-0.5, 0.1, 0.5]), np.array([0.2, 0.5, 0.3])


@pytest.mark.parametrize("method", [EventDriven(), Moreau(step=1e-3)], ids=["events", "steps"])
def test_a_bar_that_slides_on_three_supports_of_different_roughness(method):
    """In the plane: forces are linear along the bar, Σ N = g, Σ x N = −h Σ μ N."""
    h = 0.2

    def support(x):
        return lambda q, p, th: q[1] + x * jnp.sin(q[2])

    bar = System(
        ("x", "y", "a"), lambda q, p, th: G * q[1], mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, 0.1])),
        unilateral={f"s{i}": support(x) for i, x in enumerate(PLACES)},
        contacts={f"s{i}": Contact(friction=c, slip=lambda q, v, th: v[0] + h * v[2]) for i, c in enumerate(ROUGH)},
    )  # fmt: skip
    shape = np.stack([np.ones(3), PLACES], axis=1)
    N = shape @ np.linalg.solve(np.stack([np.ones(3), PLACES - h * ROUGH]) @ shape, [G, 0.0])
    motion = simulate(bar, np.zeros(3), [3.0, 0.0, 0.0], (0.0, 0.2), method=method)
    assert motion.lam[-1] == pytest.approx(N, rel=1e-6)
    assert motion.v[-1] == pytest.approx([3.0 - 0.2 * ROUGH @ N, 0.0, 0.0], abs=1e-7)
    assert "the motion depends on how s0, s1, s2" in motion.note
