"""Coulomb friction between events: sticking and slipping at the times of closed forms, and forces that do not exist."""

import jax.numpy as jnp
import numpy as np
import pytest
from contact_models import G, belt, incline, puck, rocking_block, rod, tilted
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from onesided import Contact, EventDriven, Moreau, Status, System, iter_simulate, simulate, with_contacts
from onesided.dynamics.contacts import phase_changes
from onesided.dynamics.contacts.friction_modes import ContactDecision
from onesided.dynamics.contacts.sliding import ContactMode

EVENTS = EventDriven()


def moments(motion, *kinds):
    return [event for event in motion.events if event.kind.name in kinds]


# the incline


@pytest.mark.parametrize(("slope", "mu"), [(0.2, 0.3), (0.45, 0.3)])
def test_block_on_an_incline_sticks_or_slides(slope, mu):
    phi, t = np.arctan(slope), 0.5
    motion = simulate(incline(phi, mu), [0.0, 0.0], [0.0, 0.0], (0.0, t), method=EVENTS)
    a = G * max(0.0, np.sin(phi) - mu * np.cos(phi))
    assert np.hypot(*motion.q[-1]) == pytest.approx(a * t**2 / 2, abs=1e-13)
    assert motion.lam[:, 0] == pytest.approx(np.full(len(motion), G * np.cos(phi)), rel=1e-12)
    friction = G * min(np.sin(phi), mu * np.cos(phi))
    assert motion.tangential[:, 0] == pytest.approx(np.full(len(motion), friction), rel=1e-12)
    assert motion.drift.worst < 1e-12


@settings(max_examples=12, deadline=None)
@given(slope=st.floats(0.05, 1.0), mu=st.floats(0.05, 1.0), v=st.floats(0.2, 3.0))
def test_block_pushed_up_stops_and_stays_or_comes_back(slope, mu, v):
    phi = np.arctan(slope)
    if abs(slope - mu) < 1e-3:
        return
    along = np.array([np.cos(phi), np.sin(phi)])
    stop = v / (G * (np.sin(phi) + mu * np.cos(phi)))
    motion = simulate(incline(phi, mu), [0.0, 0.0], v * along, (0.0, 1.5 * stop), method=EVENTS)
    (event,) = moments(motion, "sticks", "slips")
    assert event.t == pytest.approx(stop, rel=1e-10)
    assert event.kind.name == ("sticks" if slope < mu else "slips")
    back = G * max(0.0, np.sin(phi) - mu * np.cos(phi)) * (0.5 * stop) ** 2 / 2
    assert motion.q[-1] @ along == pytest.approx(v * stop / 2 - back, abs=1e-9)
    assert motion.energy[-1] - motion.energy[0] == pytest.approx(motion.work[-1], abs=1e-9)


# the belt


def belt_times(mu, X, omega):
    """When the belt's acceleration exceeds the friction, and when the block has the belt's velocity again."""
    slip = np.arcsin(mu * G / (X * omega**2)) / omega
    v = X * omega * np.cos(omega * slip)

    def relative(t):
        return v - mu * G * (t - slip) - X * omega * np.cos(omega * t)

    return slip, brentq(relative, slip + 1e-3, slip + 2 * np.pi / omega, xtol=1e-15)


def test_block_on_an_oscillating_belt_sticks_and_slips_at_the_right_times():
    mu, X, omega = 0.3, 0.1, 8.0
    slip, end = belt_times(mu, X, omega)
    span = (0.0, end + 0.02)
    motion = simulate(belt(mu, X, omega), [0.0, 0.0, 0.0], [X * omega, X * omega, 0.0], span, method=EVENTS,
                      control=lambda t: t)  # fmt: skip
    first, second = moments(motion, "slips", "sticks")[:2]
    assert first.kind.name == "slips"
    assert first.t == pytest.approx(slip, abs=1e-9)
    assert second.t == pytest.approx(end, abs=1e-9)
    again = X * omega**2 * abs(np.sin(omega * end)) <= mu * G
    assert second.kind.name == ("sticks" if again else "slips")
    before = motion.t < slip
    assert motion.q[before, 1] == pytest.approx(motion.q[before, 0], abs=1e-12)
    stepped = simulate(belt(mu, X, omega), [0.0, 0.0, 0.0], [X * omega, X * omega, 0.0], span,
                       method=Moreau(step=2e-4), control=lambda t: t)  # fmt: skip
    sample = np.linspace(*span, 50)
    assert stepped.at(sample)[0] == pytest.approx(motion.at(sample)[0], abs=2e-4)


