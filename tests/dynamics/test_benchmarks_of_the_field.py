"""Benchmarks of the field: woodpecker toy, bouncing dimer, flyball governor (IFToMM A05).

Painlevé's rod is in `test_stick_slip`, the slider-crank with clearance in `test_contacts`.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from onesided import Contact, EventDriven, Radau, System, simulate

G = 9.81


def woodpecker():
    """A sleeve with play on a pole and a bird on a spring, small angles; data of Glocker's thesis (Munich 1995)."""
    sleeve, bird, spring = (3.0e-4, 5.0e-9), (4.5e-3, 7.0e-7), 5.6e-3
    pole, inner, half, arm, reach, height, beak = 2.5e-3, 3.1e-3, 5.8e-3, 1.0e-2, 1.5e-2, 2.0e-2, 2.01e-2
    ways = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, arm, reach], [0.0, 0.0, 1.0]])
    mass = ways.T @ np.diag([*sleeve, *bird]) @ ways
    play = inner - pole
    gaps = {
        "beak": lambda q, p, th: arm + reach - beak - pole - height * q[2],
        "lower": lambda q, p, th: play + half * q[1],
        "upper": lambda q, p, th: play - half * q[1],
    }
    slips = {
        "beak": lambda q, v, th: v[0] + arm * v[1] + (reach - beak) * v[2],
        "lower": lambda q, v, th: v[0] + inner * v[1],
        "upper": lambda q, v, th: v[0] + inner * v[1],
    }
    return System(
        coordinates=("y", "sleeve", "bird"),
        energy=lambda q, p, th: G * (sleeve[0] * q[0] + bird[0] * (q @ ways[2])) + spring * (q[1] - q[2]) ** 2 / 2,
        unilateral=gaps,
        mass=lambda q, th: jnp.asarray(mass),
        contacts={n: Contact(0.5 if n == "beak" else 0.0, 0.3, slips[n]) for n in gaps},
    )


def test_woodpecker_keeps_to_its_limit_cycle():
    """The start that is used with these data in the literature, φ_S = −0.2788, lies on a limit cycle: it comes back.

    In every cycle the sleeve sticks once, the beak strikes once, the upper edge strikes twice.
    """
    start, speed = [0.0, -6.0 / 58.0, -0.2788], [-0.3411, 0.0, -7.4583]
    motion = simulate(woodpecker(), start, speed, (0.0, 0.6), method=EventDriven(),
                      events={"back": lambda t, q, v: q[2] + 0.2788})  # fmt: skip
    back = [event for event in motion.events if event.name == "back" and event.v[2] < 0.0]
    assert len(back) == 4
    for event in back:
        assert event.v[0] == pytest.approx(-0.3411, rel=0.01)
        assert event.v[2] == pytest.approx(-7.4583, rel=0.002)
    assert np.diff([event.t for event in back]) == pytest.approx(np.full(3, back[0].t), rel=0.002)
    cycle = [event for event in motion.events if back[0].t < event.t < back[1].t]
    counts = {(kind, name): sum(e.kind.name == kind and e.name == name for e in cycle)
              for kind, name in (("sticks", "lower"), ("impact", "beak"), ("impact", "upper"))}  # fmt: skip
    assert list(counts.values()) == [1, 1, 2]
    assert motion.ok


def test_dimer_bounces_flat_on_a_vibrating_plate_in_its_period_one_mode():
    """Both ends land together once a period T: the plate's speed at the impact is (g T/2)(1 − e)/(1 + e)."""
    e, omega, length, radius = 0.6, 2 * np.pi * 25.0, 0.03, 0.005
    T = 2 * np.pi / omega
    speed = G * T / 2 * (1 - e) / (1 + e)
    amplitude = 1.2 * speed / omega
    phase = np.arccos(speed / (amplitude * omega))

    def end(side):
        return lambda q, p, th: q[1] + side * length / 2 * jnp.sin(q[2]) - radius - p

    def slip(side):
        return lambda q, v, th: v[0] + v[2] * (radius - side * length / 2 * jnp.sin(q[2]))

    sides = {"left": -1.0, "right": 1.0}
    dimer = System(
        coordinates=("x", "z", "angle"),
        energy=lambda q, p, th: G * q[1],
        unilateral={name: end(side) for name, side in sides.items()},
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, length**2 / 4])),
        contacts={name: Contact(e, 0.3, slip(side)) for name, side in sides.items()},
    )
    plate = amplitude * np.sin(phase)
    motion = simulate(dimer, [0.0, radius + plate, 0.0], [0.0, G * T / 2, 0.0], (0.0, 4.5 * T), method=EventDriven(),
                      control=lambda t: amplitude * jnp.sin(omega * t + phase))  # fmt: skip
    hits = sorted(event.t for event in motion.events if event.kind.name == "impact")
    assert hits == pytest.approx(np.repeat(np.arange(1, 5) * T, 2), abs=1e-8)
    assert np.max(np.abs(motion.q[:, [0, 2]])) < 1e-9
    assert motion.ok


