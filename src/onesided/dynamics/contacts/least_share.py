"""Friction of contacts that stick, shared so that the largest part |T|/(μ N) of a limit is as small as possible.

With the limits b = μ N and what friction must do together, Uᵀ T = g, the centres of

    t/ε − Σ log(t² b² − |T|²),   Uᵀ T = g,

go to the smallest t as ε → 0, and of the T that have it to those that stay farthest from all limits: what is left open
by the largest parts is decided too. They are smooth functions of b and g, which the watch over limits needs. The value
at ε = 0 is extrapolated from two of them.
"""

import numpy as np

from onesided.base.tolerances import SMALL
from onesided.base.types import Array, Indices
from onesided.complementarity import kernels
from onesided.linalg import null_space

WEIGHTS = 0.01 ** np.arange(5.0)  # ε, relative to the part to begin with
DIRECTIONS = 2  # of slip, at most


def least_share(U: Array, g: Array, sizes: Indices, bears: Array) -> Array:
    """T with Uᵀ T = g and the largest |Tᵢ|/bearsᵢ least, in blocks of given sizes; U has orthonormal columns."""
    plain, most = U @ g, float(np.max(bears, initial=0.0))
    if not most > 0.0 or not np.any(plain):
        return np.asarray(plain)
    b = np.maximum(bears, SMALL * most) / most  # those that bear nothing have next to no friction
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
    rows = np.where(np.arange(DIRECTIONS) < sizes[:, None], starts[:, None] + np.arange(DIRECTIONS), -1)
    size = float(np.max(np.sqrt(np.add.reduceat(plain**2, starts)) / b))
    V = np.ascontiguousarray(null_space(U.T))
    begin = np.append(np.zeros(V.shape[1]), 2.0)
    T = size * kernels.stuck_forces.least_part((plain / size, V, rows, b), begin, WEIGHTS)
    return np.asarray(T + U @ (g - U.T @ T))
