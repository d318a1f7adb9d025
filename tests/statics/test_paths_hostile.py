"""Attempts to break the tracer: what a user should expect in each case. Known failures are marked, with the cause."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

import onesided
from onesided import Kind, Scales, Status, System
from onesided.elements import Bar, Force, Node

L0, Y_L, P_L = math.sqrt(1.25), 0.277880091075165, 0.0429143257312247


def truss(q, p, th):
    return (jnp.sqrt(1 + q[0] ** 2) - L0) ** 2 + p * q[0]


def column(q, p, th):
    return q[0] ** 2 / 2 - p * (1 - jnp.cos(q[0]))


def pulled(q, p, th):
    return (q[0] - p) ** 2 / 2


def go(system, q0, p0, bounds, **options):
    return onesided.trace(system, q0, p0, p_bounds=bounds, **{"throw": False, "max_points": 2000, **options})


def kinds(path):
    return [event.kind for event in path.events if event.kind is not Kind.bound]


def places(path):
    return [event.p for event in path.events if event.kind is not Kind.bound]


FLOOR = System(("y",), truss, unilateral={"floor": lambda q, p, th: q[0] - th.ys}, parameters={"ys": 0.2})
COLUMN = System(("t",), column)


class TestMovingConstraints:
    def test_bilateral(self):
        system = System(
            ("x", "y"),
            lambda q, p, th: (q[0] ** 2 + 2 * q[1] ** 2) / 2,
            bilateral={"b": lambda q, p, th: q[0] + q[1] - p},
        )
        path = go(system, [0.0, 0.0], 0.0, (-1.0, 3.0))
        np.testing.assert_allclose(path.q, path.p[:, None] * [2 / 3, 1 / 3], atol=1e-12)
        np.testing.assert_allclose(path.mu[:, 0], 2 / 3 * path.p, atol=1e-12)

    def test_bilateral_and_unilateral_together(self):
        """x = p prescribed, y = −0.2p until the stop y ≥ p − 1 arrives at p = 1/1.2; then λ = y + 0.2x."""
        system = System(
            ("x", "y"),
            lambda q, p, th: (q[0] ** 2 + q[1] ** 2) / 2 + 0.2 * q[0] * q[1],
            bilateral={"b": lambda q, p, th: q[0] - p},
            unilateral={"w": lambda q, p, th: q[1] - p + 1, "idle": lambda q, p, th: q[1] + 1},
        )
        path = go(system, [0.0, 0.0], 0.0, (-2.0, 3.0))
        assert kinds(path) == [Kind.closes] and places(path) == pytest.approx([1 / 1.2], abs=1e-12)
        after = path.p > 1 / 1.2
        np.testing.assert_allclose(path.q[after, 1], path.p[after] - 1, atol=1e-12)
        np.testing.assert_allclose(path.lam[after, 0], 1.2 * path.p[after] - 1, atol=1e-12)
        np.testing.assert_allclose(path.q[~after, 1], -0.2 * path.p[~after], atol=1e-12)

    def test_punch_drives_a_truss_through(self):
        """Displacement control from one side: contact at p = 0.3, lost at y = 0 (p = 0.8), a corner limit point."""
        system = System(
            ("y",),
            lambda q, p, th: (jnp.sqrt(1 + q[0] ** 2) - L0) ** 2,
            unilateral={"punch": lambda q, p, th: 0.8 - p - q[0]},
        )
        path = go(system, [0.5], 0.0, (0.0, 3.0))
        assert kinds(path) == [Kind.closes, Kind.corner_limit]
        assert places(path) == pytest.approx([0.3, 0.8], abs=1e-12)
        assert [e.instability_after for e in path.events] == [0, 1, 1]

    def jam(self):
        system = System(
            ("x", "y"),
            lambda q, p, th: (q[0] ** 2 + 2 * q[1] ** 2) / 2,
            bilateral={"equal": lambda q, p, th: q[0] - q[1]},
            unilateral={"pusher": lambda q, p, th: q[0] - p + 0.5, "ceiling": lambda q, p, th: 1 - q[1]},
        )
        return go(system, [0.0, 0.0], 0.0, (-1.0, 3.0))

    def test_jam(self):
        """Pushed against a ceiling: p cannot grow beyond 1.5, reactions can."""
        path = self.jam()
        assert places(path)[:2] == pytest.approx([0.5, 1.5], abs=1e-12)
        assert path.p.max() <= 1.5 + 1e-9

    def test_jam_has_no_negative_degree(self):
        assert np.min(self.jam().instability) >= 0


class TestSeveralAtOnce:
    FOUR = System(
        tuple("abcd"),
        lambda q, p, th: q @ q / 2 - p * q.sum(),
        unilateral={f"w{i}": (lambda q, p, th, i=i: 1 - q[i]) for i in range(4)},
    )

    def test_close(self):
        path = go(self.FOUR, [0.0] * 4, 0.0, (-1.0, 3.0))
        assert kinds(path) == [Kind.closes] and len(path.events[0].constraints) == 4
        np.testing.assert_allclose(path.q[-1], 1, atol=1e-12)
        np.testing.assert_allclose(path.lam[-1], 2, atol=1e-12)

    def test_open(self):
        path = go(self.FOUR, [1.0] * 4, 2.0, (-1.0, 3.0), direction=-1)
        assert kinds(path) == [Kind.opens] and places(path) == pytest.approx([1.0], abs=1e-12)

    @pytest.mark.parametrize("apart", [1e-4, 1e-6, 1e-8])
    def test_nearly_at_once(self, apart):
        system = System(
            ("x", "y"),
            lambda q, p, th: q @ q / 2 - p * q.sum(),
            unilateral={"one": lambda q, p, th: 1 - q[0], "two": lambda q, p, th: 1 + apart - q[1]},
        )
        path = go(system, [0.0, 0.0], 0.0, (-1.0, 3.0))
        assert [e.constraints for e in path.events[:2]] == [("one",), ("two",)]
        np.testing.assert_allclose(places(path), [1.0, 1.0 + apart], rtol=1e-14)
        np.testing.assert_allclose(path.lam[-1], [2, 2 - apart], atol=1e-12)

    TWICE = System(("x",), pulled, unilateral={"w1": lambda q, p, th: 1 - q[0], "w2": lambda q, p, th: 2 - 2 * q[0]})

    def test_the_same_stop_stated_twice(self):
        path = go(self.TWICE, [0.0], 0.0, (-1.0, 3.0))
        assert places(path) == pytest.approx([1.0], abs=1e-12)
        np.testing.assert_allclose(path.q[:, 0], np.minimum(path.p, 1), atol=1e-12)
        np.testing.assert_allclose(path.lam @ [1, 2], np.maximum(path.p - 1, 0), atol=1e-12)

    def test_the_same_stop_stated_twice_is_no_bifurcation(self):
        assert Kind.nonsmooth_bifurcation not in kinds(go(self.TWICE, [0.0], 0.0, (-1.0, 3.0)))


class TestStarts:
    def test_infeasible_or_no_equilibrium(self):
        for y in (0.1, -3.0, 0.9):
            path = go(FLOOR, [y], 0.0, (-0.1, 0.1))
            assert "not an equilibrium" in path.note and path.q[0, 0] == pytest.approx(0.5, abs=1e-9)
            assert kinds(path) == [Kind.limit, Kind.corner_limit]

    def test_outside_the_bounds(self):
        with pytest.raises(onesided.OnesidedError, match="outside the bounds"):
            go(FLOOR, [0.5], 0.5, (-0.1, 0.1))

    def test_not_finite(self):
        for q, p in (([0.5], math.nan), ([math.nan], 0.0)):
            with pytest.raises(onesided.OnesidedError):
                go(FLOOR, q, p, (-0.1, 0.1))

    def test_on_a_bound(self):
        assert len(go(FLOOR, [0.2], 0.1, (-0.1, 0.1))) <= 2
        assert kinds(go(FLOOR, [0.2], 0.1, (-0.1, 0.1), direction=-1)) == [Kind.corner_limit, Kind.limit]

    def test_at_a_corner(self):
        corner = 0.038529009653515
        path = go(FLOOR, [0.2], corner, (-0.1, 0.1))
        assert "2 rays" in path.note and path.ok
        with pytest.raises(onesided.OnesidedError, match="no path leaves"):
            go(FLOOR, [0.2], corner, (-0.1, 0.1), direction=-1)

    def test_at_a_limit_point(self):
        path = go(FLOOR, [Y_L], P_L, (-0.1, 0.1), direction=-1)
        assert path.ok and "2 rays" in path.note

    def test_at_a_bifurcation(self):
        up, down = (go(COLUMN, [0.0], 1.0, (0.0, 2.0), direction=d) for d in (1, -1))
        assert "3 rays" in up.note and up.ok
        np.testing.assert_allclose(down.q, 0, atol=1e-12)
        assert down.ok and np.all(down.instability == 0)

    @pytest.mark.parametrize("before", [1e-3, 1e-6])
    def test_just_before_a_bifurcation(self, before):
        path = go(COLUMN, [0.0], 1.0 - before, (0.0, 2.0))
        assert path.instability[0] == 0
        assert kinds(path) == [Kind.smooth_bifurcation]

    def test_just_before_a_limit_point(self):
        path = go(FLOOR, [Y_L + 1e-4], 2 * (Y_L + 1e-4) * (L0 / math.hypot(1, Y_L + 1e-4) - 1), (-0.1, 0.1))
        assert kinds(path) == [Kind.limit, Kind.corner_limit]
        assert path.events[0].p == pytest.approx(P_L, abs=1e-13) and path.events[0].instability_before == 0

    def test_tiny_imperfection(self):
        system = System(("t",), lambda q, p, th: column(q, p, th) - 1e-9 * q[0])
        path = go(system, [0.0], 0.0, (0.0, 2.0))
        assert kinds(path) == [] and path.q[-1, 0] == pytest.approx(1.8954942670339809, abs=1e-8)

    @pytest.mark.parametrize("size", [1e-3, 1e-6])
    def test_small_imperfection(self, size):
        system = System(("t",), lambda q, p, th: column(q, p, th) - size * q[0])
        path = go(system, [0.0], 0.0, (0.0, 2.0))
        assert kinds(path) == [] and np.all(path.instability == 0)
        theta = path.q[1:, 0]
        steep = 1.0 + size / theta**2  # dp/dθ: where the path is steep, round-off of θ is much of p
        off = np.abs(path.p[1:] - (theta - size) / np.sin(theta))
        assert np.all(off <= 1e-8 + 1e-11 * steep)


class TestCloseTogether:
    @pytest.mark.parametrize("apart", [1e-4, 1e-3])
    def test_two_bifurcations(self, apart):
        system = System(
            ("a", "b"), lambda q, p, th: (q[0] ** 2 + (1 + apart) * q[1] ** 2) / 2 - p * (2 - jnp.cos(q).sum())
        )
        path = go(system, [0.0, 0.0], 0.0, (0.0, 2.0))
        assert kinds(path) == [Kind.smooth_bifurcation] * 2
        assert places(path) == pytest.approx([1.0, 1.0 + apart], abs=1e-10)
        assert [e.instability_after for e in path.events[:2]] == [1, 2]

    @staticmethod
    def beside_a_wall(at):
        return System(
            ("t", "x"),
            lambda q, p, th: column(q, p, th) + (q[1] - p) ** 2 / 2,
            unilateral={"w": lambda q, p, th: at - q[1]},
        )

    def test_contact_then_bifurcation(self):
        path = go(self.beside_a_wall(0.999), [0.0, 0.0], 0.0, (0.0, 2.0))
        assert kinds(path) == [Kind.closes, Kind.smooth_bifurcation]

    def test_bifurcation_then_contact(self):
        path = go(self.beside_a_wall(1.001), [0.0, 0.0], 0.0, (0.0, 2.0))
        assert kinds(path) == [Kind.smooth_bifurcation, Kind.closes]
        assert places(path) == pytest.approx([1.0, 1.001], abs=1e-12)

    def test_contact_and_bifurcation_at_once(self):
        path = go(self.beside_a_wall(1.0), [0.0, 0.0], 0.0, (0.0, 2.0))
        assert kinds(path) == [Kind.nonsmooth_bifurcation] and len(path.events[0].forward) == 3
        assert (path.events[0].instability_before, path.events[0].instability_after) == (0, 1)

    @pytest.mark.parametrize("offset", [1e-2, 1e-4, 1e-6])
    def test_floor_just_before_the_limit_point(self, offset):
        path = go(FLOOR.replace(parameters={"ys": Y_L + offset}), [0.5], 0.0, (-0.1, 0.1))
        assert kinds(path) == [Kind.closes] and path.events[0].instability_after == 0

    def test_floor_at_the_limit_point(self):
        path = go(FLOOR.replace(parameters={"ys": Y_L}), [0.5], 0.0, (-0.1, 0.1))
        assert kinds(path) == [Kind.closes] and np.all(path.instability == 0)

    @pytest.mark.parametrize(
        "offset",
        [
            1e-2,
            1e-4,
            1e-6,
        ],
    )
    def test_floor_just_behind_the_limit_point(self, offset):
        path = go(FLOOR.replace(parameters={"ys": Y_L - offset}), [0.5], 0.0, (-0.1, 0.1))
        assert kinds(path) == [Kind.limit, Kind.corner_limit]
        assert [e.instability_after for e in path.events[:2]] == [1, 0]

    @pytest.mark.parametrize("depth", [1e-4, 1e-1])
    def test_graze(self, depth):
        """y = (p − 1)² over a floor at `depth`: closes at 1 − √depth, opens at 1 + √depth."""
        system = System(
            ("x", "y"),
            lambda q, p, th: (q[0] - p) ** 2 / 2 + (q[1] - (p - 1) ** 2) ** 2 / 2,
            unilateral={"floor": lambda q, p, th: q[1] - depth},
        )
        path = go(system, [0.0, 1.0], 0.0, (-1.0, 2.0))
        assert kinds(path) == [Kind.closes, Kind.opens]
        assert places(path) == pytest.approx([1 - math.sqrt(depth), 1 + math.sqrt(depth)], abs=1e-10)

    @pytest.mark.parametrize("clear", [0.0, 1e-8, 1e-4])
    def test_touch_without_force(self, clear):
        system = System(
            ("x", "y"),
            lambda q, p, th: (q[0] - p) ** 2 / 2 + (q[1] - (p - 1) ** 2) ** 2 / 2,
            unilateral={"floor": lambda q, p, th: q[1] + clear},
        )
        path = go(system, [0.0, 1.0], 0.0, (-1.0, 2.0))
        assert path.ok and path.p[-1] == 2.0
        np.testing.assert_allclose(path.q[:, 1], (path.p - 1) ** 2, atol=1e-9)
        np.testing.assert_allclose(path.lam, 0, atol=1e-9)

    @pytest.mark.parametrize("eps", [1e-2, 1e-4])
    def test_near_cusp(self, eps):
        """p = x³ − εx: limit points at x = ∓√(ε/3), p = ±⅔ε√(ε/3)."""
        system = System(("x",), lambda q, p, th: q[0] ** 4 / 4 - eps * q[0] ** 2 / 2 - p * q[0])
        path = go(system, [-1.0], -1.0 + eps, (-2.0, 2.0))
        exact = 2 / 3 * eps * math.sqrt(eps / 3)
        assert kinds(path) == [Kind.limit] * 2 and places(path) == pytest.approx([exact, -exact], abs=1e-12)

    def test_cusp(self):
        system = System(("x",), lambda q, p, th: q[0] ** 4 / 4 - p * q[0])
        path = go(system, [-1.0], -1.0, (-2.0, 2.0))
        assert path.ok and Kind.limit not in kinds(path)
        np.testing.assert_allclose(path.q[:, 0] ** 3, path.p, atol=1e-10)

    def test_one_eigenvalue_down_and_up_again(self):
        system = System(("a",), lambda q, p, th: (p - 1) * (p - 1.05) * q[0] ** 2 / 2 + q[0] ** 4 / 4)
        assert places(go(system, [0.0], 0.0, (0.0, 2.0))) == pytest.approx([1.0, 1.05], abs=1e-10)

    def test_two_eigenvalues_in_opposite_senses(self):
        system = System(
            ("a", "b"),
            lambda q, p, th: (1 - p) * q[0] ** 2 / 2 + (p - 1.05) * q[1] ** 2 / 2 + (q[0] ** 4 + q[1] ** 4) / 4,
        )
        assert places(go(system, [0.0, 0.0], 0.0, (0.0, 2.0))) == pytest.approx([1.0, 1.05], abs=1e-10)

    def test_bound_just_below_a_limit_point(self):
        path = go(FLOOR, [0.5], 0.0, (-0.1, P_L - 1e-9))
        assert kinds(path) == [] and path.p.max() <= P_L - 1e-9

    def test_bound_at_a_contact(self):
        system = System(("x",), pulled, unilateral={"w": lambda q, p, th: 1 - q[0]})
        path = go(system, [0.0], 0.0, (-1.0, 1.0))
        assert path.p[-1] == 1.0 and path.status is Status.bound_reached


class TestDegenerate:
    DOUBLE = System(("a", "b"), lambda q, p, th: q @ q / 2 - p * (2 - jnp.cos(q).sum()))

    def test_double_bifurcation(self):
        """Two columns at once: besides the trivial path each leans either way or not at all: 8 + 2 rays."""
        path = go(self.DOUBLE, [0.0, 0.0], 0.0, (0.0, 2.0))
        event = path.events[0]
        assert event.kind is Kind.smooth_bifurcation and event.p == pytest.approx(1, abs=1e-9)
        assert (event.instability_before, event.instability_after) == (0, 2)
        assert event.rays.multiplicity == 3 and (len(event.rays) == 10 or not event.rays.complete)

    def test_isola(self):
        system = System(("x",), lambda q, p, th: q[0] ** 3 / 3 + q[0] * (p**2 - 1))
        path = go(system, [1.0], 0.0, (-5.0, 5.0), max_points=500)
        assert path.status is Status.closed and kinds(path) == [Kind.limit] * 2

    def test_isola_points(self):
        system = System(("x",), lambda q, p, th: q[0] ** 3 / 3 + q[0] * (p**2 - 1))
        path = go(system, [1.0], 0.0, (-5.0, 5.0), max_points=200)
        np.testing.assert_allclose(path.q[:, 0] ** 2 + path.p**2, 1, atol=1e-10)
        assert places(path)[:2] == pytest.approx([1.0, -1.0], abs=1e-12)

    def test_isola_cut_by_a_stop(self):
        system = System(
            ("x",), lambda q, p, th: q[0] ** 3 / 3 + q[0] * (p**2 - 1), unilateral={"w": lambda q, p, th: q[0] + 0.5}
        )
        path = go(system, [1.0], 0.0, (-5.0, 5.0))
        assert kinds(path) == [Kind.limit, Kind.corner_limit]
        assert places(path) == pytest.approx([1.0, math.sqrt(0.75)], abs=1e-10)

    def test_weakly_active_all_along(self):
        system = System(
            ("x", "y"),
            lambda q, p, th: (q[0] - p) ** 2 / 2 + q[1] ** 2 / 2,
            unilateral={"idle": lambda q, p, th: q[1], "w": lambda q, p, th: 1 - q[0]},
        )
        path = go(system, [0.0, 0.0], 0.0, (-1.0, 2.0))
        assert places(path) == pytest.approx([1.0], abs=1e-12) and path.p[-1] == 2.0
        np.testing.assert_allclose(path.q, np.column_stack([np.minimum(path.p, 1), 0 * path.p]), atol=1e-12)

    IDLE = System(
        ("x", "y"),
        lambda q, p, th: (
            (q[0] - p) ** 2 / 2
            + q[1] ** 2 / 2
            + th.sign * q[1] * jnp.where(q[0] > 1, jnp.abs(q[0] - 1) ** th.power, 0.0)
        ),
        unilateral={"g": lambda q, p, th: q[1]},
        parameters={"power": 3.0, "sign": 1.0},
    )

    @pytest.mark.parametrize("power", [1.5, 2, 3, 4, 5])
    @pytest.mark.parametrize("sign", [1, -1])
    @pytest.mark.parametrize("after", [0, math.inf])
    def test_weakly_active_along_a_stretch(self, power, sign, after):
        """y ≥ 0 carries nothing for x < 1 and then (x − 1)ᵏ, or is left behind: y = (x − 1)ᵏ; and all of it back."""
        system = self.IDLE.replace(parameters={"power": power, "sign": sign})
        ends = {"bounds": (-0.5, 2.0 if sign > 0 else 1.1), "method": onesided.PredictorCorrector(compile_after=after)}
        there = go(system, [0.0, 0.0], 0.0, **ends)
        for path in (there, go(system, there.q[-1], there.p[-1], direction=-1, **ends)):
            assert path.status is Status.bound_reached and Kind.smooth_bifurcation not in kinds(path)
            grown = np.maximum(path.q[:, 0] - 1.0, 0.0) ** power
            np.testing.assert_allclose(path.lam[:, 0], grown if sign > 0 else 0.0, atol=1e-9)
            np.testing.assert_allclose(path.q[:, 1], 0.0 if sign > 0 else grown, atol=1e-9)

    def test_stop_that_is_idle_at_a_pitchfork(self):
        system = System(("t",), column, unilateral={"w": lambda q, p, th: q[0]})
        path = go(system, [0.0], 0.0, (0.0, 2.0))
        assert places(path) == pytest.approx([1.0], abs=1e-12) and len(path.events[0].forward) == 2

    SLIDE = System(
        ("x",), lambda q, p, th: p * q[0], unilateral={"l": lambda q, p, th: q[0] + 1, "r": lambda q, p, th: 1 - q[0]}
    )

    def test_vertical_path_between_stops(self):
        """Pressed to one stop, neutral at p = 0, pressed to the other."""
        for start, direction in ((-1.0, -1), (1.0, 1)):
            path = go(self.SLIDE, [start], direction * -1.0, (-1.0, 1.0), direction=direction)
            assert kinds(path) == [Kind.opens, Kind.closes] and places(path) == pytest.approx([0, 0], abs=1e-12)
            assert path.q[-1, 0] == pytest.approx(-start, abs=1e-14) and path.lam[-1].max() == pytest.approx(1.0)

    def test_start_on_a_vertical_path(self):
        with pytest.raises(onesided.OnesidedError) as caught:
            go(self.SLIDE, [0.0], 0.0, (-1.0, 1.0))
        assert "direction=-1" not in str(caught.value)


class TestNumbers:
    def test_not_finite_ahead(self):
        """A gap √(1 − x) ≥ 0 has an infinite slope where it closes: say so, and keep the points."""
        system = System(("x",), pulled, unilateral={"g": lambda q, p, th: jnp.sqrt(1 - q[0])})
        path = go(system, [0.0], 0.0, (-1.0, 3.0))
        assert path.status is Status.not_finite and np.all(np.isfinite(path.q)) and path.p[-1] <= 1
        np.testing.assert_allclose(path.q[:, 0], path.p, atol=1e-9)
        with pytest.raises(onesided.SolveError) as caught:
            onesided.trace(system, [0.0], 0.0, p_bounds=(-1.0, 3.0))
        assert len(caught.value.partial) == len(path)

    def test_energy_not_finite(self):
        system = System(("x",), lambda q, p, th: pulled(q, p, th) + jnp.log(2 - p))
        path = go(system, [0.0], 0.0, (-1.0, 3.0))
        assert np.all(np.isfinite(path.energy)) and path.status is Status.not_finite

    def test_coordinate_that_becomes_small(self):
        system = System(("x",), lambda q, p, th: q[0] * jnp.log(q[0]) - q[0] - p * q[0])
        path = go(system, [1.0], 0.0, (-15.0, 1.0), direction=-1)
        np.testing.assert_allclose(path.q[:, 0], np.exp(path.p), rtol=1e-6)
        assert path.status is Status.bound_reached

    def test_asymptote(self):
        """p = tanh x never reaches 1: not an ok end, points good."""
        system = System(("x",), lambda q, p, th: jnp.log(jnp.cosh(q[0])) - p * q[0])
        path = go(system, [0.0], 0.0, (-1.0, 3.0))
        assert not path.ok and path.p.max() <= 1.0 + 1e-11
        np.testing.assert_allclose(np.tanh(path.q[:, 0]), path.p, atol=1e-10)

    def test_dead_centre(self):
        """A crank driven at its pin: μ = 1/y grows without bound as p → 1."""
        system = System(
            ("x", "y"),
            lambda q, p, th: q[1],
            bilateral={"circle": lambda q, p, th: (q @ q - 1) / 2, "drive": lambda q, p, th: q[0] - p},
        )
        path = go(system, [0.0, -1.0], 0.0, (-3.0, 5.0))
        assert not path.ok and path.p.max() <= 1.0 + 1e-11
        np.testing.assert_allclose(path.mu[:, 0] * path.q[:, 1], 1, rtol=1e-6)

    @pytest.mark.parametrize("k", [1e-6, 1.0, 1e6])
    def test_stiff_and_soft_springs_together(self, k):
        system = System(
            ("y", "z"),
            lambda q, p, th: truss(q, p, th) + k * (q[1] - q[0] ** 2) ** 2 / 2,
            unilateral={"f": lambda q, p, th: q[1] - 0.04},
        )
        path = go(system, [0.5, 0.25], 0.0, (-0.1, 0.1))
        assert kinds(path)[0] is Kind.limit and path.events[1].constraints == ("f",)
        assert places(path)[:2] == pytest.approx([P_L, 0.038529009653515], abs=1e-10)
        assert path.status is Status.bound_reached and path.residual < 1e-9

    @pytest.mark.parametrize("unit", [1e-6, 1e6])
    def test_coordinates_in_different_units(self, unit):
        system = System(
            ("y", "a"),
            lambda q, p, th: truss(q / unit, p, th) + (q[1] - q[0] / unit) ** 2 / 2,
            unilateral={"f": lambda q, p, th: q[1] - 0.2},
            scales=Scales(length=(unit, 1.0)),  # estimated lengths lie within a factor of 30 of each other
        )
        path = go(system, [0.5 * unit, 0.5], 0.0, (-0.1, 0.1))
        assert kinds(path) == [Kind.limit, Kind.corner_limit]
        assert places(path) == pytest.approx([P_L, 0.038529009653515], abs=1e-9)

    @pytest.mark.parametrize("unit", [1e-6, 1e6, 1e12])
    def test_control_in_other_units(self, unit):
        system = System(
            ("y",), lambda q, p, th: truss(q, unit * p, th), unilateral={"f": lambda q, p, th: (q[0] - 0.2) * 1e-6}
        )
        path = go(system, [0.5], 0.0, (-0.1 / unit, 0.1 / unit))
        assert kinds(path) == [Kind.limit, Kind.corner_limit]
        np.testing.assert_allclose(np.array(places(path)) * unit, [P_L, 0.038529009653515], rtol=1e-11)

    def test_kink_in_the_energy_is_not_passed_silently(self):
        system = System(("x",), lambda q, p, th: q[0] ** 2 / 2 + 0.3 * jnp.abs(q[0]) - p * q[0])
        path = go(system, [0.7], 1.0, (-1.0, 1.0), direction=-1)
        assert not path.ok and path.p[-1] == pytest.approx(0.3, abs=1e-6)


class TestLimitsOfTheRun:
    def test_events_and_points(self):
        path = go(FLOOR, [0.5], 0.0, (-0.1, 0.1), max_events=1)
        assert kinds(path) == [Kind.limit] and path.status is Status.enough
        assert len(go(FLOOR, [0.5], 0.0, (-0.1, 0.1), max_points=3)) <= 4

    def test_user_events(self):
        marks = {"half": lambda q, p: q[0] - 0.25, "load": lambda q, p: p - 0.03}
        path = go(FLOOR, [0.5], 0.0, (-0.1, 0.1), events=marks)
        user = [(e.detail, e.p) for e in path.events if e.kind is Kind.user]
        assert [name for name, _ in user] == ["load", "half"]
        assert user[0][1] == pytest.approx(0.03, abs=1e-12)

    def test_direction(self):
        with pytest.raises(onesided.OnesidedError, match="direction"):
            go(FLOOR, [0.5], 0.0, (-0.1, 0.1), direction=0)

    def test_iterator_gives_the_same_points(self):
        path = go(FLOOR, [0.5], 0.0, (-0.1, 0.1))
        items = [item for item in onesided.iter_trace(FLOOR, [0.5], 0.0, p_bounds=(-0.1, 0.1)) if item.status is None]
        np.testing.assert_allclose([item.p for item in items], path.p, atol=1e-14)

    def test_bad_ray(self):
        path = go(FLOOR, [0.5], 0.0, (-0.1, 0.1))
        with pytest.raises(onesided.OnesidedError, match="no such ray"):
            onesided.branch(path.events[0], 7)


TURN = System(
    ("x",), lambda q, p, th: q[0] ** 2 / 2 - q[0] ** 4 / 12 - (p - th.offset) * q[0], parameters={"offset": 0.0}
)


@pytest.mark.parametrize("compile_after", [0, 10**9])
@pytest.mark.parametrize("offset", [0.0, 1.0, 100.0])
@pytest.mark.parametrize("beside", [1e-2, 1e-4, 1e-6, 1e-7])
def test_a_limit_point_just_ahead_of_the_start_is_no_corner(beside, offset, compile_after):
    """p − offset = x − x³/3 turns at x = 1; the size of p at the start is the smaller the nearer that is."""
    x = 1.0 - beside
    method = onesided.PredictorCorrector(compile_after=compile_after)
    system = TURN.replace(parameters={"offset": offset})
    path = onesided.trace(system, [x], offset + x - x**3 / 3, method=method, p_bounds=(offset, offset + 1))
    assert path.events[0].kind is onesided.Kind.limit
    assert path.events[0].p == pytest.approx(offset + 2 / 3, abs=1e-12)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_path_that_ends_where_a_bar_has_no_length_names_the_bar(dimension, unit):
    """A bar pressed to a point takes stiffness × length; beyond, its force has no direction."""
    rest = (0.0,) * (dimension - 1)
    spring = onesided.compose(
        Node("a", (0.0, *rest), fixed=True),
        Node("b", (2.0 * unit, *rest), fixed="yz"[: dimension - 1]),
        Node("c", (4.0 * unit, *rest), fixed=True),
        Bar("rod", ("a", "b"), stiffness=3.0),
        Bar("other", ("b", "c"), stiffness=1e-9),
        Force("load", "b", (1.0, *rest)),
    )
    path = onesided.trace(spring, direction=-1, p_bounds=(-50.0 * unit, 50.0 * unit), throw=False)
    assert path.status is Status.step_too_small
    assert path.p[-1] == pytest.approx(-6.0 * unit, rel=1e-8)
    assert "'rod' come together" in path.note
    assert "other" not in path.note


def test_a_path_that_does_not_get_on_says_so():
    """x = A q of condition 6·10⁵: rounding keeps the steps short; what is found is right, and short."""
    A = np.array([[156.194426575375, 136.716495862112], [68.799561984153, 60.220552221402]])
    forces = [-1.189237671413, -10.427256835527, 2.419447191566, 2.324531688758, -11.882629402694, 3.015235419084]
    V = np.polynomial.Polynomial([0, *forces, 7.583777831167])
    c, slope = 0.2355684222004823, 1.46443970503

    def energy(q, p, th):
        x, z = A[0] @ q, A[1] @ q
        bent = sum(a * x**k for k, a in enumerate(V.coef)) - p * x + c * p * x**2
        return 3.6734772145727708 * bent + 4.109176366354 / 2 * (z + slope * p) ** 2

    x = 1.0625922329473354
    p = float(V.deriv()(x) / (1 - 2 * c * x))
    start = np.linalg.solve(A, [x, -slope * p])
    path = onesided.trace(System(("a", "b"), energy), start, p, direction=-1, max_points=300, throw=False)
    xs, zs = A @ path.q.T
    np.testing.assert_allclose(zs, -slope * path.p, rtol=1e-6)
    np.testing.assert_allclose(V.deriv()(xs), path.p * (1 - 2 * c * xs), rtol=1e-5)
    assert abs(path.p[-1] - p) > 1e-3 * abs(p) or "steps stayed much shorter" in path.note
