"""Impacts and contact forces as complementarity problems: Newton's law of restitution, and which closed contacts open.

Both have the form u = u₀ + D P ≥ 0 ⊥ P ≥ 0 with D = W K⁻¹ Wᵀ, where K is the mass with the joints eliminated.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from onesided.base.errors import SolveError
from onesided.base.tolerances import EPS, Tolerances
from onesided.base.types import Array, Indices
from onesided.complementarity import LCP, solve
from onesided.evaluation.motion_terms import Terms
from onesided.linalg import kkt_matrix
from onesided.system.contact_equations import ContactRows


class Response(NamedTuple):
    """Answer to unit impulses of rows: x (n, r) changes of velocity, nu (rows held, r) impulses of joints."""

    x: Array
    nu: Array


def respond(M: Array, held: Array, forces: Array) -> Response:
    """M x − heldᵀ ν = forces, held x = 0, by rank: joints may depend on each other."""
    n, m = len(M), len(held)
    if m == 0:
        return Response(np.linalg.solve(M, forces), np.zeros((0, forces.shape[1])))
    unit = _units(M)
    right = np.zeros((n + m, forces.shape[1]))
    right[:n] = forces * unit[:, None]
    found = np.linalg.lstsq(kkt_matrix(M * unit * unit[:, None], held * unit), right, rcond=4.0 * EPS * (n + m))[0]
    return Response(found[:n] * unit[:, None], -found[n:])


def _units(M: Array) -> Array:
    """Units in which coordinates have the same inertia; ones where some have none."""
    inertia = np.diagonal(M)
    return np.asarray(inertia**-0.5) if np.all(inertia > 0.0) else np.ones(len(M))


@dataclass(frozen=True, eq=False)
class ImpactImpulses:
    """Impulses (or forces) of all rows and the change of velocity (or acceleration) they make."""

    rows: Array
    change: Array


def one_sided(
    terms: Terms, rows: ContactRows, touching: Indices, offset: Array, push: Array, tolerances: Tolerances
) -> ImpactImpulses:
    """Impulses P ≥ 0 at the touching contacts with u = W (x₀ + change) + … ≥ 0 ⊥ P ≥ 0.

    `offset` (touching,) is u without impulses; `push` (rows,) the residual that joints and rough contacts must take up:
    held · change = −push. Rough contacts hold their slip while they press.
    """
    pressing = touching
    while True:
        rough = [row for i in pressing if np.isinf(rows.friction[i]) for row in rows.slips[i]]
        held = np.concatenate([rows.always, np.array(rough, dtype=np.intp)]).astype(np.intp)
        found = _solve(terms, rows, touching, held, (offset, push), tolerances)
        still = np.array([i for i in pressing if found.rows[rows.gaps[i]] > 0.0], dtype=np.intp)
        lost = any(np.isinf(rows.friction[i]) for i in pressing if i not in still)
        if not lost:
            return found
        pressing = still


def _solve(
    terms: Terms,
    rows: ContactRows,
    touching: Indices,
    held: Indices,
    given: tuple[Array, Array],
    tolerances: Tolerances,
) -> ImpactImpulses:
    offset, push = given
    W, G = terms.G[rows.gaps[touching]], terms.G[held]
    n = len(terms.M)
    answer = respond(terms.M, G, W.T)
    base, base_nu = taken_up(terms.M, G, push[held])
    impulses = np.zeros(len(terms.G))
    change = base
    if len(touching):
        D = W @ answer.x
        P = lcp(0.5 * (D + D.T), offset + W @ base, tolerances)
        change = base + answer.x @ P
        impulses[rows.gaps[touching]] = P
        base_nu = base_nu + answer.nu @ P
    impulses[held] = base_nu
    return ImpactImpulses(impulses, change.reshape(n))


def taken_up(M: Array, G: Array, push: Array) -> tuple[Array, Array]:
    """Change of velocity and impulses with G x = −push and M x = Gᵀ ν."""
    n, m = len(M), len(G)
    if m == 0 or not np.any(push):
        return np.zeros(n), np.zeros(m)
    unit = _units(M)
    K = kkt_matrix(M * unit * unit[:, None], G * unit)
    found = np.linalg.lstsq(K, np.concatenate([np.zeros(n), -push]), rcond=4.0 * EPS * (n + m))[0]
    return found[:n] * unit, -found[n:]


def lcp(D: Array, u: Array, tolerances: Tolerances) -> Array:
    """P with u + D P ≥ 0 ⊥ P ≥ 0; D is symmetric and positive semidefinite, so Lemke's method ends at a solution."""
    if np.all(u >= 0.0):
        return np.zeros(len(u))
    size = np.max(np.abs(u))
    solution = solve(LCP(D, u / size), tolerances=tolerances, throw=False)
    if not solution.status.ok:
        raise SolveError(
            "the contact forces could not be found", solution, got=f"{solution.status.value}; {len(u)} contacts touch"
        )
    return np.asarray(np.maximum(solution.value, 0.0) * size)


def collide(terms: Terms, rows: ContactRows, touching: Indices, tolerances: Tolerances) -> ImpactImpulses:
    """Newton's law: u⁺ + e min(u⁻, 0) ≥ 0 ⊥ P ≥ 0 for all touching contacts at once."""
    u = terms.c_dot[rows.gaps[touching]]
    offset = u + rows.restitution[touching] * np.minimum(u, 0.0)
    return one_sided(terms, rows, touching, offset, terms.c_dot, tolerances)


def support(terms: Terms, rows: ContactRows, resting: Indices, tolerances: Tolerances) -> ImpactImpulses:
    """Forces of contacts at rest: acceleration of the gap ≥ 0 ⊥ λ ≥ 0; `change` is the acceleration."""
    free = respond(terms.M, terms.G[:0], terms.h[:, None]).x[:, 0] if _regular(terms.M) else _free(terms, rows)
    rates = terms.G @ free + terms.gamma
    found = one_sided(terms, rows, resting, rates[rows.gaps[resting]], rates, tolerances)
    return ImpactImpulses(found.rows, found.change + free)


def _regular(M: Array) -> bool:
    size = float(np.max(np.abs(np.diagonal(M)), initial=0.0))
    return bool(np.linalg.eigvalsh(M)[0] > len(M) * EPS * size)


def _free(terms: Terms, rows: ContactRows) -> Array:
    """Accelerations with the joints holding, for a mass that is singular without them."""
    return respond(terms.M, terms.G[rows.always], terms.h[:, None]).x[:, 0]
