"""Contacts that depend on each other: states by quadratic programmes and closed forms, whatever carries them."""

import itertools
import math
from dataclasses import replace
from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onesided
from onesided import Kind, PredictorCorrector, Status, System

both_ways = pytest.mark.parametrize("after", [0, math.inf])


def told(path):
    return [(event.kind, event.constraints) for event in path.events if event.kind is not Kind.bound]


def places(path):
    return [event.p for event in path.events if event.kind is not Kind.bound]


def walls_through_a_corner(n, k):
    """A point that a spring pulls to p·a, held by k walls N(q − corner) ≤ 0 through one corner."""

    def wall(q, p, th, i):
        normal = jnp.array([getattr(th, f"n{i}{j}") for j in range(n)])
        return -(normal @ (q - jnp.ones(n)))

    names = {f"n{i}{j}": float(i == j) for i in range(k) for j in range(n)} | {f"a{j}": 1.0 for j in range(n)}
    return System(
        tuple("xyz"[:n]),
        lambda q, p, th: ((q - p * jnp.array([getattr(th, f"a{j}") for j in range(n)])) ** 2).sum() / 2,
        unilateral={f"w{i}": (lambda q, p, th, i=i: wall(q, p, th, i)) for i in range(k)},
        parameters=names,
    )


def nearest(normals, corner, target):
    """The point of the cone {N(q − corner) ≤ 0} nearest to the target: all faces are tried."""
    best = None
    for count in range(len(normals) + 1):
        for chosen in itertools.combinations(range(len(normals)), count):
            A = normals[list(chosen)].reshape(-1, len(corner))
            q = target - np.linalg.pinv(A) @ (A @ (target - corner)) if count else target
            if np.all(normals @ (q - corner) <= 1e-9):
                distance = np.linalg.norm(q - target)
                best = (distance, q) if best is None or distance < best[0] - 1e-12 else best
    return best[1]


CORNERS = {(n, k): walls_through_a_corner(n, k) for n, k in ((2, 3), (2, 4), (3, 5))}


@pytest.mark.parametrize("shape", CORNERS)
@settings(deadline=None, max_examples=12)
@given(seed=st.integers(0, 10_000))
def test_walls_through_a_corner_hold_the_only_state(shape, seed):
    """The energy is convex, so the state is the projection onto the cone of the walls: unique for every p."""
    n, k = shape
    rng = np.random.default_rng(seed)
    normals = rng.normal(size=(k, n))
    normals += (0.3 - normals @ np.ones(n) / n)[:, None].clip(0)  # the origin is inside
    pull = np.ones(n) + 0.4 * rng.normal(size=n)
    values = {f"n{i}{j}": normals[i, j] for i in range(k) for j in range(n)} | {f"a{j}": pull[j] for j in range(n)}
    system = CORNERS[shape].replace(parameters=values)
    path = onesided.trace(system, np.zeros(n), 0.0, p_bounds=(-1, 4), throw=False)
    assert path.status is Status.bound_reached, path.note
    kinds = {event.kind for event in path.events}
    assert kinds <= {Kind.closes, Kind.opens, Kind.idle, Kind.bound}
    for q, p in zip(path.q, path.p, strict=True):
        np.testing.assert_allclose(q, nearest(normals, np.ones(n), p * pull), atol=1e-8)


THREE_WALLS = System(
    ("x", "y"),
    lambda q, p, th: (q[0] - p) ** 2 / 2 + (q[1] - 0.3 * p) ** 2 / 2,
    unilateral={
        "a": lambda q, p, th: 1 - q[0] - q[1],
        "b": lambda q, p, th: 1 - q[0] + q[1],
        "c": lambda q, p, th: 1 - q[0],
    },
)


