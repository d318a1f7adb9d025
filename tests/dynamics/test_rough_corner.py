"""A disc in the rough corner of a floor and a wall, pushed and turned, against an integration of its own by SciPy.

The reference tries all kinds of contact (open, sticks, slips one way or the other) where a phase begins, integrates by
DOP853 and locates the end of the phase by events of SciPy. Where both contacts stick, four forces have three equations:
it sticks as long as some of them lie within the limits. Normals and slips of a disc are constant.
"""

from functools import cache
from itertools import product

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import linprog

from onesided import Contact, EventDriven, System, simulate

R, INERTIA, G = 0.2, 0.02, 9.81
M = np.array([1.0, 1.0, INERTIA])
NORMALS = {"floor": np.array([0.0, 1.0, 0.0]), "wall": np.array([1.0, 0.0, 0.0])}
SLIPS = {"floor": np.array([1.0, 0.0, R]), "wall": np.array([0.0, 1.0, -R])}
NAMES = tuple(NORMALS)
AHEAD, SMALL = 1e-7, 1e-9  # how far a phase is looked into before it is chosen; a gap or speed that is none
END = 4.0


@cache
def disc(floor, wall):
    """The disc with coefficients of friction at floor and wall."""

    def force(t, q, v, p, th):
        return jnp.stack([
            th.fx + th.ax * jnp.sin(th.wx * t), th.ay * jnp.sin(th.wy * t), th.m + th.am * jnp.sin(th.wm * t + th.b)
        ])  # fmt: skip

    return System(
        coordinates=("x", "y", "a"), energy=lambda q, p, th: G * q[1], force=force,
        mass=lambda q, th: jnp.diag(M + 0.0 * q),
        unilateral={name: lambda q, p, th, w=w: w @ q - R for name, w in NORMALS.items()},
        contacts={name: Contact(friction=mu, slip=lambda q, v, th, s=SLIPS[name]: (s @ v)[None])
                  for name, mu in (("floor", floor), ("wall", wall))},
        parameters=dict.fromkeys(("fx", "ax", "wx", "ay", "wy", "m", "am", "wm", "b"), 0.0),
    )  # fmt: skip


