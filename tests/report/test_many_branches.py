"""Many branches: families by a closed form, each drawn once on a sheet, and picked from a list on a page."""

import functools
from math import comb

import jax.numpy as jnp
import matplotlib as mpl
import pytest

import onesided
from onesided import plots
from onesided.base.errors import UsageError
from onesided.plots import View
from onesided.plots.family_sheet import family_sheet
from onesided.results import Line, Sketch

mpl.use("Agg")
UNITS = 4


def energy(q, p, th):
    return (1 - p) * jnp.sum(q) - jnp.sum(q**2) / 2


@functools.cache
def units():
    """Units that do not know of each other: x = 0 with the reaction 1 − p, or open and unstable at x = 1 − p."""
    feet = {f"a{i}": (float(i), 0.0) for i in range(UNITS)}
    tops = {f"b{i}": (float(i), f"x{i}") for i in range(UNITS)}
    sketch = Sketch(points=feet | tops, lines=tuple(Line((f"a{i}", f"b{i}")) for i in range(UNITS)))
    system = onesided.System(
        coordinates=tuple(f"x{i}" for i in range(UNITS)),
        energy=energy,
        unilateral={f"c{i}": (lambda q, p, th, i=i: q[i]) for i in range(UNITS)},
        sketch=sketch,
    )
    return onesided.diagram(system, [0.0] * UNITS, 0.0, p_bounds=(-1, 2))


def test_families_are_the_numbers_of_open_units():
    """At p = 1 any of the units may open: C(n, k) branches with k open ones, each with k negative modes.

    The path from the start goes on as one of those with a single open unit.
    """
    found = units()
    assert found.complete
    sizes = {}
    for family in found.families:
        if found.parents[family[0]] >= 0:
            modes = int(found.paths[family[0]].instability.max())
            sizes[modes] = sizes.get(modes, 0) + len(family)
    assert sizes == {k: comb(UNITS, k) - (k == 1) for k in range(1, UNITS + 1)}


def test_a_sheet_has_a_cell_for_each_family(tmp_path):
    found = units()
    figure = family_sheet(found, title="Units")
    titles = [cell._suptitle.get_text() for sheet in figure.subfigs for cell in sheet.subfigs]
    wanted = [f"{one[0]}" + (f" × {len(one)}" if len(one) > 1 else "") for one in found.families]
    assert [text for text in titles if text] == wanted
    for kind in ("svg", "pdf"):
        assert plots.write(found, tmp_path / f"a.{kind}", view=View.families).stat().st_size > 5_000


def test_only_diagrams_have_families():
    with pytest.raises(UsageError, match="only a diagram"):
        family_sheet(units().paths[0])


def test_notes_name_every_reason_once():
    """Cut off by a limit, the note says so once, whatever the number of branches."""
    system = onesided.zoo.load("column").system
    found = onesided.diagram(system, max_branches=1, throw=False)
    assert not found.complete
    assert found.note.count("limits reached") == 1


def test_the_branch_that_is_picked_is_singled_out(open_page, tmp_path):
    found = units()
    tab = open_page(onesided.report.write(found, tmp_path / "many.html"))
    items = tab.page.locator("#branches li:visible button")
    assert items.count() == len(found.families), "those that look alike are folded"
    seen = set()
    for i in range(items.count()):
        items.nth(i).click()
        seen.add(tab.picture("diagram-top"))
    assert len(seen) == items.count(), "every one looks different"
    tab.page.get_by_label("those that look alike").check()
    assert tab.page.locator("#branches li:visible").count() == len(found.paths)
    tab.page.locator("#branch-filter").fill("branch 7")
    assert tab.page.locator("#branches li:visible").count() == 1


def test_many_notes_are_folded():
    words = onesided.report.page._warned([f"note {i}" for i in range(12)])
    assert words.count("<p ") == 12
    assert words.index("<details>") > words.index("note 2")
    assert "9 more notes" in words