K, C, REST = 8.0e5, 4.0e4, 0.5  # of the springs and dampers that stand for the couplers


FIXED = 0.3 * 0.01**2 / 6 + 3.0 * 0.1**2 / 6  # moments of inertia of shaft and slider about the shaft


def governor():
    """IFToMM A05: shaft, slider, two rods with 5 kg at their ends, each joined to the slider by a spring and damper.

    Slender rods are masses of 1/6, 4/6 and 1/6 at their ends and middle; points are where the angles put them.
    """

    def on_rod(q, r, side):
        radius = side * (0.05 + r * jnp.cos(q[2 if side > 0 else 3]))
        return jnp.stack([radius * jnp.cos(q[0]), radius * jnp.sin(q[0]), 1.0 - r * jnp.sin(q[2 if side > 0 else 3])])

    def points(q):
        weights = ((0.0, 0.05), (0.5, 0.2), (1.0, 0.05 + 5.0))
        rods = [(m, on_rod(q, r, side)) for side in (1.0, -1.0) for r, m in weights]
        return [*rods, (3.0, jnp.stack([0.0 * q[1], 0.0 * q[1], q[1]]))]

    def kinetic(q, v, th):
        rates = jax.jvp(lambda x: [x_of for _, x_of in points(x)], (q,), (v,))[1]
        moving = sum(m * rate @ rate for (m, _), rate in zip(points(q), rates, strict=True))
        return (FIXED * v[0] ** 2 + moving) / 2

    def lengths(q):
        found = []
        for side in (1.0, -1.0):
            arm = 0.05 * side * jnp.stack([jnp.cos(q[0]), jnp.sin(q[0]), 0.0 * q[0]])
            off = on_rod(q, 0.5, side) - arm - jnp.stack([0.0 * q[1], 0.0 * q[1], q[1]])
            found.append(jnp.sqrt(off @ off))
        return jnp.stack(found)

    def damping(t, q, v, p, th):
        rate, pull = jax.jvp(lengths, (q,), (v,))[1], jax.vjp(lengths, q)[1]
        return -C * pull(rate)[0]

    return System(
        coordinates=("turn", "s", "a", "b"),
        energy=lambda q, p, th: G * sum(m * x[2] for m, x in points(q)) + K * jnp.sum((lengths(q) - REST) ** 2) / 2,
        kinetic=kinetic,
        force=damping,
    )


def governor_by_hand(times):
    """The same in shaft angle, height s of the slider and fall β of both rods, by SciPy: (s, β, shaft speed)."""
    m, c = 5.3, (0.3 * 0.5 + 5.0) / 5.3
    across = 0.3 / 12 + 0.3 * (c - 0.5) ** 2 + 5.0 * (1 - c) ** 2

    def turning(b):
        """Moment of inertia about the shaft, and its derivative."""
        rho = 0.05 + c * np.cos(b)
        value = FIXED + 2 * (m * rho**2 + across * np.cos(b) ** 2)
        return value, -4 * (m * rho * c * np.sin(b) + across * np.sin(b) * np.cos(b))

    momentum = turning(np.pi / 6)[0] * 2 * np.pi

    def rates(t, y):
        s, b, s_dot, b_dot = y
        out, up = 0.5 * np.cos(b), 1.0 - 0.5 * np.sin(b) - s
        length = np.hypot(out, up)
        by_s, by_b = -up / length, (-0.5 * np.sin(b) * out - 0.5 * np.cos(b) * up) / length
        F = K * (length - REST) + C * (by_s * s_dot + by_b * b_dot)
        J, slope = turning(b)
        fall = (0.5 * slope * (momentum / J) ** 2 + 2 * m * G * c * np.cos(b) - 2 * F * by_b) / (
            2 * (across + m * c**2)
        )
        return [s_dot, b_dot, -G - 2 * F * by_s / 3.0, fall]

    found = solve_ivp(rates, (0.0, times[-1]), [0.5, np.pi / 6, 0.0, 0.0], "Radau", times, rtol=1e-10, atol=1e-13)
    return found.y[0], found.y[1], momentum / np.array([turning(b)[0] for b in found.y[1]])


@pytest.mark.slow
def test_stiff_flyball_governor_against_equations_by_hand():
    times = np.linspace(0.0, 0.5, 26)
    motion = simulate(governor(), [0.0, 0.5, np.pi / 6, np.pi / 6], [2 * np.pi, 0.0, 0.0, 0.0], (0.0, 0.5),
                      method=Radau(rtol=1e-8))  # fmt: skip
    s, b, omega = governor_by_hand(times)
    q, v = motion.at(times)
    assert q[:, 1] == pytest.approx(s, abs=1e-6)
    assert q[:, 2] == pytest.approx(b, abs=1e-6)
    assert q[:, 3] == pytest.approx(b, abs=1e-6)
    assert v[:, 0] == pytest.approx(omega, rel=1e-6)
    assert motion.ok