class Reference:
    """The same motion by enumeration and SciPy."""

    def __init__(self, friction, numbers):
        self.mu, self.n, self.events = dict(zip(NAMES, friction, strict=True)), numbers, []

    def force(self, t):
        n = self.n
        return np.array([
            n["fx"] + n["ax"] * np.sin(n["wx"] * t), n["ay"] * np.sin(n["wy"] * t) - G,
            n["m"] + n["am"] * np.sin(n["wm"] * t + n["b"]),
        ])  # fmt: skip

    def forces(self, mode, push):
        """Accelerations (or changes of velocity) and forces {name: (N, T)} of a mode; None where not determined."""
        rows, columns = [], []
        for name, kind in mode.items():
            rows += [NORMALS[name]] + ([SLIPS[name]] if kind == 0 else [])
            columns += [NORMALS[name] - kind * self.mu[name] * SLIPS[name]] + ([SLIPS[name]] if kind == 0 else [])
        if len(rows) > 3:
            return None
        if not rows:
            return push / M, {}
        J, B = np.array(rows), np.array(columns).T / M[:, None]
        x = np.linalg.solve(J @ B, -J @ (push / M))
        found, k = {}, 0
        for name, kind in mode.items():
            found[name] = (x[k], x[k + 1] if kind == 0 else -kind * self.mu[name] * x[k])
            k += 2 if kind == 0 else 1
        return push / M + B @ x, found

    def slack(self, push):
        """By how much forces of two sticking contacts lie within the limits, at most; negative where they cannot."""
        A = np.zeros((3, 5))
        limits = []
        for k, name in enumerate(NAMES):
            A[:, 2 * k], A[:, 2 * k + 1] = NORMALS[name], SLIPS[name]
            for sign in (1.0, -1.0):
                row = np.zeros(5)
                row[2 * k], row[2 * k + 1], row[4] = -self.mu[name], sign, 1.0
                limits.append(row)
        bounds = [(0.0, None), (None, None), (0.0, None), (None, None), (None, None)]
        found = linprog([0, 0, 0, 0, -1.0], np.array(limits), np.zeros(4), A, -push, bounds, method="highs")
        return found.x[4] if found.success else -1.0

    def margins(self, mode, t, v, push=None):
        """What has to stay positive in a mode."""
        push = self.force(t) if push is None else push
        found = self.forces(mode, push)
        if found is None:
            return np.array([self.slack(push)])
        values = []
        for name, (normal, along) in found[1].items():
            kind = mode[name]
            values += [normal, self.mu[name] * normal - abs(along) if kind == 0 else kind * (SLIPS[name] @ v)]
        return np.array(values)

    def choose(self, t, q, v):
        """The mode in which the motion goes on: all conditions hold a moment later."""
        closed = [n for n in NAMES if NORMALS[n] @ q - R < SMALL and abs(NORMALS[n] @ v) < SMALL]
        best = None
        for kinds in product(("open", 0, 1, -1), repeat=len(closed)):
            mode = {name: kind for name, kind in zip(closed, kinds, strict=True) if kind != "open"}
            speeds = {name: SLIPS[name] @ v for name in closed}
            if any(abs(speeds[name]) >= SMALL and kind != np.sign(speeds[name]) for name, kind in mode.items()):
                continue
            found = self.forces(mode, self.force(t + AHEAD))
            a = np.zeros(3) if found is None else found[0]
            leaving = [NORMALS[name] @ a for name in closed if name not in mode]
            least = min([*self.margins(mode, t + AHEAD, v + AHEAD * a), *leaving], default=1.0)
            best = max(best or (-np.inf, None), (least, mode), key=lambda x: x[0])
        assert best[0] > -1e-6, (t, closed, best)
        return best[1]

    def phase(self, t, q, v, mode):
        """Integrate until something ends the mode: time, state, and the gap that closes, if any does."""
        apart = [name for name in NAMES if name not in mode]

        def rate(s, y):
            found = self.forces(mode, self.force(s))
            return np.r_[y[3:], np.zeros(3) if found is None else found[0]]

        def ends(k):
            def margin(s, y):
                return self.margins(mode, s, y[3:])[k]

            return margin

        def gap(name):
            def distance(s, y):
                return NORMALS[name] @ y[:3] - R if s > t + AHEAD else 1.0

            return distance

        count = len(self.margins(mode, t, v))
        watched = [*(ends(k) for k in range(count)), *(gap(name) for name in apart)]
        for event in watched:
            event.terminal, event.direction = True, -1.0
        s = solve_ivp(rate, (t, END), np.r_[q, v], method="DOP853", rtol=1e-11, atol=1e-13, max_step=0.01,
                      events=watched)  # fmt: skip
        hit = next((k for k, times in enumerate(s.t_events) if len(times)), None)
        name = apart[hit - count] if hit is not None and hit >= count else None
        return s.t[-1], s.y[:3, -1], s.y[3:, -1], name

    def impact(self, q, v):
        """Velocities after a blow without restitution: all kinds of contact at once, as for forces."""
        touching, best = [n for n in NAMES if NORMALS[n] @ q - R < SMALL], None
        for kinds in product(("open", 0, 1, -1), repeat=len(touching)):
            mode = {name: kind for name, kind in zip(touching, kinds, strict=True) if kind != "open"}
            found = self.forces(mode, M * v)
            after = np.zeros(3) if found is None else found[0]
            leaving = [NORMALS[name] @ after for name in touching if name not in mode]
            least = min([*self.margins(mode, 0.0, after, M * v), *leaving], default=1.0)
            best = max(best or (-np.inf, None), (least, after), key=lambda x: x[0])
        assert best[0] > -1e-9
        return best[1]

    def run(self, q, v):
        t = 0.0
        for _ in range(400):
            mode = self.choose(t, q, v)
            t, q, v, hits = self.phase(t, q, v, mode)
            if t >= END:
                return q, v
            if hits:
                self.events.append((t, hits))
                v = self.impact(q, v)
            for name in mode if not hits else ():  # what ends exactly here
                v = v - (NORMALS[name] @ v) * NORMALS[name]
                if abs(SLIPS[name] @ v) < 1e-10:
                    v = v - (SLIPS[name] @ v) / (SLIPS[name] @ (SLIPS[name] / M)) * SLIPS[name] / M
        raise AssertionError("no end")


def loads(rng):
    """Pushes into the corner on the mean, out of it at times; turns to and fro."""
    return {
        "fx": rng.uniform(-3.0, 0.0), "ax": rng.uniform(0.0, 6.0), "wx": rng.uniform(1.0, 6.0),
        "ay": rng.uniform(0.0, 5.0), "wy": rng.uniform(1.0, 6.0), "m": rng.uniform(-0.2, 0.2),
        "am": rng.uniform(0.0, 1.5), "wm": rng.uniform(1.0, 8.0), "b": rng.uniform(0.0, 6.0),
    }  # fmt: skip


def both(seed):
    rng = np.random.default_rng(seed)
    friction, numbers = [(0.3, 0.3), (0.6, 0.2), (0.1, 0.7)][seed % 3], loads(rng)
    motion = simulate(
        disc(*friction).replace(parameters=numbers), [R, R, 0.0], [0.0, 0.0, 0.0], (0.0, END), method=EventDriven()
    )
    reference = Reference(friction, numbers)
    q, v = reference.run(np.array([R, R, 0.0]), np.zeros(3))
    return motion, reference, q, v


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(k, marks=pytest.mark.slow) for k in range(6, 32))])
def test_a_disc_in_a_rough_corner_moves_as_by_enumeration_and_scipy(seed):
    motion, reference, q, v = both(seed)
    assert motion.status.name == "finished"
    impacts = [(event.t, event.name) for event in motion.events if event.kind.name == "impact"]
    ends = any(event.kind.name == "accumulation" for event in motion.events)  # the reference stops at small gaps
    count = min(len(impacts), len(reference.events)) - 2 if ends else len(impacts)
    assert ends or len(reference.events) == count
    for found, expected in zip(impacts[:count], reference.events, strict=False):
        assert found[1] == expected[1]
        assert found[0] == pytest.approx(expected[0], abs=1e-8)
    np.testing.assert_allclose(motion.q[-1], q, rtol=0.0, atol=1e-6 if ends else 1e-8)
    np.testing.assert_allclose(motion.v[-1], v, rtol=0.0, atol=1e-6 if ends else 1e-8)
