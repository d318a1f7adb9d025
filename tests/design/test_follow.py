"""Curves of events in two parameters against closed forms."""

import jax.numpy as jnp
import numpy as np
import pytest

import onesided
from onesided import zoo
from onesided.results import Encounter


def _force(y, h=0.5):
    """Load of two bars of half span 1 and rise h at height y."""
    length = np.sqrt(1 + y * y)
    return 2 * (np.sqrt(1 + h * h) - length) * y / length


@pytest.fixture(scope="module")
def floor():
    return zoo.load("von-mises-floor").system


@pytest.fixture(scope="module")
def floor_events(floor):
    return onesided.trace(floor).events


HIGHEST = np.sqrt(1.25 ** (1 / 3) - 1)  # where the load of two bars of rise 0.5 is largest


def test_limit_load_over_the_height(floor_events):
    """p = 2 ((1 + h²)^(1/3) − 1)^(3/2)."""
    found = onesided.follow(floor_events[0], "h", (0.42, 0.8), throw=False)
    assert found.p == pytest.approx(2 * (np.cbrt(1 + found.theta**2) - 1) ** 1.5, rel=1e-10)
    assert found.theta[found.start] == 0.5
    assert found.theta[-1] == 0.8


def test_a_corner_becomes_a_contact_where_it_meets_the_limit_points(floor_events):
    """Load at the floor's height; the open branch turns at ± the height of the largest load."""
    found = onesided.follow(floor_events[1], "ys", (-0.45, 0.45))
    assert found.p == pytest.approx(_force(found.theta), rel=1e-10, abs=1e-13)
    assert [one.kind for one in found.meetings] == [Encounter.corner_limit] * 2
    assert [one.theta for one in found.meetings] == pytest.approx([-HIGHEST, HIGHEST], abs=1e-10)
    assert found.meetings[1].before.startswith("corner limit point")
    assert found.meetings[1].after.startswith("contact closes")


def test_a_limit_point_ends_where_a_corner_comes_first(floor_events):
    found = onesided.follow(floor_events[0], "ys", (-0.45, 0.45))
    (end,) = found.meetings
    assert end.kind is Encounter.corner_limit
    assert end.theta == pytest.approx(HIGHEST, abs=1e-10)
    assert end.constraints == ("floor",)
    assert end.after == ""
    assert found.theta[-1] == end.theta


def test_a_map_of_events(floor, tmp_path):
    found = onesided.stability_map(floor, "ys", (-0.45, 0.45), samples=2)  # both changes between two samples
    assert found.complete
    assert len(found.curves) == 3  # two limit points, and the contact once
    assert [len(region.events) for region in found.regions] == [3, 2, 1]
    assert [region.high for region in found.regions] == pytest.approx([-HIGHEST, HIGHEST, 0.45], abs=1e-9)
    again = onesided.load_result(onesided.save(found, tmp_path / "map"))
    assert repr(again) == repr(found)
    assert np.array_equal(again.curves[0].p, found.curves[0].p)
    assert [one.words() for one in again.curves[0].meetings] == [one.words() for one in found.curves[0].meetings]
    onesided.plots.write(again, tmp_path / "map.svg")
    assert "regions of ys" in again._repr_html_()


def test_a_map_says_where_there_is_no_path():
    """x²/2 √(w − 1) − p x has no energy below w = 1: a region of its own, with the reason; above, no event."""
    system = onesided.System(
        coordinates=("x",),
        energy=lambda q, p, th: q[0] ** 2 / 2 * jnp.sqrt(th.w - 1) - p * q[0],
        parameters={"w": 2.0},
    )
    found = onesided.stability_map(system, "w", (0.5, 2.5), q0=[0.0], p0=0.0, p_bounds=(0.0, 1.0), samples=3)
    assert [region.events for region in found.regions] == [("no path",), ()]
    assert found.regions[0].high == pytest.approx(1.0, abs=2e-3)
    assert abs(found.regions[0].high - 1.0) <= 1.01 * found.regions[0].sharp
    assert found.regions[0].why == "paths begin"
    assert not found.complete
    assert found.note.startswith("no path at w = 0.5: ")


@pytest.mark.parametrize(
    ("bounds", "samples", "told"),
    [
        ((0.3, 0.2), 5, "bounds of ys"),
        ((0.2, 0.2), 5, "bounds of ys"),
        ((0.2, np.inf), 5, "bounds of ys"),
        ((0.2, np.nan), 5, "each a number"),
        ((0.2, 0.3), 1, "samples"),
        ((0.2, 0.3), 10**9, "samples"),
    ],
)
def test_a_map_that_cannot_be_drawn_is_refused_in_words(floor, bounds, samples, told):
    with pytest.raises(onesided.UsageError, match=told):
        onesided.stability_map(floor, "ys", bounds, samples=samples)


