"""What a structure gives to motion: masses, and forces without a potential conjugate to the velocities."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import onesided
import onesided.elements as parts
from onesided.base.errors import ModelError
from onesided.elements import Body, Guided, Marker, Node

TURNED = (0.3, -0.2, 0.5)
ARM = np.array([0.4, -0.1, 0.2])
SPACE = onesided.compose(
    Body("b", (0, 0, 0), turned=TURNED, mass="m", inertia=(1.0, 2.0, 3.0)),
    Marker("nozzle", "b", ARM),
    Node("n", (1.0, 1.0, 1.0), mass=0.5),
    parts.FollowerForce("jet", "nozzle", (1.0, 2.0, 3.0)),
    parts.FollowerMoment("rotor", "b", (0.5, 0.0, -1.0), constant=True),
    parts.Damper("dashpot", ("nozzle", "n"), "c"),
    parts.TurnDamper("oil", "b", 0.7),
    parts.PlaceDamper("air", "n", 0.1),
    parameters={"m": 2.0, "c": 3.0},
)
numbers = st.floats(-1.0, 1.0)


def by_hand(q, v, p):
    """Forces on the body in fixed axes, then moments in the turning axes; positions and velocities by hand."""
    turn = Rotation.from_rotvec(q[3:6]).as_matrix()
    R = turn @ Rotation.from_rotvec(TURNED).as_matrix()
    arm, spin = R @ ARM, turn @ v[3:6]
    step = q[6:] - (q[:3] + arm)
    speed = v[6:] - (v[:3] + np.cross(spin, arm))
    pull = 3.0 * (speed @ step) / (step @ step) * step
    at_nozzle = p * (R @ [1.0, 2.0, 3.0]) + pull
    moment = np.cross(arm, at_nozzle) + R @ [0.5, 0.0, -1.0] - 0.7 * spin
    return np.concatenate([at_nozzle, turn.T @ moment, -pull - 0.1 * v[6:]])


@given(st.lists(numbers, min_size=9, max_size=9), st.lists(numbers, min_size=9, max_size=9), numbers)
@settings(max_examples=20)
def test_forces_in_space_agree_with_those_by_hand(shift, v, p):
    q, v = SPACE.start + np.asarray(shift) * 0.5, np.asarray(v)
    assert np.allclose(FORCE(q, v, p), by_hand(q, v, p), atol=1e-12)


FORCE = jax.jit(lambda q, v, p: SPACE.force(0.0, q, v, p, SPACE.parameters))


def test_forces_take_compiled_constants_as_parameters():
    constants = SPACE.derivatives.constants({"m": 2.0, "c": 0.0})
    v = np.ones(9)
    found = jax.jit(lambda data: SPACE.force(0.0, SPACE.start, v, 0.0, data))(constants)
    assert np.allclose(found[6:], -0.1)


def test_dampers_take_energy_and_rest_has_no_force():
    plane = onesided.compose(
        Body("a", (0, 0), mass=1.0),
        Node("n", (1, 0), mass=1.0),
        Guided("s", (0, 1), along=(3, 4), mass=2.0),
        parts.Damper("one", ("a", "n"), 2.0),
        parts.Damper("two", ("s", "n"), 1.5),
        parts.TurnDamper("three", "a", 0.5),
    )
    force, rng = jax.jit(lambda q, v, p: plane.force(0.0, q, v, p, {})), np.random.default_rng(1)
    for _ in range(10):
        q, v = plane.start + 0.2 * rng.normal(size=plane.n), rng.normal(size=plane.n)
        guide = np.array([0.6, 0.8])
        a, n, s = q[:2], q[3:5], np.array([0.0, 1.0]) + q[5] * guide
        rate = (n - a) @ (v[3:5] - v[:2]) / np.linalg.norm(n - a)
        other = (n - s) @ (v[3:5] - v[5] * guide) / np.linalg.norm(n - s)
        power = np.asarray(force(q, v, 0.0)) @ v
        assert power == pytest.approx(-2.0 * rate**2 - 1.5 * other**2 - 0.5 * v[2] ** 2)
        assert not np.any(np.asarray(force(q, 0.0 * v, 1.0)))


def test_mass_is_diagonal_but_for_turned_bodies():
    M = np.asarray(SPACE.mass(SPACE.start, SPACE.parameters))
    R = Rotation.from_rotvec(TURNED).as_matrix()
    assert np.allclose(M[:3, :3], 2.0 * np.eye(3))
    assert np.allclose(M[3:6, 3:6], R @ np.diag([1.0, 2.0, 3.0]) @ R.T)
    assert np.allclose(M[6:, 6:], 0.5 * np.eye(3))
    assert not np.any(M[:6, 6:])
    assert np.allclose(SPACE.mass(SPACE.start, {"m": 5.0, "c": 0.0})[0, 0], 5.0)
    assert SPACE.structure.moving.rotations == ((3, 4, 5),)


def test_fixed_components_have_no_mass_and_no_force():
    system = onesided.compose(
        Body("b", (0, 0), fixed="x", mass=2.0, inertia=3.0),
        Marker("tip", "b", (1, 0)),
        parts.FollowerForce("f", "tip", (1, 1)),
    )
    assert np.allclose(system.mass(system.start, {}), np.diag([2.0, 3.0]))
    assert np.allclose(system.force(0.0, system.start, np.zeros(2), 2.0, {}), [2.0, 2.0])


def test_structures_without_mass_or_forces_have_none():
    system = onesided.compose(
        Node("a", (0, 0), fixed="y"), Node("b", (1, 0), fixed=True), parts.Bar("x", ("a", "b"), 1.0)
    )
    assert system.mass is None
    assert system.force is None


def test_rotations_held_in_part_are_refused_in_motion():
    system = onesided.compose(Body("b", (0, 0, 0), fixed="xyz", mass=1.0), parts.Force("f", "b", (0, 0, 1)))
    assert system.mass is not None
    half = onesided.compose(Body("b", (0, 0, 0), fixed=("rx",), mass=1.0), parts.Force("f", "b", (0, 0, 1)))
    with pytest.raises(ModelError, match="rotations of b are held in part"):
        half.mass(half.start, {})
