"""One time step with contacts, compiled: impulses without friction. Imported at the first step that needs it."""

import numpy as np

from onesided.base.tolerances import EPS, HALF_DIGITS
from onesided.base.types import Array, Indices, Mask
from onesided.complementarity.kernels.lcp import SOLVED, active_set, jitted, largest

NOT_SOLVED = -1
STILL = HALF_DIGITS  # approach below this share of its change is rest where restitution is one


@jitted
def factorise(M: Array) -> tuple[Array, bool]:
    """Cholesky factor L of M = L Lᵀ, and whether M is positive definite."""
    n = M.shape[0]
    L = np.zeros((n, n))
    for j in range(n):
        for i in range(j, n):
            total = M[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            if i > j:
                L[i, j] = total / L[j, j]
            elif total > n * EPS * M[j, j]:
                L[j, j] = np.sqrt(total)
            else:
                return L, False
    return L, True


@jitted
def substitute(L: Array, x: Array) -> None:
    """Solve L Lᵀ y = x in place."""
    n = x.size
    for i in range(n):
        total = x[i]
        for k in range(i):
            total -= L[i, k] * x[k]
        x[i] = total / L[i, i]
    for i in range(n - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, n):
            total -= L[k, i] * x[k]
        x[i] = total / L[i, i]


@jitted
def wanted(
    contacts: tuple[Array, Array, Array, Array], free: Array, knobs: tuple[float, float, float]
) -> tuple[Mask, Array]:
    """Which contacts are in reach, and b of their condition u⁺ + b ≥ 0 ⊥ P ≥ 0; NaN for one that bounces.

    `contacts` are gaps at the end without their own velocity, these at the start, their change by curvature, and
    restitution. `knobs`: the part of the step that the new velocity moves positions in, the distance in reach, and how
    much faster than its change an approach must be to count as an impact.
    """
    gaps, u, tangent, e = contacts
    end, far, rest = knobs
    near, b = np.zeros(gaps.size, dtype=np.bool_), np.zeros(gaps.size)
    for i in range(gaps.size):
        if gaps[i] > far:
            continue
        near[i] = True
        hits = gaps[i] + end * free[i] < 0.0 and u[i] < -(rest if e[i] < 1.0 else STILL) * abs(free[i] - u[i])
        b[i] = np.nan if hits and e[i] > 0.0 else tangent[i] + max(gaps[i] / end - tangent[i], 0.0)
    return near, b


@jitted
def approach(W: Array, dv: Array, u: Array) -> Array:
    """Velocities u + W dv of the contacts."""
    free = np.empty(u.size)
    for i in range(u.size):
        total = u[i]
        for k in range(dv.size):
            total += W[i, k] * dv[k]
        free[i] = total
    return free


@jitted
def in_reach(near: Mask, b: Array) -> tuple[Indices, bool]:
    """The contacts in reach, and whether one of them bounces."""
    chosen, count, bounces = np.empty(near.size, dtype=np.intp), 0, False
    for i in range(near.size):
        if near[i]:
            chosen[count] = i
            count += 1
            bounces |= np.isnan(b[i])
    return chosen[:count], bounces


@jitted
def coupling(L: Array, W: Array, chosen: Indices) -> tuple[Array, Array]:
    """X with rows M⁻¹ W_i, and D = W M⁻¹ Wᵀ, of the chosen contacts."""
    count, n = chosen.size, W.shape[1]
    X = np.empty((count, n))
    for i in range(count):
        for k in range(n):
            X[i, k] = W[chosen[i], k]
        substitute(L, X[i])
    D = np.zeros((count, count))
    for i in range(count):
        for j in range(i + 1):
            total = 0.0
            for k in range(n):
                total += W[chosen[i], k] * X[j, k]
            D[i, j] = D[j, i] = total
    return X, D


@jitted
def residual(D: Array, q: Array, P: Array) -> float:
    """Natural map of D P + q ≥ 0 ⊥ P ≥ 0, in units of impulse."""
    off = 0.0
    for i in range(q.size):
        w = q[i]
        for j in range(q.size):
            w += D[i, j] * P[j]
        off = max(off, abs(P[i] - max(0.0, P[i] - w / D[i, i])))
    return off


@jitted
def frictionless(
    M: Array,
    f: Array,
    W: Array,
    contacts: tuple[Array, Array, Array, Array, Array],
    knobs: tuple[float, float, float, float],
    search: tuple[int, int, int, bool, bool],
) -> tuple[Array, Array, float, int]:
    """Change of velocity, impulses (m,), residual of the complementarity, and how many contacts press, or NOT_SOLVED.

    `contacts` as for `wanted`, and the impulses of the step before; `knobs` as for `wanted`, where the distance is one
    per speed, and how far contacts are looked at anyway; `search` are those of `active_set`. Contacts that bounce are
    left to others.
    """
    gaps, u, tangent, e, last = contacts
    end, far, rest, closed = knobs
    P, dv = np.zeros(gaps.size), f.copy()
    L, good = factorise(M)
    if not good:
        return dv, P, np.inf, NOT_SOLVED
    substitute(L, dv)
    free = approach(W, dv, u)
    near, b = wanted((gaps, u, tangent, e), free, (end, far * largest(free) + closed, rest))
    chosen, bounces = in_reach(near, b)
    if bounces:
        return dv, P, np.inf, NOT_SOLVED
    q, pressed, size, parting = np.empty(chosen.size), np.empty(chosen.size, dtype=np.bool_), 0.0, True
    for k in range(chosen.size):
        i = chosen[k]
        q[k], pressed[k] = free[i] + b[i], last[i] > 0.0
        size = max(size, abs(free[i]), abs(b[i]))
    for k in range(chosen.size):
        parting &= q[k] >= -EPS * size
    if parting:
        return dv, P, 0.0, 0
    X, D = coupling(L, W, chosen)
    found, code, _ = active_set(D, q, pressed, search, EPS * chosen.size)
    if code != SOLVED:
        return dv, P, np.inf, NOT_SOLVED
    count, stiff = 0, 0.0
    for k in range(chosen.size):
        P[chosen[k]] = found[k]
        count, stiff = count + (found[k] > 0.0), max(stiff, abs(D[k, k]))
        for j in range(dv.size):
            dv[j] += found[k] * X[k, j]
    scale = max(max(largest(q), size) / stiff, largest(found))
    return dv, P, residual(D, q, found) / scale, count
