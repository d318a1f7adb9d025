"""Candidate directions of a piece: rates of its constraints, and which of them are zero."""

from dataclasses import dataclass

import numpy as np

from onesided.base.tolerances import EPS
from onesided.base.types import Array
from onesided.statics.curves.curve import Curve
from onesided.statics.equilibria.place import Standpoint
from onesided.statics.rays.branching import Branch

SAFETY = 16.0  # of an estimate of rounding


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
    """Whether the rate of a weakly active constraint is zero: small, and of a force also for those who resist it.

    Where stiff directions set the scale of forces, those of soft ones are small without being none.
    """
    rate = abs(rate_of(where, d, j))
    if rate > where.tolerances.singularity:
        return False
    if d.piece.large or j not in d.piece.rows:
        return True
    e = d.piece.evaluate(where.x)
    softness = float(where.sizes.softness(e.c_q[[j]] * where.sizes.length)[0])
    return rate * softness <= where.tolerances.singularity or rate <= _rounding_of_force(where, d, j)


def _rounding_of_force(where: Standpoint, d: Direction, j: int) -> float:
    """What rounding makes of λ̇_j, scaled: that of the terms of all equations, as far as they act on this force."""
    piece = d.piece
    matrix = piece.matrix(piece.evaluate(where.x), d.t)
    terms = np.abs(matrix[:-1]) @ np.abs(d.t)
    unit = np.eye(1, piece.size, piece.n + 1 + int(np.flatnonzero(piece.rows == j)[0]))[0]
    influence = np.linalg.lstsq(matrix.T, unit, rcond=None)[0][:-1]
    return float(SAFETY * EPS * (np.abs(influence) @ terms))
