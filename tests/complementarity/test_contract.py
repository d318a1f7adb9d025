"""Every method × every named problem."""

import dataclasses

import numpy as np
import pytest
from problems import NAMED

from onesided import Status
from onesided.base.errors import SolveError, UsageError
from onesided.base.tolerances import DEFAULT
from onesided.complementarity import (
    LCP,
    ActiveSet,
    Enumeration,
    GaussSeidel,
    HopfieldNetwork,
    Lemke,
    PrintedHopfield,
    QuadraticProgram,
    SemismoothNewton,
    solve,
)

METHODS = [
    ActiveSet(),
    Lemke(),
    GaussSeidel(max_iterations=1000),
    SemismoothNewton(),
    QuadraticProgram(),
    Enumeration(),
    HopfieldNetwork(max_iterations=5000),
    None,
]

SLOW = "sweeps grow with the condition number"
SYMMETRIC = "needs a symmetric positive semidefinite M"
LARGE = "2ⁿ pieces are too many"
# (method, problem): (how it ends, why)
EXPECTED = {
    ("ActiveSet", "REFERENCE B4.2 p'=+1"): (Status.singular, "G11 = 0 is on the way"),
    ("GaussSeidel", "cond 1e6 n=20"): (Status.max_iterations, SLOW),
    ("HopfieldNetwork", "cond 1e6 n=20"): (Status.max_iterations, SLOW),
    ("GaussSeidel", "nonsymmetric P n=20"): (Status.max_iterations, "sweeps do not contract without symmetry"),
    ("SemismoothNewton", "REFERENCE B4.2 p'=+1"): (Status.stalled, "its merit falls towards infinity"),
    ("GaussSeidel", "REFERENCE B4.2 p'=+1"): (Status.not_applicable, "zero on the diagonal"),
    ("Lemke", "REFERENCE B4.2 p'=+1"): (Status.ray_termination, "M is not copositive"),
    ("HopfieldNetwork", "REFERENCE B4.2 p'=+1"): (Status.max_iterations, "M is indefinite: V runs away"),
    ("QuadraticProgram", "nonsymmetric P n=20"): (Status.not_applicable, SYMMETRIC),
    ("QuadraticProgram", "REFERENCE B4.2 p'=+1"): (Status.not_applicable, SYMMETRIC),
    ("Enumeration", "definite n=30"): (Status.not_applicable, LARGE),
    ("Enumeration", "cond 1e6 n=20"): (Status.not_applicable, LARGE),
    ("Enumeration", "nonsymmetric P n=20"): (Status.not_applicable, LARGE),
}


def name_of(method):
    return type(method).__name__ if method else "automatic"


@pytest.mark.parametrize("named", NAMED, ids=lambda named: named.name)
@pytest.mark.parametrize("method", METHODS, ids=name_of)
def test_method_solves_or_says_why_not(method, named):
    solution = solve(named.problem, method, throw=False)
    M, q, z = named.problem.M, named.problem.q, solution.value
    assert z.shape == q.shape and np.isfinite(z).all()
    if (name_of(method), named.name) in EXPECTED:
        assert solution.status is EXPECTED[name_of(method), named.name][0]
        return
    if named.solutions == ():
        assert not solution.ok
        return
    assert solution.status is Status.solved
    w = M @ z + q
    size = np.abs(q).max() + (np.abs(M) @ np.abs(z)).max()
    assert (z >= 0).all() and (w >= -1e-9 * size).all()
    assert abs(z @ w) <= 1e-8 * size * max(np.abs(z).sum(), 1e-300)
    assert solution.residual == named.problem.relative_residual(z) <= DEFAULT.complementarity
    if named.solutions is not None:
        loss = 1e-6 if "cond" in named.name else 1e-8
        assert min(np.abs(z - known).max() for known in named.solutions) <= loss


@pytest.mark.parametrize("method", [None, Enumeration()], ids=name_of)
@pytest.mark.parametrize("named", [n for n in NAMED if n.solutions == ()], ids=lambda named: named.name)
def test_emptiness_is_proven(method, named):
    assert solve(named.problem, method, throw=False).status is Status.no_solution
    with pytest.raises(SolveError, match="no solution") as caught:
        solve(named.problem, method)
    assert caught.value.partial.status is Status.no_solution


def test_quadratic_program_proves_emptiness_by_a_direction():
    problem = LCP([[1, -1], [-1, 1]], [-1, -1])
    solution = solve(problem, QuadraticProgram(), throw=False)
    assert solution.status is Status.no_solution
    d = np.ones(2)  # d ≥ 0, Mᵀd = 0, q·d < 0: no z ≥ 0 has M z + q ≥ 0
    assert not (problem.M.T @ d).any() and problem.q @ d < 0


@pytest.mark.parametrize("method", METHODS, ids=name_of)
def test_a_problem_without_unknowns_is_solved(method):
    problem = LCP(np.zeros((0, 0)), np.zeros(0))
    solution = solve(problem, method, throw=False)
    assert solution.value.shape == (0,)
    assert solution.ok


@pytest.mark.parametrize("method", [m for m in METHODS if m], ids=name_of)
def test_equal_questions_get_equal_answers_and_starts_are_left_alone(method):
    problem, start = NAMED[3].problem, np.array([0.3, 0.2])
    first = solve(problem, method, start)
    second = solve(problem, method, start)
    np.testing.assert_array_equal(first.value, second.value)
    np.testing.assert_array_equal(start, [0.3, 0.2])
    np.testing.assert_allclose(first.value, [1, 0], atol=1e-8)


@pytest.mark.parametrize("named", NAMED, ids=lambda named: named.name)
def test_the_solution_is_a_good_start(named):
    first = solve(named.problem, throw=False)
    if first.ok:
        again = solve(named.problem, ActiveSet(), start=first.value, throw=False)
        if again.ok:
            assert again.stats["iterations"] == 1


BAD_KNOBS = [
    (ActiveSet, {"max_iterations": 0}),
    (ActiveSet, {"patience": -1}),
    (Lemke, {"pivots_per_unknown": 0}),
    (GaussSeidel, {"relaxation": 2.0}),
    (SemismoothNewton, {"halvings": 0}),
    (QuadraticProgram, {"ridge": 0.0}),
    (Enumeration, {"limit": 40}),
    (HopfieldNetwork, {"step": -1.0}),
    (PrintedHopfield, {"forces": -1.0}),
]


@pytest.mark.parametrize(("kind", "knobs"), BAD_KNOBS)
def test_knobs_are_checked_and_the_value_is_shown(kind, knobs):
    with pytest.raises(UsageError, match=str(next(iter(knobs.values())))):
        kind(**knobs)


@pytest.mark.parametrize("method", [m for m in METHODS if m], ids=name_of)
def test_methods_are_frozen_values(method):
    assert method == dataclasses.replace(method)
    with pytest.raises(dataclasses.FrozenInstanceError):
        method.extra = 1
