"""An interior point method for contacts with friction in the plane: a start for Newton's method where it has none.

In the plane the cone has two edges, P = E β with β ≥ 0, and Coulomb's law is

    z± = w_N + μ (|w_T| ± w_T) ≥ 0  ⊥  β± ≥ 0,     w = D E β + u.

Steps go along the central path β z = τ. The kink of |w_T| is rounded, the less the smaller τ is, in the derivatives
only.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from onesided.base.tolerances import EPS, MOST_DIGITS
from onesided.base.types import Array

if TYPE_CHECKING:
    from onesided.complementarity.friction import FrictionProblem

STEPS, SHOWN = 50, (18, 26, 34)  # all iterations, and those after which it pays to try Newton's method
BACK = 0.99  # of the way to the boundary
SLOWEST, FASTEST = 0.9, 0.1  # ratios of τ after and before a step


class PlanarCone:
    """The problem in units in which D and u have size one."""

    def __init__(self, problem: "FrictionProblem") -> None:
        self.mu, self.normal = problem.mu, problem.normal
        self.size = max(float(np.max(np.abs(problem.u))), problem.scale)
        self.stiff = float(np.max(problem.D.diagonal()))
        self.u = problem.u / self.size
        m, n = len(self.mu), self.normal
        edges = np.arange(2 * m)
        self._edges = np.concatenate([edges[::2], edges[1::2], edges[::2], edges[1::2]])
        self._rows = np.concatenate([n, n, n + 1, n + 1])
        self.E = self._block(np.concatenate([np.ones(2 * m), self.mu, -self.mu]), self._rows, self._edges)
        self.DE = sparse.csr_array(sparse.csr_array(problem.D) / self.stiff @ self.E)

    def _block(self, values: Array, rows: Array, columns: Array) -> Any:
        size = len(self.u)
        return sparse.csr_array((values, (rows, columns)), shape=(size, size))

    def slack(self, beta: Array) -> tuple[Array, Array]:
        """The variables z of β, and the slip w_T."""
        w = self.DE @ beta + self.u
        press, slip = w[self.normal], w[self.normal + 1]
        z = np.empty(len(w))
        z[::2] = press + self.mu * (np.abs(slip) + slip)
        z[1::2] = press + self.mu * (np.abs(slip) - slip)
        return z, slip

    def slope(self, slip: Array, rounding: float) -> Any:
        """Derivative of z by β."""
        turn = slip / np.hypot(slip, rounding)
        values = np.concatenate([np.ones(len(self.u)), self.mu * (turn + 1.0), self.mu * (turn - 1.0)])
        return self._block(values, self._edges, self._rows) @ self.DE

    def impulses(self, beta: Array) -> Array:
        """The impulses P of β."""
        return np.asarray(self.E @ beta) * self.size / self.stiff


def interior(problem: "FrictionProblem", rounding: float) -> Iterator[Array]:
    """Impulses ever nearer to a solution; the kink is rounded by τ to the power `rounding`."""
    cone = PlanarCone(problem)
    beta = np.ones(len(problem.u))
    z = np.maximum(cone.slack(beta)[0], 1.0)
    for i in range(STEPS):
        if i in SHOWN:
            yield cone.impulses(beta)
        tau = float(beta @ z) / len(z)
        wanted, slip = cone.slack(beta)
        if tau < EPS and np.max(np.abs(z - wanted)) < MOST_DIGITS:
            break
        matrix = cone.slope(slip, max(tau, EPS) ** rounding) + sparse.diags_array(z / beta)
        try:
            factor = splu(sparse.csc_array(matrix))
        except RuntimeError:  # singular to round-off: as far as it goes
            break
        d_beta = factor.solve(-wanted)
        d_z = -z - z * d_beta / beta
        way = min(_room(beta, d_beta), _room(z, d_z))
        reached = max(float((beta + way * d_beta) @ (z + way * d_z)) / len(z), 0.0)
        aim = tau * float(np.clip((reached / tau) ** 3, FASTEST, SLOWEST))
        d_beta = factor.solve(aim / beta - wanted)
        d_z = aim / beta - z - z * d_beta / beta
        way = min(_room(beta, d_beta), _room(z, d_z))
        beta, z = beta + way * d_beta, z + way * d_z
    yield cone.impulses(beta)


def _room(x: Array, step: Array) -> float:
    down = step < 0.0
    return float(min(1.0, BACK * np.min(-x[down] / step[down], initial=np.inf)))
