"""Structures in other units of length and force: the same events at the same loads, along the same points.

Angles have no unit, so the sizes of lengths beside them must come from the structure.
"""

import jax.numpy as jnp
import numpy as np
import pytest

import onesided
from onesided.elements import (
    Beam,
    Body,
    Cable,
    Force,
    Gravity,
    Marker,
    Node,
    PlaneContact,
    Revolute,
    SpatialBeam,
    Spring,
    TorsionSpring,
)
from onesided.structures.without_slack import in_motion


def mast(m, N):
    """A cantilever of beams with four cables, two of which go slack."""
    parts = [Body(f"n{i}", (0.0, m * i / 4), fixed=i == 0) for i in range(5)]
    parts += [Beam(f"b{i}", (f"n{i}", f"n{i + 1}"), EA=N, EI=3e-4 * N * m**2) for i in range(4)]
    for name, at, foot, share in (("a", 2, -0.6, 0.3), ("b", 2, 0.9, 0.6), ("c", 4, -0.7, 0.5), ("d", 4, 0.8, 0.2)):
        parts.append(Node(f"{name}_foot", (foot * m, 0.0), fixed=True))
        stiff, tight = 0.01 * N, 3e-4 * N * share
        parts.append(Cable(name, (f"n{at}", f"{name}_foot"), modulus_area=stiff, pretension=tight))
    parts.append(Force("tip", "n4", (1.2e-4 * N, -6e-4 * N)))
    return [*parts, Force("wind", "n2", (2e-5 * N, 0.0), constant=True)]


def column(m, N):
    """A cantilever pressed beside its axis, with a wall beside it."""
    parts = [Body(f"n{i}", (0.0, m * i / 8), fixed=i == 0) for i in range(9)]
    parts += [Beam(f"b{i}", (f"n{i}", f"n{i + 1}"), EA=N, EI=1e-5 * N * m**2) for i in range(8)]
    wall = [PlaneContact(f"w{i}", f"n{i}", (-1.0, 0.0), (0.06 * m, 0.0)) for i in range(1, 9)]
    return [*parts, *wall, Force("tip", "n8", (4e-8 * N, -1.2e-5 * N))]


def arch(m, N):
    """A shallow arch over a floor, loaded beside its crown."""
    x = np.linspace(0.0, 1.0, 9)
    places = np.column_stack([x, 0.12 * np.sin(np.pi * x)]) * m
    parts = [Body(f"n{i}", tuple(place), fixed="xy" if i in {0, 8} else False) for i, place in enumerate(places)]
    parts += [Beam(f"b{i}", (f"n{i}", f"n{i + 1}"), EA=N, EI=1e-4 * N * m**2) for i in range(8)]
    floor = [PlaneContact(f"f{i}", f"n{i}", (0.02, 1.0), (0.0, -0.07 * m)) for i in range(1, 8)]
    return [*parts, *floor, Force("load", "n3", (0.0, -2e-3 * N))]


def hinges(m, N):
    """Two rigid links with torsion springs, pushed over beside a stop."""
    parts = [Body("a", (0.0, 0.0), fixed="xy"), Body("b", (0.0, m)), Node("tip", (0.01 * m, 2.0 * m))]
    parts += [Node("ground", (0.0, 0.0), fixed=True), Body("base", (0.0, 0.0), fixed=True)]
    parts += [TorsionSpring("foot", ("base", "a"), stiffness=0.3 * N * m)]
    parts += [
        TorsionSpring("knee", ("a", "b"), stiffness=0.1 * N * m),
        Spring("upper", ("b", "tip"), stiffness=50 * N / m),
    ]
    parts += [Marker("end", "a", (0.0, m)), Revolute("pin", ("end", "b"))]
    parts += [Spring("side", ("tip", "ground"), stiffness=0.01 * N / m)]
    return [*parts, PlaneContact("stop", "b", (-1.0, 0.0), (0.2 * m, 0.0)), Force("load", "tip", (0.02 * N, -0.2 * N))]


