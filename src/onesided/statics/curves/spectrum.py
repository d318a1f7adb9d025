"""Ranks that do not depend on mesh, units or coordinates: stiffness measured by a reference stiffness of the structure.

On the null space T of the constraint gradients, H φ = κ (Tᵀ M T) φ with M the reference stiffness [SP1 (2.13)]: the κ
are of order one whatever the mesh, and one that vanishes is a singular mode. What rounding makes of a κ is estimated
from the terms it is summed from: κ counts as zero below the tolerance or below that noise, whichever is larger.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np
from scipy.linalg import eigh

from onesided.base.errors import SolveError
from onesided.base.tolerances import EPS, HALF_DIGITS, QUARTER_DIGITS, ROUNDING, Tolerances
from onesided.base.types import Array
from onesided.evaluation.equilibrium_blocks import Evaluation
from onesided.system.sizes import Sizes

if TYPE_CHECKING:  # curves know spectra
    from onesided.statics.curves.curve import Curve
    from onesided.statics.curves.large import LargeCurve

NEAR = 0.01  # modes with κ below this are kept apart: the rest is well conditioned
UNDECIDED = HALF_DIGITS  # stiffness, relative to the reference, below which the start of a leg tells nothing
SAFETY = 16.0  # of an estimate of rounding


class InseparableError(SolveError):
    """Singular and regular parts of the equations of a large system cannot be distinguished."""


class SplitRows(NamedTuple):
    """Constraint gradients taken apart: E = U diag(σ) Vᵀ, basis T of the null space, Y of the left null space."""

    pseudo_inverse: Array
    T: Array
    Y: Array

    def reactions(self, f: Array) -> Array:
        """ν with Eᵀν = f, as far as it can be."""
        return np.asarray(self.pseudo_inverse.T @ f)


def rows_apart(E: Array, rank: float) -> SplitRows:
    """Rank of constraint gradients (rows of E, scaled) after normalising each row."""
    norms = np.linalg.norm(E, axis=1)
    weights = 1.0 / np.where(norms > 0, norms, 1.0)
    if not len(E):
        return SplitRows(np.zeros((E.shape[1], 0)), np.eye(E.shape[1]), np.zeros((0, 0)))
    U, sigma, Vt = np.linalg.svd(E * weights[:, None], full_matrices=True)
    r = int(np.count_nonzero(sigma > rank * sigma[0])) if sigma[0] > 0 else 0
    inverse = (Vt[:r].T / sigma[:r]) @ (U[:, :r] * weights[:, None]).T
    return SplitRows(inverse, Vt[r:].T, U[:, r:] * weights[:, None])


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Modes on the null space of some constraints: stiffness κ relative to the reference, and its rounding.

    Attributes
    ----------
    rows : the constraints taken apart.
    kappa : (k,) generalised eigenvalues in ascending order;  noise : (k,) what rounding makes of them.
    modes : (n, k) in scaled coordinates, of length one by the reference stiffness.
    """

    rows: SplitRows
    kappa: Array
    noise: Array
    modes: Array

    def floor(self, tolerances: Tolerances) -> Array:
        """What counts as zero, per mode."""
        return np.maximum(tolerances.singularity, self.noise)

    def negative(self, tolerances: Tolerances) -> int:
        """Number of modes that are clearly negative."""
        return int(np.count_nonzero(self.kappa < -self.floor(tolerances)))

    def positive(self, tolerances: Tolerances) -> bool:
        """Whether all modes are clearly positive."""
        return bool(np.all(self.kappa > self.floor(tolerances)))


def spectrum(K: Array, E: Array, reference: Array, rank: float) -> Spectrum:
    """Modes of the scaled Hessian K on the null space of the scaled gradients E, relative to the reference."""
    rows = rows_apart(E, rank)
    T = rows.T
    if not T.shape[1]:
        return Spectrum(rows, np.zeros(0), np.zeros(0), np.zeros((len(K), 0)))
    H, M = T.T @ K @ T, T.T @ reference @ T
    _, psi = eigh(H, M)
    modes = T @ psi
    kappa = np.einsum("ij,ij->j", modes, K @ modes)
    size = np.abs(modes)
    noise = SAFETY * EPS * np.einsum("ij,ij->j", size, np.abs(K) @ size)
    return Spectrum(rows, kappa, noise, modes)


