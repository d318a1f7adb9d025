"""Kinks of p alone, `max`, `min`, `abs` in loadings: paths in exact pieces with an event at every kink, or refused."""

from itertools import pairwise

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onesided
from onesided.base.errors import UsageError
from onesided.elements import Bar, Force, Gap, Node
from onesided.formulas.control_kinks import control_kinks
from onesided.formulas.formula import FormulaError, parse

KX, KY = 2.0, 3.0


@pytest.fixture(scope="module")
def system():
    """A node on two guided springs: first it is pulled along x up to p = c, then along y, where a stop waits at w."""
    return onesided.compose(
        Node("a", (-1.0, 0.0), fixed=True), Node("x", (0.0, 0.0), fixed="y"), Bar("r", ("a", "x"), stiffness=KX),
        Node("b", (5.0, -1.0), fixed=True), Node("y", (5.0, 0.0), fixed="x"), Bar("s", ("b", "y"), stiffness=KY),
        Force("first", "x", ("min(p, c)", 0.0), constant=True),
        Force("second", "y", (0.0, "max(p - c, 0)"), constant=True), Gap("stop", "w - y_y"),
        parameters={"c": 1.0, "w": 0.5},
    )  # fmt: skip


def exact(p, c=1.0, w=0.5):
    return np.stack([np.minimum(p, c) / KX, np.minimum(np.maximum(p - c, 0.0) / KY, w)], axis=-1)


def told(path):
    return [(event.kind.name, round(event.p, 10)) for event in path.events]


@pytest.mark.parametrize("c", [1.0, 0.3])
def test_one_load_case_after_the_other(system, c):
    path = onesided.trace(system.replace(parameters={"c": c}), p_bounds=(0.0, 4.0))
    assert path.ok
    assert told(path) == [("kink", c), ("closes", c + 1.5), ("bound", 4.0)]
    np.testing.assert_allclose(path.q, exact(path.p, c), atol=1e-10)


def test_there_and_back_from_bounds_and_starts_at_the_kink(system):
    run = onesided.drive(system, programme=[0.0, 4.0, 1.0, 0.5, 2.0])
    assert run.ok
    for path in run.paths:
        np.testing.assert_allclose(path.q, exact(path.p), atol=1e-10)
    up, down = (onesided.trace(system, [0.5, 0.0], 1.0, p_bounds=(0.0, 1.5), direction=sense) for sense in (1, -1))
    assert (told(up), told(down)) == ([("bound", 1.5)], [("bound", 0.0)])
    event = onesided.trace(system, p_bounds=(0.0, 4.0)).events[0]
    assert event.p == 1.0
    assert [float(onesided.branch(event, k).p[-1]) for k in (0, 1)] == [0.0, 4.0]
    assert onesided.diagram(system, p_bounds=(0.0, 4.0)).complete
    with pytest.raises(UsageError, match="two sides"):
        onesided.rays(system, event.q, 1.0)
    with pytest.raises(UsageError, match="no derivative of its own"):
        onesided.sensitivity(event)


def test_many_paths_see_the_kink(system):
    found = onesided.trace_many(system, {"c": [0.5, 1.0]}, p_bounds=(0.0, 4.0))
    assert sorted(found.p[found.kind == "closes"]) == pytest.approx([2.0, 2.5], abs=1e-10)


@pytest.mark.parametrize("unit", [1e-6, 1e5])
def test_units_of_p_change_nothing(unit):
    """A toggle loaded up and down, 1 − |p − 1|: a limit point if the load is enough, a kink if not."""
    text = (
        'energy = "(hypot(1, y) - hypot(1, 0.5))**2/2 + load*y"\ncoordinates = {{y = 0.5}}\nparameters = {{f = {f}}}\n'
        'define = {{load = "f*(1 - abs(p/{unit} - 1))"}}\ncontrol = {{range = [0, {end}]}}\n'
    )
    enough, little = (onesided.loads(text.format(f=f, unit=unit, end=2 * unit)) for f in (0.03, 0.02))
    limit = onesided.trace(enough).events[0]
    assert (limit.kind.name, limit.p / unit) == ("limit", pytest.approx(0.02145716287 / 0.03, rel=1e-8))
    path = onesided.trace(little)
    assert [event.kind.name for event in path.events] == ["kink", "bound"]
    assert path.events[0].p == pytest.approx(unit, rel=1e-15)
    assert path["y"][-1] == pytest.approx(0.5, abs=1e-10)
    jumps = onesided.drive(enough, [0.0, 2 * unit]).jumps
    assert [jump.p / unit for jump in jumps] == pytest.approx([limit.p / unit])


