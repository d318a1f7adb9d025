"""Relaxation at fixed p: damped descent of the energy with contacts held exactly, as a released structure settles."""

from dataclasses import dataclass

import numpy as np

from onesided._types import Array, Status
from onesided.complementarity import MLCP, solve
from onesided.errors import UsageError
from onesided.model.derivatives import Evaluation
from onesided.model.system import Sizes, System
from onesided.statics.active_set import constraint_scales


@dataclass(frozen=True)
class Relaxation:
    """Knobs of the descent.

    Attributes
    ----------
    max_iterations : quadratic programmes solved before it gives up.
    reach : largest step, in units of the length scale; small keeps close to the steepest descent.
    accuracy : relative residual at which Newton may take over.
    """

    max_iterations: int = 500
    reach: float = 0.25
    accuracy: float = 1e-6

    def __post_init__(self) -> None:
        if self.max_iterations < 1 or not self.reach > 0 or not 0 < self.accuracy < 1:
            raise UsageError("`Relaxation` has a knob out of range", got=repr(self))


@dataclass(frozen=True)
class Relaxed:
    """Where the descent ended."""

    q: Array
    nu: Array
    status: Status
    residual: float
    iterations: int


def relax(system: System, q: Array, p: float, sizes: Sizes, knobs: Relaxation) -> Relaxed:
    """Descend from q to a minimum of the energy among the admissible configurations.

    Each step solves a convex quadratic programme: the Lagrangian's Hessian, shifted until it is positive definite and
    the step short enough, with the constraints linearised. An exact penalty decides whether a step is taken.
    """
    k = len(system.bilateral)
    nu: Array = np.zeros(len(system.constraint_names))
    weights: Array = np.zeros(len(system.constraint_names))
    shift = sizes.stiffness
    e = system.evaluate(q, p, nu)
    for iteration in range(knobs.max_iterations):
        step, nu_new, shift = _bounded_step(e, nu, k, shift, knobs.reach * sizes.length)
        if step is None or nu_new is None:
            return Relaxed(q, nu, Status.infeasible, _stationarity(e, nu, k, sizes), iteration)
        weights = np.maximum(weights, 2.0 * np.abs(nu_new))
        trial = system.evaluate(q + step, p, nu_new)
        gain = _merit(e, k, weights) - _merit(trial, k, weights)
        expected = _predicted(e, nu, step, k, weights, shift)
        residual = _stationarity(system.evaluate(q, p, nu_new), nu_new, k, sizes)
        if residual <= knobs.accuracy:
            return Relaxed(q, nu_new, Status.solved, residual, iteration)
        if np.isfinite(gain) and gain >= 0.1 * expected:
            q, nu, e = q + step, nu_new, trial
            shift = shift / 4.0 if gain > 0.5 * expected else shift
            if not _within_reach(e, q, sizes):
                return Relaxed(q, nu, Status.unbounded, residual, iteration)
        else:
            shift = 4.0 * max(shift, sizes.stiffness * np.finfo(float).eps ** 0.5)
    return Relaxed(q, nu, Status.stalled, _stationarity(e, nu, k, sizes), knobs.max_iterations)


def _within_reach(e: Evaluation, q: Array, sizes: Sizes) -> bool:
    """Whether the descent is still in a sensible region: otherwise the energy has no minimum on the way."""
    far = 1 / np.finfo(float).eps ** 0.4
    return bool(np.isfinite(e.energy) and np.max(np.abs(q)) < far * sizes.length)


def _bounded_step(
    e: Evaluation, nu: Array, k: int, shift: float, reach: float
) -> tuple[Array | None, Array | None, float]:
    """Solve the quadratic programme with the shift raised until its matrix is definite and its step is short."""
    lowest = float(np.linalg.eigvalsh(e.L_qq)[0])
    size = float(np.max(np.abs(e.L_qq), initial=0.0))
    least = max(0.0, -1.5 * lowest) + np.finfo(float).eps ** 0.5 * max(size, abs(lowest))
    shift = max(shift, least)
    for _ in range(60):
        step, multipliers = _quadratic_step(e, nu, k, shift)
        if step is None or float(np.max(np.abs(step))) <= reach or _restoring(e, step, k):
            break
        shift *= 3.0
    return step, multipliers, shift


def _restoring(e: Evaluation, step: Array, k: int) -> bool:
    """Whether the step is long only because a violated constraint asks for it."""
    violated = np.concatenate([np.abs(e.c[:k]), np.maximum(-e.c[k:], 0.0)])
    norms = np.linalg.norm(e.c_q, axis=1)
    far = np.divide(violated, norms, out=np.zeros_like(norms), where=norms > 0)
    return bool(np.max(np.abs(step)) <= 2.0 * np.max(far, initial=0.0))


def _quadratic_step(e: Evaluation, nu: Array, k: int, shift: float) -> tuple[Array | None, Array | None]:
    """Min ½dᵀ(L_qq + shift)d + U_qᵀd with h + h_q d = 0, g + g_q d ≥ 0, through its dual complementarity problem."""
    U_q = e.L_q + nu @ e.c_q
    B = e.L_qq + shift * np.eye(len(U_q))
    if not len(e.c):
        return -np.linalg.solve(B, U_q), np.zeros(0)
    columns = np.linalg.solve(B, np.column_stack([e.c_q.T, U_q]))
    S = e.c_q @ columns[:, :-1]
    S = (S + S.T) / 2.0
    right = e.c - e.c_q @ columns[:, -1]
    for soften in (0.0, np.finfo(float).eps ** 0.5, np.finfo(float).eps ** 0.25):
        multipliers = _dual(S + soften * np.diag(np.diag(S)), right, k)
        if multipliers is not None:
            return columns[:, :-1] @ multipliers - columns[:, -1], multipliers
    return None, None


def _dual(S: Array, right: Array, k: int) -> Array | None:
    problem = MLCP(A=S[:k, :k], C=S[:k, k:], a=right[:k], D=S[k:, :k], B=S[k:, k:], b=right[k:])
    found = solve(problem, throw=False)
    return np.asarray(found.value) if found.ok else None


def _violation(e: Evaluation, k: int) -> Array:
    return np.concatenate([np.abs(e.c[:k]), np.maximum(-e.c[k:], 0.0)])


def _merit(e: Evaluation, k: int, weights: Array) -> float:
    return float(e.energy + weights @ _violation(e, k))


def _predicted(e: Evaluation, nu: Array, step: Array, k: int, weights: Array, shift: float) -> float:
    """Decrease of the merit that the quadratic model promises."""
    U_q = e.L_q + nu @ e.c_q
    linear = e.c + e.c_q @ step
    left = np.concatenate([np.abs(linear[:k]), np.maximum(-linear[k:], 0.0)])
    curvature = step @ (e.L_qq @ step) / 2.0 + shift * step @ step / 2.0
    return float(-U_q @ step - curvature + weights @ (_violation(e, k) - left))


def _stationarity(e: Evaluation, nu: Array, k: int, sizes: Sizes) -> float:
    scales = constraint_scales(e.c_q, sizes)
    contact = np.minimum(np.abs(e.c[k:]) / scales.gap[k:], nu[k:] / scales.multiplier[k:])
    parts = np.concatenate([np.abs(e.L_q) / sizes.force, _violation(e, k) / scales.gap, contact])
    return float(np.max(parts, initial=0.0))
