"""Motion of structures composed of bodies, joints and fields: the same results as by hand."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from motion_models import swing

from onesided import EventDriven, ModelError, Moreau, Projected, Sampled, compose, members, modes, simulate
from onesided.elements import Body, Damper, Gravity, Marker, Node, Revolute, TurnDamper


@cache
def hanging_rod():
    """A uniform rod of length 1 on a hinge, held out horizontally."""
    return compose(
        Node("o", (0.0, 0.0), fixed=True),
        Body("rod", (0.5, 0.0), mass="m", inertia="m/12"),
        Marker("end", "rod", (-0.5, 0.0)),
        Revolute("pin", ("o", "end")),
        Gravity("g", (0.0, -9.81)),
        parameters={"m": 2.0},
    )


@pytest.mark.parametrize("mass", [2.0, 5.0])
def test_compound_pendulum(mass):
    """Swings like a simple pendulum of length J/(m a) = 2/3, whatever its mass."""
    system = hanging_rod().replace(parameters={"m": mass})
    motion = simulate(system, system.start, {}, (0.0, 2.0), method=Projected(rtol=1e-10))
    angle, rate = swing(motion.t, np.pi / 2, l=2 / 3)
    assert motion.q[:, 2] == pytest.approx(angle - np.pi / 2, abs=1e-8)
    assert motion.v[:, 2] == pytest.approx(rate, abs=1e-7)
    lowest = mass * (9.81 + 0.5 * 2 * 9.81 / (2 / 3))  # weight and centripetal force where the rod hangs
    assert np.max(np.linalg.norm(motion.mu, axis=1)) <= lowest * (1 + 1e-6)


def test_modes_of_a_hanging_rod():
    found = modes(hanging_rod(), [0.0, -0.5, -np.pi / 2], 0.0)
    assert found.frequencies == pytest.approx([np.sqrt(9.81 * 1.5)], rel=1e-10)


DAMPING, FREQUENCY = 2.0, 3.0


def dragged(t):
    """The speed v of v' = −c (v − cos ωt) from rest."""
    c, w = DAMPING, FREQUENCY
    return c / (c**2 + w**2) * (c * np.cos(w * t) + w * np.sin(w * t) - c * np.exp(-c * t))


def shaken(t):
    return jnp.sin(FREQUENCY * t) / FREQUENCY


@pytest.fixture(scope="module")
def cart():
    """A mass that a dashpot joins to a support which p moves."""
    return compose(
        Node("a", (0.0, 0.0), fixed="y", moves={"x": 1.0}),
        Node("m", (1.0, 0.0), fixed="y", mass=1.0),
        Damper("c", ("a", "m"), damping=DAMPING),
    )


@pytest.mark.parametrize(
    ("method", "error"), [(Projected(rtol=1e-9), 1e-8), (EventDriven(), 1e-9), (Moreau(step=1e-2), 1e-4)]
)
def test_damper_at_a_place_that_p_moves(cart, method, error):
    motion = simulate(cart, [1.0], [0.0], (0.0, 2.0), method=method, control=shaken)
    assert motion.v[-1, 0] == pytest.approx(dragged(2.0), abs=error)
    force = DAMPING * (motion.v[:, 0] - np.cos(FREQUENCY * motion.t))
    assert motion.members["c.force"] == pytest.approx(force, abs=1e-12)
    assert motion.members["machine_force"] == pytest.approx(-force, abs=1e-12)


def test_damper_where_the_rate_of_p_is_not_known(cart):
    """A result knows p but not its rate: forces of such dampers are NaN then; samples of p jump and are refused."""
    motion = simulate(cart, [1.0], [0.0], (0.0, 0.1), control=shaken)
    assert np.all(np.isnan(members(cart, motion)["c.force"]))
    still = simulate(cart, [1.0], [0.5], (0.0, 0.1), control=0.1)
    assert still.v[-1, 0] == pytest.approx(0.5 * np.exp(-0.2), rel=1e-6)
    with pytest.raises(ModelError, match="damper 'c': depends on velocities and is attached to 'a'"):
        simulate(cart, [1.0], [0.0], (0.0, 1.0), control=Sampled(lambda t, q, v: t, rate=10.0))


def test_dampers_on_a_body_in_space_that_p_turns():
    """The free body feels the difference of the spins; the marker's speed is that of its circle."""
    system = compose(
        Body("a", (0.0, 0.0, 0.0), fixed=("x", "y", "z", "rx", "ry"), moves={"rz": 1.0}),
        Marker("tip", "a", (0.5, 0.0, 0.0)),
        Node("c", (0.0, 2.0, 0.0), fixed="xz", mass=1.0),
        Body("b", (0.0, 0.0, 1.0), fixed=("x", "y", "z"), mass=1.0, inertia=(1.0, 1.0, 1.0)),
        TurnDamper("turn", ("a", "b"), damping=DAMPING),
        Damper("rope", ("tip", "c"), damping=1.0),
    )
    angle, speed = 0.3, 0.7
    q = dict.fromkeys(system.coordinates, 0.0) | {"c_y": 2.0}
    at = np.array([*q.values()])
    data, of = (
        system.derivatives.constants(system.parameters),
        partial(system.structure.moving.force, system.derivatives),
    )
    force = jax.jit(lambda p, p_dot: of(0.0, at, 0.0 * at, p, data, p_dot=p_dot))(angle, speed)
    x, y = 0.5 * np.cos(angle), 0.5 * np.sin(angle)
    nearer = 2.0 * x * speed  # distance × the rate at which it decreases
    expected = dict.fromkeys(q, 0.0) | {"b_rz": DAMPING * speed, "c_y": nearer * (2.0 - y) / (x**2 + (2.0 - y) ** 2)}
    assert force == pytest.approx([*expected.values()], abs=1e-14)
