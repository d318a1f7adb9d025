"""Directions of the branches at a singular point of one smooth piece: the branching equation.

With N the null space of J (d ≥ 2 columns) and Z its left null space, branches leave along t = N y with
Zᵀ R''(N y, N y) = 0: d − 1 homogeneous quadratic equations in d unknowns.
"""

from itertools import combinations_with_replacement, product

import numpy as np

from onesided import linalg
from onesided._types import Array
from onesided.model.system import System
from onesided.statics.curve import Curve
from onesided.statics.taylor import Taylor
from onesided.tolerances import EPS, Tolerances


def branch_directions(system: System, x: Array, piece: Curve, N: Array, tolerances: Tolerances) -> list[Array] | None:
    """Unit directions (both signs of each line) of all branches, or None when no order up to three decides."""
    taylor = Taylor(system, x, piece, N[:, 0], tolerances)
    _, _, Z = taylor._split
    Z = Z if Z.shape[1] else np.zeros((N.shape[0] - 1, 0))
    forms = _quadratic_forms(taylor, N, Z)
    small = np.sqrt(tolerances.singularity)
    if not len(forms) or np.max(np.abs(forms)) <= small:
        return _cubic_directions(taylor, N, Z, small) if N.shape[1] == 2 and Z.shape[1] == 1 else None
    if N.shape[1] == 2 and len(forms) == 1:
        lines = _roots_of_pair(forms[0])
    else:
        lines = _roots_of_system(forms)
        if len(lines) > 2 ** len(forms):  # more than isolated roots of so many quadrics (Bézout): third order decides
            lines = _roots_with_third_order(taylor, N, Z, forms)
    return [sign * N @ y for y in lines for sign in (1.0, -1.0)]


def _quadratic_forms(taylor: Taylor, N: Array, Z: Array) -> Array:
    """Symmetric matrices Q_k with (Zᵀ R''(N y, N y))_k = yᵀ Q_k y."""
    d = N.shape[1]
    Q = np.zeros((Z.shape[1], d, d))
    for i, j in combinations_with_replacement(range(d), 2):
        Q[:, i, j] = Q[:, j, i] = Z.T @ taylor.mixed(N[:, i], N[:, j])
    return Q


def _roots_of_pair(Q: Array) -> list[Array]:
    """Lines y with yᵀ Q y = 0 for a 2 × 2 symmetric Q: two, one (double) or none."""
    values, vectors = np.linalg.eigh(Q)
    low, high = float(values[0]), float(values[1])
    size = max(abs(low), abs(high))
    if abs(low) <= EPS**0.5 * size or abs(high) <= EPS**0.5 * size:
        return [vectors[:, 0] if abs(low) < abs(high) else vectors[:, 1]]
    if low * high > 0:
        return []
    a, b = np.sqrt(high), np.sqrt(-low)
    roots = [a * vectors[:, 0] + b * vectors[:, 1], a * vectors[:, 0] - b * vectors[:, 1]]
    return [y / np.linalg.norm(y) for y in roots]


def _roots_of_system(Q: Array) -> list[Array]:
    """Lines y that are common zeros of several quadratic forms, by Newton from many starts on the sphere."""
    d = Q.shape[1]
    starts = np.random.default_rng(0).normal(size=(200 * d, d))
    found: list[Array] = []
    for y in starts / np.linalg.norm(starts, axis=1)[:, None]:
        root = _newton_on_sphere(Q, y)
        if root is not None and all(abs(root @ other) < 1.0 - EPS**0.5 for other in found):
            found.append(root)
    return found


def _newton_on_sphere(Q: Array, y: Array) -> Array | None:
    size = float(np.max(np.abs(Q)))
    for _ in range(50):
        residual = np.concatenate([np.einsum("kij,i,j->k", Q, y, y), [0.0]])
        if np.max(np.abs(residual)) <= 100 * EPS * size:
            return y
        J = np.vstack([2.0 * Q @ y, y])
        y = y - np.linalg.lstsq(J, residual, rcond=None)[0]
        y = y / np.linalg.norm(y)
    return None