def spectrum_at(e: Evaluation, gradients: Array, sizes: Sizes, tolerances: Tolerances) -> Spectrum:
    """Modes of the Lagrangian's Hessian on the null space of the gradients (rows, unscaled)."""
    return spectrum(sizes.hessian(e.L_qq), gradients * sizes.length, sizes.reference, tolerances.rank)


class Borders(Protocol):
    """Solves [[J, B], [C, 0]] (y, g) = right near a point at which J is nearly singular, but the whole is not."""

    def solve(self, e: Any, columns: Array, rows: Array, right: Array) -> Array:
        """(y, g) for B = `columns` and C = `rows`, with J at the evaluation e; NaN where there is no solution."""

    def smallest(self, e: Any, columns: Array, rows: Array) -> float:
        """About the smallest singular value of the whole."""


@dataclass(frozen=True, eq=False)
class DenseBorders:
    """The same with all of J."""

    piece: "Curve"

    def _matrix(self, e: Any, columns: Array, rows: Array) -> Array:
        J = self.piece.jacobian(e)
        m, n = J.shape
        whole = np.zeros((m + rows.shape[0], n + columns.shape[1]))
        whole[:m, :n], whole[:m, n:], whole[m:, :n] = J, columns, rows
        return whole

    def solve(self, e: Any, columns: Array, rows: Array, right: Array) -> Array:
        """Solution (y, g) of the bordered system; NaN where it is not finite."""
        matrix = self._matrix(e, columns, rows)
        if not (np.isfinite(matrix).all() and np.isfinite(right).all()):
            return np.full(len(right), np.nan)
        try:
            return np.asarray(np.linalg.solve(matrix, right))
        except np.linalg.LinAlgError:
            return np.full(len(right), np.nan)

    def smallest(self, e: Any, columns: Array, rows: Array) -> float:
        """Smallest singular value of the bordered matrix."""
        return float(np.linalg.svd(self._matrix(e, columns, rows), compute_uv=False)[-1])


def soft_modes(curve: "Curve", e: Any, count: int, tolerances: Tolerances) -> Array:
    """Some of the softest modes of a curve in scaled coordinates, (n, count) or fewer."""
    if curve.large:
        return cast("LargeCurve", curve).soft_modes(e, count)
    found = spectrum_at(e, e.c_q[curve.rows], curve.sizes, tolerances)
    return found.modes[:, np.argsort(np.abs(found.kappa))[:count]]


def stiffness_on(curve: "Curve", e: Any, basis: Array) -> Array:
    """The scaled Hessian between the columns of a basis."""
    if curve.large:
        return np.asarray(basis.T @ cast("LargeCurve", curve).stiffness_times(e, basis))
    return np.asarray(basis.T @ curve.sizes.hessian(e.L_qq) @ basis)


def negative_modes(curve: "Curve", x: Array, tolerances: Tolerances) -> int:
    """Number of modes at a packed point that are clearly negative."""
    return split(curve, x, tolerances).negative()


def bend(curve: "Curve", x: Array, v: Array) -> Array:
    """Scaled second derivative R''(v, v) of the equations along unknowns v."""
    raw = curve.system.along(x, curve.packed(v), 2)
    return np.asarray(np.concatenate([raw[: curve.n], raw[curve.n + curve.rows]]) / curve.weight)


def second(curve: "Curve", x: Array, u: Array, columns: Array) -> Array:
    """Scaled R''(u, v) for the columns v, by polarisation of unit vectors."""
    size = math.sqrt(u @ u)
    if size == 0.0:
        return np.zeros((curve.size - 1, columns.shape[1]))
    lengths, unit = np.linalg.norm(columns, axis=0), u / size
    values = [bend(curve, x, unit + v) - bend(curve, x, unit - v) for v in (columns / lengths).T]
    return np.asarray(np.stack(values, axis=1) * (size * lengths / 4.0))


