"""Nearly singular modes of large structures, and linearised equations taken apart without a dense matrix.

Modes with κ near zero [`spectrum`] are found by shift-invert block Lanczos with the sparse KKT matrix of the working
set; the inertia at two shifts says how many there are. Bordered by M times these modes, K is regular where it is
singular itself: one sparse factorisation gives modes, response to p and the inverse outside them.
"""

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh

from onesided.base.tolerances import EPS, HALF_DIGITS, Tolerances
from onesided.base.types import Array
from onesided.linalg import SparseKkt
from onesided.statics.curves.spectrum import NEAR, SAFETY, InseparableError, Split, floors

if TYPE_CHECKING:  # curves know their spectra
    from onesided.statics.curves.large import LargeCurve

DENSE_ADVICE = "compose(…, sparse=False) where the structure is not too large"
MOST = 12  # nearly singular modes beyond which a structure is called singular as a whole
SPARE = 2  # modes more than asked for in a block
ROUNDS = 6  # of block Lanczos: each divides what is wrong by the ratio of stiffnesses, or by more
DEPENDENT = HALF_DIGITS  # share of a vector that is new below which it is none
STRETCH = 4.0  # largest length, by the reference, of a mode that was taken over: beyond, it is another one


def soft_modes(curve: "LargeCurve", e: Any, count: int) -> Array:
    """The modes of smallest |κ|, of length one by the reference stiffness, (n, count) or fewer."""
    _shift(curve, e, NEAR)
    return _lanczos(curve, e, count)


def near_modes(curve: "LargeCurve", e: Any) -> Array:
    """All modes with |κ| ≤ NEAR, and one more; at least two."""
    above = _shift(curve, e, -NEAR)
    below = _shift(curve, e, NEAR)
    if above - below > MOST:
        raise InseparableError(
            "too many modes of a large system are singular at once",
            None,
            got=f"{above - below} modes without stiffness, more than {MOST}",
            advice="hold what can move freely",
        )
    return _lanczos(curve, e, max(above - below, 1) + 1)


def _shift(curve: "LargeCurve", e: Any, shift: float) -> int:
    """Factorise K + shift · M on the working set; number of modes with κ < −shift."""
    kkt, m = curve.kkt_matrix, len(curve.closed)
    entries = curve.stiffness_entries(e)
    for scale in (1.0, 1.0 + DEPENDENT):
        kkt.factor(entries + scale * shift * curve.sizes.reference, curve.gradient_entries(e), curve.closed)
        if not kkt.inertia.zero:
            return kkt.inertia.negative - m
    raise InseparableError(
        "constraints of a large system depend on each other",
        None,
        got=f"{len(curve.rows)} constraints, {kkt.inertia.zero} directions without stiffness",
        advice=f"leave out what is redundant, or {DENSE_ADVICE}",
    )


def _lanczos(curve: "LargeCurve", e: Any, count: int) -> Array:
    """Block Lanczos with the factorised K + shift · M, fully orthogonalised; then Rayleigh and Ritz."""
    n, m, free = curve.n, len(curve.closed), curve.n - len(curve.rows)
    if not free:
        return np.zeros((n, 0))
    block: Array = np.random.default_rng(0).normal(size=(n, min(count + SPARE, free)))
    block = np.asarray(block / np.sqrt(np.abs(_diagonal(curve)))[:, None])
    basis = np.zeros((n, 0))
    for _ in range(ROUNDS):
        right = curve.reference_times(block)
        solved = [curve.kkt_matrix.solve(np.append(column, np.zeros(m)))[:n] for column in right.T]
        block = _new_directions(curve, basis, np.column_stack(solved))
        basis = np.hstack([basis, block])
        if not block.shape[1] or basis.shape[1] >= free:
            break
    H = basis.T @ curve.stiffness_times(e, basis)
    kappa, turn = np.linalg.eigh(0.5 * (H + H.T))
    return np.asarray(basis @ turn[:, np.argsort(np.abs(kappa))[:count]])


def _diagonal(curve: "LargeCurve") -> Array:
    """Diagonal of the reference stiffness."""
    at = curve.pattern
    on = at.rows == at.entry_columns
    diagonal = np.ones(curve.n)
    diagonal[at.rows[on]] = curve.sizes.reference[on]
    return np.where(diagonal > 0, diagonal, 1.0)


def _new_directions(curve: "LargeCurve", basis: Array, block: Array) -> Array:
    """What a block adds to a basis, orthonormal by the reference stiffness."""
    for _ in range(2):
        sizes = np.sqrt(np.maximum(np.einsum("ij,ij->j", block, curve.reference_times(block)), 0.0))
        block = block[:, sizes > 0] / sizes[sizes > 0]
        block = block - basis @ (curve.reference_times(basis).T @ block)
        values, vectors = np.linalg.eigh(block.T @ curve.reference_times(block))
        kept = values > DEPENDENT
        block = block @ (vectors[:, kept] / np.sqrt(values[kept]))
    return np.asarray(block)


