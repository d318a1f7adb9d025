"""Compliant contacts beside hard ones: contact time, restitution and balance of energy against closed forms."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from onesided import (
    Contact,
    EventDriven,
    HuntCrossley,
    KelvinVoigt,
    ModelError,
    Moreau,
    System,
    compose,
    loads,
    simulate,
    with_contacts,
)
from onesided.base.errors import UsageError
from onesided.elements import Gravity, Node, PlaneContact

M, K = 2.0, 5000.0


@pytest.fixture(scope="module")
def particle():
    """A mass that flies towards a wall at x = 0, with a hard stop at x = 3."""
    return System(
        coordinates=("x",),
        energy=lambda q, p, th: th.g * M * q[0],
        unilateral={"wall": lambda q, p, th: q[0], "stop": lambda q, p, th: 3.0 - q[0]},
        parameters={"g": 0.0},
        mass=lambda q, th: M * jnp.eye(1),
        contacts={"stop": Contact(restitution=1.0)},
    )


def soft(particle, law, g=0.0):
    return with_contacts(particle, {"wall": Contact(compliance=law)}).replace(parameters={"g": g})


def spans(motion):
    """Times at which the wall is touched and left."""
    return [[e.t for e in motion.events if e.kind.name == kind and e.name == "wall"] for kind in ("contact", "opens")]


@pytest.mark.parametrize("zeta", [0.0, 0.1, 0.5])
def test_kelvin_voigt_has_the_contact_time_and_restitution_of_its_closed_form(particle, zeta):
    """From δ = 0, δ̇ = v to f = 0: ω_d t = 2 arctan(√(1−ζ²)/ζ), e = exp(−ζ ω t)."""
    omega = np.sqrt(K / M)
    law = KelvinVoigt(K, 2 * zeta * np.sqrt(K * M))
    motion = simulate(soft(particle, law), [0.5], [-2.0], (0.0, 0.6), method=EventDriven())
    (touch,), (leave,) = spans(motion)
    root = np.sqrt(1 - zeta**2)
    time = 2 * np.arctan2(root, zeta) / (omega * root) if zeta else np.pi / omega
    assert touch == pytest.approx(0.25, abs=1e-12)
    assert leave - touch == pytest.approx(time, rel=1e-9)
    assert motion.v[-1, 0] == pytest.approx(2.0 * np.exp(-zeta * omega * time), rel=1e-9)
    assert motion.lam.min() >= -1e-9 * motion.lam.max()
    assert motion.energy - motion.energy[0] == pytest.approx(motion.work, abs=1e-8)
    assert motion.ok


@pytest.mark.parametrize("n", [1.0, 1.5])
def test_hunt_crossley_keeps_its_first_integral(particle, n):
    """∫ v dv/(1 + α v) is the same in and out: v/α − ln(1 + α v)/α² at v₀ and at −v₁."""
    v0, c = 2.0, 0.2
    a = 1.5 * c

    def integral(v):
        return v / a - np.log1p(a * v) / a**2

    v1 = brentq(lambda v: integral(-v) - integral(v0), 1e-6, v0)
    deepest = (integral(v0) * M * (n + 1) / K) ** (1 / (n + 1))
    motion = simulate(soft(particle, HuntCrossley(K, c, n)), [0.5], [-v0], (0.0, 0.6), method=EventDriven())
    assert motion.v[-1, 0] == pytest.approx(v1, rel=1e-7)
    _, v = motion.at(np.linspace(0.25, 0.4, 2001))
    assert motion.q.min() >= -deepest * (1 + 1e-6)
    assert motion.work[-1] == pytest.approx(0.5 * M * (v1**2 - v0**2), rel=1e-7)
    assert np.max(v) <= v1 * (1 + 1e-6)
    assert motion.ok


def test_a_mass_comes_to_rest_on_a_soft_floor_and_a_hard_stop_still_bounces(particle):
    """Bounces of a ball dropped on a damped floor against SciPy; then rest at m g/k."""
    d, g = 40.0, 9.81
    system = soft(particle, KelvinVoigt(K, d), g)

    def law(t, y):
        push = max(0.0, -K * y[0] - d * y[1]) if y[0] < 0.0 else 0.0
        return [y[1], push / M - g]

    times = np.linspace(0.0, 1.2, 60)
    truth = solve_ivp(law, (0.0, 1.2), [0.2, 0.0], t_eval=times, rtol=1e-10, atol=1e-12, max_step=1e-3).y
    motion = simulate(system, [0.2], [0.0], (0.0, 4.0), method=EventDriven())
    assert motion.at(times)[0][:, 0] == pytest.approx(truth[0], abs=1e-6)
    assert motion.q[-1, 0] == pytest.approx(-M * g / K, rel=1e-6)
    assert motion.lam[-1, 0] == pytest.approx(M * g, rel=1e-6)
    thrown = simulate(system, [2.9], [4.0], (0.0, 0.1), method=EventDriven())
    assert [event.kind.name for event in thrown.events] == ["impact"]
    assert thrown.v[-1, 0] < -3.9


def test_a_soft_contact_may_begin_pressed_and_leaves_under_a_pull(particle):
    motion = simulate(soft(particle, KelvinVoigt(K)), [-0.01], [0.0], (0.0, 0.2), method=EventDriven())
    assert motion.v[-1, 0] == pytest.approx(0.01 * np.sqrt(K / M), rel=1e-9)
    ((), (leave,)) = spans(motion)
    assert leave == pytest.approx(np.pi / 2 / np.sqrt(K / M), rel=1e-9)


def test_soft_contacts_in_files_and_structures_are_the_same():
    by_formula = loads("""
