"""Beams in the plane and in space: stiffness matrices, circles, buckling, elastica, limit loads of frames."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from agreement import agree
from elastica import bent_cantilever, euler_load, lee_limit, williams_limit
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

import onesided
from onesided import System
from onesided.base.errors import ModelError
from onesided.elements import Beam, Body, Force, Node, SpatialBeam, divided
from onesided.results import Kind

small = st.floats(-1.5, 1.5)


def extrapolated(coarse, fine):
    """Value for vanishing element length, for an error that falls with its fourth power."""
    return (16.0 * fine - coarse) / 15.0


def assert_fourth_order(coarse, fine, exact):
    """Halving the elements divides the error by about sixteen."""
    assert np.log2((coarse - exact) / (fine - exact)) == pytest.approx(4.0, abs=0.5)


# one element ---------------------------------------------------------------------------------------------------------

PLANAR = onesided.compose(
    Body("a", (0.0, 0.0), angle=0.2),
    Body("b", (1.5, 0.8), angle=-0.4),
    Beam("beam", ("a", "b"), EA="EA", EI="EI", GA="GA", curvature="c", pretension="N"),
    parameters={"EA": 20.0, "EI": 3.0, "GA": 7.0, "c": 0.1, "N": 0.5},
)


def _planar_energy(q, p, th):
    now = np.hypot(1.5, 0.8)
    L = now / (1 + th["N"] / th["EA"])
    lag = np.arctan2(0.8, 1.5) + 0.1  # of the chord behind the mean angle −0.1 at the start
    turn = (q[2] + q[5]) / 2 + lag
    dx, dy = q[3] - q[0], q[4] - q[1]
    stretch = (dx * jnp.cos(turn) + dy * jnp.sin(turn)) / L - 1
    shear = (dy * jnp.cos(turn) - dx * jnp.sin(turn)) / L
    bend = (q[5] - q[2]) / L - th["c"]
    GA = 1 / (1 / th["GA"] + L**2 / 12 / th["EI"])
    r = GA * L**2 / 12 / th["EI"]  # part of the shear that is bending inside the element
    stretch = stretch + (q[5] - q[2] + 0.6) ** 2 / 24 + (3 / 5 * r**2 + r * (1 - r)) * shear**2
    return L / 2 * (th["EA"] * stretch**2 + GA * shear**2 + th["EI"] * bend**2)


PLANAR_WRITTEN = System(PLANAR.coordinates, _planar_energy, parameters=dict(PLANAR.parameters))


@given(st.tuples(*6 * [st.floats(-4, 4)]), st.tuples(*3 * [st.floats(0.5, 50.0)]), small, st.floats(-0.4, 0.4))
@settings(max_examples=30)
def test_in_the_plane_the_energy_is_the_hand_written_one(q, stiff, c, N):
    values = {"EA": stiff[0], "EI": stiff[1], "GA": stiff[2], "c": c, "N": N}
    agree(PLANAR.replace(parameters=values), PLANAR_WRITTEN.replace(parameters=values), q, 0.0)


@given(st.tuples(*6 * [st.floats(-2, 2)]), st.floats(-9, 9), st.tuples(small, small))
@settings(max_examples=30)
def test_in_the_plane_rigid_motions_cost_nothing(q, turn, shift):
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    moved = np.concatenate([R @ q[0:2] + shift, [q[2] + turn], R @ q[3:5] + shift, [q[5] + turn]])
    energies = [PLANAR.residual(np.array(z), 0.0, np.zeros(0))[0] for z in (q, moved)]
    assert energies[0] == pytest.approx(energies[1], rel=1e-11)


def test_the_pretension_is_the_normal_force_at_the_start():
    system = PLANAR.replace(parameters={"N": 2.0, "c": -0.6 / np.hypot(1.5, 0.8) * (1 + 2.0 / 20.0)})
    chord = np.array([1.5, 0.8]) / np.hypot(1.5, 0.8)
    force = system.residual(system.start, 0.0, np.zeros(0))[1]
    assert force[3:5] == pytest.approx(2.0 * chord, rel=1e-12)
    assert force[5] == pytest.approx(0.0, abs=1e-12)


def timoshenko(L, EA, GJ, EI, GA):
    """Stiffness matrix of a straight beam along x with shear, order (u, v, w, rx, ry, rz) twice, from the textbook."""
    K = np.zeros((12, 12))
    for i, k in ((0, EA / L), (3, GJ / L)):
        K[np.ix_([i, i + 6], [i, i + 6])] += k * np.array([[1, -1], [-1, 1]])
    for v, r, sign, B, A in ((1, 5, 1, EI[1], GA[0]), (2, 4, -1, EI[0], GA[1])):
        f = 12 * B / (A * L**2)
        block = (
            B
            / (L**3 * (1 + f))
            * np.array(
                [
                    [12, 6 * L, -12, 6 * L],
                    [6 * L, (4 + f) * L**2, -6 * L, (2 - f) * L**2],
                    [-12, -6 * L, 12, -6 * L],
                    [6 * L, (2 - f) * L**2, -6 * L, (4 + f) * L**2],
                ]
            )
        )
        flip = np.diag([1, sign, 1, sign])
        K[np.ix_([v, r, v + 6, r + 6], [v, r, v + 6, r + 6])] += flip @ block @ flip
    return K


def _spatial(**values):
    """A beam along x with its section's axis 2 along y."""
    return onesided.compose(
        Body("a", (0.0, 0.0, 0.0)),
        Body("b", (2.0, 0.0, 0.0)),
        SpatialBeam("beam", ("a", "b"), EA=30.0, GJ=2.0, EI=(3.0, 5.0), up=(0.0, 1.0, 0.0), **values),
        parameters={"x": 1.0},
    )


