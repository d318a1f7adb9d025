"""Piecewise linear, polynomial and rubber laws and gas springs against closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import onesided
from onesided.base.errors import ModelError
from onesided.elements import Bar, Body, Force, GasSpring, LineLoad, Moment, Node, Spring, TorsionSpring
from onesided.elements.tabulated import TableLaw

TABLE = [[-1.0, -1.0], [0.0, 0.0], [0.5, 2.0], [1.0, 2.5], [1.5, 1.5], [2.5, 4.5]]  # soft, stiff, soft, falling, stiff


@pytest.fixture(scope="module")
def hanger():
    """A spring with a table, pulled by a machine at its end; and a twin in parallel for other laws."""
    return onesided.compose(
        Node("a", (0.0, 0.0), fixed=True),
        Node("b", (2.0, 0.0), fixed="y"),
        Spring("s", ("a", "b"), table=TABLE),
        Force("f", "b", (1.0, 0.0)),
    )


def test_path_follows_the_table_and_passes_its_kinks(hanger):
    """Equilibrium: p = table(e); kinks are events, the falling part lies between two corner limit points."""
    path = onesided.trace(hanger, hanger.start, -0.5, p_bounds=(-1.0, 4.0))
    e = path.q[:, path.coordinates.index("b_x")] - 2.0
    points = np.array(TABLE)
    np.testing.assert_allclose(path.p, np.interp(e, *points.T), atol=1e-9)
    at = [event.q[path.coordinates.index("b_x")] - 2.0 for event in path.events[:-1]]
    np.testing.assert_allclose(at, [0.0, 0.5, 1.0, 1.5], atol=1e-9)
    assert [event.kind.name for event in path.events] == ["closes", "opens", "corner_limit", "corner_limit", "bound"]
    assert "kink 's_kink1' is passed upwards" in path.events[0].words()
    np.testing.assert_allclose(path.members["s.force"], path.p, atol=1e-9)
    degrees = path.instability[(e > 1.05) & (e < 1.45)]
    assert len(degrees)
    assert np.all(degrees == 1)


def test_the_same_in_motion(hanger):
    """Energy of the twin in motion is the integral of the table."""
    from onesided.structures.without_slack import in_motion

    moving = in_motion(hanger)
    assert moving.coordinates == ("b_x",)
    points = np.array(TABLE)
    for e in (-0.4, 0.2, 0.8, 1.2, 2.0):
        fine = np.linspace(0.0, e, 40001)
        exact = np.trapezoid(np.interp(fine, *points.T), fine)
        energies = [moving.residual(np.array([x]), 0.0, np.zeros(0))[0] for x in (2.0 + e, 2.0)]
        assert energies[0] - energies[1] == pytest.approx(exact, abs=1e-7)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.floats(0.1, 2.0), min_size=2, max_size=5),
    st.lists(st.floats(-3.0, 3.0), min_size=6, max_size=6),
    st.floats(-2.0, 8.0),
)
def test_minimum_over_the_kinks_is_the_integral(steps, forces, value):
    """The least energy over s ≥ 0 is the integral of the piecewise linear force; the start has the s of it."""
    from types import SimpleNamespace

    from onesided.elements.contract import Local, Start

    e = np.concatenate([[0.0], np.cumsum(steps)])
    table = [[float(a), float(b)] for a, b in zip(e, forces, strict=False)]
    law, start = TableLaw(table), Start({}, {})
    numbers = law.numbers(start, 0.0)
    s = np.array([*law.inner(start, value).values()])
    exact = float(TableLaw(table, moving=True).energy(value, Local((), s, (), 0.0, SimpleNamespace(**numbers))))
    here = float(law.energy(value, Local((), s, (), 0.0, SimpleNamespace(**numbers))))
    assert here == pytest.approx(exact, rel=1e-9, abs=1e-9)
    for more in (0.3, 1.0):
        other = float(law.energy(value, Local((), s + more, (), 0.0, SimpleNamespace(**numbers))))
        assert other >= here - 1e-9


def test_rounded_polynomial_rubber_and_gas():
    """Forces at given elongations: a rounded table, k₁ e + k₂ e³, EA/3 (λ − λ⁻²), F₀ (h/(h + ℓ − ℓ₀))ⁿ."""
    system = onesided.compose(
        Node("a", (0.0, 0.0), fixed=True),
        Node("b", (2.0, 0.0), fixed="y", moves={"x": 1.0}),
        Node("c", (2.0, 1.0)),
        Bar("anchor", ("a", "c"), stiffness=1.0),
        Bar("tie", ("b", "c"), stiffness=1.0),
        Spring("round", ("a", "b"), table=TABLE, rounding=0.1),
        Spring("cubic", ("a", "b"), polynomial=[2.0, 0.0, 0.5]),
        Bar("rubber", ("a", "b"), modulus_area=6.0, material="neo_hookean"),
        GasSpring("air", ("a", "b"), thrust="3 + 0*p", column=4.0, exponent=1.4),
        GasSpring("slow", ("a", "b"), thrust=3.0, column=4.0),
    )
    found = {k: v[0] for k, v in onesided.solve(system, start=system.start, p=0.7).value.members.items()}
    e, stretch = 0.7, 2.7 / 2.0
    points = np.array(TABLE)
    slopes = np.diff(points[:, 1]) / np.diff(points[:, 0])
    beyond = e - points[1:-1, 0]
    x = beyond / 0.025
    rounded = 0.025 * np.diff(slopes) @ (x * norm.cdf(x) + norm.pdf(x))
    assert found["round.force"] == pytest.approx(-1.0 + (e + 1.0) * slopes[0] + rounded, rel=1e-12)
    assert found["cubic.force"] == pytest.approx(2.0 * e + 0.5 * e**3, rel=1e-12)
    assert found["rubber.force"] == pytest.approx(6.0 / 3.0 * (stretch - stretch**-2), rel=1e-12)
    assert found["air.force"] == pytest.approx(-3.0 * (4.0 / 4.7) ** 1.4, rel=1e-12)
    assert found["slow.force"] == pytest.approx(-3.0 * 4.0 / 4.7, rel=1e-12)


def test_torsion_spring_with_a_table_in_a_file():
    system, task = onesided.loads("""
        [control]
        range = [0.0, 3.0]
        [body.lever]
        at = [0, 0]
        fixed = "xy"
        [torsion_spring.coil]
        ends = ["lever"]
        table = [[-1, -1], [0.5, 0.5], [1.0, 2.0]]
        [moment.load]
        bodies = "lever"
        moment = 1
    """)
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)
    angle = path.q[:, path.coordinates.index("lever_angle")]
    np.testing.assert_allclose(path.p, np.where(angle < 0.5, angle, 0.5 + 3.0 * (angle - 0.5)), atol=1e-9)
    assert len(path.events) == 2


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"table": [[0.0, 0.0], [0.0, 1.0]]}, "no function"),
        ({"table": [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]}, "on one line"),
        ({"table": [[0.0, 0.0]]}, "two points or more"),
        ({"table": [0.0, 1.0]}, "two points or more"),
        ({"stiffness": 1.0, "table": TABLE}, "not clear"),
        ({"stiffness": 1.0, "material": "neo_hookean"}, "material"),
        ({"table": TABLE, "rounding": -1.0}, "negative"),
    ],
)
def test_tables_that_make_no_law_are_refused(wrong, told):
    with pytest.raises(ModelError, match=told):
        onesided.compose(Node("a", (0.0, 0.0), fixed=True), Node("b", (1.0, 0.0)), Bar("r", ("a", "b"), **wrong))


def test_gas_springs_that_cannot_be_are_refused():
    ends = [Node("a", (0.0, 0.0), fixed=True), Node("b", (1.0, 0.0))]
    for wrong in ({"column": 0.0}, {"column": 1.0, "exponent": 0.5}, {"column": 1.0, "length": 3.0}):
        with pytest.raises(ModelError, match="gas_spring 'g'"):
            onesided.compose(*ends, GasSpring("g", ("a", "b"), thrust=1.0, **wrong))


def test_load_cases_line_loads_and_loads_that_are_formulas():
    """A clamped column of three springs-like bars: a dead case, one that p scales, one that is a formula of p."""
    names = [f"n{i}" for i in range(4)]
    nodes = [Node(name, (0.0, float(i)), fixed=(i == 0) or "x") for i, name in enumerate(names)]
    bars = [Bar(f"b{i}", (names[i], names[i + 1]), stiffness=1e3) for i in range(3)]
    loads = [
        LineLoad("own", along=names, load=(0.0, -2.0), constant=True),
        Force("live", "n3", (0.0, -1.0)),
        Force("wave", "n2", (0.0, "a*sin(p)"), constant=True),
    ]
    system = onesided.compose(*nodes, *bars, *loads, parameters={"a": 0.5})
    found = {k: v[0] for k, v in onesided.solve(system, start=system.start, p=1.2).value.members.items()}
    assert found["b2.force"] == pytest.approx(-1.0 - 1.2, rel=1e-10)
    assert found["b0.force"] == pytest.approx(-5.0 - 1.2 + 0.5 * np.sin(1.2), rel=1e-10)
    assert found["n0.reaction_y"] == pytest.approx(6.0 + 1.2 - 0.5 * np.sin(1.2), rel=1e-10)
    with pytest.raises(ModelError, match="constant = true"):
        onesided.compose(*nodes, *bars, Force("wave", "n2", (0.0, "sin(p)")))


def test_a_row_of_bars_is_linear_and_yet_has_a_size():
    """Collinear bars between guided nodes: nothing changes with displacement, and equilibrium is found all the same."""
    nodes = [Node(f"n{i}", (0.0, float(i)), fixed=(i == 0) or "x") for i in range(4)]
    bars = [Bar(f"b{i}", (f"n{i}", f"n{i + 1}"), stiffness=1e3) for i in range(3)]
    system = onesided.compose(*nodes, *bars, Force("f", "n3", (0.0, -1.0)))
    found = onesided.solve(system, start=system.start, p=1.2).value
    np.testing.assert_allclose(found.q, [1.0 - 0.0012, 2.0 - 0.0024, 3.0 - 0.0036], rtol=1e-12)


@pytest.mark.parametrize(
    ("law", "told"), [("-abs(e)", "leads away"), ("sin(e)*abs(e)", "what moves"), ("exp(abs(e))", "inside of `exp`")]
)
def test_kinks_of_laws_that_are_no_pieces_are_refused(law, told):
    ends = [Node("a", (0.0, 0.0), fixed=True), Node("b", (1.0, 0.0)), Force("f", "b", (1.0, 0.0))]
    smooth = Bar("r", ("a", "b"), law="c*abs(e)**2.5 + e**2")
    assert onesided.compose(*ends, smooth, parameters={"c": 2.0}).n == 2
    with pytest.raises(ModelError, match=f"bar 'r'.*{told}"):
        onesided.compose(*ends, Bar("r", ("a", "b"), law=law), parameters={"c": 2.0})


def test_kinks_of_laws_are_events():
    """F = e + k max(e − c, 0) of a spring, M = a + k max(a − c, 0) of a coil, e = F/(1 + k) + k c/(1 + k) beyond c."""
    k, c = 3.0, 0.5
    system = onesided.compose(
        Node("a", (0.0, 0.0), fixed=True), Node("b", (1.0, 0.0), fixed="y"), Force("f", "b", (1.0, 0.0)),
        Spring("s", ("a", "b"), law="e**2/2 + k/2*max(e - c, 0)**2"), Moment("m", "crank", 1.0),
        Body("crank", (0.0, 1.0), fixed=("x", "y")),
        TorsionSpring("t", ("crank",), law="a**2/2 + k/2*max(a - c, 0)**2"),
        parameters={"k": k, "c": c},
    )  # fmt: skip
    path = onesided.trace(system, p_bounds=(0.0, 4.0))
    expected = np.where(path.p < c, path.p, (path.p + k * c) / (1.0 + k))
    np.testing.assert_allclose(path["b_x"] - 1.0, expected, atol=1e-10)
    np.testing.assert_allclose(path["crank_angle"], expected, atol=1e-10)
    np.testing.assert_allclose(path["s.force"], path.p, atol=1e-10)
    (event,) = path.events[:-1]
    assert event.p == pytest.approx(c, abs=1e-12)
    assert set(event.constraints) == {"s_max_1", "t_max_1"}
    softer = onesided.solve(system.replace(parameters={"k": -0.5}), p=4.0).value
    assert softer.q[0] - 1.0 == pytest.approx((4.0 - 0.5 * c) / 0.5, abs=1e-10)


@pytest.mark.slow
def test_a_law_with_a_kink_in_motion():
    """A mass runs into a spring that acts from e = 1/2 on, is turned back after half a period, and is back at 1/2."""
    ends = [Node("a", (0.0, 0.0), fixed=True), Node("b", (1.0, 0.0), fixed="y", mass=1.0)]
    system = onesided.compose(*ends, Spring("s", ("a", "b"), law="50*max(e - 0.5, 0)**2"))
    motion = onesided.simulate(system, q0=[1.0, 0.5], v0=[1.0, 0.0], t_span=(0.0, 1.0 + np.pi / 10))
    assert motion.coordinates == ("b_x",)
    assert motion.q[-1, 0] == pytest.approx(1.0, abs=1e-6)
    jumps = onesided.compose(*ends, Spring("s", ("a", "b"), law="abs(e)"))
    with pytest.raises(ModelError, match="its force jumps"):
        onesided.simulate(jumps, v0=[1.0, 0.0], t_span=(0.0, 1.0))


def test_kinks_in_files_are_refused_with_their_place():
    text = 'energy = "c*abs(k)*u + x**2"\n[coordinates]\nx = 0.0\n[parameters]\nk = -1.0\nc = 1.0\n[define]\nu = "{}"\n'
    text += "[control]\nrange = [0, 1]\n"
    onesided.loads(text.format("x**2"))
    with pytest.raises(ModelError, match=r"energy, line 1.*what moves"):
        onesided.loads(text.format("sin(x)*abs(x)"))


def test_rounded_table_is_the_table_away_from_its_kinks():
    """No force without elongation, and the last line beyond the kink: F = 2 + (e − 1/2)/2."""
    table = [[0.0, 0.0], [0.5, 2.0], [1.5, 2.5]]
    system = onesided.compose(
        Node("a", (0.0, 0.0), fixed=True),
        Node("b", (2.0, 0.0), fixed="y"),
        Spring("s", ("a", "b"), table=table, rounding=0.1),
        Force("f", "b", (1.0, 0.0)),
    )
    path = onesided.trace(system, p_bounds=(0.0, 3.0))
    assert path.q[0, 0] == pytest.approx(2.0, abs=1e-12)
    assert path.q[-1, 0] == pytest.approx(4.5, abs=1e-10)
    assert len(path.events) == 1


@pytest.mark.parametrize(
    "wrong",
    [{"table": 5}, {"table": [[0, 0], [1, None]]}, {"polynomial": 3.0}, {"polynomial": []}, {"stiffness": [1]},
     {"stiffness": 1.0, "length": abs}, {"stiffness": 1.0, "strain": None}, {"stiffness": 1.0, "rounding": 0.1},
     {"stiffness": "k"}],
)  # fmt: skip
def test_what_is_no_quantity_is_refused_with_the_name_of_the_part(wrong):
    parts = (Node("a", (0.0, 0.0), fixed=True), Node("b", (2.0, 0.0), fixed="y"))
    with pytest.raises(ModelError, match="bar 's'"):
        onesided.compose(*parts, Bar("s", ("a", "b"), **wrong))
