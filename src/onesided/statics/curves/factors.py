"""What factors of a matrix give besides solutions: determinants and inertia."""

import math
from typing import Any

import numpy as np
from scipy.linalg import lapack

from onesided.base.tolerances import EPS
from onesided.base.types import Array, Indices, Mask
from onesided.evaluation.native_factors import factors_of_many

FEW = 12  # rows up to which numbers one by one take less time than arrays
TINY = EPS**16  # products of pivots between this and its inverse neither underflow nor overflow
Factors = tuple[Array, Indices]


def solve(M: Array, right: Array) -> tuple[Array, Factors | None]:
    """Solution of M x = right (M in Fortran order, overwritten) and the LU factors; None where M is singular."""
    lu, pivots, solution, info = lapack.dgesv(M, right, overwrite_a=1)
    return solution, (lu, pivots) if info <= 0 else None


def least_squares(M: Array, right: Array) -> Array:
    """Smallest solution where the bordered matrix is exactly singular: on a bifurcation point."""
    if not np.all(np.isfinite(M)):
        return np.full(right.shape, np.nan)
    return np.asarray(np.linalg.lstsq(M, right, rcond=None)[0])


def determinant(factors: Factors | None) -> tuple[float, float]:
    """Sign and logarithm of a determinant; (0, NaN) of a singular matrix."""
    if factors is None:
        return 0.0, math.nan
    lu, pivots = factors
    diagonal = lu.diagonal()
    if len(pivots) <= FEW:
        product = math.prod(diagonal.tolist())
        size = abs(product)
        if TINY < size < 1.0 / TINY:
            swaps = sum(i != pivot for i, pivot in enumerate(pivots.tolist()))
            return math.copysign(1.0, product) * (-1.0 if swaps % 2 else 1.0), math.log(size)
    swaps = np.count_nonzero(pivots != np.arange(len(pivots)))
    flips = int(swaps + np.count_nonzero(diagonal < 0))
    return -1.0 if flips % 2 else 1.0, float(np.log(abs(diagonal)).sum())


def symmetric_factors(K: Array) -> Factors:
    """Factors of K (lower triangle, Fortran order, overwritten) and pivots."""
    ldu, pivots, _ = lapack.dsytrf(K, lower=1, lwork=16 * len(K), overwrite_a=1)
    return ldu, pivots


def solve_symmetric(factors: Factors, right: Array) -> Array:
    """Solution of K x = right from the factors of a regular K."""
    return np.asarray(lapack.dsytrs(*factors, right, lower=1)[0])


def inertia(diagonal: Array, pivots: Indices) -> tuple[Any, Any]:
    """Number of negative eigenvalues, and whether there is a zero one, from the factors' diagonals and pivots."""
    small = diagonal.shape[-1] * EPS
    if len(pivots) <= FEW and diagonal.ndim == 1:
        alone = [value for value, pivot in zip(diagonal.tolist(), pivots.tolist(), strict=True) if pivot > 0]
        pairs = (len(pivots) - len(alone)) // 2  # a 2×2 pivot has one eigenvalue of each sign
        return sum(value < -small for value in alone) + pairs, any(abs(value) <= small for value in alone)
    single = pivots > 0
    pairs = (~single).sum(axis=-1) // 2
    return ((diagonal < -small) & single).sum(axis=-1) + pairs, ((abs(diagonal) <= small) & single).any(axis=-1)


def inertia_of_many(K: Array) -> tuple[Indices, Mask, list[Factors]]:
    """The same for every K[i] (both triangles, overwritten), and the factors."""
    ldu, pivots = factors_of_many(K)
    return *inertia(ldu.diagonal(axis1=1, axis2=2), pivots), list(zip(ldu, pivots, strict=True))
