"""The guyed mast: four laws of the guys, tables, slack episodes, negative tensions of the bilateral law."""

from functools import cache

import numpy as np
import pytest

from onesided.base.errors import ModelError
from onesided.complementarity_systems import LocatedSwitches, RungeKutta, simulate
from onesided.zoo.mast import ANCHORS, NAMES, Bilateral, Catenary, Mast, Taut, Wind

START = (0.015, 0.0075, 0.0, 0.0)
LAWS = {"K": Catenary(), "P": Catenary(printed=True), "U": Taut(), "L": Bilateral()}
POSITIONS = {
    "K": {
        1: (5.296876059782e-3, -4.389752933886e-3), 2: (-7.064081976028e-3, -7.123890508318e-3),
        5: (3.216207137716e-3, -3.737439576097e-3), 10: (-1.860617394973e-3, -6.247023197106e-3),
        15: (-1.970226021571e-3, 7.996660491975e-4), 20: (6.260183738610e-5, 1.312776764054e-2),
    },
    "U": {
        1: (-8.8849361123e-3, -7.6714003242e-3), 2: (8.1879953230e-3, 1.5988463449e-3),
        5: (1.6066172805e-2, 2.5550498669e-3), 10: (9.221715162e-3, -5.814027807e-3),
        15: (4.188095175e-3, -4.021455143e-3), 20: (9.901785609e-3, 1.864889947e-3),
    },
    "P": {20: (9.9113066e-3, 1.8668662e-3)},
    "L": {20: (-6.730259786e-3, -3.000994033e-3)},
}  # fmt: skip
ACCURACY = {"K": 1e-10, "U": 1e-8, "P": 1e-8, "L": 1e-10}
MIN_TENSION = {"K": (28918, 28421, 32641), "P": (11.02, 10.37, 12.06), "L": (-45008, -828497, -679884)}
MAX_TENSION = {
    "K": (171960, 193984, 475582), "P": (647693, 751641, 874165),
    "U": (647635, 751645, 874165), "L": (117442, 886247, 874165),
}  # fmt: skip


@cache
def run(law):
    method = LocatedSwitches(rtol=1e-11, atol=1e-13) if law == "P" else LocatedSwitches()
    return simulate(Mast(LAWS[law]).system(), method, START, times=np.linspace(0.0, 20.0, 4001))


def test_constants():
    mast = Mast()
    assert mast.cos_slope == pytest.approx(0.604166666667, rel=1e-11)
    assert mast.b == pytest.approx(1168.078800905, rel=1e-12)
    assert mast.a == pytest.approx(8.021699494752, rel=1e-12)
    assert mast.a_printed == pytest.approx(7.833379127253e-7, rel=1e-12)


@pytest.mark.parametrize(("elongation", "K", "P", "L"), [
    (-0.02, 0.509570449436, 0.000187163666, -22.361576018), (-0.01, 0.643921625057, 0.000270811688, -10.680788009),
    (-0.002, 0.884959695928, 0.000765457775, -1.336157602),
    (-1 / 1168.0788009048274, 0.945796285018, 0.009218015075, 0.0),
    (0.0, 1.0, 1.0, 1.0), (0.001, 1.075922273572, 2.168078184215, 2.168078801),
    (0.005, 1.675644469505, 6.840393237927, 6.840394005), (0.01, 4.982247207845, 12.680787230582, 12.680788009),
    (0.02, 16.369811507404, 24.361575236079, 24.361576018),
])  # fmt: skip
def test_laws(elongation, K, P, L):
    at, mast = np.array([elongation]), Mast()
    assert LAWS["K"].acting(at, mast)[0] == pytest.approx(K, rel=1e-11)
    assert LAWS["P"].acting(at, mast)[0] == pytest.approx(P, abs=1e-12, rel=1e-9)
    assert LAWS["L"].acting(at, mast)[0] == pytest.approx(L, abs=1e-9)
    assert LAWS["U"].acting(at, mast)[0] == pytest.approx(max(0.0, L), abs=1e-9)