def blur(curve: "Curve", x: Array, modes: Array) -> Array:
    """What rounding of the unknowns x themselves makes of the κ of some modes, columns of unknowns (q, 0, ν).

    κ' = (R''(v, v), φᵀL_qqp φ): stretching is a small difference of large coordinates, and its force part of κ.
    """
    n, y = curve.n, np.abs(curve.scaled(x))
    load = np.eye(1, curve.size, n)[0]
    lengths = np.linalg.norm(modes, axis=0)
    with_p = np.abs(np.einsum("ij,ij->j", modes[:n], second(curve, x, load, modes)[:n])) * y[n]
    rest = [np.abs(bend(curve, x, v)) @ np.delete(y, n) for v in (modes / lengths).T]
    return np.asarray(SAFETY * EPS * (with_p + np.array(rest) * lengths**2))


def undecided(curve: "Curve", x: Array, tolerances: Tolerances) -> bool:
    """Whether some mode is so soft that rounding may decide its sign, or constraints depend on each other."""
    try:
        parts = split(curve, x, tolerances)
    except InseparableError:
        return True
    kappa = np.diagonal(parts.linear)
    return bool(np.any(np.abs(kappa) <= np.maximum(UNDECIDED, parts.floor)))


def resists(curve: "Curve", x: Array, t: Array) -> bool:
    """Whether a system clearly resists its motion along a tangent, or does not move: no hidden mode leads that way."""
    e, v = curve.evaluate(x), t[: curve.n]
    if curve.large:
        large = cast("LargeCurve", curve)
        force, usual = large.stiffness_times(cast(Any, e), v), large.reference_times(v)
    else:
        force, usual = curve.sizes.hessian(e.L_qq) @ v, curve.sizes.reference @ v
    return bool(abs(v @ force) >= QUARTER_DIGITS * (v @ usual))


def floors(curve: "Curve", x: Array, kappa: Array, modes: Array, known: Array) -> Array:
    """What counts as zero of each κ, where all but the rounding of x is known."""
    undecided, floor = np.abs(kappa) > known, known.copy()
    if np.any(undecided):
        floor[undecided] = np.maximum(known[undecided], blur(curve, x, modes[:, undecided]))
    return floor


def decided_modes(curve: "Curve", x: Array, tolerances: Tolerances) -> int | None:
    """The same where no mode vanishes there; None where one does, or the system is large."""
    if curve.large:
        return None
    found: Split | Spectrum
    if curve.known_split[0] == (x.tobytes(), curve.sizes, tolerances):
        found = cast(Split, curve.known_split[1])
    else:
        e = curve.evaluate(x)
        found = spectrum_at(e, e.c_q[curve.rows], curve.sizes, tolerances)
    floor = np.maximum(tolerances.singularity, found.noise)
    decided = bool(np.all(np.abs(found.kappa) > floor))
    return int(np.count_nonzero(found.kappa < -floor)) if decided else None


def hidden(curve: "Curve", x: Array, tolerances: Tolerances, *, stuck: bool = False) -> str:
    """In words, where rounding of the Hessian hides modes: those of usual stiffness look like singular ones.

    Coordinates q = A q' make a Hessian AᵀK A of condition cond(A)²: what is left of soft modes is EPS cond(A)² off.
    Where a path is `stuck`, modes without stiffness but for rounding of the stiffest are named as well.
    """
    if curve.large:
        return ""
    parts = split(curve, x, tolerances)
    worst, lost = float(np.max(parts.noise, initial=0.0)), bool(np.any(np.abs(parts.kappa) <= ROUNDING))
    if worst <= NEAR and not (stuck and lost):
        return ""
    if worst <= NEAR:
        return "some modes have no stiffness but for rounding: free to move, or in coordinates to be conditioned better"
    share = f"{worst:.2g} of the stiffness" if worst < 1.0 else "the stiffness"
    return f"rounding hides {share} of some modes: use coordinates that are better conditioned"


