"""Bundled models made of parts, against closed forms and against second routes that do not use the library."""

import math
from functools import cache

import numpy as np
import pytest
from scipy.optimize import fsolve, minimize
from truth import Member, member, rod, turning_values, unbalanced

import onesided
from onesided import Kind, zoo

LOAD_FACTOR = (math.hypot(1, 0.5) ** (2 / 3) - 1) ** 1.5  # of a bar of width 1 and rise 0.5


load = cache(zoo.load)  # compiling takes longer than computing


@cache
def trace(name, **changes):
    system, task = load(name)
    options = {"p_bounds": task.p_bounds, "direction": task.direction, **changes}
    return system, onesided.trace(system, task.start, task.p, **options)


def loads_of(path, *kinds):
    return [event.p for event in path.events if event.kind in kinds]


def places(system, q, p, names):
    """Positions of nodes from coordinates by name; what is held is where the file put it."""
    values = dict(zip(system.coordinates, q, strict=True))
    start = system.structure.start_of(system.parameters)
    found = {}
    for name in names:
        at = start.position(name).copy()
        for k, axis in enumerate("xyz"[: len(at)]):
            at[k] = values.get(f"{name}_{axis}", at[k])
        found[name] = at
    return found


def test_von_mises_truss_is_the_formula_model():
    system, path = trace("von-mises-truss")
    formulas, _ = load("von-mises")
    for y, p in ((0.5, 0.0), (0.1, 0.03), (-0.7, -0.2)):
        one, two = (s.evaluate(np.array([y]), p, np.zeros(0)) for s in (system, formulas))
        for a, b in zip(one, two, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-14)
    np.testing.assert_allclose(loads_of(path, Kind.limit), [2 * LOAD_FACTOR, -2 * LOAD_FACTOR], atol=1e-10)


class TestTripod:
    def test_limit_loads_on_the_axis(self):
        system, path = trace("tripod-truss")
        np.testing.assert_allclose(loads_of(path, Kind.limit), [3 * LOAD_FACTOR, -3 * LOAD_FACTOR], atol=1e-10)
        assert np.max(np.abs(path.q[:, :2])) < 1e-9
        x, y, z = 0.1, -0.2, 0.3
        feet = [(math.cos(a), math.sin(a)) for a in (0, 2 * math.pi / 3, 4 * math.pi / 3)]
        l0 = math.hypot(1, 0.5)
        energy = sum((math.dist((x, y, z), (*foot, 0)) - l0) ** 2 / 2 for foot in feet) + 0.7 * z
        assert system.evaluate(np.array([x, y, z]), 0.7, np.zeros(0)).energy == pytest.approx(energy, abs=1e-14)

    @pytest.mark.parametrize(("h", "leaves"), [(0.5, False), (1.5, False), (1.6, True), (2.0, True)])
    def test_steep_ones_leave_the_axis_before_the_limit(self, h, leaves):
        """At the limit l0/l = c and l² = r² c, c = (l0/r)^(2/3): sideways stiffness 3k(1 − c) + 3k/2."""
        system = load("tripod-truss").system.replace(parameters={"h": h})
        c = math.hypot(1, h) ** (2 / 3)
        e = system.evaluate(np.array([0, 0, math.sqrt(c - 1)]), 0.0, np.zeros(0))
        assert e.L_qq[2, 2] == pytest.approx(0, abs=1e-12)
        np.testing.assert_allclose(np.diag(e.L_qq)[:2], 3 * (1 - c) + 1.5, atol=1e-12)
        assert (e.L_qq[0, 0] < 0) == leaves