def test_belt_for_several_periods_agrees_with_time_stepping():
    mu, X, omega = 0.3, 0.1, 8.0
    start = ([0.0, 0.0, 0.0], [X * omega, X * omega, 0.0], (0.0, 1.5))
    exact = simulate(belt(mu, X, omega), *start, method=EVENTS, control=lambda t: t)
    errors = []
    for h in (4e-3, 5e-4):
        stepped = simulate(belt(mu, X, omega), *start, method=Moreau(step=h), control=lambda t: t)
        errors.append(np.abs(stepped.q[-1] - exact.q[-1]).max())
    assert errors[1] < 2e-4
    assert errors[1] < 0.3 * errors[0]
    assert len(moments(exact, "slips", "sticks")) >= 4


# the disk, the puck, impacts


def test_disk_slides_until_it_rolls():
    """Of a speed v, two thirds are left, from t = v/(3 μ g) on."""
    r, v, mu = 0.5, 1.2, 0.2
    disk = System(
        coordinates=("x", "y", "turn"),
        energy=lambda q, p, th: G * q[1],
        unilateral={"floor": lambda q, p, th: q[1] - r},
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, r**2 / 2])),
        contacts={"floor": Contact(friction=mu, slip=lambda q, u, th: u[0] + r * u[2])},
    )
    motion = simulate(disk, [0.0, r, 0.0], [v, 0.0, 0.0], (0.0, 0.5), method=EVENTS)
    (rolls,) = moments(motion, "sticks")
    assert rolls.t == pytest.approx(v / (3 * mu * G), rel=1e-11)
    assert motion.v[-1] == pytest.approx([2 * v / 3, 0.0, -2 * v / (3 * r)], abs=1e-12)


@pytest.mark.parametrize("angle", [0.0, 0.7, 2.5])
def test_puck_in_space_stops_where_it_should(angle):
    mu, v = 0.4, 3.0
    way = np.array([np.cos(angle), np.sin(angle), 0.0])
    motion = simulate(puck(mu), [0.0, 0.0, 0.0], v * way, (0.0, 1.0), method=EVENTS)
    (stops,) = moments(motion, "sticks")
    assert stops.t == pytest.approx(v / (mu * G), rel=1e-9)
    assert motion.q[-1] == pytest.approx(v**2 / (2 * mu * G) * way, abs=1e-9)


def test_puck_on_a_slope_in_space_turns_downhill():
    """On a slope of the angle of friction the speed and its downhill part keep their sum: v(1 + cos ψ) is constant."""
    mu, v = 0.3, 2.0
    phi = np.arctan(mu)
    n, down = np.array([np.sin(phi), 0.0, np.cos(phi)]), np.array([np.cos(phi), 0.0, -np.sin(phi)])
    slope = System(
        coordinates=("x", "y", "z"),
        energy=lambda q, p, th: G * q[2],
        unilateral={"slope": lambda q, p, th: jnp.asarray(n) @ q},
        mass=lambda q, th: jnp.eye(3),
        contacts={
            "slope": Contact(friction=mu, slip=lambda q, u, th: jnp.array([jnp.asarray(down) @ u, u[1]])),
        },
    )
    motion = simulate(slope, [0.0, 0.0, 0.0], [0.0, v, 0.0], (0.0, 3.0), method=EVENTS)
    along = motion.v @ down
    assert np.hypot(along, motion.v[:, 1]) + along == pytest.approx(np.full(len(motion), v), abs=1e-8)