def _roots_with_third_order(taylor: Taylor, N: Array, Z: Array, Q: Array) -> list[Array]:
    """Lines y for which some ẍ = N α + … also solves the third-order equation C(y, y, y) + 3 Q(y, α) = 0."""
    C = _cubic_form(taylor, N, Z)
    d = N.shape[1]
    found: list[Array] = []
    for start in np.random.default_rng(1).normal(size=(100 * d, 2 * d)):
        y = _newton_on_pair(Q, C, start[:d] / np.linalg.norm(start[:d]), start[d:])
        if y is not None and all(abs(y @ other) < 1.0 - EPS**0.25 for other in found):
            found.append(y)
    return found


def _cubic_form(taylor: Taylor, N: Array, Z: Array) -> Array:
    """Symmetric tensors C of the third-order terms: third derivatives on N, second ones with the bend outside N."""
    inverse, _, _ = taylor._split
    d = N.shape[1]
    C = np.zeros((Z.shape[1], d, d, d))
    bends = {(i, j): -inverse @ taylor.mixed(N[:, i], N[:, j]) for i in range(d) for j in range(d)}
    for i, j, k in product(range(d), repeat=3):
        third = taylor.mixed_third(N[:, i], N[:, j], N[:, k])
        pairs = ((i, (j, k)), (j, (i, k)), (k, (i, j)))
        C[:, i, j, k] = Z.T @ (third + sum(taylor.mixed(N[:, a], bends[b]) for a, b in pairs))
    return C


def _newton_on_pair(Q: Array, C: Array, y: Array, alpha: Array) -> Array | None:
    """Gauss–Newton on yᵀQy = 0 and C(y, y, y) + 3yᵀQα = 0 with |y| = 1; an isolated line y, or None."""
    size, d = float(max(np.max(np.abs(Q)), np.max(np.abs(C)))), len(y)
    for _ in range(100):
        Cyy = np.einsum("kabc,b,c->ka", C, y, y)
        quadratic, cubic = np.einsum("kij,i,j->k", Q, y, y), Cyy @ y + 3.0 * (Q @ alpha) @ y
        residual = np.concatenate([quadratic, cubic, [y @ y - 1.0]])
        J = np.block(
            [[2.0 * Q @ y, np.zeros((len(Q), d))], [3.0 * (Cyy + Q @ alpha), 3.0 * Q @ y], [2.0 * y, np.zeros(d)]]
        )
        if np.max(np.abs(residual)) <= 1000 * EPS * max(1.0, size):
            free = linalg.null_space(J, rank=EPS**0.375)[:d]
            return y / np.linalg.norm(y) if np.max(np.abs(free), initial=0.0) <= EPS**0.25 else None
        step = np.linalg.lstsq(J, -residual, rcond=None)[0]
        y, alpha = y + step[:d], alpha + step[d:]
    return None


def _cubic_directions(taylor: Taylor, N: Array, Z: Array, small: float) -> list[Array] | None:
    """Where all second derivatives vanish: lines on which the cubic form Zᵀ(R''' + 3R''(·, ẍ)) vanishes."""

    def form(angle: float) -> float:
        y = N @ np.array([np.cos(angle), np.sin(angle)])
        branch = Taylor(taylor.system, taylor.x, taylor.piece, y, taylor.tolerances)
        inverse, _, _ = branch._split
        a = -inverse @ branch.form(y, 2)
        return float(Z[:, 0] @ (branch.form(y, 3) + 3.0 * branch.mixed(y, a)))

    angles = np.linspace(0.0, np.pi, 5)[:4]
    samples = np.array([form(angle) for angle in angles])
    if np.max(np.abs(samples)) <= small:
        return None
    basis = np.array([[np.cos(a) ** (3 - k) * np.sin(a) ** k for k in range(4)] for a in angles])
    coefficients = np.linalg.solve(basis, samples)
    lines = [np.array([np.cos(a), np.sin(a)]) for a in _angles_of_cubic(coefficients, small)]
    return [sign * N @ y for y in lines for sign in (1.0, -1.0)]


def _angles_of_cubic(coefficients: Array, small: float) -> list[float]:
    """Angles at which Σ c_k cos³⁻ᵏ sinᵏ = 0: roots of a cubic in the tangent, and 90° where its lead vanishes."""
    lead = np.abs(coefficients) > small * np.max(np.abs(coefficients))
    angles = [] if lead[3] else [np.pi / 2]
    top = int(np.max(np.flatnonzero(lead)))
    roots = np.roots(coefficients[: top + 1][::-1])
    return angles + [float(np.arctan(r.real)) for r in roots if abs(r.imag) <= small * (1.0 + abs(r))]
