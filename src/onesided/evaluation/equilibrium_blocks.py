"""The blocks of the equilibrium equations at a point, and what a thread keeps of those it asked for."""

import math
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from onesided.base.tolerances import ROUNDING
from onesided.base.types import Array


class Evaluation(NamedTuple):
    """The blocks of the equilibrium equations at one point, with constraints ordered bilateral, then unilateral.

    With L = U − cᵀν [SP1 (2.2)], c = (h, g), ν = (μ, λ), x = (q, p): `L_x` (n + 1,), `c` (m,), `L_qx` (n, n + 1), `c_x`
    (m, n + 1) with a row per constraint; the blocks of `L_x`, `L_qx` and `c_x` have names of their own. Blocks of many
    points have a further, first axis.
    """

    energy: float
    L_x: Array
    c: Array
    L_qx: Array
    c_x: Array

    def at(self, i: int) -> "Evaluation":
        """The blocks of one of many points."""
        energy, L_x, c, L_qx, c_x = self
        return Evaluation(np.asarray(energy)[i], L_x[i], c[i], L_qx[i], c_x[i])

    def pick(self, chosen: Any) -> "Evaluation":
        """The blocks of some of many points."""
        return Evaluation(*(block[chosen] for block in self))  # type: ignore[index]

    @property
    def L_q(self) -> Array:
        """Force balance L_q, (…, n): zero at an equilibrium."""
        return self.L_x[..., :-1]

    @property
    def L_p(self) -> float:
        """Rate of the energy with p along a path."""
        return float(self.L_x[-1])

    @property
    def L_qq(self) -> Array:
        """Hessian of the Lagrangian, (n, n)."""
        return self.L_qx[..., :-1]

    @property
    def L_qp(self) -> Array:
        """Change of the force balance with p, (n,)."""
        return self.L_qx[..., -1]

    @property
    def c_q(self) -> Array:
        """Gradients of the constraints, (m, n)."""
        return self.c_x[..., :-1]

    @property
    def c_p(self) -> Array:
        """Change of the constraints with p, (m,)."""
        return self.c_x[..., -1]

    def finite(self) -> bool:
        """Whether every entry of every block is finite."""
        return all(bool(np.all(np.isfinite(block))) for block in (self.L_x, self.c, self.L_qx, self.c_x))

    def gap_sizes(self, length: Array) -> Array:
        """Norms of the scaled constraint gradients, (m,)."""
        scaled = self.c_q * length
        return np.asarray(np.sqrt((scaled * scaled).sum(axis=-1)))

    def constraint_rates(self, q_dot: Array, p_dot: Any) -> Array:
        """ċ = c_q q̇ + c_p ṗ, (m,)."""
        return np.asarray((self.c_x[..., :-1] @ q_dot[..., None])[..., 0] + self.c_x[..., -1] * p_dot)

    def constraint_row(self, j: int) -> Array:
        """Gradient of constraint j in (q, p), (n + 1,)."""
        return np.asarray(self.c_x[j])

    def pull(self, nu: Array) -> Array:
        """Forces c_qᵀν of the constraints, (n,)."""
        return np.asarray(nu @ self.c_q)

    def stiffest(self, units: Array) -> Array:
        """Largest entry of every row of the Hessian, (n,), for coordinates in these units."""
        return np.asarray(np.max(np.abs(self.scaled_hessian(units)), axis=-1, initial=0.0))

    def scaled_hessian(self, length: Array) -> Array:
        """Entries of the Hessian times the lengths of their coordinates."""
        return np.asarray(length[:, None] * self.L_qq * length)

    def stiffness_change(self, length: Array, since: "Evaluation") -> Callable[["Evaluation"], float]:
        """How to measure the change ΔK of a Hessian since one, relative to this one: the largest |κ| of ΔK φ = κ |K| φ.

        Directions in which this one has no stiffness are left out.
        """
        values, modes = np.linalg.eigh(self.scaled_hessian(length))
        clear = np.abs(values) > ROUNDING * float(np.max(np.abs(values), initial=0.0))
        W = modes[:, clear] / np.sqrt(np.abs(values[clear]))

        def change(other: "Evaluation") -> float:
            with np.errstate(invalid="ignore", over="ignore"):  # infinite stiffness is an infinite change
                difference = other.L_qq - since.L_qq
                if not difference.any():
                    return 0.0
                difference = W.T @ (length[:, None] * difference * length) @ W
            if not difference.size:
                return 0.0
            return float(abs(np.linalg.eigvalsh(difference)).max()) if np.isfinite(difference).all() else math.inf

        return change

    def turning(self, other: "Evaluation", length: Array) -> Array:
        """Norms of the scaled differences of the constraint gradients, (m,)."""
        difference = (other.c_q - self.c_q) * length
        with np.errstate(over="ignore"):  # infinitely large is large enough
            return np.asarray(np.sqrt((difference * difference).sum(axis=-1)))

    def response(self, length: Array, energy: float) -> Array:
        """Displacement that a unit of p causes, (n,); modes without stiffness do not take part."""
        values, modes = np.linalg.eigh(length[:, None] * self.L_qq * length / energy)
        clear = np.abs(values) > ROUNDING * float(np.max(np.abs(values), initial=1.0))
        moved = modes[:, clear] @ ((modes[:, clear].T @ (self.L_qp * length / energy)) / values[clear])
        return np.asarray(-length * moved)


NOWHERE = Evaluation(math.nan, *(np.zeros((0,) * axes) for axes in (1, 1, 2, 2)))


class ThreadKeeps(threading.local):
    """What a thread asked for last of some functions: other threads that use the same system have their own.

    `last` is a point, parameters and the blocks there; `sizes` are parameters, scales, a point and the sizes there;
    `factors` are those of a large system.
    """

    last: tuple[bytes, Any, Evaluation] = (b"", None, NOWHERE)
    sizes: tuple[Any, Any, Any, Any] = (None, None, None, None)
    factors: Any = None
