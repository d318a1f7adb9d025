"""Methods that lie are caught: the answer is rechecked from the problem, not from what the method says of itself."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from onesided.base.errors import SolveError
from onesided.base.progress import Progress
from onesided.base.tolerances import DEFAULT
from onesided.base.types import Status
from onesided.complementarity_systems import (
    CableStructure,
    FrozenModes,
    LinearComplementaritySystem,
    LinearRun,
    LocatedSwitches,
    PerfectlyPlastic,
    SlacknessSystem,
    SwitchingMethod,
    TimeStepping,
    iter_simulate,
    simulate,
)

LINEAR = LinearComplementaritySystem([[0, 1], [-1, 0]], [[0.0], [-1.0]], [[-1.0, 0.0]], [[1 / 8]])
GENERAL = SlacknessSystem.mechanical(
    g=lambda q, v: q, H=lambda q, v: np.array([[-1.0]]), h=lambda q: 8 * q, P=lambda t: [0.0],
    coordinates=["x"], names=["cable"],
)  # fmt: skip
MEMORY = CableStructure([[0, 1], [0, 0]], [[0.0], [-1.0]], [[1.0, 0.0]], [PerfectlyPlastic(1.0, 0.5)])
EXACT = LocatedSwitches()
SYSTEMS = {"linear": LINEAR, "general": GENERAL, "memory": MEMORY}


@dataclass(eq=False)
class Told(LinearRun):
    """A run whose claim is changed."""

    run: LinearRun
    lie: Any

    def advance(self):
        return self.run.advance()

    def here(self):
        return self.run.here()

    def claim(self):
        return self.lie(self.run.claim())


@dataclass(frozen=True)
class Liar(SwitchingMethod):
    """Follows another system than it was asked to, or changes what it found."""

    honest: SwitchingMethod = EXACT
    lie: Any = lambda claim: claim
    other: Any = None
    fixed_step: ClassVar[bool] = False

    def start(self, system, x, times, tolerances):
        return Told(self.honest.start(self.other or system, x, times, tolerances), self.lie)


@dataclass(frozen=True)
class FixedLiar(Liar):
    fixed_step: ClassVar[bool] = True


def told(system, method):
    return simulate(system, method, (0.0, 1.0), times=(0.0, 6.0), throw=False)


@pytest.mark.parametrize("kind", SYSTEMS)
def test_honest_methods_pass_with_room(kind):
    motion = told(SYSTEMS[kind], LocatedSwitches())
    assert motion.ok
    assert motion.residual < 1e-12
    assert motion.defect < 1e-3 * DEFAULT.defect


def slow(claim):
    """The same states, a thousandth later: complementarity holds at each of them."""
    return replace(claim, t=claim.t * 1.001, trail=claim.trail and claim.trail._replace(t=claim.trail.t * 1.001))


def moved(claim):
    """One point of two thousand lies elsewhere; its force and slack are right for where it lies."""
    x, s = claim.x.copy(), claim.s.copy()
    x[1500, 1] += 1e-3
    return replace(claim, x=x, s=s)


@pytest.mark.parametrize("kind", SYSTEMS)
def test_motion_at_the_wrong_pace(kind):
    motion = told(SYSTEMS[kind], Liar(lie=slow))
    assert motion.status is Status.inaccurate
    assert 5e-4 < motion.defect < 5e-3
    assert "unexplained" in motion.note


@pytest.mark.parametrize("kind", ["linear", "memory"])
def test_one_wrong_point(kind):
    motion = told(SYSTEMS[kind], Liar(lie=moved))
    assert motion.status is Status.inaccurate
    assert "t = 4.49" in motion.note or "t = 4.5" in motion.note


def test_motion_of_another_system():
    """The spring is 1 % softer than asked; forces and slacks are those of the states."""
    softer = LinearComplementaritySystem([[0, 1], [-0.99, 0]], [[0.0], [-1.0]], [[-1.0, 0.0]], [[1 / 8]])
    for method in (Liar(other=softer), FixedLiar(TimeStepping(0.01), other=softer)):
        motion = told(LINEAR, method)
        assert motion.residual < 1e-9
        assert motion.status is Status.inaccurate
        assert 1e-3 < motion.defect < 2e-2
    with pytest.raises(SolveError, match="unexplained") as caught:
        simulate(LINEAR, Liar(other=softer), (0.0, 1.0), times=(0.0, 6.0))
    assert len(caught.value.partial) == 2001


def test_forces_of_the_wrong_sign():
    """A cable that pushes: the force of the wrong sign shows in ẋ, and the force 0 in complementarity."""
    pushing = LinearComplementaritySystem([[0, 1], [-1, 0]], [[0.0], [1.0]], [[-1.0, 0.0]], [[1 / 8]])
    for method in (Liar(other=pushing), FixedLiar(FrozenModes(0.01), other=pushing)):
        assert told(LINEAR, method).defect > 0.1
    none = told(LINEAR, Liar(lie=lambda claim: replace(claim, s=0 * claim.s)))
    assert none.status is Status.inaccurate
    assert none.residual == pytest.approx(1 / 3, abs=1e-4)  # x at most 1/3 beyond the cable, 1 before it


def test_switches_that_are_left_out_or_invented():
    silent = told(LINEAR, Liar(lie=lambda claim: replace(claim, switches=claim.switches[1:])))
    assert silent.status is Status.inaccurate
    assert "⊥" in silent.note
    early = told(LINEAR, Liar(lie=lambda claim: replace(
        claim, switches=(claim.switches[0]._replace(t=claim.switches[0].t - 0.1), *claim.switches[1:]))))  # fmt: skip
    assert early.status is Status.inaccurate


def test_plastic_flow_that_is_left_out():
    """The cable yields, but its memory is not kept: the tension then lies above the limit, or ẋ is wrong."""

    def forgotten(claim):
        keep = np.array([1.0, 1.0, 0.0])
        return replace(claim, x=claim.x * keep, trail=claim.trail._replace(x=claim.trail.x * keep))

    motion = told(MEMORY, Liar(lie=forgotten))
    assert motion.status is Status.inaccurate
    assert motion.defect > 0.1


class Listener(Progress):
    """Remembers what it hears; interrupts after a while."""

    def __init__(self, patience=10**9):
        self.heard, self.ended, self.patience = [], 0, patience

    def update(self, *, control, points, events, step):
        self.heard.append((control, points, events, step))
        if len(self.heard) == self.patience:
            raise KeyboardInterrupt

    def end(self):
        self.ended += 1


METHODS = {
    "events": (LINEAR, LocatedSwitches()),
    "smooth": (GENERAL, LocatedSwitches()),
    "memory": (MEMORY, LocatedSwitches()),
    "stepping": (LINEAR, TimeStepping(0.1)),
    "frozen": (LINEAR, FrozenModes(0.1)),
}


@pytest.mark.parametrize("name", METHODS)
def test_progress_accounts_for_every_step(name):
    """Reports may stand for several steps: with their mean length."""
    system, method = METHODS[name]
    listener = Listener()
    motion = simulate(system, method, (0.0, 1.0), times=(0.0, 6.0), progress=listener)
    t, points, events, step = (np.array(column) for column in zip(*listener.heard, strict=True))
    assert t[-1] == 6.0
    assert (np.diff(t) >= 0).all()
    assert step @ np.diff(points, prepend=1) == pytest.approx(6.0)
    assert points[0] == 2 and 1 <= np.diff(points).min() <= np.diff(points).max() <= 16
    assert events[-1] == len(motion.switches)
    assert points[-1] == motion.stats["steps"] + 1
    assert listener.ended == 1


@pytest.mark.parametrize("name", METHODS)
def test_ctrl_c_returns_what_was_achieved(name):
    system, method = METHODS[name]
    times = np.linspace(0.0, 6.0, 601)
    whole = simulate(system, method, (0.0, 1.0), times=times)
    part = simulate(system, method, (0.0, 1.0), times=times, progress=Listener(5), throw=False)
    assert part.status is Status.interrupted
    assert not part.ok
    assert 1 < len(part) < len(whole)
    assert np.array_equal(part.x[:-1], whole.x[: len(part) - 1])
    assert part.switches == tuple(s for s in whole.switches if s.t <= part.t[-1])
    rest = simulate(system, method, part.x[-1], times=(part.t[-1], 6.0))  # go on from the last point
    assert rest.x[-1] == pytest.approx(whole.x[-1], abs=1e-10)
    assert "Ctrl-C at t = " in part.note
    with pytest.raises(SolveError, match="interrupted") as caught:
        simulate(system, method, (0.0, 1.0), times=times, progress=Listener(5))
    assert len(caught.value.partial) == len(part)


@pytest.mark.parametrize("name", METHODS)
def test_iterator_gives_the_steps_of_the_verb(name):
    system, method = METHODS[name]
    points = list(iter_simulate(system, method, (0.0, 1.0), times=(0.0, 6.0)))
    motion = simulate(system, method, (0.0, 1.0), times=(0.0, 6.0))
    assert points[0].t == 0.0
    assert points[-1].t == 6.0
    assert points[-1].x == pytest.approx(motion.x[-1], abs=1e-12)
    assert points[-1].switches == len(motion.switches)
    for point in points:
        slack = system.slack(point.t, point.x, point.s)
        assert np.abs(np.minimum(point.s, slack)).max() < 1e-11
    first = next(iter_simulate(system, method, (0.0, 1.0), times=(0.0, 6.0)))
    assert first.x[:2].tolist() == [0.0, 1.0]


def test_iterator_raises_where_the_motion_ends():
    stuck = SlacknessSystem(lambda t, x, s: x**2, lambda t, x, s: np.zeros(0), ("x",), ())
    points = []
    with pytest.raises(SolveError, match="step became too small") as caught:
        points.extend(iter_simulate(stuck, None, [1.0], times=(0.0, 2.0)))
    assert points[-1].t == pytest.approx(1.0, abs=1e-6)
    assert caught.value.partial.t == points[-1].t
