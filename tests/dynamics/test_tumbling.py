"""A slab thrown on a rough floor: it comes to rest by impacts from edge to edge, in any frame and unit."""

import itertools
from functools import cache, partial

import jax.numpy as jnp
import numpy as np
import pytest
from contact_models import G
from scipy.spatial.transform import Rotation

from onesided import Contact, EventDriven, Moreau, Scales, Status, System, simulate
from onesided.groups import SO3, Product, Vector, rotate

CUBE = (0.1, 0.1, 0.1)
SIZES, MU = np.array([0.1, 0.07, 0.05]), 0.4
HOP = 128.0  # spacings of coordinates that a hop must be high to be followed


def _frame(th):
    return jnp.array([[th[f"r{i}{j}"] for j in range(3)] for i in range(3)])


def _gap(corner, q, p, th):
    return _frame(th)[:, 2] @ (q[:3] + th.unit * rotate(q[3:], jnp.asarray(corner))) - th.floor


def _slip(corner, q, v, th):
    return _frame(th)[:, :2].T @ (v[:3] + th.unit * rotate(q[3:], jnp.cross(v[3:], jnp.asarray(corner))))


@cache
def slab(own=tuple(SIZES)):
    """A slab of unit mass above a floor whose normal is the last column of a rotation, given with the unit."""
    corners = {f"f{i}": np.array(signs) * own for i, signs in enumerate(itertools.product((-1, 1), repeat=3))}
    inertia = (np.sum(np.array(own) ** 2) - np.array(own) ** 2) / 3.0
    return System(
        tuple("xyzabc"), lambda q, p, th: G * th.unit * (_frame(th)[:, 2] @ q[:3] - th.floor),
        space=Product(Vector(3), SO3()),
        mass=lambda q, th: jnp.diag(jnp.concatenate([jnp.ones(3), th.unit**2 * jnp.asarray(inertia)])),
        unilateral={name: partial(_gap, corner) for name, corner in corners.items()},
        contacts={name: Contact(friction=MU, slip=partial(_slip, corner)) for name, corner in corners.items()},
        parameters={f"r{i}{j}": float(i == j) for i in range(3) for j in range(3)} | {"unit": 1.0, "floor": 0.0},
    )  # fmt: skip


def in_frame(turned, unit, floor):
    """The slab in another unit, on a floor that is turned and lies somewhere else."""
    entries = {f"r{i}{j}": float(turned[i, j]) for i in range(3) for j in range(3)}
    scales = Scales(unit=(unit, unit, unit, 1.0, 1.0, 1.0))
    return slab().replace(parameters=entries | {"unit": unit, "floor": floor}, scales=scales)


@cache
def usual(seed):
    """The same as usual: upright, in its own unit."""
    return thrown(seed, np.eye(3), 1.0)


def thrown(seed, turned, unit, far=0.0, method=EventDriven(), above=0.0):  # noqa: B008 - frozen
    """Place and attitude at the end, in its units and the frame of a floor `far` from the origin; the motion.

    It begins `above` the usual height.
    """
    rng, first = np.random.default_rng(seed), Rotation.random(random_state=seed).as_matrix()
    v, spin = 0.5 * rng.normal(size=3) * unit, 4.0 * rng.normal(size=3)
    origin = turned @ np.full(3, far * unit)
    start = np.r_[origin + turned @ [0.0, 0.0, (0.35 + above) * unit], Rotation.from_matrix(turned @ first).as_rotvec()]
    system = in_frame(turned, unit, float(turned[:, 2] @ origin))
    motion = simulate(system, start, np.r_[turned @ v, spin], (0.0, 0.6), method=method)
    assert motion.status is Status.finished
    attitude = turned.T @ Rotation.from_rotvec(motion.q[-1, 3:]).as_matrix()
    return np.r_[turned.T @ (motion.q[-1, :3] - origin) / unit, attitude.ravel()], motion


@pytest.mark.parametrize("seed", [0, 1])
def test_a_slab_comes_to_rest_alike_in_turned_frames_and_other_units(seed):
    turned = Rotation.random(random_state=99).as_matrix()
    place, motion = usual(seed)
    other, _ = thrown(seed, np.eye(3), 1e3) if seed else thrown(seed, turned, 1.0)
    assert np.max(np.abs(motion.v[-1])) < 1e-9
    assert min(abs(place[2] - size) for size in SIZES) < 1e-9
    assert np.sum(motion.lam[-1]) == pytest.approx(G, rel=1e-9)
    assert other == pytest.approx(place, abs=1e-8)


