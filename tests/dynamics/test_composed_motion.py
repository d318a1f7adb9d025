"""Motion of structures composed of bodies, joints and fields: the same results as by hand."""

from functools import cache

import numpy as np
import pytest
from motion_models import swing

from onesided import ModelError, Projected, compose, modes, simulate
from onesided.elements import Body, Damper, Gravity, Marker, Node, Revolute


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


def test_damper_at_a_place_that_p_moves_is_refused():
    """Its velocity would count as zero; with a p that stands still there is none."""
    parts = (
        Node("a", (0.0, 0.0), fixed="y", moves={"x": 1.0}),
        Node("m", (1.0, 0.0), fixed="y", mass=1.0),
        Damper("c", ("a", "m"), damping=2.0),
    )
    system = compose(*parts)
    with pytest.raises(ModelError, match="damper 'c': depends on velocities and is attached to 'a'"):
        simulate(system, [1.0], [0.0], (0.0, 1.0), control=lambda t: t)
    assert simulate(system, [1.0], [0.5], (0.0, 0.1), control=0.1).v[-1, 0] == pytest.approx(
        0.5 * np.exp(-0.2), rel=1e-6
    )
