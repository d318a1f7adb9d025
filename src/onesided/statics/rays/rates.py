"""The rate problem as the paper states it: H₊, G, ĝ, c₁…c₄ and the LCP ġ₀ = Gλ̇₀ + ṗĝ [SP1 (3.14)–(4.4), (7.4)–(7.8)].

The same directions as `rays`, by another route: null-space bases and, for regular H₊, a complementarity problem.
Constraints that move with p add terms in g_p that the paper leaves out.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from onesided import linalg
from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.tolerances import DEFAULT, EPS, Tolerances
from onesided.base.types import Array
from onesided.complementarity import LCP
from onesided.statics.equilibria.place import Standpoint, place_near
from onesided.system.system import System


@dataclass(frozen=True)
class Rates:
    """Quantities of the first-order problem at an equilibrium.

    Attributes
    ----------
    T_strong : basis of the null space of the bilateral and strongly active constraints;  H_strong : H₊ = T₊ᵀ L_qq T₊.
    E_weak : gradients of the weakly active constraints, a row each;  weak : their names.
    G, g_hat : matrix and vector of the LCP, None where H₊ is singular [SP1 (4.3), (4.4)].
    c1, c2, c3, c4 : classification at one zero eigenvalue of H₊, None where there is none or more than one. c₃ and c₄
        are None where c₁ = 0. The signs of c₁ and c₂ depend on that of the eigenvector; c₂/c₁, |c₃| and c₄ do not. c₄
        in the corrected form Σ (E₀w_i)(w_iᵀ(E₀ − (c₂/c₁)U'))/d_ii.
    """

    weak: tuple[str, ...]
    T_strong: Array
    H_strong: Array
    E_weak: Array
    G: Array | None
    g_hat: Array | None
    c1: float | None
    c2: Array | None
    c3: Array | None
    c4: Array | None

    def lcp(self, p_dot: float) -> LCP:
        """The LCP for the derivatives of the weakly active constraints at a given ṗ [SP1 (4.1), (4.2)]."""
        if self.G is None or self.g_hat is None:
            raise UsageError("H₊ is singular: the LCP does not exist", advice="use `rays`, which needs no inverse")
        return LCP(self.G, p_dot * self.g_hat)


@checked
def rates(system: System, q: Any, p: float, *, tolerances: Tolerances = DEFAULT) -> Rates:
    """The paper's first-order quantities at an equilibrium; the point is corrected first."""
    return rates_at(place_near(system, q, p, tolerances))


def rates_at(where: Standpoint) -> Rates:
    """The same at a place that is known."""
    e = where.system.evaluate_packed(where.x)
    strong, weak = where.strong, where.weak
    T = linalg.null_space(e.c_q[strong], rank=where.tolerances.rank)
    H = T.T @ e.L_qq @ T
    shift = shift_with_p(e.c_q[strong], e.c_p[strong], where.system.n)
    load = e.L_qp + e.L_qq @ shift  # U' with the motion of the strongly active constraints included
    E, moving = e.c_q[weak], e.c_p[weak] + e.c_q[weak] @ shift
    values, W = np.linalg.eigh(H) if len(H) else (np.zeros(0), np.zeros((0, 0)))
    zero = np.abs(values) <= where.tolerances.singularity * where.sizes.stiffness
    G = g_hat = None
    if not zero.any():
        inverse = (W / values) @ W.T
        G = _without_noise(E @ T, inverse)  # (4.3)
        g_hat = moving - E @ T @ inverse @ T.T @ load  # (4.4)
    names = tuple(where.system.constraint_names[j] for j in weak)
    return Rates(names, T, H, E, G, g_hat, *_classify(T, E, load, values, W, zero))


def _without_noise(A: Array, inverse: Array) -> Array:
    """A H⁻¹ Aᵀ with entries that cancel to round-off set to zero: their sign must not decide anything."""
    G, norms = A @ inverse @ A.T, np.linalg.norm(A, axis=1)
    size = np.outer(norms, norms) * np.max(np.abs(inverse), initial=0.0)
    return np.asarray(np.where(np.abs(G) <= 100 * EPS * size, 0.0, G))


def shift_with_p(E: Array, c_p: Array, n: int) -> Array:
    """The shortest q̇ per unit ṗ that keeps moving constraints closed."""
    return np.asarray(-np.linalg.lstsq(E, c_p, rcond=None)[0]) if len(E) else np.zeros(n)


def _classify(
    T: Array, E: Array, load: Array, values: Array, W: Array, zero: Any
) -> tuple[float | None, Array | None, Array | None, Array | None]:
    """c₁…c₄ [SP1 (7.4)–(7.8)] for one zero eigenvalue."""
    if np.count_nonzero(zero) != 1:
        return None, None, None, None
    w1, rest, d = W[:, zero][:, 0], W[:, ~zero], values[~zero]
    c1 = float(w1 @ T.T @ load)
    c2 = E @ T @ w1
    if abs(c1) <= np.finfo(float).eps * float(np.max(np.abs(load), initial=0.0)):
        return 0.0, c2, None, None
    inner = rest.T @ T.T @ (E.T - np.outer(load, c2 / c1))  # (modes, weak)
    c4 = np.einsum("ij,ji->i", E @ T @ rest, inner / d[:, None])
    return c1, c2, inner, c4
