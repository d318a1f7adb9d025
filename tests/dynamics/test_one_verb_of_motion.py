"""One verb for every kind of moving system: the same contract of methods, runs and results."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import pytest

import onesided
from onesided.base.errors import SolveError, UsageError
from onesided.base.progress import Progress
from onesided.base.types import Status
from onesided.complementarity_systems import (
    CableStructure,
    Elastic,
    LinearComplementaritySystem,
    LocatedSwitches,
    SlacknessSystem,
    TimeStepping,
)
from onesided.complementarity_systems import iter_simulate as iter_at_times
from onesided.complementarity_systems import simulate as simulate_at_times
from onesided.dynamics.smooth.smooth_motion import SmoothMethod
from onesided.dynamics.smooth.stepper import Stepper

# ẍ = −k max(0, x): a mass on a cable, thrown with velocity 1, is back after half a period π/√k
STIFF = 4.0
LINEAR = LinearComplementaritySystem([[0, 1], [0, 0]], [[0.0], [-1.0]], [[-1.0, 0.0]], [[1 / STIFF]], names=["cable"])
GENERAL = SlacknessSystem.mechanical(
    g=lambda q, v: 0.0 * q, H=lambda q, v: np.array([[-1.0]]), h=lambda q: STIFF * q, P=lambda t: [0.0],
    coordinates=["x"], names=["cable"],
)  # fmt: skip
MEMORY = CableStructure([[0, 1], [0, 0]], [[0.0], [-1.0]], [[1.0, 0.0]], [Elastic(STIFF)], names=["cable"])
SYSTEMS = {"linear": LINEAR, "general": GENERAL, "memory": MEMORY}
OSCILLATOR = onesided.System(["x"], energy=lambda q, p, th: 2.0 * q[0] ** 2, mass=lambda q, th: jnp.eye(1))


@pytest.mark.parametrize("kind", SYSTEMS)
def test_a_complementarity_system_is_one_kind_of_system(kind):
    system = SYSTEMS[kind]
    motion = onesided.simulate(system, (0.0, 1.0), t_span=(0.0, 3.0))
    slack = np.pi / np.sqrt(STIFF)
    assert [switch.t for switch in motion.happenings if not switch.taut] == pytest.approx([slack], rel=1e-10)
    assert motion.x[-1, :2] == pytest.approx([-(3.0 - slack), -1.0], rel=1e-9)
    same = simulate_at_times(system, None, (0.0, 1.0), times=(0.0, 3.0))
    assert np.array_equal(motion.x, same.x)
    assert motion.switches == same.switches
    assert motion["reaction cable"] == pytest.approx(motion.s[:, 0])


def test_states_come_one_by_one():
    ours = list(onesided.iter_simulate(LINEAR, (0.0, 1.0), t_span=(0.0, 3.0), method=TimeStepping(0.25)))
    same = list(iter_at_times(LINEAR, TimeStepping(0.25), (0.0, 1.0), times=(0.0, 3.0)))
    assert [point.t for point in ours] == [point.t for point in same] == pytest.approx(np.arange(0.0, 3.1, 0.25))


@pytest.mark.parametrize(
    ("words", "knobs"),
    [
        ("`v0` has no meaning", {"v0": [1.0]}),
        ("`stop` has no meaning", {"stop": ("cable",)}),
        ("not a method of motion", {"method": onesided.Radau()}),
    ],
)
def test_what_has_no_meaning_for_it_is_refused(words, knobs):
    with pytest.raises(UsageError, match=words):
        onesided.simulate(LINEAR, (0.0, 1.0), t_span=(0.0, 1.0), **knobs)


def test_methods_of_the_other_kind_are_refused():
    with pytest.raises(UsageError, match="for complementarity systems"):
        onesided.simulate(OSCILLATOR, [1.0], [0.0], (0.0, 1.0), method=LocatedSwitches())


class Presses(Progress):
    """Presses Ctrl-C at the fifth report."""

    reports = 0

    def update(self, **_):
        self.reports += 1
        if self.reports == 5:
            raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("system", "start", "method"),
    [
        (OSCILLATOR, ([1.0], [0.0]), onesided.Projected(step=0.1)),
        (OSCILLATOR, ([1.0], [0.0]), onesided.EventDriven(max_step=0.1)),
        (LINEAR, ((0.0, 1.0),), TimeStepping(0.1)),
    ],
)
def test_ctrl_c_keeps_what_was_found_whatever_moves(system, start, method):
    part = onesided.simulate(system, *start, t_span=(0.0, 10.0), method=method, progress=Presses(), throw=False)
    assert part.status is Status.interrupted
    assert len(part) > 4
    assert 0.0 < part.t[-1] < 9.0
    assert "Ctrl-C at t = " in part.note


class EulerSteps(Stepper):
    def step(self, t_end):
        s, h = self.state, min(self.h, t_end - self.state.t)
        self.state = self.mechanics.settle(s.t + h, s.q + h * s.v, s.v + h * s.a, s.mu).state


@dataclass(frozen=True)
class Euler(SmoothMethod):
    """Somebody's own method: explicit steps, whose error the recheck of energy must find."""

    step: float

    @property
    def drifts(self):
        return ("position", "velocity", "acceleration")

    def start(self, mechanics, state, t_end):
        return EulerSteps(mechanics, state, self.step, t_end)


def test_a_method_of_one_s_own():
    """x = cos 2t: first order, so that the error is halved with the step; the recheck says that energy is not kept."""
    ends = []
    for step in (1e-3, 5e-4):
        with pytest.raises(SolveError) as told:
            onesided.simulate(OSCILLATOR, [1.0], [0.0], (0.0, 1.0), method=Euler(step))
        assert told.value.partial.status is Status.inaccurate
        ends.append(told.value.partial.q[-1, 0] - np.cos(2.0))
    assert ends[0] / ends[1] == pytest.approx(2.0, rel=0.02)
