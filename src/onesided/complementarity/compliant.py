"""Of all impulses that meet Coulomb's law, those of equally compliant contacts, in the limit of no compliance.

Contacts that depend on each other (four feet of one plate) share what they must do in more than one way; where they
slide in different directions, the motion depends on how. With w + ε P in place of w the impulses are unique; they are
followed to a small ε, from where on P = P₀ + O(ε), and then to w itself without what would not move anything:

    P_N → max(0, −w_N/ε):   normal forces as of equal springs under the contacts, whose stiffness grows without bound.
"""

import numpy as np

from onesided.base.types import Array
from onesided.complementarity.friction import FrictionProblem, newton_from, solve_friction

GIVES = (2.0**-13, 2.0**-19, 2.0**-25)  # compliances, relative to that of the contacts; the last is near √ε
DEPENDENT = 2.0**-32  # singular values of D below this share of the largest are zero
LAST = 6  # Newton steps without compliance
FINE = 2.0**-46  # residual with compliance: noise of it is larger by its inverse
IDLE = 2.0**-32  # of the largest force: contacts that press less leave their share to others


def as_compliant(problem: FrictionProblem, P: Array, *, resting: float, tol: float) -> tuple[Array, float]:
    """The impulses of equally compliant contacts and their residual, from a solution P; P itself where it is unique.

    Velocities of gaps below `resting` are zero. Where the impulses are not found to `tol`, P and infinity are returned.
    """
    if not _dependent(problem, P, resting):
        return P, problem.residual(P)
    found, stiff = P, float(np.max(np.diagonal(problem.D)))
    for give in GIVES:
        found, off = solve_friction(problem.shifted(give * stiff), found, tol=FINE)
        if off > tol:
            return P, np.inf
    found = _without_compliance(problem, found)
    off = problem.residual(found)
    return (found, off) if off <= tol else (P, np.inf)


def _without_compliance(problem: FrictionProblem, soft: Array) -> Array:
    """Impulses of the contacts that press with a little compliance, without it."""
    normal = soft[problem.normal]
    presses = normal > IDLE * float(np.max(normal))
    rows = np.flatnonzero(np.repeat(presses, 1 + problem.directions))
    some = FrictionProblem(
        problem.D[np.ix_(rows, rows)], problem.u[rows], problem.mu[presses], problem.directions[presses], problem.scale
    )
    found = np.zeros_like(soft)
    found[rows], _ = newton_from(some, soft[rows], ((GIVES[-1], LAST),), 0.0)
    return found


def _dependent(problem: FrictionProblem, P: Array, resting: float) -> bool:
    """Whether contacts that touch and do not separate depend on each other."""
    normal = problem.normal
    w = problem.D @ P + problem.u
    rows = np.flatnonzero(np.repeat((P[normal] > 0.0) | (w[normal] <= resting), 1 + problem.directions))
    if len(rows) < 2:
        return False
    sizes = np.linalg.svd(problem.D[np.ix_(rows, rows)], compute_uv=False)
    return bool(sizes[-1] <= DEPENDENT * sizes[0])