def bow(m, N):
    """A bent beam in space, clamped, pressed at its tip, with a cable that goes slack."""
    places = [(0.02 * m * i * i / 16, 0.01 * m * i / 4, m * i / 4) for i in range(5)]
    parts = [Body(f"n{i}", place, fixed=i == 0) for i, place in enumerate(places)]
    stiff = {"EA": N, "EI": (1e-4 * N * m**2, 2e-4 * N * m**2), "GJ": 1e-4 * N * m**2}
    parts += [SpatialBeam(f"b{i}", (f"n{i}", f"n{i + 1}"), **stiff) for i in range(4)]
    parts += [Node("foot", (0.5 * m, 0.2 * m, 0.0), fixed=True)]
    parts += [Cable("guy", ("n4", "foot"), modulus_area=0.01 * N, pretension=2e-5 * N)]
    return [*parts, Force("load", "n4", (1e-5 * N, 0.0, -2e-4 * N))]


STRUCTURES = {"mast": mast, "column": column, "arch": arch, "hinges": hinges, "bow": bow}


def traced(name, m, N, *, sparse=None):
    system = onesided.compose(STRUCTURES[name](m, N), sparse=sparse)
    return onesided.trace(system, p_bounds=(-0.2, 4.0), max_events=12, throw=False)


@pytest.fixture(scope="module", params=STRUCTURES)
def usual(request):
    path = traced(request.param, 1.0, 1.0)
    assert path.ok
    return request.param, path


@pytest.mark.parametrize(("m", "N"), [(1e3, 1.0), (1e6, 1e3), (1e-6, 1e-3)])
def test_events_do_not_depend_on_units(usual, m, N):
    name, path = usual
    other = traced(name, m, N)
    assert other.status is path.status
    assert [event.kind for event in other.events] == [event.kind for event in path.events]
    assert [event.constraints for event in other.events] == [event.constraints for event in path.events]
    assert [event.instability_after for event in other.events] == [event.instability_after for event in path.events]
    np.testing.assert_allclose([event.p for event in other.events], [event.p for event in path.events], rtol=1e-8)


@pytest.mark.parametrize(("m", "N"), [(2.0**20, 1.0), (2.0**-20, 2.0**10)])
def test_points_do_not_depend_on_units(usual, m, N):
    """Powers of two change no digit of any product."""
    name, path = usual
    other = traced(name, m, N)
    assert len(other) == len(path)
    np.testing.assert_allclose(other.p, path.p, rtol=0, atol=1e-7)


def test_sparse_structures_in_millimetres():
    dense, sparse = (traced("mast", 1e3, 1.0, sparse=one) for one in (False, True))
    assert sparse.kinds() == dense.kinds()
    np.testing.assert_allclose([event.p for event in sparse.events], [event.p for event in dense.events], rtol=1e-8)


def pendulum(unit):
    """A weight on a spring that swings: r in some unit of length beside an angle."""

    def energy(q, p, th):
        r, phi = q[0] / unit, q[1]
        return 50.0 * (r - 1.0) ** 2 + 0.05 * (phi - 0.1) ** 2 + p * r * jnp.cos(phi)

    scales = onesided.Scales(unit=(unit, 1.0))
    system = onesided.System(("r", "phi"), energy, scales=scales)
    return onesided.trace(system, [unit, 0.1], 0.0, p_bounds=(-1.0, 1.0))


