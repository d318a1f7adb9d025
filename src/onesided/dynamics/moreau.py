"""Moreau's time stepping: impulses over a step, any number of contacts, impact and Coulomb friction.

With the midpoint q_M = q∘exp(h v/2):

    M (v⁺ − v) = h f(q_M, v) + Gᵀ R + W_Nᵀ P_N + W_Tᵀ P_T,     q⁺ = q_M∘exp(h v⁺/2),

    contacts that hit:       v_N⁺ + e v_N⁻ ≥ 0 ⊥ P_N ≥ 0,
    the others in reach:     v_N⁺ + 2 g(q_M)/h ≥ 0 ⊥ P_N ≥ 0   (the gap may just close within the step),

with P_T in the cone of friction. What penetrates after the step is projected out in the metric of the mass, so that
gaps and joints do not drift. Of second order where nothing happens, of first order across impacts.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from onesided._types import Array, Indices, Status
from onesided.complementarity import LCP, solve
from onesided.complementarity.friction import FrictionProblem, solve_friction
from onesided.dynamics.contact_run import Outcome, Request, World, check_events, collect
from onesided.dynamics.mechanics import State
from onesided.errors import UsageError
from onesided.linalg import one_thread
from onesided.model.motion import Terms
from onesided.results import Motion, MotionEvent, Occurrence
from onesided.results.path import format_number
from onesided.tolerances import EPS

REACH = 2.0  # contacts within so many times the way of the fastest one in a step are looked at
REST = 2.0  # approach below so many times the change of velocity in a step is rest


@dataclass(frozen=True)
class Moreau:
    """Time stepping of Moreau and Jean for contacts with impact and friction.

    Attributes
    ----------
    step : size of a step.
    accuracy : residual of the complementarity conditions, relative to the impulses, at which a step counts as solved.
    """

    step: float = 1e-3
    accuracy: float = 1e-10

    def __post_init__(self) -> None:
        if not 0.0 < self.step < np.inf:
            raise UsageError("`step` is out of range", got=repr(self.step), expected="a positive number")
        if not 0.0 < self.accuracy < 1.0:
            raise UsageError("`accuracy` is out of range", got=repr(self.accuracy), expected="between 0 and 1")

    def follow(self, request: Request) -> Motion:
        """The motion asked for."""
        world = World(request)
        check_events(request.events, request.stop, world.start)
        march = March(world, self)
        with one_thread(world.equations.n):
            march.run()
        outcome = Outcome(
            march.states, tuple(march.events), march.status, march.note, self, False, tuple(march.wrong),
            {"complementarity": march.worst, "contacts": march.most, "projections": march.projections,
             "work of projections": march.lifted},
        )  # fmt: skip
        return collect(world, outcome)


class Impulse(NamedTuple):
    """Impulses of the contacts in reach: rows of G, values; the new velocity; impulses of rows that always hold."""

    rows: Indices
    P: Array
    v: Array
    joints: Array


class March:
    """One motion in progress."""

    def __init__(self, world: World, method: Moreau) -> None:
        self.world, self.method, self.rows = world, method, world.rows
        self.h = method.step
        self.states: list[State] = []
        self.events: list[MotionEvent] = []
        self.wrong: list[str] = []
        self.status, self.note = Status.finished, ""
        self.worst, self.most, self.projections, self.lifted = 0.0, 0, 0, 0.0
        self.always = self.rows.always
        self._pressing = np.zeros(len(world.names), dtype=bool)
        self._last: Array = np.zeros(world.equations.rows)
        self._zero = np.zeros(world.equations.n)
        self._directions = np.array([len(s) for s in self.rows.slips], dtype=np.intp)
        self._frictionless = not np.any(self._directions)

    def run(self) -> None:
        """Step after step, all of the same size, to the end."""
        world, request = self.world, self.world.request
        count = max(1, int(np.ceil((request.last - request.first) / self.method.step * (1.0 - np.sqrt(EPS)))))
        self.h = (request.last - request.first) / count
        if count > request.max_steps:
            self.status, count = Status.max_iterations, request.max_steps
            self.note = f"{count} steps do not reach the end"
        self._begin()
        for i in range(count):
            state = self._step(request.first + (i + 1) * self.h)
            if state is None:
                return
            self.states.append(state)
            world.sizes.grow(state.q, state.v)
            if i % 64 == 0:
                request.progress.update(control=state.t, points=len(self.states), events=len(self.events), step=self.h)
            if request.events and self._users():
                return
        if self.worst > 100.0 * self.method.accuracy:
            self.wrong.append(f"complementarity of a step is met to {self.worst:.2g} only (relative)")

    def _begin(self) -> None:
        start = self.world.start
        self.states.append(State(start.t, start.q, start.v, start.a, np.zeros(self.world.equations.rows)))

    def _step(self, t: float) -> State | None:
        world, h, now = self.world, self.h, self.states[-1]
        space = world.equations.space
        middle = space.retract(now.q, 0.5 * h * now.v)
        terms = world.equations.terms(t - 0.5 * h, middle, self._zero, now.v, self._last)
        found = self._impulses(now.v, terms)
        if found is None or not np.all(np.isfinite(found.v)):
            self.status = Status.not_finite
            self.note = f"at t = {t:.6g}"
            return None
        q = space.retract(middle, 0.5 * h * found.v)
        mu = np.zeros(world.equations.rows)
        mu[self.always], mu[found.rows] = found.joints / h, found.P / h
        self._last = mu
        self._tell(t, now, terms, mu)
        change = terms.G[found.rows] @ (found.v - now.v)
        work = float(found.P @ (terms.c_dot[found.rows] + 0.5 * change))
        work += float(found.joints @ terms.c_dot[self.always]) + self._power(t, middle, now.v, found.v)
        q, lifted = self._without_penetration(t, q, found.v, terms)
        return State(t, q, found.v, (found.v - now.v) / h, mu, now.work + work + lifted)

    def _power(self, t: float, middle: Array, v: Array, after: Array) -> float:
        if self.world.equations.conservative:
            return 0.0
        mean = self.world.equations.terms(t - 0.5 * self.h, middle, self._zero, 0.5 * (v + after), self._last)
        return self.h * mean.power

    def _impulses(self, v: Array, terms: Terms) -> Impulse | None:
        """The velocity at the end of the step and the impulses that lead there."""
        h, rows = self.h, self.rows
        held = terms.G[self.always]
        free = v + self._answer(terms.M, held, (h * terms.h)[:, None], terms.c_dot[self.always])[0][:, 0]
        joints = self._joint_impulses(terms, held, free - v, h * terms.h)
        gaps, u = terms.c[rows.gaps], terms.c_dot[rows.gaps]
        u_free = u + terms.G[rows.gaps] @ (free - v)
        near = np.flatnonzero(gaps <= REACH * h * np.max(np.abs(u_free), initial=0.0) + self.world.closed_below)
        if not len(near):
            return Impulse(near, np.zeros(0), free, joints)
        hits = gaps[near] + 0.5 * h * u_free[near] < 0.0
        fast = u[near] < -REST * np.abs(u_free[near] - u[near])
        e = np.where(hits & fast, rows.restitution[near], 0.0)
        b = np.where(e > 0.0, e * u[near], 2.0 * np.maximum(gaps[near], 0.0) / h)
        if np.all(u_free[near] + b >= -EPS * self._speed(u_free[near], b)):
            return Impulse(rows.gaps[near], np.zeros(len(near)), free, joints)
        return self._contacts(terms, held, near, b, (free, joints))

    def _contacts(self, terms: Terms, held: Array, near: Indices, b: Array, before: tuple[Array, Array]) -> Impulse:
        rows, (free, joints) = self.rows, before
        order = [r for i in near for r in (rows.gaps[i], *rows.slips[i])]
        chosen = np.array(order, dtype=np.intp)
        W = terms.G[chosen]
        X, _ = self._answer(terms.M, held, W.T.copy(), None)
        D = W @ X
        directions = self._directions[near]
        normal = np.concatenate([[0], np.cumsum(1 + directions)[:-1]]).astype(np.intp)
        u = terms.c_dot[chosen] + W @ (free - self.states[-1].v)
        u[normal] += b
        scale = self._speed(u, b)
        problem = FrictionProblem(0.5 * (D + D.T), u, rows.friction[near], directions, scale)
        P, off = self._solve(problem, self.h * self._last[chosen])
        self.worst, self.most = max(self.worst, off), max(self.most, int(np.sum(P[normal] > 0.0)))
        v = free + X @ P
        return Impulse(
            chosen, P, v, joints if not len(held) else joints + self._joint_impulses(terms, held, X @ P, W.T @ P)
        )

    def _speed(self, u: Array, b: Array) -> float:
        """Size of the velocities in play."""
        return max(float(np.max(np.abs(u))), float(np.max(np.abs(b))))

    def _solve(self, problem: FrictionProblem, start: Array) -> tuple[Array, float]:
        """Impulses and their residual; without friction by the active set method."""
        if not np.any(problem.directions):
            from onesided.complementarity._kernels import SOLVED, active_set

            active = start > 0.0
            knobs = (100, 10, 0, True, True)
            P, code, _ = active_set(problem.D, problem.u, active, knobs, EPS * len(start))
            off = problem.residual(P)
            if code == SOLVED and off <= self.method.accuracy:
                return P, off
            found = solve(LCP(problem.D, problem.u / problem.scale), throw=False).value * problem.scale
            off = problem.residual(found)
            if off <= self.method.accuracy:
                return found, off
            start = found if np.all(np.isfinite(found)) else start
        return solve_friction(problem, start, tol=0.01 * self.method.accuracy)

    def _answer(self, M: Array, held: Array, forces: Array, push: Array | None) -> tuple[Array, Array]:
        """Changes of velocity by impulses, with the rows that always hold; `push` is what these must take up."""
        if not len(held):
            _, x, info = lapack.dposv(M, forces)
            return (x if info == 0 else np.linalg.lstsq(M, forces, rcond=EPS)[0]), held
        n, m = len(M), len(held)
        K = np.zeros((n + m, n + m))
        K[:n, :n], K[:n, n:], K[n:, :n] = M, held.T, held
        right = np.zeros((n + m, forces.shape[1]))
        right[:n] = forces
        if push is not None:
            right[n:] = -push[:, None]
        *_, x, info = lapack.dgesv(K, right)
        if info != 0 or not np.all(np.isfinite(x)):
            x = np.linalg.lstsq(K, right, rcond=EPS * (n + m))[0]
        return x[:n], -x[n:]

    def _joint_impulses(self, terms: Terms, held: Array, change: Array, forces: Array) -> Array:
        if not len(held):
            return np.zeros(0)
        return np.asarray(np.linalg.lstsq(held.T, terms.M @ change - forces, rcond=None)[0])

    def _without_penetration(self, t: float, q: Array, v: Array, terms: Terms) -> tuple[Array, float]:
        """Positions back onto the allowed side, and the work this does."""
        world = self.world
        gaps = world.equations.gaps(t, q)
        if not len(self.rows.joints) and gaps.min(initial=0.0) >= -EPS * world.sizes.q.max():
            return world.equations.space.wrap(q), 0.0
        moved, _ = world.project(t, q, v)
        self.projections += 1
        step = world.equations.space.local(q, moved)
        lifted = -float(terms.h @ step)
        self.lifted += lifted
        return moved, lifted

    def _tell(self, t: float, now: State, terms: Terms, mu: Array) -> None:
        """Contacts that close with a blow."""
        pressing = mu[self.rows.gaps] > 0.0
        fresh = np.flatnonzero(pressing & ~self._pressing)
        self._pressing = pressing
        for i in fresh:
            speed = -float(terms.c_dot[self.rows.gaps[i]])
            if speed > self.world.at_rest_below:
                name = self.world.names[i]
                detail = f"speed {format_number(speed)}"
                self.events.append(MotionEvent(Occurrence.impact, t, now.q, now.v, name, detail))

    def _users(self) -> bool:
        """Sign changes of the user's functions in the last step; whether one of them ends the motion."""
        a, b = self.states[-2:]
        for name, function in self.world.request.events.items():
            low, high = float(function(a.t, a.q, a.v)), float(function(b.t, b.q, b.v))
            if low * high < 0.0 or (high == 0.0 and low != 0.0):
                t = a.t + low / (low - high) * (b.t - a.t)
                self.events.append(MotionEvent(Occurrence.user, t, b.q, b.v, name))
                if name in self.world.request.stop:
                    self.status, self.note = Status.stopped, self.events[-1].words()
                    return True
        return False
