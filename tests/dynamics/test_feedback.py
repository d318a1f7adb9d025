"""Feedback in ordinary Python, held between samples: against exact discrete-time solutions, with every method."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm

from onesided import (
    Baumgarte,
    Contact,
    EventDriven,
    GeneralizedAlpha,
    Moreau,
    Projected,
    Radau,
    Sampled,
    SolveError,
    Status,
    System,
    iter_simulate,
    simulate,
)
from onesided.base.errors import UsageError

KP, KD, RATE = 30.0, 4.0, 50.0


@pytest.fixture(scope="module")
def mass():
    """A unit mass on a weak spring about p, between a wall and open space."""
    return System(
        coordinates=("x",),
        energy=lambda q, p, th: th.k * (q[0] - p) ** 2 / 2,
        parameters={"k": 2.0},
        unilateral={"wall": lambda q, p, th: 1.5 - q[0]},
        mass=lambda q, th: jnp.eye(1),
        contacts={"wall": Contact(restitution=0.0)},
    )


def pd(t, q, v):
    assert isinstance(q, np.ndarray)
    return [KP * (1.0 - float(q[0])) - KD * math.fsum(v)]  # nothing that could be traced


def exact(k, x0, v0, feed, samples, rate=RATE):
    """States at the samples of x'' = −k x + u_j with u_j = feed(x_j, v_j) held, by the exponential of a matrix."""
    A = np.array([[0.0, 1.0, 0.0], [-k, 0.0, 1.0], [0.0, 0.0, 0.0]])
    step, states = expm(A / rate), [np.array([x0, v0])]
    for _ in range(samples):
        x, v = states[-1]
        states.append((step @ [x, v, feed(x, v)])[:2])
    return np.array(states)


@pytest.mark.parametrize(
    ("method", "accuracy"),
    [(Projected(), 1e-9), (EventDriven(), 1e-9), (Radau(rtol=1e-10), 1e-7), (Moreau(step=1e-3), 1e-5)],
)
def test_pd_controller_is_the_exact_discrete_system(mass, method, accuracy):
    motion = simulate(mass, [0.2], [0.5], (0.0, 1.0), method=method, force=Sampled(pd, RATE))
    truth = exact(2.0, 0.2, 0.5, lambda x, v: KP * (1.0 - x) - KD * v, 50)
    q, v = motion.at(np.arange(51) / RATE)
    assert q[:, 0] == pytest.approx(truth[:, 0], abs=accuracy)
    assert motion.v[-1, 0] == pytest.approx(truth[-1, 1], abs=10 * accuracy)
    assert v[0, 0] == pytest.approx(0.5)
    assert motion.ok
    assert motion.energy[-1] - motion.energy[0] == pytest.approx(motion.work[-1], abs=1e-5)


def test_sampled_control_does_work_and_keeps_the_balance(mass):
    """The spring's other end is put where the controller says: x'' = −k (x − p_j)."""
    seen = []

    def follow(t, q, v):
        seen.append(t)
        return 2.0 - q[0] - 0.5 * v[0]

    motion = simulate(mass, [0.1], [0.0], (0.0, 0.4), method=EventDriven(), control=Sampled(follow, RATE))
    truth = exact(2.0, 0.1, 0.0, lambda x, v: 2.0 * (2.0 - x - 0.5 * v), 20)
    assert motion.q[-1, 0] == pytest.approx(truth[-1, 0], abs=1e-9)
    assert seen == pytest.approx(np.arange(20) / RATE, abs=1e-13)
    assert motion.energy - motion.energy[0] == pytest.approx(motion.work, abs=1e-9)
    assert motion.p[0] == pytest.approx(1.9)
    assert motion.ok


@pytest.mark.parametrize("method", [EventDriven(), Moreau(step=1e-3)])
def test_a_controller_pushes_against_a_hard_stop(mass, method):
    """Pushed with a constant error the mass rests at the wall, which bears the force of the controller."""
    motion = simulate(mass, [1.0], [0.0], (0.0, 2.0), method=method,
                      force=Sampled(lambda t, q, v: {"x": 20.0 * (2.0 - q[0]) - 3.0 * v[0]}, 100.0))  # fmt: skip
    assert motion.q[-1, 0] == pytest.approx(1.5, abs=1e-9)
    assert motion.lam[-1, 0] == pytest.approx(20.0 * 0.5 - 2.0 * 1.5, rel=1e-6)
    assert motion.ok


