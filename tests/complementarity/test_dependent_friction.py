"""Coulomb's law for contacts that depend on each other: solved to round-off, in the plane and in space."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onesided.complementarity.compliant import as_compliant
from onesided.complementarity.friction import FrictionProblem, solve_friction
from onesided.complementarity.polyhedral import polyhedral


def problem(seed, directions, contacts=4, freedom=3):
    """Contacts that outnumber the coordinates, with forces that can balance."""
    rng = np.random.default_rng(seed)
    rows = contacts * (1 + directions)
    W = rng.normal(size=(rows, freedom))
    u = W @ rng.normal(size=freedom)
    return FrictionProblem(W @ W.T, u, rng.uniform(0.1, 0.8, contacts), np.full(contacts, directions))


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_in_the_plane_pivoting_is_exact(seed):
    found = polyhedral(problem(seed, 1))
    assert found is not None
    assert problem(seed, 1).residual(found) < 1e-10


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), directions=st.sampled_from([1, 2]))
def test_dependent_contacts_are_solved(seed, directions):
    P, off = solve_friction(problem(seed, directions, freedom=3 * directions), tol=1e-12)
    assert off < 1e-9
    assert np.all(np.isfinite(P))


def test_four_equal_legs_carry_the_same():
    """A table: normal rows of four corners, one combination of which does nothing."""
    x, y = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, -1.0, 1.0, -1.0])
    W = np.column_stack([np.ones(4), x, y])
    table = FrictionProblem(W @ W.T, -np.ones(4), np.zeros(4), np.zeros(4, dtype=int))
    uneven = np.full(4, 0.25) + 0.05 * np.array([1.0, -1.0, -1.0, 1.0])
    assert table.residual(uneven) < 1e-15
    assert as_compliant(table, uneven, resting=1e-12, tol=1e-12)[0] == pytest.approx(np.full(4, 0.25))


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), directions=st.sampled_from([1, 2]))
def test_compliance_that_vanishes_solves_the_same_problem(seed, directions):
    """The forces are near those of contacts with a small compliance, in proportion to it."""
    one = problem(seed, directions, freedom=3 * directions)
    P, off = solve_friction(one, tol=1e-12)
    shared, after = as_compliant(one, P, resting=1e-10 * float(np.max(np.abs(one.u))), tol=max(off, 1e-9))
    if not np.isfinite(after):  # told, and left to the caller
        return
    assert one.residual(shared) < max(10.0 * off, 1e-8)
    stiff, size = float(np.max(np.diagonal(one.D))), float(np.max(np.abs(P))) or 1.0
    soft, within = solve_friction(one.shifted(1e-6 * stiff), shared, tol=1e-14)
    if within < 1e-12:
        assert one.D @ shared == pytest.approx(one.D @ soft, abs=1e-3 * stiff * size)


def almost_flat(rng):
    """A box that is tilted by almost nothing above a floor and comes down: its four corners cannot all stick."""
    size, tilt = rng.uniform(0.1, 0.4, 3), 10.0 ** rng.uniform(-8.0, -4.0) * rng.normal(size=2)
    inertia = (np.sum(size**2) - size**2) / 3.0
    rows, heights = [], []
    for a, b in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        corner = size * [a, b, -1]
        corner = corner + np.cross([*tilt, 0.0], corner)
        heights.append(corner[2])
        rows += [[*d, *np.cross(corner, d)] for d in ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))]
    W = np.array(rows)
    v = np.r_[rng.normal(size=2) * 10.0 ** rng.uniform(-6.0, -1.0), -0.01, 0.01 * rng.normal(size=3)]
    u = W @ v
    u[::3] += (np.array(heights) - min(heights)) / 1e-3
    D = W @ np.diag([1.0, 1.0, 1.0, *1.0 / inertia]) @ W.T
    return FrictionProblem(D, u, np.full(4, rng.uniform(0.2, 0.9)), np.full(4, 2), float(np.max(np.abs(u))))


@pytest.mark.parametrize("seed", range(40))
def test_corners_of_a_box_that_cannot_all_stick(seed):
    """Signs, cones and directions of friction of the solution, from the velocities that it makes."""
    problem = almost_flat(np.random.default_rng([11, seed]))
    P, off = solve_friction(problem, tol=1e-12)
    assert off <= 1e-9
    w, size, fast = (problem.D @ P + problem.u).reshape(4, 3), np.max(np.abs(P)), np.max(np.abs(problem.u))
    normal, rub = P[::3], P.reshape(4, 3)[:, 1:]
    limit = problem.mu * normal
    assert np.min(normal) >= -1e-9 * size
    assert np.min(w[:, 0]) >= -1e-8 * fast
    assert np.max(np.abs(normal * w[:, 0])) <= 1e-8 * size * fast
    assert np.all(np.linalg.norm(rub, axis=1) <= limit + 1e-8 * size)
    power, slip = np.sum(rub * w[:, 1:], axis=1), np.linalg.norm(w[:, 1:], axis=1)
    assert power == pytest.approx(-limit * slip, abs=1e-8 * size * fast)