@pytest.mark.parametrize(("vx", "sticks"), [(0.5, True), (4.0, False)])
def test_oblique_impact(vx, sticks):
    """Of an impact with speed u: normal impulse (1 + e) u; tangential the whole slip, or μ times that."""
    mu, e, u = 0.3, 0.6, 3.0
    system = with_contacts(puck(mu), {"floor": Contact(restitution=e, friction=mu, slip=lambda q, v, th: v[:2])})
    motion = simulate(system, [0.0, 0.0, 0.3], [vx, 0.0, -u], (0.0, 0.2), method=EVENTS)
    hit = np.sqrt(u**2 + 2 * G * 0.3)
    assert motion.v[-1, 0] == pytest.approx(0.0 if sticks else vx - mu * (1 + e) * hit, abs=1e-12)
    assert motion.events[0].kind.name == "impact"
    fallen = (hit - u) / G
    assert motion.v[-1, 2] == pytest.approx(e * hit - G * (0.2 - fallen), abs=1e-10)


def test_rocking_block_on_a_floor_that_is_rough_enough_rocks_like_on_a_rough_one():
    exact = simulate(rocking_block(), tilted(0.05), np.zeros(3), (0.0, 0.25), method=EVENTS)
    found = simulate(rocking_block(friction=5.0), tilted(0.05), np.zeros(3), (0.0, 0.25), method=EVENTS)
    assert found.q[-1] == pytest.approx(exact.q[-1], abs=1e-9)
    assert not moments(found, "slips")


def test_forces_that_are_a_choice_are_told():
    """A block at rest on two corners: nobody knows which one takes the friction, the motion is known all the same."""
    start = [0.0, 1.0, 0.0]
    motion = simulate(rocking_block(friction=0.5), start, np.zeros(3), (0.0, 0.1), method=EVENTS)
    assert set(motion.not_unique) == {"left", "right"}
    assert motion.q[-1] == pytest.approx(start, abs=1e-12)
    assert motion.lam[-1] == pytest.approx([G / 2, G / 2])


# Painlevé


def contact_mass(mu, angle):
    """Normal acceleration of the tip per unit of pressure, for a rod that slides towards −x; unit mass."""
    return 1.0 + 3.0 * np.cos(angle) * (np.cos(angle) - mu * np.sin(angle))


def sliding(angle, speed, turning=0.0, length=2.0):
    half = length / 2
    q = [0.0, half * np.sin(angle), angle]
    return q, [speed - half * np.sin(angle) * turning, half * np.cos(angle) * turning, turning]


def test_painleve_rod_without_a_force_is_told():
    mu, angle = 2.0, 1.0
    assert contact_mass(mu, angle) < 0
    motion = simulate(rod(mu), *sliding(angle, -1.0), (0.0, 0.5), method=EVENTS, throw=False)
    assert motion.status is Status.jammed
    assert "no contact force fits" in motion.note
    assert "Moreau" in motion.status.value
    assert len(motion) == 1


def test_painleve_rod_with_two_forces_is_told():
    """Turning so fast that the tip would lift off: pressing on fits as well."""
    mu, angle = 2.0, 1.0
    motion = simulate(rod(mu), *sliding(angle, -5.0, turning=6.0), (0.0, 0.5), method=EVENTS, throw=False)
    assert motion.status is Status.jammed
    assert "both fit" in motion.note
    assert "balance" not in motion.note


def test_painleve_rod_is_harmless_the_other_way_and_below_four_thirds():
    for mu, speed in ((2.0, 1.0), (1.3, -1.0)):
        motion = simulate(rod(mu), *sliding(1.0, speed), (0.0, 0.05), method=EVENTS)
        assert motion.ok
        friction, pressure = motion.tangential[0, 0], motion.lam[0, 0]
        assert friction == pytest.approx(-np.sign(speed) * mu * pressure, rel=1e-12)
        assert pressure == pytest.approx(G / contact_mass(-np.sign(speed) * mu, 1.0), rel=1e-12)


