"""The papers' own method (first-order equations integrated) against predictor and corrector, on bundled models."""

import numpy as np
import pytest

import onesided
from onesided import zoo

# events to compare, where the whole path takes long
LIMITS = {"bistable-chain": 6, "bistable-chain-parts": 2, "end-point-horizontal": 1}
# slender beams are stiff for an explicit integration; the ring has 255 ways to go on at its first event
LEFT_OUT = {"arch-on-floor", "column-between-walls", "panel-ring"}
NAMES = [name for name in zoo.names() if name not in LEFT_OUT and "[motion]" not in zoo.text(name)]
SLOW = {"lee-frame", "williams-toggle", "scissor-lift", "cable-net"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in NAMES]
)
def test_same_events(name):
    system, task = zoo.load(name)
    options = {"direction": task.direction, "p_bounds": task.p_bounds, "max_events": LIMITS.get(name)}
    exact = onesided.trace(system, task.start, task.p, **options)
    other = onesided.trace(system, task.start, task.p, method=onesided.FirstOrder(), **options)
    assert other.kinds() == exact.kinds() and other.status is exact.status
    for a, b in zip(exact.events, other.events, strict=True):
        assert b.p == pytest.approx(a.p, abs=1e-7)
        np.testing.assert_allclose(b.q, a.q, atol=1e-7)
        np.testing.assert_allclose(b.lam, a.lam, atol=1e-6)
        assert (b.instability_before, b.instability_after) == (a.instability_before, a.instability_after)
        assert len(b.rays) == len(a.rays) and b.constraints == a.constraints
    assert other.residual < 1e-8
