"""Bundled models against the closed forms of REFERENCE A, B and PEERS 1: equilibrium is recomputed, never searched."""

import math
import subprocess
import sys

import numpy as np
import pytest

from onesided import zoo
from onesided.base.errors import UsageError

NAMES = {
    "bead-on-ring", "bistable-chain", "column", "column-stop", "corner-limit", "end-point", "end-point-horizontal",
    "flat-contact", "keyboard-dome", "singular-corner", "two-bar-roller", "two-supports", "von-mises",
    "von-mises-floor", "wedge",
}  # fmt: skip
OF_PARTS = {
    "arch-on-floor", "ball-in-groove", "bimetal-strip", "bistable-chain-parts", "cable-net", "column-between-walls",
    "guyed-mast", "lee-frame", "panel-ring", "scissor-lift", "suspended-deck", "tensegrity-deploy", "tensegrity-prism",
    "tripod-truss", "von-mises-truss", "williams-toggle",
}  # fmt: skip

FOR_MOTION = {  # not at rest at the start
    "andrews-squeezer", "bouncing-ball", "gantry-crane", "heavy-top", "knife-edge", "overhead-crane", "pendulum",
    "platform", "rolling-disk", "slider-crank",
}  # fmt: skip


def balance(system, q, p, nu=()):
    """Force balance U_q − c_qᵀν and constraint values, with multipliers ordered bilateral, unilateral."""
    e = system.evaluate(np.array(q, dtype=float), p, np.array(nu, dtype=float))
    return e.L_q, e.c


def assert_equilibrium(system, q, p, lam=(), mu=()):
    """All conditions: balance, joints closed, gaps and reactions ≥ 0, their products 0."""
    L_q, c = balance(system, q, p, [*mu, *lam])
    joints, gaps = c[: len(mu)], c[len(mu) :]
    np.testing.assert_allclose(L_q, 0, atol=1e-12)
    np.testing.assert_allclose(joints, 0, atol=1e-12)
    assert np.all(gaps >= -1e-12)
    assert np.all(np.array(lam) >= 0)
    np.testing.assert_allclose(gaps * np.array(lam), 0, atol=1e-12)


def reduced(system, q, p, nu=()):
    """Hessian of the Lagrangian."""
    return system.evaluate(np.array(q, dtype=float), p, np.array(nu, dtype=float)).L_qq


def test_names():
    assert zoo.names() == tuple(sorted(NAMES | OF_PARTS | FOR_MOTION))


@pytest.mark.parametrize("name", sorted(NAMES | OF_PARTS | FOR_MOTION))
def test_every_model_loads_and_teaches(name):
    system, task = zoo.load(name)
    assert task.title == zoo.summary(name)
    assert 10 < len(task.title) < 80
    assert len(task.description) > 100
    assert "#" in zoo.text(name)
    low, high = task.p_bounds
    assert low <= task.p <= high
    system.check_finite(task.start, task.p)
    if name in FOR_MOTION:
        return
    e = system.evaluate(task.start, task.p, np.zeros(len(system.constraint_names)))
    gaps = e.c[len(system.bilateral) :]
    assert np.all(gaps >= -1e-15), "the start is admissible"
    active = np.flatnonzero(np.abs(e.c) < 1e-12)
    reactions, *_ = np.linalg.lstsq(e.c_q[active].T, e.L_q, rcond=None)
    round_off = 1e-12 + 1e-14 * np.max(np.abs(e.L_qq)) * np.max(np.abs(task.start))
    np.testing.assert_allclose(e.c_q[active].T @ reactions, e.L_q, atol=round_off, err_msg="start in equilibrium")
    assert np.all(reactions[active >= len(system.bilateral)] >= 0)


def test_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match="did you mean 'von-mises'"):
        zoo.text("von_mises")
    with pytest.raises(UsageError):
        zoo.text("../errors")


