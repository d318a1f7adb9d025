"""Large systems: the sparse route gives what the dense one gives, redundant constraints included."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from motion_models import four_bars, four_bars_start

from onesided import (
    Compliances,
    GeneralizedAlpha,
    Index3,
    MinimalNorm,
    ModelError,
    Projected,
    Radau,
    ReducedSet,
    System,
    rows,
    simulate,
)
from onesided.system import equations

METHODS = [
    Projected(step=0.05),
    Radau(step=0.02),
    GeneralizedAlpha(step=0.005),
    GeneralizedAlpha(step=0.005, form=Index3()),
]
NAMES = ["projected", "Radau", "alpha", "alpha, index 3"]


@pytest.fixture
def both(monkeypatch):
    """The same motion with dense and with sparse matrices."""

    def run(system, start, end, **knobs):
        found = []
        for limit in (10**6, 0):
            monkeypatch.setattr(equations, "SPARSE_FROM", limit)
            found.append(simulate(system, *start, (0.0, end), **knobs))
        return found

    return run


@pytest.mark.parametrize("N", [10, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_dense_and_sparse_agree(both, N, method):
    dense, sparse = both(four_bars(N), four_bars_start(N, -1.0, 3.0), 0.4, method=method)
    assert sparse.q == pytest.approx(dense.q, abs=1e-10)
    assert sparse.v == pytest.approx(dense.v, abs=1e-9)
    assert sparse.mu == pytest.approx(dense.mu, abs=1e-7)


@cache
def doubled(N=10, twice=(0, 3, 12)):
    """The chain with some of its rods stated twice, the second time ten times as large."""
    plain = four_bars(N)
    lengths = next(iter(plain.bilateral.values())).family

    def all_rods(q, p, th):
        c = lengths(q, p, th)
        return jnp.concatenate([c, 10.0 * c[jnp.array(twice)]])

    return System(
        coordinates=plain.coordinates,
        energy=plain.energy,
        bilateral=rows("rod", 2 * N + 1 + len(twice), all_rods),
        mass=plain.mass,
    )


@pytest.mark.parametrize("method", METHODS[:3], ids=NAMES[:3])
def test_rods_stated_twice_change_nothing_dense_or_sparse(both, method):
    start, m = four_bars_start(10, -1.0, 3.0), 21
    once, _ = both(four_bars(10), start, 0.2, method=method)
    for motion in both(doubled(), start, 0.2, method=method):
        assert motion.q == pytest.approx(once.q, abs=1e-10)
        assert motion.not_unique == tuple(f"rod[{i}]" for i in (0, 3, 12, 21, 22, 23))
        together = motion.mu[:, [0, 3, 12]] + 10.0 * motion.mu[:, m:]
        assert together == pytest.approx(once.mu[:, [0, 3, 12]], abs=1e-7)
        # the smallest multipliers stand in the ratio of the gradients
        assert motion.mu[:, m:] == pytest.approx(10.0 * motion.mu[:, [0, 3, 12]], abs=1e-7)


@pytest.mark.parametrize(
    "rule",
    [MinimalNorm(), Compliances({"rod[0]": 4.0, "rod[22]": 0.5}), ReducedSet(without=("rod[21]", "rod[3]"))],
    ids=["minimal norm", "compliances", "reduced"],
)
def test_shares_are_those_of_the_dense_route(both, rule):
    dense, sparse = both(doubled(), four_bars_start(10, -1.0, 3.0), 0.1, multipliers=rule, method=Projected(step=0.05))
    assert sparse.mu == pytest.approx(dense.mu, abs=1e-7)
    if isinstance(rule, ReducedSet):
        assert np.all(sparse.mu[:, [21, 3]] == 0.0)


def test_a_mass_missing_in_a_large_system_is_named(both):
    n = 40
    light = System(
        coordinates=tuple(f"x{i}" for i in range(n)),
        energy=lambda q, p, th: jnp.sum((q[1:] - q[:-1]) ** 2),
        mass=lambda q, th: jnp.diag(jnp.where(jnp.arange(n) == 17, 0.0, 1.0)),
        bilateral={"first": lambda q, p, th: q[0]},
    )
    with pytest.raises(ModelError, match="motion of x17"):
        both(light, (np.zeros(n), np.zeros(n)), 0.1)


@pytest.mark.slow
def test_start_and_steps_of_a_long_chain_are_not_cubic():
    """Eight times the rods: far less than the 512-fold work of dense matrices."""
    import time

    def seconds(N, method):
        system, start = four_bars(N), four_bars_start(N, -1.0, 3.0)
        simulate(system, *start, (0.0, 0.02), method=method)
        before = time.process_time()
        simulate(system, *start, (0.0, 0.02), method=method)
        return time.process_time() - before

    for method in (Projected(step=0.002), Radau(step=0.002), GeneralizedAlpha(step=0.002)):
        assert seconds(200, method) < 30.0 * seconds(25, method)
