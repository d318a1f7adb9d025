"""Singular points, branches and diagrams of sparse systems: as dense ones, and against closed forms."""

import itertools
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar

import numpy as np
import pytest

import onesided
from onesided.base.tolerances import DEFAULT
from onesided.elements import Bar, Beam, Body, Element, Force, Node
from onesided.results import Kind
from onesided.statics.curves.large import make_curve
from onesided.statics.curves.spectrum import negative_modes, soft_modes, split, stiffness_on
from onesided.statics.equilibria.place import place_near
from onesided.statics.rays.rays import rays_at

TALL = 2.5


@dataclass(frozen=True)
class Wall(Element):
    """A node stays on one side of a wall at x = `place`."""

    at: str = ""
    place: float = 0.0

    kind: ClassVar[str] = ""

    @property
    def places(self):
        return (self.at,)

    def numbers(self, start):
        return {"place": self.place}

    @property
    def gap_names(self):
        return ("",)

    def gaps(self, at):
        return (at.n.place - at.frames[0].position[0],)


@cache
def pyramid(feet, *, sparse):
    """Bars from the corners of a regular polygon to a high top: both sideways modes vanish together."""
    parts = [Node("top", (0.0, 0.0, TALL)), Force("load", "top", (0.0, 0.0, -1.0))]
    for i in range(feet):
        turn = 2 * np.pi * i / feet
        parts.append(Node(f"f{i}", (np.cos(turn), np.sin(turn), 0.0), fixed=True))
        parts.append(Bar(f"b{i}", (f"f{i}", "top"), stiffness=1.0))
    return onesided.compose(parts, sparse=sparse)


@cache
def roof(wall, *, sparse):
    """A high truss of two bars that gives way sideways, beside a wall."""
    parts = [Node("top", (0.0, TALL)), Force("load", "top", (0.0, -1.0)), Wall("wall", "top", wall)]
    for i, x in enumerate((-1.0, 1.0)):
        parts += [Node(f"f{i}", (x, 0.0), fixed=True), Bar(f"b{i}", (f"f{i}", "top"), stiffness=1.0)]
    return onesided.compose(parts, sparse=sparse)


def tower(storeys, *, sparse):
    """A braced tower in the plane under a load on its top: it buckles as a whole."""
    name, parts = "n{}_{}".format, []
    for i, j in itertools.product(range(2), range(storeys + 1)):
        parts.append(Node(name(i, j), (float(i), float(j)), fixed=j == 0))
    for j in range(storeys):
        ends = [((0, j), (0, j + 1)), ((1, j), (1, j + 1)), ((0, j), (1, j + 1)), ((1, j), (0, j + 1))]
        ends.append(((0, j + 1), (1, j + 1)))
        parts += [Bar(f"b{j}_{k}", (name(*a), name(*b)), stiffness=1.0) for k, (a, b) in enumerate(ends)]
    parts += [Force(f"load{i}", name(i, storeys), (0.0, -0.5)) for i in range(2)]
    return onesided.compose(parts, sparse=sparse)


@cache
def column(count, *, sparse, clamped=False):
    """A straight column of length one under a load on its end, EI = 1."""
    ends = ("x", "y", "angle") if clamped else ("x", "y")
    fixed = {0: ends, count: ends[1:]}
    parts = [Body(f"b{i}", (i / count, 0.0), fixed=fixed.get(i, False)) for i in range(count + 1)]
    parts += [Beam(f"e{i}", (f"b{i}", f"b{i + 1}"), EA="EA", EI=1.0) for i in range(count)]
    return onesided.compose([*parts, Force("load", f"b{count}", (-1.0, 0.0))], parameters={"EA": 1e6}, sparse=sparse)


def unit(ray):
    """Direction of a ray in (q, p), and what is told of it."""
    x = np.append(ray.q_dot, ray.p_dot)
    return x / np.linalg.norm(x), (ray.p_sign, ray.order, ray.instability, ray.closed)


def assert_same_rays(rays, others):
    """Every ray of one list has its like in the other."""
    assert len(rays) == len(others)
    assert rays.complete == others.complete
    for x, told in map(unit, rays.rays):
        near = [said for y, said in map(unit, others.rays) if np.max(np.abs(x - y)) < 1e-4]
        assert near == [told]


def assert_same_events(path, other, rtol=1e-9):
    """The same events at the same loads with the same rays."""
    told = [
        [(e.kind, e.constraints, e.instability_before, e.instability_after, e.detail) for e in p.events]
        for p in (path, other)
    ]
    assert told[0] == told[1]
    np.testing.assert_allclose([e.p for e in path.events], [e.p for e in other.events], rtol=rtol)
    for a, b in zip(path.events, other.events, strict=True):
        assert_same_rays(a.rays, b.rays)


