"""Ten thousand random paths, diagrams and histories against exact oracles: nothing wide may be missed in silence.

The counts of each campaign are printed at the end of the test run.
"""

import pytest

from . import bundled, curved, drives, one_coordinate, straight, two_coordinates, units, waves
from .verdicts import campaign, guarded

FAMILIES = {module.__name__.rpartition(".")[2]: module for module in (
    one_coordinate, straight, units, curved, drives, two_coordinates, waves, bundled)}  # fmt: skip
FLAGGED = 0.05  # share of the cases in which the library may say that it did not find its way
UNDECIDED = 0.02  # share of the cases in which the oracle may give up

QUICK = {"one_coordinate": 16, "straight": 6, "units": 4, "curved": 1, "drives": 3, "two_coordinates": 2}
QUICK |= {"waves": 2, "bundled": 2}
LONG = {
    "one_coordinate": (3000, 1000),
    "straight": (2000, 500),
    "units": (2000, 500),
    "curved": (1000, 250),
    "drives": (1000, 200),
    "two_coordinates": (1000, 250),
    "waves": (1000, 200),
    "bundled": (130, 65),
}


def check(family, seeds, record_property):
    summary = campaign(family, FAMILIES[family].judge, seeds)
    record_property("campaign", summary.words())
    assert summary.worst() == [], summary.listing()
    assert summary.counts["flagged"] <= max(FLAGGED * len(seeds), 2), summary.listing()
    assert summary.counts["undecided"] <= UNDECIDED * len(seeds), summary.listing()


@pytest.mark.parametrize("family", QUICK)
def test_a_few(family, record_property):
    check(family, range(QUICK[family]), record_property)


def test_the_middle_of_a_step_does_not_outlive_its_leg():
    """A step beyond a contact that opened left its middle on the next leg, which has fewer unknowns."""
    assert straight.judge(700109).outcome == "right"


def test_two_forks_closer_together_than_a_step_are_told_apart():
    """Newton's method leads from the first to the second, seen from beyond both."""
    assert straight.judge(900116).outcome == "right"


def test_a_slide_lands_on_a_peg_that_is_smaller_than_a_step():
    """Its curvature times the reaction is a thousand million times the stiffness of the system."""
    assert drives.judge(900125).outcome == "right"


def test_a_contact_that_has_opened_does_not_open_again():
    """Beside a reaction 10⁸ times as large, rounding hides the gap on the first steps of the leg."""
    assert curved.judge(3002643).outcome == "right"


def test_equations_that_overflow_end_a_path_in_words():
    """The path runs off to infinity; where its tangent is lost, it ends with a status."""
    assert guarded(curved.judge, 3000146).outcome in {"right", "flagged"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "first"),
    [(family, first) for family, (total, share) in LONG.items() for first in range(1000, 1000 + total, share)],
)
def test_many(family, first, record_property):
    check(family, range(first, first + LONG[family][1]), record_property)


def test_a_gap_that_is_nearly_tangent_opens():
    """Its terms cancel: rounding is more than what a gap with so small a slope is measured by."""
    assert units.judge(9100163).outcome == "right"
