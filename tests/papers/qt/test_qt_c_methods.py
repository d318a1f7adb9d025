"""Time stepping and the paper's own scheme on the suspension structure; where the printed network is wrong."""

import numpy as np
import pytest
from qt_cases import CASES, SLACKENINGS, elongations, exact

from onesided.complementarity import ActiveSet, Enumeration, HopfieldNetwork, Lemke, QuadraticProgram
from onesided.complementarity_systems import (
    ByState,
    FrozenModes,
    GaussPrinciple,
    LinearComplementaritySystem,
    PrintedNetwork,
    TimeStepping,
    simulate,
)


def error(case, method, throw=True):
    motion = simulate(CASES[case].system(), method, times=(0.0, 20.0), throw=throw)
    return np.abs(elongations(case, motion) - elongations(case, exact(case))).max(), motion


@pytest.mark.parametrize(("case", "steps", "errors"), [
    ("C1", (0.004, 0.002, 0.001), (5.5e-5, 1.38e-5, 3.46e-6)),
    ("C4", (0.002, 0.001, 0.0005), (3.3e-4, 8.5e-5, 2.05e-5)),
])  # fmt: skip
def test_second_order_with_the_error_levels_of_the_reference(case, steps, errors):
    found = []
    for step, level in zip(steps, errors, strict=True):
        value, motion = error(case, TimeStepping(step))
        assert value == pytest.approx(level, rel=0.02)
        assert tuple(motion.slackenings(name, until=19.9) for name in motion.names) == SLACKENINGS[case]
        found.append(value)
    orders = np.log2(np.array(found[:-1]) / found[1:])
    assert orders == pytest.approx([2.0, 2.0], abs=0.1)


@pytest.mark.parametrize("case", CASES)
def test_methods_agree_to_round_off(case):
    """The quadratic program ends by a proximal iteration: a few more last digits."""
    first, *others = (
        CASES[case].elongations(simulate(CASES[case].system(), TimeStepping(0.004, solver=solver), times=(0.0, 4.0)).x)
        for solver in (Enumeration(), Lemke(), ActiveSet(), HopfieldNetwork(), QuadraticProgram())
    )
    for other, limit in zip(others, (3e-17, 3e-17, 3e-17, 1e-14), strict=True):
        assert np.abs(other - first).max() <= limit


def test_matrix_of_the_step_is_the_one_of_newmark():
    """M = K⁻¹ + (h²/4) D [M(1 + ξωh + ω²h²/4)]⁻¹ Dᵀ, from the equation of motion by hand."""
    model, h = CASES["C4"], 0.002
    system = model.system()
    A, B, C, D = (np.asarray(a) for a in (system.A, system.B, system.C, system.D))
    general = D + h / 2 * C @ np.linalg.solve(np.eye(12) - h / 2 * A, B)
    omega = np.concatenate([model.beam_frequencies, model.cable_frequencies])
    xi = np.concatenate([model.damping * model.beam_frequencies / model.beam_frequencies[0], np.zeros(3)])
    mass = np.repeat([2600.0, 400.0], 3)
    shapes = model.shapes
    inertia = mass * (1 + xi * omega * h + omega**2 * h**2 / 4)
    by_hand = np.eye(3) / model.stiffness + h**2 / 4 * shapes / inertia @ shapes.T
    assert general == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize(("case", "step", "level"), [("C1", 0.001, 5e-8), ("C4", 0.001, 3.1e-6)])
def test_explicit_steps_with_kept_modes(case, step, level):
    value, motion = error(case, FrozenModes(step))
    assert value <= 1.1 * level
    assert motion.stats["mismatches"] == 0
    assert tuple(motion.slackenings(name, until=19.9) for name in motion.names) == SLACKENINGS[case]


def test_gauss_principle_decides_as_the_state_does():
    system = CASES["C4"].system()
    one = simulate(system, FrozenModes(0.002), times=(0.0, 1.0))
    two = simulate(system, FrozenModes(0.002, GaussPrinciple()), times=(0.0, 1.0))
    three = simulate(system, FrozenModes(0.002, ByState(Enumeration())), times=(0.0, 1.0))
    assert two.stats["mismatches"] == 0
    assert np.array_equal(one.x, two.x)
    assert np.array_equal(one.x, three.x)


@pytest.mark.parametrize(("case", "mismatch", "level"), [
    ("C2", 0.036, 2.7e-5), ("C1", 0.365, 2.1e-4), ("C4", 0.659, 1.2e-2),
])  # fmt: skip
def test_printed_network_is_wrong_and_is_found_out(case, mismatch, level):
    value, motion = error(case, FrozenModes(0.001, PrintedNetwork()), throw=False)
    assert not motion.ok
    assert "violated" in motion.note
    assert motion.stats["mismatches"] / motion.stats["steps"] == pytest.approx(mismatch, abs=2e-3)
    assert value == pytest.approx(level, rel=0.05)


def test_printed_network_with_the_literal_sign():
    for case, mismatch in (("C2", 0.984), ("C1", 0.828)):
        motion = simulate(
            CASES[case].system(), FrozenModes(0.001, PrintedNetwork(literal_sign=True)), times=(0, 20), throw=False
        )
        assert motion.stats["mismatches"] / motion.stats["steps"] == pytest.approx(mismatch, abs=3e-3)


def test_smallest_counterexample_a_loaded_sling_at_rest():
    """Mass on a sling, F = m g. The printed rule calls it slack, or with the literal sign never decides."""
    k, g = 100.0, 9.81
    system = LinearComplementaritySystem(
        [[0, 1], [0, 0]], [[0.0], [1.0]], [[1.0, 0.0]], [[1 / k]], [0.0, -g], [-g / k]
    )  # x up, measured from rest where the sling is stretched by g/k
    taut = np.array([True])
    assert ByState().decide(system, 0.0, np.zeros(2), ~taut).taut.all()
    printed = PrintedNetwork().decide(system, 0.0, np.zeros(2), taut)
    assert not printed.taut.any()
    assert not printed.cycled
    assert PrintedNetwork(literal_sign=True).decide(system, 0.0, np.zeros(2), taut).cycled
