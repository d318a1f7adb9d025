"""The equations of motion of a system, compiled: the only place where motion meets automatic differentiation.

With velocities v of the configuration space, kinetic energy T(q, v), momenta π = T_v and mass matrix M = T_vv:

    M a = Q − U_q + Gᵀμ + (gyroscopic terms),   c(q, p) = 0,   f(q, v) = 0,   p = p(t).

**Sign of the multipliers**: the force of a constraint on the system is (gradient)ᵀ × (multiplier), Gᵀμ, as in statics,
where U_q − Gᵀμ = 0. Arnold's λ [AR (2a)] is −μ. Rows of G are the holonomic gradients c_q, then the non-holonomic f_v.
Hidden constraints: G v + c_p ṗ = 0 [AR (3a)] and G a + γ = 0 [AR (3b)].
"""

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from onesided.base.types import Array
from onesided.evaluation.compiling import FEW as SMALL
from onesided.evaluation.compiling import HOT_PIECE, compiled
from onesided.evaluation.flat import Retraced
from onesided.evaluation.flight_steps import FlightFunctions
from onesided.evaluation.looping import LargeFunction, TinyFunction, at_once, looped
from onesided.evaluation.motion_terms import Constraints, Control
from onesided.evaluation.rows import families
from onesided.evaluation.smooth_steps import StrideFunctions
from onesided.evaluation.user_functions import Parameters, control_rates, differentiable
from onesided.groups import Vector

if TYPE_CHECKING:
    from onesided.system.system import System


SPARSE_FROM = 50  # coordinates and constraints together: below, dense matrices are faster
FEW_COORDINATES = 8  # up to which a matrix is made where a product with it would do
BLOCK, LARGE_BLOCK = 256, 32  # points that are rechecked together, for small and large systems
KEPT = 8  # controls whose compiled flights are kept: they are often made anew for every motion
LOOKS, FORCE_LOOKS = 68, 17  # points at which gaps, and all terms, are evaluated together