def nearly_singular(curve: "LargeCurve", e: Any, limit: float = NEAR, rounds: int = ROUNDS) -> bool:
    """Whether some |κ| is about `limit` or less, by inverse iteration with K itself factorised."""
    curve.factor(e)
    if curve.kkt_matrix.inertia.zero:
        return True
    n, m = curve.n, len(curve.closed)
    v: Array = np.cos(1.0 + np.arange(n, dtype=np.float64)) / np.sqrt(_diagonal(curve))
    for _ in range(rounds):
        force = curve.reference_times(v)
        length = math.sqrt(max(float(v @ force), 0.0))
        if not 0.0 < length < np.inf:
            return length > 0.0 or not np.isfinite(length)
        v = np.asarray(curve.kkt_matrix.solve(np.append(force / length, np.zeros(m)), refine=False)[:n])
        grown = math.sqrt(max(float(v @ curve.reference_times(v)), 0.0))
        if not grown * limit < 1.0:
            return True
    return False


class Deflated:
    """K bordered by some columns C, M Φ for the nearly singular modes Φ: regular near a singular point of K.

    [[K, C], [Cᵀ, 0]] (x, τ) = (f, α) with x = (u, −ν): K x = f but for forces Cτ, and u has the shares α of the modes.
    """

    def __init__(self, curve: "LargeCurve", C: Array) -> None:
        at, self.curve, self.C = curve.pattern, curve, C
        n, m, d = at.n, at.m, C.shape[1]
        self.d = d
        constraints = np.concatenate([at.entry_constraints, np.repeat(m + np.arange(d), n)])
        columns = np.concatenate([at.columns, np.tile(np.arange(n), d)])
        self.kkt = SparseKkt(n, m + d, (at.rows, at.entry_columns), (constraints, columns))

    def factor(self, e: Any) -> None:
        """Factorise at e, unless that was done last."""
        curve = self.curve
        if self.kkt.held(curve.rows) is e:
            return
        gradients = np.concatenate([curve.gradient_entries(e), self.C.T.ravel()])
        closed = np.append(curve.closed, np.ones(self.d, dtype=bool))
        self.kkt.factor(curve.stiffness_entries(e), gradients, closed, of=(e, curve.rows))

    @property
    def outside(self) -> int:
        """Negative modes among those without any share of the border: Cᵀu = 0."""
        return int(self.kkt.inertia.negative - len(self.curve.closed) - self.d)

    def apply(self, f: Array, shares: Array) -> tuple[Array, Array]:
        """(x, τ) for forces f and shares of the modes."""
        solution = self.kkt.solve(np.concatenate([f, shares]))
        split_at = len(solution) - self.d
        return solution[:split_at], solution[split_at:]

    def modes(self) -> tuple[Array, Array]:
        """Unknowns (q, 0, ν) with unit shares of the modes, as columns, and the forces τ that hold them."""
        return self._columns([(np.zeros(self._size), share) for share in np.eye(self.d)], 0.0)

    def response(self, e: Any) -> tuple[Array, Array]:
        """Unknowns (q, 1, ν) that follow p without any share of the modes, and the forces τ that this takes."""
        return self._columns([(-self.curve.load(e), np.zeros(self.d))], 1.0)

    def regular(self, right: Array) -> Array:
        """Unknowns (q, 0, ν) for a right-hand side, without any share of the modes."""
        return self.curve.contract(self.apply(self.curve.full(right), np.zeros(self.d))[0], 0.0)

    @property
    def _size(self) -> int:
        return self.curve.n + len(self.curve.closed)

    def _columns(self, rights: list[tuple[Array, Array]], p: float) -> tuple[Array, Array]:
        found = [self.apply(*right) for right in rights]
        columns = [self.curve.contract(x, p) for x, _ in found]
        shape = (self.curve.size, len(rights))
        shares = np.array([tau for _, tau in found]).reshape(len(found), self.d)
        return np.array(columns).reshape(shape[::-1]).T, shares.T

    def solve(self, e: Any, columns: Array, rows: Array, right: Array) -> Array:
        """(y, g) with J y + B g = r, C y = s: p, g and the shares of the modes from as many equations."""
        if not e.finite() or not np.all(np.isfinite(right)):
            return np.full(len(right), np.nan)
        self.factor(e)
        n, d, zero = self.curve.size - 1, self.d, np.zeros(self.d)
        free = [self._columns([(self.curve.full(right[:n]), zero)], 0.0), self.response(e)]
        free += [self._columns([(-self.curve.full(column), zero) for column in columns.T], 0.0), self.modes()]
        Y, T = (np.hstack(blocks) for blocks in zip(*free, strict=True))
        matrix = np.vstack([T, rows @ Y])
        target = np.concatenate([np.zeros(d), right[n:]]) - matrix[:, 0]
        shares = _small_solution(matrix[:, 1:], target)
        return np.concatenate([Y[:, 0] + Y[:, 1:] @ shares, shares[1 : 1 + columns.shape[1]]])

    def smallest(self, e: Any, columns: Array, rows: Array) -> float:
        """How little a right-hand side in the nearly singular directions is shrunk at most."""
        self.factor(e)
        tests, _ = _tests(self.curve, self.modes()[0])
        tests = tests / np.linalg.norm(tests, axis=0)
        more = np.zeros(rows.shape[0])
        grown = [self.solve(e, columns, rows, np.append(test, more)) for test in tests.T]
        largest = max(float(np.linalg.norm(one)) for one in grown)
        return 1.0 / largest if largest > 0 else 0.0


