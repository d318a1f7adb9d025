"""Designs against closed forms, and what happens where events disappear or aims cannot be met."""

from pathlib import Path

import numpy as np
import pytest

import onesided
from onesided import zoo
from onesided.design.aims import AtEvent, OfJump, WhereValue, read_aim
from onesided.files.new_numbers import with_numbers

EXAMPLES = Path(__file__).parents[2] / "examples"
SECOND, FLOOR = AtEvent("y", "limit", "", 2), AtEvent("p", "closes", "floor", 2)
WIDE = {"p_bounds": (-0.5, 0.5)}


@pytest.fixture(scope="module")
def truss():
    """Limit load 2 k b (ℓ^(2/3) − 1)^(3/2) at the height y = b (ℓ^(2/3) − 1)^(1/2), with ℓ = (1 + h²/b²)^(1/2)."""
    return zoo.load("von-mises").system


@pytest.fixture(scope="module")
def dome():
    model = zoo.load("keyboard-dome")
    return model, onesided.design(model.system)


def rise_for(y):
    return float(np.sqrt((1 + y**2) ** 3 - 1))


@pytest.mark.parametrize(
    ("text", "terms", "sense", "target"),
    [
        ("p at limit = 0.05", ((1.0, AtEvent("p", "limit")),), "=", 0.05),
        ("y at limit point 2 - y at limit >= 0.3", ((1.0, SECOND), (-1.0, AtEvent("y", "limit"))), ">=", 0.3),
        ("p at closes floor 2 >= p at corner-limit", ((1.0, FLOOR), (-1.0, AtEvent("p", "corner-limit"))), ">=", 0.0),
        ("p at loss of stability >= 3", ((1.0, AtEvent("p", "loss of stability")),), ">=", 3.0),
        ("p where y is -0.3 = 4e-2", ((1.0, WhereValue("p", "y", -0.3)),), "=", 0.04),
        ("maximise energy of jump 2", ((1.0, OfJump("energy", 2)),), "max", 0.0),
        ("dissipated <= 2", ((1.0, OfJump("energy", 0)),), "<=", 2.0),
    ],
)  # fmt: skip
def test_aims_are_read(text, terms, sense, target):
    aim = read_aim(text)
    assert (aim.terms, aim.sense, aim.target) == (terms, sense, target)


def test_a_limit_load_is_reached_at_the_closed_form(truss):
    found = onesided.design(truss, {"h": (0.2, 0.8)}, "p at limit = 0.06", **WIDE)
    assert found.ok
    assert found.parameters["h"] == pytest.approx(np.sqrt(((0.06 / 2) ** (2 / 3) + 1) ** 3 - 1), rel=1e-8)
    assert found.gradients <= 6


def test_load_and_place_of_a_limit_point(truss):
    bounds = {"h": (0.2, 0.8), "k": (0.5, 5.0)}
    found = onesided.design(truss, bounds, ["p at limit = 0.06", "y at limit = 0.2"], **WIDE)
    assert found.parameters["h"] == pytest.approx(rise_for(0.2), rel=1e-8)
    assert found.parameters["k"] == pytest.approx(0.06 / (2 * 0.2**3), rel=1e-8)


def test_an_objective_with_a_condition_ends_on_it(truss):
    """The limit load grows with k and h, the energy of the jump too: the stiffer, lower truss is best."""
    ask = {"p_bounds": (-1.0, 1.0), "programme": (0.0, 0.9)}
    bounds = {"h": (0.2, 0.8), "k": (0.5, 3.0)}
    found = onesided.design(truss, bounds, "maximise p at limit", "energy of jump 1 <= 0.15", **ask)
    best = found.aims[0].after
    for k in (2.6, 2.9):
        h = onesided.design(truss.replace(parameters={"k": k}), {"h": (0.2, 0.8)}, "energy of jump 1 = 0.15", **ask)
        y = np.sqrt((1 + h.parameters["h"] ** 2) ** (1 / 3) - 1)
        assert 2 * k * y**3 < best
    assert found.parameters["k"] == pytest.approx(3.0, rel=1e-9)
    assert found.aims[1].after == pytest.approx(0.15, rel=1e-7)


