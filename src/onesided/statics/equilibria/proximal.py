"""One step of a descent at fixed p: the minimum near by of U(z + d) + σ/2 |d|², with contacts held exactly.

That is a step 1/σ of implicit Euler along the overdamped motion ż = −U_z + Eᵀν, and for σ = 0 Newton's method. Stiff
parts are in equilibrium at its end, so narrow curved valleys of the energy are followed with long steps.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from onesided.base.tolerances import EPS, HALF_DIGITS, QUARTER_DIGITS
from onesided.base.types import Array, Mask
from onesided.statics.equilibria.clearance import keeps_clear
from onesided.statics.equilibria.settling import LocalModel, Move, quadratic_step

CORRECTIONS = 12  # Newton steps of one proximal step
SLOW = 0.5  # a correction that is not smaller than this share of the last: the step is too long
FAST = 0.4  # a correction with a kept factorisation must be smaller than this share
FASTER = 0.1  # the same of the last steps, which go down to round-off
LOOSE = 0.1  # share of the step to which it is computed: it is one of many
ALMOST = HALF_DIGITS  # Newton steps below this that no longer shrink are round-off
FLAT = QUARTER_DIGITS  # share of the steepest slope by which the energy may rise on the way
LOOKS = np.linspace(0.125, 0.875, 7)  # fractions of a step at which the slope is looked at
CLEAR = 1000.0  # times round-off: a difference of energies that is believed
MENDED = 2.0  # times the distance to where constraints are met: a step that does no more than that
SHORTER = 4.0  # how much larger a shift is tried after a step that failed


@dataclass(frozen=True, eq=False)
class ProximalStep:
    """A step that was computed: its end, first guess t and whole displacement d, how fast corrections shrank."""

    start: LocalModel
    end: LocalModel
    t: Array
    d: Array
    ratio: float
    closed: Mask
    shift: float


class Refusal(NamedTuple):
    """A step that cannot be taken, and the shift to try next."""

    shift: float


def proximal_step(here: LocalModel, shift: float, closed: Mask, reach: float) -> ProximalStep | Refusal:
    """Newton's method on the conditions of the minimum; refused where it is not definite, too long or slow."""
    local, d, ratio, size, t = here, np.zeros_like(here.z), 0.0, np.inf, np.zeros_like(here.z)
    keeps = here.problem.programme.keeps
    for i in range(CORRECTIONS):
        move = _correction(local, shift, d, closed, size if i and keeps else None)
        if move is None:
            return Refusal(SHORTER * shift)
        previous, size = size, _largest(move.d)
        if i == 0:
            t = move.d
            if size > reach:
                return Refusal(_shift_for(here, shift, t, size / reach))
        else:
            ratio = max(ratio, size / previous)
            if size > SLOW * previous:
                if size > ALMOST:
                    return Refusal(SHORTER * shift)
                local = here.problem.at(local.z, move.nu)
                break
        d, closed = d + move.d, move.closed
        local = here.problem.at(here.z + d, move.nu)
        if not local.finite:
            return Refusal(SHORTER * shift)
        if size <= (LOOSE * _largest(d) if shift else 4 * EPS * max(1.0, _largest(local.z))):
            break
    else:
        if shift or size > ALMOST:
            return Refusal(SHORTER * shift)
    return ProximalStep(here, local, t, d, ratio, closed, shift)


def _shift_for(here: LocalModel, shift: float, t: Array, excess: float) -> float:
    """The shift that makes a step shorter by a factor, as seen along it."""
    stiffness = stiffness_along(here, t)
    return max(excess * (shift + stiffness) - stiffness, 1.25 * shift)


def stiffness_along(here: LocalModel, t: Array) -> float:
    """Stiffness tᵀH t/tᵀt in the direction t."""
    size = float(t @ t)
    return float(t @ here.stiffness_times(t)) / size if size > 0.0 else 0.0


def _correction(local: LocalModel, shift: float, d: Array, closed: Mask, previous: float | None) -> Move | None:
    """The next correction; with the factorisation at hand where that converges quickly."""
    force = local.f + shift * d
    if previous is not None:
        move = quadratic_step(local, shift, force, closed, keep=True)
        if move is not None and _largest(move.d) <= (FAST if shift else FASTER) * previous:
            return move
    return quadratic_step(local, shift, force, closed)