def test_two_limit_points_meet_in_a_cusp():
    """x⁴/4 + a x²/2 − p x: limit points at p = ±2 (−a/3)^(3/2)."""
    system = onesided.System(
        coordinates=("x",),
        energy=lambda q, p, th: q[0] ** 4 / 4 + th.a * q[0] ** 2 / 2 - p * q[0],
        parameters={"a": -1.0},
    )
    event = onesided.trace(system, [-1.3], -1.3 * 0.69, p_bounds=(-3.0, 3.0)).events[0]
    found = onesided.follow(event, "a", (-2.0, 0.5))
    assert np.abs(found.p) == pytest.approx(2 * np.maximum(-found.theta / 3, 0.0) ** 1.5, abs=1e-10)
    (cusp,) = found.meetings
    assert cusp.kind is Encounter.cusp
    assert (cusp.theta, cusp.p) == pytest.approx((0.0, 0.0), abs=1e-10)
    assert found.theta[[0, -1]] == pytest.approx([-2.0, -2.0])  # both branches of it
    with pytest.raises(onesided.OnesidedError, match="lost on the way"):
        onesided.event_value(system, event, {"a": 0.5})


def test_two_contacts_meet():
    """x = (3 p − …): both stops are reached at once for g1 = 1.5 g2."""
    system = onesided.System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: q[0] ** 2 + 1.5 * q[1] ** 2 - 3.0 * p * (q[0] + q[1]),
        unilateral={"one": lambda q, p, th: th.g1 - q[0], "two": lambda q, p, th: th.g2 - q[1]},
        parameters={"g1": 0.3, "g2": 0.4},
    )
    event = onesided.trace(system, [0.0, 0.0], 0.0, p_bounds=(0.0, 3.0)).events[0]
    found = onesided.follow(event, "g1", (0.1, 1.0))
    assert found.p == pytest.approx(found.theta / 1.5, rel=1e-12)
    (end,) = found.meetings
    assert end.kind is Encounter.corners
    assert end.theta == pytest.approx(0.6, abs=1e-12)
    assert end.constraints == ("one", "two")


def test_a_corner_limit_point_over_its_gap():
    """A bar on a stop at the angle `gap`, pulled by a spring to (d, p): the reaction vanishes at p = d tan(gap).

    Without the stop tan(phi) = p/d: the free branch turns back where d changes its sign.
    """
    system = onesided.System(
        coordinates=("phi",),
        energy=lambda q, p, th: ((th.d - jnp.cos(q[0])) ** 2 + (p - jnp.sin(q[0])) ** 2) / 2,
        unilateral={"stop": lambda q, p, th: q[0] - th.gap},
        parameters={"gap": 0.1, "d": -1.0},
    )
    event = onesided.trace(system, [0.1], -1.0, p_bounds=(-2.0, 2.0)).events[0]
    assert event.kind is onesided.Kind.corner_limit
    over_gap = onesided.follow(event, "gap", (-1.0, 1.0))
    assert over_gap.p == pytest.approx(-np.tan(over_gap.theta), rel=1e-10, abs=1e-12)
    over_d = onesided.follow(event, "d", (-1.5, 1.5))
    assert over_d.p == pytest.approx(over_d.theta * np.tan(0.1), rel=1e-10, abs=1e-12)
    (turned,) = over_d.meetings
    assert turned.kind is Encounter.corner_limit
    assert turned.theta == pytest.approx(0.0, abs=1e-10)
    assert turned.before.startswith("corner limit point")
    assert turned.after.startswith("contact")


def test_a_meeting_at_the_very_start_is_told(floor):
    """The floor is where the load is largest."""
    event = onesided.trace(floor.replace(parameters={"ys": float(HIGHEST)})).events[0]
    (met,) = onesided.follow(event, "ys", (0.2, 0.4)).meetings
    assert met.kind is Encounter.corner_limit
    assert met.theta == HIGHEST


def test_long_curves_of_large_displacements_take_few_points(floor, floor_events):
    """Lengths of a thousand times the scale at the start: steps go by bends, not by how far the state moves."""
    found = onesided.follow(floor_events[0], "b", (0.9, 1000.0), throw=False)
    assert len(found) < 60
    b = found.theta
    assert found.p == pytest.approx(2 * b * (np.cbrt(1 + (0.5 / b) ** 2) - 1) ** 1.5, rel=1e-9)


