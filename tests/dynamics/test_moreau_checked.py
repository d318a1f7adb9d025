"""Time stepping that checks itself: momentum balance, work of projections, implicit forces against closed forms."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from contact_models import G, ball, column, column_start, incline, puck, rocking_block, tilted

from onesided import Contact, Moreau, Status, System, simulate
from onesided.dynamics.contacts import moreau_leaps
from onesided.dynamics.contacts.impulses import Impulses


@cache
def oscillator(k, e=0.0, c=0.0, rest=0.0):
    """A unit mass on a spring that is loose at `rest`, in front of a stop at x = 0."""
    return System(
        coordinates=("x",),
        energy=lambda q, p, th: 0.5 * k * (q[0] - rest) ** 2,
        unilateral={"stop": lambda q, p, th: q[0]},
        mass=lambda q, th: jnp.eye(1),
        force=(lambda t, q, v, p, th: -c * v) if c else None,
        contacts={"stop": Contact(restitution=e)},
    )


# momentum


@pytest.mark.parametrize(
    ("system", "q", "v"),
    [
        (ball(), [1.0], [0.0]),
        (column(4), column_start(4), np.zeros(4)),
        (incline(0.5, 0.3), [0.0, 0.0], [1.0, 0.0]),
        (puck(0.3), [0.0, 0.0, 0.2], [1.0, 2.0, 0.0]),
        (rocking_block(friction=0.4), tilted(0.05), np.zeros(3)),
    ],
    ids=["ball", "column", "incline", "puck", "rocking block"],
)
@pytest.mark.parametrize("theta", [None, 0.5, 0.8])
def test_momentum_balance_of_every_step_is_met(system, q, v, theta):
    motion = simulate(system, q, v, (0.0, 0.6), method=Moreau(step=5e-3, theta=theta), throw=False)
    assert motion.drift.balance.max() < 1e-12
    assert motion.provenance["momentum balance"] == motion.drift.balance.max()


def test_momentum_balance_by_hand():
    """Impulses of the floor are the change of momentum less that of gravity."""
    h, motion = 2e-3, simulate(ball(), [1.0], [0.0], (0.0, 1.0), method=Moreau(step=2e-3))
    assert np.diff(motion.v[:, 0]) == pytest.approx(h * (motion.lam[1:, 0] - G), abs=1e-13)


def test_a_solver_that_lies_is_found_out(monkeypatch):
    right = Impulses.of

    def wrong(self, step, **options):
        found = right(self, step, **options)
        return found._replace(v=found.v + 1e-6)

    monkeypatch.setattr(Impulses, "of", wrong)
    motion = simulate(ball(), [0.1], [0.0], (0.0, 0.2), method=Moreau(step=2e-3), throw=False)
    assert motion.status is Status.inaccurate
    assert "balance residual" in motion.note


def test_many_steps_in_one_call_are_the_same_as_one_by_one(monkeypatch):
    span, method = (0.0, 1.0), Moreau(step=2e-3)
    monkeypatch.setattr(moreau_leaps, "WORTH", 0)
    leapt = [simulate(column(), column_start(), np.zeros(10), span, method=method),
             simulate(ball(), [0.3], [0.0], (0.0, 3.0), method=method)]  # fmt: skip
    monkeypatch.setattr(moreau_leaps, "MOST", 0)
    single = [simulate(column(), column_start(), np.zeros(10), span, method=method),
              simulate(ball(), [0.3], [0.0], (0.0, 3.0), method=method)]  # fmt: skip
    for a, b in zip(leapt, single, strict=True):
        assert a.q == pytest.approx(b.q, abs=1e-12)
        assert a.lam == pytest.approx(b.lam, abs=1e-7)
        assert [event.words() for event in a.events] == [event.words() for event in b.events]


# projections


def test_work_of_projections_has_its_own_account():
    motion = simulate(column(), column_start(), np.zeros(10), (0.0, 1.0), method=Moreau(step=4e-3))
    assert motion.provenance["projections"] > 0
    assert motion.projection[-1] > 0.0  # balls are lifted
    change = motion.energy - motion.energy[0] - motion.work - motion.projection
    assert np.abs(change).max() < 1e-3 * 10
    assert "putting positions back" in motion.note
    finer = simulate(column(), column_start(), np.zeros(10), (0.0, 1.0), method=Moreau(step=1e-3))
    assert finer.projection[-1] < motion.projection[-1]


def test_moving_floor_does_work():
    """A floor that rises with constant speed carries a ball: the work of its force is m g times the way."""
    lift = System(
        coordinates=("z",),
        energy=lambda q, p, th: G * q[0],
        unilateral={"floor": lambda q, p, th: q[0] - p},
        mass=lambda q, th: jnp.eye(1),
    )
    motion = simulate(lift, [0.0], [0.5], (0.0, 1.0), method=Moreau(step=1e-2), control=lambda t: 0.5 * t)
    assert motion.q[-1, 0] == pytest.approx(0.5, abs=1e-12)
    assert motion.work[-1] == pytest.approx(G * 0.5, rel=1e-12)


# stiff springs


def test_theta_of_a_half_turns_by_the_angle_of_the_midpoint_rule_and_keeps_energy():
    """X_n = cos(n α), tan(α/2) = ω h/2, for steps far beyond what explicit forces allow."""
    omega, h, rest = 1e3, 1e-2, 5.0
    motion = simulate(
        oscillator(omega**2, rest=rest), [rest + 1.0], [0.0], (0.0, 1.0), method=Moreau(step=h, theta=0.5)
    )
    alpha = 2 * np.arctan(omega * h / 2)
    assert motion.q[:, 0] - rest == pytest.approx(np.cos(alpha * np.arange(101)), abs=1e-10)
    assert motion.energy == pytest.approx(np.full(101, 0.5 * omega**2), rel=1e-11)
    assert motion.ok


def test_explicit_forces_with_too_long_a_step_are_called_inaccurate():
    motion = simulate(oscillator(1e6, rest=5.0), [5.1], [0.0], (0.0, 0.1), method=Moreau(step=1e-2), throw=False)
    assert not motion.ok
    assert "theta" in motion.note or motion.status is Status.not_finite


@pytest.mark.parametrize("e", [0.5, 1.0])
def test_oscillator_with_a_stop_bounces_as_its_closed_form(e):
    """A half wave between impacts: x = eⁿ v/ω |sin ω t|, impacts at n π/ω."""
    omega, v, errors = 40.0, 1.0, []
    for h in (4e-4, 2e-4, 1e-4):
        motion = simulate(
            oscillator(omega**2, e), [0.0], [v], (0.0, 2.5 * np.pi / omega), method=Moreau(step=h, theta=0.5)
        )
        n = np.floor(motion.t * omega / np.pi)
        exact = e**n * v / omega * np.abs(np.sin(omega * motion.t))
        errors.append(np.mean(np.abs(motion.q[:, 0] - exact)) * omega / v)
        assert motion.q.min() >= -1e-15
    assert errors[-1] < 0.01
    assert errors[-1] < 0.6 * errors[0]


def test_stiff_pair_lands_and_comes_to_rest_with_implicit_euler():
    """Two masses with a spring of frequency 1.4e4 fall on a floor in steps of 1 ms; at rest the spring carries one."""
    m, k, L = 1.0, 1e8, 0.2
    pair = System(
        coordinates=("a", "b"),
        energy=lambda q, p, th: m * G * jnp.sum(q) + 0.5 * k * (q[1] - q[0] - L) ** 2,
        unilateral={"floor": lambda q, p, th: q[0]},
        mass=lambda q, th: m * jnp.eye(2),
    )
    motion = simulate(pair, [0.1, 0.1 + L], [0.0, 0.0], (0.0, 0.5), method=Moreau(step=1e-3, theta=1.0))
    falling = motion.t < 0.1
    assert motion.v[falling, 0] == pytest.approx(-G * motion.t[falling], abs=1e-9)
    assert motion.q[-1] == pytest.approx([0.0, L - m * G / k], abs=1e-9)
    assert motion.lam[-1, 0] == pytest.approx(2 * m * G, rel=1e-6)
    assert motion.v[-1] == pytest.approx(0.0, abs=1e-6)


def test_implicit_damping_decays_as_it_should():
    """Overdamped motion against the stop: x = x₀ exp(−k t/c) for c² ≫ k m, with h c far above 2."""
    c, k = 1e5, 1e5
    motion = simulate(oscillator(k, c=c), [1.0], [-1.0], (0.0, 2.0), method=Moreau(step=1e-3, theta=0.5))
    assert motion.q[:, 0] == pytest.approx(np.exp(-motion.t), abs=2e-5)


@pytest.mark.parametrize("theta", [0.4, 1.1, np.nan])
def test_theta_out_of_range(theta):
    from onesided.base.errors import UsageError

    with pytest.raises(UsageError, match="theta"):
        Moreau(theta=theta)
