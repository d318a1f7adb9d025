"""Moving constraints, forces, friction in joints, events, starts, singular positions, results on disk."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from motion_models import G, four_bars, four_bars_start, on_circle, pendulum, swing

from onesided import (
    Baumgarte,
    Compliances,
    GeneralizedAlpha,
    Index3,
    Motion,
    Occurrence,
    Projected,
    Radau,
    SolveError,
    Status,
    System,
    iter_simulate,
    load_result,
    save,
    simulate,
)
from onesided.groups import SO3, Product, Vector, rotate

METHODS = [Projected(rtol=1e-10), Radau(rtol=1e-8), GeneralizedAlpha(step=0.001)]
NAMES = ["projected", "Radau", "alpha"]
LIMITS = dict(zip(NAMES, (1e-8, 1e-6, 1e-4), strict=True))


def disk_mass(q, th):
    return jnp.diag(jnp.array([1.0, 1.0]))


@pytest.mark.parametrize(("name", "method"), list(zip(NAMES, METHODS, strict=True)))
def test_rheonomic_constraint(name, method):
    """A bead carried round by a turning arm, free to slide along it: r = cosh ωt, and the arm pushes 2 m ω ṙ."""
    w = 2.0
    bead = System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: 0.0 * q[0],
        bilateral={"arm": lambda q, p, th: -q[0] * jnp.sin(p) + q[1] * jnp.cos(p)},
        mass=disk_mass,
    )
    motion = simulate(bead, [1.0, 0.0], [0.0, w], (0.0, 1.0), control=lambda t: w * t, method=method)
    t, r = motion.t, np.cosh(w * motion.t)
    limit = LIMITS[name]
    assert motion.q == pytest.approx(r[:, None] * np.column_stack([np.cos(w * t), np.sin(w * t)]), abs=10 * limit)
    # the gradient of the constraint has length one: its multiplier is the push itself
    assert motion.mu[:, 0] == pytest.approx(2 * w * w * np.sinh(w * t), abs=100 * limit)
    # the work of the arm is what the bead gains, ½(ṙ² + r²ω²) − ½ω²
    gained = 0.5 * ((w * np.sinh(w * t)) ** 2 + (w * r) ** 2 - w**2)
    assert motion.work == pytest.approx(gained, abs=100 * limit)
    assert motion.p == pytest.approx(w * t)


@pytest.mark.parametrize(("name", "method"), list(zip(NAMES, METHODS, strict=True)))
def test_springs_dampers_and_forces_of_time(name, method):
    """A driven, damped oscillator: the closed form of ẍ + 2ζω ẋ + ω² x = cos 3t, from rest."""
    w, z, drive = 4.0, 0.1, 3.0
    system = System(
        coordinates=("x",),
        energy=lambda q, p, th: 0.5 * w**2 * q[0] ** 2,
        force=lambda t, q, v, p, th: jnp.cos(drive * t) - 2 * z * w * v,
        mass=lambda q, th: jnp.eye(1),
    )
    motion = simulate(system, [0.0], [0.0], (0.0, 2.0), method=method)
    steady = 1.0 / (w**2 - drive**2 + 2j * z * w * drive)
    roots = w * (-z + 1j * np.sqrt(1 - z**2))
    free = np.linalg.solve([[1.0, 1.0], [roots, np.conj(roots)]], [-steady.real, -(1j * drive * steady).real])
    t = motion.t
    exact = (steady * np.exp(1j * drive * t)).real + (
        free[0] * np.exp(roots * t) + free[1] * np.exp(np.conj(roots) * t)
    ).real
    assert motion.q[:, 0] == pytest.approx(exact, abs=LIMITS[name])
    assert motion.work == pytest.approx(motion.energy - motion.energy[0], abs=10 * LIMITS[name])


def guided(friction, joints=("guide",)):
    """A block on a straight guide pressed by p: friction μ |N| sign(v) with a smooth sign."""
    return System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: p * q[1],
        bilateral={name: lambda q, p, th: q[1] for name in joints},
        friction=friction,
        parameters={"f": 0.3},
        mass=disk_mass,
    )


def slide(q, v, mu, th):
    return jnp.array([-th.f * jnp.abs(jnp.sum(mu)) * jnp.tanh(1000.0 * v[0]), 0.0])


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_friction_that_depends_on_the_joint_force(method):
    """Constant normal force p: uniform deceleration f p."""
    motion = simulate(guided(slide), [0.0, 0.0], [2.0, 0.0], (0.0, 0.5), control=4.0, method=method)
    t = motion.t
    assert motion.q[:, 0] == pytest.approx(2.0 * t - 0.5 * 0.3 * 4.0 * t**2, abs=1e-9)
    assert motion.mu[:, 0] == pytest.approx(4.0, abs=1e-10)
    assert motion.work == pytest.approx(-0.3 * 4.0 * motion.q[:, 0], abs=1e-9)


def test_friction_couples_back_into_the_joint_force():
    """Friction with a part across the guide: N = p + f N, found by iteration."""

    def lifting(q, v, mu, th):
        return jnp.array([0.0, -th.f * mu[0]])

    motion = simulate(guided(lifting), [0.0, 0.0], [1.0, 0.0], (0.0, 0.1), control=4.0)
    assert motion.mu[:, 0] == pytest.approx(4.0 / 0.7, rel=1e-12)


def test_friction_with_redundant_joints_follows_the_rule():
    """Two equal guides of which only the first is rough: its share of the force decides the friction."""

    def first(q, v, mu, th):
        return jnp.array([-th.f * jnp.abs(mu[0]) * jnp.tanh(1000.0 * v[0]), 0.0])

    system = guided(first, joints=("rough", "smooth"))
    even = simulate(system, [0.0, 0.0], [2.0, 0.0], (0.0, 0.5), control=4.0)
    assert even.a[0, 0] == pytest.approx(-0.3 * 2.0)
    stiff = Compliances({"rough": 1.0, "smooth": 3.0})  # the stiffer one carries three quarters
    uneven = simulate(system, [0.0, 0.0], [2.0, 0.0], (0.0, 0.5), control=4.0, multipliers=stiff)
    assert uneven.a[0, 0] == pytest.approx(-0.3 * 3.0)
    assert uneven.not_unique == ("rough", "smooth")


def test_jamming_is_reported():
    def jamming(q, v, mu, th):
        return jnp.array([0.0, -3.0 * mu[0]])

    with pytest.raises(Exception, match="friction and joint forces"):
        simulate(guided(jamming), [0.0, 0.0], [1.0, 0.0], (0.0, 0.1), control=4.0)


def test_events_are_located_and_can_stop():
    q0, v0 = on_circle(np.pi / 3, 0.0)
    lowest = {"lowest": lambda t, q, v: q[0]}
    motion = simulate(pendulum(), q0, v0, (0.0, 5.0), events=lowest, method=Projected(rtol=1e-11))
    from scipy.special import ellipk

    quarter = ellipk(np.sin(np.pi / 6) ** 2) / np.sqrt(G)
    exact = quarter * np.arange(1, 2 * len(motion.events), 2)
    assert [event.t for event in motion.events] == pytest.approx(exact, abs=1e-9)
    assert all(event.kind is Occurrence.user for event in motion.events)
    stopped = simulate(pendulum(), q0, v0, (0.0, 5.0), events=lowest, stop=("lowest",), method=Projected(rtol=1e-11))
    assert stopped.status is Status.stopped
    assert stopped.t[-1] == pytest.approx(quarter, abs=1e-10)
    assert stopped.q[-1] == pytest.approx([0.0, -1.0], abs=1e-10)


def test_a_gap_that_closes_ends_the_motion():
    system = pendulum(unilateral={"wall": lambda q, p, th: q[0]})
    q0, v0 = on_circle(np.pi / 3, 0.0)
    with pytest.raises(SolveError) as caught:
        simulate(system, q0, v0, (0.0, 5.0), method=Projected())
    motion = caught.value.partial
    assert motion.status is Status.contact
    assert motion.q[-1, 0] == pytest.approx(0.0, abs=1e-9)
    assert "wall" in motion.note


def test_inconsistent_starts_are_projected_and_reported():
    motion = simulate(pendulum(), [1.1, 0.0], [0.5, 1.0], (0.0, 0.1))
    assert motion.q[0] == pytest.approx([1.0, 0.0], abs=1e-12)
    assert motion.v[0] == pytest.approx([0.0, 1.0], abs=1e-12)
    assert motion.start.position == pytest.approx(0.1)
    assert motion.start.velocity == pytest.approx(0.5)
    assert "moved by up to 0.1" in motion.note
    clean = simulate(pendulum(), [1.0, 0.0], [0.0, 1.0], (0.0, 0.1))
    assert (clean.start.position, clean.start.velocity, clean.note) == (0.0, 0.0, "")


def test_energy_and_drift_are_in_the_result():
    motion = simulate(four_bars(1), *four_bars_start(1, -1.0, 3.0), (0.0, 2.0))
    assert np.ptp(motion.energy) < 1e-5
    assert motion.drift.worst < 1e-10
    assert motion.drift.energy.max() < 1e-7


def test_iterator_twin_gives_the_same_states():
    q0, v0 = on_circle(1.0, 0.0)
    motion = simulate(pendulum(), q0, v0, (0.0, 1.0))
    states = list(iter_simulate(pendulum(), q0, v0, (0.0, 1.0)))
    assert [state.t for state in states] == pytest.approx(motion.t)
    assert states[-1].q == pytest.approx(motion.q[-1])


def test_saved_and_loaded(tmp_path):
    q0, v0 = on_circle(1.0, 0.0)
    motion = simulate(pendulum(), q0, v0, (0.0, 1.0), events={"lowest": lambda t, q, v: q[0]})
    back = load_result(save(motion, tmp_path / "m"))
    assert isinstance(back, Motion)
    for name in ("t", "q", "v", "a", "mu", "energy", "work"):
        assert np.array_equal(getattr(back, name), getattr(motion, name))
    assert back.status is motion.status
    assert back.events[0].words() == motion.events[0].words()
    assert back.at(0.3)[0] == pytest.approx(motion.at(0.3)[0])
    assert (tmp_path / "m" / "motion.csv").read_text().startswith("t,x,y,velocity x")


@cache
def slider_crank(r, l):  # noqa: E741
    """Massless rods, a mass at the crank pin and one at the slider."""
    return System(
        coordinates=("u", "v", "x"),
        energy=lambda q, p, th: 0.0 * q[0],
        bilateral={
            "crank": lambda q, p, th: 0.5 * (q[0] ** 2 + q[1] ** 2 - r**2),
            "rod": lambda q, p, th: 0.5 * ((q[2] - q[0]) ** 2 + q[1] ** 2 - l**2),
        },
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, 0.5])),
    )


def test_slider_crank_through_its_aligned_positions():
    """r < l: regular everywhere. Energy ½(1 + ½ (dx/dφ)²/r²) v² is constant, so t = ∫ … dφ in closed form."""
    from scipy.integrate import quad

    r, l, speed = 1.0, 2.0, 3.0  # noqa: E741
    motion = simulate(slider_crank(r, l), [0.0, r, np.sqrt(l**2 - r**2)], [-speed, 0.0, -speed], (0.0, 4.0))
    turned = np.unwrap(np.arctan2(motion.q[:, 1], motion.q[:, 0]))

    def slowness(phi):
        slope = -r * np.sin(phi) - r**2 * np.sin(phi) * np.cos(phi) / np.sqrt(l**2 - (r * np.sin(phi)) ** 2)
        return np.sqrt((r**2 + 0.5 * slope**2) / (speed**2 * 1.5))

    assert turned[-1] > np.pi / 2 + 2 * np.pi
    assert quad(slowness, np.pi / 2, turned[-1], epsabs=1e-10, limit=400)[0] == pytest.approx(4.0, abs=1e-6)


def test_slider_crank_with_equal_lengths_passes_or_names_the_singular_position():
    """r = l: at φ = π/2 the slider is over the pivot and may stay: passed on x = 2r cos φ, or stopped by name."""
    start = np.array([np.cos(1.0), np.sin(1.0), 2 * np.cos(1.0)])
    speed = np.array([-np.sin(1.0), np.cos(1.0), -2 * np.sin(1.0)])
    motion = simulate(slider_crank(1.0, 1.0), start, speed, (0.0, 1.5), throw=False)
    if motion.ok:
        assert motion.q[:, 2] == pytest.approx(2 * motion.q[:, 0], abs=1e-6)
        assert motion.q[-1, 0] < 0
    else:
        assert motion.status is Status.singular_configuration
        assert "rod" in motion.note or "crank" in motion.note
    assert motion.q[:, 2] == pytest.approx(2 * motion.q[:, 0], abs=1e-5)


def test_pendulum_angle_by_swing_is_its_own_check():
    angle, rate = swing(0.7, 1.0)
    step = 1e-6
    assert (swing(0.7 + step, 1.0)[0] - swing(0.7 - step, 1.0)[0]) / (2 * step) == pytest.approx(rate, abs=1e-8)
    assert 0.5 * rate**2 - G * np.cos(angle) == pytest.approx(-G * np.cos(1.0))


def test_ball_rolling_down_a_slope():
    """Rolling without slip on SO(3): a solid ball goes down with 5/7 of g sin β, whatever its spin about the normal."""
    r, J, gs = 0.2, 0.4 * 3.0 * 0.2**2, 2.0

    def slip(axis):
        def f(q, v, th):
            w = rotate(q[2:], v[2:])  # angular velocity seen from outside
            return v[0] - r * w[1] if axis == 0 else v[1] + r * w[0]

        return f

    ball = System(
        coordinates=("x", "y", "a", "b", "c"),
        energy=lambda q, p, th: -3.0 * gs * q[0],
        mass=lambda q, th: jnp.diag(jnp.array([3.0, 3.0, J, J, J])),
        nonholonomic={"along": slip(0), "across": slip(1)},
        space=Product(Vector(2), SO3()),
    )
    motion = simulate(ball, [0.0, 0.0, 0.3, -0.2, 0.5], [0.0, 0.0, 0.0, 0.0, 4.0], (0.0, 2.0))
    # the spin given in the axes of the body tilts the ball's axis: it starts to roll sideways at once, uniformly
    start = motion.v[0]
    t = motion.t
    assert motion.q[:, 0] == pytest.approx(start[0] * t + 5 / 14 * gs * t**2, abs=1e-7)
    assert motion.q[:, 1] == pytest.approx(start[1] * t, abs=1e-7)
    assert motion.mu[:, 0] == pytest.approx(-2 / 7 * 3.0 * gs, abs=1e-6)  # friction holds back 2/7 of the weight's part
    assert np.max(motion.drift.velocity) < 1e-10


@pytest.mark.parametrize(
    ("method", "kept"),
    [
        (Projected(rtol=1e-6), ("position", "velocity", "acceleration")),
        (Radau(rtol=1e-5), ("position", "velocity", "acceleration")),
        (GeneralizedAlpha(rtol=1e-2), ("position", "velocity", "acceleration")),
        (GeneralizedAlpha(rtol=1e-2, form=Index3()), ("position",)),
        (Baumgarte(rtol=1e-6), ()),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, tuple) else "",
)
def test_hidden_constraints_are_kept_or_known_to_drift(method, kept):
    """What a method promises is met to round-off even where its steps are coarse; the rest only to their accuracy."""
    motion = simulate(pendulum(), *on_circle(np.pi / 3, 0.0), (0.0, 3.0), method=method, throw=False)
    assert motion.t[-1] == 3.0
    for level in ("position", "velocity", "acceleration"):
        worst = np.max(getattr(motion.drift, level))
        assert worst < (1e-9 if level in kept else 1e-2)
        assert level in kept or level in method.drifts
