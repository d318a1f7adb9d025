"""All zeros of polynomial systems on the complex sphere b·b = 1, by a homotopy from a system whose zeros are known.

d equations of degree m and the sphere have at most 2 mᵈ isolated zeros (Bézout): so many paths of
(1 − t) γ S(Y) + t F(Y) = 0 lead from the zeros of S_i = Y_iᵐ − Y_0ᵐ to them, in projective space, where all are finite.
"""

from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from onesided.base.tolerances import EPS, MOST_DIGITS, SOME_DIGITS

Numbers = np.ndarray[tuple[Any, ...], np.dtype[Any]]  # real or complex

FIRST_STEP = 0.02
LAST_STEP = MOST_DIGITS  # of t: a path that needs shorter ones ends at a singular zero
ON_PATH = EPS**0.4  # relative size of the last Newton step that keeps a point on its path
AT_INFINITY = SOME_DIGITS  # share of the homogenising unknown below which a zero is infinitely far
ROUNDS = 500
NEWTON_STEPS = 3


@dataclass(frozen=True)
class Endpoints:
    """Zeros that the paths led to.

    Attributes
    ----------
    points : (found, variables), complex: finite zeros, multiple ones as often as paths lead to them.
    paths : number of paths;  lost : those that did not arrive.
    """

    points: Numbers
    paths: int
    lost: int


