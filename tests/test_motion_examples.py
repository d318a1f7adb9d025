"""The examples of motion run, and their key numbers are right."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))


def test_four_bars():
    example = importlib.import_module("ex10_four_bars")
    assert example.end == pytest.approx([0.4783850578, 0.8781501788], abs=1e-6)
    assert len(example.motion.events) == 10


def test_heavy_top():
    assert importlib.import_module("ex11_heavy_top").end == pytest.approx(
        [0.173343964, 0.640088592, -0.748490791], abs=1e-6
    )


def test_penalty_joint():
    """The rigid multiplier is largest where the bob is lowest: 2g(1 − cos 60°) + g; ringing nearly doubles it."""
    example = importlib.import_module("ex12_penalty_joint")
    assert example.rigid == pytest.approx(2 * 9.81, rel=2e-3)
    ringing, smooth = example.excess
    assert 0.2 < ringing < 1.0
    assert abs(smooth) < 2e-3


def test_servo_crane():
    example = importlib.import_module("ex13_servo_crane")
    assert example.largest == pytest.approx(5.509840322, abs=2e-3)
    assert "index 5" in example.motion.note
    assert example.motion.q[-1] == pytest.approx(np.ones(2), abs=1e-8)
