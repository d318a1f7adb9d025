"""Contact points are watched by default: closest of all, locally closest, on regular outlines."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from test_rolling_disk import GRAVITY, OMEGA, H, disk, pairs, road

from onesided import EventDriven, ModelError, Moreau, Projected, Scales, SurfacePair, System, simulate, with_surfaces
from onesided.results import Circle, Occurrence, Sketch

BIG = 1.5  # larger than the radius of the valley, 1.2665: the disk touches both sides before it reaches the bottom


def centre(s, r=BIG):
    theta, _ = road(s)
    return s - r * np.sin(theta), H * np.cos(OMEGA * s) + r * np.cos(theta)


def travel(s_end, r=BIG, v0=1.0):
    """Time until the contact is at s_end: speed of the centre from the energy, its path from the curvature."""

    def pace(s):
        theta, kappa = road(s)
        speed = np.sqrt(v0**2 + 4 / 3 * GRAVITY * (H + r - centre(s, r)[1]))
        return (1 - r * kappa) / np.cos(theta) / speed

    return quad(pace, 0.0, s_end, epsabs=1e-13)[0]


@pytest.fixture(scope="module")
def stuck():
    system, start = disk(BIG)
    return simulate(system, start, [1.0, 0.0, -1.0 / BIG, 0.0, 0.0], (0.0, 2.0), method=Projected(rtol=1e-10),
                    throw=False)  # fmt: skip


def test_second_point_of_contact_is_told_with_its_time(stuck):
    """By symmetry the other side of the valley is touched when the centre is above its bottom, x = 2.5."""
    event = next(e for e in stuck.events if e.kind is Occurrence.not_closest)
    s = brentq(lambda s: centre(s)[0] - 2.5, 1.0, 2.1)
    assert event.q[0] == pytest.approx(2.5, abs=1e-8)
    assert event.q[4] == pytest.approx(s, abs=1e-7)
    assert event.t == pytest.approx(travel(s), abs=1e-7)
    assert f"{5.0 - s:.6g}" in event.detail  # where it touches: the mirror image


def test_curvatures_that_come_to_agree_are_told(stuck):
    """κ = 1/r: the path of the centre has a cusp, no motion leads on."""
    event = next(e for e in stuck.events if e.kind is Occurrence.conformal)
    s = brentq(lambda s: road(s)[1] - 1 / BIG, 1.5, 2.4)
    assert event.q[4] == pytest.approx(s, abs=5e-3)
    assert event.t == pytest.approx(travel(s), abs=1e-5)
    assert not stuck.ok
    assert [e.kind for e in stuck.events if e.kind in {Occurrence.not_closest, Occurrence.conformal}] == [
        Occurrence.not_closest, Occurrence.conformal]  # fmt: skip


def test_a_disk_that_fits_is_not_told_anything():
    system, start = disk()
    for method in (Projected(rtol=1e-9), Projected(step=0.01)):
        assert simulate(system, start, [1.0, 0.0, -1.0, 0.0, 0.0], (0.0, 3.0), method=method).events == ()


@pytest.mark.parametrize("method", [EventDriven(), Moreau(step=2e-3)], ids=["events", "moreau"])
def test_one_sided_contacts_are_watched_too(method):
    system, start = disk(BIG, opens=True)
    motion = simulate(system, start, [1.0, 0.0, -1.0 / BIG, 0.0, 0.0], (0.0, 1.425), method=method, throw=False)
    event = next(e for e in motion.events if e.kind is Occurrence.not_closest)
    assert event.q[0] == pytest.approx(2.5, abs=1e-2)


def test_nothing_is_looked_for_outside_of_ranges():
    system, start = disk(BIG, ranges=((-2.2, -1.0), (-1.0, 2.2)))  # not the other side of the valley
    motion = simulate(system, start, [1.0, 0.0, -1.0 / BIG, 0.0, 0.0], (0.0, 1.425), throw=False)
    assert Occurrence.not_closest not in [e.kind for e in motion.events]


def test_start_is_refused_by_default():
    r = 1 / (H * OMEGA**2)
    base = System(("x", "y", "phi"), lambda q, p, th: GRAVITY * q[1], mass=lambda q, th: jnp.eye(3))
    cases = {
        "conformal": (pairs(r, start=(-np.pi / 2, 2.5)), [2.5, r - H, 0.0, -np.pi / 2, 2.5]),
        "press into each other": (pairs(BIG, start=(-np.pi / 2, 2.5)), [2.5, BIG - H, 0.0, -np.pi / 2, 2.5]),
        "not regular": (pairs(second=lambda q, s, th: jnp.array([s**3, 0.0 * s])), [0.0, 1.0, 0.0, -np.pi / 2, 0.0]),
    }
    for words, (pair, start) in cases.items():
        with pytest.raises((ModelError), match=words):
            simulate(with_surfaces(base, pair), start, np.zeros(5), (0.0, 0.1))


def test_what_the_system_says_of_itself_is_kept():
    sketch = Sketch({"c": ("x", "y")}, circles=(Circle("c", 1.0, "phi"),))
    base = System(
        ("x", "y", "phi"), lambda q, p, th: th.g * q[1], mass=lambda q, th: jnp.eye(3), parameters={"g": 10.0},
        control="load", scales=Scales(length=(2.0, 3.0, 4.0), force=5.0), sketch=sketch,
        measures={"height": lambda q, p, th: q[1]}, unilateral={"ceiling": lambda q, p, th: 5.0 - q[1]},
    )  # fmt: skip
    system = with_surfaces(base, pairs())
    assert system.sketch is sketch
    assert system.scales == Scales(length=(2.0, 3.0, 4.0, 1.0, 1.0), force=5.0)
    assert system.control == "load"
    assert dict(system.parameters) == {"g": 10.0}
    assert tuple(system.unilateral) == ("ceiling",)
    assert list(system.measures) == ["height"]
    twice = with_surfaces(system, {"roof": SurfacePair(pairs()["road"].first, pairs()["road"].second, (1.0, 2.0))})
    assert twice.coordinates == ("x", "y", "phi", "sA", "sB", "roof.sA", "roof.sB")
    assert [name for _, name in twice.surfaces.all_pairs()] == ["road", "roof"]
