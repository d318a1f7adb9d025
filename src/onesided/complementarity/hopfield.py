"""The Hopfield network of Qi and Tu, corrected and as printed."""

from dataclasses import dataclass

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.tolerances import EPS, Tolerances
from onesided.base.types import Array, Status
from onesided.complementarity.method import Attempt, Method, check_range
from onesided.complementarity.problems import LCP


@dataclass(frozen=True)
class HopfieldNetwork(Method):
    """The network in corrected form: X = W V + I, V ← max(0, X) with W = 1 − αM, I = −αq, after [QT (23)].

    Its fixed points are exactly the solutions. For symmetric positive definite M it converges, by the factor
    1 − α λ_min(M) per sweep, when 0 < α < 2 / ‖M‖₂.

    Attributes
    ----------
    step : float
        α ‖M‖₂.
    max_iterations : int
        Largest number of sweeps.
    """

    step: float = 1.0
    max_iterations: int = 100_000

    def __post_init__(self) -> None:
        check_range("step", self.step, 0.01, 1.99, "1")
        check_range("max_iterations", self.max_iterations, 1, 100_000_000)

    def attempt(self, problem: LCP, start: Array | None, tolerances: Tolerances) -> Attempt:
        """Sweep from `start`, or from zero, until V stands still."""
        V = np.zeros(problem.n) if start is None else np.maximum(start, 0.0)
        norm = float(np.linalg.norm(problem.M, 2)) if problem.n else 0.0
        if problem.n and norm == 0:
            return Attempt(V, Status.not_applicable, 0, "the network needs a matrix that is not zero")
        alpha = self.step / norm if norm else 0.0
        far = alpha * float(np.abs(problem.q).max(initial=0.0)) / EPS
        W, bias = np.eye(problem.n) - alpha * problem.M, -alpha * problem.q
        for sweep in range(self.max_iterations):
            new = np.maximum(W @ V + bias, 0.0)
            change, V = float(np.abs(new - V).max(initial=0.0)), new
            if change <= 2 * EPS * float(V.max(initial=0.0)):
                return Attempt(V, Status.solved, sweep + 1)
            if change > far:
                return Attempt(V, Status.not_applicable, sweep, "the network diverges: M is not semidefinite")
        return Attempt(V, Status.max_iterations, self.max_iterations)


@dataclass(frozen=True)
class PrintedHopfield(Method):
    """The network as printed: X = W V + I, V ← step(X), binary, with W = −M |S|, I = −q [QT (23)].

    PRINTED FORM, kept for comparison: wrong for elastic slings. X is minus the second time derivative of the
    tension law, so a sling counts as taut when its tension curve bends down, not when it is stretched. A
    loaded sling at rest is declared slack, or V alternates for ever (`Status.cycling`). Use
    `HopfieldNetwork`.

    Attributes
    ----------
    forces : float or tuple of floats
        |S|: the force each index carries where V = 1; the answer is z = |S| V.
    max_iterations : int
        Largest number of sweeps.
    """

    forces: float | tuple[float, ...] = 1.0
    max_iterations: int = 1000

    def __post_init__(self) -> None:
        if not (np.isfinite(self.forces).all() and np.all(np.asarray(self.forces) > 0)):
            raise UsageError("`forces` are out of range", got=repr(self.forces), expected="positive numbers")
        check_range("max_iterations", self.max_iterations, 1, 1_000_000)

    def attempt(self, problem: LCP, start: Array | None, tolerances: Tolerances) -> Attempt:
        """Sweep from V = [start > 0] until V stands still or returns."""
        if isinstance(self.forces, tuple) and len(self.forces) != problem.n:
            raise UsageError(
                "`forces` have the wrong length",
                got=str(len(self.forces)),
                expected=f"one number or {problem.n}",
            )
        S = np.broadcast_to(np.asarray(self.forces, dtype=np.float64), (problem.n,))
        V = np.zeros(problem.n, dtype=np.bool_) if start is None else start > 0
        seen: set[bytes] = set()
        for sweep in range(self.max_iterations):
            seen.add(V.tobytes())
            X = -problem.M @ (S * V) - problem.q
            new = X > 0
            if (new == V).all():
                return Attempt(S * V, Status.solved, sweep + 1, "printed form of the network")
            V = new
            if V.tobytes() in seen:
                return Attempt(S * V, Status.cycling, sweep + 1, "printed form of the network")
        return Attempt(S * V, Status.max_iterations, self.max_iterations, "printed form of the network")
