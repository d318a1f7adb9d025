"""The impulses of one time step: who is in reach, what they must do, and the forces that do it.

A (v⁺ − v) = f + Gᵀ P over the rows that always hold and the contacts in reach, with A the mass matrix (or that of an
implicit step):

    contacts that hit:       v_N⁺ + e v_N⁻ ≥ 0 ⊥ P_N ≥ 0,
    the others in reach:     v_N⁺ + g/(θ h) ≥ 0 ⊥ P_N ≥ 0   (the gap may just close within the step),

and P_T in the cone of friction.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from onesided._types import Array, Indices
from onesided.complementarity import LCP, solve
from onesided.complementarity.friction import FrictionProblem, solve_friction
from onesided.dynamics.contact_run import World
from onesided.model.motion import Terms
from onesided.tolerances import EPS

REACH = 2.0  # contacts within so many times the way of the fastest one in a step are looked at
REST = 2.0  # approach below so many times the change of velocity in a step is rest


class Impulse(NamedTuple):
    """Velocity at the end of a step, and the impulses of all rows of G."""

    v: Array
    rows: Array


class Law(NamedTuple):
    """The contacts in reach, and b of their condition u⁺ + b ≥ 0 ⊥ P ≥ 0."""

    near: Indices
    b: Array


class Pushed(NamedTuple):
    """A step's linear equations: A (v⁺ − v) = f + Gᵀ P, and the size of its impulses in the step before."""

    v: Array
    terms: Terms
    A: Array
    f: Array
    last: Array


class Impulses:
    """Impulses of the steps of one motion, with dense matrices.

    Attributes
    ----------
    worst : largest residual of the complementarity conditions so far, relative to the impulses.
    most : largest number of contacts that pressed at a time.
    plain : whether there are contacts, and neither joints nor friction.
    """

    def __init__(self, world: World, h: float, end: float, accuracy: float) -> None:
        self.world, self.rows, self.h, self.end, self.accuracy = world, world.rows, h, end, accuracy
        self.worst, self.most = 0.0, 0
        self._always = self.rows.always
        self._directions = np.array([len(s) for s in self.rows.slips], dtype=np.intp)
        self.plain = not np.any(self._directions) and not len(self._always) and len(self.rows.gaps) > 0

    def of(self, step: Pushed, *, symmetric: bool = True) -> Impulse:
        """The velocity at the end of the step and the impulses that lead there."""
        if self.plain and symmetric:
            from onesided.complementarity._step_kernels import frictionless

            terms = step.terms
            knobs = (self.end, REACH * self.h, REST, self.world.closed_below)
            contacts = (terms.c, terms.c_dot, self.rows.restitution, step.last)
            dv, P, off, count = frictionless(step.A, step.f, terms.G, contacts, knobs)
            if off <= self.accuracy:
                self.note(off, count)
                return Impulse(step.v + dv, P)
        return self._general(step)

    def note(self, off: float, count: int) -> None:
        """Take the residual of a step and its number of pressing contacts into account."""
        self.worst, self.most = max(self.worst, off), max(self.most, count)

    def _general(self, step: Pushed) -> Impulse:
        terms, held = step.terms, step.terms.G[self._always]
        change = answer(step.A, held, step.f[:, None], terms.c_dot[self._always])[:, 0]
        impulses = np.zeros(len(terms.G))
        law = self.law(terms.c[self.rows.gaps], terms.c_dot[self.rows.gaps], terms.G[self.rows.gaps] @ change)
        total = step.f
        if law is not None:
            chosen = np.array([r for i in law.near for r in (self.rows.gaps[i], *self.rows.slips[i])], dtype=np.intp)
            W = terms.G[chosen]
            X = answer(step.A, held, W.T.copy(), None)
            u = terms.c_dot[chosen] + W @ change
            P = self.cone(W @ X, u, law, step.last[chosen])
            impulses[chosen] = P
            change, total = change + X @ P, total + W.T @ P
        if len(held):
            impulses[self._always] = np.linalg.lstsq(held.T, step.A @ change - total, rcond=None)[0]
        return Impulse(step.v + change, impulses)

    def law(self, gaps: Array, u: Array, change: Array) -> Law | None:
        """What contacts in reach must do; None where none of them needs a force."""
        free = u + change
        far = REACH * self.h * np.max(np.abs(free), initial=0.0) + self.world.closed_below
        near = np.flatnonzero(gaps <= far)
        gaps, u, free = gaps[near], u[near], free[near]
        hits = (gaps + self.end * free < 0.0) & (u < -REST * np.abs(free - u))
        e = np.where(hits, self.rows.restitution[near], 0.0)
        b = np.where(e > 0.0, e * u, np.maximum(gaps, 0.0) / self.end)
        if not len(near) or np.all(free + b >= -EPS * max(np.max(np.abs(free)), np.max(np.abs(b)))):
            return None
        return Law(near, b)

    def cone(self, D: Array, u: Array, law: Law, start: Array) -> Array:
        """Impulses of the contacts in reach."""
        directions = self._directions[law.near]
        normal = np.concatenate([[0], np.cumsum(1 + directions)[:-1]]).astype(np.intp)
        u = u.copy()
        u[normal] += law.b
        scale = max(float(np.max(np.abs(u))), float(np.max(np.abs(law.b))))
        problem = FrictionProblem(D, u, self.rows.friction[law.near], directions, scale)
        P, off = self._solve(problem, start)
        least = self.world.tolerances.force * float(np.max(P[normal]))
        self.note(off, int(np.sum(P[normal] > least)))
        return P

    def _solve(self, problem: FrictionProblem, start: Array) -> tuple[Array, float]:
        """Impulses and their residual; without friction as a linear complementarity problem."""
        if not np.any(problem.directions):
            D = problem.D if isinstance(problem.D, np.ndarray) else problem.D.toarray()
            found = solve(LCP(D, problem.u / problem.scale), throw=False).value * problem.scale
            off = problem.residual(found)
            if off <= self.accuracy:
                return found, off
            start = found if np.all(np.isfinite(found)) else start
        return solve_friction(problem, start, tol=0.01 * self.accuracy)


def answer(A: Array, held: Array, forces: Array, push: Array | None) -> Array:
    """Changes of velocity by impulses, with the rows that always hold; `push` is what these must take up."""
    n, m = len(A), len(held)
    if not m:
        *_, x, info = lapack.dgesv(A, forces)
        return np.asarray(x if info == 0 else np.linalg.lstsq(A, forces, rcond=EPS)[0])
    K = np.zeros((n + m, n + m))
    K[:n, :n], K[:n, n:], K[n:, :n] = A, held.T, held
    right = np.zeros((n + m, forces.shape[1]))
    right[:n] = forces
    if push is not None:
        right[n:] = -push[:, None]
    *_, x, info = lapack.dgesv(K, right)
    if info != 0 or not np.all(np.isfinite(x)):
        x = np.linalg.lstsq(K, right, rcond=EPS * (n + m))[0]
    return np.asarray(x[:n])