def test_three_walls_are_no_bifurcation_and_forces_are_said_not_to_be_unique():
    path = onesided.trace(THREE_WALLS, [0.0, 0.0], 0.0, p_bounds=(-1, 5))
    assert told(path) == [(Kind.closes, ("a",)), (Kind.closes, ("b", "c"))]
    assert places(path) == pytest.approx([1 / 1.3, 1 / 0.7], abs=1e-12)
    assert "forces of contacts 'a', 'b', 'c' are not unique" in path.events[1].words()
    np.testing.assert_allclose(path.q[-1], [1, 0], atol=1e-12)


NOTCHES = System(
    ("x", "y"),
    lambda q, p, th: (q[0] - 2) ** 2 / 2 + q[1] ** 2 / 2,
    unilateral={
        "a1": lambda q, p, th: 1 - q[0] + th.a * q[1],
        "a2": lambda q, p, th: 1 - q[0] - th.a * q[1],
        "b1": lambda q, p, th: 1.5 - p - q[0] + th.b * q[1],
        "b2": lambda q, p, th: 1.5 - p - q[0] - th.b * q[1],
    },
    parameters={"a": 1.0, "b": 2.0},
)


@both_ways
@pytest.mark.parametrize(("a", "b"), [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0), (0.3, 7.0)])
def test_a_notch_takes_over_from_another(a, b, after):
    """x = min(1, 1.5 − p), y = 0, stable for every p."""
    system, method = NOTCHES.replace(parameters={"a": a, "b": b}), PredictorCorrector(compile_after=after)
    for q0, p0, way in (([1.0, 0.0], 0.0, 1), ([0.5, 0.0], 1.0, -1)):
        path = onesided.trace(system, q0, p0, direction=way, p_bounds=(0, 1), method=method)
        assert told(path) == [(Kind.closes, ("b1", "b2", "a1", "a2") if way > 0 else ("a1", "a2", "b1", "b2"))]
        assert places(path) == pytest.approx([0.5], abs=1e-12) and not path.instability.any()
        np.testing.assert_allclose(path.q[:, 0], np.minimum(1, 1.5 - path.p), atol=1e-12)
        np.testing.assert_allclose(path.q[:, 1], 0, atol=1e-12)


def test_a_history_and_a_diagram_pass_the_notches():
    found = onesided.diagram(NOTCHES, [1.0, 0.0], 0.0, p_bounds=(0, 1))
    assert found.complete and len(found.paths) == 1 and len(found.events) == 1
    driven = onesided.drive(NOTCHES, [1.0, 0.0], [0.0, 1.0, 0.0])
    assert driven.ok and not driven.jumps


COPIES = {
    "twice": lambda q, p, th: 2 * (1 - q[0]),
    "curved": lambda q, p, th: (1 - q[0]) * (1 + q[1] ** 2),
    "cubed": lambda q, p, th: (1 - q[0]) + (1 - q[0]) ** 3,
}


@pytest.mark.parametrize("copies", [*itertools.combinations(COPIES, 1), *itertools.combinations(COPIES, 2)])
def test_copies_of_a_gap_change_nothing(copies):
    system = System(
        ("x", "y"),
        lambda q, p, th: (q[0] - p) ** 2 / 2 + (q[1] - p) ** 2 / 2,
        unilateral={"stop": lambda q, p, th: 1 - q[0]} | {name: COPIES[name] for name in copies},
    )
    path = onesided.trace(system, [0.0, 0.0], 0.0, p_bounds=(-1, 3))
    assert told(path) == [(Kind.closes, ("stop", *copies))] and places(path) == pytest.approx([1.0], abs=1e-12)
    np.testing.assert_allclose(path.q, np.column_stack([np.minimum(path.p, 1), path.p]), atol=1e-10)
    back = onesided.trace(system, path.q[-1], 3.0, direction=-1, p_bounds=(-1, 3))
    assert places(back) == pytest.approx([1.0], abs=1e-10) and back.status is Status.bound_reached
    np.testing.assert_allclose(back.q[:, 0], np.minimum(back.p, 1), atol=1e-10)