class TestChain:
    def test_fits_in_twenty_lines(self):
        assert len(zoo.text("bistable-chain-parts").splitlines()) <= 20
        assert len(zoo.text("cable-net").splitlines()) <= 20

    def test_is_the_chain_of_formulas(self):
        system, _ = load("bistable-chain-parts")
        l0 = math.hypot(1, 0.5)
        q = np.linspace(0.5, 5, 10) + 0.1 * np.sin(np.arange(10))
        heights = np.diff(q, prepend=0.0)
        stiffness = 1 + 0.02 * np.arange(10)
        lengths = np.hypot(1, heights)
        e = system.evaluate(q, 0.3, np.zeros(0))
        assert e.energy == pytest.approx(np.sum(stiffness / 2 * (lengths - l0) ** 2) + 0.3 * q[-1], abs=1e-13)
        force = stiffness * (1 - l0 / lengths) * heights
        np.testing.assert_allclose(e.L_q, force - np.append(force[1:], -0.3), atol=1e-13)

    def test_turns_in_the_published_order(self):
        """S_n = S_(n−1), +P_n, reverse(S_(n−1)), −P_n, S_(n−1)."""
        _, path = trace("bistable-chain-parts", max_events=8)
        P1, P2 = LOAD_FACTOR, 1.02 * LOAD_FACTOR
        expected = [P1, -P1, P2, -P1, P1, -P2, P1, -P1]
        np.testing.assert_allclose([event.p for event in path.events], expected, atol=1e-10)


class TestGuyedMast:
    """Forces are recomputed by hand; a minimiser finds the same states."""

    H, R, EA, EAm, T1, T2 = 30.0, 40.0, 20000.0, 400000.0, 20.0, 15.0

    def by_hand(self):
        x = {"foot": np.zeros(3), "middle": np.array([0, 0, self.H]), "top": np.array([0, 0, 2 * self.H])}
        for i in range(3):
            x[f"anchor{i}"] = self.R * np.array([math.cos(2 * math.pi * i / 3), math.sin(2 * math.pi * i / 3), 0])
        down1 = 3 * self.T1 * self.H / math.hypot(self.R, self.H)
        down2 = 3 * self.T2 * 2 * self.H / math.hypot(self.R, 2 * self.H)
        members = [
            member(x, "foot", "middle", ea=self.EAm, tension=-down1 - down2),
            member(x, "middle", "top", ea=self.EAm, tension=-down2),
        ]
        for level, tension in (("middle", self.T1), ("top", self.T2)):
            members += [member(x, f"anchor{i}", level, ea=self.EA, tension=tension, cable=True) for i in range(3)]
        return x, members

    def test_every_point_is_in_balance_and_multipliers_are_tensions(self):
        system, path = trace("guyed-mast")
        start, members = self.by_hand()
        for q, p, lam in zip(path.q, path.p, path.lam, strict=True):
            x = places(system, q, p, start)
            loads = {"middle": np.array([p, 0, 0]), "top": np.array([p / 2, 0, 0])}
            rest = unbalanced(x, members, loads)
            np.testing.assert_allclose([rest["middle"], rest["top"]], 0, atol=1e-6)
            np.testing.assert_allclose(lam, [one.tension(x)[0] for one in members[2:]], atol=1e-6)

    def test_leeward_guys_go_slack_in_turn(self):
        _, path = trace("guyed-mast")
        assert [event.constraints for event in path.events[:-1]] == [("low_guy0",), ("high_guy0",)]
        assert "cable 'low_guy0' goes slack" in path.events[0].words()

    @pytest.mark.parametrize("p", [10.0, 24.5, 120.0])
    def test_a_minimiser_finds_the_same(self, p):
        system, task = load("guyed-mast")
        found = onesided.solve(system, start=task.start, p=p).value
        x, members = self.by_hand()

        def energy(free):
            here = {**x, "middle": free[:3], "top": free[3:]}
            return sum(one.energy(here) for one in members) - p * free[0] - p / 2 * free[3]

        def gradient(free):
            here = {**x, "middle": free[:3], "top": free[3:]}
            rest = unbalanced(here, members, {"middle": np.array([p, 0, 0]), "top": np.array([p / 2, 0, 0])})
            return -np.concatenate([rest["middle"], rest["top"]])

        best = minimize(energy, [0, 0, 30, 0, 0, 60], jac=gradient, method="BFGS", options={"gtol": 1e-7})
        np.testing.assert_allclose(found.q[:6], best.x, atol=1e-5)


