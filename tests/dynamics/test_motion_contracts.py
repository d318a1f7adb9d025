"""What models promise is checked at the start; motions that cannot go on say so."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from contact_models import G, belt, puck, rocking_block

from onesided import (
    Baumgarte,
    Contact,
    EventDriven,
    GeneralizedAlpha,
    Moreau,
    Projected,
    Status,
    System,
    simulate,
)
from onesided.base.errors import ModelError


def sliding(gap, slip, mass=None):
    return System(
        ("x", "z"), lambda q, p, th: G * q[1], mass=mass or (lambda q, th: jnp.eye(2)), unilateral={"floor": gap},
        contacts={"floor": Contact(friction=0.5, slip=slip)},
    )  # fmt: skip


WRONG = {
    "gap x 3": (lambda q, p, th: 3.0 * q[1], lambda q, v, th: v[0], "do not fit"),
    "slip x 3": (lambda q, p, th: q[1], lambda q, v, th: 3.0 * v[0], "do not fit"),
    "incline that is no distance": (lambda q, p, th: q[1] - 0.5 * q[0], lambda q, v, th: v[0], "do not fit"),
    "slip squared": (lambda q, p, th: q[1], lambda q, v, th: v[0] ** 2, "linear"),
    "absolute slip": (lambda q, p, th: q[1], lambda q, v, th: jnp.abs(v[0]), "linear"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("method", [EventDriven(), Moreau(step=1e-2)], ids=["events", "steps"])
def test_contacts_with_friction_are_refused(name, method):
    gap, slip, words = WRONG[name]
    with pytest.raises(ModelError, match=words):
        simulate(sliding(gap, slip), [0.0, 0.0], [2.0, 0.0], (0.0, 0.1), method=method)


RIGHT = {
    "plain": lambda: (sliding(lambda q, p, th: q[1], lambda q, v, th: v[0]), [0.0, 0.0], [2.0, 0.0]),
    "belt of constant speed": lambda: (
        sliding(lambda q, p, th: q[1], lambda q, v, th: v[0] - 1.0), [0.0, 0.0], [2.0, 0.0]),
    "oblique": lambda: (
        sliding(lambda q, p, th: q[1] / jnp.sqrt(2.0), lambda q, v, th: v[0] + v[1] / jnp.sqrt(2.0),
                lambda q, th: jnp.array([[1.0, np.sqrt(0.5)], [np.sqrt(0.5), 1.0]])), [0.0, 0.0], [2.0, 0.0]),
    "other units": lambda: (
        sliding(lambda q, p, th: q[1], lambda q, v, th: v[0] / 1e3, lambda q, th: jnp.diag(jnp.array([1e-6, 1.0]))),
        [0.0, 0.0], [2000.0, 0.0]),
    "block": lambda: (rocking_block(friction=0.5), [0.0, 1.0, 0.0], [0.1, 0.0, 0.0]),
    "two bodies": lambda: (belt(0.3), [0.0, 0.0, 0.0], [0.8, 0.8, 0.0]),
    "space": lambda: (puck(0.3), [0.0, 0.0, 0.0], [1.0, 2.0, 0.0]),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right_contacts_are_not_refused(name):
    system, q, v = RIGHT[name]()
    assert simulate(system, q, v, (0.0, 0.02), method=EventDriven(), control=lambda t: t).ok


def test_oblique_coordinates_slide_as_cartesian_ones():
    system, q, v = RIGHT["oblique"]()
    motion = simulate(system, q, v, (0.0, 0.2), method=EventDriven())
    assert motion.v[-1, 0] == pytest.approx(2.0 - 0.5 * np.sqrt(2.0) * G * 0.2, abs=1e-9)  # the weight is √2 G


def test_velocities_in_rolling_and_kinetic_energy():
    rolling = System(
        ("x", "y"), lambda q, p, th: G * q[1], mass=lambda q, th: jnp.eye(2),
        nonholonomic={"odd": lambda q, v, th: v[0] * v[1]},
    )  # fmt: skip
    with pytest.raises(ModelError, match="linear"):
        simulate(rolling, [0.0, 0.0], [1.0, 0.0], (0.0, 0.1))
    quartic = System(("x",), lambda q, p, th: q[0] ** 2, kinetic=lambda q, v, th: 0.5 * v[0] ** 2 + 0.1 * v[0] ** 4)
    with pytest.raises(ModelError, match="quadratic"):
        simulate(quartic, [1.0], [0.0], (0.0, 0.1))


# motions that cannot go on


def arm():
    return System(
        ("x", "y"), lambda q, p, th: 0.0 * q[0], mass=lambda q, th: jnp.eye(2),
        bilateral={"arm": lambda q, p, th: q[1] * jnp.cos(p) - q[0] * jnp.sin(p)},
    )  # fmt: skip


@pytest.mark.parametrize(
    "method",
    [
        Projected(),
        Projected(step=1e-2),
        GeneralizedAlpha(),
        GeneralizedAlpha(step=1e-2),
        EventDriven(),
        Moreau(step=1e-2),
    ],
    ids=lambda m: f"{type(m).__name__}-{getattr(m, 'step', None)}",
)
def test_a_constraint_that_jumps_ends_the_motion(method):
    motion = simulate(
        arm(),
        [1.0, 0.0],
        [0.0, 0.0],
        (0.0, 1.5),
        control=lambda t: jnp.where(t < 0.5, 0.0, 0.3),
        method=method,
        throw=False,
    )
    assert motion.status is Status.step_too_small
    assert motion.t[-1] == pytest.approx(0.5, abs=1.1e-2)


@cache
def four_bar():
    """A parallelogram, which turns through positions in which all bars are in line."""
    return System(
        ("ax", "ay", "bx", "by"), lambda q, p, th: G * (q[1] + q[3]), mass=lambda q, th: jnp.eye(4),
        bilateral={"a": lambda q, p, th: (q[0] ** 2 + q[1] ** 2 - 1) / 2,
                   "b": lambda q, p, th: ((q[2] - 2) ** 2 + q[3] ** 2 - 1) / 2,
                   "c": lambda q, p, th: ((q[2] - q[0]) ** 2 + (q[3] - q[1]) ** 2 - 4) / 2},
    )  # fmt: skip


@pytest.mark.parametrize("rtol", [1e-8, 1e-10, 1e-11, 1e-12])
def test_singular_positions_are_passed_at_every_tolerance(rtol):
    """The parallelogram moves as a pendulum with a unit mass at length one, each crank alike."""
    motion = simulate(four_bar(), [0.0, 1.0, 2.0, 1.0], [1.0, 0.0, 1.0, 0.0], (0.0, 3.0), method=Projected(rtol=rtol))
    single = System(("a",), lambda q, p, th: G * jnp.cos(q[0]), mass=lambda q, th: jnp.eye(1))
    angle = simulate(single, [0.0], [1.0], (0.0, 3.0), method=Projected(rtol=1e-12)).q[-1, 0]
    assert motion.q[-1, :2] == pytest.approx([np.sin(angle), np.cos(angle)], abs=1e-6)


def test_baumgarte_ends_where_branches_meet():
    motion = simulate(
        four_bar(), [0.0, 1.0, 2.0, 1.0], [1.0, 0.0, 1.0, 0.0], (0.0, 3.0), method=Baumgarte(), throw=False
    )
    assert motion.status is Status.singular_configuration
    assert np.abs(motion.q[:, 3] - motion.q[:, 1]).max() < 1e-6  # still on its branch


def test_friction_by_a_sign_ends_with_a_status():
    guide = System(
        ("x", "y"), lambda q, p, th: G * q[1], mass=lambda q, th: jnp.eye(2),
        bilateral={"guide": lambda q, p, th: q[1]},
        friction=lambda q, v, mu, th: jnp.array([-0.3 * jnp.abs(mu[0]) * jnp.sign(v[0]), 0.0]),
    )  # fmt: skip
    motion = simulate(guide, [0.0, 0.0], [1.0, 0.0], (0.0, 1.0), throw=False)
    assert motion.status is Status.step_too_small
    assert "sign" in motion.note
    assert motion.t[-1] == pytest.approx(1.0 / (0.3 * G), abs=1e-3)


BAD_MASSES = {
    "upper half": [[1.0, 0.5], [0.0, 1.0]],
    "a little": [[2.0, 0.0], [1e-3, 1.0]],
    "indefinite": [[1.0, 2.0], [2.0, 1.0]],
    "negative": [[-1.0, 0.0], [0.0, 1.0]],
}


@pytest.mark.parametrize("M", BAD_MASSES.values(), ids=BAD_MASSES)
@pytest.mark.parametrize("method", [Projected(), Moreau(1e-2), EventDriven()], ids=lambda m: type(m).__name__)
def test_mass_matrices_are_symmetric_and_not_negative(M, method):
    system = System(("x", "y"), lambda q, p, th: q @ q / 2, mass=lambda q, th: jnp.array(M))
    with pytest.raises(ModelError, match=r"not symmetric|singular, or negative"):
        simulate(system, [1.0, 0.0], [0.0, 0.0], (0.0, 0.1), method=method)


def test_steps_that_become_longer_may_be_tiny_for_long():
    """v̇ = −(C/s)(v − s) with s = t + δ: stiff at first, then less and less; v → C s/(C + 1)."""
    C, delta = 1000.0, 2e-7
    system = System(
        ("x",), lambda q, p, th: 0.0 * q[0], mass=lambda q, th: jnp.eye(1),
        force=lambda t, q, v, p, th: -(C / (t + delta)) * (v - (t + delta)),
    )  # fmt: skip
    motion = simulate(system, [0.0], [2.0 * delta], (0.0, 0.01), method=EventDriven())
    assert motion.v[-1, 0] == pytest.approx(C / (C + 1.0) * (0.01 + delta), rel=1e-5)
