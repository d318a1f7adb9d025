"""Diagrams of symmetric structures: multiple bifurcations found whole, their branches folded into families."""

import numpy as np
import pytest
from symmetric_structures import dome, kresling, normal_form, pyramid, sway_load

import onesided
from onesided import Kind, Symmetry


@pytest.mark.parametrize("n", [3, 5, *(pytest.param(n, marks=pytest.mark.slow) for n in (4, 6, 7, 8))])
def test_pyramids_sway_in_two_families(n):
    """At the double bifurcation n branches lean towards bars, n away from them or between; all keep one mirror."""
    system = pyramid(n)
    folded = onesided.diagram(system, system.start, 0.0, p_bounds=(-0.1, 1.7), symmetry="detect")
    fork = folded.events[0]
    assert fork.kind is Kind.smooth_bifurcation and fork.p == pytest.approx(sway_load(2.0), rel=1e-9)
    assert sorted(ray.isotropy for ray in fork.rays.rays) == sorted([f"C{n}v"] * 2 + ["mirror"] * 2 * n)
    assert folded.complete and folded.multiplicity == (1, 1, n, n)
    assert [path.isotropy for path in folded.paths] == [f"C{n}v", f"C{n}v", "mirror", "mirror"]


@pytest.mark.parametrize("n", [12, *(pytest.param(n, marks=pytest.mark.slow) for n in (9, 10, 11, 13))])
def test_families_are_found_where_no_order_decides(n):
    """Twelve bars: the order that decides is eleven. Within each mirror the bifurcation is simple."""
    system = pyramid(n)
    folded = onesided.diagram(system, system.start, 0.0, p_bounds=(-0.1, 1.7), symmetry="detect")
    fork = folded.events[0]
    assert fork.p == pytest.approx(sway_load(2.0), rel=1e-9)
    assert sorted(ray.isotropy for ray in fork.rays.rays) == sorted([f"C{n}v"] * 2 + ["mirror"] * 2 * n)
    assert folded.multiplicity == (1, 1, n, n)
    assert [path.isotropy for path in folded.paths] == [f"C{n}v", f"C{n}v", "mirror", "mirror"]
    assert str(2 * n + 1) in fork.detail


@pytest.mark.parametrize("n", [5, pytest.param(6, marks=pytest.mark.slow)])
def test_as_many_branches_as_without_folding(n):
    system = normal_form(n)
    angle = 2 * np.pi / n
    turn = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    group = Symmetry.of(system, {"turn": turn, "mirror": {"y": "-y"}})
    folded = onesided.diagram(system, [0.0, 0.0], -1.0, p_bounds=(-1, 0.5), symmetry=group)
    whole = onesided.diagram(system, [0.0, 0.0], -1.0, p_bounds=(-1, 0.5), max_branches=100)
    assert folded.complete and whole.complete
    assert folded.multiplicity == (1, n, n) and len(whole.paths) == 1 + 2 * n


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 4, 5, 6, 8])
def test_branches_of_domes_are_equilibria_with_their_symmetry(n):
    """Each folded branch keeps a subgroup: |G| = multiplicity × order of it, and every image is in equilibrium."""
    system = dome(n)
    group = onesided.symmetry_of(system)
    found = onesided.diagram(system, system.start, 0.0, p_bounds=(-0.001, 0.02), symmetry=group, max_branches=5)
    for path, count in zip(found.paths, found.multiplicity, strict=True):
        assert count * len(group.isotropy(path.q)) in {len(group), 2 * len(group)}
        for q in group.images(path.q[-1]):
            assert np.max(np.abs(system.evaluate(q, path.p[-1], np.zeros(0)).L_q)) < 1e-9


@pytest.mark.slow
def test_a_kresling_ring_twists_as_a_whole():
    """Within its symmetry three coordinates do for eighteen: height, radius and turn of the free ring."""
    system = kresling(6)
    inside = onesided.within(system, "detect")
    assert inside.system.n == 3
    path = inside.lift(onesided.trace(inside.system, inside.start(system.start), 0.0, p_bounds=(0.0, 0.1)))
    whole = onesided.trace(system, system.start, 0.0, p_bounds=(0.0, 0.1))
    assert path.q[-1] == pytest.approx(whole.q[-1], abs=1e-8)
    assert path.instability[-1] == whole.instability[-1]
    nodes = path.q[-1].reshape(6, 3)
    angles = np.unwrap(np.arctan2(nodes[:, 1], nodes[:, 0]))
    assert np.diff(angles) == pytest.approx([np.pi / 3] * 5) and np.ptp(nodes[:, 2]) < 1e-12