def _small_solution(matrix: Array, right: Array) -> Array:
    """Solution of a small system with equations of any size; NaN where it is singular."""
    sizes = np.max(np.abs(matrix), axis=1)
    sizes = np.where(sizes > 0, sizes, 1.0)
    if not np.all(np.isfinite(matrix)):
        return np.full(len(right), np.nan)
    try:
        return np.asarray(np.linalg.solve(matrix / sizes[:, None], right / sizes))
    except np.linalg.LinAlgError:
        return np.full(len(right), np.nan)


def _tests(curve: "LargeCurve", span: Array) -> tuple[Array, Array]:
    """Vectors of the equations that belong to modes (q, 0, ν): (q, −ν); and the displacements alone."""
    n = curve.n
    return np.vstack([span[:n], -span[n + 1 :]]), span[:n]


def large_split(curve: "LargeCurve", x: Array, tolerances: Tolerances, keep: int | None, like: Split | None) -> Split:
    """The sparse twin of `spectrum.split`: constraints must be independent."""
    e = curve.evaluate(x)
    if like is not None and isinstance(like.borders, Deflated):
        taken = _apart(curve, x, like.borders, tolerances)
        if taken is not None:
            return _keeping(taken, keep)
    found = _apart(curve, x, Deflated(curve, curve.reference_times(near_modes(curve, e))), tolerances)
    if found is None:
        raise InseparableError(
            "the nearly singular modes of a large system are not accurate", None, advice=DENSE_ADVICE
        )
    return _keeping(found, keep)


def _apart(curve: "LargeCurve", x: Array, deflated: Deflated, tolerances: Tolerances) -> Split | None:
    """The linearised equations with the modes of a border set apart; None where these are not the singular ones."""
    e = curve.evaluate(x)
    deflated.factor(e)
    modes, held = deflated.modes()
    along, forces = deflated.response(e)
    weights = modes[: curve.n].T @ curve.reference_times(modes[: curve.n])
    if not np.all(np.isfinite(weights)) or np.max(np.diagonal(weights), initial=0.0) > STRETCH**2:
        return None
    kappa, turn = eigh(-0.5 * (held + held.T), weights)
    modes, c = modes @ turn, -turn.T @ forces[:, 0]
    tests, phi = _tests(curve, modes)
    response = along[: curve.n, 0]
    unit = 1.0 / max(1.0, float(np.sqrt(response @ curve.reference_times(response) + c @ c)))
    noise = np.einsum("ij,ij->j", np.abs(phi), curve.stiffness_times(e, np.abs(phi), sizes=True))
    load = np.abs(curve.load(e))
    rounding = np.abs(tests).T @ np.append(load[: curve.n], load[curve.n + curve.rows]) * unit
    known = np.maximum(tolerances.singularity, SAFETY * EPS * np.maximum(noise, rounding))
    floor = floors(curve, x, kappa, modes, known)
    linear = np.column_stack([np.diag(kappa), c * unit])
    span = np.hstack([modes, along * unit])
    return Split(span, tests, linear, floor, kappa, deflated.regular, deflated, deflated.outside)


def _keeping(parts: Split, keep: int | None) -> Split:
    """The same with the softest modes only set apart; the others belong to what is regular."""
    kappa = np.diagonal(parts.linear)
    if keep is None or keep >= len(kappa):
        return parts
    order = np.argsort(np.abs(kappa))
    kept, rest = np.sort(order[:keep]), order[keep:]
    soft, tests, share = parts.span[:, rest], parts.tests[:, rest], parts.linear[rest, -1] / kappa[rest]
    response = parts.span[:, -1] - soft @ share
    return replace(
        parts,
        span=np.column_stack([parts.span[:, kept], response]),
        tests=parts.tests[:, kept],
        linear=parts.linear[np.ix_(kept, np.append(kept, len(kappa)))],
        floor=parts.floor[kept],
        regular=partial(_regular_with, parts, soft / kappa[rest], tests),
        outside=parts.outside + int(np.count_nonzero(kappa[rest] < 0)),
    )


def _regular_with(parts: Split, soft: Array, tests: Array, right: Array) -> Array:
    """The regular inverse with some more modes in it."""
    return np.asarray(parts.regular(right) + soft @ (tests.T @ right))
