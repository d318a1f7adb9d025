"""The equations of motion of one system under one control p(t), as a solver sees them: NumPy in, NumPy out.

Steppers know nothing else of a model: `terms` (all that is linear in accelerations and multipliers), `balance`,
`stages` and `jacobian` (residuals of the stabilised form and their derivatives), `check` (for rechecking a result).
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

from onesided._types import Array
from onesided.errors import ModelError, UsageError
from onesided.linalg import KKTPattern
from onesided.model.motion import Check, Control, MotionFunctions, Terms
from onesided.model.system import System

SPARSE_FROM = 50  # coordinates and constraints together: below, dense matrices are faster
PROBES = 3
BLOCK, LARGE_BLOCK = 256, 32  # points that are rechecked together, for small and large systems


class Equations:
    """Equations of motion of a system.

    Parameters
    ----------
    system : with `mass` or `kinetic`.
    control : the control parameter during motion: a number, or a function of time in `jax.numpy`.
    """

    def __init__(self, system: System, control: float | Control = 0.0) -> None:
        if system.kinetic is None and system.mass is None:
            raise ModelError(
                "the system has no mass", expected="`mass=` or `kinetic=`", advice="mass=lambda q, th: jnp.diag(…)"
            )
        self.system, self.space = system, system.motion.space
        self.n, self.m, self.k = system.n, len(system.bilateral), len(system.nonholonomic)
        self.names = (*system.bilateral, *system.nonholonomic)
        self.functions: MotionFunctions = system.motion
        self.control = control if callable(control) else None
        self.p = 0.0 if callable(control) else float(control)
        self._check_control(control)
        self.parameters = self.functions.constants(system)
        self._seeds: Any = None
        self.pattern: KKTPattern | None = None
        self._cuts = np.cumsum([self.n, self.n, self.n, self.m, self.rows, self.rows, self.rows, 1])

    @property
    def rows(self) -> int:
        """Number of constraints: holonomic, then non-holonomic."""
        return self.m + self.k

    @property
    def conservative(self) -> bool:
        """Whether energy cannot change: no forces beside the potential, nothing moved from outside, no rolling."""
        system = self.system
        return system.force is None and system.friction is None and self.control is None and not system.nonholonomic

    def _check_control(self, control: Any) -> None:
        if not callable(control):
            if not np.isfinite(self.p):
                raise UsageError("the control is not finite", got=repr(control), expected="a number or a function of t")
            return
        try:
            value = np.asarray(self.functions.control(control, jnp.asarray(0.0), jnp.asarray(0.0))[0])
        except (TypeError, ValueError, AttributeError) as e:
            raise UsageError(
                "the control cannot be evaluated", got=f"{type(e).__name__}: {e}", expected="p(t) in jax.numpy"
            ) from e
        if value.shape != ():
            raise UsageError("the control returned an array", got=f"shape {value.shape}", expected="one number p(t)")

    def find_pattern(self, t: float, q: Array, v: Array) -> None:
        """For large systems: find out where the matrices have entries, by evaluating them at a few points nearby."""
        if self.n + self.rows <= SPARSE_FROM or self.pattern is not None:
            return
        rng = np.random.default_rng(0)
        found_M, found_G = np.eye(self.n, dtype=bool), np.zeros((self.rows, self.n), dtype=bool)
        for _ in range(PROBES):
            size = 1.0 + float(np.max(np.abs(q)))
            near = self.terms(
                t, q, size * rng.uniform(-0.5, 0.5, self.n), v + rng.uniform(-0.5, 0.5, self.n), np.zeros(self.m)
            )
            found_M |= ~(near.M == 0.0)
            found_G |= ~(near.G == 0.0)
        pattern = KKTPattern(found_M, found_G)
        if pattern.seeds[0].shape[1] + pattern.seeds[1].shape[1] < self.n:
            self.pattern = pattern
            self._seeds = tuple(jnp.asarray(seeds) for seeds in pattern.seeds)

    def terms(self, t: float, q: Array, delta: Array, v: Array, mu: Array) -> Terms:
        """Everything linear in (a, μ) at (t, q∘exp δ, v); `mu` (m,) matters to friction only."""
        x = np.concatenate([(t, self.p), q, delta, v, mu[: self.m]])
        return self._unpacked(np.asarray(self.functions.terms(x, self.parameters, self.control, self._seeds)))

    def stepped(self, late: float, t: float, q: Array, delta: Array, v: Array, mu: Array) -> tuple[Array, Terms]:
        """Holonomic residuals at (t, q), and the terms at (t + late, q∘exp δ, v): one call for a time step."""
        x = np.concatenate([(late, t, self.p), q, delta, v, mu[: self.m]])
        out = np.asarray(self.functions.stepped(x, self.parameters, self.control, self._seeds))
        return out[: self.m], self._unpacked(out[self.m :])

    def pushes(self, t: float, q: Array, delta: Array, v: Array, mu: Array) -> tuple[Array, Array, Array]:
        """The force h (n,) at (t, q∘exp δ, v), its derivatives by configuration and by velocity, (n, n) each."""
        x = np.concatenate([(t, self.p), q, delta, v, mu[: self.m]])
        out = np.asarray(self.functions.pushes(x, self.parameters, self.control))
        return out[:, 0], out[:, 1 : 1 + self.n], out[:, 1 + self.n :]

    def _unpacked(self, out: Array) -> Terms:
        a, b, c, d, e, f, g, last = self._cuts
        seeds = self._seeds
        columns = self.n if seeds is None else seeds[0].shape[1]
        end = last + self.n * columns
        return Terms(
            out[:a],
            out[a:b],
            out[b:c],
            out[c:d],
            out[d:e],
            out[e:f],
            out[f:g],
            float(out[g]),
            out[last:end].reshape(self.n, columns),
            out[end:].reshape(self.rows, self.n if seeds is None else seeds[1].shape[1]),
        )

    def matrices(self, terms: Terms) -> tuple[Array, Array]:
        """M and G as dense matrices."""
        return (terms.M, terms.G) if self.pattern is None else self.pattern.expand(terms.M, terms.G)

    def balance(self, x: Array) -> Array:
        """Residual of the stabilised form at x = (t, p, q, δ, δ̇, v, v̇, μ, η): (2n + 2m + k,)."""
        return np.asarray(self.functions.balance(x, self.parameters, self.control))

    def stages(self, x: Array) -> Array:
        """The same at several points at once, one per row."""
        return np.asarray(self.functions.stages(x, self.parameters, self.control))

    def jacobian(self, x: Array) -> Array:
        """Derivatives of `balance` by (δ, δ̇, v, v̇, μ, η)."""
        return np.asarray(self.functions.jacobian(x, self.parameters, self.control))

    def check(self, t: Array, q: Array, v: Array, a: Array, mu: Array) -> Check:
        """Energies, residuals and gaps at many points, straight from the model."""
        x = np.column_stack([t, np.full(len(t), self.p), q, v, a, mu])
        size = BLOCK if self.n + self.rows <= SPARSE_FROM else LARGE_BLOCK
        padded = np.vstack([x, np.repeat(x[-1:], -len(x) % size, axis=0)])  # few sizes: every new one is compiled
        blocks = [
            np.asarray(self.functions.check(padded[i : i + size], self.parameters, self.control))
            for i in range(0, len(padded), size)
        ]
        out = np.vstack(blocks)[: len(x)]
        cuts = np.cumsum([1, 1, 1, 1, self.n, self.m, self.rows, self.rows])
        energy, kinetic, power, forces, balance, c, c_dot, c_ddot, gaps = np.split(out, cuts, axis=1)
        return Check(energy[:, 0], kinetic[:, 0], power[:, 0], forces[:, 0], balance, c, c_dot, c_ddot, gaps)

    def control_at(self, t: float) -> float:
        """p(t)."""
        return self.p if self.control is None else float(self.control(t))

    def gaps(self, t: float, q: Array) -> Array:
        """Gaps of the unilateral constraints."""
        if not self.system.unilateral:
            return np.zeros(0)
        return np.asarray(self.functions.gaps_at(q, self.control_at(t), self.parameters))
