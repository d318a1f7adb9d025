"""Solution sets of the rate problems in REFERENCE B3, B4, B6, B7: LCP with matrix G and vector p' ĝ."""

import numpy as np
import pytest
from problems import BEAM, CYCLING, END_POINT

from onesided import Status
from onesided.complementarity import LCP, ActiveSet, Lemke, all_solutions, solve

THIRD = -np.array([[2, 1], [1, 2]]) / 3
CASES = {
    "B3 eps=0.5": ([[2.5, -1.5], [-1.5, 2.5]], (1, 1), [(0, 0)], [(1, 1)]),
    "B3 eps=-0.5": ([[-1.5, 2.5], [2.5, -1.5]], (1, 1), [(0, 0), (0, 2 / 3), (2 / 3, 0)], [(1, 1)]),
    "B3 eps=-3": ([[1 / 6, 5 / 6], [5 / 6, 1 / 6]], (1, 1), [(0, 0)], [(0, 6), (1, 1), (6, 0)]),
    "B4.1": (THIRD, (1, 0), [(0, 0)], []),
    # φ = (p, 0) with λ = (0, 0.1), and φ = (1.0333, 0.0667) with λ = 0: U' = (2, −0.9) gives ĝ = (31, 2) / 30
    "B4.1 delta=-0.1": (THIRD, (31 / 30, 1 / 15), [(0, 0), (0, 0.1)], []),
    "B4.1 delta=+0.1": (THIRD, (29 / 30, -1 / 15), [], []),
    "B4.2": ([[0, 1], [1, -1]], (-0.5, 1), [(0, 1)], []),
    "B4.2 G11=+0.05": ([[0.05, 1], [1, -1]], (-0.5, 1), [(0, 1), (10, 0)], []),
    "B4.2 G11=-0.05": ([[-0.05, 1], [1, -1]], (-0.5, 1), [(0, 1)], [(10, 0)]),
    "B6": ([[0]], (1,), [(0,)], []),
    "B7 beam": ([[1, -0.9], [-0.9, 1]], (-0.4, 0.55), [(0.4, 0)], [(0.5, 1)]),
}
BY_SIGN = [
    pytest.param(G, sign * np.array(g_hat, dtype=float), expected, id=f"{name} p'={sign:+d}")
    for name, (G, g_hat, *both) in CASES.items()
    for sign, expected in zip((1, -1), both, strict=True)
]


@pytest.mark.parametrize(("G", "q", "expected"), BY_SIGN)
def test_solution_sets_are_exactly_those_of_the_reference(G, q, expected):
    found = all_solutions(LCP(G, q))
    assert not found.families
    assert len(found.points) == len(expected)
    np.testing.assert_allclose(found.points, np.reshape(expected, (-1, len(q))), atol=1e-12)
    assert found.empty == (not expected)
    assert solve(LCP(G, q), throw=False).status is (Status.solved if expected else Status.no_solution)


def test_b42_without_load_rate_has_one_ray():
    found = all_solutions(LCP(END_POINT.M, [0, 0]))
    assert not found.isolated
    (ray,) = found.families
    np.testing.assert_allclose(ray.vertices, [[0, 0]])
    np.testing.assert_allclose(ray.rays, [[1, 0]])
    assert ray.pieces == ((0,),) and ray.dimension == 1


def test_b41_without_load_rate_stands_still():
    found = all_solutions(LCP(THIRD, [0, 0]))
    np.testing.assert_array_equal(found.points, [[0, 0]])
    assert not found.families
    assert len(found.isolated[0].pieces) == 4  # the origin belongs to every piece, and is listed once


def test_b6_without_load_rate_is_a_family():
    (family,) = all_solutions(LCP([[0]], [0])).families
    np.testing.assert_array_equal(family.vertices, [[0]])
    np.testing.assert_array_equal(family.rays, [[1]])


@pytest.mark.parametrize(
    ("G11", "sign", "solvable"), [(0, 1, True), (-0.05, 1, True), (-0.05, -1, True), (0, -1, False)]
)
def test_lemke_ends_on_a_ray_whether_or_not_there_is_a_solution(G11, sign, solvable):
    problem = LCP([[G11, 1], [1, -1]], sign * END_POINT.q)
    assert solve(problem, Lemke(), throw=False).status is Status.ray_termination
    assert solve(problem, throw=False).ok is solvable


def naive_sets(problem, count):
    """The sets that "active = violated" visits, starting from none."""
    active, visited = np.zeros(problem.n, dtype=bool), []
    for _ in range(count):
        z = np.zeros(problem.n)
        z[active] = np.linalg.solve(problem.M[np.ix_(active, active)], -problem.q[active])
        w = problem.M @ z + problem.q
        active = np.where(active, z > 0, w < 0)
        visited.append(tuple(np.flatnonzero(active) + 1))
    return visited


def test_b7_the_naive_set_cycles_and_the_safeguard_does_not():
    assert naive_sets(CYCLING, 6) == [(3,), (1, 2, 3), (2,), (3,), (1, 2, 3), (2,)]
    plain = solve(CYCLING, ActiveSet(safeguard=False), start=np.zeros(3), throw=False)
    assert plain.status is Status.cycling
    guarded = solve(CYCLING, ActiveSet(), start=np.zeros(3))
    np.testing.assert_allclose(guarded.value, [0, 4 / 19, 11 / 19], rtol=1e-13)
    np.testing.assert_allclose(CYCLING.M @ guarded.value + CYCLING.q, [3 / 19, 0, 0], atol=1e-14)
    np.testing.assert_allclose(all_solutions(CYCLING).points, [[0, 4 / 19, 11 / 19]], rtol=1e-13)


def test_b7_beam_both_dropped_penetrates_but_the_solution_does_not():
    both = np.linalg.solve(BEAM.M, -BEAM.q)
    np.testing.assert_allclose(both, [-0.5, -1])
    assert BEAM.q[0] < 0  # dropping both lets contact 1 penetrate
    z = solve(BEAM).value
    np.testing.assert_allclose(z, [0.4, 0], rtol=1e-14)
    np.testing.assert_allclose(BEAM.M @ z + BEAM.q, [0, 0.19], atol=1e-14)
