"""Two systems integrated apart: the motion of both together, and Gauss–Seidel sweeps that contract or do not."""

import jax.numpy as jnp
import numpy as np
import pytest

import onesided
from onesided import GaussSeidelSweeps, HiddenConstraint, Projected, Status, System, couple, simulate

G = 9.81
START = (([1.0, 0.0], [0.0, 0.0]), ([2.0, 0.0], [0.0, 0.0]))


def distance(a, b):
    return (jnp.sum((a - b) ** 2) - 1.0) / 2


@pytest.fixture(scope="module")
def pendulum():
    return System(
        ("x", "y"), energy=lambda q, p, th: G * q[1], mass=lambda q, th: jnp.eye(2),
        bilateral={"rod": lambda q, p, th: (q @ q - 1.0) / 2},
    )  # fmt: skip


@pytest.fixture(scope="module")
def bob():
    return System(
        ("x", "y"), energy=lambda q, p, th: th.m * G * q[1], mass=lambda q, th: th.m * jnp.eye(2), parameters={"m": 0.5}
    )


def test_apart_is_the_same_as_together_to_second_order(pendulum, bob):
    """A double pendulum as one system against a pendulum and a bob, the bob in smaller steps of its own."""
    together = System(
        ("x", "y", "X", "Y"),
        energy=lambda q, p, th: G * (q[1] + 0.5 * q[3]),
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, 0.5, 0.5])),
        bilateral={"a": lambda q, p, th: (q[:2] @ q[:2] - 1.0) / 2, "b": lambda q, p, th: distance(q[:2], q[2:])},
    )
    exact = simulate(together, [1.0, 0.0, 2.0, 0.0], [0.0] * 4, (0.0, 0.5), method=Projected(rtol=1e-10)).q[-1]
    off = []
    for h in (0.02, 0.01):
        found = couple(pendulum, bob, distance, START, (0.0, 0.5), step=h, inner=(1, 2))
        off.append(np.max(np.abs(np.concatenate([q[-1] for q in found.q]) - exact)))
        assert found.drift.max() < 1e-12
        assert np.max(np.abs(np.sum((found.q[0] - found.q[1]) * (found.v[0] - found.v[1]), axis=1))) < 1e-12
    assert np.log2(off[0] / off[1]) == pytest.approx(2.0, abs=0.15)


def test_sweeps_contract_by_the_ratio_of_masses_and_diverge_in_the_other_order(pendulum, bob):
    """Two free masses on a rod: a sweep multiplies errors by m₂/m₁ of (first, second)."""
    turning = (([1.0, 0.0], [0.0, 0.0]), ([2.0, 0.0], [0.0, 3.0]))
    light, heavy = bob.replace(parameters={"m": 0.5}), bob.replace(parameters={"m": 2.0})
    good = couple(heavy, light, distance, turning, (0.0, 0.1), step=0.01, coupling=GaussSeidelSweeps())
    assert good.contraction == pytest.approx(0.25)
    assert good.note == ""
    bad = couple(
        light, heavy, distance, turning[::-1], (0.0, 0.1), step=0.01, coupling=GaussSeidelSweeps(), throw=False
    )
    assert bad.status is Status.stalled
    assert "4" in bad.note
    assert "HiddenConstraint" in bad.note
    stable = couple(light, heavy, distance, turning[::-1], (0.0, 0.1), step=0.01, coupling=HiddenConstraint())
    assert "diverges" in stable.note  # what sweeps would do in this order is said
    for k in (0, 1):
        assert stable.q[k][-1] == pytest.approx(good.q[1 - k][-1], abs=1e-11)
    pull = 0.4 * 9.0  # reduced mass times v²/r along the rod at the start
    assert np.abs(stable.force[1]) == pytest.approx(pull, rel=1e-3)


def test_energy_of_both_stays(pendulum, bob):
    found = couple(bob, pendulum, distance, (START[1], START[0]), (0.0, 2.0), step=0.005)
    first, last = np.array_split(found.energy, 4)[0], np.array_split(found.energy, 4)[-1]
    assert np.ptp(last) < 3.0 * np.ptp(first) + 1e-3


def test_bad_joints_are_refused(pendulum, bob):
    with pytest.raises(onesided.OnesidedError, match="open at the start"):
        couple(pendulum, bob, distance, (START[0], ([3.0, 0.0], [0.0, 0.0])), (0.0, 1.0), step=0.01)
    with pytest.raises(onesided.OnesidedError, match="cannot be evaluated"):
        couple(pendulum, bob, lambda a: a, START, (0.0, 1.0), step=0.01)
    with pytest.raises(onesided.OnesidedError, match="inner"):
        couple(pendulum, bob, distance, START, (0.0, 1.0), step=0.01, inner=(0, 1))
