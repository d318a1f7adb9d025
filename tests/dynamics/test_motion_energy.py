"""Energy and work: time stepping of second order, elastic impacts that keep energy, work of what is driven."""

from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest
from contact_models import G, ball, cradle

from onesided import Contact, EventDriven, Moreau, Projected, Status, System, simulate
from onesided.base.tolerances import DEFAULT
from onesided.dynamics.ledger import Books, ledger
from onesided.evaluation.motion_terms import Check


def pendulum():
    return System(
        ("x", "y"), lambda q, p, th: G * q[1], mass=lambda q, th: jnp.eye(2),
        bilateral={"rod": lambda q, p, th: (q @ q - 1.0) / 2.0},
    )  # fmt: skip


def bead():
    """On a wire y = cos x, which no midpoint rule keeps by itself."""
    return System(
        ("x", "y"), lambda q, p, th: -0.3 * G * q[1], mass=lambda q, th: jnp.eye(2),
        bilateral={"wire": lambda q, p, th: q[1] - jnp.cos(q[0])},
    )  # fmt: skip


def double_pendulum():
    """In angles: the mass depends on them, and forces on velocities."""

    def kinetic(q, v, th):
        return v[0] ** 2 + 0.5 * v[1] ** 2 + v[0] * v[1] * jnp.cos(q[0] - q[1])

    return System(("a", "b"), lambda q, p, th: -G * (2.0 * jnp.cos(q[0]) + jnp.cos(q[1])), kinetic=kinetic)


def damped():
    return System(
        ("x", "y"), lambda q, p, th: 2.0 * q @ q, mass=lambda q, th: jnp.eye(2),
        force=lambda t, q, v, p, th: jnp.array([-0.7 * v[0] + v[1], -v[0]]),
    )  # fmt: skip


def skate():
    """A knife edge on an inclined plane: a constraint on velocities."""
    return System(
        ("x", "y", "a"), lambda q, p, th: -0.5 * G * q[0], mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, 0.3])),
        nonholonomic={"edge": lambda q, v, th: v[0] * jnp.sin(q[2]) - v[1] * jnp.cos(q[2])},
    )  # fmt: skip


def bowl():
    """A bead that presses against the inside of a circle all the time."""
    return System(
        ("x", "y"), lambda q, p, th: G * q[1], mass=lambda q, th: jnp.eye(2),
        unilateral={"bowl": lambda q, p, th: 1.0 - jnp.sqrt(q @ q)},
    )  # fmt: skip