class TestTensegrityPrism:
    @staticmethod
    def states_of_self_stress(twist):
        """Force densities of struts, slanting and top cables that balance a top node, by symmetry: 3 × 3 matrix."""
        angle = np.array([0, 2, 4]) * math.pi / 3
        bottom = np.stack([np.cos(angle), np.sin(angle), np.zeros(3)], axis=1)
        top = np.stack([np.cos(angle + twist), np.sin(angle + twist), np.full(3, 1.5)], axis=1)
        columns = [bottom[0] - top[0], bottom[1] - top[0], top[1] + top[2] - 2 * top[0]]
        return np.array(columns).T

    def test_only_the_known_twist_has_self_stress(self):
        """π/2 − π/3 beyond the third of a turn by which struts and slanting cables differ [form-finding of prisms]."""
        A = self.states_of_self_stress(5 * math.pi / 6)
        assert np.linalg.matrix_rank(A, tol=1e-12) == 2
        density = np.linalg.svd(A)[2][-1]
        density /= density[1]
        np.testing.assert_allclose(density, [-1, 1, 1 / math.sqrt(3)], atol=1e-12)
        for twist in (2.5, 2.7, math.pi / 6):
            assert np.linalg.matrix_rank(self.states_of_self_stress(twist), tol=1e-3) == 3
        assert 5 * math.pi / 6 - 2 * math.pi / 3 == pytest.approx(math.pi / 2 - math.pi / 3)

    @pytest.mark.parametrize(("direction", "slack"), [(1, "top"), (-1, "slanting")])
    def test_slackening_against_the_symmetric_problem(self, direction, slack):
        """By symmetry radius, twist and height are enough; the load at which a group of cables has no tension."""
        _, path = trace("tensegrity-prism", direction=direction)
        event = path.events[0]
        assert event.constraints == tuple(f"{slack}{i}" for i in range(3))
        strut0, slanting0 = (math.sqrt(2 * (1 - math.cos(a)) + 1.5**2) for a in (5 * math.pi / 6, math.pi / 6))
        side0 = math.sqrt(3)

        def equations(unknown):
            r, twist, z, p = unknown
            strut, slanting = (
                math.sqrt(1 + r * r - 2 * r * math.cos(twist - turn) + z * z) for turn in (0, 2 * math.pi / 3)
            )
            T_strut = 1000 * (strut - strut0) - strut0
            T_slanting = 100 * (slanting - slanting0) + slanting0
            T_top = 100 * (math.sqrt(3) * r - side0) + side0 / math.sqrt(3)
            terms = [(T_strut / strut, 0.0), (T_slanting / slanting, 2 * math.pi / 3)]
            radial = sum(d * (r - math.cos(twist - turn)) for d, turn in terms) + T_top * math.sqrt(3)
            turning = sum(d * r * math.sin(twist - turn) for d, turn in terms)
            lifting = sum(d * z for d, _ in terms) - p
            return [radial, turning, lifting, T_top if slack == "top" else T_slanting]

        q = event.q
        guess = [math.hypot(q[0], q[1]), math.atan2(q[1], q[0]), q[2], event.p]
        exact = fsolve(equations, guess, xtol=1e-13)
        assert event.p == pytest.approx(exact[3], abs=1e-7)


class TestCableNet:
    def test_balance_by_hand_and_symmetric_slackening(self):
        system, path = trace("cable-net")
        f, q0 = 1.2, 5.0
        x = {f"n{i}_{j}": np.array([i, j, f * ((i - 3) ** 2 - (j - 3) ** 2) / 9]) for i in range(7) for j in range(7)}
        members, names = [], []
        for i in range(7):
            for j in range(7):
                for kind, a, b in (("x", i + 1, j), ("y", i, j + 1)):
                    inside = 0 < j < 6 if kind == "x" else 0 < i < 6
                    if inside and a < 7 and b < 7:
                        step = x[f"n{a}_{b}"] - x[f"n{i}_{j}"]
                        tension = q0 * np.sqrt(step @ step)
                        members.append(member(x, f"n{i}_{j}", f"n{a}_{b}", k=200.0, tension=tension, cable=True))
                        names.append(f"{kind}{i}_{j}")
        joints = [f"n{i}_{j}" for i in range(1, 6) for j in range(1, 6)]
        for k in range(0, len(path), 5):
            p = path.p[k]
            here = places(system, path.q[k], p, x)
            rest = unbalanced(here, members, {name: np.array([0, 0, -p]) for name in joints})
            np.testing.assert_allclose([rest[name] for name in joints], 0, atol=1e-7)
            tension = dict(zip(names, (one.tension(here)[0] for one in members), strict=True))
            given = dict(zip(system.unilateral, path.lam[k], strict=True))
            assert max(abs(tension[name] - given[name]) for name in names) < 1e-7
        groups = [set(event.constraints) for event in path.events if event.kind is Kind.opens]
        assert groups == [
            {"y3_0", "y3_5"},
            {"y2_0", "y2_5", "y4_0", "y4_5"},
            {"y1_0", "y1_5", "y5_0", "y5_5"},
        ]


