"""Stiffness that jumps while forces go on: kinks of laws, contacts that pass the end of a segment."""

import jax.numpy as jnp
import numpy as np
import pytest

import onesided
from onesided import Kind, System
from onesided.elements import Node, SegmentContact, Spring

TURNS = Kind.corner_limit


def law(rng, kinks):
    """Places and slopes of a piecewise linear force that begins with slope 1 and ends hardening."""
    places = np.array([0.0, 0.0])
    while np.min(np.diff(places, prepend=0.0)) < 0.1:
        places = np.sort(rng.uniform(0.3, 5.0, kinks))
    slopes = np.append(1.0, rng.choice([-1, 1], kinks) * 10 ** rng.uniform(-1.5, 1.0, kinks))
    slopes[-1] = abs(slopes[-1]) + 1.0
    return places, slopes


def force(x, places, slopes):
    return slopes[0] * x + np.maximum(np.subtract.outer(x, places), 0.0) @ np.diff(slopes)


def energy(x, places, slopes):
    return 0.5 * slopes[0] * x**2 + 0.5 * jnp.maximum(x - places, 0.0) ** 2 @ np.diff(slopes)


def turns(places, slopes):
    """Where the force turns, in the order in which a path from 0 meets them."""
    return [
        float(force(a, places, slopes)) for a, u, v in zip(places, slopes[:-1], slopes[1:], strict=True) if u * v < 0
    ]


def told(path):
    assert path.ok, path.note
    return [(event.kind, event.p) for event in path.events if event.kind is not Kind.bound]


@pytest.mark.parametrize("seed", range(12))
def test_a_law_of_straight_pieces_turns_at_its_corners(seed):
    """p = F(x): every kink at which the slope changes its sign is a corner limit point, no other one an event."""
    rng = np.random.default_rng(seed)
    places, slopes = law(rng, rng.integers(2, 6))
    unit = 10 ** rng.uniform(-3, 3)
    system = System(("x",), lambda q, p, th: energy(q[0] / unit, places, slopes) - p * q[0] / unit)
    expected = turns(places, slopes)
    bounds = min([*expected, 0.0]) - 1.0, max([*expected, force(places[-1], places, slopes)]) + 10.0
    path = onesided.trace(system, [0.0], 0.0, p_bounds=bounds)
    assert told(path) == [(TURNS, pytest.approx(p, rel=1e-8, abs=1e-8)) for p in expected]
    assert force(path.q[-1, 0] / unit, places, slopes) == pytest.approx(bounds[1], rel=1e-9)
    assert path.q[-1, 0] / unit > places[-1]
    back = onesided.trace(system, path.q[-1], bounds[1], direction=-1, p_bounds=(bounds[0], bounds[1] + 1.0))
    assert told(back) == [(TURNS, pytest.approx(p, rel=1e-8, abs=1e-8)) for p in expected[::-1]]


@pytest.mark.parametrize("seed", range(6))
def test_springs_in_series_turn_where_the_weakest_does(seed):
    """Of springs under one force the weakest one turns, the others unload along the law by which they were loaded.

    Any coordinates tell the same.
    """
    rng = np.random.default_rng(100 + seed)
    n = int(rng.integers(2, 6))
    places, slopes = law(rng, 3)
    strong = 10.0 + max(0.0, *force(places, places, slopes))  # their only kink is never reached
    A = np.linalg.qr(rng.normal(size=(n, n)))[0] * 10 ** rng.uniform(-2, 2)

    def total(q, p, th):
        x = jnp.asarray(A) @ q
        others = 0.5 * x[1:] ** 2 + jnp.maximum(x[1:] - strong, 0.0) ** 2
        return energy(x[0], places, slopes) + others.sum() - p * x.sum()

    expected = turns(places, slopes)
    top = max([*expected, 0.0, force(places[-1], places, slopes)]) + 3.0
    path = onesided.trace(System(tuple(f"q{i}" for i in range(n)), total), np.zeros(n), 0.0, p_bounds=(-50.0, top))
    assert told(path) == [(TURNS, pytest.approx(p, rel=1e-8, abs=1e-8)) for p in expected]
    x = path.q[-1] @ A.T
    assert x[0] > places[-1] and force(x[0], places, slopes) == pytest.approx(top, rel=1e-8)
    assert x[1:] == pytest.approx(top, rel=1e-8)


