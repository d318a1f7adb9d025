"""Coulomb friction with cones of several edges, as a linear complementarity problem: exact in the plane.

With friction P_T = Σ β_j d_j along directions d_j (both of them in the plane, evenly spread in space), and γ the speed
of slip [Stewart and Trinkle]:

    w_N ≥ 0 ⊥ P_N ≥ 0,   d_j·w_T + γ ≥ 0 ⊥ β_j ≥ 0,   μ P_N − Σ β_j ≥ 0 ⊥ γ ≥ 0.

The matrix is copositive where D is positive semidefinite, whether or not contacts depend on each other: Lemke's method
ends at a solution.
"""

from typing import TYPE_CHECKING

import numpy as np

from onesided.base.tolerances import DEFAULT
from onesided.base.types import Array, Indices
from onesided.complementarity.lemke import Lemke
from onesided.complementarity.problems import LCP

if TYPE_CHECKING:
    from onesided.complementarity.friction import FrictionProblem

EDGES = 8  # of a cone in space


def polyhedral(problem: "FrictionProblem", turned: Array | None = None) -> Array | None:
    """Impulses for cones with edges, or None where pivoting ends without; `turned` (c,) are angles of first edges."""
    D = problem.D if isinstance(problem.D, np.ndarray) else problem.D.toarray()
    stiff, size = float(np.max(np.diagonal(D))), max(float(np.max(np.abs(problem.u))), problem.scale)
    if not (stiff > 0.0 and size > 0.0 and np.all(np.isfinite(problem.mu))):
        return None
    normal, B, owner = _edges(problem, np.zeros(len(problem.mu)) if turned is None else turned)
    rough = np.flatnonzero(problem.directions > 0)
    m, k, r = len(normal), len(owner), len(rough)
    A, q = np.zeros((m + k + r, m + k + r)), np.zeros(m + k + r)
    E = np.hstack([np.eye(len(D))[:, normal], B])
    A[: m + k, : m + k] = E.T @ (D / stiff) @ E
    q[: m + k] = E.T @ problem.u / size
    belongs = (owner[:, None] == rough[None, :]).astype(float)
    A[m : m + k, m + k :], A[m + k :, m : m + k] = belongs, -belongs.T
    A[m + k + np.arange(r), rough] = problem.mu[rough]
    found = Lemke().attempt(LCP(A, q), None, DEFAULT)
    if not found.status.ok or not np.all(np.isfinite(found.x)):
        return None
    return np.asarray(E @ found.x[: m + k]) * size / stiff


def _edges(problem: "FrictionProblem", turned: Array) -> tuple[Indices, Array, Indices]:
    """Rows of normals, directions of friction as columns, and whose they are."""
    normal, columns, owner = problem.normal, [], []
    for i, (n, d) in enumerate(zip(normal, problem.directions, strict=True)):
        angles = np.array([0.0, np.pi]) if d == 1 else turned[i] + 2.0 * np.pi / EDGES * np.arange(EDGES)
        for angle in angles if d else ():
            column = np.zeros(len(problem.u))
            column[n + 1 : n + 1 + d] = (np.cos(angle), np.sin(angle))[:d]
            columns.append(column)
            owner.append(i)
    return normal, np.array(columns).reshape(-1, len(problem.u)).T, np.array(owner, dtype=np.intp)
