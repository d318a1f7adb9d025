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


PENDULUMS = onesided.System(
    ("phi1", "phi2"),
    lambda q, p, th: -th["a"] * q[0] ** 2 + th["b"] * q[0] * q[1] - th["d"] * q[1] ** 2
    + p * (2.0 * th["a"] * q[0] - th["b"] * q[1]),
    unilateral={"stop1": lambda q, p, th: q[0], "stop2": lambda q, p, th: q[1]},
    parameters={"a": 1.0, "b": 1.0, "d": 1.0},
)  # fmt: skip


@pytest.mark.parametrize("method", [None, onesided.FirstOrder()], ids=["exact", "first-order"])
@pytest.mark.parametrize("seed", range(6))
def test_a_path_ends_whatever_the_stiffness(seed, method):
    """φ = (p, 0) for p > 0, nothing for p < 0 if b² < 4ad: the gap that is zero all along is zero at the end too."""
    rng = np.random.default_rng(seed)
    a, d = 10.0 ** rng.uniform(-3, 3, 2)
    system = PENDULUMS.replace(parameters={"a": a, "b": rng.uniform(0.05, 1.9) * np.sqrt(a * d), "d": d})
    options = {} if method is None else {"method": method}
    path = onesided.trace(system, [1.0, 0.0], 1.0, direction=-1, p_bounds=(-1.0, 2.0), **options)
    assert [kind.name for kind in path.kinds()] == ["end"]
    assert path.events[0].p == pytest.approx(0.0, abs=1e-9)
