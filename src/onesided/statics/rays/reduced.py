"""Lyapunov–Schmidt reduction: equilibria near a singular point as zeros of d functions of d + 1 unknowns.

With N a basis of the null space of J = R_x (d + 1 columns) and Z of its left one, y = y₀ + N a + w with G w = 0 and
R(y) = Z g define g(a); equilibria are its zeros. N may span modes that are nearly neutral: g then has linear terms.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from onesided.base.tolerances import EPS, QUARTER_DIGITS, SMALL
from onesided.base.types import Array
from onesided.evaluation.equilibrium_blocks import Evaluation
from onesided.statics.curves.corrections import scatter
from onesided.statics.curves.curve import Curve
from onesided.statics.curves.spectrum import Borders

STEPS = 20
SETTLED = SMALL  # relative size of a Newton step after which one more reaches round-off
NOISE = QUARTER_DIGITS  # relative size of a Newton step that may be round-off, near singular points
ROUNDINGS = 4.0  # of the terms of an equation
FAR = 2.0  # what w may be, relative to a


@dataclass(frozen=True)
class Reached:
    """A point of the reduced problem: y, the value g there, and the residual that round-off leaves."""

    y: Array
    g: Array
    floor: float


@dataclass(frozen=True)
class Crossing:
    """Where a branch crosses an ellipsoid: y, its direction b, and how far rounding may have moved both, relatively."""

    y: Array
    b: Array
    uncertainty: float
    moved: float


@dataclass(frozen=True, eq=False)
class Reduced:
    """The reduced problem of one piece at the packed point x, on the ellipsoids |a / radii| = λ.

    Attributes
    ----------
    N : (size, d + 1); p changes along the first column alone, if at all.  G : (d + 1, size) with G N = I.
    Z : (size − 1, d), orthonormal.  borders : solves J with further rows and columns.
    radii : (d + 1,), semi-axes of the ellipsoid λ = 1.
    """

    piece: Curve
    x: Array
    N: Array
    G: Array
    Z: Array
    borders: Borders
    radii: Array

    @property
    def d(self) -> int:
        """Number of reduced equations, that of null vectors."""
        return int(self.Z.shape[1])

    @cached_property
    def y(self) -> Array:
        """Scaled unknowns of the point."""
        return self.piece.scaled(self.x)

    @cached_property
    def linear(self) -> float:
        """Size of the linear part of g on the ellipsoid: zero at a singular point, not so at a cluster of them."""
        moved = self.piece.times(self.piece.evaluate(self.x), self.N * self.radii)
        return float(np.linalg.norm(self.Z.T @ moved, ord=2))

    @cached_property
    def misplaced(self) -> float:
        """How far from the point, in the scaled p, the modes that meet there vanish: it is located up to round-off."""
        N = self._unit
        left = self.Z.T @ self.piece.times(self.piece.evaluate(self.x), N[:, 1:])
        return self._change_of_p(float(np.linalg.norm(left, ord=2)))

    @cached_property
    def blurred(self) -> float:
        """Change of the scaled p that rounding of the stiffness of these modes may stand for."""
        return self._change_of_p(self._rounding_of_stiffness)

    @property
    def is_alone(self) -> bool:
        """Whether the linear part of g is no more than rounding: the point is one, not a cluster."""
        longest = float(np.max(np.linalg.norm(self.N[:, 1:] * self.radii[1:], axis=0), initial=0.0))
        return self.linear <= ROUNDINGS * self._rounding_of_stiffness * longest

    @cached_property
    def _rounding_of_stiffness(self) -> float:
        """Rounding of the stiffness of these modes: of its terms, and of the unknowns [`spectrum.blur`]."""
        modes = self._unit[:, 1:]
        terms = self._rounding_on_z(self.piece.evaluate(self.x), np.abs(modes))
        place = np.delete(self.y, self.piece.n)
        moved = max((float(np.linalg.norm(self.second(v) * place)) for v in modes.T), default=0.0)
        return max(terms, ROUNDINGS * EPS * moved)

    @cached_property
    def _unit(self) -> Array:
        """N with columns of length one in scaled unknowns."""
        return np.asarray(self.N / np.linalg.norm(self.N, axis=0))

    def _change_of_p(self, stiffness: float) -> float:
        """Change of the scaled p that changes the stiffness of the modes by as much."""
        N = self._unit
        rates = [self.Z.T @ (self.second(N[:, 0] + v) - self.second(N[:, 0] - v)) / 4.0 for v in N[:, 1:].T]
        change = float(np.linalg.norm(np.array(rates), ord=2)) if rates else 0.0
        return abs(float(N[self.piece.n, 0])) * stiffness / change if change > 0 else 0.0

    def second(self, v: Array) -> Array:
        """Scaled R''(v, v) on the rows of the piece."""
        raw = self.piece.system.along(self.x, self.piece.packed(v), 2)
        n = self.piece.n
        return np.asarray(np.concatenate([raw[:n], raw[n + self.piece.rows]]) / self.piece.weight)

    def resized(self, radii: Array) -> "Reduced":
        """The same on other ellipsoids."""
        return replace(self, radii=radii)

    def at(self, b: Array, level: float = 1.0) -> Reached | None:
        """The point y with G (y − y₀) = level · radii · b and its g, or None where there is none nearby."""
        a = level * self.radii * b
        border = _Fixed(self, a)
        return border.solve(self.y + self.N @ a, float(np.linalg.norm(self.N @ a)))

    def on_branch(self, start: Array, level: float) -> "Crossing | None":
        """The equilibrium near y = `start` on the ellipsoid of this level, or None."""
        y, size = start, float(np.linalg.norm(start - self.y))
        previous, none = (np.inf, np.inf), np.zeros((self.piece.size - 1, 0))
        for _ in range(STEPS):
            e = self.piece.evaluate(self.piece.packed(y))
            R, b = self.piece.residual(e), self.coordinates(y)
            right = np.concatenate([R, [(b @ b - level**2) / (2.0 * level)]])
            row = (self.G.T @ (b / self.radii) / level)[None, :]
            step = self.borders.solve(e, none, row, -right)
            length = float(np.linalg.norm(step))
            if not length < FAR * size:
                return None
            y = y + step
            if _settled(length, previous, size):
                return self._crossing(e, row, R, y, level)
            previous = previous[-1], length
        return None

    def _crossing(self, e: Evaluation, row: Array, R: Array, y: Array, level: float) -> "Crossing":
        """The point with how far round-off in the residual may have moved it."""
        b, none = self.coordinates(y) / level, np.zeros((len(R), 0))
        distance = float(np.linalg.norm(y - self.y))
        if not self.d:
            noise = max(float(np.max(np.abs(R), initial=0.0)), self.rounding(e, y))
            smallest = self.borders.smallest(e, none, row)
            moved = noise / (distance * smallest) if smallest > 0 else np.inf
            return Crossing(y, b, moved, moved)
        noise = float(np.max(np.abs(self.Z.T @ R))) + scatter(self.piece, y, R, self.Z)
        moves = np.array([self.borders.solve(e, none, row, np.append(noise * z, 0.0)) for z in self.Z.T])
        turned = moves @ self.G.T / (level * self.radii)
        return Crossing(y, b, float(np.linalg.norm(turned)), float(np.linalg.norm(moves)) / distance)

    def rounding(self, e: Evaluation, y: Array) -> float:
        """Round-off in the residual at y: stiffness is of order one in scaled unknowns, that of p is what it is."""
        n, moved = self.piece.n, np.abs(y - self.y)
        along_p = np.where(np.arange(len(y)) == n, moved[n], 0.0)[:, None]
        load = float(np.max(np.abs(self.piece.times(e, along_p)), initial=0.0))
        return EPS * (float(np.linalg.norm(np.delete(moved, n))) + load)

    def rounding_of_g(self, e: Evaluation, y: Array) -> float:
        """What the rounding of the unknowns makes of g at y."""
        return self._rounding_on_z(e, np.abs(y)[:, None])

    def _rounding_on_z(self, e: Evaluation, columns: Array) -> float:
        """Rounding of J times some columns in the directions Z: errors of many equations add up at random."""
        terms = self.piece.times(e, columns, sizes=True)
        return ROUNDINGS * EPS * float(np.max(np.sqrt((self.Z**2).T @ terms**2), initial=0.0))

    def coordinates(self, y: Array) -> Array:
        """λ b of a point."""
        return np.asarray(self.G @ (y - self.y) / self.radii)


@dataclass(frozen=True)
class _Fixed:
    """The bordered system R(y) − Z g = 0, G (y − y₀) = a."""

    reduced: Reduced
    a: Array

    def solve(self, y: Array, size: float) -> Reached | None:
        """Newton's method from y; one step more than it takes, so that the residual is that of round-off."""
        r, start = self.reduced, y
        g, previous = np.zeros(r.d), (np.inf, np.inf)
        for _ in range(STEPS):
            e = r.piece.evaluate(r.piece.packed(y))
            R = r.piece.residual(e)
            step = r.borders.solve(e, -r.Z, r.G, -np.concatenate([R, r.G @ (y - r.y) - self.a]))
            length = float(np.linalg.norm(step[: len(y)]))
            if not length < FAR * size:
                return None
            g = r.Z.T @ R  # at the point before the step: R is known there, not where the step leads
            if _settled(length, previous, size):
                near = float(np.linalg.norm(y - start)) <= FAR * size
                return Reached(y, g, self._floor(e, y, R - r.Z @ g)) if near else None
            y, previous = y + step[: len(y)], (previous[-1], length)
        return None

    def _floor(self, e: Evaluation, y: Array, left: Array) -> float:
        """Round-off in g: what is left of the residual, or what rounding makes of g if that is less."""
        r = self.reduced
        seen = max(float(np.max(np.abs(left), initial=0.0)), r.rounding(e, y))
        return min(seen, r.rounding_of_g(e, y))


def reduce_at(piece: Curve, x: Array, N: Array, Z: Array, *, borders: Borders, radius: float) -> Reduced:
    """The reduced problem on a sphere of the coordinates that belong to N, turned so that one of them alone moves p."""
    count = N.shape[1]
    share = N[piece.n]
    first = share if np.linalg.norm(share) > SETTLED * np.linalg.norm(N) else np.eye(count)[0]
    turn = np.linalg.qr(np.column_stack([first, np.eye(count)]))[0][:, :count]
    N = N @ turn
    if Z.shape[1] != count - 1:
        Z = np.linalg.svd(piece.jacobian(piece.evaluate(x)), full_matrices=True)[0][:, piece.size - count :]
    return Reduced(piece, x, N, np.linalg.pinv(N), np.linalg.qr(Z)[0], borders, np.full(count, radius))


def _settled(length: float, previous: tuple[float, float], size: float) -> bool:
    """Whether Newton's steps have become those of round-off: after a tiny one, or when small ones no longer fall.

    Where a straight move stretches what is stiff, every other step only takes that back: two are compared with.
    """
    small = length <= NOISE * size and length > 0.5 * max(previous)
    return previous[-1] <= SETTLED * size or length <= EPS * size or small
