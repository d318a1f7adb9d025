"""All Kuhn–Tucker points of a plane system at given p, by resultants."""

from itertools import combinations

import numpy as np
from scipy.linalg import eig

from .plane import Plane, Vector, Wall, degree, reactions
from .polynomials import UndecidedError

NEAR = 1e-7  # two roots closer than this are not told apart


def times(f: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Product of polynomials in x and y, by rows the powers of x."""
    product = np.zeros(np.add(f.shape, g.shape) - 1)
    for i, j in zip(*np.nonzero(f), strict=True):
        product[i : i + g.shape[0], j : j + g.shape[1]] += f[i, j] * g
    return product


def minus(f: np.ndarray, g: np.ndarray) -> np.ndarray:
    shape = np.maximum(f.shape, g.shape)
    difference = np.zeros(shape)
    difference[: f.shape[0], : f.shape[1]] += f
    difference[: g.shape[0], : g.shape[1]] -= g
    return difference


def by_x(f: np.ndarray) -> np.ndarray:
    return f[1:] * np.arange(1, len(f))[:, None]


def by_y(f: np.ndarray) -> np.ndarray:
    return by_x(f.T).T


def at_p(system: Plane, p: float) -> np.ndarray:
    """U as a polynomial in x and y."""
    U = np.zeros((5, 5))
    for i, j, c in system.terms:
        U[i, j] += c
    b1, b2, k1, k2, k3 = system.load
    for place, value in (((1, 0), b1), ((0, 1), b2), ((2, 0), k1 / 2), ((1, 1), k2), ((0, 2), k3 / 2)):
        U[place] += p * value
    return U


def of_wall(wall: Wall, p: float) -> np.ndarray:
    return np.array([[wall.a + wall.d * p, wall.c, wall.e], [wall.b, 0, 0], [wall.e, 0, 0]])


def height(f: np.ndarray) -> int:
    """Degree in y."""
    return int(np.flatnonzero(np.abs(f).max(axis=0))[-1])


def sylvester(f: np.ndarray, g: np.ndarray) -> list[np.ndarray]:
    """Coefficients of xᵏ of the Sylvester matrix in y."""
    m, n = height(f), height(g)
    powers = max(len(f), len(g))
    S = [np.zeros((m + n, m + n)) for _ in range(powers)]
    for polynomial, own, other, first in ((f, m, n, 0), (g, n, m, n)):
        for k, row in enumerate(polynomial):
            for shift in range(other):
                S[k][first + shift, shift : shift + own + 1] += row[own::-1]
    while len(S) > 1 and not S[-1].any():
        S.pop()
    return S


def x_values(f: np.ndarray, g: np.ndarray) -> np.ndarray:
    """x of all common roots: finite eigenvalues of the Sylvester pencil."""
    S = sylvester(f, g)
    size, powers = len(S[0]), len(S) - 1
    A, B = np.eye(size * powers), np.eye(size * powers)
    A[:-size] = 0
    A[:-size, size:] = np.eye(size * (powers - 1))
    A[-size:] = -np.hstack(S[:-1])
    B[-size:, -size:] = S[-1]
    values = eig(A, B, right=False)
    return values[np.isfinite(values)]


def common_roots(f: np.ndarray, g: np.ndarray) -> list[tuple[float, float]]:
    """All real common roots of two polynomials, polished."""
    turn = _rotation(0.7)
    found: list[tuple[float, float]] = []
    F, G = _turned(f, turn), _turned(g, turn)
    for x in x_values(F, G):
        if abs(x.imag) > 1e-4 * (1 + abs(x)) or abs(x) > 100:
            continue
        for y in np.roots(np.polynomial.polynomial.polyval(x.real, F)[height(F) :: -1]):
            root = _polished(f, g, turn @ [x.real, y.real]) if abs(y.imag) < 1e-2 * (1 + abs(y)) else None
            if root is not None and all(np.hypot(root[0] - a, root[1] - b) > NEAR for a, b in found):
                found.append(root)
    return found


def _rotation(angle: float) -> np.ndarray:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def _turned(f: np.ndarray, R: np.ndarray) -> np.ndarray:
    """F(u) = f(R u): no root hides at infinity."""
    x, y = (np.array([[0, R[k, 1]], [R[k, 0], 0]]) for k in range(2))
    total, one = np.zeros((1, 1)), np.ones((1, 1))
    for i, j in zip(*np.nonzero(f), strict=True):
        term = one * f[i, j]
        for factor in (*(x for _ in range(i)), *(y for _ in range(j))):
            term = times(term, factor)
        total = minus(total, -term)
    return total


def _polished(f: np.ndarray, g: np.ndarray, z: np.ndarray) -> tuple[float, float] | None:
    """Newton's method from a guess; None where it leads elsewhere."""
    value = np.polynomial.polynomial.polyval2d
    start = z
    for _ in range(20):
        J = np.array([[value(*z, by_x(h)), value(*z, by_y(h))] for h in (f, g)])
        if abs(np.linalg.det(J)) < 1e-14 * np.abs(J).max() ** 2:
            return None
        step = np.linalg.solve(J, [value(*z, f), value(*z, g)])
        z = z - step
        if np.abs(step).max() < 1e-14 * (1 + np.abs(z).max()):
            break
    else:
        return None
    return (float(z[0]), float(z[1])) if np.abs(z - start).max() < 0.05 * (1 + np.abs(z).max()) else None


def points_at(system: Plane, p: float) -> list[tuple[tuple[int, ...], Vector]]:
    """All Kuhn–Tucker points at p: with the gaps closed there."""
    U = at_p(system, p)
    found = [((), (*root, p)) for root in common_roots(by_x(U), by_y(U))]
    _check_index(system, found)
    walls = [of_wall(wall, p) for wall in system.walls]
    for i, g in enumerate(walls):
        along = minus(times(by_x(U), by_y(g)), times(by_y(U), by_x(g)))
        found += [((i,), (*root, p)) for root in common_roots(g, along)]
    for i, j in combinations(range(len(walls)), 2):
        found += [((i, j), (*root, p)) for root in common_roots(walls[i], walls[j])]
    return [point for point in found if holds(system, *point)]


def _check_index(system: Plane, free: list[tuple[tuple[int, ...], Vector]]) -> None:
    """Minima and maxima less saddles of a coercive function are one: no stationary point is missing."""
    if sum((-1) ** degree(system, (), z) for _, z in free) != 1:
        raise UndecidedError("a stationary point is missing")


def holds(system: Plane, closed: tuple[int, ...], z: Vector, slack: float = 0.0) -> bool:
    """Whether all gaps are open or closed and the reactions push."""
    open_walls = all(wall.value(z) > -slack for j, wall in enumerate(system.walls) if j not in closed)
    return open_walls and all(value > -slack for value in reactions(system, closed, z).values())
