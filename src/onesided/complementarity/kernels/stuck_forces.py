"""Compiled searches for the forces of contacts that stick and share them at will. Imported at the first of them.

Both are Newton's method for smooth convex functions, sharpened step by step; contacts with two directions of slip or
one have their places in rows of two, −1 where there is none.
"""

import numpy as np

from onesided.base.tolerances import EPS
from onesided.base.types import Array, Indices
from onesided.complementarity.kernels.lcp import eliminate, jitted

CLEARLY = 1.0 / 16.0  # weight of the logarithms
NEWTON, FLAT, HALVINGS = 40, 64.0 * EPS, 40  # steps for each sharpness; gain of a step that is none
ENOUGH = 0.25  # of the gain that is expected
Cones = tuple[Indices, Array, Indices]


@jitted
def barrier(margin: float, edge: float) -> tuple[float, float, float]:
    """−log m, below m = δ the parabola that goes on from there; with its derivatives."""
    if margin > edge:
        return -np.log(margin), -1.0 / margin, 1.0 / margin**2
    x = (margin - edge) / edge
    return 0.5 * x * x - x - np.log(edge), (x - 1.0) / edge, 1.0 / edge**2


@jitted
def friction_of(cones: Cones, P: Array, i: int, edge: float) -> float:
    """|T| of one contact, rounded at zero; nothing where it has no friction."""
    slips = cones[2]
    if slips[i, 0] < 0:
        return 0.0
    total = edge * edge
    for place in slips[i]:
        if place >= 0:
            total += P[place] ** 2
    return float(np.sqrt(total))


@jitted
def height(cones: Cones, P: Array, edge: float) -> float:
    """½ |P|² plus the extended logarithms of all margins."""
    normal, friction, _ = cones
    total = 0.0
    for value in P:
        total += value * value
    total *= 0.5
    for i in range(normal.size):
        margin = friction[i] * P[normal[i]] - friction_of(cones, P, i, edge)
        total += CLEARLY * barrier(margin, edge)[0]
    return total


@jitted
def slopes(cones: Cones, P: Array, edge: float, slope: Array, curve: Array) -> None:
    """Write first and second derivatives of the height."""
    normal, friction, slips = cones
    places, along = np.empty(3, dtype=np.intp), np.empty(3)
    curve[:] = 0.0
    for k in range(P.size):
        slope[k], curve[k, k] = P[k], 1.0
    for i in range(normal.size):
        length = friction_of(cones, P, i, edge)
        _, first, second = barrier(friction[i] * P[normal[i]] - length, edge)
        places[0], along[0], count = normal[i], friction[i], 1
        for place in slips[i]:
            if place >= 0:
                places[count], along[count] = place, -P[place] / length
                count += 1
        for a in range(count):
            slope[places[a]] += CLEARLY * first * along[a]
            for b in range(count):
                bend = 0.0
                if a > 0 and b > 0:
                    bend = (along[a] * along[b] - (1.0 if a == b else 0.0)) / length
                curve[places[a], places[b]] += CLEARLY * (second * along[a] * along[b] + first * bend)


@jitted
def newton_step(ways: Array, slope: Array, curve: Array) -> tuple[Array, float]:
    """Newton's step among those along the columns of `ways`, and the gain it promises.

    Directions in which nothing bends are given a little stiffness.
    """
    n, k = ways.shape
    S, y = np.zeros((k, k)), np.zeros(k)
    row = np.empty(n)
    for a in range(k):
        for j in range(n):
            row[j] = 0.0
        for i in range(n):
            y[a] -= ways[i, a] * slope[i]
            for j in range(n):
                row[j] += ways[i, a] * curve[i, j]
        for b in range(k):
            for j in range(n):
                S[a, b] += row[j] * ways[j, b]
    shifted, x = S.copy(), y.copy()
    if eliminate(S, x, EPS) != k:
        stiff = 0.0
        for a in range(k):
            stiff += shifted[a, a]
        for a in range(k):
            shifted[a, a] += EPS * stiff
        x[:] = y
        eliminate(shifted, x, 0.0)
    step, gain = np.zeros(n), 0.0
    for i in range(n):
        for a in range(k):
            step[i] += ways[i, a] * x[a]
        gain -= slope[i] * step[i]
    return step, gain


@jitted
def clear_of_all(cones: Cones, P: Array, ways: Array, edges: Array) -> Array:
    """The P with the least height among those along `ways`, for one edge after the other."""
    slope, curve = np.empty(P.size), np.empty((P.size, P.size))
    for edge in edges:
        for _ in range(NEWTON):
            value = height(cones, P, edge)
            slopes(cones, P, edge, slope, curve)
            step, gain = newton_step(ways, slope, curve)
            share = 1.0
            for _half in range(HALVINGS):
                if height(cones, P + share * step, edge) <= value - ENOUGH * share * gain:
                    break
                share *= 0.5
            P = P + share * step
            if not gain > FLAT * (1.0 + abs(value)):
                break
    return P


@jitted
def rounded(U: Array, rows: Indices, bears: Array, eta: Array, rounding: float) -> float:
    """Σ bears √(|U η|² + δ²), contact by contact."""
    total = 0.0
    for i in range(bears.size):
        size = rounding * rounding
        for row in rows[i]:
            if row >= 0:
                w = 0.0
                for j in range(eta.size):
                    w += U[row, j] * eta[j]
                size += w * w
        total += bears[i] * np.sqrt(size)
    return float(total)


@jitted
def rounded_slopes(
    U: Array, rows: Indices, bears: Array, eta: Array, rounding: float, made: tuple[Array, Array]
) -> None:
    """Write first and second derivatives of the sum."""
    n, (slope, curve) = eta.size, made
    along, w = np.empty(n), np.empty(rows.shape[1])
    slope[:] = 0.0
    curve[:] = 0.0
    for i in range(bears.size):
        size = rounding * rounding
        along[:] = 0.0
        for a, row in enumerate(rows[i]):
            w[a] = 0.0
            if row >= 0:
                for j in range(n):
                    w[a] += U[row, j] * eta[j]
                size += w[a] * w[a]
                for j in range(n):
                    along[j] += U[row, j] * w[a]
        size = np.sqrt(size)
        for j in range(n):
            along[j] /= size
        for j in range(n):
            slope[j] += bears[i] * along[j]
            for k in range(n):
                curve[j, k] -= bears[i] / size * along[j] * along[k]
        for row in rows[i]:
            if row >= 0:
                for j in range(n):
                    for k in range(n):
                        curve[j, k] += bears[i] / size * U[row, j] * U[row, k]


@jitted
def least_part(U: Array, rows: Indices, bears: Array, eta: Array, side: Array, roundings: Array) -> Array:
    """The η with the least Σ bears √(|U η|² + δ²) among those along `side`, for one rounding after the other."""
    slope, curve = np.empty(eta.size), np.empty((eta.size, eta.size))
    for rounding in roundings:
        for _ in range(NEWTON):
            value = rounded(U, rows, bears, eta, rounding)
            rounded_slopes(U, rows, bears, eta, rounding, (slope, curve))
            step, gain = newton_step(side, slope, curve)
            share = 1.0
            for _half in range(HALVINGS):
                if rounded(U, rows, bears, eta + share * step, rounding) <= value - ENOUGH * share * gain:
                    break
                share *= 0.5
            eta = eta + share * step
            if not gain > FLAT * value:
                break
    return eta
