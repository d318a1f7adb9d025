"""Collocation of the equations of motion under inputs, compiled: one function of the unknowns of one interval.

Hermite–Simpson (Lobatto IIIA, order 4) in local coordinates δ of q₀∘exp(δ), with the accelerations of the constrained
system, (a, μ) from M a = h + B u + Gᵀμ, G a + γ = 0. Nodes lie on the constraints and on the hidden ones; multipliers
η, ζ, zero up to the error of the step, return there in the metric of the mass:

    M (δ₁ − h/6 (δ̇₀ + 4 δ̇_m + δ̇₁)) = Gᵀη,   M (v₁ − v₀ − h/6 (a₀ + 4 a_m + a₁)) = Gᵀζ,   c(q₁) = 0,   G v₁ + c_p ṗ = 0.

Gaps that a mode holds closed are constraints too; open ones have rows without effect, so that all intervals look alike.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from onesided.base.types import Array, Indices
from onesided.evaluation.compiling import compiled
from onesided.evaluation.user_functions import Parameters

if TYPE_CHECKING:
    from onesided.system.equations import Equations

BLOCK = 16  # intervals evaluated together: every new number would be compiled
Force = Callable[[Any, Any], Any]
Cost = Callable[[Any, Any, Any, Any, Any], Any]


class Interval(NamedTuple):
    """Unknowns of one interval: states and inputs at its ends and in its middle, multipliers of the return."""

    q: Any
    v: Any
    u: Any
    u_middle: Any
    eta: Any
    zeta: Any
    q_end: Any
    v_end: Any
    u_end: Any


class Values(NamedTuple):
    """Cost, rows, and their derivatives by the unknowns of each interval: (N,), (N, r), (N, z), (N, r, z)."""

    cost: Array
    rows: Array
    cost_z: Array
    rows_z: Array


class Collocation:
    """The rows and the cost of one interval, for all intervals at once.

    Parameters
    ----------
    equations : of the system.
    rows : numbers of independent constraints, holonomic and non-holonomic.
    forces : per input, the generalised force (q, th) → (n,) of an input of one.
    cost : running cost (t, q, v, u, th).
    """

    def __init__(self, equations: "Equations", rows: Indices, forces: Sequence[Force], cost: Cost) -> None:
        self._of, self._control, self._p = equations.functions, equations.control, equations.p
        self._vector, self._th = equations.parameters, Parameters(equations.system.parameters)
        self._forces, self._cost = tuple(forces), cost
        self.n, self.inputs, self.gaps = equations.n, len(self._forces), len(equations.system.unilateral)
        self._positions, self._all = rows[rows < equations.m], rows
        self.held, self.rolling = len(self._positions), len(rows) - len(self._positions)
        self.sizes = self._sizes()
        self.unknowns = sum(self.sizes)
        self._at = jax.jit(self._flow)  # traced once, however often it is differentiated
        self._first = compiled(jax.vmap(self._with_slopes, in_axes=(0, 0, None)))

    def _sizes(self) -> Interval:
        n, k, positions = self.n, self.inputs, self.held + self.gaps
        return Interval(n, n, k, k, positions, positions + self.rolling, n, n, k)

    @property
    def row_sizes(self) -> tuple[int, ...]:
        """Defects (2n), positions and gaps at the end, velocity level there, gaps in the middle, forces of gaps (3)."""
        return 2 * self.n, self.held, self.gaps, self.held + self.rolling, self.gaps, self.gaps, 3 * self.gaps

    def first(self, z: Array, data: Array) -> Values:
        """Values and first derivatives; `data` are (t, h, closed gaps) of each interval."""
        out = _in_blocks(lambda *some: self._first(*some, self._vector), z, data)
        rows = sum(self.row_sizes)
        table = out.reshape(len(z), 1 + rows, 1 + self.unknowns)
        return Values(table[:, 0, 0], table[:, 1:, 0], table[:, 0, 1:], table[:, 1:, 1:])

    def second(self, z: Array, data: Array, weights: Array, steps: Array) -> Array:
        """Second derivatives of the weighted sum of cost and rows of each interval: (N, z, z).

        Differences of exact first derivatives over `steps` of the unknowns: to compile exact ones takes minutes where
        there are rotations, and solvers need no more than this.
        """
        moved = z + np.diag(steps)[:, None, :]
        every = np.concatenate([z[None], moved]).reshape(-1, self.unknowns)
        found = self.first(every, np.tile(data, (self.unknowns + 1, 1)))
        slopes = np.concatenate([found.cost_z[:, None], found.rows_z], axis=1)
        pull = np.einsum("kr,ikrz->ikz", weights, slopes.reshape(self.unknowns + 1, len(z), -1, self.unknowns))
        H = np.moveaxis((pull[1:] - pull[0]) / steps[:, None, None], 0, 1)
        return np.asarray(0.5 * (H + np.swapaxes(H, 1, 2)))

    # one interval

    def _with_slopes(self, z: Any, data: Any, vector: Any) -> Any:
        values, push = jax.linearize(lambda y: self._interval(y, data, vector), z)
        return jnp.column_stack([values, jax.vmap(push, out_axes=1)(jnp.eye(self.unknowns))]).ravel()

    def _interval(self, z: Any, data: Any, vector: Any) -> Any:
        """Cost of one interval, followed by its rows."""
        x = Interval(*jnp.split(z, np.cumsum(self.sizes)[:-1]))
        t, h, closed = data[0], data[1], data[2:]
        space = self._of.space
        delta = space.local(x.q, x.q_end)
        ends = (jnp.stack([t, t + h]), *(jnp.stack(pair) for pair in ((x.q, x.q_end), (x.v, x.v_end), (x.u, x.u_end))))
        both = jax.vmap(self._at, in_axes=(0, 0, 0, 0, None, None))(*ends, closed, vector)
        begin, end = (_Flow(*(part[i] for part in both)) for i in (0, 1))
        rate = space.rate(delta, x.v_end)
        half = 0.5 * delta + h / 8.0 * (x.v - rate)
        v_middle = 0.5 * (x.v + x.v_end) + h / 8.0 * (begin.a - end.a)
        q_middle = space.retract(x.q, half)
        middle = self._at(t + 0.5 * h, q_middle, v_middle, x.u_middle, closed, vector)
        moved = delta - h / 6.0 * (x.v + 4.0 * space.rate(half, v_middle) + rate)
        gained = x.v_end - x.v - h / 6.0 * (begin.a + 4.0 * middle.a + end.a)
        positions = self.held + self.gaps
        defects = [end.M @ moved - end.G[:positions].T @ x.eta, end.M @ gained - end.G.T @ x.zeta]
        running = jax.vmap(lambda s, q, v, u: self._cost(s, q, v, u, self._th))(*ends)
        centre = self._cost(t + 0.5 * h, q_middle, v_middle, x.u_middle, self._th)
        cost = h / 6.0 * (running[0] + 4.0 * centre + running[1])
        forces = jnp.concatenate([flow.mu[self.held : positions] for flow in (begin, middle, end)])
        held, gap_rates = jnp.delete(end.c_dot, np.arange(self.held, positions)), end.c_dot[self.held : positions]
        return jnp.concatenate([jnp.stack([cost]), *defects, end.c, held, gap_rates, middle.c[self.held :], forces])

    def _flow(self, t: Any, q: Any, v: Any, u: Any, closed: Any, vector: Any) -> "_Flow":
        """Accelerations and constraint forces under inputs; gaps are rows after the holonomic constraints."""
        of, rates = self._of, self._of.control(self._control, t, jnp.asarray(self._p))
        push = jnp.stack([force(q, self._th) for force in self._forces], axis=1) @ u
        h = of.generalised_force(t, q, v, jnp.zeros(of.m), rates[0], vector, p_dot=rates[1]) + push
        M = jax.jacfwd(lambda w: of.momentum(q, w, vector))(v)
        c, c_dot, gamma, G = self._constraints(q, v, rates, vector)
        active = jnp.concatenate([jnp.ones(self.held), closed, jnp.ones(self.rolling)])
        K = jnp.block([[M, (active[:, None] * G).T], [active[:, None] * G, -jnp.diag(1.0 - active)]])
        found = jnp.linalg.solve(K, jnp.concatenate([h, -active * gamma]))
        return _Flow(found[: self.n], -found[self.n :], M, G, c, c_dot)

    def _constraints(self, q: Any, v: Any, rates: tuple[Any, Any, Any], vector: Any) -> tuple[Any, Any, Any, Any]:
        """Values, velocity level, γ and gradients of the holonomic constraints, gaps and non-holonomic constraints."""
        of, zero, one = self._of, jnp.zeros(()), jnp.ones(())
        p, p_dot, p_ddot = rates

        def place(moved: Any, p_now: Any) -> Any:
            held = of.holonomic(moved, p_now, vector)[self._positions]
            return jnp.concatenate([held, of.gaps(moved, p_now, vector)])

        def path(s: Any) -> Any:
            return place(of.space.nudge(q, s * v), p + s * p_dot + 0.5 * s * s * p_ddot)

        def rolling(s: Any, w: Any) -> Any:
            return of.nonholonomic(of.space.nudge(q, s * v), w, vector)[self._all[self.held :] - of.m]

        c_dot, gamma = jax.jvp(lambda s: jax.jvp(path, (s,), (one,))[1], (zero,), (one,))
        f, f_dot = jax.jvp(lambda s: rolling(s, v), (zero,), (one,))
        G = jax.jacfwd(lambda d: place(of.space.nudge(q, d), p))(jnp.zeros(self.n))
        F = jax.jacfwd(lambda w: rolling(zero, w))(v)
        return path(zero), jnp.concatenate([c_dot, f]), jnp.concatenate([gamma, f_dot]), jnp.concatenate([G, F])


class _Flow(NamedTuple):
    a: Any
    mu: Any
    M: Any
    G: Any
    c: Any
    c_dot: Any


def _in_blocks(evaluate: Callable[..., Any], *arrays: Array) -> Array:
    """Values at the rows of all arrays, so many at a time."""
    missing = -len(arrays[0]) % BLOCK
    padded = [np.vstack([a, np.repeat(a[-1:], missing, axis=0)]) for a in arrays]
    found = [np.asarray(evaluate(*(a[i : i + BLOCK] for a in padded))) for i in range(0, len(padded[0]), BLOCK)]
    return np.vstack(found)[: len(arrays[0])]
