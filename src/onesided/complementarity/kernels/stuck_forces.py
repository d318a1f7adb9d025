"""Compiled searches for the forces of contacts that stick and share them at will. Imported at the first of them.

Both are Newton's method for smooth convex functions, sharpened step by step; contacts with two directions of slip or
one have their places in rows of two, −1 where there is none. `clear_of_all` is that of `dynamics.contacts.wedging`,
`least_part` that of `dynamics.contacts.least_share`.
"""

import numpy as np

from onesided.base.tolerances import EPS
from onesided.base.types import Array, Indices
from onesided.complementarity.kernels.lcp import eliminate, jitted

CLEARLY = 1.0 / 16.0  # weight of the logarithms
NEWTON, FLAT, HALVINGS = 40, 64.0 * EPS, 40  # steps for each sharpness; gain of a step that is none
ENOUGH = 0.25  # of the gain that is expected
ROUGH = 0.01  # decrement², of Newton's method for centres, within which one is near enough to go on from
FINE = EPS  # decrement² of the last ones
Cones = tuple[Indices, Array, Indices]
Shares = tuple[Array, Array, Indices, Array]  # T = plain + V y, places of the rows of every block, their limits


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
            share, none = 1.0, FLAT * (1.0 + abs(value))
            for _half in range(HALVINGS):
                if height(cones, P + share * step, edge) <= value - ENOUGH * share * gain + none:
                    break
                share *= 0.5
            P = P + share * step
            if not gain > none:
                break
    return P


@jitted
def room_of(shares: Shares, x: Array, T: Array, room: Array) -> bool:
    """Write T and t² b² − |T|² of every block at x = (y, t); returns whether all are positive."""
    plain, V, rows, b = shares
    for i in range(plain.size):
        T[i] = plain[i]
        for j in range(x.size - 1):
            T[i] += V[i, j] * x[j]
    inside = x[-1] > 0.0
    for k in range(b.size):
        room[k] = (x[-1] * b[k]) ** 2
        for row in rows[k]:
            if row >= 0:
                room[k] -= T[row] ** 2
        inside = inside and room[k] > 0.0
    return bool(inside)


@jitted
def part(shares: Shares, x: Array, weight: float, made: tuple[Array, Array]) -> float:
    """t/ε − Σ log(t² b² − |T|²); infinite beyond the limits."""
    if not room_of(shares, x, made[0], made[1]):
        return np.inf
    total = x[-1] / weight
    for room in made[1]:
        total -= np.log(room)
    return float(total)


@jitted
def part_slopes(shares: Shares, x: Array, weight: float, made: tuple[Array, Array], slope: Array, curve: Array) -> None:
    """Write first and second derivatives of the part."""
    (_, V, rows, b), (T, room), m = shares, made, x.size - 1
    room_of(shares, x, T, room)
    slope[:] = 0.0
    curve[:] = 0.0
    slope[m] = 1.0 / weight
    along = np.empty(x.size)
    for k in range(b.size):
        along[:] = 0.0  # derivatives of the room
        along[m] = 2.0 * x[m] * b[k] ** 2
        for row in rows[k]:
            if row >= 0:
                for j in range(m):
                    along[j] -= 2.0 * T[row] * V[row, j]
                    for i in range(m):
                        curve[i, j] += 2.0 * V[row, i] * V[row, j] / room[k]
        curve[m, m] -= 2.0 * b[k] ** 2 / room[k]
        for i in range(x.size):
            slope[i] -= along[i] / room[k]
            for j in range(x.size):
                curve[i, j] += along[i] * along[j] / room[k] ** 2


@jitted
def centre(shares: Shares, x: Array, weight: float, close: float) -> Array:
    """The x with the least part, until the gain of a step is `close` or falls no more."""
    made, n, before = (np.empty(shares[0].size), np.empty(shares[3].size)), x.size, np.inf
    slope, curve, ways = np.empty(n), np.empty((n, n)), np.eye(n)
    for _ in range(NEWTON):
        part_slopes(shares, x, weight, made, slope, curve)
        step, gain = newton_step(ways, slope, curve)
        if gain <= close * close or (gain < ROUGH and gain >= before):
            break
        value = np.inf if gain < ROUGH else part(shares, x, weight, made)
        share = 1.0
        for _half in range(HALVINGS):
            there = part(shares, x + share * step, weight, made)
            if np.isfinite(there) and there <= value - ENOUGH * share * gain:
                x = x + share * step
                break
            share *= 0.5
        before = gain
        if gain <= close:
            break
    return x


@jitted
def least_part(shares: Shares, x: Array, weights: Array) -> Array:
    """T at ε = 0, by centres for one weight after the other, the last of them extrapolated."""
    for weight in weights:
        x = centre(shares, x, weight, ROUGH)
    last = weights[-1]
    x, half = centre(shares, x, last, FINE), centre(shares, x, 0.5 * last, FINE)
    T, room = np.empty(shares[0].size), np.empty(shares[3].size)
    room_of(shares, 2.0 * half - x, T, room)
    return T