@pytest.mark.parametrize("feet", [3, 4])
def test_both_modes_of_a_pyramid_vanish_at_once_sparse_as_dense(feet):
    paths = []
    for sparse in (False, True):
        system = pyramid(feet, sparse=sparse)
        paths.append(onesided.trace(system, system.start, 0.0, p_bounds=(-1.0, 2.0)))
    assert_same_events(*paths)
    event = paths[1].events[0]
    assert event.rays.multiplicity == 3
    assert len(event.rays) == 2 + 2 * feet
    # bars of length l: the balance of forces, and the sideways stiffness feet · (1 − l₀/l + l₀/(2 l³)) = 0
    height, rest = event.q[2], np.hypot(1.0, TALL)
    length = np.hypot(1.0, height)
    assert event.p == pytest.approx(feet * (rest / length - 1.0) * height, rel=1e-10)
    assert 1.0 - rest / length + rest / (2.0 * length**3) == pytest.approx(0.0, abs=1e-10)


def test_the_diagram_of_a_sparse_pyramid_is_that_of_a_dense_one():
    found = []
    for sparse in (False, True):
        system = pyramid(3, sparse=sparse)
        found.append(onesided.diagram(system, system.start, 0.0, p_bounds=(-0.1, 2.0)))
    ends = [sorted(np.round(path.q[-1], 6).tolist() for path in one.paths) for one in found]
    assert len(found[0].paths) == len(found[1].paths)
    assert found[1].complete
    np.testing.assert_allclose(ends[1], ends[0], atol=2e-6)


@pytest.mark.parametrize("wall", [0.0, 0.2])
def test_beside_a_wall_a_sparse_roof_does_what_a_dense_one_does(wall):
    found = []
    for sparse in (False, True):
        system = roof(wall, sparse=sparse)
        path = onesided.trace(system, system.start, 0.0, p_bounds=(-1.0, 1.5), throw=False)
        event = next(e for e in path.events if e.kind is not Kind.idle)
        branches = [onesided.branch(event, k, throw=False) for k in range(len(event.rays))]
        found.append((path, branches))
    assert_same_events(found[0][0], found[1][0])
    ends = [sorted(tuple(e.kind.value for e in branch.events) for branch in one[1]) for one in found]
    assert ends[0] == ends[1]
    assert any(Kind.corner_limit.value in kinds for kinds in ends[0]) == (wall > 0)  # one branch runs into the wall


def test_inverses_of_both_kinds_solve_the_linearised_equations():
    rng = np.random.default_rng(0)
    for sparse in (False, True):
        system = roof(0.2, sparse=sparse)
        path = onesided.trace(system, system.start, 0.0, p_bounds=(-1.0, 1.5), max_events=1)
        where = path.events[0].origin.where
        curve = make_curve(system, where.strong, where.sizes, where.scales)
        parts = split(curve, where.x, DEFAULT)
        e = curve.evaluate(where.x)
        assert parts.N.shape[1] == 2
        np.testing.assert_allclose(curve.times(e, parts.N), 0.0, atol=1e-9 * np.max(np.abs(parts.N)))
        right = rng.normal(size=curve.size - 1)
        right -= parts.Z @ np.linalg.lstsq(parts.Z, right, rcond=None)[0]
        np.testing.assert_allclose(curve.times(e, parts.inverse(right)[:, None])[:, 0], right, atol=1e-9)
        assert negative_modes(curve, where.x, DEFAULT) == 0
        columns, rows = rng.normal(size=(curve.size - 1, 1)), rng.normal(size=(2, curve.size))
        target = rng.normal(size=curve.size + 1)
        solved = parts.borders.solve(e, columns, rows, target)
        found = np.append(curve.times(e, solved[:-1, None])[:, 0] + columns[:, 0] * solved[-1], rows @ solved[:-1])
        np.testing.assert_allclose(found, target, atol=1e-8 * np.max(np.abs(solved)))


def test_holding_a_coordinate_of_a_sparse_system_tells_what_it_tells_of_a_dense_one():
    degrees = []
    for sparse in (False, True):
        system = roof(5.0, sparse=sparse)
        path = onesided.trace(system, system.start, 0.0, p_bounds=(-1.0, 1.5))
        degrees.append(
            [(path.p[i], onesided.instability(system, path, hold=hold)[i]) for hold in (None, "top_x") for i in (0, -1)]
        )
    assert [d for _, d in degrees[0]] == [d for _, d in degrees[1]] == [0, 1, 0, 0]


@pytest.fixture(scope="module")
def sparse_column():
    """A pinned column with 3 · 24 unknowns."""
    return column(24, sparse=True)


