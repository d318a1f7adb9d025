"""Obstacles beside and on bent paths, however thin: a point is dragged along a closed curve among posts and bumps."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar

import onesided
from onesided import Kind, PredictorCorrector, System
from onesided.evaluation.resolution import Triple, may_fall_below

POSTS = 3
END = 6.3
BOTH = [PredictorCorrector(compile_after=0), PredictorCorrector(compile_after=10**9)]


def curve(p, th, xp=jnp):
    """The place to which the spring pulls."""
    return xp.stack([th["a"] * xp.sin(th["m"] * p + th["f"]), th["b"] * xp.sin(th["n"] * p + th["g"])])


def energy(q, p, th):
    return jnp.sum((q - curve(p, th)) ** 2) / 2


def post(i):
    return lambda q, p, th: jnp.hypot(q[0] - th[f"x{i}"], q[1] - th[f"y{i}"]) - th[f"r{i}"]


def bump(i):
    """Flat but for the neighbourhood of the obstacle: no slope tells of it."""
    return lambda q, p, th: (
        1 - 2 / (1 + (((q[0] - th[f"x{i}"]) ** 2 + (q[1] - th[f"y{i}"]) ** 2) / th[f"r{i}"] ** 2) ** 2)
    )


NAMES = ("a", "b", "m", "n", "f", "g", *(f"{name}{i}" for i in range(POSTS) for name in "xyr"))
FIELDS = {
    shape: System(
        ("x", "y"), energy, unilateral={f"post{i}": gap(i) for i in range(POSTS)}, parameters=dict.fromkeys(NAMES, 1.0)
    )
    for shape, gap in (("post", post), ("bump", bump))
}


def field(seed, thickness):
    """Numbers of a curve, and of posts that lie on it or just beside it; both gaps vanish at the distance r."""
    rng = np.random.default_rng(seed)
    th = dict(zip("abmnfg", [*rng.uniform(0.5, 2, 2), *rng.integers(1, 4, 2), *rng.uniform(0, 6.28, 2)], strict=True))
    for i, at in enumerate(rng.uniform(0.5, 6, POSTS)):
        r = 10 ** rng.uniform(*thickness)
        aside, turn = r * rng.uniform(0, 1.3), rng.uniform(0, 6.28)
        x, y = curve(at, th, np) + aside * np.array([np.cos(turn), np.sin(turn)])
        th |= {f"x{i}": x, f"y{i}": y, f"r{i}": r}
    return {name: float(value) for name, value in th.items()}


def first_touch(th):
    """p at which the curve first comes as close to a post as its radius, by searching every approach on its own."""
    p = np.linspace(0, END, 4001)
    found = [END]
    for i in range(POSTS):

        def clear(p, i=i):
            return np.hypot(*(curve(p, th, np).T - [th[f"x{i}"], th[f"y{i}"]]).T) - th[f"r{i}"]

        distance = clear(p)
        for j in 1 + np.flatnonzero((distance[1:-1] <= distance[:-2]) & (distance[1:-1] <= distance[2:])):
            nearest = minimize_scalar(clear, bounds=(p[j - 1], p[j + 1]), method="bounded", options={"xatol": 1e-12}).x
            if clear(nearest) < -1e-9 * th[f"r{i}"]:
                before = p[(distance > 0) & (p < nearest)]
                found += [brentq(clear, before[-1], nearest, xtol=1e-14)] if len(before) else []
    return min(found)


def outside(th):
    """Whether the start is clear of all posts, and no post is just grazed: rounding would decide."""
    x = curve(0.0, th, np)
    return all(np.hypot(x[0] - th[f"x{i}"], x[1] - th[f"y{i}"]) > 1.5 * th[f"r{i}"] for i in range(POSTS))


def check(seed, shape, thickness, method):
    th = field(seed, thickness)
    if not outside(th):
        return
    system = FIELDS[shape].replace(parameters=th)
    path = onesided.trace(system, curve(0.0, th, np), 0.0, p_bounds=(-1, END), max_events=1, method=method, throw=False)
    assert path.events[0].p == pytest.approx(first_touch(th), abs=1e-7), (seed, th, path.status)


@pytest.mark.parametrize("method", BOTH, ids=["compiled", "single"])
@pytest.mark.parametrize("thickness", [(-2.7, -0.7), (-3.7, -2.7)], ids=["posts", "wires"])
def test_no_post_is_passed(thickness, method):
    for seed in range(6):
        check(seed, "post", thickness, method)


@pytest.mark.parametrize("method", BOTH, ids=["compiled", "single"])
def test_no_bump_is_passed(method):
    for seed in range(6):
        check(seed, "bump", (-2.0, -1.0), method)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "thickness"), [("post", (-2.7, -0.7)), ("post", (-3.7, -2.5)), ("bump", (-2.3, -0.7))]
)
def test_no_obstacle_of_hundreds_is_passed(shape, thickness):
    for seed in range(1000, 1300):
        check(seed, shape, thickness, BOTH[seed % 2])


@given(st.floats(0.01, 0.99), st.floats(0.0, 0.3), st.floats(0.1, 10.0), st.floats(0.1, 10.0))
def test_a_sharp_turn_below_zero_is_seen(at, rounding, left, right):
    """Distances along a straight line, any slopes to both sides: what falls below zero is never taken as clear."""
    slopes = np.array([left, right])

    def value(f):
        return np.sqrt((slopes[int(f > at)] * (f - at)) ** 2 + rounding**2) - 1.001 * rounding - 1e-9

    def slope(f):
        return (
            slopes[int(f > at)] ** 2 * (f - at) / np.sqrt((slopes[int(f > at)] * (f - at)) ** 2 + rounding**2 + 1e-300)
        )

    f = Triple(value(0.0), slope(0.0), value(0.5), slope(0.5), value(1.0), slope(1.0))
    assert min(f.a, f.m, f.b) < 0 or may_fall_below(np, f, 0.0)


def softened(q, p, th):
    """The point drags a mode z along that loses its stiffness near a place: unstable within r √(log 3) of it."""
    near = jnp.exp(-((q[0] - th["x0"]) ** 2 + (q[1] - th["y0"]) ** 2) / th["r0"] ** 2)
    return energy(q[:2], p, th) + (1 - 3 * near) * q[2] ** 2 / 2 + q[2] ** 4 / 4


SOFT = System(("x", "y", "z"), softened, parameters=dict.fromkeys(NAMES, 1.0))


def window(seed, thickness):
    """Numbers of a curve with a soft place on it that is passed within a share of the range of p, 10 to some power."""
    rng, th = np.random.default_rng(seed), field(seed, (-2.0, -1.0))
    at, step = rng.uniform(0.5, 6.0), 1e-6
    speed = np.hypot(*(curve(at + step, th, np) - curve(at - step, th, np))) / (2 * step)
    r = 10 ** rng.uniform(*thickness) * (END + 1) * speed / (2 * np.sqrt(np.log(3)))
    return th | dict(zip(("x0", "y0", "r0"), [*curve(at, th, np).tolist(), float(r)], strict=True))


TURNED = np.linalg.qr(np.random.default_rng(5).normal(size=(6, 6)))[0]


def mixed(q, p, th):
    """The same in coordinates that take part in every mode, with three stiffer ones that follow the path."""
    z = jnp.asarray(TURNED) @ q
    follow = 50 * (z[3] - 0.3 * jnp.sin(z[0])) ** 2 + 5 * (z[4] - z[1] * z[0]) ** 2 + 500 * z[5] ** 2
    return softened(z[:3], p, th) + follow


MIXED = System(tuple("abcdef"), mixed, parameters=dict.fromkeys(NAMES, 1.0))


def start_of(system, th):
    x, y = curve(0.0, th, np)
    z = np.array([x, y, 0.0, 0.3 * np.sin(x), x * y, 0.0])
    return z[:3] if system is SOFT else TURNED.T @ z


def check_windows(system, th, method, least):
    """Whether no window is too narrow for a share of the range of p; then each is entered and left."""
    at, p = np.array([th["x0"], th["y0"]]), np.linspace(0, END, 20001)

    def stiffness(p):
        return 1 - 3 * np.exp(-(np.hypot(*(curve(p, th, np).T - at).T) ** 2) / th["r0"] ** 2)

    signs = np.flatnonzero(np.diff(np.sign(stiffness(p))))
    if stiffness(0.0) < 0.1 or np.any(np.diff(p[signs]) < least * (END + 1)):
        return False
    given = system.replace(parameters=th)
    path = onesided.trace(given, start_of(system, th), 0.0, p_bounds=(-1, END), method=method, throw=False)
    found = [event.p for event in path.events if event.kind is not Kind.bound]
    expected = [brentq(stiffness, p[i], p[i + 1]) for i in signs]
    assert found == pytest.approx(expected, abs=1e-6), (th, path.status)
    return True


@pytest.mark.parametrize("method", BOTH, ids=["compiled", "single"])
@pytest.mark.parametrize(
    ("system", "thickness"),
    [(SOFT, (-2.8, -2.5)), (SOFT, (-2.5, -1.5)), (MIXED, (-2.8, -2.0))],
    ids=["narrow", "wide", "mixed"],
)
def test_no_window_of_instability_on_a_bent_path_is_passed(system, thickness, method):
    """Windows wider than 1.5e-3 of the range of p, as often as each is passed."""
    assert sum(check_windows(system, window(seed, thickness), method, 1.5e-3) for seed in range(10)) > 4


@pytest.mark.parametrize("seed", [5030, 5050, 5062, 5068])
def test_windows_off_the_middles_of_steps_are_seen(seed):
    """Matrices are made where they are off most: halving the step over and over did not meet these windows."""
    assert check_windows(MIXED, field(seed, (-3.0, -1.0)), BOTH[0], 1.1e-3)


def test_a_window_just_before_the_bound_is_seen():
    """On the last step of a compiled stretch, which is cut at the bound of p."""
    assert check_windows(SOFT, field(9022, (-3.0, -1.0)), BOTH[0], 1.5e-3)


WINDOW = onesided.System(
    ("x", "y"),
    lambda q, p, th: (
        (q[0] - p / 100) ** 2 / 2 + (1 - (1 + th.d) * jnp.exp(-(((p - th.m) / th.w) ** 2))) * q[1] ** 2 / 2 + q[1] ** 4
    ),
    parameters={"m": 1.0, "w": 1.0, "d": 0.0},
)


@pytest.mark.parametrize("compile_after", [0, math.inf])
@pytest.mark.parametrize("length", [1e-3, 1e-2, 1.0])
@pytest.mark.parametrize("width", [2e-3, 1e-2])
def test_windows_are_seen_where_one_step_leads_far_beyond_the_bound(compile_after, length, width):
    """The size of p is a thousand times the path, which ends within the first step: x = p/100, unstable in a window."""
    m, w = 0.8 * length, 5 * width * length  # exp(−((p − m)/w)²)(1 + d) > 1 for |p − m| < half the width
    d = math.expm1((0.5 * width * length / w) ** 2)
    method = onesided.PredictorCorrector(compile_after=compile_after)
    system = WINDOW.replace(parameters={"m": m, "w": w, "d": d})
    path = onesided.trace(system, [0.0, 0.0], 0.0, p_bounds=(-0.05 * length, length), method=method)
    half = 0.5 * width * length
    assert [event.kind for event in path.events[:2]] == [onesided.Kind.smooth_bifurcation] * 2
    assert [event.p for event in path.events[:2]] == pytest.approx([m - half, m + half], abs=1e-6 * length)
