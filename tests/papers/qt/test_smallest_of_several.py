"""A gap that is not differentiable: the smallest of several distances, split exactly or smoothed."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from onesided import System, solve
from onesided.complementarity_systems import EventDriven, SlacknessSystem, Smallest, Smoothed, simulate
from onesided.errors import ModelError, UsageError
from onesided.model.nonsmooth import smallest, smallest_smoothed


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
    motion = simulate(oscillator(gap.value, gap.kinks), EventDriven(), (0.0, 1.0), times=(0.0, 3.0))
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
        oscillator(Smallest(PIECES).value, Smallest(PIECES).kinks), EventDriven(), (0.0, 1.0), times=(0.0, 1.5)
    )
    errors = []
    for sharpness in (100.0, 200.0, 400.0):
        gap = Smoothed(PIECES, sharpness)
        motion = simulate(oscillator(gap.value), EventDriven(rtol=1e-9, atol=1e-11), (0.0, 1.0), times=(0.0, 1.5))
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