def test_suspended_deck():
    """Balance of the cable's nodes and of the rigid deck, force and moment, at every point of the path."""
    system, path = trace("suspended-deck")
    start = {f"c{i}": np.array([10.0 * (i - 3), 3 + 0.5 * (i - 3) ** 2]) for i in range(7)}
    below = {f"d{i}": np.array([10.0 * (i - 3), 0.0]) for i in range(1, 6)}
    x = {**start, **below}
    members = [member(x, f"c{i - 1}", f"c{i}", ea=200000.0,
                      tension=1000 * math.hypot(1, 0.05 * (2 * i - 7)), cable=True) for i in range(1, 7)]  # fmt: skip
    members += [member(x, f"c{i}", f"d{i}", ea=10000.0, tension=100.0, cable=True) for i in range(1, 6)]
    for q, p, lam in zip(path.q, path.p, path.lam, strict=True):
        values = dict(zip(system.coordinates, q, strict=True))
        here = places(system, q, p, start)
        turn, middle = values["deck_angle"], np.array([values["deck_x"], values["deck_y"]])
        along = np.array([math.cos(turn), math.sin(turn)])
        here |= {f"d{i}": middle + 10.0 * (i - 3) * along for i in range(1, 6)}
        rest = unbalanced(here, members, {"d5": np.array([0, -p])})
        np.testing.assert_allclose([rest[f"c{i}"] for i in range(1, 6)], 0, atol=1e-6)
        pulls = {name: rest[name] for name in below}
        np.testing.assert_allclose(sum(pulls.values()) - [0, 500.0], 0, atol=1e-6)
        arms = [(here[name] - middle, pull) for name, pull in pulls.items()]
        assert sum(r[0] * f[1] - r[1] * f[0] for r, f in arms) == pytest.approx(0, abs=1e-5)
        np.testing.assert_allclose(lam, [one.tension(here)[0] for one in members], atol=1e-6)
    assert [event.constraints for event in path.events if event.kind is Kind.opens] == [("sling1",), ("sling2",)]


class TestBallInGroove:
    W, r, k, alpha, beta = 2.0, 0.5, 3.0, 0.8, 0.5

    def test_reactions_in_the_groove(self):
        """N_left (sin α, cos α) + N_right (−sin β, cos β) + (p, −W) = 0."""
        system, task = load("ball-in-groove")
        s = math.sin(self.alpha + self.beta)
        for p in (-1.0, 0.0, 1.0):
            left = (self.W * math.sin(self.beta) - p * math.cos(self.beta)) / s
            right = (self.W * math.sin(self.alpha) + p * math.cos(self.alpha)) / s
            e = system.evaluate(task.start, p, np.array([left, right]))
            np.testing.assert_allclose(e.L_q, 0, atol=1e-14)
            np.testing.assert_allclose(e.c, 0, atol=1e-15)

    @pytest.mark.parametrize(("direction", "wall", "slope"), [(1, "left", 0.5), (-1, "right", 0.8)])
    def test_a_wall_lets_go_and_the_ball_climbs_the_other(self, direction, wall, slope):
        _, path = trace("ball-in-groove", direction=direction)
        event = path.events[0]
        assert event.constraints == (wall,)
        assert event.p == pytest.approx(direction * self.W * math.tan(slope), abs=1e-10)
        p = abs(path.p[-1])
        climbed = math.dist(path.q[-1], path.q[0])
        assert climbed == pytest.approx((p * math.cos(slope) - self.W * math.sin(slope)) / self.k, abs=1e-9)
        push = self.W * math.cos(slope) + p * math.sin(slope)
        assert max(path.lam[-1]) == pytest.approx(push, abs=1e-9)


