"""A gap that is not differentiable: the smallest of several distances, split exactly or smoothed."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from onesided import System, solve
from onesided.base.errors import ModelError, ModelFileError, UsageError
from onesided.complementarity_systems import LocatedSwitches, SlacknessSystem, Smallest, Smoothed, simulate
from onesided.dynamics.simulate import simulate as simulate_system
from onesided.files.reading import loads
from onesided.system.nonsmooth import smallest, smallest_smoothed


def point_in_a_corner(unilateral):
    """A point pulled towards (−1, −2) and kept in the quadrant x, y ≥ 0 whose gap is min(x, y)."""
    return System(["x", "y"], lambda q, p, th: 0.5 * jnp.sum((q - jnp.array([-1.0, -2.0])) ** 2), unilateral=unilateral)


def x_of(q, p, th):
    return q[0]


def y_of(q, p, th):
    return q[1]


def test_split_gap_holds_a_point_in_the_corner_with_a_reaction_per_piece():
    system = point_in_a_corner(smallest("corner", x_of, y_of))
    found = solve(system, start=[1.0, 3.0], p=0.0).value
    assert found.q == pytest.approx([0.0, 0.0], abs=1e-10)
    assert found.lam == pytest.approx([1.0, 2.0], abs=1e-9)


@pytest.mark.parametrize("sharpness", [20.0, 200.0])
def test_smoothed_gap_keeps_the_point_inside_and_comes_close(sharpness):
    system = point_in_a_corner({"corner": smallest_smoothed(x_of, y_of, sharpness=sharpness)})
    found = solve(system, start=[1.0, 3.0], p=0.0).value
    assert found.q.min() > 0
    # exp(−βx) + exp(−βy) = 1 with reactions in the ratio 1 : 2 (to first order in 1/β)
    assert found.q == pytest.approx([math.log(3.0) / sharpness, math.log(1.5) / sharpness], rel=3 / sharpness)
    assert found.lam[0] == pytest.approx(3.0, rel=3 / sharpness)


def oscillator(slack, kinks=None):
    """ẍ = −s, y = s + gap(x): pushed back by the largest of −dⱼ."""
    return SlacknessSystem(
        lambda t, x, s: np.array([x[1], -s[0]]), lambda t, x, s: s + slack(t, x, s), ("x", "v"), ("stop",), kinks=kinks
    )


PIECES = (lambda t, x, s: -x[0], lambda t, x, s: 0.5 - 4.0 * x[0])  # s = max(0, x, 4x − ½): stiffer beyond x = 1/6


def test_pieces_are_followed_exactly():
    """Thrown at unit speed: a quarter swing at ω = 1 to x = 1/6, then one at ω = 2 about x = 1/8, and back."""
    gap = Smallest(PIECES)
    motion = simulate(oscillator(gap.value, gap.kinks), LocatedSwitches(), (0.0, 1.0), times=(0.0, 3.0))
    first = math.asin(1 / 6)
    v = math.cos(first)
    second = math.pi / 2 - math.atan2((1 / 6 - 1 / 8) * 2, v)  # from the phase at x = 1/6 to the turning point
    leaves = 2 * (first + second / 2)
    assert [s.taut for s in motion.switches] == [False]
    assert motion.switches[0].t == pytest.approx(leaves, abs=1e-11)
    assert motion.x[-1, 1] == pytest.approx(-1.0, abs=1e-11)
    top = 1 / 8 + math.hypot(1 / 24, v / 2)
    assert motion.peak_s[0] == pytest.approx(4 * top - 0.5, rel=1e-9)
    assert gap.which(0.0, np.array([0.1, 0.0]), np.zeros(1)) == 0
    assert gap.which(0.0, np.array([0.3, 0.0]), np.zeros(1)) == 1


def test_smoothed_pieces_converge():
    exact = simulate(
        oscillator(Smallest(PIECES).value, Smallest(PIECES).kinks), LocatedSwitches(), (0.0, 1.0), times=(0.0, 1.5)
    )
    errors = []
    for sharpness in (100.0, 200.0, 400.0):
        gap = Smoothed(PIECES, sharpness)
        motion = simulate(oscillator(gap.value), LocatedSwitches(rtol=1e-9, atol=1e-11), (0.0, 1.0), times=(0.0, 1.5))
        errors.append(np.abs(motion.x[-1] - exact.x[-1]).max())
        values = [gap.value(0.0, np.array([x, 0.0]), np.zeros(1)) for x in (0.0, 1 / 6, 0.5)]
        low = [min(p(0.0, np.array([x, 0.0]), None) for p in PIECES) for x in (0.0, 1 / 6, 0.5)]
        assert all(a - math.log(2) / sharpness - 1e-15 <= b <= a for a, b in zip(low, values, strict=True))
    assert errors[2] < errors[1] < errors[0] < 1e-2


def test_bad_input():
    with pytest.raises(ModelError, match="two or more"):
        smallest("corner", x_of)
    with pytest.raises(ModelError, match="sharpness"):
        smallest_smoothed(x_of, y_of, sharpness=-1.0)
    with pytest.raises(UsageError, match="two or more"):
        Smallest(PIECES[:1])
    with pytest.raises(UsageError, match="sharpness"):
        Smoothed(PIECES, 0.0)


FILE = """
energy = "(x + 1)**2/2 + (y + 2)**2/2"
[coordinates]
x = 1.0
y = 3.0
[control]
range = [0, 1]
[smallest]
corner = {of = ["x", "y"]SHARP}
[mass]
x = "1"
y = "1"
[motion]
time = [0, 3]
method = "event-driven"
"""


def test_split_gap_in_a_model_file():
    system, task = loads(FILE.replace("SHARP", ""))
    assert tuple(system.unilateral) == ("corner_1", "corner_2")
    found = solve(system, start=task.start, p=0.0).value
    assert found.q == pytest.approx([0.0, 0.0], abs=1e-10)
    assert found.lam == pytest.approx([1.0, 2.0], abs=1e-9)


def test_split_gap_of_a_model_file_in_motion():
    """Each coordinate swings about −1, −2 with ω = 1 until it meets its own side of the corner, and stays there."""
    system, task = loads(FILE.replace("SHARP", ""))
    motion = simulate_system(system, task.start, {}, task.motion.time)
    meets = {e.name: e.t for e in motion.events if e.kind.name == "impact"}
    assert meets["corner_1"] == pytest.approx(math.acos(1 / 2), abs=1e-9)  # −1 + 2 cos t = 0
    assert meets["corner_2"] == pytest.approx(math.acos(2 / 5), abs=1e-9)  # −2 + 5 cos t = 0
    assert motion.q[-1] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_smoothed_gap_in_a_model_file():
    sharpness = 200.0
    system, task = loads(FILE.replace("SHARP", f", sharpness = {sharpness}"))
    assert tuple(system.unilateral) == ("corner",)
    found = solve(system, start=task.start, p=0.0).value
    assert found.q == pytest.approx([math.log(3.0) / sharpness, math.log(1.5) / sharpness], rel=3 / sharpness)
    by_hand = point_in_a_corner({"corner": smallest_smoothed(x_of, y_of, sharpness=sharpness)})
    assert found.q == pytest.approx(solve(by_hand, start=[1.0, 3.0], p=0.0).value.q, abs=1e-12)


@pytest.mark.parametrize(("old", "new", "words"), [
    ('["x", "y"]', '["x"]', "entries|at least"), ('["x", "y"]', '["x", "z"]', "z"),
    ("SHARP", ", sharpness = -1", "positive"), ("SHARP", ', sharp = "1"', "unknown key"),
])  # fmt: skip
def test_bad_tables(old, new, words):
    with pytest.raises(ModelFileError, match=words):
        loads(FILE.replace(old, new).replace("SHARP", ""))
