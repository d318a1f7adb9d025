"""Pictures of studies show the numbers of the table."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

import onesided
from onesided.base.errors import UsageError

mpl.use("Agg")


@pytest.fixture(scope="module")
def system():
    return onesided.System(("x",), lambda q, p, th: th.a * q[0] ** 2, parameters={"a": 1.0, "b": 1.0})


def product(system):
    if system.parameters["a"] == 2.0:
        raise ValueError("two")
    return {"product": system.parameters["a"] * system.parameters["b"]}


@pytest.fixture(scope="module")
def study(system, tmp_path_factory):
    task, folder = onesided.StudyTask(system, product), tmp_path_factory.mktemp("studies") / "s"
    return onesided.study(task, over={"a": [1.0, 2.0, 3.0], "b": [10.0, 20.0]}, folder=folder, workers=0)


def test_curves_and_maps_show_the_table(study):
    axes = onesided.plots.response(study, "product", "b")
    assert list(axes.get_lines()[0].get_ydata()) == [10.0, 20.0]
    assert axes.get_legend().get_texts()[0].get_text() == "a = 1"
    shown = onesided.plots.study_map(study, "product").collections[0].get_array()
    assert np.ma.filled(shown.reshape(2, 3), np.nan) == pytest.approx(
        np.array([[10.0, np.nan, 30.0], [20.0, np.nan, 60.0]]), nan_ok=True
    )
    words = onesided.plots.study_map(study, "status", "b", "a")
    assert {text.get_text() for text in words.get_legend().get_texts()} == {"solved", "error"}
    words.figure.draw_without_rendering()  # the legend lies beside the areas, inside the picture
    legend, area = words.get_legend().get_window_extent(), words.get_window_extent()
    assert legend.x0 >= area.x1 and legend.x1 <= words.figure.bbox.x1
    plt.close("all")


def test_bands_and_loci(system, tmp_path):
    task = onesided.StudyTask(system, product)
    sample = {"b": np.arange(101.0)}
    spread = onesided.study(task, over={"a": [1.0, 3.0]}, sample=sample, folder=tmp_path / "a", workers=0)
    (median,) = onesided.plots.bands(spread, "product").get_lines()
    assert list(median.get_ydata()) == [50.0, 150.0]
    alone = onesided.study(task, sample=sample, folder=tmp_path / "b", workers=0)
    (step,) = onesided.plots.bands(alone, "product").get_lines()
    assert step.get_ydata()[-1] == 1.0 and step.get_xdata()[50] == 50.0
    truss = onesided.loads(onesided.zoo.text("von-mises")).system
    traced = onesided.study(truss, over={"h": [0.4, 0.5]}, folder=tmp_path / "c", workers=0)
    (drawn,) = onesided.plots.loci(traced).get_lines()
    assert drawn.get_ydata() == pytest.approx(traced.events()["at"]) and drawn.get_label() == "limit point"
    plt.close("all")


def test_pictures_that_cannot_be_drawn_are_refused(study):
    for draw, words in (
        (lambda: onesided.plots.response(study, "product", "c"), "not varied"),
        (lambda: onesided.plots.response(study, "sum"), "holds no 'sum'"),
        (lambda: onesided.plots.study_map(study, "product", "a", "a"), "two axes"),
        (lambda: onesided.plots.bands(study, "product"), "need a sample"),
    ):
        with pytest.raises(UsageError, match=words):
            draw()
    plt.close("all")
