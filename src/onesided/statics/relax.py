"""Relaxation at fixed p: damped descent of the energy with contacts held exactly, as a released structure settles."""

from dataclasses import dataclass

import numpy as np

from onesided._types import Array, Status
from onesided.complementarity import MLCP, solve
from onesided.errors import UsageError
from onesided.model.sizes import Sizes
from onesided.model.system import System
from onesided.statics.active_set import constraint_scales
from onesided.tolerances import EPS


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


@dataclass(frozen=True)
class _Local:
    """The model at a point, without units: energy U, force f = U_z, constraints c, slopes E, Hessian H.

    The variables are z = q / length; multipliers are those of the scaled constraints.
    """

    U: float
    f: Array
    c: Array
    E: Array
    H: Array
    k: int

    def violation(self, c: Array) -> Array:
        """How far each constraint is from being met."""
        return np.concatenate([np.abs(c[: self.k]), np.maximum(-c[self.k :], 0.0)])

    def residual(self, nu: Array) -> float:
        """Largest violation of the Kuhn–Tucker conditions with multipliers ν."""
        balance = np.abs(self.f - nu @ self.E)
        contact = np.minimum(np.abs(self.c[self.k :]), np.abs(nu[self.k :]))
        parts = np.concatenate([balance, self.violation(self.c), contact])
        return float(np.max(parts, initial=0.0)) if np.all(np.isfinite(parts)) else float("inf")


class _Problem:
    """A system at fixed p in scaled variables."""

    def __init__(self, system: System, q: Array, p: float, sizes: Sizes) -> None:
        self.system, self.p, self.sizes, self.k = system, p, sizes, len(system.bilateral)
        zero = np.zeros(len(system.constraint_names))
        self.gap = constraint_scales(system.evaluate(q, p, zero), sizes).gap

    def at(self, z: Array, nu: Array) -> _Local:
        """Blocks at z with scaled multipliers ν."""
        sizes = self.sizes
        raw = self.multipliers(nu)
        e = self.system.evaluate(z * sizes.length, self.p, raw)
        f = (e.L_q + raw @ e.c_q) * sizes.length / sizes.energy
        E = e.c_q * sizes.length / self.gap[:, None]
        return _Local(e.energy / sizes.energy, f, e.c / self.gap, E, sizes.hessian(e.L_qq), self.k)

    def multipliers(self, nu: Array) -> Array:
        """Multipliers of the model's own constraints."""
        return np.asarray(nu * self.sizes.energy / self.gap)


def relax(system: System, q: Array, p: float, sizes: Sizes, knobs: Relaxation) -> Relaxed:
    """Descend from q to a minimum of the energy among the admissible configurations.

    Each step solves a convex quadratic programme: the Lagrangian's Hessian, shifted until it is positive definite and
    the step short enough, with the constraints linearised. An exact penalty decides whether a step is taken.
    """
    problem = _Problem(system, q, p, sizes)
    z: Array = q / sizes.length
    nu: Array = np.zeros(len(system.constraint_names))
    weights: Array = np.zeros(len(nu))
    shift = 1.0
    here = problem.at(z, nu)

    def ended(status: Status, iteration: int) -> Relaxed:
        return Relaxed(z * sizes.length, problem.multipliers(nu), status, here.residual(nu), iteration)

    for iteration in range(knobs.max_iterations):
        step, target, shift = _bounded_step(here, shift, knobs.reach)
        if step is None or target is None:
            return ended(Status.infeasible, iteration)
        if here.residual(target) <= knobs.accuracy:
            nu = target
            return ended(Status.solved, iteration)
        weights = np.maximum(weights, 2.0 * np.abs(target))
        there = problem.at(z + step, target)
        gain, promised = _gain(here, there, weights), _promised(here, step, weights, shift)
        if np.isfinite(gain) and gain >= 0.1 * promised:
            z, nu, here = z + step, target, there
            shift = shift / 4.0 if gain > 0.5 * promised else shift
            if not np.max(np.abs(z)) < EPS**-0.4:
                return ended(Status.unbounded, iteration)
        else:
            shift = 4.0 * max(shift, EPS**0.5)
    return ended(Status.stalled, knobs.max_iterations)


def _bounded_step(here: _Local, shift: float, reach: float) -> tuple[Array | None, Array | None, float]:
    """Solve the quadratic programme with the shift raised until its matrix is definite and its step is short."""
    lowest = float(np.linalg.eigvalsh(here.H)[0])
    shift = max(shift, max(0.0, -1.5 * lowest) + EPS**0.5 * max(1.0, abs(lowest)))
    for _ in range(60):
        step, multipliers = _quadratic_step(here, shift)
        if step is None or float(np.max(np.abs(step))) <= max(reach, 2.0 * _asked_for(here)):
            break
        shift *= 3.0
    return step, multipliers, shift


def _asked_for(here: _Local) -> float:
    """Length of step that a violated constraint asks for."""
    norms = np.linalg.norm(here.E, axis=1)
    far = np.divide(here.violation(here.c), norms, out=np.zeros_like(norms), where=norms > 0)
    return float(np.max(far, initial=0.0))


def _quadratic_step(here: _Local, shift: float) -> tuple[Array | None, Array | None]:
    """Min ½dᵀ(H + shift)d + fᵀd with c + E d = 0 or ≥ 0, through its dual complementarity problem."""
    B = here.H + shift * np.eye(len(here.f))
    if not len(here.c):
        return np.asarray(-np.linalg.solve(B, here.f)), np.zeros(0)
    columns = np.linalg.solve(B, np.column_stack([here.E.T, here.f]))
    S = here.E @ columns[:, :-1]
    S = (S + S.T) / 2.0
    right = here.c - here.E @ columns[:, -1]
    for soften in (0.0, EPS**0.5, EPS**0.25):
        multipliers = _dual(S + soften * np.diag(np.diag(S)), right, here.k)
        if multipliers is not None:
            return np.asarray(columns[:, :-1] @ multipliers - columns[:, -1]), multipliers
    return None, None


def _dual(S: Array, right: Array, k: int) -> Array | None:
    problem = MLCP(A=S[:k, :k], C=S[:k, k:], a=right[:k], D=S[k:, :k], B=S[k:, k:], b=right[k:])
    found = solve(problem, throw=False)
    return np.asarray(found.value) if found.ok else None


def _gain(here: _Local, there: _Local, weights: Array) -> float:
    """Decrease of energy and weighted violations."""
    return float(here.U - there.U + weights @ (here.violation(here.c) - there.violation(there.c)))


def _promised(here: _Local, step: Array, weights: Array, shift: float) -> float:
    """The decrease that the quadratic model promises."""
    left = here.violation(here.c + here.E @ step)
    curvature = step @ (here.H @ step) / 2.0 + shift * step @ step / 2.0
    return float(-here.f @ step - curvature + weights @ (here.violation(here.c) - left))