def test_a_curve_is_fitted(truss):
    """Five points of the closed form p = 2 k y (ℓ₀/ℓ − 1) of another truss."""
    y = np.array([0.45, 0.3, 0.2, 0.1, -0.2])
    p = 2 * 1.3 * y * (np.hypot(1.0, 0.6) / np.hypot(1.0, y) - 1)
    goal = [f"p where y is {a} = {float(b)!r}" for a, b in zip(y, p, strict=True)]
    found = onesided.design(truss, {"h": (0.46, 0.8), "k": (0.5, 3.0)}, goal, q0=[0.7], p0=0.0, p_bounds=(-1.0, 0.3))
    assert found.parameters == pytest.approx({"h": 0.6, "k": 1.3}, rel=1e-5)


def test_what_cannot_be_met_is_told(truss):
    with pytest.raises(onesided.SolveError) as caught:
        onesided.design(truss, {"h": (0.45, 0.55)}, "p at limit = 0.2", p_bounds=(-0.01, 0.06))
    found = caught.value.partial
    assert not found.ok
    assert "not met: p at limit" in found.note
    assert found.parameters["h"] == 0.55  # as near as can be


def test_a_limit_point_that_disappears_is_stepped_back_from(dome):
    """The stronger the return spring the higher the click, until there is none: the search stays where there is one."""
    system = dome[0].system
    found = onesided.design(system, {"c": (0.0, 2.0)}, "p at limit = 0.9", throw=False)
    assert not found.ok
    assert "stepped back" in found.note
    assert found.aims[0].after > found.aims[0].before
    kinds = onesided.trace(system.replace(parameters=found.parameters)).kinds()
    assert onesided.Kind.limit in kinds


def test_keyboard_dome_clicks_as_asked(dome):
    model, found = dome
    text = with_numbers(model.task.source, found.parameters)
    system, task = onesided.loads(text)
    assert dict(system.parameters) == {**model.system.parameters, **found.parameters}
    path = onesided.trace(system)
    assert path.events[0].p == pytest.approx(0.6, rel=1e-7)
    assert path.events[0].q[0] == pytest.approx(1.0, rel=1e-7)
    assert onesided.drive(system).q[-1, 0] == pytest.approx(0.0, abs=1e-6)  # it comes up again
    assert "others" in found.note  # the corner gave way to a limit point, which is told
    assert task.design.goal[0] == "p at limit = 0.6"


def test_a_load_that_never_comes_is_late_enough_on_either_side_of_an_aim(truss):
    """Nothing closes in a free truss."""
    for condition in ("p at closes >= 0.05", "0.05 <= p at closes"):
        found = onesided.design(truss, {"h": (0.2, 0.8)}, "p at limit = 0.05", condition, p_bounds=(-0.06, 0.06))
        assert found.ok
        assert abs(found.aims[1].after) == np.inf


def test_a_variable_without_influence_is_named(truss):
    """A limit load that depends on nothing that may change cannot be reached; one beside another is told as well."""
    idle = onesided.System(
        coordinates=("x",),
        energy=lambda q, p, th: th.k * (q[0] ** 4 / 4 - q[0] ** 2 / 2) - p * q[0],
        parameters={"k": 1.0, "z": 1.0},
    )
    start = {"q0": [-1.0], "p0": 0.0, "p_bounds": (-1.0, 9.0)}
    with pytest.raises(onesided.SolveError, match="nothing that is asked for depends on 'z'"):
        onesided.design(idle, {"z": (0.5, 2.0)}, "p at limit = 1", **start)
    found = onesided.design(idle, {"k": (0.5, 9.0), "z": (0.5, 2.0)}, "p at limit = 1", **start)
    assert found.parameters["k"] == pytest.approx(3 * np.sqrt(3) / 2, rel=1e-8)  # p = 2 k/(3 √3)
    assert found.parameters["z"] == 1.0
    assert "depends on 'z'" in found.note