class TestScissorLift:
    """One mobility t: U = k/2 (2a cos t − w)² + p·4a sin t, w = 2a cos 0.9."""

    @staticmethod
    def load(t):
        return 10.0 / 2 * (2 * math.cos(t) - 2 * math.cos(0.9)) * math.tan(t)

    def test_collapse_and_lower_stop(self):
        system, path = trace("scissor-lift")
        angles = np.linspace(0.15, 0.9, 200_001)
        best = max(self.load(t) for t in angles)
        limit, corner = path.events[0], path.events[1]
        assert (limit.kind, limit.p) == (Kind.limit, pytest.approx(best, abs=1e-9))
        assert corner.constraints == ("hinge_lower",)
        assert corner.p == pytest.approx(self.load(0.15), abs=1e-9)
        t = path.q[:, system.coordinates.index("rising0_angle")]
        free = t > 0.15 + 1e-9  # not on the stop
        np.testing.assert_allclose(path.p[free], [self.load(a) for a in t[free]], atol=1e-8)
        moment = 4 * math.cos(0.15) * (path.p[-1] - self.load(0.15))  # dU/dt at the stop
        assert path.lam[-1][0] == pytest.approx(moment, abs=1e-7)

    def test_upper_stop(self):
        _, path = trace("scissor-lift", direction=-1)
        event = path.events[0]
        assert event.constraints == ("hinge_upper",)
        assert event.p == pytest.approx(self.load(1.2), abs=1e-9)


def test_williams_toggle():
    """Limit loads of the extensible elastica by shooting over half the frame, and Williams' 34 lb."""
    s, h, EA, EI = 12.943, 0.386, 1.885e6, 9270.0
    length, slope = math.hypot(s, h), math.atan2(h, s)

    def residual(x):
        H, M, P = 500 * x[0], 100 * x[1], 30 * x[2]
        zero = np.zeros_like(H)
        end = rod(np.array([zero, zero, zero + slope, M]), (H, -P / 2), length, EA, EI, steps=20)
        return np.array([end[0] - s, 10 * (end[2] - slope)])

    exact = 30 * np.array(turning_values(residual, np.zeros(3), 2, step=0.02, count=200)[:2])
    _, path = trace("williams-toggle")
    found = loads_of(path, Kind.limit)
    np.testing.assert_allclose(found, exact, rtol=2e-3)
    assert found[0] == pytest.approx(34, rel=0.01)


def test_lee_frame():
    """Limit loads of two hinged elastica by shooting; the literature gives 1.85 and −0.95 with few elements."""

    def residual(x):
        turn, P = x[0], x[3]
        n = np.array([x[1], x[2]])
        zero = np.zeros_like(turn)
        s = rod(np.array([zero, zero, math.pi / 2 + turn, zero]), n, 120.0, 4320.0, 1440.0, steps=20)
        s = rod(s - np.array([zero, zero, zero + math.pi / 2, zero]), n, 24.0, 4320.0, 1440.0, steps=5)
        s = rod(s, n + np.array([zero, P]), 96.0, 4320.0, 1440.0, steps=20)
        return np.array([(s[0] - 120) / 10, (s[1] - 120) / 10, s[3] / 10])

    exact = turning_values(residual, np.zeros(4), 3, step=0.05, count=160)[:2]
    _, path = trace("lee-frame")
    found = loads_of(path, Kind.limit)
    np.testing.assert_allclose(found, exact, rtol=5e-4)
    assert found == [pytest.approx(1.85, abs=0.01), pytest.approx(-0.945, abs=0.01)]


