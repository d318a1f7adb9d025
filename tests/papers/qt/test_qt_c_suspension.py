"""The suspension structure: episodes, slack times, tensions, elongations; second routes."""

import numpy as np
import pytest
from qt_cases import (
    CASES,
    ELONGATIONS,
    FIRST_SWITCHES,
    MAX_SLACK,
    MAX_TENSION,
    SLACK_TIME,
    SLACKENINGS,
    elongations,
    exact,
)
from scipy.integrate import solve_ivp

from onesided.complementarity_systems import LocatedSwitches, simulate
from onesided.zoo.suspension import Suspension


def test_frequencies():
    model = Suspension()
    assert model.beam_frequencies == pytest.approx([20.953361999, 83.813447996, 188.580257991], rel=1e-10)
    assert model.cable_frequencies == pytest.approx([22.00236569, 44.00473138, 66.00709706], rel=1e-9)
    assert model.load_frequency == pytest.approx(15.715021499221, rel=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_episodes_slack_times_and_peaks(case):
    motion = exact(case)
    assert tuple(motion.slackenings(name, until=19.9) for name in motion.names) == SLACKENINGS[case]
    assert [motion.slack_time(name) for name in motion.names] == pytest.approx(SLACK_TIME[case], abs=1e-6)
    assert motion.peak_s == pytest.approx(MAX_TENSION[case], rel=2e-6)
    assert motion.peak_w == pytest.approx(MAX_SLACK[case], rel=2e-6)
    assert motion.residual < 1e-14
    assert motion.s.min() >= -1e-12


@pytest.mark.parametrize("case", ELONGATIONS)
def test_elongations_and_first_switches(case):
    motion, found = exact(case), elongations(case, exact(case))
    for t, values in ELONGATIONS[case].items():
        assert found[int(2 * t)] == pytest.approx(values, abs=1e-9)
    for switch, (t, sling, taut) in zip(motion.switches, FIRST_SWITCHES[case], strict=False):
        assert switch.t == pytest.approx(t, abs=1e-9)
        assert (switch.name, switch.taut) == (f"sling {sling}", bool(taut))


def test_slack_together_and_maxima_of_the_base_case():
    motion = exact("C1")
    assert motion.slack_fractions() == pytest.approx([0.699, 0.086, 0.047, 0.169], abs=6e-4)
    longest = motion.peak_s / CASES["C1"].stiffness
    assert longest == pytest.approx([1.1766935e-2, 1.4533535e-2, 1.1237599e-2], rel=3e-7)


def test_start_on_the_switching_surface_is_decided_by_the_third_derivative():
    """At rest with Δl₀ = 0 everything is zero at first; sling 3 is stretched, 1 and 2 go slack at once."""
    motion = exact("C2")
    assert motion.first_taut.tolist() == [0.0, 0.0, 1.0]
    assert motion.switches[0].t == pytest.approx(0.038572071, abs=1e-9)
    assert motion.switches[0].name == "sling 3"


def test_adaptive_runge_kutta_on_the_kinked_equations_agrees():
    model = Suspension(stiffness=2e5, stretch=0.001)
    system = model.system()
    k, B = model.stiffness, np.asarray(system.B)

    def rate(t, x):
        return system.rate(t, x, np.zeros(3)) + B @ (k * np.maximum(0.0, model.elongations(x)))

    times = np.linspace(0.0, 1.5, 31)
    other = solve_ivp(rate, (0.0, 1.5), np.zeros(12), "DOP853", times, rtol=1e-11, atol=1e-14, max_step=2e-3)
    ours = simulate(system, LocatedSwitches(), times=times)
    assert model.elongations(ours.x) == pytest.approx(model.elongations(other.y.T), abs=1e-9)


@pytest.mark.parametrize(("damping", "counts", "peaks"), [
    (0.0, (48, 51, 47), (47.76, 59.45, 45.51)), (0.05, (49, 50, 48), (40.36, 49.15, 38.34)),
])  # fmt: skip
def test_influence_of_the_damping(damping, counts, peaks):
    motion = simulate(Suspension(damping=damping).system(), LocatedSwitches(), times=(0.0, 20.0))
    assert tuple(motion.slackenings(name) for name in motion.names) == counts
    assert motion.peak_s == pytest.approx(peaks, abs=6e-3)


def test_more_modes_change_little_and_no_count():
    model = Suspension(modes=6)
    motion = simulate(model.system(), LocatedSwitches(), times=np.linspace(0.0, 5.0, 11))
    coarse = exact("C1")
    difference = model.elongations(motion.x) - CASES["C1"].elongations(coarse.x[:11])
    assert np.abs(difference).max() <= 3.0e-5
    for name in motion.names:
        assert motion.slackenings(name) == coarse.slackenings(name, until=5.0)


def test_taut_slings_never_go_slack_when_erected_before_gravity():
    """Just-taut slings that then take the weight are stretched by 20 mm and more, which the load does not undo."""
    motion = simulate(Suspension(stretch=0.020192).system(), LocatedSwitches(), times=(0.0, 20.0))
    assert motion.switches == ()
    assert motion.first_taut.all()