@dataclass(frozen=True, eq=False)
class Split:
    """The linearised equations J of a smooth piece at a point, taken apart into a regular and a singular part.

    In scaled unknowns (q, p, ν) and equations (L_q, c). Modes with small κ and the response to p span a space in which
    J acts as the small matrix `linear`, (near, near + 1); outside it J is well conditioned.

    Attributes
    ----------
    span : (size, near + 1 + dependent) the unknowns of that space: modes, response to p, idle multipliers;
        the response is left out where constraints that depend on each other move apart with p.
    tests : (size − 1, near + dependent) vectors of the equations that belong to it.
    linear : tests · J · span.
    floor : (near + dependent,) what counts as zero in the rows of `linear`.
    kappa : all generalised eigenvalues; those of the modes set apart where the system is large.
    noise : what rounding makes of them; not known where the system is large.
    regular : what the inverse of J outside that space makes of a right-hand side, (size − 1,) → (size,).
    borders : solves J with a few more rows and columns, near the point.
    outside : number of negative modes that are not set apart.
    """

    span: Array
    tests: Array
    linear: Array
    floor: Array
    kappa: Array
    regular: Callable[[Array], Array]
    borders: Borders
    outside: int
    noise: Array | float = np.nan

    @cached_property
    def _svd(self) -> tuple[Array, Array, Array]:
        return np.linalg.svd(self.linear / self.floor[:, None], full_matrices=True)

    @cached_property
    def rank(self) -> int:
        """Rank of the small matrix."""
        return int(np.count_nonzero(self._svd[1] > 1.0))

    @cached_property
    def N(self) -> Array:
        """Null space of J, (size, d + 1); columns of length one by the reference stiffness, not by the unknowns."""
        return self.span @ self._svd[2][self.rank :].T

    @cached_property
    def Z(self) -> Array:
        """Left null space of J, (size − 1, d)."""
        left = self._svd[0][:, self.rank :] / self.floor[:, None]
        return self.tests @ (left / np.linalg.norm(left, axis=0)) if left.shape[1] else self.tests[:, :0]

    @cached_property
    def _small(self) -> Array:
        """Generalised inverse of the small matrix."""
        U, sigma, Vt = self._svd
        r = self.rank
        return np.asarray((Vt[:r].T / sigma[:r]) @ (U[:, :r] / self.floor[:, None]).T)

    def inverse(self, right: Array) -> Array:
        """What a generalised inverse of J that leaves the null space alone makes of a right-hand side."""
        return np.asarray(self.regular(right) + self.span @ (self._small @ (self.tests.T @ right)))

    def inverse_row(self, i: int) -> Array:
        """Row of that inverse for an unknown that the regular part does not move: p."""
        return np.asarray((self.span[i] @ self._small) @ self.tests.T)

    def negative(self) -> int:
        """Number of modes that are clearly negative."""
        kappa = np.diagonal(self.linear)
        return self.outside + int(np.count_nonzero(kappa < -self.floor))


def split(
    piece: "Curve", x: Array, tolerances: Tolerances, *, keep: int | None = None, like: Split | None = None
) -> Split:
    """Take the linearised equations of a piece apart at the packed point x.

    Parameters
    ----------
    keep : number of modes set apart, the softest ones; by default those that are nearly singular.
    like : what was found at a point close by; large systems take over in which modes they are nearly singular.
    """
    if keep is not None or like is not None:
        return _split(piece, x, tolerances, keep, like)
    asked = (x.tobytes(), piece.sizes, tolerances)
    if piece.known_split[0] != asked:
        piece.known_split = asked, _split(piece, x, tolerances, None, None)
    return cast(Split, piece.known_split[1])