DISC = System(
    ("x", "y"),
    lambda q, p, th: (q[0] - p) ** 2 / 2 + q[1] ** 2 / 2,
    unilateral={"disc": lambda q, p, th: q[0] ** 2 + (q[1] + 1) ** 2 - (1 + th.d) ** 2},
    parameters={"d": 0.0},
)


@both_ways
@pytest.mark.parametrize("depth", [1e-2, 1e-4, 1e-6, 1e-7, 1e-8, 1e-9])
def test_a_disc_is_grazed(depth, after):
    """The straight path y = 0 is cut by a disc: contact where p² = (1 + d)² − 1, on both sides."""
    system, method = DISC.replace(parameters={"d": depth}), PredictorCorrector(compile_after=after)
    path = onesided.trace(system, [-2.0, 0.0], -2.0, p_bounds=(-3, 3), method=method)
    half = math.sqrt(depth * (2 + depth))
    assert told(path) == [(Kind.closes, ("disc",)), (Kind.opens, ("disc",))]
    assert places(path) == pytest.approx([-half, half], rel=1e-3) and not path.instability.any()


@pytest.mark.parametrize("depth", [0.0, -1e-12, -1e-8, -1e-6, -1e-3])
def test_a_disc_is_not_reached_or_just_touched(depth):
    path = onesided.trace(DISC.replace(parameters={"d": depth}), [-2.0, 0.0], -2.0, p_bounds=(-3, 3))
    assert path.status is Status.bound_reached
    assert len(told(path)) == (1 if depth > -1e-11 else 0)
    np.testing.assert_allclose(path.q[:, 1], 0, atol=1e-12)


SPRING_AND_STOPS = System(
    ("x",),
    lambda q, p, th: (q[0] - p) ** 2 / 2,
    unilateral={"left": lambda q, p, th: q[0] - th.share * p, "right": lambda q, p, th: 0.5 - q[0]},
    parameters={"share": 1.0},
)


@both_ways
@pytest.mark.parametrize("share", [1.0, 0.8, 0.5])
def test_a_system_jams(share, after):
    """The left stop meets the right one at p = 0.5/share: nothing can move on."""
    system, method = SPRING_AND_STOPS.replace(parameters={"share": share}), PredictorCorrector(compile_after=after)
    path = onesided.trace(system, [0.0], 0.0, p_bounds=(-1, 3), method=method, throw=False)
    assert path.events[-1].kind is Kind.jammed and path.status is Status.jammed
    assert sorted(path.events[-1].constraints) == ["left", "right"]
    assert path.p[-1] == pytest.approx(0.5 / share, abs=1e-12) == path.p.max()


def test_a_rigid_column_buckles_between_plates_that_close():
    """θ = 0 until the force, which grows at constant p, reaches k/(2L); then 2L(1 − cos θ) = p."""
    system = System(
        ("t", "x"),
        lambda q, p, th: q[0] ** 2 / 2,
        unilateral={"top": lambda q, p, th: 2 - p - q[1] - 2 * jnp.cos(q[0]), "foot": lambda q, p, th: q[1]},
    )
    path = onesided.trace(system, [0.05, 0.0], 2 - 2 * math.cos(0.05), p_bounds=(0, 1))
    np.testing.assert_allclose(2 - 2 * np.cos(path.q[:, 0]), path.p, atol=1e-9)
    assert path.lam[-1, 0] == pytest.approx(path.q[-1, 0] / (2 * math.sin(path.q[-1, 0])), abs=1e-9)


IDLE_GAP = System(
    ("x", "y"),
    lambda q, p, th: (q[0] - p) ** 2 / 2 + (q[1] + 1) ** 2 / 2,
    unilateral={"g1": lambda q, p, th: q[1], "g2": lambda q, p, th: q[1] + jnp.maximum(0.0, 1 - q[0]) ** 2},
)
IDLE_FORCE = System(
    ("x",),
    lambda q, p, th: q[0] ** 2 / 2 + (jnp.maximum(p - 1, 0.0) ** 3 - jnp.maximum(-p - 1, 0.0) ** 3) * q[0],
    unilateral={"g": lambda q, p, th: q[0]},
)