class TestArch:
    """Shallow arch theory: a sine stays a sine of amplitude w; p = π⁴/L⁴ (EA w (h² − w²)/4 + EI (h − w))."""

    @staticmethod
    def load(w):
        return (math.pi / 100) ** 4 * (1e6 * w * (4 - w * w) / 4 + 3e5 * (2 - w))

    def test_limit_loads_and_landing(self):
        _, path = trace("arch-on-floor", max_events=4)
        turn = math.sqrt((4 - 4 * 0.3) / 3)
        limits = loads_of(path, Kind.limit)
        assert limits[0] == pytest.approx(self.load(turn), rel=0.015)
        assert limits[1] == pytest.approx(self.load(-turn), abs=0.01)
        landing = path.events[2]
        assert landing.constraints == ("floor8",)
        assert landing.p == pytest.approx(self.load(-1.2), abs=0.01)
        assert path.events[3].constraints == ("floor7", "floor9")

    def test_the_way_back_differs(self):
        system, task = load("arch-on-floor")
        history = onesided.drive(system, task.start, (0.0, 1.5, 0.0))
        assert len(history.jumps) == 2
        up, down = history.jumps
        assert up.p > 5 * down.p > 0
        np.testing.assert_allclose(history.paths[-1].q[-1], task.start, atol=1e-6)


class TestColumnBetweenWalls:
    """Beam-column theory with cubic elements, written here: (K − p G) w = p G w0 + contact forces."""

    L, EI, n = 100.0, 1000.0, 12

    def matrices(self):
        h, size = self.L / self.n, 2 * (self.n + 1)
        K, G = np.zeros((size, size)), np.zeros((size, size))
        bend = [[12, 6 * h, -12, 6 * h], [6 * h, 4 * h * h, -6 * h, 2 * h * h],
                [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h * h, -6 * h, 4 * h * h]]  # fmt: skip
        turn = [[36, 3 * h, -36, 3 * h], [3 * h, 4 * h * h, -3 * h, -h * h],
                [-36, -3 * h, 36, -3 * h], [3 * h, -h * h, -3 * h, 4 * h * h]]  # fmt: skip
        for e in range(self.n):
            rows = slice(2 * e, 2 * e + 4)
            K[rows, rows] += np.array(bend) * self.EI / h**3
            G[rows, rows] += np.array(turn) / (30 * h)
        return K, G

    def test_first_contact_and_later_states(self):
        system, path = trace("column-between-walls")
        euler = math.pi**2 * self.EI / self.L**2
        first = path.events[0]
        assert first.constraints == ("right6",)
        assert first.p == pytest.approx(euler * (1 - 0.1 / 1.0), rel=2e-3)
        K, G = self.matrices()
        s = np.arange(self.n + 1) / self.n
        shape = np.sin(math.pi * s) + 0.1 * np.sin(2 * math.pi * s)
        slope = math.pi / self.L * (np.cos(math.pi * s) + 0.2 * np.cos(2 * math.pi * s))
        bow = 0.1 * np.stack([shape, slope], axis=1)
        names = list(system.unilateral)
        for wanted in (0.5, 2.0, 4.0, 5.0, 7.5, 10.0):
            k = int(np.argmin(np.abs(path.p - wanted)))
            p, lam = path.p[k], path.lam[k]
            touching = [int(name.removeprefix("right")) for name, force in zip(names, lam, strict=True) if force > 1e-9]
            held = [0, 2 * self.n, *(2 * i for i in touching)]
            w = np.zeros(2 * (self.n + 1))
            for i in touching:
                w[2 * i] = 1.0 - bow[i, 0]
            free = np.setdiff1d(np.arange(len(w)), held)
            A = K - p * G
            w[free] = np.linalg.solve(A[np.ix_(free, free)], (p * G @ bow.ravel() - A @ w)[free])
            shape = bow[:, 0] + w[::2]
            found = np.append([0.0], [path.q[k][system.coordinates.index(f"n{i}_x")] for i in range(1, self.n)])
            np.testing.assert_allclose(found, shape[:-1], atol=0.02)
            push = (p * G @ bow.ravel() - A @ w)[[2 * i for i in touching]]
            given = [force for force in lam if force > 1e-9]
            np.testing.assert_allclose(given, push, rtol=0.05, atol=0.02)

    def test_more_and_more_points_touch(self):
        _, path = trace("column-between-walls")
        events = [(event.kind, *event.constraints) for event in path.events[:-1]]
        assert events == [
            (Kind.closes, "right6"), (Kind.closes, "right5"), (Kind.closes, "right7"), (Kind.opens, "right6"),
            (Kind.closes, "right4"), (Kind.closes, "right8"), (Kind.opens, "right5"), (Kind.opens, "right7"),
            (Kind.closes, "right3"), (Kind.closes, "right9"),
        ]  # fmt: skip


