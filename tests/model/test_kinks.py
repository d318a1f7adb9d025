"""`max`, `min`, `abs` in energies and gaps: one-sided pieces with events at the kinks, or refused in words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onesided
from onesided.base.errors import ModelError
from onesided.elements import Bar, Energy, Force, Gap, Node
from onesided.formulas.formula import FormulaError, parse
from onesided.formulas.unfolding import unfolded_energy, unfolded_gap

HEAD = "[coordinates]\nx = 0.0\n[control]\nrange = [0, 4]\n[parameters]\nk = 3.0\nc = 1.0\n"


def model(energy: str, more: str = ""):
    return onesided.loads(f'energy = "{energy}"\n{HEAD}{more}')


@pytest.mark.parametrize("start", [0.0, 2.0])
def test_a_spring_behind_a_gap(start):
    """x²/2 + k/2 max(x − c, 0)² − p x: x = p up to the touch at p = c, then (1 + k) x = p + k c."""
    text = f'energy = "x**2/2 + k/2*max(x - c, 0)**2 - p*x"\n{HEAD}'.replace("x = 0.0", f"x = {start}")
    path = onesided.trace(onesided.loads(text), p_bounds=(0.0, 4.0))
    assert [event.p for event in path.events if event.kind.name.lower() == "closes"] == pytest.approx([1.0], abs=1e-10)
    np.testing.assert_allclose(path["x"], np.where(path.p < 1, path.p, (path.p + 3) / 4), atol=1e-9)
    assert path.ok


def test_a_spring_that_softens_keeps_its_degree_of_stability():
    """x²/2 − k/2 max(x − c, 0)² with k = 3: unstable beyond the kink, where 1 − k < 0; k may change its sign later."""
    found = model("x**2/2 - k/2*max(x - c, 0)**2 - p*x")
    path = onesided.trace(found, p_bounds=(0.0, 4.0), throw=False)
    beyond = path["x"] > 1.0 + 1e-6
    assert np.all(path.instability[beyond] == 1)
    assert np.all(path.instability[path["x"] < 1.0 - 1e-6] == 0)
    np.testing.assert_allclose(path.p[beyond], path["x"][beyond] - 3 * (path["x"][beyond] - 1), atol=1e-9)
    other = found.system.replace(parameters={"k": -3.0, "c": 1.0})
    assert onesided.solve(other, start=[0.0, 0.0], p=2.0).value.q[0] == pytest.approx(1.25, abs=1e-12)


def test_rest_on_a_kink():
    """x²/2 + c |x − 1/2| − p x: x = p + c, but for −1/2 ≤ p − … where the force is less than c: stuck at 1/2."""
    path = onesided.trace(model("x**2/2 + c*abs(x - 0.5) - p*x"), p_bounds=(0.0, 4.0))
    x = np.clip(0.5, path.p - 1.0, path.p + 1.0)
    np.testing.assert_allclose(path["x"], x, atol=1e-9)
    assert [event.p for event in path.events if event.kind.name.lower() == "opens"] == pytest.approx([1.5], abs=1e-10)


def test_parts_and_files_of_parts():
    """The same piece as an `energy` part, as a formula beside parts, and a gap |y| ≤ 1/4 as two."""
    parts = [
        Node("a", (0.0, 0.0), fixed=True), Node("b", (1.0, 0.0), fixed="y"), Bar("rod", ("a", "b"), stiffness=1.0),
        Force("pull", "b", (1.0, 0.0)),
    ]  # fmt: skip
    piece = Energy("buffer", "k/2*max(b_x - 2, 0)**2")
    system = onesided.compose(*parts, piece, Gap("band", "2 - abs(b_x - 1)"), parameters={"k": 3.0})
    assert set(system.unilateral) == {"buffer_max_1", "band_1", "band_2"}
    path = onesided.trace(system, p_bounds=(0.0, 6.0))
    expected = np.where(path.p < 1, 1 + path.p, np.minimum((path.p + 7) / 4, 3.0))
    np.testing.assert_allclose(path["b_x"], expected, atol=1e-9)
    text = (
        'energy = "k/2*max(b_x - 2, 0)**2"\nparameters = {k = 3}\ncontrol = {range = [0, 6]}\n'
        "node.a = {at = [0, 0], fixed = true}\nnode.b = {at = [1, 0], fixed = 'y'}\n"
        'bar.rod = {ends = ["a", "b"], stiffness = 1}\nforce.pull = {at = "b", force = [1, 0]}\n'
        '[unilateral]\nband = "2 - abs(b_x - 1)"\n'
    )
    again = onesided.trace(onesided.loads(text))
    np.testing.assert_allclose([e.p for e in again.events], [e.p for e in path.events], atol=1e-9)
    with pytest.raises(ModelError, match="zero"):
        onesided.solve(system.replace(parameters={"k": 0.0}), start=system.start, p=0.0)


def test_in_motion_a_piece_has_no_coordinate():
    """A mass runs into a spring at x = 1, is turned back after half a period π √(m/k), and is at 1/2 a while later."""
    parts = [Node("a", (0.0, 0.0), fixed="y", mass=1.0)]
    system = onesided.compose(parts, Energy("buffer", "k/2*max(a_x - 1, 0)**2"), parameters={"k": 100.0})
    end = 1.0 + np.pi / 10 + 0.5
    motion = onesided.simulate(system, q0=[0.0, 1.0], v0=[1.0, 0.0], t_span=(0.0, end))
    assert motion.coordinates == ("a_x",)
    assert motion.q[-1, 0] == pytest.approx(0.5, abs=1e-6)
    jumps = onesided.compose(parts, Energy("rub", "abs(a_x - 1)"))
    with pytest.raises(ModelError, match="its force jumps"):
        onesided.simulate(jumps, q0=[0.0, 1.0], v0=[1.0, 0.0], t_span=(0.0, 1.0))


NUMBER = st.floats(-2, 2).map(lambda x: round(x, 3))


@settings(max_examples=60, deadline=None)
@given(a=NUMBER, b=NUMBER, x=NUMBER, y=NUMBER, k=NUMBER.filter(bool), c=st.floats(0.1, 2))
def test_minimum_over_the_new_coordinate_is_the_energy(a, b, x, y, k, c):
    """At the start of the new coordinate the unfolded formula has the value of the formula, and its gaps are ≥ 0."""
    names = {"a": a, "b": b, "k": k, "c": c}
    for text in ("k/2*max(a*x - b, 0)**2 + x", "-k*min(x*y, 0)**2/3", "c*abs(x - y) - y", "y - c*min(x, min(y, b))"):
        found = unfolded_energy(text, names, {"p"})
        values = {**names, "x": x, "y": y}
        values |= {slack.name: parse(slack.start).evaluate(values) for slack in found.slacks}
        assert parse(found.text).evaluate(values) == pytest.approx(parse(text).evaluate(values), abs=1e-12)
        for gap in (one for slack in found.slacks for one in slack.gaps.values()):
            assert parse(gap).evaluate(values) >= 0.0
    for text in ("b - abs(x - y)", "min(x, min(y, a)) - b", "a - 2*max(x, y) - abs(x)"):
        gaps = [parse(one).evaluate({**names, "x": x, "y": y}) for one in unfolded_gap(text, names, {"p"})]
        assert min(gaps) == pytest.approx(parse(text).evaluate({**names, "x": x, "y": y}), abs=1e-12)


@pytest.mark.parametrize(
    ("energy", "why"),
    [
        ("sin(x)*abs(x)", "what moves"),
        ("p*max(x, 0)**2", "control parameter"), ("-abs(x)", "leads away from the kink"),
        ("exp(abs(x))", "inside of `exp`"), ("max(x, 0)**2.5", "of powers of kinks"), ("max(x, 1)**2", "of powers of"),
        ("max(abs(x), 1)", "a kink itself"), ("+".join(["abs(x)"] * 13), "more than 12 kinks"),
        ("where(x, 1)", "has kinks"),
    ],
)  # fmt: skip
def test_other_kinks_are_refused_with_the_reason(energy, why):
    with pytest.raises(FormulaError, match=why):
        model(energy)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ('[unilateral]\ng = "max(x, 1)"', "one of its arguments"), ('[unilateral]\ng = "1 - k*abs(x)"', "times `-k`"),
        ('[unilateral]\ng = "min(x, 1)"\ng_1 = "x"', "there is one"), ('[bilateral]\ng = "abs(x) - 1"', "has a kink"),
        ('[mass]\nx = "1"', None),
    ],
)  # fmt: skip
def test_gaps_and_equations_with_kinks_are_refused_with_the_reason(more, why):
    if why is None:
        with pytest.raises(FormulaError, match="without a mass"):
            model("max(x, 0)**2", more)
        return
    with pytest.raises(ModelError, match=why):
        model("x**2", more)


def test_kinks_of_parameters_and_high_powers_are_plain():
    assert onesided.solve(model("max(k, c)/2*(x - 1)**2 + max(x, 0)**4 - 4*x"), p=0.0).value.q[0] == pytest.approx(1.0)


def _pushed(load, energy="-x**2/2", **more):
    parameters = "".join(f"{name} = {value!r}\n" for name, value in more.items())
    text = f"""