@both_ways
def test_a_redundant_gap_closes_and_opens_without_force(after):
    method = PredictorCorrector(compile_after=after)
    up = onesided.trace(IDLE_GAP, [0.0, 0.0], 0.0, p_bounds=(-1, 3), method=method)
    down = onesided.trace(IDLE_GAP, [3.0, 0.0], 3.0, direction=-1, p_bounds=(-1, 3), method=method)
    swapped = System(IDLE_GAP.coordinates, IDLE_GAP.energy, unilateral=dict(reversed(IDLE_GAP.unilateral.items())))
    other = onesided.trace(swapped, [3.0, 0.0], 3.0, direction=-1, p_bounds=(-1, 3), method=method)  # the other carries
    assert told(up) == [(Kind.idle, ("g2",))]
    for path in (up, down, other):
        ((kind, changed),) = told(path)
        assert kind is Kind.idle and "g2" in changed and places(path) == pytest.approx([1.0], abs=1e-5)
        assert path.gaps.min() > -1e-9
    assert "closes without force: redundant with contact 'g1'" in up.events[0].words()
    assert "opens" in down.events[0].words()


@both_ways
@pytest.mark.parametrize(
    ("start", "p0", "way", "expected"),
    [(0.0, 0.0, -1, [-1]), (0.0, 0.0, 1, [1]), (0.0, 3.0, -1, [1, -1]), (8.0, -3.0, 1, [-1, 1])],
)
def test_an_idle_contact_is_told(after, start, p0, way, expected):
    """Closed without force for |p| < 1, open below, loaded above."""
    method = PredictorCorrector(compile_after=after)
    path = onesided.trace(IDLE_FORCE, [start], p0, direction=way, p_bounds=(-3, 3), method=method)
    assert told(path) == [(Kind.idle, ("g",))] * len(expected) and places(path) == pytest.approx(expected, abs=1e-7)
    np.testing.assert_allclose(path.q[:, 0], np.maximum(-path.p - 1, 0) ** 3, atol=1e-9)
    np.testing.assert_allclose(path.lam[:, 0], np.maximum(path.p - 1, 0) ** 3, atol=1e-9)


def test_the_second_method_tells_idle_contacts():
    path = onesided.trace(IDLE_FORCE, [8.0], -3.0, p_bounds=(-3, 3), method=onesided.FirstOrder())
    assert told(path) == [(Kind.idle, ("g",))] * 2 and places(path) == pytest.approx([-1, 1], abs=1e-6)
    path = onesided.trace(IDLE_GAP, [0.0, 0.0], 0.0, p_bounds=(-1, 3), method=onesided.FirstOrder())
    assert told(path) == [(Kind.idle, ("g2",))] and places(path) == pytest.approx([1.0], abs=1e-6)


CIRCLE = System(("x",), lambda q, p, th: q[0] ** 3 / 3 + q[0] * (p * p - 1))
CUT_CIRCLE = System(
    ("x", "y"),
    lambda q, p, th: q[0] ** 3 / 3 + q[0] * (p * p - 1) + (q[1] - p) ** 2 / 2,
    unilateral={"stop": lambda q, p, th: th.at - q[0] * (1 + th.bend * q[1])},
    parameters={"at": 0.5, "bend": 0.0},
)


@both_ways
@pytest.mark.parametrize("x", [0.3, 0.45, 0.49, 0.499, 0.4999, -0.5])
def test_a_circle_cut_by_a_stop_closes(x, after):
    p = math.sqrt(1 - x * x)
    method = PredictorCorrector(compile_after=after)
    path = onesided.trace(CUT_CIRCLE, [x, p], p, direction=-1, p_bounds=(-2, 2), max_points=2000, method=method)
    assert path.status is Status.closed and len(path.events) == 4
    assert sorted(places(path)) == pytest.approx([-1, -math.sqrt(0.75), math.sqrt(0.75), 1], abs=1e-9)