@dataclass(frozen=True)
class _Target:
    """Homogenised equations F_i(Y), Y = (Y_0, b), and the sphere Σ b² = Y_0² as the last one."""

    exponents: Numbers
    coefficients: Numbers
    degree: int
    gamma: complex
    patch: Numbers

    def system(self, Y: Numbers, t: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Values of the homotopy with the patch as last equation, its matrix, its derivative to t."""
        F, F_Y = self._target(Y)
        S, S_Y = self._start(Y)
        t = t[:, None]
        H = (1.0 - t) * self.gamma * S + t * F
        H_Y = (1.0 - t[:, :, None]) * self.gamma * S_Y + t[:, :, None] * F_Y
        count = len(Y)
        matrix = np.concatenate([H_Y, np.broadcast_to(self.patch, (count, 1, len(self.patch)))], axis=1)
        value = np.column_stack([H, Y @ self.patch - 1.0])
        return value, matrix, np.column_stack([F - self.gamma * S, np.zeros(count)])

    def _target(self, Y: Numbers) -> tuple[Numbers, Numbers]:
        powers = np.ones((self.degree + 1, *Y.shape), dtype=np.complex128)
        for k in range(self.degree):
            powers[k + 1] = powers[k] * Y
        powers = np.ascontiguousarray(powers.transpose(1, 2, 0))
        factors = [powers[:, j, self.exponents[:, j]] for j in range(Y.shape[1])]
        values = reduce(np.multiply, factors) @ self.coefficients.T
        slopes = []
        for j in range(Y.shape[1]):
            e = self.exponents[:, j]
            lowered = e * powers[:, j, np.maximum(e - 1, 0)]
            others = [factor for i, factor in enumerate(factors) if i != j]
            slopes.append(reduce(np.multiply, others, lowered) @ self.coefficients.T)
        return _with_sphere(Y, values, np.stack(slopes, axis=-1))

    def _start(self, Y: Numbers) -> tuple[Numbers, Numbers]:
        m, d = self.degree, Y.shape[1] - 2
        values = Y[:, 1:-1] ** m - Y[:, :1] ** m
        slopes = np.zeros((len(Y), d, d + 2), dtype=np.complex128)
        slopes[:, :, 0] = -m * Y[:, :1] ** (m - 1)
        slopes[:, np.arange(d), np.arange(1, d + 1)] = m * Y[:, 1:-1] ** (m - 1)
        last = np.zeros((len(Y), 1, d + 2), dtype=np.complex128)
        last[:, 0, 0], last[:, 0, -1] = -2.0 * Y[:, 0], 2.0 * Y[:, -1]
        values = np.column_stack([values, Y[:, -1] ** 2 - Y[:, 0] ** 2])
        return values, np.concatenate([slopes, last], axis=1)


def track(exponents: Numbers, coefficients: Numbers, degree: int, seed: int) -> Endpoints:
    """Follow all paths; exponents (monomials, 1 + variables), coefficients (equations, monomials)."""
    rng = np.random.default_rng(seed)
    unknowns = exponents.shape[1]
    patch = np.asarray(rng.normal(size=unknowns) + 1j * rng.normal(size=unknowns))
    gamma = complex(np.exp(2j * np.pi * rng.uniform()))
    largest = np.max(np.abs(coefficients), axis=1, keepdims=True)
    target = _Target(exponents, coefficients / largest, degree, gamma, patch)
    Y, arrived = _follow(target, _starts(degree, unknowns - 2))
    finite = np.abs(Y[:, 0]) > AT_INFINITY * np.max(np.abs(Y), axis=1)
    return Endpoints(Y[finite, 1:] / Y[finite, :1], len(Y), int(np.count_nonzero(~arrived)))


def _with_sphere(Y: Numbers, values: Numbers, slopes: Numbers) -> tuple[Numbers, Numbers]:
    sphere = np.sum(Y[:, 1:] ** 2, axis=1) - Y[:, 0] ** 2
    row = 2.0 * Y * np.concatenate([[-1.0], np.ones(Y.shape[1] - 1)])
    return np.column_stack([values, sphere]), np.concatenate([slopes, row[:, None, :]], axis=1)


def _starts(degree: int, equations: int) -> Numbers:
    roots = np.exp(2j * np.pi * np.arange(degree) / degree)
    return np.array([(1.0, *point, last) for point in product(roots, repeat=equations) for last in (1.0, -1.0)])


def _follow(target: _Target, Y: Numbers) -> tuple[Numbers, Numbers]:
    """Ends of all paths, and which of them arrived (at singular zeros: came as close as round-off lets them)."""
    Y = Y / (Y @ target.patch)[:, None]
    t, h = np.zeros(len(Y)), np.full(len(Y), FIRST_STEP)
    good = np.zeros(len(Y), dtype=np.intp)
    for _ in range(ROUNDS):
        live = np.flatnonzero((t < 1.0) & (h > LAST_STEP))
        if not len(live):
            break
        step = np.minimum(h[live], 1.0 - t[live])
        aim = np.where(step >= 1.0 - t[live], 1.0, t[live] + step)
        moved, ok = _correct(target, _predict(target, Y[live], t[live], aim - t[live]), aim)
        taken = live[ok]
        Y[taken], t[taken] = moved[ok], aim[ok]
        good[live] = np.where(ok, good[live] + 1, 0)
        h[live] = np.where(ok, np.where(good[live] >= 2, 2.0 * step, step), 0.35 * step)
    return Y, 1.0 - t <= LAST_STEP**0.5


def _predict(target: _Target, Y: Numbers, t: Numbers, h: Numbers) -> Numbers:
    """One Runge–Kutta step of the path's own differential equation."""
    step = h[:, None]
    k1 = _tangent(target, Y, t)
    k2 = _tangent(target, Y + 0.5 * step * k1, t + 0.5 * h)
    k3 = _tangent(target, Y + 0.5 * step * k2, t + 0.5 * h)
    k4 = _tangent(target, Y + step * k3, t + h)
    return np.asarray(Y + step * (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0)


def _tangent(target: _Target, Y: Numbers, t: Numbers) -> Numbers:
    _, matrix, rate = target.system(Y, t)
    return _solve(matrix, -rate)


def _correct(target: _Target, Y: Numbers, t: Numbers) -> tuple[Numbers, Numbers]:
    """Newton's method at fixed t; which points it keeps, quickly and close to where they were predicted."""
    start, size = Y, np.zeros(len(Y))
    for _ in range(NEWTON_STEPS):
        value, matrix, _ = target.system(Y, t)
        delta = _solve(matrix, -value)
        Y, size = Y + delta, np.max(np.abs(delta), axis=1)
    scale = np.max(np.abs(Y), axis=1)
    near = np.max(np.abs(Y - start), axis=1) <= 0.01 * scale
    return Y, (size <= ON_PATH * scale) & near


def _solve(matrix: Numbers, right: Numbers) -> Numbers:
    """Solve many small systems; NaN where a matrix is singular."""
    try:
        return np.asarray(np.linalg.solve(matrix, right[..., None])[..., 0])
    except np.linalg.LinAlgError:
        out = np.full(right.shape, np.nan, dtype=np.complex128)
        for i, (one, side) in enumerate(zip(matrix, right, strict=True)):
            if np.linalg.matrix_rank(one) == len(one):
                out[i] = np.linalg.solve(one, side)
        return out