class MotionFunctions:
    """Compiled functions of one system; parameters are arguments, a control p(t) given as a function is static."""

    def __init__(self, system: "System", constraints: Constraints | None = None) -> None:
        given = constraints or Constraints(system.bilateral, system.nonholonomic)
        self.system = system
        self.names = tuple(system.parameters)
        self.space = system.space or Vector(system.n)
        self.n, self.m, self.k = system.n, len(given.bilateral), len(given.nonholonomic)
        if system.structure is None:
            self._U = differentiable(system.energy, self.names)
            self._c = [differentiable(f, self.names) for f in families(given.bilateral.values())]
            self._gaps = [differentiable(f, self.names) for f in families(system.unilateral.values())]
        self._rolling = families(given.nonholonomic.values())
        self.gaps_at = compiled(self.gaps, rare=True)
        self.gaps_along = self._along(self._gaps_along, lambda: len(self.system.unilateral), LOOKS, rare=True)
        self.gap_slopes = compiled(self._gap_slopes, static_argnums=2, rare=True)
        self.flights = lru_cache(KEPT)(lambda control: FlightFunctions(self, control))  # many in one call, under p(t)
        self.forcing_along = self._along(self.forcing, lambda: self.n + 3, LOOKS, rare=True)
        self.linearised = compiled(self._linearised, rare=True)
        self.stiffness = compiled(self._stiffness, rare=True)
        self.terms_once = jax.jit(self._terms, static_argnums=2)  # traced once for all functions that contain it
        self.terms = compiled(self.terms_once, static_argnums=2)
        self.residuals = compiled(self._residuals, static_argnums=2)
        self.pushes = compiled(self._pushes, static_argnums=2)
        self.balance = compiled(self._balance, static_argnums=2)
        self.stages = compiled(jax.vmap(self._balance, in_axes=(0, None, None)), static_argnums=2)
        self.jacobian = compiled(self._jacobian, static_argnums=2)
        self.terms_along = self._along(self._all_terms, lambda: self.sizes[0], FORCE_LOOKS, rare=self.tiny)
        few = self.n + self.m + self.k <= SPARSE_FROM
        self.check = self._along(self._check, lambda: self.sizes[1], BLOCK if few else LARGE_BLOCK, rare=True)

    def _along(
        self, function: Callable[..., Any], size: Callable[[], int], most: int, *, rare: bool
    ) -> Callable[..., Array]:
        """A function at many points, of which it returns so many numbers each."""
        many = at_once(function)
        knobs: dict[str, Any] = {"static_argnums": 3, "rare": rare, "plain": many, "hot": HOT_PIECE}
        if not self.tiny:
            return LargeFunction(compiled(many, **knobs), most)
        return TinyFunction(function, compiled(looped(function, size), **knobs), most)

    @property
    def tiny(self) -> bool:
        """Whether no matrix has more numbers than are computed in one piece."""
        return self.n * max(self.n, self.m + self.k) <= SMALL

    @property
    def sizes(self) -> tuple[int, int]:
        """How many numbers `terms` and `check` give at a point."""
        n, m, rows = self.n, self.m, self.m + self.k
        return 3 * n + m + 3 * rows + 1 + (n + rows) * n, 4 + n + m + 2 * rows + len(self.system.unilateral)

    @cached_property
    def strides(self) -> StrideFunctions:
        """Many steps in one call."""
        return StrideFunctions(self)

    # the model as functions of arrays

    def parameters(self, vector: Any) -> Parameters:
        """Names for a parameter vector."""
        return Parameters(zip(self.names, vector, strict=True))

    def constants(self, system: "System") -> Any:
        """What the compiled functions take for the parameters."""
        return jnp.asarray(np.array([*system.parameters.values()], dtype=np.float64))

    @Retraced
    def potential(self, q: Any, p: Any, vector: Any) -> Any:
        """Potential energy U(q, p), a scalar."""
        return self._U(q, p, vector)

    control = staticmethod(control_rates)

    @Retraced
    def kinetic(self, q: Any, v: Any, vector: Any) -> Any:
        """Kinetic energy T(q, v), a scalar."""
        th = self.parameters(vector)
        if self.system.kinetic is not None:
            return self.system.kinetic(q, v, th)
        assert self.system.mass is not None  # noqa: S101 - checked before
        return 0.5 * v @ self.system.mass(q, th) @ v

    @Retraced
    def momentum(self, q: Any, v: Any, vector: Any) -> Any:
        """Momentum π = T_v, (n,)."""
        if self.system.kinetic is None and self.system.mass is not None:
            return self.system.mass(q, self.parameters(vector)) @ v
        return jax.grad(self.kinetic, argnums=1)(q, v, vector)

    @Retraced
    def force(self, t: Any, q: Any, v: Any, mu: Any, p: Any, vector: Any, *, p_dot: Any = 0.0) -> Any:
        """Forces beside energy and constraints: `force`, and `friction`, which knows the multipliers.

        The rate of p matters to parts of structures that resist the motion of places that p moves.
        """
        th, total = self.parameters(vector), jnp.zeros(self.n)
        if self.system.force is not None:
            total = total + self.system.force(t, q, v, p, th)
        if self.system.friction is not None:
            total = total + self.system.friction(q, v, mu[: self.m], th)
        return total

    def forcing(self, x: Any, vector: Any, control: Control | None) -> Any:
        """What acts from outside at x = (t, p, q, v): forces without potential, and p with two derivatives."""
        t, p, q, v = self._split(x, self.n, self.n)
        rates = self.control(control, t, p)
        force = self.force(t, q, v, jnp.zeros(self.m), rates[0], vector, p_dot=rates[1])
        return jnp.concatenate([force, jnp.stack(rates)])

    @cached_property
    def depends_on_time(self) -> bool:
        """Whether forces know the time: found in the operations that they are made of."""
        if self.system.force is None:
            return False
        zero, none, vector = jnp.zeros(self.n), jnp.zeros(self.m), self.constants(self.system)
        traced = jax.make_jaxpr(lambda t: self.force(t, zero, zero, none, jnp.zeros(()), vector))(jnp.zeros(())).jaxpr
        return any(traced.invars[0] is used for line in traced.eqns for used in line.invars)

    def actuation(self, q: Any, vector: Any) -> Any:
        """Directions B(q) in which the inputs act, (n, inputs)."""
        if self.system.actuation is None:
            return jnp.zeros((self.n, 0))
        return self.system.actuation(q, self.parameters(vector))

    @Retraced
    def holonomic(self, q: Any, p: Any, vector: Any) -> Any:
        """Holonomic constraints c(q, p), (m,)."""
        return _stacked([f(q, p, vector) for f in self._c])

    @Retraced
    def gaps(self, q: Any, p: Any, vector: Any) -> Any:
        """Gaps of the unilateral constraints."""
        return _stacked([f(q, p, vector) for f in self._gaps])

    def _gaps_along(self, x: Any, vector: Any, control: Control | None) -> Any:
        """Gaps at x = (t, p, q)."""
        return self.gaps(x[2:], self.control(control, x[0], x[1])[0], vector)

    def _gap_slopes(self, x: Any, vector: Any, control: Control | None, directions: Any) -> Any:
        """Derivatives of the gaps at x = (t, p, q) along directions (n, d): (gaps, d)."""
        p, zero = self.control(control, x[0], x[1])[0], jnp.zeros(self.n)

        def moved(delta: Any) -> Any:
            return self.gaps(self.space.nudge(x[2:], delta), p, vector)

        return jax.vmap(lambda d: jax.jvp(moved, (zero,), (d,))[1], out_axes=1)(directions.T)

    @Retraced
    def nonholonomic(self, q: Any, v: Any, vector: Any) -> Any:
        """Non-holonomic constraints f(q, v), (k,)."""
        th = self.parameters(vector)
        return _stacked([f(q, v, th) for f in self._rolling])

    # equations

    @Retraced
    def generalised_force(self, t: Any, q: Any, v: Any, mu: Any, p: Any, vector: Any, *, p_dot: Any = 0.0) -> Any:
        """The right-hand side h of M a = h + Gᵀμ."""
        space, zero = self.space, jnp.zeros(self.n)

        def conservative(delta: Any) -> Any:
            moved = space.nudge(q, delta)
            return self.kinetic(moved, v, vector) - self.potential(moved, p, vector)

        def along(s: Any) -> Any:
            return self.momentum(space.nudge(q, s * v), v, vector)

        momentum, change = jax.jvp(along, (jnp.zeros(()),), (jnp.ones(()),))
        potential = jax.grad(conservative)(zero)
        return potential - change + space.coadjoint(v, momentum) + self.force(t, q, v, mu, p, vector, p_dot=p_dot)

    @Retraced
    def constraint_rates(self, q: Any, v: Any, rates: tuple[Any, Any, Any], vector: Any) -> tuple[Any, Any, Any]:
        """c, the velocity level and γ: derivatives along q∘exp(s v), p(t + s)."""
        p, p_dot, p_ddot = rates
        zero, one = jnp.zeros(()), jnp.ones(())

        def path(s: Any) -> Any:
            return self.holonomic(self.space.nudge(q, s * v), p + s * p_dot + 0.5 * s * s * p_ddot, vector)

        def slope(s: Any) -> Any:
            return jax.jvp(path, (s,), (one,))[1]

        def rolling(s: Any) -> Any:
            return self.nonholonomic(self.space.nudge(q, s * v), v, vector)

        c_dot, gamma = jax.jvp(slope, (zero,), (one,))
        f, f_dot = jax.jvp(rolling, (zero,), (one,))
        return path(zero), jnp.concatenate([c_dot, f]), jnp.concatenate([gamma, f_dot])

    @Retraced
    def gradients(self, q: Any, v: Any, p: Any, vector: Any, seeds: Any) -> Any:
        """G times the seeds, (m + k, number of seeds)."""
        zero = jnp.zeros(self.n)

        def position(delta: Any) -> Any:
            return self.holonomic(self.space.nudge(q, delta), p, vector)

        rows = jax.vmap(lambda d: jax.jvp(position, (zero,), (d,))[1], out_axes=1)(seeds.T)
        rolling = jax.vmap(lambda d: jax.jvp(lambda u: self.nonholonomic(q, u, vector), (v,), (d,))[1], out_axes=1)(
            seeds.T
        )
        return jnp.concatenate([rows, rolling])

    def constraint_force(self, q: Any, v: Any, p: Any, mu: Any, vector: Any) -> Any:
        """Force Gᵀμ of the constraints on the coordinates, (n,)."""
        _, pull = jax.vjp(lambda e: self.holonomic(self.space.nudge(q, e), p, vector), jnp.zeros(self.n))
        _, pull_v = jax.vjp(lambda u: self.nonholonomic(q, u, vector), v)
        return pull(mu[: self.m])[0] + pull_v(mu[self.m :])[0]

    def _all_terms(self, x: Any, vector: Any, control: Control | None) -> Any:
        return self._terms(x, vector, control, None)

    def _terms(self, x: Any, vector: Any, control: Control | None, seeds: Any) -> Any:
        t, p, q, delta, v, mu = self._split(x, self.n, self.n, self.n, self.m)
        q = self.space.retract(q, delta)
        rates = self.control(control, t, p)
        p = rates[0]
        h = self.generalised_force(t, q, v, mu, p, vector, p_dot=rates[1])
        c, c_dot, gamma = self.constraint_rates(q, v, rates, vector)
        seeds_M, seeds_G = seeds if seeds is not None else (jnp.eye(self.n), jnp.eye(self.n))
        M = jax.vmap(lambda d: jax.jvp(lambda u: self.momentum(q, u, vector), (v,), (d,))[1], out_axes=1)(seeds_M.T)
        G = self.gradients(q, v, p, vector, seeds_G)
        Gv = G @ v if seeds is None else self.gradients(q, v, p, vector, v[:, None])[:, 0]
        power = self._power(t, q, v, mu, rates, vector)[None]
        return jnp.concatenate(
            [q, self.space.rate(delta, v), h, c, c_dot, gamma, Gv, power, M.ravel(), G.ravel()], dtype=jnp.float64
        )

    def _residuals(self, x: Any, vector: Any, control: Control | None) -> Any:
        """Holonomic residuals at x = (t, p, q, δ): c at (t, q∘exp δ)."""
        t, p, q, delta = self._split(x, self.n, self.n)
        return self.holonomic(self.space.retract(q, delta), self.control(control, t, p)[0], vector)

    def _pushes(self, x: Any, vector: Any, control: Control | None) -> Any:
        """The force h at (t, q∘exp δ, v) and its derivatives by configuration and by velocity: n × (1 + n + n)."""
        t, p, q, delta, v, mu = self._split(x, self.n, self.n, self.n, self.m)
        q, zero, (p, p_dot, _) = self.space.retract(q, delta), jnp.zeros(self.n), self.control(control, t, p)

        def force(shift: Any, u: Any) -> Any:
            return self.generalised_force(t, self.space.nudge(q, shift), u, mu, p, vector, p_dot=p_dot)

        return jnp.column_stack([force(zero, v), *jax.jacfwd(force, argnums=(0, 1))(zero, v)])

    @Retraced
    def _power(self, t: Any, q: Any, v: Any, mu: Any, rates: tuple[Any, Any, Any], vector: Any) -> Any:
        """dE/dt beside that of the constraints: forces without potential, and p changing the energy."""
        U_p = jax.grad(lambda p: self.potential(q, p, vector))(rates[0])
        return self.force(t, q, v, mu, rates[0], vector, p_dot=rates[1]) @ v + U_p * rates[1]

    def _split(self, x: Any, *sizes: int) -> Any:
        parts, first = [x[0], x[1]], 2
        for size in sizes:
            parts.append(x[first : first + size])
            first += size
        return parts

    def _balance(self, x: Any, vector: Any, control: Control | None, *, near: bool = False) -> Any:
        """Residuals of the stabilised form at (t, q∘exp δ, δ̇, v, v̇, μ, η): (2n + 2m + k,).

        M (δ̇ − rate(δ, v)) − Gᵀη;  M v̇ − h − Gᵀμ;  c;  velocity level. The first couples η, which is zero for exact
        solutions, to positions only (Gear, Gupta and Leimkuhler). With `near`, δ is close to zero: cheap to
        differentiate.
        """
        t, p, q, delta, d, v, w, mu, eta = self._split(x, *[self.n] * 5, self.m + self.k, self.m)
        q = self.space.nudge(q, delta) if near else self.space.retract(q, delta)
        rate = v + 0.5 * self.space.bracket(delta, v) if near else self.space.rate(delta, v)
        rates = self.control(control, t, p)
        p = rates[0]
        h = self.generalised_force(t, q, v, mu, p, vector, p_dot=rates[1])
        c, c_dot, _ = self.constraint_rates(q, v, rates, vector)
        none = jnp.zeros(self.k)

        def mass_times(y: Any) -> Any:
            return jax.jvp(lambda u: self.momentum(q, u, vector), (v,), (y,))[1]

        kinematic = mass_times(d - rate) - self.constraint_force(q, v, p, jnp.concatenate([eta, none]), vector)
        balance = mass_times(w) - h - self.constraint_force(q, v, p, mu, vector)
        return jnp.concatenate([kinematic, balance, c, c_dot], dtype=jnp.float64)

    def _jacobian(self, x: Any, vector: Any, control: Control | None, seeds: Any) -> Any:
        """Derivatives of force balance, positions and velocity level by (δ, v, v̇, μ), along the seeds."""
        n, first = self.n, 2 + self.n
        _, push = jax.linearize(
            lambda y: self._balance(jnp.concatenate([x[:first], y]), vector, control, near=True)[n:], x[first:]
        )

        def along(d: Any) -> Any:
            return push(jnp.concatenate([d[:n], jnp.zeros(n), d[n:], jnp.zeros(self.m)]))

        return jax.vmap(along, out_axes=1)(seeds.T)

    def _check(self, x: Any, vector: Any, control: Control | None) -> Any:
        t, p, q, v, a, mu, u = self._split(x, *[self.n] * 3, self.m + self.k, len(self.system.servo))
        rates = self.control(control, t, p)
        p = rates[0]
        h = self.generalised_force(t, q, v, mu, p, vector, p_dot=rates[1]) + self.actuation(q, vector) @ u
        c, c_dot, gamma = self.constraint_rates(q, v, rates, vector)
        Ga, Gv, pull = self._along_constraints(q, v, p, a, mu, vector)
        momentum, inertia = jax.jvp(lambda u: self.momentum(q, u, vector), (v,), (a,))
        kinetic = self.kinetic(q, v, vector)
        energy = momentum @ v - kinetic + self.potential(q, p, vector)
        power = self._power(t, q, v, mu, rates, vector) + mu @ Gv + self.actuation(q, vector) @ u @ v
        sizes = jnp.stack([jnp.max(jnp.abs(y), initial=0.0) for y in (inertia, h, pull)])
        return jnp.concatenate([
            jnp.stack([energy, kinetic, power, jnp.max(sizes)]), inertia - h - pull, c, c_dot, Ga + gamma,
            self.gaps(q, p, vector),
        ], dtype=jnp.float64)  # fmt: skip

    def _along_constraints(self, q: Any, v: Any, p: Any, a: Any, mu: Any, vector: Any) -> tuple[Any, Any, Any]:
        """G a, G v and Gᵀμ; those of few coordinates by all of G, which the terms need in any case."""
        if self.n <= FEW_COORDINATES:
            G = self.gradients(q, v, p, vector, jnp.eye(self.n))
            return G @ a, G @ v, mu @ G
        Ga, Gv = self.gradients(q, v, p, vector, jnp.stack([a, v], axis=1)).T
        return Ga, Gv, self.constraint_force(q, v, p, mu, vector)

    # about an equilibrium

    def _linearised(self, q: Any, p: Any, vector: Any) -> Any:
        """Force at rest, constraints (bilateral, then gaps) and their gradients."""
        zero = jnp.zeros(self.n)

        def constraints(delta: Any) -> Any:
            moved = self.space.nudge(q, delta)
            return jnp.concatenate([self.holonomic(moved, p, vector), self.gaps(moved, p, vector)])

        force = self.generalised_force(jnp.zeros(()), q, zero, jnp.zeros(self.m), p, vector)
        return jnp.concatenate([force, constraints(zero), jax.jacfwd(constraints)(zero).ravel()], dtype=jnp.float64)

    def _stiffness(self, q: Any, p: Any, nu: Any, vector: Any) -> Any:
        """K, C, M of M s² + C s + K about an equilibrium at rest with multipliers ν of all constraints."""
        zero = jnp.zeros(self.n)

        def pull(delta: Any, moved: Any) -> Any:
            inner = self.space.nudge(moved, delta)
            return jnp.concatenate([self.holonomic(inner, p, vector), self.gaps(inner, p, vector)]) @ nu

        def force(delta: Any, v: Any) -> Any:
            moved = self.space.nudge(q, delta)
            return self.generalised_force(jnp.zeros(()), moved, v, nu[: self.m], p, vector) + jax.grad(pull)(
                zero, moved
            )

        K, C = jax.jacfwd(force, argnums=(0, 1))(zero, zero)
        M = jax.jacfwd(lambda u: self.momentum(q, u, vector))(zero)
        return jnp.concatenate([-K.ravel(), -C.ravel(), M.ravel()], dtype=jnp.float64)


def _stacked(values: list[Any]) -> Any:
    return jnp.concatenate([jnp.atleast_1d(value) for value in values]) if values else jnp.zeros(0)