@pytest.mark.parametrize("bend", [0.0, 0.3])
@pytest.mark.parametrize("p", [0.0, 0.2])
def test_a_closed_path_that_starts_on_the_stop(bend, p):
    system = CUT_CIRCLE.replace(parameters={"bend": bend})
    path = onesided.trace(system, [0.5 / (1 + bend * p), p], p, p_bounds=(-2, 2), max_points=2000)
    assert path.status is Status.closed and len(path.events) == 4
    np.testing.assert_allclose(path.q[-1], path.q[0], atol=1e-12)


@pytest.mark.parametrize(("x", "p"), [(1.0, 0.0), (0.0, 1.0), (-0.6, 0.8)])
def test_a_diagram_lists_a_circle_once(x, p):
    found = onesided.diagram(CIRCLE, [x], p, p_bounds=(-2, 2))
    assert found.complete and len(found.paths) == 1
    assert sorted(event.p for event in found.events) == pytest.approx([-1, 1], abs=1e-9)
    path = onesided.trace(CIRCLE, [1.0], 0.0, p_bounds=(-2, 2), method=onesided.FirstOrder(), max_points=2000)
    assert path.status is Status.closed and len(path.events) == 2


def test_a_diagram_of_a_cut_circle_lists_every_piece_once():
    found = onesided.diagram(CUT_CIRCLE, [0.5, 0.0], 0.0, p_bounds=(-2, 2))
    assert found.complete and len(found.paths) == 1 and len(found.events) == 4


def test_a_diagram_keeps_branches_that_fail():
    """What is not followed is in the list with its status, and the diagram is not called complete."""
    system = System(("x", "y"), lambda q, p, th: (5 - p) * (q[0] ** 2 + q[1] ** 2) / 2 + (q[0] ** 4 + q[1] ** 4) / 4)
    found = onesided.diagram(system, [0.0, 0.0], 0.0, p_bounds=(-1, 15), max_branches=100)
    assert len(found.paths) == 10
    assert found.complete == all(path.ok for path in found.paths)


@pytest.mark.slow
@pytest.mark.parametrize(
    "knobs", [{"compile_after": math.inf}, {"compile_after": 0}, {"max_step": 0.02, "turn": 0.05, "miss": 0.005}]
)
def test_the_tips_of_two_pairs_of_panels_meet(knobs):
    """Where tips meet, both gaps of a pair are the same distance; the model is symmetric in p, so events are too."""
    system, _ = onesided.zoo.load("panel-ring")
    event = onesided.trace(system, system.start, 0.0, p_bounds=(-0.6, 0.6), max_events=1).events[0]
    ray = next(i for i, ray in enumerate(event.rays.rays) if ray.closed == ("behind0", "behind2"))
    origin = replace(event.origin, method=PredictorCorrector(**knobs), max_events=3)
    path = onesided.branch(replace(event, origin=origin), ray)
    meets, parts, last = path.events
    assert (meets.kind, meets.constraints) == (Kind.idle, ("ahead1", "ahead7"))
    assert (parts.kind, set(parts.constraints)) == (Kind.idle, {"ahead1", "ahead7", "behind0", "behind2"})
    assert [meets.p, parts.p] == pytest.approx([0.0168646524, -0.0168646524], abs=1e-9)
    assert last.kind is Kind.nonsmooth_bifurcation and last.p == pytest.approx(-event.p, abs=1e-9)


STATED = {
    "expm1": jnp.expm1,
    "sinh": jnp.sinh,
    "tanh": jnp.tanh,
    "cubic": lambda g: g + g**3,
    "falling": lambda g: -jnp.expm1(-g),
}


