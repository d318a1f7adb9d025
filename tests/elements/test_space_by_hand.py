"""Joints, contacts and stops of space in one structure, against formulas written by hand with quaternions."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import onesided
import onesided.elements as parts
from onesided.elements import Body, Node
from onesided.evaluation.compiling import compiler_options

PARAMETERS = {"c": 0.7}
G, B, N = np.array([0.1, -0.2, 0.3]), np.array([1.0, 0.5, -0.2]), np.array([0.4, 1.2, 0.9])
RG = Rotation.from_rotvec([0.2, -0.5, 0.4]).as_matrix()
RB = Rotation.from_rotvec([-0.3, 0.6, 0.1]).as_matrix()
AXIS = np.array([2.0, 1.0, -2.0]) / 3.0
PITCH = 0.8


def triad(axis):
    """u from the next base vector after the largest component of the axis, right-handed."""
    e = np.eye(3)[(np.argmax(np.abs(axis)) + 1) % 3]
    u = e - axis * (e @ axis)
    u /= np.linalg.norm(u)
    return u, np.cross(axis, u)


def structure():
    pair = ("g", "b")
    return onesided.compose(
        Body("g", G, turned=(0.2, -0.5, 0.4), fixed=True),
        Body("b", B, turned=(-0.3, 0.6, 0.1)),
        Node("n", N),
        parts.Revolute("hinge", pair, at=(0.5, 0.1, 0.2), axis=tuple(AXIS)),
        parts.Spherical("ball", ("b", "n"), at=tuple(N)),
        parts.Fixed("weld", pair),
        parts.Prismatic("slide", pair),
        parts.Cylindrical("sleeve", pair, axis=tuple(AXIS)),
        parts.Screw("screw", pair, axis=tuple(AXIS), pitch=PITCH),
        parts.Universal("cardan", pair, assemble=True, cross_axis=(1.0, 1.0, 0.0)),
        parts.OnLine("line", ("b", "n"), axis=(0.0, 1.0, 0.0), assemble=True),
        parts.DrivenAngle("drive", pair, axis=tuple(AXIS), value="c*p"),
        parts.DrivenTravel("push", ("b", "n"), axis=(1.0, 0.0, 0.0), value="p"),
        parts.PlaneContact("face", "n", (0.0, 0.0, 1.0), through=(0.1, 0.2, 0.3), on="b", radius="c/10"),
        parts.RoundContact("balls", ("b", "n"), (0.2, 0.3)),
        parts.InsideContact("shell", ("b", "n"), (4.0, 0.0)),
        parts.AngleStop("door", pair, AXIS, lower=-0.5, upper=2.5),
        parts.AngleStop("spin", "b", upper=1.0),
        parts.Force("pull", "b", (1.0, 2.0, 3.0)),
        parameters=PARAMETERS,
    )


def quaternion_matrix(r):
    """Rotation of a rotation vector that is not zero."""
    angle = jnp.sqrt(r @ r)
    w, (x, y, z) = jnp.cos(angle / 2), jnp.sin(angle / 2) * r / angle
    return jnp.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def wrapped(angle):
    return angle - 2 * jnp.pi * jnp.round(angle / (2 * jnp.pi))


def half_skew(M):
    return jnp.array([M[2, 1] - M[1, 2], M[0, 2] - M[2, 0], M[1, 0] - M[0, 1]]) / 2


def constraints(q, p, c):
    x, R, n = q[:3], quaternion_matrix(q[3:6]) @ RB, q[6:]
    turn = R @ RB.T  # from the start, in fixed axes
    a, (u, v) = RG @ AXIS, (RG @ w for w in triad(AXIS))
    moved = [turn @ w for w in (u, v, a)]  # the directions, carried by b
    sine, cosine = v @ moved[0], u @ moved[0]
    hinge = x + turn @ (np.array([0.5, 0.1, 0.2]) - B) - np.array([0.5, 0.1, 0.2])
    welded = half_skew(RG.T @ turn @ RG)
    wound, target = 2 * jnp.pi * (a @ (x - B)) / PITCH, c * p
    tilts = (a @ moved[1], -(a @ moved[0]))
    cardan = -(RG[:, 2] @ (R @ np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0)))
    local, apart = R.T @ (n - x), jnp.sqrt(jnp.sum((n - x) ** 2))
    angle = jnp.arctan2(sine, cosine)
    door = angle + jnp.where(angle < 1.0 - jnp.pi, 2 * jnp.pi, 0.0)  # within 180° of the middle, 1.0
    bz, bu = RB[:, 2], RB[:, 0]
    around = jnp.arctan2(jnp.cross(bz, bu) @ (turn @ bu), bu @ (turn @ bu))
    spin = around - jnp.where(around > 1.0 + jnp.pi / 2, 2 * jnp.pi, 0.0)
    return {
        **dict(zip(("hinge_x", "hinge_y", "hinge_z"), hinge, strict=True)),
        **dict(zip(("hinge_mu", "hinge_mv"), tilts, strict=True)),
        **dict(zip(("ball_x", "ball_y", "ball_z"), n - (x + turn @ (N - B)), strict=True)),
        **dict(zip(("weld_x", "weld_y", "weld_z"), x - B, strict=True)),
        **dict(zip(("weld_mx", "weld_my", "weld_mz"), welded, strict=True)),
        **dict(zip(("slide_u", "slide_v"), (RG.T @ (x - B))[:2], strict=True)),
        **dict(zip(("slide_mx", "slide_my", "slide_mz"), welded, strict=True)),
        **dict(
            zip(("sleeve_u", "sleeve_v", "sleeve_mu", "sleeve_mv"), (u @ (x - B), v @ (x - B), *tilts), strict=True)
        ),
        **dict(zip(("screw_u", "screw_v", "screw_mu", "screw_mv"), (u @ (x - B), v @ (x - B), *tilts), strict=True)),
        "screw_turn": wrapped(jnp.arctan2(sine, cosine) - wound),
        **dict(zip(("cardan_x", "cardan_y", "cardan_z"), x - G, strict=True)),
        "cardan_m": cardan,
        **dict(zip(("line_u", "line_v"), (local[2], local[0]), strict=True)),
        "drive": wrapped(jnp.arctan2(sine, cosine) - target),
        "push": local[0] - (RB.T @ (N - B))[0] - p,
        "face": local[2] - 0.3 - c / 10,
        "balls": apart - 0.5,
        "shell": 2.0 - apart**2 / 8.0,
        "door_lower": door + 0.5,
        "door_upper": 2.5 - door,
        "spin": 1.0 - spin,
    }


COMPOSED = structure()


def stacked(z, c):
    found = constraints(z[:-1], z[-1], c)
    return jnp.stack([found[name] for name in COMPOSED.constraint_names])


def lagrangian(z, nu, c):
    return -z[-1] * (z[0] + 2 * z[1] + 3 * z[2]) - stacked(z, c) @ nu


@partial(jax.jit, compiler_options=compiler_options(quick=True))  # called a few times
def written(z, nu, c):
    hessian = jax.hessian(lagrangian)(z, nu, c)[:-1]
    return jax.grad(lagrangian)(z, nu, c), stacked(z, c), hessian, jax.jacfwd(stacked)(z, c)


numbers = st.floats(-0.8, 0.8, allow_nan=False)


@given(st.lists(numbers, min_size=9, max_size=9), numbers, st.integers(0, 2**31), st.floats(0.1, 2.0))
@settings(max_examples=12)
def test_all_blocks_agree(shift, p, seed, c):
    """Value, gradient and Hessian of the Lagrangian, constraints and their slopes, for any multipliers."""
    nu = np.random.default_rng(seed).normal(size=len(COMPOSED.constraint_names))
    q = COMPOSED.start + np.asarray(shift)
    q[3] += 1.0  # away from zero, where the quaternion of this test has no derivative
    e = COMPOSED.replace(parameters={"c": c}).evaluate(q, p, nu)
    for got, expected in zip((e.L_x, e.c, e.L_qx, e.c_x), written(np.append(q, p), nu, c), strict=True):
        assert np.allclose(got, expected, rtol=1e-10, atol=1e-10)


def test_joints_are_regular_and_assembled_at_the_start():
    """Every joint has as many independent equations as it should, and holds at the start."""
    e = COMPOSED.evaluate(COMPOSED.start, 0.0, np.zeros(len(COMPOSED.constraint_names)))
    names = list(COMPOSED.constraint_names)
    expected = {"hinge": 5, "ball": 3, "weld": 6, "slide": 5, "sleeve": 4, "screw": 5, "cardan": 4}
    for joint, count in expected.items():
        rows = [i for i, name in enumerate(names) if name.startswith(joint + "_")]
        assert len(rows) == count == np.linalg.matrix_rank(e.c_q[rows])
        if joint != "cardan":
            assert np.max(np.abs(e.c[rows])) < 1e-14


@pytest.mark.slow
def test_a_weld_is_also_solved_by_half_a_turn_but_not_in_between():
    """The sine of the turn about any axis: zero at 0° and 180° only."""
    names = [i for i, name in enumerate(COMPOSED.constraint_names) if name.startswith("weld_m")]
    axis = np.array([1.0, 2.0, 2.0]) / 3.0
    for angle in (0.0, 0.1, 1.0, 2.0, 3.0, np.pi):
        q = COMPOSED.start.copy()
        q[3:6] = angle * axis
        c = COMPOSED.evaluate(q, 0.0, np.zeros(len(COMPOSED.constraint_names))).c[names]
        assert np.allclose(RG @ c, np.sin(angle) * axis, atol=1e-14)
