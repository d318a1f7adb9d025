"""A rigid block between stops on a floor, without any stiffness: it tips where the push takes the load off one corner.

A block b wide and h high of weight W tips at p = W b/h, whatever the units of length and the frame. Turned by θ about
its corner it is in balance at p = W (b cos θ − h sin θ)/(h cos θ + b sin θ): less and less, so it falls on its side.
"""

import numpy as np
import pytest

import onesided
from onesided import Kind
from onesided.elements import Body, Force, Marker, PlaneContact


def block(b, h, W, unit, turn):
    frame = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    up, right = tuple(frame @ [0.0, 1.0]), tuple(frame @ [1.0, 0.0])
    left = tuple(-frame[:, 0])
    corners = [(-b / 2, -h / 2), (b / 2, -h / 2), (b / 2, h / 2), (-b / 2, h / 2)]
    markers = [Marker(f"c{i}", on="box", at=(x * unit, y * unit)) for i, (x, y) in enumerate(corners)]
    return onesided.compose(
        Body("box", at=tuple(frame @ [0.0, h / 2 * unit]), angle=turn),
        *markers,
        *(PlaneContact(f"floor{i}", f"c{i}", normal=up) for i in range(4)),
        PlaneContact("toe", "c1", normal=left, through=tuple(frame @ [b / 2 * unit, 0.0])),
        PlaneContact("heel", "c0", normal=right, through=tuple(frame @ [-b / 2 * unit, 0.0])),
        Force("weight", "box", tuple(-W * frame[:, 1]), constant=True),
        Force("push", "box", right),
    )


@pytest.mark.parametrize("turn", [0.0, 0.7, 4.0])
@pytest.mark.parametrize("unit", [1e-3, 1.0, 10.0, 1e3])
@pytest.mark.parametrize(("b", "h", "W", "angle"), [(1.0, 2.0, 3.0, np.pi / 2), (2.0, 0.5, 1.0, np.pi)])
def test_a_block_tips_and_falls_on_its_side(b, h, W, angle, unit, turn):
    system, tip = block(b, h, W, unit, turn), W * b / h
    path = onesided.trace(system, system.start, 0.0, p_bounds=(-1.5 * tip, 1.5 * tip))
    corner = path.events[0]
    assert corner.kind is Kind.corner_limit and corner.p == pytest.approx(tip, rel=1e-10)
    assert (corner.instability_before, corner.instability_after) == (0, 1)
    leans = (path.instability == 1) & (path.p > 0)
    t = system.start[2] - path.q[leans, 2]
    balance = W * (b * np.cos(t) - h * np.sin(t)) / (h * np.cos(t) + b * np.sin(t))
    np.testing.assert_allclose(path.p[leans], balance, atol=1e-9 * tip)
    (jump,) = onesided.drive(system, system.start, [0.0, 1.2 * tip, 0.0]).jumps
    assert jump.p == pytest.approx(tip, rel=1e-9) and system.start[2] - jump.q_to[2] == pytest.approx(angle, abs=1e-7)