@pytest.mark.parametrize(("stated", "after"), [*((name, math.inf) for name in STATED), ("expm1", 0)])
def test_a_wall_closes_once_however_its_gap_is_stated(stated, after):
    """x = p down to the wall at 0, stated alone or twice, far steeper or flatter where the path starts."""
    gap, method = STATED[stated], PredictorCorrector(compile_after=after)
    walls = {"again": lambda q, p, th: th.scale * gap(q[0] + q[1]), "wall": lambda q, p, th: q[0] + q[1]}
    for names in (("again",), ("again", "wall"), ("wall", "again"))[: 3 if after else 1]:
        system = System(
            ("x", "y"),
            lambda q, p, th: ((q[0] - p) ** 2 + q[1] ** 2) / 2,
            unilateral={name: walls[name] for name in names},
            parameters={"scale": 1.0},
        )
        for scale, far in ((1.0, 24.0), (1e6, 100.0), (1e-6, 2.0)):
            start = min(far, 15.0) if stated in {"tanh", "falling"} else far  # beyond, they are constants
            model = system.replace(parameters={"scale": scale})
            path = onesided.trace(model, [start, 0.0], start, direction=-1, p_bounds=(-1, 200), method=method)
            assert told(path) == [(Kind.closes, names)] and places(path) == pytest.approx([0.0], abs=1e-9)
            np.testing.assert_allclose(path.q.sum(axis=1), np.maximum(path.p, 0.0), atol=1e-8)


@pytest.mark.parametrize("steepness", [2.0, 12.0, 24.0, 40.0])
def test_a_wall_that_is_passed_is_never_a_success(steepness):
    """x = p up to the wall at 1, stated by methods that measure gaps where they start: found, or told as inaccurate."""
    system = System(
        ("x", "y"),
        lambda q, p, th: ((q[0] - p) ** 2 + q[1] ** 2) / 2,
        unilateral={"wall": lambda q, p, th: jnp.expm1(steepness * (1.0 - q[0]))},
    )
    path = onesided.trace(system, [0.0, 0.0], 0.0, p_bounds=(0, 3), method=onesided.FirstOrder(), throw=False)
    assert path.q[:, 0].max() <= 1.0 + 1e-6 if path.ok else path.status is Status.inaccurate


@pytest.mark.parametrize("order", [("u", "v"), ("v", "u")])
@pytest.mark.parametrize(
    ("a", "b", "x0", "before"), [(0.53, 1.43, 0.52, 0.5), (0.12, 0.2, 0.74, 1.0), (0.2, 0.97, 1.05, 1.0)]
)
def test_a_wall_takes_over_tangentially_from_another(order, a, b, x0, before):
    """Both walls are one to first order at x₀: y = a x² before it, y = a x² + b (x − x₀)² beyond, in any order."""

    def step(x):
        return jnp.where(x > x0, 1.0, -before) * (x - x0) ** 2

    walls = {"u": lambda q, p, th: q[1] - a * q[0] ** 2, "v": lambda q, p, th: q[1] - a * q[0] ** 2 - b * step(q[0])}
    energy = lambda q, p, th: (q[0] - p) ** 2 / 2 + (q[1] + 2) ** 2 / 2  # noqa: E731
    system = System(("x", "y"), energy, unilateral={name: walls[name] for name in order})
    path = onesided.trace(system, [-1.0, a], -1 - 2 * a * (a + 2), p_bounds=(-9, 3))
    (event,) = path.events[:-1]
    x, wall = path.q[:, 0], a * path.q[:, 0] ** 2 + b * np.maximum(path.q[:, 0] - x0, 0) ** 2
    np.testing.assert_allclose(path.q[:, 1], wall, atol=1e-9)
    slope = 2 * a * x + 2 * b * np.maximum(x - x0, 0)
    np.testing.assert_allclose(path.p, x + slope * (wall + 2), atol=1e-4)
    assert set(event.constraints) == {"u", "v"} and event.q[0] == pytest.approx(x0, abs=1e-4) and x[-1] > x0