energy = "9.81*y"
[coordinates]
y = 0.3
[control]
range = [0, 1]
[mass]
y = "1"
[unilateral]
floor = "y"
[contacts.floor]
hunt_crossley = {stiffness = 1e5, dissipation = 0.1}
""").system
    by_parts = compose(
        Node("m", (0.0, 0.3), mass=1.0),
        PlaneContact("floor", "m", normal=(0.0, 1.0), hunt_crossley={"stiffness": 1e5, "dissipation": 0.1}),
        Gravity("g", (0.0, -9.81)),
    )
    found = [
        simulate(s, q, {}, (0.0, 0.6), method=EventDriven()) for s, q in ((by_formula, [0.3]), (by_parts, [0.0, 0.3]))
    ]
    assert found[0].v[-1, 0] == pytest.approx(found[1].v[-1, 1], rel=1e-9)
    assert found[0].ok


@pytest.mark.parametrize("zeta", [0.0, 0.5])
def test_time_stepping_has_the_restitution_of_kelvin_voigt_too(particle, zeta):
    omega, root = np.sqrt(K / M), np.sqrt(1 - zeta**2)
    e = np.exp(-zeta / root * 2 * np.arctan2(root, zeta))
    law = KelvinVoigt(K, 2 * zeta * np.sqrt(K * M))
    motion = simulate(soft(particle, law), [0.5], [-2.0], (0.0, 0.4), method=Moreau(step=0.025 / omega))
    assert motion.v[-1, 0] == pytest.approx(2.0 * e, abs=2e-4)
    assert [event.kind.name for event in motion.events] == ["contact"]
    assert motion.energy[-1] - motion.energy[0] == pytest.approx(motion.work[-1], abs=1e-6)
    assert motion.lam.min() == 0.0


@pytest.fixture(scope="module")
def puck():
    """A mass that slides on a soft floor, pushed by p."""
    return System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: 9.81 * q[1] - p * q[0],
        unilateral={"floor": lambda q, p, th: q[1]},
        mass=lambda q, th: jnp.eye(2),
        contacts={
            "floor": Contact(friction=0.3, slip=lambda q, v, th: v[0], compliance=HuntCrossley(1e4, 0.3)),
        },
    )


def test_a_puck_on_a_soft_floor_slides_as_far_as_coulomb_says_and_sticks(puck):
    """At the depth of its weight: v²/(2 μ g) in v/(μ g); then it holds what is below μ g."""
    depth, rub = (9.81 / 1e4) ** (2 / 3), 0.3 * 9.81
    motion = simulate(puck, [0.0, -depth], [1.0, 0.0], (0.0, 0.5), method=Moreau(step=2e-3))
    assert motion.q[-1, 0] == pytest.approx(1.0 / (2 * rub), abs=1e-5)
    assert motion.v[-1, 0] == pytest.approx(0.0, abs=1e-12)
    assert [event.kind.name for event in motion.events] == ["sticks"]
    assert motion.events[0].t == pytest.approx(1.0 / rub, abs=2e-3)
    assert motion.lam[1:, 0] == pytest.approx(9.81)
    assert motion.tangential[10, 0] == pytest.approx(-rub)
    held = simulate(puck, [0.0, -depth], [0.0, 0.0], (0.0, 0.1), method=Moreau(step=2e-3), control=0.9 * rub)
    assert np.max(np.abs(held.q[:, 0])) < 1e-12
    assert held.tangential[-1, 0] == pytest.approx(-0.9 * rub)


def test_a_thrown_puck_loses_as_much_speed_as_the_floor_pushed(puck):
    """While it slides, the change of speed is −μ times the impulse of the soft floor."""
    motion = simulate(puck, [0.0, 0.02], [3.0, 0.0], (0.0, 0.3), method=Moreau(step=1e-3))
    impulse = 1e-3 * np.sum(motion.lam)
    assert motion.v[-1, 0] == pytest.approx(3.0 - 0.3 * impulse, rel=1e-9)
    assert motion.v[-1, 1] == pytest.approx(impulse - 9.81 * 0.3, rel=1e-9)


def test_what_compliant_contacts_cannot_do_is_refused(particle, puck):
    with pytest.raises(ModelError, match="has no restitution"):
        Contact(restitution=0.5, compliance=KelvinVoigt(1.0))
    with pytest.raises(ModelError, match="cannot be rough"):
        Contact(friction=np.inf, slip=lambda q, v, th: v[0], compliance=KelvinVoigt(1.0))
    with pytest.raises(UsageError, match="with friction need another method"):
        simulate(puck, [0.0, 0.1], [0.0, 0.0], (0.0, 0.1), method=EventDriven())
    with pytest.raises(ModelError, match="stiffness"):
        KelvinVoigt(-1.0)
    with pytest.raises(ModelError, match="exponent"):
        HuntCrossley(1.0, exponent=0.5)
    with pytest.raises(UsageError, match="compliant contacts need explicit forces"):
        simulate(soft(particle, KelvinVoigt(K)), [0.5], [0.0], (0.0, 0.1), method=Moreau(theta=0.5))
    with pytest.raises(ModelError, match=r"plane_contact 'f': .*two laws"):
        laws = {"kelvin_voigt": {"stiffness": 1.0}, "hunt_crossley": {"stiffness": 1.0}}
        compose(Node("m", (0.0, 1.0), mass=1.0), PlaneContact("f", "m", normal=(0.0, 1.0), **laws))