energy = "{energy} + f*x"
coordinates = {{x = -1.0}}
control = {{range = [-1, 1]}}
[define]
f = "{load}"
[unilateral]
w = "-x"
[parameters]
unused = 0.0
{parameters}"""
    return onesided.loads(text).system


def test_all_rays_leave_a_kink_at_which_a_contact_changes():
    """U = −x²/2 + f x over x ≤ 0: x = f, or x = 0 with λ = −f; at f = −|p| two of them on either side."""
    path = onesided.trace(_pushed("-abs(p)"), [-1.0], -1.0, p_bounds=(-1, 1))
    kink = path.events[0]
    assert kink.p == pytest.approx(0.0, abs=1e-12)
    assert sorted((ray.p_sign, ray.instability) for ray in kink.rays) == [(-1, 0), (-1, 1), (1, 0), (1, 1)]
    turned = onesided.trace(_pushed("p + max(p, 0)"), [-1.0], -1.0, p_bounds=(-1, 1))
    assert [event.kind.name for event in turned.events] == ["corner_limit", "bound"]
    assert (turned.p[-1], turned.instability[-1], turned.lam[-1, 0]) == (-1.0, 0, pytest.approx(1.0))


@pytest.mark.parametrize("before", [1e-2, 1e-5, 1e-8])
def test_a_kink_just_before_a_fold_is_not_stepped_over(before):
    """x² = max(p, k): the fold at p = 0 is never reached, x stays √k."""
    system = _pushed("-max(p, k)", "x**3/3", k=before)
    path = onesided.trace(system, [-1.0], 1.0, direction=-1, p_bounds=(-1, 1))
    assert [event.kind.name for event in path.events] == ["kink", "bound"]
    assert path.events[0].p == pytest.approx(before) and path.q[-1, 0] == pytest.approx(-np.sqrt(before), rel=1e-5)


def test_kinks_of_other_parameters_are_seen_by_many_paths():
    """A pulse c − 20 |p − 1| of the load: none for the numbers of the model, one for others."""
    system = _pushed("-max(c - 20*abs(p - 1), 0)", "x**2/2", c=0.0)
    many = onesided.trace_many(system, {"c": [0.0, 1.0]}, q0=[0.0], p0=-1.0, p_bounds=(-1, 3))
    one = onesided.trace(system.replace(parameters={"c": 1.0}), [0.0], -1.0, p_bounds=(-1, 3))
    assert [event.kind.name for event in one.events].count("kink") == 3
    assert many.p[many.of(1)] == pytest.approx([event.p for event in one.events])


def test_a_start_at_a_kink_has_the_slopes_of_each_side():
    """f = −max(p, 0) + 5 min(p, 0) from x = 0, p = 0: x = f or x = 0 on either side, with its own slope."""
    system = _pushed("-max(p, 0) + 5*min(p, 0)")
    ends = [path.q[-1, 0] for path in onesided.diagram(system, [0.0], 0.0, p_bounds=(-1, 1)).paths]
    assert sorted(ends) == pytest.approx([-5.0, -1.0, 0.0, 0.0], abs=1e-12)


OWN = ("x*abs(x)", "k*x*abs(x)/2", "abs(x - c)*(x - c)*3", "-2*(x - c)*max(x - c, 0)", "x*min(x, 0)", "c/4*x**2*abs(x)",
       "x*x*x*abs(x)", "-(x - c)*abs(x - c)", "x*abs(-x)", "abs(2*x)*(2*x)", "k*x**2*max(0, x)",
       "-x*max(x, 0)*k")  # fmt: skip


@pytest.mark.parametrize("text", OWN)
def test_a_kink_times_a_power_of_its_own_argument(text):
    """At the slacks that are their equilibrium the unfolded energy is the formula, and so is its slope."""
    constants = {"k": 3.0, "c": 1.0}
    found = unfolded_energy(text, constants, {"p"})
    assert len(found.slacks) == (0 if "x**2" in text or "x*x*x" in text else 1)

    def value(x):
        starts = {slack.name: parse(slack.start).evaluate({"x": x, **constants}) for slack in found.slacks}
        return parse(found.text).evaluate({"x": x, **starts, **constants})

    for x in (-2.3, -0.4, 0.0, 0.6, 1.0, 1.7):
        assert value(x) == pytest.approx(parse(text).evaluate({"x": x, **constants}), abs=1e-12)


def test_a_spring_that_is_stiff_on_one_side_and_a_drag():
    """3 x²/2 + x |x| − p x, of stiffness 5 and 1: one event where they meet, at p = 0, in both senses."""
    found = model("3*x**2/2 + x*abs(x) - (p - 2)*x")
    path = onesided.trace(found, p_bounds=(0.0, 4.0))
    load = path.p - 2.0
    np.testing.assert_allclose(path["x"], np.where(load > 0, load / 5.0, load), atol=1e-9)
    assert [event.p for event in path.events[:-1]] == pytest.approx([2.0], abs=1e-10)
    np.testing.assert_allclose(path.instability, 0)


@pytest.mark.parametrize("text", ["where(x > 0, k*x**2/2, 0)", "heaviside(x)*x**2"])
def test_switches_are_refused_with_a_way_that_works(text):
    with pytest.raises(FormulaError, match=r"has kinks.*k/2\*max\(x, 0\)\*\*2"):
        parse(text)
