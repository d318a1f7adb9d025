"""Equilibria that are not isolated, and states that vanish as soon as they are reached."""

import jax.numpy as jnp
import numpy as np
import pytest

import onesided
from onesided import Kind, Status, System, zoo


def energy(q, p, th):
    """x follows p; y and z only hold on to each other."""
    x, y, z = q
    return (x - p) ** 2 / 2 + 3.0 * (y - z) ** 2 / 2 + (y - z) ** 4


FREE = System(("x", "y", "z"), energy)
START = [0.0, 0.4, 0.4]


def test_what_can_move_freely_stays_where_it_is():
    path = onesided.trace(FREE, START, 0.0, p_bounds=(-1, 2))
    assert path.status is Status.bound_reached and "continuum" in path.note
    np.testing.assert_allclose(path.q[:, 0], path.p, atol=1e-12)
    np.testing.assert_allclose(path.q[:, 1:], 0.4, atol=1e-12)
    assert not path.instability.any()


def test_a_history_on_a_continuum_comes_back():
    history = onesided.drive(FREE, START, [0.0, 1.0, -1.0, 0.0])
    assert history.ok and not history.jumps
    np.testing.assert_allclose(history.paths[-1].q[-1], START, atol=1e-12)


def test_a_diagram_names_the_continuum():
    found = onesided.diagram(FREE, START, 0.0, p_bounds=(-1, 2))
    assert sorted(path.p[-1] for path in found.paths) == [-1.0, 2.0]
    assert not found.complete and "continuum" in found.note


@pytest.mark.slow
def test_a_disk_on_a_road_may_turn_on_the_spot():
    """Rolling is a condition on velocities: statics does not know it."""
    system, task = zoo.load("rolling-disk")
    history = onesided.drive(system, task.start, list(task.programme))
    assert history.ok and history.paths[0].q[0, 0] == pytest.approx(2.5)  # down in the valley
    diagram = onesided.diagram(system, task.start, task.p, p_bounds=task.p_bounds)
    assert [path.status for path in diagram.paths] == [Status.bound_reached] * 2 and "continuum" in diagram.note


CRANK = System(("phi",), lambda q, p, th: 9.81 * jnp.sin(q[0]) - p * q[0])


def test_a_crank_that_is_driven_over_the_top_turns_for_ever():
    """9.81 cos φ = p has no solution beyond p = 9.81; there the energy is level at every full turn."""
    history = onesided.drive(CRANK, [-1.0], [9.81 * np.cos(-1.0), 20.0], throw=False)
    (path,) = history.paths
    assert path.events[-1].kind is Kind.limit and path.p[-1] == pytest.approx(9.81, rel=1e-12)
    assert not history.jumps and not history.ok and "no stable state in reach" in history.note


def test_a_crank_held_by_a_stop_falls_onto_it():
    """The same with a stop between two turns: it is driven on with the crank at rest there."""
    stopped = System(
        ("phi",), lambda q, p, th: jnp.sin(q[0]) - p * q[0], unilateral={"stop": lambda q, p, th: 7.0 - q[0]}
    )
    history = onesided.drive(stopped, [-1.0], [np.cos(-1.0), 2.0])
    (jump,) = history.jumps
    assert (jump.p, jump.q_to[0]) == (pytest.approx(1.0), pytest.approx(7.0))
    assert history.paths[-1].lam[-1, 0] == pytest.approx(2.0 - np.cos(7.0))
