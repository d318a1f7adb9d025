"""Second routes for the bundled structures, written without the library: trusses with cables, rods by shooting."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Member:
    """A bar or cable between two places, with a force that is linear in the elongation."""

    a: str
    b: str
    stiffness: float
    natural: float
    cable: bool = False

    def tension(self, x):
        step = x[self.b] - x[self.a]
        now = np.sqrt(step @ step)
        force = self.stiffness * (now - self.natural)
        return (max(force, 0.0) if self.cable else force), step / now

    def energy(self, x):
        force, _ = self.tension(x)
        return force**2 / (2 * self.stiffness)


def member(x, a, b, *, k=None, ea=None, tension=0.0, cable=False):
    """A member that has this tension at the places x."""
    step = x[b] - x[a]
    now = np.sqrt(step @ step)
    natural = now / (1 + tension / ea) if k is None else now - tension / k
    return Member(a, b, ea / natural if k is None else k, natural, cable)


def unbalanced(x, members, loads):
    """Force on every place that members and loads leave: 0 at the free ones in equilibrium."""
    rest = {name: np.zeros_like(at) + loads.get(name, 0.0) for name, at in x.items()}
    for one in members:
        force, along = one.tension(x)
        rest[one.a] = rest[one.a] + force * along
        rest[one.b] = rest[one.b] - force * along
    return rest


def rod(state, n, length, EA, EI, steps=40):
    """Integrate x, y, θ, M along a straight elastic rod that carries the constant force n; classical Runge–Kutta.

    θ' = M/EI, r' = (1 + N/EA)(cos θ, sin θ) with N = n·t, M' = −(r' × n). Columns of `state` are independent rods.
    """

    def slope(s):
        _, _, theta, M = s
        stretch = 1 + (n[0] * np.cos(theta) + n[1] * np.sin(theta)) / EA
        dx, dy = stretch * np.cos(theta), stretch * np.sin(theta)
        return np.array([dx, dy, M / EI, -(dx * n[1] - dy * n[0])])

    h = length / steps
    for _ in range(steps):
        k1 = slope(state)
        k2 = slope(state + h / 2 * k1)
        k3 = slope(state + h / 2 * k2)
        k4 = slope(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return state


def turning_values(residual, x, row, *, step, count):
    """Follow residual(x) = 0 (one unknown more than equations, columns at once) and return where x[row] turns.

    A secant predictor, Newton with an arclength row, differences for the Jacobian, a parabola through three points.
    """

    def jacobian(x):
        size = 1e-6
        columns = x[:, None] + size * np.hstack([np.eye(len(x)), -np.eye(len(x))])
        values = residual(columns)
        return (values[:, : len(x)] - values[:, len(x) :]) / (2 * size)

    tangent = np.zeros(len(x))
    tangent[row] = 1.0
    points = []
    for _ in range(count):
        J = jacobian(x)
        new = np.linalg.solve(np.vstack([J, tangent]), np.append(np.zeros(len(J)), 1.0))
        tangent = new / np.linalg.norm(new)
        guess = x = x + step * tangent
        for _ in range(20):
            J, r = jacobian(x), residual(x[:, None])[:, 0]
            dx = np.linalg.solve(np.vstack([J, tangent]), -np.append(r, tangent @ (x - guess)))
            x = x + dx
            if np.linalg.norm(dx) < 1e-10:
                break
        points.append(x)
    values = np.array(points)[:, row]
    found = []
    for i in range(1, len(values) - 1):
        if (values[i] - values[i - 1]) * (values[i + 1] - values[i]) < 0:
            fit = np.polyfit([-1.0, 0.0, 1.0], values[i - 1 : i + 2], 2)
            found.append(fit[2] - fit[1] ** 2 / (4 * fit[0]))
    return found