@pytest.mark.parametrize("EA", [1e3, 1e5, 1e7])
def test_euler_loads_of_an_extensible_column(sparse_column, EA):
    """P (1 − P/EA) = (k π)²: curvature is measured on the unloaded column; elements know strains to first order."""
    system = sparse_column.replace(parameters={"EA": EA})
    path = onesided.trace(system, system.start, 0.0, p_bounds=(0.0, 45.0))
    pitchforks = [event for event in path.events if event.kind is Kind.smooth_bifurcation]
    assert len(pitchforks) == 2
    for k, event in enumerate(pitchforks, start=1):
        P, strain = (k * np.pi) ** 2, event.p / EA
        assert event.p * (1.0 - strain) == pytest.approx(P, rel=2e-5 * k**4 + strain**2)
        assert event.detail == "symmetric, 3 branches lead on"
        assert sorted(ray.order for ray in event.rays.rays) == [1, 1, 2, 2]
        assert all(ray.p_sign == 1 for ray in event.rays.rays if ray.order == 2)


@pytest.mark.parametrize("unloaded", [True, False])
def test_soft_modes_of_a_column_are_measured_by_the_stiffness_of_its_elements(sparse_column, unloaded):
    """κ = 1 − P/P_k for all modes of bending by the unloaded stiffness; turning elements add P/P_k to it under load."""
    path = onesided.trace(sparse_column, sparse_column.start, 0.0, p_bounds=(0.0, 9.0))
    place = path.events[-1].origin.where
    sizes = sparse_column.sizes(sparse_column.start, 0.0) if unloaded else place.sizes
    curve = make_curve(sparse_column, place.strong, sizes, place.scales)
    e = curve.evaluate(place.x)
    modes = soft_modes(curve, e, 3, DEFAULT)
    kappa = np.diagonal(stiffness_on(curve, e, modes))
    share = 9.0 / (np.pi * np.arange(1, 4)) ** 2
    expected, accuracy = (1.0 - share, 1e-4) if unloaded else ((1.0 - share) / (1.0 + share), 5e-3)
    np.testing.assert_allclose(kappa, expected, atol=accuracy)
    np.testing.assert_allclose(modes.T @ curve.reference_times(modes), np.eye(3), atol=1e-7)


def test_the_buckled_column_is_the_elastica(sparse_column):
    """P/P₁ = 1 + (π²/8)(w/L)² for small deflections w, and both branches are mirror images."""
    path = onesided.trace(sparse_column, sparse_column.start, 0.0, p_bounds=(0.0, 9.95), max_events=1)
    event = path.events[0]
    origin = replace(event.origin, max_events=None)
    i = sparse_column.coordinates.index("b12_y")
    for k in (k for k, ray in enumerate(event.rays.rays) if ray.order == 2):
        branch = onesided.branch(replace(event, origin=origin), k)
        w = branch.q[-1, i]
        assert branch.instability[-1] == 0
        assert branch.p[-1] / event.p - 1.0 == pytest.approx(np.pi**2 / 8 * w * w, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("EA", [1e2, 1e4, 1e6])
def test_a_column_of_120_elements_sparse_as_dense(EA):
    paths = []
    for sparse in (False, True):
        system = column(120, sparse=sparse).replace(parameters={"EA": EA})
        paths.append(onesided.trace(system, system.start, 0.0, p_bounds=(0.0, 13.0)))
    kinds = [[(e.kind, e.detail, e.instability_after) for e in path.events] for path in paths]
    assert kinds[0] == kinds[1]
    np.testing.assert_allclose([e.p for e in paths[0].events], [e.p for e in paths[1].events], rtol=1e-8)
    told = [sorted((r.p_sign, r.order) for r in path.events[0].rays.rays) for path in paths]
    assert told[0] == told[1]


@pytest.mark.slow
@pytest.mark.parametrize(("clamped", "load"), [(False, np.pi**2), (True, 4 * np.pi**2)])
@pytest.mark.parametrize("EA", [1e4, 1e6, 1e8])
def test_euler_loads_of_400_elements(clamped, load, EA):
    system = column(400, sparse=True, clamped=clamped).replace(parameters={"EA": EA})
    path = onesided.trace(system, system.start, 0.0, p_bounds=(0.0, 1.2 * load), max_events=1)
    event = path.events[0]
    assert event.kind is Kind.smooth_bifurcation
    assert event.p * (1.0 - event.p / EA) == pytest.approx(load, rel=1e-5)
    assert sorted((ray.p_sign, ray.order) for ray in event.rays.rays) == [(-1, 1), (1, 1), (1, 2), (1, 2)]


@pytest.mark.slow
def test_the_diagram_of_a_sparse_column(sparse_column):
    found = onesided.diagram(sparse_column, sparse_column.start, 0.0, p_bounds=(-1.0, 12.0))
    assert found.complete
    assert len(found.paths) == 4  # straight, pulled, and bent to either side
    i = sparse_column.coordinates.index("b12_y")
    ends = sorted(path.q[-1, i] for path in found.paths)
    assert ends[0] == pytest.approx(-ends[-1], rel=1e-7)


def test_rays_at_a_regular_point_of_a_large_system():
    for sparse in (False, True):
        system = tower(4, sparse=sparse)
        rays = rays_at(place_near(system, system.start, 0.0))
        assert sorted(ray.p_sign for ray in rays.rays) == [-1, 1]
        assert rays.complete