def test_two_rates_and_a_last_interval_that_is_cut(mass):
    force, control = Sampled(lambda t, q, v: [t], 7.0), Sampled(lambda t, q, v: t, 3.0)
    motion = simulate(mass, [0.0], [0.0], (0.0, 1.0), force=force, control=control, method=Projected())
    assert motion.ok
    assert set(np.round(np.concatenate([np.arange(7) / 7, np.arange(3) / 3, [1.0]]), 12)) <= set(np.round(motion.t, 12))
    with pytest.raises(UsageError, match="whole number of sampling intervals"):
        simulate(mass, [0.0], [0.0], (0.0, 1.05), force=force, method=Moreau(step=1e-2))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda t, q, v: [1.0 / (0.1 - t) if t < 0.09 else 1.0 / 0.0], "raised ZeroDivisionError"),
        (lambda t, q, v: [0.0] if t < 0.09 else [0.0, 1.0], r"returned shape \(2,\)"),
        (lambda t, q, v: [0.0] if t < 0.09 else [math.nan], "returned .*nan"),
        (lambda t, q, v: [0.0] if t < 0.09 else {"z": 1.0}, "force on 'z'"),
        (lambda t, q, v: [0.0] if t < 0.09 else None, "returned"),
    ],
)
@pytest.mark.parametrize("method", [Projected(), EventDriven(), Moreau(step=1e-2)])
def test_a_function_that_fails_is_told_with_its_time_and_nothing_is_lost(mass, wrong, words, method):
    with pytest.raises(SolveError, match=words) as caught:
        simulate(mass, [0.2], [0.0], (0.0, 1.0), method=method, force=Sampled(wrong, 50.0))
    motion = caught.value.partial
    assert motion.status is Status.feedback_failed
    assert motion.t[-1] == pytest.approx(0.1)
    assert "t = 0.1" in motion.note


def test_what_cannot_be_sampled_is_refused(mass):
    with pytest.raises(UsageError, match="`force` at t = 0 raised"):
        simulate(mass, [0.0], [0.0], (0.0, 1.0), force=Sampled(lambda t, q, v: [1 / 0], 10.0))
    with pytest.raises(UsageError, match="rate"):
        Sampled(pd, 0.0)
    with pytest.raises(UsageError, match="`function` of `Sampled`"):
        Sampled(3.0, 1.0)
    with pytest.raises(UsageError, match="`force` of `simulate`"):
        simulate(mass, [0.0], [0.0], (0.0, 1.0), force=pd)
    driven = System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: 0.0 * q[0],
        bilateral={"crank": lambda q, p, th: q[0] - p},
        mass=lambda q, th: jnp.eye(2),
    )
    with pytest.raises(UsageError, match=r"would jump.*crank"):
        simulate(driven, [0.0, 0.0], [0.0, 0.0], (0.0, 1.0), control=Sampled(lambda t, q, v: t, 10.0))


@pytest.mark.slow
@pytest.mark.parametrize("method", [GeneralizedAlpha(rtol=1e-6), Baumgarte()])
def test_other_methods_follow_feedback(mass, method):
    motion = simulate(mass, [0.2], [0.5], (0.0, 1.0), method=method, force=Sampled(pd, RATE))
    truth = exact(2.0, 0.2, 0.5, lambda x, v: KP * (1.0 - x) - KD * v, 50)
    assert motion.q[-1, 0] == pytest.approx(truth[-1, 0], abs=1e-4)


def test_states_one_after_the_other(mass):
    states = list(iter_simulate(mass, [0.2], [0.5], (0.0, 0.1), force=Sampled(pd, RATE)))
    truth = exact(2.0, 0.2, 0.5, lambda x, v: KP * (1.0 - x) - KD * v, 5)
    assert states[-1].q[0] == pytest.approx(truth[-1, 0], abs=1e-10)
