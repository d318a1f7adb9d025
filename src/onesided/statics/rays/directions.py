"""Candidate directions of a piece: rates of its constraints, and which of them are zero."""

from dataclasses import dataclass

import numpy as np

from onesided.base.tolerances import ROUNDING, SOME_DIGITS
from onesided.base.types import Array
from onesided.statics.curves.curve import Curve
from onesided.statics.equilibria.place import Standpoint
from onesided.statics.rays.branching import Branch

CANCELLED = SOME_DIGITS  # share of its terms below which a rate of a force may be what rounding leaves of them


@dataclass(frozen=True)
class Direction:
    """A candidate ray: packed derivative of (q, p, ν), rates of all constraints, and the piece it belongs to."""

    piece: Curve
    t: Array
    x_dot: Array
    c_dot: Array
    continuum: bool = False
    branch: Branch | None = None


def direction_of(where: Standpoint, piece: Curve, t: Array, continuum: bool) -> Direction:
    """The direction with a scaled tangent t."""
    e = piece.evaluate(where.x)
    x_dot = piece.packed(t)
    c_dot = e.constraint_rates(x_dot[: piece.n], x_dot[piece.n])
    return Direction(piece, t, x_dot, c_dot, continuum)


def rate_of(where: Standpoint, d: Direction, j: int) -> float:
    """Scaled λ̇_j where j is closed in the piece, ġ_j where it is open."""
    if j in d.piece.rows:
        return float(d.x_dot[d.piece.n + 1 + j] / where.scales.multiplier[j])
    return float(d.c_dot[j] / where.scales.gap[j])


def keeps_signs(where: Standpoint, d: Direction) -> bool:
    """Whether closed constraints begin to press and open ones to open, to first order."""
    return all(rate_of(where, d, int(j)) > 0.0 or vanishes(where, d, int(j)) for j in where.weak)


def vanishes(where: Standpoint, d: Direction, j: int) -> bool:
    """Whether the rate of a weakly active constraint is zero: small, and of a force what is left of larger terms.

    Where stiff directions set the scale of forces, those of soft ones are small without being none.
    """
    rate = abs(rate_of(where, d, j))
    if rate > where.tolerances.singularity:
        return False
    if d.piece.large or j not in d.piece.rows or rate <= ROUNDING:
        return True
    return bool(rate <= CANCELLED * _terms(where, d)[np.flatnonzero(d.piece.rows == j)[0]])


def _terms(where: Standpoint, d: Direction) -> Array:
    """Sizes of the terms whose sum is λ̇ of the closed constraints: pseudo-inverse, stiffness and load, absolute."""
    piece, sizes = d.piece, where.sizes
    e, n = piece.evaluate(where.x), piece.n
    E = e.c_q[piece.rows] * sizes.length / where.scales.gap[piece.rows][:, None]
    forces = np.abs(sizes.hessian(e.L_qq)) @ np.abs(d.t[:n]) + np.abs(e.L_qp * sizes.control / sizes.force * d.t[n])
    return np.asarray(np.abs(np.linalg.pinv(E)).T @ forces)