def test_moreau_passes_the_painleve_rod_by_an_impulse():
    motion = simulate(rod(2.0), *sliding(1.0, -1.0), (0.0, 0.02), method=Moreau(step=1e-3), throw=False)
    assert motion.drift.balance.max() < 1e-9
    slip = motion.v[:, 0] + np.sin(motion.q[:, 2]) * motion.v[:, 2]
    assert slip[1] == pytest.approx(0.0, abs=1e-3)  # the tip stops within a step


# one state after the other


@pytest.mark.parametrize("method", [EVENTS, Moreau(step=1e-2)], ids=lambda m: type(m).__name__)
def test_iterator_gives_the_same_states(method):
    start = (incline(0.3, 0.2), [0.0, 0.0], [1.0, 0.3], (0.0, 0.3))
    motion = simulate(*start, method=method)
    states = list(iter_simulate(*start, method=method))
    assert np.array([s.q for s in states]) == pytest.approx(motion.q, abs=1e-14)
    assert [s.t for s in states] == pytest.approx(motion.t)


@pytest.mark.parametrize("method", [EVENTS, Moreau(step=1e-3)], ids=lambda m: type(m).__name__)
def test_interrupted_motion_keeps_what_was_achieved(method):
    from onesided.base.progress import Progress

    class Impatient(Progress):
        calls = 0

        def update(self, **news):
            self.calls += 1
            if self.calls == 3:
                raise KeyboardInterrupt

    from contact_models import ball

    motion = simulate(ball(), [1.0], [0.0], (0.0, 5.0), method=method, progress=Impatient(), throw=False)
    assert motion.status is Status.interrupted
    assert 0.0 < motion.t[-1] < 5.0
    assert motion.drift.worst < 1e-9


def test_painleve_rod_that_turns_into_the_paradox_stops_where_forces_grow_without_bound():
    """1 + 3 cos θ (cos θ − μ sin θ) = 0 at tan θ = (3 μ − √(9 μ² − 16))/2, that is 3 − √5 for μ = 2."""
    motion = simulate(rod(2.0), *sliding(0.5, -20.0, turning=1.0), (0.0, 2.0), method=EVENTS, throw=False)
    assert motion.status is Status.jammed
    assert np.tan(motion.q[-1, 2]) == pytest.approx(3 - np.sqrt(5), abs=1e-6)
    assert motion.lam[-1, 0] > 1e4 * motion.lam[0, 0]


@pytest.mark.parametrize("wrong", ["sticks", "presses"])
def test_a_phase_that_begins_beyond_its_limits_is_decided_again(monkeypatch, wrong):
    """A block on a steep slope that is taken to stick, a block that is lifted taken to press: forces say otherwise."""
    steep = 0.0 if wrong == "presses" else 0.9
    lift = 2.0 * G if wrong == "presses" else 0.0
    system = System(
        ("x", "y"), lambda q, p, th: G * (jnp.cos(steep) * q[1] - jnp.sin(steep) * q[0]) - lift * q[1],
        mass=lambda q, th: jnp.eye(2), unilateral={"floor": lambda q, p, th: q[1]},
        contacts={"floor": Contact(friction=0.3, slip=lambda q, v, th: v[:1])},
    )  # fmt: skip
    once, right = [ContactDecision(ContactMode((0,), sticking=(0,)))], phase_changes.decide
    monkeypatch.setattr(phase_changes, "decide", lambda *given: once.pop() if once else right(*given))
    motion = simulate(system, [0.0, 0.0], [0.0, 0.0], (0.0, 1.0), method=EVENTS)
    assert not once
    assert motion.status is Status.finished
    along, away = G * (np.sin(steep) - 0.3 * np.cos(steep)) * (lift == 0.0), max(lift - G, 0.0)
    assert motion.q[-1] == pytest.approx([along / 2, away / 2], abs=1e-9)
