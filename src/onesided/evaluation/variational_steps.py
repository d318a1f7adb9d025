"""Variational steps, many in one compiled call: stationary points of a discrete action, with joints exact.

With δ = local(q₀, q₁), the middle q_m = q₀∘exp(δ/2) and L_d = h (T(q_m, δ/h) − U(q_m)), momenta π and forces f at the
middle:

    π₀ + h/2 (G₀ᵀμ + A_mᵀλ + f) = −D₁L_d,   c(q₁) = 0,   A_m δ = 0,
    π₁ = D₂L_d + h/2 (A_mᵀλ + f) + G₁ᵀν,   G₁ M⁻¹π₁ = 0.

Joints act as in RATTLE; non-holonomic constraints (rows A) act in the middle, where they do no work on the step.
Without forces the map is symplectic and keeps the momenta that belong to symmetries; with rolling it is symmetric.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from onesided.base.tolerances import EPS, HALF_DIGITS
from onesided.base.types import Array, Indices
from onesided.evaluation.compiling import compiled

if TYPE_CHECKING:
    from onesided.system.equations import Equations

TINY = float(np.finfo(float).tiny)
ROUNDS = 20  # of Newton's method
ROUNDED = 4.0 * EPS  # corrections below this share of the step are round-off
STALLED = 0.5  # corrections that shrink by less end the search
CLOSE = HALF_DIGITS  # and the step is good where they are as small as this


class Instant(NamedTuple):
    """Time, configuration, momentum, velocity on all constraints, work of forces so far, whether steps succeeded."""

    t: float
    q: Array
    momentum: Array
    v: Array
    work: float
    good: bool


class VariationalSteps:
    """Steps of one system under a constant control; `rows` are independent constraints."""

    def __init__(self, equations: "Equations", rows: Indices) -> None:
        self._of, self.n = equations.functions, equations.n
        self._p, self._vector = jnp.asarray(equations.p), equations.parameters
        self._joints, self._rolling = rows[rows < equations.m], rows[rows >= equations.m] - equations.m
        self._many = compiled(self._march)

    def momentum(self, q: Array, v: Array) -> Array:
        """Momentum π = T_v, (n,)."""
        return np.asarray(self._of.momentum(jnp.asarray(q), jnp.asarray(v), self._vector))

    def march(self, start: Instant, h: float, count: int) -> Instant:
        """So many steps of one size; those after a failure are left out."""
        n, x = self.n, np.concatenate([(start.t,), start.q, start.momentum, start.v, (start.work, 1.0)])
        out = np.asarray(self._many(x, np.array([h, count], dtype=float), self._vector))
        t, q, momentum, v, work, good = np.split(out, np.cumsum([1, n, n, n, 1]))
        return Instant(float(t[0]), q, momentum, v, float(work[0]), bool(good[0] > 0.0))

    def _march(self, x: Any, pace: Any, vector: Any) -> Any:
        h, count = pace[0], pace[1]

        def goes_on(carried: Any) -> Any:
            return (carried[0] < count) & (carried[1][-1] > 0.0)

        def once(carried: Any) -> Any:
            return carried[0] + 1.0, self._step(carried[1], x[0] + (carried[0] + 1.0) * h, h, vector)

        return lax.while_loop(goes_on, once, (jnp.zeros(()), x))[1]

    # one step

    def _step(self, x: Any, end: Any, h: Any, vector: Any) -> Any:
        """(t, q, π, v, work, good) a step later; as before where Newton's method fails."""
        n, space = self.n, self._of.space
        t, q, momentum, v, work = x[0], x[1 : 1 + n], x[1 + n : 1 + 2 * n], x[1 + 2 * n : 1 + 3 * n], x[1 + 3 * n]
        G = self._gradients(q, vector)

        def residual(y: Any) -> Any:
            delta, mu, lam = jnp.split(y, [n, n + len(self._joints)])
            before, _ = self._slopes(q, delta, h, vector)
            push, A = self._middle(t + 0.5 * h, q, delta, h, vector)
            balance = -before - momentum - 0.5 * (G.T @ mu + A.T @ lam + h * push)
            return jnp.concatenate([balance, self._positions(space.retract(q, delta), vector), A @ delta])

        y, good = _newton(residual, jnp.concatenate([h * v, jnp.zeros(len(self._joints) + len(self._rolling))]), n)
        delta, lam = y[:n], y[n + len(self._joints) :]
        _, after = self._slopes(q, delta, h, vector)
        push, A = self._middle(t + 0.5 * h, q, delta, h, vector)
        q_end = space.retract(q, delta)
        momentum_end, v_end = self._projected(q_end, after + 0.5 * (A.T @ lam + h * push), vector)
        new = jnp.concatenate([end[None], space.wrap(q_end), momentum_end, v_end, (work + push @ delta)[None]])
        good = good & jnp.all(jnp.isfinite(new))
        return jnp.append(jnp.where(good, new, x[:-1]), jnp.where(good, 1.0, 0.0))

    def _slopes(self, q: Any, delta: Any, h: Any, vector: Any) -> tuple[Any, Any]:
        """D₁L_d and D₂L_d: derivatives of the discrete action by displacements of its ends.

        A displacement η of the last end changes δ by rate(δ, η), one of the first end by −rate(−δ, η).
        """
        of, zero = self._of, jnp.zeros(self.n)

        def action(first: Any, way: Any) -> Any:
            middle = of.space.retract(of.space.nudge(q, first), 0.5 * way)
            return h * (of.kinetic(middle, way / h, vector) - of.potential(middle, self._p, vector))

        def pulled(way: Any) -> Any:
            return jax.vjp(lambda eta: of.space.rate(way, eta), zero)[1](by_way)[0]

        by_first, by_way = jax.grad(action, argnums=(0, 1))(zero, delta)
        return (by_first - by_way, by_way) if of.space.flat else (by_first - pulled(-delta), pulled(delta))

    def _middle(self, t: Any, q: Any, delta: Any, h: Any, vector: Any) -> tuple[Any, Any]:
        """Forces without potential and gradients of the non-holonomic constraints in the middle."""
        of, middle = self._of, self._of.space.retract(q, 0.5 * delta)
        push = of.force(t, middle, delta / h, jnp.zeros(of.m), self._p, vector)
        A = jax.jacfwd(lambda w: of.nonholonomic(middle, w, vector)[self._rolling])(delta / h)
        return push, A

    def _positions(self, q: Any, vector: Any) -> Any:
        return self._of.holonomic(q, self._p, vector)[self._joints]

    def _gradients(self, q: Any, vector: Any) -> Any:
        zero = jnp.zeros(self.n)
        return jax.jacfwd(lambda d: self._positions(self._of.space.nudge(q, d), vector))(zero)

    def _projected(self, q: Any, momentum: Any, vector: Any) -> tuple[Any, Any]:
        """Momenta that agree with the joints, and velocities that agree with all constraints."""
        of, zero = self._of, jnp.zeros(self.n)
        M = jax.jacfwd(lambda w: of.momentum(q, w, vector))(zero)
        G = self._gradients(q, vector)
        A = jax.jacfwd(lambda w: of.nonholonomic(q, w, vector)[self._rolling])(zero)
        kept = momentum + G.T @ _multipliers(M, G, momentum) if len(self._joints) else momentum
        both = jnp.concatenate([G, A])
        held = kept + both.T @ _multipliers(M, both, kept) if len(self._rolling) else kept
        return kept, jnp.linalg.solve(M, held)


