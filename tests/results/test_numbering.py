"""One numbering of events and jumps: from 1, in the order in which things happen, the same in every view."""

import dataclasses
import functools
from pathlib import Path

import numpy as np
import pytest

import onesided
from onesided import zoo
from onesided.results import Jump, Kind

LONG = {"arch-on-floor", "bimetal-strip", "cable-net", "lee-frame", "panel-ring", "scissor-lift", "tensegrity-prism",
        "tensegrity-deploy", "platform", "keyboard-dome", "tripod-truss", "williams-toggle", "guyed-mast",
        "column-between-walls", "bistable-chain-parts", "suspended-deck"}  # fmt: skip
DRIVES = [name for name in zoo.names() if "[motion]" not in zoo.text(name) or name == "corner-limit"]


@functools.cache
def driven(name):
    return onesided.drive(zoo.load(name), throw=False)


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in DRIVES])
def test_every_jump_of_every_bundled_drive_has_its_place(name):
    found = driven(name)
    jumps = [one for one in found.numbered if isinstance(one.what, Jump)]
    assert [one.what for one in jumps] == list(found.jumps)
    for one in jumps:
        path = found.paths[one.part]
        assert path.p[one.index] == one.what.p
        assert np.array_equal(path.q[one.index], one.what.q_from)
    for i, jump in found.jump_places():
        landed = found.paths[i + 1]
        assert landed.p[0] == pytest.approx(jump.p, abs=1e-9 * np.ptp(found.p))
        off, far = (np.max(np.abs(landed.q[0] - q)) for q in (jump.q_to, jump.q_from))
        assert off < far, "the next path begins where the jump lands"
    assert len(found.jump_places()) == sum(one.part < len(found.paths) - 1 for one in jumps)


def test_a_jump_at_constant_coordinates_stands_where_p_is():
    """Paths along which q stays: only p tells where the jump is; of two ends at one place it is the last."""
    still = driven("corner-limit")
    (i, jump), *_ = still.jump_places()
    first, last = still.paths[i], still.paths[i + 1]
    flat = dataclasses.replace(first, q=np.repeat(first.q[-1:], len(first), axis=0), events=())
    point = dataclasses.replace(
        flat, **{name: getattr(flat, name)[-1:] for name in ("q", "p", "mu", "lam", "gaps", "energy", "s", "tangents",
                                                             "instability", "codes")})  # fmt: skip
    away = dataclasses.replace(flat, p=flat.p + 1.0)
    history = dataclasses.replace(still, paths=(away, flat, point, last), jumps=(jump,))
    assert history.jump_places() == [(2, jump)]


def test_numbers_count_events_and_jumps_together():
    found = driven("von-mises-floor")
    parts = [(one.part, one.index) for one in found.numbered]
    assert [one.number for one in found.numbered] == list(range(1, len(parts) + 1))
    assert parts == sorted(parts)
    assert not any(one.what.kind is Kind.bound for one in found.numbered if not isinstance(one.what, Jump))
    before = [one.what for one in found.numbered if one.what not in found.jumps]
    for jump in found.jumps:  # what set it off stands right before it
        place = [one.what for one in found.numbered].index(jump)
        assert found.numbered[place - 1].what.p == jump.p
        assert found.numbered[place - 1].what in before
    assert repr(found.numbered).splitlines()[0] == f"1: {found.numbered[0].words()}"


def test_numbers_of_paths_and_diagrams_leave_bounds_out():
    system = zoo.load("column-stop")
    for found in (onesided.trace(system), onesided.diagram(system)):
        special = [event for event in found.events if event.kind is not Kind.bound]
        assert [one.what for one in found.numbered] == special


def test_numbers_of_motions_are_in_time():
    ball = onesided.load_result(Path(__file__).parent / "format-1" / "motion")
    assert ball.events
    assert [one.what for one in ball.numbered] == list(ball.events)
    assert all(ball.t[one.index] <= one.what.t for one in ball.numbered)