def test_energy_of_a_jump_and_of_a_cycle_under_conditions():
    """k (x⁴/4 − a² x²/2) − p x snaps at 2 k a³/(3 √3) and loses 3/4 k a⁴, twice in a cycle."""
    system = onesided.System(
        coordinates=("x",),
        energy=lambda q, p, th: th.k * (q[0] ** 4 / 4 - th.a**2 * q[0] ** 2 / 2) - p * q[0],
        parameters={"k": 1.0, "a": 1.0},
    )
    start, both = {"q0": [-1.0], "p0": 0.0}, {"a": (0.3, 3.0), "k": (0.3, 4.0)}
    jump = onesided.design(system, {"a": (0.3, 3.0)}, "energy of jump 1 = 2", **start, programme=[0.0, 9.0])
    assert jump.parameters["a"] == pytest.approx((8 / 3) ** 0.25, rel=1e-8)
    cycle = onesided.design(system, both, "dissipated = 1", **start, programme=[0.0, 9.0, -9.0])
    assert 1.5 * cycle.parameters["k"] * cycle.parameters["a"] ** 4 == pytest.approx(1.0, rel=1e-8)
    stays = ["p at loss of stability >= 3"]
    least = onesided.design(
        system, both, "minimise energy of jump 1", stays, **start, p_bounds=(-1.0, 20.0), programme=[0.0, 20.0]
    )  # at 3 = 2 k a³/(3 √3) the energy 9/4 (3 √3/2) a falls with a: k as large as may be
    assert least.parameters["k"] == pytest.approx(4.0)
    assert least.parameters["a"] == pytest.approx((9 * np.sqrt(3) / 8) ** (1 / 3), rel=1e-7)


def test_searches_from_many_starts_are_a_study(truss, tmp_path):
    ask = {"variables": {"h": (0.2, 0.8)}, "goal": "p at limit = 0.06", "p_bounds": (-0.01, 0.12)}
    task = onesided.StudyTask(truss, "design", ask)
    found = onesided.study(task, over={"h": [0.45, 0.6]}, folder=tmp_path / "starts", workers=0)
    exact = np.sqrt(((0.06 / 2) ** (2 / 3) + 1) ** 3 - 1)
    assert list(found["designed h"]) == pytest.approx([exact, exact], rel=1e-8)


def test_saved_loaded_drawn(dome, tmp_path):
    _, found = dome
    again = onesided.load_result(onesided.save(found, tmp_path / "design"))
    assert again.parameters == found.parameters
    assert again.aims == found.aims
    assert again.bounds == found.bounds
    assert np.array_equal(again.after[0].q, found.after[0].q)
    onesided.plots.write(again, tmp_path / "design.svg")
    assert "4 of 4 aims met" in onesided.report.html(again)


def test_bad_input_is_refused_in_clear_words(truss):
    bad = [
        ({"H": (0.1, 0.8)}, "p at limit = 0.06", "parameter"),
        ({"h": (0.6, 0.8)}, "p at limit = 0.06", "does not lie within its bounds"),
        ({"h": (0.1, np.inf)}, "p at limit = 0.06", "both finite"),
        ({"h": (0.1, 0.8)}, "the load is 3", "cannot be read"),
        ({"h": (0.1, 0.8)}, "p at limit = nan", "cannot be read"),
        ({"h": (0.1, 0.8)}, "2 >= 1", "cannot be read"),
        ({"h": (0.1, 0.8)}, "y at closes >= -9", "not there"),
        ({"h": (0.1, 0.8)}, "z at limit = 0.06", "quantity"),
        ({"h": (0.1, 0.8)}, "p at limit 7 = 0.06", "before anything is changed"),
        ({"h": (0.1, 0.8)}, ["minimise p at limit", "maximise y at limit"], "one objective"),
    ]
    for variables, goal, words in bad:
        with pytest.raises(onesided.OnesidedError, match=words):
            onesided.design(truss, variables, goal, **WIDE)


@pytest.mark.slow
def test_a_chain_of_twenty_parameters_dissipates_what_is_asked():
    """Energy of a snap of one unit in closed form: the sum over both jumps of all is what was asked."""
    system = onesided.load(EXAMPLES / "dissipating_chain.toml").system
    found = onesided.design(system)
    assert found.gradients <= 30
    heights = np.array([found.parameters[f"h{i}"] for i in range(1, 21)])
    length = np.hypot(1.0, heights)
    y = np.sqrt(length ** (2 / 3) - 1)  # where a unit turns
    p = y**3
    low, high = np.full(20, -3.0), -y  # the other equilibrium at the same load: y (ℓ/√(1 + y²) − 1) = p, y < 0
    for _ in range(100):
        middle = (low + high) / 2
        above = middle * (length / np.hypot(1.0, middle) - 1) > p
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    before, after = ((np.hypot(1.0, z) - length) ** 2 / 2 + p * z for z in (y, low))
    assert 2 * np.sum(before - after) == pytest.approx(1.2, rel=0.01)