SHEAR = _spatial(GA=("7*x", "11*x"))
RIGID = _spatial()


def test_two_sections_have_the_exact_stiffness_matrix_with_and_without_shear():
    start = np.zeros(12)
    start[6] = 2.0
    for system, GA in ((SHEAR, (7.0, 11.0)), (RIGID, (1e15, 1e15))):
        K = system.evaluate(start, 0.0, np.zeros(0)).L_qq
        assert pytest.approx(timoshenko(2.0, 30.0, 2.0, (3.0, 5.0), GA), abs=1e-10) == K


def test_the_plane_is_a_part_of_space():
    plane = onesided.compose(Body("a", (0, 0)), Body("b", (2.0, 0)), Beam("b1", ("a", "b"), EA=30.0, EI=5.0, GA=7.0))
    q = np.array([0.1, -0.2, 0.7, 1.9, 0.5, -0.9])
    full = np.zeros(12)
    full[[0, 1, 5, 6, 7, 11]] = q
    left, right = plane.evaluate(q, 0.0, np.zeros(0)), SHEAR.evaluate(full, 0.0, np.zeros(0))
    assert left.energy == pytest.approx(right.energy, rel=1e-12)
    rows = [0, 1, 5, 6, 7, 11]
    assert left.L_q == pytest.approx(right.L_q[rows], rel=1e-10)
    assert left.L_qq == pytest.approx(right.L_qq[np.ix_(rows, rows)], rel=1e-9, abs=1e-9)


def _spatial_energy(x1, R1, x2, R2):
    """By quaternions: half way is their normalised sum."""
    a, b = R1.as_quat(), R2.as_quat()
    b = b if a @ b > 0 else -b
    middle = Rotation.from_quat(a + b)
    strain = middle.inv().apply(x2 - x1) / 2.0 - [1, 0, 0]
    turn = (R1.inv() * R2).as_rotvec()
    shear = np.array([1 / (1 / 7 + 4 / 12 / 5), 1 / (1 / 11 + 4 / 12 / 3)])
    r = shear * [4 / 12 / 5, 4 / 12 / 3]
    strain[0] += (3 / 5 * r**2 + r * (1 - r)) @ strain[1:] ** 2
    strain -= np.cross(turn, np.cross(turn, [1.0, 0.0, 0.0])) / 24
    return strain**2 @ [30, *shear] + (turn / 2.0) ** 2 @ [2, 3, 5]  # times L/2 = 1


