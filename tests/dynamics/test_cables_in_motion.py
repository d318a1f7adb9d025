"""Composed structures with cables in motion: the same parts as in statics, slack and taut, against closed forms."""

import math

import numpy as np
import pytest

import onesided
from onesided import Moreau, Projected
from onesided.elements import Cable, Gravity, Node, PlaneContact, PlasticCable

G, K = 9.81, 100.0


def hanging(cable):
    return onesided.compose(
        Node("top", (0.0, 0.0), fixed=True), Node("m", (0.0, -1.0), mass=1.0), cable, Gravity("g", (0.0, -G))
    )


def bungee(t, speed):
    """Height of a mass thrown up from the end of its cable: flight, then half a swing on the cable."""
    flight, omega = 2.0 * speed / G, math.sqrt(K)
    if t <= flight:
        return -1.0 + speed * t - G * t**2 / 2
    s = omega * (t - flight)
    return -1.0 - G / K * (1 - math.cos(s)) - speed / omega * math.sin(s)


@pytest.mark.parametrize("start", ["all coordinates", "by name"])
def test_thrown_up_it_flies_slack_and_swings_taut(start):
    system = hanging(Cable("c", ("top", "m"), stiffness=K))
    q0 = system.start if start == "all coordinates" else {"m_x": 0.0, "m_y": -1.0, "c_slack": 0.0}
    v0 = [0.0, 3.0, 0.0] if start == "all coordinates" else {"m_y": 3.0}
    motion = onesided.simulate(system, q0, v0, (0.0, 0.9), method=Projected(rtol=1e-10))
    assert motion.coordinates == ("m_x", "m_y")
    times = np.linspace(0.0, 0.9, 91)
    heights = np.array([bungee(t, 3.0) for t in times])
    np.testing.assert_allclose(motion.at(times)[0][:, 1], heights, atol=1e-8)
    tension = motion.measures["c_tension"]
    np.testing.assert_allclose(tension, K * np.maximum(-1.0 - motion.q[:, 1], 0.0), atol=1e-9)
    assert tension.min() == 0.0 and tension.max() > 30.0
    assert np.ptp(motion.energy) < 1e-8


def test_an_equilibrium_of_statics_is_one_of_motion_with_the_same_tensions():
    system = onesided.compose(
        *(Node(name, (x, 0.0), fixed=True) for name, x in (("a", -1.0), ("b", 1.0))),
        Node("m", (0.2, -0.7), mass=2.0),
        Cable("left", ("a", "m"), stiffness=300.0),
        Cable("right", ("m", "b"), stiffness=200.0),
        Cable("loose", ("a", "m"), stiffness=200.0, length=3.0),
        Gravity("g", (0.0, -G)),
    )
    rest = onesided.solve(system, start=system.start, p=0.0).value
    motion = onesided.simulate(system, rest.q, np.zeros(system.n), (0.0, 1.0))
    np.testing.assert_allclose(motion.q, np.broadcast_to(rest.q[:2], motion.q.shape), atol=1e-8)
    for name, force in zip(rest.unilateral, rest.lam, strict=True):
        np.testing.assert_allclose(motion.measures[f"{name}_tension"], force, atol=1e-6)
    assert rest.lam[2] == 0.0


def test_contacts_of_the_same_structure_stay_one_sided():
    system = onesided.compose(
        Node("top", (0.0, 0.0), fixed=True),
        Node("m", (0.0, -1.0), mass=1.0),
        Cable("c", ("top", "m"), stiffness=1.0, length=3.0),
        PlaneContact("floor", "m", normal=(0.0, 1.0), through=(0.0, -1.5)),
        Gravity("g", (0.0, -G)),
    )
    motion = onesided.simulate(system, system.start, np.zeros(system.n), (0.0, 1.0), method=Moreau(step=1e-3))
    assert motion.unilateral == ("floor",)
    assert motion.q[-1, 1] == pytest.approx(-1.5, abs=1e-12) and motion.lam[-1, 0] == pytest.approx(G, rel=1e-9)


def test_a_permanent_set_is_not_forgotten_silently():
    system = hanging(PlasticCable("c", ("top", "m"), stiffness=K, yield_tension=5.0))
    with pytest.raises(onesided.ModelError, match="permanent set") as refused:
        onesided.simulate(system, system.start, np.zeros(system.n), (0.0, 1.0))
    assert "CableStructure" in str(refused.value)
