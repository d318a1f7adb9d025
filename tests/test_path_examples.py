"""The examples of paths run, and their key numbers are right."""

import importlib
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))


def test_snap_on_a_stop():
    example = importlib.import_module("ex01_snap_on_a_stop")
    assert example.corner.p == pytest.approx(0.0, abs=1e-12)
    assert example.released == pytest.approx(2.0, rel=1e-9)


def test_von_mises_truss():
    example = importlib.import_module("ex02_von_mises_truss")
    assert example.limit == pytest.approx(example.exact, rel=1e-12)
    assert example.landing == pytest.approx([0.0, example.FLOOR], abs=1e-12)
    assert example.history.jumps[0].p == pytest.approx(example.exact, rel=1e-9)
