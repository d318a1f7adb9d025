"""Pictures and pages of complementarity motions: what is drawn is what was computed."""

import functools
import json
import re

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image
from typer.testing import CliRunner

from onesided import plots, report
from onesided.base.errors import ModelError, UsageError
from onesided.cli.app import app
from onesided.complementarity_systems import LocatedSwitches, SlacknessSystem, simulate
from onesided.plots import cable_plots as cables
from onesided.plots.configuration import film_of
from onesided.results import load_result, save
from onesided.results.sketch import sketch_record
from onesided.zoo.mast import Bilateral, Catenary, Mast, Taut
from onesided.zoo.suspension import Suspension

mpl.use("Agg")


def axes():
    return Figure(layout="constrained").add_subplot()


@functools.cache
def suspended():
    return simulate(Suspension().system(), times=np.linspace(0.0, 2.0, 401))


def mast(law, damping=1000.0, until=3.0):
    start = (0.015, 0.0075, 0.0, 0.0)
    return simulate(Mast(law, damping=damping).system(), LocatedSwitches(), start, times=np.linspace(0.0, until, 61))


@pytest.mark.parametrize("law", [Taut(), Bilateral(), Catenary()], ids=["taut", "bilateral", "catenary"])
def test_energy_of_the_mast_is_kept_without_damping(law):
    motion = mast(law, damping=0.0)
    energy = motion.measures["energy"]
    q = motion.x[:, 2:]
    play = Mast().mass * Mast().radius ** 2 / 2 * (q**2).sum(axis=1).max()
    assert np.ptp(energy) < 1e-10 * play
    assert np.ptp(mast(law).measures["energy"]) > 1e-3 * play


def test_energy_of_the_suspension_is_kept_without_load_and_damping():
    model = Suspension(damping=0.0, load=0.0, stiffness=2e5, stretch=0.001)
    start = np.zeros(12)
    start[6:9] = 0.1, 0.05, -0.02
    motion = simulate(model.system(), LocatedSwitches(), start, times=np.linspace(0.0, 3.0, 301))
    assert len(motion.switches) > 10
    energy = motion.measures["energy"]
    assert energy[0] == pytest.approx(2600 / 2 * (0.1**2 + 0.05**2 + 0.02**2), rel=1e-12)
    assert np.abs(energy / energy[0] - 1).max() < 1e-11


def test_raster_fills_the_times_between_slack_episodes():
    motion = suspended()
    drawn = cables.raster(motion, ax=axes())
    slack, taut = drawn.collections[2:4]  # of the second sling
    lengths = [np.ptp(path.vertices[:, 0]) for path in slack.get_paths()]
    assert sum(lengths) == pytest.approx(motion.slack_time("sling 2"), abs=1e-9)
    assert sum(np.ptp(path.vertices[:, 0]) for path in taut.get_paths()) == pytest.approx(2.0 - sum(lengths), abs=1e-9)


def test_columns_and_curves():
    motion = suspended()
    columns = motion.columns()
    assert np.array_equal(columns["reaction sling 2"], motion.s[:, 1])
    stretched = columns["elongation 2"]
    assert np.maximum(3750 * stretched, 0) == pytest.approx(motion.s[:, 1], abs=1e-9)
    drawn = motion.plot("elongation 1", "elongation 2", ax=axes())
    assert drawn.lines[1].get_ydata() == pytest.approx(stretched)
    assert cables.energy(motion, ax=axes()).get_ylabel() == "energy"
    with pytest.raises(UsageError, match="holds no 'z'"):
        motion.plot("z", ax=axes())


def test_taut_at_points_is_where_the_force_is():
    motion = suspended()
    clear = np.abs(motion.s).max(axis=0) * 1e-9
    assert (motion.taut()[motion.s > clear]).all()
    assert not (motion.taut()[motion.w > 1e-12]).any()


def test_film_dashes_slack_slings(tmp_path):
    motion = suspended()
    film = film_of(motion)
    k = int(np.argmax(motion.w[:, 1]))
    assert ("b2", "c2") in plots.configuration.slack(film, k)
    assert film.sketch.positions(film.columns)["b2"][k, 1] == pytest.approx(
        40.0 * (Suspension().shapes[1, :3] @ motion.x[k, :3]), abs=1e-12
    )
    file = plots.animate(motion, tmp_path / "film.gif", frames=8)
    with Image.open(file) as film:
        assert film.n_frames >= 8


def test_a_saved_motion_draws_the_same(tmp_path):
    motion = suspended()
    loaded = load_result(save(motion, tmp_path / "run"))
    assert sketch_record(loaded.sketch) == sketch_record(motion.sketch)
    assert loaded.defect == motion.defect
    for name, values in motion.columns().items():
        assert np.array_equal(loaded.columns()[name], values), name


def test_page_holds_switches_tensions_and_the_recheck(tmp_path):
    motion = suspended()
    text = report.html(motion)
    for switch in motion.switches:
        assert switch.words().replace("'", "&#x27;") in text
    data = json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)[1])
    assert data["control"] == "t"
    assert data["quantities"] == ["reaction", "gap", "energy"]
    assert data["count"] == len(motion)
    assert len(data["events"]) == len(motion.switches)
    assert data["sketch"] is not None
    assert "ẋ that the equations do not explain" in text
    assert "<svg" in motion._repr_html_()
    free = mast(Bilateral())
    assert "tension cable 1" in report.html(free)
    assert "<svg" in free._repr_html_()


def test_verbs_on_a_saved_folder(tmp_path):
    folder = tmp_path / "mast"
    done = CliRunner().invoke(app, ["cables", "mast", "--until", "1", "-o", str(folder)])
    assert done.exit_code == 0, done.output
    for arguments, file in (
        (["report"], "report.html"), (["animate", "--frames", "4"], "animation.gif"),
        (["plot", "--kind", "raster"], "raster.svg"), (["plot", "--kind", "energy"], "energy.svg"),
        (["plot", "--x", "xi", "--y", "eta"], "path.svg"), (["plot", "--kind", "sketch", "--at", "3"], "sketch.svg"),
    ):  # fmt: skip
        verb, *options = arguments
        done = CliRunner().invoke(app, [verb, str(folder), *options])
        assert done.exit_code == 0, done.output
        assert (folder / file).stat().st_size > 1000


def test_systems_that_say_less():
    plain = SlacknessSystem(lambda t, x, s: -x, lambda t, x, s: np.zeros(0), ("x",), ())
    motion = simulate(plain, None, [1.0], times=(0.0, 1.0))
    assert motion.plot(ax=axes()).lines[0].get_ydata()[-1] == pytest.approx(np.exp(-1.0))
    for view in (cables.energy, cables.raster, cables.forces):
        with pytest.raises(UsageError):
            view(motion, ax=axes())
    with pytest.raises(UsageError, match="how to draw"):
        film_of(motion)
    wrong = SlacknessSystem(
        lambda t, x, s: -x, lambda t, x, s: np.zeros(0), ("x",), (), measures={"m": lambda t, x, s: x}
    )
    with pytest.raises(ModelError, match="measure 'm'"):
        simulate(wrong, None, [1.0], times=(0.0, 1.0))
