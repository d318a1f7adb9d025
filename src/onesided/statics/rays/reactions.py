"""Reactions that are not unique: the polytope of multipliers at a point where active constraints depend on each other.

At fixed (q, p) the reactions of the closed constraints are Λ = {ν : Eᵀν = f, ν ≥ 0 on unilateral rows}. Its vertices
carry the force by independent constraints; every branch that leaves the point does so from one of them. Directions z in
which Λ has no end (Eᵀz = 0, z ≥ 0) hold the system: Σ z ġ = ṗ Σ z g_p ≥ 0 for every motion.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from onesided import linalg
from onesided.base.tolerances import MOST_DIGITS, QUARTER_DIGITS
from onesided.base.types import Array, Indices
from onesided.linalg.polyhedra import balanced_rows, cone_generators
from onesided.results import ConstraintStates, State
from onesided.statics.equilibria.place import Standpoint

VERTEX_LIMIT = 256
SQUARED = MOST_DIGITS  # the square of a singular value that differs from zero, where products of gradients are formed
AHEAD = QUARTER_DIGITS  # arc length, in scaled units, within which reactions do not change much


@dataclass(frozen=True)
class Reactions:
    """The multipliers that hold a place in equilibrium: corners of the polytope and directions without end.

    Attributes
    ----------
    where : the place, with one choice of the multipliers.
    nus : multipliers at the vertices, a row each;  endless : directions of the recession cone, a row each.
    """

    where: Standpoint
    nus: Array
    endless: Array

    @cached_property
    def is_vertex(self) -> bool:
        """Whether the multipliers of the place itself are carried by independent constraints."""
        return independent(self.where, self.where.strong)

    @property
    def complete(self) -> bool:
        """Whether so few vertices exist that all of them are looked at."""
        return len(self.nus) <= VERTEX_LIMIT

    def places(self) -> list[Standpoint]:
        """The place once for every vertex, the choice of the place itself first where it is one."""
        if self.held:
            return [self.where]
        unit = self.where.scales.multiplier
        nu = self.where.x[self.where.system.n + 1 :]
        order = np.argsort(np.max(np.abs((self.nus - nu) / unit), axis=1), kind="stable")
        own = [self.where] if self.is_vertex else []
        return own + [_with(self.where, self.nus[i]) for i in order[len(own) : VERTEX_LIMIT]]

    @cached_property
    def held(self) -> bool:
        """Whether reactions have grown at constant (q, p) to where they are: then other choices are other states."""
        return not self.is_vertex and bool(len(self.blocking()))

    @property
    def loose(self) -> list[int]:
        """Rows of the unilateral constraints whose reactions are not determined."""
        k, unit = len(self.where.system.bilateral), self.where.scales.multiplier
        differ = (
            [np.max(np.abs(self.nus - self.nus[0]) / unit, axis=0), *np.abs(self.endless / unit)]
            if len(self.nus)
            else []
        )
        return [j for j in range(k, len(unit)) if any(one[j] > self.where.tolerances.force for one in differ)]

    def blocking(self) -> Array:
        """Directions without end that keep p from moving one way: Σ z g_p ≠ 0."""
        rates = self.p_rates(self.endless)
        return np.asarray(self.endless[np.abs(rates) > self.where.tolerances.singularity])

    def p_rates(self, z: Array) -> Array:
        """Σ z g_p without units for every row z."""
        c_p = self.where.system.evaluate_packed(self.where.x).c_p
        work = z * c_p * self.where.sizes.control / self.where.sizes.energy
        size = np.max(np.abs(z / self.where.scales.multiplier), axis=1, initial=0.0)
        return np.asarray(work.sum(axis=1) / np.where(size > 0, size, 1.0))


def reactions_at(where: Standpoint) -> Reactions | None:
    """All multipliers at a place; None where the active constraints are independent, so that there is one choice.

    Large systems are taken to have one: their constraints are not compared.
    """
    active = np.sort(np.concatenate([where.strong, where.weak])).astype(np.intp)
    if where.system.derivatives.large or independent(where, active):
        return None
    k, n = len(where.system.bilateral), where.system.n
    rows, nu = active[active >= k], where.x[n + 1 :]
    A = _gradients(where, rows)
    T = linalg.null_space(_gradients(where, np.arange(k)), rank=where.tolerances.rank)
    B = T.T @ A.T
    force = B @ (nu[rows] / where.scales.multiplier[rows])
    size = float(np.linalg.norm(force))
    loaded = size > where.tolerances.force
    right = force / size if loaded else np.zeros_like(force)
    balance = _without_noise(np.hstack([B, -right[:, None]]), where.tolerances.rank)
    cone = cone_generators(balance, np.eye(len(rows) + 1), where.tolerances.rank)
    found = np.where(np.abs(cone.rays) > where.tolerances.rank, cone.rays, 0.0)
    finite = found[:, -1] > 0
    corners = found[finite, :-1] / found[finite, -1:] * (size if loaded else 0.0)
    full = np.array([_full(where, rows, corner) for corner in corners]).reshape(-1, len(nu))
    endless = np.array([_full(where, rows, z, start=np.zeros_like(nu)) for z in found[~finite, :-1]])
    return Reactions(where, full, endless.reshape(-1, len(nu)))


def _without_noise(M: Array, rank: float) -> Array:
    """The equations M x = 0 without those that are zero but for round-off."""
    U, sigma, _ = np.linalg.svd(M, full_matrices=False)
    return np.asarray(U[:, sigma > rank * float(sigma[0])].T @ M) if len(sigma) else M


def loose_along(where: Standpoint, nu_dot: Array, closed: set[int]) -> list[int]:
    """Rows whose reactions are not unique a little further on along a branch on which the rows `closed` stay closed."""
    k, n = len(where.system.bilateral), where.system.n
    nu = where.x[n + 1 :] + AHEAD * nu_dot
    shut = np.array([row in closed for row in range(k, len(nu))], dtype=bool)
    codes = np.where(shut, np.array(where.active.codes), State.inactive)
    reactions = reactions_at(_with(replace(where, active=ConstraintStates(tuple(int(code) for code in codes))), nu))
    return [] if reactions is None else reactions.loose


def held_fast(where: Standpoint, rows: Indices, idle: Sequence[str]) -> Indices:
    """The `rows` that carry along a branch and, of its idle constraints, those that other reactions would load.

    No motion beside the branch leaves them; of those that depend on each other some are enough.
    """
    names, rank = where.system.constraint_names, where.tolerances.rank
    resting = [names.index(name) for name in idle]
    closed = np.union1d(rows, resting).astype(np.intp)
    held = closed[balanced_rows(_gradients(where, closed), ~np.isin(closed, resting), rank)]
    for row in np.setdiff1d(held, rows):
        more = np.union1d(rows, [row]).astype(np.intp)
        rows = more if independent(where, more) else rows
    return rows


def carriers(where: Standpoint, row: int, rows: Indices) -> list[int]:
    """Which of the independent `rows` constraint `row` is redundant with; none where it is independent of them."""
    E, own = _gradients(where, rows), _gradients(where, np.array([row]))[0]
    share = np.linalg.lstsq(E.T, own, rcond=None)[0]
    near = np.sqrt(where.tolerances.rank) * float(np.linalg.norm(own))
    if float(np.linalg.norm(E.T @ share - own)) > near:
        return []
    return [int(j) for j, part in zip(rows, share, strict=True) if abs(part) > near]


def independent(where: Standpoint, rows: Indices) -> bool:
    """Whether the closed unilateral constraints among `rows` are independent of each other and of bilateral ones."""
    k = len(where.system.bilateral)
    contacts = rows[rows >= k]
    if not len(contacts):
        return True
    if where.system.derivatives.large:
        return _short(where, rows) == _short(where, rows[rows < k])
    E = _gradients(where, rows)
    T = linalg.null_space(E[rows < k], rank=where.tolerances.rank)
    free = E[rows >= k] @ T
    before, after = (np.linalg.norm(M, axis=1) for M in (E[rows >= k], free))
    if np.any(after <= where.tolerances.rank * before):
        return False
    sigma = np.linalg.svd(free / after[:, None], compute_uv=False)
    return len(sigma) == len(contacts) and bool(sigma[-1] > where.tolerances.rank * sigma[0])


def _short(where: Standpoint, rows: Indices) -> int:
    """Number of singular values of sparse normalised gradients that are zero, by the inertia of E Eᵀ − ε."""
    if not len(rows):
        return 0
    E = where.system.evaluate_packed(where.x).c_q[rows] @ sparse.diags_array(where.sizes.length)
    norms = np.sqrt(np.asarray((E * E).sum(axis=1)))
    E = sparse.diags_array(1.0 / np.where(norms > 0, norms, 1.0)) @ E
    return linalg.inertia((E @ E.T - SQUARED * sparse.eye_array(len(rows))).tocsc()).negative


def _gradients(where: Standpoint, rows: Indices) -> Array:
    """Gradients in q without units, a row each."""
    e = where.system.evaluate_packed(where.x)
    chosen = e.c_q[rows]
    E = chosen if isinstance(chosen, np.ndarray) else chosen.toarray()
    return np.asarray(E * where.sizes.length / where.scales.gap[rows][:, None])


def _full(where: Standpoint, rows: Indices, scaled: Array, start: Array | None = None) -> Array:
    """All multipliers with those of `rows` given without units; bilateral ones take up the difference."""
    k, n = len(where.system.bilateral), where.system.n
    old = where.x[n + 1 :] if start is None else start
    unit = where.scales.multiplier
    nu = np.zeros_like(old)
    nu[rows] = scaled * unit[rows]
    missing = _gradients(where, rows).T @ ((old - nu)[rows] / unit[rows])
    E = _gradients(where, np.arange(k))
    nu[:k] = old[:k] + (np.linalg.lstsq(E.T, missing, rcond=None)[0] * unit[:k] if k else 0.0)
    return nu


def _with(where: Standpoint, nu: Array) -> Standpoint:
    """The same point with other multipliers."""
    k, n = len(where.system.bilateral), where.system.n
    codes = np.array(where.active.codes)
    loaded = nu[k:] > where.tolerances.force * where.scales.multiplier[k:]
    codes = np.where(codes == State.inactive, State.inactive, np.where(loaded, State.strong, State.weak))
    x = np.concatenate([where.x[: n + 1], nu])
    return replace(where, x=x, active=ConstraintStates(tuple(int(code) for code in codes)))
