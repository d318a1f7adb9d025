"""Compiled kernels of the friction cone. Imported at the first solve that needs one.

D is given by its rows (starts, columns, values) as in a CSR matrix; rows of one contact have the same columns.
"""

import numpy as np

from onesided.base.types import Array, Indices
from onesided.complementarity.kernels.lcp import jitted

INNER = 12
Rows = tuple[Indices, Indices, Array]


@jitted
def velocity(D: Rows, u: Array, P: Array, row: int) -> float:
    """One entry of D P + u."""
    starts, columns, values = D
    total = u[row]
    for k in range(starts[row], starts[row + 1]):
        total += values[k] * P[columns[k]]
    return float(total)


@jitted
def entry(D: Rows, row: int, column: int) -> float:
    """One entry of D, which is kept by rows; 0 where it has none."""
    starts, columns, values = D
    for k in range(starts[row], starts[row + 1]):
        if columns[k] == column:
            return float(values[k])
    return 0.0


@jitted
def natural_map(D: Rows, u: Array, P: Array, mu: Array, normal: Indices, directions: Indices) -> float:
    """Largest entry of P − proj_K(P − ρ (w + (μ|w_T|, 0))), with ρ the inverse of the largest diagonal of the contact.

    Rough contacts (μ infinite) do not slip where they press: w_T = 0 where P_N > 0, P_T = 0 elsewhere.
    """
    worst = 0.0
    y = np.empty(3)
    for i in range(mu.size):
        n, d = normal[i], directions[i]
        rho = 0.0
        for a in range(d + 1):
            rho = max(rho, entry(D, n + a, n + a))
        rho = 1.0 / rho if rho > 0.0 else 1.0
        if np.isinf(mu[i]):
            w = velocity(D, u, P, n)
            worst = max(worst, abs(P[n] - max(0.0, P[n] - rho * w)))
            for a in range(d):
                off = rho * velocity(D, u, P, n + 1 + a) if P[n] > 0.0 else P[n + 1 + a]
                worst = max(worst, abs(off))
            continue
        slip = 0.0
        for a in range(d):
            y[1 + a] = velocity(D, u, P, n + 1 + a)
            slip += y[1 + a] ** 2
        y[0] = P[n] - rho * (velocity(D, u, P, n) + mu[i] * np.sqrt(slip))
        size = 0.0
        for a in range(d):
            y[1 + a] = P[n + 1 + a] - rho * y[1 + a]
            size += y[1 + a] ** 2
        size = np.sqrt(size)
        if mu[i] * size <= -y[0]:
            top, share = 0.0, 0.0
        elif size <= mu[i] * y[0]:
            top, share = y[0], 1.0
        else:
            top = (y[0] + mu[i] * size) / (1.0 + mu[i] ** 2)
            share = mu[i] * top / size if size > 0.0 else 0.0
        worst = max(worst, abs(P[n] - top))
        for a in range(d):
            worst = max(worst, abs(P[n + 1 + a] - share * y[1 + a]))
    return worst


@jitted
def sweep(D: Rows, u: Array, P: Array, mu: Array, places: tuple[Indices, Indices], sweeps: int) -> None:
    """Block Gauss–Seidel: each contact solved with the others held, in place."""
    normal, directions = places
    y = np.empty(2)
    for _ in range(sweeps):
        for i in range(mu.size):
            n, d = normal[i], directions[i]
            press, stiff = entry(D, n, n), 0.0
            for a in range(d):
                stiff += entry(D, n + 1 + a, n + 1 + a)
            for _inner in range(INNER if d > 0 else 1):
                if press > 0.0:
                    P[n] = max(0.0, P[n] - velocity(D, u, P, n) / press)
                if d == 0 or stiff == 0.0:
                    continue
                size = 0.0
                for a in range(d):
                    y[a] = P[n + 1 + a] - velocity(D, u, P, n + 1 + a) / stiff
                    size += y[a] ** 2
                size = np.sqrt(size)
                radius = mu[i] * P[n] if P[n] > 0.0 else 0.0
                share = 1.0 if size <= radius else radius / size
                for a in range(d):
                    P[n + 1 + a] = share * y[a]


@jitted
def put(J: Array, D: Rows, row: int, column: int, value: float) -> None:
    """Add to one entry of a matrix with the pattern of D."""
    starts, columns, _ = D
    for k in range(starts[row], starts[row + 1]):
        if columns[k] == column:
            J[k] += value


@jitted
def add_row(J: Array, D: Rows, row: int, source: int, factor: float) -> None:
    """Add a multiple of a row of D to a row of the same contact."""
    starts, _, values = D
    first, begin = starts[row], starts[source]
    for k in range(starts[row + 1] - first):
        J[first + k] += factor * values[begin + k]


@jitted
def slide(J: Array, D: Rows, n: int, d: int, sizes: tuple[float, float, float, float], y: Array) -> None:
    """Derivatives of P_T = μ P_N y/|y| for a contact that slides; sizes are μ, μ P_N, |y| and ρ."""
    mu, radius, length, rho = sizes
    for a in range(d):
        put(J, D, n + 1 + a, n, -mu * y[a] / length)
        put(J, D, n + 1 + a, n + 1 + a, 1.0)
        for b in range(d):
            turn = radius / length * ((1.0 if a == b else 0.0) - y[a] * y[b] / length**2)
            put(J, D, n + 1 + a, n + 1 + b, -turn)
            add_row(J, D, n + 1 + a, n + 1 + b, turn * rho)


@jitted
def newton_system(D: Rows, u: Array, P: Array, mu: Array, normal: Indices, directions: Indices) -> tuple[Array, Array]:
    """Equations P_N = max(0, P_N − ρ w_N), P_T = proj(P_T − ρ w_T) on |P_T| ≤ μ P_N, and their derivatives.

    The derivatives are values for the pattern of D.
    """
    F, J = np.zeros(P.size), np.zeros(D[2].size)
    y = np.zeros(2)
    for i in range(mu.size):
        n, d = normal[i], directions[i]
        press = entry(D, n, n)
        rho = 1.0 / press if press > 0.0 else 1.0
        w = velocity(D, u, P, n)
        pressing = P[n] - rho * w > 0.0
        F[n] = rho * w if pressing else P[n]
        if pressing:
            add_row(J, D, n, n, rho)
        else:
            put(J, D, n, n, 1.0)
        if d == 0:
            continue
        stiff = 0.0
        for a in range(d):
            stiff += entry(D, n + 1 + a, n + 1 + a)
        rho = 1.0 / stiff if stiff > 0.0 else 1.0
        length = 0.0
        for a in range(d):
            y[a] = P[n + 1 + a] - rho * velocity(D, u, P, n + 1 + a)
            length += y[a] ** 2
        length = np.sqrt(length)
        radius = mu[i] * P[n] if P[n] > 0.0 else (np.inf if np.isinf(mu[i]) else 0.0)
        if not pressing or (radius == 0.0 and length > 0.0):
            for a in range(d):
                F[n + 1 + a] = P[n + 1 + a]
                put(J, D, n + 1 + a, n + 1 + a, 1.0)
                if pressing and P[n] >= 0.0:
                    put(J, D, n + 1 + a, n, -mu[i] * y[a] / length)
        elif length <= radius:
            for a in range(d):
                F[n + 1 + a] = P[n + 1 + a] - y[a]
                add_row(J, D, n + 1 + a, n + 1 + a, rho)
        else:
            slide(J, D, n, d, (mu[i], radius, length, rho), y)
            for a in range(d):
                F[n + 1 + a] = P[n + 1 + a] - radius * y[a] / length
    return F, J
