"""Where systems land when stability is lost: against roots of polynomials, fine gradient flows, and closed forms."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.polynomial import Polynomial

import onesided
from onesided import Kind, Relaxation, Status, System

DEGREE = 8
THREE_FOLDS = (105, 375)  # seeds of histories with folds at p that differ by 1e-8 of its range


@cache
def polynomial_system():
    """U = Σ a_i x^(i+1) − p x between two stops; coefficients are parameters."""

    def energy(q, p, th):
        value = 0.0
        for i in reversed(range(DEGREE)):
            value = value * q[0] + th[f"a{i}"]
        return value * q[0] - p * q[0]

    stops = {"low": lambda q, p, th: q[0] - th.low, "high": lambda q, p, th: th.high - q[0]}
    names = {**{f"a{i}": 0.0 for i in range(DEGREE)}, "low": -5.0, "high": 5.0}
    return System(("x",), energy, unilateral=stops, parameters={**names, "a1": 1.0})


def random_force(rng):
    """V′ of degree seven with six extrema."""
    curvature = Polynomial.fromroots(np.sort(rng.uniform(-2.0, 2.0, DEGREE - 2)))
    slope = curvature.integ()
    spread = np.ptp(slope(np.linspace(-2, 2, 200)))
    return (slope - slope(rng.uniform(-2, 2))) * (2.0 / spread) * 10.0 ** rng.uniform(-2, 2)


class UndecidedError(Exception):
    """A history so close to a coincidence that round-off decides it."""


def real_roots(poly, low, high):
    roots = poly.roots()
    near = roots[np.abs(roots.imag) < 1e-4 * (1 + np.abs(roots.real))]
    if np.any(np.abs(near.imag) > 1e-7):
        raise UndecidedError
    return np.sort(near.real[(near.real > low) & (near.real < high)])


def upward(force, low, high, x, p, target):
    """Jumps (p, x from, x to) while p grows, and the last x, for V′ = force with stops; exact by roots."""
    jumps, bend = [], force.deriv()
    while True:
        stuck = x <= low and p < force(low)
        if stuck and target < force(low):
            return jumps, low
        p = force(low) if stuck else p
        if abs(bend(x)) < 1e-3 * abs(bend.coef).max() and not stuck and jumps:
            raise UndecidedError
        if not stuck or bend(low) > 0:
            if x >= high and p >= force(high):
                return jumps, high
            folds = [c for c in real_roots(bend, x, high) if bend.deriv()(c) < 0]
            end = folds[0] if folds else high
            if target <= force(end):
                inside = real_roots(force - target, x - 1e-9, end + 1e-9)
                return jumps, inside[-1] if len(inside) else end
            if not folds:
                return jumps, high
            x, p = end, force(end)
        if target < p:
            return jumps, x
        beyond = [r for r in real_roots(force - p, x + 1e-4, high) if bend(r) > 0]
        land = beyond[0] if beyond else high
        if land - x < 0.05 or (beyond and bend(land) < 1e-2 * abs(bend.coef).max()):
            raise UndecidedError
        jumps.append((p, x, land))
        x = land


def oracle(force, low, high, x, programme):
    jumps, mirrored = [], Polynomial(-force.coef * (-1.0) ** np.arange(len(force.coef)))
    for p, target in pairwise(programme):
        if target > p:
            found, x = upward(force, low, high, x, p, target)
        else:
            found, back = upward(mirrored, -high, -low, -x, -p, -target)
            found, x = [(-a, -b, -c) for a, b, c in found], -back
        jumps += found
    return jumps, x


def random_history(rng):
    """A system, a start, a programme, and what must come out."""
    while True:
        force, low, high = random_force(rng), rng.uniform(-3, -1), rng.uniform(1, 3)
        x = rng.uniform(low, high)
        size = np.ptp(force(np.linspace(low, high, 200)))
        if force.deriv()(x) < 0.05 * size:
            continue
        p = force(x)
        programme = (p, p + rng.uniform(0.2, 1.5) * size, p - rng.uniform(0.2, 1.5) * size, p)
        programme = programme if rng.uniform() < 0.5 else (p, *(2 * p - v for v in programme[1:]))
        try:
            jumps, end = oracle(force, low, high, x, programme)
        except UndecidedError:
            continue
        values = {f"a{i}": c for i, c in enumerate(force.integ().coef[1:])} | {"low": low, "high": high}
        return polynomial_system().replace(parameters=values), x, programme, (jumps, end)


def check_history(seed, **options):
    system, x, programme, (jumps, end) = random_history(np.random.default_rng(seed))
    got = onesided.drive(system, [x], programme, throw=False, **options)
    assert got.ok, (seed, got.note)
    told = [(jump.p, jump.q_from[0], jump.q_to[0]) for jump in got.jumps]
    assert len(told) == len(jumps), (seed, told, jumps)
    size = abs(max(programme) - min(programme))
    for mine, exact in zip(told, jumps, strict=True):
        assert abs(mine[0] - exact[0]) < 1e-7 * size, (seed, mine, exact)
        assert abs(mine[1] - exact[1]) < 1e-4, (seed, mine, exact)
        assert abs(mine[2] - exact[2]) < 1e-5, (seed, mine, exact)
    assert abs(got.q[-1, 0] - end) < 1e-6
    change = got.energy[-1] - got.energy[0]
    assert got.work - got.dissipated == pytest.approx(change, abs=1e-9 * size)
    assert all(jump.energy > 0 for jump in got.jumps)


@pytest.mark.parametrize("seed", range(12))
def test_one_coordinate_lands_on_the_next_root_or_stop(seed):
    check_history(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_one_coordinate_lands_on_the_next_root_or_stop_often(block):
    for seed in range(100 + 40 * block, 140 + 40 * block):
        check_history(seed)


@pytest.mark.parametrize("seed", THREE_FOLDS)
def test_three_folds_of_one_step_are_all_seen(seed):
    """Slopes of p at both ends of the step tell of one: the path went over the first two."""
    check_history(seed)


WAVES = 5


@cache
def egg_box():
    """Plane waves on a bowl, pulled by p, between two stops: many wells, folds in all directions."""

    def energy(q, p, th):
        value = 0.5 * th.bowl * (q[0] ** 2 + q[1] ** 2) - p * (th.u * q[0] + th.v * q[1])
        for i in range(WAVES):
            value += th[f"h{i}"] * jnp.cos(th[f"k{i}"] * q[0] + th[f"l{i}"] * q[1] + th[f"f{i}"])
        return value

    names = [f"{letter}{i}" for letter in "hklf" for i in range(WAVES)] + ["bowl", "u", "v", "left", "top"]
    stops = {"left": lambda q, p, th: q[0] - th.left, "top": lambda q, p, th: th.top - q[1]}
    return System(("x", "y"), energy, unilateral=stops, parameters=dict.fromkeys(names, 0.5))


def random_egg_box(seed):
    rng = np.random.default_rng(seed)
    values = {f"h{i}": rng.uniform(0.2, 1.0) for i in range(WAVES)} | {"bowl": 0.3}
    for i, turn in enumerate(rng.uniform(0, 2 * np.pi, WAVES)):
        size = rng.uniform(1.0, 2.5)
        values |= {f"k{i}": size * np.cos(turn), f"l{i}": size * np.sin(turn), f"f{i}": rng.uniform(0, 6)}
    turn = rng.uniform(0, 2 * np.pi)
    return values | {"u": np.cos(turn), "v": np.sin(turn), "left": rng.uniform(-3, -1), "top": rng.uniform(1, 3)}


def flow(v, q, p, length, kick):
    """Projected steepest descent in z = q / length, by small steps: first with p a little further, then at p."""
    K = np.array([[v[f"k{i}"], v[f"l{i}"]] for i in range(WAVES)])
    heights, phases = (np.array([v[f"{letter}{i}"] for i in range(WAVES)]) for letter in "hf")
    rate, pull = 0.02 * length**2 / np.mean(length**2), np.array([v["u"], v["v"]])
    for load in (p + kick, p):
        for _ in range(4000):
            q = q - rate * (v["bowl"] * q - load * pull - (heights * np.sin(K @ q + phases)) @ K)
            q = np.array([max(q[0], v["left"]), min(q[1], v["top"])])
    return q


def egg_box_jumps(seed, fall):
    """Landings of a drive and of the flow; None where the flow itself is undecided."""
    values = random_egg_box(seed)
    system = egg_box().replace(parameters=values)
    got = onesided.drive(system, [0.1, 0.1], (0.0, 3.0, -3.0), throw=False, fall=fall)
    assert got.ok or got.status is not Status.stalled, (seed, got.note)
    length = np.array(got.provenance["sizes"]["length"])
    pairs = []
    for path, jump in zip((got.paths[i] for i, _ in got.jump_places()), got.jumps, strict=False):
        sense = np.sign(path.p[-1] - path.p[0]) or 1.0
        landings = [flow(values, jump.q_from, jump.p, length, sense * kick) for kick in (0.02, 0.005)]
        if np.allclose(*landings, atol=1e-3):
            pairs.append((jump.q_to, landings[1], jump))
    return pairs


@pytest.mark.parametrize("seed", range(3))
def test_two_coordinates_land_where_the_overdamped_motion_does(seed):
    for mine, theirs, _ in egg_box_jumps(seed, "damped"):
        assert mine == pytest.approx(theirs, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("fall", ["descent", "damped"])
@pytest.mark.parametrize("block", range(4))
def test_two_coordinates_land_where_the_overdamped_motion_does_often(block, fall):
    for seed in range(100 + 10 * block, 110 + 10 * block):
        for mine, theirs, jump in egg_box_jumps(seed, fall):
            assert mine == pytest.approx(theirs, abs=1e-3), (seed, jump.words())


def single(energy, **unilateral):
    return System(("x",), energy, unilateral=unilateral)


def test_an_energy_without_lower_bound_is_called_so():
    system = single(lambda q, p, th: q[0] ** 2 / 2 - q[0] ** 4 / 4 - p * q[0])
    got = onesided.drive(system, [0.0], (0.0, 1.0), throw=False)
    assert got.status is Status.unbounded
    assert "no stable state in reach" in got.note
    assert "without bound" in got.status.value, "what to do is said by the status"
    assert "stop" in got.status.value
    assert got.p[-1] == pytest.approx(2 / (3 * np.sqrt(3)), abs=1e-9)
    stopped = single(lambda q, p, th: q[0] ** 2 / 2 - q[0] ** 4 / 4 - p * q[0], stop=lambda q, p, th: 2.0 - q[0])
    (jump,) = onesided.drive(stopped, [0.0], (0.0, 1.0)).jumps
    assert jump.q_to[0] == pytest.approx(2.0, abs=1e-12)


def test_a_symmetric_loss_says_that_either_side_is_as_good():
    """U = (1 − p) q²/2 − q⁴/4 + q⁶/6: at p = 1 both q = ±1 are reached alike."""
    system = single(lambda q, p, th: (1 - p) * q[0] ** 2 / 2 - q[0] ** 4 / 4 + q[0] ** 6 / 6)
    first = onesided.drive(system, [0.0], (0.0, 1.5)).jumps[0]
    assert (first.p, abs(first.q_to[0])) == pytest.approx((1.0, 1.0), abs=1e-9)
    assert first.energy == pytest.approx(1 / 12, abs=1e-9)
    assert "either side" in first.note
    assert "either side" in first.words()


def test_a_saddle_point_on_the_way_is_left():
    """Along y = 0 the fall from the fold at x = −1 ends at x = 2, where y² (1 − x) + y⁴/4 makes y = ±√2 lower."""

    def energy(q, p, th):
        x, y = q
        return x**4 / 12 - x**2 / 2 - p * x + y**2 * (1 - x) + y**4 / 4

    system = System(("x", "y"), energy)
    p = 2 / 3
    got = onesided.drive(system, [-2.0, 0.0], ((-2.0) ** 3 / 3 + 2.0, p + 0.01), throw=False)
    assert got.ok, got.note
    x, y = got.jumps[0].q_to
    assert abs(x**3 / 3 - x - p - y**2) < 1e-8
    assert abs(y**2 - 2 * (x - 1)) < 1e-8
    assert abs(y) > 1
    assert "either side" in got.jumps[0].note


def test_relaxation_takes_no_energy_for_lower_than_it_is():
    """A shallow well next to a deep one: the slow fall ends in the first."""
    system = single(lambda q, p, th: q[0] ** 2 / 8 + 0.5 * jnp.cos(3 * q[0]) - p * q[0])
    for knobs in (Relaxation(), Relaxation(damped=True)):
        found = onesided.solve(system, [3.4], p=0.0, method=knobs).value
        roots = np.linspace(0, 4, 400001)
        slope = roots / 4 - 1.5 * np.sin(3 * roots)
        wells = roots[1:][(slope[:-1] < 0) & (slope[1:] >= 0)]
        tops = roots[1:][(slope[:-1] > 0) & (slope[1:] <= 0)]
        below = max(w for w in wells if w < max(t for t in tops if t < 3.4) or w < 3.4)
        assert found.q[0] == pytest.approx(below, abs=1e-4)


def test_an_unstable_start_falls_before_the_history_begins():
    system = single(lambda q, p, th: q[0] ** 4 / 4 - q[0] ** 2 / 2 - p * q[0])
    got = onesided.drive(system, [0.0], (0.0, 0.1))
    assert got.jumps == ()
    assert got.q[0, 0] == pytest.approx(1.0, abs=1e-9)


def test_sensitive_landings_are_told(monkeypatch):
    from onesided.statics.equilibria import falls

    system, task = onesided.zoo.load("von-mises")
    plain = onesided.drive(system, task.start, (0, 0.1), fall="both").jumps[0]
    assert plain.note == ""
    honest, seen = falls._fall, []

    def other(lost, knobs):
        landing = honest(lost, knobs)
        seen.append(knobs.damped)
        if knobs.damped:
            return landing
        shifted = replace(landing.state, q=landing.state.q + 1.0)
        return falls.Landing(shifted, "", 0)

    monkeypatch.setattr(falls, "_fall", other)
    jump = onesided.drive(system, task.start, (0, 0.1), fall="both").jumps[0]
    assert sorted(seen[:2]) == [False, True]
    assert "sensitive" in jump.note
    assert jump.q_to == pytest.approx(plain.q_to)


def contact_chain(count, sparse):
    """Bistable units that touch after they snapped, pressed by a force."""
    from onesided.elements import Bar, Force, Node, TravelStop

    parts = [Node("n0", (0, 0), fixed=True)]
    for i in range(1, count + 1):
        ends = (f"n{i - 1}", f"n{i}")
        parts += [
            Node(f"n{i}", (float(i % 2), 0.5 * i), fixed="x"),
            Bar(f"u{i}", ends, stiffness=1 + 0.03 * (i - 1)),
            TravelStop(f"touch{i}", ends, axis=(0, 1), lower=-0.8),
        ]
    return onesided.compose(*parts, Force("load", f"n{count}", (0, -1)), sparse=sparse)


@pytest.mark.slow
def test_chains_that_touch_snap_alike_dense_and_sparse():
    dense, sparse = (contact_chain(4, sparse) for sparse in (False, True))
    a, b = (onesided.drive(system, system.start, (0, 0.1, -0.1, 0)) for system in (dense, sparse))
    assert [jump.p for jump in a.jumps] == pytest.approx([jump.p for jump in b.jumps], rel=1e-9)
    for mine, theirs in zip(a.jumps, b.jumps, strict=True):
        assert mine.q_to == pytest.approx(theirs.q_to, abs=1e-9)
        assert mine.energy == pytest.approx(theirs.energy, rel=1e-8)
    for history in (a, b):
        assert len(history.jumps) == 8
        assert history.work == pytest.approx(history.dissipated, abs=1e-12)
        assert max(history.provenance["factorisations"]) <= 30
    loads = np.array([1.0, 1.03, 1.06, 1.09]) * (np.hypot(1, 0.5) ** (2 / 3) - 1) ** 1.5
    assert [jump.p for jump in a.jumps[:4]] == pytest.approx(loads, rel=1e-9)


@pytest.mark.slow
def test_a_chain_of_ten_that_touch_goes_through_its_loop():
    system = contact_chain(10, sparse=False)
    history = onesided.drive(system, system.start, (0, 0.1, -0.1, 0))
    assert len(history.jumps) == 20
    assert history.work == pytest.approx(history.dissipated, abs=1e-12)


@pytest.mark.slow
def test_a_beam_on_a_wall_falls_to_its_neighbour():
    from onesided.elements import Beam, Force, PlaneContact, divided

    count = 16
    x = np.linspace(0, 0.5, count + 1)
    parts = divided(
        Beam("b", EA=1e4, EI=1.0), np.c_[x, 1e-4 * np.sin(np.pi * x)], fixed={0: "y", count: ("x", "angle")}
    )
    parts += [PlaneContact(f"up{i}", f"b_{i}", normal=(0, -1), through=(0, 0.02)) for i in range(1, count + 1)]
    system = onesided.compose(*parts, Force("load", "b_0", (1, 0)))
    history = onesided.drive(system, system.start, (0, 110, 0))
    out, back = history.jumps
    assert out.reason is Kind.corner_limit
    assert out.energy == pytest.approx(1.8775e-6, rel=1e-3)
    assert history.work == pytest.approx(history.dissipated, rel=1e-6)
    path = onesided.trace(system, system.start, 0.0, p_bounds=(0, 110))
    start = path.q[np.flatnonzero((path.p > out.p) & (path.p < out.p + 5))[-1]]
    assert onesided.solve(system, start=start, p=out.p).value.q == pytest.approx(out.q_to, abs=1e-8)
    assert back.p < out.p
