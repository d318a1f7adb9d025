"""Bad input: loose structures, forces without a potential, mixed units, and every error message of the elements."""

import numpy as np
import pytest

import onesided
import onesided.elements as parts
from onesided.base.errors import OnesidedError
from onesided.elements import Body, Marker, Node

GROUND = Body("g", (0.0, 0.0), fixed=True)
BODY = Body("b", (1.0, 0.0))
SPACE = [Body("g", (0.0, 0.0, 0.0), fixed=True), Body("b", (1.0, 0.0, 0.0))]
NODE = Node("n", (0.0, 1.0))


def triangle(**fixed):
    nodes = [Node(n, at, fixed=fixed.get(n, False)) for n, at in (("a", (0, 0)), ("b", (1, 0)), ("c", (0.5, 1)))]
    bars = [parts.Bar(x + y, (x, y), stiffness=1.0) for x, y in ("ab", "bc", "ac")]
    return [*nodes, *bars]


LOOSE = [
    (triangle(), "translation along x and translation along y and turning about (0.5, 0.3333) of a, b, c"),
    (triangle(b=True), "turning about (1, 0) of a, c"),
    (triangle(a="y", b="y"), "translation along x of a, b, c"),
    (
        [Node("m", (0, 1), mass=1.0), parts.Gravity("g", (0, -1)), parts.PlaneContact("floor", "m", (0, 1))],
        "along x of m",
    ),
    (
        [
            Node("o", (0, 0, 0), fixed=True),
            Node("m", (1, 0, 0)),
            parts.Bar("bar", ("o", "m"), stiffness=1.0),
        ],
        "turning of m",
    ),
    (
        [
            *SPACE,
            Node("n", (0, 0, 2.0)),
            parts.Prismatic("s", ("g", "b")),
            parts.Spherical("j", ("b", "n"), at=(0, 0, 2)),
        ],
        "translation along z of b, n",
    ),
]


@pytest.mark.parametrize(("structure", "motion"), LOOSE)
def test_loose_structures_are_refused_with_the_motion(structure, motion):
    system = onesided.compose(structure)
    with pytest.raises(OnesidedError, match="nothing resists") as caught:
        onesided.solve(system, start=system.start, p=0.0)
    assert motion in str(caught.value)


def test_a_hanging_mass_in_space_is_not_loose():
    """It can turn about the vertical, but ends on it."""
    system = onesided.compose(
        Node("o", (0, 0, 0), fixed=True),
        Node("m", (0.6, 0, -0.8), mass=2.0),
        parts.Distance("rod", ("o", "m")),
        parts.Gravity("gravity", (0, 0, -10.0)),
    )
    found = onesided.solve(system, start=system.start, p=0.0).value
    assert np.allclose(found.q, [0.0, 0.0, -1.0], atol=1e-6)
    assert found.mu == pytest.approx([20.0])  # tension


def test_stiff_and_soft_supports_are_no_mechanism():
    system = onesided.compose(
        triangle(a="y", b="y"), Node("wall", (-1, 0), fixed=True), parts.Spring("soft", ("wall", "a"), stiffness=1e-8)
    )
    system.check_start(system.start, 0.0)


def test_statics_refuses_followers_by_name():
    system = onesided.compose(
        GROUND, BODY, parts.Revolute("h", ("g", "b"), at=(0, 0)), parts.FollowerForce("jet", "b", (0.0, 1.0))
    )
    with pytest.raises(OnesidedError, match="follower_force 'jet' has no potential: statics cannot treat it"):
        onesided.trace(system, system.start, 0.0, p_bounds=(0, 1))


@pytest.mark.parametrize(
    "force", [lambda t, q, v, p, th: 1.0 + 0 * q, lambda t, q, v, p, th: p * q, lambda t, q, v, p, th: t + 0 * q]
)
def test_statics_refuses_forces_at_rest_of_written_systems(force):
    system = onesided.System(("x",), lambda q, p, th: q[0] ** 2 / 2, force=force)
    with pytest.raises(OnesidedError, match="a force without a potential acts at rest on x: statics would ignore it"):
        onesided.solve(system, start=[0.5], p=0.0)


