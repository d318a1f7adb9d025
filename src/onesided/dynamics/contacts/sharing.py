"""How contacts that depend on each other share their forces: as equally compliant ones, in the limit of no compliance.

Joints are rigid, contacts yield along their normals, and where they stick along their slips, by y/κ: with Z a basis of
what joints allow and B = G_c Z, their forces are B z for a small common motion Z z. It is the rule of
`complementarity.compliant`. Friction of contacts that stick is a choice beyond that: it is shared so that the largest
part |T|/(μ N) of a limit is as small as possible (`least_share`). Then sticking ends where all contacts that must slip
reach their limits together (limit analysis: with the slips U η, the part is the largest g·η where Σ μ N |U η| = 1).
"""

from typing import NamedTuple

import numpy as np

from onesided.base.tolerances import DEFAULT
from onesided.base.types import Array, Indices
from onesided.dynamics.contacts.least_share import least_share
from onesided.evaluation.motion_terms import Terms
from onesided.linalg import null_space


class Stuck(NamedTuple):
    """A contact's friction that sticks: its rows, and what it bears."""

    rows: list[int]
    bears: float


def accelerated(terms: Terms, F: Array, contact: Indices) -> tuple[Array, Array]:
    """Accelerations and forces, M a = h + Fᵀ λ, G a + γ = 0; `contact` are the rows of compliant contacts."""
    M, h, G, gamma = terms.M, terms.h, terms.G, terms.gamma
    joints = np.setdiff1d(np.arange(len(G)), contact)
    Z = null_space(G[joints])
    still = _taken(M, h, G[joints], gamma[joints], Z)
    B = G[contact] @ Z
    D = B @ np.linalg.solve(Z.T @ M @ Z, (F[contact] @ Z).T)
    z = np.linalg.lstsq(D @ B, -(G[contact] @ still + gamma[contact]), rcond=np.sqrt(DEFAULT.rank))[0]
    found = np.zeros(len(G))
    found[contact] = B @ z
    a = still + Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ F[contact].T @ found[contact])
    return a, _with_joints(found, M @ a - h - F[contact].T @ found[contact], G, joints)


def _taken(M: Array, h: Array, joints: Array, gamma: Array, Z: Array) -> Array:
    """Accelerations with forces of joints only."""
    a = -np.linalg.lstsq(joints, gamma, rcond=DEFAULT.rank)[0] if len(joints) else np.zeros(len(h))
    return np.asarray(a + Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ (h - M @ a)))


def _with_joints(found: Array, force: Array, G: Array, joints: Indices) -> Array:
    """The same with multipliers of the joints, the smallest."""
    if len(joints):
        found[joints] = np.linalg.lstsq(G[joints].T, force, rcond=DEFAULT.rank)[0]
    return found


def balanced(G: Array, force: Array, contact: Indices) -> Array:
    """Forces of all rows with Gᵀ λ = force, those in `contact` as of compliant contacts."""
    joints = np.setdiff1d(np.arange(len(G)), contact)
    Z = null_space(G[joints])
    found = np.zeros(len(G))
    found[contact] = np.linalg.lstsq((G[contact] @ Z).T, Z.T @ force, rcond=DEFAULT.rank)[0]
    return _with_joints(found, force - G[contact].T @ found[contact], G, joints)


def wanted(found: Array, G: Array, others: Array, contact: Indices) -> Array:
    """Forces of `others`, gradients that depend on G, as if they were among the contacts; below zero they stay away.

    Of the ways to combine the contacts the smallest has no part in what they share at will.
    """
    Z = null_space(G[np.setdiff1d(np.arange(len(G)), contact)])
    shares = np.linalg.lstsq((G[contact] @ Z).T, (others @ Z).T, rcond=DEFAULT.rank)[0]
    return np.asarray(shares.T @ found[contact])


def follows(G: Array, other: Array) -> bool:
    """Whether a gradient depends on the rows of G."""
    return combined(G, other) is not None


def combined(G: Array, other: Array) -> Array | None:
    """Shares of the rows of G, the smallest, that a gradient is the sum of; None where it does not depend on them."""
    if not len(G):
        return None
    shares = np.linalg.lstsq(G.T, other, rcond=DEFAULT.rank)[0]
    left = np.linalg.norm(other - shares @ G)
    return np.asarray(shares) if left <= np.sqrt(DEFAULT.rank) * np.linalg.norm(other) else None


def with_least_share(found: Array, G: Array, contact: Indices, stuck: list[Stuck]) -> Array:
    """Forces in balance with those found, in which friction that sticks takes the smallest share of its limits."""
    rows = [row for one in stuck for row in one.rows]
    joints = np.setdiff1d(np.arange(len(G)), contact)
    A = G[rows] @ null_space(G[joints])
    U, sigma, _ = np.linalg.svd(A, full_matrices=False)
    U = U[:, sigma > DEFAULT.rank * np.max(sigma, initial=0.0)]
    if U.shape[1] == len(rows):
        return found
    sizes = np.array([len(one.rows) for one in stuck], dtype=np.intp)
    bears = np.array([max(one.bears, 0.0) for one in stuck])
    shared = found.copy()
    shared[rows] = least_share(U, U.T @ found[rows], sizes, bears)
    return _with_joints(shared, G.T @ found - G[contact].T @ shared[contact], G, joints)