def test_a_drive_falls_from_a_corner_of_a_law():
    """F = x up to 1, then −x/2 up to 2, then 2 x: from the corner it falls to the hardening piece at the same force."""
    places, slopes = np.array([1.0, 2.0]), np.array([1.0, -0.5, 2.0])
    system = System(("x",), lambda q, p, th: energy(q[0], places, slopes) - p * q[0])
    history = onesided.drive(system, [0.0], [0.0, 1.5, 0.0])
    assert [jump.p for jump in history.jumps] == pytest.approx([1.0, 0.5], rel=1e-8)
    assert [float(jump.q_to[0]) for jump in history.jumps] == pytest.approx([2.25, 0.5], rel=1e-8)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("height", "thickness", "turn"), [(0.02, 0.1, 0.0), (0.01, 0.1, 1.0), (5e-4, 0.01, 2.5)])
def test_a_point_slides_over_the_end_of_a_segment(height, thickness, turn, sparse):
    """Drawn by a spring at a height h it leaves the end, round which it goes on a circle, at the distance √(t² − h²).

    Its velocity jumps by t/h where it meets the end; nothing happens there.
    """
    x, y = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    system = onesided.compose(
        Node("a", (0, 0), fixed=True),
        Node("b", tuple(-x), fixed=True),
        Node("m", tuple(-0.5 * x + thickness * y)),
        Node("hook", tuple(-0.5 * x + height * y), fixed=True, moves={"x": x[0], "y": x[1]}),
        Spring("k", ("hook", "m"), stiffness=2.0, length=0.0),
        SegmentContact("end", ("m",), ("b", "a"), thickness=thickness),
        sparse=sparse,
    )
    for p, direction in ((0.0, 1), (1.0, -1)):
        start = 0.5 * x + height * y if p else system.start
        path = onesided.trace(system, start, p, direction=direction, p_bounds=(0.0, 1.0))
        kind = Kind.opens if direction > 0 else Kind.closes
        assert told(path) == [(kind, pytest.approx(0.5 + np.sqrt(thickness**2 - height**2), rel=1e-9))]
        end = path.q[-1 if direction > 0 else 0]
        assert end == pytest.approx(0.5 * x + height * y, abs=1e-9)


@pytest.mark.parametrize("unit", [0.025, 1.0, 740.0])
@pytest.mark.parametrize("cables", [3, 4, 5, 8])
def test_cables_of_a_symmetric_net_go_slack(cables, unit):
    """A mass in the middle of stretched cables, drawn towards one of them: those behind it go slack, no event is made.

    In the middle their forces cancel but for rounding, which says nothing about lengths. Far out the one cable ahead
    of the mass is slack, and those behind carry p.
    """
    turn = 2 * np.pi * np.arange(cables) / cables
    ends, length, k = np.column_stack([np.cos(turn), np.sin(turn)]), 0.72, 6.0

    def stretch(x, lib):
        return lib.maximum(lib.sqrt(((x - ends) ** 2).sum(axis=1)) - length, 0.0)

    system = System(("x", "y"), lambda q, p, th: k * (stretch(q / unit, jnp) ** 2).sum() / 2 - p * q[0] / unit)
    path = onesided.trace(system, [0.0, 0.0], 0.0, p_bounds=(0.0, 9.0))
    assert told(path) == []
    for q, p in zip(path.q / unit, path.p, strict=True):
        away = q - ends
        pull = k * stretch(q, np) @ (away / np.linalg.norm(away, axis=1)[:, None])
        assert pull == pytest.approx([p, 0.0], abs=1e-8)
    assert np.all(path.instability == 0)
