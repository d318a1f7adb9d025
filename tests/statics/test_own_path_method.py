"""Path methods written by users, against closed forms."""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
import pytest

import onesided
from onesided import Kind, OnesidedError, Status, System
from onesided.path_methods import PathItem, PathMethod, PathStepper, Tracer, items_of

ARCH = System(("x",), lambda q, p, th: q[0] ** 4 / 4 - q[0] ** 2 / 2 - p * q[0])  # p = x³ − x
STOPPED = System(
    ARCH.coordinates, ARCH.energy, unilateral={"stop": lambda q, p, th: th["w"] - q[0]}, parameters={"w": 0.8}
)
FORK = System(("x", "y"), lambda q, p, th: q[0] ** 4 / 4 + (1 - p) * q[0] ** 2 / 2 + (q[1] - p) ** 2 / 2)
TURN = 2 / sqrt(27)


class Straight(PathStepper):
    """Euler's predictor, steps of one length."""

    def advance(self):
        a, h, self.step = self.point, self.step, self.first_step
        while h > 1e-10:
            b = self.corrected(a.y + h * a.t, target=1e-12, reach=h)
            if b is not None and a.t @ b.t > 0.9:
                return b
            h /= 2
        return None


@dataclass(frozen=True)
class Euler(PathMethod):
    length: float = 0.05

    def begin(self, origin, ray):
        return Tracer(origin, ray, Straight(self.length))


@pytest.mark.parametrize("length", [0.2, 0.05, 0.013])
@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e4])
def test_limit_points_in_any_unit_by_any_step(length, unit):
    scaled = System(("x",), lambda q, p, th: (q[0] / unit) ** 4 / 4 - (q[0] / unit) ** 2 / 2 - p * q[0] / unit)
    path = onesided.trace(scaled, [-1.2 * unit], -0.528, p_bounds=(-1, 1), method=Euler(length))
    assert path.kinds() == (Kind.limit, Kind.limit, Kind.bound) and path.ok
    assert [event.p for event in path.events[:2]] == pytest.approx([TURN, -TURN], abs=1e-12)
    assert [event.q[0] / unit for event in path.events[:2]] == pytest.approx([-1 / sqrt(3), 1 / sqrt(3)], abs=1e-6)
    np.testing.assert_allclose(path.p, (path.q[:, 0] / unit) ** 3 - path.q[:, 0] / unit, atol=1e-9)


@pytest.mark.parametrize("direction", [1, -1])
def test_contacts_close_and_open(direction):
    """The stop at x = 0.8 carries p − (w³ − w)."""
    start = (-1.2, -0.528) if direction > 0 else (0.8, 0.5)
    path = onesided.trace(STOPPED, [start[0]], start[1], direction=direction, p_bounds=(-0.6, 0.6), method=Euler())
    touch = next(event for event in path.events if event.constraints == ("stop",))
    assert touch.p == pytest.approx(0.8**3 - 0.8, abs=1e-10) and path.gaps.min() > -1e-9
    closed = path.gaps[:, 0] < 1e-9
    np.testing.assert_allclose(path.lam[closed, 0], path.p[closed] - (0.8**3 - 0.8), atol=1e-9)


def test_forks_and_their_branches():
    path = onesided.trace(FORK, [0.0, 0.0], 0.0, p_bounds=(-1, 2), method=Euler())
    assert path.kinds() == (Kind.smooth_bifurcation, Kind.bound)
    fork = path.events[0]
    assert fork.p == pytest.approx(1.0, abs=1e-9) and len(fork.rays) == 4
    side = next(k for k in fork.forward if abs(fork.rays[k].q_dot[0]) > 0.1)
    branch = onesided.branch(fork, side)
    assert branch.provenance["method"]["name"] == "Euler"  # the event's own method goes on
    np.testing.assert_allclose(branch.q[:, 0] ** 2, branch.p - 1, atol=1e-8)


def test_the_iterator_gives_the_same_points():
    path = onesided.trace(ARCH, [-1.2], -0.528, p_bounds=(-1, 1), method=Euler())
    items = list(onesided.iter_trace(ARCH, [-1.2], -0.528, p_bounds=(-1, 1), method=Euler()))
    np.testing.assert_allclose([item.p for item in items[:-1]], path.p, rtol=0, atol=1e-12)  # to round-off


@dataclass(frozen=True)
class Liar(PathMethod):
    """Points that are off their curve."""

    def begin(self, origin, ray):
        honest = Euler().begin(origin, ray)

        class Run:
            first = honest.first

            def pieces(self):
                for item in items_of(honest):
                    yield replace(item, point=replace(item.point, x=item.point.x + 1e-3))

        return Run()


def test_a_method_that_is_wrong_is_found_out():
    path = onesided.trace(ARCH, [-1.2], -0.528, p_bounds=(-1, 1), method=Liar(), throw=False)
    assert path.status is Status.inaccurate


@dataclass(frozen=True)
class Nothing(PathMethod):
    """A run that ends at once."""

    def begin(self, origin, ray):
        first = Euler().begin(origin, ray).first

        class Run:
            def pieces(self):
                yield PathItem(first.curve, first.point, 0, status=Status.step_too_small, note="by choice")

        Run.first = first
        return Run()


def test_a_run_may_end_at_once():
    path = onesided.trace(ARCH, [-1.2], -0.528, method=Nothing(), throw=False)
    assert len(path) == 1 and path.status is Status.step_too_small and path.note == "by choice"


def test_what_a_method_is_not_for_is_refused():
    kinked = System(("x",), lambda q, p, th: q[0] ** 2 / 2 - abs(p - 0.3) * q[0], kinks=(0.3,))
    with pytest.raises(OnesidedError, match="`Euler` is for smooth loadings"):
        onesided.trace(kinked, [0.3], 0.0, p_bounds=(0, 1), method=Euler())
    with pytest.raises(OnesidedError, match="`method` of `trace` is not usable"):
        onesided.trace(ARCH, [-1.2], -0.528, method=Straight(0.1))