@given(st.tuples(*3 * [small]), st.tuples(*3 * [small]), st.tuples(*3 * [small]), st.tuples(*3 * [st.floats(-3, 3)]))
@settings(max_examples=40)
def test_in_space_the_energy_is_the_hand_written_one_and_rigid_motions_cost_nothing(x, r1, r2, turn):
    x1, x2 = np.zeros(3), np.array([2.0, 0.0, 0.0]) + x
    R1, R2, Q = Rotation.from_rotvec(r1), Rotation.from_rotvec(r2), Rotation.from_rotvec(turn)
    if (R1.inv() * R2).magnitude() > 3.0:
        return
    expected = _spatial_energy(x1, R1, x2, R2)
    moved = np.concatenate([Q.apply(x1), (Q * R1).as_rotvec(), Q.apply(x2), (Q * R2).as_rotvec()])
    for q in (np.concatenate([x1, r1, x2, r2]), moved):
        assert SHEAR.residual(q, 0.0, np.zeros(0))[0] == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_the_order_of_the_ends_and_the_attitude_of_the_bodies_do_not_matter():
    turned = (0.3, -0.8, 0.5)
    values = {"EA": 30.0, "GJ": 2.0, "EI": (3.0, 5.0), "GA": (7.0, 11.0), "up": (0.0, 1.0, 0.0)}
    other = onesided.compose(
        Body("a", (0.0, 0.0, 0.0), turned=turned), Body("b", (2.0, 0.0, 0.0)), SpatialBeam("s", ("b", "a"), **values)
    )
    for q in np.random.default_rng(1).normal(size=(5, 12)) * 0.5:
        assert other.residual(q, 0.0, np.zeros(0))[0] == pytest.approx(
            SHEAR.residual(q, 0.0, np.zeros(0))[0], rel=1e-10
        )


@pytest.mark.slow
def test_natural_curvature_in_space_is_where_the_beam_rests():
    system = onesided.compose(
        Body("a", (0.0, 0.0, 0.0), fixed=True),
        Body("b", (2.0, 0.0, 0.0)),
        SpatialBeam("s", ("a", "b"), EA=30.0, GJ=2.0, EI=3.0, up=(0.0, 1.0, 0.0), curvature=(0.1, 0.2, 0.3)),
    )
    state = onesided.solve(system, start=system.start, p=0.0).value
    assert state.energy == pytest.approx(0.0, abs=1e-16)
    assert state.q[3:] == pytest.approx(2.0 * np.array([0.1, 0.2, 0.3]), abs=1e-8)


# whole beams ---------------------------------------------------------------------------------------------------------


def test_a_moment_of_a_full_turn_bends_a_beam_to_a_closed_polygon():
    """Zero force and equal turns: for any number of elements the tip comes back, with moment 2π EI/L."""
    n, EI, length = 6, 2.0, 3.0
    beam = Beam("b", EA=1e3, EI=EI)
    system = onesided.compose(
        Body("tip", (length, 0.0), moves={"angle": 2 * np.pi}),
        divided(beam, np.linspace((0, 0), (length, 0), n + 1), fixed={0: True}, last="tip"),
    )
    path = onesided.trace(system, system.start, 0.0, p_bounds=(0.0, 1.0))
    tip = [system.coordinates.index(name) for name in ("tip_x", "tip_y")]
    assert path.q[-1, tip] == pytest.approx([0.0, 0.0], abs=1e-8)
    e = system.evaluate(path.q[-1], 1.0, np.zeros(0))
    assert e.L_x[-1] / (2 * np.pi) == pytest.approx(2 * np.pi * EI / length, rel=1e-9)
    assert not np.any(path.instability)


def _column(n, EA=1e5):
    points = np.linspace((0, 0), (1, 0), n + 1)
    parts = divided(Beam("b", EA=EA, EI=1.0), points, fixed={0: "xy", -1: "y"})
    system = onesided.compose(parts, Force("P", f"b_{n}", (-1.0, 0.0)))
    return onesided.trace(system, system.start, 0.0, p_bounds=(0.0, 15.0), max_events=1).events[0]


def test_a_hinged_column_buckles_at_the_extensible_euler_load():
    events = [_column(n) for n in (4, 8)]
    assert [event.kind for event in events] == [Kind.smooth_bifurcation] * 2
    exact = euler_load(1e5, 1.0, 1.0)
    loads = [event.p for event in events]
    assert_fourth_order(*loads, exact)
    assert loads[1] == pytest.approx(exact, rel=2e-4)
    assert extrapolated(*loads) == pytest.approx(exact, rel=1e-5)


