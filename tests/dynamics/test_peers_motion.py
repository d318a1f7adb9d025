"""The systems and values that other codes are measured by."""

import numpy as np
import pytest
from motion_models import (
    TOP_END,
    example,
    four_bars,
    four_bars_start,
    heavy_top,
    heavy_top_start,
    pendulum,
    quaternion_position,
    quaternion_top,
)

from onesided import GeneralizedAlpha, Occurrence, Projected, Radau, SolveError, Status, simulate, zoo
from onesided.groups import SE3, rotate

HANGING = {1: (0.7357004566, -0.6773070487), 10: (0.1257369566, -0.9920636158), 40: (0.0251236035, -0.9996843525)}
UPRIGHT = {1: (0.4783850578, 0.8781501788), 40: (0.1805122267, 0.9835727406)}
FIRST_PASSAGE = {1: 0.7084, 40: 0.7215}


def test_pendulum():
    motion = simulate(pendulum(), [-1.0, 0.0], [0.0, 0.0], (0.0, 10.0), method=Projected(rtol=1e-11))
    assert motion.at(1.0)[0] == pytest.approx([0.986291751132, -0.165010853126], abs=1e-9)
    assert motion.q[-1] == pytest.approx([-0.275087462576, -0.961419205099], abs=1e-9)
    assert motion.energy == pytest.approx(0.0, abs=1e-9)
    assert np.max(motion.drift.position) < 1e-11


@pytest.mark.parametrize("N", HANGING)
def test_hanging_four_bars(N):
    motion = simulate(four_bars(N), *four_bars_start(N, -1.0, 3.0), (0.0, 10.0), method=Projected(rtol=1e-9))
    assert motion.q[-1, :2] == pytest.approx(HANGING[N], abs=2e-8)
    assert motion.not_unique == ()


@pytest.mark.parametrize("method", [Radau(rtol=1e-8), GeneralizedAlpha(rtol=1e-5)], ids=lambda m: type(m).__name__)
def test_hanging_four_bar_by_implicit_methods(method):
    motion = simulate(four_bars(1), *four_bars_start(1, -1.0, 3.0), (0.0, 3.0), method=method)
    exact = simulate(four_bars(1), *four_bars_start(1, -1.0, 3.0), (0.0, 3.0), method=Projected(rtol=1e-11))
    assert motion.q[-1] == pytest.approx(exact.q[-1], abs=1e-8 if isinstance(method, Radau) else 1e-4)


@pytest.mark.parametrize("N", UPRIGHT)
@pytest.mark.parametrize("rtol", [1e-7, 1e-9])
def test_upright_four_bars_pass_their_singular_configurations_on_the_right_branch(N, rtol):
    motion = simulate(four_bars(N), *four_bars_start(N, 1.0, 1.0), (0.0, 10.0), method=Projected(rtol=rtol))
    assert motion.q[-1, :2] == pytest.approx(UPRIGHT[N], abs=1e3 * rtol)
    passages = [event for event in motion.events if event.kind is Occurrence.singular]
    assert len(passages) == 10
    assert passages[0].t == pytest.approx(FIRST_PASSAGE[N], abs=0.01)
    # all points stay on the parallelogram: the bars between them remain parallel to the base
    across = motion.q.reshape(len(motion), N + 1, 2)
    assert np.max(np.abs(across[:, 1:] - across[:, :-1] - [1.0, 0.0])) < 1e-5


@pytest.mark.parametrize("rtol", [1e-11, 1e-12, 1e-13])
def test_finer_steps_pass_singular_configurations_or_say_at_which_accuracy_it_is_possible(rtol):
    """Steps so fine are too short to lead across where accelerations are round-off."""
    motion = simulate(
        four_bars(1), *four_bars_start(1, 1.0, 1.0), (0.0, 10.0), method=Projected(rtol=rtol), throw=False
    )
    if motion.ok:
        assert motion.q[-1, :2] == pytest.approx(UPRIGHT[1], abs=1e-5)
    else:
        assert motion.status in {Status.singular_configuration, Status.step_too_small}
        assert "rtol=2e-10 or more" in motion.note


