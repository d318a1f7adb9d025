"""Rays at a point of a large system: the paper's own way, an LCP in the weakly active constraints alone.

With K of the strongly active constraints factorised, one solve per weakly active constraint gives G, and the response
to p gives ĝ [SP1 (4.1)–(4.4)]; every solution of the LCP for ṗ = ±1 is a ray, and its degree of instability follows
from the inertia of G on the constraints that close [SP1 (5.6)].
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from onesided import linalg
from onesided.base.tolerances import EPS, HALF_DIGITS
from onesided.base.types import Array
from onesided.complementarity import LCP, all_solutions, solve
from onesided.results import Ray, Rays
from onesided.statics.curves.large import LargeCurve
from onesided.statics.curves.large_spectrum import nearly_singular
from onesided.statics.equilibria.place import Standpoint

WEAK_LIMIT = 12
CLEAR = HALF_DIGITS  # relative size of what is not zero


def large_rays(where: Standpoint) -> Rays | None:
    """All rays at a point where first derivatives decide; None where they do not.

    That is where the stiffness on the strongly active constraints is regular, and no choice of the weakly active ones
    makes it singular or leaves one of them without gap and force.
    """
    piece = LargeCurve(where.system, where.strong, where.sizes, where.scales)
    e = piece.evaluate(where.x)
    if nearly_singular(piece, e):
        system, x = where.system, where.x
        if system.structure is not None:
            system.structure.check_supported(system, x[: system.n], float(x[system.n]))
        return None
    degree = piece.modes(e)[0]
    responses = [-piece.response, *(_response_to(where, piece, int(j)) for j in where.weak)]
    G, g_hat = _rate_problem(where, piece, responses)
    few, rays = len(where.weak) <= WEAK_LIMIT, []
    if few and not _regular_choices(G):
        return None
    for sign in (1.0, -1.0):
        for z in _solutions(G, sign * g_hat):
            if few and not _strict(G, z, sign * g_hat):
                return None
            moves = sign * responses[0] + sum(a * b for a, b in zip(z, responses[1:], strict=True))
            rays.append(_ray(where, piece, moves, (sign, z, degree - _negative(G, z))))
    return Rays(tuple(rays), few, reason="" if few else "too many weakly active constraints")


def _regular_choices(G: Array) -> bool:
    """Whether every choice of closed constraints leaves a regular stiffness: no principal block of G is singular."""
    sizes = np.sqrt(np.abs(np.diagonal(G)))
    if not np.all(sizes > 0):
        return False
    unit = G / np.outer(sizes, sizes)
    chosen = (choice for count in range(1, len(G) + 1) for choice in combinations(range(len(G)), count))
    return all(abs(np.linalg.det(unit[np.ix_(c, c)])) > CLEAR for c in chosen)


def _strict(G: Array, z: Array, g: Array) -> bool:
    """Whether every weakly active constraint either opens or begins to carry, clearly."""
    sizes = np.sqrt(np.abs(np.diagonal(G)))
    gap, force = (G @ z + g) / sizes, z * sizes
    largest = max(float(np.max(np.abs(gap), initial=0.0)), float(np.max(force, initial=0.0)))
    return bool(np.all(gap + force > CLEAR * largest))


def _gradient(where: Standpoint, j: int) -> Array:
    """Scaled gradient of constraint j in (q, p)."""
    row = where.system.evaluate_packed(where.x).constraint_row(j)
    return np.asarray(row * np.append(where.sizes.length, where.sizes.control) / where.scales.gap[j])


def _response_to(where: Standpoint, piece: LargeCurve, j: int) -> Array:
    """What a unit of the reaction of constraint j moves."""
    right = np.zeros(piece.n + len(piece.closed))
    right[: piece.n] = _gradient(where, j)[:-1]
    return np.asarray(piece.kkt_matrix.solve(right))


def _rate_problem(where: Standpoint, piece: LargeCurve, responses: list[Array]) -> tuple[Array, Array]:
    """G and ĝ of ġ = Gλ̇ + ĝṗ, without units; what cancels to round-off is zero."""
    n, weak = piece.n, [_gradient(where, int(j)) for j in where.weak]
    g_hat = np.array([row[:-1] @ responses[0][:n] + row[-1] for row in weak])
    G = np.array([[row[:-1] @ x[:n] for x in responses[1:]] for row in weak]).reshape(len(weak), len(weak))
    G = 0.5 * (G + G.T)
    return np.where(np.abs(G) <= 100 * EPS * np.max(np.abs(G), initial=0.0), 0.0, G), g_hat


def _solutions(G: Array, g: Array) -> Iterator[Array]:
    """Solutions of the LCP: all of them where they can be enumerated, one otherwise."""
    if not len(g):
        yield np.zeros(0)
    elif len(g) <= WEAK_LIMIT:
        yield from all_solutions(LCP(G, g)).points
    else:
        found = solve(LCP(G, g), throw=False)
        if found.ok:
            yield found.value


def _negative(G: Array, z: Array) -> int:
    """Negative eigenvalues of G on the constraints that close."""
    closing = np.flatnonzero(z > 0)
    return linalg.inertia(G[np.ix_(closing, closing)]).negative if len(closing) else 0


def _ray(where: Standpoint, piece: LargeCurve, moves: Array, known: tuple[float, Array, int]) -> Ray:
    sign, z, degree = known
    n, k = piece.n, len(where.system.bilateral)
    x_dot = np.concatenate([moves[:n], [sign], np.zeros(len(piece.closed))])
    x_dot[n + 1 + piece.rows] = -moves[n + piece.rows]
    x_dot[n + 1 + where.weak] = z
    x_dot *= where.unit / np.sqrt(x_dot @ x_dot)
    rows = np.sort(np.concatenate([where.strong, where.weak[z > 0]]))
    names = where.system.constraint_names
    e = piece.evaluate(where.x)
    return Ray(
        q_dot=x_dot[:n],
        p_dot=float(x_dot[n]),
        mu_dot=x_dot[n + 1 : n + 1 + k],
        lam_dot=x_dot[n + 1 + k :],
        gap_dot=e.constraint_rates(x_dot[:n], float(x_dot[n]))[k:],
        p_sign=int(sign),
        order=1,
        instability=degree,
        closed=tuple(names[j] for j in rows if j >= k),
        rows=tuple(int(j) for j in rows),
    )