@pytest.mark.parametrize("law", POSITIONS)
def test_positions_under_a_constant_load(law):
    motion = run(law)
    for t, place in POSITIONS[law].items():
        assert motion.x[200 * t, :2] == pytest.approx(place, abs=ACCURACY[law])


def test_velocities_at_the_end():
    assert run("K").x[-1, 2:] == pytest.approx((-7.9192736e-6, 5.2052148295e-3), abs=1e-10)
    assert run("U").x[-1, 2:] == pytest.approx((-1.849980933e-2, 2.63236373e-3), abs=1e-8)


@pytest.mark.parametrize("law", LAWS)
def test_smallest_and_largest_tensions(law):
    tensions = Mast(LAWS[law]).tensions(run(law).x[:, :2])
    top = run(law).peak_s if law != "L" else tensions.max(axis=0)
    assert top == pytest.approx(MAX_TENSION[law], rel=2e-5)
    if law in MIN_TENSION:
        assert tensions.min(axis=0) == pytest.approx(MIN_TENSION[law], rel=2e-4)
    else:
        assert tensions.min() == 0.0


def test_slack_episodes():
    motion = run("U")
    first = [
        (0.596078554, 3, 0), (0.689295890, 2, 1), (1.779608828, 2, 0), (1.808216993, 3, 1), (3.052763349, 3, 0),
        (3.155060553, 2, 1), (3.517341723, 1, 0), (4.006364126, 1, 1), (4.179412008, 3, 1), (4.197166909, 2, 0),
    ]  # fmt: skip
    for switch, (t, cable, taut) in zip(motion.switches, first, strict=False):
        assert (switch.name, switch.taut) == (f"cable {cable}", bool(taut))
        assert switch.t == pytest.approx(t, abs=2e-9)
    assert len(motion.switches) == 46
    assert motion.first_taut.tolist() == [1.0, 0.0, 1.0]
    assert [motion.slackenings(name) for name in NAMES] == [7, 8, 8]
    assert [motion.slack_time(name) / 20 for name in NAMES] == pytest.approx([0.396, 0.529, 0.308], abs=6e-4)
    assert motion.slack_fractions() == pytest.approx([0.018, 0.730, 0.251, 0.0], abs=6e-4)
    assert run("K").switches == run("P").switches == ()


def test_printed_sag_is_nearly_slack_for_as_long_as_taut_guys_are_slack():
    tensions = Mast(LAWS["P"]).tensions(run("P").x[:, :2])
    below = tensions < 0.01 * Mast().pretension
    assert below.mean(axis=0) == pytest.approx([0.396, 0.529, 0.307], abs=2e-3)


def test_never_all_slack():
    """The sum of the distances to the anchors is smallest at the centre, so one elongation is never negative."""
    motion, mast = run("U"), Mast()
    assert motion.slack_fractions()[3] == 0.0
    largest = mast.tensions(motion.x[:, :2]).max(axis=1) / mast.pretension
    k = int(np.argmin(largest)) - 1  # a kink: look closer
    near = simulate(
        mast.system(), LocatedSwitches(), motion.x[k], times=np.linspace(motion.t[k], motion.t[k + 2], 2001)
    )
    lowest = (mast.tensions(near.x[:, :2]).max(axis=1) / mast.pretension).min()
    assert 1.0 <= lowest <= 1.0923  # the value of the reference is that of a grid
    q = np.random.default_rng(1).uniform(-0.5, 0.5, (10_000, 2))
    assert mast.elongations(q).sum(axis=1).min() >= -1e-15


