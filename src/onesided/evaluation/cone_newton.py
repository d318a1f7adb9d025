"""Newton's method for contacts with friction inside compiled steps: the equations of `complementarity.friction`.

Contacts are cones of one shape, a normal force and as many tangential ones as any of them has; what a contact does not
have is masked. Rolling and spinning are cones with a stand-in for the normal force, as in `dynamics.cones`.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from onesided.base.tolerances import HALF_DIGITS, MOST_DIGITS
from onesided.evaluation.lane_algebra import eliminated, substituted

if TYPE_CHECKING:
    from onesided.system.contact import Block

STEPS = 20
SHIFT = MOST_DIGITS  # of the diagonal, for forces that are not unique
DEPENDENT = HALF_DIGITS  # smallest over largest pivot below which forces may not be unique
WORSE = 1000.0  # a residual that grows by this is given up
GIVE, FINE, IDLE = 2.0**-25, 2.0**-46, 2.0**-32  # compliance, residual, forces that are none: as in `compliant`


class ConeRows(NamedTuple):
    """Contacts as cones, (C, w) places in all; w is one more than the most tangential directions.

    Attributes
    ----------
    source : row of G of each place, −1 where there is none;  scale : what its rates are multiplied by.
    owner : contact of each cone;  stands : whether it is a stand-in.
    kinetic, static : limits.
    """

    source: Any
    scale: Any
    owner: Any
    stands: Any
    kinetic: Any
    static: Any

    @property
    def real(self) -> Any:
        """Tangential places that there are, (C, w − 1)."""
        return self.source[:, 1:] >= 0

    @property
    def firm(self) -> Any:
        """ConeRows that hold more while they stick."""
        return self.static > self.kinetic


def arranged(gaps: int, first_gap: int, first_slip: int, blocks: Sequence["Block"], names: Sequence[str]) -> ConeRows:
    """The cones of a system: a contact with its slip each, then rolling and spinning."""
    width = 1 + max((block.size for block in blocks), default=0)
    heads: list[tuple[list[int], float, int, float, float]] = [([first_gap + i], 1.0, i, 0.0, 0.0) for i in range(gaps)]
    row = first_slip
    for block in blocks:
        rows, i = list(range(row, row + block.size)), names.index(block.contact)
        row += block.size
        if block.kind == "slip":
            heads[i] = ([first_gap + i, *rows], 1.0, i, block.kinetic, block.static)
        else:
            heads.append(([-1, *rows], block.kinetic, i, 1.0, 1.0))
    source = np.array([rows + [-1] * (width - len(rows)) for rows, *_ in heads], dtype=int).reshape(len(heads), width)
    scale = np.array([[1.0, *[c] * (width - 1)] for _, c, *_ in heads]).reshape(len(heads), width)
    owner, kinetic, static = (np.array([head[k] for head in heads]) for k in (2, 3, 4))
    return ConeRows(source, scale, owner.astype(int), np.arange(len(heads)) >= gaps, kinetic, static)


class ConeProblem(NamedTuple):
    """Impulses P, (C, w): velocities D P + u; which cones take part; limits; size of the velocities, largest diagonal.

    D is (C, w, C w).
    """

    D: Any
    u: Any
    near: Any
    limits: Any
    scale: Any


class ConeAnswer(NamedTuple):
    """Impulses, their residual, and the smallest over the largest pivot of the last step."""

    P: Any
    off: Any
    pivot: Any


class _State(NamedTuple):
    P: Any
    off: Any
    pivot: Any
    count: Any
    going: Any


class ConeNewton:
    """Newton's method for the cones of one system."""

    def __init__(self, cones: ConeRows) -> None:
        self.cones, (self.C, self.w) = cones, cones.source.shape

    @cached_property
    def _size(self) -> int:
        return int(self.C * self.w)

    @cached_property
    def _own(self) -> Any:
        """Places that there are, those of stand-ins included."""
        return np.pad(self.cones.real, ((0, 0), (1, 0)), constant_values=True)

    def spread(self, rows: Any) -> Any:
        """Values of all rows of G, (R, …), at the places of the cones, (C, w, …): scaled, zero where there is none."""
        scale = self.cones.scale * (self.cones.source >= 0)
        return rows[np.maximum(self.cones.source, 0)] * scale.reshape(scale.shape + (1,) * (rows.ndim - 1))

    def places(self, P: Any) -> Any:
        """Impulses of all rows of G, given in their order, at the places of the cones; stand-ins as their owners."""
        found = P[np.maximum(self.cones.source, 0)] / self.cones.scale * (self.cones.source >= 0)
        return found.at[:, 0].set(found[self.cones.owner, 0])

    def gathered(self, P: Any, rows: int) -> Any:
        """Impulses of all rows of G."""
        target = np.where(self.cones.source >= 0, self.cones.source, rows)
        return jnp.zeros(rows + 1).at[target.ravel()].add((P * self.cones.scale).ravel())[:rows]

    def coupled(self, W: Any, X: Any) -> Any:
        """D = W M⁻¹ Wᵀ of the places, with the rows of stand-ins; W and X = W M⁻¹ are (C, w, n)."""
        size, stands, owner = self._size, self.cones.stands, self.cones.owner
        D = W.reshape(size, -1) @ X.reshape(size, -1).T
        if stands.any():
            places, true = np.flatnonzero(stands) * self.w, owner[stands] * self.w
            D = D.at[places, places].set(D[true, true]).at[places, true].set(-D[true, true])
        return D.reshape(self.C, self.w, size)

    def solve(self, problem: ConeProblem, start: Any, tol: Any, shift: Any = SHIFT) -> ConeAnswer:
        """Impulses from a guess on; one more step after they are good says whether they are unique."""

        def step(x: _State) -> _State:
            F, J = self._equations(problem, x.P)
            size = self._size
            lu, _ = eliminated(jnp.concatenate([J + shift * jnp.eye(size), -F.reshape(size, 1)], axis=1))
            P = x.P + substituted(lu[:, :size], lu[:, size:]).reshape(self.C, self.w)
            pivots, off = jnp.abs(jnp.diagonal(lu)), self.residual(problem, P)
            going = (x.off > tol) & (x.count < STEPS) & jnp.isfinite(off) & (off < WORSE * jnp.maximum(x.off, tol))
            return _State(P, off, jnp.min(pivots) / jnp.max(pivots), x.count + 1.0, going)

        none = jnp.zeros(())
        first = _State(jnp.where(problem.near[:, None], start, 0.0), none + jnp.inf, none, none, none == 0.0)
        end = lax.while_loop(lambda x: x.going, step, first)
        return ConeAnswer(end.P, end.off, end.pivot)

    def as_compliant(self, problem: ConeProblem, start: Any, tol: Any) -> ConeAnswer:
        """Impulses as of equally compliant contacts, in the limit of no compliance: as `complementarity.compliant`."""
        give = GIVE * jnp.max(self._diagonal(problem.D))
        compliance = jnp.eye(self._size).reshape(problem.D.shape)

        def one(i: Any, found: ConeAnswer) -> ConeAnswer:
            presses = (i == 0) | (found.P[:, 0] > IDLE * jnp.max(found.P[:, 0]))
            some = problem._replace(
                D=problem.D + jnp.where(i == 0, give, 0.0) * compliance, near=problem.near & presses
            )
            now = self.solve(some, found.P, jnp.where(i == 0, FINE, tol), jnp.where(i == 0, SHIFT, GIVE))
            off = jnp.where(i == 0, now.off, self.residual(problem, now.P))
            return now._replace(off=jnp.maximum(found.off, off))

        found: ConeAnswer = lax.fori_loop(0, 2, one, ConeAnswer(start, 0.0 * tol, 0.0 * tol))
        return found

    def velocities(self, problem: ConeProblem, P: Any) -> Any:
        """Relative velocities D P + u after the impulses P."""
        return (problem.D.reshape(self._size, -1) @ P.ravel()).reshape(P.shape) + problem.u

    def _diagonal(self, D: Any) -> Any:
        return jnp.diagonal(D.reshape(self._size, -1)).reshape(self.C, self.w)

    def residual(self, problem: ConeProblem, P: Any) -> Any:
        """The natural map, relative to the impulses that u calls for: see `FrictionProblem.residual`."""
        real, near, mu = self.cones.real, problem.near, problem.limits
        diagonal, w = self._diagonal(problem.D), self.velocities(problem, P)
        rho = _inverse(jnp.max(jnp.where(self._own, diagonal, 0.0), axis=1))
        rough = jnp.isinf(mu)
        soft = jnp.where(rough, 0.0, mu)
        slip, rub = jnp.where(real, w[:, 1:], 0.0), jnp.where(real, P[:, 1:], 0.0)
        y = P[:, 0] - rho * (w[:, 0] + soft * _length(slip))
        z = rub - rho[:, None] * slip
        size = _length(z)
        outside, inside = soft * size <= -y, size <= soft * y
        top = jnp.where(outside, 0.0, jnp.where(inside, y, (y + soft * size) / (1.0 + soft**2)))
        share = jnp.where(outside, 0.0, jnp.where(inside, 1.0, soft * top / jnp.where(size > 0.0, size, 1.0)))
        free = jnp.maximum(jnp.abs(P[:, 0] - top), _top(rub - share[:, None] * z))
        held = jnp.maximum(
            jnp.abs(P[:, 0] - jnp.maximum(0.0, P[:, 0] - rho * w[:, 0])),
            _top(jnp.where(P[:, :1] > 0.0, rho[:, None] * slip, rub)),
        )
        worst = jnp.max(jnp.where(near, jnp.where(rough, held, free), 0.0))
        stiff = jnp.max(jnp.where(near[:, None], diagonal, 0.0))
        pushed = jnp.maximum(jnp.max(jnp.where(near[:, None], jnp.abs(problem.u), 0.0)), problem.scale) * _inverse(
            stiff
        )
        size = jnp.maximum(pushed, jnp.max(jnp.abs(P)))
        return worst * _inverse(size)

    def _equations(self, problem: ConeProblem, P: Any) -> tuple[Any, Any]:
        """P_N = max(0, P_N − ρ w_N), P_T = proj(P_T − ρ w_T) on |P_T| ≤ μ P_N, and their derivatives."""
        real, near, mu = self.cones.real, problem.near, problem.limits
        diagonal, w, one = self._diagonal(problem.D), self.velocities(problem, P), jnp.eye(self.w - 1)
        rho, rho_t = _inverse(diagonal[:, 0]), _inverse(jnp.sum(jnp.where(real, diagonal[:, 1:], 0.0), axis=1))
        pressing = near & (P[:, 0] - rho * w[:, 0] > 0.0)
        y = jnp.where(real, P[:, 1:] - rho_t[:, None] * w[:, 1:], 0.0)
        length = _length(y)
        ahead = y / jnp.where(length > 0.0, length, 1.0)[:, None]
        rough = jnp.isinf(mu)
        soft = jnp.where(rough, 0.0, mu)
        radius = soft * jnp.maximum(P[:, 0], 0.0)
        open_ = ~pressing | (~rough & (radius == 0.0) & (length > 0.0))
        sticks, slides = ~open_ & (rough | (length <= radius)), ~open_ & ~rough & (length > radius)
        turn = (radius / jnp.where(length > 0.0, length, 1.0))[:, None, None] * (
            one - ahead[:, :, None] * ahead[:, None, :]
        )
        A = jnp.where(sticks[:, None, None], one, jnp.where(slides[:, None, None], turn, 0.0))
        A = jnp.where(real[:, :, None] & real[:, None, :], A, 0.0)
        kept = jnp.where(sticks[:, None], y, jnp.where(slides[:, None], radius[:, None] * ahead, 0.0))
        F_n = jnp.where(pressing, rho * w[:, 0], P[:, 0])
        F = jnp.concatenate([F_n[:, None], P[:, 1:] - kept], axis=1)
        pulls = slides | (open_ & pressing & (P[:, 0] >= 0.0))
        by_normal = jnp.where(pulls[:, None], -soft[:, None] * ahead, 0.0)
        return F, self._derivatives(problem.D, (pressing, rho, A, rho_t), by_normal)

    def _derivatives(self, D: Any, shares: tuple[Any, Any, Any, Any], by_normal: Any) -> Any:
        """Derivatives of the equations: shares of the rows of D, what is left of the unit matrix, and ∂F_T/∂P_N."""
        pressing, rho, A, rho_t = shares
        size, C, w = self._size, self.C, self.w
        normal = jnp.where(pressing, rho, 0.0)[:, None] * D[:, 0]
        tangent = rho_t[:, None, None] * jnp.einsum("cab,cbk->cak", A, D[:, 1:])
        own = jnp.zeros((C, w, w)).at[:, 0, 0].set(jnp.where(pressing, 0.0, 1.0))
        own = own.at[:, 1:, 1:].set(jnp.eye(w - 1) - A).at[:, 1:, 0].set(by_normal)
        J = jnp.concatenate([normal[:, None], tangent], axis=1).reshape(C, w, C, w)
        spots = np.arange(C)
        return J.at[spots, :, spots, :].add(own).reshape(size, size)


def _inverse(values: Any) -> Any:
    """1/x, and 1 where x is zero."""
    return 1.0 / jnp.where(values > 0.0, values, 1.0)


def _length(vectors: Any) -> Any:
    return jnp.sqrt(jnp.sum(vectors * vectors, axis=1))


def _top(vectors: Any) -> Any:
    return jnp.max(jnp.abs(vectors), axis=1, initial=0.0)
