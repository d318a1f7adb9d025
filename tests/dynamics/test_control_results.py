"""Steerings and coupled motions: kept after Ctrl-C, saved and loaded, drawn."""

from dataclasses import replace
from importlib import import_module

import jax.numpy as jnp
import numpy as np
import pytest

import onesided
from onesided import DirectCollocation, Status, System, couple, plots, steer
from onesided.dynamics.steering.transcription import Transcription
from onesided.results import load_result, save

G = 9.81
coupling, steering_verb = (import_module(f"onesided.dynamics.{name}") for name in ("couple", "steering.steer"))


@pytest.fixture(scope="module")
def mass():
    return System(
        coordinates=("z",), energy=lambda q, p, th: G * q[0], mass=lambda q, th: jnp.eye(1),
        unilateral={"floor": lambda q, p, th: q[0]},
    )  # fmt: skip


def hop(mass, **more):
    return steer(
        mass, ([0.0], [0.0]), ([1.0], [0.0]), {"u": "z"}, t_span=(0, 2), modes=[(1.0, ("floor",)), (2.0, ())],
        method=DirectCollocation(intervals=4), **more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def steering(mass):
    return hop(mass)


def joined(**more):
    bob = System(("x", "y"), energy=lambda q, p, th: G * q[1], mass=lambda q, th: jnp.eye(2))
    start = (([0.0, 0.0], [0.0, 0.0]), ([1.0, 0.0], [0.0, 1.0]))
    return couple(bob, bob, lambda a, b: (jnp.sum((a - b) ** 2) - 1.0) / 2, start, (0.0, 0.1), step=0.01, **more)


@pytest.fixture(scope="module")
def both():
    return joined()


def test_a_steering_comes_back_as_it_was(steering, tmp_path):
    back = load_result(save(steering, tmp_path / "s"))
    for name in ("t", "q", "v", "u"):
        np.testing.assert_array_equal(getattr(back, name), getattr(steering, name))
    same = ("coordinates", "inputs", "cost", "error", "status", "note", "iterations")
    assert all(getattr(back, name) == getattr(steering, name) for name in same)
    assert [len(motion) for motion in back.motions] == [len(motion) for motion in steering.motions]
    np.testing.assert_array_equal(back.motions[1].q, steering.motions[1].q)
    table = np.genfromtxt(tmp_path / "s" / "steering.csv", delimiter=",", names=True)
    assert table["u"][-1] == pytest.approx(G - 6.0)


def test_a_coupled_motion_comes_back_as_it_was(both, tmp_path):
    back = load_result(save(both, tmp_path / "c"))
    assert back.coordinates == both.coordinates
    for name in ("t", "force", "drift", "energy", "contraction", "sweeps"):
        np.testing.assert_array_equal(getattr(back, name), getattr(both, name))
    for k in (0, 1):
        np.testing.assert_array_equal(back.q[k], both.q[k])
        np.testing.assert_array_equal(back.v[k], both.v[k])


def test_pictures_show_what_the_result_holds(steering, both, tmp_path):
    line = plots.inputs(steering).lines[0]
    at = np.searchsorted(line.get_xdata(), [1.0, 2.0])
    assert line.get_ydata()[at] == pytest.approx([6 + G, G - 6], rel=1e-5)  # after the jump: the closed form
    assert len(plots.coupled(both).lines) == 4
    np.testing.assert_array_equal(plots.joint_forces(both).lines[0].get_ydata(), both.force[:, 0])
    for result, views in ((steering, ("path",)), (both, ("path", "reactions", "energy", "drift"))):
        for view in views:
            assert plots.write(result, tmp_path / f"{view}.png", view=plots.View(view)).stat().st_size > 1000
    with pytest.raises(onesided.OnesidedError, match="no such picture"):
        plots.write(steering, tmp_path / "x.png", view=plots.View.raster)
    with pytest.raises(onesided.OnesidedError, match="holds no 'w'"):
        plots.write(steering, tmp_path / "x.png", y="w")


def presses(patch, where, name, after):
    """Ctrl-C in the call of a function after so many."""
    real, calls = getattr(where, name), []

    def wrapped(*arguments):
        calls.append(0)
        if len(calls) == after:
            raise KeyboardInterrupt
        return real(*arguments)

    patch.setattr(where, name, wrapped)


def test_ctrl_c_keeps_the_steps_of_both_systems(monkeypatch, both):
    presses(monkeypatch, coupling._CoupledRun, "_advance", 4)
    found = joined(throw=False)
    assert found.status is Status.interrupted
    assert "0.03" in found.note
    np.testing.assert_array_equal(found.q[0], both.q[0][:4])


def test_ctrl_c_keeps_the_last_iteration_of_a_steering(monkeypatch, mass, steering, tmp_path):
    presses(monkeypatch, Transcription, "curvature", 4)
    with pytest.raises(onesided.SolveError) as stopped:
        hop(mass)
    found = stopped.value.partial
    assert found.status is Status.interrupted
    assert found.q.shape == steering.q.shape
    assert np.isfinite(found.cost)
    assert "not an optimum" in found.note
    assert load_result(save(found, tmp_path / "i")).error == np.inf


def test_ctrl_c_in_the_recheck_of_a_steering_ends_it(monkeypatch, mass):
    real = onesided.simulate

    def interrupted(*arguments, **options):
        return replace(real(*arguments, **options), status=Status.interrupted)

    monkeypatch.setattr(steering_verb, "simulate", interrupted)
    assert hop(mass, throw=False).status is Status.interrupted
