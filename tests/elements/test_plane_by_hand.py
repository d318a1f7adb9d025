"""Everything of the plane in one structure, against formulas written by hand: values, gradients, Hessians, gaps."""

import jax.numpy as jnp
import numpy as np
from agreement import agree
from hypothesis import given, settings
from hypothesis import strategies as st

import onesided
import onesided.elements as parts
from onesided.elements import Body, Guided, Marker, Node
from onesided.evaluation.user_functions import Parameters

PARAMETERS = {"c": 0.7, "r": 1.5, "w": 2.0}
G, G_ANGLE = np.array([0.1, -0.2]), 0.3
A, A_ANGLE = np.array([1.0, 0.5]), 0.2
B, B_ANGLE = np.array([2.0, -0.3]), -0.4
N = np.array([0.7, 1.5])
TRIANGLE = np.array([[-0.2, -0.1], [0.3, -0.1], [0.0, 0.4]])
SQUARE = np.array([[-0.3, 0.3], [0.3, 0.3], [0.3, -0.3], [-0.3, -0.3]])  # clockwise, on purpose
SLOPE = np.array([0.6, 0.8])


def turned(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def structure():
    places = [
        Body("g", G, angle=G_ANGLE, fixed=True),
        Body("a", A, angle=A_ANGLE, mass="w", inertia=0.2, outline=TRIANGLE.tolist()),
        Body("b", B, angle=B_ANGLE, outline=SQUARE.tolist()),
        Node("n", N, mass=0.5),
        Node("o", (0.0, 0.0), fixed=True),
        Guided("slider", (0.0, 2.0), along=(3.0, 4.0)),
        Marker("m", "a", (0.3, 0.1), angle=0.5),
    ]
    joints = [
        parts.Revolute("hinge", ("g", "a"), at=(0.5, 0.1)),
        parts.Spherical("ball", ("o", "m"), assemble=True),
        parts.Fixed("weld", ("g", "b")),
        parts.Prismatic("slide", ("a", "b"), axis=(1.0, 2.0)),
        parts.Distance("rod", ("n", "m")),
        parts.Distance("long", ("n", "o"), length="2*c"),
        parts.Gear("gear", ("a", "b"), ratio="r"),
        parts.Rack("rack", ("a", "b"), axis=(0.0, 2.0), radius=0.4),
        parts.OnLine("line", ("a", "n"), axis=(1.0, 1.0), through=(0.2, 0.0), assemble=True),
        parts.OnCurve("curve", ("b", "n"), formula="y - c*x**2 + p"),
        parts.Prescribed("set", "n_x", "0.3*p + c"),
        parts.DrivenTravel("push", ("g", "a"), value="c*p"),
        parts.DrivenAngle("drive", ("a", "b"), value="p**2"),
        parts.Equation("tie", "a_x*b_angle - c*p"),
    ]
    contacts = [
        parts.PlaneContact("floor", "n", (3.0, 4.0), through=(0.0, -1.0), radius=0.1, moves=0.2),
        parts.PlaneContact("face", "n", (0.0, 1.0), through=(0.1, 0.2), on="a"),
        parts.RoundContact("balls", ("n", "m"), (0.1, "c")),
        parts.InsideContact("ring", ("b", "n"), (3.0, 0.5)),
        parts.SegmentContact("rods", ("n", "m"), ("o", "b"), thickness=0.05),
        parts.PolygonContact("boxes", ("a", "b")),
        parts.AngleStop("knee", ("a", "b"), lower=-0.3, upper="c"),
        parts.AngleStop("tilt", "a", upper=1.0, absolute=True),
        parts.TravelStop("end", ("a", "n"), axis=(0.0, 1.0), lower=-1.0),
        parts.DistanceStop("strap", ("n", "b"), lower=0.5, upper=4.0),
        parts.CoordinateStop("limit", "slider_s", lower=-1.0),
        parts.Gap("user", "c + n_x - p*a_y"),
    ]
    loads = [
        parts.Force("pull", "m", (1.0, -2.0)),
        parts.Moment("twist", "a", "c"),
        parts.Moment("pair", ("a", "b"), 0.3, constant=True),
        parts.Gravity("gravity", (0.5, -9.81)),
        parts.LineLoad("snow", ("n", "m"), (0.0, -1.0)),
        parts.Pressure("gas", ("n", "m", "b"), "w"),
        parts.Energy("user energy", "c*sin(a_angle - b_x)*slider_s + w*n_y**2"),
    ]
    return onesided.compose(places, joints, contacts, loads, parameters=PARAMETERS)


def R(angle):
    return jnp.array([[jnp.cos(angle), -jnp.sin(angle)], [jnp.sin(angle), jnp.cos(angle)]])


class At:
    """Positions and angles by hand."""

    def __init__(self, q, p, th):
        self.p, self.th = p, th
        self.a, self.ta, self.b, self.tb, self.n = q[:2], q[2], q[3:5], q[5], q[6:8]
        self.s = q[8]
        self.m = self.a + R(self.ta) @ jnp.array([0.3, 0.1])
        self.o = jnp.zeros(2)

    def on_a(self, world):
        """The point of body a that was at `world` at the start."""
        return self.a + R(self.ta) @ (turned(A_ANGLE).T @ (np.asarray(world) - A))

    def seen_a(self, x):
        return R(self.ta).T @ (x - self.a)


def joints(at):
    p, c, r = at.p, at.th.c, at.th.r
    d = at.b - at.on_a(B)  # prismatic: the point of a where b was
    axis = np.array([1.0, 2.0]) / np.sqrt(5.0)
    normal = R(at.ta) @ np.array([-axis[1], axis[0]])
    length = np.linalg.norm(N - (A + turned(A_ANGLE) @ [0.3, 0.1]))
    local_n, start_b = R(at.tb).T @ (at.n - at.b), turned(A_ANGLE).T @ (B - A)
    return {
        "hinge_x": lambda: (at.on_a([0.5, 0.1]) - np.array([0.5, 0.1]))[0],
        "hinge_y": lambda: (at.on_a([0.5, 0.1]) - np.array([0.5, 0.1]))[1],
        "ball_x": lambda: at.m[0],
        "ball_y": lambda: at.m[1],
        "weld_x": lambda: at.b[0] - B[0],
        "weld_y": lambda: at.b[1] - B[1],
        "weld_m": lambda: at.tb - B_ANGLE,
        "slide_n": lambda: normal @ d,
        "slide_m": lambda: at.tb - at.ta - (B_ANGLE - A_ANGLE),
        "rod": lambda: length - jnp.sqrt(jnp.sum((at.n - at.m) ** 2)),
        "long": lambda: 2 * c - jnp.sqrt(jnp.sum(at.n**2)),
        "gear": lambda: (at.ta - A_ANGLE) + r * (at.tb - B_ANGLE),
        "rack": lambda: at.seen_a(at.b)[1] - start_b[1] + 0.4 * ((at.tb - at.ta) - (B_ANGLE - A_ANGLE)),
        "line": lambda: jnp.array([-1.0, 1.0]) / np.sqrt(2.0) @ (at.seen_a(at.n) - jnp.array([0.2, 0.0])),
        "curve": lambda: local_n[1] - c * local_n[0] ** 2 + p,
        "set": lambda: at.n[0] - 0.3 * p - c,
        "push": lambda: turned(G_ANGLE)[:, 0] @ (at.a - A) - c * p,
        "drive": lambda: at.tb - at.ta - (B_ANGLE - A_ANGLE) - p**2,
        "tie": lambda: at.a[0] * at.tb - c * p,
    }


def point_segment(x, a, b):
    """Three cases, by hand."""
    along = b - a
    t = (x - a) @ along / (along @ along)
    inside = jnp.abs(along[0] * (x - a)[1] - along[1] * (x - a)[0]) / jnp.sqrt(along @ along)
    ends = jnp.where(t < 0, jnp.sqrt((x - a) @ (x - a)), jnp.sqrt((x - b) @ (x - b)))
    return jnp.where((t > 0) & (t < 1), inside, ends)


def outside(x, corners):
    """Largest distance from the edge lines, corners counter-clockwise."""
    found = []
    for i, corner in enumerate(corners):
        edge = corners[(i + 1) % len(corners)] - corner
        found.append((edge[1] * (x - corner)[0] - edge[0] * (x - corner)[1]) / np.linalg.norm(edge))
    return jnp.max(jnp.stack(found))


def contacts(at):
    p, c = at.p, at.th.c
    gaps = {
        "floor": lambda: SLOPE @ (at.n - np.array([0.0, -1.0])) - 0.1 - 0.2 * p,
        "face": lambda: at.seen_a(at.n)[1] - 0.2,
        "balls": lambda: jnp.sqrt(jnp.sum((at.n - at.m) ** 2)) - 0.1 - c,
        "ring": lambda: (2.5**2 - jnp.sum((at.n - at.b) ** 2)) / 5.0,
        "rods_first1": lambda: point_segment(at.n, at.o, at.b) - 0.05,
        "rods_first2": lambda: point_segment(at.m, at.o, at.b) - 0.05,
        "rods_second1": lambda: point_segment(at.o, at.n, at.m) - 0.05,
        "rods_second2": lambda: point_segment(at.b, at.n, at.m) - 0.05,
    }
    for i, corner in enumerate(TRIANGLE):
        x = at.a + R(at.ta) @ corner
        gaps[f"boxes_a_corner{i + 1}"] = lambda x=x: outside(R(at.tb).T @ (x - at.b), SQUARE[::-1])
    for i, corner in enumerate(SQUARE):
        x = at.b + R(at.tb) @ corner
        gaps[f"boxes_b_corner{i + 1}"] = lambda x=x: outside(at.seen_a(x), TRIANGLE)
    turn = (at.tb - at.ta) - (B_ANGLE - A_ANGLE)
    start_n = turned(A_ANGLE).T @ (N - A)

    def strap():
        return jnp.sqrt(jnp.sum((at.n - at.b) ** 2))

    gaps |= {"knee_lower": lambda: turn + 0.3, "knee_upper": lambda: c - turn, "tilt": lambda: 1.0 - at.ta}
    gaps |= {"strap_lower": lambda: strap() - 0.5, "strap_upper": lambda: 4.0 - strap()}
    gaps |= {"limit": lambda: at.s + 1.0, "user": lambda: c + at.n[0] - p * at.a[1]}
    return gaps | {"end": lambda: at.seen_a(at.n)[1] - start_n[1] + 1.0}


def energy(q, p, th):
    at = At(q, p, th)
    c, w = th.c, th.w
    length = np.linalg.norm(N - (A + turned(A_ANGLE) @ [0.3, 0.1]))
    (x1, y1), (x2, y2), (x3, y3) = at.n, at.m, at.b
    area = 0.5 * (x1 * (y2 - y3) + x2 * (y3 - y1) + x3 * (y1 - y2))
    total = -p * (at.m[0] - 2 * at.m[1]) - p * c * at.ta - 0.3 * (at.tb - at.ta)
    total += -w * (0.5 * at.a[0] - 9.81 * at.a[1]) - 0.5 * (0.5 * at.n[0] - 9.81 * at.n[1])
    total += p * length * 0.5 * (at.n[1] + at.m[1]) - p * w * area
    return total + c * jnp.sin(at.ta - at.b[0]) * at.s + w * at.n[1] ** 2


COMPOSED = structure()


def written(function, names):
    """Constraints by hand, in the order of the composed system: one family, which is traced once."""

    def family(q, p, th):
        values = function(At(q, p, th))
        return jnp.stack([values[name]() for name in names])

    return dict(zip(names, onesided.rows("", len(names), family).values(), strict=True))


WRITTEN = onesided.System(
    coordinates=COMPOSED.coordinates,
    energy=energy,
    bilateral=written(joints, tuple(COMPOSED.bilateral)),
    unilateral=written(contacts, tuple(COMPOSED.unilateral)),
    parameters=PARAMETERS,
)
numbers = st.floats(-1.5, 1.5, allow_nan=False)


def test_the_names_are_those_written_by_hand():
    probe = At(jnp.asarray(COMPOSED.start), 0.0, Parameters(PARAMETERS))
    assert set(COMPOSED.bilateral) == set(joints(probe))
    assert set(COMPOSED.unilateral) == set(contacts(probe))


@given(st.lists(numbers, min_size=9, max_size=9), numbers, st.integers(0, 2**31), st.floats(0.2, 2.0))
@settings(max_examples=24)
def test_all_blocks_agree(shift, p, seed, scale):
    """Anywhere around the start, contacts open and closed (violated), with any multipliers and parameters."""
    nu = np.random.default_rng(seed).normal(size=len(COMPOSED.constraint_names))
    parameters = {name: value * scale for name, value in PARAMETERS.items()}
    q = COMPOSED.start + np.asarray(shift)
    agree(COMPOSED.replace(parameters=parameters), WRITTEN.replace(parameters=parameters), q, p, nu)


def test_the_start_is_as_given():
    assert np.allclose(COMPOSED.start, [*A, A_ANGLE, *B, B_ANGLE, *N, 0.0])
