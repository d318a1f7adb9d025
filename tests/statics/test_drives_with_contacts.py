"""Histories that jam, start where contacts depend on each other, buckle by forces alone, or fall against pegs."""

import jax.numpy as jnp
import numpy as np
import pytest

import onesided
from onesided import Status, System

BLOCK = System(  # between a wall at 1 and a ram at p
    ("x",),
    lambda q, p, th: q[0] ** 2 / 2,
    unilateral={"wall": lambda q, p, th: 1 - q[0], "ram": lambda q, p, th: q[0] - p},
)
NOTCH = System(  # y ≥ |x|, with the redundant y ≥ 0 through the same corner
    ("x", "y"),
    lambda q, p, th: (q[0] - p) ** 2 / 2 + (q[1] + 1) ** 2 / 2,
    unilateral={"a": lambda q, p, th: q[1] - q[0], "b": lambda q, p, th: q[1] + q[0], "c": lambda q, p, th: q[1]},
)
PLATES = System(  # a rigid column of two links between plates that close
    ("t", "x"),
    lambda q, p, th: q[0] ** 2 / 2 + q[1] ** 2 / 2,
    unilateral={"top": lambda q, p, th: 2 - p - q[1] - 2 * jnp.cos(q[0]), "foot": lambda q, p, th: q[1]},
)
PEG = System(  # a snap to the right, with a peg of half-width r in the way
    ("x",),
    lambda q, p, th: q[0] ** 4 / 4 - q[0] ** 2 / 2 - p * q[0],
    unilateral={"peg": lambda q, p, th: (q[0] - th.at) ** 2 - th.r**2},
    parameters={"at": 0.3, "r": 1e-3},
)


@pytest.mark.parametrize("start", [0.0, 1.0])
def test_a_history_that_jams_names_what_holds_it(start):
    history = onesided.drive(BLOCK, [start], [start, 2.0], throw=False)
    assert history.status is Status.blocked and history.ok
    assert "contacts 'wall', 'ram' hold the system" in history.note and "p = 1 " in history.note
    back = onesided.drive(BLOCK, [1.0], [1.0, 0.5])
    assert back.paths[-1].q[-1, 0] == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("start", [[0.0, 0.0], [-1.0, 1.0]])
def test_a_history_may_start_in_a_corner_of_three_walls(start):
    """It stays there for |p| < 1, and slides along a wall beyond."""
    history = onesided.drive(NOTCH, start, [0.0, -3.0, 4.0])
    assert history.ok and not history.jumps
    np.testing.assert_allclose(history.paths[-1].q[-1], [1.5, 1.5], atol=1e-12)
    for path in history.paths:
        slid = np.maximum(np.abs(path.p) - 1, 0) / 2
        np.testing.assert_allclose(path.q, np.stack([np.sign(path.p) * slid, slid], axis=1), atol=1e-9)


def test_forces_grow_at_constant_p_until_a_column_buckles():
    """λ grows to 1/2 at p = 0, then 2(1 − cos t) = p and λ = t/(2 sin t)."""
    history = onesided.drive(PLATES, [0.0, 0.0], [-0.1, 0.3])
    end = history.paths[-1]
    t = abs(end.q[-1, 0])
    assert t == pytest.approx(np.arccos(1 - 0.15), abs=1e-9)
    assert end.lam[-1, 0] == pytest.approx(t / (2 * np.sin(t)), abs=1e-9)


@pytest.mark.parametrize("r", [1e-1, 1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("at", [0.0, 0.3, 0.9])
def test_no_fall_leads_through_a_peg(at, r):
    """From the fold at x = −1/√3 the coordinate slides to the near side of the peg, however thin."""
    history = onesided.drive(PEG.replace(parameters={"at": at, "r": r}), [-1.0], [0.0, 0.5])
    (jump,) = history.jumps
    assert jump.p == pytest.approx(2 / (3 * np.sqrt(3)), abs=1e-9)
    assert jump.q_to[0] == pytest.approx(at - r, abs=1e-9)
