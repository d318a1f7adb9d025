"""Whole stretches of steps in one compiled call: the paths of single steps, and points that are what they claim."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import onesided
from onesided import Kind, OnesidedError, PredictorCorrector, Status, System, zoo
from onesided.base.tolerances import DEFAULT
from onesided.elements import Bar, Force, Node
from onesided.evaluation.path_steps import CHUNK
from onesided.evaluation.step_data import StepKnobs
from onesided.statics.curves.corrections import Plane, make_point, newton
from onesided.statics.curves.curve import Curve
from onesided.statics.equilibria.place import place_near
from onesided.statics.tracing.hits import PathWatch, Trigger, explained, find_hits
from onesided.statics.tracing.inside import resolved
from onesided.statics.tracing.steps import PredictorCorrector as Steps
from onesided.statics.tracing.stretch import Track, stretch

COMPILED, SINGLE = PredictorCorrector(compile_after=0), PredictorCorrector(compile_after=10**9)
NAMES = ("a", "b", "c", "bend", "load", "stop", "speed", "ring")


def energy(q, p, th):
    x, y, z = q
    stiff = (th.a * x**2 + th.b * y**2 + z**2) / 2 + th.c * x * y
    return stiff + th.bend * (x**3 - x * y**2) + (x**4 + y**4 + z**4) / 2 - p * (x + th.load * y)


# a rod between y and z, a stop that moves with p, a ring around the origin
ARM = System(
    ("x", "y", "z"),
    energy,
    bilateral={"rod": lambda q, p, th: q[2] - q[1] - 0.2 * q[0] ** 2 - 0.1 * p},
    unilateral={
        "stop": lambda q, p, th: th.stop - q[0] - th.speed * p,
        "ring": lambda q, p, th: th.ring - q[0] ** 2 - q[1] ** 2,
    },
    parameters=dict.fromkeys(NAMES, 1.0),
)


def numbers(low, high):
    return st.floats(low, high, allow_nan=False).map(lambda value: round(value, 3))


@st.composite
def arms(draw):
    values = {name: draw(numbers(-1.5, 1.5)) for name in ("a", "b", "c", "bend", "load")}
    values |= {"stop": draw(numbers(0.1, 0.8)), "speed": draw(numbers(-0.3, 0.3)), "ring": draw(numbers(0.3, 1.0))}
    H = np.array([[values["a"], values["c"]], [values["c"], values["b"] + 1.0]])  # on the rod, at the origin
    assume(np.min(np.abs(np.linalg.eigvalsh(H))) > 0.2)
    return ARM.replace(parameters=values)


def same_events(one, other, *, atol):
    assert [(e.kind, e.constraints) for e in one.events] == [(e.kind, e.constraints) for e in other.events]
    for a, b in zip(one.events, other.events, strict=True):
        np.testing.assert_allclose([a.p, *a.q, *a.mu, *a.lam], [b.p, *b.q, *b.mu, *b.lam], atol=atol)
        assert (a.instability_before, a.instability_after) == (b.instability_before, b.instability_after)


@given(arms())
@settings(max_examples=30)
def test_compiled_and_single_steps_meet_the_same_events(system):
    ends = {"p_bounds": (-1.2, 1.2), "max_events": 6, "max_points": 400, "throw": False}
    one = onesided.trace(system, [0.0, 0.0, 0.0], 0.0, method=COMPILED, **ends)
    other = onesided.trace(system, [0.0, 0.0, 0.0], 0.0, method=SINGLE, **ends)
    assert one.status is other.status and one.ok
    assert max(one.residual, other.residual) <= 1e-10
    same_events(one, other, atol=1e-8)
    assert len(one) == pytest.approx(len(other), rel=0.2)  # steps may differ where round-off decides on one iteration


@pytest.mark.parametrize("name", ["corner-limit", "two-bar-roller", "von-mises-floor", "column-stop", "two-supports"])
def test_bundled_models_take_the_same_path(name):
    system, task = zoo.load(name)
    options = {"direction": task.direction, "p_bounds": task.p_bounds, "throw": False}
    one, other = (onesided.trace(system, task.start, task.p, method=m, **options) for m in (COMPILED, SINGLE))
    assert one.status is other.status
    same_events(one, other, atol=1e-9)


@given(arms(), st.sets(st.sampled_from([1, 2])))
@settings(max_examples=30)
def test_points_of_a_stretch_are_what_they_claim(system, closed):
    """Residual, tangent, inertia, determinant and margins, each by another way, with every set of contacts."""
    where = place_near(system, [0.0, 0.0, 0.0], 0.0)
    curve = Curve(system, np.array([0, *sorted(closed)]), where.sizes, where.scales)
    row = np.random.default_rng(0).normal(size=curve.size)
    start = newton(curve, curve.scaled(where.x), Plane(row, float(row @ curve.scaled(where.x))), target=1e-12, limit=30)
    assume(start.converged and np.min(np.abs(np.linalg.eigvalsh(curve.kkt(start.e), UPLO="L"))) > 1e-3)
    a = make_point(curve, start, row, 0.0)
    knobs = StepKnobs(0.01, 0.25, 0.03, 0.5, 1e-4, 1e-10, 1e-10, 1e-12, -50.0, 50.0, CHUNK)
    before, watch = a, PathWatch((-50.0, 50.0), {}, DEFAULT)
    ahead = stretch(curve, Track(a, None, None, None), knobs, watch)
    last = -1 if ahead is None else len(ahead.steps) - 1
    for i in range(last + 1):
        b, located = ahead.points.point(i), ahead.located.get(i)
        e = curve.evaluate(b.x)
        np.testing.assert_array_equal(b.x, curve.packed(b.y))
        assert np.max(np.abs(curve.residual(e))) <= 1e-11 and b.error <= 1e-11
        assert b.t @ b.t == pytest.approx(1) and np.max(np.abs(curve.jacobian(e) @ b.t)) <= 1e-11
        assert before.t @ b.t > 0 and b.s - before.s == pytest.approx(np.linalg.norm(b.y - before.y))
        np.testing.assert_allclose([b.margins, b.rates], curve.margins(e, b.y, b.t), atol=1e-12)
        np.testing.assert_allclose([b.energy, *b.c], [e.energy, *e.c], atol=1e-12)
        assert (b.negative, b.neutral) == curve._modes_on_null_space(e)
        assert b.orientation == np.sign(np.linalg.det(curve.matrix(e, b.t)))
        single = newton(curve, b.y, Plane(before.t, float(before.t @ b.y)), target=1e-11)
        volume = np.linalg.slogdet(curve.matrix(e, b.t))[1]
        assert (single.orientation, volume) == (b.orientation, pytest.approx(b.volume, abs=1e-6))
        assert (located is not None) == (b.sense * before.sense < 0 or abs(b.y[curve.n]) > 50) or i == last
        if located is not None:
            check_located(curve, before, b, located)
        if ahead.calm[i]:  # said for all points at once; the same for this one alone
            assert not find_hits(curve, before, b, watch) and explained(before, b)
            assert resolved(curve, before, b, None, Steps().miss, watch.tolerances) is not None
        before = b


def check_located(curve, a, b, located):
    """A limit point or a bound between two points: where it says, with blocks and tangent of the model there."""
    c, e = located.point, curve.evaluate(located.point.x)
    assert a.s <= c.s <= b.s and c.t @ b.t > 0
    assert np.max(np.abs(curve.residual(e))) <= 1e-11 and np.max(np.abs(curve.jacobian(e) @ c.t)) <= 1e-11
    assert c.orientation == np.sign(np.linalg.det(curve.matrix(e, c.t)))
    if located.trigger is Trigger.limit:
        assert abs(c.t[curve.n]) <= 1e-12
    else:
        assert abs(c.y[curve.n]) == pytest.approx(50, abs=1e-12)
    for one, other in zip(located.e, e, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_most_points_of_a_long_path_are_calm():
    where = place_near(ARM, [0.0, 0.0, 0.0], 0.0)
    curve = Curve(ARM, np.array([0]), where.sizes, where.scales)
    start = newton(curve, curve.scaled(where.x), Plane(np.eye(curve.size)[3], 0.0), target=1e-12, limit=30)
    knobs = StepKnobs(0.01, 0.05, 0.03, 0.02, 1e-4, 1e-10, 1e-10, 1e-12, -50.0, 50.0, CHUNK)
    track = Track(make_point(curve, start, np.eye(curve.size)[3], 0.0), None, None, None)
    calm = stretch(curve, track, knobs, PathWatch((-50.0, 50.0), {}, DEFAULT)).calm
    assert sum(calm) >= len(calm) - 3 > 10
    assert not stretch(curve, track, knobs, PathWatch((-50.0, 50.0), {"u": len}, DEFAULT)).calm.any()


@pytest.mark.parametrize("count", [1, 63, 64, 65, 130])
def test_many_residuals_are_those_of_each_point(count):
    X = np.random.default_rng(count).normal(size=(count, 7))
    for one, many in zip(X, zip(*ARM.residuals_packed(X), strict=True), strict=True):
        for alone, together in zip(ARM.residual_packed(one), many, strict=True):
            np.testing.assert_allclose(together, alone, rtol=1e-13, atol=1e-13)


def test_a_closed_path_ends_where_it_began():
    isola = System(coordinates=("x",), energy=lambda q, p, th: q[0] ** 3 / 3 + q[0] * (p**2 - 1))
    path = onesided.trace(isola, [1.0], 0.0, method=COMPILED)
    assert path.status is Status.closed and [e.kind for e in path.events] == [Kind.limit] * 2
    assert [e.p for e in path.events] == pytest.approx([1, -1], abs=1e-14)
    assert (path.q[-1, 0], path.p[-1]) == (path.q[0, 0], path.p[0])


def test_a_model_that_ends_is_followed_to_its_end():
    """With U = x ln x − x(1 + ln(1 − p)) the state is x = 1 − p, and U exists for x > 0 and p < 1 only."""
    system = System(("x",), lambda q, p, th: q[0] * jnp.log(q[0]) - q[0] * (1.0 + jnp.log(1.0 - p)))
    one, other = (onesided.trace(system, [1.0], 0.0, throw=False, method=m) for m in (COMPILED, SINGLE))
    assert one.status is other.status and not one.ok
    np.testing.assert_allclose(one.q[:, 0], 1.0 - one.p, atol=1e-10)
    assert one.p[-1] == pytest.approx(1, abs=1e-3) and np.all(np.isfinite(one.energy))


def test_user_events_and_numbers_of_points_hold_inside_a_stretch():
    spring = System(("x",), lambda q, p, th: q[0] ** 2 / 2 + q[0] ** 4 / 4 - p * q[0])
    path = onesided.trace(spring, [0.0], 0.0, max_points=23, method=COMPILED, events={"one": lambda q, p: q[0] - 1.0})
    assert len(path) == 24 and [e.kind for e in path.events] == [Kind.user]
    assert path.events[0].p == pytest.approx(2, abs=1e-12)  # x + x³


def test_a_negative_number_of_points_is_refused():
    with pytest.raises(OnesidedError, match="compile_after=-1"):
        PredictorCorrector(compile_after=-1)


def test_a_composed_structure_is_stepped_like_one_of_functions():
    """Two bars on a roller that a spring of stiffness 2 holds: P* = ±1.6 (c − 1)^1.5 with c = (l₀/a)^(2/3)."""
    truss = onesided.compose(
        Node("left", (0.0, 0.0), fixed=True),
        Node("top", (1.0, 0.5)),
        Node("roller", (2.0, 0.0), fixed="y"),
        Node("wall", (3.0, 0.0), fixed=True),
        Bar("one", ("left", "top"), stiffness="k"),
        Bar("two", ("top", "roller"), stiffness="k"),
        Bar("spring", ("roller", "wall"), stiffness="2*k"),
        Force("load", "top", (0.0, -1.0)),
        parameters={"k": 1.0},
    )
    path = onesided.trace(truss, truss.start, 0.0, p_bounds=(-0.1, 0.1), method=COMPILED)
    limit = 1.6 * (1.25 ** (1 / 3) - 1) ** 1.5
    assert [e.p for e in path.events] == pytest.approx([limit, -limit, 0.1], abs=1e-13)
    assert [e.kind for e in path.events] == [Kind.limit, Kind.limit, Kind.bound]
