"""All solutions of a small linear complementarity problem."""

from dataclasses import dataclass

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array, Indices
from onesided.complementarity.problems import LCP
from onesided.complementarity.solution_pieces import Polyhedron, holds, piece_polyhedron, regular_point


@dataclass(frozen=True, eq=False)
class Face(Polyhedron):
    """A convex set of solutions, as large as its piece allows.

    Attributes
    ----------
    vertices : (v, n) array
    rays : (r, n) array
        Directions to infinity, with largest entry 1.
    pieces : tuple of tuples of int
        The index sets A (of z that may be positive, w_A = 0) whose solutions are exactly this face.
    """

    pieces: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class SolutionSet:
    """Every solution of one problem; empty means proven empty.

    Attributes
    ----------
    n : int
        Number of unknowns.
    isolated : tuple of Face
        Those of one point, each once, in lexicographic order.
    families : tuple of Face
        Those of dimension one and more; none lies in another.
    """

    n: int
    isolated: tuple[Face, ...]
    families: tuple[Face, ...]

    @property
    def points(self) -> Array:
        """The isolated solutions as rows of an array of shape (k, n)."""
        return np.array([face.vertices[0] for face in self.isolated]).reshape(-1, self.n)

    @property
    def empty(self) -> bool:
        """Whether there is no solution."""
        return not self.isolated and not self.families


@checked
def all_solutions(problem: LCP, tolerances: Tolerances = DEFAULT, *, limit: int = 16) -> SolutionSet:
    """Return every isolated solution and every family of solutions.

    Each of the 2ⁿ index sets A gives a polyhedron of solutions: a point, or nothing, where M_AA is regular;
    anything where it is singular. Those inside others are dropped, equal ones are merged.

    Parameters
    ----------
    problem : LCP
    tolerances : Tolerances
        `complementarity` for signs of z and w, `rank` for singular M_AA; both relative to the size of the
        data.
    limit : int
        Largest n that is enumerated, at most 24.

    Raises
    ------
    UsageError
        For n above `limit`.
    """
    from onesided.complementarity import _kernels, _pivoting

    n = problem.n
    if n > min(limit, 24):
        raise UsageError(
            "the problem is too large to enumerate",
            got=f"n = {n}, that is {2.0**n:.0f} pieces",
            expected=f"n ≤ {min(limit, 24)}",
            advice="solve(problem) for one solution, or a larger `limit`",
        )
    unit, factor = problem.scaled()
    flags = _pivoting.scan(unit.M, unit.q, (tolerances.complementarity, tolerances.rank), False)
    candidates: list[tuple[Indices, Polyhedron]] = []
    for mask in np.flatnonzero(flags):
        index_set = _pivoting.indices(int(mask), n)
        if flags[mask] == _kernels.ACCEPTED:
            body = Polyhedron(regular_point(unit, index_set, tolerances)[None, :], np.zeros((0, n)))
        else:
            body = piece_polyhedron(unit, index_set, tolerances)
        if len(body.vertices):
            candidates.append((index_set, body))
    faces = [_rescaled(face, factor) for face in _maximal(unit, candidates, tolerances)]
    faces.sort(key=lambda face: [tuple(z) for z in face.vertices] + [tuple(ray) for ray in face.rays])
    points = tuple(face for face in faces if face.dimension == 0)
    return SolutionSet(n, points, tuple(face for face in faces if face.dimension > 0))


def _maximal(problem: LCP, candidates: list[tuple[Indices, Polyhedron]], tolerances: Tolerances) -> list[Face]:
    """Drop bodies that lie in larger ones and merge equal ones."""
    kept: list[tuple[Polyhedron, list[Indices]]] = []
    families = [item for item in candidates if item[1].dimension > 0]
    for index_set, body in sorted(families, key=lambda item: -item[1].dimension):
        for other, sets in kept:
            if any(holds(problem, chosen, body, tolerances) for chosen in sets):
                if holds(problem, index_set, other, tolerances):
                    sets.append(index_set)
                break
        else:
            kept.append((body, [index_set]))
    points = [
        (index_set, body)
        for index_set, body in candidates
        if body.dimension == 0
        and not any(holds(problem, chosen, body, tolerances) for _, sets in kept for chosen in sets)
    ]
    return [
        Face(body.vertices, body.rays, pieces=tuple(tuple(int(i) for i in chosen) for chosen in sets))
        for body, sets in kept + _merged(points, tolerances)
    ]


def _merged(points: list[tuple[Indices, Polyhedron]], tolerances: Tolerances) -> list[tuple[Polyhedron, list[Indices]]]:
    """Collect the index sets of points that agree to the tolerance, relative to their size, at least one."""
    places = np.array([body.vertices[0] for _, body in points])
    kept: list[tuple[Polyhedron, list[Indices]]] = []
    left = np.ones(len(points), dtype=np.bool_)
    for k, (_, body) in enumerate(points):
        if left[k]:
            apart = np.abs(places - places[k]).max(axis=1, initial=0.0)
            size = max(1.0, float(places[k].max(initial=0.0)))
            same = left & (apart <= 100 * tolerances.complementarity * size)
            left &= ~same
            kept.append((body, [points[i][0] for i in np.flatnonzero(same)]))
    return kept


def _rescaled(face: Face, factor: float) -> Face:
    order = np.lexsort(face.rays.T[::-1]) if face.rays.size else slice(None)
    corners = np.lexsort(face.vertices.T[::-1]) if face.vertices.size else slice(None)
    return Face(face.vertices[corners] * factor, face.rays[order], pieces=face.pieces)
