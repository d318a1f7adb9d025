"""Extensible, shear-rigid elastica by shooting: an independent route to the limit loads of planar frames."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, minimize_scalar, root


def march(state, force, length, EA, EI):
    """(x, y, θ, M) at the end of a straight piece under a constant force (H, V) on its end face."""
    H, V = force

    def slope(s, z):
        c, sn = np.cos(z[2]), np.sin(z[2])
        stretch = 1.0 + (H * c + V * sn) / EA
        return [stretch * c, stretch * sn, z[3] / EI, stretch * (H * sn - V * c)]

    return solve_ivp(slope, (0.0, length), state, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]


def williams_limit(half, rise, EA, EI):
    """Largest load at the apex of a clamped symmetric toggle."""
    angle, length = np.arctan2(rise, half), np.hypot(half, rise)
    guess = np.zeros(3)

    def load(drop):
        nonlocal guess

        def miss(z):
            x, y, turn, _ = march([0.0, 0.0, angle, z[2]], (z[0], z[1]), length, EA, EI)
            return [x - half, y - (rise - drop), turn - angle]

        found = root(miss, guess, tol=1e-11)
        assert found.success
        guess = found.x
        return -2.0 * found.x[1]

    return _largest(load, np.linspace(0.02, 1.2, 60) * rise)


def lee_limit(side, EA, EI):
    """First largest load on Lee's frame: hinged at both ends, loaded at a fifth of the beam."""
    guess = np.array([0.0, 0.0, np.pi / 2, 0.0])

    def load(drop):
        nonlocal guess

        def miss(z):
            H, V, turn, P = z[0] * 1.0, z[1], z[2], z[3]
            corner = march([0.0, 0.0, turn, 0.0], (H, V), side, EA, EI)
            corner[2] -= np.pi / 2
            under = march(corner, (H, V), side / 5, EA, EI)
            end = march(under, (H, V + P), 4 * side / 5, EA, EI)
            return [end[0] - side, end[1] - side, end[3] / side, under[1] - side + drop]

        found = root(miss, guess, tol=1e-10)
        assert found.success
        guess = found.x
        return float(found.x[3])

    return _largest(load, np.linspace(0.01, 0.55, 55) * side)


def _largest(load, drops):
    """First maximum of the load over growing displacements."""
    values = []
    for drop in drops:
        values.append(load(drop))
        if len(values) > 2 and values[-1] < values[-2]:
            break
    assert values[-1] < values[-2]
    low, high = drops[len(values) - 3], drops[len(values) - 1]
    found = minimize_scalar(lambda d: -load(d), bounds=(low, high), method="bounded", options={"xatol": 1e-7 * high})
    return -float(found.fun)


def euler_load(EA, EI, length):
    """Smallest buckling load of a hinged extensible column: P (1 − P/EA) = π² EI/L²."""
    euler = np.pi**2 * EI / length**2
    return brentq(lambda P: P * (1.0 - P / EA) - euler, 0.0, EA / 2)


def bent_cantilever(radius, angle, force, stiffness):
    """Tip of a clamped circular beam in the x–y plane, Cosserat equations by shooting on the clamping moment.

    `stiffness` = (EA, GA, GA, GJ, EI, EI). x' = R(e₁ + Γ), R' = R S(κ), m' = −x' × n, m = 0 at the tip.
    """
    C, K = np.array(stiffness[:3]), np.array(stiffness[3:])
    n, length = np.asarray(force, dtype=float), radius * angle

    def slope(s, z):
        R, m = z[3:12].reshape(3, 3), z[12:]
        step = R @ (np.array([1.0, 0.0, 0.0]) + R.T @ n / C)
        k = R.T @ m / K + [0.0, 0.0, 1.0 / radius]
        S = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
        return np.concatenate([step, (R @ S).ravel(), -np.cross(step, n)])

    def end(m):
        start = np.concatenate([np.zeros(3), np.eye(3).ravel(), m])
        return solve_ivp(slope, (0.0, length), start, method="DOP853", rtol=1e-10, atol=1e-9).y[:, -1]

    m = np.zeros(3)
    for part in np.linspace(0.2, 1.0, 5):
        n = part * np.asarray(force, dtype=float)
        found = root(lambda m: end(m)[12:] / 1e3, m, tol=1e-10)
        assert found.success
        m = found.x
    return end(m)[:3]