def lowers_energy(step: ProximalStep) -> bool:
    """Whether the energy falls all along a step, and by as much as the drag takes up."""
    if step.shift == 0.0 and _largest(step.d) <= ALMOST:  # the last correction: energies say nothing about it
        return True
    if _mends(step):
        return True
    need = 0.25 * step.shift * float(step.d @ step.d)
    value, noise = gain(step.start, step.end)
    return value >= need - noise and _falls_on_the_way(step) and keeps_clear(step.start, step.end, step.closed)


def _mends(step: ProximalStep) -> bool:
    """Whether a step is no longer than it takes to meet constraints that were a little violated: that costs energy."""
    off = step.start.violation()
    if not off.any():
        return False
    needed = float(np.max(off / step.start.steepness()))
    return _largest(step.d) <= MENDED * needed <= FLAT and float(np.max(step.end.violation())) < float(np.max(off))


def gain(here: LocalModel, there: LocalModel) -> tuple[float, float]:
    """Fall of the energy between two points, and its round-off; from the forces where round-off hides energies."""
    d, nu = there.z - here.z, there.nu
    value = _worth(here, nu) - _worth(there, nu)
    noise = EPS * (abs(here.U) + abs(there.U) + float(np.abs(here.f) @ np.abs(here.z)))
    if abs(value) > CLEAR * noise:
        return value, 0.0
    balance = 0.5 * (here.f - here.pull(nu) + there.f - there.pull(nu))
    return -float(balance @ d), 16 * float((here.noise() + there.noise()) @ np.abs(d))


def _worth(here: LocalModel, nu: Array) -> float:
    """The energy with small violations of the constraints mended, to first order."""
    return here.U - float(nu @ np.where(_violated(here, here.c), here.c, 0.0))


def _violated(here: LocalModel, c: Array) -> Mask:
    """Constraints that are not met: bilateral ones never quite are."""
    violated = c < 0.0
    violated[: here.problem.k] = True
    return np.asarray(violated)


def _falls_on_the_way(step: ProximalStep) -> bool:
    """Whether the slope is negative along z + θt + θ²(d − t): no hump is stepped over."""
    keeps, bend = step.start.problem.programme.keeps, step.d - step.t
    points = [(step.start.z + at * step.t + at * at * bend, step.t + 2 * at * bend) for at in _looks(keeps)]
    slopes = [_slope(step, z, way) for z, way in points]
    noise = 16 * float(step.end.noise() @ np.abs(step.d))
    steepest = max(abs(slope) for slope in slopes)
    return bool(np.isfinite(steepest)) and max(slopes) <= FLAT * steepest + noise


def _looks(keeps: bool) -> Array:
    """Fewer where every look is expensive."""
    return LOOKS[1::2] if keeps else LOOKS


def _slope(step: ProximalStep, z: Array, way: Array) -> float:
    """Slope of the energy along a way, with violations of the constraints mended, those of rounding as well."""
    problem = step.start.problem
    force, c = problem.forces(z, problem.none)
    noise = ALMOST * _largest(step.d) + 16 * EPS * _largest(z) * step.end.steepness()
    violated = _violated(step.start, c - noise) & (step.end.nu != 0.0)
    if violated.any():
        force, _ = problem.forces(z, np.where(violated, step.end.nu, 0.0))
    return float(force @ way)


def restored(here: LocalModel) -> LocalModel | None:
    """The nearest admissible point, by the shortest steps that meet the linearised constraints."""
    closed = here.problem.closed(here)
    for _ in range(5 * CORRECTIONS):
        off = float(np.max(here.violation(), initial=0.0))
        if off <= ALMOST * QUARTER_DIGITS:
            return here
        move = quadratic_step(here, 1.0, np.zeros_like(here.z), closed, stiff=False)
        there = None if move is None else _less_violated(here, move.d, off)
        if there is None or move is None:
            return here if off <= ALMOST else None
        here, closed = there, move.closed
    return here if off <= ALMOST else None


def _less_violated(here: LocalModel, d: Array, off: float) -> LocalModel | None:
    """The point along d at which constraints are clearly less violated."""
    fraction = 1.0
    for _ in range(CORRECTIONS):
        there = here.problem.at(here.z + fraction * d, here.nu)
        if there.finite and float(np.max(there.violation())) <= (1.0 - 0.25 * fraction) * off:
            return there
        fraction *= 0.5
    return None


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values), initial=0.0))