@pytest.mark.parametrize("method", [Radau(rtol=1e-7), GeneralizedAlpha(step=0.002)], ids=lambda m: type(m).__name__)
def test_upright_four_bar_never_wrong_with_success(method):
    try:
        motion = simulate(four_bars(1), *four_bars_start(1, 1.0, 1.0), (0.0, 2.0), method=method)
    except SolveError as error:
        assert error.partial.status in {Status.singular_configuration, Status.inaccurate, Status.step_too_small}
        assert "rod" in error.partial.note or error.partial.status is Status.inaccurate
    else:
        exact = simulate(four_bars(1), *four_bars_start(1, 1.0, 1.0), (0.0, 2.0), method=Projected(rtol=1e-10))
        assert motion.q[-1] == pytest.approx(exact.q[-1], abs=2e-3)


def test_heavy_top_in_two_spaces_and_by_quaternions():
    """Three routes: ℝ³ × SO(3), SE(3), and a unit quaternion with its length as a constraint."""
    fine = Projected(rtol=1e-9)
    for system in (heavy_top(), heavy_top(SE3())):
        motion = simulate(system, *heavy_top_start(system), (0.0, 1.0), method=fine)
        assert motion.q[-1, :3] == pytest.approx(TOP_END, abs=1e-6)
        assert motion.q[-1, :3] == pytest.approx(rotate(motion.q[-1, 3:], example("top").ARM), abs=1e-11)
        assert np.max(np.linalg.norm(motion.q[:, 3:], axis=1)) <= np.pi + 1e-12
    quaternion = simulate(
        quaternion_top(),
        [1.0, 0.0, 0.0, 0.0],
        [0.0, *(example("top").SPIN / 2)],
        (0.0, 1.0),
        method=Projected(rtol=1e-10),
    )
    assert quaternion_position(quaternion.q[-1]) == pytest.approx(TOP_END, abs=1e-6)


@pytest.mark.slow
def test_heavy_top_by_generalized_alpha():
    system = heavy_top()
    start = heavy_top_start(system)
    ends = [
        simulate(system, *start, (0.0, 0.05), method=method).q[-1, :3]
        for method in (GeneralizedAlpha(step=2e-4), GeneralizedAlpha(step=1e-4), Projected(rtol=1e-10))
    ]
    coarse, fine = (np.max(np.abs(end - ends[2])) for end in ends[:2])
    assert fine < 1e-6
    assert coarse / fine == pytest.approx(4.0, rel=0.1)


@pytest.mark.slow
def test_order_of_radau_on_rotations():
    """Order 5 of positions, velocities and multipliers on ℝ³ × SO(3)."""
    arm, spin = example("top").ARM, example("top").SPIN
    system, slow = heavy_top(), np.r_[np.cross(spin / 10, arm), spin / 10]
    exact = simulate(system, np.r_[arm, 0, 0, 0], slow, (0.0, 0.2), method=Projected(rtol=1e-13))
    errors, steps = [], (0.02, 0.01, 0.005)
    for h in steps:
        motion = simulate(system, np.r_[arm, 0, 0, 0], slow, (0.0, 0.2), method=Radau(step=h))
        errors.append([np.max(np.abs(getattr(motion, k)[-1] - getattr(exact, k)[-1])) for k in ("q", "v", "mu")])
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx([5, 5, 5], abs=0.3)


def test_andrews_squeezer():
    system, task = zoo.load("andrews-squeezer")
    expected = [15.81077119, -15.75637106, 0.04082224012, -0.53473011634, 0.52440996588, 0.53473011634, 1.04808074104]
    motion = simulate(system, task.start, {}, task.motion.time, control=task.p, method=Projected(rtol=1e-10))
    assert motion.q[-1] == pytest.approx(expected, abs=1e-8)
    assert np.ptp(motion.energy) < 1e-9  # of half a joule that the moment puts in
