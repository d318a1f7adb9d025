"""Semismooth Newton method on the Fischer–Burmeister function."""

from dataclasses import dataclass

import numpy as np

from onesided.base.tolerances import EPS, Tolerances
from onesided.base.types import Array, Status
from onesided.complementarity.method import Attempt, Method, check_range
from onesided.complementarity.problems import Problem

_ARMIJO = 1 / 1024


@dataclass(frozen=True)
class SemismoothNewton(Method):
    """Solve φ(σ z, w) = 0, φ(a, b) = a + b − √(a² + b²), by damped Newton steps; for LCP, MLCP and NCP.

    σ = max |∂w/∂z| at the start gives both arguments one unit. The step is the gradient's where Newton's does
    not descend. A few steps on min(σ z, w) end the iteration, which for linear problems land on the solution.

    Attributes
    ----------
    max_iterations : int
        Largest number of Newton steps.
    halvings : int
        Largest number of halvings in one line search.
    """

    max_iterations: int = 100
    halvings: int = 30

    def __post_init__(self) -> None:
        check_range("max_iterations", self.max_iterations, 1, 1_000_000)
        check_range("halvings", self.halvings, 1, 1000)

    def attempt(self, problem: Problem, start: Array | None, tolerances: Tolerances) -> Attempt:
        """Iterate from `start`, or from zero."""
        x = np.zeros(problem.n) if start is None else start.copy()
        if not np.isfinite(problem.linearise(x)[1]).all():
            return Attempt(x, Status.not_finite, 0, "F or its Jacobian is not finite at the start")
        # A trial point may lie where F is not defined: the line search turns back from there.
        with np.errstate(all="ignore"):
            return self._iterate(problem, x, tolerances)

    def _iterate(self, problem: Problem, x: Array, tolerances: Tolerances) -> Attempt:
        M, q = problem.linearise(x)
        sigma = float(np.abs(M[:, problem.free :]).max(initial=0.0)) or 1.0
        for k in range(self.max_iterations):
            M, q = problem.linearise(x)
            if problem.relative_residual(x) <= tolerances.complementarity:
                return Attempt(_polish(problem, x, sigma), Status.solved, k)
            phi = _value(M, q, x, problem.free, sigma)
            J = _slope(M, q, x, problem.free, sigma)
            step = self._search(problem, x, _direction(J, phi), phi, sigma)
            if step is None:
                step = self._search(problem, x, -J.T @ phi, phi, sigma)
            if step is None:
                note = "the line search found no descent"
                return Attempt(_polish(problem, x, sigma), Status.stalled, k, note)
            x = step
        return Attempt(_polish(problem, x, sigma), Status.max_iterations, self.max_iterations)

    def _search(self, problem: Problem, x: Array, d: Array, phi: Array, sigma: float) -> Array | None:
        value, t = float(phi @ phi), 1.0
        for _ in range(self.halvings):
            trial = x + t * d
            M, q = problem.linearise(trial)
            new = _value(M, q, trial, problem.free, sigma)
            if float(new @ new) <= (1 - 2 * _ARMIJO * t) * value:
                return trial
            t /= 2
        return None


def _value(M: Array, q: Array, x: Array, free: int, sigma: float) -> Array:
    """Return Φ: w in the rows of free unknowns, φ(σ z, w) in the others."""
    phi = M @ x + q
    a, b = sigma * x[free:], phi[free:]
    phi[free:] = a + b - np.hypot(a, b)
    return phi


def _slope(M: Array, q: Array, x: Array, free: int, sigma: float) -> Array:
    """Return an element of the generalised Jacobian of Φ."""
    a, b = sigma * x[free:], M[free:] @ x + q[free:]
    h = np.hypot(a, b)
    away, h = h > 0, np.where(h > 0, h, 1.0)
    da, db = (1 - np.where(away, part / h, np.sqrt(0.5)) for part in (a, b))
    J, rows = np.array(M), np.arange(free, x.size)
    J[free:] *= db[:, None]
    J[rows, rows] += sigma * da
    return J


def _direction(J: Array, phi: Array) -> Array:
    try:
        d = np.asarray(np.linalg.solve(J, -phi), dtype=np.float64)
    except np.linalg.LinAlgError:
        d = np.asarray(np.linalg.lstsq(J, -phi, rcond=None)[0], dtype=np.float64)
    return d if np.isfinite(d).all() else -J.T @ phi


def _polish(problem: Problem, x: Array, sigma: float) -> Array:
    """Newton steps on min(σ z, w), kept while they lower the relative residual."""
    free = problem.free
    best, value = x, problem.relative_residual(x)
    for _ in range(4):
        M, q = problem.linearise(best)
        w, J = M @ best + q, np.array(M)
        low = np.flatnonzero(sigma * best[free:] < w[free:]) + free
        J[low] = 0.0
        J[low, low] = 1.0
        w[low] = best[low]
        trial = best + _direction(J, w)
        trial[low] = 0.0
        trial[free:] = np.maximum(trial[free:], 0.0)
        now = problem.relative_residual(trial) if np.isfinite(trial).all() else np.inf
        if not now < value:
            break
        best, value = trial, now
        if value <= EPS:
            break
    return best