def _split(piece: "Curve", x: Array, tolerances: Tolerances, keep: int | None, like: Split | None) -> Split:
    """The same, dense or sparse as the curve is."""
    if piece.large:
        return cast("LargeCurve", piece).split(x, tolerances, keep, like)
    return _taken_apart(piece, x, tolerances, keep)


def _taken_apart(piece: "Curve", x: Array, tolerances: Tolerances, keep: int | None) -> Split:
    """The parts of the linearised equations at a point."""
    e = piece.evaluate(x)
    n, w, sizes, gap = piece.n, piece.w, piece.sizes, piece.scales.gap[piece.rows]
    K, E = sizes.hessian(e.L_qq), e.c_q[piece.rows] * sizes.length / gap[:, None]
    load, moving = e.L_qp * sizes.control / sizes.force, e.c_p[piece.rows] * sizes.control / gap
    modes = spectrum(K, E, sizes.reference, tolerances.rank)
    rows = modes.rows
    near = np.abs(modes.kappa) <= np.maximum(NEAR, modes.noise)
    if keep is not None:
        near = np.isin(np.arange(len(near)), np.argsort(np.abs(modes.kappa))[:keep])
    phi, far = modes.modes[:, near], modes.modes[:, ~near]
    compliance = (far / modes.kappa[~near]) @ far.T
    count, idle = phi.shape[1], rows.Y.shape[1]

    shift = -rows.pseudo_inverse @ moving
    h = load + K @ shift
    response = shift - compliance @ h
    c = phi.T @ h
    unit = 1.0 / max(1.0, math.sqrt(response @ sizes.reference @ response + c @ c))
    column = np.concatenate([response, [1.0], rows.reactions(K @ response + load)])[:, None] * unit
    apart = RegularPart(K, rows, compliance), DenseBorders(piece), int(np.count_nonzero(modes.kappa[~near] < 0))
    if not count + idle:
        nothing = np.zeros((n + w, 0)), np.zeros((0, 1)), np.zeros(0)
        return Split(column, *nothing, modes.kappa, *apart, modes.noise)
    consistent = not np.any(np.abs(rows.Y.T @ moving) > tolerances.rank * (1.0 + np.abs(rows.Y.T) @ np.abs(moving)))
    held = rows.reactions(K @ phi)
    columns = [np.vstack([phi, np.zeros((1, count)), held])]
    columns += [column] if consistent else []
    columns += [np.vstack([np.zeros((n + 1, idle)), rows.Y])]
    tests = np.vstack([np.hstack([phi, np.zeros((n, idle))]), np.hstack([-held, rows.Y])])
    linear = np.zeros((count + idle, sum(block.shape[1] for block in columns)))
    linear[:count, :count] = np.diag(modes.kappa[near])
    if consistent:
        linear[:count, count] = c * unit
    rounding = SAFETY * EPS * (np.abs(phi).T @ (np.abs(load) + np.abs(K) @ np.abs(shift))) * unit
    known = np.maximum(modes.floor(tolerances)[near], rounding)
    floor = np.append(floors(piece, x, modes.kappa[near], columns[0], known), np.ones(idle))
    return Split(np.hstack(columns), tests, linear, floor, modes.kappa, *apart, modes.noise)


@dataclass(frozen=True, eq=False)
class RegularPart:
    """Inverse of J outside the near modes, at fixed p: (u, 0, ν) with K u − Eᵀν = f, E u = g."""

    K: Array
    rows: SplitRows
    compliance: Array

    @cached_property
    def _matrix(self) -> Array:
        P, (n, w) = self.rows.pseudo_inverse, self.rows.pseudo_inverse.shape
        u = np.hstack([self.compliance, P - self.compliance @ (self.K @ P)])
        return np.vstack([u, np.zeros((1, n + w)), self.rows.reactions(self.K @ u - np.eye(n, n + w))])

    def __call__(self, right: Array) -> Array:
        """What it makes of a right-hand side, (n + w,) → (n + 1 + w,)."""
        return np.asarray(self._matrix @ right)
