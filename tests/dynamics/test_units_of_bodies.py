"""Motions of bodies in other units of length and mass: the same events and turns, whatever stands beside an angle."""

import numpy as np
import pytest

import onesided
from onesided.elements import Body, Distance, Gravity, Marker, PlaneContact, Revolute

UNITS = [(1e6, 1.0), (1e9, 1e-3), (1e-6, 1e3)]
SMOOTH = [onesided.Projected(), onesided.GeneralizedAlpha(step=2e-3), onesided.Moreau(step=2e-3)]


def rod(m, kg):
    """A rod that falls on its ends, with friction."""
    ends = [Marker(name, "rod", (side * 0.5 * m, 0.0)) for name, side in (("left", -1), ("right", 1))]
    floor = {"normal": (0, 1), "through": (0, 0), "restitution": 0.5, "friction": 0.3}
    contacts = [PlaneContact(f"floor_{end.name}", end.name, **floor) for end in ends]
    body = Body("rod", (0.0, m), angle=0.4, mass=2.0 * kg, inertia=kg * m**2 / 6)
    return onesided.compose(body, *ends, *contacts, Gravity("weight", (0.0, -9.81 * m)))


def pendulum(m, kg):
    """Two bodies that swing, joined by hinges; a joint is stated twice."""
    return onesided.compose(
        Body("ground", (0.0, 0.0), fixed=True),
        Body("a", (0.6 * m, -0.8 * m), mass=2.0 * kg, inertia=0.1 * kg * m**2),
        Marker("a_top", "a", (-0.6 * m, 0.8 * m)),
        Marker("a_low", "a", (0.3 * m, -0.4 * m)),
        Body("b", (1.4 * m, -1.2 * m), mass=kg, inertia=0.05 * kg * m**2),
        Marker("b_end", "b", (-0.5 * m, 0.0)),
        Revolute("first", ("ground", "a_top")),
        Revolute("second", ("a_low", "b_end")),
        Distance("again", ("ground", "a")),
        Gravity("weight", (0.0, -9.81 * m)),
    )


@pytest.mark.parametrize(("m", "kg"), UNITS)
@pytest.mark.parametrize("method", [onesided.EventDriven(), onesided.Moreau()], ids=["EventDriven", "Moreau"])
def test_a_rod_falls_alike_in_all_units(method, m, kg):
    plain, other = (onesided.simulate(rod(*units), t_span=(0, 1.2), method=method) for units in ((1.0, 1.0), (m, kg)))
    first, second = ([(event.kind, event.t) for event in motion.events][:12] for motion in (plain, other))
    assert [kind for kind, _ in second] == [kind for kind, _ in first]
    np.testing.assert_allclose([t for _, t in second], [t for _, t in first], rtol=1e-8)
    np.testing.assert_allclose(other.q[-1] / (m, m, 1.0), plain.q[-1], atol=1e-7)


@pytest.mark.parametrize(("m", "kg"), UNITS)
@pytest.mark.parametrize("method", SMOOTH, ids=lambda method: type(method).__name__)
def test_hinges_do_not_depend_on_units(method, m, kg):
    plain, other = (
        onesided.simulate(pendulum(*units), t_span=(0, 1), method=method) for units in ((1.0, 1.0), (m, kg))
    )
    np.testing.assert_allclose(other.q[-1] / (m, m, 1.0, m, m, 1.0), plain.q[-1], atol=1e-6)
