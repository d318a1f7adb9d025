"""Contacts with Coulomb friction: the exact cone, in the plane and in space.

With impulses P and velocities w = D P + u of all contacts (normal, then tangential, for each), Coulomb's law is

    |P_T| ≤ μ P_N,   w_N ≥ 0 ⊥ P_N ≥ 0,   w_T opposite to P_T where |P_T| = μ P_N, zero where it is less,

that is K ∋ P ⊥ w + (μ|w_T|, 0) ∈ K* for the cone K of friction (De Saxcé). Its natural map is the measure of a
solution; it is found by a semismooth Newton method (Alart and Curnier) with block Gauss–Seidel sweeps where Newton does
not settle.
"""

from dataclasses import dataclass

import numpy as np

from onesided._types import Array, Indices
from onesided.errors import UsageError
from onesided.tolerances import EPS

NEWTON = 30
ROUNDS = 8
SWEEPS = 150


@dataclass(frozen=True, eq=False)
class FrictionProblem:
    """Impulses of contacts: D (symmetric, positive semidefinite), u, coefficients μ (c,), tangential directions (c,).

    `scale` is the size of the velocities that u is a difference of, where that is known: residuals are relative to it.
    """

    D: Array
    u: Array
    mu: Array
    directions: Indices
    scale: float = 0.0

    def __post_init__(self) -> None:
        size = len(self.mu) + int(np.sum(self.directions))
        if self.D.shape != (size, size) or self.u.shape != (size,) or len(self.directions) != len(self.mu):
            raise UsageError(
                "the parts of a friction problem do not fit",
                got=f"D {self.D.shape}, u {self.u.shape}, {len(self.mu)} contacts",
                expected=f"({size}, {size}) and ({size},)",
            )

    @property
    def normal(self) -> Indices:
        """Rows of the normal directions."""
        return np.concatenate([[0], np.cumsum(1 + self.directions)[:-1]]).astype(np.intp)

    def residual(self, P: Array) -> float:
        """Natural map P − proj_K(P − ρ (w + (μ|w_T|, 0))), relative to the size of the impulses that u calls for."""
        from onesided.complementarity._friction_kernels import natural_map

        if not len(self.mu):
            return 0.0
        pushed = max(float(np.max(np.abs(self.u))), self.scale) / self._stiff()
        size = max(pushed, float(np.max(np.abs(P)))) or 1.0
        return float(natural_map(self.D, self.u, P, self.mu, self.normal, self.directions)) / size

    def _stiff(self) -> float:
        return float(np.max(np.diagonal(self.D))) or 1.0


def solve_friction(problem: FrictionProblem, start: Array | None = None, *, tol: float) -> tuple[Array, float]:
    """Impulses and their residual, the best found: Newton from the start, sweeps where it does not settle."""
    from onesided.complementarity._friction_kernels import newton_system, sweep

    mu, normal, directions = problem.mu, problem.normal, problem.directions
    P = np.zeros(len(problem.u)) if start is None else np.array(start, dtype=float)
    best, least = P, problem.residual(P)
    for _ in range(ROUNDS):
        before = np.inf
        for _ in range(NEWTON):
            F, J = newton_system(problem.D, problem.u, P, mu, normal, directions)
            try:
                step = np.linalg.solve(J, -F)
            except np.linalg.LinAlgError:
                step = np.linalg.lstsq(J, -F, rcond=EPS * len(F))[0]
            if not np.all(np.isfinite(step)):
                break
            P = P + step
            off = problem.residual(P)
            if off < least:
                best, least = P, off
            if off <= tol or off >= 10.0 * before:
                break
            before = off
        if least <= tol:
            break
        P = best.copy()
        sweep(problem.D, problem.u, P, mu, (normal, directions), SWEEPS)
        off = problem.residual(P)
        if off < least:
            best, least = P.copy(), off
    return best, least