@pytest.mark.parametrize(("seed", "unit", "far"), [(0, 1e6, 0.0), (0, 1.0, 1e6), (1, 1e-6, 0.0), (1, 1.0, 1e3)])
def test_hops_end_however_large_units_are_or_far_the_origin(seed, unit, far):
    """Hops that are round-off do not go on for ever, and those of one edge after the other accumulate."""
    place, motion = thrown(seed, np.eye(3), unit, far)
    plain, other = usual(seed)
    assert place == pytest.approx(plain, abs=1e-8)
    assert len(motion.events) <= len(other.events) + 10


SLOW = [pytest.param(k, u, marks=pytest.mark.slow) for k, u in itertools.product(range(8, 30), (1e6, 1e-6))]


@pytest.mark.parametrize(("seed", "unit"), [(1, 1e6), (7, 1e6), *SLOW])
def test_slips_end_alike_in_every_unit(seed, unit):
    """Directions of slips are round-off where these end: feet come to rest together, without slip."""
    plain, _ = usual(seed)
    place, _ = thrown(seed, np.eye(3), unit)
    assert place == pytest.approx(plain, abs=_known(seed, 1e-9) if seed > 7 else 1e-8)


@pytest.mark.parametrize("seed", [2, 3, *(pytest.param(k, marks=pytest.mark.slow) for k in range(4, 30))])
def test_far_from_the_origin_as_well_as_places_are_known(seed):
    """1e6 away, places are rounded to 1e-10: that much at each event, and hops of which the height is round-off."""
    plain, usual_motion = usual(seed)
    place, motion = thrown(seed, np.eye(3), 1.0, 1e6)
    unseen = np.sqrt(2.0 * G * HOP * np.finfo(float).eps * 2e6) * (0.6 - motion.events[0].t)
    hops = len(motion.events) < len(usual_motion.events)
    assert place == pytest.approx(plain, abs=_known(seed, np.spacing(1e6)) + hops * unseen)


def _known(seed, rounded):
    """How far apart two motions end that are moved apart by so much at each event: by differences."""
    (plain, motion), (other, _) = usual(seed), thrown(seed, np.eye(3), 1.0, above=1e-7)
    return 1e-8 + rounded * len(motion.events) * np.max(np.abs(other - plain)) / 1e-7


def test_rocking_without_restitution_is_an_accumulation():
    _, motion = usual(0)
    ends = [event.t for event in motion.events if event.kind.name == "accumulation"]
    hits = np.unique([event.t for event in motion.events if event.kind.name == "impact" and event.t < ends[0]])
    ratio = (hits[-1] - hits[-2]) / (hits[-2] - hits[-3])
    assert ends[0] == pytest.approx(hits[-1] + (hits[-1] - hits[-2]) * ratio / (1.0 - ratio), abs=1e-8)


def cube(method, end, seed=1):
    """A cube thrown on the floor."""
    rng, first = np.random.default_rng(seed), Rotation.random(random_state=seed)
    v, spin = 0.5 * rng.normal(size=3), 4.0 * rng.normal(size=3)
    start = np.r_[0.0, 0.0, 0.35, first.as_rotvec()]
    return simulate(slab(CUBE), start, np.r_[v, spin], (0.0, end), method=method)


def test_a_blow_with_friction_is_one_impulse_in_both_methods():
    """Friction of a blow in two parts, by steps, would turn the cube by another speed, however small the steps."""
    exact = cube(EventDriven(), 0.23)
    assert [event.name for event in exact.events] == ["f5"]
    for step in (1e-3, 9e-4, 7.7e-4, 6.1e-4, 5e-4, 2.5e-4, 1.25e-4):
        motion = cube(Moreau(step=step), 0.23)
        assert motion.status is Status.finished
        assert motion.v[-1] == pytest.approx(exact.v[-1], abs=40.0 * step)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_steps_do_not_depend_on_units(unit):
    turned = Rotation.random(random_state=99).as_matrix()
    plain, _ = thrown(0, np.eye(3), 1.0, method=Moreau(step=2e-3))
    other, _ = thrown(0, turned, unit, method=Moreau(step=2e-3))
    assert other == pytest.approx(plain, abs=1e-6)


def test_a_cube_that_tumbles_to_rest_by_steps_comes_closer_to_the_one_by_events():
    exact = cube(EventDriven(), 0.45)
    for step in (1e-3, 2.5e-4):
        motion = cube(Moreau(step=step), 0.45)
        assert motion.status is Status.finished
        assert motion.q[-1, :3] == pytest.approx(exact.q[-1, :3], abs=2.0 * step)
