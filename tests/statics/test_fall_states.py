"""What is played of a jump: admissible states of falling energy from the lost state to the one that is reached."""

import numpy as np
import pytest

import onesided
from onesided import plots, zoo
from onesided.plots.configuration import film_of
from onesided.plots.films import scenes
from onesided.report.data import payload
from onesided.report.stories import story


@pytest.fixture(scope="module", params=["corner-limit", "keyboard-dome", "bistable-chain", "arch-on-floor"])
def driven(request):
    system = zoo.load(request.param)
    return getattr(system, "system", system), onesided.drive(system)


@pytest.mark.parametrize("how", ["descent", "damped"])
def test_states_lead_down_from_where_stability_is_lost_to_where_it_lands(how):
    model = zoo.load("corner-limit")
    check(getattr(model, "system", model), onesided.drive(model, fall=how), how)


def test_states_are_admissible_and_fall(driven):
    check(*driven, "descent")


def check(system, found, how):
    """Energies and gaps are computed anew from the model."""
    assert found.jumps
    for jump in found.jumps:
        fall = jump.fall
        np.testing.assert_array_equal(fall.q[[0, -1]], [jump.q_from, jump.q_to])
        none = np.zeros(len(system.constraint_names))
        values = [system.residual(q, jump.p, none) for q in fall.q]
        energy = np.array([U for U, _, _ in values])
        gaps = np.array([c[len(system.bilateral) :] for _, _, c in values])
        assert np.all(np.diff(energy) <= 1e-9 * jump.energy)
        assert energy[0] - energy[-1] == pytest.approx(jump.energy, rel=1e-9)
        assert np.min(gaps, initial=0.0) >= -1e-9 * max(np.max(np.abs(gaps), initial=0.0), 1.0)
        np.testing.assert_allclose(fall.energy, energy, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(fall.gaps, gaps, atol=1e-9)
        assert fall.motion == how and "not in real time" in fall.words
        way = np.abs(np.diff(fall.q, axis=0)).max(axis=1)
        assert way.max() < 0.1 * way.sum(), "close enough to be played"


def test_they_are_kept_on_disk(driven, tmp_path):
    _, found = driven
    again = onesided.load_result(onesided.save(found, tmp_path / "run"))
    for one, other in zip(found.jumps, again.jumps, strict=True):
        for name in ("q", "energy", "gaps"):
            np.testing.assert_array_equal(getattr(one.fall, name), getattr(other.fall, name))
        assert {k: v.tolist() for k, v in one.fall.measures.items()} == {
            k: v.tolist() for k, v in other.fall.measures.items()
        }
        assert one.fall.motion == other.fall.motion


def test_films_play_them_between_two_flashes(driven):
    _, found = driven
    film = film_of(found, wanted=120)
    shown = [scene.picture for scene in scenes(film, 120)]
    for begin, _ in film.jumps:
        first, last = shown.index(begin - 1), len(shown) - 1 - shown[::-1].index(begin)
        between = [picture for picture in shown[first:last] if picture in film.falls[begin]]
        assert len(between) > 8 and between == sorted(between)
        assert "not in real time" in film.captions[between[0]]


def test_pages_hold_them_behind_their_frames(driven):
    _, found = driven
    told = story(found)
    data = payload(told)
    places = found.jump_places()
    assert len(data["jumps"]) == len(places)
    end = data["count"]
    for jump in data["jumps"]:
        assert jump["fall"][0] == end and jump["fall"][1] > end + 8
        end = jump["fall"][1]
    assert end == data["count"] + data["falling"]


def test_a_system_that_cannot_be_drawn_has_none():
    system = onesided.System(["x"], lambda q, p, th: q[0] ** 4 / 4 - q[0] ** 2 / 2 - p * q[0])
    found = onesided.drive(system, [-1.0], [0.0, 1.0])
    assert found.jumps and all(jump.fall is None for jump in found.jumps)
    assert plots.diagram(found) is not None
