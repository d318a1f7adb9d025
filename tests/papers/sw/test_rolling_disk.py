"""Schwab's disk on a cosine road: closed forms (energy, curvature), tables computed from them by quadrature."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from typer.testing import CliRunner

from onesided import (
    EventDriven,
    ModelError,
    Moreau,
    Projected,
    SurfacePair,
    System,
    check_surfaces,
    conformity,
    simulate,
    surface_start,
    with_surfaces,
    zoo,
)
from onesided.base.errors import ModelFileError
from onesided.cli.app import app
from onesided.dynamics.mechanics import Mechanics
from onesided.files.reading import loads
from onesided.results import load_result
from onesided.system.equations import Equations
from onesided.system.surfaces import closest

R, H, OMEGA, GRAVITY = 1.0, 0.5, 2 * np.pi / 5, 10.0
LIMIT = np.sqrt(GRAVITY * (1 + R * H * OMEGA**2) / (H * OMEGA**2))  # N = 0 on the crest: 4.760793


def pairs(r=R, **changes):
    """The outline of the disk is parametrised by the angle from the x axis in space, as in the paper."""

    def rim(q, s, th):  # a material point: the angle in the axes of the disk is s − φ, held while φ changes
        return q[:2] + r * jnp.array([jnp.cos(s + q[2]), jnp.sin(s + q[2])])

    parts = {
        "first": rim,
        "second": lambda q, s, th: jnp.array([s, H * jnp.cos(OMEGA * s)]),
        "start": (-np.pi / 2, 0.0),
        "rolls": True,
        "names": ("sA", "sB"),
    }
    return {"road": SurfacePair(**{**parts, **changes})}


@cache
def disk(r=R, **changes):
    base = System(
        coordinates=("x", "y", "phi"),
        energy=lambda q, p, th: GRAVITY * q[1],
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, 0.5 * r**2])),
    )
    contact = pairs(r, **changes)
    return with_surfaces(base, contact), surface_start(base, contact, [0.0, H + r, 0.0])


def road(s):
    """Slope angle and curvature."""
    slope, bend = -H * OMEGA * np.sin(OMEGA * s), -H * OMEGA**2 * np.cos(OMEGA * s)
    return np.arctan(slope), bend / (1 + slope**2) ** 1.5


def closed_forms(s, v0=1.0):
    """Centre, speed, N and F_t when the contact is at s."""
    theta, kappa = road(s)
    x, y = s - R * np.sin(theta), H * np.cos(OMEGA * s) + R * np.cos(theta)
    v2 = v0**2 + 4 / 3 * GRAVITY * (H + R - y)
    return x, y, np.sqrt(v2), GRAVITY * np.cos(theta) + v2 * kappa / (1 - R * kappa), GRAVITY / 3 * np.sin(theta)


TABLE = """
1 1.4437862862 1.0537189114 -1.5299007104 0.9410592807 7.519676542 -1.675756685
2 4.0825528641 1.3153089536 -4.5203178173 4.4529222003 8.151609758 1.234564454
3 5.2723669860 1.4836371398 -5.7349386199 5.1530921233 9.403165555 -0.397582876
4 7.1419080060 0.6298629202 -7.8086284508 6.6629591040 13.319674286 -1.596496340
5 9.4796380533 1.4403144119 -10.3989466738 9.7029692286 9.019986370 0.744437251
6 10.5952770533 1.4219246136 -11.5258665385 10.3420096562 8.870064778 -0.844224657
7 13.0248183610 0.7266710811 -14.2318535877 13.5439389460 10.181120536 1.730401950
8 14.7876879109 1.4900567838 -16.1731310912 14.8809374768 9.463513231 0.310831886
9 16.0167886054 1.2737006919 -17.4350615018 15.6150491227 7.941531528 -1.339131609
10 18.6797397350 1.1234898690 -20.4596428014 19.1595797617 7.521873047 1.599466756
"""


@pytest.fixture(scope="module")
def motion():
    system, start = disk()
    return simulate(system, start, [1.0, 0.0, -1.0, 0.0, 0.0], (0.0, 10.0), method=Projected(rtol=1e-12))


def test_tables(motion):
    rows = np.array([line.split() for line in TABLE.split("\n") if line], dtype=float)
    q, _ = motion.at(rows[:, 0])
    assert q[:, [0, 1, 2]] == pytest.approx(rows[:, [1, 2, 3]], abs=1e-9)
    assert q[:, 4] == pytest.approx(rows[:, 4], abs=1e-9)


def test_forces_at_every_step(motion):
    x, y, v, N, F = closed_forms(motion.q[:, 4])
    names = (*motion.bilateral, *motion.nonholonomic)
    assert motion.q[:, 0] == pytest.approx(x, abs=1e-9)
    assert motion.q[:, 1] == pytest.approx(y, abs=1e-9)
    assert np.hypot(motion.v[:, 0], motion.v[:, 1]) == pytest.approx(v, abs=1e-9)
    assert motion.mu[:, names.index("road")] == pytest.approx(N, abs=1e-7)
    assert motion.mu[:, names.index("road.rolls")] == pytest.approx(F, abs=1e-7)
    assert motion.energy == pytest.approx(15.75, abs=1e-9)
    assert motion.mu[:, names.index("road")].min() > 7.5
    assert not motion.events


def test_start_is_made_consistent(motion):
    assert motion.v[0, 4] == pytest.approx(0.558793967737367, abs=1e-13)
    assert motion.v[0, 3] - 1.0 == pytest.approx(-0.441206032262632, abs=1e-13)  # the paper's s^A turns less by φ
    assert motion.mu[0, motion.bilateral.index("road")] == pytest.approx(9.558793967737, abs=1e-11)


def test_multipliers_of_the_parameters_vanish_on_exact_states():
    system, start = disk()
    for s in np.linspace(0.0, 5.0, 11):
        theta, _ = road(s)
        x, y, v, N, _ = closed_forms(s)
        q = [x, y, 0.3, -np.pi / 2 + theta - 0.3, s]
        speeds = [v * np.cos(theta), v * np.sin(theta), -v / R, 0.0, 0.0]
        found = simulate(system, q, speeds, (0.0, 0.001), method=Projected(step=0.001))
        mu = dict(zip((*found.bilateral, *found.nonholonomic), found.mu[0], strict=True))
        assert abs(mu["road.t"]) < 1e-11
        assert abs(mu["road.p"]) < 1e-11
        assert mu["road"] == pytest.approx(N, abs=1e-10)
    assert len(start) == 5


def test_conformal_contact_is_told():
    one = pairs()["road"]
    crest = conformity(one, np.array([0.0, 1.5, 0.0]), [-np.pi / 2, 0.0], {})
    assert abs(crest) > 0.1
    r = 1 / (H * OMEGA**2)  # the radius of the valley
    fitting = pairs(r, start=(-np.pi / 2, 2.5))
    valley = np.array([2.5, r - H, 0.0])
    assert conformity(fitting["road"], valley, [-np.pi / 2, 2.5], {}) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ModelError, match="conformal"):
        check_surfaces(fitting, valley, {})
    check_surfaces(pairs(), np.array([0.0, 1.5, 0.0]), {})


def test_curve_without_tangent_is_refused():
    dull = pairs(second=lambda q, s, th: jnp.array([s**3, 0.0 * s]))
    with pytest.raises(ModelError, match="not regular"):
        check_surfaces(dull, np.array([0.0, 1.0, 0.0]), {})


def test_lift_off_is_reported_and_followed():
    held, start = disk()
    fast = LIMIT * 1.02
    assert pytest.approx(4.760793, abs=1e-6) == LIMIT
    speeds = lambda v: [v, 0.0, -v, 0.0, 0.0]  # noqa: E731
    slow = simulate(held, start, speeds(LIMIT * 0.98), (0.0, 1.0))
    assert not slow.events
    pulled = simulate(held, start, speeds(fast), (0.0, 0.2))
    assert "lift-off expected 'road' at t = 0" in pulled.events[0].words()
    free, start = disk(opens=True)
    stays = simulate(free, start, speeds(LIMIT * 0.98), (0.0, 2.0), method=EventDriven())
    assert not stays.events
    assert stays.lam.min() > 0.0
    flies = simulate(free, start, speeds(fast), (0.0, 1.0), method=EventDriven())
    kinds = [event.kind.name for event in flies.events]
    assert kinds[:2] == ["opens", "impact"]
    landing = flies.events[1].t

    def clearance(t):  # distance of the centre of a thrown disk from the road, less its radius
        x, y = fast * t, H + R - GRAVITY * t**2 / 2
        distance = lambda s: np.hypot(s - x, H * np.cos(OMEGA * s) - y)  # noqa: E731
        return minimize_scalar(distance, bounds=(x - 1, x + 1), method="bounded", options={"xatol": 1e-12}).fun - R

    assert landing == pytest.approx(brentq(clearance, 0.1, 0.6), abs=1e-7)
    flying = (flies.t > 0) & (flies.t < landing)
    assert flies.q[flying, 1] == pytest.approx(H + R - GRAVITY * flies.t[flying] ** 2 / 2, abs=1e-11)
    assert np.all(np.diff(flies.energy) < 1e-9)
    distance, s = closest(pairs()["road"], flies.at(landing / 2)[0][:3], {}, ((-7.0, 7.0), (-5.0, 8.0)), 1500)
    q = flies.at(landing / 2)[0]
    followed = np.hypot(q[0] - q[4], q[1] - H * np.cos(OMEGA * q[4])) - R
    assert distance == pytest.approx(followed, abs=1e-3)
    assert s[1] == pytest.approx(q[4], abs=0.02)


def test_lift_off_within_a_motion_is_located():
    """A disk that slides without friction, fast, out of the valley: N vanishes before the crest."""
    system, _ = disk(rolls=False)
    start, speed = [2.5, R - H, 0.0, -np.pi / 2, 2.5], 7.0
    motion = simulate(system, start, [speed, 0.0, 0.0, 0.0, 0.0], (0.0, 0.5), method=Projected(rtol=1e-11))
    event = next(e for e in motion.events if e.kind.name == "lift_off")

    def normal(s):
        theta, kappa = road(s)
        y = H * np.cos(OMEGA * s) + R * np.cos(theta)
        return GRAVITY * np.cos(theta) + (speed**2 + 2 * GRAVITY * (R - H - y)) * kappa / (1 - R * kappa)

    assert event.q[4] == pytest.approx(brentq(normal, 3.0, 5.0), abs=1e-8)


def test_time_stepping_agrees():
    system, start = disk(opens=True)
    motion = simulate(system, start, [1.0, 0.0, -1.0, 0.5, 0.5], (0.0, 1.0), method=Moreau(step=2e-3))
    assert motion.q[-1, :2] == pytest.approx([1.4437862862, 1.0537189114], abs=1e-3)


def test_from_a_model_file():
    model = zoo.load("rolling-disk")
    found = simulate(model.system, model.task.start, dict(model.task.motion.velocities), (0.0, 10.0), control=GRAVITY,
                     method=Projected(rtol=1e-12))  # fmt: skip
    rows = np.array([line.split() for line in TABLE.split("\n") if line], dtype=float)
    assert found.at(rows[:, 0])[0][:, [0, 1, 2, 4]] == pytest.approx(rows[:, 1:5], abs=1e-9)
    mu = dict(zip((*found.bilateral, *found.nonholonomic), found.mu.T, strict=True))
    _, _, _, N, F = closed_forms(found.q[:, 4])
    assert mu["road"] == pytest.approx(N, abs=1e-7)
    assert mu["road.rolls"] == pytest.approx(F, abs=1e-7)
    assert max(np.abs(mu[name]).max() for name in ("road.t", "road.p")) < 1e-7


def test_by_the_command_line(tmp_path):
    """The tables of a run from the model file, and that of a disk that is too fast."""
    folder = tmp_path / "run"
    done = CliRunner().invoke(app, ["simulate", "rolling-disk", "-o", str(folder), "--report"])
    assert done.exit_code == 0, done.output
    found = load_result(folder)
    rows = np.array([line.split() for line in TABLE.split("\n") if line], dtype=float)
    assert found.at(rows[:, 0])[0][:, [0, 1, 2, 4]] == pytest.approx(rows[:, 1:5], abs=1e-9)
    assert found.events == ()
    names = (*found.bilateral, *found.nonholonomic)
    N, F = (found.mu[:, names.index(name)] for name in ("road", "road.rolls"))
    assert np.array([N, F]) == pytest.approx(np.array(closed_forms(found.q[:, 4]))[3:], abs=1e-7)
    text = zoo.text("rolling-disk").replace("{x = 1.0, phi = -1.0}", "{x = 5.0, phi = -5.0}").replace("10]", "0.3]")
    (tmp_path / "fast.toml").write_text(text, encoding="utf-8")
    done = CliRunner().invoke(app, ["simulate", str(tmp_path / "fast.toml"), "-o", str(tmp_path / "fast")])
    assert "1 lift-off expected 0 road" in " ".join(done.output.split())


def test_deliberate_violation_shows_in_the_multipliers():
    """(15) turns drift into multipliers: x shifted by 1e-3 from the crest, without projection."""
    system, _ = disk()
    q = np.array([1e-3, H + R, 0.0, -np.pi / 2, 0.0])
    v = np.array([1.0, 0.0, -1.0, 1.0 - 0.441206032262632, 0.558793967737367])
    mechanics = Mechanics(Equations(system, 0.0))
    mechanics.choose_rows(mechanics.equations.terms(0.0, q, np.zeros(5), v, np.zeros(3)))
    mu = mechanics.accelerate(0.0, q, np.zeros(5), v, np.zeros(4)).mu
    found = dict(zip((*system.bilateral, *system.nonholonomic), -mu, strict=True))  # the paper's carry a minus
    order = [found[name] for name in ("road", "road.t", "road.p", "road.rolls")]
    assert order == pytest.approx([-9.55879281, -4.21739705e-3, 5.34139576e-3, 1.40579902e-3], rel=1e-6)


@pytest.mark.parametrize(("old", "new", "words"), [
    ('second = ["s", "h*cos(w*s)"]', 'second = ["s", "h*cos(w*s)", "0"]', "3 components"),
    ('second = ["s", "h*cos(w*s)"]', 'second = ["s", "h*cos(w*q)"]', "q"),
    ("start = [-1.5707963267948966, 0.0]", "start = [0.0, 0.0, 0.0]", "2 components"),
    ('energy = "m*g*y"', 'energy = "m*g*y + s"', "no place"),
    ("phi = 0.0", "phi = 0.0\ns = 1.0", "names two things"),
    ('names = ["sA", "sB"]', 'names = ["x", "sB"]', "x"),
    ("rolls = true", "roll = true", "unknown key"),
])  # fmt: skip
def test_files_with_surfaces_that_are_wrong(old, new, words):
    text = zoo.text("rolling-disk")
    assert old in text
    with pytest.raises(ModelFileError, match=words):
        loads(text.replace(old, new))
