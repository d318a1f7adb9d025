"""Steps of a phase in which contacts slide in space: where slip has just begun, or ends, its direction is stiff.

Friction turns a slip s towards the direction in which it accelerates at the rate ρ = μ λ |W_T M⁻¹ W_Tᵀ|/|s|, without
bound as s → 0. Where sticking ends because the force reaches Coulomb's limit, s grows like the square of time, and
explicit steps from there, or to where it comes to rest, would be without number. The motion itself is smooth:
collocation (Radau IIA with three stages), the directions of slip unknown at each stage, follows it by steps that its
own accuracy allows.
"""

import math
from typing import cast

import numpy as np

from onesided.base.tolerances import EPS, QUARTER_DIGITS
from onesided.base.types import Array, Status
from onesided.dynamics.contacts.sliding import SlidingMechanics
from onesided.dynamics.mechanics import MotionState
from onesided.dynamics.smooth.explicit import ExplicitStepper, Projected
from onesided.dynamics.smooth.radau import A, C

STABLE = 3.0  # h ρ that explicit steps bear
COSTS = 3.0  # explicit steps for one by collocation, for each coordinate
COLLOCATED = 4  # order of the error by which steps are chosen, with the loss that stiffness brings
AGAIN = 2.0  # times as far, with every explicit step, collocation is tried once more where it failed
HALVED = 7.0  # by how much two half steps are better than a whole one, at least
TURNS = 3  # rounds for a first guess of the directions
NEWTON, FRESH = 24, 4  # iterations, and after how many of them derivatives are taken anew
CLOSE = 0.001  # of the tolerance, to which stages are solved
PROBE = QUARTER_DIGITS  # of the slip, over which derivatives are taken
HOPELESS = 1.0 / EPS  # the error of a step whose equations were not solved


class SlipStepper(ExplicitStepper):
    """Explicit steps, and collocation where the direction of slip is too stiff for them."""

    def __init__(self, mechanics: SlidingMechanics, state: MotionState, t_end: float, method: Projected) -> None:
        super().__init__(mechanics, state, t_end, method)
        self._stiff, self._reach, self._tries = False, self.h, False
        mechanics.refer()

    def trial(self) -> "SlipStepper":
        """A stepper that goes its own way from here, within a step: slips are compared with its beginning."""
        new = cast(SlipStepper, super().trial())
        new._tries = True
        return new

    @property
    def _sliding(self) -> SlidingMechanics:
        return cast(SlidingMechanics, self.mechanics)

    def step(self, t_end: float) -> Status | None:
        """Advance by one step that does not pass `t_end`: None, or why it cannot."""
        if not self._tries:
            self._sliding.refer(self.state)
        bearable = STABLE / max(self._sliding.turning(self.state), EPS)
        self._stiff = COSTS * len(self.state.v) * bearable < min(self._reach, t_end - self.state.t)
        if not self._stiff:
            self._reach = min(AGAIN * self._reach, t_end - self.state.t)
            self.h, self.order = min(self.h, max(bearable, self.smallest)), ExplicitStepper.order
            return super().step(t_end)
        self.order, begin = COLLOCATED, self.h
        self.h = min(begin, self._reach)
        failed = super().step(t_end)
        self._reach = self.h
        return failed

    def _try(self, h: float) -> tuple[Array, Array, float, float]:
        """One trial step; by collocation, its error is that against two half steps."""
        if not self._stiff:
            return super()._try(h)
        t, v, n = self.state.t, self.state.v, len(self.state.v)
        start = np.concatenate([np.zeros(n), v, [0.0]])
        whole = self._collocate(t, start, h)
        half = self._collocate(t, start, 0.5 * h)
        end = None if half is None else self._collocate(t + 0.5 * h, half, 0.5 * h)
        if whole is None or end is None:
            return start[:n], v, 0.0, HOPELESS
        off = (end - whole) / HALVED
        return end[:n], end[n:-1], float(end[-1]), self.accuracy.norm(self.mechanics, off[:n], off[n:-1])

    def _collocate(self, t: float, start: Array, h: float) -> Array | None:
        """(δ, v, work) after a step from `start`; None where the stages could not be found."""
        n = len(self.state.v)
        times, Y = t + h * C, self._guess_stages(t, start, h)
        solver: Array | None = None
        before = math.inf
        for i in range(NEWTON):
            rates = np.array([self._flow(x, y) for x, y in zip(times, Y, strict=True)])
            if not np.all(np.isfinite(rates)):
                return None
            off = start + h * A @ rates - Y
            if solver is None or i % FRESH == 0:
                solver = self._newton_matrix(times, Y, h, rates)
            change = np.linalg.solve(solver, off[:, :-1].ravel()).reshape(3, 2 * n)
            size = max(self.accuracy.norm(self.mechanics, x[:n], x[n:]) for x in change)
            Y[:, :-1] += change
            Y[:, -1] = start[-1] + h * A @ rates[:, -1]
            if size <= CLOSE or (size <= 1.0 and size >= before):
                return np.asarray(Y[-1])
            before = size
        return None

    def _flow(self, t: float, y: Array) -> Array:
        """d/dt (δ, v, work) with friction along the slip."""
        n = len(self.state.v)
        now = self._evaluate(t, self.state.q, y[:n], y[n:-1], self._guess)
        self._guess = now.mu
        return np.concatenate([now.terms.rate, now.a, [now.power]])

    def _newton_matrix(self, times: Array, Y: Array, h: float, rates: Array) -> Array:
        """Derivatives of the stages' equations, as far as they are stiff: by velocities."""
        n = len(self.state.v)
        K = np.eye(6 * n)
        for j, (t, y) in enumerate(zip(times, Y, strict=True)):
            probe = PROBE * self._sliding.slowest(t, self.state.q, y[:n], y[n:-1]) * self._sliding.units
            J = np.zeros((2 * n, 2 * n))
            for k in range(n):
                moved = y.copy()
                moved[n + k] += probe[k]
                J[:, n + k] = (self._flow(t, moved) - rates[j])[:-1] / (moved[n + k] - y[n + k])
            for i in range(3):
                K[2 * n * i : 2 * n * (i + 1), 2 * n * j : 2 * n * (j + 1)] -= h * A[i, j] * J
        return K

    def _guess_stages(self, t: float, start: Array, h: float) -> Array:
        """Stages in which slip goes in the direction in which it accelerates."""
        n, q, mu = len(self.state.v), self.state.q, self._guess
        ways = self._sliding.ways(t, q, start[:n], start[n:-1])
        rates = np.zeros((3, 2 * n + 1))
        for i, c in enumerate(C):
            v = start[n:-1] + c * h * rates[max(i - 1, 0), n:-1]
            for _ in range(TURNS):
                now, ways = self._sliding.steered(t + c * h, q, start[:n] + c * h * v, v, (mu, ways))
            rates[i] = np.concatenate([v, now.a, [now.power]])
        Y = start + h * A @ rates
        Y[:, :n] = start[:n] + h * A @ Y[:, n:-1]
        return np.asarray(Y)
