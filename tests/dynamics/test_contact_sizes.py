"""Contacts are decided by their own lengths and speeds: not by the origin, units, or what else moves."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from onesided import Contact, EventDriven, Moreau, Scales, System, simulate
from onesided.dynamics.contacts import flights

G, SLOPE = 9.81, 0.4
NORMAL, ALONG = np.array([-np.sin(SLOPE), np.cos(SLOPE)]), np.array([np.cos(SLOPE), np.sin(SLOPE)])
EVENTS = EventDriven()


@cache
def ball():
    return System(
        coordinates=("x", "z"), energy=lambda q, p, th: G * q[1], mass=lambda q, th: jnp.eye(2),
        unilateral={"floor": lambda q, p, th: q[1]}, contacts={"floor": Contact(restitution=0.8)},
    )  # fmt: skip


def told(motion):
    return [(event.kind.name, event.name) for event in motion.events]


def times(motion):
    return np.array([event.t for event in motion.events])


@pytest.mark.parametrize("x", [1e3, -1e6, 1e9])
@pytest.mark.parametrize("height", [1e-3, 0.1])
def test_a_ball_far_from_the_origin_bounces_as_at_the_origin(x, height):
    span = (0.0, 200.0 * np.sqrt(2.0 * height / G) / 10.0)
    near, far = (simulate(ball(), [a, height], [0.0, 0.0], span, method=EVENTS) for a in (0.0, x))
    assert told(far) == told(near)
    assert times(far) == pytest.approx(times(near), rel=1e-9)
    zeno = np.sqrt(2.0 * height / G) * 1.8 / 0.2
    assert times(far)[-1] == pytest.approx(zeno, rel=1e-9)  # the limit itself
    assert far.at(np.linspace(*span, 50))[0][:, 1].min() > -1e-12


@pytest.mark.parametrize("speed", [1e2, 1e5])
def test_a_bounce_beside_something_fast(speed):
    alone, beside = (simulate(ball(), [0.0, 1e-4], [v, 0.0], (0.0, 0.05), method=EVENTS) for v in (0.0, speed))
    assert told(beside) == told(alone)
    assert times(beside) == pytest.approx(times(alone), rel=1e-9)


@cache
def chute():
    """A mass that bounces on an incline, comes to rest on it, slides down to a stop; a bystander w."""

    def place(q, th):
        return q[:2] / th["L"] - jnp.stack([th["X"], th["Y"]])

    return System(
        coordinates=("x", "y", "w"),
        energy=lambda q, p, th: G * th["L"] * q[1],
        mass=lambda q, th: jnp.eye(3),
        unilateral={
            "floor": lambda q, p, th: th["L"] * (place(q, th) @ NORMAL),
            "stop": lambda q, p, th: th["L"] * (place(q, th) @ ALONG + 1.0),
        },
        contacts={"floor": Contact(restitution=0.4), "stop": Contact(restitution=0.3)},
        parameters={"X": 0.0, "Y": 0.0, "L": 1.0},
    )


def slide(w=0.0, **numbers):
    th = {"X": 0.0, "Y": 0.0, "L": 1.0, **numbers}
    start = th["L"] * (np.array([th["X"], th["Y"]]) + 0.3 * NORMAL)
    return simulate(chute().replace(parameters=th), [*start, 0.0], [0.0, 0.0, w], (0.0, 1.8), method=EVENTS)


@pytest.mark.parametrize("other", [{"L": 1e6}, {"L": 1e-6}, {"w": 1e5}])
def test_units_and_bystanders_change_no_event(other):
    usual, changed = slide(), slide(**other)
    assert told(changed) == told(usual)
    assert times(changed) == pytest.approx(times(usual), abs=1e-8)


def test_a_shift_of_the_origin_costs_no_more_than_its_round_off():
    """Hops below the round-off of the coordinates are not followed; all others are the same."""
    usual, far = slide(), slide(X=1e3, Y=-1e3)
    stops = [(event.t, event.name) for event in usual.events if event.kind.name == "accumulation"]
    also = [(event.t, event.name) for event in far.events if event.kind.name == "accumulation"]
    assert [name for _, name in also] == [name for _, name in stops] == ["floor", "stop"]
    assert [t for t, _ in also] == pytest.approx([t for t, _ in stops], abs=1e-8)
    assert times(far)[:6] == pytest.approx(times(usual)[:6], abs=1e-8)


# an oscillator that is pushed and hits a wall: from wall to wall in closed form

PUSH, RATE, WALL, BOUNCE = 1.0, 2.7, 0.3, 0.8


@cache
def shaken():
    return System(
        coordinates=("x",),
        energy=lambda q, p, th: 2.0 * (q[0] - th.origin) ** 2,
        mass=lambda q, th: jnp.eye(1),
        force=lambda t, q, v, p, th: jnp.array([PUSH * jnp.cos(RATE * (t - th.first))]),
        unilateral={"wall": lambda q, p, th: q[0] - th.origin + WALL},
        contacts={"wall": Contact(restitution=BOUNCE)},
        parameters={"origin": 0.0, "first": 0.0},
    )


def hits(x, v, end):
    """Times at which x'' = −4 x + cos 2.7 t meets −0.3, from x and v at 0."""
    t, w, steady, found = 0.0, 2.0, PUSH / (4.0 - RATE**2), []
    while True:
        a, b = x - steady * np.cos(RATE * t), (v + steady * RATE * np.sin(RATE * t)) / w

        def place(s, t=t, a=a, b=b):
            return a * np.cos(w * (s - t)) + b * np.sin(w * (s - t)) + steady * np.cos(RATE * s) + WALL

        s = np.linspace(t, end, 20001)[1:]
        falls = np.flatnonzero((place(s)[:-1] > 0.0) & (place(s)[1:] <= 0.0))
        if not len(falls):
            return found
        now = brentq(place, s[falls[0]], s[falls[0] + 1], xtol=1e-15)
        speed = w * (b * np.cos(w * (now - t)) - a * np.sin(w * (now - t))) - RATE * steady * np.sin(RATE * now)
        x, v, t = -WALL, -BOUNCE * speed, now
        found.append(now)


@pytest.mark.parametrize(("origin", "first"), [(0.0, 0.0), (1e4, 0.0), (1e6, 0.0), (0.0, 1e5)])
def test_a_shaken_oscillator_keeps_its_digits_far_from_the_origin(origin, first):
    """From rest, far away: errors are compared with the way that is gone, not with coordinates."""
    truth = hits(0.5, 0.0, 20.0)
    system = shaken().replace(parameters={"origin": origin, "first": first})
    motion = simulate(system, [origin + 0.5], [0.0], (first, first + 20.0), method=EVENTS)
    assert times(motion) - first == pytest.approx(truth, abs=3e-9)


# discs: numbers in a gap, and normals, are rounded like the largest of them


@cache
def disc():
    return System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: G * q[1],
        mass=lambda q, th: jnp.eye(2),
        unilateral={"disc": lambda q, p, th: jnp.sqrt((q[0] - th["x"]) ** 2 + (q[1] - th["y"]) ** 2) - th["r"]},
        contacts={"disc": Contact(restitution=0.5)},
        parameters={"x": 0.0, "y": 0.0, "r": 1.0},
    )


def on_disc(centre, r, angle, *, height=0.0, slip=0.0, span=0.2):
    """Kinds and times of events of a mass over a disc, from rest or along its surface."""
    normal = np.array([np.cos(angle), np.sin(angle)])
    q, v = np.array(centre) + (r + height) * normal, slip * np.array([-normal[1], normal[0]])
    numbers = {"x": centre[0], "y": centre[1], "r": r}
    motion = simulate(disc().replace(parameters=numbers), q, v, (0.0, span), method=EventDriven())
    return [(event.kind.name, event.t) for event in motion.events]


@pytest.mark.parametrize("x", [1e2, 1e4, 1e6])
@pytest.mark.parametrize("seed", range(4))
def test_a_start_on_a_disc_is_closed_however_far_it_is(x, seed):
    """Events are those at the origin; what is left of the place of the start moves them a little."""
    rng = np.random.default_rng(seed)
    r, angle, slip = 10.0 ** rng.uniform(-1.0, 1.0), rng.uniform(0.1, 3.0), rng.choice([0.0, 0.6, 3.0])
    near, far = (on_disc((shift, 0.0), r, angle, slip=slip) for shift in (0.0, x))
    assert [kind for kind, _ in far] == [kind for kind, _ in near]
    assert [t for _, t in far] == pytest.approx([t for _, t in near], abs=1e-8 + 1e-14 * x / r)


@pytest.mark.parametrize("r", [1e2, 1e3, 1e4])
@pytest.mark.parametrize("angle", [0.9, 1.3, 1.8])
def test_bounces_on_a_large_disc_are_those_of_a_slope(r, angle):
    """A centimetre above: times of impacts as on a plane but for the curvature, down to hops that are round-off."""
    found = on_disc((-r * np.cos(angle), -r * np.sin(angle)), r, angle, height=0.01, span=0.4)
    first = np.sqrt(2 * 0.01 / (G * np.sin(angle)))
    hits = [t for kind, t in found if kind == "impact"]
    plane = first * (1.0 + 2.0 * (1.0 - 0.5 ** np.arange(len(hits))))
    assert len(hits) >= 8
    way = 0.5 * G * np.cos(angle) * (3.0 * first) ** 2
    assert hits == pytest.approx(list(plane), abs=first * (way**2 / 0.01 + 0.1) / r + 1e-9)
    assert found[-1][0] == "accumulation"
    assert found[-1][1] == pytest.approx(3.0 * first, rel=(way**2 / 0.01 + 0.1) / r + 1e-4)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e3, 1e6])
@pytest.mark.parametrize(("x", "angle"), [(0.0, 0.0), (1e3, 3.0)])
def test_turns_are_small_beside_large_lengths(unit, x, angle):
    """A spinning rectangle above a floor, in units in which its angle is a tiny or a huge number; dense search."""
    corners = {f"c{a}{b}": (0.3 * a, 0.2 * b) for a in (-1, 1) for b in (-1, 1)}

    def corner(a, b):
        return lambda q, p, th: q[1] + unit * (a * jnp.sin(q[2]) + b * jnp.cos(q[2]))

    system = System(
        coordinates=("x", "y", "a"), energy=lambda q, p, th: G * unit * q[1],
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, 0.04 * unit**2])),
        unilateral={name: corner(*place) for name, place in corners.items()},
        contacts={name: Contact(restitution=0.4) for name in corners},
    )  # fmt: skip
    h, spin = 2.3, 70.0

    def lowest(t):
        return h - 0.5 * G * t**2 - 0.3 * abs(np.sin(angle + spin * t)) - 0.2 * abs(np.cos(angle + spin * t))

    grid = np.linspace(0.0, np.sqrt(2.0 * h / G), 20_001)
    k = next(i for i, t in enumerate(grid) if lowest(t) < 0.0)
    truth = brentq(lowest, grid[k - 1], grid[k], xtol=1e-14)
    start = [x * unit, h * unit, angle], [unit, 0.0, spin], (0.0, truth + 1e-3)
    motion = simulate(system, *start, method=EVENTS)
    assert motion.events[0].t == pytest.approx(truth, abs=1e-9)


def test_a_bowl_of_a_kink_is_not_noise():
    """A gap with a kink just at the start keeps its small numbers: a drop of a micrometre takes its time."""
    system = System(
        coordinates=("x", "y"), energy=lambda q, p, th: G * q[1], mass=lambda q, th: jnp.eye(2),
        unilateral={"valley": lambda q, p, th: jnp.minimum(q[1] + 0.3 * q[0], q[1] - 0.3 * q[0]) / jnp.sqrt(1.09)},
        contacts={"valley": Contact(restitution=0.5)},
    )  # fmt: skip
    motion = simulate(system, [0.0, 1e-6], [0.0, 0.0], (0.0, 1.2 * np.sqrt(2e-6 / G)), method=EventDriven())
    assert motion.events[0].t == pytest.approx(np.sqrt(2e-6 / G), rel=1e-8)


@cache
def rough_disc(friction):
    """A particle on a disc whose top is the origin."""

    def slip(q, v, th):
        return jnp.array([((q[1] + th.r) * v[0] - q[0] * v[1]) / jnp.sqrt(q[0] ** 2 + (q[1] + th.r) ** 2)])

    return System(
        coordinates=("x", "y"), energy=lambda q, p, th: G * q[1],
        unilateral={"disc": lambda q, p, th: jnp.sqrt(q[0] ** 2 + (q[1] + th.r) ** 2) - th.r},
        mass=lambda q, th: jnp.eye(2), parameters={"r": 1.0},
        contacts={"disc": Contact(friction=friction, slip=slip if friction else None)},
    )  # fmt: skip


@pytest.mark.parametrize("method", [EventDriven(), Moreau(step=2e-3)])
@pytest.mark.parametrize("friction", [0.0, 0.2])
def test_discs_however_large_are_slid_on(friction, method):
    """Gaps of discs of 10⁶ m are known to 10⁻¹⁰ m: motion on them is none the worse. Truth: the angle on the disc."""
    for r in (1e2, 1e5, 1e6, 1e7):
        for x, speed in ((0.3, 0.0), (0.0, 1.0), (1.0, -2.0)):
            angle = np.arcsin(x / r)

            def rates(t, y, r=r):
                push = friction * (9.81 * np.cos(y[0]) - r * y[1] ** 2) * np.sign(y[1])
                return [y[1], (9.81 * np.sin(y[0]) - push) / r]

            end = angle if friction and not speed else solve_ivp(
                rates, (0.0, 0.4), [angle, speed / r], method="DOP853", rtol=1e-12, atol=1e-18).y[0, -1]  # fmt: skip
            place = [x, -2.0 * r * np.sin(angle / 2.0) ** 2]
            motion = simulate(rough_disc(friction).replace(parameters={"r": r}), place,
                              [speed * np.cos(angle), -speed * x / r], (0.0, 0.4), method=method)  # fmt: skip
            truth = [r * np.sin(end), -2.0 * r * np.sin(end / 2.0) ** 2]
            assert motion.q[-1] == pytest.approx(truth, abs=1e-8 if isinstance(method, EventDriven) else 1e-6)


HEIGHTS = np.random.default_rng(3).uniform(1e-4, 1e-3, 4)


@pytest.mark.parametrize(
    ("e", "heights"), [(0.5, HEIGHTS), (0.9, HEIGHTS[:1]), pytest.param(0.9, HEIGHTS[1:], marks=pytest.mark.slow)]
)
def test_a_ball_comes_to_rest_and_is_lifted_late_in_time(e, heights):
    """At t = 10⁶ hops of 10⁻⁸ s are some spacings of time; none may get lost, however small."""
    system = System(
        coordinates=("z",), energy=lambda q, p, th: (9.81 - th.f * jnp.maximum(p - th.begin, 0.0) ** 2) * q[0],
        unilateral={"floor": lambda q, p, th: q[0]}, mass=lambda q, th: jnp.eye(1),
        parameters={"f": 3.0, "begin": 1.0}, contacts={"floor": Contact(restitution=e)},
    )  # fmt: skip
    for h in heights:
        begin = np.sqrt(2.0 * h / 9.81) * (1.0 + e) / (1.0 - e) + 0.1
        lifts, f = begin + np.sqrt(9.81 / 3.0), 3.0
        for shift in (0.0, 1e6):
            motion = simulate(system.replace(parameters={"f": f, "begin": float(begin)}), [h], [0.0],
                              (shift, shift + lifts + 0.5), control=lambda t, shift=shift: t - shift,
                              method=EventDriven())  # fmt: skip
            height = f * (np.sqrt(9.81 / f) * 0.5**3 / 3.0 + 0.5**4 / 12.0)
            (event,) = [event for event in motion.events if event.kind.name == "opens"]
            assert event.t - shift == pytest.approx(lifts, abs=1e-8)
            assert motion.q[-1, 0] == pytest.approx(height, abs=1e-7)


SPIN, PUSH, SHAKE, REACH = 50.0, 3.0, 28.0, 0.3  # of the rod, per unit of length


@cache
def pushed_rod():
    """A rod that spins while a force shakes it, before a wall; its length and all others in a unit L."""

    def gap(q, p, th):
        return th.L * (th.X + 1.0 + p) - q[0] - th.L * REACH * jnp.abs(jnp.cos(q[1]))

    return System(
        coordinates=("x", "a"), energy=lambda q, p, th: 0.0 * q[0], unilateral={"wall": gap},
        mass=lambda q, th: jnp.diag(jnp.stack([1.0 + 0.0 * th.L, th.L**2 * REACH**2 / 3.0])),
        force=lambda t, q, v, p, th: jnp.stack([th.L * PUSH * jnp.cos(SHAKE * t), 0.0 * t]),
        parameters={"L": 1.0, "X": 0.0},
    )  # fmt: skip


def rod_meets_wall(control):
    """The first zero of the gap: x(t) by integration by hand."""
    t = np.linspace(0.0, 3.0, 300_001)

    def gap(t):
        x = 0.4 * t + PUSH / SHAKE**2 * (1.0 - np.cos(SHAKE * t))
        return 1.0 + control * np.sin(5.0 * t) - x - REACH * np.abs(np.cos(0.2 + SPIN * t))

    k = int(np.flatnonzero(gap(t) < 0.0)[0])
    return brentq(gap, t[k - 1], t[k], xtol=1e-14)


@pytest.mark.parametrize(("L", "X", "control"), [(1e-6, 0.0, 0.0), (1.0, 0.0, 0.1), (1e6, 0.0, 0.1), (1.0, 1e6, 0.1)])
@pytest.mark.parametrize("first", [64, 0], ids=["step by step", "compiled"])
def test_what_turns_fast_moves_as_well_in_any_unit_and_place(L, X, control, first, monkeypatch):
    """Errors of places were compared with angles, and with the distance of the origin."""
    monkeypatch.setattr(flights, "FIRST", first)
    system = pushed_rod().replace(parameters={"L": L, "X": X}, scales=Scales(unit=(L, 1.0)))
    motion = simulate(
        system, [X * L, 0.2], [0.4 * L, SPIN], (0.0, 3.0), method=EVENTS,
        control=lambda t: control * jnp.sin(5.0 * t),
    )  # fmt: skip
    assert motion.events[0].t == pytest.approx(rod_meets_wall(control), abs=1e-8)
