"""Ten thousand random paths and histories against exact oracles: nothing wide may be missed in silence."""

import logging
from types import ModuleType

import pytest

from . import drives, one_coordinate, straight, units
from .verdicts import campaign

FLAGGED = 0.03  # share of the cases in which the library may say that it did not find its way

QUICK = [(one_coordinate, 80), (straight, 50), (units, 60), (drives, 20)]
LONG = [(one_coordinate, 3000, 1000), (straight, 2000, 1000), (units, 2000, 1000), (drives, 1000, 250)]


def check(module: ModuleType, seeds: range) -> None:
    summary = campaign(module.__name__, module.judge, seeds)
    logging.getLogger(__name__).warning("%s", summary.words())
    assert summary.worst() == [], summary.listing()
    assert summary.counts["flagged"] <= max(FLAGGED * len(seeds), 2), summary.listing()


@pytest.mark.parametrize(("module", "count"), QUICK, ids=lambda value: getattr(value, "__name__", ""))
def test_a_few(module, count):
    check(module, range(count))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "first", "count"),
    [(module, first, count) for module, total, count in LONG for first in range(1_000, 1_000 + total, count)],
    ids=lambda value: getattr(value, "__name__", "").rpartition(".")[2] or str(value),
)
def test_many(module, first, count):
    check(module, range(first, first + count))