def test_zoo_needs_no_jax():
    code = "import sys; from onesided import zoo; [zoo.summary(n) for n in zoo.names()]; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestCornerLimit:
    """REFERENCE A.2, k = L = 1."""

    @pytest.mark.parametrize("p", [-2.0, -1.0, -0.5, -0.25, 0.0])
    def test_contact_branches(self, p):
        system, _ = zoo.load("corner-limit")
        assert_equilibrium(system, [0.0], p, lam=[-p])
        assert_equilibrium(system, [math.pi], p, lam=[-p])
        assert system.evaluate(np.zeros(1), p, np.zeros(1)).energy == pytest.approx(2 + p**2 / 2)
        assert system.evaluate(np.array([math.pi]), p, np.zeros(1)).energy == pytest.approx(p**2 / 2, abs=1e-15)

    @pytest.mark.parametrize(
        ("p", "phi", "H"),
        [
            (-2.0, 1.1071487178, -2.2360679775),
            (-1.0, 0.7853981634, -1.4142135624),
            (-0.25, 0.2449786631, -1.0307764064),
        ],
    )
    def test_unstable_branch(self, p, phi, H):
        system, _ = zoo.load("corner-limit")
        exact = math.atan(-p)
        assert exact == pytest.approx(phi, abs=1e-10)
        assert_equilibrium(system, [exact], p, lam=[0.0])
        assert reduced(system, [exact], p, [0.0])[0, 0] == pytest.approx(H, abs=1e-9)

    @pytest.mark.parametrize(
        ("p", "phi", "H", "U"),
        [(0.25, 2.8966139905, 1.0307764064, 0.00047359360), (1.0, 2.3561944902, 1.4142135624, 0.08578643763),
         (2.0, 2.0344439358, 2.2360679775, 0.76393202250)],
    )  # fmt: skip
    def test_stable_branch(self, p, phi, H, U):
        system, _ = zoo.load("corner-limit")
        exact = math.pi - math.atan(p)
        assert exact == pytest.approx(phi, abs=1e-10)
        assert_equilibrium(system, [exact], p, lam=[0.0])
        e = system.evaluate(np.array([exact]), p, np.zeros(1))
        assert (e.L_qq[0, 0], e.energy) == (pytest.approx(H, abs=1e-9), pytest.approx(U, abs=1e-10))

    def test_rate_problem_at_the_corner(self):
        """G = −1/(kL²), ĝ = −1/L: equation (6.1) of the paper."""
        system, _ = zoo.load("corner-limit")
        e = system.replace(parameters={"k": 3.0, "L": 2.0, "d": -2.0}).evaluate(np.zeros(1), 0.0, np.zeros(1))
        assert e.c_q[0, 0] ** 2 / e.L_qq[0, 0] == pytest.approx(-1 / 12)
        assert -e.c_q[0, 0] * e.L_qp[0] / e.L_qq[0, 0] == pytest.approx(-1 / 2)


class TestVonMises:
    """REFERENCE B1, k = b = 1, h = 0.5."""

    @pytest.mark.parametrize(
        ("y", "p", "U_yy"),
        [(0.4, 0.030454798537400, 0.210226727290), (0.3, 0.042529405317179, 0.035078271201),
         (0.2, 0.038529009653515, -0.108312546411), (0.1, 0.022497079744992, -0.202941383614),
         (0.0, 0.0, -0.236067977500), (-0.6, 0.049552516728944, 0.590137888148)],
    )  # fmt: skip
    def test_path(self, y, p, U_yy):
        system, _ = zoo.load("von-mises")
        e = system.evaluate(np.array([y]), 0.0, np.zeros(0))
        assert -e.L_q[0] == pytest.approx(p, abs=1e-14)
        assert e.L_qq[0, 0] == pytest.approx(U_yy, abs=1e-11)
        assert e.L_qp[0] == 1.0

    def test_limit_point(self):
        system, _ = zoo.load("von-mises")
        assert_equilibrium(system, [0.277880091075165], 0.0429143257312247)
        assert reduced(system, [0.277880091075165], 0.0)[0, 0] == pytest.approx(0, abs=1e-13)
        assert_equilibrium(system, [-0.588543535382751], 0.0429143257312247)

    @pytest.mark.parametrize(
        ("ys", "p", "G"), [(0.2, 0.038529009653515, -9.232540764061), (-0.45, -0.017603314071959, 3.286583006211)]
    )
    def test_floor(self, ys, p, G):
        system, _ = zoo.load("von-mises-floor")
        system = system.replace(parameters={"ys": ys})
        assert_equilibrium(system, [ys], p, lam=[0.0])
        assert_equilibrium(system, [ys], p + 0.03, lam=[0.03])
        assert 1 / reduced(system, [ys], p, [0.0])[0, 0] == pytest.approx(G, rel=1e-11)


