"""Complementary pieces: for an index set A, the polyhedron {z_A ≥ 0, w_A = 0, the other z = 0, their w ≥ 0}."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from onesided.base.tolerances import Tolerances
from onesided.base.types import Array, Indices, Mask
from onesided.complementarity import kernels
from onesided.complementarity.problems import LCP
from onesided.linalg.polyhedra import cone_generators


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """Convex hull of `vertices` plus all combinations of `rays` with coefficients ≥ 0; generators are rows."""

    vertices: Array
    rays: Array

    @cached_property
    def dimension(self) -> int:
        """Dimension of the smallest flat that holds it; −1 when it is empty."""
        if not len(self.vertices):
            return -1
        spread = np.vstack([self.vertices[1:] - self.vertices[0], self.rays])
        lengths = np.linalg.norm(spread, axis=1, keepdims=True)
        return int(np.linalg.matrix_rank(spread / np.where(lengths > 0, lengths, 1.0))) if spread.size else 0


def as_mask(index_set: Indices, n: int) -> Mask:
    """Return the flags of an index set."""
    flags = np.zeros(n, dtype=np.bool_)
    flags[index_set] = True
    return flags


def regular_point(problem: LCP, index_set: Indices, tolerances: Tolerances) -> Array:
    """Return the only point of a piece with regular M_AA, for data of size one."""
    z = np.zeros(problem.n)
    z[index_set] = kernels.lcp.solve_piece(*problem.writable(), index_set, tolerances.rank)[0]
    return clean(z, tolerances)


def clean(z: Array, tolerances: Tolerances) -> Array:
    """Set to zero what is zero by the tolerance, and what is negative within it."""
    bound = tolerances.complementarity * max(1.0, float(np.abs(z).max(initial=0.0)))
    return np.where(z <= bound, 0.0, z)


def piece_polyhedron(problem: LCP, index_set: Indices, tolerances: Tolerances) -> Polyhedron:
    """Return the polyhedron of a piece, whatever the rank of M_AA, for data of size one.

    It is the slice t = 1 of the cone M_AA z_A + q_A t = 0, z_A ≥ 0, t ≥ 0, M_rA z_A + q_r t ≥ 0 (r: the
    rest): rays of the cone with t > 0 are vertices, those with t = 0 are directions to infinity.
    """
    on = as_mask(index_set, problem.n)
    columns = np.column_stack([problem.M[:, on], problem.q])
    cone = cone_generators(columns[on], np.vstack([np.eye(columns.shape[1]), columns[~on]]), tolerances.rank)
    height = cone.rays[:, -1]
    finite = height > tolerances.rank
    vertices, rays = (np.zeros((int(count), problem.n)) for count in (finite.sum(), (~finite).sum()))
    vertices[:, on] = cone.rays[finite, :-1] / height[finite, None]
    rays[:, on] = cone.rays[~finite, :-1]
    rays = np.where(rays <= tolerances.rank, 0.0, rays)
    rays /= rays.max(axis=1, keepdims=True, initial=tolerances.rank)
    cleaned = (clean(z, tolerances) for z in vertices)
    # A vertex almost at infinity is a ray whose t is round-off: it does not pass the recheck.
    kept = [z for z in cleaned if problem.relative_residual(z) <= tolerances.complementarity]
    return Polyhedron(np.array(kept).reshape(-1, problem.n), rays)


def holds(problem: LCP, index_set: Indices, body: Polyhedron, tolerances: Tolerances) -> bool:
    """Whether the piece of `index_set` contains a polyhedron, for data of size one."""
    on = as_mask(index_set, problem.n)
    tol = 10 * tolerances.complementarity
    for generators, level in ((body.vertices, 1.0), (body.rays, 0.0)):
        w = generators @ problem.M.T + level * problem.q
        bound = tol * np.maximum(1.0, np.abs(generators).max(axis=1, initial=0.0))[:, None]
        inside = (w >= -bound) & (generators >= -bound)
        zero = np.where(on, np.abs(w), np.abs(generators)) <= bound
        if not (inside & zero).all():
            return False
    return True