PIECES = st.recursive(
    st.sampled_from(["p", "c", "2"]) | st.floats(-3, 3).map(lambda x: f"({x:.2f})"),
    lambda inner: st.tuples(st.sampled_from(["max({}, {})", "min({}, {})", "({} + {})", "({} - 2*{})", "abs({} + {})"]),
                            inner, inner).map(lambda made: made[0].format(*made[1:])),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(PIECES)
def test_between_the_kinks_a_formula_is_straight(text):
    formula = parse(text)
    kinks = control_kinks([formula], "p", {"c": 1.3})
    ends = (-100.0, *kinks, 100.0)
    for low, high in pairwise(ends):
        p = low + (high - low) * np.linspace(0.01, 0.99, 7)
        values = [formula.evaluate({"p": float(one), "c": 1.3}) for one in p]
        assert np.abs(np.diff(values, 2)).max() < 1e-8


def test_kinks_of_definitions_that_move_are_written_out():
    """Two definitions in a row: x²/2 + k/2 d², d = max(x − c, 0), and a gap that is the smaller of two."""
    text = (
        'energy = "x**2/2 + stored - p*x"\ncoordinates = {x = 0.0}\ncontrol = {range = [0, 9]}\n'
        "parameters = {k = 3.0}\n"
        'unilateral = {end = "room"}\nmeasures = {over = "d"}\n'
        '[define]\nd = "max(x - 1, 0)"\nstored = "k/2*d**2"\nroom = "min(2.5 - x, 5 - 2.5*x)"\n'
    )
    path = onesided.trace(onesided.loads(text))
    np.testing.assert_allclose(path["x"], np.minimum(np.where(path.p < 1, path.p, (path.p + 3) / 4), 2.0), atol=1e-9)
    np.testing.assert_allclose(path["over"], np.maximum(path["x"] - 1.0, 0.0), atol=1e-12)
    assert told(path) == [("closes", 1.0), ("closes", 5.0), ("bound", 9.0)]


@pytest.mark.parametrize(
    ("text", "told"),
    [("max(sin(p), 0)*x", "not linear in the control"), ("abs(p*p - 1)*x", "not linear"),
     ("+".join(f"abs(p - {i})*x" for i in range(70)), "more than 64 kinks")],
)  # fmt: skip
def test_kinks_whose_places_are_not_known_are_refused(text, told):
    with pytest.raises(FormulaError, match=told):
        control_kinks([parse(text)], "p", {})


def test_a_path_is_refused_where_the_places_of_kinks_are_not_known():
    model = onesided.loads('energy = "x**2/2 - max(sin(p), 0)*x"\ncoordinates = {x = 0}\ncontrol = {range = [0, 1]}')
    assert onesided.solve(model, p=0.5).value.q[0] == pytest.approx(np.sin(0.5), abs=1e-12)
    with pytest.raises(FormulaError, match="not linear"):
        onesided.trace(model)


def test_smallest_of_something_with_a_kink_is_refused():
    text = 'energy = "x**2"\ncoordinates = {x = 1}\ncontrol = {range = [0, 1]}\nsmallest = {a = {of = ["abs(x)", "2"]}}'
    with pytest.raises(FormulaError, match="has a kink"):
        onesided.loads(text)


@pytest.mark.parametrize("apart", [1e-15, 1.5e-14, 1e-13, 1.2e-13, 1e-12, 1e-11, 1e-9])
@pytest.mark.parametrize("way", [1, -1])
def test_kinks_however_close_are_passed(apart, way):
    """x = p + |p − 1|/2 + |p − 1 − d|/3: those closer than rounding allows are one."""

    def pull(p):
        return p + jnp.abs(p - 1.0) / 2 + jnp.abs(p - 1.0 - apart) / 3

    system = onesided.System(("x",), lambda q, p, th: q[0] ** 2 / 2 - q[0] * pull(p), kinks=(1.0, 1.0 + apart))
    start = 1.0 - way
    path = onesided.trace(system, [float(pull(start))], start, direction=way, p_bounds=(-1, 3))
    assert {event.kind.name for event in path.events} == {"kink", "bound"} and len(path.events) in {2, 3}
    np.testing.assert_allclose(path.q[:, 0], pull(path.p), atol=1e-9)


def test_a_fold_at_a_kink_says_that_branches_may_be_missing():
    """x² = |p − 1|: four branches leave the kink; those beyond it are not followed, which is said."""
    system = onesided.System(
        ("x",),
        lambda q, p, th: (jnp.maximum(p - 1.0, 0.0) - jnp.minimum(p - 1.0, 0.0)) * q[0] - q[0] ** 3 / 3,
        kinks=(1.0,),
    )
    path = onesided.trace(system, [0.5], 0.75, p_bounds=(-2, 3))
    assert not path.events[0].rays.complete and "kink" in path.events[0].words()