def test_a_contact_stops_mattering():
    """x = p meets the obstacle (x − 1)² + g = 0 at p = 1 ∓ √−g, and not at all for g > 0."""
    system = onesided.System(
        coordinates=("x",),
        energy=lambda q, p, th: (q[0] - p) ** 2 / 2,
        unilateral={"hump": lambda q, p, th: (q[0] - 1.0) ** 2 + th.g},
        parameters={"g": -0.25},
    )
    event = onesided.trace(system, [0.0], 0.0, p_bounds=(-1.0, 3.0)).events[0]
    found = onesided.follow(event, "g", (-0.5, 0.5))
    assert (found.p - 1.0) ** 2 == pytest.approx(-found.theta, abs=1e-10)
    (end,) = [one for one in found.meetings if one.kind is Encounter.grazes and one.piece == "open"]
    assert (end.theta, end.p) == pytest.approx((0.0, 1.0), abs=1e-10)


def _free_truss():
    """Two bars of half span 1 and rise h whose apex may move sideways."""

    def energy(q, p, th):
        natural = jnp.sqrt(1.0 + th.h**2)
        lengths = [jnp.sqrt((1.0 + s * q[0]) ** 2 + q[1] ** 2) for s in (1.0, -1.0)]
        return sum((length - natural) ** 2 for length in lengths) / 2 + p * q[1]

    return onesided.System(coordinates=("x", "y"), energy=energy, parameters={"h": 3.0})


@pytest.mark.parametrize("c", [0.3, 1.0, 4.0])
def test_a_fork_passes_through_a_contact(c):
    """x meets its stop w = p at p = w; the stiffness c − p of y falls below zero there for w > c, on both sides of it.

    No load turns back and no contact loses its meaning: all that changes is how many modes are negative.
    """
    system = onesided.System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: q[0] ** 2 / 2 - p * q[0] + (c - p) * q[1] ** 2 / 2 + q[1] ** 4,
        unilateral={"stop": lambda q, p, th: th.w - q[0]},
        parameters={"w": 0.4 * c},
    )
    (event, *_) = onesided.trace(system, [0.0, 0.0], 0.0, p_bounds=(0.0, 9.0)).events
    found = onesided.follow(event, "w", (0.1 * c, 2.0 * c))
    assert found.p == pytest.approx(found.theta, rel=1e-12)
    assert [one.kind for one in found.meetings] == [Encounter.degree] * 2
    assert {one.piece for one in found.meetings} == {"open", "closed"}
    assert [one.theta for one in found.meetings] == pytest.approx([c, c], rel=1e-10)
    assert found.meetings[0].before == "contact closes, negative modes 0 | 0"
    assert found.meetings[0].after == "contact closes, negative modes 1 | 1"


def test_a_bifurcation_meets_a_limit_point_at_a_hilltop():
    """Sideways stiffness vanishes at l0 y² = l³, the limit point is at l0 = l³: both at y = 1, h = √7, p = 2.

    The curve of forks turns back where l³/y² is smallest: l = √3, h² = 23/4, p = √2.
    """
    path = onesided.trace(_free_truss(), [0.0, 3.0], 0.0, p_bounds=(-5.0, 5.0), max_events=2)
    fork, limit = path.events
    assert fork.kind is onesided.Kind.smooth_bifurcation
    found = onesided.follow(fork, "h", (2.3, 3.05))
    places = {one.kind: (one.theta, one.p) for one in found.meetings}
    assert places[Encounter.hilltop] == pytest.approx((np.sqrt(7), 2.0), rel=1e-9)
    assert places[Encounter.turns] == pytest.approx((np.sqrt(5.75), np.sqrt(2)), rel=1e-9)
    y = found.q[:, 1]
    assert np.sqrt(1 + found.theta**2) * y**2 == pytest.approx((1 + y * y) ** 1.5, rel=1e-10)
    along = onesided.follow(limit, "h", (2.6, 3.05))
    assert [(one.kind, one.theta) for one in along.meetings] == [
        (Encounter.hilltop, pytest.approx(np.sqrt(7), rel=1e-9))
    ]
    assert along.p == pytest.approx(_force(np.sqrt(np.cbrt(1 + along.theta**2) - 1), along.theta), rel=1e-10)


