"""Linear complementarity systems and slackness systems in general: closed forms, degenerate starts, second routes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from onesided.base.errors import UsageError
from onesided.base.types import Status
from onesided.complementarity import Enumeration, Lemke, solve
from onesided.complementarity_systems import (
    Harmonic,
    LinearComplementaritySystem,
    LocatedSwitches,
    RungeKutta,
    Signal,
    SlacknessSystem,
    TimeStepping,
    simulate,
)
from onesided.results import load_result, save


def bilinear(k_cable=8.0, k_spring=1.0, push=0.0):
    """Unit mass on a spring, and a cable that pulls back when x > 0."""
    return LinearComplementaritySystem(
        [[0, 1], [-k_spring, 0]], [[0.0], [-1.0]], [[-1.0, 0.0]], [[1 / k_cable]], [0.0, push]
    )


def test_period_of_the_bilinear_oscillator():
    """Half a period on both springs, half on one: T = π/√9 + π/1; hundred periods come back to the start."""
    period = math.pi / 3 + math.pi
    motion = simulate(bilinear(), LocatedSwitches(), (0.0, 1.0), times=period * np.arange(101))
    assert motion.x == pytest.approx(np.tile([0.0, 1.0], (101, 1)), abs=2e-12)
    assert len(motion.switches) == pytest.approx(200, abs=1)
    assert motion.peak_s[0] == pytest.approx(8.0 / 3.0, rel=1e-13)
    assert motion.peak_w[0] == pytest.approx(1.0, rel=1e-13)


@pytest.mark.parametrize(("v", "taut"), [(1.0, 1.0), (-1.0, 0.0)])
def test_start_at_the_kink(v, taut):
    motion = simulate(bilinear(), LocatedSwitches(), (0.0, v), times=(0.0, 0.5))
    assert motion.first_taut[0] == taut
    omega = 3.0 if taut else 1.0
    assert motion.x[-1, 0] == pytest.approx(v * math.sin(0.5 * omega) / omega, abs=1e-15)


@pytest.mark.parametrize("push", [0.5, -0.5])
def test_tangential_start(push):
    """At rest at the kink: the acceleration decides."""
    motion = simulate(bilinear(push=push), LocatedSwitches(), (0.0, 0.0), times=(0.0, 0.5))
    omega2 = 9.0 if push > 0 else 1.0
    assert motion.first_taut[0] == (1.0 if push > 0 else 0.0)
    assert motion.x[-1, 0] == pytest.approx(push / omega2 * (1 - math.cos(math.sqrt(omega2) * 0.5)), abs=1e-15)
    assert motion.switches == ()


def test_nothing_moves_for_ever():
    motion = simulate(bilinear(), LocatedSwitches(), (0.0, 0.0), times=(0.0, 10.0))
    assert motion.switches == ()
    assert not motion.x.any()


def test_a_graze_is_no_switch_and_a_near_miss_is_seen():
    """x = −1 + push (1 − cos t): touches zero from below at t = π for push = ½; passes it for a little more."""
    touch = simulate(bilinear(push=-0.5), LocatedSwitches(), (-1.0, 0.0), times=(0.0, 2 * math.pi))
    assert touch.x[-1] == pytest.approx([-1.0, 0.0], abs=1e-7)
    over = simulate(bilinear(push=-0.5), LocatedSwitches(), (-1.0 - 1e-9, 0.0), times=(0.0, 2 * math.pi))
    assert [s.taut for s in over.switches] == [True, False]
    assert over.switches[1].t - over.switches[0].t == pytest.approx(2 * math.sqrt(2e-9 / 0.5), rel=1e-3)
    under = simulate(bilinear(push=-0.5), LocatedSwitches(), (-1.0 + 1e-9, 0.0), times=(0.0, 2 * math.pi))
    assert under.switches == ()


def test_a_short_dip_between_the_steps_of_a_nonlinear_system_is_seen():
    """The same, stated as a slackness system: taut for a ten-thousandth of a second, within one large step."""
    system = SlacknessSystem.mechanical(
        g=lambda q, v: q + 0.5, H=lambda q, v: np.array([[-1.0]]), h=lambda q: 8 * q, P=lambda t: [0.0],
        coordinates=["x"], names=["cable"],
    )  # fmt: skip
    times = (0.0, 2 * math.pi)
    over = simulate(system, LocatedSwitches(), (-1.0 - 1e-9, 0.0), times=times)
    assert [s.taut for s in over.switches] == [True, False]
    assert over.switches[1].t - over.switches[0].t == pytest.approx(2 * math.sqrt(2e-9 / 0.5), rel=1e-3)
    assert simulate(system, LocatedSwitches(), (-1.0 + 1e-9, 0.0), times=times).switches == ()


def test_harmonic_input_and_offset_are_exact():
    """A cable whose far end moves by 0.3 cos t, always taut: ẍ = −4x + 2 − 5k + 0.2 sin 1.3t − 0.3k cos t."""
    k = 3.0
    system = LinearComplementaritySystem(
        [[0, 1], [-1, 0]], [[0.0], [-1.0]], [[-1.0, 0.0]], [[1 / k]],
        Signal([0.0, 2.0], (Harmonic(1.3, sine=[0.0, 0.2]),)), Signal([-5.0], (Harmonic(1.0, cosine=[-0.3]),)),
    )  # fmt: skip
    motion = simulate(system, LocatedSwitches(), (-3.0, 0.2), times=np.linspace(0.0, 20.0, 41))
    t = motion.t
    steady = (2.0 - 5.0 * k) / 4, 0.2 / (4 - 1.69), -0.3 * k / (4 - 1)
    x = steady[0] + steady[1] * np.sin(1.3 * t) + steady[2] * np.cos(t)
    a, b = -3.0 - steady[0] - steady[2], (0.2 - 1.3 * steady[1]) / 2
    x += a * np.cos(2 * t) + b * np.sin(2 * t)
    assert motion.switches == ()
    assert motion.x[:, 0] == pytest.approx(x, abs=1e-11)


matrices = st.integers(0, 2**32 - 1)


def random_system(seed, n=4, m=3):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    A -= (np.linalg.eigvals(A).real.max() + 0.2) * np.eye(n)
    L = rng.normal(size=(m, m))
    skew = rng.normal(size=(m, m))
    D = L @ L.T / m + 0.5 * np.eye(m) + (skew - skew.T) / 2  # a P-matrix that is not symmetric
    drive = Signal(rng.normal(size=n), (Harmonic(1.7, sine=3 * rng.normal(size=n)),))
    B, C = 0.5 * rng.normal(size=(n, m)), rng.normal(size=(m, n))
    return LinearComplementaritySystem(A, B, C, D, drive, 0.3 * rng.normal(size=m)), rng.normal(size=n)


@settings(max_examples=12, deadline=None)
@given(seed=matrices)
def test_random_systems_against_an_adaptive_method_with_an_lcp_at_every_stage(seed):
    system, start = random_system(seed)
    times = np.linspace(0.0, 4.0, 9)
    motion = simulate(system, LocatedSwitches(), start, times=times)

    def rate(t, x):
        return system.rate(t, x, solve(system.problem(t, x), Enumeration()).value)

    other = solve_ivp(rate, (0.0, 4.0), start, "RK45", times, rtol=1e-7, atol=1e-9, max_step=0.05)
    assert motion.x == pytest.approx(other.y.T, abs=1e-5 * (1 + np.abs(motion.x).max()))
    for t, s in zip(motion.t, motion.s, strict=True):
        assert system.problem(t, motion.x[list(motion.t).index(t)]).relative_residual(np.maximum(s, 0)) < 1e-9


@settings(max_examples=8, deadline=None)
@given(seed=matrices)
def test_order_of_the_pairs_does_not_matter(seed):
    system, start = random_system(seed)
    p = np.array([2, 0, 1])
    B, C, D = (np.asarray(a) for a in (system.B, system.C, system.D))
    offset = np.asarray(system.offset.constant)[p]
    other = LinearComplementaritySystem(system.A, B[:, p], C[p], D[np.ix_(p, p)], system.input, offset)
    one, two = (simulate(s, LocatedSwitches(), start, times=(0.0, 3.0)) for s in (system, other))
    assert one.s[:, p] == pytest.approx(two.s, abs=1e-9)
    assert [s.t for s in one.switches] == pytest.approx([s.t for s in two.switches], abs=1e-9)


def test_time_stepping_without_feed_through():
    """ẋ = −1 + s, x ≥ 0: D = 0. The backward Euler method gives max(0, 1 − t) at every step."""
    system = LinearComplementaritySystem([[0.0]], [[1.0]], [[1.0]], [[0.0]], [-1.0])
    for solver in (None, Lemke(), Enumeration()):
        motion = simulate(system, TimeStepping(0.125, theta=1.0, solver=solver), [1.0], times=(0.0, 2.0))
        assert motion.x[:, 0] == pytest.approx(np.maximum(0.0, 1.0 - motion.t), abs=1e-15)
        assert motion.s[-1, 0] == pytest.approx(1.0)
    with pytest.raises(UsageError, match="P-matrix"):
        simulate(system, LocatedSwitches(), [1.0], times=(0.0, 2.0))


def test_last_step_is_shortened():
    motion = simulate(bilinear(), TimeStepping(0.3), (0.0, 1.0), times=(0.0, 1.0))
    assert motion.t.tolist() == pytest.approx([0.0, 0.3, 0.6, 0.9, 1.0])


def test_nonlinear_system_against_the_exact_one():
    """The bilinear oscillator stated as a slackness system, with a slack that is nonlinear in s."""

    def slack(t, x, s):
        return s + s**3 - 8 * x[:1] - (8 * x[:1]) ** 3

    system = SlacknessSystem(
        lambda t, x, s: np.array([x[1], -x[0] - s[0]]), slack, ("x", "v"), ("cable",),
        slack_s=lambda t, x, s: np.array([[1 + 3 * s[0] ** 2]]),
    )  # fmt: skip
    times = np.linspace(0.0, 10.0, 21)
    one, two = (
        simulate(system, LocatedSwitches(), (0, 1), times=times),
        simulate(bilinear(), LocatedSwitches(), (0, 1), times=times),
    )
    assert one.x == pytest.approx(two.x, abs=1e-10)
    assert [s.t for s in one.switches] == pytest.approx([s.t for s in two.switches], abs=1e-10)
    assert one.peak_s == pytest.approx(two.peak_s, rel=1e-9)


def test_mechanical_form():
    system = SlacknessSystem.mechanical(
        g=lambda q, v: q, H=lambda q, v: np.array([[-1.0]]), h=lambda q: 8 * q, P=lambda t: [0.0],
        coordinates=["x"], names=["cable"],
    )  # fmt: skip
    times = np.linspace(0.0, 10.0, 11)
    one, two = simulate(system, None, (0, 1), times=times), simulate(bilinear(), None, (0, 1), times=times)
    assert one.x == pytest.approx(two.x, abs=1e-10)
    fixed = simulate(system, RungeKutta(0.001), (0, 1), times=(0.0, 10.0))
    assert fixed.x[-1] == pytest.approx(two.x[-1], abs=1e-5)


def test_saved_and_loaded(tmp_path):
    motion = simulate(bilinear(), LocatedSwitches(), (0.0, 1.0), times=(0.0, 10.0))
    loaded = load_result(save(motion, tmp_path / "run"))
    for name in ("t", "x", "s", "w", "peak_s", "peak_w", "first_taut"):
        assert np.array_equal(getattr(loaded, name), getattr(motion, name))
    assert loaded.switches == motion.switches
    assert loaded.episodes("s1") == motion.episodes("s1")
    assert loaded.status is motion.status
    assert (tmp_path / "run" / "motion.csv").read_text().startswith("t,x1,x2,force s1,slack s1")


def test_too_many_switches_end_with_what_was_found():
    motion = simulate(bilinear(), LocatedSwitches(max_switches=3), (0.0, 1.0), times=(0.0, 100.0))
    assert motion.status is Status.enough
    assert len(motion.switches) == 3
    assert "stopped after 3 switches" in motion.note
    assert motion.t[-1] < 100.0
