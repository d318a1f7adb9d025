"""Derivatives of events against closed forms and against events traced again."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import onesided
from onesided import zoo
from onesided.design import forks, spots
from onesided.elements import Bar, Force, Gap, Node


def _limit_load(k, b, h):
    """Two bars under a dead load: p = 2 k b ((l0/b)^(2/3) − 1)^(3/2)."""
    return 2 * k * b * (jnp.cbrt(1 + (h / b) ** 2) - 1) ** 1.5


@pytest.fixture(scope="module")
def truss():
    return zoo.load("von-mises").system


@pytest.fixture(scope="module")
def limit(truss):
    return onesided.trace(truss, max_events=1).events[0]


@pytest.mark.parametrize("model", ["von-mises", "von-mises-truss"])
def test_limit_load_of_two_bars(model):
    """Also of the truss made of parts, whose lengths follow from positions."""
    system = zoo.load(model).system
    found = onesided.sensitivity(onesided.trace(system, max_events=1).events[0])
    exact = jax.grad(_limit_load, (0, 1, 2))(1.0, 1.0, 0.5)
    assert [found[name] for name in ("k", "b", "h")] == pytest.approx([float(value) for value in exact], rel=1e-11)
    assert found.factorisations == 1
    assert found.relative @ np.ones(3) == pytest.approx(2.0, rel=1e-10)  # a force: k b × function of h/b


def _corner():
    """A bar on a stop at height `gap`, pushed off by p: λ = k·gap − p·a vanishes, and the stop moves with `gap`."""
    return onesided.System(
        coordinates=("x",),
        energy=lambda q, p, th: th.k * (q[0] ** 2 / 2 - th.a * q[0] ** 3 / 3) - p * q[0],
        unilateral={"stop": lambda q, p, th: th.gap - q[0]},
        parameters={"k": 2.0, "a": 0.5, "gap": 0.4},
    )


def test_a_contact_closes_where_the_force_at_the_gap_says():
    """x = gap at p = k (gap − a gap²)."""
    path = onesided.trace(_corner(), [0.0], 0.0, p_bounds=(-1.0, 2.0))
    found = onesided.sensitivity(path.events[0])
    assert path.events[0].kind is onesided.Kind.closes
    assert [found[name] for name in ("k", "a", "gap")] == pytest.approx([0.4 - 0.08, -0.32, 2 * (1 - 0.4)], rel=1e-12)
    assert found.q_rate[:, 0] == pytest.approx([0.0, 0.0, 1.0], abs=1e-14)
    assert found.energy_rate == pytest.approx(_closing_energy(), rel=1e-11)


def _closing_energy():
    def energy(k, a, g):
        return k * (g**2 / 2 - a * g**3 / 3) - k * (g - a * g**2) * g

    return [float(value) for value in jax.grad(energy, (0, 1, 2))(2.0, 0.5, 0.4)]


def test_a_bound_does_not_move_but_what_is_there_does():
    path = onesided.trace(_corner(), [0.0], 0.0, p_bounds=(-1.0, 2.0))
    found = onesided.sensitivity(path.events[-1])
    assert path.events[-1].kind is onesided.Kind.bound
    assert not np.any(found.p_rate)
    assert found.lam_rate[:, 0] == pytest.approx([-(0.4 - 0.08), 0.32, -2 * (1 - 0.4)], rel=1e-12)


def test_user_event():
    """x = 0.2 at p = k (0.2 − 0.04 a)."""
    watched = {"half way": lambda q, p: q[0] - 0.2}
    path = onesided.trace(_corner(), [0.0], 0.0, p_bounds=(-1.0, 2.0), events=watched)
    found = onesided.sensitivity(path.events[0])
    assert [found[name] for name in ("k", "a", "gap")] == pytest.approx([0.2 - 0.02, -0.08, 0.0], rel=1e-9)


def _traced_again(system, number, name):
    """Derivatives of an event by extrapolated differences of paths traced again."""
    value = system.parameters[name]

    def at(change):
        event = onesided.trace(
            system.replace(parameters={name: value + change}), max_events=number + 1, throw=False
        ).events[number]
        return np.concatenate([[event.p], event.q, event.lam])

    return _extrapolated(at, 0.02 * abs(value))


@pytest.mark.parametrize(("model", "number"), [("von-mises-floor", 1), ("two-bar-roller", 0)])
def test_the_same_as_tracing_again(model, number):
    system = zoo.load(model).system
    found = onesided.sensitivity(onesided.trace(system, max_events=number + 1, throw=False).events[number])
    for i, name in enumerate(system.parameters):
        again = _traced_again(system, number, name)
        own = np.concatenate([[found.p_rate[i]], found.q_rate[i], found.lam_rate[i]])
        assert own == pytest.approx(again, rel=1e-8, abs=1e-10 * np.max(np.abs(again)))


@pytest.fixture(scope="module")
def column():
    """A rigid column with a cubic spring and a side load eps: a perfect fork at p = c for eps = 0."""
    return onesided.System(
        coordinates=("a",),
        energy=lambda q, p, th: (
            th.c * q[0] ** 2 / 2 - p * (1 - jnp.cos(q[0])) + th.skew * q[0] ** 3 / 3 + th.eps * q[0]
        ),
        parameters={"c": 1.0, "skew": 0.0, "eps": 0.0},
    )


def _fork(system):
    return next(
        event
        for event in onesided.trace(system, [0.0], 0.0, p_bounds=(0.0, 2.0)).events
        if event.kind is onesided.Kind.smooth_bifurcation
    )


def test_a_side_load_breaks_a_symmetric_fork_by_the_power_two_thirds(column):
    """−δ a + a³/6 + eps = 0 and −δ + a²/2 = 0 give δ = (9/8)^(1/3) eps^(2/3) [KO]."""
    found = onesided.sensitivity(_fork(column))
    assert found["c"] == pytest.approx(1.0, rel=1e-9)
    assert np.isnan(found["eps"])
    assert found.exponent[2] == pytest.approx(2 / 3)
    assert found.coefficient[2] == pytest.approx((9 / 8) ** (1 / 3), rel=1e-9)
    assert "no derivative" in found.notes["eps"]


def test_a_side_load_breaks_an_asymmetric_fork_by_the_square_root(column):
    """−δ a + s a² + eps = 0 and −δ + 2 s a = 0 give δ² = 4 s eps."""
    found = onesided.sensitivity(_fork(column.replace(parameters={"skew": 0.3})))
    assert found.exponent[2] == pytest.approx(0.5)
    assert found.coefficient[2] == pytest.approx(np.sqrt(4 * 0.3), rel=1e-8)
    assert found.side[2] == 1.0


def test_energy_of_jumps_and_area_of_the_loop(truss, tmp_path):
    history = onesided.drive(truss, programme=[0.0, 0.1, -0.1, 0.0])
    found = onesided.sensitivity(history)
    assert len(found.jumps) == 2
    assert found["k"] == pytest.approx(history.dissipated, rel=1e-9)  # energies are proportional to k
    again = onesided.load_result(onesided.save(found, tmp_path / "rates"))
    assert str(again) == str(found)
    assert np.array_equal(again.landings, found.landings)
    assert np.array_equal(again.landings_below, found.landings)  # no contact: both sides are one

    def dissipated(change):
        other = truss.replace(parameters={"h": 0.5 + change})
        return np.array([onesided.drive(other, programme=[0.0, 0.1, -0.1, 0.0]).dissipated])

    assert found["h"] == pytest.approx(float(_extrapolated(dissipated, 0.01)[0]), rel=1e-8)


def test_the_value_of_an_event_is_differentiable(truss, limit):
    def load(values):
        return onesided.event_value(truss, limit, dict(zip(("k", "b", "h"), values, strict=True)))

    point = jnp.array([1.2, 0.9, 0.6])
    assert float(load(point)) == pytest.approx(float(_limit_load(*point)), rel=1e-11)
    assert float(load([1e6, 1.0, 0.5])) == pytest.approx(1e6 * float(load([1.0, 1.0, 0.5])), rel=1e-9)
    exact = jax.grad(lambda v: _limit_load(*v))(point)
    assert np.asarray(jax.grad(load)(point)) == pytest.approx(np.asarray(exact), rel=1e-9)
    with pytest.raises(onesided.UsageError, match="second derivatives"):
        jax.grad(jax.grad(lambda g: onesided.event_value(truss, limit, {"h": g})))(0.6)


@pytest.mark.parametrize("h", [0.0, -0.3])
def test_a_limit_point_is_not_carried_through_the_flat_truss(truss, limit, h):
    """At h = 0 both limit points meet at p = 0; beyond it which of them is meant is not known."""
    with pytest.raises(onesided.OnesidedError, match=r"degenerate|another of its kind"):
        onesided.event_value(truss, limit, {"h": h})


def test_a_landing_without_force_on_a_stop_moves_to_one_side_only():
    """x⁴/4 − x²/2 falls from −1/√3 to 2/√3, just where a stop is: it follows the stop down, not up."""
    well = onesided.System(
        coordinates=("x",),
        energy=lambda q, p, th: th.k * (q[0] ** 4 / 4 - q[0] ** 2 / 2) - p * q[0],
        unilateral={"stop": lambda q, p, th: th.w - q[0]},
        parameters={"k": 1.0, "w": 2 / np.sqrt(3)},
    )
    found = onesided.sensitivity(onesided.drive(well, [-1.2], [-1.0, 0.4]))
    assert found.landings[0][:, 0] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert found.landings_below[0][:, 0] == pytest.approx([0.0, 1.0], abs=1e-12)
    assert "landings_below" in found.notes[0]


def test_what_cannot_be_told_is_refused(truss, limit, tmp_path):
    path = onesided.load_result(onesided.save(onesided.trace(truss, max_events=1), tmp_path / "path"))
    with pytest.raises(onesided.UsageError, match="does not know its system"):
        onesided.sensitivity(path.events[0])
    again = onesided.sensitivity(path.events[0], system=truss)
    assert again.p_rate == pytest.approx(onesided.sensitivity(limit).p_rate, rel=1e-10)
    with pytest.raises(onesided.OnesidedError, match="unknown parameter"):
        onesided.event_value(truss, limit, {"hh": 1.0})


@pytest.mark.parametrize("kind", ["limit", "corner_limit", "smooth_bifurcation", "bound"])
def test_one_factorisation_serves_all_parameters(kind, monkeypatch):
    """Counted where matrices are factorised: no more of them for sixty parameters than for two, and two at most."""
    counted = []

    def counting(own):
        def called(*given, **knobs):
            counted.append(own.__name__)
            return own(*given, **knobs)

        return called

    def factorisations(count):
        def energy(q, p, th):
            soft = sum(getattr(th, f"a{i}") for i in range(count)) / count
            return q[0] ** 4 / 4 - soft * q[0] ** 2 / 2 - p * q[0] + (0.9 - 0.5 * q[0]) * q[1] ** 2 / 2 + q[1] ** 4

        names = [f"a{i}" for i in range(count)]
        gaps = {"stop": lambda q, p, th: 0.4 - q[0]} if kind == "corner_limit" else {}
        fork = {"smooth_bifurcation": {"q0": [1.2, 0.0], "p0": 1.2**3 - 1.2, "direction": 1}}
        ask = fork.get(kind, {"q0": [-1.2, 0.0], "p0": 1.2 - 1.2**3})
        system = onesided.System(("x", "y"), energy, unilateral=gaps, parameters=dict.fromkeys(names, 1.0))
        events = onesided.trace(system, **ask, p_bounds=(-1.0, 9.0)).events
        event = next(one for one in events if one.kind is onesided.Kind[kind])
        counted.clear()
        found = onesided.sensitivity(event)
        assert len(found.p_rate) == count
        return len(counted)

    monkeypatch.setattr(spots, "DenseLU", counting(spots.DenseLU))
    monkeypatch.setattr(forks, "split", counting(forks.split))
    assert factorisations(2) == factorisations(60) <= 2


def test_rounding_is_no_influence():
    """Two reactions of a wedge vanish at once at p = 0, whatever the parameters are."""
    found = onesided.sensitivity(onesided.trace(zoo.load("wedge").system).events[0])
    assert not np.any(found.p_rate)
    assert set(found.notes.values()) == {"no influence"}


def test_units_do_not_matter(truss, limit):
    """Lengths in millimetres: forces of k b do not change their relative rates."""
    big = truss.replace(parameters={"b": 1000.0, "h": 500.0, "k": 1.0e-6})
    event = onesided.trace(big, [500.0], 0.0, p_bounds=(-1.0, 1.0), max_events=1).events[0]
    assert onesided.sensitivity(event).relative == pytest.approx(onesided.sensitivity(limit).relative, rel=1e-10)


def _roof(*, sparse):
    """A shallow truss of two bars above a floor, positions and stiffness as parameters."""
    parts = [
        Node("top", (0.0, "h"), fixed="x"),
        Node("left", ("-b", 0.0), fixed=True),
        Node("right", ("b", 0.0), fixed=True),
        Bar("west", ("left", "top"), stiffness="k"),
        Bar("east", ("right", "top"), stiffness="k"),
        Force("load", "top", (0.0, -1.0)),
        Gap("floor", "top_y - ys"),
    ]
    return onesided.compose(parts, parameters={"k": 1.0, "b": 1.0, "h": 0.5, "ys": 0.2}, sparse=sparse)


@pytest.mark.parametrize("unit", [1e-14, 1e14])
def test_rounding_of_positions_is_none_in_any_unit(unit):
    """The apex is off the middle by sin π: no rate of its own, and the others as in metres."""
    parts = [
        Node("top", ("c", "h"), fixed="x"),
        Node("left", ("-b", 0.0), fixed=True),
        Node("right", ("b", 0.0), fixed=True),
        Bar("west", ("left", "top"), stiffness="k"),
        Bar("east", ("right", "top"), stiffness="k"),
        Force("load", "top", (0.0, -1.0)),
    ]
    numbers = {"k": 1 / unit, "b": unit, "h": unit / 2, "c": unit * np.sin(np.pi)}
    found = onesided.sensitivity(
        onesided.trace(onesided.compose(parts, parameters=numbers), p_bounds=(-1, 1)).events[0]
    )
    exact = jax.grad(_limit_load, (0, 1, 2))(1.0, 1.0, 0.5)
    assert found.p_rate[:3] * [1 / unit, unit, unit] == pytest.approx([float(value) for value in exact], rel=1e-10)


def test_a_formula_at_the_end_of_its_range_has_no_rate():
    parts = [
        Node("top", (0.0, "0.5 + sqrt(h)"), fixed="x"),
        Node("left", (-1.0, 0.0), fixed=True),
        Bar("west", ("left", "top"), stiffness=1.0),
        Force("load", "top", (0.0, -1.0)),
    ]
    limit = onesided.trace(onesided.compose(parts, parameters={"h": 0.0}), p_bounds=(-1, 1), max_events=1).events[0]
    with pytest.raises(onesided.ModelError, match="does not depend smoothly on parameter 'h'"):
        onesided.sensitivity(limit)


@pytest.mark.slow
def test_sparse_structures_as_dense_ones():
    found = []
    for sparse in (False, True):
        events = onesided.trace(_roof(sparse=sparse), p_bounds=(-0.1, 0.1)).events[:2]
        assert [event.kind.name for event in events] == ["limit", "corner_limit"]
        found.append([onesided.sensitivity(event) for event in events])
    exact = jax.grad(_limit_load, (0, 1, 2))(1.0, 1.0, 0.5)
    assert found[1][0].p_rate == pytest.approx([*map(float, exact), 0.0], rel=1e-9, abs=1e-12)
    for dense, large in zip(*found, strict=True):
        assert large.p_rate == pytest.approx(dense.p_rate, rel=1e-9, abs=1e-12)
        assert large.q_rate == pytest.approx(dense.q_rate, rel=1e-9, abs=1e-12)
        assert large.factorisations == 1


@pytest.mark.slow
def test_a_sparse_structure_on_a_stop_at_its_highest_load():
    """No coordinate is free where the floor is met; the limit point itself has a mode that changes its sign."""
    height = np.sqrt(1.25 ** (1 / 3) - 1)
    roof = _roof(sparse=True)
    first = onesided.trace(roof.replace(parameters={"ys": float(height)}), p_bounds=(-0.1, 0.1)).events[0]
    assert first.kind is onesided.Kind.closes
    limit = onesided.trace(roof, p_bounds=(-0.1, 0.1), max_events=1).events[0]
    followed = onesided.follow(limit, "h", (0.45, 0.55))
    assert np.array_equal(followed.degrees, np.tile([0, 1], (len(followed), 1)))


def test_what_is_printed_and_drawn(limit, tmp_path):
    found = onesided.sensitivity(limit)
    assert found.order == ["h", "b", "k"]
    assert str(found).splitlines()[1].startswith("  h: dp/dh = 0.2394698")
    again = onesided.load_result(onesided.save(found, tmp_path / "rates"))
    assert again.p_rate == pytest.approx(found.p_rate)
    assert onesided.plots.write(again, tmp_path / "bars.svg").exists()
    assert "What moves the limit point" in again._repr_html_()


def _extrapolated(function, step, levels=4):
    """Derivative by central differences with four steps, the powers of the step up to h⁶ removed."""
    rows = []
    for level in range(levels):
        h = step / 2**level
        row = [(function(h) - function(-h)) / (2 * h)]
        for power, coarse in enumerate(rows[-1] if rows else (), start=1):
            row.append(row[-1] + (row[-1] - coarse) / (4.0**power - 1.0))
        rows.append(row)
    return rows[-1][-1]


@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 200))])
def test_random_systems_as_traced_again(seed):
    """Polynomial energies with a stop: every event of the path, all parameters."""
    rng = np.random.default_rng(seed)
    values = dict(zip(("a", "b", "c", "d", "gap"), rng.uniform(0.5, 1.5, 5), strict=True))

    def traced(**changed):
        system = _random.replace(parameters={**values, **changed})
        path = onesided.trace(system, [-2.0, 0.0], -6.0, p_bounds=(-6.0, 3.0), max_events=3, throw=False)
        return [event for event in path.events if event.kind is not onesided.Kind.bound]

    events = traced()
    rates = [onesided.sensitivity(event) for event in events]
    for i in rng.choice(len(values), 2, replace=False):
        name, value = list(values.items())[i]

        def at(change, name=name, value=value):
            again = traced(**{name: value + change})
            assert [event.kind for event in again] == [event.kind for event in events]
            return np.array([np.append(event.p, event.q) for event in again]).reshape(len(events), 3)

        own = np.array([np.append(one.p_rate[i], one.q_rate[i]) for one in rates]).reshape(len(events), 3)
        assert own == pytest.approx(_extrapolated(at, 2e-3), rel=1e-8, abs=1e-9)


_random = onesided.System(
    coordinates=("x", "y"),
    energy=lambda q, p, th: (
        th.a * q[0] ** 4 / 4 - th.b * q[0] ** 2 / 2 + th.c * (q[1] - q[0] ** 2 / 4) ** 2 / 2 + th.d * q[1] - p * q[0]
    ),
    unilateral={"stop": lambda q, p, th: th.gap + 0.2 - q[0] - 0.3 * q[1]},
    parameters={"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0, "gap": 1.0},
)


@pytest.mark.parametrize("stiff", [1e2, 1e4, 1e5])
@pytest.mark.parametrize("turned", [0.3, 1.1])
def test_stiff_members_beside_soft_ones_leave_a_limit_point_sharp(stiff, turned):
    """s (u⁴/4 − u²/2) − p u with a stiff spring across u: at u = −1/√3 whatever s is, and p = 2 s / (3 √3)."""
    c, s = np.cos(turned), np.sin(turned)

    def energy(q, p, th):
        u = c * q[0] + s * q[1]
        return th.s * (u**4 / 4 - u**2 / 2) - p * u + stiff * (c * q[1] - s * q[0] - 0.7) ** 2 / 2

    system = onesided.System(("x", "y"), energy, parameters={"s": 1.0})
    start = np.array([-1.2 * c - 0.7 * s, -1.2 * s + 0.7 * c])
    limit = onesided.trace(system, start, 1.2 - 1.2**3, direction=1, max_events=1).events[0]
    found = onesided.sensitivity(limit)
    assert found["s"] == pytest.approx(2 / 27**0.5, rel=1e-12)
    assert np.max(np.abs(found.q_rate)) < 1e-13 * stiff**0.25
    followed = onesided.follow(limit, "s", (0.5, 2.0))
    assert followed.q @ [c, s] == pytest.approx(np.full(len(followed), -(3**-0.5)), abs=1e-13 * stiff**0.25)