def test_damping_does_not_disturb_statics():
    system = onesided.System(("x",), lambda q, p, th: (q[0] - 1) ** 2 / 2, force=lambda t, q, v, p, th: -v)
    assert onesided.solve(system, start=[0.5], p=0.0).value.q == pytest.approx([1.0])


def test_mixed_units_are_warned_of():
    nodes = [Node("a", (0, 0), fixed=True), Node("b", (1, 0), fixed="y"), Node("c", (2, 0), fixed=True)]
    bars = [parts.Bar("steel", ("a", "b"), stiffness=2e11), parts.Bar("rubber", ("b", "c"), stiffness=0.1)]
    with pytest.warns(
        UserWarning, match="units may be mixed: the stiffness of bar 'rubber' is 0.1, that of 'steel' 2e"
    ):
        onesided.compose(nodes, bars)


def hinge(**more):
    return parts.Revolute("j", ("g", "b"), **more)


TRIANGLE = [[0, 0], [1, 0], [0, 1]]
ARROW = [[0, 0], [2, 1], [0, 2], [0.5, 1]]
STAR = [[np.cos(0.8 * np.pi * i), np.sin(0.8 * np.pi * i)] for i in range(5)]

REFUSED = [
    ([GROUND, BODY, hinge()], "revolute 'j': its places are apart at the start; got a distance of 1"),
    ([GROUND, BODY, hinge(at=(0, 0, 0))], "its point is not usable"),
    (
        [GROUND, BODY, Marker("m", "b", (0, 0)), parts.Revolute("j", ("b", "m"))],
        "both its places belong to the same body",
    ),
    ([GROUND, BODY, parts.Revolute("j", ("b", "b"))], "is attached to the same place twice"),
    ([GROUND, BODY, parts.Revolute("j", ("g", "bb"))], "did you mean 'b'"),
    ([GROUND, BODY, NODE, parts.Revolute("j", ("n", "b"), at=(0, 0))], "node 'n' is not at its point"),
    ([GROUND, NODE, parts.Fixed("j", ("g", "n"))], "'n' has no orientation; expected a body or a marker"),
    ([GROUND, BODY, parts.Prismatic("j", ("g", "b"), axis=(0, 0))], "its axis is not a direction"),
    ([GROUND, BODY, parts.Cylindrical("j", ("g", "b"))], "does not work in 2 dimensions"),
    ([*SPACE, parts.Screw("j", ("g", "b"))], "its pitch is zero"),
    ([*SPACE, parts.Universal("j", ("g", "b"), at=(0, 0, 0), cross_axis=(0, 0, 1))], "not normal to each other"),
    ([GROUND, Body("b", (0, 0)), parts.Distance("j", ("g", "b"))], "its places coincide"),
    ([GROUND, BODY, parts.Distance("j", ("g", "b"), length=-1.0)], "its length is not positive"),
    ([GROUND, BODY, parts.Gear("j", ("g", "b"), ratio=0.0)], "its ratio is zero"),
    ([GROUND, BODY, parts.Rack("j", ("g", "b"))], "its radius is zero"),
    ([GROUND, NODE, parts.OnLine("j", ("g", "n"))], "the point is off the line at the start; got by 1"),
    ([GROUND, NODE, parts.OnCurve("j", ("g", "n"), formula="p")], "its formula has no coordinate of the point"),
    ([GROUND, NODE, parts.OnCurve("j", ("g", "n"), formula="x - sq")], "unknown name `sq`"),
    ([NODE, parts.Prescribed("j", "n_z", "p")], "unknown coordinate (of prescribed 'j') 'n_z'"),
    ([NODE, parts.PlaneContact("j", "n", (0, 0))], "its normal is not a direction"),
    ([NODE, parts.PlaneContact("j", "n", (0, 1), radius=-1)], "its radius is negative"),
    ([NODE, parts.PlaneContact("j", "n", (0, 1), through=(1,))], "the point of its wall is not usable"),
    ([GROUND, NODE, parts.RoundContact("j", ("g", "n"))], "its radii are not usable"),
    ([GROUND, Node("n", (0, 0)), parts.RoundContact("j", ("g", "n"), (1, 1))], "its centres coincide"),
    ([GROUND, NODE, parts.InsideContact("j", ("g", "n"), (1, 2))], "the outer radius, then a smaller one"),
    ([GROUND, BODY, NODE, parts.SegmentContact("j", ("g", "b"), ("n",))], "its thickness is not positive"),
    (
        [GROUND, BODY, NODE, parts.SegmentContact("j", ("g",), ("n",), 0.1)],
        "needs two segments, or a segment and a point",
    ),
    ([GROUND, BODY, parts.PolygonContact("j", ("g", "b"))], "'g' has no outline with three corners or more"),
    (
        [Body("g", (0, 0), outline=TRIANGLE), Body("b", (1, 0), outline=ARROW), parts.PolygonContact("j", ("g", "b"))],
        "the outline of 'b' is not convex",
    ),
    (
        [Body("g", (0, 0), outline=TRIANGLE), Body("b", (1, 0), outline=STAR), parts.PolygonContact("j", ("g", "b"))],
        "the outline of 'b' is not convex",
    ),
    ([BODY, parts.AngleStop("j", "b")], "has no limit"),
    ([BODY, parts.AngleStop("j", "b", lower=1.0, upper=0.0)], "its limits are not in order; got 1 and 0"),
    ([*SPACE, parts.AngleStop("j", "b", lower=0.0, upper=7.0)], "its range is a full turn or more"),
    ([*SPACE, parts.AngleStop("j", "b", lower=0.0, absolute=True)], "has no absolute angle in space"),
    ([GROUND, NODE, parts.AngleStop("j", "n", lower=0.0)], "'n' has no orientation"),
    ([GROUND, NODE, parts.DistanceStop("j", ("g", "n"), lower=-1.0)], "its lower limit is not positive"),
    ([*SPACE, parts.Moment("j", "b", 1.0)], "a moment about a fixed axis has no potential in space"),
    ([BODY, parts.FollowerMoment("j", "b", (0, 0, 1))], "in the plane use `moment`"),
    ([NODE, parts.Gravity("j", (0, -1))], "nothing has a mass"),
    ([NODE, parts.Gravity("j", (0, -1), on=("n",))], "'n' has no mass"),
    ([Node("n", (0, 1), mass=1.0), parts.Gravity("j", (0, 0, -1))], "has the wrong number of components"),
    ([Node("n", (0, 1), mass=1.0), parts.Gravity("j", (0, -1), on=("nn",))], "did you mean 'n'"),
    ([GROUND, NODE, parts.Pressure("j", ("g", "n"), 1.0)], "needs three different places or more"),
    ([GROUND, NODE, parts.LineLoad("j", ("g", "n"), (1.0,))], "has the wrong number of components"),
    ([GROUND, NODE, parts.Damper("j", ("g", "n"), -1.0)], "its damping is negative"),
    ([NODE, parts.Gap("j", "")], "has no formula"),
    ([Node("n", (0, 1), mass=-1.0), parts.Gap("j", "n_x + n_y")], "mass or inertia of 'n' is not usable; got -1, 0"),
    ([NODE, parts.Gap("j", "p + 1")], "its formula has no coordinate"),
    ([NODE, parts.Gap("j", "n_w")], "unknown coordinate (of gap 'j') 'n_w'"),
    (
        [NODE, parts.CoordinateStop("j", "n_x", lower=0, upper=1), parts.Gap("j_lower", "n_y")],
        "constraint name used twice; got j_lower",
    ),
]


@pytest.mark.parametrize(
    ("structure", "message"), REFUSED, ids=lambda value: value[:30] if isinstance(value, str) else ""
)
def test_refusals_say_what_is_wrong(structure, message):
    with pytest.raises(OnesidedError) as caught:
        onesided.compose(structure)
    assert message in str(caught.value)


def test_an_unknown_kind_is_answered_with_the_nearest():
    with pytest.raises(AttributeError, match="unknown element kind 'Revolut': did you mean 'Revolute'"):
        _ = parts.Revolut