def test_the_second_method_finds_user_events():
    """p = x³ − x turns at x = ∓1/√3; the user's function is zero at x = 0, and another one at the first turn."""
    arch = System(("x",), lambda q, p, th: q[0] ** 4 / 4 - q[0] ** 2 / 2 - p * q[0])
    events = {"flat": lambda q, p: q[0], "level": lambda q, p: p - 0.1}
    found = [
        onesided.trace(arch, [-1.2], -0.528, p_bounds=(-1, 1), events=events, method=method)
        for method in (None, onesided.FirstOrder())
    ]
    for path in found:
        told = [(event.kind, event.detail) for event in path.events[:-1]]
        assert told == [
            (Kind.user, "level"), (Kind.limit, ""), (Kind.user, "level"), (Kind.user, "flat"), (Kind.limit, ""),
            (Kind.user, "level"),
        ]  # fmt: skip
        assert path.events[3].q[0] == pytest.approx(0.0, abs=1e-8)
        assert [path.events[i].p for i in (0, 2, 5)] == pytest.approx([0.1] * 3, abs=1e-9)


@cache
def block_on_feet(count):
    """A heavy block on feet around its base, its weight 1 at the height `high` over the origin: rise, two rolls.

    The load u of the weight's offset (u, 0) is the control.
    """
    angles = 2 * np.pi * np.arange(count) / count + np.pi / count  # an edge lies across x
    feet = np.column_stack([np.cos(angles), np.sin(angles)])

    def energy(q, p, th):
        z, a, b = q
        return z + th.high * jnp.cos(a) * jnp.cos(b) + p * jnp.sin(a)

    def gap(q, i):
        return q[0] + feet[i][0] * jnp.sin(q[1]) + feet[i][1] * jnp.sin(q[2]) * jnp.cos(q[1])

    gaps = {f"f{i}": (lambda q, p, th, i=i: gap(q, i)) for i in range(count)}
    return System(("z", "a", "b"), energy, unilateral=gaps, parameters={"high": 1.0})


@pytest.mark.parametrize("count", [3, 4, 6, 8])
@pytest.mark.parametrize("high", [0.2, 2.0])
def test_a_block_on_feet_cannot_roll_about_two_of_them(count, high):
    """Two opposite feet may carry it alone: it is stable nevertheless, until the weight passes an edge."""
    system = block_on_feet(count).replace(parameters={"high": high})
    path = onesided.trace(system, [0.0, 0.0, 0.0], 0.0, p_bounds=(-0.1, 2.0))
    first = path.events[0]
    assert (first.kind, first.instability_before) == (Kind.corner_limit, 0)
    assert first.p == pytest.approx(np.cos(np.pi / count), abs=1e-9)
    assert not onesided.instability(system, path)[: first.index].any() and not path.instability[: first.index].any()
    assert first.instability_after == 1  # on the edge


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
def test_a_cup_of_planes_holds_an_apex_that_would_sway(count):
    """An apex that would sway, lowered into z ≥ p + uᵢ·(x, y), is held, but along the valley of two planes."""
    u = [(math.cos(2 * math.pi * i / count + 0.3), math.sin(2 * math.pi * i / count + 0.3)) for i in range(count)]
    system = System(
        ("x", "y", "z"),
        lambda q, p, th: q[2] ** 2 / 2 - (q[0] ** 2 + q[1] ** 2) / 2,
        unilateral={
            f"w{i}": (lambda q, p, th, i=i: q[2] - p - (u[i][0] * q[0] + u[i][1] * q[1])) for i in range(count)
        },
    )
    path = onesided.trace(system, [0.0, 0.0, 0.0], -1.0, p_bounds=(-1.0, 1.0))
    touch = path.events[0]
    assert touch.p == pytest.approx(0.0, abs=1e-9) and touch.instability_before == 2
    assert touch.instability_after == (1 if count == 2 else 0)
    assert set(path.instability[touch.index + 1 :]) == {touch.instability_after}
