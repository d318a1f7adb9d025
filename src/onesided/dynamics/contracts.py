"""What a model promises about motion, checked at random places about the start.

Kinetic energy is quadratic, rolling conditions and slips are linear in the velocities (a constant may be added), and a
gap with friction is a distance of which the slip is the tangential velocity.
"""

from itertools import combinations

import numpy as np

from onesided.base.errors import ModelError
from onesided.base.tolerances import EPS
from onesided.base.types import Array
from onesided.evaluation.motion_terms import Terms
from onesided.system.contact_equations import ContactEquations
from onesided.system.equations import Equations
from onesided.system.motion_check import SAME, check_mass

PROBES, SPREAD = 3, 0.05  # places that are looked at, and their distance from the start, relative to the sizes
MOST_COORDINATES, MOST_CONTACTS, MOST_MOVED = 60, 64, 12  # beyond them the check of distances takes too long


def check_contracts(equations: Equations, t: float, q: Array, v: Array, sizes: Array) -> None:
    """Refuse a model that does not keep what it promises about velocities."""
    if equations.pattern is not None:
        return
    check_mass(equations.system, q)
    rng = np.random.default_rng(0)
    speed = float(np.max(np.abs(v), initial=0.0)) or 1.0
    for _ in range(PROBES):
        shift = SPREAD * sizes * rng.uniform(-1.0, 1.0, equations.n)
        first, second = (speed * rng.uniform(-1.0, 1.0, equations.n) for _ in range(2))
        a, b = (equations.terms(t, q, shift, u, np.zeros(equations.m)) for u in (first, second))
        if not all(np.all(np.isfinite(x)) for x in (a.M, b.M, a.G, b.G, a.c_dot, b.c_dot)):
            continue
        _check_kinetic(a, b)
        _check_linear(equations, (a, b), second - first)


def _check_kinetic(a: Terms, b: Terms) -> None:
    size = float(np.max(np.abs(a.M)))
    if not np.max(np.abs(a.M - b.M)) <= SAME * size:
        raise ModelError(
            "the kinetic energy is not quadratic in the velocities",
            got=f"a mass matrix that changes with them by {np.max(np.abs(a.M - b.M)) / size:.2g} (relative)",
            expected="½ vᵀ M(q) v",
            advice="put forces that depend on velocities into `force`",
        )


def _check_linear(equations: Equations, pair: tuple[Terms, Terms], change: Array) -> None:
    """Rolling conditions and slips: c_dot of two velocities differ by G times their difference, the same G for both."""
    a, b = pair
    for i in range(equations.m, equations.rows):
        terms = np.abs(a.G[i]) @ np.abs(change) + abs(a.c_dot[i]) + abs(b.c_dot[i])
        bent = np.max(np.abs(a.G[i] - b.G[i])) > SAME * np.max(np.abs(a.G[i]) + np.abs(b.G[i]))
        if bent or not abs(b.c_dot[i] - a.c_dot[i] - a.G[i] @ change) <= SAME * terms:
            kind = "" if equations.names[i].startswith("slip of ") else "non-holonomic constraint "
            raise ModelError(
                f"{kind}'{equations.names[i]}' is not linear in v",
                got="a gradient by v that changes with v",
                expected="a function (q, v, th) that is linear in v: a velocity",
                advice="leave out powers, absolute values and signs of velocities",
            )


def check_distances(equations: ContactEquations, t: float, q: Array, v: Array, sizes: Array) -> None:
    """Refuse contacts with friction whose gap and slip do not measure the same point in the same unit.

    Some coordinates move a point freely; by these a distance and its tangential velocities have gradients of equal
    length at right angles, in the coordinates or in the metric of the mass. Where coordinates of equal mass with
    constant gradients do otherwise, and none as they should, the model is wrong; where gradients change or inertias
    differ, as for angles, that cannot be decided.
    """
    rows = equations.contact_rows
    rubbing = [i for i in range(len(rows.gaps)) if rows.slips[i]][:MOST_CONTACTS]
    if not rubbing or equations.n > MOST_COORDINATES or equations.pattern is not None:
        return
    rng, zero = np.random.default_rng(1), np.zeros(equations.m)
    shifts = [SPREAD * sizes * rng.uniform(-1.0, 1.0, equations.n) for _ in range(PROBES)]
    found = [equations.terms(t, q, shift, v, zero) for shift in shifts]
    for i in rubbing:
        own = [int(rows.gaps[i]), *rows.slips[i]]
        off = _off([terms.G[own] for terms in found], found[0].M)
        if off:
            raise ModelError(
                f"gap and slip of contact '{tuple(equations.system.unilateral)[i]}' do not fit each other",
                got=off,
                expected="a gap that is a distance, and the tangential velocity of the same point",
                advice="divide the gap by the length of its gradient; give `slip` as a velocity",
            )


def _off(gradients: list[Array], M: Array) -> str:
    """What is wrong with the gradients (1 + d, n) of a contact at several places, in words."""
    size = len(gradients[0])
    moved = np.flatnonzero(np.any([np.any(np.abs(G) > 0.0, axis=0) for G in gradients], axis=0))
    if len(moved) > MOST_MOVED:
        return ""
    words = ""
    for some in combinations(moved, size):
        blocks = [G[:, some] for G in gradients]
        masses = M[np.ix_(some, some)]
        if any(_is_frame(blocks, metric) for metric in (np.eye(size), masses)):
            return ""
        steady = all(np.allclose(B, blocks[0], rtol=SAME, atol=SAME * np.max(np.abs(blocks[0]))) for B in blocks)
        if steady and _alike(masses) and np.linalg.matrix_rank(blocks[0]) == size:
            lengths = np.linalg.norm(blocks[0], axis=1)
            words = f"gradients of lengths {', '.join(f'{x:.4g}' for x in lengths)} (gap, then slip)"
    return words


def _alike(masses: Array) -> bool:
    """Whether coordinates have equal inertia that is not coupled, as those of a point; angles have not."""
    mean = float(np.trace(masses)) / len(masses)
    return bool(np.max(np.abs(masses - mean * np.eye(len(masses)))) <= SAME * mean)


def _is_frame(blocks: list[Array], metric: Array) -> bool:
    """Whether B metric⁻¹ Bᵀ is a multiple of the unit matrix for all blocks."""
    if abs(np.linalg.det(metric)) <= EPS * np.max(np.abs(metric)) ** len(metric):
        return False
    for B in blocks:
        gram = B @ np.linalg.solve(metric, B.T)
        mean = float(np.trace(gram)) / len(gram)
        if not mean > 0.0 or np.max(np.abs(gram - mean * np.eye(len(gram)))) > SAME * mean:
            return False
    return True
