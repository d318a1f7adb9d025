"""Constraints that become redundant, or cease to be, where stiffness jumps: the path has a corner there."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

import onesided
from onesided import Kind, System


def profile(x, th):
    """Height of the floor: flat for x < 0, falling like x²."""
    return jnp.where(x > 0, th.a * x**2 / 2, 0.0)


# a weight on a floor; the other floor lies below it for x < 0, is the same until x = 1, and lies above it beyond
CART = System(
    ("x", "y"),
    lambda q, p, th: th.k * q[0] ** 2 / 2 + q[1] - p * q[0],
    unilateral={
        "floor": lambda q, p, th: q[1] - profile(q[0], th),
        "other": lambda q, p, th: (
            q[1]
            - profile(q[0], th)
            + jnp.where(q[0] < 0, q[0] ** 2, 0.0)
            - jnp.where(q[0] > 1, th.b * (q[0] - 1) ** 2 / 2, 0.0)
        ),
    },
    parameters={"k": 1.0, "a": -3.0, "b": 5.0},
)


@pytest.mark.parametrize("a", [-3.0, -1.5])
def test_p_turns_where_stiffness_jumps(a):
    """On the floors p = kx, then (k + a) x, then (k + a) x + b (x − 1)."""
    system = CART.replace(parameters={"a": a})
    path = onesided.trace(system, [-1.0, 0.0], -1.0, p_bounds=(-9, 2))
    first, second, end = path.events
    assert path.ok and not path.note and end.kind is Kind.bound
    assert (first.kind, first.constraints) == (Kind.corner_limit, ("other",))
    assert (second.kind, second.constraints) == (Kind.corner_limit, ("other", "floor"))
    assert [first.p, second.p] == pytest.approx([0.0, 1 + a], abs=1e-8)
    assert [(e.instability_before, e.instability_after) for e in (first, second)] == [(0, 1), (1, 0)]
    x = path.q[:, 0]
    exact = np.where(x < 0, x, np.where(x < 1, (1 + a) * x, (1 + a) * x + 5 * (x - 1)))
    np.testing.assert_allclose(path.p, exact, atol=1e-9)


@pytest.mark.parametrize("a", [0.0, 2.0])
def test_p_goes_on_where_it_does_not_change_its_sense(a):
    path = onesided.trace(CART.replace(parameters={"a": a}), [-1.0, 0.0], -1.0, p_bounds=(-9, 9))
    assert [e.kind for e in path.events] == [Kind.idle, Kind.idle, Kind.bound]
    assert [e.p for e in path.events] == pytest.approx([0.0, 1 + a, 9.0], abs=1e-8)


def test_a_drive_jumps_at_a_corner_without_force():
    """From x = 0 to the stable branch beyond x = 1, at p = 0: (k + a) x + b (x − 1) = 0."""
    history = onesided.drive(CART, [-1.0, 0.0], [-1.0, 1.0])
    (jump,) = history.jumps
    assert jump.p == pytest.approx(0.0, abs=1e-8)
    assert jump.q_to[0] == pytest.approx(5 / 3, abs=1e-6)


@pytest.mark.slow
def test_all_tips_of_a_ring_of_panels_meet_one_after_the_other():
    """The ring looks the same with p turned round: so does the list of events, backwards."""
    system, task = onesided.zoo.load("panel-ring")
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)
    events = path.events[:-1]
    assert path.ok and not path.note and len(events) == 18
    np.testing.assert_allclose([e.p for e in events], [-e.p for e in reversed(events)], atol=1e-8)
    assert [e.kind for e in events] == [e.kind for e in reversed(events)]
    assert [e.instability_before for e in events] == [e.instability_after for e in reversed(events)]


@pytest.mark.parametrize("k", [1.0, 1e4, 1e6, 1e7, 1e8])
@pytest.mark.parametrize("c", [0.0, 1.0])
def test_a_soft_contact_beside_a_stiff_member_is_no_fork(k, c):
    """The wall x ≥ 0 carries −p for p < 0; the stiff y − x² sets the scale of forces, far above those of the wall."""

    def energy(q, p, th):
        return k * (q[0] - q[1] ** 2) ** 2 / 2 + q[1] ** 2 / 2 + c * q[1] ** 3 / 3 - p * q[1]

    beside = System(("y", "x"), energy, unilateral={"wall": lambda q, p, th: q[1]})
    opens = onesided.trace(beside, [0.0, 0.0], -1.0, direction=1, p_bounds=(-2, 2))
    assert opens.kinds() == (Kind.opens, Kind.bound)
    x = (math.sqrt(1 + 4 * c) - 1) / (2 * c) if c else 1.0
    closes = onesided.trace(beside, [x * x, x], 1.0, direction=-1, p_bounds=(-2, 2))
    assert closes.kinds() == (Kind.closes, Kind.bound)
    for path in (opens, closes):
        assert path.events[0].p == pytest.approx(0.0, abs=1e-9)
        assert [len(event.rays.rays) for event in path.events[:1]] == [2]
        held = path.p < -1e-6
        np.testing.assert_allclose(path["reaction wall"][held], -path.p[held], rtol=1e-6)
