"""Where curves of events have kinks or end since the model is not smooth, against closed forms."""

import jax.numpy as jnp
import pytest

import onesided
from onesided import zoo
from onesided.results import Encounter


def _bent_law(s):
    """A spring of stiffness 1 up to x = a and 1 + s beyond, and a stop at x = g, met at p = g + s max(g − a, 0)."""
    return onesided.System(
        coordinates=("x",),
        energy=lambda q, p, th: q[0] ** 2 / 2 + s / 2 * jnp.maximum(q[0] - th.a, 0.0) ** 2 - p * q[0],
        unilateral={"stop": lambda q, p, th: th.g - q[0]},
        parameters={"a": 0.7, "g": 0.4},
    )


@pytest.mark.parametrize("s", [3.0, 40.0, -0.6, -3.0])
@pytest.mark.parametrize("g", [0.4, 1.0])
def test_a_contact_goes_on_through_the_kink_of_a_law(s, g):
    """From either side; where the stiffness falls below zero it becomes a corner limit point."""
    system = _bent_law(s)
    changed = system.replace(parameters={"g": g})
    sense = -1 if s < -1 and g > 0.7 else 1
    start = [g - 0.05], (g - 0.05) + s * max(g - 0.75, 0.0)
    event = onesided.trace(changed, *start, direction=sense, p_bounds=(-9.0, 30.0)).events[0]
    assert event.constraints == ("stop",)
    found = onesided.follow(event, "g", (0.2, 1.3))
    over = [max(theta - 0.7, 0.0) for theta in found.theta]
    assert found.p == pytest.approx([theta + s * one for theta, one in zip(found.theta, over, strict=True)], abs=1e-10)
    assert found.theta[[0, -1]] == pytest.approx([0.2, 1.3])
    (kink,) = found.meetings
    assert kink.kind is Encounter.kink
    assert (kink.theta, kink.p) == pytest.approx((0.7, 0.7), abs=1e-10)
    assert ("corner limit" in kink.after) == (s < -1)
    assert "corner limit" not in kink.before


@pytest.mark.parametrize("away", [0.0, -1e-9, 1e-9])
def test_an_event_at_the_kink_of_a_law_has_no_derivative(away):
    """The stop is met just where the spring gets stiffer: dp/dg = 1 before and 1 + s behind it."""
    s = 1e-3
    system = _bent_law(s).replace(parameters={"g": 0.7 + away})
    event = onesided.trace(system, [0.4], 0.4, p_bounds=(0.0, 5.0)).events[0]
    if away:
        assert onesided.sensitivity(event)["g"] == pytest.approx(1.0 + (s if away > 0 else 0.0), rel=1e-10)
        return
    with pytest.raises(onesided.UsageError, match="stiffness jumps there"):
        onesided.sensitivity(event)


@pytest.mark.slow
def test_what_rounding_leaves_of_a_limit_point_does_not_end_its_curve():
    """Members a thousand times stiffer along than across: the curve is known to 1e-9, and ends where paths do."""
    system = zoo.load("lee-frame").system
    stiff = system.parameters["EA"]
    event = onesided.trace(system, max_events=1).events[0]
    found = onesided.follow(event, "EA", (0.5 * stiff, 1.5 * stiff))
    for end in (0, -1):
        again = system.replace(parameters={"EA": float(found.theta[end])})
        assert found.p[end] == pytest.approx(onesided.trace(again, max_events=1).events[0].p, rel=1e-8)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("origin", [0.0, 2.0])
def test_a_limit_point_ends_where_a_law_has_a_kink(unit, origin):
    """x³ − x turns at x = −1/√3; beyond x = a the law is stiffer by 2: the turn is gone for a < −1/√3."""

    def energy(q, p, th):
        x = q[0] / unit - origin
        return x**4 / 4 - x**2 / 2 + jnp.maximum(x - (th.a / unit - origin), 0.0) ** 2 - p * x

    system = onesided.System(coordinates=("x",), energy=energy, parameters={"a": (origin - 0.4) * unit})
    start = [(origin - 1.2) * unit], -1.2 * 0.44
    event = onesided.trace(system, *start, direction=1, p_bounds=(-0.6, 2.0)).events[0]
    assert event.kind is onesided.Kind.limit
    found = onesided.follow(event, "a", ((origin - 1.0) * unit, (origin + 0.3) * unit))
    (end,) = found.meetings
    assert end.kind is Encounter.kink
    assert end.theta / unit - origin == pytest.approx(-(3.0**-0.5), abs=1e-9)
    assert found.theta[0] == end.theta
    assert "beyond it there is none" in end.words()
    assert "kink" in found.note


@pytest.mark.slow
def test_the_tip_of_a_panel_passes_the_end_of_the_next():
    """Its limit point ends where the tip of a panel leaves the line from hinge to tip of the one before.

    Which panel that is depends on which of the eight sides of the symmetric ring gives way.
    """
    system = zoo.load("panel-ring").system
    event = onesided.trace(system, max_events=4, throw=False).events[3]
    found = onesided.follow(event, "l", (0.69, 0.75))
    end = found.meetings[-1]
    assert end.kind is Encounter.kink
    (name,) = end.constraints
    assert name.startswith("behind")
    panel = int(name.removeprefix("behind"))
    hinges = jnp.exp(1j * jnp.pi / 4 * jnp.arange(8))
    tips = hinges + end.theta * jnp.exp(1j * end.q)
    along = (tips[panel] - hinges[panel - 1]) * jnp.conj(tips[panel - 1] - hinges[panel - 1])
    assert float(along.real) == pytest.approx(end.theta**2, rel=1e-10)


@pytest.mark.slow
def test_no_curve_leads_beyond_cables_without_length():
    """The frame is as high as its side cables when they become taut: with struts of that length its width is 0.

    Then the horizontal cables have no length, p = L.
    """
    system = zoo.load("tensegrity-deploy").system
    event = onesided.trace(system, max_events=1).events[0]
    found = onesided.follow(event, "l", (1.0, 2.05))
    end = found.meetings[0]
    assert end.kind is Encounter.kink
    assert end.index == 0
    wide = (1.5**2 - 0.6**2) ** 0.5
    assert (end.theta, end.p) == pytest.approx((1.5, wide - wide / 12000.0 * 29.0), rel=1e-10)
    assert end.constraints == ("bottom", "top")
    assert "'bottom' has no length" in found.note