@pytest.mark.parametrize(
    ("kind", "reach", "expected"),
    [("user", (0.1, 1.0), 0.5), ("bound", (0.1, 1.0), 0.9), ("smooth_bifurcation", (0.1, 1.0), 0.7)],
)
def test_a_contact_ends_other_events_and_is_no_corner_limit(kind, reach, expected):
    """x = p meets a stop at w: at the watched 0.5, at the bound 0.9, or where y has lost its stiffness at 0.7."""
    system = onesided.System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: (q[0] - p) ** 2 / 2 + (0.7 - q[0]) * q[1] ** 2 / 2 + q[1] ** 4,
        unilateral={"stop": lambda q, p, th: th.w - q[0]},
        parameters={"w": 0.95},
    )
    watched = {"half": lambda q, p: q[0] - 0.5}
    path = onesided.trace(system, [0.0, 0.0], 0.0, p_bounds=(-0.1, 0.9), events=watched)
    event = next(one for one in path.events if one.kind is onesided.Kind[kind])
    found = onesided.follow(event, "w", reach)
    end = found.meetings[0]
    assert (end.kind, end.constraints) == (Encounter.contact, ("stop",))
    assert (end.theta, found.theta[0]) == pytest.approx((expected, expected), abs=1e-10)


@pytest.mark.parametrize("unit", [1.0, 1e-3])
@pytest.mark.parametrize("number", [0, 1])
def test_two_bifurcations_that_meet_are_no_hilltop(unit, number):
    """y and z lose their stiffness where x = p is 0.3 and t: both at once for t = 0.3, and no load turns back."""
    system = onesided.System(
        coordinates=("x", "y", "z"),
        energy=lambda q, p, th: (
            (q[0] - p) ** 2 / 2
            + (0.3 * unit - q[0]) * (q[1] ** 2 / 2) / unit
            + (th.t - q[0]) * (q[2] ** 2 + 0.4 * q[1] * q[2]) / unit
            + (q[1] ** 4 + q[2] ** 4) / unit**2
        ),
        parameters={"t": 0.36 * unit},
    )
    path = onesided.trace(system, [0.0, 0.0, 0.0], 0.0, p_bounds=(-0.1 * unit, unit))
    forks = [one for one in path.events if one.kind is onesided.Kind.smooth_bifurcation]
    found = onesided.follow(forks[number], "t", (0.2 * unit, 0.5 * unit))
    (met,) = found.meetings
    assert met.kind is Encounter.forks
    assert (met.theta, met.p) == pytest.approx((0.3 * unit, 0.3 * unit), abs=1e-10 * unit)


def test_an_event_that_runs_off_to_infinity():
    """A wall pushes a bead up a ring to p = 0.9: the push is m g p/√(r² − p²), without bound where r falls to 0.9."""
    event = onesided.trace(zoo.load("bead-on-ring").system).events[-1]
    found = onesided.follow(event, "r", (0.5, 2.0))
    assert found.theta[0] == pytest.approx(0.9, rel=1e-10)
    finite = found.theta > 0.9 + 1e-3
    push = 9.81 * 0.9 / np.sqrt(found.theta[finite] ** 2 - 0.81)
    assert found.lam[finite, 0] == pytest.approx(push, rel=1e-10)
    assert "falling: the path runs off to infinity" in found.note


def test_a_contact_that_is_met_ever_later():
    """The gap 1 − x + y of x = p, y = m p closes at p = 1/(1 − m), never for m = 1."""
    system = onesided.System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: q[0] ** 2 / 2 - p * q[0] + q[1] ** 2 / 2 - p * th.m * q[1],
        unilateral={"wall": lambda q, p, th: 1.0 - q[0] + q[1]},
        parameters={"m": 0.0},
    )
    event = onesided.trace(system, [0.0, 0.0], 0.0, p_bounds=(0.0, 3.0)).events[0]
    found = onesided.follow(event, "m", (-1.0, 2.0))
    assert found.theta[[0, -1]] == pytest.approx([-1.0, 1.0], abs=1e-6)
    clear = found.theta < 0.999
    assert found.p[clear] == pytest.approx(1.0 / (1.0 - found.theta[clear]), rel=1e-10)
    assert "growing: the path runs off to infinity" in found.note


