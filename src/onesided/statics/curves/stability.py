"""Stability: degree of instability on the strongly active set, strict minima on the admissible cone."""

from itertools import combinations
from typing import Any

import numpy as np

from onesided import linalg
from onesided.base.arguments import checked
from onesided.base.names import unknown_name
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array, Indices
from onesided.evaluation.equilibrium_blocks import Evaluation
from onesided.linalg.polyhedra import balanced_rows, cone_generators
from onesided.results import ConstraintStates, Path
from onesided.statics.curves.activity import constraint_scales, working_rows
from onesided.statics.curves.large import LargeCurve, make_curve
from onesided.statics.curves.large_spectrum import Deflated
from onesided.statics.curves.spectrum import Spectrum, spectrum_at
from onesided.system.sizes import Sizes
from onesided.system.system import System

WEAK_LIMIT = 14


def stability_of(
    system: System, e: Evaluation, active: ConstraintStates, sizes: Sizes, tolerances: Tolerances
) -> tuple[int, bool | None]:
    """Degree of instability, and whether the point is a strict minimum; of a large system by one factorisation."""
    if not system.derivatives.large:
        known = system, e, active, sizes, tolerances
        return degree_of_instability(*known), is_strict_minimum(*known)
    curve = make_curve(system, working_rows(system, active), sizes, constraint_scales(e, sizes))
    negative, neutral = curve.modes(e)
    return negative, True if not negative and not neutral else None if len(active.weak) else False


def degree_of_instability(
    system: System, e: Evaluation, active: ConstraintStates, sizes: Sizes, tolerances: Tolerances
) -> int:
    """Number of eigenvalues of the Hessian reduced on the strongly active set that are clearly negative."""
    rows = held_rows(system, e, active, sizes, tolerances)
    return spectrum_at(e, e.c_q[rows], sizes, tolerances).negative(tolerances)


def held_rows(system: System, e: Evaluation, active: ConstraintStates, sizes: Sizes, tolerances: Tolerances) -> Indices:
    """Constraints that no admissible motion leaves: strongly active ones, and those that other reactions would load.

    A block on four feet may stand on two of them, of a diagonal; it cannot roll about it.
    """
    strong, closed = working_rows(system, active), working_rows(system, active, weak=True)
    if len(strong) == len(closed):
        return strong
    free = np.isin(closed, strong)
    return closed[free | balanced_rows(e.c_q[closed] * sizes.length, free, tolerances.rank)]


@checked
def instability(system: System, path: Path, *, hold: str | None = None, tolerances: Tolerances = DEFAULT) -> Indices:
    """Degree of instability along a path under control by p, or with one coordinate held (displacement control).

    Parameters
    ----------
    hold : name of the coordinate that a stiff machine prescribes while p is what it takes; None for control by p.
    """
    if hold is not None and hold not in system.coordinates:
        raise unknown_name("coordinate", hold, system.coordinates)
    sizes = system.sizes(path.q[0], float(path.p[0]))
    held = np.zeros((1 if hold else 0, system.n))
    held[:, [system.coordinates.index(hold)] if hold else []] = 1.0
    degrees = []
    for q, p, mu, lam, codes in zip(path.q, path.p, path.mu, path.lam, path.codes, strict=True):
        e = system.evaluate(q, float(p), np.concatenate([mu, lam]))
        active = ConstraintStates(tuple(int(c) for c in codes))
        if system.derivatives.large:
            rows = working_rows(system, active)
            degrees.append(_degree_holding(LargeCurve(system, rows, sizes, constraint_scales(e, sizes)), e, held))
            continue
        rows = held_rows(system, e, active, sizes, tolerances)
        degrees.append(spectrum_at(e, np.vstack([e.c_q[rows], held]), sizes, tolerances).negative(tolerances))
    return np.array(degrees, dtype=np.intp)


def _degree_holding(curve: LargeCurve, e: Any, held: Array) -> int:
    """Degree of instability of a large system with some directions held, from inertia alone."""
    border = Deflated(curve, held.T)
    border.factor(e)
    return border.outside


def is_strict_minimum(
    system: System, e: Evaluation, active: ConstraintStates, sizes: Sizes, tolerances: Tolerances
) -> bool | None:
    """Second-order condition [SP1 (3.19), (3.20)]: zᵀL_qq z > 0 on the cone of admissible directions z.

    z lies in the null space of bilateral and strongly active constraints and does not violate the weakly active ones.
    With r weakly active constraints, 2ʳ faces are examined; None when r is too large.
    """
    strong = working_rows(system, active)
    modes = spectrum_at(e, e.c_q[strong], sizes, tolerances)
    weak = len(system.bilateral) + active.weak
    if not len(weak) or modes.positive(tolerances):
        return modes.positive(tolerances)
    if len(weak) > WEAK_LIMIT:
        return None
    return _falling_in(modes, e.c_q[weak] * sizes.length, tolerances) is None


def falling_direction(
    e: Evaluation, strong: Indices, weak: Indices, sizes: Sizes, tolerances: Tolerances
) -> Array | None:
    """A scaled direction without positive stiffness that no weakly active constraint forbids, or None."""
    if len(weak) > WEAK_LIMIT:
        return None
    return _falling_in(spectrum_at(e, e.c_q[strong], sizes, tolerances), e.c_q[weak] * sizes.length, tolerances)


def _falling_in(modes: Spectrum, rows: Array, tolerances: Tolerances) -> Array | None:
    """A combination of modes without positive stiffness that no row forbids."""
    if not len(modes.kappa):
        return None
    small = float(np.max(modes.floor(tolerances)))
    x = _falling_on_cone(np.diag(modes.kappa), rows @ modes.modes, small, tolerances.rank)
    return None if x is None else np.asarray(modes.modes @ x)


def _falling_on_cone(H: Array, A: Array, small: float, rank: float) -> Array | None:
    """Some x ≠ 0 with A x ≥ 0 and not xᵀHx > 0.

    The smallest quotient on the cone is reached inside some face {A_B x = 0}, at an eigenvector of H reduced to it. So
    there is one exactly when the non-positive eigenvectors of some face span an admissible direction.
    """
    for size in range(len(A) + 1):
        for face in combinations(range(len(A)), size):
            N = linalg.null_space(A[list(face)], rank=rank)
            values, vectors = np.linalg.eigh(N.T @ H @ N) if N.shape[1] else (np.zeros(0), np.zeros((0, 0)))
            falling = N @ vectors[:, values <= small]
            if falling.shape[1]:
                cone = cone_generators(np.zeros((0, falling.shape[1])), A @ falling, rank)
                for x in (*cone.lines, *cone.rays):
                    return np.asarray(falling @ x)
    return None