def test_a_buckled_column_follows_the_elastica():
    """P/P_cr = (2K(sin a/2)/π)² with the slope a at the hinges."""
    event = _column(8)
    for k in event.forward:
        path = onesided.branch(event, k)
        slope = np.abs(path.q[-1, 0])
        if slope > 0.1:
            expected = np.pi**2 * (2 * ellipk(np.sin(slope / 2) ** 2) / np.pi) ** 2
            assert path.p[-1] == pytest.approx(15.0)
            assert expected == pytest.approx(15.0, rel=3e-3)
            break
    else:
        pytest.fail("no buckled branch")


def bisshopp_drucker(load):
    """Tip of an inextensible cantilever under a dead load P L²/EI: (x, y, angle), by elliptic integrals."""

    def length(angle):
        m = (1 + np.sin(angle)) / 2
        return ellipk(m) - ellipkinc(np.arcsin(1 / np.sqrt(2 * m)), m) - np.sqrt(load)

    angle = brentq(length, 1e-9, np.pi / 2 - 1e-9)
    m = (1 + np.sin(angle)) / 2
    first = np.arcsin(1 / np.sqrt(2 * m))
    y = 1 - 2 / np.sqrt(load) * (ellipe(m) - ellipeinc(first, m))
    return np.sqrt(2 * np.sin(angle) / load), y, angle


def test_a_cantilever_with_a_tip_load_follows_the_elliptic_integrals():
    tips = []
    for n in (4, 8):
        parts = divided(Beam("b", EA=1e7, EI=1.0), np.linspace((0, 0), (1, 0), n + 1), fixed={0: True})
        system = onesided.compose(parts, Force("P", f"b_{n}", (0.0, 1.0)))
        path = onesided.trace(system, system.start, 0.0, p_bounds=(0.0, 10.0))
        tips.append(path.q[-1, -3:])
    exact = np.array(bisshopp_drucker(10.0))
    assert exact[:2] == pytest.approx([1 - 0.55500, 0.81061], abs=1e-5)  # the published table of Mattiasson (1981)
    assert tips[0] == pytest.approx(exact, abs=2e-3)
    assert tips[1] == pytest.approx(exact, abs=1e-4)


@pytest.mark.slow  # compiles for long
def test_the_limit_load_of_williams_toggle():
    """Shooting gives 33.86 lb for EA = 1.885e6 lb, EI = 9.27e3 lb in²; Williams (1964) drew and measured about 34."""
    half, rise, EA, EI = 12.943, 0.386, 1.885e6, 9.27e3
    exact = williams_limit(half, rise, EA, EI)
    loads = []
    for n in (4, 8):
        points = np.linspace((0, 0), (half, rise), n + 1)
        parts = divided(Beam("b", EA=EA, EI=EI), points, fixed={0: True, -1: ["x", "angle"]})
        system = onesided.compose(parts, Force("P", f"b_{n}", (0.0, -0.5)))
        event = onesided.trace(system, system.start, 0.0, p_bounds=(0.0, 60.0), max_events=1).events[0]
        assert event.kind is Kind.limit
        loads.append(event.p)
    assert_fourth_order(*loads, exact)
    assert loads[1] == pytest.approx(exact, rel=5e-5)
    assert exact == pytest.approx(34.0, rel=0.01)


@pytest.mark.slow  # compiles for long
def test_the_limit_load_of_lees_frame():
    """Shooting gives 18.557 for E = 720, A = 6, I = 2, sides 120 (scaled by 10); the literature prints 18.5."""
    side, EA, EI = 120.0, 43200.0, 14400.0
    exact = lee_limit(side, EA, EI)
    column, loads = Beam("c", EA=EA, EI=EI), []
    for n in (5, 10):
        left = divided(column, np.linspace((0, 0), (0, side), n + 1), fixed={0: "xy"})
        points = np.linspace((0, side), (side, side), n + 1)
        top = divided(replace(column, name="d"), points, first=f"c_{n}", fixed={-1: "xy"})
        system = onesided.compose(left, top, Force("P", f"d_{n // 5}", (0.0, -1.0)))
        event = onesided.trace(system, system.start, 0.0, p_bounds=(0.0, 60.0), max_events=1).events[0]
        assert event.kind is Kind.limit
        loads.append(event.p)
    assert_fourth_order(*loads, exact)
    assert loads[1] == pytest.approx(exact, rel=5e-5)
    assert exact == pytest.approx(18.5, rel=0.005)