@pytest.mark.parametrize("c", [-0.3, -0.4, -0.7])
def test_hilltops_of_limit_points_are_located(c):
    """x turns at −1/√3, at p = 2/(3 √3), where y loses the stiffness c − x for c = −1/√3; and at 1/√3 likewise."""
    system = onesided.System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: q[0] ** 4 / 4 - q[0] ** 2 / 2 - p * q[0] + (th.c - q[0]) * q[1] ** 2 / 2 + q[1] ** 4,
        parameters={"c": c},
    )
    events = onesided.trace(system, [-1.0, 0.0], 0.0, p_bounds=(-1.0, 5.0)).events
    limits = [event for event in events if event.kind is onesided.Kind.limit]
    for event, place in zip(limits, (-1.0, 1.0), strict=True):
        (top,) = onesided.follow(event, "c", (-0.9, 0.9)).meetings
        assert top.kind is Encounter.hilltop
        assert (top.theta, top.p) == pytest.approx(np.array([place, -2 * place / 3]) / np.sqrt(3), abs=1e-10)


def test_panels_that_can_be_no_longer():
    """Panels lean on each other at an angle that has no value for lengths above (2 sin(π/8) − t)/sin(π/4).

    By symmetry all reactions vanish where hook, hinge and tip of a panel are on one line: b sin(lean − p) = sin(lean).
    At the longest the curve has a vertical tangent; if it goes on there, panels lean the other way.
    """
    system = zoo.load("panel-ring").system
    event, idle = onesided.trace(system, max_events=2, throw=False).events
    with pytest.raises(onesided.UsageError, match=r"degenerate.*without being crossed.*leave out one of the contacts"):
        onesided.follow(idle, "l", (0.6, 0.8))  # two panels touch each other in two ways
    found = onesided.follow(event, "l", (0.69, 1.4))
    chord, b, t = 2 * np.sin(np.pi / 8), 1.2, 0.12
    longest = (chord - t) / np.sin(np.pi / 4)
    assert max(found.theta) == pytest.approx(longest, rel=1e-6)
    ahead = np.arange(len(found)) <= np.argmax(found.theta)
    half = np.arccos(np.minimum((found.theta * np.sin(np.pi / 4) + t) / chord, 1.0))
    lean = np.pi / 8 + np.where(ahead, half, -half)
    clear = (half > 0.01) & (ahead | (found.theta > 0.87))  # from there on the tip touches elsewhere
    assert np.sum(clear & ahead) > 5
    assert found.p[clear] == pytest.approx((lean - np.arcsin(np.sin(lean) / b))[clear], rel=1e-10)


def test_two_walls_at_the_same_place_are_followed():
    """Both close at x = 1 = p/k."""
    system = onesided.System(
        coordinates=("x",),
        energy=lambda q, p, th: th.k * q[0] ** 2 / 2 - p * q[0],
        unilateral={"one": lambda q, p, th: 1.0 - q[0], "two": lambda q, p, th: (1.0 - q[0]) * (2.0 - p)},
        parameters={"k": 1.0},
    )
    event = onesided.trace(system, [0.0], 0.0, p_bounds=(0.0, 1.5)).events[0]
    found = onesided.follow(event, "k", (0.5, 1.4))
    assert found.p == pytest.approx(found.theta, rel=1e-12)


def test_bad_requests_are_refused(floor_events):
    with pytest.raises(onesided.OnesidedError, match="unknown parameter"):
        onesided.follow(floor_events[0], "height", (0.1, 1.0))
    with pytest.raises(onesided.UsageError, match="bounds of h"):
        onesided.follow(floor_events[0], "h", (0.6, 1.0))


def test_two_contacts_that_close_at_once_end_at_once_where_one_passes_the_other():
    """Both gaps are 1: p = g1 as long as g1 < g2, and dp/dg1 is 1 below and 0 above."""
    system = onesided.System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: (q[0] - p) ** 2 / 2 + (q[1] - p) ** 2 / 2,
        unilateral={"one": lambda q, p, th: th.g1 - q[0], "two": lambda q, p, th: th.g2 - q[1]},
        parameters={"g1": 1.0, "g2": 1.0},
    )
    event = onesided.trace(system, [0.0, 0.0], 0.0, p_bounds=(-1.0, 3.0)).events[0]
    rates = onesided.sensitivity(event)
    assert (rates["g1"], rates.p_rate_below[0]) == pytest.approx((0.0, 1.0), abs=1e-12)
    assert "at once" in rates.notes["g1"]
    found = onesided.follow(event, "g1", (0.5, 1.5))
    assert found.theta[-1] == 1.0
    assert found.meetings[-1].kind is Encounter.corners
    assert found.theta[0] == 0.5