def test_arms_agree_with_the_angles_of_the_paper():
    """Γ of [QT (17)] in the sector where its arccos forms are right: 0 ≤ η ≤ √3 ξ."""
    xi, eta = 0.1, 0.05
    root = 3**0.5
    d = np.linalg.norm(np.array([xi, eta]) - ANCHORS, axis=1)
    alpha = np.pi / 3 - np.arccos((2 + xi - root * eta) / (2 * d[0]))
    beta = np.arccos((1 - xi) / d[1])
    gamma = np.pi / 3 - np.arccos((2 + xi + root * eta) / (2 * d[2]))
    printed = np.array([[np.cos(alpha), -np.cos(beta), np.cos(gamma)], [-np.sin(alpha), np.sin(beta), np.sin(gamma)]])
    mast, s = Mast(), np.array([1.0, 2.0, 3.0])
    expected = -mast.cos_slope / (mast.radius * mast.mass) * printed @ s
    assert mast.forces(np.array([xi, eta]), s) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("law", "place"), [
    ("K", (0.002925306210, 0.005066778983)), ("P", (0.000315161006, 0.000545874875)),
    ("U", (0.000315160521, 0.000545874035)),
])  # fmt: skip
def test_rest_under_the_load(law, place):
    system, mast = Mast(LAWS[law]).system(), Mast(LAWS[law])

    def balance(q):
        x = np.array([*q, 0.0, 0.0])
        return system.rate(0.0, x, mast.tensions(x[:2]))[2:]

    q = np.array(place) * 1.001
    for _ in range(8):
        step = 1e-7 * np.eye(2)
        J = np.column_stack([(balance(q + d) - balance(q - d)) / 2e-7 for d in step])
        q = q - np.linalg.solve(J, balance(q))
    assert q == pytest.approx(place, abs=1e-11)


def test_explicit_steps_of_the_paper():
    for law, step, limit in (("U", 0.1, 4e-4), ("K", 0.1, 8e-6), ("U", 0.01, 3e-6), ("K", 0.01, 3e-10)):
        coarse = simulate(Mast(LAWS[law]).system(), RungeKutta(step), START, times=(0.0, 20.0))
        stride = round(1 / step)
        errors = [np.abs(coarse.x[stride * t, :2] - run(law).x[200 * t, :2]).max() for t in (1, 5, 10, 20)]
        assert max(errors) <= 1.05 * limit
        if (law, step) == ("U", 0.1):
            assert max(errors) >= 3e-4  # as bad as the reference says


def test_the_paper_s_ten_thousand_steps():
    """RK4, Δt = 0.1, 1000 s: 70, 76, 28 episodes, then rest."""
    motion = simulate(Mast().system(), RungeKutta(0.1), START, times=(0.0, 1000.0))
    counts = [len(motion.episodes(name)) for name in NAMES]
    assert counts == pytest.approx([70, 76, 28], abs=1)
    assert motion.x[-1, :2] == pytest.approx((0.000315160521, 0.000545874035), abs=1e-6)
    assert motion.slack_fractions()[3] == 0.0


def test_harmonic_wind():
    """A small motion about the centre is that of a linear oscillator with K₀ = 1.5 S₀ cos δ (σ' + 1)/r."""
    frequency, size = 1.6, 10.0
    mast = Mast(Taut(), Wind(size, angle=0.0, frequency=frequency))
    motion = simulate(mast.system(), LocatedSwitches(), np.zeros(4), times=np.linspace(0.0, 5.0, 101))
    stiffness = 1.5 * mast.pretension * mast.cos_slope * (mast.b + 1) / mast.radius
    assert stiffness == pytest.approx(367156.50, rel=1e-7)
    m, d = mast.mass, mast.damping
    response = size / mast.radius / (stiffness - m * frequency**2 + 1j * d * frequency)
    free = np.roots([m, d, stiffness])
    steady = np.imag(response), np.imag(1j * frequency * response)
    c = np.linalg.solve([[1, 1], free], [-steady[0], -steady[1]])
    t = motion.t
    exact = np.imag(response * np.exp(1j * frequency * t)) + np.real(np.exp(np.outer(t, free)) @ c)
    assert np.abs(motion.x[:, 0] - exact).max() <= 1e-3 * np.abs(exact).max()


@pytest.mark.parametrize(("name", "value"), [
    ("modulus", -1.0), ("pretension", 0.0), ("mass", float("nan")), ("damping", -1.0), ("radius", 300.0),
])  # fmt: skip
def test_bad_data(name, value):
    with pytest.raises(ModelError, match=name):
        Mast(**{name: value})


def test_bad_wind():
    with pytest.raises(ModelError, match="frequency"):
        Wind(frequency=-1.0)
    with pytest.raises(ModelError, match="finite"):
        Wind(size=float("inf"))