class TestColumn:
    """REFERENCE B2, c = l = 1."""

    @pytest.mark.parametrize(
        ("theta", "p", "H"),
        [(0.1, 1.001668613163478, 0.003335557674076), (0.5, 1.042914821466744, 0.084756139143774),
         (1.5, 1.503766956370087, 0.893627733546021)],
    )  # fmt: skip
    def test_branch(self, theta, p, H):
        system, _ = zoo.load("column")
        for sign in (1, -1):
            assert_equilibrium(system, [sign * theta], p)
        assert reduced(system, [theta], p)[0, 0] == pytest.approx(H, abs=1e-13)

    def test_trivial_path_loses_stability_at_one(self):
        system, _ = zoo.load("column")
        for p in (0.0, 0.5, 1.0, 1.5):
            assert_equilibrium(system, [0.0], p)
            assert reduced(system, [0.0], p)[0, 0] == pytest.approx(1 - p, abs=1e-15)

    @pytest.mark.parametrize(("p", "lam"), [(1.1, 0.027368092465), (1.5, 0.219138307906), (2.0, 0.458851077208)])
    def test_stop(self, p, lam):
        system, _ = zoo.load("column-stop")
        exact = p * math.sin(0.5) - 0.5
        assert exact == pytest.approx(lam, abs=1e-12)
        assert_equilibrium(system, [0.5], p, lam=[exact])
        assert 1 / reduced(system, [0.5], 1.042914821466744, [0.0])[0, 0] == pytest.approx(11.798555362505, rel=1e-11)


class TestWedge:
    """REFERENCE B3, k = 2."""

    @pytest.mark.parametrize("epsilon", [0.5, -0.5, -3.0, 0.0])
    def test_branches(self, epsilon):
        system, _ = zoo.load("wedge")
        system = system.replace(parameters={"epsilon": epsilon})
        assert_equilibrium(system, [0.0, 0.0], -1.0, lam=[1.0, 1.0])
        assert_equilibrium(system, [0.0, 1.0], 1.0, lam=[0.0, 0.0])
        if epsilon == 0:
            assert_equilibrium(system, [0.3, 1.0], 1.0, lam=[0.0, 0.0])

    @pytest.mark.parametrize(("epsilon", "p", "x", "lam"), [(-0.5, 1.0, 4 / 3, 2 / 3), (-3.0, -1.0, 2.0, 6.0)])
    def test_side_branches(self, epsilon, p, x, lam):
        system, _ = zoo.load("wedge")
        system = system.replace(parameters={"epsilon": epsilon})
        assert_equilibrium(system, [x, x], p, lam=[lam, 0.0])
        assert_equilibrium(system, [-x, x], p, lam=[0.0, lam])


def test_end_point():
    """REFERENCE B4.1."""
    system, _ = zoo.load("end-point")
    for p in (0.25, 1.0, 2.0):
        assert_equilibrium(system, [p, 0.0], p, lam=[0.0, 0.0])
    np.testing.assert_allclose(reduced(system, [0, 0], 0.0, [0, 0]), [[-2, 1], [1, -2]])


def test_end_point_horizontal():
    """REFERENCE B4.2."""
    system, _ = zoo.load("end-point-horizontal")
    for p in (0.5, 1.0):
        assert_equilibrium(system, [p / 2, 0.0], p, lam=[0.0, p])
        assert_equilibrium(system, [0.0, p], 0.0, lam=[p, 0.0])
    bent = system.replace(parameters={"beta": 1.0})
    t = 0.25
    p = -2 * t**2
    assert_equilibrium(bent, [0.0, t], p, lam=[t - p / 2, 0.0])


class TestSingularCorner:
    """REFERENCE B5: the four cases at p = ±0.04."""

    @pytest.mark.parametrize(
        ("e2", "b2", "phi2", "lam"),
        [
            (1, 0, 0.0385164807, 0.0385164807),
            (1, 2, -0.0417424305, 0.0382575695),
            (0, 1, -0.04, 0.04),
            (1, 1, 0.0, 0.04),
        ],
    )
    def test_sigma_minus(self, e2, b2, phi2, lam):
        system, _ = zoo.load("singular-corner")
        system = system.replace(parameters={"e2": e2, "b2": b2})
        L_q, c = balance(system, [-e2 * phi2, phi2], 0.04, [lam])
        np.testing.assert_allclose(L_q, 0, atol=2e-10)
        np.testing.assert_allclose(c, 0, atol=1e-15)
        assert_equilibrium(system, [0.2, -0.04 * b2], 0.04, lam=[0.0])

    def test_sigma_plus(self):
        system, _ = zoo.load("singular-corner")
        for b2 in (0.0, 2.0):
            plus = system.replace(parameters={"sigma": 1.0, "b2": b2})
            assert_equilibrium(plus, [0.2, 0.04 * b2], -0.04, lam=[0.0])
        L_q, _ = balance(system.replace(parameters={"sigma": 1.0}), [-0.0417424305, 0.0417424305], 0.04, [0.0417424305])
        np.testing.assert_allclose(L_q, 0, atol=2e-10)

    def test_exact_contact_branch(self):
        system, _ = zoo.load("singular-corner")
        for p in (0.04, 0.75):
            t = (-1 + math.sqrt(1 + 4 * p)) / 2
            assert_equilibrium(system, [-t, t], p, lam=[t])


