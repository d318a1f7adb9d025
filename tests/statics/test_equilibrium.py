"""Equilibria at fixed p: closed forms, any start, honest failure, recheck."""

from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onesided
from onesided import Newton, Relaxation, SolveError, Status, System, zoo

CORNER, _ = zoo.load("corner-limit")
RING, _ = zoo.load("bead-on-ring")


@settings(max_examples=40)
@given(st.floats(-2, 2), st.floats(0.05, 3.1))
def test_relaxation_ends_in_a_stable_branch_of_the_corner_model(p, phi):
    found = onesided.solve(CORNER, [phi], p=p, method=Relaxation()).value
    branches = [0.0, np.pi] if p < 0 else [np.pi - np.arctan(p)]
    assert min(abs(found.q[0] - branch) for branch in branches) < 1e-9
    assert found.instability == 0
    assert found.recheck.worst < 1e-10
    if p < -1e-6:
        assert found.lam[0] == pytest.approx(-p, abs=1e-9)
        assert found.states() == {"stop": "strong"}


@pytest.mark.parametrize("p", [-2.0, -1.0, -0.5, -0.25])
def test_newton_finds_the_unstable_branch_next_to_its_start(p):
    found = onesided.solve(CORNER, [np.arctan(-p) + 0.02], p=p, method=Newton()).value
    assert found.q[0] == pytest.approx(np.arctan(-p), abs=1e-12)
    assert found.instability == 1
    assert "unstable" in found.words()


@pytest.mark.parametrize("start", [[-0.7], [-3.0], [4.0], [9.0], [100.0]])
def test_infeasible_and_far_starts_are_brought_in(start):
    found = onesided.solve(CORNER, start=start, p=0.5).value
    assert np.sin(found.q[0]) > 0
    assert (-np.sin(found.q[0]) - 0.5 * np.cos(found.q[0])) == pytest.approx(0, abs=1e-12)
    assert found.instability == 0


def test_a_start_that_balances_is_returned_even_if_unstable():
    found = onesided.solve(CORNER, start=[np.arctan(0.5)], p=-0.5)
    assert found.value.instability == 1
    assert found.value.q[0] == pytest.approx(np.arctan(0.5), abs=1e-12)


@given(st.floats(0.05, 0.85))
def test_bilateral_and_moving_unilateral_constraint_together(p):
    found = onesided.solve(RING, start=[0.3, -0.7], p=p).value
    assert found.q == pytest.approx([p, -np.sqrt(1 - p**2)], abs=1e-10)
    assert found.states() == {"wall": "strong"}
    # force balance by hand: weight down, ring along the radius, wall along x
    weight = float(RING.evaluate(found.q, p, np.zeros(2)).L_q[1])
    assert found.lam[0] == pytest.approx(weight * p / np.sqrt(1 - p**2), rel=1e-9)


def test_weakly_active_contact_is_named_and_minimum_decided_on_the_cone():
    wedge, _ = zoo.load("wedge")
    for epsilon, minimum in ((0.5, True), (-0.5, True), (-3.0, False)):
        found = onesided.solve(wedge.replace(parameters={"epsilon": epsilon}), [0.0, 0.0], p=0.0, method=Newton()).value
        assert found.states() == {"right": "weak", "left": "weak"}
        assert found.minimum is minimum  # REFERENCE B3: strict constrained minimum iff k + ε > 0
        assert found.instability == (0 if epsilon > 0 else 1)


def unbounded():
    return System(coordinates=("x",), energy=lambda q, p, th: -jnp.exp(q[0]) + p * q[0])


def test_failure_returns_the_best_point_with_status_and_advice():
    with pytest.raises(SolveError) as failure:
        onesided.solve(unbounded(), start=[1.0], p=-1.0)
    partial = failure.value.partial
    assert not partial.ok
    assert "best relative residual" in partial.note
    assert partial.residual > 1e-6
    quiet = onesided.solve(unbounded(), start=[1.0], p=-1.0, throw=False)
    assert quiet.status in {Status.unbounded, Status.stalled}


def test_contradicting_constraints_are_reported():
    squeezed = System(
        coordinates=("x",),
        energy=lambda q, p, th: q[0] ** 2,
        unilateral={"left": lambda q, p, th: q[0] - 1.0, "right": lambda q, p, th: -1.0 - q[0]},
    )
    found = onesided.solve(squeezed, start=[0.0], p=0.0, throw=False)
    assert not found.ok
    assert found.value.recheck.penetration > 0.1


@settings(max_examples=30)
@given(st.lists(st.floats(-2, 2), min_size=9, max_size=9), st.lists(st.floats(-3, 3), min_size=3, max_size=3))
def test_convex_problems_have_the_minimum_that_a_grid_cannot_beat(values, start):
    """Random convex quadratic in a box: compared with coordinate-free optimality, and with projected samples."""
    A = np.array(values).reshape(3, 3)
    parameters = {f"a{i}{j}": A[i, j] for i in range(3) for j in range(3)}
    system = BOX.replace(parameters=parameters)
    found = onesided.solve(system, start=start, p=1.0).value
    H = A @ A.T + np.eye(3)
    b = A[0]

    def energy(x):
        return x @ H @ x / 2 - b @ x

    assert np.all(np.abs(found.q) <= 0.5 + 1e-9)
    rng = np.random.default_rng(0)
    samples = np.clip(found.q + rng.normal(size=(200, 3)) * 0.2, -0.5, 0.5)
    assert energy(found.q) <= min(energy(x) for x in samples) + 1e-12


def _box_energy(q, p, th):
    A = jnp.array([[th[f"a{i}{j}"] for j in range(3)] for i in range(3)])
    return (jnp.sum((A.T @ q) ** 2) + jnp.sum(q**2)) / 2 - p * A[0] @ q


def _box():
    sides = {f"{side}{i}": partial(_wall, i, sign) for i in range(3) for side, sign in (("low", 1), ("high", -1))}
    names = [f"a{i}{j}" for i in range(3) for j in range(3)]
    return System(
        coordinates=("x", "y", "z"), energy=_box_energy, unilateral=sides, parameters=dict.fromkeys(names, 0.0)
    )


def _wall(i, sign, q, p, th):
    return 0.5 + sign * q[i]


BOX = _box()


def test_solve_of_a_system_needs_start_and_p():
    with pytest.raises(onesided.OnesidedError, match="needs a start and a value"):
        onesided.solve(onesided.System(("x",), lambda q, p, th: (q[0] - p) ** 2))


def test_a_wall_stated_twice_is_met_by_a_solution_with_dependent_constraints():
    """Newton's method gets there as well, but leaves the start: that is no reason to say that it stalled."""
    walls = {"wall": lambda q, p, th: 0.5 - q[0], "again": lambda q, p, th: jnp.expm1(0.5 - q[0])}
    system = System(("x",), lambda q, p, th: (q[0] - p) ** 2 / 2, unilateral=walls)
    found = onesided.solve(system, [0.2], 1.0, throw=False)
    assert found.status is Status.dependent
    assert found.value.q[0] == pytest.approx(0.5, abs=1e-12)
    assert found.value.lam.sum() == pytest.approx(0.5, abs=1e-12)
