"""Pictures of motions: what is drawn is what was computed."""

import functools
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

import onesided
from onesided import plots, zoo
from onesided.base.errors import UsageError
from onesided.plots import View
from onesided.plots.configuration import film_of
from onesided.results.motion_columns import motion_columns, motion_dense
from onesided.results.sketch import sketch_record

mpl.use("Agg")


def axes():
    return Figure(layout="constrained").add_subplot()


@functools.cache
def swing():
    system, task = zoo.load("pendulum")
    return onesided.simulate(system, task.start, {}, task.motion.time, control=task.p)


def test_points_between_stay_on_the_circle():
    fine = motion_dense(swing(), 1000)
    assert np.array_equal(fine.columns["x"][fine.exact], swing().q[:, 0])
    assert np.max(np.abs(np.hypot(fine.columns["x"], fine.columns["y"]) - 1)) < 1e-4
    assert len(fine.source) >= 1000


def test_every_column_keeps_its_computed_values():
    fine = motion_dense(swing(), 700)
    for name, values in motion_columns(swing()).items():
        assert np.array_equal(fine.columns[name][fine.exact], values), name


def test_curves_stop_at_impacts_and_go_on_from_them():
    system, task = zoo.load("bouncing-ball")
    motion = onesided.simulate(system, task.start, {}, (0.0, 1.2), method=onesided.EventDriven(), control=task.p)
    fine = motion_dense(motion, 3000)
    t, z, v = (fine.columns[name] for name in ("t", "z", "velocity z"))
    first = np.sqrt(2 / 9.81)
    falling, rising = t <= first * (1 - 1e-12), (t >= first * (1 + 1e-12)) & (t < first * 2.59)
    np.testing.assert_allclose(z[falling], 1 - 9.81 / 2 * t[falling] ** 2, atol=1e-9)
    speed = 0.8 * 9.81 * first
    after = t[rising] - first
    np.testing.assert_allclose(z[rising], speed * after - 9.81 / 2 * after**2, atol=1e-9)
    np.testing.assert_allclose(v[rising], speed - 9.81 * after, atol=1e-9)
    assert all(np.all(np.isfinite(values)) for values in fine.columns.values())


def test_curves_are_the_columns():
    ax = swing().plot("x", "multiplier rod", ax=axes())
    assert [line.get_label() for line in ax.lines[:2]] == ["x", "multiplier rod"]
    found = np.interp(swing().t, ax.lines[1].get_xdata(), ax.lines[1].get_ydata())
    np.testing.assert_allclose(found, swing().mu[:, 0], atol=1e-9)
    with pytest.raises(UsageError, match="holds no 'z'"):
        swing().plot("z", ax=axes())


def test_orbits_can_be_drawn_against_a_coordinate():
    ax = plots.history(swing(), "velocity x", x="x", ax=axes())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "velocity x")


@pytest.mark.parametrize("view", [View.path, View.reactions, View.energy, View.drift, View.sketch])
def test_every_view_is_written(tmp_path, view):
    assert plots.write(swing(), tmp_path / "a.svg", view=view).read_text().startswith("<?xml")


def test_views_that_make_no_sense_are_refused(tmp_path):
    with pytest.raises(UsageError, match="no gaps"):
        plots.write(swing(), tmp_path / "a.svg", view=View.gaps)
    with pytest.raises(UsageError, match="one-sided"):
        plots.write(swing(), tmp_path / "a.svg", view=View.raster)
    system, task = zoo.load("column")
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)
    with pytest.raises(UsageError, match="only a motion"):
        plots.write(path, tmp_path / "a.svg", view=View.drift)


def test_films_run_along_the_motion(tmp_path):
    film = film_of(swing(), 50)
    mass = film.sketch.positions(film.columns)["mass"]
    assert np.max(np.abs(np.linalg.norm(mass, axis=1) - 1)) < 1e-3
    file = plots.animate(swing(), tmp_path / "a.gif", frames=8)
    with Image.open(file) as picture:
        assert picture.n_frames == 8


def test_films_are_written_as_mp4_too(tmp_path):
    reader = pytest.importorskip("imageio_ffmpeg", reason="the package imageio-ffmpeg is not installed")
    file = plots.animate(swing(), tmp_path / "a.mp4", frames=12, rate=6)
    read = [reader.get_ffmpeg_exe(), "-i", str(file), "-f", "rawvideo", "-pix_fmt", "gray", "-"]
    done = subprocess.run(read, capture_output=True, check=True)
    assert b"Duration: 00:00:02.00" in done.stderr
    pictures = np.frombuffer(done.stdout, "u1").reshape(12, 440, 480).astype(int)
    assert np.ptp(pictures[0]) > 150, "something is drawn"
    assert np.mean(np.abs(pictures[0] - pictures[-1])) > 0.1, "and it moves"
    assert [file.name] == [path.name for path in tmp_path.iterdir()]


def test_where_there_is_no_ffmpeg_the_way_out_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(UsageError, match=r"needs the program ffmpeg.*pip install imageio-ffmpeg.*\.gif"):
        plots.animate(swing(), tmp_path / "a.mp4")
    assert list(tmp_path.iterdir()) == []


def test_the_raster_shows_when_constraints_act():
    motion = swing()
    forces = np.zeros((len(motion), 1))
    forces[10:20] = 1.0
    acting = type(motion)(**{**vars(motion), "unilateral": ("rope",), "lam": forces})
    ax = plots.raster(acting, ax=axes())
    bars = ax.collections[1].get_paths()
    assert len(bars) == 1
    np.testing.assert_allclose(bars[0].get_extents().intervalx, [motion.t[10], motion.t[19]])


def test_motions_are_saved_with_their_sketch(tmp_path):
    again = onesided.load_result(onesided.save(swing(), tmp_path / "m"))
    assert sketch_record(again.sketch) == sketch_record(swing().sketch)
    assert "<svg" in again._repr_html_()