def test_flat_contact():
    """REFERENCE B6."""
    system, _ = zoo.load("flat-contact")
    for beta in (1.0, -1.0):
        s = system.replace(parameters={"beta": beta})
        for t in (0.3, 1.0):
            assert_equilibrium(s, [t, 0.0], t, lam=[0.0])
            assert_equilibrium(s, [0.0, t], beta * t**2, lam=[t])


def test_two_supports():
    """REFERENCE B7."""
    system, _ = zoo.load("two-supports")
    np.testing.assert_allclose(reduced(system, [0, 0], 0.0, [0, 0]) * 19, [[100, 90], [90, 100]], rtol=1e-14)
    assert_equilibrium(system, [0.0, 0.0], -1.0, lam=[0.5, 1.0])
    for p in (0.5, 1.0):
        assert_equilibrium(system, [0.0, 0.19 * p], p, lam=[0.4 * p, 0.0])


def test_two_bar_roller():
    """PEERS A2: by symmetry about the apex the path is closed form in the half span w = 1 + u/2.

    Bars of length l push outwards with k(l0 − l) w/l = ks u on the roller and carry p = 2k(l0 − l) y/l, so that
    p = 4 ks (w − 1) y/w with l = l0 k w/(k w + 2 ks (w − 1)). The largest p along w is the published limit load.
    """
    system, _ = zoo.load("two-bar-roller")
    l0, ks = math.hypot(1, 0.5), 2.0

    def point(w):
        length = l0 * w / (w + 2 * ks * (w - 1))
        y = math.sqrt(length**2 - w**2)
        return [w, y, 2 * (w - 1)], 4 * ks * (w - 1) * y / w

    loads = []
    for w in np.linspace(1.0, 1.0235, 20_001):
        q, p = point(w)
        loads.append(p)
        if 0 < w < 1.0235 and len(loads) % 4000 == 1:
            assert_equilibrium(system, q, p)
    assert max(loads) == pytest.approx(0.0343314605850, abs=1e-10)


def test_bistable_chain():
    """PEERS C_3: unit i at height e carries k_i (l0/l − 1) e, and turns at k_i a (c − 1)^1.5."""
    system, _ = zoo.load("bistable-chain")
    l0 = math.hypot(1, 0.5)
    c = l0 ** (2 / 3)
    turning = math.sqrt(c - 1)  # height of a unit at its limit load, a = 1

    def load_of(k, e):
        return k * (l0 / math.hypot(1, e) - 1) * e

    p = load_of(1.0, turning)
    assert p == pytest.approx((c - 1) ** 1.5, rel=1e-12)
    heights = [turning]
    for k in (1.02, 1.04):
        low, high = turning, 0.5  # the stiff side of the unit: bisect on its load
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if load_of(k, middle) > p else (low, middle)
        heights.append(low)
    q = np.cumsum(heights)
    assert_equilibrium(system, q, p)
    assert np.linalg.det(reduced(system, q, p)) == pytest.approx(0, abs=1e-12)


class TestBead:
    """A circle as bilateral constraint and a gap that moves with p."""

    @pytest.mark.parametrize("p", [-0.5, -0.1, 0.0])
    def test_hanging(self, p):
        system, _ = zoo.load("bead-on-ring")
        assert_equilibrium(system, [0.0, -1.0], p, lam=[0.0], mu=[-9.81])

    @pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
    def test_pushed(self, p):
        system, _ = zoo.load("bead-on-ring")
        y = -math.sqrt(1 - p**2)
        assert_equilibrium(system, [p, y], p, lam=[-9.81 * p / y], mu=[9.81 / y])
        e = system.evaluate(np.array([p, y]), p, np.zeros(2))
        np.testing.assert_allclose(e.c_p, [0.0, -1.0])

    def test_motion(self):
        system, _ = zoo.load("bead-on-ring")
        th = dict(system.parameters)
        np.testing.assert_allclose(system.mass(np.zeros(2), th), np.eye(2))
        np.testing.assert_allclose(system.force(0.0, np.zeros(2), np.array([2.0, 3.0]), 0.0, th), [-0.2, -0.3])


@pytest.mark.parametrize("name", sorted(FOR_MOTION))
def test_models_for_motion_say_what_to_run(name):
    assert f"`onesided simulate {name}`" in zoo.text(name)


@pytest.mark.parametrize("name", ["end-point", "end-point-horizontal", "flat-contact", "singular-corner"])
def test_models_without_stable_states_say_what_to_run(name):
    assert f"`onesided trace {name}" in zoo.text(name)
