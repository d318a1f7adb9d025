"""Motions of bodies in other units of length and mass: the same events and turns, whatever stands beside an angle."""

from functools import cache

import numpy as np
import pytest

import onesided
from onesided.elements import Body, Distance, Gravity, Marker, PlaneContact, Revolute

UNITS = [(1e6, 1.0), (1e9, 1e-3), (1e-6, 1e3)]
SMOOTH = [onesided.Projected(), onesided.GeneralizedAlpha(step=2e-3), onesided.Moreau(step=2e-3)]


@cache
def rod():
    """A rod that falls on its ends, with friction; its units are parameters."""
    ends = [Marker(name, "rod", (f"{side * 0.5}*m", 0.0)) for name, side in (("left", -1), ("right", 1))]
    floor = {"normal": (0, 1), "through": (0, 0), "restitution": 0.5, "friction": 0.3}
    contacts = [PlaneContact(f"floor_{end.name}", end.name, **floor) for end in ends]
    body = Body("rod", (0.0, "m"), angle=0.4, mass="2*kg", inertia="kg*m**2/6")
    weight = Gravity("weight", (0.0, "-9.81*m"))
    return onesided.compose(body, *ends, *contacts, weight, parameters={"m": 1.0, "kg": 1.0})


@cache
def pendulum():
    """Two bodies that swing, joined by hinges; a joint is stated twice."""
    return onesided.compose(
        Body("ground", (0.0, 0.0), fixed=True),
        Body("a", ("0.6*m", "-0.8*m"), mass="2*kg", inertia="0.1*kg*m**2"),
        Marker("a_top", "a", ("-0.6*m", "0.8*m")),
        Marker("a_low", "a", ("0.3*m", "-0.4*m")),
        Body("b", ("1.4*m", "-1.2*m"), mass="kg", inertia="0.05*kg*m**2"),
        Marker("b_end", "b", ("-0.5*m", 0.0)),
        Revolute("first", ("ground", "a_top")),
        Revolute("second", ("a_low", "b_end")),
        Distance("again", ("ground", "a")),
        Gravity("weight", (0.0, "-9.81*m")),
        parameters={"m": 1.0, "kg": 1.0},
    )


def moved(system, end, method, m=1.0, kg=1.0):
    """Its motion from rest in other units."""
    return onesided.simulate(system.replace(parameters={"m": m, "kg": kg}), t_span=(0, end), method=method)


@pytest.mark.parametrize("method", [onesided.EventDriven(), onesided.Moreau()], ids=["EventDriven", "Moreau"])
def test_a_rod_falls_alike_in_all_units(method):
    plain = moved(rod(), 1.2, method)
    for m, kg in UNITS:
        other = moved(rod(), 1.2, method, m, kg)
        first, second = ([(event.kind, event.t) for event in motion.events][:12] for motion in (plain, other))
        assert [kind for kind, _ in second] == [kind for kind, _ in first], (m, kg)
        np.testing.assert_allclose([t for _, t in second], [t for _, t in first], rtol=1e-8)
        np.testing.assert_allclose(other.q[-1] / (m, m, 1.0), plain.q[-1], atol=1e-7)


@pytest.mark.parametrize("method", SMOOTH, ids=lambda method: type(method).__name__)
def test_hinges_do_not_depend_on_units(method):
    plain = moved(pendulum(), 1, method)
    for m, kg in UNITS:
        other = moved(pendulum(), 1, method, m, kg)
        np.testing.assert_allclose(other.q[-1] / (m, m, 1.0, m, m, 1.0), plain.q[-1], atol=1e-6, err_msg=f"{m}, {kg}")


def test_units_as_numbers_are_units_as_parameters():
    """Parts whose numbers are written out move as those whose numbers follow parameters."""
    m, kg = UNITS[0]
    body = Body("b", (0.0, m), angle=0.4, mass=2.0 * kg, inertia=kg * m**2 / 6)
    told = Body("b", (0.0, "m"), angle=0.4, mass="2*kg", inertia="kg*m**2/6")
    free = onesided.compose(body, Gravity("weight", (1.0, -9.81 * m)))
    same = onesided.compose(told, Gravity("weight", (1.0, "-9.81*m")), parameters={"m": m, "kg": kg})
    ends = [onesided.simulate(one, t_span=(0, 0.5), method=onesided.Projected()).q[-1] for one in (free, same)]
    np.testing.assert_allclose(*ends, rtol=1e-12)
