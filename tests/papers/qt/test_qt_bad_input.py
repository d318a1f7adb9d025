"""What is refused, and what the message says."""

import numpy as np
import pytest

from onesided.base.errors import ModelError, UsageError
from onesided.complementarity_systems import (
    FrozenModes,
    GaussPrinciple,
    Harmonic,
    LinearComplementaritySystem,
    LocatedSwitches,
    Signal,
    SlacknessSystem,
    TimeStepping,
    simulate,
)
from onesided.zoo.mast import Mast
from onesided.zoo.suspension import Suspension

ONE = ([[0.0, 1.0], [-1.0, 0.0]], [[0.0], [1.0]], [[1.0, 0.0]], [[1.0]])


@pytest.mark.parametrize(("name", "value"), [
    ("stiffness", -3750.0), ("stiffness", 0.0), ("slings", 0), ("damping", -0.1), ("stretch", float("nan")),
    ("span", -8.0), ("load", float("inf")), ("beam_mass", 0.0),
])  # fmt: skip
def test_suspension(name, value):
    with pytest.raises(ModelError, match=f"`{name}`.*got"):
        Suspension(**{name: value})
    with pytest.raises(ModelError, match="counted"):
        Suspension(modes=0)


def test_matrices():
    with pytest.raises(UsageError, match="`B` has the wrong shape"):
        LinearComplementaritySystem(ONE[0], [[1.0]], ONE[2], ONE[3])
    with pytest.raises(UsageError, match="not finite"):
        LinearComplementaritySystem([[np.nan]], [[1.0]], [[1.0]], [[1.0]])
    with pytest.raises(UsageError, match="names"):
        LinearComplementaritySystem(*ONE, names=["a", "b"])
    with pytest.raises(UsageError, match="`input` has the wrong length"):
        LinearComplementaritySystem(*ONE, Signal([1.0]))
    with pytest.raises(UsageError, match="frequency"):
        Harmonic(0.0)
    with pytest.raises(UsageError, match="wrong shape"):
        LinearComplementaritySystem(*ONE, Signal([0.0, 0.0], (Harmonic(1.0, sine=[1.0]),)))


@pytest.mark.parametrize("D", [[[0.0]], [[-1.0]]])
def test_events_need_a_force_that_the_state_determines(D):
    system = LinearComplementaritySystem(*ONE[:3], D)
    with pytest.raises(UsageError, match="P-matrix"):
        simulate(system, times=(0, 1))


@pytest.mark.parametrize("times", [(0.0,), (1.0, 0.0), (0.0, np.inf), (0.0, 0.0), 3.0])
def test_times(times):
    with pytest.raises(UsageError, match="times"):
        simulate(LinearComplementaritySystem(*ONE), times=times)


def test_knobs():
    for make in (lambda: TimeStepping(0.0), lambda: TimeStepping(0.1, theta=0.3), lambda: FrozenModes(-1.0),
                 lambda: LocatedSwitches(rtol=-1.0)):  # fmt: skip
        with pytest.raises(UsageError, match="out of range"):
            make()
    with pytest.raises(UsageError, match="not a method"):
        simulate(LinearComplementaritySystem(*ONE), "exact", times=(0, 1))
    with pytest.raises(UsageError, match="linear complementarity systems"):
        simulate(Mast().system(), TimeStepping(0.1), np.zeros(4), times=(0, 1))
    with pytest.raises(UsageError, match="linear complementarity systems"):
        simulate(Mast().system(), FrozenModes(0.1, GaussPrinciple()), np.zeros(4), times=(0, 1))


def test_start_and_functions():
    with pytest.raises(UsageError, match="wrong shape"):
        simulate(LinearComplementaritySystem(*ONE), start=[0.0], times=(0, 1))
    wrong = SlacknessSystem(lambda t, x, s: np.zeros(3), lambda t, x, s: s, ("x",), ("c",))
    with pytest.raises(ModelError, match="`rate`"):
        simulate(wrong, start=[0.0], times=(0, 1))
    motion = simulate(LinearComplementaritySystem(*ONE), times=(0, 1))
    with pytest.raises(UsageError, match="no pair"):
        motion.episodes("sling 9")
