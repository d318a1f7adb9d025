"""Strong, weak, inactive: the states of unilateral constraints, decided relative to the system's scales."""

from dataclasses import dataclass

import numpy as np

from onesided.base.tolerances import EPS, Tolerances
from onesided.base.types import Array, Indices
from onesided.evaluation.equilibrium_blocks import Evaluation
from onesided.results import ConstraintStates, Recheck, State
from onesided.system.sizes import Sizes
from onesided.system.system import System

ROUNDINGS = 8.0  # of a unit in a residual


@dataclass(frozen=True)
class ConstraintScales:
    """What counts as a large gap and a large multiplier, per constraint (bilateral, then unilateral)."""

    gap: Array
    multiplier: Array


def constraint_scales(e: Evaluation, sizes: Sizes) -> ConstraintScales:
    """A gap is measured by the displacement it takes to close it, a multiplier by the force it exerts."""
    if not len(e.c):
        return ConstraintScales(e.c, e.c)
    gap = e.gap_sizes(sizes.length)
    gap = np.where(gap > 0, gap, 1.0)
    return ConstraintScales(gap, sizes.energy / gap)


def rounding(e: Evaluation, x: Array, sizes: Sizes, scales: ConstraintScales) -> float:
    """The largest of the `roundings`."""
    return _largest(roundings(e, x, sizes, scales))


def roundings(e: Evaluation, x: Array, sizes: Sizes, scales: ConstraintScales) -> Array:
    """What rounding of x = (q, p, ν) makes of the relative residuals of forces and of all constraints."""
    n = len(sizes.length)
    q, p, nu = np.abs(x[:n]), abs(float(x[n])), np.abs(x[n + 1 :])
    forces = abs(e.L_qq) @ q + np.abs(e.L_qp) * p + nu @ abs(e.c_q)
    gaps = abs(e.c_q) @ q + np.abs(e.c_p) * p
    return np.asarray(ROUNDINGS * EPS * np.concatenate([forces / sizes.force, gaps / scales.gap]))


def classify(
    system: System, e: Evaluation, x: Array, scales: ConstraintScales, tolerances: Tolerances
) -> ConstraintStates:
    """States of the unilateral constraints [SP1 (3.5), (3.6)] from gaps and multipliers at x = (q, p, ν)."""
    n = system.n
    q, p, nu = x[:n], float(x[n]), x[n + 1 :]
    k = len(system.bilateral)
    if not system.unilateral:
        return ConstraintStates(())
    known = ROUNDINGS * EPS * (abs(e.c_q) @ np.abs(q) + np.abs(e.c_p) * abs(p))[k:]  # what rounding makes of the gaps
    closed = e.c[k:] <= np.maximum(tolerances.gap * scales.gap[k:], known)
    loaded = nu[k:] > tolerances.force * scales.multiplier[k:]
    codes = np.where(closed, np.where(loaded, State.strong, State.weak), State.inactive)
    return ConstraintStates(tuple(int(code) for code in codes))


def working_rows(system: System, active: ConstraintStates, *, weak: bool = False) -> Indices:
    """Constraint rows treated as equations: bilateral and strongly active ones, with `weak` also weakly active."""
    k = len(system.bilateral)
    codes = np.array(active.codes, dtype=int)
    chosen = codes >= (State.weak if weak else State.strong)
    return np.concatenate([np.arange(k), k + np.flatnonzero(chosen)])


def recheck(system: System, q: Array, p: float, nu: Array, sizes: Sizes) -> Recheck:
    """Equilibrium conditions [SP1 (3.3), (3.4)] from the model alone, relative to the scales."""
    k = len(system.bilateral)
    e = system.evaluate(q, p, nu)
    _, L_q, c = system.residual(q, p, nu)
    scales = constraint_scales(e, sizes)
    gaps, lam = c[k:] / scales.gap[k:], nu[k:] / scales.multiplier[k:]
    return Recheck(
        force=_largest(np.abs(L_q) / sizes.force),
        bilateral=_largest(np.abs(c[:k]) / scales.gap[:k]),
        penetration=_largest(-gaps),
        pulling=_largest(-lam),
        complementarity=_largest(np.minimum(np.abs(gaps), np.abs(lam))),
    )


def _largest(values: Array) -> float:
    return float(np.max(values, initial=0.0)) if np.all(np.isfinite(values)) else float("inf")