class TestPanelRing:
    """By symmetry one angle is enough: spring moment k l |hook − hinge| sin(…) against the contact."""

    length, b, t = 0.7, 1.2, 0.12

    @property
    def lean(self):
        return math.pi / 8 + math.acos((self.length * math.sin(math.pi / 4) + self.t) / (2 * math.sin(math.pi / 8)))

    def snap(self):
        """The turn of the ring at which a panel, its hinge and its hook are in line."""
        f = lambda p: math.atan2(self.b * math.sin(p), self.b * math.cos(p) - 1) - self.lean  # noqa: E731
        return float(fsolve(lambda p: f(p[0]), [0.2], xtol=1e-14)[0])

    def test_deployment_and_retraction_differ(self):
        system, task = load("panel-ring")
        assert task.programme == (0.0, 0.6, -0.6, 0.6)
        history = onesided.drive(system, task.start, task.programme[:-1])
        there, back = history.jumps
        np.testing.assert_allclose([there.p, back.p], [self.snap(), -self.snap()], atol=1e-9)
        hinges = math.pi * np.arange(8) / 4 + math.pi
        np.testing.assert_allclose(there.q_from, hinges + self.lean, atol=1e-9)
        np.testing.assert_allclose(there.q_to, hinges - self.lean, atol=1e-7)
        np.testing.assert_allclose(back.q_to, hinges + self.lean, atol=1e-7)
        p = self.snap()
        hook = np.array([self.b * math.cos(p), self.b * math.sin(p)])
        tips = [np.array([1 - self.length * math.cos(a), -self.length * math.sin(a)]) for a in (self.lean, -self.lean)]
        energies = [8 / 2 * (tip - hook) @ (tip - hook) for tip in tips]
        assert there.energy == pytest.approx(energies[0] - energies[1], abs=1e-8)
        assert history.dissipated == pytest.approx(2 * (energies[0] - energies[1]), abs=1e-7)

    def test_reactions_while_the_panels_lean_on_each_other(self):
        """Virtual work of all springs and contacts in the common angle: λ dg/da = −dU/da."""
        system, task = load("panel-ring")
        for p in (-0.5, 0.0, 0.2):
            found = onesided.solve(system, start=task.start, p=p).value
            slope = -2 * math.sin(math.pi / 8) * math.sin(self.lean - math.pi / 8)  # of the distance of tip and panel
            hook = np.array([self.b * math.cos(p), self.b * math.sin(p)])
            tip = np.array([1 - self.length * math.cos(self.lean), -self.length * math.sin(self.lean)])
            moment = (tip - hook) @ np.array([self.length * math.sin(self.lean), -self.length * math.cos(self.lean)])
            reaction = moment / slope
            assert reaction > 0
            names = list(system.unilateral)
            for name, force in zip(names, found.lam, strict=True):
                assert force == pytest.approx(reaction if name.startswith("behind") else 0.0, abs=1e-9)


def test_member_is_a_member():
    """The second route itself: energy and tension of a taut and a slack cable."""
    x = {"a": np.zeros(2), "b": np.array([3.0, 4.0])}
    assert member(x, "a", "b", k=2.0, tension=1.0).natural == 4.5
    assert Member("a", "b", 2.0, 4.5, True).tension(x)[0] == 1.0
    assert Member("a", "b", 2.0, 6.0, True).energy(x) == 0.0
