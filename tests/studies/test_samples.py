"""Samples, imperfections and quantiles: distributions, the 2/3 law, bounds that hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import onesided
from onesided.base.errors import UsageError
from onesided.elements import Bar, Force, Node
from onesided.results.quantiles import quantile
from onesided.results.study_cases import Cases
from onesided.studies.sampling import read_csv

FIRST = 0.783498066738553  # where the two-bar truss of rise 3 sways: l³ = l₀ y², see `critical`


def test_samples_follow_their_distributions_and_their_seeds():
    of = {"k": (1.0, 3.0), "m": {"normal": [2.0, 0.5]}, "c": stats.expon(scale=2.0), "w": {"weibull": [2.0, 3.0]}}
    for method in ("random", "sobol", "latin hypercube"):
        drawn = onesided.Sample(4096, of, seed=3, method=method).values()
        again = onesided.Sample(4096, of, seed=3, method=method).values()
        assert all(np.array_equal(drawn[name], again[name]) for name in of)
        assert not np.array_equal(drawn["k"], onesided.Sample(4096, of, seed=4, method=method).values()["k"])
        for name, law in {"k": stats.uniform(1, 2), "m": stats.norm(2, 0.5), "c": stats.expon(scale=2)}.items():
            assert stats.kstest(drawn[name], law.cdf).pvalue > 1e-3
        if method != "latin hypercube":  # a sample that grows keeps its first members
            assert np.array_equal(onesided.Sample(5000, of, seed=3, method=method).values()["m"][:4096], drawn["m"])
    strata = np.sort(onesided.Sample(50, {"k": (0.0, 50.0)}, method="latin hypercube").values()["k"])
    assert np.array_equal(np.floor(strata), np.arange(50.0))  # one in every fiftieth


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, {"k": (0, 1)}), "needs cases"),
        ((5, {}), "nothing is drawn"),
        ((5, {"k": (1,)}), "distribution of 'k'"),
        ((5, {"k": {"gauss": [0, 1]}}), "distribution of 'k'"),
        ((5, {"k": {"normal": [0, "a"]}}), "distribution of 'k'"),
        ((5, {"k": {"triangular": [1, 1, 1]}}), "distribution of 'k'"),
        ((5, {"k": (0, 1)}, -1), "seed"),
    ],
)
def test_samples_that_make_no_sense_are_refused(arguments, words):
    with pytest.raises(UsageError, match=words):
        onesided.Sample(*arguments)


def test_bounds_of_quantiles_are_those_of_order_statistics():
    """Wilks: the smallest of 59 values is below the 5 % quantile with 95 %, that of 58 is not (1 − 0.95^n)."""
    assert quantile(np.arange(59.0), 0, 0.05, 0.9).low == 0.0
    assert quantile(np.arange(58.0), 0, 0.05, 0.9).low == -np.inf
    assert quantile(np.arange(59.0), 0, 0.95, 0.9).high == 58.0
    middle = quantile(np.arange(1000.0), 0, 0.5, 0.95)
    assert middle.low == 468.0 and middle.high == 531.0  # the 469th and 532nd: tables of the median's interval
    wide = quantile(np.arange(990.0), 10, 0.5, 0.95)  # ten unknown values could lie anywhere
    assert wide.low == 458.0 and wide.high == 531.0


def test_bounds_hold_as_often_as_they_say():
    generator, inside = np.random.default_rng(5), 0
    for _ in range(400):
        found = quantile(generator.normal(size=80), 0, 0.2, 0.9)
        inside += found.low <= stats.norm.ppf(0.2) <= found.high
    assert inside >= 400 * 0.9 - 3 * np.sqrt(400 * 0.9 * 0.1)


@pytest.fixture(scope="module")
def truss():
    return onesided.compose(
        Node("a", (-1.0, 0.0), fixed=True), Node("b", (1.0, 0.0), fixed=True), Node("top", (0.0, "h")),
        Bar("left", ("a", "top"), stiffness="k"), Bar("right", ("b", "top"), stiffness="k"),
        Force("load", "top", (0.0, -1.0)), parameters={"k": 1.0, "h": 3.0},
    )  # fmt: skip


def critical(h):
    """Load at which the perfect truss sways: sway stiffness 2k(1 − l₀ y²/l³) = 0, p = 2k(l₀/l − 1) y."""
    rest = np.sqrt(1.0 + h**2)
    squares = np.roots([1.0, 3.0 - rest**2, 3.0, 1.0])  # (1 + u)³ = l₀² u², u = y²
    y = np.sqrt(np.max(squares.real))
    return 2.0 * (rest / np.sqrt(1.0 + y**2) - 1.0) * y


def test_the_knock_down_of_the_two_bar_truss_follows_the_law_of_two_thirds(truss, tmp_path):
    assert critical(3.0) == pytest.approx(FIRST, rel=1e-12)
    system = onesided.imperfect(truss, shapes=1, p=0.7)
    sizes = np.geomspace(1e-6, 1e-5, 2)
    task = onesided.StudyTask(system, "trace", {"p_bounds": (0.0, 2.0), "max_events": 1})
    study = onesided.study(task, over={"shape_1": [*sizes, -sizes[0]]}, folder=tmp_path / "s", workers=0)
    knock = 1.0 - study["limit_load"] / critical(3.0)
    exponent = np.log(knock[1] / knock[0]) / np.log(sizes[1] / sizes[0])
    assert exponent == pytest.approx(0.667, abs=0.002) and exponent == pytest.approx(2 / 3, abs=2e-4)
    assert knock[2] == pytest.approx(knock[0], rel=1e-6)  # the sign does not matter: the system is symmetric


def test_imperfections_bring_no_stress_and_move_what_they_say(truss):
    system = onesided.imperfect(truss).replace(parameters={"off_top_x": 0.1, "off_top_y": -0.2})
    assert system.start == pytest.approx([0.1, 2.8])
    assert onesided.solve(system, p=0.0).value.energy == pytest.approx(0.0, abs=1e-20)
    assert onesided.solve(system, p=0.0).value.q == pytest.approx([0.1, 2.8])
    with pytest.raises(UsageError, match="already"):
        onesided.imperfect(system)
    sway = onesided.imperfect(truss, shapes=1, p=0.7).replace(parameters={"shape_1": 0.3}).start
    assert sway == pytest.approx([0.3, 3.0])


def test_a_field_has_unit_deviation_and_the_correlation_asked_for():
    nodes = [Node(f"n{i}", (0.5 * i, 0.0)) for i in range(6)]
    bars = [Bar(f"b{i}", (f"n{i}", f"n{i + 1}"), stiffness=1.0) for i in range(5)]
    stays = [Bar(f"s{i}", (f"n{i}", "ground"), stiffness=1.0) for i in range(6)]
    line = onesided.compose(nodes, bars, stays, Node("ground", (1.2, -1.0), fixed=True))
    system = onesided.imperfect(line, correlation=1.0)
    names = [name for name in system.parameters if name.startswith("field_")]
    unit = [system.replace(parameters={name: 1.0}).start - line.start for name in names]
    covariance = np.stack(unit).T @ np.stack(unit)
    distance = np.abs(np.subtract.outer(np.arange(6), np.arange(6))) * 0.5
    assert np.diag(covariance) == pytest.approx(np.ones(12))
    assert covariance[::2, ::2] == pytest.approx(np.exp(-(distance**2) / 2.0), abs=0.02)
    assert covariance[::2, 1::2] == pytest.approx(np.zeros((6, 6)), abs=1e-12)


def test_random_imperfections_are_one_line_with_quantiles(truss, tmp_path):
    task = onesided.StudyTask(truss, "trace", {"p_bounds": (0.0, 2.0), "max_events": 1})
    sample = onesided.Imperfections(8, 1e-3, nodes=["top"], seed=1)
    study = onesided.study(task, sample=sample, folder=tmp_path / "s", workers=0)
    low, middle, _ = study.quantiles("limit_load", confidence=0.9)
    assert middle.low < middle.value < middle.high < critical(3.0) and low.low == -np.inf
    assert study.statement["seed"] == 1 and study.cases.dimensions == ("sample",)
    with pytest.raises(UsageError, match="independent"):
        grid = onesided.study(task, over={"h": [3.0]}, folder=tmp_path / "g", workers=0, limit=1)
        grid.quantiles("limit_load")
    for arguments, words in (
        ({"nodes": ["tip"]}, "did you mean"),
        ({"nodes": ["a"]}, "all are held"),
        ({"shapes": 5}, "not so many modes"),
        ({"shapes": 1, "correlation": 1.0}, "one of them"),
        ({"correlation": -1.0}, "positive length"),
    ):
        with pytest.raises(onesided.OnesidedError, match=words):
            onesided.imperfect(truss, **arguments)


sizes = st.lists(st.integers(1, 5), min_size=1, max_size=3)


@given(sizes, st.integers(0, 3), st.integers(0, 3))
def test_cases_keep_their_numbers_when_a_study_grows(shape, drawn, more):
    axes = {f"a{i}": np.arange(n) + 10.0 * i for i, n in enumerate(shape)}
    sample = {"s": np.arange(drawn) + 100.0} if drawn else {}
    cases = Cases(axes, sample)
    assert len({tuple(cases.values(i).items()) for i in range(len(cases))}) == len(cases)  # each once
    if drawn:
        grown = Cases(axes, {"s": np.arange(drawn + more) + 100.0})
    else:
        grown = Cases({**axes, "a0": np.arange(shape[0] + more) + 0.0})
    assert grown.goes_on(cases) and cases.goes_on(grown) == (more == 0)
    assert all(grown.values(i) == cases.values(i) for i in range(len(cases)))
    if len(shape) > 1 and not drawn:
        other = Cases({**axes, "a1": np.append(axes["a1"], 99.0)})
        assert not other.goes_on(cases)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "names the parameters"),
        ("h,h\n1,2\n", "each once"),
        ("h,\n1,2\n", "each once"),
        ("h,k\n\n\n1\n", "line 4: 1 values"),
        ("\nh,k\n1,2\n\n1,a\n", "line 5"),
        ("h,k\n1,inf\n", "not finite"),
    ],
)
def test_tables_of_cases_are_refused_by_the_line_that_is_wrong(text, words, tmp_path):
    (tmp_path / "cases.csv").write_text(text)
    with pytest.raises(onesided.UsageError, match=words):
        read_csv(tmp_path / "cases.csv")