@pytest.mark.slow
def test_a_curved_cantilever_bends_out_of_its_plane():
    """The 45° bend of Bathe & Bolourchi (1979), load 600, against shooting; they print (47.2, 15.9, 53.4)."""
    I = 1e7 / 12  # noqa: E741 - bending stiffness of the unit square, E = 1e7
    exact = bent_cantilever(100.0, np.pi / 4, (0.0, 0.0, 600.0), (1e7, 5e6, 5e6, I, I, I))
    assert exact == pytest.approx((47.2, 15.9, 53.4), abs=0.25)
    tips = []
    for n in (4, 8):
        angles = np.linspace(0.0, np.pi / 4, n + 1)
        points = 100.0 * np.stack([np.sin(angles), 1 - np.cos(angles), 0 * angles], axis=1)
        parts = divided(SpatialBeam("b", EA=1e7, GJ=I, EI=I, GA=5e6), points, fixed={0: True})
        system = onesided.compose(parts, Force("P", f"b_{n}", (0.0, 0.0, 600.0)))
        tips.append(onesided.trace(system, system.start, 0.0, p_bounds=(0.0, 1.0)).q[-1, -6:-3])
    assert (4.0 * tips[1] - tips[0]) / 3.0 == pytest.approx(exact, abs=0.005)  # second order for a curved beam


def test_a_closed_ring_has_no_stress_and_angles_that_count_on():
    angles = np.linspace(0.0, 2 * np.pi, 13)
    parts = divided(Beam("b", EA=1.0, EI=1.0), np.stack([np.sin(angles), -np.cos(angles)], axis=1), fixed={0: True})
    bodies = [part for part in parts if isinstance(part, Body)]
    assert bodies[-1].angle - bodies[0].angle == pytest.approx(2 * np.pi)
    system = onesided.compose(parts)
    energy, force, _ = system.residual(system.start, 0.0, np.zeros(0))
    assert energy == pytest.approx(0.0, abs=1e-28)
    assert force == pytest.approx(np.zeros(36), abs=1e-13)


def test_what_cannot_work_is_refused():
    a, b = Body("a", (0.0, 0.0)), Body("b", (1.0, 0.0))
    solid = [Body("a", (0.0, 0.0, 0.0)), Body("b", (1.0, 0.0, 0.0))]

    def refused(match, *parts):
        with pytest.raises(ModelError, match=match):
            onesided.compose(*parts)

    refused("beam 's': EI is not positive", a, b, Beam("s", ("a", "b"), EA=1.0))
    refused("GA is not positive", a, b, Beam("s", ("a", "b"), EA=1.0, EI=1.0, GA=-1.0))
    refused("coincide", a, Body("b", (0.0, 0.0)), Beam("s", ("a", "b"), EA=1.0, EI=1.0))
    refused("natural length", a, b, Beam("s", ("a", "b"), EA=1.0, EI=1.0, length=-1.0))
    refused("natural length", a, b, Beam("s", ("a", "b"), EA=1.0, EI=1.0, pretension=-1.0))
    refused("pretension", a, b, Beam("s", ("a", "b"), EA=1.0, EI=1.0, length=1.0, pretension=1.0))
    refused("no orientation", a, Node("n", (1.0, 0.0)), Beam("s", ("a", "n"), EA=1.0, EI=1.0))
    refused("3 dimensions", solid, Beam("s", ("a", "b"), EA=1.0, EI=1.0))
    good = SpatialBeam("s", ("a", "b"), EA=1.0, GJ=1.0, EI=1.0)
    refused("2 dimensions", a, b, good)
    refused("GJ is not positive", solid, replace(good, GJ=0.0))
    refused("one number or two", solid, replace(good, EI=(1.0, 1.0, 1.0)))
    refused("along the beam", solid, replace(good, up=(2.0, 0.0, 0.0)))
    refused("`up` needs three", solid, replace(good, up=(2.0, 0.0)))
    refused("`curvature` needs three", solid, replace(good, curvature=(2.0, 0.0)))
    planar = Beam("b", EA=1.0, EI=1.0)
    for points in (np.zeros((3, 3)), np.zeros(4), np.zeros((1, 2)), [[0.0, np.nan], [1.0, 0.0]]):
        with pytest.raises(ModelError, match="points of beam 'b'"):
            divided(planar, points)
    with pytest.raises(ModelError, match="no such section"):
        divided(planar, np.linspace((0, 0), (1, 0), 3), fixed={3: True})
