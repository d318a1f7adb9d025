"""Labels and units that a system states are those of every picture: cables, steering, studies, curves of events."""

import numpy as np

import onesided
from onesided import plots, zoo
from onesided.complementarity_systems import LinearComplementaritySystem, simulate

WIDE = {"h": ("rise", "mm"), "p": ("load", "N"), "t": ("time", "s")}


def words(axes):
    legend = axes.get_legend()
    return {axes.get_xlabel(), axes.get_ylabel(), *(text.get_text() for text in (legend.get_texts() if legend else ()))}


def test_cables():
    system = LinearComplementaritySystem(
        [[0.0, 1.0], [-1.0, 0.0]], [[0.0], [-1.0]], [[-1.0, 0.0]], [[1.0]], states=["x", "v"], names=["guy"],
        labels={"x": ("sway", "m"), "t": ("time", "s"), "reaction guy": ("tension", "N")},
    )  # fmt: skip
    motion = simulate(system, start=[1.0, 0.0], times=[0.0, 1.0])
    assert words(plots.cable_history(motion, "x")) == {"time [s]", "sway [m]"}
    assert "tension [N]" in words(plots.cable_history(motion, "reaction guy"))


def test_steering():
    model = zoo.load("gantry-crane")
    system = model.system.labelled({"t": ("time", "s"), model.system.coordinates[0]: ("trolley", "m")})
    n = system.n
    steering = onesided.Steering(
        system.coordinates, ("f",), np.array([0.0, 1.0]), np.zeros((2, n)), np.zeros((2, n)), np.zeros((1, 3, 1)),
        0.0, 0.0, (), onesided.Status.solved, "", 0, {"labels": {k: list(v) for k, v in system.labels.items()}},
    )  # fmt: skip
    assert words(plots.inputs(steering, system.coordinates[0])) == {"time [s]", "trolley [m]"}


def test_studies_and_curves_of_events(tmp_path):
    system = zoo.load("von-mises").system.labelled(WIDE)
    study = onesided.study(system, over={"h": [0.3, 0.4]}, folder=tmp_path / "study", workers=0)
    assert "rise [mm]" in words(plots.response(study, "limit_load", "h"))
    assert "rise [mm]" in words(plots.loci(onesided.open_study(tmp_path / "study"), "h"))


def test_followed_events():
    system, task = zoo.load("von-mises")
    path = onesided.trace(system.labelled(WIDE), task.start, task.p, p_bounds=task.p_bounds)
    found = onesided.follow(path.events[0], "h", (0.4, 0.6), system=system.labelled(WIDE))
    assert {"rise [mm]", "load [N]"} <= words(plots.event_curve(found))