SMOOTH = {
    "pendulum": (pendulum, [1.0, 0.0], [0.0, 0.0]),
    "bead": (bead, [0.3, np.cos(0.3)], [1.0, -np.sin(0.3)]),
    "double pendulum": (double_pendulum, [1.0, 0.5], [0.0, 1.0]),
    "damped": (damped, [1.0, 0.0], [0.0, 1.0]),
    "skate": (skate, [0.0, 0.0, 0.2], [1.0, np.tan(0.2), 1.5]),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_moreau_is_of_second_order_where_nothing_happens(name):
    make, q, v = SMOOTH[name]
    system = make()
    exact = simulate(system, q, v, (0.0, 1.0), method=Projected(rtol=1e-11)).q[-1]
    motions = [simulate(system, q, v, (0.0, 1.0), method=Moreau(step=h)) for h in (8e-3, 4e-3, 2e-3)]
    errors = [np.abs(motion.q[-1] - exact).max() for motion in motions]
    assert np.log2(errors[0] / errors[1]) > 1.9
    assert np.log2(errors[1] / errors[2]) > 1.9
    assert all(len(motion.projection) == 0 or not np.any(motion.projection) for motion in motions)


@pytest.mark.parametrize("theta", [None, 0.5])
def test_pendulum_keeps_its_energy(theta):
    """Quadratic constraints, a linear potential: the middle of the step keeps both, for any step."""
    motion = simulate(pendulum(), [1.0, 0.0], [0.0, 0.0], (0.0, 4.0), method=Moreau(step=1e-2, theta=theta))
    assert np.ptp(motion.energy) < 1e-11
    assert np.abs(np.linalg.norm(motion.q, axis=1) - 1.0).max() < 1e-13


def test_pressing_along_a_curve_takes_energy_of_second_order_only():
    lost = []
    for h in (4e-3, 2e-3):
        motion = simulate(bowl(), [0.8, -0.6], [0.0, 0.0], (0.0, 2.0), method=Moreau(step=h))
        assert motion.lam[2:].min() > 0.0
        lost.append(np.abs(motion.energy - motion.energy[0]).max())
    assert lost[0] < 1e-3
    assert np.log2(lost[0] / lost[1]) > 1.8


@pytest.mark.parametrize("gap", [0.0, 1e-5, 1e-4, 5e-4, 1e-3])
def test_elastic_cradle_keeps_energy_and_momentum(gap):
    start = np.arange(5) * (1.0 + gap) - np.array([0.5, 0, 0, 0, 0])
    motion = simulate(cradle(), start, [1.0, 0, 0, 0, 0], (0.0, 1.0), method=Moreau(step=1e-3))
    assert np.sum(motion.v[-1] ** 2) == pytest.approx(1.0, abs=1e-10)
    assert np.sum(motion.v[-1]) == pytest.approx(1.0, abs=1e-10)
    if gap:  # one after the other, as with exact times
        assert motion.v[-1] == pytest.approx([0, 0, 0, 0, 1], abs=1e-9)


def _apart(i, q, p, th):
    return q[i + 1] - q[i]


def _height(x, q, p, th):
    return q[0] + x * jnp.sin(q[1])


@pytest.mark.parametrize("seed", range(6))
def test_elastic_balls_between_walls_keep_energy(seed):
    rng = np.random.default_rng(seed)
    masses, n = rng.uniform(0.2, 3.0, 4), 4
    gaps = {f"g{i}": partial(_apart, i) for i in range(n - 1)}
    gaps |= {"left": lambda q, p, th: q[0], "right": lambda q, p, th: 1.0 - q[3]}
    system = System(
        tuple(f"x{i}" for i in range(n)), lambda q, p, th: 0.0 * q[0], unilateral=gaps,
        mass=lambda q, th: jnp.diag(jnp.asarray(masses)), contacts={k: Contact(restitution=1.0) for k in gaps},
    )  # fmt: skip
    motion = simulate(
        system, np.sort(rng.uniform(0.1, 0.9, n)), rng.normal(size=n), (0.0, 2.0), method=Moreau(step=8e-3)
    )
    assert np.abs(motion.energy / motion.energy[0] - 1.0).max() < 1e-10
    assert len(motion.events) > 5


def test_elastic_ball_under_gravity_keeps_its_energy():
    motion = simulate(ball(e=1.0), [1.0], [0.0], (0.0, 5.0), method=Moreau(step=2e-3))
    assert len(motion.events) >= 5
    assert np.abs(motion.energy / motion.energy[0] - 1.0).max() < 1e-10


def test_pendulums_that_collide_keep_their_energy():
    """Two balls on rods, elastic, one let go: the impact goes through joints."""
    system = System(
        ("x1", "y1", "x2", "y2"), lambda q, p, th: G * (q[1] + q[3]), mass=lambda q, th: jnp.eye(4),
        bilateral={"a": lambda q, p, th: (q[0] ** 2 + q[1] ** 2 - 1) / 2,
                   "b": lambda q, p, th: ((q[2] - 0.2) ** 2 + q[3] ** 2 - 1) / 2},
        unilateral={"hit": lambda q, p, th: jnp.hypot(q[2] - q[0], q[3] - q[1]) - 0.2},
        contacts={"hit": Contact(restitution=1.0)},
    )  # fmt: skip
    motion = simulate(system, [-0.6, -0.8, 0.2, -1.0], np.zeros(4), (0.0, 1.2), method=Moreau(step=2e-3))
    assert len(motion.events) >= 1
    assert np.abs(motion.energy - motion.energy[0]).max() < 1e-4


# work of what is driven


def test_slider_that_pushes_a_mass_does_work():
    """A driven slider hits a mass at rest, e = 0: an impulse of 1 at speed 1, half of it lost."""
    system = System(
        ("slider", "x"), lambda q, p, th: 0.0 * q[0], mass=lambda q, th: jnp.eye(2),
        bilateral={"drive": lambda q, p, th: q[0] - p}, unilateral={"push": lambda q, p, th: q[1] - q[0]},
    )  # fmt: skip
    motion = simulate(system, [0.0, 0.5], [1.0, 0.0], (0.0, 1.0), control=lambda t: t, method=EventDriven())
    assert motion.work[-1] == pytest.approx(0.5, abs=1e-12)
    assert motion.energy[-1] == pytest.approx(1.0, abs=1e-12)


def test_ball_on_a_moving_table_is_not_called_inaccurate():
    table = System(
        ("z",), lambda q, p, th: G * q[0], mass=lambda q, th: jnp.eye(1),
        unilateral={"table": lambda q, p, th: q[0] - p}, contacts={"table": Contact(restitution=0.5)},
    )  # fmt: skip
    motion = simulate(table, [0.1], [0.0], (0.0, 2.0), method=EventDriven(), control=lambda t: 0.02 * jnp.sin(30.0 * t))
    assert motion.ok
    assert motion.drift.energy.max() < 1e-8
    assert len(motion.events) > 5


@pytest.mark.parametrize("shift", [0.0, 0.3, 0.7])
def test_a_drive_that_turns_at_once_gives_impulses(shift):
    """A slider driven to and fro: velocities follow within a step, and no energy is left over."""
    system = System(
        ("x", "y"),
        lambda q, p, th: 0.0 * q[0],
        mass=lambda q, th: jnp.eye(2),
        bilateral={"drive": lambda q, p, th: q[0] - p},
    )
    turn, h = 0.5 + shift * 1e-2, 1e-2
    motion = simulate(
        system, [turn, 0.0], [-1.0, 1.0], (0.0, 1.0), control=lambda t: jnp.abs(t - turn), method=Moreau(step=h)
    )
    late = motion.t > turn + 2 * h
    assert motion.v[late, 0] == pytest.approx(np.ones(np.sum(late)), abs=1e-9)
    assert motion.energy[late] == pytest.approx(np.ones(np.sum(late)), abs=1e-9)
    assert motion.work[-1] == pytest.approx(0.0, abs=1e-9)


# the ledger


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
def test_a_bar_at_rest_is_right(unit):
    places = (-0.5 * unit, 0.0, 0.5 * unit)
    bar = System(
        ("y", "a"), lambda q, p, th: G * unit * q[0], mass=lambda q, th: jnp.diag(jnp.array([1.0, unit**2 / 12])),
        unilateral={f"s{i}": partial(_height, x) for i, x in enumerate(places)},
    )  # fmt: skip
    motion = simulate(bar, [0.0, 0.0], [0.0, 0.0], (0.0, 0.1), method=Moreau(step=1e-3))
    assert motion.ok
    assert motion.lam[-1] == pytest.approx(np.full(3, G * unit / 3))


def _books(steps, lost):
    n = len(steps)
    energy = np.cumsum(steps)
    found = Check(energy + 1.0, np.ones(n), *(np.zeros((n, 1)) for _ in range(7)))
    return ledger(found, Books(np.zeros(n), np.cumsum(steps), np.cumsum(lost)), np.ones(1))


def test_work_of_projections_counts_unless_an_impact_lost_more():
    steps, none = np.array([0.0, 0.0, 0.01, 0.0]), np.zeros(4)
    assert _books(steps, none).faults(DEFAULT, smooth=False, lossy=False)
    assert not _books(steps, np.array([0.0, 0.0, 0.05, 0.0])).faults(DEFAULT, smooth=False, lossy=False)
    assert _books(steps, np.array([0.0, 0.05, 0.0, 0.0])).faults(DEFAULT, smooth=False, lossy=False)
    assert not _books(1e-4 * steps, none).faults(DEFAULT, smooth=False, lossy=False)


@pytest.mark.parametrize("height", [0.02, 0.3, 2.0])
@pytest.mark.parametrize("lever", [1.0, 5.0])
def test_what_putting_back_returns_was_lost_in_the_impact(height, lever):
    """Without restitution a fall ends where the floor is, however far a step went beyond it; also one by a lever."""
    fall = System(
        ("y", "w"), lambda q, p, th: G * (q[0] + 2.0 * q[1]), mass=lambda q, th: jnp.eye(2),
        bilateral={"lever": lambda q, p, th: q[1] - q[0] / lever}, unilateral={"floor": lambda q, p, th: q[0]},
    )  # fmt: skip
    motion = simulate(fall, [height, height / lever], [0.0, 0.0], (0.0, 1.5), method=Moreau(step=1e-2))
    assert motion.projection[-1] > 0.0
    assert motion.energy[-1] == pytest.approx(0.0, abs=1e-9)
    work = motion.energy[-1] - motion.energy[0] - motion.projection[-1]
    assert motion.work[-1] == pytest.approx(work, abs=1e-3 * motion.energy[0])


@pytest.mark.parametrize("beside", [False, True])
def test_a_bead_that_slides_in_a_ring_loses_nothing_in_impacts(beside):
    """Long steps lose its energy at the ring and return a part: that is told, also where a ball rattles beside it."""
    gaps = {"ring": lambda q, p, th: (1.0 - q[0] ** 2 - q[1] ** 2) / 2.0}
    walls = {"left": lambda q, p, th: q[2] + 0.02, "right": lambda q, p, th: 0.02 - q[2]}
    system = System(
        ("x", "y", "ball"), lambda q, p, th: G * q[1], mass=lambda q, th: jnp.eye(3),
        unilateral=gaps | walls if beside else gaps, contacts=dict.fromkeys(walls if beside else (), Contact(0.97)),
    )  # fmt: skip
    for h, status in ((1e-2, Status.finished), (4e-2, Status.inaccurate)):
        method = Moreau(step=h)
        motion = simulate(system, [1.0, 0.0, 0.0], [0.0, 0.0, 2.0], (0.0, 3.0), method=method, throw=False)
        assert motion.status is status
        lost = np.max(np.abs(motion.q[:, 1] * G + 0.5 * np.sum(motion.v[:, :2] ** 2, axis=1)))
        assert (lost > 1e-3 * 2.0 * G) == (status is Status.inaccurate)


def test_beyond_all_bounds_is_a_status():
    stiff = System(
        ("a", "b"), lambda q, p, th: 0.5e8 * (q[1] - q[0] - 1.0) ** 2 + G * (q[0] + q[1]),
        mass=lambda q, th: jnp.eye(2), unilateral={"floor": lambda q, p, th: q[0]},
    )  # fmt: skip
    motion = simulate(stiff, [1.0, 2.0], [0.0, 0.0], (0.0, 2.0), method=Moreau(step=1e-3), throw=False)
    assert motion.status in (Status.not_finite, Status.inaccurate)