@pytest.mark.parametrize("unit", [1e-6, 1e3, 1e6])
def test_formulas_state_their_units(unit):
    path, other = pendulum(1.0), pendulum(unit)
    assert len(other) == len(path)
    np.testing.assert_allclose(other.p, path.p, atol=1e-8)
    np.testing.assert_allclose(other.q[:, 1], path.q[:, 1], atol=1e-8)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_files_state_the_units_of_their_coordinates(unit):
    system, task = onesided.loads(f"""
energy = "50*(r/U - 1)**2 + 0.05*(phi - 0.1)**2 + p*r/U*cos(phi)"
[parameters]
U = {unit}
[coordinates]
r = {unit}
phi = 0.1
[control]
range = [-1, 1]
start = 0
[scales]
unit = {{r = {unit}}}
""")
    np.testing.assert_array_equal(system.units, (unit, 1.0))
    path, other = pendulum(1.0), onesided.trace(system, task.start, 0.0, p_bounds=(-1.0, 1.0))
    assert len(other) == len(path)
    np.testing.assert_allclose(other.p, path.p, atol=1e-8)
    np.testing.assert_allclose(other.q / (unit, 1.0), path.q, atol=1e-8)


BESIDE_PARTS = """
energy = "r**2/2000 - p*r/1000"
[coordinates]
r = 0
[node.a]
at = [0, 0]
fixed = true
[node.b]
at = ["L", 0]
[bar.k]
ends = ["a", "b"]
stiffness = 1
[parameters]
L = 5
[control]
range = [0, 1]
[scales]
unit = {r = 1000}
"""


def test_a_coordinate_beside_parts_has_its_own_unit():
    system, _ = onesided.loads(BESIDE_PARTS)
    assert dict(zip(system.coordinates, system.units, strict=True)) == {"b_x": 5.0, "b_y": 5.0, "r": 1000.0}
    np.testing.assert_array_equal(system.replace(parameters={"L": 50.0}).units, (50.0, 50.0, 1000.0))
    with pytest.raises(onesided.ModelFileError, match="belongs to a part"):
        onesided.loads(BESIDE_PARTS.replace("{r =", "{b_x ="))


def test_units_are_positive_and_one_per_coordinate():
    with pytest.raises(onesided.ModelError, match="positive"):
        onesided.Scales(unit=(1.0, 0.0))
    with pytest.raises(onesided.ModelError, match="one number or 1"):
        onesided.System(("x",), lambda q, p, th: q[0] ** 2, scales=onesided.Scales(unit=(1.0, 2.0))).sizes([0.0], 0.0)


def rod_of(length):
    return onesided.compose(
        Body("a", (0.0, 0.0), fixed=True),
        Body("b", ("L", 0.0)),
        Beam("rod", ("a", "b"), EA=1.0, EI=1.0),
        Force("load", "b", (0.0, 1.0)),
        parameters={"L": length},
    )


def test_units_follow_parameters_and_scales_that_are_changed():
    first = rod_of(1.0)
    first.sizes(first.start, 0.0)
    long, stated = first.replace(parameters={"L": 1e3}), first.replace(scales=onesided.Scales(unit=(1.0, 2.0, 3.0)))
    np.testing.assert_array_equal(long.units, rod_of(1e3).units)
    np.testing.assert_array_equal(stated.units, (1.0, 2.0, 3.0))
    np.testing.assert_allclose(long.sizes(long.start, 0.0).length, rod_of(1e3).sizes(long.start, 0.0).length)


def test_scales_of_each_coordinate_lose_those_of_slack_in_motion():
    """Two cables have a coordinate of slack each, which motion has not."""
    scales = onesided.Scales(unit=(2.0, 3.0, 4.0, 5.0), length=(0.1, 0.2, 0.3, 0.4))
    hung = onesided.compose(
        Node("a", (0.0, 0.0), fixed=True),
        Node("b", (1.0, -1.0), mass=1.0),
        Cable("c", ("a", "b"), modulus_area=1.0),
        Cable("d", ("a", "b"), modulus_area=2.0),
        Gravity("weight", (0.0, -9.81)),
        scales=scales,
    )
    twin = in_motion(hung)
    assert (twin.scales.unit, twin.scales.length) == ((2.0, 3.0), (0.1, 0.2))
    assert onesided.simulate(hung, t_span=(0, 0.1)).ok
