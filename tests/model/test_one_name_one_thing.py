"""No constraint, column or measure is lost because something else has its name."""

from collections import Counter

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onesided
from onesided.base.errors import ModelError, ModelFileError
from onesided.base.names import joined
from onesided.files.reading import loads
from onesided.results import columns
from onesided.results.motion_columns import motion_columns
from onesided.system.surfaces import SurfacePair, with_surfaces

NAMES = ("a", "a_1", "a_2", "a_1_1", "b")
OUTLINE = 'first = ["x + cos(s)", "y + sin(s)"]\nsecond = ["s", "0*s"]\nstart = [-1.5707963267948966, 0.0]\n'
HEAD = 'energy = "(x - p)**2 + (y - 2)**2"\ncoordinates = {x = 0.0, y = 2.0}\ncontrol = {range = [0, 1]}\n'
tables = st.dictionaries(st.sampled_from(NAMES), st.booleans(), max_size=2)


def text_of(unilateral, bilateral, smallest, surfaces):
    lines = [HEAD, "[unilateral]", *(f'{name} = "9 - x"' for name in unilateral)]
    lines += ["[bilateral]", *(f'{name} = "y - 2"' for name in bilateral), "[smallest]"]
    lines += [
        f'{name} = {{of = ["x + 9", "x + 8"]{", sharpness = 10.0" if smooth else ""}}}'
        for name, smooth in smallest.items()
    ]
    for name, opens in surfaces.items():
        lines += [f"[surfaces.{name}]\nopens = {str(opens).lower()}", OUTLINE]
    return "\n".join(lines)


@settings(max_examples=60)
@given(tables, tables, tables, tables)
def test_every_constraint_of_a_file_is_there_or_the_file_is_refused(unilateral, bilateral, smallest, surfaces):
    pieces = [one for name, smooth in smallest.items() for one in ([name] if smooth else [f"{name}_1", f"{name}_2"])]
    stated = [*unilateral, *bilateral, *pieces, *surfaces]
    text = text_of(unilateral, bilateral, smallest, surfaces)
    if max(Counter(stated).values(), default=0) > 1:
        with pytest.raises(ModelFileError, match="names two constraints") as caught:
            loads(text)
        assert "line" in str(caught.value)
    else:
        system = loads(text).system
        found = [*system.unilateral, *(name for name in system.bilateral if "." not in name)]
        assert sorted(found) == sorted(stated)


def ball(**more):
    return onesided.System(coordinates=("x", "y"), energy=lambda q, p, th: q @ q, **more)


@pytest.mark.parametrize("table", ["unilateral", "bilateral"])
@pytest.mark.parametrize("opens", [True, False])
def test_surfaces_do_not_replace_constraints(table, opens):
    pair = SurfacePair(
        lambda q, s, th: jnp.stack([q[0] + jnp.cos(s), q[1] + jnp.sin(s)]),
        lambda q, s, th: jnp.stack([s, 0.0 * s]),
        (-np.pi / 2, 0.0),
        opens=opens,
    )
    with pytest.raises(ModelError, match="used twice"):
        with_surfaces(ball(**{table: {"road": lambda q, p, th: q[0] + 5.0}}), {"road": pair})


def test_tables_are_joined_only_where_no_name_is_lost():
    assert joined("gap", {"a": 1}, {}, {"b": 2}) == {"a": 1, "b": 2}
    with pytest.raises(ModelError, match="gap name used twice"):
        joined("gap", {"a": 1}, {"b": 2}, {"a": 3})


def test_the_control_parameter_is_no_coordinate():
    with pytest.raises(ModelError, match="control parameter"):
        ball(control="y")


def test_columns_keep_what_has_the_name_of_another():
    system = onesided.System(
        coordinates=("energy", "arc length"),
        energy=lambda q, p, th: (q[0] - p) ** 2 + (q[1] - 2.0) ** 2,
        measures={"energy": lambda q, p, th: 7.0 + 0.0 * p, "p": lambda q, p, th: 5.0 + 0.0 * p},
    )
    path = onesided.trace(system, [0.0, 2.0], 0.0, p_bounds=(0.0, 1.0))
    found = columns(path)
    np.testing.assert_allclose(found["energy"], found["p"])
    np.testing.assert_allclose(found["coordinate arc length"], 2.0)
    np.testing.assert_allclose(found["measure energy"], 7.0)
    np.testing.assert_allclose(found["measure p"], 5.0)
    np.testing.assert_allclose(found["total energy"], 0.0, atol=1e-12)


def test_a_coordinate_called_like_time_is_a_column_of_a_motion():
    system = onesided.System(
        coordinates=("t",), energy=lambda q, p, th: 0.0 * q[0], mass=lambda q, th: jnp.eye(1), control="energy"
    )
    found = motion_columns(onesided.simulate(system, [0.0], [2.0], (0.0, 1.0)))
    np.testing.assert_allclose(found["coordinate t"], 2.0 * found["t"], atol=1e-9)
    np.testing.assert_allclose(found["total energy"], 2.0)


@pytest.mark.parametrize("name", ["b_x", "c_slack"])
def test_a_parameter_of_a_structure_is_no_coordinate(name):
    """A gap "2 - b_x" would be one of the parameter, and never close."""
    parts = [
        onesided.elements.Node("a", (0.0, 0.0), fixed=True), onesided.elements.Node("b", (1.0, 0.0), fixed="y"),
        onesided.elements.Cable("c", ("a", "b"), stiffness=1.0), onesided.elements.Gap("g", "2 - b_x"),
    ]  # fmt: skip
    assert onesided.compose(*parts, parameters={"a_x": 1.0, "g": 2.0}).n == 2
    with pytest.raises(ModelError, match=f"`{name}` names two things"):
        onesided.compose(*parts, parameters={name: 1.0})