def _multipliers(M: Any, G: Any, momentum: Any) -> Any:
    """ν with G M⁻¹(π + Gᵀν) = 0."""
    X = jnp.linalg.solve(M, jnp.column_stack([momentum, G.T]))
    return -jnp.linalg.solve(G @ X[:, 1:], G @ X[:, 0])


def _newton(residual: Any, y: Any, n: int) -> tuple[Any, Any]:
    """A zero of the residual, to round-off of the first n unknowns, and whether it was found."""
    derivative = jax.jacfwd(residual)

    def goes_on(carried: Any) -> Any:
        _, size, before, count = carried
        return (count < ROUNDS) & (size > ROUNDED) & ~((size > STALLED * before) & (size < CLOSE))

    def once(carried: Any) -> Any:
        y, size, _, count = carried
        step = jnp.linalg.solve(derivative(y), -residual(y))
        y = y + step
        share = jnp.max(jnp.abs(step[:n])) / jnp.maximum(jnp.max(jnp.abs(y[:n])), TINY)
        return y, share, size, count + 1

    start = y, jnp.asarray(jnp.inf), jnp.asarray(jnp.inf), jnp.zeros((), dtype=int)
    y, size, _, _ = lax.while_loop(goes_on, once, start)
    return y, size < CLOSE
