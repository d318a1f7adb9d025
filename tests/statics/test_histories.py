"""Loading histories, diagrams and stored results."""

import numpy as np
import pytest

import onesided
from onesided import Kind, OnesidedError, zoo


def load_work(drive, system):
    """∮ U_p dp over the smooth parts by the trapezoidal rule on the stored points: independent of stored energies."""
    total = 0.0
    for path in drive.paths:
        slope = [system.evaluate(q, p, np.concatenate([m, n])).L_p for q, p, m, n in
                 zip(path.q, path.p, path.mu, path.lam, strict=True)]  # fmt: skip
        total += np.trapezoid(slope, path.p)
    return total


def test_corner_jumps_once_and_never_returns():
    system, task = zoo.load("corner-limit")
    history = onesided.drive(system, task.start, (-1, 1, -1))
    (jump,) = history.jumps
    assert (jump.p, jump.reason) == (0.0, Kind.corner_limit)
    assert jump.energy == pytest.approx(2.0, abs=1e-12)
    assert jump.q_to[0] == pytest.approx(np.pi, abs=1e-12)
    back = history.paths[2]
    free = back.p > 0
    assert np.allclose(back.q[free, 0], np.pi - np.arctan(back.p[free]), atol=1e-9)  # branch 4
    assert np.allclose(back.q[~free, 0], np.pi, atol=1e-12)  # branch 3
    assert back.lam[-1, 0] == pytest.approx(1.0, abs=1e-10)
    assert all(np.all(path.instability == 0) for path in history.paths)


def test_von_mises_loop_loses_the_area_of_its_loop():
    system, task = zoo.load("von-mises")
    history = onesided.drive(system, task.start, (0, 0.1, -0.1, 0))
    first, second = history.jumps
    assert first.p == pytest.approx(0.0429143257312247, abs=1e-13)
    assert first.q_from[0] == pytest.approx(0.277880091075165, abs=1e-11)
    assert first.q_to[0] == pytest.approx(-0.588543535382751, abs=1e-11)
    assert second.p == pytest.approx(-0.0429143257312247, abs=1e-13)
    assert second.energy == pytest.approx(first.energy, abs=1e-12)
    assert history.work == pytest.approx(history.dissipated, abs=1e-12)
    fine = onesided.drive(system, task.start, (0, 0.1, -0.1, 0), method=onesided.PredictorCorrector(max_step=0.01))
    assert load_work(fine, system) == pytest.approx(fine.dissipated, rel=2e-4)
    assert history.paths[-1].q[-1, 0] == pytest.approx(0.5, abs=1e-10)


def test_drive_follows_the_stable_branch_at_a_supercritical_bifurcation():
    system, task = zoo.load("column-stop")
    history = onesided.drive(system, task.start, (0, 1.5))
    assert history.jumps == ()
    theta, p = history.paths[-1].q[:, 0], history.paths[-1].p
    free = (np.abs(theta) > 1e-6) & (theta < 0.5 - 1e-9)
    assert np.allclose(p[free], theta[free] / np.sin(theta[free]), atol=1e-9)


def test_chain_snaps_unit_by_unit():
    system, task = zoo.load("bistable-chain")
    history = onesided.drive(system, task.start, (0, 0.05, -0.05, 0))
    c = np.hypot(1, 0.5) ** (2 / 3)
    loads = np.array([1.0, 1.02, 1.04]) * (c - 1) ** 1.5
    assert [jump.p for jump in history.jumps] == pytest.approx([*loads, *(-loads)], abs=1e-12)
    assert history.work == pytest.approx(history.dissipated, abs=1e-12)


def test_drive_stops_honestly_where_nothing_stable_is_left():
    system, task = zoo.load("end-point-horizontal")
    history = onesided.drive(system, task.start, (1, -1), throw=False)
    assert not history.ok
    assert "no stable state in reach at p = 0" in history.note
    assert history.paths[0].p[-1] == pytest.approx(0, abs=1e-12)
    with pytest.raises(OnesidedError, match="programme"):
        onesided.drive(system, task.start, (1,))
    endless = onesided.drive(zoo.load("flat-contact"), programme=(1, -1), throw=False)  # nothing stops the fall
    assert endless.status is onesided.Status.unbounded
    assert "no stable state in reach at p = 0" in endless.note
    assert endless.status.value not in endless.note, "who shows both would say it twice"


def test_diagram_of_the_column_has_every_branch_once():
    system, task = zoo.load("column-stop")
    found = onesided.diagram(system, task.start, 0.5, p_bounds=(0, 2))
    assert found.complete
    assert len(found.paths) == 4  # trivial up and down, two buckled
    ends = sorted((round(float(path.q[-1, 0]), 6), float(path.p[-1])) for path in found.paths)
    theta = next(t for t, _ in ends if t < -0.1)
    assert pytest.approx(theta / np.sin(theta), abs=1e-5) == 2.0
    assert [(t, p) for t, p in ends if t > -0.1] == [(0.0, 0.0), (0.0, 2.0), (0.5, 2.0)]
    assert sorted(event.kind.name for event in found.events) == ["closes", "smooth_bifurcation"]


def test_diagram_says_what_it_left_out():
    system, task = zoo.load("column")
    found = onesided.diagram(system, task.start, 0.5, p_bounds=(0, 2), max_branches=2)
    assert not found.complete
    assert "not followed" in found.note


def test_saved_results_come_back_equal(tmp_path):
    system, task = zoo.load("corner-limit")
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)
    again = onesided.load_result(onesided.save(path, tmp_path / "path"))
    assert np.array_equal(again.q, path.q)
    assert np.array_equal(again.codes, path.codes)
    assert [e.words() for e in again.events] == [e.words() for e in path.events]
    assert again.active == path.active
    with pytest.raises(OnesidedError, match="cannot be branched"):
        onesided.branch(again.events[0], 0)
    history = onesided.drive(system, task.start, (-1, 1))
    assert onesided.load_result(onesided.save(history, tmp_path / "drive")).jumps[0].energy == history.jumps[0].energy
    found = onesided.diagram(system, task.start, task.p, p_bounds=task.p_bounds)
    assert len(onesided.load_result(onesided.save(found, tmp_path / "diagram")).paths) == len(found.paths)


def test_saving_replaces_results_but_never_other_folders(tmp_path, monkeypatch):
    system, task = zoo.load("corner-limit")
    path = onesided.trace(system, task.start, task.p, max_events=1)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(OnesidedError, match="holds no result"):
        onesided.save(path, tmp_path / "mine")
    onesided.save(path, tmp_path / "r")
    monkeypatch.setattr("onesided.results.store.put_csv", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        onesided.save(path, tmp_path / "r")
    assert len(onesided.load_result(tmp_path / "r")) == len(path)  # the old result is whole
    assert sorted(f.name for f in tmp_path.iterdir()) == ["mine", "r"]
